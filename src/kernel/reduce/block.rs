//! Reductions by blocks in L1.
//!
//! ```text
//! for each tile of the kept loops outside the block:
//!     for each step of the reduced loops outside the block:
//!         elements of the block: in place, copied to a buffer, or combined in registers along one loop
//!         accumulators += elements, folded
//!     results = accumulators
//! ```
//!
//! A block is as many of the innermost loops as fit into L1, and a part of the next one. Where lanes are short, blocks are added
//! first and their sum is folded. Accumulators are a stack of levels, each the sum of twice as many blocks as the level above it:
//! that keeps the error small.
//!
//! Short lanes of operands of which one is read again and again, such as the coordinates of points whose distances are summed, are
//! rows instead: the reduced loop goes outside, and that operand is copied in the order of the rows, once for a tile.

#![forbid(unsafe_code)]

use super::fold::{Fold, SHORT_LANE, fold};
use crate::kernel::map::contiguous_loop;
use crate::kernel::memory::{BUFFER_BYTES, Buffer, List, SliceVec};
use crate::kernel::nest::{
    Dropped, ErasedNest, InputSet, Loop, Nest, Reduction, Steps, Written, longest_lane, sum_count,
};

/// The most buffers that a block in place, without a copy, is as long as. Measured on 2026-11-26 with `by_hand`: 16 to 64 take
/// about as long.
const IN_PLACE_BUFFERS: usize = 32;
/// The number of blocks that are added one after the other to a sum of the first level.
const LEVEL_BLOCKS: usize = 8;
/// The most bytes of the results of a block.
const RESULT_BYTES: usize = BUFFER_BYTES / 4;

/// Memory for the results of a block.
type ResultsBuffer = Buffer<{ RESULT_BYTES / 64 }>;
/// The most bytes of a block with several reduced loops, and of a source that is folded without a nest.
pub(super) const FOLD_BYTES: usize = BUFFER_BYTES / 2;
/// Memory for a source that is folded without a nest, and for the scratch of a fold.
pub(super) type FoldBuffer = Buffer<{ FOLD_BYTES / 64 }>;

/// Memory for the sums of blocks.
type LevelsBuffer = Buffer<{ 2 * RESULT_BYTES / 64 }>;

/// Memory for a tile of a nest: the elements of a block, sums of blocks, and the results of a block.
struct Scratch {
    block: Buffer<{ BUFFER_BYTES / 64 }>,
    sums: LevelsBuffer,
    results: ResultsBuffer,
}

/// Reduces the arranged loops of a nest.
pub(super) fn reduce<'s, A: Clone>(nest: Nest<'_, Reduction<'_, 's, A>>) -> Written<'s> {
    match nest.fill_unreduced() {
        Ok(written) => written,
        Err(nest) => match nest.copied_tile(BUFFER_BYTES) {
            None => reduce_blocks(nest),
            Some((copied, tile)) => reduce_copies(nest, copied, &tile),
        },
    }
}

/// Reduces tiles, each with copies of some inputs.
#[inline(never)]
fn reduce_copies<'s, A: Clone>(
    nest: Nest<'_, Reduction<'_, 's, A>>,
    copied: InputSet,
    tile: &[usize],
) -> Written<'s> {
    let (mut copies, mut written) = (Buffer::<{ BUFFER_BYTES / 64 }>::new(), Written::none());
    nest.for_each_tile(tile, &mut |nest| {
        written.add(reduce_blocks(nest.with_copies(copied, copies.bytes())));
    });
    written
}

fn reduce_blocks<'s, A: Clone>(nest: Nest<'_, Reduction<'_, 's, A>>) -> Written<'s> {
    let plan = BlockPlan::of(&nest, size_of::<A>(), (nest.is_stored(), nest.max_rows()), nest.sum_loop());
    let mut scratch = Scratch { block: Buffer::new(), sums: Buffer::new(), results: Buffer::new() };
    if plan.is_whole {
        return reduce_tile(nest, &plan, &mut scratch);
    }
    let mut tile = Steps::new();
    for (l, &steps) in nest.loops().iter().zip(&*plan.steps) {
        tile.push(if l.is_kept() { steps } else { l.len() });
    }
    let mut written = Written::none();
    nest.for_each_tile(&tile, &mut |nest| written.add(reduce_tile(nest, &plan, &mut scratch)));
    written
}

