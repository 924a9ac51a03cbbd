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

pub(crate) mod each;
pub(crate) mod fused;
mod lane;
mod levels;
pub(crate) mod loops;
mod memory;
pub(crate) mod nest;
mod order;
pub(crate) mod product;
mod simd;
pub(crate) mod store;
pub(crate) mod sum;
pub(crate) mod threads;
mod tiles;
