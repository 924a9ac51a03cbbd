//! The innermost loops of all sums: along one lane, and across rows.
//!
//! ```text
//! along:    a a a a a a a a | a a a a a a a a | …    up to 64 accumulators, which are then added up by halves
//! across:   row0[j] + row1[j] + … for each column j   8, 4, 2 or 1 rows, 16 and 8 columns at a time
//! together: a a a | b b b | c c c | …                lanes of a few elements, each by halves or eight side by side
//! ```
//!
//! Each block of up to 1024 elements of a lane has one set of accumulators, and the sums of blocks are added pairwise.
//! Strided elements are copied to a buffer first.

#![forbid(unsafe_code)]

use super::memory::{array, forgettable};
use super::nest::{Block, Run, by_halves};
use super::simd::{self, Cpu, Work, end_of_reads};
use super::store::{Onto, Overwrite, Store};
use core::hint::black_box;
use num_traits::Zero;

/// The longest lane that is reduced as a whole. Longer ones are cut into the rows of tiles.
pub(super) const LONGEST: usize = 1 << 16;
/// The most elements that are added up one after the other.
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

/// Stores the sum of each block of adjacent elements in its slot. The error is bounded as by pairwise summation.
#[inline(always)]
pub(super) fn sums<T: Clone + Zero, S: Store<T>>(mut run: Run<'_, S::Slot, T>, store: &S) {
    // matched once: a loop for each
    match run.width() {
        ..8 => {
            while let Some((x, slots)) = run.next_dense() {
                store.store(slots.only(), in_order(x, 0));
            }
        }
        8..=BLOCK => {
            while let Some((x, slots)) = run.next_dense() {
                store.store(slots.only(), block_of(x));
            }
        }
        _ => {
            while let Some((x, slots)) = run.next() {
                store.store(slots.only(), sum_strided(x, &mut []));
            }
        }
    }
}

/// The sum of the only row of a block, whose elements may be strided. `room` has [`BLOCK`] elements for copies.
pub(super) fn sum_strided<T: Clone + Zero>(x: Block<'_, T>, room: &mut [T]) -> T {
    simd::dispatch(LaneSum { x, room })
}

struct LaneSum<'x, 'r, T> {
    x: Block<'x, T>,
    room: &'r mut [T],
}

impl<T: Clone + Zero> Work for LaneSum<'_, '_, T> {
    type Output = T;

    #[inline(always)]
    fn run<C: Cpu>(self) -> T {
        let Self { x, room } = self;
        if x.width() <= BLOCK {
            return block_of(adjacent(x, room));
        }
        let (mut pending, mut from) = (Pairwise::new(), 0);
        while from < x.width() {
            pending.push(block_of(adjacent(x.columns_from(from, BLOCK), room)));
            from += BLOCK;
        }
        pending.total()
    }
}

/// The block, copied to `room` unless it is dense.
#[inline(always)]
fn adjacent<'a, T: Clone>(x: Block<'a, T>, room: &'a mut [T]) -> Block<'a, T, true> {
    if let Some(dense) = x.dense() {
        return dense;
    }
    let len = x.rows() * x.width();
    for row in 0..x.rows() {
        for (column, copy) in room[row * x.width()..][..x.width()].iter_mut().enumerate() {
            *copy = x.get(row, column).clone();
        }
    }
    Block::from(&room[..len]).cut(0, x.rows(), x.width())
}

/// The sum of the elements from element `i` on, one after the other.
#[inline(always)]
fn in_order<T: Clone + Zero>(x: Block<'_, T, true>, mut i: usize) -> T {
    let mut total = T::zero();
    while i < x.width() {
        total = total + x.get(0, i).clone();
        i += 1;
    }
    total
}

#[inline(always)]
pub(super) fn plus<T: Zero>(a: T, b: T) -> T {
    a + b
}

/// The sum of at most [`BLOCK`] adjacent elements.
#[inline(always)]
fn block_of<T: Clone + Zero>(x: Block<'_, T, true>) -> T {
    match const { accumulators::<T>() } {
        64 => block::<T, 64, 16>(x),
        32 => block::<T, 32, 8>(x),
        16 => block::<T, 16, 8>(x),
        _ => block::<T, 8, 8>(x),
    }
}

/// [`block_of`] by `L` accumulators, then by `K`.
#[inline(always)]
fn block<T: Clone + Zero, const L: usize, const K: usize>(x: Block<'_, T, true>) -> T {
    let n = x.width();
    let mut few: [T; K] = array(|_| T::zero());
    if n >= L {
        let mut sums: [T; L] = array(|_| T::zero());
        let chunks = x.cut(0, n / L, L);
        let mut row = 0;
        while chunks.rows() - row >= 4 {
            add(&mut sums, &chunks.columns::<4, L>(row, 0, &plus));
            row += 4;
        }
        while row < chunks.rows() {
            add(&mut sums, &chunks.columns::<1, L>(row, 0, &plus));
            row += 1;
        }
        few = halve(&mut sums, &plus);
    }
    let mut i = n / L * L;
    while n - i >= K {
        add(&mut few, &x.columns::<1, K>(0, i, &plus));
        i += K;
    }
    let [sum] = halve(&mut few, &plus);
    sum + in_order(x, i)
}

