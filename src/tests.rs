//! Calls of each family on small arrays of any layout, against models that go index by index: few enough for Miri, which `.ci/miri`
//! runs. What panics leave, and elements that count how often they are dropped, are in `tests/map/injected.rs`.

use crate::kernel::tests::{Random, cases, with_layout};
use crate::prelude::*;
use crate::{broadcast_apply, broadcast_map, fused};
use alloc::vec::Vec;
use core::fmt::Debug;
use ndarray::{ArrayD, ArrayView2, ArrayViewD, Axis, Ix2, LinalgScalar, Zip, stack};
use std::string::ToString;

/// Up to three axes; one reaches the widths of panels and their tails.
fn shape(random: &mut Random) -> Vec<usize> {
    let mut shape: Vec<usize> = (0..=random.below(3)).map(|_| 1 + random.below(3)).collect();
    let axis = random.below(shape.len());
    shape[axis] = [2, 8, 9, 17, 33][random.below(5)];
    shape
}

/// Axes of such a shape.
fn axes(random: &mut Random, ndim: usize) -> Vec<usize> {
    (0..ndim).filter(|_| random.once_in(2)).collect()
}

/// The elements over these axes, combined one by one.
fn reduced<A: Clone>(x: &ArrayD<A>, axes: &[usize], op: impl Fn(A, A) -> A) -> ArrayD<A> {
    axes.iter().rev().fold(x.clone(), |x, &axis| {
        x.map_axis(Axis(axis), |lane| lane.iter().cloned().reduce(&op).expect("an element"))
    })
}

/// Runs `check` with an array of any layout and a second one that stretches to it.
fn with_operands<A: Clone>(
    seed: u64,
    count: usize,
    element: impl Fn(usize) -> A + Copy,
    check: impl Fn(&mut Random, ArrayViewD<'_, A>, ArrayViewD<'_, A>),
) {
    let random = &mut Random(seed);
    for _ in 0..cases(count) {
        let shape = shape(random);
        let stretched: Vec<usize> =
            shape.iter().map(|&size| if random.once_in(2) { 1 } else { size }).collect();
        with_layout(random, &shape, element, |random, x| {
            with_layout(random, &stretched, element, |random, y| check(random, x.view(), y));
        });
    }
}

/// Maps, copies, and reductions by a closure, of elements of any type.
fn elements<A: Clone + Ord + Default + Debug + Send + Sync>(seed: u64, element: impl Fn(usize) -> A + Copy) {
    with_operands(seed, 80, element, |random, x, y| {
        let stretched = y.broadcast(x.raw_dim()).expect("sizes of 1");
        let least = |a: &A, b: &A| a.min(b).clone();
        let expected = Zip::from(&x).and(&stretched).map_collect(least);
        assert_eq!(broadcast_map((&x, &y), least).expect("shapes fit"), expected);
        let references = x.map(|a| a);
        let copied = references.broadcast_to(x.shape()).expect("shapes fit").materialize();
        assert!(copied.into_iter().eq(&x));
        assert_eq!(y.broadcast_to(x.shape()).expect("shapes fit").materialize(), stretched);

        let mut out = ArrayD::from_elem(x.t().shape(), A::default()).reversed_axes();
        y.broadcast_to(x.shape()).expect("shapes fit").materialize_into(&mut out).expect("shapes fit");
        assert_eq!(out, stretched);
        broadcast_apply(&mut out, (&x,), |out, a| {
            if *a < *out {
                *out = a.clone();
            }
        })
        .expect("shapes fit");
        assert_eq!(out, expected);

        let axes = axes(random, x.ndim());
        let most = reduced(&expected, &axes, Ord::max);
        let fused = fused((&x, &y), least);
        assert_eq!(
            x.reduce_axes(&axes[..], A::default(), Ord::max).expect("axes"),
            reduced(&x.to_owned(), &axes, Ord::max)
        );
        assert_eq!(fused.reduce_axes(&axes[..], A::default(), Ord::max).expect("axes"), most);
        assert_eq!(fused.par().max_axes(&axes[..]).expect("axes and elements"), most);
    });
}

#[test]
fn elements_of_each_kind() {
    elements(21, |i| u8::try_from(i % 251).expect("small"));
    elements(22, |i| u32::try_from(i * i % 65_521).expect("small"));
    elements(23, |i| (i * i % 97).to_string());
    elements(24, |_| ());
    elements(25, |i| [i, 7 * i % 5, 1]);
}

/// Sums of whole numbers, stored in each way.
fn sums<A: LinalgScalar + PartialEq + Debug + Send + Sync>(seed: u64, element: impl Fn(usize) -> A + Copy) {
    with_operands(seed, 80, element, |random, x, y| {
        let axes = axes(random, x.ndim());
        let whole = x.to_owned();
        let products = &whole * &y;
        let (of_array, of_products) =
            (reduced(&whole, &axes, |a, b| a + b), reduced(&products, &axes, |a, b| a + b));
        assert_eq!(x.sum_axes(&axes[..]).expect("axes"), of_array);
        assert_eq!(x.par().sum_axes(&axes[..]).expect("axes"), of_array);
        let fused = fused((&x, &y), |a, b| *a * *b);
        assert_eq!(fused.sum_axes(&axes[..]).expect("axes"), of_products);

        let mut kept = whole.shape().to_vec();
        for &axis in &axes {
            kept[axis] = 1;
        }
        let mut out =
            ArrayD::from_elem(kept.iter().rev().copied().collect::<Vec<_>>(), A::one()).reversed_axes();
        fused.add_sum_to(&mut out).expect("shapes fit");
        let stored = of_products.into_shape_clone(kept).expect("as many elements");
        assert_eq!(out, stored.mapv(|a| a + A::one()));
        fused.assign_sum_to(&mut out).expect("shapes fit");
        assert_eq!(out, stored);
    });
}

#[test]
fn sums_of_each_type() {
    sums(31, |i| f32::from(u8::try_from(i % 7).expect("small")));
    sums(32, |i| f64::from(u8::try_from(i % 5).expect("small")));
    sums(33, |i| i64::try_from(i % 9).expect("small") - 4);
    sums(34, |i| i128::try_from(i % 11).expect("small"));
}

#[test]
fn batches_of_matrices() {
    let random = &mut Random(41);
    for _ in 0..cases(200) {
        let [batch, rows, inner, columns] = core::array::from_fn(|_| 1 + random.below(6));
        let element = |i: usize| i32::try_from(i % 13).expect("small") - 6;
        with_layout(random, &[batch, rows, inner], element, |random, a| {
            let shape = [if random.once_in(2) { 1 } else { batch }, inner, columns];
            with_layout(random, &shape, element, |_, b| {
                let all = b.broadcast([batch, inner, columns]).expect("sizes of 1");
                let each: Vec<_> =
                    a.outer_iter().zip(all.outer_iter()).map(|(a, b)| fixed(a).dot(&b)).collect();
                let views: Vec<_> = each.iter().map(|product| product.view()).collect();
                let product = a.batch::<Ix2>().expect("axes").matmul(&b.batch::<Ix2>().expect("axes"));
                assert_eq!(
                    product.expect("shapes fit"),
                    stack(Axis(0), &views).expect("equal shapes").into_dyn()
                );
            });
        });
    }
}

fn fixed<A>(view: ArrayViewD<'_, A>) -> ArrayView2<'_, A> {
    view.into_dimensionality().expect("two axes")
}
