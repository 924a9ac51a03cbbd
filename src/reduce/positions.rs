//! Positions of extremes, in two passes: the extreme of each lane, and then the first element that equals it.
//!
//! The second pass visits parts of the source, and reduces a rank for each element. Ranks fall along a lane, and are 0 for elements
//! that do not equal the extreme, so the largest rank is that of the first element that does. Few elements are compared one by one.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]
#![allow(clippy::needless_bitwise_bool, reason = "a mask is vectorised, and a choice is not")]

use super::extreme::{check_elements, extremes};
use super::passes::{Words, builder, source_shape};
use super::{Reduce, fused};
use crate::error::Result;
use crate::kernel::nest::Source;
use crate::kernel::reduce::to_new;
use crate::reserved::reserved;
use crate::shape::{AxisMask, ReducedAxes, reduced_dim, with_base};
use crate::view::{Bounds, part};
use alloc::vec::Vec;
use core::iter::zip;
use ndarray::{Array, ArrayRef, ArrayView, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn, indices};

/// The most elements that are compared one by one. Measured on 2026-11-28 with f32 and f64 on Zen 4: from 500 to 2,000 elements,
/// both ways take about as long.
const FEW: usize = 1 << 10;
/// The most elements of a part: its ranks are stored, and so are the results of a closure.
pub(super) const PART: usize = 1 << 16;
/// Longer axes of a part are halved before those inside of them, so that its rows are long.
const LONG: usize = 16;

/// What calls its argument with the elements of a part of a source.
pub(super) type VisitPart<'v, A> = &'v dyn Fn(&[Bounds], Then<'_, A>) -> Result<()>;
/// What is called with the elements of a part of a source.
pub(super) type Then<'t, A> = &'t mut dyn FnMut(ArrayViewD<'_, A>) -> Result<()>;

/// The positions of the elements that exceed all others, which the operation of the source finds.
///
/// # Errors
/// Those of [`extremes`], for the positions as well.
pub(super) fn positions<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &Source<'_, A>,
    visit: VisitPart<'_, A>,
    axes: &X,
    exceeds: impl Fn(&A, &A) -> bool,
    words: Words,
) -> Result<Array<usize, X::Left>> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    let builder = || builder(source, words.0).axes(axes.numbers(shape.len()));
    let (result, reduced) = reduced_dim(shape, axes, builder)?;
    let result = reserved(result, builder)?;
    check_elements(shape, result.len(), words.1, &builder)?;
    let lane: usize = reduced.named().map(|axis| shape[axis]).product();
    let mut positions = result.filled(None, lane.saturating_sub(1));
    if positions.is_empty() {
        return Ok(positions);
    }
    if shape.iter().product::<usize>() > FEW {
        let largest = extremes(source, axes, words)?;
        let (mut extremes, mut found) = (largest.view().into_dyn(), positions.view_mut().into_dyn());
        for axis in reduced.named().filter(|_| !X::KEEPS) {
            (extremes, found) = (extremes.insert_axis(Axis(axis)), found.insert_axis(Axis(axis)));
        }
        search(shape, &reduced, &extremes, found, visit)?;
        return Ok(positions);
    }
    let mut order = D::zeros(shape.len());
    for (place, axis) in zip(order.slice_mut(), reduced.unnamed().chain(reduced.named())) {
        *place = axis;
    }
    let whole: D = with_base(shape, &[]);
    let elements = to_new(source, shape, reserved(whole, builder)?, None, source.first());
    let elements = elements.permuted_axes(order);
    let mut elements = elements.iter();
    for position in &mut positions {
        *position = first(elements.by_ref().take(lane), &exceeds);
    }
    Ok(positions)
}

/// The position of the first NaN, which differs from itself, or else of the first element that exceeds all before it.
fn first<'a, A: PartialEq + 'a>(
    mut lane: impl Iterator<Item = &'a A>,
    exceeds: impl Fn(&A, &A) -> bool,
) -> usize {
    let (mut position, mut largest) = (0, lane.next());
    for (at, element) in lane.enumerate() {
        let is_larger = |largest| largest == largest && (exceeds(element, largest) || element != element);
        if largest.is_some_and(is_larger) {
            (position, largest) = (at + 1, Some(element));
        }
    }
    position
}

/// Finds the elements that equal the extremes of their lanes. Extremes and positions have size 1 along the reduced axes.
fn search<A: Clone + PartialOrd>(
    shape: &[usize],
    reduced: &AxisMask,
    extremes: &ArrayRef<A, IxDyn>,
    mut found: ArrayViewMutD<'_, usize>,
    visit: VisitPart<'_, A>,
) -> Result<()> {
    for_each_part(shape, reduced, PART, |bounds| {
        let start = reduced.named().fold(0, |start, axis| start * shape[axis] + bounds[axis].0);
        let extremes = extremes.slice_each_axis(part(bounds, shape.len()));
        let mut found = found.slice_each_axis_mut(part(bounds, shape.len()));
        visit(bounds, &mut |elements| search_part(&elements, reduced, &extremes, &mut found, start))
    })
}

/// Calls `then` with the bounds of each part of a shape, which has at most so many elements.
pub(super) fn for_each_part(
    shape: &[usize],
    reduced: &AxisMask,
    most: usize,
    mut then: impl FnMut(&[Bounds]) -> Result<()>,
) -> Result<()> {
    // The outermost long axis is halved, or else the longest. Of the reduced axes, it is the outermost, so that the positions in a
    // part are contiguous.
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

/// Finds the extremes in the elements of a part, the first of which has position `start`.
fn search_part<A: Clone + PartialOrd>(
    elements: &ArrayRef<A, IxDyn>,
    reduced: &AxisMask,
    extremes: &ArrayRef<A, IxDyn>,
    found: &mut ArrayRef<usize, IxDyn>,
    start: usize,
) -> Result<()> {
    let mut shape = elements.raw_dim();
    reduced.unnamed().for_each(|axis| shape[axis] = 1);
    let end = start + shape.size();
    let mut ranks: Vec<i32> = (1..).take(shape.size()).collect();
    ranks.reverse();
    let ranks = ArrayView::from_shape(shape, &ranks).expect("a rank for each element of a lane");
    let rank =
        |element: &A, extreme: &A, rank: &i32| rank & -i32::from((element == extreme) | (element != element));
    let ranks = fused((elements, extremes, &ranks), rank).max_to(extremes.shape())?;
    found.zip_mut_with(&ranks, |found, rank| {
        if *rank > 0 {
            *found = (*found).min(end - rank.unsigned_abs() as usize);
        }
    });
    Ok(())
}
