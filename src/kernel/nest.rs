//! The owner of loops, pointers and borrows together: every pointer of a pass over arrays is made and moved here.
//!
//! # Invariant
//! A [`Nest`] has loops, and a pointer for each operand. At every index of the loops,
//! - the pointer of each operand that is read, moved by its strides, is at an element that is borrowed for `'a`;
//! - the pointer of the written operand is at an element that is borrowed exclusively for `'a`, by this nest alone;
//! - two indices that differ in a loop along which the written operand moves come to different elements of it.
//!
//! The constructors check this. Each method keeps it, because it visits some of the same indices: in another order,
//! grouped in other loops, or fewer of them. A nest that writes is neither `Copy` nor `Clone`, and an operand of type
//! `()` is read or written by nobody, so no element is written through two nests at once.

use super::loops::{Loop, Loops, OPERANDS, Offsets, Outside, Plan, offsets, steps};
use super::memory::{Buffers, plain_size};
use core::marker::PhantomData;
use core::slice;
use ndarray::{ArrayRef, Dimension};

/// The types of the elements that are read: a tuple of up to six.
///
/// Public as it stands in hidden parts of public traits; not exported.
pub trait Elements {
    /// A pointer into each operand.
    type Pointers: Copy;
    /// An element of each operand.
    type Refs<'r>
    where
        Self: 'r;

    const COUNT: usize;

    /// The pointers, moved by these offsets. They wrap.
    fn moved(at: Self::Pointers, by: &Offsets) -> Self::Pointers;

    /// # Safety
    /// `at` is at elements that are borrowed for `'r`.
    unsafe fn refs<'r>(at: Self::Pointers) -> Self::Refs<'r>
    where
        Self: 'r;

    /// Visits a row in which the operands move whose bits are set.
    ///
    /// `C` is the CPU that it is compiled for: each instance has one caller, into which it is inlined.
    ///
    /// # Safety
    /// From `at` on, `out.len()` elements of each operand that moves, and one of the others, are borrowed.
    unsafe fn row_of<T, C, V: Visit<T, Self>, const MOVING: u8, const LEN: usize>(
        out: &mut [T],
        at: Self::Pointers,
        visit: &mut V,
    );

    /// [`row_of`](Self::row_of), by the loop for these operands: one of those for which [`has_loop`](Self::has_loop) is true.
    ///
    /// # Safety
    /// As [`row_of`](Self::row_of), where the bits of `moving` stand for the operands that move.
    unsafe fn row<T, C, V: Visit<T, Self>>(out: &mut [T], at: Self::Pointers, moving: u8, visit: &mut V);

    /// Whether there is a loop for rows in which these operands move by one element and the others not at all.
    fn has_loop(moving: u8) -> bool;

    /// The size of the elements of operand `k` if they are plain numbers; the first that is read is operand 1.
    fn plain_size(k: usize) -> Option<usize>;

    fn pointer(at: Self::Pointers, k: usize) -> *const ();

    fn with_pointer(at: Self::Pointers, k: usize, pointer: *const ()) -> Self::Pointers;
}

