//! Passes of which the results are added up: no array of them all.
//!
//! The innermost loops, kept and reduced alike, make a tile of sums, small enough for L1, to which the results are
//! added as they come. After a few rounds it is carried to the next level, so that no sum is added to for long.
//! At last the reduced loops in the tile are added up by halves.

use super::pass::Pass;
use super::sources::Layout;
use super::{Inputs, Sources};
use crate::kernel::plan::{Loop, Nest, Stack, Walk};
use crate::kernel::raw::Target;
use crate::kernel::sum::lane;
use alloc::{vec, vec::Vec};
use core::mem::{needs_drop, replace};
use ndarray::{Array, ArrayViewMut1, Dimension};
use num_traits::Zero;

/// The most sums in a tile.
const ROOM: usize = 1024;
/// Reduced loops are taken into the tile while it has no more sums than this.
const LANES: usize = 256;
/// How often the tile is added to before it is carried.
const ROUNDS: usize = 32;
/// How many times the sums of one level are carried to the next at once.
const RADIX: usize = 8;

/// The sums of what `f` makes of the inputs' elements, brought to the shape `joint`, over the axes that `shape` does
/// not have or has with size 1; shapes are aligned at the right. The result is in standard layout.
///
/// # Panics
/// Where the shape or that of an input does not go to `joint`.
pub(crate) fn sum_to<R, E, P, const M: usize>(
    joint: &[usize],
    shape: E,
    inputs: &Inputs<'_, P, M>,
    f: impl FnMut(P::Items) -> R,
) -> Array<R, E>
where
    R: Clone + Zero,
    E: Dimension,
    P: Sources<M>,
{
    let mut out = Array::zeros(shape);
    inputs.assert_ndim(joint.len());
    assert!(out.ndim() <= joint.len(), "the sum has no more axes than the joint shape");
    let to = Layout::of(&out);
    let axes = joint.iter().enumerate().map(|(axis, &len)| {
        let from_end = joint.len() - 1 - axis;
        let mut strides = inputs.strides(from_end, len);
        strides[0] = to.stride(from_end, len);
        Loop { len, strides }
    });
    let nest = Nest::new(axes, |l| {
        let size = |stride: &isize| stride.unsigned_abs();
        (l.strides[1..].iter().map(size).fold(0, usize::saturating_add), size(&l.strides[0]))
    });
    if !nest.is_empty() {
        let out = out.as_slice_mut().expect("a new array is in standard layout");
        let tiling = Tiling::of(nest.loops());
        Summation { tiling, from: inputs.start().moved(nest.offsets()), f, out }.run();
    }
    out
}

/// A loop of which the tile takes a part at a time.
#[derive(Clone, Copy)]
struct Cut<const M: usize> {
    whole: Loop<M>,
    take: usize,
    /// Its place among the tile's loops, if it takes more than one step.
    place: Option<usize>,
}

/// How the loops are shared out. The first of the strides are those in the output, 0 where reduced.
struct Tiling<const M: usize> {
    /// Outside of the tile, but for the parts of the cut ones.
    kept: Stack<Loop<M>>,
    reduced: Stack<Loop<M>>,
    cut_kept: Cut<M>,
    cut_reduced: Cut<M>,
    tile: Stack<Loop<M>>,
    /// The tile's loops' strides in the tile.
    strides: Stack<isize>,
    width: usize,
}

