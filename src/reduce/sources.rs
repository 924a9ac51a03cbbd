//! The sources of [`Reduce`]: arrays and fused operands, on one thread or on several.

use super::pass::{Made, Source};
use super::{Fused, Reduce};
use crate::error::Result;
use crate::kernel::each::{Make, copy_like};
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Elements, Input, Inputs};
use crate::kernel::operation::{ClosureOp, Plus};
use crate::kernel::reduce::StoreSums;
use crate::kernel::strided::Dropped;
use crate::kernel::threads::{Serial, Threads};
use crate::map::{Closure, FnOperands, joint};
use crate::sealed::Sealed;
use crate::shape::sizes;
use crate::view::Seen;
use alloc::{vec, vec::Vec};
use core::mem::needs_drop;
use ndarray::{Array, ArrayBase, ArrayRef, Data, Dimension};
use num_traits::Zero;

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

impl<A, B, E: Elements, M: Make<A, E>> Make<B, E> for Mapped<'_, M, A, B> {
    #[inline(always)]
    fn make(&mut self, items: E::Refs<'_>) -> B {
        (self.1)(self.0.make(items))
    }
}

/// Clones of an array's elements.
struct Cloned;

impl<A: Clone> Make<A, (A,)> for Cloned {
    #[inline(always)]
    fn make(&mut self, (item,): (&A,)) -> A {
        item.clone()
    }
}

/// What does not depend on the executor.
trait Origin<'a, A, D>: Sized {
    fn operand_shapes(self) -> Vec<&'a [usize]>;

    fn joint(self) -> Result<D>;

    /// The element at index zero, if there is one.
    fn first(self) -> Option<A>
    where
        A: Clone;

    /// A copy in place of a sum, if nothing is summed and a copy is faster.
    fn copied<E: Dimension>(self, result: Reserved<A, E>) -> Result<Array<A, E>, Reserved<A, E>>
    where
        A: Clone,
    {
        Err(result)
    }

    /// The reduction of the results of `map`.
    fn mapped<B: Clone, E: Dimension>(
        self,
        result: Reserved<B, E>,
        dropped: Dropped<'_>,
        map: &dyn Fn(A) -> B,
        op: ClosureOp<'_, B, impl Fn(B, B) -> B>,
    ) -> Array<B, E>
    where
        A: Clone;
}

impl<'a, A, D: Dimension> Origin<'a, A, D> for &'a ArrayRef<A, D> {
    #[cold]
    fn operand_shapes(self) -> Vec<&'a [usize]> {
        vec![self.shape()]
    }

    #[inline]
    fn joint(self) -> Result<D> {
        Ok(self.raw_dim())
    }

    fn first(self) -> Option<A>
    where
        A: Clone,
    {
        ArrayRef::first(self).cloned()
    }

    /// In other layouts than the standard one, elements that own memory are added to zero, because a copy would leak them if
    /// a `clone` panics.
    #[inline(always)]
    fn copied<E: Dimension>(self, result: Reserved<A, E>) -> Result<Array<A, E>, Reserved<A, E>>
    where
        A: Clone,
    {
        if self.shape() == result.shape() {
            if let Some(slice) = self.as_slice() {
                return Ok(result.cloned(slice));
            }
            if !const { needs_drop::<A>() } {
                return Ok(copy_like(result, self));
            }
        }
        Err(result)
    }

    fn mapped<B: Clone, E: Dimension>(
        self,
        result: Reserved<B, E>,
        dropped: Dropped<'_>,
        map: &dyn Fn(A) -> B,
        op: ClosureOp<'_, B, impl Fn(B, B) -> B>,
    ) -> Array<B, E>
    where
        A: Clone,
    {
        let (inputs, make) = (&Inputs::from((self,)), Mapped(Cloned, map));
        Made { shape: self.shape(), inputs, make }.reduce_to_new(result, dropped, op, Serial)
    }
}

impl<'a, O: FnOperands<F, R>, F, R> Origin<'a, R, O::Dim> for &'a Fused<O, F> {
    #[cold]
    fn operand_shapes(self) -> Vec<&'a [usize]> {
        self.operands.inputs().shapes().to_vec()
    }

    #[inline]
    fn joint(self) -> Result<O::Dim> {
        joint(self.operands.inputs().shapes())
    }

    fn first(self) -> Option<R> {
        self.operands.first().map(|items| O::call(&mut &self.f, items))
    }

    fn mapped<B: Clone, E: Dimension>(
        self,
        result: Reserved<B, E>,
        dropped: Dropped<'_>,
        map: &dyn Fn(R) -> B,
        op: ClosureOp<'_, B, impl Fn(B, B) -> B>,
    ) -> Array<B, E> {
        let (inputs, make) = (&self.operands.inputs(), Mapped(Closure::<O, &F>::new(&self.f), map));
        let shape: O::Dim = joint(inputs.shapes()).expect("the operands were checked");
        Made { shape: sizes(&shape), inputs, make }.reduce_to_new(result, dropped, op, Serial)
    }
}

