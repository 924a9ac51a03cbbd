//! What clients wrote by hand: maps by value, reductions, means, sums that undo placed axes.

use crate::table::Table;
use crate::{LIMIT, MANY, MAX, Nothing, all, hollow, huge, long, many, spread};
use common::narrow::Half;
use ndarray::{Array, Array1, Array2, ArrayD, ArrayRef, IxDyn, arr0, array};
use ndarray_broadcast::{AxisSet, BroadcastError, ErrorKind, broadcast_arrays, fused};
use ndarray_broadcast::{keepdims, prelude::*};

pub(crate) fn rows(t: &mut Table) {
    views(t);
    by_value(t);
    reductions(t);
    means(t);
    statistics(t);
    totals(t);
    extremes_to(t);
    extremes(t);
    placed(t);
    placed_into(t);
}

fn views(t: &mut Table) {
    let (many, one) = (many(), arr0(1));
    let name = "BroadcastTo::can_broadcast_to";
    t.call(name, || many.can_broadcast_to(all(-1))).is(true);
    t.call(name, || many.can_broadcast_to(all(3))).is(false);
    t.call(name, || huge().can_broadcast_to((LIMIT, -1, -1))).is(false);
    t.call(name, || long().can_broadcast_to((LIMIT, -1))).is(false);
    t.call(name, || long().can_broadcast_to((0, -1))).is(true);
    t.call(name, || long().can_broadcast_to(MAX)).is(false);
    t.call(name, || one.can_broadcast_to(())).is(true);

    let but_last: AxisSet = (0..MANY - 1).collect();
    let name = "BroadcastView::into_broadcast_axes";
    t.call(name, || one.view().into_broadcast_axes((LIMIT, 0), [-1, 0])).gives(|v| v.dim() == (LIMIT, 0));
    t.call(name, || array![5].view().into_broadcast_axes(all(1), &but_last).map(|v| v.sum())).is(Ok(5));
    t.call(name, || one.view().into_broadcast_axes(3, isize::MIN)).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || long().into_broadcast_axes((LIMIT, LIMIT), -1).map(|v| v.len()))
        .refused(ErrorKind::Overflow);
    t.call(name, || one.view().into_broadcast_axes(&hollow(), [0, -1])).gives(|v| v.dim() == (0, LIMIT));
    t.call(name, || one.view().into_broadcast_axes(&huge(), [0, -2])).refused(ErrorKind::DuplicateAxis);
    let name = "BroadcastView::into_broadcast_in_dim";
    let reversed: Vec<i64> = (1..=10_000).map(|axis: i64| -axis).collect();
    let turned: Vec<usize> = many.shape().iter().rev().copied().collect();
    t.call(name, || many.view().into_broadcast_in_dim(turned, &reversed)).gives(|v| v == many.t());
    t.call(name, || one.view().into_broadcast_in_dim((LIMIT, 0), [])).gives(|v| v.is_empty());
    t.call(name, || long().into_broadcast_in_dim((3, 4), -2)).refused(ErrorKind::Incompatible);

    let name = "broadcast_arrays";
    t.call(name, || broadcast_arrays([huge(), hollow()]).map(|_| ())).refused(ErrorKind::Incompatible);
    t.call(name, || broadcast_arrays(&*vec![&many; 20]).map(|views| views.len())).is(Ok(20));
    t.call(name, || broadcast_arrays([&many; 0]).map(|views| views.len())).is(Ok(0));
    t.call(name, || broadcast_arrays(&[&one][..0]).map(|views| views.len())).is(Ok(0));
}

fn by_value(t: &mut Table) {
    let name = "IntoBroadcastMap::into_broadcast_map";
    t.call(name, || many().into_broadcast_map(&array![7], |a, b| a + b).map_err(BroadcastError::from))
        .is(Ok(many() + 7));
    t.call(name, || many().into_broadcast_map(many().t(), |a, _| *a).map_err(BroadcastError::from))
        .gives(|out| out.ndim() == MANY);
    t.call(name, || arr0(1).into_broadcast_map(hollow(), |a, b| a + b).map_err(BroadcastError::from))
        .gives(|out| out.dim() == (0, LIMIT));
    t.call(name, || {
        arr0(Nothing).into_broadcast_map(arr0(Nothing).view(), |&a, _| a).map_err(BroadcastError::from)
    })
    .is(Ok(arr0(Nothing)));
    t.call(name, || {
        arr0(1_i64).into_shared().into_broadcast_map(huge(), |a, _| *a).map_err(BroadcastError::from)
    })
    .refused(ErrorKind::TooLarge);
    let refused = || many().into_broadcast_map(hollow(), |a, _| *a).unwrap_err();
    t.call("Returned::error", || refused().error().kind()).is(ErrorKind::Overflow);
    t.call("Returned::into_inner", || refused().into_inner()).is(many());
}

