//! The joint shape of partially known shapes.

use super::bindings::{consistent, named};
use super::classes::{Classes, Site};
use super::{Dim, PartialShape, Place, Span};
use crate::error::{BroadcastError, Request, operation};
use crate::shape::{ByName, checked_len};
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
    infer_dims(&[a, b])
}

/// The joint size of any number of axes, inferred from all of them at once.
///
/// # Shapes
/// As [`infer_dim`]; no sizes at all give 1. All sizes are considered at once: `0`, `?` and `3` never go
/// together, in whatever order, while `?` and `3` alone give `3`.
///
/// # Errors
/// As [`infer_dim`].
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{infer_dims, Dim};
///
/// assert_eq!(infer_dims(&[Dim::Unknown, Dim::range(2..)?, Dim::range(..=4)?])?, Dim::range(2..)?);
/// assert_eq!(infer_dims(&[])?, Dim::Known(1));
/// assert!(infer_dims(&[Dim::Known(0), Dim::Unknown, Dim::Known(3)]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `shape.broadcast` of MLIR's shape dialect on one axis.
pub fn infer_dims(dims: &[Dim]) -> Result<Dim, BroadcastError> {
    let shapes: Vec<_> = dims.iter().map(|dim| PartialShape::from(vec![dim.clone()])).collect();
    let joint = infer_shapes(&shapes)?;
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
    infer_shapes(&[a.clone(), b.clone()])
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
pub fn infer_shapes(shapes: &[PartialShape]) -> Result<PartialShape, BroadcastError> {
    infer_joint(shapes, &|| together(shapes))
}

/// The error of two operands, in either order, whose sizes exclude each other.
#[cold]
fn clash(request: Request, axis: usize, [a, b]: [(usize, &Dim); 2]) -> BroadcastError {
    let [a, b] = if a.0 < b.0 { [a, b] } else { [b, a] };
    request.clash(axis, [a.1, b.1], [a.0, b.0])
}

/// The joint shape, for a request that may name more than the shapes.
///
/// # Errors
/// As [`infer_shapes`].
pub(super) fn infer_joint(
    shapes: &[PartialShape],
    request: &dyn Fn() -> Request,
) -> Result<PartialShape, BroadcastError> {
    Ok(AlignedAxes::new(&consistent(shapes, request)?).infer(request)?.shape())
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
pub fn infer_result_shape(operands: &[PartialShape]) -> Result<Option<PartialShape>, BroadcastError> {
    let consistent = consistent(operands, &|| together(operands))?;
    let joint = AlignedAxes::new(&consistent).infer(&|| together(operands))?;
    let ranked = joint.columns.unranked.len() < operands.len();
    Ok(ranked.then(|| joint.dims.into()))
}

/// The request to broadcast shapes together, for messages.
#[cold]
pub(super) fn together(shapes: &[PartialShape]) -> Request {
    Request::new(&operation::PARTIAL_TOGETHER, shapes)
}

/// The axes of the ranked operands of a broadcast, aligned at the right, without missing axes.
pub(super) struct AlignedAxes<'a> {
    shapes: &'a [PartialShape],
    /// The positions of the unranked operands.
    pub(super) unranked: Vec<usize>,
    /// All operands, then the operands that have each axis, from the last axis to the first.
    operands: Vec<usize>,
    /// The start of each of these lists in `operands`, and the end of the last.
    starts: Vec<usize>,
}

impl<'a> AlignedAxes<'a> {
    pub(super) fn new(shapes: &'a [PartialShape]) -> Self {
        let (mut ndim, mut entries, mut unranked) = (0, shapes.len(), Vec::new());
        for (operand, shape) in shapes.iter().enumerate() {
            match shape.ndim() {
                Some(own) => (ndim, entries) = (ndim.max(own), entries + own),
                None => unranked.push(operand),
            }
        }
        // reserved exactly, because a vector that grows takes up to three times the memory
        let (mut operands, mut starts) = (Vec::with_capacity(entries), Vec::with_capacity(ndim + 2));
        operands.extend(0..shapes.len());
        starts.push(0);
        for from_end in 0..ndim {
            starts.push(operands.len());
            for i in starts[from_end]..starts[from_end + 1] {
                if shapes[operands[i]].ndim() > Some(from_end) {
                    operands.push(operands[i]);
                }
            }
        }
        starts.push(operands.len());
        Self { shapes, unranked, operands, starts }
    }

    pub(super) fn ndim(&self) -> usize {
        self.starts.len() - 2
    }

    /// The operands that have an axis of the result, in order, with their own axis and its size.
    pub(super) fn at(&self, axis: usize) -> impl Iterator<Item = (usize, usize, &'a Dim)> {
        let from_end = self.ndim() - axis;
        let operands = &self.operands[self.starts[from_end]..self.starts[from_end + 1]];
        operands.iter().map(move |&operand| {
            let dims = self.shapes[operand].dims().unwrap_or_default();
            let own = dims.len() - from_end;
            (operand, own, &dims[own])
        })
    }

    /// The first place of each name in the operands.
    pub(super) fn first_places(&self) -> ByName<Place> {
        let mut places = ByName::new();
        for (place, _, name) in named(self.shapes) {
            places.or_insert(name, place);
        }
        places
    }

    /// The intersection of all sizes at an axis that cannot be 1, or any size if all can be 1.
    ///
    /// # Errors
    /// `Incompatible` with two operands that never go together.
    fn forced(&self, axis: usize, request: &dyn Fn() -> Request) -> Result<Span, BroadcastError> {
        let mut ends: Option<[(usize, &Dim); 2]> = None;
        for (operand, _, dim) in self.at(axis) {
            if !dim.admits(1) {
                let [lowest, highest] = ends.get_or_insert([(operand, dim); 2]);
                if dim.span().hi < lowest.1.span().hi {
                    *lowest = (operand, dim);
                }
                if dim.span().lo > highest.1.span().lo {
                    *highest = (operand, dim);
                }
            }
        }
        // Intervals that intersect pairwise have a common intersection, from the largest start to the smallest end.
        let Some([lowest, highest]) = ends else { return Ok(Span::ANY) };
        let span = lowest.1.span().intersect(highest.1.span());
        span.ok_or_else(|| clash(request(), axis, [lowest, highest]))
    }

    /// Makes the names at an axis equal that cannot be 1, and restricts them to `span`. Returns the first one.
    ///
    /// # Errors
    /// `Incompatible` where other axes give a name other sizes.
    fn unite_forced(
        &self,
        axis: usize,
        span: Span,
        classes: &mut Classes,
        request: &dyn Fn() -> Request,
    ) -> Result<Option<&'a str>, BroadcastError> {
        let mut first: Option<((usize, &Dim), usize, &str)> = None;
        for (operand, _, dim) in self.at(axis) {
            let Some(name) = dim.as_name().filter(|_| !dim.admits(1)) else { continue };
            let (id, known) = (classes.id(name), classes.span(dim));
            if classes.narrow(id, span, Site::UNNAMED).is_none() {
                // Ranges that intersect pairwise have a common size, so one of these excludes all sizes of the name.
                let mut others = self.at(axis).filter(|(_, _, dim)| !dim.admits(1));
                let other = others.find(|(_, _, dim)| dim.span().intersect(known).is_none());
                let (other, _, other_dim) = other.unwrap_or((operand, 0, dim));
                return Err(clash(request(), axis, [(other, other_dim), (operand, dim)]));
            }
            let &mut (other, other_id, _) = first.get_or_insert(((operand, dim), id, name));
            if classes.unite(other_id, id).is_none() {
                return Err(clash(request(), axis, [other, (operand, dim)]));
            }
        }
        Ok(first.map(|(.., name)| name))
    }

    /// The joint shape of the ranked operands.
    pub(super) fn infer(self, request: &dyn Fn() -> Request) -> Result<Joint<'a>, BroadcastError> {
        let dims = Vec::with_capacity(self.ndim());
        let mut joint = Joint { columns: self, dims, named: ByName::new(), forced: Classes::default() };
        let mut named_axes = Vec::new();
        for axis in 0..joint.columns.ndim() {
            let forced = joint.columns.forced(axis, request)?;
            joint.dims.push(forced.into());
            if let Some(name) = joint.columns.unite_forced(axis, forced, &mut joint.forced, request)? {
                named_axes.push((axis, name));
            }
        }
        for (axis, name) in named_axes {
            joint.dims[axis] = Dim::named(name, joint.forced.class(name).map_or(Span::ANY, |(_, span)| span));
        }
        for (axis, joint_dim) in joint.dims.iter().enumerate() {
            for (_, _, dim) in joint.columns.at(axis) {
                if let Some(name) = dim.as_name().filter(|_| dim.admits(1)) {
                    let span = joint.named.or_insert(name, dim.span());
                    *span = span.intersect(joint_dim.span()).unwrap_or(Span::ONE);
                }
            }
        }
        for axis in 0..joint.dims.len() {
            if joint.dims[axis].admits(1) {
                joint.dims[axis] = joint.stretched(axis);
            }
        }
        joint.dims = checked_least(joint.dims, request)?;
        Ok(joint)
    }
}

