//! Where batches are computed: on the calling thread or on several.

use crate::kernel::map::{each, par_each, par_to_new, to_new};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Inputs, Make, Visit, Visitor, Write};
use crate::kernel::product::{par_products_into, products_into};
use ndarray::{Array, ArrayRef, Dimension, LinalgScalar};

/// The calling thread computes the operations of a [`Batch`](crate::Batch).
#[derive(Clone, Copy, Debug)]
pub enum OneThread {}

/// Rayon's threads compute the operations of a [`Batch`](crate::Batch), made by [`par`](crate::Batch::par).
#[derive(Clone, Copy, Debug)]
pub enum Threads {}

/// An operator between elements.
#[derive(Clone, Copy)]
struct Operator<F>(F);

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> Make<T, (A, A2)> for Operator<F> {
    #[inline(always)]
    fn make(&mut self, (&x, &y): (&A, &A2)) -> T {
        (self.0)(x, y)
    }
}

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> Visit<T, (A, A2)> for Operator<F> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, (&x, &y): (&A, &A2)) {
        *out = (self.0)(x, y);
    }
}

/// An executor of operations between elements `A` and `A2` that make elements `T`.
///
/// Sealed; [`OneThread`] is one for all types, [`Threads`] for those that threads can share.
#[diagnostic::on_unimplemented(
    message = "threads cannot share batches of `{A}`, `{A2}` and results `{T}`",
    note = "after `.par()`, all elements must be `Send` and `Sync`"
)]
pub trait Runs<T, A: Copy, A2: Copy> {
    #[doc(hidden)]
    fn to_new<E: Dimension>(
        result: Reserved<T, E>,
        inputs: &Inputs<'_, (A, A2)>,
        op: impl Fn(A, A2) -> T + Copy + Sync,
    ) -> Array<T, E>;

    #[doc(hidden)]
    fn write<E: Dimension>(
        out: &mut ArrayRef<T, E>,
        inputs: &Inputs<'_, (A, A2)>,
        op: impl Fn(A, A2) -> T + Copy + Sync,
    );

    /// Products of matrices and vectors, with the numbers of base axes of the result and of each operand.
    #[doc(hidden)]
    fn write_products<E: Dimension>(out: &mut ArrayRef<T, E>, inputs: Inputs<'_, (T, T)>, axes: [usize; 3])
    where
        T: LinalgScalar;
}

macro_rules! executors {
    (
        $([$($bound:ident)*] $X:ident, |$op:ident| $to_new:expr, $write:expr, $products_into:path;)*
    ) => {$(
        impl<T: $($bound +)*, A: Copy $(+ $bound)*, A2: Copy $(+ $bound)*> Runs<T, A, A2> for $X {
            #[inline]
            fn to_new<E: Dimension>(
                result: Reserved<T, E>,
                inputs: &Inputs<'_, (A, A2)>,
                op: impl Fn(A, A2) -> T + Copy + Sync,
            ) -> Array<T, E> {
                let $op = Operator(op);
                $to_new(result, inputs)
            }

            #[inline]
            fn write<E: Dimension>(
                out: &mut ArrayRef<T, E>,
                inputs: &Inputs<'_, (A, A2)>,
                op: impl Fn(A, A2) -> T + Copy + Sync,
            ) {
                let $op = Operator(op);
                $write(out, inputs);
            }

            #[inline]
            fn write_products<E: Dimension>(out: &mut ArrayRef<T, E>, inputs: Inputs<'_, (T, T)>, axes: [usize; 3])
            where
                T: LinalgScalar,
            {
                $products_into(out, inputs, axes);
            }
        }
    )*};
}
executors! {
    [] OneThread, |op| |result, inputs| {
        to_new(result, inputs, &Visitor::new(Write(op)))
    }, |out, inputs| {
        each(out, inputs, &Visitor::new(op));
    }, products_into;
    [Send Sync] Threads, |op| |result, inputs| par_to_new(result, inputs, op), |out, inputs| par_each(out, inputs, op),
    par_products_into;
}
