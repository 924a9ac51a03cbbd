//! Uninitialised memory: new arrays, buffers on the stack, and copies of plain numbers to them.
//!
//! ```text
//! across:   for each block, for each square of N rows and columns:     rows of the output are columns of the input
//!               the square, transposed in registers
//! buffered: the same to a buffer, then its rows to the output          large, and lines share sets of the cache
//! streamed: the same past the cache, with the next block read ahead    larger than the cache
//! repeated: a row, then as many rows as there are, doubling            the rows of the output are one row of the input
//! ```
//!
//! # Invariant
//! Bytes are read as elements only after elements were written there.

use super::loops::{Loop, OPERANDS, operands, steps};
use super::order::{AxisOrder, ordered};
use super::simd::{
    Baseline, Cpu, Work, end_of_reads, end_of_streams, plain_size, prefetch, stream, transposed, with_avx2,
};
use crate::kernel::ensure;
use alloc::vec::Vec;
use core::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use core::ops::{Deref, DerefMut};
use core::ptr::null;
use core::slice;
use ndarray::{Array, ArrayRef, Dimension};

/// The bytes of a result that is allocated without an error for want of memory, which takes less time: the error itself
/// would need as much.
const ASSUMED: usize = 4 << 10;

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
        let len = shape.size();
        if len <= const { ASSUMED / if size_of::<A>() > 0 { size_of::<A>() } else { 1 } } {
            return Ok(Self { shape, elements: Vec::with_capacity(len) });
        }
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
    pub(crate) fn cloned(mut self, elements: &[A]) -> Array<A, D>
    where
        A: Clone,
    {
        self.elements.extend_from_slice(elements);
        in_standard_layout(self.shape, self.elements)
    }

    /// An array in standard layout, of clones of `element`.
    #[inline(always)]
    pub(crate) fn filled(mut self, element: A) -> Array<A, D>
    where
        A: Clone,
    {
        self.elements.resize(self.shape.size(), element);
        in_standard_layout(self.shape, self.elements)
    }

    /// [`filled`](Self::filled), with this order of axes in memory.
    pub(super) fn filled_in_order(mut self, order: &dyn AxisOrder, element: A) -> Array<A, D>
    where
        A: Clone,
    {
        self.elements.resize(self.shape.size(), element);
        ordered(self.shape, Some(order), |shape| in_standard_layout(shape, self.elements))
    }

    /// An array with this order of axes in memory, or in standard layout. `fill` writes its elements.
    ///
    /// `fill` is a pass of this kernel over the whole array: [`each`](super::each), a [`reduction`](super::reduce) or a
    /// [`product`](super::product). A pass is trusted to write every element. If it panics, the elements it wrote are
    /// forgotten, not dropped.
    #[inline(always)]
    pub(super) fn written(
        self,
        order: Option<&dyn AxisOrder>,
        fill: impl FnOnce(&mut ArrayRef<MaybeUninit<A>, D>),
    ) -> Array<A, D> {
        let (len, mut elements) = (self.shape.size(), ManuallyDrop::new(self.elements));
        // SAFETY: The vector has room for `len` elements, with the layout of `MaybeUninit`, which needs no value. It is not
        // used again.
        let elements = unsafe { Vec::from_raw_parts(elements.as_mut_ptr().cast(), len, elements.capacity()) };
        let mut array = ordered(self.shape, order, |shape| in_standard_layout(shape, elements));
        fill(&mut array);
        // SAFETY: `fill` is a pass, and a pass writes every element.
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

/// An array of the results of `make` for each index. Without optimisation, this is one function, where
/// [`core::array::from_fn`] is six.
#[inline(always)]
pub(super) fn array<T, const N: usize>(mut make: impl FnMut(usize) -> T) -> [T; N] {
    if const { needs_drop::<T>() } {
        // which drops the elements if `make` panics
        return core::array::from_fn(make);
    }
    let mut array = [const { MaybeUninit::uninit() }; N];
    let mut i = 0;
    while i < N {
        array[i].write(make(i));
        i += 1;
    }
    // SAFETY: Every element was written just above.
    unsafe { (&raw const array).cast::<[T; N]>().read() }
}

/// A list of up to `N` items on the stack.
pub(super) struct List<T: Copy, const N: usize> {
    /// The first `len` items were written.
    items: [MaybeUninit<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { items: [const { MaybeUninit::uninit() }; N], len: 0 }
    }

    /// # Panics
    /// If there are `N` items.
    #[inline]
    pub(super) fn push(&mut self, item: T) {
        self.items[self.len].write(item);
        self.len += 1;
    }

    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl<T: Copy, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts(self.items.as_ptr().cast(), self.len) }
    }
}

impl<T: Copy, const N: usize> DerefMut for List<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: The first `len` items were written.
        unsafe { slice::from_raw_parts_mut(self.items.as_mut_ptr().cast(), self.len) }
    }
}

/// Bytes of a buffer on the stack for partial results and copies, small enough for any thread.
pub(crate) const SCRATCH: usize = 48 << 10;

#[repr(C, align(64))]
pub(crate) struct Scratch([MaybeUninit<u8>; SCRATCH]);

