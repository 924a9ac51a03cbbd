//! The last axes of arrays: the layout that all their bases share, and passes over them.

use super::elements::{Elements, Inputs, Output};
use super::erased::ErasedNest;
use super::loops::{Pointers, indices, is_worth_halving};
use super::operands::{RawOutput, StridedAxes};
use super::passes::Nest;
use crate::kernel::ensure;
use crate::kernel::threads::{count, in_two};
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::NonNull;
use ndarray::{
    ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Axis, Dimension, RawData, ShapeBuilder, StrideShape,
};

/// The sizes and strides of a base. Strides may be negative, but `from_shape_ptr` refuses such: the view starts at the other end
/// of these axes, and then they are inverted.
pub(crate) struct BaseForm<B: Dimension> {
    /// The strides without their signs.
    pub(super) layout: StrideShape<B>,
    /// The strides, as the bits of `isize`.
    strides: B,
    /// The offset from the first element to the start of the layout.
    start: isize,
    is_empty: bool,
}

impl<B: Dimension> BaseForm<B> {
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
        impl<'a, $($T, $B: Dimension),+> BaseInputs<'a, ($($T,)+), ($(BaseForm<$B>,)+)> {
            /// Arrays, each with its number of base axes, which is that of its form if that is fixed.
            pub(crate) fn $of<$($D: Dimension),+>($($a: (&'a ArrayRef<$T, $D>, usize)),+) -> Self {
                let mut bases = [0; 3];
                $(bases[$k] = $a.1;)+
                let forms = ($(BaseForm::new(StridedAxes { sizes: $a.0.shape(), strides: $a.0.strides() }.split($a.1).1),)+);
                Self { inputs: Inputs::from(($($a.0,)+)), forms, bases }
            }
        }
    };
}
base_inputs!(one: T D A a 0);
base_inputs!(two: T D A a 0, U E B b 1);
base_inputs!(three: T D A a 0, U E B b 1, V F C c 2);

/// A pass over the batch axes of arrays. At each index it makes views of the last axes, the bases. A pointer leads to a base,
/// which may be empty.
pub(crate) struct Bases<'n, 'a, T, E, F, B: Dimension> {
    forms: &'n F,
    out: &'n BaseForm<B>,
    /// Invariant in `T`, because the pass hands out mutable views; sent as a `T` is.
    arrays: PhantomData<(&'a E, Cell<T>)>,
}

impl<T, E, F, B: Dimension> Clone for Bases<'_, '_, T, E, F, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E, F, B: Dimension> Copy for Bases<'_, '_, T, E, F, B> {}

/// The forms of the bases of one to three inputs.
///
/// # Safety
/// `views` makes a view from each pointer and the form at its place.
pub(crate) unsafe trait BaseForms<'a, E: Elements> {
    type Views;

