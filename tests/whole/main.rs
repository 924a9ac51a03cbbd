//! The crate as a whole: its types, its agreement with NumPy, the bugs that fuzzing found, and what its pages show.

mod differential;
mod figures;
mod readme;
mod regressions;
mod types;
mod wine;
