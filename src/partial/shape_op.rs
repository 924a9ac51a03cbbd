//! Operations on partially known shapes, and their results.

use super::Dim;
use crate::shape::Signature;
use alloc::vec::Vec;

/// An operation on shapes, as data: a graph can store it for a node, and [`Names::infer`](super::Names::infer) takes it.
///
/// Axes are counted from 0, or from the end where they are negative.
///
/// | operation | operands | as |
/// |---|---|---|
/// | `Together` | any number | [`infer_shapes`](super::infer_shapes) |
/// | `Ranks` | any number, each with its result | [`infer_ranks`](super::infer_ranks) |
/// | `Branches` | at least one | [`infer_branches`](super::infer_branches) |
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
    /// Broadcasts to the second operand, at these axes of it.
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
