//! The crate against NumPy on random cases, which `tests/numpy/run` makes and has checked here.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::many_single_char_names, reason = "x, y and z are operands, m and n matrices")]
#![allow(clippy::needless_pass_by_value, reason = "closures over bases get views by value")]

use common::{Case, Layout, assert_elements, assert_strides, empty, layout_in, view_of_rank};
use ndarray::{
    ArrayD, ArrayRef, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut0, ArrayViewMut1, ArrayViewMut2,
    Dimension, Ix1, Ix2, IxDyn,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, Batch, BroadcastError, Signature, base_op, batch_broadcast, batch_broadcast_all,
    batch_broadcast_views, broadcast_apply, broadcast_arrays, broadcast_map, broadcast_map_sum_to,
    broadcast_shapes, broadcast_to_match_in_place, broadcast_to_match3_in_place, broadcast_views,
    can_batch_broadcast, reduction_axes, resolve_target,
};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

type Outcome<T> = Result<T, BroadcastError>;

#[test]
#[ignore = "needs the cases that tests/numpy/run has NumPy make; run that"]
fn agrees_with_numpy() {
    let path =
        std::env::var_os("NUMPY_CASES").expect("NUMPY_CASES is the file of cases: run tests/numpy/run");
    let mut lines = BufReader::new(File::open(path).unwrap()).lines();
    let mut next = || lines.next().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let head = next().expect("a first line");
    let (mut tally, mut wrong) = (BTreeMap::<(String, bool), usize>::new(), vec![]);
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    for value in std::iter::from_fn(&mut next) {
        let case = Case::from(value.clone());
        *tally.entry((case.text("op").to_owned(), case.ok())).or_default() += 1;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&case))) {
            wrong.push((value, words(&*panic)));
        }
    }
    set_hook(hook);
    let count: usize = tally.values().sum();
    println!("{count} cases, seed {}, NumPy {}", head["seed"], head["numpy"]);
    for ((op, ok), count) in &tally {
        println!("    {op}: {count} {}", if *ok { "with results" } else { "refused" });
    }
    println!("{} mismatches", wrong.len());
    for (case, what) in wrong.iter().take(5) {
        println!("\n{what}\nin case {case}");
    }
    assert_eq!(head["cases"], count, "the file is whole");
    assert_eq!(tally.len(), 22, "each of 11 operations has results and is refused");
    assert!(wrong.is_empty(), "{} of {count} cases differ from NumPy", wrong.len());
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn check(case: &Case) {
    match case.text("op") {
        "broadcast_to" => to_target(case),
        "broadcast_arrays" => together(case),
        "broadcast_shapes" => shapes(case),
        "sum_axes" => sum_over(case),
        "sum_to" => sum_back(case),
        "maps" => passes(case),
        "broadcast_axes" => along(case),
        "broadcast_in_dim" => placed(case),
        "product" => product(case),
        "elementwise" => elementwise(case),
        "batch_views" => batch_views(case),
        op => panic!("unknown operation {op}"),
    }
}

/// The result, if NumPy has one too; else neither has.
#[track_caller]
fn agreed<T>(case: &Case, result: Outcome<T>) -> Option<T> {
    match result {
        Ok(value) => {
            assert!(case.ok(), "NumPy says {}", case.text("error"));
            Some(value)
        }
        Err(error) => {
            assert!(!case.ok(), "NumPy has a result, here it is {error:?}");
            None
        }
    }
}

/// Compares an array with one of the recorded results.
#[track_caller]
fn assert_result<D: Dimension>(array: &ArrayRef<i64, D>, expected: &Case) {
    assert_eq!(array.shape(), expected.shape("shape"));
    assert_elements(array, &expected.numbers("out"));
}

#[track_caller]
fn assert_view<D: Dimension>(array: &ArrayRef<i64, D>, expected: &Case) {
    assert_result(array, expected);
    assert_strides(array, &expected.numbers::<Option<i64>>("strides"));
}

