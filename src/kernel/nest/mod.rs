//! The owner of loops, pointers and borrows together. Every pointer of a pass over arrays is made and moved here.
//!
//! # Invariant
//! A [`Nest`] has loops, and a pointer for each operand. The output is the operand that is written, and the inputs are
//! those that are read. At every index of the loops,
//! - the pointer of each input, moved by its strides, points to an element that is borrowed for `'a`;
//! - the pointer of the output, moved by its strides, points to an element that is borrowed exclusively for `'a`, by this
//!   nest alone;
//! - two indices that differ in a loop along which the output moves lead to different elements of the output.
//!
//! The constructors check this. Each method keeps it, because it visits all or some of the same indices, in another order
//! or grouped into other loops. A nest that writes is neither `Copy` nor `Clone`, and elements of type `()` are never read
//! or written, so no element is written through two nests at once.
//!
//! [`operands`] are what the constructors take. The methods that make nests from nests are in [`parts`]. Neither module has
//! unsafe code, but the invariant holds because of them too: they see the private fields of this one.

mod operands;
mod parts;

pub(crate) use operands::{Input, Inputs, Output};

use super::loop_plan::{LoopPlan, Loops, Outside, Walk};
use super::loops::{
    Loop, OPERANDS, Offsets, PART, SEGMENT, all_inputs, evenly_spaced, has, inputs_move_as, is_adjacent,
    lanes_together, moves_as, plan_parts,
};
use super::memory::{Buffers, LARGEST_COPY, WriteOnly, array, copy_across, repeat_row};
use super::operation::{Operation, by_halves, halve};
use super::simd::{Cpu, OPTIMISED, end_of_reads, is_float, opaque, plain_size};
use super::strided::{
    Dropped, are_packed, matrix_loops, plan_aligned, plan_summed, small_aligned, small_summed,
};
use crate::kernel::ensure;
use core::hint::black_box;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop};
use core::ptr::null;
use core::slice;
use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};

/// The element types of the inputs: a tuple of up to six.
///
/// Not exported; public because hidden parts of public traits name it.
///
/// # Safety
/// Every method treats its operands as elements of these types, in this order: nests rely on it.
pub unsafe trait Elements {
    /// A pointer into each operand.
    type Pointers: Copy;
    /// An element of each operand.
    type Refs<'r>
    where
        Self: 'r;

    const COUNT: usize;

    /// The pointers, moved by these offsets in wrapping arithmetic.
    fn moved(at: Self::Pointers, by: &Offsets) -> Self::Pointers;

    /// # Safety
    /// `at` points to elements that are borrowed for `'r`.
    unsafe fn refs<'r>(at: Self::Pointers) -> Self::Refs<'r>
    where
        Self: 'r;

    /// Visits a row. The inputs whose bits are set in `MOVING` move by one element, the others stay.
    ///
    /// `C` is the CPU for which the row is compiled: each instance has one caller, into which it is inlined.
    ///
    /// # Safety
    /// From `at` on, `out.len()` elements of each input that moves are borrowed, and one element of each of the others.
    unsafe fn row_of<T, C, V: Visit<T, Self>, const MOVING: u8, const LEN: usize>(
        out: &mut [T],
        at: Self::Pointers,
        visit: &mut V,
    );

    /// Calls [`row_of`](Self::row_of) for `moving`, for which [`has_loop`](Self::has_loop) is true.
    ///
    /// # Safety
    /// As [`row_of`](Self::row_of), with `moving` in place of `MOVING`.
    unsafe fn row<T, C: Cpu, V: Visit<T, Self>>(out: &mut [T], at: Self::Pointers, moving: u8, visit: &mut V);

    /// Visits several rows that have the same outputs: these stay in registers. Along a row, all inputs move by one element,
    /// and from row to row by `by`.
    ///
    /// # Safety
    /// As [`row_of`](Self::row_of), for each row.
    unsafe fn rows<T, C, V: Visit<T, Self>>(
        out: &mut [T; PART],
        at: Self::Pointers,
        rows: usize,
        by: &Offsets,
        visit: &mut V,
    );

    /// The combined items of a lane: `lens` are the number of its chunks of `N` items, `N`, and the number of other items.
    ///
    /// Each segment of up to [`SEGMENT`] chunks has `N` partial results, which stay in registers and are combined to four by
    /// halves. The four of each segment are combined with those of the segments before it, and so are the next four items if
    /// all inputs move. At the end, they are combined to one result, and the other items follow it. The inputs whose bits are
    /// set in `MOVING` move by one element, the others stay.
    ///
    /// # Safety
    /// As [`row_of`](Self::row_of), for a row of as many items.
    unsafe fn lane_of<T: Clone, C: Cpu, V: Reducer<T, Self>, const MOVING: u8, const N: usize>(
        at: Self::Pointers,
        lens: [usize; 3],
        visit: &mut V,
    ) -> T;

    /// Calls [`lane_of`](Self::lane_of) for `moving`, for which [`has_loop`](Self::has_loop) is true.
    ///
    /// # Safety
    /// As [`lane_of`](Self::lane_of), with `moving` in place of `MOVING`.
    unsafe fn lane<T: Clone, C: Cpu, V: Reducer<T, Self>, const N: usize>(
        at: Self::Pointers,
        lens: [usize; 3],
        moving: u8,
        visit: &mut V,
    ) -> T;

    /// Whether a loop is compiled for rows in which these inputs move by one element and the others stay.
    fn has_loop(moving: u8) -> bool;

    /// The size of the elements of operand `k` if they are plain numbers. The first input is operand 1.
    fn plain_size(k: usize) -> Option<usize>;

    /// The pointer into operand `k` at place `k`, and null at the others.
    fn erased(at: Self::Pointers) -> [*const (); OPERANDS];

    /// The pointers, those of the operands in `copied` to their copies: that of operand `k` at place `k - 1`.
    ///
    /// Not from their [`erased`](Self::erased) form, which is in memory: the loops over a short row would wait for them.
    fn to_copies(at: Self::Pointers, copied: u8, copies: *const [u8; LARGEST_COPY]) -> Self::Pointers;
}

/// An operation on an element of the output and the inputs' elements at its index.
pub trait Visit<T, E: Elements + ?Sized> {
    /// Whether the operation combines items with an output: see [`Reducer`].
    #[doc(hidden)]
    const REDUCES: bool = false;

    /// Whether the operation reads the output, so that rows are visited in copies of a few outputs.
    #[doc(hidden)]
    const READS: bool = false;

    #[doc(hidden)]
    fn visit(&mut self, out: &mut T, items: E::Refs<'_>);
}

/// A [`Visit`] that combines items with partial results.
pub trait Reducer<T, E: Elements + ?Sized>: Visit<T, E> {
    /// A type of its own, so that what needs the operation alone is compiled once for all closures that are summed.
    #[doc(hidden)]
    type Op: Operation<T>;

    #[doc(hidden)]
    fn op(&self) -> Self::Op;

