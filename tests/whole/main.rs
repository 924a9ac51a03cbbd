//! The crate as a whole: its types, elements of every kind, results larger than memory, threads, little
//! stack, a tape built on the crate, the bugs that fuzzing found, large arrays of random shapes, and what its pages show.
#![allow(clippy::duplicate_mod, reason = "the examples share their command line")]

mod documents;
mod elements;
mod errors;
mod examples;
#[cfg(target_pointer_width = "64")]
mod memory;
mod messages;
mod regressions;
mod shapes;
mod small_threads;
#[cfg(feature = "rayon")]
mod threads;
mod types;
