//! Requests: an operation with its shapes, as errors describe it.

use super::operation::{Layout, Operation, RESOLVE};
use super::shape::{Cell, Listed, Shape};
use super::{BroadcastError, ErrorKind, Mark, Report};
use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::fmt::{self, Display};
use core::mem::ManuallyDrop;

/// A number of axes, which prints in words.
pub(crate) struct Count(pub(crate) usize);

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { f.write_str("1 axis") } else { write!(f, "{} axes", self.0) }
    }
}

/// An operand by its position, or the result, in words.
pub(crate) fn owner(operand: Option<usize>) -> String {
    if let Some(operand) = operand { format!("operand {operand}") } else { "the result".into() }
}

/// The error of a request, with its [`ErrorKind`] and the end of its message.
macro_rules! fail {
    ($request:expr, $Kind:ident, $($detail:tt)+) => {
        $request.error($crate::error::ErrorKind::$Kind, format_args!($($detail)+))
    };
}
pub(crate) use fail;

/// The report of an error whose kind and detail are not known yet.
///
/// Only a panic can keep a request from becoming an error, and then it leaks. In return, the functions that pass it on
/// contain no code to drop it.
#[must_use]
pub(crate) struct Request(pub(super) ManuallyDrop<Box<Report>>);

impl Request {
    /// Cold, and so is all that is done with a request.
    #[cold]
    pub(crate) fn new<'s, S>(operation: &'static Operation, operands: &'s [S]) -> Self
    where
        Shape: From<&'s S>,
    {
        let mut request = Self::of(operation);
        for operand in operands {
            request = request.to(operand);
        }
        request.0.operands = operands.len();
        request
    }

    fn of(operation: &'static Operation) -> Self {
        // Allocated first, else this would contain the code to drop a report if there is no memory.
        let memory = Box::new_uninit();
        // `error` sets the kind and the detail.
        let report = Report {
            kind: ErrorKind::Incompatible,
            operation,
            shapes: Vec::new(),
            operands: 0,
            axes: Vec::new(),
            text: Box::default(),
            label: None,
            subject: Box::default(),
            detail: String::new(),
            position: None,
            sizes: Vec::new(),
            clash: None,
            marks: Vec::new(),
        };
        Self(ManuallyDrop::new(Box::write(memory, report)))
    }

    /// The request with one more target.
    #[inline(never)]
    pub(crate) fn to(mut self, target: impl Into<Shape>) -> Self {
        self.0.shapes.push(target.into());
        self
    }

    pub(crate) fn axes(mut self, axes: Vec<i128>) -> Self {
        self.0.axes = axes;
        self
    }

    pub(crate) fn text(mut self, text: &dyn Display) -> Self {
        self.0.text = format!("{text}").into();
        self
    }

    /// The request in an operation of a program that is called `label`.
    pub(crate) fn label(mut self, label: Option<&str>) -> Self {
        self.0.label = label.map(Into::into);
        self
    }

    /// The request with the axis of a wrong size, in words. The detail begins with " has size".
    pub(crate) fn subject(mut self, axis: &dyn Display) -> Self {
        self.0.subject = format!("{axis}").into();
        self
    }

    /// The request with the axis at fault, its carets and the sizes at fault.
    pub(crate) fn at(mut self, axis: i128, marks: &[Mark], sizes: &[&dyn Display]) -> Self {
        self.0.position = Some(axis);
        self.0.marks.extend_from_slice(marks);
        for size in sizes {
            self.0.sizes.push(format!("{size}"));
        }
        self
    }

    /// An error with `detail` after the colon. [`fail!`] calls it.
    #[inline(never)]
    pub(crate) fn error(mut self, kind: ErrorKind, detail: fmt::Arguments<'_>) -> BroadcastError {
        (self.0.kind, self.0.detail) = (kind, alloc::fmt::format(detail));
        BroadcastError(ManuallyDrop::into_inner(self.0))
    }

    /// Two sizes of an axis of the result do not go together. `shapes` are the positions of their shapes.
    pub(crate) fn incompatible(self, axis: usize, [a, b]: [usize; 2], shapes: [usize; 2]) -> BroadcastError {
        self.clash(axis, [&a, &b], shapes, "")
    }

    /// [`incompatible`](Self::incompatible) for sizes that may not be known. `note` says more of a size.
    pub(crate) fn clash(
        self,
        axis: usize,
        [a, b]: [&dyn Display; 2],
        shapes: [usize; 2],
        note: &str,
    ) -> BroadcastError {
        let Operation { axis: word, rule, numbered: (from, of), .. } = *self.0.operation;
        let ([first, second], count) = (shapes, self.0.operands);
        let second: &dyn Display = if second == count { &"the output" } else { &second };
        let numbers = if count < from { String::new() } else { format!(" ({of} {first} and {second})") };
        let mut request = self.at(axis as i128, &[Mark::Result(axis)], &[a, b]);
        request.0.clash = Some(shapes);
        let request = request.subject(&format_args!("{word} {axis}"));
        fail!(request, Incompatible, " has sizes {a} and {b}{numbers}, expected {rule}{note}")
    }

    /// The non-zero sizes of the result multiply past `isize::MAX`.
    pub(crate) fn overflow(self, result: &[usize]) -> BroadcastError {
        fail!(self, Overflow, "the non-zero sizes of the result {result:?} multiply past isize::MAX")
    }

