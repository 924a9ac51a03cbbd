//! One pass over an output and the operands that are broadcast to its shape.
//!
//! ```text
//! for each block of the output:            the innermost loops
//!     copy operands that repeat or stride in short rows, unless the last copy is of the same elements
//!     for each row of the block:
//!         for i in row: visit(out[i], a[i], b[0], …)
//! ```
//!
//! Memory: the output's elements are adjacent along the innermost loop. There, an operand is adjacent too, repeats one
//! element, or has a stride. With a large stride, an element shares its cache line with elements of the next rows, not
//! of its own row. Such operands are copied in blocks of several rows, a line at a time. Where the output stays along a
//! short innermost loop, that loop first goes outside those along which the output moves.
//!
//! A closure is compiled into one loop for each kind of row that [`Elements::row`] has: in these, each operand moves by
//! one element or stays. Other operands of plain numbers are copied to a buffer in L1, which is kept while they repeat.
//! Elements of other types are visited one by one. Small arrays are visited without a plan. A pass that only copies plain
//! numbers visits none of them where they are adjacent across the rows, or where rows repeat: see [`memory`](super::memory).

#![cfg_attr(not(test), forbid(unsafe_code))]

use super::loop_plan::{LoopPlan, Loops, Outside};
use super::loops::{
    Loop, OPERANDS, all_inputs, all_kept, bits, has, innermost, is_adjacent, moving_inputs, operands, steps,
};
use super::memory::{COPY, LARGEST_COPY, LINE, PAGES, Reserved, TILE, WriteOnly};
use super::nest::{Elements, Inputs, Nest, NestFn, Output, UnaryNest, Visit, repeats_row};
use super::simd::{self, Cpu, Work, plain_size};
use super::strided::{SMALL, UNPLANNED};
use super::threads::{Executor, Task, Threads};
use crate::kernel::ensure;
use core::mem::{MaybeUninit, needs_drop};
use ndarray::{Array, ArrayRef, Dimension};

/// Shorter rows are merged into longer ones.
const SHORT_ROW: usize = 16;
/// The same where an operand stays along a row, so that its copies cannot be kept. From here on, rows as they lie take half
/// of the time, or up to a half more if the operation is slow, such as a division or a square root.
const SHORT_ROW_AND_SCALAR: usize = 8;
/// The most rows of at least as many elements that are visited as they lie: copies would take longer to set up.
const FEW_ROWS: usize = 100;
/// No more outputs than these are sought for lanes side by side. Copies in tiles have one side as long.
const WIDE: usize = 16;
/// Rows of at least this many elements need not be merged.
const LONG_ROW: usize = 64;
/// The fewest loops in which all copies can be kept: two operands stay in turn, in merged rows and around them.
const ALTERNATING: usize = 3;
/// The parts of [`Merged::made`] if every copy of one operand is made.
const ALWAYS: usize = 1 << 10;
/// Copies of which no more are made take less time than short rows.
const SELDOM: usize = ALWAYS / 4;
/// The longest lanes that are reduced side by side. Longer ones are faster one by one.
const SHORT_LANE: usize = 15;
/// Up to this many elements are visited one by one rather than copied.
const TINY: usize = 256;

/// Makes a new element from the elements of the inputs.
pub(crate) trait Make<R, E: Elements> {
    fn make(&mut self, items: E::Refs<'_>) -> R;
}

/// Writes the result of a [`Make`] to a new element.
#[derive(Clone, Copy)]
pub(crate) struct Write<M>(pub(crate) M);

impl<R, E: Elements, M: Make<R, E>> Visit<MaybeUninit<R>, E> for Write<M> {
    #[inline(always)]
    fn visit(&mut self, out: &mut MaybeUninit<R>, items: E::Refs<'_>) {
        out.write(self.0.make(items));
    }
}

/// Calls `visit` once for every element of `out`, with the inputs' elements there. Shapes are aligned at the right.
///
/// # Panics
/// If an input does not stretch to the shape of `out`.
#[inline]
pub(crate) fn each<T, E: Elements, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    visit: impl Visit<T, E>,
) {
    over_each(out, inputs, &mut Each(visit));
}

/// [`each`] with the closure behind a trait object: compiled once for each tuple of element types.
#[inline(never)]
pub(crate) fn over_each<T, E: Elements, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<T, E>,
) {
    let mut out = Output::of(out);
    let mut room = [Loop::ONE; 2];
    let small = Nest::small(&mut room, UNPLANNED, None, &mut out, inputs);
    if !small.is_some_and(|nest| visit_small(nest, visit)) {
        planned(out, inputs, visit, drive);
    }
}

/// Visits a small nest without a plan, if that is faster. Returns whether it is.
#[inline(always)]
fn visit_small<T, E: Elements>(mut nest: Nest<'_, T, E>, visit: &mut dyn VisitBlock<T, E>) -> bool {
    let moving = moving_along(&nest);
    let loops = nest.loops();
    let is_faster = are_long_or_few(loops, E::COUNT, moving) || steps(loops) <= TINY;
    if is_faster {
        visit.block(&mut nest, moving.map(Rows::of));
    }
    is_faster
}

/// Whether there is a loop for rows in which the inputs in `moving` move, and they are not so short and many that copies
/// are faster.
#[inline]
pub(super) fn are_long_or_few(loops: &[Loop], count: usize, moving: Option<u8>) -> bool {
    let Some(moving) = moving else { return false };
    let shortest = if moving == all_inputs(count) { SHORT_ROW } else { SHORT_ROW_AND_SCALAR };
    match loops {
        [] => true,
        [.., row] if row.len >= shortest => true,
        // without a call
        [rows, row] => rows.len * row.len < SMALL || row.len >= SHORT_ROW_AND_SCALAR && rows.len <= FEW_ROWS,
        _ => steps(loops) < SMALL,
    }
}

