//! The sources of [`Reduce`]: arrays and fused operands, on one thread or on several.

use super::{Fused, Reduce};
use crate::error::Result;
use crate::kernel::map::copy_like;
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Elements, Inputs, Make, Maker, Write};
use crate::kernel::source::{Cloned, Source};
use crate::map::{FnOperands, FusedOperands, SharedClosure, joint};
use crate::sealed::Sealed;
use crate::shape::sizes;
use alloc::{vec, vec::Vec};
use ndarray::{Array, ArrayBase, ArrayRef, Data, Dimension};

/// A source that is reduced on rayon's threads, if it is large enough to gain: made by [`par`](Reduce::par) of an array or
/// of [`fused`](crate::fused) operands.
///
/// The results have the same bits as on one thread. Without the feature `rayon`, the calling thread does all the work, with
/// the same bounds. For batches, see [`Batch::par`](crate::Batch::par).
///
/// # Examples
/// ```
/// use ndarray::Array2;
/// use ndarray_broadcast::{keepdims, prelude::*};
///
/// let delta = Array2::<f32>::from_elem((1000, 300), 0.1);
/// assert_eq!(delta.par().sum_axes([0])?, delta.sum_axes([0])?);
/// assert_eq!(delta.par().max_axes(keepdims(1))?, delta.max_axes(keepdims(1))?);
/// assert!(delta.par().sum_to(1000).is_err());
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// PyTorch, which uses several threads by default; `par_…` of ndarray.
#[derive(Clone, Copy)]
#[must_use = "a source is only read when it is reduced"]
pub struct Par<S>(pub(super) S);

impl<O, F> Sealed for Fused<O, F> {}
impl<S> Sealed for Par<S> {}

/// A function of an element, from the results of a [`Make`].
struct Mapped<'f, M, A, B>(M, &'f dyn Fn(A) -> B);

impl<M: Copy, A, B> Clone for Mapped<'_, M, A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Copy, A, B> Copy for Mapped<'_, M, A, B> {}

impl<A, B, E: Elements, M: Make<A, E>> Make<B, E> for Mapped<'_, M, A, B> {
    #[inline(always)]
    fn make(&mut self, items: E::Refs<'_>) -> B {
        (self.1)(self.0.make(items))
    }
}

/// The operands of a source: an array, or all of a closure.
///
/// Not exported; public because a hidden type of a public trait is one.
pub trait Shapes<D> {
    /// The shapes of the operands, for messages.
    #[doc(hidden)]
    fn operand_shapes(&self) -> Vec<&[usize]>;

    #[doc(hidden)]
    type Joint<'s>: AsRef<[usize]>
    where
        Self: 's;

    /// The shape of the source: borrowed where there is one, because a copy of a dynamic one may allocate.
    #[doc(hidden)]
    fn joint(&self) -> Result<Self::Joint<'_>>;
}

/// The joint shape of several operands.
pub struct JointDim<D>(D);

impl<D: Dimension> AsRef<[usize]> for JointDim<D> {
    fn as_ref(&self) -> &[usize] {
        sizes(&self.0)
    }
}

impl<A, D: Dimension> Shapes<D> for ArrayRef<A, D> {
    #[cold]
    fn operand_shapes(&self) -> Vec<&[usize]> {
        vec![self.shape()]
    }

    type Joint<'s>
        = &'s [usize]
    where
        Self: 's;

    #[inline]
    fn joint(&self) -> Result<&[usize]> {
        Ok(self.shape())
    }
}

impl<O: FusedOperands> Shapes<O::Dim> for O {
    #[cold]
    fn operand_shapes(&self) -> Vec<&[usize]> {
        self.inputs().shapes().to_vec()
    }

    type Joint<'s>
        = JointDim<O::Dim>
    where
        Self: 's;

    fn joint(&self) -> Result<JointDim<O::Dim>> {
        joint(self.inputs().shapes()).map(JointDim)
    }
}

