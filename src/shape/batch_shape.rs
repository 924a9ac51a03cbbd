//! Shapes split into batch and base. Batches are aligned and joined, bases stay as they are.

use super::stretch::first_clash;
use super::{all_stretch_to, join, joint_dim, joint_error_of, joint_ndim, sizes_mut};
use crate::error::{
    BroadcastError, Count, ErrorBuilder, Mark, NewBuilder, Result, Shape, caller, fail, owner,
};
use alloc::vec::Vec;
use core::fmt::{self, Display};
use ndarray::{Dimension, IxDyn};

/// A shape and the number of its base axes, which are the last.
///
/// Not exported; public because hidden methods of public traits name it.
#[derive(Clone, Copy)]
pub struct BatchShape<'s> {
    shape: &'s [usize],
    base: usize,
}

impl<'s> BatchShape<'s> {
    /// # Errors
    /// `TooFewAxes` where the shape has fewer than `base` axes.
    #[inline]
    pub(crate) fn new(shape: &'s [usize], base: usize) -> Result<Self> {
        if shape.len() < base {
            return Err(too_short(shape, base));
        }
        Ok(Self { shape, base })
    }

    #[inline]
    pub(crate) fn batch(self) -> &'s [usize] {
        &self.shape[..self.shape.len() - self.base]
    }

    #[inline]
    pub(crate) fn base(self) -> &'s [usize] {
        &self.shape[self.shape.len() - self.base..]
    }

    /// A base axis of this shape, which is that of an operand.
    pub(crate) fn base_axis(self, operand: usize, axis: usize) -> BaseAxis {
        let mark = Mark::Shape(operand, self.batch().len() + axis);
        BaseAxis { operand: Some(operand), axis, mark }
    }
}

/// A base axis of an operand, or of the result, and where a picture has its caret.
#[derive(Clone, Copy)]
pub(crate) struct BaseAxis {
    pub(crate) operand: Option<usize>,
    pub(crate) axis: usize,
    pub(crate) mark: Mark,
}

impl Display for BaseAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "base axis {} of {}", self.axis, owner(self.operand))
    }
}

fn too_short(shape: &[usize], base: usize) -> BroadcastError {
    let builder = ErrorBuilder::new(&caller::SPLIT_BATCH, &[shape]).text(&Count(base));
    builder.too_few_axes("array", base, shape.len())
}

/// The error of another number of base axes than expected, the first of `counts`, in an operand or the result.
pub(crate) fn base_axes(builder: ErrorBuilder, operand: Option<usize>, counts: [usize; 2]) -> BroadcastError {
    let (owner, [expected, found]) = (owner(operand), counts);
    fail!(builder, BaseAxes, "the base of {owner} has {}, expected {expected}", Count(found))
}

/// The error of a base axis that has the first size instead of the second.
pub(crate) fn base_size(builder: ErrorBuilder, axis: BaseAxis, sizes: [&dyn Display; 2]) -> BroadcastError {
    let builder = builder.at(axis.axis as i128, &[axis.mark], &sizes).subject(&axis);
    fail!(builder, BaseSize, "size {}, expected {}", sizes[0], sizes[1])
}

/// Checks the base of a result. `found` and `expected` have equally many axes. The caret goes to `shown`, a shape of the error
/// with a base, at this position.
///
/// # Errors
/// `BaseSize`.
pub(crate) fn check_base(
    found: &[usize],
    expected: &[usize],
    builder: NewBuilder<'_>,
    (position, shown): (usize, BatchShape<'_>),
) -> Result<()> {
    for (axis, (&size, &expected)) in found.iter().zip(expected).enumerate() {
        if size != expected {
            let base_axis = BaseAxis { operand: None, ..shown.base_axis(position, axis) };
            return Err(base_size(builder(), base_axis, [&size, &expected]));
        }
    }
    Ok(())
}

impl From<&BatchShape<'_>> for Shape {
    fn from(part: &BatchShape<'_>) -> Self {
        Shape::with_base(part.shape, part.base)
    }
}

/// The number of axes of the joint batch shape.
#[inline]
pub(crate) fn batch_ndim(shapes: &[BatchShape<'_>]) -> usize {
    joint_ndim(shapes.iter().map(|shape| shape.batch()))
}

fn batch_error(shapes: &[BatchShape<'_>]) -> BroadcastError {
    joint_error_of(ErrorBuilder::new(&caller::BATCHES_TOGETHER, shapes), &batches(shapes))
}

fn batches<'s>(shapes: &[BatchShape<'s>]) -> Vec<&'s [usize]> {
    shapes.iter().map(|shape| shape.batch()).collect()
}

/// The joint batch shape, then the axes of `base`.
///
/// # Errors
/// `Incompatible` where an axis has two sizes that are not 1.
// Not inlined, its copies of unknown length cost a tenth of a small operation.
#[inline(always)]
pub(crate) fn joint_batch<W: Dimension>(shapes: &[BatchShape<'_>], base: &[usize]) -> Result<W> {
    let batch = batch_ndim(shapes);
    let mut whole = W::zeros(batch + base.len());
    let (joint, last) = sizes_mut(&mut whole).split_at_mut(batch);
    last.copy_from_slice(base);
    if join(shapes.iter().map(|shape| shape.batch()), joint) { Ok(whole) } else { Err(batch_error(shapes)) }
}

/// The joint base shape of two operands.
///
/// # Errors
/// `Incompatible` where an axis has two sizes that are not 1.
#[inline]
pub(crate) fn joint_base<B: Dimension>(shapes: &[BatchShape<'_>; 2]) -> Result<B> {
    let bases = [shapes[0].base(), shapes[1].base()];
    joint_dim(&bases)
        .ok_or_else(|| joint_error_of(ErrorBuilder::new(&caller::BASES_TOGETHER, shapes), &bases))
}

/// The shape with the axes of a batch, then of a base.
#[inline]
pub(crate) fn with_base<W: Dimension>(batch: &[usize], base: &[usize]) -> W {
    let mut whole = W::zeros(batch.len() + base.len());
    let (first, last) = sizes_mut(&mut whole).split_at_mut(batch.len());
    first.copy_from_slice(batch);
    last.copy_from_slice(base);
    whole
}

/// Checks that a result with the joint batch shape can be written to the batch of `out`.
///
/// # Errors
/// In this order: `Incompatible` as [`joint_batch`]; `TooFewAxes` where the batch of `out` has fewer axes;
/// `Incompatible` where a size differs and is not 1 in the joint batch.
pub(crate) fn check_batches_into(shapes: &[BatchShape<'_>], out: BatchShape<'_>) -> Result<()> {
    if all_stretch_to(shapes.iter().map(|shape| shape.batch()), out.batch()) {
        return Ok(());
    }
    let joint: IxDyn = joint_batch(shapes, &[])?;
    let builder = ErrorBuilder::new(&caller::BATCH_INTO, shapes).to(&out);
    if out.batch().len() < joint.ndim() {
        // Counts the axes of the whole, as the message shows it.
        return Err(builder.too_few_axes("array", joint.ndim() + out.base, out.shape.len()));
    }
    Err(match first_clash(&batches(shapes), out.batch()) {
        Some((axis, sizes, operand)) => builder.incompatible(axis, sizes, [operand, shapes.len()]),
        // Not reached: the array exists, so its shape does not overflow.
        None => builder.overflow(out.shape),
    })
}
