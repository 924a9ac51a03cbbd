//! Reductions of a source, and where their results go.

use super::closures::{Added, AddedScaled, Cloned, Fold, SharedVisitor, can_leak};
use super::cut::for_each_index;
use super::elements::{Elements, Inputs, Output, Visit};
use super::erased::ErasedNest;
use super::loops::{InputSet, Loops, ONE_BY_ONE, indices, is_dense, is_worth_halving};
use super::operands::{DenseAxes, Dropped, RawOutput, standard_len};
use super::panels::BlockWay;
use super::passes::{Nest, ReadsNest, RowPass, ShapePass};
use super::source::Source;
use crate::kernel::memory::{Count, Scratch, Slots, StridedSlots};
use crate::kernel::simd::{is_plain, is_type};
use crate::kernel::threads::GRAIN;
use crate::kernel::{ensure, fail};
use alloc::vec::Vec;
use core::ops::Mul;
use core::slice;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use num_traits::Zero;

/// A reduction of a source, which has this shape, and where its results are stored. The output has the axes of the shape that are
/// not `dropped`, in order, each with the same size or with size 1. Without a set of dropped axes, it lacks the leading ones.
pub(crate) struct Job<'j, A> {
    pub(crate) source: &'j Source<'j, A>,
    pub(crate) shape: &'j [usize],
    pub(crate) dropped: Dropped<'j>,
    out: RawOutput<'j>,
    /// Stores results in the output.
    store: RowPass<'j>,
}

/// The slots and the inputs of a reduction, in the same order.
type InOrder<'j, 'n, A> = (Slots<'j, A>, Nest<'n, Reduction<'j, A>>);

impl<'j, A: Clone> Job<'j, A> {
    #[inline]
    fn new(source: &'j Source<'j, A>, shape: &'j [usize], dropped: Dropped<'j>, out: RawOutput<'j>) -> Self {
        Self { source, shape, dropped, out, store: RowPass { rows: source.fold(), count: out.count } }
    }

    /// A reduction to the slots of a new array.
    #[inline]
    pub(crate) fn to_slots(
        source: &'j Source<'j, A>,
        shape: &'j [usize],
        dropped: Dropped<'j>,
        slots: StridedSlots<'j, A>,
    ) -> Self {
        Self::new(source, shape, dropped, RawOutput::slots(slots))
    }

    /// The same reduction to slots along these axes.
    ///
    /// # Panics
    /// If the number of slots differs.
    pub(crate) fn filling(&self, slots: Slots<'j, A>, axes: &'j DenseAxes<'_>) -> Self {
        let (at, len, count) = slots.into_parts();
        ensure(axes.len == len, "not a slot for each element");
        let out = RawOutput { at: at.cast(), size: size_of::<A>(), axes: axes.strided(), count };
        Self::new(self.source, self.shape, self.dropped, out)
    }

    /// Whether the results are stored in slots of a new array, not in elements of an existing one.
    pub(crate) fn has_slots(&self) -> bool {
        !self.out.count.is_none()
    }

    /// The shape of the output.
    pub(crate) fn out_shape(&self) -> &'j [usize] {
        self.out.axes.sizes
    }

    /// The slots in the order of the axes, if they are contiguous in this order.
    #[inline]
    pub(crate) fn into_slots(self) -> Result<Slots<'j, A>, Self> {
        let len = if self.has_slots() { standard_len(self.out.axes) } else { None };
        // SAFETY: The slots are contiguous, and the reduction, which ends here, had them alone.
        len.map(|len| unsafe { Slots::new(self.out.at.cast(), len, self.out.count) }).ok_or(self)
    }

    /// The pass that writes a result to each slot: a map, if each has one element. It takes the slots: two passes would write and
    /// count half of them twice.
    ///
    /// # Errors
    /// Returns the reduction if the outputs are no slots.
    pub(crate) fn into_pass(self) -> Result<ShapePass<'j>, Self> {
        let Self { source, shape, dropped, out, .. } = self;
        let pass = ShapePass::new(out, source.inputs(), source.element_loops());
        if self.has_slots() { Ok(ShapePass { shape, dropped, ..pass }) } else { Err(self) }
    }

    /// Writes the results to slots by one block, if it can combine the elements.
    ///
    /// # Errors
    /// Returns the reduction if elements must be combined in a nest, or if the outputs are no slots.
    #[inline]
    pub(crate) fn visit_few(self, is_slice: bool) -> Result<(), Self> {
        // measured on 2026-11-28 on a Xeon: a nest takes as long as some 230 of a closure's elements one by one, and twice as long
        // where lanes are short. Narrow floats would be rounded too often
        let is_narrow = size_of::<A>() < 4 && !is_plain::<A>();
        let most = if is_slice || is_narrow { ONE_BY_ONE } else { 8 * ONE_BY_ONE };
        // returned only if the pass was not run
        let job = Self { ..self };
        self.into_pass()?.visit_few(most).map_err(|_| job)
    }

    /// A pass that stores results in the output.
    pub(crate) fn store_pass(self, results: &'j Inputs<'j, (A,)>) -> ShapePass<'j> {
        let Self { out, store: pass, .. } = self;
        ShapePass { shape: out.axes.sizes, out, dropped: None, inputs: results, pass }
    }

    /// The nest; `None` if there is no index.
    ///
    /// # Panics
    /// If an array does not fit the shape.
    #[inline]
    pub(crate) fn nest(self, erased: &mut ErasedNest) -> Option<Nest<'_, Reduction<'j, A>>> {
        let Self { source, shape, dropped, out, store, .. } = self;
        erased.build(shape, out, dropped, source.inputs())?;
        Some(Nest { erased, pass: Reduction { source, store } })
    }

    /// The slots, and the nest without access to them, in the order of the shape.
    ///
    /// # Errors
    /// As for [`into_slots`](Self::into_slots).
    ///
    /// # Panics
    /// If an array does not fit the shape, or if there is no index.
    pub(crate) fn in_order<'n>(self, erased: &'n mut ErasedNest) -> Result<InOrder<'j, 'n, A>, Self> {
        let Self { source, shape, dropped, out, store, .. } = self;
        let slots = self.into_slots()?;
        ensure(erased.build(shape, out, dropped, source.inputs()).is_some(), "no index");
        erased.drop_output();
        Ok((slots, Nest { erased, pass: Reduction { source, store } }))
    }

    /// A reduction whose results are stored in elements.
    #[inline]
    pub(crate) fn to_elements<S: Store<A>>(
        source: &'j Source<'j, A>,
        shape: &'j [usize],
        dropped: Dropped<'j>,
        out: Output<'j, A>,
        store: &'j SharedVisitor<S, A, (A,)>,
    ) -> Self {
        let store = RowPass { rows: store, count: Count::NONE };
        Self { store, ..Self::new(source, shape, dropped, out.raw) }
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
unsafe impl<A: Clone + Zero + Mul<Output = A>> Store<A> for AddedScaled<&A> {}

/// A pass that reduces a source.
pub(crate) struct Reduction<'a, A> {
    source: &'a Source<'a, A>,
    /// Stores results in the output; without one, it does not run.
    store: RowPass<'a>,
}

