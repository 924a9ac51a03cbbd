//! Operations on bases that need no closure call for each batch element.

use super::base_pass::{BasePass, Elementwise, Product};
use crate::error::Result;
use crate::sealed::Sealed;
use crate::shape::{BatchShape, Signature, joint_base};
use core::ops::Mul;
use ndarray::{DimMax, Dimension, Ix0, Ix1, Ix2, IxDyn, LinalgScalar};

/// Operations on bases, as values for [`Batch::apply`](crate::Batch::apply) and its siblings.
///
/// | operation | bases | elements |
/// |---|---|---|
/// | [`Add`](base_op::Add), [`Sub`](base_op::Sub), [`Mul`](base_op::Mul), [`Div`](base_op::Div) | element by element; base shapes are aligned at the right and broadcast, so a scalar, of base `()`, goes with any base | `Copy` types with the operator |
/// | [`MatVec`](base_op::MatVec) | `(m,n),(n)->(m)` | one `LinalgScalar` type for both operands |
/// | [`VecMat`](base_op::VecMat) | `(n),(n,m)->(m)` | |
/// | [`MatMul`](base_op::MatMul) | `(m,n),(n,p)->(m,p)` | |
/// | [`Inner`](base_op::Inner) | `(n),(n)->()` | |
/// | [`Outer`](base_op::Outer) | `(m),(n)->(m,n)` | `Copy` types with the operator `*` |
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
    /// Sums, element by element.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::add`](crate::Batch::add).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Add;

    /// Differences, element by element.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::sub`](crate::Batch::sub).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Sub;

    /// Products, element by element.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::mul`](crate::Batch::mul).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Mul;

    /// Quotients, element by element.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::div`](crate::Batch::div).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Div;

    /// Matrices times vectors: `(m,n),(n)->(m)`.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::matvec`](crate::Batch::matvec).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MatVec;

    /// Vectors times matrices: `(n),(n,m)->(m)`.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::vecmat`](crate::Batch::vecmat).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct VecMat;

    /// Matrices times matrices: `(m,n),(n,p)->(m,p)`.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::matmul`](crate::Batch::matmul).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MatMul;

    /// Inner products of vectors, without conjugation: `(n),(n)->()`.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::inner`](crate::Batch::inner).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Inner;

    /// Outer products of vectors, without conjugation: `(m),(n)->(m,n)`.
    ///
    /// Its shapes, errors, an example and equivalents are at [`Batch::outer`](crate::Batch::outer).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Outer;
}

/// An operation of [`base_op`] between bases of dimension types `B` and `B2`, with elements `A` and `A2`.
///
/// Sealed; implemented for the operations of [`base_op`]. For an operation of your own, pass a closure to
/// [`Batch::zip_map`](crate::Batch::zip_map).
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

    /// Checks the bases. Returns the base of the result, and the pass that computes it.
    #[doc(hidden)]
    fn plan(self, shapes: &[BatchShape<'_>; 2]) -> Planned<Self::Base, impl BasePass<Self::Output, A, A2>>;
}

/// The base of a result and its pass.
type Planned<B, P> = Result<(B, P)>;

/// By hand for `+`: `impl<…> BaseOp<A, A2, B, B2> for base_op::Add where A: core::ops::Add<A2>, …` with `A::add`.
macro_rules! elementwise {
    ($($Op:ident $op:ident)*) => {$(
        impl Sealed for base_op::$Op {}
        impl<A, A2, B, B2> BaseOp<A, A2, B, B2> for base_op::$Op
        where
            A: Copy + core::ops::$Op<A2, Output: Copy>,
            A2: Copy,
            B: Dimension + DimMax<B2>,
            B2: Dimension,
        {
            type Output = A::Output;
            type Base = <B as DimMax<B2>>::Output;

            fn plan(self, shapes: &[BatchShape<'_>; 2]) -> Planned<Self::Base, impl BasePass<Self::Output, A, A2>> {
                let axes = shapes.map(|shape| shape.base().len());
                Ok((joint_base(shapes)?, Elementwise { op: A::$op, axes, trailing_axes: 0 }))
            }
        }
    )*};
}
elementwise!(Add add Sub sub Mul mul Div div);

/// A dimension type that a base with the number of axes of `R` can have: `R` itself, or `IxDyn`.
///
/// The products of [`base_op`] need bases with certain numbers of axes: `MatVec` needs an `Ix2` and an `Ix1`.
///
/// # Examples
/// The vector is the right operand of `matvec`, not the left:
/// ```compile_fail,E0277
/// use ndarray::{array, Ix1, Ix2};
/// use ndarray_broadcast::prelude::*;
///
/// let (m, v) = (array![[1.0, 2.0], [3.0, 4.0]], array![1.0, 1.0]);
/// v.batch::<Ix1>().unwrap().matvec(&m.batch::<Ix2>().unwrap()).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "a base of dimension type `{Self}` stands where the operation needs `{R}`",
    label = "this operand needs a base of dimension type `{R}` or `IxDyn`",
    note = "`matvec` takes a matrix and then a vector, `vecmat` a vector and then a matrix, `matmul` two matrices, \
            `inner` two vectors",
    note = "a vector is `a.batch::<Ix1>()?`, a matrix `a.batch::<Ix2>()?`"
)]
pub trait BaseDim<R>: Dimension {}
impl<R: Dimension> BaseDim<R> for R {}
impl BaseDim<Ix1> for IxDyn {}
impl BaseDim<Ix2> for IxDyn {}

