//! The sums, on one thread and several, with exact numbers.

use crate::cases::Input;
use crate::cases::check::{Verdict, agreed, assert_array, stretches};
use crate::cases::ranks::{axes_given, ranked, targeted};
use common::{Choices, Layout, Strided, aligned_right, kind, scrambled, sums, without_axes};
use ndarray::{Array, ArrayView, Dimension, ShapeBuilder};
use ndarray_broadcast::{AxisSet, BroadcastError, bounds::LessAxes};
use ndarray_broadcast::{fused, keepdims, prelude::*};

pub(crate) fn run(input: &mut Input<'_>) {
    if input.one_in(3) {
        return in_all_types(input);
    }
    let shape = input.small_shape(5, 4096);
    let (array, values) = numbered(Layout::to_read(input, &shape));
    if input.one_in(2) { axes(input, &array, &values) } else { to_shape(input, &array, &values) }
}

/// An array of numbers that do not follow from their neighbours', and these in row-major order.
fn numbered(layout: Layout) -> (Strided<i64>, Vec<i64>) {
    let places = layout.places();
    let array = Strided::new(layout, |place| scrambled(place as i64));
    (array, places.into_iter().map(|place| scrambled(place as i64)).collect())
}

/// The sum of an array that is repeated along the axes without a place.
fn expected(shape: &[usize], values: &[i64], source: &[usize], places: &[usize]) -> Vec<i64> {
    sums(shape, values.iter().copied(), source, places)
}

/// The shape that is left, the sums, and the shape with the axes kept; with `list`, an axis may not be repeated.
type Sums = Verdict<(Vec<usize>, Vec<i64>, Vec<usize>)>;

fn over(array: &Strided<i64>, values: &[i64], axes: &[usize], list: bool) -> Sums {
    let set: AxisSet = axes.into();
    if set.as_slice().last().is_some_and(|&axis| axis >= array.ndim()) {
        return Err("AxisOutOfBounds");
    }
    if list && set.as_slice().len() != axes.len() {
        return Err("DuplicateAxis");
    }
    let places = without_axes(array.ndim(), axes);
    let left: Vec<usize> = places.iter().map(|&axis| array.shape()[axis]).collect();
    let sums = expected(array.shape(), values, &left, &places);
    let kept = |axis: usize| if axes.contains(&axis) { 1 } else { array.shape()[axis] };
    Ok((left, sums, (0..array.ndim()).map(kept).collect()))
}

fn axes(input: &mut Input<'_>, array: &Strided<i64>, values: &[i64]) {
    let axes = input.axes(array.ndim());
    let set: AxisSet = axes[..].into();
    over_axes(&array.view(), &axes[..], &over(array, values, &axes, true));
    over_axes(&array.view(), &set, &over(array, values, &axes, false));
    means(array, &axes, &over(array, values, &axes, true));
    in_dim(input, array, values);
}

/// The means of floats, which are refused where there is no term, and of integers, which are.
fn means(array: &Strided<i64>, axes: &[usize], sums: &Sums) {
    let view = array.map(|&x| x as f64);
    let view = view.view();
    let count: usize = axes.iter().filter_map(|&axis| array.shape().get(axis)).product();
    let expected = sums.clone().and_then(|(left, sums, kept)| {
        let is_mean = count > 0 || sums.is_empty();
        let means: Vec<f64> = sums.iter().map(|&sum| sum as f64 / count as f64).collect();
        if is_mean { Ok((left, means, kept)) } else { Err("NoMean") }
    });
    for result in [view.mean_axes(axes), fused(&view, f64::clone).par().mean_axes(axes)] {
        if let Some((means, (shape, expected, _))) = agreed(result, &expected) {
            assert_array(&means, shape, expected);
        }
    }
    if let Some((means, (_, expected, shape))) = agreed(view.mean_axes(keepdims(axes)), &expected) {
        assert_array(&means, shape, expected);
    }
    let of_integers = array.view().mean_axes(axes);
    assert_eq!(kind(of_integers), if sums.is_ok() { "NoMean" } else { sums.as_ref().unwrap_err() });
}

