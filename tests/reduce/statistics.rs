//! Variances, and whether any or all elements are true: what the table of forms does not say.

use ndarray::{Array1, Array2, Axis, Zip, array, s};
use ndarray_broadcast::{BroadcastError, fused, keepdims, prelude::*};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Elements of several parts, each lane around another number, far from zero.
#[test]
fn variances_are_those_of_ndarray() -> Result<(), BroadcastError> {
    let x = Array2::from_shape_fn((300, 700), |(i, j)| {
        1e6 * (i + j % 7) as f64 + ((i * 31 + j * 17) % 101) as f64
    });
    for (axis, lanes) in [(0, x.var_axis(Axis(0), 1.0)), (1, x.var_axis(Axis(1), 1.0))] {
        let zero = array![0.0];
        let in_parts = fused((&x, &zero), |x, y| x + y);
        for found in
            [x.var_axes(axis, 1.0)?, in_parts.var_axes(axis, 1.0)?, in_parts.par().var_axes(axis, 1.0)?]
        {
            Zip::from(&found).and(&lanes).for_each(|a, b| assert!((a - b).abs() <= 1e-9 * b, "{a} and {b}"));
        }
        assert_eq!(x.par().var_axes(keepdims(axis), 1.0)?, x.var_axes(keepdims(axis), 1.0)?);
        assert_eq!(x.t().var_axes(1 - axis, 1.0)?, x.var_axes(axis, 1.0)?);
    }
    Ok(())
}

/// The axes of the result have the order in memory of the array's, as those of a sum.
#[test]
fn results_have_the_order_of_the_array() -> Result<(), BroadcastError> {
    let x = Array2::<f32>::zeros((3, 4)).insert_axis(Axis(0));
    let turned = x.view().permuted_axes([2, 0, 1]);
    assert_eq!(turned.var_axes(1, 0.0)?.strides(), turned.sum_axes(1)?.strides());
    Ok(())
}

/// As exact as a sum of so many terms: partial sums are added pairwise.
#[test]
fn variances_of_many_f32_are_exact() -> Result<(), BroadcastError> {
    let x = Array1::from_shape_fn(1 << 22, |i| (i % 2) as f32 * 0.2);
    let variance = x.var_axes(.., 0.0)?.into_scalar();
    assert!((variance - 0.01).abs() < 1e-8, "{variance}");
    Ok(())
}

#[test]
fn truth_values_of_arrays_are_those_of_iterators() -> Result<(), BroadcastError> {
    for len in [1, 7, 64, 4097, 200_000] {
        for at in [0, len / 2, len - 1] {
            let mut mask = Array1::from_elem(len, false);
            assert!(!mask.any_axes(..)?.into_scalar() && !mask.par().any_axes(0)?.into_scalar());
            mask[at] = true;
            let turned = mask.mapv(|holds| !holds);
            assert!(mask.any_axes(..)?.into_scalar() && mask.slice(s![..;-1]).any_axes(0)?.into_scalar());
            assert!(!turned.all_axes(0)?.into_scalar() && !turned.par().all_axes(..)?.into_scalar());
            assert!(
                !fused((&mask, &turned), |a, b| a & b).any()?
                    && fused((&mask, &turned), |a, b| a | b).all()?
            );
        }
    }
    let mask = Array2::from_shape_fn((500, 600), |(i, j)| (i * 600 + j) % 599 == 0);
    assert_eq!(mask.any_axes(0)?, mask.map_axis(Axis(0), |lane| lane.iter().any(|&holds| holds)));
    assert_eq!(mask.par().any_axes(1)?, mask.map_axis(Axis(1), |lane| lane.iter().any(|&holds| holds)));
    Ok(())
}

/// Halves that come after a decision are not visited, in every direction in memory; others are.
#[test]
fn decided_lanes_stop_early() -> Result<(), BroadcastError> {
    let (x, calls) = (Array2::from_elem((1000, 1000), 1.0), AtomicUsize::new(0));
    let positive = |x: &f64| {
        calls.fetch_add(1, Relaxed);
        *x > 0.0
    };
    assert!(fused(&x, positive).any_axes(0)?.iter().all(|&holds| holds));
    assert!(calls.swap(0, Relaxed) <= 1 << 16);
    assert!(fused(&x, positive).any()? && fused(&x, positive).par().any()?);
    assert!(calls.swap(0, Relaxed) <= 5 << 16);
    assert!(fused(&x, positive).all()?);
    assert!(calls.swap(0, Relaxed) >= 1_000_000);
    // one lane that is not decided is read to its end
    let (columns, factors) = (x.slice(s![.., ..2]), array![1.0, 0.0]);
    let lanes = fused((&columns, &factors), |x, y| positive(&(x * y)));
    assert_eq!(lanes.any_axes(0)?, array![true, false]);
    assert!(calls.load(Relaxed) >= 2000);
    Ok(())
}

/// One thread does not begin a half that could run on another one, once it does not matter.
#[test]
fn halves_that_have_not_begun_are_left_out() {
    let (x, calls) = (Array1::from_elem(1 << 22, true), AtomicUsize::new(0));
    let is_true = |x: &bool| {
        calls.fetch_add(1, Relaxed);
        *x
    };
    let any = || fused(&x, is_true).par().any();
    #[cfg(feature = "rayon")]
    let any = || rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(any);
    assert_eq!(any(), Ok(true));
    assert!(calls.load(Relaxed) <= 1 << 16);
}

/// Scaled, where a sum is too large; and a mean of numbers that are not finite.
#[test]
fn means_as_numbers_are_those_over_all_axes() -> Result<(), BroadcastError> {
    let x = array![f64::MAX, f64::MAX, f64::MAX / 2.0];
    assert_eq!(fused(&x, |x| *x).mean()?, x.mean_axes(..)?.into_scalar());
    assert_eq!(fused(&x, |x| x * 2.0).mean()?, f64::INFINITY);
    assert!(fused(&x, |x| x - f64::NAN).mean()?.is_nan());
    let ones = fused(&x, |_| 1_u8);
    assert_eq!(ones.mean().unwrap_err().kind(), ones.mean_axes(..).unwrap_err().kind());
    Ok(())
}
