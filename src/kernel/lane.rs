//! Sums along a row, and across rows: the innermost loops of all sums.

#![forbid(unsafe_code)]

use super::nest::Block;
use super::simd::Cpu;
use core::array;
use num_traits::Zero;

/// The longest run that is added up by one set of sums.
const BLOCK: usize = 1024;
/// How many times eight chunks are added to one set of sums.
const TURNS: usize = 16;
/// Columns that are added up side by side.
const COLUMNS: usize = 8;

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

/// The sum of the only row of a block, its error bounded as by pairwise summation. There is [`room`] if the elements
/// are not adjacent.
#[inline(always)]
pub(super) fn sum<T: Clone + Zero>(x: Block<'_, T>, room: &mut [T]) -> T {
    match const { sums::<T>() } {
        32 => sum_by::<T, 32>(x, room),
        16 => sum_by::<T, 16>(x, room),
        _ => sum_by::<T, 8>(x, room),
    }
}

#[inline(always)]
fn sum_by<T: Clone + Zero, const L: usize>(x: Block<'_, T>, room: &mut [T]) -> T {
    if x.width() <= BLOCK {
        return block::<T, L>(adjacent(x, room));
    }
    // eight stretches side by side, which memory serves faster than one
    let stretch = x.width() / (8 * L) * L;
    let eight = x.cut(0, 8, stretch);
    let mut pending = Pairwise::new();
    let mut from = 0;
    while from < stretch {
        let mut sums: [T; L] = array::from_fn(|_| T::zero());
        let turn = adjacent(eight.columns_from(from, TURNS * L), room);
        let mut i = 0;
        while i < turn.width() {
            add_columns::<T, 8, L>(&mut sums, turn, 0, i);
            i += L;
        }
        halve(&mut sums, 1);
        pending.push(sums[0].clone());
        from += turn.width();
    }
    pending.total() + block::<T, L>(adjacent(x.cut(8 * stretch, 1, x.width() - 8 * stretch), room))
}

/// The block, copied to `room` if the elements of its rows are not adjacent.
#[inline(always)]
fn adjacent<'a, T: Clone>(x: Block<'a, T>, room: &'a mut [T]) -> Block<'a, T> {
    if x.is_adjacent() {
        return x;
    }
    let len = x.rows() * x.width();
    for row in 0..x.rows() {
        for (column, copy) in room[row * x.width()..][..x.width()].iter_mut().enumerate() {
            *copy = x.get(row, column).clone();
        }
    }
    Block::from(&room[..len]).cut(0, x.rows(), x.width())
}

/// At most [`BLOCK`] adjacent elements, by `L` independent sums.
#[inline(always)]
fn block<T: Clone + Zero, const L: usize>(x: Block<'_, T>) -> T {
    let n = x.width();
    let mut eight: [T; 8] = array::from_fn(|_| T::zero());
    if n >= L {
        let mut sums: [T; L] = array::from_fn(|_| T::zero());
        let chunks = x.cut(0, n / L, L);
        let mut row = 0;
        while chunks.rows() - row >= 4 {
            add_columns::<T, 4, L>(&mut sums, chunks, row, 0);
            row += 4;
        }
        while row < chunks.rows() {
            add_columns::<T, 1, L>(&mut sums, chunks, row, 0);
            row += 1;
        }
        halve(&mut sums, 8);
        eight.clone_from_slice(&sums[..8]);
    }
    let mut i = n / L * L;
    while n - i >= 8 {
        add_columns::<T, 1, 8>(&mut eight, x, 0, i);
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

/// Adds the sums of `R` rows from `row` on, in columns from `column` on.
#[inline(always)]
fn add_columns<T: Clone + Zero, const R: usize, const C: usize>(
    sums: &mut [T; C],
    x: Block<'_, T>,
    row: usize,
    column: usize,
) {
    let rows: [&[T; C]; R] = x.columns(row, column);
    for (j, sum) in sums.iter_mut().enumerate() {
        *sum = sum.clone() + few::<T, R>(array::from_fn(|r| rows[r][j].clone()));
    }
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
    let mut parts = slots.chunks_exact_mut(if C::WIDE && x.is_adjacent() { COLUMNS } else { usize::MAX });
    for part in &mut parts {
        // all sums before any is stored: the compiler need not know that the slots are elsewhere
        let rows: [&[T; COLUMNS]; R] = x.columns(row, i);
        let sums: [T; COLUMNS] = array::from_fn(|j| few::<T, R>(array::from_fn(|r| rows[r][j].clone())));
        part.iter_mut().zip(sums).for_each(|(slot, sum)| sink(slot, sum));
        i += COLUMNS;
    }
    for slot in parts.into_remainder() {
        let rows: [&[T; 1]; R] = x.columns(row, i);
        sink(slot, few::<T, R>(array::from_fn(|r| rows[r][0].clone())));
        i += 1;
    }
}

/// Adds all rows to a tile, eight at a time, and calls `after` each time.
#[inline(always)]
pub(super) fn add_rows<C: Cpu, T: Clone + Zero, L>(
    x: Block<'_, T>,
    levels: &mut L,
    tile: impl Fn(&mut L) -> &mut [T],
    after: impl Fn(&mut L),
) {
    let add = |a: &mut T, s| *a = a.clone() + s;
    let mut row = 0;
    while row < x.rows() {
        let tile = &mut tile(levels)[..x.width()];
        row += match x.rows() - row {
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
        };
        after(levels);
    }
}

#[inline(always)]
pub(super) fn add<T: Clone + Zero>(a: &mut [T], b: &[T]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = a.clone() + b.clone();
    }
}

/// Adds up rows of `width` elements, one after the other, by halves. The sums are in the first row.
#[inline(always)]
pub(super) fn fold<T: Clone + Zero>(rows: &mut [T], width: usize) {
    let mut left = rows.len() / width;
    while left > 1 {
        let half = left / 2;
        let (low, high) = rows[..left * width].split_at_mut((left - half) * width);
        add(&mut low[..half * width], high);
        left -= half;
    }
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
