//! Nests, copies and buffers against models that go index by index, and misuse of safe functions.

use super::ensure;
use super::memory::{Buffer, List, Reserved, Slots, strides};
use super::nest::{
    Added, AxisSelection, BaseInputs, Cloned, Compiled, DenseAxes, Elements, ErasedNest, FoldLoops, Inputs,
    Job, Loop, MapElement, MapReduce, Nest, Output, Reduction, RowPass, SMALL_NEST, ShapePass, SharedVisitor,
    Source, Visit, Visitor, Write, compiled_for, copy_share, for_each_base, indices,
};
use super::operation::{Operation, Plus};
use super::reduce::fill;
use super::reduce::into;
#[cfg(feature = "rayon")]
use crate::{broadcast_apply2, broadcast_map3, prelude::*};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;
use core::hint::black_box;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use ndarray::{
    Array, ArrayD, ArrayRef, ArrayViewD, ArrayViewMut0, ArrayViewMut1, ArrayViewMutD, Axis, Ix1, Ix2, IxDyn,
    ShapeBuilder, Slice,
};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::{String, ToString};

/// A number of random cases: few under Miri, which takes a thousand times as long.
pub(crate) fn cases(count: usize) -> usize {
    if cfg!(miri) { count.div_ceil(40) } else { count }
}

/// The guide promises at most 512 KiB of scratch. Few elements are visited with copies of all inputs, of up to 16 bytes each.
#[test]
fn copies_for_few_elements_fit_into_the_promised_scratch() {
    let bytes = black_box(SMALL_NEST) * 6 * size_of::<u128>();
    assert!(bytes <= 512 << 10, "SMALL_NEST = {SMALL_NEST} needs {bytes} bytes of copies");
}

/// Splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).expect("few")).expect("below the end")
    }

    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A shape of up to `ndim` axes of up to `most` elements.
    fn shape(&mut self, ndim: usize, most: usize) -> Vec<usize> {
        (0..self.below(ndim + 1)).map(|_| 1 + self.below(most)).collect()
    }

    /// A number of steps for each loop.
    fn tile(&mut self, loops: &[Loop]) -> Vec<usize> {
        loops.iter().map(|l| self.below(l.len + 2)).collect()
    }
}

/// Calls `run` with arrays of that shape: strides 0, 1, 2, -1 and others, axes in any order. Elements are 0, 1, and so on.
pub(crate) fn with_layout<A: Clone>(
    random: &mut Random,
    shape: &[usize],
    element: impl Fn(usize) -> A,
    run: impl FnOnce(&mut Random, ArrayViewD<'_, A>),
) {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    (1..order.len()).for_each(|i| order.swap(i, random.below(i + 1)));
    let kinds: Vec<usize> = order.iter().map(|_| random.below(8)).collect();
    let sizes: Vec<usize> = order
        .iter()
        .zip(&kinds)
        .map(|(&axis, kind)| match kind {
            0 => 1,
            1 => 2 * shape[axis],
            2 => 3 * shape[axis] - 1,
            _ => shape[axis],
        })
        .collect();
    let len: usize = sizes.iter().product();
    let stored = Array::from_shape_vec(IxDyn(&sizes), (0..len).map(element).collect()).expect("as many");
    let mut view = stored.view();
    for (place, kind) in kinds.iter().enumerate() {
        let step = [1, 2, 3, -1, -1, 1, 1, 1][*kind];
        view.slice_axis_inplace(Axis(place), Slice::new(0, None, step));
    }
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
    let view = view.permuted_axes(places);
    run(random, view.broadcast(shape).expect("equal sizes, or 1"));
}

/// The message of a panic.
#[track_caller]
fn panic_of<R>(run: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(_) => panic!("no panic"),
        Err(payload) => message(payload),
    }
}

fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast_ref::<&str>().expect("a message").to_string(),
    }
}

