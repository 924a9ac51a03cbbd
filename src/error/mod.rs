//! The error of a broadcast: a pointer to its parts, with a message and a picture.

mod builder;
pub(crate) mod caller;
mod picture;
mod returned;
mod shape;

pub use returned::Returned;

pub(crate) use builder::{Count, ErrorBuilder, NewBuilder, fail, owner};
pub(crate) use shape::Shape;
#[cfg(feature = "partial")]
pub(crate) use shape::signed;

use alloc::{boxed::Box, format, string::String, vec::Vec};
use caller::Caller;
use core::fmt;
use ndarray::ShapeError;
use thiserror::Error;

/// A result whose error is usually a [`BroadcastError`].
pub(crate) type Result<T, E = BroadcastError> = core::result::Result<T, E>;

/// The error of a broadcast.
///
/// The message is one line: the operation, every shape in full, the axis (counted in the result),
/// the sizes that clash and the rule they break. `Debug` prints the name of the [kind](Self::kind)
/// and the message, so that `unwrap` explains too. `{:#}` prints a picture for terminals and logs. It
/// aligns the shapes as the operation does:
/// - at the right, with a batch and its base aligned separately;
/// - with `*` at the axes that `broadcast_axes` and sums name;
/// - with each size of the array at its axis of the target, for `broadcast_in_dim`.
///
/// If a text cannot be read, it has a line of its own, with a caret under the first character that does not fit.
///
/// If there is nothing to align, or the picture would be far larger than the message, `{:#}` prints the
/// message too. An error has the size of a pointer, and is found before anything is changed. Errors are equal if they print
/// the same.
///
/// # Examples
/// ```
/// use ndarray::{Array1, Array2, ShapeError};
/// use ndarray_broadcast::{prelude::*, ErrorKind};
///
/// let (a, b) = (Array1::<f64>::zeros(3), Array2::<f64>::zeros((3, 2)));
/// let error = a.broadcast_to_match(&b).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "cannot broadcast shapes [3] and [3, 2] together: axis 1 has sizes 3 and 2, expected equal sizes or 1",
/// );
/// assert_eq!(
///     format!("{error:#}"),
///     "cannot broadcast shapes [3] and [3, 2] together\n\
///     \x20 [   3]\n\
///     \x20 [3, 2]\n\
///     \x20     ^ axis 1: sizes 3 and 2, expected equal sizes or 1",
/// );
/// assert_eq!((error.kind(), error.axis()), (ErrorKind::Incompatible, Some(1)));
/// assert_eq!((error.shapes(), error.sizes()), (vec!["[3]".into(), "[3, 2]".into()], &["3".into(), "2".into()][..]));
/// assert_eq!(ShapeError::from(error).kind(), ndarray::ErrorKind::IncompatibleShape);
/// ```
///
/// # Equivalents
/// NumPy's `ValueError: operands could not be broadcast together`, PyTorch's `RuntimeError`, as data. ndarray has
/// [`ShapeError`], into which it converts. Kinds may be added; the words of messages may change.
#[derive(Clone, Error)]
pub struct BroadcastError(Box<Report>);

#[derive(Clone)]
struct Report {
    kind: ErrorKind,
    caller: &'static Caller,
    /// The operands, then the targets.
    shapes: Vec<Shape>,
    /// The number of operands.
    operands: usize,
    /// The axes that the caller named.
    axes: Vec<i128>,
    /// A text that the operation's words contain, such as a signature or a text that cannot be read.
    text: Box<str>,
    /// The name of the operation in a program of several, if it has one.
    label: Option<Box<str>>,
    /// The axis with a wrong size, in words, or empty.
    subject: Box<str>,
    /// The end of the message, or the wrong sizes of the subject.
    detail: String,
    /// The axis at fault.
    axis: Option<i128>,
    /// The position of the first character that does not fit, in a text that cannot be read.
    position: Option<usize>,
    sizes: Vec<String>,
    /// The positions of two shapes whose sizes clash.
    clash: Option<[usize; 2]>,
    /// The axes with a caret in the picture.
    marks: Vec<Mark>,
}

