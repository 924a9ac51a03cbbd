//! The elements of inputs, the loops over them that are compiled for each closure, along rows and over panels in registers, and
//! arrays of these elements.
//!
//! [`Elements`] is implemented here alone, for tuples, whose methods treat every pointer alike, and for tuples behind further outputs.
//! `INFO` has the sizes of the elements, the sets of inputs for which `row` and `panels` have loops of their own, and the inputs whose
//! elements are plain numbers.

use super::cut::{Block, advance};
use super::gather::gather_of;
use super::loops::{ElementInfo, InputSet, NARROW, OPERANDS, Pointers, WIDE};
use super::operands::{DenseAxes, RawInputs, RawOutput, StridedAxes};
use super::panels::Panels;
use crate::kernel::ensure;
use crate::kernel::memory::Count;
use crate::kernel::operation::Operation;
use crate::kernel::simd::is_plain;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ptr::slice_from_raw_parts_mut;
use ndarray::{ArrayRef, Dimension};

/// The types of the inputs' elements: a tuple of up to six.
///
/// Not exported; public because hidden parts of public traits name it.
///
/// # Safety
/// Of the inputs, the methods read pointers `1..=COUNT` only, each as a pointer to elements of the type at its place; `panels` also
/// follows pointer 0, to the output. Those of [`Exclusive`] also write elements `M`: wherever a method asks for borrowed elements,
/// these are borrowed exclusively, and differ from index to index.
#[doc(hidden)]
pub unsafe trait Elements {
    type Refs<'r>
    where
        Self: 'r;

    const COUNT: usize = Self::INFO.count;

    /// The facts that the untyped parts of the kernel need.
    const INFO: ElementInfo;

    /// The element of each input: at `place` for the inputs in `MOVING`, and the first one for the others.
    ///
    /// # Safety
    /// Each pointer points to an element that is borrowed for `'r`; for the inputs in `MOVING`, to more than `place` of them.
    unsafe fn refs_at<'r, const MOVING: u8>(at: &Pointers, place: usize) -> Self::Refs<'r>
    where
        Self: 'r;

    /// Copies each plain number that is not in `moving` `N` times, and sets its pointer to the copies.
    ///
    /// # Safety
    /// As for [`refs_at`](Self::refs_at). There is memory for the copies of each input, as aligned as any plain number.
    unsafe fn repeat<const N: usize>(at: &mut Pointers, moving: InputSet, copies: *mut [u128; N]);

    /// Visits each element of a row with an element of each input.
    ///
    /// # Safety
    /// Each pointer points to an element that is borrowed; for the inputs in `moving`, to as many as the output has. There is
    /// [such a loop](ElementInfo::has_row).
    unsafe fn row<T, V: Visit<T, Self>>(out: &mut [T], at: &Pointers, moving: InputSet, visit: &mut V);

    /// Combines the elements of `N` neighbours at each step of each panel.
    ///
    /// # Safety
    /// As for [`row`](Self::row), at each step of each panel, for `N` elements and `panels.moving`. `N` is `panels.width`. The output
    /// has `N` elements for each panel, which may be uninitialised unless `panels.is_added`.
    #[allow(private_interfaces, private_bounds, reason = "not exported")]
    unsafe fn panels<A: Clone, M: MapElement<A, Self>, O: Operation<A>, const N: usize>(
        at: &Pointers,
        panels: &Panels<'_>,
        map: &mut M,
        op: O,
    ) where
        Self: Sized;
}

/// Elements `M` that are borrowed exclusively, at each index others, and then elements `E`. Only `further` makes such inputs.
///
/// Not exported; public because hidden parts of public traits name it.
pub struct Exclusive<M, E>(PhantomData<(M, E)>);

// SAFETY: `Sync` elements are those that the threads of a pass may have. Each thread has elements `M` of its own, so they are sent, and
// all share elements `E`.
unsafe impl<M: Send, E: Sync> Sync for Exclusive<M, E> {}

