//! One case: what is called in two forms, on which arrays.

use crate::adapter::{Calls, LENGTHS, Number, copy_into, map_copy_into, sum_to};
use crate::random::{self, Choices, Random, Shapes};
use crate::timing::{Times, measure};
use common::Strided;
use ndarray::{ArrayD, ArrayViewD};
use std::cell::RefCell;
use std::hint::black_box;

/// A measured case.
pub(crate) struct Outcome {
    pub(crate) number: usize,
    pub(crate) what: String,
    pub(crate) operands: String,
    pub(crate) times: Times,
}

/// How cases are made and measured.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) seed: u64,
    pub(crate) limit: f64,
    /// The most elements that a call visits, about.
    pub(crate) most: usize,
}

/// What a form of a computation does with its output.
type Form<'a, T> = &'a mut dyn FnMut(&mut ArrayD<T>);

/// Case `number` of a seed, whatever cases are measured before.
pub(crate) fn random_case(number: usize, settings: Settings) -> Outcome {
    let mut random = Random::new(settings.seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
    match random.below(8) {
        0 => random_of::<f64>(number, &mut random, settings),
        1 => random_of::<i32>(number, &mut random, settings),
        2 => random_of::<u8>(number, &mut random, settings),
        _ => random_of::<f32>(number, &mut random, settings),
    }
}

fn random_of<T: Number>(number: usize, random: &mut Random, settings: Settings) -> Outcome {
    let (kind, ops) = (random.below(8), random.pick(&LENGTHS));
    let count = 1 + random.below(6);
    let most = settings.most / (1 + ops / 8);
    let shape = random.shape(if kind == 0 || kind == 2 { 2 } else { 1 }, most);
    let target = random.target(&shape);
    let limit = settings.limit;
    let calls = Calls::<T>::with_length(ops);
    let first = random::view(&shape, random);
    let inputs = |random: &mut Random| -> Vec<Strided<T>> {
        random.operands(&shape, count).iter().map(|shape| random::operand(shape, random)).collect()
    };
    let (element, name) = (T::NAME, format!("{} {ops} ops", T::NAME));
    let (what, operands, times) = match kind {
        0 => {
            let operands = inputs(random);
            let times = match random.between(&shape, &target) {
                Some(middle) => {
                    let (what, times) = one_or_two(calls, &operands, &target, &middle, limit);
                    return outcome(number, format!("{name}: {what}"), &operands, times);
                }
                None => fused_or_map(calls, &operands, &shape, &target, limit),
            };
            (format!("{name}: fused sum to {target:?} / map and sum"), operands, times)
        }
        1 => {
            let operands = inputs(random);
            let times = fused_or_map(calls, &operands, &shape, &target, limit);
            (format!("{name}: fused sum to {target:?} / map and sum"), operands, times)
        }
        2 => {
            let middle = random.between(&shape, &target).unwrap_or_else(|| shape.clone());
            let view = first.view();
            let times = compare(&target, limit, &mut |out| *out = sum_to(&view, &target), &mut |out| {
                *out = sum_to(&sum_to(&view, &middle).view(), &target);
            });
            (format!("{element}: sum to {target:?} / first to {middle:?}"), vec![first], times)
        }
        3 => {
            let (view, mut dense) = (first.view(), ArrayD::zeros(&shape[..]));
            let times = compare(&target, limit, &mut |out| *out = sum_to(&view, &target), &mut |out| {
                copy_into(&view, &mut dense);
                *out = sum_to(&dense.view(), &target);
            });
            (format!("{element}: sum of a view to {target:?} / copy and sum"), vec![first], times)
        }
        4 => {
            let mut operands = inputs(random);
            operands[0] = first;
            let times = view_or_copy(calls, &operands, &shape, limit);
            (format!("{name}: map of a view to {shape:?} / copy and map"), operands, times)
        }
        5 => {
            let view = first.view();
            let times = compare(&shape, limit, &mut |out| copy_into(&view, out), &mut |out| {
                map_copy_into(&view, out);
            });
            (format!("{element}: copy of a view / map that clones"), vec![first], times)
        }
        _ => return larger(number, random, settings, &shape, &target, count, (calls, &name)),
    };
    outcome(number, what, &operands, times)
}

/// With the operands' shapes and strides as text.
pub(crate) fn outcome<T: Number>(
    number: usize,
    what: String,
    operands: &[Strided<T>],
    times: Times,
) -> Outcome {
    Outcome { number, what, operands: described(operands), times }
}

fn described<T: Number>(operands: &[Strided<T>]) -> String {
    let one = |operand: &Strided<T>| {
        let view = operand.view();
        format!("{:?} by {:?}", view.shape(), view.strides())
    };
    operands.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn views<T: Number>(operands: &[Strided<T>]) -> Vec<ArrayViewD<'_, T>> {
    operands.iter().map(Strided::view).collect()
}

/// A fused sum to `target` against one to `middle` and the sum of the rest.
pub(crate) fn one_or_two<T: Number>(
    calls: Calls<T>,
    operands: &[Strided<T>],
    target: &[usize],
    middle: &[usize],
    limit: f64,
) -> (String, Times) {
    let views = views(operands);
    let times = compare(target, limit, &mut |out| *out = (calls.map_sum_to)(&views, target), &mut |out| {
        *out = sum_to(&(calls.map_sum_to)(&views, middle).view(), target);
    });
    (format!("fused sum to {target:?} / first to {middle:?}"), times)
}

/// A fused sum against a map into an array that exists, and its sum.
pub(crate) fn fused_or_map<T: Number>(
    calls: Calls<T>,
    operands: &[Strided<T>],
    shape: &[usize],
    target: &[usize],
    limit: f64,
) -> Times {
    let (views, mut mapped) = (views(operands), ArrayD::zeros(shape));
    compare(target, limit, &mut |out| *out = (calls.map_sum_to)(&views, target), &mut |out| {
        (calls.map_into)(&views, &mut mapped);
        *out = sum_to(&mapped.view(), target);
    })
}

/// A map whose first operand is a view against a dense copy of that, and the map.
fn view_or_copy<T: Number>(calls: Calls<T>, operands: &[Strided<T>], shape: &[usize], limit: f64) -> Times {
    let (views, mut dense) = (views(operands), ArrayD::zeros(shape));
    compare(shape, limit, &mut |out| (calls.map_into)(&views, out), &mut |out| {
        copy_into(&views[0], &mut dense);
        let mut views = views.clone();
        views[0] = dense.view();
        (calls.map_into)(&views, out);
    })
}

/// The same call on a shape with a few more elements along an axis, by the time for each element.
fn larger<T: Number>(
    number: usize,
    random: &mut Random,
    settings: Settings,
    shape: &[usize],
    target: &[usize],
    count: usize,
    (calls, name): (Calls<T>, &str),
) -> Outcome {
    let longest = (0..shape.len()).max_by_key(|axis| shape[*axis]).expect("an axis");
    let grown = if shape[longest] < 16 || random.one_in(2) { 1 } else { 1 + shape[longest] / 16 };
    let operands = random.operands(shape, count);
    let grow = |shape: &[usize]| {
        let mut shape = shape.to_vec();
        if shape[longest] > 1 {
            shape[longest] += grown;
        }
        shape
    };
    let layout = random.fork();
    let make = |shapes: &[Vec<usize>]| -> Vec<Strided<T>> {
        let random = &mut layout.clone();
        shapes.iter().map(|shape| random::operand(shape, random)).collect()
    };
    let (large, small) =
        (make(&operands.iter().map(|shape| grow(shape)).collect::<Vec<_>>()), make(&operands));
    let (large_views, small_views) = (views(&large), views(&small));
    let scale = grow(shape)[longest] as f64 / shape[longest] as f64;
    let (what, times) = if random.one_in(2) {
        let larger = grow(target);
        let times = measure(
            &mut || drop(black_box((calls.map_sum_to)(&large_views, &larger))),
            &mut || drop(black_box((calls.map_sum_to)(&small_views, target))),
            scale,
            settings.limit,
        );
        (format!("{name}: fused sum to {larger:?} / of {grown} less along axis {longest}"), times)
    } else {
        let (mut more, mut less) = (ArrayD::zeros(grow(shape)), ArrayD::zeros(shape));
        let times = measure(
            &mut || (calls.map_into)(&large_views, black_box(&mut more)),
            &mut || (calls.map_into)(&small_views, black_box(&mut less)),
            scale,
            settings.limit,
        );
        (format!("{name}: map to {:?} / of {grown} less along axis {longest}", more.shape()), times)
    };
    outcome(number, what, &large, times)
}

/// Measures two forms with the same result, and compares that.
///
/// Both write to the same array: the place of an output alone made one copy 1.7 times as fast as another.
pub(crate) fn compare<T: Number>(shape: &[usize], limit: f64, one: Form<T>, other: Form<T>) -> Times {
    let out = RefCell::new(ArrayD::zeros(shape));
    let times = measure(
        &mut || one(black_box(&mut out.borrow_mut())),
        &mut || other(black_box(&mut out.borrow_mut())),
        1.0,
        limit,
    );
    let (mut a, mut b) = (out.into_inner(), ArrayD::zeros(shape));
    one(&mut a);
    other(&mut b);
    let close = |a: T, b: T| (a.to_f64() - b.to_f64()).abs() <= 1e-4 * a.to_f64().abs();
    let differ = a.shape() != b.shape() || !a.iter().zip(&b).all(|(a, b)| close(*a, *b));
    Times { differ, ..times }
}
