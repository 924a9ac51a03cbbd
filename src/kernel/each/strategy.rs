//! The choice of a pass's strategy by its loops. See the [parent module](super).
//!
//! This module knows no element types but their sizes, and no closures: it is compiled once, in this crate.

#![forbid(unsafe_code)]

use crate::kernel::loops::{
    Loop, OPERANDS, all_inputs, all_kept, bits, has, innermost, is_adjacent, moving_inputs, operands, steps,
};
use crate::kernel::memory::{COPY, LARGEST_COPY, LINE};
use crate::kernel::strided::SMALL;

/// Shorter rows are merged into longer ones.
const SHORT_ROW: usize = 16;
/// The same where an operand stays along a row, so that its copies cannot be kept. From here on, rows as they lie take half
/// of the time, or up to a half more if the operation is slow, such as a division or a square root.
const SHORT_ROW_AND_SCALAR: usize = 8;
/// The most rows of at least as many elements that are visited as they lie: copies would take longer to set up.
const FEW_ROWS: usize = 100;
/// No more outputs than these are sought for lanes side by side. Copies in tiles have one side as long.
pub(super) const WIDE: usize = 16;
/// Rows of at least this many elements need not be merged.
const LONG_ROW: usize = 64;
/// The fewest loops in which all copies can be kept: two operands stay in turn, in merged rows and around them.
const ALTERNATING: usize = 3;
/// The value of [`Merged::made`] for an operand that is copied in every row.
const ALWAYS: usize = 1 << 10;
/// The largest value of [`Merged::made`] for which copies take less time than short rows.
const SELDOM: usize = ALWAYS / 4;
/// The longest lanes that are reduced side by side. Longer ones are faster one by one.
const SHORT_LANE: usize = 15;

/// Whether there is a loop for rows in which the inputs in `moving` move, and they are not so short and many that copies
/// are faster.
#[inline]
pub(in crate::kernel) fn are_long_or_few(loops: &[Loop], count: usize, moving: Option<u8>) -> bool {
    let Some(moving) = moving else { return false };
    let shortest = if moving == all_inputs(count) { SHORT_ROW } else { SHORT_ROW_AND_SCALAR };
    match loops {
        [] => true,
        [.., row] if row.len >= shortest => true,
        // without a call
        [rows, row] => rows.len * row.len < SMALL || row.len >= SHORT_ROW_AND_SCALAR && rows.len <= FEW_ROWS,
        _ => steps(loops) < SMALL,
    }
}

/// [`moving_along`](super::moving_along) for loops of `count` inputs.
#[inline]
pub(super) fn moving(loops: &[Loop], count: usize, has_loop: fn(u8) -> bool) -> Option<u8> {
    let Some(row) = loops.last() else { return Some(all_inputs(count)) };
    inputs_moving(row, count, has_loop).filter(|_| row.len == 1 || row.strides[0] == 1)
}

/// [`moving`] for outputs that are adjacent along a row.
#[inline]
pub(in crate::kernel) fn inputs_moving(row: &Loop, count: usize, has_loop: fn(u8) -> bool) -> Option<u8> {
    if row.len == 1 {
        return Some(all_inputs(count));
    }
    moving_inputs(row, count).filter(|&moving| has_loop(moving))
}

/// The strategy of a pass, chosen by its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassStrategy {
    /// No operand is copied: see [`Nest::visit_rows`](crate::kernel::nest::Nest::visit_rows).
    Direct(Option<u8>),
    /// Several rows are merged, `take` steps of loop `first` at a time, with copies of the operands in `copied`.
    Copied { copied: u8, first: usize, take: usize },
    /// Blocks of `take` steps of loop `across` and of up to [`PAGES`](crate::kernel::memory::PAGES) of the innermost loop,
    /// with copies of the operands in `copied`. One of these is adjacent along `across` and has a large stride along the
    /// innermost loop: `take` of its elements fill a cache line.
    Transposed { copied: u8, across: usize, take: usize },
}

