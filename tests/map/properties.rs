//! Random operands and outputs of every layout against the naive model, which goes from index to index.

use common::number::{Same, apply, map, map_sum_to, map_sum_to_match};
use common::number::{par_apply, par_map};
use common::{Strided, aligned_right, indices, joint, layout, operand_of, read_at, variant, view_of_rank};
use ndarray::{Array, ArrayD, ArrayView, ArrayViewD, ArrayViewMutD, Axis, Dimension, Slice};
use ndarray_broadcast::prelude::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Sizes for which there are different loops.
fn shape() -> impl Strategy<Value = Vec<usize>> {
    let tiny =
        prop_oneof![1 => Just(0_usize), 8 => Just(1), 8 => Just(2), 6 => Just(3), 3 => Just(4), 3 => Just(5)];
    let size = prop_oneof![3 => tiny, 1 => prop::sample::select(vec![7_usize, 8, 16, 17, 40, 300])];
    let small = |shape: &Vec<usize>| shape.iter().product::<usize>() <= 2500;
    prop::collection::vec(size, 0..=6).prop_filter("too many elements", small)
}

/// 1 to 6 operands that go to one shape, if not `clash`, and that shape.
fn operands() -> impl Strategy<Value = Vec<Strided<i64>>> {
    (shape(), prop::bool::weighted(0.1)).prop_flat_map(|(joint, clash)| {
        prop::collection::vec(operand_of(joint, clash).prop_flat_map(layout), 1..=6)
    })
}

/// Different for different operands in another order.
fn mix(elements: &[i64]) -> i64 {
    elements.iter().fold(7, |mixed, x| (mixed * 31 + x) % 1_000_003)
}

/// What the elements of all operands at each index of `shape` mix to.
fn mixed(operands: &[Strided<i64>], shape: &[usize]) -> BTreeMap<Vec<usize>, i64> {
    let element = |layout: &Strided<i64>, index: &[usize]| {
        let own = layout.shape();
        *layout.at(&read_at(index, own, &aligned_right(own.len(), shape.len())))
    };
    let at =
        |index: &Vec<usize>| mix(&operands.iter().map(|operand| element(operand, index)).collect::<Vec<_>>());
    indices(shape).into_iter().map(|index| (index.clone(), at(&index))).collect()
}

fn shapes(operands: &[Strided<i64>]) -> Vec<Vec<usize>> {
    operands.iter().map(|array| array.shape().to_vec()).collect()
}

fn assert_mixed(out: &ArrayViewD<'_, i64>, expected: &BTreeMap<Vec<usize>, i64>) {
    assert_eq!(out.len(), expected.len());
    assert!(out.indexed_iter().all(|(index, x)| expected[index.as_array_view().to_slice().unwrap()] == *x));
}

/// The views with leading axes of size 1, so that all have as many.
fn of_one_rank<'a>(operands: &'a [Strided<i64>], ndim: usize) -> Vec<ArrayViewD<'a, i64>> {
    let pad = |mut view: ArrayViewD<'a, i64>| {
        while view.ndim() < ndim {
            view = view.insert_axis(Axis(0));
        }
        view
    };
    operands.iter().map(|operand| pad(operand.view())).collect()
}

/// How an axis of an output lies in memory: its rank, whether backwards, the step and the gap at the end.
type AxisPlan = (u8, bool, usize, usize);

