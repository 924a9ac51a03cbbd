//! What can be wrong with a sum: words, the order of the checks, and shapes too large to be stored.

use common::{assert_words, empty, kind, refused};
use ndarray::{Array, Array1, Array2, ArrayD, Axis, ErrorKind, IxDyn, arr0, array};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{AxisSet, reduction_axes};
use std::time::{Duration, Instant};

#[test]
fn axis_out_of_bounds() {
    let assert_words = |result: Result<ArrayD<i64>, _>, message: &str| {
        assert_words(result, "AxisOutOfBounds", message, ErrorKind::OutOfBounds);
    };
    let delta = Array::<i64, _>::zeros((2, 3, 4));
    let message =
        "cannot sum shape [2, 3, 4] over axes [5, 0, 3]: axis 3 is out of bounds for 3 axes of the array";
    assert_words(delta.sum_axes([5, 0, 3]).map(Array::into_dyn), message);
    assert_words(delta.sum_axes([5, 0, 3].map(Axis)).map(Array::into_dyn), message);
    assert_words(delta.sum_axes(vec![5, 0, 3]), message);
    assert_words(delta.sum_axes_keepdims(&[5, 0, 3][..]).map(Array::into_dyn), message);
    let sorted =
        "cannot sum shape [2, 3, 4] over axes [0, 3, 5]: axis 3 is out of bounds for 3 axes of the array";
    assert_words(delta.sum_axes(AxisSet::from([5, 0, 3])), sorted);
    assert_words(
        arr0(1).sum_axes(&[0][..]),
        "cannot sum shape [] over axes [0]: axis 0 is out of bounds for 0 axes of the array",
    );
    assert_words(
        array![1].into_dyn().sum_axes(usize::MAX),
        "cannot sum shape [1] over axes [18446744073709551615]: \
         axis 18446744073709551615 is out of bounds for 1 axis of the array",
    );
}

#[test]
fn duplicate_axis() {
    let delta = Array::<i64, _>::zeros((2, 3, 4));
    let message = "cannot sum shape [2, 3, 4] over axes [2, 0, 2]: axis 2 is named more than once";
    let assert_words = |result: Result<ArrayD<i64>, _>| {
        assert_words(result, "DuplicateAxis", message, ErrorKind::Unsupported);
    };
    assert_words(delta.sum_axes([2, 0, 2]).map(Array::into_dyn));
    assert_words(delta.sum_axes([2, 0, 2].map(Axis)).map(Array::into_dyn));
    assert_words(delta.sum_axes(&[2, 0, 2][..]));
    assert_words(delta.sum_axes_keepdims([2, 0, 2]).map(Array::into_dyn));
    // the first that was there before
    let error = refused(delta.sum_axes([1, 0, 0, 1].to_vec()));
    assert_eq!((error.kind(), error.axis()), (ndarray_broadcast::ErrorKind::DuplicateAxis, Some(0)));
    // more axes than the array has, in a list of which the type does not say so
    assert_eq!(kind(delta.sum_axes(&[0, 1, 2, 0][..])), "DuplicateAxis");
}

/// Every way to sum to a shape, with the same message.
#[track_caller]
fn assert_sum_to(from: &[usize], to: &[usize], name: &str, message: &str) {
    let (delta, mut out) = (Array::from_elem(from, 1_i64), ArrayD::from_shape_fn(to, |_| 7));
    let before = out.clone();
    let kind = ErrorKind::IncompatibleShape;
    assert_words(delta.sum_to_shape(to), name, message, kind);
    assert_words(delta.sum_to_match(&out), name, message, kind);
    assert_words(delta.sum_to_match(&empty(to)), name, message, kind);
    assert_words(delta.sum_to_shape_into(&mut out), name, message, kind);
    assert_words(delta.add_sum_to(&mut out), name, message, kind);
    assert_words(delta.scaled_add_sum_to(2, &mut out), name, message, kind);
    assert_words(delta.into_sum_to_shape(to), name, message, kind);
    assert_eq!(out, before, "an error changes nothing");
}

