//! Where batches are computed: on the calling thread or on several.

use crate::kernel::nest::Threads;
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
    /// The threads that share the elements of a map.
    #[doc(hidden)]
    fn threads(self) -> Option<Threads<T, (A, A2)>>;

    /// The function for products of matrices.
    #[doc(hidden)]
    fn products<D: Dimension, D2: Dimension, E: Dimension>(self) -> Products<T, D, D2, E>
    where
        T: LinalgScalar;
}

impl<T, A, A2> Executor<T, A, A2> for Serial {
    fn threads(self) -> Option<Threads<T, (A, A2)>> {
        None
    }

    fn products<D: Dimension, D2: Dimension, E: Dimension>(self) -> Products<T, D, D2, E>
    where
        T: LinalgScalar,
    {
        products_into
    }
}

impl<T: Send + Sync, A: Send + Sync, A2: Send + Sync> Executor<T, A, A2> for Parallel {
    fn threads(self) -> Option<Threads<T, (A, A2)>> {
        Some(Threads::new())
    }

    fn products<D: Dimension, D2: Dimension, E: Dimension>(self) -> Products<T, D, D2, E>
    where
        T: LinalgScalar,
    {
        par_products_into
    }
}
