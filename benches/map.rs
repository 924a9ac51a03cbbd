//! Fused evaluation and copies into an existing output, on one thread: the crate with a fixed and with a dynamic
//! number of axes, next to the plain loop written for that case (as it is compiled, and compiled for AVX2 as the
//! crate is at run time) and to ndarray's own way.
#![allow(
    clippy::unwrap_used,
    clippy::many_single_char_names,
    reason = "arrays made in standard layout, a and b"
)]

#[macro_use]
mod plain;
mod progress;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use ndarray::{Array, Array1, Array2, ArrayD, Axis, Dimension, Ix2, ShapeBuilder, Zip};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, broadcast_map_sum_to};
use std::hint::black_box;
use std::time::Duration;

plain!(add_row(out: &mut [f32], a: &[f32], row: &[f32]) {
    for (out, a) in out.chunks_exact_mut(row.len()).zip(a.chunks_exact(row.len())) {
        for ((out, a), r) in out.iter_mut().zip(a).zip(row) {
            *out = a + r;
        }
    }
});
plain!(add_column(out: &mut [f32], a: &[f32], column: &[f32]) {
    let width = out.len() / column.len();
    for ((out, a), c) in out.chunks_exact_mut(width).zip(a.chunks_exact(width)).zip(column) {
        for (out, a) in out.iter_mut().zip(a) {
            *out = a + c;
        }
    }
});
plain!(outer_sum(out: &mut [f32], column: &[f32], row: &[f32]) {
    for (out, c) in out.chunks_exact_mut(row.len()).zip(column) {
        for (out, r) in out.iter_mut().zip(row) {
            *out = c + r;
        }
    }
});
plain!(multiply_add(out: &mut [f32], a: &[f32], row: &[f32], column: &[f32]) {
    for ((out, a), c) in out.chunks_exact_mut(row.len()).zip(a.chunks_exact(row.len())).zip(column) {
        for ((out, a), r) in out.iter_mut().zip(a).zip(row) {
            *out = a * r + c;
        }
    }
});
plain!(add_channels(out: &mut [f32], a: &[f32], channels: &[f32]) {
    let image = out.len() / 32;
    let plane = image / channels.len();
    for (out, a) in out.chunks_exact_mut(image).zip(a.chunks_exact(image)) {
        for ((out, a), c) in out.chunks_exact_mut(plane).zip(a.chunks_exact(plane)).zip(channels) {
            for (out, a) in out.iter_mut().zip(a) {
                *out = a + c;
            }
        }
    }
});
plain!(add_eight(out: &mut [f32], a: &[f32], row: &[f32]) {
    let Ok(row) = <&[f32; 8]>::try_from(row) else { return };
    for (out, a) in out.chunks_exact_mut(8).zip(a.chunks_exact(8)) {
        for i in 0..8 {
            out[i] = a[i] + row[i];
        }
    }
});
plain!(alternating(out: &mut [f32], a: &[f32], b: &[f32]) {
    let mut rows = out.chunks_exact_mut(8);
    for i in 0..8 {
        for j in 0..8 {
            for k in 0..8 {
                for l in 0..8 {
                    for m in 0..8 {
                        let (Some(out), a) = (rows.next(), a[(i * 8 + k) * 8 + m]) else { return };
                        let b = &b[(j * 8 + l) * 8..][..8];
                        for n in 0..8 {
                            out[n] = a + b[n];
                        }
                    }
                }
            }
        }
    }
});
plain!(accumulate_column(out: &mut [f32], column: &[f32]) {
    let width = out.len() / column.len();
    for (out, c) in out.chunks_exact_mut(width).zip(column) {
        for out in out {
            *out += c;
        }
    }
});
plain!(accumulate_row(out: &mut [f32], row: &[f32]) {
    for out in out.chunks_exact_mut(row.len()) {
        for (out, r) in out.iter_mut().zip(row) {
            *out += r;
        }
    }
});
plain!(copy_row(out: &mut [f32], row: &[f32]) {
    out.chunks_exact_mut(row.len()).for_each(|out| out.copy_from_slice(row));
});
plain!(copy_three(out: &mut [f32], row: &[f32]) {
    let &[r, g, b] = row else { return };
    out.chunks_exact_mut(3).for_each(|out| out.copy_from_slice(&[r, g, b]));
});
plain!(fill(out: &mut [f32], values: &[f32], width: usize) {
    for (out, &x) in out.chunks_exact_mut(width).zip(values.iter().cycle()) {
        out.fill(x);
    }
});
plain!(repeat(out: &mut [f32], rows: &[f32], width: usize, times: usize) {
    for (out, row) in out.chunks_exact_mut(width * times).zip(rows.chunks_exact(width)) {
        out.chunks_exact_mut(width).for_each(|out| out.copy_from_slice(row));
    }
});
plain!(weighted_sum(sum: &mut [f32], a: &[f32], row: &[f32]) {
    sum.fill(0.0);
    for a in a.chunks_exact(row.len()) {
        for ((sum, a), r) in sum.iter_mut().zip(a).zip(row) {
            *sum += a * r;
        }
    }
});

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Small numbers, not all the same.
#[allow(clippy::cast_precision_loss, reason = "of numbers up to 12")]
fn numbers<D: Dimension>(shape: impl ShapeBuilder<Dim = D>) -> Array<f32, D> {
    let mut i = 0;
    Array::from_shape_simple_fn(shape, || {
        i = (i + 5) % 13;
        i as f32
    })
}

