//! Loops, pointers and borrows. Every pointer of a pass over arrays is made, moved and followed here.
//!
//! # Invariant
//! A [`Nest`] has loops, a pointer for each operand, and an object that knows the operands' types. Operand 0 is the output, the
//! others are the inputs. At every index of the loops,
//! - the pointer of each input, moved by its strides, points to an element that is borrowed while the nest lives;
//! - the pointer of the output, moved by its strides, points to an element or a slot that the nest borrows exclusively, unless
//!   the nest has no output: there is none, or another handle has it;
//! - two indices that differ in a kept loop lead to different elements of the output. Along the other loops, the reduced ones,
//!   the output stays.
//!
//! The constructors set the pointers together with the object that knows their types, and check the rest. Every other function
//! keeps the invariant, because it visits all or some of the same indices, in another order or grouped into other loops. The
//! fields of [`ErasedNest`] are private to this module, whose files rely on each other. A nest is neither
//! `Copy` nor `Clone`, and methods that give access to elements consume it, so no element of an output is borrowed twice at the
//! same time.

mod arrange;
mod bases;
mod closures;
mod cut;
mod elements;
mod gather;
mod halves;
mod operands;
mod panels;
mod passes;
mod reduction;
mod source;

pub(crate) use bases::{BaseInputs, BaseOutput, Bases, Forms};
pub(crate) use closures::{
    Added, AddedScaled, Cloned, FillsOf, Fold, FoldLoops, MapReduce, RowsOf, SharedVisitor, Visitor, Write,
    can_leak,
};
pub(crate) use cut::is_dense;
pub(crate) use elements::{ElementInfo, Elements, MapElement, Visit};
pub(crate) use gather::copy_share;
pub(crate) use halves::Threads;
pub(crate) use operands::{
    AxisSelection, Dropped, Inputs, Output, RawInputs, StridedAxes, standard_len, standard_strides,
};
pub(crate) use panels::{NARROW, ROUNDS, SumLoop, WIDE};
pub(crate) use passes::{RowPass, ShapePass, TileInputs};
pub(crate) use reduction::{Destination, LaneItem, Planned, Reduction, RunHalf, Store, for_each_lane};
pub(crate) use source::{Compiled, Source, compiled_for};
#[cfg(test)]
pub(crate) use {bases::Form, operands::OrderedAxes};

use super::ensure;
use super::memory::{List, SliceVec, Slots};
use alloc::boxed::Box;
use core::marker::PhantomData;
use core::ops::Deref;

/// The most operands: an output and six inputs.
pub(crate) const OPERANDS: usize = 7;

/// The most elements of rows that are visited, and of a source that is reduced, without arranging a nest. Measured on Zen 4: for so
/// few, the order of the loops costs less than the 50 ns of arranging them.
pub(super) const SMALL_NEST: usize = 4096;
/// The most elements that are visited or combined one by one where there is no row loop. For more, operands are copied. Measured
/// on 2026-11-26 with `cliffs`, for closures of one to forty operations: 32 to 64 take about as long.
pub(super) const ONE_BY_ONE: usize = 64;

/// A loop: its number of steps, and the bytes that each operand moves at a step.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    len: usize,
    /// Whether the output moves.
    kept: bool,
    strides: [isize; OPERANDS],
}

impl Loop {
    const ONE_STEP: Self = Self { len: 1, kept: false, strides: [0; OPERANDS] };

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the output moves along the loop; otherwise the loop is reduced.
    #[inline(always)]
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// The bytes that operand `k` moves at a step.
    #[inline(always)]
    pub(crate) fn stride(&self, k: usize) -> isize {
        self.strides[k]
    }

    /// The length of each part when the loop is split into the fewest parts of at most `most` steps. The last part may be
    /// shorter. Parts are whole vectors, unless the last one would then be shorter than a vector.
    pub(crate) fn part(&self, most: usize) -> usize {
        if self.len <= most {
            return self.len;
        }
        let vector = if most < NARROW { 1 } else { NARROW };
        let parts = self.len.div_ceil((most / vector * vector).max(1));
        let equal = self.len.div_ceil(parts);
        let whole = equal.next_multiple_of(vector);
        if (1..vector).contains(&(self.len % whole)) { equal } else { whole }
    }

    /// Whether a step is as long as all of `inner`, in the first `count` operands.
    #[inline]
    fn continues(&self, inner: &Self, count: usize) -> bool {
        (0..count).all(|k| self.strides[k] == inner.strides[k].wrapping_mul(inner.len.cast_signed()))
    }

