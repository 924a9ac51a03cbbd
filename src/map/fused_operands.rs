//! Operands and the closures that take an element of each.
#![allow(clippy::many_single_char_names, reason = "operands are numbered by letters")]

use super::evaluate::{mapped, visited};
use super::{Par, ParOperands};
use crate::error::Result;
use crate::kernel::nest::{Elements, Inputs, MapElement, SharedVisitor, Threads, Visit, Visitor, Write};
use crate::sealed::Sealed;
use crate::shape::JoinDims;
use crate::view::Operand;
use core::marker::PhantomData;
use ndarray::{Array, ArrayRef, Dimension};

/// Traits of operands with one diagnostic for all.
macro_rules! operand_traits {
    ($($(#[$doc:meta])* pub trait $Trait:ident $(<$($T:ident),+>)?: [$($bounds:tt)+] { $($items:tt)* })*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is not an operand or a tuple of 1 to 6 operands",
            label = "expected an operand, a tuple of 1 to 6 operands or an array of 2 to 6 of one type",
            note = "an operand is an array of any kind or a reference to one, such as `(&a, b.view())` for arrays `a` and `b`; where \
                    there are more than 6 operands, combine some of them first",
            note = "capture a number in the closure; for a `Vec` or slice `v` give `aview1(&v)`",
            note = "in code that is generic over dimension types, two operands need the bound `D: DimMax<E>`, and three \
                    `D: DimMax<E, Output: DimMax<F>>`: see `ndarray_broadcast::bounds`",
            note = "an array of another version of ndarray is not an operand: `cargo tree -d` shows whether there are two versions",
            note = "`.par()` stands after the operands of a map, whose elements and closure are then `Send` and `Sync`, and \
                    after `fused(…)`"
        )]
        pub trait $Trait $(<$($T),+>)?: $($bounds)+ { $($items)* }
    )*};
}
operand_traits! {
    /// The operands of a fused operation: a tuple of 1 to 6 [`Operand`]s, one operand without a tuple, or a Rust array of
    /// 2 to 6 operands of one type; or [`Par`] of these.
    ///
    /// Sealed, as are the traits that build on it. Examples of operands are at
    /// [`broadcast_map`](crate::broadcast_map) and [`broadcast_apply`](crate::broadcast_apply).
    pub trait FusedOperands: [Sealed] {
        /// The dimension type of the joint shape.
        type Dim: Dimension;

        /// The types of the elements, as a tuple.
        type Elems: Elements;

        #[doc(hidden)]
        fn inputs(&self) -> Inputs<'_, Self::Elems>;
    }

    /// [`FusedOperands`] with a closure that takes a reference to an element of each and returns an `R`.
    ///
    /// With two operands, the closure is `FnMut(&A, &B) -> R`. The compiler infers the types of its arguments from the
    /// operands.
    ///
    /// # Examples
    /// ```
    /// use ndarray::{array, Array};
    /// use ndarray_broadcast::{bounds::MapOperands, broadcast_map, BroadcastError};
    ///
    /// fn halves<O: MapOperands<F, f64>, F>(operands: O, f: F) -> Result<Array<f64, O::Dim>, BroadcastError> {
    ///     Ok(broadcast_map(operands, f)? / 2.0)
    /// }
    /// let (x, centre) = (array![[1.0, 2.0], [5.0, 4.0]], array![3.0, 3.0]);
    /// assert_eq!(halves((&x, &centre), |x, c| x - c)?, array![[-1.0, -0.5], [1.0, 0.5]]);
    /// assert!(halves((&x, &array![1.0, 2.0, 3.0]), |x, c| x - c).is_err());
    /// # Ok::<(), BroadcastError>(())
    /// ```
    /// A number is not an operand: capture it in the closure.
    /// ```compile_fail,E0277
    /// let x = ndarray::array![1.0, 2.0];
    /// ndarray_broadcast::broadcast_map((&x, 2.0), |x, y| x * y).unwrap();
    /// ```
    pub trait MapOperands<F, R>: [FusedOperands] {
        /// Calls the closure with an element of each operand.
        #[doc(hidden)]
        fn call(f: &mut F, items: <Self::Elems as Elements>::Refs<'_>) -> R;

        /// The results as a new array of the joint shape.
        #[doc(hidden)]
        fn mapped(&self, f: F) -> Result<Array<R, Self::Dim>>
        where
            Self: Sized,
        {
            mapped(&self.inputs(), &Visitor::new(Write(Closure::<Self, F>(f, PhantomData))))
        }
    }

    /// [`FusedOperands`] with a closure that takes a reference to an element of each, returns an `R` and can be shared: with
    /// two operands, it is `Fn(&A, &B) -> R`.
    ///
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use ndarray_broadcast::{bounds::FnOperands, fused, prelude::*, BroadcastError};
    ///
    /// fn mean<O: FnOperands<F, f64>, F>(operands: O, count: f64, f: F) -> Result<f64, BroadcastError> {
    ///     Ok(fused(operands, f).sum_to(())?.into_scalar() / count)
    /// }
    /// let (x, centre) = (array![[1.0, 2.0], [5.0, 4.0]], array![3.0, 3.0]);
    /// assert_eq!(mean((&x, &centre), 4.0, |x, c| (x - c) * (x - c))?, 2.5);
    /// assert!(mean((&x, &array![1.0, 2.0, 3.0]), 4.0, |x, c| x - c).is_err());
    /// # Ok::<(), BroadcastError>(())
    /// ```
    pub trait FnOperands<F, R>: [FusedOperands] {
        /// Calls the closure with an element of each operand.
        #[doc(hidden)]
        fn call(f: &F, items: <Self::Elems as Elements>::Refs<'_>) -> R;
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
    pub trait ApplyOperands<T, F>: [FusedOperands] {
        /// Calls the closure with an element of the output and of each operand.
        #[doc(hidden)]
        fn call(f: &mut F, out: &mut T, items: <Self::Elems as Elements>::Refs<'_>);

        /// Calls the closure with each element of `out`, if the operands stretch to its shape; else `false`.
        #[doc(hidden)]
        fn applied<D: Dimension>(&self, out: &mut ArrayRef<T, D>, f: F) -> bool
        where
            Self: Sized,
        {
            visited(out, &self.inputs(), &Visitor::new(Closure::<Self, F>(f, PhantomData)))
        }
    }

    /// [`ApplyOperands`] whose elements and closure several threads may share.
    ///
    /// Not exported; public because an implementation for [`Par`] names it. With `for<'f> ApplyOperands<T, &'f F>` in its place, rustc
    /// 1.95 crashes on closures.
    pub trait ParApplyOperands<T, F>: [FusedOperands<Elems: Sync>] {
        /// Calls the closure with an element of the output and of each operand.
        #[doc(hidden)]
        fn call(f: &F, out: &mut T, items: <Self::Elems as Elements>::Refs<'_>);
    }
}

/// An element of each operand.
type Items<'r, O> = <<O as FusedOperands>::Elems as Elements>::Refs<'r>;

/// A closure that takes an element of each of the operands `O`, after one of the output if it is a [`Visit`].
pub(crate) struct Closure<O, F>(F, PhantomData<fn(O)>);

impl<R, F, O: MapOperands<F, R>> MapElement<R, O::Elems> for Closure<O, F> {
    #[inline(always)]
    fn map(&mut self, items: Items<'_, O>) -> R {
        O::call(&mut self.0, items)
    }
}

impl<T, F, O: ApplyOperands<T, F>> Visit<T, O::Elems> for Closure<O, F> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, items: Items<'_, O>) {
        O::call(&mut self.0, out, items);
    }
}

/// A shared [`Closure`]. It is not a `Closure<O, &F>`, because LLVM inlines longer closures in this form.
pub(crate) struct SharedClosure<'f, O, F>(&'f F, PhantomData<fn(O)>);

impl<'f, O, F> SharedClosure<'f, O, F> {
    pub(crate) fn new(f: &'f F) -> Self {
        Self(f, PhantomData)
    }
}

impl<O, F> Clone for SharedClosure<'_, O, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, F> Copy for SharedClosure<'_, O, F> {}

impl<R, F, O: FnOperands<F, R>> MapElement<R, O::Elems> for SharedClosure<'_, O, F> {
    #[inline(always)]
    fn map(&mut self, items: Items<'_, O>) -> R {
        O::call(self.0, items)
    }
}

impl<T, F, O: ParApplyOperands<T, F>> Visit<T, O::Elems> for SharedClosure<'_, O, F> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, items: Items<'_, O>) {
        O::call(self.0, out, items);
    }
}

