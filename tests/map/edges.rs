//! Size 0, no axes, many axes, elements without a size, and arrays larger than memory.

use common::kind;
use ndarray::{Array0, Array1, Array2, ArrayD, Dimension, IxDyn, arr0, array};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, broadcast_map_sum_to};

#[test]
fn nothing_to_visit() {
    let (none, one) = (Array2::<f64>::zeros((0, 3)), Array2::<f64>::zeros((1, 3)));
    let never = |_: &f64, _: &f64| -> f64 { panic!("there is no element") };
    assert_eq!(broadcast_map((&none, &one), never).unwrap().dim(), (0, 3));
    let mut out = Array2::<f64>::zeros((0, 3));
    broadcast_apply(&mut out, &one, |_, _| panic!("there is no element")).unwrap();
    assert_eq!(broadcast_map_sum_to((&none, &one), [3], never).unwrap(), array![0.0, 0.0, 0.0]);
    assert_eq!(broadcast_map_sum_to((&none, &one), [0, 3], never).unwrap().dim(), (0, 3));
    assert_eq!(one.broadcast_to((0, 3)).unwrap().materialize().dim(), (0, 3));
}

#[test]
fn no_axes() {
    let (a, b) = (arr0(2), arr0(3));
    let out: Array0<i32> = broadcast_map((&a, &b), |a, b| a * b).unwrap();
    assert_eq!(out, arr0(6));
    let mut out = out;
    broadcast_apply(&mut out, (&a,), |out, a| *out -= a).unwrap();
    assert_eq!(out, arr0(4));
    assert_eq!(broadcast_map_sum_to(&a, (), |a| a + 1).unwrap(), arr0(3));
    assert_eq!(a.materialize(), a);
}

#[test]
fn more_axes_than_fit_inline() {
    let shape = [2; 12];
    let a =
        ArrayD::from_shape_fn(IxDyn(&shape), |index| index.as_array_view().iter().fold(0, |n, i| 2 * n + i));
    let reversed = a.t();
    let out = broadcast_map((&a, &reversed), |a, b| a * 5000 + b).unwrap();
    assert!(out.indexed_iter().all(|(index, &x)| x == a[&index] * 5000 + reversed[&index]));
    let mut other = ArrayD::zeros(&shape[..]).reversed_axes();
    reversed.materialize_into(&mut other).unwrap();
    assert_eq!(other, reversed);
    let target: Vec<usize> = (0..12).map(|axis| 1 + axis % 2).collect();
    let sum = broadcast_map_sum_to((&a, &reversed), &*target, |a, b| a + b).unwrap();
    assert_eq!(sum.sum(), 4096 * 4095);
}

#[test]
fn elements_without_a_size() {
    let (a, b) = (Array2::from_elem((3, 1), ()), Array1::from_elem(70, ()));
    let mut calls = 0;
    let out = broadcast_map((&a, &b), |(), ()| calls += 1).unwrap();
    assert_eq!((out.dim(), calls), ((3, 70), 210));
}

#[test]
fn one_element_is_read_by_every_operand() {
    let mut a = Array2::from_shape_fn((3, 4), |(i, j)| i * 4 + j);
    let same = broadcast_map((&a, &a, a.view(), &a.t().t()), |a, b, c, d| [*a, *b, *c, *d]).unwrap();
    assert!(same.indexed_iter().all(|((i, j), x)| *x == [i * 4 + j; 4]));
    // a closure may keep what it has seen
    let mut seen = vec![];
    let row = array![0, 100, 200, 300];
    broadcast_apply(&mut a, &row, |a, row| {
        *a += row;
        seen.push(*a);
    })
    .unwrap();
    assert_eq!((seen.len(), seen.iter().sum::<usize>()), (12, 66 + 3 * 600));
}

#[test]
fn more_bytes_than_memory_can_hold() {
    let one = arr0(1_u64);
    let huge = one.broadcast_to([1_usize << 61]).unwrap();
    assert_eq!(kind(broadcast_map(&huge, |&x| x)), "TooLarge");
    assert_eq!(kind(broadcast_map((&huge, &one), |&x, _| x)), "TooLarge");
    let wide = one.broadcast_to([1_usize << 61, 1]).unwrap();
    assert_eq!(kind(broadcast_map_sum_to(wide, (1_usize << 61, 1), |&x| x)), "TooLarge");
    let taller = one.broadcast_to([4_usize, 1]).unwrap();
    assert_eq!(kind(broadcast_map((&huge, &taller), |&x, _| x)), "Overflow");
    let huge = one.broadcast_to([0, 1_usize << 61]).unwrap();
    assert_eq!(broadcast_map(&huge, |&x| x).map(|out| out.len()), Ok(0));
}
