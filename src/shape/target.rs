//! What may be given as a target shape, and what a target comes to for an array.

use super::{checked_len, joint_size, sizes};
use crate::error::{BroadcastError, Request};
use crate::sealed::Sealed;
use alloc::{boxed::Box, vec::Vec};
use ndarray::{Dim, Dimension, Ix, IxDyn};

/// An integer type that sizes can be given in.
#[diagnostic::on_unimplemented(
    message = "sizes cannot be given as `{Self}`",
    label = "not a size",
    note = "sizes are integers of 8 to 64 bits, signed where -1 should stand for the array's own size"
)]
pub trait Size: Sealed + Copy {
    /// The size as the widest integer.
    #[doc(hidden)]
    fn widen(self) -> i128;
}

/// A target shape: sizes, or -1 where the operation lets an axis keep its size.
///
/// Implemented for arrays `[n; k]` and tuples of up to 6 integers of any type of 8 to 64 bits
/// (a tuple may mix them), single integers, slices and `Vec`s of them, every ndarray dimension
/// (`a.raw_dim()`), and references to all these. Arrays, tuples and `Ix1` to `Ix6` give results with
/// a fixed number of axes; slices, `Vec`s and `IxDyn` give dynamic ones.
///
/// # Examples
/// ```
/// use ndarray::{Array1, ArrayView2, ArrayViewD};
/// use ndarray_broadcast::prelude::*;
///
/// let (a, rows) = (Array1::<f64>::zeros(3), 2_u64);
/// let fixed: ArrayView2<f64> = a.broadcast_to((rows, -1))?;
/// let dynamic: ArrayViewD<f64> = a.broadcast_to(vec![2, -1])?;
/// assert_eq!(fixed.shape(), dynamic.shape());
/// assert!(a.broadcast_to((rows, 4)).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a target shape",
    label = "expected a target shape",
    note = "a target is an array or tuple of up to 6 integers, a slice or `Vec` of integers, an integer, \
            or an ndarray dimension such as `a.raw_dim()`",
    note = "for more than 6 axes give a slice: `&[..][..]`; for the shape of an array give `a.raw_dim()`"
)]
pub trait TargetShape: Sealed {
    /// The dimension type of the result.
    type Dim: Dimension;

    /// The number of sizes.
    #[doc(hidden)]
    fn target_ndim(&self) -> usize;

    /// What stands at `axis`.
    #[doc(hidden)]
    fn target_size(&self, axis: usize) -> i128;
}

macro_rules! integers {
    ($($int:ty)*) => {$(
        impl Sealed for $int {}
        impl Size for $int {
            #[inline]
            fn widen(self) -> i128 {
                self as i128
            }
        }
        impl TargetShape for $int {
            type Dim = Dim<[Ix; 1]>;
            #[inline]
            fn target_ndim(&self) -> usize {
                1
            }
            #[inline]
            fn target_size(&self, _: usize) -> i128 {
                self.widen()
            }
        }
    )*};
}
// A cast to i128 keeps every value; `From` is not there for `usize` and `isize`.
#[allow(clippy::cast_lossless, reason = "one macro for all integers, `usize` included")]
mod integers {
    use super::{Dim, Ix, Sealed, Size, TargetShape};
    integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
}

macro_rules! fixed {
    ($n:literal: $($T:ident $axis:tt)*) => {
        impl<T: Size> TargetShape for [T; $n] {
            type Dim = Dim<[Ix; $n]>;
            #[inline]
            fn target_ndim(&self) -> usize {
                $n
            }
            #[inline]
            fn target_size(&self, axis: usize) -> i128 {
                self[axis].widen()
            }
        }
        impl<$($T),*> Sealed for ($($T,)*) {}
        impl<$($T: Size),*> TargetShape for ($($T,)*) {
            type Dim = Dim<[Ix; $n]>;
            #[inline]
            fn target_ndim(&self) -> usize {
                $n
            }
            #[inline]
            fn target_size(&self, axis: usize) -> i128 {
                let sizes: [i128; $n] = [$(self.$axis.widen()),*];
                sizes[axis]
            }
        }
    };
}
fixed!(0:);
fixed!(1: A 0);
fixed!(2: A 0 B 1);
fixed!(3: A 0 B 1 C 2);
fixed!(4: A 0 B 1 C 2 D 3);
fixed!(5: A 0 B 1 C 2 D 3 E 4);
fixed!(6: A 0 B 1 C 2 D 3 E 4 F 5);

impl<T, const N: usize> Sealed for [T; N] {}
impl<T> Sealed for [T] {}
impl<T> Sealed for Vec<T> {}
impl<I: ?Sized> Sealed for Dim<I> {}
impl<T: Sealed + ?Sized> Sealed for &T {}

impl<T: Size> TargetShape for [T] {
    type Dim = IxDyn;
    #[inline]
    fn target_ndim(&self) -> usize {
        self.len()
    }
    #[inline]
    fn target_size(&self, axis: usize) -> i128 {
        self[axis].widen()
    }
}

impl<T: Size> TargetShape for Vec<T> {
    type Dim = IxDyn;
    #[inline]
    fn target_ndim(&self) -> usize {
        self.len()
    }
    #[inline]
    fn target_size(&self, axis: usize) -> i128 {
        self[axis].widen()
    }
}

