//! Checks of shapes, and then a pass over the source. Nothing here is generic over closures: it is compiled once for each
//! type of elements.

use crate::error::caller::{self, Caller};
use crate::error::{ErrorBuilder, Result};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Added, Source};
use crate::kernel::nest::{AxisSelection, Store};
use crate::kernel::reduce::{into, to_new};
use crate::reserved::reserved;
use crate::shape::{
    Axes, AxisMask, ReducedAxes, TargetShape, axis_numbers, check_sums, checked_joint_dim, placed_sum_order,
    reduced_dim, sizes, sizes_only,
};
use ndarray::{Array, ArrayRef, Dimension};

/// The shape of a source: that of a single array, or the joint one, which is in `joint` then. A copy of a dynamic shape may allocate.
///
/// # Errors
/// `Incompatible` and `Overflow`.
#[inline]
pub(super) fn source_shape<'j, A: Clone, D: Dimension>(
    source: &Source<'j, A>,
    joint: &'j mut Option<D>,
) -> Result<&'j [usize]> {
    match *source.shapes() {
        [shape] => Ok(shape),
        ref shapes => checked_joint_dim(shapes).map(|dim| sizes(joint.insert(dim))),
    }
}

/// The builder of an error: the caller and the shapes of the source.
#[cold]
pub(super) fn builder<A: Clone>(source: &Source<'_, A>, caller: &'static Caller) -> ErrorBuilder {
    ErrorBuilder::new(caller, source.shapes())
}

/// A reduction whose shapes were checked: the shape of the source, and the axes that the result does not have. Without a set,
/// these are the leading ones.
pub(super) struct CheckedReduction<'a> {
    pub(super) shape: &'a [usize],
    removed: Option<AxisMask>,
}

impl<'a> CheckedReduction<'a> {
    /// A reduction over axes, and memory for its result.
    ///
    /// # Errors
    /// Those of [`source_shape`] and of [`reduced_dim`], then `TooLarge`.
    #[inline(always)]
    pub(super) fn over_axes<A: Clone, D: Dimension, X: ReducedAxes<D>>(
        source: &Source<'a, A>,
        joint: &'a mut Option<D>,
        axes: &X,
        caller: &'static Caller,
    ) -> Result<(Self, Reserved<A, X::Left>)> {
        let shape = source_shape(source, joint)?;
        let builder = || builder(source, caller).axes(axes.numbers(shape.len()));
        let (result, reduced) = reduced_dim(shape, axes, builder)?;
        let result = reserved(result, builder)?;
        // without axes in the result, all are leading ones
        let removed = (!X::KEEPS && !result.shape().is_empty()).then_some(reduced);
        Ok((Self { shape, removed }, result))
    }

    /// A reduction to the shape of a target, and memory for its result.
    ///
    /// # Errors
    /// In this order: those of [`source_shape`]; `InvalidSize`; those of [`check_sums`]; `TooLarge`.
    pub(super) fn to_shape<A: Clone, D: Dimension, T: TargetShape>(
        source: &Source<'a, A>,
        joint: &'a mut Option<D>,
        target: &T,
        caller: &'static Caller,
    ) -> Result<(Self, Reserved<A, T::Dim>)> {
        let shape = source_shape(source, joint)?;
        let builder = || builder(source, caller).to(&target.for_message());
        let result = sizes_only(target, builder)?;
        check_sums(shape, sizes(&result), builder, || source.shapes().to_vec())?;
        Ok((Self { shape, removed: None }, reserved(result, builder)?))
    }

    /// Reduces the source; `empty` is the result where there is no element.
    pub(super) fn run<A: Clone, E: Dimension>(
        &self,
        source: &Source<'_, A>,
        result: Reserved<A, E>,
        empty: A,
    ) -> Array<A, E> {
        let removed = self.removed.as_ref().map(|mask| mask as _);
        to_new(source, self.shape, result, removed, empty)
    }
}

impl AxisSelection for AxisMask {
    #[inline(always)]
    fn contains(&self, axis: usize) -> bool {
        self.contains(axis)
    }
}

/// Reduces over axes.
///
/// # Errors
/// Those of [`CheckedReduction::over_axes`].
pub(super) fn reduce_axes<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &Source<'_, A>,
    axes: &X,
    caller: &'static Caller,
    empty: A,
) -> Result<Array<A, X::Left>> {
    let mut joint = None::<D>;
    let (reduction, result) = CheckedReduction::over_axes(source, &mut joint, axes, caller)?;
    Ok(reduction.run(source, result, empty))
}

/// Reduces to the shape of a target.
///
/// # Errors
/// Those of [`CheckedReduction::to_shape`].
pub(super) fn reduce_to<A: Clone, D: Dimension, T: TargetShape>(
    source: &Source<'_, A>,
    target: &T,
    caller: &'static Caller,
    empty: A,
) -> Result<Array<A, T::Dim>> {
    let mut joint = None::<D>;
    let (reduction, result) = CheckedReduction::to_shape(source, &mut joint, target, caller)?;
    Ok(reduction.run(source, result, empty))
}

/// Sums to the shape of an array. `store` writes a sum to an element.
///
/// # Errors
/// Those of [`source_shape`] and of [`check_sums`].
pub(super) fn sum_into<A: Clone, D: Dimension, E: Dimension>(
    source: &Source<'_, A>,
    out: &mut ArrayRef<A, E>,
    zero: &A,
    store: impl Store<A>,
) -> Result<()> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, &caller::SUM_TO).to(&out.shape());
    check_sums(shape, out.shape(), builder, || source.shapes().to_vec())?;
    into(source, shape, out, None, zero, store);
    Ok(())
}

/// Sums to a target whose axis `i` is axis `axes[i]` of the source.
///
/// # Errors
/// In this order: those of [`source_shape`]; `InvalidSize`; those of [`placed_sum_order`]; `TooLarge`.
pub(super) fn sum_in_dim<A: Clone, D: Dimension, T: TargetShape, X: Axes>(
    source: &Source<'_, A>,
    target: &T,
    axes: &X,
    zero: A,
) -> Result<Array<A, T::Dim>> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes)).to(&target.for_message());
    let result = sizes_only(target, builder)?;
    let order: D = placed_sum_order(shape, sizes(&result), axes, builder)?;
    let result = reserved(result, builder)?;
    Ok(source.in_order(shape, sizes(&order), |source, shape| to_new(source, shape, result, None, zero)))
}

/// Adds the sums of [`sum_in_dim`] to an array.
///
/// # Errors
/// Those of [`source_shape`] and of [`placed_sum_order`].
pub(super) fn add_sum_in_dim<A: Clone + num_traits::Zero, D: Dimension, E: Dimension, X: Axes>(
    source: &Source<'_, A>,
    out: &mut ArrayRef<A, E>,
    axes: &X,
) -> Result<()> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes)).to(&out.shape());
    let order: D = placed_sum_order(shape, out.shape(), axes, builder)?;
    source.in_order(shape, sizes(&order), |source, shape| into(source, shape, out, None, &A::zero(), Added));
    Ok(())
}
