//! The elements of a source, part by part: elements that are stored in order are one part, others are computed or copied.

use crate::kernel::memory::{BLOCK_BYTES, List, Reserved, strides};
use crate::kernel::nest::Source;
use crate::kernel::reduce::to_new;
use crate::shape::AxisMask;
use alloc::vec::Vec;
use core::iter::zip;
use ndarray::{Dimension, IxDyn, indices};

/// The first index of a part along an axis, and its size.
pub(super) type Bounds = (usize, usize);

/// The axes of a shape without zeros, outermost first: as the inputs' in memory, but the joined ones next to each other, in ascending
/// order.
pub(super) fn memory_order<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    is_joined: impl Fn(usize) -> bool,
) -> List<usize, 8> {
    let mut steps = List::<usize, 8>::filled(shape.len(), 0);
    strides(shape, Some(source.inputs()), &mut steps);
    let (mut order, axes) = (List::new(), 0..shape.len());
    axes.clone().for_each(|axis| order.push(axis));
    let long = axes.filter(|&axis| is_joined(axis) && shape[axis] > 1);
    let nearest = long.map(|axis| steps[axis]).min();
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
    mut then: impl FnMut(&[A], &[Bounds]),
) {
    let len = |sizes: &[usize]| sizes.iter().fold(1, |len: usize, &size| len.saturating_mul(size));
    let most = (BLOCK_BYTES / size_of::<A>().max(1)).max(1);
    // returns whether the elements are stored or few
    let mut visit = |bounds: &[Bounds]| {
        source.in_order(shape, order, &|axis| bounds[axis], |part, sizes| {
            let elements = part.as_slice();
            let is_part = elements.is_some() || len(sizes) <= most;
            if let Some(elements) = elements {
                then(elements, bounds);
            } else if is_part {
                let reserved = Reserved::new(IxDyn(sizes)).expect("memory for a part");
                let elements = to_new(part, sizes, reserved, None, part.first());
                then(elements.as_standard_layout().as_slice().expect("standard layout"), bounds);
            }
            is_part
        })
    };
    let mut bounds = List::<Bounds, 8>::new();
    shape.iter().for_each(|&size| bounds.push((0, size)));
    if visit(&bounds) {
        return;
    }
    let mut steps = shape.to_vec();
    while len(&steps) > most {
        // from the outermost axis on, so that positions follow each other
        let cut = order.iter().copied().find(|&axis| steps[axis] > 1).expect("several elements");
        steps[cut] = steps[cut].div_ceil(2);
    }
    let kept = order.iter().copied().filter(|&axis| !reduced.contains(axis));
    let walk: Vec<usize> = kept.chain(reduced.named()).collect();
    let counts: Vec<usize> = walk.iter().map(|&axis| shape[axis].div_ceil(steps[axis])).collect();
    for at in indices(counts) {
        for (&axis, at) in zip(&walk, at.slice()) {
            let start = at * steps[axis];
            bounds[axis] = (start, steps[axis].min(shape[axis] - start));
        }
        visit(&bounds);
    }
}
