//! Views of the last axes of strided operands, at every index of the others.

use super::plan::{Loop, Nest, Walk};
use super::raw::{Source, Target};
use ndarray::{ArrayRef, ArrayView, ArrayViewMut, Axis, Dimension, ShapeBuilder, StrideShape};

/// Sizes and strides of the axes that are looped over.
#[derive(Clone, Copy)]
pub(crate) struct Outer<'s> {
    sizes: &'s [usize],
    strides: &'s [isize],
    /// Whether there is anything in each view. If not, where it would be does not matter.
    moves: bool,
}

impl<'s> Outer<'s> {
    /// Of an operand that is not there.
    const NONE: Self = Self { sizes: &[], strides: &[], moves: false };

    /// Of an operand with all but its `inner` last axes.
    pub(super) fn of(sizes: &'s [usize], strides: &'s [isize], inner: usize) -> Self {
        let outer = sizes.len() - inner;
        Self { sizes: &sizes[..outer], strides: &strides[..outer], moves: !sizes[outer..].contains(&0) }
    }

    /// The stride at axis `axis` of `ndim`, to which the axes are aligned at the right.
    #[inline(always)]
    fn stride(&self, axis: usize, ndim: usize, size: usize) -> isize {
        let Some(own) = (axis + self.sizes.len()).checked_sub(ndim) else { return 0 };
        if self.sizes[own] != size {
            assert!(self.sizes[own] == 1, "an axis has the size of the result's or 1");
            return 0;
        }
        if self.moves { self.strides[own] } else { 0 }
    }
}

/// The loops over the axes of the first operand, along which the others are repeated where they have no axis or
/// size 1.
///
/// # Panics
/// Where an operand does not go there.
#[inline(always)]
pub(crate) fn nest<const N: usize>(operands: [Outer<'_>; N]) -> Nest<N> {
    let to = operands[0].sizes;
    assert!(operands.iter().all(|operand| operand.sizes.len() <= to.len()), "not more axes than the result");
    let axes = to.iter().enumerate().map(|(axis, &len)| Loop {
        len,
        strides: operands.map(|operand| operand.stride(axis, to.len(), len)),
    });
    Nest::new(axes, |l| l.strides[0].unsigned_abs())
}

/// The loops without the innermost, and that: two loops that know their lengths, so that a short innermost one costs
/// little. To be used as
/// `for mut at in Walk::new(outer, start) { for _ in 0..inner.len { …; advance(&mut at, &inner); } }`, which keeps the
/// body in the function that is compiled for the CPU at hand: a closure would not stay there.
#[inline(always)]
pub(crate) fn innermost<const N: usize>(loops: &[Loop<N>]) -> (&[Loop<N>], Loop<N>) {
    loops.split_last().map_or((loops, Loop::ONE), |(&inner, outer)| (outer, inner))
}

/// One step of the innermost loop.
#[inline(always)]
pub(crate) fn advance<const N: usize>(at: &mut [isize; N], inner: &Loop<N>) {
    for (at, stride) in at.iter_mut().zip(inner.strides) {
        // past the end after the last step, where it may be any number
        *at = at.wrapping_add(stride);
    }
}

/// What the views of one operand have in common: they differ in where they are.
struct Form<B: Dimension> {
    /// Sizes and strides. These are not negative, as `from_shape_ptr` wants it: axes that run backwards are seen from
    /// their other end,
    layout: StrideShape<B>,
    /// which is so far from the first element,
    start: isize,
    /// and inverted again in each view: 1 where so.
    inverted: B,
    any_inverted: bool,
}

impl<B: Dimension> Form<B> {
    fn of(sizes: &[usize], strides: &[isize]) -> Self {
        let zeros = B::zeros(sizes.len());
        let mut shape = zeros.clone();
        shape.slice_mut().copy_from_slice(sizes);
        if sizes.contains(&0) {
            // the strides of an array without elements may be any, those of a view to write may not
            return Self { layout: shape.into(), start: 0, inverted: zeros, any_inverted: false };
        }
        let (mut steps, mut inverted, mut start) = (zeros.clone(), zeros, 0);
        for (axis, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
            steps[axis] = stride.unsigned_abs();
            if stride < 0 {
                inverted[axis] = 1;
                start += stride * (size - 1).cast_signed();
            }
        }
        let any_inverted = strides.iter().any(|&stride| stride < 0);
        Self { layout: shape.strides(steps), start, inverted, any_inverted }
    }

    fn inverted(&self) -> impl Iterator<Item = Axis> + '_ {
        (0..self.inverted.ndim()).filter(|&axis| self.inverted[axis] == 1).map(Axis)
    }
}

