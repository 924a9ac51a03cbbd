//! Passes over the rows of an output, whose inputs are broadcast to its shape.
//!
//! A pass has arrays of the types of its loops. Only functions that write slots [count](Count) these.

use super::closures::{FillsOf, Rows, RowsOf};
use super::cut::{Block, for_each_index, sort_by_output};
use super::elements::{Inputs, Output};
use super::erased::{ErasedNest, ErasedOperands};
use super::gather::{To, copy_elements, nearer_stride, share_sets};
use super::halves::Join;
use super::loops::{InputSet, Loops, OPERANDS, indices, is_dense, is_worth_halving, sort_by};
use super::operands::{Dropped, RawInputs, RawOutput};
use crate::kernel::ensure;
use crate::kernel::memory::{CACHE_LINE, Count, Scratch, StridedSlots};
use crate::kernel::threads::GRAIN;
use core::mem::replace;
use core::ops::Deref;
use core::ptr::null_mut;

/// A nest with its pass: the object that knows the types of its operands.
pub(crate) struct Nest<'n, P> {
    pub(super) erased: &'n mut ErasedNest,
    pub(super) pass: P,
}

// SAFETY: A pass is `Send` only if threads may have the operands. Of those that know no types, only `()` is, which `passes` makes for
// the length of a call: for the others, see `halves`.
unsafe impl<P: Send> Send for Nest<'_, P> {}

impl<P> Deref for Nest<'_, P> {
    type Target = ErasedNest;

    #[inline(always)]
    fn deref(&self) -> &ErasedNest {
        self.erased
    }
}

impl<'n, P: Copy> Nest<'n, P> {
    /// See [`ErasedNest::arrange`].
    pub(crate) fn arrange(&mut self, first: usize) {
        self.erased.arrange(first);
    }

    /// Two halves of the nest, each with a part of the loop at `place`. It is a kept loop, unless the nest has only inputs.
    ///
    /// # Panics
    /// If it is a reduced loop of a nest with an output, or has one step.
    pub(crate) fn halves(self, place: usize, scratch: &'n mut ErasedNest) -> [Self; 2] {
        let erased = self.erased.halve(place, scratch);
        [Self { erased, pass: self.pass }, Self { erased: scratch, pass: self.pass }]
    }

    /// The nest without access to its output.
    #[inline]
    pub(crate) fn without_output(&self, scratch: &'n mut ErasedNest) -> Self {
        Self { erased: self.erased.without_output(scratch), pass: self.pass }
    }
}

/// A pass along the axes of a shape, and its arrays. Each function that makes one sets both with their types.
pub(crate) struct ShapePass<'p> {
    pub(super) shape: &'p [usize],
    pub(super) out: RawOutput<'p>,
    pub(super) dropped: Dropped<'p>,
    pub(super) inputs: &'p RawInputs<'p>,
    pub(super) pass: RowPass<'p>,
}

impl<'p> ShapePass<'p> {
    /// A pass that visits each element of an output with the elements of the inputs, which are broadcast to its shape.
    #[inline(always)]
    pub(crate) fn visit<T, E>(
        out: Output<'p, T>,
        inputs: &'p Inputs<'p, E>,
        rows: &'p dyn RowsOf<T, E>,
    ) -> Self {
        Self::new(out.raw, inputs, rows)
    }

    /// A pass that writes each slot of an output from the elements of the inputs, which are broadcast to its shape.
    #[inline(always)]
    pub(crate) fn fill<A, E>(
        slots: StridedSlots<'p, A>,
        inputs: &'p Inputs<'p, E>,
        rows: &'p dyn FillsOf<A, E>,
    ) -> Self {
        Self::new(RawOutput::slots(slots), inputs, rows)
    }

    #[inline(always)]
    pub(super) fn new(out: RawOutput<'p>, inputs: &'p RawInputs<'p>, rows: &'p dyn Rows) -> Self {
        Self { shape: out.axes.sizes, out, dropped: None, inputs, pass: RowPass { rows, count: out.count } }
    }

    /// Visits few elements as [blocks](Block::set_small), at most `most` of them one by one. Only `ElementLoops` combine
    /// elements to one output.
    ///
    /// # Errors
    /// Returns the pass if a nest is needed.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    #[inline]
    pub(crate) fn visit_few(self, most: usize) -> Result<(), Self> {
        let (mut block, mut further) = (Block::new(self.inputs.pointers(self.out.at)), Loops::new());
        let (shape, rows) = (self.shape, self.pass.rows);
        let Some(count) = block.set_small(shape, &self.out, self.dropped, self.inputs, most, &mut further)
        else {
            return Err(self);
        };
        // SAFETY: The blocks lead to the elements at each index of the shape, and to each output once, or again where results are
        // added. They have the types of `rows`.
        unsafe {
            match &further[..] {
                _ if count == 0 => {}
                [] => rows.visit(&block),
                further => block.for_each_further(further, &mut |block| rows.visit(block)),
            }
            self.pass.count.add(count);
        }
        Ok(())
    }

