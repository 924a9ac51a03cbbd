//! Copies of views in any layout, of elements of several sizes.

use crate::check::{Verdict, agreed, assert_array, panics, stretches};
use crate::input::Faults;
use crate::numbers::{Counted, Number, balanced, change, unwinding};
use crate::ranks::ranked;
use common::{Bytes, Choices, Layout, Strided, aligned_right, read_at};
use ndarray::{ArrayView, Dimension};
use ndarray_broadcast::prelude::*;
use std::fmt::Debug;

pub fn run(data: &[u8]) {
    let mut input = Bytes::new(data);
    match input.below(8) {
        0 => case(&mut input, |place| place as u8),
        1 => case(&mut input, |place| place as f32),
        2 | 3 => case(&mut input, |place| [place as u8, 1, 2]),
        4 => case(&mut input, |place| place.to_string()),
        5 => balanced(|| case(&mut input, |place| Counted::of(place as i64))),
        6 => panicking(&mut input),
        _ => too_large(&mut input),
    }
}

fn case<A: Clone + PartialEq + Debug>(input: &mut Bytes<'_>, value: impl Fn(usize) -> A + Copy) {
    let whole = input.small_shape(5, 4096);
    let shape = input.operand(&whole);
    let layout = Layout::to_read(input, &shape);
    laid_out(input, layout, whole, value);
}

/// Copies of an array in a layout, to arrays that mostly have the shape `whole`.
pub(crate) fn laid_out<A: Clone + PartialEq + Debug>(
    input: &mut Bytes<'_>,
    layout: Layout,
    whole: Vec<usize>,
    value: impl Fn(usize) -> A + Copy,
) {
    let source = Strided::new(layout, value);
    let fixed = input.one_in(2);
    let elements: Vec<A> = source.elements().cloned().collect();
    ranked!(source.view(), fixed, [2 Ix2], view => copied(&view, &elements));
    let out = if input.one_in(8) { input.operand(&whole) } else { whole };
    let out = Strided::new(Layout::to_write(input, &out), |place| value(place + 7));
    let expected = onto(&source, out.shape());
    let mut after = out.clone();
    let result = source.view().materialize_into(&mut after.view_mut());
    match agreed(result, &expected) {
        Some(((), expected)) => out.assert_became(&after, expected.iter().cloned()),
        None => out.assert_became(&after, out.elements().cloned()),
    }
}

fn copied<A: Clone + PartialEq + Debug, D: Dimension>(view: &ArrayView<'_, A, D>, elements: &[A]) {
    let copy = view.materialize();
    assert_array(&copy, view.shape(), elements);
    assert!(copy.is_standard_layout());
}

/// The elements that an output gets.
fn onto<A: Clone>(source: &Strided<A>, out: &[usize]) -> Verdict<Vec<A>> {
    if source.ndim() > out.len() {
        return Err("TooFewAxes");
    }
    let places = aligned_right(source.ndim(), out.len());
    if !stretches(source.shape(), &places, out) {
        return Err("Incompatible");
    }
    let read = |index: Vec<usize>| source.at(&read_at(&index, source.shape(), &places)).clone();
    Ok(common::indices(out).into_iter().map(read).collect())
}

/// A `clone` that panics.
fn panicking(input: &mut Bytes<'_>) {
    let whole = input.small_shape(4, 200);
    let shape = input.operand(&whole);
    let source = Strided::new(Layout::to_read(input, &shape), |place| Counted::of(place as i64));
    let count = input.below(50);
    let forgotten = change(|| _ = unwinding(count, || drop(source.view().materialize())));
    assert!((0..=count as i64).contains(&forgotten));
    let mut out = Strided::new(Layout::to_write(input, &whole), |place| Counted::of(place as i64 + 7));
    balanced(|| _ = unwinding(count, || drop(source.view().materialize_into(&mut out.view_mut()))));
    assert!(out.elements().all(|element| element.number() >= 0));
}

/// A view that is larger than memory cannot be copied, and is not half copied.
fn too_large(input: &mut Bytes<'_>) {
    let source = Strided::new(Layout::plain(&[1]), |_| 1_u64);
    let sizes = [1 << 60, 1 << 61, (1 << 62) - 1, 1 << 31, 1 << 30, 1, 0];
    let shape = [input.pick(&sizes), input.pick(&sizes)];
    let Ok(view) = source.view().into_broadcast_to(shape) else { return };
    let bytes = shape.iter().try_fold(8_usize, |bytes, &size| bytes.checked_mul(size));
    let fits = shape.contains(&0) || bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if !fits || bytes == Some(0) {
        assert_eq!(panics(|| drop(view.materialize())), !fits);
    }
}
