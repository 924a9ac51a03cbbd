//! Checks the broadcasts of a program from a text file, before there is an array.
//!
//! ```text
//! cargo run --features partial --example shape_check [FILE]
//! ```
//!
//! Each line of the file is one operation, `name: shapes in -> shape out`; the name may be left out, and
//! what follows a `#` is a comment. Without an argument the file beside this example is read, which
//! shows every kind of line. Each line is reported with its number:
//!
//! - `verified`: whatever the unknown sizes are, the shapes go together and give that result;
//! - `to check`: they do where what follows is made sure of at run time;
//! - `refused`: they never do, and why;
//! - `broken`: the line cannot be read, and where. The others are reported all the same.
//!
//! The exit code is 1 if a line is refused or broken, so that a build can stop there, and if the file
//! cannot be read. A line that starts with `!` turns that round: it has to be refused or broken.

mod usage;

use ndarray_broadcast::BroadcastError;
use ndarray_broadcast::partial::{Check, Decision, PartialShape, decide_result};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::{fs, io};

/// The file that is read without an argument.
pub(crate) const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/shape_check.txt");

/// What is to be said of an operation.
enum Verdict {
    Verified,
    ToCheck(Vec<Check>),
    Refused(BroadcastError),
    Broken(String),
}

impl Verdict {
    /// Of the shapes in and the shape out of `operation`.
    fn of(operation: &str) -> Self {
        match read(operation) {
            Err(reason) => Self::Broken(reason),
            Ok((operands, result)) => match decide_result(&operands, &result) {
                Decision::Always => Self::Verified,
                Decision::Depends(checks) => Self::ToCheck(checks),
                Decision::Never(error) => Self::Refused(error),
            },
        }
    }

    fn passes(&self) -> bool {
        matches!(self, Self::Verified | Self::ToCheck(_))
    }

    /// Adds itself to a report.
    fn write(&self, report: &mut String) {
        let _ = match self {
            Self::Verified => writeln!(report, "verified"),
            Self::ToCheck(checks) => {
                let words: Vec<_> = checks.iter().map(ToString::to_string).collect();
                writeln!(report, "to check: {}", words.join("; "))
            }
            Self::Refused(error) => writeln!(report, "refused: {error}"),
            Self::Broken(reason) => writeln!(report, "broken: {reason}"),
        };
    }
}

/// The shapes in and the shape out of `a, b -> c`.
fn read(operation: &str) -> Result<(Vec<PartialShape>, PartialShape), String> {
    let shape = |text: &str| text.trim().parse().map_err(|error: BroadcastError| error.to_string());
    let (operands, result) = operation
        .split_once("->")
        .ok_or_else(|| format!("there is no -> before the shape of the result in {operation:?}"))?;
    let operands = match operands.trim() {
        "" => Vec::new(),
        operands => operands.split(',').map(shape).collect::<Result<_, _>>()?,
    };
    Ok((operands, shape(result)?))
}

/// The report of all lines of `text`, and whether all are as they have to be.
pub(crate) fn check(text: &str) -> (String, bool) {
    let (mut report, mut good) = (String::new(), true);
    let mut counts = [0; 4];
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (fails, line) = line.strip_prefix('!').map_or((false, line), |line| (true, line.trim()));
        let (name, operation) = line.split_once(':').unwrap_or((line, line));
        let verdict = Verdict::of(operation.trim());
        let as_wanted = verdict.passes() != fails;
        good &= as_wanted;
        counts[match verdict {
            Verdict::Verified => 0,
            Verdict::ToCheck(_) => 1,
            Verdict::Refused(_) => 2,
            Verdict::Broken(_) => 3,
        }] += 1;
        let _ = write!(report, "line {}: {}: ", number + 1, name.trim());
        verdict.write(&mut report);
        if !as_wanted && fails {
            let _ = writeln!(report, "line {}: should have been refused or broken", number + 1);
        }
    }
    let [verified, to_check, refused, broken] = counts;
    let _ = writeln!(report, "{verified} verified, {to_check} to check, {refused} refused, {broken} broken");
    (report, good)
}

fn main() -> ExitCode {
    let ([], mut files) =
        usage::arguments("shape_check [FILE]: checks the broadcasts that a text file states", [], 1);
    let path = files.pop().unwrap_or_else(|| SHIPPED.into());
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    let (report, good) = check(&text);
    // A reader that stops early, such as `head`, is no reason to fail.
    let _ = io::stdout().write_all(report.as_bytes());
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
