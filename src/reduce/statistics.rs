//! Variances, and whether any or all elements are true.

use super::mean::{is_finite, means};
use super::parts::{for_each_part, memory_order};
use super::passes::{builder, source_shape};
use super::{Reduce, VarElement};
use crate::error::{Result, caller, fail};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Cloned, FoldLoops, Inputs, MapElement, MapReduce, Source};
use crate::kernel::operation::{Operation, Plus};
use crate::kernel::reduce::{fold_of, to_new};
use crate::reserved::reserved;
use crate::shape::{AxisMask, ReducedAxes, reduced_dim};
use alloc::vec::Vec;
use core::iter::zip;
use core::ops::{Mul, Sub};
use ndarray::{Array, ArrayBase, ArrayView, Axis, AxisDescription, Dimension, IxDyn, RawData, Slice, Zip};

/// The powers of two that `f64` has, those of its smallest numbers included.
const EXPONENTS: usize = 2098;

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

impl<A: Clone + Sub<Output = A> + Mul<Output = A>> MapElement<A, (A, A)> for Squared {
    #[inline(always)]
    fn map(&mut self, (x, mean): (&A, &A)) -> A {
        (x.clone() - mean.clone()) * (x.clone() - mean.clone())
    }
}

/// What is combined of the differences between scaled elements and the mean of their lane.
#[derive(Clone, Copy, PartialEq)]
enum Scaled {
    /// The largest absolute difference.
    Largest,
    /// The sum.
    Sum,
    /// The sum of the squares, less what is subtracted from each.
    Squares,
}

/// A lane, as (factor, mean, square): what its elements are multiplied by, and what is subtracted from these products, and from the
/// squares of the differences.
type Lane<A> = (A, A, A);

impl<A: VarElement> MapElement<A, (A, Lane<A>)> for Scaled {
    /// All of it is computed before one result is chosen: so the loop is vectorised.
    #[inline(always)]
    fn map(&mut self, (x, (factor, mean, square)): (&A, &Lane<A>)) -> A {
        let apart = x.clone() * factor.clone() - mean.clone();
        let squared = apart.clone() * apart.clone() - square.clone();
        let turned = A::zero() - apart.clone();
        match self {
            Self::Largest => {
                if turned > apart {
                    turned
                } else {
                    apart
                }
            }
            Self::Sum => apart,
            Self::Squares => squared,
        }
    }
}

impl<A: VarElement> Operation<A> for Scaled {
    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        let (sum, larger) = (a.clone() + b.clone(), if b > a { b } else { a });
        if self == Self::Largest { larger } else { sum }
    }
}

/// Means, and variances of the elements times some factors.
pub(super) struct Variances<A, E: Dimension> {
    pub(super) means: Array<A, E>,
    pub(super) variances: Array<A, E>,
    /// The factors, if some are not one.
    factors: Option<Array<A, E>>,
}

/// The means, and the variances.
///
/// # Errors
/// Those of [`scaled_variances`].
pub(super) fn variances<A: VarElement, D: Dimension, X: ReducedAxes<D>>(
    of: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    ddof: A,
    name: &'static str,
) -> Result<Variances<A, X::Left>> {
    let mut found = scaled_variances(of, axes, ddof, name, is_finite)?;
    if let Some(factors) = &found.factors {
        let unscale = |scaled: &mut A, factor: &A| *scaled = scaled.clone() / factor.clone() / factor.clone();
        found.variances.zip_mut_with(factors, unscale);
    }
    Ok(found)
}

/// The standard deviations. A variance that is not a normal number is that of scaled elements.
///
/// # Errors
/// Those of [`scaled_variances`].
#[cfg(feature = "std")]
pub(super) fn deviations<A: super::StdElement, D: Dimension, X: ReducedAxes<D>>(
    of: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    ddof: A,
    name: &'static str,
) -> Result<Array<A, X::Left>> {
    let found = scaled_variances(of, axes, ddof, name, |variance| variance.is_normal())?;
    let mut deviations = found.variances.mapv_into(A::sqrt);
    if let Some(factors) = &found.factors {
        deviations.zip_mut_with(factors, |scaled, &factor| *scaled = *scaled / factor);
    }
    Ok(deviations)
}

