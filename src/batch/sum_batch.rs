//! The adjoint of a broadcast of batches: the sum over batch axes only.

use super::{Batch, WithBase};
use crate::error::{BroadcastError, Request, operation};
use crate::kernel::operation::Plus;
use crate::kernel::reduce::{self, Store};
use crate::kernel::source::Stored;
use crate::kernel::threads::Serial;
use crate::shape::{
    BatchShape, LessAxes, TargetShape, check_base, check_sums_to, reserved, sizes, sizes_only, with_base,
};
use ndarray::{Array, ArrayRef, DimAdd, Dimension};
use num_traits::Zero;

impl<A: Clone + Zero, D: Dimension, B: Dimension> Batch<'_, A, D, B> {
    /// The sum over every batch axis that broadcasting from `target` to this batch repeats. The base does not change.
    ///
    /// # Shapes
    /// `(1000, 2; 6, 6)` to `[2]` is `(2; 6, 6)`, to `[1000, 1]` it is `(1000, 1; 6, 6)`, to `()` it is `(; 6, 6)`.
    /// A sum over size 0 is zero.
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
    ) -> Result<Array<A, WithBase<T::Dim, B>>, BroadcastError> {
        let batch = sizes_only(&target, || request(self.shape()).to(&target.for_message()))?;
        self.sum_to(sizes(&batch))
    }

    /// [`sum_batch_to`](Self::sum_batch_to) the batch shape of `like`, whose base is ignored. This gives the gradient of
    /// an operand from that of the result.
    ///
    /// # Shapes
    /// As [`sum_batch_to`](Self::sum_batch_to).
    ///
    /// # Errors
    /// As [`sum_batch_to`](Self::sum_batch_to).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array1, Array2, Array3, Ix0, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (scale, delta) = (Array1::<f64>::zeros(2), Array3::<f64>::ones((1000, 2, 6)));
    /// let gradient: Array2<f64> = delta.batch::<Ix1>()?.sum_batch_to_match(&scale.batch::<Ix0>()?)?;
    /// assert_eq!(gradient, Array2::from_elem((2, 6), 1000.0));
    /// let three = Array1::<f64>::zeros(3);
    /// assert!(delta.batch::<Ix1>()?.sum_batch_to_match(&three.batch::<Ix0>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`sum_batch_to`](Self::sum_batch_to).
    pub fn sum_batch_to_match<A2, D2: LessAxes<B2, Left: DimAdd<B>>, B2: Dimension>(
        &self,
        like: &Batch<'_, A2, D2, B2>,
    ) -> Result<Array<A, WithBase<D2::Left, B>>, BroadcastError> {
        self.sum_to(like.batch_shape())
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
    pub fn add_sum_batch_to<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<(), BroadcastError> {
        let (part, to) = (self.shape(), BatchShape::new(out.shape(), self.base)?);
        check_sums_to(part.batch(), to.batch(), || request(part))?;
        check_base(to.base(), part.base(), &|| request(part).to(&to.batch()), (0, part))?;
        reduce::into(Stored::of(&self.view), out, None, Plus, Store::adding(), Serial);
        Ok(())
    }

    fn sum_to<W: Dimension>(&self, batch: &[usize]) -> Result<Array<A, W>, BroadcastError> {
        let part = self.shape();
        check_sums_to(part.batch(), batch, || request(part))?;
        let result = reserved(with_base::<W>(batch, part.base()), || request(part).to(&batch))?;
        // The bases are equal, so no base axis is summed.
        Ok(reduce::to_new(Stored::of(&self.view), result, None, Plus, Serial))
    }
}

#[cold]
fn request(part: BatchShape<'_>) -> Request {
    Request::new(&operation::BATCH_SUM, &[part])
}
