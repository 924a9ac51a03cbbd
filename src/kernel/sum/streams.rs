//! Nests whose two innermost loops are a reduced one of few steps and a kept one through adjacent elements, and
//! which reduce nothing else: rows that are added up, many times over. What tiles do, without their overhead.

use super::{Element, Store, Sum, lane};
use crate::kernel::plan::{Loop, Walk};
use crate::kernel::raw::{Block, Every, Scratch};

/// Rows that are added without carrying.
const ROWS: usize = 128;
/// Narrower rows are taken several at a time.
const NARROW: usize = 32;
/// At most so many.
const MOST: usize = 16;
/// Wider ones are left to tiles.
const WIDEST: usize = 4096;

pub(super) struct Streams<'a> {
    outer: &'a [Loop<2>],
    rows: Loop<2>,
    width: usize,
    /// How many times wider the rows are than the loop that is kept: a power of two.
    times: usize,
    to: isize,
}

impl<'a> Streams<'a> {
    #[inline(always)]
    pub(super) fn of<T>(loops: &'a [Loop<2>]) -> Option<Self> {
        let [outer @ .., r, k] = loops else {
            return None;
        };
        if r.strides[1] != 0
            || k.strides[1] == 0
            || k.strides[0] != 1
            || outer.iter().any(|l| l.strides[1] == 0)
        {
            return None;
        }
        let mut times = 1;
        if r.strides[0] == k.len as isize {
            while times < MOST && times * k.len < NARROW && times * 4 <= r.len {
                times *= 2;
            }
        }
        let width = times * k.len;
        let fits = r.len / times <= ROWS && width <= WIDEST.min(Scratch::capacity::<T>());
        fits.then_some(Self { outer, rows: *r, width, times, to: k.strides[1] })
    }

    #[inline(always)]
    pub(super) fn run<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>) {
        let mut scratch = Scratch::new();
        let tile = scratch.filled(self.width, &T::zero());
        for [from, to] in Walk::new(self.outer, [0, 0]) {
            self.add_rows(sum, from, tile);
            match self.times {
                1 => self.store::<T, S, 1>(sum, to, tile),
                2 => self.store::<T, S, 2>(sum, to, tile),
                4 => self.store::<T, S, 4>(sum, to, tile),
                8 => self.store::<T, S, 8>(sum, to, tile),
                _ => self.store::<T, S, MOST>(sum, to, tile),
            }
        }
    }

    #[inline(always)]
    fn add_rows<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>, from: isize, tile: &mut [T]) {
        let stride = self.rows.strides[0] * self.times as isize;
        let (count, width) = (self.rows.len / self.times, self.width);
        let at = sum.input.moved(from);
        // SAFETY: steps of the outer loops, and turns of the reduced and of the kept one: where several of its turns
        // make a row, they are adjacent.
        let x = unsafe { at.block(count, stride, width, Every::<1>) };
        tile.fill(T::zero());
        let add = |a: &mut T, s| *a = a.clone() + s;
        let mut row = 0;
        while count - row >= 8 {
            lane::across::<T, _, _, 8>(x, row, tile, add);
            row += 8;
        }
        if count - row >= 4 {
            lane::across::<T, _, _, 4>(x, row, tile, add);
            row += 4;
        }
        while row < count {
            lane::across::<T, _, _, 1>(x, row, tile, add);
            row += 1;
        }
        let rest = self.rows.len % self.times * (width / self.times);
        if rest > 0 {
            // SAFETY: as before, what is left of the adjacent turns.
            let x = unsafe { at.moved(count as isize * stride).block(1, 0, rest, Every::<1>) };
            lane::across::<T, _, _, 1>(x, 0, &mut tile[..rest], add);
        }
    }

    /// Adds up the `R` parts of the tile.
    #[inline(always)]
    fn store<T: Element, S: Store<T>, const R: usize>(&self, sum: &Sum<'_, T, S>, mut to: isize, tile: &[T]) {
        let width = self.width / R;
        let parts = Block::from(tile).cut(0, R, width);
        for i in 0..width {
            let [total] = parts.columns::<R, 1>(0, i, &T::zero(), lane::few);
            // SAFETY: a step of the outer and of the kept loop, so an element that no other step reaches.
            sum.store.store(unsafe { sum.out.moved(to).slot() }, total);
            to += self.to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The width of the rows and how many times wider it is than the kept loop.
    fn streams(loops: &[(usize, [isize; 2])]) -> Option<[usize; 2]> {
        let loops: alloc::vec::Vec<_> = loops.iter().map(|&(len, strides)| Loop { len, strides }).collect();
        Streams::of::<f32>(&loops).map(|s| [s.width, s.times])
    }

    #[test]
    fn rows_that_are_streams() {
        assert_eq!(streams(&[(100, [40, 0]), (40, [1, 1])]), Some([40, 1]));
        assert_eq!(streams(&[(100, [3, 0]), (3, [1, 1])]), Some([48, 16]));
        assert_eq!(streams(&[(100, [2, 0]), (2, [1, 1])]), Some([32, 16]));
        assert_eq!(streams(&[(9, [3, 0]), (3, [1, 1])]), Some([12, 4]));
        // with gaps between the rows, each is taken alone
        assert_eq!(streams(&[(100, [4, 0]), (3, [1, 1])]), Some([3, 1]));
        assert_eq!(streams(&[(7, [900, 5]), (100, [9, 0]), (9, [1, 2])]), Some([36, 4]));
        assert_eq!(streams(&[(128, [4_096, 0]), (4_096, [1, 1])]), Some([4_096, 1]));
    }

    #[test]
    fn rows_that_are_not() {
        assert_eq!(streams(&[(129, [4_096, 0]), (4_096, [1, 1])]), None);
        assert_eq!(streams(&[(128, [4_097, 0]), (4_097, [1, 1])]), None);
        assert_eq!(streams(&[(100, [40, 0]), (20, [2, 1])]), None);
        assert_eq!(streams(&[(40, [100, 1]), (100, [1, 0])]), None);
        assert_eq!(streams(&[(7, [900, 0]), (9, [100, 1]), (100, [1, 1])]), None);
        assert_eq!(streams(&[(7, [9_000, 0]), (2, [100, 1]), (30, [1, 0]), (100, [1, 1])]), None);
        assert_eq!(streams(&[(100, [1, 0])]), None);
    }
}
