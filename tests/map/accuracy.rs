//! How exact sums are.

use ndarray::{Array1, Array2, Array3, Ix3, ShapeBuilder, arr0};
use ndarray_broadcast::fused;
use ndarray_broadcast::prelude::*;

const TERMS: usize = 1 << 24;

/// The largest relative error of sums of 2^24 terms of 0.1 over the axes where `to` has size 1.
fn error(from: [usize; 3], to: [usize; 3]) -> f64 {
    let (tenth, one) = (arr0(0.1_f32), arr0(1.0_f32));
    let all = tenth.broadcast_to(from).unwrap();
    let sum = fused((&all, &one), |x, y| x * y).sum_to(to).unwrap();
    let terms = from.iter().zip(to).map(|(&from, to)| if to == 1 { from } else { 1 }).product::<usize>();
    assert_eq!(terms, TERMS);
    let exact = f64::from(0.1_f32) * f64::from(u32::try_from(TERMS).unwrap());
    sum.iter().map(|&x| (f64::from(x) - exact).abs() / exact).fold(0.0, f64::max)
}

#[test]
fn errors_do_not_grow_with_the_number_of_terms() {
    let cases = [
        ([1, 1, TERMS], [1, 1, 1]),
        ([TERMS, 1, 3], [1, 1, 3]),
        ([3, TERMS, 1], [3, 1, 1]),
        ([1 << 12, 2, 1 << 12], [1, 2, 1]),
        ([1 << 20, 5, 1 << 4], [1, 5, 1]),
    ];
    for (from, to) in cases {
        let error = error(from, to);
        assert!(error < 1e-6, "{from:?} to {to:?}: {error}");
    }
}

#[test]
fn sums_of_arrays_in_memory_are_as_exact() {
    let exact = f64::from(0.1_f32) * f64::from(1_u32 << 20);
    for (shape, to) in [((1 << 20, 4), 1), ((4, 1 << 20), 0)] {
        for f_order in [false, true] {
            let a = Array2::from_elem(shape.set_f(f_order), 0.1_f32);
            let weight = Array1::from_elem(shape.1, 1.0_f32);
            let mut target = [1, 1];
            target[to] = 4;
            let sum = fused((&a, &weight), |a, w| a * w).sum_to(target).unwrap();
            assert!(sum.iter().all(|&x| (f64::from(x) - exact).abs() / exact < 1e-6), "{sum:?}");
        }
    }
}

/// Shapes at and around the sizes of tiles and rounds, exact in integers.
#[test]
fn every_size_of_tiles() {
    for [x, y, z] in
        [[1, 1, 4099], [3, 1025, 2], [17, 255, 3], [2000, 3, 1], [5, 130, 129], [1030, 2, 9], [9, 8, 257]]
    {
        let a = Array3::from_shape_fn((x, y, z), |(i, j, k)| i64::try_from(i * 7 + j * 3 + k).unwrap() % 11);
        let b = Array1::from_shape_fn(z, |k| i64::try_from(k).unwrap() % 5 - 2);
        let product = (&a * &b).into_dimensionality::<Ix3>().unwrap();
        for kept in 0..8_usize {
            let size = |axis: usize, size: usize| if kept >> axis & 1 == 1 { size } else { 1 };
            let target = [size(0, x), size(1, y), size(2, z)];
            let mut expected = product.clone();
            for axis in (0..3).filter(|axis| kept >> axis & 1 == 0) {
                expected = expected.sum_axis(ndarray::Axis(axis)).insert_axis(ndarray::Axis(axis));
            }
            for a in [&a, &a.t().as_standard_layout().into_owned().reversed_axes()] {
                assert_eq!(fused((a, &b), |a, b| a * b).sum_to(target).unwrap(), expected);
            }
        }
    }
}
