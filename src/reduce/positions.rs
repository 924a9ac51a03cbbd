//! Positions of extremes, in two passes: the extreme of each lane, and then the first element that equals it.
//!
//! The second pass visits parts of the source, and reduces a rank for each element. Ranks fall along a lane, and are 0 for elements
//! that do not equal the extreme, so the largest rank is that of the first element that does. Few elements are visited one by one.

use super::extreme::extreme_axes;
use super::passes::{builder, source_shape};
use super::{Reduce, fused};
use crate::error::Result;
use crate::error::caller::Caller;
use crate::kernel::nest::Inputs;
use crate::kernel::source::Source;
use crate::kernel::threads::in_two;
use crate::reserved::reserved;
use crate::shape::ReducedAxes;
use crate::view::Bounds;
use alloc::vec::Vec;
use core::iter::zip;
use core::mem::take;
use ndarray::{Array, ArrayRef, ArrayView, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn};

/// The most elements of a lane of a part, and of a part whose elements are computed or that one thread visits.
pub(super) const PART: usize = 1 << 16;
/// The most elements of a part that are visited one by one.
const FEW: usize = 256;

/// The positions of extremes over axes, until they are found.
pub(super) struct Positions<A, D> {
    extremes: Array<A, D>,
    found: Array<usize, D>,
    shape: Vec<usize>,
    is_reduced: Vec<bool>,
    keeps: bool,
}

impl<A: Clone, E: Dimension> Positions<A, E> {
    /// The extremes, which the source's operation finds. Each position is that of the last element until it is found.
    ///
    /// # Errors
    /// Those of [`extreme_axes`], then `TooLarge`.
    pub(super) fn new<D: Dimension, X: ReducedAxes<D, Left = E>>(
        source: &Source<'_, A>,
        axes: &X,
        caller: &'static Caller,
        name: &str,
    ) -> Result<Self> {
        let extremes = extreme_axes(source, axes, caller, name)?;
        let shape = source_shape::<A, D>(source)?.to_vec();
        let builder = || builder(source, caller).axes(axes.numbers(shape.len()));
        let mask = axes.mask(shape.len(), builder)?;
        let is_reduced: Vec<bool> = (0..shape.len()).map(|axis| mask.contains(axis)).collect();
        let lane: usize = mask.named().map(|axis| shape[axis]).product();
        let order = Inputs::from((&*extremes,));
        let found = reserved(extremes.raw_dim(), builder)?.filled(Some(&*order), lane.saturating_sub(1));
        Ok(Self { extremes, found, shape, is_reduced, keeps: X::KEEPS })
    }

    /// Searches a source for the extremes.
    pub(super) fn find<D: Dimension>(mut self, source: &(impl Reduce<A, D> + ?Sized)) -> Result<Array<usize, E>>
    where
        A: PartialOrd,
    {
        let (mut extremes, mut found) = (self.extremes.view().into_dyn(), self.found.view_mut().into_dyn());
        if !self.keeps {
            for (axis, _) in self.is_reduced.iter().enumerate().filter(|&(_, is_reduced)| *is_reduced) {
                (extremes, found) = (extremes.insert_axis(Axis(axis)), found.insert_axis(Axis(axis)));
            }
        }
        if !extremes.is_empty() {
            let bounds = self.shape.iter().map(|&len| (0, len)).collect();
            source.search(Lanes { bounds, is_reduced: &self.is_reduced, extremes, found, first: 0 })?;
        }
        Ok(self.found)
    }
}

