//! The order in memory of a new array's axes.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

/// An order of axes in memory.
pub(crate) trait AxisOrder {
    /// Whether axis `former` of a shape belongs inside axis `latter`; `None` if their order does not matter.
    fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool>;
}

/// Writes the strides, in elements, of a contiguous array with this shape and `order` of axes; without one, those of the standard
/// layout. Returns the number of elements.
///
/// Axes keep the order of the shape where [`AxisOrder::is_inside`] returns `None`. Only axes of at least two elements are passed
/// to it: an array with elements has few of these.
pub(super) fn strides(shape: &[usize], order: Option<&dyn AxisOrder>, strides: &mut [usize]) -> usize {
    let mut len = 1;
    if shape.contains(&0) {
        strides.fill(0);
        return 0;
    }
    let is_turned = match (shape, order) {
        ([] | [_], _) | (_, None) => false,
        // small arrays would notice the time of a sort
        (&[m, n], Some(order)) => {
            if m > 1 && n > 1 && order.is_inside(shape, 0, 1) == Some(true) {
                (strides[0], strides[1]) = (1, m);
                return m * n;
            }
            false
        }
        (_, Some(order)) => sort(strides, shape, order),
    };
    if is_turned {
        let (mut stack, mut heap) = ([0; 8], Vec::new());
        let axes = if let Some(stack) = stack.get_mut(..strides.len()) {
            stack
        } else {
            heap.resize(strides.len(), 0);
            &mut heap[..]
        };
        axes.copy_from_slice(strides);
        for &axis in axes.iter().rev() {
            strides[axis] = len;
            len *= shape[axis];
        }
        return len;
    }
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = len;
        len *= size;
    }
    len
}

/// Sorts the axes of a shape by their order in memory, outermost first. Returns whether the order changed.
fn sort(axes: &mut [usize], sizes: &[usize], order: &dyn AxisOrder) -> bool {
    let mut has_moved = false;
    for axis in 0..sizes.len() {
        axes[axis] = axis;
        if sizes[axis] < 2 {
            continue;
        }
        let mut place = axis;
        for at in (0..axis).rev() {
            if sizes[axes[at]] < 2 {
                continue;
            }
            match order.is_inside(sizes, axes[at], axis) {
                Some(true) => place = at,
                Some(false) => break,
                None => {}
            }
        }
        if place < axis {
            axes.copy_within(place..axis, place + 1);
            axes[place] = axis;
            has_moved = true;
        }
    }
    has_moved
}
