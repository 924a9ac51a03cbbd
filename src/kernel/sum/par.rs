//! Sums on several threads.
//!
//! The work is cut between elements of the output, or between the columns of a tile: never within a sum. So the
//! number of threads changes nothing in the result.

use super::tile::{Piece, Share, Tiling};
use super::{By, Element, Store, Sum, forgettable, fresh, lanes, plain, streams, with_plan};
use crate::kernel::par::{split, split_where};
use crate::kernel::plan::{Loop, Walk};
use crate::kernel::raw::Source;
use crate::kernel::simd::{self, Work};
use alloc::vec;
use core::mem::needs_drop;
use ndarray::{Array, ArrayRef, Dimension};

/// Bytes of input below which other threads take longer to wake than the sum takes.
const WORTH_IT: usize = 2 << 20;
/// The least elements to hand to another thread.
const GRAIN: usize = 1 << 16;

/// [`sum_into`](super::sum_into), on several threads where the input is large.
pub(crate) fn par_sum_into<A, D: Dimension, E: Dimension, S>(
    input: &ArrayRef<A, D>,
    out: &mut ArrayRef<S::Slot, E>,
    dropped: impl Fn(usize) -> bool,
    store: &S,
) where
    A: Element + Send + Sync,
    S: Store<A, Slot: Send> + Sync,
{
    with_plan(input, out, dropped, store, par_run);
}

/// [`sum_to_new`](super::sum_to_new), on several threads where the input is large.
pub(crate) fn par_sum_to_new<A: Element + Send + Sync, D: Dimension, E: Dimension>(
    input: &ArrayRef<A, D>,
    shape: E,
    dropped: impl Fn(usize) -> bool,
) -> Array<A, E> {
    if needs_drop::<A>() {
        return super::sum_to_new(input, shape, dropped);
    }
    fresh(input, shape, dropped, par_run)
}

fn par_run<T, S>(sum: Sum<'_, T, S>)
where
    T: Element + Send + Sync,
    S: Store<T, Slot: Send> + Sync,
{
    let size: usize = sum.loops.iter().map(|l| l.len).product();
    if size.saturating_mul(size_of::<T>()) < WORTH_IT {
        super::run(sum);
    } else if !const { forgettable::<T>() } {
        plain::run(&sum);
    } else if lanes::Lanes::of(sum.loops).is_some() {
        par_loops(sum, 0);
    } else if streams::Streams::of::<T>(sum.loops).is_some() {
        par_loops(sum, 2);
    } else {
        par_tiles(&sum, size);
    }
}

/// Cuts the kept loops but the `inner` innermost: what is left of them is planned as the whole was.
fn par_loops<T, S>(sum: Sum<'_, T, S>, inner: usize)
where
    T: Element + Send + Sync,
    S: Store<T, Slot: Send> + Sync,
{
    let outer = sum.loops.len() - inner;
    let kept = |place, l: &Loop<2>| place < outer && l.strides[1] != 0;
    split_where(&kept, sum.loops, [0, 0], GRAIN, &|loops, [from, to]| {
        super::run(Sum { loops, input: sum.input.moved(from), out: sum.out.moved(to), ..sum });
    });
}

/// Shares out the tiles, and a single large one by its columns.
fn par_tiles<T, S>(sum: &Sum<'_, T, S>, size: usize)
where
    T: Element + Send + Sync,
    S: Store<T, Slot: Send> + Sync,
{
    let tiling = Tiling::of::<T>(sum.loops);
    let each = size / tiling.tiles();
    split(&tiling.outside, [0; 3], GRAIN.div_ceil(each), &|outside, at| {
        if each / 2 >= GRAIN {
            Walk::new(outside, at).for_each(|at| par_columns(sum, &Piece::new(&tiling, at)));
        } else {
            simd::dispatch(By(Share { tiling: &tiling, outside, at }, *sum));
        }
    });
}

/// A single tile.
fn par_columns<T, S>(sum: &Sum<'_, T, S>, piece: &Piece<'_>)
where
    T: Element + Send + Sync,
    S: Store<T, Slot: Send> + Sync,
{
    let mut tile = vec![T::zero(); piece.width];
    // whole cache lines, so that threads do not write to the same one
    let middle = (piece.width / 2).next_multiple_of(64).min(piece.width);
    let (low, high) = tile.split_at_mut(middle);
    rayon::join(
        || {
            simd::dispatch(Columns { piece, input: sum.input, first: 0, sums: low });
        },
        || {
            simd::dispatch(Columns { piece, input: sum.input, first: middle, sums: high });
        },
    );
    simd::dispatch(Finish { piece, sum, tile: &mut tile });
}

struct Columns<'a, T> {
    piece: &'a Piece<'a>,
    input: Source<'a, T>,
    first: usize,
    sums: &'a mut [T],
}

impl<T: Element> Work for Columns<'_, T> {
    #[inline(always)]
    fn run(self) {
        if !self.sums.is_empty() {
            self.piece.columns(self.input, self.first, self.sums);
        }
    }
}

struct Finish<'a, T, S: Store<T>> {
    piece: &'a Piece<'a>,
    sum: &'a Sum<'a, T, S>,
    tile: &'a mut [T],
}

impl<T: Element, S: Store<T>> Work for Finish<'_, T, S> {
    #[inline(always)]
    fn run(self) {
        self.piece.finish(self.sum, self.tile);
    }
}
