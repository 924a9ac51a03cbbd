//! Products of no elements, products that round, which threads do not change, and the gradients of products, as the guide
//! derives them, against finite differences. Those of whole numbers are in `tests/random/cases/products.rs`.
#![allow(clippy::unwrap_used, clippy::many_single_char_names, reason = "tests")]

use approx::assert_abs_diff_eq;
use common::Lie::{C, F, Gap, Reversed, Rows, Second};
use common::{indices, is_thorough};
use ndarray::{
    Array, Array1, Array2, Array3, Array4, ArrayD, ArrayRef, Axis, Dimension, Ix1, Ix2, ShapeBuilder, array,
};
use ndarray_broadcast::base_op;
use ndarray_broadcast::prelude::*;

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
                    let mut out = lie.array(expected.shape(), |_| 0.5);
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
