//! The joint shape of partially known shapes.

use super::layout::{Layout, list, shapes, unranked};
use super::shape_op::{Part, ShapeOp};
use super::system::{System, checked, incompatible};
use super::{Check, Dim, Names, PartialShape};
use crate::error::{BroadcastError, ErrorBuilder, caller, fail};
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
    Ok(operation.infer(&mut Names::new(), None, shapes, false)?.results.swap_remove(0))
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
    let parts: Vec<_> = operands.into_iter().map(Part::whole).collect();
    let (mut names, request) = (Names::new(), || ShapeOp::Together.request(None, &parts));
    let (mut system, ndim, _) = infer_ranked(&parts, &mut names, &request, false)?;
    let sizes = checked(system.take_sizes(ndim), &request)?;
    Ok((unranked(&parts).len() < parts.len()).then(|| sizes.into()))
}

/// The solved system of the operands with a number of axes, that number and, if they are wanted, the checks that remain.
///
/// # Errors
/// As [`infer_shapes`], except for `Overflow`.
pub(super) fn infer_ranked<'s, 'n>(
    parts: &[Part<'s>],
    names: &'n mut Names,
    request: &'n dyn Fn() -> ErrorBuilder,
    checked: bool,
) -> Result<(System<'s, 'n>, usize, Vec<Check>), BroadcastError> {
    let (layout, ndim) = Layout::aligned(shapes(parts));
    let mut system = System::new(layout, names, None, request, &incompatible)?;
    let checks = if checked { system.checks(ndim) } else { Vec::new() };
    system.solve()?;
    Ok((system, ndim, checks))
}

/// The shape of a value that comes from one of several branches: the least specific of several shapes.
///
/// # Shapes
/// At least one. Each size is as exact as all branches allow, whatever their number: a size or a name that all have, else the
/// smallest range that covers all. If the numbers of axes differ, or if a shape is `*`, the result is `*`.
///
/// # Errors
/// [`NoOperands`](crate::ErrorKind::NoOperands) for no shapes at all.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_branches, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// assert_eq!(infer_branches([&p("nx2x3"), &p("nx4x3")])?, p("nx2..4x3"));
/// assert_eq!(infer_branches([&p("n:2..5"), &p("n:4..7")])?, p("n:2..7"));
/// assert_eq!(infer_branches([&p("n"), &p("m")])?, p("?"));
/// assert_eq!(infer_branches([&p("2"), &p("2x3")])?, p("*"));
/// assert!(infer_branches(&[]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// StableHLO's rule for `if` and `case`, which knows bounds, but no names; ONNX's for `If`, where sizes that differ are unknown.
#[doc(alias = "least_specific")]
pub fn infer_branches<'p>(
    shapes: impl IntoIterator<Item = &'p PartialShape>,
) -> Result<PartialShape, BroadcastError> {
    let mut shapes = shapes.into_iter();
    let Some(first) = shapes.next() else {
        let request = ErrorBuilder::new::<PartialShape>(&caller::OPERATE, &[]);
        return Err(fail!(request, NoOperands, "there are no branches, expected at least 1"));
    };
    let mut found = first.clone();
    for shape in shapes {
        found = either(&found, shape);
    }
    Ok(found)
}

/// The least specific one of two shapes.
fn either(a: &PartialShape, b: &PartialShape) -> PartialShape {
    match (a.dims(), b.dims()) {
        (Some(a), Some(b)) if a.len() == b.len() => list(a.len(), &mut |axis| {
            let (a, b) = (&a[axis], &b[axis]);
            let span = a.span().hull(b.span());
            match a.as_name() {
                Some(name) if b.as_name() == Some(name) => Dim::declared(name, span),
                _ => span.into(),
            }
        })
        .into(),
        _ => PartialShape::unranked(),
    }
}
