//! Sums that undo placed axes: the shape of the result, and the axes that are kept.

use super::axes::positions;
use super::target::sizes_only;
use super::{Axes, AxisMask, TargetShape, reserved, sizes, stretches};
use crate::error::{BroadcastError, Request, operation};
use crate::kernel::memory::Reserved;

/// A result of the shape of a target for the sum of an array of shape `shape`, and the array's axes that are kept. Axis `i`
/// of the target comes from axis `axes[i]` of the array.
///
/// # Errors
/// In this order: `InvalidSize` where a size is negative or too large; the errors of [`placed_sum`]; `TooLarge`.
#[inline]
pub(crate) fn placed_sum_target<A, T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<(Reserved<A, T::Dim>, AxisMask), BroadcastError> {
    let request =
        || Request::new(&operation::SUM_IN_DIM, &[shape]).to(target.for_message()).axes(&positions(axes));
    let resolved = sizes_only(target, request)?;
    let named = placed_sum(shape, sizes(&resolved), axes)?;
    Ok((reserved(resolved, request)?, named))
}

/// The axes of an array of shape `shape` that a sum to `target` keeps.
///
/// # Errors
/// In this order: `AxisCount` where there is not one axis for each of the target; `AxisOutOfBounds`; `DuplicateAxis`;
/// `Incompatible` where a size differs and is not 1 in the target.
#[inline]
pub(crate) fn placed_sum<X: Axes>(
    shape: &[usize],
    target: &[usize],
    axes: &X,
) -> Result<AxisMask, BroadcastError> {
    let request = || Request::new(&operation::SUM_IN_DIM, &[shape]).to(target).axes(&positions(axes));
    let (expected, found) = (target.len(), axes.axis_count());
    if found != expected {
        return Err(request().axis_count(expected, found));
    }
    let kept = AxisMask::new(axes, shape.len(), request)?;
    for (i, &size) in target.iter().enumerate() {
        let place = axes.axis(i, shape.len());
        if !stretches(size, shape[place]) {
            return Err(request().incompatible(place, [shape[place], size], [0, 1]));
        }
    }
    Ok(kept)
}
