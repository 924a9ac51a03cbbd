//! The elements of a source, part by part: elements that are stored in order are one part, others are computed or copied.

use crate::kernel::memory::{BLOCK_BYTES, Reserved, strides};
use crate::kernel::nest::Source;
use crate::kernel::reduce::to_new;
use crate::shape::AxisMask;
use alloc::vec::Vec;
use core::iter::zip;
use ndarray::{ArrayView, ArrayViewD, Dimension, IxDyn, indices};

/// The first index of a part along an axis, and its size.
pub(super) type Bounds = (usize, usize);

/// The axes of a shape without zeros, outermost first: as the inputs' in memory, but the joined ones next to each other, in ascending
/// order.
pub(super) fn memory_order<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    is_joined: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut steps = shape.to_vec();
    strides(shape, Some(source.inputs()), &mut steps);
    let mut order: Vec<usize> = (0..shape.len()).collect();
    let long = order.iter().filter(|&&axis| is_joined(axis) && shape[axis] > 1);
    let nearest = long.map(|&axis| steps[axis]).min();
    order.sort_by_key(|&axis| match is_joined(axis) {
        true => (1, axis),
        false if Some(steps[axis]) > nearest => (0, usize::MAX - steps[axis]),
        false => (2, usize::MAX - steps[axis]),
    });
    order
}

/// Calls `then` with the elements of each part of a source, whose axes are in this order, and with its bounds along each axis of the
/// shape. The parts that are reduced to the same results follow each other.
pub(super) fn for_each_part<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    order: &[usize],
    reduced: &AxisMask,
    mut then: impl FnMut(ArrayViewD<'_, A>, &[Bounds]),
) {
    let (mut steps, whole) = (shape.to_vec(), |axis| (0, shape[axis]));
    let is_stored = source.in_order(shape, order, &whole, |all, _| all.as_slice().is_some());
    let most = BLOCK_BYTES / size_of::<A>().max(1);
    while !is_stored && steps.iter().fold(1, |len: usize, &step| len.saturating_mul(step)) > most {
        // from the outermost axis on, so that positions follow each other
        let Some(&cut) = order.iter().find(|&&axis| steps[axis] > 1) else { break };
        steps[cut] = steps[cut].div_ceil(2);
    }
    let kept = order.iter().copied().filter(|&axis| !reduced.contains(axis));
    let walk: Vec<usize> = kept.chain(reduced.named()).collect();
    let counts: Vec<usize> = walk.iter().map(|&axis| shape[axis].div_ceil(steps[axis])).collect();
    let mut bounds: Vec<Bounds> = (0..shape.len()).map(whole).collect();
    for at in indices(counts) {
        for (&axis, at) in zip(&walk, at.slice()) {
            let start = at * steps[axis];
            bounds[axis] = (start, steps[axis].min(shape[axis] - start));
        }
        source.in_order(shape, order, &|axis| bounds[axis], |part, shape| {
            if let Some(elements) = part.as_slice() {
                return then(ArrayView::from_shape(shape, elements).expect("all elements"), &bounds);
            }
            let reserved = Reserved::new(IxDyn(shape)).expect("memory for a part");
            then(to_new(part, shape, reserved, None, part.first()).view(), &bounds);
        });
    }
}