/// A vector of `len` elements that `fill` writes.
fn filled<A: Clone>(len: usize, fill: impl FnOnce(Slots<'_, A>)) -> Vec<A> {
    if len == 0 {
        return Buffer::<1>::new().vec(len).filled(len, fill).to_vec();
    }
    let reserved = Reserved::new(Ix1(len)).unwrap_or_else(|_| panic!("enough memory"));
    let (none, loops) = (Array::from_vec(Vec::<A>::new()), FoldLoops::new(Cloned, First));
    let inputs = Inputs::from((&*none,));
    let source = Source::stored(&inputs, &loops, None);
    let array = reserved.filled_by(None, |out| {
        if let Ok(slots) = Job::to_slots(&source, &[], None, out).into_slots() {
            fill(slots);
        }
    });
    array.into_raw_vec_and_offset().0
}

/// Keeps the first of two elements.
#[derive(Clone, Copy)]
struct First;

impl<A> Operation<A> for First {
    fn apply(self, a: A, _: A) -> A {
        a
    }
}

/// The result of `then` for a nest over the inputs of a source alone; `None` if there is no index.
fn with_nest<A: Clone, R>(
    source: &Source<'_, A>,
    then: impl FnOnce(Nest<'_, Reduction<'_, A>>) -> R,
) -> Option<R> {
    let shape = source.shapes()[0];
    let mut total = if shape.contains(&0) { return None } else { Array::from_elem((), source.first()) };
    let (mut erased, store) = (ErasedNest::new(), SharedVisitor::shared(Cloned));
    let nest = Job::to_elements(source, shape, None, Output::of(&mut total), &store).nest(&mut erased)?;
    Some(then(nest.without_output(&mut ErasedNest::new())))
}

/// The elements of a view, copied in the order of its axes.
fn copied<A: Clone>(view: &ArrayRef<A, IxDyn>) -> Vec<A> {
    let inputs = Inputs::from((view,));
    let copy = with_nest(&Source::stored(&inputs, &FoldLoops::new(Cloned, First), None), |nest| {
        let len = indices(nest.loops());
        filled(len, |slots| fill(nest, slots))
    });
    copy.expect("an index")
}

#[test]
fn copies_go_index_by_index() {
    fn check<A: Clone + PartialEq + Debug>(
        random: &mut Random,
        shape: &[usize],
        element: impl Fn(usize) -> A,
    ) {
        with_layout(random, shape, element, |_, view| {
            let copy = copied(&view);
            assert!(copy.iter().eq(view.iter()), "{:?} {:?} {copy:?}", view.shape(), view.strides());
        });
    }
    let random = &mut Random(1);
    for case in 0..cases(600) {
        // squares and their remainders are reached by two axes
        let (most, side) = if cfg!(miri) { (4, 20) } else { (9, 40) };
        let shape = if case % 2 == 0 {
            random.shape(4, most)
        } else {
            vec![1 + random.below(side), 1 + random.below(side)]
        };
        match case % 8 {
            7 => check(random, &shape, |i| i.to_string()),
            0 => check(random, &shape, |i| u8::try_from(i % 251).expect("small")),
            1 => check(random, &shape, |i| u16::try_from(i % 65_521).expect("small")),
            2 => check(random, &shape, |i| u32::try_from(i).expect("few")),
            3 => check(random, &shape, |i| i),
            4 => check(random, &shape, |i| u128::MAX - u128::try_from(i).expect("few")),
            5 => check(random, &shape, |i| i % 3 == 0),
            _ => check(random, &shape, |i| f64::from(u32::try_from(i).expect("few"))),
        }
    }
    with_layout(random, &[3, 4], |i| [i, 1], |_, view| assert!(copied(&view).iter().eq(view.iter())));
}

/// Transposed squares: one, two, and last ones that overlap. Rows of the input are next to each other, or share sets of L1.
#[test]
fn squares_are_transposed() {
    fn check<A: Copy + PartialEq + Debug + From<u8>>() {
        let side = 16 / size_of::<A>();
        for width in [4 * side, 2048 / size_of::<A>()] {
            for (rows, len) in
                [(side, side), (side + 1, 2 * side), (2 * side - 1, 3 * side - 1), (3 * side, side - 1)]
            {
                let element = |(i, j)| A::from(u8::try_from((i * 37 + j) % 251).expect("small"));
                let mut x = Array::from_elem([len, width.max(rows)], A::from(0));
                let mut view = x.slice_mut(ndarray::s![.., ..rows]);
                view.indexed_iter_mut().for_each(|(index, to)| *to = element(index));
                for view in [view.view(), view.slice(ndarray::s![..;-1, ..])] {
                    let view = view.t().into_dyn();
                    assert!(copied(&view).iter().eq(view.iter()), "{rows} by {len}, {width} apart");
                }
            }
        }
    }
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
}

/// Counts the visits of an output, and adds the elements of the input.
#[derive(Clone, Copy)]
struct CountVisits;

impl Visit<(usize, usize), (usize,)> for CountVisits {
    fn visit(&mut self, out: &mut (usize, usize), (&element,): (&usize,)) {
        *out = (out.0 + 1, out.1 + element);
    }
}

/// Runs `pass` over a nest of random layout; asserts that each index was visited once, with its element.
fn assert_visited_once(seed: u64, pass: impl Fn(&mut Random, Nest<'_, RowPass<'_>>) + Copy) {
    let random = &mut Random(seed);
    for _ in 0..cases(200) {
        let shape = random.shape(5, 6);
        with_layout(
            random,
            &shape,
            |i| i,
            |random, view| {
                let mut out = ArrayD::from_elem(shape.as_slice(), (0, 0));
                if random.once_in(2) {
                    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
                    out = ArrayD::from_elem(reversed, (0, 0)).reversed_axes();
                }
                let (mut erased, inputs, count) =
                    (ErasedNest::new(), Inputs::from((&*view,)), Visitor::new(CountVisits));
                let nest = ShapePass::visit(Output::of(&mut out), &inputs, &count).nest(&mut erased);
                pass(random, nest.expect("an index"));
                for (&(count, sum), &element) in out.iter().zip(&view) {
                    assert_eq!((count, sum), (1, element), "{:?} {:?}", view.shape(), view.strides());
                }
            },
        );
    }
}

#[test]
fn blocks_visit_each_index_once() {
    assert_visited_once(2, |random, mut nest| {
        if random.once_in(2) {
            nest.arrange(random.below(3));
        }
        nest.visit_rows();
    });
}

#[test]
fn halves_visit_each_index_once() {
    fn halved(random: &mut Random, nest: Nest<'_, RowPass<'_>>, depth: usize) {
        let count = nest.loops().len();
        if depth == 0 || count == 0 {
            nest.visit_rows();
            return;
        }
        let (place, mut scratch) = (random.below(count), ErasedNest::new());
        for half in nest.halves(place, &mut scratch) {
            halved(random, half, depth - 1);
        }
    }
    assert_visited_once(4, |random, nest| {
        let depth = random.below(6);
        halved(random, nest, depth);
    });
}

#[test]
fn copied_tiles_visit_each_index_once() {
    assert_visited_once(5, |random, mut nest| {
        nest.arrange(0);
        let tile: Vec<usize> = {
            let (count, mut tile) = (nest.loops().len(), random.tile(nest.loops()));
            let one_row = random.once_in(2);
            tile.iter_mut()
                .take(count.saturating_sub(if one_row { 1 } else { 2 }))
                .for_each(|steps| *steps = 1);
            tile
        };
        nest.visit_tiles(&tile, copy_share(1));
    });
}

impl<A: Copy> MapElement<A, (A, A)> for First {
    fn map(&mut self, (&a, _): (&A, &A)) -> A {
        a
    }
}

/// A loop is outside of those that it must be outside of, also where it is undecided about the loop next to it; where no order
/// does so, kept loops have that of their axes.
#[test]
fn loops_have_an_order_that_suits_all_inputs() {
    let (points, centres) = (Array::from_elem([20, 1, 4].f(), 1_u32), Array::from_elem([1, 3, 4], 1_u32));
    let (inputs, first, loops) =
        (Inputs::from((&*points, &*centres)), MapReduce::new(First, Plus), FoldLoops::new(Cloned, Plus));
    let source = Source::fused(&inputs, &first, &loops);
    let store = SharedVisitor::shared(Added);
    let lens = |out: &mut ArrayD<u32>| {
        let mut erased = ErasedNest::new();
        let job = Job::to_elements(&source, &[20, 3, 4], None, Output::of(out), &store);
        let mut nest = job.nest(&mut erased).expect("an index");
        nest.arrange(1);
        nest.loops().iter().map(|l| l.len).collect::<Vec<_>>()
    };
    assert_eq!(lens(&mut ArrayD::zeros(vec![])), [3, 4, 20]);
    assert_eq!(lens(&mut ArrayD::zeros(vec![20, 3, 1])), [20, 3, 4]);
    assert_eq!(lens(&mut ArrayD::zeros(vec![20, 3, 1].f())), [20, 3, 4]);
}

/// Loops that repeat an index more often than there are numbers.
#[test]
fn lengths_of_merged_loops_do_not_wrap() {
    let (x, mut out) = (Array::from_elem([16, 8], 1_u32), Array::from_elem(8, 0_u32));
    let (inputs, loops, added) =
        (Inputs::from((&*x,)), FoldLoops::new(Cloned, Plus), SharedVisitor::shared(Added));
    let (source, half, mut erased) =
        (Source::stored(&inputs, &loops, None), 1 << (usize::BITS / 2), ErasedNest::new());
    let shape = [half, half, 16, 8];
    let job = Job::to_elements(&source, &shape, None, Output::of(&mut out), &added);
    let mut nest = job.nest(&mut erased).expect("an index");
    nest.arrange(1);
    assert_eq!(nest.loops().iter().map(|l| l.len).collect::<Vec<_>>(), [usize::MAX, 16, 8]);
}

/// A nest has no loops of the nest before it, even if that one was not completed.
#[test]
fn an_erased_nest_is_rebuilt_for_each_nest() {
    let (mut erased, x, y) = (ErasedNest::new(), Array::from_elem([4, 5], 1_u32), Array::from_elem(3, 1_u32));
    for shape in [[4, 5], [4, 6]] {
        let mut out = Array::from_elem(shape, 0_u32);
        let build = || {
            ShapePass::visit(Output::of(&mut out), &Inputs::from((&*x,)), &Visitor::new(Sum))
                .nest(&mut erased)
                .is_some()
        };
        let _ = catch_unwind(AssertUnwindSafe(build));
        let (mut out, inputs, sum) = (Array::from_elem(3, 0_u32), Inputs::from((&*y,)), Visitor::new(Sum));
        let nest = ShapePass::visit(Output::of(&mut out), &inputs, &sum).nest(&mut erased).expect("an index");
        assert_eq!(indices(nest.loops()), 3);
        nest.visit_rows();
        assert_eq!(out.to_vec(), [1; 3]);
    }
}

/// Parts of inputs alone give no access to the output that another part has.
#[test]
fn inputs_alone_give_no_output() {
    let (mut erased, mut scratch, x) =
        (ErasedNest::new(), ErasedNest::new(), Array::from_elem([2, 3], 1_u32));
    let (mut out, inputs, sum) = (Array::from_elem([2, 3], 0_u32), Inputs::from((&*x,)), Visitor::new(Sum));
    let nest = ShapePass::visit(Output::of(&mut out), &inputs, &sum).nest(&mut erased).expect("an index");
    let once = "an element of the output is visited twice";
    assert_eq!(panic_of(|| nest.without_output(&mut scratch).visit_rows()), once);
    assert_eq!(panic_of(|| nest.without_output(&mut scratch).visit_tiles(&[1; 2], copy_share(1))), once);
    assert_eq!(out.sum(), 0);
    let loops = FoldLoops::new(Cloned, First);
    let source = Source::stored(&inputs, &loops, None);
    let store = || with_nest(&source, |nest| nest.store_results(&[1; 6]));
    assert_eq!(panic_of(store), "no output");
    // halves of a reduced loop would share outputs
    let (mut sums, added) = (Array::from_elem([1, 3], 0_u32), SharedVisitor::shared(Added));
    let sums = Job::to_elements(&source, &[2, 3], None, Output::of(&mut sums), &added);
    let nest = sums.nest(&mut erased).expect("an index");
    assert_eq!(panic_of(|| nest.halves(0, &mut scratch).len()), "parts share an output");
    for len in [2, 4] {
        let job = Job::to_elements(&source, &[2, 3], None, Output::of(&mut out), &added);
        let nest = job.nest(&mut erased).expect("an index");
        let few = || nest.store_results(&vec![1; len]);
        assert_eq!(panic_of(few), "not one result for each output");
    }
}

/// References that differ in their lifetime alone are one type. What is compiled for the longer one could keep the shorter one.
#[test]
fn what_is_compiled_for_references_is_not_used() {
    static COMPILED: Compiled<'static, &u32> =
        Compiled { sums: &FoldLoops::new(Cloned, First), reduce: |_| () };
    fn is_used<'a>(_: &'a [u32]) -> bool {
        compiled_for::<&'a u32, &'static u32>(&COMPILED).is_some()
    }
    assert!(!is_used(&[]));
}

