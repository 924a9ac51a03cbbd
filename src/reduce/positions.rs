//! Positions of extremes, in one pass.
//!
//! Axes are taken in the order of memory, but the reduced ones are next to each other and keep the order of positions. So the elements
//! are groups of rows, and a lane has one element in each row of its group. Without axes inside of the reduced ones, a row is one
//! element. Elements that are stored in this order are read in place, others are computed or copied part by part.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]
#![allow(clippy::needless_bitwise_bool, reason = "a mask is vectorised, and a choice is not")]

use super::extreme::check_elements;
use super::passes::{Words, builder, source_shape};
use crate::error::Result;
use crate::kernel::memory::{AxisOrder, BLOCK_BYTES, Reserved, STACK_BYTES, strides};
use crate::kernel::nest::Source;
use crate::kernel::reduce::to_new;
use crate::kernel::simd::{Work, dispatch_or};
use crate::reserved::reserved;
use crate::shape::{AxisMask, ReducedAxes, reduced_dim};
use alloc::vec::Vec;
use core::array::from_fn;
use core::iter::zip;
use ndarray::{Array, Dimension, IxDyn, indices};

/// The neighbours that are compared at once. Only if one of them is NaN or exceeds, positions change.
const CHUNK: usize = 64;
/// The most neighbours whose largest elements so far and positions stay in L1.
const COLUMNS: usize = 1 << 10;

/// The positions of the elements that exceed all others of their lanes.
///
/// # Errors
/// Those of [`extremes`](super::extreme::extremes), for the positions.
pub(super) fn positions<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &Source<'_, A>,
    axes: &X,
    exceeds: impl Fn(&A, &A) -> bool + Copy,
    words: Words,
) -> Result<Array<usize, X::Left>> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, words.0).axes(axes.numbers(shape.len()));
    let (result, reduced) = reduced_dim(shape, axes, builder)?;
    let result = reserved(result, builder)?;
    check_elements(shape, result.len(), words.1, &builder)?;
    let lane: usize = reduced.named().map(|axis| shape[axis]).product();
    if result.len() == 0 || lane == 1 {
        return Ok(result.filled(None, 0));
    }
    let mut search = Search { exceeds, largest: Vec::new() };
    let is_small = result.len().saturating_mul(lane).saturating_mul(size_of::<A>()) <= STACK_BYTES;
    let width = width(shape, |axis| reduced.contains(axis));
    if let Some(width) = width.filter(|_| is_small || source.as_slice().is_some()) {
        let mut positions = result.filled(None, 0);
        search.part(source, shape, [lane, width], positions.as_slice_mut().expect("standard layout"), 0);
        return Ok(positions);
    }
    let order = order(source, shape, &reduced);
    let kept = (0..shape.len()).filter(|&axis| X::KEEPS || !reduced.contains(axis));
    let places = kept.map(|axis| order.iter().position(|&other| other == axis).unwrap_or(axis));
    let mut positions = result.filled(Some(&KeptOrder(places.collect())), 0);
    search.parts(
        source,
        shape,
        &order,
        &reduced,
        positions.as_slice_memory_order_mut().expect("a new array"),
    );
    Ok(positions)
}

/// The axes of a shape without zeros, outermost first: as the inputs' in memory, but the reduced ones next to each other.
fn order<A: Clone>(source: &Source<'_, A>, shape: &[usize], reduced: &AxisMask) -> Vec<usize> {
    let mut steps = shape.to_vec();
    strides(shape, Some(source.inputs()), &mut steps);
    let nearest = reduced.named().filter(|&axis| shape[axis] > 1).map(|axis| steps[axis]).min();
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by_key(|&axis| match reduced.contains(axis) {
        true => (1, axis),
        false if Some(steps[axis]) > nearest => (0, usize::MAX - steps[axis]),
        false => (2, usize::MAX - steps[axis]),
    });
    order
}

