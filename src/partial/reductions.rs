//! The shapes of sums and other reductions.

#![allow(
    clippy::needless_pass_by_value,
    reason = "axes may be passed by value, such as `1`, or by reference"
)]

use super::PartialShape;
use super::infer::infer;
use super::shape_op::ShapeOp;
use crate::error::BroadcastError;
use crate::shape::{Axes, ReducedAxes, axis_numbers};
use ndarray::{Dimension, IxDyn};

/// The shape of a sum, a mean, a maximum or any other reduction over axes.
///
/// # Shapes
/// The axes that are not reduced, in order; over [`keepdims(axes)`](crate::keepdims), all axes, the reduced ones with
/// size 1. A reduction of `*` is `*`.
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
    let Some(ndim) = shape.ndim() else {
        // all axes, of a shape whose number of axes is not known
        if X::Left::NDIM == Some(0) {
            return Ok(PartialShape::from([]));
        }
        return infer(&ShapeOp::Sum { axes: axes.numbers(0), keepdims: X::KEEPS }, &[shape]);
    };
    infer(&ShapeOp::Sum { axes: axes.numbers(ndim), keepdims: X::KEEPS }, &[shape])
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
    infer(&ShapeOp::SumTo, &[shape, target])
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
    infer(&ShapeOp::SumInDim(axis_numbers(&axes)), &[shape, target])
}