/// How a nest is cut into blocks.
struct BlockPlan {
    /// The number of steps of each loop in a block.
    steps: Steps,
    /// The number of steps of each reduced loop in a block.
    reduced: Steps,
    /// Whether the nest is one block.
    is_whole: bool,
    /// Whether a block has all steps of the reduced loops.
    holds_reduced: bool,
    /// Whether lanes are short: they are folded once, after the blocks are added.
    has_short_lanes: bool,
}

impl BlockPlan {
    fn of(
        nest: &ErasedNest,
        size: usize,
        (is_stored, max_rows): (bool, usize),
        sum_loop: Option<usize>,
    ) -> Self {
        let (loops, contiguous) =
            (nest.loops(), if sum_loop.is_some() { None } else { contiguous_loop(nest) });
        let is_short = |l: &Loop| !l.is_kept() && l.len() < SHORT_LANE;
        // a reduced loop is outside a kept one
        let first_reduced = loops.iter().position(|l| !l.is_kept());
        let has_outer_reduced =
            loops.iter().rposition(Loop::is_kept) > first_reduced && first_reduced.is_some();
        let has_short_lanes = contiguous.is_none()
            && sum_loop.is_none()
            && has_outer_reduced
            && loops.last().is_some_and(is_short);
        let is_dense = is_stored && sum_loop.is_none() && !has_short_lanes && is_dense_tail(loops, size);
        let capacity = RESULT_BYTES / size;
        let most = match (is_dense, has_short_lanes) {
            // rows are added one after the other: fewer of them keep the error small
            (true, _) if loops.last().is_some_and(Loop::is_kept) => {
                IN_PLACE_BUFFERS / 4 * BUFFER_BYTES / size
            }
            (true, _) => IN_PLACE_BUFFERS * BUFFER_BYTES / size,
            // blocks are added before their lanes are folded
            (_, true) => capacity,
            _ => BUFFER_BYTES / size,
        };
        let (mut in_block, mut len, mut kept) = (Steps::filled(loops.len(), 1), 1, 1);
        let mut has_reduced = false;
        let mut add = |place: usize, limit: usize| {
            let l = &loops[place];
            let is_summed = sum_loop == Some(place);
            let fit = match l.is_kept() {
                // these are one sum: fewer of them keep the error small
                false if is_summed && place + 1 < loops.len() => max_rows,
                false if is_summed => longest_lane(capacity),
                true => (most / len).min(capacity / kept),
                // the sums of rows are folded in scratch, which must hold them
                false if has_reduced && kept > 1 && !has_short_lanes => FOLD_BYTES / size / len,
                false if len <= capacity => most / len,
                false => 0,
            };
            in_block[place] = l.part(fit.min(limit));
            len *= if is_summed { sum_count(place, loops.len(), l.len()) } else { in_block[place] };
            kept *= if l.is_kept() { in_block[place] } else { 1 };
            has_reduced |= !l.is_kept();
            in_block[place] == l.len()
        };
        if let Some((place, limit)) = contiguous {
            add(place, limit);
        }
        let mut is_whole = true;
        for place in (0..loops.len()).rev() {
            // the sum loop is in every block, whatever part of the kept loops it has
            let is_in_block = is_whole || sum_loop == Some(place);
            if is_in_block && contiguous.is_none_or(|contiguous| contiguous.0 != place) {
                is_whole &= add(place, usize::MAX);
            }
        }
        let mut plan = Self {
            steps: Steps::new(),
            reduced: Steps::new(),
            is_whole: true,
            holds_reduced: true,
            has_short_lanes,
        };
        for (l, &steps) in loops.iter().zip(&*in_block) {
            plan.steps.push(steps);
            plan.is_whole &= steps == l.len();
            if !l.is_kept() {
                plan.reduced.push(steps);
                plan.holds_reduced &= steps == l.len();
            }
        }
        plan
    }
}

