//! How a finished sum enters the output.

#![forbid(unsafe_code)]

use super::levels::take;
use super::memory::WriteOnly;
use core::ops::Mul;
use num_traits::Zero;

/// Stores a sum in its slot of the output.
pub(crate) trait Store<T> {
    /// An element of the output.
    type Slot;

    /// Whether the slot's former value does not matter.
    const OVERWRITES: bool = false;

    fn store(&self, slot: &mut Self::Slot, sum: T);
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
