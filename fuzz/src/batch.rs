//! Batches: what is broadcast, what is done with each base, and the sums back.

use crate::arrays::{Laid, Layout};
use crate::check::{Verdict, agreed, assert_array, assert_refused, assert_view};
use crate::input::Input;
use crate::model::{aligned_right, indices, joint, overflows, read_at, resolved, scrambled, sums};
use crate::numbers::Number;
use ndarray::{
    Array, ArrayD, ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMutD, DimAdd, DimMax, Dimension, Ix0, Ix1,
    Ix2, Ix3, IxDyn,
};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    BaseOp, BaseRank, Batch, BroadcastError, LessAxes, Signature, base_op, batch_broadcast,
    batch_broadcast_all, batch_broadcast_views, can_batch_broadcast,
};

pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(10) {
        0 => split(&mut input),
        1 => together(&mut input),
        2 => closures(&mut input),
        3 => three(&mut input),
        4 => into_array(&mut input),
        5 | 6 => element_wise(&mut input),
        7 | 8 => products(&mut input),
        _ if input.one_in(24) => large(&mut input),
        _ => back(&mut input),
    }
}

/// The shapes of an operand's batch and base.
#[derive(Clone, Debug)]
struct Parts {
    batch: Vec<usize>,
    base: Vec<usize>,
}

impl Parts {
    fn whole(&self) -> Vec<usize> {
        [&self.batch[..], &self.base].concat()
    }
}

/// An operand: its parts, its numbers as they are, and as elements.
struct Operand<A> {
    parts: Parts,
    numbers: Laid<i64>,
    array: Laid<A>,
}

impl<A: Number> Operand<A> {
    fn new(input: &mut Input<'_>, parts: Parts) -> Self {
        let layout = Layout::to_read(input, &parts.whole());
        let number = |place: usize| scrambled(place as i64) % 100;
        Self {
            numbers: Laid::new(layout.clone(), number),
            array: Laid::new(layout, |place| A::of(number(place))),
            parts,
        }
    }

    fn batch(&self) -> Batch<'_, A, IxDyn, IxDyn> {
        Batch::new_dyn(self.array.view(), self.parts.base.len()).expect("it has its base axes")
    }

    /// The number at an index of the joint batch and one of its own base.
    fn at(&self, batch: &[usize], base: &[usize]) -> i64 {
        let places = aligned_right(self.parts.batch.len(), batch.len());
        let own = read_at(batch, &self.parts.batch, &places);
        *self.numbers.at(&[&own[..], base].concat())
    }
}

/// Batches that may go together, with bases.
fn operands<A: Number>(input: &mut Input<'_>, bases: Vec<Vec<usize>>) -> Vec<Operand<A>> {
    let elements = bases.iter().map(|base| base.iter().product()).max().unwrap_or(1).max(1);
    let whole = input.shape(3, (1500 / elements).max(4));
    bases
        .into_iter()
        .map(|base| {
            let batch = input.operand_of(&whole);
            Operand::new(input, Parts { batch, base })
        })
        .collect()
}

fn joint_batch<A>(operands: &[&Operand<A>]) -> Verdict<Vec<usize>> {
    joint(&operands.iter().map(|operand| &operand.parts.batch[..]).collect::<Vec<_>>())
}

/// Any base.
fn base(input: &mut Input<'_>) -> Vec<usize> {
    input.shape(2, 20)
}

fn split(input: &mut Input<'_>) {
    let shape = input.shape(5, 1500);
    let array = Laid::new(Layout::to_read(input, &shape), |place| place as u32);
    let count = input.below(8);
    let expected = if count <= shape.len() { Ok(()) } else { Err("TooFewAxes") };
    let places: Vec<usize> = (0..shape.len()).collect();
    let view = array.view();
    if let Some((batch, ())) = agreed(view.batch_dyn(count), &expected) {
        let (own, base) = shape.split_at(shape.len() - count);
        assert_eq!((batch.batch_shape(), batch.base_shape()), (own, base));
        assert_view(&batch.clone().into_view(), &shape, &array, &places);
        assert!(format!("{batch:?}").starts_with("Batch"));
        expanded(input, &array, &batch);
    }
    fn fixed<K: BaseRank>(array: &Laid<u32>, expected: &Verdict<()>)
    where
        IxDyn: LessAxes<K>,
    {
        let view = array.view();
        let split = agreed(view.batch::<K>(), expected);
        assert_eq!(Batch::<_, _, K>::new(array.view()).is_ok(), expected.is_ok());
        if let Some((batch, ())) = split {
            assert_eq!(batch.base_shape().len(), K::NDIM.expect("a fixed number"));
        }
    }
    match count {
        0 => fixed::<Ix0>(&array, &expected),
        1 => fixed::<Ix1>(&array, &expected),
        2 => fixed::<Ix2>(&array, &expected),
        3 => fixed::<Ix3>(&array, &expected),
        _ => {}
    }
    if let Ok(view) = array.view().into_dimensionality::<Ix3>() {
        let batch = view.batch::<Ix2>().expect("two of three axes");
        let target = [input.size() as i64, -1];
        let to = resolved(&shape[..1], &target, true);
        let expected = to.map(|to| [&to[..], &shape[1..]].concat());
        if let Some((batch, whole)) = agreed(batch.expand_batch(target), &expected) {
            assert_view(&batch.into_view(), whole, &array, &aligned_right(3, 4));
        }
    }
}

