//! Panics at every point of every operation that makes, adds, compares or drops elements: none is dropped twice, and none
//! is lost but where a new array is being filled; an element of an output is as it was, or has its result. No element is lost
//! either where operations lie, or call the crate again.

use common::forms::{Call, Destination, Form};
use common::probe::{
    self, Copied, Owned, Probe, Token, alive, base_operations_of_copied, forms_of_copied, forms_of_owned,
    honest, hooked, interrupted, lie, with_hook,
};
use common::{Choices, Lie, Random, Strided};
use ndarray::{Array, Array1, Array2, Array3, ArrayD, ArrayView1, ArrayViewMut1, Ix1, Ix2, ShapeBuilder, s};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{base_op, broadcast_map, fused};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// 1, 2 and so on, in the order of memory.
fn numbers<T: Token>(shape: (usize, usize), f_order: bool) -> Array2<Probe<T>> {
    let mut i = 0.0;
    Array::from_shape_simple_fn(shape.set_f(f_order), || {
        i += 1.0;
        Probe::new(i)
    })
}

/// What a panic leaves of the elements that were made.
#[derive(Clone, Copy, PartialEq)]
enum Leaves {
    Nothing,
    /// Those in a new array whose elements are not all there yet.
    NewElements,
}

/// Has `work` panic at each `step`-th of its points, until it comes to its end. `check` looks at what a panic left.
fn points<T>(
    name: &str,
    step: usize,
    leaves: Leaves,
    make: impl Fn() -> T,
    work: impl Fn(&mut T),
    check: impl Fn(&T),
) {
    let step = if common::is_thorough() { step } else { step * 7 };
    for fuse in (0_usize..).step_by(step) {
        assert!(fuse < 10_000 * step, "{name} comes to an end");
        let before = alive();
        let mut arrays = make();
        let done = interrupted(fuse, || work(&mut arrays));
        check(&arrays);
        drop(arrays);
        let left = alive() - before;
        if done {
            assert!(fuse > 0, "{name} has points");
            assert_eq!(left, 0, "{name} without a panic");
            return;
        }
        let most = if leaves == Leaves::Nothing { 0 } else { fuse };
        assert!(left <= most, "{name}: {left} elements are left after {fuse} points");
    }
}

#[test]
fn at_every_point() {
    let _turn = probe::turn();
    // the mean of a sum that overflows
    let large = Array2::from_shape_simple_fn((2, 3), || Owned::new(f64::MAX));
    assert!(large.mean_axes(1).unwrap().iter().all(|mean| (mean.value() / f64::MAX - 1.0).abs() < 1e-15));
    for (shape, f_order) in [((2, 3), false), ((2, 3), true), ((9, 2), false), ((2, 17), true)] {
        for form in forms_of_owned() {
            of_form(&form, shape, f_order, 1);
        }
        by_value(shape, f_order);
    }
    for form in base_operations_of_copied() {
        of_form(&form, (3, 3), false, 1);
    }
    let writes = |form: &Form<Copied>| !matches!(form.into, Destination::New | Destination::Filled);
    for form in forms_of_copied().into_iter().filter(writes) {
        of_form(&form, (2, 17), true, 1);
        if form.name.starts_with("Reduce::") && form.call.0 == "fused of two" {
            // some points of a nest with several blocks
            of_form(&form, (5, 700), true, 3001);
        }
    }
}

/// What the elements of outputs are before a call.
const START: f64 = 0.5;

