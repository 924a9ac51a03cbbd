//! The fused passes: each closure is called once for each element, or at least once by a sum, with the right elements.

use crate::check::{Verdict, agreed, assert_array, stretches};
use crate::input::Faults;
use crate::numbers::{Counted, Number, balanced, change, tick, unwinding};
use crate::ranks::ranked;
use common::{Bytes, Choices, Layout, Strided, aligned_right, joint, scrambled, spread, sums};
use ndarray::{Array, ArrayD};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused};
use std::cell::Cell;

pub fn run(data: &[u8]) {
    let mut input = Bytes::new(data);
    match input.below(8) {
        0 | 1 => pair(&mut input),
        2..5 => several(&mut input),
        5 => balanced(|| mixed(&mut input)),
        6 => panicking(&mut input),
        _ => large(&mut input),
    }
}

fn value(place: usize) -> i64 {
    scrambled(place as i64)
}

/// Arrays that may go together, of the numbers of one type, and their joint shape.
fn family<A: Number>(input: &mut Bytes<'_>, count: usize, room: usize) -> Vec<Strided<A>> {
    let whole = input.small_shape(5, room);
    (0..count)
        .map(|_| {
            let shape = input.operand(&whole);
            Strided::new(Layout::to_read(input, &shape), |place| A::of(value(place)))
        })
        .collect()
}

fn shapes<A>(arrays: &[Strided<A>]) -> Vec<&[usize]> {
    arrays.iter().map(Strided::shape).collect()
}

/// What each operand has at each index of a shape that it goes to, in row-major order.
fn stretched<A>(arrays: &[Strided<A>], shape: &[usize]) -> Vec<Vec<i64>> {
    let one = |array: &Strided<A>| {
        let own: Vec<i64> = array.layout.places().into_iter().map(value).collect();
        spread(&own, array.shape(), shape, &aligned_right(array.ndim(), shape.len()))
    };
    let columns: Vec<Vec<i64>> = arrays.iter().map(one).collect();
    let len = shape.iter().product();
    (0..len).map(|i| columns.iter().map(|column| column[i]).collect()).collect()
}

/// A number that tells which elements were read.
#[inline(never)]
fn mix(elements: &[i64]) -> i64 {
    elements.iter().zip([1, -3, 7, 11, -13, 17]).map(|(element, factor)| element * factor).sum()
}

/// The result of a map: the joint shape, and what is made of the elements there.
fn mapped<A>(arrays: &[Strided<A>]) -> Verdict<(Vec<usize>, Vec<i64>)> {
    let joint = joint(&shapes(arrays))?;
    let made = stretched(arrays, &joint).iter().map(|elements| mix(elements)).collect();
    Ok((joint, made))
}

/// The sums of it to a target.
fn summed(map: &Verdict<(Vec<usize>, Vec<i64>)>, target: &[i64]) -> Verdict<(Vec<usize>, Vec<i64>)> {
    let (joint, made) = map.as_ref().map_err(|name| *name)?;
    let sizes: Result<Vec<usize>, _> = target.iter().map(|&size| usize::try_from(size)).collect();
    let sizes = sizes.map_err(|_| "InvalidSize")?;
    if sizes.len() > joint.len() {
        return Err("TooManyAxes");
    }
    let places = aligned_right(sizes.len(), joint.len());
    if !stretches(&sizes, &places, joint) {
        return Err("Incompatible");
    }
    let sums = sums(joint, made.iter().copied(), &sizes, &places);
    Ok((sizes, sums))
}

/// What is made of the elements at each index of an output, or the error of operands that do not go there.
fn onto<A>(arrays: &[Strided<A>], out: &[usize]) -> Verdict<Vec<i64>> {
    if arrays.iter().any(|array| array.ndim() > out.len()) {
        return Err("TooFewAxes");
    }
    let goes = |array: &Strided<A>| {
        let places = aligned_right(array.ndim(), out.len());
        array.shape().iter().zip(places).all(|(&own, axis)| own == 1 || own == out[axis])
    };
    if !arrays.iter().all(goes) {
        return Err("Incompatible");
    }
    Ok(stretched(arrays, out).iter().map(|elements| mix(elements)).collect())
}

