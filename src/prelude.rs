//! The extension traits: `use ndarray_broadcast::prelude::*;` brings the methods into scope.
//!
//! Without it the methods do not exist, and the compiler says so:
//!
//! ```compile_fail,E0599
//! let a = ndarray::Array1::<f64>::zeros(3);
//! a.broadcast_to([2, -1]).unwrap(); // no method named `broadcast_to` found
//! ```
//!
//! # Panics
//!
//! A panic of a closure, of `+` or of `clone` passes through a call. It leaves operands that are borrowed as they were. In an
//! existing output, each element has its old value or its new one, never a third: those that were stored before the panic
//! are new. A closure that gets `&mut` to an element or to a base leaves there what it wrote. A new array that
//! was being filled may leak its elements.

pub use crate::batch::{BatchAxes, IntoBatch, Products};
pub use crate::map::{IntoBroadcastMap, Materialize, ParOperands};
pub use crate::reduce::Reduce;
pub use crate::view::{BroadcastAxes, BroadcastInDim, BroadcastTo, BroadcastToMatch, BroadcastView};
