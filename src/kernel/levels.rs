//! A cascade of partial sums: the error grows like that of pairwise summation, at a fraction of its cost.
//!
//! ```text
//! level 0:  += row, row, row, … eight times    then it is added to level 1 and starts at zero again
//! level 1:  += level 0, … eight times          then it is added to level 2
//! ```

#![forbid(unsafe_code)]

use super::combine::Combine;

/// The number of sums that are added up before a carry to the next level. The error bound is a few times that of
/// pairwise summation, with a third of its levels.
pub(super) const RADIX: usize = 8;
/// Enough for `8^9` sums before the topmost level grows.
const MAX_LEVELS: usize = 8;

/// The number of levels for `rows` additions, if the first level is carried after `carry_every` of them.
pub(super) fn count(rows: usize, carry_every: usize) -> usize {
    let (mut levels, mut held) = (1, carry_every);
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
    /// The number of additions after which the first level is carried.
    carry_every: usize,
    /// The number of additions until the next carry.
    until_carry: usize,
    /// The number of carries so far.
    carried: usize,
}

/// The number of levels of a tile, and when they are carried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cascade {
    pub(super) levels: usize,
    /// The number of additions after which the first level is carried.
    pub(super) carry_every: usize,
}

impl Cascade {
    /// A single level that is not carried.
    pub(super) const ONE: Self = Self { levels: 1, carry_every: usize::MAX };
}

impl<'a, T: Clone> Levels<'a, T> {
    #[inline(always)]
    pub(super) fn new(
        combine: &'a dyn Combine<T>,
        tiles: &'a mut [T],
        width: usize,
        cascade: Cascade,
    ) -> Self {
        let Cascade { levels: count, carry_every } = cascade;
        tiles[..width].fill(combine.identity());
        Self {
            combine,
            tiles: &mut tiles[..count * width],
            width,
            count,
            carry_every,
            until_carry: carry_every,
            carried: 0,
        }
    }

    /// The level that rows are added to, before [`carry`](Self::carry).
    #[inline(always)]
    pub(super) fn first(&mut self) -> &mut [T] {
        &mut self.tiles[..self.width]
    }

    /// Counts an addition to the first level, and carries the level if it is full.
    #[inline(always)]
    pub(super) fn carry(&mut self) {
        self.until_carry -= 1;
        if self.until_carry == 0 {
            self.until_carry = self.carry_every;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::combine::Plus;
    use crate::kernel::lane;
    use alloc::vec;

    #[test]
    fn rows_are_added_up_once() {
        for (carry_every, rows) in
            [RADIX, 1].into_iter().flat_map(|every| (1..=600).map(move |rows| (every, rows)))
        {
            // more levels than needed do no harm
            for levels in [count(rows, carry_every), count(rows, carry_every) + 1] {
                // not zero: the room holds the sums of the last tile
                let mut room = vec![-7_i64; levels * 3 + 2];
                let mut sums = Levels::new(&Plus, &mut room, 3, Cascade { levels, carry_every });
                let mut plain = [0; 3];
                for row in (0..rows).map(|row| i64::try_from(row * row).expect("small")) {
                    let row = [row, 1, -row];
                    lane::combine(sums.first(), &row, Plus);
                    lane::combine(&mut plain, &row, Plus);
                    sums.carry();
                }
                assert_eq!(sums.finish(), plain, "{rows} rows, carried after {carry_every}");
                assert_eq!(room[levels * 3..], [-7; 2]);
            }
        }
    }

    #[test]
    fn the_topmost_level_takes_the_rest() {
        let mut room = [0_i64; 2];
        let mut sums = Levels::new(&Plus, &mut room, 1, Cascade { levels: 2, carry_every: 1 });
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
        let levels = count(rows.into(), RADIX);
        let mut room = vec![0_f32; levels];
        let mut sums = Levels::new(&Plus, &mut room, 1, Cascade { levels, carry_every: RADIX });
        for _ in 0..rows {
            sums.first()[0] += 0.1;
            sums.carry();
        }
        let exact = f64::from(rows) * f64::from(0.1_f32);
        assert!((f64::from(sums.finish()[0]) - exact).abs() < 1e-6 * exact);
    }

    #[test]
    fn levels_for_rows() {
        let counts = |every| [1, 2, 8, 9, 64, 65, 512, 513].map(|rows| count(rows, every));
        assert_eq!(counts(RADIX), [1, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(counts(1), [1, 2, 2, 3, 3, 4, 4, 5]);
        assert_eq!(count(usize::MAX, 1), MAX_LEVELS);
    }
}
