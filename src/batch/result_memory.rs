//! Where results go: memory for a new array, or an existing array.

use crate::kernel::memory::Reserved;
use ndarray::{Array, ArrayRef, Dimension};

/// Where an operation writes elements `T`.
///
/// Not exported; public because hidden methods of public traits take it.
pub trait ResultMemory<T> {
    /// The dimension type of the array.
    type Dim: Dimension;
    /// The new array; nothing for an existing one.
    type Written;

    /// The shape of the array.
    #[doc(hidden)]
    fn shape(&self) -> &[usize];

    /// Calls the first closure for a new array, and the second for an existing one.
    #[doc(hidden)]
    fn write(
        self,
        new: impl FnOnce(Reserved<T, Self::Dim>) -> Array<T, Self::Dim>,
        existing: impl FnOnce(&mut ArrayRef<T, Self::Dim>),
    ) -> Self::Written;
}

impl<T, D: Dimension> ResultMemory<T> for Reserved<T, D> {
    type Dim = D;
    type Written = Array<T, D>;

    #[inline]
    fn shape(&self) -> &[usize] {
        self.shape()
    }

    #[inline]
    fn write(
        self,
        new: impl FnOnce(Self) -> Array<T, D>,
        _: impl FnOnce(&mut ArrayRef<T, D>),
    ) -> Array<T, D> {
        new(self)
    }
}

impl<T, D: Dimension> ResultMemory<T> for &mut ArrayRef<T, D> {
    type Dim = D;
    type Written = ();

    #[inline]
    fn shape(&self) -> &[usize] {
        (**self).shape()
    }

    #[inline]
    fn write(self, _: impl FnOnce(Reserved<T, D>) -> Array<T, D>, existing: impl FnOnce(Self)) {
        existing(self);
    }
}
