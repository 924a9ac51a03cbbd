//! The innermost loops of all sums: along one lane, and across rows.
//!
//! ```text
//! along:   a a a a a a a a | a a a a a a a a | …    up to 32 accumulators take every 32nd element, then fold by halves
//! across:  row0[j] + row1[j] + … for each column j   8, 4, 2 or 1 rows, 16 and 8 columns at a time
//! ```
//!
//! A lane of up to 1024 elements has one set of accumulators. A longer one is read as eight stretches side by side,
//! because memory serves several streams faster than one; the sums of their blocks are added pairwise. Elements that are
//! not adjacent are copied to a buffer first.

#![forbid(unsafe_code)]

use super::combine::Combine;
use super::nest::Block;
use super::simd::{self, Cpu, Work};
use core::array;
use core::hint::black_box;
use num_traits::Zero;

/// The longest run that is added up by one set of sums.
const BLOCK: usize = 1024;
/// How many times eight chunks are added to one set of sums.
const TURNS: usize = 16;

/// How many sums a row has, so that the compiler fills some vectors with them.
const fn sums<T>() -> usize {
    match size_of::<T>() {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

/// Room for the elements of a row that are not adjacent, which are copied before they are added up.
pub(super) const fn room<T>() -> usize {
    let (eight, block) = (8 * TURNS * sums::<T>(), BLOCK);
    if eight > block { eight } else { block }
}

/// The sum of adjacent elements, its error bounded as by pairwise summation.
#[inline(always)]
pub(super) fn sum<T: Clone + Zero>(x: Block<'_, T, true>) -> T {
    if x.width() <= BLOCK { block_of(x) } else { sum_apart(x.into(), &mut []) }
}

/// The [`sum`] of the only row of a block, whose elements need not be adjacent: there is [`room`] for copies.
pub(super) fn sum_apart<T: Clone + Zero>(x: Block<'_, T>, room: &mut [T]) -> T {
    simd::dispatch(Sum { x, room })
}

struct Sum<'x, 'r, T> {
    x: Block<'x, T>,
    room: &'r mut [T],
}

impl<T: Clone + Zero> Work for Sum<'_, '_, T> {
    type Output = T;

    #[inline(always)]
    fn run<C: Cpu>(self) -> T {
        let Self { x, room } = self;
        if x.width() <= BLOCK {
            return block_of(adjacent(x, room));
        }
        match const { sums::<T>() } {
            32 => stretches::<T, 32>(x, room),
            16 => stretches::<T, 16>(x, room),
            _ => stretches::<T, 8>(x, room),
        }
    }
}

/// The sum of more than [`BLOCK`] elements: eight stretches side by side, which memory serves faster than one.
#[inline(always)]
fn stretches<T: Clone + Zero, const L: usize>(x: Block<'_, T>, room: &mut [T]) -> T {
    let stretch = x.width() / (8 * L) * L;
    let eight = x.cut(0, 8, stretch);
    let mut pending = Pairwise::new();
    let mut from = 0;
    while from < stretch {
        let mut sums: [T; L] = array::from_fn(|_| T::zero());
        let turn = adjacent(eight.columns_from(from, TURNS * L), room);
        let mut i = 0;
        while i < turn.width() {
            add(&mut sums, &turn.columns::<8, L>(0, i, &T::zero(), few));
            i += L;
        }
        halve(&mut sums, 1);
        pending.push(sums[0].clone());
        from += turn.width();
    }
    pending.total() + block::<T, L>(adjacent(x.cut(8 * stretch, 1, x.width() - 8 * stretch), room))
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

/// The sum of at most [`BLOCK`] adjacent elements.
#[inline(always)]
fn block_of<T: Clone + Zero>(x: Block<'_, T, true>) -> T {
    match const { sums::<T>() } {
        32 => block::<T, 32>(x),
        16 => block::<T, 16>(x),
        _ => block::<T, 8>(x),
    }
}

/// At most [`BLOCK`] adjacent elements, by `L` independent sums.
#[inline(always)]
fn block<T: Clone + Zero, const L: usize>(x: Block<'_, T, true>) -> T {
    let n = x.width();
    let mut eight: [T; 8] = array::from_fn(|_| T::zero());
    if n >= L {
        let mut sums: [T; L] = array::from_fn(|_| T::zero());
        let chunks = x.cut(0, n / L, L);
        let mut row = 0;
        while chunks.rows() - row >= 4 {
            add(&mut sums, &chunks.columns::<4, L>(row, 0, &T::zero(), few));
            row += 4;
        }
        while row < chunks.rows() {
            add(&mut sums, &chunks.columns::<1, L>(row, 0, &T::zero(), few));
            row += 1;
        }
        halve(&mut sums, 8);
        eight.clone_from_slice(&sums[..8]);
    }
    let mut i = n / L * L;
    while n - i >= 8 {
        add(&mut eight, &x.columns::<1, 8>(0, i, &T::zero(), few));
        i += 8;
    }
    halve(&mut eight, 1);
    let mut rest = T::zero();
    while i < n {
        rest = rest + x.get(0, i).clone();
        i += 1;
    }
    eight[0].clone() + rest
}

/// Gives the sums of `R` rows from `row` on, column by column, to `sink`, each with its slot.
#[inline(always)]
pub(super) fn across<C: Cpu, T: Clone + Zero, U, const R: usize>(
    x: Block<'_, T>,
    row: usize,
    slots: &mut [U],
    mut sink: impl FnMut(&mut U, T),
) {
    let mut i = 0;
    if let (true, Some(x)) = (C::WIDE, x.dense()) {
        i = across_by::<T, U, R, 16>(x, row, 0, slots, &mut sink);
        i = across_by::<T, U, R, 8>(x, row, i, slots, &mut sink);
    }
    for slot in &mut slots[i..] {
        // Opaque: else the compiler adds a loop for adjacent elements, which the loops above have had.
        let [sum] = x.columns::<R, 1>(row, black_box(i), &T::zero(), few);
        sink(slot, sum);
        i += 1;
    }
}

/// [`across`] for `K` columns at a time, from column `i` on, as far as they go.
#[inline(always)]
fn across_by<T: Clone + Zero, U, const R: usize, const K: usize>(
    x: Block<'_, T, true>,
    row: usize,
    mut i: usize,
    slots: &mut [U],
    sink: &mut impl FnMut(&mut U, T),
) -> usize {
    for part in slots[i..].chunks_exact_mut(K) {
        // all sums before any is stored: the compiler need not know that the slots are elsewhere
        let sums = x.columns::<R, K>(row, i, &T::zero(), few);
        // not by value: the compiler loses an array's iterator
        part.iter_mut().zip(&sums).for_each(|(slot, sum)| sink(slot, sum.clone()));
        i += K;
    }
    i
}

/// Adds the rows of a block, from `row` on, to a tile: eight of them, or four, or one. How many they were.
#[inline(always)]
pub(super) fn add_rows<C: Cpu, T: Clone + Zero>(x: Block<'_, T>, row: usize, tile: &mut [T]) -> usize {
    let add = |a: &mut T, s| *a = a.clone() + s;
    match x.rows() - row {
        8.. => {
            across::<C, T, _, 8>(x, row, tile, add);
            8
        }
        4.. => {
            across::<C, T, _, 4>(x, row, tile, add);
            4
        }
        _ => {
            across::<C, T, _, 1>(x, row, tile, add);
            1
        }
    }
}

/// The sums of the elements whose indices differ by multiples of `K`, by `L` independent sums: a power of two times `K`.
#[inline(always)]
pub(super) fn periodic<T: Clone + Zero, const K: usize, const L: usize>(x: &[T]) -> [T; K] {
    let mut sums: [T; L] = array::from_fn(|_| T::zero());
    let chunks = x.chunks_exact(L);
    let rest = chunks.remainder();
    for chunk in chunks {
        add(&mut sums, chunk);
    }
    // Opaque: else the compiler vectorises the loop above by the order of the additions below (5x slower).
    let mut sums = black_box(sums);
    add(&mut sums, rest);
    halve(&mut sums, K);
    array::from_fn(|i| sums[i].clone())
}

/// Gives the sums of lanes of `N` elements, one after the other, to `sink`, each with its slot.
#[inline(always)]
pub(super) fn short<T: Clone + Zero, U, const N: usize>(
    x: &[T],
    slots: &mut [U],
    mut sink: impl FnMut(&mut U, T),
) {
    for (slot, lane) in slots.iter_mut().zip(x.chunks_exact(N)) {
        sink(slot, few::<T, N>(array::from_fn(|i| lane[i].clone())));
    }
}

#[inline(always)]
pub(super) fn add<T: Clone + Zero>(a: &mut [T], b: &[T]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = a.clone() + b.clone();
    }
}

/// Combines rows of `width` elements, one after the other, by halves. The results are in the first row.
#[inline(always)]
pub(super) fn fold<T, C: Combine<T> + ?Sized>(combine: &C, rows: &mut [T], width: usize) {
    let mut left = rows.len() / width;
    while left > 1 {
        let half = left / 2;
        let (low, high) = rows[..left * width].split_at_mut((left - half) * width);
        combine.rows(&mut low[..half * width], high);
        left -= half;
    }
}

/// The sum of a few thousand adjacent elements.
#[inline(always)]
pub(super) fn total<T: Clone + Zero>(x: &[T]) -> T {
    let mut total = T::zero();
    // not `fold`: a closure that is not inlined would not be compiled for the CPU
    for part in x.chunks(BLOCK) {
        total = total + block_of(part.into());
    }
    total
}

/// Adds up the sums by halves until `left` remain, at the front; powers of two.
#[inline(always)]
fn halve<T: Clone + Zero>(sums: &mut [T], left: usize) {
    let mut width = sums.len();
    while width > left {
        width /= 2;
        for j in 0..width {
            sums[j] = sums[j].clone() + sums[j + width].clone();
        }
    }
}

/// The sum of a few terms by halves.
#[inline(always)]
pub(super) fn few<T: Clone + Zero, const N: usize>(mut x: [T; N]) -> T {
    let mut left = N;
    while left > 1 {
        let half = left / 2;
        for i in 0..half {
            x[i] = x[i].clone() + x[left - half + i].clone();
        }
        left -= half;
    }
    x[0].clone()
}

/// Adds values in pairs, then pairs of pairs: a binary counter, where bit `i` of `count` set means that `sums[i]`
/// holds the sum of `2^i` values.
struct Pairwise<T> {
    sums: [T; usize::BITS as usize],
    count: usize,
}

impl<T: Clone + Zero> Pairwise<T> {
    #[inline(always)]
    fn new() -> Self {
        Self { sums: array::from_fn(|_| T::zero()), count: 0 }
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
