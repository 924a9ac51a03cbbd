//! Sums of what is made of the inputs, along the two innermost loops at once: a panel is some neighbours along the innermost loop,
//! and panels are added up in registers, be they of one lane or of several rows.

#![forbid(unsafe_code)]

use super::cut::{Block, advance, advance_tile};
use super::{LOOPS, Loop, OPERANDS, Pointers, State};
use crate::kernel::ensure;

/// The neighbours that are one panel.
pub(crate) const PANEL: usize = 16;
/// How many panels of a lane are added before their sum is folded.
pub(super) const ROUNDS: usize = 64;
/// Shorter lanes and rows are made in a buffer.
const LANE: usize = 24;
const ROW: usize = 32;
/// How many rows are added in registers. Long ones of large arrays are added one by one: the CPU fetches them faster.
const ROWS: usize = 4;
const LONG_ROW: usize = 4 << 10;
/// The most groups of rows whose sums are added one after the other, so that the error stays small.
const GROUPS: usize = 64;

/// The steps of a loop, and the bytes that each operand moves.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) len: usize,
    pub(super) strides: [isize; OPERANDS],
}

impl Side {
    pub(super) const ONE: Self = Self { len: 1, strides: [0; OPERANDS] };

    /// So many times `by` steps, at each of which the output moves by `out` bytes.
    fn of(strides: &[isize; OPERANDS], by: usize, len: usize, out: isize) -> Self {
        let mut strides = strides.map(|stride| stride * by.cast_signed());
        strides[0] = out;
        Self { len, strides }
    }
}

/// Sums of panels at each index of two loops, of what is made along a third one.
pub(crate) struct Sums {
    pub(super) at: Pointers,
    pub(super) loops: [Side; 3],
    /// The steps of the third loop at the last index of the second one.
    pub(super) last: usize,
    /// The inputs that move along a panel.
    pub(super) moving: u8,
    /// Whether the sums are those of one lane.
    pub(super) is_lane: bool,
    /// Whether sums are added to those that are there: at the first step of the outer loop, and at the others.
    pub(super) adds: [bool; 2],
    /// The neighbours behind the last panel, and the loop along which they are added.
    pub(super) tail: [Side; 2],
    pub(super) tail_offset: [isize; OPERANDS],
}

impl Sums {
    /// The rows of a block, each element of which is a sum of one.
    pub(super) fn of_rows(block: &Block<'_>, moving: u8) -> Self {
        let [groups, row] = block.sides();
        Self { adds: [false; 2], ..Self::rows(*block.at, groups, &row, Side::ONE, moving) }
    }

    /// Calls `then` with the pointers of the output and of `inputs` inputs, some neighbours and the loop along which they are
    /// combined, and whether the result is added to the output.
    #[inline(always)]
    pub(super) fn for_each(&self, inputs: usize, mut then: impl FnMut(&Pointers, &[Side; 2], bool)) {
        let Self { loops: [outside, beside, along], tail, .. } = self;
        let (mut outer_at, mut adds) = (self.at, self.adds[0]);
        let has_tail = usize::from(tail[0].len > 0);
        for _ in 0..outside.len {
            let mut at = outer_at;
            for i in 0..beside.len + has_tail {
                let is_tail = i == beside.len;
                let mut sides = *tail;
                if is_tail {
                    at = outer_at;
                    advance(&mut at, &self.tail_offset, inputs);
                } else {
                    let len = if i + 1 == beside.len { self.last } else { along.len };
                    sides = [Side { len: PANEL, ..tail[0] }, Side { len, ..*along }];
                }
                then(&at, &sides, adds || is_tail && self.is_lane);
                advance(&mut at, &beside.strides, inputs);
            }
            adds = self.adds[1];
            advance(&mut outer_at, &outside.strides, inputs);
        }
    }

    /// Sums of rows: the steps of `along`, at each index of `row` and of `groups`.
    fn rows(at: Pointers, groups: Side, row: &Side, along: Side, moving: u8) -> Self {
        let (panels, by) = (row.len / PANEL, row.strides[0] * PANEL.cast_signed());
        let beside = Side::of(&row.strides, PANEL, panels, by);
        Self {
            at,
            last: along.len,
            moving,
            is_lane: false,
            adds: [false, true],
            tail_offset: beside.strides.map(|stride| stride * panels.cast_signed()),
            tail: [Side { len: row.len % PANEL, ..*row }, along],
            loops: [groups, beside, along],
        }
    }
}

/// The parts of a lane.
fn parts(len: usize) -> usize {
    (len / PANEL).div_ceil(ROUNDS).max(1)
}

