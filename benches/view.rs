//! What a view costs: every form, with 1 to 6 axes, fixed and dynamic, next to `ArrayRef::broadcast`,
//! and for 1 to 10^8 elements.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use ndarray::{Array, ArrayD, ArrayRef, Axis, Dim, Dimension, IxDyn, RemoveAxis};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{TargetShape, broadcast_arrays, broadcast_to_match_in_place, broadcast_views};
use std::hint::black_box;

/// Every form that gives views of shape `to`: `from` has size 1 at axis 0 and is equal elsewhere.
fn forms<D>(group: &mut BenchmarkGroup<'_, WallTime>, kind: &str, from: &Array<f32, D>, to: &D)
where
    D: Dimension + RemoveAxis + TargetShape<Dim = D>,
{
    let ndim = to.ndim();
    let like = Array::<u8, D>::zeros(to.clone());
    let less = from.index_axis(Axis(0), 0).to_owned();
    let (from, like): (&ArrayRef<f32, D>, &ArrayRef<u8, D>) = (from, &like);
    let places: Vec<usize> = (0..ndim).collect();
    let mut bench = |form: &str, routine: &mut dyn FnMut()| {
        group.bench_function(BenchmarkId::new(format!("{form}/{kind}"), ndim), |b| b.iter(&mut *routine));
    };
    macro_rules! form {
        ($name:literal, $call:expr) => {
            bench($name, &mut || drop(black_box($call)))
        };
    }
    form!("ndarray_broadcast", black_box(from).broadcast(black_box(to).clone()));
    form!("broadcast_to", black_box(from).broadcast_to(black_box(to)));
    form!("broadcast_to_match_shape", black_box(from).broadcast_to_match_shape(black_box(to)));
    form!("into_broadcast_to", black_box(from).view().into_broadcast_to(black_box(to)));
    form!("ndarray_insert_axis_broadcast", {
        black_box(&less).view().insert_axis(Axis(0)).broadcast(black_box(to).clone()).map(|v| v.as_ptr())
    });
    form!("broadcast_axes", black_box(&less).broadcast_axes(black_box(to), Axis(0)));
    form!("broadcast_like", black_box(&less).broadcast_like(black_box(like), Axis(0)));
    form!("broadcast_in_dim", black_box(from).broadcast_in_dim(black_box(to), black_box(places.as_slice())));
    form!("ndarray_broadcast_twice", {
        let shape = black_box(like).raw_dim();
        (black_box(from).broadcast(shape.clone()), black_box(like).broadcast(shape))
    });
    form!("broadcast_to_match", black_box(from).broadcast_to_match(black_box(like)));
    form!("broadcast_arrays_2", broadcast_arrays((black_box(from), black_box(like))));
    form!("expand_to_match_ranks", black_box(from).expand_to_match_ranks(black_box(like)));
    form!("broadcast_views_2", broadcast_views(&[black_box(from).view(), black_box(from).view()]));
    form!("broadcast_to_match_in_place", {
        let (mut a, mut b) = (black_box(from).view(), black_box(like).view());
        broadcast_to_match_in_place(&mut a, &mut b).map(|()| (a, b))
    });
}

fn every_form(c: &mut Criterion) {
    let mut group = c.benchmark_group("view");
    macro_rules! axes {
        ($($n:literal)*) => {$(
            let (mut small, large) = ([2; $n], [2; $n]);
            small[0] = 1;
            let from = Array::<f32, _>::zeros(small);
            forms(&mut group, "fixed", &from, &Dim(large));
            forms(&mut group, "dynamic", &from.into_dyn(), &IxDyn(&large));
        )*};
    }
    axes!(1 2 3 4 5 6);
    group.finish();
}

/// The cost does not depend on the number of elements.
fn every_size(c: &mut Criterion) {
    let mut group = c.benchmark_group("view_elements");
    let row = ArrayD::<f32>::zeros(IxDyn(&[10]));
    let fixed = Array::<f32, _>::zeros(10);
    for rows in [1_usize, 1_000, 10_000_000] {
        let elements = rows * 10;
        group.bench_function(BenchmarkId::new("ndarray_broadcast/fixed", elements), |b| {
            b.iter(|| black_box(&fixed).broadcast(black_box((rows, 10))).map(|v| v.as_ptr()));
        });
        group.bench_function(BenchmarkId::new("broadcast_to/fixed", elements), |b| {
            b.iter(|| black_box(&fixed).broadcast_to(black_box((rows, -1))).map(|v| v.as_ptr()));
        });
        group.bench_function(BenchmarkId::new("broadcast_to/dynamic", elements), |b| {
            b.iter(|| black_box(&row).broadcast_to(black_box(&[rows, 10][..])).map(|v| v.as_ptr()));
        });
    }
    let one = Array::<f32, _>::zeros(());
    group.bench_function(BenchmarkId::new("broadcast_to/fixed", 1), |b| {
        b.iter(|| black_box(&one).broadcast_to(black_box((1, 1))).map(|v| v.as_ptr()));
    });
    group.finish();
}

criterion_group!(benches, every_form, every_size);
criterion_main!(benches);
