//! The rule of stretching: shapes are aligned at the right, and an axis stretches from size 1 to any size.
//!
//! Views to a [target](resolved_dim), operands of an [output](all_stretch_to) and [sums](check_sums), which are the adjoints, share it.

use super::axes::{OF_OUTPUT, check_axis_count};
use super::target::check_target;
use super::{Placeholder, TargetShape, checked_len, joint_ndim, sizes, sizes_mut};
use crate::error::{BroadcastError, Count, ErrorBuilder, NewBuilder, Result, caller, fail};
use alloc::vec::Vec;

/// Whether an axis stretches from size `from` to size `to`.
pub(crate) const fn stretches(from: usize, to: usize) -> bool {
    from == to || from == 1
}

/// Whether stretching an axis from size `from` to size `to` repeats it. Repeating 0 times counts.
pub(crate) const fn repeats(from: usize, to: usize) -> bool {
    from == 1 && to != 1
}

/// The number of leading axes of `to` that `from` does not have, or `None` if `from` does not stretch to `to`, aligned at
/// the right.
#[inline(always)]
pub(super) fn leading_axes(from: &[usize], to: &[usize]) -> Option<usize> {
    let new = to.len().checked_sub(from.len())?;
    for (&own, &size) in from.iter().zip(&to[new..]) {
        if !stretches(own, size) {
            return None;
        }
    }
    Some(new)
}

/// Whether each shape stretches to the output's shape. [`output_error`] is the error.
#[inline(always)]
pub(crate) fn all_stretch_to(shapes: impl IntoIterator<Item: AsRef<[usize]>>, output: &[usize]) -> bool {
    shapes.into_iter().all(|shape| leading_axes(shape.as_ref(), output).is_some())
}

/// The first axis of the output where a shape does not stretch, the two sizes there, and the shape's position.
pub(super) fn first_clash(shapes: &[&[usize]], output: &[usize]) -> Option<(usize, [usize; 2], usize)> {
    for (axis, &size) in output.iter().enumerate() {
        for (operand, shape) in shapes.iter().enumerate() {
            let own = (shape.len() + axis).checked_sub(output.len()).map_or(1, |axis| shape[axis]);
            if !stretches(own, size) {
                return Some((axis, [own, size], operand));
            }
        }
    }
    None
}

/// The error of shapes that do not all stretch to the output's shape.
#[cold]
#[inline(never)]
pub(crate) fn output_error(shapes: &[&[usize]], output: &[usize]) -> BroadcastError {
    let builder = ErrorBuilder::new(&caller::TO_OUTPUT, shapes).to(&output);
    let (expected, found) = (joint_ndim(shapes), output.len());
    match first_clash(shapes, output) {
        Some((axis, sizes, operand)) if expected <= found => {
            builder.incompatible(axis, sizes, [operand, shapes.len()])
        }
        _ => builder.too_few_axes("output", expected, found),
    }
}

/// Checks that the shapes of several outputs equal that of the first.
///
/// # Errors
/// For the first of them that differs: `AxisCount`; `Incompatible` where a size differs.
pub(crate) fn check_outputs(shapes: &[&[usize]]) -> Result<()> {
    let (first, builder) = (shapes[0], || ErrorBuilder::new(&caller::OUTPUTS, shapes));
    for (position, own) in shapes.iter().enumerate() {
        check_axis_count(first.len(), own.len(), OF_OUTPUT, builder)?;
        if let Some(axis) = (0..own.len()).find(|&axis| own[axis] != first[axis]) {
            return Err(builder().incompatible(axis, [first[axis], own[axis]], [0, position]));
        }
    }
    Ok(())
}

