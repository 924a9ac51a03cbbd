//! Sums that need no tile: at most one loop is reduced, and it is one of the two innermost ones.
//!
//! ```text
//! rows      a a a a a …      out[j] = sum of column j          1, 2, 4 or 8 rows of any length; 1 is a copy
//!           b b b b b …
//! channels  r g b r g b …    out[k] = sum of every third        2, 3 or 4 columns without gaps
//! together  a a a|b b b|…    out[i] = a[i] + a[i + 1] + …       lanes of a few elements without gaps
//! lane      a a a a a a …    out[i] = sum of lane i             adjacent elements
//! strided   a . a . a . …    the same, after a copy             elements at a stride
//! singles   a . . b . . …    out[i] = a                         nothing is reduced, elements at a stride
//! ```
//!
//! One walk over the outer loops serves all of these. Each takes a [`Run`]: equal blocks along the innermost outer loop.

use super::{Element, Store};
use crate::kernel::lane;
use crate::kernel::lane::LONGEST;
use crate::kernel::loops::{AT_ONCE, Loop, all_kept, lanes_together};
use crate::kernel::memory::Scratch;
use crate::kernel::nest::{Nest, Run};
use crate::kernel::simd::{Cpu, Work};

/// The numbers of rows for which channels are added up without tiles.
const CHANNEL_ROWS: core::ops::RangeInclusive<usize> = 8..=1024;

/// The loop for the sums of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// Adds up this number of rows of adjacent elements; 1 if nothing is reduced.
    Rows(usize),
    /// Adds up rows of this many elements, without gaps within and between rows.
    Channels(usize),
    /// Adds up several lanes of a few adjacent elements at a time, without gaps between lanes: see [`LanesTogether`].
    Together,
    /// Adds up one lane of adjacent elements at a time.
    Lane,
    /// Adds up one lane of strided elements at a time: see [`strided_lanes`].
    Strided,
    /// Nothing is reduced.
    Singles,
}

impl Lanes {
    #[inline(always)]
    pub(super) fn of<T>(loops: &[Loop], at_once: usize) -> Option<Self> {
        let adjacent = |l: &Loop| l.strides[0] == 1 && l.strides[1] == 1;
        match *loops {
            [ref outer @ .., r, k]
                if r.is_reduced()
                    && (r.len == 2 || matches!(r.len, 4 | 8) && at_once == AT_ONCE)
                    && adjacent(&k)
                    && all_kept(outer) =>
            {
                Some(Self::Rows(r.len))
            }
            [ref outer @ .., r, k]
                if r.is_reduced()
                    && CHANNEL_ROWS.contains(&r.len)
                    && k.strides[1] == 1
                    && matches!(k.len, 2..=4)
                    && !k.is_reduced()
                    && r.strides[1] == k.len.cast_signed()
                    && all_kept(outer) =>
            {
                Some(Self::Channels(k.len))
            }
            [ref outer @ .., r] if r.is_reduced() => {
                if r.len > LONGEST || !all_kept(outer) {
                    return None;
                }
                Some(match r.strides[1] {
                    _ if lanes_together(outer, &r, lane::are_together::<T>) => Self::Together,
                    1 => Self::Lane,
                    _ => Self::Strided,
                })
            }
            _ if !all_kept(loops) => None,
            [.., k] if adjacent(&k) => Some(Self::Rows(1)),
            _ => Some(Self::Singles),
        }
    }

    /// The number of innermost loops in a block, and whether the first of them runs along its rows.
    fn block(self) -> (usize, bool) {
        match self {
            Self::Singles => (0, false),
            Self::Rows(1) | Self::Lane | Self::Strided => (1, false),
            Self::Rows(_) | Self::Together => (2, true),
            Self::Channels(_) => (2, false),
        }
    }

