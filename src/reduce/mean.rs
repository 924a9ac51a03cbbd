//! Means, for every element type that can hold them.

use super::Reduce;
use super::reduce::{dropped, over, request, sum};
use crate::error::{Result, fail, operation};
use crate::kernel::operation::Plus;
use crate::kernel::reduce::to_new;
use crate::shape::{AxesOrAll, ReducedAxes};
use core::ops::Div;
use ndarray::{Array, Dimension};
use num_traits::{FromPrimitive, Zero};

/// Sums, each divided by the number of its elements.
pub(super) fn mean_axes<A, D, X>(source: &(impl Reduce<A, D> + ?Sized), axes: &X) -> Result<Array<A, X::Left>>
where
    A: Clone + Zero + Div<Output = A> + FromPrimitive,
    D: Dimension,
    X: ReducedAxes<D>,
{
    let operands = source.operands();
    let (joint, result, reduced) = over(operands, axes, &operation::MEAN_AXES)?;
    let request = || request(operands, &operation::MEAN_AXES).axes(axes.axes().numbers(joint.as_ref().len()));
    if !holds_fractions::<A>() {
        let mend = "use `fused(&x, |&x| f64::from(x)).mean_axes(…)`";
        return Err(fail!(request(), NoMean, "the element type does not hold fractions, {mend}"));
    }
    let joint = joint.as_ref();
    let count = if result.len() == 0 { 1 } else { reduced.named().map(|axis| joint[axis]).product() };
    let Some(divisor) = divisor::<A>(count) else {
        let reason = if count == 0 { "" } else { ", which the element type cannot count" };
        return Err(fail!(request(), NoMean, "there is no mean of {count} elements{reason}"));
    };
    let (mut means, mut all_finite) = (sum(source, joint, result, dropped::<D, X>(&reduced)), true);
    means.map_inplace(|mean| {
        *mean = mean.clone() / divisor.clone();
        all_finite &= is_finite(mean);
    });
    if let Some([half, two]) = powers::<A>(count).filter(|_| !all_finite) {
        // Sums that overflow; or elements that are not finite, whose parts are not either.
        let (_, result, _) = over(operands, axes, &operation::MEAN_AXES)?;
        let part = |item: A| item / two.clone() / half.clone();
        let parts = source
            .mapped_source(joint, &part, |source| to_new(source, result, dropped::<D, X>(&reduced), Plus));
        let inverse = |power: &A| power.clone() / power.clone() / power.clone();
        means.zip_mut_with(&parts, |mean, part| {
            if !is_finite(mean) {
                *mean = part.clone() / divisor.clone() / inverse(&half) / inverse(&two);
            }
        });
    }
    Ok(means)
}

/// Whether a half is not zero: not so for integers, whose mean would be rounded.
fn holds_fractions<A: Zero + Div<Output = A> + FromPrimitive>() -> bool {
    A::from_u8(1).zip(A::from_u8(2)).is_some_and(|(one, two)| !(one / two).is_zero())
}

/// The number of elements, if it is not 0 and the type has this very number.
fn divisor<A: Clone + Zero + Div<Output = A> + FromPrimitive>(count: usize) -> Option<A> {
    let divisor = A::from_usize(count).filter(|divisor| count > 0 && is_finite(divisor))?;
    // A type that rounds counts has few digits. It has `count` if it has the odd factor, which it rounds to a neighbour if
    // not: then the two are equal.
    let odd = count >> count.trailing_zeros();
    let are_equal = |a: usize, b: usize| {
        let minus = i64::try_from(b).ok().and_then(|b| A::from_i64(-b));
        A::from_usize(a).zip(minus).is_some_and(|(a, minus)| (a + minus).is_zero())
    };
    (!are_equal(odd, odd - 1) && !are_equal(odd.saturating_add(1), odd)).then_some(divisor)
}

/// Two powers of two, whose product is at least `count`: a sum of so many numbers, each divided by both, does not overflow,
/// and no division rounds. Neither is larger than 2 and the count, which the type holds.
fn powers<A: FromPrimitive>(count: usize) -> Option<[A; 2]> {
    Some([A::from_usize((count.next_power_of_two() / 2).max(1))?, A::from_u8(2)?])
}

/// Whether a number is finite, for types with an infinity that divides numbers to zero. Complex numbers have none.
fn is_finite<A: Clone + Zero + Div<Output = A> + FromPrimitive>(number: &A) -> bool {
    let Some(infinity) = A::from_f64(f64::INFINITY) else { return true };
    let divides = |x: A| (x / infinity.clone()).is_zero();
    divides(number.clone()) || !A::from_u8(1).is_some_and(divides)
}
