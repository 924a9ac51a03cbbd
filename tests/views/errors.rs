//! Every error: its words, its picture, its data, and the order of the checks.

use common::{assert_words, empty, kind, refused};
use ndarray::ErrorKind;
use ndarray_broadcast::ErrorKind::{
    AxisOutOfBounds, Incompatible, InvalidSize, InvalidText, PlaceholderOnNewAxis,
};
use ndarray_broadcast::partial::PartialShape;
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, broadcast_arrays, broadcast_shapes, broadcast_to_match_in_place,
    broadcast_to_match3_in_place, broadcast_views, explain, reduction_axes, resolve_target,
};

const HUGE: isize = 1 << 40;

#[test]
fn incompatible() {
    let assert_words = |result, message: &str| {
        assert_words(result, "Incompatible", message, ErrorKind::IncompatibleShape);
    };
    let a = empty(&[2, 3]);
    let together = "cannot broadcast shapes [2, 3] and [4] together: axis 1 has sizes 3 and 4, expected equal sizes or 1";
    assert_words(a.broadcast_to_match(&empty(&[4])).map(drop), together);
    assert_words(broadcast_arrays((&a, &empty(&[4]))).map(drop), together);
    assert_words(broadcast_views(&[a.view(), empty(&[4]).view()]).map(drop), together);
    assert_words(broadcast_shapes(&[&[2, 3][..], &[4]]).map(drop), together);
    assert_words(broadcast_to_match_in_place(&mut a.view(), &mut empty(&[4]).view()), together);
    assert_words(
        a.broadcast_to_match3(&empty(&[1]), &empty(&[3, 3])).map(drop),
        "cannot broadcast shapes [2, 3], [1] and [3, 3] together: \
         axis 0 has sizes 2 and 3 (shapes 0 and 2), expected equal sizes or 1",
    );
    assert_words(
        broadcast_to_match3_in_place(
            &mut empty(&[]).view(),
            &mut empty(&[0]).view(),
            &mut empty(&[5]).view(),
        ),
        "cannot broadcast shapes [], [0] and [5] together: \
         axis 0 has sizes 0 and 5 (shapes 1 and 2), expected equal sizes or 1",
    );
    assert_words(
        broadcast_shapes(&[&[3][..], &[], &[1, 1], &[2, 4]]).map(drop),
        "cannot broadcast shapes [3], [], [1, 1] and [2, 4] together: \
         axis 1 has sizes 3 and 4 (shapes 0 and 3), expected equal sizes or 1",
    );
    let to = "cannot broadcast shape [2, 3] to [4, -1, 5]: \
              axis 2 has sizes 3 and 5, expected equal sizes or 1 in the array";
    assert_words(a.broadcast_to([4, -1, 5]).map(drop), to);
    assert_words(a.view().into_broadcast_to([4, -1, 5]).map(drop), to);
    assert_words(a.view().broadcast_in_place([4, -1, 5]), to);
    assert_words(resolve_target(&[2, 3], &[4, -1, 5]).map(drop), to);
    let to = "cannot broadcast shape [2, 3] to [2, 1]: axis 1 has sizes 3 and 1, expected equal sizes or 1 in the array";
    assert_words(a.broadcast_to_match_shape([2, 1]).map(drop), to);
    assert_words(reduction_axes(&[2, 3], &[2, 1]).map(drop), to);
    let along = "cannot broadcast shape [2, 3] along axes [1] to [2, 9, 1]: axis 2 has sizes 3 and 1, expected equal sizes";
    assert_words(a.broadcast_axes([2, 9, 1], [1]).map(drop), along);
    assert_words(a.broadcast_like(&empty(&[2, 9, 1]), 1).map(drop), along);
    assert_words(
        a.broadcast_in_dim([4, 9, 2], [2, 0]).map(drop),
        "cannot broadcast shape [2, 3] with its axes at [2, 0] of [4, 9, 2]: \
         axis 0 has sizes 3 and 4, expected equal sizes or 1 in the array",
    );
}

