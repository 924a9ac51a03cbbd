//! Reductions of a source, and where their results go.

use super::arrays::{Inputs, Output};
use super::closures::{Added, AddedScaled, Cloned, Fold, Invariant, Rows, SharedVisitor, fits_panels};
use super::cut::for_each_index;
use super::elements::{Elements, Visit};
use super::erased::{ErasedNest, Nest};
use super::gather::gather;
use super::loops::{InputSet, Steps, is_dense, is_worth_halving, steps};
use super::operands::{Dropped, RawOutput, standard_len};
use super::panels::SumLoop;
use super::passes::{ReadsNest, RowPass, ShapePass, standard_output};
use super::source::Source;
use crate::kernel::ensure;
use crate::kernel::memory::{Scratch, Slots, StridedSlots, Written};
use crate::kernel::simd::is_type;
use crate::kernel::threads::GRAIN;
use core::marker::PhantomData;
use core::ops::{Deref, Mul};
use core::slice;
use num_traits::Zero;

/// What results are stored in: slots of a new array, or, by these rows, elements of an existing one.
#[derive(Clone, Copy)]
enum Into<'t> {
    Slots,
    Elements(&'t dyn Rows),
}

/// A reduction of a source, which has this shape, and where its results are stored. The output has the axes of the shape that are
/// not `dropped`, in order, each with the same size or with size 1. Without a set of dropped axes, it lacks the leading ones.
pub(crate) struct Job<'j, 's, A> {
    pub(crate) source: &'j Source<'j, A>,
    pub(crate) shape: &'j [usize],
    pub(crate) dropped: Dropped<'j>,
    out: RawOutput<'j>,
    into: Into<'j>,
    brand: Invariant<&'s ()>,
}

impl<'j, 's, A: Clone> Job<'j, 's, A> {
    #[inline]
    fn new(source: &'j Source<'j, A>, shape: &'j [usize], dropped: Dropped<'j>, out: RawOutput<'j>) -> Self {
        Self { source, shape, dropped, out, into: Into::Slots, brand: PhantomData }
    }

    /// A reduction to the slots of a new array.
    #[inline]
    pub(crate) fn to_slots(
        source: &'j Source<'j, A>,
        shape: &'j [usize],
        dropped: Dropped<'j>,
        slots: StridedSlots<'j, 's, A>,
    ) -> Self {
        Self::new(source, shape, dropped, RawOutput::slots(slots))
    }

    /// The same reduction to slots with the `strides` of the standard layout.
    ///
    /// # Panics
    /// If the number of slots differs.
    pub(crate) fn filling<'t>(&self, slots: Slots<'j, 't, A>, strides: &'j [isize]) -> Job<'j, 't, A> {
        let Self { source, shape, dropped, out, .. } = *self;
        Job::new(source, shape, dropped, standard_output(slots, out.axes.sizes, strides))
    }

    #[inline]
    pub(crate) fn has_slots(&self) -> bool {
        matches!(self.into, Into::Slots)
    }

    /// The shape of the output.
    #[inline]
    pub(crate) fn out_shape(&self) -> &'j [usize] {
        self.out.axes.sizes
    }

    /// The slots in the order of the axes, if they are contiguous in this order.
    #[inline]
    pub(crate) fn into_slots(self) -> Result<Slots<'j, 's, A>, Self> {
        let len = if self.has_slots() { standard_len(self.out.axes) } else { None };
        // SAFETY: The slots are contiguous, and the reduction had them alone.
        len.map(|len| unsafe { Slots::new(self.out.at.cast(), len) }).ok_or(self)
    }

    /// The reduction as a pass to slots; `None` if the elements must be prepared, or if the outputs are no slots.
    #[inline]
    pub(crate) fn map(&mut self) -> Option<ShapePass<'_, 's>> {
        let is_map = self.has_slots() && self.source.prepare().is_none();
        let pass = ShapePass::new(self.out, self.source.inputs(), self.source.element_loops());
        is_map.then_some(ShapePass { shape: self.shape, dropped: self.dropped, ..pass })
    }

    /// A pass that stores results in elements; `None` if the outputs are slots.
    pub(crate) fn store<'p>(&'p mut self, results: &'p Inputs<'p, (A,)>) -> Option<ShapePass<'p, 's>> {
        match self.into {
            Into::Slots => None,
            Into::Elements(store) => Some(ShapePass::new(self.out, results, store)),
        }
    }

    /// The nest; `None` if there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    #[inline]
    pub(crate) fn nest(self, erased: &mut ErasedNest) -> Option<Nest<'_, Reduction<'j, 's, A>>> {
        let Self { source, shape, dropped, out, into, brand } = self;
        let is_empty = erased.build(shape, Some(out), dropped, source.inputs());
        (!is_empty).then_some(Nest { erased, pass: Reduction { source, into, brand } })
    }
}

