//! Folds of adjacent elements: rows to a row, and lanes to numbers.

#![forbid(unsafe_code)]

use super::block::AT_ONCE;
use crate::kernel::memory::{BUFFER, FoldLane, Memory, Room};
use crate::kernel::operation::{Called, Operation};
use crate::kernel::simd::{Work, dispatch, dispatch_or};

/// From so many elements on, rows of up to a sixteenth are joined to rows of an eighth. Measured on Zen 4 with f32 and f64:
/// 1024 to 8192 take about as long.
pub(super) const WIDE: usize = 4096;
/// The accumulators of a few narrow rows: a multiple of most widths, and few enough for registers.
const ACCUMULATORS: usize = 24;
/// Lanes of fewer elements are reduced side by side. Measured as for `WIDE`: 8 to 24.
pub(super) const SHORT_LANE: usize = 16;
/// The accumulators of a lane of few [`Loops`].
const FEW_SUMS: usize = 32;
/// How many rounds of a lane's accumulators are added before these are combined with those of the rounds before.
const ROUNDS: usize = 16;
/// Longer lanes are several, whose results are a lane: so the error stays small.
const LONG: usize = 1 << 13;

/// Whole loops over adjacent elements, compiled for a type of elements and an operation.
pub(crate) trait Fold<A> {
    /// Adds up to [`AT_ONCE`] rows to the accumulators. No row is longer than these.
    fn add_rows(&self, sums: &mut [A], rows: &[&[A]]);

