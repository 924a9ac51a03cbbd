//! Every form of a reduction, for every source.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "small numbers, which are exact"
)]

mod extremes;
mod forms;
mod means;
mod messages;
mod sources;