    /// What [`visit`](Visit::visit) combines with the output.
    #[doc(hidden)]
    fn make(&mut self, items: E::Refs<'_>) -> T;
}

/// Values in lines of the cache: those that are read just after they were written would wait if they lay in two.
#[repr(align(64))]
struct Line<T>(T);

/// The number of outputs that are visited as copies, and then written back.
const COPIES: usize = 8;

/// Whether outputs of this type are visited as copies: see [`end_of_reads`].
const fn is_copied<T>() -> bool {
    OPTIMISED && !needs_drop::<T>() && matches!(size_of::<T>(), 4 | 8)
}

macro_rules! elements {
    ($count:literal: $($A:ident $a:ident $k:literal),*; $($moving:literal)*) => {
        #[allow(unused_variables, unused_mut, unused_unsafe, clippy::unused_unit, clippy::manual_range_patterns, reason = "there may be no input")]
        // SAFETY: Each method treats every element of the tuple alike.
        unsafe impl<$($A),*> Elements for ($($A,)*) {
            type Pointers = ($(*const $A,)*);
            type Refs<'r> = ($(&'r $A,)*) where Self: 'r;

            const COUNT: usize = $count;

            #[inline(always)]
            fn moved(($($a,)*): Self::Pointers, by: &Offsets) -> Self::Pointers {
                ($($a.wrapping_offset(by[$k]),)*)
            }

            #[inline(always)]
            unsafe fn refs<'r>(($($a,)*): Self::Pointers) -> Self::Refs<'r>
            where
                Self: 'r,
            {
                // SAFETY: The caller promises these elements.
                ($(unsafe { &*$a },)*)
            }

            // Not `inline(always)`: LLVM loses that `out` does not alias the operands, and checks it at run time.
            #[inline]
            unsafe fn row_of<T, C, V: Visit<T, Self>, const MOVING: u8, const LEN: usize>(
                out: &mut [T],
                ($($a,)*): Self::Pointers,
                visit: &mut V,
            ) {
                let out = if const { LEN > 0 } { &mut out[..LEN] } else { out };
                let mut i = 0;
                if const { V::READS && is_copied::<T>() } {
                    $(
                        // A number that stays is read once: at the end of the reads of each part, the compiler forgets it.
                        let stays = const { !has(MOVING, $k) } && is_float::<$A>();
                        let number = if stays {
                            // SAFETY: The caller promises this element, whose bits may be copied.
                            unsafe { $a.cast::<MaybeUninit<$A>>().read() }
                        } else {
                            MaybeUninit::uninit()
                        };
                        let $a = if stays { number.as_ptr() } else { $a };
                    )*
                    while let Some(part) = out[i..].first_chunk_mut::<COPIES>() {
                        let mut changed = [const { MaybeUninit::<T>::uninit() }; COPIES];
                        let mut j = 0;
                        while j < COPIES {
                            // SAFETY: The caller promises these elements.
                            let items = unsafe { ($(&*if const { has(MOVING, $k) } { $a.add(i + j) } else { $a },)*) };
                            // SAFETY: The element is not used before it is overwritten, nor dropped: its type needs no drop.
                            let mut copy = unsafe { (&raw const part[j]).read() };
                            visit.visit(&mut copy, items);
                            changed[j].write(copy);
                            j += 1;
                        }
                        end_of_reads();
                        // SAFETY: Every element was initialised just above.
                        *part = unsafe { changed.as_ptr().cast::<[T; COPIES]>().read() };
                        i += COPIES;
                    }
                }
                while i < out.len() {
                    // SAFETY: The caller promises these elements.
                    let items = unsafe { ($(&*if const { has(MOVING, $k) } { $a.add(i) } else { $a },)*) };
                    visit.visit(&mut out[i], items);
                    if const { V::READS && is_copied::<T>() } {
                        // few: not to be vectorised
                        end_of_reads();
                    }
                    i += 1;
                }
            }

            #[inline(always)]
            unsafe fn row<T, C: Cpu, V: Visit<T, Self>>(
                out: &mut [T],
                at: Self::Pointers,
                moving: u8,
                visit: &mut V,
            ) {
                // SAFETY: The caller promises this.
                unsafe {
                    match moving {
                        $($moving if const { OPTIMISED && C::WIDE && !V::REDUCES && !V::READS } && out.len() == 8 => {
                            Self::row_of::<T, C, V, $moving, 8>(out, at, visit)
                        }
                        $moving => Self::row_of::<T, C, V, $moving, 0>(out, at, visit),)*
                        _ => unreachable!("a loop that there is"),
                    }
                }
            }

            // Not `inline(always)`, as `row_of`.
            #[inline]
            unsafe fn rows<T, C, V: Visit<T, Self>>(
                out: &mut [T; PART],
                mut at: Self::Pointers,
                rows: usize,
                by: &Offsets,
                visit: &mut V,
            ) {
                let mut row = 0;
                while row < rows {
                    let ($($a,)*) = at;
                    let mut i = 0;
                    while i < PART {
                        // SAFETY: The caller promises these elements.
                        let items = ($(unsafe { &*$a.add(i) },)*);
                        visit.visit(&mut out[i], items);
                        i += 1;
                    }
                    at = Self::moved(at, by);
                    row += 1;
                }
            }

            #[inline]
            unsafe fn lane_of<T: Clone, C: Cpu, V: Reducer<T, Self>, const MOVING: u8, const N: usize>(
                ($(mut $a,)*): Self::Pointers,
                [mut chunks, step, mut rest]: [usize; 3],
                visit: &mut V,
            ) -> T {
                let by = visit.op();
                let mut four = filled::<T, 4>(&by.identity());
                while chunks > 0 {
                    let end = chunks.saturating_sub(SEGMENT);
                    let mut results = filled::<T, N>(&by.identity());
                    while chunks > end {
                        let mut j = 0;
                        while j < N {
                            // SAFETY: The caller promises these elements.
                            let items = unsafe { ($(&*if const { has(MOVING, $k) } { $a.add(j) } else { $a },)*) };
                            let made = visit.make(items);
                            results[j] = by.apply(results[j].clone(), made);
                            j += 1;
                        }
                        $(if const { has(MOVING, $k) } {
                            $a = $a.wrapping_add(step);
                        })*
                        chunks -= 1;
                    }
                    let halves = halved::<C, T, N>(results, by);
                    let mut j = 0;
                    while j < 4 {
                        four[j] = by.apply(four[j].clone(), halves[j].clone());
                        j += 1;
                    }
                }
                // not where an input stays: for each kind of lane, this takes the compiler 3 % of a closure's time
                if const { MOVING == all_inputs($count) } && rest >= 4 {
                    let mut j = 0;
                    while j < 4 {
                        // SAFETY: The caller promises these elements.
                        let items = unsafe { ($(&*$a.add(j),)*) };
                        let made = visit.make(items);
                        four[j] = by.apply(four[j].clone(), made);
                        j += 1;
                    }
                    $($a = $a.wrapping_add(4);)*
                    rest -= 4;
                }
                let mut result = total::<C, T>(four, by);
                let mut j = 0;
                while j < rest {
                    // SAFETY: The caller promises these elements.
                    let items = unsafe { ($(&*if const { has(MOVING, $k) } { $a.add(j) } else { $a },)*) };
                    visit.visit(&mut result, items);
                    j += 1;
                    // few: not to be vectorised
                    end_of_reads();
                }
                result
            }

            #[inline(always)]
            unsafe fn lane<T: Clone, C: Cpu, V: Reducer<T, Self>, const N: usize>(
                at: Self::Pointers,
                lens: [usize; 3],
                moving: u8,
                visit: &mut V,
            ) -> T {
                // SAFETY: The caller promises this.
                unsafe {
                    match moving {
                        $($moving if const { $moving > 0 } => Self::lane_of::<T, C, V, $moving, N>(at, lens, visit),)*
                        _ => unreachable!("a loop that there is"),
                    }
                }
            }

            #[inline(always)]
            fn has_loop(moving: u8) -> bool {
                matches!(moving, $($moving)|*)
            }

            #[inline(always)]
            fn plain_size(k: usize) -> Option<usize> {
                match k {
                    $($k => plain_size::<$A>(),)*
                    _ => None,
                }
            }

            #[inline(always)]
            fn erased(($($a,)*): Self::Pointers) -> [*const (); OPERANDS] {
                let mut at = [null(); OPERANDS];
                $(at[$k] = $a.cast();)*
                at
            }

            #[inline(always)]
            fn to_copies(
                ($($a,)*): Self::Pointers,
                copied: u8,
                copies: *const [u8; LARGEST_COPY],
            ) -> Self::Pointers {
                ($(if has(copied, $k) { copies.wrapping_add($k - 1).cast() } else { $a },)*)
            }
        }
    };
}
elements!(0: ; 0);
elements!(1: A a 1; 0b1 0b0);
elements!(2: A a 1, B b 2; 0b11 0b01 0b10);
elements!(3: A a 1, B b 2, C2 c 3; 0b111 0b011 0b101 0b110);
elements!(4: A a 1, B b 2, C2 c 3, D d 4; 0b1111 0b0111 0b1011 0b1101 0b1110);
elements!(5: A a 1, B b 2, C2 c 3, D d 4, E e 5; 0b11111);
elements!(6: A a 1, B b 2, C2 c 3, D d 4, E e 5, F f 6; 0b11_1111);

