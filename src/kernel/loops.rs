//! Loops over several strided operands, and their order.
//!
//! This module knows lengths and strides, but no element types and no closures: it is compiled once, in this crate.
//! Operand 0 is the output, the others are inputs. A stride of 0 repeats an input and reduces into the output.

#![forbid(unsafe_code)]

use alloc::vec::Vec;
use core::iter::from_fn;
use core::ops::{Deref, DerefMut, Range};

/// The most operands of one nest: the output and six inputs.
pub(crate) const OPERANDS: usize = 7;
/// The most loops on the stack: those of six axes, one of which may be cut into two loops.
const INLINE: usize = 7;

/// A distance from the first element of each operand, in elements. Operands that do not exist stay at 0.
pub(crate) type Offsets = [isize; OPERANDS];

/// The stride along an axis, or 0 if it has fewer than two elements. No loop steps along such an axis, so its stride may
/// be any number, even `isize::MIN`, which cannot be negated.
#[inline(always)]
pub(crate) const fn stride_along(size: usize, stride: isize) -> isize {
    if size > 1 { stride } else { 0 }
}

/// One loop of a nest: its length, and how far each operand moves per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) len: usize,
    pub(crate) strides: Offsets,
}

impl Loop {
    /// A loop that does not move.
    pub(crate) const ONE: Self = Self { len: 1, strides: [0; OPERANDS] };
    /// Fills room for loops: only zeros, which are written by one call.
    const NONE: Self = Self { len: 0, strides: [0; OPERANDS] };

    /// A loop along which the first operands move by these strides, and the others stay.
    #[cfg(test)]
    pub(crate) fn new<const N: usize>(len: usize, strides: [isize; N]) -> Self {
        let mut l = Self { len, ..Self::ONE };
        l.strides[..N].copy_from_slice(&strides);
        l
    }

    /// Loops of these lengths and strides.
    #[cfg(test)]
    pub(crate) fn all<const N: usize>(loops: &[(usize, [isize; N])]) -> alloc::vec::Vec<Self> {
        loops.iter().map(|&(len, strides)| Self::new(len, strides)).collect()
    }

    /// Whether the output stays where it is.
    #[inline(always)]
    pub(crate) fn is_reduced(&self) -> bool {
        self.strides[0] == 0
    }

    /// Whether one step of `self` moves every operand as far as all steps of `inner`.
    #[inline]
    pub(super) fn continues(&self, inner: &Self) -> bool {
        let turn = inner.len.cast_signed();
        self.strides.iter().zip(inner.strides).all(|(&outer, inner)| outer == inner.wrapping_mul(turn))
    }

    /// [`continues`](Self::continues) for all operands but the output.
    #[inline]
    pub(super) fn inputs_continue(&self, inner: &Self) -> bool {
        let inputs = |mut l: Self| {
            l.strides[0] = 0;
            l
        };
        inputs(*self).continues(&inputs(*inner))
    }

    /// The offsets of the operands after `steps` steps.
    #[inline]
    pub(crate) fn after(&self, steps: usize) -> Offsets {
        self.strides.map(|stride| stride * steps.cast_signed())
    }

    /// A loop of `len` steps, each of them `step` steps of this loop.
    #[inline]
    pub(crate) fn every(&self, step: usize, len: usize) -> Self {
        Self { len, strides: self.after(step) }
    }
}

/// The set of all `count` inputs.
#[inline(always)]
pub(crate) const fn all_inputs(count: usize) -> u8 {
    (1 << count) - 1
}

/// Whether operand `k` is in a set of inputs, of which bit `k - 1` stands for operand `k`.
#[inline(always)]
pub(crate) const fn has(set: u8, k: usize) -> bool {
    set >> (k - 1) & 1 == 1
}