impl Scratch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        #[allow(
            clippy::large_stack_arrays,
            reason = "a large buffer on the stack is its purpose; it is not initialised"
        )]
        Self([MaybeUninit::uninit(); SCRATCH])
    }

    /// The number of elements that fit.
    pub(crate) const fn capacity<T>() -> usize {
        assert!(size_of::<T>() > 0 && align_of::<T>() <= 64, "a size and alignment that scratch can hold");
        SCRATCH / size_of::<T>()
    }

    /// A slice of `len` elements, each set to `value`. They are forgotten, not dropped.
    #[inline(always)]
    pub(crate) fn filled<T: Clone>(&mut self, len: usize, value: &T) -> &mut [T] {
        ensure(len <= Self::capacity::<T>(), "room for the elements");
        let first = self.0.as_mut_ptr().cast::<MaybeUninit<T>>();
        // SAFETY: `Scratch` is aligned for `T` and `len` elements fit, both checked above; uninitialised bytes
        // are valid `MaybeUninit<T>`; the borrow of `self` is exclusive.
        fill(unsafe { slice::from_raw_parts_mut(first, len) }, value)
    }
}

/// Sets all elements to `value`.
// Not inline: its loop is vectorised, and would be so in each strategy.
#[inline(never)]
fn fill<'a, T: Clone>(room: &'a mut [MaybeUninit<T>], value: &T) -> &'a mut [T] {
    for slot in &mut *room {
        slot.write(value.clone());
    }
    // SAFETY: Every element was written just above.
    unsafe { &mut *(core::ptr::from_mut(room) as *mut [T]) }
}