/// The arrays of a list of descriptions.
fn layouts(case: &Case) -> Vec<Layout> {
    case.cases("operands").iter().map(layout_in).collect()
}

fn source(case: &Case) -> Layout {
    layout_in(&Case::from(case.get("source").clone()))
}

/// The array to write to.
fn onto(case: &Case) -> ArrayD<i64> {
    let layout = layout_in(&Case::from(case.get("onto").clone()));
    layout.steps_from(layout.base().clone())
}

fn to_target(case: &Case) {
    let (layout, target) = (source(case), case.numbers::<isize>("target"));
    let view = layout.view();
    let resolved = resolve_target(view.shape(), &target);
    let mut changed = view.clone();
    let in_place = changed.broadcast_in_place(&target);
    assert_eq!(in_place.clone().err(), resolved.clone().err());
    assert_eq!(view.clone().into_broadcast_to(&target).err(), resolved.clone().err());
    if target.iter().all(|&size| size >= 0) {
        let shape = view.broadcast_to_match_shape(&target);
        assert_eq!(shape.is_ok(), resolved.is_ok());
    }
    let by_rank = view_of_rank!(view.clone(), fixed => fixed.broadcast_to(&target).map(|v| v.to_owned()));
    assert_eq!(by_rank.as_ref().err(), resolved.as_ref().err());
    let Some(result) = agreed(case, view.broadcast_to(&target)) else { return };
    let expected = &case.cases("results")[0];
    assert_view(&result, expected);
    assert_view(&changed, expected);
    assert_result(&by_rank.unwrap(), expected);
    assert_result(&result.materialize(), expected);
    assert_eq!(resolved.as_deref(), Ok(result.shape()));
}

