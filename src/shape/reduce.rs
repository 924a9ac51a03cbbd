//! The shape of a sum over axes, and the shapes that an array can be summed to.

use super::axes::positions;
use super::onto::{all_stretch_onto, first_clash};
use super::result::{reserved, try_reserved};
use super::target::first_invalid;
use super::{Axes, AxisMask, TargetShape, sizes, sizes_mut};
use crate::error::{BroadcastError, ErrorKind, Request, count, operation};
use crate::kernel::memory::Reserved;
use alloc::{format, vec::Vec};
use ndarray::{Dim, Dimension, Ix, IxDyn};

/// A dimension type from which `K` axes can be taken, such as the axes of a sum or of a base.
///
/// `Ix4: LessAxes<Ix2, Left = Ix2>`; where either is `IxDyn`, so is the result. Sealed, as ndarray's
/// `Dimension` is; a bound for code that is generic over the number of axes.
///
/// # Examples
/// ```
/// use ndarray::{array, Array, ArrayRef, Ix1};
/// use ndarray_broadcast::{bounds::LessAxes, prelude::*, BroadcastError};
///
/// fn over_first<D: LessAxes<Ix1>>(a: &ArrayRef<f64, D>) -> Result<Array<f64, D::Left>, BroadcastError> {
///     a.sum_axes(0)
/// }
/// assert_eq!(over_first(&array![[1.0, 2.0], [3.0, 4.0]])?, array![4.0, 6.0]);
/// assert!(over_first(&ndarray::arr0(1.0).into_dyn()).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
/// An array without axes has none to sum over. With a fixed number of axes, that is a compile error:
/// ```compile_fail,E0277
/// # use ndarray_broadcast::prelude::*;
/// ndarray::arr0(1.0).sum_axes(0).unwrap();
/// ```
///
/// # Equivalents
/// ndarray's `RemoveAxis` for one axis.
#[diagnostic::on_unimplemented(
    message = "cannot take `{K}` axes from `{Self}`, which has fewer",
    label = "the array has fewer axes",
    note = "an array with `k` axes is `Dim<[usize; k]>`; so are `k` named axes, and a base with `k` axes",
    note = "where the number of axes is only known at run time, use `IxDyn`: `a.into_dyn()`, `&axes[..]`, `batch_dyn(k)`"
)]
pub trait LessAxes<K: Dimension>: Dimension {
    /// The dimension type with the axes that remain.
    type Left: Dimension;
}

