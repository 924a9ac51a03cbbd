//! Shapes toward that of an output which is there already.

use super::{joint_ndim, stretches};
use crate::error::{BroadcastError, Request, operation};

/// Whether each of the shapes goes to that of the output, aligned at the right; [`output_error`] is the error.
#[inline(always)]
pub(crate) fn all_stretch_onto(shapes: &[&[usize]], output: &[usize]) -> bool {
    shapes.iter().all(|shape| {
        shape.len() <= output.len()
            && shape.iter().rev().zip(output.iter().rev()).all(|(&own, &to)| stretches(own, to))
    })
}

/// The error of shapes that do not all go to that of the output: too many axes first, then the first axis with
/// a clash.
#[cold]
#[inline(never)]
pub(crate) fn output_error(shapes: &[&[usize]], output: &[usize]) -> BroadcastError {
    let request = Request::new(&operation::ONTO, shapes).to(output);
    let (expected, found) = (joint_ndim(shapes), output.len());
    match clash(shapes, output) {
        _ if expected > found => request.too_few_axes("output", expected, found),
        Some((axis, sizes, operand)) => request.incompatible(axis, sizes, [operand, shapes.len()]),
        // Not reached: an output exists, so its shape is no overflow.
        None => request.overflow(output),
    }
}

/// The first axis of `output` to which one of the shapes does not go, the two sizes and which shape it is.
fn clash(shapes: &[&[usize]], output: &[usize]) -> Option<(usize, [usize; 2], usize)> {
    (0..output.len()).find_map(|axis| {
        let from_end = output.len() - axis;
        shapes.iter().enumerate().find_map(|(operand, shape)| {
            let own = shape.len().checked_sub(from_end).map_or(1, |axis| shape[axis]);
            (!stretches(own, output[axis])).then_some((axis, [own, output[axis]], operand))
        })
    })
}
