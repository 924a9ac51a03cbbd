//! Batch and base axes, as in NEML2: the last axes belong to an operation, the others are how often it is done.
//!
//! | question | answer |
//! |---|---|
//! | which axes are the base? | [`batch_axes`]: the method `batch` makes a [`view::Batch`] of an array |
//! | what do batches come to together? | [`joint`] |
//! | an operation on bases | [`each`] for closures, with [`signature`] or a shape for the result; [`op`] and [`outer`] for the fused ones |
//! | the adjoint | [`sum`] |

#![allow(clippy::type_complexity, reason = "the type of a result is worked out from those of the operands")]
#![allow(clippy::needless_pass_by_value, reason = "a base shape is as well given as `6` as by reference")]

mod apply;
mod batch_axes;
mod cores;
mod each;
mod into;
mod joint;
mod op;
mod outer;
mod par;
mod result_base;
mod signature;
mod sum;
mod tokens;
mod transpose;
mod view;

pub use batch_axes::{BaseRank, BatchAxes};
pub use joint::{
    BatchOperand, BatchOperands, batch_broadcast, batch_broadcast_all, batch_broadcast_views,
    can_batch_broadcast,
};
pub use op::{BaseOp, base_op};
pub use result_base::ResultBase;
pub use signature::{Signature, SignatureShapes};

pub use view::Batch;

use crate::shape::LessAxes;
use ndarray::{DimAdd, DimMax};

/// The dimension type of the batch of a whole with a base.
type Of<D, B> = <D as LessAxes<B>>::Left;
/// The dimension type of the joint batch of two, and of three.
type Joint<D, B, D2, B2> = <Of<D, B> as DimMax<Of<D2, B2>>>::Output;
type Joint3<D, B, D2, B2, D3, B3> = <Joint<D, B, D2, B2> as DimMax<Of<D3, B3>>>::Output;
/// The dimension type of a batch and a base.
type Whole<J, B> = <J as DimAdd<B>>::Output;
