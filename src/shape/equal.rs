//! The rule of equal sizes: of an array and its target without the named axes, and of bases.
//!
//! The adjoint of [`broadcast_axes`](crate::BroadcastAxes::broadcast_axes) is [`sum_axes`](crate::Reduce::sum_axes).

use super::axes::axes_builder;
use super::{
    Axes, AxisMask, BaseAxis, BatchShape, OF_TARGET, TargetShape, base_size, check_axis_count, check_len,
    sizes, sizes_only,
};
use crate::error::{NewBuilder, Result, caller};

/// The shape of the view that repeats an array of shape `shape` along `axes` of `target`, and the set of
/// its new axes.
///
/// # Errors
/// In this order: `InvalidSize`; `AxisOutOfBounds`; `DuplicateAxis`; `AxisCount`; `Incompatible` where a size differs;
/// `Overflow`.
#[inline(always)]
pub(crate) fn target_along_axes<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<(T::Dim, AxisMask)> {
    let builder = || axes_builder(&caller::ALONG_AXES, shape, axes).to(&target.for_message());
    let resolved = sizes_only(target, builder)?;
    let to = sizes(&resolved);
    let new = AxisMask::new(axes, to.len(), builder)?;
    check_axis_count(shape.len() + axes.axis_count(), to.len(), OF_TARGET, builder)?;
    for (&own, axis) in shape.iter().zip(new.unnamed()) {
        if own != to[axis] {
            return Err(builder().incompatible(axis, [own, to[axis]], [0, 1]));
        }
    }
    check_len(to, builder)?;
    Ok((resolved, new))
}

/// Checks the base of a result. `found` and `expected` have equally many axes. The caret goes to `shown`, a shape of the error
/// with a base, at this position.
///
/// # Errors
/// `BaseSize`.
pub(crate) fn check_base(
    found: &[usize],
    expected: &[usize],
    builder: NewBuilder<'_>,
    (position, shown): (usize, BatchShape<'_>),
) -> Result<()> {
    for (axis, (&size, &expected)) in found.iter().zip(expected).enumerate() {
        if size != expected {
            let base_axis = BaseAxis { operand: None, ..shown.base_axis(position, axis) };
            return Err(base_size(builder(), base_axis, [&size, &expected]));
        }
    }
    Ok(())
}
