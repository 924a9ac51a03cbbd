//! What may be given as the base shape of a result.

use super::Signature;
use crate::error::{BroadcastError, Request};
use crate::shape::{Split, TargetShape, plain, sizes, sizes_mut, told};
use ndarray::Dimension;

/// What gives the base shape of a result, of dimension type `R`: the shape itself, or a [`Signature`].
///
/// A shape is any [`TargetShape`] without -1: then `R` is its dimension type. With a signature `R` is that of the
/// closure's last argument. Where neither says it, as in `zip_map(&b, 6, |x, y, mut s| …)`, give the argument's type,
/// `mut s: ArrayViewMut1<f64>`, or the shape as an array, `[6]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not give a base shape of dimension type `{R}`",
    label = "expected a shape or a `Signature`",
    note = "a shape is an integer, an array or tuple of up to 6 integers, a slice or `Vec` of integers or an ndarray \
            dimension; the closure's last argument has as many axes"
)]
pub trait ResultBase<R: Dimension> {
    /// The base shape of the result of an operation on `parts`.
    #[doc(hidden)]
    fn base(&self, parts: &[Split<'_>]) -> Result<R, BroadcastError>;
}

impl<T: TargetShape> ResultBase<T::Dim> for T {
    #[inline]
    fn base(&self, parts: &[Split<'_>]) -> Result<T::Dim, BroadcastError> {
        plain(self, || Request::ForEachBatch { shapes: told(parts), base: self.target_given() })
    }
}

impl<R: Dimension> ResultBase<R> for Signature<'_> {
    fn base(&self, parts: &[Split<'_>]) -> Result<R, BroadcastError> {
        let found = self.base_of_result(parts)?;
        if let Some(expected) = R::NDIM.filter(|&expected| expected != found.len()) {
            return Err(self.base_axes(parts, None, expected, found.len()));
        }
        let mut base = R::zeros(found.len());
        sizes_mut(&mut base).copy_from_slice(&found);
        debug_assert_eq!(sizes(&base), found);
        Ok(base)
    }
}
