//! Views that ndarray has no safe way to make.
//!
//! # Invariant
//! Every index into a view made here is the position of an element of its array, and the view does not outlive the
//! array's borrow.

use crate::kernel::loop_plan::LoopPlan;
use crate::kernel::loops::{Loop, steps, stride_along};
use crate::kernel::nest::{Elements, Inputs, Nest, Output};
use crate::kernel::threads::{Executor, Task, Threads};
use crate::shape::{checked_len, repeats, sizes, sizes_mut};
use core::{iter::zip, mem, ptr::NonNull};
use ndarray::{
    ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Axis, Dimension, RawData, ShapeBuilder, StrideShape,
};

/// [`ArrayRef::broadcast`] of a view, for as long as its data lives: ndarray does so for the lifetime of the view only.
#[inline]
pub(crate) fn broadcast_data<'a, A, D: Dimension, E: Dimension>(
    view: &ArrayView<'a, A, D>,
    shape: E,
) -> Option<ArrayView<'a, A, E>> {
    let stretched = view.broadcast(shape)?;
    // SAFETY: The types differ in their lifetime only. Each element of `stretched` is one of `view`,
    // which are shared and alive for 'a, and a view borrows nothing but its elements.
    Some(unsafe { mem::transmute::<ArrayView<'_, A, E>, ArrayView<'a, A, E>>(stretched) })
}

/// The view of shape `shape` in which axis `i` of the array is axis `places[i]`. Every other axis, and every axis that
/// stretches from size 1, repeats the array with stride 0. Half the cost of `broadcast` and then `permuted_axes`.
///
/// # Panics
/// If the shape layer missed an axis without a place, sizes that differ and are not 1, or an overflow. Calls from
/// outside the crate never panic.
#[inline(always)]
pub(crate) fn place<A, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    mut places: impl Iterator<Item = usize>,
) -> ArrayView<'_, A, E> {
    // For dynamic rank, a copy is faster than new zeros.
    let mut strides = shape.clone();
    let (to, steps) = (sizes(&shape), sizes_mut(&mut strides));
    steps.fill(0);
    let mut reversed = false;
    for (&size, &stride) in zip(array.shape(), array.strides()) {
        let axis = places.next().expect("every axis has a place");
        if size == to[axis] {
            let stride = stride_along(size, stride);
            steps[axis] = stride.cast_unsigned();
            reversed |= stride.is_negative();
        } else {
            assert!(repeats(size, to[axis]), "the sizes were checked");
        }
    }
    assert!(checked_len(to).is_some(), "the shape was checked for overflow");
    if reversed {
        return place_reversed(array, shape, strides);
    }
    // SAFETY: If the view has no element, only the pointer counts: it is an array's, so aligned and not null.
    // Otherwise, each axis of the array has a place in the view. Either it has the same size there, with the same
    // stride (or 0, with one element), or it has size 1 and stride 0 there. All other strides are 0. So the offset of
    // an index `k` into the view is that of an index into the array, which is `k[places[i]]` at an axis of the first
    // kind and 0 at one of the second. Both are less than the axis's size, so this is an element. (If two axes shared a
    // place, the later one's stride would count, and the other's index be 0.) The array is borrowed for the view's
    // lifetime, no stride is negative, the shape does not overflow, and no offset is larger than the array's largest.
    unsafe { ArrayView::from_shape_ptr(shape.strides(strides), array.as_ptr()) }
}

/// [`place`] of a view, for as long as its data lives.
#[inline]
pub(crate) fn place_data<'a, A, D: Dimension, E: Dimension>(
    view: &ArrayView<'a, A, D>,
    shape: E,
    places: impl Iterator<Item = usize>,
) -> ArrayView<'a, A, E> {
    let borrowed = place(view, shape, places);
    // SAFETY: As in `broadcast_data`: only the lifetime differs, and each element is one of `view`.
    unsafe { mem::transmute::<ArrayView<'_, A, E>, ArrayView<'a, A, E>>(borrowed) }
}

/// The rest of [`place`] for negative strides.
#[cold]
fn place_reversed<A, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    strides: E,
) -> ArrayView<'_, A, E> {
    let form = Form::new(shape, strides);
    let start = array.as_ptr().wrapping_offset(form.start);
    // SAFETY: As in `place`, with the same elements, seen from the other end of the axes that are inverted.
    form.inverted(unsafe { ArrayView::from_shape_ptr(form.layout.clone(), start) })
}

