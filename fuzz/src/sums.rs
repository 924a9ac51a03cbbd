//! The sums, on one thread and several, with exact numbers.

use crate::check::{Verdict, agreed, assert_array, stretches};
use crate::input::Faults;
use crate::numbers::{Counted, Number, balanced};
use crate::ranks::{axes_given, ranked, targeted};
use common::{Bytes, Choices, Layout, Strided, aligned_right, scrambled, sums, without_axes};
use ndarray::{Array, ArrayView, Dimension, ShapeBuilder};
use ndarray_broadcast::{AxisSet, BroadcastError, bounds::LessAxes};
use ndarray_broadcast::{fused, keepdims, prelude::*};

pub fn run(data: &[u8]) {
    let mut input = Bytes::new(data);
    match input.below(6) {
        0 | 1 => case::<f32>(&mut input),
        2 => in_all_types(&mut input),
        3 => case::<i64>(&mut input),
        4 => balanced(|| case::<Counted>(&mut input)),
        _ => large(&mut input),
    }
}

/// An array of numbers that do not follow from their neighbours', and these in row-major order.
fn numbered<A: Number>(layout: Layout) -> (Strided<A>, Vec<i64>) {
    let places = layout.places();
    let array = Strided::new(layout, |place| A::of(scrambled(place as i64)));
    (array, places.into_iter().map(|place| scrambled(place as i64)).collect())
}

fn case<A: Number>(input: &mut Bytes<'_>) {
    let shape = input.small_shape(5, 4096);
    let layout = Layout::to_read(input, &shape);
    laid_out::<A>(input, layout);
}

/// Sums of an array in a layout.
pub(crate) fn laid_out<A: Number>(input: &mut Bytes<'_>, layout: Layout) {
    let (array, values) = numbered::<A>(layout);
    if input.one_in(2) { axes(input, &array, &values) } else { to_shape(input, &array, &values) }
}

/// The sum of an array that is repeated along the axes without a place.
fn expected<A: Number>(shape: &[usize], values: &[i64], source: &[usize], places: &[usize]) -> Vec<A> {
    sums(shape, values.iter().copied(), source, places).into_iter().map(A::of).collect()
}

/// The shape that is left, the sums, and the shape with the axes kept; with `list`, an axis may not be repeated.
type Sums<A> = Verdict<(Vec<usize>, Vec<A>, Vec<usize>)>;

fn over<A: Number>(array: &Strided<A>, values: &[i64], axes: &[usize], list: bool) -> Sums<A> {
    let set: AxisSet = axes.into();
    if set.as_slice().last().is_some_and(|&axis| axis >= array.ndim()) {
        return Err("AxisOutOfBounds");
    }
    if list && set.len() != axes.len() {
        return Err("DuplicateAxis");
    }
    let places = without_axes(array.ndim(), axes);
    let left: Vec<usize> = places.iter().map(|&axis| array.shape()[axis]).collect();
    let sums = expected(array.shape(), values, &left, &places);
    let kept = |axis: usize| if axes.contains(&axis) { 1 } else { array.shape()[axis] };
    Ok((left, sums, (0..array.ndim()).map(kept).collect()))
}

fn axes<A: Number>(input: &mut Bytes<'_>, array: &Strided<A>, values: &[i64]) {
    let axes = input.axes(array.ndim());
    let set: AxisSet = axes[..].into();
    over_axes(&array.view(), &axes[..], &over(array, values, &axes, true));
    over_axes(&array.view(), &set, &over(array, values, &axes, false));
    in_dim(input, array, values);
}

/// The sums that keep some axes, in any order; those of size 1 are summed over.
fn in_dim<A: Number>(input: &mut Bytes<'_>, array: &Strided<A>, values: &[i64]) {
    let mut places: Vec<usize> = (0..array.ndim()).filter(|_| input.one_in(2)).collect();
    input.shuffle(&mut places);
    let sizes: Vec<usize> =
        places.iter().map(|&axis| if input.one_in(4) { 1 } else { array.shape()[axis] }).collect();
    let expected: Vec<A> = expected(array.shape(), values, &sizes, &places);
    let (view, same) = (array.view(), fused(array.view(), A::clone));
    for result in [view.sum_in_dim(&sizes[..], &places), same.par().sum_in_dim(&sizes[..], &places)] {
        assert_array(&result.expect("axes of the array"), &sizes, &expected);
    }
    let before = Strided::new(Layout::to_write(input, &sizes), |place| A::of(place as i64 % 100 - 50));
    let mut out = before.clone();
    view.add_sum_in_dim_to(&mut out.view_mut(), &places).expect("axes of the array");
    before.assert_became(&out, before.elements().cloned().zip(expected).map(|(old, sum)| old + sum));
}

