//! Lists of loops, their plan, and walks over them.
//!
//! Like [`loops`](super::loops), this module is compiled once, in this crate.

#![forbid(unsafe_code)]

use super::loops::{Loop, OPERANDS, Offsets, has, innermost, is_adjacent, offsets, operands, steps};
use super::memory::List;
use crate::kernel::ensure;
use core::ops::{Deref, DerefMut};

/// The most loops of a nest. Each of them has two steps or more, and `isize` counts their indices; a product has three loops
/// inside these, and some are cut into two.
const MOST: usize = usize::BITS as usize + 6;

/// A list of loops on the stack.
pub(crate) struct Loops(List<Loop, MOST>);

impl Loops {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self(List::new())
    }

    #[inline]
    pub(crate) fn push(&mut self, l: Loop) {
        self.0.push(l);
    }

    #[inline(never)]
    pub(crate) fn extend(&mut self, loops: &[Loop]) {
        for &l in loops {
            self.push(l);
        }
    }

    /// Replaces the list by these loops.
    pub(crate) fn clone_from_slice(&mut self, loops: &[Loop]) {
        self.clear();
        self.extend(loops);
    }

    #[inline]
    fn clear(&mut self) {
        self.0.truncate(0);
    }
}

/// The class of a loop by its place: see [`Loops::order`].
// A trait of its own, as `NestFn`.
pub(crate) trait LoopClass {
    fn of(&self, place: usize, l: &Loop) -> u8;
}

impl<F: Fn(usize, &Loop) -> u8> LoopClass for F {
    #[inline]
    fn of(&self, place: usize, l: &Loop) -> u8 {
        self(place, l)
    }
}

/// Loops for the methods of [`Nest`](super::nest::Nest). Each method here replaces the list by loops over all or some of
/// the indices of `loops`.
impl Loops {
    /// The loops with only `len` steps of the one at `place`, from step `from` on. Returns the offsets of its first index.
    ///
    /// # Panics
    /// If the loop does not have these steps, or `len` is 0.
    pub(crate) fn part(&mut self, loops: &[Loop], place: usize, from: usize, len: usize) -> Offsets {
        let whole = &loops[place];
        ensure(from <= whole.len && len <= whole.len - from && len > 0, "a part of the loop");
        self.clone_from_slice(loops);
        self[place].len = len;
        whole.after(from)
    }

    /// The loops with the one at `place` split into two, the inner one with `take` steps. The last steps are left out if
    /// `take` does not divide the length of the loop.
    ///
    /// # Panics
    /// If the loop has fewer steps, or `take` is 0.
    pub(crate) fn group(&mut self, loops: &[Loop], place: usize, take: usize) {
        let whole = &loops[place];
        ensure(take > 0 && take <= whole.len, "groups of the loop's steps");
        self.clone_from_slice(&loops[..=place]);
        self[place] = whole.every(take, whole.len / take);
        self.extend(&loops[place..]);
        self[place + 1].len = take;
    }

    /// The loops sorted by their class, 0 outermost and 2 innermost. Loops of one class keep their order.
    pub(crate) fn order(&mut self, loops: &[Loop], class: &dyn LoopClass) {
        self.clear();
        for wanted in 0..3 {
            for (place, &l) in loops.iter().enumerate() {
                if class.of(place, &l) == wanted {
                    self.push(l);
                }
            }
        }
        ensure(self.len() == loops.len(), "three classes");
    }

    /// The loops of [`Nest::gathered`](super::nest::Nest::gathered): the loops from `outer` on as one loop over adjacent
    /// elements, inside at most one other. Copies of the inputs in `copied` are made along the loops, without the outer one
    /// where an input stays.
    ///
    /// # Panics
    /// If there are fewer inputs or more outer loops, or another operand neither is contiguous nor stays along the inner loops.
    pub(crate) fn gather(&mut self, loops: &[Loop], outer: usize, count: usize, copied: u8) {
        ensure(copied >> count == 0, "inputs that there are");
        let (outer, row) = loops.split_at(outer);
        ensure(outer.len() < 2, "one loop around a row");
        let mut all = Loop { len: steps(row), ..Loop::ONE };
        for k in 0..=count {
            let is_copied = k > 0 && has(copied, k);
            let stays = k > 0 && row.iter().all(|l| l.strides[k] == 0);
            ensure(is_copied || stays || is_adjacent(row, k), "operands that are used as they lie");
            all.strides[k] = (is_copied || !stays).into();
        }
        self.clone_from_slice(outer);
        for rows in &mut **self {
            for k in operands(copied) {
                if rows.strides[k] != 0 {
                    rows.strides[k] = all.len.cast_signed();
                }
            }
        }
        self.push(all);
    }

