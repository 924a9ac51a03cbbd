//! One pass over an output and any operands that go to its shape.

mod fresh;
mod pass;
mod sources;
mod sum;

use super::plan::Nest;
use ndarray::{ArrayRef, Dimension};
use pass::Pass;

#[cfg(feature = "rayon")]
pub(crate) use fresh::par_to_new;
pub(crate) use fresh::{copy, to_new};
pub(crate) use sources::{Inputs, Sources};
pub(crate) use sum::sum_to;

/// Has `f` visit every element of `out` once, with the inputs' elements there; shapes are aligned at the right.
///
/// # Panics
/// Where an input does not go to the shape of `out`.
#[inline]
pub(crate) fn each<T, E: Dimension, P: Sources<M>, const M: usize>(
    out: &mut ArrayRef<T, E>,
    inputs: &Inputs<'_, P, M>,
    f: impl FnMut(&mut T, P::Items),
) {
    if let Some(pass) = Pass::plan(&mut Nest::unplanned(), out, inputs) {
        pass.run(f);
    }
}

/// [`each`], on several threads where there are many elements.
#[cfg(feature = "rayon")]
pub(crate) fn par_each<T: Send, E: Dimension, P: Sources<M> + Sync, const M: usize>(
    out: &mut ArrayRef<T, E>,
    inputs: &Inputs<'_, P, M>,
    f: impl Fn(&mut T, P::Items) + Sync,
) {
    /// The least elements to hand to another thread. Measured with a sum of two `f32` in two threads: from 2^18
    /// elements down waking the other one costs more than it saves, with 2^20 the time is half.
    const GRAIN: usize = 1 << 18;
    if let Some(pass) = Pass::plan(&mut Nest::unplanned(), out, inputs) {
        pass.par_run(GRAIN, f);
    }
}