impl PassStrategy {
    /// `plain` and `has_loop` are the functions of [`Elements`](crate::kernel::nest::Elements): `plain_size` and `has_loop`.
    pub(super) fn of(
        loops: &[Loop],
        count: usize,
        plain: fn(usize) -> Option<usize>,
        has_loop: fn(u8) -> bool,
    ) -> Self {
        let direct = moving(loops, count, has_loop);
        let (row, outer) = innermost(loops);
        let is_direct = are_long_or_few(loops, count, direct);
        let largest = largest(count, plain);
        // merged rows are not faster, or no copies could be kept
        let need_no_copies = row.len * largest >= LINE || loops.len() < ALTERNATING;
        if row.strides[0] != 1 || is_direct && need_no_copies {
            return Self::Direct(direct);
        }
        let copied = bits(count, &|k| row.strides[k] != 1);
        if let Some(across) = across_lines(row, outer, count, plain) {
            let take = outer[across].len.min(LINE / largest);
            if take.min(row.len) >= 8 && are_plain(copied, plain) {
                return Self::Transposed { copied, across, take };
            }
        }
        let mut merged = Merged::of(loops, count, COPY / largest);
        if loops.len() >= ALTERNATING {
            let larger = Merged::of(loops, count, LARGEST_COPY / largest);
            merged = if larger.made < merged.made { larger } else { merged };
        }
        let Merged { copied, first, take, made } = merged;
        let is_merged = if is_direct { made <= SELDOM } else { direct.is_none() || first + 1 < loops.len() };
        if !is_merged || !are_plain(copied, plain) {
            return Self::Direct(direct);
        }
        Self::Copied { copied, first, take }
    }
}

/// Rows that are merged into one: `take` steps of loop `first`, and the loops inside it.
struct Merged {
    copied: u8,
    first: usize,
    take: usize,
    /// The copies that are made, added up over the operands: [`ALWAYS`] for one in every row. The others are kept from an
    /// earlier row.
    made: usize,
}

impl Merged {
    /// As many elements as there is `room` for.
    // Not inline, but once for both rooms.
    #[inline(never)]
    fn of(loops: &[Loop], count: usize, room: usize) -> Self {
        let [first, take, _] = adjacent_outputs(loops, room, usize::MAX);
        let (around, block) = loops.split_at(first);
        let (copied, in_rows) = (bits(count, &|k| !is_adjacent(block, k)), are_rows(&block[1..]));
        let mut made = 0;
        for k in operands(copied) {
            let (stays, len) = (block[0].strides[k] == 0, block[0].len);
            let mut kept = if stays && in_rows { take } else { 1 };
            if stays || take == len {
                kept *= len / take * stays_for(around, k);
            }
            made += ALWAYS / kept;
        }
        Self { copied, first, take, made }
    }
}

/// The number of indices, in the order of the loops, for which operand `k` stays.
// Not inline: the loop around it would be compiled for each case.
#[inline(never)]
fn stays_for(loops: &[Loop], k: usize) -> usize {
    let mut count = 1;
    for l in loops.iter().rev() {
        if l.strides[k] != 0 {
            break;
        }
        count *= l.len;
    }
    count
}

/// Whether these loops make a row that is long enough to be visited as such.
fn are_rows(loops: &[Loop]) -> bool {
    steps(loops) >= LONG_ROW
}

/// The outermost of the `outer` loops along which an input of plain numbers is adjacent, if each step of a row takes that
/// input to another cache line.
fn across_lines(
    row: &Loop,
    outer: &[Loop],
    count: usize,
    plain: fn(usize) -> Option<usize>,
) -> Option<usize> {
    for k in operands(all_inputs(count)) {
        if row.strides[k].unsigned_abs().saturating_mul(plain(k).unwrap_or(0)) >= LINE {
            for (at, l) in outer.iter().enumerate() {
                if l.strides[k].unsigned_abs() == 1 && !l.is_reduced() {
                    return Some(at);
                }
            }
        }
    }
    None
}