/// As many partial results.
// Not generic over an operation: it is compiled once for all closures.
#[inline(always)]
fn filled<T: Clone, const N: usize>(identity: &T) -> [T; N] {
    array(|_| identity.clone())
}

/// The partial results of a segment, combined by halves.
// Not `inline(always)`, and not generic over a closure: it is optimised once for all of them.
#[inline]
fn halved<C: Cpu, T: Clone, const N: usize>(mut results: [T; N], by: impl Operation<T>) -> [T; 4] {
    if !opaque::<C, T, N>(&mut results) {
        results = black_box(Line(results)).0;
    }
    halve(&mut results, by)
}

/// The same for the results of all segments.
#[inline]
fn total<C: Cpu, T: Clone>(mut four: [T; 4], by: impl Operation<T>) -> T {
    // opaque again: for all halves at once, the compiler takes three times as many shuffles
    opaque::<C, T, 4>(&mut four);
    by_halves(four, by)
}

/// Loops, and pointers to the operands: see the invariant of this module.
pub(crate) struct Nest<'a, T, E: Elements> {
    loops: &'a [Loop],
    out: *mut T,
    read: E::Pointers,
    arrays: PhantomData<(&'a mut T, &'a E)>,
}

/// A nest with one input, whose outputs have the same type and are not read.
pub(crate) type UnaryNest<'a, A> = Nest<'a, WriteOnly<A>, (A,)>;

/// A closure that takes a nest. Not `dyn FnMut`: the vtable of that has the closure twice, by reference and by value.
pub(crate) trait NestFn<T, E: Elements> {
    fn call(&mut self, nest: Nest<'_, T, E>);
}

impl<T, E: Elements, F: FnMut(Nest<'_, T, E>)> NestFn<T, E> for F {
    #[inline]
    fn call(&mut self, nest: Nest<'_, T, E>) {
        self(nest);
    }
}

// SAFETY: By the invariant, a nest gives the access that `&mut T` and `&E` give.
unsafe impl<T: Send, E: Elements + Sync> Send for Nest<'_, T, E> {}

// SAFETY: A nest that writes nothing gives the access that `&E` gives.
unsafe impl<E: Elements + Sync> Sync for Nest<'_, (), E> {}

impl<E: Elements> Clone for Nest<'_, (), E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Elements> Copy for Nest<'_, (), E> {}

impl<'a, T, E: Elements> Nest<'a, T, E> {
    /// Loops over `shape`, or over the shape of `out`. `None` if the shape has no index.
    ///
    /// All operands are broadcast to the shape, aligned at the right. `out` is too: it is reduced along the axes that it
    /// does not have or has with size 1.
    ///
    /// # Panics
    /// If an operand does not stretch to the shape.
    #[inline]
    pub(crate) fn over(
        plan: &'a mut LoopPlan,
        shape: Option<&[usize]>,
        out: Output<'a, T>,
        inputs: &Inputs<'a, E>,
        outside: Outside,
    ) -> Option<Self> {
        let (pointer, axes) = out.into_parts();
        plan_aligned(plan, shape.unwrap_or(axes.sizes), &axes, inputs.sizes_and_strides(), outside);
        Self::planned(plan, pointer, inputs.at)
    }

    /// [`over`](Self::over) with the axes of the shape as the loops, if these have up to `most` indices: see
    /// [`small_aligned`].
    ///
    /// # Panics
    /// If an operand does not stretch to the shape.
    #[inline(always)]
    pub(crate) fn small(
        room: &'a mut [Loop; 2],
        most: usize,
        shape: Option<&[usize]>,
        out: &'a mut Output<'_, T>,
        inputs: &Inputs<'a, E>,
    ) -> Option<Self> {
        let shape = shape.unwrap_or(out.axes.sizes);
        let loops = small_aligned(room, most, shape, &out.axes, inputs.sizes_and_strides())?;
        Some(Self { loops, out: out.at, read: inputs.at, arrays: PhantomData })
    }

    /// Loops over the batch axes of `out`. `None` if there is no index.
    ///
    /// The last `bases[0]` axes of `out` and the last `bases[k]` axes of input `k` are base axes. The others are batch axes,
    /// which are broadcast to those of `out`. At each index, the pointers are at the first elements of the bases. If a base
    /// has no elements, the pointer of its operand may be anywhere.
    ///
    /// # Panics
    /// If an operand has fewer axes than its base, or its batch does not stretch to that of `out`.
    ///
    /// # Safety
    /// The caller uses the pointers for elements of the bases only, and not at all for a base without elements.
    pub(crate) unsafe fn batches(
        plan: &'a mut LoopPlan,
        out: Output<'a, T>,
        inputs: &mut Inputs<'a, E>,
        bases: &[usize],
    ) -> Option<Self> {
        let (pointer, axes) = out.into_parts();
        inputs.plan_batches(plan, axes, bases);
        Self::planned(plan, pointer, inputs.at)
    }

