//! Sums over axes and to shapes, closures over broadcast operands, and copies.

use crate::table::Table;
use crate::{LIMIT, MANY, MAX, Nothing, all, hollow, huge, long, many, spread};
use ndarray::{Array, Array1, Array2, ArrayD, ArrayRef, Axis, Dimension, IxDyn, arr0, array};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, ErrorKind, broadcast_apply, broadcast_apply2, broadcast_apply3, broadcast_map,
    broadcast_map2, broadcast_map3, fused, keepdims,
};

pub(crate) fn rows(t: &mut Table) {
    over_axes(t);
    to_shapes(t);
    into_arrays(t);
    parallel(t);
}

/// The total of 1 to 16 in an array of 10,000 axes.
fn is_total<D: Dimension>(sum: &ArrayRef<i64, D>) -> bool {
    sum.ndim() == MANY && sum.iter().eq([&136])
}

fn over_axes(t: &mut Table) {
    let (many, every) = (many(), (0..MANY).collect::<Vec<_>>());
    let name = "Reduce::sum_axes";
    t.call(name, || many.sum_axes(&every)).is(Ok(arr0(136).into_dyn()));
    t.call(name, || many.sum_axes(AxisSet::default())).is(Ok(many.clone()));
    t.call(name, || many.t().sum_axes(&every[..MANY - 1])).is(Ok(array![36, 100].into_dyn()));
    t.call(name, || hollow().sum_axes(1)).is(Ok(Array1::zeros(0)));
    t.call(name, || hollow().sum_axes([1, 0])).is(Ok(arr0(0)));
    t.call(name, || hollow().sum_axes(0)).refused(ErrorKind::TooLarge);
    t.call(name, || huge().sum_axes([0_usize; 0])).refused(ErrorKind::TooLarge);
    t.call(name, || huge().sum_axes([MAX, 2])).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || huge().sum_axes(&all(1_usize))).refused(ErrorKind::DuplicateAxis);
    t.call(name, || arr0(7).sum_axes([0_usize; 0])).is(Ok(arr0(7)));
    t.call(name, || many.sum_axes(..)).is(Ok(arr0(136)));
    t.call(name, || hollow().sum_axes(..)).is(Ok(arr0(0)));
    t.call(name, || arr0(7).sum_axes(..)).is(Ok(arr0(7)));
    t.call(name, || array![Nothing, Nothing].sum_axes(0)).is(Ok(arr0(Nothing)));
    t.call(name, || long().broadcast_to([0, -1])?.sum_axes(1)).is(Ok(Array1::default(0)));

    let name = "keepdims";
    t.call(name, || many.sum_axes(keepdims(&every))).gives(|sum| is_total(&sum));
    t.call(name, || hollow().sum_axes(keepdims(1))).is(Ok(Array2::zeros((0, 1))));
    t.call(name, || hollow().sum_axes(keepdims(0))).refused(ErrorKind::TooLarge);
    t.call(name, || many.sum_axes(keepdims(..))).gives(|sum| is_total(&sum));
    t.call(name, || long().sum_axes(keepdims(MAX))).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || arr0(Nothing).sum_axes(keepdims(AxisSet::default()))).is(Ok(arr0(Nothing)));
}

