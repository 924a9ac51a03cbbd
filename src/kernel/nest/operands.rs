//! The arrays of a nest: the output, and the inputs.

use super::arrange::RawOutput;
use super::{ElementInfo, Elements, OPERANDS};
use crate::kernel::ensure;
use crate::kernel::memory::{List, Slot};
use crate::kernel::order::AxisOrder;
use alloc::vec::Vec;
use core::array::from_fn;
use core::iter::zip;
use core::marker::PhantomData;
use core::mem::replace;
use core::ops::Deref;
use core::slice;
use ndarray::{ArrayRef, Dimension};

/// The sizes and strides of an array's axes. Strides count elements.
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

/// The number of elements, if it is not zero and they are in standard layout.
#[inline]
pub(crate) fn standard_len(axes: StridedAxes<'_>) -> Option<usize> {
    let mut len = 1_usize;
    for (&size, &stride) in zip(axes.sizes, axes.strides).rev() {
        if size == 0 || size > 1 && stride != len.cast_signed() {
            return None;
        }
        len = len.saturating_mul(size);
    }
    Some(len)
}

/// The strides of a shape in standard layout.
pub(crate) fn standard_strides(shape: &[usize]) -> List<isize, 8> {
    let (mut strides, mut len) = (List::filled(shape.len(), 0), 1_usize);
    for (stride, &size) in zip(&mut *strides, shape).rev() {
        *stride = len.cast_signed();
        len = len.saturating_mul(size);
    }
    strides
}

/// A set of axes.
pub(crate) trait AxisSelection {
    /// Whether the axis is in the set.
    fn contains(&self, axis: usize) -> bool;
}

/// The axes of a shape that an output lacks; without a set, the leading ones.
pub(crate) type Dropped<'a> = Option<&'a dyn AxisSelection>;

/// An array to write to.
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
    pub(super) fn raw(self) -> RawOutput<'a> {
        RawOutput { at: self.at.cast(), size: size_of::<T>(), axes: self.axes }
    }
}

/// Arrays that are read together, without their types.
///
/// Not exported; public because [`Inputs`] lead to them.
#[derive(Clone, Copy)]
pub struct RawInputs<'a> {
    pub(super) at: [*const u8; OPERANDS - 1],
    pub(super) sizes: [&'a [usize]; OPERANDS - 1],
    pub(super) strides: [&'a [isize]; OPERANDS - 1],
    pub(super) info: &'static ElementInfo,
}

/// Arrays of elements `E` that are read together.
pub struct Inputs<'a, E> {
    pub(super) raw: RawInputs<'a>,
    pub(super) arrays: PhantomData<&'a E>,
}

impl<E> Clone for Inputs<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Inputs<'_, E> {}

impl<'a, E> Deref for Inputs<'a, E> {
    type Target = RawInputs<'a>;

    #[inline(always)]
    fn deref(&self) -> &RawInputs<'a> {
        &self.raw
    }
}

