//! Uninitialised memory: new arrays, buffers, and copies of plain numbers to them.
//!
//! # Invariant
//! Memory is read as elements only after elements were written there: [`Slot`]s have a brand, which is fresh for each
//! array or buffer, and [`Written`] counts how many slots of a brand were written, each once.

use super::nest::{Output, Raw, VECTOR, Written, steps};
use super::order::{AxisOrder, ordered};
use super::simd::transpose;
use super::{broken, ensure};
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::{ptr, slice};
use ndarray::{Array, Dimension};

/// The place of an element that is to be written, in an array or buffer with the brand `'s`.
#[repr(transparent)]
pub(crate) struct Slot<'s, A>(MaybeUninit<A>, PhantomData<fn(&'s ()) -> &'s ()>);

impl<A> Slot<'_, A> {
    #[inline(always)]
    pub(crate) fn write(&mut self, element: A) {
        self.0.write(element);
    }
}

/// The slots of a buffer, to be filled once: they cannot be borrowed again, so none is written and counted twice.
pub(crate) struct Slots<'m, 's, A>(&'m mut [Slot<'s, A>]);

impl<'s, A> Slots<'_, 's, A> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    pub(super) fn start(self) -> *mut Slot<'s, A> {
        self.0.as_mut_ptr()
    }
}

/// Memory for a new array. It is reserved before a pass runs, so that a pass does not fail for want of memory.
///
/// Not exported; public because hidden methods of public traits take it.
pub struct Reserved<A, D> {
    shape: D,
    /// No elements yet, with capacity for as many as the shape has.
    elements: Vec<A>,
}

impl<A, D: Dimension> Reserved<A, D> {
    /// Memory for a shape whose non-zero sizes multiply to at most `isize::MAX`, or the shape if there is not enough.
    #[inline(always)]
    pub(crate) fn new(shape: D) -> Result<Self, D> {
        let Some(len) = shape.size_checked() else { return Err(shape) };
        let mut elements = Vec::new();
        match elements.try_reserve_exact(len) {
            Ok(()) => Ok(Self { shape, elements }),
            Err(_) => Err(shape),
        }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &[usize] {
        self.shape.slice()
    }

    /// The number of elements of the new array.
    pub(crate) fn len(&self) -> usize {
        self.shape.size()
    }

    /// An array in standard layout, of clones of these elements.
    ///
    /// # Panics
    /// If there are not as many elements as the shape has.
    #[inline(always)]
    pub(crate) fn cloned<'a>(mut self, elements: impl IntoIterator<Item = &'a A>) -> Array<A, D>
    where
        A: Clone + 'a,
    {
        self.elements.extend(elements.into_iter().cloned());
        in_standard_layout(self.shape, self.elements)
    }

    /// An array of clones of `element`, with this order of axes in memory, or in standard layout.
    #[inline(always)]
    pub(crate) fn filled(mut self, order: Option<&dyn AxisOrder>, element: A) -> Array<A, D>
    where
        A: Clone,
    {
        self.elements.resize(self.shape.size(), element);
        ordered(self.shape, order, |shape| in_standard_layout(shape, self.elements))
    }

    /// An array with this order of axes in memory, or in standard layout. `fill` writes its elements. If it panics, those
    /// that it wrote are forgotten, not dropped.
    ///
    /// # Panics
    /// If `fill` did not write every slot.
    #[inline(always)]
    pub(crate) fn written(
        self,
        order: Option<&dyn AxisOrder>,
        fill: impl for<'s> FnOnce(Output<'_, Slot<'s, A>>) -> Written<'s>,
    ) -> Array<A, D> {
        let (len, mut elements) = (self.shape.size(), ManuallyDrop::new(self.elements));
        // SAFETY: The vector has room for `len` elements without a value, of the same layout. It is not used again.
        let elements = unsafe {
            Vec::from_raw_parts(elements.as_mut_ptr().cast::<MaybeUninit<A>>(), len, elements.capacity())
        };
        let mut array = ordered(self.shape, order, |shape| in_standard_layout(shape, elements));
        // SAFETY: `fill` is generic over the brand, and called once.
        let written = fill(unsafe { Output::of(&mut array).slots() });
        ensure(written.count() == len, "every slot was written");
        // SAFETY: The brand of the slots is fresh, and `Written` counts each of them once, so all `len` were written.
        unsafe { array.assume_init() }
    }
}

