//! Operations on batches, fused passes and copies.

use super::{Outcome, agreed, assert_result, assert_view, check, layouts, onto, recorded, source};
use common::Case;
use ndarray::{ArrayD, ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut1, ArrayViewMutD, Ix1, Ix2};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{Signature, batch_broadcast, broadcast_apply, broadcast_map, fused};

type Matrix<'a> = ArrayView2<'a, i64>;
type Vector<'a> = ArrayView1<'a, i64>;

pub(super) fn product(case: &Case) {
    let layouts = layouts(case);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    let result = || -> Outcome<_> {
        Ok(match case.text("product") {
            "matvec" => here!(a.matvec(&b)?),
            "vecmat" => here!(b.vecmat(&a)?),
            "matmul" => here!(a.matmul(&b)?),
            _ => here!(a.inner(&b)?),
        })
    };
    check(case, "results", result());
}

pub(super) fn outer(case: &Case) {
    let layouts = layouts(case);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    let result = || -> Outcome<_> { Ok(here!(a.outer(&b)?)) };
    check(case, "results", result());
}

pub(super) fn transposed(case: &Case) {
    let layout = source(case);
    let m = layout.view();
    let result = || -> Outcome<_> { Ok(here!(m.batch::<Ix2>()?.transpose()).into_view().to_owned()) };
    check(case, "results", result());
}

/// The largest difference of each row to the vector, at least 0.
fn largest(m: Matrix<'_>, x: Vector<'_>, mut out: ArrayViewMut1<'_, i64>) {
    out.iter_mut().zip(m.rows()).for_each(|(out, row)| {
        *out = row.iter().zip(x).map(|(m, x)| m - x).max().unwrap_or(0).max(0);
    });
}

pub(super) fn vectorized(case: &Case) {
    let layouts = layouts(case);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    let (a, b) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix1>().unwrap());
    let f = largest;
    check(case, "results", here!(a.zip_map(&b, Signature::literal("(m,n),(n)->(m)"), f)));
}

/// The sum over a matrix of the squares less 3.
fn squares(m: Matrix<'_>, mut out: ArrayViewMut0<'_, i64>) {
    out[()] = m.iter().map(|x| x * x - 3).sum::<i64>();
}

pub(super) fn mapped(case: &Case) {
    let layout = source(case);
    let x = layout.view();
    let f = squares;
    let result = || -> Outcome<ArrayD<i64>> { Ok(here!(x.batch::<Ix2>()?.zip_map((), (), f)?)) };
    check(case, "results", result());
    if case.ok() {
        let a = x.batch::<Ix2>().unwrap();
        let twice = |m: Matrix<'_>, n: Matrix<'_>, mut out: ArrayViewMut0<'_, i64>| {
            out[()] = m.iter().zip(n).map(|(m, n)| m * n - 3).sum::<i64>();
        };
        check(case, "results", here!(a.zip_map(&a, (), twice)));
    }
}

pub(super) fn elementwise(case: &Case) {
    let (layouts, bases) = (layouts(case), case.shape("bases"));
    let (x, y) = (layouts[0].view(), layouts[1].view());
    let (x, y) = (x.batch_dyn(bases[0]).unwrap(), y.batch_dyn(bases[1]).unwrap());
    for (i, result) in [x.add(&y), x.sub(&y), x.mul(&y)].into_iter().enumerate() {
        if let Some(result) = agreed(case, result) {
            assert_result(&result, &case.cases("results")[i]);
        }
    }
}

pub(super) fn views(case: &Case) {
    let (layouts, bases) = (layouts(case), case.shape("bases"));
    let (x, y) = (layouts[0].view(), layouts[1].view());
    let (x, y) = (x.batch_dyn(bases[0]).unwrap(), y.batch_dyn(bases[1]).unwrap());
    let Some((joint, other)) = agreed(case, batch_broadcast(&x, &y)) else { return };
    assert_eq!(joint.batch_shape(), case.shape("batch"));
    let results = case.cases("results");
    assert_result(&joint.clone().into_view(), &results[0]);
    assert_result(&other.into_view(), &results[1]);
    check(case, "back", joint.sum_batch_to(&x));
}

pub(super) fn passes(case: &Case) {
    let layouts = layouts(case);
    let [a, b, c] = [0, 1, 2].map(|i| layouts[i].view());
    check(case, "results", here!(broadcast_map((&a, &b, &c), |a, b, c| a * b + c)));
    if !case.ok() {
        return;
    }
    assert_written(case, "sum", onto(case), |mut out| {
        here!(broadcast_apply(&mut out, (&a, &b), |out, a, b| *out = a + b))
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
    let layouts = layouts(case);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    check(case, "results", here!(fused((&a, &b), |a, b| a * b).sum_axes(0)));
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
