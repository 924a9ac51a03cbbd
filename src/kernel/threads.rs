//! Executors of a pass: the calling thread, or several threads with the feature `rayon`.

use super::nest::{ErasedNest, Loop, Nest, Written, steps};

/// The fewest elements of half a pass. Fewer take less time than waking a thread. Measured on Zen 4 with f32: 2^16 to 2^20 take
/// about as long.
pub(super) const GRAIN: usize = 1 << 18;

/// Whether each half of the loops has at least `grain` indices.
pub(super) fn is_worth_halving(loops: &[Loop], grain: usize) -> bool {
    steps(loops) / 2 >= grain
}

/// Splits a nest into parts of at least `grain` indices and runs them on several threads.
pub(super) fn in_parts<'s, P: Copy + Send>(
    nest: Nest<'_, P>,
    grain: usize,
    run: &(impl Fn(Nest<'_, P>) -> Written<'s> + Sync),
) -> Written<'s> {
    let loops = nest.loops();
    if loops.is_empty() || !is_worth_halving(loops, grain) {
        return run(nest);
    }
    let mut scratch = ErasedNest::on_heap();
    let [first, second] = nest.halves(0, &mut scratch);
    let (mut written, more) = in_two(|| in_parts(first, grain, run), || in_parts(second, grain, run));
    written.add(more);
    written
}

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