/// An array in standard layout.
///
/// # Panics
/// If there are not as many elements as the shape has.
#[inline(always)]
fn in_standard_layout<A, D: Dimension>(shape: D, elements: Vec<A>) -> Array<A, D> {
    ensure(elements.len() == shape.size(), "as many elements as the shape has");
    // SAFETY: There is one element for each index, checked above, and the layout is standard.
    unsafe { Array::from_shape_vec_unchecked(shape, elements) }
}

/// The bytes of a [`Buffer`], and of all copies that a block of a map has at once. Measured on Zen 4 with maps of one to five
/// copied operands, sums and fused sums: half and twice as many take up to 1.15 times as long.
pub(crate) const BUFFER: usize = 32 << 10;

/// Fills memory with the elements that `fill` writes. If it panics, those that it wrote are forgotten.
///
/// # Panics
/// If `fill` did not write every slot.
fn fill_all<A>(memory: &mut [MaybeUninit<A>], fill: impl for<'s> FnOnce(Slots<'_, 's, A>) -> Written<'s>) {
    let (first, len) = (memory.as_mut_ptr(), memory.len());
    // SAFETY: A slot is transparent over `MaybeUninit<A>`. The borrow is exclusive.
    let slots = unsafe { slice::from_raw_parts_mut(first.cast::<Slot<'_, A>>(), len) };
    ensure(fill(Slots(slots)).count() == len, "every slot was written");
}

/// A vector of the `len` elements that `fill` writes.
///
/// # Panics
/// If `fill` did not write every slot.
pub(crate) fn vec_of<A>(len: usize, fill: impl for<'s> FnOnce(Slots<'_, 's, A>) -> Written<'s>) -> Vec<A> {
    let mut elements = Vec::<A>::with_capacity(len);
    fill_all(&mut elements.spare_capacity_mut()[..len], fill);
    // SAFETY: `fill_all` has filled so many: the brand of the slots is fresh, and `Written` counts each of them once.
    unsafe { elements.set_len(len) };
    elements
}

/// Room for the elements of a block.
pub(crate) type Buffer<A> = Room<A, BUFFER>;

/// A vector of elements that need no drop: in `BYTES` on the stack, and on the heap where they are too many.
#[repr(C, align(64))]
pub(crate) struct Room<A, const BYTES: usize> {
    /// The first `len` elements were written, unless `spilled` has elements.
    inline: [MaybeUninit<u8>; BYTES],
    len: usize,
    /// All elements, or none.
    spilled: Vec<A>,
}

/// The result of a lane. Not a closure, which is compiled for the CPU only if the compiler inlines it.
pub(crate) trait FoldLane<A> {
    /// Must be `inline(always)`.
    fn fold(&self, lane: &[A]) -> A;
}

impl<A, const BYTES: usize> Room<A, BYTES> {
    /// How many elements fit onto the stack.
    pub(crate) const MOST: usize = if size_of::<A>() > 0 { BYTES / size_of::<A>() } else { 0 };

    /// # Panics
    /// If elements have a greater alignment than the room.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        ensure(align_of::<A>() <= align_of::<Self>(), "elements as aligned as the room");
        #[allow(clippy::large_stack_arrays, reason = "it is not initialised")]
        Self { inline: [MaybeUninit::uninit(); BYTES], len: 0, spilled: Vec::new() }
    }

    /// The `len` elements that `fill` writes, and none that were there before.
    ///
    /// # Panics
    /// If they do not fit onto the stack, or `fill` did not write every slot.
    #[inline]
    pub(crate) fn filled(
        &mut self,
        len: usize,
        fill: impl for<'s> FnOnce(Slots<'_, 's, A>) -> Written<'s>,
    ) -> &[A] {
        self.truncate(0);
        let Some(slots) = self.slots(len) else { broken("room for the elements") };
        fill_all(slots, fill);
        self.len = len;
        self
    }

    /// The next `count` places on the stack, if the elements are there and they fit.
    #[inline(always)]
    fn slots(&mut self, count: usize) -> Option<&mut [MaybeUninit<A>]> {
        if !self.spilled.is_empty() || count > Self::MOST - self.len {
            return None;
        }
        // SAFETY: There is room for as many elements after the first `len`. The borrow is exclusive.
        Some(unsafe {
            slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast::<MaybeUninit<A>>().add(self.len), count)
        })
    }

    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.spilled.truncate(len);
        self.len = self.len.min(len);
    }
}

