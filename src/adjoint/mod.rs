//! Sums that undo a broadcast, next to the views that make one.
//!
//! Each view of the crate is linear in the array, and these are the adjoints:
//!
//! | view | adjoint |
//! |---|---|
//! | `broadcast_axes(shape, axes)`, `broadcast_like` | `sum_axes(axes)` |
//! | everything that is aligned at the right | `sum_to_shape(shape)`, `sum_to_match`, `add_sum_to`, … |
//! | `broadcast_in_dim(shape, axes)` | `sum_in_dim(shape, axes)`, … |

mod into_sum;
mod mean_axes;
mod par;
mod reduce_axes;
mod sum_axes;
mod sum_in_dim;
mod sum_to;
mod sums;

pub use into_sum::IntoSumTo;
pub use mean_axes::MeanAxes;
pub use par::ParSum;
pub use reduce_axes::ReduceAxes;
pub use sum_axes::SumAxes;
pub use sum_in_dim::SumInDim;
pub use sum_to::SumTo;
