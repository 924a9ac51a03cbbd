//! Where types stop: what knows the types of the elements at the pointers of a nest, and what follows these pointers. Of this, the
//! methods of [`Rows`] and [`Makes`] alone are compiled for each closure.
//!
//! # What is trusted
//! - [`Elements`] is implemented here for tuples, whose methods treat each pointer alike: `KINDS` has the sizes, the sets of inputs
//!   that `row` and `panels` have loops for, and which elements are plain numbers.
//! - [`RowsOf`] and [`MakesOf`] tie an object to the types that [`Inputs`] and [`Output`] have. A nest is made of both at once.
//! - [`Block`] and [`Panels`] are made by `cut` and `panels` alone, whose fields are private to `nest`: they lead to elements of the
//!   nest that they are made of, each output once, or to copies of these.
//! - [`Written`] counts slots of its brand: only what visits them makes one.

use super::arrange::RawOutput;
use super::cut::{Block, Tiles, advance, few};
use super::panels::{NARROW, Panels, RowGroups, Sums, WIDE};
use super::{
    Access, BaseInputs, BaseOutput, Dropped, Form, Inputs, Nest, OPERANDS, Output, Pointers, Reads, State,
    Steps, StridedAxes, Written, is_dense, standard_len, steps,
};
use crate::kernel::memory::{Copies, Slot, Slots, gather};
use crate::kernel::operation::Operation;
use crate::kernel::reduce::Fold;
use crate::kernel::simd::{Work, dispatch, dispatch_or, is_known, neutral, plain_size};
use crate::kernel::source::{Prepare, Source};
use crate::kernel::threads::{GRAIN, in_parts};
use crate::kernel::{ensure, map};
use core::cell::RefCell;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop};
use core::slice;
use ndarray::{ArrayView, ArrayViewMut, Dimension};

/// What is known of the elements of inputs without their types.
///
/// Not exported; public because [`Elements`] has one.
pub struct Kinds {
    /// The number of inputs.
    pub(super) count: usize,
    /// The bytes of an element of each operand, and 0 for the output.
    pub(super) sizes: [usize; OPERANDS],
    /// The sets of inputs for which [`Elements::row`] has a loop in which these move and the others stay: bit `k - 1` for
    /// operand `k`.
    pub(super) rows: &'static [u8],
    /// Bit `k` is set if the elements of operand `k` are plain numbers.
    pub(super) plain: fn() -> u8,
}

/// The types of the elements that are read: a tuple of up to six.
///
/// Not exported; public because hidden parts of public traits name it.
///
/// # Safety
/// `refs` and `row` are about pointers `1..=COUNT`, each to elements of its place's type.
#[allow(missing_docs, reason = "not exported")]
pub unsafe trait Elements {
    type Refs<'r>
    where
        Self: 'r;

    const COUNT: usize = Self::KINDS.count;

    /// What is known without the types.
    #[doc(hidden)]
    const KINDS: Kinds;

    /// The elements at a place of the inputs in `MOVING`, and the first ones of the others.
    ///
    /// # Safety
    /// Each pointer is to an element that is borrowed for `'r`, or to so many that there is one at this place if it moves.
    #[doc(hidden)]
    unsafe fn refs_at<'r, const MOVING: u8>(at: &Pointers, place: usize) -> Self::Refs<'r>
    where
        Self: 'r;

    /// Visits each element of a row with an element of each input.
    ///
    /// # Safety
    /// Each pointer is to an element that is borrowed, or as many as the output has if it is in `moving`.
    #[doc(hidden)]
    unsafe fn row<T, V: Visit<T, Self>>(out: &mut [T], at: &Pointers, moving: u8, visit: &mut V);

    /// Combines the elements of `N` neighbours at each step of each panel.
    ///
    /// # Safety
    /// At each step, each pointer is to an element that is borrowed, or to `N` if it is in `panels.moving`. The output has `N` elements, or
    /// places for them where nothing is added.
    #[doc(hidden)]
    #[allow(private_interfaces, private_bounds, reason = "not exported")]
    unsafe fn panels<A: Clone, M: Make<A, Self>, O: Operation<A>, const N: usize>(
        at: &Pointers,
        panels: &Panels<'_>,
        maker: (&mut M, O),
    ) where
        Self: Sized;
}

/// The elements that pointers lead to.
///
/// # Safety
/// Each pointer is to an element that is borrowed for `'r`.
#[inline(always)]
unsafe fn refs<'r, E: Elements + 'r>(at: &Pointers) -> E::Refs<'r> {
    // SAFETY: As the caller promises.
    unsafe { E::refs_at::<0>(at, 0) }
}

/// Changes an element of the output by the elements at its index.
///
/// Not exported; public because [`Elements`] names it.
pub trait Visit<T, E: Elements + ?Sized> {
    #[doc(hidden)]
    fn visit(&mut self, out: &mut T, items: E::Refs<'_>);
}

/// Makes a result of the elements at an index.
pub(crate) trait Make<R, E: Elements> {
    /// Whether the result is a clone of the one element.
    const IS_CLONE: bool = false;

    fn make(&mut self, items: E::Refs<'_>) -> R;
}

/// The inputs that move along a row: bit `k - 1` for operand `k`.
struct Moving<const INPUTS: u8>;

impl<const INPUTS: u8> Moving<INPUTS> {
    /// The place in the slice of operand `k` for place `i` of the row.
    #[inline(always)]
    fn place(k: u8, i: usize) -> usize {
        if const { INPUTS } >> (k - 1) & 1 == 1 { i } else { 0 }
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

        // SAFETY: Each method treats every pointer of the tuple alike.
        unsafe impl<$($A),*> Elements for ($($A,)*) {
            type Refs<'r> = ($(&'r $A,)*) where Self: 'r;

