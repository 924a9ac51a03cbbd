//! What partial results are combined by: addition, or an operation that a caller gives.

#![forbid(unsafe_code)]

use super::lane;
use super::levels::take_or;
use super::simd::{self, Cpu, Work};
use core::array;
use num_traits::Zero;

/// An associative and commutative operation with its identity.
///
/// Sums know theirs statically. Others are passed as `&dyn Combine`, so that the loops around them are compiled once for
/// an element type and not once for each closure.
pub(crate) trait Combine<T> {
    fn identity(&self) -> T;

    /// Combines each element of `from` into that of `into`.
    fn rows(&self, into: &mut [T], from: &[T]);

    /// Replaces the first elements by what lanes of `len` elements come to, which are all of `x`.
    fn totals(&self, x: &mut [T], len: usize);
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
    fn totals(&self, x: &mut [T], len: usize) {
        for lane in 0..x.len() / len {
            x[lane] = lane::total(&x[lane * len..][..len]);
        }
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
}

impl<T: Clone, F: Fn(T, T) -> T> Combine<T> for By<'_, T, F> {
    fn identity(&self) -> T {
        self.identity.clone()
    }

    fn rows(&self, into: &mut [T], from: &[T]) {
        simd::dispatch(Rows { by: *self, into, from });
    }

    fn totals(&self, x: &mut [T], len: usize) {
        simd::dispatch(Totals { by: *self, x, len });
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
        into.iter_mut().zip(from).for_each(|(into, from)| by.add(into, from.clone()));
    }
}

struct Totals<'a, 'f, T, F> {
    by: By<'f, T, F>,
    x: &'a mut [T],
    len: usize,
}

/// How many elements of a lane are combined side by side.
const WIDTH: usize = 16;

impl<T: Clone, F: Fn(T, T) -> T> Work for Totals<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { by, x, len } = self;
        for lane in 0..x.len() / len {
            let mut sums: [T; WIDTH] = array::from_fn(|_| by.identity.clone());
            let chunks = x[lane * len..][..len].chunks_exact(WIDTH);
            let rest = chunks.remainder();
            for chunk in chunks {
                sums.iter_mut().zip(chunk).for_each(|(sum, x)| by.add(sum, x.clone()));
            }
            sums.iter_mut().zip(rest).for_each(|(sum, x)| by.add(sum, x.clone()));
            let mut left = WIDTH;
            while left > 1 {
                left /= 2;
                let (low, high) = sums.split_at_mut(left);
                low.iter_mut().zip(high).for_each(|(low, high)| by.add(low, high.clone()));
            }
            x[lane] = sums[0].clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn totals_of_all_lengths() {
        let by = By { identity: &usize::MIN, op: &usize::max };
        for len in (1..40_usize).chain([1000, 2048]) {
            for at in [0, len / 2, len - 1] {
                let lane = |lane: usize| (0..len).map(move |i| if i == at { 5000 + lane } else { i % 7 });
                let mut x: Vec<_> = (0..3).flat_map(lane).collect();
                by.totals(&mut x, len);
                assert_eq!(x[..3], [5000, 5001, 5002], "{len} elements, {at}");
            }
            let mut x: Vec<_> = (0..len).collect();
            By { identity: &0, op: &|a, b| a + b }.totals(&mut x, len);
            assert_eq!(x[0], (0..len).sum());
        }
        let mut none = vec![0_usize; 0];
        by.totals(&mut none, 5);
    }
}
