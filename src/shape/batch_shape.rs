//! Shapes of which the last axes are the base: batches are aligned and joined, bases are left alone.

use super::target::target_error_of;
use super::{Placeholder, TargetShape, checked_len, fits, join, joint_error_of, resolve, sizes, sizes_mut};
use crate::error::{BroadcastError, ErrorKind, Mark, Request, Shape, count, operation, owner};
use alloc::{format, string::ToString, vec::Vec};
use ndarray::Dimension;

/// A shape and how many of its last axes are its base.
///
/// Not exported; public as it stands in hidden methods of public traits.
#[derive(Clone, Copy)]
pub struct BatchShape<'s> {
    shape: &'s [usize],
    base: usize,
}

impl<'s> BatchShape<'s> {
    /// # Errors
    /// `TooFewAxes` where there are not as many axes.
    #[inline]
    pub(crate) fn new(shape: &'s [usize], base: usize) -> Result<Self, BroadcastError> {
        if shape.len() < base {
            return Err(Self::too_short(shape, base));
        }
        Ok(Self { shape, base })
    }

    #[cold]
    fn too_short(shape: &[usize], base: usize) -> BroadcastError {
        let request = Request::new(&operation::SPLIT_BATCH, &[shape]).text(&count(base));
        request.too_few_axes("array", base, shape.len())
    }

    #[inline]
    pub(crate) fn batch(self) -> &'s [usize] {
        &self.shape[..self.shape.len() - self.base]
    }

    #[inline]
    pub(crate) fn base(self) -> &'s [usize] {
        &self.shape[self.shape.len() - self.base..]
    }

    /// # Errors
    /// `BaseAxes` and `BaseSize` where `result` does not have the base of `self`. `shown` is a shape of
    /// the request that has a base, and its position.
    #[inline]
    pub(crate) fn check_base(
        self,
        result: BatchShape<'_>,
        request: impl FnOnce() -> Request,
        shown: (usize, BatchShape<'_>),
    ) -> Result<(), BroadcastError> {
        if self.base() == result.base() {
            return Ok(());
        }
        Err(self.other_base(result, request(), shown))
    }

    #[cold]
    fn other_base(
        self,
        result: BatchShape<'_>,
        request: Request,
        shown: (usize, BatchShape<'_>),
    ) -> BroadcastError {
        let (own, found) = (self.base(), result.base());
        match own.iter().zip(found).position(|(own, size)| own != size) {
            Some(axis) if own.len() == found.len() => {
                let mark = Mark::Shape(shown.0, shown.1.batch().len() + axis);
                base_size(request, None, axis, [found[axis], own[axis]], mark)
            }
            _ => base_axes(request, None, own.len(), found.len()),
        }
    }
}

/// The error of a base, of an operand or the result, that has a wrong number of axes.
#[cold]
pub(crate) fn base_axes(
    request: Request,
    operand: Option<usize>,
    expected: usize,
    found: usize,
) -> BroadcastError {
    let detail = format!("the base of {} has {}, expected {expected}", owner(operand), count(found));
    request.error(ErrorKind::BaseAxes, detail)
}

/// The error of a base axis, of an operand or the result, that has the first of two sizes instead of the second.
#[cold]
pub(crate) fn base_size(
    request: Request,
    operand: Option<usize>,
    axis: usize,
    sizes: [usize; 2],
    mark: Mark,
) -> BroadcastError {
    let [size, expected] = sizes;
    let place = format!("base axis {axis} of {}", owner(operand));
    let error = request.error_of(ErrorKind::BaseSize, place, format!("size {size}, expected {expected}"));
    error.at(axis as i128, [mark], sizes.map(|size| size.to_string()))
}

impl From<&BatchShape<'_>> for Shape {
    fn from(part: &BatchShape<'_>) -> Self {
        Shape::with_base(part.shape, part.base)
    }
}

/// The shapes of the batches.
fn batches<'s>(parts: &[BatchShape<'s>]) -> Vec<&'s [usize]> {
    parts.iter().map(|part| part.batch()).collect()
}

