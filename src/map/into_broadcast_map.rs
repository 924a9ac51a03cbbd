//! Arrays by value, evaluated with operands into their own memory where possible.

use super::broadcast_map::mapped;
use crate::error::{BroadcastError, Returned};
use crate::kernel::each::{Make, VisitBlock, block, over_each};
use crate::kernel::nest::{Elements, Inputs, Visit};
use crate::sealed::Sealed;
use crate::shape::{JoinDims, all_stretch_onto};
use crate::view::Operand;
use core::marker::PhantomData;
use ndarray::{ArcArray, Array, ArrayRef, Dimension};

/// Maps of an array by value, which reuse its memory.
///
/// Sealed; implemented for `Array` and `ArcArray`.
pub trait IntoBroadcastMap<A, D: Dimension>: Sealed + Sized {
    /// The same storage with another dimension type.
    type With<E: Dimension>;

    /// Applies `f` to the elements of the array and of 1 to 5 further operands, all stretched to their joint shape.
    ///
    /// If the array already has the joint shape, it is overwritten and returned, provided that no other `ArcArray`
    /// shares its memory; for up to 6 axes nothing is allocated. Otherwise the result is a new array, as
    /// [`broadcast_map`](crate::broadcast_map) makes it. An `ArcArray` gives an `ArcArray`.
    ///
    /// `f` is called once for each element of the result, with references, in the order that suits memory. If it
    /// panics, the array is lost.
    ///
    /// # Shapes
    /// As [`broadcast_map`](crate::broadcast_map), with the array as the first operand. One further operand may be
    /// given without a tuple.
    ///
    /// # Errors
    /// As [`broadcast_map`](crate::broadcast_map). The error returns the array unchanged: see [`Returned`].
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
    #[doc(alias = "map_inplace")]
    fn into_broadcast_map<O, F>(self, operands: O, f: F) -> Result<Self::With<O::Dim>, Returned<Self>>
    where
        O: FurtherOperands<A, D, F>;
}

impl<A, D: Dimension> IntoBroadcastMap<A, D> for Array<A, D> {
    type With<E: Dimension> = Array<A, E>;

    #[inline]
    fn into_broadcast_map<O, F>(mut self, operands: O, f: F) -> Result<Array<A, O::Dim>, Returned<Self>>
    where
        O: FurtherOperands<A, D, F>,
    {
        let mut own = Own::<D, O, F>(f, PhantomData);
        if in_place(&mut self, &operands.others(), &mut |nest, rows| block(nest, rows, &mut own)) {
            return Ok(self.into_dimensionality().expect("the joint shape has as many axes"));
        }
        match in_new(&self, &operands, own) {
            Ok(new) => Ok(new),
            Err(error) => Err(Returned::new(self, error)),
        }
    }
}

impl<A: Clone, D: Dimension> IntoBroadcastMap<A, D> for ArcArray<A, D> {
    type With<E: Dimension> = ArcArray<A, E>;

    #[inline]
    fn into_broadcast_map<O, F>(mut self, operands: O, f: F) -> Result<ArcArray<A, O::Dim>, Returned<Self>>
    where
        O: FurtherOperands<A, D, F>,
    {
        let mut own = Own::<D, O, F>(f, PhantomData);
        if self.is_unique()
            && in_place(&mut self, &operands.others(), &mut |nest, rows| block(nest, rows, &mut own))
        {
            return Ok(self.into_dimensionality().expect("the joint shape has as many axes"));
        }
        match in_new(&self, &operands, own) {
            Ok(new) => Ok(new.into_shared()),
            Err(error) => Err(Returned::new(self, error)),
        }
    }
}

/// Calls `visit` for the array if the operands go to its shape. Not generic over the closure.
fn in_place<A, D: Dimension, E: Elements>(
    array: &mut ArrayRef<A, D>,
    others: &Inputs<'_, E>,
    visit: &mut VisitBlock<'_, A, E>,
) -> bool {
    let goes = all_stretch_onto(others.shapes(), array.shape());
    if goes {
        over_each(array, others, visit);
    }
    goes
}

