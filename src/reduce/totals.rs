//! Totals of fused operands, as numbers.

use super::extreme::{Maximum, Minimum, total_extreme};
use super::mean::total_mean;
use super::passes::total;
use super::sources::Counted;
#[cfg(feature = "std")]
use super::statistics::deviations;
use super::statistics::{Until, means_and_variances};
use super::{Fused, MeanElement, Reduce, SumElement, VarElement};
use crate::error::{Result, caller};
use crate::kernel::operation::Plus;
use crate::map::{FnOperands, Par};
use ndarray::Dimension;

/// Totals of the results of a closure, [`fused`](crate::fused) operands and [`par`](Fused::par) of these, as numbers: the
/// methods of [`Reduce`] over all axes, `..`, without an array for the result.
///
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::{fused, prelude::*};
///
/// let (a, b) = (array![1.0_f64, 2.0, 4.0], array![0.0_f64, 2.0, 1.0]);
/// let distance: f64 = fused((&a, &b), |a, b| (a - b) * (a - b)).sum()?.sqrt();
/// assert_eq!(distance, 10_f64.sqrt());
/// assert_eq!(fused((&a, &b), |a: &f64, b| (a - b).abs()).max()?, 3.0);
/// assert!(fused((&a, &b), |a, b| a >= b).all()?);
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
/// The total of an array is ndarray's `x.sum()`, or `x.sum_axes(..)`.
///
/// Sealed. `A` is the type of the results, `D` the dimension type of the joint shape.
pub trait Totals<A: Clone, D: Dimension>: Reduce<A, D> {
    /// The sum of all results: [`sum_axes(..)`](Reduce::sum_axes), with the same bits. Nothing is allocated for few elements.
    ///
    /// Integers that do not fit [overflow](crate::Reduce#overflow).
    ///
    /// # Errors
    /// Those of the operands' joint shape. A sum over no elements is zero.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, w) = (array![[1.0, 2.0], [3.0, 4.0]], array![10.0, 1.0]);
    /// assert_eq!(fused((&x, &w), |x, w| x * w).sum()?, 46.0);
    /// assert_eq!(fused((&x, &w), |x, w| x * w).par().sum()?, 46.0);
    /// assert_eq!(fused(&Array1::<f64>::zeros(0), |x| *x).sum()?, 0.0);
    /// assert!(fused((&x, &array![1.0, 2.0, 3.0]), |x, w| x * w).sum().is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `(x * w).sum()` in NumPy and PyTorch, without the temporary; `zip`, `map` and `sum` of iterators; ndarray-stats'
    /// `sq_l2_dist` and `l1_dist`, as closures.
    fn sum(&self) -> Result<A>
    where
        A: SumElement,
    {
        self.source(Plus, |source| total::<A, D>(source, A::zero()))
    }

    /// The mean of all results: [`mean_axes(..)`](Reduce::mean_axes), with the same bits.
    ///
    /// # Errors
    /// As [`sum`](Self::sum), and then [`NoMean`](crate::ErrorKind::NoMean) as [`mean_axes`](Reduce::mean_axes) has it.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// assert_eq!(fused(&array![200_u8, 100], |&x| f64::from(x)).mean()?, 150.0);
    /// assert!(fused(&Array1::<f64>::zeros(0), |x| *x).mean().is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.mean((x - y) ** 2)` and `torch.mean`, which give NaN for no elements.
    fn mean(&self) -> Result<A>
    where
        A: MeanElement,
    {
        self.source(Plus, |source| total_mean::<A, D>(source, (&caller::MEAN_AXES, "mean")))
    }

    /// The variance of all results: [`var_axes(.., ddof)`](Reduce::var_axes), with the same bits.
    ///
    /// # Errors
    /// As [`sum`](Self::sum), and then [`NoMean`](crate::ErrorKind::NoMean) as [`var_axes`](Reduce::var_axes) has it.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (a, b) = (array![1.0, 2.0, 6.0], array![0.0, 0.0, 3.0]);
    /// assert_eq!(fused((&a, &b), |a, b| a - b).var(1.0)?, 1.0);
    /// assert!(fused((&a, &b), |a, b| a - b).var(3.0).is_err());
    /// assert!(fused(&Array1::<f64>::zeros(0), |x| *x).var(0.0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.var(a - b, ddof=1)` and `torch.var(a - b)`, which give NaN where `ddof` is not below the number of results.
    fn var(&self, ddof: A) -> Result<A>
    where
        A: VarElement,
    {
        let [_, variance] = means_and_variances(self, &.., ddof, "var")?;
        Ok(variance.into_scalar())
    }

    /// The standard deviation of all results: [`std_axes(.., ddof)`](Reduce::std_axes), with the same bits.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// assert_eq!(fused(&array![1_u8, 5], |&x| f64::from(x)).std(0.0)?, 2.0);
    /// assert_eq!(fused(&array![1e200, 5e200], |x| *x).std(0.0)?, 2e200);
    /// assert!(fused(&Array1::<f64>::zeros(0), |x| *x).std(0.0).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.std(x)`; `torch.std(x, correction=0)`.
    #[cfg(feature = "std")]
    fn std(&self, ddof: A) -> Result<A>
    where
        A: super::StdElement,
    {
        Ok(deviations(self, &.., ddof, "std")?.into_scalar())
    }

