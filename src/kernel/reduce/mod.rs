//! Reductions of a [`Source`] over any of its axes.
//!
//! A large reduction is halved along its outermost loop until the parts are small enough: along a kept loop, both halves
//! have outputs of their own; along a reduced one, their results are combined. [`block`] reduces a part. The order in which
//! elements are combined depends on the shape and the strides only: threads run the same halves.

#![forbid(unsafe_code)]

mod block;
mod fold;

use fold::Results;

use super::map::each;
use super::memory::{BUFFER, Buffer, Reserved, Slot, vec_of};
use super::nest::{
    Dropped, Inputs, Loop, Nest, Output, Raw, Rows, SMALL, State, Types, Visit, Written, steps,
};
use super::operation::Operation;
use super::order::AxisOrder;
use super::source::{Cloned, Fill, Source};
use super::threads::{Executor, GRAIN, Total};
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::{needs_drop, replace};
use core::ops::Mul;
use ndarray::{Array, ArrayRef, Dimension, arr0};
use num_traits::Zero;

/// What becomes of results: [`New`] or [`Store`].
pub(crate) trait Put<T, A>: Copy {
    type Done: Total;

    /// Puts results into outputs.
    fn put(self, rows: Rows<'_, T, (A,)>) -> Self::Done;
}

/// Results are written to the slots of a new array.
#[derive(Clone, Copy)]
pub(crate) struct New;

impl<'s, A: Clone> Put<Slot<'s, A>, A> for New {
    type Done = Written<'s>;

    #[inline]
    fn put(self, rows: Rows<'_, Slot<'s, A>, (A,)>) -> Written<'s> {
        rows.fill(&mut Cloned)
    }
}

/// Results go to the elements that there are.
pub(crate) struct Store<'f, A> {
    /// Puts results into rows, by the factor if there is one. A pointer for rows: called for each element, it would not
    /// vectorise.
    put: fn(Rows<'_, A, (A,)>, Option<&A>),
    factor: Option<&'f A>,
}

impl<A> Clone for Store<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Store<'_, A> {}

impl<A: Clone> Put<A, A> for Store<'_, A> {
    type Done = ();

    #[inline]
    fn put(self, rows: Rows<'_, A, (A,)>) {
        (self.put)(rows, self.factor);
    }
}

impl<'f, A: Clone> Store<'f, A> {
    /// Results replace the outputs.
    pub(crate) fn replacing() -> Self {
        Self { put: |rows, _| rows.visit(&mut Cloned), factor: None }
    }

    /// Results are added to the outputs.
    pub(crate) fn adding() -> Self
    where
        A: Zero,
    {
        Self { put: |rows, _| rows.visit(&mut Add), factor: None }
    }

    /// Results, multiplied by `factor`, are added to the outputs.
    pub(crate) fn adding_scaled(factor: &'f A) -> Self
    where
        A: Zero + Mul<Output = A>,
    {
        let put = |rows: Rows<'_, A, (A,)>, factor: Option<&A>| {
            if let Some(factor) = factor {
                rows.visit(&mut AddScaled(factor));
            }
        };
        Self { put, factor: Some(factor) }
    }
}

/// An executor of reductions of `S` by `O`.
pub(crate) trait Reduces<A, S: Source<A>, O: Operation<A>>:
    for<'s> Executor<Slot<'s, A>, S::Elems, Job<A, S, O, Self, New>, Written<'s>>
    + for<'f> Executor<A, S::Elems, Job<A, S, O, Self, Store<'f, A>>, ()>
    + Executor<(), S::Elems, Buffered<A, S, O, Self>, Vec<A>>
where
    A: Clone,
{
}

impl<A: Clone, S: Source<A>, O: Operation<A>, X> Reduces<A, S, O> for X where
    X: for<'s> Executor<Slot<'s, A>, S::Elems, Job<A, S, O, X, New>, Written<'s>>
        + for<'f> Executor<A, S::Elems, Job<A, S, O, X, Store<'f, A>>, ()>
        + Executor<(), S::Elems, Buffered<A, S, O, X>, Vec<A>>
{
}

/// Reduces `source` to a new array, whose axes have the input's order in memory.
///
/// The axes of the result are those that are not `dropped`, in order, of equal size or of size 1.
///
/// # Panics
/// If the shapes do not fit.
#[inline]
pub(crate) fn to_new<A: Clone, S: Source<A>, O: Operation<A>, D: Dimension>(
    source: S,
    reserved: Reserved<A, D>,
    dropped: Dropped<'_>,
    op: O,
    executor: impl Reduces<A, S, O>,
) -> Array<A, D> {
    if is_small(&source, reserved.shape()) {
        let mut results = Results::new();
        reduce_small(&source, op, reserved.shape(), dropped, &mut results);
        return reserved.cloned(&*results);
    }
    let order = &KeptOrder { source, dropped, ndim: reserved.shape().len(), elements: PhantomData };
    if const { needs_drop::<A>() } || source.shape().contains(&0) {
        // initialised, so that a panic does not leak the results that were stored before it
        let mut out = reserved.filled(Some(order), op.identity());
        if !source.shape().contains(&0) {
            into(source, &mut out, dropped, op, Store::replacing(), executor);
        }
        return out;
    }
    reserved.written(Some(order), |out| pass(source, out, dropped, op, New, executor))
}