    /// A nest of the plan's loops. `None` if the plan is empty. The pointers are at the operands' elements at index zero.
    #[inline]
    fn planned(plan: &'a LoopPlan, out: *mut T, read: E::Pointers) -> Option<Self> {
        if plan.is_empty {
            return None;
        }
        let nest = Self { loops: &plan.loops, out, read, arrays: PhantomData };
        Some(nest.moved_by(&plan.start))
    }

    /// The nest with moved pointers, for methods that keep the invariant.
    #[inline(always)]
    fn moved_by(&self, by: &Offsets) -> Self {
        Self { out: self.out.wrapping_offset(by[0]), read: E::moved(self.read, by), ..*self }
    }

    /// The nest with slots of another type, for methods that keep the invariant.
    #[inline(always)]
    fn with_slots<U>(&self) -> Nest<'a, U, E> {
        Nest { loops: self.loops, out: self.out.cast(), read: self.read, arrays: PhantomData }
    }

    /// The loops, outermost first.
    #[inline(always)]
    pub(crate) fn loops(&self) -> &'a [Loop] {
        self.loops
    }

    /// The same nest, whose former elements in the output are forgotten when they are overwritten.
    #[inline(always)]
    pub(crate) fn overwriting(self) -> Nest<'a, WriteOnly<T>, E> {
        self.with_slots()
    }

    /// The inputs alone, along the same loops.
    #[inline(always)]
    pub(crate) fn read(&self) -> Nest<'a, (), E> {
        self.with_slots()
    }

    /// Walks the outer loops: at each of their indices, a nest of the `inner` innermost loops.
    #[inline(always)]
    pub(crate) fn walk(self, inner: usize) -> Steps<'a, T, E> {
        let (outer, inner) = self.loops.split_at(self.loops.len() - inner);
        Steps { start: Self { loops: inner, ..self }, outer: Walk::over(outer) }
    }

    /// Calls `then` with the innermost loops, at most `most` of them, at each index of the others.
    // Not inline: a walk is much code. Short blocks are walked where they are visited: a call takes as long as a short row.
    #[inline(never)]
    pub(crate) fn each_block(self, most: usize, then: &mut dyn NestFn<T, E>) {
        if self.loops.len() <= most {
            return then.call(self);
        }
        let mut blocks = self.walk(most);
        while let Some(block) = blocks.next() {
            then.call(block);
        }
    }

    /// The pointers at index zero, of the output and of the inputs.
    #[inline(always)]
    pub(crate) fn pointers(&self) -> (*mut T, E::Pointers) {
        (self.out, self.read)
    }

    /// The output's element at index zero.
    #[inline(always)]
    pub(crate) fn slot(self) -> &'a mut T {
        // SAFETY: Index zero is one of the loops', so the invariant holds for the element; the nest is used up.
        unsafe { &mut *self.out }
    }

    /// Calls `then` for each element of the output along the last loop, at index zero of the others, with its value: every
    /// `step`-th of `values`. Without loops, there is one element.
    ///
    /// # Panics
    /// If there are too few values.
    #[inline(always)]
    pub(crate) fn each_slot<V>(self, values: &mut [V], step: usize, mut then: impl FnMut(&mut T, &mut V)) {
        match if step == 1 { self.slots() } else { Err(self) } {
            Ok(slots) => {
                let values = &mut values[..slots.len()];
                slots.iter_mut().zip(values).for_each(|(slot, value)| then(slot, value));
            }
            Err(outputs) => outputs.each_strided_slot(values, step, then),
        }
    }

    /// [`each_slot`](Self::each_slot), one after the other: for few elements.
    #[inline(always)]
    pub(crate) fn each_strided_slot<V>(
        self,
        values: &mut [V],
        step: usize,
        mut then: impl FnMut(&mut T, &mut V),
    ) {
        let row = self.loops.last().unwrap_or(&Loop::ONE);
        for i in 0..row.len {
            let at = self.out.wrapping_offset(i.cast_signed() * row.strides[0]);
            // SAFETY: This is an index of the loops, and the only reference to the element.
            then(unsafe { &mut *at }, &mut values[i * step]);
            // not to be vectorised
            end_of_reads();
        }
    }

    /// The output's elements along the last loop, at index zero of the others. If they are not adjacent, the nest comes back.
    #[inline(always)]
    pub(crate) fn slots(self) -> Result<&'a mut [T], Self> {
        match self.loops.last() {
            // SAFETY: These are indices of the loops. The output moves along this one, so by the invariant they lead to
            // different elements, and these are adjacent; the nest is used up.
            Some(row) if row.strides[0] == 1 => Ok(unsafe { slice::from_raw_parts_mut(self.out, row.len) }),
            _ => Err(self),
        }
    }

    /// Calls `visit` at every index of up to two loops, row by row, from item `from` of each row on. Along a row, the
    /// output and the inputs of `moving` move by one element, and the other inputs stay; see [`Elements::row`].
    ///
    /// # Panics
    /// If there are more loops, the operands move in another way, or the rows have fewer items than `from`.
    #[inline(always)]
    pub(crate) fn visit_rows<C: Cpu, V: Visit<T, E>>(&mut self, from: usize, moving: u8, visit: &mut V) {
        let [rows, row] = self.last_two();
        ensure(moves_as(row, moving, E::COUNT) && from <= row.len, "a row of that kind");
        let (mut out, mut read, len) = (self.out, self.read, row.len - from);
        if from > 0 {
            (out, read) = (out.wrapping_add(from), E::moved(read, &row.after(from)));
        }
        let mut i = 0;
        while i < rows.len {
            // SAFETY: These are indices of the loops, along a row in which the operands move as asserted above. This is
            // the only reference to these elements of the output.
            unsafe { E::row::<T, C, V>(slice::from_raw_parts_mut(out, len), read, moving, visit) };
            out = out.wrapping_offset(rows.strides[0]);
            read = E::moved(read, &rows.strides);
            i += 1;
        }
    }

    /// Whether the loops are rows of at least [`PART`] items that have the same outputs, along which all operands move by one
    /// element.
    // Not inline: it need not be compiled for each closure.
    #[inline(never)]
    pub(crate) fn reduces_rows(&self) -> bool {
        matches!(self.loops, [rows, row] if rows.is_reduced() && row.len >= PART
            && moves_as(row, all_inputs(E::COUNT), E::COUNT))
    }

    /// [`visit_rows`](Self::visit_rows) where the nest [`reduces_rows`](Self::reduces_rows): [`PART`] outputs at a time stay
    /// in registers while several rows are visited. Returns the number of items that were visited in each row.
    ///
    /// # Panics
    /// If the loops are others.
    #[inline(always)]
    pub(crate) fn visit_parts<C, V: Visit<T, E>>(&mut self, visit: &mut V) -> usize {
        ensure(self.reduces_rows(), "rows that are reduced");
        let mut groups = [Loop::ONE; 2];
        let at_once = plan_parts(self.loops, &mut groups);
        let ([groups, parts], rows) = (&groups, &self.loops[self.loops.len() - 2]);
        let (mut group, mut remaining) = (self.read, rows.len);
        while remaining > 0 {
            let (mut out, mut read, count) = (self.out, group, at_once.min(remaining));
            let mut i = 0;
            while i < parts.len {
                // SAFETY: These are indices of the loops. Along a row, the operands move as asserted above, and from row to
                // row, the output stays. This is the only reference to these elements of the output.
                unsafe { E::rows::<T, C, V>(&mut *out.cast(), read, count, &rows.strides, visit) };
                out = out.wrapping_offset(parts.strides[0]);
                read = E::moved(read, &parts.strides);
                i += 1;
            }
            group = E::moved(group, &groups.strides);
            remaining -= count;
        }
        self.loops[self.loops.len() - 1].len / PART * PART
    }

    /// The number of items in a lane of [`visit_lanes`](Self::visit_lanes).
    ///
    /// # Panics
    /// As there.
    // Not inline, as `reduces_rows`.
    #[inline(never)]
    fn length_of_lanes(&self, moving: u8) -> usize {
        let [_, lane] = self.last_two();
        ensure(lane.is_reduced() && inputs_move_as(lane, moving, E::COUNT), "lanes of that kind");
        lane.len
    }

    /// Combines the items of each lane with its output. The lane is the innermost of up to two loops: along it, the output
    /// stays, the inputs in `moving` move by one element, and the others stay; see [`Elements::lane`].
    ///
    /// # Panics
    /// If there are more loops, or the operands move in another way.
    #[inline(always)]
    pub(crate) fn visit_lanes<C: Cpu, V: Reducer<T, E>, const N: usize>(&mut self, moving: u8, visit: &mut V)
    where
        T: Clone,
    {
        let (len, [lanes, _]) = (self.length_of_lanes(moving), self.last_two());
        // Opaque: for integers, the compiler would else vectorise across the chunks, at up to 3 times the time.
        let lens = [len / N, black_box(N), len % N];
        let (mut out, mut read, mut i) = (self.out, self.read, 0);
        while i < lanes.len {
            // SAFETY: These are indices of the loops, along a lane in which the inputs move as asserted above. This is the
            // only reference to the element of the output.
            unsafe {
                let result = E::lane::<T, C, V, N>(read, lens, moving, visit);
                *out = visit.op().apply((*out).clone(), result);
            }
            out = out.wrapping_offset(lanes.strides[0]);
            read = E::moved(read, &lanes.strides);
            i += 1;
        }
    }

    /// Calls `visit` at every index of up to two loops, along which the operands may have any strides.
    #[inline]
    pub(crate) fn visit_each(&mut self, visit: &mut impl Visit<T, E>) {
        let [rows, row] = self.last_two();
        let mut i = 0;
        while i < rows.len {
            let start = self.moved_by(&rows.after(i));
            if row.is_reduced() {
                // SAFETY: These are indices of the loops, all at one element of the output. This is the only reference to
                // it.
                unsafe { Self::visit_lane(&mut *start.out, start.read, row, visit) };
                i += 1;
                continue;
            }
            let mut j = 0;
            while j < row.len {
                let at = start.moved_by(&row.after(j));
                // SAFETY: This is an index of the loops, and the only reference to the output's element.
                let (slot, items) = unsafe { (&mut *at.out, E::refs(at.read)) };
                visit.visit(slot, items);
                j += 1;
                // not to be vectorised, which takes the compiler time and would not be faster
                end_of_reads();
            }
            i += 1;
        }
    }

    /// Calls `visit` at every index of a loop along which the output stays at `slot`.
    ///
    /// # Safety
    /// `at`, moved along the loop, points to elements that are borrowed.
    // Not `inline(always)`: LLVM loses that `slot` does not alias the inputs, and so cannot keep it in a register.
    #[inline]
    unsafe fn visit_lane(slot: &mut T, at: E::Pointers, row: &Loop, visit: &mut impl Visit<T, E>) {
        for j in 0..row.len {
            // SAFETY: The caller promises these elements.
            visit.visit(slot, unsafe { E::refs(E::moved(at, &row.after(j))) });
        }
    }

    /// Two loops. Missing ones have one step.
    #[inline]
    fn last_two(&self) -> [&'a Loop; 2] {
        match self.loops {
            [rows, row] => [rows, row],
            [row] => [&Loop::ONE, row],
            [] => [&Loop::ONE, &Loop::ONE],
            _ => unreachable!("up to two loops"),
        }
    }

    /// Calls `visit` with `visitor` and the `outer + inner` innermost loops, at each index of the others. The `inner` loops
    /// become one loop over adjacent elements, for which the inputs in `copied` are copied to a buffer, unless their last copy
    /// was made from the same place. Bit `k - 1` of `copied` stands for operand `k`. Other inputs may stay along the loop.
    ///
    /// # Panics
    /// If a copied input has elements that are not plain numbers or do not fit, or if another operand neither is contiguous
    /// nor stays along the inner loops.
    // `visit` takes a reference, because a copy of what was just written takes longer than a short row.
    pub(crate) fn gathered<V>(
        self,
        copied: u8,
        [outer, inner]: [usize; 2],
        visitor: &mut V,
        visit: fn(&mut V, &mut Nest<'_, T, E>),
    ) {
        let loops = &self.loops[self.loops.len() - outer - inner..];
        let mut rows = Loops::new();
        rows.gather(loops, outer, E::COUNT, copied);
        // not moved: it is large
        let mut buffers = Buffers::new(E::plain_size);
        let mut blocks = self.walk(loops.len());
        while let Some(block) = blocks.next() {
            // SAFETY: By the invariant, the operands' elements at the indices of the loops are borrowed.
            unsafe { buffers.copy(copied, &E::erased(block.read), loops, outer) };
            let read = E::to_copies(block.read, copied, buffers.copies());
            visit(visitor, &mut Nest { loops: &rows, out: block.out, read, arrays: PhantomData });
        }
    }
}

