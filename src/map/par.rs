//! Sources and operands for several threads.

use super::FusedOperands;
use crate::sealed::Sealed;

/// A source of reductions, or the operands of a map, for rayon's threads. Small ones stay on the calling thread.
///
/// A source is made by [`Reduce::par`](crate::Reduce::par) of an array or by [`Fused::par`](crate::Fused::par). Operands of
/// [`broadcast_map`](crate::broadcast_map()) and [`broadcast_apply`](crate::broadcast_apply()) are made by
/// [`ParOperands::par`] of a tuple, or by [`Reduce::par`](crate::Reduce::par) of a single array.
///
/// The results have the same bits as on one thread. Without the feature `rayon`, the calling thread does all the work, with
/// the same bounds. For batches, see [`Batch::par`](crate::Batch::par).
///
/// # Examples
/// ```
/// use ndarray::Array2;
/// use ndarray_broadcast::{broadcast_map, keepdims, prelude::*};
///
/// let delta = Array2::<f32>::from_elem((1000, 300), 0.1);
/// assert_eq!(delta.par().sum_axes([0])?, delta.sum_axes([0])?);
/// assert_eq!(delta.par().max_axes(keepdims(1))?, delta.max_axes(keepdims(1))?);
/// assert_eq!(broadcast_map(delta.par(), |x| 2.0 * x)?, 2.0 * &delta);
/// assert!(delta.par().sum_to(1000).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// PyTorch, which uses several threads by default; `par_…` of ndarray.
#[derive(Clone, Copy)]
#[must_use = "nothing is read before it is reduced or mapped"]
pub struct Par<S>(pub(crate) S);

impl<S> Sealed for Par<S> {}

/// Operands of a map on several threads.
///
/// Sealed; implemented for each tuple and Rust array of operands.
pub trait ParOperands: FusedOperands + Sized {
    /// The same operands, for which [`broadcast_map`](crate::broadcast_map()) and
    /// [`broadcast_apply`](crate::broadcast_apply()) run on several threads: see [`Par`]. The closure is then `Fn` and
    /// `Sync`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2, Axis};
    /// use ndarray_broadcast::{broadcast_apply, broadcast_map, prelude::*};
    ///
    /// let column = Array1::<f64>::range(0.0, 300.0, 1.0).insert_axis(Axis(1));
    /// let row = Array1::<f64>::ones(400);
    /// let sums: Array2<f64> = broadcast_map((&column, &row).par(), |c, r| c + r)?;
    /// assert_eq!((sums.dim(), sums[[299, 399]]), ((300, 400), 300.0));
    ///
    /// let mut out = sums.clone();
    /// broadcast_apply(&mut out, (&column, &row).par(), |out, c, r| *out -= c + r)?;
    /// assert_eq!(out, Array2::<f64>::zeros((300, 400)));
    /// assert!(broadcast_map([&row, &array![1.0, 2.0]].par(), |a, b| a + b).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// Threads share the closure:
    /// ```compile_fail,E0594
    /// # use ndarray_broadcast::{broadcast_map, prelude::*};
    /// let (x, mut count) = (ndarray::array![1.0, 2.0], 0);
    /// broadcast_map((&x, &x).par(), |x, y| { count += 1; x + y }).unwrap();
    /// ```
    ///
    /// # Equivalents
    /// `ndarray::Zip` with `par_map_collect` and `par_for_each`.
    #[doc(alias("par_map_collect", "par_for_each", "par_azip", "threads", "rayon", "parallel"))]
    fn par(self) -> Par<Self> {
        Par(self)
    }
}
