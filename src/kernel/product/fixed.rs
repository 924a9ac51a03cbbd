//! Tiny matrices without gaps, of sizes that the compiler knows.

use super::super::raw::{Source, Target};
use super::Multiply;
use core::array;
use core::mem::MaybeUninit;
use ndarray::LinalgScalar;

/// `M` rows, sums of `N` terms, at least one, `P` columns.
#[derive(Clone, Copy)]
pub(super) struct Fixed<const M: usize, const N: usize, const P: usize>;

impl<T: LinalgScalar, const M: usize, const N: usize, const P: usize> Multiply<T> for Fixed<M, N, P> {
    #[inline(always)]
    unsafe fn multiply(self, a: Source<'_, T>, b: Source<'_, T>, out: Target<'_, MaybeUninit<T>>) {
        // SAFETY: The matrices are packed and of these sizes, which `choose` looked at; the caller promises the rest.
        let (a, b) = unsafe { (a.packed::<[[T; N]; M]>(), b.packed::<[[T; P]; N]>()) };
        // SAFETY: as above.
        let out = unsafe { out.packed::<[[MaybeUninit<T>; P]; M]>() };
        if P == 1 {
            // all sums side by side, stored at the end: their chains of additions overlap
            let mut sums: [T; M] = array::from_fn(|i| a[i][0] * b[0][0]);
            for j in 1..N {
                for i in 0..M {
                    sums[i] = sums[i] + a[i][j] * b[j][0];
                }
            }
            for i in 0..M {
                out[i][0] = MaybeUninit::new(sums[i]);
            }
        } else {
            for i in 0..M {
                let mut sums: [T; P] = array::from_fn(|k| a[i][0] * b[0][k]);
                for j in 1..N {
                    for k in 0..P {
                        sums[k] = sums[k] + a[i][j] * b[j][k];
                    }
                }
                for k in 0..P {
                    out[i][k] = MaybeUninit::new(sums[k]);
                }
            }
        }
    }
}
