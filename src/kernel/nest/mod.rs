//! Loops, pointers and borrows together. Every pointer of a pass over arrays is made and moved here.
//!
//! # Invariant
//! A [`State`] has loops, and a pointer and an element size for each operand: operand 0 is the output, the others are the
//! inputs. At every index of the loops,
//! - the pointer of each input, moved by its strides, points to an element that is borrowed while the state's handles live;
//! - the pointer of the output, moved by its strides, points to an element that is borrowed exclusively by them, unless the
//!   access is [`Access::Inputs`], which gives no access to it;
//! - two indices that differ in a kept loop lead to different elements of the output. Along the other loops, which are
//!   reduced, the output stays.
//!
//! [`Nest::over`] and [`Nest::onto`] make states, and check this. Every other function keeps it, because it visits all or
//! some of the same indices, in another order or grouped into other loops. The fields are private to this module, [`arrange`]
//! and [`cut`], which have no unsafe code.
//!
//! # Handles
//! [`Nest`] knows the types of its elements. [`Raw`] does not, so that what cuts a nest is compiled once for all types. Its
//! lifetime `'b` is a brand: [`Nest::erased`] calls a function that is generic over it, so a part with this brand can only
//! come from that nest, and only [`Types`] of the same brand gives it its types again. A handle is neither `Copy` nor
//! `Clone`, and methods that give access to elements consume it, so no element of an output is reached twice at once.

mod arrange;
mod bases;
mod cut;
mod operands;

pub(crate) use bases::{BaseInputs, BaseOutput, Form, matrices};
pub(crate) use cut::{Block, Raw, is_dense, stride_of_row};
pub(crate) use operands::{AxisSelection, Dropped, Inputs, Output, StridedAxes};

use super::ensure;
use super::memory::{List, Slot, Slots, gather};
use super::simd::{self, Work, plain_size};
use super::threads::in_parts;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::slice;
use cut::advance;
use ndarray::{ArrayView, ArrayViewMut, Dimension};

/// The most operands: an output and six inputs.
pub(crate) const OPERANDS: usize = 7;
/// The most loops of two steps or more: more would have more indices than `usize` can count.
pub(crate) const LOOPS: usize = 64;

/// The most indices of a nest that is not arranged, and the most elements of an array that is reduced without a nest. Measured
/// on Zen 4: up to here, the order of the loops matters less than the 50 ns of arranging them.
pub(super) const SMALL: usize = 1024;
/// Up to so many indices are visited one by one where there is no row loop: more are worth copies of operands. Measured on
/// Zen 4 with one to forty operations: 64 to 256 take about as long.
pub(super) const FEW: usize = 128;

/// Parts of a loop are multiples of so many steps: of the elements of a vector, and of the side of a transposed square. Shorter
/// rows are copied column by column. Measured on Zen 4 with 4 bytes: columns of rows of 4 to 8 elements take about as long.
pub(crate) const VECTOR: usize = 8;

/// A loop: how many steps it has, and how many bytes each operand moves at a step.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    len: usize,
    /// Whether the output moves.
    kept: bool,
    strides: [isize; OPERANDS],
}

impl Loop {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the output moves along the loop; otherwise the loop is reduced.
    #[inline(always)]
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// The bytes that operand `k` moves at a step.
    #[inline(always)]
    pub(crate) fn stride(&self, k: usize) -> isize {
        self.strides[k]
    }

    /// The steps of one of as few parts as have up to `most` steps each. The parts are equal, but for the last one, and of whole
    /// vectors if they are so long.
    pub(crate) fn part(&self, most: usize) -> usize {
        if self.len <= most {
            return self.len;
        }
        let vector = if most < VECTOR { 1 } else { VECTOR };
        let parts = self.len.div_ceil((most / vector * vector).max(1));
        self.len.div_ceil(parts).next_multiple_of(vector)
    }
}

pub(crate) type Loops = List<Loop, LOOPS>;

/// The number of indices of loops. It may exceed `usize` for views that repeat elements.
#[inline]
pub(crate) fn steps(loops: &[Loop]) -> usize {
    let mut steps = 1_usize;
    for l in loops {
        steps = steps.saturating_mul(l.len);
    }
    steps
}

