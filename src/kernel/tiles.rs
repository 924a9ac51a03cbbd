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

use super::lane;
use super::levels::{self, Cascade, Levels};
use super::loops::{Loop, Loops, steps, walk};
use super::nest::{Elements, Nest};
use num_traits::Zero;

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
    pub(super) first: usize,
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
            let needed = levels::count(tiling.rows(loops, limits.rows_at_once), limits.first);
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
        Self { first, take, cascade: Cascade { levels, first: limits.first } }
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
    let Tiling { first, take, .. } = tiling;
    let mut in_order = |nest: Nest<'_, U, E>, tiling: Tiling| {
        let class = |place, l: &Loop| if place >= tiling.first { 2 } else { u8::from(l.is_reduced()) };
        then(nest.ordered(class, &mut Loops::new()), tiling);
    };
    let cut = nest.loops()[first];
    if cut.is_reduced() || cut.len == take {
        return in_order(nest, tiling);
    }
    let (at, mut rooms) = (cut.len / take * take, [Loops::new(), Loops::new()]);
    let inner = Tiling { first: first + 1, ..tiling };
    if at == cut.len {
        return in_order(nest.grouped(first, take, &mut Loops::new()), inner);
    }
    let [main, rest] = nest.cut(first, at, &mut rooms);
    in_order(main.grouped(first, take, &mut Loops::new()), inner);
    in_order(rest, Tiling { take: cut.len - at, ..tiling });
}

/// Adds rows to tiles.
pub(super) trait AddRows<T, E: Elements> {
    /// Adds to the tile, for each index of the first loop where `in_rows`, what is at the indices of the others.
    fn add(&mut self, levels: &mut Levels<'_, T>, rows: Nest<'_, (), E>, in_rows: bool);
}

/// Runs a sum tile by tile.
///
/// The nest is one that [`parts`] hands out. `room` is for as many elements as the levels of one tile have.
#[inline(always)]
pub(super) fn run<U, T: Clone + Zero, E: Elements>(
    nest: Nest<'_, U, E>,
    tiling: Tiling,
    room: &mut [T],
    add: &mut impl AddRows<T, E>,
    store: impl Fn(&mut U, T),
) {
    let loops = nest.loops();
    let inner = loops.len() - tiling.first;
    let outer = loops[..tiling.first].iter().take_while(|l| !l.is_reduced()).count();
    let tile = shape(&loops[tiling.first..], tiling.take);
    let (width, kept) = (steps(&tile), tile.iter().filter(|l| !l.is_reduced()).count());
    let mut reads = nest.read().walk(loops.len() - outer);
    let mut written = Loops::new();
    let mut writes = nest.written(&mut written).walk(kept);
    while let (Some(rows), Some(slots)) = (reads.next(), writes.next()) {
        let mut levels = Levels::new(room, width, tiling.cascade);
        add_tile(&mut levels, rows, inner, tiling.take, add);
        finish(levels.finish(), &tile, slots, &store);
    }
}

/// The tile's loops: their first strides as in the output, the second in the tile.
pub(super) fn shape(loops: &[Loop], take: usize) -> Loops {
    let mut tile = Loops::new();
    tile.extend(loops);
    tile[0].len = take;
    let mut width = 1;
    for l in tile.iter_mut().rev() {
        l.strides[1] = width;
        width *= l.len.cast_signed();
    }
    tile
}

/// Adds all rows of one tile, whose loops are the `inner` innermost.
#[inline(always)]
pub(super) fn add_tile<T: Clone + Zero, E: Elements>(
    levels: &mut Levels<'_, T>,
    rows: Nest<'_, (), E>,
    inner: usize,
    take: usize,
    add: &mut impl AddRows<T, E>,
) {
    let outside = rows.loops().len() - inner;
    let cut = rows.loops()[outside];
    let is_cut = take < cut.len;
    let last = usize::from(!is_cut && outside > 0);
    let (mut rooms, mut room) = ([Loops::new(), Loops::new()], Loops::new());
    let mut rows = rows.walk(inner + last);
    while let Some(rows) = rows.next() {
        let at = cut.len / take * take;
        let [first, rest] = match at {
            _ if !is_cut => [Some((rows, last == 1)), None],
            at if at == cut.len => [Some((rows.grouped(0, take, &mut room), true)), None],
            at => {
                let [main, rest] = rows.cut(0, at, &mut rooms);
                [Some((main.grouped(0, take, &mut room), true)), Some((rest, false))]
            }
        };
        // a loop, so that there is one instance of what it does
        for (rows, in_rows) in [first, rest].into_iter().flatten() {
            add.add(levels, rows, in_rows);
        }
    }
}

/// Reduces the tile's reduced loops in place, by halves, outermost first, as what is inside them is then adjacent; and
/// stores what is left.
#[inline(always)]
pub(super) fn finish<U, T: Clone + Zero>(
    sums: &mut [T],
    tile: &[Loop],
    slots: Nest<'_, U, ()>,
    store: &impl Fn(&mut U, T),
) {
    let mut kept = Loops::new();
    for &l in tile {
        if !l.is_reduced() {
            kept.push(l);
            continue;
        }
        let inside = l.strides[1].cast_unsigned();
        for at in walk(&kept, 1) {
            lane::fold(&mut sums[at..][..l.len * inside], inside);
        }
    }
    let (row, outer) = kept.split_last().map_or((&Loop::ONE, &kept[..]), |(l, rest)| (l, rest));
    let mut rows = slots.walk(usize::from(!kept.is_empty()));
    for at in walk(outer, 1) {
        let Some(slots) = rows.next() else { unreachable!("a slot for each sum") };
        let step = row.strides[1].cast_unsigned();
        match step {
            1 => slots.each_slot(&mut sums[at..][..row.len], |slot, sum| store(slot, levels::take(sum))),
            _ => slots.each_slot(sums[at..].iter_mut().step_by(step.max(1)), |slot, sum| {
                store(slot, levels::take(sum));
            }),
        }
    }
}