fn numbers<A: Number>(numbers: &[i64]) -> Vec<A> {
    numbers.iter().map(|&number| A::of(number)).collect()
}

/// A target to sum to.
fn target_of(input: &mut Bytes<'_>, map: &Verdict<(Vec<usize>, Vec<i64>)>) -> Vec<i64> {
    let joint = map.as_ref().map_or(vec![2, 3], |map| map.0.clone());
    let mut target: Vec<i64> = input.operand(&joint).iter().map(|&size| size as i64).collect();
    if input.one_in(10) {
        target.insert(0, input.pick(&[1, 2, -1, i64::MIN]));
    }
    target
}

/// An output that operands go to, mostly.
fn output_of<A: Number>(input: &mut Bytes<'_>, map: &Verdict<(Vec<usize>, Vec<i64>)>) -> Strided<A> {
    let mut shape = map.as_ref().map_or(vec![2, 3], |map| map.0.clone());
    match input.below(8) {
        5 => shape.insert(0, 1 + input.below(2)),
        6 if !shape.is_empty() => drop(shape.remove(0)),
        7 if !shape.is_empty() => shape[0] = input.size(),
        _ => {}
    }
    Strided::new(Layout::to_write(input, &shape), |place| A::of(place as i64 % 50))
}

/// All operations on `$arrays`, which are as many as the names.
macro_rules! all {
    ($input:expr, $arrays:expr, $($x:ident)+) => {{
        let (input, arrays) = ($input, $arrays);
        let [$($x),+] = &arrays[..] else { unreachable!() };
        let map = mapped(arrays);
        let target = target_of(input, &map);
        let out = output_of::<i64>(input, &map);
        let calls = Cell::new(0);
        let f = |$($x: &i64),+| { calls.set(calls.get() + 1); mix(&[$(*$x),+]) };
        let made = broadcast_map(($(&$x.view(),)+), f);
        if let Some((made, (shape, expected))) = agreed(made, &map) {
            assert_array(&made, shape, expected);
            assert_eq!(calls.get(), expected.len());
        }
        calls.set(0);
        let made = fused(($($x.view(),)+), f).sum_to(&target);
        if let Some((made, (shape, expected))) = agreed(made, &summed(&map, &target)) {
            assert_array(&made, shape, expected);
            let least = map.as_ref().map_or(0, |map| map.1.len());
            assert!(calls.get() >= least && (calls.get() == 0) == (least == 0));
        }
        calls.set(0);
        let mut once = out.clone();
        let result = broadcast_apply(&mut once.view_mut(), ($(&$x.view(),)+), |out: &mut i64, $($x: &i64),+| {
            *out = *out * 3 + f($($x),+);
        });
        match agreed(result, &onto(arrays, out.shape())) {
            Some(((), made)) => {
                assert_eq!(calls.get(), made.len());
                out.assert_became(&once, out.elements().zip(made).map(|(old, made)| old * 3 + made));
            }
            None => out.assert_became(&once, out.elements().copied()),
        }
    }};
}

fn pair(input: &mut Bytes<'_>) {
    let arrays = family::<f32>(input, 2, 4096);
    two(input, &arrays);
}

/// Maps and sums of two arrays, and of three, in these layouts.
pub(crate) fn laid_out(input: &mut Bytes<'_>, layouts: &[Layout]) {
    fn arrays<A: Number>(layouts: &[Layout]) -> Vec<Strided<A>> {
        layouts.iter().map(|layout| Strided::new(layout.clone(), |place| A::of(value(place)))).collect()
    }
    match layouts.len() {
        1 => all!(input, &arrays::<i64>(layouts), a),
        2 => two(input, &arrays(layouts)),
        3 if input.one_in(3) => shared(input, &arrays(layouts)),
        _ => all!(input, &arrays::<i64>(layouts), a b c),
    }
}

