//! Arrays as operands, with their types.

#![forbid(unsafe_code)]

use super::elements::Elements;
use super::loops::OPERANDS;
use super::operands::{RawInputs, RawOutput, StridedAxes};
use crate::kernel::ensure;
use core::marker::PhantomData;
use core::ops::Deref;
use ndarray::{ArrayRef, Dimension};

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
