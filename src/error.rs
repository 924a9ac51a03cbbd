//! What can be wrong with a broadcast, and what was asked when it was.

use crate::partial::{Dim, Name, PartialShape, Place, ResultRule};
use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::fmt;
use ndarray::{ErrorKind, ShapeError};
use thiserror::Error;

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
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BroadcastError {
    /// Two sizes of one axis do not go together.
    #[error("cannot {request}: axis {axis} has sizes {} and {}{}, expected {}",
        .sizes[0], .sizes[1], request.positions(*operands), request.size_rule())]
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
    /// A target names a size that no axis can have.
    #[error("cannot {request}: axis {axis} of the target is {size}, expected {}", request.target_rule())]
    InvalidSize {
        /// What was asked.
        request: Box<Request>,
        /// The position in the target.
        axis: usize,
        /// What stands there.
        size: i128,
    },
    /// A target has fewer axes than the shape that should fill it.
    #[error("cannot {request}: the {} has {found} of the {expected} axes that it needs at least", request.toward())]
    TooFewAxes {
        /// What was asked.
        request: Box<Request>,
        /// How many axes there have to be at least.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The number of axes that are named does not fit the shapes.
    #[error("cannot {request}: {} {found}, expected {expected}", request.counted())]
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
    #[error("cannot {request}: axis {axis} is out of bounds for {ndim} axes")]
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
        .dims[0], .dims[1], request.positions(*operands), request.size_rule())]
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
    /// A shape has not the number of axes that it was said to have.
    #[error("cannot {request}: the number of axes of {} is {found}, expected {expected}{}",
        owner(*operand), request.at_least())]
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
}

/// What more is expected of names.
fn names_rule(dims: &[Dim; 2]) -> &'static str {
    if dims.iter().any(|dim| matches!(dim, Dim::Name(_))) { ", and one size for each name" } else { "" }
}

/// Whose number of axes it is.
fn owner(operand: Option<usize>) -> String {
    operand.map_or_else(|| "the result".into(), |operand| format!("operand {operand}"))
}

impl BroadcastError {
    fn variant(&self) -> &'static str {
        match self {
            Self::Incompatible { .. } => "Incompatible",
            Self::Overflow { .. } => "Overflow",
            Self::InvalidSize { .. } => "InvalidSize",
            Self::TooFewAxes { .. } => "TooFewAxes",
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
            Self::DeclaredAxes { .. } => "DeclaredAxes",
            Self::DeclaredSize { .. } => "DeclaredSize",
            Self::DeclaredName { .. } => "DeclaredName",
        }
    }
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
            BroadcastError::Overflow { .. } => ErrorKind::Overflow,
            BroadcastError::InvalidSize { .. } => ErrorKind::RangeLimited,
            BroadcastError::AxisOutOfBounds { .. } => ErrorKind::OutOfBounds,
            BroadcastError::DuplicateAxis { .. } | BroadcastError::InvalidText { .. } => {
                ErrorKind::Unsupported
            }
            _ => ErrorKind::IncompatibleShape,
        })
    }
}

