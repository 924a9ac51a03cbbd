//! Views and shapes.

use super::{Outcome, agreed, assert_result, assert_view, described, layouts, recorded, source};
use common::{Case, Strided, empty, view_of_rank};
use ndarray::{ArrayViewD, Axis};
use ndarray_broadcast::partial::{PartialShape, Plan};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    broadcast_arrays, broadcast_shapes, broadcast_to_match_in_place, broadcast_to_match3_in_place,
    broadcast_views, const_broadcast_shape, resolve_target,
};
use std::panic::catch_unwind;

pub(super) fn to_target(case: &Case) {
    let (layout, target) = (source(case), case.numbers::<isize>("target"));
    let (x, shape) = (layout.view(), &target);
    let resolved = resolve_target(x.shape(), shape);
    let mut changed = x.clone();
    assert_eq!(changed.broadcast_in_place(shape).err(), resolved.clone().err());
    assert_eq!(x.clone().into_broadcast_to(shape).err(), resolved.clone().err());
    if target.iter().all(|&size| size >= 0) {
        assert_eq!(x.broadcast_to_match_shape(shape).is_ok(), resolved.is_ok());
    }
    let by_rank = view_of_rank!(x.clone(), fixed => fixed.broadcast_to(shape).map(|v| v.to_owned()));
    assert_eq!(by_rank.as_ref().err(), resolved.as_ref().err());
    let Some(result) = agreed(case, here!(x.broadcast_to(shape))) else { return };
    let expected = recorded(case, "results");
    assert_view(&result, &expected);
    assert_view(&changed, &expected);
    assert_result(&by_rank.unwrap(), &expected);
    let copy = || -> Outcome<_> { Ok(here!(x.broadcast_to(shape)?.materialize())) };
    let copy = copy().unwrap();
    assert_result(&copy, &expected);
    assert!(copy.is_standard_layout());
    assert_eq!(resolved.as_deref(), Ok(result.shape()));
}

pub(super) fn to_three_columns(case: &Case) {
    let layout = source(case);
    let x = layout.view();
    if let Some(result) = agreed(case, here!(x.broadcast_to((-1, 3)))) {
        assert_view(&result, &recorded(case, "results"));
    }
}

pub(super) fn to_anothers_shape(case: &Case) {
    let (first, second) = (source(case), described(case, "like"));
    let (x, y) = (first.view(), second.view());
    if let Some(result) = agreed(case, here!(x.broadcast_to(&y))) {
        assert_view(&result, &recorded(case, "results"));
    }
}

pub(super) fn together(case: &Case) {
    let layouts = layouts(case);
    let views: Vec<ArrayViewD<'_, i64>> = layouts.iter().map(Strided::view).collect();
    let results = here!(broadcast_views(&views));
    let several = match &views[..] {
        [x] => broadcast_arrays((x.view(),)).map(|(x,)| vec![x]),
        [x, y] => {
            let (x, y) = (x.view(), y.view());
            let (mut p, mut q) = (x.clone(), y.clone());
            let in_place = broadcast_to_match_in_place(&mut p, &mut q).map(|()| vec![p, q]);
            assert_eq!(in_place, results);
            assert_eq!(x.can_broadcast_to_match(&y), results.is_ok());
            assert_eq!(here!(broadcast_arrays((&x, &y))).map(|(x, y)| vec![x, y]), results);
            assert_eq!(here!(broadcast_arrays([&x, &y])).map(Vec::from), results);
            assert_eq!(here!(x.broadcast_to_match(&y)).map(|(x, y)| vec![x, y]), results);
            broadcast_arrays((x, y)).map(|(x, y)| vec![x, y])
        }
        [x, y, z] => {
            let (x, y, z) = (x.view(), y.view(), z.view());
            let (mut p, mut q, mut r) = (x.clone(), y.clone(), z.clone());
            let in_place = broadcast_to_match3_in_place(&mut p, &mut q, &mut r).map(|()| vec![p, q, r]);
            assert_eq!(in_place, results);
            assert_eq!(here!(broadcast_arrays((&x, &y, &z))).map(|(x, y, z)| vec![x, y, z]), results);
            assert_eq!(x.broadcast_to_match3(&y, &z).map(|(x, y, z)| vec![x, y, z]), results);
            broadcast_arrays((x, y, z)).map(|(x, y, z)| vec![x, y, z])
        }
        [x, y, z, w] => {
            broadcast_arrays((x.view(), y.view(), z.view(), w.view())).map(|(x, y, z, w)| vec![x, y, z, w])
        }
        _ => unreachable!("1 to 4 operands"),
    };
    assert_eq!(several, results);
    let Some(results) = agreed(case, results) else { return };
    let expected = case.cases("results");
    assert_eq!(results.len(), expected.len());
    for (result, expected) in results.iter().zip(&expected) {
        assert_view(result, expected);
    }
}

