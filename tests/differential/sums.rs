//! Sums, means and other reductions, and the adjoints against PyTorch's autograd.

use super::{Outcome, agreed, assert_result, check, described, layouts, onto, recorded, source, texts};
use common::narrow::{Brain, Half};
use common::{Case, Strided};
use ndarray::{ArrayD, ArrayViewD, Ix0, Ix1, Ix2};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{AxisSet, broadcast_arrays, broadcast_map, fused, keepdims};
use num_complex::Complex;
use num_traits::FromPrimitive;
use num_traits::float::FloatCore;
use std::fmt::Debug;
use std::num::Wrapping;
use std::str::FromStr;

pub(super) fn over_axes(case: &Case) {
    let (layout, axes) = (source(case), &case.numbers::<isize>("axes"));
    let delta = layout.view();
    check(case, "results", here!(delta.sum_axes(axes)));
    check(case, "keepdims", here!(delta.sum_axes(keepdims(axes))));
}

pub(super) fn as_written(case: &Case) {
    let layout = source(case);
    let x = layout.view();
    if case.get("axes").is_null() {
        check(case, "results", here!(x.sum_axes(keepdims(-1))));
    } else if case.get("axes").is_string() {
        check(case, "results", here!(x.sum_axes(..)));
    } else {
        check(case, "results", here!(x.sum_axes([0, 2])));
        check(case, "keepdims", here!(x.sum_axes(keepdims([0, 2]))));
    }
}

pub(super) fn back(case: &Case) {
    let (layout, target) = (source(case), case.shape("target"));
    let (delta, shape, a) = (layout.view(), &target, case.get("factor").as_i64().unwrap());
    let x = onto(case);
    let (like, owned, y) = (x.clone(), delta.to_owned(), delta.clone());
    check(case, "results", here!(delta.sum_to(shape)));
    check(case, "results", here!(delta.sum_to(&like)));
    check(case, "results", here!(owned.clone().into_sum_to(shape)));
    check(case, "results", here!(owned.into_sum_to(&x)));
    let mut gradient = x.clone();
    check(case, "added", here!(delta.add_sum_to(&mut gradient)).map(|()| gradient));
    let mut gradient = x.clone();
    check(case, "scaled", here!(delta.scaled_add_sum_to(a, &mut gradient)).map(|()| gradient));
    let mut gradient = ArrayD::zeros(x.raw_dim());
    let squares = here!(fused((&delta, &y), |d, y| d * y).add_sum_to(&mut gradient));
    check(case, "squares", squares.map(|()| gradient));
    let x = &delta;
    check(case, "results", here!(x.sum_to(shape)));
}

