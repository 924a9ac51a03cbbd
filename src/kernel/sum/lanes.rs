//! Nests whose only reduced loop is one of the two innermost ones, and nests that reduce nothing.

use super::{Element, Store, Sum, lane};
use crate::kernel::plan::{Loop, Walk};
use crate::kernel::raw::{Every, Step};

/// Lanes that are longer are cut into rows, as tiles are.
const LONGEST: usize = 1 << 16;

pub(super) struct Lanes<'a> {
    /// All kept loops.
    all: &'a [Loop<2>],
    /// Those but the innermost.
    outer: &'a [Loop<2>],
    kept: Loop<2>,
    reduced: Loop<2>,
    /// The kept loop is the inner one, and runs through adjacent elements.
    rows: bool,
}

impl<'a> Lanes<'a> {
    #[inline(always)]
    pub(super) fn of(loops: &'a [Loop<2>]) -> Option<Self> {
        const NONE: Loop<2> = Loop { len: 1, strides: [1, 0] };
        let (outer, kept, reduced, rows) = match *loops {
            [ref outer @ .., r, k]
                if r.strides[1] == 0 && matches!(r.len, 2 | 4 | 8) && k.strides == [1, 1] =>
            {
                (outer, k, r, true)
            }
            [ref outer @ .., k, r] if r.strides[1] == 0 => (outer, k, r, false),
            [ref outer @ .., k] if k.strides[1] != 0 => (outer, k, NONE, k.strides == [1, 1]),
            [r] => (&[][..], Loop::ONE, r, false),
            _ => (&[][..], Loop::ONE, NONE, false),
        };
        if reduced.len > LONGEST
            || kept.len > 1 && kept.strides[1] == 0
            || outer.iter().any(|l| l.strides[1] == 0)
        {
            return None;
        }
        let all = &loops[..loops.len() - usize::from(reduced.len > 1)];
        Some(Self { all, outer, kept, reduced, rows })
    }

    #[inline(always)]
    pub(super) fn run<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>) {
        let stride = self.reduced.strides[0];
        match (self.rows, self.reduced.len) {
            (true, 1) => self.rows::<T, S, 1>(sum, stride, Every::<1>),
            (true, 2) => self.rows::<T, S, 2>(sum, stride, Every::<1>),
            (true, 4) => self.rows::<T, S, 4>(sum, stride, Every::<1>),
            (true, _) => self.rows::<T, S, 8>(sum, stride, Every::<1>),
            (_, 1) => self.singles(sum),
            _ => match (stride, self.adjacent(), self.reduced.len) {
                (1, true, 2) => self.rows::<T, S, 2>(sum, 1, Every::<2>),
                (1, true, 3) => self.rows::<T, S, 3>(sum, 1, Every::<3>),
                (1, true, 4) => self.rows::<T, S, 4>(sum, 1, Every::<4>),
                (1, true, 8) => self.rows::<T, S, 8>(sum, 1, Every::<8>),
                (1, ..) => self.any(sum, Every::<1>),
                (2, ..) => self.any(sum, Every::<2>),
                (step, ..) => self.any(sum, step),
            },
        }
    }

    /// Whether the lanes follow each other without gaps, and their sums too.
    #[inline(always)]
    fn adjacent(&self) -> bool {
        self.kept.strides == [self.reduced.len as isize, 1]
    }

    /// `N` rows at once, `stride` apart, of elements that are `step` apart: those of the two innermost loops, given as
    /// constants where they are.
    #[inline(always)]
    fn rows<T: Element, S: Store<T>, const N: usize>(
        &self,
        sum: &Sum<'_, T, S>,
        stride: isize,
        step: impl Step,
    ) {
        debug_assert!(
            self.kept.strides == [step.offset(1), 1] && self.reduced == Loop { len: N, strides: [stride, 0] }
        );
        let n = self.kept.len;
        for [from, to] in Walk::new(self.outer, [0, 0]) {
            // SAFETY: a step of the outer loops and whole turns of the reduced and of the kept one.
            let x = unsafe { sum.input.moved(from).block(N, stride, n, step) };
            // SAFETY: a step of the outer loops and a whole turn of the kept one, of step 1.
            let slots = unsafe { sum.out.moved(to).slice(n) };
            lane::across::<T, _, _, N>(x, 0, slots, |slot, total| sum.store.store(slot, total));
        }
    }

    /// Nothing to add up.
    #[inline(always)]
    fn singles<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>) {
        for [from, to] in Walk::new(self.all, [0, 0]) {
            // SAFETY: a step of the loops.
            let x = unsafe { sum.input.moved(from).get() };
            // SAFETY: a step of the loops, so an element that no other step reaches.
            sum.store.store(unsafe { sum.out.moved(to).slot() }, x.clone());
        }
    }

    #[inline(always)]
    fn any<T: Element, S: Store<T>>(&self, sum: &Sum<'_, T, S>, step: impl Step) {
        for [from, to] in Walk::new(self.all, [0, 0]) {
            // SAFETY: a step of the kept loops and a whole turn of the reduced one.
            let x = unsafe { sum.input.moved(from).block(1, 0, self.reduced.len, step) };
            // SAFETY: a step of the kept loops, so an element that no other step reaches.
            sum.store.store(unsafe { sum.out.moved(to).slot() }, lane::sum(x));
        }
    }
}
