//! Nests over all layouts, against walks by index.

extern crate std;

use super::*;
use crate::kernel::loops::{is_adjacent, steps};
use crate::kernel::operation::{ClosureOp, Plus};
use crate::kernel::strided::{AxisSelection, Only};
use alloc::string::{String, ToString};
use alloc::{vec, vec::Vec};
use ndarray::{Array, Array1, Array2, Array3, ArrayRef, ArrayView3, ArrayViewMut1, Axis, Ix3, s};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The message of the panic.
fn panics<R>(f: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("a panic");
    let message = payload.downcast_ref::<&str>().map(ToString::to_string);
    message.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a message")
}

/// The elements of two inputs that were read for one element of the output.
type Seen = Vec<[u32; 2]>;
type Read = (u32, u32);

struct See;

impl Visit<Seen, Read> for See {
    fn visit(&mut self, out: &mut Seen, (&a, &b): (&u32, &u32)) {
        out.push([a, b]);
    }
}

struct Collect<'s>(&'s mut Seen);

impl Visit<(), Read> for Collect<'_> {
    fn visit(&mut self, (): &mut (), (&a, &b): (&u32, &u32)) {
        self.0.push([a, b]);
    }
}

/// Visits every index.
fn see(nest: Nest<'_, Seen, Read>) {
    let inner = nest.loops().len().min(2);
    let mut blocks = nest.walk(inner);
    while let Some(mut block) = blocks.next() {
        block.visit_each(&mut See);
    }
}

/// All elements that are read, in order.
fn all(nest: Nest<'_, (), Read>) -> Seen {
    let (mut seen, inner) = (Vec::new(), nest.loops().len().min(2));
    let mut blocks = nest.walk(inner);
    while let Some(mut block) = blocks.next() {
        block.visit_each(&mut Collect(&mut seen));
    }
    seen
}

pub(super) const SIZES: [usize; 3] = [4, 3, 5];
const LAYOUTS: usize = 9;
/// The first layout that is repeated along some axes. An output is reduced along these.
const REPEATED: usize = 6;

/// An array that stretches to [`SIZES`], in one of the layouts.
pub(super) fn layout<T>(which: usize, make: impl Fn(usize) -> T) -> Array3<T> {
    let base = |sizes: [usize; 3]| {
        let len = sizes.iter().product();
        Array::from_shape_vec(sizes, (0..len).map(&make).collect()).expect("as many elements")
    };
    let [l, m, n] = SIZES;
    match which {
        0 => base([l, m, n]),
        1 => base([n, m, l]).reversed_axes(),
        2 => base([n, l, m]).permuted_axes([1, 2, 0]),
        3 => base([2 * l, m + 1, 3 * n]).slice_move(s![..;2, 1.., 1..;3]),
        4 => base([l, m, n]).slice_move(s![..;-1, .., ..;-1]),
        5 => base([m, l, 2 * n]).permuted_axes([1, 0, 2]).slice_move(s![.., ..;-1, ..;-2]),
        6 => base([l, 1, n]),
        7 => base([1, m, 1]),
        _ => base([1, m, 2 * n]).slice_move(s![.., .., ..;-2]),
    }
}

pub(super) fn number(i: usize) -> u32 {
    i.try_into().expect("small")
}

