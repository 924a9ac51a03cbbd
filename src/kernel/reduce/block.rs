//! Blocks: the parts of a nest that are reduced at once. A nest is halved until its results fit into scratch, and so do its elements,
//! or what is left of them once they are combined in registers along one loop.

#![forbid(unsafe_code)]

use super::fold::fold;
use crate::kernel::map::near_loop;
use crate::kernel::memory::{BLOCK_BYTES, List, Scratch, SliceVec};
use crate::kernel::nest::{Dropped, Fold, Loop, Nest, ROUNDS, Reduction, is_worth_halving};
use crate::kernel::threads::GRAIN;

/// The loop to halve, unless the nest is one block: the outermost one, or the outermost kept one if the nest has an output. A
/// loop along which an input is near is not cut into parts of less than two cache lines, and that of sums in registers is left
/// whole, as long as there are others.
pub(super) fn place_to_halve<A: Clone>(nest: &Nest<'_, Reduction<'_, '_, A>>) -> Option<usize> {
    let (loops, sum_loop, most) = (nest.loops(), nest.sum_loop(), BLOCK_BYTES / size_of::<A>());
    let is_summed = |place: usize| sum_loop.is_some_and(|(summed, _)| summed == place);
    let is_large = is_worth_halving(loops, GRAIN);
    let has_output = nest.has_output();
    if !has_output {
        // more rows in one sum would make the error large
        if let Some((place, sums)) = sum_loop.filter(|&(place, _)| place + 1 < loops.len()) {
            if loops[place].len() > ROUNDS * sums * nest.group_rows(&loops[place], sums) {
                return Some(place);
            }
        }
        let elements = lengths(loops, sum_loop).map(|axis| axis.0).fold(1, usize::saturating_mul);
        // measured on 2026-11-27 with `by_hand` and `cliffs` on a Xeon: elements in place may be more; with an outer reduced loop,
        // most of the elements would be copied for sums that are as fast in two blocks
        let outer = loops.first().filter(|l| !l.is_kept() && !is_summed(0)).map(Loop::len);
        let (in_place, inner) = (nest.elements().is_some(), outer.map_or(0, |len| elements / len));
        let fits = if in_place { elements <= 4 * most } else { elements.max(4 * inner) <= most };
        if !is_large && fits && nest.to_copy().1 == 0 {
            return None;
        }
    }
    let first_kept = loops.iter().position(Loop::is_kept);
    // the halves of a reduced loop share outputs, and results without an output are in the order of the kept loops
    let may_be_cut = |&place: &usize| loops[place].is_kept() == has_output || Some(place) == first_kept;
    let near = near_loop(nest).filter(|_| sum_loop.is_none());
    let is_last = |&place: &usize| {
        is_summed(place) || near.is_some_and(|(near, steps)| near == place && loops[place].len() < 2 * steps)
    };
    let mut places = (0..loops.len()).filter(may_be_cut);
    places.clone().find(|place| !is_last(place)).or_else(|| places.next())
}

/// Whether the results of one block may be so many.
pub(super) fn results_fit(loops: &[Loop], size: usize) -> bool {
    let kept = loops.iter().filter(|l| l.is_kept()).map(Loop::len);
    kept.fold(1, usize::saturating_mul) <= BLOCK_BYTES / size
}

/// The lengths of loops once elements are combined along the sum loop, and whether they are kept.
fn lengths(loops: &[Loop], sum_loop: Option<(usize, usize)>) -> impl Iterator<Item = (usize, bool)> {
    loops.iter().enumerate().map(move |(place, l)| match sum_loop {
        Some((summed, sums)) if summed == place => (sums, l.is_kept()),
        _ => (l.len(), l.is_kept()),
    })
}

/// The results of a block, in `memory`.
pub(super) fn results<'m, A: Clone>(
    block: Nest<'_, Reduction<'_, '_, A>>,
    memory: &'m mut Scratch,
) -> SliceVec<'m, A> {
    let (op, sum_loop, prepare, mut shape) =
        (block.fold(), block.sum_loop(), block.prepare(), BlockShape::new());
    lengths(block.loops(), sum_loop).for_each(|(len, is_kept)| push(&mut shape, len, is_kept));
    let (mut len, mut count) = (1, 1);
    for &(side, is_kept) in &*shape {
        len *= side;
        count *= if is_kept { side } else { 1 };
    }
    if let Some(elements) = block.elements().filter(|_| sum_loop.is_none()) {
        let mut results = memory.vec(count);
        fold_block(op, &shape, elements, &mut results);
        return results;
    }
    let is_reduced = count < len;
    let mut elements = memory.vec(len + if is_reduced { count } else { 0 });
    elements.filled(len, |slots| match sum_loop {
        Some(_) => block.sum_along(slots),
        None => block.fill(slots),
    });
    if let Some(prepare) = prepare {
        prepare(&mut elements);
    }
    if !is_reduced {
        return elements;
    }
    let (elements, mut results) = elements.split();
    fold_block(op, &shape, elements, &mut results);
    results
}

/// [`fold`] with scratch of the needed size.
pub(super) fn fold_block<A: Clone>(
    op: &dyn Fold<A>,
    shape: &[(usize, bool)],
    elements: &[A],
    to: &mut SliceVec<'_, A>,
) {
    let mut scratch = Scratch::new();
    let len = match *shape {
        [.., (_, false)] if shape.len() < 3 => 0,
        _ => elements.len(),
    };
    fold(op, shape, elements, to, &mut scratch.vec(len));
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
