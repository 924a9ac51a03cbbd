//! Checks of shapes, and then a pass over the source. Nothing here is generic over closures: it is compiled once for each
//! type of elements.

use super::SumElement;
use super::parts::whole;
use crate::error::caller::{self, Caller};
use crate::error::{ErrorBuilder, NewBuilder, Result};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Added, AxisSelection, Dropped, Source, Store};
use crate::kernel::reduce::{into, to_new, to_one};
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
pub(super) fn source_shape<'j, A: Clone, D: Dimension>(
    source: &Source<'j, A>,
    joint: &'j mut Option<D>,
) -> Result<&'j [usize]> {
    match *source.shapes() {
        [shape, ref others @ ..] if others.iter().all(|own| own.iter().eq(shape)) => Ok(shape),
        ref shapes => checked_joint_dim(shapes).map(|dim| sizes(joint.insert(dim))),
    }
}

/// The builder of an error: the caller and the shapes of the source.
pub(super) fn builder<A: Clone>(source: &Source<'_, A>, caller: &'static Caller) -> ErrorBuilder {
    ErrorBuilder::new(caller, source.shapes())
}

impl AxisSelection for AxisMask {
    #[inline(always)]
    fn contains(&self, axis: usize) -> bool {
        self.contains(axis)
    }
}

/// The operation of a method as errors describe it, and a word for it.
pub(super) type Words = (&'static Caller, &'static str);

/// The shape of a result, and the axes of the source that it does not have. Without a set, these are the leading ones.
type Checked<L> = Result<(L, Option<AxisMask>)>;

/// The axes that a source with dimension type `D` loses: stated as axes, or as a target, [`To`].
pub(super) trait Form<D: Dimension> {
    /// The dimension type of the result.
    type Left: Dimension;

    /// Adds the form to the builder of an error; the source has `ndim` axes.
    fn describe(&self, builder: ErrorBuilder, ndim: usize) -> ErrorBuilder;

    /// Checks a source with this shape.
    fn check(&self, shape: &[usize], builder: impl Fn() -> ErrorBuilder) -> Checked<Self::Left>;
}

impl<D: Dimension, X: ReducedAxes<D>> Form<D> for X {
    type Left = X::Left;

    fn describe(&self, builder: ErrorBuilder, ndim: usize) -> ErrorBuilder {
        builder.axes(self.numbers(ndim))
    }

    /// # Errors
    /// Those of [`reduced_dim`].
    #[inline(always)]
    fn check(&self, shape: &[usize], builder: impl Fn() -> ErrorBuilder) -> Checked<X::Left> {
        let (result, reduced) = reduced_dim(shape, self, builder)?;
        // without axes in the result, all are leading ones
        let removed = (!X::KEEPS && !sizes(&result).is_empty()).then_some(reduced);
        Ok((result, removed))
    }
}

/// A target: a broadcast from it repeats the axes that are reduced.
pub(super) struct To<T>(pub(super) T);

impl<D: Dimension, T: TargetShape> Form<D> for To<T> {
    type Left = T::Dim;

    fn describe(&self, builder: ErrorBuilder, _: usize) -> ErrorBuilder {
        builder.to(&self.0.for_message())
    }

    /// # Errors
    /// `InvalidSize`, then those of [`check_sums`].
    #[inline(always)]
    fn check(&self, shape: &[usize], builder: impl Fn() -> ErrorBuilder) -> Checked<T::Dim> {
        let result = sizes_only(&self.0, &builder)?;
        check_sums(shape, sizes(&result), builder)?;
        Ok((result, None))
    }
}

/// Reduces a source; `empty` is the result where there is no element.
///
/// # Errors
/// Those of [`checked`].
pub(super) fn reduce<A: Clone, D: Dimension, F: Form<D>>(
    source: &Source<'_, A>,
    form: &F,
    caller: &'static Caller,
    empty: A,
) -> Result<Array<A, F::Left>> {
    checked(source, form, caller, |shape, removed, result, _| {
        Ok(to_new(source, shape, result, removed, empty))
    })
}

/// Reduces all of a source to one element, with the bits of an array for it; `empty` is the result where there is no element.
///
/// # Errors
/// Those of [`source_shape`].
pub(super) fn total<A: Clone, D: Dimension>(source: &Source<'_, A>, empty: A) -> Result<A> {
    let mut joint = None::<D>;
    Ok(to_one(source, source_shape(source, &mut joint)?, empty))
}

/// Checks the shapes of a reduction. Calls `then` with the shape of the source, the axes that the result does not have
/// (without a set, the leading ones), memory for the result, and a function that builds an error.
///
/// # Errors
/// Those of [`source_shape`] and of [`Form::check`], `TooLarge`, then those of `then`.
#[inline(always)]
pub(super) fn checked<A: Clone, D: Dimension, F: Form<D>>(
    source: &Source<'_, A>,
    form: &F,
    caller: &'static Caller,
    then: impl FnOnce(&[usize], Dropped<'_>, Reserved<A, F::Left>, NewBuilder<'_>) -> Result<Array<A, F::Left>>,
) -> Result<Array<A, F::Left>> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || form.describe(builder(source, caller), shape.len());
    let (result, removed) = form.check(shape, builder)?;
    let (result, removed) = (reserved(result, builder)?, removed.as_ref().map(|mask| mask as _));
    then(shape, removed, result, &builder)
}

/// Sums to the shape of an array. `store` writes a sum to an element.
///
/// # Errors
/// Those of [`source_shape`] and of [`check_sums`].
pub(super) fn sum_into<A: SumElement, D: Dimension, E: Dimension>(
    source: &Source<'_, A>,
    out: &mut ArrayRef<A, E>,
    store: impl Store<A>,
) -> Result<()> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, &caller::SUM_TO).to(&out.shape());
    check_sums(shape, out.shape(), builder)?;
    into(source, shape, out, None, &A::zero(), store);
    Ok(())
}

/// Sums to a target whose axis `i` is axis `axes[i]` of the source.
///
/// # Errors
/// In this order: those of [`source_shape`]; `InvalidSize`; those of [`placed_sum_order`]; `TooLarge`.
pub(super) fn sum_in_dim<A: SumElement, D: Dimension, T: TargetShape, X: Axes>(
    source: &Source<'_, A>,
    target: &T,
    axes: &X,
) -> Result<Array<A, T::Dim>> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes)).to(&target.for_message());
    let result = sizes_only(target, builder)?;
    let order: D = placed_sum_order(shape, sizes(&result), axes, builder)?;
    let result = reserved(result, builder)?;
    let sum = |source: &Source<'_, A>, shape: &[usize]| to_new(source, shape, result, None, A::zero());
    Ok(source.permuted(shape, sizes(&order), &whole(shape), sum))
}

/// Adds the sums of [`sum_in_dim`] to an array.
///
/// # Errors
/// Those of [`source_shape`] and of [`placed_sum_order`].
pub(super) fn add_sum_in_dim<A: SumElement, D: Dimension, E: Dimension, X: Axes>(
    source: &Source<'_, A>,
    out: &mut ArrayRef<A, E>,
    axes: &X,
) -> Result<()> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, &caller::SUM_IN_DIM).axes(axis_numbers(axes)).to(&out.shape());
    let order: D = placed_sum_order(shape, out.shape(), axes, builder)?;
    source.permuted(shape, sizes(&order), &whole(shape), |source, shape| {
        into(source, shape, out, None, &A::zero(), Added);
    });
    Ok(())
}
