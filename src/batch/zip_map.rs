//! Operations as closures, called for every batch element.

use super::apply::batch_result;
use super::{Batch, JoinBatch, Parallel, ResultBase, Serial};
use crate::error::Result;
use crate::kernel::nest::{BaseInputs, for_each_base, on_threads};
use crate::sealed::Sealed;
use crate::shape::{BatchShape, batch_ndim, check_batches_into, sizes};
use ndarray::{Array, ArrayRef, ArrayView, ArrayViewMut, Dimension};

impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {
    /// Broadcasts this batch and the others, and applies a closure to the bases. The others are `()` for none, one batch, or
    /// a tuple of two.
    ///
    /// `f` takes a view of each base, in this order, and then a mutable view of the result's base: with one other batch, it
    /// is `FnMut(ArrayView<A, B>, ArrayView<A2, B2>, ArrayViewMut<O, R>)`. After [`par`](Self::par), it is `Fn` and `Sync`.
    ///
    /// # Shapes
    /// The joint batch shape, as in [`batch_broadcast`](super::batch_broadcast()), then `base`: a shape, or a
    /// [`Signature`](crate::Signature) that gives it. The result's base is filled with the element type's default. The order of
    /// the batch elements is unspecified. For an empty batch, the result is empty and `f` is not called. A base may be
    /// empty or `()`.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size or one above `isize::MAX`;
    /// [`OperandCount`](crate::ErrorKind::OperandCount) for a signature with another number of operands;
    /// [`ResultCount`](crate::ErrorKind::ResultCount) for a signature with several results;
    /// any other error of [`Signature::resolve`](crate::Signature::resolve);
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a batch axis has two sizes that are not 1;
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array3, Array4, ArrayView0, ArrayView1, ArrayView2, ArrayViewMut1, Ix0, Ix1, Ix2};
    /// use ndarray_broadcast::{prelude::*, Signature};
    ///
    /// let (c, strain) = (Array3::<f64>::ones((2, 6, 6)), Array4::<f64>::ones((1000, 1, 2, 6)));
    /// let (c, strain) = (c.batch::<Ix2>()?, strain.batch::<Ix1>()?);
    /// let times = |c: ArrayView2<f64>, e: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| {
    ///     for (s, row) in s.iter_mut().zip(c.rows()) {
    ///         *s = row.iter().zip(e).map(|(c, e)| c * e).sum();
    ///     }
    /// };
    /// let stress: Array4<f64> = c.zip_map(&strain, 6, times)?;
    /// assert_eq!((stress.dim(), stress[[7, 0, 1, 3]]), ((1000, 1, 2, 6), 6.0));
    /// let checked = c.zip_map(&strain, Signature::new("(m,n),(n)->(m)")?, times)?;
    /// assert_eq!(checked, stress);
    /// let traces = c.zip_map((), (), |c: ArrayView2<f64>, mut trace| trace[()] = c.diag().sum())?;
    /// assert_eq!(traces, ndarray::array![6.0, 6.0]);
    /// let scale = ndarray::array![1.0, 10.0];
    /// let scaled = |c: ArrayView2<f64>, e: ArrayView1<f64>, k: ArrayView0<f64>, mut s: ArrayViewMut1<f64>| {
    ///     s.assign(&(c.dot(&e) * k[()]));
    /// };
    /// let stress: Array4<f64> = c.zip_map((&strain, &scale.batch::<Ix0>()?), 6, scaled)?;
    /// assert_eq!((stress[[7, 0, 0, 3]], stress[[7, 0, 1, 3]]), (6.0, 60.0));
    /// let three = Array3::<f64>::ones((1000, 3, 6));
    /// assert_eq!(
    ///     c.zip_map(&three.batch::<Ix1>()?, 6, times).unwrap_err().to_string(),
    ///     "cannot broadcast batch shapes [2] of (2; 6, 6) and [1000, 3] of (1000, 3; 6) together: \
    ///      batch axis 1 has sizes 2 and 3, expected equal sizes or 1",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// A generalised ufunc of NumPy, `numpy.vectorize(f, signature="(m,n),(n)->(m)")(c, strain)`; `jax.vmap` and `torch.vmap` once
    /// for each batch axis. Each view of a base of dynamic rank with more than 4 axes costs an allocation.
    #[doc(alias("vmap", "vectorize", "gufunc", "apply_along_axis", "map_axis"))]
    pub fn zip_map<S, T, R: Dimension, O: Clone + Default, F>(
        &self,
        others: S,
        base: T,
        f: F,
    ) -> Result<Array<O, D::Whole>>
    where
        S: BaseClosure<Self, O, R, F>,
        T: ResultBase<R>,
        D: JoinBatch<B, S::Dims, R>,
    {
        let shapes = others.shapes(self.shape());
        let base = base.base(shapes.as_ref())?;
        let mut result = batch_result(shapes.as_ref(), sizes(&base))?.filled(None, O::default());
        others.for_each_base(self, &mut result, base.ndim(), f);
        Ok(result)
    }

    /// [`zip_map`](Self::zip_map) into an existing array: `f` gets mutable views of its bases, with their present elements.
    /// The other batches are one, or a tuple of two.
    ///
    /// # Shapes
    /// The base of `out` has as many axes as the last argument of `f`, whose type must be stated:
    /// `mut s: ArrayViewMut1<f64>`. The joint batch shape goes to the batch of `out`, which is never stretched and
    /// may have more axes. If the argument has dynamic rank, the batch of `out` has as many axes as the
    /// joint one. `out` may have any layout. Nothing is allocated.
    ///
    /// # Errors
    /// In this order, and an error leaves `out` unchanged:
    /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where `out` has fewer axes than the joint batch and the base;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a batch axis has two sizes that are not 1, or one
    /// that is neither 1 nor that of `out`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, ArrayView1, ArrayViewMut0, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (x, y) = (array![[1.0, 2.0], [3.0, 4.0]], array![10.0, 1.0]);
    /// let (x, y) = (x.batch::<Ix1>()?, y.batch::<Ix1>()?);
    /// let add = |x: ArrayView1<f64>, y: ArrayView1<f64>, mut s: ArrayViewMut0<f64>| s[()] += x.dot(&y);
    /// let mut sums = array![[0.0, 100.0], [0.0, 0.0]];
    /// x.zip_map_into(&y, &mut sums, add)?;
    /// assert_eq!(sums, array![[12.0, 134.0], [12.0, 34.0]]);
    /// assert_eq!(
    ///     x.zip_map_into(&y, &mut Array2::zeros((2, 3)), add).unwrap_err().to_string(),
    ///     "cannot write the result of (2; 2) and (; 2) into (2, 3;): \
    ///      batch axis 1 has sizes 2 and 3, expected equal sizes or 1 in the operands",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `out=` of a generalised ufunc of NumPy.
    pub fn zip_map_into<S, E: Dimension, R: Dimension, O, F>(
        &self,
        others: S,
        out: &mut ArrayRef<O, E>,
        f: F,
    ) -> Result<()>
    where
        S: BaseClosure<Self, O, R, F>,
    {
        let shapes = others.shapes(self.shape());
        // all axes after the joint batch, where the closure does not say how many
        let base = R::NDIM.unwrap_or(out.ndim().saturating_sub(batch_ndim(shapes.as_ref())));
        check_batches_into(shapes.as_ref(), BatchShape::new(out.shape(), base)?)?;
        others.for_each_base(self, out, base, f);
        Ok(())
    }
}