/// The views of the last axes of an array that is read.
pub(crate) struct Views<'a, T, B: Dimension> {
    source: Source<'a, T>,
    outer: Outer<'a>,
    form: Form<B>,
}

impl<'a, T, B: Dimension> Views<'a, T, B> {
    /// # Panics
    /// Where `B` is fixed and not `inner` axes, or the array has less.
    pub(crate) fn new<D: Dimension>(array: &'a ArrayRef<T, D>, inner: usize) -> Self {
        let (sizes, strides) = (array.shape(), array.strides());
        let outer = Outer::of(sizes, strides, inner);
        let form = Form::of(&sizes[outer.sizes.len()..], &strides[outer.sizes.len()..]);
        Self { source: Source::new(array), outer, form }
    }

    /// # Safety
    /// `at` is the offset of an index of the outer axes, or anything where the views are empty.
    #[inline(always)]
    unsafe fn at(&self, at: isize) -> ArrayView<'a, T, B> {
        let layout = self.form.layout.clone();
        // SAFETY: With `at` as promised and `form` made of the inner sizes and strides, each index into the view is
        // one into the array, with the inverted axes seen from their last element, from which their steps are
        // forwards. The array is shared for 'a, the strides are not negative, and the array's shape was checked for
        // overflow. An empty view has the address of the array's first element, if it has one; if not, ndarray's.
        let mut view =
            unsafe { ArrayView::from_shape_ptr(layout, self.source.moved(at + self.form.start).address()) };
        if self.form.any_inverted {
            self.form.inverted().for_each(|axis| view.invert_axis(axis));
        }
        view
    }
}

/// The views of the last axes of an array that is written.
pub(crate) struct ViewsMut<'a, T, B: Dimension> {
    target: Target<'a, T>,
    outer: Outer<'a>,
    form: Form<B>,
}

impl<'a, T, B: Dimension> ViewsMut<'a, T, B> {
    /// # Panics
    /// As [`Views::new`].
    pub(crate) fn new<D: Dimension>(array: &'a mut ArrayRef<T, D>, inner: usize) -> Self {
        let (target, sizes, strides) = Target::with_axes(array);
        let outer = Outer::of(sizes, strides, inner);
        let form = Form::of(&sizes[outer.sizes.len()..], &strides[outer.sizes.len()..]);
        Self { target, outer, form }
    }

    /// # Safety
    /// As for [`Views::at`], and no other view of this index is in use.
    #[inline(always)]
    unsafe fn at(&self, at: isize) -> ArrayViewMut<'a, T, B> {
        let layout = self.form.layout.clone();
        // SAFETY: As in `Views::at`; the array is borrowed exclusively for 'a, different indices of the outer axes
        // have no element in common, and of each there is one view at a time.
        let mut view = unsafe {
            ArrayViewMut::from_shape_ptr(layout, self.target.moved(at + self.form.start).address())
        };
        if self.form.any_inverted {
            self.form.inverted().for_each(|axis| view.invert_axis(axis));
        }
        view
    }
}

/// One to three operands that are read together.
pub(crate) trait Operands {
    /// A view of each.
    type Views;

