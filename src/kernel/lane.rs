//! Sums along a row, and across rows.

use super::nest::{Block, Step};
use core::array;
use num_traits::Zero;

/// The longest run that is added up by one set of sums.
const BLOCK: usize = 1024;
/// How many times eight chunks are added to one set of sums.
const TURNS: usize = 16;

/// The sum of a single row, its error bounded as by pairwise summation.
#[inline(always)]
pub(super) fn sum<T: Clone + Zero, S: Step>(x: Block<'_, T, S>) -> T {
    match size_of::<T>() {
        0..=4 => sum_by::<T, S, 32>(x),
        5..=8 => sum_by::<T, S, 16>(x),
        _ => sum_by::<T, S, 8>(x),
    }
}

#[inline(always)]
fn sum_by<T: Clone + Zero, S: Step, const L: usize>(x: Block<'_, T, S>) -> T {
    if x.width() <= BLOCK {
        return block::<T, S, L>(x);
    }
    // eight stretches side by side, which memory serves faster than one
    let stretch = x.width() / (8 * L) * L;
    let eight = x.cut(0, 8, stretch);
    let mut pending = Pairwise::new();
    let mut from = 0;
    while from < stretch {
        let mut lanes: [T; L] = array::from_fn(|_| T::zero());
        let to = stretch.min(from + TURNS * L);
        while from < to {
            add(&mut lanes, &eight.columns::<8, L>(0, from, &T::zero(), few));
            from += L;
        }
        halve(&mut lanes, 1);
        pending.push(lanes[0].clone());
    }
    pending.total() + block::<T, S, L>(x.cut(8 * stretch, 1, x.width() - 8 * stretch))
}

/// At most [`BLOCK`] elements, by `L` independent sums.
#[inline(always)]
fn block<T: Clone + Zero, S: Step, const L: usize>(x: Block<'_, T, S>) -> T {
    let n = x.width();
    let mut eight: [T; 8] = array::from_fn(|_| T::zero());
    if n >= L {
        let mut lanes: [T; L] = array::from_fn(|_| T::zero());
        let chunks = x.cut(0, n / L, L);
        let mut row = 0;
        while chunks.rows() - row >= 4 {
            add(&mut lanes, &chunks.columns::<4, L>(row, 0, &T::zero(), few));
            row += 4;
        }
        while row < chunks.rows() {
            add(&mut lanes, &chunks.columns::<1, L>(row, 0, &T::zero(), few));
            row += 1;
        }
        halve(&mut lanes, 8);
        eight.clone_from_slice(&lanes[..8]);
    }
    let mut i = n / L * L;
    while n - i >= 8 {
        add(&mut eight, &x.columns::<1, 8>(0, i, &T::zero(), few));
        i += 8;
    }
    halve(&mut eight, 1);
    let mut rest = T::zero();
    while i < n {
        let [x] = x.columns::<1, 1>(0, i, &T::zero(), few);
        rest = rest + x;
        i += 1;
    }
    eight[0].clone() + rest
}

/// Gives the sums of `R` rows from `row` on, column by column, to `sink`, each with its slot.
#[inline(always)]
pub(super) fn across<T: Clone + Zero, S: Step, U, const R: usize>(
    x: Block<'_, T, S>,
    row: usize,
    slots: &mut [U],
    mut sink: impl FnMut(&mut U, T),
) {
    let mut i = 0;
    let mut wide = slots.chunks_exact_mut(16);
    for part in &mut wide {
        let sums: [T; 16] = x.columns::<R, 16>(row, i, &T::zero(), few);
        part.iter_mut().zip(sums).for_each(|(slot, sum)| sink(slot, sum));
        i += 16;
    }
    let mut narrow = wide.into_remainder().chunks_exact_mut(8);
    for part in &mut narrow {
        let sums: [T; 8] = x.columns::<R, 8>(row, i, &T::zero(), few);
        part.iter_mut().zip(sums).for_each(|(slot, sum)| sink(slot, sum));
        i += 8;
    }
    for slot in narrow.into_remainder() {
        let [sum] = x.columns::<R, 1>(row, i, &T::zero(), few);
        sink(slot, sum);
        i += 1;
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
fn halve<T: Clone + Zero>(lanes: &mut [T], left: usize) {
    let mut width = lanes.len();
    while width > left {
        width /= 2;
        for j in 0..width {
            lanes[j] = lanes[j].clone() + lanes[j + width].clone();
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
