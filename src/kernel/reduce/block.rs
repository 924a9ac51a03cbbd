//! Reductions by blocks in L1.
//!
//! ```text
//! for each tile of the kept loops outside the block:
//!     for each step of the reduced loops outside the block:
//!         the elements of the block: where they lie, or in a buffer
//!         accumulators += the block
//!     the accumulators, folded, are the results
//! ```
//!
//! A block is as many of the innermost loops as fit into L1, and a part of the next one where that makes it long enough.
//! Accumulators are a stack of levels, each the sum of twice as many blocks as the one above: so the error stays small.

#![forbid(unsafe_code)]

use super::fold::{Results, SHORT_LANE, WIDE, add_rows, fold, for_each_group};
use crate::kernel::map::loop_across;
use crate::kernel::memory::{BUFFER, Buffer, List, Room};
use crate::kernel::nest::{Adjacent, Dropped, LOOPS, Loop, Raw, State};
use crate::kernel::operation::Operation;
use crate::kernel::source::Fill;
use core::mem::needs_drop;

/// How many times as long as a buffer a block is whose elements are adjacent. Measured: 4 to 16 take about as long.
const STORED: usize = 8;
/// How many rows are combined at once.
pub(super) const AT_ONCE: usize = 8;

/// Whether partial results may be forgotten, and a block holds several.
pub(super) const fn is_forgettable<A>() -> bool {
    !needs_drop::<A>() && size_of::<A>() > 0 && size_of::<A>() <= BUFFER / 256 && align_of::<A>() <= 64
}

/// The results of parts, in the order of their kept loops.
type PutResults<'p, 'b, A> = dyn FnMut(Raw<'_, 'b>, &[A]) + 'p;

/// Reduces the arranged loops of a nest.
pub(super) fn reduce<'b, A: Clone, O: Operation<A>>(
    nest: Raw<'_, 'b>,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
) {
    if !const { is_forgettable::<A>() } {
        return one_by_one(nest, op, fill, put);
    }
    let plan = Plan::of(&nest, size_of::<A>(), fill.is_stored());
    if plan.is_whole {
        if let Some(elements) = fill.in_place(&nest) {
            let mut results = Results::new();
            fold(op, &Sides::of(nest.loops()), &elements, &mut results);
            return put(nest, &results);
        }
    }
    in_parts(nest, &plan, op, fill, put);
}

/// Reduces a nest part by part.
#[inline(never)]
fn in_parts<'b, A: Clone, O: Operation<A>>(
    nest: Raw<'_, 'b>,
    plan: &Plan,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
) {
    let mut block = Buffer::new();
    if plan.is_whole {
        return part(nest, plan, op, fill, put, &mut block);
    }
    let (mut tile, count) = ([0; LOOPS], nest.loops().len());
    for (i, l) in nest.loops().iter().enumerate() {
        tile[i] = if l.is_kept() { plan.steps[i] } else { l.len() };
    }
    nest.for_each_tile(&tile[..count], &mut |nest: Raw<'_, 'b>| {
        part(nest, plan, op, fill, put, &mut block);
    });
}

/// The blocks of a nest.
struct Plan {
    /// How many steps of each loop are in a block.
    steps: List<usize, LOOPS>,
    /// The same for the reduced loops alone.
    reduced: List<usize, LOOPS>,
    is_whole: bool,
    /// Whether all steps of the reduced loops are in a block.
    holds_reduced: bool,
    /// Whether lanes are folded once, after the blocks are added.
    has_short_lanes: bool,
}

