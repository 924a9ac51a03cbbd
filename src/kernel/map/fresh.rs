//! Passes into arrays that do not exist yet.

use super::{Inputs, Sources, each};
use crate::kernel::order::ordered;
use core::mem::MaybeUninit;
use ndarray::{Array, ArrayRef, Dimension};

/// What `f` makes of the inputs' elements, as a new array of shape `shape`; see [`uninit`] for its layout.
///
/// Where `f` panics, what it made so far is forgotten.
///
/// # Panics
/// Where an input does not go to the shape, or memory cannot hold as many elements.
#[inline]
pub(crate) fn to_new<R, E: Dimension, P: Sources<M>, const M: usize>(
    shape: E,
    inputs: &Inputs<'_, P, M>,
    f: impl FnMut(P::Items) -> R,
) -> Array<R, E> {
    written(uninit(shape, inputs), inputs, f)
}

/// A copy in standard layout.
///
/// # Panics
/// Where memory cannot hold as many elements.
#[inline]
pub(crate) fn copy<A: Clone, D: Dimension>(array: &ArrayRef<A, D>) -> Array<A, D> {
    written(Array::uninit(array.raw_dim()), &Inputs::from((array,)), |(x,)| x.clone())
}

#[inline]
fn written<R, E: Dimension, P: Sources<M>, const M: usize>(
    mut out: Array<MaybeUninit<R>, E>,
    inputs: &Inputs<'_, P, M>,
    mut f: impl FnMut(P::Items) -> R,
) -> Array<R, E> {
    each(&mut out, inputs, |slot: &mut MaybeUninit<R>, items| {
        slot.write(f(items));
    });
    // SAFETY: `each` visited every element, and each visit wrote it.
    unsafe { out.assume_init() }
}

/// [`to_new`], on several threads where there are many elements.
#[cfg(feature = "rayon")]
pub(crate) fn par_to_new<R: Send, E: Dimension, P: Sources<M> + Sync, const M: usize>(
    shape: E,
    inputs: &Inputs<'_, P, M>,
    f: impl Fn(P::Items) -> R + Sync,
) -> Array<R, E> {
    let mut out = uninit(shape, inputs);
    super::par_each(&mut out, inputs, |slot: &mut MaybeUninit<R>, items| {
        slot.write(f(items));
    });
    // SAFETY: as in `written`: every element was visited, on whichever thread, and so written.
    unsafe { out.assume_init() }
}

/// An uninitialised array whose axes lie in memory in the order in which those of the inputs do.
///
/// Two axes keep the order of the shape unless there is an input that moves along both, and all such inputs have
/// the smaller stride along the former.
#[inline]
fn uninit<R, E: Dimension, P: Sources<M>, const M: usize>(
    shape: E,
    inputs: &Inputs<'_, P, M>,
) -> Array<MaybeUninit<R>, E> {
    let is_inside = |shape: &E, former, latter| {
        inputs.is_inside(shape.ndim(), [former, latter], [shape[former], shape[latter]])
    };
    ordered(shape, is_inside, Array::uninit)
}
