//! Means, for every element type that can hold them.

use super::passes::{Form, Words, checked, source_shape, total};
use super::statistics::Lanes;
use super::{MeanElement, Reduce, fused};
use crate::error::{NewBuilder, Result, fail};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Dropped, Source};
use crate::kernel::reduce::to_new;
use crate::kernel::simd::is_plain;
use crate::shape::AxisMask;
use alloc::vec::Vec;
use ndarray::{Array, Axis, Dimension};

/// The means of a form. `name` is the method's.
///
/// # Errors
/// Those of [`checked`], then `NoMean`.
pub(super) fn means<A: MeanElement, D: Dimension, F: Form<D>>(
    source: &Source<'_, A>,
    form: &F,
    (caller, name): Words,
) -> Result<Array<A, F::Left>> {
    checked(source, form, caller, |shape, removed, result, builder| {
        mean(source, (shape, removed), result, name, builder)
    })
}

/// The mean of all elements.
///
/// # Errors
/// Those of [`means`].
pub(super) fn total_mean<A: MeanElement, D: Dimension>(source: &Source<'_, A>, words: Words) -> Result<A> {
    let mut joint = None::<D>;
    let elements = source_shape(source, &mut joint)?.iter().product();
    let count = if holds_fractions::<A>() { A::from_usize(elements) } else { None };
    if let Some(count) = count.filter(|n| !n.is_zero() && is_finite(&(n.clone() / n.clone()))) {
        let mean = total::<A, D>(source, A::zero())? / count;
        if is_finite(&mean) {
            return Ok(mean);
        }
    }
    // an error, or elements to scale, or some that are not finite
    Ok(means::<A, D, _>(source, &.., words)?.into_scalar())
}

/// Sums, each divided by the number of its elements.
fn mean<A: MeanElement, E: Dimension>(
    source: &Source<'_, A>,
    (shape, removed): (&[usize], Dropped<'_>),
    result: Reserved<A, E>,
    name: &str,
    builder: NewBuilder<'_>,
) -> Result<Array<A, E>> {
    if !holds_fractions::<A>() {
        let mend = format_args!("use `fused(&x, |&x| f64::from(x)).{name}(…)`");
        return Err(fail!(builder(), NoMean, "the element type does not hold fractions, {mend}"));
    }
    let count = shape.iter().product::<usize>().checked_div(result.len()).unwrap_or(1);
    if count == 0 {
        return Err(fail!(builder(), NoMean, "there is no mean of 0 elements"));
    }
    let Some(divisor) = A::from_usize(count).filter(is_finite) else {
        let mend = format_args!("use `fused(&x, |&x| f32::from(x)).{name}(…)`");
        return Err(fail!(builder(), NoMean, "the element type cannot count {count} elements, {mend}"));
    };
    // The division of complex numbers squares the count, which may overflow, and multiplies by it first.
    let divides = is_finite(&(divisor.clone() / divisor.clone()));
    let scale = Scale::<A>::of(count);
    let mut means = to_new(source, shape, result, removed, A::zero());
    match &scale {
        Some(scale) if !divides => {
            means.map_inplace(|sum| *sum = scale.mean(sum.clone() * scale.power.clone()));
        }
        _ => means.map_inplace(|sum| *sum = sum.clone() / divisor.clone()),
    }
    // without a branch for each, the loop is vectorised
    let are_finite = |chunk: &[A]| chunk.iter().fold(true, |all, mean| all & is_finite(mean));
    let all_finite = means.as_slice_memory_order().is_some_and(|means| means.chunks(64).all(are_finite));
    if let Some(scale) = scale.filter(|_| !all_finite) {
        // Either sums or quotients overflow, or some elements are not finite; then their parts are not finite either.
        let leading = shape.len() - means.ndim();
        let is_removed = |&axis: &usize| removed.map_or(axis < leading, |axes| axes.contains(axis));
        let lanes = (0..shape.len()).filter(is_removed);
        let lanes = lanes.fold(means.view().into_dyn(), |lanes, axis| lanes.insert_axis(Axis(axis)));
        let reduced: Vec<_> = (0..shape.len()).filter(|&axis| lanes.shape()[axis] < shape[axis]).collect();
        let reduced = AxisMask::new(&reduced, shape.len(), builder)?;
        let mut parts = lanes.map(|_| A::zero());
        let sum =
            |x: &_, lanes: &_| fused((x, lanes), |x: &A, _| x.clone() * scale.power.clone()).sum_to(lanes);
        Lanes { source, shape, reduced: &reduced }.combine(&lanes, parts.view_mut(), &sum, A::add);
        for (mean, part) in means.iter_mut().zip(parts).filter(|(mean, _)| !is_finite(*mean)) {
            *mean = scale.mean(part);
        }
    }
    Ok(means)
}

/// Whether one half is not zero. For integers it is zero, and a mean would be rounded.
fn holds_fractions<A: MeanElement>() -> bool {
    A::from_u8(1).zip(A::from_u8(2)).is_some_and(|(one, two)| !(one / two).is_zero())
}

/// A division by a count in two steps that do not overflow. The first multiplies by a power of two, which is exact.
struct Scale<A> {
    /// 1 / p for the smallest power of two p that is at least the count, so that the sum of the parts does not overflow.
    power: A,
    /// p / count - 1, at least 0 and below 1.
    excess: A,
}

impl<A: MeanElement> Scale<A> {
    #[allow(clippy::cast_precision_loss, reason = "a count that is rounded is one more rounding")]
    fn of(count: usize) -> Option<Self> {
        let power = count.next_power_of_two();
        Some(Self {
            power: A::from_f64(1.0 / power as f64)?,
            excess: A::from_f64((power - count) as f64 / count as f64)?,
        })
    }

    /// The mean from the sum of all parts. It is finite if all elements are. A quotient of complex numbers is not used, because
    /// its rounding can exceed the largest number.
    fn mean(&self, part: A) -> A {
        if is_finite(&part) { part.clone() + part * self.excess.clone() } else { part }
    }
}

/// Whether a number is finite: zero times infinity is no number. Some types panic where there is no number, so the first
/// question is for an infinity: multiplied by a small number it does not vanish, and its reciprocal is zero.
pub(super) fn is_finite<A: MeanElement>(number: &A) -> bool {
    if !is_plain::<A>() {
        let least = [f64::MIN_POSITIVE, f32::MIN_POSITIVE.into()].into_iter().filter_map(A::from_f64);
        let least = least.into_iter().find(|least| !least.is_zero()).unwrap_or_else(A::zero);
        let smaller = |number: A| number * least.clone();
        let vanishes = least.is_zero() || smaller(smaller(smaller(number.clone()))).is_zero();
        if !vanishes && A::from_u8(1).is_some_and(|one| (one / number.clone()).is_zero()) {
            return false;
        }
    }
    (number.clone() * A::zero()).is_zero()
}
