//! Views that ndarray has no safe way to make.

use crate::shape::{checked_len, repeats, sizes, sizes_mut};
use core::{iter::zip, mem};
use ndarray::{ArrayRef, ArrayView, Axis, Dimension, ShapeBuilder};

/// [`ArrayRef::broadcast`] of a view, for as long as its data lives.
#[inline]
#[allow(unsafe_code, reason = "ndarray broadcasts for the lifetime of the view only")]
pub(crate) fn broadcast_data<'a, A, D: Dimension, E: Dimension>(
    view: &ArrayView<'a, A, D>,
    shape: E,
) -> Option<ArrayView<'a, A, E>> {
    let stretched = view.broadcast(shape)?;
    // SAFETY: The types differ in their lifetime only. Each element of `stretched` is one of `view`,
    // which are shared and alive for 'a, and a view borrows nothing but its elements.
    Some(unsafe { mem::transmute::<ArrayView<'_, A, E>, ArrayView<'a, A, E>>(stretched) })
}

/// The view of shape `shape` in which axis `i` of the array is axis `places[i]`, and every other axis,
/// and every axis that had size 1 and has not now, repeats the array with stride 0.
///
/// # Panics
/// Where the shape layer let something through: an axis without a place, sizes that differ and are not
/// 1, an overflow. No call from outside the crate gets there.
#[inline(always)]
#[allow(unsafe_code, reason = "half the cost of `broadcast` and then `permuted_axes`")]
pub(crate) fn place<A, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    mut places: impl Iterator<Item = usize>,
) -> ArrayView<'_, A, E> {
    // A copy is quicker than zeros of a number of axes only known at run time.
    let mut strides = shape.clone();
    let (to, steps) = (sizes(&shape), sizes_mut(&mut strides));
    steps.fill(0);
    let mut reversed = false;
    for (&size, &stride) in zip(array.shape(), array.strides()) {
        let axis = places.next().expect("every axis has a place");
        if size == to[axis] {
            steps[axis] = stride.cast_unsigned();
            reversed |= stride < 0;
        } else {
            assert!(repeats(size, to[axis]), "the sizes were checked");
        }
    }
    assert!(checked_len(to).is_some(), "the shape was checked for overflow");
    if reversed {
        return place_reversed(array, shape, strides);
    }
    // SAFETY: If the view has no element, only the pointer counts: that of an array, so aligned and not
    // null. Else each axis of the array has a place in the view, where it has either the same size and
    // stride, or had size 1 and has stride 0; all other strides are 0. So an index `k` into the view is
    // the offset of the array's index that is `k[places[i]]` at an axis of the first kind and 0 at one of
    // the second, both less than the axis's size, and so an element. (Where two axes shared a place, the
    // later one's stride would count, and the other's index be 0.) The array is borrowed for the view's
    // lifetime, no stride is negative, the shape is no overflow, and no offset is larger than the array's
    // largest.
    unsafe { ArrayView::from_shape_ptr(shape.strides(strides), array.as_ptr()) }
}

/// The rest of [`place`] where strides are negative, which `from_shape_ptr` refuses: the view is made
/// from the other end of these axes, then they are inverted.
#[cold]
#[allow(unsafe_code, reason = "see `place`")]
fn place_reversed<A, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    mut strides: E,
) -> ArrayView<'_, A, E> {
    let empty = sizes(&shape).contains(&0);
    let mut start = array.as_ptr();
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
        // SAFETY: No axis is empty, so the array has an element that is last along this axis (and the
        // ones before it) and first along the others; this is its address.
        start = unsafe { start.offset(stride * (shape[axis] - 1).cast_signed()) };
    }
    // SAFETY: As in `place`, seen from the element at the other end of the inverted axes: an index `k`
    // along one of them stands for `size - 1 - k`.
    let mut view = unsafe { ArrayView::from_shape_ptr(shape.strides(strides), start) };
    for axis in 0..inverted.ndim() {
        if inverted[axis] == 1 {
            view.invert_axis(Axis(axis));
        }
    }
    view
}
