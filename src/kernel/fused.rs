//! Sums of what a closure makes of elements that are read together: no array of them all.
//!
//! ```text
//! for each tile, for each 32 rows of it:          see the tiles of all sums
//!     for each row: tile[i] += make(a[i], b[0], …)
//!     carry full levels
//! ```
//!
//! It is [`tiles`] with a closure for the elements, and [`each`](super::each) with a tile for the output.

#![forbid(unsafe_code)]

use super::each::{Make, VisitBlock, drive};
use super::levels::{Levels, take};
use super::loops::{Loops, Outside, Plan};
use super::nest::{Elements, Inputs, Nest, Visit};
use super::tiles::{self, AddRows, Limits, Tiling};
use alloc::vec::Vec;
use ndarray::{Array, Dimension};
use num_traits::Zero;

/// How often a sum is added to before it is carried.
const ROWS: usize = 32;
/// The most sums of all levels of a tile.
const ROOM: usize = 4096;

/// Adds what is made to a sum.
pub(crate) struct Add<M>(pub(crate) M);

impl<R: Clone + Zero, E: Elements, M: Make<R, E>> Visit<R, E> for Add<M> {
    #[inline(always)]
    fn visit(&mut self, sum: &mut R, items: E::Refs<'_>) {
        *sum = take(sum) + self.0.make(items);
    }
}

/// The sums of what `visit`, an [`Add`], makes of the inputs' elements, brought to the shape `joint`, over the axes that
/// `shape` does not have or has with size 1; shapes are aligned at the right. The result is in standard layout.
///
/// # Panics
/// Where the shape or that of an input does not go to `joint`.
pub(crate) fn sum_to<R: Clone + Zero, E: Elements, D: Dimension>(
    joint: &[usize],
    shape: D,
    inputs: &Inputs<'_, E>,
    visit: &mut VisitBlock<'_, R, E>,
) -> Array<R, D> {
    let mut out = Array::zeros(shape);
    let mut plan = Plan::new();
    if let Some(nest) = Nest::over(&mut plan, Some(joint), &mut out, inputs, Outside::AllRead) {
        let mut room = Vec::new();
        if nest.loops().is_empty() {
            visit(nest, Some((1 << E::COUNT) - 1));
            return out;
        }
        let tiling =
            Tiling::of(nest.loops(), Limits { room: ROOM, even: false, rows_at_once: ROWS, first: 1 });
        let mut add = Rows { visit, room: Loops::new(), plan: Plan::new() };
        tiles::parts(nest, tiling, |nest, tiling| {
            room.resize(tiling.cascade.levels * tiling.width(nest.loops()), R::zero());
            tiles::run(nest, tiling, &mut room, &mut add, |slot, sum| *slot = sum);
        });
    }
    out
}

/// Adds rows, [`ROWS`] at a time.
struct Rows<'v, 'f, R, E: Elements> {
    visit: &'v mut VisitBlock<'f, R, E>,
    room: Loops,
    plan: Plan,
}

impl<R: Clone + Zero, E: Elements> AddRows<R, E> for Rows<'_, '_, R, E> {
    fn add(&mut self, levels: &mut Levels<'_, R>, rows: Nest<'_, (), E>, in_rows: bool) {
        let inner = rows.loops().len() - usize::from(in_rows);
        let count = if in_rows { rows.loops()[0].len } else { 1 };
        for from in (0..count).step_by(ROWS) {
            let part =
                if in_rows { rows.part(0, from, ROWS.min(count - from), &mut self.room) } else { rows };
            drive(part.onto(levels.first(), inner, &mut self.plan), self.visit);
            levels.carry();
        }
    }
}
