//! Operations on batches equal loops over explicit indices, for any layout and number of axes.

use common::{Strided, aligned_right, indices, joint, layout, operand_of, read_at, shape, signed};
use ndarray::{
    ArrayD, ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut1, ArrayViewMutD, Axis, Dimension, Ix0, Ix1, Ix2,
    Ix3, Ix4,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    Batch, BroadcastError, base_op, batch_broadcast, batch_broadcast_all, bounds::BaseOp,
};
use proptest::prelude::*;

/// Operands of one joint batch shape, with the given bases. In half of the cases batches may clash.
fn operands(bases: Vec<Vec<usize>>) -> impl Strategy<Value = Vec<Strided<i64>>> {
    (shape(3), any::<bool>()).prop_flat_map(move |(batch, clash)| {
        bases
            .clone()
            .into_iter()
            .map(|base| {
                operand_of(batch.clone(), clash)
                    .prop_map(move |batch| [batch, base.clone()].concat())
                    .prop_flat_map(layout)
            })
            .collect::<Vec<_>>()
    })
}

/// Operands whose bases go together, aligned at the right.
fn element_wise_operands() -> impl Strategy<Value = (Vec<Strided<i64>>, [usize; 2])> {
    shape(3).prop_flat_map(|base| (operand_of(base.clone(), false), operand_of(base, false))).prop_flat_map(
        |(a, b)| {
            let ndims = [a.len(), b.len()];
            (operands(vec![a, b]), Just(ndims))
        },
    )
}

/// Sizes of products, of every way to multiply.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![2 => 0_usize..=3, 1 => Just(4), 2 => Just(6), 1 => 8..=10_usize, 1 => 16..=19_usize]
}

fn batch_of(layout: &Strided<i64>, base: usize) -> Vec<usize> {
    let shape = layout.shape();
    shape[..shape.len() - base].to_vec()
}

/// The element of an operand that stands at a batch index of the joint batch and an index of its own base.
fn at(layout: &Strided<i64>, batch: &[usize], base: &[usize]) -> i64 {
    let own = batch_of(layout, base.len());
    let places = aligned_right(own.len(), batch.len());
    *layout.at(&[read_at(batch, &own, &places), base.to_vec()].concat())
}

/// An array of what `element` says for every batch index and base index.
fn by_index(batch: &[usize], base: &[usize], element: impl Fn(&[usize], &[usize]) -> i64) -> ArrayD<i64> {
    let elements = indices(batch)
        .iter()
        .flat_map(|i| indices(base).into_iter().map(|j| element(i, &j)).collect::<Vec<_>>())
        .collect();
    ArrayD::from_shape_vec([batch, base].concat(), elements).expect("an element for each index")
}

