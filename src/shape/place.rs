//! Where each axis of an array goes in the result, family by family, and which axes that repeats.

use super::axes::positions;
use super::target::{fits, given, plain};
use super::{Axes, Members, Placeholder, TargetShape, joint_size, resolve};
use crate::error::{BroadcastError, Request};
use alloc::{boxed::Box, vec::Vec};
use core::ops::Range;
use ndarray::IxDyn;

/// Where the axes of an array of `from` axes go in one of `to` axes, aligned at the right.
#[inline]
pub(crate) fn right_aligned(from: usize, to: usize) -> Range<usize> {
    to - from..to
}

/// Whether an axis of size `from` that becomes one of size `to` is repeated (0 times too).
#[inline]
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
/// [`TooFewAxes`](BroadcastError::TooFewAxes), [`Incompatible`](BroadcastError::Incompatible) and
/// [`Overflow`](BroadcastError::Overflow) where `from` does not broadcast to `to`, as in
/// [`resolve_target`](crate::resolve_target); [`InvalidSize`](BroadcastError::InvalidSize) for a size above `isize::MAX`.
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
    resolve::<_, IxDyn>(from, &to, Placeholder::Refused)?;
    let new = to.len() - from.len();
    let stretched = (new..to.len()).filter(|&axis| repeats(from[axis - new], to[axis]));
    Ok((0..new).chain(stretched).collect())
}

/// The target of an axis-set broadcast and which of its axes are new.
#[inline]
pub(crate) fn along_axes<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<(T::Dim, Members), BroadcastError> {
    let request = || {
        Box::new(Request::AlongAxes { shape: shape.to_vec(), axes: positions(axes), target: given(target) })
    };
    let resolved = plain(target, request)?;
    let ndim = target.target_ndim();
    let new = Members::new(axes, ndim, request)?;
    let expected = shape.len() + axes.axis_count();
    if ndim != expected {
        return Err(BroadcastError::AxisCount { request: request(), expected, found: ndim });
    }
    for (&own, axis) in shape.iter().zip(new.others()) {
        if own != resolved[axis] {
            let sizes = [own, resolved[axis]];
            return Err(BroadcastError::Incompatible { request: request(), axis, sizes, operands: [0, 1] });
        }
    }
    Ok((fits(resolved, request)?, new))
}

/// The target of a broadcast that places axis `i` of the array at `axes[i]`.
#[inline]
pub(crate) fn in_dim<T: TargetShape, X: Axes>(
    shape: &[usize],
    target: &T,
    axes: &X,
) -> Result<T::Dim, BroadcastError> {
    let request =
        || Box::new(Request::InDim { shape: shape.to_vec(), axes: positions(axes), target: given(target) });
    let resolved = plain(target, request)?;
    let found = axes.axis_count();
    if found != shape.len() {
        return Err(BroadcastError::AxisCount { request: request(), expected: shape.len(), found });
    }
    Members::new(axes, target.target_ndim(), request)?;
    for (i, &own) in shape.iter().enumerate() {
        let place = axes.axis(i);
        if joint_size(own, resolved[place]) != Some(resolved[place]) {
            let sizes = [own, resolved[place]];
            return Err(BroadcastError::Incompatible {
                request: request(),
                axis: place,
                sizes,
                operands: [0, 1],
            });
        }
    }
    fits(resolved, request)
}
