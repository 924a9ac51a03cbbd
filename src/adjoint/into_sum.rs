//! Sums of arrays by value.

use super::SumTo;
use crate::error::Result;
use crate::sealed::Sealed;
use crate::shape::{TargetShape, sizes};
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

/// Sums to a shape, of an array by value: if there is nothing to sum, the array is the result.
///
/// Sealed; implemented for `Array`.
pub trait IntoSumTo<A, D: Dimension>: Sealed {
    /// [`sum_to_shape`](SumTo::sum_to_shape) by value. An array that already has the shape is the result
    /// itself, without a copy. This is the most common case in a backward pass.
    ///
    /// # Shapes
    /// As [`sum_to_shape`](SumTo::sum_to_shape).
    ///
    /// # Errors
    /// As [`sum_to_shape`](SumTo::sum_to_shape). The array is dropped.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let delta = array![1.0, 2.0];
    /// let at = delta.as_ptr();
    /// let same: Array1<f64> = delta.into_sum_to_shape(2)?;
    /// assert_eq!(same.as_ptr(), at);
    /// assert_eq!(array![[1.0, 2.0], [3.0, 4.0]].into_sum_to_shape(2)?, array![4.0, 6.0]);
    /// assert!(same.into_sum_to_shape(3).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch `delta.sum_to_size(shape)`, which also returns the tensor itself if nothing is summed.
    fn into_sum_to_shape<T: TargetShape>(self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: Clone + Zero;

    /// [`into_sum_to_shape`](Self::into_sum_to_shape) to the shape of `like`, whose elements do not matter.
    ///
    /// # Shapes
    /// As [`sum_to_match`](SumTo::sum_to_match); the result has the dimension type of `like`.
    ///
    /// # Errors
    /// As [`into_sum_to_shape`](Self::into_sum_to_shape).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array, Dimension};
    /// use ndarray_broadcast::{prelude::*, BroadcastError};
    ///
    /// fn gradient<D, E>(delta: Array<f64, D>, of: &Array<f64, E>) -> Result<Array<f64, E>, BroadcastError>
    /// where
    ///     D: Dimension,
    ///     E: Dimension,
    /// {
    ///     delta.into_sum_to_match(of)
    /// }
    /// let (x, bias) = (array![[1.0, 2.0], [3.0, 4.0]], array![0.5, 1.5]);
    /// let delta = &x + &bias;
    /// let place = delta.as_ptr();
    /// assert_eq!(gradient(delta.clone(), &bias)?, array![5.0, 9.0]);
    /// assert_eq!(gradient(delta, &x)?.as_ptr(), place);
    /// assert!(gradient(bias, &x).is_err());
    /// # Ok::<(), BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch `delta.sum_to_size(like.shape)`.
    fn into_sum_to_match<B, E: Dimension>(self, like: &ArrayRef<B, E>) -> Result<Array<A, E>>
    where
        Self: Sized,
        A: Clone + Zero,
    {
        self.into_sum_to_shape(like)
    }
}

impl<A, D: Dimension> IntoSumTo<A, D> for Array<A, D> {
    fn into_sum_to_shape<T: TargetShape>(self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: Clone + Zero,
    {
        if sizes(&shape.target_dim()) == self.shape() {
            return Ok(self.into_dimensionality().expect("the shape has as many axes as the array"));
        }
        self.sum_to_shape(shape)
    }
}
