//! Sums over short lanes of operands of which one is read again and again, as in distances: it is copied for them.

use ndarray::{Array1, Array4, ArrayD, ArrayView2, Axis, ShapeBuilder, s};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{fused, keepdims};

/// Batches, points of either operand, and coordinates. In the last three, lanes are too long or rows are too short for copies.
const SHAPES: [[usize; 4]; 11] = [
    [1, 9, 40, 2],
    [1, 50, 33, 7],
    [1, 8, 50, 31],
    [1, 100, 16, 13],
    [3, 20, 30, 4],
    [20, 8, 12, 6],
    [2, 9, 500, 2],
    [1, 10, 110, 20],
    [2, 40, 7, 9],
    [2, 7, 40, 9],
    [2, 10, 40, 32],
];

/// Small whole numbers: in standard layout, every second of them, and reversed in another order.
fn layouts(shape @ [batch, n, m, d]: [usize; 4]) -> [Array4<i64>; 3] {
    let of = |shape: [usize; 4]| {
        let mut k = 0;
        Array4::from_shape_simple_fn(shape, || {
            k += 40_503;
            k % 13 - 6
        })
    };
    let mut reversed = of([d, m, n, batch]).reversed_axes();
    reversed.invert_axis(Axis(3));
    [of(shape), of([batch, n, m, 2 * d]).slice_move(s![.., .., .., ..;2]), reversed]
}

#[test]
fn operands_of_all_layouts() {
    for shape @ [batch, n, m, d] in SHAPES {
        let weights: Array1<i64> = (0..d as i64).map(|k| k % 5 - 1).collect();
        let pairs = layouts([batch, n, 1, d]).into_iter().zip(layouts([batch, 1, m, d]));
        let (first, second): (Vec<_>, Vec<_>) = pairs.unzip();
        for (x, y) in common::sample(4, first.iter().flat_map(|x| second.iter().map(move |y| (x, y)))) {
            let all = ArrayD::from_shape_fn(&shape[..], |at| {
                let difference = x[[at[0], at[1], 0, at[3]]] - y[[at[0], 0, at[2], at[3]]];
                difference * difference * weights[at[3]]
            });
            let narrow = y.mapv(|y| y as f32);
            for axes in [&[3][..], &[1, 3], &[2, 3], &[0, 3], &[0, 1, 2, 3]] {
                let expected = axes
                    .iter()
                    .fold(all.clone(), |sum, &axis| sum.sum_axis(Axis(axis)).insert_axis(Axis(axis)));
                let weighted = fused((x, y, &weights), |x, y, w| (x - y) * (x - y) * w);
                assert_eq!(
                    weighted.sum_axes(keepdims(axes)).unwrap().into_dyn(),
                    expected,
                    "{shape:?} over {axes:?}"
                );
                // elements of other sizes, added to what there is
                let mixed = fused((x, &narrow, &weights), |&x, &y, &w| {
                    f64::from((x as f32 - y) * (x as f32 - y)) * w as f64
                });
                let mut sums = ArrayD::from_elem(expected.shape(), 1.0);
                mixed.add_sum_to(&mut sums).unwrap();
                assert_eq!(sums, expected.mapv(|sum| sum as f64 + 1.0), "{shape:?} over {axes:?}");
            }
        }
    }
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
