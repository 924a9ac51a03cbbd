//! Associative operations: addition, or a closure of the caller.

#![forbid(unsafe_code)]

use num_traits::Zero;

/// An associative and commutative operation.
pub(crate) trait Operation<A>: Copy {
    /// The result where there is no element. It is not combined with elements.
    fn identity(self) -> A;

    fn apply(self, a: A, b: A) -> A;
}

/// Addition.
#[derive(Clone, Copy)]
pub(crate) struct Plus;

impl<A: Clone + Zero> Operation<A> for Plus {
    #[inline(always)]
    fn identity(self) -> A {
        A::zero()
    }

    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        a + b
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