/// Checks that a source of `shape` can be summed to `target`. `builder` has the shapes of the source and the target.
///
/// # Errors
/// In this order: `TooManyAxes` where the target has more axes than the shape; `Incompatible` where a size differs and is
/// not 1 in the target.
#[inline(always)]
pub(crate) fn check_sums(
    shape: &[usize],
    target: &[usize],
    builder: impl FnOnce() -> ErrorBuilder,
) -> Result<()> {
    match leading_axes(target, shape) {
        Some(_) => Ok(()),
        None => Err(sum_error(builder(), shape, target)),
    }
}

#[cold]
fn sum_error(builder: ErrorBuilder, shape: &[usize], target: &[usize]) -> BroadcastError {
    match first_clash(&[target], shape) {
        Some((axis, [size, own], _)) if target.len() <= shape.len() => {
            builder.incompatible_with_target(axis, [own, size], shape.len())
        }
        _ => too_many_axes(builder, shape.len(), target.len()),
    }
}

#[cold]
pub(crate) fn too_many_axes(builder: ErrorBuilder, expected: usize, found: usize) -> BroadcastError {
    fail!(builder, TooManyAxes, "the target has {}, expected at most {expected}", Count(found))
}

/// The axes of `to` along which a broadcast of `from` repeats elements. The adjoint sums over them.
///
/// These are the leading axes that `from` does not have, whatever their size, and the axes where
/// `from` has size 1 and `to` has another.
///
/// # Shapes
/// `[3, 1]` to `[2, 3, 4]` repeats along axes 0 and 2 of the three.
///
/// # Errors
/// [`TooFewAxes`](crate::ErrorKind::TooFewAxes), [`Incompatible`](crate::ErrorKind::Incompatible) and
/// [`Overflow`](crate::ErrorKind::Overflow) where `from` does not broadcast to `to`, as in
/// [`resolve_target`]; [`InvalidSize`](crate::ErrorKind::InvalidSize) for a size above `isize::MAX`.
///
/// # Examples
/// ```
/// use ndarray_broadcast::reduction_axes;
///
/// assert_eq!(reduction_axes(&[3, 1], &[2, 3, 4])?, [0, 2]);
/// assert_eq!(reduction_axes(&[1], &[0])?, [0]);
/// assert_eq!(reduction_axes(&[], &[])?, []);
/// assert!(reduction_axes(&[3], &[2]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// JAX's `_unbroadcast` and PyTorch's `sum_to_size` find these axes inside; TensorFlow's
/// `broadcast_gradient_args` returns them.
#[doc(alias = "broadcast_gradient_args")]
pub fn reduction_axes(from: &[usize], to: &[usize]) -> Result<Vec<usize>> {
    let Some(new) = leading_axes(from, to).filter(|_| checked_len(to).is_some()) else {
        return Err(target_error(from, to, Placeholder::Refused));
    };
    let is_repeated = |&axis: &usize| axis < new || repeats(from[axis - new], to[axis]);
    Ok((0..to.len()).filter(is_repeated).collect())
}

/// The shape of an array of shape `shape` that is broadcast to `target`.
///
/// Shapes are aligned at the right. A -1 keeps the size of the array's axis there, any number of
/// times. Every other axis of the array has the target's size or is 1.
///
/// # Shapes
/// `[3, 1]` to `[-1, 4]` gives `[3, 4]`; `[2, 3]` to `[5, -1, -1]` gives `[5, 2, 3]`.
///
/// # Errors
/// In this order:
/// [`InvalidSize`](crate::ErrorKind::InvalidSize) for a size below -1;
/// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where the target has fewer axes than the shape;
/// [`PlaceholderOnNewAxis`](crate::ErrorKind::PlaceholderOnNewAxis) for a -1 where the shape has no axis;
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis has another size than the target and is not 1;
/// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero sizes multiply past `isize::MAX`.
///
/// # Examples
/// ```
/// use ndarray_broadcast::resolve_target;
///
/// assert_eq!(resolve_target(&[3, 1], &[-1, 4])?, [3, 4]);
/// assert_eq!(resolve_target(&[1], &[0])?, [0]);
/// assert_eq!(
///     resolve_target(&[2, 3], &[-1, 2, 3]).unwrap_err().to_string(),
///     "cannot resolve -1 at axis 0 of target [-1, 2, 3]: shape [2, 3] has no such axis",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The rule of MindSpore's `ops.broadcast_to` and PyTorch's `Tensor.expand`; the order of the
/// checks is specific to this crate. `numpy.broadcast_to` is the same without -1.
pub fn resolve_target(shape: &[usize], target: &[isize]) -> Result<Vec<usize>> {
    match resolved_dim(shape, &target, Placeholder::Keeps) {
        Some(dim) if checked_len(sizes(&dim)).is_some() => Ok(sizes(&dim).to_vec()),
        _ => Err(target_error(shape, target, Placeholder::Keeps)),
    }
}

