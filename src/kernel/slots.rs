//! Places of an array that are all to be written, whatever is in them.

use super::map::{Inputs, Sources, each};
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

    /// Writes to each slot what `f` makes of the inputs' elements there.
    ///
    /// # Panics
    /// Where an input does not go to the shape of the slots.
    pub(crate) fn fill<P: Sources<M>, const M: usize>(
        mut self,
        inputs: &Inputs<'_, P, M>,
        f: impl Fn(P::Items) -> T,
    ) -> Filled {
        each(&mut self.0, inputs, |slot: &mut MaybeUninit<T>, items| {
            slot.write(f(items));
        });
        Filled::all()
    }

    /// [`fill`](Self::fill) on several threads, where there are many elements.
    #[cfg(feature = "rayon")]
    pub(crate) fn par_fill<P: Sources<M> + Send + Sync, const M: usize>(
        mut self,
        inputs: &Inputs<'_, P, M>,
        f: impl Fn(P::Items) -> T + Sync,
    ) -> Filled
    where
        T: Send,
    {
        super::map::par_each(&mut self.0, inputs, |slot: &mut MaybeUninit<T>, items| {
            slot.write(f(items));
        });
        Filled::all()
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
