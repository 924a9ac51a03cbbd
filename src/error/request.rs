//! Requests: an operation with its shapes, as errors describe it.

use super::operation::{Layout, Operation, RESOLVE};
use super::{BroadcastError, ErrorKind, Mark};
use alloc::{format, string::String, string::ToString, vec::Vec};
use core::fmt;

/// A shape as messages write it: sizes, which may be -1 in a target, or the text of a partial shape. A shape
/// with a batch also has the number of its base axes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    sizes: Sizes,
    pub(super) base: Option<usize>,
}

#[derive(Clone, PartialEq, Eq)]
enum Sizes {
    Known(Vec<i128>),
    /// Such as `4x?x3`, `[]` or `*`.
    Partial(String),
}

impl Shape {
    pub(crate) fn partial(text: String, base: Option<usize>) -> Self {
        Self { sizes: Sizes::Partial(text), base }
    }

    pub(crate) fn with_base(sizes: &[usize], base: usize) -> Self {
        Self { base: Some(base), ..sizes.into() }
    }

    /// Whether the number of axes is unknown.
    pub(super) fn is_unranked(&self) -> bool {
        matches!(&self.sizes, Sizes::Partial(text) if text == "*")
    }

    /// The text of each size.
    pub(super) fn cells(&self) -> Vec<String> {
        match &self.sizes {
            Sizes::Known(sizes) => sizes.iter().map(ToString::to_string).collect(),
            Sizes::Partial(text) if text == "[]" || self.is_unranked() => Vec::new(),
            Sizes::Partial(text) => text.split('x').map(String::from).collect(),
        }
    }

    /// The sizes of the batch and of the base, or empty slices if they are unknown.
    fn split(&self) -> (&[i128], &[i128]) {
        match (&self.sizes, self.base) {
            (Sizes::Known(sizes), Some(base)) => sizes.split_at(sizes.len() - base),
            _ => (&[], &[]),
        }
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Self {
        sizes.iter().map(|&size| size as i128).collect::<Vec<_>>().into()
    }
}

impl From<&&[usize]> for Shape {
    fn from(sizes: &&[usize]) -> Self {
        Shape::from(*sizes)
    }
}

impl From<Vec<i128>> for Shape {
    fn from(sizes: Vec<i128>) -> Self {
        Self { sizes: Sizes::Known(sizes), base: None }
    }
}

/// Prints as `[2, 3]`, `(2; 3)`, `2x3` or `2x3 (base 1)`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.sizes, self.base) {
            (Sizes::Known(sizes), None) => write!(f, "{sizes:?}"),
            (Sizes::Known(_), Some(_)) => {
                let (batch, base) = self.split();
                let space = if base.is_empty() { "" } else { " " };
                let [batch, base] = [batch, base].map(|sizes| format!("{sizes:?}"));
                write!(f, "({};{space}{})", &batch[1..batch.len() - 1], &base[1..base.len() - 1])
            }
            (Sizes::Partial(text), None) => f.write_str(text),
            (Sizes::Partial(text), Some(base)) => write!(f, "{text} (base {base})"),
        }
    }
}

/// A number of axes in words.
pub(crate) fn count(axes: usize) -> String {
    if axes == 1 { "1 axis".into() } else { format!("{axes} axes") }
}

/// An operand by its position, or the result, in words.
pub(crate) fn owner(operand: Option<usize>) -> String {
    operand.map_or("the result".into(), |operand| format!("operand {operand}"))
}

/// An operation with its shapes and axes. It prints as the words after "cannot" in a message.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(super) operation: &'static Operation,
    /// The operands, then the targets.
    pub(super) shapes: Vec<Shape>,
    operands: usize,
    pub(super) axes: Vec<i128>,
    pub(super) text: String,
}

impl Request {
    #[cold]
    pub(crate) fn new<'s, S>(operation: &'static Operation, operands: &'s [S]) -> Self
    where
        Shape: From<&'s S>,
    {
        let shapes: Vec<Shape> = operands.iter().map(Shape::from).collect();
        Self { operation, operands: shapes.len(), shapes, axes: Vec::new(), text: String::new() }
    }

    /// The request with one more target.
    #[cold]
    pub(crate) fn to(mut self, target: impl Into<Shape>) -> Self {
        self.shapes.push(target.into());
        self
    }

    #[cold]
    pub(crate) fn axes(mut self, axes: &[i128]) -> Self {
        self.axes = axes.to_vec();
        self
    }

    #[cold]
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn operands(&self) -> &[Shape] {
        &self.shapes[..self.operands]
    }

    pub(super) fn targets(&self) -> &[Shape] {
        &self.shapes[self.operands..]
    }

    /// Two sizes of an axis of the result do not go together. `shapes` are the positions of their shapes.
    #[cold]
    pub(crate) fn incompatible(self, axis: usize, sizes: [usize; 2], shapes: [usize; 2]) -> BroadcastError {
        self.incompatible_dims(axis, sizes.map(|size| size.to_string()), shapes)
    }

    /// [`incompatible`](Self::incompatible) for sizes as text.
    #[cold]
    pub(crate) fn incompatible_dims(
        self,
        axis: usize,
        sizes: [String; 2],
        shapes: [usize; 2],
    ) -> BroadcastError {
        let Operation { axis: word, rule, numbered: (from, of), .. } = *self.operation;
        let [a, b] = &sizes;
        let numbers = match shapes {
            _ if self.operands < from => String::new(),
            [first, second] if second == self.operands => format!(" ({of} {first} and the output)"),
            [first, second] => format!(" ({of} {first} and {second})"),
        };
        let detail = format!("sizes {a} and {b}{numbers}, expected {rule}");
        let error = self.error_of(ErrorKind::Incompatible, format!("{word} {axis}"), detail);
        let mut error = error.at(axis as i128, [Mark::Result(axis)], sizes);
        error.0.operands = Some(shapes);
        error
    }

