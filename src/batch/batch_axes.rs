//! Splitting the axes of an array, or of a view by value, into batch and base.

use super::{Batch, Serial};
use crate::error::Result;
use crate::sealed::Sealed;
use crate::shape::LessAxes;
use crate::view::{AsArrayRef, BroadcastView};
use ndarray::{ArrayView, Dim, Dimension, Ix, IxDyn};

/// A number of base axes as a type: `Ix0` to `Ix6`.
///
/// Sealed; a bound for code that is generic over the number of base axes.
///
/// # Examples
/// ```
/// use ndarray::{Array3, Ix1, Ix2, Ix3};
/// use ndarray_broadcast::{bounds::{BaseRank, LessAxes}, prelude::*, BroadcastError};
///
/// fn bases<K: BaseRank>(a: &Array3<f64>) -> Result<usize, BroadcastError>
/// where
///     Ix3: LessAxes<K>,
/// {
///     Ok(a.batch::<K>()?.batch_shape().iter().product())
/// }
/// let a = Array3::<f64>::zeros((5, 2, 6));
/// assert_eq!((bases::<Ix1>(&a)?, bases::<Ix2>(&a)?, bases::<Ix3>(&a)?), (10, 5, 1));
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// NEML2's types `Scalar`, `Vec`, `SR2` and `SSR4`, which include the base shape.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a fixed number of base axes",
    label = "expected `Ix0` to `Ix6`",
    note = "where the number of base axes is only known at run time, use `batch_dyn(k)`"
)]
pub trait BaseRank: Dimension + Sealed {}

impl<const N: usize> BaseRank for Dim<[Ix; N]> where Self: Dimension {}

/// Splitting the axes of an array into batch and base, on every kind of array.
///
/// Sealed; implemented for every kind of array.
pub trait BatchAxes<A, D: Dimension>: AsArrayRef<A, D> {
    /// The array with its last `K` axes as the base and all others as the batch.
    ///
    /// # Shapes
    /// An array of shape `(1000, 2, 6, 6)` as `batch::<Ix2>()` is a batch of 1000 x 2 matrices. Either part may
    /// be `()`: for an array of 6 axes, `batch::<Ix6>()` is a single base and `batch::<Ix0>()` a batch of scalars.
    ///
    /// # Errors
    /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where an array of dynamic rank has fewer than `K` axes.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array3, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let stiffness = Array3::<f64>::zeros((2, 6, 6));
    /// let c = stiffness.batch::<Ix2>()?;
    /// assert_eq!((c.batch_shape(), c.base_shape()), (&[2][..], &[6, 6][..]));
    /// assert_eq!(stiffness.batch::<Ix1>()?.batch_shape(), [2, 6]);
    /// assert_eq!(
    ///     ndarray::ArrayD::<f64>::zeros(vec![3]).batch::<Ix2>().unwrap_err().to_string(),
    ///     "cannot split shape [3] into batch and base of 2 axes: the array has 1 axis, expected at least 2",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// If both numbers of axes are in the types, more base axes than the array has do not compile:
    /// ```compile_fail,E0277
    /// # use ndarray_broadcast::prelude::*;
    /// ndarray::array![1.0, 2.0].batch::<ndarray::Ix2>().unwrap();
    /// ```
    ///
    /// # Equivalents
    /// NEML2 `Tensor(t, batch_dim)`, which counts the batch axes instead; the types `SSR4` and `SR2` fix their base.
    #[doc(alias = "batch_dim")]
    fn batch<'a, K: BaseRank>(&'a self) -> Result<Batch<'a, A, D, K>>
    where
        D: LessAxes<K> + 'a,
    {
        self.as_array_ref().view().into_batch()
    }

    /// [`batch`](Self::batch) with a number of base axes that is only known at run time.
    ///
    /// # Shapes
    /// As [`batch`](Self::batch). Results of operations on such a batch have dynamic rank.
    ///
    /// # Errors
    /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where the array has fewer axes than `base_ndim`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::Array3;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let strain = Array3::<f64>::zeros((1000, 2, 6));
    /// assert_eq!(strain.batch_dyn(1)?.base_shape(), [6]);
    /// assert_eq!(strain.batch_dyn(3)?.batch_shape(), []);
    /// assert!(strain.batch_dyn(4).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// NEML2 `Tensor(t, t.dim() - base_ndim)`.
    fn batch_dyn<'a>(&'a self, base_ndim: usize) -> Result<Batch<'a, A, D, IxDyn>>
    where
        D: 'a,
    {
        self.as_array_ref().view().into_batch_dyn(base_ndim)
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A, D: Dimension> BatchAxes<A, D> for T {}

/// Splitting the axes of a view by value into batch and base: the batch lives as long as the view's data, which outlives a
/// temporary such as `a.t()`.
///
/// Sealed; implemented for `ArrayView`.
pub trait IntoBatch<'a, A, D: Dimension>: BroadcastView<'a, A, D> {
    /// [`batch`](BatchAxes::batch) of a view by value.
    ///
    /// # Shapes
    /// As [`batch`](BatchAxes::batch).
    ///
    /// # Errors
    /// As [`batch`](BatchAxes::batch).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array2, ArrayView2, Ix1, Ix2};
    /// use ndarray_broadcast::{prelude::*, Batch, BroadcastError};
    ///
    /// fn columns<'a>(a: ArrayView2<'a, f64>) -> Result<Batch<'a, f64, Ix2, Ix1>, BroadcastError> {
    ///     a.reversed_axes().into_batch()
    /// }
    /// let a = Array2::<f64>::zeros((6, 1000));
    /// assert_eq!((columns(a.view())?.batch_shape(), columns(a.view())?.base_shape()), (&[1000][..], &[6][..]));
    /// assert!(ndarray::arr0(1.0).into_dyn().view().into_batch::<Ix1>().is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`batch`](BatchAxes::batch).
    fn into_batch<K: BaseRank>(self) -> Result<Batch<'a, A, D, K>>
    where
        D: LessAxes<K>,
    {
        Batch::new(self.into_view(), K::default().ndim(), Serial)
    }

    /// [`batch_dyn`](BatchAxes::batch_dyn) of a view by value.
    ///
    /// # Shapes
    /// As [`batch_dyn`](BatchAxes::batch_dyn).
    ///
    /// # Errors
    /// As [`batch_dyn`](BatchAxes::batch_dyn).
    ///
    /// # Examples
    /// ```
    /// use ndarray::Array2;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = Array2::<f64>::zeros((6, 1000));
    /// let columns = a.t().into_batch_dyn(1)?;
    /// assert_eq!(columns.base_shape(), [6]);
    /// assert!(a.t().into_batch_dyn(3).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`batch_dyn`](BatchAxes::batch_dyn).
    fn into_batch_dyn(self, base_ndim: usize) -> Result<Batch<'a, A, D, IxDyn>> {
        Batch::new(self.into_view(), base_ndim, Serial)
    }
}

impl<'a, A, D: Dimension> IntoBatch<'a, A, D> for ArrayView<'a, A, D> {}
