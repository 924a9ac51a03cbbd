//! Where batches are computed: on the calling thread or on several.

use super::ResultMemory;
use crate::kernel::map::{each, par_each, par_to_new, to_new};
use crate::kernel::nest::{Inputs, MapElement, Visit, Visitor, Write};
use crate::kernel::product::{par_products_into, products_into};
use ndarray::{ArrayRef, Dimension, LinalgScalar};

/// The calling thread computes the operations of a [`Batch`](crate::Batch).
#[derive(Clone, Copy, Debug)]
pub struct Serial;

/// Rayon's threads compute the operations of a [`Batch`](crate::Batch), made by [`par`](crate::Batch::par).
#[derive(Clone, Copy, Debug)]
pub struct Parallel;

/// Writes products of matrices: takes the output, the operands, and the numbers of base axes of all.
type Products<T, D, D2, E> = fn(&mut ArrayRef<T, E>, (&ArrayRef<T, D>, &ArrayRef<T, D2>), [usize; 3]);

/// [`Serial`], or [`Parallel`] for types that threads can share: computes elements `T` from elements `A` and `A2`.
///
/// Not exported; public because methods have it as a bound.
#[diagnostic::on_unimplemented(
    message = "threads cannot share batches of `{A}`, `{A2}` and results `{T}`",
    note = "after `.par()`, all elements must be `Send` and `Sync`"
)]
pub trait Executor<T, A, A2>: Copy {
    /// Writes the results of an operator.
    #[doc(hidden)]
    fn map<O: ResultMemory<T>>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        out: O,
    ) -> O::Written;

    /// The function for products of matrices.
    #[doc(hidden)]
    fn products<D: Dimension, D2: Dimension, E: Dimension>(self) -> Products<T, D, D2, E>
    where
        T: LinalgScalar;
}

impl<T, A: Copy, A2: Copy> Executor<T, A, A2> for Serial {
    #[inline]
    fn map<O: ResultMemory<T>>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        out: O,
    ) -> O::Written {
        let op = Operator(op);
        let new = |new| to_new(new, inputs, &Visitor::new(Write(op)));
        out.write(new, |out| each(out, inputs, &Visitor::new(op)))
    }

    #[inline]
    fn products<D: Dimension, D2: Dimension, E: Dimension>(self) -> Products<T, D, D2, E>
    where
        T: LinalgScalar,
    {
        products_into
    }
}

impl<T: Send + Sync, A: Copy + Send + Sync, A2: Copy + Send + Sync> Executor<T, A, A2> for Parallel {
    #[inline]
    fn map<O: ResultMemory<T>>(
        self,
        op: impl Fn(A, A2) -> T + Copy + Sync,
        inputs: &Inputs<'_, (A, A2)>,
        out: O,
    ) -> O::Written {
        let op = Operator(op);
        out.write(|new| par_to_new(new, inputs, op), |out| par_each(out, inputs, op))
    }

    #[inline]
    fn products<D: Dimension, D2: Dimension, E: Dimension>(self) -> Products<T, D, D2, E>
    where
        T: LinalgScalar,
    {
        par_products_into
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
