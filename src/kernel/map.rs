//! One pass over an output and the operands that are broadcast to its shape. Copies are maps of one operand.
//!
//! ```text
//! for each block of the output:            the two innermost loops, or a tile of them
//!     copy operands that the row loop cannot read, unless the last copy is of the same elements
//!     for each row of the block:
//!         for i in row: visit(out[i], a[i], b[0], …)
//! ```
//!
//! | the nest | the block |
//! |---|---|
//! | up to two loops and few elements, output and inputs adjacent along the inner one | the nest, not arranged |
//! | long rows in which each operand moves by one element or stays, as some row loop has it | the two innermost loops |
//! | an input with gaps along the rows that is near along another loop | a tile of that loop and of those inside it |
//! | other long rows of plain numbers | a part of a row |
//! | short rows of an output without gaps, and of plain numbers | a tile of the innermost loops as one row |
//! | everything else | the two innermost loops, element by element |
//!
//! In a tile, inputs with gaps are copied, and as many of those that stay as it takes to have a row loop. An input is near along a
//! loop if several of its steps share a cache line.

#![forbid(unsafe_code)]

use super::memory::{OperandCopies, Reserved};
use super::nest::{
    Elements, ErasedNest, Inputs, Loop, MapElement, Nest, ONE_BY_ONE, Output, RowsOf, SHORT_ROW, SerialPass,
    SharedVisitor, Steps, Visit, Visitor, Write, Written, fill, is_dense, par_fill, par_visit, steps, visit,
};
use super::order::AxisOrder;
use super::source::Cloned;
use core::cmp::Ordering;
use core::mem::{MaybeUninit, needs_drop};
use ndarray::{Array, ArrayRef, Dimension};

/// The most bytes that a tile has along the loop where an input is adjacent: some cache lines, so that each is read whole.
/// Measured on Zen 4 with transposed f32: 128 to 512 take about as long.
const TILE_BYTES: usize = 256;
/// The bytes of a cache line.
const LINE: usize = 64;

/// Visits each element of `out` with the elements of the inputs, which are broadcast to its shape.
///
/// # Panics
/// If the inputs do not go to that shape.
pub(crate) fn each<T, E: Elements, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<T, E>,
) {
    visit(Output::of(out), inputs, rows);
}

/// A new array of the results of a closure over the inputs, which are broadcast to its shape. Its axes have the inputs' order
/// in memory.
///
/// # Panics
/// If the inputs do not go to that shape.
#[inline]
pub(crate) fn to_new<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<MaybeUninit<R>, E>,
) -> Array<R, D> {
    filled(reserved, Some(&**inputs), inputs, rows)
}

/// [`to_new`] with an order of axes, or in standard layout.
fn filled<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    order: Option<&dyn AxisOrder>,
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<MaybeUninit<R>, E>,
) -> Array<R, D> {
    reserved.filled_by(order, &mut |out| fill(out, inputs, rows))
}

/// A copy of an array in standard layout.
pub(crate) fn copy<A: Clone, D: Dimension, E: Dimension>(
    reserved: Reserved<A, E>,
    array: &ArrayRef<A, D>,
) -> Array<A, E> {
    match array.as_slice() {
        Some(elements) => reserved.cloned(elements),
        // collected, so that a panic drops the clones that were made before it
        None if const { needs_drop::<A>() } => reserved.cloned(array),
        None => filled(reserved, None, &Inputs::from((array,)), &Visitor::new(Write(Cloned))),
    }
}

/// Copies an array to another one, to whose shape it is broadcast.
///
/// # Panics
/// If it does not go to that shape.
pub(crate) fn copy_into<A: Clone, D: Dimension, E: Dimension>(
    out: &mut ArrayRef<A, E>,
    array: &ArrayRef<A, D>,
) {
    each(out, &Inputs::from((array,)), &Visitor::new(Cloned));
}

/// Runs a nest.
pub(super) fn arrange_and_run<'s>(mut nest: Nest<'_, SerialPass<'_, 's>>) -> Written<'s> {
    let is_small = nest.is_small();
    if !is_small {
        nest.arrange(0);
    }
    run(nest, is_small)
}

/// Runs an arranged nest.
pub(super) fn run<'s>(nest: Nest<'_, SerialPass<'_, 's>>, is_small: bool) -> Written<'s> {
    if is_small {
        return nest.run_rows();
    }
    match Tile::of(&nest) {
        None => nest.run_rows(),
        Some(tile) => nest.run_tiles(&tile.steps, tile.copied),
    }
}

/// The first input that has gaps along a loop.
fn input_with_gaps(l: &Loop, sizes: &[usize]) -> Option<usize> {
    (1..sizes.len()).find(|&k| l.stride(k) != 0 && l.stride(k) != sizes[k].cast_signed())
}

