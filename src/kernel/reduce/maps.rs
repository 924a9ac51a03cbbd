//! The maps of a reduction: of elements to a buffer, and of results to a destination.

#![forbid(unsafe_code)]

use crate::kernel::map::{visit_large, visit_nest, visit_shape};
use crate::kernel::memory::{Scratch, Slots, Written};
use crate::kernel::nest::{
    ErasedNest, Inputs, Job, Nest, Planned, Reduction, ShapePass, Source, standard_strides,
};

impl<A: Clone> Nest<'_, Reduction<'_, '_, A>> {
    /// Writes the elements to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs.
    #[inline]
    pub(crate) fn fill<'t>(self, slots: Slots<'_, 't, A>) -> Written<'t> {
        if self.are_plain() { self.copy_to(slots) } else { visit_nest(self.map_to(slots)) }
    }
}

impl<A: Clone> Planned<'_, '_, '_, A> {
    /// Writes the results along the sum loop to slots, or else the elements, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs.
    #[inline]
    pub(crate) fn fill<'t>(self, slots: Slots<'_, 't, A>) -> Written<'t> {
        match self.sum_loop() {
            Some(_) => self.combine_to(slots),
            None => self.into_nest().fill(slots),
        }
    }
}

impl<A: Clone> Source<'_, A> {
    /// Writes the elements to slots, in the order of the source's `shape`.
    ///
    /// # Panics
    /// If the number of slots differs.
    #[inline]
    pub(crate) fn fill<'t>(&self, shape: &[usize], slots: Slots<'_, 't, A>) -> Written<'t> {
        let mut erased = ErasedNest::new();
        let stored = if self.is_stored() { Nest::reading(&mut erased, self, shape) } else { None };
        match stored {
            Some(nest) => nest.fill(slots),
            None => visit_shape(self.map_to(shape, &standard_strides(shape), slots)),
        }
    }
}

impl<'s, A: Clone> Job<'_, 's, A> {
    /// Writes the results to slots, if the source has few elements, or as many as there are slots.
    ///
    /// # Errors
    /// Returns the reduction if elements must be combined in a nest, prepared, or written by several threads, or if the outputs are
    /// no slots.
    #[inline]
    pub(super) fn write(mut self, len: usize) -> Result<Written<'s>, Self> {
        let is_copy = self.source.join().is_none() && len == self.out_shape().iter().product();
        match self.map().map(ShapePass::visit_few) {
            Some(Ok(written)) => Ok(written),
            Some(Err(pass)) if is_copy => Ok(visit_large(pass)),
            _ => Err(self),
        }
    }

    /// Stores few results in elements. They are written to slots first.
    #[inline(never)]
    pub(super) fn store_few(mut self) -> Written<'s> {
        let sizes = self.out_shape();
        let (strides, len, mut scratch) = (standard_strides(sizes), sizes.iter().product(), Scratch::new());
        let mut results = scratch.vec::<A>(len);
        let results = results.filled(len, |slots| self.filling(slots, &strides).run());
        self.store(&Inputs::standard(results, sizes, &strides)).map_or(Written::none(), visit_shape)
    }
}
