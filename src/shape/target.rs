//! Target shapes: sizes as a user writes them.

use super::{AxisIndex, axis_numbers, sizes, sizes_mut};
use crate::error::{ErrorBuilder, NewBuilder, Result};
use crate::sealed::Sealed;
use alloc::{vec, vec::Vec};
use core::array;
use ndarray::{ArrayBase, ArrayRef, Data, Dim, Dimension, Ix, IxDyn};

/// An integer type for sizes, of 8 to 64 bits. Sealed.
///
/// # Examples
/// ```
/// use ndarray::{array, Array1, ArrayView2};
/// use ndarray_broadcast::{bounds::Size, prelude::*, BroadcastError};
///
/// fn square<N: Size>(a: &Array1<f64>, n: N) -> Result<ArrayView2<'_, f64>, BroadcastError> {
///     a.broadcast_to([n, n])
/// }
/// let a = array![1.0, 2.0];
/// assert_eq!(square(&a, 2_u8)?, square(&a, 2_i64)?);
/// assert!(square(&a, -1).is_err()); // the array has no first axis whose size -1 could keep
/// # Ok::<(), BroadcastError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "sizes cannot be written as `{Self}`",
    label = "not a size",
    note = "sizes are integers of 8 to 64 bits, signed where -1 should stand for the array's own size"
)]
pub trait Size: AxisIndex {
    /// Whether the integers are unsigned, so that none can be -1.
    #[doc(hidden)]
    const PLAIN: bool;

    /// The integers as a slice of `usize`, if they are of that type.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    fn as_usizes(_: &[Self]) -> Option<&[usize]> {
        None
    }
}

/// The integer as the bits of an `isize`. One that does not fit becomes `isize::MIN`, which is never a size.
#[inline]
fn size_bits<T: Size>(size: T) -> usize {
    isize::try_from(size.number()).unwrap_or(isize::MIN).cast_unsigned()
}

/// A target shape: sizes, or -1 where the operation lets an axis keep its size.
///
/// Implemented for Rust arrays `[n; k]` and tuples of up to 6 integers of any type of 8 to 64 bits
/// (a tuple may mix them), single integers, slices and `Vec`s of them, every ndarray dimension
/// (`a.raw_dim()`), and references to all these. A reference to an ndarray array, `&a`, is the target of the shape of
/// `a`, whose elements are not read. Arrays, tuples and `Ix1` to `Ix6` give results with
/// a fixed number of axes; slices, `Vec`s and `IxDyn` give dynamic ones; `&a` has the dimension type of `a`. Sealed.
///
/// # Examples
/// ```
/// use ndarray::{Array1, Array2, ArrayView2, ArrayViewD};
/// use ndarray_broadcast::prelude::*;
///
/// let (a, rows) = (Array1::<f64>::zeros(3), 2_u64);
/// let fixed: ArrayView2<f64> = a.broadcast_to((rows, -1))?;
/// let dynamic: ArrayViewD<f64> = a.broadcast_to(vec![2, -1])?;
/// assert_eq!(fixed.shape(), dynamic.shape());
/// assert_eq!(a.broadcast_to(&Array2::<u8>::zeros((2, 3)))?, fixed);
/// assert!(a.broadcast_to((rows, 4)).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
/// For arrays with any number of axes:
/// ```
/// use ndarray::{array, Array, ArrayD, Dimension};
/// use ndarray_broadcast::{prelude::*, BroadcastError};
///
/// fn sum_like<D, E>(delta: &Array<f64, D>, x: &Array<f64, E>) -> Result<Array<f64, E>, BroadcastError>
/// where
///     D: Dimension,
///     E: Dimension,
/// {
///     delta.sum_to(x)
/// }
/// let (delta, x) = (array![[1.0, 2.0], [3.0, 4.0]], array![0.0, 0.0]);
/// assert_eq!(sum_like(&delta, &x)?, array![4.0, 6.0]);
/// assert_eq!(sum_like(&delta, &x.into_dyn())?, array![4.0, 6.0].into_dyn());
/// assert!(sum_like(&delta, &ArrayD::zeros(vec![3])).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
/// There, a dimension `x.raw_dim()` needs the bound `E: TargetShape<Dim = E>`. Without it, this does not compile:
/// ```compile_fail,E0277
/// # use ndarray::{Array, Dimension};
/// # use ndarray_broadcast::prelude::*;
/// fn sum_like<D: Dimension, E: Dimension>(delta: &Array<f64, D>, x: &Array<f64, E>) {
///     delta.sum_to(x.raw_dim()).unwrap();
/// }
/// ```
///
/// # Equivalents
/// The `shape` of NumPy and the `*size` of PyTorch's `expand`. `ndarray::IntoDimension` does the same without -1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a target shape",
    label = "expected a target shape",
    note = "a target is a Rust array such as `[2, 3]`, a tuple of up to 6 integers, a slice or `Vec` of integers, \
            an integer, or `&a` for the shape of an ndarray array `a`",
    note = "for more than 6 axes give a slice: `&[..][..]`",
    note = "all integers of a Rust array have one type: for `[n, -1]` with `n: usize` write `(n, -1)`",
    note = "in code that is generic over `D: Dimension`, `&a` is a target without a bound; `a.raw_dim()` needs \
            `D: TargetShape<Dim = D>`"
)]
pub trait TargetShape: Sealed {
    /// The dimension type of the result.
    type Dim: Dimension;