/// The steps of [`Nest::walk`].
pub(crate) struct Steps<'a, T, E: Elements> {
    start: Nest<'a, T, E>,
    outer: Walk<'a>,
}

impl<T, E: Elements> Steps<'_, T, E> {
    /// The nest at the next index. It borrows `self`, because the output may stay and two nests would alias.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Nest<'_, T, E>> {
        let by = self.outer.next(E::COUNT)?;
        Some(self.start.moved_by(by))
    }
}

impl<A> Nest<'_, WriteOnly<A>, (A,)> {
    /// Whether there are two loops and plain numbers, adjacent in the input along the first one and in the output along the
    /// second one.
    #[inline(always)]
    pub(crate) fn is_across(&self) -> bool {
        plain_size::<A>().is_some()
            && matches!(self.loops, [rows, row] if rows.strides[1] == 1 && row.strides[0] == 1)
    }

    /// Copies plain numbers, a part of a copy of `len` elements, if the nest [`is_across`](Self::is_across) or
    /// [`repeats_row`]. Returns whether it does.
    #[inline]
    pub(crate) fn copy_rows(&mut self, len: usize) -> bool {
        let [rows, row] = self.last_two();
        // SAFETY: These are indices of the loops, along which the operands move as asserted just before, and the output's
        // elements are different and forgotten.
        unsafe {
            if self.is_across() {
                copy_across(self.read.0, [rows, row], self.out.cast(), len);
            } else if plain_size::<A>().is_some() && repeats_row(rows, row) {
                repeat_row(self.read.0, row.len, rows.len, self.out.cast());
            } else {
                return false;
            }
        }
        true
    }
}