/// Memory that a test leaks.
static KEPT: AtomicPtr<Buffer<1>> = AtomicPtr::new(core::ptr::null_mut());

#[test]
fn what_is_not_filled_is_not_read() {
    let unwritten = "a slot was not written";
    assert_eq!(panic_of(|| filled::<u8>(3, |_| ()).len()), unwritten);
    assert_eq!(panic_of(|| Buffer::<1>::new().vec::<u64>(3).filled(3, |_| ()).len()), unwritten);
    let reserved = || Reserved::<u8, Ix1>::new(Ix1(6)).unwrap_or_else(|_| panic!("enough memory"));
    assert_eq!(panic_of(|| reserved().filled_by(None, |_| ())), unwritten);
    // half of the slots
    let (x, cloned) = (Array::from_elem(6, 1_u8), Visitor::new(Write(Cloned)));
    let half = panic_of(|| {
        reserved().filled_by(None, |out| {
            let (mut erased, mut scratch, inputs) =
                (ErasedNest::new(), ErasedNest::new(), Inputs::from((&*x,)));
            let nest = ShapePass::fill(out, &inputs, &cloned).nest(&mut erased).expect("an index");
            let [first, _] = nest.halves(0, &mut scratch);
            super::map::visit_halves(first);
        })
    });
    assert_eq!(half, unwritten);
    assert_eq!(filled::<u8>(0, |_| ()).len(), 0);
    // fewer than are appended
    assert_eq!(panic_of(|| filled::<u8>(6, |slots| slots.append(|vec| vec.extend(&[1; 5])))), unwritten);
    // other memory
    assert_eq!(
        panic_of(|| filled::<u8>(6, |slots| slots.append(|vec| {
            let other = Box::leak(Box::new(Buffer::new()));
            KEPT.store(other, Relaxed);
            *vec = other.vec(6);
            vec.extend(&[1; 6]);
        }))),
        "other memory was filled"
    );
}

