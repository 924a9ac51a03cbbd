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

use super::fold::{add_rows, fold};
use crate::kernel::memory::{BUFFER, Buffer, List, Room};
use crate::kernel::nest::{Adjacent, LOOPS, Loop, Raw, Reads, State, Writes};
use crate::kernel::operation::Operation;
use crate::kernel::source::Fill;
use core::mem::needs_drop;

/// A stored block of fewer elements takes a part of a reduced loop in. Measured with f32 and f64: 128 to 512 take about as
/// long.
const FEW: usize = 256;
/// Accumulators of fewer elements are several rows of the block. Measured as for `FEW`.
const NARROW: usize = 64;
/// How many rows are combined at once.
pub(super) const AT_ONCE: usize = 8;
/// How many groups of rows are added one after the other; more are added pairwise.
const GROUPS: usize = 16;

/// Whether partial results may be forgotten, and a block holds several.
pub(super) const fn is_forgettable<A>() -> bool {
    !needs_drop::<A>() && size_of::<A>() > 0 && size_of::<A>() <= BUFFER / 256 && align_of::<A>() <= 64
}

/// The results of parts, in the order of their kept loops.
type PutResults<'p, 'b, A> = dyn FnMut(Raw<'_, 'b, Writes>, &[A]) + 'p;

/// Reduces the arranged loops of a nest.
pub(super) fn reduce<'b, A: Clone, O: Operation<A>>(
    nest: Raw<'_, 'b, Writes>,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
) {
    if !const { is_forgettable::<A>() } {
        return one_by_one(nest, op, fill, put);
    }
    let plan = Plan::of(nest.loops(), size_of::<A>(), fill.is_stored());
    if plan.is_whole() {
        if let Some(elements) = fill.in_place(&nest.inputs(&mut State::new())) {
            let mut results = Room::new();
            fold(op, &Sides::of(nest.loops()), &elements, &mut results);
            return put(nest, &results);
        }
    }
    in_parts(nest, &plan, op, fill, put);
}

/// Reduces a nest part by part.
#[inline(never)]
fn in_parts<'b, A: Clone, O: Operation<A>>(
    nest: Raw<'_, 'b, Writes>,
    plan: &Plan,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
) {
    let mut block = Buffer::new();
    if plan.is_whole() {
        return part(nest, plan, op, fill, put, &mut block);
    }
    let (mut tile, count) = ([0; LOOPS], nest.loops().len());
    for (i, l) in nest.loops().iter().enumerate() {
        tile[i] = if l.is_kept() { plan.steps(i, l) } else { l.len() };
    }
    nest.for_each_tile(&tile[..count], &mut |nest: Raw<'_, 'b, Writes>| part(nest, plan, op, fill, put, &mut block));
}

/// Which loops are in a block.
struct Plan {
    /// The first loop of the block.
    first: usize,
    /// How many steps of it are, and the others are outside; or all.
    cut: usize,
    /// The number of reduced loops outside the block, with the one that is cut.
    reduced: usize,
    cut_is_reduced: bool,
}

impl Plan {
    fn of(loops: &[Loop], size: usize, is_stored: bool) -> Self {
        let most = BUFFER / size;
        let (mut first, mut len) = (loops.len(), 1);
        while first > 0 && len * loops[first - 1].len() <= most {
            first -= 1;
            len *= loops[first].len();
        }
        let mut plan = Self { first, cut: usize::MAX, reduced: 0, cut_is_reduced: false };
        if first > 0 && most / len >= 2 {
            let next = &loops[first - 1];
            if next.is_kept() || len < FEW || !is_stored {
                // parts of equal length, but for the last one
                let parts = next.len().div_ceil(most / len);
                (plan.first, plan.cut) = (first - 1, next.len().div_ceil(parts));
                plan.cut_is_reduced = !next.is_kept();
            }
        }
        for (i, l) in loops.iter().enumerate() {
            plan.reduced += usize::from(!l.is_kept() && plan.steps(i, l) < l.len());
        }
        plan
    }

    /// Whether the whole nest is one block.
    fn is_whole(&self) -> bool {
        self.first == 0 && self.cut == usize::MAX
    }

    /// How many steps of loop `i` are in a block.
    fn steps(&self, i: usize, l: &Loop) -> usize {
        match i {
            _ if i < self.first => 1,
            _ if i == self.first => self.cut.min(l.len()),
            _ => l.len(),
        }
    }
}

