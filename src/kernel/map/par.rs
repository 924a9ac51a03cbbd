//! Passes on several threads.

use super::fresh::uninit;
use super::pass::Pass;
use super::{Inputs, Sources, plan, start};
use crate::kernel::par::split;
use crate::kernel::simd;
use core::mem::MaybeUninit;
use ndarray::{Array, ArrayRef, Dimension};

/// The least elements to hand to another thread. Measured with a sum of two `f32` in two threads: from 2^18 elements
/// down waking the other one costs more than it saves, with 2^20 the time is half.
const GRAIN: usize = 1 << 18;

/// [`each`](super::each), on several threads where there are many elements.
pub(crate) fn par_each<T, E, P, const M: usize>(
    out: &mut ArrayRef<T, E>,
    inputs: &Inputs<'_, P, M>,
    f: impl Fn(&mut T, P::Items) + Sync,
) where
    T: Send,
    E: Dimension,
    P: Sources<M> + Sync,
{
    let nest = plan(out, inputs);
    if nest.is_empty() {
        return;
    }
    let (out, from) = start(&nest, out, inputs);
    split(nest.loops(), [0; M], GRAIN, &|loops, at| {
        let (out, from) = (out.moved(at[0]), from.moved(at));
        // SAFETY: as in `each`, of a part of the loops that no other call has.
        simd::dispatch(unsafe { Pass::new(loops, out, from, |slot: &mut T, items| f(slot, items)) });
    });
}

/// [`to_new`](super::to_new), on several threads where there are many elements.
pub(crate) fn par_to_new<R, E, P, const M: usize>(
    shape: E,
    inputs: &Inputs<'_, P, M>,
    f: impl Fn(P::Items) -> R + Sync,
) -> Array<R, E>
where
    R: Send,
    E: Dimension,
    P: Sources<M> + Sync,
{
    let mut out = uninit(shape, inputs);
    par_each(&mut out, inputs, |slot: &mut MaybeUninit<R>, items| {
        slot.write(f(items));
    });
    // SAFETY: as in `to_new`: every element was visited, on whichever thread, and so written.
    unsafe { out.assume_init() }
}
