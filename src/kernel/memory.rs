//! Uninitialised memory: new arrays and buffers.
//!
//! # Invariant
//! Memory is read as elements only after elements were written to it. [`Slot`]s have a brand, a lifetime that is fresh for each
//! array or buffer. [`Written`] counts the slots of a brand that were written, each of them once. The strides of a new array are
//! those that [`order`](super::order) has for its shape, which [`Reserved::new`] checked.

use super::nest::{Output, Written};
use super::order::{AxisOrder, strides};
use super::{ensure, fail};
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::slice;
use ndarray::{Array, Dimension, ShapeBuilder};

/// Memory for one element of the array or buffer with the brand `'s`.
#[repr(transparent)]
pub(crate) struct Slot<'s, A>(MaybeUninit<A>, PhantomData<fn(&'s ()) -> &'s ()>);

/// Contiguous slots, to be filled once. They cannot be reborrowed, so no slot is written and counted twice.
pub(crate) struct Slots<'m, 's, A>(&'m mut [Slot<'s, A>]);

impl<'m, 's, A> Slots<'m, 's, A> {
    /// # Safety
    /// There are `len` contiguous slots at `at`, borrowed exclusively, and no other slots have this brand.
    #[inline(always)]
    pub(super) unsafe fn new(at: *mut Slot<'s, A>, len: usize) -> Self {
        // SAFETY: As the caller promises.
        Self(unsafe { slice::from_raw_parts_mut(at, len) })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    pub(super) fn start(&mut self) -> *mut Slot<'s, A> {
        self.0.as_mut_ptr()
    }

    /// The bytes of the slots.
    #[inline(always)]
    pub(super) fn into_bytes(self) -> &'m mut [MaybeUninit<u8>] {
        // SAFETY: The bytes of a slot may be uninitialised, and any bytes may be written to it.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), size_of_val(&*self.0)) }
    }

    /// An empty vector in the memory of the slots.
    #[inline(always)]
    pub(super) fn into_vec(self) -> SliceVec<'m, A> {
        // SAFETY: A slot is transparent over `MaybeUninit<A>`, and a vector only writes elements.
        let memory = unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len()) };
        SliceVec { memory, len: 0 }
    }
}

/// Memory for a new array. It is reserved before a pass runs, so that a result that is too large is an error. Scratch, whose size
/// is constant, and lists of partial results are allocated by the pass, which ends the program where it gets none.
///
/// Not exported; public because hidden methods of public traits take it.
pub struct Reserved<A, D> {
    shape: D,
    /// Empty, with capacity for the elements of the shape.
    elements: Vec<A>,
}

impl<A, D: Dimension> Reserved<A, D> {
    /// Returns the shape if its non-zero sizes multiply past `isize::MAX`, or if there is not enough memory.
    #[inline(always)]
    pub(crate) fn new(shape: D) -> Result<Self, D> {
        let (sizes, mut elements) = (shape.slice(), Vec::new());
        let len = sizes.iter().fold(1_usize, |len, &size| len.saturating_mul(size.max(1)));
        let reserved = if sizes.contains(&0) { 0 } else { len };
        let fits = isize::try_from(len).is_ok() && elements.try_reserve_exact(reserved).is_ok();
        if fits { Ok(Self { shape, elements }) } else { Err(shape) }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &[usize] {
        self.shape.slice()
    }

    /// The number of elements of the new array.
    pub(crate) fn len(&self) -> usize {
        self.shape.size()
    }

    /// An array of clones of `elements` in standard layout.
    ///
    /// # Panics
    /// If their number is not that of the shape.
    #[inline(always)]
    pub(crate) fn cloned<'a>(mut self, elements: impl IntoIterator<Item = &'a A>) -> Array<A, D>
    where
        A: Clone + 'a,
    {
        self.elements.extend(elements.into_iter().cloned());
        Array::from_shape_vec(self.shape, self.elements)
            .unwrap_or_else(|_| fail("more or fewer elements than the shape has"))
    }

    /// An array whose elements are clones of `element`, with this order of axes in memory or in standard layout.
    pub(crate) fn filled(mut self, order: Option<&dyn AxisOrder>, element: A) -> Array<A, D>
    where
        A: Clone,
    {
        let mut steps = D::zeros(self.shape.ndim());
        let len = strides(self.shape.slice(), order, steps.slice_mut());
        self.elements.resize(len, element);
        // SAFETY: There are `len` elements, and the strides are those of a permuted standard layout.
        unsafe { Array::from_shape_vec_unchecked(self.shape.strides(steps), self.elements) }
    }

    /// An array whose elements `fill` writes, with this order of axes in memory or in standard layout. If `fill` panics, the
    /// elements that it wrote leak.
    ///
    /// # Panics
    /// If `fill` did not write every slot.
    #[inline]
    pub(crate) fn filled_by(
        mut self,
        order: Option<&dyn AxisOrder>,
        fill: impl for<'s> FnOnce(Output<'_, Slot<'s, A>>) -> Written<'s>,
    ) -> Array<A, D> {
        let mut steps = D::zeros(self.shape.ndim());
        let len = strides(self.shape.slice(), order, steps.slice_mut());
        ensure(len <= self.elements.capacity(), "no room for the elements");
        // SAFETY: The capacity holds the elements of a permuted standard layout of this shape. `fill` is generic over the brand,
        // and called once. `usize` and `isize` have the same layout.
        let out = unsafe {
            let signed = slice::from_raw_parts(steps.slice().as_ptr().cast(), steps.ndim());
            Output::slots(self.elements.as_mut_ptr(), self.shape.slice(), signed)
        };
        ensure(fill(out).count() == len, "a slot was not written");
        // SAFETY: The brand of the slots is fresh, and `Written` counts each of them once, so all `len` were written.
        unsafe {
            self.elements.set_len(len);
            Array::from_shape_vec_unchecked(self.shape.strides(steps), self.elements)
        }
    }
}

