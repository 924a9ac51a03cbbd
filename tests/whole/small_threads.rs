//! Every operation of the table on a thread with little stack: the crate promises that 64 KiB suffice, on optimised code. Other
//! calls are in `tests/hostile`.
//!
//! A call that needs more ends the whole test program; the message has the name of the thread, which is that of the call.
#![allow(clippy::many_single_char_names, reason = "a to f are operands")]

use common::Lie;
use common::forms::{Call, Element, Form, base_operations, forms};
use common::probe::{self, base_operations_of_copied, forms_of_copied, forms_of_owned};
use ndarray::{ArrayD, Axis, IxDyn};
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused, prelude::*};
use std::hint::black_box;
use std::thread;

/// The stack of a thread. Code that is not optimised has frames several times as large, because no variables share a place.
const STACK: usize = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 10 };

/// Runs a call on a small thread.
fn small<R>(name: &str, call: impl FnOnce() -> R + Send) {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(name.into()).stack_size(STACK);
        let run = || drop(black_box(call()));
        thread.spawn_scoped(scope, run).expect("a thread").join().expect("no panic");
    });
}

/// The sizes of `ndim` axes, of about `len` elements; axes that are left have size 1, some between the others.
fn shape(ndim: usize, len: usize) -> Vec<usize> {
    let (mut sizes, mut left) = (vec![], len);
    for axis in 0..ndim {
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let even = (left as f64).powf(1.0 / (ndim - axis) as f64).round() as usize;
        let size = if even > 1 || axis % 2 == 1 { even.max(2).min(left) } else { 1 };
        left /= size;
        sizes.push(size);
    }
    sizes
}

const LAYOUTS: [Lie; 4] = [Lie::C, Lie::F, Lie::Second, Lie::Turned];

/// The forms on arrays of so many axes, for each number in one layout and along one set of axes, which numbers that follow each
/// other go through.
fn cases<A: Element>(
    forms: &[Form<A>],
    of_bases: &[Form<A>],
    ndims: impl IntoIterator<Item = usize>,
    len: usize,
    one: impl Fn() -> A,
) {
    for ndim in ndims.into_iter().step_by(if common::is_thorough() { 1 } else { 4 }) {
        let (layout, set, sizes) = (ndim / 3 % 4, ndim % 3, shape(ndim, len));
        let is_reduced = |&axis: &usize| if set < 2 { axis % 2 == set } else { axis >= ndim / 2 };
        let (axes, others): (Vec<usize>, Vec<usize>) = (0..ndim).partition(is_reduced);
        let [x, other] = [layout, layout + 1].map(|layout| LAYOUTS[layout % 4].array(&sizes, |_| one()));
        let mut last = other.view();
        (0..ndim - 1).for_each(|axis| last.slice_axis_inplace(Axis(axis), (..1).into()));
        for y in [last, other.view()] {
            let call = Call::new(x.view(), y, &axes, &others);
            for form in forms.iter().chain(of_bases.iter().filter(|_| ndim > 1)) {
                let sizes = form.out_shape(&call).unwrap_or_default();
                // all pairs of many elements
                if sizes.iter().product::<usize>() <= 1 << 22 {
                    let mut out = ArrayD::from_shape_simple_fn(sizes, &one);
                    small(&form.to_string(), || form.run(&call, &mut out.view_mut()).expect("a result"));
                }
            }
        }
        if set == 0 {
            more_operands(&sizes, &axes, LAYOUTS[layout]);
        }
    }
}

/// Maps of more operands than the table has, and of other kinds of arrays.
fn more_operands(sizes: &[usize], axes: &[usize], layout: Lie) {
    let [x, other] = [layout, Lie::F].map(|layout| layout.array(sizes, |_| 1.0_f32));
    let kept = x.sum_axes(ndarray_broadcast::keepdims(axes)).expect("axes of the array");
    let row = x.sum_axes(&(0..sizes.len() / 2).collect::<Vec<_>>()).expect("axes of the array");
    let operands = (&row, &x, &kept, &other, &x, &row);
    small("map of 6", || broadcast_map(operands, |a, b, c, d, e, f| a + b + c + d + e + f));
    small("fused of 6", || fused(operands, |a, b, c, d, e, f| a + b + c + d + e + f).sum_to(kept.shape()));
    let mut out = x.clone();
    small("apply of 5", || {
        broadcast_apply(&mut out, (&kept, &row, &other, &x, &row), |out, a, b, c, d, e| {
            *out = a + b + c + d + e;
        })
    });
    small("into_broadcast_map", || out.into_broadcast_map((&other, &row), |&a, &b, &c| a + b + c).is_ok());
    small("into_broadcast_map of shared arrays", || {
        kept.to_shared().into_broadcast_map(other.to_shared(), |&a, &b| a + b).is_ok()
    });
}

#[test]
fn few_elements() {
    let _turn = probe::turn();
    for len in [60, 3000] {
        cases(&forms(), &base_operations(), 1..=20, len, || 1.0_f32);
        cases(&forms_of_copied(), &base_operations_of_copied(), [1, 3, 9, 20], len, || {
            probe::Copied::new(1.0)
        });
    }
    cases(&forms_of_owned(), &[], [1, 2, 9, 20], 600, || probe::Owned::new(1.0));
}

/// Reductions that are halved.
#[test]
fn many_elements() {
    if cfg!(debug_assertions) {
        return;
    }
    let _turn = probe::turn();
    cases(&forms(), &base_operations(), [1, 2, 3, 9, 20], 600_000, || 1.0_f32);
    cases(&forms_of_copied(), &base_operations_of_copied(), [3, 20], 600_000, || probe::Copied::new(1.0));
}

/// Sums of views that repeat elements are halved more often than memory would allow.
#[test]
fn repeated_elements() {
    let one = ArrayD::<f32>::ones(IxDyn(&[1]));
    let sizes = [2; if cfg!(debug_assertions) { 20 } else { 26 }];
    let view = one.broadcast_to(&sizes[..]).expect("repeated elements");
    small("sum of a view", || view.sum_axes(..));
    small("mean of a view", || view.mean_axes(..));
    let axes: Vec<usize> = (0..sizes.len()).step_by(2).collect();
    small("sums of a view", || view.sum_axes(&axes[..]));
    small("product of a view", || view.reduce_axes(&axes[..], 1.0, |a, b| a * b));
}
