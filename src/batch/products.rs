//! Products of arrays and of batches: the operations of [`base_op`] whose bases follow from their names.

use super::{BaseDim, BaseOp, BaseRank, Batch, Executor, JoinBatch, Parallel, Serial, base_op};
use crate::error::Result;
use crate::map::Par;
use crate::sealed::Sealed;
use core::ops::Mul;
use ndarray::{Array, ArrayBase, ArrayRef, Data, Dimension, Ix0, Ix1, Ix2, LinalgScalar};

/// The products, for a macro that makes methods of them: the operation, a type parameter for the elements of the right operand,
/// these elements and those of the result, their bounds, and the bases of the operands and of the result.
macro_rules! products {
    ($methods:ident) => {
        $methods! {
            /// Matrices times matrices: `(m,n),(n,p)->(m,p)`.
            ///
            /// # Shapes
            /// `(5, 1; 2, 3)` and `(4; 3, 6)` give `(5, 4; 2, 6)`: the batches, before the semicolon, are aligned at their last axes and
            /// broadcast. A sum of no terms is zero. The number of axes of the result is fixed if those of both operands are.
            ///
            /// # Errors
            /// In this order:
            /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where an array of dynamic rank has fewer axes than its matrix or vector;
            /// [`BaseAxes`](crate::ErrorKind::BaseAxes) where a base of dynamic rank has another number of axes;
            /// [`BaseSymbol`](crate::ErrorKind::BaseSymbol) where sizes do not fit the signature;
            /// [`Incompatible`](crate::ErrorKind::Incompatible) where a batch axis has two sizes that are not 1;
            /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
            ///
            /// # Examples
            /// ```
            /// use ndarray::{array, Array2, Array3, Ix2};
            /// use ndarray_broadcast::prelude::*;
            ///
            /// let (x, w) = (Array3::<f64>::ones((7, 3, 4)), Array2::<f64>::ones((4, 5)));
            /// let y: Array3<f64> = x.matmul(&w)?;
            /// assert_eq!(y, Array3::from_elem((7, 3, 5), 4.0));
            /// assert_eq!(x.batch::<Ix2>()?.matmul(&w.batch::<Ix2>()?)?, y); // the same with stated bases
            /// let of_w: Array2<f64> = x.view().permuted_axes([0, 2, 1]).matmul(&y)?.sum_to(&w)?; // of half the squares of y
            /// assert_eq!(of_w, Array2::from_elem((4, 5), 84.0));
            /// assert_eq!(
            ///     x.matmul(&w.t()).unwrap_err().to_string(),
            ///     "cannot apply (m,n),(n,p)->(m,p) to (7; 3, 4) and (; 5, 4): \
            ///      n is 4 at base axis 1 of operand 0 and 5 at base axis 0 of operand 1",
            /// );
            /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
            /// ```
            /// A vector has one axis, and its products have other names: [`matvec`](Self::matvec) and [`vecmat`](Self::vecmat).
            /// ```compile_fail,E0277
            /// # use ndarray_broadcast::prelude::*;
            /// ndarray::array![1.0, 2.0].matmul(&ndarray::array![[1.0], [2.0]]).unwrap();
            /// ```
            ///
            /// # Equivalents
            /// `numpy.matmul(x, w)` and `x @ w` of arrays of two axes and more; `torch.matmul`, `torch.bmm`; ndarray's `dot` of two
            /// matrices; `a * b` of two of NEML2's `SSR4`.
            #[doc(alias("bmm", "mm", "dot", "gemm", "linear"))]
            matmul MatMul [] A -> A where [A: LinalgScalar], Ix2 Ix2 Ix2;

            /// Matrices times vectors: `(m,n),(n)->(m)`.
            ///
            /// # Shapes
            /// `(2; 6, 6)` and `(1000, 2; 6)` give `(1000, 2; 6)`, as [`matmul`](Self::matmul).
            ///
            /// # Errors
            /// As [`matmul`](Self::matmul).
            ///
            /// # Examples
            /// ```
            /// use ndarray::{array, Array3, Ix1, Ix2};
            /// use ndarray_broadcast::prelude::*;
            ///
            /// let (stiffness, strain) = (Array3::<f64>::ones((2, 6, 6)), Array3::<f64>::ones((1000, 2, 6)));
            /// let stress: Array3<f64> = stiffness.matvec(&strain)?;
            /// assert_eq!(stress, Array3::from_elem((1000, 2, 6), 6.0));
            /// assert!(stiffness.matvec(&array![1.0, 2.0]).is_err());
            /// let (stiffness, strain) = (stiffness.batch::<Ix2>()?, strain.batch::<Ix1>()?);
            /// assert_eq!(stiffness.matvec(&strain)?, stress);
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
            /// `numpy.matvec(c, strain)`; `torch.einsum("...mn,...n->...m", c, strain)`; `C * strain` of NEML2's `SSR4` and `SR2`.
            #[doc(alias("mv", "dot"))]
            matvec MatVec [] A -> A where [A: LinalgScalar], Ix2 Ix1 Ix1;

            /// Vectors times matrices: `(n),(n,m)->(m)`.
            ///
            /// # Shapes
            /// `(1000, 2; 3)` and `(2; 3, 4)` give `(1000, 2; 4)`, as [`matmul`](Self::matmul).
            ///
            /// # Errors
            /// As [`matmul`](Self::matmul).
            ///
            /// # Examples
            /// ```
            /// use ndarray::{array, Ix1, Ix2};
            /// use ndarray_broadcast::prelude::*;
            ///
            /// let (v, m) = (array![1, 10], array![[1, 2, 3], [4, 5, 6]]);
            /// assert_eq!(v.vecmat(&m)?, array![41, 52, 63]);
            /// assert!(v.vecmat(&m.t()).is_err());
            /// assert_eq!(v.batch::<Ix1>()?.vecmat(&m.batch::<Ix2>()?)?, v.vecmat(&m)?);
            /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
            /// ```
            ///
            /// # Equivalents
            /// `numpy.vecmat(v, m)`, without its conjugation; `v @ m` of a vector.
            vecmat VecMat [] A -> A where [A: LinalgScalar], Ix1 Ix2 Ix1;

            /// Inner products of vectors: `(n),(n)->()`. Nothing is conjugated.
            ///
            /// # Shapes
            /// `(1000, 2; 6)` and `(2; 6)` give `(1000, 2;)`, as [`matmul`](Self::matmul).
            ///
            /// # Errors
            /// As [`matmul`](Self::matmul).
            ///
            /// # Examples
            /// ```
            /// use ndarray::{array, Array1, Ix1};
            /// use ndarray_broadcast::prelude::*;
            ///
            /// let (a, b) = (array![[1, 2], [3, 4]], array![10, 1]);
            /// let products: Array1<i32> = a.inner(&b)?;
            /// assert_eq!(products, array![12, 34]);
            /// assert_eq!(a.batch::<Ix1>()?.inner(&b.batch::<Ix1>()?)?, products);
            /// assert_eq!(b.inner(&b)?.into_scalar(), 101);
            /// assert!(a.inner(&array![1]).is_err());
            /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
            /// ```
            ///
            /// # Equivalents
            /// `numpy.vecdot(a, b)` and `torch.linalg.vecdot`, without their conjugation; `a.inner(b)` of NEML2's `SR2`. `numpy.inner`
            /// pairs all batch elements: that is `a.matmul(&b.t())` of two matrices.
            #[doc(alias("vecdot", "dot"))]
            inner Inner [] A -> A where [A: LinalgScalar], Ix1 Ix1 Ix0;

            /// Outer products of vectors: `(m),(n)->(m,n)`. Nothing is conjugated.
            ///
            /// # Shapes
            /// `(5, 1; 3)` and `(2; 4)` give `(5, 2; 3, 4)`, as [`matmul`](Self::matmul).
            ///
            /// # Errors
            /// As [`matmul`](Self::matmul), but all sizes of vectors fit.
            ///
            /// # Examples
            /// ```
            /// use ndarray::{array, Array3, Ix1};
            /// use ndarray_broadcast::prelude::*;
            ///
            /// let (a, b) = (array![[1, 2], [3, 4]], array![1, 10, 100]);
            /// let products: Array3<i32> = a.outer(&b)?;
            /// assert_eq!(products, array![[[1, 10, 100], [2, 20, 200]], [[3, 30, 300], [4, 40, 400]]]);
            /// assert_eq!(a.batch::<Ix1>()?.outer(&b.batch::<Ix1>()?)?, products);
            /// assert!(a.outer(&array![[1], [2], [3]]).is_err());
            /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
            /// ```
            ///
            /// # Equivalents
            /// `numpy.linalg.outer(a, b)` and `torch.outer` of vectors; `a.outer(b)` of NEML2's vectors; `torch.einsum("...m,...n->...mn", a, b)`.
            outer Outer [A2] A2 -> A::Output where [A: Copy + Mul<A2, Output: Copy>], Ix1 Ix1 Ix2;
        }
    };
}

