//! The operations that can fail: their words, their rule for sizes, and the alignment of their shapes.

use super::Report;
use super::shape::{Cell, Listed, Shape};
use core::fmt::{self, Display};

/// An operation, as errors describe it.
pub(crate) struct Caller {
    /// Writes the words after "cannot".
    pub(super) words: fn(&Report, &mut fmt::Formatter<'_>) -> fmt::Result,
    /// The word for an axis of the result.
    pub(super) axis: &'static str,
    /// The rule for two sizes of one axis, in words.
    pub(super) rule: &'static str,
    /// The number of operands from which on a message numbers the two that clash, and the word for them.
    pub(super) numbered: (usize, &'static str),
    /// Where a picture has the operands and the target.
    pub(super) operands: Align,
    pub(super) target: Align,
}

/// Where a picture has the sizes of a shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// At the right: the whole shape, or its batch. Bases start in one column.
    Right,
    /// At the right: both batch and base.
    RightBase,
    /// In the columns of the bases.
    Base,
    /// Each at the axis that the caller named for it.
    AtAxes,
    /// At the axes that the caller did not name, with `*` at the others.
    AroundAxes,
    /// As a shape without axes of its own: `*` at the named ones. No target has it, so the row is for no shape.
    Stars,
    /// Nowhere, and no other shape of the error either.
    Hidden,
}

impl Align {
    /// Whether the axes that the caller named say where the sizes are.
    pub(super) fn is_by_axis(self) -> bool {
        matches!(self, Self::AtAxes | Self::AroundAxes | Self::Stars)
    }
}

/// Each operation with its words, whose `{}` are parts of the report. Other fields are those of a base operation, unless they
/// are listed.
macro_rules! callers {
    ($($NAME:ident $words:literal ($($part:ident),*), $($field:ident: $value:expr,)* ..$base:ident;)*) => {
        $(pub(crate) const $NAME: Caller = Caller {
            words: |_report, f| write!(f, $words, $(_report.$part()),*),
            $($field: $value,)*
            ..$base
        };)*
    };
}

const RIGHT: Caller = Caller {
    words: |_, _| Ok(()),
    axis: "axis",
    rule: "equal sizes or 1",
    numbered: (usize::MAX, ""),
    operands: Align::Right,
    target: Align::Right,
};
const HIDDEN: Caller = Caller { operands: Align::Hidden, target: Align::Hidden, ..RIGHT };

callers! {
    NOTHING "broadcast no shapes" (), ..RIGHT;
    TOGETHER "broadcast shape{} {}{}" (s, operands, together), numbered: (3, "shapes"), ..RIGHT;
    TO_TARGET "broadcast shape {} to {}" (operands, targets), rule: "equal sizes or 1 in the array", ..RIGHT;
    MATERIALIZE "materialize shape {}" (operands), ..RIGHT;
    RESOLVE "resolve -1 at axis {} of target {}" (axis, targets), ..RIGHT;
    ALONG_AXES "broadcast shape {} along axes {} to {}" (operands, axes, targets),
        rule: "equal sizes", operands: Align::AroundAxes, ..RIGHT;
    IN_DIM "broadcast shape {} with its axes at {} of {}" (operands, axes, targets),
        operands: Align::AtAxes, ..TO_TARGET;
    ONTO "broadcast shape{} {} to output {}" (s, operands, targets),
        rule: "equal sizes or 1 in the operand", numbered: (2, "shape"), ..RIGHT;
    SUM_AXES "{}sum{} over axes {}" (joined, its_shape, axes), target: Align::Stars, ..RIGHT;
    MEAN_AXES "{}take the mean{} over axes {}" (joined, of_its_shape, axes), ..SUM_AXES;
    MAX_AXES "{}take the maximum{} over axes {}" (joined, of_its_shape, axes), ..SUM_AXES;
    MIN_AXES "{}take the minimum{} over axes {}" (joined, of_its_shape, axes), ..SUM_AXES;
    REDUCE_AXES "{}reduce{} over axes {}" (joined, its_shape, axes), ..SUM_AXES;
    SUM_TO "{}sum{} to {}" (joined, its_shape, targets), rule: "equal sizes or 1 in the target", ..RIGHT;
    MEAN_TO "{}take the mean{} to {}" (joined, of_its_shape, targets), ..SUM_TO;
    MAX_TO "{}take the maximum{} to {}" (joined, of_its_shape, targets), ..SUM_TO;
    MIN_TO "{}take the minimum{} to {}" (joined, of_its_shape, targets), ..SUM_TO;
    REDUCE_TO "{}reduce{} to {}" (joined, its_shape, targets), ..SUM_TO;
    SUM_IN_DIM "{}sum{} with{} axes {} to {}" (joined, its_shape, its, axes, targets),
        target: Align::AtAxes, ..SUM_TO;
    AXIS_SET "make an axis set of {}" (targets), ..HIDDEN;
    READ "read {:?}" (text), ..HIDDEN;

    SPLIT_BATCH "split shape {} into batch and base of {}" (operands, text), ..HIDDEN;
    BATCHES_TOGETHER "broadcast batch shape{} {}{}" (s, batches, together),
        axis: "batch axis", numbered: (3, "operands"), ..RIGHT;
    BASES_TOGETHER "broadcast base shape{} {}{}" (s, bases, together),
        axis: "base axis", operands: Align::RightBase, ..RIGHT;
    BATCH_TO_TARGET "broadcast batch shape {} to {}" (batches, targets), axis: "batch axis", ..TO_TARGET;
    EACH_BATCH "make base shape {} of each batch element of {}" (targets, operands),
        target: Align::Base, ..RIGHT;
    SIGNATURE "apply {} to {}" (text, operands), ..RIGHT;
    BATCH_INTO "write what comes of {} into {}" (operands, targets),
        axis: "batch axis", rule: "equal sizes or 1 in the operands", ..RIGHT;
    BATCH_SUM "sum batch shape {} to {}" (batches, targets), axis: "batch axis", ..SUM_TO;

    OPERATE "operate on {}" (operands), ..RIGHT;
    PARTIAL_TOGETHER "broadcast shape{} {}{}" (s, operands, together), numbered: (0, "operands"), ..RIGHT;
    PARTIAL_BATCHES "broadcast the batches of {}" (operands), ..PARTIAL_TOGETHER;
    PARTIAL_BASES "broadcast the bases of {}" (operands),
        axis: "base axis", operands: Align::RightBase, ..PARTIAL_TOGETHER;
    PARTIAL_BATCH_SUM "sum the batch of {} to {}" (operands, targets), ..BATCH_SUM;
    VERIFY "verify result {} of operand{} {}" (targets, s, operands), ..PARTIAL_TOGETHER;
    VERIFY_NOTHING "verify result {} of no operands" (targets), ..RIGHT;
    MERGE "merge shapes {}" (operands), rule: "equal sizes", ..RIGHT;
    ACCEPT "accept shape {} as {}" (operands, targets), ..RIGHT;
    PLANNED "broadcast shapes {} as planned for {}" (operands, targets), ..PARTIAL_TOGETHER;
}

/// The parts of a sentence. Several operands are `joined` first; one is `its_shape`.
impl Report {
    fn is_one(&self) -> bool {
        self.operands == 1
    }

