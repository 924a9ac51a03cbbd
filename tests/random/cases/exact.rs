//! For every view B of the crate and its sum Bᵀ, ⟨Bx, y⟩ = ⟨x, Bᵀy⟩: of one view after another, in exact integers.

use crate::cases::Input;
use common::{Choices, Layout, Strided, scrambled, without_axes};
use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn};
use ndarray_broadcast::reduction_axes;
use ndarray_broadcast::{keepdims, prelude::*};

pub(crate) fn run(input: &mut Input<'_>) {
    let shape = input.small_shape(3, 60);
    let x = Strided::new(Layout::to_read(input, &shape), |place| scrambled(place as i64));
    let count = 1 + input.below(5);
    let mut steps = Vec::new();
    let mut view = x.view();
    for _ in 0..count {
        let (step, next) = Step::take(input, view);
        view = next;
        steps.push(step);
    }
    let y = Strided::new(Layout::to_read(input, view.shape()), |place| scrambled(place as i64 + 3));
    let forth: i64 = view.iter().zip(y.view()).map(|(bx, y)| bx * y).sum();
    let several = input.one_in(2);
    let back = steps.iter().rev().fold(y.view().materialize(), |y, step| step.back(&y, several));
    assert_eq!(back.shape(), shape);
    let back: i64 = x.view().iter().zip(&back).map(|(x, y)| x * y).sum();
    assert_eq!(forth, back, "{steps:?}");
}

/// A view that was taken of one, and what takes it back.
#[derive(Debug)]
enum Step {
    /// Aligned at the right: from a shape.
    Aligned(Vec<usize>),
    /// Along axes.
    Along(Vec<usize>),
    /// With axes placed, from a shape.
    Placed(Vec<usize>, Vec<usize>),
    /// Of a batch of this shape, with so many base axes.
    Batch(Vec<usize>, usize),
}

impl Step {
    fn take<'a>(input: &mut Input<'_>, view: ArrayViewD<'a, i64>) -> (Self, ArrayViewD<'a, i64>) {
        let shape = view.shape().to_vec();
        let room = view.len().max(1) * 4 <= 3000 && shape.len() < 7;
        let new = if room { input.below(4) } else { 1 };
        match input.below(5) {
            0 => {
                let mut target: Vec<i64> =
                    shape.iter().map(|&size| if size == 1 { new as i64 } else { -1 }).collect();
                if room && view.len() < 100 {
                    target.insert(0, 2);
                }
                let next = view.into_broadcast_to(target).expect("size 1 stretches");
                (Self::Aligned(shape), next)
            }
            1 => {
                let axis = input.below(shape.len() + 1);
                let mut target = shape.clone();
                target.insert(axis, new);
                let next = view.broadcast_axes(&target, axis).expect("a new axis");
                (
                    Self::Along(vec![axis]),
                    lasting(next.strides(), &view, &target, &without_axes(target.len(), &[axis])),
                )
            }
            2 => {
                let places = input.order(shape.len());
                let mut target = vec![0; shape.len()];
                for (&place, &size) in places.iter().zip(&shape) {
                    target[place] = if size == 1 { new } else { size };
                }
                let next = view.broadcast_in_dim(&target, &places).expect("each axis has a place");
                let next = lasting(next.strides(), &view, &target, &places);
                (Self::Placed(shape, places), next)
            }
            3 => {
                let base = input.below(shape.len() + 1);
                let batch = view.into_batch_dyn(base).expect("so many axes");
                let own = batch.batch_shape().to_vec();
                let target: Vec<i64> = [new as i64].into_iter().chain(own.iter().map(|_| -1)).collect();
                let next = batch.expand_batch(target).expect("a new axis").into_view();
                (Self::Batch(own, base), next)
            }
            _ => {
                let like = ArrayD::<()>::default(IxDyn(
                    &shape.iter().map(|&size| if size == 1 { new } else { size }).collect::<Vec<_>>(),
                ));
                let target = like.shape().to_vec();
                let next = view
                    .broadcast_to_match(&like)
                    .map(|(next, _)| next.strides().to_vec())
                    .expect("size 1 stretches");
                let next = lasting(&next, &view, &target, &(0..target.len()).collect::<Vec<_>>());
                (Self::Aligned(shape), next)
            }
        }
    }

    fn back(&self, y: &ArrayD<i64>, several: bool) -> ArrayD<i64> {
        match self {
            Self::Aligned(shape) => {
                let axes = reduction_axes(shape, y.shape()).expect("it was broadcast so");
                let kept = y.sum_axes(keepdims(&axes)).expect("axes of it");
                let sum = if several { y.par().sum_to(shape) } else { y.sum_to(shape) };
                let sum = sum.expect("it was broadcast so");
                assert!(kept.iter().eq(sum.iter()));
                let mut twice = sum.clone();
                y.add_sum_to(&mut twice).expect("it was broadcast so");
                assert_eq!(twice, &sum * 2);
                sum
            }
            Self::Along(axes) => {
                if several { y.par().sum_axes(axes) } else { y.sum_axes(axes) }.expect("axes of it")
            }
            Self::Placed(shape, places) => {
                let back = y.view().permuted_axes(places.as_slice());
                back.sum_to(shape).expect("it was broadcast so")
            }
            Self::Batch(batch, base) => {
                y.batch_dyn(*base).and_then(|y| y.sum_batch_to(batch)).expect("it was broadcast so")
            }
        }
    }
}

/// The view with the lifetime of the data, made of ndarray's own steps; that it is the same view is asserted.
fn lasting<'a>(
    strides: &[isize],
    view: &ArrayViewD<'a, i64>,
    target: &[usize],
    places: &[usize],
) -> ArrayViewD<'a, i64> {
    let mut whole = view.clone();
    while whole.ndim() < target.len() {
        let last = Axis(whole.ndim());
        whole = whole.insert_axis(last);
    }
    let others = without_axes(target.len(), places);
    let order: Vec<usize> = (0..target.len())
        .map(|axis| match places.iter().position(|&place| place == axis) {
            Some(own) => own,
            None => places.len() + others.iter().position(|&other| other == axis).expect("a new axis"),
        })
        .collect();
    let next = whole.permuted_axes(order).into_broadcast_to(target).expect("size 1 stretches");
    if !target.contains(&0) {
        assert!(next.strides().iter().zip(strides).zip(target).all(|((a, b), &size)| size == 1 || a == b));
    }
    next
}
