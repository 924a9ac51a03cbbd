//! Products that are large enough for `ndarray::linalg` equal loops, in any layout, serial and parallel.

use common::Lie::{self, C, F, Gap, Reversed, Rows, Second};
use common::{aligned_right, indices, joint, read_at};
use ndarray::{ArrayD, Axis, Dimension, Ix1, Ix2, IxDyn, LinalgScalar};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    Batch, base_op,
    bounds::{BaseOp, Threads},
};
use std::fmt::Debug;

/// Numbers from -3 to 3: every sum of products is exact.
fn number(k: usize) -> i8 {
    [2, -3, 0, 1, -1, 3, -2, 1, 2][k % 9]
}

fn lying<T: From<i8>>(shape: &[usize], lie: Lie) -> ArrayD<T> {
    lie.array(shape, |k| number(k + k / 7 + shape[0]).into())
}

/// The products of the matrices or vectors at each batch index, one after the other.
fn naive<T: Into<f64> + Copy>(
    [left, right]: [&ArrayD<T>; 2],
    [rows, terms, columns]: [usize; 3],
    bases: [usize; 2],
) -> Vec<f64> {
    let own = [(left, bases[0]), (right, bases[1])].map(|(x, base)| x.shape()[..x.ndim() - base].to_vec());
    let batch = joint(&own).expect("batches that go together");
    #[allow(clippy::cast_possible_truncation, reason = "small integers")]
    let elements = |x: &ArrayD<T>, own: &[usize], at: &[usize]| -> Vec<i64> {
        let index = read_at(at, own, &aligned_right(own.len(), batch.len()));
        let base = index.iter().fold(x.view(), |x, &i| x.index_axis_move(Axis(0), i));
        base.iter().map(|&x| x.into() as i64).collect()
    };
    let mut found = Vec::new();
    for at in indices(&batch) {
        let (left, right) = (elements(left, &own[0], &at), elements(right, &own[1], &at));
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let term = |i| left[row * terms + i] * right[i * columns + column];
            #[allow(clippy::cast_precision_loss, reason = "small integers")]
            found.push((0..terms).map(term).sum::<i64>() as f64);
        }
    }
    found
}

fn check<T, P, B, B2>(
    op: P,
    a: &Batch<'_, T, IxDyn, B>,
    b: &Batch<'_, T, IxDyn, B2>,
    expected: &[f64],
    context: &dyn Debug,
) where
    T: LinalgScalar + Into<f64> + From<i8> + Send + Sync,
    P: BaseOp<T, T, B, B2, Output = T> + BaseOp<T, T, B, B2, Threads>,
    IxDyn: ndarray::DimAdd<P::Base, Output = IxDyn>,
    B: Dimension,
    B2: Dimension,
{
    let equal = |found: &ArrayD<T>| {
        assert!(found.iter().map(|&x| x.into()).eq(expected.iter().copied()), "{context:?}");
    };
    let found: ArrayD<T> = a.apply(op, b).expect("bases that go together");
    equal(&found);
    equal(&a.par().apply(op, b).expect("bases that go together"));
    for lie in [C, F, Rows, Second, Reversed, Gap] {
        let mut out = lying(found.shape(), lie);
        a.apply_into(op, b, &mut out).expect("a result of this shape");
        equal(&out);
        let mut out = lying(found.shape(), lie);
        a.par().apply_into(op, b, &mut out).expect("a result of this shape");
        equal(&out);
    }
}

fn matrices<T>(batches: [&[usize]; 2], sizes: [usize; 3])
where
    T: LinalgScalar + Into<f64> + From<i8> + Send + Sync,
{
    for (lie, other) in [(C, C), (C, F), (F, C), (Second, Rows), (Reversed, C), (Rows, Gap)] {
        let a = lying::<T>(&[batches[0], &sizes[..2]].concat(), lie);
        let b = lying::<T>(&[batches[1], &sizes[1..]].concat(), other);
        let expected = naive([&a, &b], sizes, [2, 2]);
        let [a, b] = [&a, &b].map(|x| x.batch::<Ix2>().expect("a base"));
        check(base_op::MatMul, &a, &b, &expected, &(batches, sizes, lie, other));
    }
}

#[test]
fn large_products_equal_loops() {
    matrices::<f32>([&[], &[]], [41, 41, 41]);
    matrices::<f64>([&[], &[]], [9, 47, 160]);
    // fewer rows than parts, and terms and columns that must not become parts
    matrices::<f64>([&[], &[]], [8, 257, 256]);
    matrices::<f32>([&[2, 1], &[2]], [40, 42, 41]);
    // a matrix that all share
    matrices::<f32>([&[5], &[]], [20, 40, 24]);
    matrices::<f64>([&[], &[5]], [40, 24, 20]);
}

#[test]
fn one_matrix_times_many_vectors() {
    for (lie, other) in [(C, C), (F, C), (C, F), (Rows, Second)] {
        let (matrix, vectors) = (lying::<f32>(&[40, 24], lie), lying(&[90, 24], other));
        let expected = naive([&matrix, &vectors], [40, 24, 1], [2, 1]);
        let (m, v) = (matrix.batch::<Ix2>().expect("a base"), vectors.batch::<Ix1>().expect("a base"));
        check(base_op::MatVec, &m, &v, &expected, &(lie, other));
    }
}
