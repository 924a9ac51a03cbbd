//! Sums in registers, of elements that are not stored: along the two innermost loops at once.
//!
//! A panel is [`WIDE`] or [`NARROW`] neighbours along the innermost loop. Each neighbour has an accumulator in a register.
//! [`ErasedNest::sum_loop`] chooses the loop along which panels are added:
//! - the innermost loop. Then the accumulators are parts of a lane's sum ([`PanelLoops::lanes`]);
//! - or another reduced loop, whose steps are rows. Then the accumulators are elements of the sum of rows
//!   ([`PanelLoops::rows`]). The innermost such loop with at least 2 * [`NARROW`] steps serves, because its rows are near each
//!   other in memory; otherwise the longest one.
//!
//! ```text
//! for each lane:                              for each group of rows:
//!     for each part of the lane:                  at each index of the loops outside:
//!         for each panel of the part:                 for each panel of the row:
//!             accumulators += panel                       for each row of the group:
//!         output = accumulators                               accumulators += panel
//!                                                         output = accumulators, or += after the first group
//! ```
//!
//! Groups of rows are the outermost loop.
//!
//! Where fewer than [`WIDE`] neighbours are left, narrow panels follow. The last one overlaps with the one before, so that it is
//! full too. Its first [`Panels::overlap`] neighbours are not added to the output again.

#![forbid(unsafe_code)]

use super::cut::{Block, advance_tile, is_dense};
use super::{ErasedNest, InputSet, Loop, OPERANDS, Pointers, Steps};
use crate::kernel::ensure;
use crate::kernel::memory::BLOCK_BYTES;

/// The neighbours of a panel. Measured with `by_hand` on a Xeon: 16 take up to 1.3 times as long (2026-11-26), 8 up to 1.5 times
/// (2026-11-27), and 64 are no longer kept in registers.
pub(crate) const WIDE: usize = 32;
/// The neighbours of a panel where no wide one fits.
pub(crate) const NARROW: usize = 8;
/// The most panels of a lane that are added before the accumulators are folded, and the most groups of rows that are added. Both
/// keep the error small.
pub(crate) const ROUNDS: usize = 32;
/// The fewest elements of a lane with wide panels: folding their accumulators takes a while.
const LONG_LANE: usize = 128;
/// The fewest bytes of a lane that is summed in panels. Shorter ones are stored, and folded side by side.
const MIN_LANE_BYTES: usize = 64;
/// The rows of a group, which are added in registers.
const GROUP_ROWS: usize = 16;
/// The most rows that are added to one sum.
pub(crate) const MAX_ROWS: usize = ROUNDS * GROUP_ROWS;

/// A loop that may be kept or reduced: its number of steps, and the bytes that each operand moves at a step.
#[derive(Clone, Copy)]
pub(super) struct LoopStrides {
    pub(super) len: usize,
    pub(super) strides: [isize; OPERANDS],
}

impl Loop {
    pub(super) fn len_and_strides(&self) -> LoopStrides {
        LoopStrides { len: self.len, strides: self.strides }
    }
}

/// The strides of several steps as one.
fn scaled(strides: &[isize; OPERANDS], steps: usize) -> [isize; OPERANDS] {
    // past the last step, an offset may exceed `isize`: it is not followed
    strides.map(|stride| stride.wrapping_mul(steps.cast_signed()))
}

/// The pointers at a later output and at later inputs.
fn moved(at: &Pointers, strides: &[isize; OPERANDS], [output, input]: [usize; 2]) -> Pointers {
    let mut moved = *at;
    for (k, at) in moved.iter_mut().enumerate() {
        let steps = if k == 0 { output } else { input };
        *at = at.wrapping_offset(strides[k].wrapping_mul(steps.cast_signed()));
    }
    moved
}

/// How many lanes or groups of rows are visited together, one panel width after the other: those that stay in L1.
fn at_once(len: usize, is_alone: bool, left: usize) -> usize {
    if is_alone { 1 } else { (BLOCK_BYTES / 4 / len).clamp(1, left) }
}

/// A function that is called with panels, and with their first pointers.
pub(super) type Visit<'v> = dyn FnMut(&Pointers, &Panels<'_>) + 'v;

/// The loops of panels, and the inputs that move along one.
pub(super) struct PanelLoops {
    /// The loop over lanes or groups of rows.
    outside: LoopStrides,
    /// The innermost loop.
    neighbours: LoopStrides,
    moving: InputSet,
}

