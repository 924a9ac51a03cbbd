//! The operations that can fail: their words, their rule for sizes, and the alignment of their shapes.

use super::Report;
use super::shape::{Align, Shape, push, signed};
use alloc::{format, string::String};

/// An operation, as errors describe it.
pub(crate) struct Caller {
    /// The words after "cannot". Gaps in braces are filled with parts of the [`Report`]; `{1|…}` stands for words about one
    /// operand only, `{n|…}` about several.
    words: &'static str,
    /// The word for an axis of the result.
    pub(super) axis: &'static str,
    /// The rule for two sizes of one axis, in words.
    pub(super) rule: &'static str,
    /// The number of operands from which on a message numbers the two that clash, and the word for them.
    pub(super) numbered: (usize, &'static str),
    /// The words for the shape whose axes the caller names, of an operation on one operand and on several.
    pub(super) axes_of: [&'static str; 2],
    /// Where a picture has the operands and the target.
    pub(super) operands: Align,
    pub(super) target: Align,
}

/// Each operation with its words. Other fields are those of a base operation, unless they are listed.
macro_rules! callers {
    ($($NAME:ident $words:expr; $($field:ident: $value:expr,)* ..$base:ident;)*) => {
        $(pub(crate) const $NAME: Caller = Caller { words: $words, $($field: $value,)* ..$base };)*
    };
}

const RIGHT: Caller = Caller {
    words: "",
    axis: "axis",
    rule: "equal sizes or 1",
    numbered: (usize::MAX, ""),
    axes_of: [" of the target"; 2],
    operands: Align::Right,
    target: Align::Right,
};
const OF_OPERANDS: [&str; 2] = [" of the array", " of the joint shape"];
const HIDDEN: Caller = Caller { axes_of: [""; 2], operands: Align::Hidden, target: Align::Hidden, ..RIGHT };

callers! {
    NOTHING "broadcast no shapes"; ..RIGHT;
    TOGETHER "broadcast shape{n|s} {operands}{n| together}"; numbered: (3, "shapes"), ..RIGHT;
    TO_TARGET "broadcast shape {operands} to {targets}"; rule: "equal sizes or 1 in the array", ..RIGHT;
    MATERIALIZE "materialize shape {operands}"; ..RIGHT;
    RESOLVE "resolve -1 at axis {axis} of target {targets}"; ..RIGHT;
    ALONG_AXES "broadcast shape {operands} along axes {axes} to {targets}";
        rule: "equal sizes", operands: Align::AroundAxes, ..RIGHT;
    IN_DIM "broadcast shape {operands} with its axes at {axes} of {targets}";
        operands: Align::AtAxes, ..TO_TARGET;
    TO_OUTPUT "broadcast shape{n|s} {operands} to output {targets}";
        rule: "equal sizes or 1 in the operand", numbered: (2, "shape"), ..RIGHT;
    OUTPUTS "write to outputs {operands} together"; rule: "equal sizes", numbered: (3, "outputs"), ..RIGHT;
    SUM_AXES "{joined}sum{1| shape }{operand} over axes {axes}";
        axes_of: OF_OPERANDS, target: Align::Stars, ..RIGHT;
    MEAN_AXES "{joined}take the mean{1| of shape }{operand} over axes {axes}"; ..SUM_AXES;
    MAX_AXES "{joined}take the maximum{1| of shape }{operand} over axes {axes}"; ..SUM_AXES;
    MIN_AXES "{joined}take the minimum{1| of shape }{operand} over axes {axes}"; ..SUM_AXES;
    ANY_AXES "{joined}test{1| shape }{operand} for any true element over axes {axes}"; ..SUM_AXES;
    ALL_AXES "{joined}test{1| shape }{operand} for all true elements over axes {axes}"; ..SUM_AXES;
    COUNT_AXES "{joined}count the true elements{1| of shape }{operand} over axes {axes}"; ..SUM_AXES;
    VAR_AXES "{joined}take the variance{1| of shape }{operand} over axes {axes}"; ..SUM_AXES;
    ARGMAX_AXES "{joined}find the maximum{1| of shape }{operand} over axes {axes}"; ..SUM_AXES;
    ARGMIN_AXES "{joined}find the minimum{1| of shape }{operand} over axes {axes}"; ..SUM_AXES;
    REDUCE_AXES "{joined}reduce{1| shape }{operand} over axes {axes}"; ..SUM_AXES;
    SUM_TO "{joined}sum{1| shape }{operand} to {targets}"; rule: "equal sizes or 1 in the target", ..RIGHT;
    MEAN_TO "{joined}take the mean{1| of shape }{operand} to {targets}"; ..SUM_TO;
    MAX_TO "{joined}take the maximum{1| of shape }{operand} to {targets}"; ..SUM_TO;
    MIN_TO "{joined}take the minimum{1| of shape }{operand} to {targets}"; ..SUM_TO;
    REDUCE_TO "{joined}reduce{1| shape }{operand} to {targets}"; ..SUM_TO;
    SUM_IN_DIM "{joined}sum{1| shape }{operand} with{1| its} axes {axes} to {targets}";
        axes_of: OF_OPERANDS, target: Align::AtAxes, ..SUM_TO;
    AXIS_SET "make an axis set of {targets}"; ..HIDDEN;
    READ "read {quoted}"; ..HIDDEN;

    SPLIT_BATCH "split shape {operands} into batch and base of {text}"; ..HIDDEN;
    BATCHES_TOGETHER "broadcast batch shape{n|s} {batches}{n| together}";
        axis: "batch axis", numbered: (3, "operands"), ..RIGHT;
    BASES_TOGETHER "broadcast base shape{n|s} {bases}{n| together}";
        axis: "base axis", operands: Align::RightBase, ..RIGHT;
    BATCH_TO_TARGET "broadcast batch shape {batches} to {targets}"; axis: "batch axis", ..TO_TARGET;
    EACH_BATCH "make base shape {targets} of each batch element of {operands}"; target: Align::Base, ..RIGHT;
    SIGNATURE "apply {text} to {operands}"; ..RIGHT;
    BATCH_INTO "write the result of {operands} into {targets}";
        axis: "batch axis", rule: "equal sizes or 1 in the operands", ..RIGHT;
    BATCH_SUM "sum batch shape {batches} to {targets}"; axis: "batch axis", ..SUM_TO;
}

#[cfg(feature = "partial")]
callers! {
    OPERATE "operate on {operands}"; ..RIGHT;
    PARTIAL_TOGETHER "broadcast shape{n|s} {operands}{n| together}"; numbered: (0, "operands"), ..RIGHT;
    PARTIAL_BATCHES "broadcast the batches of {operands}"; ..PARTIAL_TOGETHER;
    PARTIAL_BASES "broadcast the bases of {operands}";
        axis: "base axis", operands: Align::RightBase, ..PARTIAL_TOGETHER;
    PARTIAL_BATCH_SUM "sum the batch of {operands} to {targets}"; ..BATCH_SUM;
    VERIFY "verify result {targets} of operand{n|s} {operands}"; ..PARTIAL_TOGETHER;
    VERIFY_NOTHING "verify result {targets} of no operands"; ..RIGHT;
    MERGE "merge shapes {operands}"; rule: "equal sizes", ..RIGHT;
    ACCEPT "accept shape {operands} as {targets}"; ..RIGHT;
    PLANNED "broadcast shapes {operands} as planned for {targets}"; ..PARTIAL_TOGETHER;
}

impl Report {
    /// The words after "cannot" in a message.
    pub(super) fn words(&self) -> String {
        let (operands, targets) = self.shapes.split_at(self.operands);
        let (is_one, mut text) = (operands.len() == 1, String::new());
        let label = self.label.as_ref().map_or_else(String::new, |label| format!(" of {label}"));
        for (i, part) in self.caller.words.split(['{', '}']).enumerate() {
            match (i % 2, part, part.split_at_checked(2)) {
                (0, words, _) => push(&mut text, words),
                (_, _, Some(("1|", words))) => push(&mut text, if is_one { words } else { "" }),
                (_, _, Some(("n|", words))) => push(&mut text, if is_one { "" } else { words }),
                (_, "operand", _) if !is_one => {}
                (_, "operand" | "operands", _) => list(&mut text, ["", &label], operands, None),
                (_, "joined", _) if is_one => {}
                (_, "joined", _) => list(&mut text, ["broadcast shapes ", " together and "], operands, None),
                (_, "batches", _) => list(&mut text, ["", ""], operands, Some(0)),
                (_, "bases", _) => list(&mut text, ["", ""], operands, Some(1)),
                (_, "targets", _) => list(&mut text, ["", ""], targets, None),
                (_, "axes", _) => push(&mut text, &Shape::from(&self.axes).text()),
                (_, "axis", _) => push(&mut text, &signed(self.axis.unwrap_or_default())),
                (_, "quoted", _) => push(&mut text, &format!("{:?}", self.text)),
                _ => push(&mut text, &self.text),
            }
        }
        text
    }
}

/// Adds shapes as `a, b and c` between two words, each shape after its batch (0) or base (1) if it is asked for.
fn list(text: &mut String, [before, after]: [&str; 2], shapes: &[Shape], part: Option<usize>) {
    push(text, if shapes.is_empty() { "none" } else { before });
    for (rest, shape) in (0..shapes.len()).rev().zip(shapes) {
        if let Some(part) = part {
            push(text, &format!("[{}] of ", shape.parts()[part].join(", ")));
        }
        push(text, &shape.text());
        push(text, ["", " and ", ", "][rest.min(2)]);
    }
    push(text, after);
}
