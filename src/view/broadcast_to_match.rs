//! Poplar's rule, which is NumPy's: arrays stretch to match each other.

use super::broadcast_arrays::joint_views;
use super::raw::broadcast_data;
use super::{AsArrayRef, Operands, stretch};
use crate::error::Result;
use crate::shape::{Placeholder, TargetShape, sizes_mut};
use ndarray::{ArrayRef, ArrayView, DimMax, Dimension};

/// The dimension type of the joint shape of two and of three arrays.
type JointDim<D, E> = <D as DimMax<E>>::Output;
type JointDim3<D, E, F> = JointDim<JointDim<D, E>, F>;

/// Two and three views of their joint shape.
type Match<'a, 'b, A, B, D, E> = (ArrayView<'a, A, JointDim<D, E>>, ArrayView<'b, B, JointDim<D, E>>);
type Match3<'a, 'b, 'c, A, B, C, D, E, F> = (
    ArrayView<'a, A, JointDim3<D, E, F>>,
    ArrayView<'b, B, JointDim3<D, E, F>>,
    ArrayView<'c, C, JointDim3<D, E, F>>,
);

/// Broadcasting arrays to match a shape or each other, on every kind of array.
///
/// Sealed; implemented for every kind of array.
pub trait BroadcastToMatch<A, D: Dimension>: AsArrayRef<A, D> {
    /// Views of both arrays with the same number of axes: the shorter shape gets leading axes of size 1.
    ///
    /// # Shapes
    /// `[3, 1]` and `[4]` become `[3, 1]` and `[1, 4]`. No size changes, so every pair of shapes has a result.
    ///
    /// # Errors
    /// None.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b) = (Array2::<f64>::zeros((3, 1)), array![1, 2]);
    /// let (x, y) = a.expand_to_match_ranks(&b);
    /// assert_eq!((x.dim(), y.dim()), ((3, 1), (1, 2)));
    /// ```
    ///
    /// # Equivalents
    /// Poplar `poputil::expandToMatchRanks(a, b)`; NumPy `numpy.atleast_2d` and its siblings for one array.
    #[doc(alias = "expandToMatchRanks")]
    #[must_use]
    #[inline]
    fn expand_to_match_ranks<'a, 'b, B, E: Dimension>(
        &'a self,
        other: &'b ArrayRef<B, E>,
    ) -> Match<'a, 'b, A, B, D, E>
    where
        A: 'a,
        D: DimMax<E> + 'a,
    {
        let array = self.as_array_ref();
        let ndim = array.ndim().max(other.ndim());
        (expand_rank(array, ndim), expand_rank(other, ndim))
    }