impl Plan {
    fn of(nest: &Raw<'_, '_>, size: usize, is_stored: bool) -> Self {
        let (loops, across) = (nest.loops(), loop_across(nest));
        let is_short = |l: &Loop| !l.is_kept() && l.len() < SHORT_LANE;
        let has_short_lanes = across.is_none() && loops.last().is_some_and(is_short);
        let is_dense = is_stored && !has_short_lanes && is_dense_tail(loops, size);
        let most = if is_dense { STORED } else { 1 } * BUFFER / size;
        // the results and the sums of rows fit into their room
        let room = BUFFER / 2 / size;
        let (mut in_block, mut len, mut kept) = ([1; LOOPS], 1, 1);
        let mut add = |place: usize, limit: usize| {
            let l = &loops[place];
            let fit = match l.is_kept() {
                true => (most / len).min(room / kept),
                false if len <= room => most / len,
                false => 0,
            };
            in_block[place] = l.part(fit.min(limit));
            len *= in_block[place];
            kept *= if l.is_kept() { in_block[place] } else { 1 };
            in_block[place] == l.len()
        };
        if let Some((place, limit)) = across {
            add(place, limit);
        }
        for place in (0..loops.len()).rev() {
            if across.is_none_or(|across| across.0 != place) && !add(place, usize::MAX) {
                break;
            }
        }
        let mut plan = Self {
            steps: List::new(),
            reduced: List::new(),
            is_whole: true,
            holds_reduced: true,
            has_short_lanes,
        };
        for (l, &steps) in loops.iter().zip(&in_block) {
            plan.steps.push(steps);
            plan.is_whole &= steps == l.len();
            if !l.is_kept() {
                plan.reduced.push(steps);
                plan.holds_reduced &= steps == l.len();
            }
        }
        plan
    }
}

/// Reduces a part whose results fit into L1.
fn part<'b, A: Clone, O: Operation<A>>(
    nest: Raw<'_, 'b>,
    plan: &Plan,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
    block: &mut Buffer<A>,
) {
    let mut room = State::new();
    let mut results = Results::new();
    if plan.holds_reduced {
        let sides = Sides::of(nest.loops());
        if let Some(elements) = fill.in_place(&nest) {
            return put(nest, of_block(op, &sides, &elements, &mut results));
        }
        let elements = fill.buffered(nest.inputs(&mut room), block);
        return put(nest, of_block(op, &sides, elements, &mut results));
    }
    let inputs = nest.inputs(&mut room);
    let (mut tile, mut reduced) = ([0; LOOPS], plan.reduced.iter());
    for (tile, l) in tile.iter_mut().zip(inputs.loops()) {
        *tile = if l.is_kept() { l.len() } else { *reduced.next().unwrap_or(&1) };
    }
    let (mut sums, mut rows, mut count) = (Levels::new(op), [const { Adjacent::NONE }; AT_ONCE], 0);
    let (loops, mut first_sides) = (inputs.loops().len(), None);
    inputs.for_each_tile(&tile[..loops], &mut |part: Raw<'_, 'b>| {
        let sides = Sides::of(part.loops());
        let is_row = plan.has_short_lanes || sides.iter().all(|side| side.1);
        match fill.in_place(&part) {
            // several at once
            Some(row) if is_row => {
                rows[count] = row;
                count += 1;
                if count == AT_ONCE {
                    sums.add(&rows.each_ref().map(|row| &**row));
                    count = 0;
                }
            }
            Some(elements) => add_block(&mut sums, &sides, &elements, &mut results),
            None if is_row => sums.add(&[fill.buffered(part, block)]),
            None => add_block(&mut sums, &sides, fill.buffered(part, block), &mut results),
        }
        // the first block is the largest one
        first_sides.get_or_insert(sides);
    });
    if count > 0 {
        sums.add(&rows.each_ref().map(|row| &**row)[..count]);
    }
    let sums = sums.finish();
    match first_sides {
        Some(sides) if plan.has_short_lanes => put(nest, of_block(op, &sides, sums, &mut results)),
        _ => put(nest, sums),
    }
}

/// Adds the rows of a block, or its results.
#[inline(never)]
fn add_block<A: Clone, O: Operation<A>>(
    sums: &mut Levels<A, O>,
    sides: &Sides,
    elements: &[A],
    results: &mut Results<A>,
) {
    match **sides {
        [(_, false), (width, true)] if width * AT_ONCE >= WIDE => {
            for_each_group(elements, width, |rows| sums.add(rows));
        }
        _ => sums.add(&[of_block(sums.op, sides, elements, results)]),
    }
}

/// The results of a block, or its elements if nothing in it is reduced.
#[inline(never)]
fn of_block<'r, A: Clone, O: Operation<A>>(
    op: O,
    sides: &Sides,
    elements: &'r [A],
    results: &'r mut Results<A>,
) -> &'r [A] {
    if sides.iter().all(|side| side.1) {
        return elements;
    }
    results.truncate(0);
    fold(op, sides, elements, results);
    results
}

/// Whether the input's elements are adjacent along the loops that fit into a block.
fn is_dense_tail(loops: &[Loop], size: usize) -> bool {
    let mut width = size;
    for l in loops.iter().rev() {
        if l.stride(1) != width.cast_signed() {
            return false;
        }
        width *= l.len();
        if width > BUFFER * STORED {
            break;
        }
    }
    true
}

