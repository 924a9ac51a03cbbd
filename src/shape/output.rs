//! Stretching shapes to the shape of an existing output.

use super::{joint_ndim, stretches};
use crate::error::{BroadcastError, ErrorBuilder, caller};

/// Whether each shape stretches to the output's shape. [`output_error`] is the error.
#[inline(always)]
pub(crate) fn all_stretch_to(shapes: impl IntoIterator<Item: AsRef<[usize]>>, output: &[usize]) -> bool {
    shapes.into_iter().all(|shape| leading_axes(shape.as_ref(), output).is_some())
}

/// The number of leading axes of `to` that `from` does not have, or `None` if `from` does not stretch to `to`, aligned at
/// the right.
#[inline(always)]
pub(super) fn leading_axes(from: &[usize], to: &[usize]) -> Option<usize> {
    let new = to.len().checked_sub(from.len())?;
    for (&own, &size) in from.iter().zip(&to[new..]) {
        if !stretches(own, size) {
            return None;
        }
    }
    Some(new)
}

/// The error of shapes that do not all stretch to the output's shape.
#[cold]
#[inline(never)]
pub(crate) fn output_error(shapes: &[&[usize]], output: &[usize]) -> BroadcastError {
    let builder = ErrorBuilder::new(&caller::TO_OUTPUT, shapes).to(&output);
    let (expected, found) = (joint_ndim(shapes), output.len());
    match first_clash(shapes, output) {
        Some((axis, sizes, operand)) if expected <= found => {
            builder.incompatible(axis, sizes, [operand, shapes.len()])
        }
        _ => builder.too_few_axes("output", expected, found),
    }
}

/// The first axis of the output to which a shape does not stretch, the two sizes there, and the position of the shape.
pub(super) fn first_clash(shapes: &[&[usize]], output: &[usize]) -> Option<(usize, [usize; 2], usize)> {
    for (axis, &size) in output.iter().enumerate() {
        for (operand, shape) in shapes.iter().enumerate() {
            let own = (shape.len() + axis).checked_sub(output.len()).map_or(1, |axis| shape[axis]);
            if !stretches(own, size) {
                return Some((axis, [own, size], operand));
            }
        }
    }
    None
}
