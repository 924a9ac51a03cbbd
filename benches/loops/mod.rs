//! Loops over slices for one case each, in two ways: as one writes them without a second thought, and as one writes them
//! with care. The careful ones are meant for AVX2. They have several accumulators, in chunks of constant width so that the
//! compiler keeps them in registers, and they visit memory in its order. A name stands for the same result in both ways.
//!
//! The obvious loops are compiled twice, as the rest of the program and for AVX2 (see [`plain`](crate::plain)).
#![allow(dead_code, unused_imports, reason = "not every program has all of these cases")]
#![allow(clippy::many_single_char_names, reason = "rows side by side")]

pub(crate) mod good;
pub(crate) mod obvious;
