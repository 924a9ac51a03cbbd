//! The answers of inference and decisions: shapes, and checks for run time, when the sizes are known.

use super::{Dim, PartialShape, Place, ShapeOp};
use crate::error::{BroadcastError, Count, Result};
use alloc::{string::String, string::ToString, vec::Vec};
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
    /// A signature applies to all operands.
    Applies {
        /// The text of the signature.
        signature: String,
    },
    /// An operation succeeds, if one ignores the size of its whole result. Some operands have an unknown number of axes.
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
                    let first: Vec<_> = first.iter().map(Place::to_string).collect();
                    write!(f, "the sizes other than 1 of {} and {last} are equal", first.join(", "))
                }
            },
            Self::Applies { signature } => write!(f, "{signature} applies to all operands"),
            Self::Succeeds { operation: ShapeOp::Together } => f.write_str("all operands go together"),
            Self::Succeeds { .. } => f.write_str("the operation succeeds for all operands"),
            Self::ResultAxes { ndim } => write!(f, "the result has {}", Count(*ndim)),
        }
    }
}

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

/// Always, never, or where the checks hold.
impl From<Result<InferredShapes<'_>>> for Decision {
    fn from(found: Result<InferredShapes<'_>>) -> Self {
        found.map_or_else(Self::Never, |found| Self::from_checks(found.checks))
    }
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
    pub fn checks(self) -> Result<Vec<Check>> {
        match self {
            Self::Always => Ok(Vec::new()),
            Self::Never(error) => Err(error),
            Self::Depends(checks) => Ok(checks),
        }
    }
}

/// The shapes and sizes that [`Signature::infer`](crate::Signature::infer) and [`Names::infer`](super::Names::infer) find; see the examples there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InferredShapes<'s> {
    /// The joint batch shape of a signature's operands. Other operations have none, which is `*`.
    pub batch: PartialShape,
    /// The size of each name of the signature that is not missing, in the order of the signature.
    pub sizes: Vec<(&'s str, Dim)>,
    /// The base shape of each result of a signature.
    pub bases: Vec<PartialShape>,
    /// The shape of each result: for a signature, the joint batch shape, then its base shape.
    pub results: Vec<PartialShape>,
    /// The checks that remain for real shapes. Without any, the operation succeeds for all shapes that the operands accept.
    pub checks: Vec<Check>,
}

impl InferredShapes<'_> {
    /// The results of an operation without a signature.
    pub(super) fn of(results: Vec<PartialShape>, checks: Vec<Check>) -> Self {
        Self { batch: PartialShape::unranked(), sizes: Vec::new(), bases: Vec::new(), results, checks }
    }
}
