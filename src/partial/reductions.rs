//! The shapes of sums and other reductions.

#![allow(
    clippy::needless_pass_by_value,
    reason = "axes may be passed by value, such as `1`, or by reference"
)]

use super::bindings::consistent;
use super::classes::{Classes, Site};
use super::families::{batches, mask};
use super::infer::checked_least;
use super::{Dim, PartialShape, Span};
use crate::error::{BroadcastError, Count, Request, fail, operation};
use crate::shape::{Axes, AxesOrAll, ReducedAxes, positions};
use alloc::{vec, vec::Vec};
use core::slice;
use ndarray::{Dimension, IxDyn};

/// The shape of a sum, a mean, a maximum or any other reduction over axes.
///
/// # Shapes
/// The axes that are not reduced, in order; over [`keepdims(axes)`](crate::keepdims), all axes, the reduced ones with
/// size 1. A reduction of `*` is `*`, but over `..` it has no axes.
///
/// # Errors
/// In this order: [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the
/// shape does not have; [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis in anything
/// but an [`AxisSet`](crate::AxisSet).
///
/// # Examples
/// ```
/// use ndarray_broadcast::{keepdims, partial::{infer_sum, PartialShape}};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_sum(&p("2x?xn"), [0, 1])?, p("n"));
/// assert_eq!(infer_sum(&p("2x?xn"), keepdims((0, -1)))?, p("1x?x1"));
/// assert_eq!(infer_sum(&p("0"), 0)?, p("[]"));
/// assert_eq!(infer_sum(&p("*"), 5)?, p("*"));
/// assert_eq!((infer_sum(&p("*"), ..)?, infer_sum(&p("2x?"), keepdims(..))?), (p("[]"), p("1x1")));
/// assert_eq!(
///     infer_sum(&p("2x?"), [2]).unwrap_err().to_string(),
///     "cannot sum shape 2x? over axes [2]: axis 2 is out of bounds for 2 axes of the array",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// nGraph's `op::Sum`, which undoes `op::Broadcast` over the same axes; `numpy.sum(axis=…, keepdims=…)`.
pub fn infer_sum<X: ReducedAxes<IxDyn>>(
    shape: &PartialShape,
    axes: X,
) -> Result<PartialShape, BroadcastError> {
    let axes = axes.axes();
    let numbers = || axes.numbers(shape.ndim().unwrap_or(0));
    let request = || Request::new(&operation::SUM_AXES, slice::from_ref(shape)).axes(numbers());
    let reduced = mask(axes, shape.ndim(), &request)?;
    let (Some(reduced), Some(dims)) = (reduced, shape.dims()) else {
        let no_axes = X::Left::NDIM == Some(0);
        return Ok(if no_axes { PartialShape::from([]) } else { PartialShape::unranked() });
    };
    if !X::KEEPS {
        return Ok(PartialShape::ranked(reduced.unnamed().map(|axis| dims[axis].clone())));
    }
    let mut kept = vec![Dim::Known(1); dims.len()];
    for axis in reduced.unnamed() {
        kept[axis] = dims[axis].clone();
    }
    Ok(kept.into())
}

/// The shape of an array that is summed to a shape, the adjoint of a broadcast from that shape.
///
/// # Shapes
/// As [`sum_to`](crate::Reduce::sum_to): aligned at the right, each axis of the target is 1 or of the array's size. The result is
/// the target, whose sizes are narrowed by those of the array. For an array `*` the target is the result; for a target `*` the
/// result is `*`.
///
/// # Errors
/// In this order:
/// [`TooManyAxes`](crate::ErrorKind::TooManyAxes) where the target has more axes than the array;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis of the target can be neither 1 nor of the array's size,
/// the axis counted in the array;
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest shape possible is one. Before `Incompatible`,
/// [`DeclaredName`](crate::ErrorKind::DeclaredName) where the ranges of a name have no size in common.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_sum_to, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_sum_to(&p("2x?xn"), &p("1xn"))?, p("1xn"));
/// assert_eq!(infer_sum_to(&p("?x2..5"), &p("2.."))?, p("2..5"));
/// assert_eq!(infer_sum_to(&p("0"), &p("?"))?, p("0..1"));
/// assert_eq!(
///     infer_sum_to(&p("nx3"), &p("2")).unwrap_err().to_string(),
///     "cannot sum shape nx3 to 2: axis 1 has sizes 3 and 2, expected equal sizes or 1 in the target",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// PyTorch's `Tensor.sum_to_size` with symbolic sizes.
pub fn infer_sum_to(shape: &PartialShape, target: &PartialShape) -> Result<PartialShape, BroadcastError> {
    let request = || Request::new(&operation::SUM_TO, slice::from_ref(shape)).to(target);
    sum_to(shape, target, &request)
}

/// The result of a request to sum a shape to a target.
fn sum_to(
    shape: &PartialShape,
    target: &PartialShape,
    request: &dyn Fn() -> Request,
) -> Result<PartialShape, BroadcastError> {
    let (Some(dims), Some(to)) = (shape.dims(), target.dims()) else { return Ok(target.clone()) };
    let Some(summed) = dims.len().checked_sub(to.len()) else {
        let (found, expected) = (Count(to.len()), dims.len());
        return Err(fail!(request(), TooManyAxes, "the target has {found}, expected at most {expected}"));
    };
    placed_sum(shape, target, &|axis| summed + axis, request)
}

