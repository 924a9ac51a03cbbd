//! Loops made from axes, and other loops made from these. Pointers are moved here, never followed.

#![forbid(unsafe_code)]

use super::panels::NARROW;
use super::{
    Access, Dropped, ElementInfo, ErasedNest, InputSet, Loop, OPERANDS, RawInputs, SHORT_ROW, Steps,
    StridedAxes, steps,
};
use crate::kernel::ensure;
use crate::kernel::memory::CACHE_LINE;
use core::iter::zip;
use core::ptr::null_mut;

/// The fewest times that a copy is read.
const MIN_READS: usize = 8;

impl ErasedNest {
    /// Makes a nest along the axes of `shape`. An input has its last axes, each with the same size or with size 1, along which
    /// the input stays. `out` has its axes that are not `dropped`, in order, each with the same size or with size 1. Without a
    /// set of dropped axes, `out` lacks the leading ones. Returns whether there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    pub(super) fn build(
        &mut self,
        shape: &[usize],
        out: Option<RawOutput<'_>>,
        dropped: Dropped<'_>,
        inputs: &RawInputs<'_>,
    ) -> bool {
        let (operands, info) = (&mut self.operands, inputs.info);
        let none = RawOutput { at: null_mut(), size: 0, axes: StridedAxes { sizes: &[], strides: &[] } };
        // without an output, no loop is kept
        let (access, out, dropped) = match out {
            Some(out) => (Access::Distinct, out, dropped),
            None => (Access::Inputs, none, None),
        };
        (operands.count, operands.row_loops, operands.access) = (info.count + 1, info.row_loops, access);
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
        !has_index
    }

    /// Whether there is a row loop for the inputs that move along `l`.
    #[inline(always)]
    pub(super) fn has_row_along(&self, l: &Loop) -> bool {
        let moving = InputSet::of(self.operands.count - 1, |k| l.strides[k] != 0);
        self.has_row_of(moving)
    }

    /// Whether there is a row loop along which these inputs move and the others stay.
    #[inline(always)]
    pub(super) fn has_row_of(&self, moving: InputSet) -> bool {
        self.operands.row_loops.contains(&moving)
    }

    /// See [`Nest::arrange`](super::Nest::arrange).
    pub(super) fn arrange(&mut self, first: usize) {
        for i in 0..self.loops.len() {
            let l = self.loops[i];
            let leading = (first..self.operands.count).find(|&k| l.strides[k] != 0);
            if leading.is_some_and(|k| l.strides[k] < 0) {
                self.advance(&l, l.len - 1);
                self.loops[i].strides = l.strides.map(|stride| -stride);
            }
        }
        // from outside, the first of the loops left that need not be inside another one
        for place in 0..self.loops.len() {
            let left = place..self.loops.len();
            let is_next = |&i: &usize| !left.clone().any(|j| self.is_outside(j, i, first));
            let next = left.clone().find(is_next).unwrap_or(place);
            self.loops[place..=next].rotate_right(1);
        }
        self.merge();
    }

    /// Moves the innermost loop, if it is reduced and short, outside the kept loop next to it, along which there are long rows.
    /// Inputs with gaps along these rows must be worth a [copy](Self::copied_tile). Returns whether there are such inputs.
    pub(super) fn turn_short_lanes(&mut self, may_copy: bool) -> bool {
        let last = self.loops.len().saturating_sub(1);
        let [outer @ .., row, lane] = &self.loops[..] else { return false };
        if lane.kept || !row.kept || lane.len >= SHORT_ROW || row.len < NARROW {
            return false;
        }
        let copied = self.with_gaps(row);
        let moves = |l: &Loop| self.moves_any(copied, l);
        let is_plain = |k: usize| !copied.contains(k) || self.operands.plain.contains(k);
        let has_copies = copied != InputSet::NONE;
        let is_worth = may_copy
            && (1..self.operands.count).all(is_plain)
            && outer.iter().any(|l| l.len >= MIN_READS && !moves(l))
            && outer.iter().all(|l| l.kept || !moves(l));
        if is_worth || !has_copies {
            self.loops.swap(last - 1, last);
        }
        is_worth && has_copies
    }

    /// Whether one of these inputs moves along a loop.
    fn moves_any(&self, inputs: InputSet, l: &Loop) -> bool {
        (1..self.operands.count).any(|k| inputs.contains(k) && l.strides[k] != 0)
    }

    /// The inputs that neither stay nor are contiguous along a loop.
    #[inline(always)]
    pub(crate) fn with_gaps(&self, l: &Loop) -> InputSet {
        let operands = &self.operands;
        InputSet::of(operands.count - 1, |k| ![0, operands.sizes[k].cast_signed()].contains(&l.strides[k]))
    }

    /// The inputs with gaps along the innermost loop, if there are some, and the parts of the nest for which copies of these fit
    /// into `bytes` bytes.
    pub(super) fn copied_tile(&self, bytes: usize) -> Option<(InputSet, Steps)> {
        let (inner, outer) = self.loops.split_last()?;
        let copied = self.with_gaps(inner);
        if copied == InputSet::NONE {
            return None;
        }
        let (mut tile, mut width) = (Steps::new(), 0);
        for l in outer {
            tile.push(if l.kept && self.moves_any(copied, l) { 1 } else { l.len });
        }
        for k in (1..self.operands.count).filter(|&k| copied.contains(k)) {
            let moving = zip(outer, &*tile).filter(|(l, _)| l.strides[k] != 0);
            width += moving.fold(self.operands.sizes[k], |width, (_, &steps)| width.saturating_mul(steps));
        }
        // each copy begins with a line of its own
        tile.push(inner.part((bytes - OPERANDS * CACHE_LINE) / width));
        Some((copied, tile))
    }

    /// Makes `scratch` the nest of the loops along which input `k` moves. Returns the bytes of its elements.
    pub(super) fn moving_part(&self, k: usize, scratch: &mut ErasedNest) -> usize {
        scratch.copy_from(self);
        scratch.loops.retain(|l| l.strides[k] != 0);
        steps(&scratch.loops).saturating_mul(self.operands.sizes[k])
    }

    /// Replaces input `k` by contiguous elements in the order of the loops along which it moves.
    pub(super) fn set_copy(&mut self, k: usize, at: *mut u8) {
        self.operands.at[k] = at;
        let mut width = self.operands.sizes[k];
        for l in self.loops.iter_mut().rev().filter(|l| l.strides[k] != 0) {
            l.strides[k] = width.cast_signed();
            width *= l.len;
        }
    }

    /// Whether loop `i` belongs outside loop `j`. If the output is among the operands from `first` on, it decides; otherwise most
    /// inputs do, and if they are equally divided, the order of the axes. Where none moves along both, kept loops have the order
    /// of the axes, and the longer one of two reduced loops is inside. A reduced loop along which none of these operands moves
    /// belongs outside all others.
    fn is_outside(&self, i: usize, j: usize, first: usize) -> bool {
        let (one, other) = (&self.loops[i], &self.loops[j]);
        let (mut votes, mut is_decided, mut moves) = (0_isize, false, [false; 2]);
        for k in first..self.operands.count {
            let (a, b) = (one.strides[k].unsigned_abs(), other.strides[k].unsigned_abs());
            moves = [moves[0] || a != 0, moves[1] || b != 0];
            if a != 0 && b != 0 && a != b {
                is_decided = true;
                votes += if a > b { 1 } else { -1 };
            }
            if k == 0 && is_decided {
                break;
            }
        }
        match moves {
            [false, true] if !one.kept => true,
            [true, false] if !other.kept => false,
            _ if is_decided => votes > 0 || votes == 0 && i < j,
            _ if one.kept != other.kept => false,
            _ => {
                if one.kept {
                    i < j
                } else {
                    one.len < other.len
                }
            }
        }
    }

    /// Merges loops that continue each other in all operands.
    #[inline]
    fn merge(&mut self) {
        let Some(mut to) = self.loops.len().checked_sub(1) else { return };
        for from in (0..to).rev() {
            let (outer, inner) = (self.loops[from], self.loops[to]);
            let continues =
                |k: usize| outer.strides[k] == inner.strides[k].wrapping_mul(inner.len.cast_signed());
            if outer.kept == inner.kept && (0..self.operands.count).all(continues) {
                self.loops[to].len *= outer.len;
            } else {
                to -= 1;
                self.loops[to] = outer;
            }
        }
        self.loops.remove_first(to);
    }

    /// Moves the pointers by `steps` of a loop.
    fn advance(&mut self, l: &Loop, steps: usize) {
        for k in 0..self.operands.count {
            self.operands.at[k] = self.operands.at[k].wrapping_offset(l.strides[k] * steps.cast_signed());
        }
    }

    /// Cuts the loop at `place`: this nest keeps the first half of its steps, and `scratch` becomes the nest of the others.
    pub(super) fn halve<'n>(&'n mut self, place: usize, scratch: &mut ErasedNest) -> &'n mut Self {
        let l = self.loops[place];
        let half = l.len / 2;
        ensure(self.operands.access == Access::Inputs || l.kept, "parts share an output");
        ensure(half > 0, "a loop of one step is halved");
        scratch.copy_from(self);
        scratch.advance(&l, half);
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
        ensure(self.operands.access != Access::Inputs, "no output");
        let size = info.sizes[1];
        self.loops.retain(|l| l.kept);
        let mut count = 1_usize;
        for l in self.loops.iter_mut().rev() {
            l.strides[1] = count.wrapping_mul(size).cast_signed();
            count = count.saturating_mul(l.len);
        }
        ensure(count == len, "not one result for each output");
        let operands = &mut self.operands;
        (operands.count, operands.row_loops, operands.plain) = (2, info.row_loops, (info.plain)());
        (operands.at[1], operands.sizes[1]) = (at.cast_mut(), size);
        self.merge();
    }

    /// Replaces the output by memory for `len` elements, one for each index of the loops for which `is_kept` holds.
    ///
    /// # Panics
    /// If there are more or fewer indices.
    pub(super) fn set_output(
        &mut self,
        at: *mut u8,
        len: usize,
        size: usize,
        is_kept: impl Fn(&Loop) -> bool,
    ) {
        let mut count = 1_usize;
        for l in self.loops.iter_mut().rev() {
            l.kept = is_kept(l);
            l.strides[0] = if l.kept { count.wrapping_mul(size).cast_signed() } else { 0 };
            count = if l.kept { count.saturating_mul(l.len) } else { count };
        }
        let operands = &mut self.operands;
        (operands.at[0], operands.sizes[0], operands.access) = (at, size, Access::Distinct);
        ensure(count == len, "not one slot for each element");
        self.merge();
    }
}

