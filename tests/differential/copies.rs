// Included, so that rustfmt leaves the lines as the guide has them.
// Copies:

type Moments = (f64, f64, f64); // how many, their mean, their squared deviations from it

/// The moments of two parts. The mean is weighted, which keeps an infinity of either part.
fn combine_moments(a: Moments, b: Moments) -> Moments {
    let (count, apart) = (a.0 + b.0, b.1 - a.1);
    let mean = a.1 * (a.0 / count) + b.1 * (b.0 / count);
    (count, mean, a.2 + b.2 + apart * apart * a.0 * (b.0 / count))
}

/// The moments of each column. A single number deviates by 0 * x from its mean: by 0, or by
/// NaN if it is infinite.
fn moments(x: &ArrayRef2<f64>) -> Result<Array1<Moments>, BroadcastError> {
    fused(x, |&x| (1.0, x, 0.0 * x)).reduce_axes(0, (0.0, 0.0, 0.0), combine_moments)
}

/// The largest element of each row, or any if one is NaN; 0 for a row without elements.
fn largest(x: &ArrayRef2<f64>) -> Result<Array2<f64>, BroadcastError> {
    x.reduce_axes(keepdims(-1), 0.0, |a, b| if a > b { a } else { b })
}

fn log_sum_exp(x: &ArrayRef2<f64>) -> Result<Array2<f64>, BroadcastError> {
    // the difference of two infinities would be NaN
    let shift = largest(x)?.mapv(|x| if x.is_finite() { x } else { 0.0 });
    let sums = fused((x, &shift), |x, shift| f64::exp(x - shift)).sum_axes(keepdims(-1))?;
    broadcast_map((&shift, &sums), |shift, sum| shift + sum.ln())
}

fn softmax(x: &ArrayRef2<f64>) -> Result<Array2<f64>, BroadcastError> {
    let mut out = broadcast_map((x, &largest(x)?), |x, largest| f64::exp(x - largest))?;
    let sums = out.sum_axes(keepdims(-1))?;
    broadcast_apply(&mut out, &sums, |out, sum| *out /= sum)?;
    Ok(out)
}

type Sum = (f64, f64); // the maximum, and the sum of exponentials relative to it

fn combine_sums(a: Sum, b: Sum) -> Sum {
    let (low, high) = if a.0 < b.0 { (a, b) } else { (b, a) };
    // two infinities are equal
    let scale = if low.0 == high.0 { 1.0 } else { f64::exp(low.0 - high.0) };
    (high.0, high.1 + low.1 * scale)
}

fn sums(x: &ArrayRef2<f64>) -> Result<Array2<Sum>, BroadcastError> {
    fused(x, |&x| (x, 1.0)).reduce_axes(keepdims(-1), (f64::NEG_INFINITY, 0.0), combine_sums)
}

fn log_sum_exp_once(x: &ArrayRef2<f64>) -> Result<Array2<f64>, BroadcastError> {
    Ok(sums(x)?.mapv(|(max, sum)| max + sum.ln()))
}

fn softmax_once(x: &ArrayRef2<f64>) -> Result<Array2<f64>, BroadcastError> {
    // 0 * max is 0, or NaN if the maximum is infinite, as the results are then
    broadcast_map((x, &sums(x)?), |x, (max, sum)| f64::exp(x - max) / (sum + 0.0 * max))
}

/// The sum of each row, added in `f32`.
fn row_sums(x: &ArrayRef2<bf16>) -> Result<Array1<bf16>, BroadcastError> {
    Ok(fused(x, |x| x.to_f32()).sum_axes(1)?.mapv(bf16::from_f32))
}
