//! Sums and other reductions of a closure's results, without an array of these results.
//!
//! ```text
//! small:   out[..] += make(a[..], b[..], …)        up to two axes and few elements, not planned; or by a buffer
//! direct:  for each output, or row of outputs:     one reduced loop, short and innermost or around rows
//!              for i in lane: out[..] += make(a[i][..], b[i][..], …)
//! lanes:   for each lane of adjacent elements:     eight partial results in registers
//!              for each eight items, and the last four: partial[..] += make(a[..], b[..], …)
//!              out += the partial results, by halves
//! chunks:  lanes that are too long, a part of each after the other
//! blocks:  for each block of outputs:              other lanes, and loops that fit into L1
//!              buffer[..] += make(a[..], b[..], …)
//!              out[..] = the buffer, reduced
//! tiles:   for each tile, for each 64 rows of it:  every other sum: see `tiles`
//!              for each row: tile[i] += make(a[i], b[i], …)
//!              carry full levels
//! ```
//!
//! Memory: any strides. The closure is compiled into the loops of [`each`](super::each), which copy strided operands to
//! L1 and write to adjacent partial results: `buffer` and `tile`. Of long rows with the same outputs, 32 partial
//! results at a time stay in registers. Along a lane, an input moves by one element or stays. Sums and reductions differ
//! only in their [`Operation`]. [`reduce`](super::reduce) reduces one array without a closure, and without these buffers.

#![cfg_attr(not(test), forbid(unsafe_code))]

mod strategy;

use super::combine::{CombineInBuffer, fold_rows, reset};
use super::each::{
    Kind, Make, Rows, SideBySide, VisitBlock, are_long_or_few, drive, drive_lanes, inputs_moving, largest,
    moving_along,
};
use super::lane::IN_ORDER;
use super::levels::Levels;
use super::loop_plan::{LoopPlan, Loops, Outside};
use super::loops::{Loop, SEGMENT, all_inputs, all_kept, are_uncached_rows, reduced_steps, steps};
use super::memory::{Reserved, Scratch, forgettable};
use super::nest::{Elements, Inputs, Nest, NestFn, Output, Reducer, Visit};
use super::operation::{Operation, add};
use super::simd::{self, Cpu, OPTIMISED, Work};
use super::strided::{SMALL, UNPLANNED};
use super::tiles::{self, AddRows, each_tile};
use core::mem::replace;
use ndarray::{Array, Dimension};
use strategy::{BLOCK, FusedStrategy, ROWS, SHORT, WIDTH, lanes, longest_kept};

/// The same for numbers of one byte, of which fewer would not fill a vector.
const WIDTH_OF_BYTES: usize = 32;
/// The number of partial results of a lane.
const fn width<T>() -> usize {
    if size_of::<T>() == 1 { WIDTH_OF_BYTES } else { WIDTH }
}

/// Combines the result of a [`Make`] with a partial result.
pub(crate) struct Fold<M, O> {
    pub(crate) make: M,
    pub(crate) by: O,
}

impl<R: Clone, E: Elements, M: Make<R, E>, O: Operation<R>> Visit<R, E> for Fold<M, O> {
    const REDUCES: bool = true;
    const READS: bool = O::MAY_SELECT;

    #[inline(always)]
    fn visit(&mut self, into: &mut R, items: E::Refs<'_>) {
        let made = self.make.make(items);
        add(self.by, into, made);
    }
}

impl<R: Clone, E: Elements, M: Make<R, E>, O: Operation<R>> Reducer<R, E> for Fold<M, O> {
    type Op = O;

    #[inline(always)]
    fn op(&self) -> O {
        self.by
    }

    #[inline(always)]
    fn make(&mut self, items: E::Refs<'_>) -> R {
        self.make.make(items)
    }
}

impl<R: Clone, E: Elements, M: Make<R, E>, O: Operation<R>> VisitBlock<R, E> for Fold<M, O> {
    #[inline]
    fn block(&mut self, nest: &mut Nest<'_, R, E>, rows: Option<Rows>) {
        let (nest, visit) = match rows {
            Some(rows) if const { OPTIMISED } => {
                match simd::dispatch_lanes(ReduceRows { nest, rows, visit: self }) {
                    Ok(()) => return,
                    Err(ReduceRows { nest, visit, .. }) => (nest, visit),
                }
            }
            _ => (nest, self),
        };
        nest.visit_each(visit);
    }
}

