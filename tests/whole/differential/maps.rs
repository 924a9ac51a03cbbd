//! Fused passes and copies.

use super::{Outcome, agreed, assert_result, assert_view, layouts, onto, recorded, source};
use common::Case;
use ndarray::{ArrayD, ArrayViewMutD};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused, par_broadcast_apply, par_broadcast_map};

pub(super) fn passes(case: &Case) {
    let layouts = layouts(case);
    let [a, b, c] = [0, 1, 2].map(|i| layouts[i].view());
    let f = |a: &i64, b: &i64, c: &i64| a * b + c;
    assert_eq!(
        par_broadcast_map((&a, &b, &c), f).ok(),
        here!(broadcast_map((&a, &b, &c), |a, b, c| a * b + c)).ok()
    );
    if let Some(result) = agreed(case, broadcast_map((&a, &b, &c), f)) {
        assert_result(&result, &recorded(case, "results"));
    } else {
        return;
    }
    assert_written(case, "sum", onto(case), |mut out| {
        here!(broadcast_apply(&mut out, (&a, &b), |out, a, b| *out = a + b))
    });
    assert_written(case, "sum", onto(case), |mut out| {
        par_broadcast_apply(&mut out, (&a, &b), |out, a, b| *out = a + b)
    });
    assert_written(
        case,
        "in_place",
        a.to_owned(),
        |mut a| here!(broadcast_apply(&mut a, &b, |a, b| *a += b)),
    );
    let a = a.to_owned();
    let sum = here!(a.into_broadcast_map(&b, |a, b| a + b)).unwrap();
    assert_result(&sum, &recorded(case, "joint"));
}

/// Checks a pass into an array against what the other system writes.
fn assert_written(
    case: &Case,
    field: &str,
    mut out: ArrayD<i64>,
    pass: impl Fn(ArrayViewMutD<'_, i64>) -> Outcome<()>,
) {
    let before = out.clone();
    let result = pass(out.view_mut());
    if case.get(field).is_null() {
        assert!(result.is_err(), "the other system refuses this output");
        assert_eq!(out, before);
    } else {
        result.expect("the other system writes to this output");
        assert_result(&out, &recorded(case, field));
    }
}

pub(super) fn sum_of_products(case: &Case) {
    let (layouts, n) = (layouts(case), &[case.size("n")]);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    let sum = here!(fused((&a, &b), |a, b| a * b).sum_to(n));
    if let Some(sum) = agreed(case, sum) {
        assert_result(&sum, &recorded(case, "results"));
    }
}

pub(super) fn copies(case: &Case) {
    let (layout, mut out) = (source(case), onto(case));
    let (x, before) = (layout.view(), out.clone());
    if agreed(case, here!(x.materialize_into(&mut out))).is_none() {
        assert_eq!(out, before);
        return;
    }
    assert_result(&out, &recorded(case, "results"));
    if case.has("copy") {
        assert_view(&here!(x.materialize()), &recorded(case, "copy"));
    }
}
