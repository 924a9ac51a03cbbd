//! Nests, copies and buffers against models that go index by index, and what happens if safe functions are misused.

use super::ensure;
use super::memory::{Buffer, Copies, List, Reserved, Room, Slot, vec_of};
use super::nest::{
    AxisSelection, BaseInputs, BaseNest, BaseOutput, Block, Elements, Inputs, Loop, Make, Nest, Output, Raw,
    State, Visit, Written, matrices, steps,
};
use super::order::{AxisOrder, permuted};
use super::source::Cloned;
use alloc::vec;
use alloc::vec::Vec;
use ndarray::{Array, ArrayD, ArrayRef, ArrayViewD, Axis, Dimension, Ix0, Ix1, Ix2, IxDyn, Slice, arr0};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::{String, ToString};

/// Splitmix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).expect("few")).expect("below the end")
    }

    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A shape of up to `ndim` axes of up to `most` elements.
    fn shape(&mut self, ndim: usize, most: usize) -> Vec<usize> {
        (0..self.below(ndim + 1)).map(|_| 1 + self.below(most)).collect()
    }

    /// A number of steps for each loop.
    fn tile(&mut self, loops: &[Loop]) -> Vec<usize> {
        loops.iter().map(|l| self.below(l.len() + 2)).collect()
    }
}

/// Calls `run` with arrays of that shape: strides 0, 1, 2, -1 and others, axes in any order. Elements are 0, 1, and so on.
fn with_layout<A: Clone>(
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
        Err(payload) => match payload.downcast::<String>() {
            Ok(message) => *message,
            Err(payload) => payload.downcast_ref::<&str>().expect("a message").to_string(),
        },
    }
}

/// The elements of a view, copied in the order of its axes.
fn copied<A: Clone>(view: &ArrayRef<A, IxDyn>) -> Option<Vec<A>> {
    let (mut state, mut none, mut room) = (State::new(), arr0(()), State::new());
    let inputs = Inputs::from((view,));
    let nest = Nest::over(&mut state, view.shape(), Output::of(&mut none), None, &inputs)?;

    nest.erased(|raw: Raw<'_, '_>, types| {
        let mut is_plain = true;
        let copy = catch_unwind(AssertUnwindSafe(|| {
            vec_of(steps(raw.loops()), |slots| {
                types.inputs().copy(&raw.inputs(&mut room), slots).unwrap_or_else(|_| {
                    is_plain = false;
                    Written::none()
                })
            })
        }));
        is_plain.then(|| copy.unwrap_or_else(|_| panic!("all are written")))
    })
}

#[test]
fn copies_go_index_by_index() {
    fn check<A: Clone + PartialEq + Debug>(
        random: &mut Random,
        shape: &[usize],
        element: impl Fn(usize) -> A,
    ) {
        with_layout(random, shape, element, |_, view| {
            let copy = copied(&view).expect("plain numbers");
            assert!(copy.iter().eq(view.iter()), "{:?} {:?} {copy:?}", view.shape(), view.strides());
        });
    }
    let random = &mut Random(1);
    for case in 0..600 {
        // squares and their remainders are reached by two axes
        let shape =
            if case % 2 == 0 { random.shape(4, 9) } else { vec![1 + random.below(40), 1 + random.below(40)] };
        match case % 7 {
            0 => check(random, &shape, |i| u8::try_from(i % 251).expect("small")),
            1 => check(random, &shape, |i| u16::try_from(i % 65_521).expect("small")),
            2 => check(random, &shape, |i| u32::try_from(i).expect("few")),
            3 => check(random, &shape, |i| i),
            4 => check(random, &shape, |i| u128::MAX - u128::try_from(i).expect("few")),
            5 => check(random, &shape, |i| i % 3 == 0),
            _ => check(random, &shape, |i| f64::from(u32::try_from(i).expect("few"))),
        }
    }
    assert_eq!(copied(&ArrayD::from_elem(vec![2], [1_u8, 2])), None, "arrays are no plain numbers");
}

/// Counts its visits, and sees which element is there.
#[derive(Clone, Copy)]
struct Count;

impl Visit<(usize, usize), (usize,)> for Count {
    fn visit(&mut self, out: &mut (usize, usize), (&element,): (&usize,)) {
        *out = (out.0 + 1, out.1 + element);
    }
}