/// The sides of a block, outermost first: a length, and whether results are kept along it. Neighbours of one kind are one.
pub(super) struct Sides(List<(usize, bool), LOOPS>);

impl Sides {
    /// The sides of a source in standard layout that is reduced to the shape `out`.
    pub(super) fn of_axes(shape: &[usize], out: &[usize], dropped: Dropped<'_>) -> Self {
        let mut sides = Self(List::new());
        let mut out_axis = 0;
        let leading = shape.len().saturating_sub(out.len());
        for (axis, &len) in shape.iter().enumerate() {
            let is_dropped = dropped.map_or(axis < leading, |axes| axes.contains(axis));
            let is_kept = !is_dropped && out.get(out_axis) == Some(&len);
            out_axis += usize::from(!is_dropped);
            if len > 1 {
                sides.push(len, is_kept);
            }
        }
        sides
    }

    fn of(loops: &[Loop]) -> Self {
        let mut sides = Self(List::new());
        for l in loops {
            sides.push(l.len(), l.is_kept());
        }
        sides
    }

    #[inline]
    fn push(&mut self, len: usize, is_kept: bool) {
        match self.0.last_mut() {
            Some((last, kind)) if *kind == is_kept => *last *= len,
            _ => self.0.push((len, is_kept)),
        }
    }
}

impl core::ops::Deref for Sides {
    type Target = [(usize, bool)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Sums of rows: [`AT_ONCE`] groups of rows are added one after the other, and those pairwise.
struct Levels<A, O> {
    op: O,
    /// The sums, one after the other.
    sums: Room<A, BUFFER>,
    /// Where each of the sums begins.
    starts: List<usize, { usize::BITS as usize }>,
    /// The length of a sum.
    width: usize,
    /// The groups in the last sum.
    groups: usize,
    /// How many sums were complete.
    complete: usize,
}

impl<A: Clone, O: Operation<A>> Levels<A, O> {
    fn new(op: O) -> Self {
        Self { op, sums: Room::new(), starts: List::new(), width: 0, groups: 0, complete: 0 }
    }

    /// Adds up to [`AT_ONCE`] rows, none of them longer than the very first one.
    fn add(&mut self, rows: &[&[A]]) {
        let mut rows = rows;
        self.width = self.width.max(rows[0].len());
        if rows[0].len() < self.width {
            // no sum begins with it
            let start = self.starts[self.starts.len() - 1];
            return add_rows(self.op, &mut self.sums[start..], rows);
        }
        if self.groups == 0 {
            self.starts.push(self.sums.len());
            self.sums.extend(rows[0]);
            rows = &rows[1..];
        }
        let start = self.starts[self.starts.len() - 1];
        add_rows(self.op, &mut self.sums[start..], rows);
        self.groups += 1;
        if self.groups == AT_ONCE {
            self.groups = 0;
            self.complete += 1;
            for _ in 0..self.complete.trailing_zeros() {
                self.join();
            }
        }
    }

    /// Adds the last sum to the one before.
    fn join(&mut self) {
        let [.., before, last] = *self.starts else { return };
        let (below, above) = self.sums.split_at_mut(last);
        add_rows(self.op, &mut below[before..], &[above]);
        self.sums.truncate(last);
        self.starts.truncate(self.starts.len() - 1);
    }

    /// The sum of all rows.
    fn finish(&mut self) -> &[A] {
        while self.starts.len() > 1 {
            self.join();
        }
        &self.sums
    }
}

/// Reduces elements that own memory, or are large.
fn one_by_one<'b, A: Clone, O: Operation<A>>(
    nest: Raw<'_, 'b>,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
) {
    let (mut tile, count) = ([1; LOOPS], nest.loops().len());
    for (tile, l) in tile.iter_mut().zip(nest.loops()) {
        *tile = if l.is_kept() { 1 } else { l.len() };
    }
    nest.for_each_tile(&tile[..count], &mut |nest: Raw<'_, 'b>| {
        let mut result = None;
        fill.for_each(nest.inputs(&mut State::new()), &mut |element| {
            result = Some(match result.take() {
                None => element,
                Some(result) => op.apply(result, element),
            });
        });
        put(nest, result.as_slice());
    });
}
