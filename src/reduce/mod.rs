//! Reductions of any source: sums that undo a broadcast, means, maxima and operations of your own.
//!
//! [`Reduce`] has each form once. A [source](sources) is an array, or the results of a closure over broadcast operands,
//! [`fused()`]; [`Par`](crate::Par) reduces either on several threads. Each form finds the shape of its result, and the source fills it.
//!
//! ```text
//! elements, passes, parts ← mean, extreme ← positions, statistics ← methods (the trait `Reduce`) ← sources (its implementations), totals → fused
//! ```
//!
//! Each view of the crate is linear in the array, and these are the adjoints:
//!
//! | view | adjoint |
//! |---|---|
//! | `broadcast_axes(shape, axes)`, `broadcast_like` | `sum_axes(axes)` |
//! | everything that is aligned at the right | `sum_to(shape)`, `add_sum_to(&mut out)`, … |
//! | `broadcast_in_dim(shape, axes)` | `sum_in_dim(shape, axes)`, `add_sum_in_dim_to(&mut out, axes)`; the rule of both is in `shape::placed` |

pub(crate) mod elements;
mod extreme;
mod fused;
mod mean;
mod methods;
mod parts;
mod passes;
mod positions;
mod sources;
mod statistics;
mod totals;

pub(crate) use elements::*;
pub use fused::{Fused, fused};
pub use methods::Reduce;
pub use totals::Totals;
