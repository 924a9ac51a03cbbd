//! The mathematics of the example, by broadcasting. A test compares the results with those of ndarray alone.

use super::{Parameters, Prediction};
use ndarray::{Array2, Axis};
use ndarray_broadcast::{BroadcastError, broadcast_apply, broadcast_map, fused, keepdims, prelude::*};

/// (x - mean) / deviation for each kind of measurement: `[178, 13]` with `[13]` and `[13]`, in one pass.
pub(crate) fn standardise(measured: &Array2<f64>) -> Result<Array2<f64>, BroadcastError> {
    let mean = measured.mean_axes(0)?;
    let deviation = measured.std_axis(Axis(0), 0.0).mapv(|d| if d == 0.0 { 1.0 } else { d });
    broadcast_map((measured, &mean, &deviation), |x, mean, deviation| (x - mean) / deviation)
}

/// The Euclidean distance of every row to every row: `[3, 1, 13]` with `[3, 13]` is `[3, 3, 13]`.
pub(crate) fn distances(means: &Array2<f64>) -> Result<Array2<f64>, BroadcastError> {
    let rows = means.view().insert_axis(Axis(1));
    let squares = fused((&rows, means), |from, to| (from - to) * (from - to)).sum_axes(2)?;
    Ok(squares.mapv(f64::sqrt))
}

/// The logarithm of the softmax of `(x * scale) · weight + bias`: `scale` and `bias` go along the wines.
pub(crate) fn predict(x: &Array2<f64>, parameters: &Parameters) -> Result<Prediction, BroadcastError> {
    let scaled = broadcast_map((x, &parameters.scale), |x, scale| x * scale)?;
    let mut scores = scaled.dot(&parameters.weight);
    broadcast_apply(&mut scores, &parameters.bias, |score, bias| *score += bias)?;
    // exponentials of differences from the largest score, so that none overflows
    let largest = scores.max_axes(keepdims(1))?;
    broadcast_apply(&mut scores, &largest, |score, largest| *score -= largest)?;
    let sums = fused(&scores, |score| score.exp()).sum_axes(keepdims(1))?;
    broadcast_apply(&mut scores, &sums, |score, sum| *score -= sum.ln())?;
    Ok(Prediction { scaled, log_likely: scores })
}

/// The gradient of the loss. Where `predict` broadcasts an array, this sums to its shape, whatever that is.
pub(crate) fn gradient(
    x: &Array2<f64>,
    own: &Array2<f64>,
    parameters: &Parameters,
    prediction: &Prediction,
) -> Result<Parameters, BroadcastError> {
    let wines = x.nrows() as f64;
    let of_scores = broadcast_map((&prediction.log_likely, own), |log, own| (log.exp() - own) / wines)?;
    let of_scaled = of_scores.dot(&parameters.weight.t());
    Ok(Parameters {
        scale: fused((&of_scaled, x), |delta, x| delta * x).sum_to(&parameters.scale)?,
        weight: prediction.scaled.t().dot(&of_scores),
        bias: of_scores.sum_to(&parameters.bias)?,
    })
}
