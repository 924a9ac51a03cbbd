//! Sums that are neither [`lanes`](super::lanes) nor [`streams`](super::streams): rows added to tiles, as
//! [`tiles`] says. Memory is read row by row, each of them evenly spaced.
//!
//! ```text
//! for each eight rows: tile[j] += row0[j] + … + row7[j]
//! ```
//!
//! Eight rows are added up before the tile is read and written once. On several threads, large tiles are shared out by
//! columns.

use super::{Element, Store, Sum};
use crate::kernel::combine::Plus;
use crate::kernel::levels::{Cascade, Levels};
use crate::kernel::loops::{Loops, steps};
use crate::kernel::memory::Scratch;
use crate::kernel::nest::Nest;
use crate::kernel::threads::{SliceExecutor, SliceTask};
use crate::kernel::tiles::{self, AddRows, TileRows, Tiling};
use alloc::vec;

/// Adds rows, from this column on.
struct Rows(usize);

impl<T: Element> AddRows<T, (T,)> for Rows {
    fn add(&mut self, levels: &mut Levels<'_, T>, rows: Nest<'_, (), (T,)>, in_rows: bool) {
        let width = levels.first().len();
        levels.add_rows(rows.block(in_rows).columns_from(self.0, width));
    }
}

/// Sums a nest tile by tile.
// Not inline, as the room on the stack takes time.
#[inline(never)]
pub(super) fn run<T: Element, S: Store<T>, X: for<'c> SliceExecutor<T, Columns<'c, T>>>(
    nest: Nest<'_, S::Slot, (T,)>,
    tiling: Tiling,
    sum: &Sum<'_, S, X>,
) {
    tiles::parts(nest, tiling, |nest, tiling| {
        let loops = nest.loops();
        let outer = loops[..tiling.first].iter().take_while(|l| !l.is_reduced()).count();
        if X::SPLITS && sum.is_large && steps(&loops[outer..]) / 2 >= super::GRAIN {
            columns(nest, tiling, outer, sum);
        } else {
            let mut scratch = Scratch::new();
            let room = scratch.filled(tiling.cascade.levels * tiling.width(loops), &T::zero());
            let store = |slot: &mut S::Slot, total| sum.store.store(slot, total);
            tiles::run(&Plus, nest, tiling, room, &mut Rows(0), store);
        }
    });
}

/// Some columns of a large tile.
pub(crate) struct Columns<'a, T> {
    rows: TileRows<'a, (T,)>,
    cascade: Cascade,
}

/// Sums large tiles one after the other, the columns of each on several threads.
fn columns<T: Element, S: Store<T>, X: for<'c> SliceExecutor<T, Columns<'c, T>>>(
    nest: Nest<'_, S::Slot, (T,)>,
    tiling: Tiling,
    outer: usize,
    sum: &Sum<'_, S, X>,
) {
    let loops = nest.loops();
    let shape = tiles::shape(&loops[tiling.first..], tiling.take);
    let kept = shape.iter().filter(|l| !l.is_reduced()).count();
    let mut tile = vec![T::zero(); steps(&shape)];
    let (mut rooms, mut written) = ([const { Loops::new() }; 3], Loops::new());
    let mut tiles = TileRows::of(nest.read(), tiling, outer, &mut rooms).walk(outer);
    let mut slots = nest.written(&mut written).walk(kept);
    while let (Some(rows), Some(slots)) = (tiles.next(), slots.next()) {
        sum.executor.run_slice(&mut tile, &Columns { rows, cascade: tiling.cascade });
        tiles::finish(&Plus, &mut tile, &shape, slots, &|slot: &mut S::Slot, total| {
            sum.store.store(slot, total);
        });
    }
}

impl<T: Element> SliceTask<T> for Columns<'_, T> {
    fn run(&self, from: usize, part: &mut [T]) {
        if part.is_empty() {
            return;
        }
        let &Self { rows, cascade } = self;
        let mut scratch = Scratch::new();
        let room = scratch.filled(cascade.levels * part.len(), &T::zero());
        let mut levels = Levels::new(&Plus, room, part.len(), cascade);
        rows.add_to(&mut levels, &mut Rows(from));
        part.clone_from_slice(levels.finish());
    }
}
