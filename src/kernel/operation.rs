//! Associative operations: addition, or a closure of the caller.

#![forbid(unsafe_code)]

use core::mem::{needs_drop, replace};
use num_traits::Zero;

/// An associative and commutative operation.
pub(crate) trait Operation<A>: Copy {
    const IS_PLUS: bool = false;

    /// The result where there is no element. It is not combined with elements.
    fn identity(self) -> A;

    fn apply(self, a: A, b: A) -> A;
}

/// Addition.
#[derive(Clone, Copy)]
pub(crate) struct Plus;

impl<A: Clone + Zero> Operation<A> for Plus {
    const IS_PLUS: bool = true;

    #[inline(always)]
    fn identity(self) -> A {
        A::zero()
    }

    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        a + b
    }
}

/// An operation that is called for each pair, so that its loops are short: for CPUs without the instructions for which others are
/// compiled.
#[derive(Clone, Copy)]
pub(crate) struct Called<O>(pub(crate) O);

impl<A, O: Operation<A>> Operation<A> for Called<O> {
    fn identity(self) -> A {
        self.0.identity()
    }

    #[inline(never)]
    fn apply(self, a: A, b: A) -> A {
        self.0.apply(a, b)
    }
}

/// The operation of a closure, with its identity.
pub(crate) struct ClosureOp<'f, A, F> {
    pub(crate) identity: &'f A,
    pub(crate) op: &'f F,
}

impl<A, F> Clone for ClosureOp<'_, A, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, F> Copy for ClosureOp<'_, A, F> {}

impl<A: Clone, F: Fn(A, A) -> A> Operation<A> for ClosureOp<'_, A, F> {
    #[inline(always)]
    fn identity(self) -> A {
        self.identity.clone()
    }

    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        (self.op)(a, b)
    }
}

/// Adds to a number, which is not copied if it owns memory.
#[inline(always)]
pub(super) fn add<A: Clone + Zero>(out: &mut A, more: A) {
    let before = if const { needs_drop::<A>() } { replace(out, A::zero()) } else { out.clone() };
    *out = before + more;
}