/// A function that changes an element of the output, from the elements of the inputs at its index.
///
/// Not exported; public because [`Elements`] names it.
#[doc(hidden)]
pub trait Visit<T, E: Elements + ?Sized> {
    fn visit(&mut self, out: &mut T, items: E::Refs<'_>);
}

/// A function from the elements of the inputs at an index to a result.
pub(crate) trait MapElement<R, E: Elements> {
    fn map(&mut self, items: E::Refs<'_>) -> R;
}

/// The [`InputSet`] of the inputs that move along a row, known to the compiler, and the length of the row unless it is 0.
struct Moving<const INPUTS: u8, const LEN: usize = 0>;

impl<const INPUTS: u8> Moving<INPUTS> {
    /// The place in the slice of operand `k` at place `i` of the row.
    #[inline(always)]
    fn place(k: usize, i: usize) -> usize {
        if InputSet(INPUTS).contains(k) { i } else { 0 }
    }
}

macro_rules! elements {
    ($count:literal $further:literal $row:ident $Self:ty: $($A:ident $a:ident $k:literal $($mut:ident)?),*; $($moving:literal)*) => {
        #[inline(always)]
        fn $row<const INPUTS: u8, const LEN: usize, T, $($A,)* V: Visit<T, $Self>>(
            _: Moving<INPUTS, LEN>,
            out: &mut [T],
            ($($a,)*): ($(&$($mut)? [$A],)*),
            visit: &mut V,
        ) {
            // Slices as parameters: LLVM knows that they do not alias, and vectorises.
            #[inline]
            fn row<const INPUTS: u8, const LEN: usize, T, $($A,)* V: Visit<T, $Self>>(
                out: &mut [T],
                $($a: &$($mut)? [$A],)*
                visit: &mut V,
            ) {
                let len = if LEN == 0 { out.len() } else { LEN };
                $(let $a = &$($mut)? $a[..Moving::<INPUTS>::place($k, len - 1) + 1];)*
                for i in 0..len {
                    visit.visit(&mut out[i], ($(&$($mut)? $a[Moving::<INPUTS>::place($k, i)],)*));
                }
            }
            row::<INPUTS, LEN, T, $($A,)* V>(out, $($a,)* visit);
        }

        // SAFETY: The macro writes the same code for every place of the tuple, with the pointer and the type at that place.
        unsafe impl<$($A),*> Elements for $Self {
            type Refs<'r> = ($(&'r $($mut)? $A,)*) where Self: 'r;

            const INFO: ElementInfo = {
                let (mut sizes, gathers) = ([0; OPERANDS], &[$(gather_of(size_of::<$A>())),*]);
                $(sizes[$k] = size_of::<$A>();)*
                let plain = || InputSet(0 $(| u8::from($k > $further && is_plain::<$A>()) << ($k - 1))*);
                ElementInfo { count: $count, sizes, row_loops: &[$(InputSet($moving)),*], plain, gathers }
            };

            #[inline(always)]
            unsafe fn refs_at<'r, const MOVING: u8>(at: &Pointers, place: usize) -> Self::Refs<'r>
            where
                Self: 'r,
            {
                // SAFETY: The caller promises these elements.
                ($(unsafe { &$($mut)? *at[$k].cast::<$A>().add(Moving::<MOVING>::place($k, place)) },)*)
            }

            #[inline(always)]
            unsafe fn repeat<const N: usize>(at: &mut Pointers, moving: InputSet, copies: *mut [u128; N]) {
                $(if $k > $further && is_plain::<$A>() && !moving.contains($k) {
                    let (from, to) = (at[$k].cast::<MaybeUninit<$A>>(), copies.wrapping_add($k - 1).cast::<MaybeUninit<$A>>());
                    // SAFETY: The caller promises the element and the memory. A plain number has at most 16 bytes.
                    unsafe {
                        let element = from.read();
                        for i in 0..N {
                            to.add(i).copy_from_nonoverlapping(&element, 1);
                        }
                    }
                    at[$k] = to.cast();
                })*
            }

            #[inline(always)]
            unsafe fn row<T, V: Visit<T, Self>>(
                out: &mut [T],
                at: &Pointers,
                moving: InputSet,
                visit: &mut V,
            ) {
                let slices = |at: &Pointers, len: usize, moving: InputSet| {
                    // SAFETY: The caller promises these elements, or they are copies.
                    unsafe { ($(&$($mut)? *slice_from_raw_parts_mut(at[$k].cast::<$A>(), if moving.contains($k) { len } else { 1 }),)*) }
                };
                match moving.0 {
                    $($moving => $row(Moving::<$moving, 0>, out, slices(at, out.len(), moving), visit),)*
                    0 => $row(Moving::<0, 0>, out, slices(at, 1, moving), visit),
                    _ if const { $count < 4 } => unreachable!("a set without a loop"),
                    _ => {
                        let (mut at, mut copies) = (*at, [const { MaybeUninit::<[u128; 2 * NARROW]>::uninit() }; OPERANDS]);
                        // SAFETY: The caller promises these elements.
                        unsafe { Self::repeat::<{ 2 * NARROW }>(&mut at, moving, copies.as_mut_ptr().cast()) };
                        for out in out.chunks_mut(2 * NARROW) {
                            let slices = slices(&at, out.len(), InputSet::ALL);
                            if out.len() == 2 * NARROW {
                                $row(Moving::<{ InputSet::ALL.0 }, { 2 * NARROW }>, out, slices, visit);
                            } else {
                                $row(Moving::<{ InputSet::ALL.0 }, 0>, out, slices, visit);
                            }
                            $(at[$k] = at[$k].wrapping_add(if moving.contains($k) { 2 * NARROW * size_of::<$A>() } else { 0 });)*
                        }
                    }
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
                // SAFETY: The caller promises these elements.
                unsafe {
                    match panels.moving.0 {
                        $($moving => combine::<R, Self, M, O, N, $moving>(at, panels, InputSet::ALL, map, op),)*
                        0 if const { $count == 1 } => combine::<R, Self, M, O, N, 0>(at, panels, InputSet::ALL, map, op),
                        // what stays may be no plain number, which is not repeated
                        moving if const { $count < 4 } || moving == 0 => combine_one_by_one::<R, Self, M, O>(&panels.block(at), map, op),
                        _ => combine::<R, Self, M, O, N, { InputSet::ALL.0 }>(at, panels, panels.moving, map, op),
                    }
                }
            }
        }
    };
}
// Each set has loops of its own in each closure, which keep inputs that stay in registers: all sets of up to three inputs, and of more
// all that move, the first alone, all but one of four, and a layer norm's: an array and the mean and deviation of its row, scaled and
// shifted by two rows. Rows along which all stay have a loop in maps; panels of these, which repeated views alone have, are combined
// one by one. Other sets repeat in memory what stays, and short rows take up to twice as long.
elements!(1 0 row1 (A,): A a 1; 0b1);
elements!(2 0 row2 (A, B): A a 1, B b 2; 0b11 0b01 0b10);
elements!(3 0 row3 (A, B, C): A a 1, B b 2, C c 3; 0b111 0b011 0b101 0b110 0b001 0b010 0b100);
elements!(4 0 row4 (A, B, C, D): A a 1, B b 2, C c 3, D d 4; 0b1111 0b0111 0b1011 0b1101 0b1110 0b0001);
elements!(5 0 row5 (A, B, C, D, E): A a 1, B b 2, C c 3, D d 4, E e 5; 0b11111 0b11001 0b00001);
elements!(6 0 row6 (A, B, C, D, E, G): A a 1, B b 2, C c 3, D d 4, E e 5, G g 6; 0b11_1111 0b00_0001);
// further outputs move with the output
elements!(2 1 row_u1 Exclusive<(U,), (A,)>: U u 1 mut, A a 2; 0b11 0b01);
elements!(3 1 row_u2 Exclusive<(U,), (A, B)>: U u 1 mut, A a 2, B b 3; 0b111 0b011 0b101 0b001);
elements!(4 1 row_u3 Exclusive<(U,), (A, B, C)>: U u 1 mut, A a 2, B b 3, C c 4; 0b1111 0b0111 0b1011 0b1101 0b0001);
elements!(5 1 row_u4 Exclusive<(U,), (A, B, C, D)>: U u 1 mut, A a 2, B b 3, C c 4, D d 5; 0b11111 0b00001);
elements!(6 1 row_u5 Exclusive<(U,), (A, B, C, D, E)>: U u 1 mut, A a 2, B b 3, C c 4, D d 5, E e 6; 0b11_1111 0b00_0001);
elements!(3 2 row_w1 Exclusive<(U, W), (A,)>: U u 1 mut, W w 2 mut, A a 3; 0b111 0b011);
elements!(4 2 row_w2 Exclusive<(U, W), (A, B)>: U u 1 mut, W w 2 mut, A a 3, B b 4; 0b1111 0b0111 0b1011);
elements!(5 2 row_w3 Exclusive<(U, W), (A, B, C)>: U u 1 mut, W w 2 mut, A a 3, B b 4, C c 5; 0b11111 0b00011);
elements!(6 2 row_w4 Exclusive<(U, W), (A, B, C, D)>: U u 1 mut, W w 2 mut, A a 3, B b 4, C c 5, D d 6; 0b11_1111 0b00_0011);

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
    moving: InputSet,
    map: &mut M,
    op: O,
) {
    // local copies: LLVM knows that writes to the output do not change them
    let (mut first_at, panel_strides, step_strides) = (*at, *panels.panel_strides, *panels.step_strides);
    let (count, mut steps, is_added, overlap) = (panels.count, panels.steps, panels.is_added, panels.overlap);
    let mut memory = [const { MaybeUninit::<[u128; N]>::uninit() }; OPERANDS];
    // one pointer for all copies: another one would invalidate those to copies that are kept
    let copies = memory.as_mut_ptr().cast();
    // inputs that stay along a row move from one step to the next, or are repeated once
    let moves = InputSet(moving.0 | InputSet::of(E::COUNT, |k| step_strides[k] != 0).0);
    let again = InputSet(moving.0 | !moves.0);
    for _ in 0..count {
        let mut at = first_at;
        let out = first_at[0].cast::<A>();
        let mut sums = [const { MaybeUninit::<A>::uninit() }; N];
        // SAFETY: The caller promises these elements. Every sum was written.
        unsafe {
            E::repeat::<N>(&mut at, moves, copies);
            let mut step_at = at;
            E::repeat::<N>(&mut step_at, again, copies);
            for i in 0..N {
                sums[i].write(map.map(E::refs_at::<MOVING>(&step_at, i)));
            }
            advance(&mut at, &step_strides, E::COUNT);
            for _ in 1..steps {
                // LLVM would change some of these sums, of a maximum, by masked stores: seven times as long
                let mut step_at = at;
                E::repeat::<N>(&mut step_at, again, copies);
                let mut next = [const { MaybeUninit::<A>::uninit() }; N];
                for i in 0..N {
                    let element = map.map(E::refs_at::<MOVING>(&step_at, i));
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
            // the result of the lane is known
            let is_final = |is_final: fn(&A) -> bool| sums.iter().any(|sum| is_final(sum.assume_init_ref()));
            if const { N == WIDE } && panels.is_lane && O::IS_FINAL.is_some_and(is_final) {
                steps = 1;
            }
        }
        advance(&mut first_at, &panel_strides, E::COUNT);
    }
}

/// Combines the elements of each output of a block, one after the other.
///
/// # Safety
/// As for [`Rows::visit`](super::closures::Rows::visit).
#[inline(never)]
pub(super) unsafe fn combine_one_by_one<A: Clone, E: Elements, M: MapElement<A, E>, O: Operation<A>>(
    block: &Block,
    map: &mut M,
    op: O,
) {
    let (mut round_at, mut is_added) = (block.at, block.is_added);
    for _ in 0..block.rounds.len {
        block.for_each(&round_at, E::COUNT, |at| {
            // SAFETY: The caller promises these elements.
            unsafe {
                let (mut at, out) = (*at, at[0].cast::<A>());
                let mut sum = map.map(E::refs_at::<0>(&at, 0));
                for _ in 1..block.steps.len {
                    advance(&mut at, &block.steps.strides, E::COUNT);
                    sum = op.apply(sum, map.map(E::refs_at::<0>(&at, 0)));
                }
                out.write(if is_added { op.apply((*out).clone(), sum) } else { sum });
            }
        });
        advance(&mut round_at, &block.rounds.strides, E::COUNT);
        is_added = true;
    }
}

/// An array to write to.
pub(crate) struct Output<'a, T> {
    pub(super) raw: RawOutput<'a>,
    array: PhantomData<&'a mut T>,
}

impl<'a, T> Output<'a, T> {
    #[inline(always)]
    pub(crate) fn of<D: Dimension>(array: &'a mut ArrayRef<T, D>) -> Self {
        let (at, size) = (array.as_mut_ptr().cast(), size_of::<T>());
        let axes = StridedAxes { sizes: array.shape(), strides: array.strides() };
        Self { raw: RawOutput { at, size, axes, count: Count::NONE }, array: PhantomData }
    }
}

/// Arrays of elements `E` that are read together.
pub struct Inputs<'a, E> {
    pub(super) raw: RawInputs<'a>,
    pub(super) arrays: PhantomData<&'a E>,
}

