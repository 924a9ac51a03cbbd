//! Loops over strided elements.
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::inline_always,
    reason = "a function under a SIMD dispatch is compiled for the CPU if it is inlined"
)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "a handle is consumed by what gives access to its elements"
)]
#![allow(
    clippy::similar_names,
    clippy::many_single_char_names,
    clippy::too_many_arguments,
    reason = "operands and the places of a group are alike"
)]
#![allow(clippy::type_complexity, reason = "the types of functions that are generic over a brand")]
#![allow(clippy::unused_self, reason = "a value of type `Types` is a proof")]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over operands and places, of which several arrays have one each"
)]

pub(crate) mod bases;
pub(crate) mod map;
pub(crate) mod memory;
pub(crate) mod nest;
pub(crate) mod operation;
mod order;
pub(crate) mod product;
pub(crate) mod reduce;
mod simd;
pub(crate) mod source;
pub(crate) mod threads;

/// Panics unless what a caller has promised `holds`: an `assert!` whose panic names no line, of which each takes 48 bytes of
/// a program, and more where it is inlined.
#[inline(always)]
fn ensure(holds: bool, promise: &'static str) {
    if !holds {
        broken(promise);
    }
}

#[cold]
#[inline(never)]
fn broken(promise: &'static str) -> ! {
    panic!("{promise}")
}
