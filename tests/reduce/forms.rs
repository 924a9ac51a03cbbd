//! Forms and sources combine: each form gives the same for an array, for fused operands and on several threads.

use common::{element, indices};
use ndarray::{
    Array, Array0, Array1, Array2, Array3, ArrayD, ArrayViewD, Axis, Dimension, Ix0, Ix1, Ix2, Ix3, IxDyn,
    ShapeBuilder, Slice, arr0, array,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{AxisSet, BroadcastError, broadcast_map, fused, keepdims};

type Result<T> = std::result::Result<T, BroadcastError>;

/// Each form over axes, of one source.
#[track_caller]
fn over_axes<S: Reduce<i64, IxDyn>>(source: &S, x: &ArrayViewD<'_, i64>, axes: &[usize]) {
    let [left, kept] = left_and_kept(x.shape(), axes);
    let lanes = lanes(x, axes);
    let each = |f: &dyn Fn(&Vec<i64>) -> Option<i64>| -> Option<Vec<i64>> { lanes.iter().map(f).collect() };
    let check = |form: &str, found: [Result<ArrayD<i64>>; 2], expected: Option<Vec<i64>>| {
        let shapes = [&left, &kept];
        for (found, shape) in found.into_iter().zip(shapes) {
            match (found, &expected) {
                (Ok(found), Some(expected)) => {
                    assert_eq!(found.shape(), &shape[..], "{form} of {:?} over {axes:?}", x.shape());
                    assert!(found.iter().eq(expected), "{form} of {x:?} over {axes:?}: {found:?}");
                }
                (Err(_), None) => {}
                (found, expected) => panic!("{form} of {x:?} over {axes:?}: {found:?}, not {expected:?}"),
            }
        }
    };
    check(
        "sum",
        [source.sum_axes(axes), source.sum_axes(keepdims(axes))],
        each(&|lane| Some(lane.iter().sum())),
    );
    let largest = [source.max_axes(axes), source.max_axes(keepdims(axes))];
    check("maximum", largest, each(&|lane| lane.iter().max().copied()));
    let smallest = [source.min_axes(axes), source.min_axes(keepdims(axes))];
    check("minimum", smallest, each(&|lane| lane.iter().min().copied()));
    let xor = |a: i64, b: i64| a ^ b;
    let reduced = [source.reduce_axes(axes, 0, xor), source.reduce_axes(keepdims(axes), 0, xor)];
    check("reduction", reduced, each(&|lane| Some(lane.iter().fold(0, |a, b| a ^ b))));
    if axes.len() == x.ndim() {
        let all = |sum: Result<Array0<i64>>| sum.map(Array::into_dyn);
        let sum = [all(source.sum_axes(..)), source.sum_axes(keepdims(..))];
        check("sum over ..", sum, each(&|lane| Some(lane.iter().sum())));
        let largest = [all(source.max_axes(..)), source.max_axes(keepdims(..))];
        check("maximum over ..", largest, each(&|lane| lane.iter().max().copied()));
        let smallest = [all(source.min_axes(..)), source.min_axes(keepdims(..))];
        check("minimum over ..", smallest, each(&|lane| lane.iter().min().copied()));
        let reduced = [all(source.reduce_axes(.., 0, xor)), source.reduce_axes(keepdims(..), 0, xor)];
        check("reduction over ..", reduced, each(&|lane| Some(lane.iter().fold(0, |a, b| a ^ b))));
    }
    // to the shape with the axes as size 1, of a size and of an array
    let target = ArrayD::<u8>::zeros(&kept[..]);
    let to = [source.sum_to(&kept), source.sum_to(&target)];
    for found in to.into_iter().chain([source.reduce_to(&target, 0, |a, b| a + b)]) {
        let expected = each(&|lane| Some(lane.iter().sum())).expect("sums");
        assert!(found.expect("it broadcasts").iter().eq(&expected), "{x:?} to {kept:?}");
    }
    let check_to = |form: &str, found: [Result<ArrayD<i64>>; 2], lanes: &dyn Fn(&Vec<i64>) -> Option<i64>| {
        let [by_sizes, by_array] = found;
        check(form, [by_sizes.map(|found| drop_axes(found, axes)), by_array], each(lanes));
    };
    check_to("maximum to", [source.max_to(&kept), source.max_to(&target)], &|lane| {
        lane.iter().max().copied()
    });
    check_to("minimum to", [source.min_to(&kept), source.min_to(&target)], &|lane| {
        lane.iter().min().copied()
    });
}

#[test]
fn forms_over_axes_of_all_sources() {
    for shape in SHAPES {
        in_all_layouts(shape, |x| {
            let (half, rest) = (x.mapv(|item| item >> 1), x.mapv(|item| item - (item >> 1)));
            for axes in axis_sets(shape.len()) {
                over_axes(x, x, &axes);
                over_axes(&fused(x, |&item| item), x, &axes);
                over_axes(&fused((&half, &rest), |a, b| a + b), x, &axes);
                over_axes(&x.par(), x, &axes);
                over_axes(&fused((&half, &rest), |a, b| a + b).par(), x, &axes);
            }
        });
    }
}

/// Sums to placed axes are sums over the others, transposed.
#[test]
fn sums_to_placed_axes() -> Result<()> {
    let x = numbers(&[4, 3, 5]).into_dimensionality::<Ix3>().expect("three axes");
    let row = numbers(&[5]);
    let product = fused((&x, &row), |x, r| x * r);
    let stored: Array3<i64> =
        broadcast_map((&x, &row), |x, r| x * r)?.into_dimensionality().expect("three axes");
    for (order, size) in [([2, 1], [5, 3]), ([1, 2], [3, 5]), ([0, 2], [4, 5]), ([2, 0], [5, 4])] {
        for target in [size, [1, size[1]], [size[0], 1], [1, 1]] {
            let kept = |axis: usize| order.contains(&axis);
            let sum: Array2<i64> =
                stored.sum_axes((0..3).find(|&axis| !kept(axis)).expect("one of three"))?;
            let sum = if order[0] > order[1] { sum.reversed_axes() } else { sum };
            let expected = sum.sum_to(target)?;
            assert_eq!(stored.sum_in_dim(target, order)?, expected, "{order:?} to {target:?}");
            assert_eq!(product.sum_in_dim(target, order)?, expected, "fused {order:?} to {target:?}");
            assert_eq!(product.par().sum_in_dim(target, order)?, expected);
            assert_eq!(stored.par().sum_in_dim(&expected, order.map(|axis| axis as isize - 3))?, expected);
            let mut grad = Array2::from_elem((target[0], target[1]).f(), 7);
            stored.add_sum_in_dim_to(&mut grad, order)?;
            product.add_sum_in_dim_to(&mut grad, order)?;
            assert_eq!(grad, &expected * 2 + 7);
        }
    }
    assert_eq!(product.sum_in_dim((), [])?, arr0(stored.sum()));
    Ok(())
}

#[test]
fn an_error_changes_nothing() {
    let (x, y, mut out) = (Array2::<i64>::ones((3, 4)), Array1::<i64>::ones(4), array![1, 2, 3]);
    let before = out.clone();
    assert!(x.add_sum_to(&mut out).is_err() && x.assign_sum_to(&mut out).is_err());
    assert!(x.scaled_add_sum_to(2, &mut out).is_err() && x.par().add_sum_to(&mut out).is_err());
    assert!(fused((&x, &y), |x, y| x * y).add_sum_to(&mut out).is_err());
    assert!(fused((&x, &out), |x, y| x * y).add_sum_to(&mut before.clone()).is_err(), "no joint shape");
    assert!(x.add_sum_in_dim_to(&mut out, 1).is_err() && x.add_sum_in_dim_to(&mut out, 2).is_err());
    assert_eq!(out, before);
}

fn is<D: Dimension, E: Dimension>(sum: Array<i64, D>, expected: &Array<i64, E>) {
    assert_eq!(sum.into_dyn(), expected.clone().into_dyn());
}

/// Every way to name axes, with the number of axes that is left in the type.
#[test]
fn axes_are_named_in_every_way() -> Result<()> {
    let x = numbers(&[4, 3, 5]).into_dimensionality::<Ix3>().expect("three axes");
    let (over_02, over_1) = (x.sum_axis(Axis(2)).sum_axis(Axis(0)), x.sum_axis(Axis(1)));
    let fixed: [Array<i64, Ix1>; 6] = [
        x.sum_axes([0, 2])?,
        x.sum_axes((0, 2))?,
        x.sum_axes((-1, 0_u8))?,
        x.sum_axes(&(Axis(2), -3))?,
        x.sum_axes([Axis(0), Axis(2)])?,
        x.sum_axes(&[2_i8, 0])?,
    ];
    for sum in fixed {
        is(sum, &over_02);
    }
    let fixed: [Array<i64, Ix2>; 4] =
        [x.sum_axes(1)?, x.sum_axes((-2,))?, x.sum_axes([1])?, x.sum_axes(Axis(1))?];
    for sum in fixed {
        is(sum, &over_1);
    }
    let dynamic: [ArrayD<i64>; 3] =
        [x.sum_axes(&[0, 2][..])?, x.sum_axes(vec![2, 0])?, x.sum_axes(&AxisSet::from([2, 0, 2]))?];
    for sum in dynamic {
        is(sum, &over_02);
    }
    let none: [Array<i64, Ix3>; 2] = [x.sum_axes([])?, x.sum_axes(())?];
    for sum in none {
        is(sum, &x);
    }
    let all: Array<i64, Ix0> = x.sum_axes((0, 1, -1))?;
    is(all, &arr0(x.sum()));
    is(x.sum_axes(..)?, &arr0(x.sum()));
    is(x.clone().into_dyn().sum_axes(..)?, &arr0(x.sum())); // no axes are left, whatever their number was
    let all: Array<i64, Ix3> = x.sum_axes(keepdims(..))?;
    is(all, &ndarray::arr3(&[[[x.sum()]]]));
    let kept: [Array<i64, Ix3>; 3] =
        [x.sum_axes(keepdims(1))?, x.sum_axes(keepdims((1,)))?, x.sum_axes(keepdims(&[-2][..]))?];
    for sum in kept {
        is(sum, &over_1.clone().insert_axis(Axis(1)));
    }
    assert!(x.sum_axes((0, -3)).is_err() && x.sum_axes(keepdims((0, -3))).is_err());
    assert!(x.sum_axes((3,)).is_err() && x.sum_axes(keepdims(-4)).is_err());
    Ok(())
}

/// By value, an array that has the shape is the result.
#[test]
fn by_value_nothing_is_copied() -> Result<()> {
    let x = numbers(&[3, 4]);
    let at = x.as_ptr();
    let x = x.into_sum_to(&[3, 4][..])?;
    assert_eq!(x.as_ptr(), at);
    let shared = x.clone().into_shared();
    let (other, at) = (shared.clone(), shared.as_ptr());
    assert_ne!(other.into_sum_to(&x)?.as_ptr(), at, "a shared array is copied");
    assert_eq!(shared.into_sum_to(&x)?.as_ptr(), at);
    assert_eq!(x.view().into_sum_to(&x)?, x);
    assert_eq!(fused(&x, |x| x * 2).into_sum_to(&x)?, &x * 2);
    assert_eq!(x.view().into_sum_to(4)?, x.sum_to(4)?.into_dimensionality().expect("one axis"));
    assert!(x.into_sum_to(3).is_err());
    Ok(())
}

/// More than 64 axes have no mask of bits.
#[test]
fn many_axes() -> Result<()> {
    let mut shape = vec![1; 70];
    (shape[3], shape[66]) = (4, 5);
    let x = numbers(&shape);
    assert_eq!(x.sum_axes(&[3, 66][..])?.sum(), x.sum());
    assert_eq!(x.max_axes(keepdims(66))?.len(), 4);
    assert_eq!((x.sum_axes(..)?, x.min_axes(keepdims(..))?.ndim()), (arr0(x.sum()), 70));
    let of_64: ArrayD<i64> = x.sum_axes(&[0, 1, 2, 4, 5, 6][..])?;
    assert_eq!((of_64.ndim(), of_64.sum_axes(..)?), (64, arr0(x.sum())));
    assert_eq!(fused((&x, &arr0(1).into_dyn()), |a, b| a * b).min_axes(3)?.len(), 5);
    assert!(x.sum_axes(&[3, 3][..]).is_err() && x.sum_axes(70).is_err());
    Ok(())
}

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

/// The array without the axes, which have size 1.
fn drop_axes(array: ArrayD<i64>, axes: &[usize]) -> ArrayD<i64> {
    axes.iter().rev().fold(array, |array, &axis| array.index_axis_move(Axis(axis), 0))
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
