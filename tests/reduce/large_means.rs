//! Means of more elements than a type counts, means whose sum overflows, and means of infinities: real and complex.
#![allow(clippy::cast_precision_loss, reason = "the expected means are rounded")]

use half::{bf16, f16};
use ndarray::{Array, Array1, Array2, ArrayViewD, Axis, Dimension, arr0};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, ErrorKind, fused, keepdims};
use num_complex::Complex;
use num_traits::{FromPrimitive, ToPrimitive, Zero};
use proptest::prelude::*;
use std::fmt::Debug;
use std::ops::{Div, Mul};

type Result<T> = std::result::Result<T, BroadcastError>;

/// Numbers that have means.
trait Mean: Copy + Zero + Mul<Output = Self> + Div<Output = Self> + FromPrimitive + Send + Sync + Debug {}
impl<A> Mean for A where
    A: Copy + Zero + Mul<Output = A> + Div<Output = A> + FromPrimitive + Send + Sync + Debug
{
}

/// The mean of all elements in each form.
fn all_forms<A: Mean>(x: &ArrayViewD<'_, A>) -> Vec<Result<A>> {
    fn only<A: Copy, D: Dimension>(mean: Result<Array<A, D>>) -> Result<A> {
        mean.map(|mean| *mean.first().expect("a mean"))
    }
    vec![
        only(x.mean_axes(..)),
        only(x.mean_axes(keepdims(..))),
        only(x.mean_to(())),
        only(x.par().mean_axes(&(0..x.ndim()).collect::<Vec<_>>())),
        only(fused(x, |&x| x).mean_axes(..)),
        only(fused((x, &arr0(())), |&x, ()| x).par().mean_to(1)),
    ]
}

/// Asserts that each form has the mean, but for so many times the distance to the next number of this many digits.
#[track_caller]
fn assert_mean<A: Mean + ToPrimitive>(x: &ArrayViewD<'_, A>, digits: i32, expected: f64, times: f64) {
    for mean in all_forms(x) {
        let mean = mean.expect("a mean").to_f64().expect("a number");
        let next = expected.abs() * 2_f64.powi(1 - digits);
        assert!((mean - expected).abs() <= times * next, "mean of {:?}: {mean}, not {expected}", x.shape());
    }
}

/// Counts around each power of two, as far as the type's digits and its largest number have an influence.
#[test]
fn every_count_of_a_float_has_a_mean() {
    fn means<A: Mean + ToPrimitive>(digits: i32, powers: std::ops::Range<u32>, largest: f64) {
        for item in [1.0, 3.0, -0.375] {
            let one = arr0(A::from_f64(item).expect("a float"));
            for power in powers.clone() {
                for count in (1_usize << power).saturating_sub(3)..=(1 << power) + 3 {
                    if count == 0 || count as f64 > largest {
                        continue;
                    }
                    let x = one.broadcast_to(count).expect("a view").into_dyn();
                    assert_mean(&x, digits, item, 3.0);
                }
            }
        }
    }
    means::<f16>(11, 0..17, 65519.0);
    means::<bf16>(8, 0..12, f64::MAX);
    means::<f32>(24, 0..8, f64::MAX);
    means::<f64>(53, 0..8, f64::MAX);
}

/// Counts that `f32` rounds, one of them that of an image. One form each, because each takes a second in a debug build.
#[test]
fn counts_of_25_bits() -> Result<()> {
    let (item, z) = (arr0(0.5_f32), arr0(Complex::new(0.5_f32, -2.0)));
    let near = |mean: f32| (mean - 0.5).abs() < 1e-6;
    assert!(near(item.broadcast_to((1 << 24) + 1)?.mean_axes(0)?.into_scalar()));
    assert!(near(item.broadcast_to([4097, 4097])?.mean_to(())?.into_scalar()));
    let mean = z.broadcast_to((1 << 24) + 1)?.mean_axes(..)?.into_scalar();
    assert!((mean - z[()]).l1_norm() < 1e-5, "{mean}");
    Ok(())
}

/// IEEE's half has no number above 65504, to which 65519 is rounded.
#[test]
fn counts_that_a_type_does_not_have() {
    for count in [65_520, 65_536, 70_000, 1 << 20] {
        let (real, complex) = (arr0(f16::ONE), arr0(Complex::new(f16::ONE, f16::ONE)));
        let (x, z) =
            (real.broadcast_to(count).expect("a view"), complex.broadcast_to(count).expect("a view"));
        for mean in all_forms(&x.view().into_dyn()) {
            assert_eq!(mean.expect_err("no mean").kind(), ErrorKind::NoMean);
        }
        for mean in all_forms(&z.into_dyn()) {
            assert_eq!(mean.expect_err("no mean").kind(), ErrorKind::NoMean);
        }
        // the mend that the messages name
        let over = x.mean_axes(0).expect_err("no mean").to_string();
        assert!(over.contains("`fused(&x, |&x| f32::from(x)).mean_axes(…)`"), "{over}");
        let to = x.mean_to(()).expect_err("no mean").to_string();
        assert!(to.contains("`fused(&x, |&x| f32::from(x)).mean_to(…)`"), "{to}");
        let mean = fused(&x, |&x| f32::from(x)).mean_axes(0).expect("a mean of another type").into_scalar();
        assert!((mean - 1.0).abs() < 1e-6, "{mean}");
    }
}