/// Whether the output's rows are adjacent, and are copies of one row of adjacent elements.
pub(crate) fn repeats_row(rows: &Loop, row: &Loop) -> bool {
    [row.strides[0], row.strides[1]] == [1; 2]
        && [rows.strides[0], rows.strides[1]] == [row.len.cast_signed(), 0]
}

impl<'a, T, A> Nest<'a, T, (A,)> {
    /// Loops over the axes of an array that is summed, the only input. `None` if it has no elements.
    ///
    /// The `dropped` axes of the array are not in `out`. The other axes are those of `out`, in order. There, `out` has the
    /// array's size, or size 1 to sum over the axis.
    ///
    /// # Panics
    /// If `out` has other axes.
    #[inline]
    pub(crate) fn sum(
        plan: &'a mut LoopPlan,
        input: Input<'a, A>,
        out: Output<'a, T>,
        dropped: Dropped<'_>,
    ) -> Option<Self> {
        let (pointer, axes) = out.into_parts();
        plan_summed(plan, &axes, &input.axes, dropped);
        Self::planned(plan, pointer, (input.at,))
    }

    /// [`sum`](Self::sum) with the array's axes as the loops, if they are few: see [`small_summed`].
    ///
    /// # Panics
    /// As [`sum`](Self::sum).
    #[inline]
    pub(crate) fn small_sum(
        room: &'a mut [Loop; 2],
        input: &Input<'a, A>,
        out: &'a mut Output<'_, T>,
        dropped: Dropped<'_>,
    ) -> Option<Self> {
        let loops = small_summed(room, &out.axes, &input.axes, dropped)?;
        Some(Self { loops, out: out.at, read: (input.at,), arrays: PhantomData })
    }

    /// All lanes and their outputs, if the lanes are reduced together: see [`lanes_together`]. The width of a lane is between
    /// the two.
    ///
    /// # Panics
    /// If there are more than two loops.
    #[inline(always)]
    pub(crate) fn together(
        self,
        are_together: fn(usize) -> bool,
    ) -> Result<(&'a [A], usize, &'a mut [T]), Self> {
        let [outer, lane] = self.last_two();
        if !lane.is_reduced() || !lanes_together(slice::from_ref(outer), lane, are_together) {
            return Err(self);
        }
        // SAFETY: These are indices of the loops. The lanes are adjacent and follow each other, and so do their outputs, which
        // are different elements by the invariant; the nest is used up.
        unsafe {
            let slots = slice::from_raw_parts_mut(self.out, outer.len);
            Ok((slice::from_raw_parts(self.read.0, outer.len * lane.len), lane.len, slots))
        }
    }

    /// The channels of the innermost two of up to three loops: rows of a few elements, and the outputs of these.
    ///
    /// # Panics
    /// If there are more loops, the second last one is not reduced, its rows have gaps, or the output stays along the last
    /// one.
    #[inline(always)]
    pub(crate) fn channels(self) -> Channels<'a, T, A> {
        let [outer @ .., rows, row] = self.loops else { unreachable!("two loops") };
        let (outer, channels) = (outer.last().unwrap_or(&Loop::ONE), self.loops.split_at(outer.len()).1);
        ensure(
            self.loops.len() <= 3 && rows.is_reduced() && !row.is_reduced() && is_adjacent(channels, 1),
            "rows without gaps, of outputs that differ",
        );
        let lanes = Lanes {
            start: self,
            by: [outer.strides[0], outer.strides[1]],
            at: [0; 2],
            remaining: outer.len,
            width: rows.len * row.len,
        };
        Channels { lanes, row: &channels[1..] }
    }

    /// The lanes along the innermost of up to two loops.
    ///
    /// # Panics
    /// If there are more loops, the innermost one is not reduced, or its elements are not adjacent.
    #[inline(always)]
    pub(crate) fn lanes(self) -> Lanes<'a, T, A> {
        let [outer, lane] = self.last_two();
        ensure(lane.is_reduced() && (lane.strides[1] == 1 || lane.len == 1), "lanes of adjacent elements");
        let by = [outer.strides[0], outer.strides[1]];
        Lanes { start: self, by, at: [0; 2], remaining: outer.len, width: lane.len }
    }
}

/// Lanes of adjacent elements, each with its output.
pub(crate) struct Lanes<'a, T, A> {
    start: Nest<'a, T, (A,)>,
    /// The strides of the output and of the input between lanes.
    by: [isize; 2],
    /// The offsets of the output and of the input. Not the pointers, as in [`Walk`].
    at: [isize; 2],
    remaining: usize,
    width: usize,
}

impl<T, A> Lanes<'_, T, A> {
    /// The elements of the next lane, and the pointer to its output.
    #[inline(always)]
    fn next_of(&mut self) -> Option<(&[A], *mut T)> {
        self.remaining = self.remaining.checked_sub(1)?;
        let [out, read] = self.at;
        self.at = [out.wrapping_add(self.by[0]), read.wrapping_add(self.by[1])];
        // SAFETY: These are indices of the loops, along a lane of adjacent elements.
        let lane = unsafe { slice::from_raw_parts(self.start.read.0.wrapping_offset(read), self.width) };
        Some((lane, self.start.out.wrapping_offset(out)))
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(&[A], &mut T)> {
        let (lane, out) = self.next_of()?;
        // SAFETY: This is an index of the loops, and there is no other reference to the output until the next call.
        Some((lane, unsafe { &mut *out }))
    }
}

/// Rows of a few elements without gaps, and the outputs of their columns.
pub(crate) struct Channels<'a, T, A> {
    lanes: Lanes<'a, T, A>,
    /// The loop over the outputs.
    row: &'a [Loop],
}

impl<T, A> Channels<'_, T, A> {
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(&[A], Nest<'_, T, ()>)> {
        let loops = self.row;
        let (rows, out) = self.lanes.next_of()?;
        Some((rows, Nest { loops, out, read: (), arrays: PhantomData }))
    }
}