fn group<'a>(c: &'a mut Criterion, name: &str) -> Group<'a> {
    let mut group = c.benchmark_group(format!("map/{name}"));
    group
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .sample_size(10);
    group
}

/// One implementation of the cell; the output is given anew each time, so that nothing is left out.
macro_rules! way {
    ($group:ident, $name:literal, $out:ident => $call:expr) => {
        $group.bench_function($name, |b| {
            b.iter(|| {
                let $out = black_box(&mut $out);
                $call
            });
        });
    };
}

/// Applies with two operands: every implementation.
macro_rules! pair {
    ($c:ident, $name:expr, $shape:expr, $a:expr, $b:expr, $plain:ident) => {{
        let (a, b) = (numbers($a), numbers($b));
        let mut out = Array::<f32, _>::zeros($shape);
        let (a_dyn, b_dyn) = (a.clone().into_dyn(), b.clone().into_dyn());
        let mut group = group($c, $name);
        way!(group, "fixed", out => broadcast_apply(out, (&a, &b), |o, &a, &b| *o = a + b));
        way!(group, "ndarray", out => {
            Zip::from(out).and_broadcast(&a).and_broadcast(&b).for_each(|o, &a, &b| *o = a + b);
        });
        let (a, b) = (flat(&a), flat(&b));
        way!(group, "plain", out => $plain::plain(out.as_slice_mut().unwrap(), a, b));
        way!(group, "plain_avx2", out => $plain::avx2(out.as_slice_mut().unwrap(), a, b));
        let mut out = out.into_dyn();
        way!(group, "dynamic", out => broadcast_apply(out, (&a_dyn, &b_dyn), |o, &a, &b| *o = a + b));
        group.finish();
    }};
}

fn flat<D: Dimension>(array: &Array<f32, D>) -> &[f32] {
    array.as_slice().expect("in standard layout")
}

fn sums(c: &mut Criterion) {
    for n in [8, 64, 256, 2048] {
        pair!(c, &format!("a_row/{n}"), (n, n), (n, n), n, add_row);
        if n == 8 {
            continue;
        }
        pair!(c, &format!("a_column/{n}"), (n, n), (n, n), (n, 1), add_column);
        pair!(c, &format!("column_row/{n}"), (n, n), (n, 1), (1, n), outer_sum);
        multiply_add_cell(c, n);
    }
    pair!(c, "nchw", (32, 64, 56, 56), (32, 64, 56, 56), (64, 1, 1), add_channels);
    pair!(c, "narrow", (131_072, 8), (131_072, 8), 8, add_eight);
    pair!(c, "alternating", (8, 8, 8, 8, 8, 8), (8, 1, 8, 1, 8, 1), (1, 8, 1, 8, 1, 8), alternating);
}

