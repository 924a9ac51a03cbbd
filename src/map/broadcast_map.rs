//! Operands evaluated into a new array.

use super::fused_operands::MapOperands;
use crate::error::Result;
use ndarray::{Array, Dimension};

/// Applies a closure to the elements of 1 to 6 operands, stretched to their joint shape, and returns a new array.
///
/// One pass, without temporaries; on several threads with [`.par()`](crate::ParOperands::par) after the operands. `f` is
/// called once for each element of the result, with a reference to
/// an element of each operand, in the order that suits memory.
///
/// # Shapes
/// As [`broadcast_arrays`](crate::broadcast_arrays): aligned at the right, size 1 stretches. A size 0 gives
/// an empty array, without a call of `f`. Without axes, there is a single call. One operand needs no
/// tuple, and operands of one type may be an array `[&x, &y]`.
///
/// The axes of the result have the same order in memory as those of the operands, so operands in F order give
/// F order. If the operands disagree about the order of two axes, or none of them has a stride along both, the two
/// are in row-major order. A [recipe](crate::guide::recipes#a-result-in-c-order) makes a result in C order from any operands.
///
/// If `f` panics, the elements computed so far are leaked, not dropped.
///
/// # Errors
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis has two sizes that are not 1, 0 included;
/// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero joint sizes multiply past `isize::MAX`;
/// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::broadcast_map;
///
/// let (a, row, column) = (array![[1.0, 2.0], [3.0, 4.0]], array![10_u8, 20], array![[0.5], [0.25]]);
/// let out = broadcast_map((&a, &row, &column), |&a, &r, c| a * f64::from(r) + c)?;
/// assert_eq!(out, array![[10.5, 40.5], [30.25, 80.25]]);
///
/// let above: Array2<bool> = broadcast_map((&a, &column), |a, c| a * c > 0.6)?;
/// assert_eq!(above, array![[false, true], [true, true]]);
///
/// assert_eq!(
///     broadcast_map((&a, &array![1.0, 2.0, 3.0]), |a, b| a + b).unwrap_err().to_string(),
///     "cannot broadcast shapes [2, 2] and [3] together: \
///      axis 1 has sizes 2 and 3, expected equal sizes or 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
/// The closure takes as many arguments as there are operands:
/// ```compile_fail,E0593
/// # use ndarray::array;
/// # use ndarray_broadcast::broadcast_map;
/// let sum = broadcast_map((&array![1.0], &array![2.0]), |a| a + 1.0);
/// ```
///
/// # References
/// The closure gets references, and two things that look right do not compile. In code that is generic over the elements, a bound
/// such as `A: Sub` is for values; clone the elements, or take `A: Copy` and write `*x - *m`:
/// ```compile_fail,E0369
/// fn centred<A: Clone + std::ops::Sub<Output = A>>(x: &ndarray::Array1<A>, m: &ndarray::Array1<A>) -> ndarray::Array1<A> {
///     ndarray_broadcast::broadcast_map((x, m), |x, m| x - m).unwrap()
/// }
/// ```
/// A method such as `f64::max` takes values too, so it needs a closure around it:
/// ```compile_fail,E0631
/// # let (x, y) = (ndarray::array![1.0, 5.0], ndarray::array![3.0]);
/// ndarray_broadcast::broadcast_map((&x, &y), f64::max).unwrap();
/// ```
/// ```
/// use ndarray::{array, Array1};
/// use ndarray_broadcast::{broadcast_map, BroadcastError};
///
/// fn centred<A>(x: &Array1<A>, m: &Array1<A>) -> Result<Array1<A>, BroadcastError>
/// where
///     A: Clone + std::ops::Sub<Output = A>,
/// {
///     broadcast_map((x, m), |x, m| x.clone() - m.clone())
/// }
/// let (x, y) = (array![1.0, 5.0], array![3.0]);
/// assert_eq!(centred(&x, &y)?, array![-2.0, 2.0]);
/// assert_eq!(broadcast_map((&x, &y), |x, y| f64::max(*x, *y))?, array![3.0, 5.0]);
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// Julia's `f.(a, row, column)`; `numpy.frompyfunc` with the speed of a ufunc. `ndarray::Zip` with `map_collect`, after
/// `broadcast` of each operand to the joint shape. The closure is `where`, `clip`, `maximum`, `addcmul` or any other
/// element-wise function.
#[doc(alias("Zip", "azip", "map_collect", "maximum", "minimum", "addcmul"))]
// `Result<Array<R, O::Dim>>` makes the compiler report a wrong operand twice.
pub fn broadcast_map<O: MapOperands<F, R, Dim = D>, F, R, D: Dimension>(
    operands: O,
    f: F,
) -> Result<Array<R, D>> {
    operands.mapped(f)
}
