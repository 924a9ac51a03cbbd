//! What can be wrong with a broadcast, and what was asked when it was.

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
    #[error("cannot {request}: the target has {}, expected at least {expected}", count(*found))]
    TooFewAxes {
        /// What was asked.
        request: Box<Request>,
        /// How many axes there have to be at least.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The number of axes that are named does not fit the shapes.
    #[error("cannot {request}: {}", request.count_rule(*expected, *found))]
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
    #[error("cannot {request}: axis {axis} is out of bounds for {}{}", count(*ndim), request.of_what())]
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
        }
    }
}

/// Makes an error out of line, and boxed, so that the way without one stays short and in registers.
#[cold]
#[inline(never)]
#[allow(clippy::unnecessary_box_returns, reason = "measured: 5 ns a view")]
pub(crate) fn cold(error: impl FnOnce() -> BroadcastError) -> Box<BroadcastError> {
    Box::new(error())
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
            BroadcastError::DuplicateAxis { .. } => ErrorKind::Unsupported,
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
}

impl Request {
    /// The rule for two sizes of one axis.
    fn size_rule(&self) -> &'static str {
        match self {
            Self::AlongAxes { .. } => "equal sizes",
            Self::Together { .. } => "equal sizes or 1",
            _ => "equal sizes or 1 in the array",
        }
    }

    /// The rule for what may stand in a target.
    fn target_rule(&self, size: i128) -> &'static str {
        match self {
            Self::ToTarget { .. } => "-1 or a size from 0 to isize::MAX",
            _ if size == -1 => "a size from 0 to isize::MAX (-1 keeps a size in `broadcast_to` only)",
            _ => "a size from 0 to isize::MAX",
        }
    }

    /// The rule of [`BroadcastError::AxisCount`].
    fn count_rule(&self, expected: usize, found: usize) -> String {
        match self {
            Self::InDim { .. } => {
                format!("{} named, expected {expected}, one for each axis of the array", count(found))
            }
            _ => format!(
                "the target has {}, expected {expected}, those of the array and those named",
                count(found)
            ),
        }
    }

    /// Whose axes [`BroadcastError::AxisOutOfBounds`] counts.
    fn of_what(&self) -> &'static str {
        match self {
            Self::CountAxes { .. } => "",
            _ => " of the target",
        }
    }

    /// Which of more than two shapes clash.
    fn positions(&self, [first, second]: [usize; 2]) -> String {
        match self {
            Self::Together { shapes } if shapes.len() > 2 => format!(" (shapes {first} and {second})"),
            _ => String::new(),
        }
    }
}

/// A number of axes in words.
fn count(axes: usize) -> String {
    if axes == 1 { "1 axis".into() } else { format!("{axes} axes") }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Together { shapes } => match shapes.as_slice() {
                [shape] => write!(f, "broadcast shape {shape:?}"),
                [first, .., last] => {
                    write!(f, "broadcast shapes {first:?}")?;
                    for shape in &shapes[1..shapes.len() - 1] {
                        write!(f, ", {shape:?}")?;
                    }
                    write!(f, " and {last:?} together")
                }
                [] => write!(f, "broadcast no shapes"),
            },
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
        }
    }
}
