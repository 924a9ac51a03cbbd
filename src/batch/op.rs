//! Operations on bases that are carried out without a closure for each batch element.

use super::{Batch, Signature};
use crate::error::BroadcastError;
use crate::kernel::each::{Make, each, par_each, par_to_new, to_new};
use crate::kernel::nest::{Inputs, Visit};
use crate::kernel::product::{products_into, products_to_new};
use crate::kernel::threads::{Serial, Threads};
use crate::sealed::Sealed;
use crate::shape::{Split, join_bases, sizes, sizes_mut};
use crate::view::place;
use ndarray::{Array, ArrayRef, ArrayView, DimMax, Dimension, Ix0, Ix1, Ix2, IxDyn, LinalgScalar};

/// Operations on bases, for [`Batch::apply`] and the others: values without data.
///
/// | operation | bases | elements |
/// |---|---|---|
/// | [`Add`](base_op::Add), [`Sub`](base_op::Sub), [`Mul`](base_op::Mul), [`Div`](base_op::Div) | element by element; base shapes are aligned at the right and broadcast, so that a scalar, of base `()`, goes with anything | `Copy`, any that have the operator |
/// | [`MatVec`](base_op::MatVec) | `(m,n),(n)->(m)` | `LinalgScalar`, of both the same |
/// | [`VecMat`](base_op::VecMat) | `(n),(n,m)->(m)` | |
/// | [`MatMul`](base_op::MatMul) | `(m,n),(n,p)->(m,p)` | |
/// | [`Inner`](base_op::Inner) | `(n),(n)->()` | |
/// | [`Outer`](base_op::Outer) | `(m),(n)->(m,n)` | `Copy`, any that have the operator `*` |
///
/// # Examples
/// ```
/// use ndarray::{array, Array2, Ix1};
/// use ndarray_broadcast::{base_op, prelude::*};
///
/// let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![10.0, 20.0]);
/// let mut sums = Array2::zeros((2, 2));
/// a.batch::<Ix1>()?.apply_into(base_op::Add, &b.batch::<Ix1>()?, &mut sums)?;
/// assert_eq!(sums, array![[11.0, 22.0], [13.0, 24.0]]);
/// assert!(a.batch::<Ix1>()?.apply(base_op::Inner, &array![1.0].batch::<Ix1>()?).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
pub mod base_op {
    macro_rules! operations {
        ($($(#[$doc:meta])* $Op:ident)*) => {$(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $Op;
            impl crate::sealed::Sealed for $Op {}
        )*};
    }
    operations! {
        /// Sums, element by element.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::add`](crate::Batch::add).
        Add
        /// Differences, element by element.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::sub`](crate::Batch::sub).
        Sub
        /// Products, element by element.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::mul`](crate::Batch::mul).
        Mul
        /// Quotients, element by element.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::div`](crate::Batch::div).
        Div
        /// Matrices times vectors: `(m,n),(n)->(m)`.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::matvec`](crate::Batch::matvec).
        MatVec
        /// Vectors times matrices: `(n),(n,m)->(m)`.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::vecmat`](crate::Batch::vecmat).
        VecMat
        /// Matrices times matrices: `(m,n),(n,p)->(m,p)`.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::matmul`](crate::Batch::matmul).
        MatMul
        /// Inner products of vectors, of which nothing is conjugated: `(n),(n)->()`.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::inner`](crate::Batch::inner).
        Inner
        /// Outer products of vectors, of which nothing is conjugated: `(m),(n)->(m,n)`.
        ///
        /// Its shapes, errors, an example and equivalents are at [`Batch::outer`](crate::Batch::outer).
        Outer
    }
}

/// An operation of [`base_op`] between bases of dimension types `B` and `B2`, of elements `A` and `A2`.
///
/// Sealed; implemented for the operations of [`base_op`]. For one of your own give a closure to
/// [`Batch::zip_map`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not defined between bases `{B}` of `{A}` and `{B2}` of `{A2}`",
    label = "the numbers of base axes, or the element types, do not fit the operation",
    note = "products of matrices and vectors need bases of dimension types `Ix2` and `Ix1` (or `IxDyn`), and one \
            element type that is a `LinalgScalar`",
    note = "element-wise operations need element types that are `Copy` and have the operator"
)]
pub trait BaseOp<A, A2, B, B2>: Sealed + Copy {
    /// The type of the elements of the result.
    type Output: Copy;
    /// The dimension type of the base of the result.
    type Base: Dimension;

