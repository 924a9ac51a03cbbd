//! Operations on the bases of batches: the fused ones and closures, next to the obvious loop over slices for the case, to
//! a good one (`good_into`) where something is gained by it, and to ndarray's products.
//!
//! Each cell is measured into a result that exists (`into`) and with a new one (`new`, as its baseline).

#![allow(clippy::many_single_char_names, reason = "matrices and their indices")]

#[macro_use]
mod plain;
mod progress;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use ndarray::linalg::general_mat_mul;
use ndarray::{
    Array, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, Axis, Dimension, Ix0,
    Ix1, Ix2, Ix3, Ix4, ShapeBuilder,
};
use ndarray_broadcast::base_op::{Add, Inner, MatMul, MatVec, Mul};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{Batch, Signature};
use std::hint::black_box;
use std::time::Duration;

/// Elements that are neither equal nor in order.
fn filled<Sh: ShapeBuilder<Dim = D>, D: Dimension>(shape: Sh) -> Array<f64, D> {
    let mut k = 0_u32;
    Array::from_shape_simple_fn(shape, || {
        k = (k + 7919) % 10_007;
        f64::from(k) / 10_007.0 - 0.5
    })
}

fn slice<D: Dimension>(array: &Array<f64, D>) -> &[f64] {
    array.as_slice().expect("in one piece")
}

/// A baseline that writes to a slice, into one that exists and into a new one.
macro_rules! baseline {
    ($group:ident, $case:expr, $len:expr, $loops:expr) => {
        let mut out = vec![0.0; $len];
        $group.bench_function(BenchmarkId::new("loop_into", $case), |b| {
            b.iter(|| {
                $loops(black_box(&mut out[..]));
            });
        });
        $group.bench_function(BenchmarkId::new("loop_new", $case), |b| {
            b.iter(|| {
                let mut out = vec![0.0; $len];
                $loops(&mut out[..]);
                out
            });
        });
    };
}

type Fill<'a> = &'a dyn Fn(&mut [f64]);

/// A careful loop for AVX2, which writes what the obvious one does.
fn good_loop(group: &mut BenchmarkGroup<'_, WallTime>, case: &str, len: usize, [obvious, good]: [Fill; 2]) {
    let [mut expected, mut out] = [vec![0.0; len], vec![0.0; len]];
    obvious(&mut expected);
    good(&mut out);
    let agree = out.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-9);
    assert!(agree, "the good loop gives something else: {case}");
    group.bench_function(BenchmarkId::new("good_into", case), |b| b.iter(|| good(black_box(&mut out))));
}

/// A fused operation, into a result that exists, as a new one, and on several threads.
macro_rules! fused {
    ($group:ident, $case:expr, $op:expr, $a:expr, $b:expr) => {
        let mut out = $a.apply($op, &$b).expect("a result");
        $group.bench_function(BenchmarkId::new("fused_into", $case), |b| {
            b.iter(|| black_box(&$a).apply_into($op, black_box(&$b), &mut out));
        });
        $group.bench_function(BenchmarkId::new("fused_new", $case), |b| {
            b.iter(|| black_box(&$a).apply($op, black_box(&$b)));
        });
        $group.bench_function(BenchmarkId::new("fused_par_into", $case), |b| {
            b.iter(|| black_box(&$a).par().apply_into($op, black_box(&$b), &mut out));
        });
    };
}

// By columns, of which each is as long as two vectors of AVX2.
plain!(products_with_6(out: &mut [f64], matrices: &[f64], x: &[f64]) {
    let mut columns = vec![[[0.0; 8]; 6]; matrices.len() / 36];
    for (columns, matrix) in columns.iter_mut().zip(matrices.chunks_exact(36)) {
        for (i, row) in matrix.chunks_exact(6).enumerate() {
            for (column, x) in columns.iter_mut().zip(row) {
                column[i] = *x;
            }
        }
    }
    for ((out, x), columns) in out.chunks_exact_mut(6).zip(x.chunks_exact(6)).zip(columns.iter().cycle()) {
        let mut sums = [0.0; 8];
        for (column, x) in columns.iter().zip(x) {
            for (sum, c) in sums.iter_mut().zip(column) {
                *sum += c * x;
            }
        }
        out.copy_from_slice(&sums[..6]);
    }
});