fn multiply_add_cell(c: &mut Criterion, n: usize) {
    let (a, row, column) = (numbers((n, n)), numbers(n), numbers((n, 1)));
    let (a_dyn, row_dyn, column_dyn) =
        (a.clone().into_dyn(), row.clone().into_dyn(), column.clone().into_dyn());
    let mut out = Array2::<f32>::zeros((n, n));
    let mut group = group(c, &format!("a_times_row_plus_column/{n}"));
    way!(group, "fixed", out => broadcast_apply(out, (&a, &row, &column), |o, a, r, c| *o = a * r + c));
    way!(group, "ndarray", out => {
        Zip::from(out).and(&a).and_broadcast(&row).and_broadcast(&column).for_each(|o, a, r, c| *o = a * r + c);
    });
    let (x, r, k) = (flat(&a), flat(&row), flat(&column));
    way!(group, "plain", out => multiply_add::plain(out.as_slice_mut().unwrap(), x, r, k));
    way!(group, "plain_avx2", out => multiply_add::avx2(out.as_slice_mut().unwrap(), x, r, k));
    let mut out = out.into_dyn();
    way!(group, "dynamic", out => {
        broadcast_apply(out, (&a_dyn, &row_dyn, &column_dyn), |o, a, r, c| *o = a * r + c)
    });
    group.finish();
}

/// `out += row` in F order, where the row's elements are one for each contiguous column, and in C order.
fn accumulate(c: &mut Criterion) {
    for n in [256, 2048] {
        for (name, f_order) in [("f", true), ("c", false)] {
            let row = numbers(n);
            let row_dyn = row.clone().into_dyn();
            let mut out = Array::<f32, Ix2>::zeros((n, n).set_f(f_order));
            let mut group = group(c, &format!("accumulate_row_{name}/{n}"));
            way!(group, "fixed", out => broadcast_apply(out, &row, |o, &r| *o += r));
            way!(group, "ndarray", out => *out += &row);
            let r = flat(&row);
            if f_order {
                way!(group, "plain", out => accumulate_column::plain(out.as_slice_memory_order_mut().unwrap(), r));
                way!(group, "plain_avx2", out => accumulate_column::avx2(out.as_slice_memory_order_mut().unwrap(), r));
            } else {
                way!(group, "plain", out => accumulate_row::plain(out.as_slice_mut().unwrap(), r));
                way!(group, "plain_avx2", out => accumulate_row::avx2(out.as_slice_mut().unwrap(), r));
            }
            let mut out = out.into_dyn();
            way!(group, "dynamic", out => broadcast_apply(out, &row_dyn, |o, &r| *o += r));
            group.finish();
        }
    }
}

/// Copies into a shape: every implementation.
macro_rules! copy {
    ($c:ident, $name:expr, $from:expr, $to:expr, $plain:ident($($more:expr),*)) => {{
        let x = numbers($from);
        let mut out = Array::<f32, _>::zeros($to);
        let x_dyn = x.clone().into_dyn();
        let mut group = group($c, $name);
        way!(group, "fixed", out => x.materialize_into(out));
        way!(group, "ndarray", out => out.assign(&x));
        let all = x.broadcast($to).unwrap();
        group.bench_function("ndarray_to_owned", |b| b.iter(|| black_box(&all).to_owned()));
        group.bench_function("materialize", |b| b.iter(|| black_box(&all).materialize()));
        let x = flat(&x);
        way!(group, "plain", out => $plain::plain(out.as_slice_mut().unwrap(), x, $($more),*));
        way!(group, "plain_avx2", out => $plain::avx2(out.as_slice_mut().unwrap(), x, $($more),*));
        let mut out = out.into_dyn();
        way!(group, "dynamic", out => x_dyn.materialize_into(out));
        group.finish();
    }};
}

fn copies(c: &mut Criterion) {
    for n in [256, 2048] {
        copy!(c, &format!("copy_row/{n}"), n, (n, n), copy_row());
        copy!(c, &format!("copy_column/{n}"), (n, 1), (n, n), fill(n));
    }
    copy!(c, "copy_channels", (64, 1, 1), (32, 64, 56, 56), fill(56 * 56));
    copy!(c, "copy_3_to_512_512_3", 3, (512, 512, 3), copy_three());
    copy!(c, "copy_256_1_64_to_256_64_64", (256, 1, 64), (256, 64, 64), repeat(64, 64));
    copy!(c, "copy_32_1_1_128_to_32_8_128_128", (32, 1, 1, 128), (32, 8, 128, 128), repeat(128, 1024));
    copy!(c, "copy_1_16_1_1_to_1_16_320_320", (1, 16, 1, 1), (1, 16, 320, 320), fill(320 * 320));
}

