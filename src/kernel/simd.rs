//! Loops compiled for the CPU at hand.
//!
//! # Invariant
//! A function that needs instructions beyond the target's baseline is called only where the CPU has them.

/// A piece of work whose `run`, and all it calls, is `#[inline(always)]`: only then is it compiled anew, for each
/// set of CPU features.
pub(crate) trait Work {
    type Output;

    /// `C` is the CPU: it makes one instance of each function for each, with a single caller that inlines it.
    fn run<C>(self) -> Self::Output;
}

/// Any CPU of the target.
struct Baseline;
/// A CPU with AVX2.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
struct Avx2;

/// Runs `work` as compiled for the best instruction set that the CPU has. Its results do not depend on which.
#[inline]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, checked just above.
        return unsafe { avx2(work) };
    }
    baseline(work)
}

#[inline(never)]
fn baseline<W: Work>(work: W) -> W::Output {
    work.run::<Baseline>()
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run::<Avx2>()
}