/// Runs `pass` over a nest of random layout; asserts that each index was visited once, with its element.
fn assert_visited_once(seed: u64, pass: impl Fn(&mut Random, Nest<'_, (usize, usize), (usize,)>) + Copy) {
    let random = &mut Random(seed);
    for _ in 0..200 {
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
                let (mut state, inputs) = (State::new(), Inputs::from((&*view,)));
                let nest = Nest::over(&mut state, &shape, Output::of(&mut out), None, &inputs);
                pass(random, nest.expect("an index"));
                for (&(count, sum), &element) in out.iter().zip(&view) {
                    assert_eq!((count, sum), (1, element), "{:?} {:?}", view.shape(), view.strides());
                }
            },
        );
    }
}

fn visit_blocks(nest: Nest<'_, (usize, usize), (usize,)>) {
    nest.erased(|raw, types| {
        raw.for_each_block(&mut |block: Block<'_, '_>| types.rows(block).visit(&mut Count));
    });
}

#[test]
fn blocks_visit_each_index_once() {
    assert_visited_once(2, |random, mut nest| {
        if random.once_in(2) {
            nest.arrange(random.below(3));
        }
        visit_blocks(nest);
    });
}

#[test]
fn tiles_visit_each_index_once() {
    assert_visited_once(3, |random, mut nest| {
        if random.once_in(2) {
            nest.arrange(random.below(2));
        }
        let tile = random.tile(nest.loops());
        let most: usize = tile.iter().map(|&steps| steps.max(1)).product();
        nest.erased(|raw, types| {
            raw.for_each_tile(&tile, &mut |part: Raw<'_, '_>| {
                assert!(steps(part.loops()) <= most && part.loops().iter().all(|l| l.len() > 1));
                part.for_each_block(&mut |block: Block<'_, '_>| types.rows(block).visit(&mut Count));
            });
        });
    });
}

#[test]
fn halves_visit_each_index_once() {
    fn halved(random: &mut Random, nest: Nest<'_, (usize, usize), (usize,)>, depth: usize) {
        let count = nest.loops().len();
        if depth == 0 || count == 0 {
            return visit_blocks(nest);
        }
        let (place, mut room) = (random.below(count), State::new());
        for half in nest.halves(place, &mut room) {
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
        nest.erased(|raw, types| {
            let mut copies = Copies::new(1);
            raw.for_each_tile(&tile, &mut |part: Raw<'_, '_>| {
                part.with_copies(&mut copies, 0b10, &mut |block: Block<'_, '_>| {
                    types.rows(block).visit(&mut Count);
                });
            });
        });
    });
}

/// Loops of a nest that was there before, or that was only begun, are not those of the next one.
#[test]
fn a_state_serves_for_one_nest_at_a_time() {
    let (mut state, x, y) = (State::new(), Array::from_elem([4, 5], 1_u32), Array::from_elem(3, 1_u32));
    for shape in [&[4, 5][..], &[4, 6][..]] {
        let mut out = Array::from_elem([4, 5], 0_u32);
        let over =
            || Nest::over(&mut state, shape, Output::of(&mut out), None, &Inputs::from((&*x,))).is_some();
        let _ = catch_unwind(AssertUnwindSafe(over));
        let mut out = Array::from_elem(3, 0_u32);
        let nest = Nest::over(&mut state, &[3], Output::of(&mut out), None, &Inputs::from((&*y,)));
        nest.expect("an index").erased(|raw, types| {
            assert_eq!(steps(raw.loops()), 3);
            raw.for_each_block(&mut |block| types.rows(block).visit(&mut Sum));
        });
        assert_eq!(out.to_vec(), [1; 3]);
    }
}

/// Parts of inputs alone give no access to the output that another part has.
#[test]
fn inputs_alone_give_no_output() {
    let (mut state, mut room, x) = (State::new(), State::new(), Array::from_elem([2, 3], 1_u32));
    let (mut out, inputs) = (Array::from_elem([2, 3], 0_u32), Inputs::from((&*x,)));
    let nest = Nest::over(&mut state, &[2, 3], Output::of(&mut out), None, &inputs).expect("an index");
    nest.erased(|raw, types| {
        let rows = || {
            raw.inputs(&mut room).for_each_block(&mut |block| types.rows(block).visit(&mut Sum));
        };
        assert_eq!(panic_of(rows), "an output");
        let results = || {
            let part = raw.inputs(&mut room);
            types.with_results(part, &[1_u32; 6], &mut |rows| rows.visit(&mut Sum));
        };
        assert_eq!(panic_of(results), "an output");
        let tiles = || {
            raw.inputs(&mut room).for_each_tile(&[1; 2], &mut |part| {
                part.for_each_block(&mut |block| types.rows(block).visit(&mut Sum));
            });
        };
        assert_eq!(panic_of(tiles), "an output");
    });
    assert_eq!(out.sum(), 0);
}

