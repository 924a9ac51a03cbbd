//! Reductions of a [`Source`] over any of its axes.
//!
//! Which way a reduction takes is in the table of the [kernel](super#the-way-of-a-reduction).
//!
//! Along a kept loop, each half has its own outputs; along a reduced loop, the results of the halves are combined. Inputs that are
//! read again are copied as soon as their copies fit. Which loop is halved, and when, depends on the shape and the strides only, and
//! so does the order in which elements are combined: threads run the same halves.
//!
//! These functions are generic over the element type alone. For each closure, the compiler instantiates the loops of
//! `ElementLoops` and [`Fold`]. For common element types, this crate has compiled the functions: see
//! [`run`].

#![forbid(unsafe_code)]

mod block;
mod fold;

#[cfg(test)]
pub(crate) use block::fill;

use block::{BlockShape, halved_loop, place_to_halve, push_axes, reduce_block, scratch_len};
use fold::fold;

use super::map::{visit, visit_nest};
use super::memory::{BLOCK_BYTES, COPIES_BYTES, Reserved, STACK_BYTES, Scratch};
use super::nest::{
    Cloned, Compiled, DenseAxes, Dropped, ErasedNest, Fold, FoldLoops, InputSet, Inputs, Job, Nest, Output,
    RawInputs, Reduction, RunHalf, SMALL_NEST, SharedVisitor, Source, Store, can_leak, compiled_for,
    reduce_owned,
};
use super::operation::{Operation, Plus};
use alloc::vec::Vec;
use ndarray::{Array, ArrayRef, Dimension, Ix0};

/// Reduces `source`, which has this `shape`, to a new array. Its axes are ordered in memory as those of the inputs.
///
/// The result has the axes of the shape that are not `dropped`, in order, each with the same size or with size 1. `empty` is the
/// result of a lane without elements.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn to_new<A: Clone, D: Dimension>(
    source: &Source<'_, A>,
    shape: &[usize],
    reserved: Reserved<A, D>,
    dropped: Dropped<'_>,
    empty: A,
) -> Array<A, D> {
    if let Some(total) = if reserved.shape().is_empty() { source.few(shape) } else { None } {
        return reserved.filled(None, total);
    }
    let kept = kept_order(source.inputs(), shape, dropped, reserved.shape().len());
    let order = source.inputs().unless_in_order(reserved.shape().len(), &kept);
    let is_empty = shape.contains(&0);
    if const { can_leak::<A>() } && !is_empty {
        return reserved.filled_by(order, |out| run(Job::to_slots(source, shape, dropped, out)));
    }
    // initialised: a panic drops the results stored so far
    let mut out = reserved.filled(order, empty);
    if const { !can_leak::<A>() } && !is_empty {
        reduce_owned(source, shape, Output::of(&mut out), dropped, &mut |out, result| *out = result);
    }
    out
}

/// Reduces `source` into an array. `store` stores each result in its output. See [`to_new`] for the arguments.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn into<A: Clone, D: Dimension>(
    source: &Source<'_, A>,
    shape: &[usize],
    out: &mut ArrayRef<A, D>,
    dropped: Dropped<'_>,
    empty: &A,
    store: impl Store<A>,
) {
    if shape.contains(&0) {
        return out.iter_mut().for_each(|out| { store }.visit(out, (empty,)));
    }
    if const { can_leak::<A>() } {
        // threads share it, and each stores results in its own outputs
        let store = SharedVisitor::shared(store);
        run(Job::to_elements(source, shape, dropped, Output::of(out), &store));
    } else {
        let store = &mut |out: &mut A, result| { store }.visit(out, (&result,));
        reduce_owned(source, shape, Output::of(out), dropped, store);
    }
}

/// Reduces all of `source` to one element, with the bits that [`to_new`] gives. See there for the arguments.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn to_one<A: Clone>(source: &Source<'_, A>, shape: &[usize], empty: A) -> A {
    let reserved = || Reserved::scratch(Ix0());
    source.few(shape).unwrap_or_else(|| to_new(source, shape, reserved(), None, empty).into_scalar())
}

