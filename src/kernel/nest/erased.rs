//! The loops and pointers of a nest, without the types of its elements, and what is asked of them. See the invariant of the
//! [folder](super).

#![forbid(unsafe_code)]

use super::loops::{ElementInfo, InputSet, Loop, Loops, OPERANDS, Pointers, WIDE, is_dense};
use crate::kernel::memory::{CACHE_LINE, List};
use alloc::boxed::Box;

/// The operands of a nest, without their types.
#[derive(Clone, Copy)]
pub(super) struct ErasedOperands {
    pub(super) at: Pointers,
    /// The bytes of an element of each operand.
    pub(super) sizes: [usize; OPERANDS],
    /// The inputs whose elements are plain numbers: see [`is_plain`](crate::kernel::simd::is_plain).
    pub(super) plain: InputSet,
    /// The number of operands.
    pub(super) count: usize,
    /// Of the inputs.
    pub(super) info: &'static ElementInfo,
    /// Whether the nest gives access to the output.
    pub(super) has_output: bool,
}

/// The loops and pointers of a nest, without the types of its elements. A [`Nest`](super::Nest) lends it for reading.
pub(crate) struct ErasedNest {
    pub(super) loops: Loops,
    pub(super) operands: ErasedOperands,
}

impl ErasedNest {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let (at, sizes, info) = ([core::ptr::null_mut(); OPERANDS], [0; OPERANDS], &ElementInfo::NONE);
        let operands = ErasedOperands { at, sizes, plain: InputSet::NONE, count: 0, info, has_output: false };
        Self { loops: List::new(), operands }
    }

    /// On the heap, for functions that halve nests recursively.
    #[inline(never)]
    pub(crate) fn on_heap() -> Box<Self> {
        Box::new(Self::new())
    }

    #[inline(never)]
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.operands = other.operands;
        self.loops.clear();
        self.loops.extend_from_slice(&other.loops);
    }

    #[inline(always)]
    pub(crate) fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// Whether the nest gives access to an output of its own at each index.
    pub(super) fn has_distinct_outputs(&self) -> bool {
        self.operands.has_output && self.loops.iter().all(|l| l.kept)
    }

    /// The bytes of an element of each operand.
    #[inline(always)]
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.operands.sizes[..self.operands.count]
    }

    /// Whether the elements of input `k` are plain numbers.
    #[inline(always)]
    pub(crate) fn is_plain(&self, k: usize) -> bool {
        self.operands.plain.contains(k)
    }

    /// The inputs that move along `l`.
    #[inline(never)]
    pub(super) fn moving(&self, l: &Loop) -> InputSet {
        InputSet::of(self.operands.count - 1, |k| l.strides[k] != 0)
    }

    /// The inputs that neither stay nor are contiguous along a loop.
    pub(crate) fn with_gaps(&self, l: &Loop) -> InputSet {
        l.gaps(&self.operands.sizes, self.operands.count - 1)
    }

    /// Whether there is a row loop that reads the inputs along `l` in place.
    pub(crate) fn has_row_in_place(&self, l: &Loop) -> bool {
        self.operands.info.has_row(self.moving(l)) && self.with_gaps(l) == InputSet::NONE
    }

    /// How often each element of input `k` is read, if these are plain numbers, else 1.
    pub(super) fn reads(&self, k: usize) -> usize {
        let again = self.loops.iter().filter(|l| self.operands.plain.contains(k) && l.strides[k] == 0);
        again.map(|l| l.len).fold(1, usize::saturating_mul)
    }

    /// The inputs that have gaps along the innermost loop and are read again, and the bytes of their copies.
    pub(crate) fn read_again(&self) -> (InputSet, usize) {
        let gaps = self.loops.last().map_or(InputSet::NONE, |inner| self.with_gaps(inner));
        let copied = InputSet::of(self.operands.count - 1, |k| gaps.contains(k) && self.reads(k) > 1);
        (copied, copied.operands().map(|k| self.copy_bytes(k, false)).fold(0, usize::saturating_add))
    }

    /// The bytes of a copy of input `k`, in whole cache lines.
    pub(super) fn copy_bytes(&self, k: usize, whole: bool) -> usize {
        let lens = self.loops.iter().filter(|l| l.is_copied(k, whole)).map(|l| l.len);
        let bytes = lens.fold(self.operands.sizes[k], usize::saturating_mul);
        bytes.div_ceil(CACHE_LINE).saturating_mul(CACHE_LINE)
    }

    /// The outermost loop along which one of these inputs moves.
    pub(crate) fn first_moving(&self, inputs: InputSet) -> Option<usize> {
        self.loops.iter().position(|l| self.moving(l).operands().any(|k| inputs.contains(k)))
    }

    /// The inputs to copy so that there is a row loop for the inner loops. Only plain numbers are copied: without a row loop, elements are
    /// visited one by one.
    pub(super) fn to_copy_for_row(&self) -> InputSet {
        let (sizes, row) = (self.sizes(), self.loops_of_row());
        let moves = |k: usize| row.iter().any(|l| l.strides[k] != 0);
        let is_copied = |k: usize| self.is_plain(k) && moves(k) && !is_dense(row, k, sizes[k]);
        InputSet::of(self.operands.count - 1, is_copied)
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
