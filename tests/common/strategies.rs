//! Strategies for proptest: shapes that go together, and arrays in every layout.

use crate::model::signed;
use crate::strided::{Layout, Spacing, Strided};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// The layout of one axis: its rank in the permutation, whether it is reversed, whether it is repeated, and its start, step
/// and padding.
type AxisPlan = (u8, bool, bool, [usize; 3]);

/// A layout of shape `shape`: any combination of C or F order, a permutation, slices with steps, reversed
/// axes, and axes repeated with stride 0.
pub fn layout(shape: Vec<usize>) -> impl Strategy<Value = Strided<i64>> {
    layout_within(shape, 300, 0.15)
}

/// As `layout`, without repeated elements, so that it can be written to.
pub fn layout_to_write(shape: Vec<usize>) -> impl Strategy<Value = Strided<i64>> {
    layout_within(shape, 300, 0.0)
}

/// As `layout`. Axes are sliced while the base has fewer than `room` elements, and repeated with probability `repeated`.
pub fn layout_within(shape: Vec<usize>, room: usize, repeated: f64) -> impl Strategy<Value = Strided<i64>> {
    let pads = [0..3_usize, 1..4, 0..2];
    let axis = (any::<u8>(), prop::bool::weighted(0.5), prop::bool::weighted(repeated), pads);
    let plan = prop::collection::vec(axis, shape.len());
    let half = || any::<bool>();
    (plan, half(), half(), half(), half()).prop_map(move |(mut plan, f_order, sliced, reversed, permuted)| {
        for axis in &mut plan {
            axis.1 &= reversed;
        }
        planned(&shape, &plan, room, [f_order, sliced, permuted])
    })
}

fn planned(
    shape: &[usize],
    plan: &[AxisPlan],
    room: usize,
    [f_order, sliced, permuted]: [bool; 3],
) -> Strided<i64> {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if permuted {
        order.sort_by_key(|&axis| plan[axis].0);
    }
    let (mut spacings, mut stored) = (vec![Spacing::DENSE; shape.len()], 1);
    for &axis in &order {
        let (_, reversed, repeated, [before, step, after]) = plan[axis];
        spacings[axis] = match () {
            () if repeated => Spacing { step: 0, reversed, ..Spacing::DENSE },
            () if sliced && stored < room => Spacing { step, reversed, before, after, pad: 0 },
            () => Spacing { reversed, ..Spacing::DENSE },
        };
        stored *= spacings[axis].turns(shape[axis]);
    }
    if f_order {
        order.reverse();
    }
    Strided::new(Layout::spaced(shape, &order, |axis| spacings[axis]).for_copies(), signed)
}

/// A shape of at most `max_axes` axes, with at most 600 elements.
pub fn shape(max_axes: usize) -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![2 => Just(0_usize), 12 => Just(1), 12 => Just(2), 8 => Just(3), 2 => Just(5)];
    let small = |shape: &Vec<usize>| shape.iter().product::<usize>() <= 600;
    prop::collection::vec(size, 0..=max_axes).prop_filter("too many elements", small)
}

/// A shape that stretches to `target`: leading axes are dropped, and some of the others are 1. With `clash`,
/// one of its sizes is replaced and may not fit.
pub fn operand_of(target: Vec<usize>, clash: bool) -> impl Strategy<Value = Vec<usize>> {
    let ndim = target.len();
    let ones = prop::collection::vec(prop::bool::weighted(0.35), ndim);
    (0..=ndim, prop::bool::weighted(0.6), ones, 0..ndim.max(1), 0..4_usize).prop_map(
        move |(from, all, ones, at, size)| {
            let from = if all { 0 } else { from };
            let mut shape: Vec<usize> =
                (from..ndim).map(|axis| if ones[axis] { 1 } else { target[axis] }).collect();
            if clash && at < shape.len() {
                shape[at] = size;
            }
            shape
        },
    )
}

/// Several operands, each in its own layout, with a joint shape of at most `max_axes` axes. In half of the
/// cases, their shapes may clash.
pub fn family(
    max_axes: usize,
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<Strided<i64>>> {
    let count = count.into();
    (shape(max_axes), any::<bool>()).prop_flat_map(move |(joint, clash)| {
        let operand = operand_of(joint, clash).prop_flat_map(layout);
        prop::collection::vec(operand, count.clone())
    })
}

/// A target of 0 to 7 axes, some of them -1, and an array that may stretch to it. In half of the cases,
/// one thing may be wrong: a size of either, a -1 on a new axis, or too few axes.
pub fn array_and_target() -> impl Strategy<Value = (Strided<i64>, Vec<i64>)> {
    let wrong = prop_oneof![4 => Just(0), 1 => Just(1), 1 => Just(2), 1 => Just(3), 1 => Just(4)];
    (shape(7), wrong).prop_flat_map(|(target, wrong)| {
        let ndim = target.len();
        let array = operand_of(target.clone(), wrong == 1).prop_flat_map(layout);
        let kept = prop::collection::vec(prop::bool::weighted(0.3), ndim);
        (array, kept, 0..ndim.max(1), -3..5_i64).prop_map(move |(array, kept, at, odd)| {
            let new = ndim - array.ndim();
            let keep = |axis: usize| kept[axis] && (axis >= new || wrong == 2);
            let size = |axis: usize| signed(target[axis]);
            let mut target: Vec<i64> =
                (0..ndim).map(|axis| if keep(axis) { -1 } else { size(axis) }).collect();
            match wrong {
                3 if at < ndim => target[at] = odd,
                4 => target.truncate(ndim.saturating_sub(new + 1)),
                _ => {}
            }
            (array, target)
        })
    })
}

/// The configuration of properties that run so many cases. A case that fails is written beside the source file, so that each
/// program has its own.
pub fn cases(cases: u32) -> ProptestConfig {
    let beside_source = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases, failure_persistence: Some(Box::new(beside_source)), ..ProptestConfig::default() }
}
