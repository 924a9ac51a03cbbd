//! One pass over an output and the operands that are broadcast to its shape. Copies are maps of one operand.
//!
//! ```text
//! for each block of the output:            the two innermost loops, or a tile of them
//!     copy operands that no row loop can read in place
//!     for each row of the block:
//!         for i in row: visit(out[i], a[i], b[0], …)
//! ```
//!
//! The deviations, and what a map takes without them:
//! 1. Few elements are one block without a nest: 2.5 to 4.7 times as long.
//! 2. Plain numbers with gaps that are read again are copied once: 1.3 to 1.8 times.
//! 3. Others with gaps are copied to L1, tile by tile, so that the row loop is vectorised: from 100x100 to 1000x1200, `f32` 1.3 to 2.9
//!    times, `u8` 1.4 to 4.7, closures of six operations 2 to 5.7; but additions of `f64` 0.7 to 1.1.
//! 4. Short rows are joined where inputs repeat: 1.5 to 6 times, up to 11 for rows of two `i16`.
//!
//! | the nest | the block |
//! |---|---|
//! | few elements, eight times [`ONE_BY_ONE`] at most without a row loop | all, in blocks of two loops, without a nest |
//! | up to two loops and [`SMALL_NEST`] elements in rows with a row loop | all, without a nest |
//! | a copy of up to [`SMALL_NEST`] plain numbers, or of [`COPIES_BYTES`] that repeats none | all, by the nearer of both strides |
//! | others of up to [`SMALL_NEST`] elements | the two innermost loops, most often one row: inputs with gaps are copied whole |
//! | rows of [`NARROW`] elements or more, and more than half a cache line, with a row loop, for which each operand is contiguous or stays (plain numbers that stay are repeated where no loop has them stay); of more than two cache lines if each input is contiguous or repeated from row to row | the two innermost loops |
//! | an input with gaps along the rows that is near along another loop | a tile of that loop and those inside it |
//! | other long rows of plain numbers | a part of a row |
//! | short rows of plain numbers with a contiguous output | a tile of the innermost loops as one row |
//! | everything else | the two innermost loops, element by element |
//!
//! A tile reads two cache lines at each place of an input with gaps. Its rows are as long as copies in L1 allow, because a row of the
//! output writes only its first and last cache line in part. A larger copy of plain numbers is made in tiles where the orders
//! differ: straight to the output, unless lines share sets of L1 in both orders. An input is near along a loop if several of its
//! steps share a cache line.

#![forbid(unsafe_code)]

use super::memory::{CACHE_LINE, COPIES_BYTES, Reserved, Scratch};
use super::nest::{
    Cloned, Elements, ErasedNest, FillsOf, InputSet, Inputs, Loop, NARROW, Nest, ONE_BY_ONE, Output, RowPass,
    SMALL_NEST, ShapePass, Steps, Visitor, Write, copy_share, indices, is_dense,
};
use core::mem::needs_drop;
use ndarray::{Array, ArrayRef, Dimension};

/// A new array of the results of a closure over the inputs, which are broadcast to its shape. Its axes are ordered in memory as
/// those of the inputs.
///
/// # Panics
/// If the inputs do not broadcast to that shape.
#[inline]
pub(crate) fn to_new<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    rows: &dyn FillsOf<R, E>,
) -> Array<R, D> {
    let order = inputs.order();
    let order = inputs.unless_in_order(reserved.shape().len(), &order);
    reserved.filled_by(order, |out| visit(ShapePass::fill(out, inputs, rows)))
}

/// A copy of an array in standard layout.
pub(crate) fn copy<A: Clone, D: Dimension, E: Dimension>(
    reserved: Reserved<A, E>,
    array: &ArrayRef<A, D>,
) -> Array<A, E> {
    match array.as_slice() {
        Some(elements) => reserved.cloned(elements),
        // collected into a `Vec`: a panic drops the clones made so far
        None if const { needs_drop::<A>() } => reserved.cloned(array),
        None => {
            let (inputs, cloned) = (Inputs::from((array,)), Visitor::new(Write(Cloned)));
            reserved.filled_by(None, |out| visit(ShapePass::fill(out, &inputs, &cloned)))
        }
    }
}

