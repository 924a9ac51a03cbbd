//! Placed and named axes: the axis of the result for each axis of an array, and the axes along which it is repeated.

use super::axes::{AxisMask, positions};
use super::reduce::leading_axes;
use super::target::sizes_only;
use super::{Axes, Placeholder, TargetShape, checked_len, sizes, stretches, target_error};
use crate::error::{BroadcastError, Request, operation};
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
pub fn reduction_axes(from: &[usize], to: &[usize]) -> Result<Vec<usize>, BroadcastError> {
    let Some(new) = leading_axes(from, to).filter(|_| checked_len(to).is_some()) else {
        return Err(target_error(from, to, Placeholder::Refused));
    };
    let stretched = (new..to.len()).filter(|&axis| repeats(from[axis - new], to[axis]));
    Ok((0..new).chain(stretched).collect())
}

/// The shape of the view that repeats an array of shape `shape` along `axes` of `target`, and the set of
/// its new axes.
#[inline(always)]
pub(crate) fn target_along_axes<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<(T::Dim, AxisMask), BroadcastError> {
    let request = || asked(&operation::ALONG_AXES, shape, axes, target);
    let resolved = sizes_only(target, request)?;
    let new = AxisMask::new(axes, resolved.ndim(), request)?;
    let (expected, found) = (shape.len() + axes.axis_count(), resolved.ndim());
    if found != expected {
        return Err(request().axis_count(expected, found));
    }
    check_placed(shape, &resolved, new.unnamed(), |own, size| own == size, request)?;
    Ok((resolved, new))
}

/// The shape of the view with axis `i` of an array of shape `shape` at `axes[i]` of `target`.
#[inline(always)]
pub(crate) fn target_in_dim<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<T::Dim, BroadcastError> {
    let request = || asked(&operation::IN_DIM, shape, axes, target);
    let resolved = sizes_only(target, request)?;
    let (expected, found) = (shape.len(), axes.axis_count());
    if found != expected {
        return Err(request().axis_count(expected, found));
    }
    AxisMask::new(axes, resolved.ndim(), request)?;
    check_placed(shape, &resolved, (0..found).map(|i| axes.axis(i, resolved.ndim())), stretches, request)?;
    Ok(resolved)
}

/// Checks each size of the array against its axis of the target, and the target for overflow.
#[inline(always)]
fn check_placed<E: Dimension>(
    shape: &[usize],
    target: &E,
    places: impl Iterator<Item = usize>,
    goes: impl Fn(usize, usize) -> bool,
    request: impl Fn() -> Request,
) -> Result<(), BroadcastError> {
    for (&own, axis) in shape.iter().zip(places) {
        let size = sizes(target)[axis];
        if !goes(own, size) {
            return Err(request().incompatible(axis, [own, size], [0, 1]));
        }
    }
    if checked_len(sizes(target)).is_none() {
        return Err(request().overflow(sizes(target)));
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn asked<T: TargetShape, X: Axes>(
    operation: &'static operation::Operation,
    shape: &[usize],
    axes: &X,
    target: &T,
) -> Request {
    Request::new(operation, &[shape]).to(target.for_message()).axes(&positions(axes))
}