/// A form of the table, over sets of axes, with a panic at each `step`-th point: each element of an output is as it was then, or has
/// its result.
fn of_form<T: Token>(form: &Form<Probe<T>>, shape: (usize, usize), f_order: bool, step: usize) {
    // variances of a closure's results compute these twice, the second time to a new array
    let has_elements = form.into == Destination::Filled || form.is("var_axes") || form.is("Totals::var");
    let leaves = if has_elements { Leaves::NewElements } else { Leaves::Nothing };
    // along the long axis of a long array, which has many points
    let sets: &[&[usize]] = match shape {
        (9, _) => &[&[0]],
        (_, 17) => &[&[1]],
        (5, _) => &[&[0], &[0, 1]],
        _ => &[&[], &[0], &[1], &[0, 1]],
    };
    for &axes in sets {
        let others: Vec<usize> = (0..2).rev().filter(|axis| !axes.contains(axis)).collect();
        let make = || {
            let arrays = [numbers::<T>(shape, f_order), numbers((1, shape.1), f_order)].map(Array::into_dyn);
            let call = Call::new(arrays[0].view(), arrays[1].view(), axes, &others);
            let out = form.out_shape(&call).unwrap_or_default();
            (arrays, ArrayD::from_shape_simple_fn(out, || Probe::new(START)))
        };
        let work = |([x, y], out): &mut ([ArrayD<_>; 2], ArrayD<_>)| {
            let call = Call::new(x.view(), y.view(), axes, &others);
            let _result = form.run(&call, &mut out.view_mut()).unwrap();
        };
        let mut arrays = make();
        work(&mut arrays);
        let (name, expected) = (format!("{form}, over {axes:?}"), arrays.1.map(Probe::value));
        points(&name, step, leaves, make, work, |(_, out)| {
            for (x, end) in out.iter().map(Probe::value).zip(&expected) {
                assert!(x == START || x.to_bits() == end.to_bits(), "{name}: {x} between {START} and {end}");
            }
        });
        if !form.name.starts_with("Reduce::") {
            return;
        }
    }
}

/// A product of random sides and layouts into an existing array, by one of the ways of the table in `kernel::product`, with a panic at
/// one of its points.
fn interrupted_product(random: &mut Random) {
    let layouts = [Lie::C, Lie::C, Lie::F, Lie::Turned, Lie::Rows, Lie::Second, Lie::Reversed, Lie::Repeated];
    let mut side = || random.pick(&[1, 1, 2, 2, 3, 4, 5, 7, 9, 17]);
    let (batch, rows, columns) = (side(), side(), side());
    let terms =
        random.pick(&[1, 2, 3, 5, 8, 31, 63, 64, 65, 130, 200, 1100]).min(4000 / (rows * columns) + 2);
    let (operation, is_par) = (random.below(4), random.one_in(2));
    let mut operand = |base: &[usize]| {
        let shape = [&[if random.one_in(3) { 1 } else { batch }], base].concat();
        let layout = random.pick(&layouts).layout(&shape[usize::from(random.one_in(4))..]);
        Strided::new(layout.for_copies(), |place| Copied::new(if place % 3 == 0 { 2.0 } else { 1.0 }))
    };
    let bases: [&[usize]; 3] = match operation {
        0 => [&[rows, terms], &[terms, columns], &[rows, columns]],
        1 => [&[rows, terms], &[terms], &[rows]],
        2 => [&[terms], &[terms, columns], &[columns]],
        _ => [&[terms], &[terms], &[]],
    };
    let (a, b) = (operand(bases[0]), operand(bases[1]));
    let layout = random.pick(&layouts[..7]).layout(&[&[batch], bases[2]].concat());
    let make = || Strided::new(layout.clone().for_copies(), |_| Copied::new(START));
    let (a, b) = (a.view(), b.view());
    let (a, b) = (a.batch_dyn(bases[0].len()).unwrap(), b.batch_dyn(bases[1].len()).unwrap());
    macro_rules! into {
        ($Op:ident, $out:expr) => {
            if is_par {
                a.par().apply_into(base_op::$Op, &b, $out)
            } else {
                a.apply_into(base_op::$Op, &b, $out)
            }
        };
    }
    let multiply = |out: &mut Strided<Copied>| {
        match operation {
            0 => into!(MatMul, &mut out.view_mut()),
            1 => into!(MatVec, &mut out.view_mut()),
            2 => into!(VecMat, &mut out.view_mut()),
            _ => into!(Inner, &mut out.view_mut()),
        }
        .unwrap();
    };
    let (mut out, mut end) = (make(), make());
    multiply(&mut end);
    let points = 2 * end.view().len() * terms;
    let fuse = random.below(points + 9);
    interrupted(fuse, || multiply(&mut out));
    for (x, end) in out.view().iter().map(Probe::value).zip(end.view().iter().map(Probe::value)) {
        let is_whole = [START, end].map(f64::to_bits).contains(&x.to_bits());
        assert!(is_whole, "{bases:?} {operation}: {x} between {START} and {end}");
    }
}

#[test]
fn products_leave_old_elements_and_results() {
    let _turn = probe::turn();
    for seed in common::sample(20, 0..20_000) {
        interrupted_product(&mut Random::new(seed));
    }
}

fn times(a: &Owned, b: &Owned) -> Owned {
    hooked(0.0, false);
    a.clone() * b.clone()
}

