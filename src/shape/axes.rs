//! Axes by number: lists, where order and repetition matter, and sets, where they do not.
#![allow(private_interfaces, private_bounds, reason = "hidden methods take types of the crate")]

use crate::error::caller::{self, Caller};
use crate::error::{BroadcastError, Count, ErrorBuilder, Result, fail};
use crate::sealed::Sealed;
use alloc::{collections::BinaryHeap, vec, vec::Vec};
use core::fmt;
use core::ops::RangeFull;
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
    note = "axes are integers of 8 to 64 bits, negative ones counted from the end, or `ndarray::Axis`",
    note = "where the type of the axes is a parameter `X`, add the bound `X: ReducedAxes<D>` for a reduction of an array with \
            dimension type `D`, else `X: Axes`; both are in `ndarray_broadcast::bounds`"
)]
pub trait AxisIndex: Sealed + Copy {
    /// The number, negative if it counts from the end.
    #[doc(hidden)]
    fn number(self) -> i128;
}

impl Sealed for Axis {}
impl AxisIndex for Axis {
    #[inline]
    fn number(self) -> i128 {
        self.index() as i128
    }
}

impl<T: AxisIndex> AxisIndex for &T {
    #[inline]
    fn number(self) -> i128 {
        T::number(*self)
    }
}

/// The position among `ndim` axes of the axis with a number, or `ndim` or more if there is no such axis.
#[inline]
fn position(number: i128, ndim: usize) -> usize {
    usize::try_from(if number < 0 { number + ndim as i128 } else { number }).unwrap_or(usize::MAX)
}

/// Axes of an array, by number.
///
/// Implemented for a single integer or [`Axis`], arrays and tuples of up to 6, slices and `Vec`s of them, [`AxisSet`],
/// and references to all these. Integers are of any type of 8 to 64 bits; a negative one counts from the end,
/// so that -1 is the last axis. In anything but an `AxisSet` a repeated axis is an error, however it is
/// counted. No axes at all are `[]`, `()` or an empty `AxisSet`. Sealed.
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
/// assert_eq!(a.broadcast_axes((2, 3, 1), (0, -1))?, a.broadcast_axes((2, 3, 1), [0, 2])?);
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
    note = "axes are an integer or `ndarray::Axis`, an array or tuple of up to 6, a slice or a `Vec` of them, \
            or an `AxisSet`",
    note = "where the type of the axes is a parameter `X`, add the bound `X: ReducedAxes<D>` for a reduction of an array with \
            dimension type `D`, else `X: Axes`; both are in `ndarray_broadcast::bounds`"
)]
pub trait Axes: Sealed {
    /// The number of axes as a dimension type: `Dim<[usize; k]>`, or `IxDyn` if it is only known at
    /// run time.
    type Count: Dimension;

    /// The number of axes.
    #[doc(hidden)]
    fn axis_count(&self) -> usize;

    /// The `i`-th number, negative if it counts from the end.
    #[doc(hidden)]
    fn nth(&self, i: usize) -> i128;

    /// The position of the `i`-th axis among `ndim`, or `ndim` or more if there is no such axis.
    #[doc(hidden)]
    #[inline]
    fn axis(&self, i: usize, ndim: usize) -> usize {
        position(self.nth(i), ndim)
    }
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
    fn nth(&self, _: usize) -> i128 {
        self.number()
    }
}

/// One implementation for each number of axes: the compiler infers the element type of `[]`, because only one has no axes.
/// References are listed, because one implementation for all references would overlap with the one for single axes.
/// By hand: `impl<T: AxisIndex> Axes for [T; 2]`, and an equal impl for `&[T; 2]`.
macro_rules! lists {
    ($([$($T:ident)*] $Self:ty, $Count:ty, |$axes:ident, $i:ident| $count:expr, $nth:expr;)*) => {$(
        lists!(one [$($T)*] $Self, $Count, |$axes, $i| $count, $nth);
        lists!(one [$($T)*] &$Self, $Count, |$axes, $i| $count, $nth);
    )*};
    (one [$($T:ident)*] $Self:ty, $Count:ty, |$axes:ident, $i:ident| $count:expr, $nth:expr) => {
        #[allow(unused_variables, reason = "the number of axes of a tuple is in its type")]
        impl<$($T: AxisIndex),*> Axes for $Self {
            type Count = $Count;
            #[inline]
            fn axis_count(&self) -> usize {
                let $axes = self;
                $count
            }
            #[inline]
            fn nth(&self, $i: usize) -> i128 {
                let $axes = self;
                $nth
            }
        }
    };
}
/// Lists that are indexed.
macro_rules! slices {
    ($([$($T:ident)?] $Self:ty, $Count:ty;)*) => {
        lists! { $([$($T)?] $Self, $Count, |axes, i| axes.len(), axes[i].number();)* }
    };
}
/// Lists whose elements are of several types.
macro_rules! tuples {
    ($($n:literal: $($T:ident $axis:tt)*;)*) => {
        lists! {$(
            [$($T)*] ($($T,)*), Dim<[Ix; $n]>, |axes, i| $n, {
                let numbers: [i128; $n] = [$(axes.$axis.number()),*];
                numbers[i]
            };
        )*}
    };
}
slices! {
    [] [usize; 0], Dim<[Ix; 0]>;
    [T] [T; 1], Dim<[Ix; 1]>;
    [T] [T; 2], Dim<[Ix; 2]>;
    [T] [T; 3], Dim<[Ix; 3]>;
    [T] [T; 4], Dim<[Ix; 4]>;
    [T] [T; 5], Dim<[Ix; 5]>;
    [T] [T; 6], Dim<[Ix; 6]>;
    [T] &[T], IxDyn;
    [T] Vec<T>, IxDyn;
}
tuples! {
    0: ;
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 D 3;
    5: A 0 B 1 C 2 D 3 E 4;
    6: A 0 B 1 C 2 D 3 E 4 F 5;
}
lists! {
    [] AxisSet, IxDyn, |axes, i| axes.sorted.len(), axes.sorted[i].number();
    [] Numbers<'_>, IxDyn, |axes, i| axes.0.len(), axes.0[i];
}
impl Sealed for AxisSet {}
impl Sealed for Numbers<'_> {}