/// Calls `run` with a nest of which the axis that is reduced is the outer one, over `shape`.
fn with_reduced(shape: [usize; 2], run: impl for<'s> FnOnce(Nest<'_, Slot<'s, u8>, (u8,)>) -> Written<'s>) {
    let x = Array::from_elem(shape, 1_u8);
    let reserved = Reserved::<u8, Ix1>::new(Ix1(shape[1])).unwrap_or_else(|_| panic!("enough memory"));
    let _ = reserved.written(None, |out| {
        let mut state = State::new();
        run(Nest::over(&mut state, &shape, out, None, &Inputs::from((&*x,))).expect("an index"))
    });
}

#[test]
fn slots_are_written_once() {
    // a slot would be written at each step of the reduced loop
    let message = panic_of(|| {
        with_reduced([4, 3], |nest| {
            nest.erased(|raw, types| {
                let mut written = Written::none();
                raw.for_each_block(&mut |block: Block<'_, '_>| {
                    written.add(types.rows(block).fill(&mut Cloned));
                });
                written
            })
        });
    });
    assert_eq!(message, "each slot is written once");
    // a part without the reduced loop is not the only one
    for tile in [[1, 3], [0, 3], [1, 1]] {
        let message = panic_of(|| {
            with_reduced([2, 3], |nest| {
                nest.erased(|raw, types| {
                    let mut written = Written::none();
                    raw.for_each_tile(&tile, &mut |part: Raw<'_, '_>| {
                        part.for_each_block(&mut |block: Block<'_, '_>| {
                            written.add(types.rows(block).fill(&mut Cloned));
                        });
                    });
                    written
                })
            });
        });
        assert_eq!(message, "each slot is written once");
        // nor are results for it
        let message = panic_of(|| {
            with_reduced([2, 3], |nest| {
                nest.erased(|raw, types| {
                    let mut written = Written::none();
                    raw.for_each_tile(&tile, &mut |part: Raw<'_, '_>| {
                        let results = vec![1_u8; if tile[1] == 3 { 3 } else { 1 }];
                        types.with_results(part, &results, &mut |rows| written.add(rows.fill(&mut Cloned)));
                    });
                    written
                })
            });
        });
        assert_eq!(message, "each slot is written once");
    }
    assert_eq!(
        panic_of(|| with_reduced([4, 3], |nest| {
            let mut room = State::new();
            let _ = nest.halves(0, &mut room);
            Written::none()
        })),
        "parts have different outputs"
    );
}

#[test]
fn what_is_not_filled_is_not_read() {
    let unwritten = "every slot was written";
    assert_eq!(panic_of(|| vec_of::<String>(3, |_| Written::none())), unwritten);
    assert_eq!(panic_of(|| Buffer::<u64>::new().filled(3, |_| Written::none()).len()), unwritten);
    assert_eq!(panic_of(|| with_reduced([1, 3], |_| Written::none())), unwritten);
    // half of the slots
    let half = panic_of(|| {
        with_reduced([1, 6], |nest| {
            let mut room = State::new();
            let [first, _] = nest.halves(0, &mut room);
            super::map::fill_nest(first, false, &mut |rows| rows.fill(&mut Cloned))
        });
    });
    assert_eq!(half, unwritten);
    assert_eq!(vec_of::<String>(0, |_| Written::none()), Vec::<String>::new());
}

/// Makes elements until it panics, which forgets those that were made.
struct Until(usize);

impl Make<[u8; 3], (u8,)> for Until {
    fn make(&mut self, (&element,): (&u8,)) -> [u8; 3] {
        ensure(self.0 > 0, "no more");
        self.0 -= 1;
        [element; 3]
    }
}

