//! Every kind of array and of element: how an array is stored and what is in it does not matter.
#![allow(clippy::many_single_char_names, reason = "a, b, c are arrays and x, y, z their views")]

use common::kind;
use ndarray::{
    ArcArray2, Array1, Array2, ArrayRef, ArrayView1, ArrayView2, Axis, CowArray, Ix2, arr0, array, s,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    BroadcastError, broadcast_arrays, broadcast_to_match_in_place, broadcast_to_match3_in_place,
    broadcast_views,
};

/// An element that can be compared and nothing else: it is neither `Copy` nor `Clone`.
#[derive(Debug, PartialEq)]
struct Plain(usize);

fn plain() -> Array2<Plain> {
    Array2::from_shape_fn((2, 1), |(row, _)| Plain(row))
}

const TWO_BY_THREE: [Plain; 6] = [Plain(0), Plain(0), Plain(0), Plain(1), Plain(1), Plain(1)];

/// Asserts that a view repeats the column `[0, 1]` of which the first element is at `first`.
fn assert_repeats(view: &ArrayRef<Plain, Ix2>, first: *const Plain) {
    assert_eq!((view.dim(), view.as_ptr()), ((2, 3), first));
    assert!(view.iter().eq(&TWO_BY_THREE));
}

/// Asserts that each form of each family gives views of the column, with the traits as bounds.
fn assert_all_forms<T>(array: &T, first: *const Plain)
where
    T: BroadcastTo<Plain, Ix2>
        + BroadcastToMatch<Plain, Ix2>
        + BroadcastAxes<Plain, Ix2>
        + BroadcastInDim<Plain, Ix2>
        + ?Sized,
{
    let row = Array1::from_shape_fn(3, |_| Plain(7));
    assert_repeats(&array.broadcast_to([-1, 3]).expect("2 by 3"), first);
    assert_repeats(&array.broadcast_to_match_shape((2, 3)).expect("2 by 3"), first);
    assert_repeats(&array.broadcast_to_match(&row).expect("2 by 3").0, first);
    assert_repeats(&array.broadcast_to_match3(&row, &row).expect("2 by 3").0, first);
    assert_repeats(&array.broadcast_in_dim((2, 3), [0, 1]).expect("2 by 3"), first);
    assert!(array.can_broadcast_to_match(&row));
    assert_eq!(array.expand_to_match_ranks(&row).1.dim(), (1, 3));
    let repeated = array.broadcast_axes((2, 1, 3), 2).expect("2 by 1 by 3");
    assert_eq!((repeated.dim(), repeated.as_ptr()), ((2, 1, 3), first));
    assert!(repeated.iter().eq(&TWO_BY_THREE));
    assert_eq!(array.broadcast_like(&repeated, 2), Ok(repeated));
}

#[test]
fn every_kind_of_array_with_elements_that_cannot_be_cloned() {
    let mut owned = plain();
    let first = owned.as_ptr();
    assert_all_forms(&owned, first);
    assert_all_forms::<ArrayRef<Plain, Ix2>>(&owned, first);
    assert_all_forms(&owned.view(), first);
    assert_all_forms(&owned.view_mut(), first);
    assert_all_forms(&CowArray::from(owned.view()), first);
    let shared = ArcArray2::from_shape_fn((2, 1), |(row, _)| Plain(row));
    assert_all_forms(&shared, shared.as_ptr());
    let other = plain();
    let first = other.as_ptr();
    assert_all_forms(&CowArray::from(other), first);
}

#[test]
fn operands_of_every_kind_with_elements_that_cannot_be_cloned() {
    let (column, row, one) = (plain(), Array1::from_shape_fn(3, |_| Plain(7)), arr0(Plain(9)));
    let mut other = plain();
    let (first, changeable) = (column.as_ptr(), other.view_mut());
    let reference: &ArrayRef<Plain, Ix2> = &column;
    let (u, v, w, x, y, z) =
        broadcast_arrays((&column, column.view(), reference, &changeable, &row, one.view())).expect("2 by 3");
    for view in [u, v, w] {
        assert_repeats(&view, first);
    }
    assert_repeats(&x, changeable.as_ptr());
    assert!(y.iter().all(|element| *element == Plain(7)) && z.iter().all(|element| *element == Plain(9)));
    let views = broadcast_views(&[column.view(), row.view().insert_axis(Axis(0))]).expect("2 by 3");
    assert_repeats(&views[0], first);
    let (mut p, mut q, mut r) = (column.view(), row.view().insert_axis(Axis(0)), column.view());
    assert_eq!(broadcast_to_match_in_place(&mut p, &mut q), Ok(()));
    assert_repeats(&p, first);
    assert_eq!(broadcast_to_match3_in_place(&mut p, &mut q, &mut r), Ok(()));
    assert_repeats(&r, first);
}

