//! The axes of arrays, and the loops over them: what the constructors of a [`Nest`](super::nest::Nest) plan.
//!
//! - aligned: the loops run along the axes of a shape, to which all operands are aligned at the right. An operand repeats
//!   along an axis that it does not have or has with size 1.
//! - summed: the loops run along the axes of one array. The output has the same axes, or stays along some.
//! - matrices: the rows, terms and columns of a product.
//!
//! A nest of up to two axes and few indices is not planned: its loops are the axes, in an order that suits the output.

#![forbid(unsafe_code)]

use super::loop_plan::{LoopPlan, Outside};
use super::loops::{Loop, join, stride_along};
use crate::kernel::ensure;
use ndarray::{ArrayRef, Dimension};

/// Passes over fewer elements make no copies if there is another way.
pub(super) const SMALL: usize = 512;
/// The most indices of a nest without a plan.
pub(crate) const UNPLANNED: usize = 2048;

/// The sizes and strides of an array.
#[derive(Clone, Copy)]
pub(crate) struct StridedAxes<'a> {
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [isize],
}

impl<'a> StridedAxes<'a> {
    #[inline(always)]
    pub(super) fn of<T, D: Dimension>(array: &'a ArrayRef<T, D>) -> Self {
        Self { sizes: array.shape(), strides: array.strides() }
    }

    /// The stride along the axis that is `from_end` axes before the last, stretched to `size`. It is 0 if the operand is
    /// repeated or `size` is less than 2.
    ///
    /// # Panics
    /// If the axis has another size than `size` and 1.
    #[inline]
    pub(crate) fn stride(self, from_end: usize, size: usize) -> isize {
        let Some(axis) = self.sizes.len().checked_sub(from_end + 1) else { return 0 };
        if self.sizes[axis] == size {
            return stride_along(size, self.strides[axis]);
        }
        ensure(self.sizes[axis] == 1, "an operand has the size of the shape or 1");
        0
    }
}

/// The sizes and the strides of all inputs.
pub(super) type AllAxes<'i, 'a> = (&'i [&'a [usize]], &'i [&'a [isize]]);

/// Whether axis `former` of the shape goes inside axis `latter`: all inputs that move along both axes have the smaller stride
/// along it. `None` if there is no such input.
pub(super) fn is_inside_for_all(
    (sizes, strides): AllAxes<'_, '_>,
    shape: &[usize],
    former: usize,
    latter: usize,
) -> Option<bool> {
    let mut inside = None;
    for (&sizes, &strides) in sizes.iter().zip(strides) {
        let axes = StridedAxes { sizes, strides };
        let stride = |axis| axes.stride(shape.len() - 1 - axis, shape[axis]).unsigned_abs();
        let (former, latter) = (stride(former), stride(latter));
        if former != 0 && latter != 0 {
            inside = Some(inside != Some(false) && former < latter);
        }
    }
    inside
}

/// The axes of operand `k`.
#[inline(always)]
fn operand<'a>(out: &StridedAxes<'a>, inputs: AllAxes<'_, 'a>, k: usize) -> StridedAxes<'a> {
    if k == 0 { *out } else { StridedAxes { sizes: inputs.0[k - 1], strides: inputs.1[k - 1] } }
}

#[inline(always)]
fn assert_aligned(shape: &[usize], out: &StridedAxes<'_>, inputs: AllAxes<'_, '_>) {
    let mut most = out.sizes.len();
    for own in inputs.0 {
        most = most.max(own.len());
    }
    ensure(most <= shape.len(), "no operand has more axes than the shape");
}