/// Runs a reduction of elements that [can leak](can_leak), as this crate has compiled it for them, if it has.
#[inline]
fn run<A: Clone>(job: Job<'_, A>) {
    match compiled() {
        Some(compiled) => (compiled.reduce)(job),
        None => reduce(job),
    }
}

/// The loops that combine elements: those that this crate has compiled, if it has.
#[inline(always)]
pub(crate) fn fold_of<A: Clone, O: Operation<A> + Sync>(loops: &FoldLoops<A, O>) -> &(dyn Fold<A> + Sync) {
    match compiled() {
        Some(compiled) if const { O::IS_PLUS } => compiled.sums,
        _ => loops,
    }
}

macro_rules! compiled {
    ($($A:ident)*) => {
        /// The functions that this crate has compiled for elements `A`, if these are common ones. The compiler knows which of them a
        /// caller needs.
        #[inline(always)]
        fn compiled<'a, A: 'a>() -> Option<&'a Compiled<'a, A>> {
            $({
                static COMPILED: Compiled<'static, $A> =
                    Compiled { sums: &FoldLoops::new(Cloned, Plus), reduce: |job| reduce(job) };
                if let Some(compiled) = compiled_for(&COMPILED) {
                    return Some(compiled);
                }
            })*
            None
        }
    };
}
compiled!(f32 f64);

/// Runs a reduction. Each way returns it if it is not for it.
fn reduce<A: Clone>(job: Job<'_, A>) {
    let (source, len) = (job.source, job.shape.iter().fold(1, |len: usize, &size| len.saturating_mul(size)));
    let are_at_most = |bytes: usize| len <= SMALL_NEST.min(bytes / size_of::<A>());
    // as many as may be reduced without a nest to slots
    if !job.has_slots() && len <= SMALL_NEST {
        return store_few(job);
    }
    let (slice, is_map) = (source.as_slice(), len == job.out_shape().iter().product());
    let visited = job.visit_few(slice.is_some()).or_else(|job| match slice {
        _ if is_map && source.join().is_none() => job.into_pass().map(visit_nest),
        Some(elements) if are_at_most(BLOCK_BYTES) => fold_slice(job, elements),
        // for fewer elements, to arrange the nest takes longer than to read gaps
        _ if are_at_most(STACK_BYTES) => reduce_in_order(job),
        _ if are_at_most(BLOCK_BYTES) && source.inputs().are_in_standard_layout() => reduce_in_order(job),
        _ => Err(job),
    });
    visited.unwrap_or_else(reduce_nest);
}

/// Stores the results of few elements. They are written to slots first, in the order of a new array: so they have its bits.
#[inline(never)]
fn store_few<A: Clone>(job: Job<'_, A>) {
    let (sizes, inputs, mut scratch) = (job.out_shape(), job.source.inputs(), Scratch::new());
    let (kept, len) = (kept_order(inputs, job.shape, job.dropped, sizes.len()), sizes.iter().product());
    let axes = DenseAxes::new(sizes, inputs.unless_in_order(sizes.len(), &kept));
    let mut results = scratch.vec::<A>(len);
    let results = results.filled(len, |slots| reduce(job.filling(slots, &axes)));
    visit(job.store_pass(&Inputs::contiguous(results, &axes)));
}

/// Folds the elements of a slice in the order of the shape, if it is that of slots.
#[inline(never)]
fn fold_slice<'j, A: Clone>(job: Job<'j, A>, elements: &[A]) -> Result<(), Job<'j, A>> {
    let (source, shape, out, dropped) = (job.source, job.shape, job.out_shape(), job.dropped);
    job.into_slots().map(|slots| {
        let (mut axes, mut scratch) = (BlockShape::new(), Scratch::new());
        push_axes(&mut axes, shape, out, dropped);
        let mut scratch = scratch.vec(scratch_len(&axes, elements.len()));
        slots.append(|to| fold(source.fold(), &axes, elements, to, &mut scratch));
    })
}

