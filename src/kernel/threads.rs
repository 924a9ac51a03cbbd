//! Executors of a pass: the calling thread, or several threads with the feature `rayon`.

#![cfg_attr(not(test), forbid(unsafe_code))]

use super::loops::Loop;
#[cfg(feature = "rayon")]
use super::loops::steps;
use super::nest::{Elements, Nest};
#[cfg(feature = "rayon")]
use alloc::vec::Vec;

/// A task for a nest, or for each of its parts.
#[cfg_attr(
    not(feature = "rayon"),
    allow(dead_code, reason = "only the executor for several threads cuts loops")
)]
pub(crate) trait Task<T, E: Elements> {
    /// The fewest steps that are worth another thread.
    fn grain(&self) -> usize;

    /// Whether the loop at `place` may be cut. A cut must not change the order in which a result is combined.
    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool;

    fn run(&self, part: Nest<'_, T, E>);
}

/// Runs a task on a nest, whole or cut into parts.
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

/// Rayon's threads; without the feature the calling thread, with the same bounds.
#[derive(Clone, Copy)]
pub(crate) struct Threads;

impl Workers for Threads {
    const SPLITS: bool = cfg!(feature = "rayon");
}

impl Threads {
    /// The number of threads.
    pub(crate) fn count() -> usize {
        #[cfg(feature = "rayon")]
        return rayon::current_num_threads();
        #[cfg(not(feature = "rayon"))]
        1
    }
}

#[cfg(not(feature = "rayon"))]
impl<T: Send, E: Elements + Sync, K: Task<T, E> + Sync> Executor<T, E, K> for Threads {
    #[inline]
    fn run(self, nest: Nest<'_, T, E>, task: &K) {
        task.run(nest);
    }
}

#[cfg(not(feature = "rayon"))]
impl<T: Send, K: SliceTask<T> + Sync> SliceExecutor<T, K> for Threads {
    fn run_slice(self, slice: &mut [T], task: &K) {
        task.run(0, slice);
    }
}

#[cfg(feature = "rayon")]
impl<T: Send, E: Elements + Sync, K: Task<T, E> + Sync> Executor<T, E, K> for Threads {
    /// Halves the outermost loop that may be cut, while each half has at least [`Task::grain`] steps.
    fn run(self, nest: Nest<'_, T, E>, task: &K) {
        let loops = nest.loops();
        let outermost = (0..loops.len()).find(|&place| loops[place].len > 1 && task.may_cut(place, loops));
        let Some(place) = outermost.filter(|_| steps(loops) / 2 >= task.grain()) else {
            return task.run(nest);
        };
        let (half, mut rooms) = (loops[place].len / 2, [Vec::new(), Vec::new()]);
        let [low, high] = nest.cut(place, half, &mut rooms);
        rayon::join(|| self.run(low, task), || self.run(high, task));
    }
}

/// A task for a slice, or for each of its parts.
pub(crate) trait SliceTask<T> {
    /// Runs the task on the part that starts at index `from`.
    fn run(&self, from: usize, part: &mut [T]);
}

/// Runs a task on a slice, whole or cut into parts.
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
    /// Cuts the slice at a cache line, so that two threads never write to the same line.
    fn run_slice(self, slice: &mut [T], task: &K) {
        let middle = (slice.len() / 2).next_multiple_of(64).min(slice.len());
        let (low, high) = slice.split_at_mut(middle);
        rayon::join(|| task.run(0, low), || task.run(middle, high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    struct Double;

    impl SliceTask<usize> for Double {
        fn run(&self, from: usize, part: &mut [usize]) {
            part.iter_mut().enumerate().for_each(|(i, item)| *item += from + i);
        }
    }

    fn doubled(executor: impl SliceExecutor<usize, Double>) {
        for len in [0, 1, 63, 64, 65, 127, 128, 129, 1000] {
            let mut slice: vec::Vec<_> = (0..len).collect();
            executor.run_slice(&mut slice, &Double);
            assert!(slice.iter().enumerate().all(|(i, &item)| item == 2 * i), "{slice:?}");
        }
    }

    #[test]
    fn a_slice_is_covered_once() {
        doubled(Serial);
        doubled(Threads);
    }

    #[cfg(feature = "rayon")]
    mod parts {
        use super::*;
        use crate::kernel::loop_plan::{LoopPlan, Loops, Outside};
        use crate::kernel::nest::{Inputs, Output, Visit};
        use alloc::vec::Vec;
        use ndarray::{Array2, ArrayRef2, s};
        use std::sync::Mutex;

        /// Counts the visits of each element and notes the parts.
        struct Count<M> {
            grain: usize,
            may_cut: M,
            /// The address of each part's first element, and the lengths of its loops.
            parts: Mutex<Vec<(usize, Vec<usize>)>>,
        }

        struct Increment;

        impl Visit<u32, (u8,)> for Increment {
            fn visit(&mut self, count: &mut u32, _: (&u8,)) {
                *count += 1;
            }
        }

        impl<M: Fn(usize, &[Loop]) -> bool> Task<u32, (u8,)> for Count<M> {
            fn grain(&self) -> usize {
                self.grain
            }

            fn may_cut(&self, place: usize, loops: &[Loop]) -> bool {
                (self.may_cut)(place, loops)
            }

            fn run(&self, part: Nest<'_, u32, (u8,)>) {
                let lens = part.loops().iter().map(|l| l.len).collect();
                self.parts.lock().expect("no panic").push((part.pointers().0.addr(), lens));
                let inner = part.loops().len().min(2);
                let mut blocks = part.walk(inner);
                while let Some(mut block) = blocks.next() {
                    block.visit_each(&mut Increment);
                }
            }
        }

        /// The start and the lengths of each part of a nest of 5 times 9 steps, with a loop of one step around them.
        fn parts(grain: usize, may_cut: impl Fn(usize, &[Loop]) -> bool + Sync) -> Vec<(usize, Vec<usize>)> {
            let mut whole = Array2::from_elem((5, 100), 0_u32);
            let start = whole.as_ptr().addr();
            let task = Count { grain, may_cut, parts: Mutex::default() };
            visit(&mut whole.slice_mut(s![.., ..9;-1]), None, &task);
            for ((_, column), &count) in whole.indexed_iter() {
                assert_eq!(count, u32::from(column < 9), "steps that are visited once");
            }
            let mut parts = task.parts.into_inner().expect("no panic");
            for (at, _) in &mut parts {
                *at = (*at - start) / size_of::<u32>();
            }
            parts.sort();
            parts
        }

        fn visit<M: Fn(usize, &[Loop]) -> bool + Sync>(
            out: &mut ArrayRef2<u32>,
            shape: Option<&[usize]>,
            task: &Count<M>,
        ) {
            let (items, mut plan, mut room) =
                (Array2::from_elem((1, 1), 0_u8), LoopPlan::new(), Loops::new());
            let nest =
                Nest::over(&mut plan, shape, Output::of(out), &Inputs::from((&*items,)), Outside::Given);
            let nest = nest.expect("an index");
            let len = nest.loops()[0].len;
            Threads.run(nest.grouped(0, len, &mut room), task);
        }

        struct Starts(Mutex<Vec<usize>>);

        impl SliceTask<u8> for Starts {
            fn run(&self, from: usize, _: &mut [u8]) {
                self.0.lock().expect("no panic").push(from);
            }
        }

        #[test]
        fn a_slice_is_halved_at_a_cache_line() {
            for (len, middle) in [(0, 0), (63, 63), (65, 64), (128, 64), (130, 128), (1000, 512)] {
                let task = Starts(Mutex::default());
                Threads.run_slice(&mut vec![0; len], &task);
                let mut starts = task.0.into_inner().expect("no panic");
                starts.sort_unstable();
                assert_eq!(starts, [0, middle], "{len} elements");
            }
        }

        #[test]
        fn the_outermost_loop_is_halved_while_halves_are_large_enough() {
            let halves = |grain| parts(grain, |_, _| true);
            assert_eq!(halves(23), [(0, vec![1, 5, 9])]);
            assert_eq!(halves(22), [(0, vec![1, 2, 9]), (200, vec![1, 3, 9])]);
            assert_eq!(halves(10).len(), 3);
            assert_eq!(halves(1).len(), 45);
        }

        #[test]
        fn only_loops_that_may_be_are_cut() {
            assert_eq!(parts(1, |_, _| false).len(), 1);
            let inner = parts(20, |place, _| place == 2);
            assert_eq!(inner, [(0, vec![1, 5, 4]), (4, vec![1, 5, 5])]);
            let long = parts(20, |place, loops| loops[place].len > 5);
            assert_eq!(long, inner);
        }

        #[test]
        fn the_outermost_of_all_loops_is_cut() {
            let (mut counts, items) = (Array2::from_elem((4, 5), 0), Array2::from_elem((1, 1), 0_u8));
            let task = Count { grain: 6, may_cut: |_, _: &[Loop]| true, parts: Mutex::default() };
            let (mut plan, inputs) = (LoopPlan::new(), Inputs::from((&*items,)));
            let mut out = counts.slice_mut(s![.., ..3]);
            let nest = Nest::over(&mut plan, None, Output::of(&mut out), &inputs, Outside::Given);
            Threads.run(nest.expect("an index"), &task);
            let parts = task.parts.into_inner().expect("no panic");
            assert!(parts.iter().map(|(_, lens)| &lens[..]).eq([[2, 3], [2, 3]]), "{parts:?}");
        }

        #[test]
        fn results_are_not_cut_where_the_task_says_so() {
            let mut sums = Array2::from_elem((6, 1), 0);
            let task = Count {
                grain: 1,
                may_cut: |place: usize, loops: &[Loop]| !loops[place].is_reduced(),
                parts: Mutex::default(),
            };
            visit(&mut sums, Some(&[6, 50]), &task);
            assert!(sums.iter().all(|&count| count == 50));
            let parts = task.parts.into_inner().expect("no panic");
            assert_eq!(parts.len(), 6);
            assert!(parts.iter().all(|(_, lens)| *lens == [1, 1, 50]));
        }
    }
}
