//! Associative operations: addition, or a closure of the caller.

#![forbid(unsafe_code)]

use super::memory::array;
use core::mem::{needs_drop, replace};
use num_traits::Zero;

/// An associative and commutative operation.
///
/// Not exported; public because hidden parts of public traits name it.
pub trait Operation<T>: Copy {
    /// Whether the operation selects one of its operands, as a maximum may do. LLVM then stores a result through a mask,
    /// unless all operands are read before.
    #[doc(hidden)]
    const MAY_SELECT: bool;

    #[doc(hidden)]
    fn identity(self) -> T;

    #[doc(hidden)]
    fn apply(self, a: T, b: T) -> T;
}

/// Addition.
#[derive(Clone, Copy)]
pub(crate) struct Plus;

impl<T: Clone + Zero> Operation<T> for Plus {
    const MAY_SELECT: bool = false;

    #[inline(always)]
    fn identity(self) -> T {
        T::zero()
    }

    #[inline(always)]
    fn apply(self, a: T, b: T) -> T {
        a + b
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

impl<T: Clone, F: Fn(T, T) -> T> Operation<T> for ClosureOp<'_, T, F> {
    const MAY_SELECT: bool = true;

    #[inline(always)]
    fn identity(self) -> T {
        self.identity.clone()
    }

    #[inline(always)]
    fn apply(self, a: T, b: T) -> T {
        (self.op)(a, b)
    }
}

/// Combines `value` into a partial result, which is not copied if it owns memory.
#[inline(always)]
pub(super) fn add<T: Clone, O: Operation<T>>(by: O, into: &mut T, value: T) {
    let before = if const { needs_drop::<T>() } { replace(into, by.identity()) } else { into.clone() };
    *into = by.apply(before, value);
}

/// Combines the second half of the accumulators with the first until `KEEP` remain. Both counts are powers of two.
#[inline(always)]
pub(super) fn halve<T: Clone, O: Operation<T>, const KEEP: usize>(results: &mut [T], by: O) -> [T; KEEP] {
    let mut width = results.len();
    while width > KEEP {
        width /= 2;
        for j in 0..width {
            results[j] = by.apply(results[j].clone(), results[j + width].clone());
        }
    }
    array(|j| results[j].clone())
}

/// Combines the second half of `N` terms with the first until one is left.
#[inline(always)]
pub(crate) fn by_halves<T: Clone, const N: usize>(mut x: [T; N], by: impl Operation<T>) -> T {
    let mut remaining = N;
    while remaining > 1 {
        let (half, mut i) = (remaining / 2, 0);
        while i < half {
            x[i] = by.apply(x[i].clone(), x[remaining - half + i].clone());
            i += 1;
        }
        remaining -= half;
    }
    x[0].clone()
}
