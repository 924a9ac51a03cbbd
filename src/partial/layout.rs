//! The axes at which the sizes of several shapes meet.

use super::PartialShape;
use super::check::{PackedPlace, compact};
use super::dim::Dim;
use super::shape_op::Part;
use super::vars::Var;
use alloc::{vec, vec::Vec};
use core::ops::Range;

/// The sizes of shapes, sorted by the axis at which they meet.
pub(super) struct Layout<'s> {
    pub(super) shapes: Vec<&'s [Dim]>,
    pub(super) entries: Vec<Entry>,
    /// The start of each axis in `entries`, and the end of the last.
    starts: Vec<u32>,
    /// The shape that is the result.
    pub(super) result: Option<usize>,
    /// Whether the second shape is the target.
    pub(super) has_target: bool,
    /// Whether all shapes describe the only one.
    pub(super) alone: bool,
}

/// One size of a shape, at the axis where it meets others.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The shape, and in the last bit whether the size is fixed.
    shape: u32,
    axis: u32,
    /// The variable of a named size.
    pub(super) var: Var,
}

const NO_NAME: Var = u32::MAX;
const NO_ENTRY: Entry = Entry { shape: 0, axis: 0, var: NO_NAME };

impl Entry {
    pub(super) fn shape(self) -> usize {
        self.shape as usize >> 1
    }

    pub(super) fn axis(self) -> usize {
        self.axis as usize
    }

    pub(super) fn is_fixed(self) -> bool {
        self.shape & 1 == 1
    }

    pub(super) fn var(self) -> Option<Var> {
        (self.var != NO_NAME).then_some(self.var)
    }
}

/// Where a size meets others: the axis, and whether it is fixed there. `None` if it meets none.
pub(super) type At = Option<(usize, bool)>;

impl<'s> Layout<'s> {
    /// Shapes whose sizes meet at `count` axes, as `at` says for each shape and axis.
    pub(super) fn new(shapes: Vec<&'s [Dim]>, count: usize, at: &dyn Fn(usize, usize) -> At) -> Self {
        // sizes that meet no others follow, each at an axis of its own
        let (mut starts, mut total) = (Vec::with_capacity(count + 1), 0);
        starts.resize(count, 0_u32);
        for (shape, dims) in shapes.iter().enumerate() {
            total += dims.len();
            for axis in 0..dims.len() {
                match at(shape, axis) {
                    Some((axis, _)) => starts[axis] += 1,
                    None => starts.push(1),
                }
            }
        }
        let mut end = 0;
        for count in &mut starts {
            end += *count;
            *count = end;
        }
        let (mut entries, mut own_axis) = (vec![NO_ENTRY; total], starts.len());
        // from the last to the first, so that each end becomes a start
        for (shape, dims) in shapes.iter().enumerate().rev() {
            for axis in (0..dims.len()).rev() {
                let (place, fixed) = at(shape, axis).unwrap_or_else(|| {
                    own_axis -= 1;
                    (own_axis, true)
                });
                starts[place] -= 1;
                let shape = compact(shape) << 1 | u32::from(fixed);
                entries[starts[place] as usize] = Entry { shape, axis: compact(axis), var: NO_NAME };
            }
        }
        starts.push(end);
        Self { shapes, entries, starts, result: None, has_target: false, alone: false }
    }

    /// Shapes that are aligned at the right, and their number of axes together.
    pub(super) fn aligned(shapes: Vec<&'s [Dim]>) -> (Self, usize) {
        let mut ndim = 0;
        for dims in &shapes {
            ndim = ndim.max(dims.len());
        }
        let new = list(shapes.len(), &mut |shape| ndim - shapes[shape].len());
        (Self::new(shapes, ndim, &|shape, axis| Some((new[shape] + axis, false))), ndim)
    }

    pub(super) fn axes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The sizes that meet at an axis.
    pub(super) fn at(&self, axis: usize) -> &[Entry] {
        &self.entries[self.range(axis)]
    }

    /// Their positions.
    pub(super) fn range(&self, axis: usize) -> Range<usize> {
        self.starts[axis] as usize..self.starts[axis + 1] as usize
    }

    pub(super) fn dim(&self, entry: Entry) -> &'s Dim {
        &self.shapes[entry.shape()][entry.axis()]
    }

    pub(super) fn spot(&self, entry: Entry) -> PackedPlace {
        match entry.shape() {
            _ if self.alone => PackedPlace::at(PackedPlace::SHAPE, entry.axis()),
            1 if self.has_target => PackedPlace::at(PackedPlace::TARGET, entry.axis()),
            shape if self.result == Some(shape) => PackedPlace::at(PackedPlace::RESULT, entry.axis()),
            shape => PackedPlace::new(shape, entry.axis()),
        }
    }
}

/// A whole shape's sizes, or none for `*`.
pub(super) fn dims(shape: &PartialShape) -> &[Dim] {
    shape.dims().unwrap_or_default()
}

/// The sizes of operands.
pub(super) fn shapes<'p>(parts: &[Part<'p>]) -> Vec<&'p [Dim]> {
    list(parts.len(), &mut |operand| dims(parts[operand].shape))
}

/// The positions of the operands `*`.
pub(super) fn unranked(parts: &[Part<'_>]) -> Vec<usize> {
    let mut unranked = Vec::new();
    for (operand, part) in parts.iter().enumerate() {
        if part.shape.ndim().is_none() {
            unranked.push(operand);
        }
    }
    unranked
}

/// The values for the numbers below `count`. Compiled once for each type, where a chain of iterators is for each call.
#[inline(never)]
pub(super) fn list<T>(count: usize, value: &mut dyn FnMut(usize) -> T) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    for i in 0..count {
        values.push(value(i));
    }
    values
}
