//! The elements of a reduction: those of an array, or the results of a closure over arrays, which are never stored.

use super::closures::{ElementLoops, ElementLoopsOf, Fold, can_leak};
use super::cut::Block;
use super::elements::Inputs;
use super::halves::{Join, Threads};
use super::loops::{ONE_BY_ONE, SMALL_NEST};
use super::operands::RawInputs;
use crate::kernel::ensure;
use crate::kernel::memory::{BLOCK_BYTES, Buffer, List};
use core::mem::MaybeUninit;
use core::slice;

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
    /// Runs two halves on two threads, if these may share the inputs and the loops, and may share and be sent elements.
    join: Option<Join>,
}

impl<'a, A: Clone> Source<'a, A> {
    /// The elements of an array, on these threads or on the calling one.
    #[inline(always)]
    pub(crate) fn stored(
        array: &'a Inputs<'a, (A,)>,
        fold: &'a (dyn Fold<A> + Sync),
        threads: Option<Threads<A, (A,)>>,
    ) -> Self {
        Self { inputs: array, element_loops: None, fold, join: threads.map(Threads::join) }
    }

    /// The results of a closure over inputs, on the threads of its loops.
    #[inline(always)]
    pub(crate) fn fused<E>(
        inputs: &'a Inputs<'a, E>,
        element_loops: &'a dyn ElementLoopsOf<A, E>,
        fold: &'a (dyn Fold<A> + Sync),
    ) -> Self {
        let join = element_loops.join();
        Self { inputs, element_loops: Some(element_loops), fold, join }
    }

    /// Calls `then` with a part of the source and its shape. Their axes are permuted: axis `order[i]` becomes axis `i`. `part` has the
    /// first index and the size of the part along each axis of the shape.
    pub(crate) fn permuted<R>(
        &self,
        shape: &[usize],
        order: &[usize],
        part: &[(usize, usize)],
        then: impl FnOnce(&Source<'_, A>, &[usize]) -> R,
    ) -> R {
        let mut axes = (List::new(), List::new());
        let inputs = &self.inputs.permuted(shape, order, part, &mut axes);
        let mut shape = List::<usize, 8>::new();
        for &axis in order {
            shape.push(part[axis].1);
        }
        then(&Source { inputs, ..self.clone() }, &shape)
    }

    #[inline(always)]
    pub(crate) fn inputs(&self) -> &'a RawInputs<'a> {
        self.inputs
    }

    #[inline(always)]
    pub(crate) fn join(&self) -> Option<Join> {
        self.join
    }

    /// The loops that combine elements.
    #[inline(always)]
    pub(crate) fn fold(&self) -> &'a dyn Fold<A> {
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
    pub(crate) fn is_stored(&self) -> bool {
        self.element_loops.is_none()
    }

    /// The shapes of the arrays.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> &[&'a [usize]] {
        self.inputs.shapes()
    }

    /// The stored elements, if there are some and they are contiguous in the order of the shape.
    #[inline]
    pub(crate) fn as_slice(&self) -> Option<&'a [A]> {
        let len = self.is_stored().then(|| self.inputs().standard_len(0))??;
        // SAFETY: The elements are contiguous, as was just checked. The constructors of sources take arrays of this type, and
        // `permuted` makes parts of these.
        Some(unsafe { slice::from_raw_parts(self.inputs().at[0].cast(), len) })
    }

    /// The result of all elements, if these are in standard layout and few, which are combined one after the other, or stored and fit
    /// into a block, whose fold is that of a lane.
    pub(crate) fn few(&self, shape: &[usize]) -> Option<A> {
        let (inputs, len) = (self.inputs, shape.iter().fold(1, |len: usize, &size| len.saturating_mul(size)));
        let most = if self.is_stored() || size_of::<A>() < 4 { ONE_BY_ONE } else { 4 * ONE_BY_ONE };
        if !const { can_leak::<A>() } || !inputs.are_standard(shape) {
            return None;
        }
        if len > most {
            let is_block = len <= SMALL_NEST.min(BLOCK_BYTES / size_of::<A>());
            let (elements, mut memory) = (self.as_slice().filter(|_| is_block)?, Buffer::<1>::new());
            let mut results = memory.vec(1);
            self.fold.sum_rows(elements, len, 1, &mut results);
            return results.first().cloned();
        }
        let mut result = MaybeUninit::<A>::uninit();
        let mut block = Block::new(inputs.pointers(result.as_mut_ptr().cast()));
        (block.steps.len, block.steps.strides) = (len, inputs.info.sizes.map(usize::cast_signed));
        // SAFETY: The loops have the types of the inputs, whose elements the block leads to, as was just checked. They write the result.
        unsafe {
            self.element_loops().visit(&block);
            Some(result.assume_init())
        }
    }

    /// The first element.
    ///
    /// # Panics
    /// If an array has no elements.
    pub(crate) fn first(&self) -> A {
        ensure(!self.shapes().iter().any(|sizes| sizes.contains(&0)), "no first element");
        // SAFETY: The source's loops have the types of its inputs, and each input has a first element.
        unsafe { self.element_loops().one(&self.inputs().pointers(core::ptr::null_mut())) }
    }
}