impl<I: ?Sized> TargetShape for Dim<I>
where
    Dim<I>: Dimension,
{
    type Dim = Dim<I>;
    #[inline]
    fn target_ndim(&self) -> usize {
        self.ndim()
    }
    #[inline]
    fn target_size(&self, axis: usize) -> i128 {
        self[axis].widen()
    }
}

impl<T: TargetShape + ?Sized> TargetShape for &T {
    type Dim = T::Dim;
    #[inline]
    fn target_ndim(&self) -> usize {
        T::target_ndim(self)
    }
    #[inline]
    fn target_size(&self, axis: usize) -> i128 {
        T::target_size(self, axis)
    }
}

/// Whether -1 in a target keeps the array's size or is no size.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Keeps,
    Refused,
}

/// What `target` comes to for an array of shape `shape`: the shape of the broadcast array.
///
/// A -1 keeps the size of the array's axis at that place, shapes aligned at the right, as often as
/// wanted. Every other axis of the array has the target's size or is 1.
///
/// # Shapes
/// `[3, 1]` to `[-1, 4]` gives `[3, 4]`; `[2, 3]` to `[5, -1, -1]` gives `[5, 2, 3]`.
///
/// # Errors
/// In this order:
/// [`InvalidSize`](BroadcastError::InvalidSize) for a size below -1;
/// [`TooFewAxes`](BroadcastError::TooFewAxes) where the target has fewer axes than the shape;
/// [`PlaceholderOnNewAxis`](BroadcastError::PlaceholderOnNewAxis) for a -1 where the shape has no axis;
/// [`Incompatible`](BroadcastError::Incompatible) where an axis has another size than the target and is not 1;
/// [`Overflow`](BroadcastError::Overflow) where the non-zero sizes multiply past `isize::MAX`.
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
/// checks is ours. `numpy.broadcast_to` is the same without -1.
pub fn resolve_target(shape: &[usize], target: &[isize]) -> Result<Vec<usize>, BroadcastError> {
    resolve::<_, IxDyn>(shape, &target, Placeholder::Keeps).map(|resolved| sizes(&resolved).to_vec())
}

/// [`resolve_target`] of any kind of target, to a dimension type that can hold its number of axes
/// wherever that is not less than the shape's.
#[inline]
pub(crate) fn resolve<T: TargetShape, E: Dimension>(
    shape: &[usize],
    target: &T,
    placeholder: Placeholder,
) -> Result<E, BroadcastError> {
    let request = || {
        let (shape, target) = (shape.to_vec(), given(target));
        Box::new(match placeholder {
            Placeholder::Keeps => Request::ToTarget { shape, target },
            Placeholder::Refused => Request::ToShape { shape, target },
        })
    };
    let ndim = target.target_ndim();
    let keeps = |size| size == -1 && placeholder == Placeholder::Keeps;
    for axis in 0..ndim {
        let size = target.target_size(axis);
        if !is_size(size) && !keeps(size) {
            return Err(BroadcastError::InvalidSize { request: request(), axis, size });
        }
    }
    let Some(new) = ndim.checked_sub(shape.len()) else {
        return Err(BroadcastError::TooFewAxes { request: request(), expected: shape.len(), found: ndim });
    };
    let mut resolved = E::zeros(ndim);
    for axis in 0..new {
        let size = target.target_size(axis);
        if size == -1 {
            return Err(BroadcastError::PlaceholderOnNewAxis {
                shape: shape.to_vec(),
                target: given(target),
                axis,
            });
        }
        resolved[axis] = cast(size);
    }
    for (axis, &own) in shape.iter().enumerate() {
        let size = target.target_size(new + axis);
        resolved[new + axis] = if size == -1 { own } else { cast(size) };
        if joint_size(own, resolved[new + axis]) != Some(resolved[new + axis]) {
            let sizes = [own, resolved[new + axis]];
            return Err(BroadcastError::Incompatible {
                request: request(),
                axis: new + axis,
                sizes,
                operands: [0, 1],
            });
        }
    }
    fits(resolved, request)
}

/// The sizes of a target in which nothing but sizes may stand.
#[inline]
pub(crate) fn plain<T: TargetShape>(
    target: &T,
    request: impl Fn() -> Box<Request>,
) -> Result<T::Dim, BroadcastError> {
    let ndim = target.target_ndim();
    let mut plain = T::Dim::zeros(ndim);
    for axis in 0..ndim {
        let size = target.target_size(axis);
        if !is_size(size) {
            return Err(BroadcastError::InvalidSize { request: request(), axis, size });
        }
        plain[axis] = cast(size);
    }
    Ok(plain)
}

/// `shape`, if its size is no overflow.
#[inline]
pub(crate) fn fits<E: Dimension>(shape: E, request: impl Fn() -> Box<Request>) -> Result<E, BroadcastError> {
    match checked_len(sizes(&shape)) {
        Some(_) => Ok(shape),
        None => Err(BroadcastError::Overflow { request: request(), shape: sizes(&shape).to_vec() }),
    }
}

/// A target as it was given, for messages.
pub(crate) fn given<T: TargetShape>(target: &T) -> Vec<i128> {
    (0..target.target_ndim()).map(|axis| target.target_size(axis)).collect()
}

#[inline]
fn is_size(size: i128) -> bool {
    isize::try_from(size).is_ok_and(|size| size >= 0)
}

/// A size that was seen to be one.
#[inline]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by `is_size`")]
fn cast(size: i128) -> usize {
    size as usize
}
