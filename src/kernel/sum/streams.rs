//! Sums of up to 128 rows, many times over: the two innermost loops are a reduced one and, inside it, a kept one through
//! adjacent elements; no other loop is reduced.
//!
//! ```text
//! a a a a      for each outer index:
//! b b b b          for each eight rows: tile[j] += row0[j] + … + row7[j]
//! c c c c          out[j] = tile[j]
//! ```
//!
//! Rows of fewer than 32 elements without gaps are taken several at a time, as one longer row; the parts of the tile are
//! then added up. One level of sums is enough, and the tile is set up once: [`rows`](super::rows) without their overhead.

use super::{Element, Store};
use crate::kernel::combine::Plus;
use crate::kernel::lane;
use crate::kernel::levels::{Cascade, Levels};
use crate::kernel::loops::Loop;
use crate::kernel::memory::Scratch;
use crate::kernel::nest::Nest;

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

    // Not inline, as the room on the stack takes time.
    #[inline(never)]
    pub(super) fn run<T: Element, S: Store<T>>(self, nest: Nest<'_, S::Slot, (T,)>, store: &S) {
        let Self { rows, rest, width, times } = self;
        let mut scratch = Scratch::new();
        let tile = scratch.filled(width, &T::zero());
        let mut runs = nest.blocks(2, times == 1);
        while let Some(mut blocks) = runs.next() {
            while let Some((block, slots)) = blocks.next() {
                let mut levels = Levels::new(&Plus, tile, width, Cascade { levels: 1, first: ROWS });
                if times == 1 {
                    levels.add_rows(block);
                } else {
                    levels.add_rows(block.cut(0, rows, width));
                    if rest > 0 {
                        levels.add_rows(block.cut(rows * width, 1, rest));
                    }
                }
                let sums = levels.finish();
                // the parts of the tile, as many as rows were taken at a time
                lane::fold(&Plus, sums, slots.len());
                slots.each(sums, |slot, total| store.store(slot, total));
            }
        }
    }
}
