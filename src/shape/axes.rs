//! Axes by number: lists, where order and repetition matter, and sets, where they do not.

use super::TargetShape;
use crate::error::{BroadcastError, Request, operation};
use crate::sealed::Sealed;
use alloc::{vec, vec::Vec};
use core::fmt;
use ndarray::{Axis, Dim, Dimension, Ix, IxDyn};

/// The number of one axis: an integer of 8 to 64 bits or [`Axis`]. Sealed.
///
/// A negative number counts from the end: -1 is the last axis.
///
/// # Examples
/// ```
/// use ndarray::{array, Array1, Array2, Axis};
/// use ndarray_broadcast::{bounds::AxisIndex, prelude::*, BroadcastError};
///
/// fn total<I: AxisIndex>(a: &Array2<f64>, axis: I) -> Result<Array1<f64>, BroadcastError> {
///     a.sum_axes([axis])
/// }
/// let a = array![[1.0, 2.0], [3.0, 4.0]];
/// assert_eq!(total(&a, Axis(1))?, total(&a, 1_u8)?);
/// assert_eq!(total(&a, -1)?, total(&a, 1)?);
/// assert!(total(&a, 2).is_err() && total(&a, -3).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "axes cannot be numbered with `{Self}`",
    label = "not the number of an axis",
    note = "axes are integers of 8 to 64 bits, negative ones counted from the end, or `ndarray::Axis`"
)]
pub trait AxisIndex: Sealed + Copy {
    /// The position of the axis among `ndim`, or `ndim` or more if there is no such axis.
    #[doc(hidden)]
    fn position(self, ndim: usize) -> usize;

    /// The number as it was given, for messages.
    #[doc(hidden)]
    fn number(self) -> i128;
}

impl Sealed for Axis {}
impl AxisIndex for Axis {
    #[inline]
    fn position(self, _: usize) -> usize {
        self.index()
    }
    fn number(self) -> i128 {
        self.index() as i128
    }
}

impl<T: AxisIndex> AxisIndex for &T {
    #[inline]
    fn position(self, ndim: usize) -> usize {
        T::position(*self, ndim)
    }
    fn number(self) -> i128 {
        T::number(*self)
    }
}

/// The position of an axis that may be counted from the end.
macro_rules! signed {
    ($($int:ty)*) => {$(
        impl AxisIndex for $int {
            #[inline]
            fn position(self, ndim: usize) -> usize {
                if self >= 0 {
                    return usize::try_from(self).unwrap_or(usize::MAX);
                }
                let from_end = usize::try_from(self.unsigned_abs()).ok();
                from_end.and_then(|from_end| ndim.checked_sub(from_end)).unwrap_or(usize::MAX)
            }
            fn number(self) -> i128 {
                self.to_i128()
            }
        }
    )*};
}
macro_rules! unsigned {
    ($($int:ty)*) => {$(
        impl AxisIndex for $int {
            #[inline]
            fn position(self, _: usize) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
            fn number(self) -> i128 {
                self.to_i128()
            }
        }
    )*};
}
#[allow(clippy::unnecessary_fallible_conversions, reason = "one macro for all integers")]
mod integers {
    use super::super::Size;
    use super::AxisIndex;
    signed!(i8 i16 i32 i64 isize);
    unsigned!(u8 u16 u32 u64 usize);
}

/// Axes of an array, by number.
///
/// Implemented for a single integer or [`Axis`], arrays of up to 6, slices and `Vec`s of them, [`AxisSet`], and
/// references to all these. Integers are of any type of 8 to 64 bits; a negative one counts from the end,
/// so that -1 is the last axis. In anything but an `AxisSet` a repeated axis is an error, however it is
/// counted. No axes at all are `[]` or an empty `AxisSet`. Sealed.
///
/// # Examples
/// ```
/// use ndarray::{array, Axis};
/// use ndarray_broadcast::{prelude::*, AxisSet};
///
/// let a = array![1, 2, 3];
/// let set = AxisSet::from_signed(&[-2], 2)?;
/// assert_eq!(a.broadcast_axes((2, 3), Axis(0))?, a.broadcast_axes((2, 3), &set)?);
/// assert_eq!(a.broadcast_axes((2, 3), -2)?, a.broadcast_axes((2, 3), 0)?);
/// assert_eq!(
///     a.broadcast_axes((2, 2, 3), [0, -3]).unwrap_err().to_string(),
///     "cannot broadcast shape [3] along axes [0, -3] to [2, 2, 3]: axis 0 is named more than once",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// The `axis` of NumPy and the `dim` of PyTorch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes",
    label = "expected axes",
    note = "axes are an integer or `ndarray::Axis`, an array of up to 6, a slice or a `Vec` of them, or an `AxisSet`"
)]
pub trait Axes: Sealed {
    /// The number of axes as a dimension type: `Dim<[usize; k]>`, or `IxDyn` if it is only known at
    /// run time.
    type Count: Dimension;

