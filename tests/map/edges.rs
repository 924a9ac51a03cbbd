//! Size 0, no axes, many axes, elements without a size, arrays larger than memory, and how the result lies in memory.

use common::kind;
use ndarray::{
    Array0, Array1, Array2, Array3, ArrayBase, ArrayD, ArrayView2, Axis, Data, Dimension, IxDyn,
    ShapeBuilder, Slice, arr0, array, s,
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

/// Two operands that stay along every second axis: rows of all lengths around those that are visited as they lie, merged and
/// kept while an operand stays, with outputs that are read and gaps between them, for numbers of all sizes.
#[test]
fn operands_that_move_in_turn() {
    fn test<A: Clone + std::fmt::Debug + PartialEq>(number: impl Fn(usize) -> A, add: impl Fn(&A, &A) -> A) {
        for shape in [
            &[3, 5, 2, 7, 12, 11][..],
            &[2, 3, 4, 8, 8, 8],
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
    #[cfg(feature = "rayon")]
    test(|i| u16::try_from(i % 1000).unwrap(), |a, b| a + b);
    test(|i| f32::from(u8::try_from(i % 100).unwrap()), |a, b| a + b);
    #[cfg(feature = "rayon")]
    test(|i| u64::try_from(i).unwrap(), |a, b| a + b);
    #[cfg(feature = "rayon")]
    test(|i| i128::try_from(i).unwrap(), |a, b| a + b);
    test(|i| i.to_string(), |a, b| format!("{a}{b}"));
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

/// Compares the view with a copy, and with a copy into an array with gaps.
fn is_copied<A: Clone + PartialEq + std::fmt::Debug, D: Dimension>(
    view: &ndarray::ArrayView<'_, A, D>,
    filler: &A,
) {
    let copy = view.materialize();
    assert!(copy.is_standard_layout() || copy.is_empty());
    let mut wide = view.raw_dim();
    wide[view.ndim() - 1] += 3;
    let mut wide = ndarray::Array::from_elem(wide, filler.clone());
    let last = Axis(view.ndim() - 1);
    let (mut out, after) = wide.view_mut().split_at(last, view.len_of(last));
    view.materialize_into(&mut out).unwrap();
    assert_eq!(copy, view);
    assert_eq!(out, view);
    assert!(after.iter().all(|item| item == filler), "nothing else is written");
}

fn transposes<A: Clone + PartialEq + std::fmt::Debug>(number: impl Fn(usize) -> A) {
    let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 63, 64, 65, 70, 130];
    let pairs = sizes.into_iter().flat_map(|rows| sizes.map(|columns| (rows, columns)));
    for (rows, columns) in common::sample(2, pairs) {
        let a = Array2::from_shape_fn((rows, columns), |(i, j)| number(i * columns + j));
        is_copied(&a.t(), &number(77));
        is_copied(&a.slice(s![..;-1, ..]).reversed_axes(), &number(77));
        is_copied(&a.slice(s![.., ..;-1]).reversed_axes(), &number(77));
        is_copied(&a.slice(s![..;2, 1..]).reversed_axes(), &number(77));
    }
    let a = Array3::from_shape_fn((9, 66, 5), |(i, j, k)| number((i * 66 + j) * 5 + k));
    for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        is_copied(&a.view().permuted_axes(axes), &number(77));
    }
    // one short side
    for (rows, columns) in [(1500, 3), (2, 3000), (5, 900)] {
        let a = Array2::from_shape_fn((rows, columns), |(i, j)| number(i * columns + j));
        is_copied(&a.t(), &number(77));
    }
    // rows whose distance is a power of two, in the array and in the copy
    let a = Array2::from_shape_fn((21, 2048), |(i, j)| number(i * 2048 + j));
    is_copied(&a.t(), &number(77));
    let mut out = Array2::from_elem((2048, 512), number(77));
    a.t().materialize_into(&mut out.slice_mut(s![.., ..21])).unwrap();
    assert_eq!(out.slice(s![.., ..21]), a.t());
    assert!(out.slice(s![.., 21..]).iter().all(|item| *item == number(77)));
}

/// A row and a column that are repeated, and a row in each of several blocks.
fn repeats<A: Clone + PartialEq + std::fmt::Debug>(number: impl Fn(usize) -> A) {
    for (rows, columns) in [1, 2, 3, 8, 40, 300].into_iter().flat_map(|rows| [1, 3, 8, 90].map(|n| (rows, n)))
    {
        let row = Array2::from_shape_fn((1, columns), |(_, j)| number(j));
        let column = Array2::from_shape_fn((rows, 1), |(i, _)| number(i));
        for view in [&row, &column].map(|a| a.broadcast((rows, columns)).unwrap()) {
            is_copied(&view, &number(77));
            is_copied(&view.slice(s![..;-1, ..;-1]), &number(77));
            is_copied(&view.t(), &number(77));
        }
        let block = Array3::from_shape_fn((4, 1, columns), |(i, _, k)| number(i * 99 + k));
        is_copied(&block.broadcast((4, rows, columns)).unwrap(), &number(77));
    }
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "numbers of any size")]
fn repeated_copies() {
    repeats(|i| i as u8);
    #[cfg(feature = "rayon")]
    repeats(|i| i as u32);
    repeats(|i| i as u128);
    // neither is a plain number
    repeats(|i| Some(i as u32));
    repeats(|i| i.to_string());
}

/// Copies that are larger than the caches.
#[test]
#[expect(clippy::cast_possible_truncation, reason = "any bits")]
fn large_copies() {
    let is_copied = |view: ndarray::ArrayViewD<'_, u32>| {
        let mut out = ndarray::ArrayD::zeros(view.raw_dim());
        view.materialize_into(&mut out).unwrap();
        assert!(out == view, "{:?}", view.shape());
    };
    for shape in [[1, 1024, 1030], [1, 2100, 2011], [17, 520, 511]] {
        let a = Array3::from_shape_fn(shape, |(i, j, k)| ((i * 7919 + j) * 10_007 + k) as u32);
        is_copied(a.view().permuted_axes([0, 2, 1]).into_dyn());
    }
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "numbers of any size")]
fn transposed_copies() {
    transposes(|i| i as u8);
    #[cfg(feature = "rayon")]
    transposes(|i| i as u16);
    #[cfg(feature = "rayon")]
    transposes(|i| i as u32);
    transposes(|i| i as u64);
    #[cfg(feature = "rayon")]
    transposes(|i| i as u128);
    // neither is a plain number
    transposes(|i| Some(i as u32));
    transposes(|i| i.to_string());
}
