//! Outer products of vectors: element by element, after each has an axis for the other's.

use super::operations::BaseDim;
use super::{BaseOp, Batch, Signature, base_op};
use crate::error::BroadcastError;
use crate::kernel::each::{each, par_each, par_to_new, to_new};
use crate::kernel::nest::Inputs;
use crate::shape::{BatchShape, sizes, sizes_mut};
use crate::view::place;
use core::ops::Mul;
use ndarray::{Array, ArrayRef, ArrayView, Dimension, Ix1, Ix2};

/// The vectors with the shape of the result: that of `a` along its columns, that of `b` along its rows.
fn expanded<'a, 'b, A, A2, D: Dimension, B: Dimension, D2: Dimension, B2: Dimension, E: Dimension>(
    a: &'a Batch<'_, A, D, B>,
    b: &'b Batch<'_, A2, D2, B2>,
    shape: &[usize],
) -> (ArrayView<'a, A, E>, ArrayView<'b, A2, E>) {
    let mut whole = E::zeros(shape.len());
    sizes_mut(&mut whole).copy_from_slice(shape);
    let (row, column) = (shape.len() - 2, shape.len() - 1);
    let places = |batch: usize, base: usize| (row - batch..row).chain([base]);
    let a = place(a.whole(), whole.clone(), places(a.shape().batch().len(), row));
    (a, place(b.whole(), whole, places(b.shape().batch().len(), column)))
}

impl<A, A2, B: BaseDim<Ix1>, B2: BaseDim<Ix1>> BaseOp<A, A2, B, B2> for base_op::Outer
where
    A: Copy + Mul<A2, Output: Copy>,
    A2: Copy,
{
    type Output = A::Output;
    type Base = Ix2;

    #[inline]
    fn base(self, parts: &[BatchShape<'_>; 2]) -> Result<Ix2, BroadcastError> {
        if let (&[m], &[n]) = (parts[0].base(), parts[1].base()) {
            return Ok(Ix2(m, n));
        }
        let signature = const { Signature::literal("(m),(n)->(m,n)") };
        Err(signature.base_of_result(parts).expect_err("a signature that does not fit either"))
    }

    fn to_new<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        shape: E,
    ) -> Array<Self::Output, E> {
        let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, sizes(&shape));
        to_new(shape, &Inputs::from((&*a, &*b)), base_op::Mul)
    }

    fn into<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        out: &mut ArrayRef<Self::Output, E>,
    ) {
        let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, out.shape());
        each(out, &Inputs::from((&*a, &*b)), &mut base_op::Mul);
    }

    fn par_to_new<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        shape: E,
    ) -> Array<Self::Output, E>
    where
        A: Send + Sync,
        A2: Sync,
        Self::Output: Send,
    {
        let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, sizes(&shape));
        par_to_new(shape, &Inputs::from((&*a, &*b)), base_op::Mul)
    }

    fn par_into<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        a: &Batch<'_, A, D, B>,
        b: &Batch<'_, A2, D2, B2>,
        out: &mut ArrayRef<Self::Output, E>,
    ) where
        A: Send + Sync,
        A2: Sync,
        Self::Output: Send,
    {
        let (a, b) = expanded::<_, _, _, _, _, _, E>(a, b, out.shape());
        par_each(out, &Inputs::from((&*a, &*b)), base_op::Mul);
    }
}
