//! Views and shapes.

use super::{Outcome, agreed, check, check_view, described, layouts, source};
use common::{Case, Strided};
use ndarray::{ArrayViewD, Axis};
use ndarray_broadcast::partial::{PartialShape, Plan};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_arrays, broadcast_shapes, broadcast_views, const_broadcast_shape};
use std::panic::catch_unwind;

pub(super) fn to_target(case: &Case) {
    let (layout, target) = (source(case), case.numbers::<isize>("target"));
    let (x, shape) = (layout.view(), &target);
    check_view(case, "results", here!(x.broadcast_to(shape)));
    let copy = || -> Outcome<_> { Ok(here!(x.broadcast_to(shape)?.materialize())) };
    check(case, "results", copy());
}

pub(super) fn to_three_columns(case: &Case) {
    let layout = source(case);
    let x = layout.view();
    check_view(case, "results", here!(x.broadcast_to((-1, 3))));
}

pub(super) fn to_anothers_shape(case: &Case) {
    let (first, second) = (source(case), described(case, "like"));
    let (x, y) = (first.view(), second.view());
    check_view(case, "results", here!(x.broadcast_to(&y)));
}

pub(super) fn together(case: &Case) {
    let layouts = layouts(case);
    let views: Vec<ArrayViewD<'_, i64>> = layouts.iter().map(Strided::view).collect();
    let results = here!(broadcast_views(&views));
    match &views[..] {
        [x, y] => {
            let (x, y) = (x.view(), y.view());
            assert_eq!(here!(broadcast_arrays((&x, &y))).map(|(x, y)| vec![x, y]), results);
            assert_eq!(here!(broadcast_arrays([&x, &y])).map(Vec::from), results);
            assert_eq!(here!(x.broadcast_to_match(&y)).map(|(x, y)| vec![x, y]), results);
        }
        [x, y, z] => {
            let (x, y, z) = (x.view(), y.view(), z.view());
            assert_eq!(here!(broadcast_arrays((&x, &y, &z))).map(|(x, y, z)| vec![x, y, z]), results);
        }
        _ => {}
    }
    let Some(results) = agreed(case, results) else { return };
    let expected = case.cases("results");
    assert_eq!(results.len(), expected.len());
    results.iter().zip(&expected).for_each(|(result, expected)| super::assert_view(result, expected));
}

pub(super) fn shapes(case: &Case) {
    let shapes = case.rows::<usize>("shapes");
    let joint = here!(broadcast_shapes(&shapes));
    if let [a, b] = &shapes[..]
        && let (Ok(a), Ok(b)) = (<[usize; 2]>::try_from(&a[..]), <[usize; 1]>::try_from(&b[..]))
    {
        // it panics where there is no joint shape
        let constant = || -> [usize; 2] { here!(const_broadcast_shape(a, b)) };
        assert_eq!(catch_unwind(constant).ok().map(Vec::from).as_ref(), joint.as_ref().ok());
    }
    if let Some(joint) = agreed(case, joint) {
        assert_eq!(joint, case.shape("joint"));
    }
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
    check_view(case, "results", layout.view().broadcast_axes(&target, &axes));
}

pub(super) fn new_axis(case: &Case) {
    let (layout, size) = (source(case), case.size("size"));
    let x = layout.view();
    check(case, "results", Ok(here!(x.view().insert_axis(Axis(1)))));
    let shape = &[&x.shape()[..1], &[size], &x.shape()[1..]].concat();
    check(case, "wide", here!(x.broadcast_axes(shape, 1)));
}

pub(super) fn placed(case: &Case) {
    let (layout, target, axes) = (source(case), case.shape("target"), case.shape("axes"));
    check_view(case, "results", layout.view().broadcast_in_dim(&target, &axes));
}
