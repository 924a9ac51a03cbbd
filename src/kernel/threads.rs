//! Who carries out a pass: the calling thread, or several.

use super::loops::Loop;
#[cfg(feature = "rayon")]
use super::loops::{Loops, steps};
use super::nest::{Elements, Nest};

/// What is done with a nest, or with each of its parts.
pub(crate) trait Task<T, E: Elements> {
    /// The fewest steps that are worth another thread.
    fn grain(&self) -> usize;

    /// Whether the loop at this place of these may be cut: not within what one result is made of.
    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool;

    fn run(&self, part: Nest<'_, T, E>);
}

/// Has a task run on parts of a nest that together are the nest.
pub(crate) trait Executor<T, E: Elements, K: Task<T, E>>: Workers {
    fn run(self, nest: Nest<'_, T, E>, task: &K);
}

/// Whether there may be several parts.
pub(crate) trait Workers: Copy {
    const SPLITS: bool;
}

/// The calling thread alone.
#[derive(Clone, Copy)]
pub(crate) struct Serial;

impl Workers for Serial {
    const SPLITS: bool = false;
}

impl<T, E: Elements, K: Task<T, E>> Executor<T, E, K> for Serial {
    #[inline]
    fn run(self, nest: Nest<'_, T, E>, task: &K) {
        task.run(nest);
    }
}

/// Rayon's threads.
#[cfg(feature = "rayon")]
#[derive(Clone, Copy)]
pub(crate) struct Threads;

#[cfg(feature = "rayon")]
impl Workers for Threads {
    const SPLITS: bool = true;
}

#[cfg(feature = "rayon")]
impl<T: Send, E: Elements + Sync, K: Task<T, E> + Sync> Executor<T, E, K> for Threads {
    /// Halves the outermost loop that may be cut, while each half has enough to do.
    fn run(self, nest: Nest<'_, T, E>, task: &K) {
        let loops = nest.loops();
        let outermost = (0..loops.len()).find(|&place| loops[place].len > 1 && task.may_cut(place, loops));
        let Some(place) = outermost.filter(|_| steps(loops) / 2 >= task.grain()) else {
            return task.run(nest);
        };
        let (half, mut rooms) = (loops[place].len / 2, [Loops::new(), Loops::new()]);
        let [low, high] = nest.cut(place, half, &mut rooms);
        rayon::join(|| self.run(low, task), || self.run(high, task));
    }
}

/// What is done with parts of a slice: `run` is given each part and where it starts.
pub(crate) trait SliceTask<T> {
    fn run(&self, from: usize, part: &mut [T]);
}

/// Has a task run on parts of a slice that together are the slice.
pub(crate) trait SliceExecutor<T, K: SliceTask<T>>: Workers {
    fn run_slice(self, slice: &mut [T], task: &K);
}

impl<T, K: SliceTask<T>> SliceExecutor<T, K> for Serial {
    fn run_slice(self, slice: &mut [T], task: &K) {
        task.run(0, slice);
    }
}

#[cfg(feature = "rayon")]
impl<T: Send, K: SliceTask<T> + Sync> SliceExecutor<T, K> for Threads {
    /// In two parts of whole cache lines, so that threads do not write to the same one.
    fn run_slice(self, slice: &mut [T], task: &K) {
        let middle = (slice.len() / 2).next_multiple_of(64).min(slice.len());
        let (low, high) = slice.split_at_mut(middle);
        rayon::join(|| task.run(0, low), || task.run(middle, high));
    }
}