/// Calls `visit` with nests over operands in all layouts and compares the elements seen with a walk by index.
fn in_all_layouts(outs: usize, visit: impl Fn(Nest<'_, Seen, Read>)) {
    let orders = [Outside::Written, Outside::Read, Outside::AllRead, Outside::Given];
    // every seventh combination, which includes all pairs of layouts
    let each = (0..outs * LAYOUTS * LAYOUTS).step_by(7);
    for (which, outside) in each.flat_map(|which| orders.map(|outside| (which, outside))) {
        let (a, b) = (layout(which / LAYOUTS % LAYOUTS, number), layout(which % LAYOUTS, number));
        let mut out = layout(which / LAYOUTS / LAYOUTS, |_| Seen::new());
        let mut plan = LoopPlan::new();
        let inputs = Inputs::from((&*a, &*b));
        visit(Nest::over(&mut plan, Some(&SIZES), Output::of(&mut out), &inputs, outside).expect("an index"));
        let mut expected = Array3::from_elem(out.raw_dim(), Seen::new());
        let at = |sizes: Ix3, i: [usize; 3]| [0, 1, 2].map(|axis| if sizes[axis] == 1 { 0 } else { i[axis] });
        for (i, j, k) in ndarray::indices(SIZES) {
            let i = [i, j, k];
            expected[at(out.raw_dim(), i)].push([a[at(a.raw_dim(), i)], b[at(b.raw_dim(), i)]]);
        }
        out.iter_mut().chain(&mut expected).for_each(|seen| seen.sort_unstable());
        assert_eq!(out, expected, "layouts {which}, {outside:?}");
    }
}

#[test]
fn a_walk_comes_to_every_index() {
    for inner in 0..=3 {
        in_all_layouts(LAYOUTS, |nest| {
            let inner = inner.min(nest.loops().len());
            let mut blocks = nest.walk(inner);
            while let Some(block) = blocks.next() {
                assert_eq!(block.loops().len(), inner);
                see(block);
            }
            assert!(blocks.next().is_none());
        });
    }
}

#[test]
fn parts_are_the_whole() {
    for (place, steps) in (0..3).flat_map(|place| (1..=5).map(move |steps| (place, steps))) {
        in_all_layouts(REPEATED, |nest| {
            let cut = nest.loops().get(place).filter(|l| steps < l.len && !l.is_reduced());
            if cut.is_none() {
                return see(nest);
            }
            let mut rooms = [Vec::new(), Vec::new()];
            let [low, high] = nest.cut(place, steps, &mut rooms);
            assert_eq!(low.loops()[place].len, steps);
            see(high);
            see(low);
        });
    }
}

#[test]
fn reads_in_parts_are_the_whole() {
    for (place, steps) in (0..3).flat_map(|place| (1..=5).map(move |steps| (place, steps))) {
        in_all_layouts(LAYOUTS, |nest| {
            let read = nest.read();
            if let Some(len) = read.loops().get(place).map(|l| l.len).filter(|&len| steps < len) {
                let mut expected = all(read);
                let mut room = Loops::new();
                let mut parts = all(read.part(place, 0, steps, &mut room));
                parts.extend(all(read.part(place, steps, len - steps, &mut room)));
                expected.sort_unstable();
                parts.sort_unstable();
                assert_eq!(parts, expected);
            }
            see(nest);
        });
    }
}

#[test]
fn groups_and_other_orders_visit_the_same() {
    for (place, take) in (0..3).flat_map(|place| (1..=12).map(move |take| (place, take))) {
        in_all_layouts(LAYOUTS, |nest| {
            if nest.loops().get(place).is_none_or(|l| l.len % take > 0) {
                return see(nest);
            }
            let mut room = Loops::new();
            let nest = nest.grouped(place, take, &mut room);
            assert_eq!(nest.loops()[place + 1].len, take);
            see(nest);
        });
    }
    for classes in [[0, 1, 2], [2, 1, 0], [1, 0, 1], [2, 2, 2]] {
        in_all_layouts(LAYOUTS, |nest| see(nest.ordered(|place, _| classes[place], &mut Loops::new())));
    }
}

#[test]
fn equal_classes_stay_in_order() {
    let (a, mut out) = (Array3::from_elem((2, 3, 5), 0_u8), Array3::from_elem((2, 3, 5), 0_u8));
    let (mut plan, mut rooms) = (LoopPlan::new(), [Loops::new(), Loops::new()]);
    let nest = Nest::over(&mut plan, None, Output::of(&mut out), &Inputs::from((&*a,)), Outside::Given);
    let [two, one] = &mut rooms;
    let nest = nest.expect("an index").grouped(0, 15, one).grouped(1, 5, two);
    let mut room = Loops::new();
    let nest = nest.ordered(|_, l| u8::from(l.len == 2) * 2, &mut room);
    assert_eq!(nest.loops().iter().map(|l| l.len).collect::<Vec<_>>(), [3, 5, 2]);
}

#[test]
fn the_output_is_walked_beside_the_inputs() {
    in_all_layouts(LAYOUTS, |nest| {
        let (mut room, mut kept) = (Loops::new(), Loops::new());
        let nest = nest.ordered(|_, l| u8::from(l.is_reduced()), &mut room);
        let reduced = nest.loops().iter().filter(|l| l.is_reduced()).count();
        let mut reads = nest.read().walk(reduced);
        let mut slots = nest.written(&mut kept).walk(0);
        while let Some(terms) = reads.next() {
            slots.next().expect("a slot for each").slot().extend(all(terms));
        }
        assert!(slots.next().is_none());
    });
}

#[test]
fn a_tile_takes_the_place_of_the_output() {
    for inner in 0..=3 {
        in_all_layouts(LAYOUTS, |nest| {
            let inner = inner.min(nest.loops().len());
            let (outer, dense) = nest.loops().split_at(nest.loops().len() - inner);
            let mut tile = vec![Seen::new(); steps(dense) + 1];
            see(nest.onto(&mut tile, dense, &mut Loops::new()));
            assert!(tile.pop().is_some_and(|unused| unused.is_empty()));
            assert!(tile.iter().all(|seen| seen.len() == steps(outer)));
            let mut rows = nest.read().walk(inner);
            while let Some(row) = rows.next() {
                for (tile, item) in tile.iter_mut().zip(all(row)) {
                    let at =
                        tile.iter().position(|&seen| seen == item).expect("it was read for this element");
                    tile.swap_remove(at);
                }
            }
            assert!(tile.iter().all(Vec::is_empty));
            see(nest);
        });
    }
}

/// The inputs that are not contiguous along these loops.
fn gaps(loops: &[Loop]) -> u8 {
    u8::from(!is_adjacent(loops, 1)) | u8::from(!is_adjacent(loops, 2)) << 1
}

#[test]
fn rows_are_read_from_copies() {
    for (inner, row) in [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (3, 3)] {
        for more in 0..=0b11 {
            in_all_layouts(LAYOUTS, |nest| {
                let len = nest.loops().len();
                if inner > len || !is_adjacent(&nest.loops()[len - row..], 0) {
                    return see(nest);
                }
                let copied = more | gaps(&nest.loops()[len - row..]);
                nest.gathered(copied, [inner - row, row], &mut (inner - row), |outer, block| {
                    assert_eq!(block.loops().len(), *outer + 1);
                    block.visit_rows::<(), _>(0, 0b11, &mut See);
                });
            });
        }
    }
}

#[test]
fn rows_are_visited() {
    let found = core::cell::Cell::new([0; 4]);
    in_all_layouts(LAYOUTS, |nest| {
        let inner = nest.loops().len().min(2);
        let mut blocks = nest.walk(inner);
        while let Some(mut block) = blocks.next() {
            let row = block.loops().last().copied().unwrap_or(Loop::ONE);
            match (0..4).find(|&moving| <Read>::has_loop(moving) && moves_as(&row, moving, 2)) {
                Some(moving) => {
                    let mut counts = found.get();
                    counts[usize::from(moving)] += 1;
                    found.set(counts);
                    block.visit_rows::<(), _>(0, moving, &mut See);
                }
                None => block.visit_each(&mut See),
            }
        }
    });
    assert!(found.get()[1..].iter().all(|&count| count > 0), "{found:?}");
}

#[test]
fn rows_of_eight_and_others() {
    struct Add;
    impl<T: Copy + core::ops::AddAssign> Visit<T, (T,)> for Add {
        fn visit(&mut self, out: &mut T, (&item,): (&T,)) {
            *out += item;
        }
    }
    for len in 2..=17 {
        let mut out = Array2::from_shape_fn((3, len), |(i, j)| i * 100 + j);
        let a = Array2::from_shape_fn((1, len), |(_, j)| 1000 * j);
        let mut plan = LoopPlan::new();
        let nest = Nest::over(&mut plan, None, Output::of(&mut out), &Inputs::from((&*a,)), Outside::Written);
        nest.expect("an index").visit_rows::<(), _>(0, 1, &mut Add);
        assert!(out.indexed_iter().all(|((i, j), &sum)| sum == i * 100 + 1001 * j));
    }
}

struct Note;

impl Visit<Seen, Read> for Note {
    const REDUCES: bool = true;

    fn visit(&mut self, out: &mut Seen, (&a, &b): (&u32, &u32)) {
        out.push([a, b]);
    }
}

#[test]
fn rows_that_are_read_are_visited_in_copies() {
    struct Change;
    impl Visit<u32, (u8, u16)> for Change {
        const READS: bool = true;

        fn visit(&mut self, out: &mut u32, (&a, &b): (&u8, &u16)) {
            if !out.is_multiple_of(3) {
                *out = 1000 * *out + 10 * u32::from(a) + u32::from(b);
            }
        }
    }
    for (width, moving) in (2..40).flat_map(|width| [0b11, 0b01, 0b10].map(|moving| (width, moving))) {
        let (a, b) = (Array1::from_iter(0..40_u8), Array1::from_iter((0..40_u16).map(|i| 3 * i)));
        let before: Vec<_> = (0..80).take(2 * width).collect();
        let mut out = Array2::from_shape_vec((2, width), before.clone()).expect("two rows");
        let part = |k: usize| if moving >> k & 1 == 1 { width } else { 1 };
        let (a, b) = (a.slice(s![..part(0)]), b.slice(s![..part(1)]));
        let (mut plan, inputs) = (LoopPlan::new(), Inputs::from((&*a, &*b)));
        let nest = Nest::over(&mut plan, None, Output::of(&mut out), &inputs, Outside::Written);
        nest.expect("an index").visit_rows::<(), _>(0, moving, &mut Change);
        for (((_, j), &after), mut expected) in out.indexed_iter().zip(before) {
            Change.visit(&mut expected, (&a[j % a.len()], &b[j % b.len()]));
            assert_eq!(after, expected, "item {j} of {width}");
        }
    }
}

#[test]
fn rows_are_reduced_in_parts() {
    for (rows, width) in [(2, PART + 1), (7, 2 * PART), (8, PART + 31), (9, 3 * PART + 1), (64, 100)] {
        let a = Array2::from_shape_fn((rows, width), |(i, j)| u32::try_from(1000 * i + j).expect("small"));
        let b = Array1::from_iter((0..width).map(|j| u32::try_from(j).expect("small")));
        let mut out = vec![Seen::new(); width];
        let (mut plan, mut empty, mut dense) =
            (LoopPlan::new(), Array2::from_elem((rows, width), ()), Loops::new());
        let nest =
            Nest::over(&mut plan, None, Output::of(&mut empty), &Inputs::from((&*a, &*b)), Outside::Given);
        let shape = [Loop { len: width, ..Loop::ONE }];
        let mut onto = nest.expect("an index").onto(&mut out, &shape, &mut dense);
        assert!(onto.reduces_rows());
        let visited = onto.visit_parts::<(), _>(&mut Note);
        assert_eq!(visited, width - width % PART);
        onto.visit_rows::<(), _>(visited, 0b11, &mut Note);
        for (j, seen) in out.iter().enumerate() {
            assert!(seen.iter().copied().eq((0..rows).map(|i| [a[[i, j]], b[j]])), "{rows} rows, item {j}");
        }
    }
}

/// Combines the products of two numbers.
struct Products;

impl Visit<u64, Read> for Products {
    const REDUCES: bool = true;

    fn visit(&mut self, out: &mut u64, items: (&u32, &u32)) {
        *out += self.make(items);
    }
}

impl Reducer<u64, Read> for Products {
    type Op = Plus;

    fn op(&self) -> Plus {
        Plus
    }

    fn make(&mut self, (&a, &b): (&u32, &u32)) -> u64 {
        u64::from(a) * u64::from(b)
    }
}

#[test]
fn lanes_are_reduced() {
    let number = |i: usize, j: usize| u32::try_from(i * 1000 + j).expect("small");
    let lens = (0..20).chain([8 * SEGMENT - 1, 8 * SEGMENT, 8 * SEGMENT + 1, 16 * SEGMENT, 16 * SEGMENT + 9]);
    for (lanes, len) in lens.filter(|&len| len > 1).flat_map(|len| [(1, len), (4, len)]) {
        let a = Array2::from_shape_fn((lanes, len), |(i, j)| number(i + 1, j));
        let row = Array2::from_shape_fn((1, len), |(_, j)| number(9, j));
        let column = Array2::from_shape_fn((lanes, 1), |(i, _)| number(3, i));
        for (b, moving) in [(&row, 0b11), (&column, 0b01)] {
            let (mut plan, mut out) = (LoopPlan::new(), Array2::from_elem((lanes, 1), 5_u64));
            let inputs = Inputs::from((&*a, &**b));
            let nest =
                Nest::over(&mut plan, Some(a.shape()), Output::of(&mut out), &inputs, Outside::AllRead);
            nest.expect("an index").visit_lanes::<(), _, 8>(moving, &mut Products);
            let b = b.broadcast((lanes, len)).expect("it goes there");
            for (i, &found) in out.iter().enumerate() {
                let products = (0..len).map(|j| u64::from(a[[i, j]]) * u64::from(b[[i, j]]));
                assert_eq!(found, 5 + products.sum::<u64>(), "lane {i} of {lanes}, {len} items");
            }
        }
    }
}

#[test]
fn nests_of_many_operands() {
    struct Six;
    impl Visit<[u32; 6], (u8, u16, u32, u8, u16, u32)> for Six {
        fn visit(&mut self, out: &mut [u32; 6], items: (&u8, &u16, &u32, &u8, &u16, &u32)) {
            let (&a, &b, &c, ..) = items;
            *out = [a.into(), b.into(), c, (*items.3).into(), (*items.4).into(), *items.5];
        }
    }
    let (row, every) = (Array1::from_iter(0..4_u32), Array1::from_iter(0..8_u16).slice_move(s![..;2]));
    let small = Array2::from_shape_fn((2, 4), |(i, j)| u8::try_from(i * 10 + j).expect("small"));
    let (one, column) = (Array1::from_elem(1, 7_u16), small.slice(s![.., 2..3]));
    let inputs = Inputs::from((&*small, &*every, &*row, &*column, &*one, &*row));
    assert_eq!(inputs.shapes(), [&[2, 4][..], &[4], &[4], &[2, 1], &[1], &[4]]);
    let (mut out, mut plan) = (Array2::from_elem((2, 4), [0; 6]), LoopPlan::new());
    let nest = Nest::over(&mut plan, None, Output::of(&mut out), &inputs, Outside::Written);
    nest.expect("an index").visit_each(&mut Six);
    for ((i, j), &seen) in out.indexed_iter() {
        let (i, j) = (number(i), number(j));
        assert_eq!(seen, [10 * i + j, 2 * j, j, 10 * i + 2, 7, j]);
    }
}

#[test]
fn which_operands_have_a_loop() {
    fn loops_of<E: Elements>() -> Vec<u8> {
        (0..=0b11_1111).filter(|&moving| E::has_loop(moving)).collect()
    }
    assert_eq!(loops_of::<()>(), [0]);
    assert_eq!(loops_of::<((),)>(), [0b0, 0b1]);
    assert_eq!(loops_of::<((), ())>(), [0b01, 0b10, 0b11]);
    // all move, or all but one
    assert_eq!(loops_of::<((), (), ())>(), [0b011, 0b101, 0b110, 0b111]);
    assert_eq!(loops_of::<((), (), (), ())>(), [0b0111, 0b1011, 0b1101, 0b1110, 0b1111]);
    assert_eq!(loops_of::<((), (), (), (), ())>(), [0b1_1111]);
    assert_eq!(loops_of::<((), (), (), (), (), ())>(), [0b11_1111]);
}

/// The elements of a block.
fn items<const DENSE: bool>(block: Block<'_, u32, DENSE>) -> Vec<Vec<u32>> {
    let item = |row, column| block.columns::<1, 1>(row, column, Plus)[0];
    let row = |row| (0..block.width()).map(|column| item(row, column)).collect();
    (0..block.rows()).map(row).collect()
}

#[test]
fn blocks_are_the_elements_along_the_loops() {
    let apply = |a: u32, b: u32| 1000 * a + b;
    let op = ClosureOp { identity: &0, op: &apply };
    for array in (0..LAYOUTS).map(|which| layout(which, number)) {
        let mut out = Array3::from_elem(array.raw_dim(), 0_u32);
        let mut plan = LoopPlan::new();
        let nest =
            Nest::sum(&mut plan, Input::of(&array), Output::of(&mut out), None).expect("an index").read();
        let mut expected = Vec::new();
        let mut walk = nest.walk(0);
        while let Some(item) = walk.next() {
            expected.push(*item.item());
        }
        let width = nest.loops().last().map_or(1, |l| l.len);
        let mut rows = expected.chunks(width);
        let mut walk = nest.walk(nest.loops().len().min(1));
        while let Some(row) = walk.next() {
            let (block, row) = (row.block(false), rows.next().expect("a row"));
            assert_eq!(items(block), [row]);
            assert_eq!(items(block.columns_from(1, 2)), [&row[1..3]]);
            assert_eq!(items(block.columns_from(width - 1, 2)), [&row[width - 1..]]);
            assert_eq!(items(block.columns_from(width + 1, 2)), [[0; 0]]);
            assert_eq!(items(block.cut(1, 2, 1)), [[row[1]], [row[2]]]);
            assert_eq!(items(block.transposed()), row.chunks(1).collect::<Vec<_>>());
            assert_eq!(block.columns::<1, 1>(0, 2, op), [row[2]]);
            assert_eq!(block.dense().is_some(), block.step == 1);
            if let Some(block) = block.dense() {
                assert_eq!(items(block), [row]);
            }
        }
        let mut rows = expected.chunks(width);
        let mut walk = nest.walk(nest.loops().len().min(2));
        while let Some(block) = walk.next().filter(|block| block.loops().len() == 2) {
            let block = block.block(true);
            let rows: Vec<_> = rows.by_ref().take(block.rows()).collect();
            assert_eq!(items(block), rows);
            let expected = [1, 2].map(|j| apply(rows[1][j], rows[2][j]));
            assert_eq!(block.columns::<2, 1>(1, 2, op), expected[1..]);
            assert_eq!(block.columns::<2, 2>(1, 1, op), expected);
            if let Some(block) = block.dense() {
                assert_eq!(block.columns::<2, 2>(1, 1, op), expected);
            }
        }
    }
}

#[test]
fn halves_are_combined() {
    let numbers: [String; 8] = array(|i| i.to_string());
    let op = ClosureOp { identity: &String::new(), op: &|a: String, b: String| a + "+" + &b + "," };
    assert_eq!(by_halves(numbers.clone(), op), "0+4,+2+6,,+1+5,+3+7,,,");
    let [a, b, c, ..] = numbers;
    assert_eq!(by_halves([a.clone(), b.clone(), c], op), "0+2,+1,");
    assert_eq!([by_halves([a.clone()], op), by_halves([a, b], op)], ["0", "0+1,"]);
}

#[test]
fn a_block_of_several_loops() {
    let array = Array::from_iter((0..48).map(number)).into_shape_with_order((2, 4, 6)).expect("48 elements");
    let (mut out, mut plan) = (Array::from_elem((2, 1, 6), 0), LoopPlan::new());
    let nest = Nest::sum(&mut plan, Input::of(&array), Output::of(&mut out), None).expect("an index").read();
    assert_eq!(nest.loops().len(), 3);
    let rows: [[u32; 24]; 2] = [0, 24].map(|i| core::array::from_fn(|j| i + number(j)));
    assert_eq!(items(nest.block(false)), [rows.concat()]);
    assert_eq!(items(nest.block(true)), rows);
    let gap = array.slice(s![.., ..3, ..]);
    let (mut out, mut plan) = (Array::from_elem((2, 1, 6), 0), LoopPlan::new());
    let nest = Nest::sum(&mut plan, Input::of(&gap), Output::of(&mut out), None).expect("an index").read();
    assert_eq!(panics(|| nest.block(false).rows()), "elements that are evenly spaced");
    assert_eq!(nest.block(true).width(), 18);
}

struct AllBut(usize);

impl AxisSelection for AllBut {
    fn contains(&self, axis: usize) -> bool {
        axis != self.0
    }
}

#[test]
fn axes_that_are_dropped() {
    let array = layout(5, number);
    let mut out = Array1::from_elem(SIZES[1], 0_u64);
    let mut plan = LoopPlan::new();
    let nest =
        Nest::sum(&mut plan, Input::of(&array), Output::of(&mut out), Some(&AllBut(1))).expect("an index");
    let mut steps = nest.walk(0);
    while let Some(step) = steps.next() {
        let item = *step.read().item();
        *step.slot() += u64::from(item);
    }
    for (sum, items) in out.iter().zip(array.axis_iter(Axis(1))) {
        assert_eq!(*sum, items.iter().map(|&item| u64::from(item)).sum::<u64>());
    }
    let sum = |shape: &[usize], dropped: usize| {
        let mut out = Array::from_elem(shape, 0_u64);
        panics(|| {
            Nest::sum(&mut LoopPlan::new(), Input::of(&array), Output::of(&mut out), Some(&Only(dropped)))
                .is_some()
        })
    };
    assert_eq!(sum(&[4, 2, 5], 3), "an output axis has the input's size or 1");
    assert_eq!(sum(&[4, 3, 5, 1], 3), "every output axis is one of the input's");
    assert_eq!(sum(&[4, 3, 5], 0), "an output axis has the input's size or 1");
}

/// Adds products of matrices, element by element.
fn product(out: &mut ArrayRef<u32, Ix3>, a: &ArrayRef<u32, Ix3>, b: &ArrayRef<u32, Ix3>, transposed: bool) {
    let (mut plan, mut room) = (LoopPlan::new(), Loops::new());
    let nest = Nest::products(&mut plan, Output::of(out), Inputs::from((a, b)), [2; 3]).expect("an index");
    let mut products = if transposed { nest.transposed(&mut room).walk(3) } else { nest.walk(3) };
    while let Some(mut nest) = products.next() {
        let [rows, _, columns] = nest.loops() else { unreachable!("three loops") };
        for (row, column) in (0..rows.len).flat_map(|row| (0..columns.len).map(move |column| (row, column))) {
            let (terms, [[slot]]) = nest.tile::<1, 1>(row, column);
            *slot += terms.map(|([x], [y])| x * y).sum::<u32>();
        }
    }
}

#[test]
fn matrices_of_a_product() {
    for (which, transposed) in (0..64).flat_map(|which| [(which, false), (which, true)]) {
        let view = |which: usize, [m, n]: [usize; 2]| {
            let base = |m, n| {
                Array::from_iter((0..number(4 * m * n)).map(|i| i % 97)).into_shape_with_order((2, 2 * m, n))
            };
            match which % 4 {
                0 => base(m, n).expect("so many").slice_move(s![.., ..m, ..]),
                1 => base(n, m).expect("so many").permuted_axes([0, 2, 1]).slice_move(s![.., .., ..;2]),
                2 => base(m, n).expect("so many").slice_move(s![..;-1, ..;-2, ..;-1]),
                _ => base(m, n).expect("so many").slice_move(s![..1, ..;2, ..]),
            }
        };
        let (a, b) = (view(which % 4, [3, 4]), view(which / 4, [4, 5]));
        let out = view(which / 16 % 3, [3, 5]);
        let mut sums = out.clone();
        product(&mut sums, &a, &b, transposed);
        for ((i, j, k), &sum) in sums.indexed_iter() {
            let at = |array: &Array3<u32>| i % array.len_of(Axis(0));
            let expected = (0..4).map(|t| a[[at(&a), j, t]] * b[[at(&b), t, k]]).sum::<u32>();
            assert_eq!(sum, out[[i, j, k]] + expected, "layouts {which}, transposed: {transposed}");
        }
    }
}

#[test]
fn matrices_of_vectors() {
    let (a, b, mut out) =
        (Array1::from_iter(0..3_u32), Array2::from_elem((3, 2), 1_u32), Array1::from_elem(2, 0_u32));
    let mut plan = LoopPlan::new();
    let nest = Nest::products(&mut plan, Output::of(&mut out), Inputs::from((&*a, &*b)), [1, 1, 2])
        .expect("an index");
    assert_eq!(nest.loops().iter().map(|l| l.len).collect::<Vec<_>>(), [1, 3, 2]);
    let mut products = nest.packed::<1, 3, 2>();
    let (row, matrix, product) = products.next().expect("a product");
    assert_eq!((row, matrix), (&[[0, 1, 2]], &[[1; 2]; 3]));
    *product = [[7, 8]];
    assert!(products.next().is_none());
    assert_eq!(out.to_vec(), [7, 8]);
    // sums of no terms are products, sums for no columns are not
    let count = |terms: usize, columns: usize| {
        let (a, b) = (Array1::from_elem(terms, 0_u32), Array2::from_elem((terms, columns), 1_u32));
        let (mut plan, mut out) = (LoopPlan::new(), Array1::from_elem(columns, 0_u32));
        Nest::products(&mut plan, Output::of(&mut out), Inputs::from((&*a, &*b)), [1, 1, 2])
            .map(|mut nest| nest.tile::<1, 1>(0, 0).0.count())
    };
    assert_eq!([count(0, 2), count(3, 2), count(3, 0)], [Some(0), Some(3), None]);
    let (a, b) = (Array1::from_elem(3, 0_u32), Array2::from_elem((4, 2), 1_u32));
    let products = || {
        Nest::products(&mut LoopPlan::new(), Output::of(&mut out), Inputs::from((&*a, &*b)), [1, 1, 2])
            .is_none()
    };
    assert_eq!(panics(products), "matrices whose sizes go together");
}

#[test]
fn operands_that_do_not_go_to_the_shape() {
    let over = |shape: &[usize], a: &[usize]| {
        let (mut out, a) = (Array2::from_elem((1, 3), 0_u8), Array::from_elem(a, 0_u8));
        Nest::over(
            &mut LoopPlan::new(),
            Some(shape),
            Output::of(&mut out),
            &Inputs::from((&*a,)),
            Outside::Given,
        )
        .map(|nest| steps(nest.loops()))
    };
    assert_eq!([over(&[4, 3], &[3]), over(&[0, 3], &[3]), over(&[2, 1, 3], &[])], [Some(12), None, Some(6)]);
    assert_eq!(panics(|| over(&[4, 3], &[2])), "an operand has the size of the shape or 1");
    assert_eq!(panics(|| over(&[4, 4], &[4])), "an operand has the size of the shape or 1");
    assert_eq!(panics(|| over(&[4, 3], &[1, 4, 3])), "no operand has more axes than the shape");
    assert_eq!(panics(|| over(&[3], &[3])), "no operand has more axes than the shape");
}

/// Calls `with` with a nest over four rows of six elements. The outer of its two loops is reduced. The first input is
/// in C order, the second in F order.
fn with_nest<R>(with: impl FnOnce(Nest<'_, u32, Read>) -> R) -> R {
    let (a, b) = (Array2::from_elem((4, 6), 1), Array2::from_elem((6, 4), 2).reversed_axes());
    let (mut out, mut plan) = (Array1::from_elem(6, 0), LoopPlan::new());
    let inputs = Inputs::from((&*a, &*b));
    with(
        Nest::over(&mut plan, Some(&[4, 6]), Output::of(&mut out), &inputs, Outside::Given)
            .expect("an index"),
    )
}

#[test]
fn parts_that_do_not_exist() {
    let cut =
        |place, at| panics(|| with_nest(|nest| nest.cut(place, at, &mut [Vec::new(), Vec::new()]).len()));
    assert_eq!(cut(0, 2), "parts that write different elements");
    assert_eq!([cut(1, 0), cut(1, 6)], ["a part of the loop"; 2]);
    cut(1, 7);
    cut(2, 1);
    let part = |from, len| {
        panics(|| with_nest(|nest| nest.read().part(0, from, len, &mut Loops::new()).loops().len()))
    };
    assert_eq!(
        [part(0, 5), part(4, 1), part(2, 3), part(5, 1), part(1, 0), part(1, usize::MAX)],
        ["a part of the loop"; 6]
    );
    let group = |take| panics(|| with_nest(|nest| nest.grouped(0, take, &mut Loops::new()).loops().len()));
    assert_eq!([group(0), group(5)], ["groups of the loop's steps"; 2]);
    let class = panics(|| with_nest(|nest| nest.ordered(|_, _| 3, &mut Loops::new()).loops().len()));
    assert_eq!(class, "three classes");
    panics(|| with_nest(|nest| nest.walk(3).next().is_some()));
}

#[test]
fn tiles_and_copies_that_do_not_fit() {
    let onto = |nest: &Nest<'_, u32, Read>, len, tile: &[Loop]| {
        nest.onto(&mut vec![0_u8; len], tile, &mut Loops::new()).loops().len()
    };
    let tile = |len, inner| {
        panics(|| with_nest(|nest| onto(&nest, len, &nest.loops()[nest.loops().len() - inner..])))
    };
    assert_eq!([tile(5, 1), tile(23, 2), tile(0, 0)], ["room for an element of each index"; 3]);
    tile(100, 3);
    let sizes = |sizes: [usize; 2]| {
        let tile = sizes.map(|len| Loop { len, ..Loop::ONE });
        panics(|| with_nest(|nest| onto(&nest, 100, &tile)))
    };
    assert_eq!([sizes([4, 5]), sizes([2, 6])], ["an element of the tile for each index"; 2]);
    let gathered = |copied, inner| {
        let gather = |nest: Nest<'_, u32, Read>| nest.gathered(copied, [0, inner], &mut (), |(), _| {});
        panics(|| with_nest(gather))
    };
    let messages = [gathered(0b00, 1), gathered(0b01, 1), gathered(0b11, 2)];
    assert_eq!(messages, ["operands that are used as they lie"; 3]);
    gathered(0b11, 3);
    // elements that are not numbers
    let a = Array1::from_elem(3, 'a');
    let (mut out, mut plan) = (a.clone(), LoopPlan::new());
    let nest = Nest::over(&mut plan, None, Output::of(&mut out), &Inputs::from((&*a,)), Outside::Given)
        .expect("an index");
    let of_chars = panics(|| nest.gathered(1, [0, 1], &mut (), |(), _| {}));
    assert_eq!(of_chars, "plain numbers, of a block that fits");
}

#[test]
fn rows_of_another_kind() {
    struct Nothing;
    impl<E: Elements> Visit<u32, E> for Nothing {
        fn visit(&mut self, _: &mut u32, _: E::Refs<'_>) {}
    }
    let rows = |moving| panics(|| with_nest(|mut nest| nest.visit_rows::<(), _>(0, moving, &mut Nothing)));
    // the second input has a stride
    assert_eq!([0b00, 0b01, 0b10, 0b11].map(rows), ["a row of that kind"; 4]);
    let (a, mut out, mut plan) = (Array1::from_elem(6, 1_u32), Array1::from_elem(6, 0_u32), LoopPlan::new());
    let mut nest = Nest::over(&mut plan, None, Output::of(&mut out), &Inputs::from((&*a,)), Outside::Given)
        .expect("an index");
    assert_eq!(panics(|| nest.visit_rows::<(), _>(0, 0, &mut Nothing)), "a row of that kind");
    let mut out = Array1::from_elem(12, 0_u32);
    let mut out = out.slice_mut(s![..;2]);
    let mut plan = LoopPlan::new();
    let mut nest = Nest::over(&mut plan, None, Output::of(&mut out), &Inputs::from((&*a,)), Outside::Given)
        .expect("an index");
    assert_eq!(nest.loops()[0].strides[..2], [2, 1]);
    assert_eq!(panics(|| nest.visit_rows::<(), _>(0, 1, &mut Nothing)), "a row of that kind");
    let three = |each: bool| {
        let mut room = Loops::new();
        with_nest(|nest| {
            let mut nest = nest.grouped(0, 2, &mut room);
            if each {
                nest.visit_each(&mut Nothing);
            } else {
                nest.visit_rows::<(), _>(0, 0b11, &mut Nothing);
            }
        });
    };
    assert!([true, false].iter().all(|&each| panics(|| three(each)).contains("up to two loops")));
}

#[test]
fn parts_of_blocks_that_do_not_exist() {
    let slice: Vec<_> = (0..12_u32).collect();
    let row = Block::from(&slice[..]);
    let rows = row.cut(0, 3, 4);
    assert_eq!(items(rows), slice.chunks(4).collect::<Vec<_>>());
    assert_eq!(
        [panics(|| rows.cut(0, 1, 1).rows()), panics(|| row.cut(13, 1, 0).rows())],
        ["part of a row"; 2]
    );
    let cut = |(from, rows, width)| panics(|| row.cut(from, rows, width).rows());
    assert_eq!([(1, 3, 4), (0, usize::MAX, 2), (12, 1, 1)].map(cut), ["rows within the row"; 3]);
    let columns = |row, column| rows.columns::<2, 3>(row, column, Plus);
    assert_eq!(columns(1, 1), [14, 16, 18]);
    let without_rows = |row| panics(|| columns(row, 0).len());
    assert_eq!([2, 4, usize::MAX].map(without_rows), ["rows of the block"; 3]);
    let without_columns = |column| panics(|| columns(0, column).len());
    assert_eq!([2, usize::MAX].map(without_columns), ["columns of the block"; 2]);
    assert_eq!(items(rows.rows_from(1, 9)), [[4, 5, 6, 7], [8, 9, 10, 11]]);
    assert_eq!(
        [rows.rows_from(2, 1).rows(), rows.rows_from(3, 1).rows(), rows.rows_from(9, 1).rows()],
        [1, 0, 0]
    );
    let mut copies = [0; 3];
    row.columns_from(4, 3).clone_to(&mut copies);
    assert_eq!(copies, [4, 5, 6]);
}

#[test]
fn packed_matrices() {
    // (batches of `a`, of `b` and of the result), with a gap between the matrices of `a`
    let a = Array::from_shape_fn((4, 1, 2, 3), |(i, _, j, k)| number(100 * i + 10 * j + k));
    let a = a.slice(s![..;2, .., .., ..]);
    let b = Array::from_shape_fn((3, 3, 2), |(i, j, k)| number(7 * i + 3 * j + k));
    for reversed in [false, true] {
        let (mut out, mut plan) = (Array::from_elem((2, 3, 2, 2), 0), LoopPlan::new());
        let b = if reversed { b.slice(s![..;-1, .., ..]) } else { b.view() };
        let nest = Nest::products(&mut plan, Output::of(&mut out), Inputs::from((&*a, &*b)), [2; 3])
            .expect("an index");
        let (mut products, mut count) = (nest.packed::<2, 3, 2>(), 0);
        while let Some((a, b, out)) = products.next() {
            for (i, k) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                out[i][k] = (0..3).map(|j| a[i][j] * b[j][k]).sum();
            }
            count += 1;
        }
        assert_eq!(count, 6);
        for ((i, j, r, c), &sum) in out.indexed_iter() {
            let expected: u32 = (0..3).map(|t| a[[i, 0, r, t]] * b[[j, t, c]]).sum();
            assert_eq!(sum, expected, "product {i}, {j}");
        }
    }
    // a gap in either matrix
    let (mut out, mut plan) = (Array2::from_elem((2, 2), 0), LoopPlan::new());
    let wide = Array2::from_elem((2, 4), 1_u32);
    let narrow = wide.slice(s![.., ..2]);
    let full = Array2::from_elem((2, 2), 1_u32);
    for (a, b) in [(narrow, full.view()), (full.view(), narrow), (full.t(), full.view())] {
        plan.clear();
        let nest = Nest::products(&mut plan, Output::of(&mut out), Inputs::from((&*a, &*b)), [2; 3])
            .expect("an index");
        assert_eq!(panics(|| assert!(nest.packed::<2, 2, 2>().next().is_none())), "matrices without gaps");
    }
}

#[test]
fn dense_blocks() {
    let array = Array1::from_iter(0..12_u32);
    let (mut out, mut plan) = (Array1::from_elem(1, 0_u32), LoopPlan::new());
    let nest = Nest::sum(&mut plan, Input::of(&array), Output::of(&mut out), None).expect("an index").read();
    let a = nest.block(false).cut(0, 3, 4);
    let b = a.transposed();
    assert!(b.dense().is_none() && b.transposed().dense().is_some());
    // a single column is dense, whatever its stride
    let column = a.columns_from(2, 1).dense().expect("one column");
    assert_eq!(items(column), [[2], [6], [10]]);
    assert_eq!(column.columns::<3, 1>(0, 0, Plus), [18]);
    assert_eq!(items(b.columns_from(1, 1).dense().expect("one column")), [[4], [5], [6], [7]]);
}

type ProductNest<'a> = Nest<'a, u32, (u32, u32)>;

#[test]
fn tiles_of_a_product() {
    let a = Array2::from_shape_vec((3, 4), (0..12_u32).collect()).expect("twelve");
    let b = Array2::from_shape_vec((4, 3), (0..12_u32).collect()).expect("twelve");
    let b = b.slice(s![.., ..2]);
    let with = |with: &dyn Fn(ProductNest<'_>)| {
        let (mut out, mut plan) = (Array2::from_elem((3, 4), 0), LoopPlan::new());
        let mut out = out.slice_mut(s![.., ..2]);
        with(
            Nest::products(&mut plan, Output::of(&mut out), Inputs::from((&*a, &*b)), [2; 3])
                .expect("an index"),
        );
    };
    with(&|mut nest| {
        let (terms, slots) = nest.tile::<2, 2>(1, 0);
        let expected = [([4, 8], [0, 1]), ([5, 9], [3, 4]), ([6, 10], [6, 7]), ([7, 11], [9, 10])];
        assert_eq!(terms.collect::<Vec<_>>(), expected);
        *slots[1] = [7, 8];
        assert_eq!(nest.tile::<1, 1>(2, 1).1, [&[8]]);
        let mut room = Loops::new();
        let mut transposed = nest.transposed(&mut room);
        let terms: Vec<_> = transposed.tile::<2, 1>(0, 1).0.collect();
        assert_eq!(terms, [0, 1, 2, 3].map(|j| ([3 * j, 3 * j + 1], [4 + j])));
        assert_eq!(transposed.tile::<1, 1>(1, 2).1, [&[8]]);
        assert_eq!(panics(|| transposed.tile::<1, 2>(0, 0).0.count()), "adjacent columns");
        assert_eq!(panics(|| transposed.lanes_of(0, 0).len()), "adjacent terms");
    });
    let tile = |row, column| with(&|mut nest| assert_eq!(nest.tile::<2, 2>(row, column).0.count(), 4));
    assert_eq!([2, usize::MAX].map(|row| panics(|| tile(row, 0))), ["rows of the product"; 2]);
    assert_eq!([1, usize::MAX].map(|column| panics(|| tile(0, column))), ["columns of the product"; 2]);
    // the result has gaps between its rows
    let packed = |nest: ProductNest<'_>| assert!(nest.packed::<3, 4, 2>().next().is_none());
    assert_eq!(panics(|| with(&packed)), "matrices without gaps");
    let others = |nest: ProductNest<'_>| assert!(nest.packed::<2, 4, 3>().next().is_none());
    assert_eq!(panics(|| with(&others)), "matrices without gaps");
    let rows = |nest: ProductNest<'_>| {
        let mut rows = nest.walk(2);
        let mut row = rows.next().expect("a row");
        assert_eq!(row.tile::<1, 1>(0, 0).0.count(), 0);
    };
    assert!(panics(|| with(&rows)).contains("three loops"));
}