    /// The base shape of the result.
    #[doc(hidden)]
    fn base(self, parts: &[Split<'_>; 2]) -> Result<Self::Base, BroadcastError>;

    /// The results as a new array; the shapes were checked.
    #[doc(hidden)]
    fn to_new<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        shape: E,
    ) -> Array<Self::Output, E>;

    /// Writes the results; the shapes were checked.
    #[doc(hidden)]
    fn into<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        out: &mut ArrayRef<Self::Output, E>,
    );

    /// [`to_new`](Self::to_new) on several threads.
    #[doc(hidden)]
    fn par_to_new<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        shape: E,
    ) -> Array<Self::Output, E>
    where
        A: Send + Sync,
        A2: Sync,
        Self::Output: Send;

    /// [`into`](Self::into) on several threads.
    #[doc(hidden)]
    fn par_into<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        out: &mut ArrayRef<Self::Output, E>,
    ) where
        A: Send + Sync,
        A2: Sync,
        Self::Output: Send;
}

/// The operands stretched to the shape of a result, each at the right of its batch and of its base.
fn expanded<'a, 'b, A, A2, D: Dimension, B: Dimension, D2: Dimension, B2: Dimension, E: Dimension>(
    a: &'a Batch<'_, A, D, B>,
    b: &'b Batch<'_, A2, D2, B2>,
    shape: &[usize],
) -> (ArrayView<'a, A, E>, ArrayView<'b, A2, E>) {
    let batch = shape.len() - a.base_ndim().max(b.base_ndim());
    (stretched(a, shape, batch), stretched(b, shape, batch))
}

/// The operand stretched to a shape of which the `batch` first axes are the batch.
fn stretched<'a, A, D: Dimension, B: Dimension, E: Dimension>(
    operand: &'a Batch<'_, A, D, B>,
    shape: &[usize],
    batch: usize,
) -> ArrayView<'a, A, E> {
    let part = operand.parts();
    let mut whole = E::zeros(shape.len());
    sizes_mut(&mut whole).copy_from_slice(shape);
    let places = (batch - part.batch().len()..batch).chain(shape.len() - part.base().len()..shape.len());
    place(operand.whole(), whole, places)
}

/// Element by element, in one pass.
macro_rules! elementwise {
    ($($Op:ident $op:ident)*) => {$(
        impl<A, A2, B, B2> BaseOp<A, A2, B, B2> for base_op::$Op
        where
            A: Copy + core::ops::$Op<A2, Output: Copy>,
            A2: Copy,
            B: Dimension + DimMax<B2>,
            B2: Dimension,
        {
            type Output = <A as core::ops::$Op<A2>>::Output;
            type Base = <B as DimMax<B2>>::Output;

            #[inline]
            fn base(self, parts: &[Split<'_>; 2]) -> Result<Self::Base, BroadcastError> {
                let mut base = Self::Base::zeros(parts[0].base().len().max(parts[1].base().len()));
                join_bases(parts, sizes_mut(&mut base))?;
                Ok(base)
            }

            fn to_new<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, A, D, B>,
                b: &Batch<'_, A2, D2, B2>,
                shape: E,
            ) -> Array<Self::Output, E>
            {
                let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, sizes(&shape));
                to_new(shape, &Inputs::from((&*a, &*b)), base_op::$Op)
            }

            fn into<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, A, D, B>,
                b: &Batch<'_, A2, D2, B2>,
                out: &mut ArrayRef<Self::Output, E>,
            )
            {
                let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, out.shape());
                each(out, &Inputs::from((&*a, &*b)), &mut base_op::$Op);
            }

            fn par_to_new<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, A, D, B>,
                b: &Batch<'_, A2, D2, B2>,
                shape: E,
            ) -> Array<Self::Output, E>
            where
                A: Send + Sync,
                A2: Sync,
                Self::Output: Send,
            {
                let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, sizes(&shape));
                par_to_new(shape, &Inputs::from((&*a, &*b)), base_op::$Op)
            }

            fn par_into<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, A, D, B>,
                b: &Batch<'_, A2, D2, B2>,
                out: &mut ArrayRef<Self::Output, E>,
            )
            where
                A: Send + Sync,
                A2: Sync,
                Self::Output: Send,
            {
                let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, out.shape());
                par_each(out, &Inputs::from((&*a, &*b)), base_op::$Op);
            }

        }

        impl<A, A2> Make<<A as core::ops::$Op<A2>>::Output, (A, A2)> for base_op::$Op
        where
            A: Copy + core::ops::$Op<A2>,
            A2: Copy,
        {
            #[inline(always)]
            fn make(&mut self, (&x, &y): (&A, &A2)) -> <A as core::ops::$Op<A2>>::Output {
                core::ops::$Op::$op(x, y)
            }
        }

        impl<A, A2> Visit<<A as core::ops::$Op<A2>>::Output, (A, A2)> for base_op::$Op
        where
            A: Copy + core::ops::$Op<A2>,
            A2: Copy,
        {
            #[inline(always)]
            fn visit(&mut self, out: &mut <A as core::ops::$Op<A2>>::Output, (&x, &y): (&A, &A2)) {
                *out = core::ops::$Op::$op(x, y);
            }
        }
    )*};
}
elementwise!(Add add Sub sub Mul mul Div div);