/// What was asked of the crate: the operation and every shape it was given, for error messages.
///
/// # Examples
/// ```
/// use ndarray_broadcast::{broadcast_shapes, BroadcastError, Request};
///
/// let error = broadcast_shapes(&[[2, 3], [2, 4]]).unwrap_err();
/// let BroadcastError::Incompatible { request, .. } = error else { unreachable!() };
/// assert_eq!(*request, Request::Together { shapes: vec![vec![2, 3], vec![2, 4]] });
/// assert_eq!(request.to_string(), "broadcast shapes [2, 3] and [2, 4] together");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Bring shapes to their joint shape.
    Together {
        /// The shapes of the operands.
        shapes: Vec<Vec<usize>>,
    },
    /// Stretch a shape to a target in which -1 keeps the shape's own size.
    ToTarget {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Stretch a shape to another shape.
    ToShape {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Repeat a shape along new axes.
    AlongAxes {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The axes of the target along which it is repeated.
        axes: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Place each axis of a shape at an axis of the target.
    InDim {
        /// The shape of the array.
        shape: Vec<usize>,
        /// For each axis of the array the axis of the target.
        axes: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Make an axis set of axes that may be counted from the end.
    CountAxes {
        /// The axes, as given.
        axes: Vec<isize>,
    },
    /// Bring shapes that are known in part to their joint shape.
    PartialTogether {
        /// The shapes of the operands.
        shapes: Vec<PartialShape>,
    },
    /// Bring the batches of shapes that are known in part to their joint shape.
    PartialBatch {
        /// The shapes of the operands, each with how many of its last axes are its base.
        shapes: Vec<(PartialShape, usize)>,
    },
    /// Verify a declared result.
    VerifyResult {
        /// The shapes of the operands.
        operands: Vec<PartialShape>,
        /// The shape that is declared.
        result: PartialShape,
        /// How far it may go beyond the inferred one.
        rule: ResultRule,
    },
    /// Stretch a shape that is known in part to a target in which -1 keeps the shape's own size.
    PartialToTarget {
        /// The shape of the array.
        shape: PartialShape,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Repeat a shape that is known in part along new axes.
    PartialAlongAxes {
        /// The shape of the array.
        shape: PartialShape,
        /// The axes of the target along which it is repeated.
        axes: Vec<usize>,
        /// The target.
        target: PartialShape,
    },
    /// Place each axis of a shape that is known in part at an axis of the target.
    PartialInDim {
        /// The shape of the array.
        shape: PartialShape,
        /// For each axis of the array the axis of the target.
        axes: Vec<usize>,
        /// The target.
        target: PartialShape,
    },
    /// Sum a shape that is known in part over axes.
    PartialSum {
        /// The shape of the array.
        shape: PartialShape,
        /// The axes.
        axes: Vec<usize>,
    },
    /// Put together what is known of one shape.
    Merge {
        /// The two descriptions of it.
        shapes: [PartialShape; 2],
    },
    /// Carry out a planned broadcast.
    Planned {
        /// The shapes of the operands.
        shapes: Vec<Vec<usize>>,
        /// The shapes that they were planned with.
        operands: Vec<PartialShape>,
    },
}

impl Request {
    /// The rule for two sizes of one axis.
    fn size_rule(&self) -> &'static str {
        match self {
            Self::AlongAxes { .. } | Self::PartialAlongAxes { .. } | Self::Merge { .. } => "equal sizes",
            Self::Together { .. }
            | Self::PartialTogether { .. }
            | Self::PartialBatch { .. }
            | Self::VerifyResult { .. }
            | Self::Planned { .. } => "equal sizes or 1",
            _ => "equal sizes or 1 in the array",
        }
    }

    /// The rule for what may stand in a target.
    fn target_rule(&self) -> &'static str {
        match self {
            Self::ToTarget { .. } | Self::PartialToTarget { .. } => "-1 or a size from 0 to isize::MAX",
            _ => "a size from 0 to isize::MAX",
        }
    }

    /// What [`BroadcastError::AxisCount`] counts.
    fn counted(&self) -> &'static str {
        match self {
            Self::InDim { .. } | Self::PartialInDim { .. } => "the number of axes named is",
            Self::VerifyResult { .. } => "the number of axes of the result is",
            Self::Merge { .. } => "the number of axes of the second shape is",
            _ => "the number of axes of the target is",
        }
    }

    /// What [`BroadcastError::TooFewAxes`] counts the axes of.
    fn toward(&self) -> &'static str {
        match self {
            Self::VerifyResult { .. } => "result",
            _ => "target",
        }
    }

    /// What agrees with an inferred size.
    fn result_rule(&self) -> &'static str {
        match self {
            Self::VerifyResult { rule: ResultRule::Exact, .. } => "all sizes that the inferred one can be",
            _ => "a size that the inferred one can be",
        }
    }

    /// Whether a number of axes is the least one.
    fn at_least(&self) -> &'static str {
        match self {
            Self::PartialBatch { .. } => " at least",
            _ => "",
        }
    }

    /// Which of several shapes clash: positions are left out where a message has them in order.
    fn positions(&self, [first, second]: [usize; 2]) -> String {
        match self {
            Self::Together { shapes } if shapes.len() > 2 => format!(" (shapes {first} and {second})"),
            Self::PartialTogether { .. }
            | Self::PartialBatch { .. }
            | Self::VerifyResult { .. }
            | Self::Planned { .. } => format!(" (operands {first} and {second})"),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Together { shapes } => together(f, shapes.iter().map(Bracketed)),
            Self::ToTarget { shape, target } | Self::ToShape { shape, target } => {
                write!(f, "broadcast shape {shape:?} to {target:?}")
            }
            Self::AlongAxes { shape, axes, target } => {
                write!(f, "broadcast shape {shape:?} along axes {axes:?} to {target:?}")
            }
            Self::InDim { shape, axes, target } => {
                write!(f, "broadcast shape {shape:?} with its axes at {axes:?} of {target:?}")
            }
            Self::CountAxes { axes } => write!(f, "make an axis set of {axes:?}"),
            Self::PartialTogether { shapes } => together(f, shapes.iter()),
            Self::PartialBatch { shapes } => {
                f.write_str("broadcast the batches of ")?;
                let batched = |(shape, base): &(PartialShape, usize)| format!("{shape} (base {base})");
                listed(f, shapes.iter().map(batched))
            }
            Self::VerifyResult { operands, result, .. } => {
                write!(f, "verify result {result} of ")?;
                match operands.len() {
                    0 => f.write_str("no operands"),
                    1 => write!(f, "operand {}", operands[0]),
                    _ => {
                        f.write_str("operands ")?;
                        listed(f, operands.iter())
                    }
                }
            }
            Self::PartialToTarget { shape, target } => write!(f, "broadcast shape {shape} to {target:?}"),
            Self::PartialAlongAxes { shape, axes, target } => {
                write!(f, "broadcast shape {shape} along axes {axes:?} to {target}")
            }
            Self::PartialInDim { shape, axes, target } => {
                write!(f, "broadcast shape {shape} with its axes at {axes:?} of {target}")
            }
            Self::PartialSum { shape, axes } => write!(f, "sum shape {shape} over axes {axes:?}"),
            Self::Merge { shapes: [a, b] } => write!(f, "merge shapes {a} and {b}"),
            Self::Planned { shapes, operands } => {
                f.write_str("broadcast shapes ")?;
                listed(f, shapes.iter().map(Bracketed))?;
                f.write_str(" as planned for ")?;
                listed(f, operands.iter())
            }
        }
    }
}

/// A shape as `[2, 3]`.
struct Bracketed<'a>(&'a Vec<usize>);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

/// `broadcast shapes a, b and c together`.
fn together<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    shapes: impl ExactSizeIterator<Item = T>,
) -> fmt::Result {
    match shapes.len() {
        0 => f.write_str("broadcast no shapes"),
        1 => {
            f.write_str("broadcast shape ")?;
            listed(f, shapes)
        }
        _ => {
            f.write_str("broadcast shapes ")?;
            listed(f, shapes)?;
            f.write_str(" together")
        }
    }
}

/// `a, b and c`.
fn listed<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl ExactSizeIterator<Item = T>,
) -> fmt::Result {
    let count = items.len();
    if count == 0 {
        return f.write_str("none");
    }
    for (i, item) in items.enumerate() {
        match i {
            0 => write!(f, "{item}")?,
            _ if i + 1 == count => write!(f, " and {item}")?,
            _ => write!(f, ", {item}")?,
        }
    }
    Ok(())
}