/// Visits rows that are read one after the other.
struct Alone<'v, R, E: Elements>(&'v mut dyn VisitBlock<R, E>);

impl<R, E: Elements> VisitBlock<R, E> for Alone<'_, R, E> {
    fn block(&mut self, nest: &mut Nest<'_, R, E>, rows: Option<Rows>) {
        self.0.block(nest, rows.map(Rows::alone));
    }
}

struct ReduceRows<'n, 'a, 'v, R, E: Elements, V> {
    nest: &'n mut Nest<'a, R, E>,
    rows: Rows,
    visit: &'v mut V,
}

impl<R: Clone, E: Elements, V: Reducer<R, E>> Work for ReduceRows<'_, '_, '_, R, E, V> {
    type Output = ();

    #[inline(always)]
    fn run<C: Cpu>(self) {
        let Self { nest, rows: Rows { moving, kind }, visit } = self;
        let mut from = 0;
        match kind {
            Kind::Lanes if const { width::<R>() == WIDTH_OF_BYTES } => {
                return nest.visit_lanes::<C, V, WIDTH_OF_BYTES>(moving, visit);
            }
            Kind::Lanes => return nest.visit_lanes::<C, V, WIDTH>(moving, visit),
            Kind::Together if nest.reduces_rows() => {
                from = nest.visit_parts::<C, V>(visit);
                if nest.loops().last().is_some_and(|row| row.len == from) {
                    return;
                }
            }
            _ => {}
        }
        nest.visit_rows::<C, V>(from, moving, visit);
    }
}

/// Reduces a closure's results to a new array in standard layout.
///
/// The inputs are stretched to `joint`. `visit` is a [`Fold`] with the operation of `combine`. The reduced
/// axes are those of `joint` that the new array does not have or has with size 1; shapes are aligned at the right.
///
/// # Panics
/// If the shape of the new array or of an input does not stretch to `joint`.
#[inline(always)]
pub(crate) fn reduce_to<R: Clone, E: Elements, D: Dimension>(
    joint: &[usize],
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) -> Array<R, D> {
    let mut array = reserved.filled(combine.identity());
    let mut out = Output::of(&mut array);
    let mut room = [Loop::ONE; 2];
    let small = Nest::small(&mut room, UNPLANNED, Some(joint), &mut out, inputs);
    if !small.is_some_and(|nest| visit_few(nest, visit, combine)) {
        planned(joint, out, inputs, visit, combine);
    }
    array
}

/// Combines the results along up to two loops: in their order, if they are few, and otherwise in a buffer of all of them.
/// Returns whether one of these serves.
#[inline]
fn visit_few<R: Clone, E: Elements>(
    mut nest: Nest<'_, R, E>,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) -> bool {
    let (loops, moving) = (nest.loops(), moving_along(&nest));
    let row = loops.last().unwrap_or(&Loop::ONE);
    if const { forgettable::<R>() } {
        if let Some(moving) = lanes(row, E::COUNT, E::has_loop) {
            visit_lanes(nest, moving, visit, combine);
            return true;
        }
    }
    let (count, reduced) = (steps(loops), reduced_steps(loops));
    let are_short_lanes = row.is_reduced() && reduced <= SHORT;
    let in_rows = || are_long_or_few(loops, E::COUNT, inputs_moving(row, E::COUNT, E::has_loop));
    if count >= SMALL && (are_short_lanes || !in_rows()) {
        // a plan makes copies of operands
        return false;
    }
    if are_short_lanes || reduced <= IN_ORDER && moving.is_some() || count <= IN_ORDER {
        visit.block(&mut nest, moving.map(Rows::of));
        return true;
    }
    !all_kept(loops) && const { forgettable::<R>() } && in_buffer(nest, visit, combine)
}

/// Reduces the lanes along the innermost of up to two loops, in which the inputs in `moving` move by one element.
fn visit_lanes<R: Clone, E: Elements>(
    mut nest: Nest<'_, R, E>,
    moving: u8,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) {
    if simd::has_lanes() {
        return visit.block(&mut nest, Some(Rows::lanes(moving)));
    }
    lanes_by_rows(nest, moving == all_inputs(E::COUNT), visit, combine);
}

