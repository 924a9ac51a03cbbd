//! The operations that can fail: their words, their rule for sizes, and the alignment of their shapes.

use super::Report;
use super::shape::{Align, Shape, push, signed};
use alloc::{format, string::String};

/// An operation, as errors describe it.
pub(crate) struct Caller {
    /// Writes the words after "cannot".
    words: for<'m, 'r> fn(&'m mut Message<'r>) -> &'m mut Message<'r>,
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

/// Each operation with its words. Other fields are those of a base operation, unless they are listed.
macro_rules! callers {
    ($($NAME:ident $words:expr; $($field:ident: $value:expr,)* ..$base:ident;)*) => {
        $(pub(crate) const $NAME: Caller = Caller { words: $words, $($field: $value,)* ..$base };)*
    };
}

const RIGHT: Caller = Caller {
    words: |m| m,
    axis: "axis",
    rule: "equal sizes or 1",
    numbered: (usize::MAX, ""),
    operands: Align::Right,
    target: Align::Right,
};
const HIDDEN: Caller = Caller { operands: Align::Hidden, target: Align::Hidden, ..RIGHT };

callers! {
    NOTHING |m| m.say("broadcast no shapes"); ..RIGHT;
    TOGETHER |m| m.say("broadcast shape").many("s").say(" ").operands().many(" together");
        numbered: (3, "shapes"), ..RIGHT;
    TO_TARGET |m| m.say("broadcast shape ").operands().say(" to ").targets();
        rule: "equal sizes or 1 in the array", ..RIGHT;
    MATERIALIZE |m| m.say("materialize shape ").operands(); ..RIGHT;
    RESOLVE |m| m.say("resolve -1 at axis ").axis().say(" of target ").targets(); ..RIGHT;
    ALONG_AXES |m| m.say("broadcast shape ").operands().say(" along axes ").axes().say(" to ").targets();
        rule: "equal sizes", operands: Align::AroundAxes, ..RIGHT;
    IN_DIM |m| m.say("broadcast shape ").operands().say(" with its axes at ").axes().say(" of ").targets();
        operands: Align::AtAxes, ..TO_TARGET;
    TO_OUTPUT |m| m.say("broadcast shape").many("s").say(" ").operands().say(" to output ").targets();
        rule: "equal sizes or 1 in the operand", numbered: (2, "shape"), ..RIGHT;
    SUM_AXES |m| m.joined().say("sum").its(" shape ").say(" over axes ").axes(); target: Align::Stars, ..RIGHT;
    MEAN_AXES |m| m.joined().say("take the mean").its(" of shape ").say(" over axes ").axes(); ..SUM_AXES;
    MAX_AXES |m| m.joined().say("take the maximum").its(" of shape ").say(" over axes ").axes(); ..SUM_AXES;
    MIN_AXES |m| m.joined().say("take the minimum").its(" of shape ").say(" over axes ").axes(); ..SUM_AXES;
    ARGMAX_AXES |m| m.joined().say("find the maximum").its(" of shape ").say(" over axes ").axes(); ..SUM_AXES;
    ARGMIN_AXES |m| m.joined().say("find the minimum").its(" of shape ").say(" over axes ").axes(); ..SUM_AXES;
    REDUCE_AXES |m| m.joined().say("reduce").its(" shape ").say(" over axes ").axes(); ..SUM_AXES;
    SUM_TO |m| m.joined().say("sum").its(" shape ").say(" to ").targets();
        rule: "equal sizes or 1 in the target", ..RIGHT;
    MEAN_TO |m| m.joined().say("take the mean").its(" of shape ").say(" to ").targets(); ..SUM_TO;
    MAX_TO |m| m.joined().say("take the maximum").its(" of shape ").say(" to ").targets(); ..SUM_TO;
    MIN_TO |m| m.joined().say("take the minimum").its(" of shape ").say(" to ").targets(); ..SUM_TO;
    REDUCE_TO |m| m.joined().say("reduce").its(" shape ").say(" to ").targets(); ..SUM_TO;
    SUM_IN_DIM |m| m.joined().say("sum").its(" shape ").say(" with").one(" its").say(" axes ").axes().say(" to ").targets();
        target: Align::AtAxes, ..SUM_TO;
    AXIS_SET |m| m.say("make an axis set of ").targets(); ..HIDDEN;
    READ |m| m.say("read ").quoted(); ..HIDDEN;

    SPLIT_BATCH |m| m.say("split shape ").operands().say(" into batch and base of ").text(); ..HIDDEN;
    BATCHES_TOGETHER |m| m.say("broadcast batch shape").many("s").say(" ").parts(0).many(" together");
        axis: "batch axis", numbered: (3, "operands"), ..RIGHT;
    BASES_TOGETHER |m| m.say("broadcast base shape").many("s").say(" ").parts(1).many(" together");
        axis: "base axis", operands: Align::RightBase, ..RIGHT;
    BATCH_TO_TARGET |m| m.say("broadcast batch shape ").parts(0).say(" to ").targets();
        axis: "batch axis", ..TO_TARGET;
    EACH_BATCH |m| m.say("make base shape ").targets().say(" of each batch element of ").operands();
        target: Align::Base, ..RIGHT;
    SIGNATURE |m| m.say("apply ").text().say(" to ").operands(); ..RIGHT;
    BATCH_INTO |m| m.say("write the result of ").operands().say(" into ").targets();
        axis: "batch axis", rule: "equal sizes or 1 in the operands", ..RIGHT;
    BATCH_SUM |m| m.say("sum batch shape ").parts(0).say(" to ").targets(); axis: "batch axis", ..SUM_TO;

    OPERATE |m| m.say("operate on ").operands(); ..RIGHT;
    PARTIAL_TOGETHER |m| m.say("broadcast shape").many("s").say(" ").operands().many(" together");
        numbered: (0, "operands"), ..RIGHT;
    PARTIAL_BATCHES |m| m.say("broadcast the batches of ").operands(); ..PARTIAL_TOGETHER;
    PARTIAL_BASES |m| m.say("broadcast the bases of ").operands();
        axis: "base axis", operands: Align::RightBase, ..PARTIAL_TOGETHER;
    PARTIAL_BATCH_SUM |m| m.say("sum the batch of ").operands().say(" to ").targets(); ..BATCH_SUM;
    VERIFY |m| m.say("verify result ").targets().say(" of operand").many("s").say(" ").operands();
        ..PARTIAL_TOGETHER;
    VERIFY_NOTHING |m| m.say("verify result ").targets().say(" of no operands"); ..RIGHT;
    MERGE |m| m.say("merge shapes ").operands(); rule: "equal sizes", ..RIGHT;
    ACCEPT |m| m.say("accept shape ").operands().say(" as ").targets(); ..RIGHT;
    PLANNED |m| m.say("broadcast shapes ").operands().say(" as planned for ").targets(); ..PARTIAL_TOGETHER;
}

/// A message in progress: its text, and the report whose parts it contains.
pub(super) struct Message<'r> {
    report: &'r Report,
    text: String,
}

