//! Further outputs of a pass. They stand before its inputs, as inputs whose elements are borrowed exclusively.
//!
//! # Invariant
//! A [`Further`] borrows arrays exclusively, so their elements are distinct and nothing else reaches them. [`Further::visit`] takes it,
//! checks that they have the shape of the output, and runs one pass, which visits each index once. No other function makes [`Inputs`]
//! of [`Exclusive`] elements, and none returns them. They are no plain numbers, so the kernel neither copies nor repeats them.

#![allow(private_interfaces, private_bounds, reason = "not exported")]

use super::closures::{Lend, RowsOf, Visitor};
use super::elements::{Elements, Exclusive, Inputs, MapElement, Output, Visit};
use super::operands::RawOutput;
use super::passes::ShapePass;
use crate::kernel::ensure;
use crate::kernel::memory::{Reserved, Written};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use ndarray::{Array, ArrayRef, Dimension};

/// Seals traits on which `unsafe` code relies: no other file can name the type of their constant, so none implements them.
struct Here;

/// Elements of inputs that may stand behind those of further outputs, a tuple `M` of up to two.
///
/// Not exported; public because hidden parts of public traits name it.
pub trait Behind<M>: Elements {
    /// The elements of the outputs, as [`Exclusive`] ones, and these elements.
    type All: Elements;
    const SEAL: Here;
}

impl<E: Elements> Behind<()> for E {
    type All = E;
    const SEAL: Here = Here;
}

/// Arrays that are borrowed as further outputs, with elements `M`.
///
/// Not exported; public because a hidden method of a public trait takes it.
pub struct Further<'a, M>([RawOutput<'a>; 2], PhantomData<&'a mut M>);

/// What runs a pass.
type Run = for<'s> fn(ShapePass<'_, 's>) -> Written<'s>;

impl<M> Further<'_, M> {
    /// Visits each element of the output and of the further ones with the elements of the inputs, which are broadcast to their shape.
    /// Returns the number of indices.
    ///
    /// # Panics
    /// If a further output has another shape, or if the inputs do not broadcast to it.
    #[inline(always)]
    pub(crate) fn visit<T, E: Behind<M>>(
        self,
        out: Output<'_, T>,
        inputs: &Inputs<'_, E>,
        rows: &dyn RowsOf<T, E::All>,
        run: Run,
    ) -> usize {
        let count = const { E::All::COUNT - E::COUNT };
        if count == 0 {
            return run(ShapePass::new(out.raw, inputs, rows)).count();
        }
        let mut all = inputs.raw;
        all.at.copy_within(..E::COUNT, count);
        all.sizes.copy_within(..E::COUNT, count);
        all.strides.copy_within(..E::COUNT, count);
        for (k, RawOutput { at, axes, .. }) in self.0.into_iter().take(count).enumerate() {
            ensure(axes.sizes == out.raw.axes.sizes, "a further output has another shape");
            (all.at[k], all.sizes[k], all.strides[k]) = (at, axes.sizes, axes.strides);
        }
        all.info = const { &E::All::INFO };
        run(ShapePass::new(out.raw, &all, rows)).count()
    }
}

/// By hand for one: `impl<U, D: Dimension> From<(&mut ArrayRef<U, D>,)> for Further<'_, (U,)>`, and so on.
macro_rules! further {
    ($($U:ident $D:ident $u:ident),*; $($none:expr),*) => {
        impl<'a, $($U, $D: Dimension),*> From<($(&'a mut ArrayRef<$U, $D>,)*)> for Further<'a, ($($U,)*)> {
            #[inline(always)]
            fn from(($($u,)*): ($(&'a mut ArrayRef<$U, $D>,)*)) -> Self {
                Self([$(Output::of($u).raw,)* $($none),*], PhantomData)
            }
        }
    };
}
further!(; RawOutput::NONE, RawOutput::NONE);
further!(U DU u; RawOutput::NONE);
further!(U DU u, W DW w;);

/// Results of a closure over elements `E` whose parts go to several new arrays.
///
/// Not exported; public because a hidden method of a public trait names it.
#[diagnostic::on_unimplemented(message = "two outputs have up to 5 operands, and three up to 4")]
pub trait Results<E: Elements>: Sized {
    /// The slots of the first array, and those of the others before `E`.
    type First;
    type All: Elements;
    type Arrays<D>;
    const SEAL: Here;

