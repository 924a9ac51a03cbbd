//! Products and element-wise operations that users would otherwise write as a loop: over ndarray's `dot`, over
//! `general_mat_mul` or over slices. Each way makes a new result; `crate` runs on one thread and `par` on all.

#![allow(clippy::many_single_char_names, reason = "matrices and their sizes")]

#[macro_use]
mod plain;
mod progress;

use criterion::{BenchmarkId, Criterion};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array, Array1, Array2, Array3, ArrayView3, Ix0, Ix1, Ix2, LinalgScalar, ShapeBuilder};
use ndarray_broadcast::broadcast_map;
use ndarray_broadcast::prelude::*;
use plain::Number;
use std::hint::black_box;
use std::time::Duration;

/// Small whole numbers, neither equal nor in order, whose products every order of addition sums to the same.
fn filled<T: From<u8>, Sh: ShapeBuilder>(shape: Sh) -> Array<T, Sh::Dim> {
    let mut k = 0_u8;
    Array::from_shape_simple_fn(shape, || {
        k = (k + 7) % 11;
        k.into()
    })
}

/// Checks that all ways compute the same, and measures them.
macro_rules! compare {
    ($c:expr, $operation:literal, $case:expr; $($way:literal => $run:expr),+ $(,)?) => {{
        let mut group = $c.benchmark_group($operation);
        group.measurement_time(Duration::from_millis(600)).warm_up_time(Duration::from_millis(200)).sample_size(20);
        let results = [$($run()),+];
        assert!(results.iter().all(|result| *result == results[0]), "all ways agree: {} {}", $operation, $case);
        $(group.bench_function(BenchmarkId::new($way, $case), |b| b.iter(|| $run()));)+
        group.finish();
    }};
}

plain!(products<T>(out: &mut [T], a: &[T], b: &[T], n: usize) {
    for ((out, a), b) in out.chunks_exact_mut(n * n).zip(a.chunks_exact(n * n)).zip(b.chunks_exact(n * n)) {
        for (out, a) in out.chunks_exact_mut(n).zip(a.chunks_exact(n)) {
            for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
                for (out, &b) in out.iter_mut().zip(b) {
                    *out += a * b;
                }
            }
        }
    }
});