/// Sizes and strides, of which some may be negative. `from_shape_ptr` refuses those: its views start at the other end of
/// such axes, which are inverted then.
struct Form<B: Dimension> {
    /// The strides without their signs.
    layout: StrideShape<B>,
    /// The strides, as the bits of `isize`.
    strides: B,
    /// The offset of the start of the layout from the first element.
    start: isize,
    is_empty: bool,
}

impl<B: Dimension> Form<B> {
    /// The form of these sizes and strides. An array without elements may have any strides, but a mutable view may not, so
    /// such a form has others.
    fn new(shape: B, mut strides: B) -> Self {
        let is_empty = sizes(&shape).contains(&0);
        let (mut unsigned, mut start) = (strides.clone(), 0);
        for axis in 0..shape.ndim() {
            let stride = if is_empty { 0 } else { stride_along(shape[axis], strides[axis].cast_signed()) };
            strides[axis] = stride.cast_unsigned();
            unsigned[axis] = stride.unsigned_abs();
            if stride.is_negative() {
                start += stride * (shape[axis] - 1).cast_signed();
            }
        }
        let layout = if is_empty { shape.into() } else { shape.strides(unsigned) };
        Self { layout, strides, start, is_empty }
    }

    /// The form of the last `base` axes of an array.
    fn of_base<T, D: Dimension>(array: &ArrayRef<T, D>, base: usize) -> Self {
        let batch = array.ndim() - base;
        let (mut shape, mut strides) = (B::zeros(base), B::zeros(base));
        for axis in 0..base {
            shape[axis] = array.shape()[batch + axis];
            strides[axis] = array.strides()[batch + axis].cast_unsigned();
        }
        Self::new(shape, strides)
    }

    /// The start of the layout of a view whose first element is at `at`. An empty view does not use that pointer.
    #[inline(always)]
    fn start<T>(&self, at: *mut T) -> *mut T {
        if self.is_empty { NonNull::dangling().as_ptr() } else { at.wrapping_offset(self.start) }
    }

    /// The view of this form, from one of its layout.
    #[inline(always)]
    fn inverted<S: RawData>(&self, mut view: ArrayBase<S, B>) -> ArrayBase<S, B> {
        for axis in 0..self.strides.ndim() {
            if self.strides[axis].cast_signed().is_negative() {
                view.invert_axis(Axis(axis));
            }
        }
        view
    }

    /// # Safety
    /// The element at `at` and those that the sizes and strides reach from it are borrowed for `'a`.
    #[inline(always)]
    unsafe fn view<'a, T>(&self, at: *const T) -> ArrayView<'a, T, B> {
        // SAFETY: The layout has the same elements, from its own start on. An empty view has no element.
        self.inverted(unsafe { ArrayView::from_shape_ptr(self.layout.clone(), self.start(at.cast_mut())) })
    }

    /// # Safety
    /// As for [`view`](Self::view); the elements are borrowed exclusively, and for this view alone.
    #[inline(always)]
    unsafe fn view_mut<'a, T>(&self, at: *mut T) -> ArrayViewMut<'a, T, B> {
        // SAFETY: As in `view`.
        self.inverted(unsafe { ArrayViewMut::from_shape_ptr(self.layout.clone(), self.start(at)) })
    }
}

/// The bases of an array that is read.
pub(crate) struct Bases<'a, T, D, B: Dimension> {
    array: &'a ArrayRef<T, D>,
    form: Form<B>,
}

impl<'a, T, D: Dimension, B: Dimension> Bases<'a, T, D, B> {
    /// The last `base` axes, as many as `B` has if it is fixed.
    #[inline]
    pub(crate) fn new(array: &'a ArrayRef<T, D>, base: usize) -> Self {
        Self { array, form: Form::of_base(array, base) }
    }
}

/// One to three arrays whose bases are read together.
///
/// # Safety
/// The methods are about these arrays, in this order.
pub(crate) unsafe trait BaseOperands {
    type Elems: Elements;
    /// A view of each.
    type Views;

    /// A nest over the batch axes of `out`, whose last `base` axes are its base. `None` if there is no index.
    fn batches<'s, T, D: Dimension>(
        &'s self,
        plan: &'s mut LoopPlan,
        out: &'s mut ArrayRef<T, D>,
        base: usize,
    ) -> Option<Nest<'s, T, Self::Elems>>;

    /// # Safety
    /// The pointers are at an index of the batch axes of each array.
    unsafe fn views(&self, at: <Self::Elems as Elements>::Pointers) -> Self::Views;
}

