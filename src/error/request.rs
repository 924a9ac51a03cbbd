//! What was asked of the crate, as messages tell it.

use super::words::{Count, Split, base, batch, listed, together};
use crate::partial::{PartialShape, ResultRule};
use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

/// What was asked of the crate: the operation and every shape it was given, for error messages.
///
/// # Examples
/// ```
/// use ndarray_broadcast::{broadcast_shapes, BroadcastError, Request};
///
/// let error = broadcast_shapes(&[[2, 3], [2, 4]]).unwrap_err();
/// let BroadcastError::Incompatible { request, .. } = error else { unreachable!() };
/// assert_eq!(*request, Request::Together { shapes: vec![vec![2, 3], vec![2, 4]] });
/// assert_eq!(request.to_string(), "broadcast shapes [2, 3] and [2, 4] together");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Bring shapes to their joint shape.
    Together {
        /// The shapes of the operands.
        shapes: Vec<Vec<usize>>,
    },
    /// Stretch a shape to a target in which -1 keeps the shape's own size.
    ToTarget {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Stretch a shape to another shape.
    ToShape {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Repeat a shape along new axes.
    AlongAxes {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The axes of the target along which it is repeated.
        axes: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Place each axis of a shape at an axis of the target.
    InDim {
        /// The shape of the array.
        shape: Vec<usize>,
        /// For each axis of the array the axis of the target.
        axes: Vec<usize>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Sum over axes.
    SumAxes {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The axes.
        axes: Vec<usize>,
    },
    /// Sum over all that a broadcast repeats.
    SumTo {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The shape to sum to, as given.
        target: Vec<i128>,
    },
    /// Stretch shapes to that of an output that is there already.
    Onto {
        /// The shapes of the operands.
        shapes: Vec<Vec<usize>>,
        /// The shape of the output.
        output: Vec<usize>,
    },
    /// Bring shapes to their joint shape and sum that to a target.
    SumOfMap {
        /// The shapes of the operands.
        shapes: Vec<Vec<usize>>,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Make an axis set of axes that may be counted from the end.
    CountAxes {
        /// The axes, as given.
        axes: Vec<isize>,
    },
    /// Bring shapes that are known in part to their joint shape.
    PartialTogether {
        /// The shapes of the operands.
        shapes: Vec<PartialShape>,
    },
    /// Bring the batches of shapes that are known in part to their joint shape.
    PartialBatch {
        /// The shapes of the operands, each with how many of its last axes are its base.
        shapes: Vec<(PartialShape, usize)>,
    },
    /// Verify a declared result.
    VerifyResult {
        /// The shapes of the operands.
        operands: Vec<PartialShape>,
        /// The shape that is declared.
        result: PartialShape,
        /// How far it may go beyond the inferred one.
        rule: ResultRule,
    },
    /// Stretch a shape that is known in part to a target in which -1 keeps the shape's own size.
    PartialToTarget {
        /// The shape of the array.
        shape: PartialShape,
        /// The target, as given.
        target: Vec<i128>,
    },
    /// Repeat a shape that is known in part along new axes.
    PartialAlongAxes {
        /// The shape of the array.
        shape: PartialShape,
        /// The axes of the target along which it is repeated.
        axes: Vec<usize>,
        /// The target.
        target: PartialShape,
    },
    /// Place each axis of a shape that is known in part at an axis of the target.
    PartialInDim {
        /// The shape of the array.
        shape: PartialShape,
        /// For each axis of the array the axis of the target.
        axes: Vec<usize>,
        /// The target.
        target: PartialShape,
    },
    /// Sum a shape that is known in part over axes.
    PartialSum {
        /// The shape of the array.
        shape: PartialShape,
        /// The axes.
        axes: Vec<usize>,
    },
    /// Put together what is known of one shape.
    Merge {
        /// The two descriptions of it.
        shapes: [PartialShape; 2],
    },
    /// Carry out a planned broadcast.
    Planned {
        /// The shapes of the operands.
        shapes: Vec<Vec<usize>>,
        /// The shapes that they were planned with.
        operands: Vec<PartialShape>,
    },
    /// Split a shape into batch and base.
    SplitBatch {
        /// The shape of the array.
        shape: Vec<usize>,
        /// How many of its last axes are the base.
        base: usize,
    },
    /// Bring the batches of operands to their joint shape.
    BatchTogether {
        /// The shapes of the operands, each with how many of its last axes are its base.
        shapes: Vec<(Vec<usize>, usize)>,
    },
    /// Bring the bases of operands to their joint shape.
    BaseTogether {
        /// The shapes of the operands, each with how many of its last axes are its base.
        shapes: Vec<(Vec<usize>, usize)>,
    },
    /// Stretch a batch to a target in which -1 keeps the batch's own size.
    BatchToTarget {
        /// The shape of the operand, with how many of its last axes are its base.
        shape: (Vec<usize>, usize),
        /// The target of the batch, as given.
        target: Vec<i128>,
    },
    /// Apply an operation to every batch element.
    ForEachBatch {
        /// The shapes of the operands, each with how many of its last axes are its base.
        shapes: Vec<(Vec<usize>, usize)>,
        /// The base shape of the result, as given.
        base: Vec<i128>,
    },
    /// Apply a signature to bases.
    ApplySignature {
        /// The signature.
        signature: String,
        /// The shapes of the operands, each with how many of its last axes are its base.
        shapes: Vec<(Vec<usize>, usize)>,
    },
    /// Write what comes of operands into an array.
    BatchInto {
        /// The shapes of the operands, each with how many of its last axes are its base.
        shapes: Vec<(Vec<usize>, usize)>,
        /// The shape of the array, with how many of its last axes are the base.
        out: (Vec<usize>, usize),
    },
    /// Sum over all that a broadcast of a batch repeats.
    BatchSum {
        /// The shape of the array, with how many of its last axes are its base.
        shape: (Vec<usize>, usize),
        /// The batch shape to sum to, as given.
        target: Vec<i128>,
    },
}

impl Request {
    /// In a box that is made in one place, so that callers need not know how to drop a request.
    #[cold]
    #[inline(never)]
    #[allow(clippy::unnecessary_box_returns, reason = "errors have their request in a box")]
    pub(crate) fn boxed(self) -> Box<Self> {
        Box::new(self)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Together { shapes } => together(f, shapes, &shape),
            Self::ToTarget { shape, target } | Self::ToShape { shape, target } => {
                write!(f, "broadcast shape {shape:?} to {target:?}")
            }
            Self::AlongAxes { shape, axes, target } => {
                write!(f, "broadcast shape {shape:?} along axes {axes:?} to {target:?}")
            }
            Self::InDim { shape, axes, target } => {
                write!(f, "broadcast shape {shape:?} with its axes at {axes:?} of {target:?}")
            }
            Self::SumAxes { shape, axes } => write!(f, "sum shape {shape:?} over axes {axes:?}"),
            Self::SumTo { shape, target } => write!(f, "sum shape {shape:?} to {target:?}"),
            Self::Onto { shapes, output } => {
                broadcast(f, shapes)?;
                write!(f, " to output {output:?}")
            }
            Self::SumOfMap { shapes, target } => {
                broadcast(f, shapes)?;
                write!(f, "{} and sum to {target:?}", if shapes.len() > 1 { " together" } else { "" })
            }
            Self::CountAxes { axes } => write!(f, "make an axis set of {axes:?}"),
            Self::PartialTogether { shapes } => together(f, shapes, &partial),
            Self::PartialBatch { shapes } => {
                f.write_str("broadcast the batches of ")?;
                listed(f, shapes, &|(shape, base), f| write!(f, "{shape} (base {base})"))
            }
            Self::VerifyResult { operands, result, .. } => {
                write!(f, "verify result {result} of ")?;
                match operands.len() {
                    0 => f.write_str("no operands"),
                    1 => write!(f, "operand {}", operands[0]),
                    _ => {
                        f.write_str("operands ")?;
                        listed(f, operands, &partial)
                    }
                }
            }
            Self::PartialToTarget { shape, target } => write!(f, "broadcast shape {shape} to {target:?}"),
            Self::PartialAlongAxes { shape, axes, target } => {
                write!(f, "broadcast shape {shape} along axes {axes:?} to {target}")
            }
            Self::PartialInDim { shape, axes, target } => {
                write!(f, "broadcast shape {shape} with its axes at {axes:?} of {target}")
            }
            Self::PartialSum { shape, axes } => write!(f, "sum shape {shape} over axes {axes:?}"),
            Self::Merge { shapes: [a, b] } => write!(f, "merge shapes {a} and {b}"),
            Self::Planned { shapes, operands } => {
                f.write_str("broadcast shapes ")?;
                listed(f, shapes, &shape)?;
                f.write_str(" as planned for ")?;
                listed(f, operands, &partial)
            }
            Self::SplitBatch { shape, base } => {
                write!(f, "split shape {shape:?} into batch and base of {}", Count(*base))
            }
            Self::BatchTogether { shapes } => parts_together(f, "batch", shapes, batch),
            Self::BaseTogether { shapes } => parts_together(f, "base", shapes, base),
            Self::BatchToTarget { shape, target } => {
                write!(f, "broadcast batch shape {:?} of {} to {target:?}", batch(shape), Split(shape))
            }
            Self::ForEachBatch { shapes, base } => {
                write!(f, "make base shape {base:?} of each batch element of ")?;
                listed(f, shapes, &split)
            }
            Self::ApplySignature { signature, shapes } => {
                write!(f, "apply {signature} to ")?;
                listed(f, shapes, &split)
            }
            Self::BatchInto { shapes, out } => {
                f.write_str("write what comes of ")?;
                listed(f, shapes, &split)?;
                write!(f, " into {}", Split(out))
            }
            Self::BatchSum { shape, target } => {
                write!(f, "sum batch shape {:?} of {} to {target:?}", batch(shape), Split(shape))
            }
        }
    }
}

/// `broadcast shapes a, b and c`.
fn broadcast(f: &mut fmt::Formatter<'_>, shapes: &[Vec<usize>]) -> fmt::Result {
    f.write_str(if shapes.len() == 1 { "broadcast shape " } else { "broadcast shapes " })?;
    listed(f, shapes, &shape)
}

/// `broadcast batch shapes [2] of (2; 6, 6) and [3] of (3; 6) together`.
fn parts_together(
    f: &mut fmt::Formatter<'_>,
    word: &str,
    shapes: &[(Vec<usize>, usize)],
    part: fn(&(Vec<usize>, usize)) -> &[usize],
) -> fmt::Result {
    let one = shapes.len() == 1;
    write!(f, "broadcast {word} shape{} ", if one { "" } else { "s" })?;
    listed(f, shapes, &|shape, f| write!(f, "{:?} of {}", part(shape), Split(shape)))?;
    f.write_str(if one { "" } else { " together" })
}

// Each with options of its own, whatever those of the message are.

fn shape(shape: &Vec<usize>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{shape:?}")
}

fn partial(shape: &PartialShape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{shape}")
}

fn split(shape: &(Vec<usize>, usize), f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", Split(shape))
}