    /// The non-zero sizes of the result multiply past `isize::MAX`.
    #[cold]
    pub(crate) fn overflow(self, result: &[usize]) -> BroadcastError {
        let detail = format!("the non-zero sizes of the result {result:?} multiply past isize::MAX");
        self.error(ErrorKind::Overflow, detail)
    }

    /// The result, whose elements have `size` bytes, takes more than `isize::MAX` bytes or more than can be allocated.
    #[cold]
    pub(crate) fn too_large(self, result: &[usize], size: usize) -> BroadcastError {
        let bytes = result.iter().try_fold(size.max(1), |bytes, &size| bytes.checked_mul(size.max(1)));
        let detail = match bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) {
            Some(bytes) => format!("the result {result:?} takes {bytes} bytes, which cannot be allocated"),
            None => {
                format!("the result {result:?} with elements of {size} bytes is larger than isize::MAX bytes")
            }
        };
        self.error(ErrorKind::TooLarge, detail)
    }

    /// A size of the target is one that no axis can have. -1 is allowed if `keeps`.
    #[cold]
    pub(crate) fn invalid_size(self, axis: usize, size: i128, keeps: bool) -> BroadcastError {
        let (before, after) = match (keeps, size) {
            (true, _) => ("-1 or ", ""),
            (false, -1) => ("", " (-1 keeps a size in `broadcast_to` only)"),
            (false, _) => ("", ""),
        };
        let mark = Mark::Shape(self.operands, axis);
        let detail = format!(
            "axis {axis} of the target is {size}, expected {before}a size from 0 to isize::MAX{after}"
        );
        self.error(ErrorKind::InvalidSize, detail).at(axis as i128, [mark], [size.to_string()])
    }

    /// `owner` has too few axes.
    #[cold]
    pub(crate) fn too_few_axes(self, owner: &str, expected: usize, found: usize) -> BroadcastError {
        let detail = format!("the {owner} has {}, expected at least {expected}", count(found));
        self.error(ErrorKind::TooFewAxes, detail)
    }

    /// The named axes do not fit the shapes.
    #[cold]
    pub(crate) fn axis_count(self, expected: usize, found: usize) -> BroadcastError {
        let count = count(found);
        let detail = match self.operation.layout {
            Layout::Placed => format!("{count} named, expected {expected}, one for each axis of the array"),
            Layout::SummedToPlaced => {
                format!("{count} named, expected {expected}, one for each axis of the target")
            }
            _ => format!("the target has {count}, expected {expected}, those of the array and those named"),
        };
        self.error(ErrorKind::AxisCount, detail)
    }

    /// The target has -1 at an axis that `shape` does not have.
    #[cold]
    pub(crate) fn placeholder_on_new_axis(mut self, shape: impl Into<Shape>, axis: usize) -> BroadcastError {
        (self.operation, self.shapes[0], self.text) = (&RESOLVE, shape.into(), axis.to_string());
        let detail = format!("shape {} has no such axis", self.shapes[0]);
        let error = self.error(ErrorKind::PlaceholderOnNewAxis, detail);
        error.at(axis as i128, [Mark::Result(axis)], [])
    }

    /// A named axis does not exist.
    #[cold]
    pub(crate) fn axis_out_of_bounds(self, axis: i128, ndim: usize) -> BroadcastError {
        let of = match self.operation.layout {
            Layout::Alone => "",
            Layout::Summed | Layout::SummedToPlaced => " of the array",
            _ => " of the target",
        };
        let detail = format!("axis {axis} is out of bounds for {}{of}", count(ndim));
        self.error(ErrorKind::AxisOutOfBounds, detail).at(axis, [], [])
    }

    /// An axis is named twice.
    #[cold]
    pub(crate) fn duplicate_axis(self, axis: i128) -> BroadcastError {
        let detail = format!("axis {axis} is named more than once");
        let error = self.error(ErrorKind::DuplicateAxis, detail);
        match usize::try_from(axis) {
            Ok(position) => error.at(axis, [Mark::Result(position)], []),
            Err(_) => error.at(axis, [], []),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.operands != 1;
        let mut words = self.operation.words.split(['{', '}']);
        while let Some(literal) = words.next() {
            f.write_str(literal)?;
            match words.next() {
                Some("s") if several => f.write_str("s")?,
                Some("together") if several => f.write_str(" together")?,
                Some("operands") => listed(f, self.operands(), ToString::to_string)?,
                Some("targets") => listed(f, self.targets(), ToString::to_string)?,
                Some("batches") => listed(f, self.operands(), |it| format!("{:?} of {it}", it.split().0))?,
                Some("bases") => listed(f, self.operands(), |it| format!("{:?} of {it}", it.split().1))?,
                Some("axes") => write!(f, "{:?}", self.axes)?,
                Some("text") => f.write_str(&self.text)?,
                Some("quoted") => write!(f, "{:?}", self.text)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Prints shapes as `a, b and c`.
fn listed(f: &mut fmt::Formatter<'_>, shapes: &[Shape], show: fn(&Shape) -> String) -> fmt::Result {
    if shapes.is_empty() {
        return f.write_str("none");
    }
    for (i, shape) in shapes.iter().enumerate() {
        let before = if i == 0 {
            ""
        } else if i + 1 == shapes.len() {
            " and "
        } else {
            ", "
        };
        write!(f, "{before}{}", show(shape))?;
    }
    Ok(())
}