            const KINDS: Kinds = {
                let mut sizes = [0; OPERANDS];
                $(sizes[$k] = size_of::<$A>();)*
                let plain = || 0 $(| u8::from(plain_size::<$A>().is_some()) << $k)*;
                Kinds { count: $count, sizes, rows: &[$($moving),*], plain }
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
                moving: u8,
                visit: &mut V,
            ) {
                let len = |k: u8| if moving >> (k - 1) & 1 == 1 { out.len() } else { 1 };
                // SAFETY: The caller promises these elements.
                $(let $a = unsafe { slice::from_raw_parts(at[$k].cast::<$A>(), len($k)) };)*
                let slices = ($($a,)*);
                match moving {
                    $($moving => $row(Moving::<$moving>, out, slices, visit),)*
                    _ => unreachable!("a row that there is"),
                }
            }

            #[inline(always)]
            #[allow(private_interfaces, private_bounds, reason = "not exported")]
            unsafe fn panels<R: Clone, M: Make<R, Self>, O: Operation<R>, const N: usize>(
                at: &Pointers,
                panels: &Panels<'_>,
                maker: (&mut M, O),
            ) {
                match panels.moving {
                    // SAFETY: The caller promises these elements.
                    $($moving => unsafe { combine::<R, Self, M, O, N, $moving>(at, panels, maker) },)*
                    _ => unreachable!("a row that there is"),
                }
            }
        }
    };
}
elements!(1 row1: A a 1; 0b1 0b0);
elements!(2 row2: A a 1, B b 2; 0b11 0b01 0b10);
elements!(3 row3: A a 1, B b 2, C c 3; 0b111 0b011 0b101 0b110 0b001 0b010 0b100);
elements!(4 row4: A a 1, B b 2, C c 3, D d 4; 0b1111 0b0111 0b1011 0b1101 0b1110 0b0011);
elements!(5 row5: A a 1, B b 2, C c 3, D d 4, E e 5; 0b11111);
elements!(6 row6: A a 1, B b 2, C c 3, D d 4, E e 5, G g 6; 0b11_1111);

/// [`Elements::panels`] of a set of inputs that move.
///
/// # Safety
/// As for [`Elements::panels`].
#[inline(always)]
unsafe fn combine<A: Clone, E: Elements, M: Make<A, E>, O: Operation<A>, const N: usize, const MOVING: u8>(
    at: &Pointers,
    panels: &Panels<'_>,
    (make, op): (&mut M, O),
) {
    // copies, which the elements that are written are known not to be
    let (mut first_at, beside, along) = (*at, *panels.beside, *panels.along);
    let (count, steps, adds, overlap) = (panels.count, panels.steps, panels.adds, panels.overlap);
    for _ in 0..count {
        let (mut at, mut rest) = (first_at, steps);
        let mut sums = [const { MaybeUninit::<A>::uninit() }; N];
        match neutral::<A>() {
            Some(neutral) if const { O::IS_PLUS } => {
                for sum in &mut sums {
                    sum.write(neutral.clone());
                }
            }
            _ => {
                for i in 0..N {
                    // SAFETY: The caller promises these elements, here and below.
                    sums[i].write(make.make(unsafe { E::refs_at::<MOVING>(&at, i) }));
                }
                advance(&mut at, &along, E::COUNT);
                rest -= 1;
            }
        }
        for _ in 0..rest {
            for i in 0..N {
                // SAFETY: As above. Every sum was written.
                unsafe {
                    let element = make.make(E::refs_at::<MOVING>(&at, i));
                    sums[i] = MaybeUninit::new(op.apply(sums[i].assume_init_ref().clone(), element));
                }
            }
            advance(&mut at, &along, E::COUNT);
        }
        let out = first_at[0].cast::<A>();
        for i in 0..N {
            // SAFETY: As above.
            unsafe {
                let (sum, out) = (sums[i].assume_init_ref().clone(), out.add(i));
                out.write(match adds {
                    false => sum,
                    // wide ones do not overlap, and some operations on them would no longer be vectorised
                    true if const { N == NARROW } && i < overlap => (*out).clone(),
                    true => op.apply((*out).clone(), sum),
                });
            }
        }
        advance(&mut first_at, &beside, E::COUNT);
    }
}

/// [`Elements::panels`] of any number of neighbours, one after the other.
///
/// # Safety
/// As for [`Elements::panels`].
#[inline(never)]
unsafe fn one_by_one<A: Clone, E: Elements, M: Make<A, E>, O: Operation<A>>(
    at: &Pointers,
    &Panels { count, beside, width, neighbours, steps, along, adds, overlap, .. }: &Panels<'_>,
    (make, op): (&mut M, O),
) {
    let mut panel_at = *at;
    for _ in 0..count {
        let mut first_at = panel_at;
        for _ in 0..overlap {
            advance(&mut first_at, neighbours, E::COUNT);
        }
        for _ in overlap..width {
            // SAFETY: The caller promises these elements, here and below.
            let (mut at, mut sum) = (first_at, make.make(unsafe { refs::<E>(&first_at) }));
            for _ in 1..steps {
                advance(&mut at, along, E::COUNT);
                // SAFETY: As above.
                sum = op.apply(sum, make.make(unsafe { refs::<E>(&at) }));
            }
            let out = at[0].cast::<A>();
            // SAFETY: As above.
            unsafe { out.write(if adds { op.apply((*out).clone(), sum) } else { sum }) };
            advance(&mut first_at, neighbours, E::COUNT);
        }
        advance(&mut panel_at, beside, E::COUNT);
    }
}

