//! Sums in registers, of elements that are computed or stored in long rows: along the two innermost loops at once.
//!
//! Panels compute what this loop computes, in another order of additions:
//!
//! ```text
//! at each index of the nest:
//!     output += element
//! ```
//!
//! The deviations, and what a sum of `f64` takes without them:
//! 1. Several neighbours are combined at once, each in an accumulator of its own, at several steps before the output is written.
//! 2. Rows are added in groups that stay in L1, and lanes in parts of [`ROUNDS`] panels, which keeps the error small.
//! 3. Several short rows or lanes are visited together ([`at_once`]): 1.2 to 2.1 times as long.
//! 4. Once a lane's result is known, its other parts take one step each: up to 10 times, where the first elements decide.
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

use super::cut::{Block, for_each_index};
use super::erased::ErasedNest;
use super::loops::{GROUP_ROWS, InputSet, Loop, NARROW, OPERANDS, Pointers, ROUNDS, WIDE, is_dense, scaled};
use crate::kernel::memory::{BLOCK_BYTES, CACHE_LINE};
use crate::kernel::{ensure, fail};

/// The neighbours of the panels of a lane. Folding the accumulators of wide ones takes a while.
fn lane_width(len: usize) -> usize {
    if len < 4 * WIDE { NARROW } else { WIDE }
}

/// How many lanes or groups of rows are visited together, one panel width after the other: those that stay in L1.
fn at_once(len: usize, is_alone: bool, left: usize) -> usize {
    if is_alone { 1 } else { (BLOCK_BYTES / 4 / len).clamp(1, left) }
}

/// A function that is called with panels, and with their first pointers.
pub(super) type VisitPanels<'v> = dyn FnMut(&Pointers, &Panels<'_>) + 'v;

/// The loops of panels, and the inputs that move along one.
pub(super) struct PanelLoops {
    /// The loop over lanes or groups of rows.
    pub(super) outside: Loop,
    /// The innermost loop.
    pub(super) neighbours: Loop,
    pub(super) moving: InputSet,
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
    /// Whether all panels are parts of one lane.
    pub(super) is_lane: bool,
}

