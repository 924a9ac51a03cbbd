//! Reductions of one array over any of its axes, read where it lies: sums, and other associative operations.
//!
//! ```text
//! lanes     a a a a a a …    out[i] = lane i                    adjacent elements; lanes of a few elements together
//! long      a a a …  a a a … results[k] = part k of the lane    the same, with more elements than a lane may have
//!                            out[i] = the results, combined by halves
//! strided   a . a . a . …    the same, after a copy
//! channels  r g b r g b …    out[k] = every third               2, 3 or 4 columns without gaps
//! rows      a a a a a …      tile[j] += up to eight rows        up to 128 rows inside kept loops; short rows are merged
//!           b b b b b …      out[j] = tile[j]
//! nested    a a a …  b b …   levels[out] += the lane            lanes inside other reduced loops: long ones, or few
//! tiles                      every other nest: see `tiles`
//! ```
//!
//! Memory: the loops are in the input's order, and the output stays along those that are reduced. [`Strategy::of`] chooses
//! by their lengths and strides. A tile holds partial results in L1. Only results that several threads share are on the heap.
//! The order in which elements are combined depends on the shape and the strides only, not on the number of threads or on
//! the CPU.

#![cfg_attr(not(test), forbid(unsafe_code))]

mod strategy;

use super::combine::CombineInPlace;
use super::lane::IN_ORDER;
use super::levels::Levels;
use super::loop_plan::{LoopPlan, Loops};
use super::loops::{Loop, are_lanes, are_rows, outputs, steps};
use super::memory::{Reserved, Scratch, WriteOnly, forgettable};
use super::nest::{Input, Nest, NestFn, Output, UnaryNest};
use super::operation::{Operation, Plus, add};
use super::order::AxisOrder;
use super::strided::{Dropped, StridedAxes, is_dropped};
use super::threads::{Executor, SliceExecutor, SliceTask, Task};
use super::tiles::{self, Store, Tiling};
use alloc::vec;
use core::mem::needs_drop;
use core::ops::Mul;
use ndarray::{Array, Dimension};
use num_traits::Zero;
use strategy::{AddRowsFrom, Kind, Strategy, are_long_lanes, in_tiles, long_lanes, plain, write};

/// The fewest bytes of input for several threads: a smaller sum takes less time than waking them.
const PARALLEL_BYTES: usize = 2 << 20;
/// The fewest elements that are worth another thread.
const GRAIN: usize = 1 << 16;
/// The most results that several threads make before they are stored.
const PARALLEL_RESULTS: usize = 1 << 18;

/// An executor of reductions by `O`.
pub(crate) trait Reductions<A: Clone, O: Operation<A>>:
    for<'s> Executor<WriteOnly<A>, (A,), Reduction<O, Self>> + for<'s> SliceExecutor<A, Columns<'s, A, O>>
{
}

impl<A: Clone, O: Operation<A>, X> Reductions<A, O> for X where
    X: for<'s> Executor<WriteOnly<A>, (A,), Reduction<O, X>> + for<'s> SliceExecutor<A, Columns<'s, A, O>>
{
}

/// An executor of sums.
pub(crate) trait Sums<A: Clone + Zero>: Reductions<A, Plus> {}

impl<A: Clone + Zero, X: Reductions<A, Plus>> Sums<A> for X {}

/// How a result enters the output, where it does not replace what was there.
pub(crate) type StoreSums<'f, A> = dyn Store<A, A> + 'f;

/// Reduces `input` into `out`. `store` puts each result into its output; without it, the result replaces the output.
///
/// The `dropped` axes of the input are not in the output. The other axes are the output's, in order. There, the output has the
/// input's size, or size 1 to reduce the axis.
#[inline(always)]
pub(crate) fn reduce_into<A: Clone, O: Operation<A>>(
    input: Input<'_, A>,
    out: Output<'_, A>,
    dropped: Dropped<'_>,
    by: O,
    store: Option<&StoreSums<'_, A>>,
    executor: impl Reductions<A, O>,
) {
    match store {
        None if const { !needs_drop::<A>() } => overwrite(input, out.overwriting(), dropped, by, executor),
        None => store_each(input, out, dropped, by, &|slot: &mut A, result: A| *slot = result, executor),
        Some(store) => store_each(input, out, dropped, by, store, executor),
    }
}