/// [`over_each`] by a plan: compiled once for all numbers of axes.
#[inline(never)]
fn planned<T, E: Elements>(
    out: Output<'_, T>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<T, E>,
    drive: fn(Nest<'_, T, E>, &mut dyn VisitBlock<T, E>),
) {
    if let Some(nest) = Nest::over(&mut LoopPlan::new(), None, out, inputs, Outside::Written) {
        drive(nest, visit);
    }
}

/// A new array of the results of `make` for the inputs' elements. Its axes have the inputs' order in memory.
///
/// # Panics
/// If an input does not stretch to the shape.
#[inline]
pub(crate) fn to_new<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    make: impl Make<R, E>,
) -> Array<R, D> {
    to_new_by(reserved, inputs, &mut Each(Write(make)))
}

/// [`to_new`] with the closure behind a trait object.
#[inline(always)]
pub(crate) fn to_new_by<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<MaybeUninit<R>, E>,
) -> Array<R, D> {
    written_like(reserved, inputs, |out| over_each(out, inputs, visit))
}

/// A new array whose axes have the inputs' order in memory. `fill` writes it and is a pass over all of it.
#[inline]
fn written_like<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    fill: impl FnOnce(&mut ArrayRef<MaybeUninit<R>, D>),
) -> Array<R, D> {
    reserved.written(Some(inputs), fill)
}

/// The fewest elements to hand to another thread. Measured with a sum of two `f32` arrays on two threads: up to 2^18
/// elements, waking the second thread costs more than it saves; with 2^20, the time is halved.
const GRAIN: usize = 1 << 18;

/// A pass on several threads, each with its own copy of the visitor.
struct Shared<V>(V);

impl<T, E: Elements, V: Visit<T, E> + Copy> Task<T, E> for Shared<V> {
    fn grain(&self) -> usize {
        GRAIN
    }

    fn may_cut(&self, _: usize, _: &[Loop]) -> bool {
        true
    }

    fn run(&self, part: Nest<'_, T, E>) {
        drive(part, &mut Each(self.0));
    }
}

/// [`each`] on several threads, if there are many elements.
pub(crate) fn par_each<T: Send, E: Elements + Sync>(
    out: Output<'_, T>,
    inputs: &Inputs<'_, E>,
    visit: impl Visit<T, E> + Copy + Sync,
) {
    if let Some(nest) = Nest::over(&mut LoopPlan::new(), None, out, inputs, Outside::Written) {
        Threads.run(nest, &Shared(visit));
    }
}

/// [`to_new`] on several threads, if there are many elements.
pub(crate) fn par_to_new<R: Send, E: Elements + Sync, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    make: impl Make<R, E> + Copy + Sync,
) -> Array<R, D> {
    written_like(reserved, inputs, |out| par_each(Output::of(out), inputs, Write(make)))
}

/// Clones the only operand.
pub(crate) struct Cloning;

impl<A: Clone> Visit<A, (A,)> for Cloning {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (item,): (&A,)) {
        out.clone_from(item);
    }
}

impl<A: Clone> Visit<WriteOnly<A>, (A,)> for Cloning {
    #[inline(always)]
    fn visit(&mut self, out: &mut WriteOnly<A>, (item,): (&A,)) {
        out.write(item.clone());
    }
}

impl<A: Clone> Make<A, (A,)> for Cloning {
    #[inline(always)]
    fn make(&mut self, (item,): (&A,)) -> A {
        item.clone()
    }
}

/// A copy in standard layout.
#[inline]
pub(crate) fn copy<A: Clone, D: Dimension>(reserved: Reserved<A, D>, array: &ArrayRef<A, D>) -> Array<A, D> {
    if let Some(elements) = array.as_slice() {
        return reserved.cloned(elements);
    }
    reserved.written(None, |out| copy_into_uninit(out, array))
}

/// [`copy`], with the array's order of axes in memory.
pub(crate) fn copy_like<A: Clone, D: Dimension, E: Dimension>(
    reserved: Reserved<A, E>,
    array: &ArrayRef<A, D>,
) -> Array<A, E> {
    let inputs = Inputs::from((array,));
    written_like(reserved, &inputs, |out| copy_into_uninit(out, array))
}

/// Clones the elements of the array into `out`, to whose shape the array stretches.
#[inline(never)]
pub(crate) fn copy_into<A: Clone, D: Dimension, E: Dimension>(
    out: &mut ArrayRef<A, E>,
    array: &ArrayRef<A, D>,
) {
    let inputs = Inputs::from((array,));
    if const { needs_drop::<A>() } {
        each(out, &inputs, Cloning);
    } else {
        copy_over(Output::of(out).overwriting(), &inputs);
    }
}

/// [`copy_into`] for an uninitialised array, whose elements are not dropped.
#[inline(never)]
pub(crate) fn copy_into_uninit<A: Clone, D: Dimension, E: Dimension>(
    out: &mut ArrayRef<MaybeUninit<A>, E>,
    array: &ArrayRef<A, D>,
) {
    copy_over(Output::of(out).write_only(), &Inputs::from((array,)));
}

/// Clones the elements of the only input. Plain numbers that are adjacent across rows are copied in tiles: see
/// [`Nest::copy_rows`].
#[inline(always)]
fn copy_over<A: Clone>(mut out: Output<'_, WriteOnly<A>>, inputs: &Inputs<'_, (A,)>) {
    let visit: &mut dyn VisitBlock<WriteOnly<A>, (A,)> = &mut Each(Cloning);
    let mut room = [Loop::ONE; 2];
    let small = Nest::small(&mut room, usize::MAX, None, &mut out, inputs);
    let copied = |mut nest: UnaryNest<'_, A>| {
        let len = steps(nest.loops());
        let is_small = len <= UNPLANNED;
        let has_rows =
            if is_small { len > TINY || nest.is_across() } else { rows_to_copy(nest.loops()).is_some() };
        has_rows && nest.copy_rows(len) || is_small && visit_small(nest, visit)
    };
    if !small.is_some_and(copied) {
        planned(out, inputs, visit, drive_copies);
    }
}