/// What is done with an element of the written operand and the elements of the others there.
pub trait Visit<T, E: Elements + ?Sized> {
    fn visit(&mut self, out: &mut T, items: E::Refs<'_>);
}

macro_rules! elements {
    ($count:literal: $($A:ident $a:ident $k:literal),*; $($moving:literal)*) => {
        #[allow(unused_variables, reason = "there may be no operand")]
        impl<$($A),*> Elements for ($($A,)*) {
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
                // SAFETY: the caller promises these elements.
                ($(unsafe { &*$a },)*)
            }

            // Not `inline(always)`: LLVM loses that `out` does not alias the operands, and checks it at run time.
            #[inline]
            unsafe fn row_of<T, C, V: Visit<T, Self>, const MOVING: u8, const LEN: usize>(
                out: &mut [T],
                ($($a,)*): Self::Pointers,
                visit: &mut V,
            ) {
                let mut i = 0;
                let len = if LEN > 0 { LEN } else { out.len() };
                let out = &mut out[..len];
                while i < len {
                    // SAFETY: the caller promises these elements.
                    let items = ($(unsafe { &*$a.add(if MOVING >> ($k - 1) & 1 == 1 { i } else { 0 }) },)*);
                    visit.visit(&mut out[i], items);
                    i += 1;
                }
            }

            #[inline(always)]
            unsafe fn row<T, C, V: Visit<T, Self>>(
                out: &mut [T],
                at: Self::Pointers,
                moving: u8,
                visit: &mut V,
            ) {
                // SAFETY: the caller promises this.
                unsafe {
                    match moving {
                        $($moving if out.len() == 8 => Self::row_of::<T, C, V, $moving, 8>(out, at, visit), $moving => Self::row_of::<T, C, V, $moving, 0>(out, at, visit),)*
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
            fn pointer(($($a,)*): Self::Pointers, k: usize) -> *const () {
                match k {
                    $($k => $a.cast(),)*
                    _ => core::ptr::null(),
                }
            }

            #[inline(always)]
            fn with_pointer(($(mut $a,)*): Self::Pointers, k: usize, pointer: *const ()) -> Self::Pointers {
                match k {
                    $($k => $a = pointer.cast(),)*
                    _ => {}
                }
                ($($a,)*)
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

/// The sizes and strides of an array.
#[derive(Clone, Copy)]
pub(crate) struct Axes<'a> {
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [isize],
}

impl<'a> Axes<'a> {
    pub(crate) const NONE: Self = Self { sizes: &[], strides: &[] };

    #[inline(always)]
    pub(crate) fn of<T, D: Dimension>(array: &'a ArrayRef<T, D>) -> Self {
        Self { sizes: array.shape(), strides: array.strides() }
    }

    /// Size and stride of the rows and of the columns of the last axes, as a matrix: two axes, or one that is a row or a
    /// column, or none.
    fn matrix(self, axes: usize, is_row: bool) -> [(usize, isize); 2] {
        let first = self.sizes.len() - axes;
        match (&self.sizes[first..], &self.strides[first..]) {
            (&[], _) => [(1, 0), (1, 0)],
            (&[n], &[s]) if is_row => [(1, 0), (n, s)],
            (&[n], &[s]) => [(n, s), (1, 0)],
            (&[m, n], &[r, s]) => [(m, r), (n, s)],
            _ => panic!("a matrix has up to two axes"),
        }
    }

    /// The stride along an axis of size `size`, `from_end` axes before the last: 0 where the operand is repeated.
    ///
    /// # Panics
    /// Where the size differs and is not 1.
    #[inline]
    pub(crate) fn stride(self, from_end: usize, size: usize) -> isize {
        let Some(axis) = self.sizes.len().checked_sub(from_end + 1) else { return 0 };
        if self.sizes[axis] == size {
            return self.strides[axis];
        }
        assert!(self.sizes[axis] == 1, "an operand has the size of the shape or 1");
        0
    }
}

/// Arrays that are read together.
pub struct Inputs<'a, E: Elements> {
    at: E::Pointers,
    /// Those of operand `k` at place `k`; the written one is not known yet.
    sizes: [&'a [usize]; OPERANDS],
    strides: [&'a [isize]; OPERANDS],
    arrays: PhantomData<&'a E>,
}

macro_rules! inputs {
    ($($A:ident $D:ident $a:ident $k:literal),+) => {
        impl<'a, $($A, $D: Dimension),+> From<($(&'a ArrayRef<$A, $D>,)+)> for Inputs<'a, ($($A,)+)> {
            #[inline(always)]
            fn from(($($a,)+): ($(&'a ArrayRef<$A, $D>,)+)) -> Self {
                let (mut sizes, mut strides): ([&[usize]; OPERANDS], [&[isize]; OPERANDS]) =
                    ([&[]; OPERANDS], [&[]; OPERANDS]);
                $((sizes[$k], strides[$k]) = ($a.shape(), $a.strides());)+
                Self { at: ($($a.as_ptr(),)+), sizes, strides, arrays: PhantomData }
            }
        }
    };
}
inputs!(A DA a 1);
inputs!(A DA a 1, B DB b 2);
inputs!(A DA a 1, B DB b 2, C DC c 3);
inputs!(A DA a 1, B DB b 2, C DC c 3, D DD d 4);
inputs!(A DA a 1, B DB b 2, C DC c 3, D DD d 4, E DE e 5);
inputs!(A DA a 1, B DB b 2, C DC c 3, D DD d 4, E DE e 5, F DF f 6);

impl<'a, E: Elements> Inputs<'a, E> {
    /// The shapes of the arrays.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> &[&'a [usize]] {
        &self.sizes[1..=E::COUNT]
    }

    /// See [`Nest::batches`]. Where a base is empty, the pointer of that operand need not move.
    fn plan_batches(&mut self, plan: &mut Plan, out: Axes<'a>, bases: &[usize]) {
        (self.sizes[0], self.strides[0]) = (out.sizes, out.strides);
        for (sizes, base) in self.sizes.iter_mut().zip(bases) {
            *sizes = &sizes[..sizes.len() - base];
        }
        let count = ..=E::COUNT;
        plan_aligned(plan, self.sizes[0], &self.sizes[count], &self.strides[count], Outside::Written);
    }

    /// Whether the former of two axes of a shape lies inside the latter: all arrays that move along both have the
    /// smaller stride there. `None` where there is none.
    pub(super) fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool> {
        let mut inside = None;
        for k in 1..=E::COUNT {
            let axes = Axes { sizes: self.sizes[k], strides: self.strides[k] };
            let stride = |axis| axes.stride(shape.len() - 1 - axis, shape[axis]).unsigned_abs();
            if stride(former) != 0 && stride(latter) != 0 {
                inside = Some(inside != Some(false) && stride(former) < stride(latter));
            }
        }
        inside
    }
}

/// Plans the loops over `shape`. All operands, the written one first, are aligned at its right.
///
/// # Panics
/// Where an operand does not go to the shape.
fn plan_aligned(
    plan: &mut Plan,
    shape: &[usize],
    sizes: &[&[usize]],
    strides: &[&[isize]],
    outside: Outside,
) {
    assert!(sizes.iter().all(|own| own.len() <= shape.len()), "no operand has more axes than the shape");
    for (axis, &len) in shape.iter().enumerate() {
        let from_end = shape.len() - 1 - axis;
        let mut l = Loop { len, ..Loop::ONE };
        for (stride, (&sizes, &strides)) in l.strides.iter_mut().zip(sizes.iter().zip(strides)) {
            *stride = Axes { sizes, strides }.stride(from_end, len);
        }
        plan.add(l);
    }
    plan.make(outside);
}

/// Plans the loops over the axes of an array that is summed: see [`Nest::sum`].
fn plan_sum(plan: &mut Plan, out: Axes<'_>, array: Axes<'_>, dropped: &dyn Fn(usize) -> bool) {
    let mut out_axis = 0;
    for (axis, (&len, &stride)) in array.sizes.iter().zip(array.strides).enumerate() {
        let mut strides = [0; OPERANDS];
        strides[1] = stride;
        if !dropped(axis) {
            if out.sizes[out_axis] == len {
                strides[0] = out.strides[out_axis];
            } else {
                assert!(out.sizes[out_axis] == 1, "an output axis has the input's size or 1");
            }
            out_axis += 1;
        }
        plan.add(Loop { len, strides });
    }
    assert!(out_axis == out.sizes.len(), "every output axis is one of the input's");
    plan.make(Outside::Read);
}

/// Loops, and pointers to the operands: see the invariant above.
pub(crate) struct Nest<'a, T, E: Elements> {
    loops: &'a [Loop],
    out: *mut T,
    read: E::Pointers,
    arrays: PhantomData<(&'a mut T, &'a E)>,
}

// SAFETY: By the invariant a nest is used as `&mut T` and as `&E` would be.
unsafe impl<T: Send, E: Elements + Sync> Send for Nest<'_, T, E> {}

// SAFETY: Shared, a nest that writes nothing is used as `&E` would be.
unsafe impl<E: Elements + Sync> Sync for Nest<'_, (), E> {}

impl<E: Elements> Clone for Nest<'_, (), E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Elements> Copy for Nest<'_, (), E> {}

impl<'a, T, E: Elements> Nest<'a, T, E> {
    /// Loops over `shape`, or that of `out`, to which all operands are broadcast, aligned at the right: `out` too, which is reduced along
    /// the axes that it does not have or has with size 1. `None` where the shape has no index.
    ///
    /// # Panics
    /// Where an operand does not go to the shape.
    #[inline]
    pub(crate) fn over<D: Dimension>(
        plan: &'a mut Plan,
        shape: Option<&[usize]>,
        out: &'a mut ArrayRef<T, D>,
        inputs: &Inputs<'a, E>,
        outside: Outside,
    ) -> Option<Self> {
        let pointer = out.as_mut_ptr();
        let (mut sizes, mut strides) = (inputs.sizes, inputs.strides);
        (sizes[0], strides[0]) = (out.shape(), out.strides());
        let shape = shape.unwrap_or(sizes[0]);
        plan_aligned(plan, shape, &sizes[..=E::COUNT], &strides[..=E::COUNT], outside);
        Self::planned(plan, pointer, inputs.at)
    }

    /// Loops over all axes of `out` but the `bases[0]` last, to which all but the `bases[k]` last axes of input `k` are
    /// broadcast. The pointers are at the first elements of the last axes, or anywhere if there are none. `None` where
    /// there is no index.
    ///
    /// # Panics
    /// Where an operand has fewer last axes, or does not go there.
    pub(crate) fn batches<D: Dimension>(
        plan: &'a mut Plan,
        out: &'a mut ArrayRef<T, D>,
        inputs: &mut Inputs<'a, E>,
        bases: &[usize],
    ) -> Option<Self> {
        let pointer = out.as_mut_ptr();
        inputs.plan_batches(plan, Axes::of(out), bases);
        Self::planned(plan, pointer, inputs.at)
    }

    /// The loops of the plan, from the operands' elements at index zero on.
    #[inline]
    fn planned(plan: &'a Plan, out: *mut T, read: E::Pointers) -> Option<Self> {
        if plan.is_empty {
            return None;
        }
        let nest = Self { loops: &plan.loops, out, read, arrays: PhantomData };
        Some(nest.moved_by(&plan.start))
    }

    /// The nest moved, for the private use of methods that keep the invariant.
    #[inline(always)]
    fn moved_by(&self, by: &Offsets) -> Self {
        Self { out: self.out.wrapping_offset(by[0]), read: E::moved(self.read, by), ..*self }
    }

    /// The loops, outermost first.
    #[inline(always)]
    pub(crate) fn loops(&self) -> &'a [Loop] {
        self.loops
    }

    /// The operands that are read, along the same loops.
    #[inline(always)]
    pub(crate) fn read(&self) -> Nest<'a, (), E> {
        Nest { loops: self.loops, out: self.out.cast(), read: self.read, arrays: PhantomData }
    }

    /// The same nest for less long.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Nest<'_, T, E> {
        Nest { loops: self.loops, out: self.out, read: self.read, arrays: PhantomData }
    }

    /// Nests of the `inner` innermost loops, at each index of the others.
    #[inline(always)]
    pub(crate) fn walk(self, inner: usize) -> Steps<'a, T, E> {
        let (outer, inner) = self.loops.split_at(self.loops.len() - inner);
        let (last, outer) = outer.split_last().map_or((Loop::ONE, outer), |(&l, rest)| (l, rest));
        let start = Self { loops: inner, ..self };
        Steps { start, by: [0; OPERANDS], outer, last, left: 0, turn: 0, turns: steps(outer) }
    }

