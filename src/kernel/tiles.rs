//! Sums in tiles: the strategy of sums with reduced loops outside kept ones, fused or not.
//!
//! ```text
//! for each tile:                       the kept loops outside the tile
//!     for each row of the tile:        the reduced loops outside the tile
//!         levels[0][..] += row[..]     element by element, for kept and reduced loops alike
//!         carry full levels
//!     fold the reduced loops within the tile, and store the sums
//! ```
//!
//! The innermost loops, kept and reduced alike, make a *tile*, whose sums stay in L1. The outermost loop of the tile is
//! cut if it is too long. If it is reduced, the cut leaves a narrower last row, and if it is kept, a narrower last tile.

#![cfg_attr(not(test), forbid(unsafe_code))]

use super::combine::{Combine, fold_rows};
use super::levels::{self, Levels};
use super::loop_plan::Loops;
use super::loops::{Loop, PART, each_offset, innermost, merged_rows, reduced_steps, steps};
use super::nest::{Elements, Nest, NestFn};

/// The limits of a tile.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The most elements in all levels of a tile.
    pub(super) room: usize,
    /// Whether a tile's elements must be evenly spaced in the first input.
    pub(super) even: bool,
    /// The number of rows that [`AddRows::add`] adds at once.
    pub(super) rows_at_once: usize,
}

/// The most sums in a tile for one output, if the tile need not be even.
const LANES: usize = 256;

impl Limits {
    /// The most steps of loop `l` in a tile. The loops `inside` it, if any, take `width` elements of the tile, and `room` of all
    /// its levels. There are so many reduced `rows` of them.
    // Not inline: the loop around it would be compiled for each case.
    #[inline(never)]
    fn steps(&self, l: &Loop, inside: Option<&Loop>, [room, width, rows]: [usize; 3]) -> usize {
        let most = self.room / room;
        if !l.is_reduced() {
            return most;
        }
        if !self.even {
            // other rows would each be visited in a loop of their own
            let are_merged = width <= PART || inside.is_none_or(|inside| l.inputs_continue(inside));
            return if are_merged { most.min(LANES / width) } else { 1 };
        }
        let narrow = if width < 32 { (rows / 8).min(64 / width) } else { 0 };
        let enough = match inside {
            Some(_) => narrow.max(merged_rows(rows, l)),
            None => narrow.max(rows / 64).max(1),
        };
        most.min(enough)
    }
}

/// The division of loops into those outside tiles, those over rows, and those within a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    /// The number of loops of a tile: the innermost ones.
    pub(super) inner: usize,
    /// The number of steps of the outermost of these in a tile.
    pub(super) take: usize,
    pub(super) levels: usize,
}

impl Tiling {
    /// The tiling of one or more loops.
    pub(super) fn of(loops: &[Loop], limits: Limits) -> Self {
        let mut levels = 1;
        loop {
            let tiling = Self::within(loops, limits, levels);
            let needed = levels::count(tiling.rows(loops, limits.rows_at_once));
            if needed <= levels {
                return tiling;
            }
            levels += 1;
        }
    }

    fn within(loops: &[Loop], limits: Limits, levels: usize) -> Self {
        let mut rows = reduced_steps(loops);
        let (mut width, mut first, mut take) = (1_usize, loops.len(), 0);
        let step = loops[first - 1].strides[1];
        while let Some(l) = loops[..first].last() {
            let inside = loops.get(first);
            let even = l.strides[1] == step.wrapping_mul(width.cast_signed());
            let limit = limits.steps(l, inside, [width * levels, width, rows]);
            if inside.is_some() && (limits.even && !even || limit < 2) {
                break;
            }
            first -= 1;
            take = l.len.div_ceil(l.len.div_ceil(limit.max(1)));
            width *= take;
            if l.is_reduced() {
                rows /= l.len;
            }
            if take < l.len {
                break;
            }
        }
        Self { inner: loops.len() - first, take, levels }
    }

    /// Blocks of all loops from `first` on, and of at most `most` steps in all of the loops around them.
    pub(super) fn of_blocks(loops: &[Loop], mut first: usize, mut most: usize) -> Self {
        let mut take = loops[first].len;
        while most > 1 && first > 0 && take == loops[first].len {
            first -= 1;
            take = loops[first].len.div_ceil(loops[first].len.div_ceil(most));
            most /= take;
        }
        Self { inner: loops.len() - first, take, levels: 1 }
    }

