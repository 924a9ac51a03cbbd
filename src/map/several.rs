//! Several outputs of one pass.

use super::evaluate::{applied, memory};
use super::fused_operands::{ApplyOperands, FusedOperands};
use crate::error::Result;
use crate::kernel::nest::Further;
use crate::shape::check_outputs;
use ndarray::{Array, ArrayRef, Dimension};

/// [`broadcast_apply`](crate::broadcast_apply()) with two outputs: calls `f` with every element of both and the corresponding
/// elements of 1 to 5 operands, each stretched to the shape of the outputs.
///
/// One pass over memory, such as that of an optimizer over its parameters and their momenta; on several threads with
/// [`.par()`](crate::ParOperands::par) after the operands. `f` may read, overwrite or update both elements.
///
/// # Shapes
/// Both outputs have one shape, and neither stretches. Each has its own element type, memory layout and dimension type. The operands
/// are those of [`broadcast_apply`](crate::broadcast_apply()).
///
/// # Errors
/// In this order, and before anything is changed:
/// [`AxisCount`](crate::ErrorKind::AxisCount) where the outputs have different numbers of axes;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where a size of theirs differs;
/// then those of [`broadcast_apply`](crate::broadcast_apply()).
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{broadcast_apply2, prelude::*};
///
/// // a step of gradient descent with momentum
/// let (mut p, mut m) = (array![[1.0, 2.0], [3.0, 4.0]], Array2::<f64>::zeros((2, 2)));
/// let g = array![10.0, 20.0]; // a gradient that is the same for each row
/// broadcast_apply2(&mut p, &mut m, &g, |p, m, g| {
///     *m = 0.5 * *m + g;
///     *p -= 0.1 * *m;
/// })?;
/// assert_eq!(m, array![[10.0, 20.0], [10.0, 20.0]]);
/// assert_eq!(p, array![[0.0, 0.0], [2.0, 2.0]]);
/// broadcast_apply2(&mut p, &mut m, (&g, &g).par(), |p, m, _, _| std::mem::swap(p, m))?;
/// assert_eq!(p, array![[10.0, 20.0], [10.0, 20.0]]);
///
/// assert_eq!(
///     broadcast_apply2(&mut p, &mut array![[0.0, 0.0]], &g, |_, _, _| ()).unwrap_err().to_string(),
///     "cannot write to outputs [2, 2] and [1, 2] together: axis 0 has sizes 2 and 1, expected equal sizes",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
/// The outputs are different arrays, and no operand is one of them:
/// ```compile_fail,E0499
/// # use ndarray_broadcast::broadcast_apply2;
/// let (mut p, g) = (ndarray::array![1.0, 2.0], ndarray::array![1.0]);
/// broadcast_apply2(&mut p, &mut p, &g, |a, b, g| *a = *b + g).unwrap();
/// ```
/// ```compile_fail,E0502
/// # use ndarray_broadcast::broadcast_apply2;
/// let (mut p, mut m) = (ndarray::array![1.0, 2.0], ndarray::array![1.0, 2.0]);
/// broadcast_apply2(&mut p, &mut m, &p, |a, b, p| *a = *b + p).unwrap();
/// ```
/// On several threads, the elements of every output are `Send`:
/// ```compile_fail,E0277
/// # use ndarray_broadcast::{broadcast_apply2, prelude::*};
/// let (mut p, mut m, g) = (ndarray::array![1.0], ndarray::array![std::rc::Rc::new(0)], ndarray::array![1.0]);
/// broadcast_apply2(&mut p, &mut m, (&g,).par(), |p, _, g| *p += g).unwrap();
/// ```
///
/// # Equivalents
/// `ndarray::Zip` of two producers `&mut a` and `&mut b` with `for_each`, which panics where shapes differ; a loop of a C or CUDA kernel.
#[doc(alias("Zip", "azip", "momentum", "addcmul_"))]
pub fn broadcast_apply2<T, U, D: Dimension, E: Dimension, O, F>(
    first: &mut ArrayRef<T, D>,
    second: &mut ArrayRef<U, E>,
    operands: O,
    f: F,
) -> Result<()>
where
    O: ApplyOperands<T, F, (U,)>,
{
    check_outputs(&[first.shape(), second.shape()])?;
    applied(first, Further::from((second,)), operands, f)
}

