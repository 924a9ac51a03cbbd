//! What all tests share: the naive model, arrays of every layout, and the recorded tables.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each test file is its own crate and uses a part of this"
)]
#![allow(unreachable_pub, reason = "each test file is its own crate, of which this is a private module")]

mod arrays;
mod model;
mod tables;

pub(crate) use arrays::view_of_rank;
pub use arrays::{
    Layout, Op, array_and_target, family, layout, layout_in, layout_to_write, layout_within, operand_of,
    operands_in, shape, torch_array,
};
pub use model::{
    aligned_right, assert_elements, assert_picture, assert_strides, assert_words, element, empty,
    in_dim_places, indices, joint, kind, overflows, read_at, refused, resolved, scrambled, signed, sums,
    variant, without_axes,
};
pub use tables::{Case, Number, Tally, run, run_kind};
