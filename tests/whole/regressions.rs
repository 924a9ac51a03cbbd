//! What fuzzing and attacks found.

use ndarray::{Array3, ArrayView2, ArrayViewMut1, ArrayViewMut2, Ix0, Ix1, Ix2, ShapeBuilder, array};
use ndarray_broadcast::prelude::*;

/// Views of bases without elements got strides of their own, which reached further than ndarray allows.
#[test]
fn a_huge_base_without_elements() {
    let (one, mut calls) = (array![1.0, 2.0], 0);
    let result = one.batch::<Ix0>().expect("a base").zip_map(
        (),
        [1_usize << 61, 0],
        |_, base: ArrayViewMut2<'_, f64>| {
            assert_eq!(base.dim(), (1 << 61, 0));
            calls += 1;
        },
    );
    assert_eq!(result.map(|result| result.dim()), Ok((2, 1 << 61, 0)));
    assert_eq!(calls, 2);

    let huge = Array3::<f64>::zeros((2, 1 << 61, 0));
    let turned = huge.slice(ndarray::s![.., ..;-1, ..]);
    let count =
        |base: ArrayView2<'_, f64>, mut out: ndarray::ArrayViewMut0<'_, usize>| out[()] = base.nrows();
    assert_eq!(turned.batch::<Ix2>().expect("a base").zip_map((), (), count), Ok(array![1 << 61, 1 << 61]));
}

/// The stride of an axis without steps was negated: a panic in debug builds.
#[test]
fn a_stride_that_cannot_be_negated() {
    let shape = (1, 3).strides((isize::MIN.cast_unsigned(), 1));
    let row = ArrayView2::from_shape(shape, &[1, 2, 3]).expect("ndarray accepts it");
    let placed = row.broadcast_in_dim((2, 3), [0, 1]);
    assert_eq!(placed, Ok(array![[1, 2, 3], [1, 2, 3]].view()));
    let turned = row.broadcast_in_dim((3, 1), [1, 0]);
    assert_eq!(turned, Ok(array![[1], [2], [3]].view()));
    let along = row.broadcast_axes((2, 1, 3), 0);
    assert_eq!(along, Ok(array![[[1, 2, 3]], [[1, 2, 3]]].view()));

    let base = row.batch::<Ix2>().expect("a base");
    assert_eq!(base.add(&base), Ok(array![[2, 4, 6]]));
    let copy = base.zip_map((), (1, 3), |from, mut to: ArrayViewMut2<'_, i32>| to.assign(&from));
    assert_eq!(copy, Ok(array![[1, 2, 3]]));
    let rows = row.batch::<Ix1>().expect("a base");
    let sums = rows.zip_map(&rows, 1, |x, y, mut sum: ArrayViewMut1<'_, i32>| sum[0] = x.dot(&y));
    assert_eq!(sums, Ok(array![[14]]));
    assert_eq!(base.matvec(&rows), Ok(array![[14]]));
}

/// In slices and dimensions of `usize`, the largest number was taken for -1 by the test, though not by the call.
#[test]
fn the_largest_size_is_not_a_placeholder() {
    let x = array![[1.0, 2.0]];
    for target in [[2, usize::MAX], [0, usize::MAX]] {
        assert!(!x.can_broadcast_to(target) && !x.can_broadcast_to(&target[..]));
        assert!(!x.can_broadcast_to(target.to_vec()) && !x.can_broadcast_to(Ix2(target[0], target[1])));
        assert!(x.broadcast_to(&target[..]).is_err() && x.broadcast_to(target).is_err());
        let batch = x.batch::<Ix0>().expect("a base");
        assert!(batch.expand_batch(&target[..]).is_err() && batch.expand_batch(target).is_err());
    }
}
