//! Loop nests over several strided operands: what to visit, in which order.
//!
//! A nest knows lengths and strides only. Which operand is written, what is done with an element and what a
//! stride of zero stands for (repeated when read, reduced when written) is the caller's business.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// Axes that fit without the heap.
const INLINE: usize = 8;

/// One loop of a nest: its length, and by how many elements each operand moves per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop<const N: usize> {
    pub(crate) len: usize,
    pub(crate) strides: [isize; N],
}

impl<const N: usize> Loop<N> {
    /// A loop that does not move.
    pub(crate) const ONE: Self = Self { len: 1, strides: [0; N] };

    /// Whether one step of `self` is the same as a whole turn of `inner`, in every operand.
    fn continues(&self, inner: &Self) -> bool {
        let turn = inner.len as isize;
        (0..N).all(|k| self.strides[k] == inner.strides[k].wrapping_mul(turn))
    }
}

/// A short list that stays on the stack up to [`INLINE`] items.
#[derive(Clone, Debug)]
pub(crate) struct Stack<T> {
    inline: [T; INLINE],
    len: usize,
    spilled: Vec<T>,
}

impl<T: Copy> Stack<T> {
    #[inline]
    pub(crate) fn new(filler: T) -> Self {
        Self { inline: [filler; INLINE], len: 0, spilled: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.len < INLINE {
            self.inline[self.len] = item;
        } else {
            if self.len == INLINE {
                self.spilled.extend_from_slice(&self.inline);
            }
            self.spilled.push(item);
        }
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = *self.last()?;
        self.truncate(self.len - 1);
        Some(last)
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        if self.len > INLINE && len <= INLINE {
            self.inline[..len].copy_from_slice(&self.spilled[..len]);
            self.spilled.clear();
        }
        self.spilled.truncate(len);
        self.len = len;
    }
}

impl<T: Copy> From<&[T]> for Stack<T> {
    /// Of at least one item.
    fn from(items: &[T]) -> Self {
        let mut stack = Self::new(items[0]);
        for &item in items {
            stack.push(item);
        }
        stack
    }
}

impl<T> Deref for Stack<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        if self.len <= INLINE { &self.inline[..self.len] } else { &self.spilled }
    }
}

impl<T> DerefMut for Stack<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len <= INLINE { &mut self.inline[..self.len] } else { &mut self.spilled }
    }
}

/// Loops, outermost first, that together visit every index of a shape once.
///
/// Length-1 axes are gone, axes that run backwards are turned round, and neighbours that one loop can serve are
/// one loop. A nest without loops visits a single index.
#[derive(Clone, Debug)]
pub(crate) struct Nest<const N: usize> {
    loops: Stack<Loop<N>>,
    offsets: [isize; N],
    empty: bool,
}

impl<const N: usize> Nest<N> {
    /// See [`plan`](Self::plan).
    #[inline(always)]
    pub(crate) fn new<K: Ord>(axes: impl Iterator<Item = Loop<N>>, key: impl Fn(&Loop<N>) -> K) -> Self {
        let mut nest = Self::unplanned();
        nest.plan(axes, key);
        nest
    }

    /// A nest to [`plan`](Self::plan): in place, as moving one costs as much as planning it.
    #[inline(always)]
    pub(crate) fn unplanned() -> Self {
        Self { loops: Stack::new(Loop::ONE), offsets: [0; N], empty: false }
    }

    /// Plans the loops over `axes`, the greatest `key` outermost; equal keys keep the order of the axes.
    ///
    /// An axis is turned round where the first operand that moves along it moves backwards.
    #[inline(always)]
    pub(crate) fn plan<K: Ord>(&mut self, axes: impl Iterator<Item = Loop<N>>, key: impl Fn(&Loop<N>) -> K) {
        for axis in axes {
            match axis.len {
                0 => self.empty = true,
                1 => {}
                _ => self.loops.push(axis),
            }
        }
        if self.empty {
            return self.loops.truncate(0);
        }
        self.turn();
        sort(&mut self.loops, key);
        self.merge();
    }

    #[inline(always)]
    fn turn(&mut self) {
        for axis in self.loops.iter_mut() {
            if axis.strides.iter().find(|&&s| s != 0).is_some_and(|&s| s < 0) {
                let last = (axis.len - 1) as isize;
                for (offset, stride) in self.offsets.iter_mut().zip(&mut axis.strides) {
                    *offset += *stride * last;
                    *stride = -*stride;
                }
            }
        }
    }

    #[inline(always)]
    fn merge(&mut self) {
        let mut kept = 0;
        for i in 1..self.loops.len() {
            let inner = self.loops[i];
            if self.loops[kept].continues(&inner) {
                let len = self.loops[kept].len * inner.len;
                self.loops[kept] = Loop { len, ..inner };
            } else {
                kept += 1;
                self.loops[kept] = inner;
            }
        }
        if !self.loops.is_empty() {
            self.loops.truncate(kept + 1);
        }
    }

    /// The loops, outermost first. None where the nest is empty.
    #[inline]
    pub(crate) fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// How far each operand's first visited element is from its element at index zero.
    #[inline]
    pub(crate) fn offsets(&self) -> [isize; N] {
        self.offsets
    }

    /// Whether there is no index to visit.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.empty
    }
}