/// Reduces a tile whose results fit into L1.
fn reduce_tile<'s, A: Clone>(
    nest: Nest<'_, Reduction<'_, 's, A>>,
    plan: &BlockPlan,
    scratch: &mut Scratch,
) -> Written<'s> {
    let (mut erased, Scratch { block, sums, results }, op) = (ErasedNest::new(), scratch, nest.fold());
    let inputs = nest.inputs(&mut erased);
    if plan.holds_reduced {
        let (elements, shape) = elements_of(inputs, block);
        return nest.store_results(fold_results(op, &shape, elements, results));
    }
    let (mut tile, mut reduced, mut width) = (Steps::new(), plan.reduced.iter(), 1);
    for l in inputs.loops() {
        let steps = if l.is_kept() { l.len() } else { *reduced.next().unwrap_or(&1) };
        width *= if l.is_kept() || plan.has_short_lanes { steps } else { 1 };
        tile.push(steps);
    }
    let mut first_shape = None;
    let mut sums = Levels::new(op, sums, width);
    inputs.for_each_tile(&tile, &mut |part| {
        let (elements, shape) = elements_of(part, block);
        sums.add(if plan.has_short_lanes { elements } else { fold_results(op, &shape, elements, results) });
        // the first block is the largest one
        first_shape.get_or_insert(shape);
    });
    let sums = sums.finish();
    match first_shape {
        Some(shape) if plan.has_short_lanes => nest.store_results(fold_results(op, &shape, sums, results)),
        _ => nest.store_results(sums),
    }
}

/// The elements of a block, in place or in a buffer, or their sums along the sum loop; and the shape of these.
fn elements_of<'x, A: Clone>(
    block: Nest<'_, Reduction<'x, '_, A>>,
    buffer: &'x mut Buffer<{ BUFFER_BYTES / 64 }>,
) -> (&'x [A], BlockShape) {
    let (sum_loop, mut shape, mut len) = (block.sum_loop(), BlockShape::new(), 1);
    if let Some(elements) = block.elements().filter(|_| sum_loop.is_none()) {
        for l in block.loops() {
            shape.push(l.len(), l.is_kept());
        }
        return (elements, shape);
    }
    for (place, l) in block.loops().iter().enumerate() {
        let is_summed = sum_loop == Some(place);
        let steps = if is_summed { sum_count(place, block.loops().len(), l.len()) } else { l.len() };
        if steps > 1 {
            shape.push(steps, l.is_kept());
            len *= steps;
        }
    }
    let (mut elements, prepare) = (buffer.vec(len), block.prepare());
    elements.filled(len, |slots| match sum_loop {
        Some(place) => block.sum_along(place, slots),
        None => block.fill(slots),
    });
    if let Some(prepare) = prepare {
        prepare(&mut elements);
    }
    (elements.into_elements(), shape)
}

/// The results of a block, or its elements if nothing in it is reduced.
#[inline(never)]
fn fold_results<'r, A: Clone>(
    op: &dyn Fold<A>,
    shape: &BlockShape,
    elements: &'r [A],
    buffer: &'r mut ResultsBuffer,
) -> &'r [A] {
    if shape.iter().all(|axis| axis.1) {
        return elements;
    }
    let mut results = buffer.vec(shape.result_count());
    fold_block(op, shape, elements, &mut results);
    results.into_elements()
}

/// [`fold`] with scratch of the needed size.
pub(super) fn fold_block<A: Clone>(
    op: &dyn Fold<A>,
    shape: &BlockShape,
    elements: &[A],
    to: &mut SliceVec<'_, A>,
) {
    let mut scratch = FoldBuffer::new();
    let len = match **shape {
        [.., (_, false)] if shape.len() < 3 => 0,
        _ => elements.len().min(FOLD_BYTES / size_of::<A>()),
    };
    fold(op, shape, elements, to, &mut scratch.vec(len));
}