#[test]
fn lanes_and_views_of_a_product() {
    let a = Array2::from_shape_vec((2, 3), (0..6_u32).collect()).expect("six");
    let (b, mut out, mut plan) = (a.t(), Array2::from_elem((2, 2), 9), LoopPlan::new());
    let nest =
        Nest::products(&mut plan, Output::of(&mut out), Inputs::from((&*a, &*b)), [2; 3]).expect("an index");
    assert_eq!(nest.lanes_of(1, 0), [[3, 4, 5], [0, 1, 2]]);
    assert_eq!(
        [[2, 0], [0, 2]].map(|[row, column]| panics(|| nest.lanes_of(row, column).len())),
        ["an element of the product"; 2]
    );
    let (views, mut product) = nest.views();
    assert_eq!(views, [a.view(), b]);
    product[[1, 0]] = 7;
    assert_eq!(out, ndarray::array![[9, 9], [7, 9]]);
    let reversed = a.slice(s![..;-1, ..]);
    let message = panics(|| {
        let nest = Nest::products(&mut plan, Output::of(&mut out), Inputs::from((&*reversed, &*b)), [2; 3]);
        nest.expect("an index").views().0.len()
    });
    assert_eq!(message, "strides that are not negative");
}

#[test]
fn slots_with_values() {
    for (step, of_values) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let (a, mut out) = (Array1::from_elem(5, 0_u16), Array1::from_elem(5 * step, 0_u16));
        let (mut plan, mut every) = (LoopPlan::new(), out.slice_mut(s![..;step]));
        let nest = Nest::sum(&mut plan, Input::of(&a), Output::of(&mut every), None).expect("an index");
        let mut values: Vec<_> = (0..9).map(|i| i / of_values + 1).collect();
        nest.each_slot(&mut values, of_values.into(), |slot, value| *slot += core::mem::take(value));
        assert_eq!(values.iter().filter(|&&value| value == 0).count(), 5, "each value is used once");
        let values: Vec<_> = out.iter().step_by(step).copied().collect();
        assert_eq!((values, out.sum()), (vec![1, 2, 3, 4, 5], 15));
    }
    let (a, mut out, mut plan) = (Array1::from_elem(1, 0_u8), Array1::from_elem(1, 0_u8), LoopPlan::new());
    let nest = Nest::sum(&mut plan, Input::of(&a), Output::of(&mut out), None).expect("an index");
    nest.each_slot(&mut [7, 8], 1, |slot, value| *slot = *value);
    assert_eq!(out[0], 7);
}