/// An insertion sort: axes are few and mostly in order already.
#[inline(always)]
fn sort<const N: usize, K: Ord>(loops: &mut [Loop<N>], key: impl Fn(&Loop<N>) -> K) {
    for end in 1..loops.len() {
        let mut at = end;
        while at > 0 && key(&loops[at - 1]) < key(&loops[at]) {
            loops.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Steps through every index of some loops, innermost fastest, and gives the operands' offsets at each.
///
/// An iterator, and always inlined, so that the loop body stays in its caller and is compiled for the caller's CPU
/// features. It keeps no index: only when the innermost loop is done is there more to do than an addition.
pub(crate) struct Walk<'a, const N: usize> {
    outer: &'a [Loop<N>],
    inner: Loop<N>,
    start: [isize; N],
    at: [isize; N],
    /// Steps left of the innermost loop.
    left: usize,
    /// Turns of the innermost loop, begun and altogether.
    turn: usize,
    turns: usize,
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Starts at `start`. Without loops there is one step; the loops' lengths are not 0.
    #[inline(always)]
    pub(crate) fn new(loops: &'a [Loop<N>], start: [isize; N]) -> Self {
        let (inner, outer) = loops.split_last().map_or((Loop::ONE, loops), |(&l, rest)| (l, rest));
        let turns = outer.iter().map(|l| l.len).product();
        Self { outer, inner, start, at: start, left: 0, turn: 0, turns }
    }
}

impl<const N: usize> Iterator for Walk<'_, N> {
    type Item = [isize; N];

    #[inline(always)]
    fn next(&mut self) -> Option<[isize; N]> {
        if self.left > 0 {
            for (at, stride) in self.at.iter_mut().zip(self.inner.strides) {
                *at += stride;
            }
        } else {
            if self.turn == self.turns {
                return None;
            }
            self.at = if self.turn == 0 { self.start } else { offsets(self.outer, self.start, self.turn) };
            self.turn += 1;
            self.left = self.inner.len;
        }
        self.left -= 1;
        Some(self.at)
    }
}

/// Where the `turn`th step of the loops is.
#[inline(never)]
fn offsets<const N: usize>(loops: &[Loop<N>], mut at: [isize; N], mut turn: usize) -> [isize; N] {
    for l in loops.iter().rev() {
        let index = (turn % l.len) as isize;
        turn /= l.len;
        for (at, stride) in at.iter_mut().zip(l.strides) {
            *at += stride * index;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(axes: &[(usize, [isize; 2])]) -> Nest<2> {
        let axes = axes.iter().map(|&(len, strides)| Loop { len, strides });
        Nest::new(axes, |l| l.strides[0].unsigned_abs())
    }

    #[test]
    fn contiguous_axes_become_one() {
        let n = nest(&[(2, [12, 12]), (3, [4, 4]), (1, [77, 5]), (4, [1, 1])]);
        assert_eq!(n.loops(), [Loop { len: 24, strides: [1, 1] }]);
        assert!(!n.is_empty());
    }

    #[test]
    fn reduced_axes_stay_apart_from_kept_ones() {
        let n = nest(&[(2, [12, 0]), (3, [4, 4]), (4, [1, 1])]);
        assert_eq!(n.loops(), [Loop { len: 2, strides: [12, 0] }, Loop { len: 12, strides: [1, 1] }]);
    }

    #[test]
    fn permuted_and_reversed_axes_are_straightened() {
        let n = nest(&[(4, [-1, 1]), (3, [4, 4])]);
        assert_eq!(n.loops(), [Loop { len: 3, strides: [4, 4] }, Loop { len: 4, strides: [1, -1] }]);
        assert_eq!(n.offsets(), [-3, 3]);
        let n = nest(&[(4, [1, 3]), (3, [-4, -1])]);
        assert_eq!(n.loops()[0], Loop { len: 3, strides: [4, 1] });
        assert_eq!(n.offsets(), [-8, -2]);
    }

    #[test]
    fn nothing_and_one() {
        assert!(nest(&[(4, [1, 1]), (0, [9, 9])]).is_empty());
        let one = nest(&[(1, [9, 9])]);
        assert!(!one.is_empty() && one.loops().is_empty());
        assert_eq!(Walk::new(one.loops(), [5, 6]).collect::<Vec<_>>(), [[5, 6]]);
    }

    #[test]
    fn more_axes_than_fit_inline() {
        let axes: Vec<_> = (0..12).map(|i| (2, [3_isize.pow(12 - i), 1])).collect();
        let n = nest(&axes);
        assert_eq!(n.loops().len(), 12);
        assert_eq!(Walk::new(n.loops(), [0, 0]).count(), 4096);
        let merged: Vec<_> = (0..12).map(|i| (2, [2_isize.pow(11 - i), 0])).collect();
        assert_eq!(nest(&merged).loops(), [Loop { len: 4096, strides: [1, 0] }]);
    }

    #[test]
    fn a_walk_visits_in_order() {
        let loops = [Loop { len: 2, strides: [10, -1] }, Loop { len: 3, strides: [1, 0] }];
        let seen: Vec<_> = Walk::new(&loops, [0, 0]).collect();
        assert_eq!(seen, [[0, 0], [1, 0], [2, 0], [10, -1], [11, -1], [12, -1]]);
    }
}