/// The further batches of [`Batch::zip_map`]: a reference to one [`Batch`], or a tuple of two.
///
/// Sealed; examples are there.
pub trait FurtherBatches: Sealed + Copy {
    /// The dimension types, as the `Others` of [`JoinBatch`].
    type Dims;

    /// The shape of the first batch, and those of these batches.
    #[doc(hidden)]
    fn shapes<'s>(&'s self, first: BatchShape<'s>) -> impl AsRef<[BatchShape<'s>]>;
}

/// [`FurtherBatches`] with a closure that takes a view of the base of each batch, after that of a batch `First`, and
/// a mutable view of the result's base, with elements `O` and dimension type `R`: `FnMut`, or, after
/// [`par`](Batch::par), `Fn + Sync`.
///
/// Not exported; public because methods have it as a bound.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a batch, nor a tuple of two",
    label = "expected `&Batch` or `(&Batch, &Batch)`",
    note = "make a `Batch` of an array with `a.batch::<Ix2>()?`; only the first batch takes `.par()`"
)]
pub trait BaseClosure<First, O, R, F>: FurtherBatches {
    /// Calls the closure for each base of the batches and of `out`, whose last `base` axes are its base.
    #[doc(hidden)]
    fn for_each_base<E: Dimension>(self, first: &First, out: &mut ArrayRef<O, E>, base: usize, f: F);
}

