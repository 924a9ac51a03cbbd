//! Several operands that are read together.

use crate::kernel::raw::Source;
use ndarray::{ArrayRef, Dimension};

/// Somewhere in each of `M - 1` arrays: a tuple of [`Source`]s.
///
/// Strides and steps come in arrays of `M`, of which the first is the output's and not looked at here.
pub(crate) trait Sources<const M: usize>: Copy {
    /// A reference to an element of each.
    type Items;

    fn moved(self, by: [isize; M]) -> Self;

    /// The elements that are `i` steps further. With a mask other than [`ANY`] the step of operand `k` is bit `k` of
    /// it, so that it is a constant in the loops.
    ///
    /// # Safety
    /// The elements here and those `i` steps further belong to the arrays.
    unsafe fn items<const MASK: u8>(self, i: isize, steps: &[isize; M]) -> Self::Items;

    /// Has `f` visit every element of `out`, with the elements that are as many steps further.
    ///
    /// # Safety
    /// As [`items`](Self::items), for every step.
    #[inline(always)]
    unsafe fn row<const MASK: u8, T>(
        self,
        out: &mut [T],
        steps: &[isize; M],
        f: &mut impl FnMut(&mut T, Self::Items),
    ) {
        for (slot, i) in out.iter_mut().zip(0..) {
            // SAFETY: the caller promises this.
            f(slot, unsafe { self.items::<MASK>(i, steps) });
        }
    }

    /// [`row`](Self::row) of a tiny length.
    ///
    /// That an exclusive argument overlaps with nothing gets lost if the call is inlined before those in it, as it is
    /// where inlining is forced; and without it the elements of a tiny row are taken one by one.
    ///
    /// # Safety
    /// As [`row`](Self::row).
    #[inline]
    unsafe fn tiny<const MASK: u8, const LEN: usize, T>(
        self,
        out: &mut [T; LEN],
        steps: &[isize; M],
        f: &mut impl FnMut(&mut T, Self::Items),
    ) {
        for (slot, i) in out.iter_mut().zip(0..) {
            // SAFETY: the caller promises this.
            f(slot, unsafe { self.items::<MASK>(i, steps) });
        }
    }

    /// [`tiny`](Self::tiny) for several rows of which all read the same elements.
    ///
    /// # Safety
    /// As [`row`](Self::row).
    #[inline]
    unsafe fn same<const LEN: usize, T>(
        self,
        out: &mut [T],
        steps: &[isize; M],
        f: &mut impl FnMut(&mut T, Self::Items),
    ) {
        for out in out.chunks_exact_mut(LEN) {
            for (slot, i) in out.iter_mut().zip(0..) {
                // SAFETY: the caller promises this.
                f(slot, unsafe { self.items::<ANY>(i, steps) });
            }
        }
    }
}

/// Instead of a mask: the steps are as given.
pub(super) const ANY: u8 = 1 << 7;

/// The step of operand `k`.
#[inline(always)]
pub(super) fn step<const MASK: u8, const M: usize>(k: usize, steps: &[isize; M]) -> isize {
    if MASK == ANY { steps[k] } else { isize::from(MASK >> k & 1 == 1) }
}

#[derive(Clone, Copy)]
pub(super) struct Layout<'a> {
    shape: &'a [usize],
    strides: &'a [isize],
}

impl<'a> Layout<'a> {
    #[inline(always)]
    pub(super) fn of<A, D: Dimension>(array: &'a ArrayRef<A, D>) -> Self {
        Self { shape: array.shape(), strides: array.strides() }
    }

    /// The stride along an axis of size `size` that is `from_end` axes before the last: 0 where repeated.
    ///
    /// # Panics
    /// Where the size differs and is not 1.
    #[inline(always)]
    pub(super) fn stride(self, from_end: usize, size: usize) -> isize {
        if from_end >= self.shape.len() {
            return 0;
        }
        let axis = self.shape.len() - 1 - from_end;
        if self.shape[axis] == size {
            self.strides[axis]
        } else {
            assert!(self.shape[axis] == 1, "an operand has the size of the output or 1");
            0
        }
    }

