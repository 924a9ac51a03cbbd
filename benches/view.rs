//! What a view costs: every form, with 1 to 6 axes, fixed and dynamic, next to `ArrayRef::broadcast` and
//! to what one would write with it.

mod progress;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use ndarray::{Array, ArrayRef, ArrayView, Axis, Dim, Dimension, IxDyn, RemoveAxis};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    bounds::TargetShape, broadcast_arrays, broadcast_to_match_in_place, broadcast_to_match3_in_place,
    broadcast_views,
};
use std::hint::black_box;

/// Two arrays to their joint shape as one would write it, for shapes of equal length.
fn match_by_hand<'a, 'b, A, B, D: Dimension>(
    a: &'a ArrayRef<A, D>,
    b: &'b ArrayRef<B, D>,
) -> Option<(ArrayView<'a, A, D>, ArrayView<'b, B, D>)> {
    let mut shape = a.raw_dim();
    for axis in 0..shape.ndim() {
        match (shape[axis], b.shape()[axis]) {
            (x, y) if x == y => {}
            (1, y) => shape[axis] = y,
            (_, 1) => {}
            _ => return None,
        }
    }
    Some((a.broadcast(shape.clone())?, b.broadcast(shape)?))
}

/// Every form that gives views of shape `to`: `from` has size 1 at axis 0 and is equal elsewhere.
fn forms<D>(group: &mut BenchmarkGroup<'_, WallTime>, kind: &str, from: &Array<f32, D>, to: &D)
where
    D: Dimension + RemoveAxis + TargetShape<Dim = D>,
{
    let like = Array::<u8, D>::zeros(to.clone());
    let less = from.index_axis(Axis(0), 0).to_owned();
    let places: Vec<usize> = (0..to.ndim()).collect();
    let (a, like) = (&**from, &*like);
    let (less, to, places) = (&*less, black_box(to), places.as_slice());
    macro_rules! form {
        ($name:literal, $call:expr) => {
            group.bench_function(BenchmarkId::new(format!("{}/{kind}", $name), to.ndim()), |b| {
                b.iter(|| $call)
            });
        };
    }
    form!("ndarray_broadcast", black_box(a).broadcast(to.clone()));
    form!("broadcast_to", black_box(a).broadcast_to(to));
    form!("broadcast_to_match_shape", black_box(a).broadcast_to_match_shape(to));
    form!("into_broadcast_to", black_box(a).view().into_broadcast_to(to));
    form!("broadcast_in_place", {
        let mut view = black_box(a).view();
        view.broadcast_in_place(to).map(|()| view)
    });

    form!("ndarray_insert_axis", {
        let view = black_box(less).view().insert_axis(Axis(0));
        view.broadcast(to.clone()).map(|view| view.raw_view())
    });
    form!("broadcast_axes", black_box(less).broadcast_axes(to, black_box(Axis(0))));
    form!("broadcast_like", black_box(less).broadcast_like(black_box(like), black_box(Axis(0))));

    form!("ndarray_permuted_axes", {
        let axes = to.clone();
        let axes = places.iter().fold(axes, |mut axes, &place| {
            axes[place] = place;
            axes
        });
        black_box(a).broadcast(to.clone()).map(|view| view.permuted_axes(axes))
    });
    form!("broadcast_in_dim", black_box(a).broadcast_in_dim(to, black_box(places)));

    form!("ndarray_match_by_hand", match_by_hand(black_box(a), black_box(like)));
    form!("broadcast_to_match", black_box(a).broadcast_to_match(black_box(like)));
    form!("broadcast_to_match3", black_box(a).broadcast_to_match3(black_box(like), black_box(a)));
    form!("broadcast_arrays_2", broadcast_arrays((black_box(a), black_box(like))));
    form!(
        "broadcast_arrays_4",
        broadcast_arrays((black_box(a), black_box(like), black_box(a), black_box(like)))
    );
    form!("broadcast_views_2", broadcast_views(&[black_box(a).view(), black_box(a).view()]));
    form!("expand_to_match_ranks", black_box(a).expand_to_match_ranks(black_box(like)));
    form!("broadcast_to_match_in_place", {
        let (mut x, mut y) = (black_box(a).view(), black_box(like).view());
        broadcast_to_match_in_place(&mut x, &mut y).map(|()| (x, y))
    });
    form!("broadcast_to_match3_in_place", {
        let (mut x, mut y, mut z) = (black_box(a).view(), black_box(like).view(), black_box(a).view());
        broadcast_to_match3_in_place(&mut x, &mut y, &mut z).map(|()| (x, y, z))
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

fn main() {
    progress::run(Criterion::default(), &[("every form", every_form)]);
}
