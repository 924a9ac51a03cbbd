//! The view of an array whose axes are split into batch and base.

use super::{Parallel, Serial, WithBase};
use crate::error::{ErrorBuilder, Result, caller};
use crate::shape::{
    BatchShape, LessAxes, Placeholder, TargetShape, resolved_dim, sizes, stretch_error, with_base,
};
use crate::view::broadcast_data;
use core::fmt;
use core::marker::PhantomData;
use ndarray::{ArrayBase, ArrayRef, ArrayView, DimAdd, Dimension, Ix2, ViewRepr};

/// A view of an array whose last axes are the base, of dimension type `B`, and whose other axes are the batch.
///
/// Made by [`batch`](super::BatchAxes::batch) and [`batch_dyn`](super::BatchAxes::batch_dyn); `D` is the dimension
/// type of the whole. The batch axes of several operands are aligned at the last one and broadcast; each operation
/// decides what to do with base axes. `X` says on which threads operations run: see [`par`](Self::par).
///
/// # Examples
/// ```
/// use ndarray::{array, Array3, Axis, Ix1, Ix2};
/// use ndarray_broadcast::prelude::*;
///
/// let matrices = array![[[2.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]]]; // (2; 2, 2)
/// let vectors = array![[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]]; // (3, 1; 2)
/// let products: Array3<f64> = matrices.batch::<Ix2>()?.matvec(&vectors.batch::<Ix1>()?)?; // (3, 2; 2)
/// assert_eq!(products.dim(), (3, 2, 2));
/// assert_eq!(products.index_axis(Axis(0), 2), array![[10.0, 12.0], [6.0, 5.0]]);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// NEML2's `Tensor`, which counts the batch axes, and its types with a fixed base; the loop and core
/// dimensions of NumPy's generalised ufuncs; `in_dims=0` of `jax.vmap` and `torch.vmap`, applied once for each batch axis.
#[must_use = "a view does nothing by itself"]
pub struct Batch<'a, A, D, B, X = Serial> {
    /// An `ArrayView`, spelt out because the alias is not covariant in the lifetime.
    pub(super) view: ArrayBase<ViewRepr<&'a A>, D, A>,
    pub(super) base: usize,
    base_dim: PhantomData<B>,
    pub(super) executor: X,
}

impl<'a, A, D: Dimension, B: Dimension> Batch<'a, A, D, B> {
    /// The same batch, whose operations run on rayon's threads, which share the batch elements. The results have the same
    /// bits. Without the feature `rayon`, the calling thread does all the work, with the same bounds.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, Ix1, Ix2};
    /// use ndarray_broadcast::{base_op, prelude::*};
    ///
    /// let (m, v) = (Array3::<f64>::ones((500, 30, 30)), Array2::<f64>::ones((1, 30)));
    /// let (m, v) = (m.batch::<Ix2>()?.par(), v.batch::<Ix1>()?);
    /// let products: Array2<f64> = m.matvec(&v)?;
    /// assert_eq!(products, Array2::from_elem((500, 30), 30.0));
    /// let times = |m: ArrayView2<f64>, v: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| s.assign(&m.dot(&v));
    /// assert_eq!(m.zip_map(&v, 30, times)?, products);
    /// assert!(m.apply_into(base_op::MatVec, &v, &mut Array2::zeros((2, 30))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch, which uses several threads by default.
    pub fn par(&self) -> Batch<'a, A, D, B, Parallel> {
        Batch { view: self.view.clone(), base: self.base, base_dim: PhantomData, executor: Parallel }
    }
}

impl<'a, A, D: Dimension, B: Dimension, X> Batch<'a, A, D, B, X> {
    /// The view with its last `base` axes as the base. If `B` has a fixed number of axes, `base` is that number.
    pub(super) fn new(view: ArrayView<'a, A, D>, base: usize, executor: X) -> Result<Self> {
        BatchShape::new(view.shape(), base)?;
        Ok(Self { view, base, base_dim: PhantomData, executor })
    }

    /// The array and the number of its base axes.
    pub(super) fn part(&self) -> (&ArrayRef<A, D>, usize) {
        (&self.view, self.base)
    }

