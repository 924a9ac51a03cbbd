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

/// The rows and columns of a tile that is transposed in registers.
pub(crate) const TILE: usize = 4;

/// The bits of a plain number of some size.
pub(crate) trait Bits: Copy {
    /// The columns of a tile of rows.
    #[inline(always)]
    fn transposed(rows: [[Self; TILE]; TILE]) -> [[Self; TILE]; TILE] {
        from_fn(|j| from_fn(|i| rows[i][j]))
    }
}

impl Bits for u8 {}
impl Bits for u16 {}
impl Bits for u128 {}

// LLVM copies the numbers of the arrays above one by one, which takes two to three times as long.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2 {
    use super::{Bits, TILE};
    use core::arch::x86_64::{
        __m128i, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
    };
    use core::mem::transmute;

    /// The rows of a tile of numbers of four bytes, and of eight.
    type Tile4 = [__m128i; TILE];
    type Tile8 = [[__m128i; 2]; TILE];

    impl Bits for u32 {
        #[inline(always)]
        fn transposed(rows: [[Self; TILE]; TILE]) -> [[Self; TILE]; TILE] {
            // SAFETY: Vectors and numbers may have any bits. The target has SSE2.
            unsafe {
                let columns = by_pairs(transmute::<[[Self; TILE]; TILE], Tile4>(rows));
                transmute::<Tile4, [[Self; TILE]; TILE]>(columns)
            }
        }
    }

    impl Bits for u64 {
        #[inline(always)]
        fn transposed(rows: [[Self; TILE]; TILE]) -> [[Self; TILE]; TILE] {
            // SAFETY: Vectors and numbers may have any bits. The target has SSE2.
            unsafe {
                let columns = by_ones(transmute::<[[Self; TILE]; TILE], Tile8>(rows));
                transmute::<Tile8, [[Self; TILE]; TILE]>(columns)
            }
        }
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    fn by_pairs([a, b, c, d]: Tile4) -> Tile4 {
        let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
        let (ab2, cd2) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab, cd),
            _mm_unpackhi_epi64(ab, cd),
            _mm_unpacklo_epi64(ab2, cd2),
            _mm_unpackhi_epi64(ab2, cd2),
        ]
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    fn by_ones([a, b, c, d]: Tile8) -> Tile8 {
        [
            [_mm_unpacklo_epi64(a[0], b[0]), _mm_unpacklo_epi64(c[0], d[0])],
            [_mm_unpackhi_epi64(a[0], b[0]), _mm_unpackhi_epi64(c[0], d[0])],
            [_mm_unpacklo_epi64(a[1], b[1]), _mm_unpacklo_epi64(c[1], d[1])],
            [_mm_unpackhi_epi64(a[1], b[1]), _mm_unpackhi_epi64(c[1], d[1])],
        ]
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
mod portable {
    impl super::Bits for u32 {}
    impl super::Bits for u64 {}
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
    fn tiles_are_transposed() {
        fn transposed<B: Bits + From<u8> + PartialEq>() -> bool {
            let tile: [[B; TILE]; TILE] =
                from_fn(|i| from_fn(|j| B::from(u8::try_from(4 * i + j).expect("small"))));
            let columns = B::transposed(tile);
            (0..TILE).all(|i| (0..TILE).all(|j| columns[j][i] == tile[i][j]))
        }
        assert!(transposed::<u8>() && transposed::<u16>() && transposed::<u32>());
        assert!(transposed::<u64>() && transposed::<u128>());
    }

    #[test]
    fn the_instruction_set_is_that_of_the_cpu() {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        assert_eq!(has_lanes(), std::is_x86_feature_detected!("avx2"));
        #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
        assert_eq!(has_lanes(), Baseline::LANES);
    }
}