#[test]
fn overflow() {
    let assert_words = |result, message: &str| assert_words(result, "Overflow", message, ErrorKind::Overflow);
    let array = empty(&[1, 0]);
    let one = empty(&[1]);
    assert_words(
        broadcast_shapes(&[[1 << 40, 1], [1, 1 << 40]]).map(drop),
        "cannot broadcast shapes [1099511627776, 1] and [1, 1099511627776] together: \
         the non-zero sizes of the result [1099511627776, 1099511627776] multiply past isize::MAX",
    );
    assert_words(
        broadcast_shapes(&[[usize::MAX]]).map(drop),
        "cannot broadcast shape [18446744073709551615]: \
         the non-zero sizes of the result [18446744073709551615] multiply past isize::MAX",
    );
    let rule = "the non-zero sizes of the result [1099511627776, 1099511627776, 0] multiply past isize::MAX";
    assert_words(
        array.broadcast_to([HUGE, HUGE, -1]).map(drop),
        &format!("cannot broadcast shape [1, 0] to [1099511627776, 1099511627776, -1]: {rule}"),
    );
    assert_words(
        array.broadcast_to_match_shape([HUGE, HUGE, 0]).map(drop),
        &format!("cannot broadcast shape [1, 0] to [1099511627776, 1099511627776, 0]: {rule}"),
    );
    assert_words(
        array.broadcast_axes([HUGE, 1, 0, HUGE], [0, 3]).map(drop),
        "cannot broadcast shape [1, 0] along axes [0, 3] to [1099511627776, 1, 0, 1099511627776]: \
         the non-zero sizes of the result [1099511627776, 1, 0, 1099511627776] multiply past isize::MAX",
    );
    assert_words(
        one.broadcast_in_dim((HUGE, HUGE), 1).map(drop),
        "cannot broadcast shape [1] with its axes at [1] of [1099511627776, 1099511627776]: \
         the non-zero sizes of the result [1099511627776, 1099511627776] multiply past isize::MAX",
    );
}

#[test]
fn invalid_size() {
    let assert_words =
        |result, message: &str| assert_words(result, "InvalidSize", message, ErrorKind::RangeLimited);
    let array = empty(&[3]);
    assert_words(
        array.broadcast_to((2, -2)).map(drop),
        "cannot broadcast shape [3] to [2, -2]: axis 1 of the target is -2, expected -1 or a size from 0 to isize::MAX",
    );
    assert_words(
        array.broadcast_to([u64::MAX]).map(drop),
        "cannot broadcast shape [3] to [18446744073709551615]: \
         axis 0 of the target is 18446744073709551615, expected -1 or a size from 0 to isize::MAX",
    );
    assert_words(
        array.broadcast_to_match_shape([2, -1]).map(drop),
        "cannot broadcast shape [3] to [2, -1]: axis 1 of the target is -1, expected a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)",
    );
    assert_words(
        reduction_axes(&[3], &[usize::MAX, 3]).map(drop),
        "cannot broadcast shape [3] to [18446744073709551615, 3]: \
         axis 0 of the target is 18446744073709551615, expected a size from 0 to isize::MAX",
    );
    assert_words(
        array.broadcast_axes([-1, 3], [0]).map(drop),
        "cannot broadcast shape [3] along axes [0] to [-1, 3]: \
         axis 0 of the target is -1, expected a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)",
    );
    assert_words(
        array.broadcast_in_dim([2, -1], [1]).map(drop),
        "cannot broadcast shape [3] with its axes at [1] of [2, -1]: \
         axis 1 of the target is -1, expected a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)",
    );
    // the picture leaves out an array that has no place of its own for each axis
    assert_words(
        empty(&[2, 3]).broadcast_in_dim([2, -1], [0]).map(drop),
        "cannot broadcast shape [2, 3] with its axes at [0] of [2, -1]: \
         axis 1 of the target is -1, expected a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)",
    );
}

