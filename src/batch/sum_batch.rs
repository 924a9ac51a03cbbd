//! The adjoint of a broadcast of batches: the sum over batch axes only.

use super::{Batch, WithBase};
use crate::error::{ErrorBuilder, Result, caller};
use crate::kernel::operation::Plus;
use crate::kernel::reduce::to_new;
use crate::reduce::Reduce;
use crate::reserved::reserved;
use crate::shape::{BatchShape, LessAxes, TargetShape, check_base, check_sums, sizes, sizes_only, with_base};
use ndarray::{Array, ArrayRef, DimAdd, Dimension};
use num_traits::Zero;

impl<A: Clone + Zero, D: Dimension, B: Dimension> Batch<'_, A, D, B> {
    /// The sum over every batch axis that broadcasting from `target` to this batch repeats. The base does not change.
    ///
    /// # Shapes
    /// `(1000, 2; 6, 6)` to `[2]` is `(2; 6, 6)`, to `[1000, 1]` it is `(1000, 1; 6, 6)`, to `()` it is `(; 6, 6)`.
    /// A reference to another batch is the target of its batch shape. A sum over size 0 is zero.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size or one above `isize::MAX`;
    /// [`TooManyAxes`](crate::ErrorKind::TooManyAxes) where `target` has more axes than the batch;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in `target`;
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// // a base of size 1 is not a batch of size 1
    /// let delta = array![[[1.0], [2.0]], [[10.0], [20.0]], [[100.0], [200.0]]]; // (3, 2; 1)
    /// let gradient: Array2<f64> = delta.batch::<Ix1>()?.sum_batch_to([2])?;
    /// assert_eq!(gradient, array![[111.0], [222.0]]);
    /// let like = array![[0.5, 0.5], [0.5, 0.5]]; // (2; 2)
    /// assert_eq!(delta.batch::<Ix1>()?.sum_batch_to(&like.batch::<Ix1>()?)?, gradient);
    /// assert_eq!(
    ///     delta.batch::<Ix1>()?.sum_batch_to([3]).unwrap_err().to_string(),
    ///     "cannot sum batch shape [3, 2] of (3, 2; 1) to [3]: \
    ///      batch axis 1 has sizes 2 and 3, expected equal sizes or 1 in the target",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch's autograd does this for NEML2's tensors; NEML2's `batch_sum(d)` sums over one axis.
    #[doc(alias = "batch_sum")]
    pub fn sum_batch_to<T: TargetShape<Dim: DimAdd<B>>>(
        &self,
        target: T,
    ) -> Result<Array<A, WithBase<T::Dim, B>>> {
        let part = self.shape();
        let builder = || ErrorBuilder::new(&caller::BATCH_SUM, &[part]).to(&target.for_message());
        let batch = sizes_only(&target, builder)?;
        check_sums(part.batch(), sizes(&batch), builder)?;
        let result = reserved(with_base(sizes(&batch), part.base()), builder)?;
        // The bases are equal, so no base axis is summed.
        Ok(self.view.source(Plus, |source| to_new(source, self.view.shape(), result, None, A::zero())))
    }

    /// Adds [`sum_batch_to`](Self::sum_batch_to) to an array of that shape, as a backward pass accumulates a gradient.
    ///
    /// # Shapes
    /// As [`sum_batch_to`](Self::sum_batch_to), to the shape of `out` without its base, which must equal this base.
    ///
    /// # Errors
    /// First [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where `out` has fewer axes than the base, then those of
    /// [`sum_batch_to`](Self::sum_batch_to), then [`BaseSize`](crate::ErrorKind::BaseSize) where `out` has another base.
    /// An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Array3, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = array![[0.5, 0.5]];
    /// let delta = Array3::<f64>::ones((3, 4, 2));
    /// delta.batch::<Ix1>()?.add_sum_batch_to(&mut gradient)?;
    /// assert_eq!(gradient, array![[12.5, 12.5]]);
    /// assert!(delta.batch::<Ix1>()?.add_sum_batch_to(&mut Array2::zeros((1, 1))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient += a.sum_batch_to(…)`, without the temporary.
    pub fn add_sum_batch_to<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()> {
        let (part, to) = (self.shape(), BatchShape::new(out.shape(), self.base)?);
        let builder = || ErrorBuilder::new(&caller::BATCH_SUM, &[part]).to(&to.batch());
        check_sums(part.batch(), to.batch(), builder)?;
        check_base(to.base(), part.base(), &builder, (0, part))?;
        self.view.add_sum_to(out)
    }
}

/// The batch shape of another batch.
impl<A, D: LessAxes<B>, B: Dimension, X> TargetShape for &Batch<'_, A, D, B, X> {
    type Dim = D::Left;

    fn target_dim(&self) -> D::Left {
        with_base(self.batch_shape(), &[])
    }
}
