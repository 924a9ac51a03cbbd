//! Standardises the measurements of 178 wines, compares the three cultivars, and learns to tell them apart.
//! All by broadcasting (`with_crate.rs`); the gradients of what was broadcast come back through sums.
//!
//! `cargo run --release --example wine [-- [--svg OUT.svg] [FILE]]`: without a file, the data that the crate ships.

#![allow(clippy::cast_precision_loss, reason = "there are far fewer than 2^52 wines")]

pub(crate) mod chart;
#[path = "../usage/mod.rs"]
mod usage;
mod wines;
pub(crate) mod with_crate;

use ndarray::{Array1, Array2, ArrayView1, Axis};
use ndarray_broadcast::{BroadcastError, broadcast_apply};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, process};
use wines::CULTIVARS;

fn main() {
    if let Err(error) = run() {
        eprintln!("wine: {error}");
        process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let ([svg], mut files) = usage::arguments(
        "wine [--svg OUT.svg] [FILE]: compares and learns to tell the wines of three cultivars",
        ["--svg"],
        1,
    );
    let shipped = || Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/wine.csv");
    let file = files.pop().map_or_else(shipped, PathBuf::from);
    let wines = wines::read(&file)?;
    let (measured, cultivar) = (&wines.measured, &wines.cultivar);
    println!("{:<26} {:<16} {:<24} result", "", "call", "of");
    step("measurements (wine, kind)", "", &[], measured.shape());
    let standard = with_crate::standardise(measured)?;
    let kinds = [standard.ncols()];
    step("standardised", "broadcast_map", &[measured.shape(), &kinds, &kinds], standard.shape());

    let own = own_cultivar(cultivar);
    let means = cultivar_means(&standard, &own)?;
    let distances = with_crate::distances(&means)?;
    let pairs = [CULTIVARS, CULTIVARS, standard.ncols()];
    step(
        "pairs of cultivar means",
        "broadcast_map",
        &[&[CULTIVARS, 1, standard.ncols()], means.shape()],
        &pairs,
    );
    step("their squared distances", "sum_axes(2)", &[&pairs], distances.shape());
    print_means(&wines.names, &means);
    print_table("distance between cultivar means, in standard deviations", &distances);

    println!("\nlearning, from all wines");
    let history = train(&standard, cultivar, &own)?;
    print_error();
    if let Some(svg) = svg {
        let picture = chart::draw(&history, &distances);
        fs::write(&svg, picture).map_err(|error| format!("{}: {error}", svg.display()))?;
    }
    Ok(())
}

/// A mistake, for once: a bias for two cultivars beside the scores for three.
fn print_error() {
    let (mut scores, bias) = (Array2::<f64>::zeros((178, CULTIVARS)), Array1::<f64>::zeros(2));
    if let Err(error) = broadcast_apply(&mut scores, &bias, |score, bias| *score += bias) {
        println!("\na bias of the wrong shape is an error, which says where:\n{error:#}");
    }
}

/// Says which call made an array, and from which shapes.
fn step(what: &str, call: &str, from: &[&[usize]], to: &[usize]) {
    let from: Vec<String> = from.iter().map(|shape| format!("{shape:?}")).collect();
    println!("{what:<26} {call:<16} {:<24} {to:?}", from.join(" "));
}

/// 1 for a wine's own cultivar, else 0 (wine, cultivar).
fn own_cultivar(cultivar: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((cultivar.len(), CULTIVARS), |(wine, own)| f64::from(cultivar[wine] == own))
}

/// The mean of each kind of measurement (cultivar, kind).
fn cultivar_means(standard: &Array2<f64>, own: &Array2<f64>) -> Result<Array2<f64>, Box<dyn Error>> {
    let counts = own.sum_axis(Axis(0)).insert_axis(Axis(1));
    if let Some(cultivar) = counts.iter().position(|&count| count == 0.0) {
        return Err(format!("no wine is of cultivar {cultivar}").into());
    }
    Ok(own.t().dot(standard) / counts)
}

/// What is learnt: a softmax classifier that weighs the measurements, each of which it scales first.
///
/// The scale of a measurement could as well be part of its weights. It is here because it is broadcast along the
/// wines as the bias is, but enters by a product.
pub(crate) struct Parameters {
    pub(crate) scale: Array1<f64>,
    pub(crate) weight: Array2<f64>,
    pub(crate) bias: Array1<f64>,
}

impl Parameters {
    /// Small weights that differ, the same in every run.
    pub(crate) fn start(kinds: usize) -> Self {
        let weight = |(kind, own)| 0.1 * ((7 * kind + 3 * own) as f64).sin();
        Parameters {
            scale: Array1::ones(kinds),
            weight: Array2::from_shape_fn((kinds, CULTIVARS), weight),
            bias: Array1::zeros(CULTIVARS),
        }
    }

    /// The numbers of each array. All are made in standard order.
    fn numbers_mut(&mut self) -> [&mut [f64]; 3] {
        let slices = [self.scale.as_slice_mut(), self.weight.as_slice_mut(), self.bias.as_slice_mut()];
        slices.map(|slice| slice.expect("an array in standard order"))
    }
}

/// The logarithm of how likely each wine is of each cultivar, and the scaled measurements that led to it.
pub(crate) struct Prediction {
    pub(crate) scaled: Array2<f64>,
    pub(crate) log_likely: Array2<f64>,
}

impl Prediction {
    /// The mean of -log(how likely the wine's own cultivar is).
    fn loss(&self, own: &Array2<f64>) -> f64 {
        let of_own = self.log_likely.iter().zip(own).map(|(log, own)| log * own);
        -of_own.sum::<f64>() / own.nrows() as f64
    }

    /// The share of wines whose own cultivar is the likeliest.
    fn accuracy(&self, cultivar: &[usize]) -> f64 {
        let right = |(row, own): &(ArrayView1<f64>, &usize)| row.iter().all(|&other| other <= row[**own]);
        self.log_likely.outer_iter().zip(cultivar).filter(right).count() as f64 / cultivar.len() as f64
    }
}

/// Says what is broadcast and summed back, and compares the gradient of every parameter with how the loss changes when the
/// parameter does. Gives the largest difference for each kind of parameter, relative to the largest gradient of that kind.
fn check_gradient(x: &Array2<f64>, own: &Array2<f64>) -> Result<f64, BroadcastError> {
    const STEP: f64 = 1e-5;
    let mut parameters = Parameters::start(x.ncols());
    let prediction = with_crate::predict(x, &parameters)?;
    let mut gradient = with_crate::gradient(x, own, &parameters, &prediction)?;
    let (scale, bias) = (gradient.scale.shape(), gradient.bias.shape());
    step("measurements times scale", "broadcast_map", &[x.shape(), scale], prediction.scaled.shape());
    step("scores plus bias", "broadcast_apply", &[own.shape(), bias], own.shape());
    step("gradient of bias", "sum_to", &[own.shape()], bias);
    step("gradient of scale", "sum_to", &[x.shape()], scale);

    let mut worst = 0.0_f64;
    for (kind, gradient) in gradient.numbers_mut().into_iter().enumerate() {
        let (mut difference, mut largest) = (0.0_f64, 0.0_f64);
        for (i, slope) in gradient.iter().enumerate() {
            let mut loss_after = |step: f64| {
                parameters.numbers_mut()[kind][i] += step;
                with_crate::predict(x, &parameters).map(|prediction| prediction.loss(own))
            };
            let (above, below) = (loss_after(STEP)?, loss_after(-2.0 * STEP)?);
            loss_after(STEP)?;
            difference = difference.max((slope - (above - below) / (2.0 * STEP)).abs());
            largest = largest.max(slope.abs());
        }
        worst = worst.max(difference / largest);
    }
    Ok(worst)
}

/// Learns by plain gradient descent. Gives loss and accuracy before each step and at the end.
fn train(x: &Array2<f64>, cultivar: &[usize], own: &Array2<f64>) -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
    const RATE: f64 = 0.1;
    const STEPS: usize = 300;
    let difference = check_gradient(x, own)?;
    println!("largest relative difference from finite differences: {difference:.0e}\n");
    if difference.is_nan() || difference > 1e-5 {
        return Err(format!("the gradient is off by {difference:e}, expected at most 1e-5").into());
    }
    let mut parameters = Parameters::start(x.ncols());
    let mut history = Vec::new();
    for step in 0..=STEPS {
        let prediction = with_crate::predict(x, &parameters)?;
        let (loss, accuracy) = (prediction.loss(own), prediction.accuracy(cultivar));
        if step % (STEPS / 10) == 0 {
            println!("step {step:>4}   loss {loss:.4}   accuracy {:5.1} %", 100.0 * accuracy);
        }
        history.push([loss, accuracy]);
        if step == STEPS && accuracy <= 0.97 {
            return Err(format!("{:.1} % are told apart, expected more than 97 %", 100.0 * accuracy).into());
        }
        let mut gradient = with_crate::gradient(x, own, &parameters, &prediction)?;
        for (numbers, gradient) in parameters.numbers_mut().into_iter().zip(gradient.numbers_mut()) {
            numbers.iter_mut().zip(gradient).for_each(|(number, slope)| *number -= RATE * *slope);
        }
    }
    Ok(history)
}

fn print_means(names: &[String], means: &Array2<f64>) {
    println!("\nstandardised mean of cultivar       0       1       2");
    for (name, kind) in names.iter().zip(means.columns()) {
        print_row(&format!("{name:<28}"), &kind);
    }
}

fn print_table(title: &str, table: &Array2<f64>) {
    println!("\n{title}");
    for (cultivar, row) in table.outer_iter().enumerate() {
        print_row(&format!("cultivar {cultivar}"), &row);
    }
}

fn print_row(title: &str, numbers: &ArrayView1<f64>) {
    print!("  {title}");
    numbers.iter().for_each(|number| print!("{number:8.2}"));
    println!();
}