#[test]
fn numbers_of_axes() {
    let assert_few =
        |result, message: &str| assert_words(result, "TooFewAxes", message, ErrorKind::IncompatibleShape);
    let assert_count =
        |result, message: &str| assert_words(result, "AxisCount", message, ErrorKind::IncompatibleShape);
    let array = empty(&[2, 1, 3]);
    let few = "cannot broadcast shape [2, 1, 3] to [3]: the target has 1 axis, expected at least 3";
    assert_few(array.broadcast_to(3).map(drop), few);
    assert_few(array.broadcast_to_match_shape([3]).map(drop), few);
    assert_few(reduction_axes(&[2, 1, 3], &[3]).map(drop), few);
    assert_few(
        array.broadcast_to([-1, -1]).map(drop),
        "cannot broadcast shape [2, 1, 3] to [-1, -1]: the target has 2 axes, expected at least 3",
    );
    assert_count(
        array.broadcast_axes((2, 1, 3), [0]).map(drop),
        "cannot broadcast shape [2, 1, 3] along axes [0] to [2, 1, 3]: \
         the target has 3 axes, expected 4, those of the array and those named",
    );
    assert_count(
        array.broadcast_in_dim((2, 1, 3), [0, 1]).map(drop),
        "cannot broadcast shape [2, 1, 3] with its axes at [0, 1] of [2, 1, 3]: \
         2 axes named, expected 3, one for each axis of the array",
    );
}

#[test]
fn placeholder_on_new_axis() {
    let assert_words = |result, message: &str| {
        assert_words(result, "PlaceholderOnNewAxis", message, ErrorKind::IncompatibleShape);
    };
    let message = "cannot resolve -1 at axis 1 of target [4, -1, 2, 3]: shape [2, 3] has no such axis";
    assert_words(empty(&[2, 3]).broadcast_to([4, -1, 2, 3]).map(drop), message);
    assert_words(resolve_target(&[2, 3], &[4, -1, 2, 3]).map(drop), message);
    assert_words(
        empty(&[]).broadcast_to(-1).map(drop),
        "cannot resolve -1 at axis 0 of target [-1]: shape [] has no such axis",
    );
}

#[test]
fn axis_out_of_bounds() {
    let assert_words =
        |result, message: &str| assert_words(result, "AxisOutOfBounds", message, ErrorKind::OutOfBounds);
    let array = empty(&[3]);
    assert_words(
        array.broadcast_axes((2, 3), [9, 2, 0]).map(drop),
        "cannot broadcast shape [3] along axes [9, 2, 0] to [2, 3]: axis 2 is out of bounds for 2 axes of the target",
    );
    assert_words(
        array.broadcast_in_dim((2, 3), usize::MAX).map(drop),
        "cannot broadcast shape [3] with its axes at [18446744073709551615] of [2, 3]: \
         axis 18446744073709551615 is out of bounds for 2 axes of the target",
    );
    assert_words(
        AxisSet::from_signed(&[3, 0, -4, -5], 3).map(drop),
        "cannot make an axis set of [3, 0, -4, -5]: axis -5 is out of bounds for 3 axes",
    );
    assert_words(
        AxisSet::from_signed(&[isize::MAX, isize::MIN], 0).map(drop),
        "cannot make an axis set of [9223372036854775807, -9223372036854775808]: \
         axis -9223372036854775808 is out of bounds for 0 axes",
    );
}

#[test]
fn duplicate_axis() {
    let assert_words =
        |result, message: &str| assert_words(result, "DuplicateAxis", message, ErrorKind::Unsupported);
    assert_words(
        empty(&[3]).broadcast_axes((2, 2, 3), [1, 0, 0, 1]).map(drop),
        "cannot broadcast shape [3] along axes [1, 0, 0, 1] to [2, 2, 3]: axis 0 is named more than once",
    );
    assert_words(
        empty(&[3, 3]).broadcast_in_dim((2, 3), [1, 1]).map(drop),
        "cannot broadcast shape [3, 3] with its axes at [1, 1] of [2, 3]: axis 1 is named more than once",
    );
}