impl<const M: usize> Tiling<M> {
    fn of(loops: &[Loop<M>]) -> Self {
        let none = Cut { whole: Loop::ONE, take: 1, place: None };
        let (mut cuts, mut closed) = ([none; 2], [false; 2]);
        let mut outside = [Stack::new(Loop::ONE), Stack::new(Loop::ONE)];
        let (mut tile, mut width) = (Stack::new(Loop::ONE), 1);
        for &l in loops.iter().rev() {
            let (kind, room) = if l.strides[0] == 0 { (1, LANES) } else { (0, ROOM) };
            if closed[kind] {
                outside[kind].push(l);
                continue;
            }
            let take = l.len.min((room / width).max(1));
            if take < l.len {
                closed[kind] = true;
                cuts[kind] = Cut { whole: l, take, place: (take > 1).then_some(tile.len()) };
            }
            if take > 1 {
                tile.push(Loop { len: take, ..l });
                width *= take;
            }
        }
        for list in outside.iter_mut().chain([&mut tile]) {
            list.reverse();
        }
        for cut in &mut cuts {
            cut.place = cut.place.map(|place| tile.len() - 1 - place);
        }
        let (mut strides, mut inside) = (Stack::new(0), width.cast_signed());
        for l in tile.iter() {
            inside /= l.len.cast_signed();
            strides.push(inside);
        }
        let ([kept, reduced], [cut_kept, cut_reduced]) = (outside, cuts);
        Self { kept, reduced, cut_kept, cut_reduced, tile, strides, width }
    }

    /// The loops of some rounds through the tile, with strides in the tile, where the cut loops have these lengths.
    fn nest(&self, kept: usize, reduced: usize, rounds: usize) -> Nest<M> {
        let mut strides = self.cut_reduced.whole.strides;
        for stride in &mut strides {
            *stride *= self.cut_reduced.take.cast_signed();
        }
        let rounds = Loop { len: rounds, strides };
        let tile = self.tile.iter().zip(&*self.strides).enumerate().map(|(place, (&l, &stride))| {
            let mut l = l;
            l.strides[0] = stride;
            for (cut, len) in [(&self.cut_kept, kept), (&self.cut_reduced, reduced)] {
                if cut.place == Some(place) {
                    l.len = len;
                }
            }
            l
        });
        Nest::new([rounds].into_iter().chain(tile), |_| ())
    }
}

struct Summation<'a, R, P, F, const M: usize> {
    tiling: Tiling<M>,
    /// Invariant: the steps of the loops that were shared out stay within arrays that are borrowed.
    from: P,
    f: F,
    out: &'a mut [R],
}

