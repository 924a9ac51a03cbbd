//! The base shape of a result: a shape, or a signature that computes it.

use crate::error::{ErrorBuilder, Result, caller};
use crate::sealed::Sealed;
use crate::shape::{BatchShape, Signature, TargetShape, base_axes, sizes_only, with_base};
use ndarray::Dimension;

/// The base shape of a result, of dimension type `R`: a shape, or a [`Signature`] that computes it.
///
/// For a shape, which is any [`TargetShape`] without -1, `R` is its dimension type. For a signature, which has one
/// result, `R` is the dimension type of the closure's last argument. If the compiler cannot infer `R`, as in
/// `zip_map(&b, 6, |x, y, mut s| …)`, state the argument's type, `mut s: ArrayViewMut1<f64>`, or write the shape as an
/// array, `[6]`.
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
/// The right side of `signature` in `numpy.vectorize`; PyTorch's `vmap` inspects the function's result instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not give a base shape of dimension type `{R}`",
    label = "expected a shape or a `Signature`",
    note = "a shape is an integer, an array or tuple of up to 6 integers, a slice or `Vec` of integers or an ndarray \
            dimension; the closure's last argument has as many axes"
)]
pub trait ResultBase<R: Dimension>: Sealed {
    /// The base shape of the result of an operation on `parts`.
    #[doc(hidden)]
    fn base(&self, parts: &[BatchShape<'_>]) -> Result<R>;
}

impl<T: TargetShape> ResultBase<T::Dim> for T {
    fn base(&self, parts: &[BatchShape<'_>]) -> Result<T::Dim> {
        sizes_only(self, || ErrorBuilder::new(&caller::EACH_BATCH, parts).to(&self.for_message()))
    }
}

impl Sealed for Signature<'_> {}
impl<R: Dimension> ResultBase<R> for Signature<'_> {
    fn base(&self, parts: &[BatchShape<'_>]) -> Result<R> {
        let found = self.base_of_result(parts)?;
        if let Some(expected) = R::NDIM.filter(|&expected| expected != found.len()) {
            return Err(base_axes(self.builder(parts), None, [expected, found.len()]));
        }
        Ok(with_base(&[], &found))
    }
}
