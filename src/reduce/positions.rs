//! Positions of extremes, in two passes: the extreme of each lane, and then the first element that equals it.
//!
//! The second pass visits parts of the source, and reduces a rank for each element. Ranks fall along a lane, and are 0 for elements
//! that do not equal the extreme, so the largest rank is that of the first element that does. Few elements are compared one by one.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::extreme::{check_elements, extreme_axes};
use super::passes::{builder, source_shape};
use super::{Reduce, fused};
use crate::error::Result;
use crate::error::caller::Caller;
use crate::kernel::reduce::to_new;
use crate::kernel::source::Source;
use crate::kernel::threads::in_two;
use crate::reserved::reserved;
use crate::shape::{AxisMask, ReducedAxes, reduced_dim, with_base};
use crate::view::Bounds;
use alloc::vec::Vec;
use core::iter::zip;
use core::mem::take;
use ndarray::{Array, ArrayRef, ArrayView, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn};

/// The most elements that are compared one by one. Measured on 2026-11-28 with f32 and f64 on Zen 4: from 500 to 2,000 elements,
/// both ways take about as long.
const FEW: usize = 1 << 10;
/// The most elements of a lane of a part, and of a part whose elements are computed or that one of several threads visits.
pub(super) const PART: usize = 1 << 16;

/// The positions of extremes, found or not.
pub(super) struct Positions<A, D> {
    /// Each is the last position until it is found.
    found: Array<usize, D>,
    /// The extremes, unless the positions are found.
    extremes: Option<Array<A, D>>,
    shape: Vec<usize>,
    reduced: AxisMask,
}

impl<A: Clone + PartialOrd, E: Dimension> Positions<A, E> {
    /// The positions of the elements that exceed all others. The operation of the source finds them.
    ///
    /// # Errors
    /// Those of [`extreme_axes`], for the positions as well.
    pub(super) fn of<D: Dimension, X: ReducedAxes<D, Left = E>>(
        source: &Source<'_, A>,
        axes: &X,
        exceeds: impl Fn(&A, &A) -> bool,
        caller: &'static Caller,
        name: &str,
    ) -> Result<Self> {
        let shape = source_shape::<A, D>(source)?;
        let builder = || builder(source, caller).axes(axes.numbers(shape.len()));
        let (result, reduced) = reduced_dim(&shape, axes, builder)?;
        check_elements(&shape, result.size(), name, &builder)?;
        let lane: usize = reduced.named().map(|axis| shape[axis]).product();
        let mut found = reserved(result, builder)?.filled(None, lane.saturating_sub(1));
        let len = shape.iter().product::<usize>();
        if len > FEW {
            let extremes = Some(extreme_axes(source, axes, caller, name)?);
            return Ok(Self { found, extremes, shape: shape.to_vec(), reduced });
        }
        if len > 0 {
            let whole: D = with_base(&shape, &[]);
            let mut order = D::zeros(shape.len());
            for (place, axis) in zip(order.slice_mut(), reduced.unnamed().chain(reduced.named())) {
                *place = axis;
            }
            let elements = to_new(source, &shape, reserved(whole, builder)?, None, source.first());
            let elements = elements.permuted_axes(order);
            let mut elements = elements.iter();
            for found in &mut found {
                *found = first(elements.by_ref().take(lane), &exceeds);
            }
        }
        Ok(Self { found, extremes: None, shape: Vec::new(), reduced })
    }

    /// Searches a source for the extremes.
    pub(super) fn find<D: Dimension>(mut self, source: &(impl Reduce<A, D> + ?Sized)) -> Result<Array<usize, E>> {
        let Some(extremes) = self.extremes else { return Ok(self.found) };
        let (mut extremes, mut found) = (extremes.view().into_dyn(), self.found.view_mut().into_dyn());
        if extremes.ndim() < self.shape.len() {
            for axis in self.reduced.named() {
                (extremes, found) = (extremes.insert_axis(Axis(axis)), found.insert_axis(Axis(axis)));
            }
        }
        let bounds = self.shape.iter().map(|&len| (0, len)).collect();
        source.search(Lanes { bounds, reduced: &self.reduced, extremes, found, first: 0 })?;
        Ok(self.found)
    }
}

/// The position of the first NaN, which differs from itself, or else of the first element that exceeds all before it.
fn first<'a, A: PartialEq + 'a>(mut lane: impl Iterator<Item = &'a A>, exceeds: impl Fn(&A, &A) -> bool) -> usize {
    let (mut position, mut largest) = (0, lane.next());
    for (at, element) in lane.enumerate() {
        if largest.is_some_and(|largest| largest == largest && (exceeds(element, largest) || element != element)) {
            (position, largest) = (at + 1, Some(element));
        }
    }
    position
}

/// A part of the lanes of a source, with their extremes and positions, which have size 1 along the reduced axes.
///
/// Not exported; public because a hidden method of a public trait takes it.
pub struct Lanes<'a, A> {
    /// The bounds along the axes of the source. A reduced axis is whole if one outside of it is longer than 1.
    bounds: Vec<Bounds>,
    reduced: &'a AxisMask,
    extremes: ArrayViewD<'a, A>,
    found: ArrayViewMutD<'a, usize>,
    /// The position of the first element of each lane.
    first: usize,
}

