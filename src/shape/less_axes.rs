//! Numbers of axes as types: fewer axes, the axes of a reduction, and the shape of its result.

use super::{Axes, AxesOrAll, AxisMask, sizes_mut};
use crate::error::{ErrorBuilder, Result};
use crate::sealed::Sealed;
use alloc::vec::Vec;
use core::ops::RangeFull;
use ndarray::{Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, RemoveAxis};

/// A dimension type from which `K` axes can be taken, such as the axes of a sum or of a base.
///
/// `Ix4: LessAxes<Ix2, Left = Ix2>`; where either is `IxDyn`, so is the result. One axis leaves `D::Smaller` for every
/// `D: RemoveAxis`, so that code with this bound of ndarray needs no other. Sealed, as ndarray's `Dimension` is; a bound for
/// code that is generic over the number of axes.
///
/// # Examples
/// ```
/// use ndarray::{array, Array, ArrayRef, Axis, Ix2, RemoveAxis};
/// use ndarray_broadcast::{bounds::LessAxes, prelude::*, BroadcastError};
///
/// fn over_two<D: LessAxes<Ix2>>(a: &ArrayRef<f64, D>) -> Result<Array<f64, D::Left>, BroadcastError> {
///     a.sum_axes([0, 1])
/// }
/// fn range<D: RemoveAxis>(a: &ArrayRef<f64, D>, axis: Axis) -> Result<Array<f64, D::Smaller>, BroadcastError> {
///     Ok(a.max_axes(axis)? - a.min_axes(axis)?)
/// }
/// let a = array![[1.0, 2.0], [3.0, 7.0]];
/// assert_eq!((over_two(&a)?.into_scalar(), range(&a, Axis(0))?), (13.0, array![2.0, 5.0]));
/// assert!(over_two(&array![1.0].into_dyn()).is_err() && range(&a, Axis(2)).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
/// An array without axes has none to sum over. With a fixed number of axes, that is a compile error:
/// ```compile_fail,E0277
/// # use ndarray_broadcast::prelude::*;
/// ndarray::arr0(1.0).sum_axes(0).unwrap();
/// ```
///
/// # Equivalents
/// ndarray's `RemoveAxis` for one axis.
#[diagnostic::on_unimplemented(
    message = "cannot take `{K}` axes from `{Self}`",
    label = "the array has fewer axes, or a bound is missing",
    note = "an array with `k` axes is `Dim<[usize; k]>`; so are `k` named axes, and a base with `k` axes",
    note = "where the number of axes is only known at run time, use `IxDyn`: `a.into_dyn()`, `&axes[..]`, `batch_dyn(k)`",
    note = "in code that is generic over the number of axes `D`, add the bound `D: LessAxes<{K}>`, or \
            `X: ReducedAxes<D>` for axes that are an argument; both are in `ndarray_broadcast::bounds`. `keepdims(…)` and `..` \
            need no bound"
)]
pub trait LessAxes<K: Dimension>: Dimension {
    /// The dimension type with the axes that remain.
    type Left: Dimension;
}

#[diagnostic::do_not_recommend]
impl<D: Dimension> LessAxes<Ix0> for D {
    type Left = D;
}

#[diagnostic::do_not_recommend]
impl<D: Dimension> LessAxes<IxDyn> for D {
    type Left = IxDyn;
}

/// Each further axis leaves one more `Smaller`, whatever `D` is. By hand:
/// `impl<D: RemoveAxis<Smaller: RemoveAxis>> LessAxes<Ix2> for D { type Left = <D::Smaller as Dimension>::Smaller; }`.
macro_rules! less {
    ($K:ident $($more:ident)*; $Left:ty; $($bound:tt)*) => {
        #[diagnostic::do_not_recommend]
        impl<D: $($bound)*> LessAxes<$K> for D {
            type Left = $Left;
        }
        less!($($more)*; <$Left as Dimension>::Smaller; RemoveAxis<Smaller: $($bound)*>);
    };
    (; $($_:tt)*) => {};
}
less!(Ix1 Ix2 Ix3 Ix4 Ix5 Ix6; D::Smaller; RemoveAxis);

