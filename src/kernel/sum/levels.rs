//! Sums of many tiles, their error bounded as by pairwise summation.

use super::{Element, lane};

/// So many sums are added up before they are carried to the next level: an error bound of a few times pairwise
/// summation's, for a third of the levels.
pub(super) const RADIX: usize = 8;
/// Enough for `8^9` rows before the topmost level grows.
pub(super) const LEVELS: usize = 8;

/// The sums so far, of so many rows each; each level holds the sums of eight times as many.
pub(super) struct Levels<'a, T> {
    tiles: &'a mut [T],
    pub(super) width: usize,
    count: usize,
    added: usize,
}

impl<'a, T: Element> Levels<'a, T> {
    #[inline(always)]
    pub(super) fn new(tiles: &'a mut [T], width: usize, count: usize) -> Self {
        tiles[..width].fill(T::zero());
        Self {
            tiles: &mut tiles[..count * width],
            width,
            count,
            added: 0,
        }
    }

    #[inline(always)]
    pub(super) fn first(&mut self) -> &mut [T] {
        &mut self.tiles[..self.width]
    }

    /// After something was added to the first level.
    #[inline(always)]
    pub(super) fn carry(&mut self) {
        self.added += 1;
        let (mut sums, mut level) = (self.added, 0);
        while sums % RADIX == 0 && level + 1 < self.count {
            sums /= RADIX;
            let (low, high) =
                self.tiles[level * self.width..][..2 * self.width].split_at_mut(self.width);
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
        let mut sums = self.added / RADIX;
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
