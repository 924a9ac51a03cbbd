//! What errors of reductions say, and their pictures.

use ndarray::{Array1, Array2, array};
use ndarray_broadcast::{BroadcastError, fused, keepdims, prelude::*};
use std::fmt::Debug;

#[track_caller]
fn says<T: Debug>(result: Result<T, BroadcastError>, line: &str) {
    assert_eq!(result.expect_err(line).to_string(), line);
}

#[test]
fn of_one_operand() {
    let x = Array2::<f64>::zeros((2, 3));
    says(
        x.max_axes(5),
        "cannot take the maximum of shape [2, 3] over axes [5]: axis 5 is out of bounds for 2 axes of the array",
    );
    says(
        x.min_axes((0, 0)),
        "cannot take the minimum of shape [2, 3] over axes [0, 0]: axis 0 is named more than once",
    );
    says(
        x.mean_axes(keepdims(-3)),
        "cannot take the mean of shape [2, 3] over axes [-3]: axis -3 is out of bounds for 2 axes of the array",
    );
    says(
        x.reduce_to(2, 0.0, |a, b| a + b),
        "cannot reduce shape [2, 3] to [2]: axis 1 has sizes 3 and 2, expected equal sizes or 1 in the target",
    );
    says(
        fused(&x, |x| x + 1.0).sum_axes(2),
        "cannot sum shape [2, 3] over axes [2]: axis 2 is out of bounds for 2 axes of the array",
    );
    says(
        fused(&x, |x| x + 1.0).sum_to([1, 2, 3]),
        "cannot sum shape [2, 3] to [1, 2, 3]: the target has 3 axes, expected at most 2",
    );
    says(
        Array1::<f64>::zeros(0).min_axes(0),
        "cannot take the minimum of shape [0] over axes [0]: there is no minimum of 0 elements",
    );
    says(
        array![1_u8].mean_axes(0),
        "cannot take the mean of shape [1] over axes [0]: the element type does not hold fractions, \
         use `fused(&x, |&x| f64::from(x)).mean_axes(…)`",
    );
}

#[test]
fn of_several_operands() {
    let (x, row) = (Array2::<f64>::zeros((2, 3)), Array1::<f64>::zeros(3));
    let product = fused((&x, &row), |x, r| x * r);
    says(
        product.sum_axes(2),
        "cannot broadcast shapes [2, 3] and [3] together and sum over axes [2]: axis 2 is out of bounds for 2 axes of the joint shape",
    );
    says(
        product.max_axes((1, -1)),
        "cannot broadcast shapes [2, 3] and [3] together and take the maximum over axes [1, -1]: axis 1 is named more than once",
    );
    says(
        product.sum_to(2),
        "cannot broadcast shapes [2, 3] and [3] together and sum to [2]: axis 1 has sizes 3 and 2, expected equal sizes or 1 in the target",
    );
    says(
        product.sum_in_dim((3, 3), [1, 0]),
        "cannot broadcast shapes [2, 3] and [3] together and sum with axes [1, 0] to [3, 3]: axis 0 has sizes 2 and 3, expected equal sizes or 1 in the target",
    );
    says(
        product.sum_in_dim(3, [1, 0]),
        "cannot broadcast shapes [2, 3] and [3] together and sum with axes [1, 0] to [3]: 2 axes named, expected 1, one for each axis of the target",
    );
    let two = Array1::<f64>::zeros(2);
    says(
        fused((&x, &two), |x, y| x * y).max_axes(9),
        "cannot broadcast shapes [2, 3] and [2] together: axis 1 has sizes 3 and 2, expected equal sizes or 1",
    );
    let mut out = array![0.0, 0.0];
    says(
        product.add_sum_to(&mut out),
        "cannot broadcast shapes [2, 3] and [3] together and sum to [2]: axis 1 has sizes 3 and 2, expected equal sizes or 1 in the target",
    );
}

#[test]
fn pictures() {
    let (x, row) = (Array2::<f64>::zeros((2, 3)), Array1::<f64>::zeros(3));
    let product = fused((&x, &row), |x, r| x * r);
    assert_eq!(
        format!("{:#}", product.sum_to([1, 2]).expect_err("2 is not 3")),
        "cannot broadcast shapes [2, 3] and [3] together and sum to [1, 2]\n\
         \x20 [2, 3]\n\
         \x20 [   3]\n\
         \x20 [1, 2]\n\
         \x20     ^ axis 1: sizes 3 and 2, expected equal sizes or 1 in the target",
    );
    assert_eq!(
        format!("{:#}", product.sum_axes((1, 1)).expect_err("one axis")),
        "cannot broadcast shapes [2, 3] and [3] together and sum over axes [1, 1]\n\
         \x20 [2, 3]\n\
         \x20 [   3]\n\
         \x20     ^ axis 1 is named more than once",
    );
    assert_eq!(
        format!("{:#}", x.max_axes((1, 1)).expect_err("one axis")),
        "cannot take the maximum of shape [2, 3] over axes [1, 1]\n\
         \x20 [2, 3]\n\
         \x20 [   *]\n\
         \x20     ^ axis 1 is named more than once",
    );
}
