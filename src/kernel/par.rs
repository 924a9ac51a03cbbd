//! Loops cut into parts for several threads.

use super::plan::{Loop, Stack};

/// Calls `run` with parts of the loops, and where each starts. A part has at least `grain` steps, or is all there is.
///
/// Together the parts are the loops; which thread has which is not said.
pub(crate) fn split<const N: usize>(
    loops: &[Loop<N>],
    start: [isize; N],
    grain: usize,
    run: &(impl Fn(&[Loop<N>], [isize; N]) + Sync),
) {
    split_where(&|_, _| true, loops, start, grain, run);
}

/// [`split`] that cuts a loop only where `may` says so of its place and of the loop.
pub(crate) fn split_where<const N: usize>(
    may: &(impl Fn(usize, &Loop<N>) -> bool + Sync),
    loops: &[Loop<N>],
    start: [isize; N],
    grain: usize,
    run: &(impl Fn(&[Loop<N>], [isize; N]) + Sync),
) {
    let steps = loops.iter().map(|l| l.len).product::<usize>();
    let outermost = loops.iter().enumerate().position(|(i, l)| l.len > 1 && may(i, l));
    let Some(i) = outermost.filter(|_| steps / 2 >= grain) else {
        return run(loops, start);
    };
    let half = loops[i].len / 2;
    let (mut low, mut high) = (Stack::from(loops), Stack::from(loops));
    low[i].len = half;
    high[i].len -= half;
    let middle = core::array::from_fn(|k| start[k] + loops[i].strides[k] * half.cast_signed());
    rayon::join(|| split_where(may, &low, start, grain, run), || split_where(may, &high, middle, grain, run));
}