/// The sums that keep some axes, in any order; those of size 1 are summed over. Sometimes a size does not fit.
fn in_dim(input: &mut Input<'_>, array: &Strided<i64>, values: &[i64]) {
    let mut places: Vec<usize> = (0..array.ndim()).filter(|_| input.one_in(2)).collect();
    input.shuffle(&mut places);
    let mut sizes: Vec<usize> =
        places.iter().map(|&axis| if input.one_in(4) { 1 } else { array.shape()[axis] }).collect();
    if !sizes.is_empty() && input.one_in(8) {
        sizes[0] = input.size();
    }
    let expected: Verdict<Vec<i64>> = if stretches(&sizes, &places, array.shape()) {
        Ok(expected(array.shape(), values, &sizes, &places))
    } else {
        Err("Incompatible")
    };
    let (view, same) = (array.view(), fused(array.view(), i64::clone));
    for result in [view.sum_in_dim(&sizes[..], &places), same.par().sum_in_dim(&sizes[..], &places)] {
        if let Some((sums, expected)) = agreed(result, &expected) {
            assert_array(&sums, &sizes, expected);
        }
    }
    let before = Strided::new(Layout::to_write(input, &sizes), |place| place as i64 % 100 - 50);
    let mut out = before.clone();
    match agreed(view.add_sum_in_dim_to(&mut out.view_mut(), &places), &expected) {
        Some(((), sums)) => {
            before.assert_became(&out, before.elements().zip(sums).map(|(old, sum)| old + sum));
        }
        None => before.assert_became(&out, before.elements().copied()),
    }
}

/// Axes of one type and a view of another number of axes, as far as the types allow.
fn in_all_types(input: &mut Input<'_>) {
    let shape = input.small_shape(3, 4096);
    let (array, values) = numbered(Layout::to_read(input, &shape));
    let (axes, way) = (input.axes(shape.len()), input.byte());
    let target: Vec<i64> = input.operand(&shape).iter().map(|&size| size as i64).collect();
    let expected = over(&array, &values, &axes, true);
    axes_given!(&axes, way, x => check_sum(array.view().sum_axes(x), &expected));
    targeted!(&target, way, t => check(array.view().sum_to(t), &to_target(&shape, &values, &target)));
    ranked!(array.view(), true, [2 Ix2], view => over_axes(&view, &axes[..], &expected));
    // where both numbers of axes are in the types
    match (array.view().into_dimensionality::<ndarray::Ix3>(), &axes[..]) {
        (Ok(view), &[a]) => check_sum(view.sum_axes(a), &expected),
        (Ok(view), &[a, b]) => check_sum(view.sum_axes([a, b]), &expected),
        (Ok(view), &[a, b, c]) => check_sum(view.sum_axes([a, b, c]), &expected),
        _ => {}
    }
}

#[track_caller]
fn check_sum<E: Dimension>(result: Result<Array<i64, E>, BroadcastError>, expected: &Sums) {
    if let Some((sum, (shape, sums, _))) = agreed(result, expected) {
        assert_array(&sum, shape, sums);
    }
}