/// A pointer for each operand.
type Pointers = [*mut u8; OPERANDS];

/// Which access a part of a nest gives to its output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// None: there is no output, or another handle has it.
    Inputs,
    /// Every element, of which another index or another part may have the same.
    Repeated,
    /// Every element, which no other part has.
    Distinct,
}

/// What a nest has for its operands.
#[derive(Clone, Copy)]
struct Operands {
    at: Pointers,
    /// The bytes of an element of each operand.
    sizes: [usize; OPERANDS],
    /// Bit `k` is set if the elements of operand `k` are plain numbers: see [`plain_size`].
    plain: u8,
    /// The number of operands.
    count: usize,
    /// [`Elements::ROWS`] of the inputs.
    rows: &'static [u8],
    access: Access,
}

/// Where the handles of a nest have their loops and pointers.
pub(crate) struct State {
    loops: Loops,
    operands: Operands,
}

impl State {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let (at, sizes) = ([core::ptr::null_mut(); OPERANDS], [0; OPERANDS]);
        let operands = Operands { at, sizes, plain: 0, count: 0, rows: &[], access: Access::Inputs };
        Self { loops: List::new(), operands }
    }

    #[inline]
    fn copy_from(&mut self, other: &Self) {
        self.operands = other.operands;
        self.loops.copy_from(&other.loops);
    }

    /// A copy that gives access to the inputs alone.
    fn inputs<'m>(&self, room: &'m mut State) -> &'m mut State {
        room.copy_from(self);
        room.operands.access = Access::Inputs;
        room
    }

    /// The access, of which it counts whether two indices of this part lead to one element.
    #[inline]
    fn access(&self) -> Access {
        match self.operands.access {
            Access::Distinct if self.loops.iter().any(|l| !l.kept) => Access::Repeated,
            access => access,
        }
    }
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

    const COUNT: usize;

    /// The bytes of an element of each operand, and 0 for the output.
    const SIZES: [usize; OPERANDS];

    /// The sets of inputs for which [`row`](Self::row) has a loop in which these move and the others stay: bit `k - 1` for
    /// operand `k`.
    const ROWS: &'static [u8];

    /// Bit `k` is set if the elements of operand `k` are plain numbers.
    #[doc(hidden)]
    fn plain() -> u8;

    /// # Safety
    /// Each pointer is to an element that is borrowed for `'r`.
    #[doc(hidden)]
    unsafe fn refs<'r>(at: &Pointers) -> Self::Refs<'r>
    where
        Self: 'r;

    /// Visits each element of a row with an element of each input.
    ///
    /// # Safety
    /// Each pointer is to an element that is borrowed, or as many as the output has if it is in `moving`.
    #[doc(hidden)]
    unsafe fn row<T, V: Visit<T, Self>>(out: &mut [T], at: &Pointers, moving: u8, visit: &mut V);
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
    fn make(&mut self, items: E::Refs<'_>) -> R;
}

/// Writes what is made.
struct Write<'f, M>(&'f mut M);

impl<'s, R, E: Elements, M: Make<R, E>> Visit<Slot<'s, R>, E> for Write<'_, M> {
    #[inline(always)]
    fn visit(&mut self, out: &mut Slot<'s, R>, items: E::Refs<'_>) {
        out.write(self.0.make(items));
    }
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

        #[allow(unused_variables, unused_unsafe, clippy::unused_unit, reason = "there may be no input")]
        // SAFETY: Each method treats every pointer of the tuple alike.
        unsafe impl<$($A),*> Elements for ($($A,)*) {
            type Refs<'r> = ($(&'r $A,)*) where Self: 'r;

            const COUNT: usize = $count;

            const SIZES: [usize; OPERANDS] = {
                #[allow(unused_mut, reason = "there may be no input")]
                let mut sizes = [0; OPERANDS];
                $(sizes[$k] = size_of::<$A>();)*
                sizes
            };

            const ROWS: &'static [u8] = &[$($moving),*];

            #[inline]
            fn plain() -> u8 {
                0 $(| u8::from(plain_size::<$A>().is_some()) << $k)*
            }

            #[inline(always)]
            unsafe fn refs<'r>(at: &Pointers) -> Self::Refs<'r>
            where
                Self: 'r,
            {
                // SAFETY: The caller promises these elements.
                ($(unsafe { &*at[$k].cast::<$A>() },)*)
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
        }
    };
}
elements!(0 row0: ; 0);
elements!(1 row1: A a 1; 0b1 0b0);
elements!(2 row2: A a 1, B b 2; 0b11 0b01 0b10);
elements!(3 row3: A a 1, B b 2, C c 3; 0b111 0b011 0b101 0b110);
elements!(4 row4: A a 1, B b 2, C c 3, D d 4; 0b1111 0b0111 0b1011 0b1101 0b1110);
elements!(5 row5: A a 1, B b 2, C c 3, D d 4, E e 5; 0b11111);
elements!(6 row6: A a 1, B b 2, C c 3, D d 4, E e 5, G g 6; 0b11_1111);