/// [`Nest::visit_lanes`] without loops that are compiled for it, in the same order: each part of a lane is visited as a row onto
/// partial results in a buffer. `all_move` is whether no input stays along a lane.
#[inline(never)]
fn lanes_by_rows<R: Clone, E: Elements>(
    nest: Nest<'_, R, E>,
    all_move: bool,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) {
    let (width, mut scratch) = (width::<R>(), Scratch::new());
    let (four, results) = scratch.filled(4 + width, &combine.identity()).split_at_mut(4);
    let (mut room, mut dense) = (Loops::new(), Loops::new());
    nest.each_block(1, &mut |lane: Nest<'_, R, E>| {
        let (items, len, mut from) = (lane.read(), lane.loops()[0].len, 0);
        let mut visit_row = |from: usize, results: &mut [R]| {
            let part = items.part(0, from, results.len(), &mut room);
            let mut row = part.onto(results, part.loops(), &mut dense);
            let moving = moving_along(&row);
            visit.block(&mut row, moving.map(Rows::of));
        };
        four.fill(combine.identity());
        while len - from >= width {
            results.fill(combine.identity());
            for _ in 0..SEGMENT.min((len - from) / width) {
                visit_row(from, results);
                from += width;
            }
            fold_rows(combine, results, 4);
            combine.rows(four, &results[..4]);
        }
        if all_move && len - from >= 4 {
            visit_row(from, four);
            from += 4;
        }
        fold_rows(combine, four, 1);
        if from < len {
            let part = items.part(0, from, len - from, &mut room);
            visit.block(&mut part.onto(four, &[Loop::ONE], &mut dense), None);
        }
        combine.add(lane.written(&mut room).slot(), four[0].clone());
    });
}

/// Reduces up to two loops by a buffer of all results. Returns whether they fit.
// Not inline: a function with a large stack frame takes time to enter.
#[inline(never)]
fn in_buffer<R: Clone, E: Elements>(
    nest: Nest<'_, R, E>,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) -> bool {
    let (block, mut room, mut scratch) = (nest.loops(), Loops::new(), Scratch::new());
    if steps(block) > Scratch::capacity::<R>() {
        return false;
    }
    let buffer = scratch.filled(steps(block), &combine.identity());
    let mut results = nest.read().onto(buffer, block, &mut room);
    let rows = moving_along(&results).map(Rows::of);
    visit.block(&mut results, rows);
    fold(buffer, block, combine);
    nest.written(&mut room).each_slot(buffer, 1, |slot, result| *slot = result.clone());
    true
}

/// [`reduce_to`] by a plan: compiled once for all numbers of axes.
fn planned<R: Clone, E: Elements>(
    joint: &[usize],
    out: Output<'_, R>,
    inputs: &Inputs<'_, E>,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) {
    if let Some(nest) = Nest::over(&mut LoopPlan::new(), Some(joint), out, inputs, Outside::AllRead) {
        if are_uncached_rows(nest.loops(), largest(E::COUNT, E::plain_size)) {
            return reduce_nest(nest, &mut Alone(visit), combine);
        }
        reduce_nest(nest, visit, combine);
    }
}

/// Combines the results of a nest with its outputs.
fn reduce_nest<R: Clone, E: Elements>(
    nest: Nest<'_, R, E>,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) {
    if let Some(lanes) = SideBySide::of(nest.loops(), E::COUNT, E::plain_size, E::has_loop) {
        return drive_lanes(nest, lanes, visit);
    }
    if !const { forgettable::<R>() } {
        return drive(nest, visit);
    }
    let in_rows = moving_along(&nest).is_some();
    match FusedStrategy::of(nest.loops(), size_of::<R>(), E::COUNT, E::has_loop, in_rows) {
        FusedStrategy::Direct => drive(nest, visit),
        FusedStrategy::Lanes(moving) => by_long_loops(nest, &mut |nest: Nest<'_, R, E>| {
            let inner = nest.loops().len().min(2);
            let mut blocks = nest.walk(inner);
            while let Some(block) = blocks.next() {
                visit_lanes(block, moving, visit, combine);
            }
        }),
        FusedStrategy::Blocks(tiling) => tiles::parts(nest, tiling, &mut |nest: Nest<'_, R, E>| {
            let first = tiling.first(nest.loops());
            blocks(nest, first, visit, combine);
        }),
        FusedStrategy::Chunks(take) => {
            let lane = nest.loops().len() - 1;
            nest.chunked(lane, take, &mut |part: Nest<'_, R, E>| reduce_nest(part, visit, combine));
        }
        FusedStrategy::Tiles(tiling) => {
            let mut add = AddVisitedRows { visit, room: Loops::new(), dense: Loops::new() };
            tiles::parts(nest, tiling, &mut |nest: Nest<'_, R, E>| {
                let (tile, mut scratch) = (tiling.tile(nest.loops()), Scratch::new());
                let room = scratch.filled(tiling.levels * steps(&tile), &combine.identity());
                tiles::run(combine, nest, tiling, &tile, room, &mut add, &Combined(combine));
            });
        }
    }
}

