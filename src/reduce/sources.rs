//! The sources of [`Reduce`]: arrays and fused operands, on one thread or on several.

use super::{Fused, Reduce};
use crate::kernel::nest::{Inputs, Maker};
use crate::kernel::operation::Operation;
use crate::kernel::reduce::Loops;
use crate::kernel::source::{Cloned, Source};
use crate::map::{FnOperands, SharedClosure};
use crate::sealed::Sealed;
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

/// A source by value, which may be an array of the shape that is asked for.
pub trait IntoArray<A, D: Dimension>: Sized {
    /// The source as an array, if it is one of this shape.
    #[doc(hidden)]
    fn into_array(self, _shape: &[usize]) -> Result<Array<A, D>, Self>
    where
        A: Clone,
    {
        Err(self)
    }
}

impl<S: Data<Elem = A>, A, D: Dimension> IntoArray<A, D> for ArrayBase<S, D> {
    #[inline]
    fn into_array(self, shape: &[usize]) -> Result<Array<A, D>, Self>
    where
        A: Clone,
    {
        if self.shape() == shape { Ok(self.into_owned()) } else { Err(self) }
    }
}

impl<S, A, D: Dimension> IntoArray<A, D> for Par<S> where Par<S>: Reduce<A, D> {}
impl<O: FnOperands<F, R>, F, R> IntoArray<R, O::Dim> for Fused<O, F> {}

#[allow(private_interfaces, private_bounds, reason = "the hidden method takes types of the kernel")]
impl<S: Data<Elem = A>, A, D: Dimension> Reduce<A, D> for ArrayBase<S, D> {
    #[inline]
    fn source<O: Operation<A> + Sync, R>(&self, op: O, then: impl FnOnce(&Source<'_, A>) -> R) -> R
    where
        A: Clone,
    {
        (**self).source(op, then)
    }
}

#[allow(private_interfaces, private_bounds, reason = "the hidden method takes types of the kernel")]
impl<A, D: Dimension> Reduce<A, D> for ArrayRef<A, D> {
    #[inline]
    fn source<O: Operation<A> + Sync, R>(&self, op: O, then: impl FnOnce(&Source<'_, A>) -> R) -> R
    where
        A: Clone,
    {
        then(&Source::stored(&Inputs::from((self,)), &Loops::new(Cloned, op)))
    }
}

#[allow(private_interfaces, private_bounds, reason = "the hidden method takes types of the kernel")]
impl<A: Send + Sync, D: Dimension> Reduce<A, D> for Par<&ArrayRef<A, D>> {
    #[inline]
    fn source<O: Operation<A> + Sync, R>(&self, op: O, then: impl FnOnce(&Source<'_, A>) -> R) -> R
    where
        A: Clone,
    {
        then(&Source::par_stored(&Inputs::from((self.0,)), &Loops::new(Cloned, op)))
    }
}

#[allow(private_interfaces, private_bounds, reason = "the hidden method takes types of the kernel")]
impl<O: FnOperands<F, R>, F, R> Reduce<R, O::Dim> for Fused<O, F> {
    #[inline]
    fn source<P: Operation<R> + Sync, T>(&self, op: P, then: impl FnOnce(&Source<'_, R>) -> T) -> T
    where
        R: Clone,
    {
        let makes = Maker::new(SharedClosure::<O, F>::new(&self.f), op);
        then(&Source::fused(&self.operands.inputs(), &makes, &Loops::new(Cloned, op)))
    }
}

#[allow(private_interfaces, private_bounds, reason = "the hidden method takes types of the kernel")]
impl<O, F, R> Reduce<R, O::Dim> for Par<Fused<O, F>>
where
    O: FnOperands<F, R, Elems: Sync>,
    F: Sync,
    R: Send + Sync,
{
    #[inline]
    fn source<P: Operation<R> + Sync, T>(&self, op: P, then: impl FnOnce(&Source<'_, R>) -> T) -> T
    where
        R: Clone,
    {
        let Fused { operands, f } = &self.0;
        let makes = Maker::new(SharedClosure::<O, F>::new(f), op);
        then(&Source::par_fused(&operands.inputs(), &makes, &Loops::new(Cloned, op)))
    }
}
