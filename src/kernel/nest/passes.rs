//! Passes over the rows of an output, whose inputs are broadcast to its shape.
//!
//! A pass has arrays of the types of its loops. Only functions that write slots make [`Written`].

use super::arrange::RawOutput;
use super::closures::{FillsOf, Invariant, Rows, RowsOf};
use super::cut::Block;
use super::gather::{copy_share, gather};
use super::{
    Dropped, ErasedNest, InputSet, Inputs, Nest, OPERANDS, Output, RawInputs, Reduction, StridedAxes,
    Written, steps,
};
use crate::kernel::memory::{CACHE_LINE, Scratch, Slot, Slots};
use crate::kernel::threads::{GRAIN, in_parts};
use crate::kernel::{ensure, map};
use core::iter::zip;
use core::marker::PhantomData;
use core::mem::replace;
use core::ptr::null_mut;

// SAFETY: A pass is `Send` only if threads may have the operands.
unsafe impl<P: Send> Send for Nest<'_, P> {}

/// Visits each element of an output with the elements of the inputs, which are broadcast to its shape.
///
/// # Panics
/// If the inputs do not broadcast to that shape.
pub(crate) fn visit<T, E>(out: Output<'_, T>, inputs: &Inputs<'_, E>, rows: &dyn RowsOf<T, E>) {
    ShapePass::new(out.raw(), inputs, rows as &dyn Rows).run();
}

/// Writes each slot of an output from the elements of the inputs, which are broadcast to its shape.
///
/// # Panics
/// If the inputs do not broadcast to that shape.
pub(crate) fn fill<'s, A, E>(
    out: Output<'_, Slot<'s, A>>,
    inputs: &Inputs<'_, E>,
    rows: &dyn FillsOf<A, E>,
) -> Written<'s> {
    ShapePass::new(out.raw(), inputs, rows as &dyn Rows).run()
}

/// A pass along the axes of a shape, and its arrays. Set together with their types, in this file.
pub(super) struct ShapePass<'p, 's, R: ?Sized> {
    pub(super) shape: &'p [usize],
    pub(super) out: RawOutput<'p>,
    pub(super) dropped: Dropped<'p>,
    pub(super) inputs: &'p RawInputs<'p>,
    pub(super) pass: RowPass<'p, 's, R>,
}

impl<'p, 's, R: ?Sized> ShapePass<'p, 's, R> {
    #[inline(always)]
    pub(super) fn new(out: RawOutput<'p>, inputs: &'p RawInputs<'p>, rows: &'p R) -> Self {
        Self { shape: out.axes.sizes, out, dropped: None, inputs, pass: RowPass::new(rows) }
    }

    /// The nest; `None` if there is no index.
    fn nest(self, erased: &mut ErasedNest) -> Option<Nest<'_, RowPass<'p, 's, R>>> {
        let is_empty = erased.build(self.shape, Some(self.out), self.dropped, self.inputs);
        (!is_empty).then_some(Nest { erased, pass: self.pass })
    }
}

impl<'s> ShapePass<'_, 's, dyn Rows + '_> {
    /// Visits few elements as one [block](Block::set_small). Returns the number of outputs, or `None` if a nest is needed. Only
    /// [`ElementLoops`] combine elements to one output.
    #[inline]
    pub(super) fn run_few(&self) -> Option<usize> {
        let mut block = Block::new(self.inputs.pointers(self.out.at));
        let count = block.set_small(self.shape, &self.out, self.dropped, self.inputs)?;
        if count > 0 {
            // SAFETY: The block leads to the elements at each index of the shape. They have the types of `rows`.
            unsafe { self.pass.rows.rows(&block) };
        }
        Some(count)
    }

    pub(super) fn run(self) -> Written<'s> {
        match self.run_few() {
            Some(count) => Written(count, PhantomData),
            None => self.run_nest(),
        }
    }

    #[inline(never)]
    pub(super) fn run_nest(self) -> Written<'s> {
        let mut erased = ErasedNest::new();
        let Some(mut nest) = self.nest(&mut erased) else { return Written::none() };
        nest.arrange(0);
        map::run(nest)
    }
}