fn over_axes<D, X>(view: &ArrayView<'_, i64, D>, axes: X, expected: &Sums)
where
    D: LessAxes<X::Count>,
    X: ndarray_broadcast::bounds::Axes + Copy,
{
    let same = fused(view.view(), i64::clone);
    check_sum(view.sum_axes(axes), expected);
    for result in [view.sum_axes(keepdims(axes)), same.sum_axes(keepdims(axes))] {
        if let Some((sum, (_, sums, shape))) = agreed(result, expected) {
            assert_array(&sum, shape, sums);
        }
    }
    check_sum(same.par().sum_axes(axes), expected);
}

fn to_shape(input: &mut Input<'_>, array: &Strided<i64>, values: &[i64]) {
    let mut target: Vec<i64> = input.operand(array.shape()).iter().map(|&size| size as i64).collect();
    match input.below(16) {
        14 => target.insert(0, input.pick(&[1, 2, 0, 1 << 40])),
        15 if !target.is_empty() => target[0] = input.pick(&[-1, i64::MIN, i64::MAX, -7]),
        _ => {}
    }
    let expected = to_target(array.shape(), values, &target);
    check(array.view().sum_to(&target), &expected);
    check(fused(array.view(), i64::clone).par().sum_to(&target), &expected);
    by_value(input, array, &target, &expected);
    if target.iter().all(|size| (0..5000).contains(size)) {
        let shape: Vec<usize> = target.iter().map(|&size| size as usize).collect();
        into_array(input, array, &shape, &expected);
    }
}

/// The sums to a target, or the name of the first error.
fn to_target(shape: &[usize], values: &[i64], target: &[i64]) -> Verdict<(Vec<usize>, Vec<i64>)> {
    let sizes: Result<Vec<usize>, _> = target.iter().map(|&size| usize::try_from(size)).collect();
    let sizes = sizes.map_err(|_| "InvalidSize")?;
    if sizes.len() > shape.len() {
        return Err("TooManyAxes");
    }
    let places = aligned_right(sizes.len(), shape.len());
    if !stretches(&sizes, &places, shape) {
        return Err("Incompatible");
    }
    let sums = expected(shape, values, &sizes, &places);
    Ok((sizes, sums))
}

#[track_caller]
fn check<E: Dimension>(
    result: Result<Array<i64, E>, BroadcastError>,
    expected: &Verdict<(Vec<usize>, Vec<i64>)>,
) {
    if let Some((sum, (shape, sums))) = agreed(result, expected) {
        assert_array(&sum, shape, sums);
    }
}

/// An array that is given away: in C or F order, or a part of a larger one.
fn by_value(
    input: &mut Input<'_>,
    array: &Strided<i64>,
    target: &[i64],
    expected: &Verdict<(Vec<usize>, Vec<i64>)>,
) {
    let form = input.below(4);
    let owned = || {
        let mut shape = array.shape().to_vec();
        if form == 2 && !shape.is_empty() {
            shape[0] += 2;
        }
        let mut owned = Array::from_elem(shape.set_f(form == 1), 7);
        if form == 2 && array.ndim() > 0 {
            owned.slice_axis_inplace(ndarray::Axis(0), (1..=array.shape()[0]).into());
        }
        if form == 3 && array.ndim() > 0 {
            owned.invert_axis(ndarray::Axis(0));
        }
        owned.assign(&array.view());
        owned
    };
    check(owned().into_sum_to(target), expected);
    if let Ok(fixed) = owned().into_dimensionality::<ndarray::Ix2>() {
        match *target {
            [a, b] => check(fixed.into_sum_to([a, b]), expected),
            _ => check(fixed.into_sum_to(target), expected),
        }
    }
}

/// Into an array that exists, of any layout: to overwrite, to add, to add a multiple.
fn into_array(
    input: &mut Input<'_>,
    array: &Strided<i64>,
    shape: &[usize],
    expected: &Verdict<(Vec<usize>, Vec<i64>)>,
) {
    let before = Strided::new(Layout::to_write(input, shape), |place| place as i64 % 100 - 50);
    let (form, factor, fixed) = (input.below(4), input.below(5) as i64 - 2, input.one_in(2));
    let like = array.view().sum_to(&before.view());
    check(like, expected);
    let mut out = before.clone();
    let result = ranked!(out.view_mut(), fixed, [1 Ix1], out => {
        let (mut out, view) = (out, array.view());
        let same = fused(array.view(), i64::clone);
        match form {
            0 => view.assign_sum_to(&mut out),
            1 => view.add_sum_to(&mut out),
            2 => same.par().add_sum_to(&mut out),
            _ => view.scaled_add_sum_to(factor, &mut out),
        }
    });
    let Some(((), (_, sums))) = agreed(result, expected) else {
        return before.assert_became(&out, before.elements().copied());
    };
    let became = before.elements().copied().zip(sums.iter().copied()).map(|(old, sum)| match form {
        0 => sum,
        1 | 2 => old + sum,
        _ => old + factor * sum,
    });
    before.assert_became(&out, became);
}
