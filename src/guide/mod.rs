//! The guide, in chapters whose code is compiled and run.
//!
//! | chapter | for the question |
//! |---|---|
//! | [`families`] | which of the ways to broadcast do I want? |
//! | [`gradients`] | I write the backward pass myself: how do I undo a broadcast? |
//! | [`recipes`] | softmax, argmax, nanmean, distances of pairs, attention, medians: how do I write these? |
//! | [`batches`] | my array holds many matrices: how do I separate the batch from the matrix? |
//! | [`shapes`] | I have no arrays yet, or not all sizes: how do I check shapes? |
//! | [`speed`] | how much does each operation cost? |
//! | [`libraries`] | I write a library on top, generic over axes and floats: which bounds and which calls? |
//! | [`from_unbroadcast`] | I have an `unbroadcast` of my own: how do I replace it? |
//! | [`from_numpy`] | I know NumPy: which names and rules differ? |
//! | [`from_pytorch`] | I know PyTorch: which names and rules differ? |
//! | [`versions`] | which versions of ndarray and Rust does it need, and what may change? |
//!
//! All examples begin with the same two lines: types come from ndarray, methods from the prelude.
//!
//! ```
//! use ndarray::array;
//! use ndarray_broadcast::prelude::*;
//!
//! assert_eq!(array![1, 2].broadcast_to([2, -1])?, array![[1, 2], [1, 2]]);
//! # Ok::<(), ndarray_broadcast::BroadcastError>(())
//! ```

#[doc = include_str!("families.md")]
///
/// # In pictures
///
/// Each cell has the colour of the element that it reads. A frame shows the element itself, a dashed arrow the axes that
/// repeat it. `cargo run --example figures` draws these pictures from real views.
///
/// Two arrays match each other, aligned at the right; axes of size 1 and missing axes stretch:
#[doc = include_str!("broadcast_to_match.svg")]
///
/// One array goes to a target; -1 keeps the size of the array's own axis:
#[doc = include_str!("broadcast_to.svg")]
///
/// Named axes are new. The same array and the same shape give two results:
#[doc = include_str!("broadcast_axes.svg")]
///
/// Placed axes: axis 0 of the array becomes axis 2 of the result, axis 1 becomes axis 0:
#[doc = include_str!("broadcast_in_dim.svg")]
///
/// Batches are broadcast; their bases (matrices of `x`, vectors of `y`) stay as they are:
#[doc = include_str!("batch_broadcast.svg")]
pub mod families {}

#[doc = include_str!("gradients.md")]
///
/// # In a picture
///
/// Each number of `delta` is added to the gradient of the element of its colour: the one that the
/// [view](crate::guide::families#in-pictures) has there.
#[doc = include_str!("sum_to.svg")]
pub mod gradients {}

// Names for which there is no operation. On a method or a function, rustc would offer it in their place.
#[doc(alias("einsum", "tensordot", "norm", "softmax", "log_softmax", "logsumexp"))]
#[doc(alias("cdist", "pairwise_distances", "one_hot", "unravel_index", "sort", "argsort", "cumprod"))]
#[doc(alias("nanmean", "nanvar", "nansum", "nanmax", "nanargmax", "var", "std", "var_mean", "aminmax"))]
#[doc(alias("median", "quantile", "cumsum", "weighted_mean", "where", "clip", "clamp", "copy_"))]
#[doc(alias("linear", "causal_mask", "masked_fill", "nhwc", "nchw", "permute", "rearrange"))]
#[doc(alias("minmax", "select", "count", "map", "solve", "inverse", "covariance", "standardize"))]
#[doc(alias("batch_norm", "layer_norm", "allclose", "bincount", "digitize", "scatter_add"))]
#[doc(alias("weighted_variance", "segment_sum", "masked_softmax", "hypot", "nrm2", "adam", "sgd"))]
#[doc(alias("tile", "repeat", "optimizer", "meshgrid", "stack", "concatenate", "squeeze", "unsqueeze"))]
#[doc(alias("movedim", "moveaxis", "newaxis", "expand_dims", "atleast_1d", "atleast_2d"))]
#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[doc = include_str!("batches.md")]
pub mod batches {}

#[cfg(feature = "partial")]
#[doc = include_str!("shapes.md")]
pub mod shapes {}

#[doc = include_str!("speed.md")]
#[doc = include_str!("speed.svg")]
pub mod speed {}

#[doc = include_str!("libraries.md")]
pub mod libraries {}

#[doc = include_str!("from_unbroadcast.md")]
pub mod from_unbroadcast {}

#[doc = include_str!("from_numpy.md")]
pub mod from_numpy {}

#[doc = include_str!("from_pytorch.md")]
pub mod from_pytorch {}

#[doc = include_str!("versions.md")]
pub mod versions {}