    /// A view of the array stretched to `shape`.
    ///
    /// # Shapes
    /// Aligned at the right, each axis of the array has the size in `shape` or is 1; `shape` may have
    /// more axes. The result has as many axes as `shape`: a fixed number for arrays, tuples and fixed
    /// dimensions, a dynamic one for slices, `Vec` and `IxDyn`.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size (-1 is no placeholder here, see
    /// [`broadcast_to`](super::BroadcastTo::broadcast_to)) or one above `isize::MAX`;
    /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where `shape` has fewer axes than the array;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in the array;
    /// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero sizes multiply past `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, ArrayView3};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = array![[1.0], [2.0], [3.0]];
    /// let v: ArrayView3<f64> = a.broadcast_to_match_shape((2, 3, 4))?;
    /// assert_eq!(v.strides(), [0, 1, 0]);
    /// assert_eq!(
    ///     a.broadcast_to_match_shape([4]).unwrap_err().to_string(),
    ///     "cannot broadcast shape [3, 1] to [4]: the target has 1 axis, expected at least 2",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// Poplar `popops::broadcastToMatch(a, shape)`, `numpy.broadcast_to(a, shape)`.
    #[doc(alias = "broadcastToMatch")]
    #[inline]
    fn broadcast_to_match_shape<'a, T: TargetShape>(&'a self, shape: T) -> Result<ArrayView<'a, A, T::Dim>>
    where
        A: 'a,
        D: 'a,
    {
        let array = self.as_array_ref();
        stretch(array.shape(), &shape, Placeholder::Refused, |shape| array.broadcast(shape))
    }

    /// Stretches both arrays to their joint shape.
    ///
    /// # Shapes
    /// Aligned at the right; a missing axis counts as size 1; the joint size of an axis is the one
    /// size that is not 1, else 1. So 0 with 1 is 0. The views have a fixed number of axes if
    /// both arrays have.
    ///
    /// # Errors
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis has two sizes that are not 1, 0 included;
    /// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero joint sizes multiply past `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b) = (array![[1.0], [2.0]], array![10, 20, 30]);
    /// let (x, y) = a.broadcast_to_match(&b)?;
    /// assert_eq!(x, array![[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]);
    /// assert_eq!(y, array![[10, 20, 30], [10, 20, 30]]);
    /// assert!(a.broadcast_to_match(&array![[1, 2], [3, 4], [5, 6]]).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// Poplar `popops::broadcastToMatch(a, b)`, `numpy.broadcast_arrays(a, b)`,
    /// `torch.broadcast_tensors(a, b)`. [`broadcast_arrays`](crate::broadcast_arrays) takes more arrays.
    #[doc(alias = "broadcastToMatch")]
    #[inline]
    fn broadcast_to_match<'a, 'b, B, E: Dimension>(
        &'a self,
        other: &'b ArrayRef<B, E>,
    ) -> Result<Match<'a, 'b, A, B, D, E>>
    where
        A: 'a,
        D: DimMax<E> + 'a,
    {
        (self.as_array_ref(), other).views()
    }

    /// Stretches three arrays to their joint shape.
    ///
    /// # Shapes
    /// As [`broadcast_to_match`](Self::broadcast_to_match), for three.
    ///
    /// # Errors
    /// As [`broadcast_to_match`](Self::broadcast_to_match).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{arr0, array};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, c) = (array![[1.0], [2.0]], array![10, 20, 30], arr0(true));
    /// let (x, y, z) = a.broadcast_to_match3(&b, &c)?;
    /// assert_eq!([x.dim(), y.dim(), z.dim()], [(2, 3); 3]);
    /// assert_eq!(
    ///     a.broadcast_to_match3(&b, &array![1, 2]).unwrap_err().to_string(),
    ///     "cannot broadcast shapes [2, 1], [3] and [2] together: \
    ///      axis 1 has sizes 3 and 2 (shapes 1 and 2), expected equal sizes or 1",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// Poplar `popops::broadcastToMatch(a, b, c)`; in the other systems as for two.
    #[doc(alias = "broadcastToMatch")]
    #[inline]
    fn broadcast_to_match3<'a, 'b, 'c, B, E: Dimension, C, F: Dimension>(
        &'a self,
        second: &'b ArrayRef<B, E>,
        third: &'c ArrayRef<C, F>,
    ) -> Result<Match3<'a, 'b, 'c, A, B, C, D, E, F>>
    where
        A: 'a,
        D: DimMax<E> + 'a,
        JointDim<D, E>: DimMax<F>,
    {
        (self.as_array_ref(), second, third).views()
    }

    /// Whether [`broadcast_to_match`](Self::broadcast_to_match) succeeds.
    ///
    /// # Shapes
    /// Any two.
    ///
    /// # Errors
    /// None: the result is `false` for incompatible shapes and for a joint shape that overflows.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// assert!(array![[1], [2]].can_broadcast_to_match(&array![1.0, 2.0, 3.0]));
    /// assert!(!array![1, 2].can_broadcast_to_match(&array![1.0, 2.0, 3.0]));
    /// ```
    ///
    /// # Equivalents
    /// Poplar `popops::canBroadcastToMatch(a, b)`, except for size 0 and overflow, where Poplar's test
    /// and operation disagree.
    #[doc(alias = "canBroadcastToMatch")]
    #[must_use]
    #[inline]
    fn can_broadcast_to_match<B, E: Dimension>(&self, other: &ArrayRef<B, E>) -> bool
    where
        D: DimMax<E>,
    {
        self.broadcast_to_match(other).is_ok()
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> BroadcastToMatch<A, D> for T {}

/// The array with leading axes of size 1, `ndim` axes in all.
#[inline]
fn expand_rank<A, D: Dimension, E: Dimension>(array: &ArrayRef<A, D>, ndim: usize) -> ArrayView<'_, A, E> {
    let mut shape = E::zeros(ndim);
    let (leading, aligned) = sizes_mut(&mut shape).split_at_mut(ndim - array.ndim());
    leading.fill(1);
    aligned.copy_from_slice(array.shape());
    array.broadcast(shape).expect("nothing is stretched")
}

