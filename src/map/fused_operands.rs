//! Operands and the closures that take an element of each.

use crate::error::Result;
use crate::kernel::nest::{Elements, Inputs, Make, Visit};
use crate::sealed::Sealed;
use crate::shape::{all_stretch_onto, checked_len, joint_dim, joint_error, output_error, sizes};
use crate::view::{Operand, Operands};
use core::marker::PhantomData;
use ndarray::Dimension;

/// The operands of a fused operation: a tuple of 1 to 6 [`Operand`]s, or one operand without a tuple.
///
/// Sealed, as are the traits that build on it. Examples of operands are at
/// [`broadcast_map`](crate::broadcast_map) and [`broadcast_apply`](crate::broadcast_apply).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand or a tuple of 1 to 6 operands",
    label = "expected an operand or a tuple of 1 to 6 operands",
    note = "an operand is `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`",
    note = "capture a number in the closure; for a `Vec` or slice `v` give `&aview1(&v)`",
    note = "for more than 6 operands, combine some of them first"
)]
pub trait FusedOperands: Sealed {
    /// The dimension type of the joint shape.
    type Dim: Dimension;

    /// The types of the elements.
    #[doc(hidden)]
    type Elems: Elements;

    #[doc(hidden)]
    fn inputs(&self) -> Inputs<'_, Self::Elems>;
}

/// An element of each operand.
pub(super) type Items<'r, O> = <<O as FusedOperands>::Elems as Elements>::Refs<'r>;

/// [`FusedOperands`] with a closure that takes a reference to an element of each and returns an `R`.
///
/// With two operands, the closure is `FnMut(&A, &B) -> R`. The compiler infers the types of its arguments from the
/// operands.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::{bounds::MapOperands, broadcast_map_sum_to, BroadcastError};
///
/// fn mean<O: MapOperands<F, f64>, F>(operands: O, count: f64, f: F) -> Result<f64, BroadcastError> {
///     Ok(broadcast_map_sum_to(operands, (), f)?.into_scalar() / count)
/// }
/// let (x, centre) = (array![[1.0, 2.0], [5.0, 4.0]], array![3.0, 3.0]);
/// assert_eq!(mean((&x, &centre), 4.0, |x, c| (x - c) * (x - c))?, 2.5);
/// assert!(mean((&x, &array![1.0, 2.0, 3.0]), 4.0, |x, c| x - c).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
/// A number is not an operand: capture it in the closure.
/// ```compile_fail,E0277
/// let x = ndarray::array![1.0, 2.0];
/// ndarray_broadcast::broadcast_map((&x, 2.0), |x, y| x * y).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand or a tuple of 1 to 6 operands",
    label = "expected an operand or a tuple of 1 to 6 operands",
    note = "an operand is `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`",
    note = "capture a number in the closure; for a `Vec` or slice `v` give `&aview1(&v)`",
    note = "for more than 6 operands, combine some of them first"
)]
pub trait MapOperands<F, R>: FusedOperands {
    /// Calls the closure with an element of each operand.
    #[doc(hidden)]
    fn call(f: &mut F, items: <Self::Elems as Elements>::Refs<'_>) -> R;
}

/// [`FusedOperands`] with a closure that takes `&mut T`, an element of the output, and then a reference to an
/// element of each.
///
/// With two operands, the closure is `FnMut(&mut T, &A, &B)`. The compiler infers the types of its arguments from the
/// output and the operands.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{bounds::ApplyOperands, broadcast_apply, BroadcastError};
///
/// fn square<O: ApplyOperands<f64, F>, F>(operands: O, f: F) -> Result<Array2<f64>, BroadcastError> {
///     let mut out = Array2::zeros((2, 2));
///     broadcast_apply(&mut out, operands, f)?;
///     Ok(out)
/// }
/// let (row, column) = (array![1.0, 2.0], array![[10.0], [20.0]]);
/// assert_eq!(square((&row, &column), |out, r, c| *out = r + c)?, array![[11.0, 12.0], [21.0, 22.0]]);
/// assert!(square(&array![1.0, 2.0, 3.0], |out, x| *out = *x).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand or a tuple of 1 to 6 operands",
    label = "expected an operand or a tuple of 1 to 6 operands",
    note = "an operand is `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`",
    note = "capture a number in the closure; for a `Vec` or slice `v` give `&aview1(&v)`",
    note = "for more than 6 operands, combine some of them first"
)]
pub trait ApplyOperands<T, F>: FusedOperands {
    /// Calls the closure with an element of the output and of each operand.
    #[doc(hidden)]
    fn call(f: &mut F, out: &mut T, items: <Self::Elems as Elements>::Refs<'_>);
}

/// [`MapOperands`] with a closure that a reduction may call in parts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand or a tuple of 1 to 6 operands",
    label = "expected an operand or a tuple of 1 to 6 operands",
    note = "an operand is `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`",
    note = "capture a number in the closure; for a `Vec` or slice `v` give `&aview1(&v)`",
    note = "for more than 6 operands, combine some of them first"
)]
pub trait ReduceOperands<F, R>: FusedOperands {
    /// Calls the closure with an element of each operand.
    #[doc(hidden)]
    fn call(f: &F, items: <Self::Elems as Elements>::Refs<'_>) -> R;
}

/// [`MapOperands`] whose elements and closure several threads may share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand or a tuple of 1 to 6 operands for several threads",
    label = "expected an operand or a tuple of 1 to 6 operands whose elements are `Sync`"
)]
pub trait ParMapOperands<F, R>: FusedOperands<Elems: Sync> + for<'f> MapOperands<&'f F, R> {}

