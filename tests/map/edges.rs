//! Size 0, no axes, many axes, elements without a size, arrays larger than memory, and how the result lies in memory.

use common::kind;
use ndarray::{
    Array0, Array1, Array2, Array3, ArrayBase, ArrayD, ArrayView2, Data, Dimension, IxDyn, ShapeBuilder,
    arr0, array, s,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused};

#[test]
fn nothing_to_visit() {
    let (none, one) = (Array2::<f64>::zeros((0, 3)), Array2::<f64>::zeros((1, 3)));
    let never = |_: &f64, _: &f64| -> f64 { panic!("there is no element") };
    assert_eq!(broadcast_map((&none, &one), never).unwrap().dim(), (0, 3));
    let mut out = Array2::<f64>::zeros((0, 3));
    broadcast_apply(&mut out, &one, |_, _| panic!("there is no element")).unwrap();
    assert_eq!(fused((&none, &one), never).sum_to([3]).unwrap(), array![0.0, 0.0, 0.0]);
    assert_eq!(fused((&none, &one), never).sum_to([0, 3]).unwrap().dim(), (0, 3));
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
    assert_eq!(fused(&a, |a| a + 1).sum_to(()).unwrap(), arr0(3));
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
    let sum = fused((&a, &reversed), |a, b| a + b).sum_to(&*target).unwrap();
    assert_eq!(sum.sum(), 4096 * 4095);
}

#[test]
fn elements_without_a_size() {
    let (a, b) = (Array2::from_elem((3, 1), ()), Array1::from_elem(70, ()));
    let mut calls = 0;
    let out = broadcast_map((&a, &b), |(), ()| calls += 1).unwrap();
    assert_eq!((out.dim(), calls), ((3, 70), 210));
    // among operands of which short rows are copied
    let of = |width| Array2::from_shape_fn((100, width), |(i, j)| 7 * i + j);
    let (a, column, units) = (of(4), of(1), Array2::from_elem((100, 4), ()));
    let sums = broadcast_map((&a, &column, &a, &a, &units), |a, b, c, d, ()| a + b + c + d);
    assert_eq!(sums, Ok(&a * 3 + &column));
    // beside an output with gaps, which stay as they are
    let mut numbers = Array2::<usize>::zeros((20, 64));
    broadcast_apply(&mut numbers.slice_mut(s![.., ..;2]), &b.slice(s![..32]), |x, ()| *x += 1).unwrap();
    assert!(numbers.indexed_iter().all(|((_, j), &x)| x == 1 - j % 2));
}

/// Tiles of five operands: a fifth of the scratch is no whole number of elements.
#[test]
fn five_operands_with_gaps() {
    let x = Array2::from_shape_fn((4, 610), |(i, j)| f64::from(u16::try_from(i + j).unwrap()));
    let (x, row) = (x.slice(s![.., ..;2]), x.slice(s![0, ..;2]));
    let mut out = Array2::zeros((4, 305));
    broadcast_apply(&mut out, (&x, &x, &x, &x, &row), |out, a, b, c, d, e| *out = a + b + c + d + e).unwrap();
    assert_eq!(out, &x * 4.0 + row);
    // rows of a transposed array that are longer than a tile
    let (x, mut out) = (Array2::from_shape_fn((4000, 5), |(i, j)| 5 * i + j), Array2::zeros((5, 4000)));
    broadcast_apply(&mut out, (&x.t(),), |out, x| *out = x + 1).unwrap();
    assert_eq!(out, &x.t() + 1);
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
    let taller = one.broadcast_to([4_usize, 1]).unwrap();
    assert_eq!(kind(broadcast_map((&huge, &taller), |&x, _| x)), "Overflow");
    let huge = one.broadcast_to([0, 1_usize << 61]).unwrap();
    assert_eq!(broadcast_map(&huge, |&x| x).map(|out| out.len()), Ok(0));
}

fn strides<S: Data, D: Dimension>(array: &ArrayBase<S, D>) -> Vec<isize> {
    array.strides().to_vec()
}

#[test]
fn f_order_in_f_order_out() {
    let (a, b) = (Array2::<f64>::zeros((3, 4).f()), Array2::<f64>::zeros((3, 4).f()));
    let row = array![1.0, 2.0, 3.0, 4.0];
    assert_eq!(strides(&broadcast_map((&a, &b), |a, b| a + b).unwrap()), [1, 3]);
    assert_eq!(strides(&broadcast_map((&a, &row), |a, b| a + b).unwrap()), [1, 3]);
    assert_eq!(strides(&broadcast_map((&row, &a), |a, b| a + b).unwrap()), [1, 3]);
    assert_eq!(strides(&broadcast_map(&a, |a| a + 1.0).unwrap()), [1, 3]);
    // none has the joint shape
    let (a, b) = (Array3::<u8>::zeros((3, 4, 1).f()), Array3::<u8>::zeros((1, 4, 5).f()));
    assert_eq!(strides(&broadcast_map((&a, &b), |a, b| a + b).unwrap()), [1, 3, 12]);
    let dynamic = broadcast_map((&a.view().into_dyn(), &b), |a, b| a + b).unwrap();
    assert_eq!(strides(&dynamic), [1, 3, 12]);
}

#[test]
fn any_order_of_axes() {
    let a = Array3::<u8>::zeros((2, 3, 4)).permuted_axes([1, 2, 0]);
    assert_eq!(strides(&broadcast_map(&a, |a| a + 1).unwrap()), strides(&a));
    let mut backwards = a.view();
    backwards.invert_axis(ndarray::Axis(1));
    assert_eq!(strides(&broadcast_map((&backwards, &a), |a, b| a + b).unwrap()), strides(&a));
    let one = Array3::<u8>::zeros((3, 4, 1));
    assert_eq!(strides(&broadcast_map((&one, &a), |a, b| a + b).unwrap()), strides(&a));
}

#[test]
fn row_major_where_nothing_or_too_much_is_suggested() {
    let (c, f) = (Array2::<f64>::zeros((3, 4)), Array2::<f64>::zeros((3, 4).f()));
    assert_eq!(strides(&broadcast_map((&c, &f), |a, b| a + b).unwrap()), [4, 1]);
    assert_eq!(strides(&broadcast_map((&f, &c), |a, b| a + b).unwrap()), [4, 1]);
    let (row, column) = (array![1, 2, 3, 4], array![[1], [2], [3]]);
    assert_eq!(strides(&broadcast_map((&row, &column), |a, b| a + b).unwrap()), [4, 1]);
    let row = row.broadcast_to((3, 4)).unwrap();
    assert_eq!(strides(&broadcast_map(&row, |a| a + 1).unwrap()), [4, 1]);
    let windows = ArrayView2::from_shape((3, 4).strides((1, 1)), &[1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!(strides(&broadcast_map(&windows, |a| a + 1).unwrap()), [4, 1]);
}

#[test]
fn copies_are_standard() {
    let f = Array2::<f64>::zeros((3, 4).f());
    assert_eq!(strides(&f.materialize()), [4, 1]);
    assert_eq!(strides(&f.t().materialize()), [3, 1]);
}