/// Plans the loops over `shape`. All operands, the output first, are aligned at its right.
///
/// # Panics
/// If an operand does not stretch to the shape.
pub(super) fn plan_aligned(
    plan: &mut LoopPlan,
    shape: &[usize],
    out: &StridedAxes<'_>,
    inputs: AllAxes<'_, '_>,
    outside: Outside,
) {
    assert_aligned(shape, out, inputs);
    plan.clear();
    for (axis, &len) in shape.iter().enumerate() {
        let mut l = Loop { len, ..Loop::ONE };
        for k in 0..=inputs.0.len() {
            l.strides[k] = operand(out, inputs, k).stride(shape.len() - 1 - axis, len);
        }
        plan.add(l);
    }
    plan.make(outside);
}

/// The loops of [`plan_aligned`] without a plan. `None` unless the shape has at most two axes, and from 1 to `most` indices.
/// For up to [`UNPLANNED`] indices, a plan takes longer than it saves.
///
/// # Panics
/// If an operand does not stretch to the shape.
#[inline(always)]
pub(super) fn small_aligned<'a>(
    room: &'a mut [Loop; 2],
    most: usize,
    shape: &[usize],
    out: &StridedAxes<'_>,
    inputs: AllAxes<'_, '_>,
) -> Option<&'a [Loop]> {
    if !is_small(shape, most) {
        return None;
    }
    assert_aligned(shape, out, inputs);
    for k in 0..=inputs.0.len() {
        let own = operand(out, inputs, k);
        for from_end in 0..shape.len() {
            let (l, size) = (&mut room[1 - from_end], shape[shape.len() - 1 - from_end]);
            (l.len, l.strides[k]) = (size, own.stride(from_end, size));
        }
    }
    let [rows, columns] = &room;
    let step = |l: &Loop| l.strides[0].unsigned_abs();
    if columns.len == 1 || !rows.is_reduced() && step(rows) < step(columns) {
        room.swap(0, 1);
    }
    Some(join(room, shape.len()))
}

/// Whether a shape has at most two axes, and from 1 to `most` indices.
#[inline(always)]
fn is_small(shape: &[usize], most: usize) -> bool {
    let len = match *shape {
        [] => 1,
        [n] => n,
        [m, n] => m * n,
        _ => return false,
    };
    len > 0 && len <= most
}

/// A selection of axes.
pub(crate) trait AxisSelection {
    fn contains(&self, axis: usize) -> bool;
}

/// The axes of an array that its sum does not have: the first ones, or the selected ones.
pub(crate) type Dropped<'a> = Option<&'a dyn AxisSelection>;

/// Whether an axis is dropped. `count` axes are dropped in all.
#[inline]
pub(super) fn is_dropped(dropped: Dropped<'_>, axis: usize, count: usize) -> bool {
    dropped.map_or(axis < count, |selected| selected.contains(axis))
}

/// Calls `then` with a loop for each axis of an array that is summed.
///
/// The `dropped` axes of the array are not in `out`. The other axes are those of `out`, in order. There, `out` has the array's
/// size, or size 1 to sum over the axis.
///
/// # Panics
/// If `out` has other axes.
fn each_summed(
    out: &StridedAxes<'_>,
    array: &StridedAxes<'_>,
    dropped: Dropped<'_>,
    then: &mut dyn FnMut(Loop),
) {
    let (mut out_axis, count) = (0, array.sizes.len().saturating_sub(out.sizes.len()));
    for (axis, (&len, &stride)) in array.sizes.iter().zip(array.strides).enumerate() {
        let mut l = Loop { len, ..Loop::ONE };
        l.strides[1] = stride;
        if !is_dropped(dropped, axis, count) {
            if out.sizes[out_axis] == len {
                l.strides[0] = out.strides[out_axis];
            } else {
                ensure(out.sizes[out_axis] == 1, "an output axis has the input's size or 1");
            }
            out_axis += 1;
        }
        then(l);
    }
    ensure(out_axis == out.sizes.len(), "every output axis is one of the input's");
}

/// Plans the loops over the axes of an array that is summed: see [`each_summed`].
pub(super) fn plan_summed(
    plan: &mut LoopPlan,
    out: &StridedAxes<'_>,
    array: &StridedAxes<'_>,
    dropped: Dropped<'_>,
) {
    plan.clear();
    each_summed(out, array, dropped, &mut |l| plan.add(l));
    plan.make(Outside::Read);
}

