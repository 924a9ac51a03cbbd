//! Variances, and whether any or all elements are true.

use super::mean::{is_finite, means};
use super::parts::{for_each_part, memory_order};
use super::passes::{builder, source_shape};
use super::{Reduce, VarElement, fused};
use crate::error::{Result, caller, fail};
use crate::kernel::nest::{MapElement, Source};
use crate::kernel::operation::{Operation, Plus};
use crate::kernel::reduce::to_new;
use crate::reserved::reserved;
use crate::shape::{AxisMask, ReducedAxes, reduced_dim};
use alloc::vec::Vec;
use ndarray::{
    Array, ArrayBase, ArrayD, ArrayRef, ArrayView, ArrayViewMutD, Axis, AxisDescription, Dimension, IxDyn,
    RawData, Slice, Zip,
};

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

/// The square of the difference between an element and the mean of its lane.
#[derive(Clone, Copy)]
pub(super) struct Squared;

impl<A: VarElement> MapElement<A, (A, A)> for Squared {
    #[inline(always)]
    fn map(&mut self, (x, mean): (&A, &A)) -> A {
        (x.clone() - mean.clone()) * (x.clone() - mean.clone())
    }
}

/// The means, and the variances.
///
/// # Errors
/// Those of [`variances`].
pub(super) fn means_and_variances<A: VarElement, D: Dimension, X: ReducedAxes<D>>(
    of: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    ddof: A,
    name: &'static str,
) -> Result<[Array<A, X::Left>; 2]> {
    variances(of, axes, ddof, name, is_finite, |variance, factor| variance / factor.clone() / factor.clone())
}

/// The standard deviations. Where a variance is not a normal number, the elements are scaled before the root is taken.
///
/// # Errors
/// Those of [`variances`].
#[cfg(feature = "std")]
pub(super) fn deviations<A: super::StdElement, D: Dimension, X: ReducedAxes<D>>(
    of: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    ddof: A,
    name: &'static str,
) -> Result<Array<A, X::Left>> {
    let finish = |variance: A, factor: &A| variance.sqrt() / *factor;
    let [_, deviations] = variances(of, axes, ddof, name, |variance| variance.is_normal(), finish)?;
    Ok(deviations)
}

/// The means and the finished variances over axes.
///
/// With d = x - mean, a variance is (Σd² - (Σd)² / n) / (n - ddof). [`Lanes::correct`] corrects the mean and scales the
/// elements of a lane if Σd is not rounded off, or if the type does not hold the variance. Each variance is finished with the
/// factor of its lane.
///
/// # Errors
/// Those of [`means`], then `TooLarge`, then `NoMean`.
fn variances<A: VarElement, D: Dimension, X: ReducedAxes<D>>(
    of: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    ddof: A,
    name: &'static str,
    is_held: impl Fn(&A) -> bool,
    finish: impl Fn(A, &A) -> A,
) -> Result<[Array<A, X::Left>; 2]> {
    of.source(Plus, |source| {
        let mut joint = None::<D>;
        let shape = source_shape(source, &mut joint)?;
        let builder = || builder(source, &caller::VAR_AXES).axes(axes.numbers(shape.len()));
        let (result, reduced) = reduced_dim(shape, axes, builder)?;
        let means = means(source, axes, (&caller::VAR_AXES, name))?;
        if means.is_empty() {
            return Ok([means.clone(), means]);
        }
        let result = reserved(result, builder)?;
        let count = reduced.named().map(|axis| shape[axis]).product();
        let counted = A::from_usize(count).filter(|counted| counted.clone() - ddof.clone() > A::zero());
        let error = || fail!(builder(), NoMean, "expected `ddof` below the number of elements, {count}");
        let counted = counted.ok_or_else(error)?;
        let (freedom, one) = (counted.clone() - ddof, counted.clone() / counted.clone());
        let lanes = Lanes { source, shape, reduced: &reduced };
        let (of_lanes, removed) = (lanes.all_axes(means.view()), (!X::KEEPS).then_some(&reduced as _));
        let stored = of.squared(&of_lanes, |source| to_new(source, shape, result, removed, A::zero()));
        let mut variances = stored.unwrap_or_else(|| {
            let mut sums = means.map(|_| A::zero());
            let squared = |x: &A, mean: &A| { Squared }.map((x, mean));
            let reduce = |x: &_, means: &_| fused((x, means), squared).sum_to(means);
            lanes.combine(&of_lanes, lanes.all_axes(sums.view_mut()), &reduce, A::add);
            sums
        });
        variances.map_inplace(|sum| *sum = sum.clone() / freedom.clone());
        let small =
            A::from_f64(1.0 / 256.0).map_or_else(A::zero, |s| s * (freedom.clone() / counted.clone()));
        let is_rough = |mean: &A, variance: &A| {
            let square = mean.clone() * mean.clone();
            let is_near = square.clone() + variance.clone() * small.clone() == square;
            (is_near & !variance.is_zero() | !is_held(variance)) & is_finite(mean)
        };
        let all = Zip::from(&means).and(&variances);
        // numbers without an infinity are exact, or panic where they leave their type
        if A::from_f64(f64::INFINITY).is_some() && all.fold(false, |any, m, v| any | is_rough(m, v)) {
            let variances = lanes.all_axes(variances.view_mut());
            lanes.correct(&of_lanes, variances, [&counted, &freedom], &is_held, &is_rough, &finish);
        } else {
            variances.map_inplace(|variance| *variance = finish(variance.clone(), &one));
        }
        Ok([means, variances])
    })
}

