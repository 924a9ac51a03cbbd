//! Loops compiled for each set of CPU features, which is detected at run time, and vectors where the compiler finds none.
//!
//! # Invariant
//! - A function that needs instructions beyond the target's baseline is called only on a CPU that has them.
//! - Vectors hold the bits of plain numbers only: see [`plain_size`].

use core::any::TypeId;
use core::marker::PhantomData;
use core::mem::transmute;
use core::sync::atomic::{Ordering, compiler_fence};

/// A task whose `run` and all functions that it calls are `#[inline(always)]`: only then are they compiled for each set of
/// CPU features.
pub(crate) trait Work {
    type Output;

    fn run<C: Cpu>(self) -> Self::Output;
}

/// A kind of CPU. As a type parameter, it gives each kind its own instance of a function, with one caller that inlines it.
///
/// Not exported; public because hidden parts of public traits name it.
pub trait Cpu {
    /// Whether loops are unrolled for vectors. The baseline leaves this to another kind, if there is one.
    const WIDE: bool;
    /// Whether loops are compiled that keep the partial results of a lane in registers.
    const LANES: bool = Self::WIDE && OPTIMISED;
    /// Whether the CPU has AVX2.
    const AVX2: bool = false;
}

/// Any CPU of the target.
pub(crate) struct Baseline;

impl Cpu for Baseline {
    const WIDE: bool = !cfg!(all(feature = "std", target_arch = "x86_64"));
}

#[cfg(test)]
impl Cpu for () {
    const WIDE: bool = true;
}

/// A CPU with AVX2.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
struct Avx2;

#[cfg(all(feature = "std", target_arch = "x86_64"))]
impl Cpu for Avx2 {
    const WIDE: bool = true;
    const AVX2: bool = true;
}

/// Whether loops are compiled that are faster with optimisation only. Unit tests and fuzzing compile them too.
pub(crate) const OPTIMISED: bool = cfg!(any(test, fuzzing, not(debug_assertions)));

/// Whether [`dispatch`] chooses a CPU that has the loops for [`LANES`](Cpu::LANES).
#[inline]
pub(crate) fn has_lanes() -> bool {
    Baseline::LANES || OPTIMISED && has_avx2()
}

/// Whether the CPU has AVX2, and loops are compiled for it.
#[inline]
fn has_avx2() -> bool {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
    false
}

/// Keeps the writes after it apart from the reads before it. Without it, LLVM stores the result of a comparison with an
/// element through a mask where the element was read from the same place, which takes some processors 7 times as long.
///
/// A loop in which it stands is not vectorised, which serves loops over few elements.
#[inline(always)]
pub(crate) fn end_of_reads() {
    compiler_fence(Ordering::SeqCst);
}

/// The columns of a square of rows.
#[inline(always)]
pub(crate) fn transposed<C: Cpu, B: Copy, const N: usize>(rows: [[B; N]; N]) -> [[B; N]; N] {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if const { C::AVX2 && size_of::<B>() == 4 && N == 8 } && plain_size::<B>().is_some() {
        // SAFETY: `C` says that the CPU has AVX2. There are eight rows of as many plain numbers of that size.
        return unsafe { transposed_by_avx2(rows) };
    }
    // Each round moves the highest bit of a row's index to the lowest bit of the column's, until all have changed places.
    // Not a loop, which LLVM does not unroll for 16 rows.
    let two_rounds = |rows| one_round(one_round(rows));
    match const { N } {
        4 => two_rounds(rows),
        8 => one_round(two_rounds(rows)),
        16 => two_rounds(two_rounds(rows)),
        _ => unreachable!("a square that vectors transpose"),
    }
}