/// Maps a number of elements and then panics.
struct Until(usize);

impl MapElement<[u8; 3], (u8,)> for Until {
    fn map(&mut self, (&element,): (&u8,)) -> [u8; 3] {
        ensure(self.0 > 0, "no more");
        self.0 -= 1;
        [element; 3]
    }
}

#[test]
fn panics_of_closures_leak_what_was_written() {
    let x = Array::from_elem([5, 4], 7_u8);
    for calls in 0..=20 {
        let result = catch_unwind(|| {
            let reserved = Reserved::<[u8; 3], Ix2>::new(Ix2(5, 4)).unwrap_or_else(|_| panic!("memory"));
            let until = Until(calls);
            super::map::to_new(reserved, &Inputs::from((&*x,)), &Visitor::new(Write(until)))
        });
        assert_eq!(result.is_ok(), calls == 20);
        assert!(result.is_err() || result.is_ok_and(|array| array.iter().all(|element| *element == [7; 3])));
    }
}

/// Has a reduction to an array of 2x3 fill `len` slots along these axes instead.
fn in_order(source: &Source<'_, u8>, len: usize, axes: &DenseAxes<'_>) -> usize {
    let (mut out, store) = (Array::from_elem([2, 3], 0_u8), SharedVisitor::shared(Cloned));
    let job = Job::to_elements(source, &[2, 3], None, Output::of(&mut out), &store);
    filled::<u8>(len, |slots| {
        if let Ok(slots) = job.filling(slots, axes).into_slots() {
            slots.append(|results| results.extend(&vec![0; len]));
        }
    })
    .len()
}