/// The means and the variances over axes. Those that the type does not hold, as `is_held` says, are the variances of elements times
/// a factor.
///
/// With d = x - mean, a variance is (Σd² - (Σd)² / n) / (n - ddof). The correction is left out where it would be rounded off.
///
/// # Errors
/// Those of [`means`], then `TooLarge`, then `NoMean`.
fn scaled_variances<A: VarElement, D: Dimension, X: ReducedAxes<D>>(
    of: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    ddof: A,
    name: &'static str,
    is_held: impl Fn(&A) -> bool + Copy,
) -> Result<Variances<A, X::Left>> {
    of.source(Plus, |source| {
        let mut joint = None::<D>;
        let shape = source_shape(source, &mut joint)?;
        let builder = || builder(source, &caller::VAR_AXES).axes(axes.numbers(shape.len()));
        let (result, reduced) = reduced_dim(shape, axes, builder)?;
        let means = means(source, axes, (&caller::VAR_AXES, name))?;
        let sums = reserved(result, builder)?;
        if means.is_empty() {
            return Ok(Variances { variances: means.clone(), means, factors: None });
        }
        let count = reduced.named().map(|axis| shape[axis]).product();
        let counted = A::from_usize(count).filter(|counted| counted.clone() - ddof.clone() > A::zero());
        let error = || fail!(builder(), NoMean, "expected `ddof` below the number of elements, {count}");
        let counted = counted.ok_or_else(error)?;
        let freedom = counted.clone() - ddof;
        let lanes = Lanes { source, shape, reduced: &reduced, keeps: X::KEEPS };
        let removed = (!X::KEEPS).then_some(&reduced as _);
        let sum = |source: &Source<'_, A>, sums| to_new(source, shape, sums, removed, A::zero());
        let mut sums = Some(sums);
        let stored =
            of.squared(&lanes.all_axes(means.view()), |source| sum(source, sums.take().expect("once")));
        let sums = stored.unwrap_or_else(|| lanes.combine(&means, Squared, Plus));
        Ok(lanes.corrected(means, sums, &[counted, freedom], is_held))
    })
}

/// The lanes of a source.
struct Lanes<'a, A> {
    source: &'a Source<'a, A>,
    shape: &'a [usize],
    reduced: &'a AxisMask,
    /// Whether results have the axes that are reduced.
    keeps: bool,
}

