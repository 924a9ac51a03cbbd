//! The rule of axes: a product as that of the largest matrices that strides allow.

#![forbid(unsafe_code)]

use super::tiles::ROWS;
use super::ways::LIBRARY_SIDE;
use crate::kernel::ensure;
use crate::kernel::memory::List;
use core::mem::{replace, swap};
use ndarray::{ArrayRef, Dimension};

/// The factors in arrays of three. The first item is that of the result.
pub(super) const A: usize = 1;
pub(super) const B: usize = 2;

/// The sizes and strides of an operand, whose last `base` axes are those of a matrix or vector.
#[derive(Clone, Copy)]
pub(super) struct Layout<'m> {
    shape: &'m [usize],
    strides: &'m [isize],
    base: usize,
}

impl<'m> Layout<'m> {
    #[inline(always)]
    pub(super) fn of<T, D: Dimension>(array: &'m ArrayRef<T, D>, base: usize) -> Self {
        Self { shape: array.shape(), strides: array.strides(), base }
    }

    /// The size of an axis, counted from the last one, and its stride if it is longer than 1.
    #[inline(always)]
    fn axis(&self, from_end: usize) -> (usize, usize) {
        match self.shape.len().checked_sub(from_end + 1) {
            Some(axis) if self.shape[axis] != 1 => (self.shape[axis], self.strides[axis].cast_unsigned()),
            _ => (1, 0),
        }
    }

    #[inline(always)]
    fn batch_axis(&self, i: usize) -> (usize, usize) {
        self.axis(self.base + i)
    }

    /// The elements in memory before the first one, if there are elements and no gaps.
    #[inline(always)]
    fn start(&self) -> usize {
        let before = |(&len, &step): (&usize, &isize)| {
            if step < 0 { len.saturating_sub(1).wrapping_mul(step.unsigned_abs()) } else { 0 }
        };
        self.shape.iter().zip(self.strides).map(before).sum()
    }
}

/// An axis, or several axes as one: its length, and the elements that each operand moves at a step. Steps wrap: those of a reversed
/// axis are negative.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    pub(super) len: usize,
    pub(super) by: [usize; 3],
}

impl Loop {
    /// No loop.
    pub(super) const ONE: Self = Self { len: 1, by: [0; 3] };

    /// Where the operands are one step later.
    #[inline(always)]
    pub(super) fn next(&self, [out, a, b]: [usize; 3]) -> [usize; 3] {
        [out.wrapping_add(self.by[0]), a.wrapping_add(self.by[A]), b.wrapping_add(self.by[B])]
    }

    /// How far apart neighbours of an operand are.
    fn distance(&self, k: usize) -> usize {
        self.by[k].cast_signed().unsigned_abs()
    }
}

/// The loops of one product. Along `rows`, the result and the first factor move; along `columns`, the result and the second one;
/// along `terms`, both factors.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub(super) rows: Loop,
    pub(super) terms: Loop,
    pub(super) columns: Loop,
}

impl Sides {
    /// The numbers of rows, terms and columns.
    #[inline(always)]
    pub(super) fn lens(&self) -> [usize; 3] {
        [self.rows.len, self.terms.len, self.columns.len]
    }

    /// Whether there are few rows and terms, and columns of near terms. All ways add so few terms in their order.
    #[inline]
    pub(super) fn has_few_terms(&self) -> bool {
        // measured on Zen 4 on 2026-11-28 with f64: from 16 terms on, several sums take no longer than one
        self.rows.len < ROWS && self.terms.len < 16 && self.has_near_terms()
    }

    /// Whether the terms of the second factor are nearer than its columns.
    #[inline]
    pub(super) fn has_near_terms(&self) -> bool {
        self.columns.len == 1 || self.terms.distance(B) < self.columns.distance(B)
    }
}

/// A product as loops: those of one product, and the others, innermost first.
pub(super) struct Plan {
    pub(super) sides: Sides,
    pub(super) loops: List<Loop, 4>,
    /// Where the operands begin.
    pub(super) at: [usize; 3],
    /// Whether the first factor is `b`.
    pub(super) are_swapped: bool,
}

