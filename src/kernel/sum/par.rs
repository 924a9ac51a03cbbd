//! Sums on several threads.
//!
//! The work is cut between elements of the output, or between the columns of a tile: never within a sum. So the
//! number of threads changes nothing in the result.

use super::store::Fresh;
use super::tile::{Piece, Share, Tiling};
use super::{By, Element, Store, Sum, forgettable, lanes, plain, streams, uninit_like, with_plan};
use crate::kernel::plan::{Stack, Walk};
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
    let mut out = uninit_like(input, shape, &dropped);
    par_sum_into(input, &mut out, dropped, &Fresh);
    // SAFETY: as in `sum_to_new`: every element was stored to, on whichever thread.
    unsafe { out.assume_init() }
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
        par_loops(sum, size, 0);
    } else if streams::Streams::of::<T>(sum.loops).is_some() {
        par_loops(sum, size, 2);
    } else {
        let tiling = Tiling::of::<T>(sum.loops);
        let whole = tiling.whole();
        let tiles = whole.kept.iter().map(|l| l.len).product::<usize>() * whole.pieces.len();
        par_tiles(&sum, whole, tiles, size / tiles);
    }
}

/// Halves the longest kept loop but the `inner` innermost: what is left of it is planned as the whole was.
fn par_loops<T, S>(sum: Sum<'_, T, S>, size: usize, inner: usize)
where
    T: Element + Send + Sync,
    S: Store<T, Slot: Send> + Sync,
{
    let outer = &sum.loops[..sum.loops.len() - inner];
    let longest = (0..outer.len())
        .filter(|&i| outer[i].strides[1] != 0)
        .max_by_key(|&i| outer[i].len);
    let Some(i) = longest.filter(|&i| outer[i].len > 1 && size >= 2 * GRAIN) else {
        return super::run(sum);
    };
    let half = outer[i].len / 2;
    let (mut low, mut high) = (Stack::from(sum.loops), Stack::from(sum.loops));
    low[i].len = half;
    high[i].len -= half;
    let [from, to] = outer[i].strides.map(|s| s * half as isize);
    let high_sum = Sum {
        loops: &high,
        input: sum.input.moved(from),
        out: sum.out.moved(to),
        ..sum
    };
    let low_sum = Sum { loops: &low, ..sum };
    rayon::join(
        || par_loops(low_sum, size / 2, inner),
        || par_loops(high_sum, size - size / 2, inner),
    );
}

/// Halves the tiles, down to a single one, and that by its columns.
fn par_tiles<T, S>(sum: &Sum<'_, T, S>, share: Share<'_>, tiles: usize, size: usize)
where
    T: Element + Send + Sync,
    S: Store<T, Slot: Send> + Sync,
{
    if tiles.saturating_mul(size) < 2 * GRAIN {
        return simd::dispatch(By(share, *sum));
    }
    let (mut low, mut high) = (share.clone(), share);
    let longest = (0..low.kept.len()).max_by_key(|&i| low.kept[i].len);
    if let Some(i) = longest.filter(|&i| low.kept[i].len > 1) {
        let half = low.kept[i].len / 2;
        low.kept[i].len = half;
        high.kept[i].len -= half;
        let strides = high.kept[i].strides;
        high.at = [0, 1].map(|k| high.at[k] + strides[k] * half as isize);
    } else if low.pieces.len() > 1 {
        let middle = low.pieces.start + low.pieces.len() / 2;
        low.pieces.end = middle;
        high.pieces.start = middle;
    } else {
        return par_columns(sum, &low);
    }
    let count = |s: &Share<'_>| s.kept.iter().map(|l| l.len).product::<usize>() * s.pieces.len();
    let (few, many) = (count(&low), count(&high));
    rayon::join(
        || par_tiles(sum, low, few, size),
        || par_tiles(sum, high, many, size),
    );
}

/// A single tile.
fn par_columns<T, S>(sum: &Sum<'_, T, S>, share: &Share<'_>)
where
    T: Element + Send + Sync,
    S: Store<T, Slot: Send> + Sync,
{
    let at = Walk::new(&share.kept, share.at).next().unwrap_or(share.at);
    let piece = Piece::new(share.tiling, at, share.pieces.start);
    let mut tile = vec![T::zero(); piece.width];
    // whole cache lines, so that threads do not write to the same one
    let middle = (piece.width / 2).next_multiple_of(64).min(piece.width);
    let (low, high) = tile.split_at_mut(middle);
    rayon::join(
        || {
            simd::dispatch(Columns {
                piece: &piece,
                input: sum.input,
                first: 0,
                sums: low,
            });
        },
        || {
            simd::dispatch(Columns {
                piece: &piece,
                input: sum.input,
                first: middle,
                sums: high,
            });
        },
    );
    simd::dispatch(Finish {
        piece: &piece,
        sum,
        tile: &mut tile,
    });
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
