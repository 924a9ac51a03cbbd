//! The sizes of a shape, and their number.

use crate::error::{ErrorBuilder, Result};
use ndarray::Dimension;

/// The sizes of `dim` as a slice. `slice` is a hidden method of ndarray; the public way, a view, costs a call.
#[inline]
pub(crate) fn sizes<D: Dimension>(dim: &D) -> &[usize] {
    dim.slice()
}

/// The sizes of `dim` as a slice to write.
#[inline]
pub(crate) fn sizes_mut<D: Dimension>(dim: &mut D) -> &mut [usize] {
    dim.slice_mut()
}

/// The number of elements of `shape`; `None` where its non-zero sizes multiply past `isize::MAX`.
#[inline]
pub(crate) const fn checked_len(shape: &[usize]) -> Option<usize> {
    let (mut product, mut empty, mut axis) = (1usize, false, 0);
    while axis < shape.len() {
        empty |= shape[axis] == 0;
        product = product.saturating_mul(if shape[axis] == 0 { 1 } else { shape[axis] });
        axis += 1;
    }
    if product > isize::MAX.unsigned_abs() { None } else { Some(if empty { 0 } else { product }) }
}

/// # Errors
/// `Overflow`.
#[inline(always)]
pub(crate) fn check_len(shape: &[usize], builder: impl Fn() -> ErrorBuilder) -> Result<()> {
    if checked_len(shape).is_some() { Ok(()) } else { Err(builder().overflow(shape)) }
}

/// The number of axes of the joint shape.
#[inline]
pub(crate) fn joint_ndim(shapes: impl IntoIterator<Item: AsRef<[usize]>>) -> usize {
    shapes.into_iter().fold(0, |ndim, shape| ndim.max(shape.as_ref().len()))
}