/// Reduces `source` into an array: `store` puts each result into its output. See [`to_new`].
///
/// # Panics
/// If the shapes do not fit.
#[inline]
pub(crate) fn into<A: Clone, S: Source<A>, O: Operation<A>, D: Dimension>(
    source: S,
    out: &mut ArrayRef<A, D>,
    dropped: Dropped<'_>,
    op: O,
    store: Store<'_, A>,
    executor: impl Reduces<A, S, O>,
) {
    if source.shape().contains(&0) {
        return each(out, &Inputs::from((&*arr0(op.identity()),)), &mut |rows| store.put(rows));
    }
    if is_small(&source, out.shape()) {
        let mut results = Results::new();
        reduce_small(&source, op, out.shape(), dropped, &mut results);
        let mut state = State::new();
        if let Some(nest) = Nest::over(&mut state, source.shape(), Output::of(out), dropped, source.inputs())
        {
            nest.erased(|raw, types| types.with_results(raw, &results, &mut |rows| store.put(rows)));
        }
        return;
    }
    pass(source, Output::of(out), dropped, op, store, executor);
}

/// Whether [`reduce_small`] serves: the source has few elements, and its results have the order of the shape.
#[inline]
fn is_small<A: Clone, S: Source<A>>(source: &S, out: &[usize]) -> bool {
    if !const { block::is_forgettable::<A>() } {
        return false;
    }
    let most = const { if SMALL < Results::<A>::MOST { SMALL } else { Results::<A>::MOST } };
    if let Some(elements) = source.as_slice() {
        return elements.len() <= most;
    }
    let len = source.shape().iter().fold(1, |len: usize, &size| len.saturating_mul(size));
    let is_row = || out.iter().filter(|&&size| size > 1).count() < 2;
    len > 0 && len <= most && (source.inputs().are_standard() || is_row())
}

/// Reduces a source of a few elements without arranging its loops.
#[inline]
fn reduce_small<A: Clone, S: Source<A>, O: Operation<A>>(
    source: &S,
    op: O,
    out: &[usize],
    dropped: Dropped<'_>,
    results: &mut Results<A>,
) {
    let sides = &block::Sides::of_axes(source.shape(), out, dropped);
    match source.as_slice() {
        Some(elements) => fold::fold(op, sides, elements, results),
        None => fold_buffered(source, op, sides, results),
    }
}

/// Folds the elements of a source in the order of its shape, through a buffer.
#[inline(never)]
fn fold_buffered<A: Clone, S: Source<A>, O: Operation<A>>(
    source: &S,
    op: O,
    sides: &block::Sides,
    results: &mut Results<A>,
) {
    let mut state = State::new();
    let Some(nest) = Nest::over(&mut state, source.shape(), Output::none(), None, source.inputs()) else {
        return;
    };
    nest.erased(|raw, types: Types<'_, (), S::Elems>| {
        let mut buffer = Buffer::new();
        let elements = source.fill(types).buffered(raw, &mut buffer);
        fold::fold(op, sides, elements, results);
    });
}

#[inline(never)]
fn pass<T, A: Clone, S: Source<A>, O: Operation<A>, P: Put<T, A>, X>(
    source: S,
    out: Output<'_, T>,
    dropped: Dropped<'_>,
    op: O,
    put: P,
    executor: X,
) -> P::Done
where
    X: Executor<T, S::Elems, Job<A, S, O, X, P>, P::Done>
        + Executor<(), S::Elems, Buffered<A, S, O, X>, Vec<A>>,
{
    let mut state = State::new();
    let Some(mut nest) = Nest::over(&mut state, source.shape(), out, dropped, source.inputs()) else {
        return P::Done::none();
    };
    nest.arrange(1);
    Job { put, buffered: Buffered { source, op, executor, elements: PhantomData } }.run(nest)
}

/// A reduction, for each part of its nest.
pub(crate) struct Job<A, S, O, X, P> {
    put: P,
    buffered: Buffered<A, S, O, X>,
}

/// A reduction to a buffer of results, in the order of the kept loops.
pub(crate) struct Buffered<A, S, O, X> {
    source: S,
    op: O,
    executor: X,
    elements: PhantomData<fn() -> A>,
}

