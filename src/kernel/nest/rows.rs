//! Where types stop: the objects that know the types behind a nest's pointers, and the functions that follow these pointers.
//! Only the methods of [`Rows`] and [`ElementLoops`] are compiled for each closure.
//!
//! # What is trusted
//! - [`Elements`] is implemented here, for tuples, whose methods treat every pointer alike. `INFO` has the sizes of the elements,
//!   the sets of inputs for which `row` and `panels` have loops, and the inputs whose elements are plain numbers.
//! - [`RowsOf`], [`FillsOf`] and [`ElementLoopsOf`] tie an object to the types of [`Inputs`] and [`Output`]. A nest is made of both
//!   at once.
//! - [`Block`] and [`Panels`] are made in `cut` and `panels` only, and their fields are private to `nest`. They lead to elements
//!   of the nest that they were made from, to each output once, or to copies of its elements.
//! - [`Written`] counts slots of its brand. Only functions that write slots make one.
//! - Threads share passes that are `Send`, and halves of sources with [`SendHalves`]: see [`Half`].
//! - The other files of `nest` have no unsafe code, but keep its invariant.

use super::arrange::RawOutput;
use super::cut::{Block, advance, for_each_index};
use super::gather::{Gather, copy_share, copy_to_output, gather, gather_of};
use super::panels::{NARROW, PanelLoops, Panels, WIDE};
use super::{
    BaseInputs, BaseOutput, Dropped, ErasedNest, Form, InputSet, Inputs, Nest, OPERANDS, Output, Pointers,
    RawInputs, SMALL_NEST, Steps, StridedAxes, Written, is_dense, standard_len, standard_strides, steps,
};
use crate::kernel::memory::{CACHE_LINE, STACK_BYTES, Scratch, Slot, Slots};
use crate::kernel::operation::Operation;
use crate::kernel::reduce::{Fold, FoldLoops};
use crate::kernel::simd::{Work, dispatch_or, is, plain_size};
use crate::kernel::source::{Added, AddedScaled, Cloned, Prepare, Source};
use crate::kernel::threads::{GRAIN, in_parts, in_two, is_worth_halving};
use crate::kernel::{ensure, map};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::iter::zip;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop, replace};
use core::ops::Mul;
use core::ptr::null_mut;
use core::slice;
use ndarray::{ArrayView, ArrayViewMut, Dimension};
use num_traits::Zero;

/// Facts about the elements of inputs that the untyped parts of the kernel need.
///
/// Not exported; public because [`Elements`] has one.
pub struct ElementInfo {
    /// The number of inputs.
    pub(super) count: usize,
    /// The bytes of an element of each operand; 0 for the output.
    pub(super) sizes: [usize; OPERANDS],
    /// The sets of inputs for which [`Elements::row`] has a loop, along which these move and the others stay.
    pub(super) row_loops: &'static [InputSet],
    /// The inputs whose elements are plain numbers.
    pub(super) plain: fn() -> InputSet,
    /// What copies the elements of each input, if they are plain numbers.
    pub(super) gathers: [Gather; OPERANDS],
}

/// The types of the inputs' elements: a tuple of up to six.
///
/// Not exported; public because hidden parts of public traits name it.
///
/// # Safety
/// The methods read pointers `1..=COUNT` only, each as a pointer to elements of the type at its place.
#[allow(missing_docs, reason = "not exported")]
pub unsafe trait Elements {
    type Refs<'r>
    where
        Self: 'r;

    const COUNT: usize = Self::INFO.count;

    /// The facts that the untyped parts of the kernel need.
    #[doc(hidden)]
    const INFO: ElementInfo;

    /// The element of each input: at `place` for the inputs in `MOVING`, and the first one for the others.
    ///
    /// # Safety
    /// Each pointer points to an element that is borrowed for `'r`; for the inputs in `MOVING`, to more than `place` of them.
    #[doc(hidden)]
    unsafe fn refs_at<'r, const MOVING: u8>(at: &Pointers, place: usize) -> Self::Refs<'r>
    where
        Self: 'r;

    /// Visits each element of a row with an element of each input.
    ///
    /// # Safety
    /// Each pointer points to an element that is borrowed; for the inputs in `moving`, to as many as the output has.
    #[doc(hidden)]
    unsafe fn row<T, V: Visit<T, Self>>(out: &mut [T], at: &Pointers, moving: InputSet, visit: &mut V);

    /// Combines the elements of `N` neighbours at each step of each panel.
    ///
    /// # Safety
    /// At each step, each pointer points to an element that is borrowed; for the inputs in `panels.moving`, to `N`. The output
    /// has `N` elements, which may be uninitialised unless `panels.is_added`.
    #[doc(hidden)]
    #[allow(private_interfaces, private_bounds, reason = "not exported")]
    unsafe fn panels<A: Clone, M: MapElement<A, Self>, O: Operation<A>, const N: usize>(
        at: &Pointers,
        panels: &Panels<'_>,
        map: &mut M,
        op: O,
    ) where
        Self: Sized;
}

