//! How far rounded sums are off. That they are the same on any number of threads is in `tests/determinism`.

use ndarray::{
    Array, Array1, Array2, Array3, ArrayD, ArrayRef, Dimension, Ix1, Ix2, Ix3, ShapeBuilder, arr0, s,
};
use ndarray_broadcast::fused;
use ndarray_broadcast::prelude::*;

/// 2^24 where the compiler makes loops fast, else 2^20, which takes a debug build as long.
const LOG: u32 = if cfg!(debug_assertions) { 20 } else { 24 };
const TERMS: usize = 1 << LOG;

/// Asserts that each sum of 2^LOG terms of 0.1 in `f32` is off by 1e-6 at most, the terms being what they are:
/// the `f32` next to 0.1.
#[track_caller]
fn assert_close<D: Dimension>(sums: &ArrayRef<f32, D>, terms: usize) {
    let exact = f64::from(0.1_f32) * f64::from(u32::try_from(terms).expect("few"));
    assert!(!sums.is_empty());
    for &sum in sums {
        let off = (f64::from(sum) - exact).abs() / exact;
        assert!(off <= 1e-6, "{sum} is off by {off:e} from {exact}");
    }
}

/// The sums over `axes`.
fn sums(delta: &ArrayRef<f32, impl Dimension>, axes: &[usize]) -> ArrayD<f32> {
    let delta = delta.view().into_dyn();
    delta.sum_axes(axes).expect("axes of the array")
}

fn assert_same_bits<D: Dimension>(a: &ArrayRef<f32, D>, b: &ArrayRef<f32, D>) {
    assert_eq!(a.shape(), b.shape());
    assert!(a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())), "to the last bit");
}

#[test]
fn one_axis() {
    let terms = Array1::from_elem(2 * TERMS, 0.1_f32);
    assert_close(&sums(&terms.slice(s![..TERMS]), &[0]), TERMS);
    assert_close(&sums(&terms.slice(s![..;2]), &[0]), TERMS);
    assert_close(&sums(&terms.slice(s![..TERMS;-1]), &[0]), TERMS);
    assert_close(&sums(&terms.slice(s![..;-2]), &[0]), TERMS);
    // just below where sums are halved
    let most = (1 << 19) - 1;
    assert_close(&sums(&terms.slice(s![..most]), &[0]), most);
    // one element, read again and again
    let repeated = terms.slice(s![..1]);
    assert_close(&sums(&repeated.broadcast(TERMS).expect("one element"), &[0]), TERMS);
}

#[test]
fn few_columns() {
    for columns in 1..=4 {
        let terms = Array2::from_elem((TERMS / columns, columns), 0.1_f32);
        assert_close(&sums(&terms, &[0]), TERMS / columns);
        assert_close(&sums(&terms.t(), &[1]), TERMS / columns);
    }
    let terms = Array2::from_elem((TERMS, 2), 0.1_f32);
    assert_close(&sums(&terms, &[0]), TERMS);
    let terms = Array2::from_elem((2, TERMS), 0.1_f32);
    assert_close(&sums(&terms, &[1]), TERMS);
    assert_close(&sums(&terms.t(), &[0]), TERMS);
}

#[test]
fn squares_and_others() {
    let side = 1 << (LOG / 2);
    let terms = Array2::from_elem((side, side), 0.1_f32);
    for terms in [terms.view(), terms.t()] {
        assert_close(&sums(&terms, &[0, 1]), TERMS);
        assert_close(&sums(&terms, &[0]), side);
        assert_close(&sums(&terms, &[1]), side);
    }
    let terms = Array2::from_elem((TERMS / 8, 8), 0.1_f32);
    assert_close(&sums(&terms, &[0]), TERMS / 8);
    assert_close(&sums(&terms, &[0, 1]), TERMS);
    let terms = terms.into_shape_with_order((TERMS / 256, 8, 32)).expect("as many elements");
    assert_close(&sums(&terms, &[0, 2]), TERMS / 8);
    assert_close(&sums(&terms.permuted_axes([1, 2, 0]), &[0, 2]), TERMS / 32);
}

/// Rows that are added in registers: those of an array are so wide that each is folded by itself, and a closure's have any width.
#[test]
fn many_rows() {
    let (rows, one) = (1 << 12, arr0(1.0_f32));
    for columns in [8, 24, 64, 200] {
        let terms = Array2::from_elem((rows, columns), 0.1_f32);
        assert_close(&sums(&terms, &[0]), rows);
        assert_close(&fused((&terms, &one), |x, y| x * y).sum_axes(0).unwrap(), rows);
    }
}