/// The operands in a set of inputs.
#[inline]
pub(crate) fn operands(mut set: u8) -> impl Iterator<Item = usize> {
    // not a filter of all operands, whose loop would be unrolled
    from_fn(move || {
        let k = (set != 0).then(|| set.trailing_zeros() as usize + 1);
        set &= set.wrapping_sub(1);
        k
    })
}

/// The set of the inputs for which `is` holds.
pub(crate) fn bits(count: usize, is: &dyn Fn(usize) -> bool) -> u8 {
    let mut bits = 0;
    for k in operands(all_inputs(count)) {
        bits |= u8::from(is(k)) << (k - 1);
    }
    bits
}

/// The inputs that move by one element along a loop; `None` unless the others stay.
#[inline(always)]
pub(crate) fn moving_inputs(row: &Loop, count: usize) -> Option<u8> {
    let mut moving = 0;
    for (k, &stride) in row.strides[1..=count].iter().enumerate() {
        match stride {
            0 => {}
            1 => moving |= 1 << k,
            _ => return None,
        }
    }
    Some(moving)
}

/// Whether the output and the inputs whose bits are set move by one element along a loop, and the other inputs stay. Bit
/// `k - 1` stands for operand `k`.
#[inline]
pub(crate) fn moves_as(row: &Loop, moving: u8, count: usize) -> bool {
    row.len == 1 || row.strides[0] == 1 && inputs_move_as(row, moving, count)
}

/// [`moves_as`] for the inputs alone.
#[inline]
pub(crate) fn inputs_move_as(row: &Loop, moving: u8, count: usize) -> bool {
    (1..=count).all(|k| row.strides[k] == isize::from(has(moving, k)))
}

/// Whether the output moves along all loops.
#[inline(always)]
pub(crate) fn all_kept(loops: &[Loop]) -> bool {
    loops.iter().all(|l| !l.is_reduced())
}

/// Whether there are two loops, of which the first one is reduced, and the outputs are adjacent along the second one.
#[inline(always)]
pub(crate) fn are_rows(loops: &[Loop]) -> bool {
    matches!(loops, [rows, row] if rows.is_reduced() && row.strides[0] == 1)
}

/// Whether there are one or two loops, of which only the innermost one is reduced, along adjacent elements.
#[inline(always)]
pub(crate) fn are_lanes(loops: &[Loop]) -> bool {
    matches!(loops, [outer @ .., lane] if lane.is_reduced() && lane.strides[1] == 1 && outer.len() < 2 && all_kept(outer))
}

/// The bytes of an array that does not stay in the cache.
const UNCACHED: usize = 16 << 20;
/// The bytes of rows that are read one after the other.
const SHORT_ROWS: Range<usize> = 192..4 << 10;
/// The same if there are no more than eight rows for each output.
const FEW_SHORT_ROWS: Range<usize> = 512..4 << 10;

/// The number of rows, one after the other along `l`, that tiles merge into one if there are `rows` in all: all of them, or
/// so few that at least eight of the longer rows remain.
pub(crate) fn merged_rows(rows: usize, l: &Loop) -> usize {
    let most = rows / 64;
    if most < l.len { most.min(l.len / AT_ONCE) } else { most }
}

/// Whether the innermost loop runs along short rows of an array that does not stay in the cache, whose elements have `size`
/// bytes. Memory serves several such rows at once up to 3 times slower than one after the other.
pub(crate) fn are_uncached_rows(loops: &[Loop], size: usize) -> bool {
    let Some(row) = loops.last().filter(|row| !row.is_reduced()) else { return false };
    let short = if reduced_steps(loops) > AT_ONCE { SHORT_ROWS } else { FEW_SHORT_ROWS };
    short.contains(&row.len.saturating_mul(size)) && steps(loops).saturating_mul(size) >= UNCACHED
}