/// Square matrices times square matrices, as many. The plain loop reads a copy of `b` in standard layout, made before.
fn matmul<T>(c: &mut Criterion, case: &str, a: &Array3<T>, b: &ArrayView3<'_, T>)
where
    T: Number + LinalgScalar + Send + Sync,
{
    let n = a.dim().1;
    let (x, y) = (a.batch::<Ix2>().expect("a base"), b.batch::<Ix2>().expect("a base"));
    let copy: Vec<T> = b.iter().copied().collect();
    compare!(c, "matmul", case;
        "crate" => || black_box(&x).matmul(black_box(&y)).expect("a result"),
        "par" => || black_box(&x).par().matmul(black_box(&y)).expect("a result"),
        "dot" => || {
            let mut out = Array3::zeros(a.dim());
            for ((a, b), mut out) in black_box(a).outer_iter().zip(black_box(b).outer_iter()).zip(out.outer_iter_mut()) {
                out.assign(&a.dot(&b));
            }
            out
        },
        "general_mat_mul" => || {
            let mut out = Array3::zeros(a.dim());
            for ((a, b), mut out) in black_box(a).outer_iter().zip(black_box(b).outer_iter()).zip(out.outer_iter_mut()) {
                general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
            }
            out
        },
        "loop_avx2" => || {
            let mut out = Array3::zeros(a.dim());
            let (to, from) = (out.as_slice_mut().expect("no gaps"), a.as_slice().expect("no gaps"));
            products::avx2(to, black_box(from), black_box(&copy), n);
            out
        },
    );
}

/// One large product, which threads share by its rows.
fn one_product(c: &mut Criterion) {
    let (a, b) = (filled::<f32, _>((1, 256, 256)), filled::<f32, _>((1, 256, 256)));
    matmul(c, "256x256", &a, &b.view());
    for n in [16, 24, 32, 512] {
        let (a, b) = (filled::<f32, _>((1, n, n)), filled::<f32, _>((1, n, n)));
        matmul(c, &format!("{n}x{n},f_order"), &a, &b.view().permuted_axes([0, 2, 1]));
    }
    let (a, b) = (filled::<i32, _>((1, 30, 30)), filled::<i32, _>((1, 30, 30)));
    matmul(c, "30x30,i32", &a, &b.view());
}

/// Many products, which threads share.
fn many_products(c: &mut Criterion) {
    let a = filled::<f32, _>((64, 128, 128));
    matmul(c, "(64;128,128)", &a, &a.view());
    let a = filled::<f32, _>((64, 32, 32));
    matmul(c, "(64;32,32),transposed", &a, &a.view().permuted_axes([0, 2, 1]));
}

plain!(inner_products(out: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    for ((out, a), b) in out.iter_mut().zip(a.chunks_exact(n)).zip(b.chunks_exact(n)) {
        *out = a.iter().zip(b).map(|(a, b)| a * b).sum();
    }
});

plain!(inner_products_of_9(out: &mut [f64], a: &[f64], b: &[f64]) {
    for ((out, a), b) in out.iter_mut().zip(a.chunks_exact(9)).zip(b.chunks_exact(9)) {
        *out = a.iter().zip(b).map(|(a, b)| a * b).sum();
    }
});

/// Many short vectors.
fn inner(c: &mut Criterion) {
    for n in [3, 6, 8, 9, 16, 30, 64, 1000] {
        let count = 54_000 / n;
        let (a, b) = (filled::<f64, _>((count, n)), filled::<f64, _>((count, n)));
        let (x, y) = (a.batch::<Ix1>().expect("a base"), b.batch::<Ix1>().expect("a base"));
        let (from, by) = (a.as_slice().expect("no gaps"), b.as_slice().expect("no gaps"));
        compare!(c, "inner", format!("({count};{n})");
            "crate" => || black_box(&x).inner(black_box(&y)).expect("a result"),
            "par" => || black_box(&x).par().inner(black_box(&y)).expect("a result"),
            "dot" => || {
                let rows = black_box(&a).outer_iter().zip(black_box(&b).outer_iter());
                Array1::from_iter(rows.map(|(a, b)| a.dot(&b)))
            },
            "loop_avx2" => || {
                let mut out = Array1::zeros(count);
                let to = out.as_slice_mut().expect("no gaps");
                if n == 9 {
                    inner_products_of_9::avx2(to, black_box(from), black_box(by));
                } else {
                    inner_products::avx2(to, black_box(from), black_box(by), n);
                }
                out
            },
        );
    }
}

plain!(deviators(out: &mut [f64], a: &[f64], means: &[f64], identity: &[f64]) {
    for ((out, a), &mean) in out.chunks_exact_mut(9).zip(a.chunks_exact(9)).zip(means) {
        for ((out, a), one) in out.iter_mut().zip(a).zip(identity) {
            *out = a - mean * one;
        }
    }
});

/// The deviators of tensors with known means: two operations of batches.
fn deviator(c: &mut Criterion) {
    let (a, means) = (filled::<f64, _>((6000, 3, 3)), filled::<f64, _>(6000));
    let identity = Array2::<f64>::eye(3);
    let column = means.to_shape((6000, 1, 1)).expect("as many");
    let (x, mean) = (a.batch::<Ix2>().expect("a base"), means.batch::<Ix0>().expect("a base"));
    let one = identity.batch::<Ix2>().expect("a base");
    let [from, by, ones] =
        [a.as_slice(), means.as_slice(), identity.as_slice()].map(|elements| elements.expect("no gaps"));
    compare!(c, "deviator", "(6000;3,3)";
        "crate" => || {
            let spherical = black_box(&mean).mul(black_box(&one)).expect("a result");
            black_box(&x).sub(&spherical.batch::<Ix2>().expect("a base")).expect("a result")
        },
        "par" => || {
            let spherical = black_box(&mean).par().mul(black_box(&one)).expect("a result");
            black_box(&x).par().sub(&spherical.batch::<Ix2>().expect("a base")).expect("a result")
        },
        "broadcast_map" => || {
            let spherical = broadcast_map((black_box(&column), black_box(&identity)), |m, i| m * i).expect("a result");
            broadcast_map((black_box(&a), &spherical), |a, s| a - s).expect("a result")
        },
        "broadcast_map_once" => || {
            broadcast_map((black_box(&a), black_box(&column), black_box(&identity)), |a, m, i| a - m * i)
                .expect("a result")
        },
        "loop_avx2" => || {
            let mut out = Array3::zeros((6000, 3, 3));
            deviators::avx2(out.as_slice_mut().expect("no gaps"), black_box(from), black_box(by), ones);
            out
        },
    );
}

fn main() {
    progress::run(
        Criterion::default(),
        &[
            ("one product", one_product),
            ("many products", many_products),
            ("inner products", inner),
            ("deviators", deviator),
        ],
    );
}