impl<'a, A> Nest<'a, (), (A,)> {
    /// The input's element at index zero.
    #[inline(always)]
    pub(crate) fn item(self) -> &'a A {
        // SAFETY: Index zero is one of the loops', so the invariant holds for the element.
        unsafe { &*self.read.0 }
    }

    /// All elements as a block: one row, or rows along the first loop if `in_rows`.
    ///
    /// # Panics
    /// If the elements of a row are not evenly spaced.
    #[inline(always)]
    pub(crate) fn block(self, in_rows: bool) -> Block<'a, A> {
        let [(rows, stride), (width, step)] = evenly_spaced(self.loops, in_rows);
        Block { at: self.read.0, rows, stride, width, step, array: PhantomData }
    }
}

impl<'a, T, A> Nest<'a, T, (A, A)> {
    /// Loops over products of matrices: batches, then rows, terms and columns. `None` if the result has no elements.
    ///
    /// `axes` are the numbers of matrix axes of `out`, `a` and `b`.
    ///
    /// # Panics
    /// If the matrices do not go together, or the batches do not stretch to those of `out`.
    pub(crate) fn products(
        plan: &'a mut LoopPlan,
        out: Output<'a, T>,
        mut inputs: Inputs<'a, (A, A)>,
        axes: [usize; 3],
    ) -> Option<Self> {
        let (pointer, out) = out.into_parts();
        let matrices = matrix_loops([out, inputs.axes(1), inputs.axes(2)], axes);
        if matrices[0].len == 0 || matrices[2].len == 0 {
            return None;
        }
        inputs.plan_batches(plan, out, &axes);
        plan.loops.extend(&matrices);
        plan.assert_countable();
        Self::planned(plan, pointer, inputs.at)
    }

    /// Walks the batches: at each of their indices, two matrices without gaps and their product.
    ///
    /// # Panics
    /// If there are gaps, or not `M` rows, `N` terms and `P` columns.
    #[inline(always)]
    pub(crate) fn packed<const M: usize, const N: usize, const P: usize>(self) -> Packed<'a, T, A, M, N, P> {
        ensure(are_packed(self.loops, [M, N, P]), "matrices without gaps");
        Packed(self.walk(3))
    }

    /// `R` rows and `C` columns of a product, from `row` and `column` on: for each term, the elements of the first matrix
    /// in these rows and those of the second one in these columns, and the elements of the output.
    ///
    /// # Panics
    /// If the product does not have these rows and columns, if several columns are not adjacent, or if the output stays along
    /// several rows.
    #[inline(always)]
    #[expect(clippy::type_complexity, reason = "two matrices and their product")]
    pub(crate) fn tile<const R: usize, const C: usize>(
        &mut self,
        row: usize,
        column: usize,
    ) -> (impl Iterator<Item = ([A; R], [A; C])>, [&mut [T; C]; R])
    where
        A: Copy,
    {
        let [rows, terms, columns] = self.loops else { unreachable!("three loops") };
        ensure(row.checked_add(R).is_some_and(|end| end <= rows.len), "rows of the product");
        ensure(column.checked_add(C).is_some_and(|end| end <= columns.len), "columns of the product");
        ensure(C == 1 || columns.strides[0] == 1 && columns.strides[2] == 1, "adjacent columns");
        ensure(R == 1 || !rows.is_reduced(), "rows of the output");
        let (row, column) = (row.cast_signed(), column.cast_signed());
        let ((a, b), out) = (self.read, self.out);
        let items = (0..terms.len.cast_signed()).map(move |j| {
            // SAFETY: These are indices of the loops, and several columns are adjacent.
            unsafe {
                let a = a.offset(row * rows.strides[1] + j * terms.strides[1]);
                let b = b.offset(j * terms.strides[2] + column * columns.strides[2]);
                (array(|r| *a.offset(r.cast_signed() * rows.strides[1])), *b.cast::<[A; C]>())
            }
        });
        let out = out.wrapping_offset(row * rows.strides[0] + column * columns.strides[0]);
        // SAFETY: As above. The rows lead to different elements, and this is the only reference to each of them.
        let slots = array(|r| unsafe {
            &mut *out.wrapping_offset(r.cast_signed() * rows.strides[0]).cast::<[T; C]>()
        });
        (items, slots)
    }

    /// The terms of an element of a product: a row of the first matrix, and a column of the second one.
    ///
    /// # Panics
    /// If the product does not have this row and column, or the terms are not adjacent.
    #[inline(always)]
    pub(crate) fn lanes_of(&self, row: usize, column: usize) -> [&'a [A]; 2] {
        let [rows, terms, columns] = self.loops else { unreachable!("three loops") };
        ensure(row < rows.len && column < columns.len, "an element of the product");
        ensure(terms.strides[1] == 1 && terms.strides[2] == 1, "adjacent terms");
        let a = self.read.0.wrapping_offset(row.cast_signed() * rows.strides[1]);
        let b = self.read.1.wrapping_offset(column.cast_signed() * columns.strides[2]);
        // SAFETY: These are indices of the loops, and the terms are adjacent.
        unsafe { [slice::from_raw_parts(a, terms.len), slice::from_raw_parts(b, terms.len)] }
    }
}

/// The steps of [`Nest::packed`], which has checked the last three loops.
pub(crate) struct Packed<'a, T, A, const M: usize, const N: usize, const P: usize>(Steps<'a, T, (A, A)>);

impl<'a, T, A, const M: usize, const N: usize, const P: usize> Packed<'a, T, A, M, N, P> {
    /// The next two matrices, and their product.
    #[inline(always)]
    #[expect(clippy::type_complexity, reason = "three matrices")]
    pub(crate) fn next(&mut self) -> Option<(&'a [[A; N]; M], &'a [[A; P]; N], &mut [[T; P]; M])> {
        let Nest { out, read: (a, b), .. } = self.0.next()?;
        // SAFETY: The elements are at indices of the nest and adjacent, and there is no other reference to those of the
        // product until the next call; an array is aligned as its elements.
        Some(unsafe { (&*a.cast(), &*b.cast(), &mut *out.cast()) })
    }
}

impl<'a, A> Nest<'a, A, (A, A)> {
    /// The two matrices and their product as views.
    ///
    /// # Panics
    /// If a stride is negative, or the output stays along the rows or columns.
    pub(crate) fn views(self) -> ([ArrayView2<'a, A>; 2], ArrayViewMut2<'a, A>) {
        let [rows, terms, columns] = self.loops else { unreachable!("three loops") };
        ensure(!rows.is_reduced() && !columns.is_reduced(), "different elements of the output");
        let shape = |rows: &Loop, columns: &Loop, k: usize| {
            let strides = [rows.strides[k], columns.strides[k]];
            ensure(strides.iter().all(|&stride| stride >= 0), "strides that are not negative");
            [rows.len, columns.len].strides(strides.map(isize::cast_unsigned))
        };
        // SAFETY: The elements are at indices of the loops, and those of the output differ; the nest is used up.
        unsafe {
            let a = ArrayView2::from_shape_ptr(shape(rows, terms, 1), self.read.0);
            let b = ArrayView2::from_shape_ptr(shape(terms, columns, 2), self.read.1);
            ([a, b], ArrayViewMut2::from_shape_ptr(shape(rows, columns, 0), self.out))
        }
    }
}

/// Evenly spaced rows of evenly spaced elements that are borrowed for `'a`. If `DENSE`, the elements of a row are adjacent,
/// and loops are compiled for that.
pub(crate) struct Block<'a, T, const DENSE: bool = false> {
    at: *const T,
    rows: usize,
    stride: isize,
    width: usize,
    step: isize,
    array: PhantomData<&'a T>,
}

