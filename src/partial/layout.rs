//! The axes at which the sizes of several shapes meet.

use super::PartialShape;
use super::dim::Dim;
use super::place::{PackedPlace, compact};
use super::vars::Var;
use crate::error::Shape;
use alloc::{string::ToString, vec, vec::Vec};

/// An operand, with the number of its base axes if it has a batch.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) shape: &'p PartialShape,
    pub(super) base: Option<usize>,
}

impl<'p> Part<'p> {
    pub(super) fn whole(shape: &'p PartialShape) -> Self {
        Self { shape, base: None }
    }

    /// The sizes of batch and base; none for `*`.
    pub(super) fn split(self) -> (&'p [Dim], &'p [Dim]) {
        let dims = dims(self.shape);
        dims.split_at(dims.len().saturating_sub(self.base.unwrap_or(0)))
    }
}

impl From<&Part<'_>> for Shape {
    fn from(part: &Part<'_>) -> Self {
        let cells = |dims: &[Dim]| list(dims.len(), &mut |axis| dims[axis].to_string().into());
        Shape::partial(part.shape.dims().map(cells), part.base)
    }
}

/// The sizes of shapes, by the axis at which they meet.
pub(super) struct Layout<'s> {
    pub(super) shapes: Vec<&'s [Dim]>,
    /// The sizes that meet at each axis.
    pub(super) axes: Vec<Vec<Entry>>,
    /// The size of each axis, as far as it is known without names.
    pub(super) sizes: Vec<Dim>,
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
    shape: u32,
    axis: u32,
    /// The variable of a named size.
    pub(super) var: Option<Var>,
    pub(super) is_fixed: bool,
}

impl Entry {
    pub(super) fn shape(self) -> usize {
        self.shape as usize
    }

    pub(super) fn axis(self) -> usize {
        self.axis as usize
    }
}

/// Where a size meets others: the axis, and whether it is fixed there. `None` if it meets none.
pub(super) type At = Option<(usize, bool)>;

impl<'s> Layout<'s> {
    /// Shapes whose sizes meet at `count` axes, as `at` says for each shape and axis. A size that meets no others follows at an
    /// axis of its own.
    pub(super) fn new(shapes: Vec<&'s [Dim]>, count: usize, at: &dyn Fn(usize, usize) -> At) -> Self {
        let mut axes = vec![Vec::new(); count];
        for (shape, dims) in shapes.iter().enumerate() {
            for axis in 0..dims.len() {
                let (place, is_fixed) = at(shape, axis).unwrap_or((axes.len(), true));
                if place == axes.len() {
                    axes.push(Vec::new());
                }
                axes[place].push(Entry { shape: compact(shape), axis: compact(axis), var: None, is_fixed });
            }
        }
        let sizes = vec![Dim::Unknown; axes.len()];
        Self { shapes, axes, sizes, result: None, has_target: false, alone: false }
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
