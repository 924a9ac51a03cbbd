//! Variances, and whether any or all elements are true: what the table of forms does not say.

use half::f16;
use ndarray::{Array1, Array2, Axis, Zip, array, s};
use ndarray_broadcast::bounds::StdElement;
use ndarray_broadcast::{BroadcastError, ErrorKind, fused, keepdims, prelude::*};
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

/// As exact as a sum of so many terms: partial sums are added pairwise, those of the parts of a closure's results too.
#[test]
fn variances_of_many_f32_are_exact() -> Result<(), BroadcastError> {
    let x = Array1::from_shape_fn(1 << 22, |i| (i * 7919 % 1009) as f32 / 1009.0);
    let exact = fused(&x, |&x| f64::from(x)).var(0.0)?;
    let turned = x.slice(s![..;-1]);
    for found in
        [x.var_axes(.., 0.0)?.into_scalar(), fused(&x, |x| *x).var(0.0)?, turned.par().var_axes(0, 0.0)?[()]]
    {
        assert!((f64::from(found) / exact - 1.0).abs() < 5e-7, "{found}, not {exact}");
    }
    Ok(())
}

/// Numbers that a type has, `base` + k `step` for small integers k, and the number of its digits. Sums of integers are exact.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    base: f64,
    step: f64,
    digits: i32,
}

/// Asserts that variances and deviations are off by so many times the distance to the next number at most, in every layout. The
/// deviation is a number, even where the variance, with `fits`, is none.
fn assert_spread<T: StdElement + Send + Sync>(numbers: Numbers, fits: bool, ks: &[i64]) {
    let n = ks.len() as i128;
    let sum: i128 = ks.iter().map(|&k| i128::from(k)).sum();
    let squares: i128 = ks.iter().map(|&k| i128::from(k) * i128::from(k)).sum();
    // a quotient of two exact integers, rounded once, in steps
    let of_ks = (n * squares - sum * sum) as f64 / (n * n) as f64;
    let off = |found: T, exact: f64, unit: f64| {
        let next = 2_f64.powi(exact.log2().floor() as i32 + 1 - numbers.digits);
        (found.to_f64().expect("a float") / unit - exact).abs() / next
    };
    let x = Array1::from_iter(
        ks.iter().map(|&k| T::from_f64(numbers.base + k as f64 * numbers.step).expect("a float")),
    );
    let (rows, columns) = (
        Array2::from_shape_fn((3, ks.len()), |(_, i)| x[i]),
        Array2::from_shape_fn((ks.len(), 5), |(i, _)| x[i]),
    );
    let wide = Array2::from_shape_fn((2 * ks.len(), 4), |(i, _)| x[i / 2]);
    let (part, ordered) =
        (wide.slice(s![..;-2, ..;2]), rows.t().as_standard_layout().into_owned().reversed_axes());
    let fits = fits && of_ks * numbers.step.powi(2) <= T::max_value().to_f64().expect("a float");
    let zero = T::zero();
    let found = [
        (rows.var_axes(1, zero), rows.std_axes(1, zero)),
        (columns.var_axes(0, zero), columns.std_axes(0, zero)),
        (ordered.par().var_axes(1, zero), ordered.par().std_axes(1, zero)),
        (part.var_axes(0, zero), part.std_axes(0, zero)),
        (fused(&columns, |x| *x).var_axes(0, zero), fused(&columns, |x| *x).std_axes(0, zero)),
        (fused(&rows, |x| *x).par().var_axes(1, zero), fused(&rows, |x| *x).par().std_axes(1, zero)),
    ];
    for (which, (variances, deviations)) in found.into_iter().enumerate() {
        for (variance, deviation) in
            variances.expect("variances").into_iter().zip(deviations.expect("deviations"))
        {
            if of_ks == 0.0 {
                assert!(
                    variance.is_zero() && deviation.is_zero(),
                    "{numbers:?}: equal elements, source {which}"
                );
                continue;
            }
            let off = (
                if fits { off(variance, of_ks, numbers.step * numbers.step) } else { 0.0 },
                off(deviation, of_ks.sqrt(), numbers.step),
            );
            assert!(
                off.0 <= 8.0 && off.1 <= 4.0,
                "{numbers:?}, {n} elements, source {which}: off by {off:?}"
            );
        }
    }
}

/// The bounds that the documentation has: of elements near zero, far from it, equal, huge and tiny.
#[test]
fn variances_are_off_by_a_few_numbers_at_most() {
    fn spreads<T: StdElement + Send + Sync>(digits: i32, far: f64, [tiny, huge]: [f64; 2]) {
        let lengths: &[usize] =
            if cfg!(debug_assertions) { &[1, 2, 3, 10, 100, 1000] } else { &[2, 3, 10, 100, 1000, 30_000] };
        for &len in lengths {
            for spread in [1, 2, 3, 100, 1000] {
                let ks: Vec<i64> = (0..len).map(|i| (i * i * 31 + i * 17 + len) as i64 % spread).collect();
                assert_spread::<T>(Numbers { base: 0.0, step: 0.125, digits }, true, &ks);
                assert_spread::<T>(Numbers { base: far, step: 1.0, digits }, true, &ks);
                // the squares leave the type
                for step in [tiny, huge] {
                    assert_spread::<T>(Numbers { base: 0.0, step, digits }, false, &ks);
                }
            }
        }
    }
    spreads::<f16>(11, 1024.0, [2_f64.powi(-13), 64.0]);
    spreads::<f32>(24, 2_f64.powi(23), [2_f64.powi(-120), 2_f64.powi(117)]);
    spreads::<f64>(53, 2_f64.powi(52), [1e-200_f64.log2().floor().exp2(), 2_f64.powi(1013)]);
}

