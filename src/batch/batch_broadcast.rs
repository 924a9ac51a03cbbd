//! Any number of operands, whose batches stretch to the joint batch shape.

use super::{Batch, WithBase};
use crate::error::{BroadcastError, ErrorBuilder, Result, caller};
use crate::sealed::Sealed;
use crate::shape::{BatchShape, JoinDims, LessAxes, joint_batch, sizes};
use alloc::vec::Vec;
use ndarray::{DimAdd, Dimension, IxDyn};

/// Stretches the batches of both operands to the joint batch shape. The bases do not change.
///
/// Short for [`batch_broadcast_all`] of a tuple of two.
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
/// # Equivalents
/// NEML2 `utils::broadcast_batch_dim` and `batch_expand_as`; `torch.vmap` and NumPy's generalised ufuncs do it
/// internally. `numpy.broadcast_arrays` would align the bases too, so (6; 6, 6) and (6; 6) mean something else there.
#[inline]
pub fn batch_broadcast<S, T>(a: S, b: T) -> Result<<(S, T) as BatchOperands>::Batches>
where
    (S, T): BatchOperands,
{
    batch_broadcast_all((a, b))
}

/// The error of an operand that overflows if its batch is stretched to `joint`.
#[cold]
fn overflow(joint: &[usize], operand: usize, shapes: &[BatchShape<'_>]) -> BroadcastError {
    let builder = ErrorBuilder::new(&caller::BATCHES_TOGETHER, shapes);
    builder.overflow(&[joint, shapes[operand].base()].concat())
}

/// A tuple of 1 to 6 references to [`Batch`]es, whose element types and numbers of axes may differ, or a slice of batches.
///
/// The argument of [`batch_broadcast_all`]. Sealed.
///
/// # Examples
/// ```
/// use ndarray::{Array2, Array3, Ix1, Ix2};
/// use ndarray_broadcast::{bounds::BatchOperands, batch_broadcast_all, prelude::*};
///
/// fn agree<O: BatchOperands>(operands: O) -> bool {
///     batch_broadcast_all(operands).is_ok()
/// }
/// let (c, two, three) = (Array3::<f64>::ones((2, 6, 6)), Array2::<f32>::ones((2, 6)), Array2::<u8>::ones((3, 6)));
/// assert!(agree((&c.batch::<Ix2>()?, &two.batch::<Ix1>()?)));
/// assert!(!agree((&c.batch::<Ix2>()?, &two.batch::<Ix1>()?, &three.batch::<Ix1>()?)));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of batches",
    label = "expected a tuple of 1 to 6 `&Batch`",
    note = "make a `Batch` of an array with `a.batch::<Ix2>()?`",
    note = "more than 6, or a number only known at run time, are a slice `&[Batch]`"
)]
pub trait BatchOperands: Sealed {
    /// The dimension type of the joint batch.
    type Joint: Dimension;
    /// The tuple of results.
    type Batches;

    /// The operands with their batches stretched.
    #[doc(hidden)]
    fn stretch(self) -> Result<Self::Batches>;
}

impl<A, D, B, X> Sealed for Batch<'_, A, D, B, X> {}

/// By hand for one operand: `impl<'a, A, D: LessAxes<B>, B: Dimension> BatchOperands for (&Batch<'a, A, D, B>,)`.
macro_rules! batch_operands {
    ($($x:tt $a:lifetime $A:ident $D:ident $B:ident),+) => {
        impl<$($a,)+ $($A, $D: LessAxes<$B>, $B: Dimension),+> BatchOperands for ($(&Batch<$a, $A, $D, $B>,)+)
        where
            ($($D::Left,)+): JoinDims<Joint: $(DimAdd<$B>+)+>,
        {
            type Joint = <($($D::Left,)+) as JoinDims>::Joint;
            type Batches = ($(Batch<$a, $A, WithBase<Self::Joint, $B>, $B>,)+);

            #[inline]
            fn stretch(self) -> Result<Self::Batches> {
                let shapes = [$(self.$x.shape()),+];
                let joint: Self::Joint = joint_batch(&shapes, &[])?;
                let joint = sizes(&joint);
                Ok(($(self.$x.stretched(joint).ok_or_else(|| overflow(joint, $x, &shapes))?,)+))
            }
        }
    };
}
batch_operands!(0 'a A D B);
batch_operands!(0 'a A D B, 1 'b A1 D1 B1);
batch_operands!(0 'a A D B, 1 'b A1 D1 B1, 2 'c A2 D2 B2);
batch_operands!(0 'a A D B, 1 'b A1 D1 B1, 2 'c A2 D2 B2, 3 'd A3 D3 B3);
batch_operands!(0 'a A D B, 1 'b A1 D1 B1, 2 'c A2 D2 B2, 3 'd A3 D3 B3, 4 'e A4 D4 B4);
batch_operands!(0 'a A D B, 1 'b A1 D1 B1, 2 'c A2 D2 B2, 3 'd A3 D3 B3, 4 'e A4 D4 B4, 5 'f A5 D5 B5);

/// Any number of batches of one type.
impl<'a, A, D: LessAxes<B>, B: Dimension> BatchOperands for &[Batch<'a, A, D, B>] {
    type Joint = D::Left;
    type Batches = Vec<Batch<'a, A, D, B>>;

    fn stretch(self) -> Result<Self::Batches> {
        let shapes: Vec<_> = self.iter().map(Batch::shape).collect();
        let joint: IxDyn = joint_batch(&shapes, &[])?;
        let error = |k| overflow(sizes(&joint), k, &shapes);
        (0..self.len()).map(|k| self[k].stretched(sizes(&joint)).ok_or_else(|| error(k))).collect()
    }
}

/// [`batch_broadcast`] for a tuple of 1 to 6 operands, which may differ in element type and number of axes, or a slice of
/// any number of one type.
///
/// # Shapes
/// As [`batch_broadcast`]. Operands of dynamic rank may differ in rank. No operands give an empty `Vec`.
///
/// # Errors
/// As [`batch_broadcast`].
///
/// # Examples
/// ```
/// use ndarray::{Array2, Array3, Array4, Ix0, Ix1, Ix2};
/// use ndarray_broadcast::{batch_broadcast_all, prelude::*};
///
/// let (c, strain) = (Array4::<f64>::zeros((5, 1, 3, 3)), Array2::<f64>::zeros((2, 3)));
/// let time = Array3::<f32>::zeros((5, 1, 1));
/// let (c, strain, time) = (c.batch::<Ix2>()?, strain.batch::<Ix1>()?, time.batch::<Ix0>()?);
/// let (x, y, z) = batch_broadcast_all((&c, &strain, &time))?;
/// assert_eq!((x.into_view().dim(), y.into_view().dim()), ((5, 5, 2, 3, 3), (5, 5, 2, 3)));
/// assert_eq!((z.batch_shape(), z.base_shape()), (&[5, 5, 2][..], &[][..]));
/// let three = Array2::<f64>::zeros((3, 6));
/// assert!(batch_broadcast_all((&c, &strain, &three.batch::<Ix1>()?)).is_err());
/// assert_eq!(batch_broadcast_all(&[strain, three.batch::<Ix1>()?, strain][..1])?.len(), 1);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// As [`batch_broadcast`].
#[inline]
pub fn batch_broadcast_all<O: BatchOperands>(operands: O) -> Result<O::Batches> {
    operands.stretch()
}