/// The size of the largest plain number among the operands.
#[inline(never)]
pub(in crate::kernel) fn largest(count: usize, plain: fn(usize) -> Option<usize>) -> usize {
    let mut largest = 0;
    for k in operands(all_inputs(count)) {
        largest = largest.max(plain(k).unwrap_or(0));
    }
    largest.max(1)
}

/// Whether all operands in `copied` are plain numbers.
#[inline(never)]
fn are_plain(copied: u8, plain: fn(usize) -> Option<usize>) -> bool {
    for k in operands(copied) {
        if plain(k).is_none() {
            return false;
        }
    }
    true
}

/// The innermost loops along which the output is contiguous: the first one, how many of its steps to take so that at most
/// `room` elements are taken in all, and how many these are. No loop is added to `enough` elements.
#[inline(never)]
fn adjacent_outputs(loops: &[Loop], room: usize, enough: usize) -> [usize; 3] {
    let (mut first, mut width, mut take) = (loops.len(), 1_usize, 0);
    while let Some(l) = loops[..first].last() {
        if l.strides[0] != width.cast_signed() || room / width < 2 || width >= enough {
            break;
        }
        first -= 1;
        take = l.len.div_ceil(l.len.div_ceil(room / width));
        width *= take;
        if take < l.len {
            break;
        }
    }
    [first, take, width]
}

/// The loops around a row and in it, if the `count` innermost loops are copied. There are several rows if they share the
/// copies of all operands, or are long and share one of them.
pub(super) fn rows_of(loops: &[Loop], count: usize, copied: u8) -> [usize; 2] {
    let first = loops.len() - count;
    let shared = |rows: &Loop| copied & bits(OPERANDS - 1, &|k| rows.strides[k] == 0);
    if are_rows(&loops[first + 1..]) && shared(&loops[first]) != 0 {
        [1, count - 1]
    } else if first > 0 && shared(&loops[first - 1]) == copied {
        [1, count]
    } else {
        [0, count]
    }
}

/// Short lanes, which are reduced side by side: the innermost loop goes outside `take` steps of loop `first` and of those
/// inside it. The operands in `copied` are copied. Those in `moving` move along the new rows, the others stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernel) struct SideBySide {
    pub(super) copied: u8,
    pub(super) moving: u8,
    pub(super) first: usize,
    pub(super) take: usize,
}

