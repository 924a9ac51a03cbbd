//! Standardises the measurements of 178 wines, compares the three cultivars, and learns to tell them apart.
//! All by broadcasting; the gradients of what was broadcast come back through sums.
//!
//! `cargo run --release --example wine [FILE]`: without a file, the data that the crate ships.

#![allow(clippy::cast_precision_loss, reason = "there are far fewer than 2^52 wines")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMutD, Axis};
use ndarray_broadcast::BroadcastError;
use ndarray_broadcast::prelude::*;

const CULTIVARS: usize = 3;

/// The measurements (wine, kind), their names, and the cultivar of each wine.
struct Wines {
    names: Vec<String>,
    measured: Array2<f64>,
    cultivar: Vec<usize>,
}

fn main() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/wine.csv");
    let file = env::args_os().nth(1).map_or(shipped, PathBuf::from);
    if let Err(error) = run(&file) {
        eprintln!("wine: {error}");
        process::exit(1);
    }
}

fn run(file: &Path) -> Result<(), Box<dyn Error>> {
    let wines = read(file)?;
    println!("{:<28} {:?}", "measurements", wines.measured.shape());
    let standard = standardise(&wines.measured)?;
    let means = cultivar_means(&standard, &wines.cultivar)?;
    print_means(&wines.names, &means);
    let distances = distances(&means)?;
    println!("\ndistance between cultivar means, in standard deviations");
    for (cultivar, row) in distances.outer_iter().enumerate() {
        print!("  cultivar {cultivar}");
        row.iter().for_each(|distance| print!("{distance:8.2}"));
        println!();
    }
    println!();
    train(&standard, &wines.cultivar)
}

/// (x - mean) / deviation for each kind of measurement.
fn standardise(measured: &Array2<f64>) -> Result<Array2<f64>, Box<dyn Error>> {
    let mean = measured.mean_axis(Axis(0)).ok_or("there are no wines")?;
    let deviation = measured.std_axis(Axis(0), 0.0).mapv(|d| if d == 0.0 { 1.0 } else { d });
    // [13] along new axis 0 is [178, 13]: every wine meets the mean of all.
    let (means, deviations) =
        (mean.broadcast_like(measured, Axis(0))?, deviation.broadcast_to_match_shape(measured.raw_dim())?);
    println!("{:<28} {:?} as {:?}", "column means", mean.shape(), means.shape());
    println!("{:<28} {:?} as {:?}", "column deviations", deviation.shape(), deviations.shape());
    Ok((measured - &means) / deviations)
}

/// The mean of each kind of measurement (cultivar, kind).
fn cultivar_means(standard: &Array2<f64>, cultivar: &[usize]) -> Result<Array2<f64>, Box<dyn Error>> {
    let mut means = Array2::zeros((CULTIVARS, standard.ncols()));
    for (own, mut mean) in means.outer_iter_mut().enumerate() {
        let of_own: Vec<usize> =
            cultivar.iter().enumerate().filter(|&(_, &of)| of == own).map(|(wine, _)| wine).collect();
        let chosen = standard.select(Axis(0), &of_own);
        mean.assign(&chosen.mean_axis(Axis(0)).ok_or_else(|| format!("no wine is of cultivar {own}"))?);
    }
    println!("{:<28} {:?}", "cultivar means", means.shape());
    Ok(means)
}

/// The Euclidean distance of every row to every row.
fn distances(means: &Array2<f64>) -> Result<Array2<f64>, Box<dyn Error>> {
    let rows = means.view().insert_axis(Axis(1));
    let (from, to) = rows.broadcast_to_match(means)?;
    println!("\n{:<28} {:?} and {:?} as {:?}", "pairs of means", rows.shape(), means.shape(), from.shape());
    let squared = (&from - &to).mapv(|d| d * d);
    Ok(squared.sum_axes(2)?.mapv(f64::sqrt))
}

/// What is learnt: a softmax classifier that weighs the measurements, each of which it scales first.
///
/// The scale of a measurement could as well be part of its weights. It is here because it is broadcast along the
/// wines as the bias is, but enters by a product.
struct Parameters {
    scale: Array1<f64>,
    weight: Array2<f64>,
    bias: Array1<f64>,
}