/// What is done with the rows of blocks.
pub(crate) trait Rows {
    /// # Safety
    /// The elements at every index of the block have the types of this object. Those of the output are borrowed exclusively, or
    /// places for them, and different ones; those of the inputs are borrowed.
    unsafe fn rows(&self, block: &Block<'_>);
}

/// [`Rows`] whose output has elements `T` and whose inputs have elements `E`.
pub(crate) trait RowsOf<T, E>: Rows {}

/// [`Rows`] that write elements `A` to places for them, and combine them.
pub(crate) trait Makes<A>: Rows {
    /// Combines the elements of panels, if [`has_sums`] holds.
    ///
    /// # Safety
    /// As for [`Elements::panels`], of the inputs in `panels.moving`.
    unsafe fn panels(&self, at: &Pointers, panels: &Panels<'_>);

    /// The element at an index.
    ///
    /// # Safety
    /// As for [`Rows::rows`], of the inputs alone.
    unsafe fn one(&self, at: &Pointers) -> A;
}

/// [`Makes`] of inputs that have elements `E`.
pub(crate) trait MakesOf<A, E>: Makes<A> {}

/// Keeps what is generic over types invariant in them.
type Invariant<T> = PhantomData<fn(T) -> T>;

/// Visits each element.
pub(crate) struct Visitor<V, T, E>(RefCell<V>, Invariant<(T, E)>);

impl<V: Visit<T, E>, T, E: Elements> Visitor<V, T, E> {
    pub(crate) fn new(visit: V) -> Self {
        Self(RefCell::new(visit), PhantomData)
    }
}

impl<V: Visit<T, E>, T, E: Elements> RowsOf<T, E> for Visitor<V, T, E> {}

impl<V: Visit<T, E>, T, E: Elements> Rows for Visitor<V, T, E> {
    unsafe fn rows(&self, block: &Block<'_>) {
        // SAFETY: As the caller promises.
        unsafe { visit_rows(block, &mut *self.0.borrow_mut()) };
    }
}

/// The same, which threads may share.
pub(crate) struct SharedVisitor<V, T, E>(V, Invariant<(T, E)>);

impl<V: Visit<T, E> + Copy, T, E: Elements> SharedVisitor<V, T, E> {
    pub(crate) const fn new(visit: V) -> Self {
        Self(visit, PhantomData)
    }
}

impl<V: Visit<T, E> + Copy, T, E: Elements> RowsOf<T, E> for SharedVisitor<V, T, E> {}

impl<V: Visit<T, E> + Copy, T, E: Elements> Rows for SharedVisitor<V, T, E> {
    unsafe fn rows(&self, block: &Block<'_>) {
        // SAFETY: As the caller promises.
        unsafe { visit_rows(block, &mut { self.0 }) };
    }
}

/// Writes what is made.
#[derive(Clone, Copy)]
pub(crate) struct Write<M>(pub(crate) M);

impl<R, E: Elements, M: Make<R, E>> Visit<MaybeUninit<R>, E> for Write<M> {
    #[inline(always)]
    fn visit(&mut self, out: &mut MaybeUninit<R>, items: E::Refs<'_>) {
        out.write(self.0.make(items));
    }
}

/// # Safety
/// As for [`Rows::rows`].
unsafe fn visit_rows<T, E: Elements, V: Visit<T, E>>(block: &Block<'_>, visit: &mut V) {
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
            unsafe { visit.visit(&mut *at[0].cast::<T>(), refs::<E>(at)) };
        });
    }
}

/// Visits rows for which there is a loop.
struct VisitRows<'n, V, T, E> {
    block: &'n Block<'n>,
    moving: u8,
    visit: &'n mut V,
    types: Invariant<(T, E)>,
}

impl<'n, T, E: Elements, V: Visit<T, E>> Work for VisitRows<'n, V, T, E> {
    /// What has not visited the rows.
    type Output = Option<&'n mut V>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { block, moving, visit, .. } = self;
        // copies, which the elements that are written are known not to be
        let (mut at, row_strides, rows, len) = (*block.at, block.row_strides, block.rows, block.len);
        for _ in 0..rows {
            // SAFETY: `rows` was promised these elements, which are adjacent or stay, as `moving` says.
            unsafe { E::row(slice::from_raw_parts_mut(at[0].cast::<T>(), len), &at, moving, visit) };
            advance(&mut at, &row_strides, E::COUNT);
        }
        None
    }
}

/// Makes elements `A` of elements `E`, and combines them.
pub(crate) struct Maker<M, A, E, O> {
    make: M,
    pub(crate) op: O,
    types: Invariant<(A, E)>,
}

impl<M, A, E, O> Maker<M, A, E, O> {
    #[inline(always)]
    pub(crate) const fn new(make: M, op: O) -> Self {
        Self { make, op, types: PhantomData }
    }
}

impl<M: Make<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>> Rows for Maker<M, A, E, O> {
    unsafe fn rows(&self, block: &Block<'_>) {
        match block.moving {
            Some(moving) if const { has_sums::<A>() } && block.len >= NARROW => {
                Sums::of_rows(block, moving).for_each_panel(E::COUNT, &mut |at, panels| {
                    // SAFETY: As the caller promises: the sum of one row is its elements.
                    unsafe { self.panels(at, panels) };
                });
            }
            _ => {
                // SAFETY: As the caller promises.
                block.for_each_at(E::COUNT, &mut |at| unsafe { at[0].cast::<A>().write(self.one(at)) });
            }
        }
    }
}

impl<M: Make<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>> MakesOf<A, E> for Maker<M, A, E, O> {}

