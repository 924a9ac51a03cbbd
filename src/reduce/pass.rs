//! The two ways into the kernel's reductions: into a new array, and into one that exists.

use crate::kernel::each::VisitBlock;
use crate::kernel::fused::reduce_to;
use crate::kernel::memory::Reserved;
use crate::kernel::nest::{Elements, Input, Inputs, Output};
use crate::kernel::operation::Operation;
use crate::kernel::reduce::{self, Reductions, StoreSums};
use crate::kernel::strided::Dropped;
use alloc::vec::Vec;
use ndarray::{Array, ArrayRef, Dimension, IxDyn};

/// What is reduced by the operation `O` on the executor `X`.
///
/// The `dropped` axes of the source are not in the result. The other axes are the result's, in order and aligned at the
/// right. There, the result has the source's size, or size 1 to reduce the axis.
pub(super) trait Source<A, O, X> {
    fn reduce_to_new<E: Dimension>(
        self,
        result: Reserved<A, E>,
        dropped: Dropped<'_>,
        op: O,
        executor: X,
    ) -> Array<A, E>;

    /// `store` puts each result into its output; without it, the result replaces the output.
    fn reduce_into<E: Dimension>(
        self,
        out: &mut ArrayRef<A, E>,
        dropped: Dropped<'_>,
        op: O,
        store: Option<&StoreSums<'_, A>>,
        executor: X,
    );
}

/// The elements of an array.
impl<A: Clone, O: Operation<A>, X: Reductions<A, O>> Source<A, O, X> for Input<'_, A> {
    #[inline(always)]
    fn reduce_to_new<E: Dimension>(
        self,
        result: Reserved<A, E>,
        dropped: Dropped<'_>,
        op: O,
        executor: X,
    ) -> Array<A, E> {
        reduce::reduce_to_new(self, result, dropped, op, executor)
    }

    #[inline(always)]
    fn reduce_into<E: Dimension>(
        self,
        out: &mut ArrayRef<A, E>,
        dropped: Dropped<'_>,
        op: O,
        store: Option<&StoreSums<'_, A>>,
        executor: X,
    ) {
        reduce::reduce_into(self, Output::of(out), dropped, op, store, executor);
    }
}

/// The results of a closure for the inputs' elements, which are stretched to `shape`. `fold` is a [`Fold`] of them with the
/// operation: behind a trait object, so that nothing else is compiled for each closure.
pub(super) struct Made<'a, 'i, 'f, A, E: Elements> {
    pub(super) shape: &'a [usize],
    pub(super) inputs: &'a Inputs<'i, E>,
    pub(super) fold: &'a mut (dyn VisitBlock<A, E> + 'f),
}

impl<A: Clone, E: Elements, O: Operation<A>, X> Source<A, O, X> for Made<'_, '_, '_, A, E> {
    fn reduce_to_new<D: Dimension>(
        self,
        result: Reserved<A, D>,
        dropped: Dropped<'_>,
        op: O,
        _: X,
    ) -> Array<A, D> {
        let Self { shape, inputs, fold } = self;
        let Some(dropped) = dropped else { return reduce_to(shape, result, inputs, fold, &op) };
        let mut kept = Vec::new();
        for (axis, &size) in shape.iter().enumerate() {
            kept.push(if dropped.contains(axis) { 1 } else { size });
        }
        match Reserved::new(IxDyn(&kept)) {
            Ok(copy) => {
                result.cloned(reduce_to(shape, copy, inputs, fold, &op).as_slice().unwrap_or_default())
            }
            Err(_) => panic!("memory for a copy of the result"),
        }
    }

    fn reduce_into<D: Dimension>(
        self,
        out: &mut ArrayRef<A, D>,
        dropped: Dropped<'_>,
        op: O,
        store: Option<&StoreSums<'_, A>>,
        executor: X,
    ) {
        let Ok(result) = Reserved::new(out.raw_dim()) else { panic!("memory for a copy of the output") };
        let results = self.reduce_to_new(result, dropped, op, executor);
        out.zip_mut_with(&results, |slot, result| match store {
            Some(store) => store.one(slot, result.clone()),
            None => *slot = result.clone(),
        });
    }
}

/// Whether the elements are plain numbers, of which equal ones do not differ.
pub(super) fn is_number<A>() -> bool {
    <(A,) as Elements>::plain_size(1).is_some()
}