impl Report {
    /// The words after "cannot" in a message.
    pub(super) fn words(&self) -> String {
        let mut message = Message { report: self, text: String::new() };
        (self.caller.words)(&mut message);
        message.text
    }
}

/// `joined` writes only several operands, and `its` only a single one.
impl Message<'_> {
    fn say(&mut self, words: &str) -> &mut Self {
        push(&mut self.text, words);
        self
    }

    fn one(&mut self, words: &str) -> &mut Self {
        self.say(if self.report.operands == 1 { words } else { "" })
    }

    fn many(&mut self, words: &str) -> &mut Self {
        self.say(if self.report.operands == 1 { "" } else { words })
    }

    fn operands(&mut self) -> &mut Self {
        self.list(&self.report.shapes[..self.report.operands], None);
        if let Some(label) = &self.report.label {
            self.say(" of ").say(label);
        }
        self
    }

    fn targets(&mut self) -> &mut Self {
        self.list(&self.report.shapes[self.report.operands..], None)
    }

    /// The operands, each after its batch (0) or base (1).
    fn parts(&mut self, part: usize) -> &mut Self {
        self.list(&self.report.shapes[..self.report.operands], Some(part))
    }

    fn joined(&mut self) -> &mut Self {
        let report = self.report;
        if report.operands == 1 {
            return self;
        }
        self.say("broadcast shapes ").list(&report.shapes[..report.operands], None).say(" together and ")
    }

    fn its(&mut self, words: &str) -> &mut Self {
        if self.report.operands == 1 { self.say(words).operands() } else { self }
    }

    fn axes(&mut self) -> &mut Self {
        self.say(&Shape::from(&self.report.axes).text())
    }

    fn axis(&mut self) -> &mut Self {
        self.say(&signed(self.report.position.unwrap_or_default()))
    }

    fn text(&mut self) -> &mut Self {
        self.say(&self.report.text)
    }

    fn quoted(&mut self) -> &mut Self {
        self.say(&format!("{:?}", self.report.text))
    }

    /// Shapes as `a, b and c`.
    fn list(&mut self, shapes: &[Shape], part: Option<usize>) -> &mut Self {
        for (rest, shape) in (0..shapes.len()).rev().zip(shapes) {
            if let Some(part) = part {
                for (axis, size) in shape.parts()[part].iter().enumerate() {
                    self.say(["[", ", "][axis.min(1)]).say(size);
                }
                self.say(if shape.parts()[part].is_empty() { "[] of " } else { "] of " });
            }
            self.say(&shape.text()).say(["", " and ", ", "][rest.min(2)]);
        }
        self.say(if shapes.is_empty() { "none" } else { "" })
    }
}