impl Parameters {
    /// Small weights that differ, the same in every run.
    fn start(kinds: usize) -> Self {
        Parameters {
            scale: Array1::ones(kinds),
            weight: Array2::from_shape_fn((kinds, CULTIVARS), |(kind, own)| {
                0.1 * ((7 * kind + 3 * own) as f64).sin()
            }),
            bias: Array1::zeros(CULTIVARS),
        }
    }

    fn parts_mut(&mut self) -> [(&'static str, ArrayViewMutD<'_, f64>); 3] {
        [
            ("scale", self.scale.view_mut().into_dyn()),
            ("weight", self.weight.view_mut().into_dyn()),
            ("bias", self.bias.view_mut().into_dyn()),
        ]
    }
}

/// How likely each wine is of each cultivar, and what led to it.
struct Prediction {
    scaled: Array2<f64>,
    log_likely: Array2<f64>,
}

impl Prediction {
    fn new(x: &Array2<f64>, parameters: &Parameters) -> Result<Self, BroadcastError> {
        let Parameters { scale, weight, bias } = parameters;
        let scaled = x * &scale.broadcast_like(x, Axis(0))?;
        let scores = scaled.dot(weight);
        let scores = &scores + &bias.broadcast_to_match_shape(scores.raw_dim())?;
        // the logarithm of the sum of exponentials, of which the largest is 1: [178, 1]
        let largest = scores.fold_axis(Axis(1), f64::NEG_INFINITY, |&a, &b| a.max(b)).insert_axis(Axis(1));
        let (of_scores, of_largest) = scores.broadcast_to_match(&largest)?;
        let sums = (&of_scores - &of_largest).mapv(f64::exp).sum_axes_keepdims(1)?;
        let log_sums = sums.mapv(f64::ln) + &largest;
        let log_likely = &scores - &log_sums.broadcast_to_match_shape(scores.raw_dim())?;
        Ok(Prediction { scaled, log_likely })
    }

    /// The mean of -log(how likely the wine's own cultivar is).
    fn loss(&self, own: &Array2<f64>) -> f64 {
        -(&self.log_likely * own).sum() / own.nrows() as f64
    }

    /// The share of wines whose own cultivar is the likeliest.
    fn accuracy(&self, cultivar: &[usize]) -> f64 {
        let right = |(row, own): &(ArrayView1<f64>, &usize)| row.iter().all(|&other| other <= row[**own]);
        self.log_likely.outer_iter().zip(cultivar).filter(right).count() as f64 / cultivar.len() as f64
    }

    /// The gradient of the loss, backwards through every step of `new`: where that has a broadcast, this has a sum.
    fn gradient(
        &self,
        x: &Array2<f64>,
        own: &Array2<f64>,
        parameters: &Parameters,
    ) -> Result<Parameters, BroadcastError> {
        let of_log_likely = own.mapv(|own| -own / x.nrows() as f64);
        // log_sums was broadcast along the cultivars and subtracted
        let mut of_log_sums = Array2::zeros((x.nrows(), 1));
        of_log_likely.scaled_add_sum_to(-1.0, &mut of_log_sums)?;
        let of_log_sums = of_log_sums.broadcast_to_match_shape(own.raw_dim())?;
        let of_scores = of_log_likely + self.log_likely.mapv(f64::exp) * of_log_sums;
        let of_scaled = of_scores.dot(&parameters.weight.t());
        // bias and scale were broadcast along the wines
        let mut bias = Array1::zeros(CULTIVARS);
        of_scores.add_sum_to(&mut bias)?;
        let scale = (of_scaled * x).sum_to_match(&parameters.scale)?;
        Ok(Parameters { scale, weight: self.scaled.t().dot(&of_scores), bias })
    }
}

