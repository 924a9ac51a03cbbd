//! Nests: the loops and the operands together. See the invariant of the [folder](super).

use super::loops::{ElementInfo, InputSet, Loops, OPERANDS, Pointers};
use crate::kernel::memory::List;
use alloc::boxed::Box;
use core::ops::Deref;

/// The operands of a nest, without their types.
#[derive(Clone, Copy)]
pub(super) struct ErasedOperands {
    pub(super) at: Pointers,
    /// The bytes of an element of each operand.
    pub(super) sizes: [usize; OPERANDS],
    /// The inputs whose elements are plain numbers: see [`plain_size`](super::simd::plain_size).
    pub(super) plain: InputSet,
    /// The number of operands.
    pub(super) count: usize,
    /// Of the inputs.
    pub(super) info: &'static ElementInfo,
    /// Whether the nest gives access to the output.
    pub(super) has_output: bool,
}

/// The loops and pointers of a nest, without the types of its elements. A [`Nest`] lends it for reading.
pub(crate) struct ErasedNest {
    pub(super) loops: Loops,
    pub(super) operands: ErasedOperands,
}

impl ErasedNest {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let (at, sizes) = ([core::ptr::null_mut(); OPERANDS], [0; OPERANDS]);
        let operands = ErasedOperands {
            at,
            sizes,
            plain: InputSet::NONE,
            count: 0,
            info: &ElementInfo::NONE,
            has_output: false,
        };
        Self { loops: List::new(), operands }
    }

    /// On the heap, for functions that halve nests recursively.
    #[inline(never)]
    pub(crate) fn on_heap() -> Box<Self> {
        Box::new(Self::new())
    }

    #[inline]
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.operands = other.operands;
        self.loops.copy_from(&other.loops);
    }

    /// Copies the nest to `scratch`, without the output, whose layout no longer matters: loops are merged by the
    /// inputs alone.
    pub(super) fn inputs<'m>(&self, scratch: &'m mut ErasedNest) -> &'m mut ErasedNest {
        scratch.copy_from(self);
        scratch.operands.has_output = false;
        scratch.loops.iter_mut().for_each(|l| l.strides[0] = 0);
        scratch.merge();
        scratch
    }
}

/// A nest with its pass: the object that knows the types of its operands.
pub(crate) struct Nest<'n, P> {
    pub(super) erased: &'n mut ErasedNest,
    pub(super) pass: P,
}

// SAFETY: A pass is `Send` only if threads may have the operands. Passes that know no types are not: see `halves`.
unsafe impl<P: Send> Send for Nest<'_, P> {}

impl<P> Deref for Nest<'_, P> {
    type Target = ErasedNest;

    #[inline(always)]
    fn deref(&self) -> &ErasedNest {
        self.erased
    }
}

impl<'n, P: Copy> Nest<'n, P> {
    /// See [`ErasedNest::arrange`].
    pub(crate) fn arrange(&mut self, first: usize) {
        self.erased.arrange(first);
    }

    /// Two halves of the nest, each with a part of the loop at `place`. It is a kept loop, unless the nest has only inputs.
    ///
    /// # Panics
    /// If it is a reduced loop of a nest with an output, or has one step.
    pub(crate) fn halves<'m>(self, place: usize, scratch: &'m mut ErasedNest) -> [Nest<'m, P>; 2]
    where
        'n: 'm,
    {
        let erased = self.erased.halve(place, scratch);
        [Nest { erased, pass: self.pass }, Nest { erased: scratch, pass: self.pass }]
    }

    /// The nest without access to its output.
    #[inline]
    pub(crate) fn inputs<'m>(&self, scratch: &'m mut ErasedNest) -> Nest<'m, P> {
        Nest { erased: self.erased.inputs(scratch), pass: self.pass }
    }
}
