//! The order in memory of a new array's axes.

#![forbid(unsafe_code)]

use super::memory::List;

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
    if shape.contains(&0) {
        strides.fill(0);
        return 0;
    }
    let mut len = 1;
    let Some(order) = order.filter(|_| shape.len() > 1) else {
        for (stride, &size) in strides.iter_mut().zip(shape).rev() {
            *stride = len;
            len *= size;
        }
        return len;
    };
    let (is_long, mut axes) = (|axis: usize| shape[axis] > 1, List::<usize, 8>::new());
    for axis in 0..shape.len() {
        axes.push(axis);
        let mut place = axis;
        for at in (0..axis).rev().filter(|_| is_long(axis)) {
            match is_long(axes[at]).then(|| order.is_inside(shape, axes[at], axis)).flatten() {
                Some(true) => place = at,
                Some(false) => break,
                None => {}
            }
        }
        axes[place..].rotate_right(1);
    }
    for &axis in axes.iter().rev() {
        strides[axis] = len;
        len *= shape[axis];
    }
    len
}
