//! At the edges: sizes that overflow, size 0, no axes, hostile shapes, views that are huge.

use common::{empty, kind};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Dimension, IxDyn, ShapeBuilder, array, s};
use ndarray_broadcast::bounds::TargetShape;
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, broadcast_arrays, broadcast_shapes, broadcast_to_match_in_place, broadcast_views,
    const_broadcast_shape,
};
use std::collections::BTreeSet;

/// All orders of the sizes.
fn orders(sizes: &[usize]) -> BTreeSet<Vec<usize>> {
    if sizes.is_empty() {
        return BTreeSet::from([vec![]]);
    }
    let rest = |i: usize| orders(&[&sizes[..i], &sizes[i + 1..]].concat()).into_iter();
    (0..sizes.len()).flat_map(|i| rest(i).map(move |rest| [&[sizes[i]], rest.as_slice()].concat())).collect()
}

#[test]
fn overflow_in_whatever_order() {
    let overflowing: [&[usize]; 5] = [
        &[1 << 40, 1 << 40, 0],
        &[0, 1 << 62, 2],
        &[1 << 32, 1 << 32, 1, 0],
        &[3, 1 << 62, 0, 0],
        &[isize::MAX.unsigned_abs(), 2, 1],
    ];
    for shape in overflowing.iter().flat_map(|sizes| orders(sizes)) {
        let (one, scalar) = (empty(&vec![1; shape.len()]), empty(&[]));
        let all: Vec<usize> = (0..shape.len()).collect();
        assert_eq!(kind(broadcast_shapes(&[&shape])), "Overflow", "{shape:?}");
        assert_eq!(kind(scalar.broadcast_to(&shape)), "Overflow", "{shape:?}");
        assert_eq!(kind(one.broadcast_to_match_shape(&shape)), "Overflow", "{shape:?}");
        assert_eq!(kind(scalar.broadcast_axes(&shape, &all)), "Overflow", "{shape:?}");
        assert_eq!(kind(one.broadcast_in_dim(&shape, &all)), "Overflow", "{shape:?}");
        // the same shape by the match of one operand for each axis
        let unit = |axis: usize| (0..shape.len()).map(|i| if i == axis { shape[i] } else { 1 }).collect();
        let units: Vec<Vec<usize>> = all.iter().map(|&axis| unit(axis)).collect();
        assert_eq!(kind(broadcast_shapes(&units)), "Overflow", "{shape:?}");
    }
    let fitting = [1 << 31, 1 << 31, 0, 1];
    assert!(orders(&fitting).iter().all(|shape| empty(&[]).broadcast_to(shape).is_ok()));
}

#[test]
fn operands_that_overflow_together_are_refused_and_stay() {
    let cell = array![7_u8];
    let long: ArrayView1<u8> = cell.broadcast(1 << 40).expect("a row of one element");
    let (column, row) = (long.insert_axis(Axis(1)), long.insert_axis(Axis(0)));
    assert_eq!(kind(column.broadcast_to_match(&row)), "Overflow");
    assert_eq!(kind(column.broadcast_to_match3(&cell, &row)), "Overflow");
    assert_eq!(kind(broadcast_arrays((column, row))), "Overflow");
    assert_eq!(kind(broadcast_views(&[column, row])), "Overflow");
    assert!(!column.can_broadcast_to_match(&row));
    let (mut x, mut y) = (column, row);
    assert_eq!(kind(broadcast_to_match_in_place(&mut x, &mut y)), "Overflow");
    assert_eq!((x.dim(), y.dim()), (column.dim(), row.dim()));
}

#[test]
fn size_0() {
    let ok: [(&[usize], &[usize], &[usize]); 6] = [
        (&[0], &[1], &[0]),
        (&[0], &[], &[0]),
        (&[0], &[0], &[0]),
        (&[2, 0], &[1], &[2, 0]),
        (&[0, 1], &[1, 0], &[0, 0]),
        (&[3, 1, 0], &[2, 1], &[3, 2, 0]),
    ];
    for (a, b, joint) in ok {
        assert_eq!(broadcast_shapes(&[a, b]).as_deref(), Ok(joint));
        let (a, b) = (empty(a), empty(b));
        let (x, y) = b.broadcast_to_match(&a).expect("0 goes with 1");
        assert_eq!((x.shape(), y.shape(), x.len()), (joint, joint, 0));
    }
    for size in [2, 3, usize::MAX] {
        assert_eq!(kind(broadcast_shapes(&[[0], [size]])), "Incompatible");
        assert_eq!(kind(broadcast_shapes(&[[size], [0]])), "Incompatible");
    }
    assert_eq!(kind(empty(&[0]).broadcast_to([1])), "Incompatible");
    assert_eq!(kind(empty(&[0]).broadcast_to([2])), "Incompatible");
    assert_eq!(kind(empty(&[2]).broadcast_to([0])), "Incompatible");
    assert_eq!(kind(empty(&[1]).broadcast_axes([0, 0], 0)), "Incompatible");
    assert_eq!(kind(empty(&[0]).broadcast_in_dim([1, 1], 0)), "Incompatible");
    assert_eq!(empty(&[1]).broadcast_to([0]).map(|view| view.len()), Ok(0));
    assert_eq!(empty(&[0]).broadcast_to([3, -1]).map(|view| view.dim()), Ok((3, 0)));
    assert_eq!(empty(&[3]).broadcast_axes([0, 3], 0).map(|view| view.dim()), Ok((0, 3)));
    assert_eq!(empty(&[1]).broadcast_in_dim([0, 2], 0).map(|view| view.dim()), Ok((0, 2)));
}

