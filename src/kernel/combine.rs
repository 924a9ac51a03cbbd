//! Operations that combine partial results: addition, or a closure of the caller.
//!
//! All strategies of [`fused`](super::fused) sums take either. A closure is passed as a trait object, so that it is
//! compiled into four short loops and not into every strategy.

#![cfg_attr(not(test), forbid(unsafe_code))]

use super::lane;
use super::nest::{Block, Run};
use super::simd::{self, Cpu, Work};
use super::store::{Overwrite, Store, take_or};
use core::ops::Range;
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
    fn lanes_to(&self, run: &mut Run<'_, T, T>);

    /// Combines each column of the block into the element of `into` at the same index, for these rows, up to `at_once` at a
    /// time.
    fn rows_to(&self, into: &mut [T], block: &Block<'_, T>, rows: &Range<usize>, at_once: usize);
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

    // Not inline: it would be compiled several times for tiles.
    #[inline(never)]
    fn rows(&self, into: &mut [T], from: &[T]) {
        lane::add(into, from);
    }

    #[inline(always)]
    fn lanes(&self, elements: &mut [T], width: usize) {
        for lane in lane::in_eights(elements, width, &T::zero(), &lane::plus)..elements.len() / width {
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
    fn lanes_to(&self, run: &mut Run<'_, T, T>) {
        if run.rows() > 1 {
            simd::dispatch(CombineTogether { by: *self, run });
        } else {
            simd::dispatch(CombineLanesTo { by: *self, run, store: &Overwrite });
        }
    }

    fn rows_to(&self, into: &mut [T], block: &Block<'_, T>, rows: &Range<usize>, at_once: usize) {
        simd::dispatch(CombineRowsTo { by: *self, into, block, rows, at_once });
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
        for lane in lane::in_eights(elements, width, by.identity, by.op)..elements.len() / width {
            elements[lane] = lane::reduce(&elements[lane * width..][..width], by.identity, by.op);
        }
    }
}

/// Stores the combined elements of each block of the run in its slot.
pub(super) struct CombineLanesTo<'r, 'a, 'f, T, F, S: Store<T>> {
    pub(super) by: ClosureOp<'f, T, F>,
    pub(super) run: &'r mut Run<'a, S::Slot, T>,
    pub(super) store: &'r S,
}

impl<T: Clone, F: Fn(T, T) -> T, S: Store<T>> Work for CombineLanesTo<'_, '_, '_, T, F, S> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by: ClosureOp { identity, op }, run, store } = self;
        // a local run, whose parts stay in registers
        let mut run = run.reborrow();
        while let Some((x, slots)) = run.next() {
            store.store(slots.only(), lane::reduce(x.slice(), identity, op));
        }
    }
}

/// Stores the combined elements of each row of the run's blocks in its slot: of lanes that are reduced together.
struct CombineTogether<'r, 'a, 'f, T, F> {
    by: ClosureOp<'f, T, F>,
    run: &'r mut Run<'a, T, T>,
}

impl<T: Clone, F: Fn(T, T) -> T> Work for CombineTogether<'_, '_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        lane::together(self.run.reborrow(), self.by.identity, self.by.op, &Overwrite);
    }
}

struct CombineRowsTo<'a, 'f, T, F> {
    by: ClosureOp<'f, T, F>,
    into: &'a mut [T],
    block: &'a Block<'a, T>,
    rows: &'a Range<usize>,
    at_once: usize,
}

impl<T: Clone, F: Fn(T, T) -> T> Work for CombineRowsTo<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, into, block, rows, at_once } = self;
        let mut row = rows.start;
        let tile = &mut into[..block.width()];
        while row < rows.end {
            row += lane::combine_rows::<C, T>(*block, [row, rows.end.min(row + at_once)], tile, by.op);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lane::are_together;
    use crate::kernel::loops::Loop;
    use crate::kernel::nest::{Input, Nest, Output};
    use crate::kernel::strided::UNPLANNED;
    use alloc::vec::Vec;
    use ndarray::{Array1, Array2, Axis, s};

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

    #[test]
    fn lanes_that_follow_each_other_or_not() {
        let shapes = (1..=20).flat_map(|count| (2..=40).map(move |width| [count, width]));
        for [count, width] in shapes.filter(|[count, width]| count * width <= UNPLANNED) {
            for gap in [0, 1] {
                let number = |(i, j)| u32::try_from((7 * i + 5 * j) % 23).expect("small");
                let x = Array2::from_shape_fn((count, width + gap), number);
                let lanes = x.slice(s![.., ..width]);
                let mut out = Array1::from_elem(count, 0);
                let (mut room, mut output) = ([Loop::ONE; 2], Output::of(&mut out));
                let nest = Nest::small_sum(&mut room, &Input::of(&lanes), &mut output, &|axis| axis == 1);
                let Ok(mut run) = nest.expect("few elements").lanes(are_together::<u32>) else {
                    panic!("lanes of adjacent elements")
                };
                ClosureOp { identity: &0, op: &|a, b| a + b }.lanes_to(&mut run);
                assert_eq!(out, lanes.sum_axis(Axis(1)), "{count} lanes of {width}, gap {gap}");
            }
        }
    }

    #[test]
    fn widths_of_lanes_that_are_reduced_together() {
        let widths =
            |are_together: fn(usize) -> bool| (0..200).filter(|&n| are_together(n)).collect::<Vec<_>>();
        assert!(widths(are_together::<u64>).into_iter().eq((2..16).chain(17..24).chain(25..32)));
        assert!(widths(are_together::<f32>).into_iter().eq(2..32));
        for few in [are_together::<Vec<u8>>, are_together::<u16>, are_together::<u8>] {
            assert!(widths(few).into_iter().eq([2, 3, 4, 8]));
        }
    }
}