/// The sum of adjacent elements, a block at a time: for a few thousand.
#[inline(always)]
pub(super) fn total<T: Clone + Zero>(x: &[T]) -> T {
    let mut total = T::zero();
    // not `fold`: its closure might not be inlined, and then is not compiled for the CPU
    for part in x.chunks(BLOCK) {
        total = total + block_of(part.into());
    }
    total
}

/// Combines adjacent elements by any operation, a block at a time.
#[inline(always)]
pub(super) fn reduce<T: Clone>(x: &[T], identity: &T, op: &impl Fn(T, T) -> T) -> T {
    let mut total = identity.clone();
    if x.len() < 8 {
        for x in x {
            total = op(total, x.clone());
            // few: not to be vectorised
            end_of_reads();
        }
        return total;
    }
    for part in x.chunks(BLOCK) {
        total = match const { accumulators::<T>() } {
            64 => reduce_by::<T, 64, 16>(total, part, identity, op),
            32 => reduce_by::<T, 32, 8>(total, part, identity, op),
            16 => reduce_by::<T, 16, 8>(total, part, identity, op),
            _ => reduce_by::<T, 8, 8>(total, part, identity, op),
        };
    }
    total
}

/// Combines adjacent elements with `total`, by `L` accumulators, then by `K`. Unlike [`block`], it takes one chunk at a time:
/// the compiler would vectorise a maximum of four across the chunks, with a load for each element.
#[inline(always)]
fn reduce_by<T: Clone, const L: usize, const K: usize>(
    mut total: T,
    x: &[T],
    identity: &T,
    op: &impl Fn(T, T) -> T,
) -> T {
    let chunks = x.chunks_exact(L);
    let rest = chunks.remainder().chunks_exact(K);
    for x in rest.remainder() {
        total = op(total, x.clone());
    }
    let mut few: [T; K] = array(|_| identity.clone());
    if x.len() >= L {
        let mut accumulators: [T; L] = array(|_| identity.clone());
        for chunk in chunks {
            accumulators = combined(&accumulators, chunk, op);
        }
        few = halve(&mut accumulators, op);
    }
    for chunk in rest {
        few = combined(&few, chunk, op);
    }
    let [result] = halve(&mut few, op);
    op(result, total)
}

/// [`reduce`] for each lane of `width` elements: a few chunks of eight, but too few for more accumulators. The last four
/// results of several lanes are combined side by side.
///
/// # Panics
/// If `width` is not a multiple of eight.
#[inline(always)]
fn reduce_eights<T: Clone, S: Store<T>>(
    x: &[T],
    width: usize,
    slots: &mut [S::Slot],
    identity: &T,
    op: &impl Fn(T, T) -> T,
    store: &S,
) {
    const LANES: usize = 16;
    assert!(width.is_multiple_of(8), "chunks of eight");
    let mut fours: [[T; 4]; LANES] = array(|_| array(|_| identity.clone()));
    let mut i = 0;
    for slots in slots.chunks_mut(LANES) {
        for four in &mut fours[..slots.len()] {
            let mut eight: [T; 8] = array(|_| identity.clone());
            // not chunks of `width` elements: these are counted by a division, which takes longer than a lane
            for chunk in x[i * width..][..width].chunks_exact(8) {
                eight = combined(&eight, chunk, op);
            }
            *four = halve(&mut eight, op);
            i += 1;
        }
        short::<T, S, 4>(fours.as_flattened(), slots, op, store);
    }
}

/// Whether adjacent lanes of `width` elements are reduced [`together`].
pub(super) const fn are_together<T>(width: usize) -> bool {
    // Lanes side by side take longer than one after the other where elements are smaller.
    let side_by_side = size_of::<T>() >= 4;
    match width {
        2..=4 | 8 => true,
        _ if width.is_multiple_of(8) => side_by_side && width > 0 && width < accumulators::<T>(),
        // elements that own memory would be cloned more often
        5..=31 => side_by_side && forgettable::<T>(),
        _ => false,
    }
}