fn to_shapes(t: &mut Table) {
    let many = many();
    let name = "Reduce::sum_to";
    t.call(name, || many.sum_to(all(1))).gives(|sum| is_total(&sum));
    t.call(name, || many.sum_to(())).is(Ok(arr0(136)));
    t.call(name, || many.sum_to(spread())).is(Ok(many.clone()));
    t.call(name, || hollow().sum_to((1, 1))).is(Ok(array![[0]]));
    t.call(name, || hollow().sum_to([LIMIT])).refused(ErrorKind::TooLarge);
    t.call(name, || hollow().sum_to([MAX])).refused(ErrorKind::InvalidSize);
    t.call(name, || array![1].sum_to((1, 1))).refused(ErrorKind::TooManyAxes);
    t.call(name, || array![1].sum_to(all(1))).refused(ErrorKind::TooManyAxes);
    t.call(name, || long().sum_to(LIMIT - 1)).refused(ErrorKind::Incompatible);
    t.call(name, || long().broadcast_to([0, -1])?.sum_to((0, 1))).gives(|sum| sum.is_empty());

    t.call(name, || many.sum_to(&array![0_u8])).is(Ok(array![136]));
    t.call(name, || hollow().sum_to(&hollow())).gives(|sum| sum.dim() == (0, LIMIT));
    t.call(name, || hollow().sum_to(&long())).refused(ErrorKind::TooLarge);
    t.call(name, || array![1].sum_to(&array![[0_u8]])).refused(ErrorKind::TooManyAxes);

    let name = "Reduce::into_sum_to";
    let (empty, owned) = (Array2::<i64>::zeros((0, LIMIT)), many.clone());
    t.call(name, || owned.into_sum_to(spread())).is(Ok(many.clone()));
    let owned = many.clone();
    t.call(name, || owned.into_sum_to((1, 1))).is(Ok(array![[136]]));
    t.call(name, || empty.clone().into_sum_to(LIMIT)).refused(ErrorKind::TooLarge);
    t.call(name, || empty.into_sum_to((0, LIMIT))).gives(|sum| sum.dim() == (0, LIMIT));
    t.call(name, || arr0(Nothing).into_sum_to(())).is(Ok(arr0(Nothing)));
    t.call(name, || array![1].into_sum_to((1, 1))).refused(ErrorKind::TooManyAxes);

    let (empty, owned) = (Array2::<i64>::zeros((0, LIMIT)), many.clone());
    t.call(name, || owned.into_sum_to(&many)).is(Ok(many.clone()));
    let owned = many.clone();
    t.call(name, || owned.into_sum_to(&array![0_u8])).is(Ok(array![136]));
    t.call(name, || empty.clone().into_sum_to(&long())).refused(ErrorKind::TooLarge);
    t.call(name, || empty.into_sum_to(&hollow())).gives(|sum| sum.dim() == (0, LIMIT));
    t.call(name, || arr0(Nothing).into_sum_to(&arr0(()))).is(Ok(arr0(Nothing)));
    t.call(name, || array![1].into_sum_to(&array![[0_u8]])).refused(ErrorKind::TooManyAxes);
}

fn into_arrays(t: &mut Table) {
    fn into(
        t: &mut Table,
        name: &'static str,
        expected: i64,
        sum: impl Fn(&ArrayRef<i64, IxDyn>, &mut ArrayRef<i64, IxDyn>) -> Result<(), BroadcastError> + Sync,
    ) {
        let (many, empty) = (many(), ArrayD::zeros(IxDyn(&[0, LIMIT])));
        let mut out = ArrayD::from_elem(IxDyn(&all(1)), 3);
        t.call(name, || sum(&many, &mut out)).gives(|()| out.iter().eq([&expected]));
        let mut out = ArrayD::from_elem(IxDyn(&[]), 3);
        t.call(name, || sum(&many, &mut out)).gives(|()| out.iter().eq([&expected]));
        let mut out = ArrayD::from_elem(IxDyn(&[2]), 3);
        t.call(name, || sum(&empty, &mut out)).refused(ErrorKind::Incompatible);
        t.call(name, || sum(&arr0(1).into_dyn(), &mut out)).refused(ErrorKind::TooManyAxes);
        assert_eq!(out, array![3, 3].into_dyn());
        let mut out = Array::zeros(IxDyn(&[0, LIMIT]));
        t.call(name, || sum(&empty, &mut out)).gives(|()| out.is_empty());
    }
    into(t, "Reduce::assign_sum_to", 136, Reduce::assign_sum_to);
    into(t, "Reduce::add_sum_to", 139, Reduce::add_sum_to);
    into(t, "Reduce::scaled_add_sum_to", 3 - 136, |a, out| a.scaled_add_sum_to(-1, out));
    into(t, "Reduce::par", 136, |a, out| a.par().assign_sum_to(out));
    into(t, "Reduce::par", 139, |a, out| a.par().add_sum_to(out));
    into(t, "Reduce::par", 3 - 136, |a, out| a.par().scaled_add_sum_to(-1, out));
}