impl<M: Make<A, E> + Copy, A: Clone, E: Elements, O: Operation<A>> Makes<A> for Maker<M, A, E, O> {
    unsafe fn panels(&self, at: &Pointers, panels: &Panels<'_>) {
        if const { has_sums::<A>() } {
            let (maker, types) = ((self.make, self.op), self.types);
            match panels.width {
                WIDE => CombinePanels::<_, _, _, _, WIDE> { at, panels, maker, types }.dispatch(),
                NARROW => CombinePanels::<_, _, _, _, NARROW> { at, panels, maker, types }.dispatch(),
                _ => CombinePanels::<_, _, _, _, 0> { at, panels, maker, types }.one_by_one(),
            }
        }
    }

    unsafe fn one(&self, at: &Pointers) -> A {
        // SAFETY: The caller promises these elements.
        { self.make }.make(unsafe { refs::<E>(at) })
    }
}

/// Combines panels of `N` neighbours.
struct CombinePanels<'n, M, A, E, O, const N: usize> {
    at: &'n Pointers,
    /// `Makes::panels` was promised their elements.
    panels: &'n Panels<'n>,
    maker: (M, O),
    types: Invariant<(A, E)>,
}

impl<A: Clone, E: Elements, M: Make<A, E>, O: Operation<A>, const N: usize> CombinePanels<'_, M, A, E, O, N> {
    #[inline(always)]
    fn dispatch(self) {
        if M::IS_CLONE && is_known::<A>() { dispatch(self) } else { dispatch_or(self, Self::one_by_one) }
    }

    /// The same in a loop that is not compiled for a CPU.
    #[inline(always)]
    fn one_by_one(mut self) {
        // SAFETY: See the field.
        unsafe { one_by_one::<A, E, M, O>(self.at, self.panels, (&mut self.maker.0, self.maker.1)) };
    }
}

impl<A: Clone, E: Elements, M: Make<A, E>, O: Operation<A>, const N: usize> Work
    for CombinePanels<'_, M, A, E, O, N>
{
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        // SAFETY: See the field.
        unsafe { E::panels::<A, M, O, N>(self.at, self.panels, (&mut self.maker.0, self.maker.1)) };
    }
}

/// Whether [`Makes`] combine such elements in panels.
pub(super) const fn has_sums<A>() -> bool {
    is_forgettable::<A>() && size_of::<A>() <= 16
}

/// Whether partial results may be forgotten, and a block holds several.
pub(crate) const fn is_forgettable<A>() -> bool {
    !needs_drop::<A>() && size_of::<A>() > 0 && size_of::<A>() <= 64 && align_of::<A>() <= 64
}

impl<'a, A, B> Inputs<'a, (A, B)> {
    /// The elements of each array that is in standard layout and has some.
    #[inline]
    pub(crate) fn as_slices(&self) -> (Option<&'a [A]>, Option<&'a [B]>) {
        let [first, second] = [self.standard_len(0), self.standard_len(1)];
        let (a, b) = (self.at[0].cast(), self.at[1].cast());
        // SAFETY: The elements are adjacent, as was just checked. Inputs are made of arrays of these types, which are borrowed
        // for their lifetime.
        unsafe {
            (first.map(|len| slice::from_raw_parts(a, len)), second.map(|len| slice::from_raw_parts(b, len)))
        }
    }
}

impl<'a, A> Output<'a, Slot<'_, A>> {
    /// The slots of memory.
    ///
    /// # Safety
    /// There is memory at every index, which is borrowed exclusively. `'s` is fresh: no other slots have it.
    #[inline(always)]
    pub(crate) unsafe fn slots(at: *mut A, sizes: &'a [usize], strides: &'a [isize]) -> Self {
        Self { at: at.cast(), axes: StridedAxes { sizes, strides }, array: PhantomData }
    }
}

// SAFETY: What knows the types can be sent only if threads may have the operands.
unsafe impl<P: Send> Send for Nest<'_, P> {}

/// Visits each element of an output with the elements of the inputs, which are broadcast to its shape.
///
/// # Panics
/// If the inputs do not go to that shape.
pub(crate) fn visit<T, E>(out: Output<'_, T>, inputs: &Inputs<'_, E>, rows: &dyn RowsOf<T, E>) {
    visit_shape(out.raw(), inputs, rows);
}

/// The same of slots, which are written.
pub(crate) fn fill<'s, A, E>(
    out: Output<'_, Slot<'s, A>>,
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<MaybeUninit<A>, E>,
) -> Written<'s> {
    visit_shape(out.raw(), inputs, rows)
}

/// Visits each index of an output, whose type the rows have, and those of the inputs.
fn visit_shape<'s>(out: RawOutput<'_>, reads: &Reads<'_>, rows: &dyn Rows) -> Written<'s> {
    match visit_few(out.axes.sizes, (out.at, out.size, Some(out.axes.strides)), reads, rows) {
        Some(written) => written,
        None => visit_many(out, reads, rows),
    }
}

/// See [`few`].
#[inline]
fn visit_few<'s>(
    shape: &[usize],
    out: (*mut u8, usize, Option<&[isize]>),
    reads: &Reads<'_>,
    rows: &dyn Rows,
) -> Option<Written<'s>> {
    // SAFETY: The block has the elements at each index of the shape, whose types the rows have.
    let count = few(shape, out, reads, &mut |block| unsafe { rows.rows(&block) })?;
    Some(Written(count, PhantomData))
}

#[inline(never)]
fn visit_many<'s>(out: RawOutput<'_>, reads: &Reads<'_>, rows: &dyn Rows) -> Written<'s> {
    let mut state = State::new();
    if state.over(out.axes.sizes, Some(out), None, reads) {
        return Written::none();
    }
    map::arranged(Nest { state: &mut state, with: Pass { rows, brand: PhantomData } })
}