/// The batch stretched to a target.
fn expanded(input: &mut Input<'_>, array: &Laid<u32>, batch: &Batch<'_, u32, IxDyn, IxDyn>) {
    let own = batch.batch_shape();
    let mut target: Vec<i64> =
        own.iter().map(|&size| if size == 1 { input.size() as i64 } else { size as i64 }).collect();
    if input.one_in(2) {
        target.insert(0, input.size() as i64);
    }
    if !target.is_empty() && input.one_in(2) {
        let axis = input.below(target.len());
        target[axis] = input.pick(&[-1, -1, -2, 3, i64::MAX, 1 << 40]);
    }
    let whole = |to: Vec<usize>| [&to[..], batch.base_shape()].concat();
    // the sizes are checked without the base, the overflow with it
    let expected = match resolved(own, &target, true).map(whole) {
        Ok(whole) if overflows(&whole) => Err("Overflow"),
        expected => expected,
    };
    if let Some((expanded, whole)) = agreed(batch.expand_batch(&target[..]), &expected) {
        assert_eq!(expanded.base_shape(), batch.base_shape());
        assert_view(&expanded.into_view(), whole, array, &aligned_right(array.ndim(), whole.len()));
    }
}

fn together(input: &mut Input<'_>) {
    let count = input.below(4);
    let bases = (0..count).map(|_| base(input)).collect();
    let all = operands::<f64>(input, bases);
    let expected = joint_batch(&all.iter().collect::<Vec<_>>());
    let batches: Vec<_> = all.iter().map(Operand::batch).collect();
    let check = |batch: &Batch<'_, f64, IxDyn, IxDyn>, operand: &Operand<f64>, joint: &[usize]| {
        let whole = [joint, &operand.parts.base].concat();
        assert_eq!((batch.batch_shape(), batch.base_shape()), (joint, &operand.parts.base[..]));
        assert_view(
            &batch.clone().into_view(),
            &whole,
            &operand.array,
            &aligned_right(operand.array.ndim(), whole.len()),
        );
    };
    if let Some((views, joint)) = agreed(batch_broadcast_views(&batches), &expected) {
        assert_eq!(views.len(), all.len());
        views.iter().zip(&all).for_each(|(view, operand)| check(view, operand, joint));
    }
    match &batches[..] {
        [a] => {
            let (a,) = batch_broadcast_all((a,)).expect("one operand");
            check(&a, &all[0], &all[0].parts.batch);
        }
        [a, b] => {
            assert_eq!(can_batch_broadcast(a, b), expected.is_ok());
            for result in [batch_broadcast(a, b), batch_broadcast_all((a, b))] {
                if let Some(((a, b), joint)) = agreed(result, &expected) {
                    check(&a, &all[0], joint);
                    check(&b, &all[1], joint);
                }
            }
        }
        [a, b, c] => {
            if let Some(((a, b, c), joint)) = agreed(batch_broadcast_all((a, b, c)), &expected) {
                check(&a, &all[0], joint);
                check(&b, &all[1], joint);
                check(&c, &all[2], joint);
            }
        }
        _ => {}
    }
}

/// The result of an operation of which `number` gives the number at an index of the joint batch and of its base.
fn result<A: Number>(
    batch: &[usize],
    base: &[usize],
    number: impl Fn(&[usize], &[usize]) -> i64,
) -> (Vec<usize>, Vec<A>) {
    let bases = indices(base);
    let elements = indices(batch)
        .iter()
        .flat_map(|i| bases.iter().map(|j| A::of(number(i, j))).collect::<Vec<_>>())
        .collect();
    ([batch, base].concat(), elements)
}

