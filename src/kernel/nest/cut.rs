//! Nests cut into blocks and tiles. Compiled once for all types and closures.

#![forbid(unsafe_code)]

use super::arrange::RawOutput;
use super::panels::{LoopStrides, NARROW, ONE_STEP, Panels, WIDE};
use super::{
    Dropped, ErasedNest, ErasedOperands, InputSet, Loop, Loops, ONE_BY_ONE, OPERANDS, Pointers, RawInputs,
    SMALL_NEST, Steps,
};
use crate::kernel::ensure;
use crate::kernel::memory::{Gather, List};
use core::iter::zip;

/// A block: rows of elements. Its loops are parts of a nest, or of shapes with few elements.
pub(crate) struct Block {
    pub(super) at: Pointers,
    /// The loop from row to row.
    pub(super) rows: LoopStrides,
    /// The loop along a row.
    pub(super) row: LoopStrides,
    /// Loops along which elements are combined to one output, the outer one first. Only blocks of reductions have them.
    pub(super) rounds: LoopStrides,
    pub(super) steps: LoopStrides,
    /// The inputs that move along a row, if there is a row loop for these: they and the output are contiguous.
    pub(super) moving: Option<InputSet>,
}

impl ErasedNest {
    #[inline(always)]
    pub(crate) fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// Whether the nest gives access to outputs.
    #[inline(always)]
    pub(crate) fn has_output(&self) -> bool {
        self.operands.has_output
    }