/// A function that changes an element of the output, from the elements of the inputs at its index.
///
/// Not exported; public because [`Elements`] names it.
pub trait Visit<T, E: Elements + ?Sized> {
    #[doc(hidden)]
    fn visit(&mut self, out: &mut T, items: E::Refs<'_>);
}

/// A function from the elements of the inputs at an index to a result.
pub(crate) trait MapElement<R, E: Elements> {
    fn map(&mut self, items: E::Refs<'_>) -> R;
}

/// The [`InputSet`] of the inputs that move along a row, known to the compiler.
struct Moving<const INPUTS: u8>;

impl<const INPUTS: u8> Moving<INPUTS> {
    /// The place in the slice of operand `k` at place `i` of the row.
    #[inline(always)]
    fn place(k: usize, i: usize) -> usize {
        if InputSet(INPUTS).contains(k) { i } else { 0 }
    }
}

macro_rules! elements {
    ($count:literal $row:ident: $($A:ident $a:ident $k:literal),*; $($moving:literal)*) => {
        #[inline(always)]
        fn $row<const INPUTS: u8, T, $($A,)* V: Visit<T, ($($A,)*)>>(
            _: Moving<INPUTS>,
            out: &mut [T],
            ($($a,)*): ($(&[$A],)*),
            visit: &mut V,
        ) {
            // Slices as parameters: LLVM knows that they do not alias, and vectorises.
            #[inline]
            fn row<const INPUTS: u8, T, $($A,)* V: Visit<T, ($($A,)*)>>(
                out: &mut [T],
                $($a: &[$A],)*
                visit: &mut V,
            ) {
                let len = out.len();
                $(let $a = &$a[..Moving::<INPUTS>::place($k, len - 1) + 1];)*
                for i in 0..len {
                    visit.visit(&mut out[i], ($(&$a[Moving::<INPUTS>::place($k, i)],)*));
                }
            }
            row::<INPUTS, T, $($A,)* V>(out, $($a,)* visit);
        }

        // SAFETY: The macro writes the same code for every place of the tuple, with the pointer and the type at that place.
        unsafe impl<$($A),*> Elements for ($($A,)*) {
            type Refs<'r> = ($(&'r $A,)*) where Self: 'r;

            const INFO: ElementInfo = {
                let (mut sizes, mut gathers) = ([0; OPERANDS], [gather_of(size_of::<A>()); OPERANDS]);
                $((sizes[$k], gathers[$k]) = (size_of::<$A>(), gather_of(size_of::<$A>()));)*
                let plain = || InputSet(0 $(| u8::from(plain_size::<$A>().is_some()) << ($k - 1))*);
                ElementInfo { count: $count, sizes, row_loops: &[$(InputSet($moving)),*], plain, gathers }
            };

            #[inline(always)]
            unsafe fn refs_at<'r, const MOVING: u8>(at: &Pointers, place: usize) -> Self::Refs<'r>
            where
                Self: 'r,
            {
                // SAFETY: The caller promises these elements.
                ($(unsafe { &*at[$k].cast::<$A>().add(Moving::<MOVING>::place($k, place)) },)*)
            }

            #[inline(always)]
            unsafe fn row<T, V: Visit<T, Self>>(
                out: &mut [T],
                at: &Pointers,
                moving: InputSet,
                visit: &mut V,
            ) {
                let len = |k: usize| if moving.contains(k) { out.len() } else { 1 };
                // SAFETY: The caller promises these elements.
                $(let $a = unsafe { slice::from_raw_parts(at[$k].cast::<$A>(), len($k)) };)*
                let slices = ($($a,)*);
                match moving.0 {
                    $($moving => $row(Moving::<$moving>, out, slices, visit),)*
                    _ => unreachable!("no row loop for these inputs"),
                }
            }

            #[inline(always)]
            #[allow(private_interfaces, private_bounds, reason = "not exported")]
            unsafe fn panels<R: Clone, M: MapElement<R, Self>, O: Operation<R>, const N: usize>(
                at: &Pointers,
                panels: &Panels<'_>,
                map: &mut M,
                op: O,
            ) {
                match panels.moving.0 {
                    // SAFETY: The caller promises these elements.
                    $($moving => unsafe { combine::<R, Self, M, O, N, $moving>(at, panels, map, op) },)*
                    _ => unreachable!("no row loop for these inputs"),
                }
            }
        }
    };
}
// Each set has loops of its own in each closure. That of five inputs with some that stay is a row of a layer norm: an array and the
// mean and deviation of its row, scaled and shifted by two rows.
elements!(1 row1: A a 1; 0b1 0b0);
elements!(2 row2: A a 1, B b 2; 0b11 0b01 0b10);
elements!(3 row3: A a 1, B b 2, C c 3; 0b111 0b011 0b101 0b110 0b001 0b010 0b100);
elements!(4 row4: A a 1, B b 2, C c 3, D d 4; 0b1111 0b0111 0b1011 0b1101 0b1110 0b0011);
elements!(5 row5: A a 1, B b 2, C c 3, D d 4, E e 5; 0b11111 0b11001);
elements!(6 row6: A a 1, B b 2, C c 3, D d 4, E e 5, G g 6; 0b11_1111);

/// [`Elements::panels`] for one set of moving inputs.
///
/// # Safety
/// As for [`Elements::panels`].
#[inline(always)]
unsafe fn combine<
    A: Clone,
    E: Elements,
    M: MapElement<A, E>,
    O: Operation<A>,
    const N: usize,
    const MOVING: u8,
