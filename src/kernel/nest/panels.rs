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

use super::cut::{Block, for_each_index, is_dense};
use super::{ErasedNest, InputSet, Loop, OPERANDS, Pointers, steps};
use crate::kernel::ensure;
use crate::kernel::memory::{BLOCK_BYTES, CACHE_LINE};

/// The neighbours of a panel. Measured with `by_hand` on a Xeon: 16 take up to 1.3 times as long (2026-11-26), 8 up to 1.5 times
/// (2026-11-27), and 64 are no longer kept in registers.
pub(crate) const WIDE: usize = 32;
/// The neighbours of a panel where no wide one fits.
pub(crate) const NARROW: usize = 8;
/// The most panels of a lane that are added before the accumulators are folded, and the most groups of rows that are added. Both
/// keep the error small.
pub(crate) const ROUNDS: usize = 32;
/// The most rows of a group, which are added in registers. Those that fit into L1, but at least half as many of one input, and a
/// quarter of several: L1 has 8 ways, and more rows that are 4 KiB apart take up to 2.7 times as long (2026-11-27, Zen 4).
const GROUP_ROWS: usize = 16;
/// The most rows that are added to one sum.
pub(crate) const MAX_ROWS: usize = ROUNDS * GROUP_ROWS;

/// The bytes of joined rows. From memory, rows of 512 bytes to 2 KiB take 1.3 to 1.9 times as long (2026-11-27, Zen 4).
const JOINED_ROW_BYTES: usize = 4 << 10;

/// The strides of several steps as one.
pub(super) fn scaled(strides: &[isize; OPERANDS], steps: usize) -> [isize; OPERANDS] {
    // past the last step, an offset may exceed `isize`: it is not followed
    strides.map(|stride| stride.wrapping_mul(steps.cast_signed()))
}

/// The neighbours of the panels of a lane. Folding the accumulators of wide ones takes a while.
fn lane_width(len: usize) -> usize {
    if len < 4 * WIDE { NARROW } else { WIDE }
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
    outside: Loop,
    /// The innermost loop.
    neighbours: Loop,
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
            step_strides: &Loop::ONE_STEP.strides,
            is_added: false,
            overlap: 0,
        }
    }

    /// The rows of a block, as sums of one row each.
    pub(super) fn of_rows(block: &Block, moving: InputSet) -> Self {
        Self { outside: block.rows, neighbours: block.row, moving }
    }

    /// Visits the panels of the sums of `rows` at each step of the loop outside. Sums are written to the output or added to it.
    pub(super) fn rows(&self, first: &Pointers, rows: &Loop, is_added: bool, then: &mut Visit<'_>) {
        let (row, len) = (&self.neighbours, self.neighbours.len);
        let along_row = [WIDE, NARROW].map(|width| (width, scaled(&row.strides, width)));
        let (mut at, mut done) = (*first, 0);
        while done < self.outside.len {
            let count = at_once(len, lane_width(len) == WIDE, self.outside.len - done);
            let panels = |width: usize| Panels {
                count,
                width,
                steps: rows.len,
                step_strides: &rows.strides,
                is_added,
                ..self.panels()
            };
            let mut place = 0;
            for (width, panel_strides) in &along_row {
                let panels_left = (len - place) / width;
                if count == 1 && panels_left > 0 {
                    let panels = Panels { count: panels_left, panel_strides, ..panels(*width) };
                    then(&row.moved(&at, [place; 2]), &panels);
                    place += panels_left * width;
                }
                while place + width <= len {
                    then(&row.moved(&at, [place; 2]), &panels(*width));
                    place += width;
                }
            }
            if place < len {
                let overlap = NARROW - (len - place);
                then(&row.moved(&at, [len - NARROW; 2]), &Panels { overlap, ..panels(NARROW) });
            }
            at = self.outside.moved(&at, [count; 2]);
            done += count;
        }
    }

    /// Visits the panels of each lane: [`ROUNDS`] of them are a sum, then the others, to which what is left of the lane is added.
    fn lanes(&self, first: &Pointers, then: &mut Visit<'_>) {
        let (lane, len, strides) = (&self.neighbours, self.neighbours.len, &self.neighbours.strides);
        let width = lane_width(len);
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
                then(&lane.moved(&at, place), &Panels { steps, ..panels() });
            }
            let narrow = || Panels { width: NARROW, step_strides: &step_strides, is_added: true, ..panels() };
            if rest > 0 {
                then(&lane.moved(&at, [0, len - len % width]), &Panels { steps: rest, ..narrow() });
            }
            if len % NARROW > 0 {
                let overlap = NARROW - len % NARROW;
                then(&lane.moved(&at, [0, len - NARROW]), &Panels { overlap, ..narrow() });
            }
            at = self.outside.moved(&at, [count; 2]);
            done += count;
        }
    }
}