    /// Whether the nest gives access to an output of its own at each index.
    pub(super) fn has_distinct_outputs(&self) -> bool {
        self.has_output() && self.loops.iter().all(|l| l.kept)
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

    /// What copies the elements of input `k`, if they are plain numbers.
    pub(crate) fn gather(&self, k: usize) -> Gather {
        self.operands.info.gathers[k]
    }

    /// The first element of operand `k`.
    #[inline(always)]
    pub(crate) fn pointer(&self, k: usize) -> *const u8 {
        self.operands.at[k]
    }

    /// Calls `then` with blocks of the two innermost loops.
    pub(super) fn for_each_block(&self, then: &mut dyn FnMut(&Block)) {
        let (mut block, mut outer) = (Block::new(self.operands.at), &self.loops[..]);
        for l in [&mut block.row, &mut block.rows] {
            if let Some((inner, others)) = outer.split_last() {
                (*l, outer) = (inner.len_and_strides(), others);
            }
        }
        block.set_moving(&self.operands.sizes, self.operands.count, self.operands.info.row_loops);
        let mut position = Steps::filled(outer.len(), 0);
        loop {
            then(&block);
            let at = &mut block.at[..self.operands.count];
            if outer.is_empty() || !advance_tile(&mut position, outer, None, at) {
                return;
            }
        }
    }

    /// The inputs to copy so that there is a row loop for the inner loops.
    pub(super) fn to_copy(&self) -> InputSet {
        let (sizes, row, last) = (self.sizes(), self.loops_of_row(), self.operands.count - 1);
        let strides = |k: usize| stride_of_row(row, k, sizes[k]);
        let mut moving = InputSet::of(last, |k| strides(k) != Some(0));
        let mut copied =
            InputSet::of(last, |k| moving.contains(k) && strides(k) != Some(sizes[k].cast_signed()));
        // copies of inputs that stay move: they are made until there is a row loop
        for k in 1..=last {
            if !moving.contains(k) && !self.has_row_of(moving) {
                copied.insert(k);
                moving.insert(k);
            }
        }
        copied
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
        let mut loops = List::new();
        loops.copy_from(&nest.loops);
        ensure(tile.len() == loops.len(), "not one number of steps for each loop");
        Self { loops, operands: nest.operands, tile, position: Steps::filled(tile.len(), 0), is_done: false }
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

impl Block {
    /// A block of one element.
    #[inline(always)]
    pub(super) fn new(at: Pointers) -> Self {
        Self { at, rows: ONE_STEP, row: ONE_STEP, rounds: ONE_STEP, steps: ONE_STEP, moving: None }
    }

    /// The number of outputs.
    #[inline(always)]
    pub(super) fn outputs(&self) -> usize {
        self.rows.len * self.row.len
    }

    /// Calls `then` with the pointers of the output and of the first `inputs` inputs at each index of the rows.
    #[inline(always)]
    pub(super) fn for_each(&self, inputs: usize, mut then: impl FnMut(&Pointers)) {
        let mut row_at = self.at;
        for _ in 0..self.rows.len {
            let mut at = row_at;
            for _ in 0..self.row.len {
                then(&at);
                advance(&mut at, &self.row.strides, inputs);
            }
            advance(&mut row_at, &self.rows.strides, inputs);
        }
    }

    /// Calls `then` with the outputs as neighbours that are visited one by one, at each step of the outer reduced loop.
    pub(super) fn for_each_round(&self, inputs: usize, then: &mut dyn FnMut(&Pointers, &Panels<'_>)) {
        let mut at = self.at;
        for round in 0..self.rounds.len {
            let panels = Panels {
                count: self.rows.len,
                panel_strides: &self.rows.strides,
                width: self.row.len,
                neighbours: &self.row.strides,
                moving: InputSet::NONE,
                steps: self.steps.len,
                step_strides: &self.steps.strides,
                is_added: round > 0,
                overlap: 0,
            };
            then(&at, &panels);
            advance(&mut at, &self.rounds.strides, inputs);
        }
    }

    /// Makes a block of one element the block of all elements of `shape`, straight from shapes and strides, if these elements are
    /// few. The arguments are those of [`ErasedNest::build`]. Returns the number of outputs, or `None` if a nest is needed.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    pub(super) fn set_small(
        &mut self,
        shape: &[usize],
        out: &RawOutput<'_>,
        dropped: Dropped<'_>,
        inputs: &RawInputs<'_>,
    ) -> Option<usize> {
        let info = inputs.info;
        let product = |sizes: &[usize]| sizes.iter().fold(1, |len: usize, &size| len.saturating_mul(size));
        let (total, outputs) = (product(shape), product(out.axes.sizes));
        if total == 0 || total > if total > outputs { ONE_BY_ONE } else { SMALL_NEST } {
            return (total == 0).then_some(0);
        }
        let are_few = out.for_each_axis(shape, dropped, inputs, |axis, stride| {
            let [inner, outer] = match stride {
                Some(_) => [&mut self.row, &mut self.rows],
                None => [&mut self.steps, &mut self.rounds],
            };
            let l = if inner.len == 1 { &mut *inner } else { &mut *outer };
            if shape[axis] > 1 {
                if l.len > 1 {
                    return false;
                }
                (l.len, l.strides[0]) = (shape[axis], stride.unwrap_or(0));
            }
            inputs.add_strides(shape, axis, &mut l.strides);
            outer.merge(inner, info.count);
            true
        });
        if !are_few {
            return None;
        }
        let size = out.size.cast_signed();
        if self.rows.len > 1 && self.row.strides[0] != size && self.rows.strides[0] == size {
            core::mem::swap(&mut self.rows, &mut self.row);
            self.rows.merge(&mut self.row, info.count);
        }
        if self.row.len >= NARROW && self.row.strides[0] == size {
            self.set_moving(&info.sizes, info.count + 1, info.row_loops);
        }
        (total <= ONE_BY_ONE || self.moving.is_some()).then(|| self.outputs())
    }

    /// Finds the inputs that move along a row. The output has size 0 where it is not known yet.
    #[inline]
    fn set_moving(&mut self, sizes: &[usize; OPERANDS], count: usize, row_loops: &[InputSet]) {
        let (strides, mut moving) = (&self.row.strides, InputSet::NONE);
        let mut is_contiguous = sizes[0] == 0 || strides[0] == sizes[0].cast_signed();
        for k in (1..count).filter(|&k| strides[k] != 0) {
            moving.insert(k);
            is_contiguous &= strides[k] == sizes[k].cast_signed();
        }
        self.moving = (is_contiguous && row_loops.contains(&moving)).then_some(moving);
    }
}

impl LoopStrides {
    /// Merges this loop into `inner`, if it continues it in the output and the first `inputs` inputs.
    #[inline]
    fn merge(&mut self, inner: &mut Self, inputs: usize) {
        let continues = |k: usize| self.strides[k] == inner.strides[k].wrapping_mul(inner.len.cast_signed());
        if self.len > 1 && (0..=inputs).all(continues) {
            inner.len *= self.len;
            *self = ONE_STEP;
        }
    }
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
