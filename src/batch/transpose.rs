//! Transposed bases.

use super::{BaseRank, Batch};
use crate::shape::LessAxes;
use ndarray::{Dimension, Ix2};

impl<A, D: Dimension, B: BaseRank + LessAxes<Ix2>> Batch<'_, A, D, B> {
    /// The view with the last two base axes swapped, which transposes each matrix.
    ///
    /// # Shapes
    /// `(5, 2; 3, 4)` becomes `(5, 2; 4, 3)`. The number of base axes is fixed and at least two. If it is dynamic,
    /// swap the axes of the array and then make the batch.
    ///
    /// # Errors
    /// None.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (m, v) = (array![[[1, 2, 3], [4, 5, 6]]], array![1, 10]);
    /// let turned = m.batch::<Ix2>()?.transpose();
    /// assert_eq!(turned.into_view(), array![[[1, 4], [2, 5], [3, 6]]]);
    /// assert_eq!(turned.matvec(&v.batch::<Ix1>()?)?, v.batch::<Ix1>()?.vecmat(&m.batch::<Ix2>()?)?);
    /// assert!(m.batch::<Ix2>()?.matvec(&v.batch::<Ix1>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// A vector does not have two axes:
    /// ```compile_fail,E0277
    /// # use ndarray::{array, Ix1};
    /// # use ndarray_broadcast::prelude::*;
    /// let turned = array![1, 2].batch::<Ix1>().unwrap().transpose();
    /// ```
    ///
    /// # Equivalents
    /// `numpy.matrix_transpose(m)`, PyTorch `m.mT`, `transpose` of NEML2's tensors.
    #[doc(alias = "mT")]
    #[doc(alias = "swapaxes")]
    #[inline]
    pub fn transpose(self) -> Self {
        let (base, mut view) = (self.base_ndim(), self.into_view());
        let last = view.ndim() - 1;
        view.swap_axes(last - 1, last);
        Self::known(view, base)
    }
}
