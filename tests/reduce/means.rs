//! Means: right or an error, for every type of numbers.

use ndarray::{Array1, Array2, array};
use ndarray_broadcast::{BroadcastError, ErrorKind, fused, keepdims, prelude::*};
use num_complex::Complex;
use num_traits::{FromPrimitive, Zero};
use std::fmt::Debug;
use std::num::Wrapping;
use std::ops::{Add, Div};

#[track_caller]
fn no_mean<A: Debug>(result: Result<A, BroadcastError>) {
    assert_eq!(result.expect_err("no mean").kind(), ErrorKind::NoMean);
}

#[test]
fn integers_hold_no_means() -> Result<(), BroadcastError> {
    macro_rules! none {
        ($($T:ty)*) => {$(
            no_mean(Array1::<$T>::ones(3).mean_axes(0));
            no_mean(Array2::<$T>::ones((3, 0)).mean_axes(1)); // by the type, whatever the elements
            no_mean(Array2::<$T>::ones((3, 0)).mean_axes(0));
            no_mean(Array1::<$T>::ones(3).par().mean_axes(keepdims(0)));
            let x = Array1::<$T>::ones(3);
            no_mean(fused(&x, |&x| x).mean_axes([]));
        )*};
    }
    none!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize i128 u128 Complex<i32>);
    no_mean(Array1::from_elem(3, Wrapping(7_u8)).mean_axes(0));
    assert_eq!(fused(&array![200_u8, 100], |&x| f64::from(x)).mean_axes(0)?.into_scalar(), 150.0);
    Ok(())
}

#[test]
fn floats_and_complex_numbers() -> Result<(), BroadcastError> {
    let x = array![[1.0_f32, 2.0, 6.0], [4.0, 4.0, 4.5]];
    assert_eq!(x.mean_axes(1)?, array![3.0, 12.5 / 3.0]);
    assert_eq!(x.mean_axes(keepdims((0, 1)))?, array![[21.5 / 6.0]]);
    assert_eq!(fused((&x, &array![1.0, 0.0, 2.0]), |x, w| x * w).par().mean_axes(0)?, array![2.5, 0.0, 10.5]);
    let z = array![Complex::new(1.0, 2.0), Complex::new(2.0, -2.0)];
    assert_eq!(z.mean_axes(0)?.into_scalar(), Complex::new(1.5, 0.0));
    no_mean(Array2::<f64>::zeros((0, 3)).mean_axes(0));
    no_mean(Array2::<f64>::zeros((0, 3)).mean_axes([0, 1]));
    assert_eq!(Array2::<f64>::zeros((0, 3)).mean_axes(1)?.len(), 0);
    Ok(())
}

/// A number that keeps `BITS` significant bits, up to `2^(LIMIT + 1)` as 16-bit floats do: more is infinite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Narrow<const BITS: i32, const LIMIT: i32>(f64);

impl<const BITS: i32, const LIMIT: i32> Narrow<BITS, LIMIT> {
    fn new(x: f64) -> Self {
        if x == 0.0 || !x.is_finite() {
            return Self(x);
        }
        let unit = 2_f64.powi(x.abs().log2().floor() as i32 + 1 - BITS);
        let rounded = (x / unit).round_ties_even() * unit;
        Self(if rounded.abs() >= 2_f64.powi(LIMIT + 1) { rounded.signum() * f64::INFINITY } else { rounded })
    }
}

impl<const BITS: i32, const LIMIT: i32> Add for Narrow<BITS, LIMIT> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.0 + other.0)
    }
}

impl<const BITS: i32, const LIMIT: i32> Div for Narrow<BITS, LIMIT> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::new(self.0 / other.0)
    }
}

impl<const BITS: i32, const LIMIT: i32> Zero for Narrow<BITS, LIMIT> {
    fn zero() -> Self {
        Self(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl<const BITS: i32, const LIMIT: i32> FromPrimitive for Narrow<BITS, LIMIT> {
    fn from_i64(n: i64) -> Option<Self> {
        Some(Self::new(n as f64))
    }
    fn from_u64(n: u64) -> Option<Self> {
        Some(Self::new(n as f64))
    }
    fn from_f64(n: f64) -> Option<Self> {
        Some(Self::new(n))
    }
}

type Half = Narrow<11, 15>;
type Brain = Narrow<8, 127>;

/// IEEE's half counts to 2048, then in steps of 2, and not past 65504; the other 16-bit float to 256.
#[test]
fn counts_that_a_type_does_not_have() -> Result<(), BroadcastError> {
    let half = |count: usize| Array1::from_elem(count, Half::new(1.0)).mean_axes(0);
    for count in [1, 2, 3, 1000, 2047, 2048, 2050, 4096, 4100, 65_472] {
        assert!((half(count)?.into_scalar().0 - 1.0).abs() <= 1.0 / 1024.0, "{count}");
    }
    for count in [2049, 2051, 4097, 4098, 4099, 5001, 65_535, 65_536, 70_000] {
        no_mean(half(count));
    }
    let brain = |count: usize| Array1::from_elem(count, Brain::new(3.0)).mean_axes(0);
    for count in [1, 255, 256, 258, 260, 1024] {
        assert!((brain(count)?.into_scalar().0 - 3.0).abs() < 0.05, "{count}");
    }
    for count in [257, 259, 261, 513, 514, 1025] {
        no_mean(brain(count));
    }
    Ok(())
}

/// Sums past the largest number, whose mean is a number.
#[test]
fn sums_that_overflow() -> Result<(), BroadcastError> {
    let mean = Array1::from_elem(1000, Half::new(100.0)).mean_axes(0)?.into_scalar().0;
    assert!((mean - 100.0).abs() < 0.3, "{mean}");
    // infinite partial sums of either sign are no number
    let both = Array1::from_shape_fn(1000, |i| Half::new(if i < 500 { 6e4 } else { -6e4 }));
    let mean = both.mean_axes(0)?.into_scalar().0;
    assert!(mean.abs() < 100.0, "{mean}");
    let large = array![[f64::MAX, f64::MAX], [1.0, 2.0]];
    assert_eq!(large.mean_axes(1)?, array![f64::MAX, 1.5]);
    assert_eq!(fused(&large, |&x| -x).mean_axes(keepdims(1))?, array![[-f64::MAX], [-1.5]]);
    // what is infinite or no number stays so, in its own lane
    let x = array![[f64::INFINITY, 1.0], [f64::NAN, 1.0], [f64::INFINITY, f64::NEG_INFINITY], [2.0, 4.0]];
    let means = x.mean_axes(1)?;
    assert!(means[0] == f64::INFINITY && means[1].is_nan() && means[2].is_nan());
    assert_eq!(means[3], 3.0);
    Ok(())
}
