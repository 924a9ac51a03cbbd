//! Operands and the closures that take an element of each.

use crate::error::BroadcastError;
use crate::kernel::map;
use crate::sealed::Sealed;
use crate::shape::{go_onto, join_checked, joint_ndim, misfit, sizes_mut};
use crate::view::{Operand, Operands};
use alloc::vec::Vec;
use ndarray::{Array, ArrayRef, Dimension};
use num_traits::Zero;

/// What a fused operation reads: a tuple of 1 to 6 [`Operand`]s, or one operand without a tuple.
///
/// Sealed, as are the traits that build on it: what they take is shown at
/// [`broadcast_map`](crate::broadcast_map) and [`broadcast_apply`](crate::broadcast_apply).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand, nor a tuple of operands",
    label = "expected an operand or a tuple of 1 to 6",
    note = "operands are `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`"
)]
pub trait FusedOperands: Sealed {
    /// The dimension type of the joint shape.
    type Dim: Dimension;
    /// A reference to an element of each.
    type Items<'a>
    where
        Self: 'a;

    /// Has `with` look at the shapes.
    #[doc(hidden)]
    fn shapes<R>(&self, with: impl FnOnce(&[&[usize]]) -> R) -> R;

    #[doc(hidden)]
    fn each<'a, T, E: Dimension>(&'a self, out: &mut ArrayRef<T, E>, f: impl FnMut(&mut T, Self::Items<'a>));

    #[doc(hidden)]
    fn to_new<'a, R>(&'a self, shape: Self::Dim, f: impl FnMut(Self::Items<'a>) -> R) -> Array<R, Self::Dim>;

    #[doc(hidden)]
    fn sum_to<'a, R: Clone + Zero, E: Dimension>(
        &'a self,
        joint: &[usize],
        shape: E,
        f: impl FnMut(Self::Items<'a>) -> R,
    ) -> Array<R, E>;
}

/// [`FusedOperands`] with a closure that takes a reference to an element of each and makes an `R` of them.
///
/// With two operands that is `FnMut(&A, &B) -> R`. The compiler knows the types of the closure's
/// arguments from those of the operands.
///
/// # Examples
/// ```
/// use ndarray::array;
/// use ndarray_broadcast::{broadcast_map_sum_to, BroadcastError, MapOperands};
///
/// fn mean<O: MapOperands<F, f64>, F>(operands: O, count: f64, f: F) -> Result<f64, BroadcastError> {
///     Ok(broadcast_map_sum_to(operands, (), f)?.into_scalar() / count)
/// }
/// let (x, centre) = (array![[1.0, 2.0], [5.0, 4.0]], array![3.0, 3.0]);
/// assert_eq!(mean((&x, &centre), 4.0, |x, c| (x - c) * (x - c))?, 2.5);
/// assert!(mean((&x, &array![1.0, 2.0, 3.0]), 4.0, |x, c| x - c).is_err());
/// # Ok::<(), BroadcastError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand, nor a tuple of operands",
    label = "expected an operand or a tuple of 1 to 6",
    note = "operands are `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`"
)]
pub trait MapOperands<F, R>: FusedOperands {
    /// The closure, as one of a single tuple.
    #[doc(hidden)]
    fn tuple<'a>(f: F) -> impl FnMut(Self::Items<'a>) -> R
    where
        Self: 'a;
}

/// [`FusedOperands`] with a closure that takes `&mut T`, an element of the output, and then a reference to an
/// element of each.
///
/// With two operands that is `FnMut(&mut T, &A, &B)`. The compiler knows the types of the closure's
/// arguments from those of the output and the operands.
///
/// # Examples
/// ```
/// use ndarray::{array, Array2};
/// use ndarray_broadcast::{broadcast_apply, ApplyOperands, BroadcastError};
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
    message = "`{Self}` is no operand, nor a tuple of operands",
    label = "expected an operand or a tuple of 1 to 6",
    note = "operands are `&a` for any kind of array `a`, or an `ArrayView` by value such as `a.view()`"
)]
pub trait ApplyOperands<T, F>: FusedOperands {
    /// The closure, as one of an element of the output and a single tuple.
    #[doc(hidden)]
    fn tuple<'a>(f: F) -> impl FnMut(&mut T, Self::Items<'a>)
    where
        Self: 'a;
}

/// [`MapOperands`] of which several threads may read the elements and call the closure.
#[cfg(feature = "rayon")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand, nor a tuple of operands, for several threads",
    label = "expected an operand or a tuple of 1 to 6, of elements that are `Sync`"
)]
pub trait ParMapOperands<F, R>: FusedOperands {
    #[doc(hidden)]
    fn par_to_new(&self, shape: Self::Dim, f: F) -> Array<R, Self::Dim>;
}

/// [`ApplyOperands`] of which several threads may read the elements and call the closure.
#[cfg(feature = "rayon")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand, nor a tuple of operands, for several threads",
    label = "expected an operand or a tuple of 1 to 6, of elements that are `Sync`"
)]
pub trait ParApplyOperands<T, F>: FusedOperands {
    #[doc(hidden)]
    fn par_each<E: Dimension>(&self, out: &mut ArrayRef<T, E>, f: F);
}

/// The joint shape.
#[inline(always)]
pub(super) fn joint<O: FusedOperands>(operands: &O) -> Result<O::Dim, BroadcastError> {
    operands.shapes(|shapes| {
        let mut joint = O::Dim::zeros(joint_ndim(shapes));
        join_checked(shapes, sizes_mut(&mut joint))?;
        Ok(joint)
    })
}

