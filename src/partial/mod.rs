//! Shapes that are not all known (draft).
mod check;
mod decide;
mod dim;
mod families;
mod infer;
mod plan;
mod shape;
mod text;
mod verify;

pub use check::{Check, Place};
pub use decide::{Decision, decide, decide_result};
pub use dim::{Dim, Name, SizeRange};
pub use families::{infer_axes, infer_batch, infer_sum, infer_target};
pub use infer::{infer_dim, infer_dims, infer_result_shape, infer_shape, infer_shapes};
pub use plan::Plan;
pub use shape::PartialShape;
pub use verify::{ResultRule, verify};

use dim::Span;
