//! Loops over strided elements: plans, inner loops, run-time SIMD.
//!
//! Knows shapes, strides and pointers, nothing of broadcasting rules. The crate's `unsafe` is here, but for that of
//! `view::raw`, behind functions that check the lengths they rely on.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "lengths and offsets within arrays fit isize"
)]
#![allow(
    clippy::inline_always,
    reason = "what a SIMD dispatch calls is compiled for the CPU only if inlined"
)]

pub(crate) mod bases;
pub(crate) mod map;
mod order;
#[cfg(feature = "rayon")]
mod par;
pub(crate) mod plan;
pub(crate) mod product;
mod raw;
mod simd;
pub(crate) mod slots;
pub(crate) mod sum;
