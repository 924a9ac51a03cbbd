//! Sums over any axes of an array in any layout: one pass over the input, one output, nothing on the heap.
//!
//! The order of summation depends on the shape and the strides only: not on the number of threads, nor on the CPU.

pub(super) mod lane;
mod lanes;
mod levels;
#[cfg(feature = "rayon")]
mod par;
mod plain;
mod store;
mod streams;
mod tile;

use super::order::ordered;
use super::plan::{Loop, Nest};
use super::raw::{Source, Target};
use super::simd::{self, Work};
use core::mem::needs_drop;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

#[cfg(feature = "rayon")]
pub(crate) use par::{par_sum_into, par_sum_to_new};
pub(crate) use store::{Accumulate, Overwrite, Scaled, Store};

/// What can be summed.
pub(crate) trait Element: Clone + Zero {}

impl<T: Clone + Zero> Element for T {}

/// Sums `input` into `out`, as `store` says.
///
/// Axis `i` of the input has no counterpart in the output where `dropped(i)`; the others are the output's axes, in
/// order. They have the input's size there, or size 1 to be summed over.
pub(crate) fn sum_into<A: Element, D: Dimension, E: Dimension, S: Store<A>>(
    input: &ArrayRef<A, D>,
    out: &mut ArrayRef<S::Slot, E>,
    dropped: impl Fn(usize) -> bool,
    store: &S,
) {
    with_plan(input, out, dropped, store, run);
}

/// Sums `input` into a new array of the given shape; see [`sum_into`].
///
/// The new array's axes lie in memory in the order of the input's.
pub(crate) fn sum_to_new<A: Element, D: Dimension, E: Dimension>(
    input: &ArrayRef<A, D>,
    shape: E,
    dropped: impl Fn(usize) -> bool,
) -> Array<A, E> {
    if needs_drop::<A>() {
        // A panic must not leak what was stored before it.
        let zeros = |shape| Array::from_shape_simple_fn(shape, A::zero);
        let mut out = laid_out_like(input, shape, &dropped, zeros);
        sum_into(input, &mut out, dropped, &Overwrite);
        return out;
    }
    fresh(input, shape, dropped, run)
}

