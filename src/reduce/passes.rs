//! Checks of shapes, and then a pass over the source. Nothing here is generic over closures: it is compiled once for each
//! type of elements.

use crate::error::caller::{self, Caller};
use crate::error::{ErrorBuilder, Result};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{AxisSelection, Store};
use crate::kernel::reduce::{into, to_new};
use crate::kernel::source::{Added, Source};
use crate::reserved::reserved;
use crate::shape::{
    Axes, AxisMask, ReducedAxes, TargetShape, axis_numbers, check_sums, checked_joint_dim, placed_sum_order,
    reduced_dim, sizes, sizes_only,
};
use core::ops::Deref;
use ndarray::{Array, ArrayRef, Dimension};

/// The shape of a source. That of a single array is borrowed, because a copy of a dynamic shape may allocate.
pub(super) enum SourceShape<'a, D> {
    Borrowed(&'a [usize]),
    Joint(D),
}

impl<D: Dimension> Deref for SourceShape<'_, D> {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        match self {
            SourceShape::Borrowed(shape) => shape,
            SourceShape::Joint(dim) => sizes(dim),
        }
    }
}

/// The shape of a source.
///
/// # Errors
/// `Incompatible` and `Overflow`.
#[inline]
pub(super) fn source_shape<'a, A: Clone, D: Dimension>(source: &Source<'a, A>) -> Result<SourceShape<'a, D>> {
    match *source.shapes() {
        [shape] => Ok(SourceShape::Borrowed(shape)),
        ref shapes => checked_joint_dim(shapes).map(SourceShape::Joint),
    }
}

/// The builder of an error: the caller and the shapes of the source.
#[cold]
pub(super) fn builder<A: Clone>(source: &Source<'_, A>, caller: &'static Caller) -> ErrorBuilder {
    ErrorBuilder::new(caller, source.shapes())
}

/// A reduction whose shapes were checked: the shape of the source, and the axes that the result does not have. Without a set,
/// these are the leading ones.
pub(super) struct CheckedReduction<'a, D> {
    pub(super) shape: SourceShape<'a, D>,
    removed: Option<AxisMask>,
}

impl<'a, D: Dimension> CheckedReduction<'a, D> {
    /// A reduction over axes, and memory for its result.
    ///
    /// # Errors
    /// Those of [`source_shape`] and of [`reduced_dim`], then `TooLarge`.
    #[inline(always)]
    pub(super) fn over_axes<A: Clone, X: ReducedAxes<D>>(
        source: &Source<'a, A>,
        axes: &X,
        caller: &'static Caller,
    ) -> Result<(Self, Reserved<A, X::Left>)> {
        let shape = source_shape(source)?;
        let builder = || builder(source, caller).axes(axes.numbers(shape.len()));
        let (result, reduced) = reduced_dim(&shape, axes, builder)?;
        let result = reserved(result, builder)?;
        let removed = if X::KEEPS { None } else { Some(reduced) };
        Ok((Self { shape, removed }, result))
    }

    /// A reduction to the shape of a target, and memory for its result.
    ///
    /// # Errors
    /// In this order: those of [`source_shape`]; `InvalidSize`; those of [`check_sums`]; `TooLarge`.
    pub(super) fn to_shape<A: Clone, T: TargetShape>(
        source: &Source<'a, A>,
        target: &T,
        caller: &'static Caller,
    ) -> Result<(Self, Reserved<A, T::Dim>)> {
        let shape = source_shape(source)?;
        let builder = || builder(source, caller).to(&target.for_message());
        let result = sizes_only(target, builder)?;
        check_sums(&shape, sizes(&result), builder, || source.shapes().to_vec())?;
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
        to_new(source, &self.shape, result, removed, empty)
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
    let (reduction, result) = CheckedReduction::<D>::over_axes(source, axes, caller)?;
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
    let (reduction, result) = CheckedReduction::<D>::to_shape(source, target, caller)?;
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
    let shape = source_shape::<A, D>(source)?;
    let builder = || builder(source, &caller::SUM_TO).to(&out.shape());
    check_sums(&shape, out.shape(), builder, || source.shapes().to_vec())?;
    into(source, &shape, out, None, zero, store);
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
    let shape = source_shape::<A, D>(source)?;
    let builder = || builder(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes)).to(&target.for_message());
    let result = sizes_only(target, builder)?;
    let order: D = placed_sum_order(&shape, sizes(&result), axes, builder)?;
    let result = reserved(result, builder)?;
    Ok(source.in_order(&shape, sizes(&order), |source, shape| to_new(source, shape, result, None, zero)))
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
    let shape = source_shape::<A, D>(source)?;
    let builder = || builder(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes)).to(&out.shape());
    let order: D = placed_sum_order(&shape, out.shape(), axes, builder)?;
    source.in_order(&shape, sizes(&order), |source, shape| into(source, shape, out, None, &A::zero(), Added));
    Ok(())
}
