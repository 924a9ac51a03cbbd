//! Inference, a function for each operation.

#![allow(clippy::needless_pass_by_value, reason = "axes and targets are passed by value or by reference")]

use super::statement::{Operation, Statement};
use super::{Dim, Names, PartialShape, ShapeOp};
use crate::error::{ErrorBuilder, Result, caller};
use crate::shape::{Axes, Placeholder, ReducedAxes, TargetShape, axis_numbers, check_target};
use alloc::{vec, vec::Vec};
use core::borrow::Borrow;
use ndarray::{Dimension, IxDyn};

/// The joint size of two axes.
///
/// # Shapes
/// The result has exactly the sizes that the operands allow. It may have more for names only, because a `Dim` cannot restrict
/// a name:
///
/// | | `3` | `1` | `?` | `2..5` | `0..4` | `n` |
/// |---|---|---|---|---|---|---|
/// | `3` | `3` | `3` | `3` | `3` | `3` | `3` |
/// | `1` | `3` | `1` | `?` | `2..5` | `0..4` | `n` |
/// | `?` | `3` | `?` | `?` | `2..5` | `?` | `?` |
/// | `0` | error | `0` | `0` | error | `0` | `0` |
/// | `n` | `3` | `n` | `?` | `2..5` | `?` | `n` |
/// For more than two sizes, pass shapes of one axis to [`infer_shapes`].
///
/// # Errors
/// [`Incompatible`](crate::ErrorKind::Incompatible) where no two sizes go together;
/// [`Overflow`](crate::ErrorKind::Overflow) for a size past `isize::MAX`.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_dim, Dim};
///
/// assert_eq!(infer_dim(Dim::Unknown, Dim::Known(3))?, Dim::Known(3));
/// assert_eq!(infer_dim(Dim::Unknown, Dim::Known(1))?, Dim::Unknown);
/// assert_eq!(infer_dim(Dim::name("n")?, Dim::range(2..=5)?)?, Dim::range(2..=5)?);
/// assert_eq!(
///     infer_dim(Dim::Known(0), Dim::Known(3)).unwrap_err().to_string(),
///     "cannot broadcast shapes 0 and 3 together: axis 0 has sizes 0 and 3 (operands 0 and 1), \
///      expected equal sizes or 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `InferShape`'s inner rule in MLIR's `Broadcastable`; `Dimension::broadcast_merge` of nGraph and
/// OpenVINO, which make 1 of 0 and 1 or are not tight for ranges.
pub fn infer_dim(a: Dim, b: Dim) -> Result<Dim> {
    let joint = infer_shape(&vec![a].into(), &vec![b].into())?;
    Ok(joint.dims().and_then(<[Dim]>::first).cloned().unwrap_or(Dim::Known(1)))
}

/// The joint shape of two shapes.
///
/// # Shapes
/// Aligned at the right, a missing axis counting as 1; each axis as in [`infer_dim`]. If one shape is `*`, so is the result:
/// it may have more axes, and larger sizes. A name is the same size on every axis: `nx0..5` with `3xn` gives `3x0..5`,
/// because `n` is 1 or 3.
///
/// # Errors
/// [`Incompatible`](crate::ErrorKind::Incompatible) with the first axis where no sizes go
/// together; [`Overflow`](crate::ErrorKind::Overflow) where the smallest possible shape overflows.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_shape, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_shape(&p("4"), &p("2x3x4"))?, p("2x3x4"));
/// assert_eq!(infer_shape(&p("?x1"), &p("n"))?, p("?xn"));
/// assert_eq!(infer_shape(&p("1x0"), &p("*"))?, p("*"));
/// assert!(infer_shape(&p("?x2"), &p("2..xn")).is_ok() && infer_shape(&p("?x2"), &p("3")).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `OpTrait::util::getBroadcastedType` in MLIR, `PartialShape::broadcast_merge_into` in nGraph.
pub fn infer_shape(a: &PartialShape, b: &PartialShape) -> Result<PartialShape> {
    infer(&ShapeOp::Together, &[a, b])
}

/// The joint shape of any number of shapes, inferred from all of them at once. It holds whatever the unknown sizes are.
///
/// # Shapes
/// As [`infer_shape`]; the order does not matter, and no shapes at all give `[]`.
///
/// # Errors
/// As [`infer_shape`].
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_shapes, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_shapes(&[p("?x1"), p("3x?"), p("4")])?, p("3x4"));
/// assert_eq!(infer_shapes(&[p("*"), p("4")])?, p("*"));
/// assert_eq!(
///     infer_shapes(&[p("0"), p("?"), p("3")]).unwrap_err().to_string(),
///     "cannot broadcast shapes 0, ? and 3 together: axis 0 has sizes 0 and 3 (operands 0 and 2), \
///      expected equal sizes or 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `broadcast_shapes` for sizes that are not all known; `shape.broadcast` in MLIR.
pub fn infer_shapes<'p>(shapes: impl IntoIterator<Item = &'p PartialShape>) -> Result<PartialShape> {
    infer(&ShapeOp::Together, &shapes.into_iter().collect::<Vec<_>>())
}

/// The only result of an operation by itself.
///
/// # Errors
/// Those of the operation's function.
pub(super) fn infer(operation: &ShapeOp<'_>, shapes: &[&PartialShape]) -> Result<PartialShape> {
    let call = Operation { has_checks: false, ..Operation::on(shapes) };
    Ok(operation.infer(&mut Names::new(), call)?.results.swap_remove(0))
}

