//! The extension traits: `use ndarray_broadcast::prelude::*;` brings the methods into scope.
//!
//! Without it the methods do not exist, and the compiler says so:
//!
//! ```compile_fail,E0599
//! let a = ndarray::Array1::<f64>::zeros(3);
//! a.broadcast_to([2, -1]).unwrap(); // no method named `broadcast_to` found
//! ```
//!
//! The compiler says what is wrong of these, but not what to write:
//!
//! | instead of | write | because |
//! |---|---|---|
//! | `x.broadcast_to([n, -1])` with `n: usize` | `x.broadcast_to((n, -1))` | the integers of a Rust array have one type |
//! | `let b = x.t().batch::<Ix2>()?;` | `let b = x.t().into_batch::<Ix2>()?;` | `batch` borrows the view, which is gone after this line |
//! | `x.t().broadcast_to(…)` | `x.t().into_broadcast_to(…)` | the same |
//! | `m.matmul(&w)` of a batch `m` and an array `w` | `m.matmul(&w.batch::<Ix2>()?)` | a batch says how many axes its base has |
//! | `einsum("ij,jk->ik", …)` | `matmul`, or `fused(…).sum_axes(…)` | which axes are summed is checked when it compiles |
//!
//! ```
//! use ndarray::{Array2, Ix2};
//! use ndarray_broadcast::prelude::*;
//!
//! let (x, n) = (Array2::<f64>::ones((2, 3)), 4_usize);
//! assert_eq!(x.broadcast_to((n, -1, -1))?.dim(), (4, 2, 3));
//! let b = x.t().into_batch::<Ix2>()?;
//! assert_eq!(b.matmul(&x.batch::<Ix2>()?)?.dim(), (3, 3));
//! # Ok::<(), ndarray_broadcast::BroadcastError>(())
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
