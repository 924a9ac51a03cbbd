//! Views that ndarray has no safe way to make.
//!
//! # Invariant
//! Every index into a view made here is the position of an element of its array, and the view does not outlive the
//! array's borrow. `checked_len` and `repeats` are trusted.

use crate::shape::{checked_len, repeats, sizes, sizes_mut};
use core::{iter::zip, mem};
use ndarray::{ArrayRef, ArrayView, Axis, Dimension, ShapeBuilder};

/// [`ArrayRef::broadcast`] of a view, for as long as its data lives: ndarray's own result lives only as long as the view.
#[inline]
pub(crate) fn broadcast_data<'a, A, D: Dimension, E: Dimension>(
    view: &ArrayView<'a, A, D>,
    shape: E,
) -> Option<ArrayView<'a, A, E>> {
    let stretched = view.broadcast(shape)?;
    // SAFETY: The types differ in their lifetime only. Each element of `stretched` is one of `view`,
    // which are shared and alive for 'a, and a view borrows nothing but its elements.
    Some(unsafe { mem::transmute::<ArrayView<'_, A, E>, ArrayView<'a, A, E>>(stretched) })
}

/// The view of shape `shape` in which axis `i` of the array is axis `places[i]`. Every other axis, and every axis that
/// stretches from size 1, repeats the array with stride 0. Half the cost of `broadcast` and then `permuted_axes`.
///
/// # Panics
/// If the shape layer missed an axis without a place, sizes that differ and are not 1, or an overflow. Calls from
/// outside the crate never panic.
#[inline(always)]
pub(crate) fn place<A, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    mut places: impl Iterator<Item = usize>,
) -> ArrayView<'_, A, E> {
    // For dynamic rank, a copy is faster than new zeros.
    let mut strides = shape.clone();
    let (to, steps) = (sizes(&shape), sizes_mut(&mut strides));
    steps.fill(0);
    let mut reversed = false;
    for (&size, &stride) in zip(array.shape(), array.strides()) {
        let axis = places.next().expect("every axis has a place");
        if size == to[axis] {
            let stride = if size > 1 { stride } else { 0 };
            steps[axis] = stride.cast_unsigned();
            reversed |= stride.is_negative();
        } else {
            assert!(repeats(size, to[axis]), "the sizes were checked");
        }
    }
    assert!(checked_len(to).is_some(), "the shape was checked for overflow");
    if reversed {
        return place_reversed(array, shape, strides);
    }
    // SAFETY: If the view has no element, only the pointer counts: it is an array's, so aligned and not null.
    // Otherwise, each axis of the array has a place in the view. Either it has the same size there, with the same
    // stride (or 0, with one element), or it has size 1 and stride 0 there. All other strides are 0. So the offset of
    // an index `k` into the view is that of an index into the array, which is `k[places[i]]` at an axis of the first
    // kind and 0 at one of the second. Both are less than the axis's size, so this is an element. (If two axes shared a
    // place, the later one's stride would count, and the other's index be 0.) The array is borrowed for the view's
    // lifetime, no stride is negative, the shape does not overflow, and no offset is larger than the array's largest.
    unsafe { ArrayView::from_shape_ptr(shape.strides(strides), array.as_ptr()) }
}

/// [`place`] of a view, for as long as its data lives.
#[inline]
pub(crate) fn place_data<'a, A, D: Dimension, E: Dimension>(
    view: &ArrayView<'a, A, D>,
    shape: E,
    places: impl Iterator<Item = usize>,
) -> ArrayView<'a, A, E> {
    // SAFETY: As in `broadcast_data`: only the lifetime differs, and each element is one of `view`.
    unsafe { mem::transmute::<ArrayView<'_, A, E>, ArrayView<'a, A, E>>(place(view, shape, places)) }
}

/// [`place`] for negative strides, which `from_shape_ptr` refuses: the view starts at the other end of such axes, and then they
/// are inverted.
#[allow(clippy::needless_pass_by_value, reason = "as `place` takes them")]
#[cold]
fn place_reversed<A, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    strides: E,
) -> ArrayView<'_, A, E> {
    let (mut unsigned, mut start) = (E::zeros(shape.ndim()), 0);
    if !sizes(&shape).contains(&0) {
        for axis in 0..shape.ndim() {
            let stride = strides[axis].cast_signed();
            unsigned[axis] = stride.unsigned_abs();
            start += stride.min(0) * (shape[axis] - 1).cast_signed();
        }
    }
    let start = array.as_ptr().wrapping_offset(start);
    // SAFETY: As in `place`, with the same elements, counted from the other end of each inverted axis.
    let mut view = unsafe { ArrayView::from_shape_ptr(shape.strides(unsigned), start) };
    for axis in 0..strides.ndim() {
        if strides[axis].cast_signed().is_negative() {
            view.invert_axis(Axis(axis));
        }
    }
    view
}
