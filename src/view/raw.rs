//! Views that ndarray has no safe way to make.
//!
//! # Invariant
//! Every index into a view made here is the position of an element of its array, and the view does not outlive the
//! array's borrow.

use crate::kernel::loops::{Loop, LoopPlan, steps, stride_along};
use crate::kernel::nest::{Elements, Inputs, Nest, Output};
use crate::kernel::threads::{Executor, Task, Threads};
use crate::shape::{checked_len, repeats, sizes, sizes_mut};
use core::{iter::zip, mem, ptr::NonNull};
use ndarray::{ArrayRef, ArrayView, ArrayViewMut, Axis, Dimension, ShapeBuilder, StrideShape};

/// [`ArrayRef::broadcast`] of a view, for as long as its data lives.
#[inline]
#[allow(unsafe_code, reason = "ndarray broadcasts for the lifetime of the view only")]
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
/// stretches from size 1, repeats the array with stride 0.
///
/// # Panics
/// If the shape layer missed an axis without a place, sizes that differ and are not 1, or an overflow. Calls from
/// outside the crate never panic.
#[inline(always)]
#[allow(unsafe_code, reason = "half the cost of `broadcast` and then `permuted_axes`")]
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
#[allow(unsafe_code, reason = "`place` borrows the view")]
pub(crate) fn place_data<'a, A, D: Dimension, E: Dimension>(
    view: &ArrayView<'a, A, D>,
    shape: E,
    places: impl Iterator<Item = usize>,
) -> ArrayView<'a, A, E> {
    let borrowed = place(view, shape, places);
    // SAFETY: As in `broadcast_data`: only the lifetime differs, and each element is one of `view`.
    unsafe { mem::transmute::<ArrayView<'_, A, E>, ArrayView<'a, A, E>>(borrowed) }
}

/// The rest of [`place`] for negative strides, which `from_shape_ptr` refuses: makes the view from the other end of
/// these axes, then inverts them.
#[cold]
#[allow(unsafe_code, reason = "see `place`")]
fn place_reversed<A, D: Dimension, E: Dimension>(
    array: &ArrayRef<A, D>,
    shape: E,
    mut strides: E,
) -> ArrayView<'_, A, E> {
    let empty = sizes(&shape).contains(&0);
    let mut start = array.as_ptr();
    let mut inverted = E::zeros(shape.ndim());
    for axis in 0..shape.ndim() {
        let stride = strides[axis].cast_signed();
        if !stride.is_negative() {
            continue;
        }
        if empty {
            // No element is ever reached, so the stride does not matter.
            strides[axis] = 0;
            continue;
        }
        inverted[axis] = 1;
        strides[axis] = stride.unsigned_abs();
        // SAFETY: No axis is empty, so the array has an element that is last along this axis (and the
        // ones before it) and first along the others; this is its address.
        start = unsafe { start.offset(stride * (shape[axis] - 1).cast_signed()) };
    }
    // SAFETY: As in `place`, seen from the element at the other end of the inverted axes: an index `k`
    // along one of them stands for `size - 1 - k`.
    let mut view = unsafe { ArrayView::from_shape_ptr(shape.strides(strides), start) };
    for axis in 0..inverted.ndim() {
        if inverted[axis] == 1 {
            view.invert_axis(Axis(axis));
        }
    }
    view
}

/// The common layout of the views of an array's bases. Only their position differs.
struct Form<B: Dimension> {
    /// Sizes and strides. `from_shape_ptr` refuses negative strides, so axes that run backwards start at their other end.
    layout: StrideShape<B>,
    /// The offset of that start from the first element.
    start: isize,
    /// 1 for each axis that runs backwards, which every view inverts again, else 0.
    inverted: B,
    any_inverted: bool,
    is_empty: bool,
}

