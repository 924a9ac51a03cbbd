//! Products of two contiguous matrices by tiles in registers.

#![forbid(unsafe_code)]

use super::sides::TERMS;
use alloc::vec::Vec;
use ndarray::LinalgScalar;

/// Rows of a tile.
const ROWS: usize = 4;

/// Two matrices and their product, each contiguous row by row.
pub(super) struct Matrices<'m, T> {
    pub(super) a: &'m [T],
    pub(super) b: &'m [T],
    pub(super) out: &'m mut [T],
    /// The number of terms, and of columns.
    pub(super) sides: [usize; 2],
}

impl<T: LinalgScalar> Matrices<'_, T> {
    #[inline(always)]
    pub(super) fn tiles(mut self, times: impl Fn(T, T) -> T + Copy) {
        let [terms, columns] = self.sides;
        debug_assert_eq!(self.a.len() / terms * columns, self.out.len());
        let mut column = 0;
        while column < columns {
            // one wide tile that overlaps with the one before takes less time than narrow ones
            let is_good = |&width: &usize| width <= columns && columns - column > width / 2;
            let width = [8, 4, 2].into_iter().find(is_good).unwrap_or(1);
            let from = column.min(columns - width);
            match width {
                8 => self.columns::<8>(from, times),
                4 => self.columns::<4>(from, times),
                2 => self.columns::<2>(from, times),
                _ => self.columns::<1>(from, times),
            }
            column = from + width;
        }
    }

    /// Computes `C` columns of the result, from `column` on.
    #[inline(always)]
    fn columns<const C: usize>(&mut self, column: usize, times: impl Fn(T, T) -> T + Copy) {
        let (mut row, rows) = (0, self.a.len() / self.sides[0]);
        while row < rows {
            // as for columns
            if rows >= ROWS && rows - row > 1 {
                self.tile::<ROWS, C>(row.min(rows - ROWS), column, times);
                row += ROWS;
            } else {
                self.tile::<1, C>(row, column, times);
                row += 1;
            }
        }
    }

    /// Computes `R` rows and `C` columns of the result, from `row` and `column` on, in registers.
    #[inline(always)]
    fn tile<const R: usize, const C: usize>(&mut self, row: usize, column: usize, times: impl Fn(T, T) -> T) {
        let [terms, columns] = self.sides;
        let a: [&[T]; R] = core::array::from_fn(|r| &self.a[(row + r) * terms..][..terms]);
        let mut b = self.b.chunks_exact(columns);
        // sums of 2^n chunks of terms, joined like the carries of a binary counter
        let (mut before, mut from, mut chunk) = (Vec::<[[T; C]; R]>::new(), 0, 0_usize);
        let sums = loop {
            let (to, mut sums) = (terms.min(from + TERMS), [[T::zero(); C]; R]);
            for i in from..to {
                let Some(Some(y)) = b.next().map(|b| b[column..].first_chunk::<C>()) else { return };
                for r in 0..R {
                    for c in 0..C {
                        let product = times(a[r][i], y[c]);
                        sums[r][c] = if i == from { product } else { sums[r][c] + product };
                    }
                }
            }
            (from, chunk) = (to, chunk + 1);
            let joined = if from == terms { before.len() } else { chunk.trailing_zeros() as usize };
            for former in before.drain(before.len() - joined..).rev() {
                for r in 0..R {
                    for c in 0..C {
                        sums[r][c] = former[r][c] + sums[r][c];
                    }
                }
            }
            if from == terms {
                break sums;
            }
            before.push(sums);
        };
        for r in 0..R {
            self.out[(row + r) * columns + column..][..C].copy_from_slice(&sums[r]);
        }
    }
}
