//! What is left of a shape when axes of it are summed, and which shapes it can be summed to.

use super::axes::positions;
use super::target::no_size;
use super::{Axes, Named, TargetShape, checked_len, sizes, sizes_mut, stretches};
use crate::error::{BroadcastError, ErrorKind, Request, count, operation};
use alloc::{format, vec::Vec};
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

/// The axes of a shape that an operation sums over.
///
/// # Errors
/// `AxisOutOfBounds` with the smallest axis that does not exist, then `DuplicateAxis`.
#[inline]
fn summed<X: Axes>(
    operation: &'static operation::Operation,
    shape: &[usize],
    axes: &X,
) -> Result<Named, BroadcastError> {
    Named::new(axes, shape.len(), || over_axes(operation, shape, axes))
}

/// The sizes that are left of a shape when axes are summed, and those axes.
///
/// # Errors
/// As [`summed`], then `TooLarge` where the result is too large for elements of `size` bytes.
#[inline]
pub(crate) fn left<X: Axes, E: Dimension>(
    operation: &'static operation::Operation,
    shape: &[usize],
    axes: &X,
    size: usize,
) -> Result<(E, Named), BroadcastError> {
    let summed = summed(operation, shape, axes)?;
    let mut left = E::zeros(summed.others().count());
    for (size, axis) in sizes_mut(&mut left).iter_mut().zip(summed.others()) {
        *size = shape[axis];
    }
    if !fits(sizes(&left), size) {
        return Err(over_axes(operation, shape, axes).too_large(sizes(&left), size));
    }
    Ok((left, summed))
}

/// The sizes of a shape with those that are summed replaced by 1.
///
/// # Errors
/// As [`left`].
#[inline]
pub(crate) fn kept<X: Axes, E: Dimension>(
    operation: &'static operation::Operation,
    mut shape: E,
    axes: &X,
    size: usize,
) -> Result<E, BroadcastError> {
    let summed = summed(operation, sizes(&shape), axes)?;
    let given = shape.clone();
    for (axis, size) in sizes_mut(&mut shape).iter_mut().enumerate() {
        if summed.contains(axis) {
            *size = 1;
        }
    }
    if !fits(sizes(&shape), size) {
        return Err(over_axes(operation, sizes(&given), axes).too_large(sizes(&shape), size));
    }
    Ok(shape)
}

#[cold]
#[inline(never)]
pub(crate) fn over_axes<X: Axes>(
    operation: &'static operation::Operation,
    shape: &[usize],
    axes: &X,
) -> Request {
    Request::new(operation, &[shape]).axes(&positions(axes))
}

/// The sizes of a target that an array of shape `shape` can be summed to, for an operation on `operands`.
///
/// # Errors
/// As [`no_sum`], for elements of `size` bytes.
#[inline]
pub(crate) fn sum_target<T: TargetShape>(
    shape: &[usize],
    target: &T,
    size: usize,
    operation: &'static operation::Operation,
    operands: &[&[usize]],
) -> Result<T::Dim, BroadcastError> {
    let dim = target.target_dim();
    if sums(shape, sizes(&dim)).is_some() && fits(sizes(&dim), size) {
        return Ok(dim);
    }
    Err(no_sum(Request::new(operation, operands), shape, target.target_given(), size))
}

/// How many axes `shape` has more than `target`, to which a request sums it.
///
/// # Errors
/// As [`no_sum`].
#[inline]
pub(crate) fn sums_to(
    shape: &[usize],
    target: &[usize],
    request: impl FnOnce() -> Request,
) -> Result<usize, BroadcastError> {
    sums(shape, target).ok_or_else(|| no_sum(request(), shape, target.target_given(), 0))
}

#[inline(always)]
fn sums(shape: &[usize], target: &[usize]) -> Option<usize> {
    let new = shape.len().checked_sub(target.len())?;
    zip(&shape[new..], target).all(|(&own, &size)| stretches(size, own)).then_some(new)
}

/// The error of a sum that is refused, in this order: `InvalidSize` for what is no size; `TooManyAxes`
/// where the target has more axes than the shape; `Incompatible` where a size differs and is not 1 in
/// the target; `TooLarge` where elements of `size` bytes are too many.
#[cold]
fn no_sum(request: Request, shape: &[usize], target: Vec<i128>, size: usize) -> BroadcastError {
    let sizes: Vec<usize> = target.iter().filter_map(|&size| usize::try_from(size).ok()).collect();
    if let Some(axis) = no_size(&target) {
        let size = target[axis];
        return request.to(target).invalid_size(axis, size, false);
    }
    let request = request.to(target);
    let Some(new) = shape.len().checked_sub(sizes.len()) else {
        let detail = format!("the target has {}, expected at most {}", count(sizes.len()), shape.len());
        return request.error(ErrorKind::TooManyAxes, detail);
    };
    match zip(&shape[new..], &sizes).position(|(&own, &size)| !stretches(size, own)) {
        Some(axis) => request.incompatible(new + axis, [shape[new + axis], sizes[axis]], [0, 1]),
        None => request.too_large(&sizes, size),
    }
}

/// Whether memory can hold a `result` with elements of `size` bytes.
#[inline(always)]
pub(crate) fn fits(result: &[usize], size: usize) -> bool {
    let bytes = checked_len(result).and_then(|len| len.checked_mul(size));
    bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok())
}