/// `(2; 6, 6)` times `(1000, 2; 6)`: the constitutive update.
fn update(c: &mut Criterion) {
    let mut group = c.benchmark_group("matvec");
    let case = "(2;6,6)x(1000,2;6)";
    let (stiffness, strain) = (filled((2, 6, 6)), filled((1000, 2, 6)));
    let loops = |out: &mut [f64]| {
        let (c, e) = (slice(black_box(&stiffness)), slice(black_box(&strain)));
        for (i, (e, out)) in e.chunks_exact(6).zip(out.chunks_exact_mut(6)).enumerate() {
            for (row, out) in c[i % 2 * 36..][..36].chunks_exact(6).zip(out) {
                *out = row.iter().zip(e).map(|(c, e)| c * e).sum();
            }
        }
    };
    baseline!(group, case, 12_000, loops);
    let good =
        |out: &mut [f64]| products_with_6::avx2(out, slice(black_box(&stiffness)), slice(black_box(&strain)));
    good_loop(&mut group, case, 12_000, [&loops, &good]);
    let (x, y) = (stiffness.batch::<Ix2>().expect("a base"), strain.batch::<Ix1>().expect("a base"));
    fused!(group, case, MatVec, x, y);
    closures(&mut group, case, &x, &y);
    // other layouts of the same
    let turned = filled((2, 6, 6).f());
    let (columns, z) = (turned.batch::<Ix2>().expect("a base"), filled((2000, 2, 6)));
    let z = z.slice(ndarray::s![..;-2, .., ..]);
    fused!(group, "(2;6,6)x(1000,2;6)/f_order,reversed", MatVec, columns, z.batch::<Ix1>().expect("a base"));
    group.finish();
}

fn closures(
    group: &mut BenchmarkGroup<'_, WallTime>,
    case: &str,
    x: &Batch<'_, f64, ndarray::Ix3, Ix2>,
    y: &Batch<'_, f64, ndarray::Ix3, Ix1>,
) {
    const MATVEC: Signature<'static> = Signature::literal("(m,n),(n)->(m)");
    let times = |c: ArrayView2<f64>, e: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| {
        for i in 0..6 {
            let mut sum = 0.0;
            for j in 0..6 {
                sum += c[[i, j]] * e[j];
            }
            s[i] = sum;
        }
    };
    let mut out = x.zip_map(y, 6, times).expect("a result");
    group.bench_function(BenchmarkId::new("zip_map_into", case), |b| {
        b.iter(|| black_box(x).zip_map_into(black_box(y), &mut out, times));
    });
    group.bench_function(BenchmarkId::new("zip_map_new", case), |b| {
        b.iter(|| black_box(x).zip_map(black_box(y), 6, times));
    });
    group.bench_function(BenchmarkId::new("zip_map_new_signature", case), |b| {
        b.iter(|| black_box(x).zip_map(black_box(y), MATVEC, times));
    });
    group.bench_function(BenchmarkId::new("zip_map_par_into", case), |b| {
        b.iter(|| black_box(x).par().zip_map_into(black_box(y), &mut out, times));
    });
    let (x, y) = ((*x).into_view(), (*y).into_view());
    let (x, y) = (x.batch_dyn(2).expect("a base"), y.batch_dyn(1).expect("a base"));
    group.bench_function(BenchmarkId::new("zip_map_into_dynamic", case), |b| {
        b.iter(|| {
            black_box(&x).zip_map_into(black_box(&y), &mut out, |c, e, s: ArrayViewMut1<f64>| {
                let (c, e) =
                    (c.into_dimensionality().expect("two axes"), e.into_dimensionality().expect("an axis"));
                times(c, e, s);
            })
        });
    });
}

// All lengths are known.
plain!(products_of_3(out: &mut [f64], a: &[f64], b: &[f64]) {
    for ((out, a), b) in out.chunks_exact_mut(9).zip(a.chunks_exact(9)).zip(b.chunks_exact(9)) {
        let (Ok(out), Ok(a), Ok(b)) = (<&mut [f64; 9]>::try_from(out), <&[f64; 9]>::try_from(a), <&[f64; 9]>::try_from(b)) else {
            return;
        };
        let rows = [[b[0], b[1], b[2], 0.0], [b[3], b[4], b[5], 0.0], [b[6], b[7], b[8], 0.0]];
        for i in 0..3 {
            let row: [f64; 4] =
                std::array::from_fn(|k| a[3 * i] * rows[0][k] + a[3 * i + 1] * rows[1][k] + a[3 * i + 2] * rows[2][k]);
            out[3 * i..][..3].copy_from_slice(&row[..3]);
        }
    }
});

