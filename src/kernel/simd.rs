//! Loops compiled for the CPU at hand.

/// A piece of work whose `run`, and all it calls, is `#[inline(always)]`: only then is it compiled anew, for each
/// set of CPU features.
pub(crate) trait Work {
    fn run(self);
}

/// Runs `work` as compiled for the best instruction set that the CPU has. Its results do not depend on which.
#[inline]
pub(crate) fn dispatch(work: impl Work) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, checked just above.
        return unsafe { avx2(work) };
    }
    baseline(work);
}

#[inline(never)]
fn baseline(work: impl Work) {
    work.run();
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2")]
fn avx2(work: impl Work) {
    work.run();
}
