//! The strategies of reductions: what each is for, and the passes over its nest. See the [parent module](super).

#![forbid(unsafe_code)]

use crate::kernel::combine::{CombineInPlace, fold_rows, reset};
use crate::kernel::lane::{BLOCK, LONGEST};
use crate::kernel::levels::{self, Levels};
use crate::kernel::loop_plan::Loops;
use crate::kernel::loops::{AT_ONCE, Loop, all_kept, innermost, outputs, reduced_steps, rows_at_once, steps};
use crate::kernel::memory::{SCRATCH, Scratch, WriteOnly};
use crate::kernel::nest::{Nest, NestFn, UnaryNest};
use crate::kernel::tiles::{self, AddRows, Limits, Store, Tiling};
use core::ops::RangeInclusive;

/// The most rows that are combined without a carry, eight at a time.
const ROWS: usize = 128;
/// The numbers of rows of channels.
const CHANNEL_ROWS: RangeInclusive<usize> = 8..=1024;
/// The most elements of a tile of [`Kind::Rows`].
const WIDEST: usize = 4096;
/// The most strided elements that are copied. Longer lanes are the rows of tiles.
const COPIED: usize = 3072;
/// Narrower rows are merged, at most so many into one.
const NARROW: usize = 32;
const MAX_MERGED: usize = 16;
/// Shorter lanes inside other reduced loops are added up as rows of tiles, if a tile holds whole lanes.
const NESTED: usize = 192;
/// The most rows for which a tile of one lane takes longer than the lane, if there are as many outputs beside it.
const FEW_ROWS: usize = 16;
/// The fewest outputs of nested lanes: for fewer, several threads share the rows of tiles.
const NESTED_OUTPUTS: usize = 16;

/// A strategy for elements whose partial results can be forgotten, chosen by the loops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strategy {
    pub(super) kind: Kind,
    /// The number of rows that are read at once.
    pub(super) at_once: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// The innermost loop alone is reduced, along adjacent elements.
    Lanes,
    /// The same, along strided elements.
    Strided,
    /// One loop, around the innermost one, is reduced, along rows of a few elements without gaps.
    Channels,
    /// One loop, around the innermost one, is reduced. As many rows without gaps are merged into one: a power of two.
    Rows {
        merged: usize,
    },
    /// The innermost loop is a lane, and others from loop `first` on are reduced too. The kept loops inside these and the lane
    /// are the tile's, in this order.
    Nested {
        first: usize,
        tiling: Tiling,
    },
    Tiles(Tiling),
    /// Nothing is reduced, and rows are short.
    Singles,
}

/// The longest lane that is reduced as a whole: of adjacent elements, or of elements that are copied.
fn longest(lane: &Loop, size: usize) -> usize {
    if lane.strides[1] == 1 { LONGEST } else { COPIED.min(SCRATCH / size) }
}

/// Whether the innermost loop alone is reduced, along adjacent elements, and as a lane is too long. Of bytes, the rows of tiles
/// are added faster.
pub(super) fn are_long_lanes(loops: &[Loop], size: usize) -> bool {
    match loops {
        [outer @ .., lane] if lane.is_reduced() && lane.strides[1] == 1 && all_kept(outer) => {
            size > 1 && lane.len > LONGEST && lane.len / LONGEST < SCRATCH / size
        }
        _ => false,
    }
}

