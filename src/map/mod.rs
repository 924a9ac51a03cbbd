//! Broadcast operands evaluated and copied in one pass over memory.
#![allow(clippy::needless_pass_by_value, reason = "operands are references, or views passed by value")]

mod broadcast_apply;
mod broadcast_map;
mod evaluate;
mod fused_operands;
mod into_broadcast_map;
mod materialize;
mod par;
mod several;

pub use broadcast_apply::broadcast_apply;
pub use broadcast_map::broadcast_map;
pub use fused_operands::{ApplyOperands, FnOperands, FusedOperands, MapOperands};
pub use into_broadcast_map::{FurtherOperands, IntoBroadcastMap};
pub use materialize::Materialize;
pub use par::{Par, ParOperands};
pub use several::{broadcast_apply2, broadcast_apply3, broadcast_map2, broadcast_map3};

pub(crate) use fused_operands::SharedClosure;
