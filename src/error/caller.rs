//! The operations that can fail: their words, their rule for sizes, and the alignment of their shapes.

use super::Report;
use super::shape::{Shape, signed};
use alloc::{format, string::String, string::ToString};
use core::ops::Range;

/// An operation, as errors describe it.
pub(crate) struct Caller {
    /// The words after "cannot".
    pub(super) words: fn(&Report) -> String,
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

/// Each operation with its words. Other fields are those of a base operation, unless they are listed.
macro_rules! callers {
    ($($NAME:ident |$report:ident| $words:literal $(, $part:expr)*; $($field:ident: $value:expr,)* ..$base:ident;)*) => {
        $(pub(crate) const $NAME: Caller =
            Caller { words: |$report| format!($words, $($part),*), $($field: $value,)* ..$base };)*
    };
}

const RIGHT: Caller = Caller {
    words: |_| String::new(),
    axis: "axis",
    rule: "equal sizes or 1",
    numbered: (usize::MAX, ""),
    operands: Align::Right,
    target: Align::Right,
};
const HIDDEN: Caller = Caller { operands: Align::Hidden, target: Align::Hidden, ..RIGHT };

callers! {
    NOTHING |_r| "broadcast no shapes"; ..RIGHT;
    TOGETHER |r| "broadcast shape{} {}{}", r.many("s"), r.operands(), r.many(" together"); numbered: (3, "shapes"), ..RIGHT;
    TO_TARGET |r| "broadcast shape {} to {}", r.operands(), r.targets(); rule: "equal sizes or 1 in the array", ..RIGHT;
    MATERIALIZE |r| "materialize shape {}", r.operands(); ..RIGHT;
    RESOLVE |r| "resolve -1 at axis {} of target {}", r.axis(), r.targets(); ..RIGHT;
    ALONG_AXES |r| "broadcast shape {} along axes {} to {}", r.operands(), r.axes(), r.targets();
        rule: "equal sizes", operands: Align::AroundAxes, ..RIGHT;
    IN_DIM |r| "broadcast shape {} with its axes at {} of {}", r.operands(), r.axes(), r.targets();
        operands: Align::AtAxes, ..TO_TARGET;
    ONTO |r| "broadcast shape{} {} to output {}", r.many("s"), r.operands(), r.targets();
        rule: "equal sizes or 1 in the operand", numbered: (2, "shape"), ..RIGHT;
    SUM_AXES |r| "{}sum{} over axes {}", r.joined(), r.its(" shape "), r.axes(); target: Align::Stars, ..RIGHT;
    MEAN_AXES |r| "{}take the mean{} over axes {}", r.joined(), r.its(" of shape "), r.axes(); ..SUM_AXES;
    MAX_AXES |r| "{}take the maximum{} over axes {}", r.joined(), r.its(" of shape "), r.axes(); ..SUM_AXES;
    MIN_AXES |r| "{}take the minimum{} over axes {}", r.joined(), r.its(" of shape "), r.axes(); ..SUM_AXES;
    REDUCE_AXES |r| "{}reduce{} over axes {}", r.joined(), r.its(" shape "), r.axes(); ..SUM_AXES;
    SUM_TO |r| "{}sum{} to {}", r.joined(), r.its(" shape "), r.targets(); rule: "equal sizes or 1 in the target", ..RIGHT;
    MEAN_TO |r| "{}take the mean{} to {}", r.joined(), r.its(" of shape "), r.targets(); ..SUM_TO;
    MAX_TO |r| "{}take the maximum{} to {}", r.joined(), r.its(" of shape "), r.targets(); ..SUM_TO;
    MIN_TO |r| "{}take the minimum{} to {}", r.joined(), r.its(" of shape "), r.targets(); ..SUM_TO;
    REDUCE_TO |r| "{}reduce{} to {}", r.joined(), r.its(" shape "), r.targets(); ..SUM_TO;
    SUM_IN_DIM |r| "{}sum{} with{} axes {} to {}", r.joined(), r.its(" shape "), r.one(" its"), r.axes(), r.targets();
        target: Align::AtAxes, ..SUM_TO;
    AXIS_SET |r| "make an axis set of {}", r.targets(); ..HIDDEN;
    READ |r| "read {:?}", r.text; ..HIDDEN;

    SPLIT_BATCH |r| "split shape {} into batch and base of {}", r.operands(), r.text; ..HIDDEN;
    BATCHES_TOGETHER |r| "broadcast batch shape{} {}{}", r.many("s"), r.parts(0), r.many(" together");
        axis: "batch axis", numbered: (3, "operands"), ..RIGHT;
    BASES_TOGETHER |r| "broadcast base shape{} {}{}", r.many("s"), r.parts(1), r.many(" together");
        axis: "base axis", operands: Align::RightBase, ..RIGHT;
    BATCH_TO_TARGET |r| "broadcast batch shape {} to {}", r.parts(0), r.targets(); axis: "batch axis", ..TO_TARGET;
    EACH_BATCH |r| "make base shape {} of each batch element of {}", r.targets(), r.operands();
        target: Align::Base, ..RIGHT;
    SIGNATURE |r| "apply {} to {}", r.text, r.operands(); ..RIGHT;
    BATCH_INTO |r| "write what comes of {} into {}", r.operands(), r.targets();
        axis: "batch axis", rule: "equal sizes or 1 in the operands", ..RIGHT;
    BATCH_SUM |r| "sum batch shape {} to {}", r.parts(0), r.targets(); axis: "batch axis", ..SUM_TO;

    OPERATE |r| "operate on {}", r.operands(); ..RIGHT;
    PARTIAL_TOGETHER |r| "broadcast shape{} {}{}", r.many("s"), r.operands(), r.many(" together"); numbered: (0, "operands"), ..RIGHT;
    PARTIAL_BATCHES |r| "broadcast the batches of {}", r.operands(); ..PARTIAL_TOGETHER;
    PARTIAL_BASES |r| "broadcast the bases of {}", r.operands();
        axis: "base axis", operands: Align::RightBase, ..PARTIAL_TOGETHER;
    PARTIAL_BATCH_SUM |r| "sum the batch of {} to {}", r.operands(), r.targets(); ..BATCH_SUM;
    VERIFY |r| "verify result {} of operand{} {}", r.targets(), r.many("s"), r.operands(); ..PARTIAL_TOGETHER;
    VERIFY_NOTHING |r| "verify result {} of no operands", r.targets(); ..RIGHT;
    MERGE |r| "merge shapes {}", r.operands(); rule: "equal sizes", ..RIGHT;
    ACCEPT |r| "accept shape {} as {}", r.operands(), r.targets(); ..RIGHT;
    PLANNED |r| "broadcast shapes {} as planned for {}", r.operands(), r.targets(); ..PARTIAL_TOGETHER;
}

/// The parts of a sentence. Several operands are `joined` first; one is `its` shape.
impl Report {
    fn one(&self, words: &'static str) -> &'static str {
        if self.operands == 1 { words } else { "" }
    }

    fn many(&self, words: &'static str) -> &'static str {
        if self.operands == 1 { "" } else { words }
    }

    fn operands(&self) -> String {
        let label = self.label.as_ref().map(|label| format!(" of {label}"));
        self.list(0..self.operands, None) + &label.unwrap_or_default()
    }

    fn targets(&self) -> String {
        self.list(self.operands..self.shapes.len(), None)
    }

    /// The batches (0) or bases (1).
    fn parts(&self, part: usize) -> String {
        self.list(0..self.operands, Some(part))
    }

    fn joined(&self) -> String {
        if self.operands == 1 {
            return String::new();
        }
        format!("broadcast shapes {} together and ", self.list(0..self.operands, None))
    }

    fn its(&self, words: &str) -> String {
        if self.operands == 1 { format!("{words}{}", self.operands()) } else { String::new() }
    }

    fn axes(&self) -> Shape {
        Shape::from(&self.axes)
    }

    fn axis(&self) -> String {
        signed(self.position.unwrap_or_default())
    }

    /// Shapes as `a, b and c`, each after its batch (0) or base (1) if that is the `part`.
    fn list(&self, shapes: Range<usize>, part: Option<usize>) -> String {
        let mut list = String::new();
        for (rest, shape) in (0..shapes.len()).rev().zip(&self.shapes[shapes]) {
            if let Some(part) = part {
                list += &format!("[{}] of ", shape.parts()[part].join(", "));
            }
            list += &shape.to_string();
            list += ["", " and ", ", "][rest.min(2)];
        }
        if list.is_empty() { "none".into() } else { list }
    }
}
