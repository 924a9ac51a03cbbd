//! Reductions of a [`Source`] over any of its axes.
//!
//! A large reduction is halved along its outermost loop until the parts are small enough: along a kept loop, both halves
//! have outputs of their own; along a reduced one, their results are combined. [`block`] reduces a part. The order in which
//! elements are combined depends on the shape and the strides only: threads run the same halves.
//!
//! What reduces elements that are numbers of a common type is compiled in this crate: see [`run`].

#![forbid(unsafe_code)]

mod block;
mod fold;

pub(crate) use fold::{Fold, Loops};

use block::Sides;
use fold::{Results, fold};

use super::ensure;
use super::memory::{BUFFER, Reserved, Room, filled};
use super::nest::{
    Dropped, Item, Loop, Nest, Output, Reads, Reduction, RowsOf, SMALL, SharedVisitor, State, Target, Visit,
    Written, for_each_lane, is_forgettable, steps,
};
use super::operation::{Operation, Plus};
use super::order::AxisOrder;
use super::simd::as_known;
use super::source::Source;
use super::threads::GRAIN;
use alloc::vec::Vec;
use ndarray::{Array, ArrayRef, Dimension};

/// Reduces `source` to a new array, whose axes have the input's order in memory.
///
/// The axes of the result are those that are not `dropped`, in order, of equal size or of size 1.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn to_new<A: Clone, O: Operation<A>, D: Dimension>(
    source: &Source<'_, A>,
    reserved: Reserved<A, D>,
    dropped: Dropped<'_>,
    op: O,
) -> Array<A, D> {
    let kept = KeptOrder { reads: source.reads, shape: source.shape, dropped, ndim: reserved.shape().len() };
    let is_empty = source.shape.contains(&0);
    if const { is_forgettable::<A>() } && !is_empty {
        let is_small = is_small(source.reads, source.shape, reserved.shape(), size_of::<A>());
        let order = if is_small { None } else { Some(&kept as _) };
        return reserved.written(order, &mut |out| run(source, Target::New(out), dropped, op, is_small));
    }
    // initialised, so that a panic does not leak the results that were stored before it
    let mut out = reserved.filled(Some(&kept), op.identity());
    if const { !is_forgettable::<A>() } {
        if !is_empty {
            let store = |out: &mut A, result| *out = result;
            for_each_lane(source, Output::of(&mut out), dropped, &mut one_by_one(op, &store));
        }
    }
    out
}

/// Reduces `source` into an array: `store` puts each result into its output. See [`to_new`].
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn into<A: Clone, O: Operation<A>, D: Dimension>(
    source: &Source<'_, A>,
    out: &mut ArrayRef<A, D>,
    dropped: Dropped<'_>,
    op: O,
    store: impl Visit<A, (A,)> + Copy,
) {
    let put = |out: &mut A, result: A| { store }.visit(out, (&result,));
    if source.shape.contains(&0) {
        return out.iter_mut().for_each(|out| put(out, op.identity()));
    }
    if const { is_forgettable::<A>() } {
        let is_small = is_small(source.reads, source.shape, out.shape(), size_of::<A>());
        // shared: threads put results, each into outputs of its own
        let rows: &dyn RowsOf<A, (A,)> = &SharedVisitor::new(store);
        run(source, Target::Old(Output::of(out), rows), dropped, op, is_small);
    } else {
        for_each_lane(source, Output::of(out), dropped, &mut one_by_one(op, &put));
    }
}

/// Combines the elements of lanes one by one.
fn one_by_one<A, O: Operation<A>>(op: O, store: &impl Fn(&mut A, A)) -> impl FnMut(Item<'_, A>) {
    let mut result = None;
    move |item| match item {
        Item::Element(element) => {
            result = Some(match result.take() {
                None => element,
                Some(result) => op.apply(result, element),
            });
        }
        Item::Output(out) => {
            if let Some(result) = result.take() {
                store(out, result);
            }
        }
    }
}

/// What is to be reduced, and how.
pub(crate) struct Job<'j, 's, A> {
    source: &'j Source<'j, A>,
    target: Option<Target<'j, 's, A>>,
    dropped: Dropped<'j>,
    /// The loops of the operation, if it is not addition.
    loops: Option<&'j dyn Fold<A>>,
    is_small: bool,
}

/// Reduces elements that are forgettable.
#[inline]
fn run<'s, A: Clone, O: Operation<A>>(
    source: &Source<'_, A>,
    target: Target<'_, 's, A>,
    dropped: Dropped<'_>,
    op: O,
    is_small: bool,
) -> Written<'s> {
    ensure(const { is_forgettable::<A>() }, "elements that may be forgotten");
    let loops = Loops::<_, false>(op);
    let loops: Option<&dyn Fold<A>> = if const { O::IS_PLUS } { None } else { Some(&loops) };
    let mut job = Job { source, target: Some(target), dropped, loops, is_small };
    match known(&mut job) {
        Some(written) => written,
        None if const { O::IS_PLUS } => job.run(&Loops::<_, true>(op)),
        None => job.run(&Loops::<_, false>(op)),
    }
}

macro_rules! known {
    ($($A:ident)*) => {
        /// Reduces elements of a type that is known. For each there is a function that is not generic, so that it is compiled in
        /// this crate; a program knows which one it calls when it is compiled.
        #[inline(always)]
        fn known<'s, A>(job: &mut Job<'_, 's, A>) -> Option<Written<'s>> {
            $(if let Some(job) = as_known::<A, $A>(job) {
                return Some(of::$A(job));
            })*
            None
        }

        mod of {
            use super::*;

            $(#[inline(never)]
            pub(super) fn $A<'s>(job: &mut Job<'_, 's, core::primitive::$A>) -> Written<'s> {
                job.run(&Loops::<_, false>(Plus))
            })*
        }
    };
}
known!(f32 f64 i32 i64 u8 u32 u64 usize);