/// What errors know, beside their words.
#[test]
fn data() {
    let error = refused(broadcast_shapes(&[&[7][..], &[5, 1], &[4, 1], &[3, 7]]));
    assert_eq!((error.kind(), error.axis(), error.operands()), (Incompatible, Some(0), Some([1, 2])));
    assert_eq!(error.operation(), "broadcast shapes [7], [5, 1], [4, 1] and [3, 7] together");
    assert_eq!(
        (error.shapes().join(" "), error.sizes().join(" ")),
        ("[7] [5, 1] [4, 1] [3, 7]".into(), "5 4".into())
    );
    let error = refused(empty(&[2]).broadcast_to((1, -7_i8, u64::MAX)));
    assert_eq!((error.kind(), error.axis(), error.operands()), (InvalidSize, Some(1), None));
    assert_eq!(error.shapes(), ["[2]", "[1, -7, 18446744073709551615]"]);
    assert_eq!(error.sizes(), ["-7"]);
    let error = refused(empty(&[2]).broadcast_in_dim((3, 3), [5]));
    assert_eq!((error.kind(), error.axis(), error.sizes()), (AxisOutOfBounds, Some(5), &[][..]));
    assert_eq!(error, refused(empty(&[2]).broadcast_in_dim((3, 3), [5])));
    assert_ne!(error, refused(empty(&[2]).broadcast_in_dim((3, 3), [4])));
    let error = refused(empty(&[2, 3]).broadcast_to([4, -1, 2, 3]));
    assert_eq!(error.operation(), "resolve -1 at axis 1 of target [4, -1, 2, 3]");
    assert_eq!((error.kind(), error.axis(), error.position()), (PlaceholderOnNewAxis, Some(1), None));
    let error = refused("2xx3".parse::<PartialShape>());
    assert_eq!((error.kind(), error.axis(), error.position()), (InvalidText, None, Some(2)));
    assert_eq!((error.operation(), error.shapes()), ("read \"2xx3\"".into(), vec![]));
}

#[test]
fn an_error_is_small_and_can_be_passed_on() {
    fn passes<E: std::error::Error + Clone + Eq + Send + Sync + Unpin + 'static>() -> usize {
        size_of::<E>()
    }
    assert_eq!(passes::<BroadcastError>(), size_of::<usize>());
    assert_eq!(size_of::<Option<BroadcastError>>(), size_of::<usize>());
    assert_eq!(size_of::<Result<(), BroadcastError>>(), size_of::<usize>());
}

/// The first axis with clashing sizes is the one reported, and of it the first two operands.
#[test]
fn the_first_clash_is_reported() {
    let clash = |shapes: &[&[usize]]| {
        let error = refused(broadcast_shapes(shapes));
        let sizes: Vec<usize> =
            error.sizes().iter().map(|size| size.parse().expect("a known size")).collect();
        (error.axis().expect("an axis"), [sizes[0], sizes[1]], error.operands().expect("two operands"))
    };
    assert_eq!(clash(&[&[2, 3], &[4, 5]]), (0, [2, 4], [0, 1]));
    assert_eq!(clash(&[&[3], &[1, 5], &[2, 1], &[4, 3]]), (0, [2, 4], [2, 3]));
    assert_eq!(clash(&[&[1, 1], &[0, 1], &[2, 1], &[0, 1]]), (0, [0, 2], [1, 2]));
    assert_eq!(clash(&[&[2], &[2], &[2], &[3]]), (0, [2, 3], [0, 3]));
    assert_eq!(clash(&[&[2], &[3], &[4]]), (0, [2, 3], [0, 1]));
}

