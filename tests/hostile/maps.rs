//! Closures over broadcast operands, and copies.

use crate::table::Table;
use crate::{LIMIT, MANY, Nothing, all, hollow, huge, long, many, spread};
use ndarray::{Array2, ArrayD, Axis, IxDyn, arr0, array};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused};

pub(crate) fn rows(t: &mut Table) {
    to_new(t);
    summed(t);
    onto(t);
    copies(t);
}

const CLASH: &str = "cannot broadcast shapes [9223372036854775807, 1] and [9223372036854775807] together: \
    the non-zero sizes of the result [9223372036854775807, 9223372036854775807] multiply past isize::MAX";
const PAST_MEMORY: &str = "cannot broadcast shape [2147483648, 2147483648]: the result [2147483648, \
    2147483648] with elements of 8 bytes is larger than isize::MAX bytes";

fn to_new(t: &mut Table) {
    let (many, cell) = (ArrayD::from_elem(IxDyn(&all(1)), 3), array![7]);
    let column = long().insert_axis(Axis(1));
    let name = "broadcast_map";
    t.call(name, || broadcast_map(huge(), |&x| x)).refused(PAST_MEMORY);
    t.call(name, || broadcast_map((column, long()), |_, _| 0_u8)).refused(CLASH);
    t.call(name, || broadcast_map(arr0(Nothing).view(), |&x| x)).is(Ok(arr0(Nothing)));
    t.call(name, || broadcast_map((hollow(), &cell), |a, b| a + b)).gives(|out| out.dim() == (0, LIMIT));
    t.call(name, || broadcast_map((&many, &cell), |a, b| a + b)).is(Ok(&many + 7));
    t.call(name, || broadcast_map((many.t(), &many), |a, b| a * b)).gives(|out| out.ndim() == MANY);
    t.call(name, || broadcast_map((&cell, &cell, &cell, &cell, &many, &many), |a, _, _, _, b, _| a + b))
        .is(Ok(&many + 7));
    {
        use ndarray_broadcast::par_broadcast_map;
        let name = "par_broadcast_map";
        t.call(name, || par_broadcast_map(huge(), |&x| x)).refused(PAST_MEMORY);
        t.call(name, || par_broadcast_map((column, long()), |_, _| 0_u8)).refused(CLASH);
        t.call(name, || par_broadcast_map((hollow(), &cell), |a, b| a + b))
            .gives(|out| out.dim() == (0, LIMIT));
        t.call(name, || par_broadcast_map((&many, &cell), |a, b| a + b)).is(Ok(&many + 7));
        t.call(name, || par_broadcast_map(arr0(Nothing).view(), |&x| x)).is(Ok(arr0(Nothing)));
    }
}

fn summed(t: &mut Table) {
    let (many, cell) = (many(), array![7]);
    let name = "fused";
    t.call(name, || fused((&many, &cell), |a, b| a * b).sum_to(())).is(Ok(arr0(136 * 7)));
    t.call(name, || fused((&many, many.t()), |a, _| *a).sum_to(all(1)))
        .gives(|sum| sum.ndim() == MANY && sum.len() == 1);
    t.call(name, || fused(hollow(), |&x| x).sum_to((1, 1))).is(Ok(array![[0]]));
    t.call(name, || fused(hollow(), |&x| x).sum_to(LIMIT)).refused(
        "cannot sum shape [0, 9223372036854775807] to [9223372036854775807]: the result \
         [9223372036854775807] with elements of 8 bytes is larger than isize::MAX bytes",
    );
    t.call(name, || fused((long().insert_axis(Axis(1)), long()), |_, _| 0).sum_to(1)).refused(CLASH);
    t.call(name, || fused(&cell, |&x| x).sum_to(all(1))).refused(&format!(
        "cannot sum shape [1] to {:?}: the target has 10000 axes, expected at most 1",
        all(1)
    ));
    t.call(name, || fused(&cell, |&x| x).sum_to(-1)).refused(
        "cannot sum shape [1] to [-1]: axis 0 of the target is -1, expected a size from 0 to \
         isize::MAX (-1 keeps a size in `broadcast_to` only)",
    );
    t.call(name, || fused(arr0(Nothing).view(), |&x| x).sum_to(())).is(Ok(arr0(Nothing)));

    let name = "fused";
    t.call(name, || fused((&many, &cell), |a, b| a * b).sum_to(&arr0(()))).is(Ok(arr0(136 * 7)));
    t.call(name, || fused(&many, |&a| a).sum_to(&many)).is(Ok(many.clone()));
    t.call(name, || fused(hollow(), |&x| x).sum_to(&array![[0_u8]])).is(Ok(array![[0]]));
    t.call(name, || fused(hollow(), |&x| x).sum_to(&long())).refused(
        "cannot sum shape [0, 9223372036854775807] to [9223372036854775807]: the result \
         [9223372036854775807] with elements of 8 bytes is larger than isize::MAX bytes",
    );
    t.call(name, || fused((long().insert_axis(Axis(1)), long()), |_, _| 0).sum_to(&cell)).refused(CLASH);
    t.call(name, || fused(&cell, |&x| x).sum_to(&many)).refused(&format!(
        "cannot sum shape [1] to {:?}: the target has 10000 axes, expected at most 1",
        spread()
    ));
    t.call(name, || fused(arr0(Nothing).view(), |&x| x).sum_to(&arr0(()))).is(Ok(arr0(Nothing)));
}