/// The byte at which a text cannot be read, and a description of the expected characters.
pub(crate) type TextFault = (usize, &'static str);

/// An axis with a caret in the picture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// An axis of the result, or of its batch or base if the operation aligns these.
    Result(usize),
    /// The position of one of the error's shapes, and an axis of that shape.
    Shape(usize, usize),
}

/// The kind of a broadcast's error: see [`BroadcastError::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Two sizes of one axis do not go together.
    Incompatible,
    /// The non-zero sizes of the result multiply past `isize::MAX`.
    Overflow,
    /// A result to be stored takes more than `isize::MAX` bytes, or more than can be allocated.
    TooLarge,
    /// A target has a size that no axis can have.
    InvalidSize,
    /// A target has fewer axes than the array.
    TooFewAxes,
    /// A target has more axes than the array that is summed to it.
    TooManyAxes,
    /// The number of named axes does not fit the shapes.
    AxisCount,
    /// A target has -1 at an axis that the array does not have.
    PlaceholderOnNewAxis,
    /// A named axis does not exist. The smallest such axis is reported.
    AxisOutOfBounds,
    /// An axis is named more than once where order or number matters.
    DuplicateAxis,
    /// A result is declared for no operands.
    NoOperands,
    /// A declared size does not agree with the inferred one.
    ResultSize,
    /// A text is not a shape, size, name or signature.
    InvalidText,
    /// The number of shapes or operands is not the planned one.
    OperandCount,
    /// The number of a signature's results is not the number that the operation writes.
    ResultCount,
    /// A shape does not have the declared number of axes.
    DeclaredAxes,
    /// An axis does not have the declared size.
    DeclaredSize,
    /// One name stands for two sizes.
    DeclaredName,
    /// A base does not have the number of axes that the operation needs.
    BaseAxes,
    /// A base axis does not have the size that the operation needs.
    BaseSize,
    /// One symbol of a signature stands for two sizes.
    BaseSymbol,
    /// A symbol of a signature's result is in none of its operands.
    UnknownSymbol,
    /// A mean is over no elements or over more than the type's largest number, the type does not hold fractions, or a variance is
    /// over too few elements for its `ddof`.
    NoMean,
    /// A maximum or minimum is over no elements.
    NoElements,
}

impl BroadcastError {
    /// The kind of the error; there is an example at the [type](Self).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed, in the words of the message after "cannot".
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::broadcast_shapes;
    ///
    /// let error = broadcast_shapes(&[&[3][..], &[3, 2]]).unwrap_err();
    /// assert_eq!(error.operation(), "broadcast shapes [3] and [3, 2] together");
    /// ```
    #[must_use]
    pub fn operation(&self) -> String {
        self.0.words()
    }

    /// The shapes of the operation, as the message writes them: the operands, then the target or
    /// output.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::resolve_target;
    ///
    /// assert_eq!(resolve_target(&[2, 3], &[-1, 4]).unwrap_err().shapes(), ["[2, 3]", "[-1, 4]"]);
    /// # #[cfg(feature = "partial")]
    /// # use ndarray_broadcast::partial::infer_target;
    /// # #[cfg(feature = "partial")]
    /// assert_eq!(infer_target(&"?x3".parse()?, [-1, 4]).unwrap_err().shapes(), ["?x3", "[-1, 4]"]);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    #[must_use]
    pub fn shapes(&self) -> Vec<String> {
        self.0.shapes.iter().map(Shape::text).collect()
    }

