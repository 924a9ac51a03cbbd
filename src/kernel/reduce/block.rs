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

use super::fold::{Fold, Results, SHORT_LANE, WIDE, fold, for_each_group};
use crate::kernel::map::loop_across;
use crate::kernel::memory::{BUFFER, Buffer, List, Room};
use crate::kernel::nest::{Dropped, LOOPS, Loop, Nest, Reduction, State, Written, steps};

/// How many times as long as a buffer a block is whose elements are adjacent. Measured: 4 to 16 take about as long.
const STORED: usize = 8;
/// How many rows are combined at once.
pub(super) const AT_ONCE: usize = 8;

/// Reduces the arranged loops of a nest.
pub(super) fn reduce<'s, A: Clone>(op: &dyn Fold<A>, nest: Nest<'_, Reduction<'_, 's, A>>) -> Written<'s> {
    let plan = Plan::of(&nest, size_of::<A>(), nest.is_stored());
    match nest.elements() {
        Some(elements) if plan.is_whole => whole(op, nest, elements),
        _ => in_parts(op, nest, &plan),
    }
}

/// Reduces a nest whose elements are one block.
#[inline(never)]
fn whole<'s, A: Clone>(
    op: &dyn Fold<A>,
    nest: Nest<'_, Reduction<'_, 's, A>>,
    elements: &[A],
) -> Written<'s> {
    let (sides, mut memory) = (Sides::of(nest.loops()), Results::new());
    nest.put(of_block(op, &sides, elements, &mut memory))
}

/// Memory for a part of a nest: elements of a block, sums of blocks, and the results of one.
struct Scratch {
    block: Buffer,
    sums: Buffer,
    results: Results,
}

/// Reduces a nest part by part.
#[inline(never)]
fn in_parts<'s, A: Clone>(
    op: &dyn Fold<A>,
    nest: Nest<'_, Reduction<'_, 's, A>>,
    plan: &Plan,
) -> Written<'s> {
    let mut scratch = Scratch { block: Buffer::new(), sums: Buffer::new(), results: Results::new() };
    if plan.is_whole {
        return part(op, nest, plan, &mut scratch);
    }
    let (mut tile, count) = ([0; LOOPS], nest.loops().len());
    for (i, l) in nest.loops().iter().enumerate() {
        tile[i] = if l.is_kept() { plan.steps[i] } else { l.len() };
    }
    let mut written = Written::none();
    nest.for_each_tile(&tile[..count], &mut |nest| written.add(part(op, nest, plan, &mut scratch)));
    written
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
    fn of(nest: &State, size: usize, is_stored: bool) -> Self {
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
fn part<'s, A: Clone>(
    op: &dyn Fold<A>,
    nest: Nest<'_, Reduction<'_, 's, A>>,
    plan: &Plan,
    scratch: &mut Scratch,
) -> Written<'s> {
    let (mut room, Scratch { block, sums, results }) = (State::new(), scratch);
    if plan.holds_reduced {
        let (sides, inputs) = (Sides::of(nest.loops()), nest.inputs(&mut room));
        return match inputs.elements() {
            Some(elements) => nest.put(of_block(op, &sides, elements, results)),
            None => nest.put(of_block(op, &sides, &buffered(inputs, block), results)),
        };
    }
    let inputs = nest.inputs(&mut room);
    let (mut tile, mut reduced) = ([0; LOOPS], plan.reduced.iter());
    let (mut blocks, mut rows, mut width) = (1_usize, 1, 1);
    for (tile, l) in tile.iter_mut().zip(inputs.loops()) {
        *tile = if l.is_kept() { l.len() } else { *reduced.next().unwrap_or(&1) };
        *if l.is_kept() || plan.has_short_lanes { &mut width } else { &mut rows } *= *tile;
        blocks = blocks.saturating_mul(l.len().div_ceil((*tile).max(1)));
    }
    let loops = inputs.loops().len();
    let mut sums = Levels::new(op, sums, width, blocks.saturating_mul(rows.div_ceil(AT_ONCE)));
    let (mut rows, mut count, mut first_sides) = ([&[][..]; AT_ONCE], 0, None);
    inputs.for_each_tile(&tile[..loops], &mut |part| {
        let sides = Sides::of(part.loops());
        let is_row = plan.has_short_lanes || sides.iter().all(|side| side.1);
        match part.elements() {
            // several at once
            Some(row) if is_row => {
                rows[count] = row;
                count += 1;
                if count == AT_ONCE {
                    sums.add(&rows);
                    count = 0;
                }
            }
            Some(elements) => add_block(&mut sums, &sides, elements, results),
            None if is_row => sums.add(&[&buffered(part, block)]),
            None => add_block(&mut sums, &sides, &buffered(part, block), results),
        }
        // the first block is the largest one
        first_sides.get_or_insert(sides);
    });
    if count > 0 {
        sums.add(&rows[..count]);
    }
    let sums = sums.finish();
    match first_sides {
        Some(sides) if plan.has_short_lanes => nest.put(of_block(op, &sides, sums, results)),
        _ => nest.put(sums),
    }
}