/// Calls `then` with the elements of an array, as they are seen.
#[inline(always)]
fn elements<A, D: Dimension, T>(
    array: &ArrayRef<A, D>,
    seen: &Seen<'_, D>,
    then: impl FnOnce(Input<'_, A>) -> T,
) -> T {
    if seen.is_whole() { then(Input::of(array)) } else { then(Input::of(&seen.view(array))) }
}

/// Calls `then` with the results of a closure, as they are seen.
#[inline]
fn results<'f, O: FnOperands<F, R>, F, R, T>(
    fused: &'f Fused<O, F>,
    seen: &Seen<'_, O::Dim>,
    then: impl FnOnce(Made<'_, O::Elems, Closure<O, &'f F>>) -> T,
) -> T {
    let (make, shape) = (Closure::new(&fused.f), seen.shape());
    if seen.is_whole() {
        return then(Made { shape: sizes(&shape), inputs: &fused.operands.inputs(), make });
    }
    let (mut then, mut result) = (Some(then), None);
    fused.operands.seen(seen, &mut |inputs| {
        result = then.take().map(|then| then(Made { shape: sizes(&shape), inputs, make }));
    });
    result.expect("the operands are seen once")
}

/// `$origin` is an [`Origin`], of which `$pass` makes a [`Source`].
macro_rules! sources {
    ($(
        [$($generics:tt)*] $Self:ty: $A:ty, $D:ty $(where [$($bounds:tt)*])?
        |$this:ident| $origin:expr, $pass:ident, $executor:ident $(, { $owned:item })?;
    )*) => {$(
        #[allow(private_interfaces, reason = "hidden methods take types of the kernel")]
        impl<$($generics)*> Reduce<$A, $D> for $Self $(where $($bounds)*)? {
            fn operand_shapes(&self) -> Vec<&[usize]> {
                let $this = self;
                Origin::<$A, $D>::operand_shapes($origin)
            }

            #[inline]
            fn joint(&self) -> Result<$D> {
                let $this = self;
                Origin::<$A, $D>::joint($origin)
            }

            fn first(&self) -> Option<$A>
            where
                $A: Clone,
            {
                let $this = self;
                Origin::<$A, $D>::first($origin)
            }

            #[inline]
            fn new_sum<Left: Dimension>(
                &self,
                seen: &Seen<'_, $D>,
                result: Reserved<$A, Left>,
                dropped: Dropped<'_>,
            ) -> Array<$A, Left>
            where
                $A: Clone + Zero,
            {
                let $this = self;
                let result = if seen.is_whole() { Origin::<$A, $D>::copied($origin, result) } else { Err(result) };
                match result {
                    Ok(copy) => copy,
                    Err(result) => $pass($origin, seen, |source| source.reduce_to_new(result, dropped, Plus, $executor)),
                }
            }

            fn sum_into<Out: Dimension>(
                &self,
                seen: &Seen<'_, $D>,
                out: &mut ArrayRef<$A, Out>,
                store: Option<&StoreSums<'_, $A>>,
            ) where
                $A: Clone + Zero,
            {
                let $this = self;
                $pass($origin, seen, |source| source.reduce_into(out, None, Plus, store, $executor));
            }

            #[inline]
            fn new_reduction<Left: Dimension, Op: Fn($A, $A) -> $A + Sync>(
                &self,
                seen: &Seen<'_, $D>,
                result: Reserved<$A, Left>,
                dropped: Dropped<'_>,
                identity: &$A,
                op: &Op,
            ) -> Array<$A, Left>
            where
                $A: Clone,
            {
                let $this = self;
                let op = ClosureOp { identity, op };
                $pass($origin, seen, |source| source.reduce_to_new(result, dropped, op, $executor))
            }

            fn new_mapped<Item: Clone, Left: Dimension>(
                &self,
                result: Reserved<Item, Left>,
                dropped: Dropped<'_>,
                map: &dyn Fn($A) -> Item,
                identity: &Item,
                op: &dyn Fn(Item, Item) -> Item,
            ) -> Array<Item, Left>
            where
                $A: Clone,
            {
                let $this = self;
                Origin::<$A, $D>::mapped($origin, result, dropped, map, ClosureOp { identity, op: &op })
            }

            $($owned)?
        }
    )*};
}
sources! {
    [S: Data<Elem = A>, A, D: Dimension] ArrayBase<S, D>: A, D
    |array| &**array, elements, Serial, {
        fn into_array(self) -> Result<Array<A, D>, Self>
        where
            A: Clone,
        {
            Ok(self.into_owned())
        }
    };
    [A, D: Dimension] ArrayRef<A, D>: A, D
    |array| array, elements, Serial;
    [A: Send + Sync, D: Dimension] Par<&ArrayRef<A, D>>: A, D
    |par| par.0, elements, Threads;
    [O: FnOperands<F, R>, F, R] Fused<O, F>: R, O::Dim
    |fused| fused, results, Serial;
    [O: FnOperands<F, R, Elems: Sync>, F: Sync, R: Send + Sync] Par<Fused<O, F>>: R, O::Dim
    |par| &par.0, results, Threads;
}
