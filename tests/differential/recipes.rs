//! The guide's recipes, as they are written there, with NaN and infinities.

use super::{assert_near, texts};
use common::Case;
use half::bf16;
use ndarray::{Array, Array1, Array2, ArrayRef2, ArrayView2, Axis, Dimension, Ix1, ShapeBuilder, arr0, s};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, broadcast_apply, broadcast_map, fused, keepdims};

/// The functions are copies of those in the guide.
#[test]
fn the_guide_has_these_functions() {
    let (guide, file) = (include_str!("../../src/guide/recipes.md"), include_str!("copies.rs"));
    let (_, functions) = file.split_once("// Copies:\n\n").expect("a heading");
    let functions: Vec<&str> = functions.split("\n\n").map(str::trim_end).collect();
    for function in &functions {
        assert!(guide.contains(function), "the guide has another:\n{function}");
    }
    assert_eq!(functions.len(), 12);
}

/// 1,000 terms of a type with 8 bits: the sum is rounded once.
#[test]
fn sums_of_16_bit_floats_are_added_in_f32() {
    let x = Array2::from_shape_fn((3, 1000), |(i, j)| {
        bf16::from_f32(0.1 + f32::from(u8::try_from((i * 7 + j * 3) % 11).expect("small")))
    });
    for (row, sum) in x.rows().into_iter().zip(row_sums(&x).unwrap()) {
        assert_eq!(sum, bf16::from_f64(row.iter().map(|x| x.to_f64()).sum()));
    }
    assert_eq!(row_sums(&x.slice(s![.., ..0])).unwrap(), Array1::from_elem(3, bf16::ZERO));
}

/// One array in several layouts.
fn in_layouts(x: &Array2<f64>, mut test: impl FnMut(ArrayView2<'_, f64>)) {
    test(x.view());
    let mut f_order = Array2::zeros(x.raw_dim().f());
    f_order.assign(x);
    test(f_order.view());
    test(x.slice(s![..;-1, ..;-1]).to_owned().slice(s![..;-1, ..;-1]));
    let mut wide = Array2::from_elem((2 * x.nrows(), 3 * x.ncols()), 7.0);
    let mut gaps = wide.slice_mut(s![..;2, ..;3]);
    gaps.assign(x);
    test(gaps.view());
}

pub(super) fn check(case: &Case) {
    let size = |axis: usize| case.shape("shape")[axis];
    let x = Array2::from_shape_vec((size(0), size(1)), texts(case, "values")).unwrap();
    in_layouts(&x, |x| {
        let positions = |found: Result<Array1<usize>, BroadcastError>, field: &str| {
            if case.get(field).is_null() {
                return assert!(found.is_err() || x.nrows() == 0, "{field} of no elements");
            }
            let found = found.unwrap().mapv(|at| f64::from(u32::try_from(at).unwrap()));
            assert_eq!(found.to_vec(), texts::<f64>(case, field), "{field}");
        };
        positions(here!(x.argmax_axes(1)), "argmax");
        positions(here!(x.argmin_axes(1)), "argmin");
        let near = |found: Array1<f64>, field: &str| assert_near(found.iter(), &texts(case, field), field);
        if x.nrows() == 0 && x.ncols() > 0 {
            assert!(x.mean_axes(0).is_err() && x.var_axes(0, 0.0).is_err(), "no mean of no elements");
        } else {
            near(x.mean_axes(0).unwrap(), "mean");
            near(here!(x.var_axes(0, 0.0)).unwrap(), "var");
            let moments = moments(&x).unwrap();
            near(moments.mapv(|(_, mean, _)| mean), "mean");
            near(moments.mapv(|(count, _, squares)| squares / count), "var");
        }
        near(here!(log_sum_exp(&x)).unwrap().remove_axis(Axis(1)), "logsumexp");
        near(log_sum_exp_once(&x).unwrap().remove_axis(Axis(1)), "logsumexp");
        near(here!(softmax(&x)).unwrap().flatten().to_owned(), "softmax");
        near(softmax_once(&x).unwrap().flatten().to_owned(), "softmax");
    });
}

/// Whether an array has the recorded numbers, or none where there are none.
fn assert_statistic<D: Dimension>(case: &Case, field: &str, found: Result<Array<f64, D>, BroadcastError>) {
    if case.get(field).is_null() {
        return assert!(found.is_err(), "{field} of too few elements");
    }
    assert_near(found.unwrap().iter(), &texts(case, field), field);
}

pub(super) fn statistics(case: &Case) {
    let size = |axis: usize| case.shape("shape")[axis];
    let x = Array2::from_shape_vec((size(0), size(1)), texts(case, "values")).unwrap();
    in_layouts(&x, |x| {
        let y = x.slice(s![..;-1, ..]);
        let mask = broadcast_map((&x, &y), |x, y| x > y).unwrap();
        assert_statistic(case, "columns", here!(x.var_axes(0, 0.0)));
        assert_statistic(case, "all", here!(x.var_axes([0, 1], 1.0)));
        assert_statistic(case, "roots", here!(x.std_axes(1, 0.0)));
        assert_statistic(case, "rows", here!(x.var_axes(keepdims(-1), 0.0)));
        assert_statistic(case, "root", here!(x.std_axes(.., 1.0)));
        assert_statistic(case, "samples", here!(x.std_axes(keepdims(-1), 1.0)));
        let both = |(mean, variance): (Array1<f64>, Array1<f64>)| mean.into_iter().chain(variance).collect();
        assert_statistic::<Ix1>(case, "moments", here!(x.mean_var_axes(0, 0.0)).map(both));
        assert_statistic(case, "apart", here!(fused((&x, &y), |x, y| x - y).var(0.0)).map(arr0));
        assert_statistic(case, "apart_root", here!(fused((&x, &y), |x, y| x - y).std(1.0)).map(arr0));
        let number = |holds: bool| f64::from(u8::from(holds));
        let numbers = |hold: Array1<bool>| hold.mapv(number);
        assert_statistic(case, "any", here!(mask.any_axes(-1)).map(numbers));
        assert_statistic(case, "every", here!(mask.all_axes(-1)).map(numbers));
        let any = here!(fused((&x, &y), |x, y| x > y).any()).unwrap();
        let all = here!(fused((&x, &y), |x, y| x > y).all()).unwrap();
        assert_eq!(here!(mask.any_axes([0, 1])).unwrap().into_scalar(), any);
        assert_eq!(here!(mask.all_axes(..)).unwrap().into_scalar(), all);
        let found = [any, any, all, all].map(number);
        let expected: Vec<f64> = texts(case, "total");
        assert_eq!(found[..expected.len()], expected[..]);
        let found = [
            here!(fused((&x, &y), |x, y| (x - y) * (x - y)).sum()),
            here!(fused((&x, &y), |x, y| (x - y) * (x - y)).mean()),
            here!(fused((&x, &y), |x, y| f64::abs(x - y)).max()),
            here!(fused((&x, &y), |x, y| f64::abs(x - y)).min()),
        ];
        let expected: Vec<f64> = texts(case, "distances");
        let found: Vec<f64> = found.into_iter().flatten().take(expected.len()).collect();
        assert_near(found.iter(), &expected, "distances");
    });
}

include!("copies.rs");
