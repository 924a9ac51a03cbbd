//! Copies of one array: passes that clone each element. Plain numbers that are adjacent across rows, or in rows that repeat,
//! are copied by [`memory`](crate::kernel::memory) without a visit.

#![forbid(unsafe_code)]

use super::strategy::WIDE;
use super::{Each, Make, TINY, VisitBlock, drive, each, planned, visit_small, written_like};
use crate::kernel::ensure;
use crate::kernel::loop_plan::Loops;
use crate::kernel::loops::{Loop, innermost, steps};
use crate::kernel::memory::{PAGES, Reserved, TILE, WriteOnly};
use crate::kernel::nest::{Inputs, Nest, Output, UnaryNest, Visit, repeats_row};
use crate::kernel::simd::plain_size;
use crate::kernel::strided::UNPLANNED;
use core::mem::{MaybeUninit, needs_drop};
use ndarray::{Array, ArrayRef, Dimension};

/// Clones the only operand.
pub(crate) struct Cloning;

impl<A: Clone> Visit<A, (A,)> for Cloning {
    #[inline(always)]
    fn visit(&mut self, out: &mut A, (item,): (&A,)) {
        out.clone_from(item);
    }
}

impl<A: Clone> Visit<WriteOnly<A>, (A,)> for Cloning {
    #[inline(always)]
    fn visit(&mut self, out: &mut WriteOnly<A>, (item,): (&A,)) {
        out.write(item.clone());
    }
}

impl<A: Clone> Make<A, (A,)> for Cloning {
    #[inline(always)]
    fn make(&mut self, (item,): (&A,)) -> A {
        item.clone()
    }
}

/// A copy in standard layout.
#[inline]
pub(crate) fn copy<A: Clone, D: Dimension>(reserved: Reserved<A, D>, array: &ArrayRef<A, D>) -> Array<A, D> {
    if let Some(elements) = array.as_slice() {
        return reserved.cloned(elements);
    }
    reserved.written(None, |out| copy_into_uninit(out, array))
}

/// [`copy`], with the array's order of axes in memory.
pub(crate) fn copy_like<A: Clone, D: Dimension, E: Dimension>(
    reserved: Reserved<A, E>,
    array: &ArrayRef<A, D>,
) -> Array<A, E> {
    let inputs = Inputs::from((array,));
    written_like(reserved, &inputs, |out| copy_into_uninit(out, array))
}

/// Clones the elements of the array into `out`, to whose shape the array stretches.
#[inline(never)]
pub(crate) fn copy_into<A: Clone, D: Dimension, E: Dimension>(
    out: &mut ArrayRef<A, E>,
    array: &ArrayRef<A, D>,
) {
    let inputs = Inputs::from((array,));
    if const { needs_drop::<A>() } {
        each(out, &inputs, Cloning);
    } else {
        copy_over(Output::of(out).overwriting(), &inputs);
    }
}

/// [`copy_into`] for an uninitialised array, whose elements are not dropped.
#[inline(never)]
pub(crate) fn copy_into_uninit<A: Clone, D: Dimension, E: Dimension>(
    out: &mut ArrayRef<MaybeUninit<A>, E>,
    array: &ArrayRef<A, D>,
) {
    copy_over(Output::of(out).write_only(), &Inputs::from((array,)));
}

/// Clones the elements of the only input. Plain numbers that are adjacent across rows are copied in tiles: see
/// [`Nest::copy_rows`].
#[inline(always)]
fn copy_over<A: Clone>(mut out: Output<'_, WriteOnly<A>>, inputs: &Inputs<'_, (A,)>) {
    let visit: &mut dyn VisitBlock<WriteOnly<A>, (A,)> = &mut Each(Cloning);
    let mut room = [Loop::ONE; 2];
    let small = Nest::small(&mut room, usize::MAX, None, &mut out, inputs);
    let copied = |mut nest: UnaryNest<'_, A>| {
        let len = steps(nest.loops());
        let is_small = len <= UNPLANNED;
        let has_rows =
            if is_small { len > TINY || nest.is_across() } else { rows_to_copy(nest.loops()).is_some() };
        has_rows && nest.copy_rows(len) || is_small && visit_small(nest, visit)
    };
    if !small.is_some_and(copied) {
        planned(out, inputs, visit, drive_copies);
    }
}

