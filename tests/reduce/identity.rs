//! ⟨Bx, y⟩ = ⟨x, Bᵀy⟩ for every view of the crate, exactly, with integers.
#![allow(clippy::many_single_char_names, reason = "x and y are the identity's, a, b, c operands")]

use common::{Strided, joint, layout, operand_of, scrambled, shape, signed, view_of_rank, without_axes};
use ndarray::{Array, ArrayRef, ArrayView, DimMax, Dimension};
use ndarray_broadcast::{
    AxisSet, bounds::TargetShape, broadcast_arrays, broadcast_to_match_in_place,
    broadcast_to_match3_in_place, broadcast_views, reduction_axes,
};
use ndarray_broadcast::{keepdims, prelude::*};
use proptest::prelude::*;
use proptest::sample::subsequence;

/// The array with elements that do not follow from each other, other ones for each seed.
fn seeded(array: &Strided<i64>, seed: i64) -> Strided<i64> {
    array.map(|k| scrambled(k + 1000 * seed))
}

/// ⟨a, b⟩
fn inner<D: Dimension, E: Dimension>(a: &ArrayRef<i64, D>, b: &ArrayRef<i64, E>) -> i64 {
    assert_eq!(a.shape(), b.shape());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Asserts the identity where the adjoint is a sum to the shape of `x`, in every form that there is.
fn assert_sum_to<D: Dimension, E: Dimension, F: Dimension>(
    bx: &ArrayRef<i64, F>,
    y: &ArrayView<'_, i64, D>,
    x: &ArrayView<'_, i64, E>,
) {
    assert_sums_with(x, y, inner(bx, y));
}

/// Asserts that the inner product of `x` and of `y`, summed to the shape of `x`, is `expected`.
fn assert_sums_with<D, E>(x: &ArrayView<'_, i64, E>, y: &ArrayView<'_, i64, D>, expected: i64)
where
    D: Dimension,
    E: Dimension,
{
    assert_eq!(inner(x, &y.sum_to(x).expect("the array's shape")), expected);
    assert_eq!(inner(x, &y.sum_to(x.shape()).expect("the array's shape")), expected);
    assert_eq!(inner(x, &y.to_owned().into_sum_to(x.shape()).expect("the array's shape")), expected);
    let mut out = Array::from_elem(x.raw_dim(), 3);
    y.assign_sum_to(&mut out).expect("the array's shape");
    assert_eq!(inner(x, &out), expected);
    y.add_sum_to(&mut out).expect("the array's shape");
    assert_eq!(inner(x, &out), 2 * expected);
    y.scaled_add_sum_to(-3, &mut out).expect("the array's shape");
    assert_eq!(inner(x, &out), -expected);
    let axes = reduction_axes(x.shape(), y.shape()).expect("a broadcast");
    let ones = y.sum_axes(keepdims(&axes)).expect("axes of the array").into_dyn();
    assert_eq!(inner(&x.broadcast_to_match(&ones).expect("an array of that many axes").0, &ones), expected);
}

/// An array and another, `y`, of a shape that it goes to.
fn array_and_y(max_axes: usize) -> impl Strategy<Value = (Strided<i64>, Strided<i64>)> {
    shape(max_axes).prop_flat_map(|target| {
        let x = operand_of(target.clone(), false).prop_flat_map(layout);
        (x, layout(target)).prop_map(|(x, y)| (seeded(&x, 1), seeded(&y, 2)))
    })
}

/// Some arrays that go together and one, `y`, of their joint shape.
fn family_and_y(
    count: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = (Vec<Strided<i64>>, Strided<i64>)> {
    shape(7)
        .prop_flat_map(move |joint| {
            prop::collection::vec(operand_of(joint, false).prop_flat_map(layout), count.clone())
        })
        .prop_flat_map(|layouts| {
            let shapes: Vec<_> = layouts.iter().map(|array| array.shape().to_vec()).collect();
            (Just(layouts), layout(joint(&shapes).expect("made to go together")))
        })
        .prop_map(|(layouts, y)| {
            let operands = layouts.into_iter().zip(1..).map(|(layout, seed)| seeded(&layout, seed));
            (operands.collect(), seeded(&y, 9))
        })
}

/// The identity for every view toward a shape, of arrays whose numbers of axes are in their types or not.
fn assert_toward<D, E>(x: &ArrayView<'_, i64, E>, y: &ArrayView<'_, i64, D>)
where
    D: Dimension + TargetShape<Dim = D>,
    E: Dimension,
{
    let kept = |(&size, from_end): (&usize, usize)| {
        let own = x.ndim().checked_sub(from_end).map(|axis| x.shape()[axis]);
        if own == Some(size) && from_end % 2 == 1 { -1 } else { signed(size) }
    };
    // -1 for every other axis that keeps its size
    let mut target: Vec<i64> = y.shape().iter().rev().zip(1..).map(kept).collect();
    target.reverse();
    assert_sum_to(&x.broadcast_to(&target).expect("a shape that it goes to"), y, x);
    assert_sum_to(&x.broadcast_to(y.raw_dim()).expect("a shape that it goes to"), y, x);
    assert_sum_to(&x.broadcast_to_match_shape(y.raw_dim()).expect("a shape that it goes to"), y, x);
    assert_sum_to(&x.view().into_broadcast_to(y.raw_dim()).expect("a shape that it goes to"), y, x);
}

/// The identity for the views of two arrays, the second of the joint shape.
fn assert_matching<D, E>(x: &ArrayView<'_, i64, E>, y: &ArrayView<'_, i64, D>)
where
    D: Dimension + DimMax<E>,
    E: Dimension + DimMax<D>,
{
    let (bx, by) = x.broadcast_to_match(y).expect("a shape that it goes to");
    assert_sum_to(&bx, y, x);
    assert_sum_to(&by, y, y);
    let (by, bx) = broadcast_arrays((y, x)).expect("a shape that it goes to");
    assert_sum_to(&bx, y, x);
    assert_sum_to(&by, y, y);
    // as many axes, all of size 1: the adjoint takes them away
    let (ex, _) = x.expand_to_match_ranks(y);
    let delta = ex.mapv(|k| scrambled(k + 77));
    assert_sum_to(&ex, &delta.view(), x);
}

proptest! {
    #![proptest_config(common::cases(200))]

    #[test]
    fn toward_a_shape((x, y) in array_and_y(7)) {
        assert_toward(&x.view(), &y.view());
        let mut in_place = x.view();
        in_place.broadcast_in_place(y.view().shape()).expect("a shape that it goes to");
        assert_sum_to(&in_place, &y.view(), &x.view());
    }

    #[test]
    fn toward_a_shape_of_fixed_numbers_of_axes((x, y) in array_and_y(6)) {
        view_of_rank!(x.view(), x => view_of_rank!(y.view(), y => {
            assert_toward(&x, &y);
            assert_matching(&x, &y);
        }));
    }

    #[test]
    fn two_arrays((operands, y) in family_and_y(2..=2)) {
        let (a, b, y) = (operands[0].view(), operands[1].view(), y.view());
        let (x, z) = a.broadcast_to_match(&b).expect("made to go together");
        assert_sum_to(&x, &y, &a);
        assert_sum_to(&z, &y, &b);
        assert_matching(&a, &y);
        let (mut x, mut z) = (a.clone(), b.clone());
        broadcast_to_match_in_place(&mut x, &mut z).expect("made to go together");
        assert_sum_to(&x, &y, &a);
        assert_sum_to(&z, &y, &b);
        // the longer of the two has as many axes as the joint shape, so both come to that many
        let (x, z) = a.expand_to_match_ranks(&b);
        for (expanded, own) in [(x, &a), (z, &b)] {
            let delta = expanded.mapv(|k| scrambled(k + 77));
            assert_sum_to(&expanded, &delta.view(), own);
        }
    }

    #[test]
    fn three_arrays((operands, y) in family_and_y(3..=3)) {
        let (a, b, c, y) = (operands[0].view(), operands[1].view(), operands[2].view(), y.view());
        let (p, q, r) = a.broadcast_to_match3(&b, &c).expect("made to go together");
        let (mut s, mut t, mut u) = (a.clone(), b.clone(), c.clone());
        broadcast_to_match3_in_place(&mut s, &mut t, &mut u).expect("made to go together");
        for (bx, x) in [(p, &a), (q, &b), (r, &c), (s, &a), (t, &b), (u, &c)] {
            assert_sum_to(&bx, &y, x);
        }
    }

    #[test]
    fn one_to_six_arrays((operands, y) in family_and_y(1..=6)) {
        let (operands, y): (Vec<_>, _) = (operands.iter().map(Strided::view).collect(), y.view());
        macro_rules! tuple {
            ($($x:ident)+) => {{
                let [$($x),+] = operands.as_slice() else { unreachable!() };
                broadcast_arrays(($($x,)+)).map(|($($x,)+)| vec![$($x),+])
            }};
        }
        let arrays = match operands.len() {
            1 => tuple!(a),
            2 => tuple!(a b),
            3 => tuple!(a b c),
            4 => tuple!(a b c d),
            5 => tuple!(a b c d e),
            _ => tuple!(a b c d e f),
        };
        for views in [arrays, broadcast_views(&operands)] {
            let views = views.expect("made to go together");
            prop_assert_eq!(views.len(), operands.len());
            for (bx, x) in views.iter().zip(&operands) {
                assert_sum_to(bx, &y, x);
            }
        }
    }

    #[test]
    fn along_named_axes(
        (x, y, axes) in shape(7).prop_flat_map(|to| {
            let axes = subsequence((0..to.len()).collect::<Vec<_>>(), 0..=to.len()).prop_shuffle();
            (Just(to), axes)
        }).prop_flat_map(|(to, axes)| {
            let own: Vec<usize> = without_axes(to.len(), &axes).iter().map(|&axis| to[axis]).collect();
            (layout(own), layout(to), Just(axes))
        }).prop_map(|(x, y, axes)| (seeded(&x, 1), seeded(&y, 2), axes))
    ) {
        let (x, y, set) = (x.view(), y.view(), axes.iter().copied().collect::<AxisSet>());
        let bx = x.broadcast_axes(y.shape(), &axes).expect("the rest of the shape is the array's");
        prop_assert_eq!(inner(&bx, &y), inner(&x, &y.sum_axes(&axes).expect("axes of y")));
        let bx = x.broadcast_like(&y, &set).expect("the rest of the shape is the array's");
        prop_assert_eq!(inner(&bx, &y), inner(&x, &y.sum_axes(&set).expect("axes of y")));
        if y.ndim() <= 6 {
            let sum = view_of_rank!(y.clone(), y => y.sum_axes(&axes)).expect("axes of y");
            prop_assert_eq!(inner(&bx, &y), inner(&x, &sum));
        }
    }

    /// The adjoint of placed axes: the new ones to the front, the others in the array's order, then the sum.
    #[test]
    fn with_a_place_for_each_axis(
        (x, y, places) in shape(7).prop_flat_map(|to| {
            let places = subsequence((0..to.len()).collect::<Vec<_>>(), 0..=to.len()).prop_shuffle();
            let ones = prop::collection::vec(prop::bool::weighted(0.3), to.len());
            (Just(to), places, ones)
        }).prop_flat_map(|(to, places, ones)| {
            let own = places.iter().map(|&axis| if ones[axis] { 1 } else { to[axis] });
            (layout(own.collect()), layout(to), Just(places))
        }).prop_map(|(x, y, places)| (seeded(&x, 1), seeded(&y, 2), places))
    ) {
        let (x, y) = (x.view(), y.view());
        let bx = x.broadcast_in_dim(y.shape(), &places).expect("distinct axes of fitting sizes");
        let order = [without_axes(y.ndim(), &places), places].concat();
        let back = y.clone().permuted_axes(order.as_slice());
        prop_assert_eq!(inner(&bx, &y), inner(&x, &back.sum_to(&x).expect("the array's shape")));
        assert_sum_to(&bx.permuted_axes(order), &back, &x);
    }
}