impl Strategy {
    /// `size` is that of an element. Not generic, so that the choice is compiled once.
    pub(super) fn of(loops: &[Loop], size: usize) -> Self {
        let (at_once, capacity) = (rows_at_once(loops, size), SCRATCH / size);
        let tiling = || Tiling::of(loops, Limits { room: capacity, even: true, rows_at_once: ROWS });
        let kind = match (loops, loops.iter().position(Loop::is_reduced)) {
            // narrower tiles take longer than single elements
            ([.., row], None) if row.len >= 8 => Kind::Tiles(tiling()),
            (_, None) | ([], _) => Kind::Singles,
            ([outer @ .., lane], Some(first)) if lane.is_reduced() => {
                if first == outer.len() && lane.len <= longest(lane, size) {
                    if lane.strides[1] == 1 { Kind::Lanes } else { Kind::Strided }
                } else {
                    let tiling = tiling();
                    Self::nested([outer, &outer[first..]], lane, capacity, tiling)
                        .unwrap_or(Kind::Tiles(tiling))
                }
            }
            ([outer @ .., row], Some(first)) => {
                let rows = Self::rows(&outer[first..], row, capacity).filter(|_| at_once == AT_ONCE);
                rows.unwrap_or_else(|| Kind::Tiles(tiling()))
            }
        };
        Self { kind, at_once }
    }

    /// The strategy for a row that is kept, and for the loops around it from the first reduced one on.
    fn rows(loops: &[Loop], row: &Loop, capacity: usize) -> Option<Kind> {
        let [rows] = loops else { return None };
        if row.strides[1] != 1 {
            return None;
        }
        let (mut merged, no_gaps) = (1, rows.strides[1] == row.len.cast_signed());
        if no_gaps && matches!(row.len, 2..=4) && CHANNEL_ROWS.contains(&rows.len) {
            return Some(Kind::Channels);
        }
        if no_gaps {
            while merged < MAX_MERGED && merged * row.len < NARROW && merged * 4 <= rows.len {
                merged *= 2;
            }
        }
        let fits = rows.len / merged <= ROWS && merged * row.len <= WIDEST.min(capacity);
        fits.then_some(Kind::Rows { merged })
    }

    /// The strategy for a lane inside the `outer` loops, which are reduced from the first one of `inner` on.
    fn nested([outer, inner]: [&[Loop]; 2], lane: &Loop, capacity: usize, tiling: Tiling) -> Option<Kind> {
        let (inside, rows) = (outputs(inner), reduced_steps(inner));
        // a tile would be one lane for few rows, or a part of a lane
        let is_narrow = tiling.inner == 1 && (tiling.take < lane.len || rows <= inside.min(FEW_ROWS));
        let is_lane = lane.strides[1] == 1 && lane.len <= LONGEST;
        if !is_lane || outputs(outer) < NESTED_OUTPUTS || lane.len < NESTED && !(is_narrow && inside > 1) {
            return None;
        }
        let levels = levels::count(rows);
        let mut kept = inner.iter().filter(|l| !l.is_reduced());
        let (count, outermost) = (kept.clone().count(), kept.next().map_or(1, |l| l.len));
        let fit = outermost.min(capacity / levels / (inside / outermost));
        let take = if count > 0 { fit } else { lane.len };
        let (first, tiling) = (outer.len() - inner.len(), Tiling { inner: count + 1, take, levels });
        (fit > 0 && rows > 1).then_some(Kind::Nested { first, tiling })
    }

    /// The first loop that must not be cut, because the order of combination depends on it. Neither may those inside it.
    pub(super) fn first_uncut(&self, loops: &[Loop]) -> usize {
        match self.kind {
            Kind::Channels | Kind::Rows { .. } => loops.len() - 2,
            Kind::Tiles(tiling) => tiling.first(loops),
            _ => loops.len(),
        }
    }

    pub(super) fn add_rows<'c, A>(&self, by: &'c dyn CombineInPlace<A>) -> AddRowsFrom<'c, A> {
        AddRowsFrom { by, column: 0, at_once: self.at_once }
    }

    // Compiled once for an element type, whatever the operation is.
    #[inline(never)]
    pub(super) fn run<A: Clone>(&self, nest: UnaryNest<'_, A>, by: &dyn CombineInPlace<A>) {
        match self.kind {
            Kind::Lanes => nest.each_block(2, &mut |lanes: UnaryNest<'_, A>| by.lanes_of(lanes)),
            Kind::Strided => strided(nest, by),
            Kind::Channels => nest.each_block(3, &mut |channels: UnaryNest<'_, A>| by.channels_of(channels)),
            Kind::Rows { merged } => rows(nest, merged, self.at_once, by, &write::<A>),
            Kind::Nested { first, tiling } => nested(nest, first, tiling, by),
            Kind::Tiles(tiling) => tiles::parts(nest, tiling, &mut |nest: UnaryNest<'_, A>| {
                in_tiles(nest, tiling, by, &mut self.add_rows(by));
            }),
            Kind::Singles => plain(nest, by, &write::<A>),
        }
    }
}

