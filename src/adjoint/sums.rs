//! The sums of [`SumAxes`](super::SumAxes), [`SumTo`](super::SumTo) and [`ParSum`](super::ParSum), by the executor
//! that they hand in.

use crate::error::{Request, Result, operation};
use crate::kernel::each::copy_like;
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Input, Output};
use crate::kernel::operation::Plus;
use crate::kernel::reduce::{StoreSums, Sums, reduce_into, reduce_to_new};
use crate::kernel::strided::Dropped;
use crate::shape::{ReducedAxes, TargetShape, check_sums_to, over_reduced, sum_target};
use core::mem::needs_drop;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

pub(super) fn sum_axes<A: Clone + Zero, D: Dimension, X: ReducedAxes<D>>(
    array: &ArrayRef<A, D>,
    axes: &X,
    executor: impl Sums<A>,
) -> Result<Array<A, X::Left>> {
    let request = || Request::new(&operation::SUM_AXES, &[array.shape()]);
    let (left, summed) = over_reduced(array.shape(), axes, request)?;
    Ok(new_sum(array, left, if X::KEEPS { None } else { Some(&summed) }, executor))
}

pub(super) fn sum_to_shape<A: Clone + Zero, D: Dimension, T: TargetShape>(
    array: &ArrayRef<A, D>,
    shape: &T,
    executor: impl Sums<A>,
) -> Result<Array<A, T::Dim>> {
    let target = sum_target(array.shape(), shape, &operation::SUM_TO, &[array.shape()])?;
    Ok(new_sum(array, target, None, executor))
}

/// The sum to the shape of `out`, stored there by `store`.
pub(super) fn sum_to_out<A: Clone + Zero, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    out: &mut ArrayRef<A, E>,
    store: Option<&StoreSums<'_, A>>,
    executor: impl Sums<A>,
) -> Result<()> {
    check_sums_to(array.shape(), out.shape(), || Request::new(&operation::SUM_TO, &[array.shape()]))?;
    reduce_into(Input::of(array), Output::of(out), None, Plus, store, executor);
    Ok(())
}

/// [`reduce_to_new`], or a copy if nothing is summed.
///
/// In other layouts than the standard one, elements that own memory are added to zero even then, because a copy would
/// leak them if a `clone` panics.
#[inline(always)]
pub(super) fn new_sum<A: Clone + Zero, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    reserved: Reserved<A, E>,
    dropped: Dropped<'_>,
    executor: impl Sums<A>,
) -> Array<A, E> {
    if array.shape() == reserved.shape() {
        if let Some(slice) = array.as_slice() {
            return reserved.cloned(slice);
        }
        if !const { needs_drop::<A>() } {
            return copy_like(reserved, array);
        }
    }
    reduce_to_new(Input::of(array), reserved, dropped, Plus, executor)
}
