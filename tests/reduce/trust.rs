//! What reductions must not trust: elements of unusual types. Common types have loops of their own, which a newtype must not get,
//! and with which it must agree. Operations that give wrong results, panic or call the crate are in `tests/map/injected.rs`.
#![cfg_attr(
    not(feature = "rayon"),
    allow(dead_code, reason = "some types are compiled with all features only")
)]

use common::Lie::{C, F, Gap, Reversed, Rows, Second};
use ndarray::{Array1, Array2, ArrayD, Axis};
use ndarray_broadcast::{fused, prelude::*};
use num_traits::Zero;
use std::cell::Cell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Add;

/// Elements that the crate knows nothing of: their sum, their zero, and whether one is zero.
macro_rules! elements {
    ($($(#[$attribute:meta])* $T:ident $(<$l:lifetime>)? ($A:ty): $add:expr, $zero:expr, $is_zero:expr;)*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        $(#[$attribute])*
        struct $T $(<$l>)? ($A $(, PhantomData<&$l str>)?);

        impl $(<$l>)? Add for $T $(<$l>)? {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self($add(self.0, other.0) $(, PhantomData::<&$l str>)?)
            }
        }

        impl $(<$l>)? Zero for $T $(<$l>)? {
            fn zero() -> Self {
                Self($zero $(, PhantomData::<&$l str>)?)
            }

            fn is_zero(&self) -> bool {
                let is_zero: fn(&$A) -> bool = $is_zero;
                is_zero(&self.0)
            }
        }
    )*};
}
elements! {
    #[repr(transparent)]
    Float(f32): f32::add, 0.0, |&x| x == 0.0;
    #[repr(transparent)]
    Double(f64): f64::add, 0.0, |&x| x == 0.0;
    #[repr(transparent)]
    Short<'a>(f32): f32::add, 0.0, |&x| x == 0.0;
    #[repr(align(64))]
    Line(f32): f32::add, 0.0, |&x| x == 0.0;
    #[repr(align(4096))]
    Page(f32): f32::add, 0.0, |&x| x == 0.0;
    // whose sum is not that of the number that they are in memory
    #[repr(transparent)]
    Saturating(i32): i32::saturating_add, 0, |&x| x == 0;
    #[repr(transparent)]
    Wrapping(i64): i64::wrapping_add, 0, |&x| x == 0;
    #[repr(transparent)]
    Greatest(f32): f32::max, f32::NEG_INFINITY, |&x| x == f32::NEG_INFINITY;
    #[repr(transparent)]
    Product(f64): std::ops::Mul::mul, 1.0, |&x| x == 1.0;
    // whose zero is no zero, and is never said to be one; or each element is
    Never(i64): i64::add, 1000, |_| false;
    Always(i64): i64::add, 1000, |_| true;
    // a borrowed text: the sum is the greater one
    Text<'a>(&'a str): Ord::max, "", |x| x.is_empty();
}

/// Sums of a newtype around a float, as bits, and those of the float itself.
fn assert_bits<A, N>(of: fn(usize) -> A, wrap: fn(A) -> N, bits: fn(&A) -> u64, inner: fn(&N) -> A)
where
    A: Copy + Zero + PartialOrd,
    N: Copy + Zero + PartialOrd,
{
    let shapes: [&[usize]; 13] = [
        &[1],
        &[7],
        &[5000],
        &[3, 4],
        &[40, 33],
        &[33, 700],
        &[700, 33],
        &[2, 3, 4, 5],
        &[9, 17, 31],
        &[100, 2, 60],
        &[2, 100, 3, 40],
        &[70_000, 3],
        &[3, 200_000],
    ];
    let all = shapes.iter().flat_map(|shape| [C, F, Rows, Second, Reversed, Gap].map(|lie| (*shape, lie)));
    for (shape, lie) in common::sample(11, all) {
        let (numbers, wrapped) = (lie.array(shape, of), lie.array(shape, |k| wrap(of(k))));
        for set in 0..1 << shape.len() {
            let axes: Vec<usize> = (0..shape.len()).filter(|axis| set >> axis & 1 == 1).collect();
            let same = |a: ArrayD<A>, b: ArrayD<N>, what: &str| {
                assert_eq!(a.shape(), b.shape());
                let same = a.iter().zip(&b).all(|(a, b)| bits(a) == bits(&inner(b)));
                assert!(same, "{what} of {shape:?}, {lie:?}, over {axes:?}");
            };
            let known = "axes of the array";
            same(numbers.sum_axes(&axes).expect(known), wrapped.sum_axes(&axes).expect(known), "sums");
            let pair = fused((&numbers, &numbers), |&a, &b| a + b).sum_axes(&axes).expect(known);
            let of_wrapped = fused((&wrapped, &wrapped), |&a, &b| a + b).sum_axes(&axes).expect(known);
            same(pair, of_wrapped, "fused sums");
            if set > 0 {
                same(numbers.max_axes(&axes).expect(known), wrapped.max_axes(&axes).expect(known), "maxima");
            }
        }
    }
}

