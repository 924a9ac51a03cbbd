//! Sums in tiles: the way of all sums over reduced loops outside kept ones, fused or not.
//!
//! ```text
//! for each tile:                       the kept loops outside the tile
//!     for each row of the tile:        the reduced loops outside the tile
//!         levels[0][..] += row[..]     element by element, whatever the tile's elements mean
//!         carry full levels
//!     fold the reduced loops within the tile, and store what is left
//! ```
//!
//! The innermost loops, kept and reduced alike, make a *tile*: as many sums as stay in L1. The outermost loop of the
//! tile may be cut, as it may be too long. A reduced one that is cut leaves a narrower row at the end, a kept one a
//! narrower tile.

#![cfg_attr(not(test), forbid(unsafe_code))]

use super::combine::{Combine, Plus};
use super::lane;
use super::levels::{self, Cascade, Levels};
use super::loops::{Loop, Loops, each_offset, steps};
use super::nest::{Elements, Nest, Steps};

/// What a tile may be.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Elements of all levels of a tile.
    pub(super) room: usize,
    /// Whether the tile is an evenly spaced stretch of the first operand that is read.
    pub(super) even: bool,
    /// How many rows are added by one call of [`AddRows::add`] before they are carried: 8 or fewer, or all of so many.
    pub(super) rows_at_once: usize,
    /// How often rows are carried to the second level.
    pub(super) carry_every: usize,
}

/// The most sums within a tile that are added up in the end, where the tile need not be even.
const LANES: usize = 256;

/// How loops are shared out among tiles, rows and what is within a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    /// The outermost loop of the tile, and how much of it a tile takes.
    pub(super) first: usize,
    pub(super) take: usize,
    pub(super) cascade: Cascade,
}

impl Tiling {
    /// For at least one loop.
    pub(super) fn of(loops: &[Loop], limits: Limits) -> Self {
        let mut levels = 1;
        loop {
            let tiling = Self::within(loops, limits, levels);
            let needed = levels::count(tiling.rows(loops, limits.rows_at_once), limits.carry_every);
            if needed <= levels {
                return tiling;
            }
            levels += 1;
        }
    }