    /// The pointers at index zero: of the written operand, and of those that are read.
    #[inline(always)]
    pub(crate) fn pointers(&self) -> (*mut T, E::Pointers) {
        (self.out, self.read)
    }

    /// The element of the written operand at index zero.
    #[inline(always)]
    pub(crate) fn slot(self) -> &'a mut T {
        // SAFETY: An index of the loops, by the invariant; the nest is used up.
        unsafe { &mut *self.out }
    }

    /// Hands out the elements of the written operand along its only loop, each with a value; or its only element.
    #[inline(always)]
    pub(crate) fn each_slot<V>(self, values: impl IntoIterator<Item = V>, mut then: impl FnMut(&mut T, V)) {
        let mut values = values.into_iter();
        if self.loops.last().is_some_and(|row| row.strides[0] == 1) {
            let Some(slots) = self.slots() else { unreachable!("adjacent elements") };
            return slots.iter_mut().zip(values).for_each(|(slot, value)| then(slot, value));
        }
        let mut slots = self.walk(0);
        while let (Some(slot), Some(value)) = (slots.next(), values.next()) {
            then(slot.slot(), value);
        }
    }

    /// The elements of the written operand along the last loop, at index zero of the others, if they are adjacent.
    #[inline(always)]
    pub(crate) fn slots(self) -> Option<&'a mut [T]> {
        let row = self.loops.last()?;
        // SAFETY: Indices of the loops, by the invariant at different elements, as the operand moves; the nest is used
        // up.
        (row.strides[0] == 1).then(|| unsafe { slice::from_raw_parts_mut(self.out, row.len) })
    }

    /// The part of a loop from `from` on, with loops that are stored in `room`.
    fn part_of<'b>(&self, place: usize, from: usize, len: usize, room: &'b mut Loops) -> Nest<'b, T, E>
    where
        'a: 'b,
    {
        room.part(self.loops, place, from, len);
        let part = Nest { loops: room, out: self.out, read: self.read, arrays: PhantomData };
        part.moved_by(&self.loops[place].after(from))
    }

    /// The nest with loop `place` cut after `at` steps.
    ///
    /// # Panics
    /// Where the loop has no steps before or after it, or the written operand does not move along it.
    pub(crate) fn cut<'b>(self, place: usize, at: usize, rooms: &'b mut [Loops; 2]) -> [Nest<'b, T, E>; 2]
    where
        'a: 'b,
    {
        let whole = self.loops[place];
        // a nest that writes nothing may be cut anywhere
        assert!(size_of::<T>() == 0 || !whole.is_reduced(), "parts that write different elements");
        let [low, high] = rooms;
        [self.part_of(place, 0, at, low), self.part_of(place, at, whole.len - at, high)]
    }

    /// The nest with loop `place` as two loops, of which the inner one has `take` steps.
    ///
    /// # Panics
    /// Where `take` does not divide the length of the loop.
    pub(crate) fn grouped<'b>(self, place: usize, take: usize, room: &'b mut Loops) -> Nest<'b, T, E>
    where
        'a: 'b,
    {
        room.group(self.loops, place, take);
        Nest { loops: room, ..self }
    }

    /// Has `visit` visit every index of up to two loops, row by row. `moving` are the operands that move by one element
    /// along a row, where the written one does and the others stay; see [`Elements::row`].
    ///
    /// # Panics
    /// Where there are more loops, or the operands do not move like that.
    #[inline(always)]
    pub(crate) fn visit_rows<C, V: Visit<T, E>>(self, moving: u8, visit: &mut V) {
        let [rows, row] = self.last_two();
        assert!(moves_as(row, moving, E::COUNT), "a row of that kind");
        let (mut out, mut read) = (self.out, self.read);
        let mut i = 0;
        while i < rows.len {
            // SAFETY: Indices of the loops, along a row in which the operands move as was asserted. This is the only
            // reference to these elements of the written operand.
            unsafe { E::row::<T, C, V>(slice::from_raw_parts_mut(out, row.len), read, moving, visit) };
            out = out.wrapping_offset(rows.strides[0]);
            read = E::moved(read, &rows.strides);
            i += 1;
        }
    }

    /// Has `visit` visit every index of up to two loops, in which the operands move as they like.
    #[inline]
    pub(crate) fn visit_each(self, visit: &mut impl Visit<T, E>) {
        let [rows, row] = self.last_two();
        let mut i = 0;
        while i < rows.len {
            let start = self.moved_by(&rows.after(i));
            let mut j = 0;
            while j < row.len {
                let at = start.moved_by(&row.after(j));
                // SAFETY: An index of the loops. This is the only reference to the element of the written operand.
                let (slot, items) = unsafe { (&mut *at.out, E::refs(at.read)) };
                visit.visit(slot, items);
                j += 1;
            }
            i += 1;
        }
    }

    /// Two loops, the outer one of one step if there are fewer.
    #[inline]
    fn last_two(&self) -> [&'a Loop; 2] {
        match self.loops {
            [rows, row] => [rows, row],
            [row] => [&Loop::ONE, row],
            [] => [&Loop::ONE, &Loop::ONE],
            _ => unreachable!("up to two loops"),
        }
    }

    /// The nest with its loops in the order of their class, 0 outermost and 2 innermost; equal ones stay in order.
    pub(crate) fn ordered<'b>(self, class: impl Fn(usize, &Loop) -> u8, room: &'b mut Loops) -> Nest<'b, T, E>
    where
        'a: 'b,
    {
        room.order(self.loops, &class);
        Nest { loops: room, ..self }
    }

    /// The operand that is written alone, along the loops in which it moves.
    pub(crate) fn written<'b>(self, room: &'b mut Loops) -> Nest<'b, T, ()>
    where
        'a: 'b,
    {
        room.written(self.loops);
        Nest { loops: room, out: self.out, read: (), arrays: PhantomData }
    }

    /// The operands that are read, with the first elements of `tile` as the written one: dense along the innermost `inner`
    /// loops, and reduced along the others.
    ///
    /// # Panics
    /// Where the tile has fewer elements than there are indices of the inner loops.
    pub(crate) fn onto<'b, R>(&self, tile: &'b mut [R], inner: usize, plan: &'b mut Plan) -> Nest<'b, R, E>
    where
        'a: 'b,
    {
        let (outer, dense) = self.loops.split_at(self.loops.len() - inner);
        assert!(steps(dense) <= tile.len(), "room for an element of each index");
        *plan = Plan::new();
        let mut width = steps(dense);
        for (place, &(mut l)) in self.loops.iter().enumerate() {
            l.strides[0] = 0;
            if place >= outer.len() {
                width /= l.len;
                l.strides[0] = width.cast_signed();
            }
            plan.add(l);
        }
        plan.make(Outside::Given);
        Nest { loops: &plan.loops, out: tile.as_mut_ptr(), read: self.read, arrays: PhantomData }
            .moved_by(&plan.start)
    }

    /// The nest with its innermost `inner` loops as one loop of adjacent elements. The operands in `copied` are copied to
    /// `buffers` where they are not there already. Bit `k - 1` stands for operand `k`.
    ///
    /// # Panics
    /// Where an operand that is copied is not of plain numbers, or one that is not copied does not move through
    /// adjacent elements along the inner loops.
    #[inline]
    pub(crate) fn gathered<'b>(
        self,
        copied: u8,
        inner: usize,
        buffers: &'b mut Buffers,
        room: &'b mut Loops,
    ) -> Nest<'b, T, E>
    where
        'a: 'b,
    {
        let (outer, row) = self.loops.split_at(self.loops.len() - inner);
        let mut read = self.read;
        room.clone_from_slice(outer);
        for k in 1..=E::COUNT {
            if copied >> (k - 1) & 1 == 0 {
                assert!(is_adjacent(row, k), "an operand that is used as it lies");
                continue;
            }
            let moves = outer.iter().any(|l| l.strides[k] != 0);
            if moves {
                let mut width = steps(row).cast_signed();
                for l in room.iter_mut().rev() {
                    l.strides[k] = width;
                    width *= l.len.cast_signed();
                }
            }
            // SAFETY: By the invariant, the operand's elements at the indices of the loops are borrowed; along those that
            // are left out it stays.
            let copy = unsafe { buffers.copy(k, E::pointer(read, k), if moves { self.loops } else { row }) };
            read = E::with_pointer(read, k, copy);
        }
        assert!(is_adjacent(row, 0), "adjacent elements of the written operand");
        let mut strides = [0; OPERANDS];
        strides[..=E::COUNT].fill(1);
        room.push(Loop { len: steps(row), strides });
        Nest { loops: room, out: self.out, read, arrays: PhantomData }
    }
}