/// The joint shape of operands.
pub(super) struct Joint<'a> {
    pub(super) columns: AlignedAxes<'a>,
    /// The sizes, as far as the ranked operands say.
    pub(super) dims: Vec<Dim>,
    /// The sizes of each name that can be 1: 1, and those of the span.
    named: ByName<Span>,
    /// The other names.
    forced: Classes,
}

impl Joint<'_> {
    /// The size of an axis where each operand can be 1.
    fn stretched(&self, axis: usize) -> Dim {
        let mut size = Dim::Known(1);
        for (_, _, dim) in self.columns.at(axis) {
            let span = self.span(dim);
            if span != Span::ONE && size != *dim {
                // Each size can be 1, so the hull has no gaps, except those that names make.
                let hull = self.span(&size).hull(span);
                size = if size == Dim::Known(1) { dim.clone() } else { hull.into() };
            }
        }
        size
    }

    /// The shape. It is unranked if one of the operands is.
    pub(super) fn shape(self) -> PartialShape {
        if self.columns.unranked.is_empty() { self.dims.into() } else { PartialShape::unranked() }
    }

    /// The smallest span that contains all possible sizes of `dim`.
    pub(super) fn span(&self, dim: &Dim) -> Span {
        let named = dim.as_name().and_then(|name| self.named.get(name));
        named.map_or_else(|| self.forced.span(dim), |span| span.hull(Span::ONE))
    }

    /// Whether `dim`, if it is a name of an operand, can have a size in `span`.
    pub(super) fn meets(&self, dim: &Dim, span: Span) -> bool {
        match dim.as_name().and_then(|name| self.named.get(name)) {
            Some(sizes) => span.contains(1) || sizes.intersect(span).is_some(),
            None => self.forced.span(dim).intersect(span).is_some(),
        }
    }
}

/// `dims`, unless the smallest shape that they allow overflows.
pub(super) fn checked_least(
    dims: Vec<Dim>,
    request: &dyn Fn() -> Request,
) -> Result<Vec<Dim>, BroadcastError> {
    let least: Vec<_> = dims.iter().map(|dim| dim.span().lo).collect();
    if checked_len(&least).is_some() { Ok(dims) } else { Err(request().overflow(&least)) }
}
