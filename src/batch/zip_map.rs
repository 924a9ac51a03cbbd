//! Operations as closures, called for every batch element.

use super::{Batch, BatchOf, JointBatch, JointBatch3, OneThread, ResultBase, Threads, WithBase};
use crate::error::BroadcastError;
use crate::kernel::bases::{for_each_base, par_for_each_base};
use crate::kernel::nest::BaseInputs;
use crate::shape::{BatchShape, LessAxes, batch_ndim, check_batches_into, result_of, sizes};
use ndarray::{Array, ArrayRef, ArrayView, ArrayViewMut, DimAdd, DimMax, Dimension};

impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {
    /// The array and the number of its base axes.
    fn part(&self) -> (&ArrayRef<A, D>, usize) {
        (&self.view, self.base)
    }
}

/// The four methods, for closures and elements with these bounds. `$each` calls a closure for each base.
macro_rules! closures {
    (
        $X:ty, [$Closure:ident $($shared:tt)*], [$($element:tt)*], [$($result:tt)*], $each:path, ($($kind:tt)*);
        $(#[$map:meta])* map;
        $(#[$zip_map:meta])* zip_map;
        $(#[$zip_map3:meta])* zip_map3;
        $(#[$zip_map_into:meta])* zip_map_into;
    ) => {
        impl<A: $($element)*, D: Dimension, B: Dimension> Batch<'_, A, D, B, $X> {
            $(#[$map])*
            pub fn map<T: ResultBase<R>, R: Dimension, O: Clone + Default $($result)*, F>(
                &self,
                base: T,
                $($kind)* f: F,
            ) -> Result<Array<O, WithBase<BatchOf<D, B>, R>>, BroadcastError>
            where
                D: LessAxes<B, Left: DimAdd<R>>,
                F: $Closure(ArrayView<'_, A, B>, ArrayViewMut<'_, O, R>) $($shared)*,
            {
                let (mut result, base) = new_result(&[self.shape()], &base)?;
                $each(&BaseInputs::one(self.part()), &mut result, base, |(a,), out| f(a, out));
                Ok(result)
            }

            $(#[$zip_map])*
            pub fn zip_map<A2: $($element)*, D2: LessAxes<B2>, B2: Dimension, T, R: Dimension, O, F>(
                &self,
                other: &Batch<'_, A2, D2, B2>,
                base: T,
                $($kind)* f: F,
            ) -> Result<Array<O, WithBase<JointBatch<D, B, D2, B2>, R>>, BroadcastError>
            where
                D: LessAxes<B, Left: DimMax<D2::Left, Output: DimAdd<R>>>,
                T: ResultBase<R>,
                O: Clone + Default $($result)*,
                F: $Closure(ArrayView<'_, A, B>, ArrayView<'_, A2, B2>, ArrayViewMut<'_, O, R>) $($shared)*,
            {
                let (mut result, base) = new_result(&[self.shape(), other.shape()], &base)?;
                $each(&BaseInputs::two(self.part(), other.part()), &mut result, base, |(a, b), out| f(a, b, out));
                Ok(result)
            }

            $(#[$zip_map3])*
            pub fn zip_map3<A2, D2: LessAxes<B2>, B2: Dimension, A3, D3: LessAxes<B3>, B3: Dimension, T, R, O, F>(
                &self,
                second: &Batch<'_, A2, D2, B2>,
                third: &Batch<'_, A3, D3, B3>,
                base: T,
                $($kind)* f: F,
            ) -> Result<Array<O, WithBase<JointBatch3<D, B, D2, B2, D3, B3>, R>>, BroadcastError>
            where
                A2: $($element)*,
                A3: $($element)*,
                D: LessAxes<B, Left: DimMax<D2::Left, Output: DimMax<D3::Left, Output: DimAdd<R>>>>,
                T: ResultBase<R>,
                R: Dimension,
                O: Clone + Default $($result)*,
                F: $Closure(
                    ArrayView<'_, A, B>,
                    ArrayView<'_, A2, B2>,
                    ArrayView<'_, A3, B3>,
                    ArrayViewMut<'_, O, R>,
                ) $($shared)*,
            {
                let (mut result, base) = new_result(&[self.shape(), second.shape(), third.shape()], &base)?;
                let operands = BaseInputs::three(self.part(), second.part(), third.part());
                $each(&operands, &mut result, base, |(a, b, c), out| f(a, b, c, out));
                Ok(result)
            }

            $(#[$zip_map_into])*
            pub fn zip_map_into<A2: $($element)*, D2: Dimension, B2: Dimension, E: Dimension, R: Dimension, O, F>(
                &self,
                other: &Batch<'_, A2, D2, B2>,
                out: &mut ArrayRef<O, E>,
                $($kind)* f: F,
            ) -> Result<(), BroadcastError>
            where
                O: Sized $($result)*,
                F: $Closure(ArrayView<'_, A, B>, ArrayView<'_, A2, B2>, ArrayViewMut<'_, O, R>) $($shared)*,
            {
                let base = base_of_out::<R>(&[self.shape(), other.shape()], out.shape())?;
                $each(&BaseInputs::two(self.part(), other.part()), out, base, |(a, b), out| f(a, b, out));
                Ok(())
            }
        }
    };
}
closures! {
    OneThread, [FnMut], [], [], for_each_base, (mut);
    /// Applies a closure to the base of each batch element.
    ///
    /// # Shapes
    /// The batch shape, then `base`: a shape, or a [`Signature`](crate::Signature) that gives it. `f` gets a view
    /// of a base and a mutable view of the result's base, which is filled with the element type's default. The order of the
    /// batch elements is unspecified. For an empty batch, the result is empty and `f` is not called. A base may be
    /// empty or `()`.
    ///
    /// # Errors
    /// In this order:
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size or one above `isize::MAX`;
    /// [`OperandCount`](crate::ErrorKind::OperandCount) for a signature with another number of operands;
    /// [`ResultCount`](crate::ErrorKind::ResultCount) for a signature with several results;
    /// any other error of [`Signature::resolve`](crate::Signature::resolve);
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, ArrayView2, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let a = array![[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]];
    /// let traces: Array1<f64> = a.batch::<Ix2>()?.map((), |m: ArrayView2<f64>, mut t| t[()] = m.diag().sum())?;
    /// assert_eq!(traces, array![5.0, 13.0]);
    /// assert!(a.batch::<Ix2>()?.map([-1], |_, _: ndarray::ArrayViewMut1<f64>| ()).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `jax.vmap(f)(a)`, `torch.vmap(f)(a)`, `numpy.vectorize(f, signature="(m,n)->()")(a)`, for any number of batch
    /// axes at once. Each view of a base of dynamic rank with more than 4 axes costs an allocation.
    #[doc(alias("vmap", "vectorize", "apply_along_axis", "map_axis"))]
    map;

    /// Applies a closure to the bases of each pair of batch elements, with the batches broadcast.
    ///
    /// # Shapes
    /// The joint batch shape, as in [`batch_broadcast`](super::batch_broadcast()), then `base`, as in
    /// [`map`](Self::map). `f` gets a view of each base and a mutable view of the result's base.
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
    /// use ndarray::{array, Array3, Array4, ArrayView1, ArrayView2, ArrayViewMut1, Ix1, Ix2};
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
    /// A generalised ufunc of NumPy, `numpy.vectorize(f, signature="(m,n),(n)->(m)")(c, strain)`; `torch.vmap` once
    /// for each batch axis.
    #[doc(alias("vmap", "vectorize", "gufunc"))]
    zip_map;

    /// [`zip_map`](Self::zip_map) of three operands.
    ///
    /// # Shapes
    /// As [`zip_map`](Self::zip_map).
    ///
    /// # Errors
    /// As [`zip_map`](Self::zip_map).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, ArrayView1, Ix1};
    /// use ndarray_broadcast::{prelude::*, Signature};
    ///
    /// const WEIGHTED: Signature = Signature::literal("(i),(i),(i)->()");
    /// let (x, y, w) = (array![[1.0, 2.0], [3.0, 4.0]], array![1.0, 1.0], array![[10.0, 1.0]]);
    /// let (x, y, w) = (x.batch::<Ix1>()?, y.batch::<Ix1>()?, w.batch::<Ix1>()?);
    /// let inner = |x: ArrayView1<f64>, y: ArrayView1<f64>, w: ArrayView1<f64>, mut s: ndarray::ArrayViewMut0<f64>| {
    ///     s[()] = (0..x.len()).map(|i| x[i] * y[i] * w[i]).sum();
    /// };
    /// let sums: Array1<f64> = x.zip_map3(&y, &w, WEIGHTED, inner)?;
    /// assert_eq!(sums, array![12.0, 34.0]);
    /// let three = array![1.0, 2.0, 3.0];
    /// assert!(x.zip_map3(&y, &three.batch::<Ix1>()?, WEIGHTED, inner).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`zip_map`](Self::zip_map).
    zip_map3;

    /// [`zip_map`](Self::zip_map) into an existing array: `f` gets mutable views of its bases, with their present elements.
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
    ///     "cannot write what comes of (2; 2) and (; 2) into (2, 3;): \
    ///      batch axis 1 has sizes 2 and 3, expected equal sizes or 1 in the operands",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `out=` of a generalised ufunc of NumPy.
    zip_map_into;
}
closures! {
    Threads, [Fn + Sync], [Sync], [+ Send], par_for_each_base, ();
    /// As on one thread, see [`par`](Batch::par): threads share the batch elements.
    ///
    /// # Errors
    /// As on one thread.
    map;
    /// As on one thread, see [`par`](Batch::par): threads share the batch elements.
    ///
    /// # Errors
    /// As on one thread.
    zip_map;
    /// As on one thread, see [`par`](Batch::par): threads share the batch elements.
    ///
    /// # Errors
    /// As on one thread.
    zip_map3;
    /// As on one thread, see [`par`](Batch::par): threads share the batch elements.
    ///
    /// # Errors
    /// As on one thread.
    zip_map_into;
}

/// A result filled with the default, and its number of base axes.
#[inline]
fn new_result<O: Clone + Default, R: Dimension, W: Dimension>(
    parts: &[BatchShape<'_>],
    base: &impl ResultBase<R>,
) -> Result<(Array<O, W>, usize), BroadcastError> {
    let base = base.base(parts)?;
    Ok((result_of(parts, sizes(&base))?.filled(None, O::default()), base.ndim()))
}

/// The number of base axes of an array into which results are written: that of `R`, else what the batch leaves.
fn base_of_out<R: Dimension>(parts: &[BatchShape<'_>], out: &[usize]) -> Result<usize, BroadcastError> {
    let base = R::NDIM.unwrap_or(out.len().saturating_sub(batch_ndim(parts)));
    check_batches_into(parts, BatchShape::new(out, base)?)?;
    Ok(base)
}
