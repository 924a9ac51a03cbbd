//! What becomes of a finished sum.

use core::mem::{MaybeUninit, needs_drop, replace};
use core::ops::{Add, Mul};
use num_traits::Zero;

/// How a sum enters the output.
pub(crate) trait Store<T> {
    /// An element of the output.
    type Slot;

    fn store(&self, slot: &mut Self::Slot, sum: T);
}

/// Into an array that was never written.
pub(crate) struct Fresh;

impl<T> Store<T> for Fresh {
    type Slot = MaybeUninit<T>;

    #[inline(always)]
    fn store(&self, slot: &mut MaybeUninit<T>, sum: T) {
        slot.write(sum);
    }
}

/// `out = sum`
pub(crate) struct Overwrite;

impl<T> Store<T> for Overwrite {
    type Slot = T;

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

/// The slot's value, by the cheaper way: a big number need not be copied to be added to.
#[inline(always)]
fn take<T: Clone + Zero + Add>(slot: &mut T) -> T {
    if needs_drop::<T>() {
        replace(slot, T::zero())
    } else {
        slot.clone()
    }
}
