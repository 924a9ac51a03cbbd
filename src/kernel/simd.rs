//! Loops compiled for the CPU, whose features are detected at run time, and squares transposed in registers.
//!
//! # Invariant
//! - A function that needs instructions beyond the target's baseline is called only on a CPU that has them.
//! - [`plain_size`] accepts only types whose bytes are all initialised and may be copied: numbers and `bool`.

use super::reduce::Compiled;
use core::any::TypeId;
use core::marker::PhantomData;
use core::mem::transmute;

/// A loop that is compiled for the CPU.
pub(crate) trait Work {
    type Output;

    /// Must be `inline(always)`, so that it is compiled for the CPU.
    fn run(self) -> Self::Output;
}

/// Whether AVX2 is detected at run time.
const IS_DETECTED: bool = cfg!(all(feature = "std", target_arch = "x86_64"));

/// Whether the CPU has AVX2. With `--cfg ndarray_broadcast_baseline` no CPU has it: the program runs what older CPUs run.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    #[cfg(feature = "std")]
    return cfg!(not(ndarray_broadcast_baseline)) && std::is_x86_feature_detected!("avx2");
    #[cfg(not(feature = "std"))]
    false
}

/// Runs the work, compiled for this CPU.
#[inline]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    dispatch_or(work, W::run)
}

/// Runs the work on a CPU with AVX2, and `other` on CPUs without it. Where AVX2 is not detected at run time, runs the work.
///
/// So a program in which AVX2 is detected has the work once, compiled for AVX2, and `other` can be small.
#[inline]
pub(crate) fn dispatch_or<W: Work>(work: W, other: impl FnOnce(W) -> W::Output) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: The CPU has AVX2, checked just above.
        return unsafe { avx2(work) };
    }
    if const { IS_DETECTED } { out_of_line(work, other) } else { out_of_line(work, W::run) }
}

