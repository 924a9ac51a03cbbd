//! Loops over several strided operands: what to visit, in which order.
//!
//! Everything here is about lengths and strides: it knows neither element types nor closures, and is compiled once,
//! in this crate. Operand 0 is the one that is written; a stride of 0 repeats an operand that is read, and reduces
//! the one that is written.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// The most operands of one nest: one that is written and six that are read.
pub(crate) const OPERANDS: usize = 7;
/// Loops that fit without the heap.
const INLINE: usize = 6;

/// A distance from the first element of each operand, in elements. Operands that do not exist stay at 0.
pub(crate) type Offsets = [isize; OPERANDS];

/// One loop of a nest: its length, and how far each operand moves per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) len: usize,
    pub(crate) strides: Offsets,
}

impl Loop {
    /// A loop that does not move.
    pub(crate) const ONE: Self = Self { len: 1, strides: [0; OPERANDS] };

    /// Whether the written operand stays where it is.
    #[inline(always)]
    pub(crate) fn is_reduced(&self) -> bool {
        self.strides[0] == 0
    }

    /// Whether one step of `self` equals a whole turn of `inner`, in every operand.
    #[inline]
    fn continues(&self, inner: &Self) -> bool {
        let turn = inner.len.cast_signed();
        self.strides.iter().zip(inner.strides).all(|(&outer, inner)| outer == inner.wrapping_mul(turn))
    }

    /// How far the operands are after `steps` steps.
    #[inline]
    pub(crate) fn after(&self, steps: usize) -> Offsets {
        self.strides.map(|stride| stride * steps.cast_signed())
    }

    /// The same loop, `step` steps at a time, of which there are `len`.
    #[inline]
    pub(crate) fn every(&self, step: usize, len: usize) -> Self {
        Self { len, strides: self.after(step) }
    }
}

/// How often the innermost statement of these loops runs.
#[inline]
pub(crate) fn steps(loops: &[Loop]) -> usize {
    loops.iter().map(|l| l.len).product()
}

/// A short list of loops that stays on the stack up to [`INLINE`] items.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    inline: [Loop; INLINE],
    len: usize,
    spilled: Vec<Loop>,
}

impl Loops {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { inline: [Loop::ONE; INLINE], len: 0, spilled: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: Loop) {
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
    fn truncate(&mut self, len: usize) {
        if self.len > INLINE && len <= INLINE {
            self.inline[..len].copy_from_slice(&self.spilled[..len]);
            self.spilled.clear();
        }
        self.spilled.truncate(len);
        self.len = len;
    }
}

impl Loops {
    /// Replaces the list by these loops.
    pub(crate) fn clone_from_slice(&mut self, loops: &[Loop]) {
        self.truncate(0);
        self.extend(loops);
    }

    pub(crate) fn extend(&mut self, loops: &[Loop]) {
        loops.iter().for_each(|&l| self.push(l));
    }
}

/// What [`Nest`](super::nest::Nest) does with its loops: each replaces the list by other loops over some of the same
/// indices.
impl Loops {
    /// The loops, with the one at `place` as two of which the inner one has `take` steps.
    ///
    /// # Panics
    /// Where `take` does not divide the length of the loop.
    pub(crate) fn group(&mut self, loops: &[Loop], place: usize, take: usize) {
        let whole = loops[place];
        assert!(take > 0 && whole.len.is_multiple_of(take), "groups of equal length");
        self.clone_from_slice(&loops[..place]);
        self.push(whole.every(take, whole.len / take));
        self.push(Loop { len: take, ..whole });
        self.extend(&loops[place + 1..]);
    }

    /// The loops with fewer steps at `place`: those from `from` on.
    ///
    /// # Panics
    /// Where the loop has no such steps.
    pub(crate) fn part(&mut self, loops: &[Loop], place: usize, from: usize, len: usize) {
        let whole = loops[place];
        assert!(from <= whole.len && len <= whole.len - from && len > 0, "a part of the loop");
        self.clone_from_slice(loops);
        self[place].len = len;
    }

