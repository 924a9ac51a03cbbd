//! Standardises the measurements of 178 wines and compares the three cultivars, by broadcasting alone.
//!
//! `cargo run --release --example wine [FILE]`: without a file, the data that the crate ships.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use ndarray::{Array1, Array2, ArrayView2, Axis};
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
    Ok(())
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
    Ok(squared.sum_axis(Axis(2)).mapv(f64::sqrt))
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
