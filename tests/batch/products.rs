//! Products that are large enough for `ndarray::linalg` equal loops, in any layout, serial and parallel. The gradients of
//! products, as the guide derives them, against finite differences.
#![allow(clippy::unwrap_used, clippy::many_single_char_names, reason = "tests")]

use approx::assert_abs_diff_eq;
use common::Lie::{C, F, Gap, Reversed, Rows, Second};
use common::{Lie, aligned_right, indices, is_thorough, joint, read_at, sample};
use ndarray::{
    Array, Array1, Array2, Array3, Array4, ArrayD, ArrayRef, Axis, CowArray, Dimension, Ix1, Ix2, IxDyn,
    LinalgScalar, ShapeBuilder, array,
};
use ndarray_broadcast::bounds::{BaseOp, LessAxes};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{Batch, base_op};
use num_traits::{One, Zero};
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
    P: BaseOp<T, T, B, B2, Output = T>,
    IxDyn: ndarray::DimAdd<P::Base, Output = IxDyn> + LessAxes<B, Left = IxDyn> + LessAxes<B2, Left = IxDyn>,
    B: Dimension,
    B2: Dimension,
{
    let equal = |found: &ArrayRef<T, IxDyn>| {
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
        // a batch with one axis more
        let mut out = lying(&[&[2], found.shape()].concat(), lie);
        a.apply_into(op, b, &mut out).expect("a result of a larger batch");
        out.outer_iter().for_each(|out| equal(&out));
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
    // few columns of each product, so that those of all products are columns with gaps
    matrices::<f32>([&[], &[20]], [16, 16, 3]);
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

/// Vectors without gaps and with them, also fewer of them than products, and more products than one thread takes.
#[test]
fn inner_products_of_each_length() {
    for terms in sample(6, (1..=70).chain([1023, 1024, 1025, 2048, 3100])) {
        for batches in [[&[3, 2][..], &[2]], [&[1], &[5]], [&[3, 1], &[2]], [&[], &[1]]] {
            for (lie, other) in [(C, C), (F, C), (Reversed, Gap)] {
                let [a, b] = [(batches[0], lie), (batches[1], other)]
                    .map(|(batch, lie)| lying::<f32>(&[batch, &[terms]].concat(), lie));
                let expected = naive([&a, &b], [1, terms, 1], [1, 1]);
                let (x, y) = (a.batch::<Ix1>().expect("a base"), b.batch::<Ix1>().expect("a base"));
                check(base_op::Inner, &x, &y, &expected, &(terms, batches, lie, other));
            }
        }
    }
    let (a, b) = (lying::<f64>(&[9001, 7, 9], C), lying::<f64>(&[7, 9], C));
    let expected = naive([&a, &b], [1, 9, 1], [1, 1]);
    check(base_op::Inner, &a.batch::<Ix1>().unwrap(), &b.batch::<Ix1>().unwrap(), &expected, &"many");
}

/// No rows, terms or columns, and some that choose another way: the result is empty, or zeros.
#[test]
fn products_of_no_elements() {
    const SIDES: [u8; 7] = [0, 1, 2, 3, 9, 64, 247];
    let all = |shape: &[usize], x: u8| ArrayD::from_elem(shape, f64::from(x));
    for at in indices(&[7, 7, 7]) {
        let [rows, terms, columns] = [at[0], at[1], at[2]].map(|side| usize::from(SIDES[side]));
        let sum = SIDES[at[1]];
        let (matrix, vector) = (all(&[2, rows, terms], 1), all(&[3, 1, terms], 1));
        let (m, v) = (matrix.batch::<Ix2>().unwrap(), vector.batch::<Ix1>().unwrap());
        let of_rows = all(&[3, 2, rows], sum);
        assert_eq!(m.matvec(&v).unwrap(), of_rows, "{rows} {terms}");
        assert_eq!(m.par().matvec(&v).unwrap(), of_rows, "{rows} {terms}");
        assert_eq!(v.inner(&v).unwrap(), all(&[3, 1], sum), "{terms}");
        let other = all(&[terms, columns], 1);
        let products = m.matmul(&other.batch::<Ix2>().unwrap()).unwrap();
        assert_eq!(products, all(&[2, rows, columns], sum), "{rows} {terms} {columns}");
        assert_eq!(v.vecmat(&m.transpose()).unwrap(), of_rows, "{rows} {terms}");
    }
}

/// Threads share many small matrices, of which those of one operand are fewer.
#[test]
fn many_small_matrices() {
    let batches = if is_thorough() { 20_001 } else { 301 };
    let (a, b) = (lying::<f32>(&[5, 2, 2], C), lying::<f32>(&[batches, 5, 2], C));
    let expected = naive([&a, &b], [2, 2, 1], [2, 1]);
    check(base_op::MatVec, &a.batch::<Ix2>().unwrap(), &b.batch::<Ix1>().unwrap(), &expected, &"many");
    // with gaps they are halved until their copies are small, along the first axis that has several
    matrices::<f32>([&[1, 300], &[300]], [4, 4, 4]);
}

/// Numbers that do not follow from each other, between -1 and 1.
fn scrambled<Sh: ShapeBuilder>(shape: Sh, seed: f64) -> Array<f64, Sh::Dim> {
    let mut k = seed;
    Array::from_shape_simple_fn(shape, || {
        k = (k * 97.3 + 0.31).sin();
        k
    })
}

/// Where operands or results have gaps, products are computed in blocks, cut along rows, columns and terms. Threads, which cut
/// elsewhere, do not change the bits.
#[test]
fn large_products_of_each_layout() {
    for (rows, terms, columns) in [
        (130, 3, 140),
        (9, 9_000, 3),
        (30, 2_800, 3),
        (3, 2_800, 30),
        (1, 30_000, 2),
        (2, 9_000, 1),
        (7, 70, 1),
        (1, 5, 9),
    ] {
        let (a, b) = (scrambled((rows, terms), 0.5), scrambled((terms, columns), 0.7));
        let expected = a.batch::<Ix2>().unwrap().matmul(&b.batch::<Ix2>().unwrap()).unwrap();
        assert_abs_diff_eq!(expected[(0, 0)], a.row(0).dot(&b.column(0)), epsilon = 1e-9);
        let (mut turned_a, mut turned_b) =
            (Array::zeros((rows, terms).f()), Array::zeros((terms, columns).f()));
        turned_a.assign(&a);
        turned_b.assign(&b);
        for a in [&a, &turned_a] {
            for b in [&b, &turned_b] {
                let (a, b) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix2>().unwrap());
                for lie in [C, F, Rows, Second, Reversed, Gap] {
                    let mut out = lying::<f64>(expected.shape(), lie);
                    a.apply_into(base_op::MatMul, &b, &mut out).unwrap();
                    assert_abs_diff_eq!(out, expected.view().into_dyn(), epsilon = 1e-9);
                    let serial = out.clone();
                    a.par().apply_into(base_op::MatMul, &b, &mut out).unwrap();
                    assert_eq!(out, serial, "{rows} {terms} {columns} {lie:?}");
                }
            }
        }
    }
}

/// One operand for all, or for some: the same as one for each.
#[test]
fn shared_operands_equal_one_for_each() {
    for n in [1, 2, 3, 5, 8, 12] {
        for (m, batches) in [(n, [&[1][..], &[20]]), (n + 1, [&[9, 1], &[9, 3]]), (2, [&[1, 3], &[9, 3]])] {
            for batches in [batches, [batches[1], batches[0]]] {
                let [a, b] = [(batches[0], [m, n]), (batches[1], [n, m])]
                    .map(|(batch, base)| lying::<f32>(&[batch, &base].concat(), C));
                let [v, w] = [batches[0], batches[1]].map(|batch| lying::<f32>(&[batch, &[n]].concat(), C));
                let context = (n, m, batches);
                let (x, y) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix2>().unwrap());
                check(base_op::MatMul, &x, &y, &naive([&a, &b], [m, n, m], [2, 2]), &context);
                let (p, q) = (v.batch::<Ix1>().unwrap(), w.batch::<Ix1>().unwrap());
                check(base_op::MatVec, &x, &q, &naive([&a, &w], [m, n, 1], [2, 1]), &context);
                check(base_op::VecMat, &p, &y, &naive([&v, &b], [1, n, m], [1, 2]), &context);
            }
        }
    }
}