/// A nest over elements of known types: `T` are written and `E` are read. A nest with `T = ()` writes nothing.
pub(crate) struct Nest<'n, T, E: Elements> {
    state: &'n mut State,
    arrays: PhantomData<(&'n mut T, &'n E)>,
}

// SAFETY: By the invariant, a nest gives the access that `&mut T` and `&E` give.
unsafe impl<T: Send, E: Elements + Sync> Send for Nest<'_, T, E> {}

// SAFETY: Inputs give the access that `&E` gives.
unsafe impl<E: Elements + Sync> Send for Inputs<'_, E> {}

// SAFETY: As above.
unsafe impl<E: Elements + Sync> Sync for Inputs<'_, E> {}

impl<'a, A> Inputs<'a, (A,)> {
    /// The elements of the array, if it is in standard layout and has some.
    #[inline]
    pub(crate) fn as_slice(&self) -> Option<&'a [A]> {
        let len = self.standard_len(0)?;
        // SAFETY: The elements are adjacent, as was just checked. Inputs are made of an array of this type, which is borrowed
        // for their lifetime.
        Some(unsafe { slice::from_raw_parts(self.at[0].cast(), len) })
    }
}

impl<'a, A, B> Inputs<'a, (A, B)> {
    /// The elements of each array that is in standard layout and has some.
    #[inline]
    pub(crate) fn as_slices(&self) -> (Option<&'a [A]>, Option<&'a [B]>) {
        let [first, second] = [self.standard_len(0), self.standard_len(1)];
        let (a, b) = (self.at[0].cast(), self.at[1].cast());
        // SAFETY: As above.
        unsafe {
            (first.map(|len| slice::from_raw_parts(a, len)), second.map(|len| slice::from_raw_parts(b, len)))
        }
    }
}

impl<'a, A> Output<'a, MaybeUninit<A>> {
    /// The places of elements, to be written.
    ///
    /// # Safety
    /// `'s` is fresh: no other slots have it.
    #[inline(always)]
    pub(crate) unsafe fn slots<'s>(self) -> Output<'a, Slot<'s, A>> {
        Output { at: self.at.cast(), axes: self.axes, array: PhantomData }
    }
}

impl<'n, T, E: Elements> Nest<'n, T, E> {
    /// A nest along the axes of `shape`. The axes of each input are its last ones, of equal size or of size 1, along which
    /// the input stays. The axes of `out` are those that are not `dropped`, in order, of equal size or of size 1. Without a
    /// set of dropped axes, the leading axes are dropped that `out` does not have. `None` if there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    #[inline]
    pub(crate) fn over(
        state: &'n mut State,
        shape: &[usize],
        out: Output<'n, T>,
        dropped: Dropped<'_>,
        inputs: &Inputs<'n, E>,
    ) -> Option<Self> {
        let operands = &mut state.operands;
        (operands.count, operands.access) = (E::COUNT + 1, Access::Distinct);
        (operands.rows, operands.plain, operands.sizes) = (E::ROWS, E::plain(), E::SIZES);
        operands.sizes[0] = size_of::<T>();
        operands.at[0] = out.at.cast();
        for k in 1..=E::COUNT {
            operands.at[k] = inputs.at[k - 1].cast_mut().cast();
        }
        let is_empty =
            state.add_axes(shape, out.axes, dropped, &inputs.sizes[..E::COUNT], &inputs.strides[..E::COUNT]);
        (!is_empty).then_some(Self { state, arrays: PhantomData })
    }