impl ErasedNest {
    /// The place of the sum loop, along which elements are combined in registers, if there is one, and the number of sums along it:
    /// those of a lane, or one of rows, or as many as rows are joined.
    pub(super) fn sum_loop(&self, size: usize, is_stored: bool) -> Option<(usize, usize)> {
        let (inner, outer) = self.loops.split_last()?;
        let joined = self.joined_rows(size);
        if joined.is_some() || is_stored && self.is_folded_in_place(size) {
            return joined.map(|joined| (0, joined));
        }
        if inner.len < NARROW || !self.has_row_along(inner) || self.with_gaps(inner) != InputSet::NONE {
            return None;
        }
        // near rows, unless they are few. Lanes need a fold each, so rows are preferred to short lanes
        let is_reduced = |&place: &usize| !outer[place].kept;
        let near = (0..outer.len()).rev().filter(is_reduced).find(|&place| outer[place].len >= 2 * NARROW);
        let longest = (0..outer.len()).filter(is_reduced).max_by_key(|&place| outer[place].len);
        if inner.kept || near.is_some() && inner.len < WIDE {
            return near.or(longest).map(|place| (place, 1));
        }
        let width = lane_width(inner.len);
        let sums = (inner.len / width).div_ceil(ROUNDS) * width;
        (inner.len * size >= CACHE_LINE).then_some((outer.len(), sums))
    }

    /// The rows of a group along `rows`, of which `joined` are one row. The most rows of a sum are [`ROUNDS`] groups.
    pub(crate) fn group_rows(&self, rows: &Loop, joined: usize) -> usize {
        let strides = (1..self.operands.count).map(|k| rows.strides[k].unsigned_abs().saturating_mul(joined));
        let read = strides.clone().filter(|&stride| stride != 0).count();
        let bytes = strides.fold(1, usize::saturating_add);
        (BLOCK_BYTES / 2 / bytes).clamp(GROUP_ROWS / 2 / read.clamp(1, 2), GROUP_ROWS)
    }

    /// How many steps of the outermost loop are one row of sums, where all inputs are contiguous and do not fit into a block. What is
    /// left of the steps is added to a row's first elements, if they fill a panel.
    fn joined_rows(&self, size: usize) -> Option<usize> {
        let (rows, inner) = self.loops.split_first()?;
        let (last, bytes) = (inner.last()?, steps(inner).saturating_mul(size));
        let is_large = bytes <= BLOCK_BYTES && rows.len.saturating_mul(bytes) > 4 * BLOCK_BYTES;
        let is_dense = |pair: &[Loop]| pair[0].continues(&pair[1], self.operands.count);
        let has_rows = || self.has_row_along(last) && self.with_gaps(last) == InputSet::NONE;
        if rows.kept || !is_large || !has_rows() || !self.loops.windows(2).all(is_dense) {
            return None;
        }
        let most = (JOINED_ROW_BYTES / bytes).max(1);
        (1..=most).rev().find(|joined| matches!(rows.len % joined * (bytes / size), 0 | NARROW..))
    }

    /// Whether the elements of an array are folded in place: those of contiguous lanes, and of short lanes or rows that are
    /// contiguous together.
    fn is_folded_in_place(&self, size: usize) -> bool {
        match &self.loops[..] {
            [.., outer, row] if row.kept => row.len < 2 * WIDE && is_dense(&[*outer, *row], 1, size),
            [.., outer, lane] if lane.len < WIDE => is_dense(&[*outer, *lane], 1, size),
            [.., lane] => !lane.kept && is_dense(&[*lane], 1, size),
            [] => false,
        }
    }

    /// Visits the panels whose sums along the [sum loop](Self::sum_loop) are written to `out`, at each index of the other loops in
    /// order. `out` has memory for `len` sums of `size` bytes.
    pub(super) fn for_each_sums(
        &mut self,
        (place, sums): (usize, usize),
        (out, len, size): (*mut u8, usize, usize),
        then: &mut Visit<'_>,
    ) {
        let (summed, is_lane) = (self.loops[place], place + 1 == self.loops.len());
        self.loops[place].len = sums;
        self.operands.sizes[0] = size;
        ensure(self.set_dense(0, out, |_| true) == len, "no room for the sums");
        if is_lane {
            self.loops[place].len = summed.len;
        } else {
            self.loops.retain(|l| l.len > 1);
            self.loops.iter_mut().for_each(|l| l.kept = true);
            self.merge();
        }
        let [outer @ .., neighbours] = &self.loops[..] else { return };
        let moving = InputSet::of(self.operands.count - 1, |k| neighbours.strides[k] != 0);
        let (outer, outside) = match outer {
            [outer @ .., outside] => (outer, *outside),
            [] => (outer, Loop::ONE_STEP),
        };
        let mut loops = PanelLoops { outside, neighbours: *neighbours, moving };
        let mut at = self.operands.at;
        if is_lane {
            return for_each_index(outer, &at, &mut |at| loops.lanes(at, then));
        }
        let (rest, group) = (summed.len % sums, self.group_rows(&summed, sums));
        let summed = Loop { len: summed.len / sums, strides: scaled(&summed.strides, sums), ..summed };
        let at_once = if summed.len < 2 * group { summed.len } else { group };
        let mut done = 0;
        while done < summed.len {
            let group = Loop { len: at_once.min(summed.len - done), ..summed };
            let mut taken = group.len;
            if done > 0 && outside.len == 1 {
                // all groups of this length at once
                let groups = (summed.len - done) / taken;
                loops.outside = Loop { len: groups, strides: scaled(&summed.strides, taken), ..summed };
                taken *= groups;
            }
            for_each_index(outer, &at, &mut |at| loops.rows(at, &group, done > 0, then));
            at = summed.moved(&at, [0, taken]);
            done += taken;
        }
        if rest > 0 {
            loops.outside = Loop::ONE_STEP;
            loops.neighbours.len = loops.neighbours.len / sums * rest;
            loops.rows(&at, &Loop::ONE_STEP, true, then);
        }
    }
}
