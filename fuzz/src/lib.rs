//! Fuzz targets for `ndarray-broadcast`: the random cases of the tests, made of bytes, and those that only a fuzzer runs.

#[path = "../../tests/random/cases/mod.rs"]
#[allow(dead_code, reason = "the tests make cases of seeds")]
mod cases;
mod parsers;
mod partial;

use cases::{CASES, Case, Input, elements};

/// The targets that no test runs.
const OTHERS: [Case; 2] = [("partial", partial::run), ("parsers", parsers::run)];

pub fn targets() -> impl Iterator<Item = &'static str> {
    CASES.iter().chain(&OTHERS).map(|target| target.0)
}

/// Runs one case of a target.
pub fn run(target: &str, data: &[u8]) {
    let case = CASES.iter().chain(&OTHERS).find(|case| case.0 == target).expect("a target of this name").1;
    let mut input = Input::bytes(data);
    elements::balanced(|| case(&mut input));
}
