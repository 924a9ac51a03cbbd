//! Operands evaluated and reduced in one pass, by any operation.

use super::fused_operands::{FusedOperands, ReduceOperands, SharedClosure, joint};
use crate::error::Result;
use crate::error::operation::{self, Operation};
use crate::kernel::nest::Make;
use crate::kernel::operation::{self as op, ClosureOp};
use crate::kernel::reduce::to_new;
use crate::kernel::source::Fused;
use crate::kernel::threads::Serial;
use crate::shape::{TargetShape, sizes, sum_target};
use ndarray::Array;

/// Applies `map` to the elements of 1 to 6 operands, stretched to their joint shape, and combines the values with `op`
/// over the axes that `shape` does not have or has with size 1.
///
/// One pass, without an array of the values: a maximum, a product, a count, or whether any or all are true. `op` must be
/// associative and commutative, and combining with `identity` must change nothing. Values are combined in the order that
/// suits memory, and with the identity any number of times. The order depends only on shapes and layouts, so a
/// floating-point sum is the same each time.
///
/// # Shapes
/// As [`broadcast_map_sum_to`](crate::broadcast_map_sum_to). A reduction over an axis of size 0 gives the identity.
/// The result is in standard layout.
///
/// # Errors
/// In this order:
/// [`Incompatible`](crate::ErrorKind::Incompatible) and [`Overflow`](crate::ErrorKind::Overflow) where there is
/// no joint shape; [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size in `shape` or one
/// above `isize::MAX`; [`TooManyAxes`](crate::ErrorKind::TooManyAxes) where the joint shape has fewer axes than
/// `shape`; [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in `shape`;
/// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
///
/// # Examples
/// ```
/// use ndarray::{array, Array1, Array2};
/// use ndarray_broadcast::broadcast_map_reduce_to;
///
/// let (x, mask) = (array![[1.0, 5.0], [3.0, 4.0]], array![true, false]);
/// let apart: Array2<f64> =
///     broadcast_map_reduce_to((&x, &array![2.0, 2.0]), (2, 1), 0.0, |a, b| f64::abs(a - b), f64::max)?;
/// assert_eq!(apart, array![[3.0], [2.0]]);
///
/// let any = broadcast_map_reduce_to((&x, &mask), (), false, |&x, &m| m && x > 2.0, |a, b| a | b)?;
/// assert!(any.into_scalar());
/// let count: Array1<usize> = broadcast_map_reduce_to((&x, &mask), 2, 0, |_, &m| usize::from(m), |a, b| a + b)?;
/// assert_eq!(count, array![2, 0]);
///
/// assert_eq!(
///     broadcast_map_reduce_to((&x, &mask), 3, 0.0, |x, _| *x, f64::max).unwrap_err().to_string(),
///     "cannot broadcast shapes [2, 2] and [2] together and reduce to [3]: \
///      axis 1 has sizes 2 and 3, expected equal sizes or 1 in the target",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `numpy.max(f(x, y), axis=…, initial=identity)` for any ufunc's `reduce`; rayon's `map` and `reduce`.
#[doc(alias("fold", "any", "count_nonzero"))]
pub fn broadcast_map_reduce_to<O, S: TargetShape, R: Clone, F, G>(
    operands: O,
    shape: S,
    identity: R,
    map: F,
    op: G,
) -> Result<Array<R, S::Dim>>
where
    O: ReduceOperands<F, R>,
    G: Fn(R, R) -> R,
{
    let by = ClosureOp { identity: &identity, op: &op };
    reduced(&operands, &shape, SharedClosure::<O, F>::new(&map), by, &operation::MAP_REDUCE_TO)
}

/// The part that is not generic over the closures, for sums too: compiled once for operands of these types.
pub(super) fn reduced<O: FusedOperands, S: TargetShape, R: Clone>(
    operands: &O,
    shape: &S,
    make: impl Make<R, O::Elems> + Copy,
    by: impl op::Operation<R>,
    operation: &'static Operation,
) -> Result<Array<R, S::Dim>> {
    let inputs = operands.inputs();
    let joint: O::Dim = joint(inputs.shapes())?;
    let target = sum_target(sizes(&joint), shape, operation, inputs.shapes())?;
    Ok(to_new(Fused { inputs, shape: sizes(&joint), make }, target, None, by, Serial))
}
