//! What concerns the crate as a whole.

mod differential;
mod regressions;
mod types;
