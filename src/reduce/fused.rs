//! The results of a closure over broadcast operands, as a source of reductions.

use crate::map::{FnOperands, Par};

/// The results of `f` for the elements of 1 to 6 operands, stretched to their joint shape: a source of every reduction of
/// [`Reduce`](crate::Reduce), without an array of these results.
///
/// `f` is called with a reference to an element of each operand, in the order that suits memory, and once or more often for
/// each index. So its result should depend on these elements alone.
///
/// # Shapes
/// As [`broadcast_map`](crate::broadcast_map): aligned at the right, size 1 stretches. One operand needs no
/// tuple, and operands of one type may be an array `[&x, &y]`.
///
/// # Errors
/// None. A reduction first has [`Incompatible`](crate::ErrorKind::Incompatible) and [`Overflow`](crate::ErrorKind::Overflow)
/// where the operands have no joint shape.
///
/// # Examples
/// ```
/// use ndarray::{array, Array1, Array2};
/// use ndarray_broadcast::{fused, keepdims, prelude::*};
///
/// // y = x * weight: the gradient of the weight sums over the axis along which the weight was repeated
/// let (x, weight) = (array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], array![10.0, 20.0]);
/// let (of_y, mut of_weight) = (array![[1.0], [0.0], [2.0]], Array1::zeros(2));
/// fused((&of_y, &x), |g, x| g * x).add_sum_to(&mut of_weight)?;
/// assert_eq!(of_weight, array![11.0, 14.0]);
///
/// let squares: Array1<f64> = fused((&x, &weight), |x, w| (x - w) * (x - w)).sum_axes(1)?;
/// assert_eq!(squares, array![405.0, 305.0, 221.0]);
/// let apart: Array2<f64> = fused((&x, &weight), |x, w| f64::abs(x - w)).max_axes(keepdims(-1))?;
/// assert_eq!(apart, array![[18.0], [16.0], [14.0]]);
/// let large: Array1<usize> = fused(&x, |&x| usize::from(x > 2.0)).sum_to(&weight)?;
/// assert_eq!(large, array![2, 2]);
///
/// assert_eq!(
///     fused((&x, &weight), |x, w| x * w).sum_to(3).unwrap_err().to_string(),
///     "cannot broadcast shapes [3, 2] and [2] together and sum to [3]: \
///      axis 1 has sizes 2 and 3, expected equal sizes or 1 in the target",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
/// A number is not an operand: capture it in the closure.
/// ```compile_fail,E0277
/// use ndarray_broadcast::{fused, prelude::*};
///
/// fused((&ndarray::array![1.0, 2.0], 2.0), |x, y| x * y).sum_axes(0).unwrap();
/// ```
///
/// # Equivalents
/// `numpy.einsum` where `f` is a product; a sum of `f.(x, y)` in Julia, without the temporary; rayon's `map` before
/// `reduce`. Norms, weighted sums, distances of ndarray-stats such as `sq_l2_dist`, softmax, and the distances of
/// [all pairs](crate::guide::recipes#distances-of-all-pairs) (`cdist`) are a line or two each: see the
/// [recipes](crate::guide::recipes).
#[doc(alias("weighted_sum", "count_eq", "sq_l2_dist", "l1_dist", "mean_sq_err", "reduce_sum_square"))]
pub fn fused<O: FnOperands<F, R>, F, R>(operands: O, f: F) -> Fused<O, F> {
    Fused { operands, f }
}

/// The results of a closure over broadcast operands, made by [`fused`]: reduced by the methods of [`Reduce`](crate::Reduce).
#[derive(Clone, Copy)]
#[must_use = "a source is only read when it is reduced"]
pub struct Fused<O, F> {
    pub(super) operands: O,
    pub(super) f: F,
}

impl<O, F> Fused<O, F> {
    /// The same results, reduced on several threads: see [`Par`].
    ///
    /// # Examples
    /// ```
    /// use ndarray::{Array1, Array2};
    /// use ndarray_broadcast::{fused, prelude::*};
    ///
    /// let (x, w) = (Array2::<f64>::ones((300, 400)), Array1::<f64>::ones(400));
    /// assert_eq!(fused((&x, &w), |x, w| x * w).par().sum_to(&w)?, Array1::from_elem(400, 300.0));
    /// assert!(fused((&x, &w), |x, w| x * w).par().sum_to(3).is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    pub fn par(self) -> Par<Self> {
        Par(self)
    }
}
