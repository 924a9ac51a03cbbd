//! Means: right or an error, for every type of numbers.

use ndarray::{Array1, Array2, Array3, array};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, ErrorKind, fused, keepdims};
use num_complex::Complex;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::num::Wrapping;

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
    assert_eq!(x.mean_axes(..)?, ndarray::arr0(21.5 / 6.0));
    assert_eq!(ndarray::arr0(4.5).mean_axes(..)?, ndarray::arr0(4.5));
    assert_eq!(fused((&x, &array![1.0, 0.0, 2.0]), |x, w| x * w).par().mean_axes(0)?, array![2.5, 0.0, 10.5]);
    let z = array![Complex::new(1.0, 2.0), Complex::new(2.0, -2.0)];
    assert_eq!(z.mean_axes(0)?.into_scalar(), Complex::new(1.5, 0.0));
    no_mean(Array2::<f64>::zeros((0, 3)).mean_axes(0));
    no_mean(Array2::<f64>::zeros((0, 3)).mean_axes([0, 1]));
    assert_eq!(Array2::<f64>::zeros((0, 3)).mean_axes(1)?.len(), 0);
    Ok(())
}

/// Lanes of each length, as far as lengths have loops of their own, and NaN at several places.
#[test]
fn nan_is_kept() -> Result<(), BroadcastError> {
    for n in (1..=140).chain([255, 256, 257, 300]) {
        for at in [0, 1, n / 2, n - 1].into_iter().filter(|&at| at < n) {
            let mut x = Array2::from_shape_fn((3, n), |(i, j)| (i * 7 + j * 3 % 11) as f64);
            x[[1, at]] = f64::NAN;
            let y = x.mapv(|x| x as f32);
            for (top, low) in [
                (x.max_axes(1)?, x.min_axes(1)?),
                (x.t().max_axes(0)?, x.t().min_axes(0)?),
                (x.par().max_axes(1)?, x.par().min_axes(1)?),
                (fused(&x, |&x| x).max_axes(1)?, fused(&x, |&x| x).min_axes(1)?),
                (y.max_axes(1)?.mapv(f64::from), y.min_axes(1)?.mapv(f64::from)),
            ] {
                for (row, (&top, &low)) in top.iter().zip(&low).enumerate() {
                    assert_eq!((top.is_nan(), low.is_nan()), (row == 1, row == 1), "NaN at {at} of {n}");
                }
                assert_eq!(low[0], 0.0);
            }
            // along the columns only one has a NaN
            assert_eq!(x.max_axes(0)?.iter().filter(|x| x.is_nan()).count(), 1);
            assert!(x.max_axes([0, 1])?.into_scalar().is_nan());
        }
        let all = Array1::from_elem(n, f64::NAN);
        assert!(all.max_axes(0)?.into_scalar().is_nan() && all.min_axes(keepdims(0))?[0].is_nan());
    }
    Ok(())
}

/// NaN in the first element of some lanes, which are the first to be read.
#[test]
fn lanes_that_begin_with_nan() -> Result<(), BroadcastError> {
    let x =
        array![[f64::NAN, 1.0], [-5.0, -7.0], [f64::NAN, f64::NAN], [f64::NEG_INFINITY, f64::NEG_INFINITY]];
    let (top, low) = (x.max_axes(1)?, x.min_axes(1)?);
    assert!(top[0].is_nan() && top[2].is_nan() && low[0].is_nan() && low[2].is_nan());
    assert_eq!((top[1], top[3], low[1], low[3]), (-5.0, f64::NEG_INFINITY, -7.0, f64::NEG_INFINITY));
    let up = -&x;
    assert_eq!((up.max_axes(1)?[3], up.min_axes(1)?[1]), (f64::INFINITY, 5.0));
    Ok(())
}

#[test]
fn integers_at_their_limits() -> Result<(), BroadcastError> {
    let x = array![[i8::MIN, i8::MIN], [i8::MAX, i8::MIN], [0, -1]];
    assert_eq!((x.max_axes(1)?, x.min_axes(1)?), (array![-128, 127, 0], array![-128, -128, -1]));
    let x = array![[0_u64, u64::MAX], [5, 0]];
    assert_eq!((x.max_axes(0)?, x.min_axes(0)?), (array![5, u64::MAX], array![0, 0]));
    assert_eq!(array![[false, true], [false, false]].max_axes(1)?, array![true, false]);
    assert_eq!(array!['b', 'a'].max_axes(0)?.into_scalar(), 'b');
    Ok(())
}

/// A type of the caller's: elements with one key are equal, but not the same.
#[derive(Clone, Debug)]
struct Keyed {
    key: i32,
    lane: usize,
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.key.partial_cmp(&other.key)
    }
}

#[test]
fn ties_stay_in_their_lane() -> Result<(), BroadcastError> {
    for n in [1, 2, 9, 40] {
        let x = Array2::from_shape_fn((5, n), |(lane, j)| Keyed { key: (j * 3 % 7 % 5) as i32, lane });
        for found in
            [x.max_axes(1)?, x.min_axes(1)?, x.par().max_axes(1)?, fused(&x, Keyed::clone).min_axes(1)?]
        {
            assert!(found.iter().enumerate().all(|(lane, item)| item.lane == lane));
        }
        let top = (0..n).map(|j| (j * 3 % 7 % 5) as i32).max().expect("an element");
        assert!(x.max_axes(keepdims(-1))?.iter().all(|item| item.key == top));
    }
    let words = array![["pear", "fig"], ["apple", "plum"]].mapv(String::from);
    assert_eq!(words.max_axes(0)?, array!["pear", "plum"]);
    assert_eq!(words.min_axes([0, 1])?.into_scalar(), "apple");
    Ok(())
}

#[test]
fn no_elements_are_an_error() -> Result<(), BroadcastError> {
    let x = Array3::<f64>::zeros((2, 0, 3));
    for axes in [vec![1], vec![0, 1], vec![1, 2], vec![0, 1, 2]] {
        assert_eq!(x.max_axes(&axes).expect_err("no element").kind(), ErrorKind::NoElements);
        assert_eq!(x.par().min_axes(keepdims(&axes)).expect_err("no element").kind(), ErrorKind::NoElements);
        assert_eq!(fused(&x, |x| x + 1.0).max_axes(&axes).expect_err("none").kind(), ErrorKind::NoElements);
    }
    // without results, no result lacks elements
    for axes in [vec![], vec![0], vec![0, 2]] {
        assert_eq!(x.max_axes(&axes)?.len(), 0);
        assert_eq!(fused(&x, |x| x + 1.0).min_axes(keepdims(&axes))?.len(), 0);
    }
    assert_eq!(x.max_axes(3).expect_err("three axes").kind(), ErrorKind::AxisOutOfBounds);
    assert_eq!(
        Array2::<String>::default((0, 2)).max_axes(0).expect_err("none").kind(),
        ErrorKind::NoElements
    );
    Ok(())
}
