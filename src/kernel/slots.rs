//! Places of an array that are all to be written, whatever is in them.

use super::raw::Target;
use core::mem::MaybeUninit;
use ndarray::{Array, ArrayRef, ArrayViewMut, Dimension};

/// An array of which every element is to be written and none to be read.
///
/// `Copy`, so that what is overwritten need not be dropped. Not exported; public as it stands in hidden methods of
/// public traits.
pub struct Slots<'a, T, E>(ArrayViewMut<'a, MaybeUninit<T>, E>);

/// Says that all slots were written: only what writes them makes one. Public as `Slots` is.
pub struct Filled(());

impl Filled {
    /// To be made where every slot was written.
    pub(super) fn all() -> Self {
        Self(())
    }
}

impl<'a, T: Copy, E: Dimension> Slots<'a, T, E> {
    /// The places of an array that exists.
    pub(crate) fn of(array: &'a mut ArrayRef<T, E>) -> Self {
        let raw = array.raw_view_mut().cast::<MaybeUninit<T>>();
        // SAFETY: The array is borrowed exclusively for 'a, and elements are valid as `MaybeUninit`, which has their
        // layout. What is written to slots is initialised: only this module's neighbours can reach them, by
        // `targets`, whose users store values.
        Self(unsafe { raw.deref_into_view_mut() })
    }

    pub(crate) fn sizes(&self) -> &[usize] {
        self.0.shape()
    }

    /// The first place, and the sizes and strides of the axes.
    pub(super) fn targets(&mut self) -> (Target<'_, MaybeUninit<T>>, &[usize], &[isize]) {
        Target::with_axes(&mut self.0)
    }
}

/// A new array of shape `shape`, of elements that `fill` writes.
pub(crate) fn filled<T: Copy, E: Dimension>(
    shape: E,
    fill: impl FnOnce(Slots<'_, T, E>) -> Filled,
) -> Array<T, E> {
    let mut array = Array::uninit(shape);
    let Filled(()) = fill(Slots(array.view_mut()));
    // SAFETY: `fill` was given the only slots that there are, and says that it wrote all.
    unsafe { array.assume_init() }
}