/// [`drive`] for copies: plain numbers that are adjacent across rows are not visited, but copied in tiles. Adjacent rows that
/// are the same are copied from each other.
fn drive_copies<A>(nest: UnaryNest<'_, A>, visit: &mut dyn VisitBlock<WriteOnly<A>, (A,)>) {
    match rows_to_copy(nest.loops()).filter(|_| plain_size::<A>().is_some()) {
        Some(rows) => {
            let (len, last) = (steps(nest.loops()), nest.loops().len() - 1);
            let class = |at: usize, _: &Loop| u8::from(at == rows || at == last);
            nest.ordered(class, &mut Loops::new()).each_block(2, &mut |mut block: UnaryNest<'_, A>| {
                ensure(block.copy_rows(len), "rows that are copied");
            });
        }
        None => drive(nest, visit),
    }
}

/// The loop over rows that are copied together: along which the input is adjacent, but not along the rows, or stays.
fn rows_to_copy(loops: &[Loop]) -> Option<usize> {
    let (row, outer) = innermost(loops);
    if outer.last().is_some_and(|rows| repeats_row(rows, row)) {
        return Some(outer.len() - 1);
    }
    let is_large = |l: &Loop| l.len.min(row.len) >= TILE || l.len.max(row.len) >= WIDE;
    let is_across = |l: &Loop| l.strides[1] == 1 && is_large(l);
    let is_strided = row.strides[0] == 1 && !matches!(row.strides[1], 0 | 1);
    outer.iter().rposition(is_across).filter(|_| is_strided)
}

/// A visitor of the blocks of [`drive`].
// A trait of its own, as `NestFn`.
pub(crate) trait VisitBlock<T, E: Elements> {
    /// Visits every index of a block: a nest of up to two loops. `rows` is `None` if no loop is compiled for its rows.
    // By reference, because a copy of what was just written takes longer than a short row.
    fn block(&mut self, nest: &mut Nest<'_, T, E>, rows: Option<Rows>);
}

#[cfg(test)]
impl<T, E: Elements, F: FnMut(&mut Nest<'_, T, E>, Option<Rows>)> VisitBlock<T, E> for F {
    fn block(&mut self, nest: &mut Nest<'_, T, E>, rows: Option<Rows>) {
        self(nest, rows);
    }
}

/// Visits each index of a block.
pub(crate) struct Each<V>(pub(crate) V);

impl<T, E: Elements, V: Visit<T, E>> VisitBlock<T, E> for Each<V> {
    #[inline]
    fn block(&mut self, nest: &mut Nest<'_, T, E>, rows: Option<Rows>) {
        match rows {
            Some(rows) => simd::dispatch(VisitRows { nest, rows, visit: &mut self.0 }),
            None => nest.visit_each(&mut self.0),
        }
    }
}

/// The rows of a block.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// The inputs that move by one element along a row. The others stay.
    pub(super) moving: u8,
    pub(super) kind: Kind,
}

/// How the rows of a reduction are visited.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Several rows with the same outputs at once.
    Together,
    /// Rows with the same outputs one after the other.
    Alone,
    /// Along each row, the output stays.
    Lanes,
}

impl Rows {
    #[inline]
    pub(super) fn of(moving: u8) -> Self {
        Self { moving, kind: Kind::Together }
    }

    #[inline]
    pub(super) fn lanes(moving: u8) -> Self {
        Self { moving, kind: Kind::Lanes }
    }

    #[inline]
    pub(super) fn alone(self) -> Self {
        if let Kind::Together = self.kind { Self { kind: Kind::Alone, ..self } } else { self }
    }
}

struct VisitRows<'n, 'a, 'v, T, E: Elements, V> {
    nest: &'n mut Nest<'a, T, E>,
    rows: Rows,
    visit: &'v mut V,
}

impl<T, E: Elements, V: Visit<T, E>> Work for VisitRows<'_, '_, '_, T, E, V> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { nest, rows, visit } = self;
        nest.visit_rows::<C, V>(0, rows.moving, visit);
    }
}

/// The inputs that move by one element along the innermost loop of a nest; `None` if no loop is compiled for such rows.
#[inline]
pub(super) fn moving_along<T, E: Elements>(nest: &Nest<'_, T, E>) -> Option<u8> {
    moving(nest.loops(), E::COUNT, E::has_loop)
}

/// [`moving_along`] for loops of `count` inputs.
#[inline]
fn moving(loops: &[Loop], count: usize, has_loop: fn(u8) -> bool) -> Option<u8> {
    let Some(row) = loops.last() else { return Some(all_inputs(count)) };
    inputs_moving(row, count, has_loop).filter(|_| row.len == 1 || row.strides[0] == 1)
}

/// [`moving`] for outputs that are adjacent along a row.
#[inline]
pub(super) fn inputs_moving(row: &Loop, count: usize, has_loop: fn(u8) -> bool) -> Option<u8> {
    if row.len == 1 {
        return Some(all_inputs(count));
    }
    moving_inputs(row, count).filter(|&moving| has_loop(moving))
}

/// The strategy of a pass, chosen by its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassStrategy {
    /// No operand is copied: see [`Nest::visit_rows`].
    Direct(Option<u8>),
    /// Several rows are merged, `take` steps of loop `first` at a time, with copies of the operands in `copied`.
    Copied { copied: u8, first: usize, take: usize },
    /// Blocks of `take` steps of loop `across` and of up to [`PAGES`] of the innermost loop, with copies of the operands in
    /// `copied`. One of these is adjacent along `across` and has a large stride along the innermost loop: `take` of its
    /// elements fill a cache line.
    Transposed { copied: u8, across: usize, take: usize },
}

