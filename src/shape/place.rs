//! Placed and named axes: the axis of the result for each axis of an array, and the axes along which it is repeated.
//!
//! | rule | view | adjoint |
//! |---|---|---|
//! | [`target_in_dim`], [`placed_sum_order`] | [`broadcast_in_dim`](crate::BroadcastInDim::broadcast_in_dim) | [`sum_in_dim`](crate::Reduce::sum_in_dim) |
//! | [`target_along_axes`] | [`broadcast_axes`](crate::BroadcastAxes::broadcast_axes) | [`sum_axes`](crate::Reduce::sum_axes) |

use super::output::leading_axes;
use super::{
    Axes, AxisMask, Placeholder, TargetShape, axis_numbers, checked_len, reserved, sizes, sizes_mut,
    sizes_only, stretches, target_error,
};
use crate::error::caller::{self, Caller};
use crate::error::{BroadcastError, Count, ErrorBuilder, fail};
use crate::kernel::memory::Reserved;
use alloc::vec::Vec;
use ndarray::Dimension;

/// Whether stretching an axis from size `from` to size `to` repeats it. Repeating 0 times counts.
pub(crate) const fn repeats(from: usize, to: usize) -> bool {
    from == 1 && to != 1
}

/// The axes of `to` along which a broadcast of `from` repeats elements. The adjoint sums over them.
///
/// These are the leading axes that `from` does not have, whatever their size, and the axes where
/// `from` has size 1 and `to` has another.
///
/// # Shapes
/// `[3, 1]` to `[2, 3, 4]` repeats along axes 0 and 2 of the three.
///
/// # Errors
/// [`TooFewAxes`](crate::ErrorKind::TooFewAxes), [`Incompatible`](crate::ErrorKind::Incompatible) and
/// [`Overflow`](crate::ErrorKind::Overflow) where `from` does not broadcast to `to`, as in
/// [`resolve_target`](crate::resolve_target); [`InvalidSize`](crate::ErrorKind::InvalidSize) for a size above `isize::MAX`.
///
/// # Examples
/// ```
/// use ndarray_broadcast::reduction_axes;
///
/// assert_eq!(reduction_axes(&[3, 1], &[2, 3, 4])?, [0, 2]);
/// assert_eq!(reduction_axes(&[1], &[0])?, [0]);
/// assert_eq!(reduction_axes(&[], &[])?, []);
/// assert!(reduction_axes(&[3], &[2]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// JAX's `_unbroadcast` and PyTorch's `sum_to_size` find these axes inside; TensorFlow's
/// `broadcast_gradient_args` returns them.
#[doc(alias = "broadcast_gradient_args")]
pub fn reduction_axes(from: &[usize], to: &[usize]) -> Result<Vec<usize>, BroadcastError> {
    let Some(new) = leading_axes(from, to).filter(|_| checked_len(to).is_some()) else {
        return Err(target_error(from, to, Placeholder::Refused));
    };
    let is_repeated = |&axis: &usize| axis < new || repeats(from[axis - new], to[axis]);
    Ok((0..to.len()).filter(is_repeated).collect())
}

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
) -> Result<(T::Dim, AxisMask), BroadcastError> {
    let request = || axes_request(&caller::ALONG_AXES, shape, axes).to(&target.for_message());
    let resolved = sizes_only(target, request)?;
    let to = sizes(&resolved);
    let new = AxisMask::new(axes, to.len(), request)?;
    check_axis_count(shape.len() + axes.axis_count(), to.len(), OF_TARGET, request)?;
    for (&own, axis) in shape.iter().zip(new.unnamed()) {
        if own != to[axis] {
            return Err(request().incompatible(axis, [own, to[axis]], [0, 1]));
        }
    }
    check_len(to, request)?;
    Ok((resolved, new))
}

/// The shape of the view with axis `i` of an array of shape `shape` at `axes[i]` of `target`.
#[inline(always)]
pub(crate) fn target_in_dim<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<T::Dim, BroadcastError> {
    let request = || axes_request(&caller::IN_DIM, shape, axes).to(&target.for_message());
    let resolved = sizes_only(target, request)?;
    check_placed(shape, sizes(&resolved), axes, request, false)?;
    check_len(sizes(&resolved), request)?;
    Ok(resolved)
}

