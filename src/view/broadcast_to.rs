//! MindSpore's rule: a target shape, where -1 keeps the size of an axis.

use super::{AsArrayRef, stretch};
use crate::error::Result;
use crate::shape::{Placeholder, TargetShape, checked_len, resolved_dim, sizes};
use ndarray::{ArrayView, Dimension};

/// Broadcasting to a target shape with -1 placeholders, on every kind of array.
///
/// Sealed; implemented for every kind of array.
pub trait BroadcastTo<A, D: Dimension>: AsArrayRef<A, D> {
    /// A view of the array stretched to `target`, where -1 keeps the size of the array's axis.
    ///
    /// # Shapes
    /// Aligned at the right, each axis of the array has the target's size or is 1, or the target has
    /// -1 there; the target may have more axes. The result has as many axes as the target: a fixed
    /// number for arrays, tuples and fixed dimensions, a dynamic one for slices, `Vec` and `IxDyn`.
    /// `[1]` to `[0]` is an empty view. An array without axes goes to every target without -1.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a size below -1 or above `isize::MAX`;
    /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where the target has fewer axes than the array;
    /// [`PlaceholderOnNewAxis`](crate::ErrorKind::PlaceholderOnNewAxis) for a -1 where the array has no axis;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in the array;
    /// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero sizes multiply past `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, ArrayView2};
    /// use ndarray_broadcast::{broadcast_shapes, prelude::*};
    ///
    /// let x = array![[1.0], [2.0]];
    /// let v: ArrayView2<f64> = x.broadcast_to([-1, 3])?;
    /// assert_eq!(v, array![[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]);
    /// assert_eq!(x.broadcast_to((4, -1, 2))?.dim(), (4, 2, 2));
    /// assert_eq!(x.broadcast_to(&[-1, -1][..])?.shape(), [2, 1]);
    ///
    /// // a shape that stretches too, as in ONNX
    /// let target = [1, 3];
    /// assert_eq!(x.broadcast_to(broadcast_shapes(&[x.shape(), &target])?)?.shape(), [2, 3]);
    ///
    /// assert_eq!(
    ///     x.broadcast_to([-1, 2, 3]).unwrap_err().to_string(),
    ///     "cannot resolve -1 at axis 0 of target [-1, 2, 3]: shape [2, 1] has no such axis",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// The view borrows the array and is read-only, because one element may appear in many
    /// places:
    /// ```compile_fail,E0596
    /// # use ndarray::array;
    /// # use ndarray_broadcast::prelude::*;
    /// let x = array![1.0];
    /// let v = x.broadcast_to([2]).unwrap();
    /// v[[0]] = 2.0;
    /// ```
    /// ```compile_fail,E0505
    /// # use ndarray::array;
    /// # use ndarray_broadcast::prelude::*;
    /// let x = array![1.0];
    /// let v = x.broadcast_to([2]).unwrap();
    /// drop(x);
    /// assert_eq!(v[0], 1.0);
    /// ```
    /// A temporary `x.view()` lives until the end of its statement, and the result cannot outlive it. Call
    /// the method on the array itself, or
    /// [`into_broadcast_to`](super::BroadcastView::into_broadcast_to) on the view:
    /// ```compile_fail,E0716
    /// # use ndarray::array;
    /// # use ndarray_broadcast::prelude::*;
    /// let x = array![1.0];
    /// let v = x.view().broadcast_to([2]).unwrap();
    /// assert_eq!(v[0], 1.0);
    /// ```
    ///
    /// # Equivalents
    /// MindSpore `ops.broadcast_to(x, (-1, 3))`, the origin of this rule; PyTorch `x.expand(-1, 3)`;
    /// `numpy.broadcast_to` without -1. MindSpore refuses some results of size 0 that this method gives.
    ///
    /// ONNX `Expand`, whose shape stretches too, is `x.broadcast_to(broadcast_shapes(&[x.shape(), &target])?)`.
    /// NumPy's `tile` and `repeat` and PyTorch's `repeat_interleave` lengthen axes of any size, which takes a copy: see the
    /// [recipes](crate::guide::recipes#one-line-each).
    #[doc(alias("expand", "expand_as"))]
    #[inline]
    fn broadcast_to<'a, T: TargetShape>(&'a self, target: T) -> Result<ArrayView<'a, A, T::Dim>>
    where
        D: 'a,
    {
        let array = self.as_array_ref();
        stretch(array.shape(), &target, Placeholder::Keeps, |shape| array.broadcast(shape))
    }

    /// Whether [`broadcast_to`](Self::broadcast_to) succeeds.
    ///
    /// # Shapes
    /// As [`broadcast_to`](Self::broadcast_to). Only the array stretches, never the target.
    ///
    /// # Errors
    /// None: the result is `false` for every error of `broadcast_to`, without building the error.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = Array2::<f64>::zeros((2, 1));
    /// assert!(x.can_broadcast_to((7, -1, 3)) && x.can_broadcast_to((2, 0)));
    /// assert!(!x.can_broadcast_to((3, 3)) && !x.can_broadcast_to(2) && !x.can_broadcast_to((-1, 2, 1)));
    /// // the two broadcast together, but `x` does not go to the shape of `row`
    /// let row = array![1.0, 2.0];
    /// assert!(x.can_broadcast_to_match(&row) && !x.can_broadcast_to(row.raw_dim()));
    /// ```
    ///
    /// # Equivalents
    /// None in NumPy and PyTorch: try, and catch the exception.
    #[must_use]
    #[inline]
    fn can_broadcast_to<T: TargetShape>(&self, target: T) -> bool {
        let dim = resolved_dim(self.as_array_ref().shape(), &target, Placeholder::Keeps);
        dim.is_some_and(|dim| checked_len(sizes(&dim)).is_some())
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> BroadcastTo<A, D> for T {}
