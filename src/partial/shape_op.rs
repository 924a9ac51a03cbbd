//! Operations on partially known shapes, and their results.

use super::decide::with_unranked;
use super::dim::Dim;
use super::layout::{Layout, dims, list, unranked};
use super::rules::{Numbers, OperandParts, Pick, Picks, Rule, number};
use super::system::{Clash, System, checked, incompatible};
use super::{Check, Decision, Names, PartialShape, infer_branches, infer_ranks};
use crate::error::caller::Caller;
use crate::error::{BroadcastError, Count, ErrorBuilder, Shape, caller, fail};
use crate::shape::{
    Axes, Placeholder, Signature, check_len, check_placed, check_sums, joint_shape, new_axes,
    placed_sum_order, resolved,
};
use alloc::{string::ToString, vec, vec::Vec};
use ndarray::IxDyn;

/// An operation on shapes, as data: a graph can store it for a node, and [`Names::infer`] takes it.
///
/// Axes are counted from 0, or from the end where they are negative.
///
/// | operation | operands | as |
/// |---|---|---|
/// | `Together` | any number | [`infer_shapes`](super::infer_shapes) |
/// | `Ranks` | any number, each with its result | [`infer_ranks`] |
/// | `Branches` | at least one | [`infer_branches`] |
/// | `Target` | the array | [`infer_target`](super::infer_target), with names too |
/// | `Axes`, `InDim` | the array and the target | [`infer_axes`](super::infer_axes), [`infer_in_dim`](super::infer_in_dim) |
/// | `Batch` | one for each number of base axes | [`infer_batch`](super::infer_batch) |
/// | `BatchMap` | the same | the sum, product, … of [`Batch`](crate::Batch)es: the bases broadcast among themselves |
/// | `Sum` | the array | [`infer_sum`](super::infer_sum) |
/// | `SumTo`, `SumInDim` | the array and the target | [`infer_sum_to`](super::infer_sum_to), [`infer_sum_in_dim`](super::infer_sum_in_dim) |
/// | `SumBatchTo` | the array and the batch of the result | [`sum_batch_to`](crate::Batch::sum_batch_to) |
/// | `Signature` | those of the signature | [`Signature::infer`] |
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{Dim, Names, ShapeOp, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// let mut names = Names::new();
/// let mut infer = |operation, shapes: &[PartialShape]| names.infer("x", &operation, shapes).map(|found| found.results);
/// // -1 and names in one target: the first axis keeps its size
/// let target = vec![None, Some(Dim::name("heads")?), Some(4.into())];
/// assert_eq!(infer(ShapeOp::Target(target), &[p("batchx1x?")])?, [p("batchxheadsx4")]);
/// // scalars times tensors, (n, 1;) and (2; 6, 6)
/// assert_eq!(infer(ShapeOp::BatchMap(vec![0, 2]), &[p("nx1"), p("2x6x6")])?, [p("nx2x6x6")]);
/// assert_eq!(infer(ShapeOp::SumBatchTo(2), &[p("nx2x6x6"), p("2")])?, [p("2x6x6")]);
/// assert_eq!(infer(ShapeOp::Sum { axes: vec![-1], keepdims: true }, &[p("nx3")])?, [p("nx1")]);
/// assert!(infer(ShapeOp::SumTo, &[p("nx3"), p("2")]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// A node of ONNX with its attributes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShapeOp<'s> {
    /// Broadcasts all operands together.
    Together,
    /// Gives all operands as many axes.
    Ranks,
    /// Chooses one of the operands, such as the results of the branches of an `If`.
    Branches,
    /// Broadcasts to a target; `None` keeps the size of an axis, as -1 does.
    Target(Vec<Option<Dim>>),
    /// Broadcasts along named axes of the second operand.
    Axes(Vec<i128>),
    /// Broadcasts to the second operand, in which the axes are placed.
    InDim(Vec<i128>),
    /// Broadcasts the batches of operands with these numbers of base axes.
    Batch(Vec<usize>),
    /// Broadcasts the batches and, by themselves, the bases of operands with these numbers of base axes.
    BatchMap(Vec<usize>),
    /// Reduces over axes.
    Sum {
        /// The axes.
        axes: Vec<i128>,
        /// Whether the result has the axes, with size 1.
        keepdims: bool,
    },
    /// Reduces to the second operand.
    SumTo,
    /// Reduces to the second operand, whose axes are these axes of the array.
    SumInDim(Vec<i128>),
    /// Reduces a batch to the second operand; the array has this number of base axes.
    SumBatchTo(usize),
    /// Applies an operation with this signature to batches.
    Signature(Signature<'s>),
}

/// The shapes and sizes that [`Signature::infer`] and [`Names::infer`] find; see the examples there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InferredShapes<'s> {
    /// The joint batch shape of a signature's operands. Other operations have none, which is `*`.
    pub batch: PartialShape,
    /// The size of each name of the signature that is not missing, in the order of the signature.
    pub sizes: Vec<(&'s str, Dim)>,
    /// The base shape of each result of a signature.
    pub bases: Vec<PartialShape>,
    /// The shape of each result: for a signature, the joint batch shape, then its base shape.
    pub results: Vec<PartialShape>,
    /// The checks that remain for real shapes. Without any, the operation succeeds for all shapes that the operands accept.
    pub checks: Vec<Check>,
}

/// Always, never, or where the checks hold.
impl From<Result<InferredShapes<'_>, BroadcastError>> for Decision {
    fn from(found: Result<InferredShapes<'_>, BroadcastError>) -> Self {
        found.map_or_else(Self::Never, |found| Self::from_checks(found.checks))
    }
}

