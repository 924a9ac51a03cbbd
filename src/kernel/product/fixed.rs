//! Tiny matrices without gaps, of sizes that the compiler knows.

use super::super::raw::{Source, Target};
use super::Multiply;
use core::mem::MaybeUninit;
use ndarray::LinalgScalar;

/// `M` rows, sums of `N` terms, `P` columns.
#[derive(Clone, Copy)]
pub(super) struct Fixed<const M: usize, const N: usize, const P: usize>;

impl<T: LinalgScalar, const M: usize, const N: usize, const P: usize> Multiply<T> for Fixed<M, N, P> {
    #[inline(always)]
    unsafe fn multiply(self, a: Source<'_, T>, b: Source<'_, T>, out: Target<'_, MaybeUninit<T>>) {
        // SAFETY: The matrices are packed and of these sizes, which `choose` looked at; the caller promises the rest.
        let (a, b, out): (&[[T; N]; M], &[[T; P]; N], &mut [[MaybeUninit<T>; P]; M]) =
            unsafe { (a.packed(), b.packed(), out.packed()) };
        let mut sums = [[T::zero(); P]; M];
        for j in 0..N {
            for (sums, row) in sums.iter_mut().zip(a) {
                for (sum, &y) in sums.iter_mut().zip(&b[j]) {
                    *sum = *sum + row[j] * y;
                }
            }
        }
        *out = sums.map(|row| row.map(MaybeUninit::new));
    }
}
