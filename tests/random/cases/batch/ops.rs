//! The operations on bases, in all their forms.

use super::{Expected, Operand, Parts, check, goes_into, operands, output, result};
use crate::cases::Input;
use crate::cases::check::{Verdict, agreed};
use common::{Choices, Strided, aligned_right, joint, read_at};
use ndarray::{Array, Dimension, Ix1, Ix2, Ix3};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    Batch, base_op,
    bounds::{BaseOp, JoinBatch, LessAxes},
};

/// An operation in all its forms: the new array, the method, into an array, on several threads.
fn in_all_forms<P, D, B, D2, B2>(
    input: &mut Input<'_>,
    op: P,
    (a, b): (&Batch<'_, f64, D, B>, &Batch<'_, f64, D2, B2>),
    parts: [&Parts; 2],
    base: &Verdict<Vec<usize>>,
    number: impl Fn(&[usize], &[usize]) -> f64,
) where
    P: BaseOp<f64, f64, B, B2, Output = f64>,
    D: JoinBatch<B, (D2, B2), P::Base>,
    D2: LessAxes<B2>,
    B: Dimension,
    B2: Dimension,
{
    let batch = joint(&parts.map(|parts| &parts.batch[..]));
    let expected: Expected = match (base, &batch) {
        (Err(name), _) | (_, Err(name)) => Err(name),
        (Ok(base), Ok(batch)) => Ok(result(batch, base, &number)),
    };
    check(a.apply(op, b), &expected);
    check(a.par().apply(op, b), &expected);
    // into an array
    let own = base.clone().unwrap_or(vec![2]);
    let mut to = own.clone();
    if !to.is_empty() && input.one_in(6) {
        to[0] = input.size();
    }
    let out = output(input, &batch, &to);
    let out = Strided::new(out.layout, |place| (place % 90) as f64);
    let expected = base.clone().and_then(|base| {
        let batch = out.ndim().checked_sub(base.len()).ok_or("TooFewAxes")?;
        let (batch, last) = out.shape().split_at(batch);
        goes_into(&parts, batch)?;
        if last == base { Ok(result(batch, &base, &number).1) } else { Err("BaseSize") }
    });
    let mut after = out.clone();
    let written = if input.one_in(2) {
        a.apply_into(op, b, &mut after.view_mut())
    } else {
        a.par().apply_into(op, b, &mut after.view_mut())
    };
    match agreed(written, &expected) {
        Some(((), elements)) => out.assert_became(&after, elements.iter().copied()),
        None => out.assert_became(&after, out.elements().copied()),
    }
}

/// An operation in all its forms, and by its method.
macro_rules! check_method {
    ($input:ident, $Op:ident $method:ident, ($x:ident, $y:ident), $parts:ident, $base:ident, $number:expr) => {{
        in_all_forms($input, base_op::$Op, (&$x, &$y), $parts, &$base, $number);
        assert_eq!($x.$method(&$y), $x.apply(base_op::$Op, &$y));
    }};
}

pub(super) fn element_wise(input: &mut Input<'_>) {
    let whole = input.small_shape(3, 20);
    let bases = vec![input.operand(&whole), input.operand(&whole)];
    let all = operands(input, bases);
    let [a, b] = &all[..] else { unreachable!() };
    let (x, y) = (a.batch(), b.batch());
    let parts = [&a.parts, &b.parts];
    let base = joint(&parts.map(|parts| &parts.base[..]));
    let at = |operand: &Operand, i: &[usize], j: &[usize]| {
        let own = &operand.parts.base;
        operand.at(i, &read_at(j, own, &aligned_right(own.len(), j.len()))) as f64
    };
    let number = |f: fn(f64, f64) -> f64| move |i: &[usize], j: &[usize]| f(at(a, i, j), at(b, i, j));
    match input.below(5) {
        0 => check_method!(input, Add add, (x, y), parts, base, number(|x, y| x + y)),
        1 => check_method!(input, Sub sub, (x, y), parts, base, number(|x, y| x - y)),
        2 => check_method!(input, Mul mul, (x, y), parts, base, number(|x, y| x * y)),
        3 => {
            // no base number is 0.5, so that there is no division of 0 by 0
            let shifted = b.array.view().materialize().mapv_into(|y| y + 0.5);
            let y = shifted.batch_dyn(b.parts.base.len()).expect("it has its base axes");
            check_method!(input, Div div, (x, y), parts, base, number(|x, y| x / (y + 0.5)));
        }
        _ => {
            let (Ok(v), Ok(w)) =
                (a.array.view().into_dimensionality::<Ix3>(), b.array.view().into_dimensionality::<Ix2>())
            else {
                return;
            };
            let parts = [
                &Parts { batch: a.array.shape()[..1].to_vec(), base: a.array.shape()[1..].to_vec() },
                &Parts { batch: b.array.shape()[..1].to_vec(), base: b.array.shape()[1..].to_vec() },
            ];
            let base = joint(&parts.map(|parts| &parts.base[..]));
            let number = |i: &[usize], j: &[usize]| {
                let own = [(a, parts[0]), (b, parts[1])].map(|(operand, parts)| {
                    let batch = read_at(i, &parts.batch, &aligned_right(1, i.len()));
                    let base = read_at(j, &parts.base, &aligned_right(parts.base.len(), j.len()));
                    *operand.numbers.at(&[batch, base].concat()) as f64
                });
                own[0] - own[1]
            };
            let (v, w) = (v.batch::<Ix2>().expect("two axes"), w.batch::<Ix1>().expect("an axis"));
            in_all_forms(input, base_op::Sub, (&v, &w), parts, &base, number);
        }
    }
}