/// An array, a row, and an array to write.
type Arrays = (Array2<Owned>, Array2<Owned>, Array2<Owned>);

/// Calls with arrays by value, or with other types than those of the table.
fn by_value(shape: (usize, usize), f_order: bool) {
    let make = || (numbers(shape, f_order), numbers((1, shape.1), f_order), numbers(shape, false));
    let of = |name: &str, leaves, work: &dyn Fn(&mut Arrays)| points(name, 1, leaves, make, work, |_| ());
    let each = |name: &str, work: &dyn Fn(&mut Arrays)| of(name, Leaves::Nothing, work);
    let new = |name: &str, work: &dyn Fn(&mut Arrays)| of(name, Leaves::NewElements, work);
    each("a part of an array", &|(a, _, out)| a.add_sum_to(&mut out.slice_mut(s![.., 1..2])).unwrap());
    each("an array with its axes reversed", &|(a, ..)| drop(a.t().sum_axes([0, 1]).unwrap()));
    each("array by value", &|(a, ..)| drop(std::mem::take(a).into_sum_to(1).unwrap()));
    each("array by value, as it is", &|(a, ..)| {
        hooked(0.0, false);
        let shape = a.raw_dim();
        drop(std::mem::take(a).into_sum_to(shape).unwrap());
    });
    new("broadcast_map of one", &|(a, ..)| drop(broadcast_map(&*a, Owned::clone).unwrap()));
    new("broadcast_map of three", &|(a, row, out)| {
        drop(broadcast_map((&a.t(), &row.t(), &out.t()), |a, b, c| times(a, b) + c.clone()).unwrap());
    });
    each("into_broadcast_map", &|(a, row, _)| {
        drop(std::mem::take(a).into_broadcast_map(&*row, times));
    });
    new("into_broadcast_map of a smaller array", &|(a, row, _)| {
        drop(std::mem::take(row).into_broadcast_map(&*a, times));
    });
    new("into_broadcast_map of a smaller array and one by value", &|(a, row, _)| {
        drop(std::mem::take(row).into_broadcast_map(std::mem::take(a).into_shared(), times));
    });
    new("into_broadcast_map of a shared array", &|(a, row, _)| {
        let shared = std::mem::take(a).into_shared();
        drop(shared.clone().into_broadcast_map(&*row, times));
    });
    // a copy drops what it made
    each("try_materialize, transposed", &|(a, ..)| drop(a.t().try_materialize().unwrap()));
    each("materialize_into, transposed", &|(a, _, out)| a.materialize_into(&mut out.view_mut()).unwrap());
    each("Batch::zip_map", &|(a, ..)| drop(a.batch::<Ix1>().unwrap().zip_map((), a.ncols(), copy).unwrap()));
    each("Batch::sum_batch_to of a batch", &|(a, row, _)| {
        drop(a.batch::<Ix1>().unwrap().sum_batch_to(&row.batch::<Ix1>().unwrap()).unwrap());
    });
}

#[allow(clippy::needless_pass_by_value, reason = "as `Batch::map` calls it")]
fn copy(from: ArrayView1<'_, Owned>, mut to: ArrayViewMut1<'_, Owned>) {
    hooked(0.0, false);
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.clone());
}

/// The bits of each form's result, or nothing where there is an error.
fn results<T: Token>(forms: &[Form<Probe<T>>], shape: [usize; 3]) -> Vec<(String, Option<Vec<u64>>)> {
    let before = alive();
    let number = |i: usize| Probe::new(f64::from(u8::try_from(i % 5).unwrap()) - 2.0);
    let reversed = [shape[2], shape[1], shape[0]];
    let x = Array3::from_shape_fn(shape, |(i, j, k)| number(i + j * 7 + k)).into_dyn();
    let turned = Array3::from_shape_fn(reversed, |(k, j, i)| number(i + j * 7 + k)).into_dyn();
    let y = ArrayD::from_shape_fn(&[1, 1, shape[2]][..], |index| number(index[2]));
    let mut all = Vec::new();
    for form in forms {
        for (x, axes, others) in [(x.view(), [0, 2], [1]), (turned.t(), [0, 1], [2])] {
            let call = Call::new(x, y.view(), &axes, &others);
            let out = form.out_shape(&call).unwrap_or_default();
            let mut out = ArrayD::from_shape_simple_fn(out, || Probe::new(START));
            let new = form.run(&call, &mut out.view_mut());
            let bits = |array: ArrayD<Probe<T>>| array.iter().map(|x| x.value().to_bits()).collect();
            all.push((form.to_string(), new.ok().map(|new| bits(new.unwrap_or(out)))));
        }
    }
    drop((x, turned, y));
    assert_eq!(alive(), before, "elements are lost");
    all
}