/// By hand: `impl<T: LinalgScalar, B: BaseDim<Ix2>, B2: BaseDim<Ix1>> BaseOp<T, T, B, B2> for base_op::MatVec`.
macro_rules! products {
    ($($Op:ident $B:ident $B2:ident $Base:ident $signature:literal $axes:expr, $bases:pat if $fits:expr => $base:expr;)*) => {$(
        impl Sealed for base_op::$Op {}
        impl<T: LinalgScalar, B: BaseDim<$B>, B2: BaseDim<$B2>> BaseOp<T, T, B, B2> for base_op::$Op {
            type Output = T;
            type Base = $Base;

            fn plan(self, shapes: &[BatchShape<'_>; 2]) -> Planned<$Base, impl BasePass<T, T, T>> {
                match shapes.map(BatchShape::base) {
                    $bases if $fits => Ok(($base, Product($axes))),
                    _ => Err(const { Signature::literal($signature) }.misfit(shapes)),
                }
            }
        }
    )*};
}
products! {
    MatVec Ix2 Ix1 Ix1 "(m,n),(n)->(m)" [1, 2, 1], [&[m, n], &[k]] if n == k => Ix1(m);
    VecMat Ix1 Ix2 Ix1 "(n),(n,m)->(m)" [1, 1, 2], [&[n], &[k, m]] if n == k => Ix1(m);
    MatMul Ix2 Ix2 Ix2 "(m,n),(n,p)->(m,p)" [2, 2, 2], [&[m, n], &[k, p]] if n == k => Ix2(m, p);
    Inner Ix1 Ix1 Ix0 "(n),(n)->()" [0, 1, 1], [&[n], &[k]] if n == k => Ix0();
}

impl Sealed for base_op::Outer {}
impl<A, A2, B: BaseDim<Ix1>, B2: BaseDim<Ix1>> BaseOp<A, A2, B, B2> for base_op::Outer
where
    A: Copy + Mul<A2, Output: Copy>,
    A2: Copy,
{
    type Output = A::Output;
    type Base = Ix2;

    fn plan(self, shapes: &[BatchShape<'_>; 2]) -> Planned<Ix2, impl BasePass<A::Output, A, A2>> {
        match shapes.map(BatchShape::base) {
            [&[m], &[n]] => Ok((Ix2(m, n), Elementwise { op: A::mul, axes: [1, 1], trailing_axes: 1 })),
            _ => Err(const { Signature::literal("(m),(n)->(m,n)") }.misfit(shapes)),
        }
    }
}
