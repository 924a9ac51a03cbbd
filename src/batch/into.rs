//! The fused operations into existing arrays, as methods.

use super::{BaseOp, Batch, base_op};
use crate::error::BroadcastError;
use ndarray::{ArrayRef, Dimension};

/// A method for each operation.
macro_rules! into_methods {
    ($($(#[$doc:meta])* $name:ident $Op:ident;)*) => {
        impl<A, D: Dimension, B: Dimension> Batch<'_, A, D, B> {$(
            $(#[$doc])*
            #[inline]
            pub fn $name<A2, D2: Dimension, B2: Dimension, E: Dimension>(
                &self,
                other: &Batch<'_, A2, D2, B2>,
                out: &mut ArrayRef<<base_op::$Op as BaseOp<A, A2, B, B2>>::Output, E>,
            ) -> Result<(), BroadcastError>
            where
                base_op::$Op: BaseOp<A, A2, B, B2>,
            {
                self.apply_into(base_op::$Op, other, out)
            }
        )*}
    };
}
into_methods! {
    /// [`add`](Self::add) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`add`](Self::add), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[1, 2], [3, 4]], array![10, 20], Array2::zeros((2, 2)));
    /// a.batch::<Ix1>()?.add_into(&b.batch::<Ix1>()?, &mut out)?;
    /// assert_eq!(out, array![[11, 22], [13, 24]]);
    /// assert!(a.batch::<Ix1>()?.add_into(&b.batch::<Ix1>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`add`](Self::add), with `out=`.
    add_into Add;

    /// [`sub`](Self::sub) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`sub`](Self::sub), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[1, 2], [3, 4]], array![10, 20], Array2::zeros((2, 2)));
    /// a.batch::<Ix1>()?.sub_into(&b.batch::<Ix1>()?, &mut out)?;
    /// assert_eq!(out, array![[-9, -18], [-7, -16]]);
    /// assert!(a.batch::<Ix1>()?.sub_into(&b.batch::<Ix1>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`sub`](Self::sub), with `out=`.
    sub_into Sub;

    /// [`mul`](Self::mul) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`mul`](Self::mul), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[1, 2], [3, 4]], array![10, 20], Array2::zeros((2, 2)));
    /// a.batch::<Ix1>()?.mul_into(&b.batch::<Ix1>()?, &mut out)?;
    /// assert_eq!(out, array![[10, 40], [30, 80]]);
    /// assert!(a.batch::<Ix1>()?.mul_into(&b.batch::<Ix1>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`mul`](Self::mul), with `out=`.
    mul_into Mul;

    /// [`div`](Self::div) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`div`](Self::div), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[10, 40], [30, 80]], array![10, 20], Array2::zeros((2, 2)));
    /// a.batch::<Ix1>()?.div_into(&b.batch::<Ix1>()?, &mut out)?;
    /// assert_eq!(out, array![[1, 2], [3, 4]]);
    /// assert!(a.batch::<Ix1>()?.div_into(&b.batch::<Ix1>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`div`](Self::div), with `out=`.
    div_into Div;

    /// [`matvec`](Self::matvec) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`matvec`](Self::matvec), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[1, 2], [3, 4]], array![[1, 0], [1, 1]], Array2::zeros((2, 2)));
    /// a.batch::<Ix2>()?.matvec_into(&b.batch::<Ix1>()?, &mut out)?;
    /// assert_eq!(out, array![[1, 3], [3, 7]]);
    /// assert!(a.batch::<Ix2>()?.matvec_into(&b.batch::<Ix1>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`matvec`](Self::matvec), with `out=`.
    matvec_into MatVec;

    /// [`vecmat`](Self::vecmat) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`vecmat`](Self::vecmat), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[1, 0], [1, 1]], array![[1, 2], [3, 4]], Array2::zeros((2, 2)));
    /// a.batch::<Ix1>()?.vecmat_into(&b.batch::<Ix2>()?, &mut out)?;
    /// assert_eq!(out, array![[1, 2], [4, 6]]);
    /// assert!(a.batch::<Ix1>()?.vecmat_into(&b.batch::<Ix2>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`vecmat`](Self::vecmat), with `out=`.
    vecmat_into VecMat;

    /// [`matmul`](Self::matmul) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`matmul`](Self::matmul), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[1, 2], [3, 4]], array![[0, 1], [1, 0]], Array2::zeros((2, 2)));
    /// a.batch::<Ix2>()?.matmul_into(&b.batch::<Ix2>()?, &mut out)?;
    /// assert_eq!(out, array![[2, 1], [4, 3]]);
    /// assert!(a.batch::<Ix2>()?.matmul_into(&b.batch::<Ix2>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`matmul`](Self::matmul), with `out=`.
    matmul_into MatMul;

    /// [`inner`](Self::inner) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`inner`](Self::inner), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![[1, 2], [3, 4]], array![10, 1], Array1::zeros(2));
    /// a.batch::<Ix1>()?.inner_into(&b.batch::<Ix1>()?, &mut out)?;
    /// assert_eq!(out, array![12, 34]);
    /// assert!(a.batch::<Ix1>()?.inner_into(&b.batch::<Ix1>()?, &mut Array1::zeros(3)).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`inner`](Self::inner), with `out=`.
    inner_into Inner;

    /// [`outer`](Self::outer) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// As [`outer`](Self::outer), into an array with a shape as for [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b, mut out) = (array![1, 2], array![1, 10], Array2::zeros((2, 2)));
    /// a.batch::<Ix1>()?.outer_into(&b.batch::<Ix1>()?, &mut out)?;
    /// assert_eq!(out, array![[1, 10], [2, 20]]);
    /// assert!(a.batch::<Ix1>()?.outer_into(&b.batch::<Ix1>()?, &mut Array2::zeros((2, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`outer`](Self::outer), with `out=`.
    outer_into Outer;
}
