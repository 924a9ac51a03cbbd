//! Automatic differentiation on a tape: operands broadcast, and each gradient is summed back to its operand's shape.
//! A network of these operations learns to tell the wines of three cultivars apart.
//!
//! `cargo run --release --example autodiff`

#![allow(clippy::cast_precision_loss, reason = "there are far fewer than 2^52 elements")]

mod usage;

use std::error::Error;

use ndarray::{Array1, ArrayD, Ix2, array, s};
use ndarray_broadcast::{BroadcastError, bounds::Axes, prelude::*};
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused, keepdims};

pub(crate) type Tensor = ArrayD<f64>;
pub(crate) type Result<T, E = BroadcastError> = std::result::Result<T, E>;
/// Computes the gradient of each operand from that of the result, the delta.
type Rule = Box<dyn Fn(&Tape, Tensor) -> Result<Gradients>>;
type Gradients = Vec<(Var, Tensor)>;

/// A value on a tape, by its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Var(pub(crate) usize);

/// Values in the order of their computation, each with the rule for its gradient; leaves have none.
#[derive(Default)]
pub(crate) struct Tape(Vec<(Tensor, Option<Rule>)>);

impl Tape {
    pub(crate) fn value(&self, of: Var) -> &Tensor {
        &self.0[of.0].0
    }

    pub(crate) fn leaf(&mut self, value: Tensor) -> Var {
        self.0.push((value, None));
        Var(self.0.len() - 1)
    }

    fn record(&mut self, value: Tensor, rule: impl Fn(&Tape, Tensor) -> Result<Gradients> + 'static) -> Var {
        self.0.push((value, Some(Box::new(rule))));
        Var(self.0.len() - 1)
    }

    /// The gradient of the sum of `of` for each leaf that it depends on, at the leaf's position.
    pub(crate) fn gradients(&self, of: Var) -> Result<Vec<Option<Tensor>>> {
        let mut gradients = vec![None; self.0.len()];
        gradients[of.0] = Some(Tensor::ones(self.value(of).shape()));
        for at in (0..=of.0).rev() {
            let Some(rule) = &self.0[at].1 else { continue };
            let Some(delta) = gradients[at].take() else { continue };
            for (Var(operand), part) in rule(self, delta)? {
                gradients[operand] = Some(match gradients[operand].take() {
                    Some(sum) => sum.into_broadcast_map(&part, |sum, part| sum + part)?,
                    None => part,
                });
            }
        }
        Ok(gradients)
    }

    /// `x + y`. The gradient of `y` is the delta itself, without a copy, unless `y` was repeated.
    pub(crate) fn add(&mut self, x: Var, y: Var) -> Result<Var> {
        let value = broadcast_map((self.value(x), self.value(y)), |x, y| x + y)?;
        Ok(self.record(value, move |tape, delta| {
            let of_x = delta.sum_to(tape.value(x))?;
            Ok(vec![(x, of_x), (y, delta.into_sum_to(tape.value(y))?)])
        }))
    }

    pub(crate) fn sub(&mut self, x: Var, y: Var) -> Result<Var> {
        self.binary(x, y, |x, y| x - y, |d, _, _| *d, |d, _, _| -d)
    }

    pub(crate) fn mul(&mut self, x: Var, y: Var) -> Result<Var> {
        self.binary(x, y, |x, y| x * y, |d, _, y| d * y, |d, x, _| d * x)
    }

    pub(crate) fn div(&mut self, x: Var, y: Var) -> Result<Var> {
        self.binary(x, y, |x, y| x / y, |d, _, y| d / y, |d, x, y| -d * x / (y * y))
    }

