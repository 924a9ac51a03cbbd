//! Size 0, no axes, many axes, elements without a size, and arrays larger than memory.

use common::kind;
use ndarray::{Array0, Array1, Array2, ArrayD, Axis, Dimension, IxDyn, Slice, arr0, array};
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

/// Two operands that stay along every second axis: rows of all lengths around those that are visited as they lie, merged and
/// kept while an operand stays, with outputs that are read and gaps between them, for numbers of all sizes.
#[test]
fn operands_that_move_in_turn() {
    fn test<A: Clone + std::fmt::Debug + PartialEq>(number: impl Fn(usize) -> A, add: impl Fn(&A, &A) -> A) {
        for shape in [
            &[3, 5, 7, 13, 12, 11][..],
            &[4, 4, 4, 8, 8, 8],
            &[9, 20, 10, 9],
            &[5, 30, 7, 15],
            &[40, 12, 11],
            &[3, 9, 4, 63],
        ] {
            let of = |stays: usize| {
                let own: Vec<_> =
                    (0..shape.len()).map(|axis| if axis % 2 == stays { 1 } else { shape[axis] }).collect();
                let mut i = 0;
                ArrayD::from_shape_simple_fn(own, || {
                    i += 1;
                    number(i)
                })
            };
            let (a, b) = (of(0), of(1));
            let at = |x: &ArrayD<A>, index: &IxDyn| {
                let at: Vec<_> = (0..shape.len()).map(|axis| index[axis] % x.shape()[axis]).collect();
                x[&at[..]].clone()
            };
            let expected = ArrayD::from_shape_fn(shape, |index| add(&at(&a, &index), &at(&b, &index)));
            assert_eq!(broadcast_map((&a, &b), &add).unwrap(), expected);
            assert_eq!(broadcast_map((&b, &a, &b), |b, a, _| add(a, b)).unwrap(), expected);
            let mut whole = expected.map(|_| number(0));
            broadcast_apply(&mut whole, (&a, &b), |out, a, b| *out = add(out, &add(a, b))).unwrap();
            assert_eq!(whole, expected.map(|x| add(&number(0), x)));
            // rows that are not adjacent in the output
            let mut half = whole.slice_axis_mut(Axis(0), Slice::from(..).step_by(2));
            let first = b.slice_axis(Axis(0), Slice::from(..1));
            broadcast_apply(&mut half, (&a, &first), |out, a, b| *out = add(a, b)).unwrap();
            assert!(half.outer_iter().all(|part| part == expected.index_axis(Axis(0), 0)));
        }
    }
    test(|i| u8::try_from(i % 100).unwrap(), |a, b| a + b);
    test(|i| u16::try_from(i % 1000).unwrap(), |a, b| a + b);
    test(|i| f32::from(u8::try_from(i % 100).unwrap()), |a, b| a + b);
    test(|i| u64::try_from(i).unwrap(), |a, b| a + b);
    test(|i| i128::try_from(i).unwrap(), |a, b| a + b);
    test(|i| i.to_string(), |a, b| format!("{a}{b}"));
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
    assert_eq!(kind(fused(wide, |&x| x).sum_to((1_usize << 61, 1))), "TooLarge");
    let taller = one.broadcast_to([4_usize, 1]).unwrap();
    assert_eq!(kind(broadcast_map((&huge, &taller), |&x, _| x)), "Overflow");
    let huge = one.broadcast_to([0, 1_usize << 61]).unwrap();
    assert_eq!(broadcast_map(&huge, |&x| x).map(|out| out.len()), Ok(0));
}