/// Panels, each of some neighbours at several steps.
pub(crate) struct Panels<'p> {
    pub(super) count: usize,
    /// The strides from one panel to the next.
    pub(super) panel_strides: &'p [isize; OPERANDS],
    /// The number of neighbours: [`WIDE`] or [`NARROW`], or any if they are visited one by one.
    pub(super) width: usize,
    /// The strides from one neighbour to the next.
    pub(super) neighbours: &'p [isize; OPERANDS],
    /// The inputs that move from one neighbour to the next.
    pub(super) moving: InputSet,
    /// The number of steps that are combined.
    pub(super) steps: usize,
    /// The strides from one step to the next.
    pub(super) step_strides: &'p [isize; OPERANDS],
    /// Whether the results are added to the output.
    pub(super) is_added: bool,
    /// The number of first neighbours that the panel before has too. They are not added to the output again.
    pub(super) overlap: usize,
}

impl PanelLoops {
    /// Panels of one step that write their results.
    fn panels(&self) -> Panels<'_> {
        Panels {
            count: 1,
            panel_strides: &self.outside.strides,
            width: NARROW,
            neighbours: &self.neighbours.strides,
            moving: self.moving,
            steps: 1,
            step_strides: &ONE_STEP.strides,
            is_added: false,
            overlap: 0,
        }
    }

    /// The rows of a block, as sums of one row each.
    pub(super) fn of_rows(block: &Block, moving: InputSet) -> Self {
        Self { outside: block.rows, neighbours: block.row, moving }
    }

    /// Visits the panels of the sums of `rows` at each step of the loop outside. Sums are added to the output, at the first step
    /// and at the others, if `is_added` says so.
    pub(super) fn rows(
        &self,
        first: &Pointers,
        rows: &LoopStrides,
        is_added: [bool; 2],
        then: &mut Visit<'_>,
    ) {
        let (len, strides) = (self.neighbours.len, &self.neighbours.strides);
        let along_row = [WIDE, NARROW].map(|width| (width, scaled(strides, width)));
        let (mut at, mut done) = (*first, 0);
        while done < self.outside.len {
            let is_added_now = is_added[usize::from(done > 0)];
            let is_alone = len >= LONG_LANE || is_added_now != is_added[1];
            let count = at_once(len, is_alone, self.outside.len - done);
            let panels = |width: usize| Panels {
                count,
                width,
                steps: rows.len,
                step_strides: &rows.strides,
                is_added: is_added_now,
                ..self.panels()
            };
            let mut place = 0;
            for (width, panel_strides) in &along_row {
                let panels_left = (len - place) / width;
                if count == 1 && panels_left > 0 {
                    let panels = Panels { count: panels_left, panel_strides, ..panels(*width) };
                    then(&moved(&at, strides, [place; 2]), &panels);
                    place += panels_left * width;
                }
                while place + width <= len {
                    then(&moved(&at, strides, [place; 2]), &panels(*width));
                    place += width;
                }
            }
            if place < len {
                let overlap = NARROW - (len - place);
                then(&moved(&at, strides, [len - NARROW; 2]), &Panels { overlap, ..panels(NARROW) });
            }
            at = moved(&at, &self.outside.strides, [count; 2]);
            done += count;
        }
    }

    /// Visits the panels of each lane: [`ROUNDS`] of them are a sum, then the others, to which what is left of the lane is added.
    fn lanes(&self, first: &Pointers, then: &mut Visit<'_>) {
        let (len, strides) = (self.neighbours.len, &self.neighbours.strides);
        let width = if len < LONG_LANE { NARROW } else { WIDE };
        let (parts, steps, rest) = (len / (ROUNDS * width), len / width % ROUNDS, len % width / NARROW);
        let (mut part_strides, [mut wide_strides, mut step_strides]) =
            (scaled(strides, ROUNDS * width), [width, NARROW].map(|width| scaled(strides, width)));
        (part_strides[0], wide_strides[0], step_strides[0]) = (wide_strides[0], 0, 0);
        let (mut at, mut done) = (*first, 0);
        while done < self.outside.len {
            let count = at_once(len, parts > 0, self.outside.len - done);
            let panels = || Panels { count, width, step_strides: &wide_strides, ..self.panels() };
            if parts > 0 {
                then(&at, &Panels { count: parts, panel_strides: &part_strides, steps: ROUNDS, ..panels() });
            }
            if steps > 0 {
                let place = [parts * width, parts * ROUNDS * width];
                then(&moved(&at, strides, place), &Panels { steps, ..panels() });
            }
            let narrow = || Panels { width: NARROW, step_strides: &step_strides, is_added: true, ..panels() };
            if rest > 0 {
                then(&moved(&at, strides, [0, len - len % width]), &Panels { steps: rest, ..narrow() });
            }
            if len % NARROW > 0 {
                let overlap = NARROW - len % NARROW;
                then(&moved(&at, strides, [0, len - NARROW]), &Panels { overlap, ..narrow() });
            }
            at = moved(&at, &self.outside.strides, [count; 2]);
            done += count;
        }
    }
}

