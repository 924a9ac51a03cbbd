//! Sums, means and other reductions.

use super::{Outcome, agreed, assert_result, onto, recorded, source};
use common::{Case, Layout};
use ndarray::{ArrayD, ArrayViewD};
use ndarray_broadcast::{AxisSet, fused, reduction_axes};
use ndarray_broadcast::{keepdims, prelude::*};

pub(super) fn over_axes(case: &Case) {
    let (layout, axes) = (source(case), &case.numbers::<isize>("axes"));
    let delta = layout.view();
    let both = |results: Outcome<(ArrayD<i64>, ArrayD<i64>)>| {
        if let Some((sum, kept)) = agreed(case, results) {
            assert_result(&sum, &recorded(case, "results"));
            assert_result(&kept, &recorded(case, "keepdims"));
        }
    };
    let plain = || Ok((here!(delta.sum_axes(axes))?, here!(delta.sum_axes(keepdims(axes)))?));
    both(plain());
    let parallel = || Ok((delta.par().sum_axes(axes)?, delta.par().sum_axes(keepdims(axes))?));
    both(parallel());
}

pub(super) fn as_written(case: &Case) {
    let layout = source(case);
    let x = layout.view();
    let sums = if case.get("axes").is_null() {
        vec![here!(x.sum_axes(keepdims(-1)))]
    } else {
        vec![here!(x.sum_axes([0, 2])), here!(x.sum_axes(keepdims([0, 2])))]
    };
    for (sum, expected) in sums.into_iter().zip(["results", "keepdims"]) {
        if let Some(sum) = agreed(case, sum) {
            assert_result(&sum, &recorded(case, expected));
        }
    }
}

pub(super) fn back(case: &Case) {
    let (layout, target) = (source(case), case.shape("target"));
    let (delta, shape, factor) = (layout.view(), &target, case.get("factor").as_i64().unwrap());
    let x = onto(case);
    let (like, a) = (x.clone(), factor);
    let (mut total, mut gradient, mut scaled) = (x.clone(), x.clone(), x.clone());
    let mut results = vec![delta.assign_sum_to(&mut total), here!(delta.add_sum_to(&mut gradient))];
    let added = std::mem::replace(&mut gradient, scaled.clone());
    results.push(here!(delta.scaled_add_sum_to(a, &mut gradient)));
    scaled.assign(&gradient);
    let (y, owned) = (delta.clone(), delta.to_owned());
    let sums = [
        here!(delta.sum_to(shape)),
        here!(delta.sum_to(&like)),
        here!(owned.clone().into_sum_to(shape)),
        here!(owned.into_sum_to(&x)),
        fused(&delta, |&x| x).sum_to(shape),
        delta.par().sum_to(shape),
    ];
    assert!(results.iter().all(|result| result.is_ok() == case.ok()));
    let reduced = agreed(case, reduction_axes(&target, delta.shape()));
    for sum in sums {
        if let Some(sum) = agreed(case, sum) {
            assert_result(&sum, &recorded(case, "results"));
        }
    }
    let squares = here!(fused((&delta, &y), |d, y| d * y).sum_to(&x));
    if let Some(sum) = agreed(case, squares) {
        assert_result(&sum, &recorded(case, "squares"));
    }
    {
        let x = &delta;
        if let Some(sum) = agreed(case, here!(x.sum_to(shape))) {
            assert_result(&sum, &recorded(case, "results"));
        }
    }
    if case.ok() {
        assert_eq!(reduced, Some(case.shape("reduced")));
        assert_result(&total, &recorded(case, "results"));
        assert_result(&added, &recorded(case, "added"));
        assert_result(&scaled, &recorded(case, "scaled"));
    } else {
        assert_eq!([&total, &added, &scaled], [&x; 3], "a refused sum changes nothing");
    }
}

pub(super) fn into_existing(case: &Case) {
    let (layout, mut sum) = (source(case), onto(case));
    let (delta, before) = (layout.view(), sum.clone());
    // A sum to a shape may also repeat the other way: what NumPy takes is compared, not what it refuses.
    let result = here!(delta.assign_sum_to(&mut sum));
    if case.ok() {
        result.unwrap();
        assert_result(&sum, &recorded(case, "results"));
    } else if result.is_err() {
        assert_eq!(sum, before, "a refused sum changes nothing");
    }
}