/// One output after the other, in order: for few elements, or for elements that own memory or are large, whose partial
/// results cannot be forgotten or do not fit into a [`Scratch`].
#[inline(never)]
pub(super) fn plain<A: Clone, T>(
    nest: Nest<'_, T, (A,)>,
    by: &dyn CombineInPlace<A>,
    store: &dyn Store<T, A>,
) {
    let mut room = Loops::new();
    let nest = nest.ordered(|_, l| u8::from(l.is_reduced()), &mut room);
    let reduced = nest.loops().iter().filter(|l| l.is_reduced()).count();
    nest.each_block(reduced, &mut |output: Nest<'_, T, (A,)>| {
        let mut total = by.identity();
        output.read().each_block(0, &mut |item: Nest<'_, (), (A,)>| by.add(&mut total, item.item().clone()));
        store.one(output.slot(), total);
    });
}

/// Lanes of strided elements, which are copied before they are combined, several short ones at a time.
// Not inline: a function with a large stack frame takes time to enter.
#[inline(never)]
fn strided<A: Clone>(nest: UnaryNest<'_, A>, by: &dyn CombineInPlace<A>) {
    let (mut scratch, mut room) = (Scratch::new(), Loops::new());
    let (lane, outer) = innermost(nest.loops());
    let (lanes, place, take) = match outer {
        // a lane alone is not cut
        [] => (1, 0, lane.len),
        [around @ .., repeated] => {
            let lanes = (BLOCK / lane.len).clamp(1, repeated.len);
            (lanes, around.len(), lanes)
        }
    };
    let copies = scratch.filled(lanes * lane.len, &by.identity());
    let mut together = |lanes: UnaryNest<'_, A>| {
        lanes.read().block(lanes.loops().len() > 1).clone_to(copies);
        by.lanes_of(lanes.reading(copies, &mut room));
    };
    nest.chunked(place, take, &mut |lanes: UnaryNest<'_, A>| lanes.each_block(2, &mut together));
}

/// Long lanes, one after the other: `then` takes the lanes that are parts of one, which several threads may share. The results
/// of these are combined by halves.
// Not inline, as `strided`.
#[inline(never)]
pub(super) fn long_lanes<A: Clone>(
    nest: UnaryNest<'_, A>,
    by: &dyn CombineInPlace<A>,
    then: &mut dyn NestFn<WriteOnly<A>, (A,)>,
) {
    let (mut scratch, [mut room, mut groups, mut dense]) = (Scratch::new(), [const { Loops::new() }; 3]);
    let len = innermost(nest.loops()).0.len;
    let (whole, rest) = (len / LONGEST, len % LONGEST);
    let results = scratch.filled(whole + usize::from(rest > 0), &by.identity());
    nest.each_block(1, &mut |lane: UnaryNest<'_, A>| {
        let items = lane.read();
        let parts = items.grouped(0, LONGEST, &mut groups);
        let tile = [Loop { len: whole, ..Loop::ONE }, Loop::ONE];
        then.call(parts.onto(results, &tile, &mut dense).overwriting());
        if rest > 0 {
            let part = items.part(0, len - rest, rest, &mut room);
            by.lanes_of(part.onto(&mut results[whole..], &[Loop::ONE], &mut dense).overwriting());
        }
        fold_rows(by, results, 1);
        lane.slot().write(results[0].clone());
    });
}