/// Compares the gradient of every parameter with how the loss changes when the parameter does, and gives the
/// largest difference for each kind, relative to the largest gradient of that kind.
fn check_gradient(x: &Array2<f64>, own: &Array2<f64>) -> Result<f64, Box<dyn Error>> {
    const STEP: f64 = 1e-5;
    let mut parameters = Parameters::start(x.ncols());
    let mut gradient = Prediction::new(x, &parameters)?.gradient(x, own, &parameters)?;
    let mut worst = 0.0_f64;
    for (kind, (name, gradient)) in gradient.parts_mut().into_iter().enumerate() {
        let (mut difference, mut largest) = (0.0_f64, 0.0_f64);
        for (i, &slope) in gradient.iter().enumerate() {
            let mut loss_after = |step: f64| {
                if let Some(parameter) = parameters.parts_mut()[kind].1.iter_mut().nth(i) {
                    *parameter += step;
                }
                Prediction::new(x, &parameters).map(|prediction| prediction.loss(own))
            };
            let (above, below) = (loss_after(STEP)?, loss_after(-2.0 * STEP)?);
            loss_after(STEP)?;
            difference = difference.max((slope - (above - below) / (2.0 * STEP)).abs());
            largest = largest.max(slope.abs());
        }
        println!("{:<28} {:?}", format!("gradient of {name}"), gradient.shape());
        worst = worst.max(difference / largest);
    }
    Ok(worst)
}

/// Learns by plain gradient descent.
fn train(x: &Array2<f64>, cultivar: &[usize]) -> Result<(), Box<dyn Error>> {
    const RATE: f64 = 0.1;
    const STEPS: usize = 300;
    // 1 for the wine's own cultivar, else 0
    let own = Array2::from_shape_fn((x.nrows(), CULTIVARS), |(wine, own)| f64::from(cultivar[wine] == own));
    let difference = check_gradient(x, &own)?;
    println!("largest relative difference from finite differences: {difference:.0e}\n");
    if difference.is_nan() || difference > 1e-5 {
        return Err(format!("the gradient is off by {difference:e}, expected at most 1e-5").into());
    }
    let mut parameters = Parameters::start(x.ncols());
    for step in 0..=STEPS {
        let prediction = Prediction::new(x, &parameters)?;
        let accuracy = prediction.accuracy(cultivar);
        if step % (STEPS / 10) == 0 {
            let loss = prediction.loss(&own);
            println!("step {step:>4}   loss {loss:.4}   accuracy {:5.1} %", 100.0 * accuracy);
        }
        if step == STEPS && accuracy <= 0.97 {
            return Err(format!("{:.1} % are told apart, expected more than 97 %", 100.0 * accuracy).into());
        }
        let mut gradient = prediction.gradient(x, &own, &parameters)?;
        for ((_, mut part), (_, gradient)) in parameters.parts_mut().into_iter().zip(gradient.parts_mut()) {
            part.scaled_add(-RATE, &gradient);
        }
    }
    Ok(())
}

fn print_means(names: &[String], means: &Array2<f64>) {
    println!("\nstandardised mean of cultivar       0       1       2");
    let kinds: ArrayView2<f64> = means.t();
    for (name, kind) in names.iter().zip(kinds.outer_iter()) {
        print!("  {name:<28}");
        kind.iter().for_each(|mean| print!("{mean:8.2}"));
        println!();
    }
}

/// Reads a table of measurements with a heading; the last column is the cultivar.
fn read(file: &Path) -> Result<Wines, Box<dyn Error>> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let mut lines = text.lines().zip(1..);
    let (heading, _) = lines.next().ok_or_else(|| format!("{name}: line 1: column 1: expected a heading"))?;
    let names: Vec<String> = heading.split(',').map(str::to_owned).collect();
    let kinds = names.len() - 1;
    let (mut measured, mut cultivar) = (Vec::new(), Vec::new());
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != names.len() {
            return Err(format!(
                "{name}: line {number}: column {}: expected {} columns, found {}",
                fields.len().min(names.len()) + 1,
                names.len(),
                fields.len()
            )
            .into());
        }
        for (column, field) in fields[..kinds].iter().enumerate() {
            let value = field.parse::<f64>().ok().filter(|value| value.is_finite());
            measured.push(value.ok_or_else(|| {
                format!("{name}: line {number}: column {}: {field:?} is no number", column + 1)
            })?);
        }
        let own = fields[kinds].parse::<usize>().ok().filter(|&own| own < CULTIVARS);
        cultivar.push(own.ok_or_else(|| {
            format!(
                "{name}: line {number}: column {}: {:?} is no cultivar, expected 0 to {}",
                kinds + 1,
                fields[kinds],
                CULTIVARS - 1
            )
        })?);
    }
    if cultivar.is_empty() {
        return Err(format!("{name}: line 2: column 1: expected a wine").into());
    }
    let shape = (cultivar.len(), kinds);
    Ok(Wines { names, measured: Array1::from(measured).into_shape_with_order(shape)?, cultivar })
}
