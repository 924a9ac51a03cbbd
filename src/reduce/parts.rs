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

/// The bounds of all of a shape.
pub(super) fn whole(shape: &[usize]) -> List<Bounds, 8> {
    shape.iter().map(|&size| (0, size)).collect()
}

/// The axes of a shape without zeros, outermost first, in the inputs' memory order. But the joined axes are neighbours, in
/// ascending order; axes of size 1 do not count.
pub(super) fn memory_order<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    is_joined: impl Fn(usize) -> bool,
) -> List<usize, 8> {
    let mut order: List<usize, 8> = (0..shape.len()).collect();
    let long = || (0..shape.len()).filter(|&axis| shape[axis] > 1);
    let mut others = long().skip_while(|&axis| !is_joined(axis)).skip_while(|&axis| is_joined(axis));
    if (long().count() < 2 || source.as_slice().is_some()) && !others.any(&is_joined) {
        return order;
    }
    let mut steps: List<usize, 8> = shape.iter().copied().collect();
    strides(shape, Some(&source.inputs().order()), &mut steps);
    let nearest = long().filter(|&axis| is_joined(axis)).map(|axis| steps[axis]).min();
    order.sort_by_key(|&axis| match is_joined(axis) {
        true => (1, axis),
        false if Some(steps[axis]) > nearest => (0, usize::MAX - steps[axis]),
        false => (2, usize::MAX - steps[axis]),
    });
    order
}

/// Calls `then` for each part of a source, with its axes in this order: with its elements, its sizes in that order, and its
/// bounds along each axis of the shape. Parts that are reduced to the same results follow each other.
pub(super) fn for_each_part<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    order: &[usize],
    reduced: &AxisMask,
    mut then: impl FnMut(&[A], &[usize], &[Bounds]),
) {
    let len = |sizes: &[usize]| sizes.iter().fold(1, |len: usize, &size| len.saturating_mul(size));
    let most = (BLOCK_BYTES / size_of::<A>().max(1)).max(1);
    let mut bounds = whole(shape);
    // returns whether the elements are stored or few
    let mut visit = |bounds: &[Bounds]| {
        let mut visit_part = |part: &Source<'_, A>, sizes: &[usize]| {
            let (elements, are_few) = (part.as_slice(), len(sizes) <= most);
            if let Some(elements) = elements {
                then(elements, sizes, bounds);
            } else if are_few {
                let elements = to_new(part, sizes, Reserved::scratch(IxDyn(sizes)), None, part.first());
                then(elements.as_standard_layout().as_slice().expect("standard layout"), sizes, bounds);
            }
            elements.is_some() || are_few
        };
        if order.is_sorted() && zip(bounds, shape).all(|(bounds, &size)| bounds.1 == size) {
            return visit_part(source, shape);
        }
        source.permuted(shape, order, bounds, visit_part)
    };
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
