//! Blocks of the result that stay in registers while the terms go by.

use super::super::raw::{Source, Target};
use super::{Multiply, Product};
use core::mem::MaybeUninit;
use ndarray::LinalgScalar;

/// Rows and columns of a block.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// For rows of the second matrix and of the result without gaps. `TURNED` says that the product was transposed: its
/// operands are given in the other order, in which their elements are still multiplied.
#[derive(Clone, Copy)]
pub(super) struct Tiles<const TURNED: bool>(pub(super) Product);

impl<T: LinalgScalar, const TURNED: bool> Multiply<T> for Tiles<TURNED> {
    #[inline(always)]
    unsafe fn multiply(self, a: Source<'_, T>, b: Source<'_, T>, out: Target<'_, MaybeUninit<T>>) {
        let (a, b) = if TURNED { (b, a) } else { (a, b) };
        let columns = self.0.sizes()[2];
        let mut column = 0;
        // SAFETY: The blocks are within the columns, next to each other in memory, as `choose` looked at; the caller
        // promises the rest.
        unsafe {
            while column + COLUMNS <= columns {
                rows::<T, COLUMNS, TURNED>(&self.0, column, a, b, out);
                column += COLUMNS;
            }
            if column + 4 <= columns {
                rows::<T, 4, TURNED>(&self.0, column, a, b, out);
                column += 4;
            }
            if column + 2 <= columns {
                rows::<T, 2, TURNED>(&self.0, column, a, b, out);
                column += 2;
            }
            while column < columns {
                rows::<T, 1, TURNED>(&self.0, column, a, b, out);
                column += 1;
            }
        }
    }
}

/// For anything: one column at a time.
#[derive(Clone, Copy)]
pub(super) struct Columns(pub(super) Product);

impl<T: LinalgScalar> Multiply<T> for Columns {
    #[inline(always)]
    unsafe fn multiply(self, a: Source<'_, T>, b: Source<'_, T>, out: Target<'_, MaybeUninit<T>>) {
        for column in 0..self.0.sizes()[2] {
            // SAFETY: This is a column; the caller promises the rest.
            unsafe { rows::<T, 1, false>(&self.0, column, a, b, out) };
        }
    }
}

/// `C` columns of the result.
///
/// # Safety
/// As for [`Multiply::multiply`]; the columns exist, and if there are several their elements are neighbours in the
/// second matrix and in the result.
#[inline(always)]
unsafe fn rows<T: LinalgScalar, const C: usize, const TURNED: bool>(
    product: &Product,
    column: usize,
    a: Source<'_, T>,
    b: Source<'_, T>,
    out: Target<'_, MaybeUninit<T>>,
) {
    let rows = product.sizes()[0];
    let column = column.cast_signed();
    let (b, out) = (b.moved(column * product.b.strides[1]), out.moved(column * product.out.strides[1]));
    let mut row = 0;
    // SAFETY: The blocks are within the rows; the caller promises the rest.
    unsafe {
        while row + ROWS <= rows {
            tile::<T, ROWS, C, TURNED>(product, row, a, b, out);
            row += ROWS;
        }
        while row < rows {
            tile::<T, 1, C, TURNED>(product, row, a, b, out);
            row += 1;
        }
    }
}

/// `R` rows and `C` columns of the result, from `row` and from the columns where `b` and `out` are.
///
/// # Safety
/// As for [`rows`]; the rows exist.
#[inline(always)]
unsafe fn tile<T: LinalgScalar, const R: usize, const C: usize, const TURNED: bool>(
    product: &Product,
    row: usize,
    a: Source<'_, T>,
    b: Source<'_, T>,
    out: Target<'_, MaybeUninit<T>>,
) {
    let ([down, along], [step, _]) = (product.a.strides, product.b.strides);
    let row = row.cast_signed();
    let a = a.moved(row * down);
    let mut sums = [[T::zero(); C]; R];
    for j in 0..product.sizes()[1].cast_signed() {
        // SAFETY: `j` is a row of the second matrix, and the columns are neighbours there.
        let ys: &[T; C] = unsafe { b.moved(j * step).packed() };
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: row `row + r` and column `j` are in the first matrix.
            let x = unsafe { *a.moved(r.cast_signed() * down + j * along).get() };
            for (sum, &y) in sums.iter_mut().zip(ys) {
                *sum = *sum + if TURNED { y * x } else { x * y };
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        // SAFETY: the columns of row `row + r` are neighbours in the result.
        let slots: &mut [MaybeUninit<T>; C] =
            unsafe { out.moved((row + r.cast_signed()) * product.out.strides[0]).packed() };
        *slots = sums.map(MaybeUninit::new);
    }
}
