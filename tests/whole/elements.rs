//! Sums of every kind of element: numbers, big numbers, elements that own memory. Panics at each point, and
//! what is dropped then, are in `tests/map/injected.rs`.

use ndarray::{Array, Array2, array, s};
use ndarray_broadcast::{keepdims, prelude::*};
use num_complex::Complex;
use num_traits::Zero;
use std::ops::{Add, Mul};

/// Asserts sums of `[[1, 2, 3], [4, 5, 6]]` in elements made by `of`.
fn assert_sums<A: Clone + Zero + Mul<Output = A> + PartialEq + std::fmt::Debug>(of: impl Fn(u8) -> A) {
    let delta = array![[1, 2, 3], [4, 5, 6]].mapv(&of);
    for delta in
        [delta.clone(), delta.clone().reversed_axes().as_standard_layout().into_owned().reversed_axes()]
    {
        let columns = array![5, 7, 9].mapv(&of);
        assert_eq!(delta.sum_axes([0]), Ok(columns.clone()));
        assert_eq!(delta.sum_axes(1), Ok(array![6, 15].mapv(&of)));
        assert_eq!(delta.sum_axes([1, 0]).map(Array::into_scalar), Ok(of(21)));
        assert_eq!(delta.sum_axes(keepdims([1])), Ok(array![[6], [15]].mapv(&of)));
        assert_eq!(delta.sum_to((1, 3)), Ok(array![[5, 7, 9]].mapv(&of)));
        assert_eq!(delta.sum_to(&columns), Ok(columns.clone()));
        assert_eq!(delta.clone().into_sum_to(3), Ok(columns.clone()));
        assert_eq!(delta.clone().into_sum_to((2, 3)).as_ref(), Ok(&delta));
        let mut out = columns.clone();
        assert_eq!(delta.add_sum_to(&mut out), Ok(()));
        assert_eq!(out, array![10, 14, 18].mapv(&of));
        assert_eq!(delta.scaled_add_sum_to(of(3), &mut out), Ok(()));
        assert_eq!(out, array![25, 35, 45].mapv(&of));
        assert_eq!(delta.assign_sum_to(&mut out), Ok(()));
        assert_eq!(out, columns);
        assert_eq!(delta.slice(s![..0, ..]).sum_axes([0]), Ok(array![0, 0, 0].mapv(&of)));
    }
}

#[test]
fn numbers() {
    macro_rules! each {
        ($($T:ty)*) => {$( assert_sums(|n| num_traits::cast::<u8, $T>(n).expect("small")); )*};
    }
    each!(f32 i64 u8);
    #[cfg(feature = "rayon")]
    each!(f64 i8 i16 i32 u16 u32 u64);
    #[cfg(feature = "rayon")]
    assert_sums(|n| Complex::new(f32::from(n), 0.0));
    assert_sums(|n| Complex::new(f64::from(n), 0.0));
    let delta = array![[Complex::new(1.0, 2.0), Complex::new(0.5, -1.0)]];
    assert_eq!(delta.sum_axes(1), Ok(array![Complex::new(1.5, 1.0)]));
    let mut out = array![[Complex::new(0.0, 1.0)]];
    assert_eq!(delta.scaled_add_sum_to(Complex::i(), &mut out), Ok(()));
    assert_eq!(out, array![[Complex::new(-1.0, 2.5)]]);
}

/// A number of any size: its digits to the base 2^32, the lowest first, without zeros at the end.
#[derive(Clone, Debug, PartialEq)]
struct Big(Vec<u32>);

#[allow(clippy::cast_possible_truncation, reason = "digits are the low halves")]
impl Add for Big {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (mut digits, mut carry) = (vec![], 0);
        for i in 0..self.0.len().max(other.0.len()) {
            let digit = |digits: &[u32]| u64::from(digits.get(i).copied().unwrap_or(0));
            carry += digit(&self.0) + digit(&other.0);
            digits.push(carry as u32);
            carry >>= 32;
        }
        if carry > 0 {
            digits.push(carry as u32);
        }
        Big(digits)
    }
}

impl Mul for Big {
    type Output = Self;
    /// By adding again and again: factors are small here.
    fn mul(self, other: Self) -> Self {
        let times = self.0.first().copied().unwrap_or(0);
        (0..times).fold(Big::zero(), |product, _| product + other.clone())
    }
}

impl Zero for Big {
    fn zero() -> Self {
        Big(vec![])
    }
    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
}

#[test]
fn big_numbers() {
    assert_sums(|n| if n == 0 { Big::zero() } else { Big(vec![n.into()]) });
    // 10 times 2^64 - 1 carries into a third digit
    let delta = Array2::from_elem((5, 2), Big(vec![u32::MAX, u32::MAX]));
    let sum = delta.sum_axes([0, 1]).map(Array::into_scalar);
    assert_eq!(sum, Ok(Big(vec![u32::MAX - 9, u32::MAX, 9])));
}

#[test]
fn more_than_memory_holds_of_nothing() {
    let many = array![0_u8];
    let many = many.broadcast_to((isize::MAX, 0)).expect("no element");
    assert_eq!(many.sum_to((1, 0)).map(|sum| sum.len()), Ok(0));
}