#[test]
fn incompatible() {
    let words = |from: &[usize], to: &[usize], message| assert_sum_to(from, to, "Incompatible", message);
    words(
        &[2, 3, 4],
        &[2, 4],
        "cannot sum shape [2, 3, 4] to [2, 4]: axis 1 has sizes 3 and 2, expected equal sizes or 1 in the target",
    );
    words(
        &[1],
        &[0],
        "cannot sum shape [1] to [0]: axis 0 has sizes 1 and 0, expected equal sizes or 1 in the target",
    );
    words(
        &[5, 0],
        &[0, 5],
        "cannot sum shape [5, 0] to [0, 5]: axis 0 has sizes 5 and 0, expected equal sizes or 1 in the target",
    );
    let error = refused(Array::<u8, _>::zeros((2, 3, 4)).sum_to_shape((2, 1, 5)));
    assert_eq!((error.axis(), error.operands()), (Some(2), Some([0, 1])));
    assert_eq!((error.sizes().concat(), error.shapes().concat()), ("45".into(), "[2, 3, 4][2, 1, 5]".into()));
}

#[test]
fn too_many_axes() {
    let words = |from: &[usize], to: &[usize], message| assert_sum_to(from, to, "TooManyAxes", message);
    words(&[3], &[1, 3], "cannot sum shape [3] to [1, 3]: the target has 2 axes, expected at most 1");
    words(&[], &[1], "cannot sum shape [] to [1]: the target has 1 axis, expected at most 0");
}

#[test]
fn invalid_size() {
    let delta = Array2::<i64>::zeros((2, 3));
    for result in [delta.sum_to_shape((2, -1)), delta.clone().into_sum_to_shape([2, -1])] {
        assert_words(
            result,
            "InvalidSize",
            "cannot sum shape [2, 3] to [2, -1]: axis 1 of the target is -1, \
             expected a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)",
            ErrorKind::RangeLimited,
        );
    }
    assert_words(
        delta.sum_to_shape([u64::MAX]),
        "InvalidSize",
        "cannot sum shape [2, 3] to [18446744073709551615]: axis 0 of the target is 18446744073709551615, \
         expected a size from 0 to isize::MAX",
        ErrorKind::RangeLimited,
    );
}

#[test]
fn the_order_of_checks() {
    let delta = Array::<u8, _>::zeros((2, 3)).into_dyn();
    // a size that is none, before too many axes, before a mismatch
    assert_eq!(kind(delta.sum_to_shape([7, -1, 7, 7])), "InvalidSize");
    assert_eq!(kind(delta.sum_to_shape([7, 7, 7])), "TooManyAxes");
    assert_eq!(kind(delta.sum_to_shape([7, 3])), "Incompatible");
    // an axis that does not exist, before one that is repeated
    assert_eq!(kind(delta.sum_axes(&[0, 0, 2][..])), "AxisOutOfBounds");
    assert_eq!(kind(delta.sum_axes(&[0, 0, 1][..])), "DuplicateAxis");
    // both before a result that is too large
    let one = array![1_u64];
    let large = one.broadcast_to((1_usize << 30, 1_usize << 30)).expect("2^60 elements in 8 bytes");
    assert_eq!(kind(large.sum_axes(&[0, 2][..])), "AxisOutOfBounds");
    assert_eq!(kind(large.sum_axes(&[0, 0][..])), "DuplicateAxis");
    assert_eq!(kind(large.sum_to_shape((1_usize << 30, 2))), "Incompatible");
}