/// Whether the input's elements are contiguous along the loops that fit into a block.
fn is_dense_tail(loops: &[Loop], size: usize) -> bool {
    let mut width = size;
    for l in loops.iter().rev() {
        if l.stride(1) != width.cast_signed() {
            return false;
        }
        width *= l.len();
        if width > BUFFER_BYTES * IN_PLACE_BUFFERS {
            break;
        }
    }
    true
}

/// The shape of a block, outermost axis first: the length of each axis, and whether it is kept. Adjacent axes that are both kept,
/// or both reduced, are one.
pub(super) struct BlockShape(List<(usize, bool), 8>);

impl BlockShape {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self(List::new())
    }

    /// Adds the axes of a source in standard layout that is reduced to the shape `out`.
    #[inline]
    pub(super) fn push_axes(&mut self, shape: &[usize], out: &[usize], dropped: Dropped<'_>) {
        let mut out_axis = 0;
        let leading = shape.len().saturating_sub(out.len());
        for (axis, &len) in shape.iter().enumerate() {
            let is_dropped = dropped.map_or(axis < leading, |axes| axes.contains(axis));
            let is_kept = !is_dropped && out.get(out_axis) == Some(&len);
            out_axis += usize::from(!is_dropped);
            if len > 1 {
                self.push(len, is_kept);
            }
        }
    }

    /// The number of results.
    pub(super) fn result_count(&self) -> usize {
        self.iter().filter(|axis| axis.1).map(|axis| axis.0).product()
    }

    #[inline]
    fn push(&mut self, len: usize, is_kept: bool) {
        match self.0.last_mut() {
            Some((last, kind)) if *kind == is_kept => *last *= len,
            _ => self.0.push((len, is_kept)),
        }
    }
}

impl core::ops::Deref for BlockShape {
    type Target = [(usize, bool)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Sums of the results of blocks. [`LEVEL_BLOCKS`] of them are added one after the other, and these sums pairwise.
struct Levels<'t, A> {
    op: &'t dyn Fold<A>,
    /// The sums, one after the other.
    sums: SliceVec<'t, A>,
    /// The number of elements of a sum.
    width: usize,
    /// The most sums that fit.
    most: usize,
    /// The number of results in the last sum.
    count: usize,
    /// The number of sums of the first level that are complete.
    complete: usize,
}

impl<'t, A: Clone> Levels<'t, A> {
    /// For results of up to `width` elements.
    fn new(op: &'t dyn Fold<A>, buffer: &'t mut LevelsBuffer, width: usize) -> Self {
        let most = (2 * RESULT_BYTES / size_of::<A>() / width).max(2);
        Self { op, sums: buffer.vec(most * width), width, most, count: 0, complete: 0 }
    }

    /// Adds the results of a block. They are not longer than the first block's.
    fn add(&mut self, results: &[A]) {
        // shorter results do not begin a sum
        let is_whole = results.len() == self.width;
        if is_whole && self.count == 0 {
            self.sums.extend(results);
        } else {
            let start = self.sums.len() - self.width;
            self.op.add_row(&mut self.sums[start..][..results.len()], results);
        }
        self.count += usize::from(is_whole);
        if self.count == LEVEL_BLOCKS {
            self.count = 0;
            self.complete += 1;
            for _ in 0..self.complete.trailing_zeros() {
                self.join();
            }
            if self.sums.len() == self.most * self.width {
                self.join();
            }
        }
    }

    /// Adds the last sum to the one before, if there is one.
    fn join(&mut self) {
        let last = self.sums.len() - self.width;
        if last > 0 {
            let (below, above) = self.sums.split_at_mut(last);
            self.op.add_row(&mut below[last - self.width..], above);
            self.sums.truncate(last);
        }
    }

    /// The sum of all results.
    fn finish(&mut self) -> &[A] {
        while self.sums.len() > self.width {
            self.join();
        }
        &self.sums
    }
}
