//! Every view, element by element: not its value but its address is compared.

use crate::cases::Input;
use crate::cases::check::{Verdict, agreed, assert_view};
use crate::cases::ranks::{axes_given, ranked, targeted};
use common::{
    Choices, Layout, Strided, aligned_right, in_dim_places, joint, names, overflows, resolved, without_axes,
};
use ndarray::{ArrayD, ArrayView, ArrayViewD, Axis, DimMax, Dimension, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, broadcast_arrays, broadcast_to_match_in_place, broadcast_to_match3_in_place,
    broadcast_views, reduction_axes, resolve_target,
};

pub(crate) fn run(input: &mut Input<'_>) {
    match input.below(6) {
        0 => to_target(input),
        1 => pair(input),
        2 => three(input),
        3 => many(input),
        4 => along_axes(input),
        _ => in_dim(input),
    }
}

fn numbered(input: &mut Input<'_>, shape: &[usize]) -> Strided<u32> {
    Strided::new(Layout::to_read(input, shape), |k| k as u32)
}

fn signed(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

/// A target that `shape` may go to: sizes of -1, huge sizes, and sizes that are none among them.
pub(crate) fn target_of(input: &mut Input<'_>, joint: &[usize], shape: &[usize]) -> Vec<i64> {
    let mut target = signed(joint);
    let kept = if input.one_in(2) { input.byte() } else { 0 };
    let new = if input.one_in(4) { 0 } else { target.len().saturating_sub(shape.len()) };
    for (axis, size) in target.iter_mut().enumerate().skip(new) {
        if names(kept, axis) {
            *size = -1;
        }
    }
    if input.one_in(4) && !target.is_empty() {
        let axis = input.below(target.len());
        let most = isize::MAX as i64;
        let odd = [-1, -2, 1, 1, 7, 0, -most, most, most / 2 + 1, (1 << 20) + 1, most / 3 + 1];
        target[axis] = input.pick(&odd);
    }
    if input.one_in(8) {
        let less = input.below(target.len() + 1);
        target.truncate(less);
    }
    target
}

fn to_target(input: &mut Input<'_>) {
    let joint = input.small_shape(5, 2000);
    let shape = input.operand(&joint);
    let target = target_of(input, &joint, &shape);
    let source = numbered(input, &shape);
    let (way, fixed) = (input.byte(), input.one_in(2));
    let places = aligned_right(shape.len(), target.len());

    let expected = resolved(&shape, &target, true);
    let given: Vec<isize> = target.iter().map(|&size| size as isize).collect();
    let shapes = agreed(resolve_target(&shape, &given), &expected);
    if let Some((shape, expected)) = shapes {
        assert_eq!(&shape, expected);
    }
    // -1 is no size here
    let exact = resolved(&shape, &target, false);
    ranked!(source.view(), fixed, view => {
        check(view.broadcast_to(&target), &expected, &source, &places);
        check(view.broadcast_to_match_shape(&target), &exact, &source, &places);
        check(view.into_broadcast_to(&target), &expected, &source, &places);
    });
    targeted!(&target, way, t => {
        check(source.view().broadcast_to(&t), &expected, &source, &places);
        check(source.view().broadcast_to_match_shape(&t), &exact, &source, &places);
    });
    in_place(&source, &target, way, &expected);
    if let Ok(to) = &exact {
        let stretched =
            |&axis: &usize| axis + shape.len() < to.len() || to[axis] != shape[axis + shape.len() - to.len()];
        let expected: Vec<usize> = (0..to.len()).filter(stretched).collect();
        assert_eq!(reduction_axes(&shape, to).expect("the axes of a broadcast"), expected);
    }
}

fn in_place(source: &Strided<u32>, target: &[i64], way: u8, expected: &Verdict<Vec<usize>>) {
    let places = aligned_right(source.ndim(), target.len());
    let mut view = source.view();
    let result = targeted!(target, way, t => view.broadcast_in_place(&t));
    assert_changed(&view, source, result, expected, &places);
    // a fixed number of axes takes as many
    if let (&[a, b], 2) = (target, source.ndim()) {
        let mut view = source.view().into_dimensionality::<ndarray::Ix2>().expect("two axes");
        let result = view.broadcast_in_place([a, b]);
        assert_changed(&view, source, result, expected, &places);
    }
}

/// Asserts that the view went to the expected shape, or stayed as it was.
fn assert_changed<D: Dimension>(
    view: &ArrayView<'_, u32, D>,
    source: &Strided<u32>,
    result: Result<(), BroadcastError>,
    expected: &Verdict<Vec<usize>>,
    places: &[usize],
) {
    match agreed(result, expected) {
        Some(((), shape)) => assert_view(view, shape, source, places),
        None => assert_unchanged(view, source),
    }
}

fn assert_unchanged<D: Dimension>(view: &ArrayView<'_, u32, D>, source: &Strided<u32>) {
    assert_view(view, source.shape(), source, &(0..source.ndim()).collect::<Vec<_>>());
    assert_eq!(view.strides(), source.view().strides());
}

#[track_caller]
fn check<D: Dimension>(
    result: Result<ArrayView<'_, u32, D>, BroadcastError>,
    expected: &Verdict<Vec<usize>>,
    source: &Strided<u32>,
    places: &[usize],
) {
    if let Some((view, shape)) = agreed(result, expected) {
        assert_view(&view, shape, source, places);
    }
}

/// Arrays of one joint shape, or of shapes that may clash.
fn family(input: &mut Input<'_>, count: usize) -> Vec<Strided<u32>> {
    let joint = input.small_shape(5, 2000);
    (0..count)
        .map(|_| {
            let shape = input.operand(&joint);
            numbered(input, &shape)
        })
        .collect()
}

fn shapes(arrays: &[Strided<u32>]) -> Vec<&[usize]> {
    arrays.iter().map(Strided::shape).collect()
}

/// Asserts that a view has the joint shape, aligned at the right.
#[track_caller]
fn assert_joint<D: Dimension>(view: &ArrayView<'_, u32, D>, source: &Strided<u32>, joint: &[usize]) {
    assert_view(view, joint, source, &aligned_right(source.ndim(), joint.len()));
}

fn pair(input: &mut Input<'_>) {
    let arrays = family(input, 2);
    let fixed = [input.one_in(2), input.one_in(2)];
    let expected = joint(&shapes(&arrays));
    let [a, b] = &arrays[..] else { unreachable!() };
    ranked!(a.view(), fixed[0], [1 Ix1, 3 Ix3], x => ranked!(b.view(), fixed[1], [2 Ix2], y => {
        pair_of([a, b], &x, &y, &expected);
    }));
    let (mut x, mut y) = same_ndim(a, b);
    let expected = joint(&[x.shape(), y.shape()]);
    let before = (x.clone(), y.clone());
    match agreed(broadcast_to_match_in_place(&mut x, &mut y), &expected) {
        Some(((), joint)) => {
            assert_joint(&x, a, joint);
            assert_joint(&y, b, joint);
        }
        None => assert_same_views([(&x, &before.0), (&y, &before.1)]),
    }
}

fn assert_same_views<const N: usize>(views: [(&ArrayViewD<'_, u32>, &ArrayViewD<'_, u32>); N]) {
    for (view, before) in views {
        assert_eq!(
            (view.as_ptr(), view.shape(), view.strides()),
            (before.as_ptr(), before.shape(), before.strides())
        );
    }
}

/// The views; the shorter one sometimes has leading axes, as for views of a fixed number of axes.
fn same_ndim<'a>(a: &'a Strided<u32>, b: &'a Strided<u32>) -> (ArrayViewD<'a, u32>, ArrayViewD<'a, u32>) {
    let (x, y) = (a.view(), b.view());
    if (a.cells.len() + b.cells.len()).is_multiple_of(2) {
        return (x, y);
    }
    let ndim = a.ndim().max(b.ndim());
    let longer = |mut view: ArrayViewD<'a, u32>| {
        while view.ndim() < ndim {
            view = view.insert_axis(Axis(0));
        }
        view
    };
    (longer(x), longer(y))
}

