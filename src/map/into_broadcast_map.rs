//! Arrays by value, evaluated with operands into their own memory where possible.

use super::broadcast_map::broadcast_map;
use super::fused_operands::ApplyOperands;
use crate::error::{Result, Returned};
use crate::kernel::nest::Further;
use crate::sealed::Sealed;
use crate::shape::JoinDims;
use crate::view::{AsArrayRef, Operand};
use ndarray::{ArcArray, Array, ArrayRef, Dimension};

/// Maps of an array by value, which reuse its memory.
///
/// Sealed; implemented for `Array` and `ArcArray`.
pub trait IntoBroadcastMap<A, D: Dimension>: AsArrayRef<A, D> + Sized {
    /// The same storage with another dimension type.
    type With<E: Dimension>: From<Array<A, E>>;

    /// The array to write to, unless its memory is shared.
    #[doc(hidden)]
    fn exclusive(&mut self) -> Option<&mut ArrayRef<A, D>>;

    /// The same elements with another dimension type, which must have as many axes. Nothing is copied if the memory is not
    /// shared.
    #[doc(hidden)]
    fn into_array<E: Dimension>(self) -> Array<A, E>;

    /// Applies `f` to the elements of the array, which goes in by value, and of 1 to 5 further operands, all stretched to
    /// their joint shape.
    ///
    /// If the array already has the joint shape, it is overwritten and returned, provided that no other `ArcArray`
    /// shares its memory; for up to 6 axes nothing is allocated. Otherwise, the result is a new array, as with [`broadcast_map`].
    /// It is of the same kind: an `ArcArray` gives an `ArcArray`.
    ///
    /// `f` is called once for each element of the result, with references, in the order that suits memory. If it
    /// panics, the array is lost.
    ///
    /// # Shapes
    /// As [`broadcast_map`], with the array as the first operand. One further operand needs
    /// no tuple.
    ///
    /// # Errors
    /// As [`broadcast_map`]. The error returns the array, unchanged: see [`Returned`]. A further operand by value is dropped.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array2, Array3};
    /// use ndarray_broadcast::prelude::*;
    ///
    /// let (x, row) = (array![[1.0, 2.0], [3.0, 4.0]], array![10.0, 20.0]);
    /// let place = x.as_ptr();
    /// let y: Array2<f64> = x.into_broadcast_map(&row, |x, r| x + r)?;
    /// assert_eq!((y.as_ptr(), &y), (place, &array![[11.0, 22.0], [13.0, 24.0]]));
    ///
    /// let ones = Array3::<f64>::ones((3, 1, 1));
    /// let z: Array3<f64> = y.into_broadcast_map((&row, &ones), |y, r, one| y - r + one)?;
    /// assert_eq!(z.dim(), (3, 2, 2));
    ///
    /// let shared = z.into_shared();
    /// let other = shared.clone();
    /// let doubled = shared.into_broadcast_map(&ndarray::arr0(2.0), |z, two| z * two)?;
    /// assert_eq!((doubled[[0, 0, 0]], other[[0, 0, 0]]), (4.0, 2.0));
    ///
    /// let returned = doubled.into_broadcast_map(&array![1.0, 2.0, 3.0], |z, x| z * x).unwrap_err();
    /// assert_eq!(
    ///     returned.to_string(),
    ///     "cannot broadcast shapes [3, 2, 2] and [3] together: \
    ///      axis 2 has sizes 2 and 3, expected equal sizes or 1",
    /// );
    /// assert_eq!(returned.into_inner()[[0, 0, 0]], 4.0);
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `x += row` of NumPy and `x.add_(row)` of PyTorch where the shapes allow it, else `x + row`; `x + &row` of ndarray,
    /// which reuses the memory of `x` too.
    #[doc(alias("map_inplace", "mapv_into"))]
    fn into_broadcast_map<O, F>(mut self, operands: O, mut f: F) -> Result<Self::With<O::Dim>, Returned<Self>>
    where
        O: FurtherOperands<A, D, F>,
    {
        if self.exclusive().is_some_and(|own| operands.overwrite(own, &mut f)) {
            return Ok(self.into_array().into());
        }
        match operands.map_with(self.as_array_ref(), f) {
            Ok(array) => Ok(array.into()),
            Err(error) => Err(Returned::new(self, error)),
        }
    }
}