type Expected<A> = Verdict<(Vec<usize>, Vec<A>)>;

#[track_caller]
fn check<A: Number, D: Dimension>(found: Result<Array<A, D>, BroadcastError>, expected: &Expected<A>) {
    if let Some((array, (shape, elements))) = agreed(found, expected) {
        assert_array(&array, shape, elements);
    }
}

/// The sum of a base, which the closures below take.
fn total<D: Dimension>(view: &ArrayView<'_, f64, D>) -> f64 {
    view.iter().sum()
}

fn total_at(operand: &Operand<f64>, batch: &[usize]) -> i64 {
    indices(&operand.parts.base).iter().map(|base| operand.at(batch, base)).sum()
}

/// A base of a result: sizes, some of them none.
fn result_base(input: &mut Input<'_>) -> (Vec<i64>, Verdict<Vec<usize>>) {
    let base = base(input);
    let mut given: Vec<i64> = base.iter().map(|&size| size as i64).collect();
    if !given.is_empty() && input.one_in(10) {
        given[0] = input.pick(&[-1, -5, i64::MAX, 1 << 60]);
    }
    let expected = match given.first() {
        Some(size) if *size < 0 => Err("InvalidSize"),
        // there may be no room for it, unless a batch or base axis is empty
        Some(size) if *size > 1 << 50 => Err("TooLarge"),
        _ => Ok(base),
    };
    (given, expected)
}

/// The verdict on a result: the sizes of its base, then the batches, then the room.
fn with_base<A: Number>(
    batch: &Verdict<Vec<usize>>,
    base: &Verdict<Vec<usize>>,
    number: impl Fn(&[usize], &[usize]) -> i64,
) -> Expected<A> {
    match (batch, base) {
        (_, Err("InvalidSize")) => Err("InvalidSize"),
        (Err(name), _) => Err(name),
        (_, Err(name)) => Err(name),
        (Ok(batch), Ok(base)) => Ok(result(batch, base, number)),
    }
}

fn closures(input: &mut Input<'_>) {
    let bases = vec![base(input), base(input)];
    let all = operands::<f64>(input, bases);
    let [a, b] = &all[..] else { unreachable!() };
    let (given, base) = result_base(input);
    let number =
        |i: &[usize], j: &[usize]| total_at(a, i) - 2 * total_at(b, i) + j.iter().sum::<usize>() as i64;
    let expected: Expected<f64> = with_base(&joint_batch(&[a, b]), &base, number);
    let f = |x: ArrayViewD<'_, f64>, y: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>| {
        assert_eq!((x.shape(), y.shape()), (&a.parts.base[..], &b.parts.base[..]));
        for (index, out) in out.indexed_iter_mut() {
            *out = total(&x) - 2.0 * total(&y) + index.slice().iter().sum::<usize>() as f64;
        }
    };
    check(a.batch().zip_map(&b.batch(), &given[..], f), &expected);
    check(a.batch().par_zip_map(&b.batch(), &given[..], f), &expected);
    let expected = with_base(&Ok(a.parts.batch.clone()), &base, |i, _| total_at(a, i));
    let one = |x: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>| out.fill(total(&x));
    check(a.batch().map(&given[..], one), &expected);
    // numbers of axes that are in the types
    if let (Ok(x), Ok(y)) =
        (a.array.view().into_dimensionality::<Ix2>(), b.array.view().into_dimensionality::<Ix1>())
    {
        let batch = joint(&[&a.array.shape()[..1], &[]]);
        let signature = Signature::new("(n),(n)->()").expect("a signature");
        let expected: Expected<f64> = match a.array.shape()[1] == b.array.shape()[0] {
            false => Err("BaseSymbol"),
            true => with_base(&batch, &Ok(vec![]), |i, _| {
                (0..b.array.shape()[0]).map(|k| a.numbers.at(&[i[0], k]) * b.numbers.at(&[k])).sum()
            }),
        };
        let f =
            |x: ArrayView<'_, f64, Ix1>, y: ArrayView<'_, f64, Ix1>, mut out: ArrayViewMut<'_, f64, Ix0>| {
                out[()] = x.dot(&y);
            };
        let (x, y) = (x.batch::<Ix1>().expect("an axis"), y.batch::<Ix1>().expect("an axis"));
        check(x.zip_map(&y, signature, f), &expected);
        check(x.par_zip_map(&y, signature, f), &expected);
    }
}

