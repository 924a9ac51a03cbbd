//! The joint shape of partially known shapes.

use super::shape_op::ShapeOp;
use super::statement::{Call, Statement};
use super::{Dim, Names, PartialShape};
use crate::error::{BroadcastError, caller};
use alloc::{vec, vec::Vec};

/// The joint size of two axes.
///
/// # Shapes
/// The result has exactly the sizes that the operands allow. Only for names it may have more, because a `Dim` cannot
/// restrict a name:
///
/// | | `3` | `1` | `?` | `2..5` | `0..4` | `n` |
/// |---|---|---|---|---|---|---|
/// | `3` | `3` | `3` | `3` | `3` | `3` | `3` |
/// | `1` | `3` | `1` | `?` | `2..5` | `0..4` | `n` |
/// | `?` | `3` | `?` | `?` | `2..5` | `?` | `?` |
/// | `0` | error | `0` | `0` | error | `0` | `0` |
/// | `n` | `3` | `n` | `?` | `2..5` | `?` | `n` |
/// More sizes are shapes of one axis, for [`infer_shapes`].
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
pub fn infer_dim(a: Dim, b: Dim) -> Result<Dim, BroadcastError> {
    let joint = infer_shape(&vec![a].into(), &vec![b].into())?;
    Ok(joint.dims().and_then(<[Dim]>::first).cloned().unwrap_or(Dim::Known(1)))
}

/// The joint shape of two shapes.
///
/// # Shapes
/// Aligned at the right, a missing axis counting as 1; each axis as in [`infer_dim`]. Where one shape
/// is `*`, so is the result: it may have more axes, and larger ones. A name is the same size on every
/// axis: `nx0..5` with `3xn` gives `3x0..5`, because `n` is 1 or 3.
///
/// # Errors
/// [`Incompatible`](crate::ErrorKind::Incompatible) with the first axis where no sizes go
/// together; [`Overflow`](crate::ErrorKind::Overflow) where the smallest shape possible is one.
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
pub fn infer_shape(a: &PartialShape, b: &PartialShape) -> Result<PartialShape, BroadcastError> {
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
pub fn infer_shapes<'p>(
    shapes: impl IntoIterator<Item = &'p PartialShape>,
) -> Result<PartialShape, BroadcastError> {
    infer(&ShapeOp::Together, &shapes.into_iter().collect::<Vec<_>>())
}

/// The only result of an operation by itself.
///
/// # Errors
/// Those of the operation's function.
pub(super) fn infer(
    operation: &ShapeOp<'_>,
    shapes: &[&PartialShape],
) -> Result<PartialShape, BroadcastError> {
    Ok(operation.infer(&mut Names::new(), None, shapes)?.results.swap_remove(0))
}

/// The inferred shape of an operation's result, by MLIR's rule.
///
/// # Shapes
/// The joint shape of the operands whose number of axes is known, as in [`infer_shapes`]; `None`
/// if there is no such operand. An operand `*` is left out, although at run time it may bring more axes
/// or larger ones: [`infer_shapes`] and [`Plan`](super::Plan) do not take that risk.
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
) -> Result<Option<PartialShape>, BroadcastError> {
    let shapes: Vec<_> = operands.into_iter().collect();
    let is_known = shapes.iter().any(|shape| shape.ndim().is_some());
    let statement = Call::new(&caller::PARTIAL_TOGETHER, None, &shapes, &[]).together();
    let solution = Statement { is_ranked: true, ..statement }.solve(&mut Names::new())?;
    Ok(is_known.then_some(solution.result))
}