impl PassStrategy {
    /// `plain` is [`Elements::plain_size`], and `has_loop` is [`Elements::has_loop`].
    fn of(loops: &[Loop], count: usize, plain: fn(usize) -> Option<usize>, has_loop: fn(u8) -> bool) -> Self {
        let direct = moving(loops, count, has_loop);
        let (row, outer) = innermost(loops);
        let is_direct = are_long_or_few(loops, count, direct);
        if row.strides[0] != 1 || is_direct && (row.len >= LONG_ROW || loops.len() < ALTERNATING) {
            return Self::Direct(direct);
        }
        let largest = largest(count, plain);
        let copied = bits(count, &|k| row.strides[k] != 1);
        if let Some(across) = across_lines(row, outer, count, plain) {
            let take = outer[across].len.min(LINE / largest);
            if take.min(row.len) >= 8 && are_plain(copied, plain) {
                return Self::Transposed { copied, across, take };
            }
        }
        let mut merged = Merged::of(loops, count, COPY / largest);
        if loops.len() >= ALTERNATING {
            let larger = Merged::of(loops, count, LARGEST_COPY / largest);
            merged = if larger.made < merged.made { larger } else { merged };
        }
        let Merged { copied, first, take, made } = merged;
        let is_merged = if is_direct { made <= SELDOM } else { direct.is_none() || first + 1 < loops.len() };
        if !is_merged || !are_plain(copied, plain) {
            return Self::Direct(direct);
        }
        Self::Copied { copied, first, take }
    }
}

/// Rows that are merged into one: `take` steps of loop `first`, and the loops inside it.
struct Merged {
    copied: u8,
    first: usize,
    take: usize,
    /// How many of the copies of all operands are made, in parts of [`ALWAYS`]: the others are kept from row to row.
    made: usize,
}

impl Merged {
    /// As many elements as there is `room` for.
    // Not inline, but once for both rooms.
    #[inline(never)]
    fn of(loops: &[Loop], count: usize, room: usize) -> Self {
        let [first, take, _] = adjacent_outputs(loops, room, usize::MAX);
        let (around, block) = loops.split_at(first);
        let (copied, in_rows) = (bits(count, &|k| !is_adjacent(block, k)), are_rows(&block[1..]));
        let mut made = 0;
        for k in operands(copied) {
            let (stays, len) = (block[0].strides[k] == 0, block[0].len);
            let mut kept = if stays && in_rows { take } else { 1 };
            if stays || take == len {
                kept *= len / take;
                for l in around.iter().rev() {
                    if l.strides[k] != 0 {
                        break;
                    }
                    kept *= l.len;
                }
            }
            made += ALWAYS / kept;
        }
        Self { copied, first, take, made }
    }
}

/// Whether these loops make a row that is long enough to be visited as such.
fn are_rows(loops: &[Loop]) -> bool {
    steps(loops) >= LONG_ROW
}

/// The outermost of the `outer` loops along which an input of plain numbers is adjacent, if each step of a row takes that
/// input to another cache line.
fn across_lines(
    row: &Loop,
    outer: &[Loop],
    count: usize,
    plain: fn(usize) -> Option<usize>,
) -> Option<usize> {
    for k in operands(all_inputs(count)) {
        if row.strides[k].unsigned_abs().saturating_mul(plain(k).unwrap_or(0)) >= LINE {
            for (at, l) in outer.iter().enumerate() {
                if l.strides[k].unsigned_abs() == 1 && !l.is_reduced() {
                    return Some(at);
                }
            }
        }
    }
    None
}

/// The size of the largest plain number among the operands.
#[inline(never)]
pub(super) fn largest(count: usize, plain: fn(usize) -> Option<usize>) -> usize {
    let mut largest = 0;
    for k in operands(all_inputs(count)) {
        largest = largest.max(plain(k).unwrap_or(0));
    }
    largest.max(1)
}

/// Whether all operands in `copied` are plain numbers.
#[inline(never)]
pub(super) fn are_plain(copied: u8, plain: fn(usize) -> Option<usize>) -> bool {
    for k in operands(copied) {
        if plain(k).is_none() {
            return false;
        }
    }
    true
}

/// The innermost loops along which the output is contiguous: the first one, how many of its steps to take so that at most
/// `room` elements are taken in all, and how many these are. No loop is added to `enough` elements.
#[inline(never)]
fn adjacent_outputs(loops: &[Loop], room: usize, enough: usize) -> [usize; 3] {
    let (mut first, mut width, mut take) = (loops.len(), 1_usize, 0);
    while let Some(l) = loops[..first].last() {
        if l.strides[0] != width.cast_signed() || room / width < 2 || width >= enough {
            break;
        }
        first -= 1;
        take = l.len.div_ceil(l.len.div_ceil(room / width));
        width *= take;
        if take < l.len {
            break;
        }
    }
    [first, take, width]
}

/// Visits a block of [`Nest::gathered`].
fn visit_gathered<T, E: Elements>(
    (visit, rows): &mut (&mut dyn VisitBlock<T, E>, Rows),
    block: &mut Nest<'_, T, E>,
) {
    visit.block(block, Some(*rows));
}

/// Calls `visit` for each block of the nest, with the rows of the chosen strategy.
pub(super) fn drive<T, E: Elements>(nest: Nest<'_, T, E>, visit: &mut dyn VisitBlock<T, E>) {
    let mut visitor = (visit, Rows::of(all_inputs(E::COUNT)));
    match PassStrategy::of(nest.loops(), E::COUNT, E::plain_size, E::has_loop) {
        PassStrategy::Direct(moving) => {
            let inner = nest.loops().len().min(2);
            let mut blocks = nest.walk(inner);
            while let Some(mut block) = blocks.next() {
                visitor.0.block(&mut block, moving.map(Rows::of));
            }
        }
        PassStrategy::Copied { copied, first, take } => {
            let count = nest.loops().len() - first;
            nest.chunked(first, take, &mut |nest: Nest<'_, T, E>| {
                let rows = rows_of(nest.loops(), count, copied);
                nest.gathered(copied, rows, &mut visitor, visit_gathered);
            });
        }
        PassStrategy::Transposed { copied, across, take } => {
            in_blocks(nest, across, [PAGES; 2], &mut |nest: Nest<'_, T, E>| {
                let across = nest.loops().len() - 2;
                nest.chunked(across, take, &mut |nest: Nest<'_, T, E>| {
                    nest.gathered(copied, [1, 1], &mut visitor, visit_gathered);
                });
            });
        }
    }
}

