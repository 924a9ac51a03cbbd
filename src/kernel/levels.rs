//! A cascade of sums, the error of which is bounded as by pairwise summation.

use super::lane;
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
pub(super) struct Levels<'a, T> {
    tiles: &'a mut [T],
    width: usize,
    count: usize,
    /// So many rows are added up in the first level.
    first: usize,
    added: usize,
}

/// The levels of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cascade {
    pub(super) levels: usize,
    /// So many rows are added up in the first level.
    pub(super) first: usize,
}

impl<'a, T: Clone + Zero> Levels<'a, T> {
    #[inline(always)]
    pub(super) fn new(tiles: &'a mut [T], width: usize, cascade: Cascade) -> Self {
        let Cascade { levels: count, first } = cascade;
        tiles[..width].fill(T::zero());
        Self { tiles: &mut tiles[..count * width], width, count, first, added: 0 }
    }

    /// The level that rows are added to, before [`carry`](Self::carry).
    #[inline(always)]
    pub(super) fn first(&mut self) -> &mut [T] {
        &mut self.tiles[..self.width]
    }

    /// Ends a row.
    #[inline(always)]
    pub(super) fn carry(&mut self) {
        self.added += 1;
        let (mut sums, mut level, mut radix) = (self.added, 0, self.first);
        while sums % radix == 0 && level + 1 < self.count {
            sums /= radix;
            radix = RADIX;
            let (low, high) = self.tiles[level * self.width..][..2 * self.width].split_at_mut(self.width);
            if sums == 1 {
                high.clone_from_slice(low);
            } else {
                lane::add(high, low);
            }
            low.fill(T::zero());
            level += 1;
        }
    }

    #[inline(always)]
    pub(super) fn finish(self) -> &'a mut [T] {
        let (first, others) = self.tiles.split_at_mut(self.width);
        let mut sums = self.added / self.first;
        for level in others.chunks_exact(self.width) {
            if sums == 0 {
                break;
            }
            lane::add(first, level);
            sums /= RADIX;
        }
        first
    }
}

/// The value of a sum, to be replaced: a big number need not be copied to be added to.
#[inline(always)]
pub(super) fn take<T: Clone + Zero>(sum: &mut T) -> T {
    if needs_drop::<T>() { replace(sum, T::zero()) } else { sum.clone() }
}
