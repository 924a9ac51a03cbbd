//! One pass over an output and the operands that are broadcast to its shape.
//!
//! ```text
//! for each block of the output:            the innermost loops
//!     copy operands that repeat or stride in short rows, unless the last copy is of the same elements
//!     for each row of the block:
//!         for i in row: visit(out[i], a[i], b[0], …)
//! ```
//!
//! Memory: the output's elements are adjacent along the innermost loop. There, an operand is adjacent too, repeats one
//! element, or has a stride. With a large stride, an element shares its cache line with elements of the next rows, not
//! of its own row. Such operands are copied in blocks of several rows, a line at a time. Where the output stays along a
//! short innermost loop, that loop first goes outside those along which the output moves.
//!
//! A closure is compiled into one loop for each kind of row that [`Elements::row`] has: in these, each operand moves by
//! one element or stays. Other operands of plain numbers are copied to a buffer in L1, which is kept while they repeat.
//! Elements of other types are visited one by one. Small arrays are visited without a plan. A pass that only copies plain
//! numbers visits none of them where they are adjacent across the rows, or where rows repeat: see [`memory`](super::memory).

#![cfg_attr(not(test), forbid(unsafe_code))]

mod copies;
mod strategy;

pub(crate) use copies::{copy, copy_into, copy_into_uninit, copy_like};
pub(super) use strategy::{SideBySide, are_long_or_few, inputs_moving, largest};

use super::loop_plan::{LoopPlan, Loops, Outside};
use super::loops::{Loop, all_inputs, steps};
use super::memory::{PAGES, Reserved};
use super::nest::{Elements, Inputs, Nest, NestFn, Output, Visit};
use super::simd::{self, Cpu, Work};
use super::strided::UNPLANNED;
use super::threads::{Executor, Task, Threads};
use core::mem::MaybeUninit;
use ndarray::{Array, ArrayRef, Dimension};
use strategy::{PassStrategy, moving, rows_of};

/// Up to this many elements are visited one by one rather than copied.
const TINY: usize = 256;

/// Makes a new element from the elements of the inputs.
pub(crate) trait Make<R, E: Elements> {
    fn make(&mut self, items: E::Refs<'_>) -> R;
}

/// Writes the result of a [`Make`] to a new element.
#[derive(Clone, Copy)]
pub(crate) struct Write<M>(pub(crate) M);

impl<R, E: Elements, M: Make<R, E>> Visit<MaybeUninit<R>, E> for Write<M> {
    #[inline(always)]
    fn visit(&mut self, out: &mut MaybeUninit<R>, items: E::Refs<'_>) {
        out.write(self.0.make(items));
    }
}

/// Calls `visit` once for every element of `out`, with the inputs' elements there. Shapes are aligned at the right.
///
/// # Panics
/// If an input does not stretch to the shape of `out`.
#[inline]
pub(crate) fn each<T, E: Elements, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    visit: impl Visit<T, E>,
) {
    over_each(out, inputs, &mut Each(visit));
}

/// [`each`] with the closure behind a trait object: compiled once for each tuple of element types.
#[inline(never)]
pub(crate) fn over_each<T, E: Elements, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<T, E>,
) {
    let mut out = Output::of(out);
    let mut room = [Loop::ONE; 2];
    let small = Nest::small(&mut room, UNPLANNED, None, &mut out, inputs);
    if !small.is_some_and(|nest| visit_small(nest, visit)) {
        planned(out, inputs, visit, drive);
    }
}

/// Visits a small nest without a plan, if that is faster. Returns whether it is.
#[inline(always)]
fn visit_small<T, E: Elements>(mut nest: Nest<'_, T, E>, visit: &mut dyn VisitBlock<T, E>) -> bool {
    let moving = moving_along(&nest);
    let loops = nest.loops();
    let is_faster = are_long_or_few(loops, E::COUNT, moving) || steps(loops) <= TINY;
    if is_faster {
        visit.block(&mut nest, moving.map(Rows::of));
    }
    is_faster
}