/// [`drive`] for copies: plain numbers that are adjacent across rows are not visited, but copied in tiles. Adjacent rows that
/// are the same are copied from each other.
fn drive_copies<A>(nest: UnaryNest<'_, A>, visit: &mut dyn VisitBlock<WriteOnly<A>, (A,)>) {
    match rows_to_copy(nest.loops()).filter(|_| plain_size::<A>().is_some()) {
        Some(rows) => {
            let (loops, len, last) = (nest.loops(), steps(nest.loops()), nest.loops().len() - 1);
            let class = |at: usize, _: &Loop| u8::from(at == rows || at == last);
            let mut in_order = |part: UnaryNest<'_, A>| {
                part.ordered(class, &mut Loops::new()).each_block(2, &mut |mut block: UnaryNest<'_, A>| {
                    ensure(block.copy_rows(len), "rows that are copied");
                });
            };
            let distance = |l: &Loop| l.strides[1].unsigned_abs();
            let is_inside = |at: usize| at != rows && distance(&loops[at]) < distance(&loops[last]);
            // lines that are read again for each step of a loop within them stay in the cache
            if loops[rows].strides[1] == 1 && (0..last).any(is_inside) {
                nest.each_part(last, PAGES, &mut in_order);
            } else {
                in_order(nest);
            }
        }
        None => drive(nest, visit),
    }
}

/// The loop over rows that are copied together: along which the input is adjacent, but not along the rows, or stays.
fn rows_to_copy(loops: &[Loop]) -> Option<usize> {
    let (row, outer) = innermost(loops);
    if outer.last().is_some_and(|rows| repeats_row(rows, row)) {
        return Some(outer.len() - 1);
    }
    let is_large = |l: &Loop| l.len.min(row.len) >= TILE || l.len.max(row.len) >= WIDE;
    let is_across = |l: &Loop| l.strides[1] == 1 && is_large(l);
    let is_strided = row.strides[0] == 1 && !matches!(row.strides[1], 0 | 1);
    // short rows that are not adjacent would fill a part of each line at a time
    let fills_lines = |&rows: &usize| row.len >= WIDE || rows + 1 == outer.len();
    outer.iter().rposition(is_across).filter(|_| is_strided).filter(fills_lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_across_rows() {
        let across = |loops: &[(usize, [isize; 2])]| rows_to_copy(&Loop::all(loops));
        assert_eq!(across(&[(9, [90, 1]), (90, [1, 9])]), Some(0));
        assert_eq!(across(&[(9, [900, 1]), (10, [90, 1]), (90, [1, -9])]), Some(1));
        assert_eq!(across(&[(9, [900, 1]), (10, [90, 0]), (90, [1, 9])]), Some(0));
        // both sides of a tile, or a long one
        assert_eq!([4, 3].map(|n| across(&[(n, [90, 1]), (15, [1, 9])])), [Some(0), None]);
        assert_eq!([4, 3].map(|n| across(&[(15, [9, 1]), (n, [1, 9])])), [Some(0), None]);
        assert_eq!([16, 15].map(|n| across(&[(2, [90, 1]), (n, [1, 9])])), [Some(0), None]);
        assert_eq!([16, 15].map(|n| across(&[(n, [9, 1]), (2, [1, 9])])), [Some(0), None]);
        // adjacent or repeated along the rows, strided or reversed across them, an output with a stride
        for [to, from, around] in [[1, 1, 1], [1, 0, 1], [1, 9, 2], [1, 9, -1], [2, 9, 1]] {
            assert_eq!(across(&[(9, [180, around]), (90, [to, from])]), None);
        }
        assert_eq!(across(&[(9, [1, 2])]), None);
        // adjacent rows that are the same, and those with a gap or of elements with gaps
        assert_eq!(across(&[(7, [720, 90]), (8, [90, 0]), (90, [1, 1])]), Some(1));
        for [around, from] in [[91, 1], [90, 2], [90, 0]] {
            assert_eq!(across(&[(8, [around, 0]), (90, [1, from])]), None);
        }
    }
}