/// Arrays to write to in several layouts, all of `shape`.
fn outputs(shape: &[usize], check: impl Fn(&mut ndarray::ArrayViewMut<'_, i64, ndarray::IxDyn>)) {
    let mut array = ArrayD::from_elem(shape, -1);
    check(&mut array.view_mut());
    let turned: Vec<usize> = shape.iter().rev().copied().collect();
    let mut array = ArrayD::from_elem(turned, -1);
    let mut view = array.view_mut().reversed_axes();
    (0..shape.len()).for_each(|axis| view.invert_axis(Axis(axis)));
    check(&mut view);
    let wide: Vec<usize> = shape.iter().map(|size| size * 2 + 1).collect();
    let mut array = ArrayD::from_elem(wide, -1);
    let mut view = array.view_mut();
    for (axis, &size) in shape.iter().enumerate() {
        view.slice_axis_inplace(Axis(axis), ndarray::Slice::from(1..=2 * size).step_by(2));
    }
    check(&mut view);
}

/// One fused operation in every form, equal to `expected` or an error.
fn check_op<P, B, B2>(
    op: P,
    a: &Batch<'_, i64, ndarray::IxDyn, B>,
    b: &Batch<'_, i64, ndarray::IxDyn, B2>,
    expected: Option<&ArrayD<i64>>,
) where
    P: BaseOp<i64, i64, B, B2, Output = i64>,
    ndarray::IxDyn: ndarray::DimAdd<P::Base, Output = ndarray::IxDyn>,
    B: Dimension,
    B2: Dimension,
{
    let found: Result<ArrayD<i64>, BroadcastError> = a.apply(op, b);
    assert_eq!(found.as_ref().ok(), expected);
    assert_eq!(a.par().apply(op, b), found);
    if let Some(expected) = expected {
        outputs(expected.shape(), |out| {
            a.apply_into(op, b, out).expect("a result of this shape");
            assert_eq!(*out, *expected);
            {
                out.fill(-2);
                a.par().apply_into(op, b, out).expect("a result of this shape");
                assert_eq!(*out, *expected);
            }
        });
    }
}

proptest! {
    #![proptest_config(common::cases(if cfg!(miri) { 8 } else { 400 }))]

    #[test]
    fn views_have_the_elements_of_their_operands(
        (layouts, bases) in (0..3_usize, 0..3_usize)
            .prop_flat_map(|(a, b)| (operands(vec![vec![2; a], vec![3; b], vec![]]), Just([a, b, 0])))
    ) {
        let views: Vec<ArrayViewD<'_, i64>> = layouts.iter().map(Strided::view).collect();
        let batches: Vec<_> = views.iter().zip(bases).map(|(view, k)| view.batch_dyn(k).expect("a base")).collect();
        let own: Vec<_> = layouts.iter().zip(bases).map(|(layout, k)| batch_of(layout, k)).collect();
        for (batch, own) in batches.iter().zip(&own) {
            prop_assert_eq!(batch.batch_shape(), own.as_slice());
        }
        let (pair, all) = (joint(&own[..2]), joint(&own));
        let two = batch_broadcast(&batches[0], &batches[1]);
        prop_assert_eq!(two.is_ok(), pair.is_ok());
        let three = batch_broadcast_all((&batches[0], &batches[1], &batches[2]));
        let any = batch_broadcast_all(&batches[..]);
        prop_assert_eq!(three.as_ref().err(), any.as_ref().err());
        prop_assert_eq!(any.is_ok(), all.is_ok());
        if let (Ok(any), Ok((x, y, z)), Ok(batch)) = (any, three, all) {
            let as_tuple = [x.into_view(), y.into_view(), z.into_view()];
            for (k, (view, other)) in any.into_iter().zip(as_tuple).enumerate() {
                prop_assert_eq!((view.batch_shape(), view.base_shape()), (batch.as_slice(), batches[k].base_shape()));
                let base = view.base_shape().to_vec();
                let expected = by_index(&batch, &base, |i, j| at(&layouts[k], i, j));
                // the adjoint: <expanded, y> = <own, sum of y>
                let y = ArrayD::from_shape_fn(expected.raw_dim(), |index| {
                    signed(index.as_array_view().iter().enumerate().map(|(axis, k)| (axis + 2) * k).sum::<usize>()) % 7 - 3
                });
                let summed = y.batch_dyn(bases[k]).expect("a base").sum_batch_to(&batches[k]).expect("a sum");
                prop_assert_eq!((&expected * &y).sum(), (&views[k] * &summed).sum());
                let mut added = summed.clone();
                y.batch_dyn(bases[k]).expect("a base").add_sum_batch_to(&mut added).expect("a sum");
                prop_assert_eq!(added, summed * 2);
                let expanded = batches[k].expand_batch(batch.as_slice()).expect("where it goes");
                prop_assert_eq!(expanded.into_view(), expected.view());
                prop_assert_eq!(other, expected.view());
                prop_assert_eq!(view.into_view(), expected);
            }
        }
    }

    #[test]
    fn closures_equal_loops((layouts, bases) in element_wise_operands()) {
        let (a, b) = (layouts[0].view(), layouts[1].view());
        let (x, y) = (a.batch_dyn(bases[0]).expect("a base"), b.batch_dyn(bases[1]).expect("a base"));
        let batch = joint(&[batch_of(&layouts[0], bases[0]), batch_of(&layouts[1], bases[1])]);
        // the result's base: all of a's, then how much of b there is
        let base: Vec<usize> = [x.base_shape(), &[2]].concat();
        let each = |a: ArrayViewD<'_, i64>, b: ArrayViewD<'_, i64>, mut out: ArrayViewMutD<'_, i64>| {
            for (index, &a) in a.indexed_iter() {
                let index = index.as_array_view().to_vec();
                out[[index.as_slice(), &[0]].concat().as_slice()] += a * 3 + b.sum();
                out[[index.as_slice(), &[1]].concat().as_slice()] += signed(b.len());
            }
        };
        let expected = batch.ok().map(|batch| {
            let of_b = y.base_shape();
            by_index(&batch, &base, |i, j| match j.split_last() {
                Some((0, own)) => {
                    at(&layouts[0], i, own) * 3 + indices(of_b).iter().map(|k| at(&layouts[1], i, k)).sum::<i64>()
                }
                _ => signed(indices(of_b).len()),
            })
        });
        prop_assert_eq!(x.zip_map(&y, base.as_slice(), each).ok(), expected.clone());
        let third = |a: ArrayViewD<'_, i64>, b: ArrayViewD<'_, i64>, c: ArrayViewD<'_, i64>, out: ArrayViewMutD<'_, i64>| {
            assert_eq!(b, c);
            each(a, b, out);
        };
        prop_assert_eq!(x.zip_map((&y, &y), base.as_slice(), third).ok(), expected.clone());
        prop_assert_eq!(x.par().zip_map(&y, base.as_slice(), each).ok(), expected.clone());
        prop_assert_eq!(x.par().zip_map((&y, &y), base.as_slice(), third).ok(), expected.clone());
        if let Some(expected) = &expected {
            outputs(expected.shape(), |out| {
                out.fill(0);
                x.zip_map_into(&y, out, each).expect("a result of this shape");
                assert_eq!(*out, *expected);
                out.fill(0);
                x.par().zip_map_into(&y, out, each).expect("a result of this shape");
                assert_eq!(*out, *expected);
                out.fill(0);
                x.zip_map_into((&y, &y), out, third).expect("a result of this shape");
                assert_eq!(*out, *expected);
                out.fill(0);
                x.par().zip_map_into((&y, &y), out, third).expect("a result of this shape");
                assert_eq!(*out, *expected);
            });
        }
        let copy = |a: ArrayViewD<'_, i64>, mut out: ArrayViewMutD<'_, i64>| out.assign(&a);
        prop_assert_eq!(x.map(x.base_shape(), copy).expect("a copy"), a);
    }

    #[test]
    fn element_wise_equals_loops((layouts, bases) in element_wise_operands()) {
        let (a, b) = (layouts[0].view(), layouts[1].view());
        let (x, y) = (a.batch_dyn(bases[0]).expect("a base"), b.batch_dyn(bases[1]).expect("a base"));
        let batch = joint(&[batch_of(&layouts[0], bases[0]), batch_of(&layouts[1], bases[1])]).ok();
        let base = joint(&[x.base_shape(), y.base_shape()]).expect("bases that go together");
        let of = |op: fn(i64, i64) -> i64| batch.as_ref().map(|batch| {
            by_index(batch, &base, |i, j| {
                let own = |k: usize, shape: &[usize]| {
                    at(&layouts[k], i, &read_at(j, shape, &aligned_right(shape.len(), j.len())))
                };
                op(own(0, x.base_shape()), own(1, y.base_shape()))
            })
        });
        check_op(base_op::Add, &x, &y, of(|x, y| x + y).as_ref());
        check_op(base_op::Sub, &x, &y, of(|x, y| x - y).as_ref());
        check_op(base_op::Mul, &x, &y, of(|x, y| x * y).as_ref());
        if b.iter().all(|&y| y != 0) {
            check_op(base_op::Div, &x, &y, of(|x, y| x / y).as_ref());
        }
        if bases == [1, 1] {
            check_op(base_op::Sub, &a.batch::<Ix1>().expect("a base"), &b.batch::<Ix1>().expect("a base"), of(|x, y| x - y).as_ref());
        }
        if bases == [0, 2] {
            check_op(base_op::Mul, &a.batch::<Ix0>().expect("a base"), &b.batch::<Ix2>().expect("a base"), of(|x, y| x * y).as_ref());
        }
    }

    #[test]
    fn products_equal_loops(
        (layouts, [m, n, p]) in (size(), size(), size())
            .prop_flat_map(|(m, n, p)| (operands(vec![vec![m, n], vec![n, p], vec![n], vec![n]]), Just([m, n, p])))
    ) {
        let views: Vec<ArrayViewD<'_, i64>> = layouts.iter().map(Strided::view).collect();
        let [a, b, v, w] = [0, 1, 2, 3].map(|k| &layouts[k]);
        let matrices = [0, 1].map(|k| views[k].batch::<Ix2>().expect("a base"));
        let vectors = [2, 3].map(|k| views[k].batch::<Ix1>().expect("a base"));
        let sum = |term: &dyn Fn(usize) -> i64| (0..n).map(term).sum::<i64>();
        let batch = |x: &Strided<i64>, k, y: &Strided<i64>, l| joint(&[batch_of(x, k), batch_of(y, l)]).ok();

        let matmul = batch(a, 2, b, 2).map(|batch| {
            by_index(&batch, &[m, p], |i, k| sum(&|j| at(a, i, &[k[0], j]) * at(b, i, &[j, k[1]])))
        });
        check_op(base_op::MatMul, &matrices[0], &matrices[1], matmul.as_ref());
        let matvec = batch(a, 2, v, 1).map(|batch| {
            by_index(&batch, &[m], |i, k| sum(&|j| at(a, i, &[k[0], j]) * at(v, i, &[j])))
        });
        check_op(base_op::MatVec, &matrices[0], &vectors[0], matvec.as_ref());
        let vecmat = batch(v, 1, b, 2).map(|batch| {
            by_index(&batch, &[p], |i, k| sum(&|j| at(v, i, &[j]) * at(b, i, &[j, k[0]])))
        });
        check_op(base_op::VecMat, &vectors[0], &matrices[1], vecmat.as_ref());
        let inner = batch(v, 1, w, 1).map(|batch| {
            by_index(&batch, &[], |i, _| sum(&|j| at(v, i, &[j]) * at(w, i, &[j])))
        });
        check_op(base_op::Inner, &vectors[0], &vectors[1], inner.as_ref());

        // all numbers of axes in the types
        let times = |a: ArrayView2<'_, i64>, v: ArrayView1<'_, i64>, mut out: ArrayViewMut1<'_, i64>| {
            for i in 0..a.nrows() {
                out[i] = (0..a.ncols()).map(|j| a[[i, j]] * v[j]).sum();
            }
        };
        macro_rules! typed {
            ($A:ty, $V:ty) => {
                let (a, v) = (views[0].view().into_dimensionality::<$A>(), views[2].view().into_dimensionality::<$V>());
                if let (Ok(a), Ok(v)) = (a, v) {
                    let (a, v) = (a.batch::<Ix2>().expect("a base"), v.batch::<Ix1>().expect("a base"));
                    prop_assert_eq!(a.matvec(&v).ok().map(ndarray::Array::into_dyn), matvec.clone());
                    prop_assert_eq!(a.zip_map(&v, m, times).ok().map(ndarray::Array::into_dyn), matvec.clone());
                }
            };
        }
        typed!(Ix2, Ix1);
        typed!(Ix3, Ix1);
        typed!(Ix3, Ix2);
        typed!(Ix3, Ix3);
        typed!(Ix4, Ix2);
        typed!(Ix4, Ix3);
    }
}