fn two(input: &mut Bytes<'_>, arrays: &[Strided<f32>]) {
    let fixed = input.one_in(2);
    let map = mapped(arrays);
    let target = target_of(input, &map);
    let out = output_of::<f32>(input, &map);
    let sum = summed(&map, &target);
    let apply = onto(arrays, out.shape());
    let several = input.one_in(3);
    let f = |a: &f32, b: &f32| *a - 3.0 * *b;
    let [a, b] = arrays else { unreachable!() };
    let fixed = fixed && (a.ndim(), b.ndim()) == (2, 1);
    ranked!(a.view(), fixed, [2 Ix2], x => {
        let y = b.view();
        let result = if several { broadcast_map((&x, &y).par(), f) } else { broadcast_map((&x, &y), f) };
        if let Some((made, (shape, expected))) = agreed(result, &map) {
            assert_array(&made, shape, &numbers::<f32>(expected));
        }
        let result = fused((&x, &y), f).sum_to(&target);
        if let Some((made, (shape, expected))) = agreed(result, &sum) {
            assert_array(&made, shape, &numbers::<f32>(expected));
        }
    });
    let mut after = out.clone();
    let result = ranked!(after.view_mut(), fixed, [2 Ix2], after => {
        let (mut after, x, y) = (after, a.view(), b.view());
        let g = |out: &mut f32, a: &f32, b: &f32| *out = *out * 2.0 + f(a, b);
        if several { broadcast_apply(&mut after, (x, y).par(), g) } else { broadcast_apply(&mut after, (x, y), g) }
    });
    match agreed(result, &apply) {
        Some(((), made)) => {
            let became = out.elements().zip(made).map(|(old, made)| old * 2.0 + *made as f32);
            out.assert_became(&after, became);
        }
        None => out.assert_became(&after, out.elements().copied()),
    }
}

/// The same of three operands on several threads as on one.
fn shared(input: &mut Bytes<'_>, arrays: &[Strided<i64>]) {
    let [a, b, c] = arrays else { unreachable!() };
    let out = output_of::<i64>(input, &mapped(arrays));
    let f = |a: &i64, b: &i64, c: &i64| mix(&[*a, *b, *c]);
    let one: Result<ArrayD<i64>, _> = broadcast_map((a.view(), b.view(), c.view()), f);
    let several = broadcast_map((a.view(), b.view(), c.view()).par(), f);
    assert_eq!(one, several);
    if let (Ok(one), Ok(several)) = (one, several) {
        assert_eq!(one.strides(), several.strides());
    }
    let g = |out: &mut i64, a: &i64, b: &i64, c: &i64| *out += f(a, b, c);
    let (mut one, mut several) = (out.clone(), out);
    let result = broadcast_apply(&mut one.view_mut(), (a.view(), b.view(), c.view()), g);
    assert_eq!(result, broadcast_apply(&mut several.view_mut(), (a.view(), b.view(), c.view()).par(), g));
    assert_eq!(one.cells, several.cells);
}

fn several(input: &mut Bytes<'_>) {
    let count = 1 + input.below(6);
    let arrays = &family::<i64>(input, count, 1500);
    match count {
        1 => {
            all!(input, arrays, a);
            // one operand without a tuple
            let a = arrays[0].view();
            let alone: Array<i64, _> = broadcast_map(&a, |a| *a).expect("one operand");
            assert_eq!(alone, a);
            let total: ndarray::Array0<i64> = fused(a.view(), |a| *a).sum_to(()).expect("one operand");
            assert_eq!(total.into_scalar(), a.sum());
        }
        2 => pair(input),
        3 if input.one_in(3) => shared(input, arrays),
        3 => all!(input, arrays, a b c),
        4 => all!(input, arrays, a b c d),
        5 => all!(input, arrays, a b c d e),
        _ => all!(input, arrays, a b c d e g),
    }
}

