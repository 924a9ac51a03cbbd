//! The two kinds of pass that compute an operation on all bases: a map of two placed views, and products of matrices.

use super::Executor;
use crate::kernel::map::{to_new, visit};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Inputs, MapElement, Output, ShapePass, SharedVisitor, Threads, Visit, Write};
use crate::kernel::product::products_into;
use crate::shape::sizes_mut;
use crate::view::place;
use ndarray::{Array, ArrayRef, ArrayView, Dimension, LinalgScalar};

/// A pass over operands of checked shapes: it computes elements `T` from elements `A` and `A2`.
///
/// Not exported; public because a hidden method of a public trait names it.
pub trait BasePass<T, A, A2> {
    /// The results as a new array.
    #[doc(hidden)]
    fn new_array<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (&ArrayRef<A, D>, &ArrayRef<A2, D2>),
        memory: Reserved<T, E>,
        executor: impl Executor<T, A, A2>,
    ) -> Array<T, E>;

    /// Writes the results to an array.
    #[doc(hidden)]
    fn write<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (&ArrayRef<A, D>, &ArrayRef<A2, D2>),
        out: &mut ArrayRef<T, E>,
        executor: impl Executor<T, A, A2>,
    );
}

/// An operator between elements.
pub(super) struct Elementwise<F> {
    pub(super) op: F,
    /// The numbers of base axes of the operands.
    pub(super) axes: [usize; 2],
    /// The number of the result's base axes after those of the first operand.
    pub(super) trailing_axes: usize,
}

impl<F> Elementwise<F> {
    /// The operands, stretched to the shape of the results.
    fn placed<'a, A, A2, D: Dimension, D2: Dimension, E: Dimension>(
        &self,
        (a, b): (&'a ArrayRef<A, D>, &'a ArrayRef<A2, D2>),
        shape: &[usize],
    ) -> (ArrayView<'a, A, E>, ArrayView<'a, A2, E>) {
        let ([first, second], trailing) = (self.axes, self.trailing_axes);
        let batch = shape.len() - (first + trailing).max(second);
        (place_operand(a, first, shape, batch, trailing), place_operand(b, second, shape, batch, 0))
    }
}

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T + Copy + Sync> BasePass<T, A, A2> for Elementwise<F> {
    fn new_array<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (&ArrayRef<A, D>, &ArrayRef<A2, D2>),
        memory: Reserved<T, E>,
        executor: impl Executor<T, A, A2>,
    ) -> Array<T, E> {
        let (a, b) = self.placed::<_, _, _, _, E>(operands, memory.shape());
        let threads = executor.threads().as_ref().map(Threads::of_slots);
        let visitor = SharedVisitor::shared(Write(Operator(self.op))).on(threads);
        to_new(memory, &Inputs::from((&*a, &*b)), &visitor)
    }

    fn write<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (&ArrayRef<A, D>, &ArrayRef<A2, D2>),
        out: &mut ArrayRef<T, E>,
        executor: impl Executor<T, A, A2>,
    ) {
        let (a, b) = self.placed::<_, _, _, _, E>(operands, out.shape());
        let visitor = SharedVisitor::shared(Operator(self.op)).on(executor.threads());
        visit(ShapePass::visit(Output::of(out), &Inputs::from((&*a, &*b)), &visitor));
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
    fn new_array<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (&ArrayRef<T, D>, &ArrayRef<T, D2>),
        memory: Reserved<T, E>,
        executor: impl Executor<T, T, T>,
    ) -> Array<T, E> {
        let mut out = memory.filled(None, T::zero());
        self.write(operands, &mut out, executor);
        out
    }

    fn write<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (&ArrayRef<T, D>, &ArrayRef<T, D2>),
        out: &mut ArrayRef<T, E>,
        executor: impl Executor<T, T, T>,
    ) {
        products_into(out, operands, self.0, &executor.workers());
    }
}