/// An empty array can have strides too, and negative ones; there is no other end to start from.
#[test]
fn size_0_reversed() {
    let mut rows = ArrayView2::from_shape((0, 3).strides((3, 1)), &[0_u8; 9]).expect("no rows of 3");
    rows.invert_axis(Axis(0));
    rows.invert_axis(Axis(1));
    assert!(rows.strides().iter().all(|&stride| stride < 0), "ndarray keeps them");
    let views = [
        rows.broadcast_to([2, -1, -1]),
        rows.broadcast_axes((2, 0, 3), 0),
        rows.broadcast_in_dim((2, 0, 3), [1, 2]),
        rows.view().into_broadcast_to((2, 0, 3)),
    ];
    for view in views {
        let view = view.expect("nothing, twice");
        assert_eq!((view.dim(), view.as_ptr(), view.iter().next()), ((2, 0, 3), rows.as_ptr(), None));
    }
    let row = array![1, 2, 3];
    let reversed = row.slice(s![..;-1]);
    let none = reversed.broadcast_to((0, 3)).expect("no rows of 3");
    assert_eq!((none.as_ptr(), none.iter().next()), (reversed.as_ptr(), None));
}

#[test]
fn no_axes() {
    let scalar = ndarray::arr0(7);
    assert_eq!(broadcast_shapes::<[usize; 0]>(&[]), Ok(vec![]));
    assert_eq!(broadcast_shapes(&[[]]), Ok(vec![]));
    assert_eq!(scalar.broadcast_to([0_usize; 0]).map(|view| view[()]), Ok(7));
    assert_eq!(scalar.broadcast_to(()).map(|view| view[()]), Ok(7));
    assert_eq!(scalar.broadcast_to_match_shape(()).map(|view| view[()]), Ok(7));
    assert_eq!(scalar.broadcast_axes((), [0_usize; 0]).map(|view| view[()]), Ok(7));
    assert_eq!(scalar.broadcast_in_dim((), [0_usize; 0]).map(|view| view[()]), Ok(7));
    assert_eq!(scalar.broadcast_in_dim((2, 3), [0_usize; 0]).map(|view| view.sum()), Ok(42));
    assert_eq!(scalar.broadcast_to_match(&scalar).map(|(x, y)| x[()] + y[()]), Ok(14));
    assert_eq!(broadcast_views::<u8, IxDyn>(&[]).map(|views| views.len()), Ok(0));
    assert_eq!(kind(scalar.broadcast_axes((), 0)), "AxisOutOfBounds");
    assert_eq!(kind(scalar.broadcast_in_dim((), 0)), "AxisCount");
    assert_eq!(kind(array![1].broadcast_to(())), "TooFewAxes");
}

/// Sets of axes have one bit for each of up to 64 axes, and a flag for each of more.
#[test]
fn about_64_axes() {
    for ndim in 63..=66 {
        let (first, last) = (vec![0_usize], vec![ndim - 1]);
        let (but_first, but_last) = ((1..ndim).collect::<Vec<_>>(), (0..ndim - 1).collect::<Vec<_>>());
        let mut target = vec![1; ndim];
        for (named, own) in [(&but_first, &first), (&but_last, &last)] {
            target[own[0]] = 2;
            let view = array![5, 7].into_dyn();
            let view = view.broadcast_axes(&target[..], &named[..]).expect("size 1 at the named axes");
            assert_eq!((view.shape(), view.sum()), (&target[..], 12));
            let sum = view.sum_axes(&named[..]).expect("one axis stays");
            assert_eq!(sum, array![5, 7].into_dyn());
            assert_eq!(view.sum_axes(&own[..]).expect("others stay").ndim(), ndim - 1);
            assert_eq!(kind(view.sum_axes([own[0], own[0]])), "DuplicateAxis");
            target[own[0]] = 1;
        }
        assert_eq!(kind(array![5, 7].broadcast_axes(&target[..], ndim)), "AxisOutOfBounds");
    }
}