/// [`ApplyOperands`] whose elements and closure several threads may share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand or a tuple of 1 to 6 operands for several threads",
    label = "expected an operand or a tuple of 1 to 6 operands whose elements are `Sync`"
)]
pub trait ParApplyOperands<T, F>: FusedOperands<Elems: Sync> + for<'f> ApplyOperands<T, &'f F> {}

/// A closure that takes an element of each of the operands `O`, after one of the output if it is a [`Visit`].
pub(super) struct Closure<O, F>(F, PhantomData<fn(O)>);

impl<O, F> Closure<O, F> {
    pub(super) fn new(f: F) -> Self {
        Self(f, PhantomData)
    }
}

impl<O, F: Clone> Clone for Closure<O, F> {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}

impl<O, F: Copy> Copy for Closure<O, F> {}

/// A closure that is shared by the parts of a reduction.
pub(super) struct SharedClosure<'f, O, F>(&'f F, PhantomData<fn(O)>);

impl<'f, O, F> SharedClosure<'f, O, F> {
    pub(super) fn new(f: &'f F) -> Self {
        Self(f, PhantomData)
    }
}

impl<O, F> Clone for SharedClosure<'_, O, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, F> Copy for SharedClosure<'_, O, F> {}

impl<R, F, O: ReduceOperands<F, R>> Make<R, O::Elems> for SharedClosure<'_, O, F> {
    #[inline(always)]
    fn make(&mut self, items: Items<'_, O>) -> R {
        O::call(self.0, items)
    }
}

impl<R, F, O: MapOperands<F, R>> Make<R, O::Elems> for Closure<O, F> {
    #[inline(always)]
    fn make(&mut self, items: Items<'_, O>) -> R {
        O::call(&mut self.0, items)
    }
}

impl<T, F, O: ApplyOperands<T, F>> Visit<T, O::Elems> for Closure<O, F> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, items: Items<'_, O>) {
        O::call(&mut self.0, out, items);
    }
}

/// The joint shape.
#[inline]
pub(super) fn joint<D: Dimension>(shapes: &[&[usize]]) -> Result<D> {
    joint_dim(shapes).filter(|joint| checked_len(sizes(joint)).is_some()).ok_or_else(|| joint_error(shapes))
}

/// An error unless all operands go to the shape of the output.
#[inline(always)]
pub(super) fn check_onto(shapes: &[&[usize]], output: &[usize]) -> Result<()> {
    if all_stretch_onto(shapes, output) { Ok(()) } else { Err(output_error(shapes, output)) }
}

/// `$Self` matches the pattern `$operands`. `$Joint` is a bound that gives it a joint shape.
macro_rules! fused {
    ($($O:ident $x:ident),+) => {
        fused!(($($O,)+), ($($x,)+), [$($O $x),+], <Self as Operands>::Dim, Operands);
    };
    ($Self:ty, $operands:pat, [$($O:ident $x:ident),+], $Dim:ty $(, $Joint:ident)?) => {
        #[diagnostic::do_not_recommend]
        impl<$($O: Operand),+> FusedOperands for $Self $(where Self: $Joint)? {
            type Dim = $Dim;
            type Elems = ($($O::Elem,)+);

            #[inline]
            fn inputs(&self) -> Inputs<'_, Self::Elems> {
                let $operands = self;
                Inputs::from(($($x.operand_ref(),)+))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($O: Operand,)+ R, F: FnMut($(&$O::Elem),+) -> R> MapOperands<F, R> for $Self
        $(where Self: $Joint)?
        {
            #[inline(always)]
            fn call(f: &mut F, ($($x,)+): ($(&$O::Elem,)+)) -> R {
                f($($x),+)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($O: Operand,)+ R, F: Fn($(&$O::Elem),+) -> R> ReduceOperands<F, R> for $Self
        $(where Self: $Joint)?
        {
            #[inline(always)]
            fn call(f: &F, ($($x,)+): ($(&$O::Elem,)+)) -> R {
                f($($x),+)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($O: Operand,)+ T, F: FnMut(&mut T, $(&$O::Elem),+)> ApplyOperands<T, F> for $Self
        $(where Self: $Joint)?
        {
            #[inline(always)]
            fn call(f: &mut F, out: &mut T, ($($x,)+): ($(&$O::Elem,)+)) {
                f(out, $($x),+);
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($O: Operand<Elem: Sync>,)+ R: Send, F: Fn($(&$O::Elem),+) -> R + Sync> ParMapOperands<F, R>
        for $Self $(where Self: $Joint)? {}

        #[diagnostic::do_not_recommend]
        impl<$($O: Operand<Elem: Sync>,)+ T: Send, F: Fn(&mut T, $(&$O::Elem),+) + Sync> ParApplyOperands<T, F>
        for $Self $(where Self: $Joint)? {}
    };
}

fused!(A, a, [A a], A::Dim);
fused!(A a);
fused!(A a, B b);
fused!(A a, B b, C c);
fused!(A a, B b, C c, D d);
fused!(A a, B b, C c, D d, G g);
fused!(A a, B b, C c, D d, G g, H h);
