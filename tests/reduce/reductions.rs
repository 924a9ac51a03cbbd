//! Reductions by other operations than addition, means, and sums that undo placed axes, against the naive model.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "tests"
)]

use common::{sample, scrambled};
use ndarray::{Array, Array1, Array2, ArrayD, Axis, ShapeBuilder, arr0, array, s};
use ndarray_broadcast::fused;
use ndarray_broadcast::{keepdims, prelude::*};

/// Around every length at which lanes are reduced in another way, adjacent and not.
#[test]
fn of_lanes() {
    const LENGTHS: [usize; 33] = [
        1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 41, 63, 64, 65, 127, 129, 1024, 1025, 2047, 2048,
        2049, 3072, 3073, 5000, 65_536, 65_537, 131_072, 150_000,
    ];
    for len in sample(4, LENGTHS) {
        let x = Array::from_shape_fn((3, len), |(i, j)| ((i * len + j) * 7919 % 10_007) as i64);
        for x in [x.view(), x.t().as_standard_layout().t()] {
            for x in [x.view(), x.slice(s![.., ..;-1]), x.slice(s![..;2, ..;2])] {
                let top = x.reduce_axes(1, i64::MIN, i64::max).unwrap();
                assert_eq!(top, x.map_axis(Axis(1), |lane| *lane.iter().max().unwrap()), "{len} elements");
                let bits = x.reduce_axes(-1, 0, |a, b| a ^ b).unwrap();
                assert_eq!(bits, x.fold_axis(Axis(1), 0, |a, b| a ^ b), "{len} elements");
            }
        }
    }
}

/// Around every number of rows and of columns that are combined at once, and more rows than a tile holds; in an array of
/// one block of rows, and of several.
#[test]
fn of_rows() {
    for (rows, columns) in [1, 7, 8, 9, 15, 16, 17, 25, 41, 70].into_iter().flat_map(|columns| {
        [2, 3, 29, 31, 32, 33, 37, 40, 63, 64, 65, 127, 128, 129, 300, 2100].map(move |rows| (rows, columns))
    }) {
        let x = Array::from_shape_fn((rows, columns), |(i, j)| ((i * columns + j) * 7919 % 10_007) as i64);
        for x in sample(2, [x.view(), x.slice(s![..;-1, ..;2]), x.t().as_standard_layout().t()]) {
            let top = x.reduce_axes(0, i64::MIN, i64::max).unwrap();
            let expected = x.map_axis(Axis(0), |lane| *lane.iter().max().unwrap());
            assert_eq!(top, expected, "({rows}, {columns})");
            let bits = x.reduce_axes(0, 0, |a, b| a ^ b).unwrap();
            assert_eq!(bits, x.fold_axis(Axis(0), 0, |a, b| a ^ b), "({rows}, {columns})");
            assert_eq!(
                x.reduce_axes([0, 1], 0, |a, b| a ^ b).unwrap().into_scalar(),
                bits.iter().fold(0, |a, b| a ^ b)
            );
            let twice = ndarray::stack![Axis(0), x, x.slice(s![..;-1, ..])];
            assert_eq!(twice.reduce_axes(1, 0, |a, b| a ^ b).unwrap(), ndarray::stack![Axis(0), bits, bits]);
        }
    }
}

/// `[]` names no axes and needs no annotation: each form gives the array itself.
#[test]
fn no_axes() {
    let x = array![[1, 5, 2], [3, 4, 6]];
    let same: Array2<i32> = x.sum_axes([]).unwrap();
    assert_eq!(same, x);
    assert_eq!(x.par().sum_axes([]), Ok(x.clone()));
    assert_eq!(x.sum_axes(keepdims([])), Ok(x.clone()));
    assert_eq!(x.par().sum_axes(keepdims([])), Ok(x.clone()));
    assert_eq!(x.reduce_axes([], 0, i32::max), Ok(x.clone()));
    assert_eq!(x.mapv(f64::from).mean_axes([]), Ok(x.mapv(f64::from)));
    assert_eq!(x.t().sum_axes([]), Ok(x.t().to_owned()));
    let wide = x.broadcast_to((2, 2, 3)).unwrap();
    assert_eq!(wide.sum_axes([]).unwrap(), wide);
    let dynamic = x.into_dyn();
    assert_eq!(dynamic.sum_axes([]).unwrap(), dynamic);
    assert_eq!(arr0(7).sum_axes([]), Ok(arr0(7)));
}