/// The numbers of axes as [`axis_numbers`] returns them.
pub(crate) struct Numbers<'n>(pub(crate) &'n [i128]);

/// [`Axes`], or `..` for all axes of any array: the argument of [`keepdims`](crate::keepdims()). Sealed.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{bounds::AxesOrAll, keepdims, prelude::*, BroadcastError};
///
/// fn shares(a: &Array2<f64>, axes: impl AxesOrAll) -> Result<Array2<f64>, BroadcastError> {
///     Ok(a / &a.sum_axes(keepdims(axes))?)
/// }
/// let a = array![[1.0, 1.0], [2.0, 4.0]];
/// assert_eq!(shares(&a, ..)?, array![[0.125, 0.125], [0.25, 0.5]]);
/// assert_eq!(shares(&a, ..)?, shares(&a, [0, 1])?);
/// assert!(shares(&a, 2).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
///
/// # Equivalents
/// `axis=None` in NumPy; PyTorch's reductions without `dim`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes",
    label = "expected axes",
    note = "axes are an integer or `ndarray::Axis`, an array or tuple of up to 6, a slice or a `Vec` of them, \
            an `AxisSet`, or `..` for all axes"
)]
pub trait AxesOrAll: Sealed {
    /// The set of these axes of `ndim`.
    ///
    /// # Errors
    /// Those of [`AxisMask::new`].
    #[doc(hidden)]
    fn mask(&self, ndim: usize, builder: impl FnOnce() -> ErrorBuilder) -> Result<AxisMask>;

    /// The numbers for messages: the caller's, or those of all `ndim` axes.
    #[doc(hidden)]
    fn numbers(&self, ndim: usize) -> Vec<i128>;
}

#[diagnostic::do_not_recommend]
impl<X: Axes> AxesOrAll for X {
    #[inline(always)]
    fn mask(&self, ndim: usize, builder: impl FnOnce() -> ErrorBuilder) -> Result<AxisMask> {
        AxisMask::new(self, ndim, builder)
    }

    fn numbers(&self, _: usize) -> Vec<i128> {
        axis_numbers(self)
    }
}

impl Sealed for RangeFull {}
#[diagnostic::do_not_recommend]
impl AxesOrAll for RangeFull {
    #[inline(always)]
    fn mask(&self, ndim: usize, _: impl FnOnce() -> ErrorBuilder) -> Result<AxisMask> {
        Ok(AxisMask::all(ndim))
    }

    fn numbers(&self, ndim: usize) -> Vec<i128> {
        (0..ndim as i128).collect()
    }
}

/// The caller's numbers of the axes, for messages.
pub(crate) fn axis_numbers<X: Axes>(axes: &X) -> Vec<i128> {
    (0..axes.axis_count()).map(|i| axes.nth(i)).collect()
}

/// The smallest number that belongs to none of `ndim` axes.
fn smallest_missing(numbers: &[i128], ndim: usize) -> Option<i128> {
    numbers.iter().copied().filter(|&number| position(number, ndim) >= ndim).min()
}

/// A set of axes: sorted, each once.
///
/// # Examples
/// ```
/// use ndarray_broadcast::AxisSet;
///
/// let set: AxisSet = [2, 0, 2].into_iter().collect();
/// assert_eq!(set.as_slice(), [0, 2]);
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
    pub fn from_signed(axes: &[isize], ndim: usize) -> Result<Self> {
        let numbers = axis_numbers(&axes);
        if let Some(axis) = smallest_missing(&numbers, ndim) {
            let builder = ErrorBuilder::new::<&[usize]>(&caller::AXIS_SET, &[]).to(&numbers);
            return Err(builder.axis_out_of_bounds(axis, ndim));
        }
        Ok(numbers.into_iter().map(|number| position(number, ndim)).collect())
    }

    /// The axes in ascending order; see the example of the [type](Self).
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.sorted
    }
}