impl<A: Clone, const BYTES: usize> Room<A, BYTES> {
    #[inline(always)]
    pub(crate) fn extend(&mut self, elements: &[A]) {
        match self.slots(elements.len()) {
            Some(slots) => {
                for (slot, element) in slots.iter_mut().zip(elements) {
                    slot.write(element.clone());
                }
                self.len += elements.len();
            }
            None => self.spill(elements),
        }
    }

    /// Appends a result for each group of `len` elements, of a loop that is vectorised across groups.
    ///
    /// # Panics
    /// If the results do not fit onto the stack.
    #[inline(always)]
    pub(crate) fn extend_by_groups(&mut self, elements: &[A], len: usize, fold: &impl Fn(&[A]) -> A) {
        // Slices as parameters: LLVM knows that they do not alias, and vectorises.
        #[inline]
        fn write<A>(slots: &mut [MaybeUninit<A>], elements: &[A], len: usize, fold: &impl Fn(&[A]) -> A) {
            for (slot, group) in slots.iter_mut().zip(elements.chunks_exact(len)) {
                slot.write(fold(group));
            }
        }
        let count = elements.len() / len;
        let Some(slots) = self.slots(count) else { broken("room for the results") };
        // each slot is written: there are as many groups
        write(slots, elements, len, fold);
        self.len += count;
    }

    /// Appends a result for each lane of `len` elements.
    ///
    /// # Panics
    /// If the results do not fit onto the stack.
    #[inline(always)]
    pub(crate) fn extend_by_lanes(&mut self, elements: &[A], len: usize, fold: &impl FoldLane<A>) {
        let count = elements.len() / len;
        let Some(slots) = self.slots(count) else { broken("room for the results") };
        // each slot is written: there are as many lanes
        for (slot, lane) in slots.iter_mut().zip(elements.chunks_exact(len)) {
            slot.write(fold.fold(lane));
        }
        self.len += count;
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, elements: &[A]) {
        let mut spilled = core::mem::take(&mut self.spilled);
        if spilled.is_empty() {
            spilled.reserve(2 * (self.len + elements.len()));
            spilled.extend_from_slice(self);
        }
        spilled.extend_from_slice(elements);
        (self.spilled, self.len) = (spilled, 0);
    }
}

impl<A, const BYTES: usize> Deref for Room<A, BYTES> {
    type Target = [A];

    #[inline(always)]
    fn deref(&self) -> &[A] {
        if !self.spilled.is_empty() {
            return &self.spilled;
        }
        // SAFETY: The first `len` elements were written, at the start of the room, which is aligned.
        unsafe { slice::from_raw_parts(self.inline.as_ptr().cast(), self.len) }
    }
}

impl<A, const BYTES: usize> DerefMut for Room<A, BYTES> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [A] {
        if !self.spilled.is_empty() {
            return &mut self.spilled;
        }
        // SAFETY: As in `deref`; the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast(), self.len) }
    }
}

/// A list of up to `N` items on the stack.
pub(crate) struct List<T: Copy, const N: usize> {
    /// The first `len` items were written.
    items: [MaybeUninit<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self { items: [const { MaybeUninit::uninit() }; N], len: 0 }
    }

    /// # Panics
    /// If there are `N` items.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.items[self.len].write(item);
        self.len += 1;
    }

    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
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
            self.copy_within(count.., 0);
            self.len -= count;
        }
    }

    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.items[..other.len].copy_from_slice(&other.items[..other.len]);
        self.len = other.len;
    }
}