/// The largest number is the mean of any number of itself.
#[test]
fn sums_that_overflow() -> Result<()> {
    for count in (1..=70).chain([127, 128, 129, 1000, 1023, 1025]) {
        for sign in [1.0, -1.0] {
            let x = Array1::from_elem(count, sign * f64::MAX).into_dyn();
            assert_mean(&x.view(), 53, sign * f64::MAX, 2.0);
            let x = Array1::from_elem(count, f16::from_f64(sign * 65504.0)).into_dyn();
            assert_mean(&x.view(), 11, sign * 65504.0, 2.0);
            let x = Array1::from_elem(count, bf16::from_f64(sign * 3e38)).into_dyn();
            // up to 64 elements are added one after the other
            assert_mean(&x.view(), 8, bf16::from_f64(sign * 3e38).to_f64(), 12.0);
            for item in [Complex::new(sign * f64::MAX, f64::MAX), Complex::new(0.0, sign * f64::MAX)] {
                for mean in all_forms(&Array1::from_elem(count, item).into_dyn().view()) {
                    let mean = mean?;
                    // an exact power of two before, because a norm would overflow
                    let error = (mean * 0.25 - item * 0.25).l1_norm() / (f64::MAX * 0.25);
                    assert!(error < 1e-15, "mean of {count} times {item}: {mean}");
                }
            }
        }
    }
    // infinite partial sums of either sign are no number
    let both = Array1::from_shape_fn(1000, |i| f16::from_f64(if i < 500 { 6e4 } else { -6e4 }));
    let mean = both.mean_axes(0)?.into_scalar().to_f64();
    assert!(mean.abs() < 100.0, "{mean}");
    let large = ndarray::array![[f64::MAX, f64::MAX], [1.0, 2.0]];
    assert_eq!(large.mean_axes(1)?, ndarray::array![f64::MAX, 1.5]);
    assert_eq!(fused(&large, |&x| -x).mean_to((2, 1))?, ndarray::array![[-f64::MAX], [-1.5]]);
    Ok(())
}

/// Finite sums of complex numbers, whose division overflows.
#[test]
fn quotients_of_complex_numbers() -> Result<()> {
    for count in [2, 3, 255, 256, 257, 1000, 1 << 14] {
        for power in [-100, -20, 0, 20, 60, 90, 103] {
            let item = Complex::new(2_f32.powi(power), -3.0 * 2_f32.powi(power));
            let item = arr0(item);
            for mean in all_forms(&item.broadcast_to(count)?.into_dyn()) {
                let error = (mean? * 2_f32.powi(-power) - Complex::new(1.0, -3.0)).l1_norm();
                assert!(error < 1e-5, "mean of {count} times {item}: off by {error}");
            }
        }
        // the square of 256 is infinite, whatever the elements
        for scale in [1.0, 1.0 / 256.0] {
            let item = arr0(Complex::new(f16::from_f64(3.0 * scale), f16::from_f64(-0.5 * scale)));
            for mean in all_forms(&item.broadcast_to(count)?.into_dyn()) {
                let mean = mean?;
                let (re, im) = (mean.re.to_f64() / scale, mean.im.to_f64() / scale);
                assert!((re - 3.0).abs() < 0.01 && (im + 0.5).abs() < 0.002, "mean of {count}: {mean:?}");
            }
        }
    }
    Ok(())
}

/// Numbers of any magnitude, of either sign.
fn numbers(largest: f64) -> impl Strategy<Value = f64> {
    let magnitude =
        prop_oneof![Just(largest), Just(0.0), Just(1.0), (0.0..1.0).prop_map(move |x| x * largest)];
    (magnitude, any::<bool>()).prop_map(|(x, negative)| if negative { -x } else { x })
}