/// A size of a matrix: small, or so large that tiles are reached.
fn long(input: &mut Input<'_>) -> usize {
    if input.one_in(4) { 6 + input.below(30) } else { input.size() }
}

/// Products of matrices or vectors: rows, terms, columns.
pub(super) fn products(input: &mut Input<'_>) {
    let [m, n, p] = std::array::from_fn(|_| long(input));
    let k = if input.one_in(12) { input.size() } else { n };
    let kind = input.below(4);
    let [mut left, mut right] = match kind {
        0 => [vec![m, n], vec![k]],
        1 => [vec![n], vec![k, p]],
        2 => [vec![m, n], vec![k, p]],
        _ => [vec![n], vec![k]],
    };
    match input.below(20) {
        18 => left.push(2),
        19 => drop(right.pop()),
        _ => {}
    }
    let all = operands(input, vec![left, right]);
    let [a, b] = &all[..] else { unreachable!() };
    let (x, y) = (a.batch(), b.batch());
    let parts = [&a.parts, &b.parts];
    let own = [a.parts.base.len(), b.parts.base.len()];
    let expected = [[2, 1], [1, 2], [2, 2], [1, 1]][kind];
    let (left, right) = (&a.parts.base, &b.parts.base);
    let base = if own != expected {
        Err("BaseAxes")
    } else if left[left.len() - 1] != right[0] {
        Err("BaseSymbol")
    } else {
        Ok([&left[..left.len() - 1], &right[1..]].concat())
    };
    let number = |i: &[usize], j: &[usize]| {
        let (row, column) = j.split_at(left.len() - 1);
        let term = |k: usize| a.at(i, &[row, &[k]].concat()) * b.at(i, &[&[k], column].concat());
        (0..n).map(term).sum::<i64>() as f64
    };
    match kind {
        0 => check_method!(input, MatVec matvec, (x, y), parts, base, number),
        1 => check_method!(input, VecMat vecmat, (x, y), parts, base, number),
        2 => check_method!(input, MatMul matmul, (x, y), parts, base, number),
        _ => check_method!(input, Inner inner, (x, y), parts, base, number),
    }
    in_the_types(a, b, kind, &base);
}

/// The same with numbers of axes that are in the types.
fn in_the_types(a: &Operand, b: &Operand, kind: usize, base: &Verdict<Vec<usize>>) {
    if base.is_err() {
        return;
    }
    macro_rules! compare {
        ($Whole:ident $Base:ident, $Whole2:ident $Base2:ident, $method:ident) => {
            if let (Ok(x), Ok(y)) = (
                a.array.view().into_dimensionality::<$Whole>(),
                b.array.view().into_dimensionality::<$Whole2>(),
            ) {
                let (x, y) = (x.batch::<$Base>().expect("axes"), y.batch::<$Base2>().expect("axes"));
                let found = x.$method(&y).map(Array::into_dyn);
                assert_eq!(found, a.batch().$method(&b.batch()).map(Array::into_dyn));
            }
        };
    }
    match kind {
        0 => compare!(Ix3 Ix2, Ix2 Ix1, matvec),
        2 => compare!(Ix3 Ix2, Ix2 Ix2, matmul),
        3 => compare!(Ix2 Ix1, Ix2 Ix1, inner),
        _ => {}
    }
}
