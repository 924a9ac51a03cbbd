//! Where batches are computed: on the calling thread or on several.

use crate::kernel::nest::Threads;
use crate::kernel::product::Workers;
use ndarray::LinalgScalar;

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
    /// The threads that share the elements of a map.
    #[doc(hidden)]
    fn threads(self) -> Option<Threads<T, (A, A2)>>;

    /// The threads that compute parts of products.
    #[doc(hidden)]
    fn workers(self) -> Workers<T>
    where
        T: LinalgScalar;
}

impl<T, A, A2> Executor<T, A, A2> for Serial {
    fn threads(self) -> Option<Threads<T, (A, A2)>> {
        None
    }

    fn workers(self) -> Workers<T>
    where
        T: LinalgScalar,
    {
        Workers::serial()
    }
}

impl<T: Send + Sync, A: Send + Sync, A2: Send + Sync> Executor<T, A, A2> for Parallel {
    fn threads(self) -> Option<Threads<T, (A, A2)>> {
        Some(Threads::new())
    }

    fn workers(self) -> Workers<T>
    where
        T: LinalgScalar,
    {
        Workers::parallel()
    }
}
