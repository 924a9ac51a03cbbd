//! The loops of an [`Operation`].
//!
//! A strategy takes any operation as a `&dyn Combine`. So it is compiled once for an element type, and an operation is
//! compiled into the few loops of [`Combine`].

#![cfg_attr(not(test), forbid(unsafe_code))]

use super::loops::Loop;
use super::memory::WriteOnly;
use super::nest::{Block, UnaryNest};
use super::operation::{ClosureOp, Operation, add};
use super::simd::{self, Cpu, Work};
use super::{ensure, lane};

/// The loops of an operation.
pub(crate) trait Combine<T> {
    fn identity(&self) -> T;

    /// Combines a value into a partial result.
    fn add(&self, into: &mut T, value: T);

    /// Combines each element of `from` into the element of `into` at the same index.
    fn rows(&self, into: &mut [T], from: &[T]);
}

/// The loops of an operation on a buffer of elements. Like [`CombineInPlace`] a trait of its own, so that they are compiled
/// only for operations that need them.
pub(crate) trait CombineInBuffer<T>: Combine<T> {
    /// Combines each `width` adjacent elements. The results are at the front, in order.
    fn lanes(&self, elements: &mut [T], width: usize);
}

/// The loops of an operation on elements that are read where they are.
pub(crate) trait CombineInPlace<T>: Combine<T> {
    /// Stores the combined elements of each lane of a nest in its output: see [`UnaryNest::lanes`].
    fn lanes_of(&self, nest: UnaryNest<'_, T>);

    /// Stores the combined elements of each channel in its output: see [`UnaryNest::channels`].
    fn channels_of(&self, nest: UnaryNest<'_, T>);

    /// Combines the elements of each column of a block into the element of `tile` at the same index, up to `at_once` rows
    /// at a time.
    fn rows_of(&self, tile: &mut [T], rows: &Block<'_, T>, at_once: usize);

    /// Stores the combined elements of each column of a block, one after the other.
    fn columns_of(&self, slots: &mut [WriteOnly<T>], rows: &Block<'_, T>);
}

/// Runs a loop with the operation as a closure. For one that it knows earlier, the compiler orders the accumulators for the
/// additions that follow the loop, at up to 5 times its time.
macro_rules! run {
    ($run:path, $by:expr, $Work:ident { $($field:ident),* }) => {{
        let by = *$by;
        let by = ClosureOp { identity: &Operation::identity(by), op: &|a, b| by.apply(a, b) };
        $run($Work { by, $($field),* });
    }};
}

impl<T: Clone, O: Operation<T>> Combine<T> for O {
    fn identity(&self) -> T {
        Operation::identity(*self)
    }

    fn add(&self, into: &mut T, value: T) {
        add(*self, into, value);
    }

    fn rows(&self, into: &mut [T], from: &[T]) {
        // few: a call for the CPU would take longer
        lane::combine(into, from, *self);
    }
}

impl<T: Clone, O: Operation<T>> CombineInBuffer<T> for O {
    fn lanes(&self, elements: &mut [T], width: usize) {
        run!(simd::dispatch, self, Lanes { elements, width });
    }
}

impl<T: Clone, O: Operation<T>> CombineInPlace<T> for O {
    fn lanes_of(&self, nest: UnaryNest<'_, T>) {
        let is_known =
            |width| lane::are_columns::<T>(width) || lane::are_together::<T>(width) && simd::has_lanes();
        // loops compiled apart: one next to the other would be vectorised less well
        match nest.together(is_known) {
            Err(nest) => run!(simd::dispatch, self, LanesOf { nest }),
            Ok((x, width, slots)) if lane::are_together::<T>(width) => {
                run!(dispatch_lanes, self, Together { x, width, slots });
            }
            Ok((x, width, slots)) => {
                let lanes = Block::from(x).cut(0, slots.len(), width);
                self.columns_of(slots, &Block::from(lanes).transposed());
            }
        }
    }

    fn channels_of(&self, nest: UnaryNest<'_, T>) {
        run!(simd::dispatch, self, ChannelsOf { nest });
    }

    fn rows_of(&self, tile: &mut [T], rows: &Block<'_, T>, at_once: usize) {
        run!(simd::dispatch, self, RowsOf { tile, rows, at_once });
    }

    fn columns_of(&self, slots: &mut [WriteOnly<T>], rows: &Block<'_, T>) {
        run!(simd::dispatch, self, ColumnsOf { slots, rows });
    }
}

/// [`simd::dispatch_lanes`] where the CPU is known to have the loops.
fn dispatch_lanes(work: impl Work<Output = ()>) {
    let is_done = simd::dispatch_lanes(work).is_ok();
    ensure(is_done, "a CPU that has the loops");
}

/// Sets all results to the identity.
// Not inline: its loop is vectorised, and would be so in each strategy.
#[inline(never)]
pub(super) fn reset<T: Clone>(combine: &dyn Combine<T>, results: &mut [T]) {
    results.fill(combine.identity());
}

/// Combines adjacent rows of `width` elements by halves. The result is in the first row.
#[inline(never)]
pub(super) fn fold_rows<T>(combine: &dyn Combine<T>, rows: &mut [T], width: usize) {
    lane::halve_rows(rows, width, |low, high| combine.rows(low, high));
}

struct Lanes<'a, T, O> {
    by: O,
    elements: &'a mut [T],
    width: usize,
}

impl<T: Clone, O: Operation<T>> Work for Lanes<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        lane::in_place(self.elements, self.width, self.by);
    }
}

struct LanesOf<'a, T, O> {
    by: O,
    nest: UnaryNest<'a, T>,
}