fn reductions(t: &mut Table) {
    let (many, every) = (many(), (1..=10_000).map(|axis: i64| -axis).collect::<Vec<_>>());
    let name = "Reduce::reduce_axes";
    t.call(name, || many.reduce_axes(&every, 0, i64::max)).is(Ok(arr0(16).into_dyn()));
    t.call(name, || many.reduce_axes(AxisSet::default(), 0, i64::max)).is(Ok(many.clone()));
    t.call(name, || hollow().reduce_axes(-1, 7, i64::max)).is(Ok(Array1::zeros(0)));
    t.call(name, || hollow().reduce_axes([0, 1], 7, i64::max)).is(Ok(arr0(7)));
    t.call(name, || hollow().reduce_axes(0, 7, i64::max)).refused(ErrorKind::TooLarge);
    t.call(name, || huge().reduce_axes([-3, 9], 7, i64::max)).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || array![Nothing, Nothing].reduce_axes(0, Nothing, |a, _| a)).is(Ok(arr0(Nothing)));
    t.call(name, || many.reduce_axes(keepdims(&every), 0, i64::max))
        .gives(|top| top.ndim() == MANY && top.iter().eq([&16]));
    t.call(name, || hollow().reduce_axes(keepdims(1), 7, i64::max)).is(Ok(Array2::zeros((0, 1))));
    t.call(name, || hollow().reduce_axes(keepdims(0), 7, i64::max)).refused(ErrorKind::TooLarge);
    let name = "Reduce::reduce_to";
    let max = i64::max;
    t.call(name, || fused((&many, &array![7]), |a, b| a * b).reduce_to((), 0, max)).is(Ok(arr0(16 * 7)));
    t.call(name, || fused((&many, many.t()), |a, _| *a).reduce_to(all(1), 0, max))
        .gives(|top| top.ndim() == MANY && top.iter().eq([&16]));
    t.call(name, || fused(hollow(), |&x| x).reduce_to((1, 1), 9, max)).is(Ok(array![[9]]));
    t.call(name, || fused(hollow(), |&x| x).reduce_to(LIMIT, 9, max)).refused(ErrorKind::TooLarge);
    t.call(name, || fused(&array![1], |&x| x).reduce_to(-1, 9, max)).refused(ErrorKind::InvalidSize);
}

fn means(t: &mut Table) {
    let hollow = || Array2::<f64>::zeros((0, LIMIT));
    let many = many().mapv(|x| f64::from(i8::try_from(x).unwrap()));
    let every = (0..MANY).collect::<Vec<_>>();
    let name = "Reduce::mean_axes";
    t.call(name, || many.mean_axes(&every)).is(Ok(arr0(8.5).into_dyn()));
    t.call(name, || many.mean_axes(AxisSet::default())).is(Ok(many.clone()));
    t.call(name, || hollow().mean_axes(1)).is(Ok(Array1::zeros(0)));
    t.call(name, || hollow().mean_axes(-3)).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || hollow().mean_axes([1, 0])).refused(ErrorKind::NoMean);
    t.call(name, || many.mean_axes(keepdims(&every))).gives(|mean| mean.iter().eq([&8.5]));
    t.call(name, || hollow().mean_axes(keepdims(1))).is(Ok(Array2::zeros((0, 1))));
    t.call(name, || hollow().mean_axes(keepdims([1, 0]))).refused(ErrorKind::NoMean);
    t.call(name, || array![i64::MAX].mean_axes(0)).refused(ErrorKind::NoMean);
    t.call(name, || many.mean_axes(..)).is(Ok(arr0(8.5)));
    t.call(name, || arr0(Half::new(1.0)).broadcast_to(LIMIT / 2)?.mean_axes(..)).refused(ErrorKind::NoMean);
    let name = "Reduce::mean_to";
    t.call(name, || many.mean_to(())).is(Ok(arr0(8.5)));
    t.call(name, || many.mean_to(all(1))).gives(|mean| mean.ndim() == MANY && mean.iter().eq([&8.5]));
    t.call(name, || hollow().mean_to((0, 1))).is(Ok(Array2::zeros((0, 1))));
    t.call(name, || hollow().mean_to(())).refused(ErrorKind::NoMean);
    t.call(name, || array![u8::MAX].mean_to(())).refused(ErrorKind::NoMean);
}

