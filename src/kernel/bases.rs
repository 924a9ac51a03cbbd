//! Passes over the bases of batches: views of the last axes, at each index of the others.

#![forbid(unsafe_code)]

use super::nest::{
    BaseInputs, BaseOutput, Bases, Elements, ErasedNest, Forms, Nest, Output, is_worth_halving, steps,
};
use super::threads::{count, in_two};
use ndarray::{ArrayRef, ArrayViewMut, Dimension};

/// Calls `visit` with a base of each input and of `out` at every index of the batch axes of `out`. The last `base` axes of `out`
/// are its base axes. `run` is [`on_this_thread`] or [`on_threads`].
///
/// # Panics
/// If the batch axes of an input do not broadcast to those of `out`.
pub(crate) fn for_each_base<'a, E: Elements, F: Forms<'a, E>, T, B: Dimension, V>(
    inputs: &BaseInputs<'a, E, F>,
    out: &mut ArrayRef<T, impl Dimension>,
    base: usize,
    visit: V,
    run: impl FnOnce(Nest<'_, Bases<'_, 'a, T, E, F, B>>, V),
) where
    V: FnMut(F::Views, ArrayViewMut<'_, T, B>),
{
    let mut erased = ErasedNest::new();
    if let Some(nest) = Nest::of_bases(&mut erased, inputs, &mut BaseOutput::of(Output::of(out), base)) {
        run(nest, visit);
    }
}

/// Calls a closure that may have state.
pub(crate) fn on_this_thread<'a, E: Elements, F: Forms<'a, E>, T, B: Dimension>(
    nest: Nest<'_, Bases<'_, 'a, T, E, F, B>>,
    visit: impl FnMut(F::Views, ArrayViewMut<'_, T, B>),
) {
    nest.for_each(visit);
}

/// Calls a closure that threads share.
pub(crate) fn on_threads<'a, E: Elements + Sync, F: Forms<'a, E> + Sync, T: Send, B: Dimension>(
    nest: Nest<'_, Bases<'_, 'a, T, E, F, B>>,
    visit: impl Fn(F::Views, ArrayViewMut<'_, T, B>) + Sync,
) {
    // the cost of a closure is unknown: several parts a thread balance the load
    let grain = steps(nest.loops()).div_ceil(8 * count());
    in_parts(nest, grain, &visit);
}

/// Visits parts of at least `grain` indices.
fn in_parts<'a, E: Elements + Sync, F: Forms<'a, E> + Sync, T: Send, B: Dimension>(
    nest: Nest<'_, Bases<'_, 'a, T, E, F, B>>,
    grain: usize,
    visit: &(impl Fn(F::Views, ArrayViewMut<'_, T, B>) + Sync),
) {
    let loops = nest.loops();
    if loops.is_empty() || !is_worth_halving(loops, grain) {
        return nest.for_each(visit);
    }
    let mut scratch = ErasedNest::on_heap();
    let [first, second] = nest.halves(0, &mut scratch);
    in_two(|| in_parts(first, grain, visit), || in_parts(second, grain, visit));
}
