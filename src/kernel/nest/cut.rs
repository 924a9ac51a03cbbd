//! Nests cut into blocks and tiles. Compiled once for all types and closures.

#![forbid(unsafe_code)]

use super::panels::{LoopStrides, WIDE};
use super::{
    Access, ErasedNest, ErasedOperands, InputSet, Loop, Loops, ONE_BY_ONE, OPERANDS, Pointers, RawInputs,
    SMALL_NEST, Steps, steps,
};
use crate::kernel::ensure;
use crate::kernel::memory::List;
use core::iter::zip;

/// A block of a nest: up to two loops. The outer one goes from row to row, the inner one along a row.
pub(crate) struct Block<'n> {
    pub(super) at: &'n Pointers,
    pub(super) rows: usize,
    pub(super) row_strides: [isize; OPERANDS],
    pub(super) len: usize,
    pub(super) strides: [isize; OPERANDS],
    /// The inputs that move along a row, if there is a row loop for these: they and the output are contiguous.
    pub(super) moving: Option<InputSet>,
}

const NO_STRIDES: [isize; OPERANDS] = [0; OPERANDS];

impl ErasedNest {
    #[inline(always)]
    pub(crate) fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The bytes of an element of each operand.
    #[inline(always)]
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.operands.sizes[..self.operands.count]
    }

    /// Whether there is a row loop for the inputs that move along the innermost loop.
    #[inline(always)]
    pub(crate) fn has_row(&self) -> bool {
        self.loops.last().is_none_or(|inner| self.has_row_along(inner))
    }

    /// Whether the elements of input `k` are plain numbers.
    #[inline(always)]
    pub(crate) fn is_plain(&self, k: usize) -> bool {
        self.operands.plain.contains(k)
    }

    /// The first element of operand `k`.
    #[inline(always)]
    pub(crate) fn pointer(&self, k: usize) -> *const u8 {
        self.operands.at[k]
    }

    /// See [`moving_along_row`].
    #[inline]
    fn moving(&self, strides: &[isize; OPERANDS]) -> Option<InputSet> {
        let ErasedOperands { sizes, count, row_loops, .. } = &self.operands;
        moving_along_row(strides, sizes, *count, row_loops)
    }

    /// Calls `then` with blocks of the two innermost loops.
    pub(super) fn for_each_block(&self, then: &mut dyn FnMut(Block<'_>)) {
        let (outer, rows, row_strides, len, strides) = match &self.loops[..] {
            [] => (&[][..], 1, NO_STRIDES, 1, NO_STRIDES),
            [l] => (&[][..], 1, NO_STRIDES, l.len, l.strides),
            [outer @ .., r, l] => (outer, r.len, r.strides, l.len, l.strides),
        };
        let (mut at, moving) = (self.operands.at, self.moving(&strides));
        let mut position = Steps::filled(outer.len(), 0);
        loop {
            then(Block { at: &at, rows, row_strides, len, strides, moving });
            if outer.is_empty() || !advance_tile(&mut position, outer, None, &mut at[..self.operands.count]) {
                return;
            }
        }
    }

    /// The inputs to copy so that there is a row loop for the inner loops.
    pub(super) fn to_copy(&self) -> InputSet {
        let (sizes, row) = (self.sizes(), self.loops_of_row());
        let (mut copied, mut moving) = (InputSet::NONE, InputSet::NONE);
        for k in 1..sizes.len() {
            let stride = stride_of_row(row, k, sizes[k]);
            if stride != Some(0) {
                moving.insert(k);
                if stride != Some(sizes[k].cast_signed()) {
                    copied.insert(k);
                }
            }
        }
        // copies of inputs that stay move: they are made until there is a row loop
        for k in 1..sizes.len() {
            if self.has_row_of(moving) {
                break;
            }
            if !moving.contains(k) {
                copied.insert(k);
                moving.insert(k);
            }
        }
        copied
    }

    /// The nest as one block. `at` points to contiguous copies of the inputs in `copied`. The block is one row if the output is
    /// contiguous, otherwise a row for each step of the outer loop.
    ///
    /// # Panics
    /// If the inner loops are no row of the output or of an input that is not copied.
    pub(super) fn block_of_copies<'n>(&self, at: &'n Pointers, copied: InputSet) -> Block<'n> {
        let inner = self.loops_of_row();
        let outer = &self.loops[..self.loops.len() - inner.len()];
        let (rows, len) = (steps(outer), steps(inner));
        let (mut row_strides, mut strides) = (outer.first().map_or(NO_STRIDES, |l| l.strides), NO_STRIDES);
        for (k, &size) in self.sizes().iter().enumerate() {
            if k > 0 && copied.contains(k) {
                strides[k] = size.cast_signed();
                row_strides[k] = (size * len).cast_signed();
            } else {
                let stride = stride_of_row(inner, k, size);
                ensure(stride.is_some(), "the inner loops are no row");
                strides[k] = stride.unwrap_or(0);
            }
        }
        Block { at, rows, row_strides, len, strides, moving: self.moving(&strides) }
    }

    /// The loops of a row: all if the output is contiguous, otherwise all but the outermost one. Of two loops, a long inner one
    /// is a row of its own, for which fewer inputs are copied.
    fn loops_of_row(&self) -> &[Loop] {
        let loops = &self.loops[..];
        let is_row = match loops {
            [_, row] if row.len >= WIDE => false,
            _ => is_dense(loops, 0, self.operands.sizes[0]),
        };
        &loops[usize::from(loops.len() > 1 && !is_row)..]
    }
}

