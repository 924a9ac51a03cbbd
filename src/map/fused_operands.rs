//! Operands and the closures that take an element of each.
#![allow(clippy::many_single_char_names, reason = "operands are numbered by letters")]

use super::evaluate::{mapped, visited};
use super::{Par, ParOperands};
use crate::error::Result;
use crate::kernel::nest::{
    Behind, Elements, Further, Inputs, MapElement, SharedVisitor, Threads, Visit, Visitor, Write,
};
use crate::sealed::Sealed;
use crate::shape::JoinDims;
use crate::view::Operand;
use core::marker::PhantomData;
use ndarray::{Array, ArrayRef, Dimension};

/// Traits of operands with one diagnostic for all.
macro_rules! operand_traits {
    ($($(#[$doc:meta])* pub trait $Trait:ident $(<$($T:ident $(= $Default:ty)?),+>)?: [$($bounds:tt)+] { $($items:tt)* })*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is not an operand or a tuple of 1 to 6 operands",
            label = "expected an operand, a tuple of 1 to 6 operands or an array of 2 to 6 of one type",
            note = "an operand is an array of any kind or a reference to one, such as `(&a, b.view())` for arrays `a` and `b`; where \
                    there are more than 6, or 5 beside two outputs and 4 beside three, combine some of them first",
            note = "capture a number in the closure; for a `Vec` or slice `v` give `aview1(&v)`",
            note = "in code that is generic over dimension types, two operands need the bound `D: DimMax<E>`, and three \
                    `D: DimMax<E, Output: DimMax<F>>`: see `ndarray_broadcast::bounds`",
            note = "an array of another version of ndarray is not an operand: `cargo tree -d` shows whether there are two versions",
            note = "`.par()` stands after the operands of a map, whose elements and closure are then `Send` and `Sync`, and \
                    after `fused(…)`"
        )]
        pub trait $Trait $(<$($T $(= $Default)?),+>)?: $($bounds)+ { $($items)* }
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

        /// The operands for closures that return a tuple, a part for each output.
        #[doc(hidden)]
        type Parts: FusedOperands<Dim = Self::Dim>;

        #[doc(hidden)]
        fn inputs(&self) -> Inputs<'_, Self::Elems>;

        #[doc(hidden)]
        fn parts(self) -> Self::Parts;
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
    /// output and the operands. `M` has the types of further outputs: [`broadcast_apply2`](crate::broadcast_apply2()) takes
    /// `ApplyOperands<T, F, (U,)>`, whose closure is `FnMut(&mut T, &mut U, &A, &B)`.
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
    pub trait ApplyOperands<T, F, M = ()>: [FusedOperands<Elems: Behind<M>>] {
        /// Calls the closure with an element of each output and of each operand.
        #[doc(hidden)]
        fn call(f: &mut F, out: &mut T, items: ItemsBehind<'_, Self, M>);

        /// Calls the closure with each element of the outputs, if the operands stretch to their shape; else `false`.
        #[doc(hidden)]
        fn applied<D: Dimension>(&self, out: &mut ArrayRef<T, D>, further: Further<'_, M>, f: F) -> bool
        where
            Self: Sized,
        {
            visited(out, further, &self.inputs(), &Visitor::new(Closure::<Self, F, M>(f, PhantomData)))
        }
    }

    /// [`ApplyOperands`] whose elements and closure several threads may share.
    ///
    /// Not exported; public because an implementation for [`Par`] names it. With `for<'f> ApplyOperands<T, &'f F>` in its place, rustc
    /// 1.95 crashes on closures.
    pub trait ParApplyOperands<T, F, M = ()>: [FusedOperands<Elems: Behind<M>>] {
        /// Calls the closure with an element of each output and of each operand.
        #[doc(hidden)]
        fn call(f: &F, out: &mut T, items: ItemsBehind<'_, Self, M>);
    }
}

/// An element of each operand.
type Items<'r, O> = <<O as FusedOperands>::Elems as Elements>::Refs<'r>;

/// An element of each further output, whose types are `M`, and of each operand.
type ItemsBehind<'r, O, M> = <<<O as FusedOperands>::Elems as Behind<M>>::All as Elements>::Refs<'r>;

/// A closure that takes an element of each of the operands `O`; a [`Visit`] takes one of each output first. Further outputs
/// have elements `M`.
pub(crate) struct Closure<O, F, M = ()>(F, PhantomData<fn(O, M)>);

impl<R, F, O: MapOperands<F, R>> MapElement<R, O::Elems> for Closure<O, F> {
    #[inline(always)]
    fn map(&mut self, items: Items<'_, O>) -> R {
        O::call(&mut self.0, items)
    }
}

impl<T, F, M, O: ApplyOperands<T, F, M>> Visit<T, <O::Elems as Behind<M>>::All> for Closure<O, F, M> {
    #[inline(always)]
    fn visit(&mut self, out: &mut T, items: ItemsBehind<'_, O, M>) {
        O::call(&mut self.0, out, items);
    }
}

/// A shared [`Closure`]. It is not a `Closure<O, &F>`, because LLVM inlines longer closures in this form.
pub(crate) struct SharedClosure<'f, O, F, M = ()>(&'f F, PhantomData<fn(O, M)>);

impl<'f, O, F, M> SharedClosure<'f, O, F, M> {
    pub(crate) fn new(f: &'f F) -> Self {
        Self(f, PhantomData)
    }
}

impl<O, F, M> Clone for SharedClosure<'_, O, F, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, F, M> Copy for SharedClosure<'_, O, F, M> {}

impl<R, F, O: FnOperands<F, R>> MapElement<R, O::Elems> for SharedClosure<'_, O, F> {
    #[inline(always)]
    fn map(&mut self, items: Items<'_, O>) -> R {
        O::call(self.0, items)
    }
}

impl<T, F, M, O: ParApplyOperands<T, F, M>> Visit<T, <O::Elems as Behind<M>>::All>
    for SharedClosure<'_, O, F, M>
{
    #[inline(always)]
    fn visit(&mut self, out: &mut T, items: ItemsBehind<'_, O, M>) {
        O::call(self.0, out, items);
    }
}

impl<O: FusedOperands> FusedOperands for Par<O> {
    type Dim = O::Dim;
    type Elems = O::Elems;
    type Parts = Par<O::Parts>;

    fn inputs(&self) -> Inputs<'_, O::Elems> {
        self.0.inputs()
    }

    fn parts(self) -> Par<O::Parts> {
        Par(self.0.parts())
    }
}

/// Operands with a closure that takes an element of each and returns a tuple, a part for each output.
///
/// Not exported; public because a hidden type of a public trait names it.
pub struct Parts<O>(O);

impl<O> Sealed for Parts<O> {}

impl<O: FusedOperands> FusedOperands for Parts<O> {
    type Dim = O::Dim;
    type Elems = O::Elems;
    type Parts = Self;

    fn inputs(&self) -> Inputs<'_, O::Elems> {
        self.0.inputs()
    }

    fn parts(self) -> Self {
        self
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

impl<T: Send, O, F: Sync, M> ApplyOperands<T, F, M> for Par<O>
where
    O: ParApplyOperands<T, F, M, Elems: Behind<M, All: Sync>>,
{
    #[inline(always)]
    fn call(f: &mut F, out: &mut T, items: ItemsBehind<'_, O, M>) {
        O::call(f, out, items);
    }

    fn applied<D: Dimension>(&self, out: &mut ArrayRef<T, D>, further: Further<'_, M>, f: F) -> bool {
        let visitor = SharedVisitor::shared(SharedClosure::<O, F, M>::new(&f));
        visited(out, further, &self.inputs(), &visitor.on(Some(Threads::new())))
    }
}

/// By hand for two operands: `impl<A: Operand, B: Operand> FusedOperands for (A, B)`, and an impl of each of the other traits,
/// for `F: FnMut(&A::Elem, &B::Elem) -> R` and the like. `$Self` matches the pattern `$operands`, each of which has the type
/// `$O`. `$Dims` are dimension types that have a joint one.
macro_rules! fused {
    ($further:tt $($O:ident $x:ident),+) => {
        fused!($further [$($O),+] ($($O,)+), ($($x,)+), [$($O $x),+], <($($O::Dim,)+) as JoinDims>::Joint, ($($O::Dim,)+));
        impl<$($O: Operand),+> ParOperands for ($($O,)+) where ($($O::Dim,)+): JoinDims {}
    };
    ($further:tt [$($G:ident),+] $Self:ty, $operands:pat, [$($O:ident $x:ident),+], $Dim:ty $(, $Dims:ty)?) => {
        #[diagnostic::do_not_recommend]
        impl<$($G: Operand),+> FusedOperands for $Self $(where $Dims: JoinDims)? {
            type Dim = $Dim;
            type Elems = ($($O::Elem,)+);
            type Parts = Parts<Self>;

            fn inputs(&self) -> Inputs<'_, Self::Elems> {
                let $operands = self;
                Inputs::from(($($x.operand_ref(),)+))
            }

            fn parts(self) -> Parts<Self> {
                Parts(self)
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

        apply!($further ([$($G),+] $Self, [$($O $x),+] $(, $Dims)?));
    };
}

/// [`ApplyOperands`] and [`ParApplyOperands`] for each list of further outputs.
macro_rules! apply {
    ([$($further:tt)*] $operands:tt) => {
        $(apply!(@ $further $operands);)*
    };
    (@ ($($U:ident $u:ident),*) ([$($G:ident),+] $Self:ty, [$($O:ident $x:ident),+] $(, $Dims:ty)?)) => {
        #[diagnostic::do_not_recommend]
        impl<$($G: Operand,)+ T, $($U,)* F: FnMut(&mut T, $(&mut $U,)* $(&$O::Elem),+)> ApplyOperands<T, F, ($($U,)*)>
        for $Self $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &mut F, out: &mut T, ($($u,)* $($x,)+): ($(&mut $U,)* $(&$O::Elem,)+)) {
                f(out, $($u,)* $($x),+);
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($G: Operand,)+ T, $($U,)* F: Fn(&mut T, $(&mut $U,)* $(&$O::Elem),+)> ParApplyOperands<T, F, ($($U,)*)>
        for $Self $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &F, out: &mut T, ($($u,)* $($x,)+): ($(&mut $U,)* $(&$O::Elem,)+)) {
                f(out, $($u,)* $($x),+);
            }
        }

        impl<$($G: Operand,)+ T, $($U,)* F: FnMut($(&$O::Elem),+) -> (T, $($U,)*)> ApplyOperands<T, F, ($($U,)*)>
        for Parts<$Self> $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &mut F, out: &mut T, ($($u,)* $($x,)+): ($(&mut $U,)* $(&$O::Elem,)+)) {
                (*out, $(*$u,)*) = f($($x),+);
            }
        }

        impl<$($G: Operand,)+ T, $($U,)* F: Fn($(&$O::Elem),+) -> (T, $($U,)*)> ParApplyOperands<T, F, ($($U,)*)>
        for Parts<$Self> $(where $Dims: JoinDims)?
        {
            #[inline(always)]
            fn call(f: &F, out: &mut T, ($($u,)* $($x,)+): ($(&mut $U,)* $(&$O::Elem,)+)) {
                (*out, $(*$u,)*) = f($($x),+);
            }
        }
    };
}

fused!([() (U u) (U u, W w)] [A] A, a, [A a], A::Dim);
fused!([() (U u) (U u, W w)] A a);
fused!([() (U u) (U u, W w)] A a, B b);
fused!([() (U u) (U u, W w)] A a, B b, C c);
fused!([() (U u) (U u, W w)] A a, B b, C c, D d);
fused!([() (U u)] A a, B b, C c, D d, G g);
fused!([()] A a, B b, C c, D d, G g, H h);
fused!([() (U u) (U u, W w)] [A] [A; 2], [a, b], [A a, A b], A::Dim);
fused!([() (U u) (U u, W w)] [A] [A; 3], [a, b, c], [A a, A b, A c], A::Dim);
fused!([() (U u) (U u, W w)] [A] [A; 4], [a, b, c, d], [A a, A b, A c, A d], A::Dim);
fused!([() (U u)] [A] [A; 5], [a, b, c, d, g], [A a, A b, A c, A d, A g], A::Dim);
fused!([()] [A] [A; 6], [a, b, c, d, g, h], [A a, A b, A c, A d, A g, A h], A::Dim);

impl<O: Operand, const N: usize> ParOperands for [O; N] where Self: FusedOperands {}