proptest! {
    #![proptest_config(common::cases(200))]

    /// Against means of numbers that are scaled by a power of two, one part at a time.
    #[test]
    fn means_of_large_numbers(
        rows in 1_usize..5,
        items in prop::collection::vec((numbers(f64::MAX), numbers(f64::MAX)), 1..60),
        by_column in any::<bool>(),
    ) {
        let columns = items.len();
        let z = Array2::from_shape_fn((rows, columns), |(i, j)| {
            let (re, im) = items[(j + i) % columns];
            Complex::new(re, im)
        });
        let z = if by_column { z.t().as_standard_layout().reversed_axes().to_owned() } else { z };
        for (axis, count) in [(0, rows), (1, columns)] {
            let scaled = z.mapv(|z| z * 2_f64.powi(-70)).sum_axis(Axis(axis)).mapv(|sum| sum / count as f64);
            let (real, mean) = (z.mapv(|z| z.re).mean_axes(axis)?, z.mean_axes(axis)?);
            let fused = fused(&z, Complex::conj).par().mean_axes(keepdims(axis))?.remove_axis(Axis(axis));
            for (((mean, expected), real), fused) in mean.iter().zip(&scaled).zip(&real).zip(&fused) {
                let found = mean * 2_f64.powi(-70);
                // of terms that cancel, what rounding leaves
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * f64::MAX * 2_f64.powi(-70);
                prop_assert!(near(found.re, expected.re) && near(found.im, expected.im), "{mean}, not {expected}");
                prop_assert!(near(real * 2_f64.powi(-70), expected.re), "{real}, not {expected}");
                prop_assert!(near(fused.im * 2_f64.powi(-70), -expected.im), "{fused}, not {expected}");
            }
        }
    }

    /// The mean has the infinity or the NaN of its elements, wherever they are, beside numbers whose sum overflows.
    #[test]
    fn infinities_in_every_order(
        items in prop::collection::vec(
            prop::sample::select(vec![1.0, -2.5, f64::MAX, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]), 1..20,
        ),
        gaps in prop::collection::vec(0_usize..40, 20),
    ) {
        let spread = items.iter().zip(&gaps).flat_map(|(&item, &gap)| {
            std::iter::repeat_n(1.0, gap).chain([item])
        });
        let x = Array1::from_iter(spread).into_dyn();
        let has = |infinity: f64| items.contains(&infinity);
        let is_nan = items.iter().any(|x| x.is_nan()) || (has(f64::INFINITY) && has(f64::NEG_INFINITY));
        for mean in all_forms(&x.view()) {
            let mean = mean?;
            if is_nan {
                prop_assert!(mean.is_nan(), "{mean}");
            } else if has(f64::INFINITY) || has(f64::NEG_INFINITY) {
                prop_assert_eq!(mean, if has(f64::INFINITY) { f64::INFINITY } else { f64::NEG_INFINITY });
            } else {
                prop_assert!(mean.is_finite(), "{mean}");
            }
        }
        // a complex number with an infinite part has no other part of its own, as in NumPy
        let z = x.mapv(|x| Complex::new(x, 1.0));
        let is_finite = items.iter().all(|x| x.is_finite());
        for mean in all_forms(&z.view()) {
            prop_assert_eq!(mean?.re.is_finite(), is_finite);
        }
    }

    /// Elements that differ, against `f64`.
    #[test]
    fn narrow_floats(items in prop::collection::vec(-1000_i16..1000, 1..800), scale in 0_i32..3) {
        let expected = items.iter().map(|&item| f64::from(item)).sum::<f64>() / items.len() as f64;
        let largest = items.iter().map(|item| f64::from(item.abs())).fold(1.0, f64::max);
        let unit = 2_f64.powi(-2 * scale);
        let x = Array1::from_iter(items.iter().map(|&item| f16::from_f64(f64::from(item) * unit))).into_dyn();
        for mean in all_forms(&x.view()) {
            let mean = mean?.to_f64() / unit;
            // partial sums are rounded too
            prop_assert!((mean - expected).abs() <= largest * 2_f64.powi(-7), "{mean}, not {expected}");
        }
    }
}

/// Infinities and NaN stay in their own lane.
#[test]
fn lanes_of_infinities() -> Result<()> {
    let inf = f64::INFINITY;
    let x = ndarray::array![[inf, 1.0], [f64::NAN, 1.0], [inf, -inf], [2.0, 4.0], [1.0, inf], [-inf, -inf]];
    for means in [x.mean_axes(1)?, x.t().mean_axes(0)?, x.mean_axes(keepdims(1))?.remove_axis(Axis(1))] {
        assert!(means[0] == inf && means[1].is_nan() && means[2].is_nan());
        assert!(means[3] == 3.0 && means[4] == inf && means[5] == -inf);
    }
    let z = x.mapv(|x| Complex::new(x, 2.0)).mean_axes(1)?;
    assert_eq!(z[3], Complex::new(3.0, 2.0));
    Ok(())
}