/// The loop to halve, if the nest is large: the outermost one, or the outermost kept one if there are more results than a
/// buffer holds, which would be combined from two halves.
fn place_to_halve(loops: &[Loop], size: usize, is_forgettable: bool) -> Option<usize> {
    if !is_forgettable || steps(loops) / 2 < GRAIN {
        return None;
    }
    let is_kept = |l: &Loop| l.is_kept();
    let mut results = 1_usize;
    for l in loops.iter().filter(|l| l.is_kept()) {
        results = results.saturating_mul(l.len());
    }
    if results > BUFFER / size { loops.iter().position(is_kept) } else { Some(0) }
}

impl<A: Clone, S: Source<A>, O: Operation<A>, X, P> Job<A, S, O, X, P> {
    fn run<T>(&self, nest: Nest<'_, T, S::Elems>) -> P::Done
    where
        P: Put<T, A>,
        X: Executor<T, S::Elems, Self, P::Done> + Executor<(), S::Elems, Buffered<A, S, O, X>, Vec<A>>,
    {
        let Buffered { source, op, executor, .. } = self.buffered;
        match place_to_halve(nest.loops(), size_of::<A>(), const { block::is_forgettable::<A>() }) {
            None => leaf(source, op, self.put, nest),
            Some(place) if nest.loops()[place].is_kept() => {
                let [mut done, more] = executor.both(self, nest.halves(place, &mut State::new()), Self::run);
                done.add(more);
                done
            }
            Some(_) => {
                let results = self.buffered.run(nest.inputs(&mut State::new()));
                let mut done = P::Done::none();
                nest.erased(|raw, types| {
                    types.with_results(raw, &results, &mut |rows| done.add(self.put.put(rows)));
                });
                done
            }
        }
    }
}

impl<A: Clone, S: Source<A>, O: Operation<A>, X> Buffered<A, S, O, X> {
    fn run(&self, nest: Nest<'_, (), S::Elems>) -> Vec<A>
    where
        X: Executor<(), S::Elems, Self, Vec<A>>,
    {
        let Some(place) = place_to_halve(nest.loops(), size_of::<A>(), true) else {
            let len = nest.loops().iter().filter(|l| l.is_kept()).map(Loop::len).product();
            return vec_of(len, |slots| leaf(self.source, self.op, New, nest.onto(slots)));
        };
        let is_kept = nest.loops()[place].is_kept();
        let [mut first, second] = self.executor.both(self, nest.halves(place, &mut State::new()), Self::run);
        if is_kept {
            first.extend(second);
        } else {
            fold::add_rows(self.op, &mut first, &[&second]);
        }
        first
    }
}

/// Reduces a nest that is not halved.
fn leaf<T, A: Clone, S: Source<A>, O: Operation<A>, P: Put<T, A>>(
    source: S,
    op: O,
    put: P,
    nest: Nest<'_, T, S::Elems>,
) -> P::Done {
    let mut done = P::Done::none();
    nest.erased(|raw, types: Types<'_, T, S::Elems>| {
        let fill = &mut source.fill(types.inputs());
        block::reduce(raw, op, fill, &mut |part: Raw<'_, '_>, results: &[A]| {
            types.with_results(part, results, &mut |rows| done.add(put.put(rows)));
        });
    });
    done
}

/// Adds a result to the output.
struct Add;

impl<A: Clone + Zero> Visit<A, (A,)> for Add {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (result,): (&A,)) {
        add(out, result.clone());
    }
}

/// Adds a result, multiplied by the factor, to the output.
struct AddScaled<'f, A>(&'f A);

impl<A: Clone + Zero + Mul<Output = A>> Visit<A, (A,)> for AddScaled<'_, A> {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (result,): (&A,)) {
        add(out, self.0.clone() * result.clone());
    }
}

/// Adds to a number, which is not copied if it owns memory.
#[inline(always)]
fn add<A: Clone + Zero>(out: &mut A, more: A) {
    let before = if const { needs_drop::<A>() } { replace(out, A::zero()) } else { out.clone() };
    *out = before + more;
}

/// The order of a result's axes: that of the axes of the inputs from which they are.
struct KeptOrder<'a, A, S> {
    source: S,
    dropped: Dropped<'a>,
    ndim: usize,
    elements: PhantomData<fn() -> A>,
}

impl<A, S: Source<A>> AxisOrder for KeptOrder<'_, A, S> {
    fn is_inside(&self, _: &[usize], former: usize, latter: usize) -> Option<bool> {
        let shape = self.source.shape();
        let leading = shape.len() - self.ndim;
        let is_kept = |&axis: &usize| !self.dropped.map_or(axis < leading, |axes| axes.contains(axis));
        let mut kept = (0..shape.len()).filter(is_kept);
        let first = kept.nth(former.min(latter))?;
        let second = kept.nth(former.abs_diff(latter) - 1)?;
        let (former, latter) = if former < latter { (first, second) } else { (second, first) };
        self.source.inputs().is_inside(shape, former, latter)
    }
}
