//! Errors step by step: first an operation with its shapes, then the fault.

use super::caller::{Caller, RESOLVE};
use super::shape::{Align, Shape, signed};
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

/// Makes the builder of an error, where there is one.
pub(crate) type NewBuilder<'f> = &'f dyn Fn() -> ErrorBuilder;

/// The error of a builder, with its [`ErrorKind`] and the end of its message.
macro_rules! fail {
    ($builder:expr, $Kind:ident, $($detail:tt)+) => {
        $builder.error($crate::error::ErrorKind::$Kind, format_args!($($detail)+))
    };
}
pub(crate) use fail;

/// An operation with its shapes, which [`error`](Self::error) turns into an error.
///
/// If a panic keeps a builder from becoming an error, it leaks. In return, the functions that pass it on contain no code to drop
/// it.
#[must_use]
pub(crate) struct ErrorBuilder(pub(super) ManuallyDrop<Box<Report>>);

impl ErrorBuilder {
    /// Cold, so that all code for errors is.
    #[cold]
    pub(crate) fn new<'s, S>(caller: &'static Caller, operands: &'s [S]) -> Self
    where
        Shape: From<&'s S>,
    {
        let mut builder = Self::of(caller);
        for operand in operands {
            builder.add(operand.into(), caller.operands);
        }
        builder.0.operands = operands.len();
        builder
    }

    fn of(caller: &'static Caller) -> Self {
        // Allocated first: otherwise this function would contain code to drop a report if there is no memory.
        let memory = Box::new_uninit();
        // `error` sets the kind and the detail.
        let report = Report {
            kind: ErrorKind::Incompatible,
            caller,
            shapes: Vec::new(),
            operands: 0,
            axes: Vec::new(),
            text: Box::default(),
            label: None,
            subject: Box::default(),
            detail: String::new(),
            axis: None,
            position: None,
            sizes: Vec::new(),
            clash: None,
            marks: Vec::new(),
        };
        Self(ManuallyDrop::new(Box::write(memory, report)))
    }

    #[inline(never)]
    fn add(&mut self, mut shape: Shape, align: Align) {
        shape.align = align;
        self.0.shapes.push(shape);
    }

    /// Adds a target.
    pub(crate) fn to(mut self, target: impl Into<Shape>) -> Self {
        let align = self.0.caller.target;
        self.add(target.into(), align);
        self
    }

    /// Adds the axes that the caller named.
    pub(crate) fn axes(mut self, axes: Vec<i128>) -> Self {
        self.0.axes = axes;
        self
    }

    pub(crate) fn text(mut self, text: &dyn Display) -> Self {
        self.0.text = format!("{text}").into();
        self
    }

    /// Names the operation in a program of several.
    #[cfg(feature = "partial")]
    pub(crate) fn label(mut self, label: Option<&str>) -> Self {
        self.0.label = label.map(Into::into);
        self
    }

    /// Names the axis with a wrong size. The detail then describes that size.
    pub(crate) fn subject(mut self, axis: &dyn Display) -> Self {
        self.0.subject = format!("{axis}").into();
        self
    }

    /// Sets the axis at fault, the axes with a caret in the picture, and the sizes.
    #[inline(never)]
    pub(crate) fn at(mut self, axis: i128, marks: &[Mark], sizes: &[&dyn Display]) -> Self {
        self.0.axis = Some(axis);
        self.0.marks.extend_from_slice(marks);
        for size in sizes {
            self.0.sizes.push(format!("{size}"));
        }
        self
    }

    /// An error with `detail` after the colon. [`fail!`] calls it. Cold, as [`new`](Self::new).
    #[cold]
    #[inline(never)]
    pub(crate) fn error(mut self, kind: ErrorKind, detail: fmt::Arguments<'_>) -> BroadcastError {
        (self.0.kind, self.0.detail) = (kind, alloc::fmt::format(detail));
        BroadcastError(ManuallyDrop::into_inner(self.0))
    }

    /// Two sizes of an axis of the result do not go together. `shapes` are the positions of their shapes.
    pub(crate) fn incompatible(self, axis: usize, [a, b]: [usize; 2], shapes: [usize; 2]) -> BroadcastError {
        self.clash(axis, [&a, &b], shapes, "")
    }