/// Stores the combined elements of each row of the run's blocks in its slot, several rows at a time. They have a width of
/// which lanes [`are_together`].
#[inline(always)]
pub(super) fn together<T: Clone, S: Store<T>>(
    mut run: Run<'_, S::Slot, T>,
    identity: &T,
    op: &impl Fn(T, T) -> T,
    store: &S,
) {
    // matched once: a loop for each
    match run.width() {
        2 => short_lanes::<T, S, 2>(run, op, store),
        3 => short_lanes::<T, S, 3>(run, op, store),
        4 => short_lanes::<T, S, 4>(run, op, store),
        8 => short_lanes::<T, S, 8>(run, op, store),
        width if width.is_multiple_of(8) => {
            while let Some((x, slots)) = run.next() {
                reduce_eights(x.slice(), width, slots.slice(), identity, op, store);
            }
        }
        _ => {
            while let Some((x, slots)) = run.next() {
                columns(x.transposed(), slots.slice(), identity, op, store);
            }
        }
    }
}

/// Stores the combined elements of `R` rows, from `row` on, of each column in its slot.
#[inline(always)]
pub(super) fn across<C: Cpu, T: Clone, S: Store<T>, const R: usize>(
    x: Block<'_, T>,
    row: usize,
    slots: &mut [S::Slot],
    op: &impl Fn(T, T) -> T,
    store: &S,
) {
    let mut i = 0;
    if let (true, Some(x)) = (C::WIDE, x.dense()) {
        i = across_by::<T, S, R, 16>(x, row, 0, slots, op, store);
        i = across_by::<T, S, R, 8>(x, row, i, slots, op, store);
    }
    while i < slots.len() {
        // Opaque, so that the compiler adds no second loop for adjacent elements: the loops above have taken these.
        let [sum] = x.columns::<R, 1>(row, black_box(i), op);
        store.store(&mut slots[i], sum);
        i += 1;
    }
}

/// [`across`] for `K` columns at a time, from column `i` on. Returns the first column that is left.
#[inline(always)]
fn across_by<T: Clone, S: Store<T>, const R: usize, const K: usize>(
    x: Block<'_, T, true>,
    row: usize,
    mut i: usize,
    slots: &mut [S::Slot],
    op: &impl Fn(T, T) -> T,
    store: &S,
) -> usize {
    while let Some(part) = slots[i..].first_chunk_mut::<K>() {
        // all sums before any store, so that the compiler need not know whether the slots alias the rows
        let sums = x.columns::<R, K>(row, i, op);
        store.store_all(part, sums);
        i += K;
    }
    i
}

/// Stores the combined elements of each column in its slot: row after row, eight or sixteen columns side by side.
#[inline(always)]
pub(super) fn columns<T: Clone, S: Store<T>>(
    x: Block<'_, T>,
    slots: &mut [S::Slot],
    identity: &T,
    op: &impl Fn(T, T) -> T,
    store: &S,
) {
    let i = match (const { few::<T>() }, x.dense()) {
        (16, Some(x)) => columns_by::<T, S, 16, true>(x, 0, slots, identity, op, store),
        (_, Some(x)) => columns_by::<T, S, 8, true>(x, 0, slots, identity, op, store),
        (_, None) => columns_by::<T, S, 8, false>(x, 0, slots, identity, op, store),
    };
    columns_by::<T, S, 1, false>(x, i, slots, identity, op, store);
}

/// Combines lanes of `width` elements eight side by side if they [`are_together`], and leaves the results at the front.
/// Returns the number of lanes that were combined.
#[inline(always)]
pub(super) fn in_eights<T: Clone>(
    elements: &mut [T],
    width: usize,
    identity: &T,
    op: &impl Fn(T, T) -> T,
) -> usize {
    let mut lane = 0;
    while are_together::<T>(width) && elements.len() - lane * width >= 8 * width {
        let mut eight: [T; 8] = array(|_| identity.clone());
        let lanes = Block::from(&elements[lane * width..]).cut(0, 8, width);
        columns(Block::from(lanes).transposed(), &mut eight, identity, op, &Overwrite);
        elements[lane..][..8].clone_from_slice(&eight);
        lane += 8;
    }
    lane
}

/// [`columns`], `K` side by side, from column `i` on. Returns the first column that is left.
#[inline(always)]
fn columns_by<T: Clone, S: Store<T>, const K: usize, const DENSE: bool>(
    x: Block<'_, T, DENSE>,
    mut i: usize,
    slots: &mut [S::Slot],
    identity: &T,
    op: &impl Fn(T, T) -> T,
    store: &S,
) -> usize {
    while let Some(part) = slots[i..].first_chunk_mut::<K>() {
        let mut results: [T; K] = array(|_| identity.clone());
        let mut row = 0;
        while row < x.rows() {
            combine(&mut results, &x.columns::<1, K>(row, i, op), op);
            row += 1;
            // vectorised across the columns, not across the rows
            end_of_reads();
        }
        for (slot, result) in part.iter_mut().zip(results) {
            store.store(slot, result);
        }
        i += K;
    }
    i
}