fn parallel(t: &mut Table) {
    let (many, every) = (many(), (0..MANY).collect::<Vec<_>>());
    let name = "Reduce::par";
    t.call(name, || many.par().sum_axes(&every)).is(Ok(arr0(136).into_dyn()));
    t.call(name, || hollow().par().sum_axes(1)).is(Ok(Array1::zeros(0)));
    t.call(name, || hollow().par().sum_axes(0)).refused(ErrorKind::TooLarge);
    t.call(name, || array![Nothing, Nothing].par().sum_axes(0)).is(Ok(arr0(Nothing)));
    t.call(name, || many.par().sum_axes(keepdims(&every))).gives(|sum| is_total(&sum));
    t.call(name, || hollow().par().sum_axes(keepdims(1))).is(Ok(Array2::zeros((0, 1))));
    t.call(name, || long().par().sum_axes(keepdims(1))).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || many.par().sum_to(all(1))).gives(|sum| is_total(&sum));
    t.call(name, || hollow().par().sum_to((1, 1))).is(Ok(array![[0]]));
    t.call(name, || hollow().par().sum_to(LIMIT)).refused(ErrorKind::TooLarge);
    t.call(name, || array![1].par().sum_to((1, 1))).refused(ErrorKind::TooManyAxes);
}

pub(crate) fn of_maps(t: &mut Table) {
    to_new(t);
    summed(t);
    onto(t);
    copies(t);
}

fn to_new(t: &mut Table) {
    let (many, cell) = (ArrayD::from_elem(IxDyn(&all(1)), 3), array![7]);
    let column = long().insert_axis(Axis(1));
    let name = "broadcast_map";
    t.call(name, || broadcast_map(huge(), |&x| x)).refused(ErrorKind::TooLarge);
    t.call(name, || broadcast_map((column, long()), |_, _| 0_u8)).refused(ErrorKind::Overflow);
    t.call(name, || broadcast_map(arr0(Nothing).view(), |&x| x)).is(Ok(arr0(Nothing)));
    t.call(name, || broadcast_map((hollow(), &cell), |a, b| a + b)).gives(|out| out.dim() == (0, LIMIT));
    t.call(name, || broadcast_map((&many, &cell), |a, b| a + b)).is(Ok(&many + 7));
    t.call(name, || broadcast_map((many.t(), &many), |a, b| a * b)).gives(|out| out.ndim() == MANY);
    t.call(name, || broadcast_map((&cell, &cell, &cell, &cell, &many, &many), |a, _, _, _, b, _| a + b))
        .is(Ok(&many + 7));
    let name = "ParOperands::par";
    t.call(name, || broadcast_map(huge().par(), |&x| x)).refused(ErrorKind::TooLarge);
    t.call(name, || broadcast_map((column, long()).par(), |_, _| 0_u8)).refused(ErrorKind::Overflow);
    t.call(name, || broadcast_map((hollow(), &cell).par(), |a, b| a + b))
        .gives(|out| out.dim() == (0, LIMIT));
    t.call(name, || broadcast_map((&many, &cell).par(), |a, b| a + b)).is(Ok(&many + 7));
    t.call(name, || broadcast_map(arr0(Nothing).view().par(), |&x| x)).is(Ok(arr0(Nothing)));
}

