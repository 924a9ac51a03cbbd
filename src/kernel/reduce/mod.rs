//! Reductions of a [`Source`] over any of its axes.
//!
//! | the source | the way |
//! |---|---|
//! | elements with drop glue, or large ones (see [`can_leak`]) | `reduce_owned`: one element after the other |
//! | few elements | `Destination::write`: one block, without a nest |
//! | nothing is reduced | `Destination::write`, unless on several threads: a map |
//! | up to [`SMALL_NEST`] elements, in the order of the results | `Job::fold`: one fold, without a nest |
//! | everything else | `Job::run_large`: a nest, halved until it is one [`block`] |
//!
//! Along a kept loop, each half has its own outputs; along a reduced loop, the results of the halves are combined. Inputs that are
//! read again are copied as soon as their copies fit. Which loop is halved, and when, depends on the shape and the strides only, and
//! so does the order in which elements are combined: threads run the same halves.
//!
//! These functions are generic over the element type alone. For each closure, the compiler instantiates the loops of
//! [`ElementLoops`](super::nest::ElementLoops) and [`Fold`]. For common element types, this crate has compiled the functions: see
//! [`run`].

#![forbid(unsafe_code)]

mod block;
mod fold;
mod maps;

use block::{BlockShape, fold_block, place_to_halve, push_axes, results, results_fit};

use super::ensure;
use super::memory::{COPIES_BYTES, Reserved, STACK_BYTES, Scratch, Slots};
use super::nest::{
    Cloned, Compiled, Destination, Dropped, ErasedNest, Fold, FoldLoops, InputSet, LaneItem, Nest, Output,
    RawInputs, Reduction, SMALL_NEST, SharedVisitor, Source, Store, Written, can_leak, compiled_for,
    for_each_lane,
};
use super::operation::{Operation, Plus};
use super::order::AxisOrder;
use alloc::vec::Vec;
use ndarray::{Array, ArrayRef, Dimension};

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
    let kept = KeptOrder { inputs: source.inputs(), shape, dropped, ndim: reserved.shape().len() };
    let is_empty = shape.contains(&0);
    if const { can_leak::<A>() } && !is_empty {
        return reserved.filled_by(Some(&kept), |out| run(source, shape, Destination::slots(out), dropped));
    }
    // initialised: a panic drops the results stored so far
    let mut out = reserved.filled(Some(&kept), empty);
    if const { !can_leak::<A>() } && !is_empty {
        reduce_owned(source, shape, &mut out, dropped, &mut |out, result| *out = result);
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
        // shared by threads, each of which stores results in its own outputs
        let store = SharedVisitor::new(store);
        run(source, shape, Destination::elements(Output::of(out), &store), dropped);
    } else {
        reduce_owned(source, shape, out, dropped, &mut |out, result| { store }.visit(out, (&result,)));
    }
}

/// Combines the elements of each lane one after the other.
fn reduce_owned<A: Clone, D: Dimension>(
    source: &Source<'_, A>,
    shape: &[usize],
    out: &mut ArrayRef<A, D>,
    dropped: Dropped<'_>,
    store: &mut dyn FnMut(&mut A, A),
) {
    let (mut total, op) = (None, source.fold());
    for_each_lane(source, shape, Output::of(out), dropped, &mut |item| match item {
        LaneItem::Element(element) => {
            total = Some(match total.take() {
                None => element,
                Some(total) => op.apply(total, element),
            });
        }
        LaneItem::Output(out) => {
            if let Some(total) = total.take() {
                store(out, total);
            }
        }
    });
}

/// A reduction: its source, and the axes of the source that the results lack.
struct Job<'j, 'a, A> {
    source: &'j Source<'a, A>,
    shape: &'j [usize],
    dropped: Dropped<'j>,
}

/// Runs a reduction of elements that [can leak](can_leak).
#[inline]
fn run<'s, A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    destination: Destination<'_, 's, A>,
    dropped: Dropped<'_>,
) -> Written<'s> {
    ensure(const { can_leak::<A>() }, "elements that must be dropped");
    match compiled() {
        Some(compiled) => (compiled.reduce)(source, shape, destination, dropped),
        None => Job { source, shape, dropped }.run(destination),
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
        /// What this crate has compiled for elements `A`, if these are common ones. The compiler knows what a caller needs.
        #[inline(always)]
        fn compiled<'a, A: 'a>() -> Option<&'a Compiled<'a, A>> {
            $({
                static COMPILED: Compiled<'static, $A> = Compiled {
                    sums: &FoldLoops::new(Cloned, Plus),
                    reduce: |source, shape, out, dropped| Job { source, shape, dropped }.run(out),
                };
                if let Some(compiled) = compiled_for(&COMPILED) {
                    return Some(compiled);
                }
            })*
            None
        }
    };
}
compiled!(f32 f64);