fn three(input: &mut Input<'_>) {
    let bases = vec![base(input), base(input), base(input)];
    let all = operands::<f64>(input, bases);
    let [a, b, c] = &all[..] else { unreachable!() };
    let (given, base) = result_base(input);
    let number = |i: &[usize], _: &[usize]| total_at(a, i) + 3 * total_at(b, i) - total_at(c, i);
    let expected: Expected<f64> = with_base(&joint_batch(&[a, b, c]), &base, number);
    let f = |x: ArrayViewD<'_, f64>,
             y: ArrayViewD<'_, f64>,
             z: ArrayViewD<'_, f64>,
             mut out: ArrayViewMutD<'_, f64>| {
        out.fill(total(&x) + 3.0 * total(&y) - total(&z));
    };
    check(a.batch().zip_map3(&b.batch(), &c.batch(), &given[..], f), &expected);
}

/// An output for a joint batch and a base, mostly.
fn output(input: &mut Input<'_>, batch: &Verdict<Vec<usize>>, base: &[usize]) -> Laid<f64> {
    let mut to = batch.clone().unwrap_or(vec![2]);
    match input.below(8) {
        5 => to.insert(0, 1 + input.below(2)),
        6 if !to.is_empty() => to[0] = input.size(),
        7 if !to.is_empty() => drop(to.remove(0)),
        _ => {}
    }
    Laid::new(Layout::to_write(input, &[&to[..], base].concat()), |place| place as f64 + 0.5)
}

/// Whether joined batches go to the batch of an output.
fn goes_into(parts: &[&Parts], to: &[usize]) -> Verdict<()> {
    let joint = joint(&parts.iter().map(|parts| &parts.batch[..]).collect::<Vec<_>>())?;
    let to: Vec<i64> = to.iter().map(|&size| size as i64).collect();
    resolved(&joint, &to, false).map(drop)
}

