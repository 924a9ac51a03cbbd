//! Variances, and whether any or all elements are true.

use super::mean::means;
use super::passes::{builder, source_shape};
use super::{MeanElement, Reduce, fused};
use crate::error::{Result, caller, fail};
use crate::kernel::nest::Inputs;
use crate::kernel::operation::{Operation, Plus};
use crate::reserved::reserved;
use crate::shape::{AxisMask, ReducedAxes, reduced_dim};
use crate::view::{Bounds, part};
use alloc::vec::Vec;
use core::iter::zip;
use core::ops::Sub;
use ndarray::{Array, ArrayViewD, Axis, Dimension, indices};

/// The most elements of a part: the results of a closure are stored.
const PART: usize = 1 << 16;
/// Longer axes of a part are halved before those inside of them, so that its rows are long.
const LONG: usize = 16;

/// What is called with the elements of a part of a source.
pub(super) type Then<'t, A> = &'t mut dyn FnMut(ArrayViewD<'_, A>) -> Result<()>;

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
pub(super) fn variances<A, D, X>(
    of: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    ddof: A,
) -> Result<Array<A, X::Left>>
where
    A: MeanElement + Sub<Output = A> + PartialOrd,
    D: Dimension,
    X: ReducedAxes<D>,
{
    let squared = |x: &A, mean: &A| (x.clone() - mean.clone()) * (x.clone() - mean.clone());
    of.source(Plus, |source| {
        let mut joint = None::<D>;
        let shape = source_shape(source, &mut joint)?;
        let builder = || builder(source, &caller::VAR_AXES).axes(axes.numbers(shape.len()));
        let (result, reduced) = reduced_dim(shape, axes, builder)?;
        let means = means(source, axes, (&caller::VAR_AXES, "var_axes"))?;
        if means.is_empty() {
            return Ok(means);
        }
        let order = Inputs::from((&*means,));
        let mut sums = reserved(result, builder)?.filled(Some(&*order), A::zero());
        let count = reduced.named().map(|axis| shape[axis]).product();
        let freedom = A::from_usize(count).map(|count| count - ddof).filter(|freedom| *freedom > A::zero());
        let error = || fail!(builder(), NoMean, "expected `ddof` below the number of elements, {count}");
        let freedom = freedom.ok_or_else(error)?;
        let (mut of_part, mut added) = (means.view().into_dyn(), sums.view_mut().into_dyn());
        // a result without axes needs none
        let has_axes = of_part.ndim() > 0;
        for axis in reduced.named().filter(|_| has_axes && !X::KEEPS) {
            (of_part, added) = (of_part.insert_axis(Axis(axis)), added.insert_axis(Axis(axis)));
        }
        // elements that are stored are one part
        let most = if source.is_stored() { usize::MAX } else { PART };
        for_each_part(shape, &reduced, most, |bounds| {
            let means = of_part.slice_each_axis(part(bounds, of_part.ndim()));
            let mut sums = added.slice_each_axis_mut(part(bounds, means.ndim()));
            of.visit(bounds, &mut |elements| fused((&elements, &means), squared).add_sum_to(&mut sums))
        })?;
        sums.map_inplace(|sum| *sum = sum.clone() / freedom.clone());
        Ok(sums)
    })
}

/// Calls `then` with the bounds of each part of a shape, which has at most so many elements.
fn for_each_part(
    shape: &[usize],
    reduced: &AxisMask,
    most: usize,
    mut then: impl FnMut(&[Bounds]) -> Result<()>,
) -> Result<()> {
    // The outermost long axis is halved, or else the longest. Of the reduced axes, it is the outermost.
    let mut steps = shape.to_vec();
    while steps.iter().product::<usize>() > most {
        let outermost = reduced.named().find(|&axis| steps[axis] > 1);
        let candidates =
            || (0..shape.len()).filter(|&axis| !reduced.contains(axis) || Some(axis) == outermost);
        let halved = candidates()
            .find(|&axis| steps[axis] > LONG)
            .or_else(|| candidates().max_by_key(|&axis| steps[axis]));
        let halved = halved.expect("an axis longer than 1");
        steps[halved] = steps[halved].div_ceil(2);
    }
    let counts: Vec<usize> = zip(shape, &steps).map(|(len, step)| len.div_ceil(*step)).collect();
    for at in indices(counts) {
        let starts = (0..shape.len()).map(|axis| (axis, at[axis] * steps[axis]));
        let bounds: Vec<Bounds> =
            starts.map(|(axis, start)| (start, steps[axis].min(shape[axis] - start))).collect();
        then(&bounds)?;
    }
    Ok(())
}