/// The loops of [`plan_summed`] without a plan, not reversed. `None` unless the array has at most two axes, and from 1 to
/// [`UNPLANNED`] elements.
///
/// If one loop is reduced, it is inside where its elements are adjacent or the outputs are not, and otherwise outside.
pub(super) fn small_summed<'a>(
    room: &'a mut [Loop; 2],
    out: &StridedAxes<'_>,
    array: &StridedAxes<'_>,
    dropped: Dropped<'_>,
) -> Option<&'a [Loop]> {
    if !is_small(array.sizes, UNPLANNED) {
        return None;
    }
    let mut count = 0;
    each_summed(out, array, dropped, &mut |l| {
        room[count] = l;
        count += 1;
    });
    let loops = &mut room[..count];
    let is_lane = |l: &Loop| l.len > 1 && l.strides[1] == 1;
    let is_swapped = match loops {
        [outer, inner] if outer.continues(inner) => {
            inner.len *= outer.len;
            return Some(&loops[1..]);
        }
        [kept, reduced] if reduced.is_reduced() => kept.strides[0] == 1 && !is_lane(reduced),
        [reduced, kept] if reduced.is_reduced() => kept.strides[0] != 1 || is_lane(reduced),
        _ => false,
    };
    if is_swapped {
        loops.swap(0, 1);
    }
    Some(loops)
}