>(
    at: &Pointers,
    panels: &Panels<'_>,
    map: &mut M,
    op: O,
) {
    // local copies: LLVM knows that writes to the output do not change them
    let (mut first_at, panel_strides, step_strides) = (*at, *panels.panel_strides, *panels.step_strides);
    let (count, steps, is_added, overlap) = (panels.count, panels.steps, panels.is_added, panels.overlap);
    for _ in 0..count {
        let mut at = first_at;
        let mut sums = [const { MaybeUninit::<A>::uninit() }; N];
        for i in 0..N {
            // SAFETY: The caller promises these elements.
            sums[i].write(map.map(unsafe { E::refs_at::<MOVING>(&at, i) }));
        }
        advance(&mut at, &step_strides, E::COUNT);
        let out = first_at[0].cast::<A>();
        // SAFETY: The caller promises these elements. Every sum was written.
        unsafe {
            for _ in 1..steps {
                // LLVM would change some of these sums, of a maximum, by masked stores: seven times as long
                let mut next = [const { MaybeUninit::<A>::uninit() }; N];
                for i in 0..N {
                    let element = map.map(E::refs_at::<MOVING>(&at, i));
                    next[i].write(op.apply(sums[i].assume_init_ref().clone(), element));
                }
                sums = next;
                advance(&mut at, &step_strides, E::COUNT);
            }
            for i in 0..N {
                let (sum, out) = (sums[i].assume_init_ref().clone(), out.add(i));
                out.write(match is_added {
                    false => sum,
                    // wide panels do not overlap: with this branch, LLVM would not vectorise some operations on them
                    true if const { N == NARROW } && i < overlap => (*out).clone(),
                    true => op.apply((*out).clone(), sum),
                });
            }
        }
        advance(&mut first_at, &panel_strides, E::COUNT);
    }
}

/// [`Elements::panels`] for any number of neighbours, one after the other.
///
/// # Safety
/// As for [`Elements::panels`].
#[inline(never)]
unsafe fn combine_one_by_one<A: Clone, E: Elements, M: MapElement<A, E>, O: Operation<A>>(
    at: &Pointers,
    panels: &Panels<'_>,
    map: &mut M,
    op: O,
) {
    let (&Panels { count, width, steps, is_added, overlap, .. }, mut panel_at) = (panels, *at);
    for _ in 0..count {
        let mut first_at = panel_at;
        for i in 0..width {
            if i >= overlap {
                // SAFETY: The caller promises these elements.
                unsafe {
                    let (mut at, mut sum) = (first_at, map.map(E::refs_at::<0>(&first_at, 0)));
                    for _ in 1..steps {
                        advance(&mut at, panels.step_strides, E::COUNT);
                        sum = op.apply(sum, map.map(E::refs_at::<0>(&at, 0)));
                    }
                    let out = first_at[0].cast::<A>();
                    out.write(if is_added { op.apply((*out).clone(), sum) } else { sum });
                }
            }
            advance(&mut first_at, panels.neighbours, E::COUNT);
        }
        advance(&mut panel_at, panels.panel_strides, E::COUNT);
    }
}

/// Loops over the rows of blocks.
pub(crate) trait Rows {
    /// # Safety
    /// The elements at every index of the block have the types of this object. Those of the inputs are borrowed. Those of the
    /// output are borrowed exclusively, are different ones, and may be uninitialised if this object writes slots.
    unsafe fn rows(&self, block: &Block);

    /// Whether all that `rows` does is to clone the elements of the one input.
    fn is_copy(&self) -> bool {
        false
    }
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
type Invariant<T> = PhantomData<fn(T) -> T>;

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