#[test]
fn lanes_of_sums() {
    let x = Array2::from_shape_fn((3, 4), |(i, j)| 10 * i + j);
    // without gaps between lanes and between outputs, and with either
    for (width, step) in [(4, 1), (3, 1), (4, 2), (4, -1_isize), (3, -2)] {
        for is_transposed in [false, true] {
            let (lanes, mut room, mut out) = (x.slice(s![.., ..width]), [Loop::ONE; 2], [9_usize; 6]);
            let mut slots = ArrayViewMut1::from(&mut out[..3 * step.unsigned_abs()]);
            slots.slice_collapse(s![..;step]);
            let (view, axis) = if is_transposed { (lanes.t(), 0) } else { (lanes.view(), 1) };
            let (input, mut output) = (Input::of(&view), Output::of(&mut slots));
            let nest =
                Nest::small_sum(&mut room, &input, &mut output, Some(&Only(axis))).expect("few elements");
            let nest = match nest.together(|width| width == 4) {
                Ok((all, found, slots)) => {
                    assert_eq!((found, width, step), (4, 4, 1), "lanes without gaps");
                    assert!(all.iter().eq(lanes) && slots.len() == 3);
                    continue;
                }
                Err(nest) => nest,
            };
            assert_ne!((width, step), (4, 1));
            let (mut each, mut seen) = (nest.lanes(), Vec::new());
            while let Some((lane, slot)) = each.next() {
                *slot = lane[0];
                seen.push(lane.to_vec());
            }
            assert!(lanes.rows().into_iter().map(|row| row.to_vec()).eq(seen));
            assert!(slots.iter().eq(x.column(0)));
        }
    }
}

