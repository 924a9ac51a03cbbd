//! Views of any number of operands in their joint shape.

use super::raw::broadcast_data;
use crate::error::Result;
use crate::sealed::Sealed;
use crate::shape::{JoinDims, joint_dim, joint_error};
use alloc::vec::Vec;
use core::ops::Deref;
use ndarray::{ArrayBase, ArrayRef, ArrayView, Data, Dimension};

/// One operand of a map or of [`fused`](crate::fused()): any kind of array, by reference or by value.
///
/// Sealed. [`broadcast_arrays`] takes [`ViewOperand`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand",
    label = "expected an array, or a reference to one",
    note = "an operand is an array of any kind, such as `a.view()`, or a reference `&a` to one",
    note = "for a `Vec` or slice `v` give `aview1(&v)`, for a number `x` give `arr0(x)`",
    note = "an array of another version of ndarray is not an operand: `cargo tree -d` shows whether there are two versions"
)]
pub trait Operand: Sealed {
    /// The type of the elements.
    type Elem;
    /// The dimension type.
    type Dim: Dimension;

    #[doc(hidden)]
    fn operand_ref(&self) -> &ArrayRef<Self::Elem, Self::Dim>;
}

/// By hand: `impl<A, D: Dimension> Operand for &ArrayRef<A, D>`.
macro_rules! operand {
    ($([$G:ident $(: $Bound:ident)?] $T:ty, $A:ty;)*) => {$(
        impl<$G $(: $Bound)?, D: Dimension> Operand for $T {
            type Elem = $A;
            type Dim = D;
            #[inline]
            fn operand_ref(&self) -> &ArrayRef<$A, D> {
                self
            }
        }
    )*};
}
operand! {
    [S: Data] ArrayBase<S, D>, S::Elem;
    [S: Data] &ArrayBase<S, D>, S::Elem;
    [A] &ArrayRef<A, D>, A;
}

/// One operand of [`broadcast_arrays`]: a reference to any kind of array, or an `ArrayView` by value.
///
/// A view by value keeps the lifetime of its data, so it may be a temporary. Sealed; [`Operands`] are
/// tuples of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand that can be seen in another shape",
    label = "expected a reference to an array, or a view",
    note = "write `&a` for any kind of array `a`, or give an `ArrayView` by value, such as `a.view()`",
    note = "for a `Vec` or slice `v` give `&aview1(&v)`, for a number `x` give `&arr0(x)`",
    note = "an array of another version of ndarray is not an operand: `cargo tree -d` shows whether there are two versions"
)]
pub trait ViewOperand: Operand {
    /// A view of the operand's data with another dimension type.
    type View<E: Dimension>: Deref<Target = ArrayRef<Self::Elem, E>>;

    /// The operand aligned at the right in `shape`, unless that overflows.
    #[doc(hidden)]
    fn operand_view<E: Dimension>(&self, shape: E) -> Option<Self::View<E>>;
}