    /// Writes each part.
    fn write<V: MapElement<Self, E>>(
        map: &mut V,
        first: &mut Self::First,
        items: <Self::All as Elements>::Refs<'_>,
    );

    /// The arrays, which `run` fills, or the bytes of an element of the one that memory cannot hold.
    fn arrays<D: Dimension>(
        shape: &D,
        inputs: &Inputs<'_, E>,
        rows: &dyn Fills<Self, E>,
        run: Run,
    ) -> Result<Self::Arrays<D>, usize>;
}

/// Writes the parts of the results of a [`MapElement`] to slots. `P` is `fn(E) -> R`, which is `Copy` for all types.
#[derive(Clone, Copy)]
pub(crate) struct Parts<V, P>(pub(crate) V, pub(crate) PhantomData<P>);

impl<R: Results<E>, E: Elements, V: MapElement<R, E>> Visit<R::First, R::All> for Parts<V, fn(E) -> R> {
    #[inline(always)]
    fn visit(&mut self, first: &mut R::First, items: <R::All as Elements>::Refs<'_>) {
        R::write(&mut self.0, first, items);
    }
}

/// [`RowsOf`] slots that write a part of each result to each slot.
///
/// # Safety
/// The object has [`Parts`].
pub(crate) unsafe trait Fills<R: Results<E>, E: Elements>: RowsOf<R::First, R::All> {}

// SAFETY: See the bounds.
unsafe impl<R: Results<E>, E: Elements, V: MapElement<R, E>, C: Lend<Visit = Parts<V, fn(E) -> R>>>
    Fills<R, E> for Visitor<C, R::First, R::All>
{
}

/// By hand: `impl<U, A, B> Behind<(U,)> for (A, B)`, and `impl<T, U, A, B> Results<(A, B)> for (T, U)`; then without `A`, and so on.
macro_rules! behind {
    ([$($U:ident $u:ident $part:ident),+]) => {};
    ([$($U:ident $u:ident $part:ident),+] $A:ident $a:ident $($B:ident $b:ident)*) => {
        impl<$($U,)* $A, $($B),*> Behind<($($U,)*)> for ($A, $($B,)*) {
            type All = Exclusive<($($U,)*), Self>;
            const SEAL: Here = Here;
        }

        impl<T, $($U,)* $A, $($B),*> Results<($A, $($B,)*)> for (T, $($U,)*) {
            type First = MaybeUninit<T>;
            type All = Exclusive<($(MaybeUninit<$U>,)*), ($A, $($B,)*)>;
            type Arrays<N> = (Array<T, N>, $(Array<$U, N>,)*);
            const SEAL: Here = Here;

            #[inline(always)]
            fn write<V: MapElement<Self, ($A, $($B,)*)>>(
                map: &mut V,
                first: &mut MaybeUninit<T>,
                ($($u,)* $a, $($b,)*): ($(&mut MaybeUninit<$U>,)* &$A, $(&$B,)*),
            ) {
                let (part, $($part,)*) = map.map(($a, $($b,)*));
                first.write(part);
                $($u.write($part);)*
            }

            fn arrays<N: Dimension>(
                shape: &N,
                inputs: &Inputs<'_, ($A, $($B,)*)>,
                rows: &dyn Fills<Self, ($A, $($B,)*)>,
                run: Run,
            ) -> Result<Self::Arrays<N>, usize> {
                // memory for all, before arrays of elements without bytes get their length
                let first = Reserved::new(shape.clone()).map_err(|_| size_of::<T>())?;
                $(let $u = Reserved::new(shape.clone()).map_err(|_| size_of::<$U>())?;)*
                let mut first = first.filled(Some(&inputs.order()), MaybeUninit::uninit);
                $(let mut $u = $u.filled(Some(&inputs.order()), MaybeUninit::uninit);)*
                let count = Further::from(($(&mut *$u,)*)).visit(Output::of(&mut first), inputs, rows, run);
                ensure(count == first.len(), "a slot was not written");
                // SAFETY: The pass visited each index, where `Parts` writes an element of each array.
                Ok(unsafe { (first.assume_init(), $($u.assume_init(),)*) })
            }
        }

        behind!([$($U $u $part),*] $($B $b)*);
    };
}
behind!([U u s] A a B b C c D d G g);
behind!([U u s, W w t] A a B b C c D d);