pub(super) fn into_existing(case: &Case) {
    let (layout, mut sum) = (source(case), onto(case));
    let delta = layout.view();
    // A sum to a shape may also repeat the other way: what NumPy takes is compared, not what it refuses.
    let result = here!(delta.assign_sum_to(&mut sum));
    if case.ok() {
        check(case, "results", result.map(|()| sum));
    }
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
    let array = layout.map(|&x| float(x));
    let x = array.view();
    check(case, "keepdims", here!(x.mean_axes(keepdims(axes))));
    match case.get("written").as_str() {
        Some("first") => {
            check(case, "results", here!(x.mean_axes(0)));
            let array = layout.map(|&x| i32::try_from(x).expect("a small number"));
            let x = array.view();
            check(case, "results", here!(fused(&x, |&x| f64::from(x)).mean_axes(0)));
        }
        Some("last") => check(case, "results", here!(x.mean_axes(-1))),
        _ => check(case, "results", here!(x.mean_axes(axes))),
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
    let array = layout.map(|&x| small(x));
    let x = array.view();
    let last = case.get("last").as_bool().unwrap();
    let results = match case.text("reduce") {
        "max" if last => {
            let smallest = here!(x.min_axes(-1)).map(|smallest| -smallest);
            let turned = -&x;
            assert_eq!(turned.max_axes(-1).ok(), smallest.ok());
            assert_eq!(here!(x.min_axes(axes)), x.min_axes(-1));
            vec![here!(x.max_axes(-1)), here!(x.max_axes(axes))]
        }
        "max" => {
            let turned = -&x;
            assert_eq!(here!(x.min_axes(axes)).ok(), turned.max_axes(axes).map(|largest| -largest).ok());
            vec![here!(x.max_axes(axes)), x.max_axes(keepdims(axes)).and_then(|_| x.max_axes(axes))]
        }
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
        check(case, "results", result);
    }
}

pub(super) fn counts(case: &Case) {
    let layout = source(case);
    let array = layout.map(|x| x % 3 == 1);
    let mask = array.view();
    let (axes, x) = (&[0][..], layout.view());
    let f = |x: &i64, y: &i64| x * y;
    check(case, "results", here!(fused(&mask, |&m| usize::from(m)).sum_axes(0)));
    check(case, "results", here!(fused(&mask, |&m| usize::from(m)).sum_axes(axes)));
    let y = x.view();
    check(case, "products", here!(fused((&x, &y), f).sum_axes(axes)));
}

/// Numbers of one type as texts, among them NaN, infinities and the largest and smallest.
/// Largest and smallest elements, sums and means of special numbers; NaN equals NaN, and sums of integers wrap.
pub(super) fn special_numbers(case: &Case) {
    let axes = &case.numbers::<isize>("axes");
    macro_rules! of_type {
        ($A:ty, |$x:ident| $sum:expr, $mean:expr) => {{
            let $x = ArrayD::from_shape_vec(case.shape("shape"), texts::<$A>(case, "values")).unwrap();
            assert_texts(case, $x.max_axes(axes), "max");
            assert_texts(case, $x.par().min_axes(axes), "min");
            assert_texts(case, $sum, "sum");
            assert_texts(case, $mean, "mean");
        }};
    }
    macro_rules! of_integers {
        ($A:ty, $float:expr) => {
            of_type!($A, |x| x.mapv(Wrapping).sum_axes(axes).map(|sum| sum.mapv(|Wrapping(sum)| sum)), {
                assert!(x.mean_axes(axes).is_err(), "integers hold no means");
                fused(&x, |&x| $float(x)).mean_axes(axes)
            })
        };
    }
    match case.text("type") {
        "float64" => of_type!(f64, |x| x.sum_axes(axes), x.mean_axes(axes)),
        "float32" => of_type!(f32, |x| x.sum_axes(axes), x.mean_axes(axes)),
        "float16" => of_type!(Half, |x| x.sum_axes(axes), x.mean_axes(axes)),
        "bfloat16" => of_type!(Brain, |x| x.sum_axes(axes), x.mean_axes(axes)),
        "complex128" => special_complex_numbers::<f64>(case, axes),
        "complex64" => special_complex_numbers::<f32>(case, axes),
        "uint8" => of_integers!(u8, f64::from),
        "int64" => of_integers!(i64, float),
        other => panic!("unknown type {other}"),
    }
}

/// Sums and means of complex numbers, whose parts stand one after the other. Systems differ in the other part of a number
/// that has an infinite part.
fn special_complex_numbers<A>(case: &Case, axes: &[isize])
where
    A: FloatCore + FromPrimitive + FromStr<Err: Debug> + Into<Number> + Debug + Send + Sync,
{
    let complex = |field: &str| -> Vec<Complex<A>> {
        texts(case, field).chunks_exact(2).map(|parts| Complex::new(parts[0], parts[1])).collect()
    };
    let z = ArrayD::from_shape_vec(case.shape("shape"), complex("values")).unwrap();
    for (field, results) in [
        ("sum", [z.sum_axes(axes), fused(&z, |&z| z).par().sum_axes(axes)]),
        ("mean", [z.mean_axes(axes), fused(&z, |&z| z).par().mean_axes(axes)]),
    ] {
        for result in results {
            if case.get(field).is_null() {
                assert!(result.is_err(), "{field} is refused there");
                continue;
            }
            let (result, expected) = (result.unwrap(), complex(field));
            assert_eq!(result.len(), expected.len(), "{field}");
            for (found, expected) in result.iter().zip(expected) {
                let is_near = |found: A, expected: A| {
                    let (Number(found, equal), Number(expected, _)) = (found.into(), expected.into());
                    found == expected || (found - expected).abs() <= equal * (1.0 + expected.abs())
                };
                let near = is_near(found.re, expected.re) && is_near(found.im, expected.im);
                let neither = !found.is_finite() && !expected.is_finite();
                assert!(near || neither, "{field}: {found:?}, there {expected:?}");
            }
        }
    }
}

/// Compares with a recorded list of texts, or with null where the other system refuses.
#[track_caller]
fn assert_texts<A>(case: &Case, result: Outcome<ArrayD<A>>, field: &str)
where
    A: std::str::FromStr<Err: std::fmt::Debug> + Copy + PartialEq + Into<Number>,
{
    if case.get(field).is_null() {
        assert!(result.is_err(), "{field} is refused there");
        return;
    }
    let result = result.unwrap_or_else(|error| panic!("{field}: {error}"));
    let expected = texts::<A>(case, field);
    assert_eq!(result.len(), expected.len(), "{field}");
    for (&found, expected) in result.iter().zip(expected) {
        if found == expected {
            continue;
        }
        let (Number(found, equal), Number(expected, _)) = (found.into(), expected.into());
        let both_nan = found.is_nan() && expected.is_nan();
        let near = equal > 0.0 && (found - expected).abs() <= equal * expected.abs();
        assert!(both_nan || near, "{field}: {found}, there {expected}");
    }
}

/// A number as `f64`, and how much two of its type may differ, relatively.
struct Number(f64, f64);

macro_rules! numbers {
    ($($T:ty: |$x:ident| $value:expr, $equal:expr;)*) => {$(
        impl From<$T> for Number {
            fn from($x: $T) -> Self {
                Self($value, $equal)
            }
        }
    )*};
}
numbers! {
    f64: |x| x, 1e-15;
    f32: |x| f64::from(x), 1e-6;
    // other systems add in `f32`
    Half: |x| x.0, 1e-2;
    Brain: |x| x.0, 5e-2;
    u8: |x| f64::from(x), 0.0;
    i64: |x| float(x), 0.0;
}

pub(super) fn axis_sets(case: &Case) {
    let (axes, ndim) = (case.numbers::<isize>("axes"), case.size("ndim"));
    if let Some(set) = agreed(case, here!(AxisSet::from_signed(&axes, ndim))) {
        assert_eq!(set.as_slice(), case.shape("axes_in_set"));
    }
}

/// The same gradient in several ways, of a `delta`.
type Backward<'b> = dyn Fn(&ArrayViewD<'_, i64>) -> Vec<Outcome<ArrayD<i64>>> + 'b;

