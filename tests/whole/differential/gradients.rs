//! The adjoints against PyTorch's autograd.

use super::{Outcome, agreed, assert_result, described, layouts, recorded};
use common::{Case, Layout};
use ndarray::{ArrayD, ArrayViewD, Ix0, Ix1, Ix2};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_arrays, broadcast_map, fused};

/// The same gradient in several ways, of a `delta`.
type Backward<'b> = dyn Fn(&ArrayViewD<'_, i64>) -> Vec<Outcome<ArrayD<i64>>> + 'b;

/// A view in every form that states it, and the sums that undo it.
pub(super) fn of_view(case: &Case) {
    let layouts = layouts(case);
    let x = layouts[0].view();
    let (target, axes) = (&case.shape("target"), &case.shape("axes"));
    let delta = case.ok().then(|| described(case, "delta"));
    let delta = delta.as_ref().map(Layout::view);
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
                delta.add_sum_to(&mut gradient).unwrap();
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
    let third = layouts.get(2).map(Layout::view);
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
            let of_a = here!(fused((&delta, &b), |d, b| d * b).sum_to(a.raw_dim()));
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
    let delta = delta.as_ref().map(Layout::view);
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
        here!(m.matvec(&v)), here!(delta.outer(&v)), {
            let m = m.clone();
            here!(m.transpose().matvec(&delta))
        }),
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
