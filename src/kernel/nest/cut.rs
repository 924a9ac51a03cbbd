//! Handles of nests whose types are not known, and how they are cut: compiled once for all types and closures.

#![forbid(unsafe_code)]

use super::{Access, LOOPS, Loop, OPERANDS, Pointers, State, steps};
use crate::kernel::ensure;
use crate::kernel::memory::{Copies, List};
use core::iter::zip;
use core::marker::PhantomData;

pub(super) type Brand<'b> = PhantomData<fn(&'b ()) -> &'b ()>;

/// A nest whose types are not known.
pub(crate) struct Raw<'n, 'b> {
    pub(super) state: &'n mut State,
    brand: Brand<'b>,
}

/// Up to two loops whose rows a closure visits: rows, and a row.
pub(crate) struct Block<'n, 'b> {
    pub(super) at: &'n Pointers,
    pub(super) rows: usize,
    pub(super) row_strides: &'n [isize; OPERANDS],
    pub(super) len: usize,
    pub(super) strides: &'n [isize; OPERANDS],
    pub(super) access: Access,
    pub(super) brand: Brand<'b>,
}

static STAY: [isize; OPERANDS] = [0; OPERANDS];

impl<'n, 'b> Raw<'n, 'b> {
    #[inline(always)]
    pub(super) fn of(state: &'n mut State) -> Self {
        Self { state, brand: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn loops(&self) -> &[Loop] {
        &self.state.loops
    }

    /// The bytes of an element of each operand.
    #[inline(always)]
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.state.operands.sizes[..self.state.operands.count]
    }

    /// Whether there is a row loop for the inputs that move along the innermost loop.
    #[inline(always)]
    pub(crate) fn has_row(&self) -> bool {
        self.state.loops.last().is_none_or(|inner| self.state.has_row_along(inner))
    }

    /// See [`State::has_row_of`].
    #[inline(always)]
    pub(crate) fn has_row_of(&self, moving: u8) -> bool {
        self.state.has_row_of(moving)
    }

    /// Whether the elements of operand `k` are plain numbers.
    #[inline(always)]
    pub(crate) fn is_plain(&self, k: usize) -> bool {
        self.state.operands.plain >> k & 1 == 1
    }

    /// The first element of operand `k`.
    #[inline(always)]
    pub(crate) fn pointer(&self, k: usize) -> *const u8 {
        self.state.operands.at[k]
    }

    /// A copy of the nest, for its inputs alone.
    pub(crate) fn inputs<'m>(&self, room: &'m mut State) -> Raw<'m, 'b> {
        Raw::of(self.state.inputs(room))
    }

    /// Calls `then` with blocks of the two innermost loops.
    pub(crate) fn for_each_block(self, then: &mut dyn FnMut(Block<'_, 'b>)) {
        let (access, operands) = (self.state.access(), &self.state.operands);
        let (outer, rows, row_strides, len, strides) = match &self.state.loops[..] {
            [] => (&[][..], 1, &STAY, 1, &STAY),
            [l] => (&[][..], 1, &STAY, l.len, &l.strides),
            [outer @ .., r, l] => (outer, r.len, &r.strides, l.len, &l.strides),
        };
        let mut at = operands.at;
        if outer.is_empty() {
            return then(Block { at: &at, rows, row_strides, len, strides, access, brand: PhantomData });
        }
        let mut position = [0; LOOPS];
        loop {
            then(Block { at: &at, rows, row_strides, len, strides, access, brand: PhantomData });
            if !advance_tile(&mut position, outer, &[1; LOOPS], &mut at[..operands.count]) {
                return;
            }
        }
    }

    /// Calls `then` with parts of up to `tile[i]` steps of loop `i`, in order. A part has no loops of one step.
    pub(crate) fn for_each_tile(self, tile: &[usize], then: &mut dyn FnMut(Raw<'_, 'b>)) {
        let (mut loops, mut operands) = (List::<Loop, LOOPS>::new(), self.state.operands);
        loops.copy_from(&self.state.loops);
        ensure(tile.len() == loops.len(), "a number of steps for each loop");
        if operands.access == Access::Distinct && zip(&*loops, tile).any(|(l, &tile)| !l.kept && tile < l.len)
        {
            operands.access = Access::Repeated;
        }
        let mut position = [0; LOOPS];
        loop {
            self.state.operands = operands;
            self.state.loops.truncate(0);
            for (i, l) in loops.iter().enumerate() {
                let len = tile[i].max(1).min(l.len - position[i]);
                if len > 1 {
                    self.state.loops.push(Loop { len, ..*l });
                }
            }
            then(Raw::of(self.state));
            if !advance_tile(&mut position, &loops, tile, &mut operands.at[..operands.count]) {
                return;
            }
        }
    }

