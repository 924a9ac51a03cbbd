//! Sums in registers, of elements that are not stored: along the two innermost loops at once.
//!
//! A panel is [`WIDE`] or [`NARROW`] neighbours along the innermost loop. Each neighbour has an accumulator in a register.
//! [`ErasedNest::sum_loop`] chooses the loop along which panels are added:
//! - the innermost loop. Then the accumulators are parts of a lane's sum;
//! - or another reduced loop, whose steps are rows. Then the accumulators are elements of the sum of rows. The innermost such
//!   loop with at least 2 * [`NARROW`] steps serves, because its rows are near each other in memory; otherwise the longest one.
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
//! Where fewer than [`WIDE`] neighbours are left, narrow panels follow. The last one overlaps with the panel before, so that it
//! is full too. Its first [`Panels::overlap`] neighbours are not added to the output again.

#![forbid(unsafe_code)]

use super::cut::{Block, advance_tile, is_dense};
use super::{ErasedNest, InputSet, Loop, OPERANDS, Pointers, Steps};
use crate::kernel::ensure;
use crate::kernel::memory::BLOCK_BYTES;

/// The neighbours of a panel. Measured on 2026-11-26 with `by_hand` on a Xeon: 16 take up to 1.3 times as long, and 64 are no
/// longer kept in registers.
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

/// The neighbours of a panel.
#[inline(always)]
fn width(is_wide: bool) -> usize {
    if is_wide { WIDE } else { NARROW }
}

/// The strides from one panel to the next, for wide panels and for narrow ones.
fn panel_strides(neighbours: &[isize; OPERANDS]) -> [[isize; OPERANDS]; 2] {
    [true, false].map(|is_wide| scaled(neighbours, width(is_wide)))
}

/// The panels at each index of a loop: those of a lane, or of a group of rows.
pub(crate) struct PanelSums {
    at: Pointers,
    /// The loop over lanes or groups.
    outside: LoopStrides,
    /// The innermost loop.
    neighbours: LoopStrides,
    /// The strides from one step of a panel to the next, for wide panels and for narrow ones.
    step_strides: [[isize; OPERANDS]; 2],
    /// The strides from one panel to the next, for wide panels and for narrow ones.
    panel_strides: [[isize; OPERANDS]; 2],
    /// The rows of a group, or `None` for a lane.
    rows: Option<usize>,
    /// The inputs that move along a panel.
    moving: InputSet,
    /// Whether results are added to the output, at the first step of `outside` and at the others.
    is_added: [bool; 2],
}

/// Panels of one width. Each has some neighbours at several steps.
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

impl PanelSums {
    /// The rows of a block, as sums of one row each.
    pub(super) fn of_rows(block: &Block, moving: InputSet) -> Self {
        let (outside, neighbours) = (block.rows, block.row);
        let (step_strides, panel_strides) = ([[0; OPERANDS]; 2], panel_strides(&neighbours.strides));
        Self {
            at: block.at,
            outside,
            neighbours,
            step_strides,
            panel_strides,
            rows: Some(1),
            moving,
            is_added: [false; 2],
        }
    }

