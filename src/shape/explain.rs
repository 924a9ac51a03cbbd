//! A picture of aligned shapes.

use super::broadcast_shapes;
use crate::error::{ErrorBuilder, caller};
use alloc::{format, vec::Vec};
use core::fmt;

/// A picture of shapes that broadcast together, with their joint shape, or the reason why they do not.
///
/// It prints the shapes aligned at the right, a line, and the joint shape of [`broadcast_shapes`].
/// If there is no joint shape, it prints the error as `{:#}` does. If the picture would be far larger than
/// the shapes, it prints one line of text.
///
/// # Shapes
/// Any number, each of any number of axes; a missing axis counts as size 1 and is left blank. Sizes of
/// 0 and shapes without axes are printed as they are. No shapes at all give the shape `[]`.
///
/// # Errors
/// None; for shapes that do not broadcast together, the picture says so.
///
/// # Examples
/// ```
/// use ndarray_broadcast::explain;
///
/// assert_eq!(
///     explain(&[&[8, 1, 6][..], &[7, 1]]).to_string(),
///     "broadcast shapes [8, 1, 6] and [7, 1] together\n\
///     \x20 [8, 1, 6]\n\
///     \x20 [   7, 1]\n\
///     \x20 ---------\n\
///     \x20 [8, 7, 6]",
/// );
/// assert_eq!(
///     explain(&[&[8, 1, 6][..], &[7, 5]]).to_string(),
///     "cannot broadcast shapes [8, 1, 6] and [7, 5] together\n\
///     \x20 [8, 1, 6]\n\
///     \x20 [   7, 5]\n\
///     \x20        ^ axis 2: sizes 6 and 5, expected equal sizes or 1",
/// );
/// ```
///
/// # Equivalents
/// The tables of aligned shapes in NumPy's and PyTorch's pages on broadcasting.
pub fn explain<S: AsRef<[usize]>>(shapes: &[S]) -> impl fmt::Display + Clone + use<S> {
    let shapes: Vec<&[usize]> = shapes.iter().map(AsRef::as_ref).collect();
    let operation = if shapes.is_empty() { &caller::NOTHING } else { &caller::TOGETHER };
    match broadcast_shapes(&shapes) {
        Ok(joint) => ErrorBuilder::new(operation, &shapes).explained(&joint),
        Err(error) => format!("{error:#}"),
    }
}
