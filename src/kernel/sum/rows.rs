//! Rows of an array, added to tiles: see [`tiles`].
//!
//! Eight rows are added up before the tile is read and written once.

use super::{Element, Store, Sum};
use crate::kernel::combine::Plus;
use crate::kernel::lane;
use crate::kernel::levels::{Cascade, Levels};
use crate::kernel::loops::{Loops, steps};
use crate::kernel::memory::Scratch;
use crate::kernel::nest::Nest;
use crate::kernel::simd::{self, Cpu, Work};
use crate::kernel::threads::{SliceExecutor, SliceTask};
use crate::kernel::tiles::{self, AddRows, TileRows, Tiling};
use alloc::vec;
use core::marker::PhantomData;

/// Adds rows, from column `from` on.
struct Rows<C> {
    from: usize,
    cpu: PhantomData<C>,
}

impl<T: Element, C: Cpu> AddRows<T, (T,)> for Rows<C> {
    #[inline(always)]
    fn add(&mut self, levels: &mut Levels<'_, T>, rows: Nest<'_, (), (T,)>, in_rows: bool) {
        let width = levels.first().len();
        let x = rows.block(in_rows).columns_from(self.from, width);
        lane::add_rows::<C, T, _>(x, levels, Levels::first, Levels::carry);
    }
}

/// Sums a nest tile by tile.
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
            simd::dispatch(Tiles { nest, tiling, store: sum.store });
        }
    });
}

struct Tiles<'a, 's, T, S: Store<T>> {
    nest: Nest<'a, S::Slot, (T,)>,
    tiling: Tiling,
    store: &'s S,
}

impl<T: Element, S: Store<T>> Work for Tiles<'_, '_, T, S> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { nest, tiling, store } = self;
        let mut scratch = Scratch::new();
        let room = scratch.filled(tiling.cascade.levels * tiling.width(nest.loops()), &T::zero());
        let store = |slot: &mut S::Slot, sum| store.store(slot, sum);
        tiles::run(&Plus, nest, tiling, room, &mut Rows { from: 0, cpu: PhantomData::<C> }, store);
    }
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
        if !part.is_empty() {
            simd::dispatch(SumColumns { columns: self, from, part });
        }
    }
}

struct SumColumns<'a, T> {
    columns: &'a Columns<'a, T>,
    from: usize,
    part: &'a mut [T],
}

impl<T: Element> Work for SumColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { columns: &Columns { rows, cascade }, from, part } = self;
        let mut scratch = Scratch::new();
        let room = scratch.filled(cascade.levels * part.len(), &T::zero());
        let mut levels = Levels::new(&Plus, room, part.len(), cascade);
        rows.add_to(&mut levels, &mut Rows { from, cpu: PhantomData::<C> });
        part.clone_from_slice(levels.finish());
    }
}
