//! The laws of the shape algebra, over shapes that match, clash and overflow.

use common::{empty, joint, variant};
use ndarray::{Axis, Dimension, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, ErrorKind, bounds::TargetShape, broadcast_shapes, const_broadcast_shape, reduction_axes,
    resolve_target,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Joint = Result<Vec<usize>, String>;

/// The joint shape, or the name of the error.
fn ours<S: AsRef<[usize]>>(shapes: &[S]) -> Joint {
    broadcast_shapes(shapes).map_err(|error| variant(&error))
}

fn wild_shape() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![
        1 => Just(0_usize),
        8 => Just(1),
        4 => Just(2),
        1 => Just(3),
        2 => Just(1 << 31),
        1 => Just(usize::MAX),
    ];
    prop::collection::vec(size, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_joint_shape_is_the_models(shapes in prop::collection::vec(wild_shape(), 0..6)) {
        prop_assert_eq!(ours(&shapes), joint(&shapes).map_err(str::to_owned));
    }

    #[test]
    fn the_joint_shape_is_commutative(
        (shapes, shuffled) in prop::collection::vec(wild_shape(), 0..5)
            .prop_flat_map(|shapes| (Just(shapes.clone()), Just(shapes).prop_shuffle()))
    ) {
        prop_assert_eq!(ours(&shapes), ours(&shuffled));
    }

    #[test]
    fn the_joint_shape_is_associative(a in wild_shape(), b in wild_shape(), c in wild_shape()) {
        let all = ours(&[&a, &b, &c]);
        let left = ours(&[&a, &b]).and_then(|ab| ours(&[&ab, &c]));
        let right = ours(&[&b, &c]).and_then(|bc| ours(&[&a, &bc]));
        prop_assert_eq!(left.as_ref().ok(), all.as_ref().ok());
        prop_assert_eq!(right.as_ref().ok(), all.as_ref().ok());
        // of two errors a grouping may meet the overflow first, but never one where there is none
        let small = [&a, &b, &c].iter().all(|shape| shape.iter().all(|&size| size <= 3));
        if small && all.is_err() {
            let clash = Err("Incompatible".to_owned());
            prop_assert_eq!([left, right, all], [clash.clone(), clash.clone(), clash]);
        }
    }

    #[test]
    fn the_joint_shape_is_idempotent(a in wild_shape(), b in wild_shape()) {
        let own = ours(&[&a]);
        prop_assert_eq!(ours(&[&a, &a, &a]), own.clone());
        prop_assert_eq!(ours(&[a.as_slice(), &[]]), own);
        if let Ok(ab) = ours(&[&a, &b]) {
            prop_assert_eq!(ours(&[&a, &ab]), Ok(ab.clone()));
            // what goes together goes to the joint shape
            let to: Vec<isize> = ab.iter().map(|&size| size.cast_signed()).collect();
            prop_assert_eq!(resolve_target(&a, &to), Ok(ab.clone()));
            prop_assert!(reduction_axes(&b, &ab).is_ok());
        }
    }

    /// A const function has no errors; where there is one it panics.
    #[test]
    fn the_const_joint_shape_is_the_same(a in any::<[u8; 3]>(), b in any::<[u8; 2]>()) {
        let (a, b) = (a.map(|size| usize::from(size % 3)), b.map(|size| usize::from(size % 3)));
        if let Ok(joint) = ours(&[&a[..], &b]) {
            prop_assert_eq!(const_broadcast_shape::<3, 2, 3>(a, b), joint.as_slice());
            prop_assert_eq!(const_broadcast_shape::<2, 3, 3>(b, a), joint.as_slice());
        } else {
            prop_assert!(std::panic::catch_unwind(|| const_broadcast_shape::<3, 2, 3>(a, b)).is_err());
        }
    }

    #[test]
    fn an_axis_set_is_a_set(axes in prop::collection::vec(-5..5_isize, 0..6), ndim in 0..6_usize) {
        let from_end = |axis: isize| if axis < 0 { axis + ndim.cast_signed() } else { axis };
        let expected: BTreeSet<isize> = axes.iter().map(|&axis| from_end(axis)).collect();
        let valid = expected.iter().all(|axis| (0..ndim.cast_signed()).contains(axis));
        match AxisSet::from_signed(&axes, ndim) {
            Ok(set) => {
                prop_assert!(valid);
                prop_assert!(set.as_slice().iter().map(|axis| axis.cast_signed()).eq(expected.iter().copied()));
                prop_assert!((0..7).all(|axis| set.contains(axis) == expected.contains(&axis.cast_signed())));
                prop_assert_eq!((set.len(), set.is_empty()), (expected.len(), axes.is_empty()));
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::AxisOutOfBounds);
                let out = |axis: &&isize| !(0..ndim.cast_signed()).contains(&from_end(**axis));
                prop_assert_eq!(axes.iter().filter(out).min().map(|&axis| axis as i128), error.axis());
            }
        }
    }
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
    assert_eq!(AxisSet::from([Axis(2), Axis(0)]), set);
    assert_eq!(AxisSet::from(&[0, 2][..]), set);
    assert_eq!([0, 2, 0].into_iter().collect::<AxisSet>(), set);
    assert_eq!([Axis(0), Axis(2)].into_iter().collect::<AxisSet>(), set);
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
