//! The order in memory of a new array's axes.

#![forbid(unsafe_code)]

use super::list::List;

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
#[inline]
pub(crate) fn strides(shape: &[usize], order: Option<&dyn AxisOrder>, strides: &mut [usize]) -> usize {
    if shape.contains(&0) {
        strides.fill(0);
        return 0;
    }
    let mut len = 1;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = len;
        len *= size;
    }
    if let Some(order) = order.filter(|_| shape.len() > 1) {
        reorder(shape, order, strides);
    }
    len
}

fn reorder(shape: &[usize], order: &dyn AxisOrder, strides: &mut [usize]) {
    // outermost first
    let mut axes = List::<usize, 8>::new();
    for axis in (0..shape.len()).filter(|&axis| shape[axis] > 1) {
        let mut place = axes.len();
        for at in (0..axes.len()).rev() {
            match order.is_inside(shape, axes[at], axis) {
                Some(true) => place = at,
                Some(false) => break,
                None => {}
            }
        }
        axes.push(axis);
        axes[place..].rotate_right(1);
    }
    let mut width = 1;
    for &axis in axes.iter().rev() {
        strides[axis] = width;
        width *= shape[axis];
    }
}