    /// `f` of two operands. A gradient is summed in the pass that computes it from the delta and the operands.
    fn binary<X, Y>(&mut self, x: Var, y: Var, f: impl Fn(&f64, &f64) -> f64, of_x: X, of_y: Y) -> Result<Var>
    where
        X: Fn(&f64, &f64, &f64) -> f64 + Copy + 'static,
        Y: Fn(&f64, &f64, &f64) -> f64 + Copy + 'static,
    {
        let value = broadcast_map((self.value(x), self.value(y)), f)?;
        Ok(self.record(value, move |tape, delta| {
            let operands = (&delta, tape.value(x), tape.value(y));
            let of_x = fused(operands, of_x).sum_to(operands.1)?;
            Ok(vec![(x, of_x), (y, fused(operands, of_y).sum_to(operands.2)?)])
        }))
    }

    /// The mean over `axes`, which stay with size 1.
    pub(crate) fn mean(&mut self, x: Var, axes: impl Axes) -> Result<Var> {
        let value = self.value(x).mean_axes(keepdims(axes))?;
        Ok(self.record(value, move |tape, delta| {
            let share = delta.len() as f64 / tape.value(x).len() as f64;
            Ok(vec![(x, (delta * share).broadcast_to(tape.value(x))?.materialize())])
        }))
    }

    /// `x @ weight + bias` for matrices. Further leading axes are a batch, which broadcasts.
    pub(crate) fn linear(&mut self, x: Var, weight: Var, bias: Var) -> Result<Var> {
        let mut value = self.value(x).matmul(self.value(weight))?;
        broadcast_apply(&mut value, self.value(bias), |value, bias| *value += bias)?;
        Ok(self.record(value, move |tape, delta| {
            let (of, deltas) = (|var| tape.value(var), delta.batch::<Ix2>()?);
            let of_x = deltas.matmul(&of(weight).batch::<Ix2>()?.transpose())?.into_sum_to(of(x))?;
            let of_w = of(x).batch::<Ix2>()?.transpose().matmul(&deltas)?.into_sum_to(of(weight))?;
            Ok(vec![(x, of_x), (weight, of_w), (bias, delta.sum_to(of(bias))?)])
        }))
    }

    /// Each row of `x` brought to mean 0 and variance 1, times `gain` plus `shift`.
    pub(crate) fn layer_norm(&mut self, x: Var, gain: Var, shift: Var) -> Result<Var> {
        let centred = broadcast_map((self.value(x), &self.value(x).mean_axes(keepdims(-1))?), |x, m| x - m)?;
        let variance = fused(&centred, |c| c * c).mean_axes(keepdims(-1))?;
        let inverse = variance.mapv(|v| (v + 1e-5).sqrt().recip());
        let normal = centred.into_broadcast_map(&inverse, |c, i| c * i)?;
        let value = broadcast_map((&normal, self.value(gain), self.value(shift)), |n, g, s| n * g + s)?;
        Ok(self.record(value, move |tape, delta| {
            let of_gain = fused((&delta, &normal), |d, n| d * n).sum_to(tape.value(gain))?;
            let of_normal = fused((&delta, tape.value(gain)), |d, g| d * g).sum_to(&normal)?;
            let mean = of_normal.mean_axes(keepdims(-1))?;
            let along = fused((&of_normal, &normal), |o, n| o * n).mean_axes(keepdims(-1))?;
            let operands = (&normal, &mean, &along, &inverse);
            let of_x = of_normal.into_broadcast_map(operands, |o, n, m, a, i| (o - m - n * a) * i)?;
            Ok(vec![(x, of_x), (gain, of_gain), (shift, delta.into_sum_to(tape.value(shift))?)])
        }))
    }

    /// The cross-entropy of each row's softmax with the same row of `target`, whose elements add up to 1.
    pub(crate) fn softmax_cross_entropy(&mut self, x: Var, target: Tensor) -> Result<Var> {
        let scores = self.value(x);
        let top = scores.max_axes(keepdims(-1))?;
        let logs = fused((scores, &top), |x, top| (x - top).exp()).sum_to(&top)?.ln();
        let inputs = (scores, &top, &logs, &target);
        let value = fused(inputs, |x, top, log, t| t * (log - (x - top))).sum_to(&top)?;
        Ok(self.record(value, move |tape, delta| {
            let from = (&delta, tape.value(x), &top, &logs, &target);
            let of_x = fused(from, |d, x, m, l, t| d * ((x - m - l).exp() - t)).sum_to(from.1)?;
            Ok(vec![(x, of_x)])
        }))
    }
}

