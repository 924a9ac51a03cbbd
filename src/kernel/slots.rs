//! Places of an array that are all to be written, whatever is in them.

use super::map::{Inputs, Sources, each};
use super::raw::Target;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use ndarray::{Array, ArrayRef, ArrayViewMut, Dimension};

/// An array of which every element is to be written and none to be read.
///
/// `Copy`, so that what is overwritten need not be dropped. Not exported; public as it stands in hidden methods of
/// public traits.
pub struct Slots<'a, T, E>(ArrayViewMut<'a, MaybeUninit<T>, E>, Lifetime<'a>);

/// Says that all slots of that lifetime were written: only what writes them makes one. Public as `Slots` is.
pub struct Filled<'a>(Lifetime<'a>);

/// That lifetime and no other, so that it tells slots apart.
type Lifetime<'a> = PhantomData<fn(&'a ()) -> &'a ()>;

impl<'a, T: Copy, E: Dimension> Slots<'a, T, E> {
    /// The places of an array that exists.
    pub(crate) fn of(array: &'a mut ArrayRef<T, E>) -> Self {
        let raw = array.raw_view_mut().cast::<MaybeUninit<T>>();
        // SAFETY: The array is borrowed exclusively for 'a, and elements are valid as `MaybeUninit`, which has their
        // layout. What is written to slots is initialised: only this module's neighbours can reach them, by
        // `targets`, whose users store values.
        Self(unsafe { raw.deref_into_view_mut() }, PhantomData)
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
    ) -> Filled<'a> {
        each(&mut self.0, inputs, |slot: &mut MaybeUninit<T>, items| {
            slot.write(f(items));
        });
        self.written()
    }

    /// [`fill`](Self::fill) on several threads, where there are many elements.
    #[cfg(feature = "rayon")]
    pub(crate) fn par_fill<P: Sources<M> + Send + Sync, const M: usize>(
        mut self,
        inputs: &Inputs<'_, P, M>,
        f: impl Fn(P::Items) -> T + Sync,
    ) -> Filled<'a>
    where
        T: Send,
    {
        super::map::par_each(&mut self.0, inputs, |slot: &mut MaybeUninit<T>, items| {
            slot.write(f(items));
        });
        self.written()
    }

    /// To be said where every slot was written.
    pub(super) fn written(self) -> Filled<'a> {
        Filled(self.1)
    }

    /// The first place, and the sizes and strides of the axes.
    pub(super) fn targets(&mut self) -> (Target<'_, MaybeUninit<T>>, &[usize], &[isize]) {
        Target::with_axes(&mut self.0)
    }
}

/// A new array of shape `shape`, of elements that `fill` writes.
pub(crate) fn filled<T: Copy, E: Dimension>(
    shape: E,
    fill: impl for<'s> FnOnce(Slots<'s, T, E>) -> Filled<'s>,
) -> Array<T, E> {
    let mut array = Array::uninit(shape);
    let Filled(_) = fill(Slots(array.view_mut(), PhantomData));
    // SAFETY: `fill` says that all slots of a lifetime were written that it knows nothing of but that these have it.
    unsafe { array.assume_init() }
}
