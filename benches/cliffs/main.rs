//! The crate against itself: does a call ever take longer than the same in two calls, or after a copy? And against ndarray.
//!
//! `cargo bench --bench cliffs -- [--everyday | --native] [--check] [--cases N] [--from N] [--seed S] [--limit 1.5]`
//!
//! Random cases compare one call with two calls (a sum by way of a shape between), a fused sum with a map and a sum, a view
//! with its dense copy, and a shape with a slightly larger one. `--everyday` measures a fixed list in their place, `--native`
//! random copies, maps, sums and products against `assign`, `Zip`, `sum_axis` and `general_mat_mul`. The worst
//! cases are printed; with `--check`, the exit code is 1 if one takes more than `--limit` times the other form. A call that
//! takes less than 1 µs may take 30 ns more. Results that differ fail always. `--from N --cases 1` repeats case `N` of a seed.
//!
//! Without AVX2: `RUSTFLAGS="--cfg ndarray_broadcast_baseline" cargo bench --bench cliffs`, where the kernel heeds that.

#![allow(clippy::cast_precision_loss, reason = "sizes as factors")]
#![allow(clippy::many_single_char_names, reason = "operands")]

mod adapter;
mod cases;
mod everyday;
mod native;
mod random;
mod timing;
#[path = "../turns.rs"]
mod turns;

use cases::{Outcome, Settings};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str =
    "options: [--everyday | --native] [--check] [--cases N] [--from N] [--seed S] [--limit L]";
/// How many cases are printed, besides those above the limit.
const WORST: usize = 20;

#[allow(clippy::struct_excessive_bools, reason = "options of a command line")]
struct Options {
    everyday: bool,
    native: bool,
    check: bool,
    /// Whether cargo runs benches, not tests: then a few small cases suffice.
    bench: bool,
    cases: Option<usize>,
    from: usize,
    seed: u64,
    limit: f64,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        everyday: false,
        native: false,
        check: false,
        bench: false,
        cases: None,
        from: 0,
        seed: 1,
        limit: 1.5,
    };
    let (mut args, mut test) = (std::env::args().skip(1), false);
    while let Some(arg) = args.next() {
        match &arg[..] {
            "--everyday" => options.everyday = true,
            "--native" => options.native = true,
            "--check" => options.check = true,
            "--bench" => options.bench = true,
            "--test" => test = true,
            "--cases" => options.cases = Some(number(&arg, args.next().as_deref())?),
            "--from" => options.from = number(&arg, args.next().as_deref())?,
            "--seed" => options.seed = number(&arg, args.next().as_deref())?,
            "--limit" => options.limit = number(&arg, args.next().as_deref())?,
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    options.bench &= !test;
    Ok(options)
}

fn number<N: std::str::FromStr>(option: &str, text: Option<&str>) -> Result<N, String> {
    text.and_then(|text| text.parse().ok()).ok_or_else(|| format!("{option} needs a number"))
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let mut outcomes = measured(&options);
    outcomes.sort_by(|a, b| b.times.counted().total_cmp(&a.times.counted()));
    let wrong: Vec<&Outcome> = outcomes.iter().filter(|case| case.times.differ).collect();
    let above = outcomes.iter().filter(|case| case.times.counted() > options.limit).count();
    for Outcome { number, what, operands, times } in outcomes.iter().take(above.max(WORST)) {
        let (ratio, counted) = (times.ratio(), times.counted());
        println!(
            "{counted:6.2} (ratio {ratio:.2}, {:.0} / {:.0} ns) case {number}: {what}\n       {operands}",
            times.one, times.other
        );
    }
    for Outcome { number, what, operands, .. } in &wrong {
        println!("THE RESULTS DIFFER: case {number}: {what}\n       {operands}");
    }
    let logs: f64 = outcomes.iter().map(|case| case.times.ratio().ln()).sum();
    println!(
        "{above} of {} cases above {}, geometric mean of ratios {:.2}, seed {}, {:.0} s",
        outcomes.len(),
        options.limit,
        (logs / outcomes.len().max(1) as f64).exp(),
        options.seed,
        begun.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(!wrong.is_empty() || options.check && options.bench && above > 0))
}

fn measured(options: &Options) -> Vec<Outcome> {
    let Options { bench, from, seed, limit, .. } = *options;
    // In a test, no time is too long, so that nothing is measured twice.
    let limit = if bench { limit } else { f64::INFINITY };
    let most = if bench { 1 << 18 } else { 1 << 9 };
    let count = options.cases.unwrap_or(match (bench, options.everyday) {
        (false, _) => 16,
        (true, false) => 1000,
        (true, true) => everyday::CASES,
    });
    if options.everyday {
        return (from..everyday::CASES)
            .take(count)
            .map(|case| everyday::everyday_case(case, limit))
            .collect();
    }
    let case = if options.native { native::native_case } else { cases::random_case };
    (from..).take(count).map(|number| case(number, Settings { seed, limit, most })).collect()
}