impl<T, const DENSE: bool> Clone for Block<'_, T, DENSE> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const DENSE: bool> Copy for Block<'_, T, DENSE> {}

impl<T> Block<'_, T> {
    /// The block with rows and columns exchanged.
    #[inline(always)]
    pub(crate) fn transposed(self) -> Self {
        let Self { at, rows, stride, width, step, array } = self;
        Self { at, rows: width, stride: step, width: rows, step: stride, array }
    }
}

impl<'a, T, const DENSE: bool> Block<'a, T, DENSE> {
    #[inline(always)]
    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    #[inline(always)]
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// The block as a dense block, if the elements of its rows are adjacent.
    #[inline(always)]
    pub(crate) fn dense(self) -> Option<Block<'a, T, true>> {
        let Self { at, rows, stride, width, array, .. } = self;
        (self.step() == 1 || width <= 1).then_some(Block { at, rows, stride, width, step: 1, array })
    }

    #[inline(always)]
    fn step(self) -> isize {
        if DENSE { 1 } else { self.step }
    }

    /// The only row from element `from` on, cut into adjacent rows of `width` elements.
    #[inline(always)]
    pub(crate) fn cut(self, from: usize, rows: usize, width: usize) -> Self {
        ensure(self.rows == 1 && from <= self.width && rows > 0, "part of a row");
        ensure(rows.checked_mul(width).is_some_and(|n| n <= self.width - from), "rows within the row");
        let at = self.at.wrapping_offset(self.step() * from.cast_signed());
        Self { at, rows, stride: self.step() * width.cast_signed(), width, ..self }
    }

    /// At most `count` rows, from row `from` on.
    #[inline(always)]
    pub(crate) fn rows_from(self, from: usize, count: usize) -> Self {
        let from = from.min(self.rows);
        let at = self.at.wrapping_offset(self.stride * from.cast_signed());
        Self { at, rows: count.min(self.rows - from), ..self }
    }

    /// The same rows from column `from` on, at most `width` wide.
    #[inline(always)]
    pub(crate) fn columns_from(self, from: usize, width: usize) -> Self {
        let from = from.min(self.width);
        let at = self.at.wrapping_offset(self.step() * from.cast_signed());
        Self { at, width: width.min(self.width - from), ..self }
    }
}

impl<T: Clone, const DENSE: bool> Block<'_, T, DENSE> {
    /// Clones the elements to adjacent places, row after row.
    ///
    /// # Panics
    /// If there are fewer places.
    #[inline(never)]
    pub(crate) fn clone_to(self, copies: &mut [T]) {
        for (row, copies) in copies[..self.rows * self.width].chunks_exact_mut(self.width).enumerate() {
            let mut at = self.at.wrapping_offset(row.cast_signed() * self.stride);
            for copy in copies {
                // SAFETY: There are `width` elements in the row.
                *copy = unsafe { (*at).clone() };
                at = at.wrapping_offset(self.step());
                // as strided copies of numbers: not to be unrolled
                end_of_reads();
            }
        }
    }

    /// For each of `C` columns from `column` on, the elements of `R` rows from `row` on, combined by [`by_halves`].
    ///
    /// # Panics
    /// If the block does not have these rows and columns.
    #[inline(always)]
    pub(crate) fn columns<const R: usize, const C: usize>(
        self,
        row: usize,
        column: usize,
        by: impl Operation<T>,
    ) -> [T; C] {
        ensure(row <= self.rows && R <= self.rows - row, "rows of the block");
        ensure(column <= self.width && C <= self.width - column, "columns of the block");
        let at =
            self.at.wrapping_offset(row.cast_signed() * self.stride + column.cast_signed() * self.step());
        array(|j| {
            let column = array::<T, R>(|r| {
                // SAFETY: Row `row + r` and column `column + j` are in the block, whose elements are borrowed.
                unsafe { (*at.offset(r.cast_signed() * self.stride + j.cast_signed() * self.step())).clone() }
            });
            by_halves(column, by)
        })
    }
}

impl<'a, T> From<Block<'a, T, true>> for Block<'a, T> {
    #[inline(always)]
    fn from(Block { at, rows, stride, width, step, array }: Block<'a, T, true>) -> Self {
        Self { at, rows, stride, width, step, array }
    }
}

impl<'a, T> From<&'a [T]> for Block<'a, T, true> {
    #[inline(always)]
    fn from(slice: &'a [T]) -> Self {
        Self { at: slice.as_ptr(), rows: 1, stride: 0, width: slice.len(), step: 1, array: PhantomData }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod batch_tests {
    use super::tests::{SIZES, layout, number};
    use super::*;
    use alloc::vec::Vec;
    use ndarray::{Array2, Array3, s};

    #[test]
    fn batches_are_the_outer_axes() {
        let (a, b) = (layout(5, number), Array2::from_elem((SIZES[1], 2), 0_u8));
        let mut out = Array3::from_elem((SIZES[0], SIZES[1], 7), 0_u16);
        let pointers: Vec<_> = {
            let offset = |i, j| {
                [
                    &raw const out[[i, j, 0]] as usize,
                    &raw const a[[i, j, 0]] as usize,
                    &raw const b[[j, 0]] as usize,
                ]
            };
            ndarray::indices((SIZES[0], SIZES[1])).into_iter().map(|(i, j)| offset(i, j)).collect()
        };
        let (mut plan, mut seen) = (LoopPlan::new(), Vec::new());
        // SAFETY: The pointers are only compared.
        let nest = unsafe {
            Nest::batches(&mut plan, Output::of(&mut out), &mut Inputs::from((&*a, &*b)), &[1, 1, 1])
        };
        let mut walk = nest.expect("an index").walk(0);
        while let Some(step) = walk.next() {
            let (out, (a, b)) = step.pointers();
            seen.push([out as usize, a as usize, b as usize]);
        }
        assert_eq!(seen, pointers);
        let nothing = &mut Array2::from_elem((0, 7), 0_u16);
        let none = a.slice(s![0, ..0, ..]);
        // SAFETY: The pointers are not used.
        let nest =
            unsafe { Nest::batches(&mut plan, Output::of(nothing), &mut Inputs::from((&*none,)), &[1, 1]) };
        assert!(nest.is_none());
    }
}
