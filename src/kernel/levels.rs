//! A cascade of partial sums: the error grows like that of pairwise summation, at a fraction of its cost.
//!
//! ```text
//! level 0:  += up to 128 rows                  then it is added to level 1 and starts at zero again
//! level 1:  += level 0, … eight times          then it is added to level 2
//! ```

#![forbid(unsafe_code)]

use super::combine::{Combine, reset};

/// The number of sums that are added up before a carry to the next level. The error bound is a few times that of
/// pairwise summation, with a third of its levels.
const RADIX: usize = 8;
/// Enough for `8^7` additions before the topmost level grows.
const MAX_LEVELS: usize = 8;

/// The number of levels for `rows` additions.
pub(super) fn count(rows: usize) -> usize {
    let (mut levels, mut held) = (1, 1);
    while held < rows && levels < MAX_LEVELS {
        levels += 1;
        held *= RADIX;
    }
    levels
}

/// The partial sums of a tile of `width` sums. Each level holds sums of eight times as many rows as the level below.
pub(super) struct Levels<'a, T> {
    /// The operation that combines rows and levels.
    combine: &'a dyn Combine<T>,
    tiles: &'a mut [T],
    width: usize,
    count: usize,
    /// The number of additions to the first level so far, each of which was carried.
    carried: usize,
}

impl<'a, T: Clone> Levels<'a, T> {
    /// As many levels, of `width` sums each.
    pub(super) fn new(combine: &'a dyn Combine<T>, tiles: &'a mut [T], width: usize, count: usize) -> Self {
        reset(combine, &mut tiles[..width]);
        Self { combine, tiles: &mut tiles[..count * width], width, count, carried: 0 }
    }

    /// The level that rows are added to, before [`carry`](Self::carry).
    #[inline(always)]
    pub(super) fn first(&mut self) -> &mut [T] {
        &mut self.tiles[..self.width]
    }

    /// Adds the first level to the second one, if there is one, and carries all levels that are full then.
    pub(super) fn carry(&mut self) {
        self.carried += 1;
        let (mut sums, mut level) = (self.carried, 0);
        while level + 1 < self.count {
            let (low, high) = self.tiles[level * self.width..][..2 * self.width].split_at_mut(self.width);
            if sums == 1 {
                high.clone_from_slice(low);
            } else {
                self.combine.rows(high, low);
            }
            reset(self.combine, low);
            level += 1;
            if sums % RADIX != 0 {
                break;
            }
            sums /= RADIX;
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lane;
    use crate::kernel::operation::Plus;
    use alloc::vec;

    #[test]
    fn rows_are_added_up_once() {
        for rows in 1..=600 {
            // more levels than needed do no harm
            for levels in [count(rows), count(rows) + 1] {
                // not zero: the room holds the sums of the last tile
                let mut room = vec![-7_i64; levels * 3 + 2];
                let mut sums = Levels::new(&Plus, &mut room, 3, levels);
                let mut plain = [0; 3];
                for row in (0..rows).map(|row| i64::try_from(row * row).expect("small")) {
                    let row = [row, 1, -row];
                    lane::combine(sums.first(), &row, Plus);
                    lane::combine(&mut plain, &row, Plus);
                    sums.carry();
                }
                assert_eq!(sums.finish(), plain, "{rows} rows");
                assert_eq!(room[levels * 3..], [-7; 2]);
            }
        }
    }

    #[test]
    fn the_topmost_level_takes_the_rest() {
        let mut room = [0_i64; 2];
        let mut sums = Levels::new(&Plus, &mut room, 1, 2);
        for _ in 0..1000 {
            sums.first()[0] += 1;
            sums.carry();
        }
        assert_eq!(sums.finish(), [1000]);
    }

    /// Each partial sum has few terms and a small error. A plain sum of the same tenths has 100 times the error.
    #[test]
    fn sums_are_of_few_terms() {
        let rows = 4096_u16;
        let levels = count(rows.into());
        let mut room = vec![0_f32; levels];
        let mut sums = Levels::new(&Plus, &mut room, 1, levels);
        for _ in 0..rows {
            sums.first()[0] += 0.1;
            sums.carry();
        }
        let exact = f64::from(rows) * f64::from(0.1_f32);
        assert!((f64::from(sums.finish()[0]) - exact).abs() < 1e-6 * exact);
    }

    #[test]
    fn levels_for_rows() {
        assert_eq!([1, 2, 8, 9, 64, 65, 512, 513].map(count), [1, 2, 2, 3, 3, 4, 4, 5]);
        assert_eq!(count(usize::MAX), MAX_LEVELS);
    }
}
