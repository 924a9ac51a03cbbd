//! The joint shape of any number of shapes: the one rule that all families share.

use crate::error::{BroadcastError, Request};
use alloc::{boxed::Box, vec::Vec};
use ndarray::{Dimension, IxDyn};

/// The joint size of an axis: the one size that is not 1, else 1. `None` where two differ.
pub(crate) const fn joint_size(a: usize, b: usize) -> Option<usize> {
    if a == b || b == 1 {
        Some(a)
    } else if a == 1 {
        Some(b)
    } else {
        None
    }
}

/// The number of elements of `shape`; `None` where its non-zero sizes multiply past `isize::MAX`.
#[inline]
pub(crate) const fn checked_len(shape: &[usize]) -> Option<usize> {
    let (mut product, mut empty, mut axis) = (1usize, false, 0);
    while axis < shape.len() {
        if shape[axis] == 0 {
            empty = true;
        } else {
            product = match product.checked_mul(shape[axis]) {
                Some(product) => product,
                None => return None,
            };
        }
        axis += 1;
    }
    if product > isize::MAX.unsigned_abs() {
        None
    } else if empty {
        Some(0)
    } else {
        Some(product)
    }
}

/// The joint shape of any number of shapes.
///
/// Shapes are aligned at the right; a missing axis counts as size 1. The joint size of an axis is
/// the one size that is not 1, else 1: 0 with 1 is 0. No shapes at all give the shape `[]`.
///
/// # Shapes
/// `[8, 1, 6, 1]` and `[7, 1, 5]` give `[8, 7, 6, 5]`; the order of the shapes does not matter.
///
/// # Errors
/// [`Incompatible`](BroadcastError::Incompatible) where an axis has two different sizes other
/// than 1, 0 included; [`Overflow`](BroadcastError::Overflow) where the non-zero sizes of the
/// joint shape multiply past `isize::MAX`.
///
/// # Examples
/// ```
/// use ndarray_broadcast::broadcast_shapes;
///
/// assert_eq!(broadcast_shapes(&[&[8, 1, 6, 1][..], &[7, 1, 5]])?, [8, 7, 6, 5]);
/// assert_eq!(broadcast_shapes(&[[1, 0], [4, 1]])?, [4, 0]);
/// assert_eq!(broadcast_shapes::<[usize; 0]>(&[])?, []);
/// assert!(broadcast_shapes(&[[0], [5]]).is_err());
/// assert_eq!(
///     broadcast_shapes(&[&[2, 1][..], &[3], &[4]]).unwrap_err().to_string(),
///     "cannot broadcast shapes [2, 1], [3] and [4] together: \
///      axis 1 has sizes 3 and 4 (shapes 1 and 2), expected equal sizes or 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `numpy.broadcast_shapes`, `torch.broadcast_shapes`. The rule is the one of Poplar's
/// `broadcastToMatch`, of NumPy and of MLIR's `Broadcastable`.
#[doc(alias = "numpy.broadcast_shapes")]
pub fn broadcast_shapes<S: AsRef<[usize]>>(shapes: &[S]) -> Result<Vec<usize>, BroadcastError> {
    joint_shape::<IxDyn, S>(shapes).map(|joint| super::sizes(&joint).to_vec())
}

/// [`broadcast_shapes`] of any dimension type that can hold the result's number of axes.
#[inline]
pub(crate) fn joint_shape<E: Dimension, S: AsRef<[usize]>>(shapes: &[S]) -> Result<E, BroadcastError> {
    let ndim = shapes.iter().map(|shape| shape.as_ref().len()).max().unwrap_or(0);
    let mut joint = E::zeros(ndim);
    for axis in 0..ndim {
        joint[axis] = 1;
    }
    for shape in shapes.iter().map(AsRef::as_ref) {
        let new = ndim - shape.len();
        for (axis, &size) in shape.iter().enumerate() {
            match joint_size(joint[new + axis], size) {
                Some(size) => joint[new + axis] = size,
                None => return Err(clash(shapes)),
            }
        }
    }
    match checked_len(super::sizes(&joint)) {
        Some(_) => Ok(joint),
        None => Err(BroadcastError::Overflow {
            request: Box::new(together(shapes)),
            shape: super::sizes(&joint).to_vec(),
        }),
    }
}

fn together<S: AsRef<[usize]>>(shapes: &[S]) -> Request {
    Request::Together { shapes: shapes.iter().map(|shape| shape.as_ref().to_vec()).collect() }
}

/// The error of shapes that are known to clash: their first such axis and the first two that do.
#[cold]
fn clash<S: AsRef<[usize]>>(shapes: &[S]) -> BroadcastError {
    let ndim = shapes.iter().map(|shape| shape.as_ref().len()).max().unwrap_or(0);
    let stretching = |axis: usize| {
        shapes.iter().enumerate().filter_map(move |(operand, shape)| {
            let (shape, from_end) = (shape.as_ref(), ndim - axis);
            let size = *shape.get(shape.len().checked_sub(from_end)?)?;
            (size != 1).then_some((operand, size))
        })
    };
    let (axis, first, second) = (0..ndim)
        .find_map(|axis| {
            let first = stretching(axis).next()?;
            let second = stretching(axis).find(|&(_, size)| joint_size(first.1, size).is_none())?;
            Some((axis, first, second))
        })
        .expect("the caller saw two sizes that clash");
    BroadcastError::Incompatible {
        request: Box::new(together(shapes)),
        axis,
        sizes: [first.1, second.1],
        operands: [first.0, second.0],
    }
}

/// [`broadcast_shapes`] for two arrays of sizes, in `const` context too.
///
/// # Shapes
/// `M` and `N` axes give the longer of the two; another number in the result's type does not compile.
///
/// # Panics
/// Where [`broadcast_shapes`] has an error. In a `const` that is a compile error; where sizes are
/// only known at run time, use [`broadcast_shapes`].
///
/// # Examples
/// ```
/// use ndarray_broadcast::const_broadcast_shape;
///
/// const JOINT: [usize; 3] = const_broadcast_shape([3, 1], [2, 1, 4]);
/// assert_eq!(JOINT, [2, 3, 4]);
/// ```
/// ```compile_fail,E0080
/// const JOINT: [usize; 1] = ndarray_broadcast::const_broadcast_shape([3], [4]);
/// # assert_eq!(JOINT, [3]);
/// ```
///
/// # Equivalents
/// `xt::broadcast_shape` of xtensor on fixed shapes; NumPy and PyTorch have none.
#[must_use]
#[track_caller]
pub const fn const_broadcast_shape<const M: usize, const N: usize, const O: usize>(
    a: [usize; M],
    b: [usize; N],
) -> [usize; O] {
    const { assert!(O == if M > N { M } else { N }, "the result has as many axes as the longer shape") };
    let mut joint = [1; O];
    let mut from_end = 1;
    while from_end <= O {
        let x = if from_end <= M { a[M - from_end] } else { 1 };
        let y = if from_end <= N { b[N - from_end] } else { 1 };
        joint[O - from_end] = match joint_size(x, y) {
            Some(size) => size,
            None => panic!("cannot broadcast the shapes together: an axis has two sizes that are not 1"),
        };
        from_end += 1;
    }
    assert!(checked_len(&joint).is_some(), "the non-zero sizes of the joint shape multiply past isize::MAX");
    joint
}
