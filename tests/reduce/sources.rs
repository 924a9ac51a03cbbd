//! Arrays in all kinds of layout, and the naive reduction of what they hold.

use common::{element, indices};
use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, Slice};

/// Shapes with sizes around the limits of small loops, with 0 and with 1.
pub(crate) const SHAPES: [&[usize]; 12] = [
    &[],
    &[1],
    &[7],
    &[130],
    &[3, 5],
    &[1, 9],
    &[70, 33],
    &[4, 1, 6],
    &[0, 3],
    &[2, 0, 4],
    &[3, 17, 8],
    &[2, 3, 1, 5],
];

/// Small numbers that do not follow from their neighbours'.
pub(crate) fn numbers(shape: &[usize]) -> ArrayD<i64> {
    let mut state = 12345_u64;
    ArrayD::from_shape_simple_fn(IxDyn(shape), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(state >> 57).expect("seven bits") - 64
    })
}

/// Calls `test` with the array as it is, in F order, reversed, with gaps, and stretched from its first elements.
pub(crate) fn in_all_layouts(shape: &[usize], mut test: impl FnMut(&ArrayViewD<'_, i64>)) {
    let whole = numbers(shape);
    test(&whole.view());
    let turned = numbers(&shape.iter().rev().copied().collect::<Vec<_>>());
    test(&turned.t());
    test(&whole.slice_each_axis(|_| Slice::new(0, None, -1)));
    let wide = numbers(&shape.iter().map(|size| 2 * size).collect::<Vec<_>>());
    test(&wide.slice_each_axis(|_| Slice::new(0, None, 2)));
    if let Some(&first) = shape.first().filter(|&&first| first > 0) {
        let row = whole.slice_axis(Axis(0), Slice::from(0..1));
        assert_eq!(row.broadcast(IxDyn(shape)).expect("it stretches").len_of(Axis(0)), first);
        test(&row.broadcast(IxDyn(shape)).expect("it stretches"));
    }
}

/// Each set of axes.
pub(crate) fn axis_sets(ndim: usize) -> Vec<Vec<usize>> {
    (0..1_usize << ndim).map(|set| (0..ndim).filter(|axis| set >> axis & 1 == 1).collect()).collect()
}

/// The shape without the axes, and with them as size 1.
pub(crate) fn left_and_kept(shape: &[usize], axes: &[usize]) -> [Vec<usize>; 2] {
    let left = (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
    let kept = (0..shape.len()).map(|axis| if axes.contains(&axis) { 1 } else { shape[axis] }).collect();
    [left, kept]
}

/// The elements of each lane along the axes, one index after the other; lanes in row-major order.
pub(crate) fn lanes<A: Clone>(x: &ArrayViewD<'_, A>, axes: &[usize]) -> Vec<Vec<A>> {
    let [_, kept] = left_and_kept(x.shape(), axes);
    let mut lanes = vec![Vec::new(); kept.iter().product()];
    for index in indices(x.shape()) {
        let lane: Vec<usize> =
            index.iter().zip(&kept).map(|(&at, &size)| if size == 1 { 0 } else { at }).collect();
        lanes[element(&lane, &kept)].push(x[&index[..]].clone());
    }
    lanes
}
