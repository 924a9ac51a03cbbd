//! Nests cut into blocks and tiles. Compiled once for all types and closures.

#![forbid(unsafe_code)]

use super::erased::ErasedNest;
use super::loops::{
    ElementInfo, InputSet, Loop, Loops, NARROW, ONE_BY_ONE, OPERANDS, Pointers, ROUNDS, SMALL_NEST, indices,
    scaled, sort_by,
};
use super::operands::{Dropped, RawInputs, RawOutput};
use crate::kernel::memory::CACHE_LINE;
use core::cmp::Reverse;

/// A block: rows of elements. Its loops are parts of a nest, or of shapes with few elements.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(super) at: Pointers,
    /// The loop from row to row.
    pub(super) rows: Loop,
    /// The loop along a row.
    pub(super) row: Loop,
    /// Loops along which elements are combined to one output, the outer one first. Only blocks of reductions have them.
    pub(super) rounds: Loop,
    pub(super) steps: Loop,
    /// Whether the results are added to the outputs.
    pub(super) is_added: bool,
    /// The inputs that move along a row, if there is a row loop for these: they and the output are contiguous.
    pub(super) moving: Option<InputSet>,
}

impl ErasedNest {
    /// A block of the two innermost loops, and the loops outside.
    pub(super) fn block(&self) -> (Block, &[Loop]) {
        let (mut block, mut outer) = (Block::new(self.operands.at), &self.loops[..]);
        for l in [&mut block.row, &mut block.rows] {
            if let Some((inner, others)) = outer.split_last() {
                (*l, outer) = (*inner, others);
            }
        }
        block.set_moving(&self.operands.sizes, self.operands.info);
        (block, outer)
    }

    /// Calls `then` with blocks of the two innermost loops.
    pub(super) fn for_each_block(&self, then: &mut dyn FnMut(&Block)) {
        let (mut block, outer) = self.block();
        block.for_each_along(outer, &self.operands.at, then);
    }

    /// Cuts the nest into tiles of at most `tile[i]` steps of loop `i`. Calls `then` with the first one of those with the same
    /// loops, and with the loops from one to the next. A tile has no loops of one step.
    pub(super) fn for_each_tile(&mut self, tile: &[usize], then: &mut dyn FnMut(&mut ErasedNest, &Loops)) {
        self.cut_from(0, tile, &mut ErasedNest::new(), &mut Loops::new(), then);
    }

    /// [`for_each_tile`](Self::for_each_tile) of a nest whose loops outside of the one at `place` are cut, with the loops between
    /// `tiles`. The first tile is made in `scratch`.
    fn cut_from(
        &mut self,
        place: usize,
        tile: &[usize],
        scratch: &mut ErasedNest,
        tiles: &mut Loops,
        then: &mut dyn FnMut(&mut ErasedNest, &Loops),
    ) {
        let Some(&whole) = self.loops.get(place) else {
            scratch.copy_from(self);
            scratch.loops.retain(|l| l.len > 1);
            return then(scratch, tiles);
        };
        let (at, outside, steps) = (self.operands.at, tiles.len(), tile[place].clamp(1, whole.len));
        let (full, rest) = (whole.len / steps, whole.len % steps);
        for (len, count, first) in [(steps, full, 0), (rest, 1, whole.len - rest)] {
            if len > 0 {
                self.operands.at = whole.moved(&at, [first; 2]);
                self.loops[place].len = len;
                tiles.push(Loop { len: count, strides: scaled(&whole.strides, len), ..whole });
                self.cut_from(place + 1, tile, scratch, tiles, then);
                tiles.truncate(outside);
            }
        }
        (self.operands.at, self.loops[place]) = (at, whole);
    }
}

impl Block {
    /// A block of one element.
    #[inline(always)]
    pub(super) fn new(at: Pointers) -> Self {
        const ONE: Loop = Loop::ONE_STEP;
        Self { at, rows: ONE, row: ONE, rounds: ONE, steps: ONE, is_added: false, moving: None }
    }

