//! Random cases of every operation against the naive model: views, sums and batches of small arrays with all that may be wrong, and
//! every operation that writes elements or reduces them, in every layout, with elements of every size and kind. The fuzz targets
//! run the same cases on bytes.
//!
//! `RANDOM_CASES` is how many cases there are in all, `RANDOM_SEED` another seed, and `RANDOM_CASE` the number of the one case
//! that runs. A failure prints these, and what the case notes.
#![allow(clippy::unwrap_used, reason = "tests")]

#[cfg(feature = "rayon")]
mod stores;

mod cases;
mod generators;

use cases::{CASES, Input, elements};
use common::is_thorough;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

const SEED: u64 = 1;

fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a whole number, not {value}")))
}

/// Runs a case, and prints what it notes if it fails.
fn run_case(mut input: Input<'_>, name: &dyn std::fmt::Display, case: &mut dyn FnMut(&mut Input<'_>)) {
    let run = || elements::balanced(|| case(&mut input));
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        eprintln!("{name}: {}", input.log);
        resume_unwind(panic);
    }
}

/// Runs a part of the cases, in percent.
fn run(name: &str, percent: usize) {
    let number = |name, default: usize| setting(name).map_or(default, |n| usize::try_from(n).unwrap());
    let count = match (cfg!(debug_assertions), is_thorough()) {
        (true, false) => 2000,
        (true, true) => 4000,
        _ => 20_000,
    };
    let (seed, count) =
        (setting("RANDOM_SEED").unwrap_or(SEED), number("RANDOM_CASES", count) * percent / 100);
    let cases = match setting("RANDOM_CASE") {
        Some(_) => number("RANDOM_CASE", 0)..number("RANDOM_CASE", 0) + 1,
        None => 0..count,
    };
    let case = CASES.iter().find(|case| case.0 == name).expect("a case of this name").1;
    for number in cases {
        let name = format_args!("RANDOM_SEED={seed} RANDOM_CASE={number}");
        run_case(Input::case(seed, number), &name, &mut |input| case(input));
    }
}

/// The inputs that fuzzing found.
#[test]
fn corpus() {
    for (name, case) in CASES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
        for file in fs::read_dir(folder).expect("a corpus") {
            let file = file.expect("a file").path();
            let (bytes, name) = (fs::read(&file).expect("bytes"), file.display());
            run_case(Input::bytes(&bytes), &name, &mut |input| case(input));
        }
    }
}

#[test]
fn reductions_at_each_length() {
    run_case(Input::case(SEED, 0), &"of fixed shapes", &mut cases::reductions::at_each_length);
}

#[test]
fn sums_of_each_number() {
    run_case(Input::case(SEED, 0), &"of fixed shapes", &mut cases::reductions::of_each_number);
}

#[test]
fn sums_of_each_shape() {
    run_case(Input::case(SEED, 0), &"of fixed shapes", &mut cases::reductions::sums_of_each_shape);
}

#[test]
fn reductions_over_short_lanes() {
    run_case(Input::case(SEED, 0), &"of fixed shapes", &mut cases::reductions::over_short_lanes);
}

#[test]
fn products_of_each_size() {
    run_case(Input::case(SEED, 0), &"of fixed shapes", &mut cases::products::of_each_size);
}

#[test]
fn copies_of_each_size() {
    run_case(Input::case(SEED, 0), &"of fixed shapes", &mut cases::copies::of_each_size);
}

#[test]
fn operands_that_move_in_turn() {
    run_case(Input::case(SEED, 0), &"of fixed shapes", &mut cases::copies::operands_that_move_in_turn);
}

macro_rules! cases {
    ($($name:ident: $percent:literal)*) => {
        $(#[test] fn $name() { run(stringify!($name), $percent); })*

        #[test]
        fn all_cases_run() {
            assert_eq!(CASES.iter().map(|case| case.0).collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }
    };
}
cases! {
    views: 100
    shapes: 100
    sums: 100
    exact: 50
    forms: 20
    batch: 100
    copies: 20
    maps: 20
    maps_by_value: 5
    several: 20
    reductions: 15
    fused: 15
    products: 20
    elementwise: 5
}