impl<R: Clone + Zero, P: Sources<M>, F: FnMut(P::Items) -> R, const M: usize> Summation<'_, R, P, F, M> {
    fn run(mut self) {
        let mut levels = Levels::new(self.tiling.width);
        let (kept, Cut { whole, take, .. }) = (self.tiling.kept.clone(), self.tiling.cut_kept);
        for at in Walk::new(&kept, [0; M]) {
            for first in (0..whole.len).step_by(take) {
                let part = take.min(whole.len - first);
                let at = ahead(at, &whole, first);
                self.add(&mut levels, at, part);
                let tile = levels.finish();
                self.fold(tile);
                self.store(tile, at[0], part);
                levels.clear();
            }
        }
    }

    /// Adds everything that belongs to the tile at `at`.
    fn add(&mut self, levels: &mut Levels<R>, at: [isize; M], kept: usize) {
        let (reduced, Cut { whole, take, .. }) = (self.tiling.reduced.clone(), self.tiling.cut_reduced);
        let (rounds, rest) = (whole.len / take, whole.len % take);
        let many = self.tiling.nest(kept, take, ROUNDS.min(rounds));
        let few = self.tiling.nest(kept, take, rounds % ROUNDS);
        let last = self.tiling.nest(kept, rest, 1);
        for at in Walk::new(&reduced, at) {
            let mut round = 0;
            while round < rounds {
                let left = rounds - round;
                self.pass(levels, if left < ROUNDS { &few } else { &many }, ahead(at, &whole, round * take));
                round += left.min(ROUNDS);
            }
            if rest > 0 {
                self.pass(levels, &last, ahead(at, &whole, rounds * take));
            }
        }
    }

    fn pass(&mut self, levels: &mut Levels<R>, nest: &Nest<M>, at: [isize; M]) {
        let f = &mut self.f;
        let from = self.from.moved(at);
        let add = |sum: &mut R, items| {
            let before = if needs_drop::<R>() { replace(sum, R::zero()) } else { sum.clone() };
            *sum = before + f(items);
        };
        let mut tile = ArrayViewMut1::from(levels.first());
        let out = Target::new(&mut tile);
        assert!(nest.offsets() == [0; M], "the loops run forward in the tile, and so as they are");
        // SAFETY: The pass is run on one thread. In the tile, the strides are those of a dense array of the tile's loops'
        // lengths, or 0; the cut loops' lengths are no larger, so the steps stay within `width` elements, as many as the
        // first level has. In the inputs, the loops are parts of those that were shared out, and `at` steps of all the
        // others.
        unsafe { Pass::new(nest.loops(), out, from) }.run(add);
        levels.carry();
    }

    /// Adds up the reduced loops of the tile by halves, outermost first: what is inside of them is then adjacent.
    fn fold(&self, tile: &mut [R]) {
        let mut outside = Stack::new(Loop::ONE);
        for (l, &stride) in self.tiling.tile.iter().zip(&*self.tiling.strides) {
            if l.strides[0] != 0 {
                outside.push(Loop { len: l.len, strides: [stride] });
                continue;
            }
            let inside = stride.cast_unsigned();
            for [at] in Walk::new(&outside, [0]) {
                lane::fold(&mut tile[at.cast_unsigned()..][..l.len * inside], inside);
            }
        }
    }

    /// Moves the sums of the kept loops to the output.
    fn store(&mut self, tile: &mut [R], to: isize, part: usize) {
        let mut kept = Stack::new(Loop::ONE);
        for (place, (l, &stride)) in self.tiling.tile.iter().zip(&*self.tiling.strides).enumerate() {
            if l.strides[0] != 0 {
                let len = if self.tiling.cut_kept.place == Some(place) { part } else { l.len };
                kept.push(Loop { len, strides: [l.strides[0], stride] });
            }
        }
        for [to, from] in Walk::new(&kept, [to, 0]) {
            self.out[to.cast_unsigned()] = replace(&mut tile[from.cast_unsigned()], R::zero());
        }
    }
}

/// `at`, so many steps further.
fn ahead<const M: usize>(mut at: [isize; M], l: &Loop<M>, steps: usize) -> [isize; M] {
    for (at, stride) in at.iter_mut().zip(l.strides) {
        *at += stride * steps.cast_signed();
    }
    at
}

/// Tiles of sums: the first is being added to, each other one holds the carried sums of several of the one before.
struct Levels<R> {
    width: usize,
    tiles: Vec<R>,
    carried: usize,
}

impl<R: Clone + Zero> Levels<R> {
    fn new(width: usize) -> Self {
        Self { width, tiles: vec![R::zero(); width], carried: 0 }
    }

    fn first(&mut self) -> &mut [R] {
        &mut self.tiles[..self.width]
    }

    /// After some rounds through the first tile.
    fn carry(&mut self) {
        self.carried += 1;
        let (mut sums, mut level) = (self.carried, 0);
        loop {
            let (from, to) = (level * self.width, (level + 1) * self.width);
            if self.tiles.len() == to {
                self.tiles.resize(to + self.width, R::zero());
            }
            let (low, high) = self.tiles[from..].split_at_mut(self.width);
            lane::add(&mut high[..self.width], low);
            low.fill(R::zero());
            if sums % RADIX != 0 {
                return;
            }
            sums /= RADIX;
            level += 1;
        }
    }

    /// Adds up all levels.
    fn finish(&mut self) -> &mut [R] {
        let (first, others) = self.tiles.split_at_mut(self.width);
        others.chunks_exact(self.width).for_each(|level| lane::add(first, level));
        first
    }

    fn clear(&mut self) {
        self.tiles.fill(R::zero());
        self.carried = 0;
    }
}