/// Whether operands move by one element or stay along a loop, as the bits say: bit `k - 1` for operand `k`.
#[inline]
fn moves_as(row: &Loop, moving: u8, count: usize) -> bool {
    row.len == 1
        || row.strides[0] == 1 && (1..=count).all(|k| row.strides[k] == isize::from(moving >> (k - 1) & 1))
}

/// Whether operand `k` comes to adjacent elements, one after the other.
#[inline]
pub(super) fn is_adjacent(loops: &[Loop], k: usize) -> bool {
    let mut width = 1;
    loops.iter().rev().all(|l| {
        let follows = l.strides[k] == width;
        width *= l.len.cast_signed();
        follows
    })
}

/// The steps of [`Nest::walk`].
pub(crate) struct Steps<'a, T, E: Elements> {
    start: Nest<'a, T, E>,
    /// How far the pointers have moved. Not the pointers: they would be loaded, and so might point to local variables,
    /// as far as the compiler knows.
    by: Offsets,
    outer: &'a [Loop],
    last: Loop,
    /// Steps left of the last loop.
    left: usize,
    /// Turns of the last loop, begun and altogether.
    turn: usize,
    turns: usize,
}

impl<T, E: Elements> Steps<'_, T, E> {
    /// The nest at the next index: one at a time, as the written operand may not move.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Nest<'_, T, E>> {
        if self.left > 0 {
            for (by, stride) in self.by.iter_mut().zip(self.last.strides) {
                *by = by.wrapping_add(stride);
            }
        } else {
            if self.turn == self.turns {
                return None;
            }
            self.by = if self.turn == 0 { [0; OPERANDS] } else { offsets(self.outer, self.turn) };
            self.turn += 1;
            self.left = self.last.len;
        }
        self.left -= 1;
        Some(self.start.moved_by(&self.by))
    }
}

