//! Decisions: operands go together always, never, or if checks hold at run time.

use super::dim::{Dim, Span};
use super::layout::unranked;
use super::shape_op::{Part, ShapeOp};
use super::system::System;
use super::vars::Var;
use super::verify::result_checks;
use super::{Check, Names, PartialShape, Place};
use crate::error::BroadcastError;
use crate::shape::ByName;
use alloc::{collections::BinaryHeap, format, vec::Vec};

/// Whether operands go together, decided from their partial shapes.
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
///     ["the sizes other than 1 of axis 0 of operand 0, axis 0 of operand 1 and axis 1 of operand 2 are equal"],
/// );
/// assert_eq!(words(&[p("*"), p("3")]), ["operand 0 goes together with all others"]);
/// assert_eq!(decide(&[p("nx1"), p("nx0..1"), p("0")]), Decision::Always);
/// assert!(matches!(decide(&[p("0"), p("?"), p("3")]), Decision::Never(_)));
/// ```
///
/// # Equivalents
/// `shape.cstr_broadcastable` in MLIR, which answers always or unknown; nGraph's
/// `broadcast_merge_into` refuses where it is sure.
pub fn decide<'p>(operands: impl IntoIterator<Item = &'p PartialShape>) -> Decision {
    ShapeOp::Together.infer(&mut Names::new(), None, &operands.into_iter().collect::<Vec<_>>(), true).into()
}

/// Whether operands go together and give a result of a declared shape.
///
/// # Shapes
/// As [`decide`], and `result` accepts the joint shape. A name of the result stands for the same size as
/// in the operands. The answers are certain. Only where each of many names could bring many sizes of the result, an impossible
/// result may give checks that cannot all hold, because finding out would take too long.
///
/// # Errors
/// None; [`Decision::Never`] has the errors of [`verify`](super::verify()) under
/// [`AllowCast`](super::ResultRule::AllowCast). With an operand `*`, which may bring further axes, only a result with too
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

/// Adds the checks of operands `*` to those of the others, with which they broadcast together. `sizes` are the joint sizes of the
/// others.
pub(super) fn with_unranked(mut checks: Vec<Check>, parts: &[Part<'_>], sizes: &[Dim]) -> Vec<Check> {
    // if all known sizes are 1, one operand `*` goes together with them, whatever its shape
    let ones = sizes.iter().all(|size| *size == Dim::Known(1));
    match unranked(parts)[..] {
        [] => {}
        [_] if ones => {}
        [operand] => checks.push(Check::GoesTogether { operand }),
        [_, operand] if ones => checks.push(Check::GoesTogether { operand }),
        // one check for each of them would compare every pair of operands
        _ => checks.push(Check::AllGoTogether),
    }
    checks
}

impl System<'_, '_> {
    /// The checks that the sizes at the first `count` axes go together, from the sizes before anything is forced.
    pub(super) fn checks(&mut self, count: usize) -> Vec<Check> {
        let (mut checks, mut listed) = (Vec::new(), ByName::new());
        for axis in 0..count {
            self.axis_checks(axis, &mut checks, &mut listed);
        }
        checks
    }

    /// Adds the checks of one axis. `listed` has the earlier checks of names as text: `2 3 true true` if variable 2 is 1 or 3,
    /// `1 2 false false` if variables 1 and 2 are equal, and `[1, 2]` if they agree.
    fn axis_checks(&mut self, axis: usize, checks: &mut Vec<Check>, listed: &mut ByName<()>) {
        let known_size = self.sizes[axis].span().single();
        let (mut parts, mut forced, mut known) = (Vec::new(), None, known_size);
        for i in self.layout.range(axis) {
            let entry = self.layout.entries[i];
            let (span, root) = (self.span_at(entry), entry.var().map(|var| self.vars.root(var)));
            let counts = span != Span::ONE || entry.is_fixed();
            if !counts || root.is_some_and(|root| !self.vars.meets(root, axis)) {
                continue;
            }
            let place = Place::from(self.layout.spot(entry));
            let may_be_one = !entry.is_fixed() && span.contains(1);
            if !may_be_one {
                forced = forced.or(Some((place, root)));
                known = known.or(span.single());
            }
            parts.push((place, span, root, may_be_one));
        }
        if forced.is_none() && known_size.is_none() {
            let Some((_, first, ..)) = parts.get(1) else { return };
            let (size, mut same) = (first.single_beside_one(), true);
            let (mut places, mut roots) = (Vec::with_capacity(parts.len()), BinaryHeap::new());
            for &(place, span, root, _) in &parts {
                places.push(place);
                same &= size.is_some() && span.single_beside_one() == size;
                if let Some(root) = root {
                    roots.push(root as usize);
                }
            }
            let all_named = roots.len() == parts.len();
            if !same && (!all_named || listed.insert(&format!("{:?}", roots.into_sorted_vec()), ())) {
                checks.push(Check::Agree { places });
            }
            return;
        }
        for (place, span, root, or_one) in parts {
            let (open, pair, check) = match (known, forced) {
                (Some(size), _) => {
                    let certain = if or_one { span.single_beside_one() } else { span.single() };
                    let check = Check::Is { place, dim: Dim::Known(size), or_one: or_one && size != 1 };
                    (certain != known, root.map(|root| (root, size)), check)
                }
                (None, Some((other, first))) => {
                    let in_order = |(a, b): (Var, Var)| {
                        if or_one { (a, b as usize) } else { (a.min(b), a.max(b) as usize) }
                    };
                    let (pair, differ) = (root.zip(first).map(in_order), root.is_none() || root != first);
                    (place != other && differ, pair, Check::Equals { place, other, or_one })
                }
                (None, None) => continue,
            };
            let key = |(root, other)| format!("{root} {other} {or_one} {}", known.is_some());
            if open && span != Span::ONE && pair.is_none_or(|pair| listed.insert(&key(pair), ())) {
                checks.push(check);
            }
        }
    }
}