/// `$Self` has the reductions of an array.
macro_rules! of_array {
    ([$($generics:tt)*] $Self:ty, |$this:ident| $array:expr, $stored:ident $(, { $owned:item })?) => {
        #[allow(private_interfaces, reason = "hidden methods take types of the kernel")]
        impl<$($generics)*> Reduce<A, D> for $Self {
            type Operands = ArrayRef<A, D>;

            #[inline]
            fn operands(&self) -> &ArrayRef<A, D> {
                let $this = self;
                $array
            }

            fn first_element(&self) -> Option<A>
            where
                A: Clone,
            {
                self.operands().first().cloned()
            }

            #[inline]
            fn source<R>(&self, _: &[usize], then: impl FnOnce(&Source<'_, A>) -> R) -> R
            where
                A: Clone,
            {
                then(&Source::$stored(&Inputs::from((self.operands(),))))
            }

            fn mapped_source<B: Clone, R>(
                &self,
                joint: &[usize],
                map: &dyn Fn(A) -> B,
                then: impl FnOnce(&Source<'_, B>) -> R,
            ) -> R
            where
                A: Clone,
            {
                let inputs = Inputs::from((self.operands(),));
                then(&Source::fused(&inputs, joint, &Maker::new(Write(Mapped(Cloned, map)))))
            }

            const IS_ARRAY: bool = true;

            fn copied<E: Dimension>(&self, result: Reserved<A, E>) -> Array<A, E>
            where
                A: Clone,
            {
                copy_like(result, self.operands())
            }

            $($owned)?
        }
    };
}
of_array!([S: Data<Elem = A>, A, D: Dimension] ArrayBase<S, D>, |array| array, stored, {
    fn into_array(self) -> Result<Array<A, D>, Self>
    where
        A: Clone,
    {
        Ok(self.into_owned())
    }
});
of_array!([A, D: Dimension] ArrayRef<A, D>, |array| array, stored);
of_array!([A: Send + Sync, D: Dimension] Par<&ArrayRef<A, D>>, |par| par.0, par_stored);

/// `$Self` has the reductions of a closure's results.
macro_rules! of_closure {
    ([$($generics:tt)*] $Self:ty, |$this:ident| $fused:expr, $make:ident) => {
        #[allow(private_interfaces, reason = "hidden methods take types of the kernel")]
        impl<$($generics)*> Reduce<R, O::Dim> for $Self {
            type Operands = O;

            #[inline]
            fn operands(&self) -> &O {
                let $this = self;
                &$fused.operands
            }

            fn first_element(&self) -> Option<R>
            where
                R: Clone,
            {
                let $this = self;
                $fused.operands.first().map(|items| O::call(&$fused.f, items))
            }

            fn source<T>(&self, joint: &[usize], then: impl FnOnce(&Source<'_, R>) -> T) -> T
            where
                R: Clone,
            {
                let $this = self;
                let makes = Maker::new(Write(SharedClosure::<O, F>::new(&$fused.f)));
                then(&Source::$make(&$fused.operands.inputs(), joint, &makes))
            }

            fn mapped_source<B: Clone, T>(
                &self,
                joint: &[usize],
                map: &dyn Fn(R) -> B,
                then: impl FnOnce(&Source<'_, B>) -> T,
            ) -> T
            where
                R: Clone,
            {
                let $this = self;
                let makes = Maker::new(Write(Mapped(SharedClosure::<O, F>::new(&$fused.f), map)));
                then(&Source::fused(&$fused.operands.inputs(), joint, &makes))
            }
        }
    };
}
of_closure!([O: FnOperands<F, R>, F, R] Fused<O, F>, |fused| fused, fused);
of_closure!([O: FnOperands<F, R, Elems: Sync>, F: Sync, R: Send + Sync] Par<Fused<O, F>>, |par| par.0, par_fused);
