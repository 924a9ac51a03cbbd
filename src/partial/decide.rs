//! Decisions: operands go together always, never, or if checks hold at run time.

use super::dim::BesideOne;
use super::infer::{AlignedAxes, AlignedDim, Inferred};
use super::verify::{Agreement, compare, infer_operands, result_size, verified};
use super::{Check, Dim, PartialShape, Place, ResultRule};
use crate::error::{BroadcastError, Request, operation};
use crate::shape::{ByName, insert_sorted};
use alloc::{vec, vec::Vec};

/// Whether operands go together, as far as their partial shapes say.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{decide, Decision};
///
/// assert_eq!(decide(&["?x1".parse()?, "3".parse()?]), Decision::Always);
/// assert!(matches!(decide(&["2".parse()?, "3".parse()?]), Decision::Never(_)));
/// let Decision::Depends(checks) = decide(&["?".parse()?, "3".parse()?]) else { unreachable!() };
/// assert_eq!(checks[0].to_string(), "axis 0 of operand 0 is 1 or 3");
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `shape.cstr_broadcastable` in MLIR folds to a true witness or stays; it has no answer for never.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// All shapes that the operands accept go together.
    Always,
    /// No shapes that the operands accept go together; the error says why.
    Never(BroadcastError),
    /// Shapes that the operands accept go together exactly where all these checks hold; there is at
    /// least one.
    Depends(Vec<Check>),
}

impl Decision {
    fn from_checks(checks: Vec<Check>) -> Self {
        if checks.is_empty() { Self::Always } else { Self::Depends(checks) }
    }

    /// The checks that remain, or the error of [`Never`](Self::Never).
    ///
    /// # Errors
    /// The error of [`Never`](Self::Never).
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::decide;
    ///
    /// assert_eq!(decide(&["?".parse()?, "1".parse()?]).checks()?, []);
    /// assert_eq!(decide(&["?".parse()?, "2".parse()?]).checks()?.len(), 1);
    /// assert!(decide(&["3".parse()?, "2".parse()?]).checks().is_err());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`Decision`].
    pub fn checks(self) -> Result<Vec<Check>, BroadcastError> {
        match self {
            Self::Always => Ok(Vec::new()),
            Self::Never(error) => Err(error),
            Self::Depends(checks) => Ok(checks),
        }
    }
}

/// Whether operands go together: always, never, or where certain checks hold.
///
/// # Shapes
/// Aligned at the right, as in [`infer_shapes`](super::infer_shapes). `Always` and `Never` are certain:
/// of all shapes that the operands [accept](PartialShape::accepts), with one size for each name, all go
/// together or none do. The answer is about the sizes of axes. A result that is too large as a whole is
/// `Never` only if the smallest possible result is too large; otherwise, [`Plan`](super::Plan) finds it at
/// run time. The order of the operands does not change the answer. No operands at all go together.
///
/// # Errors
/// None; [`Decision::Never`] has the error of [`infer_shapes`](super::infer_shapes).
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{decide, Decision, PartialShape};
///
/// let p = |text: &str| text.parse::<PartialShape>().unwrap();
/// let words = |operands: &[PartialShape]| -> Vec<String> {
///     decide(operands).checks().unwrap().iter().map(ToString::to_string).collect()
/// };
/// assert_eq!(words(&[p("4x?"), p("1"), p("2..")]), ["axis 1 of operand 0 is 1 or equals axis 0 of operand 2"]);
/// assert_eq!(
///     words(&[p("?"), p("n"), p("1x?")]),
///     ["of axis 0 of operand 0, axis 0 of operand 1 and axis 1 of operand 2 those that are not 1 are equal"],
/// );
/// assert_eq!(words(&[p("*"), p("3")]), ["operand 0 goes together with all others"]);
/// assert_eq!(decide(&[p("nx1"), p("nx0..1"), p("0")]), Decision::Always);
/// assert!(matches!(decide(&[p("0"), p("?"), p("3")]), Decision::Never(_)));
/// ```
///
/// # Equivalents
/// `shape.cstr_broadcastable` in MLIR, which answers always or unknown; nGraph's
/// `broadcast_merge_into` refuses where it is sure.
pub fn decide(operands: &[PartialShape]) -> Decision {
    infer_and_check(operands).map_or_else(Decision::Never, |(_, checks)| Decision::from_checks(checks))
}

