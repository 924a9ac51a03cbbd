//! Elements combined without being stored: along the two innermost loops at once. A panel is some neighbours along the innermost
//! loop, whose accumulators are registers, be they parts of one lane or the elements of several rows.
//!
//! ```text
//! for each lane:                              for each group of rows, at each index of the loops outside:
//!     for each part of it:                        for each panel of the row:
//!         for each panel of the part:                 for each row of the group:
//!             sums += panel                               sums += panel
//!         write sums                                  output = sums, or += sums after the first group
//! ```
//!
//! A panel has [`WIDE`] neighbours; [`NARROW`] ones follow where fewer are left, the last of which overlaps with the one before.

#![forbid(unsafe_code)]

use super::cut::{Block, advance_tile, is_dense};
use super::{ErasedNest, InputSet, JOINED_ROW, Loop, OPERANDS, Pointers, Steps};
use crate::kernel::ensure;

/// The neighbours of a panel. Measured on 2026-11-26 with `by_hand` on a Xeon: 16 take up to 1.3 scaled as long, and 64 are no
/// longer kept in registers.
pub(crate) const WIDE: usize = 32;

/// The neighbours of a panel where a wide one does not fit.
pub(crate) const NARROW: usize = 8;
/// How many panels of a lane are added before the sums are folded, and how many sums of groups of rows are added: so the error
/// stays small.
const ROUNDS: usize = 64;
/// Lanes from here on have wide panels, because folding these takes a while.
const LONG_LANE: usize = 128;
/// Lanes of fewer bytes are stored, and folded side by side.
const MIN_LANE_BYTES: usize = 64;
/// The elements of lanes that are taken together.
const L1_ELEMENTS: usize = 4096;
/// How many rows are added in registers; of narrow ones, up to four scaled as many.
const GROUP_ROWS: usize = 4;

/// The steps of a loop, and the bytes that each operand moves.
#[derive(Clone, Copy)]
pub(super) struct LoopStrides {
    pub(super) len: usize,
    pub(super) strides: [isize; OPERANDS],
}

impl Loop {
    fn len_and_strides(&self) -> LoopStrides {
        LoopStrides { len: self.len, strides: self.strides }
    }
}

/// So many steps as one.
fn scaled(strides: &[isize; OPERANDS], steps: usize) -> [isize; OPERANDS] {
    strides.map(|stride| stride * steps.cast_signed())
}

/// From one panel to the next, for wide ones and for others.
fn panel_strides(neighbours: &[isize; OPERANDS]) -> [[isize; OPERANDS]; 2] {
    [WIDE, NARROW].map(|width| scaled(neighbours, width))
}

/// What is combined at each index of a loop: a lane, or some rows.
pub(crate) struct PanelSums {
    at: Pointers,
    outside: LoopStrides,
    /// The neighbours along the innermost loop.
    neighbours: LoopStrides,
    /// From one step of a panel to the next, for wide ones and for others.
    step_strides: [[isize; OPERANDS]; 2],
    /// From one panel to the next, likewise.
    panel_strides: [[isize; OPERANDS]; 2],
    /// The rows, or `None` for a lane.
    rows: Option<usize>,
    /// The inputs that move along a panel.
    moving: InputSet,
    /// Whether results are added to the output: at the first step outside, and at the others.
    is_added: [bool; 2],
}

/// Panels of one width, each some neighbours at several steps.
pub(crate) struct Panels<'p> {
    pub(super) count: usize,
    /// From one panel to the next.
    pub(super) panel_strides: &'p [isize; OPERANDS],
    pub(super) width: usize,
    pub(super) neighbours: &'p [isize; OPERANDS],
    /// The inputs that move from one neighbour to the next.
    pub(super) moving: InputSet,
    pub(super) steps: usize,
    pub(super) step_strides: &'p [isize; OPERANDS],
    /// Whether the results are added to the output.
    pub(super) is_added: bool,
    /// The first neighbours that other panels have too: they are not added again.
    pub(super) overlap: usize,
}