/// No slots have the brand `'static`.
impl<'j, A: Clone> Job<'j, 'static, A> {
    /// A reduction whose results are stored in elements.
    #[inline]
    pub(crate) fn to_elements<S: Store<A>>(
        source: &'j Source<'j, A>,
        shape: &'j [usize],
        dropped: Dropped<'j>,
        out: Output<'j, A>,
        store: &'j SharedVisitor<S, A, (A,)>,
    ) -> Self {
        Self { into: Into::Elements(store), ..Self::new(source, shape, dropped, out.raw()) }
    }
}

/// Stores a result in an element.
///
/// # Safety
/// Threads may share it if they may share elements.
pub(crate) unsafe trait Store<A>: Visit<A, (A,)> + Copy {}

// SAFETY: It has no state.
unsafe impl<A: Clone> Store<A> for Cloned {}
// SAFETY: It has no state.
unsafe impl<A: Clone + Zero> Store<A> for Added {}
// SAFETY: It has a reference to an element.
unsafe impl<A: Clone + Zero + Mul<Output = A>> Store<A> for AddedScaled<'_, A> {}

/// A pass that reduces a source. If its output has slots, their brand is `'s`.
pub(crate) struct Reduction<'a, 's, A> {
    source: &'a Source<'a, A>,
    into: Into<'a>,
    brand: Invariant<&'s ()>,
}

impl<A> Clone for Reduction<'_, '_, A> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Reduction<'_, '_, A> {}

impl<A> ReadsNest for Reduction<'_, '_, A> {}