    /// The outermost loop of the tile.
    pub(super) fn first(&self, loops: &[Loop]) -> usize {
        loops.len() - self.inner
    }

    /// The number of steps of that loop in a tile, if the loops are those of [`parts`].
    pub(super) fn take(&self, loops: &[Loop]) -> usize {
        let cut = &loops[self.first(loops)];
        if cut.is_reduced() { self.take } else { cut.len }
    }

    /// The number of kept loops around the tiles, if the loops are those of [`parts`].
    pub(super) fn outer(&self, loops: &[Loop]) -> usize {
        let first = self.first(loops);
        loops[..first].iter().position(Loop::is_reduced).unwrap_or(first)
    }

    /// The loops over the sums of a tile, which are adjacent as operand 1.
    pub(super) fn tile(&self, loops: &[Loop]) -> Loops {
        let mut tile = Loops::new();
        tile.extend(&loops[self.first(loops)..]);
        tile[0].len = self.take(loops);
        tile.pack();
        tile
    }

    /// The most additions to a tile: calls of [`Levels::carry`].
    fn rows(&self, loops: &[Loop], at_once: usize) -> usize {
        let first = self.first(loops);
        let Some(last) = loops[..=first].iter().rposition(Loop::is_reduced) else { return 1 };
        let (len, take) = (loops[last].len, if last == first { self.take } else { 1 });
        let rest = usize::from(len % take > 0);
        reduced_steps(&loops[..last]) * ((len / take).div_ceil(at_once) + rest)
    }
}

/// Calls `then` with the nest in the order that [`run`] needs: kept loops outside the tile, then reduced loops outside it, then
/// the tile. A kept loop that is cut leaves a narrower tile, for which `then` is called last.
pub(super) fn parts<U, E: Elements>(nest: Nest<'_, U, E>, tiling: Tiling, then: &mut dyn NestFn<U, E>) {
    let mut in_order = |nest: Nest<'_, U, E>| {
        let first = tiling.first(nest.loops());
        let class = |place, l: &Loop| if place >= first { 2 } else { u8::from(l.is_reduced()) };
        then.call(nest.ordered(class, &mut Loops::new()));
    };
    let first = tiling.first(nest.loops());
    if nest.loops()[first].is_reduced() {
        return in_order(nest);
    }
    nest.chunked(first, tiling.take, &mut in_order);
}

/// Adds rows to tiles.
pub(super) trait AddRows<T, E: Elements> {
    /// Adds rows to the tile. If `in_rows`, the first loop runs over several rows; otherwise, all loops make one row.
    fn add(&mut self, levels: &mut Levels<'_, T>, rows: Nest<'_, (), E>, in_rows: bool);
}

/// How sums enter the output.
pub(crate) trait Store<U, T> {
    fn one(&self, output: &mut U, sum: T);

    /// Stores every `step`-th of `sums` in the outputs along the only loop, or the first one in the only output.
    fn row(&self, outputs: Nest<'_, U, ()>, sums: &mut [T], step: usize);
}

impl<U, T: Clone, F: Fn(&mut U, T)> Store<U, T> for F {
    #[inline]
    fn one(&self, output: &mut U, sum: T) {
        self(output, sum);
    }

    fn row(&self, outputs: Nest<'_, U, ()>, sums: &mut [T], step: usize) {
        outputs.each_slot(sums, step, |output, sum| self(output, sum.clone()));
    }
}

/// Runs a sum tile by tile, each of them with the loops of `tile`.
///
/// The nest comes from [`parts`]. `room` has an element for each sum in the levels of one tile.
pub(super) fn run<U, T: Clone, E: Elements>(
    combine: &dyn Combine<T>,
    nest: Nest<'_, U, E>,
    tiling: Tiling,
    tile: &[Loop],
    room: &mut [T],
    add: &mut dyn AddRows<T, E>,
    store: &dyn Store<U, T>,
) {
    let (loops, width) = (nest.loops(), steps(tile));
    let outer = tiling.outer(loops);
    let cut = [tiling.first(loops) - outer, tiling.take(loops)];
    each_tile(combine, nest, outer, tile, room, store, &mut |rows: Nest<'_, (), E>, room: &mut [T]| {
        let mut levels = Levels::new(combine, room, width, tiling.levels);
        add_rows(&mut levels, rows, cut, add);
        levels.finish();
    });
}

