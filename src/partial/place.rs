//! Axes of operands and of the result, as checks and errors name them, and sizes that stand there.

use super::dim::{Dim, Span};
use crate::error::{BroadcastError, ErrorBuilder, Mark, fail, owner};
use crate::shape::{joint_ndim, joint_size};
use alloc::{format, string::String, string::ToString, vec::Vec};
use core::fmt;

/// An axis of an operand or of the result, in a [`Check`](super::Check) or a message.
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
    pub(super) fn size<S: AsRef<[usize]>>(self, operands: &[S]) -> Option<usize> {
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

    pub(super) fn at(operand: u32, axis: usize) -> Self {
        Self { operand, axis: compact(axis) }
    }

    /// The position of its shape.
    pub(super) fn shape(self) -> usize {
        if self.operand == Self::TARGET { 1 } else { self.operand as usize }
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
    fn from(place: PackedPlace) -> Self {
        let axis = place.axis as usize;
        match place.operand {
            PackedPlace::RESULT => Self::Result { axis },
            _ => Self::Operand { operand: place.shape(), axis },
        }
    }
}

/// The position of a name in [`Names`](super::Names).
pub(super) type Var = u32;

/// A size of a shape, at the axis where it has a condition.
#[derive(Clone, Copy)]
pub(super) struct Entry<'s> {
    pub(super) dim: &'s Dim,
    pub(super) place: PackedPlace,
    /// The axis of the condition.
    pub(super) axis: u32,
    /// The variable of a named size, else `NO_VAR`, in the bits below `FIXED`. As fields of their own, they would make a long
    /// list a third longer.
    bits: u32,
}

const FIXED: u32 = 1 << 31;
const NO_VAR: Var = FIXED - 1;

/// One of two sizes that exclude each other: as written, and what is left of it.
pub(super) type Side<'s> = (Entry<'s>, Span);

impl<'s> Entry<'s> {
    /// A size without a variable.
    pub(super) fn new(dim: &'s Dim, place: PackedPlace, axis: usize, is_fixed: bool) -> Self {
        Self { dim, place, axis: compact(axis), bits: if is_fixed { FIXED | NO_VAR } else { NO_VAR } }
    }

    pub(super) fn with_var(self, var: Option<Var>) -> Self {
        Self { bits: self.bits & FIXED | var.unwrap_or(NO_VAR), ..self }
    }

    pub(super) fn var(&self) -> Option<Var> {
        Some(self.bits & NO_VAR).filter(|&var| var != NO_VAR)
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.bits & FIXED != 0
    }
}

/// Sizes that exclude each other.
pub(super) enum Clash {
    /// Two sizes of one axis.
    Sizes { axis: usize, places: [PackedPlace; 2], dims: [Dim; 2], note: String },
    /// Two sizes of one name, found at `place`.
    Name { place: PackedPlace, marks: Vec<Mark>, dims: [Dim; 2], text: String },
}

impl Clash {
    /// The error of the clash, with the positions of its shapes.
    pub(super) fn error(self, builder: ErrorBuilder) -> BroadcastError {
        match self {
            Self::Sizes { axis, places: [a, b], dims: [first, second], note } => {
                let shapes = if a.operand == b.operand { [0, 1] } else { [a.shape(), b.shape()] };
                builder.clash(axis, [&first, &second], shapes, &note)
            }
            Self::Name { place, marks, dims: [was, now], text } => {
                let builder = builder.at(place.axis.into()).marks(&marks).sizes(&[&was, &now]);
                fail!(builder, DeclaredName, "{text}")
            }
        }
    }
}
