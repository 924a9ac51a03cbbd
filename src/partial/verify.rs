//! Verification of a result's declared shape.

use super::check::Spot;
use super::dim::{Dim, Span};
use super::infer::infer_ranked;
use super::operation::Part;
use super::system::{Clash, Layout, System, checked, dims};
use super::{Names, PartialShape, Place};
use crate::error::{BroadcastError, Count, Request, fail, operation};
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
    verify_parts(&operands.into_iter().map(Part::whole).collect::<Vec<_>>(), result, rule)
}

fn verify_parts(parts: &[Part<'_>], result: &PartialShape, rule: ResultRule) -> Result<(), BroadcastError> {
    let request = || verified(parts, result);
    let mut names = Names::new();
    some_operand(parts, &request)?;
    let (mut system, ndim, _) = infer_ranked(parts, &mut names, &request, false)?;
    let sizes = (0..ndim).map(|axis| system.size(axis).0).collect();
    let sizes = checked(sizes, &request)?;
    let ranked = parts.iter().any(|part| part.shape.ndim().is_some());
    let Some(declared) = result.dims().filter(|_| ranked) else { return Ok(()) };
    same_axes(declared, ndim, &request)?;
    if rule == ResultRule::AllowCast {
        drop(system);
        return possible(parts, declared, &sizes, true, &request);
    }
    let mut places = first_places(parts);
    for (axis, dim) in declared.iter().enumerate() {
        let inferred = system.size(axis);
        if !certain(&mut system, &mut places, axis, dim, &inferred) {
            return Err(result_size(request(), axis, [&inferred.0, dim], rule));
        }
    }
    Ok(())
}

/// Checks that there is an operand.
///
/// # Errors
/// `NoOperands`.
pub(super) fn some_operand(parts: &[Part<'_>], request: &dyn Fn() -> Request) -> Result<(), BroadcastError> {
    if parts.is_empty() {
        return Err(fail!(request(), NoOperands, "there are no operands, expected at least 1"));
    }
    Ok(())
}

/// Checks that a result has the inferred number of axes.
///
/// # Errors
/// `AxisCount`.
pub(super) fn same_axes(
    declared: &[Dim],
    expected: usize,
    request: &dyn Fn() -> Request,
) -> Result<(), BroadcastError> {
    if declared.len() == expected {
        return Ok(());
    }
    let found = Count(declared.len());
    Err(fail!(request(), AxisCount, "the result has {found}, expected {expected}"))
}

/// Checks that operands can give a result of these sizes. The last of them were inferred as `sizes`. If they are from `all`
/// operands, no other one, such as `*`, brings others.
///
/// # Errors
/// `DeclaredName` where the ranges of a name have no size in common; `ResultSize` with the first axis that does not agree.
pub(super) fn possible(
    parts: &[Part<'_>],
    declared: &[Dim],
    sizes: &[Dim],
    all: bool,
    request: &dyn Fn() -> Request,
) -> Result<(), BroadcastError> {
    let count = declared.len();
    let mut shapes: Vec<_> = parts.iter().map(|part| dims(part.shape)).collect();
    shapes.push(declared);
    let new = shapes.iter().map(|dims| count - dims.len()).collect::<Vec<_>>();
    let at = |shape: usize, axis: usize| Some((new[shape] + axis, shape == parts.len()));
    let mut layout = Layout::new(shapes, count, &at);
    layout.result = Some(parts.len());
    let blame = |request, clash: Clash<'_>| {
        let inferred =
            (clash.axis + sizes.len()).checked_sub(count).map_or(&Dim::Unknown, |axis| &sizes[axis]);
        result_size(request, clash.axis, [inferred, &declared[clash.axis]], ResultRule::AllowCast)
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
pub(super) fn first_places(parts: &[Part<'_>]) -> ByName<Place> {
    let mut places = ByName::new();
    for (operand, part) in parts.iter().enumerate() {
        for (axis, dim) in dims(part.shape).iter().enumerate() {
            if let Some(name) = dim.as_name() {
                places.or_insert(name, Place::from(Spot::new(operand, axis)));
            }
        }
    }
    places
}

/// Whether the declared size of an axis covers all sizes of the inferred one. `places` has the first place of each name in the
/// operands and in the axes of the result so far.
pub(super) fn certain(
    system: &mut System<'_, '_>,
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

/// The request to verify a result, for messages.
#[cold]
pub(super) fn verified(parts: &[Part<'_>], result: &PartialShape) -> Request {
    let operation = if parts.is_empty() { &operation::VERIFY_NOTHING } else { &operation::VERIFY };
    Request::new(operation, parts).to(result)
}

/// The error of a declared size that does not agree with the inferred one.
#[cold]
fn result_size(request: Request, axis: usize, dims: [&Dim; 2], rule: ResultRule) -> BroadcastError {
    let [inferred, declared] = dims;
    let sizes = if rule == ResultRule::Exact { "all sizes" } else { "a size" };
    let named = inferred.as_name().or(declared.as_name()).is_some();
    let rest = if named { ", and one size for each name" } else { "" };
    fail!(
        request.at(axis as i128, &[Spot::of_result(axis).mark()], &[inferred, declared]),
        ResultSize,
        "axis {axis} is inferred as {inferred} and declared as {declared}, \
         expected {sizes} that the inferred one can be{rest}"
    )
}
