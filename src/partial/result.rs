//! A declared shape of the result: its verification, and decisions.

use super::dim::{Dim, Span};
use super::partial_shape::list;
use super::place::{Clash, OwnAxis, Owner};
use super::solver::System;
use super::statement::{Operation, Statement, check_overflow};
use super::{Check, Decision, Names, PartialShape, Place};
use crate::error::{BroadcastError, Count, ErrorBuilder, Result, caller, fail};
use crate::shape::ByName;
use alloc::vec::Vec;

/// Whether operands go together and give a result of a declared shape.
///
/// # Shapes
/// As [`decide`](super::decide()), and `result` accepts the joint shape. A name of the result stands for the same size as
/// in the operands. The answers are certain. There is one exception: if many names could each have many sizes of the result,
/// an impossible result may give checks that cannot all hold, because finding out would take too long.
///
/// # Errors
/// None; [`Decision::Never`] has the errors of [`verify`](super::verify()) under
/// [`AllowCast`](super::ResultRule::AllowCast). With an operand `*`, which may have further axes, only a result with too
/// few axes is an error about their number: [`TooFewAxes`](crate::ErrorKind::TooFewAxes).
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{decide_result, Decision, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// let checks = decide_result(&[p("?x1"), p("?")], &p("4x?")).checks()?;
/// assert_eq!(checks.len(), 1);
/// assert_eq!(checks[0].to_string(), "axis 0 of operand 0 is 4");
/// assert_eq!(decide_result(&[p("nx1"), p("3")], &p("nx3")), Decision::Always);
/// assert!(matches!(decide_result(&[p("1"), p("1")], &p("4")), Decision::Never(_)));
/// assert!(matches!(decide_result(&[p("1"), p("*")], &p("4")), Decision::Depends(_)));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// MLIR's verifier checks the table only: a cast that does not hold is undefined behaviour there.
pub fn decide_result<'p>(
    operands: impl IntoIterator<Item = &'p PartialShape>,
    result: &PartialShape,
) -> Decision {
    let operands: Vec<_> = operands.into_iter().collect();
    result_checks(&operands, result, None).map_or_else(Decision::Never, Decision::from_checks)
}

/// The rule for the declared shape of a result and the inferred one.
///
/// The table and the pseudo-code of MLIR's document differ; this names the two rules.
///
/// | inferred | declared | `AllowCast` | `Exact` |
/// |---|---|---|---|
/// | `?` | `4` | yes | no |
/// | `4` | `?` | yes | yes |
/// | `4` | `4` | yes | yes |
/// | `2..5` | `3..9` | yes | no |
/// | `3` | `4` | no | no |
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{verify, ResultRule};
///
/// let (operand, result) = ("?".parse()?, "4".parse()?);
/// assert!(verify(&[operand], &result, ResultRule::AllowCast).is_ok());
/// # let operand = "?".parse()?;
/// assert!(verify(&[operand], &result, ResultRule::Exact).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `AllowCast` is closer to MLIR's verifier; see [`verify`](super::verify()).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultRule {
    /// The document's table: a declared size is possible for the inferred one, so that an unknown size
    /// may be cast to a known one. The cast remains to be checked: see [`Plan`](super::Plan).
    AllowCast,
    /// The document's pseudo-code: a declared size covers all sizes of the inferred one, so that nothing
    /// remains to be checked.
    Exact,
}

