//! Shapes of which the last axes are the base: batches are aligned and joined, bases are left alone.

use super::{
    Placeholder, TargetShape, checked_len, clash_or_overflow, fits_memory, join, refusal, resolve, sizes,
    sizes_mut,
};
use crate::error::{BroadcastError, Request, cold};
use alloc::vec::Vec;
use ndarray::Dimension;

/// A shape and how many of its last axes are its base.
///
/// Not exported; public as it stands in hidden methods of public traits.
#[derive(Clone, Copy)]
pub struct Split<'s> {
    shape: &'s [usize],
    base: usize,
}

impl<'s> Split<'s> {
    /// # Errors
    /// `TooFewAxes` where there are not as many axes.
    #[inline]
    pub(crate) fn new(shape: &'s [usize], base: usize) -> Result<Self, BroadcastError> {
        if shape.len() < base {
            return Err(*cold(|| BroadcastError::TooFewAxes {
                request: Request::SplitBatch { shape: shape.to_vec(), base }.boxed(),
                expected: base,
                found: shape.len(),
            }));
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

    /// # Errors
    /// `BaseAxes` and `BaseSize` where `result` has not the base of `self`.
    pub(crate) fn check_base(
        self,
        result: Split<'_>,
        request: impl FnOnce() -> Request,
    ) -> Result<(), BroadcastError> {
        let (own, found) = (self.base(), result.base());
        if own == found {
            return Ok(());
        }
        Err(*cold(|| match own.iter().zip(found).position(|(own, size)| own != size) {
            Some(axis) if own.len() == found.len() => BroadcastError::BaseSize {
                request: request().boxed(),
                operand: None,
                axis,
                expected: own[axis],
                size: found[axis],
            },
            _ => BroadcastError::BaseAxes {
                request: request().boxed(),
                operand: None,
                expected: own.len(),
                found: found.len(),
            },
        }))
    }

    pub(crate) fn told(self) -> (Vec<usize>, usize) {
        (self.shape.to_vec(), self.base)
    }
}

/// The parts, for messages.
pub(crate) fn told(parts: &[Split<'_>]) -> Vec<(Vec<usize>, usize)> {
    parts.iter().map(|part| part.told()).collect()
}

/// Sizes as messages have them.
pub(crate) fn to_given(sizes: &[usize]) -> Vec<i128> {
    sizes.iter().map(|&size| size as i128).collect()
}

/// The number of axes of the joint batch shape.
#[inline]
pub(crate) fn batch_ndim(parts: &[Split<'_>]) -> usize {
    parts.iter().map(|part| part.batch().len()).max().unwrap_or(0)
}

/// The joint shape of the batches into `joint`, which has as many axes.
///
/// # Errors
/// `Incompatible` where an axis has two sizes that are not 1.
#[inline]
pub(crate) fn join_batches<const N: usize>(
    parts: &[Split<'_>; N],
    joint: &mut [usize],
) -> Result<(), BroadcastError> {
    if join(&parts.map(Split::batch), joint) {
        return Ok(());
    }
    Err(*cold(|| batch_clash(parts)))
}

/// [`join_batches`] of a number of operands that is not in the type.
pub(crate) fn join_batches_of(parts: &[Split<'_>], joint: &mut [usize]) -> Result<(), BroadcastError> {
    let batches: Vec<&[usize]> = parts.iter().map(|part| part.batch()).collect();
    if join(&batches, joint) { Ok(()) } else { Err(batch_clash(parts)) }
}

fn batch_clash(parts: &[Split<'_>]) -> BroadcastError {
    let batches: Vec<&[usize]> = parts.iter().map(|part| part.batch()).collect();
    clash_or_overflow(&batches).of_request(Request::BatchTogether { shapes: told(parts) })
}

/// The joint shape of the bases into `joint`, which has as many axes.
///
/// # Errors
/// `Incompatible` where an axis has two sizes that are not 1.
#[inline]
pub(crate) fn join_bases(parts: &[Split<'_>; 2], joint: &mut [usize]) -> Result<(), BroadcastError> {
    if join(&parts.map(Split::base), joint) {
        return Ok(());
    }
    Err(*cold(|| {
        let request = Request::BaseTogether { shapes: told(parts) };
        clash_or_overflow(&parts.map(Split::base)).of_request(request)
    }))
}

/// The shape of the joint batch and then `base`, of elements of `size` bytes that are to be stored.
///
/// # Errors
/// In this order: `Incompatible` as [`join_batches`]; `TooLarge`.
#[inline]
pub(crate) fn joint_with<W: Dimension, const N: usize>(
    parts: &[Split<'_>; N],
    base: &[usize],
    size: usize,
) -> Result<W, BroadcastError> {
    let batch = batch_ndim(parts);
    let mut whole = W::zeros(batch + base.len());
    let (joint, last) = sizes_mut(&mut whole).split_at_mut(batch);
    last.copy_from_slice(base);
    join_batches(parts, joint)?;
    fits_memory(sizes(&whole), size, || Request::ForEachBatch { shapes: told(parts), base: to_given(base) })?;
    Ok(whole)
}

/// The shape of `part` with its batch stretched to the joint one that is in the first axes of `whole`: the
/// base is filled in.
///
/// # Errors
/// `Overflow`.
#[inline]
pub(crate) fn with_base(
    part: Split<'_>,
    whole: &mut [usize],
    request: impl FnOnce() -> Request,
) -> Result<(), BroadcastError> {
    let batch = whole.len() - part.base;
    whole[batch..].copy_from_slice(part.base());
    if checked_len(whole).is_some() {
        return Ok(());
    }
    let shape = whole.to_vec();
    Err(*cold(|| BroadcastError::Overflow { request: request().boxed(), shape }))
}

/// The shape of `part` with its batch stretched to `target`, in which -1 keeps a size.
///
/// # Errors
/// As [`resolve_target`](crate::resolve_target), of the batch.
#[inline]
pub(crate) fn expanded<W: Dimension, T: TargetShape>(
    part: Split<'_>,
    target: &T,
) -> Result<W, BroadcastError> {
    let request = || Request::BatchToTarget { shape: part.told(), target: target.target_given() };
    let mut batch = target.target_dim();
    if !resolve(part.batch(), sizes_mut(&mut batch), Placeholder::Keeps) {
        return Err(*cold(|| refusal(part.batch(), target, Placeholder::Keeps).of_request(request())));
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
pub(crate) fn goes_into<const N: usize>(
    parts: &[Split<'_>; N],
    out: Split<'_>,
) -> Result<(), BroadcastError> {
    let to = out.batch();
    let goes = |part: &Split<'_>| {
        let new = to.len().checked_sub(part.batch().len());
        new.is_some_and(|new| part.batch().iter().zip(&to[new..]).all(|(&own, &to)| own == 1 || own == to))
    };
    if parts.iter().all(goes) {
        return Ok(());
    }
    Err(*cold(|| into_refusal(parts, out)))
}

fn into_refusal<const N: usize>(parts: &[Split<'_>; N], out: Split<'_>) -> BroadcastError {
    let request = Request::BatchInto { shapes: told(parts), out: out.told() };
    let mut joint = alloc::vec![1; batch_ndim(parts)];
    if let Err(error) = join_batches(parts, &mut joint) {
        return error;
    }
    match *refusal(&joint, out.batch(), Placeholder::Refused) {
        // counts the axes of the whole, as the message shows it
        BroadcastError::TooFewAxes { expected, found, .. } => BroadcastError::TooFewAxes {
            request: request.boxed(),
            expected: expected + out.base,
            found: found + out.base,
        },
        error => error.of_request(request),
    }
}
