//! The arrays that a nest is made of: the one that is written, and those that are read.

#![forbid(unsafe_code)]

use super::{Elements, Nest};
use crate::kernel::loop_plan::{LoopPlan, Outside};
use crate::kernel::loops::OPERANDS;
use crate::kernel::memory::{List, WriteOnly};
use crate::kernel::order::AxisOrder;
use crate::kernel::strided::{StridedAxes, is_inside_for_all, plan_aligned};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use ndarray::{ArrayRef, Dimension};

/// An array that is written.
pub(crate) struct Output<'a, T> {
    pub(super) at: *mut T,
    pub(super) axes: StridedAxes<'a>,
    array: PhantomData<&'a mut T>,
}

impl<'a, T> Output<'a, T> {
    #[inline(always)]
    pub(crate) fn of<D: Dimension>(array: &'a mut ArrayRef<T, D>) -> Self {
        let at = array.as_mut_ptr();
        Self { at, axes: StridedAxes::of(array), array: PhantomData }
    }

    /// The same array, whose former elements are forgotten when they are overwritten.
    #[inline(always)]
    pub(crate) fn overwriting(self) -> Output<'a, WriteOnly<T>> {
        Output { at: self.at.cast(), axes: self.axes, array: PhantomData }
    }

    /// The pointer to the element at index zero, and the axes.
    #[inline(always)]
    pub(super) fn into_parts(self) -> (*mut T, StridedAxes<'a>) {
        (self.at, self.axes)
    }

    /// Calls `visit` for each element.
    pub(crate) fn for_each(self, mut visit: impl FnMut(&mut T)) {
        if let Some(nest) = Nest::over(&mut LoopPlan::new(), None, self, &Inputs::NONE, Outside::Written) {
            nest.each_block(0, &mut |element: Nest<'_, T, ()>| visit(element.slot()));
        }
    }
}

impl<'a, T> Output<'a, MaybeUninit<T>> {
    /// The same array, to be written.
    #[inline(always)]
    pub(crate) fn write_only(self) -> Output<'a, WriteOnly<T>> {
        Output { at: self.at.cast(), axes: self.axes, array: PhantomData }
    }
}

/// An array that is summed.
pub(crate) struct Input<'a, A> {
    pub(super) at: *const A,
    pub(super) axes: StridedAxes<'a>,
    array: PhantomData<&'a A>,
}

impl<A> Clone for Input<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Input<'_, A> {}

impl<'a, A> Input<'a, A> {
    #[inline(always)]
    pub(crate) fn of<D: Dimension>(array: &'a ArrayRef<A, D>) -> Self {
        Self { at: array.as_ptr(), axes: StridedAxes::of(array), array: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn axes(&self) -> StridedAxes<'a> {
        self.axes
    }
}

/// Arrays that are read together.
pub struct Inputs<'a, E: Elements> {
    pub(super) at: E::Pointers,
    /// The sizes of each array: those of operand `k` at place `k - 1`, because the output, operand 0, is not known yet.
    sizes: List<&'a [usize], { OPERANDS - 1 }>,
    /// The strides of each array.
    strides: List<&'a [isize], { OPERANDS - 1 }>,
    arrays: PhantomData<&'a E>,
}

macro_rules! inputs {
    ($($A:ident $D:ident $a:ident),+) => {
        impl<'a, $($A, $D: Dimension),+> From<($(&'a ArrayRef<$A, $D>,)+)> for Inputs<'a, ($($A,)+)> {
            #[inline(always)]
            fn from(($($a,)+): ($(&'a ArrayRef<$A, $D>,)+)) -> Self {
                let (mut sizes, mut strides) = (List::new(), List::new());
                $(
                    sizes.push($a.shape());
                    strides.push($a.strides());
                )+
                Self { at: ($($a.as_ptr(),)+), sizes, strides, arrays: PhantomData }
            }
        }
    };
}
inputs!(A DA a);
inputs!(A DA a, B DB b);
inputs!(A DA a, B DB b, C DC c);
inputs!(A DA a, B DB b, C DC c, D DD d);
inputs!(A DA a, B DB b, C DC c, D DD d, E DE e);
inputs!(A DA a, B DB b, C DC c, D DD d, E DE e, F DF f);

impl Inputs<'_, ()> {
    const NONE: Self = Self { at: (), sizes: List::new(), strides: List::new(), arrays: PhantomData };
}

impl<'a, E: Elements> Inputs<'a, E> {
    /// The axes of operand `k`.
    #[inline(always)]
    pub(crate) fn axes(&self, k: usize) -> StridedAxes<'a> {
        let (sizes, strides) = self.sizes_and_strides();
        StridedAxes { sizes: sizes[k - 1], strides: strides[k - 1] }
    }

    /// The shapes of the arrays.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> &[&'a [usize]] {
        &self.sizes[..E::COUNT]
    }

    #[inline(always)]
    pub(super) fn sizes_and_strides(&self) -> (&[&'a [usize]], &[&'a [isize]]) {
        // sliced, so that the compiler knows their number
        (&self.sizes[..E::COUNT], &self.strides[..E::COUNT])
    }

    /// Plans the loops of [`Nest::batches`].
    pub(super) fn plan_batches(&mut self, plan: &mut LoopPlan, out: StridedAxes<'a>, bases: &[usize]) {
        for (sizes, base) in self.sizes.iter_mut().zip(&bases[1..]) {
            *sizes = &sizes[..sizes.len() - base];
        }
        let out = StridedAxes { sizes: &out.sizes[..out.sizes.len() - bases[0]], ..out };
        plan_aligned(plan, out.sizes, &out, self.sizes_and_strides(), Outside::Written);
    }
}

impl<E: Elements> AxisOrder for Inputs<'_, E> {
    fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool> {
        is_inside_for_all(self.sizes_and_strides(), shape, former, latter)
    }
}