impl<T: Clone, O: Operation<T>> Work for LanesOf<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, nest } = self;
        let mut lanes = nest.lanes();
        while let Some((x, slot)) = lanes.next() {
            slot.write(lane::reduce(x, by));
        }
    }
}

struct Together<'a, T, O> {
    by: O,
    x: &'a [T],
    width: usize,
    slots: &'a mut [WriteOnly<T>],
}

impl<T: Clone, O: Operation<T>> Work for Together<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        lane::together::<C, T, O>(self.x, self.width, self.slots, self.by);
    }
}

struct ChannelsOf<'a, T, O> {
    by: O,
    nest: UnaryNest<'a, T>,
}

impl<T: Clone, O: Operation<T>> Work for ChannelsOf<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let [.., rows, row] = self.nest.loops() else { unreachable!("rows of channels") };
        // 24 bytes would not fill a vector
        if const { size_of::<T>() == 1 } && rows.len * row.len >= 144 {
            self.by_periods::<48>();
        } else {
            self.by_periods::<24>();
        }
    }
}

impl<T: Clone, O: Operation<T>> ChannelsOf<'_, T, O> {
    #[inline(always)]
    fn by_periods<const N: usize>(self) {
        let Self { by, nest } = self;
        let mut channels = nest.channels();
        while let Some((x, slots)) = channels.next() {
            let mut results = lane::periodic::<T, O, N>(x, by);
            let halves = |low: &mut [T], high: &[T]| lane::combine(low, high, by);
            // a width that the compiler knows
            match slots.loops() {
                [Loop { len: 2, .. }] => lane::halve_rows(&mut results, 2, halves),
                [Loop { len: 3, .. }] => lane::halve_rows(&mut results, 3, halves),
                [Loop { len: 4, .. }] => lane::halve_rows(&mut results, 4, halves),
                _ => unreachable!("two to four channels"),
            }
            slots.each_strided_slot(&mut results, 1, |slot, result| slot.write(result.clone()));
        }
    }
}

struct RowsOf<'a, T, O> {
    by: O,
    tile: &'a mut [T],
    rows: &'a Block<'a, T>,
    at_once: usize,
}

impl<T: Clone, O: Operation<T>> Work for RowsOf<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, tile, rows, at_once } = self;
        lane::combine_rows::<C, T, O>(*rows, at_once, &mut tile[..rows.width()], by);
    }
}

struct ColumnsOf<'a, T, O> {
    by: O,
    slots: &'a mut [WriteOnly<T>],
    rows: &'a Block<'a, T>,
}