#[test]
fn hostile_shapes_are_refused() {
    const AXES: usize = 10_000;
    let array = empty(&[2]);
    let (twos, ones, max) = (vec![2; AXES], vec![1; AXES], vec![usize::MAX; AXES]);
    let list: Vec<usize> = (0..AXES).collect();
    assert_eq!(kind(array.broadcast_to([usize::MAX, 2])), "InvalidSize");
    assert_eq!(kind(array.broadcast_to([isize::MAX, 2])), "Overflow");
    assert_eq!(kind(array.broadcast_axes([isize::MAX, 2], 0)), "Overflow");
    assert_eq!(kind(broadcast_shapes(&[[usize::MAX, 1], [1, usize::MAX]])), "Overflow");
    assert_eq!(kind(broadcast_shapes(&[[usize::MAX], [usize::MAX - 1]])), "Incompatible");
    assert_eq!(kind(array.broadcast_to(&max)), "InvalidSize");
    assert_eq!(kind(array.broadcast_to(&twos)), "Overflow");
    assert_eq!(kind(array.broadcast_to(&vec![-1; AXES])), "PlaceholderOnNewAxis");
    assert_eq!(kind(array.broadcast_to(&vec![isize::MIN; AXES])), "InvalidSize");
    assert_eq!(kind(array.broadcast_to_match_shape(&ones)), "Incompatible");
    assert_eq!(kind(array.broadcast_axes(&twos, &list)), "AxisCount");
    assert_eq!(kind(array.broadcast_axes(&twos, &list[1..])), "Overflow");
    assert_eq!(kind(array.broadcast_axes(&twos, &vec![5; AXES])), "DuplicateAxis");
    assert_eq!(kind(array.broadcast_axes(&twos, &vec![usize::MAX; AXES])), "AxisOutOfBounds");
    assert_eq!(kind(array.broadcast_in_dim(&twos, &list)), "AxisCount");
    assert_eq!(kind(array.broadcast_in_dim(&twos, [9_999])), "Overflow");
    assert_eq!(kind(array.broadcast_in_dim(&twos, [10_000])), "AxisOutOfBounds");
    assert_eq!(kind(broadcast_shapes(&[&max, &twos])), "Incompatible");
    assert_eq!(kind(broadcast_shapes(&[&max, &ones])), "Overflow");
    let deep = empty(&ones);
    assert_eq!(kind(deep.broadcast_to([1])), "TooFewAxes");
    assert_eq!(kind(deep.broadcast_to(&twos)), "Overflow");
    assert_eq!(deep.broadcast_to_match(&array).map(|(x, _)| x.len()), Ok(2));
    assert_eq!(deep.broadcast_in_dim(&ones, &list).map(|view| view.len()), Ok(1));
    assert_eq!(array.broadcast_axes(&[&ones[1..], &[2]].concat(), &list[..AXES - 1]).map(|v| v.len()), Ok(2));
    let many = vec![deep.view(); 100];
    assert_eq!(broadcast_views(&many).map(|views| views.len()), Ok(100));
}

#[test]
fn huge_views_are_legal_and_can_be_read() {
    let row = array![1.5, 2.5];
    let view = row.broadcast_to((1_i64 << 30, 1 << 29, 2)).expect("2^60 elements");
    assert_eq!(view.len(), 1 << 60);
    assert_eq!((view[[0, 0, 0]], view[[(1 << 30) - 1, (1 << 29) - 1, 1]]), (1.5, 2.5));
    assert!(view.iter().take(3).eq(&[1.5, 2.5, 1.5]));
    assert_eq!(view.slice(s![1 << 20.., -1, ..;-1]).row(7), array![2.5, 1.5]);
    let reversed = row.slice(s![..;-1]);
    let view = reversed.broadcast_axes((1_i64 << 30, 2, 1 << 29), [0, 2]).expect("2^60 elements");
    assert_eq!((view[[5, 0, 9]], view[[(1 << 30) - 1, 1, (1 << 29) - 1]]), (2.5, 1.5));
    let cell = Array1::from_elem(1, 3_u8);
    let longest = cell.broadcast_to(isize::MAX).expect("the most there can be");
    assert_eq!((longest.len(), longest[isize::MAX.unsigned_abs() - 1]), (isize::MAX.unsigned_abs(), 3));
    assert_eq!(kind(longest.broadcast_to((2, -1))), "Overflow");
    assert_eq!(kind(cell.broadcast_to(1_u64 << 63)), "InvalidSize");
    let four = Array2::from_elem((1, 1), 4);
    let (x, y) = longest.broadcast_to_match(&four).expect("no more elements than one has");
    assert_eq!(x[[0, 77]] + y[[0, 77]], 7);
}