fn into_array(input: &mut Input<'_>) {
    let bases = vec![base(input), base(input)];
    let all = operands::<f64>(input, bases);
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
        a.batch().par_zip_map_into(&b.batch(), &mut after.view_mut(), f)
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

/// An operation in all its forms: the new array, the method, into an array, on several threads.
fn in_all_forms<P, A, D, B, D2, B2>(
    input: &mut Input<'_>,
    op: P,
    (a, b): (&Batch<'_, A, D, B>, &Batch<'_, A, D2, B2>),
    parts: [&Parts; 2],
    base: &Verdict<Vec<usize>>,
    number: impl Fn(&[usize], &[usize]) -> A,
) where
    A: Number + Copy,
    P: BaseOp<A, A, B, B2, Output = A>,
    D: LessAxes<B, Left: DimMax<D2::Left, Output: DimAdd<P::Base>>>,
    D2: LessAxes<B2>,
    B: Dimension,
    B2: Dimension,
{
    let batch = joint(&parts.map(|parts| &parts.batch[..]));
    let made = |batch: &[usize], base: &[usize]| {
        let bases = indices(base);
        let elements: Vec<A> = indices(batch)
            .iter()
            .flat_map(|i| bases.iter().map(|j| number(i, j)).collect::<Vec<_>>())
            .collect();
        ([batch, base].concat(), elements)
    };
    let expected: Expected<A> = match (base, &batch) {
        (Err(name), _) | (_, Err(name)) => Err(name),
        (Ok(base), Ok(batch)) => Ok(made(batch, base)),
    };
    check(a.apply(op, b), &expected);
    check(a.par_apply(op, b), &expected);
    // into an array
    let own = base.clone().unwrap_or(vec![2]);
    let mut to = own.clone();
    if !to.is_empty() && input.one_in(6) {
        to[0] = input.size();
    }
    let out = output(input, &batch, &to);
    let out = Laid::new(out.layout, |place| A::of(place as i64 % 90));
    let expected = base.clone().and_then(|base| {
        let batch = out.ndim().checked_sub(base.len()).ok_or("TooFewAxes")?;
        let (batch, last) = out.shape().split_at(batch);
        goes_into(&parts, batch)?;
        if last == base { Ok(made(batch, &base).1) } else { Err("BaseSize") }
    });
    let mut after = out.clone();
    let result = if input.one_in(2) {
        a.apply_into(op, b, &mut after.view_mut())
    } else {
        a.par_apply_into(op, b, &mut after.view_mut())
    };
    match agreed(result, &expected) {
        Some(((), elements)) => out.assert_became(&after, elements.iter().copied()),
        None => out.assert_became(&after, out.elements().copied()),
    }
}

fn element_wise(input: &mut Input<'_>) {
    let whole = input.shape(3, 20);
    let bases = vec![input.operand_of(&whole), input.operand_of(&whole)];
    let all = operands::<f64>(input, bases);
    let [a, b] = &all[..] else { unreachable!() };
    let (x, y) = (a.batch(), b.batch());
    let parts = [&a.parts, &b.parts];
    let base = joint(&parts.map(|parts| &parts.base[..]));
    let at = |operand: &Operand<f64>, i: &[usize], j: &[usize]| {
        let own = &operand.parts.base;
        operand.at(i, &read_at(j, own, &aligned_right(own.len(), j.len()))) as f64
    };
    let number = |f: fn(f64, f64) -> f64| move |i: &[usize], j: &[usize]| f(at(a, i, j), at(b, i, j));
    match input.below(5) {
        0 => {
            in_all_forms(input, base_op::Add, (&x, &y), parts, &base, number(|x, y| x + y));
            assert_eq!(x.add(&y), x.apply(base_op::Add, &y));
        }
        1 => {
            in_all_forms(input, base_op::Sub, (&x, &y), parts, &base, number(|x, y| x - y));
            assert_eq!(x.sub(&y), x.apply(base_op::Sub, &y));
        }
        2 => {
            in_all_forms(input, base_op::Mul, (&x, &y), parts, &base, number(|x, y| x * y));
            assert_eq!(x.mul(&y), x.apply(base_op::Mul, &y));
        }
        3 => {
            // no base number is 0.5, so that there is no division of 0 by 0
            let shifted = b.array.view().mapv(|y| y + 0.5);
            let y = shifted.batch_dyn(b.parts.base.len()).expect("it has its base axes");
            in_all_forms(input, base_op::Div, (&x, &y), parts, &base, number(|x, y| x / (y + 0.5)));
            assert_eq!(x.div(&y), x.apply(base_op::Div, &y));
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

fn products(input: &mut Input<'_>) {
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
    let all = operands::<f64>(input, vec![left, right]);
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
        0 => {
            in_all_forms(input, base_op::MatVec, (&x, &y), parts, &base, number);
            assert_eq!(x.matvec(&y), x.apply(base_op::MatVec, &y));
        }
        1 => {
            in_all_forms(input, base_op::VecMat, (&x, &y), parts, &base, number);
            assert_eq!(x.vecmat(&y), x.apply(base_op::VecMat, &y));
        }
        2 => {
            in_all_forms(input, base_op::MatMul, (&x, &y), parts, &base, number);
            assert_eq!(x.matmul(&y), x.apply(base_op::MatMul, &y));
        }
        _ => {
            in_all_forms(input, base_op::Inner, (&x, &y), parts, &base, number);
            assert_eq!(x.inner(&y), x.apply(base_op::Inner, &y));
        }
    }
    in_the_types(a, b, kind, &base);
}

/// The same with numbers of axes that are in the types.
fn in_the_types(a: &Operand<f64>, b: &Operand<f64>, kind: usize, base: &Verdict<Vec<usize>>) {
    if base.is_err() {
        return;
    }
    let same = |fixed: Result<ArrayD<f64>, BroadcastError>, dynamic: Result<ArrayD<f64>, BroadcastError>| {
        assert_eq!(fixed, dynamic);
    };
    let planes = (a.array.view().into_dimensionality::<Ix3>(), b.array.view().into_dimensionality::<Ix2>());
    if let (0, (Ok(x), Ok(y))) = (kind, &planes) {
        let found = x.batch::<Ix2>().expect("axes").matvec(&y.batch::<Ix1>().expect("axes"));
        same(found.map(Array::into_dyn), a.batch().matvec(&b.batch()).map(Array::into_dyn));
    }
    if let (2, (Ok(x), Ok(y))) = (kind, &planes) {
        let found = x.batch::<Ix2>().expect("axes").matmul(&y.batch::<Ix2>().expect("axes"));
        same(found.map(Array::into_dyn), a.batch().matmul(&b.batch()).map(Array::into_dyn));
    }
    let rows = (a.array.view().into_dimensionality::<Ix2>(), b.array.view().into_dimensionality::<Ix2>());
    if let (3, (Ok(x), Ok(y))) = (kind, &rows) {
        let found = x.batch::<Ix1>().expect("axes").inner(&y.batch::<Ix1>().expect("axes"));
        same(found.map(Array::into_dyn), a.batch().inner(&b.batch()).map(Array::into_dyn));
    }
}

/// The sums over batch axes.
fn back(input: &mut Input<'_>) {
    let base = base(input);
    let all = operands::<f64>(input, vec![base.clone(), vec![]]);
    let [delta, like] = &all[..] else { unreachable!() };
    let own = &delta.parts.batch;
    let mut target: Vec<i64> = input.operand_of(own).iter().map(|&size| size as i64).collect();
    if input.one_in(8) {
        target.insert(0, input.pick(&[1, 2, -1, 1 << 50]));
    }
    let expected = |target: &[i64]| -> Expected<f64> {
        let sizes: Result<Vec<usize>, _> = target.iter().map(|&size| usize::try_from(size)).collect();
        let sizes = sizes.map_err(|_| "InvalidSize")?;
        let new = own.len().checked_sub(sizes.len()).ok_or("TooManyAxes")?;
        if sizes.iter().zip(&own[new..]).any(|(&size, &own)| size != 1 && size != own) {
            return Err("Incompatible");
        }
        let whole = [&sizes[..], &base].concat();
        let places: Vec<usize> = (new..own.len() + base.len()).collect();
        let sums = sums(delta.array.shape(), delta.numbers.elements().copied(), &whole, &places);
        Ok((whole, sums.into_iter().map(|sum| sum as f64).collect()))
    };
    let batch = delta.batch();
    check(batch.sum_batch_to(&target[..]), &expected(&target));
    let other: Vec<i64> = like.parts.batch.iter().map(|&size| size as i64).collect();
    check(batch.sum_batch_to_match(&like.batch()), &expected(&other));
    // into an array
    let mut to = base.clone();
    if !to.is_empty() && input.one_in(6) {
        to[0] = input.size();
    }
    let shape: Vec<usize> =
        target.iter().map(|&size| size.clamp(0, 9) as usize).chain(to.iter().copied()).collect();
    let cut = if input.one_in(10) { input.below(shape.len() + 1) } else { 0 };
    let shape = &shape[cut..];
    let out = Laid::new(Layout::to_write(input, shape), |place| place as f64);
    let split = shape.len().checked_sub(base.len()).ok_or("TooFewAxes");
    let expected = split.and_then(|split| {
        let target: Vec<i64> = shape[..split].iter().map(|&size| size as i64).collect();
        let (_, sums) = expected(&target)?;
        if shape[split..] == base { Ok(sums) } else { Err("BaseSize") }
    });
    let mut after = out.clone();
    match agreed(batch.add_sum_batch_to(&mut after.view_mut()), &expected) {
        Some(((), sums)) => out.assert_became(&after, out.elements().zip(sums).map(|(old, sum)| old + sum)),
        None => out.assert_became(&after, out.elements().copied()),
    }
}

/// So many batch elements that several threads take them: with one for all of them, each result is one and the same.
fn large(input: &mut Input<'_>) {
    let [m, n] = std::array::from_fn(|_| 1 + input.below(5));
    let a: Operand<f64> = Operand::new(input, Parts { batch: vec![], base: vec![m, n] });
    let b: Operand<f64> = Operand::new(input, Parts { batch: vec![1, 3], base: vec![n] });
    let many = (1 << 17) / (3 * m) + input.below(50);
    let (x, y) = (a.batch(), b.batch());
    let stretched = y.expand_batch([many, 3].as_slice()).expect("one axis of size 1");
    let one = x.matvec(&stretched).expect("bases that fit");
    let several = x.par_apply(base_op::MatVec, &stretched).expect("bases that fit");
    assert_eq!(one, several);
    assert_eq!(one.shape(), [many, 3, m]);
    let single = x.matvec(&y).expect("bases that fit");
    assert_eq!(one.index_axis(ndarray::Axis(0), many - 1), single.index_axis(ndarray::Axis(0), 0));
    let mut sums = one.clone();
    x.par_apply_into(base_op::MatVec, &stretched, &mut sums).expect("bases that fit");
    assert_eq!(sums, one);
    let f = |x: ArrayViewD<'_, f64>, y: ArrayViewD<'_, f64>, mut out: ArrayViewMut<'_, f64, Ix0>| {
        out[()] = x.sum() - y.sum();
    };
    let found = (x.zip_map(&stretched, (), f), x.par_zip_map(&stretched, (), f));
    assert_eq!(found.0, found.1);
    let wrong = x.par_zip_map(&stretched, [-1], |_, _, _: ArrayViewMut<'_, f64, Ix1>| ());
    assert_refused(&wrong.expect_err("no size"), "InvalidSize");
}
