//! The operations that can fail: their words, their rule for sizes, and how their shapes are aligned.

/// An operation, as errors describe it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    /// What follows "cannot". [`Request`](super::Request) fills in the names in braces.
    pub(super) words: &'static str,
    /// The word for an axis of the result.
    pub(super) axis: &'static str,
    /// What two sizes of one axis have to be.
    pub(super) rule: &'static str,
    /// From how many operands on a message numbers the two that clash, and the word for them.
    pub(super) numbered: (usize, &'static str),
    pub(super) layout: Layout,
}

/// How a picture aligns shapes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// At the right: whole shapes, or batches with their bases apart.
    Right,
    /// At the right, bases too.
    RightBases,
    /// As `Right`; the target is a base.
    TargetIsBase,
    /// The target, above it the array with `*` at the named axes.
    Along,
    /// The target, above it each size of the array at its axis.
    Placed,
    /// The array, below it `*` at the named axes.
    Summed,
    /// Nothing is aligned.
    Alone,
}

const RIGHT: Operation = Operation {
    words: "",
    axis: "axis",
    rule: "equal sizes or 1",
    numbered: (usize::MAX, ""),
    layout: Layout::Right,
};
const BATCHES: Operation = Operation { axis: "batch axis", ..RIGHT };
const TO: Operation = Operation { rule: "equal sizes or 1 in the array", ..RIGHT };

pub(crate) static TOGETHER: Operation =
    Operation { words: "broadcast shape{s} {operands}{together}", numbered: (3, "shapes"), ..RIGHT };
pub(crate) static NOTHING: Operation = Operation { words: "broadcast no shapes", ..RIGHT };
pub(crate) static TO_TARGET: Operation = Operation { words: "broadcast shape {operands} to {targets}", ..TO };
pub(crate) static RESOLVE: Operation =
    Operation { words: "resolve -1 at axis {text} of target {targets}", ..TO };
pub(crate) static ALONG_AXES: Operation = Operation {
    words: "broadcast shape {operands} along axes {axes} to {targets}",
    rule: "equal sizes",
    layout: Layout::Along,
    ..TO
};
pub(crate) static IN_DIM: Operation = Operation {
    words: "broadcast shape {operands} with its axes at {axes} of {targets}",
    layout: Layout::Placed,
    ..TO
};
pub(crate) static ONTO: Operation = Operation {
    words: "broadcast shape{s} {operands} to output {targets}",
    rule: "equal sizes or 1 in the operand",
    numbered: (2, "shape"),
    ..RIGHT
};
pub(crate) static SUM_AXES: Operation =
    Operation { words: "sum shape {operands} over axes {axes}", layout: Layout::Summed, ..RIGHT };
pub(crate) static SUM_TO: Operation =
    Operation { words: "sum shape {operands} to {targets}", rule: "equal sizes or 1 in the target", ..RIGHT };
pub(crate) static MAP_SUM_TO: Operation =
    Operation { words: "broadcast shape{s} {operands}{together} and sum to {targets}", ..SUM_TO };
pub(crate) static AXIS_SET: Operation =
    Operation { words: "make an axis set of {axes}", layout: Layout::Alone, ..RIGHT };
pub(crate) static READ: Operation = Operation { words: "read {quoted}", layout: Layout::Alone, ..RIGHT };

pub(crate) static SPLIT_BATCH: Operation = Operation {
    words: "split shape {operands} into batch and base of {text}",
    layout: Layout::Alone,
    ..RIGHT
};
pub(crate) static BATCHES_TOGETHER: Operation =
    Operation { words: "broadcast batch shape{s} {batches}{together}", numbered: (3, "operands"), ..BATCHES };
pub(crate) static BASES_TOGETHER: Operation = Operation {
    words: "broadcast base shape{s} {bases}{together}",
    axis: "base axis",
    layout: Layout::RightBases,
    ..RIGHT
};
pub(crate) static BATCH_TO_TARGET: Operation = Operation {
    words: "broadcast batch shape {batches} to {targets}",
    rule: "equal sizes or 1 in the array",
    ..BATCHES
};
pub(crate) static EACH_BATCH: Operation = Operation {
    words: "make base shape {targets} of each batch element of {operands}",
    layout: Layout::TargetIsBase,
    ..RIGHT
};
pub(crate) static SIGNATURE: Operation = Operation { words: "apply {text} to {operands}", ..RIGHT };
pub(crate) static BATCH_INTO: Operation = Operation {
    words: "write what comes of {operands} into {targets}",
    rule: "equal sizes or 1 in the operands",
    ..BATCHES
};
pub(crate) static BATCH_SUM: Operation = Operation {
    words: "sum batch shape {batches} to {targets}",
    rule: "equal sizes or 1 in the target",
    ..BATCHES
};

pub(crate) static PARTIAL_TOGETHER: Operation = Operation { numbered: (0, "operands"), ..TOGETHER };
pub(crate) static PARTIAL_BATCHES: Operation =
    Operation { words: "broadcast the batches of {operands}", ..PARTIAL_TOGETHER };
pub(crate) static VERIFY: Operation =
    Operation { words: "verify result {targets} of operand{s} {operands}", ..PARTIAL_TOGETHER };
pub(crate) static VERIFY_NOTHING: Operation =
    Operation { words: "verify result {targets} of no operands", ..PARTIAL_TOGETHER };
pub(crate) static MERGE: Operation =
    Operation { words: "merge shapes {operands}", rule: "equal sizes", ..RIGHT };
pub(crate) static PLANNED: Operation =
    Operation { words: "broadcast shapes {operands} as planned for {targets}", ..PARTIAL_TOGETHER };