/// The parts of a nest, each of at most `tile[i]` steps of loop `i`, in order. A part has no loops of one step.
pub(super) struct Tiles<'t> {
    loops: Loops,
    operands: ErasedOperands,
    tile: &'t [usize],
    position: Steps,
    is_done: bool,
}

impl<'t> Tiles<'t> {
    #[inline]
    pub(super) fn of(nest: &ErasedNest, tile: &'t [usize]) -> Self {
        let (mut loops, mut operands) = (List::new(), nest.operands);
        loops.copy_from(&nest.loops);
        ensure(tile.len() == loops.len(), "not one number of steps for each loop");
        let is_cut = |(l, &tile): (&Loop, &usize)| !l.kept && tile < l.len;
        if operands.access == Access::Distinct && zip(&*loops, tile).any(is_cut) {
            operands.access = Access::Repeated;
        }
        Self { loops, operands, tile, position: Steps::filled(tile.len(), 0), is_done: false }
    }

    /// Sets `nest` to the next part. Returns `false` if there is none.
    pub(super) fn next(&mut self, nest: &mut ErasedNest) -> bool {
        if self.is_done {
            return false;
        }
        nest.operands = self.operands;
        nest.loops.truncate(0);
        for (i, l) in self.loops.iter().enumerate() {
            let len = self.tile[i].max(1).min(l.len - self.position[i]);
            if len > 1 {
                nest.loops.push(Loop { len, ..*l });
            }
        }
        let at = &mut self.operands.at[..self.operands.count];
        self.is_done = !advance_tile(&mut self.position, &self.loops, Some(self.tile), at);
        true
    }
}

impl Block<'_> {
    /// The loop over rows, and the loop along a row.
    pub(super) fn loops(&self) -> [LoopStrides; 2] {
        [
            LoopStrides { len: self.rows, strides: self.row_strides },
            LoopStrides { len: self.len, strides: self.strides },
        ]
    }

    /// [`for_each`](Self::for_each), compiled once.
    pub(super) fn for_each_at(&self, inputs: usize, then: &mut dyn FnMut(&Pointers)) {
        self.for_each(inputs, then);
    }

    /// Calls `then` with the pointers of the output and of the first `inputs` inputs at each index.
    #[inline(always)]
    pub(super) fn for_each(&self, inputs: usize, mut then: impl FnMut(&Pointers)) {
        let mut row_at = *self.at;
        for _ in 0..self.rows {
            let mut at = row_at;
            for _ in 0..self.len {
                then(&at);
                advance(&mut at, &self.strides, inputs);
            }
            advance(&mut row_at, &self.row_strides, inputs);
        }
    }
}

