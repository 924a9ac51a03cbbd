//! The gradients of products of batches, as the guide derives them, against finite differences.
#![allow(clippy::unwrap_used, clippy::many_single_char_names, reason = "tests")]

use ndarray::{Array, Array1, Array2, Array3, Array4, ArrayRef, Dimension, Ix1, Ix2, ShapeBuilder, array};
use ndarray_broadcast::{base_op, prelude::*};

/// Numbers that do not follow from each other, between -1 and 1.
fn scrambled<Sh: ShapeBuilder>(shape: Sh, seed: f64) -> Array<f64, Sh::Dim> {
    let mut k = seed;
    Array::from_shape_simple_fn(shape, || {
        k = (k * 97.3 + 0.31).sin();
        k
    })
}

/// Asserts that `gradient` is that of `loss` at `x`; the loss is of second order at most, so that central differences are
/// exact but for rounding.
fn assert_gradient<D: Dimension>(
    x: &Array<f64, D>,
    gradient: &Array<f64, D>,
    loss: impl Fn(&Array<f64, D>) -> f64,
) {
    assert_eq!(x.shape(), gradient.shape());
    for i in 0..x.len() {
        let moved = |by: f64| {
            let mut x = x.clone();
            x.iter_mut().nth(i).into_iter().for_each(|x| *x += by);
            loss(&x)
        };
        let difference = moved(0.5) - moved(-0.5);
        let found = gradient.iter().nth(i).copied().unwrap();
        assert!((difference - found).abs() < 1e-9, "element {i}: {found}, by differences {difference}");
    }
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
    assert_eq!(
        dynamic.batch_dyn(0).unwrap().outer(&flat.batch_dyn(1).unwrap()).unwrap_err().to_string(),
        "cannot apply (m),(n)->(m,n) to (2;) and (; 2): the base of operand 0 has 0 axes, expected 1",
    );
}