/// The loops over one product: rows, terms and columns. `axes` are the numbers of matrix axes of the output and the operands.
/// A vector has no loop over rows if it is the first operand, and none over columns if it is the second.
///
/// # Panics
/// If the matrices do not go together.
pub(super) fn matrix_loops(operands: [StridedAxes<'_>; 3], axes: [usize; 3]) -> [Loop; 3] {
    let (has_rows, has_columns) = (axes[1] == 2, axes[2] == 2);
    ensure(
        axes[0] == usize::from(has_rows) + usize::from(has_columns),
        "an axis for the rows and for the columns",
    );
    // axes of two operands, each counted from the last one
    let along = |[(k, i), (l, j)]: [(usize, usize); 2]| {
        let (x, y) = (operands[k], operands[l]);
        let (i, j) = (x.sizes.len() - 1 - i, y.sizes.len() - 1 - j);
        let len = x.sizes[i];
        ensure(y.sizes[j] == len, "matrices whose sizes go together");
        let mut both = Loop { len, ..Loop::ONE };
        both.strides[k] = stride_along(len, x.strides[i]);
        both.strides[l] = stride_along(len, y.strides[j]);
        both
    };
    [
        if has_rows { along([(0, has_columns.into()), (1, 1)]) } else { Loop::ONE },
        along([(1, 0), (2, has_columns.into())]),
        if has_columns { along([(0, 0), (2, 0)]) } else { Loop::ONE },
    ]
}

/// Whether the last three loops are those over a product of matrices of these sizes without gaps.
pub(crate) fn are_packed(loops: &[Loop], sizes: [usize; 3]) -> bool {
    let [.., rows, terms, columns] = loops else { unreachable!("three loops") };
    let follows = |l: &Loop, k: usize, stride: usize| l.len == 1 || l.strides[k] == stride.cast_signed();
    let are_packed = |outer, inner: &Loop, k| follows(inner, k, 1) && follows(outer, k, inner.len);
    [rows.len, terms.len, columns.len] == sizes
        && are_packed(rows, columns, 0)
        && are_packed(rows, terms, 1)
        && are_packed(terms, columns, 2)
}

/// Selects one axis.
#[cfg(test)]
pub(super) struct Only(pub(super) usize);

#[cfg(test)]
impl AxisSelection for Only {
    fn contains(&self, axis: usize) -> bool {
        axis == self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};
    use ndarray::{Array2, Ix2, ShapeBuilder};

    fn axes<'a>(sizes: &'a [usize], strides: &'a [isize]) -> StridedAxes<'a> {
        StridedAxes { sizes, strides }
    }

    /// The lengths, and the strides of the output and of one input.
    fn shown(loops: Option<&[Loop]>) -> Option<Vec<(usize, [isize; 2])>> {
        loops.map(|loops| loops.iter().map(|l| (l.len, [l.strides[0], l.strides[1]])).collect())
    }

    #[test]
    fn small_loops_suit_the_output() {
        let loops = |shape: &[usize], out, a: StridedAxes<'_>| {
            let mut room = [Loop::ONE; 2];
            shown(small_aligned(&mut room, UNPLANNED, shape, &out, (&[a.sizes], &[a.strides])))
        };
        let (row, column) = (axes(&[5], &[1]), axes(&[4, 1], &[1, 1]));
        let two = |loops: [(usize, [isize; 2]); 2]| Some(loops.to_vec());
        // the output's smaller stride is innermost, whatever the input's strides are
        let (c, f) = (axes(&[4, 5], &[5, 1]), axes(&[4, 5], &[1, 4]));
        assert_eq!(loops(&[4, 5], c, row), two([(4, [5, 0]), (5, [1, 1])]));
        assert_eq!(loops(&[4, 5], f, row), two([(5, [4, 1]), (4, [1, 0])]));
        assert_eq!(loops(&[4, 5], axes(&[4, 5], &[-1, -4]), column), two([(5, [-4, 0]), (4, [-1, 1])]));
        // an output that stays along the first axis is innermost along the other
        assert_eq!(loops(&[4, 5], row, c), two([(4, [0, 5]), (5, [1, 1])]));
        assert_eq!(loops(&[4, 5], column, c), two([(4, [1, 5]), (5, [0, 1])]));
        // loops that continue each other, or have one step, are one
        assert_eq!(loops(&[4, 5], c, c), Some(vec![(20, [1, 1])]));
        assert_eq!(loops(&[4, 1], column, column), Some(vec![(4, [1, 1])]));
        assert_eq!(loops(&[1, 5], axes(&[1, 5], &[9, 1]), row), Some(vec![(5, [1, 1])]));
        assert_eq!(loops(&[5], row, row), Some(vec![(5, [1, 1])]));
        assert_eq!(loops(&[], axes(&[], &[]), axes(&[], &[])), Some(Vec::new()));
    }

    #[test]
    fn small_summed_loops_suit_the_output() {
        let loops = |out: StridedAxes<'_>, array, axis| {
            let mut room = [Loop::ONE; 2];
            shown(small_summed(&mut room, &out, &array, Some(&Only(axis))))
        };
        let (c, f) = (axes(&[4, 5], &[5, 1]), axes(&[4, 5], &[1, 4]));
        let two = |loops: [(usize, [isize; 2]); 2]| Some(loops.to_vec());
        // adjacent outputs are innermost
        assert_eq!(loops(axes(&[5], &[1]), c, 0), two([(4, [0, 5]), (5, [1, 1])]));
        assert_eq!(loops(axes(&[4], &[1]), f, 1), two([(5, [0, 4]), (4, [1, 1])]));
        let column = axes(&[4, 1], &[1, 1]);
        assert_eq!(loops(axes(&[4], &[1]), column, 1), two([(1, [0, 1]), (4, [1, 1])]));
        // so are lanes of adjacent elements
        assert_eq!(loops(axes(&[4], &[1]), c, 1), two([(4, [1, 5]), (5, [0, 1])]));
        assert_eq!(loops(axes(&[1, 5], &[5, 1]), f, 9), two([(5, [1, 4]), (4, [0, 1])]));
        // others are outside
        assert_eq!(loops(axes(&[5], &[2]), c, 0), two([(5, [2, 1]), (4, [0, 5])]));
        assert_eq!(loops(axes(&[4], &[-1]), c, 1), two([(4, [-1, 5]), (5, [0, 1])]));
        // both loops are reduced, or none: they are one if they continue each other
        assert_eq!(loops(axes(&[1, 1], &[1, 1]), c, 9), Some(vec![(20, [0, 1])]));
        assert_eq!(loops(axes(&[1, 1], &[1, 1]), f, 9), two([(4, [0, 1]), (5, [0, 4])]));
        assert_eq!(loops(f, c, 9), two([(4, [1, 5]), (5, [4, 1])]));
        assert_eq!(loops(c, c, 9), Some(vec![(20, [1, 1])]));
    }

    #[test]
    fn matrices_are_rows_terms_and_columns() {
        let (matrix, row) = (axes(&[9, 2, 3], &[99, 7, 2]), axes(&[9, 3], &[50, 5]));
        let (wide, column) = (axes(&[3, 4], &[8, -1]), axes(&[9, 2], &[40, 6]));
        assert_eq!(
            matrix_loops([axes(&[2, 4], &[4, 1]), matrix, wide], [2; 3]),
            [Loop::new(2, [4, 7, 0]), Loop::new(3, [0, 2, 8]), Loop::new(4, [1, 0, -1])]
        );
        // a vector is a row on the left, and a column on the right and as the result
        assert_eq!(
            matrix_loops([column, matrix, row], [1, 2, 1]),
            [Loop::new(2, [6, 7, 0]), Loop::new(3, [0, 2, 5]), Loop::ONE]
        );
        assert_eq!(
            matrix_loops([axes(&[4], &[3]), row, wide], [1, 1, 2]),
            [Loop::ONE, Loop::new(3, [0, 5, 8]), Loop::new(4, [3, 0, -1])]
        );
        // two vectors
        let number = axes(&[9], &[1]);
        assert_eq!(
            matrix_loops([number, row, row], [0, 1, 1]),
            [Loop::ONE, Loop::new(3, [0, 5, 5]), Loop::ONE]
        );
    }

    #[test]
    fn a_plan_may_be_made_again() {
        let (mut plan, c) = (LoopPlan::new(), axes(&[4, 5], &[5, 1]));
        for _ in 0..2 {
            plan_aligned(&mut plan, &[4, 5], &c, (&[], &[]), Outside::Written);
            assert_eq!(plan.loops[..].iter().map(|l| (l.len, l.strides[0])).collect::<Vec<_>>(), [(20, 1)]);
            plan_summed(&mut plan, &axes(&[5], &[1]), &c, None);
            assert_eq!(shown(Some(&plan.loops)), Some(vec![(4, [0, 5]), (5, [1, 1])]));
        }
    }

    #[test]
    fn only_few_indices_are_small() {
        let is_small = |shape: &[usize]| {
            let mut room = [Loop::ONE; 2];
            small_aligned(&mut room, UNPLANNED, shape, &axes(&[], &[]), (&[], &[])).is_some()
        };
        for shape in [&[][..], &[1], &[UNPLANNED], &[1, UNPLANNED], &[16, UNPLANNED / 16]] {
            assert!(is_small(shape), "{shape:?}");
        }
        for shape in [&[0][..], &[UNPLANNED + 1], &[2, UNPLANNED / 2 + 1], &[0, 5], &[5, 0], &[1, 1, 1]] {
            assert!(!is_small(shape), "{shape:?}");
        }
    }

    #[test]
    fn axes_of_size_1_have_no_stride() {
        let array = Array2::<u8>::zeros((1, 3).f());
        let own = StridedAxes::of::<_, Ix2>(&array);
        assert_eq!([own.stride(0, 3), own.stride(1, 4), own.stride(2, 5)], [1, 0, 0]);
        assert_eq!(axes(&[1, 0], &[isize::MIN, 7]).stride(1, 1), 0);
        assert_eq!(axes(&[1, 0], &[isize::MIN, 7]).stride(0, 0), 0);
    }
}
