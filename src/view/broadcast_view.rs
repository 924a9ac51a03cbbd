//! Broadcasts of a view by value or in place, whose results live as long as the data.

use super::raw::{broadcast_data, place_data};
use super::stretch;
use crate::error::Result;
use crate::sealed::Sealed;
use crate::shape::{Axes, Placeholder, TargetShape, target_along_axes, target_in_dim};
use ndarray::{ArrayView, DimMax, Dimension};

/// Broadcasting a view by value or in place: the result lives as long as the data.
///
/// Sealed; implemented for `ArrayView`.
pub trait BroadcastView<'a, A, D: Dimension>: Sealed + Sized {
    #[doc(hidden)]
    fn into_view(self) -> ArrayView<'a, A, D>;

    /// [`broadcast_to`](super::BroadcastTo::broadcast_to) by value, so that a function can return the result.
    ///
    /// # Shapes
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to): aligned at the right, size 1 stretches, -1 keeps the size.
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
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to). Other systems count references, so they need no second form.
    #[inline]
    fn into_broadcast_to<T: TargetShape>(self, target: T) -> Result<ArrayView<'a, A, T::Dim>> {
        let view = self.into_view();
        stretch(view.shape(), &target, Placeholder::Keeps, |shape| broadcast_data(&view, shape))
    }

    /// [`broadcast_axes`](super::BroadcastAxes::broadcast_axes) by value, so that a function can return the result.
    ///
    /// # Shapes
    /// As [`broadcast_axes`](super::BroadcastAxes::broadcast_axes).
    ///
    /// # Errors
    /// As [`broadcast_axes`](super::BroadcastAxes::broadcast_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, ArrayView2};
    /// use ndarray_broadcast::{prelude::*, BroadcastError};
    ///
    /// fn as_columns(x: &Array1<f64>, n: usize) -> Result<ArrayView2<'_, f64>, BroadcastError> {
    ///     x.view().into_broadcast_axes((x.len(), n), -1)
    /// }
    /// assert_eq!(as_columns(&array![1.0, 2.0], 3)?, array![[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]);
    /// let (matrix, batch) = (array![[1, 2], [3, 4]], array![[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
    /// let rows = matrix.row(1).into_broadcast_axes(&batch, 0)?; // of a temporary row
    /// assert_eq!(rows, array![[3, 4], [3, 4], [3, 4]]);
    /// assert!(array![1.0].view().into_broadcast_axes((2, 2), 0).is_err());
    /// # Ok::<(), BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`broadcast_axes`](super::BroadcastAxes::broadcast_axes).
    #[inline]
    fn into_broadcast_axes<T: TargetShape, X: Axes>(
        self,
        shape: T,
        axes: X,
    ) -> Result<ArrayView<'a, A, T::Dim>> {
        let view = self.into_view();
        let (shape, new) = target_along_axes(view.shape(), &shape, &axes)?;
        Ok(place_data(&view, shape, new.unnamed()))
    }

    /// [`broadcast_in_dim`](super::BroadcastInDim::broadcast_in_dim) by value, so that a function can return the
    /// result.
    ///
    /// # Shapes
    /// As [`broadcast_in_dim`](super::BroadcastInDim::broadcast_in_dim).
    ///
    /// # Errors
    /// As [`broadcast_in_dim`](super::BroadcastInDim::broadcast_in_dim).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let matrix = array![[1, 2], [3, 4]];
    /// let turned = matrix.slice(ndarray::s![..1, ..]).into_broadcast_in_dim((2, 3), [1, 0])?;
    /// assert_eq!(turned, array![[1, 1, 1], [2, 2, 2]]);
    /// assert!(matrix.view().into_broadcast_in_dim((2, 3), [1, 0]).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`broadcast_in_dim`](super::BroadcastInDim::broadcast_in_dim).
    #[inline]
    fn into_broadcast_in_dim<T: TargetShape, X: Axes>(
        self,
        shape: T,
        axes: X,
    ) -> Result<ArrayView<'a, A, T::Dim>> {
        let view = self.into_view();
        let shape = target_in_dim(view.shape(), &shape, &axes)?;
        let (own, ndim) = (view.ndim(), shape.ndim());
        Ok(place_data(&view, shape, (0..own).map(|i| axes.axis(i, ndim))))
    }

    /// [`broadcast_to`](super::BroadcastTo::broadcast_to) in place: changes the view itself, except on an error.
    ///
    /// # Shapes
    /// As [`broadcast_to`](super::BroadcastTo::broadcast_to). A view keeps its type: one of fixed rank
    /// needs a target with the same number of axes, one of dynamic rank takes any.
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
    /// Poplar `popops::broadcastToMatch(a, shape)`, which changes its tensor handle, in part even
    /// when it throws. Poplar has no -1.
    #[doc(alias = "broadcastToMatch")]
    fn broadcast_in_place<T: TargetShape>(&mut self, target: T) -> Result<()>
    where
        T::Dim: DimMax<D, Output = D>;
}

impl<'a, A, D: Dimension> BroadcastView<'a, A, D> for ArrayView<'a, A, D> {
    #[inline]
    fn into_view(self) -> ArrayView<'a, A, D> {
        self
    }

    #[inline]
    fn broadcast_in_place<T: TargetShape>(&mut self, target: T) -> Result<()>
    where
        T::Dim: DimMax<D, Output = D>,
    {
        let view = stretch(self.shape(), &target, Placeholder::Keeps, |shape| broadcast_data(self, shape))?;
        *self = view.into_dimensionality().expect("`D` can hold as many axes as the target has");
        Ok(())
    }
}
