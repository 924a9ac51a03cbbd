//! Broadcast operands evaluated and copied in one pass over memory.
#![allow(clippy::needless_pass_by_value, reason = "operands are references, or views passed by value")]

mod broadcast_apply;
mod broadcast_map;
mod fused_operands;
mod into_broadcast_map;
mod materialize;

pub use broadcast_apply::{broadcast_apply, par_broadcast_apply};
pub use broadcast_map::{broadcast_map, par_broadcast_map};
pub use fused_operands::{ApplyOperands, FnOperands, FusedOperands, MapOperands, ParApplyOperands};
pub use into_broadcast_map::{FurtherOperands, IntoBroadcastMap};
pub use materialize::Materialize;

pub(crate) use fused_operands::{SharedClosure, joint};
