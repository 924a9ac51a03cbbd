//! What can be wrong with a broadcast.

mod request;
mod rules;
mod words;

pub use request::Request;

use crate::partial::{Dim, Name, PartialShape, Place};
use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;
use ndarray::{ErrorKind, ShapeError};
use rules::{CountRule, Positions};
use thiserror::Error;
use words::{Count, Owner};

/// What is wrong with a broadcast.
///
/// The message names the operation, every shape in full, the axis (counted in the result), the
/// sizes that clash and the rule they break. `Debug` is the variant's name and the message, so
/// that `unwrap` explains too. Every error is found before anything is changed.
///
/// # Examples
/// ```
/// use ndarray::{Array1, Array2, ErrorKind, ShapeError};
/// use ndarray_broadcast::{prelude::*, BroadcastError};
///
/// let (a, b) = (Array1::<f64>::zeros(3), Array2::<f64>::zeros((3, 2)));
/// let error = a.broadcast_to_match(&b).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "cannot broadcast shapes [3] and [3, 2] together: axis 1 has sizes 3 and 2, expected equal sizes or 1",
/// );
/// assert!(matches!(error, BroadcastError::Incompatible { axis: 1, sizes: [3, 2], .. }));
/// assert_eq!(ShapeError::from(error).kind(), ErrorKind::IncompatibleShape);
/// ```
///
/// # Equivalents
/// NumPy's `ValueError: operands could not be broadcast together`, PyTorch's `RuntimeError`, as data. ndarray has
/// [`ShapeError`], into which it converts. Variants may be added; the words of messages may change.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BroadcastError {
    /// Two sizes of one axis do not go together.
    #[error("cannot {request}: {} {axis} has sizes {} and {}{}, expected {}", request.axis_word(),
        .sizes[0], .sizes[1], Positions(request, *operands), request.size_rule())]
    Incompatible {
        /// What was asked.
        request: Box<Request>,
        /// The first axis of the result that has clashing sizes.
        axis: usize,
        /// The sizes that clash, in the order of the shapes in `request`.
        sizes: [usize; 2],
        /// The positions of the two shapes among those in `request`.
        operands: [usize; 2],
    },
    /// The non-zero sizes of the result multiply past `isize::MAX`.
    #[error("cannot {request}: the non-zero sizes of the result {shape:?} multiply past isize::MAX")]
    Overflow {
        /// What was asked.
        request: Box<Request>,
        /// The shape that the result would have.
        shape: Vec<usize>,
    },
    /// A result that would have to be stored has more than `isize::MAX` bytes.
    #[error(
        "cannot {request}: the result {shape:?} with elements of {size} bytes is larger than isize::MAX bytes"
    )]
    TooLarge {
        /// What was asked.
        request: Box<Request>,
        /// The shape that the result would have.
        shape: Vec<usize>,
        /// The size of an element in bytes.
        size: usize,
    },
    /// A target names a size that no axis can have.
    #[error("cannot {request}: axis {axis} of the target is {size}, expected {}", request.target_rule(*size))]
    InvalidSize {
        /// What was asked.
        request: Box<Request>,
        /// The position in the target.
        axis: usize,
        /// What stands there.
        size: i128,
    },
    /// A target has fewer axes than the shape that should fill it.
    #[error("cannot {request}: the {} has {}, expected at least {expected}", request.toward(), Count(*found))]
    TooFewAxes {
        /// What was asked.
        request: Box<Request>,
        /// How many axes there have to be at least.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A target has more axes than the shape that should be summed to it.
    #[error("cannot {request}: the target has {}, expected at most {expected}", Count(*found))]
    TooManyAxes {
        /// What was asked.
        request: Box<Request>,
        /// How many axes there may be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The number of axes that are named does not fit the shapes.
    #[error("cannot {request}: {}", CountRule(request, *expected, *found))]
    AxisCount {
        /// What was asked.
        request: Box<Request>,
        /// How many axes there have to be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A -1 at an axis of the target that the array does not have.
    #[error("cannot resolve -1 at axis {axis} of target {target:?}: shape {shape:?} has no such axis")]
    PlaceholderOnNewAxis {
        /// The array's shape.
        shape: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
        /// The position of the -1 in the target.
        axis: usize,
    },
    /// A named axis does not exist. Of several, the smallest is reported.
    #[error("cannot {request}: axis {axis} is out of bounds for {}{}", Count(*ndim), request.of_what())]
    AxisOutOfBounds {
        /// What was asked.
        request: Box<Request>,
        /// The axis, as given.
        axis: i128,
        /// How many axes there are.
        ndim: usize,
    },
    /// An axis is named more than once where order or number matters.
    #[error("cannot {request}: axis {axis} is named more than once")]
    DuplicateAxis {
        /// What was asked.
        request: Box<Request>,
        /// The axis.
        axis: usize,
    },
    /// What is known of two sizes of one axis is enough to see that they never go together.
    #[error("cannot {request}: axis {axis} has sizes {} and {}{}, expected {}",
        .dims[0], .dims[1], Positions(request, *operands), request.size_rule())]
    IncompatibleDims {
        /// What was asked.
        request: Box<Request>,
        /// The first axis of the result that has clashing sizes.
        axis: usize,
        /// The sizes that clash, in the order of the shapes in `request`.
        dims: Box<[Dim; 2]>,
        /// The positions of the two shapes among those in `request`.
        operands: [usize; 2],
    },
    /// A result is declared where there is nothing that could give one.
    #[error("cannot {request}: there are no operands, expected at least 1")]
    NoOperands {
        /// What was asked.
        request: Box<Request>,
    },
    /// A declared size does not agree with the inferred one.
    #[error("cannot {request}: axis {axis} is inferred as {} and declared as {}, expected {}{}",
        .dims[0], .dims[1], request.result_rule(), names_rule(dims))]
    ResultSize {
        /// What was asked.
        request: Box<Request>,
        /// The axis of the result.
        axis: usize,
        /// What was inferred and what is declared.
        dims: Box<[Dim; 2]>,
    },
    /// A -1 at an axis of the target that a shape, known in part, does not have.
    #[error("cannot resolve -1 at axis {axis} of target {target:?}: shape {shape} has no such axis")]
    PartialPlaceholderOnNewAxis {
        /// The array's shape.
        shape: Box<PartialShape>,
        /// The target, as given.
        target: Vec<i128>,
        /// The position of the -1 in the target.
        axis: usize,
    },
    /// A text is no shape, size or name.
    #[error("cannot read {text:?}: position {position} needs {expected}")]
    InvalidText {
        /// The text.
        text: String,
        /// The first character that does not fit, counted from 0.
        position: usize,
        /// What could stand there.
        expected: &'static str,
    },
    /// There are not as many shapes as operands were planned.
    #[error("cannot {request}: the number of shapes is {found}, expected {expected}")]
    OperandCount {
        /// What was asked.
        request: Box<Request>,
        /// How many shapes there have to be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A signature has not as many results as the operation writes.
    #[error("cannot {request}: the number of results is {found}, expected {expected}")]
    ResultCount {
        /// What was asked.
        request: Box<Request>,
        /// How many results there have to be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A shape has not the number of axes that it was said to have.
    #[error("cannot {request}: the number of axes of {} is {found}, expected {expected}{}",
        Owner(*operand), request.at_least())]
    DeclaredAxes {
        /// What was asked.
        request: Box<Request>,
        /// The position of the operand, or `None` for the result.
        operand: Option<usize>,
        /// How many axes there have to be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An axis has not the size that it was said to have.
    #[error("cannot {request}: {place} has size {size}, expected {dim}")]
    DeclaredSize {
        /// What was asked.
        request: Box<Request>,
        /// The axis.
        place: Place,
        /// Its size.
        size: usize,
        /// The size that it was said to have.
        dim: Box<Dim>,
    },
    /// One name stands for two sizes.
    #[error("cannot {request}: {name} is {} at {} and {} at {}", .sizes[0], .places[0], .sizes[1], .places[1])]
    DeclaredName {
        /// What was asked.
        request: Box<Request>,
        /// The name.
        name: Name,
        /// Two axes with that name.
        places: Box<[Place; 2]>,
        /// Their sizes.
        sizes: [usize; 2],
    },
    /// A base has not the number of axes that the operation needs.
    #[error("cannot {request}: the base of {} has {}, expected {expected}", Owner(*operand), Count(*found))]
    BaseAxes {
        /// What was asked.
        request: Box<Request>,
        /// The position of the operand, or `None` for the result.
        operand: Option<usize>,
        /// How many base axes there have to be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A base axis has not the size that the operation needs.
    #[error("cannot {request}: base axis {axis} of {} has size {size}, expected {expected}", Owner(*operand))]
    BaseSize {
        /// What was asked.
        request: Box<Request>,
        /// The position of the operand, or `None` for the result.
        operand: Option<usize>,
        /// The axis, counted in the base.
        axis: usize,
        /// The size that it has to have.
        expected: usize,
        /// The size that it has.
        size: usize,
    },
    /// One symbol of a signature stands for two sizes.
    #[error("cannot {request}: {symbol} is {} at base axis {} of operand {} and {} at base axis {} of operand {}",
        .sizes[0], .places[0].1, .places[0].0, .sizes[1], .places[1].1, .places[1].0)]
    BaseSymbol {
        /// What was asked.
        request: Box<Request>,
        /// The symbol.
        symbol: String,
        /// The positions of two operands that have axes of that name, each with its axis, counted in the base.
        places: Box<[(usize, usize); 2]>,
        /// Their sizes.
        sizes: [usize; 2],
    },
    /// A symbol that stands in the result of a signature only.
    #[error("cannot {request}: no operand has an axis {symbol} that says the size of the result's")]
    UnknownSymbol {
        /// What was asked.
        request: Box<Request>,
        /// The symbol.
        symbol: String,
    },
}

