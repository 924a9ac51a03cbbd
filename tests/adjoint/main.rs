//! The sums that undo broadcasts.

mod accuracy;
mod identity;
mod large;
mod properties;
mod reductions;
