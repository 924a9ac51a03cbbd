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
fn permuted<D: Dimension>(shape: &D, order: &dyn AxisOrder) -> Option<(D, D)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use ndarray::IxDyn;

    struct ByStrides<'a>(&'a [usize]);

    impl AxisOrder for ByStrides<'_> {
        fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool> {
            assert!(shape[former] > 1 && shape[latter] > 1, "axes whose order matters");
            (self.0[former] != self.0[latter]).then(|| self.0[former] < self.0[latter])
        }
    }

    /// The sizes in memory, and the place of each axis there, if axes are ordered by these strides.
    fn places(sizes: &[usize], strides: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
        let (sizes, places) = permuted(&IxDyn(sizes), &ByStrides(strides))?;
        Some((sizes.slice().to_vec(), places.slice().to_vec()))
    }

    #[test]
    fn axes_are_ordered_in_memory() {
        assert_eq!(places(&[2, 3, 4], &[12, 4, 1]), None);
        assert_eq!(places(&[2, 3, 4], &[1, 2, 6]), Some(([4, 3, 2].into(), [2, 1, 0].into())));
        assert_eq!(places(&[2, 3, 4], &[4, 8, 1]), Some(([3, 2, 4].into(), [1, 0, 2].into())));
        assert_eq!(places(&[2, 3, 4, 5], &[1, 40, 2, 8]), Some(([3, 5, 4, 2].into(), [3, 0, 2, 1].into())));
        // equal strides, no elements, fewer than two axes
        assert_eq!(places(&[2, 3, 4], &[1, 1, 1]), None);
        assert_eq!(places(&[2, 0, 4], &[1, 2, 6]), None);
        assert_eq!([places(&[], &[]), places(&[3], &[1])], [None, None]);
        assert_eq!(places(&[2, 3], &[1, 2]), Some(([3, 2].into(), [1, 0].into())));
        assert_eq!(places(&[3, 2], &[1, 3]), Some(([2, 3].into(), [1, 0].into())));
        assert_eq!([[2, 3], [1, 3], [3, 1]].map(|sizes| places(&sizes, &[3, 1])), [None, None, None]);
    }

    #[test]
    fn axes_of_one_element_are_placed_too() {
        assert_eq!(places(&[1, 2, 3], &[9, 1, 2]), Some(([1, 3, 2].into(), [0, 2, 1].into())));
        assert_eq!(places(&[2, 1, 3], &[1, 9, 2]), Some(([3, 2, 1].into(), [1, 2, 0].into())));
        assert_eq!(places(&[1, 2, 3], &[0, 3, 1]), None);
    }
}
