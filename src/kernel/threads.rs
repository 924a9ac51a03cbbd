//! The calling thread, or several threads with the feature `rayon`.

#![forbid(unsafe_code)]

/// The fewest elements of half a pass. Fewer take less time than waking a thread. Measured on Zen 4 with f32: 2^16 to 2^20 take
/// about as long. Miri, which takes a thousand times as long, halves fewer.
pub(super) const GRAIN: usize = if cfg!(miri) { 1 << 8 } else { 1 << 18 };

/// The results of both closures, which run on two threads if one is free.
pub(crate) fn in_two<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "rayon")]
    return rayon::join(first, second);
    #[cfg(not(feature = "rayon"))]
    (first(), second())
}

/// The number of threads.
pub(crate) fn count() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}
