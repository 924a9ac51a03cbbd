//! The memory of results.

use super::{checked_len, sizes};
use crate::error::{BroadcastError, Request};
use crate::kernel::memory::Reserved;
use ndarray::Dimension;

/// Memory for a result of this shape.
///
/// # Errors
/// `TooLarge`, of the request.
#[inline(always)]
pub(crate) fn reserved<A, D: Dimension>(
    shape: D,
    request: impl FnOnce() -> Request,
) -> Result<Reserved<A, D>, BroadcastError> {
    match try_reserved(shape) {
        Ok(reserved) => Ok(reserved),
        Err(shape) => Err(request().too_large(sizes(&shape), size_of::<A>())),
    }
}

/// Memory for a result of this shape, or the shape if memory cannot hold it.
#[inline(always)]
pub(crate) fn try_reserved<A, D: Dimension>(shape: D) -> Result<Reserved<A, D>, D> {
    let bytes = checked_len(sizes(&shape)).and_then(|len| len.checked_mul(size_of::<A>()));
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) { Reserved::new(shape) } else { Err(shape) }
}
