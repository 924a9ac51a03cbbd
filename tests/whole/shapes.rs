//! Arrays of thousands of elements, of random shapes and in every order in memory: shapes that reach strategies which the small
//! shapes of the properties do not. The model is ndarray, one axis after the other.

use ndarray::{ArrayD, Axis, IxDyn, Slice, Zip};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused};
use std::fmt::Debug;

/// The sizes of axes: small ones and those around widths of vectors, tiles and blocks.
const SIZES: [usize; 20] = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 30, 33, 64, 65, 100, 129, 200, 700, 3000];
/// The number of small sizes. At most two axes have a larger one.
const SMALL: usize = 8;
/// The most elements of an array.
const MOST: usize = 20_000;

/// Random numbers by xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    /// The order of the axes, or another one.
    fn order(&mut self, ndim: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..ndim).collect();
        if self.below(2) == 0 {
            return order;
        }
        for i in (1..ndim).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// An array whose axes have an order in memory, with a gap after the innermost one.
fn in_memory<A>(shape: &[usize], order: &[usize], gap: usize, number: impl Fn(usize) -> A) -> ArrayD<A> {
    let mut base: Vec<_> = order.iter().map(|&axis| shape[axis]).collect();
    *base.last_mut().expect("an axis") += gap;
    let (mut places, mut i) = (vec![0; shape.len()], 0);
    order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
    let whole = ArrayD::from_shape_simple_fn(base, || {
        i += 1;
        number(i)
    });
    let inner = order[order.len() - 1];
    whole.permuted_axes(places).slice_axis_move(Axis(inner), Slice::from(..shape[inner]))
}

/// Copies, maps, sums and fused sums of one shape. `axes` are reduced, and repeated by an operand.
fn test<A: Clone + Debug + PartialEq + num_traits::Zero>(
    random: &mut Random,
    shape: &[usize],
    axes: &[usize],
    number: impl Fn(usize) -> A,
) {
    let gap = [0, 0, 1, 3][random.below(4)];
    let orders = [random.order(shape.len()), random.order(shape.len())];
    let x = in_memory(shape, &orders[0], gap, &number);
    let x = if random.below(3) == 0 { x.slice_each_axis(|_| Slice::from(..).step_by(-1)) } else { x.view() };
    let case = format!("{shape:?}, in memory {orders:?}, gap {gap}, axes {axes:?}");
    let of = |is_one: &dyn Fn(usize) -> bool| {
        let order: Vec<_> = (0..shape.len()).collect();
        let own: Vec<_> = order.iter().map(|&axis| if is_one(axis) { 1 } else { shape[axis] }).collect();
        in_memory(&own, &order, 0, |i| number(i + 5))
    };
    let (kept, reduced) = (of(&|axis| axes.contains(&axis)), of(&|axis| !axes.contains(&axis)));
    let sum_of =
        |x: ArrayD<A>| axes.iter().fold(x, |x, &axis| x.sum_axis(Axis(axis)).insert_axis(Axis(axis)));

    let sums = axes.iter().rev().fold(sum_of(x.to_owned()), |x, &axis| x.index_axis_move(Axis(axis), 0));
    assert_eq!(x.sum_axes(axes).expect("axes of the array"), sums, "{case}");
    let weighted = Zip::from(&x).and_broadcast(&reduced).map_collect(|x, w| x.clone() + w.clone());
    let found = fused((&x, &reduced), |x, w| x.clone() + w.clone()).sum_to(kept.shape());
    assert_eq!(found.expect("shapes that go together"), sum_of(weighted), "{case}");

    let add = |x: &A, y: &A, z: &A| x.clone() + y.clone() + z.clone();
    let expected = Zip::from(&x).and_broadcast(&kept).and_broadcast(&reduced).map_collect(add);
    assert_eq!(
        broadcast_map((&x, &kept, &reduced), add).expect("shapes that go together"),
        expected,
        "{case}"
    );
    let mut out = in_memory(shape, &orders[1], 0, |_| A::zero());
    broadcast_apply(&mut out, (&kept, &reduced), |out, x, y| *out = x.clone() + y.clone())
        .expect("the joint shape");
    let pairs = Zip::from(kept.broadcast(IxDyn(shape)).expect("a smaller shape")).and_broadcast(&reduced);
    assert_eq!(out, pairs.map_collect(|x, y| x.clone() + y.clone()), "{case}");
    for x in [
        x.view(),
        kept.broadcast_to(shape).expect("a smaller shape"),
        reduced.broadcast_to(shape).expect("as well"),
    ] {
        x.materialize_into(&mut out).expect("the same shape");
        assert_eq!(out, x, "{case}");
    }
}

#[test]
fn of_thousands_of_elements() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for turn in 0..1500 {
        let shape = loop {
            let ndim = 1 + random.below(5);
            let mut shape: Vec<_> = (0..ndim).map(|_| SIZES[random.below(SMALL)]).collect();
            for _ in 0..2 {
                shape[random.below(ndim)] = SIZES[random.below(SIZES.len())];
            }
            if shape.iter().product::<usize>() <= MOST {
                break shape;
            }
        };
        let axes: Vec<_> = (0..shape.len()).filter(|_| random.below(2) == 0).collect();
        match turn % 4 {
            0 => test(&mut random, &shape, &axes, |i| i64::try_from(i).expect("small")),
            1 => test(&mut random, &shape, &axes, |i| f32::from(u8::try_from(i % 7).expect("small"))),
            2 => test(&mut random, &shape, &axes, |i| {
                std::num::Wrapping(u8::try_from(i % 251).expect("small"))
            }),
            _ => test(&mut random, &shape, &axes, |i| u16::from(i % 3 == 0)),
        }
    }
}

/// Shapes for which a strategy was wrong while it was built, or took hundreds of times as long as others.
#[test]
fn of_single_strategies() {
    let mut random = Random(1);
    for (shape, axes) in [
        // long rows that repeat, and repeat again outside another axis
        (&[3, 5, 4, 200][..], &[0, 2][..]),
        // few reduced steps around short lanes, with outputs between them or not
        (&[5, 3000, 3], &[0, 2]),
        (&[4, 100, 30], &[0, 2]),
        (&[7, 300, 3, 3], &[0, 3]),
        // nothing is reduced
        (&[1, 90, 200], &[0]),
        // the reversed axes, of which the innermost one is short
        (&[4, 65, 64], &[]),
        // lanes of several parts
        (&[2, 70_000], &[1]),
        (&[140_000], &[0]),
    ] {
        for _ in 0..8 {
            test(&mut random, shape, axes, |i| i64::try_from(i).expect("small"));
            test(&mut random, shape, axes, |i| u16::from(i % 11 == 0));
        }
    }
}