/// [`broadcast_apply2`] with three outputs and 1 to 4 operands.
///
/// # Shapes
/// As [`broadcast_apply2`].
///
/// # Errors
/// As [`broadcast_apply2`].
///
/// # Examples
/// ```
/// use ndarray::{array, Array1};
/// use ndarray_broadcast::broadcast_apply3;
///
/// // a step of Adam, without the correction of the first steps
/// let (mut p, mut m, mut v) = (array![1.0_f32, 2.0], Array1::<f32>::zeros(2), Array1::<f64>::zeros(2));
/// let g = array![2.0_f32, 4.0];
/// broadcast_apply3(&mut p, &mut m, &mut v, &g, |p, m, v, g| {
///     *m = 0.5 * *m + 0.5 * g;
///     *v = 0.75 * *v + 0.25 * f64::from(g * g);
///     *p -= *m / v.sqrt() as f32;
/// })?;
/// assert_eq!((&p, &m, &v), (&array![0.0, 1.0], &array![1.0, 2.0], &array![1.0, 4.0]));
/// assert!(broadcast_apply3(&mut p, &mut m, &mut v, &array![1.0, 2.0, 3.0], |_, _, _, _| ()).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// As [`broadcast_apply2`].
#[doc(alias("adamw"))]
pub fn broadcast_apply3<T, U, W, D: Dimension, E: Dimension, G: Dimension, O, F>(
    first: &mut ArrayRef<T, D>,
    second: &mut ArrayRef<U, E>,
    third: &mut ArrayRef<W, G>,
    operands: O,
    f: F,
) -> Result<()>
where
    O: ApplyOperands<T, F, (U, W)>,
{
    check_outputs(&[first.shape(), second.shape(), third.shape()])?;
    applied(first, Further::from((second, third)), operands, f)
}

/// [`broadcast_map`](crate::broadcast_map()) with two results: `f` returns a pair, and its parts are in two new arrays.
///
/// One pass over 1 to 5 operands; on several threads with [`.par()`](crate::ParOperands::par) after them. The results replace default
/// elements, so that nothing is lost if `f` panics.
///
/// # Shapes
/// As [`broadcast_map`](crate::broadcast_map()). Both arrays have the same order of axes in memory.
///
/// # Errors
/// As [`broadcast_map`](crate::broadcast_map()).
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::broadcast_map2;
///
/// let (angle, row) = (array![[0.0], [0.5]], array![1.0, 2.0]);
/// let (sines, cosines) = broadcast_map2((&angle, &row), |a: &f64, r| (a * r).sin_cos())?;
/// assert_eq!(sines[[1, 1]], 1_f64.sin());
/// assert_eq!(cosines.row(0), array![1.0, 1.0]);
/// let (whole, is_large): (Array2<i32>, Array2<bool>) = broadcast_map2(&angle, |a: &f64| (*a as i32, *a > 0.25))?;
/// assert_eq!((whole, is_large), (array![[0], [0]], array![[false], [true]]));
/// assert!(broadcast_map2((&row, &array![1.0, 2.0, 3.0]), |a, b| (a + b, a - b)).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `numpy.modf`, `numpy.frexp` and `numpy.divmod`, ufuncs with two results; Julia's `unzip.(f.(x))` of `StructArrays`.
#[doc(alias("sin_cos", "divmod", "modf", "frexp", "unzip"))]
pub fn broadcast_map2<O, F, R, S, D>(operands: O, f: F) -> Result<(Array<R, D>, Array<S, D>)>
where
    O: FusedOperands<Dim = D, Parts: ApplyOperands<R, F, (S,)>>,
    R: Clone + Default,
    S: Clone + Default,
    D: Dimension,
{
    let inputs = operands.inputs();
    // all is reserved before elements without bytes, of any number, are made
    let (first, second) = (memory(&inputs)?, memory(&inputs)?);
    let mut first = first.filled(Some(&inputs.order()), R::default());
    let mut second = second.filled(Some(&inputs.order()), S::default());
    applied(&mut first, Further::from((&mut *second,)), operands.parts(), f)?;
    Ok((first, second))
}

/// [`broadcast_map2`] with three results and 1 to 4 operands.
///
/// # Shapes
/// As [`broadcast_map2`].
///
/// # Errors
/// As [`broadcast_map2`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::broadcast_map3;
///
/// let (x, row) = (array![[7, 9], [2, 5]], array![2, 3]);
/// let (quotient, rest, fits) = broadcast_map3((&x, &row), |x, r| (x / r, x % r, x % r == 0))?;
/// assert_eq!((quotient, rest), (array![[3, 3], [1, 1]], array![[1, 0], [0, 2]]));
/// assert_eq!(fits, array![[false, true], [true, false]]);
/// assert!(broadcast_map3((&x, &array![1, 2, 3]), |x, r| (x + r, x - r, x * r)).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// As [`broadcast_map2`].
#[allow(clippy::type_complexity, reason = "three arrays")]
pub fn broadcast_map3<O, F, R, S, T, D>(operands: O, f: F) -> Result<(Array<R, D>, Array<S, D>, Array<T, D>)>
where
    O: FusedOperands<Dim = D, Parts: ApplyOperands<R, F, (S, T)>>,
    R: Clone + Default,
    S: Clone + Default,
    T: Clone + Default,
    D: Dimension,
{
    let inputs = operands.inputs();
    let (first, second, third) = (memory(&inputs)?, memory(&inputs)?, memory(&inputs)?);
    let mut first = first.filled(Some(&inputs.order()), R::default());
    let mut second = second.filled(Some(&inputs.order()), S::default());
    let mut third = third.filled(Some(&inputs.order()), T::default());
    applied(&mut first, Further::from((&mut *second, &mut *third)), operands.parts(), f)?;
    Ok((first, second, third))
}