    /// Appends the results of lanes of `len` elements.
    fn lanes(&self, elements: &[A], len: usize, to: &mut Room<'_, A>);

    /// Appends the results of groups of `rows` rows of `width` elements, a divisor of [`ACCUMULATORS`].
    fn narrow(&self, elements: &[A], rows: usize, width: usize, to: &mut Room<'_, A>);
}

/// Room for the results of a block: at most as many as its elements.
pub(super) type Results = Memory<{ BUFFER / 2 / 64 }>;

/// Appends the results of a dense block to `to`. A side is a length, and whether results are kept along it; neighbours
/// differ.
pub(super) fn fold<A: Clone>(
    op: &dyn Fold<A>,
    sides: &[(usize, bool)],
    elements: &[A],
    to: &mut Room<'_, A>,
) {
    match *sides {
        [] | [(_, true)] => to.extend(elements),
        [(len, false)] | [(_, true), (len, false)] if len > LONG => long_lanes(op, elements, len, to),
        [(len, false)] | [(_, true), (len, false)] => op.lanes(elements, len, to),
        [(rows, false), (width, true)] | [(_, true), (rows, false), (width, true)]
            if ACCUMULATORS.is_multiple_of(width) && rows * width < WIDE =>
        {
            op.narrow(elements, rows, width, to);
        }
        [(_, false), (width, true)] if elements.len() < WIDE || WIDE / AT_ONCE / width < 2 => {
            fold_rows(op, elements, width, to);
        }
        [(rows, false), ref inner @ ..] => fold_in_steps(op, elements, rows, inner, to),
        [(len, true), ref inner @ ..] => {
            for part in elements.chunks(elements.len() / len) {
                fold(op, inner, part, to);
            }
        }
    }
}

#[inline(never)]
fn long_lanes<A: Clone>(op: &dyn Fold<A>, elements: &[A], len: usize, to: &mut Room<'_, A>) {
    for lane in elements.chunks(len) {
        let mut memory = Results::new();
        let mut sums = memory.room(lane.len().div_ceil(LONG));
        for part in lane.chunks(LONG) {
            op.lanes(part, part.len(), &mut sums);
        }
        op.lanes(&sums, sums.len(), to);
    }
}

/// Folds rows that hold several steps, and then those; or rows, and then the lanes in them.
#[inline(never)]
fn fold_in_steps<A: Clone>(
    op: &dyn Fold<A>,
    elements: &[A],
    rows: usize,
    inner: &[(usize, bool)],
    to: &mut Room<'_, A>,
) {
    let width = elements.len() / rows;
    let steps = WIDE / AT_ONCE / width;
    let (mut memory, is_wide) = (Results::new(), steps > 1 && elements.len() >= WIDE);
    let mut sums = memory.room(if is_wide { steps * width } else { width });
    if !is_wide {
        fold_rows(op, elements, width, &mut sums);
        return fold(op, inner, &sums, to);
    }
    fold_rows(op, elements, steps * width, &mut sums);
    let mut sides = [(0, false); crate::kernel::nest::LOOPS];
    let sides = &mut sides[..=inner.len()];
    sides[1..].copy_from_slice(inner);
    sides[0] = (steps, false);
    fold(op, sides, &sums, to);
}

/// Appends the sum of rows of `width` elements.
fn fold_rows<A: Clone>(op: &dyn Fold<A>, elements: &[A], width: usize, to: &mut Room<'_, A>) {
    let ((first, rest), start) = (elements.split_at(width), to.len());
    to.extend(first);
    for_each_group(rest, width, |rows| op.add_rows(&mut to[start..], rows));
}

/// Calls `then` with groups of up to [`AT_ONCE`] rows of `width` elements.
#[inline]
pub(super) fn for_each_group<A>(elements: &[A], width: usize, mut then: impl FnMut(&[&[A]])) {
    for rows in elements.chunks(AT_ONCE * width) {
        let (mut group, mut count) = ([&[][..]; AT_ONCE], 0);
        for row in rows.chunks(width) {
            group[count] = row;
            count += 1;
        }
        then(&group[..count]);
    }
}

/// The loops of an operation. `FEW` of them take less time to compile: a program compiles these where a type may have loops
/// that are compiled already. Where the CPU is asked and has no AVX2, loops that are not compiled in this crate call the operation
/// for each pair, in the same order.
pub(crate) struct Loops<O, const FEW: bool>(pub(crate) O);

impl<A: Clone, O: Operation<A>, const FEW: bool> Fold<A> for Loops<O, FEW> {
    fn add_rows(&self, accumulators: &mut [A], rows: &[&[A]]) {
        let work = AddRows::<_, _, FEW> { op: self.0, accumulators, rows };
        if const { !FEW && O::IS_PLUS } {
            return dispatch(work);
        }
        dispatch_or(work, |AddRows { op, accumulators, rows }| {
            AddRows::<_, _, FEW> { op: Called(op), accumulators, rows }.run();
        });
    }

    fn lanes(&self, elements: &[A], len: usize, to: &mut Room<'_, A>) {
        let work = Lanes::<_, _, FEW> { op: self.0, elements, len, to };
        if const { !FEW && O::IS_PLUS } {
            return dispatch(work);
        }
        dispatch_or(work, |Lanes { op, elements, len, to }| {
            Lanes::<_, _, FEW> { op: Called(op), elements, len, to }.run();
        });
    }

    fn narrow(&self, elements: &[A], rows: usize, width: usize, to: &mut Room<'_, A>) {
        if const { FEW } {
            for group in elements.chunks(rows * width) {
                let ((first, rest), start) = (group.split_at(width), to.len());
                to.extend(first);
                rest.chunks(width).for_each(|row| self.add_rows(&mut to[start..], &[row]));
            }
            return;
        }
        let work = NarrowRows { op: self.0, elements, rows, width, to };
        if const { !FEW && O::IS_PLUS } {
            return dispatch(work);
        }
        dispatch_or(work, |NarrowRows { op, elements, rows, width, to }| {
            NarrowRows { op: Called(op), elements, rows, width, to }.run();
        });
    }
}

struct FewLane<O>(O);

impl<A: Clone, O: Operation<A>> FoldLane<A> for FewLane<O> {
    #[inline(always)]
    fn fold(&self, lane: &[A]) -> A {
        let (op, mut total) = (self.0, None);
        for part in lane.chunks(ROUNDS * FEW_SUMS) {
            let sum = match part.split_first_chunk::<FEW_SUMS>() {
                Some((first, rest)) => {
                    let mut sums = first.clone();
                    let rest = add_rounds(op, &mut sums, rest, ROUNDS);
                    one(op, &mut sums, rest);
                    let mut width = FEW_SUMS;
                    while width > 1 {
                        width /= 2;
                        for i in 0..width {
                            sums[i] = op.apply(sums[i].clone(), sums[i + width].clone());
                        }
                    }
                    sums[0].clone()
                }
                None => short(op, part),
            };
            total = Some(match total {
                None => sum,
                Some(total) => op.apply(total, sum),
            });
        }
        total.expect("a lane of elements")
    }
}

struct AddRows<'r, A, O, const FEW: bool> {
    op: O,
    accumulators: &'r mut [A],
    rows: &'r [&'r [A]],
}

