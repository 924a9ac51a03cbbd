//! Halves of a pass on two threads.
//!
//! # Invariant
//! Loops lead to a [`Join`] only if threads may share them and the arrays that they are for. [`Threads`] says so of the arrays: it is
//! made for a type of outputs that is `Send` and a type of inputs that is `Sync`. The functions that take it say so of the loops:
//! they require closures and operations that are `Sync`. A caller that forgets a bound does not compile:
//!
//! ```text
//! fn third<T, E: Elements, V: Visit<T, E> + Copy>(visit: V) -> SharedVisitor<V, T, E> {
//!     SharedVisitor::new(visit).on(Some(Threads::new()))   // error[E0277]: `T`, `E` and `V` cannot be shared between threads safely
//! }
//! ```

use crate::kernel::threads::in_two;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Makes a type invariant in `T`.
pub(super) type Invariant<T> = PhantomData<fn(T) -> T>;

/// Runs halves of passes that write elements `T` and read elements `E` on two threads. Only parallel calls make one, so that
/// other programs do not link a thread pool.
///
/// Not exported; public because a hidden method of a public trait returns it.
pub struct Threads<T, E>(Join, Invariant<(T, E)>);

impl<T: Send, E: Sync> Threads<T, E> {
    pub(crate) fn new() -> Self {
        let join = Join(|first, second| {
            in_two(|| first.run(), || second.run());
        });
        Self(join, PhantomData)
    }
}

impl<T, E> Threads<T, E> {
    /// For elements that are written to slots.
    pub(crate) fn of_slots(&self) -> Threads<MaybeUninit<T>, E> {
        Threads(self.0, PhantomData)
    }

    pub(super) fn join(self) -> Join {
        self.0
    }
}

/// [`Threads`], without the types.
#[derive(Clone, Copy)]
pub(crate) struct Join(fn(&mut Task<'_>, &mut Task<'_>));

impl Join {
    /// The results of both functions, which may run on two threads.
    ///
    /// # Safety
    /// The functions have what the `Join` is for, and nothing else that threads may not share. Their results may be sent.
    pub(super) unsafe fn run<R>(self, first: impl FnOnce() -> R, second: impl FnOnce() -> R) -> [R; 2] {
        let (mut first, mut second, mut results) = (Some(first), Some(second), [None, None]);
        let [one, other] = &mut results;
        (self.0)(
            &mut Task(&mut || *one = first.take().map(|run| run())),
            &mut Task(&mut || *other = second.take().map(|run| run())),
        );
        results.map(|result| result.expect("both have run"))
    }
}

/// A function that may be sent to another thread.
struct Task<'t>(&'t mut dyn FnMut());

// SAFETY: `Join::run` alone makes one, whose caller promises it.
unsafe impl Send for Task<'_> {}

impl Task<'_> {
    fn run(&mut self) {
        (self.0)();
    }
}
