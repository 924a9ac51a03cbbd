//! The library of all tests: the naive model, arrays of every layout, and the recorded tables.
#![allow(missing_docs, reason = "nothing but the tests uses this")]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "as above"
)]

mod arrays;
pub mod compiled;
mod lie;
mod model;
pub mod number;
mod tables;

pub use arrays::{
    Layout, Op, array_and_target, family, layout, layout_in, layout_to_write, layout_within, operand_of,
    operands_in, shape, torch_array,
};
pub use lie::Lie;
pub use model::{
    aligned_right, assert_elements, assert_picture, assert_strides, assert_words, element, empty,
    in_dim_places, indices, joint, kind, overflows, read_at, refused, resolved, scrambled, signed, sums,
    variant, without_axes,
};
pub use tables::{Case, Number, run};
