//! Memory that is written once, the proof that it was, and memory for what a pass needs beside its operands.

use super::STACK_BYTES;
use crate::kernel::ensure;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::slice::{self, ChunksExact};

/// Memory for one element of the array or buffer with the brand `'s`.
#[repr(transparent)]
pub(crate) struct Slot<'s, A>(MaybeUninit<A>, PhantomData<fn(&'s ()) -> &'s ()>);

/// Contiguous slots, to be filled once. They cannot be reborrowed, so no slot is written and counted twice.
pub(crate) struct Slots<'m, 's, A>(&'m mut [Slot<'s, A>]);

impl<'m, 's, A> Slots<'m, 's, A> {
    /// # Safety
    /// There are `len` contiguous slots at `at`, borrowed exclusively, and no other slots have this brand.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut Slot<'s, A>, len: usize) -> Self {
        // SAFETY: As the caller promises.
        Self(unsafe { slice::from_raw_parts_mut(at, len) })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    pub(crate) fn start(&mut self) -> *mut Slot<'s, A> {
        self.0.as_mut_ptr()
    }

    /// An empty vector in the memory of the slots.
    #[inline(always)]
    fn into_vec(self) -> SliceVec<'m, A> {
        // SAFETY: A slot is transparent over `MaybeUninit<A>`, and a vector only writes elements.
        let memory = unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len()) };
        SliceVec { memory, len: 0 }
    }
}

/// The number of slots with the brand `'s` that have been written: none by default.
#[derive(Default)]
pub(crate) struct Written<'s>(usize, PhantomData<fn(&'s ()) -> &'s ()>);

impl<'s> Written<'s> {
    /// # Safety
    /// As many slots of the brand were written, and are counted here alone.
    #[inline(always)]
    pub(crate) unsafe fn new(count: usize) -> Self {
        Self(count, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, more: Self) {
        self.0 += more.0;
    }

    pub(crate) fn count(&self) -> usize {
        self.0
    }

    /// Fills the slots, as a vector to which `append` appends.
    ///
    /// # Panics
    /// If `append` replaces the vector by another one.
    #[inline(always)]
    pub(crate) fn appended<A>(slots: Slots<'_, 's, A>, append: impl FnOnce(&mut SliceVec<'_, A>)) -> Self {
        let mut vec = slots.into_vec();
        let start = vec.as_ptr();
        append(&mut vec);
        ensure(vec.as_ptr() == start, "other memory was filled");
        Self(vec.len(), PhantomData)
    }
}

/// 64 bytes, at least as aligned as the elements that are reduced in a buffer.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([MaybeUninit<u8>; 64]);

const LINE: Line = Line([MaybeUninit::uninit(); 64]);

/// Memory for elements without drop glue: `LINES` lines on the stack, or more on the heap.
pub(crate) struct Buffer<const LINES: usize> {
    stack: [Line; LINES],
    heap: Vec<Line>,
}

impl<const LINES: usize> Buffer<LINES> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        #[allow(clippy::large_stack_arrays, reason = "it is not initialised")]
        Self { stack: [LINE; LINES], heap: Vec::new() }
    }

    /// An empty vector with capacity for `len` elements.
    ///
    /// # Panics
    /// If elements are more aligned than [`Line`].
    #[inline(never)]
    pub(crate) fn vec<A>(&mut self, len: usize) -> SliceVec<'_, A> {
        let lines = len.saturating_mul(size_of::<A>()).div_ceil(64);
        if lines > LINES {
            if lines > self.heap.capacity() {
                // not grown: nothing is left to keep
                self.heap = Vec::new();
            }
            self.heap.resize(lines, LINE);
            return SliceVec::of(&mut self.heap, len);
        }
        SliceVec::of(&mut self.stack, len)
    }

    /// Memory of `len` bytes, as aligned as [`Line`].
    #[inline]
    pub(crate) fn bytes(&mut self, len: usize) -> &mut [MaybeUninit<u8>] {
        self.vec(len).memory
    }
}

/// Memory for what a pass needs beside its operands.
pub(crate) type Scratch = Buffer<{ STACK_BYTES / 64 }>;

/// A vector in borrowed memory, of elements without drop glue. It cannot grow beyond that memory.
pub(crate) struct SliceVec<'m, A> {
    memory: &'m mut [MaybeUninit<A>],
    /// The first `len` elements are initialised.
    len: usize,
}

