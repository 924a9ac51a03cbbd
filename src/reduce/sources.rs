//! The sources of [`Reduce`]: arrays and fused operands, on one thread or on several.

use super::{Fused, Reduce};
use crate::error::Result;
use crate::kernel::map::copy_like;
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Dropped, Elements, Inputs, Make};
use crate::kernel::operation::{ClosureOp, Operation, Plus};
use crate::kernel::reduce::{Reduces, Store, into, to_new};
use crate::kernel::source::{Cloned, Fused as FusedSource, Results, Stored};
use crate::kernel::threads::{Serial, Threads};
use crate::map::{FnOperands, FusedOperands, SharedClosure, joint};
use crate::sealed::Sealed;
use crate::shape::sizes;
use crate::view::Seen;
use alloc::{vec, vec::Vec};
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

/// The reductions of an array as it is seen.
mod of_array {
    use super::*;

    pub(super) fn first<A: Clone, D: Dimension>(array: &ArrayRef<A, D>) -> Option<A> {
        array.first().cloned()
    }

    /// A copy in place of a sum, if nothing is summed.
    #[inline(always)]
    pub(super) fn copied<A: Clone, D: Dimension, E: Dimension>(
        array: &ArrayRef<A, D>,
        result: Reserved<A, E>,
    ) -> Result<Array<A, E>, Reserved<A, E>> {
        if array.shape() == result.shape() { Ok(copy_like(result, array)) } else { Err(result) }
    }

    pub(super) fn mapped<A: Clone, D: Dimension, B: Clone + Zero, E: Dimension>(
        array: &ArrayRef<A, D>,
        result: Reserved<B, E>,
        dropped: Dropped<'_>,
        map: &dyn Fn(A) -> B,
    ) -> Array<B, E> {
        let (inputs, make) = (Inputs::from((array,)), Mapped(Cloned, map));
        to_new(FusedSource { inputs, shape: array.shape(), results: &make }, result, dropped, Plus, Serial)
    }

    #[inline(always)]
    pub(super) fn reduced<A: Clone, D: Dimension, E: Dimension, P: Operation<A>>(
        array: &ArrayRef<A, D>,
        seen: &Seen<'_, D>,
        result: Reserved<A, E>,
        dropped: Dropped<'_>,
        op: P,
        executor: impl for<'a> Reduces<A, Stored<'a, A>, P>,
    ) -> Array<A, E> {
        if seen.is_whole() {
            return to_new(Stored::of(array), result, dropped, op, executor);
        }
        to_new(Stored::of(&seen.view(array)), result, dropped, op, executor)
    }

    pub(super) fn reduced_into<A: Clone, D: Dimension, E: Dimension, P: Operation<A>>(
        array: &ArrayRef<A, D>,
        seen: &Seen<'_, D>,
        out: &mut ArrayRef<A, E>,
        op: P,
        store: Store<'_, A>,
        executor: impl for<'a> Reduces<A, Stored<'a, A>, P>,
    ) {
        if seen.is_whole() {
            return into(Stored::of(array), out, None, op, store, executor);
        }
        into(Stored::of(&seen.view(array)), out, None, op, store, executor);
    }
}

/// The reductions of a closure's results.
mod of_closure {
    use super::*;

    pub(super) fn first<O: FnOperands<F, R>, F, R>(fused: &Fused<O, F>) -> Option<R> {
        fused.operands.first().map(|items| O::call(&fused.f, items))
    }

    /// Results are never copied.
    #[inline(always)]
    pub(super) fn copied<O, F, R, E>(
        _: &Fused<O, F>,
        result: Reserved<R, E>,
    ) -> Result<Array<R, E>, Reserved<R, E>> {
        Err(result)
    }

    pub(super) fn mapped<O: FnOperands<F, R>, F, R, B: Clone + Zero, E: Dimension>(
        fused: &Fused<O, F>,
        result: Reserved<B, E>,
        dropped: Dropped<'_>,
        map: &dyn Fn(R) -> B,
    ) -> Array<B, E> {
        let (inputs, make) = (fused.operands.inputs(), Mapped(SharedClosure::<O, F>::new(&fused.f), map));
        let shape: O::Dim = joint(inputs.shapes()).expect("the operands were checked");
        to_new(FusedSource { inputs, shape: sizes(&shape), results: &make }, result, dropped, Plus, Serial)
    }

    pub(super) fn reduced<O: FusedOperands, R: Clone, E: Dimension, P: Operation<R>, M>(
        operands: &O,
        results: &M,
        seen: &Seen<'_, O::Dim>,
        result: Reserved<R, E>,
        dropped: Dropped<'_>,
        op: P,
        executor: impl for<'a> Reduces<R, FusedSource<'a, O::Elems, M>, P>,
    ) -> Array<R, E>
    where
        M: Results<R, O::Elems> + ?Sized,
    {
        let (ordered, mut result, mut array) = (seen.ordered(), Some(result), None);
        let shape = ordered.as_ref().map_or(seen.joint(), sizes);
        let mut reduce = |inputs: &Inputs<'_, O::Elems>| {
            let source = FusedSource { inputs: *inputs, shape, results };
            array = result.take().map(|result| to_new(source, result, dropped, op, executor));
        };
        if seen.is_whole() {
            reduce(&operands.inputs());
        } else {
            operands.seen(seen, &mut reduce);
        }
        array.expect("the operands are seen once")
    }

    pub(super) fn reduced_into<O: FusedOperands, R: Clone, E: Dimension, P: Operation<R>, M>(
        operands: &O,
        results: &M,
        seen: &Seen<'_, O::Dim>,
        out: &mut ArrayRef<R, E>,
        op: P,
        store: Store<'_, R>,
        executor: impl for<'a> Reduces<R, FusedSource<'a, O::Elems, M>, P>,
    ) where
        M: Results<R, O::Elems> + ?Sized,
    {
        let ordered = seen.ordered();
        let shape = ordered.as_ref().map_or(seen.joint(), sizes);
        let mut reduce = |inputs: &Inputs<'_, O::Elems>| {
            into(FusedSource { inputs: *inputs, shape, results }, out, None, op, store, executor);
        };
        if seen.is_whole() {
            reduce(&operands.inputs());
        } else {
            operands.seen(seen, &mut reduce);
        }
    }
}