/// Whether partial results fit into a [`Scratch`] and need no drop.
pub(crate) const fn forgettable<T>() -> bool {
    !needs_drop::<T>() && size_of::<T>() > 0 && size_of::<T>() <= 64 && align_of::<T>() <= 64
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// Bytes of one operand's copy, which stays in L1 beside the copies of the others.
pub(crate) const COPY: usize = 2 << 10;
/// The most bytes of one copy.
pub(crate) const LARGEST_COPY: usize = 8 << 10;

/// Copies of the operands' elements in a block.
#[repr(C, align(64))]
pub(crate) struct Buffers {
    room: MaybeUninit<[[u8; LARGEST_COPY]; OPERANDS - 1]>,
    /// The first element that each copy was made from, or null.
    copied: [*const (); OPERANDS],
    /// How the elements of each operand are copied, if they are plain numbers.
    copiers: [Option<&'static Copier>; OPERANDS],
}

/// How plain numbers of one size are copied.
struct Copier {
    size: usize,
    /// [`copy_grid`]
    grid: unsafe fn(*const (), &[Side; 2], *mut ()),
}

/// One side of a grid of elements to copy: its length, and how far the elements are apart along it, where they are and
/// where they go.
#[derive(Clone, Copy)]
struct Side {
    len: usize,
    from: isize,
    to: isize,
}

// Statics, so that these functions are compiled in this crate and not in those that use it; one for each size, so that
// programs contain those for their numbers only.
static COPIER_1: Copier = Copier { size: 1, grid: copy_grid::<u8, 16> };
static COPIER_2: Copier = Copier { size: 2, grid: copy_grid::<u16, 8> };
static COPIER_4: Copier = Copier { size: 4, grid: copy_grid::<u32, 4> };
static COPIER_8: Copier = Copier { size: 8, grid: copy_grid::<u64, 4> };
static COPIER_16: Copier = Copier { size: 16, grid: copy_grid::<u128, 4> };

impl Copier {
    // Inline: the size is known.
    #[inline(always)]
    fn of(size: usize) -> &'static Self {
        match size {
            1 => &COPIER_1,
            2 => &COPIER_2,
            4 => &COPIER_4,
            8 => &COPIER_8,
            16 => &COPIER_16,
            _ => unreachable!("the size of a plain number"),
        }
    }

    /// Copies the elements along the loops to adjacent places.
    ///
    /// # Safety
    /// `from`, moved along the loops by the strides of operand `k`, points to valid elements, and there is room at `to` for
    /// one element for each index.
    unsafe fn copy_block(&self, from: *const (), k: usize, loops: &[Loop], to: *mut ()) {
        let [rows, row] = match loops {
            [] => [&Loop::ONE; 2],
            [row] => [&Loop::ONE, row],
            [rows, row] if rows.strides[k] != 0 => [rows, row],
            [outer, inner @ ..] => {
                let (stride, width) = (outer.strides[k] * self.size.cast_signed(), steps(inner) * self.size);
                let parts = if stride == 0 { 1 } else { outer.len };
                // SAFETY: The caller's promise holds for each part of the loops and of the room. A repeated part is copied
                // from the parts before it.
                unsafe {
                    for i in 0..parts {
                        let from = from.byte_offset(i.cast_signed() * stride);
                        self.copy_block(from, k, inner, to.byte_add(i * width));
                    }
                    repeat(to.cast(), parts * width, outer.len * width);
                }
                return;
            }
        };
        let rows = Side { len: rows.len, from: rows.strides[k], to: row.len.cast_signed() };
        let columns = Side { len: row.len, from: row.strides[k], to: 1 };
        // SAFETY: The caller promises the elements and the room.
        unsafe { (self.grid)(from, &[rows, columns], to) };
    }

    /// Copies a grid block by block: a part of a copy of `len` numbers. Along a row, the output's elements are adjacent.
    ///
    /// # Safety
    /// As [`copy_grid`].
    #[inline(never)]
    unsafe fn copy_blocks(&self, from: *const (), [rows, columns]: &[Side; 2], to: *mut (), len: usize) {
        let route = Route::of([rows, columns], self.size, len);
        let [height, width] = route.block([rows, columns], self.size);
        let size = self.size.cast_signed();
        for left in (0..columns.len).step_by(width) {
            for top in (0..rows.len).step_by(height) {
                let block = [
                    Side { len: height.min(rows.len - top), ..*rows },
                    Side { len: width.min(columns.len - left), ..*columns },
                ];
                let [i, j] = [top.cast_signed(), left.cast_signed()];
                // SAFETY: The caller promises the elements and the room. The block is in them.
                unsafe {
                    let from = from.byte_offset((i + j * columns.from) * size);
                    let to = to.byte_offset((i * rows.to + j) * size);
                    match route {
                        Route::Direct => (self.grid)(from, &block, to),
                        Route::Buffered | Route::Streamed => self.copy_buffered(from, &block, to, route),
                    }
                }
            }
        }
        if route == Route::Streamed {
            end_of_streams();
        }
    }

    /// Copies a block to a buffer, and rows from there.
    ///
    /// # Safety
    /// As [`copy_grid`]. The block is at most as large as [`Route::block`] says.
    #[inline(never)]
    unsafe fn copy_buffered(&self, from: *const (), [rows, columns]: &[Side; 2], to: *mut (), route: Route) {
        let (size, mut room) = (self.size, Scratch::new());
        // a line more than a row, so that the buffer's lines do not share sets
        let stride = columns.len + LINE / size;
        ensure(rows.len * stride * size <= SCRATCH, "room for the block");
        let at = |i: usize, stride: isize| i.cast_signed() * stride * size.cast_signed();
        let copies = Side { to: stride.cast_signed(), ..*rows };
        let width = columns.len * size;
        // SAFETY: The caller promises the elements and the room. There is room for them in the buffer, as asserted above, and
        // they are read after they were written there.
        unsafe {
            (self.grid)(from, &[copies, *columns], room.0.as_mut_ptr().cast());
            for i in 0..rows.len {
                let row = room.0.as_ptr().byte_offset(at(i, copies.to)).cast::<u8>();
                let to = to.byte_offset(at(i, rows.to)).cast::<u8>();
                if route == Route::Buffered {
                    to.copy_from_nonoverlapping(row, width);
                    continue;
                }
                // meanwhile, read some columns of the next block
                for j in (i..columns.len).step_by(rows.len) {
                    let next =
                        from.cast::<u8>().byte_offset(at(j, columns.from)).wrapping_add(rows.len * size);
                    for line in (0..rows.len * size).step_by(LINE) {
                        prefetch(next.wrapping_add(line));
                    }
                }
                stream(row, to, width);
            }
        }
    }
}

impl Buffers {
    /// Empty buffers for the blocks of one nest. `plain_size` is that of its [`Elements`](super::nest::Elements).
    #[inline(always)]
    pub(crate) fn new(plain_size: fn(usize) -> Option<usize>) -> Self {
        let mut copiers = [None; OPERANDS];
        for (k, copier) in copiers.iter_mut().enumerate() {
            *copier = plain_size(k).map(Copier::of);
        }
        Self { room: MaybeUninit::uninit(), copied: [null(); OPERANDS], copiers }
    }

    /// Copies the elements of the operands in `set` along the loops, but for the first of the `outer` ones where an operand
    /// stays. A copy is kept if the last one was made from the same place.
    ///
    /// # Panics
    /// If an operand has elements that are not plain numbers or do not fit.
    ///
    /// # Safety
    /// The pointer of each operand, moved along the loops by its strides, points to elements that are borrowed while the
    /// buffers are in use. They have the types that the buffers were made for. All arguments but the pointers are the same
    /// in every call.
    // Not inline: it need not be compiled for each closure.
    #[inline(never)]
    pub(crate) unsafe fn copy(&mut self, set: u8, at: &[*const (); OPERANDS], loops: &[Loop], outer: usize) {
        let room = self.room.as_mut_ptr().cast::<[u8; LARGEST_COPY]>();
        for k in operands(set) {
            if self.copied[k] != at[k] {
                let along = &loops[usize::from(outer > 0 && loops[0].strides[k] == 0)..];
                let copier = self.copiers[k].filter(|it| steps(along) <= LARGEST_COPY / it.size);
                let copier = copier.expect("plain numbers, of a block that fits");
                // SAFETY: The caller promises the elements. The buffer has
                // room for them, checked above, and is aligned for them.
                unsafe { copier.copy_block(at[k], k, along, room.wrapping_add(k - 1).cast()) };
                self.copied[k] = at[k];
            }
        }
    }

    /// The copies of operand `k` at place `k - 1`.
    #[inline(always)]
    pub(crate) fn copies(&self) -> *const [u8; LARGEST_COPY] {
        self.room.as_ptr().cast()
    }
}

/// The most bytes that are repeated at once, if more than one period: they stay in L1.
const REPEATED: usize = 8 << 10;

/// Repeats the first `period` of `len` bytes in those after them.
///
/// # Safety
/// The first bytes are valid, and there is room for all.
unsafe fn repeat(bytes: *mut u8, period: usize, len: usize) {
    let most = period * (REPEATED / period.max(1)).max(1);
    let mut done = period;
    while done < len {
        let more = done.min(most).min(len - done);
        // SAFETY: The caller promises the bytes and the room. As many as `more` are valid, because `done` are.
        unsafe { bytes.add(done).copy_from_nonoverlapping(bytes, more) };
        done += more;
    }
}

/// Copies a row to each of `count` adjacent rows.
///
/// # Safety
/// `row` points to `len` elements, and there is room for the rows. The bits of the elements may be copied.
#[inline]
pub(super) unsafe fn repeat_row<A>(row: *const A, len: usize, count: usize, to: *mut A) {
    // SAFETY: The caller promises the elements and the room.
    unsafe {
        to.copy_from_nonoverlapping(row, len);
        repeat(to.cast(), len * size_of::<A>(), count * len * size_of::<A>());
    }
}

/// The rows and columns of the smallest tile.
pub(super) const TILE: usize = 4;

/// Copies the elements of a grid, the elements of a row to adjacent places. `N` is the side of the squares that
/// [`transposed`] has vectors for on every CPU; for numbers of 16 bytes, one number is a vector.
///
/// # Safety
/// There are valid elements in `from`, and there is room for them in `to`.
unsafe fn copy_grid<B: Copy, const N: usize>(from: *const (), sides: &[Side; 2], to: *mut ()) {
    let [rows, columns] = sides;
    let (from, to) = (from.cast::<B>(), to.cast::<B>());
    // SAFETY: The caller promises the elements and the room.
    unsafe {
        if rows.from == 1 && !matches!(columns.from, 0 | 1) {
            let shorter = rows.len.min(columns.len);
            let is_wide = const { size_of::<B>() == 4 } && shorter >= WideTiles::<B>::SIDE;
            if is_wide && with_avx2(WideTiles { from, sides, to }).is_ok() {
                return;
            }
            if shorter >= N {
                return copy_tiles::<Baseline, B, N>(from, sides, to);
            }
        } else if const { matches!(size_of::<B>(), 4 | 8) } && rows.to == columns.len.cast_signed() {
            match columns.len {
                2 => return copy_rows::<B, 2>(from, *rows, columns.from, to),
                3 => return copy_rows::<B, 3>(from, *rows, columns.from, to),
                4 => return copy_rows::<B, 4>(from, *rows, columns.from, to),
                _ => {}
            }
        }
        copy_lines(from, sides, to);
    }
}

/// [`copy_grid`] line by line: row by row, or column by column if these are few.
///
/// # Safety
/// As [`copy_grid`].
#[inline(never)]
unsafe fn copy_lines<B: Copy>(from: *const B, [rows, columns]: &[Side; 2], to: *mut B) {
    let are_columns = columns.len < 8 && columns.len < rows.len;
    let [lines, line] = if are_columns { [columns, rows] } else { [rows, columns] };
    for i in 0..lines.len.cast_signed() {
        // SAFETY: The caller promises the elements and the room; uninitialised bytes are valid `MaybeUninit<B>`.
        unsafe {
            let (from, to) = (from.offset(i * lines.from), to.offset(i * lines.to));
            match (line.from, line.to) {
                (0, 1) => slice::from_raw_parts_mut(to.cast(), line.len).fill(MaybeUninit::new(*from)),
                (1, 1) => to.copy_from_nonoverlapping(from, line.len),
                (step, 1) => {
                    for j in 0..line.len {
                        to.add(j).write(*from.offset(j.cast_signed() * step));
                        // unrolled, it takes up to 1.1 times as long
                        end_of_reads();
                    }
                }
                (step, stride) => {
                    for j in 0..line.len {
                        to.offset(j.cast_signed() * stride).write(*from.offset(j.cast_signed() * step));
                    }
                }
            }
        }
    }
}

/// [`copy_grid`] for `N` columns without gaps between the rows.
///
/// # Safety
/// As [`copy_grid`].
// Not inline, so that `copy_grid` saves no registers.
#[inline(never)]
unsafe fn copy_rows<B: Copy, const N: usize>(from: *const B, rows: Side, step: isize, to: *mut B) {
    for i in 0..rows.len {
        // SAFETY: The caller promises the elements and the room.
        unsafe {
            let from = from.offset(i.cast_signed() * rows.from);
            let row = if step == 0 { [*from; N] } else { array(|j| *from.offset(j.cast_signed() * step)) };
            to.cast::<[B; N]>().add(i).write(row);
        }
        // not to be unrolled, for each kind of row
        end_of_reads();
    }
}

/// [`copy_grid`] by tiles of `N` rows and columns. Elements are adjacent across the rows.
///
/// Tiles follow each other along the lines of one side, in strips so narrow that the cache keeps the lines of the other
/// side until they are full. The cache holds few lines whose distance is a multiple of a large power of two: tiles go along
/// the lines of the side that it holds fewer of. They go down the columns where a row has few tiles.
///
/// # Safety
/// As [`copy_grid`]. There are at least `N` rows and columns.
#[inline(always)]
unsafe fn copy_tiles<C: Cpu, B: Copy, const N: usize>(
    from: *const B,
    [rows, columns]: &[Side; 2],
    to: *mut B,
) {
    let [read, written] = [lines_at_once::<B>(columns.from), lines_at_once::<B>(rows.to)];
    let is_down = read < written || columns.len <= LINES;
    let (outer, inner, at_once) = if is_down { (columns, rows, written) } else { (rows, columns, read) };
    let mut first = 0;
    while first < outer.len {
        let last = outer.len.min(first + LINES);
        let mut begin = 0;
        while begin < inner.len {
            let end = inner.len.min(begin + at_once);
            for i in (first..last).step_by(N) {
                // the last tiles overlap others, and copy the same
                let i = i.min(outer.len - N).cast_signed();
                let mut tile = Tile { from, to }.moved(outer, i).moved(inner, begin.cast_signed());
                for j in (begin..end).step_by(N) {
                    let beyond = (j + N).saturating_sub(inner.len);
                    if beyond > 0 {
                        tile = tile.moved(inner, -beyond.cast_signed());
                    }
                    // SAFETY: The caller promises the elements and the room. The tile is in them.
                    unsafe { tile.copy::<C, N>(columns.from, rows.to) };
                    tile = tile.moved(inner, N.cast_signed());
                }
            }
            begin = end;
        }
        first = last;
    }
}

/// A square of numbers to copy.
#[derive(Clone, Copy)]
struct Tile<B> {
    from: *const B,
    to: *mut B,
}

impl<B: Copy> Tile<B> {
    /// The tile `by` numbers further along a side.
    #[inline(always)]
    fn moved(self, side: &Side, by: isize) -> Self {
        Self { from: self.from.wrapping_offset(by * side.from), to: self.to.wrapping_offset(by * side.to) }
    }

    /// # Safety
    /// There are `N` columns of `N` adjacent elements in `from`, and there is room for as many rows in `to`.
    #[inline(always)]
    unsafe fn copy<C: Cpu, const N: usize>(self, columns: isize, rows: isize) {
        // From every fourth one: the compiler then keeps two pointers. Eight would not fit into the registers.
        let fourth = |k: usize, stride: isize| (k / 4 * 4).cast_signed() * stride;
        let rest = |k: usize, stride: isize| (k % 4).cast_signed() * stride;
        // SAFETY: The caller promises the elements and the room.
        unsafe {
            let tile = transposed::<C, B, N>(array::<_, N>(|k| {
                let column = self.from.offset(fourth(k, columns)).offset(rest(k, columns));
                column.cast::<[B; N]>().read_unaligned()
            }));
            let mut k = 0;
            while k < N {
                let row = self.to.offset(fourth(k, rows)).offset(rest(k, rows));
                row.cast::<[B; N]>().write_unaligned(tile[k]);
                k += 1;
            }
        }
    }
}

/// The rows or columns of a strip of tiles. Their elements fill the lines of the other side.
const LINES: usize = 16;
/// Lines at multiples of this distance, in bytes, all share one set of the cache.
const L1_SETS: usize = 4 << 10;

/// Half of the lines that the cache holds at this distance, but at least [`LINES`].
fn lines_at_once<B>(distance: isize) -> usize {
    let bytes = distance.unsigned_abs().wrapping_mul(size_of::<B>());
    (BLOCK >> (bytes | L1_SETS).trailing_zeros()).max(LINES)
}

/// [`copy_tiles`] by vectors of 32 bytes, for numbers of 4 bytes and at least [`SIDE`](Self::SIDE) rows and columns.
struct WideTiles<'s, B> {
    from: *const B,
    sides: &'s [Side; 2],
    to: *mut B,
}

