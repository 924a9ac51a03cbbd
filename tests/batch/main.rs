//! Batches of arrays.

mod edges;
mod golden_gufunc;
mod golden_neml2;
mod gradients;
mod large_products;
mod properties;
