//! Seals the traits that only this crate implements.

/// Implemented for the types that the crate accepts.
pub trait Sealed {}