/// Batch axes along which one operand or each of two has one element, of arrays with swapped, reversed and repeated axes.
#[test]
fn one_sided_batch_axes_of_each_stride() {
    /// A matrix of each batch element, as a view of `memory`.
    fn matrices<T: Clone>(memory: &ArrayD<T>, variant: usize) -> CowArray<'_, T, IxDyn> {
        let (mut view, last) = (memory.view(), memory.ndim() - 1);
        match variant {
            0 => view.swap_axes(last - 1, last),
            1 => view.invert_axis(Axis(last)),
            2 => view.invert_axis(Axis(last - 1)),
            3 => (0..=last).for_each(|axis| view.invert_axis(Axis(axis))),
            _ => {}
        }
        view.into()
    }
    fn products<T: LinalgScalar + Into<f64> + From<i8> + Send + Sync>() {
        let sizes = [[3, 5, 2], [9, 17, 10], [1, 20, 3], [4, 70, 1], [5, 0, 4], [6, 6, 6]];
        let batches =
            [[&[4, 1][..], &[1, 3]], [&[2], &[3, 2]], [&[], &[3, 2]], [&[3, 2], &[]], [&[2, 1, 3], &[4, 1]]];
        for (i, (sizes, [of_a, of_b])) in
            sizes.iter().flat_map(|sizes| batches.iter().map(move |batches| (*sizes, *batches))).enumerate()
        {
            let [m, n, p] = sizes;
            for variant in sample(3, 0..5) {
                let other = (variant + i) % 5;
                let shape = |batch: &[usize], [x, y]: [usize; 2], variant| {
                    [batch, &if variant == 0 { [y, x] } else { [x, y] }].concat()
                };
                let (a, b) = (
                    lying::<T>(&shape(of_a, [m, n], variant), C),
                    lying::<T>(&shape(of_b, [n, p], other), C),
                );
                let (a, b) = (matrices(&a, variant), matrices(&b, other));
                let expected = naive([&a.to_owned(), &b.to_owned()], sizes, [2, 2]);
                let (x, y) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix2>().unwrap());
                check(base_op::MatMul, &x, &y, &expected, &(of_a, of_b, sizes, variant, other));
                if p == 1 {
                    let v = b.index_axis(Axis(b.ndim() - 1), 0);
                    let y = v.batch::<Ix1>().unwrap();
                    check(base_op::MatVec, &x, &y, &expected, &(of_a, of_b, sizes, variant, other));
                }
            }
        }
    }
    products::<f32>();
    products::<i16>();
}

