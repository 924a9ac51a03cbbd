//! Means over named axes.

use super::sums::new_sum;
use crate::error::{BroadcastError, Request, Result, fail, operation};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Dropped;
use crate::kernel::threads::Serial;
use crate::shape::{Axes, LessAxes, keeping_axes, over_axes, without_axes};
use crate::view::AsArrayRef;
use core::ops::Div;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::{NumCast, Zero};

/// Means over named axes, on every kind of array.
///
/// A mean is the sum, as exact as [`sum_axes`](crate::SumAxes::sum_axes), divided by the number of elements. A
/// mean of integers is rounded toward zero, as their division is.
///
/// Sealed; implemented for every kind of array.
pub trait MeanAxes<A, D: Dimension>: AsArrayRef<A, D> {
    /// The mean over `axes`, which the result does not have.
    ///
    /// # Shapes
    /// As [`sum_axes`](crate::SumAxes::sum_axes). No axes give a copy.
    ///
    /// # Errors
    /// As [`sum_axes`](crate::SumAxes::sum_axes), and then
    /// [`NoMean`](crate::ErrorKind::NoMean) where an element of the result would be the mean of no elements, or of more
    /// elements than the element type can count.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[1.0, 5.0], [3.0, 4.0]];
    /// let columns: Array1<f64> = x.mean_axes(0)?;
    /// assert_eq!(columns, array![2.0, 4.5]);
    /// assert_eq!(x.mean_axes([0, -1])?.into_scalar(), 3.25);
    /// assert_eq!(
    ///     Array2::<f64>::zeros((0, 3)).mean_axes(0).unwrap_err().to_string(),
    ///     "cannot take the mean of shape [0, 3] over axes [0]: there is no mean of 0 elements",
    /// );
    /// assert_eq!(Array2::<f64>::zeros((0, 3)).mean_axes(1)?, Array1::zeros(0));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.mean(x, axis=0)` and `torch.mean(x, dim=0)`, which give NaN for no elements, NumPy with a warning;
    /// ndarray's `mean_axis`, which gives `None` for no elements.
    #[doc(alias("mean_axis", "average"))]
    fn mean_axes<X: Axes>(&self, axes: X) -> Result<Array<A, D::Left>>
    where
        A: Clone + Zero + Div<Output = A> + NumCast,
        D: LessAxes<X::Count>,
    {
        let array = self.as_array_ref();
        let (left, summed) = without_axes(&operation::MEAN_AXES, array.shape(), &axes)?;
        mean(array, left, Some(&summed), &axes)
    }

    /// The mean over `axes`, which stay in the result with size 1.
    ///
    /// # Shapes
    /// As [`sum_axes_keepdims`](crate::SumAxes::sum_axes_keepdims): the result broadcasts to the array's shape.
    ///
    /// # Errors
    /// As [`mean_axes`](Self::mean_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{broadcast_map, prelude::*};
    ///
    /// let x = array![[1.0, 5.0], [3.0, 4.0]];
    /// let centred = broadcast_map((&x, &x.mean_axes_keepdims(1)?), |x, m| x - m)?;
    /// assert_eq!(centred, array![[-2.0, 2.0], [-0.5, 0.5]]);
    /// assert!(x.mean_axes_keepdims(2).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.mean(x, axis=1, keepdims=True)`, `torch.mean(x, dim=1, keepdim=True)`.
    fn mean_axes_keepdims<X: Axes>(&self, axes: X) -> Result<Array<A, D>>
    where
        A: Clone + Zero + Div<Output = A> + NumCast,
    {
        let array = self.as_array_ref();
        let kept = keeping_axes(&operation::MEAN_AXES, &array.raw_dim(), &axes)?;
        mean(array, kept, None, &axes)
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> MeanAxes<A, D> for T {}

/// The sums, each divided by the number of its elements.
///
/// # Errors
/// `NoMean` if that number is 0, or more than `A` can count. Without any means, there is no error.
fn mean<A: Clone + Zero + Div<Output = A> + NumCast, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    means: Reserved<A, E>,
    dropped: Dropped<'_>,
    axes: &impl Axes,
) -> Result<Array<A, E>> {
    let sizes = array.shape();
    let reduced = (0..axes.axis_count()).map(|i| sizes[axes.axis(i, sizes.len())]);
    let count = if means.len() == 0 { 1 } else { reduced.product() };
    let Some(divisor) = A::from(count).filter(|_| count > 0) else {
        let request = over_axes(&operation::MEAN_AXES, array.shape(), axes);
        return Err(no_mean(request, count));
    };
    let mut means = new_sum(array, means, dropped, Serial);
    means.map_inplace(|sum| *sum = sum.clone() / divisor.clone());
    Ok(means)
}

#[cold]
fn no_mean(request: Request, count: usize) -> BroadcastError {
    let reason = if count == 0 { "" } else { ", which the element type cannot count" };
    fail!(request, NoMean, "there is no mean of {count} elements{reason}")
}
