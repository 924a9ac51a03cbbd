//! The other families for partially known shapes: ranks, targets with -1, axis sets, placed axes, batches.

#![allow(
    clippy::needless_pass_by_value,
    reason = "axes and targets may be passed by value, such as `1`, or by reference"
)]

use super::infer::infer;
use super::layout::{dims, list};
use super::shape_op::{Part, ShapeOp};
use super::{Dim, PartialShape};
use crate::error::{BroadcastError, ErrorBuilder, caller};
use crate::shape::{Axes, Placeholder, TargetShape, axis_numbers, check_target};
use alloc::{vec, vec::Vec};
use core::borrow::Borrow;

/// The shape of an array that is broadcast to a target in which -1 keeps an axis as it is.
///
/// # Shapes
/// As [`resolve_target`](crate::resolve_target): aligned at the right, each axis of the array can be 1
/// or of the target's size, or the target has -1 there, which keeps the axis's `Dim`. For an
/// array `*`, -1 is an unknown size. The target has a type that
/// [`broadcast_to`](crate::BroadcastTo::broadcast_to) takes; for -1 beside names, see [`ShapeOp`].
///
/// # Errors
/// In this order:
/// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a size below -1 or above `isize::MAX`;
/// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where the target has fewer axes than the array;
/// [`PlaceholderOnNewAxis`](crate::ErrorKind::PlaceholderOnNewAxis) for a -1 where the array has no axis;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis can be neither 1 nor of the target's size;
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest shape possible is one.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_target, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_target(&p("?xn"), [2, 4, -1])?, p("2x4xn"));
/// assert_eq!(infer_target(&p("*"), (2_u64, -1))?, p("2x?"));
/// assert_eq!(infer_target(&p("?"), ndarray::Array2::<f64>::zeros((2, 3)).raw_dim())?, p("2x3"));
/// assert_eq!(
///     infer_target(&p("2..5"), [3, 6]).unwrap_err().to_string(),
///     "cannot broadcast shape 2..5 to [3, 6]: axis 1 has sizes 2..5 and 6, expected equal sizes or 1 in the array",
/// );
/// assert!(infer_target(&p("?"), [-1, 3]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// Shape inference of MindSpore's `ops.broadcast_to` and PyTorch's `Tensor.expand` with symbolic sizes.
pub fn infer_target(shape: &PartialShape, target: impl TargetShape) -> Result<PartialShape, BroadcastError> {
    target_of(shape, &target.for_message())
}

fn target_of(shape: &PartialShape, target: &[i128]) -> Result<PartialShape, BroadcastError> {
    let request = || ErrorBuilder::new(&caller::TO_TARGET, &[Part::whole(shape)]).to(&target.to_vec());
    check_target(target, Placeholder::Keeps, &request)?;
    let sizes = target.iter().map(|&size| usize::try_from(size).ok().map(Dim::Known));
    infer(&ShapeOp::Target(sizes.collect()), &[shape])
}

/// The shape of an array that is repeated along named axes of a target.
///
/// # Shapes
/// As [`broadcast_axes`](crate::BroadcastAxes::broadcast_axes): the target without the axes is the
/// array's shape, and nothing stretches. The result has the target's sizes at the named axes; at the
/// others it combines those of the array and the target. For an array `*` the target
/// is the result; for a target `*` and a ranked array, the sizes along the axes are unknown.
///
/// # Errors
/// In this order:
/// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the target does not have;
/// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis in anything but an [`AxisSet`](crate::AxisSet);
/// [`AxisCount`](crate::ErrorKind::AxisCount) where the target has more or fewer axes than the array and `axes` together;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where no size is possible in both;
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest shape possible is one.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_axes, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_axes(&p("?x3"), &p("2x4x?"), [0])?, p("2x4x3"));
/// assert_eq!(infer_axes(&p("n"), &p("*"), [1])?, p("nx?"));
/// assert_eq!(infer_axes(&p("*"), &p("2x3"), [0])?, p("2x3"));
/// assert_eq!(
///     infer_axes(&p("?x1"), &p("2x4x3"), [0]).unwrap_err().to_string(),
///     "cannot broadcast shape ?x1 along axes [0] to 2x4x3: axis 2 has sizes 1 and 3, expected equal sizes",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// nGraph's `op::Broadcast::validate_and_infer_types`.
pub fn infer_axes(
    shape: &PartialShape,
    target: &PartialShape,
    axes: impl Axes,
) -> Result<PartialShape, BroadcastError> {
    infer(&ShapeOp::Axes(axis_numbers(&axes)), &[shape, target])
}