#[test]
fn numbers_that_lie_panic() {
    let x = Array::from_elem([2, 3], 1_u8);
    let inputs = &Inputs::from((&*x,));
    let loops = FoldLoops::new(Cloned, First);
    let (firsts, numbers) = (MapReduce::new(Cloned, First), "not a slot for each element");
    let axes = DenseAxes::new(&[2, 3], None);
    for source in [Source::stored(inputs, &loops, None), Source::fused(inputs, &firsts, &loops)] {
        for len in [0, 1, 2, 4, 5, 7] {
            let fill = || with_nest(&source, |nest| filled(len, |slots| fill(nest, slots)).len());
            assert_eq!(panic_of(fill), numbers, "{len}");
            assert_eq!(panic_of(|| in_order(&source, len, &axes)), numbers, "{len}");
        }
    }
    for len in [0, 5, 7] {
        let other = || Inputs::contiguous(&vec![1_u8; len], &axes).shapes().len();
        assert_eq!(panic_of(other), "not an element for each index");
    }
    let none = Array::from_elem([2, 0], 1_u8);
    assert_eq!(
        panic_of(|| Source::stored(&Inputs::from((&*none,)), &loops, None).first()),
        "no first element"
    );
    assert_eq!(
        panic_of(|| Buffer::<1>::new().vec::<Page>(1).len()),
        "elements are more aligned than the buffer"
    );
    let too_many = || Buffer::<1>::new().vec::<u64>(3).extend(&[1; 4]);
    assert!(panic_of(too_many).contains("out of range"));
    let reserved = || Reserved::<u8, Ix1>::new(Ix1(3)).unwrap_or_else(|_| panic!("enough memory"));
    for len in [0, 2, 4] {
        let elements = vec![1; len];
        assert_eq!(panic_of(|| reserved().cloned(&elements)), "more or fewer elements than the shape has");
    }
    assert_eq!(reserved().cloned(&[1, 2, 3]).to_vec(), [1, 2, 3]);
}

/// An element with a greater alignment than any buffer.
#[derive(Clone)]
#[repr(align(128))]
struct Page;

#[test]
fn sizes_that_overflow_are_not_reserved() {
    let half = 1 << (usize::BITS / 2);
    for shape in [vec![usize::MAX, 2], vec![half, half], vec![half, half, 0], vec![0, usize::MAX]] {
        assert!(Reserved::<u8, IxDyn>::new(IxDyn(&shape)).is_err(), "{shape:?}");
        assert!(Reserved::<(), IxDyn>::new(IxDyn(&shape)).is_err(), "{shape:?}");
    }
    assert_eq!(Reserved::<u8, IxDyn>::new(IxDyn(&[0, 9])).map_or(1, |reserved| reserved.len()), 0);
    assert_eq!(panic_of(|| Reserved::<u8, Ix2>::scratch(Ix2(half, half)).len()), "few elements");
    assert_eq!(panic_of(|| Reserved::<(), Ix2>::scratch(Ix2(half, half)).len()), "few elements");
    // no elements along axes whose number would wrap to 0
    assert_eq!(strides(&[half, half, 2], None, &mut [0; 3]), usize::MAX);
    let shape = [half, half];
    let axes = DenseAxes::new(&shape, None);
    assert_eq!(
        panic_of(|| Inputs::<(u8,)>::contiguous(&[], &axes).shapes().len()),
        "not an element for each index"
    );
}

