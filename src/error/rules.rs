//! The parts of a message that depend on what was asked: the rules that were broken, and whose axes are counted.

use super::Request;
use super::words::Count;
use crate::partial::ResultRule;
use core::fmt;

impl Request {
    /// The rule for two sizes of one axis.
    pub(super) fn size_rule(&self) -> &'static str {
        match self {
            Self::AlongAxes { .. } | Self::PartialAlongAxes { .. } | Self::Merge { .. } => "equal sizes",
            Self::Together { .. }
            | Self::PartialTogether { .. }
            | Self::PartialBatch { .. }
            | Self::VerifyResult { .. }
            | Self::Planned { .. }
            | Self::BatchTogether { .. }
            | Self::BaseTogether { .. } => "equal sizes or 1",
            Self::SumTo { .. } | Self::SumOfMap { .. } | Self::BatchSum { .. } => {
                "equal sizes or 1 in the target"
            }
            Self::Onto { .. } => "equal sizes or 1 in the operand",
            Self::BatchInto { .. } => "equal sizes or 1 in the operands",
            _ => "equal sizes or 1 in the array",
        }
    }

    /// The rule for what may stand in a target.
    pub(super) fn target_rule(&self, size: i128) -> &'static str {
        match self {
            Self::ToTarget { .. } | Self::PartialToTarget { .. } | Self::BatchToTarget { .. } => {
                "-1 or a size from 0 to isize::MAX"
            }
            _ if size == -1 => "a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)",
            _ => "a size from 0 to isize::MAX",
        }
    }

    /// In what the axis of [`BroadcastError::Incompatible`] is counted.
    pub(super) fn axis_word(&self) -> &'static str {
        match self {
            Self::BatchTogether { .. }
            | Self::BatchToTarget { .. }
            | Self::BatchInto { .. }
            | Self::BatchSum { .. } => "batch axis",
            Self::BaseTogether { .. } => "base axis",
            _ => "axis",
        }
    }

    /// Whose axes [`BroadcastError::AxisOutOfBounds`] counts.
    pub(super) fn of_what(&self) -> &'static str {
        match self {
            Self::CountAxes { .. } => "",
            Self::SumAxes { .. } | Self::PartialSum { .. } => " of the array",
            _ => " of the target",
        }
    }

    /// What [`BroadcastError::TooFewAxes`] counts the axes of.
    pub(super) fn toward(&self) -> &'static str {
        match self {
            Self::VerifyResult { .. } => "result",
            Self::Onto { .. } => "output",
            Self::SplitBatch { .. } | Self::BatchInto { .. } => "array",
            _ => "target",
        }
    }

    /// What agrees with an inferred size.
    pub(super) fn result_rule(&self) -> &'static str {
        match self {
            Self::VerifyResult { rule: ResultRule::Exact, .. } => "all sizes that the inferred one can be",
            _ => "a size that the inferred one can be",
        }
    }

    /// Whether a number of axes is the least one.
    pub(super) fn at_least(&self) -> &'static str {
        match self {
            Self::PartialBatch { .. } => " at least",
            _ => "",
        }
    }
}

/// The rule of [`BroadcastError::AxisCount`]: how many axes are expected, and how many found.
pub(super) struct CountRule<'a>(pub(super) &'a Request, pub(super) usize, pub(super) usize);

impl fmt::Display for CountRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(request, expected, found) = self;
        let (of, which) = match request {
            Request::InDim { .. } | Request::PartialInDim { .. } => {
                return write!(
                    f,
                    "{} named, expected {expected}, one for each axis of the array",
                    Count(found)
                );
            }
            Request::VerifyResult { .. } => ("result", ""),
            Request::Merge { .. } => ("second shape", ""),
            _ => ("target", ", those of the array and those named"),
        };
        write!(f, "the {of} has {}, expected {expected}{which}", Count(found))
    }
}

/// Which of several shapes clash: positions are left out where a message has them in order.
pub(super) struct Positions<'a>(pub(super) &'a Request, pub(super) [usize; 2]);

impl fmt::Display for Positions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(request, [first, second]) = self;
        let word = match request {
            Request::Onto { shapes, .. } if shapes.len() > 1 => {
                return write!(f, " (shape {first} and the output)");
            }
            Request::Together { shapes } if shapes.len() > 2 => "shapes",
            Request::BatchTogether { shapes } if shapes.len() > 2 => "operands",
            Request::PartialTogether { .. }
            | Request::PartialBatch { .. }
            | Request::VerifyResult { .. }
            | Request::Planned { .. } => "operands",
            _ => return Ok(()),
        };
        write!(f, " ({word} {first} and {second})")
    }
}
