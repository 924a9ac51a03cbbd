//! Sums over any axes of an array in any layout: one pass over the input, with nothing on the heap.
//!
//! The order of summation depends on the shape and the strides only, not on the number of threads or on the CPU.

#![forbid(unsafe_code)]

mod lanes;
mod nested;
mod rows;
mod streams;

use super::combine::{ClosureOp, CombineLanesTo};
use super::lane::{self, BLOCK, IN_ORDER};
use super::levels::RADIX;
use super::loops::{
    AT_ONCE, Loop, LoopPlan, Loops, are_lanes, are_rows, lanes_together, rows_at_once, steps,
};
use super::memory::{Reserved, Scratch, forgettable};
use super::nest::{Input, Nest, Output};
use super::simd::{self, Cpu, Work};
use super::store::{Fresh, Overwrite, Store};
use super::strided::SMALL;
use super::threads::{Executor, SliceExecutor, Task};
use super::tiles::{Limits, Tiling};
use core::mem::needs_drop;
use lanes::{Lanes, LanesTogether};
use ndarray::{Array, Dimension};
use nested::NestedLanes;
use num_traits::Zero;
use rows::Columns;
use streams::Streams;

/// An element type that can be summed.
pub(crate) trait Element: Clone + Zero {}

impl<T: Clone + Zero> Element for T {}

/// An executor of sums.
pub(crate) trait Sums<T, S: Store<T>>:
    for<'s> Executor<S::Slot, (T,), SumTask<'s, S, Self>> + for<'s> SliceExecutor<T, Columns<'s, T>>
{
}

impl<T, S: Store<T>, X> Sums<T, S> for X where
    X: for<'s> Executor<S::Slot, (T,), SumTask<'s, S, X>> + for<'s> SliceExecutor<T, Columns<'s, T>>
{
}

/// The fewest bytes of input for several threads: a smaller sum takes less time than waking them.
const PARALLEL_BYTES: usize = 2 << 20;
/// The fewest elements that are worth another thread.
const GRAIN: usize = 1 << 16;

/// Sums `input` into `out` by `store`.
///
/// Axis `i` of the input is not in the output if `dropped(i)`. The other axes are the output's, in order. There, the
/// output has the input's size, or size 1 to sum over the axis.
pub(crate) fn sum_into<A: Element, S: Store<A, Slot = A>>(
    input: Input<'_, A>,
    out: Output<'_, A>,
    dropped: &dyn Fn(usize) -> bool,
    store: &S,
    executor: impl Sums<A, S> + Sums<A, Fresh>,
) {
    if const { S::OVERWRITES && !needs_drop::<A>() } {
        return sum_over(input, out.overwriting(), dropped, &Fresh, executor);
    }
    sum_over(input, out, dropped, store, executor);
}

/// [`sum_into`], for the slots of the store.
#[inline(never)]
fn sum_over<A: Element, S: Store<A>>(
    input: Input<'_, A>,
    mut out: Output<'_, S::Slot>,
    dropped: &dyn Fn(usize) -> bool,
    store: &S,
    executor: impl Sums<A, S>,
) {
    if input.axes().sizes.contains(&0) {
        return out.for_each(|slot| store.store(slot, A::zero()));
    }
    let mut room = [Loop::ONE; 2];
    let unplanned = Nest::small_sum(&mut room, &input, &mut out, dropped);
    if let Some(nest) = unplanned.filter(|nest| is_small::<A>(nest.loops())) {
        small(nest, store);
    } else if let Some(nest) = Nest::sum(&mut LoopPlan::new(), input, out, dropped) {
        run(nest, store, executor);
    }
}

/// Whether few elements of a small array are added to each of adjacent outputs, or lie side by side, or are few in all.
///
/// Many short lanes and long rows are faster by a plan: their loops are compiled for the CPU.
#[inline]
fn is_small<T>(loops: &[Loop]) -> bool {
    match *loops {
        [ref outer @ .., lane] if are_lanes(loops) => {
            steps(loops) < SMALL || !lanes_together(outer, &lane, lane::are_together::<T>)
        }
        [rows, row] if are_rows(loops) => rows.len <= IN_ORDER && (rows.len > 2 || row.len <= BLOCK / 4),
        _ => steps(loops) <= IN_ORDER,
    }
}