/// [`over_each`] by a plan: compiled once for all numbers of axes.
#[inline(never)]
fn planned<T, E: Elements>(
    out: Output<'_, T>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<T, E>,
    drive: fn(Nest<'_, T, E>, &mut dyn VisitBlock<T, E>),
) {
    if let Some(nest) = Nest::over(&mut LoopPlan::new(), None, out, inputs, Outside::Written) {
        drive(nest, visit);
    }
}

/// A new array of the results of `make` for the inputs' elements. Its axes have the inputs' order in memory.
///
/// # Panics
/// If an input does not stretch to the shape.
#[inline]
pub(crate) fn to_new<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    make: impl Make<R, E>,
) -> Array<R, D> {
    to_new_by(reserved, inputs, &mut Each(Write(make)))
}

/// [`to_new`] with the closure behind a trait object.
#[inline(always)]
pub(crate) fn to_new_by<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<MaybeUninit<R>, E>,
) -> Array<R, D> {
    written_like(reserved, inputs, |out| over_each(out, inputs, visit))
}

/// A new array whose axes have the inputs' order in memory. `fill` writes it and is a pass over all of it.
#[inline]
fn written_like<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    fill: impl FnOnce(&mut ArrayRef<MaybeUninit<R>, D>),
) -> Array<R, D> {
    reserved.written(Some(inputs), fill)
}

/// The fewest elements to hand to another thread. Measured with a sum of two `f32` arrays on two threads: up to 2^18
/// elements, waking the second thread costs more than it saves; with 2^20, the time is halved.
const GRAIN: usize = 1 << 18;

/// A pass on several threads, each with its own copy of the visitor.
struct Shared<V>(V);

impl<T, E: Elements, V: Visit<T, E> + Copy> Task<T, E> for Shared<V> {
    fn grain(&self) -> usize {
        GRAIN
    }

    fn may_cut(&self, _: usize, _: &[Loop]) -> bool {
        true
    }

    fn run(&self, part: Nest<'_, T, E>) {
        drive(part, &mut Each(self.0));
    }
}

/// [`each`] on several threads, if there are many elements.
pub(crate) fn par_each<T: Send, E: Elements + Sync>(
    out: Output<'_, T>,
    inputs: &Inputs<'_, E>,
    visit: impl Visit<T, E> + Copy + Sync,
) {
    if let Some(nest) = Nest::over(&mut LoopPlan::new(), None, out, inputs, Outside::Written) {
        Threads.run(nest, &Shared(visit));
    }
}

/// [`to_new`] on several threads, if there are many elements.
pub(crate) fn par_to_new<R: Send, E: Elements + Sync, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    make: impl Make<R, E> + Copy + Sync,
) -> Array<R, D> {
    written_like(reserved, inputs, |out| par_each(Output::of(out), inputs, Write(make)))
}

/// A visitor of the blocks of [`drive`].
// A trait of its own, as `NestFn`.
pub(crate) trait VisitBlock<T, E: Elements> {
    /// Visits every index of a block: a nest of up to two loops. `rows` is `None` if no loop is compiled for its rows.
    // By reference, because a copy of what was just written takes longer than a short row.
    fn block(&mut self, nest: &mut Nest<'_, T, E>, rows: Option<Rows>);
}

#[cfg(test)]
impl<T, E: Elements, F: FnMut(&mut Nest<'_, T, E>, Option<Rows>)> VisitBlock<T, E> for F {
    fn block(&mut self, nest: &mut Nest<'_, T, E>, rows: Option<Rows>) {
        self(nest, rows);
    }
}

/// Visits each index of a block.
pub(crate) struct Each<V>(pub(crate) V);

impl<T, E: Elements, V: Visit<T, E>> VisitBlock<T, E> for Each<V> {
    #[inline]
    fn block(&mut self, nest: &mut Nest<'_, T, E>, rows: Option<Rows>) {
        match rows {
            Some(rows) => simd::dispatch(VisitRows { nest, rows, visit: &mut self.0 }),
            None => nest.visit_each(&mut self.0),
        }
    }
}

/// The rows of a block.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// The inputs that move by one element along a row. The others stay.
    pub(super) moving: u8,
    pub(super) kind: Kind,
}

/// How the rows of a reduction are visited.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Several rows with the same outputs at once.
    Together,
    /// Rows with the same outputs one after the other.
    Alone,
    /// Along each row, the output stays.
    Lanes,
}

