//! A cascade of partial sums: the error grows like that of pairwise summation, at a fraction of its cost.
//!
//! ```text
//! level 0:  += row, row, row, … eight times    then it is added to level 1, and starts again at zero
//! level 1:  += level 0, … eight times          then it is added to level 2
//! ```

#![forbid(unsafe_code)]

use super::combine::{Combine, Plus};
use super::lane;
use super::nest::Block;
use super::simd::{self, Cpu, Work};
use core::mem::{needs_drop, replace};
use num_traits::Zero;

/// So many sums are added up before they are carried to the next level: an error bound of a few times pairwise
/// summation's, for a third of the levels.
pub(super) const RADIX: usize = 8;
/// Enough for `8^9` sums before the topmost level grows.
const MOST: usize = 8;

/// How many levels hold the sums of so many rows, if `first` of them are added up in the first level.
pub(super) fn count(rows: usize, first: usize) -> usize {
    let (mut levels, mut held) = (1, first);
    while held < rows && levels < MOST {
        levels += 1;
        held *= RADIX;
    }
    levels
}

/// The sums so far, of a tile of so many; each level holds the sums of eight times as many rows as the one before.
pub(super) struct Levels<'a, T, C: ?Sized = Plus> {
    /// What they are combined by.
    combine: &'a C,
    tiles: &'a mut [T],
    width: usize,
    count: usize,
    /// So many rows are added up in the first level.
    first: usize,
    /// How many more will be before it is carried, and how often it was.
    left: usize,
    carried: usize,
}

/// The levels of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cascade {
    pub(super) levels: usize,
    /// So many rows are added up in the first level.
    pub(super) first: usize,
}

impl<'a, T: Clone, C: Combine<T> + ?Sized> Levels<'a, T, C> {
    #[inline(always)]
    pub(super) fn new(combine: &'a C, tiles: &'a mut [T], width: usize, cascade: Cascade) -> Self {
        let Cascade { levels: count, first } = cascade;
        tiles[..width].fill(combine.identity());
        Self { combine, tiles: &mut tiles[..count * width], width, count, first, left: first, carried: 0 }
    }

    /// The level that rows are added to, before [`carry`](Self::carry).
    #[inline(always)]
    pub(super) fn first(&mut self) -> &mut [T] {
        &mut self.tiles[..self.width]
    }

    /// Ends a row.
    #[inline(always)]
    pub(super) fn carry(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.first;
            self.carried += 1;
            self.carry_up();
        }
    }

    #[inline(never)]
    fn carry_up(&mut self) {
        let (mut sums, mut level) = (self.carried, 0);
        while level + 1 < self.count {
            let (low, high) = self.tiles[level * self.width..][..2 * self.width].split_at_mut(self.width);
            if sums == 1 {
                high.clone_from_slice(low);
            } else {
                self.combine.rows(high, low);
            }
            low.fill(self.combine.identity());
            level += 1;
            if sums % RADIX != 0 {
                break;
            }
            sums /= RADIX;
        }
    }

    #[inline(always)]
    pub(super) fn finish(self) -> &'a mut [T] {
        let (first, others) = self.tiles.split_at_mut(self.width);
        let mut sums = self.carried;
        for level in others.chunks_exact(self.width) {
            if sums == 0 {
                break;
            }
            self.combine.rows(first, level);
            sums /= RADIX;
        }
        first
    }
}

impl<T: Clone + Zero> Levels<'_, T> {
    /// Adds all rows, and carries each time that some were added up.
    #[inline(always)]
    pub(super) fn add_rows(&mut self, rows: Block<'_, T>) {
        simd::dispatch(AddRows { levels: self, rows });
    }
}

struct AddRows<'l, 'a, 'r, T> {
    levels: &'l mut Levels<'a, T>,
    rows: Block<'r, T>,
}

impl<T: Clone + Zero> Work for AddRows<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { levels, rows } = self;
        let mut row = 0;
        while row < rows.rows() {
            row += lane::add_rows::<C, T>(rows, row, &mut levels.first()[..rows.width()]);
            levels.carry();
        }
    }
}

/// The value of a sum, to be replaced: a big number need not be copied to be added to.
#[inline(always)]
pub(super) fn take<T: Clone + Zero>(sum: &mut T) -> T {
    take_or(sum, T::zero)
}

/// [`take`] with another value to be replaced by.
#[inline(always)]
pub(super) fn take_or<T: Clone>(sum: &mut T, identity: impl FnOnce() -> T) -> T {
    if const { needs_drop::<T>() } { replace(sum, identity()) } else { sum.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn rows_are_added_up_once() {
        for (first, rows) in [RADIX, 1].into_iter().flat_map(|first| (1..=600).map(move |rows| (first, rows)))
        {
            // more levels than needed do no harm
            for levels in [count(rows, first), count(rows, first) + 1] {
                // as the last tile left it
                let mut room = vec![-7_i64; levels * 3 + 2];
                let mut sums = Levels::new(&Plus, &mut room, 3, Cascade { levels, first });
                let mut plain = [0; 3];
                for row in (0..rows).map(|row| i64::try_from(row * row).expect("small")) {
                    let row = [row, 1, -row];
                    lane::add(sums.first(), &row);
                    lane::add(&mut plain, &row);
                    sums.carry();
                }
                assert_eq!(sums.finish(), plain, "{rows} rows, {first} of them in the first level");
                assert_eq!(room[levels * 3..], [-7; 2]);
            }
        }
    }

    #[test]
    fn the_topmost_level_takes_the_rest() {
        let mut room = [0_i64; 2];
        let mut sums = Levels::new(&Plus, &mut room, 1, Cascade { levels: 2, first: 1 });
        for _ in 0..1000 {
            sums.first()[0] += 1;
            sums.carry();
        }
        assert_eq!(sums.finish(), [1000]);
    }

    /// No sum has more than a few terms, so that rounding is rare: a plain sum of as many tenths has 100 times the error.
    #[test]
    fn sums_are_of_few_terms() {
        let rows = 4096_u16;
        let levels = count(rows.into(), RADIX);
        let mut room = vec![0_f32; levels];
        let mut sums = Levels::new(&Plus, &mut room, 1, Cascade { levels, first: RADIX });
        for _ in 0..rows {
            sums.first()[0] += 0.1;
            sums.carry();
        }
        let exact = f64::from(rows) * f64::from(0.1_f32);
        assert!((f64::from(sums.finish()[0]) - exact).abs() < 1e-6 * exact);
    }

    #[test]
    fn levels_for_rows() {
        let counts = |first| [1, 2, 8, 9, 64, 65, 512, 513].map(|rows| count(rows, first));
        assert_eq!(counts(RADIX), [1, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(counts(1), [1, 2, 2, 3, 3, 4, 4, 5]);
        assert_eq!(count(usize::MAX, 1), MOST);
    }

    #[test]
    fn taking_leaves_nothing_to_copy() {
        #[derive(Clone, Debug, PartialEq)]
        struct Big(Vec<i32>);
        impl core::ops::Add for Big {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.into_iter().chain(other.0).collect())
            }
        }
        impl Zero for Big {
            fn zero() -> Self {
                Self(Vec::new())
            }
            fn is_zero(&self) -> bool {
                self.0.is_empty()
            }
        }
        let mut big = Big(vec![1, 2]);
        let place = big.0.as_ptr();
        let taken = take(&mut big);
        assert!(core::ptr::eq(taken.0.as_ptr(), place) && big.is_zero());
        assert_eq!(take(&mut 5), 5);
    }
}
