//! The simple way: one output after the other. For elements that own memory or are unusually large, whose partial
//! results cannot be forgotten or do not fit.

use super::{Element, Store, Sum};
use crate::kernel::plan::{Loop, Stack, Walk};

pub(super) fn run<T: Element, S: Store<T>>(sum: &Sum<'_, T, S>) {
    let (mut kept, mut reduced) = (Stack::new(Loop::ONE), Stack::new(Loop::ONE));
    for &l in sum.loops {
        if l.strides[1] == 0 {
            reduced.push(l);
        } else {
            kept.push(l);
        }
    }
    for at in Walk::new(&kept, [0, 0]) {
        let mut total = T::zero();
        for [from, _] in Walk::new(&reduced, at) {
            // SAFETY: a step of the loops, so an element of the input.
            total = total + unsafe { sum.input.moved(from).get() }.clone();
        }
        // SAFETY: a step of the kept loops, so an element of the output that no other step reaches.
        sum.store
            .store(unsafe { sum.out.moved(at[1]).slot() }, total);
    }
}
