//! Verification of a result's declared shape.

use super::infer::{AlignedAxes, Inferred, NameSpans};
use super::{Dim, PartialShape, Span};
use crate::error::{BroadcastError, ErrorKind, Mark, Request, count, operation};
use crate::shape::ByName;
use alloc::{format, string::ToString};

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
/// operands or the result are `*`, nothing is compared. A name of the result stands for the same size
/// everywhere, in operands too.
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
    let (_, inferred) = infer_operands(operands, &request)?;
    match result.dims().filter(|_| operands.iter().any(|shape| shape.dims().is_some())) {
        Some(declared) => compare(&inferred, declared, rule, &request),
        None => Ok(()),
    }
}

/// The aligned axes of the operands and the joint sizes inferred from them.
///
/// # Errors
/// `NoOperands`; then those of [`AlignedAxes::infer`].
pub(super) fn infer_operands<'a>(
    operands: &'a [PartialShape],
    request: &dyn Fn() -> Request,
) -> Result<(AlignedAxes<'a>, Inferred<'a>), BroadcastError> {
    if operands.is_empty() {
        let detail = "there are no operands, expected at least 1";
        return Err(request().error(ErrorKind::NoOperands, detail.into()));
    }
    let columns = AlignedAxes::new(operands);
    let inferred = columns.infer(request)?;
    Ok((columns, inferred))
}

/// Compares a declared shape with the inferred one.
///
/// # Errors
/// `AxisCount`; then `ResultSize` with the first axis that does not agree.
pub(super) fn compare(
    inferred: &Inferred<'_>,
    declared: &[Dim],
    rule: ResultRule,
    request: &dyn Fn() -> Request,
) -> Result<(), BroadcastError> {
    if inferred.dims.len() != declared.len() {
        let detail = format!("the result has {}, expected {}", count(declared.len()), inferred.dims.len());
        return Err(request().error(ErrorKind::AxisCount, detail));
    }
    let mut agreement = Agreement::new(&inferred.named);
    for (axis, (inferred, declared)) in inferred.dims.iter().zip(declared).enumerate() {
        let agrees = match rule {
            ResultRule::AllowCast => agreement.possible(inferred, declared),
            ResultRule::Exact => agreement.certain(inferred, declared),
        };
        if !agrees {
            return Err(result_size(request(), axis, inferred, declared, rule));
        }
    }
    Ok(())
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
    inferred: &Dim,
    declared: &Dim,
    rule: ResultRule,
) -> BroadcastError {
    let sizes = match rule {
        ResultRule::Exact => "all sizes",
        ResultRule::AllowCast => "a size",
    };
    let named = [inferred, declared].iter().any(|dim| dim.as_name().is_some());
    let rest = if named { ", and one size for each name" } else { "" };
    let detail = format!(
        "axis {axis} is inferred as {inferred} and declared as {declared}, \
         expected {sizes} that the inferred one can be{rest}"
    );
    let error = request.error(ErrorKind::ResultSize, detail);
    error.at(axis as i128, &[Mark::Result(axis)], &[inferred, declared].map(ToString::to_string))
}

/// Compares the axes of a result with the inferred ones, one by one, and keeps the sizes of names.
pub(super) struct Agreement<'a> {
    named: &'a NameSpans<'a>,
    /// The sizes that each name can have if the axes so far agree.
    spans: ByName<'a, Span>,
    /// The inferred size at the first axis of each name of the result.
    first: ByName<'a, &'a Dim>,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(named: &'a NameSpans<'a>) -> Self {
        Self { named, spans: ByName::new(), first: ByName::new() }
    }

    /// Whether the inferred and the declared size have a size in common.
    pub(super) fn possible(&mut self, inferred: &'a Dim, declared: &'a Dim) -> bool {
        let spans = [self.named.span(inferred), declared.span()];
        spans[0].intersect(spans[1]).is_some()
            && self.narrow(inferred, spans[1])
            && self.narrow(declared, spans[0])
    }

    /// Restricts `dim`, if it is a name, to `span`, and returns whether a size remains.
    fn narrow(&mut self, dim: &'a Dim, span: Span) -> bool {
        let Dim::Name(name) = dim else { return true };
        let seen = self.spans.or_insert(name.as_str(), Span::ANY);
        match seen.intersect(span) {
            Some(span) => {
                *seen = span;
                self.named.meets(name, span)
            }
            None => false,
        }
    }

    /// Whether the declared size covers all sizes of the inferred one.
    pub(super) fn certain(&mut self, inferred: &'a Dim, declared: &'a Dim) -> bool {
        let Dim::Name(name) = declared else {
            return declared.span().covers(self.named.span(inferred));
        };
        // A name that no operand has is new: its first axis defines it.
        let first = *self.first.or_insert(name.as_str(), inferred);
        let fixed = core::ptr::eq(first, inferred) || !matches!(inferred, Dim::Unknown | Dim::Range(_));
        declared == inferred || (!self.named.has(name) && fixed && first == inferred)
    }
}