/// Calls `then` with the nest. If there are few lanes along the loop around a lane, the longest kept loop goes there: as many of
/// its steps as stay in L1. Reduced loops keep their order.
fn by_long_loops<R, E: Elements>(nest: Nest<'_, R, E>, then: &mut dyn NestFn<R, E>) {
    let loops = nest.loops();
    let [.., _, lanes, lane] = loops else { return then.call(nest) };
    match longest_kept(loops) {
        Some(longest) if lanes.len < SHORT => {
            let (from_end, take) = (loops.len() - longest, BLOCK.div_ceil(lane.len));
            nest.chunked(longest, take, &mut |part: Nest<'_, R, E>| {
                let count = part.loops().len();
                let class =
                    |at: usize, _: &Loop| if at + 1 == count { 2 } else { (at + from_end == count).into() };
                then.call(part.ordered(class, &mut Loops::new()));
            });
        }
        _ => then.call(nest),
    }
}

/// Combines sums with the outputs.
struct Combined<'c, R>(&'c dyn CombineInBuffer<R>);

impl<R: Clone> tiles::Store<R, R> for Combined<'_, R> {
    fn one(&self, output: &mut R, sum: R) {
        self.0.add(output, sum);
    }

    fn row(&self, outputs: Nest<'_, R, ()>, sums: &mut [R], step: usize) {
        match if step == 1 { outputs.slots() } else { Err(outputs) } {
            Ok(outputs) => self.0.rows(outputs, &sums[..outputs.len()]),
            Err(outputs) => {
                outputs.each_strided_slot(sums, step, |output, sum| self.0.add(output, sum.clone()));
            }
        }
    }
}

/// Sums a nest, a block of the loops from `first` on at a time. No loop before `first` is reduced.
fn blocks<R: Clone, E: Elements>(
    nest: Nest<'_, R, E>,
    first: usize,
    visit: &mut dyn VisitBlock<R, E>,
    combine: &dyn CombineInBuffer<R>,
) {
    let block = &nest.loops()[first..];
    let (mut scratch, mut dense, mut kept) = (Scratch::new(), Loops::new(), Loops::new());
    kept.written(block);
    kept.pack();
    let (buffer, mut is_filled) = (scratch.filled(steps(block), &combine.identity()), true);
    each_tile(
        combine,
        nest,
        first,
        &kept,
        buffer,
        &Combined(combine),
        &mut |items: Nest<'_, (), E>, buffer: &mut [R]| {
            if !replace(&mut is_filled, false) {
                reset(combine, buffer);
            }
            drive(items.onto(buffer, block, &mut dense), visit);
            fold(buffer, block, combine);
        },
    );
}

/// Reduces the reduced loops of a block in place, which leaves the results at the front of the buffer.
fn fold<R: Clone>(buffer: &mut [R], block: &[Loop], combine: &dyn CombineInBuffer<R>) {
    let (mut remaining, mut inside) = (buffer.len(), 1);
    for l in block.iter().rev() {
        if !l.is_reduced() {
            inside *= l.len;
            continue;
        }
        remaining /= l.len;
        if inside == 1 {
            combine.lanes(&mut buffer[..remaining * l.len], l.len);
            continue;
        }
        for row in 0..remaining / inside {
            let (to, from) = (row * inside, row * inside * l.len);
            fold_rows(combine, &mut buffer[from..][..inside * l.len], inside);
            if from > to {
                let (low, high) = buffer.split_at_mut(from);
                low[to..][..inside].clone_from_slice(&high[..inside]);
            }
        }
    }
}

/// Adds rows, [`ROWS`] at a time.
struct AddVisitedRows<'v, R, E: Elements> {
    visit: &'v mut dyn VisitBlock<R, E>,
    room: Loops,
    dense: Loops,
}