    /// The pointers after some steps of the output and of the inputs.
    fn moved(&self, at: &Pointers, [output, input]: [usize; 2]) -> Pointers {
        let mut moved = *at;
        for (k, at) in moved.iter_mut().enumerate() {
            let steps = if k == 0 { output } else { input };
            *at = at.wrapping_offset(self.strides[k].wrapping_mul(steps.cast_signed()));
        }
        moved
    }
}

/// The loops of a nest, outermost first. Few nests have more than 8.
pub(crate) type Loops = List<Loop, 8>;
/// A number of steps for each loop.
pub(crate) type Steps = List<usize, 8>;

/// The number of indices of loops. It may exceed `usize` for views that repeat elements.
#[inline]
pub(crate) fn steps(loops: &[Loop]) -> usize {
    let mut steps = 1_usize;
    for l in loops {
        steps = steps.saturating_mul(l.len);
    }
    steps
}

/// Whether each half of the loops has at least `grain` indices.
pub(crate) fn is_worth_halving(loops: &[Loop], grain: usize) -> bool {
    steps(loops) / 2 >= grain
}

/// A set of inputs. Operand `k` is bit `k - 1`.
///
/// Not exported; public because [`Elements`] takes one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InputSet(u8);

impl InputSet {
    pub(crate) const NONE: Self = Self(0);

    #[inline(always)]
    const fn contains(self, k: usize) -> bool {
        self.0 >> (k - 1) & 1 == 1
    }

    #[inline(always)]
    pub(crate) fn operands(self) -> impl Iterator<Item = usize> {
        (1..OPERANDS).filter(move |&k| self.contains(k))
    }

    #[inline(always)]
    fn insert(&mut self, k: usize) {
        self.0 |= 1 << (k - 1);
    }

    /// The inputs up to operand `last` for which `is_in` holds.
    #[inline(always)]
    fn of(last: usize, is_in: impl Fn(usize) -> bool) -> Self {
        (1..=last).fold(Self::NONE, |set, k| Self(set.0 | u8::from(is_in(k)) << (k - 1)))
    }
}

/// A pointer for each operand.
type Pointers = [*mut u8; OPERANDS];

/// The operands of a nest, without their types.
#[derive(Clone, Copy)]
struct ErasedOperands {
    at: Pointers,
    /// The bytes of an element of each operand.
    sizes: [usize; OPERANDS],
    /// The inputs whose elements are plain numbers: see [`plain_size`](super::simd::plain_size).
    plain: InputSet,
    /// The number of operands.
    count: usize,
    /// Of the inputs.
    info: &'static ElementInfo,
    /// Whether the nest gives access to the output.
    has_output: bool,
}

/// The loops and pointers of a nest, without the types of its elements. A [`Nest`] lends it for reading.
pub(crate) struct ErasedNest {
    loops: Loops,
    operands: ErasedOperands,
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
            info: const { &<((),) as Elements>::INFO },
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
    fn copy_from(&mut self, other: &Self) {
        self.operands = other.operands;
        self.loops.copy_from(&other.loops);
    }

    /// Copies the nest to `scratch`, without the output, whose layout no longer matters: loops are merged by the
    /// inputs alone.
    fn inputs<'m>(&self, scratch: &'m mut ErasedNest) -> &'m mut ErasedNest {
        scratch.copy_from(self);
        scratch.operands.has_output = false;
        scratch.loops.iter_mut().for_each(|l| l.strides[0] = 0);
        scratch.merge();
        scratch
    }
}

/// A nest with its pass: the object that knows the types of its operands.
pub(crate) struct Nest<'n, P> {
    erased: &'n mut ErasedNest,
    pass: P,
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

/// The number of slots with the brand `'s` that have been written.
pub(crate) struct Written<'s>(usize, PhantomData<fn(&'s ()) -> &'s ()>);

impl<'s> Written<'s> {
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self(0, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, more: Self) {
        self.0 += more.0;
    }

    pub(crate) fn count(&self) -> usize {
        self.0
    }

    /// Fills the slots, as a vector to which `append` appends.
    ///
    /// # Panics
    /// If `append` replaces the vector by another one.
    #[inline(always)]
    pub(crate) fn appended<A>(slots: Slots<'_, 's, A>, append: impl FnOnce(&mut SliceVec<'_, A>)) -> Self {
        let mut vec = slots.into_vec();
        let start = vec.as_ptr();
        append(&mut vec);
        ensure(vec.as_ptr() == start, "other memory was filled");
        Self(vec.len(), PhantomData)
    }
}