fn weighted(c: &mut Criterion) {
    let (a, row) = (numbers((4096, 256)), numbers(256));
    let (a_dyn, row_dyn): (ArrayD<f32>, ArrayD<f32>) = (a.clone().into_dyn(), row.clone().into_dyn());
    let mut group = group(c, "sum_of_products/4096_256");
    group.bench_function("fixed", |b| {
        b.iter(|| broadcast_map_sum_to((&a, &row), black_box(256), |a, r| a * r));
    });
    group.bench_function("dynamic", |b| {
        b.iter(|| broadcast_map_sum_to((&a_dyn, &row_dyn), black_box(&[256][..]), |a, r| a * r));
    });
    group.bench_function("ndarray", |b| b.iter(|| (&a * black_box(&row)).sum_axis(Axis(0))));
    let mut out = Array1::<f32>::zeros(256);
    let (a, row) = (flat(&a), flat(&row));
    way!(group, "plain", out => weighted_sum::plain(out.as_slice_mut().unwrap(), a, row));
    way!(group, "plain_avx2", out => weighted_sum::avx2(out.as_slice_mut().unwrap(), a, row));
    group.finish();
}

plain!(weighted_rows(out: &mut [f32], a: &[f32], column: &[f32]) {
    let width = a.len() / out.len();
    for ((out, a), w) in out.iter_mut().zip(a.chunks_exact(width)).zip(column) {
        *out = 0.0;
        for a in a {
            *out += a * w;
        }
    }
});
plain!(distances(out: &mut [f32], x: &[f32], centres: &[f32], len: usize) {
    let centres = || centres.chunks_exact(len);
    let count = centres().len();
    for (out, x) in out.chunks_exact_mut(count).zip(x.chunks_exact(len)) {
        for (out, c) in out.iter_mut().zip(centres()) {
            *out = 0.0;
            for (x, c) in x.iter().zip(c) {
                *out += (x - c) * (x - c);
            }
        }
    }
});

/// Sums over the innermost axis: weighted means, squared distances.
fn inner_sums(c: &mut Criterion) {
    let (a, column) = (numbers((4096, 256)), numbers((4096, 1)));
    let mut group_of = group(c, "sum_of_products/4096_256_to_4096_1");
    group_of.bench_function("fixed", |b| {
        b.iter(|| broadcast_map_sum_to((&a, &column), black_box((4096, 1)), |a, w| a * w));
    });
    group_of.bench_function("ndarray", |b| b.iter(|| (&a * black_box(&column)).sum_axis(Axis(1))));
    let mut out = Array1::<f32>::zeros(4096);
    // a read of the same elements
    group_of.bench_function("limit", |b| b.iter(|| black_box(&a).sum_axes(0)));
    let (a, column) = (flat(&a), flat(&column));
    way!(group_of, "plain", out => weighted_rows::plain(out.as_slice_mut().unwrap(), a, column));
    way!(group_of, "plain_avx2", out => weighted_rows::avx2(out.as_slice_mut().unwrap(), a, column));
    group_of.finish();
    for (points, centres, len) in [(178, 3, 13), (5000, 16, 13), (5000, 16, 64)] {
        let (x, y) = (numbers((points, 1, len)), numbers((centres, len)));
        let shape = (points, centres, 1);
        let mut group = group(c, &format!("distances/{points}_{centres}_{len}"));
        group.bench_function("fixed", |b| {
            b.iter(|| broadcast_map_sum_to((&x, &y), black_box(shape), |x, y| (x - y) * (x - y)));
        });
        group.bench_function("ndarray", |b| {
            b.iter(|| (&x - black_box(&y)).mapv_into(|d| d * d).sum_axis(Axis(2)));
        });
        let mut out = Array::<f32, _>::zeros(shape);
        let (x, y) = (flat(&x), flat(&y));
        way!(group, "plain", out => distances::plain(out.as_slice_mut().unwrap(), x, y, len));
        way!(group, "plain_avx2", out => distances::avx2(out.as_slice_mut().unwrap(), x, y, len));
        group.finish();
    }
}