/// Vectors whose batches broadcast on both sides, rows of one element that is repeated, and terms of stride 0.
#[test]
fn repeated_elements() {
    for terms in [1, 5, 9, 70] {
        let (a, b) = (lying::<f64>(&[6, 1, terms], C), lying::<f64>(&[1, 7, terms], Reversed));
        let expected = naive([&a, &b], [1, terms, 1], [1, 1]);
        check(base_op::Inner, &a.batch::<Ix1>().unwrap(), &b.batch::<Ix1>().unwrap(), &expected, &terms);
        let (row, column) = (lying::<f32>(&[2, 1, terms], C), lying::<f32>(&[2, 9, 1], C));
        let (rows, columns) =
            (row.broadcast(vec![2, 9, terms]).unwrap(), column.broadcast(vec![2, 9, terms]).unwrap());
        for (a, b) in [(&rows, &rows), (&columns, &columns), (&rows, &columns), (&columns, &rows)] {
            let turned = b.view().permuted_axes(vec![0, 2, 1]);
            let expected = naive([&a.to_owned(), &turned.to_owned()], [9, terms, 9], [2, 2]);
            check(
                base_op::MatMul,
                &a.batch::<Ix2>().unwrap(),
                &turned.batch::<Ix2>().unwrap(),
                &expected,
                &terms,
            );
        }
    }
}

/// An element whose products are their first factors.
#[derive(Clone, Copy)]
struct First(i16);

impl From<i8> for First {
    fn from(number: i8) -> Self {
        Self(number.into())
    }
}

impl From<First> for f64 {
    fn from(first: First) -> Self {
        first.0.into()
    }
}

macro_rules! operators {
    ($($Op:ident $op:ident $of:expr;)*) => {$(
        impl std::ops::$Op for First {
            type Output = Self;
            fn $op(self, other: Self) -> Self {
                let of: fn(i16, i16) -> i16 = $of;
                Self(of(self.0, other.0))
            }
        }
    )*};
}
operators! {
    Add add |a, b| a + b;
    Sub sub |a, b| a - b;
    Mul mul |a, _| a;
    Div div |a, _| a;
}