/// The shape of a sum that leaves axis `i` of the target where the array has axis `axes[i]`, the adjoint of placed axes.
///
/// # Shapes
/// As [`sum_in_dim`](crate::Reduce::sum_in_dim): each axis of the target is 1 or of the size of its axis of the array; the
/// array's other axes are summed. The result is the target, whose sizes are narrowed by those of the array. For an array `*` the
/// target is the result; a target `*` has as many axes as are named.
///
/// # Errors
/// In this order:
/// [`AxisCount`](crate::ErrorKind::AxisCount) where there is not one axis for each axis of the target;
/// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the array does not have;
/// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis of the target can be neither 1 nor of the array's size;
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest shape possible is one. Before `Incompatible`,
/// [`DeclaredName`](crate::ErrorKind::DeclaredName) where the ranges of a name have no size in common.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_sum_in_dim, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_sum_in_dim(&p("4x3xn"), &p("?x1"), [2, 0])?, p("?x1"));
/// assert_eq!(infer_sum_in_dim(&p("4x3xn"), &p("2.."), 1)?, p("3"));
/// assert_eq!(
///     infer_sum_in_dim(&p("4x3"), &p("2"), 0).unwrap_err().to_string(),
///     "cannot sum shape 4x3 with its axes [0] to 2: axis 0 has sizes 4 and 2, expected equal sizes or 1 in the target",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The transpose of XLA's `broadcast_in_dim`.
pub fn infer_sum_in_dim(
    shape: &PartialShape,
    target: &PartialShape,
    axes: impl Axes,
) -> Result<PartialShape, BroadcastError> {
    let request =
        || Request::new(&operation::SUM_IN_DIM, slice::from_ref(shape)).to(target).axes(positions(&axes));
    let found = axes.axis_count();
    if let Some(expected) = target.ndim().filter(|&ndim| ndim != found) {
        return Err(request().axis_count(expected, found));
    }
    mask(&axes, shape.ndim(), &request)?;
    let Some(ndim) = shape.ndim() else { return Ok(target.clone()) };
    let unknown: PartialShape = vec![Dim::Unknown; found].into();
    let target = if target.ndim().is_some() { target } else { &unknown };
    placed_sum(shape, target, &|i| axes.axis(i, ndim), &request)
}

/// The shape of batches that are summed to a batch shape. The base does not change.
///
/// # Shapes
/// As [`sum_batch_to`](crate::Batch::sum_batch_to): the operand comes with the number of its base axes. The result is the
/// target as in [`infer_sum_to`], then the base.
///
/// # Errors
/// [`DeclaredAxes`](crate::ErrorKind::DeclaredAxes) where the operand has fewer axes than its base; then those of
/// [`infer_sum_to`], the axis counted in the batch.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_sum_batch, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_sum_batch(&p("nx2x6x6"), 2, &p("2"))?, p("2x6x6"));
/// assert_eq!(
///     infer_sum_batch(&p("nx2x6"), 1, &p("3")).unwrap_err().to_string(),
///     "cannot sum the batch of nx2x6 (base 1) to 3: \
///      batch axis 1 has sizes 2 and 3, expected equal sizes or 1 in the target",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// PyTorch's autograd, for NEML2's tensors.
pub fn infer_sum_batch(
    shape: &PartialShape,
    base: usize,
    target: &PartialShape,
) -> Result<PartialShape, BroadcastError> {
    let operand = (shape.clone(), base);
    let operands = slice::from_ref(&operand);
    let request = || Request::new(&operation::PARTIAL_BATCH_SUM, operands).to(target);
    let batches = batches(operands, &request)?;
    Ok(sum_to(&batches[0], target, &request)?.with_base(&shape.base(base)))
}

/// The shape of a sum to a target, whose axis `i` comes from axis `axis(i)` of the array.
///
/// # Errors
/// `Incompatible` where an axis of the target can be neither 1 nor of the array's size; `Overflow`.
fn placed_sum(
    shape: &PartialShape,
    target: &PartialShape,
    axis: &dyn Fn(usize) -> usize,
    request: &dyn Fn() -> Request,
) -> Result<PartialShape, BroadcastError> {
    let both = [shape.clone(), target.clone()];
    let both = consistent(&both, request)?;
    let [dims, to] = [&both[0], &both[1]].map(|shape| shape.dims().unwrap_or_default());
    let mut equal = Classes::default();
    for (i, size) in to.iter().enumerate() {
        let own = &dims[axis(i)];
        if !size.admits(1) && equal.meet(own, size, Site::UNNAMED).is_err() {
            return Err(request().clash(axis(i), [own, size], [0, 1]));
        }
    }
    let mut sizes = Vec::with_capacity(to.len());
    for (i, size) in to.iter().enumerate() {
        let (own, span, name) = (&dims[axis(i)], equal.span(size), size.as_name());
        let left = match span.intersect(equal.span(own)) {
            _ if name.is_some() && name == own.as_name() => span,
            both if span.contains(1) => both.map_or(Span::ONE, |both| both.hull(Span::ONE)),
            Some(both) => both,
            None => return Err(request().clash(axis(i), [own, size], [0, 1])),
        };
        if let Some(name) = name {
            let id = equal.id(name);
            equal.narrow(id, left, Site::UNNAMED);
        }
        sizes.push(left);
    }
    // a name that stands at several axes has the sizes that all of them leave
    let result = |(size, left): (&Dim, Span)| match size.as_name() {
        Some(name) => Dim::named(name, equal.span(size)),
        None => left.into(),
    };
    Ok(checked_least(to.iter().zip(sizes).map(result).collect(), request)?.into())
}
