//! Loops compiled for each set of CPU features, which is detected at run time, and vectors where the compiler finds none.
//!
//! # Invariant
//! A function that needs instructions beyond the target's baseline is called only on a CPU that has them.

use core::array::from_fn;
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

/// The bits of a plain number of some size.
pub(crate) trait Bits: Copy {
    /// The elements of both rows in turn: `a[0]`, `b[0]`, `a[1]`, `b[1]` and so on.
    #[inline(always)]
    fn interleaved<const N: usize>(a: [Self; N], b: [Self; N]) -> [[Self; N]; 2] {
        one_by_one(a, b)
    }
}

/// [`Bits::interleaved`] without vectors.
#[inline(always)]
fn one_by_one<B: Copy, const N: usize>(a: [B; N], b: [B; N]) -> [[B; N]; 2] {
    from_fn(|half| from_fn(|i| [a, b][i % 2][half * N / 2 + i / 2]))
}

impl Bits for u128 {}

// LLVM moves numbers one by one, which takes two to four times as long.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2 {
    use super::{Bits, one_by_one};
    use core::arch::x86_64 as x86;
    use core::mem::transmute_copy;

    macro_rules! interleaved {
        ($($bits:ident by $low:ident and $high:ident,)*) => { $(
            impl Bits for $bits {
                #[inline(always)]
                fn interleaved<const N: usize>(a: [Self; N], b: [Self; N]) -> [[Self; N]; 2] {
                    if size_of::<[Self; N]>() != size_of::<x86::__m128i>() {
                        return one_by_one(a, b);
                    }
                    // SAFETY: A row is as large as a vector, and both may have any bits. The target has SSE2.
                    unsafe {
                        let [a, b] = [a, b].map(|row| transmute_copy::<[Self; N], x86::__m128i>(&row));
                        [x86::$low(a, b), x86::$high(a, b)]
                            .map(|vector| transmute_copy::<x86::__m128i, [Self; N]>(&vector))
                    }
                }
            }
        )* };
    }

    interleaved! {
        u8 by _mm_unpacklo_epi8 and _mm_unpackhi_epi8,
        u16 by _mm_unpacklo_epi16 and _mm_unpackhi_epi16,
        u32 by _mm_unpacklo_epi32 and _mm_unpackhi_epi32,
        u64 by _mm_unpacklo_epi64 and _mm_unpackhi_epi64,
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
mod portable {
    use super::Bits;

    impl Bits for u8 {}
    impl Bits for u16 {}
    impl Bits for u32 {}
    impl Bits for u64 {}
}

/// The columns of a square of rows. Interleaving the first half of the rows with the second one moves the highest bit of
/// each row's index to the lowest bit of the column's, until all have changed places.
#[inline(always)]
pub(crate) fn transposed<B: Bits, const N: usize>(mut rows: [[B; N]; N]) -> [[B; N]; N] {
    let mut remaining = N;
    while remaining > 1 {
        let (before, mut i) = (rows, 0);
        while i < N / 2 {
            [rows[2 * i], rows[2 * i + 1]] = B::interleaved(before[i], before[i + N / 2]);
            i += 1;
        }
        remaining /= 2;
    }
    rows
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

/// [`dispatch`] where [`has_lanes`] is true. What `work` does is compiled for no other CPU.
///
/// # Panics
/// If the CPU is another one.
#[inline]
pub(crate) fn dispatch_lanes<W: Work>(work: W) -> W::Output {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    {
        assert!(std::is_x86_feature_detected!("avx2"), "a CPU that has the loops");
        // SAFETY: The CPU has AVX2, checked just above.
        unsafe { avx2(work) }
    }
    #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
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
    fn squares_are_transposed() {
        fn is_transposed<B: Bits + From<u8> + PartialEq, const N: usize>() -> bool {
            let rows = from_fn(|i| from_fn(|j| B::from(u8::try_from(N * i + j).expect("at most 16 x 16"))));
            let columns = transposed::<B, N>(rows);
            (0..N).all(|i| (0..N).all(|j| columns[j][i] == rows[i][j]))
        }
        assert!(is_transposed::<u8, 16>() && is_transposed::<u8, 4>());
        assert!(is_transposed::<u16, 8>() && is_transposed::<u16, 4>());
        assert!(is_transposed::<u32, 4>() && is_transposed::<u64, 2>() && is_transposed::<u128, 1>());
    }

    #[test]
    fn the_instruction_set_is_that_of_the_cpu() {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        assert_eq!(has_lanes(), std::is_x86_feature_detected!("avx2"));
        #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
        assert_eq!(has_lanes(), Baseline::LANES);
    }
}
