//! The last axes of arrays: the layout that all their bases share.

#![forbid(unsafe_code)]

use super::{Elements, Inputs, Output, StridedAxes};
use core::ptr::NonNull;
use ndarray::{ArrayBase, ArrayRef, Axis, Dimension, RawData, ShapeBuilder, StrideShape};

/// The sizes and strides of a base. Strides may be negative, but `from_shape_ptr` refuses such: the view starts at the other end
/// of these axes, and then they are inverted.
pub(crate) struct Form<B: Dimension> {
    /// The strides without their signs.
    pub(super) layout: StrideShape<B>,
    /// The strides, as the bits of `isize`.
    strides: B,
    /// The offset from the first element to the start of the layout.
    start: isize,
    is_empty: bool,
}

impl<B: Dimension> Form<B> {
    /// The form of these axes. Their number is that of `B`, if `B` has a fixed one. An array without elements may have any
    /// strides, but a mutable view may not: the form of an empty array has stride 0.
    pub(super) fn new(axes: StridedAxes<'_>) -> Self {
        let zeros = B::zeros(axes.sizes.len());
        let (mut shape, mut strides, mut unsigned, mut start) = (zeros.clone(), zeros.clone(), zeros, 0);
        let is_empty = axes.sizes.contains(&0);
        for (axis, (&size, &stride)) in axes.sizes.iter().zip(axes.strides).enumerate() {
            shape[axis] = size;
            if size > 1 && !is_empty {
                (strides[axis], unsigned[axis]) = (stride.cast_unsigned(), stride.unsigned_abs());
                start += stride.min(0) * (size - 1).cast_signed();
            }
        }
        let layout = if is_empty { shape.into() } else { shape.strides(unsigned) };
        Self { layout, strides, start, is_empty }
    }

    /// The start of the layout of a view whose first element is at `at`. An empty view does not use `at`.
    #[inline(always)]
    pub(super) fn start<T>(&self, at: *mut T) -> *mut T {
        if self.is_empty { NonNull::dangling().as_ptr() } else { at.wrapping_offset(self.start) }
    }

    /// The view of this form, made from a view of its layout.
    #[inline(always)]
    pub(super) fn inverted<S: RawData>(&self, mut view: ArrayBase<S, B>) -> ArrayBase<S, B> {
        if self.start != 0 {
            for axis in 0..self.strides.ndim() {
                if self.strides[axis].cast_signed().is_negative() {
                    view.invert_axis(Axis(axis));
                }
            }
        }
        view
    }
}

/// One to three arrays whose bases are read together.
pub(crate) struct BaseInputs<'a, E: Elements, F> {
    pub(super) inputs: Inputs<'a, E>,
    /// The forms of the inputs' last axes.
    pub(super) forms: F,
    /// How many axes each base has.
    pub(super) bases: [usize; 3],
}

macro_rules! base_inputs {
    ($of:ident: $($T:ident $D:ident $B:ident $a:ident $k:literal),+) => {
        impl<'a, $($T, $B: Dimension),+> BaseInputs<'a, ($($T,)+), ($(Form<$B>,)+)> {
            /// Arrays, each with its number of base axes, which is that of its form if that is fixed.
            pub(crate) fn $of<$($D: Dimension),+>($($a: (&'a ArrayRef<$T, $D>, usize)),+) -> Self {
                let mut bases = [0; 3];
                $(bases[$k] = $a.1;)+
                let forms = ($(Form::new(StridedAxes { sizes: $a.0.shape(), strides: $a.0.strides() }.split($a.1).1),)+);
                Self { inputs: Inputs::from(($($a.0,)+)), forms, bases }
            }
        }
    };
}
base_inputs!(one: T D A a 0);
base_inputs!(two: T D A a 0, U E B b 1);
base_inputs!(three: T D A a 0, U E B b 1, V F C c 2);

/// An array to whose bases a pass writes.
pub(crate) struct BaseOutput<'a, T, B: Dimension> {
    /// The batch axes.
    pub(super) batch: Output<'a, T>,
    /// The form of the other axes.
    pub(super) form: Form<B>,
}

impl<'a, T, B: Dimension> BaseOutput<'a, T, B> {
    /// An array with its number of base axes, which is that of `B` if that is fixed.
    pub(crate) fn of(out: Output<'a, T>, base: usize) -> Self {
        let (batch, base) = out.axes.split(base);
        Self { batch: Output { axes: batch, ..out }, form: Form::new(base) }
    }
}