    fn is_copy(&self) -> bool {
        clones::<V>()
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

    fn is_copy(&self) -> bool {
        clones::<V>()
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

/// Whether a visitor clones an input's element to the output, which has its type then.
fn clones<V>() -> bool {
    is::<V, Cloned>() || is::<V, Write<Cloned>>()
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

impl<'a, A, B> Inputs<'a, (A, B)> {
    /// The elements of each array, if it is in standard layout and has some.
    #[inline]
    pub(crate) fn as_slices(&self) -> (Option<&'a [A]>, Option<&'a [B]>) {
        let [first, second] = [self.standard_len(0), self.standard_len(1)];
        let (a, b) = (self.at[0].cast(), self.at[1].cast());
        // SAFETY: The elements are contiguous, as was just checked. Inputs are made of arrays of these types, which they borrow
        // for `'a`.
        unsafe {
            (first.map(|len| slice::from_raw_parts(a, len)), second.map(|len| slice::from_raw_parts(b, len)))
        }
    }
}

impl<'a, A> Output<'a, Slot<'_, A>> {
    /// The slots of an array that is not initialised.
    ///
    /// # Safety
    /// There is memory at every index, borrowed exclusively for `'a`. `'s` is fresh: no other slots have it.
    #[inline(always)]
    pub(crate) unsafe fn slots(at: *mut A, sizes: &'a [usize], strides: &'a [isize]) -> Self {
        Self { at: at.cast(), axes: StridedAxes { sizes, strides }, array: PhantomData }
    }
}

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
struct ShapePass<'p, 's, R: ?Sized> {
    shape: &'p [usize],
    out: RawOutput<'p>,
    dropped: Dropped<'p>,
    inputs: &'p RawInputs<'p>,
    pass: RowPass<'p, 's, R>,
}

impl<'p, 's, R: ?Sized> ShapePass<'p, 's, R> {
    #[inline(always)]
    fn new(out: RawOutput<'p>, inputs: &'p RawInputs<'p>, rows: &'p R) -> Self {
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
    fn run_few(&self) -> Option<usize> {
        let mut block = Block::new(self.inputs.pointers(self.out.at));
        let count = block.set_small(self.shape, &self.out, self.dropped, self.inputs)?;
        if count > 0 {
            // SAFETY: The block leads to the elements at each index of the shape. They have the types of `rows`.
            unsafe { visit_few(self.pass.rows, &block, self.inputs.info) };
        }
        Some(count)
    }

    fn run(self) -> Written<'s> {
        match self.run_few() {
            Some(count) => Written(count, PhantomData),
            None => self.run_nest(),
        }
    }

    #[inline(never)]
    fn run_nest(self) -> Written<'s> {
        let mut erased = ErasedNest::new();
        let Some(mut nest) = self.nest(&mut erased) else { return Written::none() };
        if nest.is_copy() && steps(nest.loops()) <= SMALL_NEST {
            return nest.run_copy();
        }
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

/// Visits the rows of a block, a few at a time where inputs are [copied](Block::copied).
///
/// # Safety
/// As for [`Rows::rows`]. `info` is about the inputs.
#[inline]
unsafe fn visit_few(rows: &dyn Rows, block: &Block, info: &ElementInfo) {
    // SAFETY: As the caller promises.
    unsafe {
        match block.copied {
            InputSet::NONE => rows.rows(block),
            _ if rows.is_copy() => copy_to_output(&[block.rows, block.row], &block.at, info),
            _ => visit_copies(rows, block, info),
        }
    }
}

/// # Safety
/// As for [`visit_few`].
#[inline(never)]
unsafe fn visit_copies(rows: &dyn Rows, block: &Block, info: &ElementInfo) {
    let ((at_once, share), mut scratch) = (block.copies(info), Scratch::new());
    for done in (0..block.rows.len).step_by(at_once) {
        let mut part = *block;
        part.at = block.rows.moved(&block.at, [done; 2]);
        part.rows.len = at_once.min(block.rows.len - done);
        let (loops, mut rest) = ([part.rows, part.row], scratch.bytes(STACK_BYTES));
        for k in block.copied.operands() {
            let (copy, after) = rest.split_at_mut(share);
            // SAFETY: The caller promises the elements. A copy begins with a cache line.
            unsafe { gather(&loops, &part.at, k, info, copy) };
            let size = info.sizes[k].cast_signed();
            (part.at[k], part.row.strides[k]) = (copy.as_mut_ptr().cast(), size);
            part.rows.strides[k] = size * part.row.len.cast_signed();
            rest = after;
        }
        part.rows.merge(&mut part.row, info.count + 1);
        // SAFETY: The caller promises the elements. A copy has elements of the same type.
        unsafe { rows.rows(&part) };
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
    fn new(rows: &'a R) -> Self {
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
            unsafe { gather(&moving.loops, &moving.operands.at, k, moving.operands.info, copy) };
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
    /// Whether the pass copies plain numbers.
    fn is_copy(&self) -> bool {
        self.pass.rows.is_copy() && self.erased.is_plain(1)
    }

    /// Copies each element of the only input.
    fn run_copy(self) -> Written<'s> {
        let ErasedNest { loops, operands } = self.erased;
        // SAFETY: By the invariant. The output has elements of the same type.
        unsafe { copy_to_output(loops, &operands.at, operands.info) };
        Written(steps(loops), PhantomData)
    }

    /// Visits each index, in blocks of the two innermost loops.
    pub(crate) fn run_rows(self) -> Written<'s> {
        let (rows, mut count) = (self.pass.rows, 0);
        ensure(self.erased.has_distinct_outputs(), "an element of the output is visited twice");
        if self.is_copy() && self.loops().iter().all(|l| l.strides[1] != 0) {
            return self.run_copy();
        }
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
        ensure(self.erased.has_distinct_outputs(), "an element of the output is visited twice");
        let (rows, info) = (self.pass.rows, self.erased.operands.info);
        let (mut count, mut scratch) = (0, Scratch::new());
        if self.is_copy() {
            self.erased.for_each_tile(tile, &mut |part, tiles| {
                for_each_index(tiles, &part.operands.at, &mut |first| {
                    // SAFETY: By the invariant. The output has elements of the same type.
                    unsafe { copy_to_output(&part.loops, first, info) };
                });
            });
            return Written(steps(&self.erased.loops), PhantomData);
        }
        let largest = self.erased.sizes().iter().copied().max().unwrap_or(0);
        let in_tile = zip(&*self.erased.loops, tile).map(|(l, &steps)| l.len.min(steps.max(1)));
        let share =
            in_tile.fold(largest, usize::saturating_mul).div_ceil(CACHE_LINE).saturating_mul(CACHE_LINE);
        let share = share.min(copy_share(most));
        let (copies, mut dense) = (scratch.bytes(share * most), ErasedNest::new());
        self.erased.for_each_tile(tile, &mut |part, tiles| {
            let copied = if most == 0 { InputSet::NONE } else { part.to_copy() };
            dense.copy_from(part);
            for k in copied.operands() {
                dense.set_dense(k, null_mut(), |_| true);
            }
            dense.merge();
            let ((mut block, outer), mut copies_of) = (dense.block(), [null_mut(); OPERANDS]);
            for_each_index(tiles, &{ part.operands.at }, &mut |first| {
                for k in copied.operands() {
                    if replace(&mut copies_of[k], first[k]) != first[k] {
                        // SAFETY: By the invariant, the inputs are borrowed. Shares of the memory are as aligned as all plain numbers.
                        unsafe {
                            gather(&part.loops, first, k, info, &mut copies[(k - 1) * share..][..share])
                        };
                    }
                }
                // pointers are taken after all copies are made: the next copy would invalidate them
                let (mut at, start) = (*first, copies.as_mut_ptr().cast::<u8>());
                for k in copied.operands() {
                    at[k] = start.wrapping_add((k - 1) * share);
                }
                block.for_each_along(outer, &at, &mut |block| {
                    count += block.outputs();
                    // SAFETY: By the invariant, `rows` has the types of the operands. A copy has elements of the same type.
                    unsafe { rows.rows(block) };
                });
            });
        });
        Written(count, PhantomData)
    }
}

/// Where results are stored: in slots of a new array, or in elements of an existing one.
pub(crate) struct Destination<'t, 's, A> {
    out: RawOutput<'t>,
    /// Stores results in elements; `None` for slots.
    store: Option<&'t dyn Rows>,
    types: Invariant<(&'s (), A)>,
}

impl<'t, 's, A> Destination<'t, 's, A> {
    #[inline]
    pub(crate) fn slots(out: Output<'t, Slot<'s, A>>) -> Self {
        Self { out: out.raw(), store: None, types: PhantomData }
    }

    #[inline]
    pub(crate) fn shape(&self) -> &'t [usize] {
        self.out.axes.sizes
    }

    /// The slots in the order of the axes, if they are contiguous in this order.
    #[inline]
    pub(crate) fn into_slots(self) -> Result<Slots<'t, 's, A>, Self> {
        let len = if self.store.is_some() { None } else { standard_len(self.out.axes) };
        // SAFETY: The slots are contiguous, and the destination had them alone.
        len.map(|len| unsafe { Slots::new(self.out.at.cast(), len) }).ok_or(self)
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
    pub(crate) fn write(
        self,
        source: &Source<'_, A>,
        shape: &[usize],
        len: usize,
        dropped: Dropped<'_>,
    ) -> Result<Written<'s>, Self> {
        if self.store.is_some() || source.prepare().is_some() {
            return Err(self);
        }
        let rows: &dyn Rows = source.element_loops();
        let pass = ShapePass { shape, dropped, ..ShapePass::new(self.out, source.inputs(), rows) };
        match pass.run_few() {
            Some(count) => Ok(Written(count, PhantomData)),
            // nothing is reduced
            None if source.halves().is_none() && len == self.shape().iter().product() => Ok(pass.run_nest()),
            None => Err(self),
        }
    }

    /// Has `fill` write the results to slots: those of the destination, or others, whose elements are stored then.
    pub(crate) fn fill_by(
        self,
        fill: impl for<'t> FnOnce(Destination<'_, 't, A>) -> Written<'t>,
    ) -> Written<'s> {
        let Some(store) = self.store else { return fill(self) };
        let sizes = self.out.axes.sizes;
        let (strides, len, mut scratch) = (standard_strides(sizes), sizes.iter().product(), Scratch::new());
        let mut results = scratch.vec::<A>(len);
        let results = results.filled(len, |mut slots| {
            let out = standard_output(&mut slots, sizes, &strides);
            fill(Destination { out, store: None, types: PhantomData })
        });
        let inputs = RawInputs {
            at: [results.as_ptr().cast(); OPERANDS - 1],
            sizes: [sizes; OPERANDS - 1],
            strides: [&strides; OPERANDS - 1],
            info: const { &<(A,)>::INFO },
        };
        ShapePass::new(self.out, &inputs, store).run()
    }
}

/// Slots as an output in standard layout.
fn standard_output<'o, A>(
    slots: &mut Slots<'_, '_, A>,
    sizes: &'o [usize],
    strides: &'o [isize],
) -> RawOutput<'o> {
    ensure(slots.len() == sizes.iter().product(), "not one slot for each element");
    RawOutput { at: slots.start().cast(), size: size_of::<A>(), axes: StridedAxes { sizes, strides } }
}

/// No slots have the brand `'static`.
impl<'t, A> Destination<'t, 'static, A> {
    #[inline]
    pub(crate) fn elements<S: Store<A>>(out: Output<'t, A>, store: &'t SharedVisitor<S, A, (A,)>) -> Self {
        Self { out: out.raw(), store: Some(store), types: PhantomData }
    }
}