/// Axes of one type and a view of another number of axes, as far as the types allow.
fn in_all_types(input: &mut Bytes<'_>) {
    let shape = input.small_shape(3, 4096);
    let (array, values) = numbered::<f32>(Layout::to_read(input, &shape));
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
fn check_sum<A: Number, E: Dimension>(result: Result<Array<A, E>, BroadcastError>, expected: &Sums<A>) {
    if let Some((sum, (shape, sums, _))) = agreed(result, expected) {
        assert_array(&sum, shape, sums);
    }
}

fn over_axes<A, D, X>(view: &ArrayView<'_, A, D>, axes: X, expected: &Sums<A>)
where
    A: Number,
    D: LessAxes<X::Count>,
    X: ndarray_broadcast::bounds::Axes + Copy,
{
    let same = fused(view.view(), A::clone);
    check_sum(view.sum_axes(axes), expected);
    check_sum(view.par().sum_axes(axes), expected);
    check_sum(same.sum_axes(axes), expected);
    let kept = keepdims(axes);
    for result in
        [view.sum_axes(kept), view.par().sum_axes(kept), same.sum_axes(kept), same.par().sum_axes(kept)]
    {
        if let Some((sum, (_, sums, shape))) = agreed(result, expected) {
            assert_array(&sum, shape, sums);
        }
    }
}

fn to_shape<A: Number>(input: &mut Bytes<'_>, array: &Strided<A>, values: &[i64]) {
    let mut target: Vec<i64> = input.operand(array.shape()).iter().map(|&size| size as i64).collect();
    match input.below(16) {
        14 => target.insert(0, input.pick(&[1, 2, 0, 1 << 40])),
        15 if !target.is_empty() => target[0] = input.pick(&[-1, i64::MIN, i64::MAX, -7]),
        _ => {}
    }
    let expected = to_target(array.shape(), values, &target);
    check(array.view().sum_to(&target), &expected);
    check(array.view().par().sum_to(&target), &expected);
    check(fused(array.view(), A::clone).sum_to(&target), &expected);
    by_value(input, array, &target, &expected);
    if target.iter().all(|size| (0..5000).contains(size)) {
        let shape: Vec<usize> = target.iter().map(|&size| size as usize).collect();
        into_array(input, array, &shape, &expected);
    }
}

/// The sums to a target, or the name of the first error.
fn to_target<A: Number>(shape: &[usize], values: &[i64], target: &[i64]) -> Verdict<(Vec<usize>, Vec<A>)> {
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
fn check<A: Number, E: Dimension>(
    result: Result<Array<A, E>, BroadcastError>,
    expected: &Verdict<(Vec<usize>, Vec<A>)>,
) {
    if let Some((sum, (shape, sums))) = agreed(result, expected) {
        assert_array(&sum, shape, sums);
    }
}

/// An array that is given away: in C or F order, or a part of a larger one.
fn by_value<A: Number>(
    input: &mut Bytes<'_>,
    array: &Strided<A>,
    target: &[i64],
    expected: &Verdict<(Vec<usize>, Vec<A>)>,
) {
    let form = input.below(4);
    let owned = || {
        let mut shape = array.shape().to_vec();
        if form == 2 && !shape.is_empty() {
            shape[0] += 2;
        }
        let mut owned = Array::from_elem(shape.set_f(form == 1), A::of(7));
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
fn into_array<A: Number>(
    input: &mut Bytes<'_>,
    array: &Strided<A>,
    shape: &[usize],
    expected: &Verdict<(Vec<usize>, Vec<A>)>,
) {
    let before = Strided::new(Layout::to_write(input, shape), |place| A::of(place as i64 % 100 - 50));
    let (form, factor, fixed) = (input.below(9), A::of(input.below(5) as i64 - 2), input.one_in(2));
    let like = array.view().sum_to(&before.view());
    check(like, expected);
    let mut out = before.clone();
    let result = ranked!(out.view_mut(), fixed, [1 Ix1], out => {
        let (mut out, view) = (out, array.view());
        let same = fused(array.view(), A::clone);
        match form {
            0 => view.assign_sum_to(&mut out),
            1 => view.par().assign_sum_to(&mut out),
            2 => view.add_sum_to(&mut out),
            3 => view.par().add_sum_to(&mut out),
            4 => same.assign_sum_to(&mut out),
            5 => same.add_sum_to(&mut out),
            6 => same.par().scaled_add_sum_to(factor.clone(), &mut out),
            7 => view.scaled_add_sum_to(factor.clone(), &mut out),
            _ => view.par().scaled_add_sum_to(factor.clone(), &mut out),
        }
    });
    let Some(((), (_, sums))) = agreed(result, expected) else {
        return before.assert_became(&out, before.elements().cloned());
    };
    let became = before.elements().cloned().zip(sums.iter().cloned()).map(|(old, sum)| match form {
        0 | 1 | 4 => sum,
        2 | 3 | 5 => old + sum,
        _ => old + factor.clone() * sum,
    });
    before.assert_became(&out, became);
}

/// A view of few elements that is large enough for several threads: each sum is one of the few, many times.
fn large(input: &mut Bytes<'_>) {
    if !input.one_in(24) {
        return case::<f32>(input);
    }
    let shape = input.small_shape(3, 64);
    let (array, values) = numbered::<i64>(Layout::to_read(input, &shape));
    let len = values.len();
    if len == 0 {
        return;
    }
    let times = (1 << 18) / len + input.below(3);
    let whole: Vec<usize> = [times].iter().chain(&shape).copied().collect();
    // the long axis first, last, or between
    let at = input.below(whole.len());
    let mut view = array.view().into_broadcast_to(&whole[..]).expect("a new axis");
    let mut order: Vec<usize> = (1..whole.len()).collect();
    order.insert(at, 0);
    view = view.permuted_axes(order.clone());
    let axes = if input.one_in(2) { vec![at] } else { input.axes(whole.len()) };
    let (one, several) = (view.sum_axes(&axes), view.par().sum_axes(&axes));
    assert_eq!(one, several);
    if let (Ok(sum), &[axis]) = (&one, &axes[..])
        && axis == at
    {
        let expected: Vec<i64> = values.iter().map(|&value| value * times as i64).collect();
        assert_array(sum, &shape, &expected);
    }
    let mut total = ndarray::arr0(1);
    view.par().add_sum_to(&mut total).expect("a sum of all");
    assert_eq!(total.into_scalar(), 1 + values.iter().sum::<i64>() * times as i64);
}
