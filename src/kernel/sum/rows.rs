//! Sums that are neither [`lanes`](super::lanes) nor [`streams`](super::streams): rows are added to [`tiles`]. The
//! elements of each row are evenly spaced in memory.
//!
//! ```text
//! for each eight rows: tile[j] += row0[j] + … + row7[j]
//! ```
//!
//! Eight rows are added up before the tile is read and written once, or one where memory is the limit: see
//! [`rows_at_once`](crate::kernel::loops::rows_at_once). Several threads share the columns of a large tile.

use super::{Element, Store, SumTask};
use crate::kernel::combine::Plus;
use crate::kernel::levels::{Cascade, Levels};
use crate::kernel::loops::{Loop, Loops, steps};
use crate::kernel::memory::Scratch;
use crate::kernel::nest::Nest;
use crate::kernel::threads::{SliceExecutor, SliceTask};
use crate::kernel::tiles::{self, AddRows, TileRows, Tiling};
use alloc::vec;

/// Adds the rows of a tile, restricted to the columns from `column` on that the levels have, `at_once` at a time.
struct AddRowsFrom {
    column: usize,
    at_once: usize,
}

impl<T: Element> AddRows<T, (T,)> for AddRowsFrom {
    fn add(&mut self, levels: &mut Levels<'_, T>, rows: Nest<'_, (), (T,)>, in_rows: bool) {
        let width = levels.first().len();
        levels.add_rows(rows.block(in_rows).columns_from(self.column, width), self.at_once);
    }
}

pub(super) fn run<T: Element, S: Store<T>, X: for<'c> SliceExecutor<T, Columns<'c, T>>>(
    nest: Nest<'_, S::Slot, (T,)>,
    tiling: Tiling,
    sum: &SumTask<'_, S, X>,
) {
    tiles::parts(nest, tiling, &mut |nest, tiling| {
        let loops = nest.loops();
        let tile = tiling.tile(loops);
        if X::SPLITS && sum.is_large && steps(&loops[tiling.outer(loops)..]) / 2 >= super::GRAIN {
            columns(nest, tiling, &tile, sum);
        } else {
            in_tiles(nest, tiling, &tile, &mut AddRowsFrom { column: 0, at_once: sum.at_once }, sum.store);
        }
    });
}

/// Sums a nest tile by tile.
// Not inline: a function with a large stack frame takes time to enter.
#[inline(never)]
pub(super) fn in_tiles<T: Element, S: Store<T>>(
    nest: Nest<'_, S::Slot, (T,)>,
    tiling: Tiling,
    tile: &[Loop],
    add: &mut dyn AddRows<T, (T,)>,
    store: &S,
) {
    let mut scratch = Scratch::new();
    let room = scratch.filled(tiling.cascade.levels * steps(tile), &T::zero());
    tiles::run(&Plus, nest, tiling, tile, room, add, |slot, sum| store.store(slot, sum));
}

/// Some columns of a large tile.
pub(crate) struct Columns<'a, T> {
    rows: TileRows<'a, (T,)>,
    cascade: Cascade,
    at_once: usize,
}

/// Sums large tiles one after the other, the columns of each on several threads.
fn columns<T: Element, S: Store<T>, X: for<'c> SliceExecutor<T, Columns<'c, T>>>(
    nest: Nest<'_, S::Slot, (T,)>,
    tiling: Tiling,
    tile: &[Loop],
    sum: &SumTask<'_, S, X>,
) {
    let Tiling { cascade, .. } = tiling;
    let (mut sums, mut rooms) = (vec![T::zero(); steps(tile)], [const { Loops::new() }; 3]);
    let store = |slot: &mut S::Slot, total| sum.store.store(slot, total);
    let rows = TileRows::of(nest.read(), tiling, tiling.outer(nest.loops()), &mut rooms);
    rows.each(&Plus, nest, tile, &mut sums, store, |rows, sums| {
        sum.executor.run_slice(sums, &Columns { rows, cascade, at_once: sum.at_once });
    });
}

impl<T: Element> SliceTask<T> for Columns<'_, T> {
    fn run(&self, from: usize, part: &mut [T]) {
        if part.is_empty() {
            return;
        }
        let &Self { rows, cascade, at_once } = self;
        let mut scratch = Scratch::new();
        let room = scratch.filled(cascade.levels * part.len(), &T::zero());
        let mut levels = Levels::new(&Plus, room, part.len(), cascade);
        rows.add_to(&mut levels, &mut AddRowsFrom { column: from, at_once });
        part.clone_from_slice(levels.finish());
    }
}
