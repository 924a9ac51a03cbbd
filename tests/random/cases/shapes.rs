//! The functions on shapes alone, with sizes up to the largest there are.

use crate::cases::Input;
use crate::cases::check::{agreed, panics};
use common::{Choices, joint, names, overflows, resolved, variant};
use ndarray::{IxDyn, arr0};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, broadcast_shapes, const_broadcast_shape, reduction_axes, resolve_target,
};

pub(crate) fn run(input: &mut Input<'_>) {
    match input.below(6) {
        0 | 1 => together(input),
        5 => views(input),
        2 => target(input),
        3 => in_constants(input),
        _ => axis_set(input),
    }
}

/// Mostly a small size, else one at the edge of what fits.
fn size(input: &mut Input<'_>) -> usize {
    let max = isize::MAX as usize;
    match input.below(8) {
        0..6 => input.size(),
        6 => {
            let [half, most] = [usize::BITS / 2, usize::BITS - 2];
            input.pick(&[
                usize::MAX,
                max,
                max + 1,
                max / 2,
                1 << most,
                1 << half,
                (1 << (half - 1)) + 1,
                1 << 15,
            ])
        }
        _ => input.word() as usize,
    }
}

fn shape(input: &mut Input<'_>) -> Vec<usize> {
    let ndim = if input.one_in(16) { input.below(100) } else { input.below(7) };
    (0..ndim).map(|_| size(input)).collect()
}

/// A shape that may go with another.
fn beside(input: &mut Input<'_>, shape: &[usize]) -> Vec<usize> {
    let mut other = input.operand(shape);
    if !other.is_empty() && input.one_in(6) {
        let axis = input.below(other.len());
        other[axis] = size(input);
    }
    other
}

fn together(input: &mut Input<'_>) {
    let whole = shape(input);
    let count = input.below(6);
    let mut shapes: Vec<Vec<usize>> = (0..count).map(|_| beside(input, &whole)).collect();
    let expected = joint(&shapes);
    let found = broadcast_shapes(&shapes);
    let together = agreed(found.clone(), &expected);
    if let Some((found, expected)) = together {
        assert_eq!(&found, expected);
    }
    input.shuffle(&mut shapes);
    let again = broadcast_shapes(&shapes);
    assert_eq!(again.clone().ok(), found.clone().ok());
    assert_eq!(again.is_err(), found.is_err());
    if let Ok(joint) = found {
        for shape in &shapes {
            let repeated = reduction_axes(shape, &joint);
            // sizes that no array can have are none to reduce over
            if joint.iter().all(|&size| isize::try_from(size).is_ok()) {
                assert_eq!(repeated.expect("it goes to the joint shape"), repeats(shape, &joint));
            }
        }
    }
}

fn repeats(from: &[usize], to: &[usize]) -> Vec<usize> {
    let new = to.len() - from.len();
    (0..to.len()).filter(|&axis| axis < new || (from[axis - new] == 1 && to[axis] != 1)).collect()
}

fn target(input: &mut Input<'_>) {
    let whole = shape(input);
    let from = beside(input, &whole);
    let kept = input.byte();
    let mut target: Vec<isize> = whole.iter().map(|&size| size as isize).collect();
    for (axis, size) in target.iter_mut().enumerate() {
        if names(kept, axis) {
            *size = -1;
        }
    }
    if input.one_in(4) && !target.is_empty() {
        let axis = input.below(target.len());
        target[axis] = input.word() as isize;
    }
    let given: Vec<i64> = target.iter().map(|&size| size as i64).collect();
    let shape =
        agreed(resolve_target(&from, &target), &resolved(&from, &given, true)).map(|(shape, expected)| {
            assert_eq!(&shape, expected);
            shape
        });
    let to: Vec<usize> = shape.unwrap_or_else(|| target.iter().map(|&size| size as usize).collect());
    let given: Vec<i64> = to.iter().map(|size| size.cast_signed() as i64).collect();
    let expected = resolved(&from, &given, false).map(|to| repeats(&from, &to));
    let axes = agreed(reduction_axes(&from, &to), &expected);
    if let Some((axes, expected)) = axes {
        assert_eq!(&axes, expected);
    }
}

