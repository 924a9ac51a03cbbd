//! Loops cut into parts for several threads.

use super::plan::{Loop, Stack};

/// Calls `run` with parts of the loops, of about `grain` steps or one, and where each starts.
///
/// Together the parts are the loops; which thread has which is not said.
pub(crate) fn split<const N: usize>(
    loops: &[Loop<N>],
    start: [isize; N],
    grain: usize,
    run: &(impl Fn(&[Loop<N>], [isize; N]) + Sync),
) {
    let steps = loops.iter().map(|l| l.len).product::<usize>();
    let longest = (0..loops.len()).rev().max_by_key(|&i| loops[i].len);
    let Some(i) = longest.filter(|&i| loops[i].len > 1 && steps > grain) else {
        return run(loops, start);
    };
    let half = loops[i].len / 2;
    let (mut low, mut high) = (Stack::from(loops), Stack::from(loops));
    low[i].len = half;
    high[i].len -= half;
    let mut middle = start;
    for (at, stride) in middle.iter_mut().zip(loops[i].strides) {
        *at += stride * half.cast_signed();
    }
    rayon::join(|| split(&low, start, grain, run), || split(&high, middle, grain, run));
}