/// The longest lane of which there are up to `sums` sums.
pub(crate) fn longest_lane(sums: usize) -> usize {
    (sums / PANEL).max(1) * PANEL * ROUNDS
}

/// How many sums there are of the loop at `place`, along which sums are made.
pub(crate) fn sums_along(place: usize, loops: usize, len: usize) -> usize {
    if place + 1 == loops { parts(len) * PANEL } else { 1 }
}

impl State {
    /// The place of the loop along which sums are made in registers, if there is one.
    pub(super) fn summed(&self) -> Option<usize> {
        let (inner, sizes) = (self.loops.last()?, self.sizes());
        let is_row = |k: usize| inner.strides[k] == 0 || inner.strides[k] == sizes[k].cast_signed();
        let least = if inner.kept { ROW } else { LANE };
        if inner.len < least || !self.has_row_along(inner) || !(1..sizes.len()).all(is_row) {
            return None;
        }
        self.loops.iter().rposition(|l| !l.kept)
    }

    /// The rows that are added in registers.
    fn rows_at_once(&self, size: usize, is_large: bool) -> usize {
        let is_long = self.loops.last().is_some_and(|inner| inner.len * size >= LONG_ROW);
        if is_large && is_long { 1 } else { ROWS }
    }

    /// The most rows whose sum is made at once.
    pub(crate) fn most_rows(&self, size: usize, is_large: bool) -> usize {
        GROUPS * self.rows_at_once(size, is_large)
    }

    /// Calls `then` with sums along the loop at `place`, at each index of the others, in order: at `out`, where there is room for
    /// `len` of `size` bytes.
    pub(super) fn for_each_sums(
        &mut self,
        place: usize,
        (out, len, size): (*mut u8, usize, usize),
        is_large: bool,
        then: &mut dyn FnMut(&Sums),
    ) {
        let (mut width, count) = (size, self.loops.len());
        for (i, l) in self.loops.iter_mut().enumerate().rev() {
            l.strides[0] = if i == place { 0 } else { width.cast_signed() };
            width *= if i == place { sums_along(place, count, l.len) } else { l.len };
        }
        ensure(width == len * size, "room for the sums");
        self.operands.at[0] = out;
        let (last, by) = (count - 1, size.cast_signed() * PANEL.cast_signed());
        let is_lane = place == last;
        self.loops[place..last].rotate_left(usize::from(!is_lane));
        let mut inner = Side { len: self.loops[last].len, strides: self.loops[last].strides };
        inner.strides[0] = size.cast_signed();
        let second = last.checked_sub(1).map_or(TRIVIAL, |place| self.loops[place]);
        let outer = &self.loops[..last.saturating_sub(1)];
        let moving =
            (1..self.operands.count).fold(0, |set, k| set | u8::from(inner.strides[k] != 0) << (k - 1));
        let at_once = self.rows_at_once(size, is_large);
        let (mut at, mut position) = (self.operands.at, [0; LOOPS]);
        loop {
            if is_lane {
                let (rounds, parts) = (inner.len / PANEL, parts(inner.len));
                let along = Side::of(&inner.strides, PANEL, ROUNDS, 0);
                then(&Sums {
                    at,
                    last: rounds - (parts - 1) * ROUNDS,
                    moving,
                    is_lane: true,
                    adds: [false; 2],
                    tail_offset: along.strides.map(|stride| stride * rounds.cast_signed()),
                    tail: [Side { len: inner.len % PANEL, ..inner }, Side::ONE],
                    loops: [
                        Side { len: second.len, strides: second.strides },
                        Side::of(&inner.strides, PANEL * ROUNDS, parts, by),
                        along,
                    ],
                });
            } else {
                let (mut at, mut done) = (at, 0);
                for (groups, rows) in [(second.len / at_once, at_once), (1, second.len % at_once)] {
                    if groups * rows > 0 {
                        let groups = Side::of(&second.strides, rows, groups, 0);
                        let along = Side::of(&second.strides, 1, rows, 0);
                        then(&Sums {
                            adds: [done > 0, true],
                            ..Sums::rows(at, groups, &inner, along, moving)
                        });
                    }
                    done += groups * rows;
                    for k in 1..self.operands.count {
                        at[k] = at[k].wrapping_offset(second.strides[k] * (groups * rows).cast_signed());
                    }
                }
            }
            let at = &mut at[..self.operands.count];
            if outer.is_empty() || !advance_tile(&mut position, outer, &[1; LOOPS], at) {
                return;
            }
        }
    }
}

const TRIVIAL: Loop = Loop { len: 1, kept: true, strides: [0; OPERANDS] };