    /// The shape, split.
    pub(super) fn shape(&self) -> BatchShape<'_> {
        BatchShape::new(self.view.shape(), self.base).expect("a batch view has its base axes")
    }

    /// The view with its batch stretched to `batch`, which must be possible. `None` if the whole shape overflows.
    pub(super) fn stretched<E: Dimension>(&self, batch: &[usize]) -> Option<Batch<'a, A, E, B, X>>
    where
        X: Copy,
    {
        // The bases are equal, so aligning the whole shapes aligns the batches.
        let view = broadcast_data(&self.view, with_base(batch, self.base_shape()))?;
        Some(Batch { view, base: self.base, base_dim: PhantomData, executor: self.executor })
    }

    /// The sizes of the batch axes.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array3, Ix0, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = Array3::<f64>::zeros((1000, 2, 6));
    /// assert_eq!(a.batch::<Ix1>()?.batch_shape(), [1000, 2]);
    /// assert_eq!(a.batch::<Ix0>()?.batch_shape(), [1000, 2, 6]);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// NEML2 `batch_sizes()`.
    #[doc(alias = "batch_sizes")]
    #[must_use]
    pub fn batch_shape(&self) -> &[usize] {
        self.shape().batch()
    }

    /// The sizes of the base axes.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array3, Ix0, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = Array3::<f64>::zeros((2, 6, 6));
    /// assert_eq!(a.batch::<Ix2>()?.base_shape(), [6, 6]);
    /// assert_eq!(a.batch::<Ix0>()?.base_shape(), []);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// NEML2 `base_sizes()`.
    #[doc(alias = "base_sizes")]
    #[must_use]
    pub fn base_shape(&self) -> &[usize] {
        self.shape().base()
    }

    /// The whole array, base axes last, for as long as the data lives.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array3, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = Array3::<f64>::zeros((3, 1, 6));
    /// assert_eq!(a.batch::<Ix1>()?.expand_batch([-1, 2])?.into_view().dim(), (3, 2, 6));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// The `torch::Tensor` that a NEML2 tensor is.
    #[must_use]
    pub fn into_view(self) -> ArrayView<'a, A, D> {
        self.view
    }

    /// A view with the batch stretched to `target`, where -1 keeps the size of a batch axis. The base does not change.
    ///
    /// # Shapes
    /// As [`broadcast_to`](crate::BroadcastTo::broadcast_to), with the batch shape as the shape. `(2; 6, 6)` to
    /// `[5, -1]` is `(5, 2; 6, 6)`.
    ///
    /// # Errors
    /// As [`broadcast_to`](crate::BroadcastTo::broadcast_to), of the batch;
    /// [`Overflow`](crate::ErrorKind::Overflow) counts the base too.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array3, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let c = Array3::<f64>::zeros((2, 6, 6));
    /// let many = c.batch::<Ix2>()?.expand_batch([5, -1])?;
    /// assert_eq!((many.batch_shape(), many.base_shape()), (&[5, 2][..], &[6, 6][..]));
    /// assert_eq!(many.into_view().strides(), [0, 36, 6, 1]);
    /// assert_eq!(
    ///     c.batch::<Ix2>()?.expand_batch(3).unwrap_err().to_string(),
    ///     "cannot broadcast batch shape [2] of (2; 6, 6) to [3]: \
    ///      batch axis 0 has sizes 2 and 3, expected equal sizes or 1 in the array",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// NEML2 `batch_expand({5, 2})`, where -1 also keeps a size; `numpy.broadcast_to(c, (5,) + c.shape)`.
    #[doc(alias = "batch_expand")]
    #[inline]
    pub fn expand_batch<T: TargetShape<Dim: DimAdd<B>>>(
        &self,
        target: T,
    ) -> Result<Batch<'a, A, WithBase<T::Dim, B>, B, X>>
    where
        X: Copy,
    {
        let part = self.shape();
        let builder = || ErrorBuilder::new(&caller::BATCH_TO_TARGET, &[part]).to(&target.for_message());
        let Some(resolved) = resolved_dim(part.batch(), &target, Placeholder::Keeps) else {
            return Err(stretch_error(part.batch(), &target.for_message(), Placeholder::Keeps, &builder));
        };
        let overflow = || builder().overflow(&[sizes(&resolved), self.base_shape()].concat());
        self.stretched(sizes(&resolved)).ok_or_else(overflow)
    }
}

impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {
    /// The view with the last two base axes swapped, which transposes each matrix.
    ///
    /// # Shapes
    /// `(5, 2; 3, 4)` becomes `(5, 2; 4, 3)`.
    ///
    /// # Errors
    /// None. Fewer than two base axes do not compile if their number is fixed.
    ///
    /// # Panics
    /// If the number of base axes is dynamic and less than two.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (m, v) = (array![[[1, 2, 3], [4, 5, 6]]], array![1, 10]);
    /// let turned = m.batch::<Ix2>()?.transpose();
    /// assert_eq!(turned.into_view(), array![[[1, 4], [2, 5], [3, 6]]]);
    /// assert_eq!(turned.matvec(&v.batch::<Ix1>()?)?, v.batch::<Ix1>()?.vecmat(&m.batch::<Ix2>()?)?);
    /// assert_eq!(m.batch_dyn(2)?.transpose().into_view(), turned.into_view());
    /// assert!(m.batch::<Ix2>()?.matvec(&v.batch::<Ix1>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// A vector does not have two axes:
    /// ```compile_fail,E0277
    /// # use ndarray::{array, Ix1};
    /// # use ndarray_broadcast::prelude::*;
    /// let turned = array![1, 2].batch::<Ix1>().unwrap().transpose();
    /// ```
    ///
    /// # Equivalents
    /// `numpy.matrix_transpose(m)`, PyTorch `m.mT`, `transpose` of NEML2's tensors.
    #[doc(alias("mT", "matrix_transpose", "swapaxes"))]
    pub fn transpose(mut self) -> Self
    where
        B: LessAxes<Ix2>,
    {
        assert!(self.base > 1, "cannot transpose a base of less than two axes");
        let last = self.view.ndim() - 1;
        self.view.swap_axes(last - 1, last);
        self
    }
}

impl<A, D: Clone, B, X: Copy> Clone for Batch<'_, A, D, B, X> {
    fn clone(&self) -> Self {
        Self { view: self.view.clone(), base: self.base, base_dim: PhantomData, executor: self.executor }
    }
}

impl<A, D: Copy, B, X: Copy> Copy for Batch<'_, A, D, B, X> {}

/// Prints the parts of the shape and the elements.
impl<A: fmt::Debug, D: Dimension, B: Dimension, X> fmt::Debug for Batch<'_, A, D, B, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("batch_shape", &self.batch_shape())
            .field("base_shape", &self.base_shape())
            .field("view", &self.view)
            .finish()
    }
}