/// Calls the crate from within one of its calls, on the thread of that call and on others: once in `N` operations.
fn call_again<const N: u64>(x: f64, _: bool) -> f64 {
    thread_local! {
        static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    }
    static CALLS: AtomicU64 = AtomicU64::new(0);
    if IS_INSIDE.get() || !CALLS.fetch_add(1, Relaxed).is_multiple_of(N) {
        return x;
    }
    IS_INSIDE.set(true);
    let (a, row) = (Array2::from_elem((9, 40), Copied::new(1.0)), Array1::from_elem(40, 2_i64));
    let sums = Array1::from_elem(9, Copied::new(40.0));
    assert_eq!(a.sum_axes(1), Ok(sums.clone()));
    assert_eq!(a.par().sum_axes(1), Ok(sums.clone()));
    assert_eq!(fused((&a, &row), |&a, _| a).par().sum_axes(1), Ok(sums));
    assert_eq!(broadcast_map((&a, &row).par(), |&a, _| a), Ok(a.clone()));
    let (x2, y2) = (a.batch::<Ix2>().unwrap(), a.t());
    let product = x2.par().matmul(&y2.batch::<Ix2>().unwrap());
    assert_eq!(product, Ok(Array2::from_elem((9, 9), Copied::new(40.0))));
    // large enough for several threads
    if CALLS.load(Relaxed) < 1000 {
        let long = Array1::from_elem(1 << 19, 1_i32);
        assert_eq!(long.par().sum_axes(..).map(|sum| sum[()]), Ok(1 << 19));
    }
    IS_INSIDE.set(false);
    x
}

#[test]
fn operations_that_call_the_crate() {
    let _turn = probe::turn();
    let again = if common::is_thorough() { call_again::<41> } else { call_again::<401> };
    let copied: Vec<_> = forms_of_copied().into_iter().chain(base_operations_of_copied()).collect();
    let (shape, owned) = ([2, 9, 3], forms_of_owned());
    assert_eq!(with_hook(again, || results(&copied, shape)), with_hook(honest, || results(&copied, shape)));
    assert_eq!(with_hook(again, || results(&owned, shape)), with_hook(honest, || results(&owned, shape)));
    // large enough for several threads, where there are any
    if !cfg!(feature = "rayon") {
        return;
    }
    let is_tried = |form: &Form<Copied>| {
        form.is_par
            && (["broadcast_map", "Batch::zip_map"].contains(&form.name)
                || form.name == "Reduce::max_axes" && form.call.0 == "fused of two")
    };
    let (forms, shape): (Vec<_>, _) =
        (forms_of_copied().into_iter().filter(is_tried).collect(), [64, 128, 64]);
    let expected = with_hook(honest, || results(&forms, shape));
    assert_eq!(with_hook(call_again::<20_011>, || results(&forms, shape)), expected);
}

fn assert_lies_do_no_harm<T: Token>(forms: &[Form<Probe<T>>], shape: [usize; 3]) {
    let expected = results(forms, shape);
    let found = with_hook(lie, || results(forms, shape));
    for ((name, expected), (_, found)) in expected.iter().zip(&found) {
        // means and variances may be refused: two are zero, or 1/2 is
        let is_result = found.as_ref().map(Vec::len) == expected.as_ref().map(Vec::len);
        let may_fail = ["mean", "var"].iter().any(|word| name.contains(word));
        assert!(is_result || may_fail && found.is_none(), "{name} of {shape:?}");
    }
}

#[test]
fn operations_that_lie() {
    let _turn = probe::turn();
    let copied: Vec<_> = forms_of_copied().into_iter().chain(base_operations_of_copied()).collect();
    for shape in common::sample(2, [[2, 9, 3], [3, 40, 33], [17, 5, 8]]) {
        assert_lies_do_no_harm(&copied, shape);
    }
    for shape in [[2, 17, 1], [9, 1, 2]] {
        assert_lies_do_no_harm(&forms_of_owned(), shape);
    }
}