/// Runs a half of a reduction. Not a closure, which might have state.
pub(crate) type RunHalf<'a, 's, A, R> = fn(Nest<'_, Reduction<'a, 's, A>>, &mut Scratch) -> R;

impl<'n, 'a, 's, A: Clone> Nest<'n, Reduction<'a, 's, A>> {
    /// A nest along the axes of `shape`, that of the source, without outputs; `None` if there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    pub(crate) fn reading(
        erased: &'n mut ErasedNest,
        source: &'a Source<'a, A>,
        shape: &[usize],
    ) -> Option<Self> {
        let is_empty = erased.build(shape, None, None, source.inputs());
        (!is_empty)
            .then_some(Self { erased, pass: Reduction { source, into: Into::Slots, brand: PhantomData } })
    }

    /// The results of `run` for both [`halves`](Self::halves) of the nest. They may run on two threads, each with scratch of its own.
    #[inline]
    pub(crate) fn run_halves<R>(
        self,
        place: usize,
        scratch: &mut Scratch,
        run: RunHalf<'a, 's, A, R>,
    ) -> [R; 2] {
        let join = self.pass.source.join().filter(|_| is_worth_halving(self.loops(), GRAIN));
        let mut second = ErasedNest::on_heap();
        let [first, second] = self.halves(place, &mut second);
        match join {
            // SAFETY: The halves have the source that the `Join` is from, parts of its arrays, an element that changes others, a
            // [`Store`], and copies of plain numbers, which both read.
            Some(join) => unsafe {
                join.run(|| run(first, &mut Scratch::new()), || run(second, &mut Scratch::new()))
            },
            None => [run(first, scratch), run(second, scratch)],
        }
    }

    /// The loops that combine elements.
    #[inline]
    pub(crate) fn fold(&self) -> &'a dyn Fold<A> {
        self.pass.source.fold()
    }

    /// Whether the elements to combine are stored: those of an array, unchanged.
    #[inline]
    pub(crate) fn is_stored(&self) -> bool {
        self.pass.source.is_stored() && self.pass.source.prepare().is_none()
    }

    /// The nest with its loops ordered by the strides of the inputs. See [`arrange`](ErasedNest::arrange).
    pub(crate) fn arranged(self) -> Self {
        self.erased.arrange(1);
        self
    }

    /// The nest with long rows next to short lanes. See [`lengthen_rows`](ErasedNest::lengthen_rows).
    pub(crate) fn with_long_rows(self) -> Self {
        if !self.is_stored() {
            self.erased.lengthen_rows();
        }
        self
    }

    /// The nest with short lanes outside of long rows. See [`turn_short_lanes`](ErasedNest::turn_short_lanes).
    pub(crate) fn turned(self) -> Self {
        // the elements of an array are read where they are
        self.erased.turn_short_lanes(!self.pass.source.is_stored());
        self
    }

    /// The inputs to copy, and the bytes of their copies. The elements of an array are read where they are.
    pub(crate) fn to_copy(&self) -> (InputSet, usize) {
        if self.pass.source.is_stored() { (InputSet::NONE, 0) } else { self.erased.read_again() }
    }

    /// The stored elements, if they are contiguous in the order of the loops.
    #[inline]
    pub(crate) fn elements(&self) -> Option<&'n [A]> {
        let loops = &self.erased.loops[..];
        let is_adjacent = self.is_stored() && is_dense(loops, 1, size_of::<A>());
        // SAFETY: By the invariant, input 1 is the source's array, and all of these are its elements.
        is_adjacent.then(|| unsafe { slice::from_raw_parts(self.erased.operands.at[1].cast(), steps(loops)) })
    }

    /// The nest with its [sum loop](ErasedNest::sum_loop).
    #[inline]
    pub(crate) fn planned(self) -> Planned<'n, 'a, 's, A> {
        let fits_panels = const { fits_panels::<A>() } && self.pass.source.prepare().is_none();
        let sum_loop =
            if fits_panels { self.erased.sum_loop(size_of::<A>(), self.is_stored()) } else { None };
        Planned { nest: self, sum_loop }
    }

    /// Whether the elements are plain numbers of an array.
    pub(crate) fn are_plain(&self) -> bool {
        self.pass.source.is_stored() && self.erased.is_plain(1)
    }

    /// Copies the elements, which are [plain numbers](Self::are_plain), to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs, or the elements are others.
    pub(crate) fn copy_to<'t>(self, slots: Slots<'_, 't, A>) -> Written<'t> {
        let (len, erased) = (slots.len(), &*self.erased);
        ensure(self.are_plain(), "a copy of elements that are no plain numbers");
        ensure(len == steps(&erased.loops), "not one slot for each element");
        // SAFETY: By the invariant, the input is borrowed. Slots are as aligned as their elements, which are the input's.
        unsafe {
            gather(&erased.loops, &erased.operands.at, 1, erased.operands.info, slots.into_bytes());
            Written::new(len)
        }
    }

    /// A map of the elements to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs.
    pub(crate) fn map_to<'m, 't>(self, mut slots: Slots<'m, 't, A>) -> Nest<'m, RowPass<'a, 't>>
    where
        'n: 'm,
    {
        self.erased.set_output(slots.start().cast(), slots.len(), size_of::<A>());
        Nest { erased: self.erased, pass: RowPass::new(self.pass.source.element_loops()) }
    }

    /// The function that changes elements before they are combined, if there is one.
    #[inline]
    pub(crate) fn prepare(&self) -> Option<impl Fn(&mut [A]) + use<'a, A>> {
        self.pass.source.prepare()
    }

    /// Stores results in the outputs, in the order of the kept loops.
    ///
    /// # Panics
    /// If there are more or fewer results than outputs, or no output.
    #[inline]
    pub(crate) fn store_results(self, results: &[A]) -> Written<'s> {
        let rows = match self.pass.into {
            Into::Slots => self.fold(),
            Into::Elements(store) => store,
        };
        self.erased.set_input(results.as_ptr().cast(), results.len(), const { &<(A,)>::INFO });
        Nest { erased: self.erased, pass: RowPass::new(rows) }.visit_rows()
    }
}

