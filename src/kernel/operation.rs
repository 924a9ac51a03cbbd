//! Associative operations: addition, or a closure of the caller. `src/reduce` has others: maxima, minima, any and all.

#![forbid(unsafe_code)]

use num_traits::Zero;

/// An associative and commutative operation.
///
/// Not exported; public because a hidden method of a public trait takes it.
#[doc(hidden)]
pub trait Operation<A>: Copy {
    const IS_PLUS: bool = false;

    /// Whether the operation is inlined into loops.
    const IS_INLINED: bool = true;

    /// Whether no other element can change a result, of an operation that has such results.
    const IS_FINAL: Option<fn(&A) -> bool> = None;

    fn apply(self, a: A, b: A) -> A;
}

/// Addition.
#[derive(Clone, Copy)]
pub(crate) struct Plus;

impl<A: Clone + Zero> Operation<A> for Plus {
    const IS_PLUS: bool = true;

    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        a + b
    }
}

/// The operation of a closure. Not of any type that is `Fn`: only link-time optimisation inlines the call of a reference to a closure.
impl<A, F: Fn(A, A) -> A> Operation<A> for &F {
    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        (*self)(a, b)
    }
}

/// Adds to a number, which stays as it was if a clone or the addition panics.
#[inline(always)]
pub(super) fn add<A: Clone + Zero>(out: &mut A, more: A) {
    *out = out.clone() + more;
}
