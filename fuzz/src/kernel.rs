//! Arrays that are large enough, and laid out so, that every part of the kernel runs.

use crate::check::{assert_array, stretches};
use crate::input::Faults;
use crate::numbers::{Counted, Number, balanced};
use crate::{batch, copies, maps, sums};
use common::{
    Bytes, Choices, Layout, Strided, aligned_right, element, indices, read_at, scrambled, without_axes,
};
use ndarray::{Array1, Array2, Array3, Ix2, ShapeBuilder, Zip, s};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused};

pub fn run(data: &[u8]) {
    let mut input = Bytes::new(data);
    let input = &mut input;
    let kind = input.byte();
    match kind % 14 {
        _ if kind >= 252 => maps_on_threads(input),
        _ if kind >= 250 => products_on_threads(input),
        _ if kind >= 246 => long_products(input),
        _ if kind >= 244 => balanced(|| distances::<Counted>(input)),
        _ if kind >= 238 => distances::<f32>(input),
        0 => long_sums::<f32>(input, 40_000),
        1 => long_sums::<f64>(input, 20_000),
        2 => long_sums::<i128>(input, 20_000),
        3 => balanced(|| long_sums::<Counted>(input, 3000)),
        4 => reductions::<i64>(input, 8000),
        5 | 6 => several(input),
        7 | 8 => copied(input),
        9 | 10 => products(input),
        11 => on_threads(input),
        12 => reductions::<i32>(input, 8000),
        _ => balanced(|| reductions::<Counted>(input, 3000)),
    }
}

fn long_sums<A: Number>(input: &mut Bytes<'_>, room: usize) {
    let shape = input.long_shape(room);
    let layout = Layout::long(input, &shape);
    sums::laid_out::<A>(input, layout);
}

/// Maps and sums of some arrays of one joint shape.
fn several(input: &mut Bytes<'_>) {
    let whole = input.long_shape(8000);
    let count = 1 + input.below(3);
    let layouts: Vec<Layout> = (0..count)
        .map(|_| {
            let shape = input.operand(&whole);
            Layout::long(input, &shape)
        })
        .collect();
    maps::laid_out(input, &layouts);
}

fn copied(input: &mut Bytes<'_>) {
    let whole = input.long_shape(20_000);
    let shape = input.operand(&whole);
    let layout = Layout::long(input, &shape);
    match input.below(6) {
        0 => copies::laid_out(input, layout, whole, |place| place as u8),
        1 => copies::laid_out(input, layout, whole, |place| place as u16),
        2 => copies::laid_out(input, layout, whole, |place| place as f32),
        3 => copies::laid_out(input, layout, whole, |place| place as f64),
        4 => copies::laid_out(input, layout, whole, |place| place as u128),
        _ => copies::laid_out(input, layout, whole, |place| [place as u8, 1, 2]),
    }
}

/// Products of sizes that have loops of their own, and of sizes that are the library's.
fn products(input: &mut Bytes<'_>) {
    let n = input.pick(&[2, 3, 4, 6]);
    let sizes = match input.below(5) {
        0 => [n, n, n],
        1 => [n, n, 1],
        2 => [1, n, 1],
        3 => [1 + input.below(6), 16 + input.below(40), 1 + input.below(6)],
        // few more than the library takes: the model multiplies element by element
        _ => std::array::from_fn(|_| 41 + input.below(3)),
    };
    batch::ops::products_of(input, sizes);
}

/// Products of vectors whose terms are more than one pairwise sum adds, and of matrices of many terms.
fn long_products(input: &mut Bytes<'_>) {
    let terms = input.pick(&[64, 65, 300, 600, 1024, 1025, 2100, 3000]);
    let sizes = match input.below(3) {
        0 => [1 + input.below(3), terms, 1],
        1 => [1, terms, 1 + input.below(3)],
        _ => [1 + input.below(5), terms, 1 + input.below(9)],
    };
    batch::ops::products_of(input, sizes);
}

/// A product of matrices that is worth several threads, and one of many batches: the same on one.
fn products_on_threads(input: &mut Bytes<'_>) {
    let (batches, rows) = if input.one_in(2) { (40, 20) } else { (1, 200 + input.below(50)) };
    let (terms, columns) = (90 + input.below(40), 130 + input.below(9));
    let number = |i: usize, j: usize, k: usize| scrambled((i * 7919 + j * 104_729 + k * 31) as i64);
    let a = Array3::from_shape_fn((batches, rows, terms), |(i, j, k)| number(i, j, k));
    let b = Array3::from_shape_fn((batches, terms, columns), |(i, j, k)| number(k, i, j));
    let (a, b) = (a.batch::<Ix2>().expect("matrices"), b.batch::<Ix2>().expect("matrices"));
    assert_eq!(a.par().matmul(&b), a.matmul(&b));
}

/// Maps that are worth several threads: a new array, and one that is there.
fn maps_on_threads(input: &mut Bytes<'_>) {
    let columns = input.pick(&[3, 64, 130, 520]);
    let rows = (1 << 19) / columns + 1 + input.below(40);
    let array = Array2::from_shape_fn((rows, columns), |(i, j)| (i * 31 + j) as u16);
    let row = Array1::from_iter((0..columns).map(|j| j as u16));
    let x = if input.one_in(2) { array.view() } else { array.slice(s![..;-1, ..]) };
    let add = |x: &u16, y: &u16| x.wrapping_add(*y);
    let map = broadcast_map((&x, &row).par(), add).expect("shapes that go together");
    let expected = Zip::from(&x).and_broadcast(&row).map_collect(add);
    assert_eq!(map, expected);
    let mut out = Array2::zeros((rows, columns).set_f(input.one_in(2)));
    broadcast_apply(&mut out, (&x, &row).par(), |out: &mut u16, x, y| *out = add(x, y)).expect("as above");
    assert_eq!(out, expected);
}