/// [`visit`] on several threads.
pub(crate) fn par_visit<T: Send, E: Sync>(
    out: Output<'_, T>,
    inputs: &Inputs<'_, E>,
    rows: &(dyn RowsOf<T, E> + Sync),
) {
    par_visit_shape(out.raw(), inputs, rows);
}

/// [`fill`] on several threads.
pub(crate) fn par_fill<'s, A: Send, E: Sync>(
    out: Output<'_, Slot<'s, A>>,
    inputs: &Inputs<'_, E>,
    rows: &(dyn RowsOf<MaybeUninit<A>, E> + Sync),
) -> Written<'s> {
    par_visit_shape(out.raw(), inputs, rows)
}

fn par_visit_shape<'s>(out: RawOutput<'_>, reads: &Reads<'_>, rows: &(dyn Rows + Sync)) -> Written<'s> {
    let mut state = State::new();
    if state.over(out.axes.sizes, Some(out), None, reads) {
        return Written::none();
    }
    state.arrange(0);
    let nest: Nest<'_, Threads<'_, '_>> = Nest { state: &mut state, with: Pass { rows, brand: PhantomData } };
    in_parts(nest, GRAIN, &|part| {
        map::run(Nest { state: part.state, with: Pass { rows: part.with.rows, brand: PhantomData } }, false)
    })
}

/// What visits the rows of a nest, whose output has the brand `'s` if it has slots.
pub(crate) struct Pass<'a, 's, R: ?Sized> {
    rows: &'a R,
    brand: Invariant<&'s ()>,
}

pub(crate) type OneThread<'a, 's> = Pass<'a, 's, dyn Rows + 'a>;
type Threads<'a, 's> = Pass<'a, 's, dyn Rows + Sync + 'a>;

impl<R: ?Sized> Clone for Pass<'_, '_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for Pass<'_, '_, R> {}

#[cfg(test)]
impl<'n, 's> Nest<'n, OneThread<'n, 's>> {
    /// The nest of [`visit`]. `None` if there is no index.
    pub(crate) fn over<T, E>(
        state: &'n mut State,
        out: Output<'n, T>,
        inputs: &Inputs<'n, E>,
        rows: &'n (dyn RowsOf<T, E> + 'n),
    ) -> Option<Self> {
        let is_empty = state.over(out.axes.sizes, Some(out.raw()), None, inputs);
        (!is_empty).then_some(Self { state, with: Pass { rows, brand: PhantomData } })
    }

    /// The nest of [`fill`].
    pub(crate) fn over_slots<A, E>(
        state: &'n mut State,
        out: Output<'n, Slot<'s, A>>,
        inputs: &Inputs<'n, E>,
        rows: &'n (dyn RowsOf<MaybeUninit<A>, E> + 'n),
    ) -> Option<Self> {
        let is_empty = state.over(out.axes.sizes, Some(out.raw()), None, inputs);
        (!is_empty).then_some(Self { state, with: Pass { rows, brand: PhantomData } })
    }
}

impl<'s> Nest<'_, OneThread<'_, 's>> {
    /// Joins loops that continue each other. Returns whether the nest is so small, and its loops so well ordered, that
    /// arranging it would take longer than it gains.
    #[inline]
    pub(crate) fn is_small(&mut self) -> bool {
        self.state.is_small()
    }

    /// Visits each index, in blocks of the two innermost loops.
    pub(crate) fn run_rows(self) -> Written<'s> {
        let (rows, mut count) = (self.with.rows, 0);
        ensure(self.state.access() == Access::Distinct, "each element of an output is visited once");
        self.state.for_each_block(&mut |block| {
            count += block.rows * block.len;
            // SAFETY: By the invariant, the rows have the types of the operands.
            unsafe { rows.rows(&block) };
        });
        Written(count, PhantomData)
    }

    /// The same in parts of up to `tile[i]` steps of loop `i`, for which up to `most` inputs are copied, those that the row loop
    /// cannot read: the part is one row if the output has no gaps, else a row for each step of the outer loop.
    ///
    /// # Panics
    /// If inputs that are to be copied do not consist of plain numbers or do not fit, or if the inner loops are no row of the
    /// output or of another input.
    #[inline(never)]
    pub(crate) fn run_tiles(self, tile: &[usize], most: usize) -> Written<'s> {
        let (rows, mut count, mut copies) = (self.with.rows, 0, Copies::new(most));
        ensure(self.state.access() == Access::Distinct, "each element of an output is visited once");
        let mut tiles = Tiles::of(self.state, tile);
        let part = self.state;
        while tiles.next(part) {
            let (copied, mut at, mut places) = (part.to_copy(), part.operands.at, [0; OPERANDS]);
            for k in 1..part.operands.count {
                if copied >> k & 1 == 1 {
                    // SAFETY: All parts are of this nest.
                    places[k] = unsafe { copies.of(part, k) };
                }
            }
            let room = copies.room();
            for k in 1..part.operands.count {
                if copied >> k & 1 == 1 {
                    at[k] = room.wrapping_add(places[k]);
                }
            }
            let block = part.block_of_copies(&at, copied);
            count += block.rows * block.len;
            // SAFETY: By the invariant, the rows have the types of the operands. Copies are elements of the same types.
            unsafe { rows.rows(&block) };
        }
        Written(count, PhantomData)
    }
}

