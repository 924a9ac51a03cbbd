//! Verification of a result's declared shape.

use super::bindings::consistent;
use super::infer::{AlignedAxes, Joint};
use super::{Dim, PartialShape, Place, Span};
use crate::error::{BroadcastError, Count, Mark, Request, fail, operation};
use crate::shape::ByName;

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
/// [`ResultSize`](crate::ErrorKind::ResultSize) with the first axis that does not agree.
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
pub fn verify(
    operands: &[PartialShape],
    result: &PartialShape,
    rule: ResultRule,
) -> Result<(), BroadcastError> {
    let request = || verified(operands, result);
    let consistent = consistent(operands, &request)?;
    let joint = infer_operands(&consistent, &request)?;
    let ranked = joint.columns.unranked.len() < operands.len();
    let Some(declared) = result.dims().filter(|_| ranked) else { return Ok(()) };
    compare(&joint, declared, rule, &request)
}

/// The joint shape of at least one operand.
///
/// # Errors
/// `NoOperands`; then those of [`AlignedAxes::infer`].
pub(super) fn infer_operands<'a>(
    operands: &'a [PartialShape],
    request: &dyn Fn() -> Request,
) -> Result<Joint<'a>, BroadcastError> {
    if operands.is_empty() {
        return Err(fail!(request(), NoOperands, "there are no operands, expected at least 1"));
    }
    AlignedAxes::new(operands).infer(request)
}

/// Compares a declared shape with the inferred one.
///
/// # Errors
/// `AxisCount`; then `ResultSize` with the first axis that does not agree.
pub(super) fn compare(
    joint: &Joint<'_>,
    declared: &[Dim],
    rule: ResultRule,
    request: &dyn Fn() -> Request,
) -> Result<(), BroadcastError> {
    if joint.dims.len() != declared.len() {
        let (found, expected) = (Count(declared.len()), joint.dims.len());
        return Err(fail!(request(), AxisCount, "the result has {found}, expected {expected}"));
    }
    let (mut seen, mut places) = (ByName::new(), joint.columns.first_places());
    for (axis, (inferred, dim)) in joint.dims.iter().zip(declared).enumerate() {
        let agrees = match rule {
            ResultRule::AllowCast => joint.possible(&mut seen, [inferred, dim]),
            ResultRule::Exact => joint.certain(&mut places, axis, dim),
        };
        if !agrees {
            return Err(result_size(request(), axis, [inferred, dim], rule));
        }
    }
    Ok(())
}

impl Joint<'_> {
    /// Whether an inferred and a declared size have a size in common. `seen` has the sizes that names can have if the axes
    /// so far agree.
    pub(super) fn possible(&self, seen: &mut ByName<Span>, dims: [&Dim; 2]) -> bool {
        let [inferred, declared] = dims;
        let mut fits = |dim, span| narrow(seen, dim, span).is_some_and(|span| self.meets(dim, span));
        fits(inferred, declared.span()) && fits(declared, self.span(inferred))
    }

    /// Whether the declared size of an axis covers all sizes of the inferred one. `places` has the first place of each name
    /// in the operands and in the axes of the result so far.
    pub(super) fn certain(&self, places: &mut ByName<Place>, axis: usize, declared: &Dim) -> bool {
        let inferred = &self.dims[axis];
        let covers = declared.span().covers(self.span(inferred));
        let Some(name) = declared.as_name() else { return covers };
        covers
            && match *places.or_insert(name, Place::Result { axis }) {
                // A name that no operand has is new: its first axis defines it.
                Place::Result { axis: first } => {
                    let fixed = matches!(inferred, Dim::Known(_) | Dim::Name(_));
                    first == axis || (fixed && self.dims[first] == *inferred)
                }
                Place::Operand { .. } => inferred.as_name() == Some(name),
            }
    }
}

/// The request to verify a result, for messages.
#[cold]
pub(super) fn verified(operands: &[PartialShape], result: &PartialShape) -> Request {
    let operation = if operands.is_empty() { &operation::VERIFY_NOTHING } else { &operation::VERIFY };
    Request::new(operation, operands).to(result)
}

/// The error of a declared size that does not agree with the inferred one.
#[cold]
pub(super) fn result_size(
    request: Request,
    axis: usize,
    dims: [&Dim; 2],
    rule: ResultRule,
) -> BroadcastError {
    let [inferred, declared] = dims;
    let sizes = if rule == ResultRule::Exact { "all sizes" } else { "a size" };
    let named = inferred.as_name().or(declared.as_name()).is_some();
    let rest = if named { ", and one size for each name" } else { "" };
    fail!(
        request.at(axis as i128, &[Mark::Result(axis)], &[inferred, declared]),
        ResultSize,
        "axis {axis} is inferred as {inferred} and declared as {declared}, \
         expected {sizes} that the inferred one can be{rest}"
    )
}

/// The sizes of `dim` that are in `span`, if there are any. For a name, `seen` keeps them.
fn narrow(seen: &mut ByName<Span>, dim: &Dim, span: Span) -> Option<Span> {
    let span = dim.span().intersect(span)?;
    let Some(name) = dim.as_name() else { return Some(span) };
    let seen = seen.or_insert(name, Span::ANY);
    *seen = seen.intersect(span)?;
    Some(*seen)
}
