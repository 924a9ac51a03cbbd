//! Operations of [`base_op`](crate::base_op) on batches.

use super::base_pass::BasePass;
use super::{BaseOp, Batch, Executor, JoinBatch};
use crate::error::{ErrorBuilder, Result, caller};
use crate::kernel::memory::Reserved;
use crate::reserved::reserved;
use crate::shape::{BatchShape, check_base, check_batches_into, joint_batch, sizes};
use ndarray::{Array, ArrayRef, Dimension};

impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {
    /// An operation of [`base_op`](crate::base_op) on each pair of bases, with the batches broadcast.
    ///
    /// [`add`](Self::add), [`matvec`](Self::matvec) and the others are `apply` with that operation. Use `apply` in code
    /// that is generic over the operation, or beside [`apply_into`](Self::apply_into). On several threads, it is
    /// `batch.par().apply(…)`: see [`par`](Self::par).
    ///
    /// # Shapes
    /// The joint batch shape, as in [`batch_broadcast`](super::batch_broadcast()), then the operation's base.
    ///
    /// # Errors
    /// In this order:
    /// for element-wise operations, [`Incompatible`](crate::ErrorKind::Incompatible) where a base axis has two sizes that
    /// are not 1; for the others, [`BaseAxes`](crate::ErrorKind::BaseAxes) and
    /// [`BaseSymbol`](crate::ErrorKind::BaseSymbol) where bases do not fit the signature;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a batch axis has two sizes that are not 1;
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1, Ix2};
    /// use ndarray_broadcast::{base_op, prelude::*};
    ///
    /// let (m, v) = (array![[1, 2], [3, 4]], array![[1, 0], [0, 1], [1, 1]]);
    /// let (m, v) = (m.batch::<Ix2>()?, v.batch::<Ix1>()?);
    /// let columns: Array2<i32> = m.apply(base_op::MatVec, &v)?;
    /// assert_eq!(columns, array![[1, 3], [2, 4], [3, 7]]);
    /// assert!(v.apply(base_op::Mul, &array![1, 2, 3].batch::<Ix1>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// Those of the operation's method, such as [`add`](Self::add).
    pub fn apply<P: BaseOp<A, A2, B, B2>, A2, D2: Dimension, B2: Dimension>(
        &self,
        op: P,
        other: &Batch<'_, A2, D2, B2>,
    ) -> Result<Array<P::Output, D::Whole>>
    where
        D: JoinBatch<B, (D2, B2), P::Base>,
        X: Executor<P::Output, A, A2>,
    {
        let shapes = [self.shape(), other.shape()];
        let (base, pass) = op.plan(&shapes)?;
        let result = batch_result(&shapes, sizes(&base))?;
        Ok(pass.new_array((&self.view, &other.view), result, self.executor))
    }

    /// [`apply`](Self::apply) into an existing array, whose elements are overwritten.
    ///
    /// # Shapes
    /// The last axes of `out` are the base of the result; the joint batch shape goes to its batch, which is never
    /// stretched and may have more axes. `out` may have any layout. Element-wise operations allocate nothing for up to 6 axes
    /// of fixed rank or 4 of dynamic rank. Products of contiguous operands into a contiguous `out` allocate a few bytes for
    /// more than 64 terms, and whatever `ndarray::linalg` allocates. Others copy a few rows at a time; a large product copies
    /// its smaller matrix whole if that is not contiguous.
    ///
    /// # Errors
    /// In this order, and an error leaves `out` unchanged:
    /// those of [`apply`](Self::apply) about bases;
    /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where `out` has fewer axes than the joint batch and the base;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a batch axis has two sizes that are not 1, or one
    /// that is neither 1 nor that of `out`;
    /// [`BaseSize`](crate::ErrorKind::BaseSize) where `out` has another base.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1, Ix2};
    /// use ndarray_broadcast::{base_op, prelude::*};
    ///
    /// let (m, v) = (array![[1.0, 2.0], [3.0, 4.0]], array![[1.0, 0.0], [1.0, 1.0]]);
    /// let (m, v) = (m.batch::<Ix2>()?, v.batch::<Ix1>()?);
    /// let mut out = Array2::zeros((2, 2));
    /// m.apply_into(base_op::MatVec, &v, &mut out)?;
    /// assert_eq!(out, array![[1.0, 3.0], [3.0, 7.0]]);
    /// assert_eq!(
    ///     m.apply_into(base_op::MatVec, &v, &mut Array2::zeros((2, 3))).unwrap_err().to_string(),
    ///     "cannot write the result of (; 2, 2) and (2; 2) into (2; 3): \
    ///      base axis 0 of the result has size 3, expected 2",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `out=` in NumPy and PyTorch.
    pub fn apply_into<P: BaseOp<A, A2, B, B2>, A2, D2: Dimension, B2: Dimension, E: Dimension>(
        &self,
        op: P,
        other: &Batch<'_, A2, D2, B2>,
        out: &mut ArrayRef<P::Output, E>,
    ) -> Result<()>
    where
        X: Executor<P::Output, A, A2>,
    {
        let shapes = [self.shape(), other.shape()];
        let (base, pass) = op.plan(&shapes)?;
        check_out(&shapes, sizes(&base), out.shape())?;
        pass.write((&self.view, &other.view), out, self.executor);
        Ok(())
    }
}

/// Checks the shape of an output for results of base `base`.
fn check_out(shapes: &[BatchShape<'_>; 2], base: &[usize], out: &[usize]) -> Result<()> {
    let to = BatchShape::new(out, base.len())?;
    check_batches_into(shapes, to)?;
    check_base(to.base(), base, &|| ErrorBuilder::new(&caller::BATCH_INTO, shapes).to(&to), (2, to))
}

/// Memory for a result of the joint batch shape, then `base`.
///
/// # Errors
/// In this order: `Incompatible` as [`joint_batch`]; `TooLarge`.
pub(super) fn batch_result<A, W: Dimension>(
    shapes: &[BatchShape<'_>],
    base: &[usize],
) -> Result<Reserved<A, W>> {
    reserved(joint_batch(shapes, base)?, || ErrorBuilder::new(&caller::EACH_BATCH, shapes).to(&base))
}
