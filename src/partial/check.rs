//! Checks at run time, when the sizes are known.

use super::{Dim, Names, PartialShape, ShapeOp};
use crate::error::{Count, Mark, owner};
use crate::shape::{Signature, join, joint_ndim, joint_size};
use alloc::{format, string::String, string::ToString, vec, vec::Vec};
use core::fmt;

/// An axis of an operand or of the result, in a [`Check`] or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// An axis of an operand.
    Operand {
        /// The position of the operand.
        operand: usize,
        /// The axis, counted in the operand.
        axis: usize,
    },
    /// An axis of the result.
    Result {
        /// The axis.
        axis: usize,
    },
}

impl Place {
    /// The size of the axis, for operands of these shapes. `None` if it is missing, or if operands clash there.
    fn size<S: AsRef<[usize]>>(self, operands: &[S]) -> Option<usize> {
        match self {
            Self::Operand { operand, axis } => operands.get(operand)?.as_ref().get(axis).copied(),
            Self::Result { axis } => {
                let from_end = joint_ndim(operands).checked_sub(axis)?.checked_sub(1)?;
                let sizes = operands.iter().filter_map(|shape| shape.as_ref().iter().rev().nth(from_end));
                sizes.copied().try_fold(1, joint_size)
            }
        }
    }
}

/// Prints as `axis 1 of operand 0` or `axis 1 of the result`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (axis, operand) = match *self {
            Self::Operand { operand, axis } => (axis, Some(operand)),
            Self::Result { axis } => (axis, None),
        };
        write!(f, "axis {axis} of {}", owner(operand))
    }
}

/// A position in 4 bytes. There is no memory for as many axes or names that it would not fit.
pub(super) fn compact(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// An axis of an operand, of the result or of the only shape of a call, in few bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedPlace {
    pub(super) operand: u32,
    pub(super) axis: u32,
}

impl PackedPlace {
    /// The axis of a size that an earlier call gave a name.
    pub(super) const EARLIER: Self = Self { operand: u32::MAX, axis: 0 };
    /// The `operand` of axes of the result, and of axes of the only shape.
    pub(super) const RESULT: u32 = u32::MAX - 1;
    pub(super) const SHAPE: u32 = u32::MAX - 2;
    /// The `operand` of axes of the target, which is the second shape.
    pub(super) const TARGET: u32 = u32::MAX - 3;

    pub(super) fn new(operand: usize, axis: usize) -> Self {
        Self::at(compact(operand), axis)
    }

    pub(super) fn at(operand: u32, axis: usize) -> Self {
        Self { operand, axis: compact(axis) }
    }

    /// The axis as a message writes it, in a call with a label or without.
    pub(super) fn words(self, of: Option<&str>) -> String {
        let place = match self.operand {
            Self::SHAPE => format!("axis {}", self.axis),
            Self::TARGET => format!("axis {} of the target", self.axis),
            _ => Place::from(self).to_string(),
        };
        of.map_or(place.clone(), |of| format!("{place} of {of}"))
    }

    /// The axis in a picture.
    pub(super) fn mark(self) -> Mark {
        match Place::from(self) {
            Place::Operand { operand, axis } if self.operand != Self::SHAPE => Mark::Shape(operand, axis),
            Place::Operand { axis, .. } | Place::Result { axis } => Mark::Result(axis),
        }
    }
}

impl From<PackedPlace> for Place {
    fn from(PackedPlace { operand, axis }: PackedPlace) -> Self {
        let axis = axis as usize;
        match operand {
            PackedPlace::RESULT => Self::Result { axis },
            PackedPlace::TARGET => Self::Operand { operand: 1, axis },
            operand => Self::Operand { operand: operand as usize, axis },
        }
    }
}

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