macro_rules! less {
    ($($n:literal: $($k:literal $left:literal)*;)*) => {$(
        $(#[diagnostic::do_not_recommend]
        impl LessAxes<Dim<[Ix; $k]>> for Dim<[Ix; $n]> {
            type Left = Dim<[Ix; $left]>;
        })*
        #[diagnostic::do_not_recommend]
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

#[diagnostic::do_not_recommend]
impl<K: Dimension> LessAxes<K> for IxDyn {
    type Left = IxDyn;
}

/// The axes over which an operation sums a shape.
///
/// # Errors
/// `AxisOutOfBounds` with the smallest axis that does not exist, then `DuplicateAxis`.
#[inline]
fn axis_mask<X: Axes>(
    operation: &'static operation::Operation,
    shape: &[usize],
    axes: &X,
) -> Result<AxisMask, BroadcastError> {
    AxisMask::new(axes, shape.len(), || over_axes(operation, shape, axes))
}

/// A result without the summed axes, and those axes.
///
/// # Errors
/// As [`axis_mask`], then `TooLarge`.
#[inline(always)]
pub(crate) fn without_axes<A, X: Axes, E: Dimension>(
    operation: &'static operation::Operation,
    shape: &[usize],
    axes: &X,
) -> Result<(Reserved<A, E>, AxisMask), BroadcastError> {
    let summed = axis_mask(operation, shape, axes)?;
    let mut result = E::zeros(summed.unnamed().count());
    for (size, axis) in sizes_mut(&mut result).iter_mut().zip(summed.unnamed()) {
        *size = shape[axis];
    }
    Ok((reserved(result, || over_axes(operation, shape, axes))?, summed))
}

/// A result with size 1 at the summed axes.
///
/// # Errors
/// As [`without_axes`].
#[inline(always)]
pub(crate) fn keeping_axes<A, X: Axes, E: Dimension>(
    operation: &'static operation::Operation,
    shape: &E,
    axes: &X,
) -> Result<Reserved<A, E>, BroadcastError> {
    let summed = axis_mask(operation, sizes(shape), axes)?;
    let mut result = shape.clone();
    for (axis, size) in sizes_mut(&mut result).iter_mut().enumerate() {
        if summed.contains(axis) {
            *size = 1;
        }
    }
    reserved(result, || over_axes(operation, sizes(shape), axes))
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

/// A result of the shape of a target, if an array of shape `shape` can be summed to it. `operands` are those of the
/// operation.
///
/// # Errors
/// As [`sum_error`].
#[inline(always)]
pub(crate) fn sum_target<A, T: TargetShape>(
    shape: &[usize],
    target: &T,
    operation: &'static operation::Operation,
    operands: &[&[usize]],
) -> Result<Reserved<A, T::Dim>, BroadcastError> {
    let dim = target.target_dim();
    if leading_axes(sizes(&dim), shape).is_some()
        && let Ok(reserved) = try_reserved(dim)
    {
        return Ok(reserved);
    }
    let request = Request::new(operation, operands);
    Err(sum_error(request, operands, shape, target.for_message(), size_of::<A>()))
}

/// The number of leading axes that a sum of `shape` to `target` drops.
///
/// # Errors
/// As [`sum_error`].
#[inline]
pub(crate) fn sums_to(
    shape: &[usize],
    target: &[usize],
    request: impl FnOnce() -> Request,
) -> Result<usize, BroadcastError> {
    leading_axes(target, shape).ok_or_else(|| sum_error(request(), &[shape], shape, target.for_message(), 0))
}

/// The number of leading axes of `to` that `from` does not have, or `None` if `from` does not stretch to `to`.
#[inline(always)]
pub(super) fn leading_axes(from: &[usize], to: &[usize]) -> Option<usize> {
    all_stretch_onto([from], to).then(|| to.len() - from.len())
}

/// The error of a sum to a target of `shape`, the joint shape of the operands. In this order: `InvalidSize` where a size
/// is negative or too large; `TooManyAxes` where the target has more axes than the shape; `Incompatible` where a size
/// differs and is not 1 in the target; `TooLarge` where elements of `size` bytes do not fit in memory.
#[cold]
fn sum_error(
    request: Request,
    operands: &[&[usize]],
    shape: &[usize],
    target: Vec<i128>,
    size: usize,
) -> BroadcastError {
    let sizes: Vec<usize> = target.iter().filter_map(|&size| usize::try_from(size).ok()).collect();
    if let Some(axis) = first_invalid(&target) {
        let size = target[axis];
        return request.to(target).invalid_size(axis, size, false);
    }
    let request = request.to(target);
    if sizes.len() > shape.len() {
        let detail = format!("the target has {}, expected at most {}", count(sizes.len()), shape.len());
        return request.error(ErrorKind::TooManyAxes, detail);
    }
    match first_clash(&[&sizes], shape) {
        Some((axis, [target, own], _)) => {
            // a size of 1 may come from an axis that is missing
            let has_size = |operand: &&[usize]| {
                let own_axis = (operand.len() + axis).checked_sub(shape.len());
                own_axis.is_some_and(|own_axis| operand[own_axis] == own)
            };
            let operand = operands.iter().position(has_size).unwrap_or(0);
            request.incompatible(axis, [own, target], [operand, operands.len()])
        }
        None => request.too_large(&sizes, size),
    }
}
