//! Sums of long lanes of adjacent elements inside other reduced loops.
//!
//! ```text
//! for each index of the outer kept loops:
//!     for each index of the other reduced loops:      images
//!         for each output:                            channels
//!             levels[0][output] += sum of the lane    pixels
//!         carry full levels
//!     store the sums
//! ```
//!
//! Lanes are read one at a time, as far as possible in memory's order: as rows of tiles, several would be read side by
//! side, which memory serves slower.

use super::rows::in_tiles;
use super::{Element, Store};
use crate::kernel::lane::{self, LONGEST};
use crate::kernel::levels::{self, Cascade, Levels, RADIX};
use crate::kernel::loops::{Loop, Loops, reduced_steps, steps};
use crate::kernel::nest::Nest;
use crate::kernel::tiles::{AddRows, Tiling};

#[derive(Clone, Copy, Debug)]
pub(super) struct NestedLanes {
    /// The outermost reduced loop.
    first: usize,
    cascade: Cascade,
}

impl NestedLanes {
    /// Shorter lanes are added up as rows of tiles.
    const SHORTEST: usize = 192;
    /// The fewest outputs: for fewer, several threads share the rows of tiles.
    const FEWEST: usize = 16;

    pub(super) fn of(loops: &[Loop], capacity: usize) -> Option<Self> {
        let (lane, outer) = loops.split_last()?;
        if !lane.is_reduced() || lane.strides[1] != 1 || !(Self::SHORTEST..=LONGEST).contains(&lane.len) {
            return None;
        }
        let first = outer.iter().position(Loop::is_reduced)?;
        let outputs = |loops: &[Loop]| steps(loops) / reduced_steps(loops);
        let (width, rows) = (outputs(&outer[first..]), reduced_steps(&outer[first..]));
        let cascade = Cascade { levels: levels::count(rows, RADIX), carry_every: RADIX };
        let are_many = outputs(outer) >= Self::FEWEST && cascade.levels * width <= capacity;
        are_many.then_some(Self { first, cascade })
    }

    pub(super) fn run<T: Element, S: Store<T>>(&self, nest: Nest<'_, S::Slot, (T,)>, store: &S) {
        let lane = nest.loops().len() - 1;
        let mut room = Loops::new();
        let nest = nest.ordered(self.class(lane), &mut room);
        let loops = nest.loops();
        let tiling = self.tiling(loops);
        in_tiles(nest, tiling, &tiling.tile(&loops[..lane]), &mut AddLanes, store);
    }

    /// The order of the loops: outer kept ones, reduced ones, and then the outputs of a tile around the `lane`.
    fn class(&self, lane: usize) -> impl Fn(usize, &Loop) -> u8 {
        let first = self.first;
        move |place, l| match place {
            _ if place < first => 0,
            _ if place < lane && l.is_reduced() => 1,
            _ => 2,
        }
    }

    /// The tiles of these loops, in the order of [`class`](Self::class).
    fn tiling(&self, loops: &[Loop]) -> Tiling {
        let outputs = loops[self.first..].iter().filter(|l| !l.is_reduced()).count();
        let first = loops.len() - 1 - outputs;
        Tiling { first, take: loops[first].len, cascade: self.cascade }
    }
}

/// Adds the sum of each lane of a row to its output.
struct AddLanes;

impl<T: Element> AddRows<T, (T,)> for AddLanes {
    fn add(&mut self, levels: &mut Levels<'_, T>, rows: Nest<'_, (), (T,)>, in_rows: bool) {
        let mut rows = rows.walk(rows.loops().len() - usize::from(in_rows));
        while let Some(row) = rows.next() {
            let mut lanes = row.walk(1);
            for sum in levels.first() {
                let Some(lane) = lanes.next() else { unreachable!("a lane for each output") };
                *sum = sum.clone() + lane::sum_strided(lane.block(false), &mut []);
            }
            levels.carry();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn lanes_are_nested_in_other_reduced_loops() {
        let nested = |loops: &[(usize, [isize; 2])], capacity| {
            NestedLanes::of(&Loop::all(loops), capacity).map(|lanes| [lanes.first, lanes.cascade.levels])
        };
        let images = |channels: usize, lane: usize| {
            nested(&[(32, [0, 9000]), (channels, [1, 900]), (lane, [0, 1])], 128)
        };
        // 32 rows in two levels of 64 outputs each
        assert_eq!([images(64, 192), images(64, 191)], [Some([0, 2]), None]);
        assert_eq!([images(16, 192), images(15, 192), images(65, 192)], [Some([0, 2]), None, None]);
        assert_eq!([images(64, LONGEST), images(64, LONGEST + 1)], [Some([0, 2]), None]);
        // the outer loops are kept
        let outer = [(20, [3, 9000]), (8, [0, 900]), (3, [1, 300]), (200, [0, 1])];
        assert_eq!(nested(&outer, 128), Some([1, 1]));
        // the order of the loops, and the outputs of a tile
        let ordered = |loops: &[(usize, [isize; 2])]| {
            let (loops, mut room) = (Loop::all(loops), Loops::new());
            let lanes = NestedLanes::of(&loops, 128).expect("nested lanes");
            room.order(&loops, &lanes.class(loops.len() - 1));
            let Tiling { first, take, .. } = lanes.tiling(&room);
            (room.iter().map(|l| l.len).collect::<Vec<_>>(), first, take)
        };
        assert_eq!(ordered(&outer), (vec![20, 8, 3, 200], 2, 3));
        let in_turn =
            [(20, [9, 90_000]), (2, [3, 9000]), (8, [0, 900]), (3, [1, 300]), (4, [0, 0]), (200, [0, 1])];
        assert_eq!(ordered(&in_turn), (vec![20, 2, 8, 4, 3, 200], 4, 3));
        let none_inside = [(20, [1, 90_000]), (8, [0, 900]), (200, [0, 1])];
        assert_eq!(ordered(&none_inside), (vec![20, 8, 200], 2, 200));
        // strided lanes, and rows
        assert_eq!(nested(&[(32, [0, 9000]), (64, [1, 900]), (200, [0, 2])], 128), None);
        assert_eq!(nested(&[(32, [0, 9000]), (2, [0, 900]), (200, [1, 1])], 128), None);
    }
}
