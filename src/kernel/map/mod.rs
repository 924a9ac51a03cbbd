//! One pass over an output and any operands that go to its shape.

mod fresh;
#[cfg(feature = "rayon")]
mod par;
mod pass;
mod sources;
mod sum;

use super::plan::{Loop, Nest};
use super::raw::Target;
use super::simd;
use ndarray::{ArrayRef, Dimension};
use pass::Pass;
use sources::Layout;

pub(crate) use fresh::{copy, to_new};
#[cfg(feature = "rayon")]
pub(crate) use par::{par_each, par_to_new};
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
    let nest = plan(out, inputs);
    if nest.is_empty() {
        return;
    }
    let (out, from) = start(&nest, out, inputs);
    // SAFETY: `plan` made the nest for `out` and the inputs, and the start is the nest's.
    simd::dispatch(unsafe { Pass::new(nest.loops(), out, from, f) });
}

/// The loops that visit every index of `out` once, with strides within `out` and, where an input has that axis with
/// that size, within the input, else 0.
#[inline(always)]
fn plan<T, E: Dimension, P: Sources<M>, const M: usize>(
    out: &ArrayRef<T, E>,
    inputs: &Inputs<'_, P, M>,
) -> Nest<M> {
    inputs.assert_ndim(out.ndim());
    let out = Layout::of(out);
    let axes = (0..out.ndim()).map(|axis| {
        let (from_end, len) = (out.ndim() - 1 - axis, out.size(axis));
        let mut strides = inputs.strides(from_end, len);
        strides[0] = out.stride(from_end, len);
        Loop { len, strides }
    });
    Nest::new(axes, |l| l.strides[0].unsigned_abs())
}

/// Where a nest that is not empty starts.
#[inline(always)]
fn start<'a, T, E: Dimension, P: Sources<M>, const M: usize>(
    nest: &Nest<M>,
    out: &'a mut ArrayRef<T, E>,
    inputs: &Inputs<'_, P, M>,
) -> (Target<'a, T>, P) {
    let offsets = nest.offsets();
    (Target::new(out).moved(offsets[0]), inputs.start().moved(offsets))
}
