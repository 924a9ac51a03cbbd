//! The operands of a nest without their types: sizes, strides and pointers of the output and of the inputs.

#![forbid(unsafe_code)]

use super::loops::{ElementInfo, OPERANDS};
use crate::kernel::ensure;
use crate::kernel::memory::{AxisOrder, Count, List, StridedSlots, signed, strides};
use core::array::from_fn;
use core::iter::zip;
use core::mem::replace;

/// The sizes and strides of an array's axes. Strides count elements.
#[derive(Clone, Copy)]
pub(crate) struct StridedAxes<'a> {
    pub(super) sizes: &'a [usize],
    pub(super) strides: &'a [isize],
}

impl StridedAxes<'_> {
    /// The leading axes, and the last `count`.
    pub(super) fn split(self, count: usize) -> (Self, Self) {
        let at = self.sizes.len() - count;
        let ((sizes, own_sizes), (strides, own_strides)) =
            (self.sizes.split_at(at), self.strides.split_at(at));
        (Self { sizes, strides }, Self { sizes: own_sizes, strides: own_strides })
    }
}

/// The number of elements, if it is not zero and they are in standard layout.
#[inline]
pub(crate) fn standard_len(axes: StridedAxes<'_>) -> Option<usize> {
    let mut len = (axes.sizes.len() == axes.strides.len()).then_some(1_usize)?;
    for (&size, &stride) in zip(axes.sizes, axes.strides).rev() {
        if size == 0 || size > 1 && stride != len.cast_signed() {
            return None;
        }
        len = len.saturating_mul(size);
    }
    Some(len)
}

/// The axes of contiguous elements in any order of axes.
pub(crate) struct DenseAxes<'a> {
    sizes: &'a [usize],
    strides: List<usize, 8>,
    /// The number of elements.
    pub(super) len: usize,
}

impl<'a> DenseAxes<'a> {
    /// The axes of a new array of this shape whose axes have this order in memory.
    pub(crate) fn new(sizes: &'a [usize], order: Option<AxisOrder<'_>>) -> Self {
        let mut steps = List::from_elem(0, sizes.len());
        let len = strides(sizes, order, &mut steps);
        Self { sizes, strides: steps, len }
    }

    pub(super) fn strided(&self) -> StridedAxes<'_> {
        StridedAxes { sizes: self.sizes, strides: signed(&self.strides) }
    }
}

/// A set of axes.
pub(crate) trait AxisSelection {
    /// Whether the axis is in the set.
    fn contains(&self, axis: usize) -> bool;
}

/// The axes of a shape that an output lacks; without a set, the leading ones.
pub(crate) type Dropped<'a> = Option<&'a dyn AxisSelection>;

