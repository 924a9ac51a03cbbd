//! The traits that arguments implement, as bounds for generic code.
//!
//! A call never names them: `a.broadcast_to([2, -1])` compiles because `[i32; 2]` is a [`TargetShape`]. Use one
//! as a bound if your own function passes a shape, axes or operands on:
//!
//! | your function takes | the bound |
//! |---|---|
//! | a target shape, or one of its sizes | [`TargetShape`], [`Size`] |
//! | the shape `x.raw_dim()` of an array of any `D` | `D: TargetShape<Dim = D>` |
//! | axes, or one of them | [`Axes`], [`AxisIndex`] |
//! | axes to reduce over, `..` for all, or [`keepdims`](crate::keepdims()) of them | [`ReducedAxes`]`<D>` |
//! | axes for [`keepdims`](crate::keepdims()) | [`AxesOrAll`] |
//! | elements to sum, or to average | [`SumElement`], [`MeanElement`] |
//! | elements whose variance, or standard deviation, is taken | [`VarElement`], [`StdElement`] |
//! | an array that loses one axis, or several | `D: RemoveAxis` of ndarray; `D: LessAxes<K>`: see [`LessAxes`] |
//! | two operands of any `D` and `E`; a third one of any `F` | `D: DimMax<E>`; `D: DimMax<E, Output: DimMax<F>>` |
//! | operands of [`broadcast_arrays`](crate::broadcast_arrays), or one of them; one operand of a map | [`Operands`], [`ViewOperand`]; [`Operand`] |
//! | operands and a closure for them | [`MapOperands`] or [`ApplyOperands`]; for [`fused`](crate::fused()) [`FnOperands`]; for two outputs `ApplyOperands<T, F, (U,)>` |
//! | further operands of [`into_broadcast_map`](crate::IntoBroadcastMap::into_broadcast_map) | [`FurtherOperands`] |
//! | a [`Batch`](crate::Batch) whose base has a fixed number of axes | [`BaseRank`] |
//! | batches of arrays of any `D` and `D2`, for an operation on both | `D: JoinBatch<B, (D2, B2), R>`: see [`JoinBatch`] |
//! | the other batches of [`Batch::zip_map`](crate::Batch::zip_map) | [`FurtherBatches`] |
//! | an operation for [`Batch::apply`](crate::Batch::apply), or the bases of a product | [`BaseOp`], [`BaseDim`] |
//! | the base shape that a closure writes | [`ResultBase`] |
//!
//! The guide's chapter on [libraries](crate::guide::libraries) writes an engine with them. [`FusedOperands`] and
//! [`AsArrayRef`] are supertraits of others. To accept any kind of array, use an extension trait as the bound, such as
//! `X: Reduce<A, D>`. Only this crate implements them: each is sealed, or implemented for every type that fits.
//!
//! # Examples
//! ```
//! use ndarray::{array, Array, Array1, Dimension};
//! use ndarray_broadcast::{bounds::{ReducedAxes, TargetShape}, fused, prelude::*, BroadcastError};
//!
//! /// Root mean squares over axes.
//! fn rms<D, X>(a: &Array<f64, D>, axes: X) -> Result<Array<f64, X::Left>, BroadcastError>
//! where
//!     D: Dimension,
//!     X: ReducedAxes<D>,
//! {
//!     Ok(fused(a, |x| x * x).mean_axes(axes)?.mapv(f64::sqrt))
//! }
//!
//! /// Whether an array broadcasts to a shape.
//! fn fits<D: Dimension>(a: &Array<f64, D>, shape: impl TargetShape) -> bool {
//!     a.broadcast_to(shape).is_ok()
//! }
//!
//! let a = array![[1.0, 2.0], [7.0, 14.0]];
//! let columns: Array1<f64> = rms(&a, 0)?;
//! assert_eq!(columns, array![5.0, 10.0]);
//! assert!(rms(&a, 2).is_err());
//! assert!(fits(&a, [5, -1, -1]) && !fits(&a, (3, 2)));
//! # Ok::<(), ndarray_broadcast::BroadcastError>(())
//! ```
//! Two or three operands, whose joint shape has the dimension type that ndarray's `DimMax` gives:
//! ```
//! use ndarray::{array, Array, ArrayRef, DimMax, Dimension};
//! use ndarray_broadcast::{broadcast_map, fused, prelude::*, BroadcastError};
//!
//! /// The gradient of `y` in `x * y`.
//! fn of_factor<D, E>(delta: &ArrayRef<f64, D>, x: &ArrayRef<f64, D>, y: &ArrayRef<f64, E>)
//!     -> Result<Array<f64, E>, BroadcastError>
//! where
//!     D: Dimension + DimMax<E>,
//!     E: Dimension,
//! {
//!     let product: Array<f64, <D as DimMax<E>>::Output> = broadcast_map((x, y), |x, y| x * y)?;
//!     assert_eq!(product.shape(), delta.shape());
//!     fused([delta, x], |delta, x| delta * x).sum_to(y)
//! }
//!
//! type Joint<D, E, F> = <<D as DimMax<E>>::Output as DimMax<F>>::Output;
//!
//! fn scale_and_shift<D, E, F>(x: &ArrayRef<f64, D>, y: &ArrayRef<f64, E>, z: &ArrayRef<f64, F>)
//!     -> Result<Array<f64, Joint<D, E, F>>, BroadcastError>
//! where
//!     D: Dimension + DimMax<E, Output: DimMax<F>>,
//!     E: Dimension,
//!     F: Dimension,
//! {
//!     broadcast_map((x, y, z), |x, y, z| x * y + z)
//! }
//!
//! let (x, y, z) = (array![[1.0, 2.0], [3.0, 4.0]], array![10.0, 100.0], array![[0.5], [0.25]]);
//! assert_eq!(of_factor(&array![[1.0, 1.0], [1.0, 1.0]], &x, &y)?, array![4.0, 6.0]);
//! assert_eq!(scale_and_shift(&x, &y, &z)?, array![[10.5, 200.5], [30.25, 400.25]]);
//! assert!(scale_and_shift(&x, &y, &array![1.0, 2.0, 3.0]).is_err());
//! # Ok::<(), ndarray_broadcast::BroadcastError>(())
//! ```

pub use crate::batch::{BaseDim, BaseOp, BaseRank, FurtherBatches, JoinBatch, ResultBase};
pub use crate::map::{ApplyOperands, FnOperands, FurtherOperands, FusedOperands, MapOperands};
pub use crate::reduce::elements::*;
pub use crate::shape::{
    Axes, AxesOrAll, AxisIndex, LessAxes, ReducedAxes, SignatureShapes, Size, TargetShape,
};
pub use crate::view::{AsArrayRef, Operand, Operands, ViewOperand};

// Types that a struct or a function of a user may have to name, and need not read about.
#[doc(hidden)]
pub use crate::batch::{Parallel, Serial};
#[doc(hidden)]
pub use crate::shape::KeepDims;