/// Stores a result in an element.
///
/// # Safety
/// Threads may share it if they may share elements.
pub(crate) unsafe trait Store<A>: Visit<A, (A,)> + Copy {}

// SAFETY: It has no state.
unsafe impl<A: Clone> Store<A> for Cloned {}
// SAFETY: It has no state.
unsafe impl<A: Clone + Zero> Store<A> for Added {}
// SAFETY: It has a reference to an element.
unsafe impl<A: Clone + Zero + Mul<Output = A>> Store<A> for AddedScaled<'_, A> {}

/// A pass that reduces a source. If its output has slots, their brand is `'s`.
pub(crate) struct Reduction<'a, 's, A> {
    source: &'a Source<'a, A>,
    /// Stores results in elements; `None` for slots, or without outputs.
    store: Option<&'a dyn Rows>,
    brand: Invariant<&'s ()>,
}

impl<A> Clone for Reduction<'_, '_, A> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Reduction<'_, '_, A> {}

/// Runs a half of a reduction. Its results are written or returned. Not a closure, which might have state.
type RunHalf<'a, 's, A> = fn(Nest<'_, Reduction<'a, 's, A>>, &mut Scratch) -> (Written<'s>, Vec<A>);

/// A half of a reduction, which may be sent to another thread.
struct Half<'n, 'a, 's, A> {
    nest: Option<Nest<'n, Reduction<'a, 's, A>>>,
    run: RunHalf<'a, 's, A>,
    result: Option<(Written<'s>, Vec<A>)>,
}