/// A result of the shape of a target for the sum of an array of shape `shape`, and the order of the array's axes as in
/// [`placed_sum_order`]. Axis `i` of the target comes from axis `axes[i]` of the array.
///
/// # Errors
/// In this order: `InvalidSize` where a size is negative or too large; the errors of [`placed_sum_order`]; `TooLarge`.
#[inline]
pub(crate) fn placed_sum_target<A, D: Dimension, T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
    request: impl Fn() -> ErrorBuilder,
) -> Result<(Reserved<A, T::Dim>, D), BroadcastError> {
    let request = || request().to(&target.for_message());
    let resolved = sizes_only(target, request)?;
    let order = placed_sum_order(shape, sizes(&resolved), axes, request)?;
    Ok((reserved(resolved, request)?, order))
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
    request: impl Fn() -> ErrorBuilder,
) -> Result<D, BroadcastError> {
    check_placed(target, shape, axes, &request, true)?;
    let (ndim, mut order) = (shape.len(), D::zeros(shape.len()));
    let named = AxisMask::new(axes, ndim, request)?;
    let kept = (0..axes.axis_count()).map(|i| axes.axis(i, ndim));
    for (place, axis) in sizes_mut(&mut order).iter_mut().zip(named.unnamed().chain(kept)) {
        *place = axis;
    }
    Ok(order)
}

/// Checks that axis `i` of `from`, an array or the target of a sum, stretches to axis `axes[i]` of `to`. Returns no mask: one
/// that lives through the loop slows it by a quarter.
#[inline(always)]
pub(crate) fn check_placed<X: Axes>(
    from: &[usize],
    to: &[usize],
    axes: &X,
    request: impl Fn() -> ErrorBuilder,
    is_sum: bool,
) -> Result<(), BroadcastError> {
    check_axis_count(from.len(), axes.axis_count(), if is_sum { FOR_TARGET } else { FOR_ARRAY }, &request)?;
    AxisMask::new(axes, to.len(), &request)?;
    for (&size, axis) in from.iter().zip((0..from.len()).map(|i| axes.axis(i, to.len()))) {
        if !stretches(size, to[axis]) {
            let sizes = if is_sum { [to[axis], size] } else { [size, to[axis]] };
            return Err(request().incompatible(axis, sizes, [0, 1]));
        }
    }
    Ok(())
}

/// The words before and after a wrong number of axes, and the words for the expected number.
pub(crate) type CountWords = [&'static str; 3];

pub(crate) const OF_TARGET: CountWords = ["the target has ", "", "those of the array and those named"];
pub(crate) const FOR_ARRAY: CountWords = ["", " named", "one for each axis of the array"];
pub(crate) const FOR_TARGET: CountWords = ["", " named", "one for each axis of the target"];

/// # Errors
/// `AxisCount`.
#[inline(always)]
pub(crate) fn check_axis_count(
    expected: usize,
    found: usize,
    [before, after, each]: CountWords,
    request: impl Fn() -> ErrorBuilder,
) -> Result<(), BroadcastError> {
    if found == expected {
        return Ok(());
    }
    let found = Count(found);
    Err(fail!(request(), AxisCount, "{before}{found}{after}, expected {expected}, {each}"))
}

/// # Errors
/// `Overflow`, of the request.
#[inline(always)]
pub(crate) fn check_len(shape: &[usize], request: impl Fn() -> ErrorBuilder) -> Result<(), BroadcastError> {
    if checked_len(shape).is_some() { Ok(()) } else { Err(request().overflow(shape)) }
}

/// A request for errors about axes of an array of shape `shape`.
#[cold]
#[inline(never)]
fn axes_request<X: Axes>(caller: &'static Caller, shape: &[usize], axes: &X) -> ErrorBuilder {
    ErrorBuilder::new(caller, &[shape]).axes(axis_numbers(axes))
}