/// `(1000; 3, 3)` times `(1000; 3, 3)`.
fn small_matrices(c: &mut Criterion) {
    let mut group = c.benchmark_group("matmul");
    let case = "(1000;3,3)x(1000;3,3)";
    let (a, b) = (filled((1000, 3, 3)), filled((1000, 3, 3)));
    let loops = |out: &mut [f64]| {
        let (a, b) = (slice(black_box(&a)), slice(black_box(&b)));
        for ((a, b), out) in a.chunks_exact(9).zip(b.chunks_exact(9)).zip(out.chunks_exact_mut(9)) {
            for i in 0..3 {
                for k in 0..3 {
                    out[3 * i + k] = (0..3).map(|j| a[3 * i + j] * b[3 * j + k]).sum();
                }
            }
        }
    };
    baseline!(group, case, 9000, loops);
    let good = |out: &mut [f64]| products_of_3::avx2(out, slice(black_box(&a)), slice(black_box(&b)));
    good_loop(&mut group, case, 9000, [&loops, &good]);
    let (x, y) = (a.batch::<Ix2>().expect("a base"), b.batch::<Ix2>().expect("a base"));
    fused!(group, case, MatMul, x, y);
    let times = |a: ArrayView2<f64>, b: ArrayView2<f64>, mut out: ArrayViewMut2<f64>| {
        for i in 0..3 {
            for k in 0..3 {
                out[[i, k]] = (0..3).map(|j| a[[i, j]] * b[[j, k]]).sum();
            }
        }
    };
    let mut out = Array3::zeros((1000, 3, 3));
    group.bench_function(BenchmarkId::new("zip_map_into", case), |b| {
        b.iter(|| black_box(&x).zip_map_into(black_box(&y), &mut out, times));
    });
    let six = filled((1000, 6, 6));
    let loops = |out: &mut [f64]| {
        let a = slice(black_box(&six));
        for (a, out) in a.chunks_exact(36).zip(out.chunks_exact_mut(36)) {
            for i in 0..6 {
                for k in 0..6 {
                    out[6 * i + k] = (0..6).map(|j| a[6 * i + j] * a[6 * j + k]).sum();
                }
            }
        }
    };
    baseline!(group, "(1000;6,6)x(1000;6,6)", 36_000, loops);
    let x = six.batch::<Ix2>().expect("a base");
    fused!(group, "(1000;6,6)x(1000;6,6)", MatMul, x, x);
    shared_and_turned(&mut group);
    group.finish();
}

/// A matrix that thin ones share, pairs of vectors that broadcast on both sides, and a matrix that is reversed or transposed.
fn shared_and_turned(group: &mut BenchmarkGroup<'_, WallTime>) {
    for (n, columns) in [(5, 3), (16, 2), (64, 1)] {
        let (one, thin) = (filled((n, n)), filled((2000, n, columns)));
        let (x, y) = (one.batch::<Ix2>().expect("a base"), thin.batch::<Ix2>().expect("a base"));
        fused!(group, format!("({n},{n})x(2000;{n},{columns})"), MatMul, x, y);
    }
    let (rows, columns) = (filled((300, 1, 10)), filled((1, 300, 10)));
    let (x, y) = (rows.batch::<Ix1>().expect("a base"), columns.batch::<Ix1>().expect("a base"));
    fused!(group, "(300,1;10)x(1,300;10)", Inner, x, y);
    let (matrix, vector) = (filled((512, 512)), filled(512));
    let y = vector.batch::<Ix1>().expect("a base");
    for (case, m) in [("transposed", matrix.t()), ("reversed", matrix.slice(ndarray::s![.., ..;-1]))] {
        fused!(group, format!("512/{case}"), MatVec, m.batch::<Ix2>().expect("a base"), y);
    }
}

