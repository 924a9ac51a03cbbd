//! Where batches are computed: on the calling thread or on several.

use crate::kernel::map::{each, par_each, par_to_new, to_new};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Inputs, MapElement, Visit, Visitor, Write};
use crate::kernel::product::{par_products_into, products_into};
use ndarray::{Array, ArrayRef, Dimension, LinalgScalar};

/// The calling thread computes the operations of a [`Batch`](crate::Batch).
#[derive(Clone, Copy, Debug)]
pub struct Serial;

/// Rayon's threads compute the operations of a [`Batch`](crate::Batch), made by [`par`](crate::Batch::par).
#[derive(Clone, Copy, Debug)]
pub struct Parallel;

/// [`Serial`], or [`Parallel`] for types that threads can share: computes elements `T` from elements `A` and `A2`.
///
/// Not exported; public because methods have it as a bound.
#[diagnostic::on_unimplemented(
    message = "threads cannot share batches of `{A}`, `{A2}` and results `{T}`",
    note = "after `.par()`, all elements must be `Send` and `Sync`"
)]
pub trait Executor<T, A, A2>: Copy {
    /// The operator of each pair of elements, as a new array.
    #[doc(hidden)]
    fn map<E: Dimension>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        result: Reserved<T, E>,
    ) -> Array<T, E>;

    /// [`map`](Self::map) into an existing array.
    #[doc(hidden)]
    fn map_into<E: Dimension>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        out: &mut ArrayRef<T, E>,
    );

    /// Products of matrices and vectors, with the numbers of base axes of the result and of each operand.
    #[doc(hidden)]
    fn multiply_into<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        axes: [usize; 3],
        operands: (&ArrayRef<T, D>, &ArrayRef<T, D2>),
        out: &mut ArrayRef<T, E>,
    ) where
        T: LinalgScalar;
}

impl<T, A: Copy, A2: Copy> Executor<T, A, A2> for Serial {
    #[inline]
    fn map<E: Dimension>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        result: Reserved<T, E>,
    ) -> Array<T, E> {
        to_new(result, inputs, &Visitor::new(Write(Operator(op))))
    }

    #[inline]
    fn map_into<E: Dimension>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        out: &mut ArrayRef<T, E>,
    ) {
        each(out, inputs, &Visitor::new(Operator(op)));
    }

    #[inline]
    fn multiply_into<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        axes: [usize; 3],
        operands: (&ArrayRef<T, D>, &ArrayRef<T, D2>),
        out: &mut ArrayRef<T, E>,
    ) where
        T: LinalgScalar,
    {
        products_into(out, operands, axes);
    }
}

impl<T: Send + Sync, A: Copy + Send + Sync, A2: Copy + Send + Sync> Executor<T, A, A2> for Parallel {
    #[inline]
    fn map<E: Dimension>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        result: Reserved<T, E>,
    ) -> Array<T, E> {
        par_to_new(result, inputs, Operator(op))
    }

    #[inline]
    fn map_into<E: Dimension>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        out: &mut ArrayRef<T, E>,
    ) {
        par_each(out, inputs, Operator(op));
    }

    #[inline]
    fn multiply_into<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        axes: [usize; 3],
        operands: (&ArrayRef<T, D>, &ArrayRef<T, D2>),
        out: &mut ArrayRef<T, E>,
    ) where
        T: LinalgScalar,
    {
        par_products_into(out, operands, axes);
    }
}

/// An operator between elements, for the kernel.
#[derive(Clone, Copy)]
struct Operator<F>(F);

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> MapElement<T, (A, A2)> for Operator<F> {
    #[inline(always)]
    fn map(&mut self, (&x, &y): (&A, &A2)) -> T {
        (self.0)(x, y)
    }
}

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> Visit<T, (A, A2)> for Operator<F> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, (&x, &y): (&A, &A2)) {
        *out = (self.0)(x, y);
    }
}