    /// Calls `then` with the block moved to each index of the loops outside.
    pub(super) fn for_each_along(&mut self, outer: &[Loop], first: &Pointers, then: &mut dyn FnMut(&Block)) {
        for_each_index(outer, first, &mut |at| {
            self.at = *at;
            then(self);
        });
    }

    /// The same of few elements: from the second step of a reduced loop on, results are added.
    pub(super) fn for_each_further(&mut self, outer: &[Loop], then: &mut dyn FnMut(&Block)) {
        let Some((outer, inner)) = outer.split_first() else { return then(self) };
        let first = self.at;
        for _ in 0..outer.len {
            self.for_each_further(inner, then);
            advance(&mut self.at, &outer.strides, OPERANDS - 1);
            self.is_added |= !outer.kept;
        }
        self.at = first;
    }

    /// The number of outputs.
    #[inline(always)]
    pub(super) fn outputs(&self) -> usize {
        self.rows.len * self.row.len
    }

    /// Calls `then` with the pointers of the output and of the first `inputs` inputs at each index of the rows, from `first` on.
    #[inline(always)]
    pub(super) fn for_each(&self, first: &Pointers, inputs: usize, mut then: impl FnMut(&Pointers)) {
        let mut row_at = *first;
        for _ in 0..self.rows.len {
            let mut at = row_at;
            for _ in 0..self.row.len {
                then(&at);
                advance(&mut at, &self.row.strides, inputs);
            }
            advance(&mut row_at, &self.rows.strides, inputs);
        }
    }

