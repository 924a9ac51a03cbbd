//! Batches: what is broadcast, what is done with each base, and the sums back.

mod back;
mod closures;
pub(crate) mod ops;

use crate::cases::Input;
use crate::cases::check::{Verdict, agreed, assert_array, assert_view};
use common::{
    Choices, Layout, Strided, aligned_right, indices, joint, overflows, read_at, resolved, scrambled,
};
use ndarray::{Array, Dimension, Ix0, Ix1, Ix2, Ix3, IxDyn};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    Batch, BroadcastError, batch_broadcast,
    bounds::{BaseRank, LessAxes},
};

pub(crate) fn run(input: &mut Input<'_>) {
    match input.below(10) {
        0 => split(input),
        1 => together(input),
        2 => closures::closures(input),
        3 => closures::three(input),
        4 => closures::into_array(input),
        5 | 6 => ops::element_wise(input),
        7 | 8 => ops::products(input),
        _ => back::back(input),
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
struct Operand {
    parts: Parts,
    numbers: Strided<i64>,
    array: Strided<f64>,
}

impl Operand {
    fn new(input: &mut Input<'_>, parts: Parts) -> Self {
        let layout = Layout::to_read(input, &parts.whole());
        let number = |place: usize| scrambled(place as i64) % 100;
        Self {
            numbers: Strided::new(layout.clone(), number),
            array: Strided::new(layout, |place| number(place) as f64),
            parts,
        }
    }

    fn batch(&self) -> Batch<'_, f64, IxDyn, IxDyn> {
        self.array.view().into_batch_dyn(self.parts.base.len()).expect("it has its base axes")
    }

    /// The number at an index of the joint batch and one of its own base.
    fn at(&self, batch: &[usize], base: &[usize]) -> i64 {
        let places = aligned_right(self.parts.batch.len(), batch.len());
        let own = read_at(batch, &self.parts.batch, &places);
        *self.numbers.at(&[&own[..], base].concat())
    }
}

/// Batches that may go together, with bases.
fn operands(input: &mut Input<'_>, bases: Vec<Vec<usize>>) -> Vec<Operand> {
    let elements = bases.iter().map(|base| base.iter().product()).max().unwrap_or(1).max(1);
    let whole = input.small_shape(3, (1500 / elements).max(4));
    bases
        .into_iter()
        .map(|base| {
            let batch = input.operand(&whole);
            Operand::new(input, Parts { batch, base })
        })
        .collect()
}

fn joint_batch(operands: &[&Operand]) -> Verdict<Vec<usize>> {
    joint(&operands.iter().map(|operand| &operand.parts.batch[..]).collect::<Vec<_>>())
}

/// Any base.
fn base(input: &mut Input<'_>) -> Vec<usize> {
    input.small_shape(2, 20)
}

fn split(input: &mut Input<'_>) {
    let shape = input.small_shape(5, 1500);
    let array = Strided::new(Layout::to_read(input, &shape), |place| place as u32);
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
    fn fixed<K: BaseRank>(array: &Strided<u32>, expected: &Verdict<()>)
    where
        IxDyn: LessAxes<K>,
    {
        let view = array.view();
        let split = agreed(view.batch::<K>(), expected);
        assert_eq!(array.view().into_batch::<K>().is_ok(), expected.is_ok());
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
fn expanded(input: &mut Input<'_>, array: &Strided<u32>, batch: &Batch<'_, u32, IxDyn, IxDyn>) {
    let own = batch.batch_shape();
    let mut target: Vec<i64> =
        own.iter().map(|&size| if size == 1 { input.size() as i64 } else { size as i64 }).collect();
    if input.one_in(2) {
        target.insert(0, input.size() as i64);
    }
    if !target.is_empty() && input.one_in(2) {
        let axis = input.below(target.len());
        target[axis] = input.pick(&[-1, -1, -2, 3, isize::MAX as i64, 1 << 20]);
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
    let bases = (0..2).map(|_| base(input)).collect();
    let all = operands(input, bases);
    let expected = joint_batch(&all.iter().collect::<Vec<_>>());
    let batches: Vec<_> = all.iter().map(Operand::batch).collect();
    let check = |batch: &Batch<'_, f64, IxDyn, IxDyn>, operand: &Operand, joint: &[usize]| {
        let whole = [joint, &operand.parts.base].concat();
        assert_eq!((batch.batch_shape(), batch.base_shape()), (joint, &operand.parts.base[..]));
        assert_view(
            &batch.clone().into_view(),
            &whole,
            &operand.array,
            &aligned_right(operand.array.ndim(), whole.len()),
        );
    };
    if let Some(((a, b), joint)) = agreed(batch_broadcast(&batches[0], &batches[1]), &expected) {
        check(&a, &all[0], joint);
        check(&b, &all[1], joint);
    }
}

/// The result of an operation of which `number` gives the number at an index of the joint batch and of its base.
fn result(
    batch: &[usize],
    base: &[usize],
    number: impl Fn(&[usize], &[usize]) -> f64,
) -> (Vec<usize>, Vec<f64>) {
    let bases = indices(base);
    let elements =
        indices(batch).iter().flat_map(|i| bases.iter().map(|j| number(i, j)).collect::<Vec<_>>()).collect();
    ([batch, base].concat(), elements)
}

type Expected = Verdict<(Vec<usize>, Vec<f64>)>;

#[track_caller]
fn check<D: Dimension>(found: Result<Array<f64, D>, BroadcastError>, expected: &Expected) {
    if let Some((array, (shape, elements))) = agreed(found, expected) {
        assert_array(&array, shape, elements);
    }
}

/// An output for a joint batch and a base, mostly.
fn output(input: &mut Input<'_>, batch: &Verdict<Vec<usize>>, base: &[usize]) -> Strided<f64> {
    let mut to = batch.clone().unwrap_or(vec![2]);
    match input.below(8) {
        5 => to.insert(0, 1 + input.below(2)),
        6 if !to.is_empty() => to[0] = input.size(),
        7 if !to.is_empty() => drop(to.remove(0)),
        _ => {}
    }
    Strided::new(Layout::to_write(input, &[&to[..], base].concat()), |place| place as f64 + 0.5)
}

/// Whether joined batches go to the batch of an output.
fn goes_into(parts: &[&Parts], to: &[usize]) -> Verdict<()> {
    let joint = joint(&parts.iter().map(|parts| &parts.batch[..]).collect::<Vec<_>>())?;
    let to: Vec<i64> = to.iter().map(|&size| size as i64).collect();
    resolved(&joint, &to, false).map(drop)
}