/// Copies an array, broadcast to the shape of `out`, into `out`.
///
/// # Panics
/// If the array does not broadcast to that shape.
pub(crate) fn copy_into<A: Clone, D: Dimension, E: Dimension>(
    out: &mut ArrayRef<A, E>,
    array: &ArrayRef<A, D>,
) {
    visit(ShapePass::visit(Output::of(out), &Inputs::from((array,)), &Visitor::new(Cloned)));
}

/// Visits few elements as one block, and others in a nest.
pub(crate) fn visit(pass: ShapePass<'_>) {
    pass.visit_few(8 * ONE_BY_ONE).unwrap_or_else(visit_nest);
}

#[inline(never)]
pub(super) fn visit_nest(pass: ShapePass<'_>) {
    let mut erased = ErasedNest::new();
    let Some(mut nest) = pass.nest(&mut erased) else { return };
    if indices(nest.loops()) <= SMALL_NEST {
        return nest.visit_whole();
    }
    nest.arrange(0);
    visit_halves(nest);
}

/// Visits an arranged nest: in halves, as long as threads are worth it, and until the copies of inputs that are read again fit into
/// scratch.
pub(super) fn visit_halves(nest: Nest<'_, RowPass<'_>>) {
    if nest.join().is_some() {
        return nest.run_halves(0, visit_halves);
    }
    let (copied, bytes) = nest.read_again();
    match nest.first_moving(copied) {
        None => visit_block(nest),
        Some(_) if bytes <= COPIES_BYTES => visit_copied(nest, copied),
        Some(place) => nest.run_halves(place, visit_halves),
    }
}

#[inline(never)]
fn visit_copied(nest: Nest<'_, RowPass<'_>>, copied: InputSet) {
    visit_block(nest.with_copies(copied, &mut Scratch::new()));
}

fn visit_block(nest: Nest<'_, RowPass<'_>>) {
    let is_copy = nest.is_copy() && nest.loops().iter().all(|l| l.strides[1] != 0);
    let is_small = indices(nest.loops()).saturating_mul(nest.sizes()[0]) <= COPIES_BYTES;
    match tile_of(&nest, nest.is_copy()) {
        Some((steps, share)) if !(is_copy && is_small) => nest.visit_tiles(&steps, share),
        _ if is_copy => nest.copy(),
        _ => nest.visit_rows(),
    }
}

/// The nearest loop to the first input [with gaps](ErasedNest::with_gaps) along the innermost loop: one of its steps stays within a
/// cache line. Also how many of its steps fill two cache lines, so that most lines are read whole. Measured with transposed f32: on
/// Zen 4, two to eight lines take about as long; on Sapphire Rapids, four take 1.3 times as long.
pub(super) fn near_loop(nest: &ErasedNest) -> Option<(usize, usize)> {
    let (inner, outer) = nest.loops().split_last()?;
    let k = nest.with_gaps(inner).operands().next()?;
    let distance = |l: &Loop| l.strides[k].unsigned_abs();
    let far = distance(inner).min(CACHE_LINE);
    let is_near = |l: &Loop| l.len > 3 && (1..far).contains(&distance(l));
    let near = outer.iter().enumerate().filter(|(_, l)| is_near(l)).min_by_key(|(_, l)| distance(l));
    let (place, l) = near.filter(|_| inner.len > 3)?;
    Some((place, 2 * CACHE_LINE / distance(l)))
}