impl Plan {
    /// The loops of products in the memory of arrays without gaps. With `reads_gaps`, the rows or columns may be an axis
    /// with gaps, if that has more of them.
    ///
    /// # Panics
    /// If the sizes do not go together, or the outer axes do not broadcast to those of the result.
    #[inline(always)]
    pub(super) fn new(layouts: &[Layout<'_>; 3], reads_gaps: bool) -> Self {
        let mut plan = Self {
            sides: sides(layouts),
            loops: List::new(),
            at: layouts.map(|layout| layout.start()),
            are_swapped: false,
        };
        let [out, a, b] = layouts;
        let reads_gaps = reads_gaps && plan.sides.terms.len >= LIBRARY_SIDE;
        for i in 0..out.shape.len() - out.base {
            let (len, by) = out.batch_axis(i);
            let ((of_a, by_a), (of_b, by_b)) = (a.batch_axis(i), b.batch_axis(i));
            let fits = |own: usize| own == len || own == 1;
            ensure(fits(of_a) && fits(of_b), "an axis of an input does not fit the shape");
            if len != 1 {
                plan.join(Loop { len, by: [by, by_a, by_b] }, reads_gaps);
            }
        }
        let Sides { rows, terms, columns } = plan.sides;
        // neighbours of the result are columns
        if rows.len > 1 && (columns.len == 1 || rows.distance(0) < columns.distance(0)) {
            plan.turn();
        }
        let read_first = if plan.sides.has_near_terms() { B } else { A };
        if terms.len > 1 && plan.sides.terms.by[read_first].cast_signed() < 0 {
            plan.reverse_terms();
        }
        plan
    }

    /// Adds a batch axis outside of all others: to rows or columns, if only one factor moves along it and the steps allow.
    #[inline(always)]
    fn join(&mut self, outer: Loop, reads_gaps: bool) {
        let side = match [A, B].map(|k| outer.by[k] != 0) {
            [true, false] => &mut self.sides.rows,
            [false, true] => &mut self.sides.columns,
            _ => return self.push(outer),
        };
        if side.len == 1 {
            *side = outer;
        } else if outer.by == side.by.map(|by| by.wrapping_mul(side.len)) {
            side.len *= outer.len;
        } else if reads_gaps && side.len < LIBRARY_SIDE && side.len < outer.len {
            let inner = replace(side, outer);
            self.push(inner);
        } else {
            self.push(outer);
        }
    }

    #[inline(always)]
    fn push(&mut self, outer: Loop) {
        match self.loops.last_mut() {
            Some(inner) if outer.by == inner.by.map(|by| by.wrapping_mul(inner.len)) => {
                inner.len *= outer.len;
            }
            _ => self.loops.push(outer),
        }
    }

    /// The transposed product: rows are columns, and the factors change places.
    #[inline]
    fn turn(&mut self) {
        let Sides { rows, terms, columns } = &mut self.sides;
        swap(rows, columns);
        for l in [rows, terms, columns].into_iter().chain(&mut *self.loops) {
            l.by.swap(A, B);
        }
        self.at.swap(A, B);
        self.are_swapped = true;
    }

    #[inline]
    fn reverse_terms(&mut self) {
        let terms = &mut self.sides.terms;
        for k in [A, B] {
            self.at[k] = self.at[k].wrapping_add((terms.len - 1).wrapping_mul(terms.by[k]));
            terms.by[k] = terms.by[k].wrapping_neg();
        }
    }
}

/// The loops of a single product.
#[inline(always)]
fn sides([out, a, b]: &[Layout<'_>; 3]) -> Sides {
    // a vector has no such axis
    let row = |matrix: &Layout<'_>, from_end: usize| if a.base == 2 { matrix.axis(from_end) } else { (1, 0) };
    let column = |matrix: &Layout<'_>| if b.base == 2 { matrix.axis(0) } else { (1, 0) };
    let ((rows, row_of_a), (own_rows, row_of_out)) = (row(a, 1), row(out, out.base.saturating_sub(1)));
    let ((columns, column_of_b), (own_columns, column_of_out)) = (column(b), column(out));
    let ((terms, term_of_a), (other, term_of_b)) = (a.axis(0), b.axis(b.base - 1));
    let fit = terms == other && rows == own_rows && columns == own_columns;
    ensure(fit, "matrices whose sizes do not go together");
    Sides {
        rows: Loop { len: rows, by: [row_of_out, row_of_a, 0] },
        terms: Loop { len: terms, by: [0, term_of_a, term_of_b] },
        columns: Loop { len: columns, by: [column_of_out, 0, column_of_b] },
    }
}
