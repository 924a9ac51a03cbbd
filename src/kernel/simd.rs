//! Loops compiled for the CPU at hand.
//!
//! # Invariant
//! A function that needs instructions beyond the target's baseline is called only where the CPU has them.

/// A piece of work whose `run`, and all it calls, is `#[inline(always)]`: only then is it compiled anew, for each
/// set of CPU features.
pub(crate) trait Work {
    type Output;

    fn run<C: Cpu>(self) -> Self::Output;
}

/// A kind of CPU. As a type parameter it makes an instance of a function for each, with a single caller that inlines it.
pub(crate) trait Cpu {
    /// Whether loops are to be unrolled for vectors: not where that is the business of another kind.
    const WIDE: bool;
}

/// Any CPU of the target.
struct Baseline;

impl Cpu for Baseline {
    const WIDE: bool = !cfg!(all(feature = "std", target_arch = "x86_64"));
}

/// A CPU with AVX2.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
struct Avx2;

#[cfg(all(feature = "std", target_arch = "x86_64"))]
impl Cpu for Avx2 {
    const WIDE: bool = true;
}

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