/// Scalars `(1000, 2;)` times `(2; 6, 6)`, and sums of `(2; 6)` and `(1000, 2; 6)`.
fn element_wise(c: &mut Criterion) {
    let mut group = c.benchmark_group("element_wise");
    let case = "(1000,2;)x(2;6,6)";
    let (scale, stiffness) = (filled((1000, 2)), filled((2, 6, 6)));
    let loops = |out: &mut [f64]| {
        let (scale, c) = (slice(black_box(&scale)), slice(black_box(&stiffness)));
        for (i, (out, &s)) in out.chunks_exact_mut(36).zip(scale).enumerate() {
            for (out, c) in out.iter_mut().zip(&c[i % 2 * 36..][..36]) {
                *out = s * c;
            }
        }
    };
    baseline!(group, case, 72_000, loops);
    let (x, y) = (scale.batch::<Ix0>().expect("a base"), stiffness.batch::<Ix2>().expect("a base"));
    fused!(group, case, Mul, x, y);
    let times = |s: ndarray::ArrayView0<f64>, c: ArrayView2<f64>, mut out: ArrayViewMut2<f64>| {
        let s = s[()];
        out.zip_mut_with(&c, |out, c| *out = s * c);
    };
    let mut out = Array::zeros((1000, 2, 6, 6));
    group.bench_function(BenchmarkId::new("zip_map_into", case), |b| {
        b.iter(|| black_box(&x).zip_map_into(black_box(&y), &mut out, times));
    });

    let case = "(2;6)+(1000,2;6)";
    let (offset, strain) = (filled((2, 6)), filled((1000, 2, 6)));
    let loops = |out: &mut [f64]| {
        let (offset, e) = (slice(black_box(&offset)), slice(black_box(&strain)));
        for (out, e) in out.chunks_exact_mut(12).zip(e.chunks_exact(12)) {
            for ((out, e), offset) in out.iter_mut().zip(e).zip(offset) {
                *out = offset + e;
            }
        }
    };
    baseline!(group, case, 12_000, loops);
    let (x, y) = (offset.batch::<Ix1>().expect("a base"), strain.batch::<Ix1>().expect("a base"));
    fused!(group, case, Add, x, y);
    group.finish();
}

plain!(products(out: &mut [f64], a: &[f64], b: &[f64], n: usize, pairs: &[(usize, usize)]) {
    for (out, &(i, j)) in out.chunks_exact_mut(n * n).zip(pairs) {
        let (a, b) = (&a[i * n * n..][..n * n], &b[j * n * n..][..n * n]);
        for (out, a) in out.chunks_exact_mut(n).zip(a.chunks_exact(n)) {
            out.fill(0.0);
            for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                for (out, b) in out.iter_mut().zip(b) {
                    *out += a * b;
                }
            }
        }
    }
});

// Four rows and eight columns at once, whose sums stay in registers. Sizes are multiples of 8.
plain!(good_products(out: &mut [f64], a: &[f64], b: &[f64], n: usize, pairs: &[(usize, usize)]) {
    for (out, &(i, j)) in out.chunks_exact_mut(n * n).zip(pairs) {
        let (a, b) = (&a[i * n * n..][..n * n], &b[j * n * n..][..n * n]);
        for (out, a) in out.chunks_exact_mut(4 * n).zip(a.chunks_exact(4 * n)) {
            let [p, q, r, s] = [0, 1, 2, 3].map(|i| &a[i * n..][..n]);
            for at in (0..n).step_by(8) {
                let mut sums = [[0.0; 8]; 4];
                for ((((b, p), q), r), s) in b.chunks_exact(n).zip(p).zip(q).zip(r).zip(s) {
                    let Some(b) = b[at..].first_chunk::<8>() else { return };
                    for (sums, a) in sums.iter_mut().zip([p, q, r, s]) {
                        for (sum, b) in sums.iter_mut().zip(b) {
                            *sum += a * b;
                        }
                    }
                }
                for (out, sums) in out.chunks_exact_mut(n).zip(&sums) {
                    out[at..][..8].copy_from_slice(sums);
                }
            }
        }
    }
});

