//! Every form of a reduction, for every source.

use super::extreme::{Maximum, Minimum, extremes};
use super::mean::means;
use super::passes::{To, add_sum_in_dim, reduce, sum_in_dim, sum_into};
use super::positions::positions;
use super::sources::Counted;
#[cfg(feature = "std")]
use super::statistics::deviations;
use super::statistics::{Until, means_and_variances};
use super::{MeanElement, SumElement, VarElement};
use crate::error::{Result, caller};
use crate::kernel::nest::{Added, AddedScaled, Cloned, Source};
use crate::kernel::operation::{Operation, Plus};
use crate::map::Par;
use crate::sealed::Sealed;
use crate::shape::{Axes, ReducedAxes, TargetShape, sizes};
use crate::view::AsArrayRef;
use core::ops::Mul;
use ndarray::{Array, ArrayRef, Dimension, IxDyn};

/// Sums, means, maxima, minima and other reductions of a source: every kind of array, [`fused`](crate::fused) operands, and
/// [`par`](Self::par) of both.
///
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::{fused, keepdims, prelude::*};
///
/// let (x, bias) = (array![[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]], array![10.0, 20.0, 30.0]);
/// assert_eq!(x.sum_axes(0)?, array![5.0, 7.0, 12.0]);
/// assert_eq!(x.mean_axes(keepdims(1))?, array![[2.0], [6.0]]); // the axis stays, with size 1
/// assert_eq!(x.max_axes(..)?.into_scalar(), 9.0); // over all axes
/// assert_eq!(x.sum_to(&bias)?, array![5.0, 7.0, 12.0]); // to the shape of `bias`
/// assert_eq!(fused((&x, &bias), |x, b| x * b).sum_axes(1)?, array![140.0, 410.0]);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// - *Over axes*: `…_axes(axes)` removes the axes, and `…_axes(..)` all axes. With [`keepdims`](crate::keepdims())`(axes)` they
///   stay with size 1.
/// - *To a shape*: `…_to(shape)` undoes a broadcast that is aligned at the right, `sum_in_dim(shape, axes)` one with placed
///   axes. A shape is any [`TargetShape`], above all `&array`.
/// - *Into an array*: `assign_…`, `add_…` and `scaled_add_…` write to one that exists.
///
/// The order of combination depends on shapes, strides, and the number and types of operands only, and on whether elements are
/// stored or computed by a closure. It does not depend on threads or the CPU. Sums of blocks are added pairwise, which keeps 2^24 terms of 0.1 in `f32` within 1e-6.
///
/// Sealed. `A` is the type of the elements, `D` the dimension type of the source.
///
/// # Overflow
/// A sum has the type of its elements and is added in that type. Integers that do not fit wrap in a release build and panic in a
/// debug build, as `+` and ndarray's `sum` do. So does a partial sum, even where the whole sum fits: the sum of 256 `i8`, 100
/// and -100 in turn, is 0, but panics. NumPy and PyTorch add narrow integers in 64 bits. To do the same, convert each element
/// in the closure of [`fused`](crate::fused()), without an array of the converted elements:
///
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::{fused, prelude::*};
///
/// let bytes = array![200_u8, 100]; // bytes.sum_axes(0) would be 300 - 256 = 44, or a panic
/// assert_eq!(fused(&bytes, |&x| u32::from(x)).sum_axes(0)?.into_scalar(), 300);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source of elements `{A}` that can be reduced",
    label = "expected an array, or `fused(operands, closure)`",
    note = "for `any` and `all`, compare elements in a closure: `fused(&x, |&x| x != 0.0).any_axes(…)`",
    note = "on several threads, `.par()`, elements and closures must be `Send` and `Sync`",
    note = "nor is an array of another version of ndarray: `cargo tree -d` shows whether there are two versions"
)]
#[allow(private_interfaces, reason = "hidden methods take types of the kernel")]
pub trait Reduce<A: Clone, D: Dimension>: Sealed {
    /// Calls `then` with the source, whose elements `op` combines, and returns its result.
    #[doc(hidden)]
    fn source<O: Operation<A> + Sync, R>(&self, op: O, then: impl FnOnce(&Source<'_, A>) -> R) -> R;

    /// If the elements are stored, calls `then` with their squared differences from the means of their lanes, as elements to
    /// add, and returns its result.
    #[doc(hidden)]
    fn squared<R>(&self, _means: &ArrayRef<A, IxDyn>, _then: impl FnOnce(&Source<'_, A>) -> R) -> Option<R>
    where
        A: VarElement,
    {
        None
    }

    /// The source, if it is an array that already has this shape.
    #[doc(hidden)]
    fn into_array_of(self, _shape: &[usize]) -> Result<Array<A, D>, Self>
    where
        Self: Sized,
    {
        Err(self)
    }

    /// The sum over `axes`: the adjoint of [`broadcast_axes`](crate::BroadcastAxes::broadcast_axes).
    ///
    /// Elements are added in their own type: integers that do not fit [overflow](crate::Reduce#overflow). For sums of 16-bit
    /// floats in `f32`, see the [recipe](crate::guide::recipes#sums-of-16-bit-floats).
    ///
    /// # Shapes
    /// `(2, 3, 4, 5)` over `[0, 2]` is `(3, 5)`, over `keepdims([0, 2])` it is `(1, 3, 1, 5)`. The number of axes of the
    /// result is fixed if that of the source is and `axes` is a Rust array, a tuple, an integer or an `Axis`; otherwise it
    /// is dynamic. A negative axis counts from the end. No axes (`[]`) give a copy. All axes (`..`) give a single element
    /// without axes, whether the number of axes is fixed or dynamic, or of size 1 with `keepdims(..)`. A sum over an empty axis
    /// is zero. The result's axes have the same order in memory as the source's.
    ///
    /// # Errors
    /// In this order:
    /// for fused operands, those of their joint shape;
    /// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the source does not have;
    /// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis in anything but an [`AxisSet`](crate::AxisSet);
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, ArrayD, Axis};
    /// use ndarray_broadcast::{keepdims, prelude::*};
    ///
    /// let delta = array![[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]];
    /// let columns: Array1<f64> = delta.sum_axes([0])?;
    /// assert_eq!(columns, array![11.0, 22.0, 33.0]);
    /// assert_eq!(delta.sum_axes(Axis(1))?, array![6.0, 60.0]);
    /// assert_eq!(delta.sum_axes(keepdims(-1))?, array![[6.0], [60.0]]);
    /// assert_eq!(delta.sum_axes((0, -1))?.into_scalar(), 66.0);
    /// assert_eq!(delta.sum_axes(..)?.into_scalar(), 66.0);
    /// let all: ArrayD<f64> = delta.sum_axes(&[0, 1][..])?;
    /// assert_eq!((all.sum(), delta.sum_axes([])?), (66.0, delta.clone()));
    /// assert_eq!(
    ///     delta.sum_axes([1, 1]).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] over axes [1, 1]: axis 1 is named more than once",
    /// );
    /// assert_eq!(
    ///     delta.sum_axes(-3).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] over axes [-3]: axis -3 is out of bounds for 2 axes of the array",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// If both numbers of axes are in the types, more axes than the array has do not compile:
    /// ```compile_fail,E0277
    /// # use ndarray_broadcast::prelude::*;
    /// ndarray::array![1.0, 2.0].sum_axes([0, 1]).unwrap();
    /// ```
    ///
    /// # Equivalents
    /// nGraph's `Sum(delta, broadcast_axes)`, the backpropagation of its `Broadcast`;
    /// `numpy.sum(delta, axis=(0, 2))`; `torch.sum(delta, dim=(0, 2))`; ONNX `ReduceSum`. Over `..`, ndarray's `sum()`, NumPy's
    /// `axis=None`. Without NaN (`nansum`), sum
    /// `fused(&x, |&x| if x.is_nan() { 0.0 } else { x })`. Running sums (`cumsum`) are ndarray's `accumulate_axis_inplace`.
    #[doc(alias("sum_axis", "reduce_sum"))]
    fn sum_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<A, X::Left>>
    where
        A: SumElement,
    {
        self.source(Plus, |source| reduce(source, &axes, &caller::SUM_AXES, A::zero()))
    }

    /// The mean over `axes`: the sum, as exact as [`sum_axes`](Self::sum_axes), divided by the number of elements.
    ///
    /// The element type must hold fractions: one divided by two must not be zero. Integers do not, so map them first, as in
    /// `fused(&x, |&x| f64::from(x)).mean_axes(axes)`.
    ///
    /// A mean of real or complex numbers is right wherever the type can hold it. If the sum of finite numbers is not finite,
    /// the elements are scaled before they are added, on the calling thread. The number of elements is rounded if the type
    /// cannot hold it, such as 2^24 + 1 in `f32` or 257 in `half::bf16`.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Errors
    /// As [`sum_axes`](Self::sum_axes), and then [`NoMean`](crate::ErrorKind::NoMean) where the element type cannot hold
    /// fractions, where an element of the result would be the mean of no elements, or where the number of elements is above
    /// the largest number of the type: 65504 of `half::f16`. `fused(&x, |&x| f32::from(x)).mean_axes(axes)` has that mean.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::{fused, keepdims, prelude::*};
    ///
    /// let x = array![[1.0, 5.0], [3.0, 4.0]];
    /// let columns: Array1<f64> = x.mean_axes(0)?;
    /// assert_eq!(columns, array![2.0, 4.5]);
    /// assert_eq!(&x - &x.mean_axes(keepdims(1))?, array![[-2.0, 2.0], [-0.5, 0.5]]);
    /// assert_eq!(
    ///     array![200_u8, 100].mean_axes(0).unwrap_err().to_string(),
    ///     "cannot take the mean of shape [2] over axes [0]: the element type does not hold fractions, \
    ///      use `fused(&x, |&x| f64::from(x)).mean_axes(…)`",
    /// );
    /// assert_eq!(fused(&array![200_u8, 100], |&x| f64::from(x)).mean_axes(0)?.into_scalar(), 150.0);
    /// assert_eq!(
    ///     Array2::<f64>::zeros((0, 3)).mean_axes(0).unwrap_err().to_string(),
    ///     "cannot take the mean of shape [0, 3] over axes [0]: there is no mean of 0 elements",
    /// );
    /// assert_eq!(Array2::<f64>::zeros((0, 0)).mean_axes(0)?, Array1::zeros(0));
    /// assert_eq!(Array2::<f64>::zeros((0, 0)).mean_axis(ndarray::Axis(0)), None);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.mean(x, axis=0)` and `torch.mean(x, dim=0)`, which give NaN for no elements, NumPy with a warning; NumPy gives
    /// `f64` for integers. ndarray's `mean_axis` divides integers, and gives `None` wherever the axis has size 0, even for
    /// shape (0, 0): its mean over an axis is an empty array here. Means over a mask (`nanmean`) and weighted means are
    /// [recipes](crate::guide::recipes).
    #[doc(alias("mean_axis", "average", "reduce_mean"))]
    fn mean_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<A, X::Left>>
    where
        A: MeanElement,
    {
        self.source(Plus, |source| means(source, &axes, (&caller::MEAN_AXES, "mean_axes")))
    }

    /// The variance over `axes`: the sum of the squared differences from the [mean](Self::mean_axes), divided by n − `ddof` for n
    /// elements. `ddof` is 0 for the variance of these elements, and 1 for an estimate from a sample.
    ///
    /// The elements are read twice: for the mean, and for the differences. The results of [`fused`](crate::fused()) operands
    /// are computed twice, the second time in a buffer of at most 65,536 of them. If the mean is more than about 300 (`f32`)
    /// or 10,000,000 (`f64`) times the deviation, or if squares are too large or too small for the type, elements are read
    /// again, to correct the mean and to scale the elements.
    ///
    /// A variance is right wherever the type can hold it, also for elements far from zero. For up to 30,000 elements, it is
    /// off by at most 8 times the distance to the next number. Equal elements have variance 0. A NaN gives NaN.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Errors
    /// As [`mean_axes`](Self::mean_axes), and then [`NoMean`](crate::ErrorKind::NoMean) unless `ddof` is below n.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::{fused, keepdims, prelude::*};
    ///
    /// let x = array![[1.0, 5.0, 3.0], [1e9, 1e9 + 1.0, 1e9 + 2.0]];
    /// let rows: Array1<f64> = x.var_axes(1, 1.0)?;
    /// assert_eq!(rows, array![4.0, 1.0]);
    /// assert_eq!(x.var_axes(keepdims(1), 0.0)?, array![[8.0 / 3.0], [2.0 / 3.0]]);
    /// assert_eq!(fused(&array![1_u8, 3], |&x| f32::from(x)).var_axes(.., 0.0)?.into_scalar(), 1.0);
    /// assert_eq!(
    ///     array![1.0].var_axes(0, 1.0).unwrap_err().to_string(),
    ///     "cannot take the variance of shape [1] over axes [0]: expected `ddof` below the number of elements, 1",
    /// );
    /// assert!(Array2::<f64>::zeros((0, 3)).var_axes(0, 0.0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// ndarray's `var_axis`, of one axis; `numpy.var(x, axis=1, ddof=1)` and `torch.var(x, dim=1, correction=1)`, whose
    /// defaults are 0 and 1. They give NaN or infinity where `ddof` is not below n, and NumPy gives `f64` for integers.
    #[doc(alias("var", "var_axis", "variance"))]
    fn var_axes<X: ReducedAxes<D>>(&self, axes: X, ddof: A) -> Result<Array<A, X::Left>>
    where
        A: VarElement,
    {
        let [_, variances] = means_and_variances(self, &axes, ddof, "var_axes")?;
        Ok(variances)
    }

    /// The standard deviation over `axes`: the square root of [`var_axes`](Self::var_axes). It is right wherever the type can
    /// hold it: if the variance is too large or too small for the type, elements are scaled.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Errors
    /// Those of [`var_axes`](Self::var_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{keepdims, prelude::*};
    ///
    /// let x = array![[1.0, 5.0], [2.0, 2.0]];
    /// assert_eq!(x.std_axes(1, 0.0)?, array![2.0, 0.0]);
    /// let scores = (&x - &x.mean_axes(keepdims(0))?) / &x.std_axes(keepdims(0), 0.0)?;
    /// assert_eq!(scores, array![[-1.0, 1.0], [1.0, -1.0]]);
    /// assert!(x.std_axes(1, f64::NAN).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// ndarray's `std_axis`, of one axis; `numpy.std(x, axis=1)`; `torch.std(x, dim=1, correction=0)`.
    #[cfg(feature = "std")]
    #[doc(alias("std", "std_axis", "standard_deviation"))]
    fn std_axes<X: ReducedAxes<D>>(&self, axes: X, ddof: A) -> Result<Array<A, X::Left>>
    where
        A: super::StdElement,
    {
        deviations(self, &axes, ddof, "std_axes")
    }

    /// The mean and the variance over `axes`: [`mean_axes`](Self::mean_axes) and [`var_axes`](Self::var_axes), with the same
    /// bits, in one call that reads the elements once less.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Errors
    /// Those of [`var_axes`](Self::var_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{broadcast_map, keepdims, prelude::*};
    ///
    /// let x = array![[1.0_f64, 5.0], [2.0, 2.0]];
    /// let (mean, variance) = x.mean_var_axes(keepdims(1), 0.0)?;
    /// assert_eq!((&mean, &variance), (&array![[3.0], [2.0]], &array![[4.0], [0.0]]));
    /// let layer_norm = broadcast_map((&x, &mean, &variance), |x, m, v| (x - m) / (v + 1e-5).sqrt())?;
    /// assert!((layer_norm[[0, 1]] - 1.0).abs() < 1e-5);
    /// assert!(x.mean_var_axes(2, 0.0).is_err() && x.mean_var_axes(1, 2.0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `torch.var_mean(x, dim=1, correction=0)`, in the other order; `jax.nn.standardize` before it is applied;
    /// `tf.nn.moments(x, 1)`.
    #[doc(alias("var_mean", "std_mean", "moments"))]
    #[allow(clippy::type_complexity, reason = "a pair")]
    fn mean_var_axes<X: ReducedAxes<D>>(
        &self,
        axes: X,
        ddof: A,
    ) -> Result<(Array<A, X::Left>, Array<A, X::Left>)>
    where
        A: VarElement,
    {
        Ok(means_and_variances(self, &axes, ddof, "mean_var_axes")?.into())
    }

    /// Whether any element along `axes` is true.
    ///
    /// It stops early: elements are read in parts of at most 65,536, and a part is left out if its results are already known. The closure
    /// of [`fused`](crate::fused()) operands is not called for such a part. With
    /// [`par`](Self::par), a part that has begun on another thread goes on until it decides its own results. The results are the same on
    /// any number of threads.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes). Without elements, the result is false.
    ///
    /// # Errors
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::{fused, keepdims, prelude::*};
    ///
    /// let mask = array![[true, false, false], [false, false, true]];
    /// let columns: Array1<bool> = mask.any_axes(0)?;
    /// assert_eq!(columns, array![true, false, true]);
    /// let x = array![[1.0, f64::NAN], [2.0, 3.0]];
    /// assert_eq!(fused(&x, |x| x.is_nan()).any_axes(keepdims(1))?, array![[true], [false]]);
    /// assert_eq!(Array2::from_elem((2, 0), true).any_axes(1)?, array![false, false]);
    /// assert!(mask.any_axes(2).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// Numbers are compared in a closure:
    /// ```compile_fail,E0277
    /// # use ndarray_broadcast::prelude::*;
    /// ndarray::array![1.0, 0.0].any_axes(0).unwrap();
    /// ```
    ///
    /// # Equivalents
    /// `numpy.any(x, axis=0)` and `torch.any(x, dim=0)`, where numbers other than zero are true; ONNX `ReduceMax` of `bool`.
    #[doc(alias("any", "logical_or", "reduce_any"))]
    fn any_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<bool, X::Left>>
    where
        Self: Reduce<bool, D>,
    {
        Reduce::<bool, D>::source(self, Until::<true>, |source| {
            reduce(source, &axes, &caller::ANY_AXES, false)
        })
    }

    /// Whether all elements along `axes` are true. It stops early, as [`any_axes`](Self::any_axes) does.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes). Without elements, the result is true.
    ///
    /// # Errors
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, bound) = (array![[1.0, 2.0], [3.0, 4.0]], array![2.0, 9.0]);
    /// assert_eq!(fused((&x, &bound), |x, b| x < b).all_axes(1)?, array![true, false]);
    /// assert_eq!(Array2::from_elem((2, 0), false).all_axes(1)?, array![true, true]);
    /// assert!(fused((&x, &array![1.0, 2.0, 3.0]), |x, b| x < b).all_axes(1).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.all(x, axis=1)` and `torch.all(x, dim=1)`, where numbers other than zero are true; ONNX `ReduceMin` of `bool`.
    #[doc(alias("all", "logical_and", "reduce_all"))]
    fn all_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<bool, X::Left>>
    where
        Self: Reduce<bool, D>,
    {
        Reduce::<bool, D>::source(self, Until::<false>, |source| {
            reduce(source, &axes, &caller::ALL_AXES, true)
        })
    }

    /// The number of true elements along `axes`.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes). Without elements, the result is 0.
    ///
    /// # Errors
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::{fused, keepdims, prelude::*};
    ///
    /// let mask = array![[true, false, false], [true, false, true]];
    /// let columns: Array1<usize> = mask.count_axes(0)?;
    /// assert_eq!(columns, array![2, 0, 1]);
    /// let (x, limit) = (array![[1.0, f64::NAN], [2.0, 3.0]], array![1.5, 1.0]);
    /// assert_eq!(fused((&x, &limit), |x, l| x > l).count_axes(keepdims(1))?, array![[0], [2]]);
    /// assert_eq!(Array2::from_elem((2, 0), true).par().count_axes(1)?, array![0, 0]);
    /// assert!(mask.count_axes(2).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// Numbers are compared in a closure:
    /// ```compile_fail,E0277
    /// # use ndarray_broadcast::prelude::*;
    /// ndarray::array![1.0, 0.0].count_axes(0).unwrap();
    /// ```
    ///
    /// # Equivalents
    /// `numpy.count_nonzero(mask, axis=0)`, `torch.count_nonzero(mask, dim=0)`; `mask.sum(axis=0)` of a boolean mask in both.
    #[doc(alias("count_nonzero", "count_true", "num_true"))]
    fn count_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<usize, X::Left>>
    where
        Self: Counted<D>,
    {
        self.counted(|source| reduce(source, &axes, &caller::COUNT_AXES, 0))
    }

    /// The largest element along `axes`. If there is a NaN, or another element that does not equal itself, it is the result.
    ///
    /// For elements of a type of your own, `PartialOrd` must be transitive. Among equal elements, such as zeros of either
    /// sign, any may be the result.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Errors
    /// As [`sum_axes`](Self::sum_axes), and then [`NoElements`](crate::ErrorKind::NoElements) where an element of the result
    /// would be the maximum of no elements.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::{keepdims, prelude::*};
    ///
    /// let x = array![[1.0, 3.0], [700.0, f64::NAN]];
    /// assert_eq!(x.max_axes(0)?[0], 700.0);
    /// let top = x.max_axes(keepdims(1))?;
    /// assert!(top[[0, 0]] == 3.0 && top[[1, 0]].is_nan());
    /// assert_eq!(array!["b", "a"].max_axes(0)?.into_scalar(), "b");
    /// assert_eq!(
    ///     Array2::<f64>::zeros((0, 3)).max_axes(0).unwrap_err().to_string(),
    ///     "cannot take the maximum of shape [0, 3] over axes [0]: there is no maximum of 0 elements",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.max(x, axis=1)` and `torch.amax(x, dim=1)`, which keep NaN too; ONNX `ReduceMax`. Without NaN (`nanmax`),
    /// `x.reduce_axes(1, f64::NAN, f64::max)`. The position is [`argmax_axes`](Self::argmax_axes).
    /// For the larger of two arrays' elements (`numpy.maximum`), [`broadcast_map`](crate::broadcast_map()).
    #[doc(alias("amax", "reduce_max"))]
    fn max_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<A, X::Left>>
    where
        A: PartialOrd,
    {
        self.source(Maximum, |source| extremes(source, &axes, (&caller::MAX_AXES, "maximum")))
    }

    /// The smallest element along `axes`: the counterpart of [`max_axes`](Self::max_axes).
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Errors
    /// As [`max_axes`](Self::max_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// assert_eq!(array![[1, 3], [7, 2]].min_axes(1)?, array![1, 2]);
    /// assert!(array![1.0, f64::NAN].min_axes(0)?.into_scalar().is_nan());
    /// assert!(Array2::<f64>::zeros((0, 3)).min_axes(0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.min(x, axis=1)` and `torch.amin(x, dim=1)`, which keep NaN too. For `nanmin` and `numpy.minimum`, see
    /// [`max_axes`](Self::max_axes).
    #[doc(alias("amin", "reduce_min"))]
    fn min_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<A, X::Left>>
    where
        A: PartialOrd,
    {
        self.source(Minimum, |source| extremes(source, &axes, (&caller::MIN_AXES, "minimum")))
    }

    /// The position along `axes` of the largest element: of the first NaN, or any element that does not equal itself, if there is
    /// one, else of the first element that equals [`max_axes`](Self::max_axes).
    ///
    /// A position is the same in any layout. Elements are read, and the results of [`fused`](crate::fused()) operands computed, in one
    /// pass on the calling thread.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes). Over one axis, a position is an index of it. Over several axes or `..`, it counts their
    /// elements in row-major order of the axes, however these are listed. Over no axes (`[]`), it is 0.
    ///
    /// # Errors
    /// As [`max_axes`](Self::max_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::{fused, keepdims, prelude::*};
    ///
    /// let x = array![[3.0, 9.0, 9.0], [8.0, f64::NAN, 9.0]];
    /// let at: Array1<usize> = x.argmax_axes(1)?;
    /// assert_eq!(at, array![1, 1]);
    /// assert_eq!(x.argmax_axes(keepdims(0))?, array![[1, 1, 0]]);
    /// assert_eq!(x.argmax_axes(..)?.into_scalar(), 4); // in row 1 at column 1
    /// assert_eq!(fused(&x, |x| -x.abs()).argmax_axes(0)?, array![0, 1, 0]);
    /// assert_eq!(
    ///     Array2::<f64>::zeros((2, 0)).argmax_axes(1).unwrap_err().to_string(),
    ///     "cannot find the maximum of shape [2, 0] over axes [1]: there is no maximum of 0 elements",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.argmax(x, axis=1)`, and `torch.argmax(x, dim=1)`, which may give a later one of equal elements;
    /// ndarray-stats `argmax`, as an index, for all axes. Without NaN (`nanargmax`), and as an index of each axis
    /// (`unravel_index`), it is a [recipe](crate::guide::recipes#the-position-of-the-largest-element).
    #[doc(alias("argmax", "argmax_skipnan", "nanargmax"))]
    fn argmax_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<usize, X::Left>>
    where
        A: PartialOrd,
    {
        self.source(Maximum, |source| positions(source, &axes, A::gt, (&caller::ARGMAX_AXES, "maximum")))
    }

    /// The position along `axes` of the smallest element: the counterpart of [`argmax_axes`](Self::argmax_axes).
    ///
    /// # Shapes
    /// As [`argmax_axes`](Self::argmax_axes).
    ///
    /// # Errors
    /// As [`max_axes`](Self::max_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[3, 1, 1], [1, 8, 9]];
    /// assert_eq!(x.argmin_axes(1)?, array![1, 0]);
    /// assert_eq!(x.argmin_axes([1, 0])?.into_scalar(), 1);
    /// assert!(Array2::<f64>::zeros((0, 3)).argmin_axes(0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.argmin(x, axis=1)`, and `torch.argmin(x, dim=1)`, which may give a later one of equal elements. Without NaN
    /// (`nanargmin`), it is the [recipe](crate::guide::recipes#the-position-of-the-largest-element) with ∞ for -∞.
    #[doc(alias("argmin", "argmin_skipnan", "nanargmin"))]
    fn argmin_axes<X: ReducedAxes<D>>(&self, axes: X) -> Result<Array<usize, X::Left>>
    where
        A: PartialOrd,
    {
        self.source(Minimum, |source| positions(source, &axes, A::lt, (&caller::ARGMIN_AXES, "minimum")))
    }

    /// Combines all elements along `axes` with `op`: a product, or an operation of your own.
    ///
    /// `op` must be associative and commutative. Elements are combined in the same order as in sums. `identity` is the result
    /// where there is no element, and is never combined with one. For a sum, [`sum_axes`](Self::sum_axes) is faster.
    ///
    /// # Shapes
    /// As [`sum_axes`](Self::sum_axes). A reduction over an empty axis gives the identity.
    ///
    /// # Errors
    /// As [`sum_axes`](Self::sum_axes).
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let x = array![[1.0, 5.0], [3.0, 4.0]];
    /// assert_eq!(x.reduce_axes(-1, 1.0, |a, b| a * b)?, array![5.0, 12.0]);
    /// assert_eq!(fused(&x, |&x| x as u8).reduce_axes(0, 0, |a, b| a | b)?, array![3, 5]);
    /// assert_eq!(
    ///     x.reduce_axes(2, 1.0, |a, b| a * b).unwrap_err().to_string(),
    ///     "cannot reduce shape [2, 2] over axes [2]: axis 2 is out of bounds for 2 axes of the array",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// The `reduce` of NumPy's ufuncs, such as `numpy.prod(x, axis=-1)`; `torch.prod`; ndarray's `fold_axis`,
    /// for one axis. With tuples, two statistics in one pass, such as `aminmax`, and `logsumexp`: see the
    /// [recipes](crate::guide::recipes). Medians and quantiles are not reductions of this kind: `ndarray-stats` has them, and a
    /// [recipe](crate::guide::recipes#medians) shows one call.
    #[doc(alias("fold_axis", "prod", "reduce_prod"))]
    fn reduce_axes<X, F>(&self, axes: X, identity: A, op: F) -> Result<Array<A, X::Left>>
    where
        X: ReducedAxes<D>,
        F: Fn(A, A) -> A + Sync,
    {
        self.source(&op, |source| reduce(source, &axes, &caller::REDUCE_AXES, identity))
    }

    /// The sum over every axis that broadcasting from `shape` to this source's shape repeats.
    ///
    /// Integers that do not fit [overflow](crate::Reduce#overflow).
    ///
    /// # Shapes
    /// Aligned at the right, each axis of `shape` has the source's size or is 1; `shape` may have fewer axes.
    /// `(2, 3, 4)` to `(3, 1)` sums over axes 0 and 2. The array's own shape gives a copy, at the cost of
    /// `to_owned`; [`into_sum_to`](Self::into_sum_to) saves that too. `()` gives the sum of all elements. A sum over
    /// size 0 is zero. The result's axes have the same order in memory as the source's.
    ///
    /// # Errors
    /// In this order:
    /// for fused operands, those of their joint shape;
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size or one above `isize::MAX`;
    /// [`TooManyAxes`](crate::ErrorKind::TooManyAxes) where `shape` has more axes than the source;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in `shape`;
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (bias, delta) = (array![0.5, 1.5, 2.5], array![[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]);
    /// let gradient: Array1<f64> = delta.sum_to(&bias)?;
    /// assert_eq!(gradient, array![11.0, 22.0, 33.0]);
    /// assert_eq!(delta.sum_to((2, 1))?, array![[6.0], [60.0]]);
    /// assert_eq!(
    ///     delta.sum_to(2).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] to [2]: axis 1 has sizes 3 and 2, expected equal sizes or 1 in the target",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch `delta.sum_to_size(bias.shape)`; the `unbroadcast` of JAX and autograd, which many engines write by hand.
    #[doc(alias("sum_to_size", "unbroadcast"))]
    fn sum_to<T: TargetShape>(&self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: SumElement,
    {
        self.source(Plus, |source| reduce::<A, D, _>(source, &To(shape), &caller::SUM_TO, A::zero()))
    }

    /// [`sum_to`](Self::sum_to) by value. An array that already has the shape is the result itself, without a copy, unless
    /// it is shared or a view. This is the most common case in a backward pass.
    ///
    /// # Shapes
    /// As [`sum_to`](Self::sum_to).
    ///
    /// # Errors
    /// As [`sum_to`](Self::sum_to). The array is dropped.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (bias, delta) = (array![0.5, 1.5], array![1.0, 2.0]);
    /// let at = delta.as_ptr();
    /// let same: Array1<f64> = delta.into_sum_to(&bias)?;
    /// assert_eq!(same.as_ptr(), at);
    /// assert_eq!(array![[1.0, 2.0], [3.0, 4.0]].into_sum_to(&bias)?, array![4.0, 6.0]);
    /// assert!(same.into_sum_to(3).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// PyTorch `delta.sum_to_size(shape)`, which also returns the tensor itself if nothing is summed.
    fn into_sum_to<T: TargetShape>(self, shape: T) -> Result<Array<A, T::Dim>>
    where
        Self: Sized,
        A: SumElement,
    {
        match self.into_array_of(sizes(&shape.target_dim())) {
            Ok(array) => Ok(array.into_dimensionality().expect("the shape has as many axes as the array")),
            Err(source) => source.sum_to(shape),
        }
    }

    /// The mean over every axis that broadcasting from `shape` to this source's shape repeats: [`sum_to`](Self::sum_to), divided
    /// by the number of elements as [`mean_axes`](Self::mean_axes) is.
    ///
    /// # Shapes
    /// As [`sum_to`](Self::sum_to).
    ///
    /// # Errors
    /// As [`sum_to`](Self::sum_to), and then [`NoMean`](crate::ErrorKind::NoMean) as [`mean_axes`](Self::mean_axes) has it.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, row) = (array![[1.0, 5.0], [3.0, 4.0]], array![10.0, 20.0]);
    /// let means: Array1<f64> = x.mean_to(&row)?;
    /// assert_eq!(means, array![2.0, 4.5]);
    /// assert_eq!(fused((&x, &row), |x, r| x * r).mean_to((2, 1))?, array![[55.0], [55.0]]);
    /// assert_eq!(x.mean_to(())?.into_scalar(), 3.25);
    /// assert_eq!(
    ///     Array2::<f64>::zeros((0, 3)).mean_to(3).unwrap_err().to_string(),
    ///     "cannot take the mean of shape [0, 3] to [3]: there is no mean of 0 elements",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.mean(x, axis)` over the axes along which an array of this shape is repeated; `unbroadcast(x, shape)` divided by
    /// the number of its terms, in Python's autodiff engines.
    fn mean_to<T: TargetShape>(&self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: MeanElement,
    {
        self.source(Plus, |source| means::<A, D, _>(source, &To(shape), (&caller::MEAN_TO, "mean_to")))
    }

    /// The largest element along every axis that broadcasting from `shape` to this source's shape repeats, as
    /// [`max_axes`](Self::max_axes) along named axes.
    ///
    /// # Shapes
    /// As [`sum_to`](Self::sum_to).
    ///
    /// # Errors
    /// As [`sum_to`](Self::sum_to), and then [`NoElements`](crate::ErrorKind::NoElements) where an element of the result
    /// would be the maximum of no elements.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1, Array2};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, row) = (array![[1.0, 5.0], [3.0, f64::NAN]], array![10.0, 20.0]);
    /// let top: Array1<f64> = x.max_to(&row)?;
    /// assert!(top[0] == 3.0 && top[1].is_nan());
    /// assert_eq!(fused((&x, &row), |x, r| r - x).max_to((2, 1))?[[0, 0]], 15.0);
    /// assert_eq!(
    ///     Array2::<f64>::zeros((0, 3)).max_to(3).unwrap_err().to_string(),
    ///     "cannot take the maximum of shape [0, 3] to [3]: there is no maximum of 0 elements",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.max(x, axis)` and `torch.amax(x, dim)` over the axes along which an array of this shape is repeated.
    fn max_to<T: TargetShape>(&self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: PartialOrd,
    {
        self.source(Maximum, |source| extremes::<A, D, _>(source, &To(shape), (&caller::MAX_TO, "maximum")))
    }

    /// The smallest element along every axis that broadcasting from `shape` to this source's shape repeats: the counterpart of
    /// [`max_to`](Self::max_to).
    ///
    /// # Shapes
    /// As [`sum_to`](Self::sum_to).
    ///
    /// # Errors
    /// As [`max_to`](Self::max_to).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[1, 5], [3, 4]];
    /// assert_eq!(x.min_to((2, 1))?, array![[1], [3]]);
    /// assert_eq!(x.min_to(())?.into_scalar(), 1);
    /// assert!(x.min_to(3).is_err() && Array2::<f64>::zeros((0, 3)).min_to(3).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.min(x, axis)` and `torch.amin(x, dim)` over the axes along which an array of this shape is repeated.
    fn min_to<T: TargetShape>(&self, shape: T) -> Result<Array<A, T::Dim>>
    where
        A: PartialOrd,
    {
        self.source(Minimum, |source| extremes::<A, D, _>(source, &To(shape), (&caller::MIN_TO, "minimum")))
    }

    /// [`reduce_axes`](Self::reduce_axes) over every axis that broadcasting from `shape` to this source's shape repeats.
    ///
    /// # Shapes
    /// As [`sum_to`](Self::sum_to). A reduction over an axis of size 0 gives the identity.
    ///
    /// # Errors
    /// As [`sum_to`](Self::sum_to).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, mask) = (array![[1.0, 5.0], [3.0, 4.0]], array![true, false]);
    /// assert_eq!(x.reduce_to((2, 1), 1.0, |a, b| a * b)?, array![[5.0], [12.0]]);
    /// // sum and sum of squares at once
    /// let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
    /// let moments: Array1<(f64, f64)> = fused(&x, |&x| (x, x * x)).reduce_to(&mask, (0.0, 0.0), add)?;
    /// assert_eq!(moments, array![(4.0, 10.0), (9.0, 41.0)]);
    /// assert_eq!(
    ///     fused((&x, &mask), |&x, &m| m && x > 2.0).reduce_to(3, false, |a, b| a | b).unwrap_err().to_string(),
    ///     "cannot broadcast shapes [2, 2] and [2] together and reduce to [3]: \
    ///      axis 1 has sizes 2 and 3, expected equal sizes or 1 in the target",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`reduce_axes`](Self::reduce_axes); rayon's `map` and `reduce`.
    fn reduce_to<T, F>(&self, shape: T, identity: A, op: F) -> Result<Array<A, T::Dim>>
    where
        T: TargetShape,
        F: Fn(A, A) -> A + Sync,
    {
        self.source(&op, |source| reduce::<A, D, _>(source, &To(shape), &caller::REDUCE_TO, identity))
    }

    /// [`sum_to`](Self::sum_to) the shape of an existing array, whose elements are overwritten.
    ///
    /// Integers that do not fit [overflow](crate::Reduce#overflow).
    ///
    /// # Shapes
    /// As [`sum_to`](Self::sum_to), to the shape of `out`, which may have any layout. The shape of `out`
    /// decides which axes are summed: for a square array and an `out` of one axis, axis 0.
    ///
    /// # Errors
    /// As [`sum_to`](Self::sum_to). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut sum = Array1::from_elem(2, 7.0);
    /// array![[1.0, 2.0], [3.0, 4.0]].assign_sum_to(&mut sum)?;
    /// assert_eq!(sum, array![4.0, 6.0]);
    /// assert!(array![1.0, 2.0, 3.0].assign_sum_to(&mut sum).is_err());
    /// assert_eq!(sum, array![4.0, 6.0]);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `out.copy_(delta.sum_to_size(out.shape))` in PyTorch, without the temporary. `numpy.sum(x, axis, out=out)` for an
    /// `out` with `keepdims=True`, such as `out.view_mut().insert_axis(axis)`.
    fn assign_sum_to<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: SumElement,
    {
        self.source(Plus, |source| sum_into::<A, D, E>(source, out, Cloned))
    }

    /// Adds [`sum_to`](Self::sum_to) to an array, as a backward pass accumulates the gradient of a broadcast operand.
    ///
    /// Integers that do not fit [overflow](crate::Reduce#overflow).
    ///
    /// # Shapes
    /// As [`assign_sum_to`](Self::assign_sum_to).
    ///
    /// # Errors
    /// As [`sum_to`](Self::sum_to). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let mut gradient = array![100.0, 200.0];
    /// let delta = array![[1.0, 2.0], [3.0, 4.0]];
    /// delta.add_sum_to(&mut gradient)?;
    /// assert_eq!(gradient, array![104.0, 206.0]);
    /// fused((&delta, &array![10.0, 1.0]), |d, y| d * y).add_sum_to(&mut gradient)?;
    /// assert_eq!(gradient, array![144.0, 212.0]);
    /// assert!(array![1.0, 2.0, 3.0].add_sum_to(&mut gradient).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient += unbroadcast(delta * y)` in Python's autodiff engines, without the temporaries.
    fn add_sum_to<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: SumElement,
    {
        self.source(Plus, |source| sum_into::<A, D, E>(source, out, Added))
    }

    /// Adds `factor` times [`sum_to`](Self::sum_to) to an array. With -1, this is the backward pass of a subtraction.
    ///
    /// Integers that do not fit [overflow](crate::Reduce#overflow).
    ///
    /// # Shapes
    /// As [`assign_sum_to`](Self::assign_sum_to).
    ///
    /// # Errors
    /// As [`sum_to`](Self::sum_to). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = array![100.0, 200.0];
    /// array![[1.0, 2.0], [3.0, 4.0]].scaled_add_sum_to(-1.0, &mut gradient)?;
    /// assert_eq!(gradient, array![96.0, 194.0]);
    /// assert!(array![1.0, 2.0, 3.0].scaled_add_sum_to(-1.0, &mut gradient).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// ndarray's `gradient.scaled_add(factor, &unbroadcast(delta))`, without the temporary.
    fn scaled_add_sum_to<E: Dimension>(&self, factor: A, out: &mut ArrayRef<A, E>) -> Result<()>
    where
        A: SumElement + Mul<Output = A>,
    {
        self.source(Plus, |source| sum_into::<A, D, E>(source, out, AddedScaled(&factor)))
    }

    /// The adjoint of [`broadcast_in_dim`](crate::BroadcastInDim::broadcast_in_dim): the sum over everything that it repeats for
    /// an array of shape `shape` and the same `axes`. The rule for shapes alone is
    /// [`infer_sum_in_dim`](crate::partial::infer_sum_in_dim).
    ///
    /// Integers that do not fit [overflow](crate::Reduce#overflow).
    ///
    /// # Shapes
    /// Axis `i` of the result is axis `axes[i]` of the source; if not ascending, they transpose it. Axis `i` of `shape`
    /// has the size of that axis, or is 1 to sum over it. All other axes are summed over. `(4, 3, 5)` to `(5, 1)` with axes
    /// `[2, 1]` sums over axes 0 and 1. A negative axis counts from the end of the source. A sum over an axis of size 0 is
    /// zero. `()` with axes `[]` is the sum of all.
    ///
    /// # Errors
    /// In this order:
    /// for fused operands, those of their joint shape;
    /// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a negative size or one above `isize::MAX`;
    /// [`AxisCount`](crate::ErrorKind::AxisCount) where `axes` does not have one entry for each axis of `shape`;
    /// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that the source does not have;
    /// [`DuplicateAxis`](crate::ErrorKind::DuplicateAxis) for a repeated axis;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in `shape`;
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where memory cannot hold the result.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let x = array![[1.0, 2.0]];
    /// let y = x.broadcast_in_dim((2, 3), [1, 0])?; // axis 0 goes to axis 1 and stretches, axis 1 goes to axis 0
    /// let delta = array![[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]; // the gradient of y
    /// let gradient: Array2<f64> = delta.sum_in_dim(&x, [1, 0])?;
    /// assert_eq!(gradient, array![[6.0, 60.0]]);
    /// assert_eq!((&y * &delta).sum(), (&x * &gradient).sum());
    /// assert_eq!(
    ///     delta.sum_in_dim((1, 3), [1, 0]).unwrap_err().to_string(),
    ///     "cannot sum shape [2, 3] with its axes [1, 0] to [1, 3]: \
    ///      axis 0 has sizes 2 and 3, expected equal sizes or 1 in the target",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// The transpose rule of JAX's `lax.broadcast_in_dim`; `numpy.einsum("ijk->kj", delta)` and a sum that keeps
    /// axis 1.
    fn sum_in_dim<T: TargetShape, X: Axes>(&self, shape: T, axes: X) -> Result<Array<A, T::Dim>>
    where
        A: SumElement,
    {
        self.source(Plus, |source| sum_in_dim::<A, D, T, X>(source, &shape, &axes))
    }

    /// Adds [`sum_in_dim`](Self::sum_in_dim) to an array, as a backward pass accumulates a gradient.
    ///
    /// Integers that do not fit [overflow](crate::Reduce#overflow).
    ///
    /// # Shapes
    /// As [`sum_in_dim`](Self::sum_in_dim), to the shape of `out`, which may have any layout.
    ///
    /// # Errors
    /// As [`sum_in_dim`](Self::sum_in_dim). An error leaves `out` unchanged.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut gradient = array![100.0, 200.0];
    /// array![[1.0, 2.0], [3.0, 4.0]].add_sum_in_dim_to(&mut gradient, 0)?;
    /// assert_eq!(gradient, array![103.0, 207.0]);
    /// assert!(array![[1.0, 2.0]].add_sum_in_dim_to(&mut gradient, 0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `gradient += delta.sum_in_dim(…)`, without the temporary.
    fn add_sum_in_dim_to<E: Dimension, X: Axes>(&self, out: &mut ArrayRef<A, E>, axes: X) -> Result<()>
    where
        A: SumElement,
    {
        self.source(Plus, |source| add_sum_in_dim::<A, D, E, X>(source, out, &axes))
    }

    /// The same array, reduced on several threads: see [`Par`]. For fused operands, see
    /// [`Fused::par`](crate::Fused::par).
    ///
    /// # Examples
    /// ```
    /// use ndarray::Array2;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let delta = Array2::<f32>::from_elem((1000, 300), 0.1);
    /// assert_eq!(delta.par().sum_to((1000, 1))?, delta.sum_to((1000, 1))?);
    /// assert!(delta.par().sum_axes(2).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    #[doc(alias("threads", "rayon", "parallel"))]
    fn par(&self) -> Par<&ArrayRef<A, D>>
    where
        Self: AsArrayRef<A, D>,
    {
        Par(self.as_array_ref())
    }
}
