//! Operations on partially known shapes, and their results.

use super::check::with_unranked;
use super::choices::{infer_branches, infer_ranks};
use super::dim::Dim;
use super::layout::{Part, dims, list, unranked};
use super::rules::{Found, Numbers, OperandParts, Pick, Rule};
use super::system::{Clash, System, checked, incompatible};
use super::{Check, Names, PartialShape};
use crate::error::caller::Caller;
use crate::error::{BroadcastError, ErrorBuilder, Shape, caller, fail};
use crate::shape::{Axes, Signature};
use alloc::{string::ToString, vec, vec::Vec};

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

    /// Where the sizes meet. `target` are the known sizes of a [`Target`](Self::Target).
    ///
    /// # Errors
    /// Those about numbers of axes, in the order of the operation's function.
    fn rule<'p>(&self, operands: OperandParts<'_, 'p>, target: &'p [Dim]) -> Found<'p> {
        match self {
            Self::Target(sizes) => operands.broadcast_to(sizes, target),
            Self::Axes(axes) => operands.broadcast_axes(axes),
            Self::InDim(axes) => operands.broadcast_in_dim(axes),
            Self::SumInDim(axes) => operands.sum_in_dim(axes),
            Self::Sum { axes, keepdims } => operands.sum(axes, *keepdims),
            Self::SumTo | Self::SumBatchTo(_) => operands.sum_to(),
            Self::Batch(_) => Ok(operands.batches(0)),
            Self::BatchMap(_) => Ok(operands.batches(operands.base_axes())),
            Self::Together | Self::Ranks | Self::Branches | Self::Signature(_) => Ok(operands.together()),
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

    /// The results of the operation, and the checks that remain.
    ///
    /// # Errors
    /// Those of the operation's function.
    pub(super) fn infer(
        &self,
        names: &mut Names,
        of: Option<&str>,
        shapes: &[&PartialShape],
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
        let (shape, mut checks) = self.infer_one(names, of, &parts)?;
        if !matches!(self, Self::Together) && !unranked(&parts).is_empty() {
            checks = match self.without_signature() {
                Some(operation) => vec![Check::Succeeds { operation }],
                None => Vec::new(),
            };
        }
        Ok(InferredShapes::of(vec![shape], checks))
    }

    /// The only result of an operation that is no choice and has no signature.
    fn infer_one(
        &self,
        names: &mut Names,
        of: Option<&str>,
        parts: &[Part<'_>],
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
        let Rule { mut layout, count, result } = self.rule(operands, &target)?;
        layout.has_target = self.form().2;
        let bases = if matches!(self, Self::BatchMap(_)) { operands.base_axes() } else { 0 };
        let blame = |request, mut clash: Clash<'_>| {
            if clash.axis < bases {
                let of_bases = ErrorBuilder::new(&caller::PARTIAL_BASES, parts).label(of);
                return incompatible(of_bases, clash);
            }
            clash.axis = match self {
                // an axis of the target, by its axis of the array
                Self::SumInDim(numbers) => Numbers(numbers).axis(clash.axis, dims(parts[0].shape).len()),
                _ => clash.axis - bases,
            };
            incompatible(request, clash)
        };
        let (system, mut checks) = System::solved(layout, count, names, of, &request, &blame)?;
        let ranked = result.is_some();
        let sizes = match result {
            Some(picks) => list(picks.len(), &mut |i| match picks[i] {
                Pick::Axis(axis) => system.size(axis).0,
                Pick::Target(axis) => system.own(axis, 1),
                Pick::One => Dim::Known(1),
                Pick::Unknown => Dim::Unknown,
            }),
            // for `*`, the sizes that are known may overflow all the same
            None => system.joint_sizes(0..count),
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