impl<A: Clone, O: Operation<A>, const FEW: bool> Work for AddRows<'_, A, O, FEW> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { op, accumulators, mut rows } = self;
        let len = accumulators.len();
        if const { !FEW } && rows.iter().all(|row| row.len() == len) {
            if let [a, b, c, d, e, f, g, h] = *rows {
                return eight(op, accumulators, a, b, c, d, e, f, g, h);
            }
            while let [a, b, c, d, rest @ ..] = rows {
                four(op, accumulators, a, b, c, d);
                rows = rest;
            }
        }
        for row in rows {
            one(op, accumulators, row);
        }
    }
}

// Slices as parameters: LLVM knows that they do not alias, and vectorises.
#[inline(always)]
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

/// Groups of `rows` rows of `width` elements, a divisor of [`ACCUMULATORS`].
struct NarrowRows<'r, 'm, A, O> {
    op: O,
    elements: &'r [A],
    rows: usize,
    width: usize,
    to: &'r mut Room<'m, A>,
}

impl<A: Clone, O: Operation<A>> Work for NarrowRows<'_, '_, A, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { op, elements, rows, width, to } = self;
        for group in elements.chunks(rows * width) {
            let (mut sums, count, rest) = if let Some((sums, rest)) = accumulated(op, group) {
                (sums, ACCUMULATORS, rest)
            } else {
                let mut sums: [A; ACCUMULATORS] = core::array::from_fn(|_| group[0].clone());
                sums[..width].clone_from_slice(&group[..width]);
                (sums, width, &group[width..])
            };
            let (total, others) = sums.split_at_mut(width);
            for row in others[..count - width].chunks(width).chain(rest.chunks(width)) {
                for (sum, element) in total.iter_mut().zip(row) {
                    *sum = op.apply(sum.clone(), element.clone());
                }
            }
            to.extend(total);
        }
    }
}

struct Lane<O>(O);

impl<A: Clone, O: Operation<A>> FoldLane<A> for Lane<O> {
    #[inline(always)]
    fn fold(&self, elements: &[A]) -> A {
        // measured on Zen 4: with more accumulators of eight bytes, the CPU fetches a large array more slowly
        if const { size_of::<A>() <= 4 } {
            lane::<A, O, 64>(self.0, elements)
        } else {
            lane::<A, O, 8>(self.0, elements)
        }
    }
}

struct Lanes<'r, 'm, A, O, const FEW: bool> {
    op: O,
    elements: &'r [A],
    len: usize,
    to: &'r mut Room<'m, A>,
}

impl<A: Clone, O: Operation<A>, const FEW: bool> Work for Lanes<'_, '_, A, O, FEW> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { op, elements, len, to } = self;
        if len == 1 {
            to.extend(elements);
        } else if const { FEW } {
            to.extend_by_lanes(elements, len, &FewLane(op));
        } else if len < SHORT_LANE {
            short_lanes(op, elements, len, to);
        } else {
            to.extend_by_lanes(elements, len, &Lane(op));
        }
    }
}

