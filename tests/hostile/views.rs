//! Views of arrays, family by family.

use crate::table::Table;
use crate::{LIMIT, MANY, MAX, Nothing, all, hollow, huge, long, many, spread};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix0, arr0, array, aview0};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, ErrorKind, broadcast_arrays, broadcast_to_match_in_place, broadcast_to_match3_in_place,
    broadcast_views,
};

pub(crate) fn rows(t: &mut Table) {
    to_target(t);
    to_match(t);
    in_place(t);
    along_axes(t);
    in_dim(t);
    of_views(t);
    several(t);
}

/// As many elements as fit, in a column or a row.
fn column() -> ArrayView2<'static, Nothing> {
    long().insert_axis(Axis(1))
}

fn row() -> ArrayView2<'static, Nothing> {
    long().insert_axis(Axis(0))
}

fn to_target(t: &mut Table) {
    let (one, none) = (array![7], Array1::<i64>::zeros(0));
    t.call("BroadcastTo::broadcast_to", || arr0(()).broadcast_to(()).map(|v| v.raw_dim())).is(Ok(Ix0()));
    t.call("BroadcastTo::broadcast_to", || none.broadcast_to([0, -1])).gives(|v| v.dim() == (0, 0));
    t.call("BroadcastTo::broadcast_to", || one.broadcast_to([LIMIT]))
        .gives(|v| v.len() == LIMIT && v[LIMIT - 1] == 7);
    t.call("BroadcastTo::broadcast_to", || long().broadcast_to([0, -1]).map(|v| v.dim())).is(Ok((0, LIMIT)));
    t.call("BroadcastTo::broadcast_to", || long().broadcast_to([2, -1]).map(|v| v.dim()))
        .refused(ErrorKind::Overflow);
    t.call("BroadcastTo::broadcast_to", || one.broadcast_to([MAX])).refused(ErrorKind::InvalidSize);
    t.call("BroadcastTo::broadcast_to", || one.broadcast_to((i64::MIN, u64::MAX, -1_i8)))
        .refused(ErrorKind::InvalidSize);
    let many = many();
    t.call("BroadcastTo::broadcast_to", || many.broadcast_to(all(-1))).gives(|v| v == many);
    t.call("BroadcastTo::broadcast_to", || one.broadcast_to(all(1))).gives(|v| v.ndim() == MANY);
    t.call("BroadcastTo::broadcast_to", || one.broadcast_to(all(2))).refused(ErrorKind::Overflow);
    t.call("BroadcastTo::broadcast_to", || many.broadcast_to([1])).refused(ErrorKind::TooFewAxes);
}

fn to_match(t: &mut Table) {
    let (one, none, many) = (array![7], Array2::<Nothing>::default((0, 0)), many());
    let name = "BroadcastToMatch::expand_to_match_ranks";
    t.call(name, || one.expand_to_match_ranks(&many).0.ndim()).is(MANY);
    t.call(name, || many.expand_to_match_ranks(&none).1.len()).is(0);
    t.call(name, || column().expand_to_match_ranks(&long()).1.dim()).is((1, LIMIT));
    t.call(name, || arr0(()).expand_to_match_ranks(&arr0(())).0.ndim()).is(0);

    let name = "BroadcastToMatch::broadcast_to_match_shape";
    t.call(name, || one.broadcast_to_match_shape((LIMIT,))).gives(|v| v.len() == LIMIT);
    t.call(name, || none.broadcast_to_match_shape([0_usize; 3])).gives(|v| v.is_empty());
    t.call(name, || many.broadcast_to_match_shape(spread())).gives(|v| v == many);
    t.call(name, || one.broadcast_to_match_shape([MAX])).refused(ErrorKind::InvalidSize);
    t.call(name, || one.broadcast_to_match_shape([0, LIMIT, LIMIT])).refused(ErrorKind::Overflow);
    t.call(name, || one.broadcast_to_match_shape(all(-1))).refused(ErrorKind::InvalidSize);

    let name = "BroadcastToMatch::broadcast_to_match";
    t.call(name, || column().broadcast_to_match(&row()).map(|(x, _)| x.dim())).refused(ErrorKind::Overflow);
    t.call(name, || hollow().broadcast_to_match(&none).map(|(x, _)| x.dim()))
        .refused(ErrorKind::Incompatible);
    t.call(name, || one.broadcast_to_match(&hollow()).map(|(x, y)| (x.dim(), y.dim())))
        .is(Ok(((0, LIMIT), (0, LIMIT))));
    t.call(name, || many.broadcast_to_match(&one).map(|(x, y)| (x == many, y.ndim()))).is(Ok((true, MANY)));

    let name = "BroadcastToMatch::broadcast_to_match3";
    let three = |dim: (usize, usize)| Ok((dim, dim, dim));
    t.call(name, || {
        let (h, l) = (hollow(), long());
        one.broadcast_to_match3(&h, &l).map(|(x, y, z)| (x.dim(), y.dim(), z.dim()))
    })
    .is(three((0, LIMIT)));
    t.call(name, || one.broadcast_to_match3(&many, &many).map(|(x, y, z)| x.ndim() + y.len() + z.len()))
        .is(Ok(MANY + 32));
    let (column, row, cell) = (column(), row(), array![[Nothing]]);
    t.call(name, || column.broadcast_to_match3(&cell, &row).map(|(x, ..)| x.dim()))
        .refused(ErrorKind::Overflow);

    let name = "BroadcastToMatch::can_broadcast_to_match";
    t.call(name, || [column.can_broadcast_to_match(&row), row.can_broadcast_to_match(&cell)])
        .is([false, true]);
    t.call(name, || many.can_broadcast_to_match(&many)).is(true);
    t.call(name, || none.can_broadcast_to_match(&hollow())).is(false);
}