impl PanelSums {
    /// The rows of a block, each element of which is a sum of one.
    pub(super) fn of_rows(block: &Block<'_>, moving: InputSet) -> Self {
        let [outside, neighbours] = block.sides();
        let (step_strides, panel_strides) = ([[0; OPERANDS]; 2], panel_strides(&neighbours.strides));
        Self {
            at: *block.at,
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

    /// Calls `then` for panels, with the first pointers of the output and of `inputs` inputs.
    #[inline(always)]
    pub(super) fn for_each(&self, inputs: usize, mut then: impl FnMut(&Pointers, &Panels<'_>)) {
        let (mut at, mut is_added, mut rest) = (self.at, self.is_added[0], self.outside.len);
        while rest > 0 {
            // several that stay in L1 are taken together, one width after the other
            let is_alone =
                self.rows.is_some() && self.neighbours.len >= LONG_LANE || is_added != self.is_added[1];
            let at_once = if is_alone { 1 } else { (L1_ELEMENTS / self.neighbours.len).clamp(1, rest) };
            self.for_each_width(at, (at_once, is_added), inputs, &mut then);
            for k in 0..=inputs {
                at[k] = at[k].wrapping_offset(self.outside.strides[k] * at_once.cast_signed());
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
            let width = if is_wide { WIDE } else { NARROW };
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
                // what is left of a lane is added to its first sums
                if !is_wide {
                    (at[0], panels.is_added) = (first[0], done > 0);
                }
            }
            then(&at, &panels);
            let written = if self.rows.is_some() { covered } else { width };
            at[0] = at[0].wrapping_offset(neighbours[0] * written.cast_signed());
            for k in 1..=inputs {
                at[k] = at[k].wrapping_offset(neighbours[k] * covered.cast_signed());
            }
            done += covered - overlap;
        }
    }
}

/// How the rows of a nest are reduced: one way for all its parts.
#[derive(Clone, Copy)]
pub(super) struct RowGroups {
    /// The rows that are added in registers.
    at_once: usize,
    /// The elements of a row.
    len: usize,
}

impl RowGroups {
    /// The most rows whose sum is made at once.
    pub(super) fn most(self) -> usize {
        ROUNDS * self.at_once
    }
}

/// The longest lane of which there are up to `sums` sums.
pub(crate) fn longest_lane(sums: usize) -> usize {
    (sums / WIDE).max(1) * WIDE * ROUNDS
}

/// How many sums there are of the loop at `place`, along which sums are made.
pub(crate) fn sum_count(place: usize, loops: usize, len: usize) -> usize {
    match place + 1 == loops {
        false => 1,
        true if len < LONG_LANE => NARROW,
        true => (len / WIDE).div_ceil(ROUNDS) * WIDE,
    }
}

impl ErasedNest {
    /// The place of the loop along which elements are combined in registers, if there is one: a lane, or the longest reduced loop
    /// of rows. The elements have `size` bytes.
    pub(super) fn sum_loop(&self, size: usize) -> Option<usize> {
        let ((inner, outer), sizes) = (self.loops.split_last()?, self.sizes());
        let is_row = |k: usize| inner.strides[k] == 0 || inner.strides[k] == sizes[k].cast_signed();
        if inner.len < NARROW || !self.has_row_along(inner) || !(1..sizes.len()).all(is_row) {
            return None;
        }
        // the nearest rows, unless they are few; lanes need a fold each
        let is_reduced = |&place: &usize| !outer[place].kept;
        let near = (0..outer.len()).rev().filter(is_reduced).find(|&place| outer[place].len >= 2 * NARROW);
        let longest = (0..outer.len()).filter(is_reduced).max_by_key(|&place| outer[place].len);
        if inner.kept || near.is_some() && inner.len < WIDE {
            return near.or(longest);
        }
        (inner.len * size >= MIN_LANE_BYTES).then_some(outer.len())
    }

    /// How rows of this nest are reduced.
    pub(super) fn row_groups(&self) -> RowGroups {
        let Some((inner, outer)) = self.loops.split_last() else { return RowGroups { at_once: 1, len: 1 } };
        // the output, of another layout, must not change the order of additions
        let mut len = inner.len;
        let continues = |l: &Loop, len: usize| {
            (1..self.operands.count).all(|k| l.strides[k] == inner.strides[k] * len.cast_signed())
        };
        for l in outer.iter().rev() {
            if l.kept != inner.kept || !continues(l, len) {
                break;
            }
            len *= l.len;
        }
        RowGroups { at_once: (LONG_LANE / len).clamp(GROUP_ROWS, 4 * GROUP_ROWS), len }
    }

    /// Whether the elements of an array are folded where they lie: those of adjacent lanes, and of rows that are narrow and
    /// adjacent to each other.
    pub(super) fn is_folded_in_place(&self, size: usize, rows: RowGroups) -> bool {
        match &self.loops[..] {
            [.., outer, row] if row.kept => rows.len < JOINED_ROW && is_dense(&[*outer, *row], 1, size),
            [.., lane] => !lane.kept && is_dense(&[*lane], 1, size),
            [] => false,
        }
    }

    /// Calls `then` with sums along the loop at `place`, at each index of the others, in order: at `out`, where there is room for
    /// `len` of `size` bytes.
    pub(super) fn for_each_sums(
        &mut self,
        place: usize,
        (out, len, size): (*mut u8, usize, usize),
        RowGroups { at_once, .. }: RowGroups,
        then: &mut dyn FnMut(&PanelSums),
    ) {
        let (mut width, count) = (size, self.loops.len());
        for (i, l) in self.loops.iter_mut().enumerate().rev() {
            l.strides[0] = if i == place { 0 } else { width.cast_signed() };
            width *= if i == place { sum_count(place, count, l.len) } else { l.len };
        }
        ensure(width == len * size, "no room for the sums");
        self.operands.at[0] = out;
        let (last, is_lane) = (count - 1, place + 1 == count);
        self.loops[place..last].rotate_left(usize::from(!is_lane));
        let (outer, inner) = self.loops.split_at_mut(last - usize::from(!is_lane));
        let rows = if is_lane { TRIVIAL } else { inner[0] };
        let (outer, outside) = split_outside(outer);
        let at_once = if rows.len < 2 * at_once { rows.len } else { at_once };
        let mut neighbours = inner[inner.len() - 1].len_and_strides();
        neighbours.strides[0] = size.cast_signed();
        let moving = InputSet::of(self.operands.count - 1, |k| neighbours.strides[k] != 0);
        let mut at = self.operands.at;
        let panel_strides = panel_strides(&neighbours.strides);
        let mut sums = PanelSums {
            at,
            outside: outside.len_and_strides(),
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
                (sums.outside, sums.is_added[1]) = (outside.len_and_strides(), sums.is_added[0]);
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
                at[k] = at[k].wrapping_offset(rows.strides[k] * taken.cast_signed());
            }
            done += taken;
        }
    }
}

/// Takes a loop out of others: the innermost one that is not short, or else the innermost one.
fn split_outside(outer: &mut [Loop]) -> (&mut [Loop], Loop) {
    let Some(last) = outer.len().checked_sub(1) else { return (outer, TRIVIAL) };
    let place = outer.iter().rposition(|l| l.len >= NARROW).unwrap_or(last);
    outer[place..].rotate_left(1);
    let outside = outer[last];
    (&mut outer[..last], outside)
}

const TRIVIAL: Loop = Loop { len: 1, kept: true, strides: [0; OPERANDS] };