/// Adds the rows of a nest, which are those of one tile, to the front of a slice.
// A trait of its own, as `NestFn`.
pub(super) trait AddTile<T, E: Elements> {
    fn add(&mut self, rows: Nest<'_, (), E>, room: &mut [T]);
}

impl<T, E: Elements, F: FnMut(Nest<'_, (), E>, &mut [T])> AddTile<T, E> for F {
    #[inline]
    fn add(&mut self, rows: Nest<'_, (), E>, room: &mut [T]) {
        self(rows, room);
    }
}

/// For each index of the first `outer` loops, adds rows by `add` to the front of `room`, reduces the reduced loops of `tile`
/// there, and stores the sums.
pub(super) fn each_tile<U, T: Clone, E: Elements>(
    combine: &dyn Combine<T>,
    nest: Nest<'_, U, E>,
    outer: usize,
    tile: &[Loop],
    room: &mut [T],
    store: &dyn Store<U, T>,
    add: &mut dyn AddTile<T, E>,
) {
    let (inner, mut written) = (nest.loops().len() - outer, Loops::new());
    nest.each_block(inner, &mut |part: Nest<'_, U, E>| {
        add.add(part.read(), room);
        finish(combine, room, tile, part.written(&mut written), store);
    });
}

/// Adds all rows of a tile, which begins with `take` steps of loop `first`. The loops before it run over rows. If it is cut,
/// so do its parts, of which the last one may be narrower than the others.
pub(super) fn add_rows<T, E: Elements>(
    levels: &mut Levels<'_, T>,
    rows: Nest<'_, (), E>,
    [first, take]: [usize; 2],
    add: &mut dyn AddRows<T, E>,
) {
    let (len, inner) = (rows.loops()[first].len, rows.loops().len() - first);
    let mut each = |rows: Nest<'_, (), E>, in_rows: bool| {
        rows.each_block(inner + usize::from(in_rows), &mut |rows: Nest<'_, (), E>| {
            add.add(levels, rows, in_rows);
        });
    };
    if take == len {
        return each(rows, first > 0);
    }
    let (whole, mut room) = (len / take * take, Loops::new());
    each(rows.grouped(first, take, &mut Loops::new()), true);
    if whole < len {
        each(rows.part(first, whole, len - whole, &mut room), false);
    }
}

