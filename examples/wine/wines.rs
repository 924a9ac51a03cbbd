//! The table of wines.

use ndarray::{Array1, Array2};
use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) const CULTIVARS: usize = 3;

/// The measurements (wine, kind), their names, and the cultivar of each wine.
pub(crate) struct Wines {
    pub(crate) names: Vec<String>,
    pub(crate) measured: Array2<f64>,
    pub(crate) cultivar: Vec<usize>,
}

/// Reads a table of measurements with a heading; the last column is the cultivar.
pub(crate) fn read(file: &Path) -> Result<Wines, Box<dyn Error>> {
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