/// Other reductions than sums, of an array and of what a closure makes of two.
fn reductions<A: Number>(input: &mut Bytes<'_>, room: usize) {
    let least = || A::of(i64::from(i32::MIN));
    let difference = |a: &A, b: &A| A::of(a.number() - b.number());
    let larger = |a: A, b: A| if a.number() < b.number() { b } else { a };
    let shape = input.long_shape(room);
    let number = |place: usize| A::of(scrambled(place as i64));
    let a = Strided::new(Layout::long(input, &shape), number);
    let b = input.operand(&shape);
    let b = Strided::new(Layout::long(input, &b), number);
    let axes: Vec<usize> = (0..shape.len()).filter(|_| input.one_in(2)).collect();
    let places = without_axes(shape.len(), &axes);
    let left: Vec<usize> = places.iter().map(|&axis| shape[axis]).collect();
    let mut largest = vec![least(); left.iter().product()];
    for (index, number) in indices(&shape).iter().zip(a.elements()) {
        let largest = &mut largest[element(&read_at(index, &left, &places), &left)];
        *largest = larger(largest.clone(), number.clone());
    }
    let result = a.view().reduce_axes(&axes, least(), larger).expect("axes of the array");
    assert_array(&result, &left, &largest);
    let of_b = aligned_right(b.ndim(), shape.len());
    if !stretches(b.shape(), &of_b, &shape) {
        return;
    }
    let target: Vec<usize> = input.operand(&shape);
    let places = aligned_right(target.len(), shape.len());
    if !stretches(&target, &places, &shape) {
        return;
    }
    let mut largest = vec![least(); target.iter().product()];
    for (index, number) in indices(&shape).iter().zip(a.elements()) {
        let other = b.at(&read_at(index, b.shape(), &of_b));
        let largest = &mut largest[element(&read_at(index, &target, &places), &target)];
        *largest = larger(largest.clone(), difference(number, other));
    }
    let result =
        fused((a.view(), b.view()), difference).reduce_to(&target, least(), larger).expect("a target");
    assert_array(&result, &target, &largest);
}

/// Sums over the coordinates of all pairs of some points and others, or over other axes too. Such lanes are short, and one operand
/// is read again and again.
fn distances<A: Number>(input: &mut Bytes<'_>) {
    let [points, others, coordinates] = [40, 70, 34].map(|most| 1 + input.below(most));
    let outer = if input.one_in(4) { 2 } else { 1 };
    let whole = [outer, points, others, coordinates];
    let number = |place: usize| A::of(scrambled(place as i64) % 10);
    let shapes = [[outer, points, 1, coordinates], [1, 1, others, coordinates]];
    let [a, b] = shapes.map(|shape| Strided::new(Layout::long(input, &shape), number));
    let mut target = [outer, points, others, 1];
    if input.one_in(4) {
        target[input.below(3)] = 1;
    }
    let square = |a: &A, b: &A| {
        let difference = a.number() - b.number();
        A::of(difference * difference)
    };
    let places = [0, 1, 2, 3];
    let squares = indices(&whole).into_iter().map(|index| {
        let [a, b] = [&a, &b].map(|array| array.at(&read_at(&index, array.shape(), &places)));
        square(a, b).number()
    });
    let expected: Vec<A> = common::sums(&whole, squares, &target, &places).into_iter().map(A::of).collect();
    let pairs = fused((a.view(), b.view()), square);
    for sums in [pairs.sum_to(target), pairs.par().sum_to(target)] {
        assert_array(&sums.expect("a target"), &target, &expected);
    }
}

/// A sum that is worth several threads: the same to the last bit.
fn on_threads(input: &mut Bytes<'_>) {
    let (outer, columns) = (1 + input.below(3), input.pick(&[3, 64, 130, 520]));
    let rows = (1 << 19) / (outer * columns) + 1 + input.below(40);
    let whole = [outer, rows, columns];
    let numbers: Vec<i64> = (0..1009).map(scrambled).collect();
    let numbers = || numbers.iter().copied().cycle().take(outer * rows * columns);
    let array =
        Array3::from_shape_vec(whole, numbers().map(|x| x as f64).collect()).expect("as many numbers");
    // with a gap after each row, or in one piece
    let mut padded = Array3::zeros([outer, rows, columns + 1]);
    padded.slice_mut(s![.., .., ..columns]).assign(&array);
    let x = if input.one_in(2) { array.view() } else { padded.slice(s![.., .., ..columns]) };
    let axis = input.below(3);
    let (one, several) = (x.sum_axes(axis), x.par().sum_axes(axis));
    let (one, several) = (one.expect("an axis"), several.expect("an axis"));
    assert_eq!(one.map(|sum| sum.to_bits()), several.map(|sum| sum.to_bits()));
    let places = without_axes(3, &[axis]);
    let left: Vec<usize> = places.iter().map(|&axis| whole[axis]).collect();
    let expected: Vec<f64> =
        common::sums(&whole, numbers(), &left, &places).iter().map(|&sum| sum as f64).collect();
    assert_array(&one, &left, &expected);
}
