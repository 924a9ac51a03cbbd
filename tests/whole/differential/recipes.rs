//! The guide's recipes, as they are written there, with NaN and infinities.

use super::{assert_near, texts};
use common::Case;
use half::bf16;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder, s};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, broadcast_map, fused, keepdims};

/// The functions are copies of those in the guide.
#[test]
fn the_guide_has_these_functions() {
    let (guide, file) = (include_str!("../../../src/guide/recipes.md"), include_str!("recipes.rs"));
    let (_, functions) = file.split_once("// Copies:\n\n").expect("the functions are last");
    let functions: Vec<&str> = functions.split("\n\n").map(str::trim_end).collect();
    for function in &functions {
        assert!(guide.contains(function), "the guide has another:\n{function}");
    }
    assert_eq!(functions.len(), 13);
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
        let positions = |found: Result<Array1<u32>, BroadcastError>, field: &str| {
            if case.get(field).is_null() {
                return assert!(found.is_err() || x.nrows() == 0, "{field} of no elements");
            }
            assert_eq!(found.unwrap().mapv(f64::from).to_vec(), texts::<f64>(case, field), "{field}");
        };
        positions(here!(argmax(&x)), "argmax");
        positions(here!(argmin(&x)), "argmin");
        let near = |found: Array1<f64>, field: &str| assert_near(found.iter(), &texts(case, field), field);
        if x.nrows() == 0 && x.ncols() > 0 {
            assert!(mean_and_variance(&x).is_err(), "no mean of no elements");
        } else {
            let (mean, variance) = here!(mean_and_variance(&x)).unwrap();
            near(mean, "mean");
            near(variance, "var");
            let moments = moments(&x).unwrap();
            near(moments.mapv(|(_, mean, _)| mean), "mean");
            near(moments.mapv(|(count, _, squares)| squares / count), "var");
        }
        near(here!(log_sum_exp(&x)).unwrap().remove_axis(Axis(1)), "logsumexp");
        near(here!(softmax(&x)).unwrap().flatten().to_owned(), "softmax");
    });
}

// Copies:

/// The mean and the variance of each column.
fn mean_and_variance(x: &ArrayRef2<f64>) -> Result<(Array1<f64>, Array1<f64>), BroadcastError> {
    let mean = x.mean_axes(keepdims(0))?;
    let variance = fused((x, &mean), |x, mean| (x - mean) * (x - mean)).mean_axes(0)?;
    Ok((mean.remove_axis(Axis(0)), variance))
}

type Moments = (f64, f64, f64); // how many, their mean, their squared deviations from it

/// The moments of two parts. The mean is weighted, which keeps an infinity of either part.
fn combine_moments(a: Moments, b: Moments) -> Moments {
    let (count, apart) = (a.0 + b.0, b.1 - a.1);
    let mean = a.1 * (a.0 / count) + b.1 * (b.0 / count);
    (count, mean, a.2 + b.2 + apart * apart * a.0 * (b.0 / count))
}

/// The moments of each column. A single number deviates by 0 * x from its mean: by 0, or NaN if it is infinite.
fn moments(x: &ArrayRef2<f64>) -> Result<Array1<Moments>, BroadcastError> {
    fused(x, |&x| (1.0, x, 0.0 * x)).reduce_axes(0, (0.0, 0.0, 0.0), combine_moments)
}

/// The position of the largest element of each row.
fn argmax(x: &ArrayRef2<f64>) -> Result<Array1<u32>, BroadcastError> {
    first_of(x, &x.max_axes(keepdims(1))?)
}

/// The position of the smallest element of each row.
fn argmin(x: &ArrayRef2<f64>) -> Result<Array1<u32>, BroadcastError> {
    first_of(x, &x.min_axes(keepdims(1))?)
}

/// The first position in each row of a NaN or of the row's extreme. Positions of 32 bits make the loop faster.
fn first_of(x: &ArrayRef2<f64>, extreme: &Array2<f64>) -> Result<Array1<u32>, BroadcastError> {
    let positions = Array1::from_iter(0..u32::try_from(x.ncols()).expect("fewer than 2^32 columns"));
    let found = |x: &f64, extreme: &f64, &at: &u32| if x == extreme || x.is_nan() { at } else { u32::MAX };
    fused((x, extreme, &positions), found).min_axes(1)
}

type Sum = (f64, f64); // the maximum, and the sum of exponentials relative to it

fn combine_sums(a: Sum, b: Sum) -> Sum {
    let (low, high) = if a.0 < b.0 { (a, b) } else { (b, a) };
    let scale = if low.0 == high.0 { 1.0 } else { f64::exp(low.0 - high.0) }; // two infinities are equal
    (high.0, high.1 + low.1 * scale)
}

fn sums(x: &ArrayRef2<f64>) -> Result<Array2<Sum>, BroadcastError> {
    fused(x, |&x| (x, 1.0)).reduce_axes(keepdims(-1), (f64::NEG_INFINITY, 0.0), combine_sums)
}

fn log_sum_exp(x: &ArrayRef2<f64>) -> Result<Array2<f64>, BroadcastError> {
    Ok(sums(x)?.mapv(|(max, sum)| max + sum.ln()))
}

fn softmax(x: &ArrayRef2<f64>) -> Result<Array2<f64>, BroadcastError> {
    // 0 * max is 0, or NaN if the maximum is infinite, as the results are then
    broadcast_map((x, &sums(x)?), |x, (max, sum)| f64::exp(x - max) / (sum + 0.0 * max))
}

/// The sum of each row, added in `f32`.
fn row_sums(x: &ArrayRef2<bf16>) -> Result<Array1<bf16>, BroadcastError> {
    Ok(fused(x, |x| x.to_f32()).sum_axes(1)?.mapv(bf16::from_f32))
}
