//! Further outputs of a pass. They stand before its inputs, as inputs whose elements are borrowed exclusively.
//!
//! # Invariant
//! A [`Further`] borrows arrays exclusively, so their elements are distinct and nothing else reaches them. [`Further::visit`] takes it,
//! checks that they have the shape of the output, and makes one pass, which visits each index once. No other function makes inputs
//! of [`Exclusive`] elements, and these do not outlive the pass. They never count as plain numbers, so the kernel neither copies nor
//! repeats them.

#![allow(private_interfaces, private_bounds, reason = "not exported")]

use super::closures::RowsOf;
use super::elements::{Elements, Exclusive, Inputs, Output};
use super::operands::RawOutput;
use super::passes::ShapePass;
use crate::kernel::ensure;
use core::marker::PhantomData;
use ndarray::{ArrayRef, Dimension};

/// Elements of inputs that may stand behind those of further outputs, a tuple `M` of up to two.
///
/// Not exported; public because hidden parts of public traits name it.
///
/// # Safety
/// `All` has the elements `M`, as [`Exclusive`] ones, and then these elements.
pub unsafe trait Behind<M>: Elements {
    type All: Elements;
}

// SAFETY: There is no further output.
unsafe impl<E: Elements> Behind<()> for E {
    type All = E;
}

/// Arrays that are borrowed as further outputs, with elements `M`.
///
/// Not exported; public because a hidden method of a public trait takes it.
pub struct Further<'a, M>([Option<RawOutput<'a>>; 2], PhantomData<&'a mut M>);

impl<M> Further<'_, M> {
    /// Visits each element of the output and of the further ones with the elements of the inputs, which are broadcast to their shape.
    ///
    /// # Panics
    /// If a further output has another shape, or if the inputs do not broadcast to it.
    #[inline(always)]
    pub(crate) fn visit<T, E: Behind<M>>(
        self,
        out: Output<'_, T>,
        inputs: &Inputs<'_, E>,
        rows: &dyn RowsOf<T, E::All>,
        run: impl FnOnce(ShapePass<'_>),
    ) {
        let count = const { E::All::COUNT - E::COUNT };
        if count == 0 {
            return run(ShapePass::new(out.raw, inputs, rows));
        }
        let mut all = inputs.raw;
        all.at.copy_within(..E::COUNT, count);
        all.sizes.copy_within(..E::COUNT, count);
        all.strides.copy_within(..E::COUNT, count);
        for (k, RawOutput { at, axes, .. }) in self.0.into_iter().flatten().enumerate() {
            ensure(axes.sizes == out.raw.axes.sizes, "a further output has another shape");
            (all.at[k], all.sizes[k], all.strides[k]) = (at, axes.sizes, axes.strides);
        }
        all.info = const { &E::All::INFO };
        run(ShapePass::new(out.raw, &all, rows));
    }
}

/// By hand for one: `impl<U, D: Dimension> From<(&mut ArrayRef<U, D>,)> for Further<'_, (U,)>`, and so on.
macro_rules! further {
    ($($U:ident $D:ident $u:ident),*; $($none:expr),*) => {
        impl<'a, $($U, $D: Dimension),*> From<($(&'a mut ArrayRef<$U, $D>,)*)> for Further<'a, ($($U,)*)> {
            #[inline(always)]
            fn from(($($u,)*): ($(&'a mut ArrayRef<$U, $D>,)*)) -> Self {
                Self([$(Some(Output::of($u).raw),)* $($none),*], PhantomData)
            }
        }
    };
}
further!(; None, None);
further!(U DU u; None);
further!(U DU u, W DW w;);

/// By hand: `impl<U, A, B> Behind<(U,)> for (A, B)`; then without `A`, and so on.
macro_rules! behind {
    ([$($U:ident),+]) => {};
    ([$($U:ident),+] $A:ident $($B:ident)*) => {
        // SAFETY: See `All`.
        unsafe impl<$($U,)* $A, $($B),*> Behind<($($U,)*)> for ($A, $($B,)*) {
            type All = Exclusive<($($U,)*), Self>;
        }
        behind!([$($U),*] $($B)*);
    };
}
behind!([U] A B C D G);
behind!([U, W] A B C D);
