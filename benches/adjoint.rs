//! Sums over axes: the crate, loops for the case, what memory allows (`limit`, a read of the same bytes), and ndarray's
//! `sum`, or its chain of `sum_axis`.
//!
//! The loops are the obvious one (`plain` as it is compiled, `plain_avx2` as the crate is at run time) and a good one, for
//! sums over the first or the last axis, over all, and by channel.
//!
//! `cargo bench --manifest-path benches/Cargo.toml --bench adjoint -- f32/c4096` measures one array; times are for `f32`
//! and `f64`, on one thread, and with the feature `rayon` on several threads too.

#[macro_use]
mod plain;
mod limit;
mod loops;
mod progress;

use crate::loops::{good, obvious};
use crate::plain::Number;
use criterion::{BenchmarkId, Criterion, Throughput};
use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, Slice};
use ndarray_broadcast::prelude::*;
use std::fmt::Debug;
use std::hint::black_box;
use std::time::Duration;

/// The loops of a sum, in the order of the input's strides, merged: length, stride in the input and stride in the output. The output's
/// strides, where reduced, are 0.
fn merged_loops<T>(x: &ArrayViewD<T>, out: &ArrayD<T>) -> Vec<(usize, usize, usize)> {
    let mut all: Vec<_> = (0..x.ndim())
        .map(|i| {
            (
                x.shape()[i],
                x.strides()[i].unsigned_abs(),
                if out.shape()[i] == 1 { 0 } else { out.strides()[i].unsigned_abs() },
            )
        })
        .filter(|l| l.0 > 1)
        .collect();
    all.sort_by_key(|l| std::cmp::Reverse(l.1));
    let mut merged: Vec<(usize, usize, usize)> = vec![];
    for l in all {
        match merged.last_mut() {
            Some(m) if m.1 == l.0 * l.1 && m.2 == l.0 * l.2 => *m = (m.0 * l.0, l.1, l.2),
            _ => merged.push(l),
        }
    }
    merged
}

/// A name, and a loop that writes sums.
type Way<'a, T> = (&'static str, Box<dyn Fn(&mut [T], &[T]) + 'a>);

/// The obvious loop and the good one for nested loops that both are written for.
fn ways<'a, T: Number + 'a>(nest: &'a [(usize, usize, usize)]) -> Vec<Way<'a, T>> {
    macro_rules! ways {
        ($name:ident($($more:expr),*)) => {
            vec![
                ("plain", Box::new(move |out: &mut [T], x: &[T]| obvious::$name::plain(out, x, $($more),*))),
                ("plain_avx2", Box::new(move |out: &mut [T], x: &[T]| obvious::$name::avx2(out, x, $($more),*))),
                ("good", Box::new(move |out: &mut [T], x: &[T]| good::$name::avx2(out, x, $($more),*))),
            ]
        };
    }
    match *nest {
        [(_, 1, 0)] => ways!(sum_over_1()),
        [(_, stride, 1), (width, 1, 0)] if stride == width => ways!(sum_over_1()),
        [(_, stride, 0), (width, 1, 1)] if stride == width => ways!(sum_over_0()),
        [(_, image, 0), (channels, stride, 1), (plane, 1, 0)]
            if stride == plane && image == channels * plane =>
        {
            ways!(channel_sums(plane))
        }
        _ => vec![],
    }
}

fn cell<T: Number + Debug + Send + Sync + 'static>(
    c: &mut Criterion,
    kind: &str,
    name: &str,
    memory: &[T],
    x: &ArrayViewD<T>,
    axes: &[usize],
) {
    let label = axes.iter().map(ToString::to_string).collect::<String>();
    let mut group = c.benchmark_group(format!("{kind}/{name}/{label}"));
    group.throughput(Throughput::Bytes((x.len() * size_of::<T>()) as u64));
    let shape: Vec<usize> = (0..x.ndim()).map(|i| if axes.contains(&i) { 1 } else { x.shape()[i] }).collect();
    let mut out = ArrayD::<T>::zeros(IxDyn(&shape));
    group.bench_function(BenchmarkId::from_parameter("crate"), |b| {
        b.iter(|| black_box(x).assign_sum_to(&mut out));
    });
    group.bench_function(BenchmarkId::from_parameter("crate_new"), |b| {
        b.iter(|| black_box(x).sum_to(shape.as_slice()));
    });
    // Sums of ones: exact in each type, in any order.
    let expected = x.sum_to(shape.as_slice()).expect("a sum of its own axes");
    let nest = merged_loops(x, &out);
    for (way, run) in ways(&nest) {
        group.bench_function(BenchmarkId::from_parameter(way), |b| {
            b.iter(|| {
                run(
                    out.as_slice_mut().expect("an array in one piece, over at least one axis"),
                    black_box(memory),
                );
            });
            assert_eq!(out, expected, "the loops agree: {name} {label}");
        });
    }
    let span = 1 + x.shape().iter().zip(x.strides()).map(|(n, s)| (n - 1) * s.unsigned_abs()).sum::<usize>();
    let same_bytes = &memory[..span];
    group.bench_function(BenchmarkId::from_parameter("limit"), |b| {
        b.iter(|| limit::read(black_box(same_bytes)));
    });
    if axes.len() == x.ndim() {
        group.bench_function(BenchmarkId::from_parameter("ndarray"), |b| b.iter(|| black_box(x).sum()));
    } else {
        group.bench_function(BenchmarkId::from_parameter("ndarray"), |b| {
            b.iter(|| {
                let (last, rest) = axes.split_last().expect("an array in one piece, over at least one axis");
                rest.iter().rev().fold(black_box(x).sum_axis(Axis(*last)), |y, &i| y.sum_axis(Axis(i)))
            });
        });
    }
    group.bench_function(BenchmarkId::from_parameter("rayon"), |b| {
        b.iter(|| black_box(x).par().assign_sum_to(&mut out));
    });
    group.finish();
}