impl Zero for First {
    fn zero() -> Self {
        Self(0)
    }
    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl One for First {
    fn one() -> Self {
        Self(1)
    }
}

/// Multiplication need not commute: where the factors of a product are swapped, those of its terms are not.
#[test]
fn factors_keep_their_order() {
    for [rows, terms, columns] in
        [[2, 2, 2], [3, 5, 1], [9, 4, 3], [3, 70, 5], [1, 70, 3], [3, 70, 1], [2, 70, 1], [1, 70, 1]]
    {
        for batches in [[&[3][..], &[3]], [&[3], &[]], [&[], &[3]]] {
            for (lie, other) in [(C, C), (F, Gap)] {
                let operands = |bases: [&[usize]; 2]| {
                    let a = lying::<First>(&[batches[0], bases[0]].concat(), lie);
                    let b = lying::<First>(&[batches[1], bases[1]].concat(), other);
                    let firsts = [a.clone(), b.map(|_| First(1))];
                    let expected =
                        naive([&firsts[0], &firsts[1]], [rows, terms, columns], bases.map(<[_]>::len));
                    (a, b, expected)
                };
                let context = (rows, terms, columns, batches, lie, other);
                let (a, b, expected) = operands([&[rows, terms], &[terms, columns]]);
                let (x, y) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix2>().unwrap());
                check(base_op::MatMul, &x, &y, &expected, &context);
                if columns == 1 {
                    let (a, b, expected) = operands([&[rows, terms], &[terms]]);
                    let (x, y) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix1>().unwrap());
                    check(base_op::MatVec, &x, &y, &expected, &context);
                }
                if rows == 1 {
                    let (a, b, expected) = operands([&[terms], &[terms, columns]]);
                    let (x, y) = (a.batch::<Ix1>().unwrap(), b.batch::<Ix2>().unwrap());
                    check(base_op::VecMat, &x, &y, &expected, &context);
                }
            }
        }
    }
}

/// Asserts that `gradient` is that of `loss` at `x`; the loss is of second order at most, so that central differences are
/// exact but for rounding.
fn assert_gradient<D: Dimension>(
    x: &Array<f64, D>,
    gradient: &Array<f64, D>,
    loss: impl Fn(&Array<f64, D>) -> f64,
) {
    let mut moved = x.clone();
    let mut differences = x.clone();
    for (i, difference) in differences.iter_mut().enumerate() {
        let mut loss_after = |by: f64| {
            let at = moved.iter_mut().nth(i).unwrap();
            let before = std::mem::replace(at, *at + by);
            let loss = loss(&moved);
            *moved.iter_mut().nth(i).unwrap() = before;
            loss
        };
        *difference = loss_after(0.5) - loss_after(-0.5);
    }
    assert_abs_diff_eq!(gradient, &differences, epsilon = 1e-9);
}

fn weighted<D: Dimension>(y: &ArrayRef<f64, D>, weights: &ArrayRef<f64, D>) -> f64 {
    y.iter().zip(weights).map(|(y, w)| y * w).sum()
}

#[test]
fn of_matvec() {
    let (m, v): (Array3<f64>, Array3<f64>) = (scrambled((2, 3, 4), 0.1), scrambled((5, 1, 4), 0.2));
    let delta: Array3<f64> = scrambled((5, 2, 3), 0.3);
    let (mb, vb, db) = (m.batch::<Ix2>().unwrap(), v.batch::<Ix1>().unwrap(), delta.batch::<Ix1>().unwrap());
    let of_m = db.outer(&vb).unwrap().batch::<Ix2>().unwrap().sum_batch_to(&mb).unwrap();
    let of_v = mb.transpose().matvec(&db).unwrap().batch::<Ix1>().unwrap().sum_batch_to(&vb).unwrap();
    let y = |m: &Array3<f64>, v: &Array3<f64>| {
        m.batch::<Ix2>().unwrap().matvec(&v.batch::<Ix1>().unwrap()).unwrap()
    };
    assert_gradient(&m, &of_m, |m| weighted(&y(m, &v), &delta));
    assert_gradient(&v, &of_v, |v| weighted(&y(&m, v), &delta));
}