#[test]
fn largest_of_lanes_of_few_elements() {
    for (width, count) in (2..=40).flat_map(|width| [3, 8, 9, 70, 300].map(|count| (width, count))) {
        let x = Array2::from_shape_fn((count, width), |(i, j)| scrambled((i * width + j) as i64));
        // without gaps between lanes, and with them
        for x in [x.view(), x.slice(s![.., ..width - 1])] {
            let largest: Array1<i64> = x.rows().into_iter().map(|row| *row.iter().max().unwrap()).collect();
            assert_eq!(x.reduce_axes(1, i64::MIN, i64::max).unwrap(), largest, "{count} lanes of {width}");
            let floats = x.mapv(|x| x as f32).reduce_axes(1, f32::NEG_INFINITY, f32::max).unwrap();
            assert_eq!(floats, largest.mapv(|x| x as f32), "{count} lanes of {width}");
        }
    }
}

/// Small arrays, with results that fit into the buffer of the kernel or not, and that own memory.
#[test]
fn of_results_of_every_size() {
    for [m, n] in [[2, 900], [30, 60], [900, 2], [2, 100], [100, 2]] {
        let x = Array2::from_shape_fn((m, n), |(i, j)| scrambled((i * n + j) as i64));
        for to in [[m, 1], [1, n], [1, 1]] {
            let largest = Array2::from_shape_fn(to, |(i, j)| {
                let rows = if to[0] == 1 { 0..m } else { i..i + 1 };
                let columns = if to[1] == 1 { 0..n } else { j..j + 1 };
                *x.slice(s![rows, columns]).iter().max().unwrap()
            });
            let small = fused((&x,), |&x| x).reduce_to(to, i64::MIN, Ord::max).unwrap();
            assert_eq!(small, largest, "{m}x{n} to {to:?}");
            let eight = fused((&x,), |&x| [x; 8]).reduce_to(to, [i64::MIN; 8], Ord::max);
            assert_eq!(eight.unwrap(), largest.mapv(|x| [x; 8]), "{m}x{n} to {to:?}");
            let boxed = fused((&x,), |&x| Box::new(x)).reduce_to(to, Box::new(i64::MIN), Ord::max);
            assert_eq!(boxed.unwrap(), largest.mapv(Box::new), "{m}x{n} to {to:?}");
        }
    }
}

/// One that would change every result it is combined with.
#[test]
fn an_identity_is_the_result_where_there_is_no_element_and_else_unused() {
    let wrong = 1 << 40;
    for shape in
        [vec![3], vec![4, 5], vec![300, 7], vec![7, 300], vec![70, 60, 8], vec![2, 400_000], vec![3, 0, 2]]
    {
        let c_order = ArrayD::from_shape_fn(shape.clone(), |at| at[0] as i64 + 1);
        let f_order = ArrayD::from_shape_fn(shape.clone().f(), |at| at[0] as i64 + 1);
        for axes in [vec![], vec![0], vec![shape.len() - 1], (0..shape.len()).collect()] {
            let expected = c_order.sum_axes(&axes).unwrap();
            let reduced = axes.iter().any(|&axis| shape[axis] == 0);
            let expected = if reduced { expected.mapv(|_| wrong) } else { expected };
            for x in [&c_order, &f_order] {
                assert_eq!(
                    x.reduce_axes(&axes, wrong, |a, b| a + b).unwrap(),
                    expected,
                    "{shape:?} over {axes:?}"
                );
                assert_eq!(x.par().reduce_axes(&axes, wrong, |a, b| a + b).unwrap(), expected);
                let twice = fused((x, x), |x, y| x + y).reduce_axes(&axes, wrong, |a, b| a + b).unwrap();
                assert_eq!(twice, expected.mapv(|sum| if reduced { wrong } else { 2 * sum }));
            }
        }
    }
}
