//! What is left of a shape when axes of it are summed, and which shapes it can be summed to.

use super::axes::positions;
use super::{Axes, Named, TargetShape, checked_len, sizes, sizes_mut, stretches};
use crate::error::{BroadcastError, Request, cold};
use alloc::vec::Vec;
use core::iter::zip;
use ndarray::{Dim, Dimension, Ix, IxDyn};

/// A number of axes of which `K` can be summed: both as dimension types.
///
/// `Ix4: LessAxes<Ix2, Left = Ix2>`; where either is `IxDyn`, so is the result. Sealed, as ndarray's
/// `Dimension` is; a bound for code that is generic in the number of axes.
///
/// # Examples
/// ```
/// use ndarray::{array, Array, ArrayRef, Ix1};
/// use ndarray_broadcast::{prelude::*, BroadcastError, LessAxes};
///
/// fn over_first<D: LessAxes<Ix1>>(a: &ArrayRef<f64, D>) -> Result<Array<f64, D::Left>, BroadcastError> {
///     a.sum_axes(0)
/// }
/// assert_eq!(over_first(&array![[1.0, 2.0], [3.0, 4.0]])?, array![4.0, 6.0]);
/// assert!(over_first(&ndarray::arr0(1.0).into_dyn()).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
/// Without axes there is none to sum over, which a fixed number of axes shows when compiled:
/// ```compile_fail,E0277
/// # use ndarray_broadcast::prelude::*;
/// ndarray::arr0(1.0).sum_axes(0).unwrap();
/// ```
///
/// # Equivalents
/// ndarray's `RemoveAxis` for one axis.
#[diagnostic::on_unimplemented(
    message = "an array of dimension type `{Self}` has not as many axes as are named: `{K}`",
    label = "too many axes are named",
    note = "the named axes are `{K}`: a single axis is `Dim<[usize; 1]>`, and `[usize; k]` is `Dim<[usize; k]>`"
)]
pub trait LessAxes<K: Dimension>: Dimension {
    /// The dimension type of what is left.
    type Left: Dimension;
}

macro_rules! less {
    ($($n:literal: $($k:literal $left:literal)*;)*) => {$(
        $(impl LessAxes<Dim<[Ix; $k]>> for Dim<[Ix; $n]> {
            type Left = Dim<[Ix; $left]>;
        })*
        impl LessAxes<IxDyn> for Dim<[Ix; $n]> {
            type Left = IxDyn;
        }
    )*};
}
less! {
    0: 0 0;
    1: 0 1 1 0;
    2: 0 2 1 1 2 0;
    3: 0 3 1 2 2 1 3 0;
    4: 0 4 1 3 2 2 3 1 4 0;
    5: 0 5 1 4 2 3 3 2 4 1 5 0;
    6: 0 6 1 5 2 4 3 3 4 2 5 1 6 0;
}

impl<K: Dimension> LessAxes<K> for IxDyn {
    type Left = IxDyn;
}

/// The axes of a shape that are to be summed.
///
/// # Errors
/// `AxisOutOfBounds` with the smallest axis that does not exist, then `DuplicateAxis`.
#[inline]
pub(crate) fn summed<X: Axes>(shape: &[usize], axes: &X) -> Result<Named, BroadcastError> {
    Named::new(axes, shape.len(), || over_axes(shape, axes))
}

/// The sizes that are left of a shape when axes are summed, and those axes.
///
/// # Errors
/// As [`summed`], then `TooLarge` where the result is too large for elements of `size` bytes.
#[inline]
pub(crate) fn left<X: Axes, E: Dimension>(
    shape: &[usize],
    axes: &X,
    size: usize,
) -> Result<(E, Named), BroadcastError> {
    let summed = summed(shape, axes)?;
    let mut left = E::zeros(summed.others().count());
    for (size, axis) in sizes_mut(&mut left).iter_mut().zip(summed.others()) {
        *size = shape[axis];
    }
    fits_memory(sizes(&left), size, || over_axes(shape, axes))?;
    Ok((left, summed))
}