    /// The result, whose elements have `size` bytes, takes more than `isize::MAX` bytes or more than can be allocated.
    pub(crate) fn too_large(self, result: &[usize], size: usize) -> BroadcastError {
        let mut bytes = size.max(1);
        for &size in result {
            bytes = bytes.saturating_mul(size.max(1));
        }
        let (takes, bytes, what) = if isize::try_from(bytes).is_ok() {
            ("takes", bytes, ", which cannot be allocated")
        } else {
            ("with elements of", size, " is larger than isize::MAX bytes")
        };
        fail!(self, TooLarge, "the result {result:?} {takes} {bytes} bytes{what}")
    }

    /// A size of the target is one that no axis can have. -1 is allowed if `keeps`.
    pub(crate) fn invalid_size(self, axis: usize, size: i128, keeps: bool) -> BroadcastError {
        let (what, range) = (if keeps { "-1 or a size" } else { "a size" }, "from 0 to isize::MAX");
        let note = if size == -1 { " (-1 keeps a size in `broadcast_to` only)" } else { "" };
        let (mark, size) = (Mark::Shape(self.0.operands, axis), Cell::from(size));
        let request = self.at(axis as i128, &[mark], &[&size]);
        fail!(request, InvalidSize, "axis {axis} of the target is {size}, expected {what} {range}{note}")
    }

    /// `owner` has too few axes.
    pub(crate) fn too_few_axes(self, owner: &str, expected: usize, found: usize) -> BroadcastError {
        fail!(self, TooFewAxes, "the {owner} has {}, expected at least {expected}", Count(found))
    }

    /// The named axes do not fit the shapes.
    pub(crate) fn axis_count(self, expected: usize, found: usize) -> BroadcastError {
        let (before, named, each) = match self.0.operation.layout {
            Layout::Placed => ("", " named", "one for each axis of the array"),
            Layout::SummedToPlaced => ("", " named", "one for each axis of the target"),
            _ => ("the target has ", "", "those of the array and those named"),
        };
        fail!(self, AxisCount, "{before}{}{named}, expected {expected}, {each}", Count(found))
    }

    /// The target has -1 at an axis that the array, or its batch, does not have. Its shape is `shape`.
    pub(crate) fn placeholder_on_new_axis(mut self, axis: usize, shape: Shape) -> BroadcastError {
        let words = format!("{shape}");
        (self.0.operation, self.0.shapes[0]) = (&RESOLVE, shape);
        let request = self.text(&axis).at(axis as i128, &[Mark::Result(axis)], &[]);
        fail!(request, PlaceholderOnNewAxis, "shape {words} has no such axis")
    }

    /// A named axis does not exist.
    pub(crate) fn axis_out_of_bounds(self, axis: i128, ndim: usize) -> BroadcastError {
        let of = match self.0.operation.layout {
            Layout::Alone => "",
            Layout::Summed | Layout::SummedToPlaced if self.0.operands > 1 => " of the joint shape",
            Layout::Summed | Layout::SummedToPlaced => " of the array",
            _ => " of the target",
        };
        let (request, axis, ndim) = (self.at(axis, &[], &[]), Cell::from(axis), Count(ndim));
        fail!(request, AxisOutOfBounds, "axis {axis} is out of bounds for {ndim}{of}")
    }

    /// An axis is named twice.
    pub(crate) fn duplicate_axis(self, axis: i128) -> BroadcastError {
        // an axis that is counted from the end of an unknown number has no column
        let mark = Mark::Result(usize::try_from(axis).unwrap_or(usize::MAX));
        let (request, axis) = (self.at(axis, &[mark], &[]), Cell::from(axis));
        fail!(request, DuplicateAxis, "axis {axis} is named more than once")
    }
}

/// Prints the words after "cannot" in a message.
impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operands, targets) = self.shapes.split_at(self.operands);
        for word in self.operation.words.as_bytes().split(|byte| b"{}".contains(byte)) {
            match core::str::from_utf8(word).unwrap_or_default() {
                "s" | " together" | "joined" if self.operands == 1 => {}
                " its" | "its shape" | "of its shape" if self.operands > 1 => {}
                "joined" => {
                    f.write_str("broadcast shapes ")?;
                    listed(f, operands, None)?;
                    f.write_str(" together and ")?;
                }
                "its shape" | "of its shape" => {
                    f.write_str(if word.len() > 9 { " of shape " } else { " shape " })?;
                    listed(f, operands, None)?;
                    self.labelled(f)?;
                }
                "operands" => {
                    listed(f, operands, None)?;
                    self.labelled(f)?;
                }
                "targets" => listed(f, targets, None)?,
                "batches" => listed(f, operands, Some(0))?,
                "bases" => listed(f, operands, Some(1))?,
                "axes" => Shape::from(&self.axes).fmt(f)?,
                "text" => f.write_str(&self.text)?,
                "quoted" => write!(f, "{:?}", self.text)?,
                word => f.write_str(word)?,
            }
        }
        Ok(())
    }
}

impl Report {
    /// Prints the label after the operands.
    fn labelled(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " of {label}"))
    }
}

/// Prints shapes as `a, b and c`, each after its batch (0) or base (1) if that is the `part`.
#[inline(never)]
fn listed(f: &mut fmt::Formatter<'_>, shapes: &[Shape], part: Option<usize>) -> fmt::Result {
    let mut before = "";
    for (rest, shape) in (0..shapes.len()).rev().zip(shapes) {
        f.write_str(before)?;
        if let Some(part) = part {
            write!(f, "{} of ", Listed(shape.parts()[part]))?;
        }
        shape.fmt(f)?;
        before = if rest == 1 { " and " } else { ", " };
    }
    if shapes.is_empty() { f.write_str("none") } else { Ok(()) }
}