impl<R: Clone, E: Elements> AddRows<R, E> for AddVisitedRows<'_, R, E> {
    fn add(&mut self, levels: &mut Levels<'_, R>, rows: Nest<'_, (), E>, in_rows: bool) {
        let inner = rows.loops().len() - usize::from(in_rows);
        let count = if in_rows { rows.loops()[0].len } else { 1 };
        for from in (0..count).step_by(ROWS) {
            let part =
                if in_rows { rows.part(0, from, ROWS.min(count - from), &mut self.room) } else { rows };
            let tile = &part.loops()[part.loops().len() - inner..];
            drive(part.onto(levels.first(), tile, &mut self.dense), self.visit);
            levels.carry();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::strategy::LANE;
    use super::*;
    use crate::kernel::loops::PART;
    use crate::kernel::operation::Plus;
    use alloc::{vec, vec::Vec};
    use ndarray::{Array2, ArrayD, ArrayViewD, Axis, IxDyn, s};

    struct Product;

    impl Make<i64, (i64, i64)> for Product {
        fn make(&mut self, (a, b): (&i64, &i64)) -> i64 {
            a * b
        }
    }

    /// Sums the products of two arrays over these axes, and compares them with sums of single products.
    fn test(a: &ArrayViewD<'_, i64>, b: &ArrayViewD<'_, i64>, axes: &[usize]) {
        let shape: Vec<_> =
            (0..a.ndim()).map(|axis| a.len_of(ndarray::Axis(axis)).max(b.shape()[axis])).collect();
        let kept = |axis: usize, size: usize| if axes.contains(&axis) { 1 } else { size };
        let to = IxDyn(&shape.iter().enumerate().map(|(axis, &size)| kept(axis, size)).collect::<Vec<_>>());
        let mut expected = ArrayD::<i64>::zeros(to.clone());
        for at in ndarray::indices(&shape[..]) {
            let of = |x: &ArrayViewD<'_, i64>| {
                let at: Vec<_> = (0..x.ndim()).map(|axis| at[axis] % x.shape()[axis]).collect();
                x[&at[..]]
            };
            let to: Vec<_> = (0..shape.len()).map(|axis| kept(axis, at[axis] + 1) - 1).collect();
            expected[&to[..]] += of(a) * of(b);
        }
        let mut add = Fold { make: Product, by: Plus };
        let (a, b) = (&**a, &**b);
        let found =
            reduce_to(&shape, Reserved::new(to).expect("memory"), &Inputs::from((a, b)), &mut add, &Plus);
        assert_eq!(found, expected, "{shape:?} over {axes:?}");
    }

    fn array(shape: &[usize]) -> ArrayD<i64> {
        let mut k = 0;
        ArrayD::from_shape_simple_fn(IxDyn(shape), || {
            k += 7;
            k % 101 - 50
        })
    }

    #[test]
    fn short_lanes() {
        for n in [1, 3, 13, SHORT, SHORT + 1] {
            for [l, m] in [[300, 1], [70, 3], [12, 16], [5, 110]] {
                let (mut points, mut centres) = (array(&[l, 1, n]), array(&[1, m, n]));
                let (all, weights) = (array(&[l, m, n]), array(&[1, 1, n]));
                for turn in 0..2 {
                    test(&points.view(), &centres.view(), &[2]);
                    test(&all.view(), &points.view(), &[2]);
                    test(&all.view(), &weights.view(), &[2]);
                    test(&all.view(), &centres.view(), &[2]);
                    points.invert_axis(Axis(2 * turn));
                    centres.invert_axis(Axis(1));
                }
                test(
                    &all.view().permuted_axes(&[1, 0, 2][..]),
                    &centres.view().permuted_axes(&[1, 0, 2][..]),
                    &[2],
                );
                test(&all.slice(s![.., .., ..;-1]).into_dyn(), &weights.view(), &[2]);
            }
        }
    }

    #[test]
    fn lanes_blocks_and_tiles() {
        let sizes = [1, 2, SHORT, SHORT + 1, PART, PART + 1, 45, 2 * PART + 5];
        for (m, n) in sizes.iter().flat_map(|&m| sizes.map(|n| (m, n))) {
            let (whole, row, column) = (array(&[3, m, n]), array(&[1, 1, n]), array(&[3, m, 1]));
            for axes in [&[][..], &[0], &[1], &[2], &[0, 1], &[1, 2], &[0, 2], &[0, 1, 2]] {
                test(&whole.view(), &row.view(), axes);
                test(&column.view(), &row.view(), axes);
                test(&whole.view().permuted_axes(&[2, 1, 0][..]), &column.t(), axes);
            }
        }
        for n in [WIDTH - 1, WIDTH, SEGMENT * WIDTH, SEGMENT * WIDTH + 1, 257] {
            let whole = array(&[9, 3, n]);
            for stays in [[9, 3, 1], [9, 1, 1], [1, 3, 1], [1, 1, 1]] {
                for axes in [&[2][..], &[0, 2], &[1, 2], &[0, 1, 2]] {
                    test(&whole.view(), &array(&stays).view(), axes);
                    test(&array(&stays).view(), &whole.view(), axes);
                }
            }
        }
        // one array lies across the other, and rows are left over from whole cache lines
        for (m, n) in [(37, 300), (137, 150), (150, 137)] {
            let (a, across) = (array(&[m, n]), array(&[n, m]));
            for axis in [0, 1] {
                test(&a.view(), &across.t(), &[axis]);
                test(&across.t(), &a.view(), &[axis]);
            }
        }
        for n in [BLOCK - 1, BLOCK, BLOCK + 1, LANE + 40, 5000] {
            let (whole, column) = (array(&[3, n]), array(&[3, 1]));
            for axes in [&[0][..], &[1], &[0, 1]] {
                test(&whole.view(), &column.view(), axes);
                test(&whole.t(), &column.t(), axes);
            }
        }
    }

    #[test]
    fn few_terms_need_no_plan() {
        // whether a small array is reduced in its outputs; else in a buffer
        let in_order = |m: usize, n: usize, to: [usize; 2], step: isize| {
            let (a, mut out) = (array(&[m, n * step.unsigned_abs()]), array(&to));
            let a = a.slice(s![.., ..;step]);
            let (mut room, inputs) = ([Loop::ONE; 2], Inputs::from((&*a, &*a)));
            let mut out = Output::of(&mut out);
            let nest =
                Nest::small(&mut room, UNPLANNED, Some(&[m, n]), &mut out, &inputs).expect("few indices");
            let (reduced, mut seen) = (!all_kept(nest.loops()), None);
            let visit = &mut |nest: &mut Nest<'_, i64, (i64, i64)>, _: Option<Rows>| {
                seen = Some(all_kept(nest.loops()) != reduced);
            };
            visit_few(nest, visit, &Plus);
            seen
        };
        // rows, strided lanes, and few elements in all
        let rows = |m, n| in_order(m, n, [1, n], 1).expect("a visit");
        assert!(rows(IN_ORDER, 7) && !rows(IN_ORDER + 1, 7));
        let lanes = |m, n| in_order(m, n, [m, 1], 2).expect("a visit");
        assert!(lanes(20, SHORT) && !lanes(20, SHORT + 1));
        assert!(lanes(2, IN_ORDER / 2) && !lanes(2, IN_ORDER / 2 + 1));
        // lanes of adjacent elements are never in a buffer
        assert!([7, 8, 17, 60].iter().all(|&n| in_order(30, n, [30, 1], 1) == Some(true)));
        // strided operands, of which several are copied if nothing is reduced
        assert_eq!([in_order(9, 9, [1, 9], 2), in_order(9, 9, [9, 9], 2)], [Some(false), None]);
    }

    #[test]
    fn few_results() {
        for [m, n] in [
            [1, 1],
            [1, 64],
            [8, 8],
            [5, 13],
            [32, 16],
            [27, 19],
            [64, 8],
            [65, 7],
            [31, 17],
            [2, 257],
            [40, 45],
            [64, 32],
            [9, 200],
            [200, 9],
            [700, 2],
            [2, 1000],
            [2, 1025],
        ] {
            let (whole, row, column, one) = (array(&[m, n]), array(&[n]), array(&[m, 1]), array(&[]));
            let gaps = array(&[2 * m, 3 * n]);
            for axes in [&[][..], &[0], &[1], &[0, 1]] {
                for b in [row.view(), column.view(), one.view(), whole.view()] {
                    let b = b.broadcast(&[m, n][..]).expect("a smaller shape");
                    test(&whole.view(), &b, axes);
                    test(&gaps.slice(s![..;2, ..;-3]).into_dyn(), &b, axes);
                    test(&array(&[n, m]).t(), &b, axes);
                }
            }
        }
    }

    #[test]
    fn the_longest_loop_is_next_to_the_lanes() {
        // the lengths of each call's loops, for a reduced last axis and others that do not continue each other
        let lengths = |shape: [usize; 4], reduced: usize| {
            let (wide, mut plan, mut calls) =
                (ArrayD::zeros(shape.map(|n| n + 1).to_vec()), LoopPlan::new(), Vec::new());
            let a = wide.slice_each_axis(|axis| (..shape[axis.axis.index()]).into());
            let mut sizes = shape;
            (sizes[3], sizes[reduced]) = (1, 1);
            let mut out = ArrayD::<f32>::zeros(sizes.to_vec());
            let nest = Nest::over(
                &mut plan,
                Some(&shape),
                Output::of(&mut out),
                &Inputs::from((&*a,)),
                Outside::AllRead,
            );
            by_long_loops(nest.expect("an index"), &mut |nest: Nest<'_, f32, (f32,)>| {
                calls.push(nest.loops().iter().map(|l| l.len).collect::<Vec<_>>());
            });
            calls
        };
        // 158 lanes of 13 stay in L1
        assert_eq!(lengths([2, 400, 3, 13], 3), [vec![2, 2, 3, 158, 13], vec![2, 3, 84, 13]]);
        assert_eq!(lengths([200, 4, 3, 13], 3), [vec![1, 4, 3, 158, 13], vec![4, 3, 42, 13]]);
        // a reduced loop keeps its place
        assert_eq!(lengths([2, 400, 3, 13], 1), [vec![2, 400, 3, 13]]);
        // many lanes
        assert_eq!(lengths([2, 400, SHORT, 13], 3), [vec![2, 400, SHORT, 13]]);
    }

    /// Sums of decimals differ by the order of the additions.
    struct Tenths;

    impl Make<f32, (u16, u16)> for Tenths {
        fn make(&mut self, (&a, &b): (&u16, &u16)) -> f32 {
            0.1 * f32::from(a) + 0.3 * f32::from(b)
        }
    }

    #[test]
    fn lanes_have_one_order() {
        for n in
            [WIDTH, WIDTH + 3, WIDTH + 7, SEGMENT * WIDTH - 1, SEGMENT * WIDTH, SEGMENT * WIDTH + 9, 1000]
        {
            let of = |m| {
                Array2::from_shape_fn((m, n), |(i, j)| u16::try_from((7 * i + 3 * j) % 101).expect("small"))
            };
            let (a, b) = (of(3), of(1));
            let sums = |by_rows: bool| {
                let (mut out, mut plan) = (Array2::<f32>::zeros((3, 1)), LoopPlan::new());
                let inputs = Inputs::from((&*a, &*b));
                let nest =
                    Nest::over(&mut plan, Some(&[3, n]), Output::of(&mut out), &inputs, Outside::AllRead);
                let (nest, mut add) = (nest.expect("an index"), Fold { make: Tenths, by: Plus });
                let visit: &mut dyn VisitBlock<f32, (u16, u16)> = &mut add;
                if by_rows {
                    lanes_by_rows(nest, true, visit, &Plus);
                } else {
                    visit_lanes(nest, 0b11, visit, &Plus);
                }
                out
            };
            assert_eq!(sums(true), sums(false), "{n}");
        }
    }

    #[test]
    fn blocks_are_reduced_in_place() {
        let reduced = |loops: &[(usize, isize)]| {
            let block: Vec<_> = loops.iter().map(|&(len, moves)| Loop::new(len, [moves])).collect();
            let mut buffer: Vec<_> = (0..steps(&block)).collect();
            fold(&mut buffer, &block, &Plus);
            buffer.truncate(block.iter().filter(|l| !l.is_reduced()).map(|l| l.len).product());
            buffer
        };
        assert_eq!(reduced(&[(4, 0)]), [6]);
        assert_eq!(reduced(&[(2, 1), (3, 0)]), [3, 12]);
        assert_eq!(reduced(&[(3, 0), (2, 1)]), [6, 9]);
        assert_eq!(reduced(&[(2, 1), (3, 0), (2, 1)]), [6, 9, 24, 27]);
        assert_eq!(reduced(&[(2, 0), (2, 1), (3, 0)]), [3 + 21, 12 + 30]);
        assert_eq!(reduced(&[(2, 1), (2, 0), (2, 1), (3, 0)]), [3 + 21, 12 + 30, 39 + 57, 48 + 66]);
        assert_eq!(reduced(&[(3000, 0)]), [2999 * 1500]);
        assert_eq!(reduced(&[(2, 1)]), vec![0, 1]);
    }
}