// SAFETY: [`SendHalves`] alone sends them, which requires `Send` and `Sync` of elements, `Sync` of inputs' elements and operations;
// a parallel source has closures that are `Sync`. [`Source::prepared`] adds a shared element only. For `store`, see [`Store`].
// Copies of inputs are plain numbers, which both halves read.
unsafe impl<A> Send for Half<'_, '_, '_, A> {}

/// Runs halves of reductions to elements `A` on two threads. Only parallel calls make one, so that other programs do not link a thread
/// pool.
#[derive(Clone)]
pub(crate) struct SendHalves<A>(fn(&mut Half<'_, '_, '_, A>, &mut Half<'_, '_, '_, A>));

impl<A: Send + Sync> SendHalves<A> {
    /// For a source of these inputs and this operation.
    #[inline(always)]
    pub(crate) fn of<E: Sync, O: Sync>(_: &Inputs<'_, E>, _: &FoldLoops<A, O>) -> Self {
        Self(|first, second| {
            in_two(|| first.run(), || second.run());
        })
    }
}

impl<A> Half<'_, '_, '_, A> {
    #[inline]
    fn run(&mut self) {
        self.result = self.nest.take().map(|nest| (self.run)(nest, &mut Scratch::new()));
    }
}

impl<'n, 'a, 's, A: Clone> Nest<'n, Reduction<'a, 's, A>> {
    /// A nest along the axes of `shape`, that of the source. The destination has its axes that are not `dropped`, in order, each
    /// with the same size or with size 1. Without a set of dropped axes, the destination lacks the leading ones. `None` if there
    /// is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    #[inline]
    pub(crate) fn reducing(
        erased: &'n mut ErasedNest,
        source: &'a Source<'a, A>,
        shape: &[usize],
        destination: Option<Destination<'a, 's, A>>,
        dropped: Dropped<'_>,
    ) -> Option<Self> {
        let (out, store) = match destination {
            None => (None, None),
            Some(Destination { out, store, .. }) => (Some(out), store),
        };
        if erased.build(shape, out, dropped, source.inputs()) {
            return None;
        }
        Some(Self { erased, pass: Reduction { source, store, brand: PhantomData } })
    }

    /// The results of `run` for both [`halves`](Self::halves) of the nest. They may run on two threads, each with scratch of its own.
    #[inline]
    pub(crate) fn run_halves(
        self,
        place: usize,
        scratch: &mut Scratch,
        run: RunHalf<'a, 's, A>,
    ) -> [(Written<'s>, Vec<A>); 2] {
        let send = self.pass.source.halves().filter(|_| is_worth_halving(self.loops(), GRAIN));
        let mut second = ErasedNest::on_heap();
        let [first, second] = self.halves(place, &mut second);
        let Some(send) = send else { return [run(first, scratch), run(second, scratch)] };
        let mut first = Half { nest: Some(first), run, result: None };
        let mut second = Half { nest: Some(second), run, result: None };
        send.0(&mut first, &mut second);
        [first.result, second.result].map(|result| result.expect("both have run"))
    }

    /// The loops that combine elements.
    #[inline]
    pub(crate) fn fold(&self) -> &'a dyn Fold<A> {
        self.pass.source.fold()
    }

    /// Whether the elements to combine are stored: those of an array, unchanged.
    #[inline]
    pub(crate) fn is_stored(&self) -> bool {
        self.pass.source.is_stored() && self.pass.source.prepare().is_none()
    }

    /// The nest with its loops ordered by the strides of the inputs. See [`arrange`](ErasedNest::arrange).
    pub(crate) fn arranged(self) -> Self {
        self.erased.arrange(1);
        self
    }

    /// The nest with long rows next to short lanes. See [`lengthen_rows`](ErasedNest::lengthen_rows).
    pub(crate) fn with_long_rows(self) -> Self {
        if !self.is_stored() {
            self.erased.lengthen_rows();
        }
        self
    }

    /// The nest with short lanes outside of long rows. See [`turn_short_lanes`](ErasedNest::turn_short_lanes).
    pub(crate) fn turned(self) -> Self {
        // the elements of an array are read where they are
        self.erased.turn_short_lanes(!self.pass.source.is_stored());
        self
    }

