//! The crate as a whole: its types, its agreement with NumPy, and the bugs that fuzzing found.

mod autodiff;
mod differential;
mod regressions;
mod types;
