//! The guide: how to think in this crate, in chapters that run.
//!
//! | chapter | for the question |
//! |---|---|
//! | [`families`] | there are several ways to say what goes where: which one do I want? |
//! | [`gradients`] | I write the backward pass myself: what undoes a broadcast? |
//! | [`batches`] | my arrays are many matrices: how do I keep the batch apart from the matrix? |
//! | [`shapes`] | there are no arrays yet, or not all sizes: what can be said? |
//! | [`speed`] | what costs what, and what did it measure? |
//! | [`from_unbroadcast`] | I have an `unbroadcast` of my own: what replaces it? |
//! | [`from_numpy`] | I know NumPy: what is it called here, and what differs? |
//! | [`from_pytorch`] | the same for PyTorch |
//! | [`versions`] | which ndarray, which Rust, and what may change? |
//!
//! All begin with the same two lines: the types are ndarray's, the methods come with the prelude.
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

#[doc = include_str!("from_unbroadcast.md")]
pub mod from_unbroadcast {}

#[doc = include_str!("from_numpy.md")]
pub mod from_numpy {}

#[doc = include_str!("from_pytorch.md")]
pub mod from_pytorch {}

#[doc = include_str!("versions.md")]
pub mod versions {}