#[test]
fn of_matmul() {
    let (a, b): (Array4<f64>, Array3<f64>) = (scrambled((3, 1, 2, 4), 0.4), scrambled((2, 4, 3), 0.5));
    let delta: Array4<f64> = scrambled((3, 2, 2, 3), 0.6);
    let (ab, bb, db) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix2>().unwrap(), delta.batch::<Ix2>().unwrap());
    let of_a = db.matmul(&bb.transpose()).unwrap().batch::<Ix2>().unwrap().sum_batch_to(&ab).unwrap();
    let of_b = ab.transpose().matmul(&db).unwrap().batch::<Ix2>().unwrap().sum_batch_to(&bb).unwrap();
    let y = |a: &Array4<f64>, b: &Array3<f64>| {
        a.batch::<Ix2>().unwrap().matmul(&b.batch::<Ix2>().unwrap()).unwrap()
    };
    assert_gradient(&a, &of_a, |a| weighted(&y(a, &b), &delta));
    assert_gradient(&b, &of_b, |b| weighted(&y(&a, b), &delta));
}

#[test]
fn of_outer() {
    let (u, v): (Array3<f64>, Array2<f64>) = (scrambled((5, 1, 3), 0.7), scrambled((2, 4), 0.8));
    let delta: Array4<f64> = scrambled((5, 2, 3, 4), 0.9);
    let (ub, vb, db) = (u.batch::<Ix1>().unwrap(), v.batch::<Ix1>().unwrap(), delta.batch::<Ix2>().unwrap());
    let of_u = db.matvec(&vb).unwrap().batch::<Ix1>().unwrap().sum_batch_to(&ub).unwrap();
    let of_v = ub.vecmat(&db).unwrap().batch::<Ix1>().unwrap().sum_batch_to(&vb).unwrap();
    let y = |u: &Array3<f64>, v: &Array2<f64>| {
        u.batch::<Ix1>().unwrap().outer(&v.batch::<Ix1>().unwrap()).unwrap()
    };
    assert_gradient(&u, &of_u, |u| weighted(&y(u, &v), &delta));
    assert_gradient(&v, &of_v, |v| weighted(&y(&u, v), &delta));
}

/// Every layout, sizes of 0 and 1, and the forms that write into an array.
#[test]
fn outer_products_and_transposes() {
    for (m, n) in [(0, 3), (1, 1), (3, 0), (4, 5), (40, 33)] {
        let (a, b): (Array3<f64>, Array2<f64>) = (scrambled((2, 1, m), 0.3), scrambled((3, n).f(), 0.2));
        let expected = Array4::from_shape_fn((2, 3, m, n), |(i, j, k, l)| a[[i, 0, m - 1 - k]] * b[[j, l]]);
        let turned = a.slice(ndarray::s![.., .., ..;-1]);
        let (x, y) = (turned.batch::<Ix1>().unwrap(), b.batch::<Ix1>().unwrap());
        assert_eq!(x.outer(&y), Ok(expected.clone()));
        let mut out = Array4::from_elem((2, 3, n, m), 7.0).permuted_axes([0, 1, 3, 2]);
        x.apply_into(base_op::Outer, &y, &mut out).unwrap();
        assert_eq!(out, expected);
        assert_eq!(x.par().apply(ndarray_broadcast::base_op::Outer, &y), Ok(expected.clone()));
        let whole = expected.batch::<Ix2>().unwrap().transpose();
        assert_eq!(whole.base_shape(), [n, m]);
        assert_eq!(whole.into_view(), y.outer(&x).unwrap());
        assert_eq!(whole.transpose().into_view(), expected);
    }
    let dynamic = array![1, 2].into_dyn();
    let pairs = dynamic.batch_dyn(1).unwrap().outer(&dynamic.batch_dyn(1).unwrap()).unwrap();
    assert_eq!(pairs, array![[1, 2], [2, 4]].into_dyn());
    let flat: Array1<i32> = array![1, 2];
    let error = dynamic.batch_dyn(0).unwrap().outer(&flat.batch_dyn(1).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ndarray_broadcast::ErrorKind::BaseAxes);
}

