//! The adjoint of placed axes: the sum over all other axes.

use super::sums::{new_sum, sum_to_out};
use crate::error::Result;
use crate::kernel::reduce::Store;
use crate::kernel::threads::Serial;
use crate::shape::{Axes, AxisMask, ShapeOf, TargetShape, placed_sum, placed_sum_target};
use crate::view::AsArrayRef;
use core::ops::Mul;
use ndarray::{Array, ArrayRef, ArrayView, Dimension};
use num_traits::Zero;

/// Sums that undo [`broadcast_in_dim`](crate::BroadcastInDim::broadcast_in_dim), on every kind of array.
///
/// One pass over the array, in an order that depends on its shape and layout alone: see [`SumTo`](crate::SumTo).
///
/// Sealed; implemented for every kind of array.
pub trait SumInDim<A, D: Dimension>: AsArrayRef<A, D> {
    /// The sum over everything that [`broadcast_in_dim`](crate::BroadcastInDim::broadcast_in_dim) with the same `axes`
    /// repeats for an array of shape `shape`.
    ///
    /// # Shapes
    /// Axis `i` of the result is axis `axes[i]` of the array, in any order, which transposes. Axis `i` of `shape` has the
    /// size of that axis, or is 1 to sum over it. All other axes are summed over. `(4, 3, 5)` to `(5, 1)` with axes
    /// `[2, 1]` sums over axes 0 and 1. A negative axis counts from the end of the array. A sum over an axis of size 0
    /// is zero. `()` with axes `[]` is the sum of all.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size or one above `isize::MAX`;
    /// [`AxisCount`](crate::ErrorKind::AxisCount) where `axes` does not have one entry for each axis of `shape`;
    /// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the array does not have;
    /// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in `shape`;
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[1.0, 2.0]];
    /// let y = x.broadcast_in_dim((2, 3), [1, 0])?; // axis 0 goes to axis 1 and stretches, axis 1 goes to axis 0
    /// let delta = array![[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]; // the gradient of y
    /// let gradient: Array2<f64> = delta.sum_in_dim(x.raw_dim(), [1, 0])?;
    /// assert_eq!(gradient, array![[6.0, 60.0]]);
    /// assert_eq!((&y * &delta).sum(), (&x * &gradient).sum());
    /// assert_eq!(
    ///     delta.sum_in_dim((1, 3), [1, 0]).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] with its axes [1, 0] to [1, 3]: \
    ///      axis 0 has sizes 2 and 3, expected equal sizes or 1 in the target",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// The transpose rule of JAX's `lax.broadcast_in_dim`; `numpy.einsum("ijk->kj", delta)` and a sum that keeps
    /// axis 1.
    #[doc(alias = "einsum")]
    fn sum_in_dim<T: TargetShape, X: Axes>(&self, shape: T, axes: X) -> Result<Array<A, T::Dim>>
    where
        A: Clone + Zero,
    {
        let array = self.as_array_ref();
        let (target, named) = placed_sum_target(array.shape(), &shape, &axes)?;
        Ok(new_sum(&kept_last(array, &axes, &named), target, None, Serial))
    }

    /// [`sum_in_dim`](Self::sum_in_dim) to the shape of `like`, whose elements do not matter.
    ///
    /// # Shapes
    /// As [`sum_in_dim`](Self::sum_in_dim); the result has the dimension type of `like`.
    ///
    /// # Errors
    /// As [`sum_in_dim`](Self::sum_in_dim).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (bias, delta) = (array![0.5, 1.5], array![[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]);
    /// let gradient: Array1<f64> = delta.sum_in_dim_like(&bias, 0)?;
    /// assert_eq!(gradient, array![7.0, 56.0]);
    /// assert!(delta.sum_in_dim_like(&bias, 1).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`sum_in_dim`](Self::sum_in_dim).
    fn sum_in_dim_like<B, E: Dimension, X: Axes>(&self, like: &ArrayRef<B, E>, axes: X) -> Result<Array<A, E>>
    where
        A: Clone + Zero,
    {
        self.sum_in_dim(ShapeOf(like.raw_dim()), axes)
    }

    /// [`sum_in_dim`](Self::sum_in_dim) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`sum_in_dim`](Self::sum_in_dim), to the shape of `out`, which may have any layout. Nothing is allocated
    /// for up to 6 fixed axes.
    ///
    /// # Errors
    /// As [`sum_in_dim`](Self::sum_in_dim). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut sum = Array1::from_elem(2, 7.0);
    /// array![[1.0, 2.0], [3.0, 4.0]].sum_in_dim_into(&mut sum, 0)?;
    /// assert_eq!(sum, array![3.0, 7.0]);
    /// assert!(array![[1.0], [2.0]].sum_in_dim_into(&mut sum, 1).is_err());
    /// assert_eq!(sum, array![3.0, 7.0]);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`sum_in_dim`](Self::sum_in_dim), with `out=`.
    fn sum_in_dim_into<E: Dimension, X: Axes>(&self, out: &mut ArrayRef<A, E>, axes: X) -> Result<()>
    where
        A: Clone + Zero,
    {
        sum_with(self.as_array_ref(), out, &axes, Store::replacing())
    }

    /// Adds [`sum_in_dim`](Self::sum_in_dim) to an array, as a backward pass accumulates a gradient.
    ///
    /// # Shapes
    /// As [`sum_in_dim_into`](Self::sum_in_dim_into).
    ///
    /// # Errors
    /// As [`sum_in_dim`](Self::sum_in_dim). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = array![100.0, 200.0];
    /// array![[1.0, 2.0], [3.0, 4.0]].add_sum_in_dim_to(&mut gradient, 0)?;
    /// assert_eq!(gradient, array![103.0, 207.0]);
    /// assert!(array![[1.0, 2.0]].add_sum_in_dim_to(&mut gradient, 0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient += delta.sum_in_dim(…)`, without the temporary.
    fn add_sum_in_dim_to<E: Dimension, X: Axes>(&self, out: &mut ArrayRef<A, E>, axes: X) -> Result<()>
    where
        A: Clone + Zero,
    {
        sum_with(self.as_array_ref(), out, &axes, Store::adding())
    }

    /// Adds `factor` times [`sum_in_dim`](Self::sum_in_dim) to an array.
    ///
    /// # Shapes
    /// As [`sum_in_dim_into`](Self::sum_in_dim_into).
    ///
    /// # Errors
    /// As [`sum_in_dim`](Self::sum_in_dim). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = array![100.0, 200.0];
    /// array![[1.0, 2.0], [3.0, 4.0]].scaled_add_sum_in_dim_to(-1.0, &mut gradient, 0)?;
    /// assert_eq!(gradient, array![97.0, 193.0]);
    /// assert!(array![[1.0, 2.0]].scaled_add_sum_in_dim_to(-1.0, &mut gradient, 0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient += factor * delta.sum_in_dim(…)`, without the temporaries.
    fn scaled_add_sum_in_dim_to<E: Dimension, X: Axes>(
        &self,
        factor: A,
        out: &mut ArrayRef<A, E>,
        axes: X,
    ) -> Result<()>
    where
        A: Clone + Zero + Mul<Output = A>,
    {
        sum_with(self.as_array_ref(), out, &axes, Store::adding_scaled(&factor))
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> SumInDim<A, D> for T {}

fn sum_with<A: Clone + Zero, D: Dimension, E: Dimension, X: Axes>(
    array: &ArrayRef<A, D>,
    out: &mut ArrayRef<A, E>,
    axes: &X,
    store: Store<'_, A>,
) -> Result<()> {
    let named = placed_sum(array.shape(), out.shape(), axes)?;
    sum_to_out(&kept_last(array, axes, &named), out, store, Serial)
}

/// The array with the named axes last, in their order, so that a sum to them is aligned at the right.
#[inline]
fn kept_last<'a, A, D: Dimension, X: Axes>(
    array: &'a ArrayRef<A, D>,
    axes: &X,
    named: &AxisMask,
) -> ArrayView<'a, A, D> {
    let (ndim, mut order) = (array.ndim(), array.raw_dim());
    let kept = (0..axes.axis_count()).map(|i| axes.axis(i, ndim));
    for (place, axis) in named.unnamed().chain(kept).enumerate() {
        order[place] = axis;
    }
    array.view().permuted_axes(order)
}
