//! Stretching shapes to the shape of an existing output.

use super::{joint_ndim, stretches};
use crate::error::{BroadcastError, Request, operation};

/// Whether each shape stretches to the output's shape, aligned at the right. [`output_error`] is the error.
#[inline(always)]
pub(crate) fn all_stretch_onto(shapes: impl IntoIterator<Item: AsRef<[usize]>>, output: &[usize]) -> bool {
    shapes.into_iter().all(|shape| {
        let shape = shape.as_ref();
        shape.len() <= output.len()
            && shape.iter().rev().zip(output.iter().rev()).all(|(&own, &to)| stretches(own, to))
    })
}

/// The error of shapes that do not all stretch to the output's shape.
#[cold]
#[inline(never)]
pub(crate) fn output_error(shapes: &[&[usize]], output: &[usize]) -> BroadcastError {
    let request = Request::new(&operation::ONTO, shapes).to(output);
    let (expected, found) = (joint_ndim(shapes), output.len());
    match first_clash(shapes, output) {
        _ if expected > found => request.too_few_axes("output", expected, found),
        Some((axis, sizes, operand)) => request.incompatible(axis, sizes, [operand, shapes.len()]),
        // Not reached: an output exists, so its shape does not overflow.
        None => request.overflow(output),
    }
}

/// The first axis of the output to which a shape does not stretch, the two sizes there, and the position of the shape.
pub(super) fn first_clash(shapes: &[&[usize]], output: &[usize]) -> Option<(usize, [usize; 2], usize)> {
    (0..output.len()).find_map(|axis| {
        let from_end = output.len() - axis;
        shapes.iter().enumerate().find_map(|(operand, shape)| {
            let own = shape.len().checked_sub(from_end).map_or(1, |axis| shape[axis]);
            (!stretches(own, output[axis])).then_some((axis, [own, output[axis]], operand))
        })
    })
}