impl<B: Dimension> Form<B> {
    /// The form of the last `base` axes of an array.
    fn of(shape: &[usize], strides: &[isize], base: usize) -> Self {
        let batch = shape.len() - base;
        let zeros = B::zeros(base);
        let (mut own, mut steps, mut inverted, mut start) = (zeros.clone(), zeros.clone(), zeros, 0);
        sizes_mut(&mut own).copy_from_slice(&shape[batch..]);
        let is_empty = sizes(&own).contains(&0);
        for (axis, (&size, &stride)) in zip(&shape[batch..], &strides[batch..]).enumerate() {
            // An array without elements may have any strides, but a mutable view may not.
            if is_empty {
                break;
            }
            let stride = stride_along(size, stride);
            steps[axis] = stride.unsigned_abs();
            if stride.is_negative() {
                inverted[axis] = 1;
                start += stride * (size - 1).cast_signed();
            }
        }
        let any_inverted = sizes(&inverted).contains(&1);
        let layout = if is_empty { own.into() } else { own.strides(steps) };
        Self { layout, start, inverted, any_inverted, is_empty }
    }

    /// The first element of the view of the base at `at`.
    #[inline(always)]
    fn first<T>(&self, at: *mut T) -> *mut T {
        if self.is_empty { NonNull::dangling().as_ptr() } else { at.wrapping_offset(self.start) }
    }

    fn inverted(&self) -> impl Iterator<Item = Axis> + '_ {
        (0..self.inverted.ndim()).filter(|&axis| self.inverted[axis] == 1).map(Axis)
    }

    /// # Safety
    /// `at` points to an index of the batch axes of the array, which is borrowed for `'a`.
    #[inline(always)]
    #[allow(unsafe_code, reason = "the array has these elements")]
    unsafe fn view<'a, T>(&self, at: *const T) -> ArrayView<'a, T, B> {
        // SAFETY: The sizes and strides are those of the array's last axes, and inverted axes start at their last
        // element, with positive strides. An empty view has no element.
        let mut view = unsafe { ArrayView::from_shape_ptr(self.layout.clone(), self.first(at.cast_mut())) };
        if self.any_inverted {
            self.inverted().for_each(|axis| view.invert_axis(axis));
        }
        view
    }

    /// # Safety
    /// As for [`view`](Self::view); the array is borrowed exclusively, and this is the only view of that base.
    #[inline(always)]
    #[allow(unsafe_code, reason = "the array has these elements")]
    unsafe fn view_mut<'a, T>(&self, at: *mut T) -> ArrayViewMut<'a, T, B> {
        // SAFETY: As in `view`. Different indices of the batch axes have no element in common.
        let mut view = unsafe { ArrayViewMut::from_shape_ptr(self.layout.clone(), self.first(at)) };
        if self.any_inverted {
            self.inverted().for_each(|axis| view.invert_axis(axis));
        }
        view
    }
}

/// The bases of an array that is read.
pub(crate) struct Bases<'a, T, D, B: Dimension> {
    array: &'a ArrayRef<T, D>,
    base: usize,
    form: Form<B>,
}

impl<'a, T, D: Dimension, B: Dimension> Bases<'a, T, D, B> {
    /// The last `base` axes, as many as `B` has if it is fixed.
    #[inline]
    pub(crate) fn new(array: &'a ArrayRef<T, D>, base: usize) -> Self {
        Self { array, base, form: Form::of(array.shape(), array.strides(), base) }
    }
}

/// One to three arrays whose bases are read together.
///
/// # Safety
/// The methods are about these arrays, in this order.
#[allow(unsafe_code, reason = "views are made from the pointers that the methods give")]
pub(crate) unsafe trait BaseOperands {
    type Elems: Elements;
    /// A view of each.
    type Views;

    fn inputs(&self) -> Inputs<'_, Self::Elems>;

    /// The numbers of base axes, from operand 1 on.
    fn bases(&self) -> [usize; 4];