    /// The loops of products: batches, rows, terms and columns. A batch loop is merged into the rows or the columns if it
    /// continues them and the other matrix is the same for the whole batch.
    pub(crate) fn products(&mut self, loops: &[Loop]) {
        self.clone_from_slice(loops);
        while let [.., batch, rows, _, columns] = &mut **self {
            let follows = |l: &Loop| l.len == 1 || batch.continues(l);
            let side = match batch.strides {
                [_, _, 0, ..] if follows(rows) => rows,
                [_, 0, _, ..] if follows(columns) => columns,
                _ => break,
            };
            let inner = if side.len == 1 { *batch } else { *side };
            *side = Loop { len: batch.len * side.len, ..inner };
            let len = self.len();
            self.copy_within(len - 3.., len - 4);
            self.0.truncate(len - 1);
        }
    }

    /// The loops of the transposed products: rows and columns are exchanged, and so are the two inputs.
    pub(crate) fn transpose(&mut self, loops: &[Loop]) {
        self.clone_from_slice(loops);
        let batches = loops.len() - 3;
        self[batches..].reverse();
        for l in &mut **self {
            l.strides.swap(1, 2);
        }
    }

    /// Gives operand 1 the strides of an array in standard layout along these loops.
    pub(crate) fn pack(&mut self) {
        let mut width = 1;
        for l in self.iter_mut().rev() {
            l.strides[1] = width;
            width *= l.len.cast_signed();
        }
    }

    /// The loops along which the output moves.
    pub(crate) fn written(&mut self, loops: &[Loop]) {
        self.clear();
        for &l in loops {
            if !l.is_reduced() {
                self.push(l);
            }
        }
    }
}

impl Deref for Loops {
    type Target = [Loop];

    #[inline]
    fn deref(&self) -> &[Loop] {
        &self.0
    }
}

impl DerefMut for Loops {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Loop] {
        &mut self.0
    }
}

/// The order of loops: those with larger strides go outside. The variants say which strides are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outside {
    /// The strides of the output.
    Written,
    /// The strides of the first input, or of the output where the first input is repeated.
    Read,
    /// The sums of the strides of all inputs; between equal sums, the strides of the output.
    AllRead,
    /// None: the loops stay in the order of the axes.
    #[cfg(test)]
    Given,
}

impl Outside {
    // Not inline, but once instead of twice in the sort.
    #[inline(never)]
    fn key(self, l: &Loop) -> (usize, usize) {
        let stride = |k: usize| l.strides[k].unsigned_abs();
        let only = |stride: usize| (stride, 0);
        match self {
            Self::Written => only(stride(0)),
            Self::Read => only(stride(usize::from(l.strides[1] != 0))),
            #[cfg(test)]
            Self::Given => only(0),
            Self::AllRead => {
                let mut sum = 0_usize;
                for k in 1..OPERANDS {
                    sum = sum.saturating_add(stride(k));
                }
                (sum, stride(0))
            }
        }
    }
}

/// Loops, outermost first, that together visit every index of a shape once.
///
/// Axes of length 1 are dropped, axes with negative strides are reversed, and neighbours that continue each other are
/// merged into one loop. A plan without loops visits a single index.
pub(crate) struct LoopPlan {
    pub(crate) loops: Loops,
    /// The offset of each operand's first visited element from its element at index zero.
    pub(crate) start: Offsets,
    /// Whether there is no index.
    pub(crate) is_empty: bool,
}

impl LoopPlan {
    /// An empty plan, to be [`made`](Self::make) in place: moving a plan costs as much as making it.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { loops: Loops::new(), start: [0; OPERANDS], is_empty: false }
    }

    /// Removes all axes, so that the plan can be made again.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.loops.clear();
        (self.start, self.is_empty) = ([0; OPERANDS], false);
    }

    /// Adds an axis, before the plan is made.
    #[inline]
    pub(crate) fn add(&mut self, axis: Loop) {
        match axis.len {
            0 => self.is_empty = true,
            1 => {}
            _ => self.loops.push(axis),
        }
    }

    /// Panics if the number of indices overflows `isize`. After this, numbers of indices are multiplied without checks.
    #[inline]
    pub(crate) fn assert_countable(&self) {
        let mut count = 1_usize;
        for l in &*self.loops {
            // a product may have no terms
            count = count.saturating_mul(l.len.max(1));
        }
        ensure(count <= isize::MAX.unsigned_abs(), "indices that can be counted");
    }

    /// Orders, reverses and merges the loops. Loops with equal keys keep the order in which the axes were added.
    ///
    /// An axis is reversed if the first operand that moves along it has a negative stride.
    ///
    /// # Panics
    /// If there are more than `isize::MAX` indices.
    #[inline]
    pub(crate) fn make(&mut self, outside: Outside) {
        if self.is_empty {
            return self.loops.clear();
        }
        self.assert_countable();
        let loops = &mut *self.loops;
        for l in loops.iter_mut() {
            if l.strides.iter().find(|&&s| s != 0).is_some_and(|s| s.is_negative()) {
                let last = (l.len - 1).cast_signed();
                for (start, stride) in self.start.iter_mut().zip(&mut l.strides) {
                    *start += *stride * last;
                    *stride = -*stride;
                }
            }
        }
        // an insertion sort: axes are few and mostly in order already
        for end in 1..loops.len() {
            let mut at = end;
            while at > 0 && outside.key(&loops[at - 1]) < outside.key(&loops[at]) {
                loops.swap(at - 1, at);
                at -= 1;
            }
        }
        let mut kept = 0;
        for i in 1..loops.len() {
            let inner = loops[i];
            if loops[kept].continues(&inner) {
                let len = loops[kept].len * inner.len;
                loops[kept] = Loop { len, ..inner };
            } else {
                kept += 1;
                loops[kept] = inner;
            }
        }
        if !loops.is_empty() {
            self.loops.0.truncate(kept + 1);
        }
    }
}