    fn outer(&self) -> [Outer<'_>; 3];

    /// # Safety
    /// As for [`Views::at`], of each operand.
    unsafe fn at(&self, at: [isize; 3]) -> Self::Views;
}

macro_rules! operands {
    ($($T:ident $B:ident $k:tt),+; $($none:expr),*) => {
        impl<'a, $($T, $B: Dimension),+> Operands for ($(Views<'a, $T, $B>,)+) {
            type Views = ($(ArrayView<'a, $T, $B>,)+);

            #[inline(always)]
            fn outer(&self) -> [Outer<'_>; 3] {
                [$(self.$k.outer,)+ $($none),*]
            }

            #[inline(always)]
            unsafe fn at(&self, at: [isize; 3]) -> Self::Views {
                // SAFETY: the caller promises it of each operand.
                unsafe { ($(self.$k.at(at[$k]),)+) }
            }
        }
    };
}
operands!(T B 0; Outer::NONE, Outer::NONE);
operands!(T B 0, U C 1; Outer::NONE);
operands!(T B 0, U C 1, V D 2;);

/// Calls `visit` with the views of every index of the outer axes of `out`.
///
/// # Panics
/// Where the outer axes of an operand do not go to those of `out`, aligned at the right.
pub(crate) fn for_each<I: Operands, T, B: Dimension>(
    operands: &I,
    out: &mut ViewsMut<'_, T, B>,
    mut visit: impl FnMut(I::Views, ArrayViewMut<'_, T, B>),
) {
    let nest = nest_of(operands, out);
    if !nest.is_empty() {
        // SAFETY: The nest's loops are over the outer axes of `out`, with the strides of each operand there, or 0
        // where it has no axis or size 1: so each offset is that of an index of the operand. They come to each index
        // of `out` once.
        unsafe { visit_all(operands, out, nest.loops(), nest.offsets(), &mut visit) };
    }
}

/// # Safety
/// The loops and where they start are those of [`nest_of`] or a part of them that no other thread has.
unsafe fn visit_all<I: Operands, T, B: Dimension>(
    operands: &I,
    out: &ViewsMut<'_, T, B>,
    loops: &[Loop<4>],
    start: [isize; 4],
    visit: &mut impl FnMut(I::Views, ArrayViewMut<'_, T, B>),
) {
    let (outer, inner) = innermost(loops);
    for mut at in Walk::new(outer, start) {
        for _ in 0..inner.len {
            let [to, read @ ..] = at;
            // SAFETY: Each step is at an index of the outer axes, by the promise of the caller. The view of the
            // result does not outlive the call, of which there is one at a time.
            unsafe { visit(operands.at(read), out.at(to)) };
            advance(&mut at, &inner);
        }
    }
}

fn nest_of<I: Operands, T, B: Dimension>(operands: &I, out: &ViewsMut<'_, T, B>) -> Nest<4> {
    let [a, b, c] = operands.outer();
    nest([out.outer, a, b, c])
}

/// [`for_each`] on several threads.
#[cfg(feature = "rayon")]
pub(crate) fn par_for_each<I: Operands + Sync, T: Send, B: Dimension>(
    operands: &I,
    out: &mut ViewsMut<'_, T, B>,
    visit: impl Fn(I::Views, ArrayViewMut<'_, T, B>) + Sync,
) {
    let nest = nest_of(operands, out);
    if nest.is_empty() {
        return;
    }
    let steps = nest.loops().iter().map(|l| l.len).product::<usize>();
    // what a closure costs is not known: pieces enough for threads that take longer to help the others out
    let grain = steps.div_ceil(8 * rayon::current_num_threads());
    let out = &*out;
    super::par::split(nest.loops(), nest.offsets(), grain, &|loops, start| {
        // SAFETY: As in `for_each`, of a part of the loops that no other call has.
        unsafe { visit_all(operands, out, loops, start, &mut |views, slot| visit(views, slot)) };
    });
}