/// What more is expected of names.
fn names_rule(dims: &[Dim; 2]) -> &'static str {
    if dims.iter().any(|dim| matches!(dim, Dim::Name(_))) { ", and one size for each name" } else { "" }
}

impl BroadcastError {
    /// In a box that is made in one place, so that callers need not know how to drop an error.
    #[cold]
    #[inline(never)]
    #[allow(clippy::unnecessary_box_returns, reason = "see `cold`")]
    pub(crate) fn boxed(self) -> Box<Self> {
        Box::new(self)
    }

    /// The same error of another request, of which what the first one asked was a part.
    pub(crate) fn of_request(mut self, asked: Request) -> Self {
        match &mut self {
            Self::Incompatible { request, .. }
            | Self::Overflow { request, .. }
            | Self::TooLarge { request, .. }
            | Self::InvalidSize { request, .. }
            | Self::TooFewAxes { request, .. }
            | Self::TooManyAxes { request, .. } => **request = asked,
            _ => {}
        }
        self
    }

    fn variant(&self) -> &'static str {
        match self {
            Self::Incompatible { .. } => "Incompatible",
            Self::Overflow { .. } => "Overflow",
            Self::TooLarge { .. } => "TooLarge",
            Self::InvalidSize { .. } => "InvalidSize",
            Self::TooFewAxes { .. } => "TooFewAxes",
            Self::TooManyAxes { .. } => "TooManyAxes",
            Self::AxisCount { .. } => "AxisCount",
            Self::PlaceholderOnNewAxis { .. } => "PlaceholderOnNewAxis",
            Self::AxisOutOfBounds { .. } => "AxisOutOfBounds",
            Self::DuplicateAxis { .. } => "DuplicateAxis",
            Self::IncompatibleDims { .. } => "IncompatibleDims",
            Self::NoOperands { .. } => "NoOperands",
            Self::ResultSize { .. } => "ResultSize",
            Self::PartialPlaceholderOnNewAxis { .. } => "PartialPlaceholderOnNewAxis",
            Self::InvalidText { .. } => "InvalidText",
            Self::OperandCount { .. } => "OperandCount",
            Self::ResultCount { .. } => "ResultCount",
            Self::DeclaredAxes { .. } => "DeclaredAxes",
            Self::DeclaredSize { .. } => "DeclaredSize",
            Self::DeclaredName { .. } => "DeclaredName",
            Self::BaseAxes { .. } => "BaseAxes",
            Self::BaseSize { .. } => "BaseSize",
            Self::BaseSymbol { .. } => "BaseSymbol",
            Self::UnknownSymbol { .. } => "UnknownSymbol",
        }
    }
}

/// Makes an error out of line, and boxed, so that the way without one stays short and in registers.
#[cold]
#[inline(never)]
#[allow(clippy::unnecessary_box_returns, reason = "measured: 5 ns a view")]
pub(crate) fn cold(error: impl FnOnce() -> BroadcastError) -> Box<BroadcastError> {
    error().boxed()
}

impl fmt::Debug for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.variant())
    }
}

impl From<BroadcastError> for ShapeError {
    /// The nearest of ndarray's error kinds; the message is lost.
    fn from(error: BroadcastError) -> Self {
        ShapeError::from_kind(match error {
            BroadcastError::Overflow { .. } | BroadcastError::TooLarge { .. } => ErrorKind::Overflow,
            BroadcastError::InvalidSize { .. } => ErrorKind::RangeLimited,
            BroadcastError::AxisOutOfBounds { .. } => ErrorKind::OutOfBounds,
            BroadcastError::DuplicateAxis { .. } | BroadcastError::InvalidText { .. } => {
                ErrorKind::Unsupported
            }
            _ => ErrorKind::IncompatibleShape,
        })
    }
}