/// By hand: `impl<'a, A, D: Dimension> ViewOperand for &'a ArrayRef<A, D>`.
macro_rules! view_operand {
    ($([$($generics:tt)*] $T:ty, $A:ty, |$this:ident, $shape:ident| $view:expr;)*) => {$(
        impl<'a, $($generics)*, D: Dimension> ViewOperand for $T {
            type View<E: Dimension> = ArrayView<'a, $A, E>;
            #[inline]
            fn operand_view<E: Dimension>(&self, $shape: E) -> Option<Self::View<E>> {
                let $this = self;
                $view
            }
        }
    )*};
}
view_operand! {
    [S: Data<Elem: 'a>] &'a ArrayBase<S, D>, S::Elem, |array, shape| array.broadcast(shape);
    [A] &'a ArrayRef<A, D>, A, |array, shape| array.broadcast(shape);
    [A] ArrayView<'a, A, D>, A, |view, shape| broadcast_data(view, shape);
}

/// A tuple of 1 to 6 [`ViewOperand`]s, whose kinds, element types and numbers of axes may differ; or an array or slice of any
/// number of operands of one type.
///
/// The argument of [`broadcast_arrays`]. Sealed.
///
/// # Examples
/// ```
/// use ndarray::{array, Dimension};
/// use ndarray_broadcast::{bounds::Operands, broadcast_arrays, BroadcastError};
///
/// // the number of axes of the joint shape, if the types state it
/// fn joint_ndim<O: Operands>(operands: O) -> Result<Option<usize>, BroadcastError> {
///     broadcast_arrays(operands).map(|_| O::Dim::NDIM)
/// }
/// let (row, column) = (array![1, 2], array![[1.0], [2.0], [3.0]]);
/// assert_eq!(joint_ndim((&row, &column))?, Some(2));
/// assert_eq!(joint_ndim((row.view(), column.into_dyn().view()))?, None);
/// assert!(joint_ndim((&row, &array![1, 2, 3])).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
/// A `Vec` is not an operand, and neither is a seventh array:
/// ```compile_fail,E0277
/// let (x, v) = (ndarray::array![1.0], vec![1.0, 2.0]);
/// ndarray_broadcast::broadcast_arrays((&x, &v)).unwrap(); // give `&aview1(&v)`
/// ```
/// ```compile_fail,E0277
/// let x = ndarray::array![1.0];
/// ndarray_broadcast::broadcast_arrays((&x, &x, &x, &x, &x, &x, &x)).unwrap(); // use `broadcast_views`
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of operands",
    label = "expected a tuple of 1 to 6 operands, or an array or slice of operands of one type",
    note = "for more than 6 operands, or a number only known at run time, use `broadcast_views`",
    note = "an operand is `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`",
    note = "in code that is generic over dimension types, two operands need the bound `D: DimMax<E>`, and three \
            `D: DimMax<E, Output: DimMax<F>>`: see `ndarray_broadcast::bounds`"
)]
pub trait Operands: Sealed {
    /// The dimension type of the joint shape.
    type Dim: Dimension;
    /// The tuple of views.
    type Views;

    /// The views of the joint shape.
    #[doc(hidden)]
    fn views(self) -> Result<Self::Views>;
}

/// By hand: `impl<A: ViewOperand, B: ViewOperand> Operands for (A, B) where (A::Dim, B::Dim): JoinDims`.
macro_rules! operands {
    ($($T:ident $x:ident),+) => {
        impl<$($T: ViewOperand),+> Operands for ($($T,)+)
        where
            ($($T::Dim,)+): JoinDims,
        {
            type Dim = <($($T::Dim,)+) as JoinDims>::Joint;
            type Views = ($($T::View<Self::Dim>,)+);

            #[inline]
            fn views(self) -> Result<Self::Views> {
                let ($($x,)+) = self;
                let shapes = [$($x.operand_ref().shape()),+];
                joint_views(&shapes, |joint: Self::Dim| Some(($($x.operand_view(joint.clone())?,)+)))
            }
        }
    };
}
operands!(A a);
operands!(A a, B b);
operands!(A a, B b, C c);
operands!(A a, B b, C c, D d);
operands!(A a, B b, C c, D d, E e);
operands!(A a, B b, C c, D d, E e, F f);

/// An array of operands of one type.
impl<O: ViewOperand, const N: usize> Operands for [O; N] {
    type Dim = O::Dim;
    type Views = [O::View<O::Dim>; N];

    fn views(self) -> Result<Self::Views> {
        if N == 0 {
            return Ok(self.map(|_| unreachable!("there is no operand")));
        }
        let shapes = self.each_ref().map(|operand| operand.operand_ref().shape());
        joint_views(&shapes, |joint: O::Dim| {
            let views = self.each_ref().map(|operand| operand.operand_view(joint.clone()));
            views.iter().all(Option::is_some).then(|| views.map(|view| view.expect("all are some")))
        })
    }
}

/// A slice of operands of one type: their number is only known at run time.
impl<O: ViewOperand> Operands for &[O] {
    type Dim = O::Dim;
    type Views = Vec<O::View<O::Dim>>;

    fn views(self) -> Result<Self::Views> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let shapes: Vec<&[usize]> = self.iter().map(|operand| operand.operand_ref().shape()).collect();
        joint_views(&shapes, |joint: O::Dim| {
            self.iter().map(|operand| operand.operand_view(joint.clone())).collect()
        })
    }
}