/// The number of rows of a reduced array, whose elements have `size` bytes, to read at once: one if these [`are_uncached_rows`], even where tiles merge them.
pub(crate) fn rows_at_once(loops: &[Loop], size: usize) -> usize {
    let [.., outer, row] = loops else { return AT_ONCE };
    let merged = row.len.saturating_mul(merged_rows(reduced_steps(loops), outer).max(1));
    let are_short = merged.saturating_mul(size) < SHORT_ROWS.end;
    if are_short && are_uncached_rows(loops, size) { 1 } else { AT_ONCE }
}

/// The number of indices that are reduced to each output.
#[inline(never)]
pub(crate) fn reduced_steps(loops: &[Loop]) -> usize {
    loops.iter().filter(|l| l.is_reduced()).map(|l| l.len).product()
}

/// The number of outputs.
#[inline(never)]
pub(crate) fn outputs(loops: &[Loop]) -> usize {
    loops.iter().filter(|l| !l.is_reduced()).map(|l| l.len).product()
}

/// Whether lanes are reduced together, one for each step of the innermost of the `outer` loops: lanes of their width
/// `are_together`, their elements are adjacent, and they follow each other without gaps, as do their outputs.
#[inline(always)]
pub(crate) fn lanes_together(outer: &[Loop], lane: &Loop, are_together: fn(usize) -> bool) -> bool {
    let follow = |l: &Loop| l.strides[0] == 1 && l.strides[1] == lane.len.cast_signed();
    lane.strides[1] == 1 && outer.last().is_some_and(follow) && are_together(lane.len)
}

/// Whether operand `k` is contiguous along the loops.
#[inline(never)]
pub(crate) fn is_adjacent(loops: &[Loop], k: usize) -> bool {
    let mut width = 1;
    loops.iter().rev().all(|l| {
        let follows = l.strides[k] == width;
        width *= l.len.cast_signed();
        follows
    })
}

/// The number of indices that these loops visit.
// Not inline: in a function compiled for AVX2, this product alone takes a kilobyte.
#[inline(never)]
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
    pub(crate) const fn new() -> Self {
        Self { inline: [Loop::NONE; INLINE], len: 0, spilled: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: Loop) {
        if self.len >= INLINE {
            return self.spill(item);
        }
        self.inline[self.len] = item;
        self.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, item: Loop) {
        if self.len == INLINE {
            self.spilled.extend_from_slice(&self.inline);
        }
        self.spilled.push(item);
        self.len += 1;
    }

    #[inline(never)]
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
        self.clear();
        self.extend(loops);
    }

    #[inline(never)]
    pub(crate) fn extend(&mut self, loops: &[Loop]) {
        for &l in loops {
            self.push(l);
        }
    }

    #[inline]
    fn clear(&mut self) {
        self.spilled.clear();
        self.len = 0;
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
    /// The loops with the one at `place` split into two, the inner one with `take` steps. The last steps are left out if
    /// `take` does not divide the length of the loop.
    ///
    /// # Panics
    /// If the loop has fewer steps, or `take` is 0.
    pub(crate) fn group(&mut self, loops: &[Loop], place: usize, take: usize) {
        let whole = &loops[place];
        assert!(take > 0 && take <= whole.len, "groups of the loop's steps");
        self.clone_from_slice(&loops[..=place]);
        self[place] = whole.every(take, whole.len / take);
        self.extend(&loops[place..]);
        self[place + 1].len = take;
    }

    /// The loops with only `len` steps at `place`: a caller moves its pointers by `from` steps.
    ///
    /// # Panics
    /// If the loop does not have `len` steps from `from` on, or `len` is 0.
    pub(crate) fn part(&mut self, loops: &[Loop], place: usize, from: usize, len: usize) {
        let whole = loops[place];
        assert!(from <= whole.len && len <= whole.len - from && len > 0, "a part of the loop");
        self.clone_from_slice(loops);
        self[place].len = len;
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
        assert!(self.len() == loops.len(), "three classes");
    }

    /// The loops of [`Nest::gathered`](super::nest::Nest::gathered): the loops from `outer` on as one loop over adjacent
    /// elements, inside at most one other. Copies of the inputs in `copied` are made along the loops, without the outer one
    /// where an input stays.
    ///
    /// # Panics
    /// If there are fewer inputs or more outer loops, or another operand neither is contiguous nor stays along the inner loops.
    pub(crate) fn gather(&mut self, loops: &[Loop], outer: usize, count: usize, copied: u8) {
        assert!(copied >> count == 0, "inputs that there are");
        let (outer, row) = loops.split_at(outer);
        assert!(outer.len() < 2, "one loop around a row");
        let mut all = Loop { len: steps(row), ..Loop::ONE };
        for k in 0..=count {
            let is_copied = k > 0 && has(copied, k);
            let stays = k > 0 && row.iter().all(|l| l.strides[k] == 0);
            assert!(is_copied || stays || is_adjacent(row, k), "operands that are used as they lie");
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
            self[len - 4..].rotate_left(1);
            self.truncate(len - 1);
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
            Self::AllRead => ((1..OPERANDS).map(stride).fold(0, usize::saturating_add), stride(0)),
        }
    }
}