/// The sizes of a shape with those that are summed replaced by 1.
///
/// # Errors
/// As [`left`].
#[inline]
pub(crate) fn kept<X: Axes, E: Dimension>(mut shape: E, axes: &X, size: usize) -> Result<E, BroadcastError> {
    let summed = summed(sizes(&shape), axes)?;
    let given = shape.clone();
    for (axis, size) in sizes_mut(&mut shape).iter_mut().enumerate() {
        if summed.contains(axis) {
            *size = 1;
        }
    }
    fits_memory(sizes(&shape), size, || over_axes(sizes(&given), axes))?;
    Ok(shape)
}

/// The sizes of a target that an array of shape `shape` can be summed to.
///
/// # Errors
/// In this order: `InvalidSize` for what is no size, as [`sums_to`], and `TooLarge` where the result is too
/// large for elements of `size` bytes.
#[inline]
pub(crate) fn sum_target<T: TargetShape>(
    shape: &[usize],
    target: &T,
    size: usize,
    request: impl Fn(Vec<i128>) -> Request,
) -> Result<T::Dim, BroadcastError> {
    let dim = target.target_dim();
    if sums(shape, sizes(&dim)) && fits(sizes(&dim), size) {
        return Ok(dim);
    }
    Err(*cold(|| {
        let given = target.target_given();
        sum_refusal(shape, &given, size, request(given.clone()))
    }))
}

/// How many axes `shape` has more than `target`, to which it can be summed.
///
/// # Errors
/// In this order: `TooManyAxes` where the target has more axes than the shape; `Incompatible` where a
/// size differs and is not 1 in the target.
#[inline]
pub(crate) fn sums_to(
    shape: &[usize],
    target: &[usize],
    request: impl Fn() -> Request,
) -> Result<usize, BroadcastError> {
    if sums(shape, target) {
        return Ok(shape.len() - target.len());
    }
    Err(*cold(|| sum_refusal(shape, &target.target_given(), 0, request())))
}

/// Whether an array of shape `shape` can be summed to `target`.
#[inline(always)]
fn sums(shape: &[usize], target: &[usize]) -> bool {
    let Some(new) = shape.len().checked_sub(target.len()) else { return false };
    zip(&shape[new..], target).all(|(&own, &size)| stretches(size, own))
}

/// The error of a sum that is refused.
#[cold]
fn sum_refusal(shape: &[usize], target: &[i128], size: usize, request: Request) -> BroadcastError {
    let request = request.boxed();
    let mut sizes = Vec::with_capacity(target.len());
    for (axis, &size) in target.iter().enumerate() {
        match isize::try_from(size) {
            Ok(size @ 0..) => sizes.push(size.unsigned_abs()),
            _ => return BroadcastError::InvalidSize { request, axis, size },
        }
    }
    let (expected, found) = (shape.len(), sizes.len());
    let Some(new) = expected.checked_sub(found) else {
        return BroadcastError::TooManyAxes { request, expected, found };
    };
    match zip(&shape[new..], &sizes).position(|(&own, &size)| !stretches(size, own)) {
        Some(axis) => BroadcastError::Incompatible {
            request,
            axis: new + axis,
            sizes: [shape[new + axis], sizes[axis]],
            operands: [0, 1],
        },
        None => BroadcastError::TooLarge { request, shape: sizes, size },
    }
}

/// The sum of an array of shape `shape` into one of shape `target`, for messages.
pub(crate) fn onto_array(shape: &[usize], target: &[usize]) -> Request {
    to_target(shape, target.target_given())
}

pub(crate) fn to_target(shape: &[usize], target: Vec<i128>) -> Request {
    Request::SumTo { shape: shape.to_vec(), target }
}

fn over_axes<X: Axes>(shape: &[usize], axes: &X) -> Request {
    Request::SumAxes { shape: shape.to_vec(), axes: positions(axes) }
}

/// # Errors
/// `TooLarge` where elements of `size` bytes are more than `isize::MAX` bytes in the shape `result`.
#[inline]
pub(crate) fn fits_memory(
    result: &[usize],
    size: usize,
    request: impl FnOnce() -> Request,
) -> Result<(), BroadcastError> {
    if fits(result, size) {
        return Ok(());
    }
    let shape = result.to_vec();
    Err(*cold(move || BroadcastError::TooLarge { request: request().boxed(), shape, size }))
}

/// Whether memory can hold a `result` with elements of `size` bytes.
#[inline(always)]
fn fits(result: &[usize], size: usize) -> bool {
    let bytes = checked_len(result).and_then(|len| len.checked_mul(size));
    bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok())
}