    #[inline(always)]
    pub(crate) fn loops(&self) -> &[Loop] {
        &self.state.loops
    }

    /// Joins loops that continue each other. Returns whether the nest is so small, and its loops so well ordered, that
    /// arranging it would take longer than it gains.
    #[inline]
    pub(crate) fn is_small(&mut self) -> bool {
        self.state.is_small()
    }

    /// Orders the loops by the strides of the operands from `first` on, outermost the largest; turns negative strides, and
    /// joins loops that continue each other.
    pub(crate) fn arrange(&mut self, first: usize) {
        self.state.arrange(first);
    }

    /// Two halves of the nest, each with a part of the loop at `place`: a kept one, or any one of inputs alone.
    ///
    /// # Panics
    /// If the loop is another one or has one step.
    pub(crate) fn halves<'m>(self, place: usize, room: &'m mut State) -> [Nest<'m, T, E>; 2]
    where
        'n: 'm,
    {
        let is_read = self.state.operands.access == Access::Inputs;
        ensure(is_read || self.state.loops[place].kept, "parts have different outputs");
        let state = self.state.halve(place, room);
        [Nest { state, arrays: PhantomData }, Nest { state: room, arrays: PhantomData }]
    }

    /// The inputs alone.
    pub(crate) fn inputs<'m>(&self, room: &'m mut State) -> Nest<'m, (), E>
    where
        'n: 'm,
    {
        Nest { state: self.state.inputs(room), arrays: PhantomData }
    }

    /// Calls `run` with the nest without its types, and what gives them back.
    #[inline(always)]
    pub(crate) fn erased<R>(self, run: impl for<'b> FnOnce(Raw<'_, 'b>, Types<'b, T, E>) -> R) -> R {
        run(Raw::of(self.state), Types(PhantomData))
    }
}

impl<'n, E: Elements> Nest<'n, (), E> {
    /// The same inputs, with slots for one element for each index of the kept loops, adjacent in this order.
    ///
    /// # Panics
    /// If there are not as many slots.
    pub(crate) fn onto<'s, A>(self, slots: Slots<'n, 's, A>) -> Nest<'n, Slot<'s, A>, E> {
        self.state.set_output(slots, |l| l.kept);
        Nest { state: self.state, arrays: PhantomData }
    }
}

/// The types of the elements of nests with the brand `'b`.
pub(crate) struct Types<'b, T, E>(PhantomData<(fn(&'b ()) -> &'b (), fn(T, E))>);

impl<T, E> Clone for Types<'_, T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for Types<'_, T, E> {}

impl<'b, T, E: Elements> Types<'b, T, E> {
    /// The types of the inputs.
    #[inline(always)]
    pub(crate) fn inputs(self) -> Types<'b, (), E> {
        Types(PhantomData)
    }

    /// The rows of a block.
    ///
    /// # Panics
    /// If the block is one of inputs alone.
    #[inline(always)]
    pub(crate) fn rows<'n>(self, block: Block<'n, 'b>) -> Rows<'n, T, E> {
        ensure(block.access != Access::Inputs, "an output");
        Rows { block: Block { brand: PhantomData, ..block }, elements: PhantomData }
    }

    /// The output of a nest, and a result for each index of its kept loops, in this order.
    ///
    /// # Panics
    /// If there are not as many results, or the nest is one of inputs alone.
    #[inline]
    pub(crate) fn with_results<A>(
        self,
        nest: Raw<'_, 'b>,
        results: &[A],
        then: &mut dyn FnMut(Rows<'_, T, (A,)>),
    ) {
        nest.state.set_results(results);
        let types = Types::<'b, T, (A,)>(PhantomData);
        nest.for_each_block(&mut |block| then(types.rows(block)));
    }
}

