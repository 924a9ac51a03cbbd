//! The constitutive update of NEML2's documentation: the stresses of two materials under 1000 strain measurements.
//!
//! `cargo run --release --example constitutive_update [FILE]`: compared with the stresses in the file, without one
//! with those that the crate ships, recorded from NEML2.

mod usage;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, process};

use ndarray::{Array1, Array3, Ix0, Ix1, Ix2, array};
use ndarray_broadcast::{Batch, base_op, prelude::*};

const MEASUREMENTS: usize = 1000;
const MATERIALS: usize = 2;
/// Components of a symmetric tensor in Mandel's notation, and how many are on its diagonal.
const MANDEL: usize = 6;
const DIAGONAL: usize = 3;

fn main() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/neml2_stress.csv");
    let ([], mut files) =
        usage::arguments("constitutive_update [FILE]: compares stresses with those in a file", [], 1);
    let file = files.pop().map_or(shipped, PathBuf::from);
    if let Err(error) = run(&file) {
        eprintln!("constitutive_update: {error}");
        process::exit(1);
    }
}

fn run(file: &Path) -> Result<(), Box<dyn Error>> {
    let (youngs_modulus, poissons_ratio) = (array![1e5, 2e5], array![0.1, 0.2]);
    let stiffness = isotropic(&youngs_modulus, &poissons_ratio)?;
    let strain = measured();

    // the update
    let stress = stiffness.matvec(&strain)?;

    let (c, e) = (stiffness.batch::<Ix2>()?, strain.batch::<Ix1>()?);
    println!("Mechanical loading:\n{}", shapes(&e));
    println!("Material stiffness:\n{}", shapes(&c));
    println!("Stress:\n{}", shapes(&stress.batch::<Ix1>()?));
    let (compared, worst) = compare(&stress, &fs::read_to_string(file)?)?;
    println!("{compared} recorded stresses, largest relative difference {worst:.1e}");
    let time = time_of_update(&c, &e)?;
    println!("{:.1} us for an update, {:.1} ns for each stress", micros(time), micros(time) * 1e3 / 2e3);
    if worst > 1e-13 {
        return Err(format!("a relative difference of {worst:e}, expected at most 1e-13").into());
    }
    Ok(())
}

/// `(2; 6, 6)` from `(2;)`: λ on all of the block of the diagonal components, 2μ on the diagonal.
fn isotropic(
    youngs_modulus: &Array1<f64>,
    poissons_ratio: &Array1<f64>,
) -> Result<Array3<f64>, Box<dyn Error>> {
    let (e, nu) = (youngs_modulus.batch::<Ix0>()?, poissons_ratio.batch::<Ix0>()?);
    Ok(e.zip_map(&nu, (MANDEL, MANDEL), |e, nu, mut c: ndarray::ArrayViewMut2<f64>| {
        let (e, nu): (f64, f64) = (e[()], nu[()]);
        let lame = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        c.slice_mut(ndarray::s![..DIAGONAL, ..DIAGONAL]).fill(lame);
        c.diag_mut().mapv_inplace(|x| x + e / (1.0 + nu));
    })?)
}

/// `(1000, 2; 6)`: numbers between -1e-3 and 1e-3 in no order.
fn measured() -> Array3<f64> {
    let mut k = 0_u32;
    Array3::from_shape_simple_fn((MEASUREMENTS, MATERIALS, MANDEL), || {
        let number = f64::from(k * 7919 % 10_007) / 10_007.0;
        k += 1;
        number * 2e-3 - 1e-3
    })
}

/// A shape as NEML2's documentation prints it.
fn shapes<D: ndarray::Dimension, B: ndarray::Dimension>(tensor: &Batch<'_, f64, D, B>) -> String {
    format!("  batch shape: {:?}\n  base shape:  {:?}", tensor.batch_shape(), tensor.base_shape())
}

/// How many stresses were compared with recorded ones, and the largest difference relative to the largest component.
fn compare(stress: &Array3<f64>, recorded: &str) -> Result<(usize, f64), Box<dyn Error>> {
    let (mut compared, mut worst) = (0, 0.0_f64);
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split(',');
        let (found, expected): (Vec<f64>, Vec<f64>) = match fields.next() {
            Some("stress") => {
                let mut index =
                    || fields.next().ok_or("no index")?.parse::<usize>().map_err(Box::<dyn Error>::from);
                let (row, material) = (index()?, index()?);
                if row >= MEASUREMENTS || material >= MATERIALS {
                    return Err(format!("there is no stress {row}, {material}").into());
                }
                compared += 1;
                let found = stress.slice(ndarray::s![row, material, ..]).to_vec();
                (found, fields.map(str::parse).collect::<Result<_, _>>()?)
            }
            Some("sum_of_squares") => {
                (vec![stress.iter().map(|x| x * x).sum()], fields.map(str::parse).collect::<Result<_, _>>()?)
            }
            _ => continue,
        };
        if found.len() != expected.len() {
            return Err(format!("{} numbers in {line:?}, expected {}", expected.len(), found.len()).into());
        }
        let scale = expected.iter().fold(f64::MIN_POSITIVE, |scale, x| scale.max(x.abs()));
        worst = found.iter().zip(&expected).fold(worst, |worst, (x, y)| worst.max((x - y).abs() / scale));
    }
    if compared == 0 { Err("the file has no stresses".into()) } else { Ok((compared, worst)) }
}

/// The quickest of many updates into one array.
fn time_of_update<D, E>(
    c: &Batch<'_, f64, D, Ix2>,
    e: &Batch<'_, f64, E, Ix1>,
) -> Result<Duration, Box<dyn Error>>
where
    D: ndarray::Dimension,
    E: ndarray::Dimension,
{
    let mut stress = Array3::zeros((MEASUREMENTS, MATERIALS, MANDEL));
    let mut quickest = Duration::MAX;
    for _ in 0..1000 {
        let start = Instant::now();
        c.apply_into(base_op::MatVec, e, &mut stress)?;
        quickest = quickest.min(start.elapsed());
    }
    Ok(quickest)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