    fn within(loops: &[Loop], limits: Limits, levels: usize) -> Self {
        let mut rows = loops.iter().filter(|l| l.is_reduced()).map(|l| l.len).product::<usize>();
        let (mut width, mut first, mut take) = (1_usize, loops.len(), 0);
        let step = loops[first - 1].strides[1];
        while let Some(l) = loops[..first].last() {
            let innermost = first == loops.len();
            let even = l.strides[1] == step.wrapping_mul(width.cast_signed());
            let mut limit = limits.room / levels / width;
            if l.is_reduced() && limits.even {
                let enough = if width < 32 { (rows / 8).min(64 / width) } else { 0 }.max(rows / 64);
                limit = limit.min(if innermost { enough.max(1) } else { enough });
            } else if l.is_reduced() {
                limit = limit.min(LANES / width);
            }
            if !innermost && (limits.even && !even || limit < 2) {
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
        Self { first, take, cascade: Cascade { levels, carry_every: limits.carry_every } }
    }

    /// Blocks of at most `room` elements that have all loops from `first` on, and a part of the one outside these.
    pub(super) fn of_blocks(loops: &[Loop], first: usize, room: usize) -> Self {
        let cascade = Cascade { levels: 1, carry_every: 1 };
        let Some(outer) = first.checked_sub(1) else {
            return Self { first, take: loops[first].len, cascade };
        };
        let limit = room / steps(&loops[first..]);
        let take = loops[outer].len.div_ceil(loops[outer].len.div_ceil(limit));
        Self { first: outer, take, cascade }
    }

    /// How many sums a tile has.
    pub(super) fn width(&self, loops: &[Loop]) -> usize {
        self.take * steps(&loops[self.first + 1..])
    }

    /// How many times rows are carried.
    fn rows(&self, loops: &[Loop], at_once: usize) -> usize {
        let cut = &loops[self.first];
        let outer = loops[..self.first].iter().filter(|l| l.is_reduced());
        let mut lens = outer.map(|l| l.len);
        let (last, rest) = if cut.is_reduced() {
            (cut.len / self.take, cut.len % self.take)
        } else {
            (lens.next_back().unwrap_or(1), 0)
        };
        let carried = if at_once == 8 { last / 8 + last % 8 } else { last.div_ceil(at_once) };
        lens.product::<usize>() * (carried + usize::from(rest > 0))
    }
}

/// Hands out the nest with its loops in the order that [`run`] needs, and the tiling of these: the kept ones outside the
/// tile, the reduced ones outside it, the tile. A kept loop that is cut leaves a narrower tile, which comes last.
#[inline]
pub(super) fn parts<U, E: Elements>(
    nest: Nest<'_, U, E>,
    tiling: Tiling,
    mut then: impl FnMut(Nest<'_, U, E>, Tiling),
) {
    let inner = nest.loops().len() - tiling.first;
    let mut in_order = |nest: Nest<'_, U, E>, take| {
        let first = nest.loops().len() - inner;
        let class = |place, l: &Loop| if place >= first { 2 } else { u8::from(l.is_reduced()) };
        then(nest.ordered(class, &mut Loops::new()), Tiling { first, take, ..tiling });
    };
    if nest.loops()[tiling.first].is_reduced() {
        return in_order(nest, tiling.take);
    }
    nest.chunked(tiling.first, tiling.take, &mut |nest| {
        let take = nest.loops()[nest.loops().len() - inner].len;
        in_order(nest, take);
    });
}

/// Adds rows to tiles.
pub(super) trait AddRows<T, E: Elements, C: ?Sized = Plus> {
    /// Adds to the tile, for each index of the first loop where `in_rows`, what is at the indices of the others.
    fn add(&mut self, levels: &mut Levels<'_, T, C>, rows: Nest<'_, (), E>, in_rows: bool);
}

/// Runs a sum tile by tile.
///
/// The nest is one that [`parts`] hands out. `room` is for as many elements as the levels of one tile have.
#[inline(always)]
pub(super) fn run<U, T: Clone, E: Elements, C: Combine<T> + ?Sized>(
    combine: &C,
    nest: Nest<'_, U, E>,
    tiling: Tiling,
    room: &mut [T],
    add: &mut impl AddRows<T, E, C>,
    store: impl Fn(&mut U, T),
) {
    let loops = nest.loops();
    let outer = loops[..tiling.first].iter().take_while(|l| !l.is_reduced()).count();
    let tile = shape(&loops[tiling.first..], tiling.take);
    let (width, kept) = (steps(&tile), tile.iter().filter(|l| !l.is_reduced()).count());
    let (mut rooms, mut written) = ([const { Loops::new() }; 3], Loops::new());
    let mut tiles = TileRows::of(nest.read(), tiling, outer, &mut rooms).walk(outer);
    let mut writes = nest.written(&mut written).walk(kept);
    while let (Some(rows), Some(slots)) = (tiles.next(), writes.next()) {
        let mut levels = Levels::new(combine, room, width, tiling.cascade);
        rows.add_to(&mut levels, add);
        finish(combine, levels.finish(), &tile, slots, &store);
    }
}

/// The tile's loops: their first strides as in the output, the second in the tile. The outermost is cut to `take` steps.
pub(super) fn shape(loops: &[Loop], take: usize) -> Loops {
    let mut tile = Loops::new();
    tile.extend(loops);
    tile.iter_mut().take(1).for_each(|l| l.len = take);
    let mut width = 1;
    for l in tile.iter_mut().rev() {
        l.strides[1] = width;
        width *= l.len.cast_signed();
    }
    tile
}

/// The rows of tiles: those as wide as the tile, and the narrower ones that a reduced loop leaves where it is cut.
pub(super) struct TileRows<'a, E: Elements> {
    main: Nest<'a, (), E>,
    narrow: Option<Nest<'a, (), E>>,
    /// The loops of a row.
    inner: usize,
    /// Whether several rows are added by one call.
    in_rows: bool,
}

impl<E: Elements> Clone for TileRows<'_, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Elements> Copy for TileRows<'_, E> {}

impl<'a, E: Elements> TileRows<'a, E> {
    /// Those of a nest whose first `outer` loops are outside the tiles.
    #[inline]
    pub(super) fn of(
        rows: Nest<'a, (), E>,
        tiling: Tiling,
        outer: usize,
        [low, high, room]: &'a mut [Loops; 3],
    ) -> Self {
        let Tiling { first, take, .. } = tiling;
        let (cut, inner) = (rows.loops()[first], rows.loops().len() - first);
        let at = cut.len / take * take;
        if take == cut.len {
            return Self { main: rows, narrow: None, inner, in_rows: first > outer };
        }
        let narrow = (at < cut.len).then(|| rows.part(first, at, cut.len - at, high));
        let main = rows.part(first, 0, at, low).grouped(first, take, room);
        Self { main, narrow, inner, in_rows: true }
    }

    /// The rows of each tile.
    #[inline(always)]
    pub(super) fn walk(self, outer: usize) -> TileSteps<'a, E> {
        let walk = |nest: Nest<'a, (), E>| nest.walk(nest.loops().len() - outer);
        TileSteps { all: self, main: walk(self.main), narrow: self.narrow.map(walk) }
    }