/// The view of a layout over other elements.
fn mapped<A>(layout: &Layout, f: impl Fn(i64) -> A) -> (ArrayD<A>, impl Fn(&ArrayD<A>) -> ArrayViewD<'_, A>) {
    (layout.base().map(|&x| f(x)), |base: &ArrayD<A>| layout.view_of(base))
}

#[allow(clippy::cast_precision_loss, reason = "elements are small")]
fn float(x: i64) -> f64 {
    x as f64
}

/// -1 to 2, so that products are exact.
fn small(x: i64) -> f64 {
    float(x % 4 - 1)
}

pub(super) fn means(case: &Case) {
    let (layout, axes) = (source(case), &case.numbers::<isize>("axes"));
    let (base, view_of) = mapped(&layout, float);
    let x = view_of(&base);
    let mean = match case.get("written").as_str() {
        Some("first") => here!(x.mean_axes(0)),
        Some("last") => here!(x.mean_axes(-1)),
        _ => here!(x.mean_axes(axes)),
    };
    if let Some(mean) = agreed(case, mean) {
        assert_result(&mean, &recorded(case, "results"));
    }
    if let Some(mean) = agreed(case, here!(x.mean_axes(keepdims(axes)))) {
        assert_result(&mean, &recorded(case, "keepdims"));
    }
}

fn reduced<A: Copy>(
    x: &ArrayViewD<'_, A>,
    axes: &[isize],
    identity: A,
    op: impl Fn(A, A) -> A + Copy + Sync,
) -> Outcome<ArrayD<A>> {
    let result = here!(x.reduce_axes(axes, identity, op))?;
    let kept = here!(x.reduce_axes(keepdims(axes), identity, op))?;
    assert_eq!(kept.len(), result.len());
    Ok(result)
}

pub(super) fn reductions(case: &Case) {
    let (layout, axes) = (source(case), &case.numbers::<isize>("axes"));
    let (base, view_of) = mapped(&layout, small);
    let x = view_of(&base);
    let last = case.get("last").as_bool().unwrap();
    let results = match case.text("reduce") {
        "max" if last => {
            let (identity, op) = (f64::NEG_INFINITY, f64::max);
            vec![
                here!(x.reduce_axes(-1, f64::NEG_INFINITY, f64::max)),
                here!(x.reduce_axes(-1, identity, op)),
            ]
        }
        "max" => vec![reduced(&x, axes, f64::NEG_INFINITY, f64::max)],
        "prod" if last => {
            let (identity, op) = (1.0, |a: f64, b: f64| a * b);
            vec![here!(x.reduce_axes(-1, 1.0, |a, b| a * b)), here!(x.reduce_axes(-1, identity, op))]
        }
        "prod" => vec![reduced(&x, axes, 1.0, |a, b| a * b)],
        "any" => {
            let mask = x.map(|x| (x - 2.0).abs() < 0.5);
            vec![
                reduced(&mask.view(), axes, false, |a, b| a || b)
                    .map(|any| any.map(|&any| f64::from(u8::from(any)))),
            ]
        }
        op => panic!("unknown reduction {op}"),
    };
    for result in results {
        let Some(mut result) = agreed(case, result) else { continue };
        if layout.shape().contains(&0) && case.text("reduce") == "max" {
            assert!(result.iter().all(|&largest| largest == f64::NEG_INFINITY), "the identity");
            result.fill(-1.0);
        }
        assert_result(&result, &recorded(case, "results"));
    }
}

pub(super) fn counts(case: &Case) {
    let layout = source(case);
    let (base, view_of) = mapped(&layout, |x| x % 3 == 1);
    let mask = view_of(&base);
    let n = &mask.shape()[1..];
    let count = here!(fused(&mask, |&m| usize::from(m)).reduce_to(n, 0, |a, b| a + b)).unwrap();
    assert_result(&count, &recorded(case, "results"));
}

pub(super) fn axis_sets(case: &Case) {
    let (axes, ndim) = (case.numbers::<isize>("axes"), case.size("ndim"));
    if let Some(set) = agreed(case, here!(AxisSet::from_signed(&axes, ndim))) {
        assert_eq!(set.as_slice(), case.shape("axes_in_set"));
    }
}
