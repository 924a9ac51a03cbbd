//! Positions of extremes, in one pass.
//!
//! Axes are in the order of memory, but the reduced ones are neighbours in the order of positions. So the elements are groups
//! of rows, and a lane has one element in each row of its group. If no axis is inside the reduced ones, a row is one element.
//! Elements that are stored in this order are read in place; others are computed or copied part by part.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]
#![allow(clippy::needless_bitwise_bool, reason = "a mask is vectorised, and a choice is not")]

use super::extreme::check_elements;
use super::parts::{for_each_part, memory_order};
use super::passes::{Words, builder, source_shape};
use crate::error::Result;
use crate::kernel::memory::List;
use crate::kernel::nest::Source;
use crate::kernel::simd::{Work, dispatch_or};
use crate::reserved::reserved;
use crate::shape::{ReducedAxes, reduced_dim};
use alloc::vec::Vec;
use core::iter::zip;
use ndarray::{Array, Dimension};

/// The number of neighbours compared at once. Positions change only if one of them is NaN or exceeds.
const CHUNK: usize = 64;
/// The largest number of columns whose positions and largest elements so far stay in L1.
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
    let order = memory_order(source, shape, |axis| reduced.contains(axis));
    let kept = (0..shape.len()).filter(|&axis| X::KEEPS || !reduced.contains(axis));
    let places = kept.map(|axis| order.iter().position(|&other| other == axis).unwrap_or(axis));
    let places: List<usize, 8> = places.collect();
    let mut positions = result.filled(Some(&|_, one, other| Some(places[one] > places[other])), 0);
    let found = positions.as_slice_memory_order_mut().expect("a new array");
    let (mut first, mut end, largest, last) = (0, 0, &mut Vec::new(), &mut None);
    for_each_part(source, shape, &order, &reduced, |elements, _, bounds| {
        let start = reduced.named().fold(0, |start, axis| start * shape[axis] + bounds[axis].0);
        let rows = reduced.named().map(|axis| bounds[axis].1).product();
        let inside = order.iter().rev().take_while(|&&axis| !reduced.contains(axis) || shape[axis] == 1);
        let sides = [rows, inside.map(|&axis| bounds[axis].1).product()];
        if start == 0 {
            (first, end) = (end, end + elements.len() / rows);
        }
        let found = &mut found[first..end];
        dispatch_or(Part { elements, sides, largest, last, found, start, exceeds }, Work::run);
    });
    Ok(positions)
}

/// Groups of rows, whose numbers of rows and columns are `sides`.
struct Part<'p, A, F> {
    elements: &'p [A],
    sides: [usize; 2],
    /// The largest elements of the lanes that were searched last, which may go on in the next part.
    largest: &'p mut Vec<A>,
    /// The same of a lane whose elements are next to each other.
    last: &'p mut Option<A>,
    found: &'p mut [usize],
    /// The position of the first row.
    start: usize,
    exceeds: F,
}

impl<A: Clone + PartialOrd, F: Fn(&A, &A) -> bool + Copy> Work for Part<'_, A, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { elements, sides: [rows, width], largest, last, found, start, exceeds } = self;
        for (group, found) in zip(elements.chunks_exact(rows * width), found.chunks_exact_mut(width)) {
            if width == 1 {
                let first = last.take().filter(|_| start > 0).unwrap_or_else(|| group[0].clone());
                *last = Some(Self::search_lane(exceeds, group, first, &mut found[0], start));
                continue;
            }
            if start == 0 {
                largest.clear();
                largest.extend_from_slice(&group[..width]);
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
    /// Moves to the first NaN of a lane, or else to the first of its largest elements, if that exceeds the `largest` one so far. Returns
    /// the largest one then.
    #[inline(always)]
    fn search_lane(exceeds: F, lane: &[A], mut largest: A, found: &mut usize, mut at: usize) -> A {
        let is_next = |x: &A, largest: &A| exceeds(x, largest) | (x != x);
        let mut search = |elements: &[A]| {
            // without a branch, the loop is vectorised
            if elements.iter().fold(false, |any, x| any | is_next(x, &largest)) {
                for (at, x) in (at..).zip(elements) {
                    if is_next(x, &largest) && largest == largest {
                        (largest, *found) = (x.clone(), at);
                    }
                }
            }
            at += elements.len();
        };
        let (chunks, rest) = lane.split_at(lane.len() / CHUNK * CHUNK);
        chunks.chunks_exact(CHUNK).for_each(&mut search);
        search(rest);
        largest
    }

    /// Moves each lane to its element of a row, if that is NaN or exceeds the largest one so far.
    #[inline(always)]
    fn search_row(exceeds: F, row: &[A], largest: &mut [A], found: &mut [usize], at: usize) {
        let (chunks, mut largest) = (row.chunks_exact(CHUNK), largest.chunks_exact_mut(CHUNK));
        let (rest, mut found) = (chunks.remainder(), found.chunks_exact_mut(CHUNK));
        for (chunk, (largest, found)) in zip(chunks, zip(&mut largest, &mut found)) {
            if zip(chunk, &*largest).fold(false, |any, (x, a)| any | exceeds(x, a) | (x != x)) {
                Self::choose(exceeds, chunk, largest, found, at);
            }
        }
        Self::choose(exceeds, rest, largest.into_remainder(), found.into_remainder(), at);
    }

    /// [`search_row`](Self::search_row), chosen without a branch, so that the loop is vectorised.
    #[inline(always)]
    fn choose(exceeds: F, row: &[A], largest: &mut [A], found: &mut [usize], at: usize) {
        for ((x, largest), found) in zip(zip(row, largest), found) {
            let is_next = (exceeds(x, largest) | (x != x)) & (largest == largest);
            *largest = if is_next { x.clone() } else { largest.clone() };
            *found = if is_next { at } else { *found };
        }
    }
}