    /// The nest; `None` if there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    pub(crate) fn nest(self, erased: &mut ErasedNest) -> Option<Nest<'_, RowPass<'p>>> {
        erased.build(self.shape, self.out, self.dropped, self.inputs)?;
        Some(Nest { erased, pass: self.pass })
    }
}

/// A pass that visits the rows of a nest. If its output has slots, it counts them.
#[derive(Clone, Copy)]
pub(crate) struct RowPass<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) count: Count<'a>,
}

/// Passes that read the inputs while the nest lives only.
pub(crate) trait ReadsNest {}

impl ReadsNest for RowPass<'_> {}

impl<'n, P: ReadsNest> Nest<'n, P> {
    /// Makes contiguous copies of these inputs in `scratch`, and reads these.
    ///
    /// # Panics
    /// If their elements are not plain numbers.
    pub(crate) fn with_copies(self, copied: InputSet, scratch: &'n mut Scratch) -> Self {
        let erased = Nest { erased: self.erased, pass: () }.copy_inputs(copied, false, scratch);
        Nest { erased, pass: self.pass }
    }
}

impl<'n> Nest<'n, ()> {
    /// The loops of [`with_copies`](Self::with_copies), which are compiled once for all passes. Elements that are read again are copied
    /// again if copies are to be `whole`.
    fn copy_inputs(self, copied: InputSet, whole: bool, scratch: &'n mut Scratch) -> &'n mut ErasedNest {
        let (ErasedOperands { at, info, .. }, erased) = (self.erased.operands, self.erased);
        let mut rest = scratch.bytes(copied.operands().map(|k| erased.copy_bytes(k, whole)).sum());
        for k in copied.operands() {
            let mut loops = Loops::from_slice(&erased.loops);
            loops.retain(|l| l.is_copied(k, whole));
            let (copy, after) = rest.split_at_mut(erased.copy_bytes(k, whole));
            // SAFETY: By the invariant, the inputs are borrowed. A copy is as aligned as its elements. The nest borrows the scratch.
            unsafe { copy_elements(&loops, at[k], k, info, To::Memory(&mut *copy)) };
            erased.set_dense(k, copy.as_mut_ptr().cast(), &|l| l.is_copied(k, whole));
            rest = after;
        }
        erased.merge();
        erased
    }
}

impl Nest<'_, RowPass<'_>> {
    /// The function that runs both halves of the nest on two threads, if these may have them and save time.
    pub(crate) fn join(&self) -> Option<Join> {
        self.pass.rows.join().filter(|_| is_worth_halving(self.loops(), GRAIN))
    }

    /// Has `visit` visit both [`halves`](Self::halves) of the nest. They may run on two threads.
    pub(crate) fn run_halves(self, place: usize, visit: fn(Nest<'_, RowPass<'_>>)) {
        let (join, mut second) = (self.join(), ErasedNest::on_heap());
        let [first, second] = self.halves(place, &mut second);
        match join {
            // SAFETY: The halves have the loops that the `Join` is from, parts of the arrays that these are for, the count of slots, and
            // copies of plain numbers, which both read.
            Some(join) => unsafe { join.run(|| visit(first), || visit(second)) },
            None => [visit(first), visit(second)],
        };
    }

    /// Whether the pass copies plain numbers.
    pub(crate) fn is_copy(&self) -> bool {
        self.pass.rows.is_copy() && self.erased.is_plain(1)
    }

    /// Copies each element.
    ///
    /// # Panics
    /// If the pass does [something else](Self::is_copy).
    pub(crate) fn copy(self) {
        ensure(self.is_copy() && self.erased.has_distinct_outputs(), "not a copy of plain numbers");
        let ErasedNest { loops, operands } = self.erased;
        // SAFETY: By the invariant. The output has elements of the same type.
        unsafe {
            copy_elements(loops, operands.at[1], 1, operands.info, To::Output(operands.at[0]));
            self.pass.count.add(indices(loops));
        }
    }