/// The inferred shape of an operation's result, by MLIR's rule.
///
/// # Shapes
/// The joint shape of the operands whose number of axes is known, as in [`infer_shapes`]; `None`
/// if there is no such operand. An operand `*` is left out, although at run time it may have more axes or larger sizes:
/// [`infer_shapes`] and [`Plan`](super::Plan) do not take that risk.
///
/// # Errors
/// As [`infer_shape`], with the positions among all operands.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_result_shape, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_result_shape(&[p("*"), p("?x1"), p("3x?")])?, Some(p("3x?")));
/// assert_eq!(infer_result_shape(&[p("*"), p("*")])?, None);
/// assert!(infer_result_shape(&[p("2"), p("*"), p("3")]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The `InferResultShape` of MLIR's document on the `Broadcastable` trait.
pub fn infer_result_shape<'p>(
    operands: impl IntoIterator<Item = &'p PartialShape>,
) -> Result<Option<PartialShape>> {
    let shapes: Vec<_> = operands.into_iter().collect();
    let is_known = shapes.iter().any(|shape| shape.ndim().is_some());
    let call = Operation { has_checks: false, ..Operation::on(&shapes) };
    let statement = Statement { is_ranked: true, ..call.together() };
    let (result, _) = statement.solve(&mut Names::new())?;
    Ok(is_known.then_some(result))
}

/// The shape of an array that is broadcast to a target, where -1 keeps an axis as it is.
///
/// # Shapes
/// As [`resolve_target`](crate::resolve_target): aligned at the right, each axis of the array can be 1
/// or of the target's size, or the target has -1 there, which keeps the axis's `Dim`. For an
/// array `*`, -1 is an unknown size. The target is of any type that [`broadcast_to`](crate::BroadcastTo::broadcast_to) takes;
/// for -1 together with names, see [`ShapeOp`].
///
/// # Errors
/// In this order:
/// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a size below -1 or above `isize::MAX`;
/// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where the target has fewer axes than the array;
/// [`PlaceholderOnNewAxis`](crate::ErrorKind::PlaceholderOnNewAxis) for a -1 where the array has no axis;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis can be neither 1 nor of the target's size;
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest possible shape overflows.
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
pub fn infer_target(shape: &PartialShape, target: impl TargetShape) -> Result<PartialShape> {
    let target = target.for_message();
    let builder = || ErrorBuilder::new(&caller::TO_TARGET, core::slice::from_ref(shape)).to(&target);
    check_target(&target, Placeholder::Keeps, &builder)?;
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
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest possible shape overflows.
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
pub fn infer_axes(shape: &PartialShape, target: &PartialShape, axes: impl Axes) -> Result<PartialShape> {
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
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest possible shape overflows.
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
pub fn infer_in_dim(shape: &PartialShape, target: &PartialShape, axes: impl Axes) -> Result<PartialShape> {
    infer(&ShapeOp::InDim(axis_numbers(&axes)), &[shape, target])
}

/// The joint batch shape of operands whose last axes are their base.
///
/// # Shapes
/// Each operand comes with the number of its base axes. The batch axes are aligned at the right and
/// joined, as in [`infer_shapes`]; base axes take no part and may differ. To get
/// the shape of an operand with its batch expanded, append its base to the joint batch shape
/// [`with_base`](PartialShape::with_base).
///
/// # Errors
/// [`DeclaredAxes`](crate::ErrorKind::DeclaredAxes) where an operand has fewer axes than its base;
/// [`Incompatible`](crate::ErrorKind::Incompatible) and [`Overflow`](crate::ErrorKind::Overflow) as in
/// [`infer_shapes`], the axis counted in the joint batch.
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
pub fn infer_batch<S: Borrow<PartialShape>>(operands: &[(S, usize)]) -> Result<PartialShape> {
    let shapes: Vec<_> = operands.iter().map(|operand| operand.0.borrow()).collect();
    infer(&ShapeOp::Batch(operands.iter().map(|operand| operand.1).collect()), &shapes)
}

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
pub fn infer_sum<X: ReducedAxes<IxDyn>>(shape: &PartialShape, axes: X) -> Result<PartialShape> {
    // all axes, of a shape whose number of axes is not known
    if shape.ndim().is_none() && X::Left::NDIM == Some(0) {
        return Ok(PartialShape::from([]));
    }
    let axes = axes.numbers(shape.ndim().unwrap_or(0));
    infer(&ShapeOp::Sum { axes, keepdims: X::KEEPS }, &[shape])
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
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest possible shape overflows. Before `Incompatible`,
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
pub fn infer_sum_to(shape: &PartialShape, target: &PartialShape) -> Result<PartialShape> {
    infer(&ShapeOp::SumTo, &[shape, target])
}

/// The shape of a sum whose axis `i` is axis `axes[i]` of the array, the adjoint of placed axes.
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
/// [`Overflow`](crate::ErrorKind::Overflow) where the smallest possible shape overflows. Before `Incompatible`,
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
pub fn infer_sum_in_dim(shape: &PartialShape, to: &PartialShape, axes: impl Axes) -> Result<PartialShape> {
    infer(&ShapeOp::SumInDim(axis_numbers(&axes)), &[shape, to])
}
