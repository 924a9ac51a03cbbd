//! Views, and the shapes that they are made for.

mod arrays;
mod edges;
mod errors;
mod golden_axes;
mod golden_match;
mod golden_to;
mod properties;
mod shapes;
