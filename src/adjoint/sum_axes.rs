//! nGraph's adjoint: the sum over named axes.

use super::sums;
use crate::error::Result;
use crate::kernel::threads::Serial;
use crate::shape::{Axes, ReducedAxes, keepdims};
use crate::view::AsArrayRef;
use ndarray::{Array, Dimension};
use num_traits::Zero;

/// Sums over named axes, on every kind of array.
///
/// The order of summation depends only on the shape and the layout of the array. Sums of blocks are added
/// pairwise, which keeps 2^24 terms of 0.1 in `f32` within 1e-6.
///
/// Sealed; implemented for every kind of array.
pub trait SumAxes<A, D: Dimension>: AsArrayRef<A, D> {
    /// The sum over `axes`, which the result does not have: the adjoint of
    /// [`broadcast_axes`](crate::BroadcastAxes::broadcast_axes).
    ///
    /// # Shapes
    /// `(2, 3, 4, 5)` over `[0, 2]` is `(3, 5)`. The number of axes of the result is fixed if that of
    /// the array is and `axes` is an array, an integer or an `Axis`; otherwise it is dynamic. A negative axis counts
    /// from the end. No axes (`[]`) give a copy, all axes a single element. A sum over an empty axis is zero.
    ///
    /// # Errors
    /// In this order:
    /// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the array does not have;
    /// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis in anything but an [`AxisSet`](crate::AxisSet);
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, ArrayD, Axis};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let delta = array![[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]];
    /// let columns: Array1<f64> = delta.sum_axes([0])?;
    /// assert_eq!(columns, array![11.0, 22.0, 33.0]);
    /// assert_eq!(delta.sum_axes(Axis(1))?, array![6.0, 60.0]);
    /// assert_eq!(delta.sum_axes(-1)?, array![6.0, 60.0]);
    /// let all: ArrayD<f64> = delta.sum_axes(&[0, 1][..])?;
    /// assert_eq!(all.sum(), 66.0);
    /// assert_eq!(delta.sum_axes([])?, delta);
    /// assert_eq!(
    ///     delta.sum_axes([1, 1]).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] over axes [1, 1]: axis 1 is named more than once",
    /// );
    /// assert_eq!(
    ///     delta.sum_axes(-3).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] over axes [-3]: axis -3 is out of bounds for 2 axes of the array",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// If both numbers of axes are in the types, more axes than the array has do not compile:
    /// ```compile_fail,E0277
    /// # use ndarray_broadcast::prelude::*;
    /// ndarray::array![1.0, 2.0].sum_axes([0, 1]).unwrap();
    /// ```
    ///
    /// # Equivalents
    /// nGraph's `Sum(delta, broadcast_axes)`, the backpropagation of its `Broadcast`;
    /// `numpy.sum(delta, axis=(0, 2))`; `torch.sum(delta, dim=(0, 2))`.
    #[doc(alias = "sum_axis")]
    fn sum_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<A, X::Left>>
    where
        A: Clone + Zero,
    {
        sums::sum_axes(self.as_array_ref(), &axes, Serial)
    }

    /// The sum over `axes`, which stay in the result with size 1.
    ///
    /// # Shapes
    /// `(2, 3, 4)` over `[1]` is `(2, 1, 4)`: the result broadcasts to the array's shape.
    ///
    /// # Errors
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[1.0, 3.0], [4.0, 4.0]];
    /// let (share, total) = x.broadcast_to_match(&x.sum_axes_keepdims(1)?).map(|(x, t)| (&x / &t, t.to_owned()))?;
    /// assert_eq!(share, array![[0.25, 0.75], [0.5, 0.5]]);
    /// assert_eq!(total.dim(), (2, 2));
    /// assert!(x.sum_axes_keepdims(2).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.sum(x, axis=1, keepdims=True)`, `torch.sum(x, dim=1, keepdim=True)`.
    fn sum_axes_keepdims<X: Axes>(&self, axes: X) -> Result<Array<A, D>>
    where
        A: Clone + Zero,
    {
        sums::sum_axes(self.as_array_ref(), &keepdims(axes), Serial)
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> SumAxes<A, D> for T {}
