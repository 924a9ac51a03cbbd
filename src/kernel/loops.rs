//! Loops over several strided operands.
//!
//! This module knows lengths and strides, but no element types and no closures: it is compiled once, in this crate.
//! Operand 0 is the output, the others are inputs. A stride of 0 repeats an input and reduces into the output.

#![forbid(unsafe_code)]

use crate::kernel::ensure;
use core::iter::from_fn;
use core::ops::Range;

/// The most operands of one nest: the output and six inputs.
pub(crate) const OPERANDS: usize = 7;
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
        self.continues_for(0, inner)
    }

    /// [`continues`](Self::continues) for all operands but the output.
    pub(super) fn inputs_continue(&self, inner: &Self) -> bool {
        self.continues_for(1, inner)
    }

    /// [`continues`](Self::continues) for the operands from `first` on.
    #[inline(always)]
    fn continues_for(&self, first: usize, inner: &Self) -> bool {
        for k in first..OPERANDS {
            if self.strides[k] != inner.strides[k].wrapping_mul(inner.len.cast_signed()) {
                return false;
            }
        }
        true
    }

    /// The offsets of the operands after `steps` steps.
    #[inline]
    pub(crate) fn after(&self, steps: usize) -> Offsets {
        let mut by = self.strides;
        // not `map`: this is compiled for each closure
        for by in &mut by {
            *by *= steps.cast_signed();
        }
        by
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
    for k in 1..=count {
        match row.strides[k] {
            0 => {}
            1 => moving |= 1 << (k - 1),
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
    for k in 1..=count {
        if row.strides[k] != isize::from(has(moving, k)) {
            return false;
        }
    }
    true
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

/// The product of the lengths of the loops that are counted.
fn product_of(loops: &[Loop], is_counted: fn(&Loop) -> bool) -> usize {
    let mut product = 1;
    for l in loops {
        if is_counted(l) {
            product *= l.len;
        }
    }
    product
}

/// The number of indices that are reduced to each output.
#[inline(never)]
pub(crate) fn reduced_steps(loops: &[Loop]) -> usize {
    product_of(loops, Loop::is_reduced)
}

/// The number of outputs.
#[inline(never)]
pub(crate) fn outputs(loops: &[Loop]) -> usize {
    product_of(loops, |l| !l.is_reduced())
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
    for l in loops.iter().rev() {
        if l.strides[k] != width {
            return false;
        }
        width *= l.len.cast_signed();
    }
    true
}

/// The number of indices that these loops visit.
// Not inline: in a function compiled for AVX2, this product alone takes a kilobyte.
#[inline(never)]
pub(crate) fn steps(loops: &[Loop]) -> usize {
    product_of(loops, |_| true)
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
    for l in inner.iter().rev() {
        at = sum(at, l.after(turn % l.len));
        turn /= l.len;
    }
    // without a division, which is slow
    sum(at, outermost.after(turn))
}

/// The sums of two offsets of each operand.
fn sum(mut at: Offsets, by: Offsets) -> Offsets {
    for k in 0..OPERANDS {
        at[k] += by[k];
    }
    at
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
        ensure(l.strides[1] == step * width, "elements that are evenly spaced");
        width *= l.len.cast_signed();
    }
    [rows, (width.cast_unsigned(), step)]
}

/// Calls `then` with the offset of operand `k` at every index of the loops, innermost fastest.
pub(crate) fn each_offset(loops: &[Loop], k: usize, then: &mut dyn FnMut(usize)) {
    let (last, outer) = innermost(loops);
    for turn in 0..steps(outer) {
        let start = offsets(outer, turn)[k];
        for i in 0..last.len {
            then((start + i.cast_signed() * last.strides[k]).cast_unsigned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn offsets_of(loops: &[Loop], k: usize) -> Vec<usize> {
        let mut seen = Vec::new();
        each_offset(loops, k, &mut |at| seen.push(at));
        seen
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
