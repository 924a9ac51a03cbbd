//! Verification of a result's declared shape.

use super::check::PackedPlace;
use super::decide::with_unranked;
use super::dim::{Dim, Span};
use super::infer::infer_ranked;
use super::layout::{Layout, dims, list, shapes, unranked};
use super::shape_op::Part;
use super::system::{Clash, System, checked};
use super::{Check, Names, PartialShape, Place};
use crate::error::{BroadcastError, Count, ErrorBuilder, caller, fail};
use crate::shape::ByName;
use alloc::vec::Vec;

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
/// operands or the result are `*`, nothing is compared; an operand `*` is left out, although it may bring more axes
/// or larger ones, which only [`Plan::with_result`](super::Plan::with_result) checks. A name of the result stands for
/// the same size everywhere, in operands too.
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
) -> Result<(), BroadcastError> {
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
) -> Result<Vec<Check>, BroadcastError> {
    let parts = list(operands.len(), &mut |operand| Part::whole(operands[operand]));
    let request = || {
        let operation = if parts.is_empty() { &caller::VERIFY_NOTHING } else { &caller::VERIFY };
        ErrorBuilder::new(operation, &parts).to(result)
    };
    if parts.is_empty() {
        return Err(fail!(request(), NoOperands, "there are no operands, expected at least 1"));
    }
    let mut names = Names::new();
    let (system, ndim, checks) = infer_ranked(&parts, &mut names, &request, rule.is_none())?;
    let sizes = checked(system.joint_sizes(0..ndim), &request)?;
    let mut checks = with_unranked(checks, &parts, &sizes);
    let unranked = unranked(&parts).len();
    let (open, nothing) = (rule.is_none() && unranked > 0, rule.is_some() && unranked == parts.len());
    let Some(declared) = result.dims().filter(|_| !nothing) else { return Ok(checks) };
    match declared.len() {
        found if open && found < ndim => return Err(request().too_few_axes("result", ndim, found)),
        found if open => checks.push(Check::ResultAxes { ndim: found }),
        found if found != ndim => {
            let found = Count(found);
            return Err(fail!(request(), AxisCount, "the result has {found}, expected {ndim}"));
        }
        _ => {}
    }
    let mut places = first_places(&parts);
    for (axis, dim) in declared.iter().enumerate().filter(|_| rule != Some(ResultRule::AllowCast)) {
        // an operand `*` may bring any size
        let inferred = if open { (Dim::Unknown, Span::ANY) } else { system.size(axis) };
        if certain(&system, &mut places, axis, dim, &inferred) {
            continue;
        }
        if rule.is_some() {
            return Err(result_size(request(), axis, [&inferred.0, dim], "all sizes"));
        }
        let only = if open { None } else { only_stretching(&system, axis) };
        let place = only.unwrap_or(Place::Result { axis });
        let bound = dim.as_name().and_then(|name| places.get(name));
        // a name that stands somewhere else may have a range of its own here
        if bound.is_none() || !dim.span().covers(inferred.1) {
            checks.push(Check::Is { place, dim: dim.span().into(), or_one: false });
        }
        match bound {
            Some(&other) if other != place => checks.push(Check::Equals { place, other, or_one: false }),
            _ => {}
        }
    }
    drop(system);
    if rule != Some(ResultRule::Exact) {
        possible(&parts, declared, &sizes, !open, &request)?;
    }
    Ok(checks)
}

/// The place of the only size at an axis that may differ from 1: it is the result's size.
fn only_stretching(system: &System<'_, '_>, axis: usize) -> Option<Place> {
    let mut only = None;
    for &entry in system.layout.at(axis) {
        let place = Place::from(system.layout.spot(entry));
        if *system.layout.dim(entry) != Dim::Known(1) && only.replace(place).is_some() {
            return None;
        }
    }
    only
}

/// Checks that operands can give a result of the declared sizes. The last axes were inferred as `sizes`. With `all`, these are
/// the sizes of all operands: no `*` adds others.
///
/// # Errors
/// `DeclaredName` where the ranges of a name have no size in common; `ResultSize` with the first axis that does not agree.
fn possible(
    parts: &[Part<'_>],
    declared: &[Dim],
    sizes: &[Dim],
    all: bool,
    request: &dyn Fn() -> ErrorBuilder,
) -> Result<(), BroadcastError> {
    let (count, mut shapes) = (declared.len(), shapes(parts));
    shapes.push(declared);
    let new = list(shapes.len(), &mut |shape| count - shapes[shape].len());
    let at = |shape: usize, axis: usize| Some((new[shape] + axis, shape == parts.len()));
    let mut layout = Layout::new(shapes, count, &at);
    layout.result = Some(parts.len());
    let blame = |request, clash: Clash<'_>| {
        let inferred =
            (clash.axis + sizes.len()).checked_sub(count).map_or(&Dim::Unknown, |axis| &sizes[axis]);
        result_size(request, clash.axis, [inferred, &declared[clash.axis]], "a size")
    };
    let mut names = Names::new();
    let mut system = System::new(layout, &mut names, None, request, &blame)?;
    system.solve()?;
    if all {
        system.support(count)?;
    }
    Ok(())
}

/// The first axis of each name in the operands.
fn first_places(parts: &[Part<'_>]) -> ByName<Place> {
    let mut places = ByName::new();
    for (operand, part) in parts.iter().enumerate() {
        for (axis, dim) in dims(part.shape).iter().enumerate() {
            if let Some(name) = dim.as_name() {
                places.or_insert(name, Place::from(PackedPlace::new(operand, axis)));
            }
        }
    }
    places
}

/// Whether the declared size of an axis covers all sizes of the inferred one. `places` has the first place of each name in the
/// operands and in the axes of the result so far.
fn certain(
    system: &System<'_, '_>,
    places: &mut ByName<Place>,
    axis: usize,
    declared: &Dim,
    (inferred, span): &(Dim, Span),
) -> bool {
    let covers = declared.span().covers(*span);
    let Some(name) = declared.as_name() else { return covers };
    covers
        && match *places.or_insert(name, Place::Result { axis }) {
            // A name that no operand has is new: its first axis defines it.
            Place::Result { axis: first } => {
                let fixed = matches!(inferred, Dim::Known(_) | Dim::Name(_));
                first == axis || (fixed && system.size(first).0 == *inferred)
            }
            Place::Operand { .. } => {
                matches!(inferred, Dim::Known(_) | Dim::Name(_))
                    && system.vars.dim_of(name).as_ref() == Some(inferred)
            }
        }
}

/// The error of a declared size that does not agree with the inferred one.
#[cold]
fn result_size(request: ErrorBuilder, axis: usize, dims: [&Dim; 2], sizes: &str) -> BroadcastError {
    let [inferred, declared] = dims;
    let named = inferred.as_name().or(declared.as_name()).is_some();
    let rest = if named { ", and one size for each name" } else { "" };
    fail!(
        request
            .at(axis as i128)
            .marks(&[PackedPlace::at(PackedPlace::RESULT, axis).mark()])
            .sizes(&[inferred, declared]),
        ResultSize,
        "axis {axis} is inferred as {inferred} and declared as {declared}, \
         expected {sizes} that the inferred one can be{rest}"
    )
}
