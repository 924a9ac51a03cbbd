//! Strided runs of elements behind raw pointers.
//!
//! Moving a pointer is safe (it wraps); making a [`Lane`] or a slot of it is not, and states what must hold.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use ndarray::{ArrayRef, Dimension};

/// Somewhere in an array that is being read.
pub(crate) struct Source<'a, T> {
    at: *const T,
    array: PhantomData<&'a T>,
}

impl<T> Clone for Source<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Source<'_, T> {}

impl<'a, T> Source<'a, T> {
    #[inline(always)]
    pub(crate) fn new<D: Dimension>(array: &'a ArrayRef<T, D>) -> Self {
        Self { at: array.as_ptr(), array: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn moved(self, by: isize) -> Self {
        Self { at: self.at.wrapping_offset(by), ..self }
    }

    #[inline(always)]
    pub(crate) fn address(self) -> *const T {
        self.at
    }

    /// # Safety
    /// The element here belongs to the array.
    #[inline(always)]
    pub(crate) unsafe fn get(self) -> &'a T {
        // SAFETY: the caller promises an element of the array, which is borrowed for `'a`.
        unsafe { &*self.at }
    }

    /// # Safety
    /// The element here and the one `by` elements further belong to the array.
    #[inline(always)]
    pub(crate) unsafe fn get_at(self, by: isize) -> &'a T {
        // SAFETY: the caller promises two elements of the array, which is borrowed for `'a`.
        unsafe { &*self.at.offset(by) }
    }

    /// # Safety
    /// The `len` elements from here belong to the array.
    #[inline(always)]
    pub(crate) unsafe fn slice(self, len: usize) -> &'a [T] {
        // SAFETY: the caller promises `len` adjacent elements of the array, which is borrowed for `'a`.
        unsafe { core::slice::from_raw_parts(self.at, len) }
    }

    /// # Safety
    /// The elements of `P`, from here on, belong to the array.
    #[inline(always)]
    pub(crate) unsafe fn packed<P: Packed<T>>(self) -> &'a P {
        // SAFETY: the caller promises adjacent elements, which is what an array is; it is aligned as its elements.
        unsafe { &*self.at.cast::<P>() }
    }

    /// # Safety
    /// The `rows` rows from here, `stride` apart, of `width` elements each, `step` apart, belong to the array.
    #[inline(always)]
    pub(crate) unsafe fn block<S: Step>(
        self,
        rows: usize,
        stride: isize,
        width: usize,
        step: S,
    ) -> Block<'a, T, S> {
        Block { at: self.at, rows, stride, width, step, array: PhantomData }
    }
}

/// Somewhere in an array that is being written.
pub(crate) struct Target<'a, T> {
    at: *mut T,
    array: PhantomData<&'a mut T>,
}

impl<T> Clone for Target<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Target<'_, T> {}

impl<'a, T> Target<'a, T> {
    #[inline(always)]
    pub(crate) fn new<D: Dimension>(array: &'a mut ArrayRef<T, D>) -> Self {
        Self { at: array.as_mut_ptr(), array: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn moved(self, by: isize) -> Self {
        Self { at: self.at.wrapping_offset(by), ..self }
    }

    /// The first element, and the sizes and strides of the axes.
    #[inline(always)]
    pub(crate) fn with_axes<D: Dimension>(array: &'a mut ArrayRef<T, D>) -> (Self, &'a [usize], &'a [isize]) {
        let at = array.as_mut_ptr();
        let array: &'a ArrayRef<T, D> = array;
        (Self { at, array: PhantomData }, array.shape(), array.strides())
    }

    #[inline(always)]
    pub(crate) fn address(self) -> *mut T {
        self.at
    }

    /// # Safety
    /// The element here belongs to the array, and nothing else refers to it while the slot is in use.
    #[inline(always)]
    pub(crate) unsafe fn slot(self) -> &'a mut T {
        // SAFETY: the caller promises a live element of the exclusively borrowed array, referred to once.
        unsafe { &mut *self.at }
    }

    /// # Safety
    /// As for [`slot`](Self::slot), for the element `by` elements further; the one here belongs to the array too.
    #[inline(always)]
    pub(crate) unsafe fn slot_at(self, by: isize) -> &'a mut T {
        // SAFETY: the caller promises elements of the exclusively borrowed array, this one referred to once.
        unsafe { &mut *self.at.offset(by) }
    }

    /// # Safety
    /// As for [`slot`](Self::slot), for the elements of `P` from here.
    #[inline(always)]
    pub(crate) unsafe fn packed<P: Packed<T>>(self) -> &'a mut P {
        // SAFETY: the caller promises adjacent elements, referred to once; an array is aligned as its elements.
        unsafe { &mut *self.at.cast::<P>() }
    }

    /// # Safety
    /// As for [`slot`](Self::slot), for the `len` elements from here.
    #[inline(always)]
    pub(crate) unsafe fn slice(self, len: usize) -> &'a mut [T] {
        // SAFETY: the caller promises `len` adjacent elements of the array, referred to once.
        unsafe { core::slice::from_raw_parts_mut(self.at, len) }
    }
}

