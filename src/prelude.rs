//! The extension traits: `use ndarray_broadcast::prelude::*;` brings the methods into scope.
//!
//! Without it the methods do not exist, and the compiler says so:
//!
//! ```compile_fail,E0599
//! let a = ndarray::Array1::<f64>::zeros(3);
//! a.broadcast_to([2, -1]).unwrap(); // no method named `broadcast_to` found
//! ```

pub use crate::batch::{BatchAxes, IntoBatch};
pub use crate::map::{IntoBroadcastMap, Materialize, ParOperands};
pub use crate::reduce::Reduce;
pub use crate::view::{BroadcastAxes, BroadcastInDim, BroadcastTo, BroadcastToMatch, BroadcastView};
