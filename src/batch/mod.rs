//! Batch and base axes, as in NEML2: an operation works on the last axes and is repeated along the others.
//!
//! | question | answer |
//! |---|---|
//! | which axes are the base? | [`batch_axes`]: the method `batch` makes a [`Batch`] of an array |
//! | what is the joint batch shape? | [`batch_broadcast`](mod@batch_broadcast) |
//! | how is an operation applied to bases? | [`zip_map`] for closures, with a [`Signature`](crate::Signature) or a shape for the result; [`operations`] and [`apply`] for the fused ones |
//! | which sum is the adjoint? | [`sum_batch`] |

#![allow(clippy::type_complexity, reason = "the type of a result is worked out from those of the operands")]
#![allow(clippy::needless_pass_by_value, reason = "a base shape may be written `6` or passed by reference")]

mod apply;
mod batch_axes;
mod batch_broadcast;
mod batch_view;
mod executor;
mod methods;
mod operations;
mod pass;
mod result_base;
mod sum_batch;
mod zip_map;

pub use batch_axes::{BaseRank, BatchAxes};
pub use batch_broadcast::{
    BatchOperand, BatchOperands, batch_broadcast, batch_broadcast_all, can_batch_broadcast,
};
pub use batch_view::{Batch, MatrixRank};
pub use executor::{OneThread, Runs, Threads};
pub use operations::{BaseDim, BaseOp, OpTypes, base_op};
pub use result_base::ResultBase;

use crate::shape::LessAxes;
use ndarray::{DimAdd, DimMax};

/// The dimension type of the batch of a whole with a base.
type BatchOf<D, B> = <D as LessAxes<B>>::Left;
/// The dimension type of the joint batch of two, and of three.
type JointBatch<D, B, D2, B2> = <BatchOf<D, B> as DimMax<BatchOf<D2, B2>>>::Output;
type JointBatch3<D, B, D2, B2, D3, B3> = <JointBatch<D, B, D2, B2> as DimMax<BatchOf<D3, B3>>>::Output;
/// The dimension type of a batch and a base.
type WithBase<J, B> = <J as DimAdd<B>>::Output;
