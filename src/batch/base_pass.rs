//! The two kinds of pass that compute an operation on all bases: a map of two placed views, and products of matrices.

use super::{Executor, ResultMemory};
use crate::kernel::map::{each, to_new};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Inputs, MapElement, SharedVisitor, Threads, Visit, Write};
use crate::shape::sizes_mut;
use crate::view::place;
use ndarray::{ArrayRef, ArrayView, Dimension, LinalgScalar};

/// A pass over operands of checked shapes: it computes elements `T` from elements `A` and `A2`.
///
/// Not exported; public because a hidden method of a public trait names it.
pub trait BasePass<T, A, A2> {
    /// Writes the results.
    #[doc(hidden)]
    fn run<D: Dimension, D2: Dimension, O: ResultMemory<T>>(
        self,
        operands: (&ArrayRef<A, D>, &ArrayRef<A2, D2>),
        out: O,
        executor: impl Executor<T, A, A2>,
    ) -> O::Written;
}

/// An operator between elements.
pub(super) struct Elementwise<F> {
    pub(super) op: F,
    /// The numbers of base axes of the operands.
    pub(super) axes: [usize; 2],
    /// The number of the result's base axes after those of the first operand.
    pub(super) trailing_axes: usize,
}

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T + Copy + Sync> BasePass<T, A, A2> for Elementwise<F> {
    #[inline]
    fn run<D: Dimension, D2: Dimension, O: ResultMemory<T>>(
        self,
        (a, b): (&ArrayRef<A, D>, &ArrayRef<A2, D2>),
        out: O,
        executor: impl Executor<T, A, A2>,
    ) -> O::Written {
        let ([first, second], trailing) = (self.axes, self.trailing_axes);
        let batch = out.shape().len() - (first + trailing).max(second);
        let a: ArrayView<A, O::Dim> = place_operand(a, first, out.shape(), batch, trailing);
        let b: ArrayView<A2, O::Dim> = place_operand(b, second, out.shape(), batch, 0);
        let (inputs, visitor, threads) = (Inputs::from((&*a, &*b)), Operator(self.op), executor.threads());
        let new = SharedVisitor::shared(Write(visitor)).on(threads.as_ref().map(Threads::of_slots));
        let existing = SharedVisitor::shared(visitor).on(threads);
        out.write(|memory| to_new(memory, &inputs, &new), |out| each(out, &inputs, &existing))
    }
}

/// An operator between elements, for the kernel.
#[derive(Clone, Copy)]
struct Operator<F>(F);

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> MapElement<T, (A, A2)> for Operator<F> {
    #[inline(always)]
    fn map(&mut self, (&x, &y): (&A, &A2)) -> T {
        (self.0)(x, y)
    }
}

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T> Visit<T, (A, A2)> for Operator<F> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, (&x, &y): (&A, &A2)) {
        *out = (self.0)(x, y);
    }
}

/// The array stretched to `shape`, its batch aligned at the right of the first `batch` axes and its `base` axes before the last
/// `trailing_axes` axes.
#[inline]
fn place_operand<'a, A, D: Dimension, E: Dimension>(
    array: &'a ArrayRef<A, D>,
    base: usize,
    shape: &[usize],
    batch: usize,
    trailing_axes: usize,
) -> ArrayView<'a, A, E> {
    let first = batch + base - array.ndim();
    let places = (first..batch).chain(shape.len() - trailing_axes - base..);
    let mut whole = E::zeros(shape.len());
    sizes_mut(&mut whole).copy_from_slice(shape);
    place(array, whole, places)
}

/// Products of matrices and vectors, with the numbers of base axes of the result and of each operand.
pub(super) struct Product(pub(super) [usize; 3]);

impl<T: LinalgScalar> BasePass<T, T, T> for Product {
    #[inline]
    fn run<D: Dimension, D2: Dimension, O: ResultMemory<T>>(
        self,
        (a, b): (&ArrayRef<T, D>, &ArrayRef<T, D2>),
        out: O,
        executor: impl Executor<T, T, T>,
    ) -> O::Written {
        let multiply = |out: &mut ArrayRef<T, O::Dim>| executor.products()(out, (a, b), self.0);
        let new = |memory: Reserved<T, O::Dim>| {
            let mut out = memory.filled(None, T::zero());
            multiply(&mut out);
            out
        };
        out.write(new, multiply)
    }
}