/// The reductions of a closure's results on an executor. The closure is a `dyn`, so that all but its rows is compiled once.
macro_rules! closures {
    ($name:ident, $Executor:ident $(, $Sync:ident)?) => {
        mod $name {
            use super::*;

            pub(super) use super::of_closure::{copied, first, mapped};

            type Dyn<'c, R, E> = dyn Results<R, E> $(+ $Sync)? + 'c;

            pub(super) fn reduced<O, F $(: $Sync)?, R: Clone, E: Dimension, P: Operation<R>>(
                fused: &Fused<O, F>,
                seen: &Seen<'_, O::Dim>,
                result: Reserved<R, E>,
                dropped: Dropped<'_>,
                op: P,
                executor: $Executor,
            ) -> Array<R, E>
            where
                O: FnOperands<F, R>,
                $Executor: for<'a, 'c> Reduces<R, FusedSource<'a, O::Elems, Dyn<'c, R, O::Elems>>, P>,
            {
                let closure: &Dyn<'_, R, O::Elems> = &SharedClosure::<O, F>::new(&fused.f);
                of_closure::reduced(&fused.operands, closure, seen, result, dropped, op, executor)
            }

            pub(super) fn reduced_into<O, F $(: $Sync)?, R: Clone, E: Dimension, P: Operation<R>>(
                fused: &Fused<O, F>,
                seen: &Seen<'_, O::Dim>,
                out: &mut ArrayRef<R, E>,
                op: P,
                store: Store<'_, R>,
                executor: $Executor,
            ) where
                O: FnOperands<F, R>,
                $Executor: for<'a, 'c> Reduces<R, FusedSource<'a, O::Elems, Dyn<'c, R, O::Elems>>, P>,
            {
                let closure: &Dyn<'_, R, O::Elems> = &SharedClosure::<O, F>::new(&fused.f);
                of_closure::reduced_into(&fused.operands, closure, seen, out, op, store, executor);
            }
        }
    };
}
closures!(on_one_thread, Serial);
closures!(on_threads, Threads, Sync);

/// `$of` has the reductions of `$origin`, which has these operands.
macro_rules! sources {
    ($(
        [$($generics:tt)*] $Self:ty: $A:ty, $D:ty, $Operands:ty
        |$this:ident| $origin:expr, $operands:expr, $of:ident, $executor:ident $(, { $owned:item })?;
    )*) => {$(
        #[allow(private_interfaces, reason = "hidden methods take types of the kernel")]
        impl<$($generics)*> Reduce<$A, $D> for $Self {
            type Operands = $Operands;

            #[inline]
            fn operands(&self) -> &$Operands {
                let $this = self;
                $operands
            }

            fn first_element(&self) -> Option<$A>
            where
                $A: Clone,
            {
                let $this = self;
                $of::first($origin)
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
                let result = if seen.is_whole() { $of::copied($origin, result) } else { Err(result) };
                match result {
                    Ok(copy) => copy,
                    Err(result) => $of::reduced($origin, seen, result, dropped, Plus, $executor),
                }
            }

            fn sum_into<Out: Dimension>(
                &self,
                seen: &Seen<'_, $D>,
                out: &mut ArrayRef<$A, Out>,
                store: Store<'_, $A>,
            ) where
                $A: Clone + Zero,
            {
                let $this = self;
                $of::reduced_into($origin, seen, out, Plus, store, $executor);
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
                $of::reduced($origin, seen, result, dropped, ClosureOp { identity, op }, $executor)
            }

            fn new_mapped_sum<Item: Clone + Zero, Left: Dimension>(
                &self,
                result: Reserved<Item, Left>,
                dropped: Dropped<'_>,
                map: &dyn Fn($A) -> Item,
            ) -> Array<Item, Left>
            where
                $A: Clone,
            {
                let $this = self;
                $of::mapped($origin, result, dropped, map)
            }

            $($owned)?
        }
    )*};
}
sources! {
    [S: Data<Elem = A>, A, D: Dimension] ArrayBase<S, D>: A, D, ArrayRef<A, D>
    |array| &**array, array, of_array, Serial, {
        fn into_array(self) -> Result<Array<A, D>, Self>
        where
            A: Clone,
        {
            Ok(self.into_owned())
        }
    };
    [A, D: Dimension] ArrayRef<A, D>: A, D, Self
    |array| array, array, of_array, Serial;
    [A: Send + Sync, D: Dimension] Par<&ArrayRef<A, D>>: A, D, ArrayRef<A, D>
    |par| par.0, par.0, of_array, Threads;
    [O: FnOperands<F, R>, F, R] Fused<O, F>: R, O::Dim, O
    |fused| fused, &fused.operands, on_one_thread, Serial;
    [O: FnOperands<F, R, Elems: Sync>, F: Sync, R: Send + Sync] Par<Fused<O, F>>: R, O::Dim, O
    |par| &par.0, &par.0.operands, on_threads, Threads;
}