/// The most bytes of a block of a reduction.
pub(crate) const BLOCK_BYTES: usize = 64 << 10;
/// The bytes of scratch on the stack.
pub(crate) const STACK_BYTES: usize = 4 << 10;
/// The most bytes of copies that a part of a nest has.
pub(crate) const COPIES_BYTES: usize = 4 * BLOCK_BYTES;
/// The bytes of a cache line.
pub(crate) const CACHE_LINE: usize = 64;

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
    #[inline]
    pub(crate) fn vec<A>(&mut self, len: usize) -> SliceVec<'_, A> {
        let lines = len.saturating_mul(size_of::<A>()).div_ceil(64);
        if lines > LINES {
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

/// A fold of a lane to its result. Not a closure: the compiler may not inline one, and then it is not compiled for the CPU.
pub(crate) trait FoldLane<A> {
    /// Must be `inline(always)`.
    fn fold(&self, lane: &[A]) -> A;
}

impl<'m, A> SliceVec<'m, A> {
    #[inline(always)]
    fn of(lines: &'m mut [Line], len: usize) -> Self {
        ensure(align_of::<A>() <= 64, "elements are more aligned than the buffer");
        ensure(len.saturating_mul(size_of::<A>()) <= size_of_val(lines), "no room for the elements");
        // SAFETY: The lines have these bytes, as was just checked, and are borrowed exclusively.
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

    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
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

    /// Appends the result of each group of `len` elements. The loop over groups is vectorised.
    ///
    /// # Panics
    /// If the memory is too small.
    #[inline(always)]
    pub(crate) fn extend_by_groups(&mut self, elements: &[A], len: usize, fold: &impl Fn(&[A]) -> A) {
        // Slices as parameters: LLVM knows that they do not alias, and vectorises.
        #[inline]
        fn write<A>(spare: &mut [MaybeUninit<A>], elements: &[A], len: usize, fold: &impl Fn(&[A]) -> A) {
            for (place, group) in spare.iter_mut().zip(elements.chunks_exact(len)) {
                place.write(fold(group));
            }
        }
        let count = elements.len() / len;
        // writes all of them: there are `count` groups
        write(self.spare(count), elements, len, fold);
        self.len += count;
    }

    /// Appends the result of each lane of `len` elements.
    ///
    /// # Panics
    /// If the memory is too small.
    #[inline(always)]
    pub(crate) fn extend_by_lanes(&mut self, elements: &[A], len: usize, fold: &impl FoldLane<A>) {
        let count = elements.len() / len;
        // writes all of them: there are `count` lanes
        for (place, lane) in self.spare(count).iter_mut().zip(elements.chunks_exact(len)) {
            place.write(fold.fold(lane));
        }
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

/// A list on the stack, or on the heap once it has more than `N` items.
pub(crate) struct List<T: Copy, const N: usize> {
    /// The first `len` items are initialised.
    stack: [MaybeUninit<T>; N],
    len: usize,
    /// All items, if the list has moved to the heap.
    heap: Vec<T>,
}

impl<T: Copy, const N: usize> List<T, N> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self { stack: [const { MaybeUninit::uninit() }; N], len: 0, heap: Vec::new() }
    }

    /// A list of `len` times one item.
    #[inline]
    pub(crate) fn filled(len: usize, item: T) -> Self {
        let mut list = Self::new();
        for _ in 0..len {
            list.push(item);
        }
        list
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.heap.is_empty() && self.len < N {
            self.stack[self.len].write(item);
            self.len += 1;
        } else {
            self.push_to_heap(item);
        }
    }

    #[cold]
    fn push_to_heap(&mut self, item: T) {
        if self.heap.is_empty() {
            self.heap = self.to_vec();
        }
        self.heap.push(item);
    }

    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.heap.truncate(len);
    }

    /// Removes the items for which `is_kept` does not hold.
    #[inline]
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        let mut to = 0;
        for from in 0..self.len() {
            if is_kept(&self[from]) {
                self[to] = self[from];
                to += 1;
            }
        }
        self.truncate(to);
    }

    /// Removes the first `count` items.
    #[inline]
    pub(crate) fn remove_first(&mut self, count: usize) {
        if count > 0 {
            let len = self.len() - count;
            self.copy_within(count.., 0);
            self.truncate(len);
        }
    }

    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.stack[..other.len].copy_from_slice(&other.stack[..other.len]);
        self.len = other.len;
        self.heap.clone_from(&other.heap);
    }
}

impl<T: Copy, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        if !self.heap.is_empty() {
            return &self.heap;
        }
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts(self.stack.as_ptr().cast(), self.len) }
    }
}

impl<T: Copy, const N: usize> DerefMut for List<T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        if !self.heap.is_empty() {
            return &mut self.heap;
        }
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts_mut(self.stack.as_mut_ptr().cast(), self.len) }
    }
}
