//! Maxima and minima, which keep NaN.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::Reduce;
use super::reduce::{dropped, over, request};
use crate::error::operation::{self, Operation};
use crate::error::{Result, fail};
use crate::kernel::operation::ClosureOp;
use crate::kernel::reduce::to_new;
use crate::shape::{AxesOrAll, ReducedAxes};
use ndarray::{Array, Dimension};

pub(super) fn max_axes<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
) -> Result<Array<A, X::Left>> {
    extreme(source, axes, &operation::MAX_AXES, "maximum", |a, b| if b > a || b != b { b } else { a })
}

pub(super) fn min_axes<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
) -> Result<Array<A, X::Left>> {
    extreme(source, axes, &operation::MIN_AXES, "minimum", |a, b| if b < a || b != b { b } else { a })
}

/// The extremes by `op`. No lane gets the identity, which is any element, because lanes without elements are an error.
#[inline]
fn extreme<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    operation: &'static Operation,
    name: &str,
    op: impl Fn(A, A) -> A + Sync,
) -> Result<Array<A, X::Left>> {
    let operands = source.operands();
    let (joint, result, reduced) = over(operands, axes, operation)?;
    if result.len() == 0 {
        return Ok(result.cloned(&[]));
    }
    let Some(any) = source.first_element().filter(|_| !joint.as_ref().contains(&0)) else {
        let request = request(operands, operation).axes(axes.axes().numbers(joint.as_ref().len()));
        return Err(fail!(request, NoElements, "there is no {name} of 0 elements"));
    };
    let op = ClosureOp { identity: &any, op: &op };
    Ok(source.source(joint.as_ref(), |source| to_new(source, result, dropped::<D, X>(&reduced), op)))
}