/// The operands' shapes, for messages.
pub(super) fn given<O: FusedOperands>(operands: &O) -> Vec<Vec<usize>> {
    operands.shapes(|shapes| shapes.iter().map(|shape| shape.to_vec()).collect())
}

/// An error where not all operands go to the shape of the output.
#[inline(always)]
pub(super) fn check_onto<O: FusedOperands>(operands: &O, output: &[usize]) -> Result<(), BroadcastError> {
    operands.shapes(|shapes| if go_onto(shapes, output) { Ok(()) } else { Err(*misfit(shapes, output)) })
}

/// What the kernel reads of the operands.
macro_rules! inputs {
    ($self:ident, $this:ident: $($operand:expr),+) => {{
        let $this = $self;
        map::Inputs::from(($($operand.operand_ref(),)+))
    }};
}

/// `$this` is the [`FusedOperands`], of which the expressions are the operands.
macro_rules! fused {
    ([$($O:ident $x:ident),+] $Self:ty, $Dim:ty, $this:ident: $($operand:expr),+ $(; $Joint:ident)?) => {
        impl<$($O: Operand),+> FusedOperands for $Self $(where Self: $Joint)? {
            type Dim = $Dim;
            type Items<'a> = ($(&'a $O::Elem,)+) where Self: 'a;

            #[inline(always)]
            fn shapes<R>(&self, with: impl FnOnce(&[&[usize]]) -> R) -> R {
                let $this = self;
                with(&[$($operand.operand_shape()),+])
            }

            #[inline]
            fn each<'a, T, E: Dimension>(
                &'a self,
                out: &mut ArrayRef<T, E>,
                f: impl FnMut(&mut T, Self::Items<'a>),
            ) {
                map::each(out, &inputs!(self, $this: $($operand),+), f);
            }

            #[inline]
            fn to_new<'a, R>(
                &'a self,
                shape: Self::Dim,
                f: impl FnMut(Self::Items<'a>) -> R,
            ) -> Array<R, Self::Dim> {
                map::to_new(shape, &inputs!(self, $this: $($operand),+), f)
            }

            #[inline]
            fn sum_to<'a, R: Clone + Zero, E: Dimension>(
                &'a self,
                joint: &[usize],
                shape: E,
                f: impl FnMut(Self::Items<'a>) -> R,
            ) -> Array<R, E> {
                map::sum_to(joint, shape, &inputs!(self, $this: $($operand),+), f)
            }
        }

        impl<$($O: Operand,)+ R, F: FnMut($(&$O::Elem),+) -> R> MapOperands<F, R> for $Self
        $(where Self: $Joint)?
        {
            #[inline(always)]
            fn tuple<'a>(mut f: F) -> impl FnMut(Self::Items<'a>) -> R
            where
                Self: 'a,
            {
                move |($($x,)+)| f($($x),+)
            }
        }

        impl<$($O: Operand,)+ T, F: FnMut(&mut T, $(&$O::Elem),+)> ApplyOperands<T, F> for $Self
        $(where Self: $Joint)?
        {
            #[inline(always)]
            fn tuple<'a>(mut f: F) -> impl FnMut(&mut T, Self::Items<'a>)
            where
                Self: 'a,
            {
                move |out, ($($x,)+)| f(out, $($x),+)
            }
        }

        #[cfg(feature = "rayon")]
        impl<$($O: Operand<Elem: Sync>,)+ R: Send, F> ParMapOperands<F, R> for $Self
        where
            F: Fn($(&$O::Elem),+) -> R + Sync,
            $(Self: $Joint)?
        {
            #[inline]
            fn par_to_new(&self, shape: Self::Dim, f: F) -> Array<R, Self::Dim> {
                map::par_to_new(shape, &inputs!(self, $this: $($operand),+), |($($x,)+)| f($($x),+))
            }
        }

        #[cfg(feature = "rayon")]
        impl<$($O: Operand<Elem: Sync>,)+ T: Send, F> ParApplyOperands<T, F> for $Self
        where
            F: Fn(&mut T, $(&$O::Elem),+) + Sync,
            $(Self: $Joint)?
        {
            #[inline]
            fn par_each<E: Dimension>(&self, out: &mut ArrayRef<T, E>, f: F) {
                let inputs = inputs!(self, $this: $($operand),+);
                map::par_each(out, &inputs, |out: &mut T, ($($x,)+)| f(out, $($x),+));
            }
        }
    };
}

fused!([A a] A, A::Dim, this: this);
fused!([A a] (A,), A::Dim, this: this.0);
fused!([A a, B b] (A, B), <Self as Operands>::Dim, this: this.0, this.1; Operands);
fused!([A a, B b, C c] (A, B, C), <Self as Operands>::Dim, this: this.0, this.1, this.2; Operands);
fused!([A a, B b, C c, D d] (A, B, C, D), <Self as Operands>::Dim,
    this: this.0, this.1, this.2, this.3; Operands);
fused!([A a, B b, C c, D d, G g] (A, B, C, D, G), <Self as Operands>::Dim,
    this: this.0, this.1, this.2, this.3, this.4; Operands);
fused!([A a, B b, C c, D d, G g, H h] (A, B, C, D, G, H), <Self as Operands>::Dim,
    this: this.0, this.1, this.2, this.3, this.4, this.5; Operands);
