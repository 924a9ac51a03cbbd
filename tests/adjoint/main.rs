//! The sums that undo broadcasts.

#[path = "../common/mod.rs"]
mod common;

mod accuracy;
mod elements;
mod errors;
mod identity;
mod large;
mod properties;
