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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use std::sync::Mutex;

    /// The lengths of the parts and where they start, in order.
    fn parts(grain: usize, may: impl Fn(usize, &Loop<1>) -> bool + Sync) -> Vec<(isize, Vec<usize>)> {
        let loops = [
            Loop { len: 1, strides: [700] },
            Loop { len: 5, strides: [100] },
            Loop { len: 9, strides: [-1] },
        ];
        let found = Mutex::new(Vec::new());
        split_where(&may, &loops, [8], grain, &|loops: &[Loop<1>], [at]| {
            found.lock().expect("no panic").push((at, loops.iter().map(|l| l.len).collect()));
        });
        let mut found = found.into_inner().expect("no panic");
        found.sort();
        found
    }

    #[test]
    fn the_outermost_loop_is_halved_while_halves_are_large_enough() {
        let halves = |grain| parts(grain, |_, _| true);
        assert_eq!(halves(23), [(8, [1, 5, 9].to_vec())]);
        assert_eq!(halves(22), [(8, [1, 2, 9].to_vec()), (208, [1, 3, 9].to_vec())]);
        assert_eq!(halves(10).len(), 3);
        assert_eq!(halves(1).iter().map(|(_, lens)| lens.iter().product::<usize>()).sum::<usize>(), 45);
    }

    #[test]
    fn only_loops_that_may_be_are_cut() {
        assert_eq!(parts(1, |_, _| false).len(), 1);
        let inner = parts(20, |place, _| place == 2);
        assert_eq!(inner, [(4, [1, 5, 5].to_vec()), (8, [1, 5, 4].to_vec())]);
        assert_eq!(parts(20, |_, l| l.strides[0] > 0).len(), 2);
    }
}