impl<'s> ShapePass<'_, 's, dyn Rows + Sync + '_> {
    fn par_run(self) -> Written<'s> {
        let mut erased = ErasedNest::new();
        let Some(mut nest) = self.nest(&mut erased) else { return Written::none() };
        nest.arrange(0);
        in_parts(nest, GRAIN, &|part| {
            map::run(Nest { erased: part.erased, pass: RowPass::new(part.pass.rows) })
        })
    }
}

/// [`visit`] on several threads.
pub(crate) fn par_visit<T: Send, E: Sync>(
    out: Output<'_, T>,
    inputs: &Inputs<'_, E>,
    rows: &(dyn RowsOf<T, E> + Sync),
) {
    ShapePass::new(out.raw(), inputs, rows as &(dyn Rows + Sync)).par_run();
}

/// [`fill`] on several threads.
pub(crate) fn par_fill<'s, A: Send, E: Sync>(
    out: Output<'_, Slot<'s, A>>,
    inputs: &Inputs<'_, E>,
    rows: &(dyn FillsOf<A, E> + Sync),
) -> Written<'s> {
    ShapePass::new(out.raw(), inputs, rows as &(dyn Rows + Sync)).par_run()
}

/// A pass that visits the rows of a nest. If its output has slots, their brand is `'s`.
pub(crate) struct RowPass<'a, 's, R: ?Sized> {
    rows: &'a R,
    brand: Invariant<&'s ()>,
}

pub(crate) type SerialPass<'a, 's> = RowPass<'a, 's, dyn Rows + 'a>;

impl<'a, R: ?Sized> RowPass<'a, '_, R> {
    #[inline(always)]
    pub(super) fn new(rows: &'a R) -> Self {
        Self { rows, brand: PhantomData }
    }
}

impl<R: ?Sized> Clone for RowPass<'_, '_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for RowPass<'_, '_, R> {}

#[cfg(test)]
impl<'n> Nest<'n, SerialPass<'n, 'static>> {
    /// The nest of [`visit`]; `None` if there is no index.
    pub(crate) fn new<T, E>(
        erased: &'n mut ErasedNest,
        out: Output<'n, T>,
        inputs: &'n Inputs<'n, E>,
        rows: &'n (dyn RowsOf<T, E> + 'n),
    ) -> Option<Self> {
        ShapePass::new(out.raw(), inputs, rows as &dyn Rows).nest(erased)
    }
}

#[cfg(test)]
impl<'n, 's> Nest<'n, SerialPass<'n, 's>> {
    /// The nest of [`fill`].
    pub(crate) fn new_with_slots<A, E>(
        erased: &'n mut ErasedNest,
        out: Output<'n, Slot<'s, A>>,
        inputs: &'n Inputs<'n, E>,
        rows: &'n (dyn FillsOf<A, E> + 'n),
    ) -> Option<Self> {
        ShapePass::new(out.raw(), inputs, rows as &dyn Rows).nest(erased)
    }
}

impl ErasedNest {
    /// Makes contiguous copies of these inputs in `scratch`, and reads these.
    ///
    /// # Safety
    /// The inputs are borrowed, and the nest does not outlive the scratch.
    ///
    /// # Panics
    /// If their elements are not plain numbers.
    #[inline(never)]
    unsafe fn copy_inputs(&mut self, copied: InputSet, scratch: &mut Scratch) {
        let mut moving = ErasedNest::new();
        let mut rest = scratch.bytes(copied.operands().map(|k| self.copy_bytes(k)).sum());
        for k in copied.operands() {
            let (copy, after) = rest.split_at_mut(self.copy_bytes(k));
            self.moving_part(k, &mut moving);
            // SAFETY: The caller promises the inputs. A copy begins with a cache line.
            unsafe { gather(&moving, k, copy) };
            self.set_dense(k, copy.as_mut_ptr().cast(), |l| l.strides[k] != 0);
            rest = after;
        }
        self.merge();
    }
}