fn pair_of<D, E>(
    [a, b]: [&Strided<u32>; 2],
    x: &ArrayView<'_, u32, D>,
    y: &ArrayView<'_, u32, E>,
    expected: &Verdict<Vec<usize>>,
) where
    D: DimMax<E> + Dimension,
    E: Dimension,
{
    assert_eq!(x.can_broadcast_to_match(y), expected.is_ok());
    if let Some(((x, y), joint)) = agreed(x.broadcast_to_match(y), expected) {
        assert_joint(&x, a, joint);
        assert_joint(&y, b, joint);
    }
    if let Some(((x, y), joint)) = agreed(broadcast_arrays((x, y.view())), expected) {
        assert_joint(&x, a, joint);
        assert_joint(&y, b, joint);
    }
    let ndim = a.ndim().max(b.ndim());
    let with_ones = |shape: &[usize]| [&vec![1; ndim - shape.len()], shape].concat();
    let (v, w) = x.expand_to_match_ranks(y);
    assert_joint(&v, a, &with_ones(a.shape()));
    assert_joint(&w, b, &with_ones(b.shape()));
}

fn three(input: &mut Input<'_>) {
    let arrays = family(input, 3);
    let fixed = input.one_in(2);
    let expected = joint(&shapes(&arrays));
    let [a, b, c] = &arrays[..] else { unreachable!() };
    ranked!(a.view(), fixed, [3 Ix3], x => ranked!(b.view(), fixed, [1 Ix1], y => ranked!(c.view(), fixed, [2 Ix2], z => {
        if let Some(((x, y, z), joint)) = agreed(x.broadcast_to_match3(&y, &z), &expected) {
            assert_joint(&x, a, joint);
            assert_joint(&y, b, joint);
            assert_joint(&z, c, joint);
        }
    })));
    let (mut x, mut y, mut z) = (a.view(), b.view(), c.view());
    let before = (x.clone(), y.clone(), z.clone());
    match agreed(broadcast_to_match3_in_place(&mut x, &mut y, &mut z), &expected) {
        Some(((), joint)) => {
            assert_joint(&x, a, joint);
            assert_joint(&y, b, joint);
            assert_joint(&z, c, joint);
        }
        None => assert_same_views([(&x, &before.0), (&y, &before.1), (&z, &before.2)]),
    }
}

