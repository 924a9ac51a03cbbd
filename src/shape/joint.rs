//! The joint shape of any number of shapes: the one rule that all families share.

use super::{checked_len, joint_ndim, sizes, sizes_mut, stretches};
use crate::error::{BroadcastError, ErrorBuilder, Result, caller};
use alloc::{format, vec, vec::Vec};
use core::fmt;
use ndarray::{DimMax, Dimension};

/// The joint size of an axis: the size that is not 1, or 1. `None` if both sizes are not 1 and differ.
pub(crate) const fn joint_size(a: usize, b: usize) -> Option<usize> {
    if stretches(b, a) {
        Some(a)
    } else if stretches(a, b) {
        Some(b)
    } else {
        None
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
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis has two different sizes other
/// than 1, 0 included; [`Overflow`](crate::ErrorKind::Overflow) where the non-zero sizes of the
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
#[doc(alias("numpy.broadcast_shapes", "broadcast_static_shape", "broadcast_dynamic_shape"))]
pub fn broadcast_shapes<S: AsRef<[usize]>>(shapes: &[S]) -> Result<Vec<usize>> {
    let mut joint = vec![0; joint_ndim(shapes)];
    if join(shapes, &mut joint) && checked_len(&joint).is_some() {
        return Ok(joint);
    }
    Err(joint_error(&shapes.iter().map(AsRef::as_ref).collect::<Vec<_>>()))
}

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

/// The dimension types of 1 to 6 operands, as a tuple, and the type of their joint shape.
///
/// Not exported; public because bounds of public traits name it.
pub trait JoinDims {
    /// The dimension type of the joint shape.
    type Joint: Dimension;
}

impl<A: Dimension> JoinDims for (A,) {
    type Joint = A;
}

/// By hand: `impl<A: DimMax<B>, B: Dimension> JoinDims for (A, B) { type Joint = <A as DimMax<B>>::Output; }`.
macro_rules! join_dims {
    ($($T:ident)+, $Last:ident) => {
        impl<$($T,)+ $Last: Dimension> JoinDims for ($($T,)+ $Last)
        where
            ($($T,)+): JoinDims<Joint: DimMax<$Last>>,
        {
            type Joint = <<($($T,)+) as JoinDims>::Joint as DimMax<$Last>>::Output;
        }
    };
}
join_dims!(A, B);
join_dims!(A B, C);
join_dims!(A B C, D);
join_dims!(A B C D, E);
join_dims!(A B C D E, F);

/// The joint shape as a dimension. `None` if the shapes do not broadcast together; overflow is not checked.
#[inline(always)]
pub(crate) fn joint_dim<D: Dimension>(shapes: &[&[usize]]) -> Option<D> {
    let mut joint = D::zeros(joint_ndim(shapes));
    join(shapes, sizes_mut(&mut joint)).then_some(joint)
}

/// The joint shape as a dimension, with its errors.
///
/// # Errors
/// `Incompatible` and `Overflow`.
#[inline]
pub(crate) fn checked_joint_dim<D: Dimension>(shapes: &[&[usize]]) -> Result<D> {
    let joint = joint_dim(shapes).filter(|joint| checked_len(sizes(joint)).is_some());
    joint.ok_or_else(|| joint_error(shapes))
}

/// Writes the joint shape into `joint`, which has its number of axes, and returns whether the shapes broadcast together.
/// Overflow is not checked. [`joint_error_of`] is the error of either.
#[inline(always)]
pub(crate) fn join(shapes: impl IntoIterator<Item: AsRef<[usize]>>, joint: &mut [usize]) -> bool {
    joint.fill(1);
    for shape in shapes {
        let shape = shape.as_ref();
        let new = joint.len() - shape.len();
        for (size, &own) in joint[new..].iter_mut().zip(shape) {
            match joint_size(*size, own) {
                Some(joint) => *size = joint,
                None => return false,
            }
        }
    }
    true
}

/// The error of [`broadcast_shapes`].
#[cold]
#[inline(never)]
pub(crate) fn joint_error(shapes: &[&[usize]]) -> BroadcastError {
    joint_error_of(ErrorBuilder::new(&caller::TOGETHER, shapes), shapes)
}

/// The error of shapes without a joint shape: the first axis whose sizes clash, with the first two
/// shapes that do, else overflow.
pub(crate) fn joint_error_of(builder: ErrorBuilder, shapes: &[&[usize]]) -> BroadcastError {
    let ndim = joint_ndim(shapes);
    let mut joint = Vec::with_capacity(ndim);
    for axis in 0..ndim {
        // The size, and the first operand that has it.
        let (mut size, mut first) = (1, 0);
        for (operand, shape) in shapes.iter().enumerate() {
            let Some(own) = (axis + shape.len()).checked_sub(ndim) else { continue };
            match joint_size(size, shape[own]) {
                None => return builder.incompatible(axis, [size, shape[own]], [first, operand]),
                Some(joint) if joint != size => (size, first) = (joint, operand),
                _ => {}
            }
        }
        joint.push(size);
    }
    builder.overflow(&joint)
}

/// [`broadcast_shapes`] for two arrays of sizes, in `const` context too.
///
/// # Shapes
/// The result has the larger of `M` and `N` axes; with another number, it does not compile.
///
/// # Panics
/// Where [`broadcast_shapes`] has an error, with a message that names the rule, not the shapes. In a `const`,
/// that is a compile error. For sizes that are only known at run time, use [`broadcast_shapes`].
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
        let Some(size) = joint_size(x, y) else {
            panic!("cannot broadcast the shapes together: an axis has two sizes, expected equal sizes or 1")
        };
        joint[O - from_end] = size;
        from_end += 1;
    }
    assert!(
        checked_len(&joint).is_some(),
        "cannot broadcast the shapes together: the non-zero sizes of the result multiply past isize::MAX"
    );
    joint
}