impl<O: FusedOperands> FusedOperands for Par<O> {
    type Dim = O::Dim;
    type Elems = O::Elems;

    fn inputs(&self) -> Inputs<'_, O::Elems> {
        self.0.inputs()
    }
}

#[diagnostic::do_not_recommend]
impl<O: FnOperands<F, R, Elems: Sync>, F: Sync, R: Send> MapOperands<F, R> for Par<O> {
    #[inline(always)]
    fn call(f: &mut F, items: Items<'_, O>) -> R {
        O::call(f, items)
    }

    fn mapped(&self, f: F) -> Result<Array<R, O::Dim>> {
        let visitor = SharedVisitor::shared(Write(SharedClosure::<O, F>::new(&f)));
        mapped(&self.inputs(), &visitor.on(Some(Threads::new())))
    }
}

impl<T: Send, O: ParApplyOperands<T, F>, F: Sync> ApplyOperands<T, F> for Par<O> {
    #[inline(always)]
    fn call(f: &mut F, out: &mut T, items: Items<'_, O>) {
        O::call(f, out, items);
    }

    fn applied<D: Dimension>(&self, out: &mut ArrayRef<T, D>, f: F) -> bool {
        let visitor = SharedVisitor::shared(SharedClosure::<O, F>::new(&f));
        visited(out, &self.inputs(), &visitor.on(Some(Threads::new())))
    }
}

