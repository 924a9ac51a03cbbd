//! Blocks: the parts of a nest that are reduced at once. A nest is halved until its results fit into scratch, and so do its elements,
//! or what is left of them once they are combined in registers along one loop.

#![forbid(unsafe_code)]

use super::fold::fold;
use crate::kernel::map::{near_loop, visit_nest};
use crate::kernel::memory::{BLOCK_BYTES, COPIES_BYTES, List, Scratch, SliceVec, Slots, Written};
use crate::kernel::nest::{
    Dropped, ErasedNest, Fold, InputSet, Loop, Nest, Planned, Reduction, is_worth_halving,
};
use crate::kernel::threads::GRAIN;

/// What is done next with a nest that has no outputs.
pub(super) enum Step {
    /// The inputs that are read again are copied.
    Copy(InputSet),
    /// The loop at this place is halved.
    Halve(usize),
    /// The nest is one block, which is reduced.
    Reduce,
}

/// The next step of a nest without outputs.
pub(super) fn next_step<A: Clone>(nest: &Planned<'_, '_, '_, A>) -> Step {
    let (loops, (copied, bytes)) = (nest.loops(), nest.to_copy());
    if (1..=COPIES_BYTES).contains(&bytes) {
        return Step::Copy(copied);
    }
    if let Some(rows) = nest.sum_loop().filter(|rows| loops[rows.place].len > rows.most_steps()) {
        return Step::Halve(rows.place);
    }
    // so that an operation that may end early does
    let grain = if nest.source().fold().are_final(&[]) { BLOCK_BYTES / 2 } else { GRAIN };
    if bytes == 0 && !is_worth_halving(loops, grain) && elements_fit(nest) {
        return Step::Reduce;
    }
    // the results of a half are in the order of the kept loops, so that these are halved from the outermost one on
    let first_kept = loops.iter().position(|l| l.kept);
    let may_be_halved = |place: usize| !loops[place].kept || Some(place) == first_kept;
    let summed = nest.sum_loop().map(|rows| rows.place);
    halved_loop(nest, may_be_halved, summed).map_or(Step::Reduce, Step::Halve)
}

/// Whether a block has room for the elements, or for what is left of them once they are combined along the sum loop.
fn elements_fit<A: Clone>(nest: &Planned<'_, '_, '_, A>) -> bool {
    let most = BLOCK_BYTES / size_of::<A>();
    let elements = lengths(nest).map(|axis| axis.0).fold(1, usize::saturating_mul);
    if nest.in_place().is_some() {
        // elements in place may be more. Measured on 2026-11-28 on Zen 4: half of it takes 1.6 times as long for `sum/6d/135` of the grid
        return elements <= 8 * most;
    }
    // with an outer reduced loop, most of the elements would be copied for sums that are as fast in two blocks
    let is_outer = |l: &&Loop| !l.kept && nest.sum_loop().is_none_or(|rows| rows.place > 0);
    let inner = nest.loops().first().filter(is_outer).map_or(0, |l| elements / l.len);
    elements.max(4 * inner) <= most
}

/// The loop to halve: the outermost one that may be. A loop along which an input is near is not cut into parts of less than two
/// cache lines, and the one at `summed`, that of sums in registers, is left whole, as long as there are others.
pub(super) fn halved_loop(
    nest: &ErasedNest,
    may_be_halved: impl Fn(usize) -> bool,
    summed: Option<usize>,
) -> Option<usize> {
    let near = near_loop(nest);
    let is_short =
        |place: usize| near.is_some_and(|(near, steps)| near == place && nest.loops()[place].len < 2 * steps);
    let mut places = (0..nest.loops().len()).filter(|&place| may_be_halved(place));
    places.clone().find(|&place| summed != Some(place) && !is_short(place)).or_else(|| places.next())
}

/// The lengths of loops once elements are combined along the sum loop, and whether they are kept.
fn lengths<A: Clone>(nest: &Planned<'_, '_, '_, A>) -> impl Iterator<Item = (usize, bool)> {
    nest.loops().iter().enumerate().map(|(place, l)| match nest.sum_loop() {
        Some(rows) if rows.place == place => (rows.sums, l.kept),
        _ => (l.len, l.kept),
    })
}

/// The results of a block, in `memory`.
pub(super) fn results<'m, A: Clone>(
    block: Planned<'_, '_, '_, A>,
    memory: &'m mut Scratch,
) -> SliceVec<'m, A> {
    let (source, mut shape) = (block.source(), BlockShape::new());
    lengths(&block).for_each(|(len, is_kept)| push(&mut shape, len, is_kept));
    let (mut len, mut count) = (1, 1);
    for &(side, is_kept) in &*shape {
        len *= side;
        count *= if is_kept { side } else { 1 };
    }
    if let Some(elements) = block.in_place() {
        let mut results = memory.vec(count);
        fold_block(source.fold(), &shape, elements, &mut results);
        return results;
    }
    let is_reduced = count < len;
    let mut elements = memory.vec(len + if is_reduced { count } else { 0 });
    elements.filled(len, |slots| match block.sum_loop() {
        Some(_) => block.combine_to(slots),
        None => block.into_nest().fill(slots),
    });
    source.prepare(&mut elements);
    if !is_reduced {
        return elements;
    }
    let (elements, mut results) = elements.split();
    fold_block(source.fold(), &shape, elements, &mut results);
    results
}

impl<'n, A: Clone> Nest<'n, Reduction<'_, '_, A>> {
    /// Writes the elements to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs.
    #[inline]
    pub(crate) fn fill<'t>(self, slots: Slots<'n, 't, A>) -> Written<'t> {
        let nest = self.map_to(slots);
        if nest.is_copy() { nest.copy() } else { visit_nest(nest) }
    }
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
        _ => elements.len() / 4 * 3,
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
