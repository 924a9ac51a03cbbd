//! Shapes that do not change each other's sizes: the branches of a choice, and ranks.

use super::partial_shape::list;
use super::{Dim, PartialShape};
use crate::error::{ErrorBuilder, Result, caller, fail};
use alloc::{vec, vec::Vec};

/// The shape of a value that comes from one of several branches: the least specific of several shapes.
///
/// # Shapes
/// At least one. Each size is the size or name that all branches have, else the smallest range that covers all. If the
/// numbers of axes differ, or if a shape is `*`, the result is `*`.
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
pub fn infer_branches<'p>(shapes: impl IntoIterator<Item = &'p PartialShape>) -> Result<PartialShape> {
    let mut shapes = shapes.into_iter();
    let Some(first) = shapes.next() else {
        let builder = ErrorBuilder::new::<PartialShape>(&caller::OPERATE, &[]);
        return Err(fail!(builder, NoOperands, "there are no branches, expected at least 1"));
    };
    Ok(shapes.fold(first.clone(), |found, shape| either(&found, shape)))
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

/// Shapes with the same number of axes: the shorter ones get leading axes of size 1.
///
/// # Shapes
/// As [`expand_to_match_ranks`](crate::BroadcastToMatch::expand_to_match_ranks), for any number of shapes. No size changes.
/// With a `*` among them, the number of axes is unknown, so that all shapes become `*`.
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
    let most = shapes.iter().try_fold(0, |most, shape| Some(shape.ndim()?.max(most)));
    let Some(most) = most else { return vec![PartialShape::unranked(); shapes.len()] };
    let new = |shape: &PartialShape| vec![Dim::Known(1); most - shape.ndim().unwrap_or(most)];
    list(shapes.len(), &mut |i| PartialShape::from(new(shapes[i])).with_base(shapes[i]))
}
