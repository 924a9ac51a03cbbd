//! A source, its shapes and a pass over it. Nothing here knows a closure: it is compiled once for a type of elements.

use crate::error::caller::{self, Caller};
use crate::error::{ErrorBuilder, Result};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Visit;
use crate::kernel::reduce::{into, to_new};
use crate::kernel::source::{Added, Source};
use crate::map::joint;
use crate::shape::{
    Axes, AxisMask, ReducedAxes, TargetShape, axis_numbers, check_sums_to, over_reduced, placed_sum,
    placed_sum_target, sizes, sum_target,
};
use core::ops::Deref;
use ndarray::{Array, ArrayRef, Dimension};

/// The shape of a source: borrowed if it is that of one array, because a copy of a dynamic one may allocate.
pub(super) enum Joint<'a, D> {
    OfOne(&'a [usize]),
    OfAll(D),
}

impl<D: Dimension> Deref for Joint<'_, D> {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        match self {
            Joint::OfOne(shape) => shape,
            Joint::OfAll(dim) => sizes(dim),
        }
    }
}

/// The shape of a source.
///
/// # Errors
/// `Incompatible` and `Overflow`.
#[inline]
pub(super) fn joint_of<'a, A: Clone, D: Dimension>(source: &Source<'a, A>) -> Result<Joint<'a, D>> {
    match *source.shapes() {
        [shape] => Ok(Joint::OfOne(shape)),
        ref shapes => joint(shapes).map(Joint::OfAll),
    }
}

/// An operation on a source.
#[cold]
pub(super) fn request<A: Clone>(source: &Source<'_, A>, operation: &'static Caller) -> ErrorBuilder {
    ErrorBuilder::new(operation, source.shapes())
}

/// The shape of a source, and the axes of it that the result of a reduction does not have; without a set, the leading ones.
pub(super) struct Shapes<'a, D> {
    pub(super) joint: Joint<'a, D>,
    dropped: Option<AxisMask>,
}

impl<'a, D: Dimension> Shapes<'a, D> {
    /// Those of a reduction over axes, and its result.
    ///
    /// # Errors
    /// Those of [`joint_of`] and of [`over_reduced`].
    pub(super) fn over_axes<A: Clone, X: ReducedAxes<D>>(
        source: &Source<'a, A>,
        axes: &X,
        operation: &'static Caller,
    ) -> Result<(Self, Reserved<A, X::Left>)> {
        let joint = joint_of(source)?;
        let (result, reduced) = over_reduced(&joint, axes, || request(source, operation))?;
        let dropped = if X::KEEPS { None } else { Some(reduced) };
        Ok((Self { joint, dropped }, result))
    }

    /// Those of a reduction to the shape of a target, and its result.
    ///
    /// # Errors
    /// Those of [`joint_of`] and of [`sum_target`].
    pub(super) fn to_shape<A: Clone, T: TargetShape>(
        source: &Source<'a, A>,
        target: &T,
        operation: &'static Caller,
    ) -> Result<(Self, Reserved<A, T::Dim>)> {
        let joint = joint_of(source)?;
        let result = sum_target(&joint, target, operation, || source.shapes().to_vec())?;
        Ok((Self { joint, dropped: None }, result))
    }

    /// The results; `empty` where there is no element.
    pub(super) fn reduce<A: Clone, E: Dimension>(
        &self,
        source: &Source<'_, A>,
        result: Reserved<A, E>,
        empty: A,
    ) -> Array<A, E> {
        let dropped = self.dropped.as_ref().map(|mask| mask as _);
        to_new(source, &self.joint, result, dropped, empty)
    }
}

/// Reduces over axes.
///
/// # Errors
/// Those of [`Shapes::over_axes`].
pub(super) fn over_axes<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &Source<'_, A>,
    axes: &X,
    operation: &'static Caller,
    empty: A,
) -> Result<Array<A, X::Left>> {
    let (shapes, result) = Shapes::<D>::over_axes(source, axes, operation)?;
    Ok(shapes.reduce(source, result, empty))
}

/// Reduces to the shape of a target.
///
/// # Errors
/// Those of [`Shapes::to_shape`].
pub(super) fn to_shape<A: Clone, D: Dimension, T: TargetShape>(
    source: &Source<'_, A>,
    target: &T,
    operation: &'static Caller,
    empty: A,
) -> Result<Array<A, T::Dim>> {
    let (shapes, result) = Shapes::<D>::to_shape(source, target, operation)?;
    Ok(shapes.reduce(source, result, empty))
}

/// Sums to an array, into whose elements `store` puts the results.
///
/// # Errors
/// Those of [`joint_of`] and of [`check_sums_to`].
pub(super) fn onto<A: Clone, D: Dimension, E: Dimension>(
    source: &Source<'_, A>,
    out: &mut ArrayRef<A, E>,
    zero: &A,
    store: impl Visit<A, (A,)> + Copy,
) -> Result<()> {
    let joint = joint_of::<A, D>(source)?;
    check_sums_to(&joint, out.shape(), || request(source, &caller::SUM_TO), || source.shapes().to_vec())?;
    into(source, &joint, out, None, zero, store);
    Ok(())
}

/// Sums to a shape whose axes are `axes` of the source.
///
/// # Errors
/// Those of [`joint_of`] and of [`placed_sum_target`].
pub(super) fn in_dim<A: Clone, D: Dimension, T: TargetShape, X: Axes>(
    source: &Source<'_, A>,
    shape: &T,
    axes: &X,
    zero: A,
) -> Result<Array<A, T::Dim>> {
    let joint = joint_of::<A, D>(source)?;
    let request = || request(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes));
    let (result, order) = placed_sum_target::<_, D, _, _>(&joint, shape, axes, request)?;
    Ok(source.in_order(&joint, sizes(&order), |source, shape| to_new(source, shape, result, None, zero)))
}

/// Adds the sums of [`in_dim`] to an array.
///
/// # Errors
/// Those of [`joint_of`] and of [`placed_sum`].
pub(super) fn add_in_dim<A: Clone + num_traits::Zero, D: Dimension, E: Dimension, X: Axes>(
    source: &Source<'_, A>,
    out: &mut ArrayRef<A, E>,
    axes: &X,
) -> Result<()> {
    let joint = joint_of::<A, D>(source)?;
    let request = || request(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes)).to(&out.shape());
    let order: D = placed_sum(&joint, out.shape(), axes, request)?;
    source.in_order(&joint, sizes(&order), |source, shape| into(source, shape, out, None, &A::zero(), Added));
    Ok(())
}