impl<A, D: Dimension> IntoBroadcastMap<A, D> for Array<A, D> {
    type With<E: Dimension> = Array<A, E>;

    fn exclusive(&mut self) -> Option<&mut ArrayRef<A, D>> {
        Some(self)
    }

    fn into_array<E: Dimension>(self) -> Array<A, E> {
        self.into_dimensionality().expect("the joint shape has as many axes")
    }
}

impl<A: Clone, D: Dimension> IntoBroadcastMap<A, D> for ArcArray<A, D> {
    type With<E: Dimension> = ArcArray<A, E>;

    fn exclusive(&mut self) -> Option<&mut ArrayRef<A, D>> {
        if self.is_unique() { Some(self) } else { None }
    }

    fn into_array<E: Dimension>(self) -> Array<A, E> {
        self.into_dimensionality().expect("the joint shape has as many axes").into_owned()
    }
}

/// The further operands of a map of an array by value: a tuple of 1 to 5 [`Operand`]s, or one without a tuple. The closure takes a
/// reference to an element of the array and of each operand.
///
/// Sealed; examples are at [`into_broadcast_map`](IntoBroadcastMap::into_broadcast_map).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand, nor a tuple of operands, beside an array of `{A}`",
    label = "expected an operand or a tuple of 1 to 5",
    note = "operands are arrays of any kind, such as `a.view()`, or references `&a` to them",
    note = "the closure takes references, to an element of the array and of each operand, and returns an element",
    note = "in code that is generic over dimension types, two operands need the bound `D: DimMax<E>`, and three \
            `D: DimMax<E, Output: DimMax<F>>`: see `ndarray_broadcast::bounds`",
    note = "an array of another version of ndarray is not an operand: `cargo tree -d` shows whether there are two versions"
)]
pub trait FurtherOperands<A, D: Dimension, F>: Sealed + Sized {
    /// The dimension type of the joint shape.
    type Dim: Dimension;

    /// Writes the results over the elements of an array, if the operands stretch to its shape; else `false`.
    #[doc(hidden)]
    fn overwrite(&self, own: &mut ArrayRef<A, D>, f: &mut F) -> bool;

    /// Maps an array and the operands. An operand by value that has the joint shape is overwritten.
    #[doc(hidden)]
    fn map_with(self, array: &ArrayRef<A, D>, f: F) -> Result<Array<A, Self::Dim>>;
}

/// By hand: `impl<A, Own, B: Operand, C: Operand, F: FnMut(&A, &B::Elem, &C::Elem) -> A> FurtherOperands<A, Own, F> for (B, C)`.
/// `$Self` matches the pattern `$operands`.
macro_rules! further {
    ($($O:ident $x:ident),+) => {
        further!(($($O,)+), ($($x,)+), [$($O $x),+]);
    };
    ($Self:ty, $operands:pat, [$($O:ident $x:ident),+]) => {
        impl<A, Own: Dimension, $($O: Operand,)+ F> FurtherOperands<A, Own, F> for $Self
        where
            F: FnMut(&A, $(&$O::Elem),+) -> A,
            (Own, $($O::Dim,)+): JoinDims,
            ($($O::Dim,)+): JoinDims,
        {
            type Dim = <(Own, $($O::Dim,)+) as JoinDims>::Joint;

            fn overwrite(&self, own: &mut ArrayRef<A, Own>, f: &mut F) -> bool {
                let $operands = self;
                ($($x.operand_ref(),)+).applied(own, Further::from(()), |own: &mut A, $($x: &$O::Elem),+| *own = f(own, $($x),+))
            }

            fn map_with(self, array: &ArrayRef<A, Own>, f: F) -> Result<Array<A, Self::Dim>> {
                let $operands = self;
                broadcast_map((array, $($x.operand_ref(),)+), f)
            }
        }
    };
}
further!(B, b, [B b]);
further!(B b);
further!(B b, C c);
further!(B b, C c, D d);
further!(B b, C c, D d, E e);
further!(B b, C c, D d, E e, G g);
