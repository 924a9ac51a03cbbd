//! Batches and bases.

use crate::table::Table;
use crate::{LIMIT, MANY, MAX, Nothing, all, hollow, huge, long, many, spread};
use ndarray::{
    Array, Array1, Array2, ArrayD, ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMut1, Ix0, Ix1, Ix2, IxDyn,
    arr0, array, aview0, s,
};
use ndarray_broadcast::{BroadcastError, ErrorKind, Signature, base_op, batch_broadcast};
use ndarray_broadcast::{keepdims, prelude::*};

pub(crate) fn rows(t: &mut Table) {
    splitting(t);
    expanding(t);
    joining(t);
    closures(t);
    closures_into(t);
    operations(t);
    products(t);
    outer_products(t);
    sums(t);
}

/// A batch of 2^62 empty bases.
fn many_empty() -> ArrayView<'static, i64, ndarray::Ix3> {
    aview0(&1).into_broadcast_to([1_usize << 31, 1 << 31, 0]).unwrap()
}

fn splitting(t: &mut Table) {
    let (many, scalar) = (many(), arr0(7).into_dyn());
    let name = "BatchAxes::batch";
    t.call(name, || scalar.batch::<Ix2>()).refused(ErrorKind::TooFewAxes);
    t.call(name, || many.batch::<Ix0>()).gives(|batch| batch.batch_shape() == spread());
    let name = "BatchAxes::batch_dyn";
    t.call(name, || many.batch_dyn(MANY)).gives(|batch| batch.base_shape() == spread());
    t.call(name, || many.batch_dyn(MAX)).refused(ErrorKind::TooFewAxes);
    t.call("IntoBatch::into_batch", || long().into_batch::<Ix1>())
        .gives(|batch| batch.base_shape() == [LIMIT]);
    t.call("IntoBatch::into_batch", || scalar.view().into_batch::<Ix1>()).refused(ErrorKind::TooFewAxes);
    t.call("IntoBatch::into_batch_dyn", || huge().into_batch_dyn(0))
        .gives(|batch| batch.base_shape().is_empty());
    t.call("IntoBatch::into_batch_dyn", || long().into_batch_dyn(LIMIT)).refused(ErrorKind::TooFewAxes);
    let (dynamic, fixed) = (many.batch_dyn(MANY - 1).unwrap(), hollow());
    let fixed = fixed.batch::<Ix1>().unwrap();
    t.call("Batch::batch_shape", || dynamic.batch_shape()).is([2]);
    t.call("Batch::batch_shape", || fixed.batch_shape()).is([0]);
    t.call("Batch::base_shape", || dynamic.base_shape()).is(&spread()[1..]);
    t.call("Batch::base_shape", || fixed.base_shape()).is([LIMIT]);
    t.call("Batch::into_view", || fixed.into_view().dim()).is((0, LIMIT));
    t.call("Batch::clone", || dynamic.clone().into_view()).is(many.view());
    t.call("Batch::fmt", || format!("{:?}", hollow().into_batch::<Ix1>()))
        .is("Ok(Batch { batch_shape: [0], base_shape: [9223372036854775807], view: [[]], shape=[0, \
         9223372036854775807], strides=[-9223372036854775808, 0], layout=CFcf (0xf), const ndim=2 })");
}

fn expanding(t: &mut Table) {
    let (many, name) = (many(), "Batch::expand_batch");
    let (bases, row) = (many.batch_dyn(MANY).unwrap(), hollow());
    let row = row.batch::<Ix1>().unwrap();
    t.call(name, || bases.expand_batch([3])).gives(|batch| batch.into_view().len() == 48);
    t.call(name, || bases.expand_batch(&*all(1))).gives(|batch| batch.into_view().ndim() == 2 * MANY);
    t.call(name, || bases.expand_batch(LIMIT)).refused(ErrorKind::Overflow);
    t.call(name, || row.expand_batch((LIMIT, -1))).refused(ErrorKind::Overflow);
    t.call(name, || row.expand_batch([MAX])).refused(ErrorKind::InvalidSize);
    t.call(name, || row.expand_batch(&*all(-1))).refused(ErrorKind::PlaceholderOnNewAxis);
}

