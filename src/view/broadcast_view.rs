//! Broadcasts of a view that is given away or changed, and so keep the lifetime of its data.

use super::raw::broadcast_data;
use super::stretch;
use crate::error::BroadcastError;
use crate::sealed::Sealed;
use crate::shape::{Placeholder, TargetShape};
use ndarray::{ArrayView, DimMax, Dimension};

/// Broadcasting a view by value or in place: the result lives as long as the data.
///
/// Sealed; implemented for `ArrayView`.
pub trait BroadcastView<'a, A, D: Dimension>: Sealed {
    /// [`broadcast_to`](super::BroadcastTo::broadcast_to) by value, so that a function can return the result.
    ///
    /// # Shapes
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to): aligned at the right, size 1 stretches, -1 keeps.
    ///
    /// # Errors
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, ArrayView2};
    /// use ndarray_broadcast::{prelude::*, BroadcastError};
    ///
    /// fn as_rows(x: &Array1<f64>, n: usize) -> Result<ArrayView2<'_, f64>, BroadcastError> {
    ///     x.view().into_broadcast_to((n, -1))
    /// }
    /// let x = array![1.0, 2.0];
    /// assert_eq!(as_rows(&x, 2)?, array![[1.0, 2.0], [1.0, 2.0]]);
    /// assert!(x.view().into_broadcast_to([3]).is_err());
    /// # Ok::<(), BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to). Elsewhere views count references, so there is no such difference.
    fn into_broadcast_to<T: TargetShape>(self, target: T)
    -> Result<ArrayView<'a, A, T::Dim>, BroadcastError>;

    /// [`broadcast_to`](super::BroadcastTo::broadcast_to) that changes the view itself; it stays as it was on an error.
    ///
    /// # Shapes
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to). The view's type keeps its number of axes, so a
    /// view of a fixed number takes targets of as many axes; a dynamic one takes any.
    ///
    /// # Errors
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[1], [2]];
    /// let mut v = x.view();
    /// v.broadcast_in_place((2, 3))?;
    /// assert_eq!(v, array![[1, 1, 1], [2, 2, 2]]);
    /// assert!(v.broadcast_in_place((4, 3)).is_err());
    /// assert_eq!(v.dim(), (2, 3));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// Poplar `popops::broadcastToMatch(a, shape)`, which changes its tensor handle (and in part even
    /// when it throws; this does not). -1 is allowed beyond Poplar.
    #[doc(alias = "broadcastToMatch")]
    fn broadcast_in_place<T: TargetShape>(&mut self, target: T) -> Result<(), BroadcastError>
    where
        T::Dim: DimMax<D, Output = D>;
}

impl<'a, A, D: Dimension> BroadcastView<'a, A, D> for ArrayView<'a, A, D> {
    #[inline]
    fn into_broadcast_to<T: TargetShape>(
        self,
        target: T,
    ) -> Result<ArrayView<'a, A, T::Dim>, BroadcastError> {
        stretch(self.shape(), &target, Placeholder::Keeps, |shape| broadcast_data(&self, shape))
    }

    #[inline]
    fn broadcast_in_place<T: TargetShape>(&mut self, target: T) -> Result<(), BroadcastError>
    where
        T::Dim: DimMax<D, Output = D>,
    {
        let view = stretch(self.shape(), &target, Placeholder::Keeps, |shape| broadcast_data(self, shape))?;
        *self = view.into_dimensionality().expect("`D` can hold as many axes as the target has");
        Ok(())
    }
}
