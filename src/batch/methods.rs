//! The operations of [`base_op`] as methods.

use super::{BaseDim, Batch, Executor, JoinBatch, base_op};
use crate::error::Result;
use core::ops;
use ndarray::{Array, DimMax, Dimension, Ix0, Ix1, Ix2, LinalgScalar};

/// By hand: `impl<A, …> Batch<'_, A, …> { pub fn add<A2, …>(&self, other: &Batch<'_, A2, …>) -> … }`, for an operator of elements, bounds
/// of the bases `B2` and `B`, and the base of the result.
macro_rules! operators {
    ($($(#[$doc:meta])* $method:ident $Op:ident: $Operator:ident, $B2:path, $B:path, $R:ty;)*) => {
        impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {$(
            $(#[$doc])*
            pub fn $method<A2: Copy, D2: Dimension, B2: $B2>(
                &self,
                other: &Batch<'_, A2, D2, B2>,
            ) -> Result<Array<A::Output, D::Whole>>
            where
                A: Copy + ops::$Operator<A2, Output: Copy>,
                B: $B,
                D: JoinBatch<B, (D2, B2), $R>,
                X: Executor<A::Output, A, A2>,
            {
                self.apply(base_op::$Op, other)
            }
        )*}
    };
}
operators! {
    /// Sums, element by element.
    ///
    /// # Shapes
    /// Batch shapes are aligned at their last axes and broadcast, and separately so are base shapes:
    /// `(5; 3, 3)` and `(2, 1; 3)` give `(2, 5; 3, 3)`.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// // the whole shapes would broadcast too, but with another meaning
    /// let (a, b) = (array![[[1, 2]], [[3, 4]]], array![[10, 20], [30, 40]]); // (2, 1; 2) and (2; 2)
    /// let sums = a.batch::<Ix1>()?.add(&b.batch::<Ix1>()?)?;
    /// assert_eq!(sums, array![[[11, 22], [31, 42]], [[13, 24], [33, 44]]]);
    /// assert_eq!(
    ///     b.batch::<Ix1>()?.add(&array![1, 2, 3].batch::<Ix1>()?).unwrap_err().to_string(),
    ///     "cannot broadcast base shapes [2] of (2; 2) and [3] of (; 3) together: \
    ///      base axis 0 has sizes 2 and 3, expected equal sizes or 1",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `a + b` of NEML2's tensors, from 2.1 on; 2.0 needs equal bases. To check for equal bases, compare `base_shape()`.
    add Add: Add, Dimension, DimMax<B2>, <B as DimMax<B2>>::Output;

    /// Differences, element by element.
    ///
    /// # Shapes
    /// As [`add`](Self::add).
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b) = (array![[1, 2], [3, 4]], array![10, 20]);
    /// assert_eq!(a.batch::<Ix1>()?.sub(&b.batch::<Ix1>()?)?, array![[-9, -18], [-7, -16]]);
    /// assert!(a.batch::<Ix1>()?.sub(&array![1, 2, 3].batch::<Ix1>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `a - b` of NEML2's tensors.
    sub Sub: Sub, Dimension, DimMax<B2>, <B as DimMax<B2>>::Output;

    /// Products, element by element: of equal bases, or a scalar of base `()` times anything.
    ///
    /// # Shapes
    /// As [`add`](Self::add).
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Ix0, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (scale, v) = (array![[2.0], [3.0]], array![[1.0, 2.0, 4.0]]); // (2, 1;) and (1; 3)
    /// let scaled = scale.batch::<Ix0>()?.mul(&v.batch::<Ix1>()?)?;
    /// assert_eq!(scaled, array![[[2.0, 4.0, 8.0]], [[3.0, 6.0, 12.0]]]);
    /// assert!(array![1.0, 2.0].batch::<Ix0>()?.mul(&array![1.0, 2.0, 3.0].batch::<Ix0>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `a * b` of NEML2's `Scalar` with its other tensors.
    mul Mul: Mul, Dimension, DimMax<B2>, <B as DimMax<B2>>::Output;

    /// Quotients, element by element: of equal bases, or anything by a scalar of base `()`.
    ///
    /// # Shapes
    /// As [`add`](Self::add).
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Ix0, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (v, scale) = (array![[1.0, 2.0], [6.0, 8.0]], array![1.0, 2.0]);
    /// assert_eq!(v.batch::<Ix1>()?.div(&scale.batch::<Ix0>()?)?, array![[1.0, 2.0], [3.0, 4.0]]);
    /// assert!(v.batch::<Ix1>()?.div(&array![1.0, 2.0, 3.0].batch::<Ix0>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `a / b` of NEML2's tensors with its `Scalar`.
    div Div: Div, Dimension, DimMax<B2>, <B as DimMax<B2>>::Output;
}

/// By hand: `impl<A, …> Batch<'_, A, …> { pub fn matvec<…>(&self, other: &Batch<'_, A, …>) -> … }`, for bases `Ix2` and `Ix1` and
/// results of base `Ix1`.
macro_rules! products {
    ($($(#[$doc:meta])* $method:ident $Op:ident $B:ident $B2:ident $R:ident;)*) => {
        impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {$(
            $(#[$doc])*
            pub fn $method<D2: Dimension, B2: BaseDim<$B2>>(
                &self,
                other: &Batch<'_, A, D2, B2>,
            ) -> Result<Array<A, D::Whole>>
            where
                A: LinalgScalar,
                B: BaseDim<$B>,
                D: JoinBatch<B, (D2, B2), $R>,
                X: Executor<A, A, A>,
            {
                self.apply(base_op::$Op, other)
            }
        )*}
    };
}
products! {
    /// Matrices times vectors: `(m,n),(n)->(m)`.
    ///
    /// # Shapes
    /// `(2; 6, 6)` and `(1000, 2; 6)` give `(1000, 2; 6)`. A sum of no terms is zero.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Array3, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (c, strain) = (Array3::<f64>::ones((2, 6, 6)), Array3::<f64>::ones((1000, 2, 6)));
    /// let stress = c.batch::<Ix2>()?.matvec(&strain.batch::<Ix1>()?)?;
    /// assert_eq!(stress, Array3::from_elem((1000, 2, 6), 6.0));
    /// let five = Array2::<f64>::ones((2, 5));
    /// assert_eq!(
    ///     c.batch::<Ix2>()?.matvec(&five.batch::<Ix1>()?).unwrap_err().to_string(),
    ///     "cannot apply (m,n),(n)->(m) to (2; 6, 6) and (2; 5): \
    ///      n is 6 at base axis 1 of operand 0 and 5 at base axis 0 of operand 1",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// Bases with other numbers of axes do not compile:
    /// ```compile_fail,E0277
    /// # use ndarray::{array, Ix1};
    /// # use ndarray_broadcast::prelude::*;
    /// let v = array![1.0, 2.0];
    /// v.batch::<Ix1>().unwrap().matvec(&v.batch::<Ix1>().unwrap()).unwrap();
    /// ```
    ///
    /// # Equivalents
    /// `C * strain` of NEML2's `SSR4` and `SR2`; `numpy.matvec(c, strain)`;
    /// `torch.einsum("...mn,...n->...m", c, strain)`.
    #[doc(alias("mv", "dot"))]
    matvec MatVec Ix2 Ix1 Ix1;

    /// Vectors times matrices: `(n),(n,m)->(m)`.
    ///
    /// # Shapes
    /// `(1000, 2; 3)` and `(2; 3, 4)` give `(1000, 2; 4)`. A sum of no terms is zero.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (v, m) = (array![[1, 0], [0, 1]], array![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(v.batch::<Ix1>()?.vecmat(&m.batch::<Ix2>()?)?, array![[1, 2, 3], [4, 5, 6]]);
    /// assert!(v.batch::<Ix1>()?.vecmat(&m.t().batch::<Ix2>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.vecmat(v, m)`, without its conjugation.
    vecmat VecMat Ix1 Ix2 Ix1;

    /// Matrices times matrices: `(m,n),(n,p)->(m,p)`.
    ///
    /// # Shapes
    /// `(5, 1; 2, 3)` and `(4; 3, 6)` give `(5, 4; 2, 6)`. A sum of no terms is zero.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array4, Array3, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b) = (Array4::<f64>::ones((5, 1, 2, 3)), Array3::<f64>::ones((4, 3, 6)));
    /// let products: Array4<f64> = a.batch::<Ix2>()?.matmul(&b.batch::<Ix2>()?)?;
    /// assert_eq!(products, Array4::from_elem((5, 4, 2, 6), 3.0));
    /// assert!(b.batch::<Ix2>()?.matmul(&a.batch::<Ix2>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `a * b` of two of NEML2's `SSR4`; `numpy.matmul(a, b)` of arrays of two axes and more; `torch.bmm`.
    #[doc(alias("bmm", "mm", "dot", "gemm"))]
    matmul MatMul Ix2 Ix2 Ix2;

    /// Inner products of vectors: `(n),(n)->()`. Nothing is conjugated.
    ///
    /// # Shapes
    /// `(1000, 2; 6)` and `(2; 6)` give `(1000, 2;)`. A sum of no terms is zero.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b) = (array![[1, 2], [3, 4]], array![10, 1]);
    /// let inner: Array1<i32> = a.batch::<Ix1>()?.inner(&b.batch::<Ix1>()?)?;
    /// assert_eq!(inner, array![12, 34]);
    /// assert!(a.batch::<Ix1>()?.inner(&array![1].batch::<Ix1>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `a.inner(b)` of NEML2's `SR2`; `numpy.vecdot(a, b)` and `torch.linalg.vecdot`, without their conjugation.
    #[doc(alias("vecdot", "dot"))]
    inner Inner Ix1 Ix1 Ix0;
}

operators! {
    /// Outer products of vectors: `(m),(n)->(m,n)`. Nothing is conjugated.
    ///
    /// # Shapes
    /// `(5, 1; 3)` and `(2; 4)` give `(5, 2; 3, 4)`.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array3, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (a, b) = (array![[1, 2], [3, 4]], array![1, 10, 100]);
    /// let outer: Array3<i32> = a.batch::<Ix1>()?.outer(&b.batch::<Ix1>()?)?;
    /// assert_eq!(outer, array![[[1, 10, 100], [2, 20, 200]], [[3, 30, 300], [4, 40, 400]]]);
    /// let three = array![[1], [2], [3]];
    /// assert!(a.batch::<Ix1>()?.outer(&three.batch::<Ix1>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `a.outer(b)` of NEML2's vectors; `numpy.linalg.outer` for each batch element;
    /// `torch.einsum("...m,...n->...mn", a, b)`.
    outer Outer: Mul, BaseDim<Ix1>, BaseDim<Ix1>, Ix2;
}
