//! The joint shape of partially known shapes.

use super::partial_shape::clash;
use super::{Dim, Name, PartialShape, Span};
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
    let shapes: Vec<_> = dims.iter().map(|dim| PartialShape::ranked([dim.clone()])).collect();
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
    let joint = AlignedAxes::new([a, b])
        .infer(&|| Request::new(&operation::PARTIAL_TOGETHER, &[a.clone(), b.clone()]))?;
    Ok(joint.shape_of([a, b]))
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
    let joint = AlignedAxes::new(shapes).infer(&|| Request::new(&operation::PARTIAL_TOGETHER, shapes))?;
    Ok(joint.shape_of(shapes))
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
    let joint = AlignedAxes::new(operands).infer(&|| Request::new(&operation::PARTIAL_TOGETHER, operands))?;
    let ranked = operands.iter().any(|shape| shape.dims().is_some());
    Ok(ranked.then(|| PartialShape::from(joint.dims)))
}

/// A size aligned with an axis of the result: the operand, the operand's axis, and the size.
pub(super) type AlignedDim<'a> = (usize, usize, &'a Dim);

/// The axes of the ranked operands of a broadcast, aligned at the right, without missing axes.
pub(super) struct AlignedAxes<'a> {
    /// The sizes of each operand; empty for an unranked one.
    dims: Vec<&'a [Dim]>,
    /// The operands that have each axis, one axis after the other.
    operands: Vec<usize>,
    /// The end of each axis in `operands`.
    ends: Vec<usize>,
}

impl<'a> AlignedAxes<'a> {
    pub(super) fn new(shapes: impl IntoIterator<Item = &'a PartialShape>) -> Self {
        let dims: Vec<_> = shapes.into_iter().map(|shape| shape.dims().unwrap_or_default()).collect();
        let ndim = dims.iter().map(|dims| dims.len()).max().unwrap_or(0);
        // `ends` holds the number of operands whose first axis this is, then the start of the axis, then its end
        let mut ends = vec![0; ndim];
        for dims in dims.iter().filter(|dims| !dims.is_empty()) {
            ends[ndim - dims.len()] += 1;
        }
        let (mut present, mut all) = (0, 0);
        for end in &mut ends {
            present += *end;
            (*end, all) = (all, all + present);
        }
        let mut operands = vec![0; all];
        for (operand, dims) in dims.iter().enumerate() {
            for end in &mut ends[ndim - dims.len()..] {
                operands[*end] = operand;
                *end += 1;
            }
        }
        Self { dims, operands, ends }
    }

    pub(super) fn ndim(&self) -> usize {
        self.ends.len()
    }

