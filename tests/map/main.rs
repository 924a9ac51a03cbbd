//! Broadcast operands evaluated and copied in one pass.
#![allow(clippy::many_single_char_names, reason = "a to f are operands")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod edges;
mod injected;
mod moving;
mod ownership;
