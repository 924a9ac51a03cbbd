//! The elements of a reduction: those of an array, or the results of a closure over arrays, which are never stored.

#![forbid(unsafe_code)]

use super::nest::{
    ElementLoops, ElementLoopsOf, Elements, Inputs, MapElement, OrderedAxes, RawInputs, SendHalves, Visit,
};
use super::operation::{Operation, add};
use super::reduce::{Fold, FoldLoops, compiled};
use alloc::vec::Vec;
use core::ops::Mul;
use num_traits::Zero;

/// A function that changes elements before they are combined.
pub(super) type Prepare<'a, A> = &'a dyn Fn(&mut [A]);

/// The elements of a reduction, and its operation.
///
/// Not exported; public because a hidden method of a public trait makes it.
#[derive(Clone)]
pub struct Source<'a, A> {
    inputs: &'a RawInputs<'a>,
    /// The loops that compute the elements from those of the inputs; `None` if the one input has the elements.
    element_loops: Option<&'a dyn ElementLoops<A>>,
    /// The loops that combine elements.
    fold: &'a dyn Fold<A>,
    /// Runs two halves on two threads; `None` unless threads may share the inputs and the loops, and may be sent elements.
    halves: Option<SendHalves<A>>,
    /// Changes elements before they are combined.
    prepare: Option<Prepare<'a, A>>,
}

impl<'a, A: Clone> Source<'a, A> {
    #[inline(always)]
    fn new<O: Operation<A>>(
        inputs: &'a RawInputs<'a>,
        element_loops: Option<&'a dyn ElementLoops<A>>,
        loops: &'a FoldLoops<A, O>,
    ) -> Self {
        let fold: &dyn Fold<A> = match compiled() {
            Some(compiled) if const { O::IS_PLUS } => compiled.sums,
            _ => loops,
        };
        Self { inputs, element_loops, fold, halves: None, prepare: None }
    }

    /// The elements of an array.
    #[inline(always)]
    pub(crate) fn stored<O: Operation<A>>(array: &'a Inputs<'a, (A,)>, loops: &'a FoldLoops<A, O>) -> Self {
        Self::new(array, None, loops)
    }

    /// The results of a closure over inputs.
    #[inline(always)]
    pub(crate) fn fused<E: Elements, O: Operation<A>>(
        inputs: &'a Inputs<'a, E>,
        element_loops: &'a dyn ElementLoopsOf<A, E>,
        loops: &'a FoldLoops<A, O>,
    ) -> Self {
        Self::new(inputs, Some(element_loops), loops)
    }

    /// [`stored`](Self::stored), on several threads.
    #[inline(always)]
    pub(crate) fn par_stored<O: Operation<A> + Sync>(
        array: &'a Inputs<'a, (A,)>,
        loops: &'a FoldLoops<A, O>,
    ) -> Self
    where
        A: Send + Sync,
    {
        Self { halves: Some(SendHalves::of(array, loops)), ..Self::stored(array, loops) }
    }

    /// [`fused`](Self::fused), on several threads.
    #[inline(always)]
    pub(crate) fn par_fused<E: Elements + Sync, O: Operation<A> + Sync>(
        inputs: &'a Inputs<'a, E>,
        element_loops: &'a (dyn ElementLoopsOf<A, E> + Sync),
        loops: &'a FoldLoops<A, O>,
    ) -> Self
    where
        A: Send + Sync,
    {
        Self { halves: Some(SendHalves::of(inputs, loops)), ..Self::fused(inputs, element_loops, loops) }
    }

    /// Calls `then` with a source of these elements after `prepare` has changed them by `factor`. Where threads may share elements,
    /// they may share what changes them: a function and an element.
    pub(crate) fn prepared<R>(
        &self,
        prepare: fn(&mut [A], &A),
        factor: &A,
        then: impl FnOnce(&Source<'_, A>) -> R,
    ) -> R {
        let prepare = |elements: &mut [A]| prepare(elements, factor);
        then(&Source { prepare: Some(&prepare), ..self.clone() })
    }

    /// Calls `then` with the source and its shape after their axes are permuted: axis `order[i]` becomes axis `i`.
    pub(crate) fn in_order<R>(
        &self,
        shape: &[usize],
        order: &[usize],
        then: impl FnOnce(&Source<'_, A>, &[usize]) -> R,
    ) -> R {
        let mut axes = OrderedAxes::default();
        let inputs = &self.inputs.in_order(shape, order, &mut axes);
        let shape: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        then(&Source { inputs, ..self.clone() }, &shape)
    }

    #[inline(always)]
    pub(super) fn inputs(&self) -> &'a RawInputs<'a> {
        self.inputs
    }

    #[inline(always)]
    pub(super) fn halves(&self) -> Option<&SendHalves<A>> {
        self.halves.as_ref()
    }

    #[inline(always)]
    pub(super) fn prepare(&self) -> Option<Prepare<'a, A>> {
        self.prepare
    }

    /// The loops that combine elements.
    #[inline(always)]
    pub(super) fn fold(&self) -> &'a dyn Fold<A> {
        self.fold
    }

    /// The loops that compute the elements; those of an array are cloned.
    #[inline]
    pub(super) fn element_loops(&self) -> &'a dyn ElementLoops<A> {
        match self.element_loops {
            Some(loops) => loops,
            None => self.fold(),
        }
    }

    /// Whether the one input has the elements.
    #[inline(always)]
    pub(super) fn is_stored(&self) -> bool {
        self.element_loops.is_none()
    }

    /// The shapes of the arrays.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> &[&'a [usize]] {
        self.inputs.shapes()
    }
}

/// Clones the element at an index. A copy is a map with this function.
#[derive(Clone, Copy)]
pub(crate) struct Cloned;

impl<A: Clone> MapElement<A, (A,)> for Cloned {
    #[inline(always)]
    fn map(&mut self, (element,): (&A,)) -> A {
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