fn in_constants(input: &mut Input<'_>) {
    let whole: [usize; 3] = std::array::from_fn(|_| size(input));
    let kept = input.byte();
    let a: [usize; 3] = std::array::from_fn(|axis| if names(kept, axis) { 1 } else { whole[axis] });
    let mut b: [usize; 2] =
        std::array::from_fn(|axis| if names(kept, axis + 3) { 1 } else { whole[axis + 1] });
    if input.one_in(4) {
        b[input.below(2)] = size(input);
    }
    /// Asserts that the function in constants gives what the other gives, or panics.
    macro_rules! same {
        ($a:expr, $b:expr, $n:literal) => {{
            let (a, b) = ($a, $b);
            let mut joint = None;
            let expected = broadcast_shapes(&[&a[..], &b[..]]).ok();
            let panicked = panics(|| joint = Some(const_broadcast_shape::<_, _, $n>(a, b)));
            assert_eq!(panicked, expected.is_none());
            assert_eq!(joint.map(|joint| joint.to_vec()), expected);
        }};
    }
    match input.below(6) {
        0 => same!(a, b, 3),
        1 => same!(b, a, 3),
        2 => same!(a, whole, 3),
        3 => same!([a[2]], b, 2),
        4 => same!([0_usize; 0], a, 3),
        _ => same!([a[0]], [b[0]], 1),
    }
}

fn axis_set(input: &mut Input<'_>) {
    let ndim = if input.one_in(16) { input.word() as usize } else { input.below(70) };
    let count = input.below(6);
    let axes: Vec<isize> = (0..count)
        .map(|_| match input.below(16) {
            15 => input.word() as isize,
            _ => input.below(ndim.clamp(1, 70)) as isize - if input.one_in(2) { ndim as isize } else { 0 },
        })
        .collect();
    let place = |&axis: &isize| {
        let place = axis as i128 + if axis < 0 { ndim as i128 } else { 0 };
        usize::try_from(place).ok().filter(|&place| place < ndim)
    };
    let places: Option<Vec<usize>> = axes.iter().map(place).collect();
    let expected = places.map(|mut places| {
        places.sort_unstable();
        places.dedup();
        places
    });
    let expected = expected.ok_or("AxisOutOfBounds");
    let found = AxisSet::from_signed(&axes, ndim);
    let smallest = axes.iter().filter(|axis| place(axis).is_none()).min().map(|&axis| axis as i128);
    assert_eq!(found.as_ref().err().and_then(BroadcastError::axis), smallest);
    let Some((set, places)) = agreed(found, &expected) else { return };
    assert_eq!(set.as_slice(), places);
    assert_eq!(set.to_string(), format!("{places:?}"));
    assert_eq!(set, places.iter().rev().chain(places).copied().collect());
}

/// Views of a shape, and their copies.
fn views(input: &mut Input<'_>) {
    let whole: Vec<usize> = (0..input.below(5)).map(|_| size(input)).collect();
    let from = beside(input, &whole);
    let (nothing, number) = (arr0(()), arr0(1_u64));
    let view = nothing.broadcast(IxDyn(&from));
    assert_eq!(view.is_none(), overflows(&from));
    let Some(view) = view else { return };
    let target: Vec<i64> = whole.iter().map(|size| size.cast_signed() as i64).collect();
    let expected = resolved(&from, &target, true);
    let to = agreed(view.broadcast_to(&target), &expected);
    if let Some((view, expected)) = to {
        assert_eq!(view.shape(), expected);
    }
    let numbers = number.broadcast(IxDyn(&from)).expect("as many as of no size");
    let bytes = from.iter().map(|&size| size as u128).product::<u128>() * 8;
    if bytes > isize::MAX as u128 {
        assert_eq!(numbers.try_materialize().map_err(|error| variant(&error)), Err("TooLarge".into()));
        assert_eq!(
            numbers.sum_axes(&[0_usize; 0][..]).map_err(|error| variant(&error)),
            Err("TooLarge".into())
        );
    } else if bytes < 1000 {
        assert_eq!(numbers.try_materialize().map_err(|error| variant(&error)), Ok(numbers.to_owned()));
    }
}