/// Where several things are wrong with one call, each is seen once those before it are put right.
#[test]
fn the_order_of_the_checks() {
    let array = empty(&[2, 3]);
    let to = |target: &[isize]| {
        let error = kind(array.broadcast_to(target));
        assert_eq!(kind(array.view().into_broadcast_to(target)), error);
        assert_eq!(kind(array.view().broadcast_in_place(target)), error);
        assert_eq!(kind(resolve_target(&[2, 3], target)), error);
        error
    };
    assert_eq!(to(&[-2]), "InvalidSize");
    assert_eq!(to(&[-1, -1, HUGE, HUGE, -2]), "InvalidSize");
    assert_eq!(to(&[9]), "TooFewAxes");
    assert_eq!(to(&[-1, HUGE, HUGE, 9]), "PlaceholderOnNewAxis");
    assert_eq!(to(&[HUGE, HUGE, 9, 3]), "Incompatible");
    assert_eq!(to(&[HUGE, HUGE, -1, 3]), "Overflow");

    let shape = |target: &[isize]| kind(array.broadcast_to_match_shape(target));
    assert_eq!(shape(&[-1]), "InvalidSize");
    assert_eq!(shape(&[-1, HUGE, HUGE, 9]), "InvalidSize");
    assert_eq!(shape(&[9]), "TooFewAxes");
    assert_eq!(shape(&[HUGE, HUGE, 9, 3]), "Incompatible");
    assert_eq!(shape(&[HUGE, HUGE, 2, 3]), "Overflow");

    let axes = |shape: &[isize], axes: &[usize]| kind(array.broadcast_axes(shape, axes));
    assert_eq!(axes(&[HUGE, HUGE, 9, -1], &[7, 0, 0]), "InvalidSize");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0, 0, 7]), "AxisOutOfBounds");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0, 0]), "DuplicateAxis");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0]), "AxisCount");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0, 1]), "Incompatible");
    assert_eq!(axes(&[HUGE, HUGE, 2, 3], &[0, 1]), "Overflow");

    let in_dim = |shape: &[isize], axes: &[usize]| kind(array.broadcast_in_dim(shape, axes));
    assert_eq!(in_dim(&[-1, HUGE, HUGE, 9], &[7, 7, 0]), "InvalidSize");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[7, 7, 0]), "AxisCount");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[7, 7]), "AxisOutOfBounds");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[3, 3]), "DuplicateAxis");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[2, 3]), "Incompatible");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 3], &[2, 3]), "Overflow");

    assert_eq!(kind(broadcast_shapes(&[&[1 << 40, 1 << 40, 2][..], &[3]])), "Incompatible");
}

#[test]
fn shapes_that_fit_are_explained() {
    let lines = |shapes: &[&[usize]]| explain(shapes).to_string();
    assert_eq!(
        lines(&[&[8, 1, 6], &[7, 1], &[]]),
        "broadcast shapes [8, 1, 6], [7, 1] and [] together\n  \
         [8, 1, 6]\n  \
         [   7, 1]\n  \
         [       ]\n  \
         ---------\n  \
         [8, 7, 6]",
    );
}

/// A picture has at most 800 characters more than eight times those of its sizes, with two for each separator.
#[test]
fn pictures_of_mostly_spaces_are_left_out() {
    let is_pictured = |shapes: usize, axes: usize| {
        let (long, short) = (vec![2; axes], [3]);
        let mut operands = vec![&short[..]; shapes];
        operands[0] = &long;
        format!("{:#}", broadcast_shapes(&operands).expect_err("sizes 2 and 3")).contains('\n')
    };
    // 14 rows of 184 for 74 sizes, and 9 rows of 982 for 335
    assert_eq!([is_pictured(14, 61), is_pictured(14, 62)], [true, false]);
    assert_eq!([is_pictured(9, 327), is_pictured(9, 328)], [true, false]);
}