/// Arrays that are read together, without their types.
///
/// Not exported; public because `Inputs` lead to them.
#[derive(Clone, Copy)]
pub struct RawInputs<'a> {
    pub(super) at: [*const u8; OPERANDS - 1],
    pub(super) sizes: [&'a [usize]; OPERANDS - 1],
    pub(super) strides: [&'a [isize]; OPERANDS - 1],
    pub(super) info: &'static ElementInfo,
}

impl<'a> RawInputs<'a> {
    /// The shapes of the arrays.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> &[&'a [usize]] {
        &self.sizes[..self.info.count]
    }

    /// The number of elements of array `k`, if it is not zero and they are in standard layout.
    #[inline]
    pub(super) fn standard_len(&self, k: usize) -> Option<usize> {
        standard_len(StridedAxes { sizes: self.sizes[k], strides: self.strides[k] })
    }

    /// Whether every array has elements, in standard layout.
    #[inline]
    pub(crate) fn are_in_standard_layout(&self) -> bool {
        (0..self.info.count).all(|k| self.standard_len(k).is_some())
    }

    /// Whether every array has this shape, which has elements, and is in standard layout.
    #[inline]
    pub(super) fn are_standard(&self, shape: &[usize]) -> bool {
        self.shapes().iter().all(|own| own.iter().eq(shape)) && self.are_in_standard_layout()
    }

    /// This order of a result's axes, unless it is that of the axes: then no array has a smaller stride along an axis than along one
    /// after it.
    #[inline]
    pub(crate) fn unless_in_order<'o>(&self, ndim: usize, order: AxisOrder<'o>) -> Option<AxisOrder<'o>> {
        let is_in_order = |k: usize| {
            let mut inside = 0;
            zip(self.sizes[k], self.strides[k]).rev().all(|(&size, stride)| {
                let stride = stride.unsigned_abs();
                size == 1 || stride == 0 || replace(&mut inside, stride) <= stride
            })
        };
        (ndim > 1 && !(0..self.info.count).all(is_in_order)).then_some(order)
    }

    /// The pointers of an output and of the inputs.
    #[inline(always)]
    pub(super) fn pointers(&self, out: *mut u8) -> [*mut u8; OPERANDS] {
        let mut at = [out; OPERANDS];
        for (at, input) in zip(&mut at[1..], &self.at) {
            *at = input.cast_mut();
        }
        at
    }

    /// Writes the bytes that each input moves at a step along an axis of the shape, if it moves. Not inlined: LLVM would unroll
    /// the loop, and keep values of all possible inputs while it visits the axes.
    ///
    /// # Panics
    /// If an input does not fit the shape.
    #[inline(never)]
    pub(super) fn add_strides(&self, shape: &[usize], axis: usize, to: &mut [isize; OPERANDS]) {
        let len = shape[axis];
        for k in 0..self.info.count {
            let own = self.sizes[k];
            let Some(i) = (axis + own.len()).checked_sub(shape.len()) else { continue };
            ensure(own[i] == len || own[i] == 1, "an axis of an input does not fit the shape");
            if own[i] == len && len > 1 {
                to[k + 1] = self.strides[k][i].wrapping_mul(self.info.sizes[k + 1].cast_signed());
            }
        }
    }

    /// The stride of input `k`, aligned at the right, along an axis of `shape`, without its sign.
    #[inline(never)]
    fn distance(&self, k: usize, shape: &[usize], axis: usize) -> usize {
        let own = self.sizes[k];
        match (axis + own.len()).checked_sub(shape.len()) {
            Some(i) if own[i] == shape[axis] => self.strides[k][i].unsigned_abs(),
            _ => 0,
        }
    }

    /// The order of the axes of these arrays in memory.
    pub(crate) fn order(&self) -> impl Fn(&[usize], usize, usize) -> Option<bool> {
        |shape, former, latter| self.is_inside(shape, former, latter)
    }

    /// Whether `former` has the smaller stride in all arrays that move along both axes.
    pub(crate) fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool> {
        let mut inside = None;
        for k in 0..self.info.count {
            let (former, latter) = (self.distance(k, shape, former), self.distance(k, shape, latter));
            if former != 0 && latter != 0 {
                inside = Some(inside != Some(false) && former < latter);
            }
        }
        inside
    }

    /// A part of the arrays with their axes, aligned at the right to those of `shape`, permuted: axis `order[i]` becomes axis `i`. `part`
    /// has the first index and the size along each axis of the shape. Writes the sizes and strides to `axes`, one array after another.
    ///
    /// # Panics
    /// If an axis is named twice or left out, which might have no elements, or if the part is not within the shape.
    pub(crate) fn permuted<'x>(
        &'x self,
        shape: &[usize],
        order: &[usize],
        part: &[(usize, usize)],
        axes: &'x mut (List<usize, 8>, List<isize, 8>),
    ) -> RawInputs<'x> {
        let (mut is_named, mut at) = (List::<_, 8>::from_elem(false, shape.len()), self.at);
        for &axis in order {
            ensure(!replace(&mut is_named[axis], true), "an axis is named twice");
            let (start, len) = part[axis];
            ensure(start <= shape[axis] && len <= shape[axis] - start, "a part past the end of an axis");
        }
        *axes = (List::new(), List::new());
        for k in 0..self.info.count {
            ensure(order.len() == shape.len() && self.sizes[k].len() <= shape.len(), "an axis is left out");
            for &axis in order {
                let own = (axis + self.sizes[k].len()).checked_sub(shape.len());
                let (size, stride) = own.map_or((1, 0), |i| (self.sizes[k][i], self.strides[k][i]));
                let (start, len) = if size == shape[axis] { part[axis] } else { (0, size) };
                let bytes = (start * self.info.sizes[k + 1]).cast_signed();
                at[k] = at[k].wrapping_offset(stride.wrapping_mul(bytes));
                axes.0.push(len);
                axes.1.push(stride);
            }
        }
        let of = |k: usize| k * order.len()..(k + 1) * order.len();
        let sizes = from_fn(|k| axes.0.get(of(k)).unwrap_or_default());
        RawInputs { at, sizes, strides: from_fn(|k| axes.1.get(of(k)).unwrap_or_default()), ..*self }
    }
}

/// The pointer, the bytes of an element and the axes of an output. If it has slots, they are counted.
#[derive(Clone, Copy)]
pub(super) struct RawOutput<'a> {
    pub(super) at: *mut u8,
    pub(super) size: usize,
    pub(super) axes: StridedAxes<'a>,
    pub(super) count: Count<'a>,
}

impl<'a> RawOutput<'a> {
    /// The slots of a new array.
    #[inline(always)]
    pub(super) fn slots<A>(slots: StridedSlots<'a, A>) -> Self {
        let (at, sizes, strides, count) = slots.into_parts();
        Self { at: at.cast(), size: size_of::<A>(), axes: StridedAxes { sizes, strides }, count }
    }

    /// Calls `add` with each axis of `shape`, the last one first, and with the bytes that the output moves at a step along it, or
    /// `None` if it is reduced. For the arguments, see `ErasedNest::build`. Returns `false` as soon as `add` does.
    ///
    /// # Panics
    /// If the output does not fit the shape, or if an input has more axes.
    #[inline(always)]
    pub(super) fn for_each_axis(
        &self,
        shape: &[usize],
        dropped: Dropped<'_>,
        inputs: &RawInputs<'_>,
        mut add: impl FnMut(usize, Option<isize>) -> bool,
    ) -> bool {
        let StridedAxes { sizes, strides } = self.axes;
        for own in inputs.shapes() {
            ensure(own.len() <= shape.len(), "an input has more axes than the shape");
        }
        ensure(sizes.len() <= shape.len(), "the output has more axes than the shape");
        let (leading, mut left) = (shape.len() - sizes.len(), sizes.len());
        for (axis, &len) in shape.iter().enumerate().rev() {
            let mut stride = None;
            if !dropped.map_or(axis < leading, |axes| axes.contains(axis)) {
                ensure(left > 0, "the shape has an axis that the output has not");
                left -= 1;
                ensure(
                    sizes[left] == len || sizes[left] == 1,
                    "an axis of the output does not fit the shape",
                );
                stride = (sizes[left] == len).then(|| strides[left].wrapping_mul(self.size.cast_signed()));
            }
            if !add(axis, stride) {
                return false;
            }
        }
        ensure(left == 0, "the output has an axis that the shape has not");
        true
    }
}