impl SideBySide {
    /// `None` if other loops are reduced too, the outputs are few or not adjacent, or operands cannot be copied. The
    /// arguments are those of [`PassStrategy::of`].
    pub(in crate::kernel) fn of(
        loops: &[Loop],
        count: usize,
        plain: fn(usize) -> Option<usize>,
        has_loop: fn(u8) -> bool,
    ) -> Option<Self> {
        let (lane, kept) = loops.split_last()?;
        if !lane.is_reduced() || lane.len > SHORT_LANE || !all_kept(kept) || steps(loops) < SMALL {
            return None;
        }
        let largest = largest(count, plain);
        let room = LARGEST_COPY / largest / lane.len;
        let [first, take, width] = adjacent_outputs(kept, room, WIDE);
        // copies of so few elements at a time take longer than lanes, unless they fill a vector
        let few = kept.last().map_or(0, |l| l.len);
        let are_lanes =
            lane.len >= 8 && inputs_moving(lane, count, has_loop).is_some_and(|moving| moving != 0);
        let is_narrow = are_lanes && few < 8 && (few != 4 || largest > 4);
        let kept = &kept[first..];
        let own = bits(count, &|k| kept.iter().any(|l| l.strides[k] != 0));
        let moving = if has_loop(own) { own } else { all_inputs(count) };
        let copied = bits(count, &|k| has(moving, k) && !is_adjacent(kept, k));
        (are_plain(copied, plain) && width >= 8 && !is_narrow).then_some(Self { copied, moving, first, take })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nest::Elements;
    use alloc::vec::Vec;

    const DIRECT: fn(Option<u8>) -> PassStrategy = PassStrategy::Direct;

    fn copied(copied: u8, first: usize, take: usize) -> PassStrategy {
        PassStrategy::Copied { copied, first, take }
    }

    /// The strategy for loops with the strides of the output and of two inputs. `plain` is the size of their elements.
    fn way_of(loops: &[(usize, [isize; 3])], plain: fn(usize) -> Option<usize>) -> PassStrategy {
        PassStrategy::of(&Loop::all(loops), 2, plain, <(f32, f32)>::has_loop)
    }

    fn way(loops: &[(usize, [isize; 3])]) -> PassStrategy {
        way_of(loops, |_| Some(4))
    }

    #[test]
    fn rows_that_have_a_loop_are_visited_directly() {
        assert_eq!(way(&[]), DIRECT(Some(0b11)));
        assert_eq!(way(&[(5000, [1, 1, 1])]), DIRECT(Some(0b11)));
        assert_eq!(way(&[(90, [90, 0, 2]), (90, [1, 1, 0])]), DIRECT(Some(0b01)));
        assert_eq!(way(&[(90, [90, 1, 1]), (16, [1, 0, 1])]), DIRECT(Some(0b10)));
        // a row of one element, whatever its strides are
        assert_eq!(way(&[(90, [2, 0, 2]), (1, [5, 3, -7])]), DIRECT(Some(0b11)));
        // no loop for two operands that both stay
        assert_eq!(way(&[(5000, [1, 0, 0])]), copied(0b11, 0, 500));
        // nor for five operands if one stays
        let row = Loop { len: 90, strides: [1, 1, 1, 1, 1, 0, 0] };
        let five = PassStrategy::of(&[row], 5, |_| Some(8), <((), (), (), (), ())>::has_loop);
        assert_eq!(five, copied(0b1_0000, 0, 90));
    }

    #[test]
    fn rows_are_merged_where_copies_are_kept() {
        // in turn, one operand moves and the other stays, along loops of these lengths
        fn alternating(lens: &[usize]) -> Vec<Loop> {
            let (mut loops, mut strides) = (Vec::new(), [1; 3]);
            for (place, &len) in lens.iter().enumerate().rev() {
                let (moves, stays) = if place % 2 == 0 { (1, 2) } else { (2, 1) };
                let mut l = Loop::new(len, strides);
                l.strides[stays] = 0;
                loops.insert(0, l);
                for k in [0, moves] {
                    strides[k] *= len.cast_signed();
                }
            }
            loops
        }
        let way = |lens: &[usize], size| {
            let plain = [|_| Some(1), |_| Some(4), |_| Some(8)][size];
            PassStrategy::of(&alternating(lens), 2, plain, <(f32, f32)>::has_loop)
        };
        let six = [14, 15, 16, 13, 12, 11];
        // larger blocks than for copies that are always made, if they fit
        assert_eq!([0, 1].map(|size| way(&six, size)), [copied(0b11, 3, 13); 2]);
        assert_eq!(way(&six, 2), DIRECT(Some(0b10)));
        assert_eq!(
            [0, 1].map(|size| way(&[30, 30, 20, 10], size)),
            [copied(0b11, 1, 30), DIRECT(Some(0b10))]
        );
        // rows that fill a cache line, and few loops
        assert_eq!(
            [15, 16].map(|n| way(&[14, 15, 16, 9, 8, n], 1)),
            [copied(0b11, 3, 9), DIRECT(Some(0b10))]
        );
        assert_eq!(way(&[200, 11], 0), DIRECT(Some(0b10)));
    }

    #[test]
    fn short_rows_are_merged() {
        let rows = |len| [(len, [3, 3, 0]), (3, [1, 1, 0])];
        assert_eq!(way(&rows(1000)), copied(0b10, 0, 167));
        assert_eq!(way(&[(1000, [3, 0, 1]), (3, [1, 1, 0])]), copied(0b11, 0, 167));
        // not long rows, which are shorter where an operand stays along them
        let rows_of = |n: usize, stays| [(1000, [n.cast_signed(), 0, 1]), (n, [1, 1, stays])];
        assert_eq!(way(&rows_of(SHORT_ROW_AND_SCALAR, 0)), DIRECT(Some(0b01)));
        assert_eq!(way(&rows_of(SHORT_ROW_AND_SCALAR - 1, 0)), copied(0b11, 0, 72));
        assert_eq!(way(&rows_of(SHORT_ROW, 1)), DIRECT(Some(0b11)));
        assert_eq!(way(&rows_of(SHORT_ROW - 1, 1)), copied(0b11, 0, 34));
        // not fewer rows, nor rows with gaps between them in the output
        assert_eq!(way(&rows(170)), DIRECT(Some(0b01)));
        assert_eq!(way(&rows(171)), copied(0b10, 0, 86));
        let rows_of_four = |len| way(&[(len, [4, 4, 0]), (4, [1, 1, 0])]);
        assert_eq!([SMALL / 4 - 1, SMALL / 4].map(rows_of_four), [DIRECT(Some(0b01)), copied(0b10, 0, 128)]);
        assert_eq!(way(&[(1000, [5, 3, 0]), (3, [1, 1, 0])]), DIRECT(Some(0b01)));
        // whole loops, and a part of the loop around them that is too long for a copy
        assert_eq!(way(&[(50, [90, 0, 9]), (30, [3, 3, 0]), (3, [1, 1, 3])]), copied(0b11, 0, 5));
        assert_eq!(way(&[(50, [999, 0, 9]), (30, [3, 3, 0]), (3, [1, 1, 3])]), copied(0b10, 1, 30));
    }

    #[test]
    fn copies_that_rows_share_are_made_once() {
        let rows = |loops: &[_], count, copied| rows_of(&Loop::all(loops), count, copied);
        // long rows that share one of the copies, and shorter ones
        let long = LONG_ROW.cast_signed();
        assert_eq!(rows(&[(9, [long, 0, long]), (LONG_ROW, [1, 2, -1])], 2, 0b11), [1, 1]);
        assert_eq!(rows(&[(9, [long - 1, 0, long]), (LONG_ROW - 1, [1, 2, -1])], 2, 0b11), [0, 2]);
        assert_eq!(rows(&[(9, [long, 99, long]), (LONG_ROW, [1, 2, -1])], 2, 0b11), [0, 2]);
        // all copies, for all steps of the loop around them
        let around = |strides| [(7, strides), (9, [4, 0, 8]), (4, [1, 2, -1])];
        assert_eq!(rows(&around([36, 0, 0]), 2, 0b11), [1, 2]);
        assert_eq!(rows(&around([36, 0, 1]), 2, 0b11), [0, 2]);
        assert_eq!(rows(&around([36, 0, 1]), 2, 0b01), [1, 2]);
    }

    #[test]
    fn strides_are_copied_away() {
        assert_eq!(way(&[(5000, [1, 2, 1])]), copied(0b01, 0, 500));
        assert_eq!(way(&[(5000, [1, 1, -1])]), copied(0b10, 0, 500));
        assert_eq!(way(&[(90, [90, 0, 1]), (90, [1, 90, 0])]), copied(0b11, 0, 5));
        assert_eq!(way(&[(1000, [5, 6, 0]), (3, [1, 2, 1])]), copied(0b01, 1, 3));
        // rows of which a copy holds one
        assert_eq!(way(&[(9, [400, 1, 800]), (400, [1, 2, 1])]), copied(0b01, 1, 400));
        assert_eq!(way(&[(9, [257, 1, 800]), (257, [1, 2, 1])]), copied(0b01, 1, 257));
        // and of which it holds two
        assert_eq!(way(&[(9, [256, 1, 800]), (256, [1, 2, 1])]), copied(0b11, 0, 2));
        // the largest element type decides
        assert_eq!(way_of(&[(5000, [1, 2, 1])], |k| Some([0, 2, 16][k])), copied(0b01, 0, 125));
    }

    #[test]
    fn lines_are_read_once() {
        let transposed = |copied, across, take| PassStrategy::Transposed { copied, across, take };
        let square = |n: usize| [(n, [n.cast_signed(), 1, n.cast_signed()]), (n, [1, n.cast_signed(), 1])];
        assert_eq!(way(&square(300)), transposed(0b01, 0, 16));
        assert_eq!(way(&square(20)), transposed(0b01, 0, 16));
        assert_eq!(way(&square(7)), copied(0b01, 0, 7));
        assert_eq!([700, 3000].map(|n| way(&square(n))), [transposed(0b01, 0, 16); 2]);
        // the shortest distance of lines
        assert_eq!(way(&[(90, [900, 1, 0]), (300, [1, 16, 1])]), transposed(0b01, 0, 16));
        // the other operand, larger elements, a loop between the two
        assert_eq!(way(&[(90, [90, 0, 1]), (300, [1, 0, 90])]), transposed(0b11, 0, 16));
        assert_eq!(way_of(&square(300), |_| Some(8)), transposed(0b01, 0, 8));
        let between = [(90, [9000, 1, 0]), (50, [300, 0, 1]), (300, [1, 90, 0])];
        assert_eq!(way(&between), transposed(0b11, 0, 16));
        // rows that are added to the same outputs are not cut
        assert_eq!(way(&[(90, [0, 1, 0]), (300, [1, 90, 1])]), copied(0b01, 1, 300));
        // few elements in a line, steps within a line, elements that are not numbers
        assert_eq!(way_of(&square(300), |_| Some(16)), copied(0b01, 1, 100));
        assert_eq!(way(&[(90, [900, 1, 0]), (300, [1, 15, 1])]), copied(0b01, 1, 300));
        assert_eq!(way_of(&square(300), |_| None), DIRECT(None));
    }

    #[test]
    fn short_lanes_are_reduced_side_by_side() {
        let lanes = |copied, moving, first, take| Some(SideBySide { copied, moving, first, take });
        let way_of = |loops: &[_], plain| SideBySide::of(&Loop::all(loops), 2, plain, <(f32, f32)>::has_loop);
        let way = |loops: &[_]| way_of(loops, |_| Some(4));
        // an operand that stays along the outputs, and one with a stride
        assert_eq!(way(&[(500, [16, 13, 0]), (16, [1, 0, 13]), (13, [0, 1, 1])]), lanes(0b10, 0b10, 1, 16));
        // the longest lanes, and the fewest elements
        assert_eq!(way(&[(50, [1, 40, 0]), (SHORT_LANE, [0, 1, 1])]), lanes(0b01, 0b01, 0, 50));
        assert_eq!(way(&[(SMALL / 8, [1, 8, 0]), (8, [0, 1, 1])]), lanes(0b01, 0b01, 0, SMALL / 8));
        // several loops of outputs, as many as a copy holds
        let narrow = |n: usize, len: usize, step: isize| {
            let width = n.cast_signed();
            [(2000, [width, 13 * step, 0]), (n, [1, 0, 13]), (len, [0, step, 1])]
        };
        assert_eq!(way(&narrow(3, 7, 1)), lanes(0b11, 0b11, 0, 96));
        assert_eq!(way(&narrow(4, 13, 1)), lanes(0b11, 0b11, 0, 39));
        assert_eq!(way(&narrow(3, 13, 2)), lanes(0b11, 0b11, 0, 52));
        // lanes are faster
        assert_eq!([way(&narrow(3, 8, 1)), way(&narrow(7, 13, 1))], [None, None]);
        assert_eq!(way_of(&narrow(4, 13, 1), |_| Some(8)), None);
        assert_eq!(way(&[(5000, [1, 13, 0]), (13, [0, 1, 1])]), lanes(0b01, 0b01, 0, 157));
        // nothing to copy
        assert_eq!(way_of(&[(600, [1, 1, 0]), (13, [0, 600, 1])], |_| None), lanes(0, 0b01, 0, 600));
        // no loop for operands that all stay
        assert_eq!(way(&[(600, [1, 0, 0]), (13, [0, 1, 1])]), lanes(0b11, 0b11, 0, 150));
        // another reduced loop
        assert_eq!(way(&[(9, [0, 6500, 0]), (500, [1, 13, 0]), (13, [0, 1, 1])]), None);
        // few elements, long lanes, outputs with gaps, few outputs side by side, elements that are not numbers
        for loops in [
            [(39, [1, 13, 0]), (13, [0, 1, 1])],
            [(5000, [1, 50, 0]), (SHORT_LANE + 1, [0, 1, 1])],
            [(5000, [2, 13, 0]), (13, [0, 1, 1])],
        ] {
            assert_eq!(way(&loops), None);
        }
        assert_eq!(way(&[(2000, [7, 7, 0]), (7, [1, 0, 7]), (7, [0, 1, 1])]), lanes(0b11, 0b11, 0, 41));
        assert_eq!(way(&[(2000, [8, 7, 0]), (7, [1, 0, 7]), (7, [0, 1, 1])]), None);
        assert_eq!(way(&[(2000, [9, 13, 0]), (8, [1, 0, 13]), (13, [0, 1, 1])]), lanes(0b10, 0b10, 1, 8));
        assert_eq!(way_of(&narrow(3, 7, 1), |_| None), None);
    }

    #[test]
    fn operands_that_are_not_copied() {
        // the output has a stride
        assert_eq!(way(&[(5000, [2, 1, 1])]), DIRECT(None));
        // elements that are not plain numbers
        assert_eq!(way_of(&[(5000, [1, 2, 1])], |_| None), DIRECT(None));
        let rows = [(1000, [3, 3, 0]), (3, [1, 1, 0])];
        assert_eq!(way_of(&rows, |k| (k == 1).then_some(4)), DIRECT(Some(0b01)));
        assert_eq!(way_of(&rows, |k| (k == 2).then_some(4)), copied(0b10, 0, 167));
    }

    #[test]
    fn short_rows_are_planned_if_they_are_many() {
        let rows = |rows: usize, len: usize, moving| {
            let loops = Loop::all(&[(rows, [len.cast_signed(), 1]), (len, [1, 1])]);
            are_long_or_few(&loops, 1, moving)
        };
        assert!(rows(SMALL, SHORT_ROW, Some(1)) && !rows(SMALL, SHORT_ROW - 1, Some(1)));
        assert!(
            rows(SMALL, SHORT_ROW_AND_SCALAR, Some(0)) && !rows(SMALL, SHORT_ROW_AND_SCALAR - 1, Some(0))
        );
        assert!(rows(SMALL / 2 - 1, 2, Some(1)) && !rows(SMALL / 2, 2, Some(1)));
        // few rows of moderate length
        let few = |count, len| rows(count, len, Some(1));
        assert!(few(FEW_ROWS, 8) && few(FEW_ROWS, SHORT_ROW - 1) && few(10_000, SHORT_ROW));
        assert!(!few(FEW_ROWS + 1, SHORT_ROW - 1) && !few(FEW_ROWS, 7));
        assert!(!rows(1, 1, None) && are_long_or_few(&[], 1, Some(1)));
    }
}