/// Up to [`ROWS`] rows for each index of the loops around them: they need no levels.
#[inline(never)]
fn rows<A: Clone>(
    nest: UnaryNest<'_, A>,
    merged: usize,
    at_once: usize,
    by: &dyn CombineInPlace<A>,
    store: &dyn Store<WriteOnly<A>, A>,
) {
    let (mut scratch, mut room) = (Scratch::new(), Loops::new());
    let [.., lines, line] = nest.loops() else { unreachable!("rows") };
    let (count, rest, width) = (lines.len / merged, lines.len % merged * line.len, merged * line.len);
    let tile = scratch.filled(width, &by.identity());
    let mut blocks = nest.walk(2);
    while let Some(block) = blocks.next() {
        reset(by, tile);
        if merged == 1 {
            by.rows_of(tile, &block.read().block(true), at_once);
        } else {
            let x = block.read().block(false);
            by.rows_of(tile, &x.cut(0, count, width), at_once);
            if rest > 0 {
                by.rows_of(tile, &x.cut(count * width, 1, rest), at_once);
            }
            // the parts of the tile that belong to one column
            fold_rows(by, tile, line.len);
        }
        store.row(block.written(&mut room), tile, 1);
    }
}

/// Lanes of adjacent elements inside other reduced loops. They are read one at a time, as far as possible in memory's
/// order: as rows of tiles, several would be read side by side, which memory serves slower.
fn nested<A: Clone>(nest: UnaryNest<'_, A>, first: usize, tiling: Tiling, by: &dyn CombineInPlace<A>) {
    let (lane, mut room) = (nest.loops().len() - 1, Loops::new());
    // outer kept loops, reduced ones, and then the outputs of a tile around the lane
    let class = |place: usize, l: &Loop| match place {
        _ if place < first => 0,
        _ if place < lane && l.is_reduced() => 1,
        _ => 2,
    };
    let nest = nest.ordered(class, &mut room);
    tiles::parts(nest, tiling, &mut |nest: UnaryNest<'_, A>| {
        let (mut tile, mut scratch, loops) = (Loops::new(), Scratch::new(), nest.loops());
        let lane = loops.len() - 1;
        tile.clone_from_slice(&loops[tiling.first(loops)..lane]);
        tile.pack();
        let row = scratch.filled(steps(&tile), &by.identity());
        run_tiles(nest, tiling, &tile, by, &mut AddLanes { by, row, room: Loops::new() });
    });
}

/// Adds a row of the results of lanes.
struct AddLanes<'c, A> {
    by: &'c dyn CombineInPlace<A>,
    row: &'c mut [A],
    room: Loops,
}

impl<A: Clone> AddRows<A, (A,)> for AddLanes<'_, A> {
    fn add(&mut self, levels: &mut Levels<'_, A>, rows: Nest<'_, (), (A,)>, in_rows: bool) {
        rows.each_block(rows.loops().len() - usize::from(in_rows), &mut |row: Nest<'_, (), (A,)>| {
            let mut tile = Loops::new();
            tile.clone_from_slice(row.loops());
            if let Some(lane) = tile.last_mut() {
                lane.len = 1;
            }
            let lanes = row.onto(self.row, &tile, &mut self.room).overwriting();
            lanes.each_block(2, &mut |lanes: UnaryNest<'_, A>| self.by.lanes_of(lanes));
            self.by.rows(levels.first(), self.row);
            levels.carry();
        });
    }
}

/// Reduces a nest tile by tile, by rows.
pub(super) fn in_tiles<A: Clone>(
    nest: UnaryNest<'_, A>,
    tiling: Tiling,
    by: &dyn CombineInPlace<A>,
    add: &mut dyn AddRows<A, (A,)>,
) {
    let tile = tiling.tile(nest.loops());
    run_tiles(nest, tiling, &tile, by, add);
}

// Not inline, as `strided`.
#[inline(never)]
fn run_tiles<A: Clone>(
    nest: UnaryNest<'_, A>,
    tiling: Tiling,
    tile: &[Loop],
    by: &dyn CombineInPlace<A>,
    add: &mut dyn AddRows<A, (A,)>,
) {
    let mut scratch = Scratch::new();
    let room = scratch.filled(tiling.levels * steps(tile), &by.identity());
    tiles::run(by, nest, tiling, tile, room, add, &write::<A>);
}