/// [`transposed`] for eight rows of plain numbers of 4 bytes.
///
/// # Safety
/// The CPU has AVX2, `N` is 8, and `B` is a plain number of 4 bytes.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[inline(always)]
unsafe fn transposed_by_avx2<B: Copy, const N: usize>(rows: [[B; N]; N]) -> [[B; N]; N] {
    use core::arch::x86_64 as x86;
    use core::mem::transmute_copy;

    // SAFETY: The caller promises the CPU and the numbers, which may have the bits of vectors.
    unsafe {
        let halves: [[x86::__m128i; 2]; 8] = transmute_copy(&rows);
        let mut columns = [[x86::_mm256_setzero_si256(); 4]; 2];
        let mut half = 0;
        while half < 2 {
            // both halves of a vector are transposed alike: the upper one has rows from the fourth on
            let [a, b, c, d] = [
                x86::_mm256_set_m128i(halves[4][half], halves[0][half]),
                x86::_mm256_set_m128i(halves[5][half], halves[1][half]),
                x86::_mm256_set_m128i(halves[6][half], halves[2][half]),
                x86::_mm256_set_m128i(halves[7][half], halves[3][half]),
            ];
            let [low_ac, high_ac] = [x86::_mm256_unpacklo_epi32(a, c), x86::_mm256_unpackhi_epi32(a, c)];
            let [low_bd, high_bd] = [x86::_mm256_unpacklo_epi32(b, d), x86::_mm256_unpackhi_epi32(b, d)];
            columns[half] = [
                x86::_mm256_unpacklo_epi32(low_ac, low_bd),
                x86::_mm256_unpackhi_epi32(low_ac, low_bd),
                x86::_mm256_unpacklo_epi32(high_ac, high_bd),
                x86::_mm256_unpackhi_epi32(high_ac, high_bd),
            ];
            half += 1;
        }
        transmute_copy(&columns)
    }
}

/// The first half of the rows, each interleaved with one of the second half.
#[inline(always)]
fn one_round<B: Copy, const N: usize>(mut rows: [[B; N]; N]) -> [[B; N]; N] {
    let (before, mut i) = (rows, 0);
    while i < N / 2 {
        [rows[2 * i], rows[2 * i + 1]] = interleaved(&before[i], &before[i + N / 2]);
        i += 1;
    }
    rows
}

/// The elements of both rows in turn: `a[0]`, `b[0]`, `a[1]`, `b[1]` and so on.
#[inline(always)]
pub(crate) fn interleaved<B: Clone, const N: usize>(a: &[B; N], b: &[B; N]) -> [[B; N]; 2] {
    // LLVM moves numbers one by one, which takes two to four times as long.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use core::arch::x86_64 as x86;
        use core::mem::transmute_copy;

        // SAFETY: The rows are as large as one or two vectors, and plain numbers may have the bits of these. The target has
        // SSE2.
        unsafe {
            if const { size_of::<B>() == 8 && N == 4 } && plain_size::<B>().is_some() {
                let [[a, c], [b, d]]: [[x86::__m128i; 2]; 2] = [transmute_copy(a), transmute_copy(b)];
                let first = [x86::_mm_unpacklo_epi64(a, b), x86::_mm_unpackhi_epi64(a, b)];
                let second = [x86::_mm_unpacklo_epi64(c, d), x86::_mm_unpackhi_epi64(c, d)];
                return transmute_copy(&[first, second]);
            }
            if const { size_of::<[B; N]>() == 16 && N > 2 } && plain_size::<B>().is_some() {
                let [a, b]: [x86::__m128i; 2] = [transmute_copy(a), transmute_copy(b)];
                return transmute_copy(&match const { N } {
                    16 => [x86::_mm_unpacklo_epi8(a, b), x86::_mm_unpackhi_epi8(a, b)],
                    8 => [x86::_mm_unpacklo_epi16(a, b), x86::_mm_unpackhi_epi16(a, b)],
                    _ => [x86::_mm_unpacklo_epi32(a, b), x86::_mm_unpackhi_epi32(a, b)],
                });
            }
        }
    }
    let (mut both, mut i) = ([a.clone(), a.clone()], 0);
    while i < 2 * N {
        both[i / N][i % N] = [a, b][i % 2][i / 2].clone();
        i += 1;
    }
    both
}

