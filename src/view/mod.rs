//! Views, family by family. The shape layer checks shapes; `ArrayRef::broadcast` and [`raw`] build the views.

mod broadcast_arrays;
mod broadcast_axes;
mod broadcast_in_dim;
mod broadcast_to;
mod broadcast_to_match;
mod broadcast_view;
#[allow(unsafe_code, reason = "views that ndarray has no safe way to make")]
mod raw;

pub use broadcast_arrays::{Operand, Operands, ViewOperand, broadcast_arrays, broadcast_views};
pub use broadcast_axes::BroadcastAxes;
pub use broadcast_in_dim::BroadcastInDim;
pub use broadcast_to::BroadcastTo;
pub use broadcast_to_match::{BroadcastToMatch, broadcast_to_match_in_place, broadcast_to_match3_in_place};
pub use broadcast_view::BroadcastView;
pub(crate) use raw::{broadcast_data, place};

use crate::error::Result;
use crate::sealed::Sealed;
use crate::shape::{Placeholder, TargetShape, resolved_dim, target_error};
use ndarray::{ArrayBase, ArrayRef, Data};

/// Every kind of array. The extension traits are implemented for it.
///
/// `ArrayBase` with any storage that can be read (`Array`, `ArrayView`, `ArrayViewMut`, `ArcArray`,
/// `CowArray`) and `ArrayRef`, with elements of any type. Sealed.
///
/// # Examples
/// One of the extension traits serves as a bound:
/// ```
/// use ndarray::{Array2, Ix2};
/// use ndarray_broadcast::prelude::*;
///
/// fn rows<T: BroadcastTo<f64, Ix2> + ?Sized>(a: &T) -> usize {
///     a.broadcast_to([5, -1]).map_or(0, |view| view.nrows())
/// }
/// assert_eq!(rows(&Array2::zeros((1, 3))), 5);
/// assert_eq!(rows(&Array2::zeros((4, 3)).view()), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array of ndarray",
    label = "expected an `Array`, a view, an `ArcArray`, a `CowArray` or an `ArrayRef`",
    note = "nor is an array of another version of ndarray: `cargo tree -d` shows whether there are two versions"
)]
pub trait AsArrayRef<A, D>: Sealed {
    /// The array as ndarray's reference type.
    #[doc(hidden)]
    fn as_array_ref(&self) -> &ArrayRef<A, D>;
}

impl<S: Data, D> Sealed for ArrayBase<S, D> {}
impl<S: Data<Elem = A>, A, D> AsArrayRef<A, D> for ArrayBase<S, D> {
    #[inline]
    fn as_array_ref(&self) -> &ArrayRef<A, D> {
        self
    }
}

impl<A, D> Sealed for ArrayRef<A, D> {}
impl<A, D> AsArrayRef<A, D> for ArrayRef<A, D> {
    #[inline]
    fn as_array_ref(&self) -> &ArrayRef<A, D> {
        self
    }
}

/// Resolves `target` for an array of shape `shape`, and makes the view with `broadcast`.
///
/// A target of `usize` sizes goes straight to ndarray, whose own check is the same rule.
#[inline(always)]
fn stretch<V, T: TargetShape>(
    shape: &[usize],
    target: &T,
    placeholder: Placeholder,
    broadcast: impl FnOnce(T::Dim) -> Option<V>,
) -> Result<V> {
    let dim = if T::PLAIN { Some(target.target_dim()) } else { resolved_dim(shape, target, placeholder) };
    dim.and_then(broadcast).ok_or_else(|| target_error(shape, target, placeholder))
}