fn many(input: &mut Input<'_>) {
    let count = input.below(7);
    let arrays = family(input, count);
    let expected = joint(&shapes(&arrays));
    let views: Vec<_> = arrays.iter().map(Strided::view).collect();
    let all = broadcast_views(&views);
    let tuple = match &views[..] {
        [] => Ok(vec![]),
        [a] => broadcast_arrays((a,)).map(|(a,)| vec![a]),
        [a, b] => broadcast_arrays((a, b.clone())).map(|(a, b)| vec![a, b]),
        [a, b, c] => broadcast_arrays((a, &**b, c)).map(|(a, b, c)| vec![a, b, c]),
        [a, b, c, d] => broadcast_arrays((a, b, c, d)).map(|(a, b, c, d)| vec![a, b, c, d]),
        [a, b, c, d, e] => broadcast_arrays((a, b, c, d, e)).map(|(a, b, c, d, e)| vec![a, b, c, d, e]),
        [a, b, c, d, e, f] => {
            broadcast_arrays((a, b, c, d, e, f)).map(|(a, b, c, d, e, f)| vec![a, b, c, d, e, f])
        }
        _ => unreachable!(),
    };
    for result in [all, tuple] {
        if let Some((views, joint)) = agreed(result, &expected) {
            assert_eq!(views.len(), arrays.len());
            views.iter().zip(&arrays).for_each(|(view, array)| assert_joint(view, array, joint));
        }
    }
    let plane: Vec<_> =
        views.iter().filter_map(|view| view.clone().into_dimensionality::<ndarray::Ix2>().ok()).collect();
    let expected = joint(&plane.iter().map(ndarray::ArrayBase::shape).collect::<Vec<_>>());
    if let Some((views, joint)) = agreed(broadcast_views(&plane), &expected) {
        assert!(views.iter().all(|view| view.shape() == joint));
    }
}

