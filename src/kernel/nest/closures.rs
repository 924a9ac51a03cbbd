//! Closures as loops over blocks. Only the methods of [`Rows`] and [`ElementLoops`] are compiled for each closure.
//!
//! [`RowsOf`], [`FillsOf`] and [`ElementLoopsOf`] tie an object to the types of its operands. A pass is made of both at once. [`Block`]s
//! and [`Panels`] are made in `cut` and `panels` only, and their fields are private to `nest`. They lead to elements of the nest
//! that they were made from, to each output once, or to copies of its elements.

use super::cut::{Block, advance};
use super::elements::{Elements, MapElement, Visit, combine_one_by_one};
use super::panels::{NARROW, PanelLoops, Panels, WIDE};
use super::{InputSet, Pointers};
use crate::kernel::operation::Operation;
use crate::kernel::simd::{Work, dispatch_or};
use core::cell::RefCell;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop};
use core::slice;

/// Loops over the rows of blocks.
pub(crate) trait Rows {
    /// # Safety
    /// The elements at every index of the block have the types of this object. Those of the inputs are borrowed. Those of the
    /// output are borrowed exclusively, are different ones, and may be uninitialised if this object writes slots.
    unsafe fn rows(&self, block: &Block);
}

/// [`Rows`] for an output with elements `T` and inputs with elements `E`.
///
/// # Safety
/// The object has these types.
pub(crate) unsafe trait RowsOf<T, E>: Rows {}

/// [`Rows`] that write slots of `A`.
///
/// # Safety
/// The object has these types, and `rows` writes each slot.
pub(crate) unsafe trait FillsOf<A, E>: Rows {}

/// Loops that compute elements `A` from those of the inputs. As [`Rows`], they write these to slots.
pub(crate) trait ElementLoops<A>: Rows {
    /// Combines the elements of panels. Does nothing unless [`fits_panels`] holds.
    ///
    /// # Safety
    /// As for [`Elements::panels`].
    unsafe fn panels(&self, at: &Pointers, panels: &Panels<'_>);

    /// The element at an index.
    ///
    /// # Safety
    /// As for [`Rows::rows`], for the inputs alone.
    unsafe fn one(&self, at: &Pointers) -> A;
}

/// [`ElementLoops`] for inputs with elements `E`.
///
/// # Safety
/// The object has these types. `rows` writes each slot, and `panels` each sum.
pub(crate) unsafe trait ElementLoopsOf<A, E>: ElementLoops<A> {}

/// Makes a type invariant in `T`.
pub(super) type Invariant<T> = PhantomData<fn(T) -> T>;

/// [`Rows`] that visit each element by a closure that may have state.
pub(crate) struct Visitor<V, T, E>(RefCell<V>, Invariant<(T, E)>);

impl<V: Visit<T, E>, T, E: Elements> Visitor<V, T, E> {
    pub(crate) fn new(visit: V) -> Self {
        Self(RefCell::new(visit), PhantomData)
    }
}

// SAFETY: `visit_rows` has these types.
unsafe impl<V: Visit<T, E>, T, E: Elements> RowsOf<T, E> for Visitor<V, T, E> {}

// SAFETY: `visit_rows` has these types, and visits each slot. [`Write`] writes it.
unsafe impl<M: MapElement<A, E>, A, E: Elements> FillsOf<A, E> for Visitor<Write<M>, MaybeUninit<A>, E> {}

impl<V: Visit<T, E>, T, E: Elements> Rows for Visitor<V, T, E> {
    unsafe fn rows(&self, block: &Block) {
        // SAFETY: As the caller promises.
        unsafe { visit_rows(block, &mut *self.0.borrow_mut()) };
    }
}

/// [`Rows`] that visit each element by a closure that threads may share.
pub(crate) struct SharedVisitor<V, T, E>(V, Invariant<(T, E)>);

impl<V: Visit<T, E> + Copy, T, E: Elements> SharedVisitor<V, T, E> {
    pub(crate) const fn new(visit: V) -> Self {
        Self(visit, PhantomData)
    }
}

// SAFETY: As for `Visitor`.
unsafe impl<V: Visit<T, E> + Copy, T, E: Elements> RowsOf<T, E> for SharedVisitor<V, T, E> {}

// SAFETY: As for `Visitor`.
unsafe impl<M: MapElement<A, E> + Copy, A, E: Elements> FillsOf<A, E>
    for SharedVisitor<Write<M>, MaybeUninit<A>, E>
{
}

impl<V: Visit<T, E> + Copy, T, E: Elements> Rows for SharedVisitor<V, T, E> {
    unsafe fn rows(&self, block: &Block) {
        // SAFETY: As the caller promises.
        unsafe { visit_rows(block, &mut { self.0 }) };
    }
}

/// Writes the results of a [`MapElement`] to slots.
#[derive(Clone, Copy)]
pub(crate) struct Write<M>(pub(crate) M);

impl<R, E: Elements, M: MapElement<R, E>> Visit<MaybeUninit<R>, E> for Write<M> {
    #[inline(always)]
    fn visit(&mut self, out: &mut MaybeUninit<R>, items: E::Refs<'_>) {
        out.write(self.0.map(items));
    }
}

/// # Safety
/// As for [`Rows::rows`].
unsafe fn visit_rows<T, E: Elements, V: Visit<T, E>>(block: &Block, visit: &mut V) {
    let rest = match block.moving {
        Some(moving) => {
            let rows = VisitRows { block, moving, visit, types: PhantomData::<fn((T, E)) -> (T, E)> };
            dispatch_or(rows, |rows| Some(rows.visit))
        }
        None => Some(visit),
    };
    if let Some(visit) = rest {
        block.for_each(E::COUNT, |at| {
            // SAFETY: The caller promises these elements.
            unsafe { visit.visit(&mut *at[0].cast::<T>(), E::refs_at::<0>(at, 0)) };
        });
    }
}

/// Visits the rows of a block by a row loop.
struct VisitRows<'n, V, T, E> {
    block: &'n Block,
    moving: InputSet,
    visit: &'n mut V,
    types: Invariant<(T, E)>,
}