/// A new array that `run` stores the sums to.
#[inline(always)]
fn fresh<A: Element, D: Dimension, E: Dimension>(
    input: &ArrayRef<A, D>,
    shape: E,
    dropped: impl Fn(usize) -> bool,
    run: impl FnOnce(Sum<'_, A, store::Fresh>),
) -> Array<A, E> {
    let mut out = laid_out_like(input, shape, &dropped, Array::uninit);
    with_plan(input, &mut out, dropped, &store::Fresh, run);
    // SAFETY: Every element of the output is stored to: `plan` asserts that each of its axes is one of the input's
    // with the same size or is of size 1, so the nest's kept loops, which `run` and `par_run` go through, visit all of
    // the output; and with an empty nest each element is stored to.
    unsafe { out.assume_init() }
}

/// Plans a sum and has `run` carry it out, or stores zeros where there is nothing to add.
#[inline(always)]
fn with_plan<A: Element, D: Dimension, E: Dimension, S: Store<A>>(
    input: &ArrayRef<A, D>,
    out: &mut ArrayRef<S::Slot, E>,
    dropped: impl Fn(usize) -> bool,
    store: &S,
    run: impl FnOnce(Sum<'_, A, S>),
) {
    let mut nest = Nest::unplanned();
    plan(&mut nest, input, out, dropped);
    if nest.is_empty() {
        return out.iter_mut().for_each(|slot| store.store(slot, A::zero()));
    }
    let [from, to] = nest.offsets();
    run(Sum {
        loops: nest.loops(),
        input: Source::new(input).moved(from),
        out: Target::new(out).moved(to),
        store,
    });
}

/// Asserts that the shapes fit, and plans the loops: strides `[input, output]`, the output's 0 where reduced.
#[inline(always)]
fn plan<A, B, D: Dimension, E: Dimension>(
    nest: &mut Nest<2>,
    input: &ArrayRef<A, D>,
    out: &ArrayRef<B, E>,
    dropped: impl Fn(usize) -> bool,
) {
    let (sizes, strides) = (input.shape(), input.strides());
    let (to_sizes, to_strides) = (out.shape(), out.strides());
    let mut out_axis = 0;
    let axes = (0..sizes.len()).map(|i| {
        let mut to = 0;
        if !dropped(i) {
            if to_sizes[out_axis] == sizes[i] {
                to = to_strides[out_axis];
            } else {
                assert!(to_sizes[out_axis] == 1, "an output axis has the input's size or 1");
            }
            out_axis += 1;
        }
        Loop { len: sizes[i], strides: [strides[i], to] }
    });
    // a repeated input comes last, kept axes before reduced ones: the inner loop then runs along the output
    nest.plan(axes, |l| match l.strides[0].unsigned_abs() {
        0 => l.strides[1].unsigned_abs(),
        s => s,
    });
    assert!(out_axis == to_sizes.len(), "every output axis is one of the input's");
}

/// An array of the given shape as `make` makes it, with its axes ordered in memory as the input's are.
fn laid_out_like<A, B, D: Dimension, E: Dimension>(
    input: &ArrayRef<A, D>,
    shape: E,
    dropped: impl Fn(usize) -> bool,
    make: impl Fn(E) -> Array<B, E>,
) -> Array<B, E> {
    let mut strides = E::zeros(shape.ndim());
    let mut next = 0;
    for (i, stride) in input.strides().iter().enumerate() {
        if !dropped(i) {
            strides[next] = stride.unsigned_abs();
            next += 1;
        }
    }
    let is_inside = |_: &E, former: usize, latter: usize| {
        let says_nothing = strides[former] == 0 || strides[latter] == 0;
        (!says_nothing).then(|| strides[former] < strides[latter])
    };
    ordered(shape, is_inside, make)
}

/// Everything a sum needs: the planned loops and where they start.
///
/// Invariant: the loops' steps from `input` stay within an array that is borrowed for `'a`; those from `out` within
/// another that is borrowed exclusively, and reach a different element at each step of the loops whose stride there
/// is not 0.
pub(super) struct Sum<'a, T, S: Store<T>> {
    loops: &'a [Loop<2>],
    input: Source<'a, T>,
    out: Target<'a, S::Slot>,
    store: &'a S,
}

/// A way to carry out a sum, and the sum.
struct By<'a, W, T, S: Store<T>>(W, Sum<'a, T, S>);

/// Whether partial results may be left on the stack, and fit there.
const fn forgettable<T>() -> bool {
    !needs_drop::<T>() && size_of::<T>() > 0 && size_of::<T>() <= 64 && align_of::<T>() <= 64
}

/// Splitting the ways before the dispatch keeps the quick ones' stack frames small.
#[inline]
fn run<T: Element, S: Store<T>>(sum: Sum<'_, T, S>) {
    if !const { forgettable::<T>() } {
        plain::run(&sum);
    } else if let Some(lanes) = lanes::Lanes::of(sum.loops) {
        simd::dispatch(By(lanes, sum));
    } else if let Some(streams) = streams::Streams::of::<T>(sum.loops) {
        simd::dispatch(By(streams, sum));
    } else {
        simd::dispatch(By(tile::Tiling::of::<T>(sum.loops).whole(), sum));
    }
}

impl<T, S: Store<T>> Clone for Sum<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S: Store<T>> Copy for Sum<'_, T, S> {}

impl<T: Element, S: Store<T>> Work for By<'_, lanes::Lanes<'_>, T, S> {
    #[inline(always)]
    fn run(self) {
        self.0.run(&self.1);
    }
}

impl<T: Element, S: Store<T>> Work for By<'_, streams::Streams<'_>, T, S> {
    #[inline(always)]
    fn run(self) {
        self.0.run(&self.1);
    }
}

impl<T: Element, S: Store<T>> Work for By<'_, tile::Share<'_>, T, S> {
    #[inline(always)]
    fn run(self) {
        self.0.run(&self.1);
    }
}
