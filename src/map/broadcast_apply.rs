//! Operands evaluated into an existing array.

use super::evaluate::applied;
use super::fused_operands::ApplyOperands;
use crate::error::Result;
use crate::kernel::nest::Further;
use ndarray::{ArrayRef, Dimension};

/// Calls `f` with every element of `out` and the corresponding elements of 1 to 6 operands, each stretched to the
/// shape of `out`. `f` may overwrite the element, accumulate into it or update it.
///
/// One pass, without temporaries, and without an allocation for up to 6 axes; on several threads with
/// [`.par()`](crate::ParOperands::par) after the operands. `f` is called once for each
/// element, in the order that suits the memory of `out`, which may have any layout.
///
/// # Shapes
/// Aligned at the right, each axis of an operand has the size of `out` or is 1; `out` may have more axes.
/// `out` itself never stretches. One operand needs no tuple.
///
/// # Errors
/// In this order, and before anything is changed:
/// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where `out` has fewer axes than an operand;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in the operand.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::broadcast_apply;
///
/// let (row, column) = (array![1.0, 2.0, 3.0], array![[10.0], [20.0]]);
/// let mut out = Array2::ones((2, 3));
/// broadcast_apply(&mut out, (&row, &column), |out, r, c| *out += r * c)?;
/// assert_eq!(out, array![[11.0, 21.0, 31.0], [21.0, 41.0, 61.0]]);
/// broadcast_apply(&mut out, &row, |out, &r| *out = r)?;
/// assert_eq!(out, array![[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]);
///
/// assert_eq!(
///     broadcast_apply(&mut out, (&row, &array![0.0, 1.0]), |_, _, _| ()).unwrap_err().to_string(),
///     "cannot broadcast shapes [3] and [2] to output [2, 3]: \
///      axis 1 has sizes 2 and 3 (shape 1 and the output), expected equal sizes or 1 in the operand",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// The output is one array, not a tuple. [`broadcast_apply2`](crate::broadcast_apply2()) and
/// [`broadcast_apply3`](crate::broadcast_apply3()) write to several:
/// ```compile_fail,E0308
/// # use ndarray_broadcast::broadcast_apply;
/// # let (mut p, mut m, g) = (ndarray::array![1.0], ndarray::array![0.0], ndarray::array![2.0]);
/// broadcast_apply((&mut p, &mut m), &g, |p, m, g| *p -= g).unwrap();
/// ```
/// ```
/// # use ndarray_broadcast::broadcast_apply2;
/// # let (mut p, mut m, g) = (ndarray::array![1.0], ndarray::array![0.0], ndarray::array![2.0]);
/// broadcast_apply2(&mut p, &mut m, &g, |p, m, g| (*m, *p) = (*m + g, *p - g))?;
/// # assert_eq!((p[0], m[0]), (-1.0, 2.0));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// Julia's `out .= f.(row, column)`; a NumPy ufunc with `out=`. `ndarray::Zip` with `and_broadcast` and
/// `for_each`, which panics where the shapes do not fit.
#[doc(alias("Zip", "azip", "zip_mut_with", "and_broadcast", "add_", "addcmul_", "masked_fill_"))]
pub fn broadcast_apply<T, E: Dimension, O, F>(out: &mut ArrayRef<T, E>, operands: O, f: F) -> Result<()>
where
    O: ApplyOperands<T, F>,
{
    applied(out, Further::from(()), operands, f)
}