impl<'b, E: Elements> Types<'b, (), E> {
    /// The inputs of a nest, with slots for an element for each index, adjacent in the order of the loops.
    ///
    /// # Panics
    /// If there are not as many slots.
    #[inline(always)]
    pub(crate) fn onto<'n, 's, A>(
        self,
        nest: Raw<'n, 'b>,
        slots: Slots<'n, 's, A>,
    ) -> Nest<'n, Slot<'s, A>, E> {
        nest.state.set_output(slots, |_| true);
        Nest { state: nest.state, arrays: PhantomData }
    }

    /// The inputs of a nest, to be visited without an output.
    #[inline]
    pub(crate) fn for_each_input(self, nest: Raw<'_, 'b>, then: &mut impl Make<(), E>) {
        nest.for_each_block(&mut |block| {
            // SAFETY: By the invariant, these are elements of the inputs, which are borrowed.
            block.for_each(E::COUNT, |at| then.make(unsafe { E::refs(at) }));
        });
    }
}

impl<'b, A> Types<'b, (), (A,)> {
    /// The elements of the input in the order of the loops, if they are adjacent.
    #[inline]
    pub(crate) fn adjacent(self, nest: &Raw<'_, 'b>) -> Option<Adjacent<'b, A>> {
        let loops = &nest.state.loops[..];
        let is_adjacent = is_dense(loops, 1, size_of::<A>());
        is_adjacent.then(|| Adjacent { at: nest.pointer(1).cast(), len: steps(loops), brand: PhantomData })
    }

    /// Copies the elements of the input to slots, in the order of the loops, if they are plain numbers.
    ///
    /// # Errors
    /// The slots, if they are not.
    #[inline]
    pub(crate) fn copy<'m, 's>(
        self,
        nest: &Raw<'_, 'b>,
        slots: Slots<'m, 's, A>,
    ) -> Result<Written<'s>, Slots<'m, 's, A>> {
        if !nest.is_plain(1) {
            return Err(slots);
        }
        ensure(slots.len() == steps(nest.loops()), "a slot for each element");
        let len = slots.len();
        // SAFETY: By the invariant, there is an element at every index. They are plain numbers, and there is room for them.
        unsafe { gather(nest, 1, slots.start().cast()) };
        Ok(Written(len, PhantomData))
    }
}

/// Adjacent elements of the input of the nest with the brand `'b`, at every index of a part of it.
pub(crate) struct Adjacent<'b, A> {
    at: *const A,
    len: usize,
    brand: PhantomData<fn(&'b ()) -> &'b ()>,
}

impl<A> Adjacent<'_, A> {
    /// No elements.
    pub(crate) const NONE: Self = Self { at: core::ptr::dangling(), len: 0, brand: PhantomData };
}

impl<A> Deref for Adjacent<'_, A> {
    type Target = [A];

    #[inline(always)]
    fn deref(&self) -> &[A] {
        // SAFETY: These are adjacent elements of an input, which is borrowed for longer than the brand of its nest exists. Or
        // there are none.
        unsafe { slice::from_raw_parts(self.at, self.len) }
    }
}

/// Rows of known types, to be visited once.
pub(crate) struct Rows<'n, T, E> {
    block: Block<'n, 'n>,
    elements: PhantomData<(&'n mut T, &'n E)>,
}

/// How many of the [`Slot`]s with the brand `'s` have been written.
pub(crate) struct Written<'s>(usize, PhantomData<fn(&'s ()) -> &'s ()>);

impl Written<'_> {
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self(0, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, more: Self) {
        self.0 += more.0;
    }

    pub(crate) fn count(&self) -> usize {
        self.0
    }
}

impl<T, E: Elements> Rows<'_, T, E> {
    /// Calls `visit` with each element of the output, and with the elements of the inputs at the same index.
    #[inline(always)]
    pub(crate) fn visit(self, visit: &mut impl Visit<T, E>) {
        simd::dispatch(VisitRows { rows: self, visit });
    }
}

