//! Operands evaluated and summed in one pass.

use super::broadcast_map_reduce_to::reduced;
use super::fused_operands::{ReduceOperands, SharedClosure};
use crate::error::{Result, operation};
use crate::kernel::operation::Plus;
use crate::shape::{ShapeOf, TargetShape};
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

/// Applies `f` to the elements of 1 to 6 operands, stretched to their joint shape, and sums the values over the axes
/// that `shape` does not have or has with size 1.
///
/// One pass, without an array of the values: the gradient of a product, a weighted sum, a squared distance. Terms are
/// added in short runs, and the sums of these pairwise, so errors hardly grow with the number of terms.
///
/// # Shapes
/// Aligned at the right, each axis of `shape` has the size of the joint shape (see
/// [`broadcast_arrays`](crate::broadcast_arrays)) or is 1; the joint shape may have more axes, which are
/// summed over. A sum over an axis of size 0 is zero. The result is in standard layout.
///
/// # Errors
/// In this order:
/// [`Incompatible`](crate::ErrorKind::Incompatible) and [`Overflow`](crate::ErrorKind::Overflow) where there is
/// no joint shape; [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size in `shape` or one
/// above `isize::MAX`; [`TooManyAxes`](crate::ErrorKind::TooManyAxes) where the joint shape has fewer axes than
/// `shape`; [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in `shape`;
/// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the sums.
///
/// # Examples
/// ```
/// use ndarray::{array, Array1};
/// use ndarray_broadcast::broadcast_map_sum_to;
///
/// // y = x * weight: the gradient of the weight sums over the axis along which the weight was repeated
/// let (x, weight) = (array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], array![10.0, 20.0]);
/// let of_y = array![[1.0], [0.0], [2.0]];
/// let of_weight: Array1<f64> = broadcast_map_sum_to((&of_y, &x), weight.raw_dim(), |g, x| g * x)?;
/// assert_eq!(of_weight, array![11.0, 14.0]);
///
/// let squares = broadcast_map_sum_to((&x, &weight), (3, 1), |x, w| (x - w) * (x - w))?;
/// assert_eq!(squares, array![[405.0], [305.0], [221.0]]);
///
/// assert_eq!(
///     broadcast_map_sum_to((&x, &weight), [3], |x, w| x * w).unwrap_err().to_string(),
///     "cannot broadcast shapes [3, 2] and [2] together and sum to [3]: \
///      axis 1 has sizes 2 and 3, expected equal sizes or 1 in the target",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `numpy.einsum` where `f` is a product; `sum_to_size` of PyTorch after the operation.
#[doc(alias = "einsum")]
pub fn broadcast_map_sum_to<O, S: TargetShape, F, R>(operands: O, shape: S, f: F) -> Result<Array<R, S::Dim>>
where
    O: ReduceOperands<F, R>,
    R: Clone + Zero,
{
    reduced(&operands, &shape, SharedClosure::<O, F>::new(&f), Plus, &operation::MAP_SUM_TO)
}

/// [`broadcast_map_sum_to`] to the shape of `like`, whose elements do not matter.
///
/// # Shapes
/// As [`broadcast_map_sum_to`]; the result has the dimension type of `like`.
///
/// # Errors
/// As [`broadcast_map_sum_to`], except that the shape of an array has no invalid size.
///
/// # Examples
/// ```
/// use ndarray::{array, Array, DimMax, Dimension};
/// use ndarray_broadcast::{broadcast_map_sum_to_match, BroadcastError};
///
/// /// The gradient of `weight` in `x * weight`, for any number of axes.
/// fn of_weight<D, E>(
///     delta: &Array<f64, D>,
///     x: &Array<f64, D>,
///     weight: &Array<f64, E>,
/// ) -> Result<Array<f64, E>, BroadcastError>
/// where
///     D: Dimension + DimMax<D>,
///     E: Dimension,
/// {
///     broadcast_map_sum_to_match((delta, x), weight, |d, x| d * x)
/// }
/// let (delta, x) = (array![[1.0, 0.0], [1.0, 2.0]], array![[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!(of_weight(&delta, &x, &array![10.0, 20.0])?, array![4.0, 8.0]);
/// assert_eq!(of_weight(&delta, &x, &array![[10.0], [20.0]])?, array![[1.0], [11.0]]);
/// assert_eq!(
///     of_weight(&delta, &x, &array![1.0, 2.0, 3.0]).unwrap_err().to_string(),
///     "cannot broadcast shapes [2, 2] and [2, 2] together and sum to [3]: \
///      axis 1 has sizes 2 and 3, expected equal sizes or 1 in the target",
/// );
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// As [`broadcast_map_sum_to`], to `like.shape`.
pub fn broadcast_map_sum_to_match<O, B, E: Dimension, F, R>(
    operands: O,
    like: &ArrayRef<B, E>,
    f: F,
) -> Result<Array<R, E>>
where
    O: ReduceOperands<F, R>,
    R: Clone + Zero,
{
    broadcast_map_sum_to(operands, ShapeOf(like.raw_dim()), f)
}