impl<A> Clone for Reduction<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Reduction<'_, A> {}

impl<A> ReadsNest for Reduction<'_, A> {}

/// The result of a half of a reduction: elements or numbers, which may be sent if the elements may. Private to the folder, so that
/// no other type has it.
pub(crate) trait HalfResult<A>: Default {}

impl<T> HalfResult<T> for Vec<T> {}
impl<T> HalfResult<T> for () {}

/// Runs a half of a reduction. Not a closure, which might have state.
pub(crate) type RunHalf<'a, A, R> = fn(Nest<'_, Reduction<'a, A>>, &mut Scratch) -> R;

impl<'n, 'a, A: Clone> Nest<'n, Reduction<'a, A>> {
    /// The results of `run` for both [`halves`](Self::halves) of the nest. They may run on two threads, each with scratch of its own.
    /// The second half of a reduced loop has no result if, before it begins, that of the first one `is_final`.
    #[inline]
    pub(crate) fn run_halves<R: HalfResult<A>>(
        self,
        place: usize,
        scratch: &mut Scratch,
        run: RunHalf<'a, A, R>,
        is_final: fn(&dyn Fold<A>, &R) -> bool,
    ) -> [R; 2] {
        let (source, is_kept, mut second) =
            (self.pass.source, self.loops()[place].kept, ErasedNest::on_heap());
        let join = source.join().filter(|_| is_worth_halving(self.loops(), GRAIN));
        let [first, second] = self.halves(place, &mut second);
        let is_known = AtomicBool::new(false);
        let first = |scratch: &mut Scratch| {
            let result = run(first, scratch);
            is_known.store(!is_kept && is_final(source.fold(), &result), Relaxed);
            result
        };
        let second =
            |scratch: &mut Scratch| if is_known.load(Relaxed) { R::default() } else { run(second, scratch) };
        match join {
            // SAFETY: The halves have the source that the `Join` is from and parts of its arrays, a [`Store`] or the loops of the source,
            // and copies of plain numbers, which both read. Each has outputs of its own. `run` and `is_final` are functions, which have
            // no state. Results are elements, which the `Join` may send, or numbers.
            Some(join) => unsafe { join.run(|| first(&mut Scratch::new()), || second(&mut Scratch::new())) },
            None => [first(scratch), second(scratch)],
        }
    }

    pub(crate) fn source(&self) -> &'a Source<'a, A> {
        self.pass.source
    }