/// The joint shape and the checks that remain.
pub(super) fn infer_and_check(
    operands: &[PartialShape],
) -> Result<(PartialShape, Vec<Check>), BroadcastError> {
    let columns = AlignedAxes::new(operands);
    let joint = columns.infer(&|| Request::new(&operation::PARTIAL_TOGETHER, operands))?;
    Ok((joint.shape_of(operands), operand_checks(operands, &columns)))
}

/// Whether operands go together and give a result of a declared shape.
///
/// # Shapes
/// As [`decide`], and `result` accepts the joint shape. A name of the result stands for the same size as
/// in the operands. If a name occurs several times, an impossible result may give checks that cannot all
/// hold; the other answers are certain.
///
/// # Errors
/// None; [`Decision::Never`] has the errors of [`verify`](super::verify()) under
/// [`ResultRule::AllowCast`]. With an operand `*`, which may bring further axes, only a result with too
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
pub fn decide_result(operands: &[PartialShape], result: &PartialShape) -> Decision {
    result_checks(operands, result).map_or_else(Decision::Never, Decision::from_checks)
}

fn result_checks(operands: &[PartialShape], result: &PartialShape) -> Result<Vec<Check>, BroadcastError> {
    let rule = ResultRule::AllowCast;
    let request = || verified(operands, result);
    let unranked = operands.iter().any(|shape| shape.dims().is_none());
    let (columns, joint) = infer_operands(operands, &request)?;
    let mut checks = operand_checks(operands, &columns);
    let Some(declared) = result.dims() else { return Ok(checks) };
    if !unranked {
        compare(&joint, declared, rule, &request)?;
    }
    let Some(new) = declared.len().checked_sub(columns.ndim()) else {
        let (expected, found) = (columns.ndim(), declared.len());
        return Err(request().too_few_axes("result", expected, found));
    };
    if unranked {
        checks.push(Check::ResultAxes { ndim: declared.len() });
        for (axis, inferred) in joint.dims.iter().enumerate() {
            let dim = &declared[new + axis];
            if !(joint.named.span(inferred).contains(1)
                || Agreement::new(&joint.named).possible(inferred, dim))
            {
                return Err(result_size(request(), new + axis, inferred, dim, rule));
            }
        }
    }
    let places = first_places(operands);
    let known = (!unranked).then_some(&joint);
    checks.extend(axis_checks(&columns, known, declared, places));
    Ok(checks)
}

/// The first axis of each name in the operands.
fn first_places(operands: &[PartialShape]) -> ByName<'_, Place> {
    let mut places = ByName::new();
    for (operand, shape) in operands.iter().enumerate() {
        for (axis, dim) in shape.dims().unwrap_or_default().iter().enumerate() {
            if let Some(name) = dim.as_name() {
                places.or_insert(name, Place::Operand { operand, axis });
            }
        }
    }
    places
}

/// The checks of a result's sizes, for operands that go together. Without `joint`, the result's sizes
/// are unknown.
fn axis_checks<'a>(
    columns: &AlignedAxes,
    joint: Option<&'a Inferred<'a>>,
    declared: &'a [Dim],
    mut places: ByName<'a, Place>,
) -> Vec<Check> {
    let mut agreement = joint.map(|joint| Agreement::new(&joint.named));
    let mut checks = Vec::new();
    for (axis, dim) in declared.iter().enumerate() {
        let certain = match (&mut agreement, joint) {
            (Some(agreement), Some(joint)) => agreement.certain(&joint.dims[axis], dim),
            _ => *dim == Dim::Unknown,
        };
        let place = joint.and_then(|_| only_stretching(columns, axis)).unwrap_or(Place::Result { axis });
        if let Dim::Name(name) = dim {
            let first = *places.or_insert(name.as_str(), Place::Result { axis });
            if !certain && first != place && first != (Place::Result { axis }) {
                checks.push(Check::Equals { place, other: first, or_one: false });
            }
        } else if !certain {
            checks.push(Check::Is { place, dim: dim.clone(), or_one: false });
        }
    }
    checks
}