/// The bytes of partial results of short lanes.
const PARTIAL: usize = 2 << 10;

/// Reduces lanes by the factors of their length: groups of 4 or 2, then groups of those, and so on. The compiler shuffles
/// vectors for groups of a length that it knows.
#[inline(always)]
fn short_lanes<A: Clone, O: Operation<A>>(op: O, elements: &[A], len: usize, to: &mut Room<'_, A>) {
    let (mut first, mut second) = (Memory::<{ PARTIAL / 64 }>::new(), Memory::<{ PARTIAL / 64 }>::new());
    let most = (PARTIAL / size_of::<A>() / len * len).max(len);
    let (sums, more) = (&mut first.room(most), &mut second.room(most));
    for elements in elements.chunks(most) {
        let (mut from, mut to_next, mut rest) = (&mut *sums, &mut *more, len);
        while rest > 1 {
            to_next.truncate(0);
            rest = groups(op, if rest == len { elements } else { from }, rest, to_next);
            core::mem::swap(&mut from, &mut to_next);
        }
        to.extend(from);
    }
}

/// Appends the result of each group of as many elements as the first factor of `len`. Returns the quotient.
#[inline(always)]
fn groups<A: Clone, O: Operation<A>>(op: O, elements: &[A], len: usize, to: &mut Room<'_, A>) -> usize {
    let pair = |a: &A, b: &A| op.apply(a.clone(), b.clone());
    let factor = match len {
        _ if len.is_multiple_of(4) => 4,
        _ if len.is_multiple_of(2) => 2,
        _ if len.is_multiple_of(3) => 3,
        _ if len.is_multiple_of(5) => 5,
        _ if len.is_multiple_of(7) => 7,
        _ => len,
    };
    match factor {
        2 => to.extend_by_groups(elements, 2, &|g: &[A]| pair(&g[0], &g[1])),
        3 => to.extend_by_groups(elements, 3, &|g: &[A]| op.apply(pair(&g[0], &g[1]), g[2].clone())),
        4 => to.extend_by_groups(elements, 4, &|g: &[A]| op.apply(pair(&g[0], &g[1]), pair(&g[2], &g[3]))),
        5 => to.extend_by_groups(elements, 5, &|g: &[A]| {
            op.apply(op.apply(pair(&g[0], &g[1]), pair(&g[2], &g[3])), g[4].clone())
        }),
        7 => to.extend_by_groups(elements, 7, &|g: &[A]| {
            let (low, high) = (
                op.apply(pair(&g[0], &g[1]), pair(&g[2], &g[3])),
                op.apply(pair(&g[4], &g[5]), g[6].clone()),
            );
            op.apply(low, high)
        }),
        _ => to.extend_by_lanes(elements, factor, &Lane(op)),
    }
    len / factor
}

/// Reduces a lane with `N` accumulators, if it is so long.
#[inline(always)]
fn lane<A: Clone, O: Operation<A>, const N: usize>(op: O, elements: &[A]) -> A {
    let Some((mut sums, mut rest)) = accumulated::<A, O, N>(op, elements) else { return short(op, elements) };
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

/// The sums of every `N`-th element, and what is left, if there are so many. See [`ROUNDS`].
#[inline(always)]
fn accumulated<A: Clone, O: Operation<A>, const N: usize>(op: O, elements: &[A]) -> Option<([A; N], &[A])> {
    let (first, rest) = elements.split_first_chunk::<N>()?;
    let mut sums = first.clone();
    let mut rest = add_rounds(op, &mut sums, rest, ROUNDS - 1);
    while let Some((first, after)) = rest.split_first_chunk::<N>() {
        let mut more = first.clone();
        rest = add_rounds(op, &mut more, after, ROUNDS - 1);
        for i in 0..N {
            sums[i] = op.apply(sums[i].clone(), more[i].clone());
        }
    }
    Some((sums, rest))
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

#[cfg(test)]
mod tests;