impl<'n, T, E: Elements, V: Visit<T, E>> Work for VisitRows<'n, V, T, E> {
    /// The closure, if it has not visited the rows.
    type Output = Option<&'n mut V>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { block, moving, visit, .. } = self;
        // local copies: LLVM knows that writes to the output do not change them
        let (mut at, row_strides) = (block.at, block.rows.strides);
        let (rows, len) = (block.rows.len, block.row.len);
        for _ in 0..rows {
            // SAFETY: `rows` was promised these elements, which are contiguous or stay, as `moving` says.
            unsafe { E::row(slice::from_raw_parts_mut(at[0].cast::<T>(), len), &at, moving, visit) };
            advance(&mut at, &row_strides, E::COUNT);
        }
        None
    }
}

/// The loops that map elements `E` of the inputs to elements `A` and combine these by an operation.
pub(crate) struct MapReduce<M, A, E, O> {
    map: M,
    pub(crate) op: O,
    types: Invariant<(A, E)>,
}

impl<M, A, E, O> MapReduce<M, A, E, O> {
    #[inline(always)]
    pub(crate) const fn new(map: M, op: O) -> Self {
        Self { map, op, types: PhantomData }
    }
}

impl<M: MapElement<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>> Rows for MapReduce<M, A, E, O> {
    unsafe fn rows(&self, block: &Block) {
        match block.moving {
            Some(moving)
                if const { fits_panels::<A>() } && block.row.len >= NARROW && block.rounds.len == 1 =>
            {
                // a sum of one row is a copy of its elements
                PanelLoops::of_rows(block, moving).rows(&block.at, &block.steps, false, &mut |at, panels| {
                    // SAFETY: The caller promises these elements.
                    unsafe { self.panels(at, panels) };
                });
            }
            _ => {
                let &Self { mut map, op, .. } = self;
                // SAFETY: As the caller promises.
                let mut combine = |at: &Pointers, panels: &Panels<'_>| unsafe {
                    combine_one_by_one::<A, E, M, O>(at, panels, &mut map, op);
                };
                block.for_each_round(E::COUNT, &mut combine);
            }
        }
    }
}

// SAFETY: All methods have these types. A row's panels, or its elements one by one, are all of it.
unsafe impl<M: MapElement<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>> ElementLoopsOf<A, E>
    for MapReduce<M, A, E, O>
{
}

impl<M: MapElement<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>> ElementLoops<A>
    for MapReduce<M, A, E, O>
{
    unsafe fn panels(&self, at: &Pointers, panels: &Panels<'_>) {
        if const { fits_panels::<A>() } {
            let &Self { map, op, types } = self;
            if panels.width == WIDE {
                let work = CombinePanels::<_, _, _, _, WIDE> { at, panels, map, op, types };
                dispatch_or(work, CombinePanels::one_by_one);
            } else {
                let work = CombinePanels::<_, _, _, _, NARROW> { at, panels, map, op, types };
                dispatch_or(work, CombinePanels::one_by_one);
            }
        }
    }

    unsafe fn one(&self, at: &Pointers) -> A {
        // SAFETY: The caller promises these elements.
        { self.map }.map(unsafe { E::refs_at::<0>(at, 0) })
    }
}

/// Combines panels of `N` neighbours.
struct CombinePanels<'n, M, A, E, O, const N: usize> {
    at: &'n Pointers,
    /// The caller of `ElementLoops::panels` promised their elements.
    panels: &'n Panels<'n>,
    map: M,
    op: O,
    types: Invariant<(A, E)>,
}

impl<A: Clone, E: Elements, M: MapElement<A, E>, O: Operation<A>, const N: usize>
    CombinePanels<'_, M, A, E, O, N>
{
    /// Combines the panels in a loop that is not compiled for a CPU.
    #[inline(always)]
    fn one_by_one(mut self) {
        // SAFETY: See the field.
        unsafe { combine_one_by_one::<A, E, M, O>(self.at, self.panels, &mut self.map, self.op) };
    }
}

impl<A: Clone, E: Elements, M: MapElement<A, E>, O: Operation<A>, const N: usize> Work
    for CombinePanels<'_, M, A, E, O, N>
{
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        // SAFETY: See the field.
        unsafe { E::panels::<A, M, O, N>(self.at, self.panels, &mut self.map, self.op) };
    }
}

/// Whether accumulators of this type fit into registers, and [`ElementLoops`] combine panels of it.
pub(super) const fn fits_panels<A>() -> bool {
    can_leak::<A>() && size_of::<A>() <= 16
}

/// Whether partial results may be leaked, and a block holds several of them.
pub(crate) const fn can_leak<A>() -> bool {
    !needs_drop::<A>() && size_of::<A>() > 0 && size_of::<A>() <= 64 && align_of::<A>() <= 64
}
