//! Shapes toward that of an output which is there already.

use super::{joint_ndim, stretches};
use crate::error::{BroadcastError, Request};
use alloc::boxed::Box;

/// Whether each of the shapes goes to that of the output, aligned at the right; [`misfit`] is the error.
#[inline(always)]
pub(crate) fn go_onto(shapes: &[&[usize]], output: &[usize]) -> bool {
    shapes.iter().all(|shape| {
        shape.len() <= output.len()
            && shape.iter().rev().zip(output.iter().rev()).all(|(&own, &to)| stretches(own, to))
    })
}

/// The error of shapes that do not all go to that of the output: too many axes first, then the first axis with
/// a clash.
#[cold]
#[inline(never)]
#[allow(clippy::unnecessary_box_returns, reason = "see `cold`")]
pub(crate) fn misfit(shapes: &[&[usize]], output: &[usize]) -> Box<BroadcastError> {
    let request = Request::Onto {
        shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
        output: output.to_vec(),
    }
    .boxed();
    let (expected, found) = (joint_ndim(shapes), output.len());
    let error = match clash(shapes, output) {
        _ if expected > found => BroadcastError::TooFewAxes { request, expected, found },
        Some((axis, sizes, operand)) => {
            BroadcastError::Incompatible { request, axis, sizes, operands: [operand, shapes.len()] }
        }
        // Not reached: an output exists, so its shape is no overflow.
        None => BroadcastError::Overflow { request, shape: output.to_vec() },
    };
    error.boxed()
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
