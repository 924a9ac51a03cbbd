//! The naive model: one index after the other, with rules that do not use the crate.

use ndarray::{Array, ArrayD, ArrayRef, Dimension, IxDyn};
use ndarray_broadcast::BroadcastError;
use std::collections::BTreeSet;

/// Every index of an array of shape `shape`, the last axis running fastest.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &size in shape {
        all = all
            .iter()
            .flat_map(|index: &Vec<usize>| (0..size).map(move |k| [index.as_slice(), &[k]].concat()))
            .collect();
    }
    all
}

/// A small number, with a sign.
pub fn signed(number: usize) -> i64 {
    i64::try_from(number).expect("a small number")
}

/// The row-major number of the element at `index`.
pub fn element(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |number, (k, size)| number * size + k)
}

/// Whether the sizes other than 0 multiply past `isize::MAX`.
pub fn overflows(shape: &[usize]) -> bool {
    let product =
        shape.iter().filter(|&&size| size != 0).fold(1_u128, |n, &size| n.saturating_mul(size as u128));
    product > isize::MAX as u128
}

/// The joint shape, from the set of sizes at each axis, or the name of the error.
pub fn joint<S: AsRef<[usize]>>(shapes: &[S]) -> Result<Vec<usize>, &'static str> {
    let ndim = shapes.iter().map(|shape| shape.as_ref().len()).max().unwrap_or(0);
    let mut sizes = vec![BTreeSet::new(); ndim];
    for shape in shapes {
        for (from_end, &size) in shape.as_ref().iter().rev().enumerate() {
            sizes[ndim - 1 - from_end].insert(size);
        }
    }
    let mut joint = vec![];
    for mut axis in sizes {
        axis.remove(&1);
        match (axis.len(), axis.first()) {
            (0, _) => joint.push(1),
            (1, Some(&size)) => joint.push(size),
            _ => return Err("Incompatible"),
        }
    }
    if overflows(&joint) { Err("Overflow") } else { Ok(joint) }
}

/// The shape of an array of shape `shape` that is broadcast to `target`, or the name of the first error.
/// With `keeps`, -1 keeps the array's size.
pub fn resolved(shape: &[usize], target: &[i64], keeps: bool) -> Result<Vec<usize>, &'static str> {
    let new = target.len().saturating_sub(shape.len());
    if target.iter().any(|&size| size < if keeps { -1 } else { 0 }) {
        return Err("InvalidSize");
    }
    if target.len() < shape.len() {
        return Err("TooFewAxes");
    }
    if target[..new].contains(&-1) {
        return Err("PlaceholderOnNewAxis");
    }
    let own = |axis: usize| if axis < new { 1 } else { shape[axis - new] };
    let sizes = target.iter().enumerate().map(|(axis, &size)| usize::try_from(size).unwrap_or(own(axis)));
    let sizes: Vec<usize> = sizes.collect();
    if (0..sizes.len()).any(|axis| own(axis) != 1 && own(axis) != sizes[axis]) {
        return Err("Incompatible");
    }
    if overflows(&sizes) { Err("Overflow") } else { Ok(sizes) }
}

/// The places of `from` axes in a shape of `to` axes, aligned at the right.
pub fn aligned_right(from: usize, to: usize) -> Vec<usize> {
    (0..to).filter(|axis| axis + from >= to).collect()
}

/// The axes among `ndim` that are not in `axes`: the places of an array that is repeated along `axes`.
pub fn without_axes(ndim: usize, axes: &[usize]) -> Vec<usize> {
    (0..ndim).filter(|axis| !axes.contains(axis)).collect()
}

/// The places of `broadcast_in_dim`, if they are different axes of `shape` and `from` stretches to their sizes.
pub fn in_dim_places(from: &[usize], shape: &[usize], dims: &[i64]) -> Option<Vec<usize>> {
    let places: Vec<usize> = dims.iter().map(|&dim| usize::try_from(dim)).collect::<Result<_, _>>().ok()?;
    let distinct: BTreeSet<usize> = places.iter().copied().collect();
    let fits =
        |(&size, &place): (&usize, &usize)| shape.get(place).is_some_and(|&to| size == 1 || size == to);
    let ok = distinct.len() == from.len() && places.len() == from.len() && from.iter().zip(&places).all(fits);
    ok.then_some(places)
}

/// The index of the source's element that a broadcast array has at `index`. Axis `i` of the source is at `places[i]`.
pub fn read_at(index: &[usize], source_shape: &[usize], places: &[usize]) -> Vec<usize> {
    source_shape.iter().zip(places).map(|(&size, &place)| if size == 1 { 0 } else { index[place] }).collect()
}