impl<'a, E: Elements> Nest<'a, (), E> {
    /// The part of a loop from `from` on.
    ///
    /// # Panics
    /// Where the loop has no such part.
    pub(crate) fn part<'b>(
        &self,
        place: usize,
        from: usize,
        len: usize,
        room: &'b mut Loops,
    ) -> Nest<'b, (), E>
    where
        'a: 'b,
    {
        self.part_of(place, from, len, room)
    }
}

impl<'a, T, A> Nest<'a, T, (A,)> {
    /// Loops over the axes of an array that is summed.
    ///
    /// Axis `i` of the array has no counterpart in `out` where `dropped(i)`; the others are the axes of `out`, in order.
    /// They have the array's size there, or size 1 to be summed over. `None` where there is nothing to sum.
    ///
    /// # Panics
    /// Where the axes of `out` are others.
    #[inline]
    pub(crate) fn sum<D: Dimension, F: Dimension>(
        plan: &'a mut Plan,
        array: &'a ArrayRef<A, D>,
        out: &'a mut ArrayRef<T, F>,
        dropped: &dyn Fn(usize) -> bool,
    ) -> Option<Self> {
        let pointer = out.as_mut_ptr();
        plan_sum(plan, Axes::of(out), Axes::of(array), dropped);
        Self::planned(plan, pointer, (array.as_ptr(),))
    }
}

