//! Folds of adjacent elements: rows to a row, and lanes to numbers.

#![forbid(unsafe_code)]

use super::block::AT_ONCE;
use crate::kernel::memory::Room;
use crate::kernel::operation::Operation;
use crate::kernel::simd::{Work, dispatch};

/// Rows of fewer elements hold several steps when they are added. Measured on Zen 4 with f32 and f64: 16 to 64 take about as
/// long.
const NARROW: usize = 32;
/// Lanes of fewer elements are reduced side by side. Measured as for `NARROW`.
const SHORT_LANE: usize = 16;
/// How many rounds of a lane's accumulators are added before these are combined with those of the rounds before.
const ROUNDS: usize = 16;

/// Appends the results of a dense block to `to`. A side is a length, and whether results are kept along it; neighbours
/// differ.
pub(super) fn fold<A: Clone, O: Operation<A>>(
    op: O,
    sides: &[(usize, bool)],
    elements: &[A],
    to: &mut Room<A>,
) {
    match *sides {
        [] | [(_, true)] => to.extend(elements),
        [(len, false)] => lanes(op, elements, len, to),
        [(_, true), (len, false)] => lanes(op, elements, len, to),
        [(rows, false), ref inner @ ..] => {
            let width = elements.len() / rows;
            let mut sums = Room::new();
            if width < NARROW && rows >= 2 * AT_ONCE {
                // rows that hold several steps, and then those
                let steps = rows / AT_ONCE;
                fold_rows(op, elements, steps * width, &mut sums);
                let mut sides = [(0, false); crate::kernel::nest::LOOPS];
                let sides = &mut sides[..=inner.len()];
                sides[1..].copy_from_slice(inner);
                sides[0] = (steps, false);
                fold(op, sides, &sums, to);
            } else {
                fold_rows(op, elements, width, &mut sums);
                fold(op, inner, &sums, to);
            }
        }
        [(len, true), ref inner @ ..] => {
            for part in elements.chunks(elements.len() / len) {
                fold(op, inner, part, to);
            }
        }
    }
}

/// The sum of rows of `width` elements; the last one may be shorter.
fn fold_rows<A: Clone, O: Operation<A>>(op: O, elements: &[A], width: usize, to: &mut Room<A>) {
    let (first, rest) = elements.split_at(width);
    to.extend(first);
    for rows in rest.chunks(AT_ONCE * width) {
        let (mut group, mut count) = ([&[][..]; AT_ONCE], 0);
        for row in rows.chunks(width) {
            group[count] = row;
            count += 1;
        }
        add_rows(op, to, &group[..count]);
    }
}

/// Adds up to [`AT_ONCE`] rows to the accumulators. No row is longer than these, nor than the one before.
pub(super) fn add_rows<A: Clone, O: Operation<A>>(op: O, accumulators: &mut [A], rows: &[&[A]]) {
    dispatch(AddRows { op, accumulators, rows });
}

struct AddRows<'r, A, O> {
    op: O,
    accumulators: &'r mut [A],
    rows: &'r [&'r [A]],
}

impl<A: Clone, O: Operation<A>> Work for AddRows<'_, A, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { op, accumulators, mut rows } = self;
        let len = accumulators.len();
        if let [a, b, c, d, e, f, g, h] = *rows {
            if h.len() == len {
                return eight(op, accumulators, a, b, c, d, e, f, g, h);
            }
        }
        while let [a, b, c, d, rest @ ..] = rows {
            if d.len() < len {
                break;
            }
            four(op, accumulators, a, b, c, d);
            rows = rest;
        }
        for row in rows {
            one(op, accumulators, row);
        }
    }
}

// Slices as parameters: LLVM knows that they do not alias, and vectorises.
#[inline(always)]
#[allow(clippy::too_many_arguments, clippy::many_single_char_names, reason = "see above")]
fn eight<A: Clone, O: Operation<A>>(
    op: O,
    out: &mut [A],
    a: &[A],
    b: &[A],
    c: &[A],
    d: &[A],
    e: &[A],
    f: &[A],
    g: &[A],
    h: &[A],
) {
    let n = out.len();
    let (a, b, c, d, e, f, g, h) = (&a[..n], &b[..n], &c[..n], &d[..n], &e[..n], &f[..n], &g[..n], &h[..n]);
    let pair = |a: &A, b: &A| op.apply(a.clone(), b.clone());
    for i in 0..n {
        let low = op.apply(pair(&a[i], &b[i]), pair(&c[i], &d[i]));
        let high = op.apply(pair(&e[i], &f[i]), pair(&g[i], &h[i]));
        out[i] = op.apply(out[i].clone(), op.apply(low, high));
    }
}

#[inline(always)]
#[allow(clippy::many_single_char_names, reason = "as `eight`")]
fn four<A: Clone, O: Operation<A>>(op: O, out: &mut [A], a: &[A], b: &[A], c: &[A], d: &[A]) {
    let n = out.len();
    let (a, b, c, d) = (&a[..n], &b[..n], &c[..n], &d[..n]);
    let pair = |a: &A, b: &A| op.apply(a.clone(), b.clone());
    for i in 0..n {
        out[i] = op.apply(out[i].clone(), op.apply(pair(&a[i], &b[i]), pair(&c[i], &d[i])));
    }
}

