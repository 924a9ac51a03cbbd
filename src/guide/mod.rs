//! The guide, in chapters whose code is compiled and run.
//!
//! | chapter | for the question |
//! |---|---|
//! | [`families`] | which of the ways to broadcast do I want? |
//! | [`gradients`] | I write the backward pass myself: how do I undo a broadcast? |
//! | [`batches`] | my array holds many matrices: how do I separate the batch from the matrix? |
//! | [`shapes`] | I have no arrays yet, or not all sizes: how do I check shapes? |
//! | [`speed`] | how much does each operation cost? |
//! | [`libraries`] | I write a library on top, generic over axes and floats: which bounds and which calls? |
//! | [`from_unbroadcast`] | I have an `unbroadcast` of my own: how do I replace it? |
//! | [`from_numpy`] | I know NumPy: which names and rules differ? |
//! | [`from_pytorch`] | the same for PyTorch |
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
pub mod families {}

#[doc = include_str!("gradients.md")]
pub mod gradients {}

#[doc = include_str!("batches.md")]
pub mod batches {}

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
