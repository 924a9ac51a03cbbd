//! Products of two matrices by tiles in registers.

#![forbid(unsafe_code)]

use super::axes::{A, B, Sides};
use super::ways::{Matrices, Multiply, times};
use crate::kernel::nest::WIDE;
use alloc::vec::Vec;
use core::array::from_fn;
use ndarray::LinalgScalar;

/// The most terms of a tile that are added one after the other, and the fewest terms of a dot product that are added pairwise.
/// The order of fewer terms costs no accuracy.
pub(super) const TERMS: usize = 64;
/// Rows of a tile.
pub(super) const ROWS: usize = 4;

/// Any rows, terms and columns, in tiles.
pub(super) struct Tiles;

impl<T: LinalgScalar> Multiply<T> for Tiles {
    #[inline(always)]
    fn multiply(mut matrices: Matrices<'_, T>) {
        for _ in 0..matrices.inner.len {
            columns(&mut matrices);
            matrices.at = matrices.inner.next(matrices.at);
        }
    }
}

#[inline(always)]
fn columns<T: LinalgScalar>(matrices: &mut Matrices<'_, T>) {
    let (columns, mut column) = (matrices.sides.columns.len, 0);
    while column < columns {
        // sums of few rows wait for each other, unless there are many
        if matrices.sides.rows.len < ROWS && columns - column >= WIDE {
            for row in 0..matrices.sides.rows.len {
                tile::<T, 1, WIDE>(matrices, row, column);
            }
            column += WIDE;
            continue;
        }
        // one wide tile that overlaps with the one before takes less time than narrow ones
        let is_good = |&width: &usize| width <= columns && columns - column > width / 2;
        let width = if columns < 8 { columns } else { [8, 4, 2].into_iter().find(is_good).unwrap_or(1) };
        let from = column.min(columns - width);
        match width {
            8.. => rows::<T, 8>(matrices, from),
            7 => rows::<T, 7>(matrices, from),
            6 => rows::<T, 6>(matrices, from),
            5 => rows::<T, 5>(matrices, from),
            4 => rows::<T, 4>(matrices, from),
            3 => rows::<T, 3>(matrices, from),
            2 => rows::<T, 2>(matrices, from),
            _ => rows::<T, 1>(matrices, from),
        }
        column = from + width;
    }
}

/// Computes `C` columns of the result, from `column` on.
#[inline(always)]
fn rows<T: LinalgScalar, const C: usize>(matrices: &mut Matrices<'_, T>, column: usize) {
    let (mut row, rows) = (0, matrices.sides.rows.len);
    while row < rows {
        // as for columns
        if rows >= ROWS && rows - row > 1 {
            tile::<T, ROWS, C>(matrices, row.min(rows - ROWS), column);
            row += ROWS;
        } else {
            tile::<T, 1, C>(matrices, row, column);
            row += 1;
        }
    }
}

/// Computes `R` rows and `C` columns of the result, from `row` and `column` on, in registers.
#[inline(always)]
fn tile<T: LinalgScalar, const R: usize, const C: usize>(
    matrices: &mut Matrices<'_, T>,
    row: usize,
    column: usize,
) {
    let &mut Matrices { ref mut out, a, b, sides: &Sides { rows, terms, columns }, at, are_swapped, .. } =
        matrices;
    let [to, at_a] = [0, A].map(|k| at[k].wrapping_add(row.wrapping_mul(rows.by[k])));
    let a: [&[T]; R] = from_fn(|r| &a[at_a.wrapping_add(r.wrapping_mul(rows.by[A]))..][..terms.len]);
    let mut at_b = at[B] + column;
    // sums of 2^n chunks of terms, joined like the carries of a binary counter
    let (mut before, mut from, mut chunk) = (Vec::<[[T; C]; R]>::new(), 0, 0_usize);
    let sums = loop {
        let (end, mut sums) = (terms.len.min(from + TERMS), [[T::zero(); C]; R]);
        for i in from..end {
            let Some(Some(y)) = b.get(at_b..).map(|b| b.first_chunk::<C>()) else { return };
            at_b = at_b.wrapping_add(terms.by[B]);
            for r in 0..R {
                for c in 0..C {
                    let product = times(a[r][i], y[c], are_swapped);
                    sums[r][c] = if i == from { product } else { sums[r][c] + product };
                }
            }
        }
        (from, chunk) = (end, chunk + 1);
        let joined = if from == terms.len { before.len() } else { chunk.trailing_zeros() as usize };
        for former in before.drain(before.len() - joined..).rev() {
            for r in 0..R {
                for c in 0..C {
                    sums[r][c] = former[r][c] + sums[r][c];
                }
            }
        }
        if from == terms.len {
            break sums;
        }
        before.push(sums);
    };
    for (r, sums) in sums.iter().enumerate() {
        let to = to.wrapping_add(r.wrapping_mul(rows.by[0]));
        if columns.by[0] == 1 {
            out[to + column..][..C].copy_from_slice(sums);
        } else {
            for (c, &sum) in sums.iter().enumerate() {
                out[to.wrapping_add((column + c).wrapping_mul(columns.by[0]))] = sum;
            }
        }
    }
}
