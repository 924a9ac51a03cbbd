//! Reductions, means and sums over nothing, on one thread: the crate next to the obvious loop for that case (`plain` as it
//! is compiled, `plain_avx2` as the crate is at run time), to a good one, to ndarray's own way, and to the crate's sum.
#![allow(clippy::unwrap_used, reason = "shapes and axes that fit")]

#[macro_use]
mod plain;
mod loops;
mod progress;

use crate::loops::{good, obvious};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use ndarray::{Array1, Array2, Axis, RemoveAxis};
use ndarray_broadcast::{fused, prelude::*};
use std::hint::black_box;
use std::time::Duration;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

fn group<'a>(c: &'a mut Criterion, name: &str) -> Group<'a> {
    c.benchmark_group(format!("reduce/{name}"))
}

/// Small numbers, not all the same.
#[allow(clippy::cast_precision_loss, reason = "of numbers up to 12")]
fn numbers(shape: (usize, usize)) -> Array2<f32> {
    Array2::from_shape_fn(shape, |(i, j)| ((i * 5 + j * 3) % 13) as f32)
}

/// The loops of a name for axis 0 and one for axis 1, into a new array: as the crate has to.
macro_rules! loop_ways {
    ($group:ident, $axis:expr, $len:expr, $columns:ident, $rows:ident, $($x:expr),+ $(; / $count:expr)?) => {
        for (name, columns, rows) in [
            ("plain", obvious::$columns::plain as fn(&mut [f32], $(loop_ways!(@ $x)),+), obvious::$rows::plain as fn(&mut [f32], $(loop_ways!(@ $x)),+)),
            ("plain_avx2", obvious::$columns::avx2, obvious::$rows::avx2),
            ("good", good::$columns::avx2, good::$rows::avx2),
        ] {
            $group.bench_function(name, |b| {
                b.iter(|| {
                    let mut out = Array1::<f32>::zeros($len);
                    let slice = out.as_slice_mut().unwrap();
                    if $axis == 0 { columns(slice, $(black_box($x)),+) } else { rows(slice, $(black_box($x)),+) }
                    $(for x in slice { *x /= $count; })?
                    out
                });
            });
        }
    };
    (@ $x:expr) => { &[f32] };
}

const SHAPES: [(usize, usize); 7] =
    [(8, 8), (16, 16), (1000, 13), (1000, 30), (256, 256), (4096, 1024), (1024, 4096)];

/// The larger number, or `b` if one of them is NaN: one instruction, and three for [`f32::max`], which ignores NaN.
#[inline]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

macro_rules! maxima {
    ($name:ident, $op:path) => {
        fn $name(c: &mut Criterion) {
            for (shape, axis) in SHAPES.into_iter().flat_map(|shape| [(shape, 0), (shape, 1)]) {
                let x = numbers(shape);
                let mut group =
                    group(c, &format!("{}_over_{axis}/{}x{}", stringify!($name), shape.0, shape.1));
                group.bench_function("reduce_axes", |b| {
                    b.iter(|| black_box(&x).reduce_axes(axis, f32::NEG_INFINITY, $op));
                });
                group.bench_function("sum_axes", |b| b.iter(|| black_box(&x).sum_axes(axis)));
                group.bench_function("ndarray", |b| {
                    b.iter(|| black_box(&x).fold_axis(Axis(axis), f32::NEG_INFINITY, |&a, &b| $op(a, b)));
                });
                let (len, x) = (x.raw_dim().remove_axis(Axis(axis))[0], x.as_slice().unwrap());
                loop_ways!(group, axis, len, max_over_0, max_over_1, x);
                group.finish();
            }
        }
    };
}
maxima!(largest, larger);
maxima!(f32_max, f32::max);

#[allow(clippy::cast_precision_loss, reason = "of small sizes")]
fn means(c: &mut Criterion) {
    for shape in SHAPES {
        for axis in [0, 1] {
            let x = numbers(shape);
            let mut group = group(c, &format!("mean_over_{axis}/{}x{}", shape.0, shape.1));
            group.bench_function("mean_axes", |b| b.iter(|| black_box(&x).mean_axes(axis)));
            group.bench_function("sum_axes", |b| b.iter(|| black_box(&x).sum_axes(axis)));
            group.bench_function("ndarray", |b| b.iter(|| black_box(&x).mean_axis(Axis(axis))));
            let count = x.len_of(Axis(axis)) as f32;
            let (len, x) = (x.raw_dim().remove_axis(Axis(axis))[0], x.as_slice().unwrap());
            loop_ways!(group, axis, len, sum_over_0, sum_over_1, x; / count);
            group.finish();
        }
    }
}

/// The largest distance from a row, without an array of distances.
fn distances(c: &mut Criterion) {
    for shape in &SHAPES[4..] {
        for axis in [0, 1] {
            let (x, row) = (numbers(*shape), numbers((1, shape.1)));
            let to = if axis == 0 { (1, shape.1) } else { (shape.0, 1) };
            let mut group = group(c, &format!("largest_distance_over_{axis}/{}x{}", shape.0, shape.1));
            group.bench_function("broadcast_map_reduce_to", |b| {
                b.iter(|| fused((black_box(&x), &row), |x, r| (x - r).abs()).reduce_to(to, 0.0, f32::max));
            });
            group.bench_function("ndarray", |b| {
                b.iter(|| (black_box(&x) - &row).fold_axis(Axis(axis), 0.0, |a, b| f32::max(*a, b.abs())));
            });
            let (len, x) = (x.raw_dim().remove_axis(Axis(axis))[0], x.as_slice().unwrap());
            loop_ways!(group, axis, len, farthest_over_0, farthest_over_1, x, row.as_slice().unwrap());
            group.finish();
        }
    }
}

/// A sum to the array's own shape sums nothing.
fn own_shape(c: &mut Criterion) {
    for shape in [(4, 3), (512, 256)] {
        let x = numbers(shape);
        let mut group = group(c, &format!("own_shape/{}x{}", shape.0, shape.1));
        group.bench_function("sum_to_shape", |b| b.iter(|| black_box(&x).sum_to(shape)));
        group.bench_function("sum_to_match", |b| b.iter(|| black_box(&x).sum_to(&x)));
        group.bench_function("transposed", |b| b.iter(|| black_box(&x.t()).sum_to(&x.t())));
        group.bench_function("ndarray", |b| b.iter(|| black_box(&x).to_owned()));
        group.bench_function("plain", |b| {
            b.iter(|| Array2::from_shape_vec(shape, black_box(&x).as_slice().unwrap().to_vec()));
        });
        let mut given = Some(x);
        group.bench_function("by_value", |b| {
            b.iter(|| {
                let x = black_box(&mut given).take().unwrap();
                given = Some(x.into_sum_to(shape).unwrap());
            });
        });
        group.finish();
    }
}

fn main() {
    let config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(100));
    progress::run(
        config.measurement_time(Duration::from_millis(400)),
        &[
            ("largest", largest),
            ("f32::max", f32_max),
            ("means", means),
            ("distances", distances),
            ("own shape", own_shape),
        ],
    );
}
