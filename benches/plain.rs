//! Loops as one writes them by hand for one case, to compare with.

use num_traits::{Float, NumAssign};

/// The elements of generic loops.
#[allow(dead_code, reason = "some benches have loops for one type only")]
pub(crate) trait Number: NumAssign + Copy {}

impl<T: NumAssign + Copy> Number for T {}

/// The elements of loops that compare numbers, or take roots.
#[allow(dead_code, reason = "some benches have no such loops")]
pub(crate) trait Real: Number + Float {}

impl<T: Number + Float> Real for T {}

/// A plain loop, compiled as the rest of the program and for AVX2.
macro_rules! plain {
    ($name:ident $(<$T:ident $(: $Bound:ident)?>)? ($($x:ident: $X:ty),* $(,)?) $body:block) => {
        pub(crate) mod $name {
            #[inline(always)]
            fn body $(<$T: crate::plain::Number $(+ crate::plain::$Bound)?>)? ($($x: $X),*) $body

            #[inline(never)]
            #[allow(dead_code, reason = "limits are only compiled for AVX2")]
            pub(crate) fn plain $(<$T: crate::plain::Number $(+ crate::plain::$Bound)?>)? ($($x: $X),*) {
                body($($x),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn for_avx2 $(<$T: crate::plain::Number $(+ crate::plain::$Bound)?>)? ($($x: $X),*) {
                body($($x),*);
            }

            #[inline(never)]
            #[allow(dead_code, reason = "not every loop has something to vectorise")]
            #[allow(unsafe_code, reason = "only called where the CPU has AVX2")]
            pub(crate) fn avx2 $(<$T: crate::plain::Number $(+ crate::plain::$Bound)?>)? ($($x: $X),*) {
                #[cfg(target_arch = "x86_64")]
                if std::is_x86_feature_detected!("avx2") {
                    // SAFETY: the CPU has AVX2, checked just above.
                    return unsafe { for_avx2($($x),*) };
                }
                body($($x),*);
            }
        }
    };
}