/// Reduces few elements as one block, in the order of the shape, if it is that of slots.
#[inline(never)]
fn reduce_in_order<A: Clone>(job: Job<'_, A>) -> Result<(), Job<'_, A>> {
    let mut erased = ErasedNest::new();
    job.in_order(&mut erased).map(|(slots, nest)| {
        let way = nest.way();
        slots.append(|to| to.extend(&reduce_block(nest, way, &mut Scratch::new())));
    })
}

#[inline(never)]
fn reduce_nest<A: Clone>(job: Job<'_, A>) {
    let mut erased = ErasedNest::new();
    let Some(mut nest) = job.nest(&mut erased) else { return };
    nest.arrange(1);
    store_halves(nest, &mut Scratch::new());
}

/// Stores the results of a nest: of halves of its kept loops, until the results of a half fit into a block. `memory` is for a block.
fn store_halves<A: Clone>(nest: Nest<'_, Reduction<'_, A>>, memory: &mut Scratch) {
    let kept = nest.loops().iter().filter(|l| l.kept).map(|l| l.len);
    if kept.fold(1, usize::saturating_mul) <= BLOCK_BYTES / size_of::<A>() {
        return store_block(nest, memory);
    }
    if let (copied, 1..=COPIES_BYTES) = nest.to_copy() {
        return reduce_copied(nest, copied, memory, store_halves);
    }
    let place = halved_loop(&nest, &|place| nest.loops()[place].kept, None).expect("a kept loop");
    nest.run_halves(place, memory, store_halves, |_, ()| false);
}

/// Stores the results of a nest. They fit into a block.
#[inline(never)]
fn store_block<A: Clone>(nest: Nest<'_, Reduction<'_, A>>, memory: &mut Scratch) {
    let (nest, mut erased) = (nest.with_long_rows(), ErasedNest::new());
    let inputs = nest.without_output(&mut erased).turned();
    let way = inputs.way();
    // most often, all is one block, whose results need no `Vec`
    if place_to_halve(&inputs, way).is_none() {
        return nest.store_results(&reduce_block(inputs, way, memory));
    }
    nest.store_results(&reduce_halves(inputs, memory));
}

/// The results of a nest without outputs, in the order of its kept loops.
fn reduce_halves<A: Clone>(nest: Nest<'_, Reduction<'_, A>>, memory: &mut Scratch) -> Vec<A> {
    if let (copied, 1..=COPIES_BYTES) = nest.to_copy() {
        return reduce_copied(nest, copied, memory, reduce_halves);
    }
    let way = nest.way();
    let Some(place) = place_to_halve(&nest, way) else { return reduce_block(nest, way, memory).to_vec() };
    let (is_kept, op) = (nest.loops()[place].kept, nest.source().fold());
    let [mut results, others] =
        nest.run_halves(place, memory, reduce_halves, |op, results| op.are_final(results));
    if is_kept {
        results.extend(others);
    } else {
        op.add_row(&mut results, &others);
    }
    results
}

/// Runs a nest that reads copies of some inputs.
#[inline(never)]
fn reduce_copied<'a, A: Clone, R>(
    nest: Nest<'_, Reduction<'a, A>>,
    copied: InputSet,
    memory: &mut Scratch,
    run: RunHalf<'a, A, R>,
) -> R {
    run(nest.with_copies(copied, &mut Scratch::new()), memory)
}

/// The order of a result's axes in memory: that of the inputs' axes that it keeps.
fn kept_order<'a>(
    inputs: &'a RawInputs<'a>,
    shape: &'a [usize],
    dropped: Dropped<'a>,
    ndim: usize,
) -> impl Fn(&[usize], usize, usize) -> Option<bool> + 'a {
    let is_kept = move |&axis: &usize| !dropped.map_or(axis + ndim < shape.len(), |axes| axes.contains(axis));
    let axis_of = move |place: usize| (0..shape.len()).filter(is_kept).nth(place);
    move |_, former, latter| inputs.is_inside(shape, axis_of(former)?, axis_of(latter)?)
}