fn statistics(t: &mut Table) {
    let hollow = || Array2::<f64>::zeros((0, LIMIT));
    let many = many().mapv(|x| f64::from(i8::try_from(x).unwrap()));
    let every = (0..MANY).collect::<Vec<_>>();
    let name = "Reduce::var_axes";
    t.call(name, || many.var_axes(&every, 0.0)).is(Ok(arr0(21.25).into_dyn()));
    t.call(name, || many.var_axes(AxisSet::default(), 0.0)).gives(|zeros| zeros.iter().all(|&x| x == 0.0));
    t.call(name, || fused(&many, |x| *x).var_axes(.., 0.0)).is(Ok(arr0(21.25)));
    t.call(name, || hollow().var_axes(1, f64::NAN)).is(Ok(Array1::zeros(0)));
    t.call(name, || hollow().var_axes(.., 0.0)).refused(ErrorKind::NoMean);
    t.call(name, || many.var_axes(.., f64::NAN)).refused(ErrorKind::NoMean);
    t.call(name, || array![i64::MAX].var_axes(0, 0)).refused(ErrorKind::NoMean);
    t.call(name, || hollow().var_axes(-3, 0.0)).refused(ErrorKind::AxisOutOfBounds);
    let name = "Reduce::std_axes";
    t.call(name, || many.std_axes(.., 0.0)).is(Ok(arr0(21.25_f64.sqrt())));
    t.call(name, || many.std_axes(&every, 16.0)).refused(ErrorKind::NoMean);
    t.call(name, || hollow().std_axes(keepdims(1), 0.0)).is(Ok(Array2::zeros((0, 1))));
    let name = "Reduce::mean_var_axes";
    t.call(name, || many.mean_var_axes(.., 0.0)).is(Ok((arr0(8.5), arr0(21.25))));
    t.call(name, || hollow().mean_var_axes(0, 0.0).map(drop)).refused(ErrorKind::TooLarge);
    t.call(name, || hollow().mean_var_axes(.., 0.0).map(drop)).refused(ErrorKind::NoMean);
    t.call(name, || many.mean_var_axes(MANY, 0.0).map(drop)).refused(ErrorKind::AxisOutOfBounds);
    t.call("Totals::var", || fused(&many, |x| *x).var(0.0)).is(Ok(21.25));
    t.call("Totals::var", || fused(&hollow(), |x| *x).var(f64::NAN)).refused(ErrorKind::NoMean);
    t.call("Totals::std", || fused(&many, |x| *x).std(0.0)).is(Ok(21.25_f64.sqrt()));
    t.call("Totals::std", || fused(&many, |x| *x).std(16.0)).refused(ErrorKind::NoMean);
    let name = "Reduce::any_axes";
    t.call(name, || fused(&many, |x| *x > 15.0).any_axes(&every)).is(Ok(arr0(true).into_dyn()));
    t.call(name, || fused(&hollow(), |_| true).any_axes(1)).is(Ok(Array1::from_elem(0, false)));
    t.call(name, || fused(&hollow(), |_| true).any_axes(0)).refused(ErrorKind::TooLarge);
    t.call(name, || fused(&hollow(), |_| true).any_axes(2)).refused(ErrorKind::AxisOutOfBounds);
    let name = "Reduce::count_axes";
    t.call(name, || fused(&many, |x| *x > 14.0).count_axes(&every)).is(Ok(arr0(2).into_dyn()));
    t.call(name, || many.mapv(|x| x > 1.0).count_axes(..)).is(Ok(arr0(15)));
    t.call(name, || fused(&hollow(), |_| true).par().count_axes(1)).is(Ok(Array1::from_elem(0, 0)));
    t.call(name, || fused(&hollow(), |_| true).count_axes(0)).refused(ErrorKind::TooLarge);
    t.call(name, || hollow().mapv(|_| true).count_axes(2)).refused(ErrorKind::AxisOutOfBounds);
    let name = "Reduce::all_axes";
    t.call(name, || fused(&many, |x| *x > 1.0).all_axes(&every)).is(Ok(arr0(false).into_dyn()));
    t.call(name, || fused(&hollow(), |_| false).all_axes(..)).is(Ok(arr0(true)));
    t.call(name, || fused(&hollow(), |_| false).all_axes(-3)).refused(ErrorKind::AxisOutOfBounds);
}

