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
//! A block is as many of the innermost loops as fit into L1, and a part of the next one. Accumulators are a stack of levels, each
//! the sum of twice as many blocks as the level above it: that keeps the error small.

#![forbid(unsafe_code)]

use super::fold::{Fold, fold};
use crate::kernel::map::contiguous_loop;
use crate::kernel::memory::{BLOCK_BYTES, Buffer, List, STACK_BYTES, Scratch, SliceVec};
use crate::kernel::nest::{
    Dropped, ErasedNest, Loop, MAX_ROWS, Nest, Reduction, Steps, Written, longest_lane, sum_count,
};

/// The most blocks that a block in place, without a copy, is as long as.
const IN_PLACE_BLOCKS: usize = 4;
/// The most bytes of the results of a block.
const RESULT_BYTES: usize = BLOCK_BYTES / 4;

/// Memory for results of blocks.
type Results = Buffer<{ STACK_BYTES / 4 / 64 }>;

/// Memory for a tile of a nest.
struct TileScratch {
    block: Scratch,
    sums: Results,
    results: Results,
}

/// Reduces the arranged loops of a nest.
pub(super) fn reduce<'s, A: Clone>(nest: Nest<'_, Reduction<'_, 's, A>>) -> Written<'s> {
    match nest.fill_unreduced() {
        Ok(written) => written,
        Err(nest) => reduce_blocks(nest),
    }
}

fn reduce_blocks<'s, A: Clone>(nest: Nest<'_, Reduction<'_, 's, A>>) -> Written<'s> {
    let plan = BlockPlan::of(&nest, size_of::<A>(), nest.is_stored(), nest.sum_loop());
    let mut scratch = TileScratch { block: Scratch::new(), sums: Results::new(), results: Results::new() };
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
}

impl BlockPlan {
    fn of(nest: &ErasedNest, size: usize, is_stored: bool, sum_loop: Option<usize>) -> Self {
        let (loops, contiguous) =
            (nest.loops(), if sum_loop.is_some() { None } else { contiguous_loop(nest) });
        let is_dense = is_stored && sum_loop.is_none() && is_dense_tail(loops, size);
        let capacity = RESULT_BYTES / size;
        let most = if is_dense { IN_PLACE_BLOCKS * BLOCK_BYTES / size } else { BLOCK_BYTES / size };
        let (mut in_block, mut len, mut kept) = (Steps::filled(loops.len(), 1), 1, 1);
        let mut add = |place: usize, limit: usize| {
            let l = &loops[place];
            let is_summed = sum_loop == Some(place);
            let fit = match l.is_kept() {
                // these are one sum: fewer of them keep the error small
                false if is_summed && place + 1 < loops.len() => MAX_ROWS,
                false if is_summed => longest_lane(capacity),
                true => (most / len).min(capacity / kept),
                false if len <= capacity => most / len,
                false => 0,
            };
            in_block[place] = l.part(fit.min(limit));
            len *= if is_summed { sum_count(place, loops.len(), l.len()) } else { in_block[place] };
            kept *= if l.is_kept() { in_block[place] } else { 1 };
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
        let mut plan =
            Self { steps: Steps::new(), reduced: Steps::new(), is_whole: true, holds_reduced: true };
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
    scratch: &mut TileScratch,
) -> Written<'s> {
    let (mut erased, TileScratch { block, sums, results }, op) = (ErasedNest::new(), scratch, nest.fold());
    let inputs = nest.inputs(&mut erased);
    if plan.holds_reduced {
        let (elements, shape) = elements_of(inputs, block);
        return nest.store_results(fold_results(op, &shape, elements, results));
    }
    let (mut tile, mut reduced, mut width) = (Steps::new(), plan.reduced.iter(), 1);
    for l in inputs.loops() {
        let steps = if l.is_kept() { l.len() } else { *reduced.next().unwrap_or(&1) };
        width *= if l.is_kept() { steps } else { 1 };
        tile.push(steps);
    }
    let mut sums = Levels::new(op, sums, width);
    inputs.for_each_tile(&tile, &mut |part| {
        let (elements, shape) = elements_of(part, block);
        sums.add(fold_results(op, &shape, elements, results));
    });
    nest.store_results(sums.finish())
}

/// The elements of a block, in place or in a buffer, or their sums along the sum loop; and the shape of these.
fn elements_of<'x, A: Clone>(
    block: Nest<'_, Reduction<'x, '_, A>>,
    buffer: &'x mut Scratch,
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
    buffer: &'r mut Results,
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
    let mut scratch = Scratch::new();
    let len = match **shape {
        [.., (_, false)] if shape.len() < 3 => 0,
        _ => elements.len(),
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
        if width > BLOCK_BYTES * IN_PLACE_BLOCKS {
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

/// Sums of the results of blocks, added pairwise.
struct Levels<'t, A> {
    op: &'t dyn Fold<A>,
    /// The sums, one after the other.
    sums: SliceVec<'t, A>,
    /// The number of elements of a sum.
    width: usize,
    /// The most sums that fit.
    most: usize,
    /// The number of blocks with whole results.
    count: usize,
}

impl<'t, A: Clone> Levels<'t, A> {
    /// For results of up to `width` elements.
    fn new(op: &'t dyn Fold<A>, buffer: &'t mut Results, width: usize) -> Self {
        let most = (2 * RESULT_BYTES / size_of::<A>() / width).clamp(2, 64);
        Self { op, sums: buffer.vec(most * width), width, most, count: 0 }
    }

    /// Adds the results of a block. They are not longer than the first block's.
    fn add(&mut self, results: &[A]) {
        // shorter results do not begin a sum
        if results.len() < self.width {
            let start = self.sums.len() - self.width;
            return self.op.add_row(&mut self.sums[start..], results);
        }
        if self.sums.len() == self.most * self.width {
            self.join();
        }
        self.sums.extend(results);
        self.count += 1;
        for _ in 0..self.count.trailing_zeros() {
            self.join();
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
