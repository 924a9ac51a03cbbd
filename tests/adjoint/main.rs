//! The sums that undo broadcasts.

mod accuracy;
mod forms;
mod identity;
mod means;
mod properties;
mod reductions;