/// Applies the closure to the array and the operands, into a new array.
fn in_new<A, D, O, F>(
    array: &ArrayRef<A, D>,
    operands: &O,
    own: Own<D, O, F>,
) -> Result<Array<A, O::Dim>, BroadcastError>
where
    D: Dimension,
    O: FurtherOperands<A, D, F>,
{
    mapped(&operands.all(array), own)
}

/// The operands beside an array by value: a tuple of 1 to 5 [`Operand`]s, or one operand without a tuple. The closure
/// takes a reference to an element of the array and of each operand.
///
/// Sealed; examples are at [`into_broadcast_map`](IntoBroadcastMap::into_broadcast_map).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand, nor a tuple of operands, beside an array of `{A}`",
    label = "expected an operand or a tuple of 1 to 5",
    note = "operands are `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`"
)]
pub trait FurtherOperands<A, D: Dimension, F>: Sealed {
    /// The dimension type of the joint shape.
    type Dim: Dimension;
    /// The types of the operands' elements, and those with the array's first.
    #[doc(hidden)]
    type Others: Elements;
    #[doc(hidden)]
    type All: Elements;

    #[doc(hidden)]
    fn others(&self) -> Inputs<'_, Self::Others>;

    #[doc(hidden)]
    fn all<'s>(&'s self, array: &'s ArrayRef<A, D>) -> Inputs<'s, Self::All>;

    /// Calls the closure with an element of the array and of each operand.
    #[doc(hidden)]
    fn call(f: &mut F, own: &A, others: <Self::Others as Elements>::Refs<'_>) -> A;

    #[doc(hidden)]
    fn call_all(f: &mut F, all: <Self::All as Elements>::Refs<'_>) -> A;
}

/// A closure that computes an element from the array's own and those of the operands.
struct Own<D, O, F>(F, PhantomData<fn(D, O)>);

impl<A, D: Dimension, F, O: FurtherOperands<A, D, F>> Visit<A, O::Others> for Own<D, O, F> {
    const READS: bool = true;

    #[inline(always)]
    fn visit(&mut self, own: &mut A, others: <O::Others as Elements>::Refs<'_>) {
        *own = O::call(&mut self.0, own, others);
    }
}

impl<A, D: Dimension, F, O: FurtherOperands<A, D, F>> Make<A, O::All> for Own<D, O, F> {
    #[inline(always)]
    fn make(&mut self, all: <O::All as Elements>::Refs<'_>) -> A {
        O::call_all(&mut self.0, all)
    }
}

/// `$this` is the [`FurtherOperands`]; the expressions are its operands.
macro_rules! further {
    ([$($O:ident $x:ident),+] $Self:ty, $this:ident: $($operand:expr),+) => {
        impl<A, Own: Dimension, $($O: Operand,)+ F> FurtherOperands<A, Own, F> for $Self
        where
            F: FnMut(&A, $(&$O::Elem),+) -> A,
            (Own, $($O::Dim,)+): JoinDims,
        {
            type Dim = <(Own, $($O::Dim,)+) as JoinDims>::Joint;
            type Others = ($($O::Elem,)+);
            type All = (A, $($O::Elem,)+);

            #[inline]
            fn others(&self) -> Inputs<'_, Self::Others> {
                let $this = self;
                Inputs::from(($($operand.operand_ref(),)+))
            }

            #[inline]
            fn all<'s>(&'s self, array: &'s ArrayRef<A, Own>) -> Inputs<'s, Self::All> {
                let $this = self;
                Inputs::from((array, $($operand.operand_ref(),)+))
            }

            #[inline(always)]
            fn call(f: &mut F, own: &A, ($($x,)+): ($(&$O::Elem,)+)) -> A {
                f(own, $($x),+)
            }

            #[inline(always)]
            fn call_all(f: &mut F, (own, $($x,)+): (&A, $(&$O::Elem,)+)) -> A {
                f(own, $($x),+)
            }
        }
    };
}
further!([B b] B, this: this);
further!([B b] (B,), this: this.0);
further!([B b, C c] (B, C), this: this.0, this.1);
further!([B b, C c, D d] (B, C, D), this: this.0, this.1, this.2);
further!([B b, C c, D d, E e] (B, C, D, E), this: this.0, this.1, this.2, this.3);
further!([B b, C c, D d, E e, G g] (B, C, D, E, G), this: this.0, this.1, this.2, this.3, this.4);