#[inline(always)]
fn one<A: Clone, O: Operation<A>>(op: O, out: &mut [A], a: &[A]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = op.apply(out.clone(), a.clone());
    }
}

/// Appends the results of lanes of `len` elements.
fn lanes<A: Clone, O: Operation<A>>(op: O, elements: &[A], len: usize, to: &mut Room<A>) {
    dispatch(Lanes { op, elements, len, to });
}

/// The result of one lane.
pub(crate) fn sum_of_lane<A: Clone, O: Operation<A>>(op: O, elements: &[A]) -> A {
    struct Lane<'r, A, O>(O, &'r [A]);
    impl<A: Clone, O: Operation<A>> Work for Lane<'_, A, O> {
        type Output = A;

        #[inline(always)]
        fn run(self) -> A {
            any_lane(self.0, self.1)
        }
    }
    dispatch(Lane(op, elements))
}

#[inline(always)]
fn any_lane<A: Clone, O: Operation<A>>(op: O, elements: &[A]) -> A {
    if const { size_of::<A>() <= 4 } { lane::<A, O, 64>(op, elements) } else { lane::<A, O, 32>(op, elements) }
}

struct Lanes<'r, A, O> {
    op: O,
    elements: &'r [A],
    len: usize,
    to: &'r mut Room<A>,
}

impl<A: Clone, O: Operation<A>> Work for Lanes<'_, A, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { op, mut elements, len, to } = self;
        if len < SHORT_LANE {
            while elements.len() >= AT_ONCE * len {
                let (lanes, rest) = elements.split_at(AT_ONCE * len);
                let mut sums: [A; AT_ONCE] = core::array::from_fn(|lane| lanes[lane * len].clone());
                for i in 1..len {
                    for lane in 0..AT_ONCE {
                        sums[lane] = op.apply(sums[lane].clone(), lanes[lane * len + i].clone());
                    }
                }
                to.extend(&sums);
                elements = rest;
            }
        }
        for elements in elements.chunks(len) {
            to.extend(&[any_lane(op, elements)]);
        }
    }
}

/// Reduces a lane with `N` accumulators, if it is so long.
#[inline(always)]
fn lane<A: Clone, O: Operation<A>, const N: usize>(op: O, elements: &[A]) -> A {
    let Some((first, mut rest)) = elements.split_first_chunk::<N>() else { return short(op, elements) };
    let mut sums = first.clone();
    rest = add_rounds(op, &mut sums, rest, ROUNDS - 1);
    while let Some((first, after)) = rest.split_first_chunk::<N>() {
        let mut more = first.clone();
        rest = add_rounds(op, &mut more, after, ROUNDS - 1);
        for i in 0..N {
            sums[i] = op.apply(sums[i].clone(), more[i].clone());
        }
    }
    let mut width = N;
    while width > AT_ONCE {
        width /= 2;
        for i in 0..width {
            sums[i] = op.apply(sums[i].clone(), sums[i + width].clone());
        }
    }
    let mut eight: [A; AT_ONCE] = core::array::from_fn(|i| sums[i].clone());
    rest = add_rounds(op, &mut eight, rest, usize::MAX);
    one_by_one(op, halved(op, eight), rest)
}

/// Adds up to `rounds` chunks to the accumulators. Returns what is left.
#[inline(always)]
fn add_rounds<'r, A: Clone, O: Operation<A>, const N: usize>(
    op: O,
    sums: &mut [A; N],
    mut rest: &'r [A],
    rounds: usize,
) -> &'r [A] {
    for _ in 0..rounds {
        let Some((chunk, after)) = rest.split_first_chunk::<N>() else { break };
        for i in 0..N {
            sums[i] = op.apply(sums[i].clone(), chunk[i].clone());
        }
        rest = after;
    }
    rest
}

/// Reduces a lane of a few elements.
#[inline(always)]
fn short<A: Clone, O: Operation<A>>(op: O, elements: &[A]) -> A {
    match elements.split_first_chunk::<AT_ONCE>() {
        Some((first, rest)) => {
            let mut sums = first.clone();
            let rest = add_rounds(op, &mut sums, rest, usize::MAX);
            one_by_one(op, halved(op, sums), rest)
        }
        None => one_by_one(op, elements[0].clone(), &elements[1..]),
    }
}

#[inline(always)]
fn halved<A: Clone, O: Operation<A>>(op: O, [a, b, c, d, e, f, g, h]: [A; AT_ONCE]) -> A {
    let (a, b, c, d) = (op.apply(a, e), op.apply(b, f), op.apply(c, g), op.apply(d, h));
    op.apply(op.apply(a, c), op.apply(b, d))
}

#[inline(always)]
fn one_by_one<A: Clone, O: Operation<A>>(op: O, mut sum: A, rest: &[A]) -> A {
    for element in rest {
        sum = op.apply(sum, element.clone());
    }
    sum
}