    fn s(&self) -> &'static str {
        if self.is_one() { "" } else { "s" }
    }

    fn together(&self) -> &'static str {
        if self.is_one() { "" } else { " together" }
    }

    fn its(&self) -> &'static str {
        if self.is_one() { " its" } else { "" }
    }

    fn operands(&self) -> Shapes<'_> {
        let label = self.label.as_deref();
        Shapes { label, ..Shapes::of(&self.shapes[..self.operands]) }
    }

    fn targets(&self) -> Shapes<'_> {
        Shapes::of(&self.shapes[self.operands..])
    }

    fn batches(&self) -> Shapes<'_> {
        Shapes { part: Some(0), label: None, ..self.operands() }
    }

    fn bases(&self) -> Shapes<'_> {
        Shapes { part: Some(1), label: None, ..self.operands() }
    }

    fn joined(&self) -> Shapes<'_> {
        let words = ["broadcast shapes ", " together and "];
        Shapes { words, label: None, is_shown: !self.is_one(), ..self.operands() }
    }

    fn its_shape(&self) -> Shapes<'_> {
        Shapes { words: [" shape ", ""], is_shown: self.is_one(), ..self.operands() }
    }

    fn of_its_shape(&self) -> Shapes<'_> {
        Shapes { words: [" of shape ", ""], ..self.its_shape() }
    }

    fn axes(&self) -> Shape {
        Shape::from(&self.axes)
    }

    fn axis(&self) -> Cell {
        self.position.unwrap_or_default().into()
    }

    fn text(&self) -> &str {
        &self.text
    }
}

/// Shapes as `a, b and c`, between words.
struct Shapes<'r> {
    shapes: &'r [Shape],
    words: [&'static str; 2],
    /// The batch (0) or base (1), which stands before each whole shape.
    part: Option<usize>,
    label: Option<&'r str>,
    is_shown: bool,
}

impl<'r> Shapes<'r> {
    fn of(shapes: &'r [Shape]) -> Self {
        Self { shapes, words: [""; 2], part: None, label: None, is_shown: true }
    }
}

impl Display for Shapes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_shown {
            return Ok(());
        }
        let [mut before, after] = self.words;
        for (rest, shape) in (0..self.shapes.len()).rev().zip(self.shapes) {
            f.write_str(before)?;
            if let Some(part) = self.part {
                write!(f, "{} of ", Listed(shape.parts()[part]))?;
            }
            shape.fmt(f)?;
            before = if rest == 1 { " and " } else { ", " };
        }
        f.write_str(if self.shapes.is_empty() { "none" } else { after })?;
        self.label.map_or(Ok(()), |label| write!(f, " of {label}"))
    }
}
