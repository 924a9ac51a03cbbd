//! The sums of [`SumAxes`](super::SumAxes), [`SumTo`](super::SumTo) and [`ParSum`](super::ParSum), by the executor
//! that they hand in.

use crate::error::{Request, Result, operation};
use crate::kernel::map::copy_like;
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Dropped;
use crate::kernel::operation::Plus;
use crate::kernel::reduce::{self, Reduces, Store};
use crate::kernel::source::Stored;
use crate::shape::{Axes, LessAxes, TargetShape, check_sums_to, keeping_axes, sum_target, without_axes};
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

pub(super) fn sum_axes<A: Clone + Zero, D: LessAxes<X::Count>, X: Axes>(
    array: &ArrayRef<A, D>,
    axes: &X,
    executor: impl for<'a> Reduces<A, Stored<'a, A>, Plus>,
) -> Result<Array<A, D::Left>> {
    let (left, summed) = without_axes(&operation::SUM_AXES, array.shape(), axes)?;
    Ok(new_sum(array, left, Some(&summed), executor))
}

pub(super) fn sum_axes_keepdims<A: Clone + Zero, D: Dimension, X: Axes>(
    array: &ArrayRef<A, D>,
    axes: &X,
    executor: impl for<'a> Reduces<A, Stored<'a, A>, Plus>,
) -> Result<Array<A, D>> {
    let kept = keeping_axes(&operation::SUM_AXES, &array.raw_dim(), axes)?;
    Ok(new_sum(array, kept, None, executor))
}

pub(super) fn sum_to_shape<A: Clone + Zero, D: Dimension, T: TargetShape>(
    array: &ArrayRef<A, D>,
    shape: &T,
    executor: impl for<'a> Reduces<A, Stored<'a, A>, Plus>,
) -> Result<Array<A, T::Dim>> {
    let target = sum_target(array.shape(), shape, &operation::SUM_TO, &[array.shape()])?;
    Ok(new_sum(array, target, None, executor))
}

/// The sum to the shape of `out`, stored there by `store`.
pub(super) fn sum_to_out<A: Clone + Zero, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    out: &mut ArrayRef<A, E>,
    store: Store<'_, A>,
    executor: impl for<'a> Reduces<A, Stored<'a, A>, Plus>,
) -> Result<()> {
    check_sums_to(array.shape(), out.shape(), || Request::new(&operation::SUM_TO, &[array.shape()]))?;
    reduce::into(Stored::of(array), out, None, Plus, store, executor);
    Ok(())
}

/// A new sum, or a copy if nothing is summed.
#[inline(always)]
pub(super) fn new_sum<A: Clone + Zero, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    reserved: Reserved<A, E>,
    dropped: Dropped<'_>,
    executor: impl for<'a> Reduces<A, Stored<'a, A>, Plus>,
) -> Array<A, E> {
    if array.shape() == reserved.shape() {
        return copy_like(reserved, array);
    }
    reduce::to_new(Stored::of(array), reserved, dropped, Plus, executor)
}