fn totals(t: &mut Table) {
    let (many, hollow) = (many().mapv(|x| f64::from(i8::try_from(x).unwrap())), Array2::zeros((0, LIMIT)));
    let (of_many, of_none) = (fused((&many, &many), |x, y| x * y), fused(&hollow, |x: &f64| *x));
    t.call("Totals::sum", || of_many.sum()).is(Ok(1496.0));
    t.call("Totals::sum", || of_none.par().sum()).is(Ok(0.0));
    t.call("Totals::sum", || fused((&hollow, &many), |x, _| *x).sum()).refused(ErrorKind::Overflow);
    t.call("Totals::mean", || of_many.mean()).is(Ok(93.5));
    t.call("Totals::mean", || of_none.mean()).refused(ErrorKind::NoMean);
    t.call("Totals::mean", || fused(&many, |_| i64::MAX).mean()).refused(ErrorKind::NoMean);
    t.call("Totals::max", || of_many.max()).is(Ok(256.0));
    t.call("Totals::max", || of_none.max()).refused(ErrorKind::NoElements);
    t.call("Totals::min", || of_many.par().min()).is(Ok(1.0));
    t.call("Totals::min", || of_none.min()).refused(ErrorKind::NoElements);
    t.call("Totals::any", || fused(&hollow, |_| true).any()).is(Ok(false));
    t.call("Totals::count", || fused(&hollow, |_| true).count()).is(Ok(0));
    t.call("Totals::count", || fused((&many, &many), |x, y| x * y > 4.0).par().count()).is(Ok(14));
    t.call("Totals::count", || fused((&hollow, &many), |_, _| true).count()).refused(ErrorKind::Overflow);
    t.call("Totals::all", || fused(&hollow, |_| false).all()).is(Ok(true));
    t.call("Totals::all", || fused(&many, |x| *x > 1.0).all()).is(Ok(false));
    t.call("Totals::reduce", || of_many.reduce(0.0, f64::max)).is(Ok(256.0));
    t.call("Totals::reduce", || of_none.reduce(7.0, f64::max)).is(Ok(7.0));
}

fn extremes_to(t: &mut Table) {
    let many = many();
    let name = "Reduce::max_to";
    t.call(name, || many.max_to(())).is(Ok(arr0(16)));
    t.call(name, || many.max_to(all(1))).gives(|top| top.ndim() == MANY && top.iter().eq([&16]));
    t.call(name, || hollow().max_to((0, 1))).is(Ok(Array2::zeros((0, 1))));
    t.call(name, || hollow().max_to(LIMIT)).refused(ErrorKind::TooLarge);
    t.call(name, || array![1].max_to(-1)).refused(ErrorKind::InvalidSize);
    let name = "Reduce::min_to";
    t.call(name, || fused((&many, many.t()), |a, _| *a).par().min_to(all(1)))
        .gives(|low| low.ndim() == MANY && low.iter().eq([&1]));
    t.call(name, || fused(hollow(), |&x| x).min_to(())).refused(ErrorKind::NoElements);
    t.call(name, || huge().min_to(7)).refused(ErrorKind::Incompatible);
}