    #[inline(always)]
    pub(super) fn ndim(self) -> usize {
        self.shape.len()
    }

    #[inline(always)]
    pub(super) fn size(self, axis: usize) -> usize {
        self.shape[axis]
    }
}

/// Arrays to read, from their elements at index zero on.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a, P, const M: usize> {
    /// The first is the output's, which is not known yet.
    layouts: [Layout<'a>; M],
    from: P,
}

impl<P: Sources<M>, const M: usize> Inputs<'_, P, M> {
    /// The strides along an axis as by [`Layout::stride`], the output's 0.
    #[inline(always)]
    pub(super) fn strides(&self, from_end: usize, size: usize) -> [isize; M] {
        let mut strides = [0; M];
        for (stride, layout) in strides[1..].iter_mut().zip(&self.layouts[1..]) {
            *stride = layout.stride(from_end, size);
        }
        strides
    }

    /// Whether the former of two axes of a shape with `ndim` axes, of these sizes, lies inside the latter: all inputs
    /// that move along both have the smaller stride there. None where there is none.
    #[inline(always)]
    pub(super) fn is_inside(&self, ndim: usize, axes: [usize; 2], sizes: [usize; 2]) -> Option<bool> {
        let [former, latter] = [0, 1].map(|i| self.strides(ndim - 1 - axes[i], sizes[i]));
        let mut inside = None;
        for (former, latter) in former.iter().zip(latter) {
            if *former != 0 && latter != 0 {
                inside = Some(inside != Some(false) && former.unsigned_abs() < latter.unsigned_abs());
            }
        }
        inside
    }

    #[inline(always)]
    pub(super) fn start(&self) -> P {
        self.from
    }

    /// # Panics
    /// Where an array has more axes.
    #[inline(always)]
    pub(super) fn assert_ndim(&self, ndim: usize) {
        assert!(self.layouts.iter().all(|l| l.ndim() <= ndim), "an operand has no more axes than the output");
    }
}

macro_rules! sources {
    ($M:literal: $($A:ident $D:ident $a:ident $k:literal),+) => {
        impl<'a, $($A),+> Sources<$M> for ($(Source<'a, $A>,)+) {
            type Items = ($(&'a $A,)+);

            #[inline(always)]
            fn moved(self, by: [isize; $M]) -> Self {
                let ($($a,)+) = self;
                ($($a.moved(by[$k]),)+)
            }

            #[inline(always)]
            unsafe fn items<const MASK: u8>(self, i: isize, steps: &[isize; $M]) -> Self::Items {
                let ($($a,)+) = self;
                // SAFETY: the caller promises this of each operand.
                unsafe { ($($a.get_at(i * step::<MASK, $M>($k, steps)),)+) }
            }
        }

        impl<'a, $($A, $D: Dimension),+> From<($(&'a ArrayRef<$A, $D>,)+)>
            for Inputs<'a, ($(Source<'a, $A>,)+), $M>
        {
            #[inline(always)]
            fn from(($($a,)+): ($(&'a ArrayRef<$A, $D>,)+)) -> Self {
                let unknown = Layout { shape: &[], strides: &[] };
                Self { layouts: [unknown, $(Layout::of($a)),+], from: ($(Source::new($a),)+) }
            }
        }
    };
}
sources!(2: A DA a 1);
sources!(3: A DA a 1, B DB b 2);
sources!(4: A DA a 1, B DB b 2, C DC c 3);
sources!(5: A DA a 1, B DB b 2, C DC c 3, D DD d 4);
sources!(6: A DA a 1, B DB b 2, C DC c 3, D DD d 4, E DE e 5);
sources!(7: A DA a 1, B DB b 2, C DC c 3, D DD d 4, E DE e 5, F DF f 6);