/// The most steps of a tile along each loop, and the most bytes of the copy of an input; `None` to visit blocks of the two innermost
/// loops.
fn tile_of(nest: &ErasedNest, is_copy: bool) -> Option<(Steps, usize)> {
    let (loops, sizes) = (nest.loops(), nest.sizes());
    let inner = loops.last().filter(|inner| inner.strides[0] == sizes[0].cast_signed())?;
    // no input needs a copy. Measured on 2026-11-27 on a Xeon: rows of 8 to 31 take 0.1 to 1.1 of the time of tiles
    let is_read = nest.has_row_in_place(inner);
    // parts of rows stay in L1 beside what they are copied from. Measured on 2026-11-29 on Zen 4: larger ones take 1.1 to 2 times as long
    let is_part = !is_read && inner.len >= ONE_BY_ONE;
    let (share, most) = share(nest, (sizes.len() - 1).max(if is_part { 4 } else { 1 }));
    let mut steps = Steps::from_elem(1, loops.len());
    let (row, _) = join_row(nest, &mut steps, &|_| most);
    // short rows are joined where each input is contiguous or repeats in the tile, often enough to be worth its copy. With other
    // inputs, only the shortest are. Measured on 2026-11-29 on Zen 4 with a column and rows of 4 to 7: a closure of one operation takes
    // 0.5 of the time if they are not joined, but one of twenty 4 to 5.6 times as long
    let again = |k: usize| loops[row..].iter().rev().skip(1).any(|l| l.len >= NARROW && l.strides[k] == 0);
    let are_few = (1..sizes.len()).all(|k| again(k) || is_dense(&loops[row..], k, sizes[k]));
    let bytes = inner.len * sizes.iter().max().copied().unwrap_or(0);
    let short = if are_few { 2 * CACHE_LINE } else { CACHE_LINE / 2 };
    let is_long = is_part || is_read && inner.len >= NARROW && bytes > short;
    // a tile of large elements would be one element
    if is_read && (is_long || loops.len() == 1) || most <= 1 {
        return None;
    }
    let are_plain = (1..sizes.len()).all(|k| nest.is_plain(k));
    if let Some(near) = near_loop(nest).filter(|_| are_plain) {
        return Some(near_tile(nest, near));
    }
    // an element without bytes is contiguous and has stride 0 at once
    let is_copied = |k: usize| nest.is_plain(k) || sizes[k] > 0 && is_dense(&loops[row..], k, sizes[k]);
    let is_joined = row + 1 < loops.len() && (1..sizes.len()).all(is_copied);
    let is_tile = if is_long { are_plain && !is_copy } else { is_joined };
    is_tile.then_some((steps, share))
}

/// A tile of rows along the loop at `place`. `rows` of its steps fill cache lines of an input with gaps.
fn near_tile(nest: &ErasedNest, (place, rows): (usize, usize)) -> (Steps, usize) {
    let (loops, sizes, mut steps) = (nest.loops(), nest.sizes(), Steps::from_elem(1, nest.loops().len()));
    let (last, gaps) = (loops.len() - 1, nest.with_gaps(&loops[loops.len() - 1]));
    let (bytes, most) = share(nest, gaps.operands().count());
    let rows =
        rows.min(loops[place].len).min(most / loops[last].len.min(CACHE_LINE / sizes[0].max(1)).max(1));
    steps[place] = rows;
    let (row, len) = join_row(nest, &mut steps, &|at| if at > place { most / rows } else { most });
    if row > place {
        steps[place] = loops[place].part(most / len);
    }
    (steps, bytes)
}

/// The bytes of one of `count` copies, and the largest elements that it holds.
fn share(nest: &ErasedNest, count: usize) -> (usize, usize) {
    let (bytes, largest) = (copy_share(count), nest.sizes().iter().copied().max().unwrap_or(1));
    (bytes, bytes / largest.max(1))
}

/// Joins the innermost loops that form one row of the output, as long as it has fewer elements than `most` allows for a loop.
/// Returns the outermost of them and the length of the row.
fn join_row(nest: &ErasedNest, steps: &mut Steps, most: &dyn Fn(usize) -> usize) -> (usize, usize) {
    let (loops, size) = (nest.loops(), nest.sizes()[0]);
    let (mut len, mut row) = (1, loops.len());
    while row > 0 && len < most(row - 1) && loops[row - 1].strides[0] == (len * size).cast_signed() {
        row -= 1;
        steps[row] = loops[row].part(most(row) / len);
        len *= steps[row];
    }
    (row, len)
}
