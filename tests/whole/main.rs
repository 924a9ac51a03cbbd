//! The crate as a whole: its types, its agreement with NumPy, the bugs that fuzzing found, and the guide's figures.

mod differential;
mod figures;
mod regressions;
mod types;