#[test]
fn operands_may_have_different_elements() {
    let (names, flags, nothing) = (array![["a".to_owned()], ["b".to_owned()]], array![true, false], arr0(()));
    let (x, y, z) = broadcast_arrays((&names, flags.view(), &nothing)).expect("2 by 2");
    assert_eq!(x, array![["a", "a"], ["b", "b"]]);
    assert_eq!(y, array![[true, false], [true, false]]);
    assert_eq!(z, array![[(), ()], [(), ()]]);
    let (x, y) = names.broadcast_to_match(&flags).expect("2 by 2");
    assert_eq!((&*x[[1, 0]], y[[1, 0]]), ("b", true));
}

/// An array or a slice of operands, whatever its length.
#[test]
fn lists_of_operands() {
    let (row, column) = (array![[1, 2, 3]], array![[10], [20]]);
    assert_eq!(broadcast_arrays([] as [&Array2<i32>; 0]), Ok([]));
    assert_eq!(broadcast_arrays([&row]), Ok([row.view()]));
    let views = broadcast_arrays([&row, &column]).expect("2 by 3");
    assert_eq!(views[0], array![[1, 2, 3], [1, 2, 3]]);
    assert_eq!(views[1], array![[10, 10, 10], [20, 20, 20]]);
    let list = [&row, &column, &row];
    assert_eq!(broadcast_arrays(&list[..0]), Ok(vec![]));
    for len in 1..=list.len() {
        let views = broadcast_arrays(&list[..len]).expect("1 or 2 by 3");
        let joint = views[0].dim();
        assert_eq!(joint, (len.min(2), 3));
        assert!(views.iter().zip(list).all(|(view, own)| *view == own.broadcast(joint).expect("its shape")));
    }
    assert_eq!(kind(broadcast_arrays([&row, &array![[1, 2]]])), "Incompatible");
    assert_eq!(kind(broadcast_arrays(&[&row, &array![[1, 2]]][..])), "Incompatible");
}

#[test]
fn elements_without_size() {
    let units = Array2::from_elem((3, 1), ());
    let view = units.broadcast_to([2, -1, 4]).expect("2 by 3 by 4");
    assert_eq!((view.dim(), view.iter().count()), ((2, 3, 4), 24));
    let reversed = units.slice(s![..;-1, ..]);
    assert_eq!(reversed.broadcast_to([-1, 5]).map(|view| view.iter().count()), Ok(15));
    let many = arr0(()).broadcast_to(isize::MAX).map(|view| view.len());
    assert_eq!(many, Ok(isize::MAX.unsigned_abs()));
}

/// A view by value, or changed in place, lives as long as the data and not as the view it came from.
#[test]
fn results_outlive_the_views_they_came_from() {
    fn rows(data: &Array1<f64>) -> Result<ArrayView2<'_, f64>, BroadcastError> {
        let view = data.view();
        view.into_broadcast_to((2, -1))
    }
    fn outer(data: &Array1<f64>) -> Result<(ArrayView2<'_, f64>, ArrayView2<'_, f64>), BroadcastError> {
        broadcast_arrays((data.view().insert_axis(Axis(1)), data.view()))
    }
    fn stretched(data: &Array1<f64>) -> Result<ArrayView1<'_, f64>, BroadcastError> {
        let mut view = data.view();
        view.broadcast_in_place(2).map(|()| view)
    }
    let data = array![1.0, 2.0];
    assert_eq!(rows(&data), Ok(array![[1.0, 2.0], [1.0, 2.0]].view()));
    assert_eq!(outer(&data).map(|(x, y)| (&x * &y).sum()), Ok(9.0));
    assert_eq!(stretched(&data), Ok(data.view()));
    assert_eq!(broadcast_views(&[data.view()]).map(|views| views[0]), Ok(data.view()));
}