/// An operand, with the number of its base axes if it has a batch.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) shape: &'p PartialShape,
    pub(super) base: Option<usize>,
}

impl<'p> Part<'p> {
    pub(super) fn whole(shape: &'p PartialShape) -> Self {
        Self { shape, base: None }
    }

    /// The sizes of batch and base; none for `*`.
    pub(super) fn split(self) -> (&'p [Dim], &'p [Dim]) {
        let dims = dims(self.shape);
        dims.split_at(dims.len().saturating_sub(self.base.unwrap_or(0)))
    }
}

impl From<&Part<'_>> for Shape {
    fn from(part: &Part<'_>) -> Self {
        let cells = |dims: &[Dim]| list(dims.len(), &mut |axis| dims[axis].to_string().into());
        Shape::partial(part.shape.dims().map(cells), part.base)
    }
}

impl<'s> ShapeOp<'s> {
    /// Its words, how many operands there are, if not any number, and whether there is a target.
    fn form(&self) -> (&'static Caller, Option<usize>, bool) {
        match self {
            Self::Together => (&caller::PARTIAL_TOGETHER, None, false),
            Self::Ranks | Self::Branches => (&caller::OPERATE, None, false),
            Self::Target(_) => (&caller::TO_TARGET, Some(1), true),
            Self::Axes(_) => (&caller::ALONG_AXES, Some(2), true),
            Self::InDim(_) => (&caller::IN_DIM, Some(2), true),
            Self::Batch(bases) | Self::BatchMap(bases) => {
                (&caller::PARTIAL_BATCHES, Some(bases.len()), false)
            }
            Self::Sum { .. } => (&caller::SUM_AXES, Some(1), false),
            Self::SumTo => (&caller::SUM_TO, Some(2), true),
            Self::SumInDim(_) => (&caller::SUM_IN_DIM, Some(2), true),
            Self::SumBatchTo(_) => (&caller::PARTIAL_BATCH_SUM, Some(2), true),
            Self::Signature(signature) => (&caller::OPERATE, Some(signature.operands()), false),
        }
    }

    /// The number of base axes of an operand that has a batch.
    fn base(&self, operand: usize) -> Option<usize> {
        match self {
            Self::Batch(bases) | Self::BatchMap(bases) => bases.get(operand).copied(),
            Self::SumBatchTo(base) => Some(*base).filter(|_| operand == 0),
            _ => None,
        }
    }

