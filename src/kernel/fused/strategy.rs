//! The choice of a fused sum's strategy by its loops. See the [parent module](super).
//!
//! This module knows no element types but their sizes, and no closures: it is compiled once, in this crate.

#![forbid(unsafe_code)]

use crate::kernel::each::inputs_moving;
use crate::kernel::lane::IN_ORDER;
use crate::kernel::loops::{Loop, PART, reduced_steps, steps};
use crate::kernel::memory::SCRATCH;
use crate::kernel::tiles::{Limits, Tiling};

/// The number of rows that are added to a level before it is carried.
pub(super) const ROWS: usize = IN_ORDER;
/// The most sums in all levels of a tile.
const ROOM: usize = 4096;
/// The most elements of a block, which stays in L1 beside the operands.
pub(super) const BLOCK: usize = 2048;
/// The most elements of a lane that are combined at once. Longer lanes are cut.
pub(super) const LANE: usize = IN_ORDER * PART;
/// The number of partial results of a lane that stay in registers. Shorter lanes are combined in order.
pub(super) const WIDTH: usize = 8;
/// Longer strided lanes are written to blocks, where they are vectorised. So are shorter rows, where they are merged.
pub(super) const SHORT: usize = 16;

/// The strategy for a reduced nest of [`forgettable`](crate::kernel::memory::forgettable) results, chosen by its loops.
pub(super) enum FusedStrategy {
    /// Outputs are combined in place: no loop is reduced, or one alone, which is a short lane or runs over few rows, or
    /// there are few results.
    Direct,
    /// The innermost loop is a lane, along which these inputs move by one element, and the others stay.
    Lanes(u8),
    /// All reduced loops are within a block.
    Blocks(Tiling),
    /// Lanes that are too long: chunks of this many elements, and then what remains.
    Chunks(usize),
    Tiles(Tiling),
}

impl FusedStrategy {
    /// `size` is that of a result, and `count` the number of inputs. `in_rows` is whether a loop is compiled for the rows
    /// along the innermost loop. Not generic, so that the choice is compiled once.
    pub(super) fn of(
        loops: &[Loop],
        size: usize,
        count: usize,
        has_loop: fn(u8) -> bool,
        in_rows: bool,
    ) -> Self {
        let Some(first) = loops.iter().position(Loop::is_reduced) else { return Self::Direct };
        let lane = &loops[loops.len() - 1];
        if let Some(moving) = lanes(lane, count, has_loop) {
            let chunks = lane.len.div_ceil(LANE);
            if reduced_steps(loops) / lane.len * chunks <= IN_ORDER {
                // whole parts, so that little remains
                let take = lane.len / chunks / PART * PART;
                return if chunks > 1 { Self::Chunks(take) } else { Self::Lanes(moving) };
            }
        }
        let limits = Limits { room: ROOM.min(SCRATCH / size), even: false, rows_at_once: ROWS };
        let (reduced, room) = (steps(&loops[first..]), limits.room.min(BLOCK));
        let is_direct = match &loops[first..] {
            [_] => first > 0 && reduced <= SHORT,
            [rows, row] if in_rows && !row.is_reduced() => {
                rows.len <= IN_ORDER && (SHORT..=ROOM).contains(&row.len)
            }
            _ => false,
        };
        if is_direct || steps(loops) <= IN_ORDER {
            return Self::Direct;
        }
        if reduced > room {
            return Self::Tiles(Tiling::of(loops, limits));
        }
        Self::Blocks(Tiling::of_blocks(loops, first, room / reduced))
    }
}

/// The inputs that move by one element along a lane, if the others stay.
pub(super) fn lanes(lane: &Loop, count: usize, has_loop: fn(u8) -> bool) -> Option<u8> {
    if !lane.is_reduced() || lane.len < WIDTH {
        return None;
    }
    inputs_moving(lane, count, has_loop).filter(|&moving| moving != 0)
}

