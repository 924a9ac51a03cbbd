//! Checks at run time, when the sizes are known.

use super::dim::{Dim, Span};
use super::place::{Place, Var};
use super::solver::System;
use super::{Names, PartialShape, ShapeOp};
use crate::error::Count;
use crate::shape::{ByName, Signature, join, joint_ndim, joint_size};
use alloc::{collections::BinaryHeap, format, string::String, vec, vec::Vec};
use core::fmt;

/// A condition under which operands go together.
///
/// It prints as a sentence. It covers only the questions that partial shapes leave open: every operand must match its
/// partial shape, and equal names must be equal sizes.
///
/// # Examples
/// ```
/// use ndarray_broadcast::partial::{decide, Check, Dim, Place};
///
/// let checks = decide(&["2x?".parse()?, "3".parse()?]).checks()?;
/// let place = Place::Operand { operand: 0, axis: 1 };
/// assert_eq!(checks, [Check::Is { place, dim: Dim::Known(3), or_one: true }]);
/// assert_eq!(checks[0].to_string(), "axis 1 of operand 0 is 1 or 3");
/// assert!(checks[0].holds(&[&[2, 1][..], &[3]]) && !checks[0].holds(&[&[2, 2][..], &[3]]));
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The condition behind a `shape.witness` of MLIR: `shape.cstr_broadcastable` creates one, and `shape.assuming` waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// An axis has a size of `dim`, or 1 if that is allowed too.
    Is {
        /// The axis.
        place: Place,
        /// The sizes.
        dim: Dim,
        /// Whether 1 is allowed as well.
        or_one: bool,
    },
    /// An axis has the size of another, or 1 if that is allowed too.
    Equals {
        /// The axis.
        place: Place,
        /// The axis that has the size.
        other: Place,
        /// Whether 1 is allowed as well.
        or_one: bool,
    },
    /// All of these axes that are not 1 are equal.
    Agree {
        /// The axes, at least two.
        places: Vec<Place>,
    },
    /// An operand with an unknown number of axes goes together with all others.
    GoesTogether {
        /// The position of the operand.
        operand: usize,
    },
    /// All operands go together. Several of them have an unknown number of axes.
    AllGoTogether,
    /// A signature applies to all operands.
    Applies {
        /// The text of the signature.
        signature: String,
    },
    /// An operation other than these succeeds. Some operands have an unknown number of axes.
    Succeeds {
        /// The operation.
        operation: ShapeOp<'static>,
    },
    /// The result has `ndim` axes.
    ResultAxes {
        /// The number of axes.
        ndim: usize,
    },
}

impl Check {
    /// Whether the check holds for operands of these shapes.
    ///
    /// # Shapes
    /// One for each operand of the decision, which its partial shape accepts. If the shape or the axis
    /// of the check is missing, the check does not hold.
    ///
    /// # Errors
    /// None: shapes that do not go together give `false`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::partial::decide;
    ///
    /// let checks = decide(&["?".parse()?, "?".parse()?]).checks()?;
    /// assert!(checks.iter().all(|check| check.holds(&[[4], [1]]) && check.holds(&[[0], [0]])));
    /// assert!(!checks[0].holds(&[[4], [0]]) && !checks[0].holds(&[[4]]));
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// A guard of `torch.export`, a shape assertion of `jax.export`.
    #[must_use]
    pub fn holds<S: AsRef<[usize]>>(&self, operands: &[S]) -> bool {
        let size = |place: &Place| place.size(operands);
        match self {
            Self::Is { place, dim, or_one } => {
                size(place).is_some_and(|size| dim.admits(size) || (*or_one && size == 1))
            }
            Self::Equals { place, other, or_one } => {
                size(place).is_some_and(|it| size(other) == Some(it) || (*or_one && it == 1))
            }
            Self::Agree { places } => {
                places.iter().try_fold(1, |joint, place| joint_size(joint, size(place)?)).is_some()
            }
            Self::GoesTogether { operand } => operands
                .get(*operand)
                .is_some_and(|own| operands.iter().all(|other| go_together(&[own.as_ref(), other.as_ref()]))),
            Self::AllGoTogether => go_together(operands),
            Self::Applies { signature } => {
                let shapes: Vec<_> = operands.iter().map(AsRef::as_ref).collect();
                Signature::new(signature).and_then(|signature| signature.resolve(&shapes)).is_ok()
            }
            Self::Succeeds { operation } => {
                let shapes: Vec<PartialShape> = operands.iter().map(|shape| shape.as_ref().into()).collect();
                Names::new().infer("", operation, &shapes).is_ok()
            }
            Self::ResultAxes { ndim } => joint_ndim(operands) == *ndim,
        }
    }
}