macro_rules! inputs {
    ($count:literal: $($A:ident $D:ident $a:ident $k:literal),+) => {
        impl<'a, $($A, $D: Dimension),+> From<($(&'a ArrayRef<$A, $D>,)+)> for Inputs<'a, ($($A,)+)> {
            #[inline(always)]
            fn from(($($a,)+): ($(&'a ArrayRef<$A, $D>,)+)) -> Self {
                let (mut at, mut sizes, mut strides) =
                    ([core::ptr::null(); OPERANDS - 1], [&[][..]; OPERANDS - 1], [&[][..]; OPERANDS - 1]);
                $((at[$k], sizes[$k], strides[$k]) = ($a.as_ptr().cast(), $a.shape(), $a.strides());)+
                let info = const { &<($($A,)+) as Elements>::INFO };
                Self { raw: RawInputs { at, sizes, strides, info }, arrays: PhantomData }
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

impl<'a> RawInputs<'a> {
    /// The shapes of the arrays.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> &[&'a [usize]] {
        &self.sizes[..self.info.count]
    }

    /// The number of elements of array `k`, if it is not zero and they are in standard layout.
    #[inline]
    pub(super) fn standard_len(&self, k: usize) -> Option<usize> {
        standard_len(StridedAxes { sizes: self.sizes[k], strides: self.strides[k] })
    }

    /// Whether every array has this shape, which has elements, and is in standard layout.
    #[inline]
    pub(super) fn are_standard(&self, shape: &[usize]) -> bool {
        self.shapes().iter().all(|own| own.len() == shape.len() && zip(*own, shape).all(|(a, b)| a == b))
            && (0..self.info.count).all(|k| self.standard_len(k).is_some())
    }

    /// Whether the last axis of every array has stride 0.
    pub(crate) fn are_repeated(&self) -> bool {
        (0..self.info.count).all(|k| self.strides[k].last() == Some(&0))
    }

    /// The pointers of an output and of the inputs.
    #[inline(always)]
    pub(super) fn pointers(&self, out: *mut u8) -> [*mut u8; OPERANDS] {
        let mut at = [out; OPERANDS];
        for (at, input) in zip(&mut at[1..], &self.at) {
            *at = input.cast_mut();
        }
        at
    }

    /// Writes the bytes that each input moves at a step along an axis of the shape, if it moves. Not inlined: LLVM would unroll
    /// the loop, and keep values of all possible inputs while it visits the axes.
    ///
    /// # Panics
    /// If an input does not fit the shape.
    #[inline(never)]
    pub(super) fn add_strides(&self, shape: &[usize], axis: usize, to: &mut [isize; OPERANDS]) {
        let len = shape[axis];
        for k in 0..self.info.count {
            let own = self.sizes[k];
            let Some(i) = (axis + own.len()).checked_sub(shape.len()) else { continue };
            ensure(own[i] == len || own[i] == 1, "an axis of an input does not fit the shape");
            if own[i] == len && len > 1 {
                to[k + 1] = self.strides[k][i].wrapping_mul(self.info.sizes[k + 1].cast_signed());
            }
        }
    }

    /// The stride of input `k`, aligned at the right, along an axis of `shape`, without its sign.
    fn distance(&self, k: usize, shape: &[usize], axis: usize) -> usize {
        let own = self.sizes[k];
        match (axis + own.len()).checked_sub(shape.len()) {
            Some(i) if own[i] == shape[axis] => self.strides[k][i].unsigned_abs(),
            _ => 0,
        }
    }

    /// The arrays with their axes, aligned at the right to those of `shape`, permuted: axis `order[i]` becomes axis `i`. Writes
    /// the sizes and strides to `axes`.
    ///
    /// # Panics
    /// If an axis is named twice.
    pub(crate) fn in_order<'x>(
        &self,
        shape: &[usize],
        order: &[usize],
        axes: &'x mut OrderedAxes,
    ) -> RawInputs<'x>
    where
        'a: 'x,
    {
        let mut is_named = List::<bool, 8>::filled(shape.len(), false);
        for &axis in order {
            ensure(!replace(&mut is_named[axis], true), "an axis is named twice");
        }
        for k in 0..self.info.count {
            let own = |axis: &usize| (axis + self.sizes[k].len()).checked_sub(shape.len());
            axes.0[k] = order.iter().map(|axis| own(axis).map_or(1, |i| self.sizes[k][i])).collect();
            axes.1[k] = order.iter().map(|axis| own(axis).map_or(0, |i| self.strides[k][i])).collect();
        }
        let OrderedAxes(sizes, strides) = &*axes;
        RawInputs { sizes: from_fn(|k| &sizes[k][..]), strides: from_fn(|k| &strides[k][..]), ..*self }
    }
}

/// The sizes and the strides of arrays with permuted axes.
#[derive(Default)]
pub(crate) struct OrderedAxes([Vec<usize>; OPERANDS - 1], [Vec<isize>; OPERANDS - 1]);

impl AxisOrder for RawInputs<'_> {
    /// Whether `former` has the smaller stride in all arrays that move along both axes.
    fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool> {
        let mut inside = None;
        for k in 0..self.info.count {
            let (former, latter) = (self.distance(k, shape, former), self.distance(k, shape, latter));
            if former != 0 && latter != 0 {
                inside = Some(inside != Some(false) && former < latter);
            }
        }
        inside
    }
}

impl<'a, A> Inputs<'a, (A,)> {
    /// Elements in the order of a shape with `strides` of the standard layout.
    ///
    /// # Panics
    /// If their number is not that of the shape.
    pub(crate) fn standard(elements: &'a [A], sizes: &'a [usize], strides: &'a [isize]) -> Self {
        ensure(elements.len() == sizes.iter().product(), "not one element for each index");
        let (at, info) = ([elements.as_ptr().cast(); OPERANDS - 1], const { &<(A,)>::INFO });
        let (sizes, strides) = ([sizes; OPERANDS - 1], [strides; OPERANDS - 1]);
        Self { raw: RawInputs { at, sizes, strides, info }, arrays: PhantomData }
    }
}

impl<'a, A, B> Inputs<'a, (A, B)> {
    /// The elements of each array, if it is in standard layout and has some.
    #[inline]
    pub(crate) fn as_slices(&self) -> (Option<&'a [A]>, Option<&'a [B]>) {
        let [first, second] = [self.standard_len(0), self.standard_len(1)];
        let (a, b) = (self.at[0].cast(), self.at[1].cast());
        // SAFETY: The elements are contiguous, as was just checked. Inputs are made of arrays of these types, which they borrow
        // for `'a`.
        unsafe {
            (first.map(|len| slice::from_raw_parts(a, len)), second.map(|len| slice::from_raw_parts(b, len)))
        }
    }
}

impl<'a, A> Output<'a, Slot<'_, A>> {
    /// The slots of an array that is not initialised.
    ///
    /// # Safety
    /// There is memory at every index, borrowed exclusively for `'a`. `'s` is fresh: no other slots have it.
    #[inline(always)]
    pub(crate) unsafe fn slots(at: *mut A, sizes: &'a [usize], strides: &'a [isize]) -> Self {
        Self { at: at.cast(), axes: StridedAxes { sizes, strides }, array: PhantomData }
    }
}