    /// The inputs to copy, and the bytes of their copies. The elements of an array are read where they are.
    pub(crate) fn to_copy(&self) -> (InputSet, usize) {
        if self.pass.source.is_stored() { (InputSet::NONE, 0) } else { self.erased.read_again() }
    }

    /// The stored elements, if they are contiguous in the order of the loops.
    #[inline]
    pub(crate) fn elements(&self) -> Option<&'n [A]> {
        let loops = &self.erased.loops[..];
        let is_adjacent = self.is_stored() && is_dense(loops, 1, size_of::<A>());
        // SAFETY: By the invariant, input 1 is the source's array, and all of these are its elements.
        is_adjacent.then(|| unsafe { slice::from_raw_parts(self.erased.operands.at[1].cast(), steps(loops)) })
    }

    /// The place of the sum loop, along which elements are combined in registers, if there is one, and the number of sums along it.
    #[inline]
    pub(crate) fn sum_loop(&self) -> Option<(usize, usize)> {
        let fits_panels = const { fits_panels::<A>() } && self.pass.source.prepare().is_none();
        if fits_panels { self.erased.sum_loop(size_of::<A>(), self.is_stored()) } else { None }
    }

    /// Writes sums along the [sum loop](Self::sum_loop) to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs, or if there is no such loop.
    #[inline]
    pub(crate) fn sum_along<'t>(self, mut slots: Slots<'_, 't, A>) -> Written<'t> {
        let sum_loop = self.sum_loop().expect("a sum loop");
        let (element_loops, len) = (self.pass.source.element_loops(), slots.len());
        let out = (slots.start().cast(), len, size_of::<A>());
        self.erased.for_each_sums(sum_loop, out, &mut |at, panels| {
            // SAFETY: By the invariant, `element_loops` has the types of the inputs. There is a slot for each sum.
            unsafe { element_loops.panels(at, panels) };
        });
        Written(len, PhantomData)
    }

    /// Writes the elements to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs.
    #[inline]
    pub(crate) fn fill<'t>(self, mut slots: Slots<'_, 't, A>) -> Written<'t> {
        let (source, len, erased) = (self.pass.source, slots.len(), self.erased);
        if source.is_stored() && erased.is_plain(1) {
            ensure(len == steps(&erased.loops), "not one slot for each element");
            // SAFETY: By the invariant, the input is borrowed. Slots are as aligned as their elements, which are the input's.
            unsafe {
                gather(&erased.loops, &erased.operands.at, 1, erased.operands.info, slots.into_bytes())
            };
            return Written(len, PhantomData);
        }
        erased.set_output(slots.start().cast(), len, size_of::<A>());
        let rows: &dyn Rows = source.element_loops();
        map::run(Nest { erased, pass: RowPass::new(rows) })
    }

    /// The function that changes elements before they are combined, if there is one.
    #[inline]
    pub(crate) fn prepare(&self) -> Option<Prepare<'a, A>> {
        self.pass.source.prepare()
    }

    /// Stores results in the outputs, in the order of the kept loops.
    ///
    /// # Panics
    /// If there are more or fewer results than outputs, or no output.
    #[inline]
    pub(crate) fn store_results(self, results: &[A]) -> Written<'s> {
        let store = self.pass.store.unwrap_or(self.fold());
        self.erased.set_input(results.as_ptr().cast(), results.len(), const { &<(A,)>::INFO });
        Nest { erased: self.erased, pass: RowPass::new(store) }.run_rows()
    }
}

impl<'a, A: Clone> Source<'a, A> {
    /// Writes the elements to slots, in the order of the source's `shape`.
    ///
    /// # Panics
    /// If the number of slots differs.
    #[inline]
    pub(crate) fn fill<'t>(&self, shape: &[usize], mut slots: Slots<'_, 't, A>) -> Written<'t> {
        let mut erased = ErasedNest::new();
        let stored =
            if self.is_stored() { Nest::reducing(&mut erased, self, shape, None, None) } else { None };
        if let Some(nest) = stored {
            return nest.fill(slots);
        }
        let (strides, rows): (_, &dyn Rows) = (standard_strides(shape), self.element_loops());
        ShapePass::new(standard_output(&mut slots, shape, &strides), self.inputs(), rows).run()
    }