fn joining(t: &mut Table) {
    let (many, long, huge, hollow) = (many(), long(), huge(), hollow());
    let (batches, row, wide, none) = (
        many.batch_dyn(0).unwrap(),
        long.batch::<Ix1>().unwrap(),
        huge.batch::<Ix1>().unwrap(),
        hollow.batch::<Ix1>().unwrap(),
    );
    let name = "batch_broadcast";
    t.call(name, || batch_broadcast(&row, &wide).map(|_| ())).refused(ErrorKind::Overflow);
    t.call(name, || batch_broadcast(&row, &none)).gives(|(x, y)| x.into_view().dim() == y.into_view().dim());
    t.call(name, || batch_broadcast(&batches, &row).map(|_| ())).refused(ErrorKind::Overflow);
    t.call(name, || batch_broadcast(&batches, &batches))
        .gives(|(x, y)| x.batch_shape() == spread() && y.into_view() == many);
}

type Dyn<'a> = ArrayViewD<'a, i64>;
type DynMut<'a> = ArrayViewMut<'a, i64, IxDyn>;
type Row<'a> = ArrayViewMut1<'a, i64>;

fn closures(t: &mut Table) {
    let (many, hollow, huge) = (many(), hollow(), huge());
    let (bases, empty) = (many.batch_dyn(MANY).unwrap(), hollow.batch::<Ix1>().unwrap());
    let (deep, wide) = (many.batch_dyn(0).unwrap(), huge.batch::<Ix1>().unwrap());

    let name = "Batch::zip_map";
    let copy = |from: Dyn<'_>, mut to: DynMut<'_>| to.assign(&from);
    t.call(name, || bases.zip_map((), spread(), copy)).is(Ok(many.clone()));
    t.call(name, || deep.zip_map((), &[][..] as &[usize], copy)).is(Ok(many.clone()));
    t.call(name, || empty.zip_map((), LIMIT, |_, _: Row<'_>| ())).gives(|out| out.dim() == (0, LIMIT));
    t.call(name, || wide.zip_map((), 1_usize << 30, |_, _: Row<'_>| ())).refused(ErrorKind::TooLarge);
    t.call(name, || empty.zip_map((), [MAX], |_, _: Row<'_>| ())).refused(ErrorKind::InvalidSize);
    t.call(name, || empty.zip_map((), all(2), |_, _: DynMut<'_>| ())).refused(ErrorKind::TooLarge);

    let sum = |a: Dyn<'_>, b: Dyn<'_>, mut to: DynMut<'_>| to.assign(&(&a + &b));
    t.call(name, || bases.zip_map(&bases, spread(), sum)).is(Ok(&many + &many));
    t.call(name, || deep.zip_map(&deep, &[][..] as &[usize], sum)).is(Ok(&many + &many));
    t.call(name, || wide.zip_map(&empty, LIMIT, |_, _, _: Row<'_>| ())).refused(ErrorKind::Incompatible);
    let signature = Signature::literal("(n),(n)->(n)");
    t.call(name, || empty.zip_map(&empty, signature, |_, _, _: Row<'_>| ())).gives(|out| out.is_empty());
    t.call(name, || wide.zip_map(&empty, signature, |_, _, _: Row<'_>| ())).refused(ErrorKind::BaseSymbol);
    let text = format!("(n),(n)->{}", vec!["(n)"; MANY].join(","));
    let signature = Signature::literal(&text);
    t.call(name, || empty.zip_map(&empty, signature, |_, _, _: Row<'_>| ())).refused(ErrorKind::ResultCount);

    let last = |_: Dyn<'_>, _: Dyn<'_>, from: Dyn<'_>, mut to: DynMut<'_>| to.assign(&from);
    t.call(name, || bases.zip_map((&bases, &bases), spread(), last)).is(Ok(many.clone()));
    t.call(name, || empty.zip_map((&empty, &empty), LIMIT, |_, _, _, _: Row<'_>| ()))
        .gives(|out| out.dim() == (0, LIMIT));
    t.call(name, || empty.zip_map((&empty, &empty), -1, |_, _, _, _: Row<'_>| ()))
        .refused(ErrorKind::InvalidSize);

    let name = "Batch::par";
    t.call(name, || bases.par().zip_map(&bases, spread(), sum)).is(Ok(&many + &many));
    t.call(name, || empty.par().zip_map(&empty, LIMIT, |_, _, _: Row<'_>| ())).gives(|out| out.is_empty());
    t.call(name, || empty.par().zip_map(&empty, [MAX], |_, _, _: Row<'_>| ()))
        .refused(ErrorKind::InvalidSize);
}

fn closures_into(t: &mut Table) {
    let (many, hollow) = (many(), hollow());
    let (bases, empty) = (many.batch_dyn(MANY).unwrap(), hollow.batch::<Ix1>().unwrap());
    let sum = |a: Dyn<'_>, b: Dyn<'_>, mut to: DynMut<'_>| to.assign(&(&a + &b));
    let (mut out, mut small) = (ArrayD::zeros(IxDyn(&spread())), Array2::from_elem((2, 3), 7));
    let mut none = Array2::zeros((0, LIMIT));
    let name = "Batch::zip_map_into";
    t.call(name, || bases.zip_map_into(&bases, &mut out, sum)).gives(|()| out == &many + &many);
    t.call(name, || empty.zip_map_into(&empty, &mut none, |_, _, _: Row<'_>| ())).is(Ok(()));
    t.call(name, || empty.zip_map_into(&empty, &mut small, |_, _, _: Row<'_>| ()))
        .refused(ErrorKind::Incompatible);
    t.call(name, || empty.zip_map_into(&empty, &mut arr0(1), |_, _, _: Row<'_>| ()))
        .refused(ErrorKind::TooFewAxes);
    let name = "Batch::par";
    out.fill(0);
    t.call(name, || bases.par().zip_map_into(&bases, &mut out, sum)).gives(|()| out == &many + &many);
    t.call(name, || empty.par().zip_map_into(&empty, &mut none, |_, _, _: Row<'_>| ())).is(Ok(()));
    t.call(name, || empty.par().zip_map_into(&empty, &mut small, |_, _, _: Row<'_>| ()))
        .refused(ErrorKind::Incompatible);
    assert_eq!(small, Array2::from_elem((2, 3), 7));
}

/// Rows for one element-wise operation, by its method.
macro_rules! elementwise {
    ($t:ident, $name:literal, $method:ident, $Op:ident, $op:tt) => {{
        let (many, huge, hollow, unit) = (many(), huge(), hollow(), array![Nothing]);
        let (deep, wide) = (many.batch_dyn(0).unwrap(), huge.batch::<Ix1>().unwrap());
        let (bases, empty) = (many.batch_dyn(MANY).unwrap(), hollow.batch::<Ix1>().unwrap());
        let (unit, empties) = (unit.batch::<Ix0>().unwrap(), many_empty());
        let empties = empties.batch::<Ix1>().unwrap();
        $t.call($name, || deep.$method(&deep)).is(Ok(&many $op &many));
        $t.call($name, || bases.$method(&bases)).is(Ok(&many $op &many));
        $t.call($name, || unit.$method(&unit)).is(Ok(array![Nothing]));
        $t.call($name, || empty.$method(&empty)).gives(|out| out.dim() == (0, LIMIT));
        $t.call($name, || empties.$method(&empties)).gives(|out| out.is_empty());
        $t.call($name, || wide.$method(&wide)).refused(ErrorKind::TooLarge);
        $t.call($name, || wide.$method(&empty)).refused(ErrorKind::Incompatible);
        let mut out = ArrayD::zeros(IxDyn(&spread()));
        $t.call("Batch::apply_into", || bases.apply_into(base_op::$Op, &bases, &mut out))
            .gives(|()| out == &many $op &many);
        $t.call("Batch::par", || deep.par().apply(base_op::$Op, &deep)).is(Ok(&many $op &many));
        $t.call("Batch::par", || empties.par().apply(base_op::$Op, &empties))
            .gives(|out| out.is_empty());
        out.fill(0);
        $t.call("Batch::par", || bases.par().apply_into(base_op::$Op, &bases, &mut out))
            .gives(|()| out == &many $op &many);
    }};
}

fn operations(t: &mut Table) {
    elementwise!(t, "Batch::add", add, Add, +);
    elementwise!(t, "Batch::sub", sub, Sub, -);
    elementwise!(t, "Batch::mul", mul, Mul, *);
    elementwise!(t, "Batch::div", div, Div, /);
    let hollow = hollow();
    let (empty, mut small) = (hollow.batch::<Ix1>().unwrap(), Array2::from_elem((2, 3), 7));
    t.call("Batch::apply", || empty.apply(base_op::Add, &empty)).gives(|out| out.is_empty());
    t.call("Batch::apply_into", || empty.apply_into(base_op::Add, &empty, &mut small))
        .refused(ErrorKind::Incompatible);
    t.call("Batch::apply_into", || empty.apply_into(base_op::Add, &empty, &mut arr0(1)))
        .refused(ErrorKind::TooFewAxes);
    t.call("Batch::par", || empty.par().apply_into(base_op::Add, &empty, &mut small))
        .refused(ErrorKind::Incompatible);
    assert_eq!(small, Array2::from_elem((2, 3), 7));
}

/// Rows for one product: `$a` and `$b` are bases that fit to 2, with 10,000 batch axes.
macro_rules! product {
    ($t:ident, $name:literal, $method:ident, $Op:ident, $A:ident $a:expr, $B:ident $b:expr, $out:expr, $Kind:ident) => {{
        let batch = |base: &[usize], size: i64| {
            let shape = [&spread()[..], base].concat();
            ArrayD::from_elem(IxDyn(&shape), size)
        };
        let (a, b) = (batch(&$a, 3), batch(&$b, 5));
        let (x, y) = (a.batch::<$A>().unwrap(), b.batch::<$B>().unwrap());
        let expected = batch(&$out, 30);
        $t.call($name, || x.$method(&y)).is(Ok(expected.clone()));
        let (p, q) = (ArrayD::<Nothing>::default(IxDyn(&$a)), ArrayD::<Nothing>::default(IxDyn(&$b)));
        let (p, q) = (p.batch::<$A>().unwrap(), q.batch::<$B>().unwrap());
        $t.call($name, || p.$method(&q)).is(Ok(ArrayD::default(IxDyn(&$out))));
        let (long, odd) = (long(), Array2::<Nothing>::default((1 << 31, 0)));
        let (long, odd) = (long.batch_dyn(1).unwrap(), odd.batch_dyn(2).unwrap());
        $t.call("Batch::apply", || long.apply(base_op::$Op, &odd).map(|_| ())).refused(ErrorKind::$Kind);
        let mut out = ArrayD::zeros(expected.raw_dim());
        $t.call("Batch::apply_into", || x.apply_into(base_op::$Op, &y, &mut out)).gives(|()| out == expected);
        $t.call("Batch::par", || x.par().apply(base_op::$Op, &y)).is(Ok(expected.clone()));
        out.fill(0);
        $t.call("Batch::par", || x.par().apply_into(base_op::$Op, &y, &mut out)).gives(|()| out == expected);
    }};
}

fn outer_products(t: &mut Table) {
    let (x, y) = (long(), ArrayD::from_elem(IxDyn(&[&spread()[..], &[3]].concat()), 2));
    let (x, y) = (x.batch::<Ix1>().unwrap(), y.batch::<Ix1>().unwrap());
    let mut out = ArrayD::from_elem(IxDyn(&[&spread()[..], &[3, 3]].concat()), 7);
    t.call("Batch::outer", || y.outer(&y)).is(Ok(ArrayD::from_elem(out.raw_dim(), 4)));
    t.call("Batch::apply_into", || y.apply_into(base_op::Outer, &y, &mut out))
        .gives(|()| out.iter().all(|&x| x == 4));
    t.call("Batch::apply_into", || y.apply_into(base_op::Outer, &y, &mut array![[[1]]]))
        .refused(ErrorKind::TooFewAxes);
    t.call("Batch::outer", || x.outer(&x)).refused(ErrorKind::TooLarge);
    let huge = huge();
    t.call("Batch::transpose", || huge.batch::<Ix2>().unwrap().transpose().into_view().dim())
        .is((1 << 31, 1 << 31));
    t.call("Batch::transpose", || out.batch::<Ix2>().unwrap().transpose().base_shape().to_vec())
        .is(vec![3, 3]);
}

fn products(t: &mut Table) {
    product!(t, "Batch::matvec", matvec, MatVec, Ix2 [3, 2], Ix1 [2], [3], BaseAxes);
    product!(t, "Batch::vecmat", vecmat, VecMat, Ix1 [2], Ix2 [2, 3], [3], BaseSymbol);
    product!(t, "Batch::matmul", matmul, MatMul, Ix2 [3, 2], Ix2 [2, 4], [3, 4], BaseAxes);
    product!(t, "Batch::inner", inner, Inner, Ix1[2], Ix1[2], [], BaseAxes);

    let (tall, flat) = (Array2::<i64>::zeros((1 << 31, 0)), Array2::<i64>::zeros((0, 1 << 31)));
    let (tall, flat) = (tall.batch::<Ix2>().unwrap(), flat.batch::<Ix2>().unwrap());
    let (hollow, none) = (hollow(), Array1::<i64>::zeros(0));
    let (empty, none) = (hollow.batch::<Ix1>().unwrap(), none.batch::<Ix1>().unwrap());
    t.call("Batch::matmul", || flat.matmul(&tall)).is(Ok(Array2::zeros((0, 0))));
    t.call("Batch::matmul", || tall.matmul(&flat)).refused(ErrorKind::TooLarge);
    t.call("Batch::matvec", || flat.matvec(&none)).refused(ErrorKind::BaseSymbol);
    t.call("Batch::vecmat", || empty.vecmat(&flat)).refused(ErrorKind::BaseSymbol);
    t.call("Batch::inner", || empty.inner(&empty)).is(Ok(Array1::zeros(0)));
    t.call("Batch::inner", || none.inner(&none)).is(Ok(arr0(0)));
}

fn is_too_large<T>(result: Result<T, BroadcastError>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::TooLarge)
}

/// Products of views that repeat elements: without memory for the repeated shape.
#[allow(clippy::cast_precision_loss, clippy::float_cmp, reason = "sums of ones by doubling are exact")]
pub(crate) fn repeated_products(t: &mut Table) {
    let one = aview0(&1.0);
    for terms in [1_usize << 45, (1 << 45) + 1, 1 << 60] {
        let sum = terms as f64;
        let [row, rows, columns] =
            [&[terms][..], &[2, terms], &[terms, 3]].map(|shape| one.into_broadcast_to(shape).unwrap());
        let row = row.batch_dyn(1).unwrap();
        let (rows, columns) = (rows.batch_dyn(2).unwrap(), columns.batch_dyn(2).unwrap());
        t.call("Batch::matvec", || rows.matvec(&row)).gives(|out| out.iter().all(|&x| x == sum));
        t.call("Batch::vecmat", || row.vecmat(&columns)).gives(|out| out.iter().all(|&x| x == sum));
        t.call("Batch::matmul", || rows.matmul(&columns)).gives(|out| out.iter().all(|&x| x == sum));
        t.call("Batch::inner", || row.inner(&row)).gives(|out| out.iter().all(|&x| x == sum));
        t.call("Batch::par", || row.par().inner(&row)).gives(|out| out.iter().all(|&x| x == sum));
        let mut out = Array2::zeros((3, 4));
        let mut every_second = out.slice_mut(s![.., ..;2]);
        t.call("Batch::apply_into", || rows.apply_into(base_op::MatVec, &row, &mut every_second)).is(Ok(()));
        assert!(every_second.iter().all(|&x| x == sum));
        let mut out = Array2::zeros((6, 4));
        let mut turned = out.slice_mut(s![..;-2, ..;2]).reversed_axes();
        t.call("Batch::par", || rows.par().apply_into(base_op::MatMul, &columns, &mut turned)).is(Ok(()));
        assert!(turned.iter().all(|&x| x == sum));
        t.call("Batch::outer", || row.outer(&row)).holds(is_too_large);
        let flat = one.into_broadcast_to([3, terms]).unwrap();
        let flat = flat.batch_dyn(2).unwrap();
        t.call("Batch::matmul", || columns.matmul(&flat)).holds(is_too_large);
    }
    // integers, whose sums are exact, and terms, rows or columns that one operand alone repeats
    let n = 1 << 11;
    let numbers = Array1::<i64>::from_iter((0..).map(|i| i % 7).take(n));
    let (total, squares) = (numbers.sum(), numbers.dot(&numbers));
    let (of_columns, of_rows) =
        (numbers.broadcast((n, n)).unwrap(), numbers.broadcast((n, n)).unwrap().reversed_axes());
    let row = numbers.batch::<Ix1>().unwrap();
    let [of_columns, of_rows] = [of_columns, of_rows].map(|view| view.into_batch::<Ix2>().unwrap());
    t.call("Batch::matvec", || of_columns.matvec(&row)).is(Ok(Array1::from_elem(n, squares)));
    t.call("Batch::matvec", || of_rows.matvec(&row)).is(Ok(&numbers * total));
    t.call("Batch::vecmat", || row.vecmat(&of_columns)).is(Ok(&numbers * total));
    t.call("Batch::vecmat", || row.vecmat(&of_rows)).is(Ok(Array1::from_elem(n, squares)));
    t.call("Batch::par", || row.par().vecmat(&of_columns)).is(Ok(&numbers * total));
}

fn sums(t: &mut Table) {
    let (many, hollow, long, huge) = (many(), hollow(), long(), huge());
    let (bases, deep) = (many.batch_dyn(MANY - 1).unwrap(), many.batch_dyn(0).unwrap());
    let (empty, wide) = (hollow.batch::<Ix1>().unwrap(), huge.batch::<Ix0>().unwrap());
    let row = long.batch::<Ix1>().unwrap();
    let sum = many.sum_axes(keepdims(0)).unwrap();
    let name = "Batch::sum_batch_to";
    t.call(name, || bases.sum_batch_to(1)).is(Ok(sum.clone()));
    t.call(name, || deep.sum_batch_to(())).is(Ok(arr0(136).into_dyn()));
    t.call(name, || row.sum_batch_to(2)).refused(ErrorKind::TooManyAxes);
    t.call(name, || empty.sum_batch_to(())).refused(ErrorKind::TooLarge);
    t.call(name, || empty.sum_batch_to(all(1))).refused(ErrorKind::TooManyAxes);
    t.call(name, || empty.sum_batch_to([MAX])).refused(ErrorKind::InvalidSize);
    t.call(name, || deep.sum_batch_to(&deep)).is(Ok(many.clone()));
    t.call(name, || empty.sum_batch_to(&empty)).gives(|sum| sum.dim() == (0, LIMIT));
    t.call(name, || wide.sum_batch_to(&wide)).refused(ErrorKind::TooLarge);
    t.call(name, || empty.sum_batch_to(&wide)).refused(ErrorKind::TooManyAxes);
    let name = "Batch::add_sum_batch_to";
    let mut out = sum.clone();
    t.call(name, || bases.add_sum_batch_to(&mut out)).gives(|()| out == &sum * 2);
    let mut none = Array::zeros((0, LIMIT));
    t.call(name, || empty.add_sum_batch_to(&mut none)).is(Ok(()));
    let mut small = array![3];
    t.call(name, || empty.add_sum_batch_to(&mut small)).refused(ErrorKind::BaseSize);
    t.call(name, || bases.add_sum_batch_to(&mut small.clone().into_dyn())).refused(ErrorKind::TooFewAxes);
    assert_eq!(small, array![3]);
}