impl<'a, A> Nest<'a, (), (A,)> {
    /// The element at index zero.
    #[inline(always)]
    pub(crate) fn item(self) -> &'a A {
        // SAFETY: An index of the loops, by the invariant.
        unsafe { &*self.read.0 }
    }

    /// All elements: in one row, or in rows along the first loop.
    ///
    /// # Panics
    /// Where those of a row are not evenly spaced.
    #[inline(always)]
    pub(crate) fn block(self, in_rows: bool) -> Block<'a, A> {
        let (rows, row) = self.loops.split_at(usize::from(in_rows));
        let (rows, stride) = rows.first().map_or((1, 0), |l| (l.len, l.strides[1]));
        let (mut width, step) = (1, row.last().map_or(1, |l| l.strides[1]));
        for l in row.iter().rev() {
            assert!(l.strides[1] == step * width, "elements that are evenly spaced");
            width *= l.len.cast_signed();
        }
        Block { at: self.read.0, rows, stride, width: width.cast_unsigned(), step, array: PhantomData }
    }
}

impl<'a, T, A> Nest<'a, T, (A, A)> {
    /// Loops over the batches of products of matrices, and then over the rows of the first matrix, its columns and the
    /// columns of the second. `None` where there is no sum, or one of no terms.
    ///
    /// The last axes are of `out`, `a` and `b`, in this order.
    ///
    /// # Panics
    /// Where the matrices do not go together, or the batches not to those of `out`.
    pub(crate) fn products<D: Dimension, F: Dimension, G: Dimension>(
        plan: &'a mut Plan,
        out: &'a mut ArrayRef<T, D>,
        a: &'a ArrayRef<A, F>,
        b: &'a ArrayRef<A, G>,
        axes: [usize; 3],
    ) -> Option<Self> {
        let [m, p] = Axes::of(out).matrix(axes[0], axes[1] == 1);
        let [rows, terms] = Axes::of(a).matrix(axes[1], true);
        let [others, columns] = Axes::of(b).matrix(axes[2], false);
        assert!(m.0 == rows.0 && terms.0 == others.0 && columns.0 == p.0, "matrices whose sizes go together");
        let of = |len, strides: [isize; 3]| {
            let mut l = Loop { len, ..Loop::ONE };
            l.strides[..3].copy_from_slice(&strides);
            l
        };
        let matrices = [
            of(rows.0, [m.1, rows.1, 0]),
            of(terms.0, [0, terms.1, others.1]),
            of(columns.0, [p.1, 0, columns.1]),
        ];
        if matrices.iter().any(|l| l.len == 0) {
            return None;
        }
        let pointer = out.as_mut_ptr();
        let mut inputs = Inputs::from((a, b));
        inputs.plan_batches(plan, Axes::of(out), &axes);
        plan.loops.extend(&matrices);
        Self::planned(plan, pointer, inputs.at)
    }
}