/// Overwrites an output.
pub(super) fn write<A>(output: &mut WriteOnly<A>, sum: A) {
    output.write(sum);
}

/// Adds the rows of a tile, restricted to the columns from `column` on that the levels have.
pub(super) struct AddRowsFrom<'c, A> {
    pub(super) by: &'c dyn CombineInPlace<A>,
    pub(super) column: usize,
    pub(super) at_once: usize,
}

impl<A: Clone> AddRows<A, (A,)> for AddRowsFrom<'_, A> {
    fn add(&mut self, levels: &mut Levels<'_, A>, rows: Nest<'_, (), (A,)>, in_rows: bool) {
        let width = levels.first().len();
        let block = rows.block(in_rows).columns_from(self.column, width);
        for from in (0..block.rows()).step_by(ROWS) {
            self.by.rows_of(levels.first(), &block.rows_from(from, ROWS), self.at_once);
            levels.carry();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strategy for loops with these strides in the output and in the input.
    fn kind(loops: &[(usize, [isize; 2])]) -> Kind {
        Strategy::of(&Loop::all(loops), 4).kind
    }

    /// The numbers of the tests stand for these strategies.
    fn name(kind: Kind) -> &'static str {
        match kind {
            Kind::Lanes => "lanes",
            Kind::Strided => "strided",
            Kind::Channels => "channels",
            Kind::Rows { .. } => "rows",
            Kind::Nested { .. } => "nested",
            Kind::Tiles(_) => "tiles",
            Kind::Singles => "singles",
        }
    }

    #[test]
    fn strategies() {
        let named = |loops: &[(usize, [isize; 2])]| name(kind(loops));
        // nothing is reduced
        let copied = |n: isize| named(&[(3, [n, n + 3]), (n.cast_unsigned(), [1, 1])]);
        assert_eq!([named(&[]), copied(7), copied(8)], ["singles", "singles", "tiles"]);
        // lanes, of which the longest are tiles
        let lane = |len, step| named(&[(50, [1, 99_999]), (len, [0, step])]);
        assert_eq!([lane(2, 1), lane(LONGEST, 1), lane(LONGEST + 1, 1)], ["lanes", "lanes", "tiles"]);
        assert_eq!([lane(2, 3), lane(COPIED, 3), lane(COPIED + 1, 3)], ["strided", "strided", "tiles"]);
        assert_eq!([0, 2, -2].map(|step| named(&[(9, [0, step])])), ["strided"; 3]);
        assert_eq!(named(&[(9, [0, 100]), (5, [1, 10]), (9, [0, 1])]), "tiles");
        // rows of a few elements without gaps
        let channels =
            |rows, channels: isize| named(&[(rows, [0, channels]), (channels.cast_unsigned(), [2, 1])]);
        assert_eq!([2, 3, 4].map(|n| channels(8, n)), ["channels"; 3]);
        assert_eq!([channels(7, 3), channels(1024, 3), channels(8, 5)], ["rows", "channels", "rows"]);
        assert_eq!([channels(1025, 4), named(&[(9, [0, 4]), (3, [1, 1])])], ["rows", "rows"]);
        // up to 128 rows, of a tile's width, of adjacent elements, and one reduced loop
        let rows = |rows, width: usize| named(&[(rows, [0, 9000]), (width, [1, 1])]);
        assert_eq!([rows(ROWS, 90), rows(ROWS + 1, 90)], ["rows", "tiles"]);
        assert_eq!([rows(9, WIDEST), rows(9, WIDEST + 1)], ["rows", "tiles"]);
        assert_eq!(named(&[(9, [0, 180]), (90, [1, 2])]), "tiles");
        assert_eq!(named(&[(5, [0, 999]), (9, [0, 90]), (90, [1, 1])]), "tiles");
    }

    #[test]
    fn long_lanes_are_reduced_in_parts() {
        let are_long = |len: usize, [kept, step]: [isize; 2], size| {
            are_long_lanes(&Loop::all(&[(3, [kept, 99_999]), (len, [0, step])]), size)
        };
        assert!(are_long(LONGEST + 1, [1, 1], 4) && are_long(SCRATCH / 8 * LONGEST - 1, [1, 1], 8));
        // lanes, rows of bytes, too many parts, strided elements, other reduced loops
        assert!(!are_long(LONGEST, [1, 1], 4) && !are_long(LONGEST + 1, [1, 1], 1));
        assert!(!are_long(SCRATCH / 8 * LONGEST, [1, 1], 8) && !are_long(LONGEST + 1, [1, 2], 4));
        assert!(!are_long(LONGEST + 1, [0, 1], 4));
    }

    #[test]
    fn narrow_rows_are_merged() {
        let merged = |rows: usize, width: usize, gap: usize| match kind(&[
            (rows, [0, (width + gap).cast_signed()]),
            (width, [1, 1]),
        ]) {
            Kind::Rows { merged } => merged,
            _ => 0,
        };
        // until they are wide, 16 of them, or half of all
        assert_eq!(
            [merged(100, NARROW, 0), merged(101, NARROW - 1, 0), merged(9 * MAX_MERGED, 1, 0)],
            [1, 2, 16]
        );
        assert_eq!([merged(3, 5, 0), merged(4, 5, 0)], [1, 2]);
        // many rows, and gaps between them
        assert_eq!([merged(8 * ROWS + 5, 5, 0), merged(8 * ROWS + 8, 5, 0), merged(100, 31, 2)], [8, 0, 1]);
    }

    #[test]
    fn lanes_are_nested_in_other_reduced_loops() {
        let nested = |loops: &[(usize, [isize; 2])]| match kind(loops) {
            Kind::Nested { first, tiling } => Some([first, tiling.take, tiling.levels]),
            _ => None,
        };
        let images = |channels, lane| nested(&[(32, [0, 90_000]), (channels, [1, 900]), (lane, [0, 1])]);
        // 32 rows of outputs in three levels
        assert_eq!(images(64, NESTED), Some([0, 64, 3]));
        assert_eq!([images(NESTED_OUTPUTS, 300), images(NESTED_OUTPUTS - 1, 300)], [Some([0, 16, 3]), None]);
        assert_eq!([images(64, LONGEST), images(64, LONGEST + 1)], [Some([0, 64, 3]), None]);
        // shorter lanes, unless a tile holds them and the outputs around them
        let short = |rows, lane: usize, gap| {
            nested(&[(rows, [0, 90_000]), (50, [1, lane.cast_signed() + gap]), (lane, [0, 1])])
        };
        assert_eq!([short(32, 65, 0), short(32, 64, 0)], [Some([0, 50, 3]), None]);
        assert_eq!([short(FEW_ROWS, 64, 1), short(FEW_ROWS + 1, 64, 1)], [Some([0, 50, 3]), None]);
        assert_eq!([short(7, 3, 0), short(8, 3, 0)], [Some([0, 50, 2]), None]);
        assert_eq!([short(63, NESTED - 1, 0), short(64, NESTED - 1, 0)], [Some([0, 50, 3]), None]);
        // outer loops that are kept, and more outputs than a tile holds
        assert_eq!(nested(&[(20, [3, 9000]), (8, [0, 900]), (3, [1, 300]), (200, [0, 1])]), Some([1, 3, 2]));
        assert_eq!(nested(&[(5, [0, 90_000]), (9000, [1, 9]), (3, [0, 1])]), Some([0, 6144, 2]));
        // strided lanes, and rows
        assert_eq!(nested(&[(32, [0, 9000]), (64, [1, 900]), (200, [0, 2])]), None);
        assert_eq!(nested(&[(32, [0, 9000]), (2, [0, 900]), (200, [1, 1])]), None);
    }
}