/// The elements of a block in a buffer.
fn buffered<'x, A: Clone>(block: Nest<'_, Reduction<'_, '_, A>>, buffer: &'x mut Buffer) -> Room<'x, A> {
    let len = steps(block.loops());
    let mut room = buffer.room(len);
    room.filled(len, |slots| block.fill(slots));
    room
}

/// Adds the rows of a block, or its results.
#[inline(never)]
fn add_block<A: Clone>(sums: &mut Levels<'_, A>, sides: &Sides, elements: &[A], results: &mut Results) {
    match **sides {
        [(_, false), (width, true)] if width * AT_ONCE >= WIDE => {
            for_each_group(elements, width, |rows| sums.add(rows));
        }
        _ => sums.add(&[of_block(sums.op, sides, elements, results)]),
    }
}

/// The results of a block, or its elements if nothing in it is reduced.
#[inline(never)]
fn of_block<'r, A: Clone>(
    op: &dyn Fold<A>,
    sides: &Sides,
    elements: &'r [A],
    memory: &'r mut Results,
) -> &'r [A] {
    if sides.iter().all(|side| side.1) {
        return elements;
    }
    let mut results = memory.room(sides.kept());
    fold(op, sides, elements, &mut results);
    results.into_elements()
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
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self(List::new())
    }

    /// Adds the sides of a source in standard layout that is reduced to the shape `out`.
    #[inline]
    pub(super) fn push_axes(&mut self, shape: &[usize], out: &[usize], dropped: Dropped<'_>) {
        let mut out_axis = 0;
        let leading = shape.len().saturating_sub(out.len());
        for (axis, &len) in shape.iter().enumerate() {
            let is_dropped = dropped.map_or(axis < leading, |axes| axes.contains(axis));
            let is_kept = !is_dropped && out.get(out_axis) == Some(&len);
            out_axis += usize::from(!is_dropped);
            if len > 1 {
                self.push(len, is_kept);
            }
        }
    }

    fn of(loops: &[Loop]) -> Self {
        let mut sides = Self(List::new());
        for l in loops {
            sides.push(l.len(), l.is_kept());
        }
        sides
    }

    /// The number of results.
    pub(super) fn kept(&self) -> usize {
        self.iter().filter(|side| side.1).map(|side| side.0).product()
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
struct Levels<'t, A> {
    op: &'t dyn Fold<A>,
    /// The sums, one after the other.
    sums: Room<'t, A>,
    /// The length of a sum.
    width: usize,
    /// The groups in the last sum.
    groups: usize,
    /// How many sums were complete.
    complete: usize,
}

impl<'t, A: Clone> Levels<'t, A> {
    /// For up to `groups` of rows of up to `width` elements.
    fn new(op: &'t dyn Fold<A>, memory: &'t mut Buffer, width: usize, groups: usize) -> Self {
        // a sum for each bit of the number of complete ones, and one that is not
        let most = ((groups - 1) / AT_ONCE + 1).ilog2() as usize + 1;
        Self { op, sums: memory.room(most * width), width: 0, groups: 0, complete: 0 }
    }

    /// Adds up to [`AT_ONCE`] rows, none of them longer than the very first one.
    fn add(&mut self, rows: &[&[A]]) {
        let mut rows = rows;
        self.width = self.width.max(rows[0].len());
        // otherwise no sum begins with it
        let is_whole = rows[0].len() == self.width;
        if is_whole && self.groups == 0 {
            self.sums.extend(rows[0]);
            rows = &rows[1..];
        }
        let start = self.sums.len() - self.width;
        self.op.add_rows(&mut self.sums[start..], rows);
        self.groups += usize::from(is_whole);
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
        let last = self.sums.len() - self.width;
        let (below, above) = self.sums.split_at_mut(last);
        self.op.add_rows(&mut below[last - self.width..], &[above]);
        self.sums.truncate(last);
    }

    /// The sum of all rows.
    fn finish(&mut self) -> &[A] {
        while self.sums.len() > self.width {
            self.join();
        }
        &self.sums
    }
}
