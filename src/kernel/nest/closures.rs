//! Closures as loops over blocks. Only the methods of [`Rows`] and [`ElementLoops`] are compiled for each closure.
//!
//! [`RowsOf`], [`FillsOf`] and [`ElementLoopsOf`] tie an object to the types of its operands. A pass is made of both at once. [`Block`]s
//! and [`Panels`] are made in this folder only, and their fields are private to it. They lead to elements of a nest, or of few
//! operands without one, or to copies of these; and to each output once, or again once it has a result to which others are added.

use super::cut::{Block, advance};
use super::elements::{Elements, MapElement, Visit, combine_one_by_one};
use super::halves::{Invariant, Join, Threads};
use super::loops::{InputSet, NARROW, Pointers, WIDE};
use super::panels::{PanelLoops, Panels};
use crate::kernel::memory::SliceVec;
use crate::kernel::operation::{Operation, add};
use crate::kernel::simd::{Work, dispatch_or, is_type};
use core::cell::RefCell;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop};
use core::ops::Mul;
use core::slice;
use num_traits::Zero;

/// Loops over the rows of blocks.
pub(crate) trait Rows {
    /// # Safety
    /// The elements at every index of the block have the types of this object. Those of the inputs are borrowed. Those of the
    /// output are borrowed exclusively, are different ones, and may be uninitialised if this object writes slots, unless results
    /// are added. Along the row, the inputs that are `moving` and the output are contiguous, and the other inputs stay.
    unsafe fn visit(&self, block: &Block);

    /// Whether `rows` clones the elements of the one input, if each output is made of one.
    fn is_copy(&self) -> bool;

    /// The function that runs halves of a pass on two threads, if these may share this object and the arrays that it is for.
    fn join(&self) -> Option<Join>;
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
    /// Combines the elements of panels. Does nothing unless they [can leak](can_leak).
    ///
    /// # Safety
    /// As for [`Elements::panels`].
    unsafe fn panels(&self, at: &Pointers, panels: &Panels<'_>);

    /// The element at an index.
    ///
    /// # Safety
    /// As for [`Rows::visit`], for the inputs alone.
    unsafe fn one(&self, at: &Pointers) -> A;
}

/// [`ElementLoops`] for inputs with elements `E`.
///
/// # Safety
/// The object has these types. `rows` writes each slot, and `panels` each sum if elements [can leak](can_leak).
pub(crate) unsafe trait ElementLoopsOf<A, E>: ElementLoops<A> {}

/// A closure that is called through a shared reference.
pub(crate) trait Lend {
    type Visit;

    fn lend(&self, then: impl FnOnce(&mut Self::Visit));
}

/// A closure that may have state.
impl<V> Lend for RefCell<V> {
    type Visit = V;

    #[inline(always)]
    fn lend(&self, then: impl FnOnce(&mut V)) {
        then(&mut *self.borrow_mut());
    }
}

/// A closure without state, which threads may share.
pub(crate) struct Shared<V>(V);

impl<V: Copy> Lend for Shared<V> {
    type Visit = V;

    #[inline(always)]
    fn lend(&self, then: impl FnOnce(&mut V)) {
        then(&mut { self.0 });
    }
}

/// [`Rows`] that visit each element by a closure.
pub(crate) struct Visitor<C, T, E> {
    closure: C,
    join: Option<Join>,
    types: Invariant<(T, E)>,
}

pub(crate) type SharedVisitor<V, T, E> = Visitor<Shared<V>, T, E>;

impl<V: Visit<T, E>, T, E: Elements> Visitor<RefCell<V>, T, E> {
    pub(crate) fn new(visit: V) -> Self {
        Self { closure: RefCell::new(visit), join: None, types: PhantomData }
    }
}

impl<V: Visit<T, E> + Copy, T, E: Elements> SharedVisitor<V, T, E> {
    pub(crate) const fn shared(visit: V) -> Self {
        Self { closure: Shared(visit), join: None, types: PhantomData }
    }

    /// The same visitor, on these threads or on the calling one.
    pub(crate) fn on(self, threads: Option<Threads<T, E>>) -> Self
    where
        V: Sync,
    {
        Self { join: threads.map(Threads::join), ..self }
    }
}

// SAFETY: `visit_elements` has these types.
unsafe impl<C: Lend<Visit: Visit<T, E>>, T, E: Elements> RowsOf<T, E> for Visitor<C, T, E> {}

// SAFETY: `visit_elements` has these types, and visits each slot. [`Write`] writes it.
unsafe impl<C: Lend<Visit = Write<M>>, M: MapElement<A, E>, A, E: Elements> FillsOf<A, E>
    for Visitor<C, MaybeUninit<A>, E>
{
}

impl<C: Lend<Visit: Visit<T, E>>, T, E: Elements> Rows for Visitor<C, T, E> {
    unsafe fn visit(&self, block: &Block) {
        // SAFETY: As the caller promises.
        self.closure.lend(|visit| unsafe { visit_elements(block, visit) });
    }

    fn is_copy(&self) -> bool {
        clones::<C::Visit>()
    }