/// The longest kept loop, the innermost one of equal length.
pub(super) fn longest_kept(loops: &[Loop]) -> Option<usize> {
    let mut longest = None;
    for (at, l) in loops.iter().enumerate() {
        if !l.is_reduced() && longest.is_none_or(|longest: usize| loops[longest].len <= l.len) {
            longest = Some(at);
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nest::Elements;

    #[test]
    fn lanes_of_adjacent_elements() {
        let lanes = |loops: &[(usize, [isize; 3])]| {
            let has_loop = <(f32, f32) as Elements>::has_loop;
            match FusedStrategy::of(&Loop::all(loops), 4, 2, has_loop, true) {
                FusedStrategy::Lanes(moving) => Some(moving),
                _ => None,
            }
        };
        let lane = |n: usize, b| lanes(&[(640, [1, n.cast_signed(), 0]), (n, [0, 1, b])]);
        assert_eq!([lane(WIDTH, 1), lane(LANE, 1), lane(1000, 0)], [Some(0b11), Some(0b11), Some(0b01)]);
        // few reduced loops around them, which need no cascade
        let within = |n| lanes(&[(640, [1, 50, 0]), (n, [0, 0, 50]), (50, [0, 1, 1])]);
        assert_eq!([within(IN_ORDER), within(IN_ORDER + 1)], [Some(0b11), None]);
        // shorter and longer lanes, strided operands, and operands that all stay
        assert_eq!([lane(WIDTH - 1, 1), lane(LANE + 1, 1), lane(100, 2)], [None; 3]);
        assert_eq!(lanes(&[(640, [1, 1, 1]), (50, [0, 0, 0])]), None);
    }

    #[test]
    fn long_lanes_are_cut() {
        let chunk = |n: usize, b: isize| {
            let (lane, has_loop) = (Loop::new(n, [0, 1, b]), <(f32, f32) as Elements>::has_loop);
            match FusedStrategy::of(&[lane], 4, 2, has_loop, true) {
                FusedStrategy::Chunks(take) => Some(take),
                _ => None,
            }
        };
        assert_eq!([chunk(LANE, 1), chunk(LANE + 1, 1), chunk(LANE + 1, 0)], [None, Some(1024), Some(1024)]);
        // equal chunks of whole parts
        assert_eq!(chunk(10_000, 1), Some(1984));
        // as many as are added up in order
        let most = IN_ORDER * LANE;
        assert_eq!([chunk(most, 1), chunk(most + 1, 1)], [Some(LANE), None]);
        // strided lanes
        assert_eq!(chunk(10_000, 2), None);
    }

    #[test]
    fn rows_are_combined_in_their_outputs() {
        let is_direct = |loops: &[(usize, [isize; 2])], in_rows| {
            let loops = Loop::all(loops);
            matches!(
                FusedStrategy::of(&loops, 4, 1, <(f32,) as Elements>::has_loop, in_rows),
                FusedStrategy::Direct
            )
        };
        let rows = |rows, columns| [(9, [5000, 1]), (rows, [0, 5000]), (columns, [1, 1])];
        assert!(is_direct(&rows(IN_ORDER, ROOM), true));
        assert!(is_direct(&rows(IN_ORDER, SHORT), true));
        // short lanes
        let lanes = |n| [(500, [1, 70]), (n, [0, 2])];
        assert!(is_direct(&lanes(SHORT), true) && !is_direct(&lanes(SHORT + 1), true));
        // many rows, narrow and wide rows, rows without a loop, more reduced loops
        assert!(!is_direct(&rows(IN_ORDER + 1, 70), true));
        assert!([SHORT - 1, ROOM + 1].iter().all(|&columns| !is_direct(&rows(9, columns), true)));
        assert!(!is_direct(&rows(9, 70), false));
        assert!(!is_direct(&[(2, [0, 5000]), (9, [70, 700]), (9, [0, 70]), (70, [1, 1])], true));
        assert!(!is_direct(&[(9, [0, 70]), (70, [0, 1])], true));
    }
}
