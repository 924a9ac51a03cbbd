//! Operations that combine partial results: addition, or a closure of the caller.
//!
//! All strategies of [`fused`](super::fused) sums take either. A closure is passed as a trait object, so that it is
//! compiled into four short loops and not into every strategy.

#![forbid(unsafe_code)]

use super::lane;
use super::nest::{Block, Run};
use super::simd::{self, Cpu, Work};
use super::store::{Overwrite, take_or};
use num_traits::Zero;

/// An associative and commutative operation with its identity.
///
/// Sums use [`Plus`] statically. Other operations are passed as `&dyn Combine`, so that the loops around them are
/// compiled once for an element type and not once for each closure.
pub(crate) trait Combine<T> {
    fn identity(&self) -> T;

    /// Combines each element of `from` into the element of `into` at the same index.
    fn rows(&self, into: &mut [T], from: &[T]);

    /// Combines each `width` adjacent elements. The results are at the front, in order.
    fn lanes(&self, elements: &mut [T], width: usize);
}

/// A [`Combine`] for elements that are read where they are.
pub(crate) trait CombineInPlace<T>: Combine<T> {
    /// Combines the elements of each block of the run into its slot.
    fn lanes_to(&self, run: Run<'_, T, T>);

    /// Combines each column of the block into the element of `into` at the same index, from row `from` on and before row
    /// `end`.
    fn rows_to(&self, into: &mut [T], block: &Block<'_, T>, from: usize, end: usize);
}

/// Combines adjacent rows of `width` elements by halves. The result is in the first row.
#[inline(always)]
pub(super) fn fold_rows<T, C: Combine<T> + ?Sized>(combine: &C, rows: &mut [T], width: usize) {
    let mut remaining = rows.len() / width;
    while remaining > 1 {
        let half = remaining / 2;
        let (low, high) = rows[..remaining * width].split_at_mut((remaining - half) * width);
        combine.rows(&mut low[..half * width], high);
        remaining -= half;
    }
}

/// Addition.
pub(crate) struct Plus;

impl<T: Clone + Zero> Combine<T> for Plus {
    #[inline(always)]
    fn identity(&self) -> T {
        T::zero()
    }

    #[inline(always)]
    fn rows(&self, into: &mut [T], from: &[T]) {
        lane::add(into, from);
    }

    #[inline(always)]
    fn lanes(&self, elements: &mut [T], width: usize) {
        for lane in 0..elements.len() / width {
            elements[lane] = lane::total(&elements[lane * width..][..width]);
        }
    }
}

/// The operation of a closure, with its identity.
pub(crate) struct ClosureOp<'f, T, F> {
    pub(crate) identity: &'f T,
    pub(crate) op: &'f F,
}

impl<T, F> Clone for ClosureOp<'_, T, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F> Copy for ClosureOp<'_, T, F> {}

impl<T: Clone, F: Fn(T, T) -> T> ClosureOp<'_, T, F> {
    /// Combines a value into a partial result.
    #[inline(always)]
    pub(super) fn add(self, into: &mut T, value: T) {
        let before = take_or(into, || self.identity.clone());
        *into = (self.op)(before, value);
    }
}

impl<T: Clone, F: Fn(T, T) -> T> Combine<T> for ClosureOp<'_, T, F> {
    fn identity(&self) -> T {
        self.identity.clone()
    }

    fn rows(&self, into: &mut [T], from: &[T]) {
        simd::dispatch(CombineRows { by: *self, into, from });
    }

    fn lanes(&self, elements: &mut [T], width: usize) {
        simd::dispatch(CombineLanes { by: *self, elements, width });
    }
}

impl<T: Clone, F: Fn(T, T) -> T> CombineInPlace<T> for ClosureOp<'_, T, F> {
    fn lanes_to(&self, run: Run<'_, T, T>) {
        simd::dispatch(CombineLanesTo { by: *self, run });
    }

    fn rows_to(&self, into: &mut [T], block: &Block<'_, T>, from: usize, end: usize) {
        simd::dispatch(CombineRowsTo { by: *self, into, block, from, end });
    }
}

struct CombineRows<'a, 'f, T, F> {
    by: ClosureOp<'f, T, F>,
    into: &'a mut [T],
    from: &'a [T],
}

impl<T: Clone, F: Fn(T, T) -> T> Work for CombineRows<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, into, from } = self;
        lane::combine(into, from, by.op);
    }
}

struct CombineLanes<'a, 'f, T, F> {
    by: ClosureOp<'f, T, F>,
    elements: &'a mut [T],
    width: usize,
}

impl<T: Clone, F: Fn(T, T) -> T> Work for CombineLanes<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, elements, width } = self;
        for lane in 0..elements.len() / width {
            elements[lane] = lane::reduce(&elements[lane * width..][..width], by.identity, by.op);
        }
    }
}

struct CombineLanesTo<'a, 'f, T, F> {
    by: ClosureOp<'f, T, F>,
    run: Run<'a, T, T>,
}

impl<T: Clone, F: Fn(T, T) -> T> Work for CombineLanesTo<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, mut run } = self;
        while let Some((x, slots)) = run.next() {
            let width = x.width() / slots.len();
            let (x, slots) = (x.slice(), slots.slice());
            match width {
                2 => lane::short::<T, _, 2>(x, slots, by.op, &Overwrite),
                3 => lane::short::<T, _, 3>(x, slots, by.op, &Overwrite),
                4 => lane::short::<T, _, 4>(x, slots, by.op, &Overwrite),
                8 => lane::short::<T, _, 8>(x, slots, by.op, &Overwrite),
                _ => {
                    for (slot, lane) in slots.iter_mut().zip(x.chunks_exact(width)) {
                        *slot = lane::reduce(lane, by.identity, by.op);
                    }
                }
            }
        }
    }
}

struct CombineRowsTo<'a, 'f, T, F> {
    by: ClosureOp<'f, T, F>,
    into: &'a mut [T],
    block: &'a Block<'a, T>,
    from: usize,
    end: usize,
}

impl<T: Clone, F: Fn(T, T) -> T> Work for CombineRowsTo<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, into, block, from: mut row, end } = self;
        let tile = &mut into[..block.width()];
        while row < end {
            row += lane::combine_rows::<C, T>(*block, [row, end], tile, by.op);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Combines the lane, as the second of three.
    fn total(by: &dyn Combine<usize>, lane: &[usize]) -> usize {
        let mut three = lane.repeat(3);
        by.lanes(&mut three, lane.len());
        assert_eq!(three[0], three[2]);
        three[1]
    }

    #[test]
    fn lanes_of_all_lengths() {
        let by = ClosureOp { identity: &usize::MIN, op: &usize::max };
        for len in (1..80_usize).chain([1000, 2048]) {
            for at in [0, len / 2, len - 1] {
                let lane: Vec<_> = (0..len).map(|i| if i == at { 5000 } else { i % 7 }).collect();
                assert_eq!(total(&by, &lane), 5000, "{len} elements, {at}");
            }
            let lane: Vec<_> = (0..len).collect();
            let sum = total(&ClosureOp { identity: &0, op: &|a, b| a + b }, &lane);
            assert_eq!(sum, lane.iter().sum());
            assert_eq!(sum, total(&Plus, &lane));
        }
    }
}
