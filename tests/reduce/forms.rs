//! Forms and sources combine: each form gives the same for an array, for fused operands and on several threads.

use crate::sources::{SHAPES, axis_sets, in_all_layouts, lanes, left_and_kept, numbers};
use ndarray::{
    Array, Array1, Array2, Array3, ArrayD, ArrayViewD, Axis, Dimension, Ix0, Ix1, Ix2, Ix3, IxDyn,
    ShapeBuilder, arr0, array,
};
use ndarray_broadcast::{AxisSet, BroadcastError, broadcast_map, fused, keepdims, prelude::*};

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
    // to the shape with the axes as size 1, of a size and of an array
    let target = ArrayD::<u8>::zeros(&kept[..]);
    let to = [source.sum_to(&kept), source.sum_to(&target)];
    for found in to.into_iter().chain([source.reduce_to(&target, 0, |a, b| a + b)]) {
        let expected = each(&|lane| Some(lane.iter().sum())).expect("sums");
        assert!(found.expect("it broadcasts").iter().eq(&expected), "{x:?} to {kept:?}");
    }
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

/// Operands that are stretched: rows, columns and single elements.
#[test]
fn fused_operands_are_stretched() {
    for [m, n] in [[1, 1], [3, 4], [40, 65], [9, 1], [1, 33], [0, 4], [4, 0]] {
        let (row, column, one) = (numbers(&[n]), numbers(&[m, 1]), numbers(&[1, 1, 1]));
        let x = numbers(&[m, n]);
        let f = |x: &i64, r: &i64, c: &i64, o: &i64| x * r - c * o;
        let mut all = ArrayD::zeros(vec![1, m, n]);
        all.indexed_iter_mut().for_each(|(at, out)| {
            *out = f(&x[[at[1], at[2]]], &row[at[2]], &column[[at[1], 0]], &one[[0, 0, 0]]);
        });
        for axes in axis_sets(3) {
            over_axes(&fused((&x, &row, &column, &one), f), &all.view(), &axes);
            over_axes(&fused((&x, &row, &column, &one), f).par(), &all.view(), &axes);
        }
        let list = [x.view(), x.t().reversed_axes(), x.view()];
        let of_list = fused(list, |a, b, c| a + b - 2 * c);
        assert!(of_list.sum_axes([0, 1]).expect("two axes").iter().all(|&sum| sum == 0));
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

/// The three verbs, into arrays of any layout.
#[test]
fn into_arrays_that_exist() -> Result<()> {
    for shape in SHAPES {
        let x = numbers(shape);
        let two = arr0(2);
        let double = fused((&x, &two), |x, two| x * two);
        for axes in axis_sets(shape.len()) {
            let [_, kept] = left_and_kept(shape, &axes);
            let sum: ArrayD<i64> = x.sum_to(&kept)?;
            for reversed in [false, true] {
                let mut room = ArrayD::from_elem(kept.iter().map(|size| 2 * size).collect::<Vec<_>>(), 5);
                let step = if reversed { -2 } else { 2 };
                let mut out = room.slice_each_axis_mut(|_| ndarray::Slice::new(0, None, step));
                x.assign_sum_to(&mut out)?;
                assert_eq!(out, sum);
                x.add_sum_to(&mut out)?;
                x.scaled_add_sum_to(-3, &mut out)?;
                assert_eq!(out, -&sum);
                double.add_sum_to(&mut out)?;
                double.par().scaled_add_sum_to(2, &mut out)?;
                x.par().add_sum_to(&mut out)?;
                assert_eq!(out, &sum * 6);
                double.assign_sum_to(&mut out)?;
                assert_eq!(out, &sum * 2);
                x.par().assign_sum_to(&mut out)?;
                assert_eq!(out, sum);
                // what is between is untouched
                let between = room.len() - sum.len();
                assert!(room.iter().filter(|&&item| item == 5).count() >= between);
            }
        }
    }
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

#[track_caller]
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
    assert_eq!(fused((&x, &arr0(1).into_dyn()), |a, b| a * b).min_axes(3)?.len(), 5);
    assert!(x.sum_axes(&[3, 3][..]).is_err() && x.sum_axes(70).is_err());
    Ok(())
}
