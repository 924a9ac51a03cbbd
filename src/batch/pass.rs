//! The two kinds of pass that compute an operation on all bases.

use super::{Batch, Runs};
use crate::error::BroadcastError;
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Inputs;
use crate::shape::sizes_mut;
use crate::view::place;
use core::marker::PhantomData;
use ndarray::{Array, ArrayRef, ArrayView, Dimension, LinalgScalar};

/// The base of a result, and the pass that computes it. If the pass needs operands that are stretched to the result's
/// shape, also the number of the result's base axes behind those of the first operand.
pub(super) type Planned<B, P> = Result<(B, P, Option<usize>), BroadcastError>;

/// A pass over operands whose shapes were checked, with elements `A` and `A2`, that makes elements `T`.
///
/// Not exported; public because a hidden method of a public trait names it.
pub trait Pass<T, A, A2> {
    /// The results as a new array.
    #[doc(hidden)]
    fn to_new<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, result: Reserved<T, E>) -> Array<T, E>;

    /// Writes the results.
    #[doc(hidden)]
    fn write<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, out: &mut ArrayRef<T, E>);
}

/// An operator between elements of operands that are stretched to the shape of the result, on the executor `X`.
pub(super) struct Elementwise<F, X>(F, PhantomData<X>);

impl<F, X> Elementwise<F, X> {
    pub(super) fn new(op: F) -> Self {
        Self(op, PhantomData)
    }
}

impl<T, A, A2, F, X> Pass<T, A, A2> for Elementwise<F, X>
where
    A: Copy,
    A2: Copy,
    F: Fn(A, A2) -> T + Copy + Sync,
    X: Runs<T, A, A2>,
{
    #[inline]
    fn to_new<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, result: Reserved<T, E>) -> Array<T, E> {
        X::to_new(result, &inputs, self.0)
    }

    #[inline]
    fn write<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, out: &mut ArrayRef<T, E>) {
        X::write(out, &inputs, self.0);
    }
}

/// Products of matrices and vectors, with the numbers of base axes of the result and of each operand, on the executor `X`.
pub(super) struct Product<X>([usize; 3], PhantomData<X>);

impl<X> Product<X> {
    pub(super) fn new(axes: [usize; 3]) -> Self {
        Self(axes, PhantomData)
    }
}

impl<T: LinalgScalar, X: Runs<T, T, T>> Pass<T, T, T> for Product<X> {
    #[inline]
    fn to_new<E: Dimension>(self, inputs: Inputs<'_, (T, T)>, result: Reserved<T, E>) -> Array<T, E> {
        let mut out = result.filled(None, T::zero());
        X::write_products(&mut out, inputs, self.0);
        out
    }

    #[inline]
    fn write<E: Dimension>(self, inputs: Inputs<'_, (T, T)>, out: &mut ArrayRef<T, E>) {
        X::write_products(out, inputs, self.0);
    }
}

/// Operands that are stretched to the shape of a result.
pub(super) type Stretched<'a, A, A2, E> = (ArrayView<'a, A, E>, ArrayView<'a, A2, E>);

impl<A, D: Dimension, B: Dimension, X> Batch<'_, A, D, B, X> {
    /// The operands of a pass, stretched to the shape of the result unless `behind` is `None`. See [`Planned`].
    #[inline]
    pub(super) fn inputs<'s, 'a: 's, A2, D2: Dimension, B2: Dimension, E: Dimension>(
        &'a self,
        other: &'a Batch<'_, A2, D2, B2>,
        behind: Option<usize>,
        shape: &[usize],
        stretched: &'s mut Option<Stretched<'a, A, A2, E>>,
    ) -> Inputs<'s, (A, A2)> {
        let Some(behind) = behind else { return Inputs::from((&*self.view, &*other.view)) };
        let batch = shape.len() - (self.base + behind).max(other.base);
        let both = (self.placed(shape, batch, behind), other.placed(shape, batch, 0));
        let (a, b) = stretched.insert(both);
        Inputs::from((&**a, &**b))
    }

    /// The view stretched to `shape`, its batch aligned at the right of the first `batch` axes and its base before the
    /// last `behind` axes.
    #[inline]
    fn placed<E: Dimension>(&self, shape: &[usize], batch: usize, behind: usize) -> ArrayView<'_, A, E> {
        let base = shape.len() - behind - self.base;
        let places = (batch - self.batch_shape().len()..batch).chain(base..);
        let mut whole = E::zeros(shape.len());
        sizes_mut(&mut whole).copy_from_slice(shape);
        place(&self.view, whole, places)
    }
}
