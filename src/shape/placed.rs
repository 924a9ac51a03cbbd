//! The rules for axes of the target that the caller names: the new axes, where all other sizes are equal, or an axis for each
//! axis of the array, which may stretch.
//!
//! [`target_along_axes`] is for [`broadcast_axes`](crate::BroadcastAxes::broadcast_axes), whose adjoint is
//! [`sum_axes`](crate::Reduce::sum_axes). [`target_in_dim`] is for [`broadcast_in_dim`](crate::BroadcastInDim::broadcast_in_dim), and [`placed_sum_order`] for
//! [`sum_in_dim`](crate::Reduce::sum_in_dim), its adjoint.

use super::axes::{CountWords, axes_builder};
use super::{
    Axes, AxisMask, FOR_ARRAY, FOR_TARGET, OF_TARGET, TargetShape, check_axis_count, check_len, sizes,
    sizes_mut, sizes_only, stretches,
};
use crate::error::{ErrorBuilder, Result, caller};
use ndarray::Dimension;

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

/// The shape of the view with axis `i` of an array of shape `shape` at `axes[i]` of `target`.
#[inline(always)]
pub(crate) fn target_in_dim<T: TargetShape>(shape: &[usize], target: &T, axes: &impl Axes) -> Result<T::Dim> {
    let builder = || axes_builder(&caller::IN_DIM, shape, axes).to(&target.for_message());
    let resolved = sizes_only(target, builder)?;
    check_placed(shape, sizes(&resolved), axes, FOR_ARRAY, builder, |[own, to]| [own, to])?;
    check_len(sizes(&resolved), builder)?;
    Ok(resolved)
}

/// The axes of an array of shape `shape`, the unnamed ones first, then `axes`. In this order, the sum to `target` is aligned at
/// the right.
///
/// # Errors
/// In this order: `AxisCount` where there is not one axis for each of the target; `AxisOutOfBounds`; `DuplicateAxis`;
/// `Incompatible` where a size differs and is not 1 in the target.
#[inline]
pub(crate) fn placed_sum_order<D: Dimension, X: Axes>(
    shape: &[usize],
    target: &[usize],
    axes: &X,
    builder: impl Fn() -> ErrorBuilder,
) -> Result<D> {
    check_placed(target, shape, axes, FOR_TARGET, &builder, |[target, own]| [own, target])?;
    let (ndim, mut order) = (shape.len(), D::zeros(shape.len()));
    let named = AxisMask::new(axes, ndim, builder)?;
    let kept = (0..axes.axis_count()).map(|i| axes.axis(i, ndim));
    for (next, axis) in sizes_mut(&mut order).iter_mut().zip(named.unnamed().chain(kept)) {
        *next = axis;
    }
    Ok(order)
}

/// Checks that axis `i` of `from`, an array or the target of a sum, stretches to axis `axes[i]` of `to`. `words` are for
/// another number of axes, and `array_first` orders two sizes that clash. Returns no mask: one that lives through the loop
/// slows it by a quarter.
#[inline(always)]
fn check_placed<X: Axes>(
    from: &[usize],
    to: &[usize],
    axes: &X,
    words: CountWords,
    builder: impl Fn() -> ErrorBuilder,
    array_first: fn([usize; 2]) -> [usize; 2],
) -> Result<()> {
    check_axis_count(from.len(), axes.axis_count(), words, &builder)?;
    AxisMask::new(axes, to.len(), &builder)?;
    for (&size, axis) in from.iter().zip((0..from.len()).map(|i| axes.axis(i, to.len()))) {
        if !stretches(size, to[axis]) {
            return Err(builder().incompatible(axis, array_first([size, to[axis]]), [0, 1]));
        }
    }
    Ok(())
}
