//! Seals the traits that only this crate implements.

/// Implemented for what the crate accepts.
pub trait Sealed {}