/// Axes to reduce over: any [`Axes`], or `..` for all. The result does not have these axes; with [`keepdims`] of them, it has
/// them with size 1.
///
/// Sealed; a bound for code that is generic over the axes of an array with dimension type `D`.
///
/// # Examples
/// ```
/// use ndarray::{array, Array, Array0, Array1, Array2, Dimension};
/// use ndarray_broadcast::{bounds::ReducedAxes, keepdims, prelude::*, BroadcastError};
///
/// fn range<D: Dimension, X: ReducedAxes<D> + Copy>(
///     a: &Array<f64, D>,
///     axes: X,
/// ) -> Result<Array<f64, X::Left>, BroadcastError> {
///     Ok(a.reduce_axes(axes, f64::NEG_INFINITY, f64::max)? - a.reduce_axes(axes, f64::INFINITY, f64::min)?)
/// }
/// let a = array![[1.0, 2.0], [3.0, 7.0]];
/// let rows: Array1<f64> = range(&a, 1)?;
/// assert_eq!(rows, array![1.0, 4.0]);
/// let kept: Array2<f64> = range(&a, keepdims(1))?;
/// assert_eq!(kept, array![[1.0], [4.0]]);
/// let all: Array0<f64> = range(&a, ..)?;
/// assert_eq!(all.into_scalar(), 6.0);
/// assert!(range(&a, 2).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// `axis` with `keepdims` in NumPy, `dim` with `keepdim` in PyTorch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes of an array with dimension type `{D}`",
    label = "expected axes",
    note = "axes are an integer or `ndarray::Axis`, an array or tuple of up to 6, a slice or a `Vec` of them, \
            an `AxisSet`, `..` for all axes, or `keepdims(…)` of these",
    note = "where the type of the axes is a parameter `X`, add the bound `X: ReducedAxes<D>`, which is in \
            `ndarray_broadcast::bounds`"
)]
pub trait ReducedAxes<D: Dimension>: AxesOrAll {
    /// The dimension type of the result.
    type Left: Dimension;

    /// Whether the result has the axes, with size 1.
    #[doc(hidden)]
    const KEEPS: bool;
}

impl<X: Axes, D: LessAxes<X::Count>> ReducedAxes<D> for X {
    type Left = D::Left;
    const KEEPS: bool = false;
}

/// All axes, whatever their number: the result has none, so that it is a single element.
#[diagnostic::do_not_recommend]
impl<D: Dimension> ReducedAxes<D> for RangeFull {
    type Left = Ix0;
    const KEEPS: bool = false;
}

/// [`Axes`] that stay in the result of a reduction with size 1: made by [`keepdims`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepDims<X>(X);

/// The same axes, which stay in the result of a reduction with size 1.
///
/// # Shapes
/// `(2, 3, 4)` over `keepdims(1)` is `(2, 1, 4)`: the result has the dimension type of the array, and broadcasts to its
/// shape.
///
/// # Errors
/// None; the reduction has those of the axes.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{keepdims, prelude::*};
///
/// let x = array![[1.0, 3.0], [4.0, 4.0]];
/// let total: Array2<f64> = x.sum_axes(keepdims(-1))?;
/// assert_eq!(total, array![[4.0], [8.0]]);
/// assert_eq!(&x / &total, array![[0.25, 0.75], [0.5, 0.5]]);
/// assert_eq!(x.sum_axes(keepdims((0, 1)))?, array![[12.0]]);
/// assert_eq!(x.max_axes(keepdims(..))?, array![[4.0]]);
/// assert!(x.sum_axes(keepdims(2)).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `keepdims=True` in NumPy, `keepdim=True` in PyTorch.
#[inline]
#[doc(alias = "keepdim")]
pub fn keepdims<X: AxesOrAll>(axes: X) -> KeepDims<X> {
    KeepDims(axes)
}

impl<X> Sealed for KeepDims<X> {}
#[diagnostic::do_not_recommend]
impl<X: AxesOrAll, D: Dimension> ReducedAxes<D> for KeepDims<X> {
    type Left = D;
    const KEEPS: bool = true;
}

#[diagnostic::do_not_recommend]
#[allow(private_interfaces, private_bounds, reason = "hidden methods take types of the crate")]
impl<X: AxesOrAll> AxesOrAll for KeepDims<X> {
    #[inline(always)]
    fn mask(&self, ndim: usize, builder: impl FnOnce() -> ErrorBuilder) -> Result<AxisMask> {
        self.0.mask(ndim, builder)
    }

    fn numbers(&self, ndim: usize) -> Vec<i128> {
        self.0.numbers(ndim)
    }
}

/// The shape of the result of a reduction over axes, and the set of these axes. The result has them only if `X::KEEPS`.
///
/// # Errors
/// In this order: `AxisOutOfBounds` with the smallest axis that does not exist; `DuplicateAxis`.
#[inline(always)]
pub(crate) fn reduced_dim<D: Dimension, X: ReducedAxes<D>>(
    shape: &[usize],
    axes: &X,
    builder: impl Fn() -> ErrorBuilder,
) -> Result<(X::Left, AxisMask)> {
    let reduced = axes.mask(shape.len(), builder)?;
    let kept = || (0..shape.len()).filter(|&axis| X::KEEPS || !reduced.contains(axis));
    let mut result = X::Left::zeros(X::Left::NDIM.unwrap_or_else(|| kept().count()));
    for (size, axis) in sizes_mut(&mut result).iter_mut().zip(kept()) {
        *size = if reduced.contains(axis) { 1 } else { shape[axis] };
    }
    Ok((result, reduced))
}