/// The shape of an array whose axes are placed in a target.
///
/// # Shapes
/// As [`broadcast_in_dim`](crate::BroadcastInDim::broadcast_in_dim): axis `i` of the array becomes axis
/// `axes[i]`, and stretches from 1. The result is the target, merged at the placed axes with the array's
/// sizes that cannot be 1. For an array `*` the target is the result; for a target `*` the result is `*`.
///
/// # Errors
/// In this order:
/// [`AxisCount`](crate::ErrorKind::AxisCount) where `axes` has more or fewer entries than the array has axes;
/// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the target does not have;
/// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis can be neither 1 nor of the target's size;
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest shape possible is one.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_in_dim, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_in_dim(&p("1x4"), &p("?x2x3"), [2, 0])?, p("4x2x3"));
/// assert_eq!(infer_in_dim(&p("n"), &p("2x?"), [1])?, p("2x?"));
/// assert_eq!(
///     infer_in_dim(&p("2..x4"), &p("1x4"), [0, 1]).unwrap_err().to_string(),
///     "cannot broadcast shape 2..x4 with its axes at [0, 1] of 1x4: \
///      axis 0 has sizes 2.. and 1, expected equal sizes or 1 in the array",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// Type inference of StableHLO's `broadcast_in_dim` and `dynamic_broadcast_in_dim`.
pub fn infer_in_dim(
    shape: &PartialShape,
    target: &PartialShape,
    axes: impl Axes,
) -> Result<PartialShape, BroadcastError> {
    infer(&ShapeOp::InDim(axis_numbers(&axes)), &[shape, target])
}

/// The joint batch shape of operands whose last axes are their base.
///
/// # Shapes
/// Each operand comes with the number of its base axes. The batch axes are aligned at the right and
/// joined, as in [`infer_shapes`](super::infer_shapes); base axes take no part and may differ. To get
/// the shape of an operand with its batch expanded, append its base to the joint batch shape
/// [`with_base`](PartialShape::with_base).
///
/// # Errors
/// [`DeclaredAxes`](crate::ErrorKind::DeclaredAxes) where an operand has fewer axes than its base;
/// [`Incompatible`](crate::ErrorKind::Incompatible) and [`Overflow`](crate::ErrorKind::Overflow) as in
/// [`infer_shapes`](super::infer_shapes), the axis counted in the joint batch.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_batch, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// let batch = infer_batch(&[(p("2x6x6"), 2), (p("?x1x6"), 1)])?;
/// assert_eq!(batch, p("?x2"));
/// assert_eq!(batch.with_base(&p("6x6")), p("?x2x6x6"));
/// assert_eq!(
///     infer_batch(&[(p("2x6"), 1), (p("3x6"), 1)]).unwrap_err().to_string(),
///     "cannot broadcast the batches of 2x6 (base 1) and 3x6 (base 1): \
///      axis 0 has sizes 2 and 3 (operands 0 and 1), expected equal sizes or 1",
/// );
/// assert!(infer_batch(&[(p("6"), 2)]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// NEML2's batch and base shapes; the loop dimensions of NumPy's generalised ufuncs.
pub fn infer_batch<S: Borrow<PartialShape>>(operands: &[(S, usize)]) -> Result<PartialShape, BroadcastError> {
    let shapes: Vec<_> = operands.iter().map(|operand| operand.0.borrow()).collect();
    infer(&ShapeOp::Batch(operands.iter().map(|operand| operand.1).collect()), &shapes)
}

/// Shapes with the same number of axes: the shorter ones get leading axes of size 1.
///
/// # Shapes
/// As [`expand_to_match_ranks`](crate::BroadcastToMatch::expand_to_match_ranks), for any number of shapes. No size changes.
/// Beside `*`, the number of axes is unknown, so that all shapes become `*`.
///
/// # Errors
/// None.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_ranks, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_ranks(&[p("nx1"), p("?"), p("[]")]), [p("nx1"), p("1x?"), p("1x1")]);
/// assert_eq!(infer_ranks(&[p("nx1"), p("*")]), [p("*"), p("*")]);
/// ```
///
/// # Equivalents
/// Poplar `poputil::expandToMatchRanks`.
#[must_use]
pub fn infer_ranks<'p>(shapes: impl IntoIterator<Item = &'p PartialShape>) -> Vec<PartialShape> {
    let shapes: Vec<_> = shapes.into_iter().collect();
    let mut most = Some(0);
    for shape in &shapes {
        most = most.zip(shape.ndim()).map(|(most, ndim)| most.max(ndim));
    }
    let Some(most) = most else { return vec![PartialShape::unranked(); shapes.len()] };
    let new = |shape: &PartialShape| PartialShape::from(vec![Dim::Known(1); most - dims(shape).len()]);
    list(shapes.len(), &mut |i| new(shapes[i]).with_base(shapes[i]))
}
