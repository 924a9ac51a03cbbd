//! From a checked shape to a view: the crate's one place that makes views.

use crate::shape::{checked_len, repeats, sizes};
use core::marker::PhantomData;
use ndarray::{ArrayRef, ArrayView, Axis, Dimension, ShapeBuilder};

/// What a view of an array is made from: its first element, shape and strides.
///
/// The data lives for `'a`; the shape and strides may be borrowed from a view that does not.
///
/// Invariant: the three are those of a valid array of which the elements may be read for `'a`.
pub(super) struct Source<'a, 's, A> {
    start: *const A,
    shape: &'s [usize],
    strides: &'s [isize],
    data: PhantomData<&'a A>,
}

impl<'a, 's, A> Source<'a, 's, A> {
    #[inline]
    pub(super) fn of<D: Dimension>(array: &'a ArrayRef<A, D>) -> Source<'a, 'a, A> {
        Source { start: array.as_ptr(), shape: array.shape(), strides: array.strides(), data: PhantomData }
    }

    /// A view's data outlives the view.
    #[inline]
    pub(super) fn of_view<D: Dimension>(view: &'s ArrayView<'a, A, D>) -> Self {
        Source { start: view.as_ptr(), shape: view.shape(), strides: view.strides(), data: PhantomData }
    }

    #[inline]
    pub(super) fn shape(&self) -> &'s [usize] {
        self.shape
    }

    /// The view of shape `shape` in which axis `i` of the array is axis `places[i]`, and every other
    /// axis, and every axis that had size 1 and has not now, repeats the array with stride 0.
    ///
    /// # Panics
    /// Where the shape layer let something through: a shape that overflows, an axis without a place
    /// or out of bounds, sizes that differ and are not 1. No call from outside the crate gets there.
    #[inline]
    pub(super) fn stretch<E: Dimension>(
        &self,
        shape: E,
        places: impl IntoIterator<Item = usize>,
    ) -> ArrayView<'a, A, E> {
        let len = checked_len(sizes(&shape)).expect("the shape was checked for overflow");
        let mut strides = E::zeros(shape.ndim());
        let mut places = places.into_iter();
        let mut reversed = false;
        for (&size, &stride) in self.shape.iter().zip(self.strides) {
            let axis = places.next().expect("every axis has a place");
            if size == shape[axis] {
                strides[axis] = stride.cast_unsigned();
                reversed |= stride < 0;
            } else {
                assert!(repeats(size, shape[axis]), "the sizes were checked");
            }
        }
        if reversed {
            return self.stretch_reversed(shape, strides, len == 0);
        }
        // SAFETY: Every index into the view reads an element of the array, which by the invariant may
        // be read for 'a. For let the view have an element at all. Each axis of the array has a place
        // in the view, where it has either the same size and stride, or had size 1 and has stride 0;
        // all other strides are 0. So an index `k` into the view lies at the offset of the array's
        // index that has `k[places[i]]` at an axis of the first kind and 0 at one of the second, both
        // less than the axis's size (where two axes share a place, the last one's stride counts and the
        // other's index is 0). If the view has no element, only the pointer counts: it is that of a
        // valid array, so aligned and not null. The sizes multiply to no more than isize::MAX, no
        // stride is negative, and the largest offset is no larger than that of the array.
        #[allow(unsafe_code, reason = "ndarray has no safe way to give a view its data's lifetime")]
        unsafe {
            ArrayView::from_shape_ptr(shape.strides(strides), self.start)
        }
    }

    /// The rest of [`stretch`](Self::stretch) where strides are negative, which `from_shape_ptr`
    /// refuses: the view is made from the other end of these axes, then they are inverted.
    #[cold]
    fn stretch_reversed<E: Dimension>(&self, shape: E, mut strides: E, empty: bool) -> ArrayView<'a, A, E> {
        let mut start = self.start;
        let mut inverted = E::zeros(shape.ndim());
        for axis in 0..shape.ndim() {
            let stride = strides[axis].cast_signed();
            if stride >= 0 {
                continue;
            }
            if empty {
                // No element is ever reached, so the stride says nothing.
                strides[axis] = 0;
                continue;
            }
            inverted[axis] = 1;
            strides[axis] = stride.unsigned_abs();
            // SAFETY: No axis is empty, so the array has an element that is last along this axis (and
            // the ones before it) and first along the others; this is its address.
            #[allow(unsafe_code, reason = "see `stretch`")]
            unsafe {
                start = start.offset(stride * (shape[axis] - 1).cast_signed());
            }
        }
        // SAFETY: As in `stretch`, seen from the element at the other end of the inverted axes: an index
        // `k` along one of them stands for `size - 1 - k`.
        #[allow(unsafe_code, reason = "see `stretch`")]
        let mut view = unsafe { ArrayView::from_shape_ptr(shape.strides(strides), start) };
        for axis in 0..inverted.ndim() {
            if inverted[axis] == 1 {
                view.invert_axis(Axis(axis));
            }
        }
        view
    }
}
