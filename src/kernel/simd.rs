//! Loops compiled for each set of CPU features, which is detected at run time.
//!
//! # Invariant
//! A function that needs instructions beyond the target's baseline is called only on a CPU that has them.

use core::sync::atomic::{Ordering, compiler_fence};

/// A task whose `run` and all functions that it calls are `#[inline(always)]`: only then are they compiled for each set of
/// CPU features.
pub(crate) trait Work {
    type Output;

    fn run<C: Cpu>(self) -> Self::Output;
}

/// A kind of CPU. As a type parameter, it gives each kind its own instance of a function, with one caller that inlines it.
pub(crate) trait Cpu {
    /// Whether loops are unrolled for vectors. The baseline leaves this to another kind, if there is one.
    const WIDE: bool;
    /// Whether loops are compiled that keep the partial results of a lane in registers.
    const LANES: bool = Self::WIDE && OPTIMISED;
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

/// Whether loops are compiled that are faster with optimisation only. Unit tests and fuzzing compile them too.
pub(crate) const OPTIMISED: bool = cfg!(any(test, fuzzing, not(debug_assertions)));

/// Whether [`dispatch`] chooses a CPU that has the loops for [`LANES`](Cpu::LANES).
#[inline]
pub(crate) fn has_lanes() -> bool {
    struct HasLanes;

    impl Work for HasLanes {
        type Output = bool;

        #[inline(always)]
        fn run<C: Cpu>(self) -> bool {
            C::LANES
        }
    }
    dispatch(HasLanes)
}

/// Keeps the writes after it apart from the reads before it. Without it, LLVM stores the result of a comparison with an
/// element through a mask where the element was read from the same place, which takes some processors 7 times as long.
///
/// A loop in which it stands is not vectorised, which serves loops over few elements.
#[inline(always)]
pub(crate) fn end_of_reads() {
    compiler_fence(Ordering::SeqCst);
}

/// Runs `work`, compiled for the best instruction set of the CPU. The results do not depend on the instruction set.
#[inline]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: The CPU has AVX2, checked just above.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruction_set_is_that_of_the_cpu() {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        assert_eq!(has_lanes(), std::is_x86_feature_detected!("avx2"));
        #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
        assert_eq!(has_lanes(), Baseline::LANES);
    }
}