/// The sizes that `target` gives an array of shape `shape`, or `None` if it does not stretch to them. Overflow is not
/// checked. [`target_error`] is the error of either.
#[inline(always)]
pub(crate) fn resolved_dim<T: TargetShape + ?Sized>(
    shape: &[usize],
    target: &T,
    placeholder: Placeholder,
) -> Option<T::Dim> {
    let mut dim = target.target_dim();
    // In a plain target, `usize::MAX` is a size.
    let keeps = placeholder == Placeholder::Keeps && !T::PLAIN;
    let new = sizes(&dim).len().checked_sub(shape.len())?;
    // A plain loop: the compiler unrolls it for a fixed number of axes.
    for (axis, size) in sizes_mut(&mut dim).iter_mut().enumerate() {
        *size = match axis.checked_sub(new).map(|axis| shape[axis]) {
            Some(own) if size.cast_signed() == -1 && keeps => own,
            Some(own) if !stretches(own, *size) => return None,
            _ if size.cast_signed() < 0 => return None,
            _ => *size,
        };
    }
    Some(dim)
}

/// The error of a target that [`resolved_dim`] refuses or that overflows.
#[cold]
#[inline(never)]
pub(crate) fn target_error<T: TargetShape + ?Sized>(
    shape: &[usize],
    target: &T,
    placeholder: Placeholder,
) -> BroadcastError {
    let target = target.for_message();
    stretch_error(shape, &target, placeholder, &|| {
        ErrorBuilder::new(&caller::TO_TARGET, &[shape]).to(&target)
    })
}

/// The error of an operation that stretches `shape` to a target, which [`resolved_dim`] refuses or which overflows.
#[cold]
pub(crate) fn stretch_error(
    shape: &[usize],
    target: &[i128],
    placeholder: Placeholder,
    builder: NewBuilder<'_>,
) -> BroadcastError {
    let resolved = || {
        check_target(target, placeholder, builder)?;
        let new = leading_target_axes(shape.len(), target, builder)?;
        let size = |axis: usize| usize::try_from(target[axis]).unwrap_or_else(|_| shape[axis - new]);
        Ok((0..target.len()).map(size).collect::<Vec<_>>())
    };
    let sizes = match resolved() {
        Ok(sizes) => sizes,
        Err(error) => return error,
    };
    match first_clash(&[shape], &sizes) {
        Some((axis, sizes, _)) => builder().incompatible(axis, sizes, [0, 1]),
        None => builder().overflow(&sizes),
    }
}

/// How many leading axes of a checked target an array with `ndim` axes does not have.
///
/// # Errors
/// `TooFewAxes` where the target has fewer axes; `PlaceholderOnNewAxis` where one of those axes is -1.
#[cold]
pub(crate) fn leading_target_axes(ndim: usize, target: &[i128], builder: NewBuilder<'_>) -> Result<usize> {
    let Some(new) = target.len().checked_sub(ndim) else {
        return Err(builder().too_few_axes("target", ndim, target.len()));
    };
    match target[..new].iter().position(|&size| size < 0) {
        Some(axis) => Err(builder().placeholder_on_new_axis(axis)),
        None => Ok(new),
    }
}
