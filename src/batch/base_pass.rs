//! The two kinds of pass that compute an operation on all bases: a map of two placed views, and products of matrices.

use super::Executor;
use crate::kernel::memory::Reserved;
use crate::kernel::nest::Inputs;
use crate::shape::sizes_mut;
use crate::view::place;
use ndarray::{Array, ArrayRef, ArrayView, Dimension, LinalgScalar};

/// An array and the number of its base axes.
pub(super) type SplitArray<'a, A, D> = (&'a ArrayRef<A, D>, usize);

/// A pass over operands of checked shapes: it computes elements `T` from elements `A` and `A2`.
///
/// Not exported; public because a hidden method of a public trait names it.
pub trait BasePass<T, A, A2> {
    /// The results as a new array.
    #[doc(hidden)]
    fn to_new<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (SplitArray<'_, A, D>, SplitArray<'_, A2, D2>),
        result: Reserved<T, E>,
        executor: impl Executor<T, A, A2>,
    ) -> Array<T, E>;

    /// Writes the results.
    #[doc(hidden)]
    fn write<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (SplitArray<'_, A, D>, SplitArray<'_, A2, D2>),
        out: &mut ArrayRef<T, E>,
        executor: impl Executor<T, A, A2>,
    );
}

/// An operator between elements.
pub(super) struct Elementwise<F> {
    pub(super) op: F,
    /// The number of the result's base axes after those of the first operand.
    pub(super) trailing_axes: usize,
}

impl<F> Elementwise<F> {
    /// The operands as views of the result's shape.
    #[inline]
    fn place_operands<'a, A, A2, D: Dimension, D2: Dimension, E: Dimension>(
        &self,
        (a, b): (SplitArray<'a, A, D>, SplitArray<'a, A2, D2>),
        shape: &[usize],
    ) -> (ArrayView<'a, A, E>, ArrayView<'a, A2, E>) {
        let batch = shape.len() - (a.1 + self.trailing_axes).max(b.1);
        (place_operand(a, shape, batch, self.trailing_axes), place_operand(b, shape, batch, 0))
    }
}

/// The array stretched to `shape`, its batch aligned at the right of the first `batch` axes and its base before the last
/// `trailing_axes` axes.
#[inline]
fn place_operand<'a, A, D: Dimension, E: Dimension>(
    (array, base): SplitArray<'a, A, D>,
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

impl<T, A: Copy, A2: Copy, F: Fn(A, A2) -> T + Copy + Sync> BasePass<T, A, A2> for Elementwise<F> {
    #[inline]
    fn to_new<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (SplitArray<'_, A, D>, SplitArray<'_, A2, D2>),
        result: Reserved<T, E>,
        executor: impl Executor<T, A, A2>,
    ) -> Array<T, E> {
        let (a, b) = self.place_operands::<_, _, _, _, E>(operands, result.shape());
        executor.map(self.op, &Inputs::from((&*a, &*b)), result)
    }

    #[inline]
    fn write<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (SplitArray<'_, A, D>, SplitArray<'_, A2, D2>),
        out: &mut ArrayRef<T, E>,
        executor: impl Executor<T, A, A2>,
    ) {
        let (a, b) = self.place_operands::<_, _, _, _, E>(operands, out.shape());
        executor.map_into(self.op, &Inputs::from((&*a, &*b)), out);
    }
}

/// Products of matrices and vectors, with the numbers of base axes of the result and of each operand.
pub(super) struct Product(pub(super) [usize; 3]);

impl<T: LinalgScalar> BasePass<T, T, T> for Product {
    #[inline]
    fn to_new<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        operands: (SplitArray<'_, T, D>, SplitArray<'_, T, D2>),
        result: Reserved<T, E>,
        executor: impl Executor<T, T, T>,
    ) -> Array<T, E> {
        let mut out = result.filled(None, T::zero());
        self.write(operands, &mut out, executor);
        out
    }

    #[inline]
    fn write<D: Dimension, D2: Dimension, E: Dimension>(
        self,
        (a, b): (SplitArray<'_, T, D>, SplitArray<'_, T, D2>),
        out: &mut ArrayRef<T, E>,
        executor: impl Executor<T, T, T>,
    ) {
        executor.multiply_into(self.0, (a.0, b.0), out);
    }
}
