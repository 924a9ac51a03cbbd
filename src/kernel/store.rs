//! How a finished sum enters the output.

#![forbid(unsafe_code)]

use super::memory::{WriteOnly, array};
use super::simd::end_of_reads;
use core::mem::{needs_drop, replace};
use core::ops::Mul;
use num_traits::Zero;

/// Stores a sum in its slot of the output.
pub(crate) trait Store<T> {
    /// An element of the output.
    type Slot;

    /// Whether the slot's former value does not matter.
    const OVERWRITES: bool = false;

    fn store(&self, slot: &mut Self::Slot, sum: T);

    /// Stores several sums side by side.
    #[inline(always)]
    fn store_all<const K: usize>(&self, slots: &mut [Self::Slot; K], sums: [T; K]) {
        for (slot, sum) in slots.iter_mut().zip(sums) {
            self.store(slot, sum);
        }
    }
}

/// `out = sum` for an `out` that is not dropped
pub(crate) struct Fresh;

impl<T> Store<T> for Fresh {
    type Slot = WriteOnly<T>;

    #[inline(always)]
    fn store(&self, slot: &mut WriteOnly<T>, sum: T) {
        slot.write(sum);
    }
}

/// `out = sum`
pub(crate) struct Overwrite;

impl<T> Store<T> for Overwrite {
    type Slot = T;
    const OVERWRITES: bool = true;

    #[inline(always)]
    fn store(&self, slot: &mut T, sum: T) {
        *slot = sum;
    }
}

/// `out = out + sum`
pub(crate) struct Accumulate;

impl<T: Clone + Zero> Store<T> for Accumulate {
    type Slot = T;

    #[inline(always)]
    fn store(&self, slot: &mut T, sum: T) {
        *slot = take(slot) + sum;
    }
}

/// `out = out + factor * sum`
pub(crate) struct Scaled<T>(pub(crate) T);

impl<T: Clone + Zero + Mul<Output = T>> Store<T> for Scaled<T> {
    type Slot = T;

    #[inline(always)]
    fn store(&self, slot: &mut T, sum: T) {
        *slot = take(slot) + self.0.clone() * sum;
    }
}

/// `out = op(out, sum)`, where `op` is given a copy of `out`
pub(crate) struct Onto<'f, F>(pub(crate) &'f F);

impl<T: Clone, F: Fn(T, T) -> T> Store<T> for Onto<'_, F> {
    type Slot = T;

    #[inline(always)]
    fn store(&self, slot: &mut T, sum: T) {
        *slot = (self.0)(slot.clone(), sum);
    }

    #[inline(always)]
    fn store_all<const K: usize>(&self, slots: &mut [T; K], sums: [T; K]) {
        let combined = array(|k| (self.0)(slots[k].clone(), sums[k].clone()));
        end_of_reads();
        *slots = combined;
    }
}

/// Takes the value out of a sum, so that a big number is added to without a copy. Leaves zero if the type needs a drop.
#[inline(always)]
pub(super) fn take<T: Clone + Zero>(sum: &mut T) -> T {
    take_or(sum, T::zero)
}

/// [`take`] with another value than zero to leave.
#[inline(always)]
pub(super) fn take_or<T: Clone>(sum: &mut T, identity: impl FnOnce() -> T) -> T {
    if const { needs_drop::<T>() } { replace(sum, identity()) } else { sum.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn taking_leaves_nothing_to_copy() {
        #[derive(Clone, Debug, PartialEq)]
        struct Big(Vec<i32>);
        impl core::ops::Add for Big {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.into_iter().chain(other.0).collect())
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
        let mut big = Big(vec![1, 2]);
        let place = big.0.as_ptr();
        let taken = take(&mut big);
        assert!(core::ptr::eq(taken.0.as_ptr(), place) && big.is_zero());
        assert_eq!(take(&mut 5), 5);
    }
}
