//! Batches of arrays.

mod edges;
mod products;
