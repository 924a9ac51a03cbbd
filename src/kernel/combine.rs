//! What partial results are combined by: addition, or an operation that a caller gives.

#![forbid(unsafe_code)]

use super::lane;
use super::levels::take_or;
use super::simd::{self, Cpu, Work};
use num_traits::Zero;

/// An associative and commutative operation with its identity.
///
/// Sums know theirs statically. Others are passed as `&dyn Combine`, so that the loops around them are compiled once for
/// an element type and not once for each closure.
pub(crate) trait Combine<T> {
    fn identity(&self) -> T;

    /// Combines each element of `from` into that of `into`.
    fn rows(&self, into: &mut [T], from: &[T]);

    /// What a few thousand adjacent elements come to. They are overwritten.
    fn total(&self, x: &mut [T]) -> T;
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
    fn total(&self, x: &mut [T]) -> T {
        lane::total(x)
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

/// So few elements are combined one after the other.
const FEW: usize = 8;

impl<T: Clone, F: Fn(T, T) -> T> Combine<T> for By<'_, T, F> {
    fn identity(&self) -> T {
        self.identity.clone()
    }

    fn rows(&self, into: &mut [T], from: &[T]) {
        simd::dispatch(Rows { by: *self, into, from });
    }

    /// By halves, which are rows.
    fn total(&self, x: &mut [T]) -> T {
        let mut left = x.len();
        while left > FEW {
            let half = left / 2;
            let (low, high) = x[..left].split_at_mut(left - half);
            self.rows(&mut low[..half], high);
            left -= half;
        }
        let mut total = self.identity.clone();
        x[..left].iter().for_each(|x| self.add(&mut total, x.clone()));
        total
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn totals_of_all_lengths() {
        let by = By { identity: &usize::MIN, op: &usize::max };
        for len in (0..40_usize).chain([1000, 2048]) {
            for at in [0, len / 2, len.saturating_sub(1)] {
                let mut x: Vec<_> = (0..len).map(|i| if i == at { 5000 } else { i % 7 }).collect();
                assert_eq!(by.total(&mut x), if len == 0 { 0 } else { 5000 }, "{len} elements, {at}");
            }
            let mut x: Vec<_> = (0..len).collect();
            assert_eq!(By { identity: &0, op: &|a, b| a + b }.total(&mut x), (0..len).sum());
        }
    }
}
