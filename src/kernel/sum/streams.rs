//! Nests whose two innermost loops are a reduced one of few steps and a kept one through adjacent elements, and
//! which reduce nothing else: rows that are added up, many times over. What tiles do, without their overhead.
//!
//! ```text
//! for each outer index:
//!     for each 8 rows: tile[..] += row0[..] + … + row7[..]      narrow rows are taken several at a time
//!     out[..] = the parts of the tile, added up
//! ```

use super::{Element, Store};
use crate::kernel::combine::Plus;
use crate::kernel::lane;
use crate::kernel::loops::Loop;
use crate::kernel::memory::Scratch;
use crate::kernel::nest::{Block, Nest};
use crate::kernel::simd::Cpu;

/// Rows that are added without carrying.
const ROWS: usize = 128;
/// Narrower rows are taken several at a time.
const NARROW: usize = 32;
/// At most so many.
const MOST: usize = 16;
/// Wider ones are left to tiles.
const WIDEST: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    /// How many rows there are, and how many elements of a last one that is narrower.
    rows: usize,
    rest: usize,
    width: usize,
    /// How many times wider the rows are than the loop that is kept: a power of two.
    times: usize,
}

impl Streams {
    #[inline(always)]
    pub(super) fn of(loops: &[Loop], capacity: usize) -> Option<Self> {
        let [outer @ .., r, k] = loops else { return None };
        if !r.is_reduced() || k.is_reduced() || k.strides[1] != 1 || outer.iter().any(Loop::is_reduced) {
            return None;
        }
        let mut times = 1;
        if r.strides[1] == k.len.cast_signed() {
            while times < MOST && times * k.len < NARROW && times * 4 <= r.len {
                times *= 2;
            }
        }
        let width = times * k.len;
        (r.len / times <= ROWS && width <= WIDEST.min(capacity)).then_some(Self {
            rows: r.len / times,
            rest: r.len % times * k.len,
            width,
            times,
        })
    }

    #[inline(always)]
    pub(super) fn run<C: Cpu, T: Element, S: Store<T>>(self, nest: Nest<'_, S::Slot, (T,)>, store: &S) {
        let mut scratch = Scratch::new();
        let tile = scratch.filled(self.width, &T::zero());
        let mut blocks = nest.blocks(2, self.times == 1);
        while let Some((block, slots)) = blocks.next() {
            self.add_rows::<C, T>(block, tile);
            // the parts of the tile, as many as rows were taken at a time
            lane::fold(&Plus, tile, slots.len());
            slots.each(tile, |slot, total| store.store(slot, total));
        }
    }

    #[inline(always)]
    fn add_rows<C: Cpu, T: Element>(self, block: Block<'_, T>, tile: &mut [T]) {
        let Self { rows, rest, width, times } = self;
        let parts = if times == 1 {
            [Some(block), None]
        } else {
            [Some(block.cut(0, rows, width)), (rest > 0).then(|| block.cut(rows * width, 1, rest))]
        };
        tile.fill(T::zero());
        // a loop, so that there is one instance of what it does
        for rows in parts.into_iter().flatten() {
            lane::add_rows::<C, T, _>(rows, &mut &mut *tile, |tile| tile, |_| {});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The width of the rows and how many times wider it is than the kept loop. Strides in the output and in the input.
    fn streams(loops: &[(usize, [isize; 2])]) -> Option<[usize; 2]> {
        let of = |&(len, [to, from]): &(usize, [isize; 2])| Loop { len, strides: [to, from, 0, 0, 0, 0, 0] };
        let loops: alloc::vec::Vec<_> = loops.iter().map(of).collect();
        Streams::of(&loops, Scratch::capacity::<f32>()).map(|s| [s.width, s.times])
    }

    #[test]
    fn rows_that_are_streams() {
        assert_eq!(streams(&[(100, [0, 40]), (40, [1, 1])]), Some([40, 1]));
        assert_eq!(streams(&[(100, [0, 3]), (3, [1, 1])]), Some([48, 16]));
        assert_eq!(streams(&[(100, [0, 2]), (2, [1, 1])]), Some([32, 16]));
        assert_eq!(streams(&[(9, [0, 3]), (3, [1, 1])]), Some([12, 4]));
        // with gaps between the rows, each is taken alone
        assert_eq!(streams(&[(100, [0, 4]), (3, [1, 1])]), Some([3, 1]));
        assert_eq!(streams(&[(7, [5, 900]), (100, [0, 9]), (9, [2, 1])]), Some([36, 4]));
        assert_eq!(streams(&[(128, [0, 4_096]), (4_096, [1, 1])]), Some([4_096, 1]));
    }

    #[test]
    fn rows_that_are_not() {
        // too many, too wide, not adjacent
        assert_eq!(streams(&[(129, [0, 4_096]), (4_096, [1, 1])]), None);
        assert_eq!(streams(&[(128, [0, 4_097]), (4_097, [1, 1])]), None);
        assert_eq!(streams(&[(100, [0, 40]), (20, [1, 2])]), None);
        // the reduced loop is the innermost one, or not the only one, or there is no other
        assert_eq!(streams(&[(40, [1, 100]), (100, [0, 1])]), None);
        assert_eq!(streams(&[(7, [0, 900]), (9, [1, 100]), (100, [1, 1])]), None);
        assert_eq!(streams(&[(7, [0, 9_000]), (2, [1, 100]), (30, [0, 1]), (100, [1, 1])]), None);
        assert_eq!(streams(&[(7, [0, 9_000]), (30, [0, 100]), (50, [1, 1])]), None);
        assert_eq!(streams(&[(100, [0, 1])]), None);
        assert_eq!(streams(&[]), None);
        // of elements so large that a row does not fit
        let loops = [(9, [0, 40]), (40, [1, 1])]
            .map(|(len, [to, from])| Loop { len, strides: [to, from, 0, 0, 0, 0, 0] });
        assert_eq!([39, 40].map(|capacity| Streams::of(&loops, capacity).is_some()), [false, true]);
    }
}
