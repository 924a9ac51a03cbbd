//! The arrays that a nest is made of: the one that is written, and those that are read.

#![forbid(unsafe_code)]

use super::{Elements, OPERANDS};
use crate::kernel::order::AxisOrder;
use core::iter::zip;
use core::marker::PhantomData;
use ndarray::{ArrayRef, Dimension};

/// The sizes and the strides of an array's axes. Strides count elements.
#[derive(Clone, Copy)]
pub(crate) struct StridedAxes<'a> {
    pub(super) sizes: &'a [usize],
    pub(super) strides: &'a [isize],
}

impl StridedAxes<'_> {
    /// The leading axes, and the last `count`.
    pub(super) fn split(self, count: usize) -> (Self, Self) {
        let (sizes, strides) = (
            self.sizes.split_at(self.sizes.len() - count),
            self.strides.split_at(self.strides.len() - count),
        );
        (Self { sizes: sizes.0, strides: strides.0 }, Self { sizes: sizes.1, strides: strides.1 })
    }
}

/// A set of axes.
pub(crate) trait AxisSelection {
    /// Whether the axis is in the set.
    fn contains(&self, axis: usize) -> bool;
}

/// The axes that an output does not have; without a set, the leading ones.
pub(crate) type Dropped<'a> = Option<&'a dyn AxisSelection>;

/// An array that is written.
pub(crate) struct Output<'a, T> {
    pub(super) at: *mut T,
    pub(super) axes: StridedAxes<'a>,
    pub(super) array: PhantomData<&'a mut T>,
}

impl<'a, T> Output<'a, T> {
    #[inline(always)]
    pub(crate) fn of<D: Dimension>(array: &'a mut ArrayRef<T, D>) -> Self {
        let at = array.as_mut_ptr();
        Self { at, axes: StridedAxes { sizes: array.shape(), strides: array.strides() }, array: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &'a [usize] {
        self.axes.sizes
    }
}

impl Output<'_, ()> {
    /// No output, along no axis.
    pub(crate) fn none() -> Self {
        Self {
            at: core::ptr::NonNull::dangling().as_ptr(),
            axes: StridedAxes { sizes: &[], strides: &[] },
            array: PhantomData,
        }
    }
}

/// Arrays that are read together.
pub struct Inputs<'a, E: Elements> {
    pub(super) at: [*const u8; OPERANDS - 1],
    pub(super) sizes: [&'a [usize]; OPERANDS - 1],
    pub(super) strides: [&'a [isize]; OPERANDS - 1],
    pub(super) arrays: PhantomData<&'a E>,
}

impl<E: Elements> Clone for Inputs<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Elements> Copy for Inputs<'_, E> {}

macro_rules! inputs {
    ($count:literal: $($A:ident $D:ident $a:ident $k:literal),+) => {
        impl<'a, $($A, $D: Dimension),+> From<($(&'a ArrayRef<$A, $D>,)+)> for Inputs<'a, ($($A,)+)> {
            #[inline(always)]
            fn from(($($a,)+): ($(&'a ArrayRef<$A, $D>,)+)) -> Self {
                let (mut at, mut sizes, mut strides) =
                    ([core::ptr::null(); OPERANDS - 1], [&[][..]; OPERANDS - 1], [&[][..]; OPERANDS - 1]);
                $((at[$k], sizes[$k], strides[$k]) = ($a.as_ptr().cast(), $a.shape(), $a.strides());)+
                Self { at, sizes, strides, arrays: PhantomData }
            }
        }
    };
}
inputs!(1: A DA a 0);
inputs!(2: A DA a 0, B DB b 1);
inputs!(3: A DA a 0, B DB b 1, C DC c 2);
inputs!(4: A DA a 0, B DB b 1, C DC c 2, D DD d 3);
inputs!(5: A DA a 0, B DB b 1, C DC c 2, D DD d 3, E DE e 4);
inputs!(6: A DA a 0, B DB b 1, C DC c 2, D DD d 3, E DE e 4, F DF f 5);

impl<'a, E: Elements> Inputs<'a, E> {
    /// The shapes of the arrays.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> &[&'a [usize]] {
        &self.sizes[..E::COUNT]
    }

    /// The number of elements of array `k`, if it is in standard layout and has some.
    #[inline]
    pub(super) fn standard_len(&self, k: usize) -> Option<usize> {
        let mut len = 1_usize;
        for (&size, &stride) in zip(self.sizes[k], self.strides[k]).rev() {
            if size == 0 || size > 1 && stride != len.cast_signed() {
                return None;
            }
            len = len.saturating_mul(size);
        }
        Some(len)
    }

    /// Whether every array is in standard layout and has elements.
    #[inline]
    pub(crate) fn are_standard(&self) -> bool {
        (0..E::COUNT).all(|k| self.standard_len(k).is_some())
    }

    /// The distance of two elements of input `k` along an axis of `shape`, to which its axes are aligned at the right.
    fn distance(&self, k: usize, shape: &[usize], axis: usize) -> usize {
        let own = self.sizes[k];
        match (axis + own.len()).checked_sub(shape.len()) {
            Some(i) if own[i] == shape[axis] => self.strides[k][i].unsigned_abs(),
            _ => 0,
        }
    }
}

impl<E: Elements> AxisOrder for Inputs<'_, E> {
    /// Whether `former` is inside for all arrays that move along both.
    fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool> {
        let mut inside = None;
        for k in 0..E::COUNT {
            let (former, latter) = (self.distance(k, shape, former), self.distance(k, shape, latter));
            if former != 0 && latter != 0 {
                inside = Some(inside != Some(false) && former < latter);
            }
        }
        inside
    }
}