#[test]
fn panics_of_closures_forget_what_was_written() {
    let x = Array::from_elem([5, 4], 7_u8);
    for calls in 0..=20 {
        let made = catch_unwind(|| {
            let reserved = Reserved::<[u8; 3], Ix2>::new(Ix2(5, 4)).unwrap_or_else(|_| panic!("memory"));
            let mut until = Until(calls);
            super::map::to_new(reserved, &Inputs::from((&*x,)), &mut |rows| rows.fill(&mut until))
        });
        assert_eq!(made.is_ok(), calls == 20);
        assert!(made.is_err() || made.is_ok_and(|made| made.iter().all(|element| *element == [7; 3])));
    }
}

#[test]
fn numbers_that_lie_panic() {
    let x = Array::from_elem([2, 3], 1_u8);
    let inputs = &Inputs::from((&*x,));
    for len in [0, 1, 2, 4, 6, 7] {
        let message = panic_of(|| {
            with_reduced([2, 3], |nest| {
                let mut written = Written::none();
                nest.erased(|raw, types| {
                    types
                        .with_results(raw, &vec![1_u8; len], &mut |rows| written.add(rows.fill(&mut Cloned)));
                });
                written
            });
        });
        assert_eq!(message, "a result for each output", "{len}");
        let onto = || {
            vec_of::<u8>(len, |slots| {
                let (mut state, mut out, mut room) = (State::new(), Array::from_elem(3, 0_u8), State::new());
                let nest = Nest::over(&mut state, &[2, 3], Output::of(&mut out), None, inputs);
                let _ = nest.expect("an index").inputs(&mut room).onto(slots);
                Written::none()
            })
        };
        assert_eq!(panic_of(onto), "a slot for each element", "{len}");
        if len != 6 {
            let copy = || {
                vec_of::<u8>(len, |slots| {
                    let (mut state, mut out, mut room) = (State::new(), arr0(()), State::new());
                    let nest = Nest::over(&mut state, &[2, 3], Output::of(&mut out), None, inputs);
                    nest.expect("an index").erased(|raw: Raw<'_, '_>, types| {
                        types.inputs().copy(&raw.inputs(&mut room), slots).unwrap_or_else(|_| Written::none())
                    })
                })
            };
            assert_eq!(panic_of(copy), "a slot for each element", "{len}");
        }
    }
    let too_long = || Buffer::<u64>::new().filled((32 << 10) / 8 + 1, |_| Written::none()).len();
    assert_eq!(panic_of(too_long), "room for the elements");
    assert_eq!(
        panic_of(|| Buffer::<u64>::new().filled(usize::MAX, |_| Written::none()).len()),
        "room for the elements"
    );
    assert_eq!(panic_of(|| Room::<Page, 512>::new().len()), "elements as aligned as the room");
    let reserved = || Reserved::<u8, Ix1>::new(Ix1(3)).unwrap_or_else(|_| panic!("enough memory"));
    for len in [0, 2, 4] {
        let elements = vec![1; len];
        assert_eq!(panic_of(|| reserved().cloned(&elements)), "as many elements as the shape has");
    }
    assert_eq!(reserved().cloned(&[1, 2, 3]).to_vec(), [1, 2, 3]);
    assert_eq!(
        panic_of(|| (0..5).for_each({
            let mut list = List::<u8, 4>::new();
            move |item| list.push(item)
        })),
        "index out of bounds: the len is 4 but the index is 4"
    );
}

/// An element with a greater alignment than any buffer.
#[derive(Clone)]
#[repr(align(128))]
struct Page;

#[test]
fn sizes_that_overflow_are_not_reserved() {
    for shape in [vec![usize::MAX, 2], vec![1 << 32, 1 << 32], vec![1 << 63, 2, 1], vec![usize::MAX]] {
        assert!(Reserved::<u8, IxDyn>::new(IxDyn(&shape)).is_err(), "{shape:?}");
    }
    assert_eq!(Reserved::<u8, IxDyn>::new(IxDyn(&[0, 9])).map_or(1, |reserved| reserved.len()), 0);
}

/// A set of axes that answers anew each time.
struct Impure(core::cell::Cell<u64>);

impl AxisSelection for Impure {
    fn contains(&self, _: usize) -> bool {
        let mut random = Random(self.0.get());
        let answer = random.once_in(2);
        self.0.set(random.0);
        answer
    }
}