/// Takes positions only: -1 depends on the number of axes, see [`AxisSet::from_signed`].
impl FromIterator<usize> for AxisSet {
    fn from_iter<I: IntoIterator<Item = usize>>(axes: I) -> Self {
        // A heap compiles in a fraction of the time of `sort_unstable`.
        let mut sorted = axes.into_iter().collect::<BinaryHeap<_>>().into_sorted_vec();
        sorted.dedup();
        Self { sorted }
    }
}

impl<const N: usize> From<[usize; N]> for AxisSet {
    fn from(axes: [usize; N]) -> Self {
        axes.into_iter().collect()
    }
}

impl From<&[usize]> for AxisSet {
    fn from(axes: &[usize]) -> Self {
        axes.iter().copied().collect()
    }
}

/// Prints as the list of its axes: `[0, 2]`.
impl fmt::Display for AxisSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.sorted)
    }
}

/// The set of an array's named axes, as a mask. It allocates only for more than 64 axes.
pub(crate) struct AxisMask {
    ndim: usize,
    /// One bit for each of the first 64 axes.
    bits: u64,
    /// One flag for each further axis.
    flags: Vec<bool>,
}

impl AxisMask {
    /// # Errors
    /// `AxisOutOfBounds` with the smallest axis that does not exist, then `DuplicateAxis` with the
    /// first repeated axis.
    #[inline(always)]
    pub(crate) fn new(axes: &impl Axes, ndim: usize, builder: impl FnOnce() -> ErrorBuilder) -> Result<Self> {
        let mut mask = Self { ndim, bits: 0, flags: vec![false; ndim.saturating_sub(64)] };
        for i in 0..axes.axis_count() {
            let named = axes.axis(i, ndim);
            if named >= ndim || mask.contains(named) {
                return Err(axes_error(&axis_numbers(axes), named, ndim, builder()));
            }
            match named.checked_sub(64) {
                Some(further) => mask.flags[further] = true,
                None => mask.bits |= 1 << named,
            }
        }
        Ok(mask)
    }

    /// All of `ndim` axes.
    #[inline(always)]
    pub(crate) fn all(ndim: usize) -> Self {
        Self { ndim, bits: u64::MAX, flags: vec![true; ndim.saturating_sub(64)] }
    }

    /// The axes that are named, in ascending order.
    #[inline(always)]
    pub(crate) fn named(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.ndim).filter(|&axis| self.contains(axis))
    }

    /// The axes that are not named, in ascending order.
    #[inline(always)]
    pub(crate) fn unnamed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.ndim).filter(|&axis| !self.contains(axis))
    }

    /// Whether an axis of the array is named.
    #[inline(always)]
    pub(crate) fn contains(&self, axis: usize) -> bool {
        axis.checked_sub(64).map_or_else(|| self.bits >> axis & 1 == 1, |further| self.flags[further])
    }
}

/// The error of axes. The first axis that does not exist or is repeated is at `wrong`.
fn axes_error(numbers: &[i128], wrong: usize, ndim: usize, builder: ErrorBuilder) -> BroadcastError {
    match smallest_missing(numbers, ndim) {
        Some(smallest) => builder.axis_out_of_bounds(smallest, ndim),
        None => builder.duplicate_axis(wrong as i128),
    }
}

/// The words before and after a wrong number of axes, and the words for the expected number.
pub(crate) type CountWords = [&'static str; 3];

pub(crate) const OF_TARGET: CountWords = ["the target has ", "", "those of the array and those named"];
pub(super) const OF_OUTPUT: CountWords = ["an output has ", "", "those of the first output"];
pub(crate) const FOR_ARRAY: CountWords = ["", " named", "one for each axis of the array"];
pub(crate) const FOR_TARGET: CountWords = ["", " named", "one for each axis of the target"];

/// # Errors
/// `AxisCount`.
#[inline(always)]
pub(crate) fn check_axis_count(
    expected: usize,
    found: usize,
    [before, after, each]: CountWords,
    builder: impl Fn() -> ErrorBuilder,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let found = Count(found);
    Err(fail!(builder(), AxisCount, "{before}{found}{after}, expected {expected}, {each}"))
}

/// The builder of an error about axes of an array of shape `shape`.
#[cold]
#[inline(never)]
pub(super) fn axes_builder<X: Axes>(caller: &'static Caller, shape: &[usize], axes: &X) -> ErrorBuilder {
    ErrorBuilder::new(caller, &[shape]).axes(axis_numbers(axes))
}
