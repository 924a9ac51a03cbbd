//! Passes over the bases of batches: views of the last axes, at each index of the others.

#![forbid(unsafe_code)]

use super::nest::{BaseInputs, BaseOutput, Elements, ErasedNest, Forms, Nest, Output, Written, steps};
use super::threads::{count, in_parts};
use ndarray::{ArrayRef, ArrayViewMut, Dimension};

/// Calls `visit` with a base of each input and of `out` at every index of the batch axes of `out`. The last `base` axes of `out`
/// are its base axes.
///
/// # Panics
/// If the batch axes of an input do not broadcast to those of `out`.
pub(crate) fn for_each_base<'a, E: Elements, F: Forms<'a, E>, T, B: Dimension>(
    inputs: &BaseInputs<'a, E, F>,
    out: &mut ArrayRef<T, impl Dimension>,
    base: usize,
    visit: impl FnMut(F::Views, ArrayViewMut<'_, T, B>),
) {
    let mut erased = ErasedNest::new();
    if let Some(nest) = Nest::of_bases(&mut erased, inputs, &mut BaseOutput::of(Output::of(out), base)) {
        nest.for_each(visit);
    }
}

/// [`for_each_base`] on several threads.
pub(crate) fn par_for_each_base<'a, E: Elements + Sync, F: Forms<'a, E> + Sync, T: Send, B: Dimension>(
    inputs: &BaseInputs<'a, E, F>,
    out: &mut ArrayRef<T, impl Dimension>,
    base: usize,
    visit: impl Fn(F::Views, ArrayViewMut<'_, T, B>) + Sync,
) {
    let mut erased = ErasedNest::new();
    if let Some(nest) = Nest::of_bases(&mut erased, inputs, &mut BaseOutput::of(Output::of(out), base)) {
        // the cost of a closure is unknown: several parts a thread balance the load
        let grain = steps(nest.loops()).div_ceil(8 * count());
        in_parts(nest, grain, &|part| {
            part.for_each(&visit);
            Written::none()
        });
    }
}