/// A set of axes whose answers change at random.
struct Impure(core::cell::Cell<u64>);

impl AxisSelection for Impure {
    fn contains(&self, _: usize) -> bool {
        let mut random = Random(self.0.get());
        let answer = random.once_in(2);
        self.0.set(random.0);
        answer
    }
}

/// A shape that does not fit, and a set of axes that changes its answers, panics or makes a nest within the arrays.
#[test]
fn shapes_that_do_not_fit_panic() {
    let random = &mut Random(6);
    let (mut fits, mut panics) = (0, 0);
    for case in 0..cases(3000) {
        let (shape, own, to) = (random.shape(3, 3), random.shape(3, 3), random.shape(3, 3));
        let x = ArrayD::from_elem(own.as_slice(), 1_u32);
        let mut out = ArrayD::from_elem(to.as_slice(), 0_u32);
        let impure = Impure(core::cell::Cell::new(u64::try_from(case).expect("few")));
        let visit = catch_unwind(AssertUnwindSafe(|| {
            let inputs = Inputs::from((&*x,));
            let dropped: Option<&dyn AxisSelection> = if case % 2 == 0 { Some(&impure) } else { None };
            let (ones, loops) = (MapReduce::new(Cloned, Plus), FoldLoops::new(Cloned, Plus));
            let source = Source::fused(&inputs, &ones, &loops);
            into(&source, &shape, &mut out, dropped, &0, Added);
        }));
        let count = usize::try_from(out.sum()).expect("few");
        let fits_shape = |sizes: &[usize]| {
            let mut pairs = sizes.iter().rev().zip(shape.iter().rev());
            sizes.len() <= shape.len() && pairs.all(|(&size, &len)| size == 1 || size == len)
        };
        assert!(
            case % 2 == 0 || visit.is_ok() == (fits_shape(&own) && fits_shape(&to)),
            "{shape:?} {own:?} {to:?}"
        );
        match visit {
            Ok(()) => {
                fits += 1;
                assert_eq!(count, shape.iter().product(), "{case} {shape:?} {own:?} {to:?} {out}");
            }
            // by the check of shapes, before anything is written; a set may change its answers later
            Err(payload) => {
                let message = message(payload);
                panics += 1;
                assert_eq!(count, 0);
                let is_late = case % 2 == 0 && message == "a slot was not written";
                assert!(is_late || message.contains("shape"), "{message}");
            }
        }
    }
    assert!(fits > cases(100) && panics > cases(100), "{fits} {panics}");
}

/// Axes that are named twice would lead past the end of an array.
#[test]
fn an_order_names_an_axis_once() {
    let x = Array::from_elem([4, 4], 1_u32);
    let (inputs, loops) = (Inputs::from((&*x,)), FoldLoops::new(Cloned, First));
    let source = Source::stored(&inputs, &loops, None);
    let whole = [(0, 4); 2];
    let len =
        |shape: &[usize], order: &[usize]| source.permuted(shape, order, &whole, |_, shape| shape.len());
    assert_eq!(len(&[4, 4], &[1, 0]), 2);
    assert_eq!(panic_of(|| len(&[4, 4], &[0, 0])), "an axis is named twice");
    // an axis without elements that is left out would lead to elements that are not there
    assert_eq!(panic_of(|| len(&[4, 4], &[1])), "an axis is left out");
    assert_eq!(panic_of(|| len(&[4], &[0])), "an axis is left out");
    let part =
        |part: (usize, usize)| source.permuted(&[4, 4], &[1, 0], &[part; 2], |_, shape| shape.to_vec());
    assert_eq!(part((1, 3)), [3, 3]);
    for past in [(2, 3), (5, 0), (1, usize::MAX)] {
        assert_eq!(panic_of(|| part(past).len()), "a part past the end of an axis");
    }
    // sizes that are left from another array would lead past the end as well
    let mut axes = (List::new(), List::new());
    for _ in 0..2 {
        assert_eq!(inputs.permuted(&[4, 4], &[1, 0], &whole, &mut axes).shapes(), [[4, 4]]);
    }
}

/// More bytes than there are addresses.
#[test]
fn sums_of_too_many_lanes_panic() {
    let x = Array::from_elem([1; 3], 1_u128);
    let many = x.broadcast([1 << (usize::BITS - 11), 16, 32]).expect("repeated elements");
    let (inputs, loops) = (Inputs::from((&*many,)), FoldLoops::new(Cloned, First));
    let sums = || {
        with_nest(&Source::stored(&inputs, &loops, None), |nest| {
            filled::<u128>(0, |slots| nest.combine_to(slots)).len()
        })
    };
    assert_eq!(panic_of(sums), "no room for the sums");
}

struct Sum;

impl Visit<u32, (u32,)> for Sum {
    fn visit(&mut self, out: &mut u32, (element,): (&u32,)) {
        *out += element;
    }
}