/// Keeps the values in vectors of which the compiler knows nothing: it does not order them for what follows. Returns whether
/// they are numbers that fill one or two vectors. Others are as before.
// No loops, which take the compiler time for each closure.
#[inline(always)]
pub(crate) fn opaque<C: Cpu, T, const N: usize>(values: &mut [T; N]) -> bool {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if const { C::AVX2 && matches!(size_of::<[T; N]>(), 32 | 64) } && is_number::<T>() {
        let at = values.as_mut_ptr().cast::<core::arch::x86_64::__m256i>();
        // SAFETY: The values fill these vectors, whose bits stay as they are. `C` says that the CPU has AVX2.
        unsafe {
            opaque_by_avx(at);
            if const { size_of::<[T; N]>() == 64 } {
                opaque_by_avx(at.add(1));
            }
        }
        return true;
    }
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if const { matches!(size_of::<[T; N]>(), 16 | 32) } && is_number::<T>() {
        let at = values.as_mut_ptr().cast::<core::arch::x86_64::__m128i>();
        // SAFETY: The values fill these vectors, whose bits stay as they are. The target has SSE2.
        unsafe {
            opaque_by_sse(at);
            if const { size_of::<[T; N]>() == 32 } {
                opaque_by_sse(at.add(1));
            }
        }
        return true;
    }
    false
}

/// Replaces a vector by itself.
///
/// # Safety
/// The vector is initialised.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
unsafe fn opaque_by_sse(at: *mut core::arch::x86_64::__m128i) {
    // SAFETY: The caller promises the vector. There is no instruction, but the compiler does not know it.
    unsafe {
        let mut vector = at.read_unaligned();
        core::arch::asm!("/* {} */", inout(xmm_reg) vector, options(pure, nomem, nostack, preserves_flags));
        at.write_unaligned(vector);
    }
}

/// [`opaque_by_sse`] for vectors of 32 bytes.
///
/// # Safety
/// The vector is initialised, and the CPU has AVX.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx")]
#[inline]
unsafe fn opaque_by_avx(at: *mut core::arch::x86_64::__m256i) {
    // SAFETY: The caller promises the vector. There is no instruction, but the compiler does not know it.
    unsafe {
        let mut vector = at.read_unaligned();
        core::arch::asm!("/* {} */", inout(ymm_reg) vector, options(pure, nomem, nostack, preserves_flags));
        at.write_unaligned(vector);
    }
}

/// Copies bytes past the cache, to memory: see [`end_of_streams`].
///
/// # Safety
/// The bytes in `from` are valid, and there is room for them in `to`.
#[allow(
    clippy::cast_ptr_alignment,
    reason = "the output is aligned where vectors begin, and the input is read unaligned"
)]
#[inline]
pub(crate) unsafe fn stream(from: *const u8, to: *mut u8, len: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use core::arch::x86_64 as x86;

        const VECTOR: usize = size_of::<x86::__m128i>();
        let head = to.align_offset(VECTOR).min(len);
        let mut done = head;
        // SAFETY: The caller promises the bytes and the room, and all parts are in them. After the head, vectors are aligned.
        // The target has SSE2.
        unsafe {
            if head > 0 {
                to.copy_from_nonoverlapping(from, head);
            }
            let vector = |at: usize| {
                let (from, to) = (from.add(at).cast::<x86::__m128i>(), to.add(at).cast::<x86::__m128i>());
                x86::_mm_stream_si128(to, from.read_unaligned());
            };
            while len - done >= 4 * VECTOR {
                vector(done);
                vector(done + VECTOR);
                vector(done + 2 * VECTOR);
                vector(done + 3 * VECTOR);
                done += 4 * VECTOR;
            }
            while len - done >= VECTOR {
                vector(done);
                done += VECTOR;
            }
            if done < len {
                to.add(done).copy_from_nonoverlapping(from.add(done), len - done);
            }
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    // SAFETY: The caller promises the bytes and the room.
    unsafe {
        to.copy_from_nonoverlapping(from, len);
    }
}

/// Asks for a line of the cache, wherever it is.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: The target has SSE2, of which SSE is a part. Any address may be asked for.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let _ = at;
}