/// Where results go: slots of a new array, or elements into which they are put.
pub(crate) struct Target<'t, 's, A> {
    out: RawOutput<'t>,
    /// Puts results into elements.
    put: Option<&'t dyn Rows>,
    types: Invariant<(&'s (), A)>,
}

impl<'t, 's, A> Target<'t, 's, A> {
    #[inline]
    pub(crate) fn slots(out: Output<'t, Slot<'s, A>>) -> Self {
        Self { out: out.raw(), put: None, types: PhantomData }
    }

    #[inline]
    pub(crate) fn elements(out: Output<'t, A>, put: &'t dyn RowsOf<A, (A,)>) -> Self {
        Self { out: out.raw(), put: Some(put), types: PhantomData }
    }

    #[inline]
    pub(crate) fn shape(&self) -> &'t [usize] {
        self.out.axes.sizes
    }

    /// Its slots in the order of the axes, if they are adjacent in this order.
    #[inline]
    pub(crate) fn as_slots(&mut self) -> Option<Slots<'_, 's, A>> {
        let len = if self.put.is_some() { None } else { standard_len(self.out.axes) };
        // SAFETY: They are adjacent, and borrowed as long as the target is.
        len.map(|len| unsafe { Slots::new(self.out.at.cast(), len) })
    }
}

/// Reductions of a source to outputs that have the brand `'s`.
pub(crate) struct Reduction<'a, 's, A> {
    source: &'a Source<'a, A>,
    fold: &'a dyn Fold<A>,
    /// Visits the outputs and the results.
    put: &'a dyn Rows,
    /// Whether results are put into elements, not into slots.
    stores: bool,
    rows: RowGroups,
    brand: Invariant<&'s ()>,
}

impl<A> Clone for Reduction<'_, '_, A> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Reduction<'_, '_, A> {}

/// A half of a reduction, for another thread.
struct Half<'n, 'a, 's, A, F, R> {
    nest: Option<Nest<'n, Reduction<'a, 's, A>>>,
    run: &'n F,
    result: Option<R>,
}

// SAFETY: `both` makes it only where the source can be joined: its constructors require `Send` and `Sync` of elements, inputs and
// closures for that, and `Sync` of operations. What puts results is shared as elements are.
unsafe impl<A, F, R> Send for Half<'_, '_, '_, A, F, R> {}

impl<'n, 'a, 's, A, F: Fn(Nest<'n, Reduction<'a, 's, A>>) -> R, R> Half<'n, 'a, 's, A, F, R> {
    #[inline]
    fn run(&mut self) {
        self.result = self.nest.take().map(self.run);
    }
}

impl<'n, 'a, 's, A: Clone> Nest<'n, Reduction<'a, 's, A>> {
    /// A nest along the axes of the source, which has this `shape`. The axes of the target are those that are not `dropped`, in
    /// order, of equal size or of size 1. Without a set of dropped axes, the leading axes are dropped that it does not have. `None`
    /// if there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    #[inline]
    pub(crate) fn reducing(
        state: &'n mut State,
        (source, fold): (&'a Source<'a, A>, &'a dyn Fold<A>),
        shape: &[usize],
        target: Option<Target<'a, 's, A>>,
        dropped: Dropped<'_>,
    ) -> Option<Self> {
        let (out, put) = match target {
            None => (None, None),
            Some(Target { out, put, .. }) => (Some(out), put),
        };
        if state.over(shape, out, dropped, source.reads) {
            return None;
        }
        let with = Reduction {
            source,
            fold,
            put: put.unwrap_or(fold),
            stores: put.is_some(),
            rows: state.row_groups(),
            brand: PhantomData,
        };
        Some(Self { state, with })
    }

    /// What `run` returns for the halves of the nest, which it may run on two threads. See [`halves`](Self::halves).
    #[inline]
    pub(crate) fn both<R>(
        self,
        place: usize,
        run: &impl for<'m> Fn(Nest<'m, Reduction<'a, 's, A>>) -> R,
    ) -> [R; 2] {
        let (join, mut room) = (self.with.source.join, State::on_heap());
        let [first, second] = self.halves(place, &mut room);
        let Some(join) = join else { return [run(first), run(second)] };
        let mut first = Half { nest: Some(first), run, result: None };
        let mut second = Half { nest: Some(second), run, result: None };
        join(&mut || first.run(), &mut || second.run());
        [first.result, second.result].map(|result| result.expect("both have run"))
    }

    /// Whether the elements are those of an array.
    #[inline]
    pub(crate) fn is_stored(&self) -> bool {
        self.with.source.is_stored() && self.with.source.prepare.is_none()
    }

    /// The loops by the strides of the inputs: see [`State::arrange`].
    pub(crate) fn arranged(mut self) -> Self {
        self.state.arrange(1);
        self.with.rows = self.state.row_groups();
        self
    }

    /// The most rows whose sum is made at once.
    #[inline]
    pub(crate) fn most_rows(&self) -> usize {
        self.with.rows.most()
    }