/// Rows side by side, or lanes of adjacent elements by the loops of reductions. Otherwise, one output after the other adds
/// its elements in order.
#[inline]
fn small<T: Element, S: Store<T>>(nest: Nest<'_, S::Slot, (T,)>, store: &S) {
    if !const { forgettable::<T>() } {
        return plain(nest, store);
    }
    let nest = match nest.rows() {
        Ok((rows, slots)) => return lane::columns(rows, slots, &T::zero(), &lane::plus, store),
        Err(nest) => nest,
    };
    let nest = match nest.lanes(lane::are_together::<T>) {
        Ok(run) if run.rows() > 1 => return lane::together(run, &T::zero(), &lane::plus, store),
        Ok(mut run) => {
            let by = ClosureOp { identity: &T::zero(), op: &lane::plus };
            return simd::dispatch(CombineLanesTo { by, run: &mut run, store });
        }
        Err(nest) => nest,
    };
    let reduced = nest.loops().iter().filter(|l| l.is_reduced()).count();
    let mut outputs = nest.walk(reduced);
    while let Some(output) = outputs.next() {
        let total = output.read().fold(T::zero(), |total, item| total + item.clone());
        store.store(output.slot(), total);
    }
}

/// [`sum_into`] a new array. Its axes have the input's order in memory.
#[inline(always)]
pub(crate) fn sum_to_new<A: Element, D: Dimension>(
    input: Input<'_, A>,
    reserved: Reserved<A, D>,
    dropped: &dyn Fn(usize) -> bool,
    executor: impl Sums<A, Fresh> + Sums<A, Overwrite>,
) -> Array<A, D> {
    let mut strides = D::zeros(reserved.shape().len());
    // a single axis has no order
    if strides.ndim() > 1 {
        let kept = input.axes().strides.iter().enumerate().filter(|&(axis, _)| !dropped(axis));
        for (stride, (_, own)) in strides.slice_mut().iter_mut().zip(kept) {
            *stride = own.unsigned_abs();
        }
    }
    let is_inside = |_: &[usize], former: usize, latter: usize| {
        let says_nothing = strides[former] == 0 || strides[latter] == 0;
        (!says_nothing).then(|| strides[former] < strides[latter])
    };
    if const { needs_drop::<A>() } {
        // initialised, so that a panic does not leak the sums that were stored before it
        let mut out = reserved.filled_in_order(&is_inside, A::zero());
        sum_into(input, Output::of(&mut out), dropped, &Overwrite, executor);
        return out;
    }
    reserved.written(Some(&is_inside), |out| {
        sum_over(input, Output::of(out).write_only(), dropped, &Fresh, executor);
    })
}

/// The strategy of a sum of [`forgettable`] elements, chosen by its loops.
#[derive(Clone, Copy, Debug)]
enum SumStrategy {
    Lanes(Lanes),
    NestedLanes(NestedLanes),
    Streams(Streams),
    Tiles(Tiling),
}

impl SumStrategy {
    /// `at_once` is the number of rows that are read at once.
    #[inline]
    fn of<T>(loops: &[Loop], at_once: usize) -> Self {
        let capacity = Scratch::capacity::<T>();
        if let Some(lanes) = Lanes::of::<T>(loops, at_once) {
            Self::Lanes(lanes)
        } else if let Some(lanes) = NestedLanes::of(loops, capacity) {
            Self::NestedLanes(lanes)
        } else if let Some(streams) = Streams::of(loops, capacity).filter(|_| at_once == AT_ONCE) {
            Self::Streams(streams)
        } else {
            Self::Tiles(Tiling::of(
                loops,
                Limits { room: capacity, even: true, rows_at_once: at_once, carry_every: RADIX },
            ))
        }
    }

    /// The first loop that must not be cut, because the order of summation depends on it. Neither may those inside it.
    fn first_uncut(&self, loops: &[Loop]) -> usize {
        match self {
            Self::Streams(_) | Self::Lanes(Lanes::Channels(_)) => loops.len() - 2,
            Self::Lanes(_) | Self::NestedLanes(_) => loops.len(),
            Self::Tiles(tiling) => tiling.first,
        }
    }
}

/// A sum, with the executor for its parts.
pub(crate) struct SumTask<'s, S, X> {
    store: &'s S,
    executor: X,
    /// The strategy of the whole sum. It serves each part too, which differs in the lengths of kept loops only.
    strategy: SumStrategy,
    /// Whether the sum is large enough for several threads.
    is_large: bool,
    /// The number of rows that are read at once.
    at_once: usize,
}

fn run<T: Element, S: Store<T>, X: Sums<T, S>>(nest: Nest<'_, S::Slot, (T,)>, store: &S, executor: X) {
    if !const { forgettable::<T>() } {
        return plain(nest, store);
    }
    let loops = nest.loops();
    let at_once = rows_at_once::<T>(loops);
    let strategy = SumStrategy::of::<T>(loops, at_once);
    let is_large = X::SPLITS && steps(loops).saturating_mul(size_of::<T>()) >= PARALLEL_BYTES;
    executor.run(nest, &SumTask { store, executor, strategy, is_large, at_once });
}

