//! Loops as one writes them by hand for one case, to compare with.

/// A plain loop, compiled as the rest of the program and for AVX2.
macro_rules! plain {
    ($name:ident($($x:ident: $T:ty),*) $body:block) => {
        mod $name {
            #[inline(always)]
            fn body($($x: $T),*) $body

            #[inline(never)]
            pub(crate) fn plain($($x: $T),*) {
                body($($x),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn for_avx2($($x: $T),*) {
                body($($x),*);
            }

            #[inline(never)]
            #[allow(unsafe_code, reason = "only called where the CPU has AVX2")]
            pub(crate) fn avx2($($x: $T),*) {
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