impl<'a, A> Nest<'a, (), (A, A)> {
    /// The elements of the first operand that is read along the first two of three loops, and of the second along the
    /// last two; the other way round, transposed, if `turned`.
    #[inline(always)]
    pub(crate) fn matrices(self, turned: bool) -> [Block<'a, A>; 2] {
        let [rows, terms, columns] = self.loops else { unreachable!("three loops") };
        let (a, b) = self.read;
        let block = |at, [rows, row]: [&Loop; 2], k: usize| {
            let (stride, step) = (rows.strides[k], row.strides[k]);
            Block { at, rows: rows.len, stride, width: row.len, step, array: PhantomData }
        };
        let [a, b] = [block(a, [rows, terms], 1), block(b, [terms, columns], 2)];
        if turned { [b.transposed(), a.transposed()] } else { [a, b] }
    }
}

/// The elements of the written operand along two loops.
pub(crate) struct Grid<'a, T> {
    at: *mut T,
    sizes: [usize; 2],
    strides: [isize; 2],
    array: PhantomData<&'a mut T>,
}

impl<'a, T, E: Elements> Nest<'a, T, E> {
    /// The elements of the written operand along the first and the last loop, or the last and the first if `turned`.
    #[inline(always)]
    pub(crate) fn grid(self, turned: bool) -> Grid<'a, T> {
        let (Some(first), Some(last)) = (self.loops.first(), self.loops.last()) else {
            unreachable!("at least two loops")
        };
        let [rows, columns] = if turned { [last, first] } else { [first, last] };
        let (sizes, strides) = ([rows.len, columns.len], [rows.strides[0], columns.strides[0]]);
        Grid { at: self.out, sizes, strides, array: PhantomData }
    }
}

impl<'a, T> Grid<'a, T> {
    /// The elements of rows that follow each other without gaps.
    ///
    /// # Panics
    /// Where they do not, or are not `R` rows of `C` elements.
    #[inline(always)]
    pub(crate) fn packed<const R: usize, const C: usize>(self) -> &'a mut [[T; C]; R] {
        assert!(self.sizes == [R, C], "rows and columns of the grid");
        assert!(C == 1 || self.strides[1] == 1, "adjacent elements");
        assert!(R == 1 || self.strides[0] == C.cast_signed(), "rows without gaps");
        // SAFETY: Indices of the nest that the grid was made of, at adjacent elements; the grid is used up.
        unsafe { &mut *self.at.cast() }
    }

    /// Hands out `C` elements of row `row`, from `column` on, with values.
    #[inline(always)]
    pub(crate) fn each<V: Copy, const C: usize>(
        &mut self,
        row: usize,
        column: usize,
        values: [V; C],
        mut store: impl FnMut(&mut T, V),
    ) {
        assert!(row < self.sizes[0], "a row of the grid");
        assert!(column.checked_add(C).is_some_and(|end| end <= self.sizes[1]), "columns of the grid");
        let at = self.at.wrapping_offset(row.cast_signed() * self.strides[0]);
        for (j, value) in values.iter().enumerate() {
            let offset = (column + j).cast_signed() * self.strides[1];
            // SAFETY: An index of the nest that the grid was made of, of which this is the only reference.
            store(unsafe { &mut *at.wrapping_offset(offset) }, *value);
        }
    }
}

/// Evenly spaced rows of evenly spaced elements that are borrowed for `'a`. In `DENSE` ones the elements of a row are
/// adjacent, which the loops know.
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

impl<'a, T> Block<'a, T> {
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

    /// The block as a dense one, if it is.
    #[inline(always)]
    pub(crate) fn dense(self) -> Option<Block<'a, T, true>> {
        let Self { at, rows, stride, width, array, .. } = self;
        (self.step() == 1 || width <= 1).then_some(Block { at, rows, stride, width, step: 1, array })
    }

    #[inline(always)]
    fn step(self) -> isize {
        if DENSE { 1 } else { self.step }
    }

    /// The only row, from element `from`, as rows of `width` elements one after the other.
    #[inline(always)]
    pub(crate) fn cut(self, from: usize, rows: usize, width: usize) -> Self {
        assert!(self.rows == 1 && from <= self.width, "part of a row");
        assert!(rows.checked_mul(width).is_some_and(|n| n <= self.width - from), "rows within the row");
        let at = self.at.wrapping_offset(self.step() * from.cast_signed());
        Self { at, rows, stride: self.step() * width.cast_signed(), width, ..self }
    }

    /// At most `count` rows, from `row` on.
    #[inline(always)]
    pub(crate) fn rows_from(self, row: usize, count: usize) -> Self {
        let row = row.min(self.rows);
        let at = self.at.wrapping_offset(row.cast_signed() * self.stride);
        Self { at, rows: count.min(self.rows - row), ..self }
    }

    /// The same rows from column `from` on, at most `width` wide.
    #[inline(always)]
    pub(crate) fn columns_from(self, from: usize, width: usize) -> Self {
        let from = from.min(self.width);
        let at = self.at.wrapping_offset(self.step() * from.cast_signed());
        Self { at, width: width.min(self.width - from), ..self }
    }

    #[inline(always)]
    pub(crate) fn get(self, row: usize, column: usize) -> &'a T {
        assert!(row < self.rows && column < self.width, "an element of the block");
        let by = row.cast_signed() * self.stride + column.cast_signed() * self.step();
        // SAFETY: An element of the block.
        unsafe { &*self.at.wrapping_offset(by) }
    }
}

