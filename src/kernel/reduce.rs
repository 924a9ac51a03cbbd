//! Reductions of one array over any of its axes, read where it lies: sums, and other associative operations.
//!
//! ```text
//! lanes     a a a a a a …    out[i] = lane i                    adjacent elements; lanes of a few elements together
//! strided   a . a . a . …    the same, after a copy
//! channels  r g b r g b …    out[k] = every third               2, 3 or 4 columns without gaps
//! rows      a a a a a …      tile[j] += up to eight rows        up to 128 rows inside kept loops; short rows are merged
//!           b b b b b …      out[j] = tile[j]
//! nested    a a a …  b b …   levels[out] += the lane            long lanes inside other reduced loops
//! tiles                      every other nest: see `tiles`
//! ```
//!
//! Memory: the loops are in the input's order, and the output stays along those that are reduced. [`Strategy::of`] chooses
//! by their lengths and strides. A tile holds partial results in L1, and what is stored is read no more. Only tiles that
//! several threads share are on the heap. The order in which elements are combined depends on the shape and the strides only, not on the
//! number of threads or on the CPU.

#![cfg_attr(not(test), forbid(unsafe_code))]

use super::combine::{CombineInPlace, fold_rows};
use super::lane::{BLOCK, IN_ORDER, LONGEST};
use super::levels::{self, Levels};
use super::loops::{
    AT_ONCE, Loop, LoopPlan, Loops, all_kept, are_lanes, are_rows, reduced_steps, rows_at_once, steps,
};
use super::memory::{Reserved, SCRATCH, Scratch, WriteOnly, forgettable};
use super::nest::{Input, Nest, Output};
use super::operation::{Operation, Plus, add};
use super::threads::{Executor, SliceExecutor, SliceTask, Task, halves};
use super::tiles::{self, AddRows, Limits, Tiling};
use alloc::vec;
use core::mem::needs_drop;
use core::ops::{Mul, RangeInclusive};
use ndarray::{Array, Dimension};
use num_traits::Zero;

/// The fewest bytes of input for several threads: a smaller sum takes less time than waking them.
const PARALLEL_BYTES: usize = 2 << 20;
/// The fewest elements that are worth another thread.
const GRAIN: usize = 1 << 16;
/// The most rows that are combined without a carry, eight at a time.
const ROWS: usize = 128;
/// The numbers of rows of channels.
const CHANNEL_ROWS: RangeInclusive<usize> = 8..=1024;
/// The most elements of a tile of [`Kind::Rows`].
const WIDEST: usize = 4096;
/// Narrower rows are merged, at most so many into one.
const NARROW: usize = 32;
const MAX_MERGED: usize = 16;
/// Shorter lanes inside other reduced loops are added up as rows of tiles.
const NESTED: usize = 192;
/// The fewest outputs of nested lanes: for fewer, several threads share the rows of tiles.
const NESTED_OUTPUTS: usize = 16;

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
pub(crate) type Store<'f, A> = dyn Fn(&mut A, A) + 'f;

/// Reduces `input` into `out`. `store` puts each result into its output; without it, the result replaces the output.
///
/// Axis `i` of the input is not in the output if `dropped(i)`. The other axes are the output's, in order. There, the
/// output has the input's size, or size 1 to reduce the axis.
#[inline(always)]
pub(crate) fn reduce_into<A: Clone, O: Operation<A>>(
    input: Input<'_, A>,
    out: Output<'_, A>,
    dropped: &dyn Fn(usize) -> bool,
    by: O,
    store: Option<&Store<'_, A>>,
    executor: impl Reductions<A, O>,
) {
    match store {
        None if const { !needs_drop::<A>() } => overwrite(input, out.overwriting(), dropped, by, executor),
        None => store_each(input, out, dropped, by, &|slot, result| *slot = result, executor),
        Some(store) => store_each(input, out, dropped, by, store, executor),
    }
}

