//! Operations on batches, fused passes and copies.

use super::{Outcome, agreed, assert_result, assert_view, layouts, onto, recorded, source};
use common::Case;
use ndarray::{
    ArrayD, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut0, ArrayViewMut1, ArrayViewMut2, ArrayViewMutD,
    Ix1, Ix2, IxDyn,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{Batch, Signature, base_op, batch_broadcast, broadcast_apply, broadcast_map, fused};

/// One operation on bases in every form that the crate has: as a method, in place, on several threads and as a closure
/// with a signature, which all have to agree.
macro_rules! every_form {
    ($x:expr, $y:expr, $op:expr, $method:ident, $signature:literal, $closure:expr) => {{
        let (x, y, signature) = (&$x, &$y, Signature::literal($signature));
        let result = x.apply($op, y);
        assert_eq!(x.$method(y), result);
        assert_eq!(x.zip_map(y, signature, $closure), result);
        {
            assert_eq!(x.par().zip_map(y, signature, $closure), result);
            assert_eq!(x.par().apply($op, y), result);
        }
        if let Ok(expected) = &result {
            let mut out = ArrayD::from_elem(expected.t().raw_dim(), 7).reversed_axes();
            assert_eq!(x.apply_into($op, y, &mut out), Ok(()));
            assert_eq!(&out, expected);
            out.fill(7);
            assert_eq!(x.zip_map_into(y, &mut out, $closure), Ok(()));
            assert_eq!(&out, expected);
        }
        result
    }};
}

type Matrix<'a> = ArrayView2<'a, i64>;
type Vector<'a> = ArrayView1<'a, i64>;

fn dot(x: Vector<'_>, y: Vector<'_>) -> i64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn matvec(m: Matrix<'_>, x: Vector<'_>, mut out: ArrayViewMut1<'_, i64>) {
    out.iter_mut().zip(m.rows()).for_each(|(out, row)| *out = dot(row, x));
}

fn vecmat(x: Vector<'_>, m: Matrix<'_>, out: ArrayViewMut1<'_, i64>) {
    matvec(m.reversed_axes(), x, out);
}

fn matmul(m: Matrix<'_>, n: Matrix<'_>, mut out: ArrayViewMut2<'_, i64>) {
    out.rows_mut().into_iter().zip(m.rows()).for_each(|(out, row)| vecmat(row, n, out));
}

fn vector(x: ArrayViewD<'_, i64>) -> Batch<'_, i64, IxDyn, Ix1> {
    x.into_batch().unwrap()
}

fn matrix(x: ArrayViewD<'_, i64>) -> Batch<'_, i64, IxDyn, Ix2> {
    x.into_batch().unwrap()
}

pub(super) fn product(case: &Case) {
    let layouts = layouts(case);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    let as_written = || -> Outcome<_> {
        Ok(match case.text("product") {
            "matvec" => here!(a.matvec(&b)?),
            "vecmat" => {
                let (a, b) = (&a, &b);
                here!(b.vecmat(&a)?)
            }
            "matmul" => here!(a.matmul(&b)?),
            _ => here!(a.inner(&b)?),
        })
    };
    let as_written = as_written();
    let result = match case.text("product") {
        "matvec" => {
            every_form!(matrix(a.view()), vector(b.view()), base_op::MatVec, matvec, "(m,n),(n)->(m)", matvec)
        }
        "vecmat" => {
            every_form!(vector(b.view()), matrix(a.view()), base_op::VecMat, vecmat, "(n),(n,m)->(m)", vecmat)
        }
        "matmul" => every_form!(
            matrix(a.view()),
            matrix(b.view()),
            base_op::MatMul,
            matmul,
            "(m,n),(n,p)->(m,p)",
            matmul
        ),
        "inner" => {
            let inner = |x: Vector<'_>, y: Vector<'_>, mut out: ArrayViewMut0<'_, i64>| out[()] = dot(x, y);
            every_form!(vector(a.view()), vector(b.view()), base_op::Inner, inner, "(n),(n)->()", inner)
        }
        product => panic!("unknown product {product}"),
    };
    assert_eq!(as_written, result);
    if let Some(result) = agreed(case, result) {
        assert_result(&result, &recorded(case, "results"));
    }
}

pub(super) fn outer(case: &Case) {
    let layouts = layouts(case);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    let result = || -> Outcome<_> { Ok(here!(a.outer(&b)?)) };
    if let Some(result) = agreed(case, result()) {
        assert_result(&result, &recorded(case, "results"));
    }
}

pub(super) fn transposed(case: &Case) {
    let layout = source(case);
    let m = layout.view();
    let result = || -> Outcome<_> { Ok(here!(m.batch::<Ix2>()?.transpose()).into_view().to_owned()) };
    if let Some(result) = agreed(case, result()) {
        assert_result(&result, &recorded(case, "results"));
    }
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
    if let Some(result) = agreed(case, here!(a.zip_map(&b, Signature::literal("(m,n),(n)->(m)"), f))) {
        assert_result(&result, &recorded(case, "results"));
    }
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
    if let Some(result) = agreed(case, result()) {
        assert_result(&result, &recorded(case, "results"));
        let a = x.batch::<Ix2>().unwrap();
        let twice = |m: Matrix<'_>, n: Matrix<'_>, mut out: ArrayViewMut0<'_, i64>| {
            out[()] = m.iter().zip(n).map(|(m, n)| m * n - 3).sum::<i64>();
        };
        assert_eq!(here!(a.zip_map(&a, (), twice)), Ok(result));
    }
}

pub(super) fn elementwise(case: &Case) {
    let (layouts, bases) = (layouts(case), case.shape("bases"));
    let (x, y) = (layouts[0].view(), layouts[1].view());
    let (x, y) = (x.batch_dyn(bases[0]).unwrap(), y.batch_dyn(bases[1]).unwrap());
    let results = [x.add(&y), x.sub(&y), x.mul(&y)];
    assert_eq!(
        results,
        [x.par().apply(base_op::Add, &y), x.par().apply(base_op::Sub, &y), x.par().apply(base_op::Mul, &y)]
    );
    for (i, result) in results.into_iter().enumerate() {
        if let Some(result) = agreed(case, result) {
            assert_result(&result, &case.cases("results")[i]);
        }
    }
}

pub(super) fn views(case: &Case) {
    let (layouts, bases) = (layouts(case), case.shape("bases"));
    let (x, y) = (layouts[0].view(), layouts[1].view());
    let (x, y) = (x.batch_dyn(bases[0]).unwrap(), y.batch_dyn(bases[1]).unwrap());
    let pair = batch_broadcast(&x, &y);
    let owned = |batch: Batch<'_, i64, IxDyn, IxDyn>| batch.into_view().to_owned();
    let Some((joint, other)) = agreed(case, pair) else { return };
    assert_eq!(joint.batch_shape(), case.shape("batch"));
    let wide = owned(joint.clone());
    assert_result(&wide, &case.cases("results")[0]);
    assert_result(&other.into_view(), &case.cases("results")[1]);
    assert_eq!(x.expand_batch(joint.batch_shape()).map(Batch::into_view), Ok(wide.view()));
    let back = &recorded(case, "back");
    assert_result(&joint.sum_batch_to(&x).unwrap(), back);
    assert_result(&joint.sum_batch_to(x.batch_shape()).unwrap(), back);
    let mut sum = ArrayD::zeros(x.clone().into_view().raw_dim());
    joint.add_sum_batch_to(&mut sum).unwrap();
    assert_result(&sum, back);
}

pub(super) fn passes(case: &Case) {
    let layouts = layouts(case);
    let [a, b, c] = [0, 1, 2].map(|i| layouts[i].view());
    let f = |a: &i64, b: &i64, c: &i64| a * b + c;
    assert_eq!(
        broadcast_map((&a, &b, &c).par(), f).ok(),
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
        broadcast_apply(&mut out, (&a, &b).par(), |out, a, b| *out = a + b)
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
    if let Some(sum) = agreed(case, here!(fused((&a, &b), |a, b| a * b).sum_axes(0))) {
        assert_result(&sum, &recorded(case, "results"));
    }
    if let Some(sum) = agreed(case, fused((&a, &b), |a, b| a * b).sum_to(n)) {
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
