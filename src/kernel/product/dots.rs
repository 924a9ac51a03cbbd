//! Long sums of which the terms are neighbours in both matrices.

use super::super::raw::{Source, Target};
use super::{Multiply, Product};
use core::mem::MaybeUninit;
use ndarray::LinalgScalar;

/// The least terms.
pub(super) const WORTH_IT: usize = 16;
/// Parts of a sum.
const LANES: usize = 8;

#[derive(Clone, Copy)]
pub(super) struct Dots(pub(super) Product);

impl<T: LinalgScalar> Multiply<T> for Dots {
    #[inline(always)]
    unsafe fn multiply(self, a: Source<'_, T>, b: Source<'_, T>, out: Target<'_, MaybeUninit<T>>) {
        let [rows, terms, columns] = self.0.sizes();
        for column in 0..columns.cast_signed() {
            let b = b.moved(column * self.0.b.strides[1]);
            let out = out.moved(column * self.0.out.strides[1]);
            for row in 0..rows.cast_signed() {
                // SAFETY: This is a row and a column, and the terms are neighbours, as `choose` looked at; the caller
                // promises the rest.
                unsafe {
                    let sum = dot(a.moved(row * self.0.a.strides[0]).slice(terms), b.slice(terms));
                    out.moved(row * self.0.out.strides[0]).slot().write(sum);
                }
            }
        }
    }
}

/// One row at a time: with several, the compiler gathers their terms instead of taking them side by side (2x slower).
#[inline(always)]
fn dot<T: LinalgScalar>(a: &[T], b: &[T]) -> T {
    let mut parts = [T::zero(); LANES];
    let (xs, ys) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (rest_a, rest_b) = (xs.remainder(), ys.remainder());
    for (x, y) in xs.zip(ys) {
        for k in 0..LANES {
            parts[k] = parts[k] + x[k] * y[k];
        }
    }
    // written out, as an index that is computed would keep the parts in memory
    let [p0, p1, p2, p3, p4, p5, p6, p7] = parts;
    let mut sum = ((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7));
    for (&x, &y) in rest_a.iter().zip(rest_b) {
        sum = sum + x * y;
    }
    sum
}