/// A walk over the indices of loops, innermost fastest.
pub(crate) struct Walk<'a> {
    /// The offsets at the present index. Not pointers: the compiler would assume that a pointer loaded from here might
    /// point to local variables.
    by: Offsets,
    outer: &'a [Loop],
    /// The loop around the last one.
    second: Loop,
    last: Loop,
    /// The remaining runs of the last loop before an index of `outer` changes.
    runs: usize,
    /// The remaining steps of the last loop.
    remaining: usize,
    /// The number of indices of `outer` that have begun.
    turn: usize,
    /// The number of indices of `outer`.
    turns: usize,
}

impl<'a> Walk<'a> {
    #[inline(always)]
    pub(crate) fn over(loops: &'a [Loop]) -> Self {
        let (&last, outer) = innermost(loops);
        let (&second, outer) = innermost(outer);
        let turns = steps(outer);
        Self { by: [0; OPERANDS], outer, second, last, runs: 0, remaining: 0, turn: 0, turns }
    }

    /// The offsets of the output and of `count` inputs at the next index.
    #[inline]
    pub(crate) fn next(&mut self, count: usize) -> Option<&Offsets> {
        if self.remaining > 0 {
            self.remaining -= 1;
            for k in 0..=count {
                self.by[k] = self.by[k].wrapping_add(self.last.strides[k]);
            }
            return Some(&self.by);
        }
        let back = self.last.len - 1;
        if self.runs > 0 {
            self.runs -= 1;
            for k in 0..=count {
                let back = self.last.strides[k].wrapping_mul(back.cast_signed());
                self.by[k] = self.by[k].wrapping_add(self.second.strides[k]).wrapping_sub(back);
            }
        } else {
            if self.turn == self.turns {
                return None;
            }
            self.by = if self.turn == 0 { [0; OPERANDS] } else { offsets(self.outer, self.turn) };
            self.turn += 1;
            self.runs = self.second.len - 1;
        }
        self.remaining = back;
        Some(&self.by)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::kernel::loops::each_offset;
    use alloc::vec::Vec;
    use std::panic::catch_unwind;

    fn offsets_of(loops: &[Loop], k: usize) -> Vec<usize> {
        let mut seen = Vec::new();
        each_offset(loops, k, &mut |at| seen.push(at));
        seen
    }

    fn plan<const N: usize>(outside: Outside, axes: &[(usize, [isize; N])]) -> LoopPlan {
        let mut plan = LoopPlan::new();
        for &(len, strides) in axes {
            plan.add(Loop::new(len, strides));
        }
        plan.make(outside);
        plan
    }

    #[test]
    #[should_panic(expected = "operands that are used as they lie")]
    fn outputs_are_not_gathered_where_they_stay() {
        Loops::new().gather(&Loop::all(&[(3, [4, 4]), (4, [0, 1])]), 1, 1, 0);
    }

    #[test]
    fn indices_are_as_many_as_isize_counts() {
        let half = 1_usize << (usize::BITS / 2);
        for (len, fits) in [(half / 4, true), (half / 2, false), (half, false)] {
            let mut plan = LoopPlan::new();
            plan.loops.extend(&Loop::all(&[(half, [1, 0]), (len, [0, 1])]));
            assert_eq!(catch_unwind(|| plan.assert_countable()).is_ok(), fits, "{half} times {len}");
        }
    }

    #[test]
    fn contiguous_axes_become_one() {
        let p = plan(Outside::Written, &[(2, [12, 12]), (3, [4, 4]), (1, [77, 5]), (4, [1, 1])]);
        assert_eq!(*p.loops, Loop::all(&[(24, [1, 1])]));
        assert!(!p.is_empty);
        // a gap in one operand keeps two loops
        let gap = [(3, [4, 5]), (4, [1, 1])];
        assert_eq!(*plan(Outside::Written, &gap).loops, Loop::all(&gap));
    }

    #[test]
    fn reduced_axes_are_not_merged_with_kept_ones() {
        let axes = [(2, [0, 12]), (3, [4, 4]), (4, [1, 1])];
        assert_eq!(*plan(Outside::Read, &axes).loops, Loop::all(&[(2, [0, 12]), (12, [1, 1])]));
        assert_eq!(*plan(Outside::Written, &axes).loops, Loop::all(&[(12, [1, 1]), (2, [0, 12])]));
        // neighbouring reduced axes are merged, and so are axes along which an input is repeated
        assert_eq!(*plan(Outside::Read, &[(2, [0, 12]), (12, [0, 1])]).loops, Loop::all(&[(24, [0, 1])]));
        assert_eq!(*plan(Outside::Written, &[(2, [12, 0]), (12, [1, 0])]).loops, Loop::all(&[(24, [1, 0])]));
    }

    #[test]
    fn permuted_and_reversed_axes_are_straightened() {
        let p = plan(Outside::Written, &[(4, [-1, 1]), (3, [4, 4])]);
        assert_eq!(*p.loops, Loop::all(&[(3, [4, 4]), (4, [1, -1])]));
        assert_eq!(p.start[..2], [-3, 3]);
        let p = plan(Outside::Written, &[(4, [1, 3]), (3, [-4, -1])]);
        assert_eq!(*p.loops, Loop::all(&[(3, [4, 1]), (4, [1, 3])]));
        assert_eq!(p.start[..2], [-8, -2]);
        // the output stays: the first operand that moves decides
        let p = plan(Outside::Read, &[(5, [0, 0, -2, 1])]);
        assert_eq!((&*p.loops, &p.start[..4]), (&Loop::all(&[(5, [0, 0, 2, -1])])[..], &[0, 0, -8, 4][..]));
    }

    #[test]
    fn nothing_and_one() {
        let nothing = plan(Outside::Written, &[(4, [1, 1]), (0, [9, 9])]);
        assert!(nothing.is_empty && nothing.loops.is_empty());
        let one = plan(Outside::Written, &[(1, [9, 9])]);
        assert!(!one.is_empty && one.loops.is_empty());
        assert_eq!((steps(&one.loops), offsets(&one.loops, 0)), (1, [0; OPERANDS]));
        assert_eq!(offsets_of(&one.loops, 0), [0]);
    }

    #[test]
    fn twelve_axes() {
        let axes: Vec<_> = (0..12).map(|i| (2, [3_isize.pow(11 - i), 1])).collect();
        let p = plan(Outside::Written, &axes);
        assert_eq!(*p.loops, Loop::all(&axes));
        let seen = offsets_of(&p.loops, 0);
        assert_eq!((seen.len(), seen[1], seen[2], seen[4095]), (4096, 1, 3, (3_usize.pow(12) - 1) / 2));
        let merged: Vec<_> = (0..12).map(|i| (2, [2_isize.pow(11 - i), 0])).collect();
        assert_eq!(*plan(Outside::Written, &merged).loops, Loop::all(&[(4096, [1, 0])]));
    }

    #[test]
    fn as_many_loops_as_there_may_be() {
        let loops: Vec<_> = (0..62).map(|i| Loop::new(2, [1 << i, 0])).rev().collect();
        let mut list = Loops::new();
        for n in [0, 5, 62, 7, 0, 8] {
            list.clone_from_slice(&loops[..n]);
            assert_eq!(*list, loops[..n]);
        }
        let axes: Vec<_> = (0..62).map(|i| (2, [1 << i, i * i])).rev().collect();
        assert_eq!(*plan(Outside::Written, &axes).loops, Loop::all(&axes));
    }

    #[test]
    fn the_greater_strides_go_outside() {
        // the strides of the output and of two inputs
        let [x, y, z] = [(2, [1, 2, 90]), (3, [10, -1, 5]), (5, [-5, 0, -20])];
        let order = |outside| {
            let plan = plan(outside, &[x, y, z]);
            plan.loops.iter().map(|l| l.len).collect::<Vec<_>>()
        };
        assert_eq!(order(Outside::Written), [3, 5, 2]);
        assert_eq!(order(Outside::Read), [5, 2, 3]);
        assert_eq!(order(Outside::AllRead), [2, 5, 3]);
        // equal keys: `AllRead` compares the output next, the others keep the order of the axes
        let equal = |outside| plan(outside, &[(2, [3, 1, 4]), (3, [7, 1, 4])]).loops[0].len;
        assert_eq!([Outside::AllRead, Outside::Read, Outside::Given].map(equal), [3, 2, 2]);
    }
}