/// Scores of wines for each cultivar: a residual block of standardised, scaled measurements, then a linear layer.
fn scores(tape: &mut Tape, wines: Var, [centre, width]: [Var; 2], learnt: [Var; 7]) -> Result<Var> {
    let [scale, gain, shift, weight, bias, last_weight, last_bias] = learnt;
    let x = tape.sub(wines, centre)?;
    let x = tape.div(x, width)?;
    let x = tape.mul(x, scale)?;
    let normal = tape.layer_norm(x, gain, shift)?;
    let more = tape.linear(normal, weight, bias)?;
    let x = tape.add(x, more)?;
    tape.linear(x, last_weight, last_bias)
}

/// Learns from every other wine, and returns the share of the rest whose own cultivar scores highest.
pub(crate) fn train(steps: usize) -> Result<f64, Box<dyn Error>> {
    let fields = include_str!("data/wine.csv").lines().skip(1).flat_map(|line| line.split(','));
    let fields = fields.map(str::parse).collect::<Result<Array1<f64>, _>>()?;
    let wines = fields.to_shape((fields.len() / 14, 14))?;
    let cultivars = (&wines.slice(s![.., 13..]), &array![0.0, 1.0, 2.0]);
    let own = broadcast_map(cultivars, |of, c| f64::from((of - c).abs() < 0.5))?;
    let [own, rest_own] = [0, 1].map(|from| own.slice(s![from..;2, ..]).to_owned().into_dyn());
    let [x, rest] = [0, 1].map(|from| wines.slice(s![from..;2, ..13]).to_owned().into_dyn());
    let centre = x.mean_axes(keepdims(0))?;
    let width = fused((&x, &centre), |x, c| (x - c).powi(2)).mean_axes(keepdims(0))?.sqrt();
    let mut tape = Tape::default();
    let [centre, width, x, rest] = [centre, width, x, rest].map(|value| tape.leaf(value));
    let shapes: [&[usize]; 7] = [&[13], &[13], &[13], &[13, 13], &[13], &[13, 3], &[3]];
    let learnt = shapes.map(|shape| tape.leaf(Tensor::from_elem(shape, 0.5)));
    let leaves = tape.0.len();
    for step in 0..steps {
        let scores = scores(&mut tape, x, [centre, width], learnt)?;
        let losses = tape.softmax_cross_entropy(scores, own.clone())?;
        let loss = tape.mean(losses, [0, 1])?;
        if step % 20 == 0 {
            println!("step {step:>4}   loss {:.4}", tape.value(loss)[[0, 0]]);
        }
        let gradients = tape.gradients(loss)?;
        tape.0.truncate(leaves);
        for Var(at) in learnt {
            let Some(gradient) = &gradients[at] else { continue };
            broadcast_apply(&mut tape.0[at].0, gradient, |value, g| *value -= 0.1 * g)?;
        }
    }
    let scores = scores(&mut tape, rest, [centre, width], learnt)?;
    let top = tape.value(scores).max_axes(keepdims(-1))?;
    let operands = (tape.value(scores), &top, &rest_own);
    let right = fused(operands, |s, t, own| if s < t { 0.0 } else { *own }).sum_to(())?.into_scalar();
    println!("{right} of {} other wines are told apart", rest_own.sum());
    Ok(right / rest_own.sum())
}

fn main() -> Result<(), Box<dyn Error>> {
    let ([], _) = usage::arguments("autodiff: trains a network on a tape of broadcast operations", [], 0);
    train(200).map(drop)
}