/// Each shape that does not fit, and each set of axes that lies, panics or gives a nest within the arrays.
#[test]
fn shapes_that_do_not_fit_panic() {
    let random = &mut Random(6);
    let (mut fits, mut panics) = (0, 0);
    for case in 0..3000 {
        let (shape, own, to) = (random.shape(3, 3), random.shape(3, 3), random.shape(3, 3));
        let x = ArrayD::from_elem(own.as_slice(), 1_u32);
        let mut out = ArrayD::from_elem(to.as_slice(), 0_u32);
        let impure = Impure(core::cell::Cell::new(case));
        let visit = catch_unwind(AssertUnwindSafe(|| {
            let (mut state, inputs) = (State::new(), Inputs::from((&*x,)));
            let dropped: Option<&dyn AxisSelection> = if case % 2 == 0 { Some(&impure) } else { None };
            let nest = Nest::over(&mut state, &shape, Output::of(&mut out), dropped, &inputs);
            nest.expect("an index").erased(|raw, types| {
                raw.for_each_block(&mut |block: Block<'_, '_>| types.rows(block).visit(&mut Sum));
            });
        }));
        let count = usize::try_from(out.sum()).expect("few");
        if let Ok(()) = visit {
            fits += 1;
            assert_eq!(count, shape.iter().product());
        } else {
            panics += 1;
            assert_eq!(count, 0);
        }
    }
    assert!(fits > 100 && panics > 100, "{fits} {panics}");
}

struct Sum;

impl Visit<u32, (u32,)> for Sum {
    fn visit(&mut self, out: &mut u32, (element,): (&u32,)) {
        *out += element;
    }
}

#[test]
fn bases_that_do_not_fit_panic() {
    fn run<'a, E: Elements, F: super::nest::Forms<'a, E>>(
        inputs: &BaseInputs<'a, E, F>,
        to: &[usize],
        base: usize,
    ) {
        let mut out = ArrayD::from_elem(to, 0_u8);
        let mut out = BaseOutput::<u8, IxDyn>::of(Output::of(&mut out), base);
        if let Some(nest) = BaseNest::over(&mut State::new(), inputs, &mut out) {
            nest.for_each(|_, mut out| out.fill(1));
        }
    }
    let x = Array::from_elem([2, 3], 1_u8);
    let one = |base| BaseInputs::<(u8,), _>::one::<Ix2>((&*x, base));
    run::<(u8,), (super::nest::Form<IxDyn>,)>(&one(1), &[5, 2, 3], 1);
    // batch axes that differ, that are missing, and bases of more axes than there are
    for (base, to, of_out) in [(1, &[3, 3][..], 1), (1, &[][..], 0), (2, &[2][..], 2), (3, &[2, 3][..], 1)] {
        panic_of(|| run::<(u8,), (super::nest::Form<IxDyn>,)>(&one(base), to, of_out));
    }
    // forms with another number of axes than the base
    panic_of(|| BaseInputs::<(u8,), (super::nest::Form<Ix2>,)>::one::<Ix2>((&*x, 1)));
    let mut out = ArrayD::from_elem(vec![2, 3], 0_u8);
    panic_of(|| BaseOutput::<u8, Ix0>::of(Output::of(&mut out), 1));
    panic_of(|| matrices(Output::of(&mut out), Inputs::from((&*x, &*x)), [2, 2, 3]));
}

#[test]
fn copies_that_do_not_fit_panic() {
    fn copied<A: Clone + Debug>(element: A, shape: [usize; 2], copies_for: usize, copied: u8) {
        let x = Array::from_elem(shape, element);
        let mut out = Array::from_elem(shape, 0_u32);
        let (mut state, inputs) = (State::new(), Inputs::from((&*x,)));
        let nest = Nest::over(&mut state, &shape, Output::of(&mut out), None, &inputs).expect("an index");
        nest.erased(|raw, _| raw.with_copies(&mut Copies::new(copies_for), copied, &mut |_| ()));
    }
    copied(1_u64, [32, 64], 1, 0b10);
    assert_eq!(panic_of(|| copied(1_u64, [32, 65], 1, 0b10)), "room for the copy");
    assert_eq!(panic_of(|| copied(1_u64, [32, 64], 3, 0b10)), "room for the copy");
    assert_eq!(panic_of(|| copied(String::new(), [2, 2], 1, 0b10)), "an input of plain numbers");
    let x = Array::from_elem([4, 3, 2], 1_u32);
    let mut out = Array::from_elem([4, 5, 6], 0_u32);
    let mut out = out.slice_mut(ndarray::s![.., ..3, ..2]);
    let (mut state, inputs) = (State::new(), Inputs::from((&*x,)));
    let nest = Nest::over(&mut state, &[4, 3, 2], Output::of(&mut out), None, &inputs).expect("an index");
    let copied = || nest.erased(|raw, _| raw.with_copies(&mut Copies::new(1), 0b10, &mut |_| ()));
    assert_eq!(panic_of(copied), "inner loops that are a row");
}