/// A part of the lanes of a source, with their extremes and positions, which have size 1 along the reduced axes.
///
/// Not exported; public because a hidden method of a public trait takes it.
pub struct Lanes<'a, A> {
    /// The bounds along the axes of the source. A reduced axis is whole if one outside of it is longer than 1.
    bounds: Vec<Bounds>,
    is_reduced: &'a [bool],
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

    /// Searches elements one by one.
    fn search_few(&mut self, elements: ArrayViewD<'_, A>, lane: usize) {
        let (kept, reduced): (Vec<usize>, _) = (0..elements.ndim()).partition(|&axis| !self.is_reduced[axis]);
        let (mut at, first) = (0, self.first);
        let mut lanes = zip(&self.extremes, &mut self.found);
        let mut current = lanes.next();
        elements.permuted_axes([kept, reduced].concat()).iter().for_each(|element| {
            if at == lane {
                (at, current) = (0, lanes.next());
            }
            if let Some((extreme, found)) = &mut current {
                if is_extreme(element, extreme) {
                    **found = (**found).min(first + at);
                }
            }
            at += 1;
        });
    }

    /// Searches elements by a reduction.
    fn search_many(&mut self, elements: &ArrayRef<A, IxDyn>, lane: usize) -> Result<()> {
        let mut ranks: Vec<i32> = (1..).take(lane).collect();
        ranks.reverse();
        let mut shape = elements.raw_dim();
        for (size, &is_reduced) in zip(shape.slice_mut(), self.is_reduced) {
            *size = if is_reduced { *size } else { 1 };
        }
        let ranks = ArrayView::from_shape(shape, &ranks).expect("a rank for each element of a lane");
        // a mask: LLVM does not vectorise a choice
        let rank = |element: &A, extreme: &A, rank: &i32| rank & -i32::from(is_extreme(element, extreme));
        let ranks = fused((elements, &self.extremes, &ranks), rank).max_to(self.extremes.shape())?;
        for (found, &rank) in zip(&mut self.found, &ranks) {
            if rank > 0 {
                *found = (*found).min(self.first + lane - rank.unsigned_abs() as usize);
            }
        }
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
    let Lanes { bounds, is_reduced, first, .. } = &lanes;
    let (is_reduced, first) = (*is_reduced, *first);
    let lane = zip(bounds, is_reduced).map(|(bounds, is_reduced)| if *is_reduced { bounds.1 } else { 1 }).product();
    if lane <= PART && bounds.iter().map(|bounds| bounds.1).product::<usize>() <= most {
        let bounds = take(&mut lanes.bounds);
        return visit(&bounds, &mut |elements| match elements.len() {
            ..=FEW => Ok(lanes.search_few(elements, lane)),
            _ => lanes.search_many(&elements, lane),
        });
    }
    let outermost = zip(bounds, is_reduced).position(|(bounds, is_reduced)| *is_reduced && bounds.1 > 1);
    let axes = (0..bounds.len()).filter(|&axis| !is_reduced[axis] || Some(axis) == outermost);
    let axis = axes.max_by_key(|&axis| bounds[axis].1).expect("an axis longer than 1");
    let (start, len) = bounds[axis];
    let half = len / 2;
    let [lower, upper] = [(start, half), (start + half, len - half)].map(|half| {
        let mut bounds = bounds.clone();
        bounds[axis] = half;
        bounds
    });
    let mut others = None;
    let ((extremes, more), (found, rest), step) = if is_reduced[axis] {
        let others = others.insert(lanes.found.to_owned()).view_mut();
        ((lanes.extremes.view(), lanes.extremes.view()), (lanes.found.view_mut(), others), half * (lane / len))
    } else {
        let found = lanes.found.view_mut().split_at(Axis(axis), half);
        (lanes.extremes.view().split_at(Axis(axis), half), found, 0)
    };
    let lower = Lanes { bounds: lower, is_reduced, extremes, found, first };
    let upper = Lanes { bounds: upper, is_reduced, extremes: more, found: rest, first: first + step };
    T::both([(lower, most, visit), (upper, most, visit)], search::<A, S, T>)?;
    if let Some(others) = others {
        lanes.found.zip_mut_with(&others, |found, other| *found = (*found).min(*other));
    }
    Ok(())
}

/// Whether an element is the first that a search of its lane looks for: a NaN, which differs from itself, or the extreme.
#[inline(always)]
#[allow(clippy::eq_op, reason = "a NaN differs from itself")]
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