    /// The number of axes.
    #[doc(hidden)]
    fn axis_count(&self) -> usize;

    /// The position of the `i`-th axis among `ndim`, or `ndim` or more if there is no such axis.
    #[doc(hidden)]
    fn axis(&self, i: usize, ndim: usize) -> usize;

    /// The number of the `i`-th axis as it was given, for messages.
    #[doc(hidden)]
    fn axis_given(&self, i: usize) -> i128;
}

/// A single axis. One implementation serves all integers, so that the compiler knows the count of an integer literal
/// before it knows its type.
impl<T: AxisIndex> Axes for T {
    type Count = Dim<[Ix; 1]>;
    #[inline]
    fn axis_count(&self) -> usize {
        1
    }
    #[inline]
    fn axis(&self, _: usize, ndim: usize) -> usize {
        self.position(ndim)
    }
    fn axis_given(&self, _: usize) -> i128 {
        self.number()
    }
}

/// One implementation for each number of axes: the compiler infers the element type of `[]`, because only one has no axes.
/// References are listed, because one implementation for all references would overlap with the one for single axes.
macro_rules! lists {
    ($([$($T:ident)?] $Self:ty, $Count:ty;)*) => {$(
        impl$(<$T: AxisIndex>)? Axes for $Self {
            type Count = $Count;
            #[inline]
            fn axis_count(&self) -> usize {
                self.len()
            }
            #[inline]
            fn axis(&self, i: usize, ndim: usize) -> usize {
                self[i].position(ndim)
            }
            fn axis_given(&self, i: usize) -> i128 {
                self[i].number()
            }
        }
    )*};
}
lists! {
    [] [usize; 0], Dim<[Ix; 0]>;
    [] &[usize; 0], Dim<[Ix; 0]>;
    [T] [T; 1], Dim<[Ix; 1]>;
    [T] &[T; 1], Dim<[Ix; 1]>;
    [T] [T; 2], Dim<[Ix; 2]>;
    [T] &[T; 2], Dim<[Ix; 2]>;
    [T] [T; 3], Dim<[Ix; 3]>;
    [T] &[T; 3], Dim<[Ix; 3]>;
    [T] [T; 4], Dim<[Ix; 4]>;
    [T] &[T; 4], Dim<[Ix; 4]>;
    [T] [T; 5], Dim<[Ix; 5]>;
    [T] &[T; 5], Dim<[Ix; 5]>;
    [T] [T; 6], Dim<[Ix; 6]>;
    [T] &[T; 6], Dim<[Ix; 6]>;
    [T] &[T], IxDyn;
    [T] &&[T], IxDyn;
    [T] Vec<T>, IxDyn;
    [T] &Vec<T>, IxDyn;
}

impl Sealed for AxisSet {}
macro_rules! sets {
    ($($Self:ty)*) => {$(
        impl Axes for $Self {
            type Count = IxDyn;
            #[inline]
            fn axis_count(&self) -> usize {
                self.sorted.len()
            }
            #[inline]
            fn axis(&self, i: usize, _: usize) -> usize {
                self.sorted[i]
            }
            fn axis_given(&self, i: usize) -> i128 {
                self.sorted[i] as i128
            }
        }
    )*};
}
sets!(AxisSet & AxisSet);

/// The numbers of the axes as they were given.
pub(crate) fn positions<X: Axes>(axes: &X) -> Vec<i128> {
    (0..axes.axis_count()).map(|i| axes.axis_given(i)).collect()
}

/// A set of axes: sorted, each once.
///
/// # Examples
/// ```
/// use ndarray_broadcast::AxisSet;
///
/// let set: AxisSet = [2, 0, 2].into_iter().collect();
/// assert_eq!(set.as_slice(), [0, 2]);
/// assert!(set.contains(2) && !set.contains(1));
/// assert_eq!(set, AxisSet::from([0, 2]));
/// ```
///
/// # Equivalents
/// nGraph's `AxisSet`, XLA's sorted `dimensions`, NumPy's `axis=(0, 2)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AxisSet {
    sorted: Vec<usize>,
}

impl AxisSet {
    /// The set of `axes` of an array with `ndim` axes, negative ones counted from the end.
    ///
    /// # Errors
    /// [`AxisOutOfBounds`](crate::ErrorKind::AxisOutOfBounds) with the smallest axis that is not from
    /// `-ndim` to `ndim - 1`.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::AxisSet;
    ///
    /// assert_eq!(AxisSet::from_signed(&[-1, 0, 2], 3)?.as_slice(), [0, 2]);
    /// assert_eq!(
    ///     AxisSet::from_signed(&[-4], 3).unwrap_err().to_string(),
    ///     "cannot make an axis set of [-4]: axis -4 is out of bounds for 3 axes",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.lib.array_utils.normalize_axis_tuple`, which refuses repeated axes.
    pub fn from_signed(axes: &[isize], ndim: usize) -> Result<Self, BroadcastError> {
        let count = |axis: isize| {
            if axis < 0 { ndim.checked_sub(axis.unsigned_abs()) } else { Some(axis.unsigned_abs()) }
                .filter(|&position| position < ndim)
        };
        if let Some(&axis) = axes.iter().filter(|&&axis| count(axis).is_none()).min() {
            let request = Request::new::<&[usize]>(&operation::AXIS_SET, &[]).to(axes.for_message());
            return Err(request.axis_out_of_bounds(axis as i128, ndim));
        }
        Ok(axes.iter().filter_map(|&axis| count(axis)).collect())
    }