/// The loops around a row and in it, if the `count` innermost loops are copied. There are several rows if they share the
/// copies of all operands, or are long and share one of them.
fn rows_of(loops: &[Loop], count: usize, copied: u8) -> [usize; 2] {
    let first = loops.len() - count;
    let shared = |rows: &Loop| copied & bits(OPERANDS - 1, &|k| rows.strides[k] == 0);
    if are_rows(&loops[first + 1..]) && shared(&loops[first]) != 0 {
        [1, count - 1]
    } else if first > 0 && shared(&loops[first - 1]) == copied {
        [1, count]
    } else {
        [0, count]
    }
}

/// Short lanes, which are reduced side by side: the innermost loop goes outside `take` steps of loop `first` and of those
/// inside it. The operands in `copied` are copied. Those in `moving` move along the new rows, the others stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SideBySide {
    copied: u8,
    moving: u8,
    first: usize,
    take: usize,
}

impl SideBySide {
    /// `None` if other loops are reduced too, the outputs are few or not adjacent, or operands cannot be copied. The
    /// arguments are those of [`PassStrategy::of`].
    pub(super) fn of(
        loops: &[Loop],
        count: usize,
        plain: fn(usize) -> Option<usize>,
        has_loop: fn(u8) -> bool,
    ) -> Option<Self> {
        let (lane, kept) = loops.split_last()?;
        if !lane.is_reduced() || lane.len > SHORT_LANE || !all_kept(kept) || steps(loops) < SMALL {
            return None;
        }
        let largest = largest(count, plain);
        let room = LARGEST_COPY / largest / lane.len;
        let [first, take, width] = adjacent_outputs(kept, room, WIDE);
        // copies of so few elements at a time take longer than lanes, unless they fill a vector
        let few = kept.last().map_or(0, |l| l.len);
        let are_lanes =
            lane.len >= 8 && inputs_moving(lane, count, has_loop).is_some_and(|moving| moving != 0);
        let is_narrow = are_lanes && few < 8 && (few != 4 || largest > 4);
        let kept = &kept[first..];
        let own = bits(count, &|k| kept.iter().any(|l| l.strides[k] != 0));
        let moving = if has_loop(own) { own } else { all_inputs(count) };
        let copied = bits(count, &|k| has(moving, k) && !is_adjacent(kept, k));
        (are_plain(copied, plain) && width >= 8 && !is_narrow).then_some(Self { copied, moving, first, take })
    }

    /// Calls `visit` for each block of the nest, whose outputs are side by side.
    pub(super) fn drive<T, E: Elements>(self, nest: Nest<'_, T, E>, visit: &mut dyn VisitBlock<T, E>) {
        let Self { copied, moving, first, take } = self;
        let (inner, mut visitor) = (nest.loops().len() - 1 - first, (visit, Rows::of(moving)));
        nest.chunked(first, take, &mut |nest: Nest<'_, T, E>| {
            let lane = nest.loops().len() - 1;
            let class = |at: usize, _: &Loop| if at == lane { 1 } else { 2 * u8::from(at + inner >= lane) };
            let mut room = Loops::new();
            let rows = nest.ordered(class, &mut room);
            rows.gathered(copied, [1, inner], &mut visitor, visit_gathered);
        });
    }
}

