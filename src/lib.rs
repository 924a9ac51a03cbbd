// Not for doctests, which would be named after this file.
#![cfg_attr(not(doctest), doc = include_str!("guide/images.md"))]
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod batch;
mod error;
#[allow(unsafe_code, reason = "strided loops over raw pointers, behind functions that check the shapes")]
mod kernel;
mod map;
mod reduce;
mod sealed;
mod shape;
mod view;

pub mod bounds;
pub mod guide;
pub mod partial;
pub mod prelude;

pub use batch::{Batch, BatchAxes, base_op, batch_broadcast, batch_broadcast_all, can_batch_broadcast};
pub use error::{BroadcastError, ErrorKind, Returned};
pub use map::{
    IntoBroadcastMap, Materialize, broadcast_apply, broadcast_map, par_broadcast_apply, par_broadcast_map,
};
pub use reduce::{Fused, Par, Reduce, fused};
pub use shape::{
    AxisSet, Signature, broadcast_shapes, const_broadcast_shape, explain, keepdims, reduction_axes,
    resolve_target,
};
pub use view::{
    BroadcastAxes, BroadcastInDim, BroadcastTo, BroadcastToMatch, BroadcastView, broadcast_arrays,
    broadcast_to_match_in_place, broadcast_to_match3_in_place, broadcast_views,
};