    /// The axes in ascending order; see the example of the [type](Self).
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.sorted
    }

    /// The number of axes.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::AxisSet;
    ///
    /// assert_eq!(AxisSet::from([2, 0, 2]).len(), 2);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether the set has no axes.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::AxisSet;
    ///
    /// assert!(AxisSet::default().is_empty() && !AxisSet::from([0]).is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Whether `axis` is in the set; see the example of the [type](Self).
    #[must_use]
    pub fn contains(&self, axis: usize) -> bool {
        self.sorted.binary_search(&axis).is_ok()
    }
}

/// Takes positions only: -1 depends on the number of axes, see [`AxisSet::from_signed`].
impl FromIterator<usize> for AxisSet {
    fn from_iter<I: IntoIterator<Item = usize>>(axes: I) -> Self {
        let mut sorted: Vec<usize> = axes.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self { sorted }
    }
}

impl FromIterator<Axis> for AxisSet {
    fn from_iter<I: IntoIterator<Item = Axis>>(axes: I) -> Self {
        axes.into_iter().map(|Axis(position)| position).collect()
    }
}

macro_rules! set_of {
    ($($T:ty)*) => {$(
        impl<const N: usize> From<[$T; N]> for AxisSet {
            fn from(axes: [$T; N]) -> Self {
                axes.into_iter().collect()
            }
        }

        impl From<&[$T]> for AxisSet {
            fn from(axes: &[$T]) -> Self {
                axes.iter().copied().collect()
            }
        }
    )*};
}
set_of!(usize Axis);

/// Prints as the list of its axes: `[0, 2]`.
impl fmt::Display for AxisSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.sorted)
    }
}

/// The set of an array's named axes, as a mask. It allocates only for more than 64 axes.
pub(crate) struct AxisMask {
    ndim: usize,
    /// One bit for each axis, for up to 64 axes.
    bits: u64,
    /// One flag for each axis, for more than 64.
    flags: Vec<bool>,
}

impl AxisMask {
    /// # Errors
    /// `AxisOutOfBounds` with the smallest axis that does not exist, then `DuplicateAxis` with the
    /// first repeated axis.
    #[inline(always)]
    pub(crate) fn new<X: Axes>(
        axes: &X,
        ndim: usize,
        request: impl FnOnce() -> Request,
    ) -> Result<Self, BroadcastError> {
        match Self::distinct(axes, ndim) {
            Ok(mask) => Ok(mask),
            Err(wrong) => Err(axes_error(axes, wrong, ndim, request())),
        }
    }

    /// The mask, or an axis that does not exist or is repeated.
    #[inline(always)]
    fn distinct<X: Axes>(axes: &X, ndim: usize) -> Result<Self, usize> {
        let each = || (0..axes.axis_count()).map(|i| axes.axis(i, ndim));
        if let Some(axis) = each().find(|&axis| axis >= ndim) {
            return Err(axis);
        }
        let flags = if ndim > 64 { vec![false; ndim] } else { Vec::new() };
        let mut mask = Self { ndim, bits: 0, flags };
        for axis in each() {
            if mask.contains(axis) {
                return Err(axis);
            }
            if ndim > 64 {
                mask.flags[axis] = true;
            } else {
                mask.bits |= 1 << axis;
            }
        }
        Ok(mask)
    }

    #[inline(always)]
    pub(crate) fn contains(&self, axis: usize) -> bool {
        if self.ndim > 64 { self.flags[axis] } else { self.bits >> axis & 1 == 1 }
    }

    /// The axes that are not named, in ascending order.
    #[inline(always)]
    pub(crate) fn unnamed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.ndim).filter(|&axis| !self.contains(axis))
    }
}

/// The error of axes. The axis `wrong` does not exist or is repeated.
#[cold]
fn axes_error<X: Axes>(axes: &X, wrong: usize, ndim: usize, request: Request) -> BroadcastError {
    let missing = (0..axes.axis_count()).filter(|&i| axes.axis(i, ndim) >= ndim);
    match missing.map(|i| axes.axis_given(i)).min() {
        Some(first) => request.axis_out_of_bounds(first, ndim),
        None => request.duplicate_axis(wrong as i128),
    }
}