    /// Whether the sizes are unsigned, so that none can be -1. Those of a shape are.
    #[doc(hidden)]
    const PLAIN: bool = true;

    /// The sizes in the bits of a dimension. Read as `isize`, an invalid size is negative.
    #[doc(hidden)]
    fn target_dim(&self) -> Self::Dim;

    /// The sizes as the caller wrote them, for messages. Those of a shape are in its dimension.
    #[doc(hidden)]
    fn for_message(&self) -> Vec<i128> {
        sizes(&self.target_dim()).for_message()
    }
}

/// Targets that are others in another form. By hand: `impl TargetShape for i32`, which calls the methods of `[i32; 1]`.
macro_rules! forward {
    ($($T:ty, $Other:ty, $other:expr $(, [$($Generic:tt)*])?;)*) => {$(
        impl$(<$($Generic)*>)? TargetShape for $T {
            type Dim = <$Other as TargetShape>::Dim;
            const PLAIN: bool = <$Other as TargetShape>::PLAIN;
            #[inline]
            fn target_dim(&self) -> Self::Dim {
                <$Other>::target_dim($other(self))
            }
            fn for_message(&self) -> Vec<i128> {
                <$Other>::for_message($other(self))
            }
        }
    )*};
}
/// By hand: `impl Size for i32 { const PLAIN: bool = false; }`, and `i32` as an axis and as a target.
macro_rules! integers {
    ($($int:ty $({ $usize_only:item })?)*) => {$(
        impl Sealed for $int {}
        impl AxisIndex for $int {
            // It keeps every value; `i128` has no `From<usize>` and `From<isize>`.
            #[allow(clippy::cast_lossless, reason = "one macro for all integers")]
            #[inline]
            fn number(self) -> i128 {
                self as i128
            }
        }
        impl Size for $int {
            const PLAIN: bool = <$int>::MIN == 0;
            $($usize_only)?
        }
        forward!($int, [$int; 1], array::from_ref;);
    )*};
}
integers!(i8 i16 i32 i64 isize u8 u16 u32 u64
usize {
    #[inline]
    fn as_usizes(sizes: &[usize]) -> Option<&[usize]> { Some(sizes) }
});