/// Whether shapes go together, without a check for overflow.
fn go_together<S: AsRef<[usize]>>(shapes: &[S]) -> bool {
    join(shapes, &mut vec![0; joint_ndim(shapes)])
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is { place, dim, or_one } => {
                write!(f, "{place} is {}", if *or_one { "1 or " } else { "" })?;
                match dim {
                    Dim::Range(range) => match (range.min(), range.max()) {
                        (min, Some(max)) => write!(f, "from {min} to {max}"),
                        (min, None) => write!(f, "{min} or more"),
                    },
                    dim => dim.fmt(f),
                }
            }
            Self::Equals { place, other, or_one } => {
                write!(f, "{place} {}equals {other}", if *or_one { "is 1 or " } else { "" })
            }
            Self::Agree { places } => match places.as_slice() {
                [] | [_] => f.write_str("always"),
                [a, b] => write!(f, "{a} is 1, {b} is 1, or they are equal"),
                [first @ .., last] => {
                    let mut before = "the sizes other than 1 of ";
                    for place in first {
                        write!(f, "{before}{place}")?;
                        before = ", ";
                    }
                    write!(f, " and {last} are equal")
                }
            },
            Self::AllGoTogether => f.write_str("all operands go together"),
            Self::GoesTogether { operand } => write!(f, "operand {operand} goes together with all others"),
            Self::Applies { signature } => write!(f, "{signature} applies to all operands"),
            Self::Succeeds { .. } => f.write_str("the operation succeeds for all operands"),
            Self::ResultAxes { ndim } => write!(f, "the result has {}", Count(*ndim)),
        }
    }
}

impl System<'_> {
    /// The checks that sizes go together, from the sizes before anything is forced.
    pub(super) fn checks(&mut self) -> Vec<Check> {
        let (mut checks, mut listed) = (Vec::new(), ByName::new());
        for axis in 0..self.axes.count {
            self.axis_checks(axis, &mut checks, &mut listed);
        }
        checks
    }

    /// Adds the checks of one axis. `listed` has the earlier checks of names as text: `2 3 true true` if variable 2 is 1 or 3,
    /// `1 2 false false` if variables 1 and 2 are equal, and `[1, 2]` if they agree.
    fn axis_checks(&mut self, axis: usize, checks: &mut Vec<Check>, listed: &mut ByName<()>) {
        let (mut open, mut forced, mut known) = (Vec::new(), None, self.axes.number(axis).single());
        for entry in self.axes.at(axis) {
            let (span, root) = (self.span_of(entry), entry.var().map(|var| self.vars.root(var)));
            let is_one = span == Span::ONE && !entry.is_fixed();
            if is_one || root.is_some_and(|root| !self.vars.is_first_at(root, axis)) {
                continue;
            }
            let (place, or_one) = (Place::from(entry.place), !entry.is_fixed() && span.contains(1));
            if !or_one {
                forced = forced.or(Some((place, root)));
                known = known.or(span.single());
            }
            open.push((place, span, root, or_one));
        }
        let Some((other, other_root)) = forced.or(known.map(|_| (Place::Result { axis }, None))) else {
            return checks.extend(agreement(&open, listed));
        };
        for (place, span, root, or_one) in open {
            let (is_certain, check) = if let Some(size) = known {
                let certain = if or_one { span.single_not_one() } else { span.single() };
                let or_one = or_one && size != 1;
                (certain == known, Check::Is { place, dim: Dim::Known(size), or_one })
            } else {
                let is_same = place == other || (root.is_some() && root == other_root);
                (is_same, Check::Equals { place, other, or_one })
            };
            if is_certain || span == Span::ONE {
                continue;
            }
            let pair = root.map(|root| root as usize).zip(known.or(other_root.map(|root| root as usize)));
            let is_new = pair.is_none_or(|(own, other)| {
                let is_ordered = or_one || known.is_some();
                let (a, b) = if is_ordered { (own, other) } else { (own.min(other), own.max(other)) };
                listed.insert(&format!("{a} {b} {or_one} {}", known.is_some()), ())
            });
            checks.extend(is_new.then_some(check));
        }
    }
}

/// A size that may leave a check: its place, its sizes, the root of its name, and whether it may be 1.
type OpenSize = (Place, Span, Option<Var>, bool);

/// The check of sizes that can all be 1, unless it is certain or listed.
fn agreement(open: &[OpenSize], listed: &mut ByName<()>) -> Option<Check> {
    let size = open.get(1)?.1.single_not_one();
    let (mut same, mut places, mut roots) = (true, Vec::with_capacity(open.len()), BinaryHeap::new());
    for &(place, span, root, _) in open {
        places.push(place);
        same &= size.is_some() && span.single_not_one() == size;
        roots.extend(root);
    }
    let all_named = roots.len() == open.len();
    let is_new = !same && (!all_named || listed.insert(&format!("{:?}", roots.into_sorted_vec()), ()));
    is_new.then_some(Check::Agree { places })
}