/// Operands of several types, and results that have a `Drop`.
fn mixed(input: &mut Bytes<'_>) {
    let whole = input.small_shape(4, 400);
    let shapes: [Vec<usize>; 3] = std::array::from_fn(|_| input.operand(&whole));
    let bytes = Strided::new(Layout::to_read(input, &shapes[0]), |place| place as u8);
    let texts = Strided::new(Layout::to_read(input, &shapes[1]), |place| place.to_string());
    let counted = Strided::new(Layout::to_read(input, &shapes[2]), |place| Counted::of(place as i64));
    let expected = joint(&shapes).map(|joint| {
        let places = |layout: &Layout| {
            spread(&layout.places(), &layout.shape, &joint, &aligned_right(layout.shape.len(), joint.len()))
        };
        let (a, b, c) = (places(&bytes.layout), places(&texts.layout), places(&counted.layout));
        let words: Vec<String> =
            a.iter().zip(&b).zip(&c).map(|((a, b), c)| format!("{} {b} {c}", *a as u8)).collect();
        (joint, words)
    });
    let words =
        broadcast_map((&bytes.view(), texts.view(), &counted.view()), |a: &u8, b: &String, c: &Counted| {
            format!("{a} {b} {}", c.number())
        });
    if let Some((mut words, (shape, expected))) = agreed(words, &expected) {
        assert_array(&words, shape, expected);
        let result =
            broadcast_apply(&mut words, texts.view(), |word: &mut String, text: &String| word.push_str(text));
        assert_eq!(result, Ok(()));
        assert!(words.iter().zip(expected).all(|(word, before)| word.starts_with(before.as_str())));
    }
    let total =
        fused((counted.view(), bytes.view()), |a: &Counted, b: &u8| Counted::of(a.number() + i64::from(*b)))
            .sum_to(());
    if let (Ok(total), Ok(pairs)) = (
        total,
        broadcast_map((counted.view(), bytes.view()), |a: &Counted, b: &u8| a.number() + i64::from(*b)),
    ) {
        assert_eq!(total.into_scalar().number(), pairs.sum());
    }
}

/// A closure that panics: nothing is dropped twice, and nothing of what was there before is lost.
fn panicking(input: &mut Bytes<'_>) {
    let arrays = family::<i64>(input, 2, 100);
    let [a, b] = &arrays[..] else { unreachable!() };
    let (count, target) = (input.below(100), target_of(input, &mapped(&arrays)));
    let f = |a: &i64, b: &i64| {
        tick();
        Counted::of(a + b)
    };
    let mut unwound = false;
    let forgotten = change(|| {
        unwound = unwinding(count, || drop(broadcast_map((a.view(), b.view()), f)));
    });
    // results that were made already are forgotten
    assert_eq!(forgotten, if unwound { count as i64 } else { 0 });
    let forgotten = change(|| _ = unwinding(count, || drop(fused((a.view(), b.view()), f).sum_to(&target))));
    assert!((0..=count as i64).contains(&forgotten));
    balanced(|| {
        let mut out = output_of::<Counted>(input, &mapped(&arrays));
        unwinding(count, || {
            drop(broadcast_apply(&mut out.view_mut(), a.view(), |out: &mut Counted, a: &i64| *out = f(a, a)))
        });
        assert!(out.elements().all(|element| element.number() < i64::MAX));
    });
}

/// Operands of few elements with a joint shape that is large enough for several threads.
fn large(input: &mut Bytes<'_>) {
    if !input.one_in(24) {
        return several(input);
    }
    let (rows, columns) = ((1 << 19) / 300 + input.below(20), 300 + input.below(20));
    let column = Strided::new(Layout::to_read(input, &[rows, 1]), |place| place as f32);
    let row = Strided::new(Layout::to_read(input, &[columns]), |place| (place % 64) as f32);
    let f = |a: &f32, b: &f32| a - b;
    let (one, several) =
        (broadcast_map((column.view(), row.view()), f), broadcast_map((column.view(), row.view()).par(), f));
    let (one, mut several) = (one.expect("they go together"), several.expect("they go together"));
    assert_eq!(one, several);
    let at = [rows / 2, columns - 1];
    assert_eq!(one[&at[..]], column.at(&[at[0], 0]) - row.at(&[at[1]]));
    broadcast_apply(&mut several, (column.view(), row.view()).par(), |out, a, b| *out -= f(a, b))
        .expect("they go there");
    assert!(several.iter().all(|&difference| difference == 0.0));
}
