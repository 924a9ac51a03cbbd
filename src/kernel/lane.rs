//! The innermost loops of all reductions: along one lane, and across rows.
//!
//! ```text
//! along:    a a a a a a a a | a a a a a a a a | …    up to 64 accumulators, which are then combined by halves
//! across:   row0[j] + row1[j] + … for each column j   8, 4 or 1 rows, 16 and 8 columns at a time
//! together: a a a | b b b | c c c | …                lanes of a few elements, as they follow each other
//! columns:  the same, or rows: eight or sixteen columns side by side, each in order
//! periodic: r g b r g b …                            24 or 48 accumulators, which are then combined for each of 2 to 4 channels
//! ```

#![forbid(unsafe_code)]

use super::memory::{WriteOnly, array, forgettable};
use super::nest::Block;
use super::operation::{Operation, by_halves, halve};
use super::simd::{Cpu, end_of_reads, interleaved, opaque};
use core::hint::black_box;

/// The longest lane that is reduced as a whole. Longer ones are cut into the rows of tiles.
pub(super) const LONGEST: usize = 1 << 16;
/// The most elements that are combined one after the other.
pub(super) const IN_ORDER: usize = 64;
/// The most elements for one set of accumulators.
pub(super) const BLOCK: usize = 1024;

/// The number of accumulators: enough to fill several vectors.
const fn accumulators<T>() -> usize {
    match size_of::<T>() {
        0..=1 => 64,
        2..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

/// The number of accumulators for fewer elements, and of columns side by side: a small vector, because the compiler does
/// not fill a part of one.
const fn few<T>() -> usize {
    if size_of::<T>() <= 1 { 16 } else { 8 }
}

/// Combines adjacent elements, a block at a time.
#[inline(always)]
pub(super) fn reduce<T: Clone, O: Operation<T>>(x: &[T], by: O) -> T {
    if x.len() <= 8 {
        return reduce_few(x, by);
    }
    let mut total = by.identity();
    for part in x.chunks(BLOCK) {
        total = match const { accumulators::<T>() } {
            64 => reduce_by::<T, O, 64, 16>(total, part, by),
            32 => reduce_by::<T, O, 32, 8>(total, part, by),
            16 => reduce_by::<T, O, 16, 8>(total, part, by),
            _ => reduce_by::<T, O, 8, 8>(total, part, by),
        };
    }
    total
}

/// [`reduce`] for up to eight elements: one after the other, or eight by halves.
#[inline(always)]
fn reduce_few<T: Clone, O: Operation<T>>(x: &[T], by: O) -> T {
    if let [a, b, c, d, e, f, g, h] = x {
        return by_halves([a, b, c, d, e, f, g, h].map(T::clone), by);
    }
    let Some((first, others)) = x.split_first() else { return by.identity() };
    let mut total = first.clone();
    for x in others {
        total = by.apply(total, x.clone());
        // few: not to be vectorised
        end_of_reads();
    }
    total
}

/// Combines adjacent elements with `total`, by `L` accumulators, then by `K`. It takes one chunk at a time: the compiler
/// would vectorise a maximum of several across the chunks, with a load for each element.
#[inline(always)]
fn reduce_by<T: Clone, O: Operation<T>, const L: usize, const K: usize>(mut total: T, x: &[T], by: O) -> T {
    let chunks = x.chunks_exact(L);
    let rest = chunks.remainder().chunks_exact(K);
    let last = rest.remainder();
    let mut few: [T; K] = array(|_| by.identity());
    if x.len() >= L {
        let mut accumulators: [T; L] = array(|_| by.identity());
        for chunk in chunks {
            accumulators = combined(&accumulators, chunk, by);
        }
        few = halve(&mut accumulators, by);
    }
    for chunk in rest {
        few = combined(&few, chunk, by);
    }
    // the last elements after the others: a processor fetches memory in order
    for x in last {
        total = by.apply(total, x.clone());
        end_of_reads();
    }
    let [result] = halve(&mut few, by);
    by.apply(result, total)
}

/// Whether there is a loop over adjacent lanes of `width` elements: see [`together`].
pub(super) const fn are_together<T>(width: usize) -> bool {
    match width {
        2..=4 | 8 => true,
        // of smaller elements, several lanes at a time take longer than one after the other
        16 | 24 => matches!(size_of::<T>(), 4..=8),
        _ => false,
    }
}

/// Whether adjacent lanes of `width` elements are the columns of a block: eight are combined side by side.
pub(super) const fn are_columns<T>(width: usize) -> bool {
    // elements that own memory would be cloned more often
    matches!(width, 5..=31) && !width.is_multiple_of(8) && size_of::<T>() >= 4 && forgettable::<T>()
}

/// Stores the combined elements of each lane of `width` in its slot, several lanes at a time: in the order of [`reduce`].
/// Lanes of that width [`are_together`].
#[inline(always)]
pub(super) fn together<C: Cpu, T: Clone, O: Operation<T>>(
    x: &[T],
    width: usize,
    slots: &mut [WriteOnly<T>],
    by: O,
) {
    // matched once: a loop for each
    match width {
        2 => short::<T, O, 2>(x, slots, by),
        3 => short::<T, O, 3>(x, slots, by),
        4 => short::<T, O, 4>(x, slots, by),
        8 => eights::<C, T, O, 8>(x, slots, by),
        16 if const { are_together::<T>(16) } => eights::<C, T, O, 16>(x, slots, by),
        24 if const { are_together::<T>(24) } => eights::<C, T, O, 24>(x, slots, by),
        _ => unreachable!("a width with a loop"),
    }
}

/// Stores the combined elements of each lane of `N` in its slot: one after the other.
#[inline(always)]
fn short<T: Clone, O: Operation<T>, const N: usize>(x: &[T], slots: &mut [WriteOnly<T>], by: O) {
    for (slot, lane) in slots.iter_mut().zip(x.chunks_exact(N)) {
        let mut total = lane[0].clone();
        for x in &lane[1..] {
            total = by.apply(total, x.clone());
        }
        slot.write(total);
    }
}

/// The same for a multiple of eight: by eights, and their results by halves, four lanes side by side.
#[inline(always)]
fn eights<C: Cpu, T: Clone, O: Operation<T>, const N: usize>(x: &[T], slots: &mut [WriteOnly<T>], by: O) {
    let (mut fours, lanes) = (slots.chunks_exact_mut(4), x.chunks_exact(4 * N));
    let rest = lanes.remainder();
    for (slots, lanes) in fours.by_ref().zip(lanes) {
        // opaque: the compiler would exchange rows and columns before the first additions
        let mut rows: [_; 4] = array(|lane| four::<T, O, N>(&lanes[lane * N..][..N], by));
        for row in &mut rows {
            opaque::<C, T, 4>(row);
        }
        let halves: [_; 2] = array(|i| halves_in_turn(&rows[i], &rows[i + 2], by));
        let results = halves_in_turn(&halves[0], &halves[1], by);
        for (slot, result) in slots.iter_mut().zip(results) {
            slot.write(result);
        }
        // vectorised along the lanes, not across them
        end_of_reads();
    }
    for (slot, lane) in fours.into_remainder().iter_mut().zip(rest.chunks_exact(N)) {
        slot.write(by_halves(four::<T, O, N>(lane, by), by));
        end_of_reads();
    }
}

/// The elements of a lane of `N`, combined until four results remain.
#[inline(always)]
fn four<T: Clone, O: Operation<T>, const N: usize>(lane: &[T], by: O) -> [T; 4] {
    if const { N == 8 } {
        return array(|i| by.apply(lane[i].clone(), lane[i + 4].clone()));
    }
    let mut eight: [T; 8] = array(|_| by.identity());
    for chunk in lane.chunks_exact(8) {
        eight = combined(&eight, chunk, by);
    }
    halve(&mut eight, by)
}

/// The second half of each row combined with the first: the results of both rows in turn.
#[inline(always)]
fn halves_in_turn<T: Clone, O: Operation<T>>(a: &[T; 4], b: &[T; 4], by: O) -> [T; 4] {
    let [first, second] = interleaved(a, b);
    combined(&first, &second, by)
}

/// Combines the elements of `R` rows, from `row` on, into the tile, column by column.
#[inline(always)]
fn across<C: Cpu, T: Clone, O: Operation<T>, const R: usize>(
    x: Block<'_, T>,
    row: usize,
    tile: &mut [T],
    by: O,
) {
    let mut i = 0;
    if let (true, Some(x)) = (C::WIDE, x.dense()) {
        i = across_by::<T, O, R, 16>(x, row, 0, tile, by);
        i = across_by::<T, O, R, 8>(x, row, i, tile, by);
    }
    while i < tile.len() {
        // Opaque, so that the compiler adds no second loop for adjacent elements: the loops above have taken these.
        let [result] = x.columns::<R, 1>(row, black_box(i), by);
        tile[i] = by.apply(tile[i].clone(), result);
        i += 1;
    }
}

/// [`across`] for `K` columns at a time, from column `i` on. Returns the first column that is left.
#[inline(always)]
fn across_by<T: Clone, O: Operation<T>, const R: usize, const K: usize>(
    x: Block<'_, T, true>,
    row: usize,
    mut i: usize,
    tile: &mut [T],
    by: O,
) -> usize {
    while let Some(part) = tile[i..].first_chunk_mut::<K>() {
        // all results before any store, so that the compiler need not know whether the tile aliases the rows
        let results = x.columns::<R, K>(row, i, by);
        let results = array(|k| by.apply(part[k].clone(), results[k].clone()));
        end_of_reads();
        *part = results;
        i += K;
    }
    i
}

/// Combines all rows of a block into a tile: up to eight at a time, or one.
#[inline(always)]
pub(super) fn combine_rows<C: Cpu, T: Clone, O: Operation<T>>(
    x: Block<'_, T>,
    at_once: usize,
    tile: &mut [T],
    by: O,
) {
    let mut row = 0;
    while row < x.rows() {
        row += match (x.rows() - row).min(at_once) {
            8.. => {
                across::<C, T, O, 8>(x, row, tile, by);
                8
            }
            4.. => {
                across::<C, T, O, 4>(x, row, tile, by);
                4
            }
            _ => {
                across::<C, T, O, 1>(x, row, tile, by);
                1
            }
        }
    }
}

/// Stores the combined elements of each column in its slot: row after row, eight or sixteen columns side by side.
#[inline(always)]
pub(super) fn columns<T: Clone, O: Operation<T>>(x: Block<'_, T>, slots: &mut [WriteOnly<T>], by: O) {
    let i = match (const { few::<T>() }, x.dense()) {
        (16, Some(x)) => columns_by::<T, O, 16, true>(x, 0, slots, by),
        (_, Some(x)) => columns_by::<T, O, 8, true>(x, 0, slots, by),
        (_, None) => columns_by::<T, O, 8, false>(x, 0, slots, by),
    };
    columns_by::<T, O, 1, false>(x, i, slots, by);
}

/// [`columns`], `K` side by side, from column `i` on. Returns the first column that is left.
#[inline(always)]
fn columns_by<T: Clone, O: Operation<T>, const K: usize, const DENSE: bool>(
    x: Block<'_, T, DENSE>,
    mut i: usize,
    slots: &mut [WriteOnly<T>],
    by: O,
) -> usize {
    while let Some(part) = slots[i..].first_chunk_mut::<K>() {
        for (slot, result) in part.iter_mut().zip(in_order::<T, O, K, DENSE>(x, i, by)) {
            slot.write(result);
        }
        i += K;
    }
    i
}

/// The elements of each of `K` columns, from column `i` on, combined one after the other.
#[inline(always)]
fn in_order<T: Clone, O: Operation<T>, const K: usize, const DENSE: bool>(
    x: Block<'_, T, DENSE>,
    i: usize,
    by: O,
) -> [T; K] {
    let mut results: [T; K] = array(|_| by.identity());
    let mut row = 0;
    while DENSE && x.rows() - row >= 4 {
        combine(&mut results, &x.columns::<4, K>(row, i, by), by);
        row += 4;
        end_of_reads();
    }
    while row < x.rows() {
        combine(&mut results, &x.columns::<1, K>(row, i, by), by);
        row += 1;
        // vectorised across the columns, not across the rows
        end_of_reads();
    }
    results
}

/// Combines each `width` elements, eight lanes side by side if they [`are_together`], and leaves the results at the front.
#[inline(always)]
pub(super) fn in_place<T: Clone, O: Operation<T>>(elements: &mut [T], width: usize, by: O) {
    let mut lane = 0;
    while (are_together::<T>(width) || are_columns::<T>(width)) && elements.len() - lane * width >= 8 * width
    {
        let lanes = Block::from(&elements[lane * width..]).cut(0, 8, width);
        let eight = in_order::<T, O, 8, false>(Block::from(lanes).transposed(), 0, by);
        elements[lane..][..8].clone_from_slice(&eight);
        lane += 8;
    }
    for lane in lane..elements.len() / width {
        elements[lane] = reduce(&elements[lane * width..][..width], by);
    }
}

/// Combines the elements whose indices differ by multiples of `N`: of 2, 3 and 4, so that one loop serves rows of these lengths.
#[inline(always)]
pub(super) fn periodic<T: Clone, O: Operation<T>, const N: usize>(x: &[T], by: O) -> [T; N] {
    let mut results: [T; N] = array(|_| by.identity());
    let chunks = x.chunks_exact(N);
    let rest = chunks.remainder();
    for chunk in chunks {
        combine(&mut results, chunk, by);
    }
    // Opaque, so that the compiler does not order the vectors of the loop above for the operations below (5x slower).
    let mut results = black_box(results);
    combine(&mut results, rest, by);
    results
}

/// Combines adjacent rows of `width` elements by halves, with `combine` for each two halves. The result is in the first row.
#[inline(always)]
pub(super) fn halve_rows<T>(rows: &mut [T], width: usize, mut combine: impl FnMut(&mut [T], &[T])) {
    let mut remaining = rows.len() / width;
    while remaining > 1 {
        let half = remaining / 2;
        let (low, high) = rows[..remaining * width].split_at_mut((remaining - half) * width);
        combine(&mut low[..half * width], high);
        remaining -= half;
    }
}

/// Accumulators combined with a chunk. Because they are returned by value, they stay in registers, however many they are.
#[inline(always)]
fn combined<T: Clone, O: Operation<T>, const N: usize>(accumulators: &[T; N], chunk: &[T], by: O) -> [T; N] {
    array(|i| by.apply(accumulators[i].clone(), chunk[i].clone()))
}

/// Combines each element of `from` into the element of `into` at the same index.
#[inline(always)]
pub(super) fn combine<T: Clone, O: Operation<T>>(into: &mut [T], from: &[T], by: O) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = by.apply(into.clone(), from.clone());
    }
}
