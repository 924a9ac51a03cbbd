//! Operands evaluated into a new array.

use super::fused_operands::{Closure, FnOperands, MapOperands, SharedClosure, joint};
use crate::error::{ErrorBuilder, Result, caller};
use crate::kernel::map::{par_to_new, to_new};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Elements, Inputs, RowsOf, Visitor, Write};
use crate::shape::reserved;
use core::mem::MaybeUninit;
use ndarray::{Array, Dimension};

/// Applies a closure to the elements of 1 to 6 operands, stretched to their joint shape, and returns a new array.
///
/// One pass, without temporaries. `f` is called once for each element of the result, with a reference to
/// an element of each operand, in the order that suits memory.
///
/// # Shapes
/// As [`broadcast_arrays`](crate::broadcast_arrays): aligned at the right, size 1 stretches. A size 0 gives
/// an empty array, without a call of `f`. Without axes, there is a single call. One operand may be given
/// without a tuple, and operands of one type as an array `[&x, &y]`.
///
/// The axes of the result have the same order in memory as those of the operands, so operands in F order give
/// F order. If the operands disagree about the order of two axes, or none of them has a stride along both, the two
/// are in row-major order. A [recipe](crate::guide::recipes#a-result-in-c-order) makes a result in C order of any operands.
///
/// If `f` panics, the elements made so far are forgotten, not dropped.
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
/// # Equivalents
/// Julia's `f.(a, row, column)`; `numpy.frompyfunc` with the speed of a ufunc. `ndarray::Zip` with
/// `map_collect` after `broadcast` of each operand, for equal operands. The closure is `where`, `clip`, `maximum`,
/// `addcmul` or any other element-wise function.
#[doc(alias(
    "Zip",
    "azip",
    "map_collect",
    "where",
    "clip",
    "clamp",
    "maximum",
    "minimum",
    "addcmul",
    "masked_fill"
))]
#[inline]
// `Result<Array<R, O::Dim>>` makes the compiler report a wrong operand twice.
pub fn broadcast_map<O: MapOperands<F, R, Dim = D>, F, R, D: Dimension>(
    operands: O,
    f: F,
) -> Result<Array<R, D>> {
    mapped(&operands.inputs(), &Visitor::new(Write(Closure::<O, F>::new(f))))
}

/// [`broadcast_map`] on rayon's threads, if there are enough elements to gain by it.
///
/// Without the feature `rayon` it runs on the calling thread, with the same bounds.
///
/// # Shapes
/// As [`broadcast_map`], and in the same layout.
///
/// # Errors
/// As [`broadcast_map`].
///
/// # Examples
/// ```
/// use ndarray::{array, Array1, Axis};
/// use ndarray_broadcast::par_broadcast_map;
///
/// let column = Array1::<f64>::range(0.0, 300.0, 1.0).insert_axis(Axis(1));
/// let sum = par_broadcast_map((&column, &Array1::<f64>::ones(400)), |a, b| a + b)?;
/// assert_eq!((sum.dim(), sum[[299, 399]]), ((300, 400), 300.0));
/// assert!(par_broadcast_map((&array![1], &array![[1, 2], [3, 4]], &array![1, 2, 3]), |a, b, c| a + b + c).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `ndarray::Zip` with `par_map_collect`.
#[inline]
pub fn par_broadcast_map<O, F: Sync, R: Send>(operands: O, f: F) -> Result<Array<R, O::Dim>>
where
    O: FnOperands<F, R, Elems: Sync>,
{
    let inputs = operands.inputs();
    Ok(par_to_new(result_of(inputs.shapes())?, &inputs, SharedClosure::<O, F>::new(&f)))
}

/// The part that is not generic over the closure: compiled once for operands of these types.
#[inline(never)]
fn mapped<R, E: Elements, D: Dimension>(
    inputs: &Inputs<'_, E>,
    rows: &dyn RowsOf<MaybeUninit<R>, E>,
) -> Result<Array<R, D>> {
    Ok(to_new(result_of(inputs.shapes())?, inputs, rows))
}

/// A result of the joint shape.
#[inline(always)]
fn result_of<R, D: Dimension>(shapes: &[&[usize]]) -> Result<Reserved<R, D>> {
    reserved(joint(shapes)?, || ErrorBuilder::new(&caller::TOGETHER, shapes))
}