/// [`reduce_into`] by `store`.
#[inline(never)]
fn store_each<A: Clone, O: Operation<A>>(
    input: Input<'_, A>,
    mut out: Output<'_, A>,
    dropped: &dyn Fn(usize) -> bool,
    by: O,
    store: &Store<'_, A>,
    executor: impl Reductions<A, O>,
) {
    if input.axes().sizes.contains(&0) {
        return out.for_each(|slot| store(slot, by.identity()));
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
fn stored<A: Clone, O: Operation<A>>(
    nest: Nest<'_, A, (A,)>,
    by: O,
    store: &Store<'_, A>,
    executor: impl Reductions<A, O>,
) {
    if const { forgettable::<A>() } {
        halves(nest, Scratch::capacity::<A>(), &mut |part| store_part(part, by, store, executor));
    } else {
        plain(nest, &by, store);
    }
}

/// Reduces a nest of few outputs to a tile, and stores these results.
// Not inline: a function with a large stack frame takes time to enter.
#[inline(never)]
fn store_part<A: Clone, O: Operation<A>>(
    nest: Nest<'_, A, (A,)>,
    by: O,
    store: &Store<'_, A>,
    executor: impl Reductions<A, O>,
) {
    let (mut tile, mut room, mut scratch) = (Loops::new(), Loops::new(), Scratch::new());
    tile.clone_from_slice(nest.loops());
    tile.iter_mut().filter(|l| l.is_reduced()).for_each(|l| l.len = 1);
    let results = scratch.filled(steps(&tile), &by.identity());
    over(nest.read().onto(results, &tile, &mut room).overwriting(), by, executor);
    let mut at = 0;
    let written = nest.written(&mut room);
    let inner = written.loops().len().min(1);
    let mut rows = written.walk(inner);
    while let Some(row) = rows.next() {
        let len = steps(row.loops());
        row.each_slot(&mut results[at..], 1, |slot, result| store(slot, result.clone()));
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
    dropped: &dyn Fn(usize) -> bool,
    by: O,
    executor: impl Reductions<A, O>,
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
        // initialised, so that a panic does not leak the results that were stored before it
        let mut out = reserved.filled_in_order(&is_inside, by.identity());
        reduce_into(input, Output::of(&mut out), dropped, by, None, executor);
        return out;
    }
    reserved.written(Some(&is_inside), |out| {
        overwrite(input, Output::of(out).write_only(), dropped, by, executor);
    })
}

/// [`reduce_into`], for outputs whose former elements are forgotten.
#[inline(never)]
fn overwrite<A: Clone, O: Operation<A>>(
    input: Input<'_, A>,
    mut out: Output<'_, WriteOnly<A>>,
    dropped: &dyn Fn(usize) -> bool,
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
    dropped: &dyn Fn(usize) -> bool,
    by: O,
    executor: impl Reductions<A, O>,
) {
    if let Some(nest) = Nest::sum(&mut LoopPlan::new(), input, out, dropped) {
        over(nest, by, executor);
    }
}

/// Reduces up to two loops without a plan, if there are adjacent lanes, few rows, or few elements. Returns whether it did.
#[inline]
fn reduce_few<A: Clone>(nest: Nest<'_, WriteOnly<A>, (A,)>, by: &dyn CombineInPlace<A>) -> bool {
    let loops = nest.loops();
    if !const { forgettable::<A>() } {
        return false;
    }
    if are_lanes(loops) {
        by.lanes_of(nest);
    } else if are_rows(loops) && loops[0].len <= IN_ORDER {
        let rows = nest.read().block(true);
        let Some(slots) = nest.slots() else { unreachable!("adjacent outputs") };
        by.columns_of(slots, &rows);
    } else if steps(loops) <= IN_ORDER {
        plain(nest, by, &|slot, result| slot.write(result));
    } else {
        return false;
    }
    true
}

/// One output after the other, in order: for few elements, or for elements that own memory or are large, whose partial
/// results cannot be forgotten or do not fit into a [`Scratch`].
fn plain<A: Clone, T>(nest: Nest<'_, T, (A,)>, by: &dyn CombineInPlace<A>, store: &dyn Fn(&mut T, A)) {
    let mut room = Loops::new();
    let nest = nest.ordered(|_, l| u8::from(l.is_reduced()), &mut room);
    let reduced = nest.loops().iter().filter(|l| l.is_reduced()).count();
    let mut outputs = nest.walk(reduced);
    while let Some(output) = outputs.next() {
        let mut total = by.identity();
        let mut items = output.read().walk(0);
        while let Some(item) = items.next() {
            by.add(&mut total, item.item().clone());
        }
        store(output.slot(), total);
    }
}

/// Reduces a planned nest, whole or in parts.
fn over<A: Clone, O: Operation<A>, X: Reductions<A, O>>(
    nest: Nest<'_, WriteOnly<A>, (A,)>,
    by: O,
    executor: X,
) {
    if !const { forgettable::<A>() } {
        return plain(nest, &by, &|slot, result| slot.write(result));
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

    fn run(&self, part: Nest<'_, WriteOnly<A>, (A,)>) {
        let strategy = self.strategy;
        match strategy.kind {
            Kind::Tiles(tiling) if X::SPLITS && self.is_large => {
                tiles::parts(part, tiling, &mut |nest, tiling| {
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

/// A strategy for [`forgettable`] elements, chosen by the loops.
#[derive(Clone, Copy, Debug)]
struct Strategy {
    kind: Kind,
    /// The number of rows that are read at once.
    at_once: usize,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The innermost loop alone is reduced, along adjacent elements.
    Lanes,
    /// The same, along strided elements.
    Strided,
    /// One loop, around the innermost one, is reduced, along rows of a few elements without gaps.
    Channels,
    /// One loop, around the innermost one, is reduced. As many rows without gaps are merged into one: a power of two.
    Rows {
        merged: usize,
    },
    /// The innermost loop is a long lane, and others from loop `first` on are reduced too.
    Nested {
        first: usize,
        levels: usize,
    },
    Tiles(Tiling),
    /// Nothing is reduced.
    Singles,
}

impl Strategy {
    /// `size` is that of an element. Not generic, so that the choice is compiled once.
    fn of(loops: &[Loop], size: usize) -> Self {
        let (at_once, capacity) = (rows_at_once(loops, size), SCRATCH / size);
        let kind = match *loops {
            _ if all_kept(loops) => Kind::Singles,
            [ref outer @ .., lane] if lane.is_reduced() && lane.len <= LONGEST && all_kept(outer) => {
                if lane.strides[1] == 1 { Kind::Lanes } else { Kind::Strided }
            }
            _ => {
                let rows = || Self::rows(loops, capacity).filter(|_| at_once == AT_ONCE);
                let limits = Limits { room: capacity, even: true, rows_at_once: ROWS };
                Self::nested(loops, capacity)
                    .or_else(rows)
                    .unwrap_or_else(|| Kind::Tiles(Tiling::of(loops, limits)))
            }
        };
        Self { kind, at_once }
    }

    fn rows(loops: &[Loop], capacity: usize) -> Option<Kind> {
        let [outer @ .., rows, row] = loops else { return None };
        if !rows.is_reduced() || row.is_reduced() || row.strides[1] != 1 || !all_kept(outer) {
            return None;
        }
        let (mut merged, no_gaps) = (1, rows.strides[1] == row.len.cast_signed());
        if no_gaps && matches!(row.len, 2..=4) && CHANNEL_ROWS.contains(&rows.len) {
            return Some(Kind::Channels);
        }
        if no_gaps {
            while merged < MAX_MERGED && merged * row.len < NARROW && merged * 4 <= rows.len {
                merged *= 2;
            }
        }
        let fits = rows.len / merged <= ROWS && merged * row.len <= WIDEST.min(capacity);
        fits.then_some(Kind::Rows { merged })
    }

    fn nested(loops: &[Loop], capacity: usize) -> Option<Kind> {
        let (lane, outer) = loops.split_last()?;
        if !lane.is_reduced() || lane.strides[1] != 1 || !(NESTED..=LONGEST).contains(&lane.len) {
            return None;
        }
        let first = outer.iter().position(Loop::is_reduced)?;
        let outputs = |loops: &[Loop]| steps(loops) / reduced_steps(loops);
        let (width, rows) = (outputs(&outer[first..]), reduced_steps(&outer[first..]));
        let levels = levels::count(rows);
        let are_many = outputs(outer) >= NESTED_OUTPUTS && levels * width <= capacity;
        are_many.then_some(Kind::Nested { first, levels })
    }

    /// The first loop that must not be cut, because the order of combination depends on it. Neither may those inside it.
    fn first_uncut(&self, loops: &[Loop]) -> usize {
        match self.kind {
            Kind::Channels | Kind::Rows { .. } => loops.len() - 2,
            Kind::Tiles(tiling) => tiling.first,
            _ => loops.len(),
        }
    }

    fn add_rows<'c, A>(&self, by: &'c dyn CombineInPlace<A>) -> AddRowsFrom<'c, A> {
        AddRowsFrom { by, column: 0, at_once: self.at_once }
    }

    // Compiled once for an element type, whatever the operation is.
    #[inline(never)]
    fn run<A: Clone>(&self, nest: Nest<'_, WriteOnly<A>, (A,)>, by: &dyn CombineInPlace<A>) {
        let count = nest.loops().len();
        match self.kind {
            Kind::Lanes => {
                let mut all = nest.walk(count.min(2));
                while let Some(lanes) = all.next() {
                    by.lanes_of(lanes);
                }
            }
            Kind::Strided => strided(nest, by),
            Kind::Channels => {
                let mut all = nest.walk(count.min(3));
                while let Some(channels) = all.next() {
                    by.channels_of(channels);
                }
            }
            Kind::Rows { merged } => rows(nest, merged, self.at_once, by),
            Kind::Nested { first, levels } => nested(nest, first, levels, by),
            Kind::Tiles(tiling) => tiles::parts(nest, tiling, &mut |nest, tiling| {
                in_tiles(nest, tiling, by, &mut self.add_rows(by));
            }),
            Kind::Singles => plain(nest, by, &|slot, result| slot.write(result)),
        }
    }
}

/// Lanes of strided elements, which are copied before they are combined.
// Not inline: a function with a large stack frame takes time to enter.
#[inline(never)]
fn strided<A: Clone>(nest: Nest<'_, WriteOnly<A>, (A,)>, by: &dyn CombineInPlace<A>) {
    let mut scratch = Scratch::new();
    let room = scratch.filled(BLOCK, &by.identity());
    let mut lanes = nest.walk(1);
    while let Some(lane) = lanes.next() {
        let (x, mut total) = (lane.read().block(false), by.identity());
        for from in (0..x.width()).step_by(BLOCK) {
            let copies = &mut room[..BLOCK.min(x.width() - from)];
            x.columns_from(from, BLOCK).clone_to(copies);
            let width = copies.len();
            by.lanes(copies, width);
            by.add(&mut total, copies[0].clone());
        }
        lane.slot().write(total);
    }
}

/// Up to [`ROWS`] rows for each index of the loops around them: they need no levels.
#[inline(never)]
fn rows<A: Clone>(
    nest: Nest<'_, WriteOnly<A>, (A,)>,
    merged: usize,
    at_once: usize,
    by: &dyn CombineInPlace<A>,
) {
    let mut scratch = Scratch::new();
    let [.., lines, line] = nest.loops() else { unreachable!("rows") };
    let (count, rest, width) = (lines.len / merged, lines.len % merged * line.len, merged * line.len);
    let tile = scratch.filled(width, &by.identity());
    let mut all = nest.walk(2);
    while let Some(block) = all.next() {
        tile.fill(by.identity());
        if merged == 1 {
            by.rows_of(tile, &block.read().block(true), at_once);
        } else {
            let x = block.read().block(false);
            by.rows_of(tile, &x.cut(0, count, width), at_once);
            if rest > 0 {
                by.rows_of(tile, &x.cut(count * width, 1, rest), at_once);
            }
            // the parts of the tile that belong to one column
            fold_rows(by, tile, line.len);
        }
        block.each_slot(tile, 1, |slot, result| slot.write(result.clone()));
    }
}

/// Lanes of adjacent elements inside other reduced loops. They are read one at a time, as far as possible in memory's
/// order: as rows of tiles, several would be read side by side, which memory serves slower.
fn nested<A: Clone>(
    nest: Nest<'_, WriteOnly<A>, (A,)>,
    first: usize,
    levels: usize,
    by: &dyn CombineInPlace<A>,
) {
    let (lane, mut room) = (nest.loops().len() - 1, Loops::new());
    // outer kept loops, reduced ones, and then the outputs of a tile around the lane
    let class = |place: usize, l: &Loop| match place {
        _ if place < first => 0,
        _ if place < lane && l.is_reduced() => 1,
        _ => 2,
    };
    let nest = nest.ordered(class, &mut room);
    let loops = nest.loops();
    let outputs = loops[first..].iter().filter(|l| !l.is_reduced()).count();
    let tiling = Tiling { first: lane - outputs, take: loops[lane - outputs].len, levels };
    let mut tile = Loops::new();
    tile.clone_from_slice(&loops[lane - outputs..lane]);
    let mut scratch = Scratch::new();
    let row = scratch.filled(steps(&tile), &by.identity());
    run_tiles(nest, tiling, &tiles::packed(tile), by, &mut AddLanes { by, row, room: Loops::new() });
}

/// Adds a row of the results of lanes.
struct AddLanes<'c, A> {
    by: &'c dyn CombineInPlace<A>,
    row: &'c mut [A],
    room: Loops,
}

impl<A: Clone> AddRows<A, (A,)> for AddLanes<'_, A> {
    fn add(&mut self, levels: &mut Levels<'_, A>, rows: Nest<'_, (), (A,)>, in_rows: bool) {
        let mut rows = rows.walk(rows.loops().len() - usize::from(in_rows));
        while let Some(row) = rows.next() {
            let mut tile = Loops::new();
            tile.clone_from_slice(row.loops());
            tile.iter_mut().next_back().into_iter().for_each(|lane| lane.len = 1);
            let mut lanes = row.onto(self.row, &tile, &mut self.room).overwriting().walk(tile.len().min(2));
            while let Some(lanes) = lanes.next() {
                self.by.lanes_of(lanes);
            }
            self.by.rows(levels.first(), self.row);
            levels.carry();
        }
    }
}

/// Reduces a nest tile by tile, by rows.
fn in_tiles<A: Clone>(
    nest: Nest<'_, WriteOnly<A>, (A,)>,
    tiling: Tiling,
    by: &dyn CombineInPlace<A>,
    add: &mut dyn AddRows<A, (A,)>,
) {
    let tile = tiling.tile(nest.loops());
    run_tiles(nest, tiling, &tile, by, add);
}

// Not inline, as `strided`.
#[inline(never)]
fn run_tiles<A: Clone>(
    nest: Nest<'_, WriteOnly<A>, (A,)>,
    tiling: Tiling,
    tile: &[Loop],
    by: &dyn CombineInPlace<A>,
    add: &mut dyn AddRows<A, (A,)>,
) {
    let mut scratch = Scratch::new();
    let room = scratch.filled(tiling.levels * steps(tile), &by.identity());
    tiles::run(by, nest, tiling, tile, room, add, WriteOnly::write);
}

/// Adds the rows of a tile, restricted to the columns from `column` on that the levels have.
struct AddRowsFrom<'c, A> {
    by: &'c dyn CombineInPlace<A>,
    column: usize,
    at_once: usize,
}

impl<A: Clone> AddRows<A, (A,)> for AddRowsFrom<'_, A> {
    fn add(&mut self, levels: &mut Levels<'_, A>, rows: Nest<'_, (), (A,)>, in_rows: bool) {
        let width = levels.first().len();
        let block = rows.block(in_rows).columns_from(self.column, width);
        for from in (0..block.rows()).step_by(ROWS) {
            self.by.rows_of(levels.first(), &block.rows_from(from, ROWS), self.at_once);
            levels.carry();
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
    fn columns<A: Clone>(&self, nest: Nest<'_, WriteOnly<A>, (A,)>, tiling: Tiling)
    where
        O: Operation<A>,
        X: for<'s> SliceExecutor<A, Columns<'s, A, O>>,
    {
        let (tile, outer) = (tiling.tile(nest.loops()), tiling.outer(nest.loops()));
        let mut results = vec![self.by.identity(); steps(&tile)];
        let (cut, levels) = ([tiling.first - outer, tiling.take], tiling.levels);
        tiles::each_tile(
            &self.by,
            nest,
            outer,
            &tile,
            &mut results,
            WriteOnly::write,
            &mut |rows, results| {
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
    use crate::kernel::threads::Serial;
    use alloc::vec::Vec;
    use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, Slice};

    /// The strategy for loops with these strides in the output and in the input.
    fn kind(loops: &[(usize, [isize; 2])]) -> Kind {
        Strategy::of(&Loop::all(loops), 4).kind
    }

    /// The numbers of the tests stand for these strategies.
    fn name(kind: Kind) -> &'static str {
        match kind {
            Kind::Lanes => "lanes",
            Kind::Strided => "strided",
            Kind::Channels => "channels",
            Kind::Rows { .. } => "rows",
            Kind::Nested { .. } => "nested",
            Kind::Tiles(_) => "tiles",
            Kind::Singles => "singles",
        }
    }

    #[test]
    fn strategies() {
        let named = |loops: &[(usize, [isize; 2])]| name(kind(loops));
        assert_eq!([named(&[]), named(&[(9, [1, 1])]), named(&[(3, [9, 1]), (9, [1, 3])])], ["singles"; 3]);
        // lanes, of which the longest are tiles
        let lane = |len| named(&[(50, [1, 99_999]), (len, [0, 1])]);
        assert_eq!([lane(2), lane(LONGEST), lane(LONGEST + 1)], ["lanes", "lanes", "tiles"]);
        assert_eq!([0, 2, -2].map(|step| named(&[(9, [0, step])])), ["strided"; 3]);
        assert_eq!(named(&[(9, [0, 100]), (5, [1, 10]), (9, [0, 1])]), "tiles");
        // rows of a few elements without gaps
        let channels =
            |rows, channels: isize| named(&[(rows, [0, channels]), (channels.cast_unsigned(), [2, 1])]);
        assert_eq!([2, 3, 4].map(|n| channels(8, n)), ["channels"; 3]);
        assert_eq!([channels(7, 3), channels(1024, 3), channels(8, 5)], ["rows", "channels", "rows"]);
        assert_eq!([channels(1025, 4), named(&[(9, [0, 4]), (3, [1, 1])])], ["rows", "rows"]);
        // up to 128 rows, of a tile's width, of adjacent elements, and one reduced loop
        let rows = |rows, width: usize| named(&[(rows, [0, 9000]), (width, [1, 1])]);
        assert_eq!([rows(ROWS, 90), rows(ROWS + 1, 90)], ["rows", "tiles"]);
        assert_eq!([rows(9, WIDEST), rows(9, WIDEST + 1)], ["rows", "tiles"]);
        assert_eq!(named(&[(9, [0, 180]), (90, [1, 2])]), "tiles");
        assert_eq!(named(&[(5, [0, 999]), (9, [0, 90]), (90, [1, 1])]), "tiles");
    }

    #[test]
    fn narrow_rows_are_merged() {
        let merged = |rows: usize, width: usize, gap: usize| match kind(&[
            (rows, [0, (width + gap).cast_signed()]),
            (width, [1, 1]),
        ]) {
            Kind::Rows { merged } => merged,
            _ => 0,
        };
        // until they are wide, 16 of them, or half of all
        assert_eq!(
            [merged(100, NARROW, 0), merged(101, NARROW - 1, 0), merged(9 * MAX_MERGED, 1, 0)],
            [1, 2, 16]
        );
        assert_eq!([merged(3, 5, 0), merged(4, 5, 0)], [1, 2]);
        // many rows, and gaps between them
        assert_eq!([merged(8 * ROWS + 5, 5, 0), merged(8 * ROWS + 8, 5, 0), merged(100, 31, 2)], [8, 0, 1]);
    }

    #[test]
    fn lanes_are_nested_in_other_reduced_loops() {
        let nested = |loops: &[(usize, [isize; 2])]| match kind(loops) {
            Kind::Nested { first, levels } => Some([first, levels]),
            _ => None,
        };
        let images = |channels, lane| nested(&[(32, [0, 90_000]), (channels, [1, 900]), (lane, [0, 1])]);
        // 32 rows of outputs in three levels
        assert_eq!([images(64, NESTED), images(64, NESTED - 1)], [Some([0, 3]), None]);
        assert_eq!([images(NESTED_OUTPUTS, 300), images(NESTED_OUTPUTS - 1, 300)], [Some([0, 3]), None]);
        assert_eq!([images(64, LONGEST), images(64, LONGEST + 1)], [Some([0, 3]), None]);
        // outer loops that are kept
        assert_eq!(nested(&[(20, [3, 9000]), (8, [0, 900]), (3, [1, 300]), (200, [0, 1])]), Some([1, 2]));
        // strided lanes, and rows
        assert_eq!(nested(&[(32, [0, 9000]), (64, [1, 900]), (200, [0, 2])]), None);
        assert_eq!(nested(&[(32, [0, 9000]), (2, [0, 900]), (200, [1, 1])]), None);
    }

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
        assert_eq!(reduce_to_new(Input::of(x), new(), &|_| false, Plus, Serial), sums, "{x:?} over {axes:?}");
        let max = ClosureOp { identity: &i64::MIN, op: &i64::max };
        assert_eq!(
            reduce_to_new(Input::of(x), new(), &|_| false, max, Serial),
            largest,
            "{x:?} over {axes:?}"
        );
        let mut out = ArrayD::from_elem(&shape[..], 1000);
        reduce_into(Input::of(x), Output::of(&mut out), &|_| false, Plus, Some(&scaled(&-2)), Serial);
        assert_eq!(out, sums.mapv(|sum| 1000 - 2 * sum), "{axes:?}");
        let boxed = x.mapv(|item| ndarray::arr0(item).into_dyn());
        let by = ClosureOp { identity: &ndarray::arr0(0).into_dyn(), op: &|a: ArrayD<i64>, b| a + b };
        let found = reduce_to_new(
            Input::of(&boxed),
            Reserved::new(IxDyn(&shape)).expect("memory"),
            &|_| false,
            by,
            Serial,
        );
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
}
