//! The element types of sums and means.

use core::ops::{Div, Mul, Sub};
use num_traits::{FromPrimitive, Zero};

/// An element type that can be summed: every type with `Clone` and `Zero`, that is zero and `+`.
///
/// Implemented for every such type, so generic code may ask for this trait or for those bounds.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{bounds::SumElement, fused, prelude::*};
///
/// fn total<A: SumElement>(x: &Array2<A>) -> A {
///     x.sum_axes(..).expect("an array without axes").into_scalar()
/// }
/// assert_eq!((total(&array![[1, 2]]), total(&array![[0.5, 0.25]])), (3, 0.75));
/// ```
/// Truth values are not numbers, but they can be counted:
/// ```compile_fail,E0277
/// # use ndarray_broadcast::prelude::*;
/// ndarray::array![true, false].sum_axes(0).unwrap();
/// ```
/// ```
/// # use ndarray_broadcast::{fused, prelude::*};
/// let count = fused(&ndarray::array![true, false], |&m| usize::from(m)).sum_axes(0)?;
/// assert_eq!(count.into_scalar(), 1);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The bounds of ndarray's `sum`.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no sum",
    label = "no sum of `{Self}`",
    note = "in code that is generic over elements, add the bound `ndarray_broadcast::bounds::SumElement`, or `Clone` and \
            `num_traits::Zero`",
    note = "a mask holds no numbers: `fused(&m, |&m| usize::from(m)).sum_axes(…)` counts its true elements"
)]
pub trait SumElement: Clone + Zero {}

#[diagnostic::do_not_recommend]
impl<A: Clone + Zero> SumElement for A {}

/// An element type with means: every [`SumElement`] with `*`, `/` and `FromPrimitive`. If the type holds no fractions, a mean
/// is an error at run time.
///
/// Implemented for every such type, so generic code may ask for this trait or for those bounds.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{bounds::MeanElement, prelude::*, BroadcastError};
///
/// fn mean<A: MeanElement>(x: &Array2<A>) -> Result<A, BroadcastError> {
///     Ok(x.mean_axes(..)?.into_scalar())
/// }
/// assert_eq!(mean(&array![[0.5, 0.25]])?, 0.375);
/// assert!(mean(&array![[1, 2]]).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// The bounds of ndarray's `mean`.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no mean",
    label = "no mean of `{Self}`",
    note = "in code that is generic over elements, add the bound `ndarray_broadcast::bounds::MeanElement`",
    note = "a mask holds no numbers: `fused(&m, |&m| f64::from(u8::from(m))).mean_axes(…)` is the share of its true elements"
)]
pub trait MeanElement: SumElement + Mul<Output = Self> + Div<Output = Self> + FromPrimitive {}

#[diagnostic::do_not_recommend]
impl<A: Clone + Zero + Mul<Output = A> + Div<Output = A> + FromPrimitive> MeanElement for A {}

/// An element type with variances: every [`MeanElement`] with `-` and comparisons. For complex numbers, take the variance of
/// each part, or the mean of `(z - mean).norm_sqr()`.
///
/// Implemented for every such type, so generic code may ask for this trait or for those bounds.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{bounds::VarElement, prelude::*, BroadcastError};
///
/// fn spread<A: VarElement>(x: &Array2<A>) -> Result<A, BroadcastError> {
///     Ok(x.var_axes(.., A::zero())?.into_scalar())
/// }
/// assert_eq!(spread(&array![[0.5, 1.5]])?, 0.25);
/// assert!(spread(&array![[1, 2]]).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// The bounds of ndarray's `var_axis`, without `Float`.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no variance",
    label = "no variance of `{Self}`",
    note = "map them to floats: `fused(&x, |&x| f64::from(x)).var_axes(…)`; of complex numbers, their parts: \
            `fused(&z, |z| z.re).var_axes(…)`",
    note = "in code that is generic over elements, the bound is `VarElement`"
)]
pub trait VarElement: MeanElement + Sub<Output = Self> + PartialOrd {}

#[diagnostic::do_not_recommend]
impl<A: MeanElement + Sub<Output = A> + PartialOrd> VarElement for A {}

/// An element type with standard deviations: every `num_traits::Float` with `FromPrimitive`.
///
/// Implemented for every such type, so generic code may ask for this trait or for those bounds.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{bounds::StdElement, prelude::*, BroadcastError};
///
/// fn spread<A: StdElement>(x: &Array2<A>) -> Result<A, BroadcastError> {
///     Ok(x.std_axes(.., A::zero())?.into_scalar())
/// }
/// assert_eq!(spread(&array![[0.5, 1.5]])?, 0.5);
/// assert!(spread(&array![[0.5, f64::NAN]])?.is_nan());
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// The bounds of ndarray's `std_axis`.
#[cfg(feature = "std")]
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no standard deviation",
    label = "no standard deviation of `{Self}`",
    note = "map them to floats: `fused(&x, |&x| f64::from(x)).std_axes(…)`; of complex numbers, their parts: \
            `fused(&z, |z| z.re).std_axes(…)`",
    note = "in code that is generic over elements, the bound is `StdElement`"
)]
pub trait StdElement: VarElement + num_traits::Float {}

#[cfg(feature = "std")]
#[diagnostic::do_not_recommend]
impl<A: num_traits::Float + FromPrimitive> StdElement for A {}
