//! Loops over strided elements: plans, inner loops, run-time SIMD.
//!
//! Knows shapes, strides and pointers, nothing of broadcasting rules. All of the crate's `unsafe` is here, behind
//! functions that check the lengths they rely on.

pub(crate) mod each;
pub(crate) mod pairs;
#[cfg(feature = "rayon")]
mod par;
pub(crate) mod plan;
pub(crate) mod product;
mod raw;
mod simd;
pub(crate) mod slots;
pub(crate) mod sum;