/// By hand for two operands: `impl<A: Operand, B: Operand> FusedOperands for (A, B)`, and an impl of each of the other traits,
/// for `F: FnMut(&A::Elem, &B::Elem) -> R` and the like. `$Self` matches the pattern `$operands`, each of which has the type
/// `$O`. `$Dims` are dimension types that have a joint one.
macro_rules! fused {
    ($($O:ident $x:ident),+) => {
        fused!([$($O),+] ($($O,)+), ($($x,)+), [$($O $x),+], <($($O::Dim,)+) as JoinDims>::Joint, ($($O::Dim,)+));
        impl<$($O: Operand),+> ParOperands for ($($O,)+) where ($($O::Dim,)+): JoinDims {}
    };
    ([$($G:ident),+] $Self:ty, $operands:pat, [$($O:ident $x:ident),+], $Dim:ty $(, $Dims:ty)?) => {
        #[diagnostic::do_not_recommend]
        impl<$($G: Operand),+> FusedOperands for $Self $(where $Dims: JoinDims)? {
            type Dim = $Dim;
            type Elems = ($($O::Elem,)+);

            fn inputs(&self) -> Inputs<'_, Self::Elems> {
                let $operands = self;
                Inputs::from(($($x.operand_ref(),)+))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($G: Operand,)+ R, F: FnMut($(&$O::Elem),+) -> R> MapOperands<F, R> for $Self
        $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &mut F, ($($x,)+): ($(&$O::Elem,)+)) -> R {
                f($($x),+)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($G: Operand,)+ R, F: Fn($(&$O::Elem),+) -> R> FnOperands<F, R> for $Self
        $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &F, ($($x,)+): ($(&$O::Elem,)+)) -> R {
                f($($x),+)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($G: Operand,)+ T, F: FnMut(&mut T, $(&$O::Elem),+)> ApplyOperands<T, F> for $Self
        $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &mut F, out: &mut T, ($($x,)+): ($(&$O::Elem,)+)) {
                f(out, $($x),+);
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($G: Operand<Elem: Sync>,)+ T: Send, F: Fn(&mut T, $(&$O::Elem),+) + Sync> ParApplyOperands<T, F>
        for $Self $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &F, out: &mut T, ($($x,)+): ($(&$O::Elem,)+)) {
                f(out, $($x),+);
            }
        }
    };
}

fused!([A] A, a, [A a], A::Dim);
fused!(A a);
fused!(A a, B b);
fused!(A a, B b, C c);
fused!(A a, B b, C c, D d);
fused!(A a, B b, C c, D d, G g);
fused!(A a, B b, C c, D d, G g, H h);
fused!([A] [A; 2], [a, b], [A a, A b], A::Dim);
fused!([A] [A; 3], [a, b, c], [A a, A b, A c], A::Dim);
fused!([A] [A; 4], [a, b, c, d], [A a, A b, A c, A d], A::Dim);
fused!([A] [A; 5], [a, b, c, d, g], [A a, A b, A c, A d, A g], A::Dim);
fused!([A] [A; 6], [a, b, c, d, g, h], [A a, A b, A c, A d, A g, A h], A::Dim);

impl<O: Operand, const N: usize> ParOperands for [O; N] where Self: FusedOperands {}