impl<'s, A, E: Elements> Rows<'_, Slot<'s, A>, E> {
    /// Writes each element of the output.
    #[inline(always)]
    pub(crate) fn fill(self, make: &mut impl Make<A, E>) -> Written<'s> {
        ensure(self.block.access == Access::Distinct, "each slot is written once");
        let count = self.block.rows * self.block.len;
        self.visit(&mut Write(make));
        Written(count, PhantomData)
    }
}

struct VisitRows<'n, 'f, T, E, V> {
    rows: Rows<'n, T, E>,
    visit: &'f mut V,
}

impl<T, E: Elements, V: Visit<T, E>> Work for VisitRows<'_, '_, T, E, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (block, visit) = (self.rows.block, self.visit);
        let mut moving = 0;
        let mut is_contiguous = block.strides[0] == size_of::<T>().cast_signed();
        for k in 1..=E::COUNT {
            if block.strides[k] != 0 {
                moving |= 1 << (k - 1);
                is_contiguous &= block.strides[k] == E::SIZES[k].cast_signed();
            }
        }
        let is_row = is_contiguous && E::ROWS.contains(&moving);
        let mut row_at = *block.at;
        for _ in 0..block.rows {
            let mut at = row_at;
            if is_row {
                // SAFETY: By the invariant, these are different elements of the output, and elements of the inputs, which
                // are adjacent or stay.
                unsafe {
                    E::row(slice::from_raw_parts_mut(at[0].cast::<T>(), block.len), &at, moving, visit);
                }
            } else {
                for _ in 0..block.len {
                    // SAFETY: By the invariant, these are an element of the output, and elements of the inputs.
                    unsafe { visit.visit(&mut *at[0].cast::<T>(), E::refs(&at)) };
                    advance(&mut at, block.strides, E::COUNT);
                }
            }
            advance(&mut row_at, block.row_strides, E::COUNT);
        }
    }
}

/// A nest over the batch axes of arrays, at whose indices views of the last axes are: the bases.
pub(crate) struct BaseNest<'n, 'a, T, E: Elements, F, B: Dimension> {
    /// By the invariant, but that a pointer leads to a base, which may have no element.
    nest: Nest<'n, T, E>,
    forms: &'n F,
    out: &'n Form<B>,
    arrays: PhantomData<&'a E>,
}

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

impl<'n, 'a, T, E: Elements, F: Forms<'a, E>, B: Dimension> BaseNest<'n, 'a, T, E, F, B> {
    /// A nest over the batch axes of `out`. `None` if there is no index.
    ///
    /// # Panics
    /// If the batch axes of an input do not go to those of `out`, aligned at the right.
    pub(crate) fn over(
        state: &'n mut State,
        inputs: &'n BaseInputs<'a, E, F>,
        out: &'n mut BaseOutput<'_, T, B>,
    ) -> Option<Self> {
        let BaseInputs { inputs, forms, bases } = inputs;
        let mut of_batches = *inputs;
        for (sizes, base) in of_batches.sizes.iter_mut().zip(bases) {
            *sizes = &sizes[..sizes.len() - base];
        }
        let batch = Output { at: out.batch.at, axes: out.batch.axes, array: PhantomData };
        let mut nest = Nest::over(state, batch.axes.sizes, batch, None, &of_batches)?;
        nest.arrange(0);
        Some(Self { nest, forms, out: &out.form, arrays: PhantomData })
    }

    pub(crate) fn loops(&self) -> &[Loop] {
        self.nest.loops()
    }

    /// Runs parts of the nest, of at least `grain` bases each, on several threads.
    pub(crate) fn in_parts(self, grain: usize, run: &(impl Fn(BaseNest<'_, 'a, T, E, F, B>) + Sync))
    where
        T: Send,
        E: Sync,
        F: Sync,
    {
        let Self { nest, forms, out, arrays } = self;
        in_parts(nest, grain, &|nest| run(BaseNest { nest, forms, out, arrays }));
    }

    /// Calls `visit` with the bases at each index.
    #[inline]
    pub(crate) fn for_each(self, mut visit: impl FnMut(F::Views, ArrayViewMut<'_, T, B>)) {
        let Self { nest, forms, out, .. } = self;
        Raw::of(nest.state).for_each_block(&mut |block| {
            ensure(block.access == Access::Distinct, "bases of the output are different elements");
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