#[test]
fn rooms_hold_what_a_vector_holds() {
    fn check<A: Clone + PartialEq + Debug, const BYTES: usize>(
        random: &mut Random,
        element: impl Fn(u64) -> A,
    ) {
        let (mut room, mut model) = (Room::<A, BYTES>::new(), Vec::new());
        for _ in 0..60 {
            match random.below(5) {
                0 => {
                    let len = random.below(model.len() + 3);
                    room.truncate(len);
                    model.truncate(len);
                }
                1 if !room.is_empty() => {
                    let place = random.below(model.len());
                    room[place] = element(random.next());
                    model[place] = room[place].clone();
                }
                _ => {
                    let more: Vec<A> = (0..random.below(9)).map(|_| element(random.next())).collect();
                    room.extend(&more);
                    model.extend_from_slice(&more);
                }
            }
            assert_eq!(*room, *model);
        }
    }
    let random = &mut Random(7);
    for _ in 0..30 {
        check::<u8, 64>(random, |i| i.to_le_bytes()[0]);
        check::<u64, 128>(random, |i| i);
        check::<[u64; 3], 64>(random, |i| [i, 1, i]);
        check::<[u64; 40], 64>(random, |i| [i; 40]);
        check::<(), 64>(random, |_| ());
    }
}

struct ByStrides<'a>(&'a [usize]);

impl AxisOrder for ByStrides<'_> {
    fn is_inside(&self, shape: &[usize], former: usize, latter: usize) -> Option<bool> {
        assert!(shape[former] > 1 && shape[latter] > 1, "axes whose order matters");
        (self.0[former] != self.0[latter]).then(|| self.0[former] < self.0[latter])
    }
}

/// The sizes in memory, and the place of each axis there, if axes are ordered by these strides.
fn places(sizes: &[usize], strides: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
    let (sizes, places) = permuted(&IxDyn(sizes), &ByStrides(strides))?;
    Some((sizes.slice().to_vec(), places.slice().to_vec()))
}

#[test]
fn axes_are_ordered_in_memory() {
    assert_eq!(places(&[2, 3, 4], &[12, 4, 1]), None);
    assert_eq!(places(&[2, 3, 4], &[1, 2, 6]), Some(([4, 3, 2].into(), [2, 1, 0].into())));
    assert_eq!(places(&[2, 3, 4], &[4, 8, 1]), Some(([3, 2, 4].into(), [1, 0, 2].into())));
    assert_eq!(places(&[2, 3, 4, 5], &[1, 40, 2, 8]), Some(([3, 5, 4, 2].into(), [3, 0, 2, 1].into())));
    // equal strides, no elements, fewer than two axes
    assert_eq!(places(&[2, 3, 4], &[1, 1, 1]), None);
    assert_eq!(places(&[2, 0, 4], &[1, 2, 6]), None);
    assert_eq!([places(&[], &[]), places(&[3], &[1])], [None, None]);
    assert_eq!(places(&[2, 3], &[1, 2]), Some(([3, 2].into(), [1, 0].into())));
    assert_eq!(places(&[3, 2], &[1, 3]), Some(([2, 3].into(), [1, 0].into())));
    assert_eq!([[2, 3], [1, 3], [3, 1]].map(|sizes| places(&sizes, &[3, 1])), [None, None, None]);
}

#[test]
fn axes_of_one_element_are_placed_too() {
    assert_eq!(places(&[1, 2, 3], &[9, 1, 2]), Some(([1, 3, 2].into(), [0, 2, 1].into())));
    assert_eq!(places(&[2, 1, 3], &[1, 9, 2]), Some(([3, 2, 1].into(), [1, 2, 0].into())));
    assert_eq!(places(&[1, 2, 3], &[0, 3, 1]), None);
}