impl Rows {
    #[inline]
    pub(super) fn of(moving: u8) -> Self {
        Self { moving, kind: Kind::Together }
    }

    #[inline]
    pub(super) fn lanes(moving: u8) -> Self {
        Self { moving, kind: Kind::Lanes }
    }

    #[inline]
    pub(super) fn alone(self) -> Self {
        if let Kind::Together = self.kind { Self { kind: Kind::Alone, ..self } } else { self }
    }
}

struct VisitRows<'n, 'a, 'v, T, E: Elements, V> {
    nest: &'n mut Nest<'a, T, E>,
    rows: Rows,
    visit: &'v mut V,
}

impl<T, E: Elements, V: Visit<T, E>> Work for VisitRows<'_, '_, '_, T, E, V> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { nest, rows, visit } = self;
        nest.visit_rows::<C, V>(0, rows.moving, visit);
    }
}

/// The inputs that move by one element along the innermost loop of a nest; `None` if no loop is compiled for such rows.
#[inline]
pub(super) fn moving_along<T, E: Elements>(nest: &Nest<'_, T, E>) -> Option<u8> {
    moving(nest.loops(), E::COUNT, E::has_loop)
}

/// Visits a block of [`Nest::gathered`].
fn visit_gathered<T, E: Elements>(
    (visit, rows): &mut (&mut dyn VisitBlock<T, E>, Rows),
    block: &mut Nest<'_, T, E>,
) {
    visit.block(block, Some(*rows));
}

/// Calls `visit` for each block of the nest, with the rows of the chosen strategy.
pub(super) fn drive<T, E: Elements>(nest: Nest<'_, T, E>, visit: &mut dyn VisitBlock<T, E>) {
    let mut visitor = (visit, Rows::of(all_inputs(E::COUNT)));
    match PassStrategy::of(nest.loops(), E::COUNT, E::plain_size, E::has_loop) {
        PassStrategy::Direct(moving) => {
            let inner = nest.loops().len().min(2);
            let mut blocks = nest.walk(inner);
            while let Some(mut block) = blocks.next() {
                visitor.0.block(&mut block, moving.map(Rows::of));
            }
        }
        PassStrategy::Copied { copied, first, take } => {
            let count = nest.loops().len() - first;
            nest.chunked(first, take, &mut |nest: Nest<'_, T, E>| {
                let rows = rows_of(nest.loops(), count, copied);
                nest.gathered(copied, rows, &mut visitor, visit_gathered);
            });
        }
        PassStrategy::Transposed { copied, across, take } => {
            in_blocks(nest, across, [PAGES; 2], &mut |nest: Nest<'_, T, E>| {
                let across = nest.loops().len() - 2;
                nest.chunked(across, take, &mut |nest: Nest<'_, T, E>| {
                    nest.gathered(copied, [1, 1], &mut visitor, visit_gathered);
                });
            });
        }
    }
}

/// [`drive`] for short lanes, which are reduced side by side.
pub(super) fn drive_lanes<T, E: Elements>(
    nest: Nest<'_, T, E>,
    lanes: SideBySide,
    visit: &mut dyn VisitBlock<T, E>,
) {
    let SideBySide { copied, moving, first, take } = lanes;
    let (inner, mut visitor) = (nest.loops().len() - 1 - first, (visit, Rows::of(moving)));
    nest.chunked(first, take, &mut |nest: Nest<'_, T, E>| {
        let lane = nest.loops().len() - 1;
        let class = |at: usize, _: &Loop| if at == lane { 1 } else { 2 * u8::from(at + inner >= lane) };
        let mut room = Loops::new();
        let rows = nest.ordered(class, &mut room);
        rows.gathered(copied, [1, inner], &mut visitor, visit_gathered);
    });
}

