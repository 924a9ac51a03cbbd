//! The crate as a whole: its types, its agreement with NumPy, results larger than memory, a tape built on the crate, and
//! the bugs that fuzzing found.

mod differential;
#[cfg(target_pointer_width = "64")]
mod memory;
mod regressions;
mod tape;
mod types;
