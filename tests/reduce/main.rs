//! The sums that undo broadcasts, and every other reduction.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "counts and whole numbers are small, and whole numbers are exact in floats"
)]

mod accuracy;
mod bits;
mod forms;
mod large_means;
mod layouts;
mod means;
mod positions;
mod reductions;
mod statistics;
mod trust;