/// The pointer, the bytes of an element and the axes of an output.
#[derive(Clone, Copy)]
pub(super) struct RawOutput<'a> {
    pub(super) at: *mut u8,
    pub(super) size: usize,
    pub(super) axes: StridedAxes<'a>,
}

impl RawOutput<'_> {
    /// Calls `add` with each axis of `shape`, the last one first, and with the bytes that the output moves at a step along it, or
    /// `None` if it is reduced. For the arguments, see [`ErasedNest::build`]. Returns `false` as soon as `add` does.
    ///
    /// # Panics
    /// If the output does not fit the shape, or if an input has more axes.
    #[inline(always)]
    pub(super) fn for_each_axis(
        &self,
        shape: &[usize],
        dropped: Dropped<'_>,
        inputs: &RawInputs<'_>,
        mut add: impl FnMut(usize, Option<isize>) -> bool,
    ) -> bool {
        let StridedAxes { sizes, strides } = self.axes;
        for own in inputs.shapes() {
            ensure(own.len() <= shape.len(), "an input has more axes than the shape");
        }
        ensure(sizes.len() <= shape.len(), "the output has more axes than the shape");
        let (leading, mut left) = (shape.len() - sizes.len(), sizes.len());
        for (axis, &len) in shape.iter().enumerate().rev() {
            let mut stride = None;
            if !dropped.map_or(axis < leading, |axes| axes.contains(axis)) {
                ensure(left > 0, "the shape has an axis that the output has not");
                left -= 1;
                ensure(
                    sizes[left] == len || sizes[left] == 1,
                    "an axis of the output does not fit the shape",
                );
                stride = (sizes[left] == len).then(|| strides[left].wrapping_mul(self.size.cast_signed()));
            }
            if !add(axis, stride) {
                return false;
            }
        }
        ensure(left == 0, "the output has an axis that the shape has not");
        true
    }
}