/// A nest with its sum loop, along which elements are combined in registers, if there is one.
pub(crate) struct Planned<'n, 'a, 's, A> {
    nest: Nest<'n, Reduction<'a, 's, A>>,
    sum_loop: Option<SumLoop>,
}

impl<'n, 'a, 's, A> Deref for Planned<'n, 'a, 's, A> {
    type Target = Nest<'n, Reduction<'a, 's, A>>;

    fn deref(&self) -> &Self::Target {
        &self.nest
    }
}

impl<'n, 'a, 's, A: Clone> Planned<'n, 'a, 's, A> {
    pub(crate) fn sum_loop(&self) -> Option<SumLoop> {
        self.sum_loop
    }

    pub(crate) fn into_nest(self) -> Nest<'n, Reduction<'a, 's, A>> {
        self.nest
    }

    /// The elements, if they are stored, contiguous in the order of the loops, and not combined in registers first.
    pub(crate) fn in_place(&self) -> Option<&'n [A]> {
        if self.sum_loop.is_none() { self.elements() } else { None }
    }

    /// Writes the results along the sum loop to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs, or if there is no such loop.
    #[inline]
    pub(crate) fn combine_to<'t>(self, mut slots: Slots<'_, 't, A>) -> Written<'t> {
        let sum_loop = self.sum_loop.expect("a sum loop");
        let (element_loops, len) = (self.pass.source.element_loops(), slots.len());
        let out = (slots.start().cast(), len, size_of::<A>());
        // SAFETY: By the invariant, `element_loops` has the types of the inputs. There is a slot for each result, and each is written.
        unsafe {
            self.nest.erased.for_each_sums(sum_loop, out, &mut |at, panels| element_loops.panels(at, panels));
            Written::new(len)
        }
    }
}

/// An item of a lane whose elements have drop glue or are large.
pub(crate) enum LaneItem<'l, A> {
    Element(A),
    /// The output of the elements before it.
    Output(&'l mut A),
}

/// Calls `then` with the elements of each lane, and after them with the lane's output.
///
/// # Panics
/// If an array does not fit the shape.
pub(crate) fn for_each_lane<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    out: Output<'_, A>,
    dropped: Dropped<'_>,
    then: &mut dyn FnMut(LaneItem<'_, A>),
) {
    let (mut erased, element_loops) = (ErasedNest::new(), source.element_loops());
    if erased.build(shape, Some(out.raw()), dropped, source.inputs()) {
        return;
    }
    erased.arrange(1);
    let mut tile = Steps::new();
    for l in &*erased.loops {
        tile.push(if l.kept { 1 } else { l.len });
    }
    erased.for_each_tile(&tile, &mut |part, lanes| {
        for_each_index(lanes, &{ part.operands.at }, &mut |first| {
            part.operands.at = *first;
            part.inputs(&mut ErasedNest::new()).for_each_block(&mut |block| {
                block.for_each(&block.at, source.inputs().info.count, |at| {
                    // SAFETY: The source's loops have the types of its inputs.
                    let mut element = unsafe { element_loops.one(at) };
                    if let Some(prepare) = source.prepare() {
                        prepare(slice::from_mut(&mut element));
                    }
                    then(LaneItem::Element(element));
                });
            });
            // SAFETY: By the invariant, this is an element of the output.
            then(LaneItem::Output(unsafe { &mut *first[0].cast::<A>() }));
        });
    });
}

/// What this crate has compiled for elements `A`.
pub(crate) struct Compiled<'c, A> {
    /// The loops of sums.
    pub(crate) sums: &'c (dyn Fold<A> + Sync),
    pub(crate) reduce: for<'s> fn(Job<'_, 's, A>) -> Written<'s>,
}

/// What is compiled for elements `B`, if `A` is `B`.
#[inline(always)]
pub(crate) fn compiled_for<'a, A, B: 'static>(
    compiled: &'static Compiled<'static, B>,
) -> Option<&'a Compiled<'a, A>> {
    // SAFETY: Both are one type, which has no lifetimes.
    is_type::<A, B>().then(|| unsafe { &*core::ptr::from_ref(compiled).cast() })
}