fn extremes(t: &mut Table) {
    let (many, every) = (many(), (0..MANY).collect::<Vec<_>>());
    let name = "Reduce::max_axes";
    t.call(name, || many.max_axes(&every)).is(Ok(arr0(16).into_dyn()));
    t.call(name, || hollow().max_axes(1)).is(Ok(Array1::zeros(0)));
    t.call(name, || hollow().max_axes([0, 1])).refused(ErrorKind::NoElements);
    t.call(name, || hollow().max_axes(0)).refused(ErrorKind::TooLarge);
    t.call(name, || many.max_axes(..)).is(Ok(arr0(16)));
    t.call(name, || hollow().max_axes(..)).refused(ErrorKind::NoElements);
    t.call("Reduce::argmax_axes", || many.argmax_axes(&every)).gives(|at| at.ndim() == 0);
    t.call("Reduce::argmax_axes", || hollow().argmax_axes(1)).gives(|at| at.dim() == 0);
    t.call("Reduce::argmin_axes", || hollow().argmin_axes(..)).refused(ErrorKind::NoElements);
    t.call("Products::matmul", || hollow().matmul(&huge()).is_err()).is(true);
    t.call("Products::matvec", || huge().matvec(&hollow()).is_err()).is(true);
    t.call("Products::vecmat", || hollow().vecmat(&huge()).is_err()).is(true);
    t.call("Products::inner", || hollow().inner(&hollow())).gives(|sums| sums.dim() == 0);
    t.call("Products::outer", || huge().outer(&huge()).is_err()).is(true);
    let name = "Reduce::min_axes";
    t.call(name, || many.min_axes(keepdims(&every))).gives(|low| low.ndim() == MANY && low.iter().eq([&1]));
    t.call(name, || huge().min_axes([-3, 9])).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || fused(hollow(), |&x| x).par().min_axes((0, 1))).refused(ErrorKind::NoElements);
}

fn placed(t: &mut Table) {
    let (many, every) = (many(), (0..MANY).rev().collect::<Vec<_>>());
    let name = "Reduce::sum_in_dim";
    t.call(name, || many.sum_in_dim(all(1), &every)).gives(|sum| sum.ndim() == MANY && sum.iter().eq([&136]));
    t.call(name, || many.sum_in_dim((), [])).is(Ok(arr0(136)));
    t.call(name, || many.sum_in_dim(2, -10_000)).is(Ok(array![36, 100]));
    t.call(name, || hollow().sum_in_dim((1, 0), [1, 0])).is(Ok(Array2::zeros((1, 0))));
    t.call(name, || hollow().sum_in_dim(LIMIT, 1)).refused(ErrorKind::TooLarge);
    t.call(name, || hollow().sum_in_dim(MAX, 1)).refused(ErrorKind::InvalidSize);
    t.call(name, || hollow().sum_in_dim((1, 1), MAX)).refused(ErrorKind::AxisCount);
    t.call(name, || hollow().sum_in_dim(1, -3)).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || array![Nothing].sum_in_dim(1, 0)).is(Ok(array![Nothing]));
    t.call(name, || many.sum_in_dim(&many, (0..MANY).collect::<Vec<_>>())).is(Ok(many.clone()));
    t.call(name, || hollow().sum_in_dim(&array![1, 2], 1)).refused(ErrorKind::Incompatible);
}

fn placed_into(t: &mut Table) {
    fn into(
        t: &mut Table,
        name: &'static str,
        expected: i64,
        sum: impl Fn(&ArrayRef<i64, IxDyn>, &mut ArrayRef<i64, IxDyn>, &[i64]) -> Result<(), BroadcastError>
        + Sync,
    ) {
        let (many, empty) = (many(), ArrayD::zeros(IxDyn(&[0, LIMIT])));
        let mut out = ArrayD::from_elem(IxDyn(&all(1)), 3);
        let every: Vec<i64> = (0..10_000).collect();
        t.call(name, || sum(&many, &mut out, &every)).gives(|()| out.iter().eq([&expected]));
        let mut out = ArrayD::from_elem(IxDyn(&[2]), 3);
        t.call(name, || sum(&empty, &mut out, &[-1])).refused(ErrorKind::Incompatible);
        assert_eq!(out, array![3, 3].into_dyn());
        let mut out = Array::zeros(IxDyn(&[LIMIT, 0]));
        t.call(name, || sum(&empty, &mut out, &[1, 0])).gives(|()| out.is_empty());
        let mut wide = ArrayD::zeros(IxDyn(&spread()));
        t.call(name, || sum(&many, &mut wide, &every)).gives(|()| wide.sum().abs() == 136);
    }
    into(t, "Reduce::add_sum_in_dim_to", 139, |a, out, axes| a.add_sum_in_dim_to(out, axes));
}
