//! The sums on several threads.

use crate::error::BroadcastError;
use crate::kernel::sum::{Accumulate, Overwrite, par_sum_into, par_sum_to_new};
use crate::shape::{
    Axes, LessAxes, TargetShape, fits_memory, left, over_axes, sizes, sum_target, summed, sums_to, to_target,
};
use crate::view::AsArrayRef;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

/// [`SumAxes`](crate::SumAxes) and [`SumTo`](crate::SumTo) on rayon's threads, where the array is large
/// enough to gain. The result is that of the same method on one thread, to the last bit.
pub trait ParSum<A, D: Dimension>: AsArrayRef<A, D> {
    /// [`sum_axes`](crate::SumAxes::sum_axes) on several threads.
    ///
    /// # Shapes
    /// As [`sum_axes`](crate::SumAxes::sum_axes).
    ///
    /// # Errors
    /// As [`sum_axes`](crate::SumAxes::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::Array2;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let delta = Array2::<f32>::from_elem((1000, 300), 0.1);
    /// assert_eq!(delta.par_sum_axes([0])?, delta.sum_axes([0])?);
    /// assert!(delta.par_sum_axes([2]).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `torch.sum`, which takes threads on its own.
    fn par_sum_axes<X: Axes>(&self, axes: X) -> Result<Array<A, D::Left>, BroadcastError>
    where
        A: Clone + Zero + Send + Sync,
        D: LessAxes<X::Count>,
    {
        let array = self.as_array_ref();
        let summed = summed(array.shape(), &axes)?;
        let left: D::Left = left(array.shape(), &summed);
        fits_memory(sizes(&left), size_of::<A>(), || over_axes(array.shape(), &axes))?;
        Ok(par_sum_to_new(array, left, |axis| summed.contains(axis)))
    }

    /// [`sum_to_shape`](crate::SumTo::sum_to_shape) on several threads.
    ///
    /// # Shapes
    /// As [`sum_to_shape`](crate::SumTo::sum_to_shape).
    ///
    /// # Errors
    /// As [`sum_to_shape`](crate::SumTo::sum_to_shape).
    ///
    /// # Examples
    /// ```
    /// use ndarray::Array2;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let delta = Array2::<f32>::from_elem((1000, 300), 0.1);
    /// assert_eq!(delta.par_sum_to_shape((1000, 1))?, delta.sum_to_shape((1000, 1))?);
    /// assert!(delta.par_sum_to_shape(1000).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch `delta.sum_to_size(shape)`.
    fn par_sum_to_shape<T: TargetShape>(&self, shape: T) -> Result<Array<A, T::Dim>, BroadcastError>
    where
        A: Clone + Zero + Send + Sync,
    {
        let array = self.as_array_ref();
        let target = sum_target(array.shape(), &shape)?;
        fits_memory(sizes(&target), size_of::<A>(), || to_target(array.shape(), shape.target_given()))?;
        let new = array.ndim() - target.ndim();
        Ok(par_sum_to_new(array, target, |axis| axis < new))
    }

    /// [`sum_to_shape_into`](crate::SumTo::sum_to_shape_into) on several threads.
    ///
    /// # Shapes
    /// As [`sum_to_shape_into`](crate::SumTo::sum_to_shape_into).
    ///
    /// # Errors
    /// As [`sum_to_shape_into`](crate::SumTo::sum_to_shape_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array1, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut sum = Array1::zeros(300);
    /// let delta = Array2::<u64>::from_elem((1000, 300), 2);
    /// delta.par_sum_to_shape_into(&mut sum)?;
    /// assert_eq!(sum, Array1::from_elem(300, 2000));
    /// assert!(sum.par_sum_to_shape_into(&mut Array1::zeros(2)).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `torch.sum(delta, 0, out=sum)`.
    fn par_sum_to_shape_into<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<(), BroadcastError>
    where
        A: Clone + Zero + Send + Sync,
    {
        let array = self.as_array_ref();
        sums_to(array.shape(), out.shape())?;
        let new = array.ndim() - out.ndim();
        par_sum_into(array, out, |axis| axis < new, &Overwrite);
        Ok(())
    }

    /// [`add_sum_to`](crate::SumTo::add_sum_to) on several threads.
    ///
    /// # Shapes
    /// As [`sum_to_shape_into`](crate::SumTo::sum_to_shape_into).
    ///
    /// # Errors
    /// As [`sum_to_shape_into`](crate::SumTo::sum_to_shape_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array1, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = Array1::ones(300);
    /// let delta = Array2::<f32>::ones((1000, 300));
    /// delta.par_add_sum_to(&mut gradient)?;
    /// assert_eq!(gradient, Array1::from_elem(300, 1001.0));
    /// assert!(gradient.par_add_sum_to(&mut Array1::zeros(2)).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient += delta.sum_to_size(gradient.shape)` in PyTorch.
    fn par_add_sum_to<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<(), BroadcastError>
    where
        A: Clone + Zero + Send + Sync,
    {
        let array = self.as_array_ref();
        sums_to(array.shape(), out.shape())?;
        let new = array.ndim() - out.ndim();
        par_sum_into(array, out, |axis| axis < new, &Accumulate);
        Ok(())
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> ParSum<A, D> for T {}
