//! The crate as a whole: its types, its agreement with NumPy, a tape built on it, and the bugs that fuzzing found.

mod differential;
mod regressions;
mod tape;
mod types;