#[test]
fn channels_of_sums() {
    let x = Array3::from_shape_fn((2, 5, 3), |(i, j, k)| 100 * i + 10 * j + k);
    for step in [1, 2_isize] {
        let (mut plan, mut out) = (LoopPlan::new(), Array3::from_elem((2, 1, 3 * step.unsigned_abs()), 0));
        let mut every = out.slice_mut(s![.., .., ..;step]);
        let nest = Nest::sum(&mut plan, Input::of(&x), Output::of(&mut every), None);
        let mut channels = nest.expect("an index").channels();
        let mut seen = Vec::new();
        while let Some((rows, slots)) = channels.next() {
            seen.push(rows.to_vec());
            slots.each_slot(&mut rows.to_vec(), 1, |slot, &mut first| *slot = first);
        }
        assert!(x.outer_iter().map(|image| image.iter().copied().collect::<Vec<_>>()).eq(seen));
        assert_eq!(every, x.slice(s![.., ..1, ..]));
    }
}

#[test]
fn lanes_and_channels_that_do_not_exist() {
    let (x, mut out) = (Array3::from_elem((2, 5, 3), 0_u8), Array3::from_elem((2, 1, 3), 0_u8));
    let mut message = |x: ArrayView3<'_, u8>, with: fn(Nest<'_, u8, (u8,)>)| {
        let mut plan = LoopPlan::new();
        panics(|| {
            let nest = Nest::sum(&mut plan, Input::of(&x), Output::of(&mut out), None);
            with(nest.expect("an index"));
        })
    };
    let lanes: fn(Nest<'_, u8, (u8,)>) = |nest| {
        let mut rows = nest.walk(2);
        rows.next().expect("an index").lanes();
    };
    assert_eq!(message(x.view(), lanes), "lanes of adjacent elements");
    let gap = Array3::from_elem((2, 5, 4), 0_u8);
    let gap = gap.slice(s![.., .., ..3]);
    assert_eq!(message(gap, |nest| _ = nest.channels()), "rows without gaps, of outputs that differ");
}

#[test]
fn slots_are_adjacent_or_none() {
    with_nest(|nest| {
        let row = nest.slots().ok().expect("adjacent sums");
        row.copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    });
    let mut out = Array2::from_elem((2, 3), 0_u32);
    let a = out.clone();
    let mut columns = out.view_mut().reversed_axes();
    let mut plan = LoopPlan::new();
    let at = a.t();
    let inputs = Inputs::from((&*at,));
    let nest = Nest::over(&mut plan, None, Output::of(&mut columns), &inputs, Outside::Given);
    assert!(nest.expect("an index").slots().is_err());
}