impl<T: Copy, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts(self.items.as_ptr().cast(), self.len) }
    }
}

impl<T: Copy, const N: usize> DerefMut for List<T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts_mut(self.items.as_mut_ptr().cast(), self.len) }
    }
}

/// Copies of operands' elements in L1, for blocks of the nest with the brand `'b`.
#[repr(C, align(64))]
pub(crate) struct Copies<'b> {
    room: [MaybeUninit<u8>; BUFFER],
    /// The bytes of one copy.
    share: usize,
    /// What was copied of each operand.
    made: [Copied; super::nest::OPERANDS],
    brand: PhantomData<fn(&'b ()) -> &'b ()>,
}

/// The first element and the loops of a copy, or null.
#[derive(Clone, Copy, PartialEq)]
struct Copied {
    from: *const u8,
    loops: [(usize, isize); Copied::LOOPS],
}

impl Copied {
    /// Copies of blocks with more loops are made anew.
    const LOOPS: usize = 4;
    const NONE: Self = Self { from: ptr::null(), loops: [(0, 0); Self::LOOPS] };

    #[inline]
    fn of(nest: &Raw<'_, '_>, k: usize) -> Self {
        let mut copied = Self::NONE;
        if nest.loops().len() <= Self::LOOPS {
            copied.from = nest.pointer(k);
            for (copied, l) in copied.loops.iter_mut().zip(nest.loops()) {
                *copied = (l.len(), l.stride(k));
            }
        }
        copied
    }
}

impl<'b> Copies<'b> {
    /// Room for copies of `count` inputs.
    #[inline]
    pub(crate) fn new(count: usize) -> Self {
        #[allow(clippy::large_stack_arrays, reason = "it is not initialised")]
        let room = [MaybeUninit::uninit(); BUFFER];
        let made = [Copied::NONE; super::nest::OPERANDS];
        Self { room, share: Self::share_of(count), made, brand: PhantomData }
    }

    /// The bytes of one of `count` copies.
    pub(crate) fn share_of(count: usize) -> usize {
        (BUFFER / count.max(2)) & !63
    }

    /// Copies the elements of input `k`, adjacent in the order of the loops, unless the last copy is of the same. Returns
    /// the place of the copy in the room.
    ///
    /// # Panics
    /// If they are no plain numbers, or do not fit.
    #[inline]
    pub(crate) fn of(&mut self, nest: &Raw<'_, 'b>, k: usize) -> usize {
        ensure(k > 0 && nest.is_plain(k), "an input of plain numbers");
        let (place, copied) = ((k - 1) * self.share, Copied::of(nest, k));
        if copied.from.is_null() || self.made[k] != copied {
            let len = steps(nest.loops()).saturating_mul(nest.sizes()[k]);
            ensure(len <= self.share && place + len <= BUFFER, "room for the copy");
            let to = self.room[place..].as_mut_ptr().cast();
            // SAFETY: They are plain numbers, and there is room for them, as was just checked.
            unsafe { gather(nest, k, to) };
            self.made[k] = copied;
        }
        place
    }

    /// The room, for all copies at once: a pointer to one would not outlive the making of the next.
    #[inline]
    pub(crate) fn room(&mut self) -> *mut u8 {
        self.room.as_mut_ptr().cast()
    }
}

/// Copies the elements of operand `k` to adjacent places, in the order of the loops.
///
/// # Safety
/// The elements are plain numbers. There is room for all of them at `to`.
pub(crate) unsafe fn gather(nest: &Raw<'_, '_>, k: usize, to: *mut u8) {
    // the loops, of which neighbours that continue each other are one
    let mut sides = List::<(usize, isize), { super::nest::LOOPS }>::new();
    for l in nest.loops() {
        match sides.last_mut() {
            Some((len, stride)) if *stride == l.stride(k) * l.len().cast_signed() => {
                (*len, *stride) = (*len * l.len(), l.stride(k));
            }
            _ => sides.push((l.len(), l.stride(k))),
        }
    }
    let from = nest.pointer(k);
    // SAFETY: By the invariant of nests, there is an element at every index. The caller promises the room.
    unsafe {
        match nest.sizes()[k] {
            1 => gather_sides::<u8>(&sides, from, to.cast()),
            2 => gather_sides::<u16>(&sides, from, to.cast()),
            4 => gather_sides::<u32>(&sides, from, to.cast()),
            8 => gather_sides::<u64>(&sides, from, to.cast()),
            _ => gather_sides::<u128>(&sides, from, to.cast()),
        }
    };
}