    /// The request, for messages.
    #[cold]
    pub(super) fn request(&self, of: Option<&str>, parts: &[Part<'_>]) -> ErrorBuilder {
        let (words, _, has_target) = self.form();
        let operands = parts.len() - usize::from(has_target && parts.len() == 2);
        let mut request = ErrorBuilder::new(words, &parts[..operands]).label(of);
        for target in &parts[operands..] {
            request = request.to(target);
        }
        match self {
            Self::Target(target) => {
                let size =
                    |size: &Option<Dim>| size.as_ref().map_or("-1".into(), |size| size.to_string().into());
                request.to(Shape::listed(target.iter().map(size).collect()))
            }
            Self::Axes(axes) | Self::InDim(axes) | Self::Sum { axes, .. } | Self::SumInDim(axes) => {
                request.axes(axes.clone())
            }
            _ => request,
        }
    }

    /// The results of the operation and, if they are wanted, the checks that remain.
    ///
    /// # Errors
    /// Those of the operation's function.
    pub(super) fn infer(
        &self,
        names: &mut Names,
        of: Option<&str>,
        shapes: &[&PartialShape],
        with_checks: bool,
    ) -> Result<InferredShapes<'s>, BroadcastError> {
        let mut part = |operand| Part { shape: shapes[operand], base: self.base(operand) };
        let parts = list(shapes.len(), &mut part);
        let resolved = |names: &Names| list(shapes.len(), &mut |operand| names.resolve(shapes[operand]));
        match (self, self.form().1) {
            (Self::Signature(signature), _) => return signature.infer_in(names, of, shapes),
            (Self::Ranks, _) => return Ok(InferredShapes::of(infer_ranks(&resolved(names)), Vec::new())),
            (Self::Branches, _) => {
                return Ok(InferredShapes::of(vec![infer_branches(&resolved(names))?], Vec::new()));
            }
            (_, Some(expected)) if expected != shapes.len() => {
                let (request, found) = (ErrorBuilder::new(&caller::OPERATE, &parts).label(of), shapes.len());
                return Err(fail!(
                    request,
                    OperandCount,
                    "the number of operands is {found}, expected {expected}"
                ));
            }
            _ => {}
        }
        let (shape, mut checks) = self.infer_one(names, of, &parts, with_checks)?;
        if with_checks && !matches!(self, Self::Together) && !unranked(&parts).is_empty() {
            checks = match self.without_signature() {
                Some(operation) => vec![Check::Succeeds { operation }],
                None => Vec::new(),
            };
        }
        Ok(InferredShapes::of(vec![shape], checks))
    }

    /// The sizes of the result by the functions that decide for arrays, if all sizes are known. Overflow is not checked.
    ///
    /// # Errors
    /// Those of the operation's function.
    fn known(
        &self,
        parts: &[Part<'_>],
        request: &dyn Fn() -> ErrorBuilder,
        of_bases: &dyn Fn() -> ErrorBuilder,
    ) -> Option<Result<Vec<usize>, BroadcastError>> {
        let (mut shapes, mut batches, mut bases) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            shapes.push(part.shape.sizes()?);
        }
        for (part, shape) in parts.iter().zip(&shapes) {
            let (batch, base) = shape.split_at(part.split().0.len());
            batches.push(batch);
            bases.push(base);
        }
        let joint = || joint_shape(&batches, request);
        let to_target = |checked: Result<(), BroadcastError>| checked.map(|()| shapes[1].clone());
        Some(match self {
            Self::Together | Self::Batch(_) => joint(),
            Self::BatchMap(_) => joint_shape(&bases, of_bases).and_then(|base| Ok([joint()?, base].concat())),
            Self::Target(sizes) => {
                let target = sizes.iter().map(|size| number(size.as_ref())).collect::<Option<Vec<_>>>()?;
                resolved(batches[0], &target, Placeholder::Keeps, request)
            }
            Self::Axes(axes) => {
                to_target(new_axes(batches[0], batches[1], &Numbers(axes), request).map(drop))
            }
            Self::InDim(axes) => {
                to_target(check_placed(batches[0], batches[1], &Numbers(axes), request, false))
            }
            Self::SumInDim(axes) => to_target(
                placed_sum_order::<IxDyn, _>(batches[0], batches[1], &Numbers(axes), request).map(drop),
            ),
            Self::SumTo | Self::SumBatchTo(_) => {
                let checked = check_sums(batches[0], batches[1], request, || vec![batches[0]]);
                to_target(checked).map(|target| [&target, bases[0]].concat())
            }
            Self::Sum { .. } | Self::Ranks | Self::Branches | Self::Signature(_) => return None,
        })
    }

