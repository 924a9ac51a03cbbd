//! Two operands, whose batches stretch to the joint batch shape.

use super::{Batch, WithBase};
use crate::error::{ErrorBuilder, Result, caller};
use crate::sealed::Sealed;
use crate::shape::{LessAxes, joint_batch, sizes};
use ndarray::{DimAdd, DimMax, Dimension};

/// The dimension type of two joint batches.
type Joint<D, B, D2, B2> = <<D as LessAxes<B>>::Left as DimMax<<D2 as LessAxes<B2>>::Left>>::Output;

/// Stretches the batches of both operands to the joint batch shape. The bases do not change.
///
/// # Shapes
/// Batch shapes are aligned at their last axes; a missing axis counts as size 1; the joint size of an axis is
/// the one size that is not 1, else 1. `(2; 6, 6)` and `(1000, 2; 6)` become `(1000, 2; 6, 6)` and
/// `(1000, 2; 6)`. The results have fixed rank if both operands have.
///
/// # Errors
/// [`Incompatible`](crate::ErrorKind::Incompatible) where a batch axis has two sizes that are not 1, 0 included;
/// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero sizes of a result multiply past `isize::MAX`.
///
/// # Examples
/// ```
/// use ndarray::{Array2, Array3, Ix1, Ix2};
/// use ndarray_broadcast::{batch_broadcast, prelude::*};
///
/// let (c, strain) = (Array3::<f64>::zeros((2, 6, 6)), Array3::<f64>::zeros((1000, 2, 6)));
/// let (c, strain) = (c.batch::<Ix2>()?, strain.batch::<Ix1>()?);
/// let (x, y) = batch_broadcast(&c, &strain)?;
/// assert_eq!((x.batch_shape(), x.base_shape()), (&[1000, 2][..], &[6, 6][..]));
/// assert_eq!((y.batch_shape(), y.base_shape()), (&[1000, 2][..], &[6][..]));
/// let three = Array2::<f64>::zeros((3, 6));
/// assert_eq!(
///     batch_broadcast(&c, &three.batch::<Ix1>()?).unwrap_err().to_string(),
///     "cannot broadcast batch shapes [2] of (2; 6, 6) and [3] of (3; 6) together: \
///      batch axis 0 has sizes 2 and 3, expected equal sizes or 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// A further batch takes the joint shape of the others as a target:
/// ```
/// use ndarray::{Array1, Array2, Ix0, Ix1};
/// use ndarray_broadcast::{batch_broadcast, prelude::*};
///
/// let (a, b, c) = (Array2::<f64>::zeros((2, 6)), Array2::<f64>::zeros((5, 1)), Array1::<f64>::zeros(2));
/// let (a, b) = batch_broadcast(&a.batch::<Ix1>()?, &b.batch::<Ix0>()?)?;
/// let (a, c) = batch_broadcast(&a, &c.batch::<Ix0>()?)?;
/// let b = b.expand_batch(&a)?;
/// assert_eq!([a.batch_shape(), b.batch_shape(), c.batch_shape()], [[5, 2]; 3]);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// NEML2 `utils::broadcast_batch_dim` and `batch_expand_as`; `torch.vmap` and NumPy's generalised ufuncs do it
/// internally. `numpy.broadcast_arrays` would align the bases too, so (6; 6, 6) and (6; 6) mean something else there.
pub fn batch_broadcast<'a, 'b, A, D: LessAxes<B>, B: Dimension, A2, D2: LessAxes<B2>, B2: Dimension>(
    a: &Batch<'a, A, D, B>,
    b: &Batch<'b, A2, D2, B2>,
) -> Result<(
    Batch<'a, A, WithBase<Joint<D, B, D2, B2>, B>, B>,
    Batch<'b, A2, WithBase<Joint<D, B, D2, B2>, B2>, B2>,
)>
where
    D::Left: DimMax<D2::Left, Output: DimAdd<B> + DimAdd<B2>>,
{
    let shapes = [a.shape(), b.shape()];
    let joint: Joint<D, B, D2, B2> = joint_batch(&shapes, &[])?;
    let joint = sizes(&joint);
    let overflow = |operand: usize| {
        let builder = ErrorBuilder::new(&caller::BATCHES_TOGETHER, &shapes);
        builder.overflow(&[joint, shapes[operand].base()].concat())
    };
    Ok((a.stretched(joint).ok_or_else(|| overflow(0))?, b.stretched(joint).ok_or_else(|| overflow(1))?))
}

impl<A, D, B, X> Sealed for Batch<'_, A, D, B, X> {}