/// The number of axes of the joint batch shape.
#[inline]
pub(crate) fn batch_ndim(parts: &[BatchShape<'_>]) -> usize {
    parts.iter().map(|part| part.batch().len()).max().unwrap_or(0)
}

/// The joint shape of the batches into `joint`, which has as many axes.
///
/// # Errors
/// `Incompatible` where an axis has two sizes that are not 1.
#[inline]
pub(crate) fn join_batches<const N: usize>(
    parts: &[BatchShape<'_>; N],
    joint: &mut [usize],
) -> Result<(), BroadcastError> {
    if join(&parts.map(BatchShape::batch), joint) { Ok(()) } else { Err(batch_clash(parts)) }
}

/// [`join_batches`] of a number of operands that is not in the type.
pub(crate) fn join_batches_of(parts: &[BatchShape<'_>], joint: &mut [usize]) -> Result<(), BroadcastError> {
    if join(&batches(parts), joint) { Ok(()) } else { Err(batch_clash(parts)) }
}

#[cold]
#[inline(never)]
fn batch_clash(parts: &[BatchShape<'_>]) -> BroadcastError {
    joint_error_of(Request::new(&operation::BATCHES_TOGETHER, parts), &batches(parts))
}

/// The joint shape of the bases into `joint`, which has as many axes.
///
/// # Errors
/// `Incompatible` where an axis has two sizes that are not 1.
#[inline]
pub(crate) fn join_bases(parts: &[BatchShape<'_>; 2], joint: &mut [usize]) -> Result<(), BroadcastError> {
    let bases = parts.map(BatchShape::base);
    if join(&bases, joint) {
        return Ok(());
    }
    Err(joint_error_of(Request::new(&operation::BASES_TOGETHER, parts), &bases))
}

/// The shape of the joint batch and then `base`, of elements of `size` bytes that are to be stored.
///
/// # Errors
/// In this order: `Incompatible` as [`join_batches`]; `TooLarge`.
#[inline]
pub(crate) fn result_shape<W: Dimension, const N: usize>(
    parts: &[BatchShape<'_>; N],
    base: &[usize],
    size: usize,
) -> Result<W, BroadcastError> {
    let batch = batch_ndim(parts);
    let mut whole = W::zeros(batch + base.len());
    let (joint, last) = sizes_mut(&mut whole).split_at_mut(batch);
    last.copy_from_slice(base);
    join_batches(parts, joint)?;
    if !fits(sizes(&whole), size) {
        return Err(Request::new(&operation::EACH_BATCH, parts).to(base).too_large(sizes(&whole), size));
    }
    Ok(whole)
}

/// The shape of `part` with its batch stretched to the joint one that is in the first axes of `whole`: the
/// base is filled in.
///
/// # Errors
/// `Overflow`.
#[inline]
pub(crate) fn with_base(
    part: BatchShape<'_>,
    whole: &mut [usize],
    request: impl FnOnce() -> Request,
) -> Result<(), BroadcastError> {
    let batch = whole.len() - part.base;
    whole[batch..].copy_from_slice(part.base());
    if checked_len(whole).is_some() {
        return Ok(());
    }
    Err(request().overflow(whole))
}

/// The shape of `part` with its batch stretched to `target`, in which -1 keeps a size.
///
/// # Errors
/// As [`resolve_target`](crate::resolve_target), of the batch.
#[inline]
pub(crate) fn expanded<W: Dimension, T: TargetShape>(
    part: BatchShape<'_>,
    target: &T,
) -> Result<W, BroadcastError> {
    let request = || Request::new(&operation::BATCH_TO_TARGET, &[part]).to(target.for_message());
    let mut batch = target.target_dim();
    if !resolve(part.batch(), sizes_mut(&mut batch), Placeholder::Keeps) {
        return Err(target_error_of(request(), part.batch(), &target.for_message(), Placeholder::Keeps));
    }
    let mut whole = W::zeros(batch.ndim() + part.base);
    sizes_mut(&mut whole)[..batch.ndim()].copy_from_slice(sizes(&batch));
    with_base(part, sizes_mut(&mut whole), request)?;
    Ok(whole)
}

/// Checks that what comes of operands, joined, can be written to the batch of `out`.
///
/// # Errors
/// In this order: `Incompatible` as [`join_batches`]; `TooFewAxes` where the batch of `out` has fewer axes;
/// `Incompatible` where a size differs and is not 1 in the joint batch.
#[inline]
pub(crate) fn check_batches_into<const N: usize>(
    parts: &[BatchShape<'_>; N],
    out: BatchShape<'_>,
) -> Result<(), BroadcastError> {
    let to = out.batch();
    let goes = |part: &BatchShape<'_>| {
        let new = to.len().checked_sub(part.batch().len());
        new.is_some_and(|new| part.batch().iter().zip(&to[new..]).all(|(&own, &to)| own == 1 || own == to))
    };
    if parts.iter().all(goes) {
        return Ok(());
    }
    Err(batches_into_error(parts, out))
}

#[cold]
#[inline(never)]
fn batches_into_error(parts: &[BatchShape<'_>], out: BatchShape<'_>) -> BroadcastError {
    let mut joint = alloc::vec![1; batch_ndim(parts)];
    if let Err(error) = join_batches_of(parts, &mut joint) {
        return error;
    }
    let request = Request::new(&operation::BATCH_INTO, parts).to(&out);
    let to = out.batch();
    if to.len() < joint.len() {
        // counts the axes of the whole, as the message shows it
        return request.too_few_axes("array", joint.len() + out.base, out.shape.len());
    }
    target_error_of(request, &joint, &to.for_message(), Placeholder::Refused)
}
