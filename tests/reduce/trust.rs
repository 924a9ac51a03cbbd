//! What reductions must not trust: elements of unusual types, operations that lie, panic or call the crate again. Common types
//! have loops of their own, which a newtype must not get, and with which it must agree.
#![cfg_attr(
    not(feature = "rayon"),
    allow(dead_code, reason = "some types are compiled with all features only")
)]

use common::Lie::{C, F, Gap, Reversed, Rows, Second};
use ndarray::{Array1, Array2, ArrayD, Axis, IxDyn, array};
use ndarray_broadcast::{broadcast_map, fused, prelude::*};
use num_traits::Zero;
use std::cell::Cell;
use std::fmt::Debug;
use std::ops::Add;
use std::panic::{AssertUnwindSafe, catch_unwind};

macro_rules! newtypes {
    ($($(#[$attribute:meta])* $T:ident<$($l:lifetime)?>($A:ty) $zero:expr;)*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        #[allow(unused_parens, reason = "a reference, or nothing")]
        $(#[$attribute])*
        struct $T<$($l)?>($A, std::marker::PhantomData<($(&$l str)?)>);

        impl<$($l)?> Add for $T<$($l)?> {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0, self.1)
            }
        }

        impl<$($l)?> Zero for $T<$($l)?> {
            fn zero() -> Self {
                Self($zero, std::marker::PhantomData)
            }

            fn is_zero(&self) -> bool {
                self.0 == $zero
            }
        }
    )*};
}
newtypes! {
    #[repr(transparent)]
    Float<>(f32) 0.0;
    #[repr(transparent)]
    Double<>(f64) 0.0;
    #[repr(transparent)]
    Short<'a>(f32) 0.0;
    #[repr(align(64))]
    Line<>(f32) 0.0;
    #[repr(align(4096))]
    Page<>(f32) 0.0;
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
    for (shape, lie) in common::sample(5, all) {
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

const NO: std::marker::PhantomData<()> = std::marker::PhantomData;

#[test]
fn newtypes_have_the_bits_of_their_numbers() {
    #[allow(clippy::cast_possible_truncation, reason = "rounded numbers will do")]
    let of = |k| number(k) as f32;
    assert_bits(of, |x| Float(x, NO), |x| x.to_bits().into(), |x| x.0);
    #[cfg(feature = "rayon")]
    assert_bits(of, |x| Short(x, std::marker::PhantomData), |x| x.to_bits().into(), |x| x.0);
    #[cfg(feature = "rayon")]
    assert_bits(number, |x| Double(x, NO), |x| x.to_bits(), |x| x.0);
}

/// Sums of negative zeros alone.
#[test]
fn newtypes_have_the_zeros_of_their_numbers() {
    assert_bits(|_| -0.0_f32, |x| Float(x, NO), |x| x.to_bits().into(), |x| x.0);
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
    assert_naive(|k| Line((k % 8) as f32, NO));
    #[cfg(feature = "rayon")]
    assert_naive(|k| Page((k % 8) as f32, NO));
}

/// Numbers whose sum is not that of the number that they are in memory.
macro_rules! other_sums {
    ($($T:ident($A:ty): $add:expr, $zero:expr;)*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(transparent)]
        struct $T($A);

        impl Add for $T {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self($add(self.0, other.0))
            }
        }

        impl Zero for $T {
            fn zero() -> Self {
                Self($zero)
            }

            fn is_zero(&self) -> bool {
                self.0 == $zero
            }
        }
    )*};
}
other_sums! {
    Saturating(i32): i32::saturating_add, 0;
    Wrapping(i64): i64::wrapping_add, 0;
    Greatest(f32): f32::max, f32::NEG_INFINITY;
    Product(f64): std::ops::Mul::mul, 1.0;
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

/// A borrowed text: the sum is the greater one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Text<'a>(&'a str);

impl Add for Text<'_> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }
}

impl Zero for Text<'_> {
    fn zero() -> Self {
        Self("")
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
}

#[test]
fn elements_with_lifetimes() {
    let words: Vec<String> = (0..100).map(|n| format!("word {}", n * 37 % 100)).collect();
    assert_naive(|k| Text(&words[k % 100]));
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

/// Its zero is no zero, and is never said to be one; or each element is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Liar<const ALWAYS: bool>(i64);

impl<const ALWAYS: bool> Add for Liar<ALWAYS> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl<const ALWAYS: bool> Zero for Liar<ALWAYS> {
    fn zero() -> Self {
        Self(1000)
    }

    fn is_zero(&self) -> bool {
        ALWAYS
    }
}

#[test]
fn zeros_that_lie() {
    let code = |k: usize| i64::try_from(k % 91).expect("small");
    assert_naive(|k| Liar::<true>(code(k)));
    assert_naive(|k| Liar::<false>(code(k)));
}

/// Calls of the crate within closures of its calls.
#[test]
fn closures_that_call_the_crate() {
    let rows = if common::is_thorough() { 60 } else { 9 };
    let x = Array2::from_shape_fn((rows, 70), |(i, j)| i * 100 + j);
    let total = |n: usize| {
        let inner = fused((&x, &array![1]), |a, b| a * b).sum_axes(0).expect("an axis");
        let map = broadcast_map((&inner, &array![n]), |a, b| a % (b + 1)).expect("shapes that go together");
        map.t().max_axes(..).expect("elements").into_scalar()
    };
    let expected = x.map(|&n| total(n));
    assert_eq!(fused(&x, |&n| total(n)).sum_axes(1).expect("an axis"), expected.sum_axis(Axis(1)));
    assert_eq!(broadcast_map((&x, &array![0]), |&n, _| total(n)), Ok(expected));
    let op = |a: usize, b: usize| a.max(b) + total(1) - total(1);
    assert_eq!(x.reduce_axes(0, 0, op), x.max_axes(0));
    assert_eq!(x.par().reduce_axes(1, 0, op), x.max_axes(1));
}

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A plain number of bytes whose clones and sums panic when it is time to.
#[derive(Debug, PartialEq)]
struct Loud(u32);

fn count_down() {
    let left = LEFT.get();
    assert!(left > 0, "as asked for");
    LEFT.set(left - 1);
}

impl Clone for Loud {
    fn clone(&self) -> Self {
        count_down();
        Self(self.0)
    }
}

impl Add for Loud {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        count_down();
        Self(self.0.wrapping_add(other.0))
    }
}

impl Zero for Loud {
    fn zero() -> Self {
        Self(0)
    }

    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

/// After a panic, the source is as it was, and the output has elements that it had or that were stored.
#[test]
fn operations_that_panic() {
    for shape in [[50, 40], [40, 50], [2, 1500]] {
        let x = ArrayD::from_shape_fn(IxDyn(&shape), |_| Loud(3));
        let mut limit = 0;
        loop {
            let mut out = ArrayD::from_shape_fn(IxDyn(&shape[1..]), |_| Loud(7));
            LEFT.set(limit);
            let done = catch_unwind(AssertUnwindSafe(|| {
                drop(x.t().sum_axes(0));
                drop(fused((&x, &x), |a, b| a.clone() + b.clone()).sum_axes(1));
                x.assign_sum_to(&mut out).expect("the shape of the sum");
            }));
            LEFT.set(usize::MAX);
            let sum = 3 * u32::try_from(shape[0]).expect("small");
            assert!(x.iter().all(|x| x.0 == 3) && out.iter().all(|out| [7, sum].contains(&out.0)));
            if done.is_ok() {
                assert!(out.iter().all(|out| out.0 == sum));
                break;
            }
            limit = limit * 3 / 2 + 1;
        }
    }
}
