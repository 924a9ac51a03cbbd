//! Batches of arrays.

mod edges;
mod gradients;
mod large_products;
mod properties;
