//! How far a bench program is.

use criterion::Criterion;
use std::time::Instant;

/// A name, and what measures it.
pub(crate) type Group = (&'static str, fn(&mut Criterion));

/// Measures all groups, each after a line with its number and the time so far.
pub(crate) fn run(config: Criterion, groups: &[Group]) {
    let (mut criterion, begun) = (config.configure_from_args(), Instant::now());
    for ((name, measure), number) in groups.iter().zip(1..) {
        let (all, since) = (groups.len(), begun.elapsed().as_secs());
        eprintln!("\n== {name}: {number} of {all} of this program, after {since} s");
        measure(&mut criterion);
    }
    criterion.final_summary();
}