/// [`reduce_into`] by `store`.
#[inline(never)]
fn store_each<A: Clone, O: Operation<A>>(
    input: Input<'_, A>,
    mut out: Output<'_, A>,
    dropped: Dropped<'_>,
    by: O,
    store: &StoreSums<'_, A>,
    executor: impl Reductions<A, O>,
) {
    if input.axes().sizes.contains(&0) {
        return out.for_each(|slot| store.one(slot, by.identity()));
    }
    let mut room = [Loop::ONE; 2];
    if let Some(nest) = Nest::small_sum(&mut room, &input, &mut out, dropped) {
        return stored(nest, by, store, executor);
    }
    if let Some(nest) = Nest::sum(&mut LoopPlan::new(), input, out, dropped) {
        stored(nest, by, store, executor);
    }
}

/// Reduces a nest, and stores the results.
fn stored<A: Clone, O: Operation<A>, X: Reductions<A, O>>(
    nest: Nest<'_, A, (A,)>,
    by: O,
    store: &StoreSums<'_, A>,
    executor: X,
) {
    if !const { forgettable::<A>() } {
        return plain(nest, &by, store);
    }
    if X::SPLITS {
        return in_parts(nest, PARALLEL_RESULTS, &mut |part: Nest<'_, A, (A,)>| {
            let count = outputs(part.loops());
            store_part(part, &mut vec![by.identity(); count], by, store, executor);
        });
    }
    // so that the results stay in L1
    in_parts(nest, Scratch::capacity::<A>() / 2, &mut |part: Nest<'_, A, (A,)>| {
        let count = outputs(part.loops());
        store_part(part, Scratch::new().filled(count, &by.identity()), by, store, executor);
    });
}

/// Calls `then` with parts of the nest that have at most `most` outputs each.
fn in_parts<T, A>(nest: Nest<'_, T, (A,)>, most: usize, then: &mut dyn NestFn<T, (A,)>) {
    let (loops, count) = (nest.loops(), outputs(nest.loops()));
    let is_kept = |l: &Loop| !l.is_reduced() && l.len > 1;
    let Some(place) = loops.iter().position(is_kept).filter(|_| count > most) else {
        return then.call(nest);
    };
    let take = (most / (count / loops[place].len)).max(1);
    nest.each_part(place, take, &mut |part: Nest<'_, T, (A,)>| in_parts(part, most, then));
}

/// Reduces a nest to an array of its results in the order of its loops, and stores these.
fn store_part<A: Clone, O: Operation<A>>(
    nest: Nest<'_, A, (A,)>,
    results: &mut [A],
    by: O,
    store: &StoreSums<'_, A>,
    executor: impl Reductions<A, O>,
) {
    let (mut tile, mut room) = (Loops::new(), Loops::new());
    tile.clone_from_slice(nest.loops());
    tile.iter_mut().filter(|l| l.is_reduced()).for_each(|l| l.len = 1);
    over(nest.read().onto(results, &tile, &mut room).overwriting(), by, executor);
    let written = nest.written(&mut room);
    let inner = written.loops().len().min(1);
    let (mut rows, mut at) = (written.walk(inner), 0);
    while let Some(row) = rows.next() {
        let len = steps(row.loops());
        store.row(row, &mut results[at..], 1);
        at += len;
    }
}

/// Adds a sum to the output.
pub(crate) fn accumulate<A: Clone + Zero>(out: &mut A, sum: A) {
    add(Plus, out, sum);
}

/// Adds a sum, multiplied by `factor`, to the output.
pub(crate) fn scaled<A: Clone + Zero + Mul<Output = A>>(factor: &A) -> impl Fn(&mut A, A) {
    move |out, sum| add(Plus, out, factor.clone() * sum)
}

/// [`reduce_into`] a new array. Its axes have the input's order in memory.
#[inline(always)]
pub(crate) fn reduce_to_new<A: Clone, D: Dimension, O: Operation<A>>(
    input: Input<'_, A>,
    reserved: Reserved<A, D>,
    dropped: Dropped<'_>,
    by: O,
    executor: impl Reductions<A, O>,
) -> Array<A, D> {
    let order = &ByStrides { axes: input.axes(), dropped, ndim: reserved.shape().len() };
    if const { needs_drop::<A>() } {
        // initialised, so that a panic does not leak the results that were stored before it
        let mut out = reserved.filled_in_order(order, by.identity());
        reduce_into(input, Output::of(&mut out), dropped, by, None, executor);
        return out;
    }
    reserved.written(Some(order), |out| {
        overwrite(input, Output::of(out).write_only(), dropped, by, executor);
    })
}

/// The order of `ndim` results' axes by their strides in the input. A stride of 0 has no place in it.
struct ByStrides<'a> {
    axes: StridedAxes<'a>,
    dropped: Dropped<'a>,
    ndim: usize,
}