fn summed(t: &mut Table) {
    let (many, cell) = (many(), array![7]);
    let name = "fused";
    t.call(name, || fused((&many, &cell), |a, b| a * b).sum_to(())).is(Ok(arr0(136 * 7)));
    t.call(name, || fused((&many, many.t()), |a, _| *a).sum_to(all(1)))
        .gives(|sum| sum.ndim() == MANY && sum.len() == 1);
    t.call(name, || fused(hollow(), |&x| x).sum_to((1, 1))).is(Ok(array![[0]]));
    t.call(name, || fused(hollow(), |&x| x).sum_to(LIMIT)).refused(ErrorKind::TooLarge);
    t.call(name, || fused((long().insert_axis(Axis(1)), long()), |_, _| 0).sum_to(1))
        .refused(ErrorKind::Overflow);
    t.call(name, || fused(&cell, |&x| x).sum_to(all(1))).refused(ErrorKind::TooManyAxes);
    t.call(name, || fused(&cell, |&x| x).sum_to(-1)).refused(ErrorKind::InvalidSize);
    t.call(name, || fused(arr0(Nothing).view(), |&x| x).sum_to(())).is(Ok(arr0(Nothing)));

    t.call(name, || fused((&many, &cell), |a, b| a * b).sum_to(&arr0(()))).is(Ok(arr0(136 * 7)));
    t.call(name, || fused(&many, |&a| a).sum_to(&many)).is(Ok(many.clone()));
    t.call(name, || fused(hollow(), |&x| x).sum_to(&array![[0_u8]])).is(Ok(array![[0]]));
    t.call(name, || fused(hollow(), |&x| x).sum_to(&long())).refused(ErrorKind::TooLarge);
    t.call(name, || fused((long().insert_axis(Axis(1)), long()), |_, _| 0).sum_to(&cell))
        .refused(ErrorKind::Overflow);
    t.call(name, || fused(&cell, |&x| x).sum_to(&many)).refused(ErrorKind::TooManyAxes);
    t.call(name, || fused(arr0(Nothing).view(), |&x| x).sum_to(&arr0(()))).is(Ok(arr0(Nothing)));

    let name = "Fused::par";
    t.call(name, || fused((&many, &cell), |a, b| a * b).par().sum_to(())).is(Ok(arr0(136 * 7)));
    t.call(name, || fused((long().insert_axis(Axis(1)), long()), |_, _| 0).par().sum_to(&cell))
        .refused(ErrorKind::Overflow);
    t.call(name, || fused(hollow(), |&x| x).par().sum_to(LIMIT)).refused(ErrorKind::TooLarge);
}

