//! Means, for every element type that can hold them.

use super::reduce::{dropped, over, request, sum, to_target};
use super::{MeanElement, Reduce};
use crate::error::{Request, Result, fail, operation};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Dropped;
use crate::kernel::operation::Plus;
use crate::kernel::reduce::to_new;
use crate::shape::{AxesOrAll, ReducedAxes, TargetShape, reserved};
use ndarray::{Array, Dimension};

pub(super) fn mean_axes<A, D, X>(source: &(impl Reduce<A, D> + ?Sized), axes: &X) -> Result<Array<A, X::Left>>
where
    A: MeanElement,
    D: Dimension,
    X: ReducedAxes<D>,
{
    let operands = source.operands();
    let (joint, result, reduced) = over(operands, axes, &operation::MEAN_AXES)?;
    let joint = joint.as_ref();
    let request = || request(operands, &operation::MEAN_AXES).axes(axes.axes().numbers(joint.len()));
    mean(source, joint, result, dropped::<D, X>(&reduced), "mean_axes", request)
}

pub(super) fn mean_to<A, D, T>(source: &(impl Reduce<A, D> + ?Sized), shape: &T) -> Result<Array<A, T::Dim>>
where
    A: MeanElement,
    D: Dimension,
    T: TargetShape,
{
    let operands = source.operands();
    let (joint, result) = to_target(operands, shape, &operation::MEAN_TO)?;
    let request = || request(operands, &operation::MEAN_TO).to(&shape.for_message());
    mean(source, joint.as_ref(), result, None, "mean_to", request)
}

/// Sums, each divided by the number of its elements. `name` is the method's.
fn mean<A, D, E>(
    source: &(impl Reduce<A, D> + ?Sized),
    joint: &[usize],
    result: Reserved<A, E>,
    dropped: Dropped<'_>,
    name: &str,
    request: impl Fn() -> Request,
) -> Result<Array<A, E>>
where
    A: MeanElement,
    D: Dimension,
    E: Dimension,
{
    if !holds_fractions::<A>() {
        let mend = format_args!("use `fused(&x, |&x| f64::from(x)).{name}(…)`");
        return Err(fail!(request(), NoMean, "the element type does not hold fractions, {mend}"));
    }
    let count = joint.iter().product::<usize>().checked_div(result.len()).unwrap_or(1);
    if count == 0 {
        return Err(fail!(request(), NoMean, "there is no mean of 0 elements"));
    }
    let Some(divisor) = A::from_usize(count).filter(is_finite) else {
        let mend = format_args!("use `fused(&x, |&x| f32::from(x)).{name}(…)`");
        return Err(fail!(request(), NoMean, "the element type cannot count {count} elements, {mend}"));
    };
    // The division of complex numbers squares the count, which may overflow, and multiplies by it first.
    let divides = is_finite(&(divisor.clone() / divisor.clone()));
    let scale = Scale::of(count);
    let (mut means, mut all_finite) = (sum(source, joint, result, dropped), true);
    match &scale {
        Some(scale) if !divides => means.map_inplace(|mean| {
            *mean = scale.mean(scale.part(mean.clone()));
            all_finite &= is_finite(mean);
        }),
        _ => means.map_inplace(|mean| {
            *mean = mean.clone() / divisor.clone();
            all_finite &= is_finite(mean);
        }),
    }
    if let Some(scale) = scale.filter(|_| !all_finite) {
        // Sums or quotients that overflow; or elements that are not finite, whose parts are not either.
        let result = reserved(means.raw_dim(), request)?;
        let part = |item| scale.part(item);
        let parts = source.mapped_source(joint, &part, |source| to_new(source, result, dropped, Plus));
        means.zip_mut_with(&parts, |mean, part| {
            if !is_finite(mean) {
                *mean = scale.mean(part.clone());
            }
        });
    }
    Ok(means)
}

/// Whether a half is not zero: not so for integers, whose mean would be rounded.
fn holds_fractions<A: MeanElement>() -> bool {
    A::from_u8(1).zip(A::from_u8(2)).is_some_and(|(one, two)| !(one / two).is_zero())
}

/// A division by a count in two steps, neither of which overflows. One multiplies by a power of two, which is exact.
struct Scale<A> {
    /// 1 / p for the smallest power of two p that is at least the count: a sum of so many parts does not overflow.
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

    fn part(&self, item: A) -> A {
        item * self.power.clone()
    }

    /// The mean, of the sum of all parts. It is finite if all elements are, while the rounding of a quotient of complex numbers
    /// can exceed the largest number.
    fn mean(&self, part: A) -> A {
        if is_finite(&part) { part.clone() + part * self.excess.clone() } else { part }
    }
}

/// Whether a number is finite: zero times infinity is no number.
fn is_finite<A: MeanElement>(number: &A) -> bool {
    (number.clone() * A::zero()).is_zero()
}