    /// Makes a block of one element the block of all elements of `shape`, straight from shapes and strides, if these elements are
    /// few: rows, or at most `most` elements, at each index of the `further` loops, which it adds. The other arguments are those
    /// of [`ErasedNest::build`]. Returns the number of outputs, or `None` if a nest is needed.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    pub(super) fn set_small(
        &mut self,
        shape: &[usize],
        out: &RawOutput<'_>,
        dropped: Dropped<'_>,
        inputs: &RawInputs<'_>,
        most: usize,
        further: &mut Loops,
    ) -> Option<usize> {
        let (info, count, most_of_lane) = (inputs.info, inputs.info.count + 1, most.min(4 * ONE_BY_ONE));
        let total = shape.iter().fold(1, |len: usize, &size| len.saturating_mul(size));
        if total == 0 || total > SMALL_NEST {
            return (total == 0).then_some(0);
        }
        let fits = out.for_each_axis(shape, dropped, inputs, |axis, stride| {
            self.add_axis(shape, axis, stride, inputs, total <= most_of_lane, further)
        });
        if !fits {
            return None;
        }
        let size = out.size.cast_signed();
        let kept = further.iter().filter(|l| l.kept).map(|l| l.len);
        let outputs = kept.fold(self.outputs(), |outputs, len| outputs * len);
        if outputs > self.outputs() {
            self.choose_rows(further);
        }
        if indices(further) > ONE_BY_ONE / 2 {
            return None;
        }
        if self.rows.len > 1 && self.row.strides[0] != size && self.rows.strides[0] == size {
            core::mem::swap(&mut self.rows, &mut self.row);
            self.rows.merge(&mut self.row, count);
        }
        // one by one, the fewest elements are combined sooner
        let is_few = total <= ONE_BY_ONE && self.steps.len > 1;
        if self.row.len >= NARROW && self.row.strides[0] == size && !is_few {
            self.set_moving(&info.sizes, info);
        }
        // few steps or rows: the error of a sum is small
        let are_few = total <= most && total / outputs <= most_of_lane;
        let are_rows = self.moving.is_some() && self.rounds.len == 1 && self.steps.len <= 2 * ROUNDS;
        (are_few || are_rows).then_some(outputs)
    }

    /// Of all kept loops, chooses those of rows: that with the smallest stride of the output, and the longest one of the others.
    fn choose_rows(&mut self, further: &mut Loops) {
        further.push(Loop { kept: true, ..self.rows });
        further.push(Loop { kept: true, ..self.row });
        sort_by_output(further);
        let last = further.len() - 1;
        let kept = (0..last).filter(|&place| further[place].kept);
        let longest = kept.max_by_key(|&place| further[place].len).unwrap_or(last);
        (self.row, self.rows) = (further[last], further[longest]);
        further.swap(longest, last - 1);
        further.truncate(last - 1);
    }

    /// Adds an axis of a shape, along which the output has this stride or is reduced, to the loops inside, or as a third loop to
    /// `further`. Returns `false` if elements are many and a lane is long, so that panels read it in place.
    #[inline(always)]
    fn add_axis(
        &mut self,
        shape: &[usize],
        axis: usize,
        stride: Option<isize>,
        inputs: &RawInputs<'_>,
        may_be_lane: bool,
        further: &mut Loops,
    ) -> bool {
        let (info, len) = (inputs.info, shape[axis]);
        let [inner, outer] = match stride {
            Some(_) => [&mut self.row, &mut self.rows],
            None => [&mut self.steps, &mut self.rounds],
        };
        if len > 1 && inner.len > 1 && outer.len > 1 {
            let mut third = Loop { len, kept: stride.is_some(), strides: [0; OPERANDS] };
            third.strides[0] = stride.unwrap_or(0);
            inputs.add_strides(shape, axis, &mut third.strides);
            third.merge(outer, info.count + 1);
            if third.len > 1 {
                further.push(third);
            }
            return true;
        }
        let l = if inner.len == 1 { &mut *inner } else { &mut *outer };
        if len > 1 {
            (l.len, l.strides[0]) = (len, stride.unwrap_or(0));
        }
        inputs.add_strides(shape, axis, &mut l.strides);
        let is_long = len >= (2 * NARROW).max(CACHE_LINE / info.sizes[1].max(1));
        let is_lane = stride.is_none() && is_long && l.gaps(&info.sizes, info.count) == InputSet::NONE;
        outer.merge(inner, info.count + 1);
        may_be_lane || !is_lane
    }

    /// Finds the inputs that move along a row. The output has size 0 where it is not known yet.
    #[inline]
    fn set_moving(&mut self, sizes: &[usize; OPERANDS], info: &ElementInfo) {
        let (strides, mut moving) = (&self.row.strides, InputSet::NONE);
        let mut is_contiguous = sizes[0] == 0 || strides[0] == sizes[0].cast_signed();
        for k in (1..=info.count).filter(|&k| strides[k] != 0) {
            moving.insert(k);
            is_contiguous &= strides[k] == sizes[k].cast_signed();
        }
        self.moving = (is_contiguous && info.has_row(moving)).then_some(moving);
    }
}

impl Loop {
    /// Merges this loop into `inner`, if it continues it in the first `count` operands.
    #[inline]
    pub(super) fn merge(&mut self, inner: &mut Self, count: usize) {
        if self.len > 1 && self.continues(inner, count) {
            inner.len *= self.len;
            *self = Self::ONE_STEP;
        }
    }
}

/// Sorts loops by the strides of the output, with the largest outermost, and reduced ones outside.
pub(super) fn sort_by_output(loops: &mut [Loop]) {
    sort_by(loops, |l| (l.kept, Reverse(l.strides[0].unsigned_abs())));
}

/// Moves the pointers of the output and of the first `inputs` inputs.
#[inline(always)]
pub(super) fn advance(at: &mut Pointers, strides: &[isize; OPERANDS], inputs: usize) {
    for k in 0..=inputs {
        at[k] = at[k].wrapping_offset(strides[k]);
    }
}

/// Calls `then` with the pointers at each index of the loops, in order.
pub(super) fn for_each_index(loops: &[Loop], at: &Pointers, then: &mut dyn FnMut(&Pointers)) {
    let Some((outer, inner)) = loops.split_first() else { return then(at) };
    let mut at = *at;
    for _ in 0..outer.len {
        for_each_index(inner, &at, then);
        advance(&mut at, &outer.strides, OPERANDS - 1);
    }
}