/// Arrays of `T`, and arrays of these: adjacent elements.
pub(crate) trait Packed<T> {}

impl<T, const N: usize> Packed<T> for [T; N] {}
impl<T, const N: usize, const M: usize> Packed<T> for [[T; N]; M] {}

// SAFETY: a source is used as a shared reference to elements would be.
#[cfg(feature = "rayon")]
unsafe impl<T: Sync> Send for Source<'_, T> {}
// SAFETY: as above.
#[cfg(feature = "rayon")]
unsafe impl<T: Sync> Sync for Source<'_, T> {}
// SAFETY: slots are only made where nothing else refers to the element, on any thread: then as `&mut T`.
#[cfg(feature = "rayon")]
unsafe impl<T: Send> Send for Target<'_, T> {}
// SAFETY: as above; a shared target gives slots on the same condition.
#[cfg(feature = "rayon")]
unsafe impl<T: Send> Sync for Target<'_, T> {}

/// How far the elements of a lane are apart: a type, so that the usual steps are constants in the loops.
pub(crate) trait Step: Copy {
    fn offset(self, i: usize) -> isize;
}

#[derive(Clone, Copy)]
pub(crate) struct Every<const S: usize>;

impl<const S: usize> Step for Every<S> {
    #[inline(always)]
    fn offset(self, i: usize) -> isize {
        (i * S) as isize
    }
}

impl Step for isize {
    #[inline(always)]
    fn offset(self, i: usize) -> isize {
        i as isize * self
    }
}

/// Evenly spaced rows of evenly spaced elements of an array.
pub(crate) struct Block<'a, T, S> {
    at: *const T,
    rows: usize,
    stride: isize,
    width: usize,
    step: S,
    array: PhantomData<&'a T>,
}

impl<T, S: Copy> Clone for Block<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S: Copy> Copy for Block<'_, T, S> {}

impl<T: Clone, S: Step> Block<'_, T, S> {
    #[inline(always)]
    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    #[inline(always)]
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// The only row, from element `from`, as rows of `width` elements one after the other.
    #[inline(always)]
    pub(crate) fn cut(self, from: usize, rows: usize, width: usize) -> Self {
        assert!(self.rows == 1 && from <= self.width, "part of a row");
        assert!(rows.checked_mul(width).is_some_and(|n| n <= self.width - from), "rows within the row");
        let at = self.at.wrapping_offset(self.step.offset(from));
        Self { at, rows, stride: self.step.offset(width), width, ..self }
    }

    /// What `sum` makes of the elements of `R` rows, from `row` on, in each of `C` columns from `column` on.
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
        let at = self.at.wrapping_offset(row as isize * self.stride + self.step.offset(column));
        let mut sums: [T; C] = core::array::from_fn(|_| zero.clone());
        for (j, result) in sums.iter_mut().enumerate() {
            *result = sum(core::array::from_fn(|r| {
                // SAFETY: row `row + r` and column `column + j` are in the block, whose elements belong to a
                // borrowed array by the contract of `Source::block`.
                unsafe { (*at.offset(r as isize * self.stride + self.step.offset(j))).clone() }
            }));
        }
        sums
    }
}

impl<'a, T> From<&'a [T]> for Block<'a, T, Every<1>> {
    #[inline(always)]
    fn from(slice: &'a [T]) -> Self {
        Self { at: slice.as_ptr(), rows: 1, stride: 0, width: slice.len(), step: Every, array: PhantomData }
    }
}

/// Room on the stack for partial results, small enough for any thread.
pub(crate) const SCRATCH: usize = 48 << 10;

#[repr(C, align(64))]
pub(crate) struct Scratch([MaybeUninit<u8>; SCRATCH]);

impl Scratch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        #[allow(clippy::large_stack_arrays, reason = "that is its purpose; it is not initialised")]
        Self([MaybeUninit::uninit(); SCRATCH])
    }

    /// How many elements fit.
    pub(crate) const fn capacity<T>() -> usize {
        assert!(size_of::<T>() > 0 && align_of::<T>() <= 64, "a size and alignment that scratch can hold");
        SCRATCH / size_of::<T>()
    }

    /// The first `len` elements, each set to `value`. They are forgotten, not dropped.
    #[inline(always)]
    pub(crate) fn filled<T: Clone>(&mut self, len: usize, value: &T) -> &mut [T] {
        assert!(len <= Self::capacity::<T>(), "room for the elements");
        let first = self.0.as_mut_ptr().cast::<MaybeUninit<T>>();
        // SAFETY: `Scratch` is aligned for `T` and `len` elements fit, both checked above; uninitialised bytes
        // are valid `MaybeUninit<T>`; the borrow of `self` is exclusive.
        let room = unsafe { core::slice::from_raw_parts_mut(first, len) };
        for slot in &mut *room {
            slot.write(value.clone());
        }
        // SAFETY: every element was written just above.
        unsafe { &mut *(core::ptr::from_mut(room) as *mut [T]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps() {
        assert_eq!(
            [Every::<3>.offset(4), 3_isize.offset(4), (-3_isize).offset(4), 0_isize.offset(4)],
            [12, 12, -12, 0]
        );
    }
}
