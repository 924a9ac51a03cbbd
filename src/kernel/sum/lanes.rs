//! Nests whose only reduced loop is one of the two innermost ones, and nests that reduce nothing.
//!
//! ```text
//! short lanes:   for each output: out = lane[0] + lane[1] + …   2, 3, 4 or 8 elements
//! lanes:         for each output: out = sum of its lane         several accumulators
//! rows, singles: for each element: out = element                nothing is reduced
//! ```

use super::{Element, Store};
use crate::kernel::lane;
use crate::kernel::loops::{Loop, Loops};
use crate::kernel::nest::Nest;
use crate::kernel::simd::Cpu;
use core::array;

/// Lanes that are longer are cut into rows, as tiles are.
const LONGEST: usize = 1 << 16;

/// Which loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// Nothing is reduced, and the innermost loop runs through adjacent elements.
    Rows,
    /// Lanes of so many elements that follow each other without gaps.
    Short(usize),
    /// Each lane alone.
    Long,
    /// Each lane alone, whose elements are not adjacent.
    Strided,
    /// Nothing is reduced.
    Singles,
}

impl Lanes {
    #[inline(always)]
    pub(super) fn of(loops: &[Loop]) -> Option<Self> {
        let all_kept = |loops: &[Loop]| loops.iter().all(|l| !l.is_reduced());
        let adjacent = |l: &Loop| l.strides[0] == 1 && l.strides[1] == 1;
        match *loops {
            [ref outer @ .., r] if r.is_reduced() => {
                if r.len > LONGEST || !all_kept(outer) {
                    return None;
                }
                let follow =
                    outer.last().is_some_and(|k| k.strides[0] == 1 && k.strides[1] == r.len.cast_signed());
                let short = follow && r.strides[1] == 1 && matches!(r.len, 2 | 3 | 4 | 8);
                Some(match r.strides[1] {
                    _ if short => Self::Short(r.len),
                    1 => Self::Long,
                    _ => Self::Strided,
                })
            }
            _ if !all_kept(loops) => None,
            [.., k] if adjacent(&k) => Some(Self::Rows),
            _ => Some(Self::Singles),
        }
    }

    #[inline(always)]
    pub(super) fn run<C: Cpu, T: Element, S: Store<T>>(
        self,
        nest: Nest<'_, S::Slot, (T,)>,
        store: &S,
        room: &mut [T],
    ) {
        match self {
            Self::Rows => rows::<C, T, S>(nest, store),
            Self::Short(2) => short::<T, S, 2>(nest, store),
            Self::Short(3) => short::<T, S, 3>(nest, store),
            Self::Short(4) => short::<T, S, 4>(nest, store),
            Self::Short(_) => short::<T, S, 8>(nest, store),
            Self::Long | Self::Strided => lanes(nest, store, room),
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

/// The innermost loop, through adjacent elements, of which nothing is summed.
#[inline(always)]
fn rows<C: Cpu, T: Element, S: Store<T>>(nest: Nest<'_, S::Slot, (T,)>, store: &S) {
    let mut rows = nest.walk(1);
    while let Some(row) = rows.next() {
        let x = row.read().block(false);
        let Some(slots) = row.slots() else { unreachable!("adjacent outputs") };
        lane::across::<C, T, _, 1>(x, 0, slots, |slot, item| store.store(slot, item));
    }
}

/// Adjacent lanes of `N` elements: the two innermost loops.
#[inline(always)]
fn short<T: Element, S: Store<T>, const N: usize>(nest: Nest<'_, S::Slot, (T,)>, store: &S) {
    let (mut written, count) = (Loops::new(), nest.loops().len());
    let mut inputs = nest.read().walk(2);
    let mut outputs = nest.written(&mut written).walk(usize::from(count > 1));
    while let (Some(input), Some(output)) = (inputs.next(), outputs.next()) {
        let Some(slots) = output.slots() else { unreachable!("adjacent outputs") };
        let lanes = input.block(false).row(0).chunks_exact(N);
        for (slot, lane) in slots.iter_mut().zip(lanes) {
            store.store(slot, lane::few::<T, N>(array::from_fn(|i| lane[i].clone())));
        }
    }
}

/// One lane after the other: the innermost loop.
#[inline(always)]
fn lanes<T: Element, S: Store<T>>(nest: Nest<'_, S::Slot, (T,)>, store: &S, room: &mut [T]) {
    let mut lanes = nest.walk(1);
    while let Some(lane) = lanes.next() {
        let total = lane::sum(lane.read().block(false), room);
        store.store(lane.slot(), total);
    }
}