    /// The nest with long rows next to short lanes. See [`lengthen_rows`](ErasedNest::lengthen_rows).
    pub(crate) fn with_long_rows(self) -> Self {
        if !self.pass.source.is_stored() {
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

    /// How the elements are combined.
    #[inline]
    pub(crate) fn way(&self) -> BlockWay {
        // folds of large stored elements take half the time of panels
        let has_panels = const { can_leak::<A>() } && (size_of::<A>() <= 16 || !self.pass.source.is_stored());
        self.erased.way(size_of::<A>(), self.pass.source.is_stored(), has_panels)
    }

    /// The elements, if they are stored and contiguous in the order of the loops.
    pub(crate) fn in_place(&self) -> Option<&[A]> {
        let ErasedNest { loops, operands } = &*self.erased;
        let is_in_place = self.pass.source.is_stored() && is_dense(loops, 1, size_of::<A>());
        // SAFETY: By the invariant, input 1 is the source's array, and all of these are its elements.
        is_in_place.then(|| unsafe { slice::from_raw_parts(operands.at[1].cast(), indices(loops)) })
    }

    /// Writes the results along the sum loop to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs, or if there is no such loop.
    #[inline]
    pub(crate) fn combine_to(self, slots: Slots<'_, A>) {
        let BlockWay::Panels(sum_loop) = self.way() else { fail("no sum loop") };
        let (element_loops, (at, len, count)) = (self.pass.source.element_loops(), slots.into_parts());
        let out = (at.cast(), len, size_of::<A>());
        // SAFETY: By the invariant, `element_loops` has the types of the inputs. There is a slot for each result, and each is written:
        // with this way, elements can leak.
        unsafe {
            self.erased.for_each_sums(sum_loop, out, &mut |at, panels| element_loops.panels(at, panels));
            count.add(len);
        }
    }

    /// A map of the elements to slots, in the order of the loops.
    ///
    /// # Panics
    /// If the number of slots differs.
    pub(crate) fn map_to(self, slots: Slots<'n, A>) -> Nest<'n, RowPass<'n>>
    where
        'a: 'n,
    {
        let (rows, (at, len, count)) = (self.pass.source.element_loops(), slots.into_parts());
        self.erased.set_output(at.cast(), len, size_of::<A>());
        Nest { erased: self.erased, pass: RowPass { rows, count } }
    }

    /// Stores results in the outputs, in the order of the kept loops.
    ///
    /// # Panics
    /// If there are more or fewer results than outputs, or no output.
    #[inline]
    pub(crate) fn store_results(self, results: &[A]) {
        self.erased.set_input(results.as_ptr().cast(), results.len(), const { &<(A,)>::INFO });
        Nest { erased: self.erased, pass: self.pass.store }.visit_rows();
    }
}

/// Combines the elements of each lane one after the other: elements that have drop glue or are large. Calls `store` with the lane's
/// output and its result.
///
/// # Panics
/// If an array does not fit the shape.
pub(crate) fn reduce_owned<A: Clone>(
    source: &Source<'_, A>,
    shape: &[usize],
    out: Output<'_, A>,
    dropped: Dropped<'_>,
    store: &mut dyn FnMut(&mut A, A),
) {
    let (mut erased, element_loops) = (ErasedNest::new(), source.element_loops());
    if erased.build(shape, out.raw, dropped, source.inputs()).is_none() {
        return;
    }
    erased.arrange(1);
    let [mut kept, mut lane] = [(); 2].map(|()| Loops::from_slice(&erased.loops));
    kept.retain(|l| l.kept);
    lane.retain(|l| !l.kept);
    for_each_index(&kept, &erased.operands.at, &mut |first| {
        let mut total = None;
        for_each_index(&lane, first, &mut |at| {
            // SAFETY: The source's loops have the types of its inputs.
            let element = unsafe { element_loops.one(at) };
            total = Some(match total.take() {
                None => element,
                Some(total) => source.fold().apply(total, element),
            });
        });
        if let Some(total) = total {
            // SAFETY: By the invariant, this is an element of the output.
            store(unsafe { &mut *first[0].cast::<A>() }, total);
        }
    });
}

/// The functions that this crate has compiled for elements `A`.
pub(crate) struct Compiled<'c, A> {
    /// The loops of sums.
    pub(crate) sums: &'c (dyn Fold<A> + Sync),
    pub(crate) reduce: fn(Job<'_, A>),
}

/// The functions for elements `B`, if `A` is `B` and plain numbers: other types may have lifetimes, which may differ.
#[inline(always)]
pub(crate) fn compiled_for<'a, A, B: 'static>(
    compiled: &'static Compiled<'static, B>,
) -> Option<&'a Compiled<'a, A>> {
    // SAFETY: Both are one type, which has no lifetimes, because it is a plain number.
    (is_type::<A, B>() && is_plain::<B>()).then(|| unsafe { &*core::ptr::from_ref(compiled).cast() })
}