impl<B> WideTiles<'_, B> {
    const SIDE: usize = 8;
}

impl<B: Copy> Work for WideTiles<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        // SAFETY: `copy_grid` promises the elements and the room, and has compared the sides.
        unsafe { copy_tiles::<C, B, 8>(self.from, self.sides, self.to) };
    }
}

/// How the numbers of a block reach their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Direct,
    /// Through a buffer, because lines share sets of the cache where they come from or go. From the buffer, whole rows are
    /// copied.
    Buffered,
    /// The same, but the rows are written past the cache, which they would fill.
    Streamed,
}

/// The fewest bytes of a copy that goes through a buffer: more than the cache of a core holds.
const BUFFERED: usize = 2 << 20;
/// The fewest bytes of a copy that is written past the cache: about half of it.
const STREAMED: usize = 16 << 20;
/// The most bytes of a row in the buffer.
const BUFFERED_ROW: usize = 1 << 10;
/// The most rows and columns that are read together. Distant rows lie in a page each, and the TLB holds few pages.
pub(super) const PAGES: usize = 128;
/// The most bytes of a block if one side is short: half of an L1 cache, so that lines of both operands stay there.
const BLOCK: usize = 16 << 10;

impl Route {
    /// The route for a part of a copy of `len` numbers of `size` bytes.
    fn of([rows, columns]: [&Side; 2], size: usize, len: usize) -> Self {
        let bytes = len.saturating_mul(size);
        let is_large = rows.len * size >= LINE && columns.len * size >= BUFFERED_ROW / 4;
        let shares_sets =
            |distance: isize| distance.unsigned_abs().wrapping_mul(size).is_multiple_of(L1_SETS);
        match is_large {
            true if bytes >= STREAMED => Self::Streamed,
            true if bytes >= BUFFERED && (shares_sets(columns.from) || shares_sets(rows.to)) => {
                Self::Buffered
            }
            _ => Self::Direct,
        }
    }

