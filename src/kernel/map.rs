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
//! | an input with gaps along the rows that is adjacent along another loop | a tile of that loop and of those inside it |
//! | other long rows of plain numbers | a part of a row |
//! | short rows of an output without gaps, and of plain numbers | a tile of the innermost loops as one row |
//! | everything else | the two innermost loops, element by element |
//!
//! In a tile, inputs with gaps are copied, and as many of those that stay as it takes to have a row loop.

#![forbid(unsafe_code)]

use super::memory::{Copies, Reserved, Slot};
use super::nest::{
    Block, Elements, FEW, Inputs, Loop, Make, Nest, Output, Raw, Rows, State, Visit, Written, is_dense,
    steps, stride_of_row,
};
use super::order::AxisOrder;
use super::source::Cloned;
use super::threads::{GRAIN, in_parts};
use core::cmp::Ordering;
use core::mem::needs_drop;
use ndarray::{Array, ArrayRef, Dimension};

/// Rows of fewer elements are joined to longer ones. Measured on Zen 4 with f32: rows of 24 to 48 take about as long either
/// way.
const SHORT: usize = 32;
/// The most bytes that a tile has along the loop where an input is adjacent: some cache lines, so that each is read whole.
/// Measured on Zen 4 with transposed f32: 128 to 512 take about as long.
const ACROSS: usize = 256;

/// What a map does with rows: `dyn`, so that all but this is compiled once for all closures.
pub(crate) type VisitRows<'f, T, E> = dyn FnMut(Rows<'_, T, E>) + 'f;
/// The same for the slots of a new array.
pub(crate) type FillRows<'f, R, E> = dyn for<'s> FnMut(Rows<'_, Slot<'s, R>, E>) -> Written<'s> + 'f;

/// Visits each element of `out` with the elements of the inputs, which are broadcast to its shape.
///
/// # Panics
/// If the inputs do not go to that shape.
#[inline(never)]
pub(crate) fn each<T, E: Elements, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    visit: &mut VisitRows<'_, T, E>,
) {
    let out = Output::of(out);
    if let Some(mut nest) = Nest::over(&mut State::new(), out.shape(), out, None, inputs) {
        let is_small = nest.is_small();
        if !is_small {
            nest.arrange(0);
        }
        nest.erased(|raw, types| {
            run(raw, is_small, &mut |block: Block<'_, '_>| visit(types.rows(block)));
        });
    }
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
    fill: &mut FillRows<'_, R, E>,
) -> Array<R, D> {
    filled(reserved, Some(inputs), inputs, fill)
}

/// [`to_new`] with an order of axes, or in standard layout.
#[inline(never)]
fn filled<R, E: Elements, D: Dimension>(
    reserved: Reserved<R, D>,
    order: Option<&dyn AxisOrder>,
    inputs: &Inputs<'_, E>,
    fill: &mut FillRows<'_, R, E>,
) -> Array<R, D> {
    reserved.written(order, |out| {
        let mut state = State::new();
        let Some(mut nest) = Nest::over(&mut state, out.shape(), out, None, inputs) else {
            return Written::none();
        };
        let is_small = nest.is_small();
        if !is_small {
            nest.arrange(0);
        }
        fill_nest(nest, is_small, fill)
    })
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
        None => filled(reserved, None, &Inputs::from((array,)), &mut |rows| rows.fill(&mut Cloned)),
    }
}

/// A copy of an array, whose axes have its order in memory.
pub(crate) fn copy_like<A: Clone, D: Dimension, E: Dimension>(
    reserved: Reserved<A, E>,
    array: &ArrayRef<A, D>,
) -> Array<A, E> {
    if array.is_standard_layout() || const { needs_drop::<A>() } {
        return copy(reserved, array);
    }
    to_new(reserved, &Inputs::from((array,)), &mut |rows| rows.fill(&mut Cloned))
}

/// Copies an array to another one, to whose shape it is broadcast.
///
/// # Panics
/// If it does not go to that shape.
pub(crate) fn copy_into<A: Clone, D: Dimension, E: Dimension>(
    out: &mut ArrayRef<A, E>,
    array: &ArrayRef<A, D>,
) {
    each(out, &Inputs::from((array,)), &mut |rows| rows.visit(&mut Cloned));
}

/// Fills the output of an arranged nest.
#[inline]
pub(super) fn fill_nest<'s, R, E: Elements>(
    nest: Nest<'_, Slot<'s, R>, E>,
    is_small: bool,
    fill: &mut FillRows<'_, R, E>,
) -> Written<'s> {
    let mut written = Written::none();
    nest.erased(|raw, types| {
        run(raw, is_small, &mut |block: Block<'_, '_>| written.add(fill(types.rows(block))));
    });
    written
}

/// Runs the blocks of a nest.
fn run<'b>(nest: Raw<'_, 'b>, is_small: bool, then: &mut dyn FnMut(Block<'_, 'b>)) {
    if is_small {
        return nest.for_each_block(then);
    }
    match Tile::of(&nest) {
        None => nest.for_each_block(then),
        Some(tile) => in_tiles(nest, &tile, then),
    }
}