/// Reduces a part whose results fit into L1.
fn part<'b, A: Clone, O: Operation<A>>(
    nest: Raw<'_, 'b, Writes>,
    plan: &Plan,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
    block: &mut Buffer<A>,
) {
    let mut room = State::new();
    let inputs = nest.inputs(&mut room);
    let mut results = Room::new();
    if plan.reduced == 0 {
        let sides = Sides::of(inputs.loops());
        match fill.in_place(&inputs) {
            Some(elements) => fold(op, &sides, &elements, &mut results),
            None => fold(op, &sides, fill.buffered(inputs, block), &mut results),
        }
        return put(nest, &results);
    }
    let (mut tile, mut reduced) = ([0; LOOPS], 0);
    for (tile, l) in tile.iter_mut().zip(inputs.loops()) {
        *tile = l.len();
        if !l.is_kept() && reduced < plan.reduced {
            reduced += 1;
            *tile = if reduced == plan.reduced && plan.cut_is_reduced { plan.cut } else { 1 };
        }
    }
    let (mut sides, mut width, mut sums) = (None, 0, Levels::new(op));
    let (mut stored, mut count) = ([Adjacent::NONE; AT_ONCE], 0);
    let loops = inputs.loops().len();
    inputs.for_each_tile(&tile[..loops], &mut |rows: Raw<'_, 'b, Reads>| {
        // the first block is the largest one
        let sides = sides.get_or_insert_with(|| {
            let sides = Sides::of(rows.loops());
            width = sides.accumulators();
            sides
        });
        match fill.in_place(&rows) {
            Some(elements) if width == sides.len() => {
                stored[count] = elements;
                count += 1;
                if count == AT_ONCE {
                    sums.add(&stored.each_ref().map(|rows| &**rows));
                    count = 0;
                }
            }
            Some(elements) => sums.add_block(&elements, width),
            None => sums.add_block(fill.buffered(rows, block), width),
        }
    });
    if count > 0 {
        sums.add(&stored.each_ref().map(|rows| &**rows)[..count]);
    }
    let sides = sides.unwrap_or_else(|| Sides::of(&[]));
    let inner = if width == sides.len() { &sides[..] } else { &sides[1..] };
    fold(op, inner, sums.finish(), &mut results);
    put(nest, &results);
}

/// The sides of a block, outermost first: a length, and whether results are kept along it. Neighbours of one kind are one.
struct Sides(List<(usize, bool), LOOPS>);

impl Sides {
    fn of(loops: &[Loop]) -> Self {
        let mut sides = List::<(usize, bool), LOOPS>::new();
        for l in loops {
            match sides.last_mut() {
                Some((len, is_kept)) if *is_kept == l.is_kept() => *len *= l.len(),
                _ => sides.push((l.len(), l.is_kept())),
            }
        }
        Self(sides)
    }

    /// The number of elements of the block.
    fn len(&self) -> usize {
        self.iter().map(|side| side.0).product()
    }

    /// The number of accumulators: those of a row, if the block has rows that are not narrow.
    fn accumulators(&self) -> usize {
        match **self {
            [(rows, false), _, ..] if self.len() / rows >= NARROW => self.len() / rows,
            _ => self.len(),
        }
    }
}

impl core::ops::Deref for Sides {
    type Target = [(usize, bool)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Sums of rows: [`GROUPS`] groups are added one after the other, and those pairwise.
struct Levels<A, O> {
    op: O,
    /// The sums, one after the other; none is longer than the one before.
    sums: Room<A>,
    /// Where each of the sums begins.
    starts: List<usize, { usize::BITS as usize }>,
    /// The groups in the last sum.
    groups: usize,
    /// How many sums were complete.
    complete: usize,
}

impl<A: Clone, O: Operation<A>> Levels<A, O> {
    fn new(op: O) -> Self {
        Self { op, sums: Room::new(), starts: List::new(), groups: 0, complete: 0 }
    }

    /// Adds the rows of a block.
    fn add_block(&mut self, elements: &[A], width: usize) {
        for rows in elements.chunks(AT_ONCE * width) {
            let (mut group, mut count) = ([&[][..]; AT_ONCE], 0);
            for row in rows.chunks(width) {
                group[count] = row;
                count += 1;
            }
            self.add(&group[..count]);
        }
    }

    /// Adds up to [`AT_ONCE`] rows, of which none is longer than the one before.
    fn add(&mut self, rows: &[&[A]]) {
        let mut rows = rows;
        if self.groups == 0 {
            self.starts.push(self.sums.len());
            self.sums.extend(rows[0]);
            rows = &rows[1..];
        }
        let start = self.starts[self.starts.len() - 1];
        add_rows(self.op, &mut self.sums[start..], rows);
        self.groups += 1;
        if self.groups == GROUPS {
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
    nest: Raw<'_, 'b, Writes>,
    op: O,
    fill: &mut dyn Fill<'b, A>,
    put: &mut PutResults<'_, 'b, A>,
) {
    let (mut tile, count) = ([1; LOOPS], nest.loops().len());
    for (tile, l) in tile.iter_mut().zip(nest.loops()) {
        *tile = if l.is_kept() { 1 } else { l.len() };
    }
    nest.for_each_tile(&tile[..count], &mut |nest: Raw<'_, 'b, Writes>| {
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
