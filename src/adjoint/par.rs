//! The sums on several threads.

use super::sums;
use crate::error::Result;
use crate::kernel::reduce::Store;
use crate::kernel::threads::Threads;
use crate::shape::{Axes, LessAxes, TargetShape};
use crate::view::AsArrayRef;
use core::ops::Mul;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

/// [`SumAxes`](crate::SumAxes) and [`SumTo`](crate::SumTo) on rayon's threads, if the array is large
/// enough to gain. The result has the same bits as that of the method on one thread. Without the feature `rayon`, the
/// calling thread does all the work.
///
/// Sealed; implemented for every kind of array.
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
    /// `torch.sum`, which uses several threads by default.
    fn par_sum_axes<X: Axes>(&self, axes: X) -> Result<Array<A, D::Left>>
    where
        A: Clone + Zero + Send + Sync,
        D: LessAxes<X::Count>,
    {
        sums::sum_axes(self.as_array_ref(), &axes, Threads)
    }

    /// [`sum_axes_keepdims`](crate::SumAxes::sum_axes_keepdims) on several threads.
    ///
    /// # Shapes
    /// As [`sum_axes_keepdims`](crate::SumAxes::sum_axes_keepdims).
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
    /// assert_eq!(delta.par_sum_axes_keepdims(1)?, delta.sum_axes_keepdims(1)?);
    /// assert!(delta.par_sum_axes_keepdims(2).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `torch.sum(x, dim=1, keepdim=True)`.
    fn par_sum_axes_keepdims<X: Axes>(&self, axes: X) -> Result<Array<A, D>>
    where
        A: Clone + Zero + Send + Sync,
    {
        sums::sum_axes_keepdims(self.as_array_ref(), &axes, Threads)
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
    fn par_sum_to_shape<T: TargetShape>(&self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: Clone + Zero + Send + Sync,
    {
        sums::sum_to_shape(self.as_array_ref(), &shape, Threads)
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
    fn par_sum_to_shape_into<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: Clone + Zero + Send + Sync,
    {
        sums::sum_to_out(self.as_array_ref(), out, Store::replacing(), Threads)
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
    fn par_add_sum_to<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: Clone + Zero + Send + Sync,
    {
        sums::sum_to_out(self.as_array_ref(), out, Store::adding(), Threads)
    }

    /// [`scaled_add_sum_to`](crate::SumTo::scaled_add_sum_to) on several threads.
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
    /// delta.par_scaled_add_sum_to(-1.0, &mut gradient)?;
    /// assert_eq!(gradient, Array1::from_elem(300, -999.0));
    /// assert!(gradient.par_scaled_add_sum_to(-1.0, &mut Array1::zeros(2)).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient.add_(delta.sum_to_size(gradient.shape), alpha=-1)` in PyTorch.
    fn par_scaled_add_sum_to<E: Dimension>(&self, factor: A, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: Clone + Zero + Mul<Output = A> + Send + Sync,
    {
        sums::sum_to_out(self.as_array_ref(), out, Store::adding_scaled(&factor), Threads)
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> ParSum<A, D> for T {}