/// A variance is held where it is a number of the type, though the sum of the squares is none, or the mean is rounded.
#[test]
fn variances_are_what_the_type_holds() -> Result<(), BroadcastError> {
    assert_eq!(array![1e16, 1e16 + 2.0].var_axes(0, 0.0)?.into_scalar(), 1.0);
    assert_eq!(array![1e16, 1e16 + 2.0].var_axes(0, 1.0)?.into_scalar(), 2.0);
    let large = Array1::from_shape_fn(4, |i| if i % 2 == 0 { 1.5e19_f32 } else { -1.5e19 });
    assert!((large.var_axes(0, 0.0)?.into_scalar() / 2.25e38 - 1.0).abs() < 1e-6);
    let turns = Array1::from_shape_fn(2000, |i| f16::from_f32(if i % 2 == 0 { 0.0 } else { 20.0 }));
    assert_eq!(turns.var_axes(0, f16::ZERO)?.into_scalar(), f16::from_f32(100.0));
    // beside lanes that are not finite, of zeros, and of ordinary numbers
    let x = array![
        [7e299, -7e299],
        [f64::NAN, 1.0],
        [f64::INFINITY, 1.0],
        [0.0, 0.0],
        [1.0, 3.0],
        [3e-200, 5e-200]
    ];
    let (variances, deviations) = (x.var_axes(1, 0.0)?, x.std_axes(1, 0.0)?);
    assert!(variances[0] == f64::INFINITY && variances[1].is_nan() && variances[2].is_nan());
    assert_eq!(variances.slice(s![3..]), array![0.0, 1.0, 0.0]);
    assert!((deviations[0] / 7e299 - 1.0).abs() < 1e-15 && deviations[1].is_nan() && deviations[2].is_nan());
    assert!(deviations.slice(s![3..5]) == array![0.0, 1.0] && (deviations[5] / 1e-200 - 1.0).abs() < 1e-15);
    Ok(())
}

#[test]
fn means_and_variances_are_those_of_both_calls() -> Result<(), BroadcastError> {
    let x = Array2::from_shape_fn((30, 70), |(i, j)| ((i * 31 + j * 17) % 101) as f32 * 0.1);
    for axis in [0, 1] {
        assert_eq!(x.mean_var_axes(axis, 1.0)?, (x.mean_axes(axis)?, x.var_axes(axis, 1.0)?));
        assert_eq!(x.par().mean_var_axes(keepdims(axis), 1.0)?, x.mean_var_axes(keepdims(axis), 1.0)?);
    }
    let error = array![1_u8].mean_var_axes(0, 0).unwrap_err();
    assert!(error.kind() == ErrorKind::NoMean && error.to_string().contains(".mean_var_axes(…)"), "{error}");
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

/// Shapes are checked before a closure is called, and a mean of no elements is an error before anything is divided.
#[test]
fn totals_check_shapes_first() {
    let (a, b) = (array![1, 2, 3], array![0, 1]);
    let quotients = fused((&a, &b), |x: &i32, y: &i32| x / y);
    assert_eq!(quotients.max().unwrap_err().kind(), ErrorKind::Incompatible);
    assert_eq!(quotients.par().min().unwrap_err().kind(), ErrorKind::Incompatible);
    let none = Array1::<Checked>::from_vec(vec![]);
    assert_eq!(fused(&none, |x| *x).mean().unwrap_err().kind(), ErrorKind::NoMean);
}

/// A number that panics where another one has no quotient or product, as checked floats do.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Checked(f64);

impl Checked {
    fn of(number: f64) -> Self {
        assert!(!number.is_nan(), "no number");
        Self(number)
    }
}

common::number_traits! {
    [] Checked, f64: Self::of, |x| x.0;
    Add Sub Mul Div Zero FromPrimitive
}

/// Whether a number is finite is asked without a product of zero and infinity. A type that is made of a float has its bits.
#[test]
fn statistics_of_checked_numbers() -> Result<(), BroadcastError> {
    let checked = |x: &Array2<f64>| x.mapv(Checked);
    let infinite = array![[f64::INFINITY, 1.0], [f64::MAX, f64::MAX], [3.0, 4.0]];
    assert_eq!(checked(&infinite).mean_axes(1)?, infinite.mean_axes(1)?.mapv(Checked));
    assert_eq!(fused(&checked(&infinite), |x| *x).mean()?, Checked(f64::INFINITY));
    for base in [0.0, 1e9, 1e18, 1e160] {
        let x = Array2::from_shape_fn((200, 90), |(i, j)| {
            base * (1.0 + ((i * 31 + j * 17) % 101) as f64 / 1e9) + (j % 3) as f64
        });
        for axis in [0, 1] {
            let bits = |x: Checked| x.0;
            assert_eq!(checked(&x).var_axes(axis, Checked(1.0))?.mapv(bits), x.var_axes(axis, 1.0)?);
            let (a, b) = (checked(&x), &x);
            assert_eq!(
                fused(&a, |x| *x).var_axes(axis, Checked(1.0))?.mapv(bits),
                fused(b, |x| *x).var_axes(axis, 1.0)?
            );
        }
    }
    Ok(())
}
