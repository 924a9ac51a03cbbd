//! Maxima and minima, which keep NaN.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::passes::{OverAxes, request};
use crate::error::{Result, fail, operation};
use crate::kernel::operation::Operation;
use crate::kernel::source::Source;
use crate::shape::{ReducedAxes, positions};
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

/// The extremes over axes. Lanes without elements are an error.
pub(super) fn over_axes<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &Source<'_, A>,
    axes: &X,
    operation: &'static operation::Operation,
    name: &str,
) -> Result<Array<A, X::Left>> {
    let found = OverAxes::new(source, axes, operation)?;
    if found.result.len() == 0 {
        return Ok(found.result.cloned(&[]));
    }
    if found.joint.contains(&0) {
        let request = request(source, operation).axes(positions(axes.axes()));
        return Err(fail!(request, NoElements, "there is no {name} of 0 elements"));
    }
    let any = source.first();
    Ok(found.run::<X>(source, any))
}
