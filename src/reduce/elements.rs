//! The element types of sums and means.

use core::ops::{Div, Mul};
use num_traits::{FromPrimitive, Zero};

/// An element type that can be summed: every type with `Clone` and `Zero`, which is zero and `+`.
///
/// Implemented for every such type, so code that is generic over elements may have either as its bound.
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

/// An element type with means: every [`SumElement`] that is multiplied, divided and made from other numbers. Means of types
/// that hold no fractions are an error when they are computed.
///
/// Implemented for every such type, so code that is generic over elements may have either as its bound.
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
