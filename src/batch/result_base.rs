//! The base shape of a result: given, or worked out by a signature.

use super::Signature;
use crate::error::{BroadcastError, Request, operation};
use crate::sealed::Sealed;
use crate::shape::{BatchShape, TargetShape, base_axes, sizes, sizes_mut, sizes_only};
use ndarray::Dimension;

/// The base shape of a result, of dimension type `R`: a shape, or a [`Signature`] that works it out.
///
/// A shape is any [`TargetShape`] without -1: then `R` is its dimension type. A signature has one result, and `R` is the
/// dimension type of the closure's last argument. Where neither says it, as in `zip_map(&b, 6, |x, y, mut s| …)`, give
/// the argument's type, `mut s: ArrayViewMut1<f64>`, or the shape as an array, `[6]`.
///
/// Sealed; implemented for every [`TargetShape`] and for [`Signature`].
///
/// # Examples
/// ```
/// use ndarray::{array, ArrayView1, ArrayViewMut1, Ix1};
/// use ndarray_broadcast::{prelude::*, Signature};
///
/// let (a, b) = (array![[1, 2], [3, 4]], array![10, 20]);
/// let (a, b) = (a.batch::<Ix1>()?, b.batch::<Ix1>()?);
/// let add = |x: ArrayView1<i32>, y: ArrayView1<i32>, mut s: ArrayViewMut1<i32>| s.assign(&(&x + &y));
/// let sums = array![[11, 22], [13, 24]];
/// assert_eq!(a.zip_map(&b, 2, add)?, sums);
/// assert_eq!(a.zip_map(&b, [2], add)?, sums);
/// assert_eq!(a.zip_map(&b, Signature::literal("(n),(n)->(n)"), add)?, sums);
/// assert!(a.zip_map(&b, -1, add).is_err());
/// assert_eq!(
///     a.zip_map(&b, Signature::literal("(n),(n)->(n),()"), add).unwrap_err().to_string(),
///     "cannot apply (n),(n)->(n),() to (2; 2) and (; 2): the number of results is 2, expected 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The right side of `signature` in `numpy.vectorize`; PyTorch's `vmap` looks at what the function returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not give a base shape of dimension type `{R}`",
    label = "expected a shape or a `Signature`",
    note = "a shape is an integer, an array or tuple of up to 6 integers, a slice or `Vec` of integers or an ndarray \
            dimension; the closure's last argument has as many axes"
)]
pub trait ResultBase<R: Dimension>: Sealed {
    /// The base shape of the result of an operation on `parts`.
    #[doc(hidden)]
    fn base(&self, parts: &[BatchShape<'_>]) -> Result<R, BroadcastError>;
}

impl<T: TargetShape> ResultBase<T::Dim> for T {
    #[inline]
    fn base(&self, parts: &[BatchShape<'_>]) -> Result<T::Dim, BroadcastError> {
        sizes_only(self, || Request::new(&operation::EACH_BATCH, parts).to(self.for_message()))
    }
}

impl Sealed for Signature<'_> {}
impl<R: Dimension> ResultBase<R> for Signature<'_> {
    fn base(&self, parts: &[BatchShape<'_>]) -> Result<R, BroadcastError> {
        let found = self.base_of_result(parts)?;
        if let Some(expected) = R::NDIM.filter(|&expected| expected != found.len()) {
            return Err(base_axes(self.request(parts), None, expected, found.len()));
        }
        let mut base = R::zeros(found.len());
        sizes_mut(&mut base).copy_from_slice(&found);
        debug_assert_eq!(sizes(&base), found);
        Ok(base)
    }
}