/// Passes that read the inputs while the nest lives only.
pub(crate) trait ReadsNest {}

impl<R: ?Sized> ReadsNest for RowPass<'_, '_, R> {}
impl<A> ReadsNest for Reduction<'_, '_, A> {}

impl<'n, P: ReadsNest> Nest<'n, P> {
    /// See [`copy_inputs`](ErasedNest::copy_inputs).
    pub(crate) fn with_copies<'m>(self, copied: InputSet, scratch: &'m mut Scratch) -> Nest<'m, P>
    where
        'n: 'm,
    {
        // SAFETY: By the invariant. The nest borrows the scratch.
        unsafe { self.erased.copy_inputs(copied, scratch) };
        Nest { erased: self.erased, pass: self.pass }
    }
}

impl<'s> Nest<'_, SerialPass<'_, 's>> {
    /// Visits each index, in blocks of the two innermost loops.
    pub(crate) fn run_rows(self) -> Written<'s> {
        let (rows, mut count) = (self.pass.rows, 0);
        ensure(self.erased.has_distinct_outputs(), "an element of the output is visited twice");
        self.erased.for_each_block(&mut |block| {
            count += block.outputs();
            // SAFETY: By the invariant, `rows` has the types of the operands.
            unsafe { rows.rows(block) };
        });
        Written(count, PhantomData)
    }

    /// Visits each index, in tiles of at most `tile[i]` steps of loop `i`. Up to `most` inputs are copied for a tile: those that
    /// no row loop can read in place. A tile is one row if the output is contiguous in it.
    ///
    /// # Panics
    /// If inputs to copy are not plain numbers or do not fit.
    #[inline(never)]
    pub(crate) fn run_tiles(self, tile: &[usize], most: usize) -> Written<'s> {
        let (rows, mut count, mut scratch) = (self.pass.rows, 0, Scratch::new());
        let largest = self.erased.sizes().iter().copied().max().unwrap_or(0);
        let in_tile = zip(&*self.erased.loops, tile).map(|(l, &steps)| l.len.min(steps.max(1)));
        let full = in_tile.fold(1, usize::saturating_mul);
        let share = full.saturating_mul(largest).div_ceil(CACHE_LINE).saturating_mul(CACHE_LINE);
        // the first elements of copies of full tiles
        let (share, mut copies_of) = (share.min(copy_share(most)), [null_mut(); OPERANDS]);
        let copies = scratch.bytes(share * most);
        ensure(self.erased.has_distinct_outputs(), "an element of the output is visited twice");
        self.erased.for_each_tile(tile, &mut |part| {
            let copied = if most == 0 { InputSet::NONE } else { part.to_copy() };
            for k in copied.operands() {
                let first = if steps(&part.loops) == full { part.operands.at[k] } else { null_mut() };
                if replace(&mut copies_of[k], first) != first || first.is_null() {
                    // SAFETY: By the invariant, the inputs are borrowed. Shares of the memory are as aligned as all plain numbers.
                    unsafe { gather(part, k, &mut copies[(k - 1) * share..][..share]) };
                }
            }
            // pointers are taken after all copies are made: the next copy would invalidate them
            let start = copies.as_mut_ptr().cast::<u8>();
            for k in copied.operands() {
                part.set_dense(k, start.wrapping_add((k - 1) * share), |_| true);
            }
            part.merge();
            part.for_each_block(&mut |block| {
                count += block.outputs();
                // SAFETY: By the invariant, `rows` has the types of the operands. A copy has elements of the same type.
                unsafe { rows.rows(block) };
            });
        });
        Written(count, PhantomData)
    }
}

/// Slots as an output in standard layout.
pub(super) fn standard_output<'o, A>(
    slots: &mut Slots<'_, '_, A>,
    sizes: &'o [usize],
    strides: &'o [isize],
) -> RawOutput<'o> {
    ensure(slots.len() == sizes.iter().product(), "not one slot for each element");
    RawOutput { at: slots.start().cast(), size: size_of::<A>(), axes: StridedAxes { sizes, strides } }
}