/// One case of [`large_products`], as a function for each number of axes: the shapes, how many products, and which
/// matrices the i-th of them multiplies.
macro_rules! product {
    ($name:ident, $A:ty) => {
        fn $name(
            group: &mut BenchmarkGroup<'_, WallTime>,
            case: &str,
            a: impl ShapeBuilder<Dim = $A>,
            b: impl ShapeBuilder<Dim = Ix3>,
            count: usize,
            pair: fn(usize) -> (usize, usize),
        ) {
            let (a, b) = (filled(a), filled(b));
            let n = a.shape()[a.ndim() - 1];
            let (x, y) = (a.batch::<Ix2>().expect("a base"), b.batch::<Ix2>().expect("a base"));
            let pairs: Vec<(usize, usize)> = (0..count).map(pair).collect();
            let loops = |out: &mut [f64]| {
                products::plain(out, black_box(slice(&a)), black_box(slice(&b)), n, &pairs);
            };
            let expected = x.matmul(&y).expect("a result");
            let mut by_hand = vec![0.0; expected.len()];
            loops(&mut by_hand);
            let agree = by_hand.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-9);
            assert!(agree, "the loop gives something else: {case}");

            fused!(group, case, MatMul, x, y);
            baseline!(group, case, count * n * n, loops);
            group.bench_function(BenchmarkId::new("loop_avx2_into", case), |bencher| {
                let (a, b) = (slice(&a), slice(&b));
                bencher
                    .iter(|| products::avx2(black_box(&mut by_hand), black_box(a), black_box(b), n, &pairs));
            });
            let good = |out: &mut [f64]| {
                good_products::avx2(out, black_box(slice(&a)), black_box(slice(&b)), n, &pairs);
            };
            good_loop(group, case, count * n * n, [&loops, &good]);
            by_ndarray(group, case, &each(&a, n), &each(&b, n), &pairs);
        }
    };
}
product!(with_two_batch_axes, Ix4);
product!(with_one_batch_axis, Ix3);

/// The matrices of a batch, along one axis.
fn each<D: Dimension>(array: &Array<f64, D>, n: usize) -> ArrayView3<'_, f64> {
    ArrayView3::from_shape((array.len() / (n * n), n, n), slice(array)).expect("square matrices")
}

fn by_ndarray(
    group: &mut BenchmarkGroup<'_, WallTime>,
    case: &str,
    a: &ArrayView3<f64>,
    b: &ArrayView3<f64>,
    pairs: &[(usize, usize)],
) {
    let shape = (pairs.len(), a.dim().1, a.dim().2);
    let products = |out: &mut Array3<f64>| {
        for (mut out, &(i, j)) in out.outer_iter_mut().zip(pairs) {
            general_mat_mul(1.0, &a.index_axis(Axis(0), i), &b.index_axis(Axis(0), j), 0.0, &mut out);
        }
    };
    let mut out = Array3::zeros(shape);
    group.bench_function(BenchmarkId::new("ndarray_into", case), |bencher| {
        bencher.iter(|| products(black_box(&mut out)));
    });
    group.bench_function(BenchmarkId::new("ndarray_new", case), |bencher| {
        bencher.iter(|| {
            let mut out = Array3::zeros(shape);
            products(&mut out);
            out
        });
    });
}

/// Products of larger matrices, one for each batch element or shared.
fn large_products(c: &mut Criterion) {
    let mut group = c.benchmark_group("large_products");
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300)).sample_size(10);
    let case = "(16,1;64,64)x(8;64,64)";
    with_two_batch_axes(&mut group, case, (16, 1, 64, 64), (8, 64, 64), 128, |i| (i / 8, i % 8));
    let case = "(128;64,64)x(128;64,64)";
    with_one_batch_axis(&mut group, case, (128, 64, 64), (128, 64, 64), 128, |i| (i, i));
    let case = "(32;128,128)x(1;128,128)";
    with_one_batch_axis(&mut group, case, (32, 128, 128), (1, 128, 128), 32, |i| (i, 0));
    let case = "(1;512,512)x(1;512,512)";
    with_one_batch_axis(&mut group, case, (1, 512, 512), (1, 512, 512), 1, |i| (i, i));
    group.finish();
}

fn main() {
    progress::run(
        Criterion::default(),
        &[
            ("update", update),
            ("small matrices", small_matrices),
            ("element wise", element_wise),
            ("large products", large_products),
        ],
    );
}