    /// Visits few indices: a copy is made at once; for others, inputs without a row loop are copied whole.
    pub(crate) fn visit_whole(self) {
        if self.is_copy() {
            return self.copy();
        }
        let (Nest { erased, pass }, mut scratch) = (self, Scratch::new());
        sort_by_output(&mut erased.loops);
        if !is_dense(&erased.loops, 0, erased.sizes()[0]) {
            erased.arrange(0);
        }
        // without rows of the output, elements are visited one by one
        let is_row = erased.loops.last().is_some_and(|l| l.strides[0] == erased.sizes()[0].cast_signed());
        let copied = if is_row { erased.to_copy_for_row() } else { InputSet::NONE };
        let erased = Nest { erased, pass: () }.copy_inputs(copied, true, &mut scratch);
        Nest { erased, pass }.visit_rows();
    }

    /// Visits each index, in blocks of the two innermost loops.
    pub(crate) fn visit_rows(self) {
        let (RowPass { rows, count }, mut written) = (self.pass, 0);
        ensure(self.erased.has_distinct_outputs(), "an element of the output is visited twice");
        self.erased.for_each_block(&mut |block| {
            // SAFETY: By the invariant, `rows` has the types of the operands.
            unsafe { rows.visit(block) };
            written += block.outputs();
        });
        // SAFETY: Each block was visited, and has slots of its own.
        unsafe { count.add(written) };
    }

    /// Visits each index, in tiles of at most `tile[i]` steps of loop `i`. Inputs are copied for a tile if no row loop can read them
    /// in place, to `share` bytes each, a multiple of a cache line. A tile is one row if the output is contiguous in it.
    ///
    /// # Panics
    /// If inputs to copy are not plain numbers or do not fit, or if `share` is no multiple of a cache line.
    #[inline(never)]
    pub(crate) fn visit_tiles(self, tile: &[usize], share: usize) {
        ensure(self.erased.has_distinct_outputs(), "an element of the output is visited twice");
        ensure(share.is_multiple_of(CACHE_LINE), "copies that are not aligned");
        let ErasedOperands { count: operands, info, .. } = self.erased.operands;
        // straight to the output, unless lines share sets of L1 in both orders
        let loops = self.loops();
        let near = loops.iter().min_by_key(|l| l.strides[1].unsigned_abs());
        let ends = [near.map_or(0, |near| near.strides[0]), loops.last().map_or(0, |row| row.strides[1])];
        let is_direct =
            self.is_copy() && loops.iter().all(|l| l.strides[1] != 0) && !ends.into_iter().all(share_sets);
        let (RowPass { rows, count }, mut written, mut scratch) = (self.pass, 0, Scratch::new());
        let (mut dense, mut order) = (ErasedNest::new(), Loops::new());
        let copies = scratch.bytes(share * (operands - 1));
        self.erased.for_each_tile(tile, &mut |part, tiles| {
            let copied = part.to_copy_for_row();
            dense.copy_from(part);
            for k in copied.operands() {
                dense.set_dense(k, null_mut(), &|_| true);
            }
            dense.merge();
            let ((mut block, outer), mut copies_of) = (dense.block(), [null_mut(); OPERANDS]);
            order.clear();
            order.extend_from_slice(tiles);
            // an only input is read along its lines: a tile ends within lines that the next one reads, too
            if operands == 2 {
                sort_by(&mut order, nearer_stride);
            }
            for_each_index(&order, &part.operands.at, &mut |first| {
                if is_direct {
                    // SAFETY: By the invariant. The output has elements of the same type.
                    unsafe { copy_elements(&part.loops, first[1], 1, info, To::Output(first[0])) };
                    written += indices(&part.loops);
                    return;
                }
                for k in copied.operands() {
                    if replace(&mut copies_of[k], first[k]) != first[k] {
                        let copy = &mut copies[(k - 1) * share..][..share];
                        // SAFETY: By the invariant, the inputs are borrowed. A copy is as aligned as its elements.
                        unsafe { copy_elements(&part.loops, first[k], k, info, To::Memory(copy)) };
                    }
                }
                // pointers are taken after all copies are made: the next copy would invalidate them
                let (mut at, start) = (*first, copies.as_mut_ptr().cast::<u8>());
                for k in copied.operands() {
                    at[k] = start.wrapping_add((k - 1) * share);
                }
                block.for_each_along(outer, &at, &mut |block| {
                    // SAFETY: By the invariant, `rows` has the types of the operands. A copy has elements of the same type, and is as
                    // aligned: it begins with a cache line.
                    unsafe { rows.visit(block) };
                    written += block.outputs();
                });
            });
        });
        // SAFETY: Each block of each tile was visited, and has slots of its own.
        unsafe { count.add(written) };
    }
}