fn in_place(t: &mut Table) {
    let (mut x, mut y) = (column(), row());
    t.call("broadcast_to_match_in_place", || broadcast_to_match_in_place(&mut x, &mut y))
        .refused(ErrorKind::Overflow);
    assert_eq!((x.dim(), y.dim()), ((LIMIT, 1), (1, LIMIT)));
    let (many, ones) = (many(), Array1::<u8>::zeros(1));
    let (mut x, mut y) = (many.view(), ones.view().into_dyn());
    t.call("broadcast_to_match_in_place", || broadcast_to_match_in_place(&mut x, &mut y))
        .gives(|()| x == many && y.ndim() == MANY && y.len() == 16);

    let (mut x, mut y, mut z) = (column(), hollow(), row());
    t.call("broadcast_to_match3_in_place", || broadcast_to_match3_in_place(&mut x, &mut y, &mut z))
        .refused(ErrorKind::Incompatible);
    let (mut x, mut y, mut z) = (hollow(), row(), hollow());
    t.call("broadcast_to_match3_in_place", || broadcast_to_match3_in_place(&mut x, &mut y, &mut z))
        .gives(|()| [x.dim(), y.dim(), z.dim()] == [(0, LIMIT); 3]);
}

fn along_axes(t: &mut Table) {
    let (scalar, one, many) = (arr0(3), array![7], many());
    let name = "BroadcastAxes::broadcast_axes";
    t.call(name, || scalar.broadcast_axes(spread(), (0..MANY).collect::<Vec<_>>()))
        .gives(|v| v.len() == 16 && v.ndim() == MANY);
    t.call(name, || many.broadcast_axes(spread(), AxisSet::default())).gives(|v| v == many);
    t.call(name, || one.broadcast_axes((0, 1, LIMIT), [0, 2])).gives(|v| v.is_empty());
    t.call(name, || long().broadcast_axes((LIMIT, 1), 1).map(|v| v.dim())).is(Ok((LIMIT, 1)));
    t.call(name, || long().broadcast_axes((LIMIT, 2), 1).map(|v| v.dim())).refused(ErrorKind::Overflow);
    t.call(name, || one.broadcast_axes([1, MAX], 1)).refused(ErrorKind::InvalidSize);
    t.call(name, || one.broadcast_axes([1, 2], MAX)).refused(ErrorKind::AxisOutOfBounds);
    let zeros = all(0_usize);
    t.call(name, || one.broadcast_axes(all(1), &zeros)).refused(ErrorKind::DuplicateAxis);
    t.call(name, || one.broadcast_axes([0_usize; 0], [0_usize; 0])).refused(ErrorKind::AxisCount);

    let name = "BroadcastAxes::broadcast_like";
    t.call(name, || one.broadcast_like(&many, 0)).refused(ErrorKind::AxisCount);
    let but_last: AxisSet = (0..MANY - 1).collect();
    t.call(name, || one.broadcast_like(&many, &but_last)).gives(|v| v.iter().all(|&x| x == 7));
    t.call(name, || long().broadcast_like(&hollow(), 0).map(|v| v.dim())).is(Ok((0, LIMIT)));
}