    /// Adds all rows of the only tile.
    #[inline(always)]
    pub(super) fn add_to<T: Clone, C: Combine<T> + ?Sized>(
        self,
        levels: &mut Levels<'_, T, C>,
        add: &mut impl AddRows<T, E, C>,
    ) {
        let mut main = self.main.walk(self.inner + usize::from(self.in_rows));
        let mut narrow = self.narrow.map(|rows| rows.walk(self.inner));
        while let Some(rows) = main.next() {
            let narrow = narrow.as_mut().and_then(Steps::next);
            // a loop, so that there is one instance of what it does
            let both = [Some((rows, self.in_rows)), narrow.map(|rows| (rows, false))];
            for (rows, in_rows) in both.into_iter().flatten() {
                add.add(levels, rows, in_rows);
            }
        }
    }
}

/// The steps of [`TileRows::walk`].
pub(super) struct TileSteps<'a, E: Elements> {
    all: TileRows<'a, E>,
    main: Steps<'a, (), E>,
    narrow: Option<Steps<'a, (), E>>,
}

impl<E: Elements> TileSteps<'_, E> {
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<TileRows<'_, E>> {
        let narrow = self.narrow.as_mut().and_then(Steps::next);
        Some(TileRows { main: self.main.next()?, narrow, ..self.all })
    }
}