/// [`broadcast_to_match`](BroadcastToMatch::broadcast_to_match) in place: changes both views, or neither
/// if there is an error.
///
/// # Shapes
/// As [`broadcast_to_match`](BroadcastToMatch::broadcast_to_match). A view keeps its type, so
/// both views have the same dimension type.
///
/// # Errors
/// As [`broadcast_to_match`](BroadcastToMatch::broadcast_to_match).
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::broadcast_to_match_in_place;
///
/// let (a, b) = (array![[1.0], [2.0]], array![[10, 20, 30]]);
/// let (mut x, mut y) = (a.view(), b.view());
/// broadcast_to_match_in_place(&mut x, &mut y)?;
/// assert_eq!((x.dim(), y.dim()), ((2, 3), (2, 3)));
///
/// let mut z = a.view();
/// assert!(broadcast_to_match_in_place(&mut z, &mut array![[1], [2], [3]].view()).is_err());
/// assert_eq!(z.dim(), (2, 1));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// Poplar `popops::broadcastToMatch(a, b)`, which changes its arguments, some of them even when it throws.
#[doc(alias = "broadcastToMatch")]
#[inline]
pub fn broadcast_to_match_in_place<A, B, D: Dimension>(
    a: &mut ArrayView<'_, A, D>,
    b: &mut ArrayView<'_, B, D>,
) -> Result<()> {
    (*a, *b) = joint_views(&[a.shape(), b.shape()], |joint: D| {
        Some((broadcast_data(a, joint.clone())?, broadcast_data(b, joint)?))
    })?;
    Ok(())
}

/// [`broadcast_to_match3`](BroadcastToMatch::broadcast_to_match3) in place: changes all three views, or
/// none if there is an error.
///
/// # Shapes
/// As [`broadcast_to_match_in_place`], for three.
///
/// # Errors
/// As [`broadcast_to_match`](BroadcastToMatch::broadcast_to_match).
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::broadcast_to_match3_in_place;
///
/// let (a, b, c) = (array![[1.0], [2.0]], array![[10, 20, 30]], array![[true]]);
/// let (mut x, mut y, mut z) = (a.view(), b.view(), c.view());
/// broadcast_to_match3_in_place(&mut x, &mut y, &mut z)?;
/// assert_eq!([x.dim(), y.dim(), z.dim()], [(2, 3); 3]);
///
/// let (mut x, mut y, mut w) = (a.view(), b.view(), array![[1], [2], [3]]);
/// assert!(broadcast_to_match3_in_place(&mut x, &mut y, &mut w.view()).is_err());
/// assert_eq!((x.dim(), y.dim()), ((2, 1), (1, 3)));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// Poplar `popops::broadcastToMatch(a, b, c)`, as for two.
#[doc(alias = "broadcastToMatch")]
#[inline]
pub fn broadcast_to_match3_in_place<A, B, C, D: Dimension>(
    a: &mut ArrayView<'_, A, D>,
    b: &mut ArrayView<'_, B, D>,
    c: &mut ArrayView<'_, C, D>,
) -> Result<()> {
    (*a, *b, *c) = joint_views(&[a.shape(), b.shape(), c.shape()], |joint: D| {
        let (a, b) = (broadcast_data(a, joint.clone())?, broadcast_data(b, joint.clone())?);
        Some((a, b, broadcast_data(c, joint)?))
    })?;
    Ok(())
}
