//! The dimension type of a result: of the joint batch of two or three operands, and of a base.

use super::WithBase;
use crate::shape::LessAxes;
use ndarray::{DimAdd, DimMax, Dimension};

/// The dimension type of an array with a base `B` whose batch is joined with others, for results of base `R`.
///
/// `Others` is `(D2, B2)` for one other array and its base, `((D2, B2), (D3, B3))` for two, `()` for none. Implemented
/// wherever these types are dimension types; a bound for code that is generic over them.
///
/// # Examples
/// ```
/// use ndarray::{array, Array, Array2, ArrayRef, Ix1, Ix2};
/// use ndarray_broadcast::{bounds::{JoinBatch, LessAxes}, prelude::*, BroadcastError};
///
/// type Results<D, E> = Array<f64, <D as JoinBatch<Ix2, (E, Ix1), Ix1>>::Whole>;
///
/// fn apply<D, E>(m: &ArrayRef<f64, D>, v: &ArrayRef<f64, E>) -> Result<Results<D, E>, BroadcastError>
/// where
///     D: JoinBatch<Ix2, (E, Ix1), Ix1>,
///     E: LessAxes<Ix1>,
/// {
///     m.batch::<Ix2>()?.matvec(&v.batch::<Ix1>()?)
/// }
/// let (m, v) = (array![[1.0, 2.0], [3.0, 4.0]], array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
/// let products: Array2<f64> = apply(&m, &v)?;
/// assert_eq!(products, array![[1.0, 3.0], [2.0, 4.0], [3.0, 7.0]]);
/// assert!(apply(&m, &array![1.0]).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// ndarray's `DimMax` for arrays without a base.
#[diagnostic::on_unimplemented(
    message = "the number of axes of a result is not known: of `{Self}` with base `{B}`, and the other batches `{Others}`",
    label = "an array has fewer axes than the operation needs, or a bound is missing",
    note = "a matrix is the last two axes of an array, a vector the last one: a matrix and a vector `v` go with \
            `x.matvec(&v)?`, a vector and a matrix with `v.vecmat(&x)?`, and two vectors with `u.inner(&v)?`",
    note = "in code that is generic over dimension types, add the bound `D: JoinBatch<{B}, {Others}, {R}>`, which is in \
            `ndarray_broadcast::bounds`"
)]
pub trait JoinBatch<B: Dimension, Others, R: Dimension>: LessAxes<B> {
    /// The dimension type of the joint batch and the base of a result.
    type Whole: Dimension;
}

#[diagnostic::do_not_recommend]
impl<D, B: Dimension, R: Dimension> JoinBatch<B, (), R> for D
where
    D: LessAxes<B, Left: DimAdd<R>>,
{
    type Whole = WithBase<D::Left, R>;
}

#[diagnostic::do_not_recommend]
impl<D, B: Dimension, D2, B2: Dimension, R: Dimension> JoinBatch<B, (D2, B2), R> for D
where
    D: LessAxes<B, Left: DimMax<D2::Left, Output: DimAdd<R>>>,
    D2: LessAxes<B2>,
{
    type Whole = WithBase<JointBatch<D::Left, D2::Left>, R>;
}

#[diagnostic::do_not_recommend]
impl<D, B: Dimension, D2, B2: Dimension, D3, B3: Dimension, R: Dimension>
    JoinBatch<B, ((D2, B2), (D3, B3)), R> for D
where
    D: LessAxes<B, Left: DimMax<D2::Left, Output: DimMax<D3::Left, Output: DimAdd<R>>>>,
    D2: LessAxes<B2>,
    D3: LessAxes<B3>,
{
    type Whole = WithBase<JointBatch<JointBatch<D::Left, D2::Left>, D3::Left>, R>;
}

/// The dimension type of two joint batches.
type JointBatch<X, Y> = <X as DimMax<Y>>::Output;