/// The number of sums along the sum loop, which is the one at `place`.
pub(crate) fn sum_count(place: usize, loops: usize, len: usize) -> usize {
    match place + 1 == loops {
        false => 1,
        true if len < LONG_LANE => NARROW,
        true => (len / WIDE).div_ceil(ROUNDS) * WIDE,
    }
}

impl ErasedNest {
    /// The place of the sum loop, along which elements are combined in registers, if there is one.
    pub(super) fn sum_loop(&self, size: usize) -> Option<usize> {
        let (inner, outer) = self.loops.split_last()?;
        if inner.len < NARROW || !self.has_row_along(inner) || self.with_gaps(inner) != InputSet::NONE {
            return None;
        }
        // near rows, unless they are few. Lanes need a fold each, so rows are preferred to short lanes
        let is_reduced = |&place: &usize| !outer[place].kept;
        let near = (0..outer.len()).rev().filter(is_reduced).find(|&place| outer[place].len >= 2 * NARROW);
        let longest = (0..outer.len()).filter(is_reduced).max_by_key(|&place| outer[place].len);
        if inner.kept || near.is_some() && inner.len < WIDE {
            return near.or(longest);
        }
        (inner.len * size >= MIN_LANE_BYTES).then_some(outer.len())
    }

    /// Whether the elements of an array are folded in place: those of contiguous lanes, and of short lanes or rows that are
    /// contiguous together.
    pub(super) fn is_folded_in_place(&self, size: usize) -> bool {
        match &self.loops[..] {
            [.., outer, row] if row.kept => row.len < 2 * WIDE && is_dense(&[*outer, *row], 1, size),
            [.., outer, lane] if lane.len < WIDE => !lane.kept && is_dense(&[*outer, *lane], 1, size),
            [.., lane] => !lane.kept && is_dense(&[*lane], 1, size),
            [] => false,
        }
    }

    /// Visits the panels whose sums along the loop at `place` are written to `out`, at each index of the other loops in order.
    /// `out` has memory for `len` sums of `size` bytes.
    pub(super) fn for_each_sums(
        &mut self,
        place: usize,
        (out, len, size): (*mut u8, usize, usize),
        then: &mut Visit<'_>,
    ) {
        let (mut width, count) = (size, self.loops.len());
        for (i, l) in self.loops.iter_mut().enumerate().rev() {
            l.strides[0] = if i == place { 0 } else { width.cast_signed() };
            width = width.saturating_mul(if i == place { sum_count(place, count, l.len) } else { l.len });
        }
        ensure(width == len * size, "no room for the sums");
        self.operands.at[0] = out;
        let (last, is_lane) = (count - 1, place + 1 == count);
        self.loops[place..last].rotate_left(usize::from(!is_lane));
        let (outer, inner) = self.loops.split_at(last - usize::from(!is_lane));
        let mut neighbours = inner[inner.len() - 1].len_and_strides();
        neighbours.strides[0] = size.cast_signed();
        let moving = InputSet::of(self.operands.count - 1, |k| neighbours.strides[k] != 0);
        let (outer, outside) = match outer {
            [outer @ .., outside] => (outer, outside.len_and_strides()),
            [] => (outer, ONE_STEP),
        };
        let (mut loops, mut position) =
            (PanelLoops { outside, neighbours, moving }, Steps::filled(outer.len(), 0));
        let mut for_each = |mut at: Pointers, visit: &mut dyn FnMut(&Pointers)| loop {
            visit(&at);
            if outer.is_empty() || !advance_tile(&mut position, outer, None, &mut at) {
                break;
            }
        };
        let mut at = self.operands.at;
        if is_lane {
            return for_each(at, &mut |at| loops.lanes(at, then));
        }
        let rows = inner[0].len_and_strides();
        let at_once = if rows.len < 2 * GROUP_ROWS { rows.len } else { GROUP_ROWS };
        let mut done = 0;
        while done < rows.len {
            let group = LoopStrides { len: at_once.min(rows.len - done), ..rows };
            let (mut taken, mut is_added) = (group.len, [done > 0; 2]);
            loops.outside = outside;
            if outside.len == 1 && taken == at_once {
                // all groups at once
                let groups = (rows.len - done) / at_once;
                loops.outside = LoopStrides { len: groups, strides: scaled(&rows.strides, taken) };
                (taken, is_added[1]) = (taken * groups, true);
            }
            for_each(at, &mut |at| loops.rows(at, &group, is_added, then));
            at = moved(&at, &rows.strides, [0, taken]);
            done += taken;
        }
    }
}

/// A loop of one step.
pub(super) const ONE_STEP: LoopStrides = LoopStrides { len: 1, strides: [0; OPERANDS] };