impl<A: Clone> Job<'_, '_, A> {
    /// Runs the reduction, and stores its results.
    fn run<'s>(&self, destination: Destination<'_, 's, A>) -> Written<'s> {
        let len = self.shape.iter().fold(1, |len: usize, &size| len.saturating_mul(size));
        if len > SMALL_NEST.min(STACK_BYTES / size_of::<A>()) {
            let written = destination.write(self.source, self.shape, len, self.dropped);
            return written.unwrap_or_else(|destination| self.run_large(destination));
        }
        destination.fill_by(|slots| {
            let written = slots.write(self.source, self.shape, len, self.dropped);
            written.unwrap_or_else(|slots| {
                let mut shape = BlockShape::new();
                push_axes(&mut shape, self.shape, slots.shape(), self.dropped);
                match slots.into_slots() {
                    Ok(slots) => self.fold(&shape, slots),
                    Err(slots) => self.run_large(slots),
                }
            })
        })
    }

    /// Folds the elements in the order of the shape, which is that of the slots.
    #[inline(never)]
    fn fold<'t>(&self, shape: &[(usize, bool)], slots: Slots<'_, 't, A>) -> Written<'t> {
        let (mut buffer, len) = (Scratch::new(), self.shape.iter().product());
        let mut computed = buffer.vec(len);
        let elements = self.source.as_slice().unwrap_or_else(|| {
            computed.filled(len, |slots| self.source.fill(self.shape, slots));
            if let Some(prepare) = self.source.prepare() {
                prepare(&mut computed);
            }
            &computed
        });
        Written::appended(slots, |results| fold_block(self.source.fold(), shape, elements, results))
    }

    #[inline(never)]
    fn run_large<'t>(&self, destination: Destination<'_, 't, A>) -> Written<'t> {
        let mut erased = ErasedNest::new();
        match Nest::reducing(&mut erased, self.source, self.shape, Some(destination), self.dropped) {
            Some(nest) => reduce_halves(nest.arranged(), &mut Scratch::new()).0,
            None => Written::none(),
        }
    }
}

/// Stores the results of a nest, or returns them in the order of the kept loops if it has no output. As soon as its results fit
/// into a block, they are computed without the output. `memory` is for a block.
fn reduce_halves<'s, A: Clone>(
    nest: Nest<'_, Reduction<'_, 's, A>>,
    memory: &mut Scratch,
) -> (Written<'s>, Vec<A>) {
    if nest.has_output() && results_fit(nest.loops(), size_of::<A>()) {
        return (store_results(nest, memory), Vec::new());
    }
    if let (copied, 1..=COPIES_BYTES) = nest.to_copy() {
        return reduce_copied(nest, copied, memory);
    }
    let Some(place) = place_to_halve(&nest) else {
        return (Written::none(), results(nest, memory).to_vec());
    };
    let (is_kept, op) = (nest.loops()[place].is_kept(), nest.fold());
    let [(mut written, mut results), (more, others)] = nest.run_halves(place, memory, reduce_halves);
    written.add(more);
    if is_kept {
        results.extend(others);
    } else {
        op.add_row(&mut results, &others);
    }
    (written, results)
}

#[inline(never)]
fn reduce_copied<'s, A: Clone>(
    nest: Nest<'_, Reduction<'_, 's, A>>,
    copied: InputSet,
    memory: &mut Scratch,
) -> (Written<'s>, Vec<A>) {
    reduce_halves(nest.with_copies(copied, &mut Scratch::new()), memory)
}

#[inline(never)]
fn store_results<'s, A: Clone>(nest: Nest<'_, Reduction<'_, 's, A>>, memory: &mut Scratch) -> Written<'s> {
    let mut erased = ErasedNest::new();
    let nest = nest.with_long_rows();
    let inputs = nest.inputs(&mut erased).turned();
    if place_to_halve(&inputs).is_some() || inputs.to_copy().1 > 0 {
        return nest.store_results(&reduce_halves(inputs, memory).1);
    }
    nest.store_results(&results(inputs, memory))
}

/// The order of a result's axes in memory: that of the inputs' axes that it keeps.
struct KeptOrder<'a> {
    inputs: &'a RawInputs<'a>,
    shape: &'a [usize],
    dropped: Dropped<'a>,
    ndim: usize,
}

impl AxisOrder for KeptOrder<'_> {
    fn is_inside(&self, _: &[usize], former: usize, latter: usize) -> Option<bool> {
        let shape = self.shape;
        let leading = shape.len() - self.ndim;
        let is_kept = |&axis: &usize| !self.dropped.map_or(axis < leading, |axes| axes.contains(axis));
        let mut kept = (0..shape.len()).filter(is_kept);
        let first = kept.nth(former.min(latter))?;
        let second = kept.nth(former.abs_diff(latter) - 1)?;
        let (former, latter) = if former < latter { (first, second) } else { (second, first) };
        self.inputs.is_inside(shape, former, latter)
    }
}
