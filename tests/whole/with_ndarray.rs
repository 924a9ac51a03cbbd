//! The functions of `examples/wine/with_crate.rs` with ndarray alone. The results are the same, but a shape that does not fit
//! panics, and every axis is counted by hand.

use super::{Parameters, Prediction};
use ndarray::{Array2, Axis};

/// (x - mean) / deviation for each kind of measurement.
pub(crate) fn standardise(measured: &Array2<f64>) -> Option<Array2<f64>> {
    let mean = measured.mean_axis(Axis(0))?;
    let deviation = measured.std_axis(Axis(0), 0.0).mapv(|d| if d == 0.0 { 1.0 } else { d });
    Some((measured - &mean) / &deviation)
}

/// The Euclidean distance of every row to every row.
pub(crate) fn distances(means: &Array2<f64>) -> Array2<f64> {
    let rows = means.view().insert_axis(Axis(1));
    let squares = (&rows - means).mapv(|difference| difference * difference);
    squares.sum_axis(Axis(2)).mapv(f64::sqrt)
}

/// The logarithm of the softmax of `(x * scale) · weight + bias`.
pub(crate) fn predict(x: &Array2<f64>, parameters: &Parameters) -> Prediction {
    let scaled = x * &parameters.scale;
    let scores = scaled.dot(&parameters.weight) + &parameters.bias;
    // exponentials of differences from the largest score, so that none overflows
    let largest = scores.fold_axis(Axis(1), f64::NEG_INFINITY, |&a, &b| a.max(b)).insert_axis(Axis(1));
    let smaller = scores - &largest;
    let sums = smaller.mapv(f64::exp).sum_axis(Axis(1)).insert_axis(Axis(1));
    Prediction { scaled, log_likely: smaller - sums.mapv(f64::ln) }
}

/// The gradient of the loss.
pub(crate) fn gradient(
    x: &Array2<f64>,
    own: &Array2<f64>,
    parameters: &Parameters,
    prediction: &Prediction,
) -> Parameters {
    let wines = x.nrows() as f64;
    let of_scores = (prediction.log_likely.mapv(f64::exp) - own) / wines;
    let of_scaled = of_scores.dot(&parameters.weight.t());
    Parameters {
        scale: (of_scaled * x).sum_axis(Axis(0)),
        weight: prediction.scaled.t().dot(&of_scores),
        bias: of_scores.sum_axis(Axis(0)),
    }
}
