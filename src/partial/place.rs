//! Axes of operands and of the result, as checks and errors name them, and sizes that stand there.

use super::dim::{Dim, Span};
use crate::error::{BroadcastError, ErrorBuilder, Mark, fail, owner};
use crate::shape::{joint_ndim, joint_size};
use alloc::{format, string::String, vec::Vec};
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

/// A number of axes, names or shapes in 4 bytes. There is no memory for so many that it would not fit.
pub(super) fn compact(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The shape that has an axis, as messages name it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The only shape of a call, or one of two descriptions of it.
    Shape,
    /// An operand, by its position.
    Operand(u32),
    /// The target, which is the second shape.
    Target,
    Result,
}

impl Owner {
    /// The words after an axis or a number of axes.
    pub(super) fn words(self) -> String {
        match self {
            Self::Shape => String::new(),
            Self::Operand(operand) => format!(" of {}", owner(Some(operand as usize))),
            Self::Target => " of the target".into(),
            Self::Result => format!(" of {}", owner(None)),
        }
    }
}

/// An axis of a shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct OwnAxis {
    pub(super) owner: Owner,
    pub(super) axis: u32,
}

impl OwnAxis {
    pub(super) fn new(owner: Owner, axis: usize) -> Self {
        Self { owner, axis: compact(axis) }
    }

    /// The position of its shape among those of the call.
    pub(super) fn shape(self) -> usize {
        match self.owner {
            Owner::Operand(operand) => operand as usize,
            Owner::Target => 1,
            Owner::Shape | Owner::Result => 0,
        }
    }

    /// The axis as a message writes it, in a call with a label or without.
    pub(super) fn words(self, label: Option<&str>) -> String {
        let (axis, owner) = (self.axis, self.owner.words());
        label.map_or_else(|| format!("axis {axis}{owner}"), |label| format!("axis {axis}{owner} of {label}"))
    }

    /// The axis in a picture.
    pub(super) fn mark(self) -> Mark {
        let axis = self.axis as usize;
        match self.owner {
            Owner::Operand(_) | Owner::Target => Mark::Shape(self.shape(), axis),
            Owner::Shape | Owner::Result => Mark::Result(axis),
        }
    }
}

impl From<OwnAxis> for Place {
    fn from(place: OwnAxis) -> Self {
        let axis = place.axis as usize;
        match place.owner {
            Owner::Result => Self::Result { axis },
            _ => Self::Operand { operand: place.shape(), axis },
        }
    }
}

/// The number of a name in [`Names`](super::Names).
pub(super) type Var = u32;

/// A size of a shape, at the axis where it has a condition.
#[derive(Clone, Copy)]
pub(super) struct Entry<'s> {
    pub(super) dim: &'s Dim,
    pub(super) place: OwnAxis,
    /// The axis of the condition.
    pub(super) axis: u32,
    /// The variable of a named size.
    pub(super) var: Option<Var>,
    /// Whether the size does not stretch.
    pub(super) is_fixed: bool,
}

/// One of two sizes that exclude each other: as written, and its remaining sizes.
pub(super) type Side<'s> = (Entry<'s>, Span);

impl<'s> Entry<'s> {
    /// A size without a variable.
    pub(super) fn new(dim: &'s Dim, place: OwnAxis, axis: usize, is_fixed: bool) -> Self {
        Self { dim, place, axis: compact(axis), var: None, is_fixed }
    }
}

/// Sizes that exclude each other.
pub(super) enum Clash {
    /// Two sizes of one axis.
    Sizes { axis: usize, places: [OwnAxis; 2], dims: [Dim; 2], note: String },
    /// Two sizes of one name, found at `place`.
    Name { place: OwnAxis, marks: Vec<Mark>, dims: [Dim; 2], text: String },
}

impl Clash {
    /// The error of the clash, with the positions of its shapes.
    pub(super) fn error(self, builder: ErrorBuilder) -> BroadcastError {
        match self {
            Self::Sizes { axis, places: [a, b], dims: [first, second], note } => {
                let shapes = if a.owner == Owner::Shape { [0, 1] } else { [a.shape(), b.shape()] };
                builder.clash(axis, [&first, &second], shapes, &note)
            }
            Self::Name { place, marks, dims: [was, now], text } => {
                let builder = builder.at(place.axis.into(), &marks, &[&was, &now]);
                fail!(builder, DeclaredName, "{text}")
            }
        }
    }
}