/// A view in every form that states it, and the sums that undo it.
pub(super) fn of_view(case: &Case) {
    let layouts = layouts(case);
    let x = layouts[0].view();
    let (target, axes) = (&case.shape("target"), &case.shape("axes"));
    let delta = case.ok().then(|| described(case, "delta"));
    let delta = delta.as_ref().map(Strided::view);
    let check = |forward: Outcome<ArrayD<i64>>, backward: &Backward<'_>| {
        let Some(forward) = agreed(case, forward) else { return };
        assert_result(&forward, &recorded(case, "results"));
        for gradient in backward(delta.as_ref().unwrap()) {
            assert_result(&gradient.unwrap(), &recorded(case, "gradients"));
        }
    };
    match case.text("form") {
        "right" => {
            let y = layouts[1].view();
            let shape = target;
            let back = |delta: &ArrayViewD<'_, i64>| {
                let (like, shape) = (&x, x.shape());
                let mut gradient = ArrayD::zeros(shape);
                here!(delta.add_sum_to(&mut gradient)).unwrap();
                vec![
                    here!(delta.sum_to(like)),
                    here!(delta.sum_to(shape)),
                    delta.par().sum_to(shape),
                    Ok(gradient),
                ]
            };
            check(here!(x.broadcast_to_match(&y)).map(|(x, _)| x.to_owned()), &back);
            check(here!(broadcast_arrays((&x, &y))).map(|(x, _)| x.to_owned()), &back);
            if case.ok() {
                check(here!(x.broadcast_to(shape)).map(|x| x.to_owned()), &back);
            }
        }
        "axes" => check(
            {
                let shape = target;
                here!(x.broadcast_axes(shape, axes)).map(|x| x.to_owned())
            },
            &|delta| vec![here!(delta.sum_axes(axes))],
        ),
        "in_dim" => check(
            {
                let shape = target;
                here!(x.broadcast_in_dim(shape, axes)).map(|x| x.to_owned())
            },
            &|delta| {
                let shape = x.shape();
                let mut gradient = ArrayD::zeros(shape);
                here!(delta.add_sum_in_dim_to(&mut gradient, axes)).unwrap();
                vec![here!(delta.sum_in_dim(shape, axes)), Ok(gradient)]
            },
        ),
        "batch" => {
            let base = case.size("base");
            let part = x.batch_dyn(base).unwrap();
            check(here!(part.expand_batch(target)).map(|part| part.into_view().to_owned()), &|delta| {
                let delta = delta.batch_dyn(base).unwrap();
                vec![here!(delta.sum_batch_to(part.batch_shape())), here!(delta.sum_batch_to(&part))]
            });
        }
        form => panic!("unknown form {form}"),
    }
}