/// The place of the size at an axis that may differ from 1, if there is exactly one: it is the result's size.
fn only_stretching(columns: &AlignedAxes, axis: usize) -> Option<Place> {
    let mut stretching = columns.at(axis).filter(|(_, _, dim)| **dim != Dim::Known(1));
    let (operand, axis, _) = stretching.next()?;
    stretching.next().is_none().then_some(Place::Operand { operand, axis })
}

/// The checks that operands go together, where that is possible.
fn operand_checks(operands: &[PartialShape], columns: &AlignedAxes) -> Vec<Check> {
    let (mut checks, mut seen) = (Vec::new(), Vec::new());
    // If all known sizes are 1, the first operand `*` goes together with them, whatever its shape.
    let mut ones = true;
    for axis in 0..columns.ndim() {
        column_checks(columns.at(axis), &mut checks, &mut seen);
        ones &= columns.at(axis).all(|(_, _, dim)| *dim == Dim::Known(1));
    }
    let is_unranked = |&(_, shape): &(usize, &PartialShape)| shape.dims().is_none();
    let mut unranked = operands.iter().enumerate().filter(is_unranked).skip(usize::from(ones));
    checks.extend(match (unranked.next(), unranked.next()) {
        (None, _) => None,
        (Some((operand, _)), None) => Some(Check::GoesTogether { operand }),
        // one check for each of them would compare every pair of operands
        _ => Some(Check::AllGoTogether),
    });
    checks
}

/// The checks of names made so far: without a size, these names agree; with a size, each is 1 or that size.
type CheckedNames<'a> = Vec<(Vec<&'a str>, Option<usize>)>;

/// The checks of one axis.
fn column_checks<'a>(
    column: impl Iterator<Item = AlignedDim<'a>>,
    checks: &mut Vec<Check>,
    seen: &mut CheckedNames<'a>,
) {
    let (mut names, mut stretching) = (Vec::new(), Vec::new());
    for (operand, axis, dim) in column {
        if dim.as_name().map_or(*dim != Dim::Known(1), |name| insert_sorted(&mut names, name)) {
            stretching.push((Place::Operand { operand, axis }, dim));
        }
    }
    let mut forced = stretching.iter().filter(|(_, dim)| !dim.admits(1));
    let known = forced.clone().find_map(|(_, dim)| dim.span().single());
    if let Some(size) = known {
        for &(place, dim) in &stretching {
            let open = match dim.as_name() {
                Some(name) => insert_sorted(seen, (vec![name], known)),
                None => dim.span().beside_one() != BesideOne::Size(size),
            };
            if open {
                checks.push(Check::Is { place, dim: Dim::Known(size), or_one: dim.admits(1) });
            }
        }
    } else if let Some(&(other, _)) = forced.next() {
        for &(place, dim) in stretching.iter().filter(|(place, _)| *place != other) {
            checks.push(Check::Equals { place, other, or_one: dim.admits(1) });
        }
    } else if let [(_, first), _, ..] = &stretching[..] {
        let first = first.span().beside_one();
        let certain =
            first != BesideOne::Several && stretching.iter().all(|(_, dim)| dim.span().beside_one() == first);
        let only_names = stretching.len() == names.len();
        if !certain && (!only_names || insert_sorted(seen, (names, None))) {
            checks.push(Check::Agree { places: stretching.iter().map(|&(place, _)| place).collect() });
        }
    }
}
