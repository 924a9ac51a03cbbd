//! Decisions: operands go together always, never, or if checks hold at run time.

use super::bindings::consistent;
use super::infer::{AlignedAxes, Joint, together};
use super::verify::{compare, infer_operands, result_size, verified};
use super::{Check, Dim, PartialShape, Place, ResultRule};
use crate::error::{BroadcastError, Request};
use crate::shape::ByName;
use alloc::{format, vec, vec::Vec};

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
    pub(super) fn from_checks(checks: Vec<Check>) -> Self {
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
    examine(operands, &|| together(operands))
        .map_or_else(Decision::Never, |(_, checks)| Decision::from_checks(checks))
}

/// The joint shape and the checks that remain.
pub(super) fn examine(
    operands: &[PartialShape],
    request: &dyn Fn() -> Request,
) -> Result<(PartialShape, Vec<Check>), BroadcastError> {
    let operands = consistent(operands, request)?;
    let joint = AlignedAxes::new(&operands).infer(request)?;
    let checks = operand_checks(&joint);
    Ok((joint.shape(), checks))
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

/// The checks that remain for operands and a declared result.
fn result_checks(operands: &[PartialShape], result: &PartialShape) -> Result<Vec<Check>, BroadcastError> {
    let rule = ResultRule::AllowCast;
    let request = || verified(operands, result);
    let operands = consistent(operands, &request)?;
    let mut joint = infer_operands(&operands, &request)?;
    let mut checks = operand_checks(&joint);
    let Some(declared) = result.dims() else { return Ok(checks) };
    let ranked = joint.columns.unranked.is_empty();
    if ranked {
        compare(&joint, declared, rule, &request)?;
    } else {
        let (found, expected) = (declared.len(), joint.dims.len());
        let Some(new) = found.checked_sub(expected) else {
            return Err(request().too_few_axes("result", expected, found));
        };
        for (axis, inferred) in (new..).zip(&joint.dims) {
            let dim = &declared[axis];
            let can_stretch = joint.span(inferred).contains(1);
            if !can_stretch && !joint.possible(&mut ByName::new(), [inferred, dim]) {
                return Err(result_size(request(), axis, [inferred, dim], rule));
            }
        }
        checks.push(Check::ResultAxes { ndim: found });
        // An operand `*` may bring any size.
        joint.dims = vec![Dim::Unknown; found];
    }
    let mut places = joint.columns.first_places();
    for (axis, dim) in declared.iter().enumerate() {
        if joint.certain(&mut places, axis, dim) {
            continue;
        }
        let only = if ranked { only_stretching(&joint.columns, axis) } else { None };
        let place = only.unwrap_or(Place::Result { axis });
        let named = dim.as_name().and_then(|name| places.get(name));
        // a name that stands somewhere else may have a range of its own here
        if named.is_none() || !dim.span().covers(joint.span(&joint.dims[axis])) {
            checks.push(Check::Is { place, dim: dim.span().into(), or_one: false });
        }
        match named {
            Some(&other) if other != place => checks.push(Check::Equals { place, other, or_one: false }),
            _ => {}
        }
    }
    Ok(checks)
}

/// The place of the only size at an axis that may differ from 1: it is the result's size.
fn only_stretching(columns: &AlignedAxes, axis: usize) -> Option<Place> {
    let mut only = None;
    for (operand, axis, dim) in columns.at(axis) {
        if *dim != Dim::Known(1) && only.replace(Place::Operand { operand, axis }).is_some() {
            return None;
        }
    }
    only
}

/// The checks that operands go together, where that is possible.
fn operand_checks(joint: &Joint) -> Vec<Check> {
    let (mut checks, mut seen) = (Vec::new(), ByName::new());
    for axis in 0..joint.dims.len() {
        axis_checks(&joint.columns, axis, &mut checks, &mut seen);
    }
    // If all known sizes are 1, the first operand `*` goes together with them, whatever its shape.
    let ones = joint.dims.iter().all(|dim| *dim == Dim::Known(1));
    match joint.columns.unranked.get(usize::from(ones)..).unwrap_or_default() {
        [] => {}
        [operand] => checks.push(Check::GoesTogether { operand: *operand }),
        // one check for each of them would compare every pair of operands
        _ => checks.push(Check::AllGoTogether),
    }
    checks
}

/// Adds the checks of one axis. `seen` has the checks of names made so far, as text: `3xn` if `n` is 1 or 3, and `xmxn` if
/// `m` and `n` agree.
fn axis_checks(columns: &AlignedAxes, axis: usize, checks: &mut Vec<Check>, seen: &mut ByName<()>) {
    let (mut names, mut places, mut dims) = (ByName::new(), Vec::new(), Vec::new());
    let (mut forced, mut known) = (None, None);
    for (operand, axis, dim) in columns.at(axis) {
        if dim.as_name().map_or(*dim != Dim::Known(1), |name| names.insert(name, ())) {
            let place = Place::Operand { operand, axis };
            places.push(place);
            dims.push(dim);
            if !dim.admits(1) {
                forced = forced.or(Some(place));
                known = known.or(dim.span().single());
            }
        }
    }
    if let Some(other) = forced {
        for (place, dim) in places.into_iter().zip(dims) {
            let or_one = dim.admits(1);
            let (open, check) = match known {
                Some(size) => {
                    let open = match dim.as_name() {
                        _ if dim.span().single_beside_one() == known => false,
                        Some(name) => seen.insert(&format!("{size}x{name}"), ()),
                        None => true,
                    };
                    (open, Check::Is { place, dim: Dim::Known(size), or_one })
                }
                None => (place != other, Check::Equals { place, other, or_one }),
            };
            if open {
                checks.push(check);
            }
        }
    } else if let [first, others @ ..] = &dims[..] {
        let size = first.span().single_beside_one();
        let mut certain = size.is_some() || others.is_empty();
        for dim in others {
            certain &= dim.span().single_beside_one() == size;
        }
        if !certain && (names.len() < dims.len() || seen.insert(&names.joined("x"), ())) {
            places.shrink_to_fit();
            checks.push(Check::Agree { places });
        }
    }
}