    #[inline(always)]
    pub(super) fn run<C: Cpu, T: Element, S: Store<T>>(self, nest: Nest<'_, S::Slot, (T,)>, store: &S) {
        let (inner, in_rows) = self.block();
        let mut runs = nest.blocks(inner, in_rows);
        // matched per run, so that there is one loop over the runs and not one for each variant
        while let Some(run) = runs.next() {
            match self {
                Self::Rows(1) => rows::<C, T, S, 1>(run, store),
                Self::Rows(2) => rows::<C, T, S, 2>(run, store),
                Self::Rows(4) => rows::<C, T, S, 4>(run, store),
                Self::Rows(_) => rows::<C, T, S, 8>(run, store),
                Self::Channels(2) => channels::<T, S, 2, 16>(run, store),
                Self::Channels(3) => channels::<T, S, 3, 24>(run, store),
                Self::Channels(_) => channels::<T, S, 4, 32>(run, store),
                Self::Lane => lane::sums(run, store),
                Self::Together | Self::Strided => unreachable!("functions of their own"),
                Self::Singles => singles(run, store),
            }
        }
    }
}

/// `N` rows at once.
#[inline(always)]
fn rows<C: Cpu, T: Element, S: Store<T>, const N: usize>(mut run: Run<'_, S::Slot, T>, store: &S) {
    while let Some((x, slots)) = run.next() {
        lane::across::<C, T, S, N>(x, 0, slots.slice(), &lane::plus, store);
    }
}

/// Rows of `K` elements, eight rows, or `L` elements, at once.
#[inline(always)]
fn channels<T: Element, S: Store<T>, const K: usize, const L: usize>(
    mut run: Run<'_, S::Slot, T>,
    store: &S,
) {
    while let Some((x, slots)) = run.next() {
        let sums = lane::periodic::<T, K, L>(x.slice());
        slots.each(&sums, |slot, sum| store.store(slot, sum));
    }
}

/// [`Lanes::Together`].
// Compiled by itself: the other lanes then take fewer instructions.
pub(super) struct LanesTogether<'a, 's, T, S: Store<T>> {
    pub(super) nest: Nest<'a, S::Slot, (T,)>,
    pub(super) store: &'s S,
}

impl<T: Element, S: Store<T>> Work for LanesTogether<'_, '_, T, S> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let (inner, in_rows) = Lanes::Together.block();
        let mut runs = self.nest.blocks(inner, in_rows);
        while let Some(run) = runs.next() {
            lane::together(run, &T::zero(), &lane::plus, self.store);
        }
    }
}

/// Lanes of strided elements, which are copied before they are added up.
// Not inline: a function with a large stack frame takes time to enter.
#[inline(never)]
pub(super) fn strided_lanes<T: Element, S: Store<T>>(nest: Nest<'_, S::Slot, (T,)>, store: &S) {
    let mut scratch = Scratch::new();
    let room = scratch.filled(lane::BLOCK, &T::zero());
    let mut runs = nest.blocks(1, false);
    while let Some(mut run) = runs.next() {
        while let Some((x, slots)) = run.next() {
            store.store(slots.only(), lane::sum_strided(x, room));
        }
    }
}

