//! Products of two contiguous matrices by tiles in registers.

#![forbid(unsafe_code)]

use alloc::vec::Vec;
use ndarray::LinalgScalar;

/// The most terms of a tile that are added one after the other, and the fewest terms of a dot product that are added pairwise.
/// The order of fewer terms costs no accuracy.
pub(super) const TERMS: usize = 64;
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
        if columns == 1 && terms <= TERMS {
            // rows are independent, so their additions overlap
            for (out, row) in self.out.iter_mut().zip(self.a.chunks_exact(terms)) {
                let products = row.iter().zip(self.b).map(|(&x, &y)| times(x, y));
                *out = products.reduce(|sum, product| sum + product).unwrap_or_else(T::zero);
            }
            return;
        }
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
    fn tile<const R: usize, const C: usize>(
        &mut self,
        row: usize,
        column: usize,
        times: impl Fn(T, T) -> T + Copy,
    ) {
        let [terms, columns] = self.sides;
        let mut sums = self.sums::<R, C>([row, column], 0, times);
        if terms > TERMS {
            // sums of 2^n chunks of terms, joined like the carries of a binary counter
            let (mut before, mut chunk) = (Vec::from([sums]), 1_usize);
            while chunk * TERMS < terms {
                sums = self.sums([row, column], chunk * TERMS, times);
                chunk += 1;
                let is_last = chunk * TERMS >= terms;
                let joined = if is_last { before.len() } else { chunk.trailing_zeros() as usize };
                for former in before.drain(before.len() - joined..).rev() {
                    for r in 0..R {
                        for c in 0..C {
                            sums[r][c] = former[r][c] + sums[r][c];
                        }
                    }
                }
                before.push(sums);
            }
        }
        for r in 0..R {
            self.out[(row + r) * columns + column..][..C].copy_from_slice(&sums[r]);
        }
    }

    /// The sums of a chunk of terms, in their order.
    #[inline(always)]
    fn sums<const R: usize, const C: usize>(
        &self,
        [row, column]: [usize; 2],
        from: usize,
        times: impl Fn(T, T) -> T,
    ) -> [[T; C]; R] {
        let [terms, columns] = self.sides;
        let (len, mut sums) = ((terms - from).min(TERMS), [[T::zero(); C]; R]);
        let a: [&[T]; R] = core::array::from_fn(|r| &self.a[(row + r) * terms + from..][..len]);
        let b = &self.b[from * columns + column..];
        for i in 0..len {
            let Some(y) = b[i * columns..].first_chunk::<C>() else { return sums };
            for r in 0..R {
                for c in 0..C {
                    let product = times(a[r][i], y[c]);
                    sums[r][c] = if i == 0 { product } else { sums[r][c] + product };
                }
            }
        }
        sums
    }
}
