//! Loops made from axes, and other loops made from these. Pointers are moved here, never followed.

#![forbid(unsafe_code)]

use super::erased::ErasedNest;
use super::loops::{ElementInfo, InputSet, Loop, MAX_ROWS, NARROW, OPERANDS, WIDE};
use super::operands::{Dropped, RawInputs, RawOutput};
use crate::kernel::ensure;

impl ErasedNest {
    /// Makes a nest along the axes of `shape`. An input has its last axes, each with the same size or with size 1, along which
    /// the input stays. `out` has its axes that are not `dropped`, in order, each with the same size or with size 1. Without a
    /// set of dropped axes, `out` lacks the leading ones. Returns `None` if there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    pub(super) fn build(
        &mut self,
        shape: &[usize],
        out: RawOutput<'_>,
        dropped: Dropped<'_>,
        inputs: &RawInputs<'_>,
    ) -> Option<()> {
        let (operands, info) = (&mut self.operands, inputs.info);
        (operands.count, operands.info, operands.has_output) = (info.count + 1, info, true);
        (operands.plain, operands.sizes) = ((info.plain)(), info.sizes);
        (operands.at, operands.sizes[0]) = (inputs.pointers(out.at), out.size);
        self.loops.truncate(0);
        let has_index = out.for_each_axis(shape, dropped, inputs, |axis, stride| {
            let mut l = Loop { len: shape[axis], kept: stride.is_some(), strides: [0; OPERANDS] };
            l.strides[0] = stride.unwrap_or(0);
            inputs.add_strides(shape, axis, &mut l.strides);
            if l.len > 1 {
                self.loops.push(l);
            }
            l.len > 0
        });
        self.loops.reverse();
        has_index.then_some(())
    }

    /// Orders the loops by the strides of the operands from `first` on, with the largest outermost: those of the
    /// [`leading`](Self::leading) one first. Reverses loops with negative strides, and merges loops that continue each other.
    pub(super) fn arrange(&mut self, first: usize) {
        for i in 0..self.loops.len() {
            let l = self.loops[i];
            let leading = (first..self.operands.count).find(|&k| l.strides[k] != 0);
            if leading.is_some_and(|k| l.strides[k] < 0) {
                self.operands.at = l.moved(&self.operands.at, [l.len - 1; 2]);
                self.loops[i].strides = l.strides.map(|stride| -stride);
            }
        }
        let leading = self.leading(first);
        // from outside, the first of the loops left that need not be inside another one
        for place in 0..self.loops.len() {
            let left = place..self.loops.len();
            let is_next = |&i: &usize| !left.clone().any(|j| self.is_outside(j, i, leading));
            let next = left.clone().find(is_next).unwrap_or(place);
            self.loops[place..=next].rotate_right(1);
        }
        self.merge();
    }

    /// Moves the innermost loop, if it is reduced and short, outside the kept loop next to it, along which there are long rows.
    /// Inputs with gaps along these rows must be worth a copy.
    pub(super) fn turn_short_lanes(&mut self, may_copy: bool) {
        let last = self.loops.len().saturating_sub(1);
        let [.., row, lane] = &self.loops[..] else { return };
        let gaps = self.with_gaps(row);
        let is_read = |k: usize| !gaps.contains(k) || may_copy && self.reads(k) > 1;
        if !lane.kept
            && row.kept
            && lane.len < WIDE
            && row.len >= NARROW
            && (1..self.operands.count).all(is_read)
        {
            self.loops.swap(last - 1, last);
        }
    }

    /// Moves the longest kept loop next to short lanes, if the loop there is too short for rows and no input moves along both.
    pub(super) fn lengthen_rows(&mut self) {
        let [outer @ .., row, lane] = &self.loops[..] else { return };
        let last = outer.len();
        let stays = |l: &Loop| (1..self.operands.count).all(|k| l.strides[k] == 0 || row.strides[k] == 0);
        let free = (0..last).filter(|&place| outer[place].kept && stays(&outer[place]));
        let is_short = row.kept && row.len < NARROW && !lane.kept && lane.len < WIDE;
        if let Some(place) = free.max_by_key(|&place| outer[place].len).filter(|_| is_short) {
            self.loops[place..=last].rotate_left(1);
        }
    }

    /// Copies the nest to `scratch`, without the output, whose layout no longer matters: loops are merged by the
    /// inputs alone.
    pub(super) fn without_output<'m>(&self, scratch: &'m mut ErasedNest) -> &'m mut ErasedNest {
        scratch.copy_from(self);
        scratch.drop_output();
        scratch
    }

    /// Takes the output away. See [`without_output`](Self::without_output).
    pub(super) fn drop_output(&mut self) {
        self.operands.has_output = false;
        self.loops.iter_mut().for_each(|l| l.strides[0] = 0);
        self.merge();
    }

    /// Replaces operand `k` by contiguous elements in the order of the loops along which it `moves`. Returns their number.
    pub(super) fn set_dense(&mut self, k: usize, at: *mut u8, moves: &dyn Fn(&Loop) -> bool) -> usize {
        let (size, mut count) = (self.operands.sizes[k], 1_usize);
        for l in self.loops.iter_mut().rev().filter(|l| moves(l)) {
            l.strides[k] = count.wrapping_mul(size).cast_signed();
            count = count.saturating_mul(l.len);
        }
        self.operands.at[k] = at;
        count
    }

    /// The operand that decides the order: the output if `first` is 0, otherwise the first input whose nearest loop has the fewest
    /// inputs with gaps.
    fn leading(&self, first: usize) -> usize {
        let gaps = |k: usize| {
            let near =
                self.loops.iter().filter(|l| l.strides[k] != 0).min_by_key(|l| l.strides[k].unsigned_abs());
            near.map_or(OPERANDS, |near| self.with_gaps(near).operands().count())
        };
        let last = if first == 0 { 1 } else { self.operands.count };
        (first..last).min_by_key(|&k| gaps(k)).unwrap_or(first)
    }

    /// Whether loop `i` belongs outside loop `j`, by the strides of the `leading` operand, and of the inputs.
    fn is_outside(&self, i: usize, j: usize, leading: usize) -> bool {
        let (one, other) = (&self.loops[i], &self.loops[j]);
        // a reduced loop along which no input moves is outside of loops along which one does
        match [one, other].map(|l| l.kept || self.moving(l) != InputSet::NONE) {
            [false, true] => return true,
            [true, false] => return false,
            _ => {}
        }
        // the first operand that moves along both by different strides decides
        let operands = (0..self.operands.count).map(|k| if k == 0 { leading } else { k });
        let mut strides = operands.map(|k| [one, other].map(|l| l.strides[k].unsigned_abs()));
        if let Some([a, b]) = strides.find(|&[a, b]| a != 0 && b != 0 && a != b) {
            return a > b;
        }
        match (one.kept, other.kept) {
            // the order of the axes
            (true, true) => i < j,
            // the longer one is inside
            (false, false) => one.len < other.len,
            _ => false,
        }
    }

    /// Merges loops that continue each other in all operands. The kept loops of a reduction with an output stay, so that the
    /// output's layout decides nothing; they are merged by the inputs alone, once there is no output.
    pub(super) fn merge(&mut self) {
        let Some(mut to) = self.loops.len().checked_sub(1) else { return };
        let is_reduction = self.operands.has_output && self.loops.iter().any(|l| !l.kept);
        for from in (0..to).rev() {
            let (outer, inner) = (self.loops[from], &self.loops[to]);
            let may_merge = outer.kept == inner.kept && !(is_reduction && outer.kept);
            if may_merge && outer.continues(inner, self.operands.count) {
                // more steps than there are numbers repeat an index: a length that wraps would leave memory
                self.loops[to].len = inner.len.saturating_mul(outer.len);
            } else {
                to -= 1;
                self.loops[to] = outer;
            }
        }
        if to > 0 {
            self.loops.copy_within(to.., 0);
            self.loops.truncate(self.loops.len() - to);
        }
    }

    /// Cuts the loop at `place`: this nest keeps the first half of its steps, and `scratch` becomes the nest of the others. Long
    /// halves are multiples of the most rows of a block.
    pub(super) fn halve<'n>(&'n mut self, place: usize, scratch: &mut ErasedNest) -> &'n mut Self {
        let l = self.loops[place];
        let parts = l.len.div_ceil(MAX_ROWS);
        let half = if parts > 2 { parts / 2 * MAX_ROWS } else { l.len / 2 };
        ensure(l.kept || !self.operands.has_output, "parts share an output");
        ensure(half > 0, "a loop of one step is halved");
        scratch.copy_from(self);
        scratch.operands.at = l.moved(&self.operands.at, [half; 2]);
        scratch.loops[place].len = l.len - half;
        self.loops[place].len = half;
        self.loops.retain(|l| l.len > 1);
        scratch.loops.retain(|l| l.len > 1);
        self
    }

    /// Replaces all inputs by one of `len` contiguous elements, one for each index of the kept loops, in their order.
    ///
    /// # Panics
    /// If there are more or fewer indices, or no output.
    pub(super) fn set_input(&mut self, at: *const u8, len: usize, info: &'static ElementInfo) {
        ensure(self.operands.has_output, "no output");
        let operands = &mut self.operands;
        (operands.count, operands.info, operands.plain) = (2, info, (info.plain)());
        operands.sizes[1] = info.sizes[1];
        self.loops.retain(|l| l.kept);
        ensure(self.set_dense(1, at.cast_mut(), &|_| true) == len, "not one result for each output");
        self.merge();
    }

    /// Replaces the output by memory for `len` elements, one for each index.
    ///
    /// # Panics
    /// If there are more or fewer indices.
    pub(super) fn set_output(&mut self, at: *mut u8, len: usize, size: usize) {
        (self.operands.sizes[0], self.operands.has_output) = (size, true);
        self.loops.iter_mut().for_each(|l| l.kept = true);
        ensure(self.set_dense(0, at, &|_| true) == len, "not a slot for each element");
        self.merge();
    }
}