fn onto(t: &mut Table) {
    let (many, cell) = (many(), array![7]);
    let (mut out, mut wide) = (array![3], ArrayD::<i64>::zeros(IxDyn(&spread())));
    let mut empty = Array2::<i64>::zeros((0, LIMIT));
    let name = "broadcast_apply";
    t.call(name, || broadcast_apply(&mut out, huge(), |out, x| *out += x)).refused(ErrorKind::TooFewAxes);
    t.call(name, || broadcast_apply(&mut out, (&cell, long()), |out, x, _| *out += x))
        .refused(ErrorKind::Incompatible);
    assert_eq!(out, array![3]);
    t.call(name, || broadcast_apply(&mut out, arr0(1).view(), |out, x| *out += x)).gives(|()| out[0] == 4);
    t.call(name, || broadcast_apply(&mut wide, (&cell, &many), |out, a, b| *out = a + b))
        .gives(|()| wide == &many + 7);
    t.call(name, || broadcast_apply(&mut empty, (hollow(), long()), |out, a, _| *out = *a)).is(Ok(()));
    let name = "broadcast_apply2";
    let mut same = wide.clone();
    t.call(name, || {
        broadcast_apply2(&mut wide, &mut same, (&cell, &many), |x, y, a, b| (*x, *y) = (a + b, *b))
    })
    .gives(|()| (&wide, &same) == (&(&many + 7), &many));
    t.call(name, || broadcast_apply2(&mut wide, &mut same, hollow(), |x, _, _| *x = 0))
        .refused(ErrorKind::Incompatible);
    t.call(name, || broadcast_apply2(&mut out, &mut same, &cell, |x, _, _| *x = 0))
        .refused(ErrorKind::AxisCount);
    t.call(name, || broadcast_apply2(&mut wide, &mut same.view_mut(), huge(), |x, _, _| *x = 0))
        .refused(ErrorKind::Incompatible);
    t.call(name, || {
        broadcast_apply2(&mut empty, &mut Array2::from_elem((LIMIT, 0), ()), &cell, |_, (), _| ())
    })
    .refused(ErrorKind::Incompatible);
    let name = "broadcast_apply3";
    let mut third = Array2::from_elem((0, LIMIT), Nothing);
    let mut more = empty.clone();
    t.call(name, || {
        broadcast_apply3(&mut empty, &mut more, &mut third, (hollow(), long()), |_, _, _, _, _| ())
    })
    .is(Ok(()));
    t.call(name, || {
        broadcast_apply3(&mut empty, &mut third, &mut more.view_mut().reversed_axes(), &cell, |_, _, _, _| ())
    })
    .refused(ErrorKind::Incompatible);
    assert_eq!((out[0], wide), (4, &many + 7));
    let mut wide = many.clone();
    let name = "broadcast_map2";
    t.call(name, || broadcast_map2(&many, |x| (*x, ())))
        .gives(|(x, units)| x == many && units.ndim() == MANY);
    t.call(name, || broadcast_map2(hollow(), |x| (*x, Nothing))).gives(|(x, _)| x.shape() == [0, LIMIT]);
    t.call(name, || broadcast_map2(huge(), |x| (*x, ()))).refused(ErrorKind::TooLarge);
    t.call(name, || broadcast_map2((long().insert_axis(Axis(1)), long()), |_, _| ((), ())))
        .refused(ErrorKind::Overflow);
    let name = "broadcast_map3";
    t.call(name, || broadcast_map3(arr0(1), |x| (*x, (), Nothing))).is(Ok((
        arr0(1),
        arr0(()),
        arr0(Nothing),
    )));
    t.call(name, || broadcast_map3(huge(), |x| ((), (), *x))).refused(ErrorKind::TooLarge);
    t.call(name, || broadcast_map3((&cell, array![1, 2], hollow()), |_, _, _| ((), (), ())))
        .refused(ErrorKind::Incompatible);
    let name = "ParOperands::par";
    t.call(name, || broadcast_apply(&mut out, huge().par(), |out, x| *out += x))
        .refused(ErrorKind::TooFewAxes);
    t.call(name, || broadcast_apply(&mut out, (&cell, long()).par(), |out, x, _| *out += x))
        .refused(ErrorKind::Incompatible);
    wide.fill(0);
    t.call(name, || broadcast_apply(&mut wide, (&cell, &many).par(), |out, a, b| *out = a + b))
        .gives(|()| wide == &many + 7);
    t.call(name, || broadcast_apply(&mut empty, (hollow(), long()).par(), |out, a, _| *out = *a)).is(Ok(()));
}

fn copies(t: &mut Table) {
    let many = many();
    let name = "Materialize::materialize";
    t.call(name, || many.materialize()).is(many.clone());
    t.call(name, || many.t().materialize()).is(many.t());
    t.call(name, || hollow().materialize()).holds(|copy| copy.dim() == (0, LIMIT));
    t.call(name, || arr0(Nothing).materialize()).is(arr0(Nothing));
    t.call(name, || arr0(Nothing).broadcast_to([0, LIMIT]).map(|v| v.materialize()))
        .gives(|copy| copy.is_empty());

    let name = "Materialize::try_materialize";
    t.call(name, || many.try_materialize()).is(Ok(many.clone()));
    t.call(name, || many.t().try_materialize()).gives(|copy| copy == many.t());
    t.call(name, || hollow().try_materialize()).gives(|copy| copy.dim() == (0, LIMIT));
    t.call(name, || arr0(Nothing).try_materialize()).is(Ok(arr0(Nothing)));
    t.call(name, || huge().try_materialize()).refused(ErrorKind::TooLarge);

    let name = "Materialize::materialize_into";
    let (mut out, mut one) = (ArrayD::zeros(IxDyn(&spread())), array![3]);
    let mut empty = Array2::zeros((0, LIMIT));
    t.call(name, || many.materialize_into(&mut out)).gives(|()| out == many);
    t.call(name, || hollow().materialize_into(&mut one)).refused(ErrorKind::TooFewAxes);
    t.call(name, || long().materialize_into(&mut array![Nothing])).refused(ErrorKind::Incompatible);
    t.call(name, || hollow().materialize_into(&mut empty)).is(Ok(()));
    assert_eq!(one, array![3]);
}
