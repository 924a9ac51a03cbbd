//! Requests: an operation with its shapes, as errors describe it.

use super::operation::{Layout, Operation, RESOLVE};
use super::{BroadcastError, ErrorKind, Mark, Report};
use alloc::{boxed::Box, format, string::String, string::ToString, vec::Vec};
use core::fmt;

/// A shape as messages write it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// `[2, 3]`, `(2; 3)` with a base, `2x3` or `2x3 (base 1)` for a partial shape, `*` for any number of axes.
    pub(super) text: String,
    /// The number of base axes of a shape with a batch.
    pub(super) base: Option<usize>,
}

impl Shape {
    pub(crate) fn partial(text: String, base: Option<usize>) -> Self {
        let text = if let Some(base) = base { format!("{text} (base {base})") } else { text };
        Self { text, base }
    }

    pub(crate) fn with_base(sizes: &[usize], base: usize) -> Self {
        let (batch, last) = sizes.split_at(sizes.len() - base);
        let (batch, last) = (format!("{batch:?}"), format!("{last:?}"));
        let space = if base == 0 { "" } else { " " };
        let text = format!("({};{space}{})", &batch[1..batch.len() - 1], &last[1..last.len() - 1]);
        Self { text, base: Some(base) }
    }

    /// The text of each size.
    pub(super) fn cells(&self) -> Vec<&str> {
        let is_partial = !self.text.starts_with(['[', '(']);
        let (mut cells, mut start) = (Vec::new(), 0);
        for end in 0..=self.text.len() {
            let byte = self.text.as_bytes().get(end).copied().unwrap_or(b' ');
            let is_between = if is_partial { b"x* " } else { b"[(,; )]".as_slice() };
            if is_between.contains(&byte) {
                if start < end {
                    cells.push(&self.text[start..end]);
                }
                if is_partial && byte == b' ' {
                    break;
                }
                start = end + 1;
            }
        }
        cells
    }

    /// The sizes of the batch and of the base as text, of a shape like `(2; 3)`.
    fn split(&self) -> [&str; 2] {
        let (at, end) = (self.text.find(';').unwrap_or(1), self.text.len() - 1);
        [&self.text[1..at], self.text.get(at + 2..end).unwrap_or_default()]
    }
}

impl From<Vec<i128>> for Shape {
    fn from(sizes: Vec<i128>) -> Self {
        Self { text: format!("{sizes:?}"), base: None }
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Self {
        Self { text: format!("{sizes:?}"), base: None }
    }
}

impl From<&&[usize]> for Shape {
    fn from(sizes: &&[usize]) -> Self {
        Shape::from(*sizes)
    }
}

/// A number of axes in words.
pub(crate) fn count(axes: usize) -> String {
    if axes == 1 { "1 axis".into() } else { format!("{axes} axes") }
}

/// An operand by its position, or the result, in words.
pub(crate) fn owner(operand: Option<usize>) -> String {
    if let Some(operand) = operand { format!("operand {operand}") } else { "the result".into() }
}

/// An operation with its shapes and axes. It prints as the words after "cannot" in a message.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(super) operation: &'static Operation,
    /// The operands, then the targets.
    pub(super) shapes: Vec<Shape>,
    pub(super) operands: usize,
    pub(super) axes: Vec<i128>,
    pub(super) text: String,
}

impl Request {
    /// Cold, and so is all that is done with a request.
    #[cold]
    pub(crate) fn new<'s, S>(operation: &'static Operation, operands: &'s [S]) -> Self
    where
        Shape: From<&'s S>,
    {
        let mut shapes = Vec::new();
        for operand in operands {
            shapes.push(Shape::from(operand));
        }
        Self { operation, shapes, operands: operands.len(), axes: Vec::new(), text: String::new() }
    }

    /// The request with one more target.
    pub(crate) fn to(mut self, target: impl Into<Shape>) -> Self {
        self.shapes.push(target.into());
        self
    }

    pub(crate) fn axes(mut self, axes: &[i128]) -> Self {
        self.axes = axes.to_vec();
        self
    }

    pub(crate) fn text(mut self, text: &str) -> Self {
        self.text = text.into();
        self
    }

    /// An error with `detail` after the colon.
    pub(crate) fn error(self, kind: ErrorKind, detail: String) -> BroadcastError {
        self.error_of(kind, String::new(), detail)
    }

    /// An error with "`place` has `detail`" after the colon.
    pub(crate) fn error_of(self, kind: ErrorKind, place: String, detail: String) -> BroadcastError {
        let (axis, sizes, operands, marks) = (None, Vec::new(), None, Vec::new());
        BroadcastError(Box::new(Report { kind, request: self, place, detail, axis, sizes, operands, marks }))
    }

    /// Two sizes of an axis of the result do not go together. `shapes` are the positions of their shapes.
    pub(crate) fn incompatible(self, axis: usize, sizes: [usize; 2], shapes: [usize; 2]) -> BroadcastError {
        self.incompatible_dims(axis, &sizes.map(|size| size.to_string()), shapes)
    }

    /// [`incompatible`](Self::incompatible) for sizes as text.
    pub(crate) fn incompatible_dims(
        self,
        axis: usize,
        sizes: &[String; 2],
        shapes: [usize; 2],
    ) -> BroadcastError {
        let Operation { axis: word, rule, numbered: (from, of), .. } = *self.operation;
        let ([a, b], [first, second]) = (sizes, shapes);
        let numbers = if self.operands < from {
            String::new()
        } else if second == self.operands {
            format!(" ({of} {first} and the output)")
        } else {
            format!(" ({of} {first} and {second})")
        };
        let detail = format!("sizes {a} and {b}{numbers}, expected {rule}");
        let error = self.error_of(ErrorKind::Incompatible, format!("{word} {axis}"), detail);
        let mut error = error.at(axis as i128, &[Mark::Result(axis)], sizes);
        error.0.operands = Some(shapes);
        error
    }