impl<A: VarElement> Lanes<'_, A> {
    /// What there is for each lane, with all axes of the shape.
    fn all_axes<S: RawData, E: Dimension>(&self, lanes: ArrayBase<S, E>) -> ArrayBase<S, IxDyn> {
        let named = self.reduced.named().filter(|_| !self.keeps);
        named.fold(lanes.into_dyn(), |lanes, axis| lanes.insert_axis(Axis(axis)))
    }

    /// Combines what `map` makes of the elements and of what there is for their lane, part by part. The results of parts are combined
    /// pairwise.
    fn combine<L: Clone, E: Dimension, O: Operation<A> + Sync>(
        &self,
        lanes: &Array<L, E>,
        map: impl MapElement<A, (A, L)> + Copy,
        op: O,
    ) -> Array<A, E> {
        let mut combined = lanes.map(|_| A::zero());
        let order = memory_order(self.source, self.shape, |_| false);
        let lanes = self.all_axes(lanes.view()).permuted_axes(&*order);
        let mut results = self.all_axes(combined.view_mut()).permuted_axes(&*order);
        let mut parts = Vec::<(usize, Array<A, IxDyn>)>::new();
        for_each_part(self.source, self.shape, &order, self.reduced, |elements, sizes, bounds| {
            let elements = ArrayView::from_shape(sizes, elements).expect("all elements of the part");
            let part = |axis: AxisDescription| match bounds[order[axis.axis.index()]] {
                (start, len) if axis.len > 1 => Slice::from(start..start + len),
                _ => Slice::from(..),
            };
            let lanes = lanes.slice_each_axis(part);
            let inputs = Inputs::from((&*elements, &*lanes));
            let (loops, folds) = (MapReduce::new(map, op), FoldLoops::new(Cloned, op));
            let source = Source::fused(&inputs, &loops, fold_of(&folds));
            let mut result = to_new(&source, sizes, Reserved::scratch(lanes.raw_dim()), None, A::zero());
            let (mut count, mut ends) = (1, zip(bounds, self.shape).enumerate());
            let is_last =
                ends.all(|(axis, (part, &end))| !self.reduced.contains(axis) || part.0 + part.1 == end);
            while let Some((_, before)) = parts.pop_if(|(others, _)| *others == count || is_last) {
                result.zip_mut_with(&before, |result, before| {
                    *result = op.apply(before.clone(), result.clone())
                });
                count *= 2;
            }
            match is_last {
                true => results.slice_each_axis_mut(part).assign(&result),
                false => parts.push((count, result)),
            }
        });
        combined
    }

    /// The variances from the sums of the squares.
    ///
    /// The correction is left out where it would be rounded off, as far as the mean may be off. The means are corrected first where the
    /// correction is most of the sum, so that equal elements do not differ from them, and where elements are scaled because their
    /// variance is not held.
    fn corrected<E: Dimension>(
        &self,
        means: Array<A, E>,
        mut variances: Array<A, E>,
        [count, freedom]: &[A; 2],
        is_held: impl Fn(&A) -> bool + Copy,
    ) -> Variances<A, E> {
        variances.map_inplace(|sum| *sum = sum.clone() / freedom.clone());
        // numbers without an infinity are exact, or panic where they leave their type
        let numbers = [f64::INFINITY, 1.0, 2.0, 0.5, 0.25, 1.0 / 256.0].map(A::from_f64);
        let [Some(_), Some(one), Some(two), Some(half), Some(quarter), Some(least)] = numbers else {
            return Variances { means, variances, factors: None };
        };
        let least = least * (freedom.clone() / count.clone());
        let is_near = |mean: &A, variance: &A| {
            let square = mean.clone() * mean.clone();
            (square.clone() + variance.clone() * least.clone() == square) & !variance.is_zero()
        };
        let is_out = |mean: &A, variance: &A| is_finite(mean) & !is_held(variance);
        let (near, out) =
            Zip::from(&means).and(&variances).fold((false, false), |(near, out), mean, variance| {
                (near | is_near(mean, variance), out | is_out(mean, variance))
            });
        let mut lanes = match near | out {
            true => means.map(|mean| (one.clone(), mean.clone(), A::zero())),
            false => return Variances { means, variances, factors: None },
        };
        // not zero for lanes that are scaled or whose means are corrected
        let mut largest = means.map(|_| A::zero());
        if out {
            Zip::from(&mut lanes).and(&variances).for_each(|(factor, mean, _), variance| {
                if !is_finite(variance) {
                    // the quarter of a difference is finite
                    (*factor, *mean) = (quarter.clone(), mean.clone() * quarter.clone());
                }
            });
            largest = self.combine(&lanes, Scaled::Largest, Scaled::Largest);
            let all = Zip::from(&mut largest).and(&mut lanes).and(&means).and(&variances);
            all.for_each(|largest, lane, mean, variance| {
                if !is_out(mean, variance) {
                    *largest = A::zero();
                }
                let mut by = one.clone();
                for _ in 0..if largest.is_zero() { 0 } else { EXPONENTS } {
                    let scaled = largest.clone() * by.clone();
                    if scaled > half {
                        by = by * half.clone();
                    } else if scaled < quarter && is_finite(&(by.clone() * two.clone())) {
                        by = by * two.clone();
                    } else {
                        break;
                    }
                }
                (lane.0, lane.1) = (lane.0.clone() * by.clone(), lane.1.clone() * by);
            });
            if !near && largest.iter().all(A::is_zero) {
                return Variances { means, variances, factors: None };
            }
        }
        let mut sums = self.combine(&lanes, Scaled::Sum, Scaled::Sum);
        let all = Zip::from(&mut variances).and(&mut lanes).and(&mut largest).and(&sums).and(&means);
        all.for_each(|variance, lane, largest, sum, mean| {
            let (apart, is_near) = (sum.clone() / count.clone(), is_near(mean, variance));
            let correction = sum.clone() * apart.clone() / freedom.clone();
            if !largest.is_zero() || is_near && correction.clone() + correction.clone() > *variance {
                (lane.1, *largest) = (lane.1.clone() + apart, one.clone());
            } else if is_near {
                *variance = variance.clone() - correction;
            }
        });
        if largest.iter().all(A::is_zero) {
            return Variances { means, variances, factors: None };
        }
        sums = self.combine(&lanes, Scaled::Sum, Scaled::Sum);
        for _ in 0..2 {
            // the mean of the squares, and then what it lost
            let squares = self.combine(&lanes, Scaled::Squares, Scaled::Squares);
            lanes.zip_mut_with(&squares, |lane, sum| lane.2 = lane.2.clone() + sum.clone() / count.clone());
        }
        let lost = (count.clone() - freedom.clone()) / freedom.clone();
        Zip::from(&mut variances).and(&largest).and(&lanes).and(&sums).for_each(
            |variance, largest, lane, sum| {
                let apart = sum.clone() / count.clone();
                let square = lane.2.clone() - apart.clone() * apart;
                if !largest.is_zero() {
                    let square = if square < A::zero() { A::zero() } else { square };
                    *variance = square.clone() + square * lost.clone();
                }
            },
        );
        Variances { means, variances, factors: Some(lanes.map(|lane| lane.0.clone())) }
    }
}