/// Calls `then` with one block, made from shapes and strides without a nest, if `shape` has up to two axes and few elements. The
/// output has this shape; without strides it is in standard layout. Returns the number of elements, or `None` if a nest is
/// needed.
///
/// # Panics
/// If an input does not fit the shape.
#[inline]
pub(super) fn small_block(
    shape: &[usize],
    (out, size, out_strides): (*mut u8, usize, Option<&[isize]>),
    inputs: &RawInputs<'_>,
    then: &mut dyn FnMut(Block<'_>),
) -> Option<usize> {
    let (mut rows, mut len) = match *shape {
        [] => (1, 1),
        [len] => (1, len),
        [rows, len] => (rows, len),
        _ => return None,
    };
    let (total, info) = (rows.checked_mul(len)?, inputs.info);
    if total > SMALL_NEST || total == 0 {
        return (total == 0).then_some(0);
    }
    let (mut at, mut sizes) = ([out; OPERANDS], info.sizes);
    sizes[0] = size;
    let in_bytes = |stride: isize, k: usize| stride.wrapping_mul(sizes[k].cast_signed());
    let (mut strides, mut row_strides) = (NO_STRIDES, NO_STRIDES);
    (row_strides[0], strides[0]) = match out_strides {
        None => (in_bytes(len.cast_signed(), 0), in_bytes(1, 0)),
        Some(&[down, along]) => (in_bytes(down, 0), in_bytes(along, 0)),
        Some(&[along]) => (0, in_bytes(along, 0)),
        Some(_) => (0, 0),
    };
    for k in 1..=info.count {
        let (own, steps) = (inputs.sizes[k - 1], inputs.strides[k - 1]);
        at[k] = inputs.at[k - 1].cast_mut();
        ensure(own.len() <= shape.len(), "an input has more axes than the shape");
        for (place, (&size, &stride)) in zip(own, steps).rev().enumerate() {
            let (of_shape, to) = if place == 0 { (len, &mut strides) } else { (rows, &mut row_strides) };
            ensure(size == of_shape || size == 1, "an axis of an input does not fit the shape");
            if size == of_shape {
                to[k] = in_bytes(stride, k);
            }
        }
    }
    if len == 1 || rows > 1 && strides[0] != in_bytes(1, 0) && row_strides[0] == in_bytes(1, 0) {
        core::mem::swap(&mut rows, &mut len);
        core::mem::swap(&mut strides, &mut row_strides);
    }
    if rows > 1 && (0..=info.count).all(|k| row_strides[k] == strides[k].wrapping_mul(len.cast_signed())) {
        (rows, len) = (1, total);
    }
    let moving = moving_along_row(&strides, &sizes, info.count + 1, info.row_loops);
    if total > ONE_BY_ONE && (len < 4 || moving.is_none()) {
        return None;
    }
    then(Block { at: &at, rows, row_strides, len, strides, moving });
    Some(total)
}

/// The inputs that move along a row, if they and the output are contiguous and there is a row loop for them.
#[inline]
fn moving_along_row(
    strides: &[isize; OPERANDS],
    sizes: &[usize; OPERANDS],
    count: usize,
    row_loops: &[InputSet],
) -> Option<InputSet> {
    let (mut moving, mut is_contiguous) = (InputSet::NONE, strides[0] == sizes[0].cast_signed());
    for k in 1..count {
        if strides[k] != 0 {
            moving.insert(k);
            is_contiguous &= strides[k] == sizes[k].cast_signed();
        }
    }
    (is_contiguous && row_loops.contains(&moving)).then_some(moving)
}

/// Moves the pointers of the output and of the first `inputs` inputs.
#[inline(always)]
pub(super) fn advance(at: &mut Pointers, strides: &[isize; OPERANDS], inputs: usize) {
    for k in 0..=inputs {
        at[k] = at[k].wrapping_offset(strides[k]);
    }
}

/// Moves pointers and the position to the next tile: of at most `tile[i]` steps of loop `i`, or of one step without a tile.
/// `position[i]` is the number of steps of loop `i` before the tile. Returns `false` if there is none.
#[inline]
pub(super) fn advance_tile(
    position: &mut [usize],
    loops: &[Loop],
    tile: Option<&[usize]>,
    at: &mut [*mut u8],
) -> bool {
    for (i, l) in loops.iter().enumerate().rev() {
        let (before, tile) = (position[i], tile.map_or(1, |tile| tile[i].max(1)));
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

/// The stride of operand `k` along the loops as one row, if it has one.
#[inline]
pub(crate) fn stride_of_row(loops: &[Loop], k: usize, size: usize) -> Option<isize> {
    match loops {
        [] => Some(0),
        [l] => Some(l.strides[k]),
        _ if is_dense(loops, k, size) => Some(size.cast_signed()),
        _ => loops.iter().all(|l| l.strides[k] == 0).then_some(0),
    }
}

/// Whether the elements of operand `k` are contiguous in the order of the loops.
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