    /// The only result of an operation that is no choice and has no signature.
    fn infer_one(
        &self,
        names: &mut Names,
        of: Option<&str>,
        parts: &[Part<'_>],
        with_checks: bool,
    ) -> Result<(PartialShape, Vec<Check>), BroadcastError> {
        let request = || self.request(of, parts);
        let operands = OperandParts { parts, request: &request };
        operands.check_bases()?;
        let mut target = Vec::new();
        if let Self::Target(sizes) = self {
            for size in sizes {
                target.extend_from_slice(size.as_slice());
            }
        }
        let of_bases = || ErrorBuilder::new(&caller::PARTIAL_BASES, parts).label(of);
        if let Some(sizes) = self.known(parts, &request, &of_bases) {
            let sizes = sizes?;
            check_len(&sizes, request)?;
            return Ok((sizes.into(), Vec::new()));
        }
        let Rule { mut layout, count, result } = operands.rule(self, &target)?;
        layout.has_target = self.form().2;
        let bases = if matches!(self, Self::BatchMap(_)) { operands.base_axes() } else { 0 };
        let blame = |request, mut clash: Clash<'_>| {
            if clash.axis < bases {
                return incompatible(of_bases(), clash);
            }
            clash.axis = match self {
                // an axis of the target, by its axis of the array
                Self::SumInDim(numbers) => Numbers(numbers).axis(clash.axis, dims(parts[0].shape).len()),
                _ => clash.axis - bases,
            };
            incompatible(request, clash)
        };
        let mut system = System::new(layout, names, of, &request, &blame)?;
        let mut checks = if with_checks { system.checks(count) } else { Vec::new() };
        system.solve()?;
        let ranked = result.is_some();
        let sizes = match result {
            Some(Picks::List(picks)) => list(picks.len(), &mut |i| match picks[i] {
                Pick::Axis(axis) => system.size(axis).0,
                Pick::Target(axis) => system.own(axis, 1),
                Pick::One => Dim::Known(1),
                Pick::Unknown => Dim::Unknown,
            }),
            // for `*`, the sizes that are known may overflow all the same
            Some(Picks::Axes) | None => system.take_sizes(count),
        };
        let sizes = checked(sizes, &request)?;
        if matches!(self, Self::Together) {
            checks = with_unranked(checks, parts, &sizes);
        }
        system.vars.keep();
        let shape = if ranked { sizes.into() } else { PartialShape::unranked() };
        Ok((shape, checks))
    }
}

impl ShapeOp<'_> {
    /// The operation, unless it has a signature.
    fn without_signature(&self) -> Option<ShapeOp<'static>> {
        Some(match self.clone() {
            Self::Signature(_) => return None,
            Self::Together => ShapeOp::Together,
            Self::Ranks => ShapeOp::Ranks,
            Self::Branches => ShapeOp::Branches,
            Self::Target(target) => ShapeOp::Target(target),
            Self::Axes(axes) => ShapeOp::Axes(axes),
            Self::InDim(axes) => ShapeOp::InDim(axes),
            Self::Batch(bases) => ShapeOp::Batch(bases),
            Self::BatchMap(bases) => ShapeOp::BatchMap(bases),
            Self::Sum { axes, keepdims } => ShapeOp::Sum { axes, keepdims },
            Self::SumTo => ShapeOp::SumTo,
            Self::SumInDim(axes) => ShapeOp::SumInDim(axes),
            Self::SumBatchTo(base) => ShapeOp::SumBatchTo(base),
        })
    }
}

impl InferredShapes<'_> {
    /// The results of an operation without a signature.
    fn of(results: Vec<PartialShape>, checks: Vec<Check>) -> Self {
        let batch = PartialShape::unranked();
        Self { batch, sizes: Vec::new(), bases: Vec::new(), results, checks }
    }
}

/// One shape that two descriptions give.
///
/// # Errors
/// `AxisCount`; then, with the first axis at fault, `Incompatible` or `DeclaredName`.
pub(super) fn merge_shapes(
    names: &mut Names,
    of: Option<&str>,
    a: &PartialShape,
    b: &PartialShape,
) -> Result<PartialShape, BroadcastError> {
    let request = || ErrorBuilder::new(&caller::MERGE, &[Part::whole(a), Part::whole(b)]).label(of);
    let shapes = match [a.dims(), b.dims()] {
        [Some(own), Some(other)] => vec![own, other],
        [Some(dims), None] | [None, Some(dims)] => vec![dims],
        [None, None] => return Ok(PartialShape::unranked()),
    };
    let (own, other) = (shapes[0].len(), shapes[shapes.len() - 1].len());
    if own != other {
        let found = Count(other);
        return Err(fail!(request(), AxisCount, "the second shape has {found}, expected {own}"));
    }
    let mut layout = Layout::new(shapes, own, &|_, axis| Some((axis, true)));
    layout.alone = true;
    let mut system = System::new(layout, names, of, &request, &incompatible)?.declares();
    system.solve()?;
    let sizes = system.take_sizes(own);
    system.vars.keep();
    Ok(sizes.into())
}