/// By hand: `impl<T: Size> TargetShape for [T; 2]`, and `impl<A: Size, B: Size> TargetShape for (A, B)`.
macro_rules! fixed {
    ($n:literal: $($T:ident $axis:tt)*) => {
        impl<T: Size> TargetShape for [T; $n] {
            type Dim = Dim<[Ix; $n]>;
            const PLAIN: bool = T::PLAIN;
            #[inline]
            fn target_dim(&self) -> Self::Dim {
                Dim([$(size_bits(self[$axis])),*])
            }
            fn for_message(&self) -> Vec<i128> {
                self.as_slice().for_message()
            }
        }
        impl<$($T),*> Sealed for ($($T,)*) {}
        impl<$($T: Size),*> TargetShape for ($($T,)*) {
            type Dim = Dim<[Ix; $n]>;
            const PLAIN: bool = true $(&& $T::PLAIN)*;
            #[inline]
            fn target_dim(&self) -> Self::Dim {
                Dim([$(size_bits(self.$axis)),*])
            }
            fn for_message(&self) -> Vec<i128> {
                vec![$(self.$axis.number()),*]
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

impl<T: Size> TargetShape for [T] {
    type Dim = IxDyn;
    const PLAIN: bool = T::PLAIN;
    #[inline]
    fn target_dim(&self) -> IxDyn {
        if let Some(sizes) = T::as_usizes(self) {
            return IxDyn(sizes);
        }
        let mut dim = IxDyn::zeros(self.len());
        for (bits, &size) in sizes_mut(&mut dim).iter_mut().zip(self) {
            *bits = size_bits(size);
        }
        dim
    }
    fn for_message(&self) -> Vec<i128> {
        axis_numbers(&self)
    }
}

impl<I: ?Sized> TargetShape for Dim<I>
where
    Dim<I>: Dimension,
{
    type Dim = Dim<I>;
    #[inline]
    fn target_dim(&self) -> Self::Dim {
        self.clone()
    }
}

/// The shape of an array as a target, in code that is generic over `E: Dimension` too.
impl<S: Data, E: Dimension> TargetShape for &ArrayBase<S, E> {
    type Dim = E;
    #[inline]
    fn target_dim(&self) -> E {
        self.raw_dim()
    }
}

impl<A, E: Dimension> TargetShape for &ArrayRef<A, E> {
    type Dim = E;
    #[inline]
    fn target_dim(&self) -> E {
        self.raw_dim()
    }
}

forward! {
    &T, T, |target: &Self| *target, [T: TargetShape + ?Sized];
    Vec<T>, [T], Vec::as_slice, [T: Size];
}

impl<T, const N: usize> Sealed for [T; N] {}
impl<T> Sealed for [T] {}
impl<T> Sealed for Vec<T> {}
impl<I: ?Sized> Sealed for Dim<I> {}
impl<T: Sealed + ?Sized> Sealed for &T {}

/// The meaning of -1 in a target: it keeps the array's size, or is an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Keeps,
    Refused,
}

/// Checks that each number is a size, or -1 where that keeps one.
///
/// # Errors
/// `InvalidSize`.
#[cold]
pub(crate) fn check_target(target: &[i128], placeholder: Placeholder, builder: NewBuilder<'_>) -> Result<()> {
    let keeps = placeholder == Placeholder::Keeps;
    for (axis, &size) in target.iter().enumerate() {
        if isize::try_from(size).is_err() || size < if keeps { -1 } else { 0 } {
            return Err(builder().invalid_size(axis, size, keeps));
        }
    }
    Ok(())
}

/// The sizes of a target where -1 is not allowed.
///
/// # Errors
/// `InvalidSize`.
#[inline(always)]
pub(crate) fn sizes_only<T: TargetShape>(target: &T, builder: impl Fn() -> ErrorBuilder) -> Result<T::Dim> {
    let dim = target.target_dim();
    if sizes(&dim).iter().any(|size| size.cast_signed() < 0) {
        check_target(&target.for_message(), Placeholder::Refused, &builder)?;
    }
    Ok(dim)
}
