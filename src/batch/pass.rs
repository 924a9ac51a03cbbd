//! The two kinds of pass that compute an operation on all bases.

use super::Batch;
use crate::error::BroadcastError;
use crate::kernel::map::{each, par_each, par_to_new, to_new};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Inputs, Make, Visit};
use crate::kernel::product::{par_products_into, products_into};
use crate::shape::sizes_mut;
use crate::view::place;
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

    /// [`to_new`](Self::to_new) on several threads.
    #[doc(hidden)]
    fn par_to_new<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, result: Reserved<T, E>) -> Array<T, E>
    where
        T: Send,
        A: Send + Sync,
        A2: Sync;

    /// [`write`](Self::write) on several threads.
    #[doc(hidden)]
    fn par_write<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, out: &mut ArrayRef<T, E>)
    where
        T: Send,
        A: Send + Sync,
        A2: Sync;
}

/// An operator between elements of operands that are stretched to the shape of the result.
#[derive(Clone, Copy)]
pub(super) struct Elementwise<F>(pub(super) F);

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> Make<T, (A, A2)> for Elementwise<F> {
    #[inline(always)]
    fn make(&mut self, (&x, &y): (&A, &A2)) -> T {
        (self.0)(x, y)
    }
}

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> Visit<T, (A, A2)> for Elementwise<F> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, (&x, &y): (&A, &A2)) {
        *out = (self.0)(x, y);
    }
}

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T + Copy + Sync> Pass<T, A, A2> for Elementwise<F> {
    #[inline]
    fn to_new<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, result: Reserved<T, E>) -> Array<T, E> {
        let mut make = self;
        to_new(result, &inputs, &mut |rows| rows.fill(&mut make))
    }

    #[inline]
    fn write<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, out: &mut ArrayRef<T, E>) {
        let mut visit = self;
        each(out, &inputs, &mut |rows| rows.visit(&mut visit));
    }

    fn par_to_new<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, result: Reserved<T, E>) -> Array<T, E>
    where
        T: Send,
        A: Send + Sync,
        A2: Sync,
    {
        par_to_new(result, &inputs, self)
    }

    fn par_write<E: Dimension>(self, inputs: Inputs<'_, (A, A2)>, out: &mut ArrayRef<T, E>)
    where
        T: Send,
        A: Send + Sync,
        A2: Sync,
    {
        par_each(out, &inputs, self);
    }
}

/// Products of matrices and vectors, with the numbers of base axes of the result and of each operand.
pub(super) struct Product(pub(super) [usize; 3]);

impl<T: LinalgScalar> Pass<T, T, T> for Product {
    #[inline]
    fn to_new<E: Dimension>(self, inputs: Inputs<'_, (T, T)>, result: Reserved<T, E>) -> Array<T, E> {
        let mut out = result.filled(None, T::zero());
        products_into(&mut out, inputs, self.0);
        out
    }

    #[inline]
    fn write<E: Dimension>(self, inputs: Inputs<'_, (T, T)>, out: &mut ArrayRef<T, E>) {
        products_into(out, inputs, self.0);
    }

    fn par_to_new<E: Dimension>(self, inputs: Inputs<'_, (T, T)>, result: Reserved<T, E>) -> Array<T, E>
    where
        T: Send + Sync,
    {
        let mut out = result.filled(None, T::zero());
        par_products_into(&mut out, inputs, self.0);
        out
    }

    fn par_write<E: Dimension>(self, inputs: Inputs<'_, (T, T)>, out: &mut ArrayRef<T, E>)
    where
        T: Send + Sync,
    {
        par_products_into(out, inputs, self.0);
    }
}

/// Operands that are stretched to the shape of a result.
pub(super) type Stretched<'a, A, A2, E> = (ArrayView<'a, A, E>, ArrayView<'a, A2, E>);

impl<A, D: Dimension, B: Dimension> Batch<'_, A, D, B> {
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