/// Combines eight, four or one of a block's rows into a tile, from `row` on and before row `end`. Returns the number of
/// rows.
#[inline(always)]
pub(super) fn combine_rows<C: Cpu, T: Clone>(
    x: Block<'_, T>,
    [row, end]: [usize; 2],
    tile: &mut [T],
    op: &impl Fn(T, T) -> T,
) -> usize {
    let store = &Onto(op);
    match end - row {
        8.. => {
            across::<C, T, _, 8>(x, row, tile, op, store);
            8
        }
        4.. => {
            across::<C, T, _, 4>(x, row, tile, op, store);
            4
        }
        _ => {
            across::<C, T, _, 1>(x, row, tile, op, store);
            1
        }
    }
}

/// `K` sums, each of the elements whose indices differ by multiples of `K`. There are `L` accumulators: `K` times a power
/// of two.
#[inline(always)]
pub(super) fn periodic<T: Clone + Zero, const K: usize, const L: usize>(x: &[T]) -> [T; K] {
    let mut sums: [T; L] = array(|_| T::zero());
    let chunks = x.chunks_exact(L);
    let rest = chunks.remainder();
    for chunk in chunks {
        add(&mut sums, chunk);
    }
    // Opaque, so that the compiler does not order the vectors of the loop above for the additions below (5x slower).
    let mut sums = black_box(sums);
    add(&mut sums, rest);
    halve(&mut sums, &plus)
}

/// [`short`] for each block of a run.
#[inline(always)]
fn short_lanes<T: Clone, S: Store<T>, const N: usize>(
    mut run: Run<'_, S::Slot, T>,
    op: &impl Fn(T, T) -> T,
    store: &S,
) {
    while let Some((x, slots)) = run.next() {
        short::<T, S, N>(x.slice(), slots.slice(), op, store);
    }
}

/// Stores the combined elements of each lane of `N` in its slot.
#[inline(always)]
fn short<T: Clone, S: Store<T>, const N: usize>(
    x: &[T],
    slots: &mut [S::Slot],
    op: &impl Fn(T, T) -> T,
    store: &S,
) {
    for (slot, lane) in slots.iter_mut().zip(x.chunks_exact(N)) {
        store.store(slot, by_halves::<T, N>(array(|i| lane[i].clone()), op));
    }
}

#[inline(always)]
pub(super) fn add<T: Clone + Zero>(a: &mut [T], b: &[T]) {
    combine(a, b, &plus);
}

/// Accumulators combined with a chunk. Because they are returned by value, they stay in registers, however many they are.
#[inline(always)]
fn combined<T: Clone, const N: usize>(accumulators: &[T; N], chunk: &[T], op: &impl Fn(T, T) -> T) -> [T; N] {
    array(|i| op(accumulators[i].clone(), chunk[i].clone()))
}

/// Combines each element of `b` into the element of `a` at the same index.
#[inline(always)]
pub(super) fn combine<T: Clone>(a: &mut [T], b: &[T], op: &impl Fn(T, T) -> T) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = op(a.clone(), b.clone());
    }
}

/// Combines the second half of the accumulators with the first until `KEEP` remain. Both counts are powers of two.
#[inline(always)]
pub(super) fn halve<T: Clone, const KEEP: usize>(sums: &mut [T], op: &impl Fn(T, T) -> T) -> [T; KEEP] {
    let mut width = sums.len();
    while width > KEEP {
        width /= 2;
        for j in 0..width {
            sums[j] = op(sums[j].clone(), sums[j + width].clone());
        }
    }
    array(|j| sums[j].clone())
}

/// The number of sums that add the blocks of a lane in pairs.
const LEVELS: usize = (LONGEST / BLOCK).ilog2() as usize + 1;

/// Adds values in pairs, then pairs of pairs, as a binary counter: if bit `i` of `count` is set, `sums[i]` holds the sum
/// of `2^i` values.
struct Pairwise<T> {
    sums: [T; LEVELS],
    count: usize,
}

impl<T: Clone + Zero> Pairwise<T> {
    #[inline(always)]
    fn new() -> Self {
        Self { sums: array(|_| T::zero()), count: 0 }
    }

    #[inline(always)]
    fn push(&mut self, mut value: T) {
        let mut bit = 0;
        while self.count >> bit & 1 == 1 {
            value = self.sums[bit].clone() + value;
            bit += 1;
        }
        self.sums[bit] = value;
        self.count += 1;
    }

    #[inline(always)]
    fn total(self) -> T {
        let set = |&(bit, _): &(usize, T)| self.count >> bit & 1 == 1;
        self.sums.into_iter().enumerate().filter(set).fold(T::zero(), |total, (_, sum)| sum + total)
    }
}