fn onto(t: &mut Table) {
    const SHORT: &str = "cannot broadcast shape [2147483648, 2147483648] to output [1]: the output has 1 \
        axis, expected at least 2";
    const WRONG: &str = "cannot broadcast shapes [1] and [9223372036854775807] to output [1]: axis 0 has \
        sizes 9223372036854775807 and 1 (shape 1 and the output), expected equal sizes or 1 in the operand";
    let (many, cell) = (many(), array![7]);
    let (mut out, mut wide) = (array![3], ArrayD::<i64>::zeros(IxDyn(&spread())));
    let mut empty = Array2::<i64>::zeros((0, LIMIT));
    let name = "broadcast_apply";
    t.call(name, || broadcast_apply(&mut out, huge(), |out, x| *out += x)).refused(SHORT);
    t.call(name, || broadcast_apply(&mut out, (&cell, long()), |out, x, _| *out += x)).refused(WRONG);
    assert_eq!(out, array![3]);
    t.call(name, || broadcast_apply(&mut out, arr0(1).view(), |out, x| *out += x)).gives(|()| out[0] == 4);
    t.call(name, || broadcast_apply(&mut wide, (&cell, &many), |out, a, b| *out = a + b))
        .gives(|()| wide == &many + 7);
    t.call(name, || broadcast_apply(&mut empty, (hollow(), long()), |out, a, _| *out = *a)).is(Ok(()));
    {
        use ndarray_broadcast::par_broadcast_apply;
        let name = "par_broadcast_apply";
        t.call(name, || par_broadcast_apply(&mut out, huge(), |out, x| *out += x)).refused(SHORT);
        t.call(name, || par_broadcast_apply(&mut out, (&cell, long()), |out, x, _| *out += x)).refused(WRONG);
        wide.fill(0);
        t.call(name, || par_broadcast_apply(&mut wide, (&cell, &many), |out, a, b| *out = a + b))
            .gives(|()| wide == &many + 7);
        t.call(name, || par_broadcast_apply(&mut empty, (hollow(), long()), |out, a, _| *out = *a))
            .is(Ok(()));
    }
}

fn copies(t: &mut Table) {
    const SHORT: &str = "cannot broadcast shape [0, 9223372036854775807] to output [1]: the output has 1 \
        axis, expected at least 2";
    const WRONG: &str = "cannot broadcast shape [9223372036854775807] to output [1]: axis 0 has sizes \
        9223372036854775807 and 1, expected equal sizes or 1 in the operand";
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
    t.call(name, || huge().try_materialize()).refused(
        "cannot materialize shape [2147483648, 2147483648]: the result [2147483648, 2147483648] with elements of 8 \
         bytes is larger than isize::MAX bytes",
    );

    let name = "Materialize::materialize_into";
    let (mut out, mut one) = (ArrayD::zeros(IxDyn(&spread())), array![3]);
    let mut empty = Array2::zeros((0, LIMIT));
    t.call(name, || many.materialize_into(&mut out)).gives(|()| out == many);
    t.call(name, || hollow().materialize_into(&mut one)).refused(SHORT);
    t.call(name, || long().materialize_into(&mut array![Nothing])).refused(WRONG);
    t.call(name, || hollow().materialize_into(&mut empty)).is(Ok(()));
    assert_eq!(one, array![3]);
}