/// The loop along which the first input is adjacent that has gaps along the innermost loop, and how many of its steps make
/// good use of a cache line.
pub(super) fn contiguous_loop(nest: &ErasedNest) -> Option<(usize, usize)> {
    nearest_loop(nest, 0)
}

/// The loop along which the first input is nearest that has gaps along the innermost loop, adjacent or less than `reach` bytes
/// apart, and how many of its steps make good use of cache lines.
fn nearest_loop(nest: &ErasedNest, reach: usize) -> Option<(usize, usize)> {
    let (sizes, (inner, outer)) = (nest.sizes(), nest.loops().split_last()?);
    let k = input_with_gaps(inner, sizes)?;
    let far = inner.stride(k).abs().min(reach.max(sizes[k] + 1).cast_signed());
    let is_near = |l: &Loop| l.len() > 3 && (1..far).contains(&l.stride(k));
    let near = outer.iter().enumerate().filter(|(_, l)| is_near(l)).min_by_key(|(_, l)| l.stride(k));
    let (place, l) = near.filter(|_| inner.len() > 3)?;
    Some((place, l.part(TILE_BYTES / l.stride(k).unsigned_abs())))
}

/// A tile for which inputs are copied.
struct Tile {
    /// The number of steps along each loop.
    steps: Steps,
    /// The number of inputs that may be copied.
    copied: usize,
}

impl Tile {
    /// The tile for a nest, or `None` if its two innermost loops serve.
    fn of(nest: &ErasedNest) -> Option<Self> {
        let (loops, sizes) = (nest.loops(), nest.sizes());
        let (inner, last) = (loops.last()?, loops.len() - 1);
        // a row that is read where it lies
        let is_read = input_with_gaps(inner, sizes).is_none() && nest.has_row();
        let is_long = inner.len() >= if is_read { SHORT_ROW } else { ONE_BY_ONE };
        if inner.stride(0) != sizes[0].cast_signed() || is_read && (is_long || last == 0) {
            return None;
        }
        let largest = sizes.iter().copied().max().unwrap_or(1).max(1);
        let copied = sizes.len() - 1;
        let most = OperandCopies::share_of(copied) / largest;
        let mut tile = Self { steps: Steps::filled(loops.len(), 1), copied };
        let are_plain = (1..sizes.len()).all(|k| nest.is_plain(k));
        if let Some(across) = nearest_loop(nest, LINE).filter(|_| are_plain) {
            tile.join(loops, sizes[0], 0, most, Some(across));
            return Some(tile);
        }
        let first = tile.join(loops, sizes[0], 0, most, None);
        if is_long {
            return are_plain.then_some(tile);
        }
        // elements without bytes look adjacent and like one that stays
        let is_copied = |k: usize| nest.is_plain(k) || sizes[k] > 0 && is_dense(&loops[first..], k, sizes[k]);
        (first < last && steps(loops) >= ONE_BY_ONE && (1..sizes.len()).all(is_copied)).then_some(tile)
    }

    /// Adds the innermost loops, from `first` on, that are one row of the output, of up to `most` elements; and as many steps
    /// of the loop `across` as it says, be it in this row or outside. Returns the outermost loop of the row.
    fn join(
        &mut self,
        loops: &[Loop],
        size: usize,
        first: usize,
        most: usize,
        across: Option<(usize, usize)>,
    ) -> usize {
        let (outside, rows) = across.unwrap_or((0, 1));
        let rows = rows.min(most);
        self.steps[outside] = rows;
        let (mut len, mut place) = (1, loops.len());
        while place > first && len < most && loops[place - 1].stride(0) == (len * size).cast_signed() {
            place -= 1;
            let fit = match place.cmp(&outside) {
                Ordering::Greater => most / len / rows,
                Ordering::Equal if across.is_some() => rows,
                _ => most / len,
            };
            self.steps[place] = loops[place].part(fit);
            len *= self.steps[place];
            if self.steps[place] < loops[place].len() {
                break;
            }
        }
        place
    }
}

/// [`each`] on several threads.
pub(crate) fn par_each<T: Send, E: Elements + Sync, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    visit: impl Visit<T, E> + Copy + Sync,
) {
    par_visit(Output::of(out), inputs, &SharedVisitor::new(visit));
}

/// [`to_new`] on several threads.
pub(crate) fn par_to_new<R: Send, E: Elements + Sync, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    map: impl MapElement<R, E> + Copy + Sync,
) -> Array<R, D> {
    reserved.filled_by(Some(&**inputs), &mut |out| par_fill(out, inputs, &SharedVisitor::new(Write(map))))
}
