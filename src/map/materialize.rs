//! Copies of views into their own memory.

use crate::error::{ErrorBuilder, Result, caller};
use crate::kernel::map::{copy, copy_into};
use crate::reserved::reserved;
use crate::shape::{all_stretch_to, output_error};
use crate::view::AsArrayRef;
use ndarray::{Array, ArrayRef, Dimension};

/// Copies of arrays, above all of broadcast views, into their own memory.
///
/// Sealed; implemented for every kind of array.
pub trait Materialize<A: Clone, D: Dimension>: AsArrayRef<A, D> {
    /// A copy of the array in standard layout (row-major, C order), whatever its layout. The result of a map or of a sum
    /// has the memory order of its operands; a copy of it has C order.
    ///
    /// # Shapes
    /// The result has the shape of the array.
    ///
    /// # Panics
    /// If the elements take more than `isize::MAX` bytes, or more than can be allocated: a view can be larger than
    /// memory. [`try_materialize`](Self::try_materialize) returns an error instead. If a `clone` panics, the elements
    /// copied so far are leaked, not dropped.
    ///
    /// # Errors
    /// None.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let words = array!["a".to_string(), "b".to_string()];
    /// let view = words.broadcast_to([2, 2])?;
    /// let owned = view.t().materialize();
    /// assert_eq!(owned, array![["a", "a"], ["b", "b"]]);
    /// assert!(owned.is_standard_layout() && !view.t().is_standard_layout());
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    /// A view that is larger than memory:
    /// ```should_panic
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let all = ndarray::arr0(1_u64).broadcast_to([1_usize << 61])?.materialize();
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.array(x, order="C")`; PyTorch `x.contiguous()`, which does not copy a contiguous array. ndarray's `to_owned` keeps F
    /// order and is slow for views that repeat elements.
    #[doc(alias("to_owned", "contiguous", "as_standard_layout", "ascontiguousarray"))]
    #[must_use]
    #[track_caller]
    fn materialize(&self) -> Array<A, D> {
        match self.try_materialize() {
            Ok(copy) => copy,
            Err(error) => panic!("{}", error.line()),
        }
    }

    /// [`materialize`](Self::materialize) with an error instead of a panic.
    ///
    /// # Shapes
    /// As [`materialize`](Self::materialize).
    ///
    /// # Errors
    /// [`TooLarge`](crate::ErrorKind::TooLarge) where the elements take more than `isize::MAX` bytes, or more than can be
    /// allocated: a view can be larger than memory.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{arr0, array};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let row = array![1, 2];
    /// assert_eq!(row.broadcast_to((2, -1))?.try_materialize()?, array![[1, 2], [1, 2]]);
    /// assert_eq!(
    ///     arr0(1_u8).broadcast_to([1_usize << 62])?.try_materialize().unwrap_err().to_string(),
    ///     "cannot materialize shape [4611686018427387904]: \
    ///      the result [4611686018427387904] takes 4611686018427387904 bytes, which cannot be allocated",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// As [`materialize`](Self::materialize); NumPy raises `MemoryError`.
    fn try_materialize(&self) -> Result<Array<A, D>> {
        let array = self.as_array_ref();
        let result = reserved(array.raw_dim(), || ErrorBuilder::new(&caller::MATERIALIZE, &[array.shape()]))?;
        Ok(copy(result, array))
    }

    /// Copies the array, stretched to the shape of `out`, into `out`.
    ///
    /// # Shapes
    /// Aligned at the right, each axis of the array has the size of `out` or is 1; `out` may have more axes,
    /// and any layout.
    ///
    /// # Errors
    /// In this order, and before anything is changed:
    /// [`TooFewAxes`](crate::ErrorKind::TooFewAxes) where `out` has fewer axes than the array;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a size differs and is not 1 in the array.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let mut out = Array2::zeros((2, 3));
    /// array![[1], [2]].materialize_into(&mut out)?;
    /// assert_eq!(out, array![[1, 1, 1], [2, 2, 2]]);
    /// assert_eq!(
    ///     array![1, 2].materialize_into(&mut out).unwrap_err().to_string(),
    ///     "cannot broadcast shape [2] to output [2, 3]: \
    ///      axis 1 has sizes 2 and 3, expected equal sizes or 1 in the operand",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.copyto(out, x)`, which also drops leading axes of size 1; PyTorch `out.copy_(x)`; ndarray's `assign`, which
    /// panics where the shapes do not fit.
    #[doc(alias("assign", "copyto"))]
    fn materialize_into<E: Dimension>(&self, out: &mut ArrayRef<A, E>) -> Result<()> {
        let array = self.as_array_ref();
        if !all_stretch_to([array.shape()], out.shape()) {
            return Err(output_error(&[array.shape()], out.shape()));
        }
        copy_into(out, array);
        Ok(())
    }
}

impl<T: AsArrayRef<A, D> + ?Sized, A: Clone, D: Dimension> Materialize<A, D> for T {}
