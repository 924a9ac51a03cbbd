//! Closures, for every batch element.

use super::{Expected, Operand, check, goes_into, joint_batch, operands, output, result};
use crate::cases::Input;
use crate::cases::check::{Verdict, agreed};
use common::{Choices, indices, joint, overflows};
use ndarray::{ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMutD, Dimension, Ix0, Ix1, Ix2};
use ndarray_broadcast::Signature;
use ndarray_broadcast::prelude::*;

/// The sum of a base, which the closures below take.
fn total<D: Dimension>(view: &ArrayView<'_, f64, D>) -> f64 {
    view.iter().sum()
}

fn total_at(operand: &Operand, batch: &[usize]) -> i64 {
    indices(&operand.parts.base).iter().map(|base| operand.at(batch, base)).sum()
}

/// A base of a result: sizes, some of them none.
fn result_base(input: &mut Input<'_>) -> (Vec<i64>, Verdict<Vec<usize>>) {
    let base = super::base(input);
    let mut given: Vec<i64> = base.iter().map(|&size| size as i64).collect();
    if !given.is_empty() && input.one_in(10) {
        given[0] = input.pick(&[-1, -5, i64::MAX, 1 << 60]);
    }
    let sizes: Result<Vec<usize>, _> = given.iter().map(|&size| usize::try_from(size)).collect();
    (given, sizes.map_err(|_| "InvalidSize"))
}

/// The verdict on a result: the sizes of its base, then the batches, then the room.
fn with_base(
    batch: &Verdict<Vec<usize>>,
    base: &Verdict<Vec<usize>>,
    number: impl Fn(&[usize], &[usize]) -> i64,
) -> Expected {
    let base = base.as_ref().map_err(|name| *name)?;
    let batch = batch.as_ref().map_err(|name| *name)?;
    let whole = [&batch[..], base].concat();
    let bytes = whole.iter().try_fold(size_of::<f64>(), |bytes, &size| bytes.checked_mul(size));
    let fits = whole.contains(&0) || bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if overflows(&whole) || !fits {
        return Err("TooLarge");
    }
    if whole.contains(&0) { Ok((whole, vec![])) } else { Ok(result(batch, base, |i, j| number(i, j) as f64)) }
}

pub(super) fn closures(input: &mut Input<'_>) {
    let bases = vec![super::base(input), super::base(input)];
    let all = operands(input, bases);
    let [a, b] = &all[..] else { unreachable!() };
    let (given, base) = result_base(input);
    let number =
        |i: &[usize], j: &[usize]| total_at(a, i) - 2 * total_at(b, i) + j.iter().sum::<usize>() as i64;
    let expected: Expected = with_base(&joint_batch(&[a, b]), &base, number);
    let f = |x: ArrayViewD<'_, f64>, y: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>| {
        assert_eq!((x.shape(), y.shape()), (&a.parts.base[..], &b.parts.base[..]));
        for (index, out) in out.indexed_iter_mut() {
            *out = total(&x) - 2.0 * total(&y) + index.slice().iter().sum::<usize>() as f64;
        }
    };
    check(a.batch().zip_map(&b.batch(), &given[..], f), &expected);
    check(a.batch().par().zip_map(&b.batch(), &given[..], f), &expected);
    let expected = with_base(&Ok(a.parts.batch.clone()), &base, |i, _| total_at(a, i));
    let one = |x: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>| out.fill(total(&x));
    check(a.batch().zip_map((), &given[..], one), &expected);
    // numbers of axes that are in the types
    if let (Ok(x), Ok(y)) =
        (a.array.view().into_dimensionality::<Ix2>(), b.array.view().into_dimensionality::<Ix1>())
    {
        let batch = joint(&[&a.array.shape()[..1], &[]]);
        let signature = Signature::new("(n),(n)->()").expect("a signature");
        let expected: Expected = if a.array.shape()[1] == b.array.shape()[0] {
            with_base(&batch, &Ok(vec![]), |i, _| {
                (0..b.array.shape()[0]).map(|k| a.numbers.at(&[i[0], k]) * b.numbers.at(&[k])).sum()
            })
        } else {
            Err("BaseSymbol")
        };
        let f =
            |x: ArrayView<'_, f64, Ix1>, y: ArrayView<'_, f64, Ix1>, mut out: ArrayViewMut<'_, f64, Ix0>| {
                out[()] = x.dot(&y);
            };
        let (x, y) = (x.batch::<Ix1>().expect("an axis"), y.batch::<Ix1>().expect("an axis"));
        check(x.zip_map(&y, signature, f), &expected);
        check(x.par().zip_map(&y, signature, f), &expected);
    }
}

pub(super) fn three(input: &mut Input<'_>) {
    let bases = vec![super::base(input), super::base(input), super::base(input)];
    let all = operands(input, bases);
    let [a, b, c] = &all[..] else { unreachable!() };
    let (given, base) = result_base(input);
    let number = |i: &[usize], _: &[usize]| total_at(a, i) + 3 * total_at(b, i) - total_at(c, i);
    let expected: Expected = with_base(&joint_batch(&[a, b, c]), &base, number);
    let f = |x: ArrayViewD<'_, f64>,
             y: ArrayViewD<'_, f64>,
             z: ArrayViewD<'_, f64>,
             mut out: ArrayViewMutD<'_, f64>| {
        out.fill(total(&x) + 3.0 * total(&y) - total(&z));
    };
    check(a.batch().zip_map((&b.batch(), &c.batch()), &given[..], f), &expected);
}

pub(super) fn into_array(input: &mut Input<'_>) {
    let bases = vec![super::base(input), super::base(input)];
    let all = operands(input, bases);
    let [a, b] = &all[..] else { unreachable!() };
    let several = input.one_in(2);
    let out = output(input, &joint_batch(&[a, b]), &[2]);
    let parts = [&a.parts, &b.parts];
    let expected = match out.ndim().checked_sub(1) {
        None => Err("TooFewAxes"),
        Some(batch) => goes_into(&parts, &out.shape()[..batch]),
    };
    let mut after = out.clone();
    let f = |x: ArrayViewD<'_, f64>, y: ArrayViewD<'_, f64>, mut out: ArrayViewMut<'_, f64, Ix1>| {
        for k in 0..out.len() {
            out[k] = total(&x) - total(&y) + k as f64;
        }
    };
    let result = if several {
        a.batch().par().zip_map_into(&b.batch(), &mut after.view_mut(), f)
    } else {
        a.batch().zip_map_into(&b.batch(), &mut after.view_mut(), f)
    };
    match agreed(result, &expected) {
        Some(((), ())) => {
            let values = indices(out.shape()).into_iter().map(|index| {
                let (k, i) = index.split_last().expect("a base axis");
                (total_at(a, i) - total_at(b, i) + *k as i64) as f64
            });
            out.assert_became(&after, values.collect::<Vec<_>>());
        }
        None => out.assert_became(&after, out.elements().copied()),
    }
}