/// Whether operands of these shapes can give a result of the declared shape `result`.
///
/// # Shapes
/// At least one operand. The operands with a known number of axes have a joint shape with exactly as many
/// axes as the result, and each axis of the result agrees with the inferred one under `rule`. If all
/// operands or the result are `*`, nothing is compared; an operand `*` is left out, although it may have more axes or larger
/// sizes: only [`Plan::with_result`](super::Plan::with_result) checks these. A name of the result stands for the same size
/// everywhere, in operands too.
///
/// # Errors
/// In this order: [`NoOperands`](crate::ErrorKind::NoOperands);
/// [`Incompatible`](crate::ErrorKind::Incompatible) and [`Overflow`](crate::ErrorKind::Overflow) as
/// in [`infer_result_shape`](super::infer_result_shape);
/// [`AxisCount`](crate::ErrorKind::AxisCount) where the result has more or fewer axes than inferred;
/// [`ResultSize`](crate::ErrorKind::ResultSize) with the first axis that does not agree. Before it,
/// [`DeclaredName`](crate::ErrorKind::DeclaredName) where the ranges of a name have no size in common.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{verify, PartialShape, ResultRule};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// verify(&[p("?x1"), p("3")], &p("4x3"), ResultRule::AllowCast)?;
/// assert!(verify(&[p("?x1"), p("3")], &p("4x3"), ResultRule::Exact).is_err());
/// assert_eq!(
///     verify(&[p("1"), p("1")], &p("4"), ResultRule::AllowCast).unwrap_err().to_string(),
///     "cannot verify result 4 of operands 1 and 1: axis 0 is inferred as 1 and declared as 4, \
///      expected a size that the inferred one can be",
/// );
/// assert_eq!(
///     verify(&[p("3"), p("3")], &p("1x3"), ResultRule::AllowCast).unwrap_err().to_string(),
///     "cannot verify result 1x3 of operands 3 and 3: the result has 2 axes, expected 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The verifier of MLIR's `ResultsBroadcastableShape`, which lets the result have more axes than
/// inferred where its document does not.
pub fn verify<'p>(
    operands: impl IntoIterator<Item = &'p PartialShape>,
    result: &PartialShape,
    rule: ResultRule,
) -> Result<()> {
    result_checks(&operands.into_iter().collect::<Vec<_>>(), result, Some(rule)).map(|_| ())
}

/// The checks that remain for operands and a declared result, or, under a rule, none: an operand `*` is left out.
///
/// # Errors
/// Those of [`verify`].
pub(super) fn result_checks(
    operands: &[&PartialShape],
    result: &PartialShape,
    rule: Option<ResultRule>,
) -> Result<Vec<Check>> {
    let Statement { operation, mut conditions, .. } =
        Operation { words: &caller::VERIFY, ..Operation::on(operands) }.together();
    let builder = || operation.builder().to(result);
    if operands.is_empty() {
        let builder = operation.builder_of(&caller::VERIFY_NOTHING).to(result);
        return Err(fail!(builder, NoOperands, "there are no operands, expected at least 1"));
    }
    let mut names = Names::new();
    conditions.entries.reserve_exact(result.ndim().unwrap_or(0));
    let ndim = conditions.count;
    let (mut system, checks) =
        operation.solve(conditions, &mut names).map_err(|clash| clash.error(builder()))?;
    let sizes = list(ndim, &mut |axis| system.size(axis).0);
    check_overflow(&sizes, &builder)?;
    let mut checks = operation.with_unranked(checks, &sizes);
    let unranked = operands.iter().filter(|shape| shape.ndim().is_none()).count();
    let (open, nothing) = (rule.is_none() && unranked > 0, rule.is_some() && unranked == operands.len());
    let Some(declared) = result.dims().filter(|_| !nothing) else { return Ok(checks) };
    match declared.len() {
        found if open && found >= ndim => checks.push(Check::ResultAxes { ndim: found }),
        found if open => return Err(builder().too_few_axes("result", ndim, found)),
        found if found != ndim => {
            let found = Count(found);
            return Err(fail!(builder(), AxisCount, "the result has {found}, expected {ndim}"));
        }
        _ => {}
    }
    if rule != Some(ResultRule::AllowCast) {
        let uncertain = add_checks(&mut checks, &system, declared, open);
        if let Some((axis, inferred)) = uncertain.filter(|_| rule.is_some()) {
            return Err(result_size(builder(), axis, [&inferred, &declared[axis]], "all sizes"));
        }
    }
    if rule != Some(ResultRule::Exact) {
        system.declare(declared, !open).map_err(|clash| {
            let Clash::Sizes { axis, .. } = clash else { return clash.error(builder()) };
            let inferred = (axis + ndim).checked_sub(declared.len()).map_or(&Dim::Unknown, |i| &sizes[i]);
            result_size(builder(), axis, [inferred, &declared[axis]], "a size")
        })?;
    }
    Ok(checks)
}