impl AxisOrder for ByStrides<'_> {
    fn is_inside(&self, _: &[usize], former: usize, latter: usize) -> Option<bool> {
        let (own, mut strides, mut kept) = (self.axes.strides, [0; 2], 0);
        for (axis, stride) in own.iter().enumerate() {
            if is_dropped(self.dropped, axis, own.len() - self.ndim) {
                continue;
            }
            if kept == former {
                strides[0] = stride.unsigned_abs();
            } else if kept == latter {
                strides[1] = stride.unsigned_abs();
            }
            kept += 1;
        }
        let [former, latter] = strides;
        (former != 0 && latter != 0).then_some(former < latter)
    }
}

/// [`reduce_into`], for outputs whose former elements are forgotten.
#[inline(never)]
fn overwrite<A: Clone, O: Operation<A>>(
    input: Input<'_, A>,
    mut out: Output<'_, WriteOnly<A>>,
    dropped: Dropped<'_>,
    by: O,
    executor: impl Reductions<A, O>,
) {
    if input.axes().sizes.contains(&0) {
        return out.for_each(|slot| slot.write(by.identity()));
    }
    let mut room = [Loop::ONE; 2];
    let small = Nest::small_sum(&mut room, &input, &mut out, dropped);
    if !small.is_some_and(|nest| reduce_few(nest, &by)) {
        planned(input, out, dropped, by, executor);
    }
}

// Not inline: a plan takes much room on the stack.
#[inline(never)]
fn planned<A: Clone, O: Operation<A>>(
    input: Input<'_, A>,
    out: Output<'_, WriteOnly<A>>,
    dropped: Dropped<'_>,
    by: O,
    executor: impl Reductions<A, O>,
) {
    if let Some(nest) = Nest::sum(&mut LoopPlan::new(), input, out, dropped) {
        over(nest, by, executor);
    }
}

/// Reduces up to two loops without a plan, if there are adjacent lanes, few rows, or few elements. Returns whether it did.
#[inline]
fn reduce_few<A: Clone>(nest: UnaryNest<'_, A>, by: &dyn CombineInPlace<A>) -> bool {
    let loops = nest.loops();
    if !const { forgettable::<A>() } {
        return false;
    }
    if are_lanes(loops) {
        by.lanes_of(nest);
    } else if are_rows(loops) && loops[0].len <= IN_ORDER {
        let rows = nest.read().block(true);
        let Ok(slots) = nest.slots() else { unreachable!("adjacent outputs") };
        by.columns_of(slots, &rows);
    } else if steps(loops) <= IN_ORDER {
        plain(nest, by, &write::<A>);
    } else {
        return false;
    }
    true
}

/// Reduces a planned nest, whole or in parts.
// Not inline: it calls itself.
#[inline(never)]
fn over<A: Clone, O: Operation<A>, X: Reductions<A, O>>(nest: UnaryNest<'_, A>, by: O, executor: X) {
    if !const { forgettable::<A>() } {
        return plain(nest, &by, &write::<A>);
    }
    if are_long_lanes(nest.loops(), size_of::<A>()) {
        return long_lanes(nest, &by, &mut |lanes: UnaryNest<'_, A>| over(lanes, by, executor));
    }
    let strategy = Strategy::of(nest.loops(), size_of::<A>());
    let is_large = X::SPLITS && steps(nest.loops()).saturating_mul(size_of::<A>()) >= PARALLEL_BYTES;
    executor.run(nest, &Reduction { by, executor, strategy, is_large });
}

/// A reduction, with the executor for its parts.
pub(crate) struct Reduction<O, X> {
    by: O,
    executor: X,
    /// The strategy of the whole reduction. It serves each part too, which differs in the lengths of kept loops only.
    strategy: Strategy,
    /// Whether the reduction is large enough for several threads.
    is_large: bool,
}

impl<A: Clone, O: Operation<A>, X: for<'s> SliceExecutor<A, Columns<'s, A, O>>> Task<WriteOnly<A>, (A,)>
    for Reduction<O, X>
{
    fn grain(&self) -> usize {
        GRAIN
    }

    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool {
        self.is_large && place < self.strategy.first_uncut(loops) && !loops[place].is_reduced()
    }

    fn run(&self, part: UnaryNest<'_, A>) {
        let strategy = self.strategy;
        match strategy.kind {
            Kind::Tiles(tiling) if X::SPLITS && self.is_large => {
                tiles::parts(part, tiling, &mut |nest: UnaryNest<'_, A>| {
                    let loops = nest.loops();
                    if steps(&loops[tiling.outer(loops)..]) / 2 >= GRAIN {
                        self.columns(nest, tiling);
                    } else {
                        in_tiles(nest, tiling, &self.by, &mut strategy.add_rows(&self.by));
                    }
                });
            }
            _ => strategy.run(part, &self.by),
        }
    }
}

