//! The rule of equal sizes: of an array and its target without the named axes, and of bases.
//!
//! The adjoint of [`broadcast_axes`](crate::BroadcastAxes::broadcast_axes) is [`sum_axes`](crate::Reduce::sum_axes).

use super::axes::axes_builder;
use super::{
    Axes, AxisMask, BatchShape, OF_TARGET, TargetShape, base_size, check_axis_count, check_len, sizes,
    sizes_only,
};
use crate::error::{BroadcastError, ErrorBuilder, caller};

/// The shape of the view that repeats an array of shape `shape` along `axes` of `target`, and the set of
/// its new axes.
#[inline(always)]
pub(crate) fn target_along_axes<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<(T::Dim, AxisMask), BroadcastError> {
    let builder = || axes_builder(&caller::ALONG_AXES, shape, axes).to(&target.for_message());
    let resolved = sizes_only(target, builder)?;
    let new = new_axes(shape, sizes(&resolved), axes, builder)?;
    check_len(sizes(&resolved), builder)?;
    Ok((resolved, new))
}

/// The set of the new axes of an array of shape `shape` that is repeated along `axes` of `target`.
///
/// # Errors
/// In this order: `AxisOutOfBounds`; `DuplicateAxis`; `AxisCount`; `Incompatible` where a size differs.
#[inline(always)]
pub(crate) fn new_axes<X: Axes>(
    shape: &[usize],
    target: &[usize],
    axes: &X,
    builder: impl Fn() -> ErrorBuilder,
) -> Result<AxisMask, BroadcastError> {
    let new = AxisMask::new(axes, target.len(), &builder)?;
    check_axis_count(shape.len() + axes.axis_count(), target.len(), OF_TARGET, &builder)?;
    for (&own, axis) in shape.iter().zip(new.unnamed()) {
        if own != target[axis] {
            return Err(builder().incompatible(axis, [own, target[axis]], [0, 1]));
        }
    }
    Ok(new)
}

/// Checks the base of a result. `found` and `expected` have equally many axes. The caret goes to `shown`, a shape of the error
/// with a base, at this position.
///
/// # Errors
/// `BaseSize`.
pub(crate) fn check_base(
    found: &[usize],
    expected: &[usize],
    builder: &dyn Fn() -> ErrorBuilder,
    (position, shown): (usize, BatchShape<'_>),
) -> Result<(), BroadcastError> {
    for (axis, (&size, &expected)) in found.iter().zip(expected).enumerate() {
        if size != expected {
            return Err(base_size(builder(), None, axis, [&size, &expected], shown.mark(position, axis)));
        }
    }
    Ok(())
}