pub(super) fn shapes(case: &Case) {
    let shapes = case.rows::<usize>("shapes");
    let joint = here!(broadcast_shapes(&shapes));
    if let [a, b] = &shapes[..] {
        check_constant(a, b, joint.as_ref().ok());
    }
    if let Some(joint) = agreed(case, joint) {
        assert_eq!(joint, case.shape("joint"));
    }
}

/// Checks the joint shape that constants have, which panics where there is none, for the numbers of axes that are tried.
fn check_constant(a: &[usize], b: &[usize], expected: Option<&Vec<usize>>) {
    macro_rules! tried {
        ($($M:literal $N:literal $O:literal)*) => {$(
            if let (Ok(a), Ok(b)) = (<[usize; $M]>::try_from(a), <[usize; $N]>::try_from(b)) {
                let joint = || -> [usize; $O] { here!(const_broadcast_shape(a, b)) };
                assert_eq!(catch_unwind(joint).ok().map(Vec::from).as_ref(), expected);
            }
        )*};
    }
    tried! { 0 0 0 1 0 1 1 1 1 0 2 2 2 1 2 1 3 3 2 2 2 3 2 3 3 3 3 4 2 4 2 5 5 4 4 4 }
}

/// A graph whose sizes are symbols: it runs for real sizes that pass the guards that were made with it.
pub(super) fn symbolic_shapes(case: &Case) {
    let shapes: Vec<PartialShape> =
        case.list("symbolic").iter().map(|shape| shape.as_str().unwrap().parse().unwrap()).collect();
    let plan = here!(Plan::new(shapes));
    if !case.ok() {
        return;
    }
    let plan = plan.unwrap();
    for real in case.cases("real") {
        let (shapes, guarded) = (real.rows::<usize>("shapes"), real.get("guarded").as_bool().unwrap());
        let joint = here!(plan.joint_shape(&shapes));
        assert_eq!(here!(plan.checks()).iter().all(|check| check.holds(&shapes)), joint.is_ok());
        if guarded {
            assert_eq!(joint.unwrap(), real.shape("joint"));
        }
    }
}

pub(super) fn along(case: &Case) {
    let (layout, target, axes) = (source(case), case.shape("target"), case.shape("axes"));
    let view = layout.view();
    assert_eq!(view.broadcast_like(&empty(&target), &axes), view.broadcast_axes(&target, &axes));
    if let Some(result) = agreed(case, view.broadcast_axes(&target, &axes)) {
        assert_view(&result, &recorded(case, "results"));
    }
}

pub(super) fn new_axis(case: &Case) {
    let (layout, size) = (source(case), case.size("size"));
    let x = layout.view();
    let column = here!(x.view().insert_axis(Axis(1)));
    assert_result(&column, &recorded(case, "results"));
    let shape = &[&x.shape()[..1], &[size], &x.shape()[1..]].concat();
    assert_result(&here!(x.broadcast_axes(shape, 1)).unwrap(), &recorded(case, "wide"));
}

pub(super) fn placed(case: &Case) {
    let (layout, target, axes) = (source(case), case.shape("target"), case.shape("axes"));
    if let Some(result) = agreed(case, layout.view().broadcast_in_dim(&target, &axes)) {
        assert_view(&result, &recorded(case, "results"));
    }
}
