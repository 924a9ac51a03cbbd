//! Variances, and whether any or all elements are true.

use super::mean::means;
use super::parts::{for_each_part, memory_order};
use super::passes::{builder, source_shape};
use super::{MeanElement, Reduce, fused};
use crate::error::{Result, caller, fail};
use crate::kernel::nest::{Inputs, Source};
use crate::kernel::operation::Operation;
use crate::reserved::reserved;
use crate::shape::{ReducedAxes, reduced_dim};
use core::ops::Sub;
use ndarray::{Array, ArrayView, Axis, AxisDescription, Dimension, Slice};

/// Whether any element is true, if that is `FINAL`, or else whether all are.
#[derive(Clone, Copy)]
pub(super) struct Until<const FINAL: bool>;

impl<const FINAL: bool> Operation<bool> for Until<FINAL> {
    const IS_FINAL: Option<fn(&bool) -> bool> = Some(|result| *result == FINAL);

    #[inline(always)]
    fn apply(self, a: bool, b: bool) -> bool {
        if FINAL { a | b } else { a & b }
    }
}

/// The variances over axes.
///
/// # Errors
/// Those of [`means`], then `TooLarge`, then `NoMean`.
pub(super) fn variances<A, D, X>(source: &Source<'_, A>, axes: &X, ddof: A) -> Result<Array<A, X::Left>>
where
    A: MeanElement + Sub<Output = A> + PartialOrd,
    D: Dimension,
    X: ReducedAxes<D>,
{
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, &caller::VAR_AXES).axes(axes.numbers(shape.len()));
    let (result, reduced) = reduced_dim(shape, axes, builder)?;
    let means = means(source, axes, (&caller::VAR_AXES, "var_axes"))?;
    if means.is_empty() {
        return Ok(means);
    }
    let of_means = Inputs::from((&*means,));
    let mut sums = reserved(result, builder)?.filled(Some(&of_means.order()), A::zero());
    let count = reduced.named().map(|axis| shape[axis]).product();
    let freedom = A::from_usize(count).map(|count| count - ddof).filter(|freedom| *freedom > A::zero());
    let error = || fail!(builder(), NoMean, "expected `ddof` below the number of elements, {count}");
    let freedom = freedom.ok_or_else(error)?;
    let (mut of_part, mut added) = (means.view().into_dyn(), sums.view_mut().into_dyn());
    for axis in reduced.named().filter(|_| !X::KEEPS) {
        (of_part, added) = (of_part.insert_axis(Axis(axis)), added.insert_axis(Axis(axis)));
    }
    let order = memory_order(source, shape, |_| false);
    let (of_part, mut added) = (of_part.permuted_axes(&*order), added.permuted_axes(&*order));
    let squared = |x: &A, mean: &A| (x.clone() - mean.clone()) * (x.clone() - mean.clone());
    for_each_part(source, shape, &order, &reduced, |elements, sizes, bounds| {
        let part = |axis: AxisDescription| match bounds[order[axis.axis.index()]] {
            (start, len) if axis.len > 1 => Slice::from(start..start + len),
            _ => Slice::from(..),
        };
        let elements = ArrayView::from_shape(sizes, elements).expect("all elements of the part");
        let (means, mut sums) = (of_part.slice_each_axis(part), added.slice_each_axis_mut(part));
        fused((&elements, &means), squared).add_sum_to(&mut sums).expect("parts of one shape");
    });
    sums.map_inplace(|sum| *sum = sum.clone() / freedom.clone());
    Ok(sums)
}
