//! What is reduced: an array, or the results of a closure over arrays, which are never stored.

#![forbid(unsafe_code)]

use super::nest::{Elements, Inputs, Make, Maker, Makes, MakesOf, OrderedAxes, Reads, Visit, Write};
use super::operation::add;
use super::threads::{Join, join};
use alloc::vec::Vec;
use core::ops::Mul;
use num_traits::Zero;

/// What is reduced: inputs, the shape to which they are broadcast, and what makes elements `A` of them.
///
/// Not exported; public because hidden methods of public traits take it.
pub struct Source<'a, A> {
    pub(super) reads: &'a Reads<'a>,
    pub(super) shape: &'a [usize],
    /// Nothing if the elements are those of the one input.
    makes: Option<&'a dyn Makes<A>>,
    /// What runs two halves on two threads, if these may share the inputs and `makes`, and may have elements.
    pub(super) join: Option<Join>,
}

impl<'a, A: Clone> Source<'a, A> {
    /// The elements of an array.
    #[inline(always)]
    pub(crate) fn stored(array: &'a Inputs<'a, (A,)>) -> Self {
        Self { reads: array, shape: array.shapes()[0], makes: None, join: None }
    }

    /// The results of a closure over inputs.
    #[inline(always)]
    pub(crate) fn fused<E: Elements>(
        inputs: &'a Inputs<'a, E>,
        shape: &'a [usize],
        makes: &'a dyn MakesOf<A, E>,
    ) -> Self {
        Self { reads: inputs, shape, makes: Some(makes), join: None }
    }

    /// [`stored`](Self::stored), on several threads.
    #[inline(always)]
    pub(crate) fn par_stored(array: &'a Inputs<'a, (A,)>) -> Self
    where
        A: Send + Sync,
    {
        Self { join: Some(join), ..Self::stored(array) }
    }

    /// [`fused`](Self::fused), on several threads.
    #[inline(always)]
    pub(crate) fn par_fused<E: Elements + Sync>(
        inputs: &'a Inputs<'a, E>,
        shape: &'a [usize],
        makes: &'a (dyn MakesOf<A, E> + Sync),
    ) -> Self
    where
        A: Send + Sync,
    {
        Self { join: Some(join), ..Self::fused(inputs, shape, makes) }
    }

    /// What `then` returns for the source with axis `order[i]` as axis `i`.
    pub(crate) fn in_order<R>(&self, order: &[usize], then: impl FnOnce(&Source<'_, A>) -> R) -> R {
        let mut axes = OrderedAxes::default();
        let reads = &self.reads.in_order(self.shape, order, &mut axes);
        let shape: Vec<usize> = order.iter().map(|&axis| self.shape[axis]).collect();
        then(&Source { reads, shape: &shape, ..*self })
    }

    /// What makes the elements.
    #[inline]
    pub(super) fn makes(&self) -> &'a dyn Makes<A> {
        self.makes.unwrap_or(const { &Maker::new(Write(Cloned)) })
    }

    /// Whether the elements are those of the one input.
    #[inline(always)]
    pub(super) fn is_stored(&self) -> bool {
        self.makes.is_none()
    }
}

/// Makes a clone of the one element at an index: so a copy is a map.
#[derive(Clone, Copy)]
pub(crate) struct Cloned;

impl<A: Clone> Make<A, (A,)> for Cloned {
    #[inline(always)]
    fn make(&mut self, (element,): (&A,)) -> A {
        element.clone()
    }
}

impl<A: Clone> Visit<A, (A,)> for Cloned {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (element,): (&A,)) {
        *out = element.clone();
    }
}

/// Adds the element at an index.
#[derive(Clone, Copy)]
pub(crate) struct Added;

impl<A: Clone + Zero> Visit<A, (A,)> for Added {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (element,): (&A,)) {
        add(out, element.clone());
    }
}

/// Adds the product of a factor and the element at an index.
pub(crate) struct AddedScaled<'f, A>(pub(crate) &'f A);

impl<A> Clone for AddedScaled<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for AddedScaled<'_, A> {}

impl<A: Clone + Zero + Mul<Output = A>> Visit<A, (A,)> for AddedScaled<'_, A> {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (element,): (&A,)) {
        add(out, self.0.clone() * element.clone());
    }
}
