//! Memory that is written once and counted, and memory that a pass needs beside its operands.

use super::STACK_BYTES;
use crate::kernel::ensure;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::slice::{self, ChunksExact};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the slots of a new array or buffer that were written, on all threads. Outputs that are elements have no count.
#[derive(Clone, Copy)]
pub(crate) struct Count<'m>(pub(super) Option<&'m AtomicUsize>);

impl Count<'_> {
    pub(crate) const NONE: Self = Self(None);

    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// # Safety
    /// As many slots of the array or buffer were written, and are counted here alone.
    #[inline(always)]
    pub(crate) unsafe fn add(self, written: usize) {
        if let Some(count) = self.0 {
            #[cfg(feature = "rayon")]
            count.fetch_add(written, Relaxed);
            // one thread; some CPUs cannot add in one step
            #[cfg(not(feature = "rayon"))]
            count.store(count.load(Relaxed) + written, Relaxed);
        }
    }
}

/// Contiguous slots, to be filled once. They cannot be reborrowed, so no slot is written and counted twice.
pub(crate) struct Slots<'m, A> {
    memory: &'m mut [MaybeUninit<A>],
    count: Count<'m>,
}

impl<'m, A> Slots<'m, A> {
    /// # Safety
    /// There are `len` contiguous slots at `at`, borrowed exclusively. `count` is theirs.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut MaybeUninit<A>, len: usize, count: Count<'m>) -> Self {
        // SAFETY: As the caller promises.
        Self { memory: unsafe { slice::from_raw_parts_mut(at, len) }, count }
    }

    /// The first slot, their number, and the count.
    #[inline(always)]
    pub(crate) fn into_parts(self) -> (*mut MaybeUninit<A>, usize, Count<'m>) {
        (self.memory.as_mut_ptr(), self.memory.len(), self.count)
    }

    /// Fills the slots, as a vector to which `append` appends.
    ///
    /// # Panics
    /// If `append` replaces the vector by another one.
    #[inline(always)]
    pub(crate) fn append(self, append: impl FnOnce(&mut SliceVec<'_, A>)) {
        let mut vec = SliceVec { memory: self.memory, len: 0 };
        let start = vec.as_ptr();
        append(&mut vec);
        ensure(vec.as_ptr() == start, "other memory was filled");
        // SAFETY: The first `len` elements of a vector were written.
        unsafe { self.count.add(vec.len()) };
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
    pub(crate) fn filled(&mut self, len: usize, fill: impl FnOnce(Slots<'_, A>)) -> &[A] {
        self.len = 0;
        let written = AtomicUsize::new(0);
        fill(Slots { memory: &mut self.memory[..len], count: Count(Some(&written)) });
        ensure(written.into_inner() == len, "a slot was not written");
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
