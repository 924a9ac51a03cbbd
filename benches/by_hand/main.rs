//! The crate beside loops by hand: what would one gain by writing the loop oneself?
//!
//! `cargo bench --bench by_hand -- [--family NAME] [--quick] [--check] [--limit 1.3]`
//!
//! Each case is compared with the obvious loop over slices (the better of two: compiled as the rest of the program, and for
//! AVX2 where the CPU has it) and with a good one (several accumulators, for AVX2; where the obvious one is better, that
//! counts). `loops` has them. A line says how long the crate takes, and in how many times the time of the good and of the
//! obvious loop; then the same two without 30 ns for each call of the crate, but not less than 1 for that reason. At the end
//! stand the geometric means of the families and how many cases are far behind.
//!
//! All of it takes about a minute. `--family NAME` measures one family. `--quick` leaves out large arrays and measures for a
//! shorter time. With `--check`, the exit code is 1 if a family takes more than `--limit` times as long as the obvious loops,
//! on average and without the 30 ns; such a family is measured several times, and the fastest runs count. Results that differ
//! fail always. `--test`, as in `cargo bench -- --test`, compares the results only.
#![allow(clippy::unwrap_used, reason = "shapes and axes that fit")]
#![allow(clippy::many_single_char_names, reason = "operands and sizes")]

#[macro_use]
#[path = "../plain.rs"]
mod plain;
#[path = "../loops/mod.rs"]
mod loops;
#[path = "../turns.rs"]
mod turns;
#[macro_use]
mod runner;
mod families;

use families::FAMILIES;
use runner::{Outcome, Runner};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "options: [--family NAME] [--quick] [--check] [--limit L] [--test]";
/// How often a family that fails is measured again.
const AGAIN: usize = 4;

#[derive(Default)]
struct Options {
    family: Option<String>,
    quick: bool,
    check: bool,
    test: bool,
    limit: f64,
}

fn options() -> Result<Options, String> {
    let mut options = Options { limit: 1.3, ..Options::default() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match &arg[..] {
            "--bench" => {}
            "--family" => {
                let name = args.next().filter(|name| FAMILIES.iter().any(|(family, _)| family == name));
                let names = FAMILIES.map(|(family, _)| family).join(", ");
                options.family = Some(name.ok_or_else(|| format!("the families are {names}"))?);
            }
            "--quick" => options.quick = true,
            "--check" => options.check = true,
            "--test" => options.test = true,
            "--limit" => {
                let limit = args.next().and_then(|text| text.parse().ok());
                options.limit = limit.ok_or("--limit needs a number")?;
            }
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let (begun, mut all, mut behind) = (Instant::now(), Vec::new(), 0);
    println!("{}", Outcome::HEADING);
    let chosen = |name: &str| options.family.as_deref().is_none_or(|family| family == name);
    let mut table = Vec::new();
    for (name, family) in FAMILIES.iter().filter(|(name, _)| chosen(name)) {
        let mut runner = Runner::new(name, options.test, options.quick);
        family(&mut runner);
        let is_behind = |runner: &Runner| options.check && mean(&runner.outcomes, OBVIOUS) > options.limit;
        for _ in (0..AGAIN).take_while(|_| !options.test) {
            if !is_behind(&runner) {
                break;
            }
            runner.again();
            family(&mut runner);
        }
        for outcome in runner.outcomes.iter().filter(|_| !options.test) {
            println!("{outcome}");
        }
        behind += usize::from(is_behind(&runner));
        table.push(row(name, &runner.outcomes));
        all.append(&mut runner.outcomes);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let wrong: Vec<&Outcome> = all.iter().filter(|outcome| outcome.differ).collect();
    for outcome in &wrong {
        println!("THE RESULTS DIFFER: {outcome}");
    }
    if options.test {
        println!("{} cases compared, {seconds:.0} s", all.len());
        return ExitCode::from(u8::from(!wrong.is_empty()));
    }
    table.push(row("all", &all));
    println!("\nGeometric means; the last two columns without 30 ns a call");
    println!("{:24} cases   good obvious    good obvious\n{}", "family", table.join("\n"));
    let count = |is: fn(&Outcome) -> bool| all.iter().filter(|outcome| is(outcome)).count();
    println!("over 1.3 of the good loop: {} of {}", count(|outcome| GOOD(outcome) > 1.3), all.len());
    println!("behind the obvious loop by 10 %: {}", count(|outcome| OBVIOUS(outcome) > 1.1));
    println!("{seconds:.0} s");
    if behind > 0 {
        println!("{behind} families take more than {} of the obvious loops' time", options.limit);
    }
    ExitCode::from(u8::from(!wrong.is_empty() || behind > 0))
}

/// How the crate compares, without the time that each call may take more.
const GOOD: fn(&Outcome) -> f64 = |outcome| outcome.allowed(outcome.good);
const OBVIOUS: fn(&Outcome) -> f64 = |outcome| outcome.allowed(outcome.obvious);

#[allow(clippy::cast_precision_loss, reason = "few cases")]
fn mean(outcomes: &[Outcome], ratio: fn(&Outcome) -> f64) -> f64 {
    let logs: f64 = outcomes.iter().map(|outcome| ratio(outcome).ln()).sum();
    (logs / outcomes.len().max(1) as f64).exp()
}

fn row(name: &str, outcomes: &[Outcome]) -> String {
    let mean = |ratio| mean(outcomes, ratio);
    let [good, obvious] = [mean(|case| case.ours / case.good), mean(|case| case.ours / case.obvious)];
    format!(
        "{name:24} {:5} {good:6.2} {obvious:7.2} {:7.2} {:7.2}",
        outcomes.len(),
        mean(GOOD),
        mean(OBVIOUS)
    )
}