    /// The non-zero sizes of the result multiply past `isize::MAX`.
    pub(crate) fn overflow(self, result: &[usize]) -> BroadcastError {
        let detail = format!("the non-zero sizes of the result {result:?} multiply past isize::MAX");
        self.error(ErrorKind::Overflow, detail)
    }

    /// The result, whose elements have `size` bytes, takes more than `isize::MAX` bytes or more than can be allocated.
    pub(crate) fn too_large(self, result: &[usize], size: usize) -> BroadcastError {
        let mut bytes = size.max(1);
        for &size in result {
            bytes = bytes.saturating_mul(size.max(1));
        }
        let detail = if isize::try_from(bytes).is_ok() {
            format!("the result {result:?} takes {bytes} bytes, which cannot be allocated")
        } else {
            format!("the result {result:?} with elements of {size} bytes is larger than isize::MAX bytes")
        };
        self.error(ErrorKind::TooLarge, detail)
    }

    /// A size of the target is one that no axis can have. -1 is allowed if `keeps`.
    pub(crate) fn invalid_size(self, axis: usize, size: i128, keeps: bool) -> BroadcastError {
        let before = if keeps { "-1 or " } else { "" };
        let after = if size == -1 { " (-1 keeps a size in `broadcast_to` only)" } else { "" };
        let mark = Mark::Shape(self.operands, axis);
        let detail = format!(
            "axis {axis} of the target is {size}, expected {before}a size from 0 to isize::MAX{after}"
        );
        self.error(ErrorKind::InvalidSize, detail).at(axis as i128, &[mark], &[size.to_string()])
    }

    /// `owner` has too few axes.
    pub(crate) fn too_few_axes(self, owner: &str, expected: usize, found: usize) -> BroadcastError {
        let detail = format!("the {owner} has {}, expected at least {expected}", count(found));
        self.error(ErrorKind::TooFewAxes, detail)
    }

    /// The named axes do not fit the shapes.
    pub(crate) fn axis_count(self, expected: usize, found: usize) -> BroadcastError {
        let (before, named, each) = match self.operation.layout {
            Layout::Placed => ("", " named", "one for each axis of the array"),
            Layout::SummedToPlaced => ("", " named", "one for each axis of the target"),
            _ => ("the target has ", "", "those of the array and those named"),
        };
        let detail = format!("{before}{}{named}, expected {expected}, {each}", count(found));
        self.error(ErrorKind::AxisCount, detail)
    }

    /// The target has -1 at an axis that the array, or its batch, does not have.
    pub(crate) fn placeholder_on_new_axis(mut self, axis: usize) -> BroadcastError {
        if self.shapes[0].base.take().is_some() {
            self.shapes[0].text = format!("[{}]", self.shapes[0].split()[0]);
        }
        (self.operation, self.text) = (&RESOLVE, axis.to_string());
        let detail = format!("shape {} has no such axis", self.shapes[0].text);
        let error = self.error(ErrorKind::PlaceholderOnNewAxis, detail);
        error.at(axis as i128, &[Mark::Result(axis)], &[])
    }

    /// A named axis does not exist.
    pub(crate) fn axis_out_of_bounds(self, axis: i128, ndim: usize) -> BroadcastError {
        let of = match self.operation.layout {
            Layout::Alone => "",
            Layout::Summed | Layout::SummedToPlaced => " of the array",
            _ => " of the target",
        };
        let detail = format!("axis {axis} is out of bounds for {}{of}", count(ndim));
        self.error(ErrorKind::AxisOutOfBounds, detail).at(axis, &[], &[])
    }

    /// An axis is named twice.
    pub(crate) fn duplicate_axis(self, axis: i128) -> BroadcastError {
        // an axis that is counted from the end of an unknown number has no column
        let mark = Mark::Result(usize::try_from(axis).unwrap_or(usize::MAX));
        let detail = format!("axis {axis} is named more than once");
        self.error(ErrorKind::DuplicateAxis, detail).at(axis, &[mark], &[])
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operands, targets) = self.shapes.split_at(self.operands);
        for word in self.operation.words.split(['{', '}']) {
            match word {
                "s" | " together" if self.operands == 1 => {}
                "operands" => listed(f, operands, |_| None)?,
                "targets" => listed(f, targets, |_| None)?,
                "batches" => listed(f, operands, |shape| Some(shape.split()[0]))?,
                "bases" => listed(f, operands, |shape| Some(shape.split()[1]))?,
                "axes" => write!(f, "{:?}", self.axes)?,
                "text" => f.write_str(&self.text)?,
                "quoted" => write!(f, "{:?}", self.text)?,
                _ => f.write_str(word)?,
            }
        }
        Ok(())
    }
}

/// Prints shapes as `a, b and c`, each after a `part` of it.
fn listed(f: &mut fmt::Formatter<'_>, shapes: &[Shape], part: fn(&Shape) -> Option<&str>) -> fmt::Result {
    for (i, shape) in shapes.iter().enumerate() {
        f.write_str(match shapes.len() - i {
            _ if i == 0 => "",
            1 => " and ",
            _ => ", ",
        })?;
        if let Some(part) = part(shape) {
            write!(f, "[{part}] of ")?;
        }
        f.write_str(&shape.text)?;
    }
    if shapes.is_empty() { f.write_str("none") } else { Ok(()) }
}
