//! The sources of [`Reduce`]: arrays and fused operands, on one thread or on several.
#![allow(private_interfaces, private_bounds, reason = "the hidden method takes types of the kernel")]

use super::statistics::Squared;
use super::{Fused, Reduce, VarElement};
use crate::kernel::nest::{Cloned, Elements, FoldLoops, Inputs, MapElement, MapReduce, Source, Threads};
use crate::kernel::operation::{Operation, Plus};
use crate::kernel::reduce::fold_of;
use crate::map::{FnOperands, Par, SharedClosure};
use crate::sealed::Sealed;
use ndarray::{Array, ArrayBase, ArrayRef, Data, Dimension, IxDyn};

impl<O, F> Sealed for Fused<O, F> {}

impl<S: Data<Elem = A>, A: Clone, D: Dimension> Reduce<A, D> for ArrayBase<S, D> {
    fn source<O: Operation<A> + Sync, R>(&self, op: O, then: impl FnOnce(&Source<'_, A>) -> R) -> R {
        (**self).source(op, then)
    }

    fn squared<R>(&self, means: &ArrayRef<A, IxDyn>, then: impl FnOnce(&Source<'_, A>) -> R) -> Option<R>
    where
        A: VarElement,
    {
        (**self).squared(means, then)
    }

    fn into_array_of(self, shape: &[usize]) -> Result<Array<A, D>, Self> {
        if self.shape() == shape { self.try_into_owned_nocopy() } else { Err(self) }
    }
}

impl<A: Clone, D: Dimension> Reduce<A, D> for ArrayRef<A, D> {
    fn source<O: Operation<A> + Sync, R>(&self, op: O, then: impl FnOnce(&Source<'_, A>) -> R) -> R {
        then(&Source::stored(&Inputs::from((self,)), fold_of(&FoldLoops::new(Cloned, op)), None))
    }

    fn squared<R>(&self, means: &ArrayRef<A, IxDyn>, then: impl FnOnce(&Source<'_, A>) -> R) -> Option<R>
    where
        A: VarElement,
    {
        let (inputs, loops) = (Inputs::from((self, means)), MapReduce::new(Squared, Plus));
        Some(then(&Source::fused(&inputs, &loops, fold_of(&FoldLoops::new(Cloned, Plus)))))
    }
}

impl<A: Clone + Send + Sync, D: Dimension> Reduce<A, D> for Par<&ArrayRef<A, D>> {
    fn source<O: Operation<A> + Sync, R>(&self, op: O, then: impl FnOnce(&Source<'_, A>) -> R) -> R {
        let threads = Some(Threads::new());
        then(&Source::stored(&Inputs::from((self.0,)), fold_of(&FoldLoops::new(Cloned, op)), threads))
    }

    fn squared<R>(&self, means: &ArrayRef<A, IxDyn>, then: impl FnOnce(&Source<'_, A>) -> R) -> Option<R>
    where
        A: VarElement,
    {
        let (both, loops) = (Inputs::from((self.0, means)), MapReduce::new(Squared, Plus).on(Threads::new()));
        Some(then(&Source::fused(&both, &loops, fold_of(&FoldLoops::new(Cloned, Plus)))))
    }
}

impl<O: FnOperands<F, R>, F, R: Clone> Reduce<R, O::Dim> for Fused<O, F> {
    fn source<P: Operation<R> + Sync, T>(&self, op: P, then: impl FnOnce(&Source<'_, R>) -> T) -> T {
        let makes = MapReduce::new(SharedClosure::<O, F>::new(&self.f), op);
        then(&Source::fused(&self.operands.inputs(), &makes, fold_of(&FoldLoops::new(Cloned, op))))
    }
}

impl<O: FnOperands<F, R, Elems: Sync>, F: Sync, R: Clone + Send + Sync> Reduce<R, O::Dim>
    for Par<Fused<O, F>>
{
    fn source<P: Operation<R> + Sync, T>(&self, op: P, then: impl FnOnce(&Source<'_, R>) -> T) -> T {
        let Fused { operands, f } = &self.0;
        let makes = MapReduce::new(SharedClosure::<O, F>::new(f), op).on(Threads::new());
        then(&Source::fused(&operands.inputs(), &makes, fold_of(&FoldLoops::new(Cloned, op))))
    }
}

/// A source of bools, whose true ones are counted.
///
/// Not exported; public because methods of public traits have it as a bound.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source of bools that can be counted",
    label = "expected an array of bools, or `fused(operands, closure)` with a closure that returns one",
    note = "compare elements in a closure: `fused(&x, |&x| x != 0.0).count_axes(…)`"
)]
pub trait Counted<D: Dimension>: Reduce<bool, D> {
    /// Calls `then` with a source of 1 for each true element and 0 for the others, and returns its result.
    #[doc(hidden)]
    fn counted<R>(&self, then: impl FnOnce(&Source<'_, usize>) -> R) -> R;
}

/// Bools as numbers.
#[derive(Clone, Copy)]
struct Numbers<M>(M);

impl<E: Elements, M: MapElement<bool, E>> MapElement<usize, E> for Numbers<M> {
    #[inline(always)]
    fn map(&mut self, items: E::Refs<'_>) -> usize {
        usize::from(self.0.map(items))
    }
}

/// By hand: `impl<D: Dimension> Counted<D> for ArrayRef<bool, D>`.
macro_rules! counted {
    ($([$($generics:tt)*] $T:ty, $D:ty, |$this:ident| $inputs:expr, $map:expr $(, $threads:expr)?;)*) => {$(
        impl<$($generics)*> Counted<$D> for $T {
            fn counted<R>(&self, then: impl FnOnce(&Source<'_, usize>) -> R) -> R {
                let $this = self;
                let makes = MapReduce::new(Numbers($map), Plus)$(.on($threads))?;
                then(&Source::fused(&$inputs, &makes, fold_of(&FoldLoops::new(Cloned, Plus))))
            }
        }
    )*};
}
counted! {
    [S: Data<Elem = bool>, D: Dimension] ArrayBase<S, D>, D, |array| Inputs::from((&**array,)), Cloned;
    [D: Dimension] ArrayRef<bool, D>, D, |array| Inputs::from((array,)), Cloned;
    [D: Dimension] Par<&ArrayRef<bool, D>>, D, |par| Inputs::from((par.0,)), Cloned, Threads::new();
    [O: FnOperands<F, bool>, F] Fused<O, F>, O::Dim,
        |fused| fused.operands.inputs(), SharedClosure::<O, F>::new(&fused.f);
    [O: FnOperands<F, bool, Elems: Sync>, F: Sync] Par<Fused<O, F>>, O::Dim,
        |par| par.0.operands.inputs(), SharedClosure::<O, F>::new(&par.0.f), Threads::new();
}
