//! Long sums of which the terms are neighbours in both matrices.

use super::super::raw::{Source, Target};
use super::{Multiply, Product};
use core::mem::MaybeUninit;
use ndarray::LinalgScalar;

/// The least terms.
pub(super) const WORTH_IT: usize = 16;
/// Parts of a sum.
const LANES: usize = 8;
/// Rows at a time: sums that share the second factors.
const ROWS: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct Dots(pub(super) Product);

impl<T: LinalgScalar> Multiply<T> for Dots {
    #[inline(always)]
    unsafe fn multiply(self, a: Source<'_, T>, b: Source<'_, T>, out: Target<'_, MaybeUninit<T>>) {
        let [rows, _, columns] = self.0.sizes();
        for column in 0..columns.cast_signed() {
            let b = b.moved(column * self.0.b.strides[1]);
            let out = out.moved(column * self.0.out.strides[1]);
            let mut row = 0;
            // SAFETY: The blocks are within the rows, this is a column, and the terms are neighbours, as `choose`
            // looked at; the caller promises the rest.
            unsafe {
                while row + ROWS <= rows {
                    dots::<T, ROWS>(&self.0, row, a, b, out);
                    row += ROWS;
                }
                while row < rows {
                    dots::<T, 1>(&self.0, row, a, b, out);
                    row += 1;
                }
            }
        }
    }
}

/// `R` sums of the column where `b` and `out` are.
///
/// # Safety
/// As for [`Multiply::multiply`]; the rows from `row` exist, and the terms are neighbours.
#[inline(always)]
unsafe fn dots<T: LinalgScalar, const R: usize>(
    product: &Product,
    row: usize,
    a: Source<'_, T>,
    b: Source<'_, T>,
    out: Target<'_, MaybeUninit<T>>,
) {
    let row = |r: usize| (row + r).cast_signed();
    let terms = product.sizes()[1];
    let whole = terms - terms % LANES;
    let mut parts = [[T::zero(); LANES]; R];
    for j in (0..whole).step_by(LANES) {
        // SAFETY: the terms from `j` are within the sum.
        let ys: &[T; LANES] = unsafe { b.moved(j.cast_signed()).packed() };
        for (r, parts) in parts.iter_mut().enumerate() {
            // SAFETY: as above, in row `row + r`.
            let xs: &[T; LANES] =
                unsafe { a.moved(row(r) * product.a.strides[0] + j.cast_signed()).packed() };
            for ((part, &x), &y) in parts.iter_mut().zip(xs).zip(ys) {
                *part = *part + x * y;
            }
        }
    }
    for (r, mut parts) in parts.into_iter().enumerate() {
        for half in [4, 2, 1] {
            for lane in 0..half {
                parts[lane] = parts[lane] + parts[lane + half];
            }
        }
        let mut sum = parts[0];
        for j in whole.cast_signed()..terms.cast_signed() {
            // SAFETY: the term `j` of row `row + r`.
            let (x, y) = unsafe { (*a.moved(row(r) * product.a.strides[0] + j).get(), *b.moved(j).get()) };
            sum = sum + x * y;
        }
        // SAFETY: row `row + r` of the result.
        unsafe { out.moved(row(r) * product.out.strides[0]).slot() }.write(sum);
    }
}
