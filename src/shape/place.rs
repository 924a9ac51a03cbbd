//! Where each axis of an array goes in the result, family by family, and which axes that repeats.

use super::axes::{Named, positions};
use super::target::plain;
use super::{Axes, Placeholder, TargetShape, checked_len, refusal, resolve, sizes, stretches};
use crate::error::{BroadcastError, Request, operation};
use alloc::vec::Vec;
use ndarray::Dimension;

/// Whether an axis of size `from` that becomes one of size `to` is repeated (0 times too).
pub(crate) const fn repeats(from: usize, to: usize) -> bool {
    from == 1 && to != 1
}

/// The axes of `to` along which broadcasting `from` to it repeats elements: those over which the
/// adjoint sums.
///
/// These are the leading axes that `from` does not have, whatever their size, and those where it
/// has size 1 and `to` has not.
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
    if !resolve(from, &mut to.to_vec(), Placeholder::Refused) || checked_len(to).is_none() {
        return Err(refusal(from, to, Placeholder::Refused));
    }
    let new = to.len() - from.len();
    let stretched = (new..to.len()).filter(|&axis| repeats(from[axis - new], to[axis]));
    Ok((0..new).chain(stretched).collect())
}

/// The shape of the view that repeats an array of shape `shape` along `axes` of `target`, and the axes
/// of it that are new.
#[inline(always)]
pub(crate) fn along_axes<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<(T::Dim, Named), BroadcastError> {
    let request = || asked(&operation::ALONG_AXES, shape, axes, target);
    let resolved = plain(target, request)?;
    let new = Named::new(axes, resolved.ndim(), request)?;
    let (expected, found) = (shape.len() + axes.axis_count(), resolved.ndim());
    if found != expected {
        return Err(request().axis_count(expected, found));
    }
    check_placed(shape, &resolved, new.others(), |own, size| own == size, request)?;
    Ok((resolved, new))
}

/// The shape of the view that has axis `i` of an array of shape `shape` at `axes[i]` of `target`.
#[inline(always)]
pub(crate) fn in_dim<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<T::Dim, BroadcastError> {
    let request = || asked(&operation::IN_DIM, shape, axes, target);
    let resolved = plain(target, request)?;
    let (expected, found) = (shape.len(), axes.axis_count());
    if found != expected {
        return Err(request().axis_count(expected, found));
    }
    Named::new(axes, resolved.ndim(), request)?;
    check_placed(shape, &resolved, (0..found).map(|i| axes.axis(i, resolved.ndim())), stretches, request)?;
    Ok(resolved)
}

/// Checks that each size of the array goes where its axis is placed, and the shape for overflow.
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
    Request::new(operation, &[shape]).to(target.target_given()).axes(&positions(axes))
}
