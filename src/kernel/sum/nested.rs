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
        let &Self { first, cascade } = self;
        let lane = nest.loops().len() - 1;
        let class = |place, l: &Loop| match place {
            _ if place < first => 0,
            _ if place < lane && l.is_reduced() => 1,
            _ => 2,
        };
        let mut room = Loops::new();
        let nest = nest.ordered(class, &mut room);
        let loops = nest.loops();
        let kept = loops[first..lane].iter().filter(|l| !l.is_reduced()).count();
        let tiling = Tiling { first: lane - kept, take: loops[lane - kept].len, cascade };
        in_tiles(nest, tiling, &tiling.tile(&loops[..lane]), &mut AddLanes, store);
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
        // strided lanes, and rows
        assert_eq!(nested(&[(32, [0, 9000]), (64, [1, 900]), (200, [0, 2])], 128), None);
        assert_eq!(nested(&[(32, [0, 9000]), (2, [0, 900]), (200, [1, 1])], 128), None);
    }
}
