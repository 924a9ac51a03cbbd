//! Broadcasting for [`ndarray`], as every array system does it, without copying: by matching shapes, to a shape with -1
//! placeholders, along named axes, with placed axes and over batches. Where `ndarray` broadcasts one array to a shape that
//! you work out, this crate works the shape out, explains errors, sums gradients back, and evaluates broadcast operands in one
//! pass over memory.
//!
//! ```
//! use ndarray::array;
//! use ndarray_broadcast::{BroadcastError, prelude::*};
//!
//! fn main() -> Result<(), BroadcastError> {
//!     let (x, y) = (array![[2], [3], [5]], array![1, 10, 100, 1000]); // shapes [3, 1] and [4]
//!     let (xs, ys) = x.broadcast_to_match(&y)?; // two views of shape [3, 4], nothing is copied
//!     let product = &xs * &ys;
//!     assert_eq!(product.row(1), array![3, 30, 300, 3000]);
//!     assert_eq!(product.sum_to(&y)?, array![10, 100, 1000, 10_000]); // back to the shape of y
//!     Ok(())
//! }
//! ```
//!
//! A cell of a view has the colour of the element that it reads. Framed cells are the array itself, the others repeat it:
//!
#![doc = include_str!("guide/broadcast_to_match.svg")]
//!
//! `{:#}` draws an error, with the shapes aligned and a caret under the axis:
//!
//! ```
//! # use ndarray::array;
//! # use ndarray_broadcast::prelude::*;
//! # let x = array![[2], [3], [5]];
//! let error = x.broadcast_to_match(&array![[1, 2], [3, 4]]).unwrap_err();
//! println!("{error:#}");
//! # assert_eq!(format!("{error:#}"), "cannot broadcast shapes [3, 1] and [2, 2] together\n  [3, 1]\n  [2, 2]\n   ^ axis 0: sizes 3 and 2, expected equal sizes or 1");
//! ```
//!
//! ```text
//! cannot broadcast shapes [3, 1] and [2, 2] together
//!   [3, 1]
//!   [2, 2]
//!    ^ axis 0: sizes 3 and 2, expected equal sizes or 1
//! ```
//!
//! A view costs a few nanoseconds. `a * row + column`, written to an existing array of 256×256 `f32`, takes
//! 5.7 µs with [`broadcast_apply`](broadcast_apply()) and 41 µs with ndarray's `Zip`. [`guide::speed`] has more.
//!
//! # Add it
//!
//! ```sh
//! cargo add ndarray
//! cargo add ndarray-broadcast --path ../ndarray-broadcast # a checkout, beside your crate
//! ```
//!
//! Then write `use ndarray_broadcast::prelude::*;` for the methods: without the [`prelude`], the compiler finds none of
//! them. The [`guide`] has pictures, [recipes](guide::recipes), and chapters for those who come
//! [from NumPy](guide::from_numpy), [from PyTorch](guide::from_pytorch) or from
//! [another system](guide::families#names-elsewhere).
//!
//! # See in another shape
//!
//! Views copy nothing.
//!
//! | to see | call |
//! |---|---|
//! | arrays in their joint shape | [`x.broadcast_to_match(&y)`](BroadcastToMatch::broadcast_to_match), [`broadcast_arrays((&x, &y, …))`](broadcast_arrays()) |
//! | an array in a shape | [`x.broadcast_to((4, -1))`](BroadcastTo::broadcast_to), [`x.broadcast_to(&y)`](BroadcastTo::broadcast_to), [`can_broadcast_to`](BroadcastTo::can_broadcast_to) |
//! | a bias by channel | [`bias.broadcast_like(&x, [0, 2, 3])`](BroadcastAxes::broadcast_like), [`broadcast_axes`](BroadcastAxes::broadcast_axes) |
//! | an array with its axes placed | [`x.broadcast_in_dim(shape, axes)`](BroadcastInDim::broadcast_in_dim) |
//! | a view, passed by value | [`into_broadcast_to`](BroadcastView::into_broadcast_to), [`into_broadcast_axes`](BroadcastView::into_broadcast_axes), [`into_broadcast_in_dim`](BroadcastView::into_broadcast_in_dim) |
//! | shapes alone | [`broadcast_shapes`], [`resolve_target`], [`reduction_axes`], drawn by [`explain`] |
//! | shapes before all sizes are known | [`partial::infer_shapes`]; [`partial::Plan`] keeps the checks for run time |
//!
//! # Sum and reduce
//!
//! | to | call |
//! |---|---|
//! | sum, average, find extremes | [`x.sum_axes(axes)`](Reduce::sum_axes), [`mean_axes`](Reduce::mean_axes), [`max_axes`](Reduce::max_axes), [`argmax_axes`](Reduce::argmax_axes), [`reduce_axes`](Reduce::reduce_axes). All axes are `..`; with [`keepdims(axes)`](keepdims()) they stay with size 1 |
//! | sum a gradient back | [`delta.sum_to(&x)`](Reduce::sum_to), [`delta.add_sum_to(&mut gradient)`](Reduce::add_sum_to); also [`mean_to`](Reduce::mean_to), [`max_to`](Reduce::max_to), [`min_to`](Reduce::min_to), [`reduce_to`](Reduce::reduce_to) |
//! | sum the results of a closure | [`fused((&x, &y), f)`](fused()), then any reduction |
//! | find variances, or whether elements are true | [`x.var_axes(axes, ddof)`](Reduce::var_axes), [`std_axes`](Reduce::std_axes), [`mean_var_axes`](Reduce::mean_var_axes), [`mask.any_axes(axes)`](Reduce::any_axes), [`all_axes`](Reduce::all_axes), or for how many [`count_axes`](Reduce::count_axes) |
//! | get a number | [`fused((&a, &b), f).sum()`](Totals::sum), [`mean`](Totals::mean), [`max`](Totals::max), [`min`](Totals::min), [`var`](Totals::var), [`std`](Totals::std), [`any`](Totals::any), [`all`](Totals::all), [`count`](Totals::count), [`reduce`](Totals::reduce) |
//! | find distances | the recipes for [distances](guide::recipes#distances-of-all-pairs) |
//!
//! # Compute
//!
//! | to | call |
//! |---|---|
//! | compute in one pass | [`broadcast_map((&x, &y), f)`](broadcast_map()), in place [`broadcast_apply`](broadcast_apply()), by value [`into_broadcast_map`](IntoBroadcastMap::into_broadcast_map) |
//! | write several arrays in one pass | [`broadcast_apply2(&mut p, &mut m, &g, f)`](broadcast_apply2()), [`broadcast_apply3`](broadcast_apply3()); new ones [`broadcast_map2((&x, &y), f)`](broadcast_map2()), [`broadcast_map3`](broadcast_map3()) |
//! | own the elements of a view | [`materialize`](Materialize::materialize), [`materialize_into`](Materialize::materialize_into) |
//! | multiply many matrices | [`x.matmul(&w)`](Products::matmul), [`matvec`](Products::matvec), [`vecmat`](Products::vecmat), [`inner`](Products::inner), [`outer`](Products::outer) |
//! | apply a closure to many matrices | [`batch`](BatchAxes::batch), then [`zip_map`](Batch::zip_map); [`apply_into`](Batch::apply_into) writes products into an array |
//! | use several threads | `.par()` of [an array](Reduce::par), of [`fused`](Fused::par) operands, of [a batch](Batch::par), of the [operands](ParOperands::par) of a map |
//!
//! # Errors
//!
//! Each call that can fail returns a [`BroadcastError`]. It is one line that names the operation, the shapes, the axis, the
//! sizes and the rule; `{error:#}` draws it as above. Shapes are checked before elements are written, so a call that fails
//! changes nothing. Programs match on [`error.kind()`](BroadcastError::kind). The [`prelude`](prelude#panics) says what is
//! left after a panic of a closure or of `+`.
//!
//! # Features
//!
//! - `std` (default) selects loops by the CPU (AVX2 on x86-64). Without it the crate is `no_std`, needs `alloc`,
//!   and has no [`std_axes`](Reduce::std_axes): take the roots of [`var_axes`](Reduce::var_axes) yourself.
//! - `partial` adds the module [`partial`]: shapes with unknown sizes, for programs that check shapes before they have
//!   arrays. The crate then takes a third longer to build.
//! - `rayon`: `.par()` uses several threads. Without it, the calling thread does the work.
//!
//! # Versions
//!
//! Version 0.1 needs ndarray 0.17 and Rust 1.87 or later. [`guide::versions`] says what may change.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "partial"), allow(rustdoc::broken_intra_doc_links, reason = "links to `partial`"))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod batch;
mod error;
#[allow(
    unsafe_code,
    reason = "strided loops over raw pointers, called only by functions that check the shapes"
)]
mod kernel;
mod map;
mod reduce;
mod reserved;
mod sealed;
mod shape;
#[cfg(test)]
mod tests;
mod view;

pub mod bounds;
pub mod guide;
#[cfg(feature = "partial")]
pub mod partial;
pub mod prelude;

pub use batch::{Batch, BatchAxes, IntoBatch, Products, base_op, batch_broadcast};
pub use error::{BroadcastError, ErrorKind, Returned};
pub use map::{
    IntoBroadcastMap, Materialize, Par, ParOperands, broadcast_apply, broadcast_apply2, broadcast_apply3,
    broadcast_map, broadcast_map2, broadcast_map3,
};
pub use reduce::{Fused, Reduce, Totals, fused};
pub use shape::{
    AxisSet, Signature, broadcast_shapes, const_broadcast_shape, explain, keepdims, reduction_axes,
    resolve_target,
};
pub use view::{
    BroadcastAxes, BroadcastInDim, BroadcastTo, BroadcastToMatch, BroadcastView, broadcast_arrays,
    broadcast_to_match_in_place, broadcast_to_match3_in_place, broadcast_views,
};

// README's code, which runs with the other examples.
#[cfg(all(doctest, feature = "partial"))]
#[doc = include_str!("../README.md")]
struct Readme;