#[test]
fn bases_that_do_not_fit_panic() {
    fn run<'a, E: Elements, F: super::nest::BaseForms<'a, E>>(
        inputs: &BaseInputs<'a, E, F>,
        to: &[usize],
        base: usize,
    ) {
        let mut out = ArrayD::from_elem(to, 0_u8);
        let fill = |_: F::Views, mut out: ArrayViewMutD<'_, u8>| out.fill(1);
        for_each_base(inputs, &mut out, base, fill, |nest, fill| nest.for_each(fill));
    }
    let x = Array::from_elem([2, 3], 1_u8);
    let one = |base| BaseInputs::<(u8,), _>::one::<Ix2>((&*x, base));
    run::<(u8,), (super::nest::BaseForm<IxDyn>,)>(&one(1), &[5, 2, 3], 1);
    // batch axes that differ, that are missing, and bases of more axes than there are
    for (base, to, of_out) in [(1, &[3, 3][..], 1), (1, &[][..], 0), (2, &[2][..], 2), (3, &[2, 3][..], 1)] {
        panic_of(|| run::<(u8,), (super::nest::BaseForm<IxDyn>,)>(&one(base), to, of_out));
    }
    let (mut out, input) = (Array::from_elem([2, 3], 0_u8), one(1));
    let nothing = |_: (ArrayViewD<'_, u8>,), _: ArrayViewMut1<'_, u8>| ();
    let inputs_alone = || {
        for_each_base(&input, &mut out, 1, nothing, |nest, visit| {
            nest.without_output(&mut ErasedNest::new()).for_each(visit);
        });
    };
    assert_eq!(panic_of(inputs_alone), "two bases of the output share elements");
    // forms with another number of axes than the base
    panic_of(|| BaseInputs::<(u8,), (super::nest::BaseForm<Ix2>,)>::one::<Ix2>((&*x, 1)));
    let mut out = ArrayD::from_elem(vec![2, 3], 0_u8);
    let nothing = |_: (ArrayViewD<'_, u8>,), _: ArrayViewMut0<'_, u8>| ();
    panic_of(|| for_each_base(&input, &mut out, 1, nothing, |nest, visit| nest.for_each(visit)));
}

#[test]
fn copies_that_do_not_fit_panic() {
    fn copied<A: Clone + Debug>(element: A, shape: [usize; 2], copies_for: usize) {
        // gaps along both axes, so that all is copied
        let x = Array::from_elem([shape[0], 2 * shape[1]], element);
        let view = x.slice(ndarray::s![.., ..;2]);
        let mut out = Array::from_elem(shape, 0_u32);
        let (mut erased, inputs, seen) =
            (ErasedNest::new(), Inputs::from((&*view,)), Visitor::new(CountElements));
        let nest =
            ShapePass::visit(Output::of(&mut out), &inputs, &seen).nest(&mut erased).expect("an index");
        let whole: Vec<usize> = nest.loops().iter().map(|l| l.len).collect();
        let tiles = copy_share(copies_for);
        nest.visit_tiles(&whole, tiles);
        assert!(out.iter().all(|&count| count == 1));
    }
    copied(1_u64, [64, 32], 1);
    assert_eq!(panic_of(|| copied(1_u64, [64, 33], 1)), "no room for the copy");
    assert_eq!(panic_of(|| copied(1_u64, [64, 32], 3)), "no room for the copy");
    // others than plain numbers are read where they are
    copied(String::new(), [2, 2], 1);
    let x = Array::from_elem([4, 3, 2], 1_u32);
    let mut out = Array::from_elem([4, 5, 6], 0_u32);
    let mut out = out.slice_mut(ndarray::s![.., ..3, ..2]);
    let (mut erased, inputs, sum) = (ErasedNest::new(), Inputs::from((&*x,)), Visitor::new(Sum));
    let nest = ShapePass::visit(Output::of(&mut out), &inputs, &sum).nest(&mut erased).expect("an index");
    // an output with gaps
    nest.visit_tiles(&[4, 3, 2], copy_share(1));
    assert_eq!(out.sum(), 24);
    // the second copy would begin within an element
    let (mut out, gaps) = (Array::from_elem([4, 3], 0_u32), Array::from_elem([4, 6], 1_u64));
    let (gaps, count) = (gaps.slice(ndarray::s![.., ..;2]), Visitor::new(CountElements));
    for share in [copy_share(1) - 1, copy_share(1) + 1, copy_share(2) + 8] {
        let (mut erased, inputs) = (ErasedNest::new(), Inputs::from((&*gaps, &*gaps)));
        let nest =
            ShapePass::visit(Output::of(&mut out), &inputs, &count).nest(&mut erased).expect("an index");
        assert_eq!(panic_of(|| nest.visit_tiles(&[4, 3], share)), "copies that are not aligned");
    }
}

/// Reads an element of any type.
#[derive(Clone, Copy)]
struct CountElements;

impl<A> Visit<u32, (A,)> for CountElements {
    fn visit(&mut self, out: &mut u32, _: (&A,)) {
        *out += 1;
    }
}

impl<A> Visit<u32, (A, A)> for CountElements {
    fn visit(&mut self, out: &mut u32, _: (&A, &A)) {
        *out += 1;
    }
}

#[test]
fn slice_vecs_hold_what_a_vector_holds() {
    fn check<A: Clone + PartialEq + Debug>(random: &mut Random, element: impl Fn(u64) -> A) {
        let (mut memory, mut model) = (Buffer::<1>::new(), Vec::new());
        let mut vec = memory.vec::<A>(500);
        for _ in 0..60 {
            match random.below(5) {
                1 if !vec.is_empty() => {
                    let place = random.below(model.len());
                    vec[place] = element(random.next());
                    model[place] = vec[place].clone();
                }
                _ => {
                    let more: Vec<A> = (0..random.below(9)).map(|_| element(random.next())).collect();
                    vec.extend(&more);
                    model.extend_from_slice(&more);
                }
            }
            assert_eq!(*vec, *model);
        }
    }
    let random = &mut Random(7);
    for _ in 0..cases(30) {
        check::<u8>(random, |i| i.to_le_bytes()[0]);
        check::<u64>(random, |i| i);
        check::<[u64; 3]>(random, |i| [i, 1, i]);
        check::<()>(random, |_| ());
    }
}

/// The strides of an array whose axes are ordered by these strides.
fn ordered(sizes: &[usize], by: &[usize]) -> Vec<usize> {
    let (mut to, is_inside) = (vec![7; sizes.len()], |shape: &[usize], former: usize, latter: usize| {
        assert!(shape[former] > 1 && shape[latter] > 1, "axes whose order matters");
        (by[former] != by[latter]).then(|| by[former] < by[latter])
    });
    assert_eq!(strides(sizes, Some(&is_inside), &mut to), sizes.iter().product());
    to
}

#[test]
fn axes_are_ordered_in_memory() {
    assert_eq!(ordered(&[2, 3, 4], &[12, 4, 1]), [12, 4, 1]);
    assert_eq!(ordered(&[2, 3, 4], &[1, 2, 6]), [1, 2, 6]);
    assert_eq!(ordered(&[2, 3, 4], &[4, 8, 1]), [4, 8, 1]);
    assert_eq!(ordered(&[2, 3, 4, 5], &[1, 40, 2, 8]), [1, 40, 2, 8]);
    // equal strides, no elements, fewer than two axes
    assert_eq!(ordered(&[2, 3, 4], &[1, 1, 1]), [12, 4, 1]);
    assert_eq!(ordered(&[2, 0, 4], &[1, 2, 6]), [0, 0, 0]);
    assert_eq!([ordered(&[], &[]), ordered(&[3], &[1])], [vec![], vec![1]]);
    assert_eq!(ordered(&[2, 3], &[1, 2]), [1, 2]);
    assert_eq!(ordered(&[3, 2], &[1, 3]), [1, 3]);
    // more axes than fit on the stack
    let ten_axes = [2; 10];
    let by: Vec<usize> = (0..10).map(|axis| 1 << axis).collect();
    assert_eq!(ordered(&ten_axes, &by), by);
}

#[test]
fn axes_of_one_element_are_placed_too() {
    assert_eq!(ordered(&[1, 2, 3], &[9, 1, 2])[1..], [1, 2]);
    assert_eq!(ordered(&[2, 1, 3], &[1, 9, 2])[2], 2);
    assert_eq!(ordered(&[1, 2, 3], &[0, 3, 1])[1..], [3, 1]);
}

/// Under Miri, which watches the borrows of each element: few elements, and as many as two threads share.
#[test]
#[cfg(feature = "rayon")]
fn further_outputs_are_borrowed_once_at_each_index() {
    for (n, width) in [(3, 7), (1, 2 * super::threads::GRAIN)] {
        let x = Array::from_shape_fn((n, width), |(i, j)| i + j);
        let (mut first, mut second) =
            (Array::from_elem((n, width), 1_usize), Array::from_elem((n, width).f(), 2_usize));
        broadcast_apply2(&mut first, &mut second, (&x,).par(), |a, b, x| {
            core::mem::swap(a, b);
            *b = b.wrapping_add(*x);
        })
        .expect("one shape");
        let (sum, units, same) =
            broadcast_map3((&first, &second).par(), |a, b| (a.wrapping_add(*b), (), *b)).expect("one shape");
        assert!(
            same == second
                && sum.iter().zip(&x).all(|(sum, x)| *sum == x.wrapping_add(3))
                && units.len() == x.len()
        );
    }
}
