//! Blocks: the parts of a nest that are reduced at once. A nest is halved until its results fit into scratch, and so do its elements,
//! or the results of those that are combined in registers along one loop.

#![forbid(unsafe_code)]

use super::fold::fold;
use crate::kernel::map::{near_loop, visit_halves};
use crate::kernel::memory::{BLOCK_BYTES, List, Scratch, SliceVec, Slots};
use crate::kernel::nest::{BlockWay, Dropped, ErasedNest, Loop, NARROW, Nest, Reduction, is_worth_halving};
use crate::kernel::threads::GRAIN;

/// The loop to halve until a nest that has no outputs is one block; `None` if it is one, and then no input is to be copied.
pub(super) fn place_to_halve<A: Clone>(nest: &Nest<'_, Reduction<'_, A>>, way: BlockWay) -> Option<usize> {
    let loops = nest.loops();
    // a reduction that may end early is halved down to blocks, along every loop
    let may_end = nest.source().fold().are_final(&[]);
    let summed = match way {
        BlockWay::Panels(rows) if loops[rows.place].len > rows.most_steps() => return Some(rows.place),
        BlockWay::Panels(rows) if !may_end => Some(rows.place),
        _ => None,
    };
    let grain = if may_end { BLOCK_BYTES / 2 } else { GRAIN };
    if nest.to_copy().1 == 0 && !is_worth_halving(loops, grain) && fits_block(loops, way, size_of::<A>()) {
        return None;
    }
    // the results of a half are in the order of the kept loops, so that these are halved from the outermost one on
    let first_kept = loops.iter().position(|l| l.kept);
    halved_loop(nest, &|place| !loops[place].kept || Some(place) == first_kept, summed)
}

/// Whether a block has room for the elements, or for the results of those that are combined along the sum loop.
fn fits_block(loops: &[Loop], way: BlockWay, size: usize) -> bool {
    let most = BLOCK_BYTES / size;
    let elements = lengths(loops, way).map(|axis| axis.0).fold(1, usize::saturating_mul);
    let may_be_outer = match way {
        // elements in place may be more. Measured on 2026-11-28 on Zen 4: half of it takes 1.6 times as long for sums of 6 axes over 1, 3 and 5
        BlockWay::InPlace => return elements <= 8 * most,
        BlockWay::Panels(rows) => rows.place > 0,
        BlockWay::Buffer => true,
    };
    // with an outer reduced loop, most of the elements would be copied for sums that are as fast in two blocks
    let inner = loops.first().filter(|l| may_be_outer && !l.kept).map_or(0, |l| elements / l.len);
    elements.max(4 * inner) <= most
}

/// The loop to halve: the outermost one that may be. A loop along which an input is near is not cut into parts of less than two
/// cache lines, and short inner loops and the one at `summed`, that of sums in registers, are left whole, as long as there are others.
pub(super) fn halved_loop(
    nest: &ErasedNest,
    may_be_halved: &dyn Fn(usize) -> bool,
    summed: Option<usize>,
) -> Option<usize> {
    let near = near_loop(nest);
    let is_short = |place: usize| {
        let l = &nest.loops()[place];
        place > 0 && l.len < NARROW || near.is_some_and(|near| near.0 == place && l.len < 2 * l.part(near.1))
    };
    let mut places = (0..nest.loops().len()).filter(|&place| may_be_halved(place));
    places.clone().find(|&place| summed != Some(place) && !is_short(place)).or_else(|| places.next())
}

/// The lengths of loops once elements are combined along the sum loop, and whether they are kept.
fn lengths(loops: &[Loop], way: BlockWay) -> impl Iterator<Item = (usize, bool)> {
    loops.iter().enumerate().map(move |(place, l)| match way {
        BlockWay::Panels(rows) if rows.place == place => (rows.sums, l.kept),
        _ => (l.len, l.kept),
    })
}

/// The results of a block whose elements are combined in this way, in `memory`.
pub(super) fn reduce_block<'m, A: Clone>(
    block: Nest<'_, Reduction<'_, A>>,
    way: BlockWay,
    memory: &'m mut Scratch,
) -> SliceVec<'m, A> {
    let (source, mut shape) = (block.source(), BlockShape::new());
    lengths(block.loops(), way).for_each(|(len, is_kept)| push(&mut shape, len, is_kept));
    let count = shape.iter().filter(|axis| axis.1).map(|axis| axis.0).product();
    let len = shape.iter().map(|axis| axis.0).product();
    let (is_reduced, room) = (count < len, count + scratch_len(&shape, len));
    let fold_to = |elements: &[A], memory: SliceVec<'m, A>| {
        let [mut results, mut scratch] = memory.split_at(count);
        fold(source.fold(), &shape, elements, &mut results, &mut scratch);
        results
    };
    if let (BlockWay::InPlace, Some(elements)) = (way, block.in_place()) {
        return fold_to(elements, memory.vec(room));
    }
    let mut elements = memory.vec(len + if is_reduced { room } else { 0 });
    elements.filled(len, |slots| match way {
        BlockWay::Panels(_) => block.combine_to(slots),
        _ => fill(block, slots),
    });
    if !is_reduced {
        return elements;
    }
    let (elements, memory) = elements.split();
    fold_to(elements, memory)
}

/// Writes the elements of a nest to slots, in the order of the loops.
///
/// # Panics
/// If the number of slots differs.
#[inline]
pub(crate) fn fill<'n, A: Clone>(nest: Nest<'n, Reduction<'n, A>>, slots: Slots<'n, A>) {
    let nest = nest.map_to(slots);
    if nest.is_copy() { nest.copy() } else { visit_halves(nest) }
}

/// The room that [`fold`] needs for `len` elements beside the results.
pub(super) fn scratch_len(shape: &[(usize, bool)], len: usize) -> usize {
    match *shape {
        [.., (_, false)] if shape.len() < 3 => 0,
        _ => len / 4 * 3,
    }
}

/// The shape of a block, outermost axis first: the length of each axis, and whether it is kept. Adjacent axes that are both kept,
/// or both reduced, are one.
pub(super) type BlockShape = List<(usize, bool), 8>;

/// Adds the axes of a source in standard layout that is reduced to the shape `out`.
#[inline]
pub(super) fn push_axes(axes: &mut BlockShape, shape: &[usize], out: &[usize], dropped: Dropped<'_>) {
    let mut out_axis = 0;
    let leading = shape.len().saturating_sub(out.len());
    for (axis, &len) in shape.iter().enumerate() {
        let is_dropped = dropped.map_or(axis < leading, |axes| axes.contains(axis));
        let is_kept = !is_dropped && out.get(out_axis) == Some(&len);
        out_axis += usize::from(!is_dropped);
        push(axes, len, is_kept);
    }
}

#[inline]
fn push(shape: &mut BlockShape, len: usize, is_kept: bool) {
    match shape.last_mut() {
        _ if len == 1 => {}
        Some((last, kind)) if *kind == is_kept => *last *= len,
        _ => shape.push((len, is_kept)),
    }
}