    /// [`for_each`](Self::for_each), compiled once.
    pub(super) fn for_each_panel(&self, inputs: usize, then: &mut dyn FnMut(&Pointers, &Panels<'_>)) {
        self.for_each(inputs, then);
    }

    /// Calls `then` with panels, and the first pointers of the output and of the inputs, of which there are `inputs`.
    #[inline(always)]
    pub(super) fn for_each(&self, inputs: usize, mut then: impl FnMut(&Pointers, &Panels<'_>)) {
        let (mut at, mut is_added, mut rest) = (self.at, self.is_added[0], self.outside.len);
        while rest > 0 {
            // several lanes or groups that stay in L1 are visited together, one panel width after the other
            let is_alone =
                self.rows.is_some() && self.neighbours.len >= LONG_LANE || is_added != self.is_added[1];
            let at_once = if is_alone { 1 } else { (BLOCK_BYTES / 4 / self.neighbours.len).clamp(1, rest) };
            self.for_each_width(at, (at_once, is_added), inputs, &mut then);
            for k in 0..=inputs {
                at[k] = at[k].wrapping_offset(self.outside.strides[k].wrapping_mul(at_once.cast_signed()));
            }
            rest -= at_once;
            is_added = self.is_added[1];
        }
    }

    #[inline(always)]
    fn for_each_width(
        &self,
        first: Pointers,
        (at_once, is_added): (usize, bool),
        inputs: usize,
        then: &mut impl FnMut(&Pointers, &Panels<'_>),
    ) {
        let LoopStrides { len, strides: neighbours } = &self.neighbours;
        let (mut at, mut done) = (first, 0);
        while done < *len {
            let overlap = NARROW.saturating_sub(*len - done);
            for k in 0..=inputs {
                at[k] = at[k].wrapping_offset(-neighbours[k] * overlap.cast_signed());
            }
            let left = *len - done + overlap;
            let is_wide = left >= WIDE && (self.rows.is_some() || *len >= LONG_LANE);
            let width = width(is_wide);
            let panels_left = left / width;
            let mut panels = Panels {
                count: at_once,
                panel_strides: &self.outside.strides,
                width,
                neighbours,
                moving: self.moving,
                steps: 1,
                step_strides: &self.step_strides[usize::from(!is_wide)],
                is_added,
                overlap,
            };
            let mut covered = width;
            if let Some(rows) = self.rows {
                panels.steps = rows;
                if at_once == 1 {
                    // the panels of a row
                    (panels.count, panels.panel_strides) =
                        (panels_left, &self.panel_strides[usize::from(!is_wide)]);
                    covered *= panels_left;
                }
            } else {
                panels.steps = panels_left.min(ROUNDS);
                covered *= panels.steps;
                // the rest of a lane is added to its first accumulators
                if !is_wide {
                    (at[0], panels.is_added) = (first[0], done > 0);
                }
            }
            then(&at, &panels);
            let written = if self.rows.is_some() { covered } else { width };
            at[0] = at[0].wrapping_offset(neighbours[0].wrapping_mul(written.cast_signed()));
            for k in 1..=inputs {
                at[k] = at[k].wrapping_offset(neighbours[k].wrapping_mul(covered.cast_signed()));
            }
            done += covered - overlap;
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

    /// Calls `then` with the panels whose sums along the loop at `place` are written to `out`, at each index of the other loops
    /// in order. `out` has memory for `len` sums of `size` bytes.
    pub(super) fn for_each_sums(
        &mut self,
        place: usize,
        (out, len, size): (*mut u8, usize, usize),
        then: &mut dyn FnMut(&PanelSums),
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
        let (outer, inner) = self.loops.split_at_mut(last - usize::from(!is_lane));
        let rows = if is_lane { ONE_STEP } else { inner[0].len_and_strides() };
        let (outer, outside) = match outer {
            [outer @ .., outside] => (outer, outside.len_and_strides()),
            [] => (outer, ONE_STEP),
        };
        let at_once = if rows.len < 2 * GROUP_ROWS { rows.len } else { GROUP_ROWS };
        let mut neighbours = inner[inner.len() - 1].len_and_strides();
        neighbours.strides[0] = size.cast_signed();
        let moving = InputSet::of(self.operands.count - 1, |k| neighbours.strides[k] != 0);
        let mut at = self.operands.at;
        let panel_strides = panel_strides(&neighbours.strides);
        let mut sums = PanelSums {
            at,
            outside,
            neighbours,
            step_strides: if is_lane { panel_strides } else { [rows.strides; 2] },
            panel_strides,
            rows: None,
            moving,
            is_added: [false; 2],
        };
        let (mut position, mut done) = (Steps::filled(outer.len(), 0), 0);
        while done < rows.len {
            let mut taken = at_once.min(rows.len - done);
            if !is_lane {
                (sums.rows, sums.is_added) = (Some(taken), [done > 0, true]);
            }
            if outside.len == 1 && taken == at_once {
                // all groups at once
                let groups = (rows.len - done) / at_once;
                sums.outside = LoopStrides { len: groups, strides: scaled(&rows.strides, taken) };
                taken *= groups;
            } else {
                (sums.outside, sums.is_added[1]) = (outside, sums.is_added[0]);
            }
            loop {
                sums.at = at;
                then(&sums);
                let at = &mut at[..self.operands.count];
                if outer.is_empty() || !advance_tile(&mut position, outer, None, at) {
                    break;
                }
            }
            for k in 1..self.operands.count {
                at[k] = at[k].wrapping_offset(rows.strides[k].wrapping_mul(taken.cast_signed()));
            }
            done += taken;
        }
    }
}

/// A loop of one step.
pub(super) const ONE_STEP: LoopStrides = LoopStrides { len: 1, strides: [0; OPERANDS] };