/// The first input that has gaps along a loop.
fn input_with_gaps(l: &Loop, sizes: &[usize]) -> Option<usize> {
    (1..sizes.len()).find(|&k| l.stride(k) != 0 && l.stride(k) != sizes[k].cast_signed())
}

/// The loop along which the first input is adjacent that has gaps along the innermost loop, and how many of its steps make
/// good use of a cache line.
pub(super) fn loop_across(nest: &Raw<'_, '_>) -> Option<(usize, usize)> {
    let (sizes, (inner, outer)) = (nest.sizes(), nest.loops().split_last()?);
    let k = input_with_gaps(inner, sizes)?;
    let place = outer.iter().rposition(|l| l.stride(k) == sizes[k].cast_signed())?;
    let len = outer[place].len();
    (inner.len() > 3 && len > 3).then(|| (place, outer[place].part(ACROSS / sizes[k])))
}

/// A tile for which inputs are copied.
struct Tile {
    /// The number of steps along each loop.
    steps: [usize; super::nest::LOOPS],
    /// The number of inputs that may be copied.
    copied: usize,
}

impl Tile {
    /// The tile for a nest, or `None` if its two innermost loops serve.
    fn of(nest: &Raw<'_, '_>) -> Option<Self> {
        let (loops, sizes) = (nest.loops(), nest.sizes());
        let (inner, last) = (loops.last()?, loops.len() - 1);
        // a row that is read where it lies
        let is_read = input_with_gaps(inner, sizes).is_none() && nest.has_row();
        let is_long = inner.len() >= if is_read { SHORT } else { FEW };
        if inner.stride(0) != sizes[0].cast_signed() || is_read && (is_long || last == 0) {
            return None;
        }
        let largest = sizes.iter().copied().max().unwrap_or(1).max(1);
        let copied = sizes.len() - 1;
        let most = Copies::share_of(copied) / largest;
        let mut tile = Self { steps: [1; super::nest::LOOPS], copied };
        let are_plain = (1..sizes.len()).all(|k| nest.is_plain(k));
        if let Some(across) = loop_across(nest).filter(|_| are_plain) {
            tile.join(loops, sizes[0], 0, most, Some(across));
            return Some(tile);
        }
        if is_long {
            tile.join(loops, sizes[0], last, most, None);
            return are_plain.then_some(tile);
        }
        let first = tile.join(loops, sizes[0], 0, most, None);
        let is_copied = |k: usize| nest.is_plain(k) || is_dense(&loops[first..], k, sizes[k]);
        (first < last && steps(loops) >= FEW && (1..sizes.len()).all(is_copied)).then_some(tile)
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

/// Runs tiles of a nest, for which inputs are copied that the row loop cannot read.
#[inline(never)]
fn in_tiles<'b>(nest: Raw<'_, 'b>, tile: &Tile, then: &mut dyn FnMut(Block<'_, 'b>)) {
    let (count, mut copies) = (nest.loops().len(), Copies::new(tile.copied));
    nest.for_each_tile(&tile.steps[..count], &mut |part: Raw<'_, 'b>| {
        let sizes = part.sizes();
        let row = part.row_loops();
        let (mut copied, mut moving) = (0, 0);
        for k in 1..sizes.len() {
            let stride = stride_of_row(row, k, sizes[k]);
            if stride != Some(0) {
                moving |= 1 << (k - 1);
                copied |= u8::from(stride != Some(sizes[k].cast_signed())) << k;
            }
        }
        // operands that stay are copied until there is a loop for those that move
        for k in 1..sizes.len() {
            if part.has_row_of(moving) {
                break;
            }
            copied |= !moving << 1 & 1 << k;
            moving |= 1 << (k - 1);
        }
        part.with_copies(&mut copies, copied, then);
    });
}

/// [`each`] on several threads.
pub(crate) fn par_each<T: Send, E: Elements + Sync, D: Dimension>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    visit: impl Visit<T, E> + Copy + Sync,
) {
    let out = Output::of(out);
    if let Some(mut nest) = Nest::over(&mut State::new(), out.shape(), out, None, inputs) {
        nest.arrange(0);
        in_parts(nest, GRAIN, &|part| {
            part.erased(|raw, types| {
                run(raw, false, &mut |block| types.rows(block).visit(&mut { visit }));
            });
        });
    }
}

/// [`to_new`] on several threads.
pub(crate) fn par_to_new<R: Send, E: Elements + Sync, D: Dimension>(
    reserved: Reserved<R, D>,
    inputs: &Inputs<'_, E>,
    make: impl Make<R, E> + Copy + Sync,
) -> Array<R, D> {
    reserved.written(Some(inputs), |out| {
        let mut state = State::new();
        let Some(mut nest) = Nest::over(&mut state, out.shape(), out, None, inputs) else {
            return Written::none();
        };
        nest.arrange(0);
        in_parts(nest, GRAIN, &|part| fill_nest(part, false, &mut |rows| rows.fill(&mut { make })))
    })
}