    /// The elements in the order of the loops, if they lie so.
    #[inline]
    pub(crate) fn elements(&self) -> Option<&'a [A]> {
        let loops = &self.state.loops[..];
        let is_adjacent = self.is_stored() && is_dense(loops, 1, size_of::<A>());
        // SAFETY: By the invariant, these are elements of the array that the source is.
        is_adjacent.then(|| unsafe { slice::from_raw_parts(self.state.operands.at[1].cast(), steps(loops)) })
    }

    /// The loop along which elements are combined without being stored, if there is one.
    #[inline]
    pub(crate) fn summed(&self) -> Option<usize> {
        let has_sums = const { has_sums::<A>() } && self.with.source.prepare.is_none();
        if !has_sums || self.is_stored() && self.state.is_folded_in_place(size_of::<A>(), self.with.rows) {
            return None;
        }
        self.state.summed(size_of::<A>())
    }

    /// Writes sums along the loop at `place` to slots, in the order of the loops: see [`sums_along`](super::sums_along).
    ///
    /// # Panics
    /// If there are not as many slots, or if it is another loop than [`summed`](Self::summed).
    #[inline]
    pub(crate) fn sum<'t>(self, place: usize, mut slots: Slots<'_, 't, A>) -> Written<'t> {
        ensure(self.summed() == Some(place), "a loop to sum along");
        let (makes, len) = (self.with.source.makes(self.with.fold), slots.len());
        let out = (slots.start().cast(), len, size_of::<A>());
        let inputs = self.state.operands.count - 1;
        self.state.for_each_sums(place, out, self.with.rows, &mut |sums| {
            sums.for_each(inputs, |at, panels| {
                // SAFETY: By the invariant, `makes` has the types of the inputs. There is a slot for each sum.
                unsafe { makes.panels(at, panels) };
            });
        });
        Written(len, PhantomData)
    }

    /// Writes the elements to slots, in the order of the loops.
    ///
    /// # Panics
    /// If there are not as many slots.
    #[inline]
    pub(crate) fn fill<'t>(self, mut slots: Slots<'_, 't, A>) -> Written<'t> {
        let (source, len) = (self.with.source, slots.len());
        if source.is_stored() && self.state.is_plain(1) {
            ensure(len == steps(&self.state.loops), "a slot for each element");
            gather(self.state, 1, slots.into_bytes());
            return Written(len, PhantomData);
        }
        self.state.set_output(slots.start().cast(), len, size_of::<A>(), |_| true);
        let rows: &dyn Rows = source.makes(self.with.fold);
        map::run(Nest { state: self.state, with: Pass { rows, brand: PhantomData } }, false)
    }

    /// Changes elements that were written, before they are combined.
    #[inline]
    pub(crate) fn prepare(&self) -> Option<Prepare<'a, A>> {
        self.with.source.prepare
    }

    /// Writes the elements to the slots of a new array, if none is reduced.
    ///
    /// # Errors
    /// The nest, if that is not what it does.
    pub(crate) fn written(self) -> Result<Written<'s>, Self> {
        let Reduction { source, fold, stores, .. } = self.with;
        if stores || source.prepare.is_some() || self.state.loops.iter().any(|l| !l.kept) {
            return Err(self);
        }
        let rows: &dyn Rows = source.makes(fold);
        Ok(map::run(Nest { state: self.state, with: Pass { rows, brand: PhantomData } }, false))
    }

    /// Puts results into the outputs, in the order of the kept loops.
    ///
    /// # Panics
    /// If there are not as many results, or no output.
    #[inline]
    pub(crate) fn put(self, results: &[A]) -> Written<'s> {
        self.state.put(results.as_ptr().cast(), results.len(), const { &<(A,)>::KINDS });
        Nest { state: self.state, with: Pass { rows: self.with.put, brand: PhantomData } }.run_rows()
    }

    /// The same inputs, with slots for one result for each index of the kept loops, adjacent in this order.
    ///
    /// # Panics
    /// If there are not as many slots.
    #[inline]
    pub(crate) fn onto<'m, 't>(self, mut slots: Slots<'m, 't, A>) -> Nest<'m, Reduction<'a, 't, A>>
    where
        'n: 'm,
    {
        let Reduction { source, fold, rows, .. } = self.with;
        let len = slots.len();
        self.state.set_output(slots.start().cast(), len, size_of::<A>(), |l| l.kept);
        Nest {
            state: self.state,
            with: Reduction { source, fold, put: fold, stores: false, rows, brand: PhantomData },
        }
    }
}

impl<'a, A: Clone> Source<'a, A> {
    /// Writes the elements to slots, in the order of the source's `shape`.
    ///
    /// # Panics
    /// If there are not as many slots.
    #[inline]
    pub(crate) fn fill<'t>(
        &self,
        fold: &dyn Fold<A>,
        shape: &[usize],
        mut slots: Slots<'_, 't, A>,
    ) -> Written<'t> {
        ensure(slots.len() == shape.iter().product(), "a slot for each element");
        if !self.is_stored() {
            let out = (slots.start().cast(), size_of::<A>(), None);
            if let Some(written) = visit_few(shape, out, self.reads, self.makes(fold)) {
                return written;
            }
        }
        match Nest::reducing(&mut State::new(), (self, fold), shape, None, None) {
            Some(nest) => nest.fill(slots),
            None => Written::none(),
        }
    }

    /// The elements in the order of the shape, if they lie so and there are some.
    #[inline]
    pub(crate) fn as_slice(&self) -> Option<&'a [A]> {
        let is_stored = self.is_stored() && self.prepare.is_none();
        let len = is_stored.then(|| self.reads.standard_len(0))??;
        // SAFETY: The elements are adjacent, as was just checked. They have this type by the constructors of sources.
        Some(unsafe { slice::from_raw_parts(self.reads.at[0].cast(), len) })
    }

    /// The first element.
    ///
    /// # Panics
    /// If an array has no elements.
    pub(crate) fn first(&self) -> A {
        let Reads { at: inputs, sizes, kinds, .. } = self.reads;
        ensure(!sizes[..kinds.count].iter().any(|sizes| sizes.contains(&0)), "elements");
        let mut at = [core::ptr::null_mut(); OPERANDS];
        for (at, input) in at[1..].iter_mut().zip(inputs) {
            *at = input.cast_mut();
        }
        // SAFETY: A source has the inputs and what makes its elements together. They have a first element.
        unsafe { self.makes(self.fold.expect("an operation that is not known")).one(&at) }
    }
}