/// Reduces the tile's reduced loops in place, by halves, outermost first, as what is inside them is then adjacent; and
/// stores what is left.
#[inline(always)]
pub(super) fn finish<U, T: Clone, C: Combine<T> + ?Sized>(
    combine: &C,
    sums: &mut [T],
    tile: &[Loop],
    slots: Nest<'_, U, ()>,
    store: &impl Fn(&mut U, T),
) {
    let take = |sum: &mut T| levels::take_or(sum, || combine.identity());
    let mut kept = Loops::new();
    for &l in tile {
        if !l.is_reduced() {
            kept.push(l);
            continue;
        }
        let inside = l.strides[1].cast_unsigned();
        each_offset(&kept, 1, |at| lane::fold(combine, &mut sums[at..][..l.len * inside], inside));
    }
    let (row, outer) = kept.split_last().map_or((&Loop::ONE, &kept[..]), |(l, rest)| (l, rest));
    let mut rows = slots.walk(usize::from(!kept.is_empty()));
    each_offset(outer, 1, |at| {
        let Some(slots) = rows.next() else { unreachable!("a slot for each sum") };
        let step = row.strides[1].cast_unsigned();
        match step {
            1 => slots.each_slot(&mut sums[at..][..row.len], |slot, sum| store(slot, take(sum))),
            _ => slots.each_slot(sums[at..].iter_mut().step_by(step.max(1)), |slot, sum| {
                store(slot, take(sum));
            }),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::levels::RADIX;
    use crate::kernel::loops::LoopPlan;
    use crate::kernel::memory::Scratch;
    use alloc::{vec, vec::Vec};
    use core::cell::Cell;
    use ndarray::{Array, ArrayRef, Dimension, IxDyn, s};

    fn limits() -> Limits {
        Limits { room: Scratch::capacity::<f32>(), even: true, rows_at_once: 8, carry_every: RADIX }
    }

    /// The width of the tiles, how many there are, how often rows are carried in one, and the levels. Strides in the
    /// output and in the input.
    fn tiling(loops: &[(usize, [isize; 2])], limits: Limits) -> [usize; 4] {
        let of = |&(len, [to, from]): &(usize, [isize; 2])| Loop { len, strides: [to, from, 0, 0, 0, 0, 0] };
        let loops: Vec<_> = loops.iter().map(of).collect();
        let t = Tiling::of(&loops, limits);
        let kept = |l: &&Loop| !l.is_reduced();
        let cut = Some(loops[t.first]).filter(|l| !l.is_reduced()).map_or(1, |l| l.len.div_ceil(t.take));
        let tiles = cut * loops[..t.first].iter().filter(kept).map(|l| l.len).product::<usize>();
        [t.width(&loops), tiles, t.rows(&loops, limits.rows_at_once), t.cascade.levels]
    }

    #[test]
    fn tiles_and_rows() {
        let tiling = |loops: &[_]| tiling(loops, limits());
        // ten rows of 40 make a tile, so that there are 70 of it: eight times eight, and six
        assert_eq!(tiling(&[(700, [0, 40]), (40, [1, 1])]), [400, 1, 14, 2]);
        // wide rows are cut into tiles that fit
        assert_eq!(tiling(&[(80, [0, 13_000]), (13_000, [1, 1])]), [4_334, 3, 10, 2]);
        // 65 times 46 narrow rows, and 11
        assert_eq!(tiling(&[(3_001, [0, 7]), (7, [1, 1])]), [322, 1, 10, 2]);
        // one long row, cut into 64 and a shorter one
        assert_eq!(tiling(&[(70_000, [0, 1])]), [1_077, 1, 9, 2]);
        // kept and reduced ones by turns
        assert_eq!(tiling(&[(300, [0, 350]), (5, [1, 70]), (70, [0, 1])]), [1_400, 1, 12, 2]);
        assert_eq!(tiling(&[(9, [1, 5_200]), (130, [0, 40]), (40, [9, 1])]), [80, 9, 9, 2]);
        assert_eq!(tiling(&[(6, [0, 6_000]), (30, [20, 200]), (10, [0, 20]), (20, [1, 1])]), [60, 30, 24, 2]);
    }

    #[test]
    fn tiles_that_need_not_be_even() {
        let fused = Limits { room: 4096, even: false, rows_at_once: 32, carry_every: 1 };
        // with a gap between the rows: an even tile ends there
        let gap = [(700, [0, 50]), (40, [1, 1])];
        assert_eq!([limits(), fused].map(|limits| tiling(&gap, limits)[0]), [40, 240]);
        // no more than so many sums for each that is kept
        assert_eq!(tiling(&[(70_000, [0, 1])], fused)[0], 256);
        // room for all levels
        let [width, tiles, _, levels] = tiling(&[(1000, [0, 13_000]), (13_000, [1, 1])], fused);
        assert!(levels > 1 && levels * width <= 4096 && (width * tiles).abs_diff(13_000) < tiles);
    }

    struct Add {
        /// How many rows there were in all.
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

    /// Sums `array` over these axes tile by tile, and tests the sums. How many rows there were in all.
    fn sum<D: Dimension>(array: &ArrayRef<i64, D>, axes: &[usize], limits: Limits) -> usize {
        let mut shape = array.shape().to_vec();
        for &axis in axes {
            shape[axis] = 1;
        }
        // sums that are missed or stored twice are seen
        let mut out = Array::from_elem(IxDyn(&shape), 1000_i64);
        let mut expected = out.clone();
        for (index, &item) in array.view().into_dyn().indexed_iter() {
            let at: Vec<_> =
                (0..shape.len()).map(|axis| if shape[axis] == 1 { 0 } else { index[axis] }).collect();
            expected[&at[..]] += item;
        }
        let mut add = Add { rows: 0 };
        let (mut plan, stored, mut room) = (LoopPlan::new(), Cell::new(0), vec![-7; limits.room]);
        let Some(nest) = Nest::sum(&mut plan, array, &mut out, &|_| false) else { unreachable!("not empty") };
        let tiling = Tiling::of(nest.loops(), limits);
        parts(nest, tiling, |nest, tiling| {
            let before = nest.loops()[..tiling.first].iter().skip_while(|l| !l.is_reduced());
            assert!(before.copied().all(|l| l.is_reduced()), "kept loops outside reduced ones");
            assert!(tiling.cascade.levels * tiling.width(nest.loops()) <= limits.room);
            run(&Plus, nest, tiling, &mut room, &mut add, |slot, sum| {
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
            write!(f, "room {}, even: {}, carried after {}", self.room, self.even, self.carry_every)
        }
    }

    #[test]
    fn loops_that_are_cut() {
        let array = Array::from_iter(0..23 * 29).into_shape_with_order((23, 29)).expect("a matrix");
        let limits = Limits { room: 60, even: true, rows_at_once: 1, carry_every: 1 };
        let tiling = |loops: &[_]| super::tests::tiling(loops, limits);
        // kept: the columns, in a tile of 15 and one of 14
        assert_eq!(tiling(&[(23, [0, 29]), (29, [1, 1])]), [15, 2, 23, 3]);
        assert_eq!(sum(&array, &[0], limits), 46);
        // reduced: rows of three elements, but for the last
        let t = Tiling::of(&[Loop { len: 29, strides: [0, 1, 0, 0, 0, 0, 0] }], limits);
        assert_eq!((t.take, 29 % t.take), (3, 2));
        assert_eq!(sum(&array.slice(s![0, ..]).to_owned(), &[0], limits), 10);
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
            for (room, even, carry_every) in
                [(40, true, 1), (40, false, 1), (300, true, 8), (4096, false, 1), (4096, true, 8)]
            {
                sum(view, &axes, Limits { room, even, rows_at_once: 1, carry_every });
            }
        }
    }
}
