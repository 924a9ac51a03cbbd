//! Nests whose only reduced loop is one of the two innermost ones, and nests that reduce nothing.
//!
//! ```text
//! rows, short lanes:  for each outer index: out[..] = row0[..] + row1[..] + …   2, 3, 4 or 8 rows at once
//! lanes:              for each output:      out = sum of its lane               several accumulators
//! singles:            for each element:     out = element                       nothing is reduced
//! ```

use super::{Element, Store};
use crate::kernel::lane;
use crate::kernel::loops::{Loop, Loops};
use crate::kernel::nest::{Every, Nest, Step};

/// Lanes that are longer are cut into rows, as tiles are.
const LONGEST: usize = 1 << 16;

/// Which loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// So many rows are added up: the reduced loop is outside the kept one, which runs through adjacent elements.
    Rows(usize),
    /// As rows, after the two innermost loops have changed places: short lanes that follow each other without gaps.
    Short(usize),
    /// Each lane alone, whose elements are so far apart.
    Long(isize),
    Singles,
}

impl Lanes {
    #[inline(always)]
    pub(super) fn of(loops: &[Loop]) -> Option<Self> {
        let all_kept = |loops: &[Loop]| loops.iter().all(|l| !l.is_reduced());
        let adjacent = |l: &Loop| l.strides[0] == 1 && l.strides[1] == 1;
        match *loops {
            [ref outer @ .., r, k]
                if r.is_reduced() && matches!(r.len, 2 | 4 | 8) && adjacent(&k) && all_kept(outer) =>
            {
                Some(Self::Rows(r.len))
            }
            [ref outer @ .., r] if r.is_reduced() => {
                if r.len > LONGEST || !all_kept(outer) {
                    return None;
                }
                let follow =
                    outer.last().is_some_and(|k| k.strides[0] == 1 && k.strides[1] == r.len.cast_signed());
                let short = follow && r.strides[1] == 1 && matches!(r.len, 2 | 3 | 4 | 8);
                Some(if short { Self::Short(r.len) } else { Self::Long(r.strides[1]) })
            }
            [.., k] if !all_kept(loops) => {
                let _ = k;
                None
            }
            [.., k] if adjacent(&k) => Some(Self::Rows(1)),
            _ => Some(Self::Singles),
        }
    }

    #[inline(always)]
    pub(super) fn run<T: Element, S: Store<T>>(self, nest: Nest<'_, S::Slot, (T,)>, store: &S) {
        match self {
            Self::Rows(1) => rows::<T, S, 1>(nest, store, Every::<1>),
            Self::Rows(2) => rows::<T, S, 2>(nest, store, Every::<1>),
            Self::Rows(4) => rows::<T, S, 4>(nest, store, Every::<1>),
            Self::Rows(_) => rows::<T, S, 8>(nest, store, Every::<1>),
            Self::Short(n) => {
                let mut room = Loops::new();
                let innermost = nest.loops().len() - 2;
                let nest = nest.ordered(
                    |place, l| if place < innermost { 0 } else { 1 + u8::from(!l.is_reduced()) },
                    &mut room,
                );
                match n {
                    2 => rows::<T, S, 2>(nest, store, Every::<2>),
                    3 => rows::<T, S, 3>(nest, store, Every::<3>),
                    4 => rows::<T, S, 4>(nest, store, Every::<4>),
                    _ => rows::<T, S, 8>(nest, store, Every::<8>),
                }
            }
            Self::Long(1) => lanes(nest, store, Every::<1>),
            Self::Long(2) => lanes(nest, store, Every::<2>),
            Self::Long(step) => lanes(nest, store, step),
            Self::Singles => {
                let mut singles = nest.walk(0);
                while let Some(single) = singles.next() {
                    let item = single.read().item().clone();
                    store.store(single.slot(), item);
                }
            }
        }
    }
}

/// `N` rows at once: the two innermost loops, or one if `N` is 1.
#[inline(always)]
fn rows<T: Element, S: Store<T>, const N: usize>(nest: Nest<'_, S::Slot, (T,)>, store: &S, step: impl Step) {
    let in_rows = N > 1;
    let mut blocks = nest.walk(if in_rows { 2 } else { 1 });
    while let Some(block) = blocks.next() {
        let x = block.read().block(in_rows, step);
        let Some(slots) = block.slots() else { unreachable!("adjacent outputs") };
        lane::across::<T, _, _, N>(x, 0, slots, |slot, total| store.store(slot, total));
    }
}

/// One lane after the other: the innermost loop.
#[inline(always)]
fn lanes<T: Element, S: Store<T>>(nest: Nest<'_, S::Slot, (T,)>, store: &S, step: impl Step) {
    let mut lanes = nest.walk(1);
    while let Some(lane) = lanes.next() {
        let total = lane::sum(lane.read().block(false, step));
        store.store(lane.slot(), total);
    }
}