/// Not inlined: its stack frame would be added to that of the loop for AVX2.
#[inline(never)]
fn out_of_line<W: Work>(work: W, other: impl FnOnce(W) -> W::Output) -> W::Output {
    other(work)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

/// The size of a plain number, if `A` is one.
#[inline]
pub(crate) fn plain_size<A>() -> Option<usize> {
    macro_rules! types {
        ($($plain:ty)*) => { false $(|| is::<A, $plain>())* };
    }
    let is_plain = types!(f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize bool);
    is_plain.then_some(size_of::<A>())
}

/// Whether `A` is `B`. `A` may have lifetimes: types that differ in these alone are one type.
///
/// LLVM finds the result before it inlines and optimises functions, and drops those that are not needed then.
#[inline(always)]
fn is<A, B: 'static>() -> bool {
    trait Identity<B> {
        fn is(&self) -> bool
        where
            Self: 'static;
    }
    impl<A, B: 'static> Identity<B> for PhantomData<A> {
        #[inline]
        fn is(&self) -> bool
        where
            Self: 'static,
        {
            TypeId::of::<A>() == TypeId::of::<B>()
        }
    }
    let identity: &dyn Identity<B> = &PhantomData::<A>;
    // SAFETY: The two types differ in the lifetime bound of the trait object only, and `is` uses no lifetime.
    unsafe { transmute::<&dyn Identity<B>, &(dyn Identity<B> + 'static)>(identity) }.is()
}

/// What is compiled for elements `B`, if `A` is `B`.
#[inline(always)]
pub(crate) fn compiled_for<'a, A, B: 'static>(
    compiled: &'static Compiled<'static, B>,
) -> Option<&'a Compiled<'a, A>> {
    if is::<A, B>() {
        // SAFETY: Both are one type, which has no lifetimes.
        return Some(unsafe { &*core::ptr::from_ref(compiled).cast() });
    }
    None
}

/// Copies the transpose of a matrix. Row `i` of the output has `len` contiguous elements and is column `i` of the input. The rows
/// of the input are contiguous and `along` bytes apart; those of the output are `down` bytes apart.
///
/// # Safety
/// The input has these elements, which are plain numbers of the size of `N`, and the output has memory for them.
pub(crate) unsafe fn transpose<N: Copy>(
    from: *const u8,
    along: isize,
    to: *mut u8,
    down: usize,
    [rows, len]: [usize; 2],
) {
    let (size, side) = (size_of::<N>(), side::<N>());
    let square: unsafe fn(*const u8, isize, *mut u8, usize) = match size {
        #[cfg(target_arch = "x86_64")]
        4 if has_avx2() => square_by_avx2,
        _ => square::<N>,
    };
    let (full_rows, full_len) = (rows / side * side, len / side * side);
    // SAFETY: The caller promises the elements and the memory, and every square is within them. `square` needs AVX2 only where
    // the CPU has it.
    unsafe {
        for j in (0..full_len).step_by(side) {
            for i in (0..full_rows).step_by(side) {
                let from = from.add(i * size).wrapping_offset(along * j.cast_signed());
                square(from, along, to.add(i * down + j * size), down);
            }
        }
        for i in 0..rows {
            for j in if i < full_rows { full_len } else { 0 }..len {
                let element =
                    from.add(i * size).wrapping_offset(along * j.cast_signed()).cast::<N>().read_unaligned();
                to.add(i * down + j * size).cast::<N>().write_unaligned(element);
            }
        }
    }
}

/// The rows and columns of a square.
const fn side<N>() -> usize {
    if size_of::<N>() > 4 { 32 / size_of::<N>() } else { 8 }
}

/// # Safety
/// As for [`transpose`], with [`side`] rows and columns.
unsafe fn square<N: Copy>(from: *const u8, along: isize, to: *mut u8, down: usize) {
    for i in 0..side::<N>() {
        for j in 0..side::<N>() {
            // SAFETY: The caller promises the elements and the memory.
            unsafe {
                let element =
                    from.wrapping_offset(along * j.cast_signed()).cast::<N>().add(i).read_unaligned();
                to.add(i * down).cast::<N>().add(j).write_unaligned(element);
            }
        }
    }
}

/// [`square`] of 8 rows and columns of 4 bytes. Measured on 2026-11-27 on a Xeon: half the time of the loops for 64², and for 2048².
/// For 8 bytes, loops take 1.06 of such a function's time.
///
/// # Safety
/// As for [`square`]; and the CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn square_by_avx2(from: *const u8, along: isize, to: *mut u8, down: usize) {
    use core::arch::x86_64 as x86;

    // SAFETY: The caller promises the elements and the memory.
    unsafe {
        // each half of a vector is half of a column: four rows of columns j and j + 4
        let half = |j: isize, i: usize| {
            from.wrapping_offset(along * j).add(4 * i).cast::<x86::__m128i>().read_unaligned()
        };
        let columns = |j: isize, i: usize| x86::_mm256_set_m128i(half(j + 4, i), half(j, i));
        for upper in 0..2 {
            let i = 4 * upper;
            let [a, b, c, d] = [columns(0, i), columns(1, i), columns(2, i), columns(3, i)];
            let [ac, ac_high] = [x86::_mm256_unpacklo_epi32(a, c), x86::_mm256_unpackhi_epi32(a, c)];
            let [bd, bd_high] = [x86::_mm256_unpacklo_epi32(b, d), x86::_mm256_unpackhi_epi32(b, d)];
            let rows = [
                x86::_mm256_unpacklo_epi32(ac, bd),
                x86::_mm256_unpackhi_epi32(ac, bd),
                x86::_mm256_unpacklo_epi32(ac_high, bd_high),
                x86::_mm256_unpackhi_epi32(ac_high, bd_high),
            ];
            for (row, vector) in rows.into_iter().enumerate() {
                to.add((i + row) * down).cast::<x86::__m256i>().write_unaligned(vector);
            }
        }
    }
}