/// Loops, outermost first, that together visit every index of a shape once.
///
/// Axes of length 1 are dropped, axes with negative strides are reversed, and neighbours that continue each other are
/// merged into one loop. A plan without loops visits a single index.
#[derive(Clone, Debug)]
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
        let count = self.loops.iter().try_fold(1_usize, |count, l| count.checked_mul(l.len));
        assert!(count.is_some_and(|count| count <= isize::MAX.unsigned_abs()), "indices that can be counted");
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
            self.loops.truncate(kept + 1);
        }
    }
}

/// The last `count` loops, merged into one if they continue each other.
#[inline]
pub(crate) fn join(loops: &mut [Loop; 2], count: usize) -> &[Loop] {
    let [outer, inner] = loops;
    if outer.len == 1 || outer.continues(inner) {
        inner.len *= outer.len;
        return &loops[2 - count.min(1)..];
    }
    loops
}

/// The number of partial results that stay in registers: enough to fill several vectors.
pub(crate) const PART: usize = 32;
/// The number of rows that are read at once, where it is not one.
pub(crate) const AT_ONCE: usize = 8;

/// The number of chunks of a lane that are combined with the same partial results. A processor works on several such segments
/// at a time.
pub(crate) const SEGMENT: usize = 16;

/// Plans a visit of reduced rows, [`PART`] items at a time. Returns the number of rows to visit at once.
///
/// Sets `groups` to the loop over as many rows, and to the one inside it over parts.
// Not inline: it need not be compiled for each closure.
#[inline(never)]
pub(crate) fn plan_parts(loops: &[Loop], groups: &mut [Loop; 2]) -> usize {
    let [rows, row] = loops else { unreachable!("two loops") };
    // other rows are apart, and memory serves few of them at once
    let at_once = rows.len.min(AT_ONCE);
    *groups = [rows.every(at_once, rows.len.div_ceil(at_once)), row.every(PART, row.len / PART)];
    at_once
}

