//! Reductions over named axes by an operation of your own.

use crate::error::{Result, operation};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Dropped;
use crate::kernel::operation::ClosureOp;
use crate::kernel::reduce::to_new;
use crate::kernel::source::Stored;
use crate::kernel::threads::Serial;
use crate::shape::{Axes, LessAxes, keeping_axes, without_axes};
use crate::view::AsArrayRef;
use ndarray::{Array, ArrayRef, Dimension};

/// Reductions over named axes, on every kind of array.
///
/// Sealed; implemented for every kind of array.
pub trait ReduceAxes<A, D: Dimension>: AsArrayRef<A, D> {
    /// Combines all elements along `axes` with `op`: a maximum, a product, or whether all are true. The result does not
    /// have these axes.
    ///
    /// `op` must be associative and commutative, and combining with `identity` must change nothing. Elements are combined
    /// in the order that suits memory, which depends on shape and layout alone, and with the identity any number of
    /// times. For a sum, use [`sum_axes`](crate::SumAxes::sum_axes), which is faster. To map each element first, use
    /// [`broadcast_map_reduce_to`](crate::broadcast_map_reduce_to).
    ///
    /// # Shapes
    /// As [`sum_axes`](crate::SumAxes::sum_axes). A reduction over an empty axis gives the identity. The result is in
    /// standard layout.
    ///
    /// # Errors
    /// As [`sum_axes`](crate::SumAxes::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[1.0, 5.0], [3.0, 4.0]];
    /// let largest: Array1<f64> = x.reduce_axes(-1, f64::NEG_INFINITY, f64::max)?;
    /// assert_eq!(largest, array![5.0, 4.0]);
    /// assert_eq!(x.reduce_axes([0, 1], 1.0, |a, b| a * b)?.into_scalar(), 60.0);
    /// assert_eq!(
    ///     x.reduce_axes(2, 1.0, |a, b| a * b).unwrap_err().to_string(),
    ///     "cannot reduce shape [2, 2] over axes [2]: axis 2 is out of bounds for 2 axes of the array",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.max(x, axis=-1)` and the `reduce` of every other ufunc; `torch.amax(x, dim=-1)`, `torch.prod`;
    /// ndarray's `fold_axis`, for one axis.
    #[doc(alias("fold_axis", "max"))]
    fn reduce_axes<X: Axes, F: Fn(A, A) -> A>(&self, axes: X, identity: A, op: F) -> Result<Array<A, D::Left>>
    where
        A: Clone,
        D: LessAxes<X::Count>,
    {
        let array = self.as_array_ref();
        let (left, reduced) = without_axes(&operation::REDUCE_AXES, array.shape(), &axes)?;
        Ok(new_reduction(array, left, Some(&reduced), identity, op))
    }

    /// [`reduce_axes`](Self::reduce_axes), but `axes` stay in the result with size 1.
    ///
    /// # Shapes
    /// As [`sum_axes_keepdims`](crate::SumAxes::sum_axes_keepdims): the result broadcasts to the array's shape.
    ///
    /// # Errors
    /// As [`sum_axes`](crate::SumAxes::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{broadcast_map, prelude::*};
    ///
    /// let x = array![[1.0, 3.0], [700.0, 700.0]];
    /// let top = x.reduce_axes_keepdims(-1, f64::NEG_INFINITY, f64::max)?;
    /// assert_eq!(top, array![[3.0], [700.0]]);
    /// let exp = broadcast_map((&x, &top), |x, t| f64::exp(x - t))?; // as in a softmax: nothing is larger than 1
    /// assert_eq!(exp.row(1), array![1.0, 1.0]);
    /// assert!(x.reduce_axes_keepdims([0, -2], 0.0, f64::max).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.max(x, axis=-1, keepdims=True)`, `torch.amax(x, dim=-1, keepdim=True)`.
    fn reduce_axes_keepdims<X: Axes, F>(&self, axes: X, identity: A, op: F) -> Result<Array<A, D>>
    where
        A: Clone,
        F: Fn(A, A) -> A,
    {
        let array = self.as_array_ref();
        let kept = keeping_axes(&operation::REDUCE_AXES, &array.raw_dim(), &axes)?;
        Ok(new_reduction(array, kept, None, identity, op))
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> ReduceAxes<A, D> for T {}

/// Reduces the array to a new one, which does not have its `dropped` axes.
#[inline(always)]
fn new_reduction<A: Clone, D: Dimension, E: Dimension, F: Fn(A, A) -> A>(
    array: &ArrayRef<A, D>,
    reserved: Reserved<A, E>,
    dropped: Dropped<'_>,
    identity: A,
    op: F,
) -> Array<A, E> {
    let by = ClosureOp { identity: &identity, op: &op };
    to_new(Stored::of(array), reserved, dropped, by, Serial)
}