/// By hand for one further batch: `impl<'s, …> FurtherBatches for &'s Batch<'_, A2, D2, B2>`, and two impls of
/// `BaseClosure`, where `F: FnMut(ArrayView<'_, A, B>, ArrayView<'_, A2, B2>, ArrayViewMut<'_, O, R>)` or `F: Fn(…)`.
macro_rules! further_batches {
    ($inputs:ident, $Self:ty, $Dims:ty, $others:pat $(, $A:ident $D:ident $B:ident $x:ident)*) => {
        impl<$($A, $D: Dimension, $B: Dimension),*> FurtherBatches for $Self {
            type Dims = $Dims;

            fn shapes<'s>(&'s self, first: BatchShape<'s>) -> impl AsRef<[BatchShape<'s>]> {
                let $others = *self;
                [first $(, $x.shape())*]
            }
        }

        further_batches!(
            #[diagnostic::do_not_recommend] Serial FnMut Sized Sized, |nest, visit| nest.for_each(visit),
            $inputs, $Self, $others $(, $A $D $B $x)*
        );
        further_batches!(Parallel Fn Sync Send, on_threads, $inputs, $Self, $others $(, $A $D $B $x)*);
    };
    ($(#[$meta:meta])? $X:ident $Fn:ident $Sync:ident $Send:ident, $visit:expr,
     $inputs:ident, $Self:ty, $others:pat $(, $A:ident $D:ident $B:ident $x:ident)*) => {
        $(#[$meta])?
        impl<A: $Sync, D: Dimension, B: Dimension, $($A: $Sync, $D: Dimension, $B: Dimension,)* O: $Send, R: Dimension, F>
            BaseClosure<Batch<'_, A, D, B, $X>, O, R, F> for $Self
        where
            F: $Fn(ArrayView<'_, A, B>, $(ArrayView<'_, $A, $B>,)* ArrayViewMut<'_, O, R>) + $Sync,
        {
            #[allow(unused_mut, reason = "threads share the closure")]
            fn for_each_base<E: Dimension>(
                self,
                first: &Batch<'_, A, D, B, $X>,
                out: &mut ArrayRef<O, E>,
                base: usize,
                mut f: F,
            ) {
                let $others = self;
                let inputs = BaseInputs::$inputs(first.part() $(, $x.part())*);
                for_each_base(&inputs, out, base, |(first, $($x,)*), out| f(first, $($x,)* out), $visit);
            }
        }
    };
}
further_batches!(one, (), (), ());
further_batches!(two, &Batch<'_, A2, D2, B2>, (D2, B2), b, A2 D2 B2 b);
further_batches!(
    three, (&Batch<'_, A2, D2, B2>, &Batch<'_, A3, D3, B3>), ((D2, B2), (D3, B3)), (b, c), A2 D2 B2 b, A3 D3 B3 c
);
