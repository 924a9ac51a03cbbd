//! Operators between the elements of bases, as methods.

use super::{Batch, Executor, JoinBatch, base_op};
use crate::error::Result;
use core::ops;
use ndarray::{Array, DimMax, Dimension};

/// By hand: `impl<A, …> Batch<'_, A, …> { pub fn add<A2, …>(&self, other: &Batch<'_, A2, …>) -> … }`.
macro_rules! operators {
    ($($(#[$doc:meta])* $method:ident $Op:ident;)*) => {
        impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {$(
            $(#[$doc])*
            pub fn $method<A2: Copy, D2: Dimension, B2: Dimension>(
                &self,
                other: &Batch<'_, A2, D2, B2>,
            ) -> Result<Array<A::Output, D::Whole>>
            where
                A: Copy + ops::$Op<A2, Output: Copy>,
                B: DimMax<B2>,
                D: JoinBatch<B, (D2, B2), <B as DimMax<B2>>::Output>,
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
    add Add;

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
    sub Sub;

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
    mul Mul;

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
    div Div;
}