    fn join(&self) -> Option<Join> {
        self.join
    }
}

/// Whether a function clones an input's element to the output, which has its type then.
fn clones<V>() -> bool {
    is_type::<V, Cloned>() || is_type::<V, Write<Cloned>>()
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
/// As for [`Rows::visit`].
unsafe fn visit_elements<T, E: Elements, V: Visit<T, E>>(block: &Block, visit: &mut V) {
    let rest = match block.moving {
        Some(moving) => {
            let rows = VisitRows { block, moving, visit, types: PhantomData::<fn((T, E)) -> (T, E)> };
            dispatch_or(rows, |rows| Some(rows.visit))
        }
        None => Some(visit),
    };
    if let Some(visit) = rest {
        block.for_each(&block.at, E::COUNT, |at| {
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
    join: Option<Join>,
    types: Invariant<(A, E)>,
}

impl<M, A, E, O> MapReduce<M, A, E, O> {
    #[inline(always)]
    pub(crate) const fn new(map: M, op: O) -> Self {
        Self { map, op, join: None, types: PhantomData }
    }

    /// The same loops, on these threads.
    pub(crate) fn on(self, threads: Threads<A, E>) -> Self
    where
        M: Sync,
        A: Sync,
        O: Sync,
    {
        Self { join: Some(threads.join()), ..self }
    }
}

impl<M: MapElement<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>> Rows for MapReduce<M, A, E, O> {
    unsafe fn visit(&self, block: &Block) {
        match block.moving {
            Some(moving)
                if const { can_leak::<A>() && size_of::<A>() <= 16 }
                    && block.row.len >= NARROW
                    && block.rounds.len == 1 =>
            {
                // a sum of one row is a copy of its elements
                let loops = PanelLoops { outside: block.rows, neighbours: block.row, moving };
                loops.rows(&block.at, &block.steps, block.is_added, &mut |at, panels| {
                    // SAFETY: The caller promises these elements.
                    unsafe { self.panels(at, panels) };
                });
            }
            _ => {
                let &Self { mut map, op, .. } = self;
                // SAFETY: As the caller promises.
                unsafe { combine_one_by_one::<A, E, M, O>(block, &mut map, op) };
            }
        }
    }

    fn is_copy(&self) -> bool {
        clones::<M>()
    }

    fn join(&self) -> Option<Join> {
        self.join
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
        if const { can_leak::<A>() } {
            let &Self { map, op, .. } = self;
            // SAFETY: As the caller promises.
            let one_by_one = || unsafe {
                combine_one_by_one::<A, E, M, O>(&panels.block(at), &mut { map }, op);
            };
            if panels.width == WIDE {
                dispatch_or(CombinePanels::<_, WIDE> { at, panels, loops: self }, |_| one_by_one());
            } else {
                dispatch_or(CombinePanels::<_, NARROW> { at, panels, loops: self }, |_| one_by_one());
            }
        }
    }

    unsafe fn one(&self, at: &Pointers) -> A {
        // SAFETY: The caller promises these elements.
        { self.map }.map(unsafe { E::refs_at::<0>(at, 0) })
    }
}

/// Combines panels of `N` neighbours.
struct CombinePanels<'n, L, const N: usize> {
    at: &'n Pointers,
    /// The caller of `ElementLoops::panels` promised their elements.
    panels: &'n Panels<'n>,
    loops: &'n L,
}

impl<M: MapElement<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>, const N: usize> Work
    for CombinePanels<'_, MapReduce<M, A, E, O>, N>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let &MapReduce { mut map, op, .. } = self.loops;
        // SAFETY: See the field.
        unsafe { E::panels::<A, M, O, N>(self.at, self.panels, &mut map, op) };
    }
}

/// Whether partial results may be leaked, and a block holds several of them.
pub(crate) const fn can_leak<A>() -> bool {
    !needs_drop::<A>() && size_of::<A>() > 0 && size_of::<A>() <= 64 && align_of::<A>() <= 64
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
#[derive(Clone, Copy)]
pub(crate) struct AddedScaled<F>(pub(crate) F);

impl<A: Clone + Zero + Mul<Output = A>> Visit<A, (A,)> for AddedScaled<&A> {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (element,): (&A,)) {
        add(out, self.0.clone() * element.clone());
    }
}

/// The loops that combine elements: contiguous ones, and, as [`ElementLoopsOf`] them, those of an array.
pub(crate) trait Fold<A>: ElementLoopsOf<A, (A,)> {
    fn apply(&self, a: A, b: A) -> A;

    /// Whether no other element can change these results; of none, whether the operation has such results.
    fn are_final(&self, results: &[A]) -> bool;

    /// Adds a row to sums: an element to each of the first ones.
    fn add_row(&self, sums: &mut [A], row: &[A]);

    /// Appends the sum of rows of `width` elements for each group of `len` elements. The last elements of a group that are no whole row
    /// are left out. Groups of rows of one element are lanes.
    fn sum_rows(&self, elements: &[A], len: usize, width: usize, to: &mut SliceVec<'_, A>);
}

/// The loops of an operation on the elements of an array. On a CPU that is found to have no AVX2, they call the operation for each
/// pair, in the same order.
pub(crate) type FoldLoops<A, O> = MapReduce<Cloned, A, (A,), O>;