/// Lanes, the most elements of a part, and what calls its argument with the elements of a part.
type Search<'a, 's, A, S> = (Lanes<'a, A>, usize, &'s S);
/// What is called with the elements of a part.
type Then<'t, A> = &'t mut dyn FnMut(ArrayViewD<'_, A>) -> Result<()>;

impl<A: Clone + PartialOrd> Lanes<'_, A> {
    /// Searches the elements of a source, in parts of at most `most` elements. `visit` calls its argument with those of a part.
    pub(super) fn search<'s, S, T>(self, most: usize, visit: &'s S, _: T) -> Result<()>
    where
        S: Fn(&[Bounds], Then<'_, A>) -> Result<()>,
        T: for<'p> Threads<Search<'p, 's, A, S>>,
    {
        search::<A, S, T>((self, most, visit))
    }

    /// Searches elements by a reduction.
    fn search_part(&mut self, elements: &ArrayRef<A, IxDyn>, lane: usize) -> Result<()> {
        let mut ranks: Vec<i32> = (1..).take(lane).collect();
        ranks.reverse();
        let mut shape = elements.raw_dim();
        (0..shape.ndim()).filter(|&axis| !self.reduced.contains(axis)).for_each(|axis| shape[axis] = 1);
        let ranks = ArrayView::from_shape(shape, &ranks).expect("a rank for each element of a lane");
        // a mask: LLVM does not vectorise a choice
        let rank = |element: &A, extreme: &A, rank: &i32| rank & -i32::from(is_extreme(element, extreme));
        let ranks = fused((elements, &self.extremes, &ranks), rank).max_to(self.extremes.shape())?;
        let end = self.first + lane;
        self.found.zip_mut_with(&ranks, |found, rank| {
            if *rank > 0 {
                *found = (*found).min(end - rank.unsigned_abs() as usize);
            }
        });
        Ok(())
    }
}

/// Halves a part along its longest axis until it is not too large, and searches it.
fn search<'s, A, S, T>((mut lanes, most, visit): Search<'_, 's, A, S>) -> Result<()>
where
    A: Clone + PartialOrd,
    S: Fn(&[Bounds], Then<'_, A>) -> Result<()>,
    T: for<'p> Threads<Search<'p, 's, A, S>>,
{
    let (bounds, reduced, first) = (take(&mut lanes.bounds), lanes.reduced, lanes.first);
    let lane = reduced.named().map(|axis| bounds[axis].1).product();
    if lane <= PART && bounds.iter().map(|bounds| bounds.1).product::<usize>() <= most {
        return visit(&bounds, &mut |elements| lanes.search_part(&elements, lane));
    }
    let outermost = reduced.named().find(|&axis| bounds[axis].1 > 1);
    let axis = reduced.unnamed().chain(outermost).max_by_key(|&axis| bounds[axis].1);
    let axis = axis.expect("an axis longer than 1");
    let (start, len) = bounds[axis];
    let half = len / 2;
    let [lower, upper] = [(start, half), (start + half, len - half)].map(|half| {
        let mut bounds = bounds.clone();
        bounds[axis] = half;
        bounds
    });
    let mut others = None;
    let ((extremes, more), (found, rest), step) = if reduced.contains(axis) {
        let others = others.insert(lanes.found.to_owned()).view_mut();
        ((lanes.extremes.view(), lanes.extremes.view()), (lanes.found.view_mut(), others), half * (lane / len))
    } else {
        let found = lanes.found.view_mut().split_at(Axis(axis), half);
        (lanes.extremes.view().split_at(Axis(axis), half), found, 0)
    };
    let lower = Lanes { bounds: lower, reduced, extremes, found, first };
    let upper = Lanes { bounds: upper, reduced, extremes: more, found: rest, first: first + step };
    T::both([(lower, most, visit), (upper, most, visit)], search::<A, S, T>)?;
    if let Some(others) = others {
        lanes.found.zip_mut_with(&others, |found, other| *found = (*found).min(*other));
    }
    Ok(())
}

/// Whether a search for the extreme of a lane finds an element: a NaN, which differs from itself, or the extreme.
#[inline(always)]
fn is_extreme<A: PartialOrd>(element: &A, extreme: &A) -> bool {
    (element == extreme) | (element != element)
}

/// Runs two parts of a search.
pub(super) trait Threads<P> {
    fn both(parts: [P; 2], run: fn(P) -> Result<()>) -> Result<()>;
}

/// On the calling thread.
pub(super) struct OneThread;

impl<P> Threads<P> for OneThread {
    fn both(parts: [P; 2], run: fn(P) -> Result<()>) -> Result<()> {
        parts.into_iter().try_for_each(run)
    }
}

/// On several threads.
pub(super) struct SeveralThreads;

impl<P: Send> Threads<P> for SeveralThreads {
    fn both([first, second]: [P; 2], run: fn(P) -> Result<()>) -> Result<()> {
        let (first, second) = in_two(|| run(first), || run(second));
        first.and(second)
    }
}