/// The elements of a row of this shape, if its reduced axes are next to each other.
fn width(shape: &[usize], is_reduced: impl Fn(usize) -> bool) -> Option<usize> {
    let mut axes = (0..shape.len()).rev().filter(|&axis| shape[axis] > 1).peekable();
    let mut width = 1;
    while let Some(axis) = axes.next_if(|&axis| !is_reduced(axis)) {
        width *= shape[axis];
    }
    axes.skip_while(|&axis| is_reduced(axis)).all(|axis| !is_reduced(axis)).then_some(width)
}

/// The order of a result's axes in memory: the place of each among the ordered axes.
struct KeptOrder(Vec<usize>);

impl AxisOrder for KeptOrder {
    fn is_inside(&self, _: &[usize], former: usize, latter: usize) -> Option<bool> {
        Some(self.0[former] > self.0[latter])
    }
}

/// A search for positions.
struct Search<A, F> {
    exceeds: F,
    /// The largest elements of the lanes that were searched last, which may go on in the next part.
    largest: Vec<A>,
}

impl<A: Clone + PartialOrd, F: Fn(&A, &A) -> bool + Copy> Search<A, F> {
    /// Searches a source, in this order of its axes. `found` has zeros.
    fn parts(
        &mut self,
        source: &Source<'_, A>,
        shape: &[usize],
        order: &[usize],
        reduced: &AxisMask,
        found: &mut [usize],
    ) {
        let (mut steps, mut first, mut end) = (shape.to_vec(), 0, 0);
        let is_stored =
            source.in_order(shape, order, &|axis| (0, shape[axis]), |all, _| all.as_slice().is_some());
        let most = BLOCK_BYTES / size_of::<A>().max(1);
        while !is_stored && steps.iter().fold(1, |len: usize, &step| len.saturating_mul(step)) > most {
            // from the outermost axis on, so that positions follow each other
            let Some(&cut) = order.iter().find(|&&axis| steps[axis] > 1) else { break };
            steps[cut] = steps[cut].div_ceil(2);
        }
        // the parts of a lane follow each other
        let kept = order.iter().copied().filter(|&axis| !reduced.contains(axis));
        let walk: Vec<usize> = kept.chain(reduced.named()).collect();
        let counts: Vec<usize> = walk.iter().map(|&axis| shape[axis].div_ceil(steps[axis])).collect();
        let mut starts = steps.clone();
        for at in indices(counts) {
            zip(&walk, at.slice()).for_each(|(&axis, at)| starts[axis] = at * steps[axis]);
            let bounds = |axis: usize| (starts[axis], steps[axis].min(shape[axis] - starts[axis]));
            let start = reduced.named().fold(0, |start, axis| start * shape[axis] + starts[axis]);
            let rows = reduced.named().map(|axis| bounds(axis).1).product();
            source.in_order(shape, order, &bounds, |part, shape| {
                let width = width(shape, |place| reduced.contains(order[place])).unwrap_or(1);
                if start == 0 {
                    (first, end) = (end, end + shape.iter().product::<usize>() / rows);
                }
                self.part(part, shape, [rows, width], &mut found[first..end], start);
            });
        }
    }

    /// Searches groups of so many rows of so many elements. The first row has position `start`.
    fn part(
        &mut self,
        source: &Source<'_, A>,
        shape: &[usize],
        sides: [usize; 2],
        found: &mut [usize],
        start: usize,
    ) {
        let Self { exceeds, largest } = self;
        let exceeds = *exceeds;
        let mut find = |elements: &[A]| {
            dispatch_or(Part { elements, sides, largest, found, start, exceeds }, Work::run);
        };
        if let Some(elements) = source.as_slice() {
            find(elements);
        } else {
            let reserved = Reserved::new(IxDyn(shape)).expect("memory for a part");
            let elements = to_new(source, shape, reserved, None, source.first());
            find(elements.as_standard_layout().as_slice().expect("standard layout"));
        }
    }
}

/// Groups of rows, whose numbers of rows and columns are `sides`.
struct Part<'p, A, F> {
    elements: &'p [A],
    sides: [usize; 2],
    largest: &'p mut Vec<A>,
    found: &'p mut [usize],
    start: usize,
    exceeds: F,
}

