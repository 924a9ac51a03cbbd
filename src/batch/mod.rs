//! Batch and base axes, as in NEML2: an operation works on the last axes and is repeated along the others.
//!
//! | question | answer |
//! |---|---|
//! | which axes are the base? | [`batch_axes`]: the method `batch` makes a [`Batch`] of an array |
//! | what is the joint batch shape? | [`batch_broadcast`](mod@batch_broadcast); its number of axes as a type: [`join_batch`] |
//! | how is an operation applied to bases? | [`apply`]: an operation of [`operations`] checks the bases and gives a [`base_pass`], which an [`executor`] runs; [`operators`] and [`products`] have each as a method |
//! | how is a closure applied to bases? | [`zip_map`], with a shape for the result, or a [`Signature`](crate::Signature): [`result_base`] |
//! | which sum is the adjoint? | [`sum_batch`] |

#![allow(clippy::type_complexity, reason = "the types of the operands determine the type of the result")]
#![allow(clippy::needless_pass_by_value, reason = "a base shape may be written `6` or passed by reference")]

mod apply;
mod base_pass;
mod batch_axes;
mod batch_broadcast;
mod batch_view;

mod executor;
mod join_batch;
mod operations;
mod operators;
mod products;
mod result_base;
mod sum_batch;
mod zip_map;

pub use batch_axes::{BaseRank, BatchAxes, IntoBatch};
pub use batch_broadcast::batch_broadcast;
pub use batch_view::Batch;
pub use executor::{Parallel, Serial};
pub use join_batch::JoinBatch;
pub use operations::{BaseDim, BaseOp, base_op};
pub use products::Products;
pub use result_base::ResultBase;
pub use zip_map::FurtherBatches;

use executor::Executor;
use ndarray::DimAdd;

/// The dimension type of a batch and a base.
type WithBase<J, B> = <J as DimAdd<B>>::Output;