/// Adds the checks of declared sizes that do not cover all sizes of the inferred ones. Returns the first such axis with the
/// inferred size. If the operands are `open`, each axis of the result may have any size.
fn add_checks(
    checks: &mut Vec<Check>,
    system: &System<'_>,
    declared: &[Dim],
    open: bool,
) -> Option<(usize, Dim)> {
    // the names of the result, the size and an axis of each, and the axes with a check for one size
    let (mut uncertain, mut names, mut sizes, mut exact) = (None, ByName::default(), Vec::new(), Vec::new());
    for (axis, dim) in declared.iter().enumerate() {
        let (inferred, span) = if open { (Dim::Unknown, Span::ANY) } else { system.size(axis) };
        let (name, covers, mut place) = (dim.as_name(), dim.span().covers(span), Place::Result { axis });
        // where the name stands in the operands, and where it stood in the result
        let own = name.and_then(|name| system.vars.first(name));
        let position = name.map(|name| names.position(name));
        let listed = position.and_then(|position| sizes.get(position));
        let known = own.as_ref().or(listed).map(|(_, place)| *place);
        let is_same =
            |(size, _): &(Dim, Place)| *size == inferred && matches!(inferred, Dim::Known(_) | Dim::Name(_));
        // this axis defines a new name
        if !covers || known.is_some() && !own.iter().chain(listed).any(is_same) {
            if !open {
                // the only size at the axis that may differ from 1 is the result's size
                let mut own = system.axes.at(axis).iter().filter(|entry| *entry.dim != Dim::Known(1));
                place = own.next().filter(|_| own.next().is_none()).map_or(place, |only| only.place.into());
            }
            // a name that stands somewhere else may have a range of its own here
            if known.is_none() || !covers {
                checks.push(Check::Is { place, dim: dim.span().into(), or_one: false });
            }
            match known.filter(|other| *other != place) {
                None => {}
                Some(other) if matches!(inferred, Dim::Known(_)) => {
                    checks.push(Check::Is { place: other, dim: inferred.clone(), or_one: false });
                    exact.push(other);
                }
                Some(other) => checks.push(Check::Equals { place, other, or_one: false }),
            }
            uncertain = uncertain.or(Some((axis, inferred.clone())));
        }
        match position {
            Some(position) if position < sizes.len() => sizes[position].0 = inferred,
            Some(_) => sizes.push((inferred, known.unwrap_or(place))),
            None => {}
        }
    }
    // one size says more than that size or 1
    exact.sort_unstable();
    checks.retain(
        |check| !matches!(check, Check::Is { place, or_one: true, .. } if exact.binary_search(place).is_ok()),
    );
    uncertain
}

/// The error of a declared size that does not agree with the inferred one.
fn result_size(builder: ErrorBuilder, axis: usize, dims: [&Dim; 2], sizes: &str) -> BroadcastError {
    let [inferred, declared] = dims;
    let named = inferred.as_name().or(declared.as_name()).is_some();
    let rest = if named { ", and one size for each name" } else { "" };
    let mark = OwnAxis::new(Owner::Result, axis).mark();
    let builder = builder.at(axis as i128, &[mark], &[inferred, declared]);
    fail!(
        builder,
        ResultSize,
        "axis {axis} is inferred as {inferred} and declared as {declared}, \
         expected {sizes} that the inferred one can be{rest}"
    )
}