impl<'a, E> Deref for Inputs<'a, E> {
    type Target = RawInputs<'a>;

    #[inline(always)]
    fn deref(&self) -> &RawInputs<'a> {
        &self.raw
    }
}

macro_rules! inputs {
    ($count:literal: $($A:ident $D:ident $a:ident $k:literal),+) => {
        impl<'a, $($A, $D: Dimension),+> From<($(&'a ArrayRef<$A, $D>,)+)> for Inputs<'a, ($($A,)+)> {
            #[inline(always)]
            fn from(($($a,)+): ($(&'a ArrayRef<$A, $D>,)+)) -> Self {
                let (mut at, mut sizes, mut strides) =
                    ([core::ptr::null(); OPERANDS - 1], [&[][..]; OPERANDS - 1], [&[][..]; OPERANDS - 1]);
                $((at[$k], sizes[$k], strides[$k]) = ($a.as_ptr().cast(), $a.shape(), $a.strides());)+
                let info = const { &<($($A,)+) as Elements>::INFO };
                Self { raw: RawInputs { at, sizes, strides, info }, arrays: PhantomData }
            }
        }
    };
}
inputs!(1: A DA a 0);
inputs!(2: A DA a 0, B DB b 1);
inputs!(3: A DA a 0, B DB b 1, C DC c 2);
inputs!(4: A DA a 0, B DB b 1, C DC c 2, D DD d 3);
inputs!(5: A DA a 0, B DB b 1, C DC c 2, D DD d 3, E DE e 4);
inputs!(6: A DA a 0, B DB b 1, C DC c 2, D DD d 3, E DE e 4, F DF f 5);

impl<'a, A> Inputs<'a, (A,)> {
    /// Elements along axes.
    ///
    /// # Panics
    /// If there is not one for each index.
    pub(crate) fn contiguous(elements: &'a [A], axes: &'a DenseAxes<'_>) -> Self {
        ensure(axes.len == elements.len(), "not an element for each index");
        let StridedAxes { sizes, strides } = axes.strided();
        let (at, info) = ([elements.as_ptr().cast(); OPERANDS - 1], const { &<(A,)>::INFO });
        let (sizes, strides) = ([sizes; OPERANDS - 1], [strides; OPERANDS - 1]);
        Self { raw: RawInputs { at, sizes, strides, info }, arrays: PhantomData }
    }
}