/// The lanes of a source.
pub(super) struct Lanes<'a, A> {
    pub(super) source: &'a Source<'a, A>,
    pub(super) shape: &'a [usize],
    pub(super) reduced: &'a AxisMask,
}

/// A factor for the elements of a lane, a number to subtract from the products, and one to subtract from the squares of these
/// differences.
type Lane<A> = [A; 3];

/// Reduces the elements of a part with the values for its lanes. Behind a pointer, so that one function walks all parts.
pub(super) type ReducePart<'r, A, L> =
    &'r dyn Fn(&ArrayRef<A, IxDyn>, &ArrayRef<L, IxDyn>) -> Result<ArrayD<A>>;

impl<A: Clone> Lanes<'_, A> {
    /// The values for the lanes, with all axes of the shape.
    fn all_axes<S: RawData, E: Dimension>(&self, lanes: ArrayBase<S, E>) -> ArrayBase<S, IxDyn> {
        let keeps = lanes.ndim() == self.shape.len();
        let named = self.reduced.named().filter(|_| !keeps);
        named.fold(lanes.into_dyn(), |lanes, axis| lanes.insert_axis(Axis(axis)))
    }

    /// Reduces the elements with the values for their lanes, part by part. `op` combines the results of parts pairwise.
    pub(super) fn combine<L>(
        &self,
        lanes: &ArrayRef<L, IxDyn>,
        results: ArrayViewMutD<'_, A>,
        reduce: ReducePart<'_, A, L>,
        op: impl Fn(A, A) -> A,
    ) {
        let order = memory_order(self.source, self.shape, |_| false);
        let (lanes, mut results) = (lanes.view().permuted_axes(&*order), results.permuted_axes(&*order));
        let mut parts = Vec::<(usize, ArrayD<A>)>::new();
        for_each_part(self.source, self.shape, &order, self.reduced, |elements, sizes, bounds| {
            let elements = ArrayView::from_shape(sizes, elements).expect("all elements of the part");
            let part = |axis: AxisDescription| match bounds[order[axis.axis.index()]] {
                (start, len) if axis.len > 1 => Slice::from(start..start + len),
                _ => Slice::from(..),
            };
            let mut result = reduce(&elements, &lanes.slice_each_axis(part)).expect("parts of one shape");
            let mut count = 1;
            let is_last =
                self.reduced.named().all(|axis| bounds[axis].0 + bounds[axis].1 == self.shape[axis]);
            while let Some((_, before)) = parts.pop_if(|(others, _)| *others == count || is_last) {
                result.zip_mut_with(&before, |result, before| *result = op(before.clone(), result.clone()));
                count *= 2;
            }
            if is_last {
                results.slice_each_axis_mut(part).assign(&result);
            } else {
                parts.push((count, result));
            }
        });
    }
}