    /// # Safety
    /// Each pointer leads to a base with the form and the elements at its place, borrowed for `'a`.
    unsafe fn views(&self, at: &Pointers) -> Self::Views;
}

macro_rules! forms {
    ($($T:ident $B:ident $k:tt $at:literal),+) => {
        // SAFETY: The macro writes the same code for every place.
        unsafe impl<'a, $($T: 'a, $B: Dimension),+> BaseForms<'a, ($($T,)+)> for ($(BaseForm<$B>,)+) {
            type Views = ($(ArrayView<'a, $T, $B>,)+);

            #[inline(always)]
            unsafe fn views(&self, at: &Pointers) -> Self::Views {
                // SAFETY: The caller promises each base. A form's layout reaches the same elements as the form, from its own
                // start on. An empty base has none, so its pointer is not used.
                ($(self.$k.inverted(unsafe {
                    ArrayView::from_shape_ptr(self.$k.layout.clone(), self.$k.start(at[$at].cast::<$T>()).cast_const())
                }),)+)
            }
        }
    };
}
forms!(T A 0 1);
forms!(T A 0 1, U B 1 2);
forms!(T A 0 1, U B 1 2, V C 2 3);

/// Calls `visit` with a base of each input and of `out` at every index of the batch axes of `out`. The last `base` axes of `out`
/// are its base axes. `run` visits a nest: [`Nest::for_each`], or [`on_threads`].
///
/// # Panics
/// If the batch axes of an input do not broadcast to those of `out`.
pub(crate) fn for_each_base<'a, E: Elements, F: BaseForms<'a, E>, T, B: Dimension, V>(
    inputs: &BaseInputs<'a, E, F>,
    out: &mut ArrayRef<T, impl Dimension>,
    base: usize,
    visit: V,
    run: impl FnOnce(Nest<'_, Bases<'_, 'a, T, E, F, B>>, V),
) where
    V: FnMut(F::Views, ArrayViewMut<'_, T, B>),
{
    let (mut erased, out) = (ErasedNest::new(), Output::of(out).raw);
    let (axes, base) = out.axes.split(base);
    let form = BaseForm::new(base);
    if let Some(nest) = Nest::of_bases(&mut erased, inputs, RawOutput { axes, ..out }, &form) {
        run(nest, visit);
    }
}

impl<'n, 'a, T, E: Elements, F: BaseForms<'a, E>, B: Dimension> Nest<'n, Bases<'n, 'a, T, E, F, B>> {
    /// A nest over the batch axes of `out`, an array of `T` whose other axes have this form; `None` if there is no index. The
    /// caller borrows the array while the nest lives.
    fn of_bases(
        erased: &'n mut ErasedNest,
        inputs: &'n BaseInputs<'a, E, F>,
        out: RawOutput<'_>,
        form: &'n BaseForm<B>,
    ) -> Option<Self> {
        let mut of_batches = inputs.inputs.raw;
        for (sizes, base) in of_batches.sizes.iter_mut().zip(inputs.bases) {
            *sizes = &sizes[..sizes.len() - base];
        }
        erased.build(out.axes.sizes, out, None, &of_batches)?;
        erased.arrange(0);
        Some(Self { erased, pass: Bases { forms: &inputs.forms, out: form, arrays: PhantomData } })
    }
}

impl<'a, T, E: Elements, F: BaseForms<'a, E>, B: Dimension> Nest<'_, Bases<'_, 'a, T, E, F, B>> {
    /// Calls `visit` with the bases at each index.
    #[inline]
    pub(crate) fn for_each(self, mut visit: impl FnMut(F::Views, ArrayViewMut<'_, T, B>)) {
        let Bases { forms, out, .. } = self.pass;
        ensure(self.erased.has_distinct_outputs(), "two bases of the output share elements");
        self.erased.for_each_block(&mut |block| {
            block.for_each(&block.at, E::COUNT, |at| {
                // SAFETY: By the invariant, these are bases of the inputs, and a base of the output to which no other index
                // leads. The views do not outlive the call. For layouts, see `BaseForms::views`.
                unsafe {
                    let start = out.start(at[0].cast::<T>());
                    let view = out.inverted(ArrayViewMut::from_shape_ptr(out.layout.clone(), start));
                    visit(forms.views(at), view);
                }
            });
        });
    }
}

/// Calls a closure that threads share with the bases at each index.
pub(crate) fn on_threads<'a, E: Elements + Sync, F: BaseForms<'a, E> + Sync, T: Send, B: Dimension>(
    nest: Nest<'_, Bases<'_, 'a, T, E, F, B>>,
    visit: impl Fn(F::Views, ArrayViewMut<'_, T, B>) + Sync,
) {
    // the cost of a closure is unknown: several parts a thread balance the load
    let grain = indices(nest.loops()).div_ceil(8 * count());
    in_parts(nest, grain, &visit);
}

/// Visits parts of at least `grain` indices.
fn in_parts<'a, E: Elements + Sync, F: BaseForms<'a, E> + Sync, T: Send, B: Dimension>(
    nest: Nest<'_, Bases<'_, 'a, T, E, F, B>>,
    grain: usize,
    visit: &(impl Fn(F::Views, ArrayViewMut<'_, T, B>) + Sync),
) {
    let loops = nest.loops();
    if loops.is_empty() || !is_worth_halving(loops, grain) {
        return nest.for_each(visit);
    }
    let mut scratch = ErasedNest::on_heap();
    let [first, second] = nest.halves(0, &mut scratch);
    in_two(|| in_parts(first, grain, visit), || in_parts(second, grain, visit));
}