/// For each index of an array of shape `shape`, in row-major order, the row-major number of the source's element at `read_at`.
pub fn numbers_read(
    shape: &[usize],
    source: &[usize],
    places: &[usize],
) -> impl Iterator<Item = usize> + use<> {
    // The row-major stride in the source of each axis of the array.
    let mut steps = vec![0; shape.len()];
    for (own, &place) in places.iter().enumerate().filter(|&(own, _)| source[own] != 1) {
        steps[place] = source[own + 1..].iter().product::<usize>();
    }
    let (shape, mut index, mut at) = (shape.to_vec(), vec![0; shape.len()], 0);
    (0..shape.iter().product()).map(move |_| {
        let now = at;
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += steps[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= steps[axis] * shape[axis];
            index[axis] = 0;
        }
        now
    })
}

/// The elements of an array of shape `shape` that have the same element of the source at [`read_at`], for each element of the
/// source: what a reduction combines. All are in row-major order, as `values` are.
pub fn lanes<T>(
    shape: &[usize],
    values: impl IntoIterator<Item = T>,
    source: &[usize],
    places: &[usize],
) -> Vec<Vec<T>> {
    let mut lanes: Vec<Vec<T>> = (0..source.iter().product()).map(|_| vec![]).collect();
    for (number, value) in numbers_read(shape, source, places).zip(values) {
        lanes[number].push(value);
    }
    lanes
}

/// The adjoint of the broadcast of [`read_at`].
pub fn sums(
    shape: &[usize],
    values: impl IntoIterator<Item = i64>,
    source: &[usize],
    places: &[usize],
) -> Vec<i64> {
    lanes(shape, values, source, places).iter().map(|lane| lane.iter().sum()).collect()
}

/// The position of the first element of a lane that exceeds all before it and that none after it exceeds.
pub fn extreme_at<T: Copy>(lane: &[T], exceeds: impl Fn(T, T) -> bool) -> Option<usize> {
    (0..lane.len()).reduce(|best, at| if exceeds(lane[at], lane[best]) { at } else { best })
}

/// The products of matrices, of `rows`, `terms` and `columns`, or of vectors, which are matrices of one row or column: the joint
/// batch and the elements. `multiplied` is the product of two elements.
pub fn products(
    operands: [(&[usize], &[i64]); 2],
    [rows, terms, columns]: [usize; 3],
    multiplied: fn(i64, i64) -> i64,
) -> (Vec<usize>, Vec<i64>) {
    let batch = joint(&operands.map(|(batch, _)| batch)).expect("batches that go together");
    let [left, right] = operands.map(|(own, _)| {
        numbers_read(&batch, own, &aligned_right(own.len(), batch.len())).collect::<Vec<_>>()
    });
    let mut products = vec![];
    for (left, right) in left.into_iter().zip(right) {
        let (left, right) =
            (&operands[0].1[left * rows * terms..], &operands[1].1[right * terms * columns..]);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let term = |k| multiplied(left[row * terms + k], right[k * columns + column]);
            products.push((0..terms).map(term).sum());
        }
    }
    (batch, products)
}

/// A pseudo-random number, so that sums of different elements are equal only by chance.
pub fn scrambled(number: i64) -> i64 {
    (number * number % 1009 * 31 + number * 577) % 1013 - 506
}

/// The name of the error's variant, with which its `Debug` starts.
pub fn variant(error: &BroadcastError) -> String {
    format!("{error:?}").split(':').next().unwrap_or_default().to_owned()
}

/// Asserts that `array` has the expected elements, in logical order.
pub fn assert_elements<D: Dimension>(array: &ArrayRef<i64, D>, expected: &[i64]) {
    assert_eq!(array.iter().copied().collect::<Vec<_>>(), expected);
}

/// Asserts that strides are as recorded. Those recorded as `None` are not compared.
pub fn assert_strides<A, D: Dimension>(array: &ArrayRef<A, D>, recorded: &[Option<i64>]) {
    assert_eq!(array.ndim(), recorded.len());
    for (axis, (&stride, recorded)) in array.strides().iter().zip(recorded).enumerate() {
        assert!(recorded.is_none_or(|recorded| stride as i64 == recorded), "stride {stride} of axis {axis}");
    }
}

/// The error of a broadcast, which must fail.
pub fn refused<T>(result: Result<T, BroadcastError>) -> BroadcastError {
    result.err().expect("an error")
}

/// The variant's name of a broadcast's error. The broadcast must fail.
pub fn kind<T>(result: Result<T, BroadcastError>) -> String {
    variant(&refused(result))
}

/// An array that takes no memory.
pub fn empty(shape: &[usize]) -> ArrayD<()> {
    Array::default(IxDyn(shape))
}
