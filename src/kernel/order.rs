//! The order in memory of a new array's axes.

#![forbid(unsafe_code)]

use ndarray::{Array, Dimension};

/// An order of axes in memory.
pub(crate) trait AxisOrder {
    /// Whether axis `former` of a shape goes inside axis `latter`; `None` if their order does not matter.
    fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool>;
}

/// A new array of shape `shape`, made by `make`, whose axes have an `order` in memory, or that of the shape.
///
/// Axes keep the order of the shape where [`AxisOrder::is_inside`] returns `None`. It is called for axes of at least two
/// elements only: an array with elements has few of these.
#[inline(always)]
pub(super) fn ordered<B, D: Dimension>(
    shape: D,
    order: Option<&dyn AxisOrder>,
    make: impl FnOnce(D) -> Array<B, D>,
) -> Array<B, D> {
    match order.and_then(|order| permuted(&shape, order)) {
        None => make(shape),
        Some((permuted, places)) => make(permuted).permuted_axes(places),
    }
}

/// The shape in the order in memory, and the place of each axis there. `None` if that is the order of the shape.
#[inline]
pub(super) fn permuted<D: Dimension>(shape: &D, order: &dyn AxisOrder) -> Option<(D, D)> {
    match *shape.slice() {
        // without the sort, whose time counts for small arrays
        [] | [_] => return None,
        [rows, columns] if rows < 2 || columns < 2 || order.is_inside(shape.slice(), 0, 1) != Some(true) => {
            return None;
        }
        _ => {}
    }
    let (mut permuted, mut places) = (shape.clone(), shape.clone());
    if shape.slice().contains(&0) || !sort(permuted.slice_mut(), shape.slice(), order) {
        return None;
    }
    for place in 0..shape.ndim() {
        let axis = permuted[place];
        (places[axis], permuted[place]) = (place, shape[axis]);
    }
    Some((permuted, places))
}

/// Sorts the axes of a shape by their order in memory, outermost first. Returns whether one has moved.
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