/// By hand: `fn matvec<E: Dimension>(&self, right: &ArrayRef<A, E>) -> Result<…> { … }`.
macro_rules! of_arrays {
    ($($(#[$doc:meta])* $method:ident $Op:ident [$($New:ident)?] $A2:ident -> $T:ty where [$($bound:tt)+],
       $B:ident $B2:ident $R:ident;)*) => {$(
        $(#[$doc])*
        fn $method<$($New: Copy,)? E: Dimension>(&self, right: &ArrayRef<$A2, E>) -> Result<Array<$T, D::Whole>>
        where
            $($bound)+,
            D: JoinBatch<$B, (E, $B2), $R>,
            Self::Executor: Executor<$T, A, $A2>,
        {
            product(base_op::$Op, self.left(), right)
        }
    )*};
}

/// By hand: `pub fn matvec<D2: Dimension, B2: BaseDim<Ix1>>(&self, other: &Batch<'_, A, D2, B2>) -> Result<…> { … }`.
macro_rules! of_batches {
    ($($(#[$doc:meta])* $method:ident $Op:ident [$($New:ident)?] $A2:ident -> $T:ty where [$($bound:tt)+],
       $B:ident $B2:ident $R:ident;)*) => {$(
        $(#[$doc])*
        pub fn $method<$($New: Copy,)? D2: Dimension, B2: BaseDim<$B2>>(
            &self,
            other: &Batch<'_, $A2, D2, B2>,
        ) -> Result<Array<$T, D::Whole>>
        where
            $($bound)+,
            B: BaseDim<$B>,
            D: JoinBatch<B, (D2, B2), $R>,
            X: Executor<$T, A, $A2>,
        {
            self.apply(base_op::$Op, other)
        }
    )*};
}

/// Products of matrices and vectors: the last two axes of an array are a matrix, or its last axis is a vector. All other axes
/// are the batch, which broadcasts.
///
/// Methods of every kind of array, and of [`par`](crate::Reduce::par) of it, for several threads. They equal those of
/// [`batch`](crate::BatchAxes::batch) with the bases that each product needs; a batch also has products into existing arrays
/// and operations on other bases.
///
/// ```
/// use ndarray::{array, Array3};
/// use ndarray_broadcast::prelude::*;
///
/// let (x, w) = (array![[1.0, 2.0], [3.0, 4.0]], array![[0.0, 1.0], [1.0, 0.0]]);
/// assert_eq!(x.matmul(&w)?, array![[2.0, 1.0], [4.0, 3.0]]);
/// assert_eq!(x.matvec(&array![1.0, 10.0])?, array![21.0, 43.0]);
/// assert_eq!(Array3::ones((9, 5, 2)).par().matmul(&w)?, Array3::<f64>::ones((9, 5, 2)));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// A product and its partial sums have the type of the elements, as in NumPy. In `i8`, they overflow as Rust's `+` and `*`
/// do, with a panic in a debug build and silently in a release build. Convert both factors first:
///
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::prelude::*;
///
/// let (x, w) = (array![[100_i8, 100]], array![[1_i8], [1]]);
/// assert_eq!(x.mapv(i32::from).matmul(&w.mapv(i32::from))?, array![[200]]); // not -56
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// Sealed. `A` is the type of the elements, `D` the dimension type of the array.
pub trait Products<A, D: Dimension>: Sealed {
    /// Where products are computed.
    #[doc(hidden)]
    type Executor: Copy;

    /// The array, and where products are computed.
    #[doc(hidden)]
    fn left(&self) -> (&ArrayRef<A, D>, Self::Executor);

    products!(of_arrays);
}

impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {
    products!(of_batches);
}

impl<S: Data<Elem = A>, A, D: Dimension> Products<A, D> for ArrayBase<S, D> {
    type Executor = Serial;

    fn left(&self) -> (&ArrayRef<A, D>, Serial) {
        (self, Serial)
    }
}

impl<A, D: Dimension> Products<A, D> for ArrayRef<A, D> {
    type Executor = Serial;

    fn left(&self) -> (&ArrayRef<A, D>, Serial) {
        (self, Serial)
    }
}

impl<A, D: Dimension> Products<A, D> for Par<&ArrayRef<A, D>> {
    type Executor = Parallel;

    fn left(&self) -> (&ArrayRef<A, D>, Parallel) {
        (self.0, Parallel)
    }
}

/// An operation on the last axes of two arrays, of dimension types `B` and `B2`.
fn product<P, A, X, D, B: BaseRank, A2, E: Dimension, B2: BaseRank>(
    op: P,
    (left, executor): (&ArrayRef<A, D>, X),
    right: &ArrayRef<A2, E>,
) -> Result<Array<P::Output, D::Whole>>
where
    P: BaseOp<A, A2, B, B2>,
    D: JoinBatch<B, (E, B2), P::Base>,
    X: Executor<P::Output, A, A2>,
{
    let left = Batch::<_, _, B, X>::new(left.view(), B::default().ndim(), executor)?;
    left.apply(op, &Batch::<_, _, B2>::new(right.view(), B2::default().ndim(), Serial)?)
}
