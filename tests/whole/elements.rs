//! Sums of complex numbers, and of elements without a size. Every other type of elements is in `tests/random`; panics at each point,
//! and what is dropped then, are in `tests/map/injected.rs`.

use ndarray::array;
use ndarray_broadcast::prelude::*;
use num_complex::Complex;

#[test]
fn complex_numbers() {
    let delta = array![[Complex::new(1.0, 2.0), Complex::new(0.5, -1.0)]];
    assert_eq!(delta.sum_axes(1), Ok(array![Complex::new(1.5, 1.0)]));
    let mut out = array![[Complex::new(0.0, 1.0)]];
    assert_eq!(delta.scaled_add_sum_to(Complex::i(), &mut out), Ok(()));
    assert_eq!(out, array![[Complex::new(-1.0, 2.5)]]);
}

#[test]
fn more_than_memory_holds_of_nothing() {
    let many = array![0_u8];
    let many = many.broadcast_to((isize::MAX, 0)).expect("no element");
    assert_eq!(many.sum_to((1, 0)).map(|sum| sum.len()), Ok(0));
}
