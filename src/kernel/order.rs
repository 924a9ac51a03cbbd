//! The order in memory of a new array's axes.

use ndarray::{Array, Dimension};

/// An array of shape `shape` as `make` makes it, of which axes lie in memory where `is_inside` says so.
///
/// `is_inside` says of two axes of the shape, the former and the latter, whether the former lies inside the latter;
/// `None` where it does not matter. Two axes keep the order of the shape unless it says so. It is asked of axes of at
/// least two elements only, of which an array that is not empty has few.
#[inline]
pub(super) fn ordered<B, E: Dimension>(
    shape: E,
    is_inside: impl Fn(&E, usize, usize) -> Option<bool>,
    make: impl FnOnce(E) -> Array<B, E>,
) -> Array<B, E> {
    let ndim = shape.ndim();
    let moves = |axis: usize| shape[axis] > 1;
    let empty = (0..ndim).any(|axis| shape[axis] == 0);
    let mut order = shape.clone();
    let mut standard = true;
    for axis in 0..ndim {
        let mut place = axis;
        let former = if moves(axis) && !empty { 0..axis } else { 0..0 };
        for at in former.rev().filter(|&at| moves(order[at])) {
            match is_inside(&shape, order[at], axis) {
                Some(true) => place = at,
                Some(false) => break,
                None => {}
            }
        }
        standard &= place == axis;
        for at in (place..axis).rev() {
            order[at + 1] = order[at];
        }
        order[place] = axis;
    }
    if standard {
        return make(shape);
    }
    let (mut permuted, mut back) = (shape.clone(), shape.clone());
    for place in 0..ndim {
        permuted[place] = shape[order[place]];
        back[order[place]] = place;
    }
    make(permuted).permuted_axes(back)
}