    /// The loops in the order of their class, 0 outermost and 2 innermost; equal ones stay in order.
    pub(crate) fn order(&mut self, loops: &[Loop], class: &dyn Fn(usize, &Loop) -> u8) {
        self.clone_from_slice(&[]);
        for wanted in 0..=2 {
            let those = loops.iter().enumerate().filter(|&(place, l)| class(place, l) == wanted);
            those.for_each(|(_, &l)| self.push(l));
        }
        assert!(self.len() == loops.len(), "three classes");
    }

    /// The loops along which the written operand moves.
    pub(crate) fn written(&mut self, loops: &[Loop]) {
        self.clone_from_slice(&[]);
        loops.iter().filter(|l| !l.is_reduced()).for_each(|&l| self.push(l));
    }
}

impl Deref for Loops {
    type Target = [Loop];

    #[inline]
    fn deref(&self) -> &[Loop] {
        if self.len <= INLINE { &self.inline[..self.len] } else { &self.spilled }
    }
}

impl DerefMut for Loops {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Loop] {
        if self.len <= INLINE { &mut self.inline[..self.len] } else { &mut self.spilled }
    }
}

/// Which loops go outside: those with the greater strides, compared as follows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outside {
    /// In the operand that is written.
    Written,
    /// In the first operand that is read; where that is repeated, in the one that is written.
    Read,
    /// In all operands that are read, added up; then in the one that is written.
    AllRead,
    /// As the loops are given.
    Given,
}

impl Outside {
    #[inline]
    fn key(self, l: &Loop) -> (usize, usize) {
        let [written, read, ..] = l.strides.map(isize::unsigned_abs);
        match self {
            Self::Written => (written, 0),
            Self::Read => (if read == 0 { written } else { read }, 0),
            Self::AllRead => {
                let all = l.strides[1..].iter().map(|s| s.unsigned_abs()).fold(0, usize::saturating_add);
                (all, written)
            }
            Self::Given => (0, 0),
        }
    }
}

/// Loops, outermost first, that together visit every index of a shape once.
///
/// Axes of length 1 are gone, axes that run backwards are turned round, and neighbours that one loop can serve are
/// one loop. A plan without loops visits a single index.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) loops: Loops,
    /// How far the first visited element of each operand is from its element at index zero.
    pub(crate) start: Offsets,
    /// Whether there is no index to visit.
    pub(crate) is_empty: bool,
}

impl Plan {
    /// A plan to be [`made`](Self::make) in place, as moving one costs as much as making it.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { loops: Loops::new(), start: [0; OPERANDS], is_empty: false }
    }

    /// Adds an axis to the plan that is to be made.
    #[inline]
    pub(crate) fn add(&mut self, axis: Loop) {
        match axis.len {
            0 => self.is_empty = true,
            1 => {}
            _ => self.loops.push(axis),
        }
    }

    /// Orders the loops; equal keys keep the order in which the axes were added.
    ///
    /// An axis is turned round where the first operand that moves along it moves backwards.
    #[inline]
    pub(crate) fn make(&mut self, outside: Outside) {
        if self.is_empty {
            return self.loops.truncate(0);
        }
        let loops = &mut *self.loops;
        for l in loops.iter_mut() {
            if l.strides.iter().find(|&&s| s != 0).is_some_and(|&s| s < 0) {
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
            self.loops.truncate(kept + 1);
        }
    }
}

/// Where the operands are at the `turn`th step of the loops.
pub(crate) fn offsets(loops: &[Loop], mut turn: usize) -> Offsets {
    let mut at = [0; OPERANDS];
    for l in loops.iter().rev() {
        let index = (turn % l.len).cast_signed();
        turn /= l.len;
        for (at, stride) in at.iter_mut().zip(l.strides) {
            *at += stride * index;
        }
    }
    at
}

/// The offsets of operand `k` at every index of the loops, innermost fastest.
#[inline]
pub(crate) fn walk(loops: &[Loop], k: usize) -> impl Iterator<Item = usize> + '_ {
    let (last, outer) = loops.split_last().map_or((&Loop::ONE, loops), |(l, rest)| (l, rest));
    (0..steps(outer)).flat_map(move |turn| {
        let start = offsets(outer, turn)[k];
        (0..last.len).map(move |i| (start + i.cast_signed() * last.strides[k]).cast_unsigned())
    })
}
