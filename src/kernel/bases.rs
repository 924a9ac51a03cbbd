//! Passes over the bases of batches: views of the last axes, at each index of the others.

#![forbid(unsafe_code)]

use super::nest::{BaseInputs, BaseNest, BaseOutput, Elements, Forms, Output, State, steps};
use super::threads::{count, join};
use ndarray::{ArrayRef, ArrayViewMut, Dimension};

/// Calls `visit` with the bases of the inputs and of `out`, whose last `base` axes these are, at every index of the batch axes
/// of `out`.
///
/// # Panics
/// If the batch axes of an input do not go to those of `out`, aligned at the right.
pub(crate) fn for_each_base<'a, E: Elements, F: Forms<'a, E>, T, D: Dimension, B: Dimension>(
    inputs: &BaseInputs<'a, E, F>,
    out: &mut ArrayRef<T, D>,
    base: usize,
    visit: impl FnMut(F::Views, ArrayViewMut<'_, T, B>),
) {
    let mut state = State::new();
    if let Some(nest) = BaseNest::over(&mut state, inputs, &mut BaseOutput::of(Output::of(out), base)) {
        nest.for_each(visit);
    }
}

/// [`for_each_base`] on several threads.
pub(crate) fn par_for_each_base<
    'a,
    E: Elements + Sync,
    F: Forms<'a, E> + Sync,
    T: Send,
    D: Dimension,
    B: Dimension,
>(
    inputs: &BaseInputs<'a, E, F>,
    out: &mut ArrayRef<T, D>,
    base: usize,
    visit: impl Fn(F::Views, ArrayViewMut<'_, T, B>) + Sync,
) {
    let mut state = State::new();
    if let Some(nest) = BaseNest::over(&mut state, inputs, &mut BaseOutput::of(Output::of(out), base)) {
        // the cost of a closure is unknown: several parts a thread balance the load
        let grain = steps(nest.loops()).div_ceil(8 * count());
        in_halves(nest, grain, &|part| part.for_each(&visit));
    }
}

/// Runs parts of a nest of at least `grain` bases on several threads.
pub(super) fn in_halves<'a, T: Send, E: Elements + Sync, F: Forms<'a, E> + Sync, B: Dimension>(
    nest: BaseNest<'_, 'a, T, E, F, B>,
    grain: usize,
    run: &(impl Fn(BaseNest<'_, 'a, T, E, F, B>) + Sync),
) {
    let loops = nest.loops();
    if loops.is_empty() || steps(loops) / 2 < grain.max(1) {
        return run(nest);
    }
    let mut room = State::new();
    let [first, second] = nest.halves(&mut room);
    join(|| in_halves(first, grain, run), || in_halves(second, grain, run));
}