/// Views of 2^60 elements and more: what would have to be stored is refused at once, without a try.
#[test]
fn too_large() {
    let words = |result: Result<ArrayD<u64>, _>, message: &str| {
        assert_words(result, "TooLarge", message, ErrorKind::Overflow);
    };
    let one = array![1_u64];
    let large = one.broadcast_to((1_usize << 30, 1, 1_usize << 30)).expect("2^60 elements in 8 bytes");
    let rest =
        "the result [1073741824, 1, 1073741824] with elements of 8 bytes is larger than isize::MAX bytes";
    words(
        large.sum_axes([0_usize; 0]).map(Array::into_dyn),
        &format!("cannot sum shape [1073741824, 1, 1073741824] over axes []: {rest}"),
    );
    words(
        large.sum_axes(AxisSet::default()),
        &format!("cannot sum shape [1073741824, 1, 1073741824] over axes []: {rest}"),
    );
    words(
        large.sum_axes_keepdims([1]).map(Array::into_dyn),
        &format!("cannot sum shape [1073741824, 1, 1073741824] over axes [1]: {rest}"),
    );
    words(
        large.sum_axes([1]).map(Array::into_dyn),
        "cannot sum shape [1073741824, 1, 1073741824] over axes [1]: \
         the result [1073741824, 1073741824] with elements of 8 bytes is larger than isize::MAX bytes",
    );
    let to = format!("cannot sum shape [1073741824, 1, 1073741824] to [1073741824, 1, 1073741824]: {rest}");
    words(large.sum_to_shape(large.raw_dim()).map(Array::into_dyn), &to);
    words(large.sum_to_match(&large).map(Array::into_dyn), &to);
    let float = array![0.5_f64];
    let float = float.broadcast_to((1_usize << 31, 1_usize << 31)).expect("2^62 elements in 8 bytes");
    assert_eq!(kind(float.sum_axes([0_usize; 0])), "TooLarge");
    assert_eq!(kind(float.sum_to_shape(float.shape())), "TooLarge");
    // an empty axis makes the result empty, unless it is summed away
    let none = Array2::<f64>::zeros((0, 1));
    let none =
        none.broadcast_to((1_usize << 60, 0, 4)).map(|view| view.sum_axes([0_usize; 0]).map(|sum| sum.len()));
    assert_eq!(none, Ok(Ok(0)));
    let zeros = Array2::<f64>::zeros((0, 1));
    let zeros = zeros.broadcast_to((0, 1_usize << 61)).expect("no elements");
    assert_eq!(kind(zeros.sum_axes([0])), "TooLarge");
    assert_eq!(kind(zeros.sum_axes_keepdims([0])), "TooLarge");
    assert_eq!(kind(zeros.sum_to_shape((1, 1_usize << 61))), "TooLarge");
    assert_eq!(zeros.sum_axes([1]).map(|sum| sum.len()), Ok(0));
    assert_eq!(zeros.sum_axes([0, 1]).map(Array::into_scalar), Ok(0.0));
}

#[test]
fn many_axes_are_quick() {
    let start = Instant::now();
    let shape: Vec<usize> = (0..10_000).map(|axis| 1 + usize::from(axis % 1000 == 7)).collect();
    let delta = ArrayD::<i64>::ones(IxDyn(&shape));
    assert_eq!(delta.len(), 1024);
    let every: Vec<usize> = (0..10_000).collect();
    assert_eq!(delta.sum_axes(&every).map(|sum| sum.sum()), Ok(1024));
    let odd: AxisSet = (0..10_000).filter(|axis| axis % 2 == 1).collect();
    // sizes of 2 are at odd axes only
    assert_eq!(delta.sum_axes(&odd).map(|sum| (sum.ndim(), sum.len(), sum.sum())), Ok((5000, 1, 1024)));
    assert_eq!(delta.sum_axes_keepdims(&every[..5000]).map(|sum| (sum.ndim(), sum.len())), Ok((10_000, 32)));
    assert_eq!(delta.sum_to_shape(&shape[5000..]).map(|sum| sum.sum()), Ok(1024));
    let mut out = ArrayD::zeros(&shape[9000..]);
    assert_eq!(delta.add_sum_to(&mut out), Ok(()));
    assert_eq!(out.into_iter().collect::<Vec<_>>(), [512, 512]);
    assert_eq!(kind(delta.sum_to_match(&Array1::<i64>::zeros(3))), "Incompatible");
    assert_eq!(kind(delta.sum_axes([every.clone(), every].concat())), "DuplicateAxis");
    assert_eq!(reduction_axes(&[1], &shape).map(|axes| axes.len()), Ok(9_999));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
