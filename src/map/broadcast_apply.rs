//! Operands evaluated into an existing array.

use super::fused_operands::{ApplyOperands, Closure, ParApplyOperands, SharedClosure, check_onto};
use crate::error::Result;
use crate::kernel::map::{each, par_each};
use crate::kernel::nest::{Elements, Inputs, RowsOf, Visitor};
use crate::shape::{all_stretch_onto, output_error};
use ndarray::{ArrayRef, Dimension};

/// Calls `f` with every element of `out` and the corresponding elements of 1 to 6 operands, each stretched to the
/// shape of `out`. `f` may overwrite the element, accumulate into it or update it.
///
/// One pass, without temporaries, and without an allocation for up to 6 axes. `f` is called once for each
/// element, in the order that suits the memory of `out`, which may have any layout.
///
/// # Shapes
/// Aligned at the right, each axis of an operand has the size of `out` or is 1; `out` may have more axes.
/// `out` itself never stretches. One operand may be given without a tuple.
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
/// # Equivalents
/// Julia's `out .= f.(row, column)`; a NumPy ufunc with `out=`. `ndarray::Zip` with `and_broadcast` and
/// `for_each`, which panics where the shapes do not fit.
#[doc(alias("Zip", "azip", "zip_mut_with", "and_broadcast", "add_", "addcmul_", "masked_fill_"))]
#[inline]
pub fn broadcast_apply<T, E: Dimension, O, F>(out: &mut ArrayRef<T, E>, operands: O, f: F) -> Result<()>
where
    O: ApplyOperands<T, F>,
{
    if applied(out, &operands, f) {
        Ok(())
    } else {
        Err(output_error(operands.inputs().shapes(), out.shape()))
    }
}

/// [`broadcast_apply`], if the operands stretch to the shape of `out`; else `false`.
#[inline]
pub(super) fn applied<T, E: Dimension, O, F>(out: &mut ArrayRef<T, E>, operands: &O, f: F) -> bool
where
    O: ApplyOperands<T, F>,
{
    visited(out, &operands.inputs(), &Visitor::new(Closure::<O, F>::new(f)))
}

/// [`broadcast_apply`] on rayon's threads, if there are enough elements to gain by it.
///
/// Without the feature `rayon` it runs on the calling thread, with the same bounds.
///
/// # Shapes
/// As [`broadcast_apply`].
///
/// # Errors
/// As [`broadcast_apply`].
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::par_broadcast_apply;
///
/// let (mut out, column) = (Array2::<f64>::zeros((300, 400)), Array2::<f64>::ones((300, 1)));
/// par_broadcast_apply(&mut out, (&column, &array![2.0]), |out, a, b| *out += a + b)?;
/// assert_eq!(out.sum(), 360_000.0);
/// assert!(par_broadcast_apply(&mut out, &array![1.0, 2.0], |out, a| *out = *a).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `ndarray::Zip` with `par_for_each`.
#[inline]
pub fn par_broadcast_apply<T: Send, E: Dimension, O, F: Sync>(
    out: &mut ArrayRef<T, E>,
    operands: O,
    f: F,
) -> Result<()>
where
    O: ParApplyOperands<T, F>,
{
    let inputs = operands.inputs();
    check_onto(inputs.shapes(), out.shape())?;
    par_each(out, &inputs, SharedClosure::<O, F>::new(&f));
    Ok(())
}

/// The part that is not generic over the closure: compiled once for operands of these types.
fn visited<T, D: Dimension, E: Elements>(
    out: &mut ArrayRef<T, D>,
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<T, E>,
) -> bool {
    let fits = all_stretch_onto(inputs.shapes(), out.shape());
    if fits {
        each(out, inputs, rows);
    }
    fits
}