    /// # Safety
    /// The pointers are at an index of the batch axes of each array.
    #[allow(unsafe_code, reason = "see `Form::view`")]
    unsafe fn views(&self, at: <Self::Elems as Elements>::Pointers) -> Self::Views;
}

macro_rules! operands {
    ($($T:ident $D:ident $B:ident $t:ident $k:tt),+) => {
        // SAFETY: Each method treats every array of the tuple alike.
        #[allow(unsafe_code, reason = "see above")]
        unsafe impl<'a, $($T, $D: Dimension, $B: Dimension),+> BaseOperands for ($(Bases<'a, $T, $D, $B>,)+) {
            type Elems = ($($T,)+);
            type Views = ($(ArrayView<'a, $T, $B>,)+);

            fn inputs(&self) -> Inputs<'_, Self::Elems> {
                Inputs::from(($(self.$k.array,)+))
            }

            fn bases(&self) -> [usize; 4] {
                let mut bases = [0; 4];
                $(bases[$k + 1] = self.$k.base;)+
                bases
            }

            #[inline(always)]
            #[allow(unsafe_code, reason = "see `Form::view`")]
            unsafe fn views(&self, ($($t,)+): <Self::Elems as Elements>::Pointers) -> Self::Views {
                // SAFETY: the caller promises it of each array.
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
#[allow(unsafe_code, reason = "a nest over the batch axes")]
pub(crate) fn for_each_base<I: BaseOperands, T, D: Dimension, B: Dimension>(
    operands: &I,
    out: &mut ArrayRef<T, D>,
    base: usize,
    mut visit: impl FnMut(I::Views, ArrayViewMut<'_, T, B>),
) {
    let form = Form::of(out.shape(), out.strides(), base);
    let (mut plan, mut bases) = (LoopPlan::new(), operands.bases());
    bases[0] = base;
    // SAFETY: The pointers serve only for views of the last axes, by their forms; empty views do not use them.
    if let Some(nest) = unsafe { Nest::batches(&mut plan, Output::of(out), &mut operands.inputs(), &bases) } {
        visit_bases(nest, operands, &form, &mut visit);
    }
}

#[inline(always)]
#[allow(unsafe_code, reason = "views at every index of the batch axes")]
fn visit_bases<I: BaseOperands, T, B: Dimension>(
    nest: Nest<'_, T, I::Elems>,
    operands: &I,
    form: &Form<B>,
    visit: &mut impl FnMut(I::Views, ArrayViewMut<'_, T, B>),
) {
    let mut batch = nest.walk(0);
    while let Some(at) = batch.next() {
        let (out, read) = at.pointers();
        // SAFETY: A nest over the batch axes visits indices of them, each index of the output once, and the output's view
        // does not outlive the call. The forms are those of the nest's arrays.
        unsafe { visit(operands.views(read), form.view_mut(out)) };
    }
}

/// [`for_each_base`] on several threads.
#[allow(unsafe_code, reason = "a nest over the batch axes")]
pub(crate) fn par_for_each_base<I, T: Send, D: Dimension, B: Dimension, F>(
    operands: &I,
    out: &mut ArrayRef<T, D>,
    base: usize,
    visit: F,
) where
    I: BaseOperands<Elems: Sync> + Sync,
    F: Fn(I::Views, ArrayViewMut<'_, T, B>) + Sync,
{
    let form = Form::of(out.shape(), out.strides(), base);
    let (mut plan, mut bases) = (LoopPlan::new(), operands.bases());
    bases[0] = base;
    // SAFETY: As in `for_each_base`.
    if let Some(nest) = unsafe { Nest::batches(&mut plan, Output::of(out), &mut operands.inputs(), &bases) } {
        let grain = grain(steps(nest.loops()));
        Threads.run(nest, &EachBase { operands, form: &form, visit: &visit, grain });
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
        visit_bases(part, self.operands, self.form, &mut |views, out| (self.visit)(views, out));
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