/// The full number of terms in a debug build too: with fewer, blocks that are too long go unnoticed.
#[test]
fn all_of_2_to_the_24() {
    let terms = Array2::from_elem((1 << 24, 2), 0.1_f32);
    assert_close(&terms.sum_axes([0]).expect("an axis of the array"), 1 << 24);
    let run = terms.as_slice().expect("in C order");
    let run = ndarray::aview1(&run[..1 << 24]);
    assert_close(&run.sum_axes([0]).expect("an axis of the array"), 1 << 24);
}

/// The documented order of summation goes by layout: a copy in another order may come to other bits, but not further
/// from the truth.
#[test]
fn a_copy_in_another_order_is_as_close() {
    let terms = Array::from_shape_fn((40, 50, 60), |(i, j, k)| {
        f32::from(u16::try_from((i * 7919 + j * 104_729 + k * 31) % 1009).expect("small")) / 1009.0
    });
    let permuted = terms.view().permuted_axes([2, 0, 1]);
    let copy = permuted.as_standard_layout();
    for axes in [&[0][..], &[1], &[2], &[0, 1], &[1, 2], &[0, 2], &[0, 1, 2]] {
        let exact = permuted.mapv(f64::from).into_dyn().sum_axes(axes).expect("axes of the array");
        for sum in [sums(&permuted, axes), sums(&copy, axes)] {
            assert_eq!(sum.shape(), exact.shape());
            assert!(sum.iter().zip(&exact).all(|(&sum, exact)| (f64::from(sum) / exact - 1.0).abs() <= 1e-6));
        }
    }
}

/// Rows of any length, which continue each other in the array and in some of the outputs.
#[test]
fn an_output_in_another_order_has_the_same_bits() {
    let shapes = [
        [40, 50, 60],
        [40, 500, 6],
        [40, 20, 20],
        [100, 300, 4],
        [33, 1001, 7],
        [1000, 9, 9],
        [40, 701, 30],
        [700, 4, 33],
    ];
    for shape in common::sample(3, shapes) {
        let mut number = 0_u16;
        let terms = Array::from_shape_simple_fn(shape, || {
            number = number.wrapping_mul(31).wrapping_add(7);
            f32::from(number) / 977.0
        });
        for terms in [terms.view(), terms.view().permuted_axes([2, 0, 1])] {
            for axes in [&[0][..], &[1], &[2], &[0, 1], &[1, 2], &[0, 2]] {
                let mut kept = terms.raw_dim();
                for &axis in axes {
                    kept[axis] = 1;
                }
                let sum = terms.sum_to(kept).expect("a shape to sum to").into_dyn();
                for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]] {
                    let mut out = Array3::zeros(order.map(|axis| kept[axis]));
                    let mut out = out.view_mut().permuted_axes(order);
                    terms.assign_sum_to(&mut out).expect("a shape to sum to");
                    assert_same_bits(&out.into_dyn(), &sum);
                }
            }
        }
    }
}

#[test]
fn errors_do_not_grow_with_the_number_of_terms() {
    let cases = [
        ([1, 1, TERMS], [1, 1, 1]),
        ([TERMS, 1, 3], [1, 1, 3]),
        ([3, TERMS, 1], [3, 1, 1]),
        ([1 << (LOG / 2), 2, 1 << (LOG / 2)], [1, 2, 1]),
        ([1 << (LOG - 4), 5, 1 << 4], [1, 5, 1]),
    ];
    let (tenth, one) = (arr0(0.1_f32), arr0(1.0_f32));
    for (from, to) in cases {
        let all = tenth.broadcast_to(from).unwrap();
        assert_close(&fused((&all, &one), |x, y| x * y).sum_to(to).unwrap(), TERMS);
    }
}

#[test]
fn sums_of_arrays_in_memory_are_as_exact() {
    for (shape, to) in [((1 << 20, 4), 1), ((4, 1 << 20), 0)] {
        for f_order in [false, true] {
            let a = Array2::from_elem(shape.set_f(f_order), 0.1_f32);
            let weight = Array1::from_elem(shape.1, 1.0_f32);
            let mut target = [1, 1];
            target[to] = 4;
            let sum = fused((&a, &weight), |a, w| a * w).sum_to(target).unwrap();
            assert_close(&sum, 1 << 20);
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

/// Inner products and products with long vectors are sums.
#[test]
fn products_with_long_vectors_are_as_close() {
    let (terms, ones) = (Array2::from_elem((1, TERMS), 0.1_f32), Array1::<f32>::ones(TERMS));
    let (row, vector) = (terms.batch::<Ix1>().unwrap(), ones.batch::<Ix1>().unwrap());
    assert_close(&row.inner(&vector).unwrap(), TERMS);
    let (matrix, column) = (terms.batch::<Ix2>().unwrap(), terms.t());
    assert_close(&matrix.matvec(&vector).unwrap(), TERMS);
    assert_close(&vector.vecmat(&column.batch::<Ix2>().unwrap()).unwrap(), TERMS);
}
