//! How the result of a map lies in memory.

use ndarray::{Array2, Array3, ArrayBase, ArrayView2, Data, Dimension, ShapeBuilder, array};
use ndarray_broadcast::broadcast_map;
use ndarray_broadcast::prelude::*;

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