    /// The largest result: [`max_axes(..)`](Reduce::max_axes). A NaN is the result if there is one.
    ///
    /// # Errors
    /// As [`sum`](Self::sum), and then [`NoElements`](crate::ErrorKind::NoElements) where there is none.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, row) = (array![[1, -5], [3, 2]], array![2, 1]);
    /// assert_eq!(fused((&x, &row), |x, r| x * r).max()?, 6);
    /// assert!(fused(&Array1::<i32>::zeros(0), |x| *x).max().is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.max(x * row)` and `torch.amax(x * row)`; ndarray-stats' `linf_dist`, as a closure.
    fn max(&self) -> Result<A>
    where
        A: PartialOrd,
    {
        self.source(Maximum, |source| total_extreme::<A, D>(source, (&caller::MAX_AXES, "maximum")))
    }

    /// The smallest result: the counterpart of [`max`](Self::max).
    ///
    /// # Errors
    /// As [`max`](Self::max).
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array1};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// assert_eq!(fused(&array![1, -5, 3], |x| x * x).min()?, 1);
    /// assert!(fused(&Array1::<i32>::zeros(0), |x| *x).min().is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.min(x * x)` and `torch.amin(x * x)`.
    fn min(&self) -> Result<A>
    where
        A: PartialOrd,
    {
        self.source(Minimum, |source| total_extreme::<A, D>(source, (&caller::MIN_AXES, "minimum")))
    }

    /// Whether any result is true: [`any_axes(..)`](Reduce::any_axes). It stops early.
    ///
    /// # Errors
    /// As [`sum`](Self::sum). Without elements, the result is false.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let x = array![1.0, f64::NAN];
    /// assert!(fused(&x, |x| x.is_nan()).any()? && !fused(&x, |x| *x > 1.0).any()?);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.any(numpy.isnan(x))` and `torch.any`; `Iterator::any`.
    fn any(&self) -> Result<bool>
    where
        Self: Reduce<bool, D>,
    {
        Reduce::<bool, D>::source(self, Until::<true>, |source| total::<bool, D>(source, false))
    }

    /// Whether all results are true: [`all_axes(..)`](Reduce::all_axes). It stops early.
    ///
    /// # Errors
    /// As [`sum`](Self::sum). Without elements, the result is true.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, bound) = (array![[1.0, 2.0], [3.0, 1.0]], array![4.0, 2.0]);
    /// assert!(fused((&x, &bound), |x, b| x <= b).all()? && !fused((&x, &bound), |x, b| x < b).all()?);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.all(x <= bound)` and `torch.all`; `Iterator::all`; `numpy.allclose` with a closure that compares.
    fn all(&self) -> Result<bool>
    where
        Self: Reduce<bool, D>,
    {
        Reduce::<bool, D>::source(self, Until::<false>, |source| total::<bool, D>(source, true))
    }

    /// The number of true results: [`count_axes(..)`](Reduce::count_axes).
    ///
    /// # Errors
    /// As [`sum`](Self::sum). Without elements, the result is 0.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, bound) = (array![[1.0, 2.0], [3.0, 1.0]], array![4.0, 1.5]);
    /// assert_eq!(fused((&x, &bound), |x, b| x < b).count()?, 3);
    /// assert_eq!(fused((&x, &bound), |x, b| x < b).par().count()?, 3);
    /// assert!(fused((&x, &array![1.0, 2.0, 3.0]), |x, b| x < b).count().is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.count_nonzero(x < bound)`; `filter` and `count` of iterators; ndarray-stats' `count_eq` and `count_neq`, as
    /// closures.
    #[doc(alias("count_nonzero", "count_eq", "count_neq"))]
    fn count(&self) -> Result<usize>
    where
        Self: Counted<D>,
    {
        self.counted(|source| total::<usize, D>(source, 0))
    }

    /// All results combined by `op`: [`reduce_axes(.., identity, op)`](Reduce::reduce_axes).
    ///
    /// # Errors
    /// As [`sum`](Self::sum). A reduction of no elements is the identity.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (a, b) = (array![1.0_f64, 2.0, 4.0], array![0.0_f64, 2.0, 1.0]);
    /// assert_eq!(fused((&a, &b), |a, b| a + b).reduce(1.0, |x, y| x * y)?, 20.0);
    /// assert!(fused((&a, &array![1.0, 2.0]), |a, b| a + b).reduce(1.0, |x, y| x * y).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.prod(a + b)`; rayon's `map` and `reduce`.
    fn reduce<F: Fn(A, A) -> A + Sync>(&self, identity: A, op: F) -> Result<A> {
        self.source(&op, |source| total::<A, D>(source, identity))
    }
}

impl<O: FnOperands<F, R>, F, R: Clone> Totals<R, O::Dim> for Fused<O, F> {}

impl<O: FnOperands<F, R, Elems: Sync>, F: Sync, R: Clone + Send + Sync> Totals<R, O::Dim>
    for Par<Fused<O, F>>
{
}
