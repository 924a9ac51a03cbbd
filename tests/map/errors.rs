//! Every error of the fused operations: its words and its data.

use common::{assert_words, empty, refused};
use ndarray::{Array2, ErrorKind, arr0};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{BroadcastError, broadcast_apply, broadcast_map, broadcast_map_sum_to};

#[track_caller]
fn assert_incompatible<T>(result: Result<T, BroadcastError>, message: &str) {
    assert_words(result, "Incompatible", message, ErrorKind::IncompatibleShape);
}

#[test]
fn map() {
    let (a, b, c) = (empty(&[2, 3]), empty(&[4]), empty(&[1]));
    assert_incompatible(
        broadcast_map((&a, &b), |(), ()| 0),
        "cannot broadcast shapes [2, 3] and [4] together: axis 1 has sizes 3 and 4, expected equal sizes or 1",
    );
    assert_incompatible(
        broadcast_map((&c, &a, &b), |(), (), ()| 0),
        "cannot broadcast shapes [1], [2, 3] and [4] together: \
         axis 1 has sizes 3 and 4 (shapes 1 and 2), expected equal sizes or 1",
    );
    let zero = arr0(0_u8);
    let huge = zero.broadcast_to([1_usize << 62]).unwrap().into_dyn();
    let words = "cannot broadcast shapes [4611686018427387904] and [1] together: \
                 the result [4611686018427387904] with elements of 4 bytes is larger than isize::MAX bytes";
    assert_words(broadcast_map((&huge, &c), |_, ()| 0_i32), "TooLarge", words, ErrorKind::Overflow);
    let words = "cannot broadcast shape [4611686018427387904]: \
                 the result [4611686018427387904] with elements of 4 bytes is larger than isize::MAX bytes";
    assert_words(broadcast_map(&huge, |_| 0_i32), "TooLarge", words, ErrorKind::Overflow);
}

#[test]
fn apply_and_copies() {
    let mut out = Array2::from_elem((3, 4), ());
    let (a, b, deep) = (empty(&[3, 1]), empty(&[5]), empty(&[2, 3, 4]));
    let one = "cannot broadcast shape [5] to output [3, 4]: \
               axis 1 has sizes 5 and 4, expected equal sizes or 1 in the operand";
    assert_incompatible(broadcast_apply(&mut out, &b, |(), ()| ()), one);
    assert_incompatible(broadcast_apply(&mut out, (&b,), |(), ()| ()), one);
    assert_incompatible(b.materialize_into(&mut out), one);
    assert_incompatible(
        broadcast_apply(&mut out, (&a, &b), |(), (), ()| ()),
        "cannot broadcast shapes [3, 1] and [5] to output [3, 4]: \
         axis 1 has sizes 5 and 4 (shape 1 and the output), expected equal sizes or 1 in the operand",
    );
    // the output never stretches
    assert_incompatible(
        broadcast_apply(&mut Array2::from_elem((1, 4), ()), &a, |(), ()| ()),
        "cannot broadcast shape [3, 1] to output [1, 4]: \
         axis 0 has sizes 3 and 1, expected equal sizes or 1 in the operand",
    );
    let words = "cannot broadcast shapes [5] and [2, 3, 4] to output [3, 4]: \
                 the output has 2 axes, expected at least 3";
    let kind = ErrorKind::IncompatibleShape;
    assert_words(broadcast_apply(&mut out, (&b, &deep), |(), (), ()| ()), "TooFewAxes", words, kind);
    let words =
        "cannot broadcast shape [2, 3, 4] to output [3, 4]: the output has 2 axes, expected at least 3";
    assert_words(deep.materialize_into(&mut out), "TooFewAxes", words, kind);
    let error = refused(broadcast_apply(&mut out, (&a, &b), |(), (), ()| ()));
    assert_eq!((error.axis(), error.operands()), (Some(1), Some([1, 2])));
    assert_eq!(
        (error.sizes(), error.shapes()),
        (&["5".into(), "4".into()][..], vec!["[3, 1]".into(), "[5]".into(), "[3, 4]".to_string()])
    );
}

#[test]
fn map_sum_to() {
    let one = arr0(1);
    let (a, b) = (one.broadcast_to((3, 4)).unwrap(), one.broadcast_to(4).unwrap());
    assert_incompatible(
        broadcast_map_sum_to((&a, &arr0(1).broadcast_to(5).unwrap()), [4], |a, b| a * b),
        "cannot broadcast shapes [3, 4] and [5] together: axis 1 has sizes 4 and 5, expected equal sizes or 1",
    );
    assert_incompatible(
        broadcast_map_sum_to((&a, &b), [3], |a, b| a * b),
        "cannot broadcast shapes [3, 4] and [4] together and sum to [3]: \
         axis 1 has sizes 4 and 3, expected equal sizes or 1 in the target",
    );
    assert_incompatible(
        broadcast_map_sum_to(b.view(), [0], |b| b + 1),
        "cannot broadcast shape [4] and sum to [0]: \
         axis 0 has sizes 4 and 0, expected equal sizes or 1 in the target",
    );
    // the size comes from the second operand
    assert_incompatible(
        broadcast_map_sum_to((&b, &a), [5, 4], |b, a| b * a),
        "cannot broadcast shapes [4] and [3, 4] together and sum to [5, 4]: \
         axis 0 has sizes 3 and 5, expected equal sizes or 1 in the target",
    );
    let words = "cannot broadcast shape [4] and sum to [1, 4]: the target has 2 axes, expected at most 1";
    let kind = ErrorKind::IncompatibleShape;
    assert_words(broadcast_map_sum_to(b.view(), [1, 4], |b| b + 1), "TooManyAxes", words, kind);
    let words = "cannot broadcast shape [4] and sum to [-1]: axis 0 of the target is -1, \
                 expected a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)";
    assert_words(
        broadcast_map_sum_to(b.view(), [-1], |b| b + 1),
        "InvalidSize",
        words,
        ErrorKind::RangeLimited,
    );
    let huge = one.broadcast_to([1_usize << 61]).unwrap();
    let words = "cannot broadcast shape [2305843009213693952] and sum to [2305843009213693952]: \
                 the result [2305843009213693952] with elements of 8 bytes is larger than isize::MAX bytes";
    let sum = broadcast_map_sum_to(huge, 1_usize << 61, |_| 1_i64);
    assert_words(sum, "TooLarge", words, ErrorKind::Overflow);
}