/// The offsets of the operands at index number `turn` of the loops, innermost fastest.
pub(crate) fn offsets(loops: &[Loop], mut turn: usize) -> Offsets {
    let Some((outermost, inner)) = loops.split_first() else { return [0; OPERANDS] };
    let mut at = [0; OPERANDS];
    let mut add = |by: Offsets| at.iter_mut().zip(by).for_each(|(at, by)| *at += by);
    for l in inner.iter().rev() {
        add(l.after(turn % l.len));
        turn /= l.len;
    }
    // without a division, which is slow
    add(outermost.after(turn));
    at
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
            for (by, stride) in self.by.iter_mut().zip(self.last.strides).take(1 + count) {
                *by = by.wrapping_add(stride);
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

/// The innermost loop, and those around it. Without loops, one that does not move.
#[inline(always)]
pub(crate) fn innermost(loops: &[Loop]) -> (&Loop, &[Loop]) {
    loops.split_last().unwrap_or((&Loop::ONE, loops))
}

/// The elements of the only input along loops: the number of rows, and their stride; the width of a row, and the step of its
/// elements. There is one row, or rows along the first loop if `in_rows`.
///
/// # Panics
/// If the elements of a row are not evenly spaced.
#[inline]
pub(crate) fn evenly_spaced(loops: &[Loop], in_rows: bool) -> [(usize, isize); 2] {
    let (rows, row) = loops.split_at(usize::from(in_rows));
    let rows = rows.first().map_or((1, 0), |l| (l.len, l.strides[1]));
    let (mut width, step) = (1, innermost(row).0.strides[1]);
    for l in row.iter().rev() {
        assert!(l.strides[1] == step * width, "elements that are evenly spaced");
        width *= l.len.cast_signed();
    }
    [rows, (width.cast_unsigned(), step)]
}

/// Calls `then` with the offset of operand `k` at every index of the loops, innermost fastest.
pub(crate) fn each_offset(loops: &[Loop], k: usize, then: &mut dyn FnMut(usize)) {
    let (last, outer) = innermost(loops);
    for turn in 0..steps(outer) {
        let start = offsets(outer, turn)[k];
        (0..last.len).for_each(|i| then((start + i.cast_signed() * last.strides[k]).cast_unsigned()));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
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
    fn more_axes_than_fit_inline() {
        let axes: Vec<_> = (0..12).map(|i| (2, [3_isize.pow(11 - i), 1])).collect();
        let p = plan(Outside::Written, &axes);
        assert_eq!(*p.loops, Loop::all(&axes));
        let seen = offsets_of(&p.loops, 0);
        assert_eq!((seen.len(), seen[1], seen[2], seen[4095]), (4096, 1, 3, (3_usize.pow(12) - 1) / 2));
        let merged: Vec<_> = (0..12).map(|i| (2, [2_isize.pow(11 - i), 0])).collect();
        assert_eq!(*plan(Outside::Written, &merged).loops, Loop::all(&[(4096, [1, 0])]));
    }

    #[test]
    fn a_list_grows_to_the_heap_and_back() {
        let loops_of = |n| (1..=n).map(|len| Loop::new(len, [1])).collect::<Vec<_>>();
        let mut list = Loops::new();
        for n in [0, 5, 6, 7, 12, 7, 6, 9, 1, 0, 8] {
            list.clone_from_slice(&loops_of(n));
            assert_eq!(*list, loops_of(n));
        }
        // with what was written on the heap
        list[0].len = 50;
        let written = list.to_vec();
        for n in [8, 7, 6, 3, 0] {
            list.truncate(n);
            assert_eq!(*list, written[..n]);
        }
        list.extend(&loops_of(7));
        list[6].len = 50;
        assert_eq!((list.len(), list[5].len, list[6].len), (7, 6, 50));
    }

    #[test]
    fn loops_are_walked_in_order() {
        let loops = Loop::all(&[(2, [10, -1]), (3, [1, 0])]);
        let seen: Vec<_> = (0..6).map(|turn| offsets(&loops, turn)).map(|by| [by[0], by[1]]).collect();
        assert_eq!(seen, [[0, 0], [1, 0], [2, 0], [10, -1], [11, -1], [12, -1]]);
        assert_eq!(offsets_of(&loops, 0), [0, 1, 2, 10, 11, 12]);
        let three = Loop::all(&[(5, [100, 7]), (2, [10, -1]), (3, [1, 0])]);
        assert_eq!([5, 6, 28].map(|turn| offsets(&three, turn)[0]), [12, 100, 411]);
        let stays = Loop::all(&[(2, [0, 4]), (2, [0, 1])]);
        assert_eq!(offsets_of(&stays, 0), [0; 4]);
        assert_eq!(offsets_of(&stays, 1), [0, 1, 4, 5]);
        assert_eq!(steps(&loops), 6);
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

    #[test]
    fn rows_and_lanes() {
        let (lane, kept) = ((9, [0, 1]), (5, [3, 9]));
        let (rows, row) = ((9, [0, 50]), (5, [1, 1]));
        for loops in [&[lane][..], &[kept, lane]] {
            assert!(are_lanes(&Loop::all(loops)) && !are_rows(&Loop::all(loops)), "{loops:?}");
        }
        assert!(are_rows(&Loop::all(&[rows, row])) && !are_lanes(&Loop::all(&[rows, row])));
        // strided lanes, more loops, and two reduced ones
        for loops in [&[kept, rows][..], &[kept, kept, lane], &[rows, lane], &[row], &[]] {
            assert!(!are_lanes(&Loop::all(loops)) && !are_rows(&Loop::all(loops)), "{loops:?}");
        }
    }

    #[test]
    fn short_rows_of_large_arrays_are_read_alone() {
        let at_once = |images: usize, rows: usize, row: usize| {
            let step = row.cast_signed();
            let image = step * rows.cast_signed();
            rows_at_once(&Loop::all(&[(images, [step, image]), (rows, [0, step]), (row, [1, 1])]), 8)
        };
        // 16 MiB
        assert_eq!([at_once(512, 64, 64), at_once(511, 64, 64)], [1, AT_ONCE]);
        // rows of 192 bytes to 4 KiB, and of 512 bytes where there are few
        assert_eq!([at_once(4000, 40, 24), at_once(4000, 40, 23)], [1, AT_ONCE]);
        assert_eq!([at_once(400, 40, 511), at_once(400, 40, 512)], [1, AT_ONCE]);
        assert_eq!([at_once(8000, 8, 64), at_once(8000, 8, 63), at_once(8000, 9, 63)], [1, AT_ONCE, 1]);
        // so many that tiles merge them
        assert_eq!([at_once(100, 511, 64), at_once(100, 512, 64)], [1, AT_ONCE]);
        let many = Loop::all(&[(51_200, [0, 64]), (64, [1, 1])]);
        assert!(are_uncached_rows(&many, 8) && !are_uncached_rows(&many, 2));
        assert!(!are_uncached_rows(&Loop::all(&[(51_200, [1, 64]), (64, [0, 1])]), 8));
        assert_eq!(
            [[6400, 100], [6400, 800], [640, 8], [639, 10]]
                .map(|[rows, len]| { merged_rows(rows, &Loop::new(len, [0, 1])) }),
            [100, 100, 10, 1]
        );
        assert_eq!(rows_at_once(&Loop::all(&[(100_000, [1, 100]), (100, [0, 1])]), 8), AT_ONCE);
    }

    #[test]
    fn rows_are_visited_in_parts() {
        let plan = |loops: &[(usize, [isize; 2])]| {
            let mut groups = [Loop::ONE; 2];
            let at_once = plan_parts(&Loop::all(loops), &mut groups);
            (at_once, groups.map(|l| (l.len, [l.strides[0], l.strides[1]])))
        };
        assert_eq!(plan(&[(20, [0, 100]), (70, [1, 1])]), (8, [(3, [0, 800]), (2, [32, 32])]));
        assert_eq!(plan(&[(8, [0, 100]), (64, [1, 1])]), (8, [(1, [0, 800]), (2, [32, 32])]));
        assert_eq!(plan(&[(3, [0, 32]), (32, [1, 1])]), (3, [(1, [0, 96]), (1, [32, 32])]));
    }

    #[test]
    fn steps_of_a_loop() {
        let l = Loop::new(6, [5, -2]);
        assert_eq!(l.after(4)[..2], [20, -8]);
        assert_eq!(l.every(3, 2), Loop::new(2, [15, -6]));
        assert!(Loop::new(6, [0, 1]).is_reduced() && !l.is_reduced());
    }
}