#[inline(always)]
fn singles<T: Element, S: Store<T>>(mut run: Run<'_, S::Slot, T>, store: &S) {
    while let Some((x, slots)) = run.next() {
        store.store(slots.only(), x.get(0, 0).clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The choice for loops with these strides in the output and in the input.
    fn lanes(loops: &[(usize, [isize; 2])]) -> Option<Lanes> {
        Lanes::of::<f32>(&Loop::all(loops), 8)
    }

    #[test]
    fn lanes_are_short_or_long() {
        for n in [2_usize, 5, 8, 24, 31] {
            assert_eq!(lanes(&[(50, [1, n.cast_signed()]), (n, [0, 1])]), Some(Lanes::Together));
        }
        assert_eq!(lanes(&[(50, [1, 32]), (32, [0, 1])]), Some(Lanes::Lane));
        // with gaps between the lanes, within them, and in the output
        assert_eq!(lanes(&[(50, [1, 4]), (3, [0, 1])]), Some(Lanes::Lane));
        assert_eq!(lanes(&[(50, [1, 3]), (3, [0, 50])]), Some(Lanes::Strided));
        assert_eq!(lanes(&[(50, [2, 3]), (3, [0, 1])]), Some(Lanes::Lane));
        assert_eq!(lanes(&[(9, [0, 1])]), Some(Lanes::Lane));
        for step in [0, 2, -2] {
            assert_eq!(lanes(&[(9, [0, step])]), Some(Lanes::Strided));
        }
        // lanes so long that tiles are better, and lanes inside another reduced loop
        assert_eq!(lanes(&[(2, [1, 65_536]), (65_536, [0, 1])]), Some(Lanes::Lane));
        assert_eq!(lanes(&[(2, [1, 65_537]), (65_537, [0, 1])]), None);
        assert_eq!(lanes(&[(9, [0, 100]), (5, [1, 10]), (9, [0, 1])]), None);
    }

    #[test]
    fn few_rows_are_added_at_once() {
        for n in [2, 4, 8] {
            assert_eq!(lanes(&[(n, [0, 50]), (50, [1, 1])]), Some(Lanes::Rows(n)));
        }
        assert_eq!(lanes(&[(7, [50, 100]), (2, [0, 50]), (50, [1, 1])]), Some(Lanes::Rows(2)));
        // one at a time
        let one = |n| Lanes::of::<f32>(&Loop::all(&[(n, [0, 50]), (50, [1, 1])]), 1);
        assert_eq!([2, 4, 8].map(one), [Some(Lanes::Rows(2)), None, None]);
        // another number of rows, more reduced loops, gaps in the input or in the output
        for n in [3, 5, 16] {
            assert_eq!(lanes(&[(n, [0, 50]), (50, [1, 1])]), None);
        }
        assert_eq!(lanes(&[(7, [0, 100]), (2, [0, 50]), (50, [1, 1])]), None);
        assert_eq!(lanes(&[(2, [0, 100]), (50, [1, 2])]), None);
        assert_eq!(lanes(&[(2, [0, 50]), (50, [2, 1])]), None);
    }

    #[test]
    fn channels_are_summed_side_by_side() {
        for (channels, step) in [(2, 2), (3, 3), (4, 4)] {
            let rows = |n| lanes(&[(n, [0, step]), (channels, [1, 1])]);
            assert_eq!([9, 1024].map(rows), [Some(Lanes::Channels(channels)); 2]);
            assert_eq!([7, 1025].map(rows), [None; 2]);
            // strided outputs
            let eight = [(8, [0, step]), (channels, [2, 1])];
            assert_eq!(lanes(&eight), Some(Lanes::Channels(channels)));
            assert_eq!(lanes(&[(5, [9, 99]), eight[0], eight[1]]), Some(Lanes::Channels(channels)));
            // two reduced loops, gaps between rows and between channels
            assert_eq!(lanes(&[(5, [0, 99]), eight[0], eight[1]]), None);
            assert_eq!(lanes(&[(9, [0, step + 1]), (channels, [1, 1])]), None);
            assert_eq!(lanes(&[(9, [0, step]), (channels, [1, 2])]), None);
        }
        assert_eq!(lanes(&[(9, [0, 5]), (5, [1, 1])]), None);
    }

    #[test]
    fn elements_that_are_not_summed() {
        assert_eq!(lanes(&[]), Some(Lanes::Singles));
        assert_eq!(lanes(&[(9, [1, 1])]), Some(Lanes::Rows(1)));
        assert_eq!(lanes(&[(3, [9, 1]), (9, [1, 3])]), Some(Lanes::Singles));
        assert_eq!(lanes(&[(3, [18, 9]), (9, [2, 1])]), Some(Lanes::Singles));
    }
}