/// Operands that lie across the output.
fn transposed(c: &mut Criterion) {
    for n in [64, 256, 1000, 1024, 2048] {
        let (a, mut out) = (numbers((n, n)), Array2::<f32>::zeros((n, n)));
        let mut group = group(c, &format!("transposed/{n}"));
        way!(group, "copy", out => a.t().materialize_into(out));
        way!(group, "add", out => broadcast_apply(out, (&a, &a.t()), |out, x, y| *out = x + y));
        way!(group, "ndarray", out => out.assign(&a.t()));
        way!(group, "ndarray_add", out => Zip::from(out).and(&a).and(a.t()).for_each(|out, x, y| *out = x + y));
        way!(group, "limit", out => out.as_slice_mut().unwrap().copy_from_slice(flat(&a)));
        group.finish();
    }
    let (a, mut out) = (numbers((8, 64, 56, 56)), Array::<f32, _>::zeros((8, 56, 56, 64)));
    let turned = a.view().permuted_axes([0, 2, 3, 1]);
    let mut group = group(c, "transposed/nchw_to_nhwc");
    way!(group, "copy", out => turned.materialize_into(out));
    way!(group, "ndarray", out => out.assign(&turned));
    way!(group, "limit", out => out.as_slice_mut().unwrap().copy_from_slice(flat(&a)));
    group.finish();
}

plain!(add_to_row(x: &mut [f32], row: &[f32]) {
    for x in x.chunks_exact_mut(row.len()) {
        for (x, r) in x.iter_mut().zip(row) {
            *x = *x * 0.5 + r;
        }
    }
});
plain!(add_to_column(x: &mut [f32], column: &[f32]) {
    let width = x.len() / column.len();
    for (x, c) in x.chunks_exact_mut(width).zip(column) {
        for x in x {
            *x = *x * 0.5 + c;
        }
    }
});

/// Arrays that are given away and come back, in the same memory.
fn by_value(c: &mut Criterion) {
    for n in [8, 256, 2048] {
        for (name, shape) in [("row", (1, n)), ("column", (n, 1))] {
            let (mut x, other) = (Some(numbers((n, n))), numbers(shape));
            let mut group = group(c, &format!("by_value_{name}/{n}"));
            group.bench_function("into_broadcast_map", |b| {
                b.iter(|| {
                    let taken = black_box(&mut x).take().unwrap();
                    x = Some(taken.into_broadcast_map(&other, |x, o| x * 0.5 + o).unwrap());
                });
            });
            group.bench_function("broadcast_map", |b| {
                b.iter(|| broadcast_map((black_box(&x).as_ref().unwrap(), &other), |x, o| x * 0.5 + o));
            });
            group.bench_function("ndarray", |b| {
                b.iter(|| {
                    let mut taken = black_box(&mut x).take().unwrap();
                    taken.zip_mut_with(&other, |x, o| *x = *x * 0.5 + o);
                    x = Some(taken);
                });
            });
            let mut x = x.unwrap();
            if name == "row" {
                way!(group, "plain", x => add_to_row::plain(x.as_slice_mut().unwrap(), flat(&other)));
                way!(group, "plain_avx2", x => add_to_row::avx2(x.as_slice_mut().unwrap(), flat(&other)));
            } else {
                way!(group, "plain", x => add_to_column::plain(x.as_slice_mut().unwrap(), flat(&other)));
                way!(group, "plain_avx2", x => add_to_column::avx2(x.as_slice_mut().unwrap(), flat(&other)));
            }
            group.finish();
        }
    }
}

/// Arrays for which what is done before the first element counts.
fn small(c: &mut Criterion) {
    for n in [1, 3, 8] {
        let (a, row, mut out) = (numbers((n, n)), numbers(n), Array2::<f32>::zeros((n, n)));
        let repeated = row.broadcast((n, n)).unwrap();
        let mut group = group(c, &format!("small/{n}"));
        way!(group, "copy", out => repeated.materialize_into(out));
        way!(group, "copy_ndarray", out => out.assign(&repeated));
        way!(group, "apply", out => broadcast_apply(out, (&a, &row), |out, x, y| *out = x + y));
        way!(group, "apply_ndarray",
            out => Zip::from(out).and(&a).and_broadcast(&row).for_each(|out, x, y| *out = x + y));
        way!(group, "apply_plain", out => add_row::plain(out.as_slice_mut().unwrap(), flat(&a), flat(&row)));
        let mut sum = Array1::<f32>::zeros(n);
        way!(group, "sum", sum => a.sum_to_shape_into(sum));
        group.bench_function("sum_ndarray", |b| b.iter(|| black_box(&a).sum_axis(Axis(0))));
        group.finish();
    }
}

fn main() {
    progress::run(
        Criterion::default(),
        &[
            ("sums", sums),
            ("accumulate", accumulate),
            ("copies", copies),
            ("weighted", weighted),
            ("inner sums", inner_sums),
            ("transposed", transposed),
            ("by value", by_value),
            ("small", small),
        ],
    );
}
