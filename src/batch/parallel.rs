//! Operations on the bases of batch elements, on several threads. Without the feature `rayon` they run on the calling
//! thread.

use super::apply::check_out;
use super::pass::{Pass, Stretched, inputs};
use super::zip_map::{base_of_out, new_result};
use super::{BaseOp, Batch, JointBatch, ResultBase, WithBase};
use crate::error::BroadcastError;
use crate::shape::{LessAxes, result_of, sizes};
use crate::view::par_for_each_base;
use ndarray::{Array, ArrayRef, ArrayView, ArrayViewMut, DimAdd, DimMax, Dimension};

impl<A: Sync, D: Dimension, B: Dimension> Batch<'_, A, D, B> {
    /// [`zip_map`](Self::zip_map) on several threads, which share the batch elements.
    ///
    /// # Shapes
    /// As [`zip_map`](Self::zip_map).
    ///
    /// # Errors
    /// As [`zip_map`](Self::zip_map).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, Ix1, Ix2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (m, v) = (Array3::<f64>::ones((500, 3, 3)), Array2::<f64>::ones((1, 3)));
    /// let times = |m: ArrayView2<f64>, v: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| s.assign(&m.dot(&v));
    /// let products = m.batch::<Ix2>()?.par_zip_map(&v.batch::<Ix1>()?, 3, times)?;
    /// assert_eq!(products, Array2::from_elem((500, 3), 3.0));
    /// let two = Array2::<f64>::ones((2, 3));
    /// assert!(m.batch::<Ix2>()?.par_zip_map(&two.batch::<Ix1>()?, 3, times).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`zip_map`](Self::zip_map).
    pub fn par_zip_map<A2: Sync, D2: LessAxes<B2>, B2: Dimension, T: ResultBase<R>, R: Dimension, O, F>(
        &self,
        other: &Batch<'_, A2, D2, B2>,
        base: T,
        f: F,
    ) -> Result<Array<O, WithBase<JointBatch<D, B, D2, B2>, R>>, BroadcastError>
    where
        D: LessAxes<B, Left: DimMax<D2::Left, Output: DimAdd<R>>>,
        O: Clone + Default + Send,
        F: Fn(ArrayView<'_, A, B>, ArrayView<'_, A2, B2>, ArrayViewMut<'_, O, R>) + Sync,
    {
        let (mut result, base) = new_result(&[self.shape(), other.shape()], &base)?;
        par_for_each_base(&(self.bases(), other.bases()), &mut result, base, |(a, b), out| f(a, b, out));
        Ok(result)
    }

    /// [`zip_map_into`](Self::zip_map_into) on several threads, which share the batch elements.
    ///
    /// # Shapes
    /// As [`zip_map_into`](Self::zip_map_into).
    ///
    /// # Errors
    /// As [`zip_map_into`](Self::zip_map_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut0, Ix1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (x, y) = (Array2::<f64>::ones((500, 3)), Array1::<f64>::ones(3));
    /// let (x, y) = (x.batch::<Ix1>()?, y.batch::<Ix1>()?);
    /// let add = |x: ArrayView1<f64>, y: ArrayView1<f64>, mut s: ArrayViewMut0<f64>| s[()] += x.dot(&y);
    /// let mut sums = Array1::ones(500);
    /// x.par_zip_map_into(&y, &mut sums, add)?;
    /// assert_eq!(sums, Array1::from_elem(500, 4.0));
    /// assert!(x.par_zip_map_into(&y, &mut Array1::ones(3), add).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`zip_map_into`](Self::zip_map_into).
    pub fn par_zip_map_into<A2: Sync, D2: Dimension, B2: Dimension, E: Dimension, R: Dimension, O: Send, F>(
        &self,
        other: &Batch<'_, A2, D2, B2>,
        out: &mut ArrayRef<O, E>,
        f: F,
    ) -> Result<(), BroadcastError>
    where
        F: Fn(ArrayView<'_, A, B>, ArrayView<'_, A2, B2>, ArrayViewMut<'_, O, R>) + Sync,
    {
        let base = base_of_out::<R>(&[self.shape(), other.shape()], out.shape())?;
        par_for_each_base(&(self.bases(), other.bases()), out, base, |(a, b), out| f(a, b, out));
        Ok(())
    }

    /// [`apply`](Self::apply) on several threads, which share the batch elements. The result has the same bits.
    ///
    /// # Shapes
    /// As [`apply`](Self::apply).
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array2, Array3, Ix1, Ix2};
    /// use ndarray_broadcast::{base_op, prelude::*};
    ///
    /// let (m, v) = (Array3::<f64>::ones((500, 30, 30)), Array2::<f64>::ones((1, 30)));
    /// let products = m.batch::<Ix2>()?.par_apply(base_op::MatVec, &v.batch::<Ix1>()?)?;
    /// assert_eq!(products, Array2::from_elem((500, 30), 30.0));
    /// let two = Array2::<f64>::ones((2, 30));
    /// assert!(m.batch::<Ix2>()?.par_apply(base_op::MatVec, &two.batch::<Ix1>()?).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As the method of the operation; PyTorch uses several threads by default.
    pub fn par_apply<P: BaseOp<A, A2, B, B2, Output: Send>, A2: Sync, D2: LessAxes<B2>, B2: Dimension>(
        &self,
        op: P,
        other: &Batch<'_, A2, D2, B2>,
    ) -> Result<Array<P::Output, WithBase<JointBatch<D, B, D2, B2>, P::Base>>, BroadcastError>
    where
        A: Send,
        D: LessAxes<B, Left: DimMax<D2::Left, Output: DimAdd<P::Base>>>,
    {
        let shapes = [self.shape(), other.shape()];
        let (pass, result) = (op.pass(), result_of(&shapes, sizes(&op.base(&shapes)?))?);
        let mut stretched: Option<Stretched<A, A2, WithBase<JointBatch<D, B, D2, B2>, P::Base>>> = None;
        let inputs = inputs(self, other, pass.behind(), result.shape(), &mut stretched);
        Ok(pass.par_to_new(inputs, result))
    }

    /// [`apply_into`](Self::apply_into) on several threads, which share the batch elements.
    ///
    /// # Shapes
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Errors
    /// As [`apply_into`](Self::apply_into).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array1, Array2, Ix1};
    /// use ndarray_broadcast::{base_op, prelude::*};
    ///
    /// let (x, y) = (Array2::<f64>::ones((500, 3)), Array1::<f64>::ones(3));
    /// let (x, y) = (x.batch::<Ix1>()?, y.batch::<Ix1>()?);
    /// let mut sums = Array2::zeros((500, 3));
    /// x.par_apply_into(base_op::Add, &y, &mut sums)?;
    /// assert_eq!(sums, Array2::from_elem((500, 3), 2.0));
    /// assert!(x.par_apply_into(base_op::Add, &y, &mut Array2::zeros((3, 3))).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`par_apply`](Self::par_apply), with `out=`.
    pub fn par_apply_into<P, A2: Sync, D2: Dimension, B2: Dimension, E: Dimension>(
        &self,
        op: P,
        other: &Batch<'_, A2, D2, B2>,
        out: &mut ArrayRef<P::Output, E>,
    ) -> Result<(), BroadcastError>
    where
        A: Send,
        P: BaseOp<A, A2, B, B2, Output: Send>,
    {
        let shapes = [self.shape(), other.shape()];
        check_out(&shapes, sizes(&op.base(&shapes)?), out.shape())?;
        let (pass, mut stretched) = (op.pass(), None::<Stretched<A, A2, E>>);
        let inputs = inputs(self, other, pass.behind(), out.shape(), &mut stretched);
        pass.par_write(inputs, out);
        Ok(())
    }
}