fn all<T: Number + Debug + Send + Sync + 'static>(c: &mut Criterion, kind: &str) {
    let one = |shape: &[usize]| ArrayD::<T>::ones(IxDyn(shape));
    let matrix: [&[usize]; 3] = [&[0], &[1], &[0, 1]];
    for (name, shape) in
        [("sq64", [64, 64]), ("sq256", [256, 256]), ("sq1024", [1024, 1024]), ("131072x8", [131_072, 8])]
    {
        let x = one(&shape);
        let memory = x.as_slice().expect("an array in one piece, over at least one axis");
        for axes in matrix {
            cell(c, kind, name, memory, &x.view(), axes);
        }
    }
    {
        let x = one(&[4096, 4096]);
        let memory = x.as_slice().expect("an array in one piece, over at least one axis");
        for axes in matrix {
            cell(c, kind, "c4096", memory, &x.view(), axes);
            cell(c, kind, "t4096", memory, &x.t(), axes);
            cell(
                c,
                kind,
                "every2nd4096",
                memory,
                &x.slice_each_axis(|a| Slice::new(0, None, if a.axis.0 == 1 { 2 } else { 1 })),
                axes,
            );
        }
    }
    let x = one(&[65_536, 64, 3]);
    let memory = x.as_slice().expect("an array in one piece, over at least one axis");
    for axes in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
        cell(c, kind, "65536x64x3", memory, &x.view(), axes);
    }
    let x = one(&[32, 64, 56, 56]);
    let memory = x.as_slice().expect("an array in one piece, over at least one axis");
    let nhwc = x.view().permuted_axes(&[0, 2, 3, 1][..]);
    for (axes, same) in [(&[0][..], &[0][..]), (&[1], &[3]), (&[2, 3], &[1, 2]), (&[0, 2, 3], &[0, 1, 2])] {
        cell(c, kind, "nchw", memory, &x.view(), axes);
        cell(c, kind, "nhwc", memory, &nhwc, same);
    }
    let x = one(&[14, 15, 16, 13, 12, 11]);
    let memory = x.as_slice().expect("an array in one piece, over at least one axis");
    for axes in [&[0, 2, 4][..], &[1, 3, 5], &[2, 3], &[0, 5]] {
        cell(c, kind, "6d", memory, &x.view(), axes);
    }
}

fn main() {
    let config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(30));
    let config = config.measurement_time(Duration::from_millis(120));
    progress::run(config, &[("f32", |c| all::<f32>(c, "f32")), ("f64", |c| all::<f64>(c, "f64"))]);
}