/// Whether [`small`] serves: the source has few elements, and its results have the order of the shape.
fn is_small(reads: &Reads<'_>, shape: &[usize], out: &[usize], size: usize) -> bool {
    let most = SMALL.min(BUFFER / 2 / size);
    let len = shape.iter().fold(1, |len: usize, &size| len.saturating_mul(size));
    let is_row = || out.iter().filter(|&&size| size > 1).count() < 2;
    len > 0 && len <= most && (reads.are_standard() || is_row())
}

/// The loop to halve, if the nest is large: the outermost one, or the outermost kept one if there are more results than a
/// buffer holds, which would be combined from two halves.
fn place_to_halve(loops: &[Loop], size: usize) -> Option<usize> {
    if steps(loops) / 2 < GRAIN {
        return None;
    }
    let is_kept = |l: &Loop| l.is_kept();
    let mut results = 1_usize;
    for l in loops.iter().filter(|l| l.is_kept()) {
        results = results.saturating_mul(l.len());
    }
    if results > BUFFER / size { loops.iter().position(is_kept) } else { Some(0) }
}

impl<'s, A: Clone> Job<'_, 's, A> {
    /// Reduces to the target.
    fn run(&mut self, sum: &dyn Fold<A>) -> Written<'s> {
        let (source, dropped, op) = (self.source, self.dropped, self.loops.unwrap_or(sum));
        match self.target.take() {
            None => Written::none(),
            Some(target) if self.is_small => small(op, source, target, dropped),
            Some(target) => large(op, source, target, dropped),
        }
    }
}

#[inline(never)]
fn large<'s, A: Clone>(
    op: &dyn Fold<A>,
    source: &Source<'_, A>,
    target: Target<'_, 's, A>,
    dropped: Dropped<'_>,
) -> Written<'s> {
    let mut state = State::new();
    let Some(mut nest) = Nest::reducing(&mut state, source, Some(target), dropped) else {
        return Written::none();
    };
    nest.arrange(1);
    halved(op, nest)
}

/// Reduces a source of a few elements without arranging its loops.
fn small<'s, A: Clone>(
    op: &dyn Fold<A>,
    source: &Source<'_, A>,
    target: Target<'_, 's, A>,
    dropped: Dropped<'_>,
) -> Written<'s> {
    let mut sides = Sides::new();
    let out = match &target {
        Target::New(out) => out.shape(),
        Target::Old(out, _) => out.shape(),
    };
    sides.push_axes(source.shape, out, dropped);
    let target = match target {
        Target::New(out) => match out.into_slots() {
            Ok(slots) => return Written::appended(slots, |room| fold_small(op, source, &sides, room)),
            Err(out) => Target::New(out),
        },
        target => target,
    };
    store_small(op, source, &sides, target, dropped)
}

#[inline(never)]
fn store_small<'s, A: Clone>(
    op: &dyn Fold<A>,
    source: &Source<'_, A>,
    sides: &Sides,
    target: Target<'_, 's, A>,
    dropped: Dropped<'_>,
) -> Written<'s> {
    let mut memory = Results::new();
    let mut results = memory.room(sides.kept());
    fold_small(op, source, sides, &mut results);
    match Nest::reducing(&mut State::new(), source, Some(target), dropped) {
        Some(nest) => nest.put(&results),
        None => Written::none(),
    }
}

/// Folds the elements of a source in the order of its shape.
fn fold_small<A: Clone>(op: &dyn Fold<A>, source: &Source<'_, A>, sides: &Sides, to: &mut Room<'_, A>) {
    match source.as_slice() {
        Some(elements) => fold(op, sides, elements, to),
        None => fold_buffered(op, source, sides, to),
    }
}

#[inline(never)]
fn fold_buffered<A: Clone>(op: &dyn Fold<A>, source: &Source<'_, A>, sides: &Sides, to: &mut Room<'_, A>) {
    let (mut buffer, len) = (Results::new(), source.shape.iter().product());
    fold(op, sides, buffer.room(len).filled(len, |slots| source.fill(slots)), to);
}

fn halved<'s, A: Clone>(op: &dyn Fold<A>, nest: Nest<'_, Reduction<'_, 's, A>>) -> Written<'s> {
    match place_to_halve(nest.loops(), size_of::<A>()) {
        None => block::reduce(op, nest),
        Some(place) if nest.loops()[place].is_kept() => {
            let [mut written, more] = nest.both(place, &|nest| halved(op, nest));
            written.add(more);
            written
        }
        Some(_) => {
            let results = buffered(op, nest.inputs(&mut State::new()));
            nest.put(&results)
        }
    }
}

/// The results of large parts that are combined, in the order of the kept loops.
fn buffered<A: Clone>(op: &dyn Fold<A>, nest: Nest<'_, Reduction<'_, '_, A>>) -> Vec<A> {
    let Some(place) = place_to_halve(nest.loops(), size_of::<A>()) else {
        let len = nest.loops().iter().filter(|l| l.is_kept()).map(Loop::len).product();
        return filled(len, |slots| block::reduce(op, nest.onto(slots)));
    };
    let is_kept = nest.loops()[place].is_kept();
    let [mut first, second] = nest.both(place, &|nest| buffered(op, nest));
    if is_kept {
        first.extend(second);
    } else {
        op.add_rows(&mut first, &[&second]);
    }
    first
}

/// The order of a result's axes: that of the axes of the inputs from which they are.
struct KeptOrder<'a> {
    reads: &'a Reads<'a>,
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
        self.reads.is_inside(shape, former, latter)
    }
}