impl Panels<'_> {
    /// The panels, which begin at `at`, as a block whose outputs are visited one by one.
    pub(super) fn block(&self, at: &Pointers) -> Block {
        let along = |len: usize, strides: &[isize; OPERANDS]| Loop { len, kept: true, strides: *strides };
        let neighbours = along(self.width, self.neighbours);
        let at = neighbours.moved(at, [self.overlap; 2]);
        Block {
            rows: along(self.count, self.panel_strides),
            row: Loop { len: self.width - self.overlap, ..neighbours },
            steps: along(self.steps, self.step_strides),
            is_added: self.is_added,
            ..Block::new(at)
        }
    }
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
            is_lane: false,
        }
    }

    /// Visits the panels of the sums of `rows` at each step of the loop outside. Sums are written to the output or added to it.
    pub(super) fn rows(&self, first: &Pointers, rows: &Loop, is_added: bool, then: &mut VisitPanels<'_>) {
        let (row, len) = (&self.neighbours, self.neighbours.len);
        ensure(len >= NARROW, "rows that are shorter than a panel");
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

    /// Visits the panels of the sums of groups of `rows`, at each index of the loops `outer`.
    fn groups(
        mut self,
        outer: &[Loop],
        first: &Pointers,
        (rows, group): (&Loop, usize),
        then: &mut VisitPanels<'_>,
    ) {
        let at_once = if rows.len < 2 * group { rows.len } else { group };
        let (mut at, mut done, is_alone) = (*first, 0, self.outside.len == 1);
        while done < rows.len {
            let group = Loop { len: at_once.min(rows.len - done), ..*rows };
            let mut taken = group.len;
            if done > 0 && is_alone {
                // all groups of this length at once
                let groups = (rows.len - done) / taken;
                self.outside = Loop { len: groups, strides: scaled(&rows.strides, taken), ..*rows };
                taken *= groups;
            }
            for_each_index(outer, &at, &mut |at| self.rows(at, &group, done > 0, then));
            at = rows.moved(&at, [0, taken]);
            done += taken;
        }
    }

    /// Visits the panels of each lane: [`ROUNDS`] of them are a sum, then the others are. The rest of the lane is added to these.
    fn lanes(&self, first: &Pointers, then: &mut VisitPanels<'_>) {
        let (lane, len, strides) = (&self.neighbours, self.neighbours.len, &self.neighbours.strides);
        ensure(len >= NARROW, "lanes that are shorter than a panel");
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
                then(
                    &at,
                    &Panels {
                        count: parts,
                        panel_strides: &part_strides,
                        steps: ROUNDS,
                        is_lane: true,
                        ..panels()
                    },
                );
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

/// The loop along which elements are combined in registers.
#[derive(Clone, Copy)]
pub(crate) struct SumLoop {
    /// The place among the loops of its nest.
    pub(crate) place: usize,
    /// The number of sums along it: one of rows, or those of a lane.
    pub(crate) sums: usize,
    /// The rows of a group, or `None` for a lane.
    group: Option<usize>,
}

impl SumLoop {
    /// The most steps whose sum has a small error: [`ROUNDS`] groups of rows, or any number of a lane.
    pub(crate) fn most_steps(self) -> usize {
        self.group.map_or(usize::MAX, |group| ROUNDS * group)
    }
}

/// How the elements of a nest are combined.
#[derive(Clone, Copy)]
pub(crate) enum BlockWay {
    /// They are stored, and contiguous in the order of the loops: folded where they are.
    InPlace,
    /// In registers along this loop. Their results are folded.
    Panels(SumLoop),
    /// They are written to a buffer, and folded there.
    Buffer,
}

impl ErasedNest {
    /// The one answer to how elements of `size` bytes are combined. For those that are stored and contiguous, loops over slices
    /// are faster than panels, unless rows are long.
    pub(super) fn way(&self, size: usize, is_stored: bool, has_panels: bool) -> BlockWay {
        let is_slice = is_stored && is_dense(&self.loops, 1, size);
        let sum_loop = if has_panels { self.sum_loop(size, is_slice) } else { None };
        match sum_loop {
            Some(sum_loop) => BlockWay::Panels(sum_loop),
            None if is_slice => BlockWay::InPlace,
            None => BlockWay::Buffer,
        }
    }

    /// The loop along which elements are combined in registers, if there is one.
    fn sum_loop(&self, size: usize, is_slice: bool) -> Option<SumLoop> {
        let (inner, outer) = self.loops.split_last()?;
        // folds join rows of up to 2 KiB: panels of these take 1.0 to 1.3 times as long, from memory up to 1.9 (2026-11-29, Zen 4)
        let is_folded =
            is_slice && (!inner.kept || !outer.is_empty() && inner.len <= BLOCK_BYTES / 32 / size);
        if is_folded || inner.len < NARROW || !self.has_row_in_place(inner) {
            return None;
        }
        // near rows, unless they are few. Lanes need a fold each, so rows are preferred to short lanes
        let is_reduced = |&place: &usize| !outer[place].kept;
        let near = (0..outer.len()).rev().filter(is_reduced).find(|&place| outer[place].len >= 2 * NARROW);
        let longest = (0..outer.len()).filter(is_reduced).max_by_key(|&place| outer[place].len);
        if inner.kept || near.is_some() && inner.len < WIDE {
            return near.or(longest).map(|place| self.rows_at(place));
        }
        let width = lane_width(inner.len);
        let sums = (inner.len / width).div_ceil(ROUNDS) * width;
        (inner.len >= CACHE_LINE.div_ceil(size)).then_some(SumLoop { place: outer.len(), sums, group: None })
    }

    /// The loop at `place` as a sum loop of rows. A group has the rows that fit into L1, but at least half of [`GROUP_ROWS`] of one
    /// input, and a quarter of several.
    fn rows_at(&self, place: usize) -> SumLoop {
        let strides = self.loops[place].strides[1..self.operands.count].iter();
        let moving = strides.filter(|&&stride| stride != 0);
        let bytes =
            moving.clone().fold(1, |bytes: usize, stride| bytes.saturating_add(stride.unsigned_abs()));
        let fewest = GROUP_ROWS / 2 / moving.count().clamp(1, 2);
        let group = Some((BLOCK_BYTES / 2 / bytes).clamp(fewest, GROUP_ROWS));
        SumLoop { place, sums: 1, group }
    }

    /// Visits the panels whose sums along the [sum loop](Self::sum_loop) are written to `out`, at each index of the other loops in
    /// order. `out` has memory for `len` sums of `size` bytes.
    pub(super) fn for_each_sums(
        &mut self,
        sum_loop: SumLoop,
        (out, len, size): (*mut u8, usize, usize),
        then: &mut VisitPanels<'_>,
    ) {
        let summed = self.loops[sum_loop.place];
        self.loops[sum_loop.place].len = sum_loop.sums;
        self.operands.sizes[0] = size;
        ensure(self.set_dense(0, out, &|_| true) == len, "no room for the sums");
        if sum_loop.group.is_some() {
            self.loops.retain(|l| l.len > 1);
            self.loops.iter_mut().for_each(|l| l.kept = true);
            self.merge();
        } else {
            self.loops[sum_loop.place].len = summed.len;
        }
        let [outer @ .., neighbours] = &self.loops[..] else { fail("no loop") };
        let moving = self.moving(neighbours);
        let (outer, outside) = match outer {
            [outer @ .., outside] => (outer, *outside),
            [] => (outer, Loop::ONE_STEP),
        };
        let loops = PanelLoops { outside, neighbours: *neighbours, moving };
        let at = &self.operands.at;
        match sum_loop.group {
            None => for_each_index(outer, at, &mut |at| loops.lanes(at, then)),
            Some(group) => loops.groups(outer, at, (&summed, group), then),
        }
    }
}