    /// The sizes at an axis, in the order of the operands.
    pub(super) fn at(&self, axis: usize) -> impl Iterator<Item = AlignedDim<'a>> + Clone {
        let start = axis.checked_sub(1).map_or(0, |before| self.ends[before]);
        let from_end = self.ndim() - axis;
        self.operands[start..self.ends[axis]].iter().map(move |&operand| {
            let own = self.dims[operand].len() - from_end;
            (operand, own, &self.dims[operand][own])
        })
    }

    /// The intersection of all sizes at an axis that cannot be 1. `None` if all can be 1.
    ///
    /// # Errors
    /// Two operands that never go together, with their sizes.
    fn forced(&self, axis: usize) -> Result<Option<Span>, [(usize, &Dim); 2]> {
        let mut widest: Option<[(usize, &Dim); 2]> = None;
        for (operand, _, dim) in self.at(axis).filter(|(_, _, dim)| !dim.admits(1)) {
            let [lowest, highest] = widest.get_or_insert([(operand, dim); 2]);
            if dim.span().hi < lowest.1.span().hi {
                *lowest = (operand, dim);
            }
            if dim.span().lo > highest.1.span().lo {
                *highest = (operand, dim);
            }
        }
        // Intervals that intersect pairwise have a common intersection, from the largest start to the smallest end.
        widest.map_or(Ok(None), |[lowest, highest]| {
            let span = lowest.1.span().intersect(highest.1.span());
            span.map(Some).ok_or(if lowest.0 < highest.0 { [lowest, highest] } else { [highest, lowest] })
        })
    }

    /// The joint size of an axis where each size can be 1.
    fn joint(&self, axis: usize, named: &NameSpans) -> Dim {
        let one = |dim: &Dim| named.span(dim) == Span::ONE;
        let mut stretching = self.at(axis).map(|(_, _, dim)| dim).filter(|dim| !one(dim));
        match stretching.next() {
            None => Dim::Known(1),
            Some(name @ Dim::Name(_)) if stretching.clone().all(|dim| dim == name) => name.clone(),
            // Each size can be 1, so the hull has no gaps, except those that names make.
            Some(first) => {
                stretching.fold(named.span(first), |joint, dim| joint.hull(named.span(dim))).into()
            }
        }
    }

    /// The joint shape of the operands.
    pub(super) fn infer(&self, request: &dyn Fn() -> Request) -> Result<Inferred<'a>, BroadcastError> {
        let mut named = NameSpans(ByName::new());
        let mut dims = Vec::with_capacity(self.ndim());
        for axis in 0..self.ndim() {
            let span = self
                .forced(axis)
                .map_err(|[(first, a), (second, b)]| clash(request(), axis, (a, b), [first, second]))?;
            for name in self.at(axis).filter_map(|(_, _, dim)| dim.as_name()) {
                named.0.or_insert(name, Allowed(Some(Span::ANY))).narrow(span);
            }
            dims.push(span.map_or(Dim::Unknown, Dim::from));
        }
        for (axis, joint) in dims.iter_mut().enumerate() {
            if self.at(axis).all(|(_, _, dim)| dim.admits(1)) {
                *joint = self.joint(axis, &named);
            }
        }
        Ok(Inferred { dims: checked_least(dims, request)?, named })
    }
}

/// The inferred joint shape.
pub(super) struct Inferred<'a> {
    pub(super) dims: Vec<Dim>,
    pub(super) named: NameSpans<'a>,
}

impl Inferred<'_> {
    /// The joint shape. It is unranked if one of the shapes is.
    pub(super) fn shape_of<'s>(self, shapes: impl IntoIterator<Item = &'s PartialShape>) -> PartialShape {
        let unranked = shapes.into_iter().any(|shape| shape.dims().is_none());
        if unranked { PartialShape::unranked() } else { self.dims.into() }
    }
}

/// `joint`, unless its smallest shape overflows.
pub(super) fn checked_least(
    joint: Vec<Dim>,
    request: &dyn Fn() -> Request,
) -> Result<Vec<Dim>, BroadcastError> {
    let least: Vec<usize> = joint.iter().map(|dim| dim.span().lo).collect();
    match checked_len(&least) {
        Some(_) => Ok(joint),
        None => Err(request().overflow(&least)),
    }
}

/// The sizes that each name can have.
pub(super) struct NameSpans<'a>(ByName<'a, Allowed>);

/// The sizes that a name can stand for: 1, and those of a span.
#[derive(Clone, Copy)]
struct Allowed(Option<Span>);

impl Allowed {
    /// Restricts the span: at an axis with a forced size, a name is 1 or that size.
    fn narrow(&mut self, forced: Option<Span>) {
        if let Some(forced) = forced {
            self.0 = self.0.and_then(|span| span.intersect(forced));
        }
    }
}

impl NameSpans<'_> {
    /// The smallest span that contains all possible sizes of `dim`.
    pub(super) fn span(&self, dim: &Dim) -> Span {
        match dim.as_name().and_then(|name| self.0.get(name)) {
            Some(Allowed(Some(span))) => span.hull(Span::ONE),
            Some(Allowed(None)) => Span::ONE,
            None => dim.span(),
        }
    }

    /// Whether `name` can have a size in `span`.
    pub(super) fn meets(&self, name: &Name, span: Span) -> bool {
        match self.0.get(name.as_str()) {
            Some(Allowed(beside)) => {
                span.contains(1) || beside.is_some_and(|beside| beside.intersect(span).is_some())
            }
            None => true,
        }
    }

    pub(super) fn has(&self, name: &Name) -> bool {
        self.0.get(name.as_str()).is_some()
    }
}
