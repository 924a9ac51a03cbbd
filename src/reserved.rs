//! Memory for results.

use crate::error::{ErrorBuilder, Result};
use crate::kernel::memory::Reserved;
use crate::shape::sizes;
use ndarray::Dimension;

/// Memory for a result of this shape.
///
/// # Errors
/// `TooLarge`.
#[inline(always)]
pub(crate) fn reserved<A, D: Dimension>(
    shape: D,
    builder: impl FnOnce() -> ErrorBuilder,
) -> Result<Reserved<A, D>> {
    Reserved::new(shape).map_err(|shape| builder().too_large(sizes(&shape), size_of::<A>()))
}