fn together(case: &Case) {
    let layouts = layouts(case);
    let views: Vec<ArrayViewD<'_, i64>> = layouts.iter().map(Layout::view).collect();
    let results = broadcast_views(&views);
    let several = match &views[..] {
        [x] => broadcast_arrays((x,)).map(|(x,)| vec![x]),
        [x, y] => {
            let (mut p, mut q) = (x.clone(), y.clone());
            let in_place = broadcast_to_match_in_place(&mut p, &mut q).map(|()| vec![p, q]);
            assert_eq!(in_place, results);
            assert_eq!(x.can_broadcast_to_match(y), results.is_ok());
            assert_eq!(broadcast_arrays((x, y)).map(|(x, y)| vec![x, y]), results);
            x.broadcast_to_match(y).map(|(x, y)| vec![x, y])
        }
        [x, y, z] => {
            let (mut p, mut q, mut r) = (x.clone(), y.clone(), z.clone());
            let in_place = broadcast_to_match3_in_place(&mut p, &mut q, &mut r).map(|()| vec![p, q, r]);
            assert_eq!(in_place, results);
            x.broadcast_to_match3(y, z).map(|(x, y, z)| vec![x, y, z])
        }
        [x, y, z, w] => broadcast_arrays((x, y, z, w)).map(|(x, y, z, w)| vec![x, y, z, w]),
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

fn shapes(case: &Case) {
    if let Some(joint) = agreed(case, broadcast_shapes(&case.rows::<usize>("shapes"))) {
        assert_eq!(joint, case.shape("joint"));
    }
}

fn sum_over(case: &Case) {
    let layout = source(case);
    let view = layout.view();
    let signed = case.get("signed").as_bool().unwrap();
    let both = |over: &dyn Fn() -> Outcome<(ArrayD<i64>, ArrayD<i64>)>| {
        if let Some((sum, kept)) = agreed(case, over()) {
            assert_result(&sum, &case.cases("results")[0]);
            assert_result(&kept, &case.cases("keepdims")[0]);
        }
    };
    if signed {
        let axes = AxisSet::from_signed(&case.numbers("axes"), view.ndim());
        both(&|| Ok((view.sum_axes(axes.clone()?)?, view.sum_axes_keepdims(axes.clone()?)?)));
    } else {
        let axes = case.shape("axes");
        both(&|| Ok((view.sum_axes(&axes)?, view.sum_axes_keepdims(&axes)?)));
        both(&|| Ok((view.par_sum_axes(&axes)?, view.par_sum_axes_keepdims(&axes)?)));
    }
}

fn sum_back(case: &Case) {
    let (layout, target) = (source(case), case.shape("target"));
    let (view, factor) = (layout.view(), case.get("factor").as_i64().unwrap());
    let fresh = || onto(case);
    let (mut total, mut added, mut scaled) = (fresh(), fresh(), fresh());
    let results = [
        view.sum_to_shape_into(&mut total),
        view.add_sum_to(&mut added),
        view.scaled_add_sum_to(factor, &mut scaled),
    ];
    let sums = [
        view.sum_to_shape(&target),
        view.sum_to_match(&fresh()),
        view.to_owned().into_sum_to_shape(&target),
        broadcast_map_sum_to(&view, &target, |&x| x),
    ];
    assert!(results.iter().all(|result| result.is_ok() == case.ok()));
    let reduced = agreed(case, reduction_axes(&target, view.shape()));
    for sum in sums {
        if let Some(sum) = agreed(case, sum) {
            assert_result(&sum, &case.cases("results")[0]);
        }
    }
    if case.ok() {
        assert_eq!(reduced, Some(case.shape("reduced")));
        assert_result(&total, &case.cases("results")[0]);
        assert_result(&added, &case.cases("added")[0]);
        assert_result(&scaled, &case.cases("scaled")[0]);
    } else {
        assert_eq!([total, added, scaled], [fresh(), fresh(), fresh()], "a refused sum changes nothing");
    }
}

fn passes(case: &Case) {
    let layouts = layouts(case);
    let [x, y, z] = [0, 1, 2].map(|i| layouts[i].view());
    let f = |x: &i64, y: &i64, z: &i64| x * y + z;
    if let Some(result) = agreed(case, broadcast_map((&x, &y, &z), f)) {
        assert_result(&result, &case.cases("results")[0]);
        assert_onto(case, |out| broadcast_apply(out, (&x, &y, &z), |out, x, y, z| *out = f(x, y, z)));
        {
            use ndarray_broadcast::{par_broadcast_apply, par_broadcast_map};
            assert_eq!(par_broadcast_map((&x, &y, &z), f), Ok(result));
            assert_onto(case, |out| par_broadcast_apply(out, (&x, &y, &z), |out, x, y, z| *out = f(x, y, z)));
        }
    }
}

/// Checks a pass into an array against NumPy's `out=`.
fn assert_onto(case: &Case, pass: impl Fn(&mut ArrayD<i64>) -> Outcome<()>) {
    let mut out = onto(case);
    let before = out.clone();
    let result = pass(&mut out);
    if case.get("applied").is_null() {
        assert!(result.is_err(), "NumPy refuses this output");
        assert_eq!(out, before);
    } else {
        result.expect("NumPy writes to this output");
        assert_result(&out, &case.cases("applied")[0]);
    }
}

fn along(case: &Case) {
    let (layout, target, axes) = (source(case), case.shape("target"), case.shape("axes"));
    let view = layout.view();
    assert_eq!(view.broadcast_like(&empty(&target), &axes), view.broadcast_axes(&target, &axes));
    if let Some(result) = agreed(case, view.broadcast_axes(&target, &axes)) {
        assert_view(&result, &case.cases("results")[0]);
    }
}

fn placed(case: &Case) {
    let (layout, target, axes) = (source(case), case.shape("target"), case.shape("axes"));
    if let Some(result) = agreed(case, layout.view().broadcast_in_dim(&target, &axes)) {
        assert_view(&result, &case.cases("results")[0]);
    }
}

/// One operation on bases in every form that the crate has: as a method, in place, on several threads and as a closure
/// with a signature, which all have to agree.
macro_rules! every_form {
    ($x:expr, $y:expr, $op:expr, $method:ident, $signature:literal, $closure:expr) => {{
        let (x, y, signature) = (&$x, &$y, Signature::literal($signature));
        let result = x.apply($op, y);
        assert_eq!(x.$method(y), result);
        assert_eq!(x.zip_map(y, signature, $closure), result);
        {
            assert_eq!(x.par_zip_map(y, signature, $closure), result);
            assert_eq!(x.par_apply($op, y), result);
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

fn product(case: &Case) {
    let layouts = layouts(case);
    let (x, y) = (layouts[0].view(), layouts[1].view());
    let (vector, matrix) = (|a| Batch::<_, _, Ix1>::new(a).unwrap(), |a| Batch::<_, _, Ix2>::new(a).unwrap());
    let result = match case.text("product") {
        "matvec" => every_form!(matrix(x), vector(y), base_op::MatVec, matvec, "(m,n),(n)->(m)", matvec),
        "vecmat" => every_form!(vector(x), matrix(y), base_op::VecMat, vecmat, "(n),(n,m)->(m)", vecmat),
        "matmul" => every_form!(matrix(x), matrix(y), base_op::MatMul, matmul, "(m,n),(n,p)->(m,p)", matmul),
        "inner" => {
            let inner = |x: Vector<'_>, y: Vector<'_>, mut out: ArrayViewMut0<'_, i64>| out[()] = dot(x, y);
            every_form!(vector(x), vector(y), base_op::Inner, inner, "(n),(n)->()", inner)
        }
        product => panic!("unknown product {product}"),
    };
    if let Some(result) = agreed(case, result) {
        assert_result(&result, &case.cases("results")[0]);
    }
}

fn elementwise(case: &Case) {
    let (layouts, bases) = (layouts(case), case.shape("bases"));
    let (x, y) = (layouts[0].view(), layouts[1].view());
    let (x, y) = (x.batch_dyn(bases[0]).unwrap(), y.batch_dyn(bases[1]).unwrap());
    let results = [x.add(&y), x.sub(&y), x.mul(&y)];
    assert_eq!(
        results,
        [x.par_apply(base_op::Add, &y), x.par_apply(base_op::Sub, &y), x.par_apply(base_op::Mul, &y)]
    );
    for (i, result) in results.into_iter().enumerate() {
        if let Some(result) = agreed(case, result) {
            assert_result(&result, &case.cases("results")[i]);
        }
    }
}

fn batch_views(case: &Case) {
    let (layouts, bases) = (layouts(case), case.shape("bases"));
    let (x, y) = (layouts[0].view(), layouts[1].view());
    let (x, y) = (x.batch_dyn(bases[0]).unwrap(), y.batch_dyn(bases[1]).unwrap());
    let pair = batch_broadcast(&x, &y);
    assert_eq!(can_batch_broadcast(&x, &y), pair.is_ok());
    let owned = |batch: Batch<'_, i64, IxDyn, IxDyn>| batch.into_view().to_owned();
    let views: Outcome<Vec<_>> =
        batch_broadcast_views(&[x.clone(), y.clone()]).map(|views| views.into_iter().map(owned).collect());
    assert_eq!(pair.clone().map(|(x, y)| vec![owned(x), owned(y)]), views);
    assert_eq!(batch_broadcast_all((&x, &y)).map(|(x, y)| vec![owned(x), owned(y)]), views);
    let Some((joint, other)) = agreed(case, pair) else { return };
    assert_eq!(joint.batch_shape(), case.shape("batch"));
    let wide = owned(joint.clone());
    assert_result(&wide, &case.cases("results")[0]);
    assert_result(&other.into_view(), &case.cases("results")[1]);
    assert_eq!(x.expand_batch(joint.batch_shape()).map(Batch::into_view), Ok(wide.view()));
    let back = &case.cases("back")[0];
    assert_result(&joint.sum_batch_to_match(&x).unwrap(), back);
    assert_result(&joint.sum_batch_to(x.batch_shape()).unwrap(), back);
    let mut sum = ArrayD::zeros(x.clone().into_view().raw_dim());
    joint.add_sum_batch_to(&mut sum).unwrap();
    assert_result(&sum, back);
}
