//! The extension traits: `use ndarray_broadcast::prelude::*;` brings the methods into scope.
//!
//! Without it the methods do not exist, and the compiler says so:
//!
//! ```compile_fail,E0599
//! let a = ndarray::Array1::<f64>::zeros(3);
//! a.broadcast_to([2, -1]).unwrap(); // no method named `broadcast_to` found
//! ```
//!
//! For these calls, the compiler does not say what to write instead:
//!
//! | instead of | write | because |
//! |---|---|---|
//! | `x.broadcast_to([n, -1])` with `n: usize` | `x.broadcast_to((n, -1))` | the integers of a Rust array have one type |
//! | `let b = x.t().batch::<Ix2>()?;` | `let b = x.t().into_batch::<Ix2>()?;` | `batch` borrows the view, which is gone after this line |
//! | `x.t().broadcast_to(…)` | `x.t().into_broadcast_to(…)` | as above |
//! | `m.matmul(&w)` of a batch `m` and an array `w` | `m.matmul(&w.batch::<Ix2>()?)` | a batch says how many axes its base has |
//! | `x.dot(&w)` with an `x` of three axes or more | `x.matmul(&w)`, or `x.matvec(&v)` | ndarray's `dot` multiplies one matrix; the error is an "overflow" |
//! | `x.sum_axes(0, keepdims)`, `x.sum_axes(0, true)` | `x.sum_axes(keepdims(0))` | the axes say whether they stay |
//! | `broadcast_apply((&mut p, &mut m), &g, …)` | `broadcast_apply2(&mut p, &mut m, &g, …)` | each output is an argument |
//! | `x.sum_axes(..)? > 3.0`, `let s: f64 = x.sum_axes(..)?;` | `x.sum_axes(..)?.into_scalar() > 3.0`, or ndarray's `x.sum()` | over all axes, the result is an array without axes, which holds one number |
//! | `m.batch::<Ix2>()?.map(f)` | `m.batch::<Ix2>()?.zip_map((), shape, f)` | a batch is not an iterator: `f` gets a view of each base and the part of the result to write, of this `shape` |
//! | `einsum("ij,jk->ik", …)` | `matmul`, or `fused(…).sum_axes(…)` | the compiler checks which axes are summed |
//!
//! For these, it proposes a method that does something else, and most of its proposals compile:
//!
//! | instead of | it proposes | write |
//! |---|---|---|
//! | `x.norm_axes(1)` | `sum_axes` | `fused(&x, \|x\| x * x).sum_axes(1)?.mapv(f64::sqrt)` |
//! | `x.prod_axes(1)` | `std_axes` | `x.reduce_axes(1, 1.0, \|a, b\| a * b)` |
//! | `x.median_axes(1)` | `mean_axes` | the [recipe](crate::guide::recipes#medians) for medians |
//! | `x.sort_axes(1)`, `x.argsort_axes(1)` | `std_axes`, `argmax_axes` | the [recipe](crate::guide::recipes#sorted-lanes) for sorted lanes |
//! | `x.cumsum_axes(1)` | `sum_axes` | `x.accumulate_axis_inplace(Axis(1), \|before, x\| *x += before)` of ndarray |
//! | `x.softmax_axes(1)` | `max_axes` | the [recipe](crate::guide::recipes#softmax-and-logsumexp) for softmax |
//!
//! ```
//! use ndarray::{array, Array2, Array3, ArrayView2, ArrayViewMut0, Ix2};
//! use ndarray_broadcast::{fused, keepdims, prelude::*};
//!
//! let (x, n) = (Array2::<f64>::ones((2, 3)), 4_usize);
//! assert_eq!(x.broadcast_to((n, -1, -1))?.dim(), (4, 2, 3));
//! let b = x.t().into_batch::<Ix2>()?;
//! assert_eq!(b.matmul(&x.batch::<Ix2>()?)?.dim(), (3, 3));
//! assert_eq!(Array3::ones((5, 4, 2)).matmul(&x)?.dim(), (5, 4, 3));
//! let traces = b.zip_map((), (), |m: ArrayView2<f64>, mut out: ArrayViewMut0<f64>| out.fill(m.diag().sum()))?;
//! assert_eq!(traces.into_scalar(), 2.0);
//! assert_eq!(x.sum_axes(keepdims(0))?, array![[2.0, 2.0, 2.0]]);
//! assert!(x.sum_axes(..)?.into_scalar() > 3.0);
//! let norms = fused(&array![[3.0, 4.0]], |x| x * x).sum_axes(1)?.mapv(f64::sqrt);
//! assert_eq!(norms, array![5.0]);
//! assert_eq!(array![[3.0, 4.0]].reduce_axes(1, 1.0, |a, b| a * b)?, array![12.0]);
//! # Ok::<(), ndarray_broadcast::BroadcastError>(())
//! ```
//!
//! # Panics
//!
//! A panic of a closure, of `+` or of `clone` passes through a call. Borrowed operands stay as they were. In an existing
//! output, elements that were stored before the panic have their new values, all others their old ones. If a closure gets
//! `&mut` to an element or to a base, its writes remain. A new array that was being filled may leak its elements.

pub use crate::batch::{BatchAxes, IntoBatch, Products};
pub use crate::map::{IntoBroadcastMap, Materialize, ParOperands};
pub use crate::reduce::{Reduce, Totals};
pub use crate::view::{BroadcastAxes, BroadcastInDim, BroadcastTo, BroadcastToMatch, BroadcastView};