/// Makes what [`stream`] wrote visible, before any later write.
#[inline]
pub(crate) fn end_of_streams() {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: The target has SSE2, of which SSE is a part.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Runs `work`, compiled for the best instruction set of the CPU. The results do not depend on the instruction set.
#[inline]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if has_avx2() {
        // SAFETY: The CPU has AVX2, checked just above.
        return unsafe { avx2(work) };
    }
    baseline(work)
}

/// [`dispatch`] where [`has_lanes`] is true. What `work` does is compiled for no other CPU: there, it comes back.
#[inline]
pub(crate) fn dispatch_lanes<W: Work>(work: W) -> Result<W::Output, W> {
    if const { Baseline::LANES } {
        return Ok(baseline(work));
    }
    if const { OPTIMISED } { with_avx2(work) } else { Err(work) }
}

/// Runs `work`, compiled for AVX2, if the CPU has it. Else it comes back: it is compiled for no other CPU.
#[inline]
pub(crate) fn with_avx2<W: Work>(work: W) -> Result<W::Output, W> {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if has_avx2() {
        // SAFETY: The CPU has AVX2, checked just above.
        return Ok(unsafe { avx2(work) });
    }
    Err(work)
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

/// The size of `A` if it is a plain number, whose bits may be copied.
#[inline]
pub(crate) fn plain_size<A>() -> Option<usize> {
    macro_rules! types {
        ($($plain:ty)*) => { [$(TypeId::of::<$plain>()),*] };
    }
    let plain = types!(f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize bool);
    plain.contains(&type_id::<A>()).then_some(size_of::<A>())
}

/// Whether `A` is `f32` or `f64`: takes the compiler less time than [`plain_size`], for each loop of each closure.
#[inline]
pub(crate) fn is_float<A>() -> bool {
    let id = type_id::<A>();
    id == TypeId::of::<f32>() || id == TypeId::of::<f64>()
}

/// Whether `A` is a number of up to 8 bytes: takes the compiler less time than [`plain_size`] too.
#[inline]
fn is_number<A>() -> bool {
    let id = type_id::<A>();
    match const { size_of::<A>() } {
        1 => id == TypeId::of::<u8>() || id == TypeId::of::<i8>(),
        2 => id == TypeId::of::<u16>() || id == TypeId::of::<i16>(),
        4 => id == TypeId::of::<f32>() || id == TypeId::of::<i32>() || id == TypeId::of::<u32>(),
        8 => id == TypeId::of::<f64>() || id == TypeId::of::<i64>() || id == TypeId::of::<u64>(),
        _ => false,
    }
}

/// The identity of a type, ignoring its lifetimes.
#[inline]
fn type_id<A>() -> TypeId {
    trait Identity {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<A> Identity for PhantomData<A> {
        #[inline]
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<A>()
        }
    }
    let identity: &dyn Identity = &PhantomData::<A>;
    // SAFETY: The two types differ in the lifetime bound of the trait object only, and `id` uses no lifetime.
    unsafe { transmute::<&dyn Identity, &(dyn Identity + 'static)>(identity) }.id()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::array::from_fn;
    use core::cell::Cell;
    use core::mem::MaybeUninit;

    #[test]
    fn squares_are_transposed() {
        fn is_transposed<B: Copy + From<u8> + PartialEq, const N: usize>() -> bool {
            let rows = from_fn(|i| from_fn(|j| B::from(u8::try_from(N * i + j).expect("at most 16 x 16"))));
            let columns = transposed::<Baseline, B, N>(rows);
            (0..N).all(|i| (0..N).all(|j| columns[j][i] == rows[i][j]))
        }
        assert!(is_transposed::<u8, 16>() && is_transposed::<u8, 4>());
        assert!(is_transposed::<u16, 8>() && is_transposed::<u16, 4>());
        assert!(is_transposed::<u32, 4>() && is_transposed::<u64, 4>() && is_transposed::<u128, 4>());
    }

    #[test]
    fn wide_squares_are_transposed() {
        struct Transpose([[f32; 8]; 8]);
        impl Work for Transpose {
            type Output = [[f32; 8]; 8];

            #[inline(always)]
            fn run<C: Cpu>(self) -> Self::Output {
                transposed::<C, f32, 8>(self.0)
            }
        }
        let number = |i: usize, j: usize| f32::from(u8::try_from(8 * i + j).expect("small"));
        let rows = from_fn(|i| from_fn(|j| number(i, j)));
        let columns: [[f32; 8]; 8] = from_fn(|i| from_fn(|j| number(j, i)));
        match with_avx2(Transpose(rows)) {
            Ok(transposed) => assert_eq!(transposed, columns),
            Err(_) => assert!(!has_avx2()),
        }
    }

    #[test]
    fn the_instruction_set_is_that_of_the_cpu() {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        assert_eq!(has_lanes(), std::is_x86_feature_detected!("avx2"));
        #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
        assert_eq!(has_lanes(), Baseline::LANES);
    }

    #[test]
    fn plain_numbers() {
        assert_eq!([plain_size::<bool>(), plain_size::<i8>(), plain_size::<u8>()], [Some(1); 3]);
        assert_eq!([plain_size::<i16>(), plain_size::<u16>()], [Some(2); 2]);
        assert_eq!([plain_size::<f32>(), plain_size::<i32>(), plain_size::<u32>()], [Some(4); 3]);
        assert_eq!([plain_size::<f64>(), plain_size::<i64>(), plain_size::<u64>()], [Some(8); 3]);
        assert_eq!([plain_size::<i128>(), plain_size::<u128>()], [Some(16); 2]);
        assert_eq!([plain_size::<isize>(), plain_size::<usize>()], [Some(size_of::<usize>()); 2]);
    }

    #[test]
    fn types_with_the_layout_of_numbers_are_not_plain() {
        #[repr(transparent)]
        struct Own(#[allow(dead_code, reason = "for its layout")] f32);
        #[repr(transparent)]
        struct Borrowing<'a>(#[allow(dead_code, reason = "for its layout")] f32, PhantomData<&'a ()>);
        fn with_lifetime<'a>(_: &'a str) -> [Option<usize>; 3] {
            [plain_size::<Borrowing<'a>>(), plain_size::<&'a f32>(), plain_size::<Cell<&'a u8>>()]
        }
        assert_eq!([plain_size::<Own>(), plain_size::<Cell<f32>>(), plain_size::<[f32; 1]>()], [None; 3]);
        assert_eq!([plain_size::<MaybeUninit<f32>>(), plain_size::<char>(), plain_size::<()>()], [None; 3]);
        assert_eq!(with_lifetime(&alloc::string::String::from("not static")), [None; 3]);
    }

    #[test]
    fn opaque_values_are_the_same() {
        struct Hide([u32; 8], [u64; 8]);
        impl Work for Hide {
            type Output = bool;

            #[inline(always)]
            fn run<C: Cpu>(self) -> bool {
                let (mut fours, mut eights) = (self.0, self.1);
                let are_hidden = opaque::<C, _, 8>(&mut fours) && opaque::<C, _, 8>(&mut eights);
                are_hidden && fours == self.0 && eights == self.1
            }
        }
        fn are_the_same<T: Copy + From<u8> + PartialEq, const N: usize>() -> bool {
            let values = from_fn(|i| T::from(u8::try_from(i).expect("few")));
            let mut after = values;
            opaque::<Baseline, T, N>(&mut after);
            values == after
        }
        assert!(are_the_same::<u8, 32>() && are_the_same::<u16, 8>() && are_the_same::<f32, 8>());
        assert!(are_the_same::<f64, 8>() && are_the_same::<i128, 8>() && are_the_same::<f32, 3>());
        assert_ne!(with_avx2(Hide([3; 8], [1, 2, 3, 4, 5, 6, 7, 8])).ok(), Some(false));
        let mut owned = [1, 2, 3, 4].map(alloc::boxed::Box::new);
        assert!(!opaque::<Baseline, _, 4>(&mut owned), "no numbers");
    }
}
