//! Maxima and minima, which keep NaN.
#![allow(clippy::eq_op, reason = "a NaN differs from itself")]

use super::passes::{Form, Words, checked, source_shape};
use crate::error::{NewBuilder, Result, fail};
use crate::kernel::nest::Source;
use crate::kernel::operation::Operation;
use crate::kernel::reduce::{to_new, to_one};
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

/// The extremes of a form.
///
/// # Errors
/// Those of [`checked`], then of [`check_elements`].
pub(super) fn extremes<A: Clone, D: Dimension, F: Form<D>>(
    source: &Source<'_, A>,
    form: &F,
    (caller, name): Words,
) -> Result<Array<A, F::Left>> {
    checked(source, form, caller, |shape, removed, result, builder| {
        check_elements(shape, result.len(), name, builder)?;
        let is_empty = result.len() == 0;
        Ok(if is_empty { result.cloned(&[]) } else { to_new(source, shape, result, removed, source.first()) })
    })
}

/// The extreme of all elements.
///
/// # Errors
/// Those of [`extremes`].
pub(super) fn total_extreme<A: Clone, D: Dimension>(source: &Source<'_, A>, words: Words) -> Result<A> {
    let mut joint = None::<D>;
    let shape = source_shape(source, &mut joint)?;
    if shape.contains(&0) {
        return Ok(extremes::<A, D, _>(source, &.., words)?.into_scalar());
    }
    Ok(to_one(source, shape, source.first()))
}

/// Checks that each of `len` results of a shape has elements.
///
/// # Errors
/// `NoElements` where a lane has none.
pub(super) fn check_elements(shape: &[usize], len: usize, name: &str, builder: NewBuilder<'_>) -> Result<()> {
    if len > 0 && shape.contains(&0) {
        return Err(fail!(builder(), NoElements, "there is no {name} of 0 elements"));
    }
    Ok(())
}
