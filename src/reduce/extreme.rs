//! Maxima and minima, which keep NaN.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::passes::{Shapes, request};
use crate::error::{ErrorBuilder, Result, caller, fail};
use crate::kernel::memory::Reserved;
use crate::kernel::operation::Operation;
use crate::kernel::source::Source;
use crate::shape::{ReducedAxes, TargetShape};
use ndarray::{Array, Dimension};

/// The larger of two elements, or one that is not equal to itself.
#[derive(Clone, Copy)]
pub(super) struct Maximum;

impl<A: PartialOrd> Operation<A> for Maximum {
    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        if b > a || b != b { b } else { a }
    }
}

/// The smaller of two elements, or one that is not equal to itself.
#[derive(Clone, Copy)]
pub(super) struct Minimum;

impl<A: PartialOrd> Operation<A> for Minimum {
    #[inline(always)]
    fn apply(self, a: A, b: A) -> A {
        if b < a || b != b { b } else { a }
    }
}

/// The extremes over axes.
pub(super) fn over_axes<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &Source<'_, A>,
    axes: &X,
    operation: &'static caller::Caller,
    name: &str,
) -> Result<Array<A, X::Left>> {
    let (shapes, result) = Shapes::<D>::over_axes(source, axes, operation)?;
    let numbers = || axes.numbers(shapes.joint.len());
    extremes(source, &shapes, result, name, &|| request(source, operation).axes(numbers()))
}

/// The extremes along the axes that a target does not have.
pub(super) fn to_shape<A: Clone, D: Dimension, T: TargetShape>(
    source: &Source<'_, A>,
    target: &T,
    operation: &'static caller::Caller,
    name: &str,
) -> Result<Array<A, T::Dim>> {
    let (shapes, result) = Shapes::<D>::to_shape(source, target, operation)?;
    extremes(source, &shapes, result, name, &|| request(source, operation).to(&target.for_message()))
}

/// A lane without elements has no extreme.
fn extremes<A: Clone, D: Dimension, E: Dimension>(
    source: &Source<'_, A>,
    shapes: &Shapes<'_, D>,
    result: Reserved<A, E>,
    name: &str,
    request: &dyn Fn() -> ErrorBuilder,
) -> Result<Array<A, E>> {
    if result.len() == 0 {
        return Ok(result.cloned(&[]));
    }
    if shapes.joint.contains(&0) {
        return Err(fail!(request(), NoElements, "there is no {name} of 0 elements"));
    }
    Ok(shapes.reduce(source, result, source.first()))
}
