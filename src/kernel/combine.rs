//! How partial results are combined: by addition, or by an operation that the caller gives.
//!
//! All strategies of [`fused`](super::fused) sums take either. An operation is passed as a trait object, so that a closure
//! is compiled into two short loops and not into every strategy.

#![forbid(unsafe_code)]

use super::lane;
use super::levels::take_or;
use super::simd::{self, Cpu, Work};
use core::array;
use core::hint::black_box;
use num_traits::Zero;

/// An associative and commutative operation with its identity.
///
/// Sums know theirs statically. Others are passed as `&dyn Combine`, so that the loops around them are compiled once for
/// an element type and not once for each closure.
pub(crate) trait Combine<T> {
    fn identity(&self) -> T;

    /// Combines each element of `from` into that of `into`.
    fn rows(&self, into: &mut [T], from: &[T]);

    /// All elements of a lane, combined.
    fn total(&self, lane: &[T]) -> T;
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
    fn total(&self, lane: &[T]) -> T {
        lane::total(lane)
    }
}

/// The operation of a closure.
pub(crate) struct By<'f, T, F> {
    pub(crate) identity: &'f T,
    pub(crate) op: &'f F,
}

impl<T, F> Clone for By<'_, T, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F> Copy for By<'_, T, F> {}

impl<T: Clone, F: Fn(T, T) -> T> By<'_, T, F> {
    /// Combines a value into a partial result.
    #[inline(always)]
    pub(super) fn add(self, into: &mut T, value: T) {
        let before = take_or(into, || self.identity.clone());
        *into = (self.op)(before, value);
    }

    /// Combines the values into as many partial results.
    #[inline(always)]
    fn add_all(self, into: &mut [T], values: &[T]) {
        into.iter_mut().zip(values).for_each(|(into, value)| self.add(into, value.clone()));
    }

    /// Combines partial results by halves until `left` remain, at the front; powers of two.
    #[inline(always)]
    fn halve(self, sums: &mut [T], left: usize) {
        let mut width = sums.len();
        while width > left {
            width /= 2;
            let (low, high) = sums.split_at_mut(width);
            self.add_all(low, &high[..width]);
        }
    }
}

impl<T: Clone, F: Fn(T, T) -> T> Combine<T> for By<'_, T, F> {
    fn identity(&self) -> T {
        self.identity.clone()
    }

    fn rows(&self, into: &mut [T], from: &[T]) {
        simd::dispatch(Rows { by: *self, into, from });
    }

    fn total(&self, lane: &[T]) -> T {
        simd::dispatch(Total { by: *self, lane })
    }
}

struct Rows<'a, 'f, T, F> {
    by: By<'f, T, F>,
    into: &'a mut [T],
    from: &'a [T],
}

impl<T: Clone, F: Fn(T, T) -> T> Work for Rows<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, into, from } = self;
        by.add_all(into, from);
    }
}

struct Total<'a, 'f, T, F> {
    by: By<'f, T, F>,
    lane: &'a [T],
}

/// How many elements of a lane are combined side by side, of a long one and of a short one.
const LONG: usize = 64;
const SHORT: usize = 8;

impl<T: Clone, F: Fn(T, T) -> T> Work for Total<'_, '_, T, F> {
    type Output = T;

    #[inline(always)]
    fn run<C: Cpu>(self) -> T {
        let Self { by, lane } = self;
        let mut eight: [T; SHORT] = array::from_fn(|_| by.identity.clone());
        let rows = lane.chunks_exact(LONG);
        let rest = rows.remainder();
        if lane.len() >= LONG {
            let mut sums: [T; LONG] = array::from_fn(|_| by.identity.clone());
            // Opaque: the compiler vectorises a loop for more operations than it does statements without one.
            let sums = &mut sums[..black_box(LONG)];
            for row in rows {
                by.add_all(sums, row);
            }
            by.halve(sums, SHORT);
            eight.clone_from_slice(&sums[..SHORT]);
        }
        let rows = rest.chunks_exact(SHORT);
        let rest = rows.remainder();
        for row in rows {
            by.add_all(&mut eight, row);
        }
        by.add_all(&mut eight, rest);
        by.halve(&mut eight, 1);
        take_or(&mut eight[0], || by.identity.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn lanes_of_all_lengths() {
        let by = By { identity: &usize::MIN, op: &usize::max };
        for len in (1..80_usize).chain([1000, 2048]) {
            for at in [0, len / 2, len - 1] {
                let lane: Vec<_> = (0..len).map(|i| if i == at { 5000 } else { i % 7 }).collect();
                assert_eq!(by.total(&lane), 5000, "{len} elements, {at}");
            }
            let lane: Vec<_> = (0..len).collect();
            assert_eq!(By { identity: &0, op: &|a, b| a + b }.total(&lane), lane.iter().sum());
        }
        assert_eq!(by.total(&[]), 0);
    }
}
