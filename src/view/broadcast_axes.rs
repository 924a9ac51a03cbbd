//! nGraph's rule: the caller names the new axes, and all other sizes must be equal.

use super::AsArrayRef;
use super::raw::place;
use crate::error::Result;
use crate::shape::{Axes, TargetShape, target_along_axes};
use ndarray::{ArrayRef, ArrayView, Dimension};

/// Broadcasting along named new axes, on every kind of array.
///
/// Sealed; implemented for every kind of array.
pub trait BroadcastAxes<A, D: Dimension>: AsArrayRef<A, D> {
    /// A view of shape `shape` in which the array is repeated along `axes`.
    ///
    /// # Shapes
    /// `shape` without `axes` is exactly the array's shape: axes of size 1 do not stretch, and nothing
    /// is aligned. Along `axes` any size is allowed, 0 and 1 included. Without axes, the view is that of the
    /// array itself. A negative axis counts from the end of `shape`.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size in `shape` or one above `isize::MAX`;
    /// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that `shape` does not have;
    /// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis in anything but an [`AxisSet`](crate::AxisSet);
    /// [`AxisCount`](crate::ErrorKind::AxisCount) where `shape` has more or fewer axes than the array and `axes` together;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where the sizes of an axis differ;
    /// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero sizes multiply past `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Axis};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = array![1, 2, 3];
    /// assert_eq!(a.broadcast_axes((2, 3), [0])?, array![[1, 2, 3], [1, 2, 3]]);
    /// assert_eq!(a.broadcast_axes((3, 2), Axis(1))?, array![[1, 1], [2, 2], [3, 3]]);
    /// assert_eq!(a.broadcast_axes((3, 2), -1)?, array![[1, 1], [2, 2], [3, 3]]);
    /// assert_eq!(
    ///     a.broadcast_axes((2, 4), [0]).unwrap_err().to_string(),
    ///     "cannot broadcast shape [3] along axes [0] to [2, 4]: axis 1 has sizes 3 and 4, expected equal sizes",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// nGraph `op::Broadcast(arg, shape, broadcast_axes)`, the origin of this rule; the explicit mode of
    /// OpenVINO's `Broadcast`; `numpy.broadcast_to(numpy.expand_dims(a, axes), shape)`, which also
    /// stretches size 1. To add an axis of size 1 (`unsqueeze`, `newaxis`), call ndarray's `insert_axis`; for `squeeze`, its
    /// `remove_axis`.
    #[inline]
    fn broadcast_axes<'a, T: TargetShape, X: Axes>(
        &'a self,
        shape: T,
        axes: X,
    ) -> Result<ArrayView<'a, A, T::Dim>>
    where
        D: 'a,
    {
        let array = self.as_array_ref();
        let (shape, new) = target_along_axes(array.shape(), &shape, &axes)?;
        Ok(place(array, shape, new.unnamed()))
    }

    /// [`broadcast_axes`](Self::broadcast_axes) to the shape of `like`, whose elements are not read.
    ///
    /// # Shapes
    /// `like`'s shape without `axes` is exactly the array's shape.
    ///
    /// # Errors
    /// As [`broadcast_axes`](Self::broadcast_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (bias, batch) = (array![0.5, 1.5], Array2::<f32>::zeros((2, 3)));
    /// assert_eq!(bias.broadcast_like(&batch, 1)?, array![[0.5, 0.5, 0.5], [1.5, 1.5, 1.5]]);
    /// assert!(bias.broadcast_like(&batch, 0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// nGraph `op::BroadcastLike(arg, like_arg, initial_broadcast_axes)`.
    #[inline]
    fn broadcast_like<'a, B, E, X>(&'a self, like: &ArrayRef<B, E>, axes: X) -> Result<ArrayView<'a, A, E>>
    where
        D: 'a,
        E: Dimension,
        X: Axes,
    {
        self.broadcast_axes(like, axes)
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> BroadcastAxes<A, D> for T {}
