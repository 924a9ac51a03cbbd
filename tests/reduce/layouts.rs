//! How new sums lie in memory, blocks of several lengths, and windows that overlap.

use ndarray::{Array, Array1, ArrayView, ArrayView2, Axis, ShapeBuilder, s};
use ndarray_broadcast::{fused, keepdims, prelude::*};

/// The axes of a new array lie in memory in the order of the array's that was summed.
#[test]
fn new_sums_lie_as_their_array() {
    let delta = Array::<i32, _>::ones((2, 3, 4, 5));
    for (order, sums_of_the_first, sums_of_the_last) in [
        ([0, 1, 2, 3], [20, 5, 1], [12, 4, 1]),
        ([3, 2, 1, 0], [1, 5, 20], [1, 4, 12]),
        ([2, 0, 3, 1], [5, 1, 20], [1, 12, 4]),
    ] {
        let turned = delta.view().permuted_axes(order);
        for (axis, strides) in [(0, sums_of_the_first), (3, sums_of_the_last)] {
            let place = order.iter().position(|&own| own == axis).expect("one of the axes");
            let sums = turned.sum_axes(place).expect("an axis of the array");
            assert_eq!(sums.strides(), strides, "{order:?} over {place}");
            assert_eq!(sums, Array::from_elem(sums.raw_dim(), [2, 3, 4, 5][axis]));
        }
        // an axis of size 1 says nothing about the others, whatever its stride was
        for axis in 0..4 {
            let sums = turned.sum_axes(axis).expect("an axis of the array");
            let kept = turned.sum_axes(keepdims(axis)).expect("an axis of the array");
            assert_eq!(kept.index_axis(Axis(axis), 0).strides(), sums.strides(), "{order:?} over {axis}");
        }
        let same = turned.sum_to(&turned).expect("its own shape");
        assert_eq!((same.strides(), &same), (turned.strides(), &turned.to_owned()), "{order:?}");
    }
    // two axes remain
    let turned = delta.index_axis(Axis(0), 0).reversed_axes();
    assert_eq!(turned.sum_axes(1).expect("an axis of the array").strides(), [1, 5]);
    // an axis that repeats says nothing about the others, and equal strides neither
    let matrix = delta.slice(s![0, 0, .., ..]);
    let repeated = matrix.broadcast((3, 4, 5)).expect("a shape that it stretches to");
    assert_eq!(repeated.sum_axes(2).expect("an axis of the array").strides(), [4, 1]);
    assert_eq!(
        repeated.permuted_axes([2, 1, 0]).sum_axes(0).expect("an axis of the array").strides(),
        [3, 1]
    );
    let windows = ArrayView::from_shape((2, 3, 4).strides((1, 1, 5)), delta.as_slice().expect("in order"));
    let windows = windows.expect("elements of the slice");
    assert_eq!(windows.sum_axes(2).expect("an axis of the array").strides(), [3, 1]);
}

/// Blocks of three lengths in turn, of which a shorter one comes where a new partial sum begins.
#[test]
fn blocks_of_several_lengths() {
    let x = ndarray::Array4::from_shape_fn((60, 251, 7, 5), |(i, j, k, l)| {
        i64::try_from(i * 31 + j * 7 + k * 3 + l * l).expect("a small number") % 101
    });
    let x = x.slice(ndarray::s![.., ..250, .., ..]);
    let mut expected = ndarray::Array1::<i64>::zeros(7);
    for ((.., k, _), &element) in x.indexed_iter() {
        expected[k] += element;
    }
    assert_eq!(x.sum_axes([0, 1, 3]).expect("a sum"), expected);
    let doubled = fused(&x, |&x| 2 * x);
    assert_eq!(doubled.sum_axes([0, 1, 3]).expect("a sum"), expected * 2);
}

#[test]
fn windows_of_one_array() {
    for [windows, len] in [[1000, 5], [40, 31], [33, 2], [9, 30], [8, 200]] {
        let elements: Vec<i64> = (0..(windows + len - 1) as i64).map(|k| k * 40_503 % 101 - 50).collect();
        let view = ArrayView2::from_shape((windows, len).strides((1, 1)), &elements).unwrap();
        let weights = Array1::from_iter((0..len as i64).map(|k| k % 7 - 3));
        let by_window = |of: &dyn Fn(&[i64]) -> i64| elements.windows(len).map(of).collect::<Array1<i64>>();
        let weighted = fused((&view, &weights), |x, w| x * w).sum_axes(1).unwrap();
        assert_eq!(weighted, by_window(&|x| x.iter().zip(&weights).map(|(x, w)| x * w).sum()));
        assert_eq!(view.sum_axes(1).unwrap(), by_window(&|x| x.iter().sum()));
        assert_eq!(view.max_axes(1).unwrap(), by_window(&|x| *x.iter().max().unwrap()));
        assert_eq!(view.t().sum_axes(0).unwrap(), by_window(&|x| x.iter().sum()));
    }
}