impl<A: VarElement> Lanes<'_, A> {
    /// Corrects the variances of rough lanes, and finishes all of them.
    ///
    /// If the type does not hold some variance, the elements of a rough lane are scaled, so that the largest difference is
    /// about a quarter. The mean is corrected first, so that equal elements do not differ from it; so is the mean of the
    /// squares.
    fn correct(
        &self,
        means: &ArrayRef<A, IxDyn>,
        variances: ArrayViewMutD<'_, A>,
        [count, freedom]: [&A; 2],
        is_held: &dyn Fn(&A) -> bool,
        is_rough: &dyn Fn(&A, &A) -> bool,
        finish: &dyn Fn(A, &A) -> A,
    ) {
        let apart = |x: &A, [factor, mean, _]: &Lane<A>| x.clone() * factor.clone() - mean.clone();
        let square = |x: &A, lane: &Lane<A>| apart(x, lane) * apart(x, lane) - lane[2].clone();
        let numbers = [1.0, 2.0, 0.5, 0.25].map(A::from_f64);
        let [Some(one), Some(two), Some(half), Some(quarter)] = numbers else { return };
        let mut rough = Zip::from(means).and(&variances).map_collect(is_rough);
        let mut lanes = Zip::from(means).and(&variances).map_collect(|mean, variance| {
            // the quarter of a difference is finite
            let factor = if is_finite(variance) { &one } else { &quarter };
            [factor.clone(), mean.clone() * factor.clone(), A::zero()]
        });
        if !variances.iter().all(is_held) {
            let larger = |a: A, b: A| if b > a { b } else { a };
            let absolute = |x: &A, lane: &Lane<A>| larger(apart(x, lane), A::zero() - apart(x, lane));
            let reduce = |x: &_, lanes: &_| fused((x, lanes), absolute).reduce_to(lanes, A::zero(), larger);
            let mut largest = lanes.map(|_| A::zero());
            self.combine(&lanes, largest.view_mut(), &reduce, larger);
            Zip::from(&mut lanes).and(&mut rough).and(&largest).for_each(|lane, rough, largest| {
                *rough &= !largest.is_zero();
                let mut by = one.clone();
                // the powers of two of `f64`, with those of its smallest numbers
                for _ in 0..if *rough { 2098 } else { 0 } {
                    let scaled = largest.clone() * by.clone();
                    by = match by.clone() * two.clone() {
                        _ if scaled > half => by * half.clone(),
                        double if scaled < quarter && is_finite(&double) => double,
                        _ => break,
                    };
                }
                (lane[0], lane[1]) = (lane[0].clone() * by.clone(), lane[1].clone() * by);
            });
        }
        let mean = |sum: &A| sum.clone() / count.clone();
        let mut sums = lanes.map(|_| A::zero());
        if rough.iter().any(|&rough| rough) {
            let reduce = |x: &_, lanes: &_| fused((x, lanes), apart).sum_to(lanes);
            self.combine(&lanes, sums.view_mut(), &reduce, A::add);
            lanes.zip_mut_with(&sums, |lane, sum| lane[1] = lane[1].clone() + mean(sum));
            self.combine(&lanes, sums.view_mut(), &reduce, A::add);
            let mut squares = sums.clone();
            for _ in 0..2 {
                let reduce = |x: &_, lanes: &_| fused((x, lanes), square).sum_to(lanes);
                self.combine(&lanes, squares.view_mut(), &reduce, A::add);
                lanes.zip_mut_with(&squares, |lane, sum| lane[2] = lane[2].clone() + mean(sum));
            }
        }
        let lost = (count.clone() - freedom.clone()) / freedom.clone();
        Zip::from(variances).and(&rough).and(&lanes).and(&sums).for_each(|variance, rough, lane, sum| {
            let square = lane[2].clone() - mean(sum) * mean(sum);
            let square = if square < A::zero() { A::zero() } else { square };
            *variance = match rough {
                true => finish(square.clone() + square * lost.clone(), &lane[0]),
                false => finish(variance.clone(), &one),
            };
        });
    }
}