    /// The stored elements, if there are some and they are contiguous in the order of the shape.
    #[inline]
    pub(crate) fn as_slice(&self) -> Option<&'a [A]> {
        let is_stored = self.is_stored() && self.prepare().is_none();
        let len = is_stored.then(|| self.inputs().standard_len(0))??;
        // SAFETY: The elements are contiguous, as was just checked. The constructors of sources take arrays of this type.
        Some(unsafe { slice::from_raw_parts(self.inputs().at[0].cast(), len) })
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

/// An item of a lane whose elements have drop glue or are large.
pub(crate) enum LaneItem<'l, A> {
    Element(A),
    /// The output of the elements before it.
    Output(&'l mut A),
}

/// Calls `then` with the elements of each lane, and after them with the lane's output.
///
/// # Panics
/// If an array does not fit the shape.
pub(crate) fn for_each_lane<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    out: Output<'_, A>,
    dropped: Dropped<'_>,
    then: &mut dyn FnMut(LaneItem<'_, A>),
) {
    let (mut erased, element_loops) = (ErasedNest::new(), source.element_loops());
    if erased.build(shape, Some(out.raw()), dropped, source.inputs()) {
        return;
    }
    erased.arrange(1);
    let mut tile = Steps::new();
    for l in &*erased.loops {
        tile.push(if l.kept { 1 } else { l.len });
    }
    erased.for_each_tile(&tile, &mut |part, lanes| {
        for_each_index(lanes, &{ part.operands.at }, &mut |at| {
            part.operands.at = *at;
            part.inputs(&mut ErasedNest::new()).for_each_block(&mut |block| {
                block.for_each(source.inputs().info.count, |at| {
                    // SAFETY: The source's loops have the types of its inputs.
                    let mut element = unsafe { element_loops.one(at) };
                    if let Some(prepare) = source.prepare() {
                        prepare(slice::from_mut(&mut element));
                    }
                    then(LaneItem::Element(element));
                });
            });
            // SAFETY: By the invariant, this is an element of the output.
            then(LaneItem::Output(unsafe { &mut *at[0].cast::<A>() }));
        });
    });
}

/// A pass over the batch axes of arrays. At each index it makes views of the last axes, the bases. A pointer leads to a base,
/// which may be empty.
pub(crate) struct Bases<'n, 'a, T, E, F, B: Dimension> {
    forms: &'n F,
    out: &'n Form<B>,
    arrays: PhantomData<(&'a E, T)>,
}

impl<T, E, F, B: Dimension> Clone for Bases<'_, '_, T, E, F, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E, F, B: Dimension> Copy for Bases<'_, '_, T, E, F, B> {}

/// The forms of the bases of one to three inputs.
///
/// # Safety
/// `views` makes a view from each pointer and the form at its place.
pub(crate) unsafe trait Forms<'a, E: Elements> {
    type Views;

    /// # Safety
    /// Each pointer leads to a base with the form at its place, borrowed for `'a`.
    unsafe fn views(&self, at: &Pointers) -> Self::Views;
}

macro_rules! forms {
    ($($T:ident $B:ident $k:tt $at:literal),+) => {
        // SAFETY: The macro writes the same code for every place.
        unsafe impl<'a, $($T: 'a, $B: Dimension),+> Forms<'a, ($($T,)+)> for ($(Form<$B>,)+) {
            type Views = ($(ArrayView<'a, $T, $B>,)+);

            #[inline(always)]
            unsafe fn views(&self, at: &Pointers) -> Self::Views {
                // SAFETY: The caller promises each base. A form's layout reaches the same elements as the form, from its own
                // start on. An empty base has none, so its pointer is not used.
                ($(self.$k.inverted(unsafe {
                    ArrayView::from_shape_ptr(self.$k.layout.clone(), self.$k.start(at[$at].cast::<$T>()).cast_const())
                }),)+)
            }
        }
    };
}
forms!(T A 0 1);
forms!(T A 0 1, U B 1 2);
forms!(T A 0 1, U B 1 2, V C 2 3);

impl<'n, 'a, T, E: Elements, F: Forms<'a, E>, B: Dimension> Nest<'n, Bases<'n, 'a, T, E, F, B>> {
    /// A nest over the batch axes of `out`; `None` if there is no index.
    ///
    /// # Panics
    /// If the batch axes of an input do not broadcast to those of `out`.
    pub(crate) fn of_bases(
        erased: &'n mut ErasedNest,
        inputs: &'n BaseInputs<'a, E, F>,
        out: &'n mut BaseOutput<'_, T, B>,
    ) -> Option<Self> {
        let BaseInputs { inputs, forms, bases } = inputs;
        let mut of_batches = inputs.raw;
        for (sizes, base) in of_batches.sizes.iter_mut().zip(bases) {
            *sizes = &sizes[..sizes.len() - base];
        }
        let batch = Output { at: out.batch.at, axes: out.batch.axes, array: PhantomData::<&mut T> };
        if erased.build(batch.axes.sizes, Some(batch.raw()), None, &of_batches) {
            return None;
        }
        erased.arrange(0);
        Some(Self { erased, pass: Bases { forms, out: &out.form, arrays: PhantomData } })
    }
}

impl<'a, T, E: Elements, F: Forms<'a, E>, B: Dimension> Nest<'_, Bases<'_, 'a, T, E, F, B>> {
    /// Calls `visit` with the bases at each index.
    #[inline]
    pub(crate) fn for_each(self, mut visit: impl FnMut(F::Views, ArrayViewMut<'_, T, B>)) {
        let Bases { forms, out, .. } = self.pass;
        ensure(self.erased.has_distinct_outputs(), "two bases of the output share elements");
        self.erased.for_each_block(&mut |block| {
            block.for_each(E::COUNT, |at| {
                // SAFETY: By the invariant, these are bases of the inputs, and a base of the output to which no other index
                // leads. The views do not outlive the call. For layouts, see `Forms::views`.
                unsafe {
                    let start = out.start(at[0].cast::<T>());
                    let view = out.inverted(ArrayViewMut::from_shape_ptr(out.layout.clone(), start));
                    visit(forms.views(at), view);
                }
            });
        });
    }
}