impl<A: Clone + PartialOrd, F: Fn(&A, &A) -> bool + Copy> Work for Part<'_, A, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { elements, sides: [rows, width], largest, found, start, exceeds } = self;
        for (group, found) in zip(elements.chunks_exact(rows * width), found.chunks_exact_mut(width)) {
            if start == 0 {
                largest.clear();
                largest.extend_from_slice(&group[..width]);
            }
            if width == 1 {
                Self::search_lane(exceeds, group, &mut largest[0], &mut found[0], start);
                continue;
            }
            let columns = zip(largest.chunks_mut(COLUMNS), found.chunks_mut(COLUMNS));
            for (column, (largest, found)) in columns.enumerate() {
                let rows = group[column * COLUMNS..].chunks(width).enumerate();
                for (at, row) in rows.skip(usize::from(start == 0)) {
                    Self::search_row(exceeds, &row[..found.len()], largest, found, start + at);
                }
            }
        }
    }
}

impl<A: Clone + PartialOrd, F: Fn(&A, &A) -> bool + Copy> Part<'_, A, F> {
    /// Moves to the first NaN of a lane, or else to the first of its largest elements, if that exceeds the `largest` one so far.
    #[inline(always)]
    fn search_lane(exceeds: F, lane: &[A], largest: &mut A, found: &mut usize, start: usize) {
        let (chunks, mut next) = (lane.chunks_exact(CHUNK), None);
        let (rest, is_nan) = (chunks.remainder(), |x: &A| x != x);
        for (place, chunk) in chunks.enumerate() {
            // without a branch, the loop is vectorised
            let exceed = chunk.iter().fold(false, |any, x| any | exceeds(x, largest) | is_nan(x));
            if exceed && !is_nan(largest) {
                *largest = Self::largest_of(exceeds, chunk);
                next = Some((place * CHUNK, chunk));
            }
        }
        if let Some((place, chunk)) = next {
            let at = chunk.iter().position(|x| x == largest || is_nan(x));
            *found = start + place + at.unwrap_or(0);
        }
        for (at, x) in rest.iter().enumerate() {
            if (exceeds(x, largest) || is_nan(x)) && !is_nan(largest) {
                (*largest, *found) = (x.clone(), start + lane.len() - rest.len() + at);
            }
        }
    }

    /// A NaN of a chunk, or else the largest of its elements.
    #[inline(always)]
    fn largest_of(exceeds: F, chunk: &[A]) -> A {
        let larger = |a: &A, x: &A| if exceeds(x, a) | (x != x) { x.clone() } else { a.clone() };
        let mut largest: [A; CHUNK / 4] = from_fn(|i| chunk[i].clone());
        for row in chunk.chunks_exact(CHUNK / 4).skip(1) {
            for i in 0..CHUNK / 4 {
                largest[i] = larger(&largest[i], &row[i]);
            }
        }
        largest.iter().fold(largest[0].clone(), |a, x| larger(&a, x))
    }

    /// Moves each lane to its element of a row, if that is NaN or exceeds the largest one so far.
    #[inline(always)]
    fn search_row(exceeds: F, row: &[A], largest: &mut [A], found: &mut [usize], at: usize) {
        let lanes = zip(largest.chunks_mut(CHUNK), found.chunks_mut(CHUNK));
        for (chunk, (largest, found)) in zip(row.chunks(CHUNK), lanes) {
            if !zip(chunk, &*largest).fold(false, |any, (x, a)| any | exceeds(x, a) | (x != x)) {
                continue;
            }
            // chosen without a branch, so that the loop is vectorised
            for ((x, largest), found) in zip(zip(chunk, largest), found) {
                let is_next = (exceeds(x, largest) | (x != x)) & (largest == largest);
                *largest = if is_next { x.clone() } else { largest.clone() };
                *found = if is_next { at } else { *found };
            }
        }
    }
}
