//! What fuzzing found.

use ndarray::{Array3, ArrayView2, ArrayViewMut2, Ix0, Ix2, array};
use ndarray_broadcast::prelude::*;

/// Views of bases without elements got strides of their own, which reached further than ndarray allows.
#[test]
fn a_huge_base_without_elements() {
    let (one, mut calls) = (array![1.0, 2.0], 0);
    let result =
        one.batch::<Ix0>().expect("a base").map([1_usize << 61, 0], |_, base: ArrayViewMut2<'_, f64>| {
            assert_eq!(base.dim(), (1 << 61, 0));
            calls += 1;
        });
    assert_eq!(result.map(|result| result.dim()), Ok((2, 1 << 61, 0)));
    assert_eq!(calls, 2);

    let huge = Array3::<f64>::zeros((2, 1 << 61, 0));
    let turned = huge.slice(ndarray::s![.., ..;-1, ..]);
    let count =
        |base: ArrayView2<'_, f64>, mut out: ndarray::ArrayViewMut0<'_, usize>| out[()] = base.nrows();
    assert_eq!(turned.batch::<Ix2>().expect("a base").map((), count), Ok(array![1 << 61, 1 << 61]));
}
