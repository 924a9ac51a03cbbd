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
use crate::kernel::loops::{Loop, all_kept};
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
    pub(super) fn run<T: Element, S: Store<T>>(self, nest: Nest<'_, S::Slot, (T,)>, store: &S) {
        let Self { rows, last_len, width, merged } = self;
        let mut scratch = Scratch::new();
        let tile = scratch.filled(width, &T::zero());
        let mut runs = nest.blocks(2, merged == 1);
        while let Some(mut blocks) = runs.next() {
            while let Some((block, slots)) = blocks.next() {
                let mut levels = Levels::new(&Plus, tile, width, Cascade { levels: 1, carry_every: ROWS });
                if merged == 1 {
                    levels.add_rows(block);
                } else {
                    levels.add_rows(block.cut(0, rows, width));
                    if last_len > 0 {
                        levels.add_rows(block.cut(rows * width, 1, last_len));
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