    /// The most rows and columns of a block.
    fn block(self, [rows, columns]: [&Side; 2], size: usize) -> [usize; 2] {
        if self == Self::Direct {
            // a short side makes the other one longer
            let most = |other: &Side| (BLOCK / size / other.len).max(PAGES);
            return [most(columns), most(rows)];
        }
        let width = (BUFFERED_ROW / size).min(256);
        // not a power of two, at which parts of rows fall on the same banks of memory
        [SCRATCH / (width * size + LINE) / 8 * 8, width]
    }
}

/// Copies plain numbers along two loops, for the first input and the output. The input's elements are adjacent along the
/// first loop, and the output's along the second one. This is a part of a copy of `len` numbers.
///
/// # Safety
/// There are valid elements in `from`, and there is room for them in `to`.
#[inline(always)]
pub(super) unsafe fn copy_across<A>(from: *const A, [rows, row]: [&Loop; 2], to: *mut A, len: usize) {
    let Some(copier) = plain_size::<A>().map(Copier::of) else { unreachable!("plain numbers") };
    let rows = Side { len: rows.len, from: 1, to: rows.strides[0] };
    let columns = Side { len: row.len, from: row.strides[1], to: 1 };
    let sides = [rows, columns];
    // SAFETY: The caller promises the elements and the room. Numbers of a size have the same layout.
    unsafe {
        if rows.len.max(columns.len) <= PAGES {
            (copier.grid)(from.cast(), &sides, to.cast());
        } else {
            copier.copy_blocks(from.cast(), &sides, to.cast(), len);
        }
    }
}

