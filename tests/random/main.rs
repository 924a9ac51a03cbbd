//! Random cases of every operation that writes elements or reduces them, against the naive model: every layout, and elements of
//! every size and kind. Their codes are whole numbers, so that no order of additions matters. The rules of shapes are tried at the
//! edges of `usize`.
//!
//! `RANDOM_CASES` is how many cases there are in all, `RANDOM_SEED` another seed, and `RANDOM_CASE` the number of the one case
//! that runs. A failure prints these, and the shapes and strides of the case.
#![allow(clippy::many_single_char_names, reason = "a to f are operands")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod copies;
mod elements;
mod layouts;
mod products;
mod shapes;
#[cfg(feature = "rayon")]
mod stores;
mod sums;

use layouts::Random;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const CASES: usize = if cfg!(debug_assertions) { 4000 } else { 20_000 };
const SEED: u64 = 1;

fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a whole number, not {value}")))
}

/// Runs a part of the cases, in percent.
fn run(percent: usize, case: fn(&mut Random)) {
    let number = |name, default: usize| setting(name).map_or(default, |n| usize::try_from(n).unwrap());
    let (seed, count) =
        (setting("RANDOM_SEED").unwrap_or(SEED), number("RANDOM_CASES", CASES) * percent / 100);
    let cases = match setting("RANDOM_CASE") {
        Some(_) => number("RANDOM_CASE", 0)..number("RANDOM_CASE", 0) + 1,
        None => 0..count,
    };
    for number in cases {
        let mut random = Random::new(seed, number);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case(&mut random))) {
            eprintln!("RANDOM_SEED={seed} RANDOM_CASE={number}: {}", random.log);
            resume_unwind(panic);
        }
    }
}

#[test]
fn shapes_at_the_edges() {
    run(100, shapes::shapes);
}

#[test]
fn copies() {
    run(20, copies::copy);
}

#[test]
fn maps() {
    run(20, copies::map);
}

#[test]
fn maps_by_value() {
    run(5, copies::map_by_value);
}

#[test]
fn reductions() {
    run(15, sums::reduction);
}

#[test]
fn fused_reductions() {
    run(15, sums::fused_reduction);
}

#[test]
fn products() {
    run(20, products::product);
}

#[test]
fn elementwise_operations() {
    run(5, products::elementwise);
}
