//! Maxima and minima, which keep NaN.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::passes::{CheckedReduction, builder};
use crate::error::caller::Caller;
use crate::error::{NewBuilder, Result, fail};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Source;
use crate::kernel::operation::Operation;
use crate::shape::{ReducedAxes, TargetShape};
use ndarray::{Array, Dimension};

/// The larger of two elements, or a NaN: the one that is not equal to itself.
#[derive(Clone, Copy)]
pub(super) struct Maximum;

impl<A: PartialOrd> Operation<A> for Maximum {
    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        if b > a || b != b { b } else { a }
    }
}

/// The smaller of two elements, or a NaN: the one that is not equal to itself.
#[derive(Clone, Copy)]
pub(super) struct Minimum;

impl<A: PartialOrd> Operation<A> for Minimum {
    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        if b < a || b != b { b } else { a }
    }
}

/// The extremes over axes.
pub(super) fn extreme_axes<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &Source<'_, A>,
    axes: &X,
    caller: &'static Caller,
    name: &str,
) -> Result<Array<A, X::Left>> {
    let mut joint = None::<D>;
    let (reduction, result) = CheckedReduction::over_axes(source, &mut joint, axes, caller)?;
    let numbers = || axes.numbers(reduction.shape.len());
    extremes(source, &reduction, result, name, &|| builder(source, caller).axes(numbers()))
}

/// The extremes along the axes that a broadcast from the target repeats.
pub(super) fn extreme_to<A: Clone, D: Dimension, T: TargetShape>(
    source: &Source<'_, A>,
    target: &T,
    caller: &'static Caller,
    name: &str,
) -> Result<Array<A, T::Dim>> {
    let mut joint = None::<D>;
    let (reduction, result) = CheckedReduction::to_shape(source, &mut joint, target, caller)?;
    extremes(source, &reduction, result, name, &|| builder(source, caller).to(&target.for_message()))
}

/// The extremes, or `NoElements` if a lane has no elements.
fn extremes<A: Clone, E: Dimension>(
    source: &Source<'_, A>,
    reduction: &CheckedReduction<'_>,
    result: Reserved<A, E>,
    name: &str,
    builder: NewBuilder<'_>,
) -> Result<Array<A, E>> {
    check_elements(&reduction.shape, result.len(), name, builder)?;
    Ok(if result.len() == 0 { result.cloned(&[]) } else { reduction.run(source, result, source.first()) })
}

/// Checks that each of so many results of a shape has elements.
pub(super) fn check_elements(
    shape: &[usize],
    results: usize,
    name: &str,
    builder: NewBuilder<'_>,
) -> Result<()> {
    if results > 0 && shape.contains(&0) {
        return Err(fail!(builder(), NoElements, "there is no {name} of 0 elements"));
    }
    Ok(())
}