/// Rounded products on several threads have the bits of those on one.
#[test]
fn threads_round_as_one_does() {
    for (batch, [m, n, p]) in [
        (1, [256, 256, 256]),
        (1, [301, 133, 97]),
        (90, [40, 41, 42]),
        (1, [3, 300_000, 2]),
        (300, [64, 70, 1]),
    ] {
        let (a, b) = (scrambled((batch, m, n), 0.1), scrambled((batch, n, p), 0.2));
        let (x, y) = (a.batch::<Ix2>().unwrap(), b.batch::<Ix2>().unwrap());
        assert_eq!(x.par().matmul(&y), x.matmul(&y));
        let (row, column) = (a.index_axis(Axis(1), 0).to_owned(), b.index_axis(Axis(2), 0).to_owned());
        let (row, column) = (row.batch::<Ix1>().unwrap(), column.batch::<Ix1>().unwrap());
        assert_eq!(x.par().matvec(&column), x.matvec(&column));
        assert_eq!(row.par().vecmat(&y), row.vecmat(&y));
        assert_eq!(row.par().inner(&column), row.inner(&column));
    }
    // three batch axes, the innermost of which threads cut
    let (a, v) = (scrambled((101, 1, 7, 2, 2), 0.1), scrambled((101, 7, 2), 0.2));
    let (x, y) = (a.batch::<Ix2>().unwrap(), v.batch::<Ix1>().unwrap());
    assert_eq!(x.par().matvec(&y), x.matvec(&y));
}

/// The terms of a product are added pairwise, by each way and in each layout.
#[test]
fn errors_do_not_grow_with_the_number_of_terms() {
    let count = if is_thorough() { 1_u32 << 20 } else { 1 << 17 };
    let (exact, terms) = (f64::from(0.1_f32) * f64::from(count), count as usize);
    let check = |name: &str, sums: Vec<f32>| {
        assert!(!sums.is_empty());
        for sum in sums {
            let error = (f64::from(sum) - exact).abs() / exact;
            assert!(error < 1e-6, "{name}: {sum} is off by {error:e} from {exact}");
        }
    };
    let (tenths, ones) = (Array2::from_elem((terms, 2), 0.1_f32), Array2::from_elem((terms, 2), 1_f32));
    for (name, tenths, ones) in [
        ("columns", tenths.t(), ones.t()),
        (
            "rows",
            tenths.view().into_shape_with_order((2, terms)).unwrap(),
            ones.view().into_shape_with_order((2, terms)).unwrap(),
        ),
    ] {
        let vectors = tenths.batch::<Ix1>().unwrap();
        let both = ones.batch::<Ix1>().unwrap();
        check(&format!("{name}, inner"), vectors.inner(&both).unwrap().to_vec());
        check(&format!("{name}, inner, par"), vectors.par().inner(&both).unwrap().to_vec());
        let one = ones.row(0);
        let one = one.batch::<Ix1>().unwrap();
        let matrix = tenths.batch::<Ix2>().unwrap();
        check(&format!("{name}, matvec"), matrix.matvec(&one).unwrap().to_vec());
        check(&format!("{name}, matvec, par"), matrix.par().matvec(&one).unwrap().to_vec());
        // each vector in a batch of its own
        check(&format!("{name}, vectors"), matrix.matvec(&both).unwrap().iter().copied().collect());
    }
}

/// Elements of 16 bytes, of which a block has fewer bytes than terms that are added in registers.
#[test]
fn vectors_by_matrices_of_large_elements() {
    for (terms, columns) in [(600, 8), (900, 5), (1030, 8), (2100, 3), (300, 20)] {
        let matrix = Array2::from_shape_fn((terms, columns), |(i, j)| (i * columns + j) as i128);
        let vector = Array1::from_shape_fn(terms, |i| (i % 7) as i128);
        let expected: Vec<i128> =
            (0..columns).map(|j| (0..terms).map(|i| (i % 7 * (i * columns + j)) as i128).sum()).collect();
        let (vectors, matrices) = (vector.batch::<Ix1>().unwrap(), matrix.batch::<Ix2>().unwrap());
        assert_eq!(vectors.vecmat(&matrices).unwrap().into_raw_vec_and_offset().0, expected);
        let turned = matrix.t();
        let turned = turned.batch::<Ix2>().unwrap();
        assert_eq!(turned.matvec(&vectors).unwrap().into_raw_vec_and_offset().0, expected);
    }
}
