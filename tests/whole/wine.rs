//! The example `wine` and the same with ndarray alone, which it prints beside itself.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests")]

use example::{Parameters, Prediction};
use ndarray::{Array2, ArrayBase, Data, Dimension};
use std::panic::catch_unwind;

#[allow(dead_code, reason = "it has a `main` of its own")]
#[path = "../../examples/wine/main.rs"]
mod example;

/// The example has only its text.
#[path = "../../examples/wine/with_ndarray.rs"]
mod with_ndarray;

use example::with_crate;

fn assert_close<D: Dimension>(
    a: &ArrayBase<impl Data<Elem = f64>, D>,
    b: &ArrayBase<impl Data<Elem = f64>, D>,
) {
    assert_eq!(a.shape(), b.shape());
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} and {b}"));
}

fn measured() -> Array2<f64> {
    Array2::from_shape_fn((7, 4), |(i, j)| if j == 3 { 5.0 } else { ((3 * i + 5 * j) as f64).sin() * 40.0 })
}

#[test]
fn both_texts_give_the_same() {
    let x = with_crate::standardise(&measured()).unwrap();
    assert_close(&x, &with_ndarray::standardise(&measured()).unwrap());
    assert_close(&with_crate::distances(&x).unwrap(), &with_ndarray::distances(&x));

    let own = Array2::from_shape_fn((7, 3), |(i, j)| f64::from(i % 3 == j));
    let mut parameters = Parameters::start(4);
    parameters.bias[1] = -0.5;
    parameters.scale[2] = 3.0;
    let (ours, plain) =
        (with_crate::predict(&x, &parameters).unwrap(), with_ndarray::predict(&x, &parameters));
    assert_close(&ours.scaled, &plain.scaled);
    assert_close(&ours.log_likely, &plain.log_likely);
    let (ours, plain) = (
        with_crate::gradient(&x, &own, &parameters, &ours).unwrap(),
        with_ndarray::gradient(&x, &own, &parameters, &plain),
    );
    assert_close(&ours.scale, &plain.scale);
    assert_close(&ours.weight, &plain.weight);
    assert_close(&ours.bias, &plain.bias);
}

#[test]
fn a_shape_that_does_not_fit_is_an_error_in_one_and_a_panic_in_the_other() {
    let x = measured();
    let of_bias = |len| {
        let mut parameters = Parameters::start(4);
        parameters.bias = vec![0.5; len].into();
        parameters
    };
    assert_eq!(
        with_crate::predict(&x, &of_bias(2)).err().unwrap().to_string(),
        "cannot broadcast shape [2] to output [7, 3]: \
         axis 1 has sizes 2 and 3, expected equal sizes or 1 in the operand",
    );
    assert!(catch_unwind(|| with_ndarray::predict(&measured(), &of_bias(2))).is_err());
}

/// The gradient of a bias for all cultivars is a sum over both axes: one text has the axes from the shape, the other gives
/// an array of another shape.
#[test]
fn only_the_crates_text_takes_the_axes_from_the_shape() {
    let (x, own) = (measured(), Array2::from_shape_fn((7, 3), |(i, j)| f64::from(i % 3 == j)));
    let mut parameters = Parameters::start(4);
    parameters.bias = vec![0.5].into();
    let prediction = with_crate::predict(&x, &parameters).unwrap();
    let gradient = with_crate::gradient(&x, &own, &parameters, &prediction).unwrap();
    assert_eq!(gradient.bias.shape(), [1]);
    assert_eq!(with_ndarray::gradient(&x, &own, &parameters, &prediction).bias.shape(), [3]);
}

#[test]
fn the_picture_has_every_distance_and_the_whole_training() {
    let distances = ndarray::array![[0.0, 1.25], [1.25, 0.0]];
    let svg = example::chart::draw(&[[1.5, 0.25], [0.5, 0.75], [0.25, 1.0]], &distances);
    assert_eq!(svg.matches("1.25</text>").count(), 2);
    assert_eq!(svg.matches("<path class=\"line").count(), 2);
    assert_eq!(svg.matches('L').count(), 4);
    assert!(!svg.contains("NaN"));
    example::chart::draw(&[[f64::NAN, 0.0]], &Array2::zeros((0, 0)));
}