/// Calls `then` for blocks of the nest. Their innermost loops are at most `take` steps of loop `across` and of the
/// innermost loop.
fn in_blocks<T, E: Elements>(
    nest: Nest<'_, T, E>,
    across: usize,
    take: [usize; 2],
    then: &mut dyn NestFn<T, E>,
) {
    let last = nest.loops().len() - 1;
    nest.chunked(last, take[1], &mut |nest: Nest<'_, T, E>| {
        let from_end = nest.loops().len() - across;
        nest.chunked(across, take[0], &mut |nest: Nest<'_, T, E>| {
            let count = nest.loops().len();
            let class = |at: usize, _: &Loop| u8::from(at + from_end == count || at + 1 == count);
            then.call(nest.ordered(class, &mut Loops::new()));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use ndarray::{Array2, ArrayView2, s};

    const DIRECT: fn(Option<u8>) -> PassStrategy = PassStrategy::Direct;

    fn copied(copied: u8, first: usize, take: usize) -> PassStrategy {
        PassStrategy::Copied { copied, first, take }
    }

    /// The strategy for loops with the strides of the output and of two inputs. `plain` is the size of their elements.
    fn way_of(loops: &[(usize, [isize; 3])], plain: fn(usize) -> Option<usize>) -> PassStrategy {
        PassStrategy::of(&Loop::all(loops), 2, plain, <(f32, f32)>::has_loop)
    }

    fn way(loops: &[(usize, [isize; 3])]) -> PassStrategy {
        way_of(loops, |_| Some(4))
    }

    #[test]
    fn rows_that_have_a_loop_are_visited_directly() {
        assert_eq!(way(&[]), DIRECT(Some(0b11)));
        assert_eq!(way(&[(5000, [1, 1, 1])]), DIRECT(Some(0b11)));
        assert_eq!(way(&[(90, [90, 0, 2]), (90, [1, 1, 0])]), DIRECT(Some(0b01)));
        assert_eq!(way(&[(90, [90, 1, 1]), (16, [1, 0, 1])]), DIRECT(Some(0b10)));
        // a row of one element, whatever its strides are
        assert_eq!(way(&[(90, [2, 0, 2]), (1, [5, 3, -7])]), DIRECT(Some(0b11)));
        // no loop for two operands that both stay
        assert_eq!(way(&[(5000, [1, 0, 0])]), copied(0b11, 0, 500));
        // nor for five operands if one stays
        let row = Loop { len: 90, strides: [1, 1, 1, 1, 1, 0, 0] };
        let five = PassStrategy::of(&[row], 5, |_| Some(8), <((), (), (), (), ())>::has_loop);
        assert_eq!(five, copied(0b1_0000, 0, 90));
    }

    #[test]
    fn rows_are_merged_where_copies_are_kept() {
        // in turn, one operand moves and the other stays, along loops of these lengths
        fn alternating(lens: &[usize]) -> Vec<Loop> {
            let (mut loops, mut strides) = (Vec::new(), [1; 3]);
            for (place, &len) in lens.iter().enumerate().rev() {
                let (moves, stays) = if place % 2 == 0 { (1, 2) } else { (2, 1) };
                let mut l = Loop::new(len, strides);
                l.strides[stays] = 0;
                loops.insert(0, l);
                for k in [0, moves] {
                    strides[k] *= len.cast_signed();
                }
            }
            loops
        }
        let way = |lens: &[usize], size| {
            let plain = [|_| Some(1), |_| Some(4), |_| Some(8)][size];
            PassStrategy::of(&alternating(lens), 2, plain, <(f32, f32)>::has_loop)
        };
        let six = [14, 15, 16, 13, 12, 11];
        // larger blocks than for copies that are always made, if they fit
        assert_eq!([0, 1].map(|size| way(&six, size)), [copied(0b11, 3, 13); 2]);
        assert_eq!(way(&six, 2), DIRECT(Some(0b10)));
        assert_eq!(
            [0, 1].map(|size| way(&[30, 30, 20, 10], size)),
            [copied(0b11, 1, 30), DIRECT(Some(0b10))]
        );
        // long rows, and few loops
        assert_eq!(way(&[14, 15, 16, LONG_ROW], 0), DIRECT(Some(0b10)));
        assert_eq!(way(&[200, 11], 0), DIRECT(Some(0b10)));
    }

    #[test]
    fn short_rows_are_merged() {
        let rows = |len| [(len, [3, 3, 0]), (3, [1, 1, 0])];
        assert_eq!(way(&rows(1000)), copied(0b10, 0, 167));
        assert_eq!(way(&[(1000, [3, 0, 1]), (3, [1, 1, 0])]), copied(0b11, 0, 167));
        // not long rows, which are shorter where an operand stays along them
        let rows_of = |n: usize, stays| [(1000, [n.cast_signed(), 0, 1]), (n, [1, 1, stays])];
        assert_eq!(way(&rows_of(SHORT_ROW_AND_SCALAR, 0)), DIRECT(Some(0b01)));
        assert_eq!(way(&rows_of(SHORT_ROW_AND_SCALAR - 1, 0)), copied(0b11, 0, 72));
        assert_eq!(way(&rows_of(SHORT_ROW, 1)), DIRECT(Some(0b11)));
        assert_eq!(way(&rows_of(SHORT_ROW - 1, 1)), copied(0b11, 0, 34));
        // not fewer rows, nor rows with gaps between them in the output
        assert_eq!(way(&rows(170)), DIRECT(Some(0b01)));
        assert_eq!(way(&rows(171)), copied(0b10, 0, 86));
        let rows_of_four = |len| way(&[(len, [4, 4, 0]), (4, [1, 1, 0])]);
        assert_eq!([SMALL / 4 - 1, SMALL / 4].map(rows_of_four), [DIRECT(Some(0b01)), copied(0b10, 0, 128)]);
        assert_eq!(way(&[(1000, [5, 3, 0]), (3, [1, 1, 0])]), DIRECT(Some(0b01)));
        // whole loops, and a part of the loop around them that is too long for a copy
        assert_eq!(way(&[(50, [90, 0, 9]), (30, [3, 3, 0]), (3, [1, 1, 3])]), copied(0b11, 0, 5));
        assert_eq!(way(&[(50, [999, 0, 9]), (30, [3, 3, 0]), (3, [1, 1, 3])]), copied(0b10, 1, 30));
    }

    #[test]
    fn copies_that_rows_share_are_made_once() {
        let rows = |loops: &[_], count, copied| rows_of(&Loop::all(loops), count, copied);
        // long rows that share one of the copies, and shorter ones
        let long = LONG_ROW.cast_signed();
        assert_eq!(rows(&[(9, [long, 0, long]), (LONG_ROW, [1, 2, -1])], 2, 0b11), [1, 1]);
        assert_eq!(rows(&[(9, [long - 1, 0, long]), (LONG_ROW - 1, [1, 2, -1])], 2, 0b11), [0, 2]);
        assert_eq!(rows(&[(9, [long, 99, long]), (LONG_ROW, [1, 2, -1])], 2, 0b11), [0, 2]);
        // all copies, for all steps of the loop around them
        let around = |strides| [(7, strides), (9, [4, 0, 8]), (4, [1, 2, -1])];
        assert_eq!(rows(&around([36, 0, 0]), 2, 0b11), [1, 2]);
        assert_eq!(rows(&around([36, 0, 1]), 2, 0b11), [0, 2]);
        assert_eq!(rows(&around([36, 0, 1]), 2, 0b01), [1, 2]);
    }

    #[test]
    fn strides_are_copied_away() {
        assert_eq!(way(&[(5000, [1, 2, 1])]), copied(0b01, 0, 500));
        assert_eq!(way(&[(5000, [1, 1, -1])]), copied(0b10, 0, 500));
        assert_eq!(way(&[(90, [90, 0, 1]), (90, [1, 90, 0])]), copied(0b11, 0, 5));
        assert_eq!(way(&[(1000, [5, 6, 0]), (3, [1, 2, 1])]), copied(0b01, 1, 3));
        // rows of which a copy holds one
        assert_eq!(way(&[(9, [400, 1, 800]), (400, [1, 2, 1])]), copied(0b01, 1, 400));
        assert_eq!(way(&[(9, [257, 1, 800]), (257, [1, 2, 1])]), copied(0b01, 1, 257));
        // and of which it holds two
        assert_eq!(way(&[(9, [256, 1, 800]), (256, [1, 2, 1])]), copied(0b11, 0, 2));
        // the largest element type decides
        assert_eq!(way_of(&[(5000, [1, 2, 1])], |k| Some([0, 2, 16][k])), copied(0b01, 0, 125));
    }

    #[test]
    fn lines_are_read_once() {
        let transposed = |copied, across, take| PassStrategy::Transposed { copied, across, take };
        let square = |n: usize| [(n, [n.cast_signed(), 1, n.cast_signed()]), (n, [1, n.cast_signed(), 1])];
        assert_eq!(way(&square(300)), transposed(0b01, 0, 16));
        assert_eq!(way(&square(20)), transposed(0b01, 0, 16));
        assert_eq!(way(&square(7)), copied(0b01, 0, 7));
        assert_eq!([700, 3000].map(|n| way(&square(n))), [transposed(0b01, 0, 16); 2]);
        // the shortest distance of lines
        assert_eq!(way(&[(90, [900, 1, 0]), (300, [1, 16, 1])]), transposed(0b01, 0, 16));
        // the other operand, larger elements, a loop between the two
        assert_eq!(way(&[(90, [90, 0, 1]), (300, [1, 0, 90])]), transposed(0b11, 0, 16));
        assert_eq!(way_of(&square(300), |_| Some(8)), transposed(0b01, 0, 8));
        let between = [(90, [9000, 1, 0]), (50, [300, 0, 1]), (300, [1, 90, 0])];
        assert_eq!(way(&between), transposed(0b11, 0, 16));
        // rows that are added to the same outputs are not cut
        assert_eq!(way(&[(90, [0, 1, 0]), (300, [1, 90, 1])]), copied(0b01, 1, 300));
        // few elements in a line, steps within a line, elements that are not numbers
        assert_eq!(way_of(&square(300), |_| Some(16)), copied(0b01, 1, 100));
        assert_eq!(way(&[(90, [900, 1, 0]), (300, [1, 15, 1])]), copied(0b01, 1, 300));
        assert_eq!(way_of(&square(300), |_| None), DIRECT(None));
    }

    #[test]
    fn copies_across_rows() {
        let across = |loops: &[(usize, [isize; 2])]| rows_to_copy(&Loop::all(loops));
        assert_eq!(across(&[(9, [90, 1]), (90, [1, 9])]), Some(0));
        assert_eq!(across(&[(9, [900, 1]), (10, [90, 1]), (90, [1, -9])]), Some(1));
        assert_eq!(across(&[(9, [900, 1]), (10, [90, 0]), (90, [1, 9])]), Some(0));
        // both sides of a tile, or a long one
        assert_eq!([4, 3].map(|n| across(&[(n, [90, 1]), (15, [1, 9])])), [Some(0), None]);
        assert_eq!([4, 3].map(|n| across(&[(15, [9, 1]), (n, [1, 9])])), [Some(0), None]);
        assert_eq!([16, 15].map(|n| across(&[(2, [90, 1]), (n, [1, 9])])), [Some(0), None]);
        assert_eq!([16, 15].map(|n| across(&[(n, [9, 1]), (2, [1, 9])])), [Some(0), None]);
        // adjacent or repeated along the rows, strided or reversed across them, an output with a stride
        for [to, from, around] in [[1, 1, 1], [1, 0, 1], [1, 9, 2], [1, 9, -1], [2, 9, 1]] {
            assert_eq!(across(&[(9, [180, around]), (90, [to, from])]), None);
        }
        assert_eq!(across(&[(9, [1, 2])]), None);
        // adjacent rows that are the same, and those with a gap or of elements with gaps
        assert_eq!(across(&[(7, [720, 90]), (8, [90, 0]), (90, [1, 1])]), Some(1));
        for [around, from] in [[91, 1], [90, 2], [90, 0]] {
            assert_eq!(across(&[(8, [around, 0]), (90, [1, from])]), None);
        }
    }

    #[test]
    fn short_lanes_are_reduced_side_by_side() {
        let lanes = |copied, moving, first, take| Some(SideBySide { copied, moving, first, take });
        let way_of = |loops: &[_], plain| SideBySide::of(&Loop::all(loops), 2, plain, <(f32, f32)>::has_loop);
        let way = |loops: &[_]| way_of(loops, |_| Some(4));
        // an operand that stays along the outputs, and one with a stride
        assert_eq!(way(&[(500, [16, 13, 0]), (16, [1, 0, 13]), (13, [0, 1, 1])]), lanes(0b10, 0b10, 1, 16));
        // the longest lanes, and the fewest elements
        assert_eq!(way(&[(50, [1, 40, 0]), (SHORT_LANE, [0, 1, 1])]), lanes(0b01, 0b01, 0, 50));
        assert_eq!(way(&[(SMALL / 8, [1, 8, 0]), (8, [0, 1, 1])]), lanes(0b01, 0b01, 0, SMALL / 8));
        // several loops of outputs, as many as a copy holds
        let narrow = |n: usize, len: usize, step: isize| {
            let width = n.cast_signed();
            [(2000, [width, 13 * step, 0]), (n, [1, 0, 13]), (len, [0, step, 1])]
        };
        assert_eq!(way(&narrow(3, 7, 1)), lanes(0b11, 0b11, 0, 96));
        assert_eq!(way(&narrow(4, 13, 1)), lanes(0b11, 0b11, 0, 39));
        assert_eq!(way(&narrow(3, 13, 2)), lanes(0b11, 0b11, 0, 52));
        // lanes are faster
        assert_eq!([way(&narrow(3, 8, 1)), way(&narrow(7, 13, 1))], [None, None]);
        assert_eq!(way_of(&narrow(4, 13, 1), |_| Some(8)), None);
        assert_eq!(way(&[(5000, [1, 13, 0]), (13, [0, 1, 1])]), lanes(0b01, 0b01, 0, 157));
        // nothing to copy
        assert_eq!(way_of(&[(600, [1, 1, 0]), (13, [0, 600, 1])], |_| None), lanes(0, 0b01, 0, 600));
        // no loop for operands that all stay
        assert_eq!(way(&[(600, [1, 0, 0]), (13, [0, 1, 1])]), lanes(0b11, 0b11, 0, 150));
        // another reduced loop
        assert_eq!(way(&[(9, [0, 6500, 0]), (500, [1, 13, 0]), (13, [0, 1, 1])]), None);
        // few elements, long lanes, outputs with gaps, few outputs side by side, elements that are not numbers
        for loops in [
            [(39, [1, 13, 0]), (13, [0, 1, 1])],
            [(5000, [1, 50, 0]), (SHORT_LANE + 1, [0, 1, 1])],
            [(5000, [2, 13, 0]), (13, [0, 1, 1])],
        ] {
            assert_eq!(way(&loops), None);
        }
        assert_eq!(way(&[(2000, [7, 7, 0]), (7, [1, 0, 7]), (7, [0, 1, 1])]), lanes(0b11, 0b11, 0, 41));
        assert_eq!(way(&[(2000, [8, 7, 0]), (7, [1, 0, 7]), (7, [0, 1, 1])]), None);
        assert_eq!(way(&[(2000, [9, 13, 0]), (8, [1, 0, 13]), (13, [0, 1, 1])]), lanes(0b10, 0b10, 1, 8));
        assert_eq!(way_of(&narrow(3, 7, 1), |_| None), None);
    }

    #[test]
    fn operands_that_are_not_copied() {
        // the output has a stride
        assert_eq!(way(&[(5000, [2, 1, 1])]), DIRECT(None));
        // elements that are not plain numbers
        assert_eq!(way_of(&[(5000, [1, 2, 1])], |_| None), DIRECT(None));
        let rows = [(1000, [3, 3, 0]), (3, [1, 1, 0])];
        assert_eq!(way_of(&rows, |k| (k == 1).then_some(4)), DIRECT(Some(0b01)));
        assert_eq!(way_of(&rows, |k| (k == 2).then_some(4)), copied(0b10, 0, 167));
    }

    #[test]
    fn few_elements_are_visited_as_they_lie() {
        // whether the rows are visited as they lie, the last one in memory first: a plan would reverse them
        let unplanned = |columns: usize, step: usize| {
            let mut out = Array2::<u8>::zeros((2, columns));
            let (a, mut seen) = (Array2::<u8>::zeros((1, step * columns)), None);
            over_each(
                &mut out.slice_mut(s![..;-1, ..]),
                &Inputs::from((&*a.slice(s![.., ..;step]),)),
                &mut |nest: &mut Nest<'_, u8, (u8,)>, _| {
                    seen.get_or_insert(nest.loops()[0].strides[0] < 0);
                },
            );
            seen.expect("a visit")
        };
        assert!(unplanned(UNPLANNED / 2, 1) && !unplanned(UNPLANNED / 2 + 1, 1));
        assert!(unplanned(TINY / 2, 2) && !unplanned(TINY / 2 + 1, 2), "an input that would be copied");
    }

    #[test]
    fn short_rows_are_planned_if_they_are_many() {
        let rows = |rows: usize, len: usize, moving| {
            let loops = Loop::all(&[(rows, [len.cast_signed(), 1]), (len, [1, 1])]);
            are_long_or_few(&loops, 1, moving)
        };
        assert!(rows(SMALL, SHORT_ROW, Some(1)) && !rows(SMALL, SHORT_ROW - 1, Some(1)));
        assert!(
            rows(SMALL, SHORT_ROW_AND_SCALAR, Some(0)) && !rows(SMALL, SHORT_ROW_AND_SCALAR - 1, Some(0))
        );
        assert!(rows(SMALL / 2 - 1, 2, Some(1)) && !rows(SMALL / 2, 2, Some(1)));
        // few rows of moderate length
        let few = |count, len| rows(count, len, Some(1));
        assert!(few(FEW_ROWS, 8) && few(FEW_ROWS, SHORT_ROW - 1) && few(10_000, SHORT_ROW));
        assert!(!few(FEW_ROWS + 1, SHORT_ROW - 1) && !few(FEW_ROWS, 7));
        assert!(!rows(1, 1, None) && are_long_or_few(&[], 1, Some(1)));
    }

    /// A number of a type that the kernel does not know as plain.
    #[derive(Clone, Copy)]
    struct Own(u32);

    impl From<Own> for u32 {
        fn from(own: Own) -> Self {
            own.0
        }
    }

    /// Counts the visits and keeps the elements that were read.
    struct Note;

    impl<A: Copy + Into<u32>, B: Copy + Into<u32>> Visit<[u32; 3], (A, B)> for Note {
        fn visit(&mut self, out: &mut [u32; 3], (&a, &b): (&A, &B)) {
            *out = [out[0] + 1, a.into(), b.into()];
        }
    }

    fn visited_once<A: Copy + Into<u32>, B: Copy + Into<u32>>(
        mut out: Array2<[u32; 3]>,
        a: &ArrayView2<'_, A>,
        b: &ArrayView2<'_, B>,
    ) {
        each(&mut out, &Inputs::from((&**a, &**b)), Note);
        let (a, b) = (a.broadcast(out.raw_dim()), b.broadcast(out.raw_dim()));
        let (a, b) = (a.expect("it goes to the shape"), b.expect("it goes to the shape"));
        for (index, &seen) in out.indexed_iter() {
            assert_eq!(seen, [1, a[index].into(), b[index].into()], "at {index:?} of {:?}", out.shape());
        }
    }

    fn views<A>(base: &Array2<A>, m: usize, n: usize) -> [ArrayView2<'_, A>; 5] {
        [
            base.slice(s![..m, ..n]),
            base.slice(s![..m;-1, ..n]),
            base.slice(s![..m, ..3 * n;-3]),
            base.slice(s![..1, ..n]),
            base.slice(s![..m, ..1]),
        ]
    }

    #[test]
    fn each_element_is_visited_once() {
        for [m, n] in [[1, 1], [700, 1], [600, 3], [200, 11], [2, 1300], [40, 40], [33, 150], [9, 140]] {
            let number = |(i, j)| u32::try_from(i * 3 * n + j).expect("small");
            let base = Array2::from_shape_fn((2 * m, 3 * n), number);
            let own = base.mapv(Own);
            let outs = [
                Array2::from_elem((m, n), [0; 3]),
                Array2::from_elem((n, m), [0; 3]).reversed_axes(),
                Array2::from_elem((m, 2 * n), [0; 3]).slice_move(s![.., ..;2]),
            ];
            for (out, a) in outs.iter().flat_map(|out| views(&base, m, n).map(|a| (out, a))) {
                for (b, own) in views(&base, m, n).into_iter().zip(views(&own, m, n)) {
                    visited_once(out.clone(), &a, &b);
                    visited_once(out.clone(), &a, &own);
                }
            }
        }
    }
}
