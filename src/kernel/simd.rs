//! Loops compiled for the CPU, whose features are detected at run time.
//!
//! # Invariant
//! - A function that needs instructions beyond the target's baseline is called only on a CPU that has them.
//! - [`is_plain`] accepts only types whose bytes are all initialised and may be copied: numbers and `bool`.

use core::any::TypeId;

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
pub(crate) fn has_avx2() -> bool {
    #[cfg(feature = "std")]
    return cfg!(not(ndarray_broadcast_baseline)) && std::is_x86_feature_detected!("avx2");
    #[cfg(not(feature = "std"))]
    false
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

/// Whether `A` is a plain number.
#[inline]
pub(crate) fn is_plain<A>() -> bool {
    macro_rules! types {
        ($($plain:ty)*) => { false $(|| is_type::<A, $plain>())* };
    }
    types!(f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize bool)
}

/// Whether `A` is `B`. `A` may have lifetimes: types that differ in these alone are one type.
///
/// LLVM finds the result before it inlines and optimises functions, and drops those that are not needed then.
#[inline(always)]
pub(crate) fn is_type<A, B: 'static>() -> bool {
    typeid::of::<A>() == TypeId::of::<B>()
}