/// Memory that can be written, but not read. It may have an element already, which is then forgotten: one compiled pass
/// serves new arrays and others.
#[repr(transparent)]
pub(crate) struct WriteOnly<T>(MaybeUninit<T>);

impl<T> WriteOnly<T> {
    #[inline(always)]
    pub(crate) fn write(&mut self, element: T) {
        self.0.write(element);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::kernel::loop_plan::{LoopPlan, Outside};
    use crate::kernel::nest::{Elements, Inputs, Nest, Output, Visit};
    use alloc::{rc::Rc, vec};
    use core::cell::Cell;
    use core::fmt::Debug;
    use ndarray::{Array2, Array3, ArrayViewD, Axis, Dim, array, s};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn lines_that_stay_in_the_cache() {
        assert_eq!([1000, -1000, 999, 1001].map(lines_at_once::<f32>), [512, 512, 4096, 4096]);
        // the same set for all, or for every second to eighth
        assert_eq!([0, 1024, 3072, 512, 256, 128].map(lines_at_once::<f32>), [16, 16, 16, 16, 16, 32]);
        assert_eq!([512, -256, 128].map(lines_at_once::<u8>), [32, 64, 128]);
    }

    #[test]
    fn large_copies_take_another_route() {
        let side = |len, from, to| Side { len, from, to };
        let route = |n: usize, row, len| {
            Route::of([&side(n, 1, row), &side(row.cast_unsigned(), n.cast_signed(), 1)], 4, len)
        };
        assert_eq!(route(512, 512, 512 * 512), Route::Direct);
        assert_eq!([route(1000, 1024, 1 << 20), route(1024, 1000, 1 << 20)], [Route::Buffered; 2]);
        assert_eq!(route(1000, 1000, 1 << 20), Route::Direct);
        assert_eq!([route(1000, 1000, 4 << 20), route(16, 64, usize::MAX)], [Route::Streamed; 2]);
        // one side is short
        assert_eq!([route(15, 64, 4 << 20), route(16, 63, 4 << 20)], [Route::Direct; 2]);
        for size in [1, 2, 4, 8, 16] {
            let [rows, width] = Route::Streamed.block([&side(9999, 1, 1); 2], size);
            let used = rows * (width * size + LINE);
            assert!(used <= SCRATCH && used > SCRATCH / 4 * 3, "{rows} rows of {width}");
        }
        // a short side makes a block longer
        let block =
            |rows, columns, size| Route::Direct.block([&side(rows, 1, 1), &side(columns, 1, 1)], size);
        assert_eq!([block(90, 128, 4), block(128, 5000, 8)], [[128; 2]; 2]);
        assert_eq!([block(5000, 3, 4), block(3, 5000, 8)], [[1365, 128], [128, 682]]);
        assert_eq!([block(5000, 3, 16), block(5000, 31, 4)], [[341, 128], [132, 128]]);
    }

    #[test]
    fn arrays_of_results() {
        assert_eq!(array::<_, 3>(|i| i * i), [0, 1, 4]);
        assert_eq!(array::<_, 0>(|i| i), []);
        let (alive, made) = (Rc::new(()), Cell::new(0));
        let all: [_; 4] = array(|_| alive.clone());
        assert_eq!((all.len(), Rc::strong_count(&alive)), (4, 5));
        drop(all);
        let third = catch_unwind(AssertUnwindSafe(|| {
            array::<_, 4>(|i| {
                made.set(i + 1);
                assert!(i < 2, "the third");
                alive.clone()
            })
        }));
        assert!(third.is_err());
        assert_eq!((made.get(), Rc::strong_count(&alive)), (3, 1), "those before it are dropped");
    }

    /// Smaller axes go inside.
    struct SmallInside;

    impl AxisOrder for SmallInside {
        fn is_inside(&self, sizes: &[usize], former: usize, latter: usize) -> Option<bool> {
            Some(sizes[former] < sizes[latter])
        }
    }

    #[test]
    fn new_arrays() {
        let reserved = || Reserved::<u8, _>::new(Dim([2, 3])).expect("memory");
        assert_eq!((reserved().shape(), reserved().len()), (&[2, 3][..], 6));
        assert_eq!(reserved().filled(7), Array2::from_elem((2, 3), 7));
        assert_eq!(reserved().cloned(&[1, 2, 3, 4, 5, 6]), array![[1, 2, 3], [4, 5, 6]]);
        let columns = reserved().filled_in_order(&SmallInside, 7);
        assert_eq!((columns.sum(), columns.strides()), (42, &[1, 2][..]));
        let rows = reserved().written(None, |out| {
            for (i, slot) in (0..).zip(out) {
                slot.write(i);
            }
        });
        assert_eq!(rows, array![[0, 1, 2], [3, 4, 5]]);
        assert_eq!(Reserved::new(Dim([0, 3])).expect("no memory is needed").filled(1).dim(), (0, 3));
        assert!(catch_unwind(AssertUnwindSafe(|| reserved().cloned(&[1, 2, 3]))).is_err());
    }

    #[cfg(all(target_pointer_width = "64", not(miri)))]
    #[test]
    fn memory_that_cannot_be_had() {
        if option_env!("RUSTFLAGS").is_some_and(|flags| flags.contains("sanitizer")) {
            return;
        }
        let shape = Dim([1 << 30, 1 << 29]);
        assert_eq!(Reserved::<f64, _>::new(shape).err(), Some(shape));
        assert!(Reserved::<(), _>::new(Dim([usize::MAX / 2])).is_ok(), "nothing needs no memory");
    }

    struct Assign;

    impl<T: Copy> Visit<T, (T,)> for Assign {
        fn visit(&mut self, out: &mut T, (item,): (&T,)) {
            *out = *item;
        }
    }

    /// Copies a view, stretched to these sizes, as one block, and reads the copy.
    fn is_copied<T: Copy + PartialEq + Debug + From<bool>>(view: &ArrayViewD<'_, T>, sizes: [usize; 3]) {
        let mut out = Array3::from_elem(sizes, T::from(false));
        let mut plan = LoopPlan::new();
        let nest =
            Nest::over(&mut plan, None, Output::of(&mut out), &Inputs::from((&**view,)), Outside::Written);
        let nest = nest.expect("an index");
        let inner = nest.loops().len();
        nest.gathered(1, [0, inner], &mut Assign, |visit, block| block.visit_rows::<(), _>(0, 1, visit));
        assert_eq!(out, view.broadcast(sizes).expect("it goes there"), "strides {:?}", view.strides());
    }

    fn all_are_copied<T: Copy + PartialEq + Debug + From<bool> + TryFrom<usize>>() {
        assert_eq!(plain_size::<T>(), Some(size_of::<T>()));
        let number = |i: usize| T::try_from(i % 127).unwrap_or(T::from(true));
        for len in [1, 2, 3, 4, 5, 7, 8, 9, 16] {
            let base = Array3::from_shape_fn((2, 4, 3 * len), |(i, j, k)| number((i * 4 + j) * 3 * len + k));
            let views = [
                base.slice(s![.., .., ..len]),
                base.slice(s![.., .., ..len;-1]),
                base.slice(s![.., .., ..;3]),
                base.slice(s![.., ..;-1, ..;-3]),
                base.slice(s![.., ..1, ..len]),
                base.slice(s![.., ..1, ..;3]),
                base.slice(s![.., .., ..1]),
                base.slice(s![..1, .., ..len;-1]),
                base.slice(s![..1, ..1, ..len]),
                base.slice(s![..1, ..1, ..1]),
            ];
            for view in views {
                let rows = if view.len_of(Axis(1)) == 1 { (64 / len).min(9) } else { 4 };
                is_copied(&view.into_dyn(), [2, rows, len]);
            }
            let transposed = base.slice(s![.., .., ..len]).permuted_axes([0, 2, 1]);
            is_copied(&transposed.view().into_dyn(), [2, len, 4]);
            is_copied(&transposed.slice(s![0, .., ..;-1]).into_dyn(), [2, len, 4]);
        }
    }

    #[test]
    fn copies_of_every_size() {
        all_are_copied::<u8>();
        all_are_copied::<u16>();
        all_are_copied::<u32>();
        all_are_copied::<u64>();
        all_are_copied::<u128>();
    }

    #[test]
    fn a_copy_is_kept_until_others_are_wanted() {
        let a = [1_u32, 2, 3];
        let mut row = Loop { len: 2, ..Loop::ONE };
        row.strides[1] = 1;
        let mut buffers = Buffers::new(<(u32,)>::plain_size);
        let mut copy = |from: usize| {
            let mut at = [null(); OPERANDS];
            at[1] = a[from..from + 2].as_ptr().cast();
            // SAFETY: The array has two elements from `from` on, which are copied.
            let copied = unsafe {
                buffers.copy(1, &at, &[row], 0);
                buffers.copies().cast::<()>().cast::<[u32; 2]>().read()
            };
            // so that a new copy differs from one that was kept
            buffers.room = MaybeUninit::zeroed();
            copied
        };
        assert_eq!([copy(0), copy(0), copy(1), copy(0)], [[1, 2], [0, 0], [2, 3], [1, 2]]);
    }

    #[test]
    fn each_operand_has_its_own_copy() {
        struct Both;
        impl Visit<[u32; 2], (u32, u8)> for Both {
            fn visit(&mut self, out: &mut [u32; 2], (&a, &b): (&u32, &u8)) {
                *out = [a, b.into()];
            }
        }
        let a = Array2::from_shape_fn((20, 5), |(i, j)| u32::try_from(100 * i + j).expect("small"));
        let b = Array2::from_shape_fn((5, 1), |(i, _)| u8::try_from(i).expect("small"));
        let mut out = Array2::from_elem((5, 20), [0; 2]);
        let (mut plan, at) = (LoopPlan::new(), a.t());
        let inputs = Inputs::from((&*at, &*b));
        let nest =
            Nest::over(&mut plan, None, Output::of(&mut out), &inputs, Outside::Written).expect("an index");
        nest.gathered(0b11, [0, 2], &mut Both, |visit, block| block.visit_rows::<(), _>(0, 0b11, visit));
        assert!(out.indexed_iter().all(|((i, j), &seen)| seen == [a[[j, i]], b[[i, 0]].into()]));
    }

    fn copied_row<T: Copy>(value: T, len: usize) {
        let (a, mut out) = (Array2::from_elem((1, 1), value), Array2::from_elem((1, len), value));
        let mut plan = LoopPlan::new();
        let nest = Nest::over(&mut plan, None, Output::of(&mut out), &Inputs::from((&*a,)), Outside::Written);
        nest.expect("an index").gathered(1, [0, 1], &mut (), |(), _| {});
    }

    /// Copies a grid, a part of a copy of `len` numbers, with gaps after each row.
    fn copied_across<B: Copy + From<u8> + PartialEq>(
        [rows, width]: [usize; 2],
        [step, stride]: [usize; 2],
        len: usize,
    ) {
        let numbers: Vec<B> =
            (0..width * step).map(|i| B::from((i % 251).try_into().expect("small"))).collect();
        let mut out = alloc::vec![B::from(255); rows * stride];
        let loops = [Loop::new(rows, [stride.cast_signed(), 1]), Loop::new(width, [1, step.cast_signed()])];
        // SAFETY: There are `width` rows of at least `rows` numbers, and `rows` rows of at least `width` places.
        unsafe { copy_across(numbers.as_ptr(), loops.each_ref(), out.as_mut_ptr(), len) };
        for (row, places) in out.chunks(stride).enumerate() {
            let (copies, gap) = places.split_at(width);
            let are_copies = copies.iter().enumerate().all(|(i, copy)| *copy == numbers[row + i * step]);
            assert!(
                are_copies && gap.iter().all(|it| *it == B::from(255)),
                "row {row} of {rows} times {width}, strides {step} and {stride}"
            );
        }
    }

    /// [`copied_across`] for each size of number.
    fn all_copied_across(sides: [usize; 2], strides: [usize; 2], len: usize) {
        copied_across::<u8>(sides, strides, len);
        copied_across::<u16>(sides, strides, len);
        copied_across::<u32>(sides, strides, len);
        copied_across::<u64>(sides, strides, len);
        copied_across::<u128>(sides, strides, len);
    }

    #[test]
    fn copies_of_columns() {
        for strides in [[70, 90], [1024, 90], [71, 1024], [1024, 2048]] {
            for rows in [1, 3, 4, 7, 16, 21, 32, 70] {
                for width in [1, 2, 5, 8, 15, 17, 90] {
                    all_copied_across([rows, width], strides, 0);
                }
            }
        }
    }

    #[test]
    fn large_copies_of_columns() {
        for (sides, strides) in [([70, 300], [70, 300]), ([161, 257], [4096, 301]), ([133, 520], [135, 1024])]
        {
            for len in [0, BUFFERED, STREAMED] {
                all_copied_across(sides, strides, len);
            }
        }
        // places at each distance from a vector
        for stride in 261..=276 {
            copied_across::<u8>([64, 260], [64, stride], STREAMED);
        }
    }

    #[test]
    fn repeated_rows_end_with_the_last() {
        let row = [1_u16, 2, 3];
        let [mut rows, mut columns] = [Loop::ONE, Loop { len: row.len(), ..Loop::ONE }];
        columns.strides[1] = 1;
        for count in 1..20 {
            rows.len = count;
            let mut out = alloc::vec![9; 2 * count * row.len()];
            // SAFETY: the elements of the row, and room for twice as many copies
            unsafe {
                Copier::of(2).copy_block(row.as_ptr().cast(), 1, &[rows, columns], out.as_mut_ptr().cast());
            };
            let (copies, after) = out.split_at(count * row.len());
            assert!(copies.chunks(row.len()).all(|copy| copy == row) && after.iter().all(|&it| it == 9));
        }
    }

    #[test]
    fn a_row_is_repeated_up_to_the_last() {
        for len in [0, 1, 3, 100, REPEATED / 2, REPEATED / 2 + 1, REPEATED + 1] {
            let row: Vec<_> = (0..len).map(|i| u16::try_from(i).expect("small")).collect();
            for count in [1, 2, 3, 7, 40] {
                let mut out = alloc::vec![u16::MAX; len * count + 1];
                // SAFETY: the elements of the row, and room for more than as many copies
                unsafe { repeat_row(row.as_ptr(), len, count, out.as_mut_ptr()) };
                assert_eq!(out.pop(), Some(u16::MAX));
                assert!(len == 0 || out.chunks(len).all(|copy| copy == row), "{count} rows of {len}");
            }
        }
    }

    #[test]
    fn the_largest_copy() {
        copied_row(0_u8, LARGEST_COPY);
        copied_row(0_f32, LARGEST_COPY / 4);
        copied_row(0_u128, LARGEST_COPY / 16);
    }

    #[test]
    #[should_panic(expected = "plain numbers, of a block that fits")]
    fn too_large_a_copy() {
        copied_row(0_f32, LARGEST_COPY / 4 + 1);
    }

    #[test]
    #[should_panic(expected = "plain numbers, of a block that fits")]
    fn copies_of_elements_that_are_not_numbers() {
        copied_row(Some(0_u32), 4);
    }

    #[test]
    fn scratch_is_used_again() {
        let mut scratch = Scratch::new();
        let capacity = Scratch::capacity::<[u64; 3]>();
        assert_eq!(capacity, SCRATCH / 24);
        scratch.filled(capacity, &[1_u64; 3])[capacity - 1] = [2; 3];
        let bytes = scratch.filled(SCRATCH, &7_u8);
        assert!(bytes.len() == SCRATCH && bytes.iter().all(|&byte| byte == 7));
        assert!(scratch.filled(0, &1_u8).is_empty());
    }

    #[test]
    #[should_panic(expected = "room for the elements")]
    fn too_many_elements_for_scratch() {
        Scratch::new().filled(SCRATCH / 4 + 1, &0_f32);
    }

    #[test]
    #[should_panic(expected = "a size and alignment that scratch can hold")]
    fn scratch_of_nothing() {
        Scratch::new().filled(1, &());
    }
}
