//! Maxima and minima, which keep NaN.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::Reduce;
use super::pass::is_number;
use super::reduce::{dropped, over, request};
use crate::error::operation::{self, Operation};
use crate::error::{Result, fail};
use crate::kernel::memory::Reserved;
use crate::shape::{ReducedAxes, positions, sizes};
use crate::view::Seen;
use ndarray::{Array, Dimension, Ix0};

pub(super) fn max_axes<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
) -> Result<Array<A, X::Left>> {
    let larger = |a, b| if b > a || b != b { b } else { a };
    let smaller = |a, b| if b < a || a != a { b } else { a };
    extreme(source, axes, &operation::MAX_AXES, "maximum", larger, smaller)
}

pub(super) fn min_axes<A: Clone + PartialOrd, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
) -> Result<Array<A, X::Left>> {
    let smaller = |a, b| if b < a || b != b { b } else { a };
    let larger = |a, b| if b > a || a != a { b } else { a };
    extreme(source, axes, &operation::MIN_AXES, "minimum", smaller, larger)
}

/// The extremes by `op`. `opposite` gives the other extreme, and drops NaN.
///
/// Each lane has its first element, so the opposite extreme of all first elements changes no lane: it serves as the
/// identity. Elements that are no numbers may be equal and yet differ, so they are combined as options.
#[inline]
fn extreme<A: Clone, D: Dimension, X: ReducedAxes<D>>(
    source: &(impl Reduce<A, D> + ?Sized),
    axes: &X,
    operation: &'static Operation,
    name: &str,
    op: impl Fn(A, A) -> A + Sync,
    opposite: impl Fn(A, A) -> A + Sync,
) -> Result<Array<A, X::Left>> {
    let operands = source.operands();
    let (joint, result, reduced) = over::<A, D, X>(operands, axes, operation)?;
    if result.len() == 0 {
        return Ok(result.cloned(&[]));
    }
    let Some(first) = source.first().filter(|_| !sizes(&joint).contains(&0)) else {
        let request = request(operands, operation).axes(positions(axes.axes()));
        return Err(fail!(request, NoElements, "there is no {name} of 0 elements"));
    };
    let dropped = dropped::<D, X>(&reduced);
    if is_number::<A>() {
        let identity = match Reserved::new(Ix0()) {
            Ok(one) if result.len() > 1 => source
                .new_reduction(&Seen::firsts(&joint, &reduced), one, None, &first, &opposite)
                .into_scalar(),
            _ => first,
        };
        return Ok(source.new_reduction(&Seen::whole(&joint), result, dropped, &identity, &op));
    }
    drop(result);
    let (_, result, _) = over::<Option<A>, D, X>(operands, axes, operation)?;
    let of_options = |a, b| match (a, b) {
        (Some(a), Some(b)) => Some(op(a, b)),
        (a, b) => a.or(b),
    };
    let mut found = source.new_mapped(result, dropped, &Some, &None, &of_options);
    Ok(found.map_mut(|item| item.take().expect("each lane has an element")))
}
