//! The crate against ndarray's own way: copies, maps, sums and products, on random shapes and layouts. Products with a shared
//! operand are compared with those of one operand each, and those of reversed operands with copies and the dense product.

use crate::adapter::{Calls, Number, copy_into, products_into, sum_to};
use crate::cases::{Outcome, Settings, compare, outcome};
use crate::random::{self, Choices, Random, Shapes};
use common::Strided;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayD, Axis, Ix3, LinalgScalar, Zip};

/// Case `number` of a seed, whatever cases are measured before.
pub(crate) fn native_case(number: usize, settings: Settings) -> Outcome {
    let mut random = Random::new(settings.seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
    match random.below(4) {
        0 => case_of::<f64>(number, &mut random, settings),
        1 => case_of::<i32>(number, &mut random, settings),
        _ => case_of::<f32>(number, &mut random, settings),
    }
}

fn case_of<T: Number + LinalgScalar>(number: usize, random: &mut Random, settings: Settings) -> Outcome {
    match random.below(5) {
        0 => match random.below(4) {
            0 => shared_product::<T>(number, random, settings),
            1 => reversed_product::<T>(number, random, settings),
            _ => product::<T>(number, random, settings),
        },
        1 => map::<T>(number, random, settings),
        2 => sum::<T>(number, random, settings),
        _ => copy::<T>(number, random, settings),
    }
}

fn copy<T: Number>(number: usize, random: &mut Random, settings: Settings) -> Outcome {
    let shape = random.shape(1, settings.most);
    let operand = random::view::<T>(&shape, random);
    let view = operand.view();
    let times =
        compare(&shape, settings.limit, &mut |out| copy_into(&view, out), &mut |out| out.assign(&view));
    outcome(number, format!("{}: copy to {shape:?} / assign", T::NAME), &[operand], times)
}

fn map<T: Number>(number: usize, random: &mut Random, settings: Settings) -> Outcome {
    let shape = random.shape(1, settings.most);
    let operands: Vec<Strided<T>> =
        random.operands(&shape, 2).iter().map(|shape| random::operand(shape, random)).collect();
    let (a, b) = (operands[0].view(), operands[1].view());
    let calls = Calls::<T>::with_length(1);
    let times = compare(
        &shape,
        settings.limit,
        &mut |out| (calls.map_into)(&[a.view(), b.view()], out),
        &mut |out| {
            let pairs = Zip::from(out).and_broadcast(&a).and_broadcast(&b);
            pairs.for_each(|out, &a, &b| *out = a.times(b));
        },
    );
    outcome(number, format!("{}: map to {shape:?} / Zip", T::NAME), &operands, times)
}

/// Over one axis or two, one after the other for ndarray.
fn sum<T: Number>(number: usize, random: &mut Random, settings: Settings) -> Outcome {
    let shape = random.shape(2, settings.most);
    let operand = random::view::<T>(&shape, random);
    let (view, mut target) = (operand.view(), shape.clone());
    let axes = [(); 2].map(|()| random.below(shape.len()));
    target[axes[0]] = 1;
    let is_second = axes[0] != axes[1] && random.below(2) == 0;
    if is_second {
        target[axes[1]] = 1;
    }
    let times = compare(&target, settings.limit, &mut |out| *out = sum_to(&view, &target), &mut |out| {
        *out = view.sum_axis(Axis(axes[0])).insert_axis(Axis(axes[0]));
        if is_second {
            *out = out.sum_axis(Axis(axes[1])).insert_axis(Axis(axes[1]));
        }
    });
    outcome(number, format!("{}: sum of {shape:?} to {target:?} / sum_axis", T::NAME), &[operand], times)
}

/// The batch, rows, terms and columns of small products.
fn small(random: &mut Random, most: usize) -> [usize; 4] {
    let [rows, terms, columns] = match random.below(4) {
        0 => [1, 1 + random.below(12), 1 + random.below(12)],
        1 => [1 + random.below(12), 1 + random.below(12), 1],
        _ => [(); 3].map(|()| 1 + random.below(12)),
    };
    [1 + random.below((most / (rows * terms * columns)).clamp(1, 1000)), rows, terms, columns]
}

fn shared_product<T: Number + LinalgScalar>(
    number: usize,
    random: &mut Random,
    settings: Settings,
) -> Outcome {
    let [batch, rows, terms, columns] = small(random, settings.most);
    let (shapes, shared) = ([[batch, rows, terms], [batch, terms, columns]], random.below(2));
    let of = |k: usize| [if k == shared { 1 } else { batch }, shapes[k][1], shapes[k][2]];
    let operands = [0, 1].map(|k| random::dense::<T>(&of(k)));
    let each = [0, 1].map(|k| operands[k].view().broadcast(&shapes[k][..]).expect("one or each").to_owned());
    let (a, b) = (operands[0].view(), operands[1].view());
    let times =
        compare(&[batch, rows, columns], settings.limit, &mut |out| products_into(&a, &b, out), &mut |out| {
            products_into(&each[0].view(), &each[1].view(), out);
        });
    let name = format!(
        "{}: products ({batch}; {rows}, {terms}, {columns}), operand {shared} shared / one for each",
        T::NAME
    );
    outcome(number, name, &operands, times)
}

fn reversed_product<T: Number + LinalgScalar>(
    number: usize,
    random: &mut Random,
    settings: Settings,
) -> Outcome {
    let [batch, rows, terms, columns] = small(random, settings.most);
    let operands = [[batch, rows, terms], [batch, terms, columns]].map(|shape| random::dense::<T>(&shape));
    let mut copies = [operands[0].view().to_owned(), operands[1].view().to_owned()];
    let [mut a, mut b] = [operands[0].view(), operands[1].view()];
    a.invert_axis(Axis(1 + random.below(2)));
    b.invert_axis(Axis(1 + random.below(2)));
    let times =
        compare(&[batch, rows, columns], settings.limit, &mut |out| products_into(&a, &b, out), &mut |out| {
            let [first, second] = &mut copies;
            copy_into(&a, first);
            copy_into(&b, second);
            products_into(&first.view(), &second.view(), out);
        });
    let name = format!(
        "{}: products ({batch}; {rows}, {terms}, {columns}), reversed / copies and products",
        T::NAME
    );
    outcome(number, name, &operands, times)
}

fn product<T: Number + LinalgScalar>(number: usize, random: &mut Random, settings: Settings) -> Outcome {
    let largest = random.pick(&[4, 8, 16, 64]);
    let [rows, terms, columns] = [(); 3].map(|()| 1 + random.below(largest));
    let batch = 1 + random.below((settings.most / (rows * terms * columns)).clamp(1, 1000));
    let operands =
        [[batch, rows, terms], [batch, terms, columns]].map(|shape| random::operand::<T>(&shape, random));
    let (a, b) = (operands[0].view(), operands[1].view());
    let [x, y] = [&a, &b].map(|view| view.view().into_dimensionality::<Ix3>().expect("three axes"));
    let native = &mut |out: &mut ArrayD<T>| {
        let mut out = out.view_mut().into_dimensionality::<Ix3>().expect("three axes");
        for ((a, b), mut out) in x.outer_iter().zip(y.outer_iter()).zip(out.outer_iter_mut()) {
            general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
        }
    };
    let shape = [batch, rows, columns];
    let times = compare(&shape, settings.limit, &mut |out| products_into(&a, &b, out), native);
    outcome(
        number,
        format!("{}: products ({batch}; {rows}, {terms}, {columns}) / general_mat_mul", T::NAME),
        &operands,
        times,
    )
}