/// Some columns of a large tile.
pub(crate) struct Columns<'a, A, O> {
    rows: Nest<'a, (), (A,)>,
    /// The first loop of the tile, and the number of its steps there.
    cut: [usize; 2],
    levels: usize,
    at_once: usize,
    by: O,
}

impl<O, X> Reduction<O, X> {
    /// Reduces large tiles one after the other, the columns of each on several threads.
    fn columns<A: Clone>(&self, nest: UnaryNest<'_, A>, tiling: Tiling)
    where
        O: Operation<A>,
        X: for<'s> SliceExecutor<A, Columns<'s, A, O>>,
    {
        let loops = nest.loops();
        let (tile, outer, levels) = (tiling.tile(loops), tiling.outer(loops), tiling.levels);
        let mut results = vec![self.by.identity(); steps(&tile)];
        let cut = [tiling.first(loops) - outer, tiling.take(loops)];
        tiles::each_tile(
            &self.by,
            nest,
            outer,
            &tile,
            &mut results,
            &write::<A>,
            &mut |rows: Nest<'_, (), (A,)>, results: &mut [A]| {
                let columns = Columns { rows, cut, levels, at_once: self.strategy.at_once, by: self.by };
                self.executor.run_slice(results, &columns);
            },
        );
    }
}

impl<A: Clone, O: Operation<A>> SliceTask<A> for Columns<'_, A, O> {
    fn run(&self, from: usize, part: &mut [A]) {
        if part.is_empty() {
            return;
        }
        let mut scratch = Scratch::new();
        let room = scratch.filled(self.levels * part.len(), &self.by.identity());
        let mut levels = Levels::new(&self.by, room, part.len(), self.levels);
        let add = &mut AddRowsFrom { by: &self.by, column: from, at_once: self.at_once };
        tiles::add_rows(&mut levels, self.rows, self.cut, add);
        part.clone_from_slice(levels.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::operation::ClosureOp;
    use crate::kernel::threads::{Serial, Threads};
    use alloc::vec::Vec;
    use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, Slice};

    #[test]
    fn threads_share_kept_loops_of_large_sums() {
        let loops = Loop::all(&[(5, [9000, 90_000]), (7, [90, 9000]), (9, [0, 900]), (90, [1, 1])]);
        let cuts = |is_large| {
            let strategy = Strategy::of(&loops, 4);
            let task = Reduction { by: Plus, executor: Serial, strategy, is_large };
            let may_cut = |&place: &usize| Task::<WriteOnly<f32>, (f32,)>::may_cut(&task, place, &loops);
            (0..loops.len()).filter(may_cut).collect::<Vec<_>>()
        };
        // the last two loops belong to the rows
        assert_eq!([cuts(true), cuts(false)], [[0, 1].to_vec(), [].to_vec()]);
        let uncut = |loops: &[(usize, [isize; 2])]| {
            let loops = Loop::all(loops);
            Strategy::of(&loops, 4).first_uncut(&loops)
        };
        let batch = (5, [700, 70_000]);
        assert_eq!(uncut(&[batch, (700, [1, 100]), (100, [0, 1])]), 3, "lanes");
        assert_eq!(uncut(&[batch, (9, [0, 3]), (3, [1, 1])]), 1, "channels");
        assert_eq!(uncut(&[(300, [2, 2000]), (10, [0, 200]), (200, [0, 1])]), 3, "nested lanes");
        assert_eq!(uncut(&[batch, (9, [0, 70_000]), (9, [0, 7000]), (70, [1, 1])]), 3, "tiles");
    }

    /// Compares a sum and a maximum over these axes with those of single elements.
    fn test(x: &ArrayViewD<'_, i64>, axes: &[usize]) {
        let shape: Vec<_> =
            (0..x.ndim()).map(|axis| if axes.contains(&axis) { 1 } else { x.len_of(Axis(axis)) }).collect();
        let mut sums = ArrayD::<i64>::zeros(&shape[..]);
        let mut largest = ArrayD::<i64>::from_elem(&shape[..], i64::MIN);
        for (at, &item) in x.indexed_iter() {
            let to: Vec<_> = shape.iter().enumerate().map(|(axis, &size)| at[axis] % size).collect();
            sums[&to[..]] += item;
            largest[&to[..]] = largest[&to[..]].max(item);
        }
        let new = || Reserved::new(IxDyn(&shape)).expect("memory");
        assert_eq!(reduce_to_new(Input::of(x), new(), None, Plus, Serial), sums, "{x:?} over {axes:?}");
        let max = ClosureOp { identity: &i64::MIN, op: &i64::max };
        assert_eq!(reduce_to_new(Input::of(x), new(), None, max, Serial), largest, "{x:?} over {axes:?}");
        let mut out = ArrayD::from_elem(&shape[..], 1000);
        reduce_into(Input::of(x), Output::of(&mut out), None, Plus, Some(&scaled(&-2)), Serial);
        assert_eq!(out, sums.mapv(|sum| 1000 - 2 * sum), "{axes:?}");
        let boxed = x.mapv(|item| ndarray::arr0(item).into_dyn());
        let by = ClosureOp { identity: &ndarray::arr0(0).into_dyn(), op: &|a: ArrayD<i64>, b| a + b };
        let found =
            reduce_to_new(Input::of(&boxed), Reserved::new(IxDyn(&shape)).expect("memory"), None, by, Serial);
        assert_eq!(found.mapv(|sum| sum.sum()), sums, "elements that own memory, over {axes:?}");
    }

    #[test]
    fn sums_in_all_layouts() {
        let shapes =
            [[3, 9, 5], [2, 130, 3], [40, 3, 33], [2, 17, 200], [130, 2, 8], [1, 12, 31], [18, 5, 193]];
        for shape in shapes {
            let whole = ArrayD::from_shape_fn(&shape[..], |at| {
                i64::try_from((at[0] * 31 + at[1] * 7 + at[2]) % 101).expect("small") - 50
            });
            for axes in [&[0][..], &[1], &[2], &[0, 1], &[1, 2], &[0, 2], &[0, 1, 2], &[]] {
                test(&whole.view(), axes);
                test(&whole.view().permuted_axes(&[2, 0, 1][..]), axes);
                let every = whole.slice_each_axis(|a| match a.axis.index() {
                    0 => Slice::new(0, None, -1),
                    1 => Slice::new(1, None, 1),
                    _ => Slice::new(0, None, 2),
                });
                test(&every, axes);
            }
        }
    }

    #[test]
    fn outputs_that_are_stored_in_parts() {
        // more sums than a tile has room for
        let most = Scratch::capacity::<i64>();
        let x =
            ArrayD::from_shape_fn(&[3, most / 2, 3][..], |at| i64::try_from(at[1] + at[2]).expect("small"));
        for axes in [&[0][..], &[1], &[2]] {
            test(&x.view(), axes);
        }
    }

    #[test]
    fn results_of_threads_are_stored_in_parts() {
        let x = ArrayD::from_shape_fn(&[4, PARALLEL_RESULTS + 9][..], |at| {
            i64::try_from(at[1] % 1000 + at[0]).expect("small")
        });
        let mut out = ArrayD::from_elem(&[1, PARALLEL_RESULTS + 9][..], 7);
        reduce_into(Input::of(&x), Output::of(&mut out), None, Plus, Some(&accumulate), Threads);
        assert!(out.iter().zip(0..).all(|(&found, j)| found == 7 + 4 * (j % 1000) + 6));
    }
}
