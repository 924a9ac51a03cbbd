//! The operations that can fail: their words, their rule for sizes, and the alignment of their shapes.

/// An operation, as errors describe it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    /// The words after "cannot". [`Report`](super::Report) replaces the names in braces, and leaves out `{s}` and
    /// `{ together}` for one operand. Several operands stand in `{joined}`, one in `{its shape}`.
    pub(super) words: &'static str,
    /// The word for an axis of the result.
    pub(super) axis: &'static str,
    /// The rule for two sizes of one axis, in words.
    pub(super) rule: &'static str,
    /// The number of operands from which on a message numbers the two that clash, and the word for them.
    pub(super) numbered: (usize, &'static str),
    pub(super) layout: Layout,
}

/// How a picture aligns shapes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// At the right: whole shapes, or batches. Bases start in one column.
    Right,
    /// At the right: both batches and bases.
    RightBases,
    /// As `Right`, with a target that is a base.
    TargetIsBase,
    /// The target, and above it the array with `*` at the named axes.
    Along,
    /// The target, and above it each size of the array at its axis.
    Placed,
    /// The array, and below it `*` at the named axes.
    Summed,
    /// The array, and below it each size of the target at its axis.
    SummedToPlaced,
    /// Nothing is aligned.
    Alone,
}

/// Each operation with its words. Other fields are those of a base operation, unless they are listed.
macro_rules! operations {
    ($($NAME:ident $words:literal, $($field:ident: $value:expr,)* ..$base:ident;)*) => {
        $(pub(crate) const $NAME: Operation = Operation { words: $words, $($field: $value,)* ..$base };)*
    };
}

const RIGHT: Operation = Operation {
    words: "",
    axis: "axis",
    rule: "equal sizes or 1",
    numbered: (usize::MAX, ""),
    layout: Layout::Right,
};

operations! {
    NOTHING "broadcast no shapes", ..RIGHT;
    TOGETHER "broadcast shape{s} {operands}{ together}", numbered: (3, "shapes"), ..RIGHT;
    TO_TARGET "broadcast shape {operands} to {targets}", rule: "equal sizes or 1 in the array", ..RIGHT;
    MATERIALIZE "materialize shape {operands}", ..RIGHT;
    RESOLVE "resolve -1 at axis {text} of target {targets}", ..RIGHT;
    ALONG_AXES "broadcast shape {operands} along axes {axes} to {targets}",
        rule: "equal sizes", layout: Layout::Along, ..RIGHT;
    IN_DIM "broadcast shape {operands} with its axes at {axes} of {targets}", layout: Layout::Placed, ..TO_TARGET;
    ONTO "broadcast shape{s} {operands} to output {targets}",
        rule: "equal sizes or 1 in the operand", numbered: (2, "shape"), ..RIGHT;
    SUM_AXES "{joined}sum{its shape} over axes {axes}", layout: Layout::Summed, ..RIGHT;
    MEAN_AXES "{joined}take the mean{of its shape} over axes {axes}", ..SUM_AXES;
    MAX_AXES "{joined}take the maximum{of its shape} over axes {axes}", ..SUM_AXES;
    MIN_AXES "{joined}take the minimum{of its shape} over axes {axes}", ..SUM_AXES;
    REDUCE_AXES "{joined}reduce{its shape} over axes {axes}", ..SUM_AXES;
    SUM_TO "{joined}sum{its shape} to {targets}", rule: "equal sizes or 1 in the target", ..RIGHT;
    MEAN_TO "{joined}take the mean{of its shape} to {targets}", ..SUM_TO;
    MAX_TO "{joined}take the maximum{of its shape} to {targets}", ..SUM_TO;
    MIN_TO "{joined}take the minimum{of its shape} to {targets}", ..SUM_TO;
    REDUCE_TO "{joined}reduce{its shape} to {targets}", ..SUM_TO;
    SUM_IN_DIM "{joined}sum{its shape} with{ its} axes {axes} to {targets}", layout: Layout::SummedToPlaced, ..SUM_TO;
    AXIS_SET "make an axis set of {targets}", layout: Layout::Alone, ..RIGHT;
    READ "read {quoted}", layout: Layout::Alone, ..RIGHT;

    SPLIT_BATCH "split shape {operands} into batch and base of {text}", layout: Layout::Alone, ..RIGHT;
    BATCHES_TOGETHER "broadcast batch shape{s} {batches}{ together}",
        axis: "batch axis", numbered: (3, "operands"), ..RIGHT;
    BASES_TOGETHER "broadcast base shape{s} {bases}{ together}",
        axis: "base axis", layout: Layout::RightBases, ..RIGHT;
    BATCH_TO_TARGET "broadcast batch shape {batches} to {targets}", axis: "batch axis", ..TO_TARGET;
    EACH_BATCH "make base shape {targets} of each batch element of {operands}",
        layout: Layout::TargetIsBase, ..RIGHT;
    SIGNATURE "apply {text} to {operands}", ..RIGHT;
    BATCH_INTO "write what comes of {operands} into {targets}",
        axis: "batch axis", rule: "equal sizes or 1 in the operands", ..RIGHT;
    BATCH_SUM "sum batch shape {batches} to {targets}", axis: "batch axis", ..SUM_TO;

    OPERATE "operate on {operands}", ..RIGHT;
    PARTIAL_TOGETHER "broadcast shape{s} {operands}{ together}", numbered: (0, "operands"), ..RIGHT;
    PARTIAL_BATCHES "broadcast the batches of {operands}", ..PARTIAL_TOGETHER;
    PARTIAL_BASES "broadcast the bases of {operands}", axis: "base axis", layout: Layout::RightBases, ..PARTIAL_TOGETHER;
    PARTIAL_BATCH_SUM "sum the batch of {operands} to {targets}", ..BATCH_SUM;
    VERIFY "verify result {targets} of operand{s} {operands}", ..PARTIAL_TOGETHER;
    VERIFY_NOTHING "verify result {targets} of no operands", ..RIGHT;
    MERGE "merge shapes {operands}", rule: "equal sizes", ..RIGHT;
    ACCEPT "accept shape {operands} as {targets}", ..RIGHT;
    PLANNED "broadcast shapes {operands} as planned for {targets}", ..PARTIAL_TOGETHER;
}