/// A dimension type that can be `R`: `R` itself and `IxDyn`.
pub trait Holds<R>: Dimension {}
impl<R: Dimension> Holds<R> for R {}
macro_rules! dynamic {
    ($($R:ty)*) => { $(impl Holds<$R> for IxDyn {})* };
}
dynamic!(Ix1 Ix2);

/// Products of matrices and vectors: `(m,n)` as `[Some(m), Some(n)]`.
macro_rules! product {
    ($($Op:ident $signature:literal $A:ty, $B:ty => $R:ty, $fits:expr, $base:expr, $axes:expr;)*) => {$(
        impl<T, B: Holds<$A>, B2: Holds<$B>> BaseOp<T, T, B, B2> for base_op::$Op
        where
            T: LinalgScalar,
        {
            type Output = T;
            type Base = $R;

            #[inline]
            fn base(self, parts: &[Split<'_>; 2]) -> Result<$R, BroadcastError> {
                /// The sizes of the result's base, where those of the operands fit.
                #[inline]
                fn sizes(a: &[usize], b: &[usize]) -> Option<$R> {
                    let (fits, base): (fn(&[usize], &[usize]) -> bool, fn(&[usize], &[usize]) -> $R) = ($fits, $base);
                    fits(a, b).then(|| base(a, b))
                }
                if let Some(base) = sizes(parts[0].base(), parts[1].base()) {
                    return Ok(base);
                }
                Err(const { Signature::literal($signature) }.base_of_result(parts).err().expect("a signature that does not fit either"))
            }

            fn to_new<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, T, D, B>,
                b: &Batch<'_, T, D2, B2>,
                shape: E,
            ) -> Array<Self::Output, E>
            {
                products_to_new(shape, a.whole(), b.whole(), $axes, Serial)
            }

            fn into<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, T, D, B>,
                b: &Batch<'_, T, D2, B2>,
                out: &mut ArrayRef<Self::Output, E>,
            )
            {
                products_into(out, a.whole(), b.whole(), $axes, Serial);
            }

            fn par_to_new<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, T, D, B>,
                b: &Batch<'_, T, D2, B2>,
                shape: E,
            ) -> Array<Self::Output, E>
            where
                T: Send + Sync,
            {
                products_to_new(shape, a.whole(), b.whole(), $axes, Threads)
            }

            fn par_into<D: Dimension, D2: Dimension, E: Dimension>(
                self,
                a: &Batch<'_, T, D, B>,
                b: &Batch<'_, T, D2, B2>,
                out: &mut ArrayRef<Self::Output, E>,
            )
            where
                T: Send + Sync,
            {
                products_into(out, a.whole(), b.whole(), $axes, Threads);
            }

        }
    )*};
}
product! {
    MatVec "(m,n),(n)->(m)" Ix2, Ix1 => Ix1,
        |a, b| matches!((a, b), (&[_, n], &[k]) if n == k), |a, _| Ix1(a[0]), [1, 2, 1];
    VecMat "(n),(n,m)->(m)" Ix1, Ix2 => Ix1,
        |a, b| matches!((a, b), (&[n], &[k, _]) if n == k), |_, b| Ix1(b[1]), [1, 1, 2];
    MatMul "(m,n),(n,p)->(m,p)" Ix2, Ix2 => Ix2,
        |a, b| matches!((a, b), (&[_, n], &[k, _]) if n == k), |a, b| Ix2(a[0], b[1]), [2, 2, 2];
    Inner "(n),(n)->()" Ix1, Ix1 => Ix0,
        |a, b| matches!((a, b), (&[n], &[k]) if n == k), |_, _| Ix0(), [0, 1, 1];
}