/// Reduces the tile's reduced loops in place, by halves, and stores the sums. It begins with the outermost loop, so that
/// the rows of each loop are adjacent.
fn finish<U, T: Clone>(
    combine: &dyn Combine<T>,
    sums: &mut [T],
    tile: &[Loop],
    slots: Nest<'_, U, ()>,
    store: &dyn Store<U, T>,
) {
    let mut kept = Loops::new();
    for &l in tile {
        if !l.is_reduced() {
            kept.push(l);
            continue;
        }
        let inside = l.strides[1].cast_unsigned();
        each_offset(&kept, 1, &mut |at| fold_rows(combine, &mut sums[at..][..l.len * inside], inside));
    }
    let (row, outer) = innermost(&kept);
    let mut rows = slots.walk(usize::from(!kept.is_empty()));
    each_offset(outer, 1, &mut |at| {
        let Some(slots) = rows.next() else { unreachable!("a slot for each sum") };
        let step = row.strides[1].cast_unsigned();
        store.row(slots, &mut sums[at..], step);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::loop_plan::LoopPlan;
    use crate::kernel::memory::Scratch;
    use crate::kernel::nest::{Input, Output};
    use crate::kernel::operation::Plus;
    use alloc::{vec, vec::Vec};
    use core::cell::Cell;
    use ndarray::{Array, ArrayRef, Dimension, IxDyn, s};

    fn limits() -> Limits {
        Limits { room: Scratch::capacity::<f32>(), even: true, rows_at_once: 128 }
    }

    /// The width of a tile, the number of tiles, and the rows and levels of one, for loops with strides in the output and
    /// in the input.
    fn tiling(loops: &[(usize, [isize; 2])], limits: Limits) -> [usize; 4] {
        let loops = Loop::all(loops);
        let t = Tiling::of(&loops, limits);
        let kept = |l: &&Loop| !l.is_reduced();
        let first = t.first(&loops);
        let cut = Some(loops[first]).filter(|l| !l.is_reduced()).map_or(1, |l| l.len.div_ceil(t.take));
        let tiles = cut * loops[..first].iter().filter(kept).map(|l| l.len).product::<usize>();
        let (rows, mut part) = (t.rows(&loops, limits.rows_at_once), loops);
        part[first].len = t.take;
        [steps(&t.tile(&part)), tiles, rows, t.levels]
    }

    #[test]
    fn tiles_and_rows() {
        let tiling = |loops: &[_]| tiling(loops, limits());
        // ten rows of 40 make a row of the tile, and the 70 of these are added at once
        assert_eq!(tiling(&[(700, [0, 40]), (40, [1, 1])]), [400, 1, 1, 1]);
        // as few levels as the rows need
        assert_eq!(tiling(&[(8, [0, 5000]), (5000, [1, 1])]), [5_000, 1, 1, 1]);
        // wide rows are cut into tiles that fit
        assert_eq!(tiling(&[(80, [0, 13_000]), (13_000, [1, 1])]), [6_500, 2, 1, 1]);
        // 65 times 46 narrow rows at once, and 11
        assert_eq!(tiling(&[(3_001, [0, 7]), (7, [1, 1])]), [322, 1, 2, 2]);
        // few narrow rows, merged up to 64 elements or until eight remain
        let width = |rows: usize, row: usize| tiling(&[(rows, [0, row.cast_signed()]), (row, [1, 1])])[0];
        assert_eq!([width(16, 32), width(16, 31), width(40, 13), width(24, 21)], [32, 62, 52, 63]);
        // one long row, cut into 64 and a shorter one
        assert_eq!(tiling(&[(70_000, [0, 1])]), [1_077, 1, 2, 2]);
        // eight rows remain of 56, for each of 32 images and 64 channels
        let images = [(32, [0, 200_704]), (64, [56, 3136]), (56, [0, 56]), (56, [1, 1])];
        assert_eq!(tiling(&images), [392, 64, 32, 3]);
        // kept and reduced loops in turn
        assert_eq!(tiling(&[(300, [0, 350]), (5, [1, 70]), (70, [0, 1])]), [1_400, 1, 1, 1]);
        assert_eq!(tiling(&[(9, [1, 5_200]), (130, [0, 40]), (40, [9, 1])]), [80, 9, 1, 1]);
        assert_eq!(tiling(&[(6, [0, 6_000]), (30, [20, 200]), (10, [0, 20]), (20, [1, 1])]), [60, 30, 12, 3]);
    }

    #[test]
    fn tiles_that_need_not_be_even() {
        let fused = Limits { room: 4096, even: false, rows_at_once: 32 };
        // a gap between the rows, at which an even tile ends, as does one of longer rows
        let widths = |stride, width| {
            let loops = [(700, [0, stride]), (width, [1, 1])];
            [limits(), fused].map(|limits| tiling(&loops, limits)[0])
        };
        assert_eq!([widths(50, 30), widths(50, 40)], [[30, 240], [40, 40]]);
        assert_eq!([widths(30, 30), widths(40, 40)], [[300, 240], [400, 240]]);
        // at most `LANES` sums for one output
        assert_eq!(tiling(&[(70_000, [0, 1])], fused)[0], 256);
        // one row, which is not carried
        assert_eq!(tiling(&[(5000, [1, 10]), (10, [0, 1])], fused), [3850, 13, 1, 1]);
        // all levels fit
        let [width, tiles, _, levels] = tiling(&[(1000, [0, 13_000]), (13_000, [1, 1])], fused);
        assert!(levels > 1 && levels * width <= 4096 && (width * tiles).abs_diff(13_000) < tiles);
    }

    struct Add {
        /// The number of rows added so far.
        rows: usize,
    }

    impl AddRows<i64, (i64,)> for Add {
        fn add(&mut self, levels: &mut Levels<'_, i64>, rows: Nest<'_, (), (i64,)>, in_rows: bool) {
            let inner = rows.loops().len() - usize::from(in_rows);
            let mut rows = rows.walk(inner);
            while let Some(row) = rows.next() {
                let (mut items, mut column) = (row.walk(0), 0);
                while let Some(item) = items.next() {
                    levels.first()[column] += item.item();
                    column += 1;
                }
                levels.carry();
                self.rows += 1;
            }
        }
    }

    /// Sums `array` over these axes tile by tile and tests the sums. Returns the number of rows.
    fn sum<D: Dimension>(array: &ArrayRef<i64, D>, axes: &[usize], limits: Limits) -> usize {
        let mut shape = array.shape().to_vec();
        for &axis in axes {
            shape[axis] = 1;
        }
        // not zero, so that sums that are missed or stored twice are found
        let mut out = Array::from_elem(IxDyn(&shape), 1000_i64);
        let mut expected = out.clone();
        for (index, &item) in array.view().into_dyn().indexed_iter() {
            let at: Vec<_> =
                (0..shape.len()).map(|axis| if shape[axis] == 1 { 0 } else { index[axis] }).collect();
            expected[&at[..]] += item;
        }
        let mut add = Add { rows: 0 };
        let (mut plan, stored, mut room) = (LoopPlan::new(), Cell::new(0), vec![-7; limits.room]);
        let Some(nest) = Nest::sum(&mut plan, Input::of(array), Output::of(&mut out), None) else {
            unreachable!("not empty")
        };
        let tiling = Tiling::of(nest.loops(), limits);
        parts(nest, tiling, &mut |nest: Nest<'_, i64, (i64,)>| {
            let before = nest.loops()[..tiling.first(nest.loops())].iter().skip_while(|l| !l.is_reduced());
            assert!(before.copied().all(|l| l.is_reduced()), "kept loops outside reduced ones");
            let tile = tiling.tile(nest.loops());
            assert!(tiling.levels * steps(&tile) <= limits.room);
            run(&Plus, nest, tiling, &tile, &mut room, &mut add, &|slot: &mut i64, sum: i64| {
                *slot += sum;
                stored.set(stored.get() + 1);
            });
        });
        assert_eq!(out, expected, "axes {axes:?}, {limits:?}");
        assert_eq!(stored.get(), out.len(), "each sum is stored once");
        add.rows
    }

    impl core::fmt::Debug for Limits {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            write!(f, "room {}, even: {}, rows at once {}", self.room, self.even, self.rows_at_once)
        }
    }

    #[test]
    fn loops_that_are_cut() {
        let array = Array::from_iter(0..23 * 29).into_shape_with_order((23, 29)).expect("a matrix");
        let limits = Limits { room: 60, even: true, rows_at_once: 1 };
        let tiling = |loops: &[_]| super::tests::tiling(loops, limits);
        // kept: the columns, in a tile of 15 and one of 14
        assert_eq!(tiling(&[(23, [0, 29]), (29, [1, 1])]), [15, 2, 23, 3]);
        assert_eq!(sum(&array, &[0], limits), 46);
        // reduced: rows of three elements, and a shorter last one
        let t = Tiling::of(&[Loop::new(29, [0, 1])], limits);
        assert_eq!((t.take, 29 % t.take), (3, 2));
        assert_eq!(sum(&array.slice(s![0, ..]).to_owned(), &[0], limits), 10);
    }

    #[test]
    fn blocks_of_several_loops() {
        let loops = Loop::all(&[(5000, [16, 1]), (16, [1, 1]), (64, [0, 1])]);
        for (most, first, take) in
            [(1, 2, 64), (2, 1, 2), (10, 1, 8), (16, 1, 16), (31, 1, 16), (64, 0, 4), (1 << 20, 0, 5000)]
        {
            let tiling = Tiling::of_blocks(&loops, 2, most);
            assert_eq!((tiling.first(&loops), tiling.take), (first, take), "at most {most}");
        }
    }

    #[test]
    fn sums_of_all_kinds() {
        let array = Array::from_iter((0..5 * 7 * 6 * 11).map(|i| i * i % 1013));
        let array = array.into_shape_with_order((5, 7, 6, 11)).expect("as many elements");
        let views = [
            array.view(),
            array.t(),
            array.view().permuted_axes([2, 0, 3, 1]),
            array.slice(s![..;-1, ..;2, 1.., ..;-3]),
        ];
        for (view, axes) in views.iter().flat_map(|view| (1..16).map(move |axes| (view, axes))) {
            let axes: Vec<_> = (0..4).filter(|axis| axes >> axis & 1 == 1).collect();
            for (room, even) in [(40, true), (40, false), (300, true), (4096, false), (4096, true)] {
                sum(view, &axes, Limits { room, even, rows_at_once: 1 });
            }
        }
    }
}