macro_rules! operands {
    ($($T:ident $D:ident $B:ident $t:ident $k:tt),+) => {
        // SAFETY: Each method treats every array of the tuple alike.
        unsafe impl<'a, $($T, $D: Dimension, $B: Dimension),+> BaseOperands for ($(Bases<'a, $T, $D, $B>,)+) {
            type Elems = ($($T,)+);
            type Views = ($(ArrayView<'a, $T, $B>,)+);

            fn batches<'s, Out, DO: Dimension>(
                &'s self,
                plan: &'s mut LoopPlan,
                out: &'s mut ArrayRef<Out, DO>,
                base: usize,
            ) -> Option<Nest<'s, Out, Self::Elems>> {
                let inputs = &mut Inputs::from(($(self.$k.array,)+));
                // SAFETY: The pointers serve only for views of the last axes, by their forms; empty views do not use them.
                unsafe { Nest::batches(plan, Output::of(out), inputs, &[base, $(self.$k.form.strides.ndim()),+]) }
            }

            #[inline(always)]
            unsafe fn views(&self, ($($t,)+): <Self::Elems as Elements>::Pointers) -> Self::Views {
                // SAFETY: The caller promises it of each array.
                unsafe { ($(self.$k.form.view($t),)+) }
            }
        }
    };
}
operands!(T D B t 0);
operands!(T D B t 0, U E C u 1);
operands!(T D B t 0, U E C u 1, V F G v 2);

/// Calls `visit` with the operands' bases and the base of `out`, which are its last `base` axes, at every index of the
/// batch axes of `out`.
///
/// # Panics
/// If the batch axes of an operand do not go to those of `out`, aligned at the right.
pub(crate) fn for_each_base<I: BaseOperands, T, D: Dimension, B: Dimension>(
    operands: &I,
    out: &mut ArrayRef<T, D>,
    base: usize,
    visit: impl FnMut(I::Views, ArrayViewMut<'_, T, B>),
) {
    let form = Form::of_base(out, base);
    if let Some(nest) = operands.batches(&mut LoopPlan::new(), out, base) {
        visit_bases(nest, operands, &form, visit);
    }
}

/// [`for_each_base`] on several threads.
pub(crate) fn par_for_each_base<I, T: Send, D: Dimension, B: Dimension, F>(
    operands: &I,
    out: &mut ArrayRef<T, D>,
    base: usize,
    visit: F,
) where
    I: BaseOperands<Elems: Sync> + Sync,
    F: Fn(I::Views, ArrayViewMut<'_, T, B>) + Sync,
{
    let form = Form::of_base(out, base);
    if let Some(nest) = operands.batches(&mut LoopPlan::new(), out, base) {
        let grain = grain(steps(nest.loops()));
        Threads.run(nest, &EachBase { operands, form: &form, visit: &visit, grain });
    }
}

/// Visits each base of a nest of [`BaseOperands::batches`]. `form` is that of its output.
#[inline(always)]
fn visit_bases<I: BaseOperands, T, B: Dimension>(
    nest: Nest<'_, T, I::Elems>,
    operands: &I,
    form: &Form<B>,
    mut visit: impl FnMut(I::Views, ArrayViewMut<'_, T, B>),
) {
    let mut batch = nest.walk(0);
    while let Some(at) = batch.next() {
        let (out, read) = at.pointers();
        // SAFETY: A nest over the batch axes visits indices of them, each index of the output once, and the output's view
        // does not outlive the call. The forms are those of the nest's arrays.
        unsafe { visit(operands.views(read), form.view_mut(out)) };
    }
}

/// The fewest of `count` bases that a thread visits. The cost of a closure is unknown: several pieces a thread balance the
/// load.
fn grain(count: usize) -> usize {
    count.div_ceil(8 * Threads::count())
}

struct EachBase<'f, I, B: Dimension, F> {
    operands: &'f I,
    form: &'f Form<B>,
    visit: &'f F,
    grain: usize,
}

impl<I: BaseOperands, T, B: Dimension, F> Task<T, I::Elems> for EachBase<'_, I, B, F>
where
    F: Fn(I::Views, ArrayViewMut<'_, T, B>),
{
    fn grain(&self) -> usize {
        self.grain
    }

    fn may_cut(&self, place: usize, loops: &[Loop]) -> bool {
        // A reduced loop must not be cut: its parts would write the same elements.
        !loops[place].is_reduced()
    }

    fn run(&self, part: Nest<'_, T, I::Elems>) {
        visit_bases(part, self.operands, self.form, self.visit);
    }
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use super::*;

    #[test]
    fn each_thread_takes_eight_pieces() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        assert_eq!(pool.install(|| [0, 1, 24, 25, 2400].map(grain)), [0, 1, 1, 2, 100]);
    }
}
