//! Passes on several threads: the outermost loops are cut in halves.

use super::fresh::uninit;
use super::pass::Pass;
use super::{Inputs, Sources, plan, start};
use crate::kernel::plan::{Loop, Stack};
use crate::kernel::raw::Target;
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
    P: Sources<M> + Send + Sync,
{
    let size = out.len();
    if size < 2 * GRAIN {
        return super::each(out, inputs, f);
    }
    let nest = plan(out, inputs);
    let (out, from) = start(&nest, out, inputs);
    Share { loops: Stack::from(nest.loops()), out, from, f: &f }.run(size);
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
    P: Sources<M> + Send + Sync,
{
    let mut out = uninit(shape, inputs);
    par_each(&mut out, inputs, |slot: &mut MaybeUninit<R>, items| {
        slot.write(f(items));
    });
    // SAFETY: as in `to_new`: every element was visited, on whichever thread, and so written.
    unsafe { out.assume_init() }
}

/// A part of a pass.
///
/// Invariant: as for [`Pass::new`]; the loops reach a different element of the output at each step, and no other
/// share reaches any of them.
struct Share<'a, T, P, F, const M: usize> {
    loops: Stack<Loop<M>>,
    out: Target<'a, T>,
    from: P,
    f: &'a F,
}

impl<T, P, F, const M: usize> Share<'_, T, P, F, M>
where
    T: Send,
    P: Sources<M> + Send + Sync,
    F: Fn(&mut T, P::Items) + Sync,
{
    fn run(mut self, size: usize) {
        let outermost = self.loops.iter().position(|l| l.len > 1);
        let Some(i) = outermost.filter(|_| size >= 2 * GRAIN) else {
            // SAFETY: the invariant.
            return simd::dispatch(unsafe {
                Pass::new(&self.loops, self.out, self.from, |o: &mut T, x| (self.f)(o, x))
            });
        };
        let len = self.loops[i].len;
        let mut high = Self { loops: self.loops.clone(), ..self };
        self.loops[i].len = len / 2;
        high.loops[i].len -= len / 2;
        let at = high.loops[i].strides.map(|stride| stride * (len / 2).cast_signed());
        (high.out, high.from) = (high.out.moved(at[0]), high.from.moved(at));
        let few = size / len * (len / 2);
        rayon::join(|| self.run(few), || high.run(size - few));
    }
}