    /// The first axis at fault, if the error is about an axis. It is counted as in the message: in the
    /// result, in its batch or base if the message says so, or as the caller named it.
    ///
    /// An axis out of bounds may be negative, or past `usize`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::{AxisSet, resolve_target};
    ///
    /// assert_eq!(resolve_target(&[2, 3], &[5, -1, 4]).unwrap_err().axis(), Some(2));
    /// assert_eq!(resolve_target(&[2, 3], &[4]).unwrap_err().axis(), None);
    /// assert_eq!(AxisSet::from_signed(&[0, -4], 3).unwrap_err().axis(), Some(-4));
    /// ```
    #[must_use]
    pub fn axis(&self) -> Option<i128> {
        self.0.axis
    }

    /// The sizes at fault, as the message writes them and in its order: two that clash, an invalid
    /// one, or none. Sizes of partial shapes may be `?`, ranges or names.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::resolve_target;
    ///
    /// assert_eq!(resolve_target(&[2, 3], &[5, -1, 4]).unwrap_err().sizes(), ["3", "4"]);
    /// # #[cfg(feature = "partial")]
    /// # use ndarray_broadcast::partial::infer_target;
    /// # #[cfg(feature = "partial")]
    /// assert_eq!(infer_target(&"2..5".parse()?, [6]).unwrap_err().sizes(), ["2..5", "6"]);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    #[must_use]
    pub fn sizes(&self) -> &[String] {
        &self.0.sizes
    }

    /// The positions, among [`shapes`](Self::shapes), of two shapes whose sizes clash.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::broadcast_shapes;
    ///
    /// let error = broadcast_shapes(&[&[1][..], &[3], &[2, 4]]).unwrap_err();
    /// assert_eq!(error.operands(), Some([1, 2]));
    /// ```
    #[must_use]
    pub fn operands(&self) -> Option<[usize; 2]> {
        self.0.clash
    }

    /// The position of the first character that does not fit, counted from 0, if a text cannot be read.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::Signature;
    ///
    /// assert_eq!(Signature::new("(m,n)->n").unwrap_err().position(), Some(7));
    /// ```
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }

    /// The message on one line. `Debug` and panics print it, so that a program that only unwraps does not
    /// contain the code for pictures.
    pub(crate) fn line(&self) -> String {
        format!("cannot {}: {}", self.0.words(), self.0.reason(" has "))
    }

    /// The error of a text that cannot be read. The character at `position` does not fit, and `expected` describes one
    /// that does.
    pub(crate) fn invalid_text(text: &str, position: usize, expected: &str) -> Self {
        let mut builder = ErrorBuilder::new::<&[usize]>(&caller::READ, &[]).text(&text);
        builder.0.position = Some(position);
        fail!(builder, InvalidText, "position {position} needs {expected}")
    }
}

impl Report {
    /// The fault. `has` stands between the subject and its sizes.
    fn reason(&self, has: &str) -> String {
        let has = if self.subject.is_empty() { "" } else { has };
        format!("{}{has}{}", self.subject, self.detail)
    }
}

/// Errors are equal if they print the same, as `{:?}` and as `{:#}`.
impl PartialEq for BroadcastError {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}\n{self:#}") == format!("{other:?}\n{other:#}")
    }
}

impl Eq for BroadcastError {}

impl fmt::Display for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match if f.alternate() { self.picture() } else { None } {
            Some(picture) => write!(f, "cannot {}{picture}", self.operation()),
            None => f.write_str(&self.line()),
        }
    }
}

impl fmt::Debug for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.line())
    }
}

impl From<BroadcastError> for ShapeError {
    /// The nearest of ndarray's error kinds; the message is lost.
    fn from(error: BroadcastError) -> Self {
        ShapeError::from_kind(match error.kind() {
            ErrorKind::Overflow | ErrorKind::TooLarge => ndarray::ErrorKind::Overflow,
            ErrorKind::InvalidSize => ndarray::ErrorKind::RangeLimited,
            ErrorKind::AxisOutOfBounds => ndarray::ErrorKind::OutOfBounds,
            ErrorKind::DuplicateAxis | ErrorKind::InvalidText => ndarray::ErrorKind::Unsupported,
            _ => ndarray::ErrorKind::IncompatibleShape,
        })
    }
}