/// An output of the given shape in a larger array of -1, which `write` fills.
fn with_output(
    shape: &[usize],
    plan: &[AxisPlan],
    write: impl FnOnce(&mut ArrayViewMutD<'_, i64>),
) -> ArrayD<i64> {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by_key(|&axis| plan[axis].0);
    let room = |&axis: &usize| shape[axis] * plan[axis].2 + plan[axis].3;
    let mut base = ArrayD::from_elem(order.iter().map(room).collect::<Vec<_>>(), -1);
    let mut view = base.view_mut();
    let mut places = vec![0; shape.len()];
    for (i, &axis) in order.iter().enumerate() {
        let (_, reversed, step, _) = plan[axis];
        view.slice_axis_inplace(Axis(i), Slice::from(..shape[axis] * step).step_by(step.cast_signed()));
        if reversed {
            view.invert_axis(Axis(i));
        }
        places[axis] = i;
    }
    let mut view = view.permuted_axes(places);
    assert_eq!(view.shape(), shape);
    write(&mut view);
    let written = view.to_owned();
    let in_view = view.len();
    assert_eq!(base.iter().filter(|&&x| x == -1).count(), base.len() - in_view, "only the output is written");
    written
}

/// A shape that the joint one sums to, or perhaps does not.
fn operands_and_target() -> impl Strategy<Value = (Vec<Strided<i64>>, Vec<usize>)> {
    (shape(), prop::bool::weighted(0.2)).prop_flat_map(|(joint, clash)| {
        let all = prop::collection::vec(operand_of(joint.clone(), false).prop_flat_map(layout), 1..=6);
        (all, operand_of(joint, clash))
    })
}

fn fixed_maps<'a>(operands: &'a [Strided<i64>], expected: &BTreeMap<Vec<usize>, i64>, ndim: usize) {
    fn check<D: Same>(views: &[ArrayView<'_, i64, D>], expected: &BTreeMap<Vec<usize>, i64>) {
        let out = map(views, mix).unwrap();
        assert_mixed(&out.view().into_dyn(), expected);
        let mut again = out.clone();
        again.fill(-1);
        apply(&mut again, views, |out, x| *out += mix(x) + 1).unwrap();
        assert_eq!(again, out);
    }
    let views = of_one_rank(operands, ndim);
    macro_rules! ranks {
        ($($n:literal $Ix:ident),*) => {
            match ndim {
                $($n => {
                    let fixed = |view: ArrayViewD<'a, i64>| view.into_dimensionality::<ndarray::$Ix>().unwrap();
                    check(&views.into_iter().map(fixed).collect::<Vec<_>>(), expected);
                })*
                _ => panic!("at most 6 axes"),
            }
        };
    }
    ranks!(0 Ix0, 1 Ix1, 2 Ix2, 3 Ix3, 4 Ix4, 5 Ix5, 6 Ix6);
}

proptest! {
    #![proptest_config(common::cases(192))]

    #[test]
    fn map_is_the_model(operands in operands()) {
        let views: Vec<_> = operands.iter().map(Strided::view).collect();
        let mut calls = 0;
        let out = map(&views, |x| { calls += 1; mix(x) });
        match (joint(&shapes(&operands)), out) {
            (Ok(shape), Ok(out)) => {
                prop_assert_eq!(out.shape(), &*shape);
                prop_assert_eq!(calls, out.len(), "one call for each element");
                let expected = mixed(&operands, &shape);
                assert_mixed(&out.view(), &expected);
                fixed_maps(&operands, &expected, shape.len());
                {
                    let par = par_map(&views, mix).unwrap();
                    prop_assert_eq!(par.strides(), out.strides());
                    prop_assert_eq!(par, out);
                }
            }
            (expected, out) => {
                let found = out.err().map(|error| variant(&error));
                prop_assert_eq!(expected.err(), found.as_deref());
                prop_assert_eq!(calls, 0);
            }
        }
    }

    #[test]
    fn apply_is_the_model_in_any_layout(
        operands in operands(),
        more in prop::collection::vec(0..3_usize, 0..2),
        plan in prop::collection::vec((any::<u8>(), any::<bool>(), 1..3_usize, 0..2_usize), 7),
        dense in any::<bool>(),
    ) {
        let views: Vec<_> = operands.iter().map(Strided::view).collect();
        let Ok(shape) = joint(&shapes(&operands)) else { return Ok(()) };
        let shape = if shape.len() < 6 { [more, shape].concat() } else { shape };
        let plan: Vec<_> =
            plan.into_iter().map(|plan| if dense { (plan.0, false, 1, 0) } else { plan }).collect();
        let expected = mixed(&operands, &shape);
        let mut calls = 0;
        let out = with_output(&shape, &plan, |out| {
            apply(out, &views, |out, x| { *out += mix(x) + 1; calls += 1; }).unwrap();
        });
        assert_mixed(&out.view(), &expected);
        prop_assert_eq!(calls, out.len());
        {
            let par = with_output(&shape, &plan, |out| par_apply(out, &views, |out, x| *out += mix(x) + 1).unwrap());
            prop_assert_eq!(par, out);
        }
    }

    #[test]
    fn apply_refuses_what_does_not_go_to_the_output(
        operands in operands(),
        output in shape(),
    ) {
        let fits = operands.iter().all(|operand| {
            let own = operand.shape();
            own.len() <= output.len() && joint(&[own, &output[..]]) == Ok(output.clone())
        });
        let views: Vec<_> = operands.iter().map(Strided::view).collect();
        let mut out = ArrayD::from_elem(output, -1_i64);
        let result = apply(&mut out, &views, |out, _| *out = 0);
        prop_assert_eq!(result.is_ok(), fits);
        prop_assert!(out.iter().all(|&x| x == if fits { 0 } else { -1 }), "all or nothing");
    }

    #[test]
    fn map_sum_to_is_the_model((operands, target) in operands_and_target()) {
        let views: Vec<_> = operands.iter().map(Strided::view).collect();
        let joint = joint(&shapes(&operands)).expect("one shape");
        let sum = map_sum_to(&views, &*target, mix);
        let places = aligned_right(target.len(), joint.len());
        let fits = target.len() <= joint.len()
            && places.iter().zip(&target).all(|(&place, &size)| size == joint[place] || size == 1);
        prop_assert_eq!(sum.is_ok(), fits, "{:?}", sum);
        let like = ArrayD::<u8>::zeros(&*target);
        prop_assert_eq!(map_sum_to_match(&views, &like, mix), sum.clone());
        let fixed = view_of_rank!(like.view(), like => map_sum_to_match(&views, &like, mix).map(Array::into_dyn));
        prop_assert_eq!(fixed, sum.clone());
        let Ok(sum) = sum else { return Ok(()) };
        let mut expected = ArrayD::<i64>::zeros(&*target);
        for (index, x) in mixed(&operands, &joint) {
            expected[&*read_at(&index, &target, &places)] += x;
        }
        prop_assert_eq!(sum, expected);
    }

    #[test]
    fn copies_are_the_model(
        operand in shape().prop_flat_map(layout),
        more in prop::collection::vec(0..9_usize, 0..2),
        plan in prop::collection::vec((any::<u8>(), any::<bool>(), 1..3_usize, 0..2_usize), 8),
    ) {
        let view = operand.view();
        let copy = view.materialize();
        prop_assert!(copy.is_standard_layout());
        prop_assert_eq!(&copy, &view);
        let tried = view.try_materialize().unwrap();
        prop_assert_eq!((tried.strides(), &tried), (copy.strides(), &copy));
        if view.ndim() <= 6 {
            view_of_rank!(view.clone(), fixed => prop_assert_eq!(fixed.materialize().into_dyn(), copy.clone()));
        }
        let shape = [more, operand.shape().to_vec()].concat();
        let wide = view.broadcast_to(&*shape).unwrap();
        prop_assert_eq!(&wide.materialize(), &wide);
        let out = with_output(&shape, &plan, |out| view.materialize_into(out).unwrap());
        prop_assert_eq!(&out, &wide);
    }
}
