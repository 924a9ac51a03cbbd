//! The maps of a reduction: of elements to a buffer, and of results to a destination.

#![forbid(unsafe_code)]

use crate::kernel::map::{visit_large, visit_nest, visit_shape};
use crate::kernel::memory::{Scratch, Slots};
use crate::kernel::nest::{
    Destination, Dropped, ErasedNest, Inputs, Nest, Planned, Reduction, ShapePass, Source, Written,
    standard_strides,
};

impl<A: Clone> Nest<'_, Reduction<'_, '_, A>> {
    /// Writes the elements to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs.
    #[inline]
    pub(crate) fn fill<'t>(self, slots: Slots<'_, 't, A>) -> Written<'t> {
        if self.is_plain(1) && self.is_stored() {
            self.copy_to(slots)
        } else {
            visit_nest(self.map_to(slots))
        }
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

impl<'s, A: Clone> Destination<'_, 's, A> {
    /// Writes the results of a source with `len` elements to slots, if it has few, or as many as there are slots. See
    /// [`Nest::reducing`] for the other arguments.
    ///
    /// # Errors
    /// Returns the destination if elements must be combined in a nest, prepared, or written by several threads, or if the outputs
    /// are no slots.
    #[inline]
    pub(super) fn write(
        mut self,
        source: &Source<'_, A>,
        shape: &[usize],
        len: usize,
        dropped: Dropped<'_>,
    ) -> Result<Written<'s>, Self> {
        let is_copied = source.join().is_none() && len == self.shape().iter().product();
        match self.map(source, shape, dropped).map(ShapePass::visit_few) {
            Some(Ok(written)) => Ok(written),
            Some(Err(pass)) if is_copied => Ok(visit_large(pass)),
            _ => Err(self),
        }
    }

    /// Has `fill` write the results to slots: those of the destination, or others, whose elements are stored then.
    #[inline(never)]
    pub(super) fn fill_by(
        mut self,
        fill: impl for<'t> FnOnce(Destination<'_, 't, A>) -> Written<'t>,
    ) -> Written<'s> {
        if self.has_slots() {
            return fill(self);
        }
        let sizes = self.shape();
        let (strides, len, mut scratch) = (standard_strides(sizes), sizes.iter().product(), Scratch::new());
        let mut results = scratch.vec::<A>(len);
        let results = results.filled(len, |slots| fill(Destination::standard(slots, sizes, &strides)));
        self.store(&Inputs::standard(results, sizes, &strides)).map_or(Written::none(), visit_shape)
    }
}