/// A product of two or three operands that broadcast: gradients without the products.
pub(super) fn of_product(case: &Case) {
    let layouts = layouts(case);
    let (a, b) = (layouts[0].view(), layouts[1].view());
    let third = layouts.get(2).map(Strided::view);
    let forward = match &third {
        None => here!(broadcast_map((&a, &b), |a, b| a * b)),
        Some(c) => broadcast_map((&a, &b, c), |a, b, c| a * b * c),
    };
    let Some(forward) = agreed(case, forward) else { return };
    assert_result(&forward, &recorded(case, "results"));
    let delta = described(case, "delta");
    let delta = delta.view();
    let expected = case.cases("gradients");
    match &third {
        None => {
            let of_a = here!(fused((&delta, &b), |d, b| d * b).sum_to(&a));
            let of_b = fused((&delta, &a), |d, a| d * a).sum_to(b.raw_dim());
            assert_result(&of_a.unwrap(), &expected[0]);
            assert_result(&of_b.unwrap(), &expected[1]);
        }
        Some(c) => {
            for ((of, others), expected) in
                [(&a, (&b, c)), (&b, (&a, c)), (c, (&a, &b))].into_iter().zip(&expected)
            {
                let sum = fused((&delta, others.0, others.1), |d, x, y| d * x * y).sum_to(of.raw_dim());
                assert_result(&sum.unwrap(), expected);
            }
        }
    }
}

/// The gradients of a sum over batches, as the guide's chapter on batches derives them.
pub(super) fn of_batches(case: &Case) {
    let layouts = layouts(case);
    let (first, second) = (layouts[0].view(), layouts[1].view());
    let delta = case.ok().then(|| described(case, "delta"));
    let delta = delta.as_ref().map(Strided::view);
    macro_rules! compare {
        ($left:ident: $Left:ty, $right:ident: $Right:ty => $delta:ident: $Delta:ty; $forward:expr, $of_left:expr, $of_right:expr) => {{
            let ($left, $right) = (first.batch::<$Left>().unwrap(), second.batch::<$Right>().unwrap());
            let forward = || -> Outcome<ArrayD<i64>> { $forward };
            let Some(forward) = agreed(case, forward()) else { return };
            assert_result(&forward, &recorded(case, "results"));
            let $delta = delta.as_ref().unwrap().batch::<$Delta>().unwrap();
            let of_left = || -> Outcome<ArrayD<i64>> { $of_left };
            let of_right = || -> Outcome<ArrayD<i64>> { $of_right };
            let of_left = of_left().unwrap().batch::<$Left>().unwrap().sum_batch_to(&$left);
            let of_right = of_right().unwrap().batch::<$Right>().unwrap().sum_batch_to(&$right);
            let expected = case.cases("gradients");
            assert_result(&of_left.unwrap(), &expected[0]);
            assert_result(&of_right.unwrap(), &expected[1]);
        }};
    }
    match case.text("product") {
        "matvec" => compare!(m: Ix2, v: Ix1 => delta: Ix1;
            here!(m.matvec(&v)), here!(delta.outer(&v)), here!(delta.vecmat(&m))),
        "vecmat" => compare!(v: Ix1, m: Ix2 => delta: Ix1;
            here!(v.vecmat(&m)), here!(m.matvec(&delta)), here!(v.outer(&delta))),
        "matmul" => compare!(a: Ix2, b: Ix2 => delta: Ix2;
        here!(a.matmul(&b)), {
            let b = b.clone();
            here!(delta.matmul(&b.transpose()))
        }, {
            let a = a.clone();
            here!(a.transpose().matmul(&delta))
        }),
        "outer" => compare!(u: Ix1, v: Ix1 => delta: Ix2;
            here!(u.outer(&v)), here!(delta.matvec(&v)), here!(u.vecmat(&delta))),
        "inner" => compare!(u: Ix1, v: Ix1 => delta: Ix0;
            here!(u.inner(&v)), here!(v.mul(&delta)), here!(u.mul(&delta))),
        product => panic!("unknown product {product}"),
    }
}