    /// Calls `then` with the nest as one block, for which the inputs in `copied` are copied to where their elements are
    /// adjacent; a copy of the same elements is not made again. The block is one row if the output has no gaps, else a row
    /// for each step of the outer loop: see [`row_loops`](Self::row_loops).
    ///
    /// # Panics
    /// If an input in `copied` does not consist of plain numbers or does not fit, or if the inner loops are no row of the
    /// output or of another input.
    pub(crate) fn with_copies(
        self,
        copies: &mut Copies<'b>,
        copied: u8,
        then: &mut dyn FnMut(Block<'_, 'b>),
    ) {
        let inner = self.row_loops();
        let outer = &self.loops()[..self.loops().len() - inner.len()];
        let (rows, len) = (steps(outer), steps(inner));
        let mut row_strides = outer.first().map_or(STAY, |l| l.strides);
        let (mut at, mut strides, mut places) = (self.state.operands.at, STAY, [0; OPERANDS]);
        for (k, &size) in self.sizes().iter().enumerate() {
            if copied >> k & 1 == 1 {
                places[k] = copies.of(&self, k);
                strides[k] = size.cast_signed();
                row_strides[k] = (size * len).cast_signed();
            } else {
                let stride = stride_of_row(inner, k, size);
                ensure(stride.is_some(), "inner loops that are a row");
                strides[k] = stride.unwrap_or(0);
            }
        }
        let room = copies.room();
        for k in 1..self.sizes().len() {
            if copied >> k & 1 == 1 {
                at[k] = room.wrapping_add(places[k]);
            }
        }
        let (row_strides, strides, access) = (&row_strides, &strides, self.state.access());
        then(Block { at: &at, rows, row_strides, len, strides, access, brand: PhantomData });
    }

    /// The loops that are one row: all if the output has no gaps, else all but the outermost one.
    pub(crate) fn row_loops(&self) -> &[Loop] {
        let loops = self.loops();
        &loops[usize::from(loops.len() > 1 && !is_dense(loops, 0, self.sizes()[0]))..]
    }
}

impl Block<'_, '_> {
    /// Calls `then` with the pointers of the output and of `inputs` inputs at each index.
    #[inline(always)]
    pub(super) fn for_each(&self, inputs: usize, mut then: impl FnMut(&Pointers)) {
        let mut row_at = *self.at;
        for _ in 0..self.rows {
            let mut at = row_at;
            for _ in 0..self.len {
                then(&at);
                advance(&mut at, self.strides, inputs);
            }
            advance(&mut row_at, self.row_strides, inputs);
        }
    }
}

/// Moves the pointers of the output and of `inputs` inputs.
#[inline(always)]
pub(super) fn advance(at: &mut Pointers, strides: &[isize; OPERANDS], inputs: usize) {
    for k in 0..=inputs {
        at[k] = at[k].wrapping_offset(strides[k]);
    }
}

/// Moves pointers to the next tile of up to `tile[i]` steps of loop `i`, of which `position[i]` are before it. Returns whether
/// there is one.
#[inline]
fn advance_tile(position: &mut [usize; LOOPS], loops: &[Loop], tile: &[usize], at: &mut [*mut u8]) -> bool {
    for (i, l) in loops.iter().enumerate().rev() {
        let (before, tile) = (position[i], tile[i].max(1));
        position[i] = if l.len - before > tile { before + tile } else { 0 };
        let steps = position[i].cast_signed() - before.cast_signed();
        for (at, stride) in zip(&mut *at, &l.strides) {
            *at = at.wrapping_offset(stride * steps);
        }
        if position[i] > 0 {
            return true;
        }
    }
    false
}

/// The bytes between neighbours of operand `k` along the loops, if it is evenly spaced in their order.
#[inline]
pub(crate) fn stride_of_row(loops: &[Loop], k: usize, size: usize) -> Option<isize> {
    match loops {
        [] => Some(0),
        [l] => Some(l.strides[k]),
        _ if is_dense(loops, k, size) => Some(size.cast_signed()),
        _ => loops.iter().all(|l| l.strides[k] == 0).then_some(0),
    }
}

/// Whether the elements of operand `k` are adjacent in the order of the loops.
#[inline]
pub(crate) fn is_dense(loops: &[Loop], k: usize, size: usize) -> bool {
    let mut width = size.cast_signed();
    for l in loops.iter().rev() {
        if l.strides[k] != width {
            return false;
        }
        width *= l.len.cast_signed();
    }
    true
}
