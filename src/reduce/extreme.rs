//! Maxima and minima, which keep NaN.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::Reduce;
use super::reduce::{dropped, over, request, to_target};
use crate::error::operation::{self, Operation};
use crate::error::{Request, Result, fail};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Dropped;
use crate::kernel::operation::ClosureOp;
use crate::kernel::reduce::to_new;
use crate::shape::{AxesOrAll, ReducedAxes, TargetShape};
use ndarray::{Array, Dimension};

pub(super) fn max_axes<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
) -> Result<Array<A, X::Left>> {
    over_axes(source, axes, &operation::MAX_AXES, "maximum", larger)
}

pub(super) fn min_axes<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
) -> Result<Array<A, X::Left>> {
    over_axes(source, axes, &operation::MIN_AXES, "minimum", smaller)
}

pub(super) fn max_to<A: Clone + PartialOrd, D: Dimension, T: TargetShape>(
    source: &(impl Reduce<A, D> + ?Sized),
    shape: &T,
) -> Result<Array<A, T::Dim>> {
    to_shape(source, shape, &operation::MAX_TO, "maximum", larger)
}

pub(super) fn min_to<A: Clone + PartialOrd, D: Dimension, T: TargetShape>(
    source: &(impl Reduce<A, D> + ?Sized),
    shape: &T,
) -> Result<Array<A, T::Dim>> {
    to_shape(source, shape, &operation::MIN_TO, "minimum", smaller)
}

#[inline(always)]
fn larger<A: PartialOrd>(a: A, b: A) -> A {
    if b > a || b != b { b } else { a }
}

#[inline(always)]
fn smaller<A: PartialOrd>(a: A, b: A) -> A {
    if b < a || b != b { b } else { a }
}

#[inline]
fn over_axes<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    operation: &'static Operation,
    name: &str,
    op: impl Fn(A, A) -> A + Sync,
) -> Result<Array<A, X::Left>> {
    let operands = source.operands();
    let (joint, result, reduced) = over(operands, axes, operation)?;
    let joint = joint.as_ref();
    let request = || request(operands, operation).axes(axes.axes().numbers(joint.len()));
    extreme(source, joint, result, dropped::<D, X>(&reduced), op, name, request)
}

#[inline]
fn to_shape<A: Clone, D: Dimension, T: TargetShape>(
    source: &(impl Reduce<A, D> + ?Sized),
    shape: &T,
    operation: &'static Operation,
    name: &str,
    op: impl Fn(A, A) -> A + Sync,
) -> Result<Array<A, T::Dim>> {
    let operands = source.operands();
    let (joint, result) = to_target(operands, shape, operation)?;
    let request = || request(operands, operation).to(&shape.for_message());
    extreme(source, joint.as_ref(), result, None, op, name, request)
}

/// The extremes by `op`. No lane gets the identity, which is any element, because lanes without elements are an error.
#[inline]
fn extreme<A: Clone, D: Dimension, E: Dimension>(
    source: &(impl Reduce<A, D> + ?Sized),
    joint: &[usize],
    result: Reserved<A, E>,
    dropped: Dropped<'_>,
    op: impl Fn(A, A) -> A + Sync,
    name: &str,
    request: impl FnOnce() -> Request,
) -> Result<Array<A, E>> {
    if result.len() == 0 {
        return Ok(result.cloned(&[]));
    }
    let Some(any) = source.first_element().filter(|_| !joint.contains(&0)) else {
        return Err(fail!(request(), NoElements, "there is no {name} of 0 elements"));
    };
    let op = ClosureOp { identity: &any, op: &op };
    Ok(source.source(joint, |source| to_new(source, result, dropped, op)))
}
