//! Sums in new arrays.

use crate::kernel::each::{Cloning, to_new};
use crate::kernel::memory::{NoMemory, reserved};
use crate::kernel::nest::Inputs;
use crate::kernel::store::{Fresh, Overwrite};
use crate::kernel::sum::{Sums, sum_to_new};
use crate::shape::sizes;
use core::mem::needs_drop;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

/// [`sum_to_new`], or a copy if nothing is summed.
///
/// In other layouts than the standard one, elements that own memory are added to zero even then, because a copy would
/// leak them if a `clone` panics.
#[inline]
pub(super) fn new_sum<A: Clone + Zero, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    dropped: &dyn Fn(usize) -> bool,
    executor: impl Sums<A, Fresh> + Sums<A, Overwrite>,
) -> Result<Array<A, E>, NoMemory> {
    if array.shape() == sizes(&shape) {
        if let Some(slice) = array.as_slice() {
            let mut elements = reserved(&shape)?;
            elements.extend_from_slice(slice);
            return Ok(Array::from_shape_vec(shape, elements).expect("as many elements as the shape has"));
        }
        if !needs_drop::<A>() {
            return to_new(shape, &Inputs::from((array,)), Cloning);
        }
    }
    sum_to_new(array, shape, dropped, executor)
}