impl<T: Clone, O: Operation<T>> Work for ColumnsOf<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        lane::columns(*self.rows, self.slots, self.by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lane::{are_columns, are_together};
    use crate::kernel::nest::{Input, Nest, Output};
    use crate::kernel::operation::Plus;
    use crate::kernel::strided::{Only, UNPLANNED};
    use alloc::{vec, vec::Vec};
    use core::fmt::Debug;
    use core::ops::{Add, Div};
    use ndarray::{Array1, Array2, ArrayRef2, Axis, s};
    use num_traits::Zero;

    /// Combines the lane, as the second of three.
    fn total(by: &dyn CombineInBuffer<usize>, lane: &[usize]) -> usize {
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
            assert_eq!(total(&Plus, &lane), lane.iter().sum());
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
                let (mut room, mut output) = ([Loop::ONE; 2], Output::of(&mut out).overwriting());
                let nest = Nest::small_sum(&mut room, &Input::of(&lanes), &mut output, Some(&Only(1)));
                Plus.lanes_of(nest.expect("few elements"));
                assert_eq!(out, lanes.sum_axis(Axis(1)), "{count} lanes of {width}, gap {gap}");
            }
        }
    }

    #[test]
    fn rows_of_blocks() {
        let x: Vec<_> = (0..60_u64).map(|i| i * i % 41).collect();
        for width in 1..20 {
            let rows = Block::from(&x[..]).cut(0, 60 / width, width).into();
            let sums: Vec<u64> =
                (0..width).map(|j| x[..60 / width * width].iter().skip(j).step_by(width).sum()).collect();
            for at_once in [1, 4, 8] {
                let mut tile = vec![5; width];
                Plus.rows_of(&mut tile, &rows, at_once);
                assert!(tile.iter().zip(&sums).all(|(found, sum)| *found == 5 + sum), "{width}, {at_once}");
            }
            let mut out = Array1::from_elem(width, 9);
            let mut room = [Loop::ONE; 2];
            let x =
                Array2::from_shape_vec((60 / width, width), x[..60 / width * width].to_vec()).expect("rows");
            let mut output = Output::of(&mut out).overwriting();
            let nest = Nest::small_sum(&mut room, &Input::of(&x), &mut output, Some(&Only(0)));
            let nest = nest.expect("few elements");
            if width > 1 && width < 60 / width * width {
                Plus.columns_of(nest.slots().ok().expect("adjacent sums"), &rows);
                assert_eq!(out.to_vec(), sums);
            }
        }
    }

    #[test]
    fn widths_of_lanes_that_are_reduced_together() {
        let widths =
            |are_together: fn(usize) -> bool| (0..200).filter(|&n| are_together(n)).collect::<Vec<_>>();
        for several in [are_together::<u64>, are_together::<f32>] {
            assert_eq!(widths(several), [2, 3, 4, 8, 16, 24]);
        }
        for few in [are_together::<Vec<u8>>, are_together::<u16>, are_together::<u8>] {
            assert_eq!(widths(few), [2, 3, 4, 8]);
        }
        for all in [are_columns::<u64>, are_columns::<f32>] {
            assert!(widths(all).into_iter().eq((5..8).chain(9..16).chain(17..24).chain(25..32)));
        }
        for none in [are_columns::<Vec<u8>>, are_columns::<u16>, are_columns::<u8>] {
            assert!(widths(none).is_empty());
        }
    }

    #[test]
    fn lanes_have_one_order_with_and_without_gaps() {
        // without gaps, lanes are combined together: where the CPU has no loops for this, in the order of lanes with gaps
        fn have_one_order<T: Clone + Debug + Div<Output = T> + From<u8> + PartialEq + Zero>() {
            for width in (1..32).filter(|&width| are_together::<T>(width)) {
                let number = |(i, j)| T::from(1) / T::from(u8::try_from(3 * i + 5 * j + 1).expect("small"));
                let x = Array2::from_shape_fn((19, width + 1), number);
                let sums = |lanes: &ArrayRef2<T>| {
                    let mut out = Array1::from_elem(19, T::zero());
                    let (mut room, mut output) = ([Loop::ONE; 2], Output::of(&mut out).overwriting());
                    let nest = Nest::small_sum(&mut room, &Input::of(lanes), &mut output, Some(&Only(1)));
                    Plus.lanes_of(nest.expect("few elements"));
                    out
                };
                let lanes = x.slice(s![.., ..width]);
                assert_eq!(sums(&lanes), sums(&lanes.to_owned()), "lanes of {width}");
            }
        }
        have_one_order::<f32>();
        have_one_order::<f64>();
    }

    #[test]
    fn a_sum_that_owns_memory_is_not_copied() {
        #[derive(Clone, Debug, PartialEq)]
        struct Big(Vec<i32>);
        impl Add for Big {
            type Output = Self;
            fn add(mut self, other: Self) -> Self {
                self.0.extend(other.0);
                self
            }
        }
        impl Zero for Big {
            fn zero() -> Self {
                Self(Vec::new())
            }
            fn is_zero(&self) -> bool {
                self.0.is_empty()
            }
        }
        let mut big = Big(Vec::with_capacity(9));
        let place = big.0.as_ptr();
        Combine::add(&Plus, &mut big, Big(vec![1]));
        Combine::add(&Plus, &mut big, Big(vec![2]));
        assert!(core::ptr::eq(big.0.as_ptr(), place) && big.0 == [1, 2]);
    }
}