/// The shape as the model has it, where the checks of sizes and axes come first.
fn along(shape: &[usize], target: &[i64], axes: &[usize]) -> Verdict<Vec<usize>> {
    let sizes = named(target, axes, || Ok(()))?;
    if sizes.len() != shape.len() + axes.len() {
        return Err("AxisCount");
    }
    let others = without_axes(sizes.len(), axes);
    if others.iter().zip(shape).any(|(&axis, &own)| sizes[axis] != own) {
        return Err("Incompatible");
    }
    if overflows(&sizes) { Err("Overflow") } else { Ok(sizes) }
}

/// The sizes of a target without -1 and with these axes.
fn named(target: &[i64], axes: &[usize], count: impl Fn() -> Verdict<()>) -> Verdict<Vec<usize>> {
    let sizes: Result<Vec<usize>, _> = target.iter().map(|&size| usize::try_from(size)).collect();
    let sizes = sizes.map_err(|_| "InvalidSize")?;
    count()?;
    if axes.iter().any(|&axis| axis >= sizes.len()) {
        return Err("AxisOutOfBounds");
    }
    let set: AxisSet = axes.into();
    if set.as_slice().len() == axes.len() { Ok(sizes) } else { Err("DuplicateAxis") }
}

fn along_axes(input: &mut Input<'_>) {
    let whole = input.small_shape(5, 2000);
    let axes = input.axes(whole.len());
    let mut shape: Vec<usize> =
        (0..whole.len()).filter(|axis| !axes.contains(axis)).map(|axis| whole[axis]).collect();
    if input.one_in(6) {
        shape.push(input.size());
    }
    let target = target_of(input, &whole, &[]);
    let source = numbered(input, &shape);
    let (way, fixed) = (input.byte(), input.one_in(2));
    let expected = along(&shape, &target, &axes);
    let places = without_axes(target.len(), &axes);
    ranked!(source.view(), fixed, view => check(view.broadcast_axes(&target, &axes[..]), &expected, &source, &places));
    targeted!(&target, way, t => check(source.view().broadcast_axes(t, &axes[..]), &expected, &source, &places));
    axes_given!(&axes, way, x => check(source.view().broadcast_axes(&target, x), &expected, &source, &places));
    let like = ArrayD::<()>::default(IxDyn(&whole));
    let expected = along(&shape, &signed(&whole), &axes);
    check(source.view().broadcast_like(&like, &axes), &expected, &source, &without_axes(whole.len(), &axes));
    let set: AxisSet = axes[..].into();
    check(
        source.view().broadcast_axes(&target, &set),
        &along(&shape, &target, set.as_slice()),
        &source,
        &places,
    );
}

fn in_dim(input: &mut Input<'_>) {
    let whole = input.small_shape(5, 2000);
    let count = input.below(whole.len() + 1);
    let mut dims = input.order(whole.len());
    dims.truncate(count);
    let mut shape: Vec<usize> =
        dims.iter().map(|&dim| if input.one_in(3) { 1 } else { whole[dim] }).collect();
    if input.one_in(8) {
        shape.push(input.size());
    }
    if input.one_in(8) {
        dims.push(input.below(whole.len() + 2));
    }
    let target = target_of(input, &whole, &[]);
    let source = numbered(input, &shape);
    let (way, fixed) = (input.byte(), input.one_in(2));
    let count = || if shape.len() == dims.len() { Ok(()) } else { Err("AxisCount") };
    let expected = named(&target, &dims, count).and_then(|sizes| {
        let places: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        match in_dim_places(&shape, &sizes, &places) {
            None => Err("Incompatible"),
            Some(_) if overflows(&sizes) => Err("Overflow"),
            Some(_) => Ok(sizes),
        }
    });
    ranked!(source.view(), fixed, view => check(view.broadcast_in_dim(&target, &dims[..]), &expected, &source, &dims));
    targeted!(&target, way, t => check(source.view().broadcast_in_dim(t, &dims[..]), &expected, &source, &dims));
    axes_given!(&dims, way, x => check(source.view().broadcast_in_dim(&target, x), &expected, &source, &dims));
}