/// [`gather`] for elements as large as `N`, along sides of a length and a stride in bytes. Returns how many there are.
///
/// # Safety
/// As for [`gather`].
unsafe fn gather_sides<N: Copy>(sides: &[(usize, isize)], from: *const u8, to: *mut N) -> usize {
    let size = size_of::<N>().cast_signed();
    // SAFETY: The caller promises the elements and the room, and every part is within them.
    unsafe {
        match *sides {
            [] => gather_row(from, 0, to, 1),
            [(len, stride)] => gather_row(from, stride, to, len),
            [(len, 0), ref inner @ ..] => {
                let width = gather_sides(inner, from, to);
                let mut done = 1;
                while done < len {
                    let more = done.min(len - done);
                    ptr::copy_nonoverlapping(to, to.add(done * width), more * width);
                    done += more;
                }
                len * width
            }
            [(rows, down), ref middle @ .., (len, along)] if down == size && along != 0 && len > 3 => {
                // the first side is adjacent: it is transposed with the last one, for each index of the others
                let width = middle.iter().fold(len, |width, side| width * side.0);
                for at in 0..width / len {
                    let (mut offset, mut rest) = (0, at);
                    for &(len, stride) in middle.iter().rev() {
                        offset += stride * (rest % len).cast_signed();
                        rest /= len;
                    }
                    let (from, to) = (from.wrapping_offset(offset), to.add(at * len));
                    transpose(from, along, to.cast(), width * size_of::<N>(), [rows, len], size_of::<N>());
                }
                rows * width
            }
            [(rows, down), (len, along)] if len < VECTOR && rows > len => {
                for column in 0..len {
                    let (from, to) = (from.wrapping_offset(along * column.cast_signed()), to.add(column));
                    for row in 0..rows {
                        let element =
                            from.wrapping_offset(down * row.cast_signed()).cast::<N>().read_unaligned();
                        to.add(row * len).write_unaligned(element);
                    }
                }
                rows * len
            }
            [(len, stride), ref inner @ ..] => {
                let mut width = 0;
                for i in 0..len {
                    width = gather_sides(
                        inner,
                        from.wrapping_offset(stride * i.cast_signed()),
                        to.add(i * width),
                    );
                }
                len * width
            }
        }
    }
}

/// [`gather`] of one row.
///
/// # Safety
/// As for [`gather`].
#[inline]
unsafe fn gather_row<N: Copy>(from: *const u8, stride: isize, to: *mut N, len: usize) -> usize {
    let size = size_of::<N>().cast_signed();
    // SAFETY: The caller promises the elements and the room.
    unsafe {
        if stride == size {
            ptr::copy_nonoverlapping(from.cast::<N>(), to, len);
        } else if stride == 0 {
            let element = from.cast::<N>().read_unaligned();
            for i in 0..len {
                to.add(i).write_unaligned(element);
            }
        } else if stride == 2 * size {
            // a stride that the compiler knows: it shuffles vectors
            for i in 0..len {
                to.add(i).write_unaligned(from.cast::<N>().add(2 * i).read_unaligned());
            }
        } else if stride == -size {
            for i in 0..len {
                to.add(i).write_unaligned(from.cast::<N>().wrapping_sub(i).read_unaligned());
            }
        } else {
            for i in 0..len {
                let element = from.wrapping_offset(stride * i.cast_signed()).cast::<N>().read_unaligned();
                to.add(i).write_unaligned(element);
            }
        }
    }
    len
}
