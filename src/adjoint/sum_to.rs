//! The adjoint of every broadcast that is aligned at the right: the sum back to a shape.

use super::sums;
use crate::error::Result;
use crate::kernel::reduce::Store;
use crate::kernel::threads::Serial;
use crate::shape::{ShapeOf, TargetShape};
use crate::view::AsArrayRef;
use core::ops::Mul;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

/// Sums to a shape that broadcasts to the array's, on every kind of array.
///
/// The order of summation depends only on the shapes and the layout of the array. Sums of blocks are added
/// pairwise, which keeps 2^24 terms of 0.1 in `f32` within 1e-6.
///
/// Sealed; implemented for every kind of array.
pub trait SumTo<A, D: Dimension>: AsArrayRef<A, D> {
    /// The sum over every axis that broadcasting from `shape` to this array's shape repeats.
    ///
    /// # Shapes
    /// Aligned at the right, each axis of `shape` has the array's size or is 1; `shape` may have fewer axes.
    /// `(2, 3, 4)` to `(3, 1)` sums over axes 0 and 2. The array's own shape gives a copy, at the cost of
    /// `to_owned`; [`into_sum_to_shape`](crate::IntoSumTo::into_sum_to_shape) saves that too. `()` gives the sum of
    /// all elements. A sum over size 0 is zero. The result's axes have the same order in memory as the array's.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size or one above `isize::MAX`;
    /// [`TooManyAxes`](crate::ErrorKind::TooManyAxes) where `shape` has more axes than the array;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in `shape`;
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let delta = array![[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]];
    /// assert_eq!(delta.sum_to_shape(3)?, array![11.0, 22.0, 33.0]);
    /// assert_eq!(delta.sum_to_shape((2, 1))?, array![[6.0], [60.0]]);
    /// assert_eq!(
    ///     delta.sum_to_shape(2).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] to [2]: axis 1 has sizes 3 and 2, expected equal sizes or 1 in the target",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch `delta.sum_to_size(shape)`; the `unbroadcast` of JAX and autograd, which many engines write by hand.
    #[doc(alias("sum_to_size", "unbroadcast"))]
    fn sum_to_shape<T: TargetShape>(&self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: Clone + Zero,
    {
        sums::sum_to_shape(self.as_array_ref(), &shape, Serial)
    }

    /// [`sum_to_shape`](Self::sum_to_shape) to the shape of `like`, whose elements do not matter.
    ///
    /// # Shapes
    /// As [`sum_to_shape`](Self::sum_to_shape); the result has the dimension type of `like`.
    ///
    /// # Errors
    /// As [`sum_to_shape`](Self::sum_to_shape).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (bias, delta) = (array![0.5, 1.5], array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    /// let gradient: Array1<f64> = delta.sum_to_match(&bias)?;
    /// assert_eq!(gradient, array![9.0, 12.0]);
    /// assert!(bias.sum_to_match(&delta).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch `delta.sum_to_size(bias.shape)`.
    fn sum_to_match<B, E: Dimension>(&self, like: &ArrayRef<B, E>) -> Result<Array<A, E>>
    where
        A: Clone + Zero,
    {
        self.sum_to_shape(ShapeOf(like.raw_dim()))
    }

    /// [`sum_to_shape`](Self::sum_to_shape) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`sum_to_shape`](Self::sum_to_shape), to the shape of `out`, which may have any layout. Nothing is
    /// allocated for up to 6 axes.
    ///
    /// # Errors
    /// As [`sum_to_shape`](Self::sum_to_shape). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut sum = Array1::from_elem(2, 7.0);
    /// array![[1.0, 2.0], [3.0, 4.0]].sum_to_shape_into(&mut sum)?;
    /// assert_eq!(sum, array![4.0, 6.0]);
    /// assert!(array![1.0, 2.0, 3.0].sum_to_shape_into(&mut sum).is_err());
    /// assert_eq!(sum, array![4.0, 6.0]);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.sum(x, axis, out=sum)`.
    fn sum_to_shape_into<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: Clone + Zero,
    {
        sums::sum_to_out(self.as_array_ref(), out, Store::replacing(), Serial)
    }

    /// Adds the sum to an array, as a backward pass accumulates the gradient of a broadcast operand.
    ///
    /// # Shapes
    /// As [`sum_to_shape_into`](Self::sum_to_shape_into).
    ///
    /// # Errors
    /// As [`sum_to_shape_into`](Self::sum_to_shape_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = array![100.0, 200.0];
    /// array![[1.0, 2.0], [3.0, 4.0]].add_sum_to(&mut gradient)?;
    /// assert_eq!(gradient, array![104.0, 206.0]);
    /// assert!(array![1.0, 2.0, 3.0].add_sum_to(&mut gradient).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient += unbroadcast(delta)` in Python's autodiff engines, without the temporary.
    fn add_sum_to<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: Clone + Zero,
    {
        sums::sum_to_out(self.as_array_ref(), out, Store::adding(), Serial)
    }

    /// Adds `factor` times the sum to an array. With -1, this is the backward pass of a subtraction.
    ///
    /// # Shapes
    /// As [`sum_to_shape_into`](Self::sum_to_shape_into).
    ///
    /// # Errors
    /// As [`sum_to_shape_into`](Self::sum_to_shape_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = array![100.0, 200.0];
    /// array![[1.0, 2.0], [3.0, 4.0]].scaled_add_sum_to(-1.0, &mut gradient)?;
    /// assert_eq!(gradient, array![96.0, 194.0]);
    /// assert!(array![1.0, 2.0, 3.0].scaled_add_sum_to(-1.0, &mut gradient).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// ndarray's `gradient.scaled_add(factor, &unbroadcast(delta))`, without the temporary.
    fn scaled_add_sum_to<E: Dimension>(&self, factor: A, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: Clone + Zero + Mul<Output = A>,
    {
        sums::sum_to_out(self.as_array_ref(), out, Store::adding_scaled(&factor), Serial)
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> SumTo<A, D> for T {}
