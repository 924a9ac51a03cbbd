//! Views, and the shapes that they are made for.

mod arrays;
mod edges;