/// Numbers of either sign, most of them rounded when they are added, and some zeros of either sign.
#[allow(clippy::cast_precision_loss, reason = "rounded numbers will do")]
fn number(k: usize) -> f64 {
    match k.wrapping_mul(0x9E37_79B9) % 1009 {
        0 => 0.0,
        1 => -0.0,
        n => n as f64 * 0.37 - 150.0,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "rounded numbers will do")]
fn single(k: usize) -> f32 {
    number(k) as f32
}

#[test]
fn newtypes_have_the_bits_of_their_numbers() {
    assert_bits(single, Float, |x| x.to_bits().into(), |x| x.0);
}

#[cfg(feature = "rayon")]
#[test]
fn generic_newtypes_have_the_bits_of_their_numbers() {
    assert_bits(single, |x| Short(x, PhantomData), |x| x.to_bits().into(), |x| x.0);
}

#[cfg(feature = "rayon")]
#[test]
fn doubles_have_the_bits_of_their_numbers() {
    assert_bits(number, Double, |x| x.to_bits(), |x| x.0);
}

/// Sums of negative zeros alone.
#[test]
fn newtypes_have_the_zeros_of_their_numbers() {
    assert_bits(|_| -0.0_f32, Float, |x| x.to_bits().into(), |x| x.0);
}

/// Reductions against the naive ones.
fn assert_naive<A: Clone + Zero + PartialEq + Debug>(of: impl Fn(usize) -> A) {
    for shape in [[3, 4], [40, 33], [2, 3000], [3000, 2], [0, 3]] {
        for lie in [C, F, Rows, Second, Reversed, Gap] {
            let x = lie.array(&shape, &of).into_dimensionality::<ndarray::Ix2>().expect("two axes");
            for axis in 0..2 {
                let naive = x.map_axis(Axis(axis), |lane| {
                    let mut sum = None;
                    for element in lane {
                        let element = element.clone();
                        sum = Some(match sum {
                            None => element,
                            Some(sum) => sum + element,
                        });
                    }
                    sum.unwrap_or_else(A::zero)
                });
                assert_eq!(x.sum_axes(axis).as_ref(), Ok(&naive), "{shape:?} {lie:?}");
                assert_eq!(fused(&x, Clone::clone).sum_axes(axis), Ok(naive));
            }
        }
    }
}

#[test]
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn aligned_elements() {
    assert_naive(|k| Line((k % 8) as f32));
    #[cfg(feature = "rayon")]
    assert_naive(|k| Page((k % 8) as f32));
}

#[test]
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn newtypes_are_added_as_they_say() {
    assert_naive(|k| Saturating(i32::MAX / 20 + i32::try_from(k % 7).expect("small")));
    #[cfg(feature = "rayon")]
    assert_naive(|k| Wrapping(i64::MAX - i64::try_from(k % 7).expect("small")));
    assert_naive(|k| Greatest(-((k * 37 % 91) as f32)));
    #[cfg(feature = "rayon")]
    assert_naive(|k| Product([1.0, -1.0, -1.0][k % 3]));
}

#[test]
fn elements_with_lifetimes() {
    let words: Vec<String> = (0..100).map(|n| format!("word {}", n * 37 % 100)).collect();
    assert_naive(|k| Text(&words[k % 100], PhantomData));
    let x = Array2::from_shape_fn((100, 30), |(i, j)| &*words[(i * 7 + j) % 100]);
    let longest: Array1<&str> = {
        // an operand that does not live as long as the elements of the result
        let row = Array1::from_vec(vec![true; 30]);
        fused((&x, &row), |&x, _| x).reduce_axes(0, "", |a, b| if b > a { b } else { a }).expect("an axis")
    };
    assert_eq!(longest, x.map_axis(Axis(0), |lane| *lane.iter().max().expect("words")));
    assert_eq!(x.max_axes(0), Ok(longest));
}

thread_local! {
    static ALIVE: Cell<isize> = const { Cell::new(0) };
}

/// An element without bytes that is counted.
#[derive(Debug, PartialEq)]
struct Unit;

impl Unit {
    fn new() -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self
    }
}

impl Clone for Unit {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

impl Add for Unit {
    type Output = Self;

    fn add(self, _: Self) -> Self {
        Self::new()
    }
}

impl Zero for Unit {
    fn zero() -> Self {
        Self::new()
    }

    fn is_zero(&self) -> bool {
        true
    }
}

#[test]
fn elements_without_bytes_are_dropped() {
    assert_naive(|_| Unit::new());
    assert_eq!(ALIVE.get(), 0);
}

#[test]
fn zeros_that_lie() {
    let code = |k: usize| i64::try_from(k % 91).expect("small");
    assert_naive(|k| Always(code(k)));
    assert_naive(|k| Never(code(k)));
}
