//! How axes are named, what is not copied, and more axes than a mask of bits has.

use ndarray::{Array, ArrayD, Axis, Dimension, Ix0, Ix1, Ix2, Ix3, IxDyn, arr0};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{AxisSet, BroadcastError, fused, keepdims};

type Result<T> = std::result::Result<T, BroadcastError>;

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

/// Small numbers that do not follow from their neighbours'.
pub(crate) fn numbers(shape: &[usize]) -> ArrayD<i64> {
    let mut state = 12345_u64;
    ArrayD::from_shape_simple_fn(IxDyn(shape), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(state >> 57).expect("seven bits") - 64
    })
}