/// Sizes only come to an overflow together, and whether or not there is a 0 among them.
#[test]
fn the_const_joint_shape_refuses_an_overflow() {
    let refused = |a: [usize; 2], b: [usize; 2]| {
        std::panic::catch_unwind(|| const_broadcast_shape::<2, 2, 2>(a, b)).is_err()
    };
    assert!(refused([1 << 40, 1], [1, 1 << 40]));
    assert!(refused([usize::MAX, 1], [1, 0]));
    assert!(!refused([1 << 31, 1], [1, 1 << 31]));
}

#[test]
fn axis_sets_come_from_all_that_names_axes() {
    let set = AxisSet::from_signed(&[2, 0], 3).expect("axes of three");
    assert_eq!(AxisSet::from([2, 0, 2]), set);
    assert_eq!(AxisSet::from(&[0, 2][..]), set);
    assert_eq!([0, 2, 0].into_iter().collect::<AxisSet>(), set);
    assert_eq!((set.to_string(), AxisSet::default().to_string()), ("[0, 2]".to_owned(), "[]".to_owned()));
}

#[test]
fn axes_can_be_named_in_every_form() {
    let array = empty(&[3]);
    let shapes = [
        array.broadcast_axes((2, 3), 0),
        array.broadcast_axes((2, 3), &0),
        array.broadcast_axes((2, 3), Axis(0)),
        array.broadcast_axes((2, 3), [0]),
        array.broadcast_axes((2, 3), [Axis(0)]),
        array.broadcast_axes((2, 3), &[0][..]),
        array.broadcast_axes((2, 3), &[Axis(0)][..]),
        array.broadcast_axes((2, 3), vec![0]),
        array.broadcast_axes((2, 3), vec![Axis(0)]),
        array.broadcast_axes((2, 3), &vec![0]),
        array.broadcast_axes((2, 3), AxisSet::from([0])),
        array.broadcast_axes((2, 3), &AxisSet::from([0])),
        array.broadcast_in_dim((2, 3), 1),
        array.broadcast_in_dim((2, 3), Axis(1)),
        array.broadcast_in_dim((2, 3), [1]),
        array.broadcast_in_dim((2, 3), AxisSet::from([1])),
    ];
    assert!(shapes.iter().all(|view| view.as_ref().is_ok_and(|view| view.dim() == (2, 3))));
}

/// The shape that an array of shape `[3]` gets, and the number of axes if the type says it.
fn goes_to<T: TargetShape>(target: T) -> (Vec<usize>, Option<usize>) {
    let array = empty(&[3]);
    let view = array.broadcast_to(target).expect("a target of 3, or -1, at the end");
    (view.shape().to_vec(), T::Dim::NDIM)
}

#[test]
#[allow(clippy::needless_borrows_for_generic_args, reason = "references are targets too")]
fn targets_can_be_given_in_every_form() {
    macro_rules! signed {
        ($($int:ty)*) => {$(
            assert_eq!(goes_to([2 as $int, -1]), (vec![2, 3], Some(2)));
            assert_eq!(goes_to(&[2 as $int, -1]), (vec![2, 3], Some(2)));
            assert_eq!(goes_to((-1 as $int,)), (vec![3], Some(1)));
            assert_eq!(goes_to(-1 as $int), (vec![3], Some(1)));
            assert_eq!(goes_to(vec![2 as $int, -1]), (vec![2, 3], None));
            assert_eq!(goes_to(&vec![2 as $int, -1]), (vec![2, 3], None));
            assert_eq!(goes_to(&[2 as $int, -1][..]), (vec![2, 3], None));
        )*};
    }
    macro_rules! unsigned {
        ($($int:ty)*) => {$(
            assert_eq!(goes_to([2 as $int, 3]), (vec![2, 3], Some(2)));
            assert_eq!(goes_to(vec![2 as $int, 3]), (vec![2, 3], None));
            assert_eq!(goes_to((1_i8, 2 as $int, -1_i64)), (vec![1, 2, 3], Some(3)));
        )*};
    }
    signed!(i8 i16 i32 i64 isize);
    unsigned!(u8 u16 u32 u64 usize);
    assert_eq!(goes_to((1_u8, 2_i64, 1_usize, 1, 2_i16, -1)), (vec![1, 2, 1, 1, 2, 3], Some(6)));
    assert_eq!(goes_to(&(1_u8, 2_u16, 1_u32, 1_u64, -1_i8)), (vec![1, 2, 1, 1, 3], Some(5)));
    assert_eq!(goes_to(ndarray::Ix2(2, 3)), (vec![2, 3], Some(2)));
    assert_eq!(goes_to(&ndarray::Ix6(1, 1, 1, 1, 2, 3)), (vec![1, 1, 1, 1, 2, 3], Some(6)));
    assert_eq!(goes_to(IxDyn(&[1, 1, 1, 1, 1, 2, 3])), (vec![1, 1, 1, 1, 1, 2, 3], None));
}