    /// The error of a size of the joint shape, which has `ndim` axes, and one of a target at the same axis, by the first operand
    /// that has the joint size.
    pub(crate) fn incompatible_with_target(
        self,
        axis: usize,
        sizes: [usize; 2],
        ndim: usize,
    ) -> BroadcastError {
        let (size, operands) = (signed(sizes[0] as i128), self.0.operands);
        // A size of 1 may come from a missing axis.
        let has_size = |shape: &Shape| {
            let own_axis = (shape.sizes().len() + axis).checked_sub(ndim);
            own_axis.is_some_and(|own_axis| *shape.sizes()[own_axis] == *size)
        };
        let operand = self.0.shapes[..operands].iter().position(has_size).unwrap_or(0);
        self.incompatible(axis, sizes, [operand, operands])
    }

    /// [`incompatible`](Self::incompatible) for sizes that may not be known. `note` says more of a size.
    pub(crate) fn clash(
        mut self,
        axis: usize,
        [a, b]: [&dyn Display; 2],
        shapes: [usize; 2],
        note: &str,
    ) -> BroadcastError {
        let &Caller { axis: word, rule, numbered: (from, noun), .. } = self.0.caller;
        let ([first, second], count) = (shapes, self.0.operands);
        let second: &dyn Display = if second == count { &"the output" } else { &second };
        let numbers = if count < from { String::new() } else { format!(" ({noun} {first} and {second})") };
        self.0.clash = Some(shapes);
        let builder = self.at(axis as i128, &[Mark::Result(axis)], &[a, b]);
        let builder = builder.subject(&format_args!("{word} {axis}"));
        fail!(builder, Incompatible, "sizes {a} and {b}{numbers}, expected {rule}{note}")
    }

    /// The non-zero sizes of the result multiply past `isize::MAX`.
    pub(crate) fn overflow(self, result: &[usize]) -> BroadcastError {
        fail!(self, Overflow, "the non-zero sizes of the result {result:?} multiply past isize::MAX")
    }

    /// The result, whose elements have `size` bytes, takes more than `isize::MAX` bytes or more than can be allocated.
    pub(crate) fn too_large(self, result: &[usize], size: usize) -> BroadcastError {
        let bytes = result.iter().fold(size.max(1), |bytes, &size| bytes.saturating_mul(size.max(1)));
        let (takes, bytes, what) = if isize::try_from(bytes).is_ok() {
            ("takes", bytes, ", which cannot be allocated")
        } else {
            ("with elements of", size, " is larger than isize::MAX bytes")
        };
        fail!(self, TooLarge, "the result {result:?} {takes} {bytes} bytes{what}")
    }

    /// No axis can have this size of the target. -1 is allowed if it `keeps` a size.
    pub(crate) fn invalid_size(self, axis: usize, size: i128, keeps: bool) -> BroadcastError {
        let (what, range) = (if keeps { "-1 or a size" } else { "a size" }, "from 0 to isize::MAX");
        let note = if size == -1 { " (-1 keeps a size in `broadcast_to` only)" } else { "" };
        let (mark, size) = (Mark::Shape(self.0.operands, axis), signed(size));
        let builder = self.at(axis as i128, &[mark], &[&size]);
        fail!(builder, InvalidSize, "axis {axis} of the target is {size}, expected {what} {range}{note}")
    }

    /// The target has -1 at an axis that the array, or its batch, does not have.
    pub(crate) fn placeholder_on_new_axis(mut self, axis: usize) -> BroadcastError {
        self.0.caller = &RESOLVE;
        let shape = &mut self.0.shapes[0];
        shape.drop_base();
        let words = shape.text();
        let builder = self.at(axis as i128, &[Mark::Result(axis)], &[]);
        fail!(builder, PlaceholderOnNewAxis, "shape {words} has no such axis")
    }

    /// `owner` has too few axes.
    pub(crate) fn too_few_axes(self, owner: &str, expected: usize, found: usize) -> BroadcastError {
        fail!(self, TooFewAxes, "the {owner} has {}, expected at least {expected}", Count(found))
    }

    /// A named axis does not exist.
    pub(crate) fn axis_out_of_bounds(self, axis: i128, ndim: usize) -> BroadcastError {
        let of = self.0.caller.axes_of[usize::from(self.0.operands > 1)];
        let (builder, axis, ndim) = (self.at(axis, &[], &[]), signed(axis), Count(ndim));
        fail!(builder, AxisOutOfBounds, "axis {axis} is out of bounds for {ndim}{of}")
    }

    /// An axis is named twice.
    pub(crate) fn duplicate_axis(self, axis: i128) -> BroadcastError {
        // An axis counted from an unknown end has no column.
        let mark = Mark::Result(usize::try_from(axis).unwrap_or(usize::MAX));
        let (builder, axis) = (self.at(axis, &[mark], &[]), signed(axis));
        fail!(builder, DuplicateAxis, "axis {axis} is named more than once")
    }
}
