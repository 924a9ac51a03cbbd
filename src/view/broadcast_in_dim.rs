//! XLA's rule: the caller places every axis of the array. `shape::placed` has the rule, and `Reduce::sum_in_dim` is the
//! adjoint.

use super::AsArrayRef;
use super::raw::place;
use crate::error::Result;
use crate::shape::{Axes, TargetShape, target_in_dim};
use ndarray::{ArrayView, Dimension};

/// Broadcasting with a place for each axis, on every kind of array.
///
/// Sealed; implemented for every kind of array.
pub trait BroadcastInDim<A, D: Dimension>: AsArrayRef<A, D> {
    /// A view of shape `shape` in which axis `i` of the array is axis `axes[i]`.
    ///
    /// Its adjoint is [`sum_in_dim`](crate::Reduce::sum_in_dim); the rule for shapes alone is
    /// [`infer_in_dim`](crate::partial::infer_in_dim).
    ///
    /// # Shapes
    /// `axes` has one entry for each axis of the array. The entries are distinct; if they are not ascending, the view is
    /// transposed. Axis `axes[i]` of `shape` has the size of axis `i` of the array, or that axis has size 1 and stretches.
    /// Along all other axes the array is repeated. A negative axis counts from the end of `shape`. For an array without axes,
    /// `axes` is `[]`.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size in `shape` or one above `isize::MAX`;
    /// [`AxisCount`](crate::ErrorKind::AxisCount) where `axes` has more or fewer entries than the array has axes;
    /// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that `shape` does not have;
    /// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in the array;
    /// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero sizes multiply past `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = array![[1, 2]];
    /// // axis 0 goes to axis 2 and stretches from 1 to 3, axis 1 goes to axis 0
    /// let v = a.broadcast_in_dim((2, 1, 3), [2, 0])?;
    /// assert_eq!(v, array![[[1, 1, 1]], [[2, 2, 2]]]);
    /// assert_eq!(
    ///     a.broadcast_in_dim((1, 3), [0, 1]).unwrap_err().to_string(),
    ///     "cannot broadcast shape [1, 2] with its axes at [0, 1] of [1, 3]: \
    ///      axis 1 has sizes 2 and 3, expected equal sizes or 1 in the array",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// XLA and StableHLO `broadcast_in_dim`, the origin of this rule; JAX `lax.broadcast_in_dim`. einops
    /// `repeat(a, "i j -> j k i", k=3)` is `a.broadcast_in_dim(shape, [2, 0])`. Where nothing is repeated (`rearrange`,
    /// `movedim`, `permute`), call ndarray's `permuted_axes`.
    #[inline]
    fn broadcast_in_dim<'a, T: TargetShape, X: Axes>(
        &'a self,
        shape: T,
        axes: X,
    ) -> Result<ArrayView<'a, A, T::Dim>>
    where
        D: 'a,
    {
        let array = self.as_array_ref();
        let shape = target_in_dim(array.shape(), &shape, &axes)?;
        let ndim = shape.ndim();
        Ok(place(array, shape, (0..array.ndim()).map(|i| axes.axis(i, ndim))))
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> BroadcastInDim<A, D> for T {}