fn in_dim(t: &mut Table) {
    let (scalar, one, many) = (arr0(3), array![7], many());
    let name = "BroadcastInDim::broadcast_in_dim";
    let reversed: Vec<usize> = (0..MANY).rev().collect();
    let turned: Vec<usize> = spread().into_iter().rev().collect();
    t.call(name, || many.broadcast_in_dim(turned, &reversed)).gives(|v| v == many.t());
    t.call(name, || scalar.broadcast_in_dim((), [0_usize; 0])).gives(|v| v.len() == 1);
    t.call(name, || one.broadcast_in_dim((0, LIMIT), 1)).gives(|v| v.is_empty());
    t.call(name, || hollow().broadcast_in_dim((LIMIT, 0), [1, 0]).map(|v| v.dim())).is(Ok((LIMIT, 0)));
    t.call(name, || one.broadcast_in_dim((LIMIT, LIMIT), 1)).refused(ErrorKind::Overflow);
    t.call(name, || one.broadcast_in_dim((3, -1), 1)).refused(ErrorKind::InvalidSize);
    t.call(name, || one.broadcast_in_dim((3,), MAX)).refused(ErrorKind::AxisOutOfBounds);
    t.call(name, || one.broadcast_in_dim((3,), &reversed)).refused(ErrorKind::AxisCount);
}

fn of_views(t: &mut Table) {
    let (many, cell) = (many(), array![7]);
    let name = "BroadcastView::into_broadcast_to";
    t.call(name, || many.view().into_broadcast_to(all(-1))).gives(|v| v == many);
    t.call(name, || long().into_broadcast_to((LIMIT, -1))).refused(ErrorKind::Overflow);
    t.call(name, || huge().into_broadcast_to([0, -1, -1])).gives(|v| v.dim() == (0, 1 << 31, 1 << 31));

    let name = "BroadcastView::broadcast_in_place";
    let mut view = hollow();
    t.call(name, || view.broadcast_in_place([1, LIMIT])).refused(ErrorKind::Incompatible);
    assert_eq!(view.dim(), (0, LIMIT));
    let mut view = cell.view().into_dyn();
    t.call(name, || view.broadcast_in_place(spread())).gives(|()| view.len() == 16);
    let mut view: ArrayView1<i32> = cell.view();
    t.call(name, || view.broadcast_in_place([MAX])).refused(ErrorKind::InvalidSize);
}

fn several(t: &mut Table) {
    let (one, many) = (array![7], many());
    t.call("broadcast_arrays", || broadcast_arrays((column(), row())).map(|_| ()))
        .refused(ErrorKind::Overflow);
    t.call("broadcast_arrays", || broadcast_arrays((&one, &many, hollow())).map(|_| ()))
        .refused(ErrorKind::Overflow);
    t.call("broadcast_arrays", || broadcast_arrays((&one, &many, &one, &many, &one, &many)))
        .gives(|(.., a, b)| a.len() == 16 && b == many);
    t.call("broadcast_arrays", || broadcast_arrays((aview0(&Nothing),))).gives(|(v,)| v.len() == 1);
    t.call("broadcast_arrays", || broadcast_arrays((hollow(), long()))).gives(|(_, v)| v.dim() == (0, LIMIT));

    t.call("broadcast_views", || broadcast_views::<(), Ix0>(&[])).gives(|views| views.is_empty());
    t.call("broadcast_views", || broadcast_views(&[column(), row()])).refused(ErrorKind::Overflow);
    let mixed = [many.view(), one.view().into_dyn(), many.slice_axis(Axis(0), (0..0).into())];
    t.call("broadcast_views", || broadcast_views(&mixed)).refused(ErrorKind::Incompatible);
    let views = vec![row(); MANY];
    t.call("broadcast_views", || broadcast_views(&views))
        .gives(|views| views.len() == MANY && views[9].dim() == (1, LIMIT));
}