/// The views that `make` builds for the joint shape. It gives `None` where that overflows.
#[inline(always)]
fn joint_views<D: Dimension, V>(shapes: &[&[usize]], make: impl FnOnce(D) -> Option<V>) -> Result<V> {
    joint_dim(shapes).and_then(make).ok_or_else(|| joint_error(shapes))
}

/// Stretches 1 to 6 operands, or any number of operands of one type, to their joint shape.
///
/// # Shapes
/// Aligned at the right; a missing axis counts as size 1; the joint size of an axis is the one size
/// that is not 1, or 1. The views have as many axes as the operand with the most: a fixed number
/// if all are fixed, otherwise a dynamic one. A tuple of operands gives a tuple of views. Operands of one
/// type in an array, `[&a, &b]`, give an array, and those in a slice a `Vec`. No operands give no views.
///
/// # Errors
/// [`Incompatible`](crate::ErrorKind::Incompatible) where an axis has two sizes that are not 1, 0 included;
/// [`Overflow`](crate::ErrorKind::Overflow) where the non-zero joint sizes multiply past `isize::MAX`.
///
/// # Examples
/// ```
/// use ndarray::{array, Axis};
/// use ndarray_broadcast::broadcast_arrays;
///
/// let (column, row, flag) = (array![[1.0], [2.0]], array![10_u8, 20, 30], array![[[true]]]);
/// let (x, y, z) = broadcast_arrays((&column, &row, &flag))?;
/// assert_eq!([x.dim(), y.dim(), z.dim()], [(1, 2, 3); 3]);
/// assert_eq!((x[[0, 1, 2]], y[[0, 1, 2]]), (2.0, 30));
///
/// // of one type, as an array
/// let (a, b) = (array![[1, 2]], array![[3], [4]]);
/// let [x, y] = broadcast_arrays([&a, &b])?;
/// assert_eq!((x, y), (array![[1, 2], [1, 2]].view(), array![[3, 3], [4, 4]].view()));
/// assert_eq!(broadcast_arrays(&[&a, &b, &a][..])?.len(), 3);
///
/// // a view by value keeps the lifetime of its data
/// let (x, y) = broadcast_arrays((row.view().insert_axis(Axis(1)), &row))?;
/// assert_eq!((x.dim(), y.dim()), ((3, 3), (3, 3)));
///
/// assert!(broadcast_arrays((&row, &array![1, 2])).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
/// A reference to a temporary view does not live long enough:
/// ```compile_fail,E0716
/// # use ndarray::{array, Axis};
/// # use ndarray_broadcast::broadcast_arrays;
/// # let row = array![10, 20, 30];
/// let (x, y) = broadcast_arrays((&row.view().insert_axis(Axis(1)), &row)).unwrap();
/// assert_eq!(x.dim(), y.dim());
/// ```
///
/// # Equivalents
/// `numpy.broadcast_arrays`, `torch.broadcast_tensors`, Poplar's `broadcastToMatch` for any number. `meshgrid` is this
/// function for a row and a column. To `stack` arrays of different shapes, broadcast them first and call ndarray's `stack`.
#[doc(alias = "broadcast_tensors")]
#[inline]
// `Result<O::Views>` makes the compiler report a wrong operand twice.
pub fn broadcast_arrays<O: Operands<Views = V>, V>(operands: O) -> Result<V> {
    operands.views()
}

/// Stretches any number of views of one type to their joint shape.
///
/// # Shapes
/// As [`broadcast_arrays`]. Views of dynamic rank may differ in rank. No views give an empty `Vec`.
///
/// # Errors
/// As [`broadcast_arrays`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::broadcast_views;
///
/// let (a, b) = (array![[1], [2]].into_dyn(), array![10, 20, 30].into_dyn());
/// let views = broadcast_views(&[a.view(), b.view()])?;
/// assert_eq!(views[1], array![[10, 20, 30], [10, 20, 30]].into_dyn());
/// assert!(broadcast_views(&[a.t(), b.view()]).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `numpy.broadcast_arrays(*arrays)`, `torch.broadcast_tensors(*tensors)`.
pub fn broadcast_views<'a, A, D: Dimension>(
    views: &[ArrayView<'a, A, D>],
) -> Result<Vec<ArrayView<'a, A, D>>> {
    views.views()
}