impl<T, S, X> Task<S::Slot, (T,)> for SumTask<'_, S, X>
where
    T: Element,
    S: Store<T>,
    X: for<'c> SliceExecutor<T, Columns<'c, T>>,
{
    fn grain(&self) -> usize {
        GRAIN
    }

    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool {
        self.is_large && place < self.strategy.first_uncut(loops) && !loops[place].is_reduced()
    }

    #[inline]
    fn run(&self, part: Nest<'_, S::Slot, (T,)>) {
        match &self.strategy {
            SumStrategy::Lanes(Lanes::Strided) => lanes::strided_lanes(part, self.store),
            SumStrategy::Lanes(Lanes::Together) => {
                simd::dispatch(LanesTogether { nest: part, store: self.store });
            }
            &SumStrategy::Lanes(lanes) => simd::dispatch(SumLanes { lanes, nest: part, store: self.store }),
            SumStrategy::NestedLanes(lanes) => lanes.run(part, self.store),
            SumStrategy::Streams(streams) => streams.run(part, self.store),
            &SumStrategy::Tiles(tiling) => rows::run(part, tiling, self),
        }
    }
}

struct SumLanes<'a, 's, T, S: Store<T>> {
    lanes: Lanes,
    nest: Nest<'a, S::Slot, (T,)>,
    store: &'s S,
}

impl<T: Element, S: Store<T>> Work for SumLanes<'_, '_, T, S> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        self.lanes.run::<C, T, S>(self.nest, self.store);
    }
}

/// One output after the other, for elements that own memory or are large: partial sums cannot be forgotten, or do not fit
/// into a [`Scratch`].
fn plain<T: Element, S: Store<T>>(nest: Nest<'_, S::Slot, (T,)>, store: &S) {
    let mut room = Loops::new();
    let nest = nest.ordered(|_, l| u8::from(l.is_reduced()), &mut room);
    let reduced = nest.loops().iter().filter(|l| l.is_reduced()).count();
    let mut outputs = nest.walk(reduced);
    while let Some(output) = outputs.next() {
        let mut total = T::zero();
        let mut items = output.read().walk(0);
        while let Some(item) = items.next() {
            total = total + item.item().clone();
        }
        store.store(output.slot(), total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::memory::WriteOnly;
    use crate::kernel::threads::Serial;
    use alloc::{vec, vec::Vec};

    #[test]
    fn sums_that_need_no_plan() {
        let is_small = |loops: &[(usize, [isize; 2])]| is_small::<f32>(&Loop::all(loops));
        let lanes = |count, len: isize| is_small(&[(count, [1, len]), (len.cast_unsigned(), [0, 1])]);
        assert!(lanes(2, 1000) && lanes(SMALL / 4 - 1, 4) && !lanes(SMALL / 4, 4));
        let rows = |rows, len: isize| is_small(&[(rows, [0, len]), (len.cast_unsigned(), [1, 1])]);
        assert!(rows(IN_ORDER, 30) && !rows(IN_ORDER + 1, 30));
        assert!(rows(2, 256) && !rows(2, 257) && rows(3, 600));
        // strided elements
        let strided = |len| is_small(&[(len, [0, 3])]);
        assert!(strided(IN_ORDER) && !strided(IN_ORDER + 1));
    }

    #[test]
    fn loops_around_the_outputs_of_a_strategy_are_cut() {
        let first = |loops: &[(usize, [isize; 2])]| {
            let loops = Loop::all(loops);
            SumStrategy::of::<f32>(&loops, AT_ONCE).first_uncut(&loops)
        };
        let (batch, lane) = ((5, [700, 70_000]), (100, [0, 1]));
        assert_eq!(first(&[batch, (700, [1, 100]), lane]), 3, "lanes");
        assert_eq!(first(&[batch, (9, [0, 3]), (3, [1, 1])]), 1, "channels");
        assert_eq!(first(&[batch, (9, [0, 90]), (90, [1, 1])]), 1, "streams");
        assert_eq!(first(&[(300, [2, 2000]), (10, [0, 200]), (200, [0, 1])]), 3, "nested lanes");
        // outputs of tiles
        assert_eq!(first(&[batch, (9, [0, 70_000]), (9, [0, 7000]), (70, [1, 1])]), 3);
    }

    #[test]
    fn threads_share_kept_loops_of_large_sums() {
        // streams: the last two loops are theirs
        let loops = Loop::all(&[(5, [9000, 90_000]), (7, [90, 9000]), (9, [0, 900]), (90, [1, 1])]);
        let cuts = |is_large| {
            let strategy = SumStrategy::of::<f32>(&loops, AT_ONCE);
            let task = SumTask { store: &Fresh, executor: Serial, strategy, is_large, at_once: AT_ONCE };
            let may_cut = |&place: &usize| Task::<WriteOnly<f32>, (f32,)>::may_cut(&task, place, &loops);
            (0..loops.len()).filter(may_cut).collect::<Vec<_>>()
        };
        assert_eq!([cuts(true), cuts(false)], [vec![0, 1], vec![]]);
    }
}