/// Calls `then` for blocks of the nest. Their innermost loops are at most `take` steps of loop `across` and of the
/// innermost loop.
fn in_blocks<T, E: Elements>(
    nest: Nest<'_, T, E>,
    across: usize,
    take: [usize; 2],
    then: &mut dyn NestFn<T, E>,
) {
    let last = nest.loops().len() - 1;
    nest.chunked(last, take[1], &mut |nest: Nest<'_, T, E>| {
        let from_end = nest.loops().len() - across;
        nest.chunked(across, take[0], &mut |nest: Nest<'_, T, E>| {
            let count = nest.loops().len();
            let class = |at: usize, _: &Loop| u8::from(at + from_end == count || at + 1 == count);
            then.call(nest.ordered(class, &mut Loops::new()));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, ArrayView2, s};

    #[test]
    fn few_elements_are_visited_as_they_lie() {
        // whether the rows are visited as they lie, the last one in memory first: a plan would reverse them
        let unplanned = |columns: usize, step: usize| {
            let mut out = Array2::<u8>::zeros((2, columns));
            let (a, mut seen) = (Array2::<u8>::zeros((1, step * columns)), None);
            over_each(
                &mut out.slice_mut(s![..;-1, ..]),
                &Inputs::from((&*a.slice(s![.., ..;step]),)),
                &mut |nest: &mut Nest<'_, u8, (u8,)>, _| {
                    seen.get_or_insert(nest.loops()[0].strides[0] < 0);
                },
            );
            seen.expect("a visit")
        };
        assert!(unplanned(UNPLANNED / 2, 1) && !unplanned(UNPLANNED / 2 + 1, 1));
        assert!(unplanned(TINY / 2, 2) && !unplanned(TINY / 2 + 1, 2), "an input that would be copied");
    }

    /// A number of a type that the kernel does not know as plain.
    #[derive(Clone, Copy)]
    struct Own(u32);

    impl From<Own> for u32 {
        fn from(own: Own) -> Self {
            own.0
        }
    }

    /// Counts the visits and keeps the elements that were read.
    struct Note;

    impl<A: Copy + Into<u32>, B: Copy + Into<u32>> Visit<[u32; 3], (A, B)> for Note {
        fn visit(&mut self, out: &mut [u32; 3], (&a, &b): (&A, &B)) {
            *out = [out[0] + 1, a.into(), b.into()];
        }
    }

    fn visited_once<A: Copy + Into<u32>, B: Copy + Into<u32>>(
        mut out: Array2<[u32; 3]>,
        a: &ArrayView2<'_, A>,
        b: &ArrayView2<'_, B>,
    ) {
        each(&mut out, &Inputs::from((&**a, &**b)), Note);
        let (a, b) = (a.broadcast(out.raw_dim()), b.broadcast(out.raw_dim()));
        let (a, b) = (a.expect("it goes to the shape"), b.expect("it goes to the shape"));
        for (index, &seen) in out.indexed_iter() {
            assert_eq!(seen, [1, a[index].into(), b[index].into()], "at {index:?} of {:?}", out.shape());
        }
    }

    fn views<A>(base: &Array2<A>, m: usize, n: usize) -> [ArrayView2<'_, A>; 5] {
        [
            base.slice(s![..m, ..n]),
            base.slice(s![..m;-1, ..n]),
            base.slice(s![..m, ..3 * n;-3]),
            base.slice(s![..1, ..n]),
            base.slice(s![..m, ..1]),
        ]
    }

    #[test]
    fn each_element_is_visited_once() {
        for [m, n] in [[1, 1], [700, 1], [600, 3], [200, 11], [2, 1300], [40, 40], [33, 150], [9, 140]] {
            let number = |(i, j)| u32::try_from(i * 3 * n + j).expect("small");
            let base = Array2::from_shape_fn((2 * m, 3 * n), number);
            let own = base.mapv(Own);
            let outs = [
                Array2::from_elem((m, n), [0; 3]),
                Array2::from_elem((n, m), [0; 3]).reversed_axes(),
                Array2::from_elem((m, 2 * n), [0; 3]).slice_move(s![.., ..;2]),
            ];
            for (out, a) in outs.iter().flat_map(|out| views(&base, m, n).map(|a| (out, a))) {
                for (b, own) in views(&base, m, n).into_iter().zip(views(&own, m, n)) {
                    visited_once(out.clone(), &a, &b);
                    visited_once(out.clone(), &a, &own);
                }
            }
        }
    }
}
