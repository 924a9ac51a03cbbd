//! Executors of a pass: the calling thread, or several threads with the feature `rayon`.

#![forbid(unsafe_code)]

use super::nest::{Elements, Nest, State, Written, steps};

/// The fewest elements of half a pass: a smaller one takes less time than waking a thread. Measured on Zen 4 with f32: 2^16 to
/// 2^20 take about as long.
pub(super) const GRAIN: usize = 1 << 18;

/// Runs a task on two parts of a nest.
///
/// A trait of types and no generic method, so that each executor has its own bounds.
pub(crate) trait Executor<T, E: Elements, K, R>: Copy {
    fn both(self, task: &K, parts: [Nest<'_, T, E>; 2], run: fn(&K, Nest<'_, T, E>) -> R) -> [R; 2];
}

/// The calling thread alone.
#[derive(Clone, Copy)]
pub(crate) struct Serial;

impl<T, E: Elements, K, R> Executor<T, E, K, R> for Serial {
    #[inline]
    fn both(
        self,
        task: &K,
        [first, second]: [Nest<'_, T, E>; 2],
        run: fn(&K, Nest<'_, T, E>) -> R,
    ) -> [R; 2] {
        [run(task, first), run(task, second)]
    }
}

/// Rayon's threads; without the feature the calling thread, with the same bounds.
#[derive(Clone, Copy)]
pub(crate) struct Threads;

impl<T: Send, E: Elements + Sync, K: Sync, R: Send> Executor<T, E, K, R> for Threads {
    #[inline]
    fn both(
        self,
        task: &K,
        [first, second]: [Nest<'_, T, E>; 2],
        run: fn(&K, Nest<'_, T, E>) -> R,
    ) -> [R; 2] {
        join(|| run(task, first), || run(task, second)).into()
    }
}

/// What passes over parts of an output say together.
pub(crate) trait Total {
    fn none() -> Self;

    fn add(&mut self, more: Self);
}

impl Total for () {
    fn none() {}

    fn add(&mut self, (): Self) {}
}

impl Total for Written<'_> {
    fn none() -> Self {
        Written::none()
    }

    fn add(&mut self, more: Self) {
        self.add(more);
    }
}

/// Runs parts of a nest, of at least `grain` indices each, on several threads.
pub(super) fn in_parts<T: Send, E: Elements + Sync, R: Total + Send>(
    nest: Nest<'_, T, E>,
    grain: usize,
    run: &(impl Fn(Nest<'_, T, E>) -> R + Sync),
) -> R {
    let loops = nest.loops();
    if loops.is_empty() || steps(loops) / 2 < grain.max(1) {
        return run(nest);
    }
    let mut room = State::new();
    let [first, second] = nest.halves(0, &mut room);
    let (mut done, more) = join(|| in_parts(first, grain, run), || in_parts(second, grain, run));
    done.add(more);
    done
}

/// Calls both, on two threads if one is free.
pub(crate) fn join<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "rayon")]
    return rayon::join(first, second);
    #[cfg(not(feature = "rayon"))]
    (first(), second())
}

/// The number of threads.
pub(crate) fn count() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}