impl<'m, A> SliceVec<'m, A> {
    #[inline(always)]
    fn of(lines: &'m mut [Line], len: usize) -> Self {
        ensure(align_of::<A>() <= 64, "elements are more aligned than the buffer");
        ensure(len.saturating_mul(size_of::<A>()) <= size_of_val(lines), "no room for the elements");
        // SAFETY: The lines have these bytes and this alignment, as was just checked, and are borrowed exclusively.
        Self { memory: unsafe { slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), len) }, len: 0 }
    }

    /// Replaces all elements by `len` elements that `fill` writes.
    ///
    /// # Panics
    /// If `fill` did not write every slot.
    #[inline]
    pub(crate) fn filled(
        &mut self,
        len: usize,
        fill: impl for<'s> FnOnce(Slots<'_, 's, A>) -> Written<'s>,
    ) -> &[A] {
        self.len = 0;
        // SAFETY: `fill` is generic over the brand, and called once.
        let written = fill(unsafe { Slots::new(self.memory[..len].as_mut_ptr().cast(), len) });
        ensure(written.count() == len, "a slot was not written");
        self.len = len;
        self
    }

    /// An empty vector in the spare memory.
    #[inline]
    pub(crate) fn rest(&mut self) -> SliceVec<'_, A> {
        SliceVec { memory: &mut self.memory[self.len..], len: 0 }
    }

    /// The elements, and an empty vector in the spare memory.
    #[inline]
    pub(crate) fn split(self) -> (&'m [A], SliceVec<'m, A>) {
        let (elements, memory) = self.memory.split_at_mut(self.len);
        // SAFETY: The first `len` elements were written.
        (unsafe { slice::from_raw_parts(elements.as_ptr().cast(), self.len) }, SliceVec { memory, len: 0 })
    }

    /// Two empty vectors, the first one with this capacity.
    #[inline]
    pub(crate) fn split_at(self, room: usize) -> [Self; 2] {
        let (first, second) = self.memory.split_at_mut(room);
        [Self { memory: first, len: 0 }, Self { memory: second, len: 0 }]
    }

    /// The number of elements that may be appended.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.memory.len() - self.len
    }

    /// The first `count` elements of the spare memory.
    #[inline(always)]
    fn spare(&mut self, count: usize) -> &mut [MaybeUninit<A>] {
        &mut self.memory[self.len..][..count]
    }

    /// # Panics
    /// If the memory is too small.
    #[inline(always)]
    pub(crate) fn extend(&mut self, elements: &[A])
    where
        A: Clone,
    {
        for (place, element) in self.spare(elements.len()).iter_mut().zip(elements) {
            place.write(element.clone());
        }
        self.len += elements.len();
    }

    /// Appends the result of each group of `len` elements. The loop over groups is vectorised. `fold` is a function, not a closure: the
    /// compiler may not inline one, and then it is not compiled for the CPU.
    ///
    /// # Panics
    /// If the memory is too small.
    #[inline(always)]
    pub(crate) fn extend_by_groups<O: Copy>(
        &mut self,
        elements: &[A],
        len: usize,
        op: O,
        fold: impl Fn(O, &[A]) -> A,
    ) {
        // Slices as parameters: LLVM knows that they do not alias, and vectorises.
        #[inline(always)]
        fn write<A, O: Copy>(
            spare: &mut [MaybeUninit<A>],
            groups: ChunksExact<'_, A>,
            op: O,
            fold: impl Fn(O, &[A]) -> A,
        ) {
            for (place, group) in spare.iter_mut().zip(groups) {
                place.write(fold(op, group));
            }
        }
        let count = elements.len() / len;
        // writes all of them: there are `count` groups
        write(self.spare(count), elements.chunks_exact(len), op, fold);
        self.len += count;
    }
}

impl<A> Deref for SliceVec<'_, A> {
    type Target = [A];

    #[inline(always)]
    fn deref(&self) -> &[A] {
        // SAFETY: The first `len` elements were written.
        unsafe { slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }
}

impl<A> DerefMut for SliceVec<'_, A> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [A] {
        // SAFETY: The first `len` elements were written.
        unsafe { slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }
}
