//! Sums of up to 128 rows for each outer index. The innermost loop is kept and runs through adjacent elements, the loop
//! around it is reduced, and all others are kept.
//!
//! ```text
//! a a a a      for each outer index:
//! b b b b          for each eight rows: tile[j] += row0[j] + … + row7[j]
//! c c c c          out[j] = tile[j]
//! ```
//!
//! Several rows of fewer than 32 elements without gaps are read as one longer row. The parts of the tile that belong to
//! one column are added up at the end. One level of sums is enough, and the tile is set up once, unlike in
//! [`rows`](super::rows).

use super::{Element, Store};
use crate::kernel::combine::{Plus, fold_rows};
use crate::kernel::levels::{Cascade, Levels};
use crate::kernel::loops::{AT_ONCE, Loop, all_kept};
use crate::kernel::memory::Scratch;
use crate::kernel::nest::Nest;

/// The most rows, which are added without a carry.
const ROWS: usize = 128;
/// Narrower rows are merged.
const NARROW: usize = 32;
/// The most rows that are merged into one.
const MAX_MERGED: usize = 16;
/// Wider rows are left to tiles.
const WIDEST: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    /// The number of rows of `width` elements.
    rows: usize,
    /// The number of elements of a narrower last row; 0 if there is none.
    last_len: usize,
    width: usize,
    /// The number of rows in memory that are read as one row: a power of two.
    merged: usize,
}

impl Streams {
    #[inline(always)]
    pub(super) fn of(loops: &[Loop], capacity: usize) -> Option<Self> {
        let [outer @ .., r, k] = loops else { return None };
        if !r.is_reduced() || k.is_reduced() || k.strides[1] != 1 || !all_kept(outer) {
            return None;
        }
        let mut merged = 1;
        if r.strides[1] == k.len.cast_signed() {
            while merged < MAX_MERGED && merged * k.len < NARROW && merged * 4 <= r.len {
                merged *= 2;
            }
        }
        let width = merged * k.len;
        (r.len / merged <= ROWS && width <= WIDEST.min(capacity)).then_some(Self {
            rows: r.len / merged,
            last_len: r.len % merged * k.len,
            width,
            merged,
        })
    }

    // Not inline: a function with a large stack frame takes time to enter.
    #[inline(never)]
    pub(super) fn run<T: Element, S: Store<T>>(&self, nest: Nest<'_, S::Slot, (T,)>, store: &S) {
        let &Self { rows, last_len, width, merged } = self;
        let mut scratch = Scratch::new();
        let tile = scratch.filled(width, &T::zero());
        let mut runs = nest.blocks(2, merged == 1);
        while let Some(mut blocks) = runs.next() {
            while let Some((block, slots)) = blocks.next() {
                let mut levels = Levels::new(&Plus, tile, width, Cascade::ONE);
                if merged == 1 {
                    levels.add_rows(block, AT_ONCE);
                } else {
                    levels.add_rows(block.cut(0, rows, width), AT_ONCE);
                    if last_len > 0 {
                        levels.add_rows(block.cut(rows * width, 1, last_len), AT_ONCE);
                    }
                }
                let sums = levels.finish();
                // adds up the parts of the tile, one for each merged row
                fold_rows(&Plus, sums, slots.len());
                slots.each(sums, |slot, total| store.store(slot, total));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows, the elements of a narrower last row, the width and the number of rows that are merged, for loops with
    /// these strides in the output and in the input.
    fn streams(loops: &[(usize, [isize; 2])]) -> Option<[usize; 4]> {
        let streams = Streams::of(&Loop::all(loops), Scratch::capacity::<f32>());
        streams.map(|Streams { rows, last_len, width, merged }| [rows, last_len, width, merged])
    }

    fn rows(rows: usize, width: usize) -> Option<[usize; 4]> {
        streams(&[(rows, [0, width.cast_signed()]), (width, [1, 1])])
    }

    #[test]
    fn few_rows_of_moderate_width() {
        assert_eq!(rows(3, 90), Some([3, 0, 90, 1]));
        assert_eq!([rows(ROWS, 90), rows(ROWS + 1, 90)], [Some([ROWS, 0, 90, 1]), None]);
        assert_eq!([rows(9, WIDEST), rows(9, WIDEST + 1)], [Some([9, 0, WIDEST, 1]), None]);
        // strided outputs, but neither strided elements nor two reduced loops
        assert_eq!(streams(&[(5, [900, 999]), (9, [0, 90]), (90, [2, 1])]), Some([9, 0, 90, 1]));
        assert_eq!(streams(&[(9, [0, 180]), (90, [1, 2])]), None);
        assert_eq!(streams(&[(5, [0, 999]), (9, [0, 90]), (90, [1, 1])]), None);
        assert_eq!(streams(&[(9, [0, 91]), (90, [0, 1])]), None);
        assert_eq!(streams(&[(5, [1, 90]), (90, [0, 1])]), None);
        assert_eq!(streams(&[(90, [0, 1])]), None);
    }

    #[test]
    fn narrow_rows_are_merged() {
        // until they are wide, 16 of them, or half of all
        assert_eq!(rows(100, NARROW), Some([100, 0, NARROW, 1]));
        assert_eq!(rows(101, NARROW - 1), Some([50, NARROW - 1, 2 * (NARROW - 1), 2]));
        assert_eq!(rows(9 * MAX_MERGED, 1), Some([9, 0, MAX_MERGED, MAX_MERGED]));
        assert_eq!([rows(3, 5), rows(4, 5)], [Some([3, 0, 5, 1]), Some([2, 0, 10, 2])]);
        // many rows
        assert_eq!(rows(8 * ROWS + 5, 5), Some([ROWS, 25, 40, 8]));
        assert_eq!(rows(8 * ROWS + 8, 5), None);
        // with gaps between them
        assert_eq!(streams(&[(100, [0, 33]), (31, [1, 1])]), Some([100, 0, 31, 1]));
    }
}