impl<'a, T> Block<'a, T, true> {
    /// A row as a slice.
    #[inline(always)]
    pub(crate) fn row(self, row: usize) -> &'a [T] {
        assert!(row < self.rows, "a row of the block");
        let at = self.at.wrapping_offset(row.cast_signed() * self.stride);
        // SAFETY: The elements of the row, which are adjacent and borrowed.
        unsafe { slice::from_raw_parts(at, self.width) }
    }

    /// The elements of rows that follow each other without gaps.
    ///
    /// # Panics
    /// Where they do not, or are not `R` rows of `C` elements.
    #[inline(always)]
    pub(crate) fn packed<const R: usize, const C: usize>(self) -> &'a [[T; C]; R] {
        assert!(self.rows == R && self.width == C, "rows and columns of the block");
        assert!(
            (C == 1 || self.step == 1) && (R == 1 || self.stride == C.cast_signed()),
            "rows without gaps"
        );
        // SAFETY: The elements are adjacent and borrowed; an array is aligned as its elements.
        unsafe { &*self.at.cast() }
    }
}

impl<T: Clone, const DENSE: bool> Block<'_, T, DENSE> {
    /// What `sum` makes of the elements of `R` rows, from `row` on, in each of `C` columns from `column` on.
    ///
    /// # Panics
    /// Where there are no such rows and columns, or several columns are not adjacent.
    #[inline(always)]
    pub(crate) fn columns<const R: usize, const C: usize>(
        self,
        row: usize,
        column: usize,
        zero: &T,
        sum: impl Fn([T; R]) -> T,
    ) -> [T; C] {
        assert!(row <= self.rows && R <= self.rows - row, "rows of the block");
        assert!(column.checked_add(C).is_some_and(|end| end <= self.width), "columns of the block");
        const { assert!(DENSE || C == 1, "columns are adjacent") };
        let at =
            self.at.wrapping_offset(row.cast_signed() * self.stride + column.cast_signed() * self.step());
        let mut sums: [T; C] = core::array::from_fn(|_| zero.clone());
        for (j, result) in sums.iter_mut().enumerate() {
            *result = sum(core::array::from_fn(|r| {
                // SAFETY: Row `row + r` and column `column + j` are in the block, whose elements are borrowed.
                unsafe { (*at.offset(r.cast_signed() * self.stride + j.cast_signed())).clone() }
            }));
        }
        sums
    }
}

impl<'a, T: Copy> Block<'a, T> {
    /// For each column of this block and row of the other: the elements of `R` rows from `row` on, and those of `C`
    /// columns of the other, adjacent if there are several, from `column` on.
    ///
    /// # Panics
    /// Where the blocks do not go together, or have no such rows and columns.
    #[inline(always)]
    pub(crate) fn terms<const R: usize, const C: usize>(
        self,
        row: usize,
        other: Self,
        column: usize,
    ) -> impl Iterator<Item = ([T; R], [T; C])> {
        assert!(self.width == other.rows, "a row for each column");
        assert!(row.checked_add(R).is_some_and(|end| end <= self.rows), "rows of the block");
        assert!(column.checked_add(C).is_some_and(|end| end <= other.width), "columns of the block");
        assert!(C == 1 || other.step == 1, "adjacent elements");
        let a = self.at.wrapping_offset(row.cast_signed() * self.stride);
        let b = other.at.wrapping_offset(column.cast_signed() * other.step);
        (0..self.width.cast_signed()).map(move |j| {
            let a = a.wrapping_offset(j * self.step);
            let b = b.wrapping_offset(j * other.stride);
            // SAFETY: Column `j` of the one block and row `j` of the other, within the rows and columns that there are.
            unsafe {
                (
                    core::array::from_fn(|r| *a.wrapping_offset(r.cast_signed() * self.stride)),
                    *b.cast::<[T; C]>(),
                )
            }
        })
    }
}

impl<'a, T> From<&'a [T]> for Block<'a, T, true> {
    #[inline(always)]
    fn from(slice: &'a [T]) -> Self {
        Self { at: slice.as_ptr(), rows: 1, stride: 0, width: slice.len(), step: 1, array: PhantomData }
    }
}