/// What a lane of elements that own memory, or are large, is made of.
pub(crate) enum Item<'l, A> {
    Element(A),
    /// The output of the elements before.
    Output(&'l mut A),
}

/// Calls `then` with the elements of each lane, and with its output.
///
/// # Panics
/// If an array does not fit the shape.
pub(crate) fn for_each_lane<A: Clone>(
    (source, fold): (&Source<'_, A>, &dyn Fold<A>),
    shape: &[usize],
    out: Output<'_, A>,
    dropped: Dropped<'_>,
    then: &mut dyn FnMut(Item<'_, A>),
) {
    let (mut state, makes) = (State::new(), source.makes(fold));
    if state.over(shape, Some(out.raw()), dropped, source.reads) {
        return;
    }
    state.arrange(1);
    let mut tile = Steps::new();
    for l in &*state.loops {
        tile.push(if l.kept { 1 } else { l.len });
    }
    let mut tiles = Tiles::of(&state, &tile);
    while tiles.next(&mut state) {
        let out = state.operands.at[0].cast::<A>();
        state.inputs(&mut State::new()).for_each_block(&mut |block| {
            block.for_each(source.reads.kinds.count, |at| {
                // SAFETY: A source has the inputs and what makes its elements together.
                let mut element = unsafe { makes.one(at) };
                if let Some(prepare) = source.prepare {
                    prepare(slice::from_mut(&mut element));
                }
                then(Item::Element(element));
            });
        });
        // SAFETY: By the invariant, this is an element of the output.
        then(Item::Output(unsafe { &mut *out }));
    }
}

/// What a nest over the batch axes of arrays knows, at whose indices views of the last axes are: the bases. A pointer leads to a
/// base, which may have no element.
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
/// `views` makes a view of each pointer by the form at its place.
pub(crate) unsafe trait Forms<'a, E: Elements> {
    type Views;

    /// # Safety
    /// Each pointer leads to a base of this form, which is borrowed for `'a`.
    unsafe fn views(&self, at: &Pointers) -> Self::Views;
}

macro_rules! forms {
    ($($T:ident $B:ident $k:tt $at:literal),+) => {
        // SAFETY: Every place is treated alike.
        unsafe impl<'a, $($T: 'a, $B: Dimension),+> Forms<'a, ($($T,)+)> for ($(Form<$B>,)+) {
            type Views = ($(ArrayView<'a, $T, $B>,)+);

            #[inline(always)]
            unsafe fn views(&self, at: &Pointers) -> Self::Views {
                // SAFETY: The caller promises it of each base. A layout reaches the same elements as its form, from the
                // layout's own start on; that of an empty base is not used.
                ($(self.$k.inverted(unsafe {
                    ArrayView::from_shape_ptr(self.$k.layout().clone(), self.$k.start(at[$at].cast::<$T>()).cast_const())
                }),)+)
            }
        }
    };
}
forms!(T A 0 1);
forms!(T A 0 1, U B 1 2);
forms!(T A 0 1, U B 1 2, V C 2 3);

impl<'n, 'a, T, E: Elements, F: Forms<'a, E>, B: Dimension> Nest<'n, Bases<'n, 'a, T, E, F, B>> {
    /// A nest over the batch axes of `out`. `None` if there is no index.
    ///
    /// # Panics
    /// If the batch axes of an input do not go to those of `out`, aligned at the right.
    pub(crate) fn over_bases(
        state: &'n mut State,
        inputs: &'n BaseInputs<'a, E, F>,
        out: &'n mut BaseOutput<'_, T, B>,
    ) -> Option<Self> {
        let BaseInputs { inputs, forms, bases } = inputs;
        let mut of_batches = inputs.reads;
        for (sizes, base) in of_batches.sizes.iter_mut().zip(bases) {
            *sizes = &sizes[..sizes.len() - base];
        }
        let batch = Output { at: out.batch.at, axes: out.batch.axes, array: PhantomData::<&mut T> };
        if state.over(batch.axes.sizes, Some(batch.raw()), None, &of_batches) {
            return None;
        }
        state.arrange(0);
        Some(Self { state, with: Bases { forms, out: &out.form, arrays: PhantomData } })
    }

    /// Runs parts of the nest, of at least `grain` bases each, on several threads.
    pub(crate) fn in_parts(self, grain: usize, run: &(impl Fn(Nest<'_, Bases<'n, 'a, T, E, F, B>>) + Sync))
    where
        T: Send,
        E: Sync,
        F: Sync,
    {
        in_parts(self, grain, &|part| {
            run(part);
            Written::none()
        });
    }
}

impl<'a, T, E: Elements, F: Forms<'a, E>, B: Dimension> Nest<'_, Bases<'_, 'a, T, E, F, B>> {
    /// Calls `visit` with the bases at each index.
    #[inline]
    pub(crate) fn for_each(self, mut visit: impl FnMut(F::Views, ArrayViewMut<'_, T, B>)) {
        let Bases { forms, out, .. } = self.with;
        ensure(self.state.access() == Access::Distinct, "bases of the output are different elements");
        self.state.for_each_block(&mut |block| {
            block.for_each(E::COUNT, |at| {
                // SAFETY: By the invariant, these are bases of the inputs, and one of the output that is not reached at another
                // index. The views do not outlive the call. See `Forms::views` for layouts.
                unsafe {
                    let start = out.start(at[0].cast::<T>());
                    let view = out.inverted(ArrayViewMut::from_shape_ptr(out.layout().clone(), start));
                    visit(forms.views(at), view);
                }
            });
        });
    }
}
