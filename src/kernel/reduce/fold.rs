//! Folds of contiguous elements: of rows to a row, and of lanes to one element each.
//!
//! A fold computes what these loops compute, in another order of additions:
//!
//! ```text
//! for each group of rows:             for each lane:
//!     sums = the first row                sum = the first element
//!     for row in the others:              for element in the others:
//!         sums[i] += row[i]                   sum += element
//! ```
//!
//! The deviations, and what a sum of `f64` takes without them:
//! 1. Each lane, and each column of rows, has several accumulators in registers, so that an addition does not wait for the one
//!    before ([`lane`], [`SumRows::by_columns`]).
//! 2. After [`ROUNDS`] additions, accumulators are added to a second set, which keeps the error small.
//! 3. Narrow rows are joined to rows of up to [`JOINED_BYTES`], whose sums are added as narrow rows again ([`sum_groups`]): 1.1 to 1.6
//!    times as long. Large arrays are summed in parts of [`GROUP_ROWS`] joined rows, whose lines stay in L1: 1.1 to 1.9 times.
//! 4. Rows of three elements have [`ACCUMULATORS`]: 1.1 to 3 times, maxima of bytes up to 5.
//! 5. Lanes of up to eight elements have loops of constant length, which are vectorised across lanes.
//! 6. Whether any or all elements of a lane are true is the naive loop, in parts, until the result is known ([`until_final`]): with
//!    accumulators, 1.1 to 4 times.

#![forbid(unsafe_code)]

use crate::kernel::memory::{CACHE_LINE, SliceVec};
use crate::kernel::nest::{Fold, FoldLoops, GROUP_ROWS, NARROW, ROUNDS, WIDE};
use crate::kernel::operation::Operation;
use crate::kernel::simd::{Work, dispatch_or};

/// The most bytes of a row of joined rows: some lines less than 4 KiB, or all rows of a group would share the sets of L1. Measured on
/// 2026-11-29 on Zen 4 with sums of 131072x8 and (65536, 64, 3) over 0: 1 and 2 KiB take 1.2 to 1.9 times as long, 4 KiB 2.4 times.
const JOINED_BYTES: usize = 61 * CACHE_LINE;
/// The accumulators of rows of three elements, such as the channels of an image: in halves, they become one row. Measured on
/// 2026-11-28 on Zen 4 with sums of (65536, 64, 3) over 1: 48 take 1.3 times as long for f32, and as long for f64.
const ACCUMULATORS: usize = 24;

impl<A: Clone, O: Operation<A>> Fold<A> for FoldLoops<A, O> {
    fn apply(&self, a: A, b: A) -> A {
        self.op.apply(a, b)
    }

    fn are_final(&self, results: &[A]) -> bool {
        O::IS_FINAL.is_some_and(|is_final| results.iter().all(is_final))
    }

    fn add_row(&self, sums: &mut [A], row: &[A]) {
        add_chunk(self.op, sums, row);
    }

    fn sum_rows(&self, elements: &[A], len: usize, width: usize, to: &mut SliceVec<'_, A>) {
        let work = SumRows { op: self.op, elements, len, width, to };
        dispatch_or(work, |SumRows { op, elements, len, width, to }| {
            let rows = SumRows { op: NotInlined(op), elements, len, width, to };
            match width {
                1 => rows.lanes(),
                3 if len >= ACCUMULATORS => rows.by_accumulators::<ACCUMULATORS, 3>(),
                _ => rows.by_columns::<1>(),
            }
        });
    }
}

/// An operation that is not inlined, which keeps the code of its loops short.
#[derive(Clone, Copy)]
struct NotInlined<O>(O);

impl<A, O: Operation<A>> Operation<A> for NotInlined<O> {
    const IS_PLUS: bool = O::IS_PLUS;
    const IS_INLINED: bool = false;

    #[inline(never)]
    fn apply(self, a: A, b: A) -> A {
        self.0.apply(a, b)
    }
}

/// Appends the results of a contiguous block to `to`. `axes` are lengths, each with whether the axis is kept; kept and reduced
/// axes alternate. `scratch` holds three quarters of the elements: half of them for the first sums of rows, and the rest for
/// sums of these.
pub(super) fn fold<A: Clone>(
    op: &dyn Fold<A>,
    axes: &[(usize, bool)],
    elements: &[A],
    to: &mut SliceVec<'_, A>,
    scratch: &mut SliceVec<'_, A>,
) {
    match *axes {
        [] | [(_, true)] => to.extend(elements),
        [(len, false)] | [(_, true), (len, false)] => op.sum_rows(elements, len, 1, to),
        [(rows, false), (width, true)] | [(_, true), (rows, false), (width, true)] => {
            sum_groups(op, elements, [rows, width], to, scratch);
        }
        [(len, true), ref inner @ ..] => {
            for part in elements.chunks(elements.len() / len) {
                fold(op, inner, part, to, &mut scratch.rest());
            }
        }
        [(rows, false), ref inner @ ..] => {
            let width = elements.len() / rows;
            let [mut sums, mut rest] = scratch.rest().split_at(width);
            sum_groups(op, elements, [rows, width], &mut sums, &mut rest);
            fold(op, inner, &sums, to, &mut rest);
        }
    }
}

/// Appends the sum of the rows of each group. Narrow rows are joined to longer ones first; at least [`NARROW`] of these are added.
fn sum_groups<A: Clone>(
    op: &dyn Fold<A>,
    elements: &[A],
    [rows, width]: [usize; 2],
    to: &mut SliceVec<'_, A>,
    scratch: &mut SliceVec<'_, A>,
) {
    let len = rows * width;
    let joined = (JOINED_BYTES / size_of::<A>() / width).min(rows / NARROW) * width;
    let is_long = len >= 2 * GROUP_ROWS * joined;
    // accumulators serve rows of three as well, but of bytes they fill half a register
    let is_joined = if width == 3 { size_of::<A>() < 4 && is_long } else { width < WIDE || is_long };
    if joined < 2 * width || !is_joined {
        return op.sum_rows(elements, len, width, to);
    }
    if is_long {
        // the sums of parts whose lines stay in L1 are the rows of a smaller group
        for group in elements.chunks_exact(len) {
            let (parts, rest) = group.split_at(len - len % (GROUP_ROWS * joined));
            let mut sums = scratch.rest();
            op.sum_rows(parts, GROUP_ROWS * joined, joined, &mut sums);
            sums.extend(rest);
            let (sums, mut rest) = sums.split();
            sum_groups(op, sums, [sums.len() / width, width], to, &mut rest);
        }
        return;
    }
    for groups in elements.chunks(scratch.room() / joined * len) {
        let (mut sums, whole) = (scratch.rest(), len / joined * joined);
        op.sum_rows(groups, len, joined, &mut sums);
        if whole < len {
            for (sums, group) in sums.chunks_exact_mut(joined).zip(groups.chunks_exact(len)) {
                op.add_row(&mut sums[..len - whole], &group[whole..]);
            }
        }
        op.sum_rows(&sums, joined, width, to);
    }
}

struct SumRows<'r, 'm, A, O> {
    op: O,
    elements: &'r [A],
    len: usize,
    width: usize,
    to: &'r mut SliceVec<'m, A>,
}

impl<A: Clone, O: Operation<A>> Work for SumRows<'_, '_, A, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // 128 bytes, four vectors, but eight of elements of 8 bytes. Other operations than addition are compiled in each program:
        // they have fewer loops
        match self.width {
            128.. if const { size_of::<A>() == 1 } => self.by_columns::<128>(),
            64.. if const { size_of::<A>() == 2 } => self.by_columns::<64>(),
            32.. => self.by_columns::<32>(),
            8.. => self.by_columns::<8>(),
            4.. if O::IS_PLUS => self.by_columns::<4>(),
            3 if self.len >= ACCUMULATORS => self.by_accumulators::<ACCUMULATORS, 3>(),
            2.. if O::IS_PLUS => self.by_columns::<2>(),
            1 => self.lanes(),
            _ => self.by_columns::<1>(),
        }
    }
}

impl<A: Clone, O: Operation<A>> SumRows<'_, '_, A, O> {
    /// Reduces rows of one element: lanes.
    #[inline(always)]
    fn lanes(self) {
        let Self { op, elements, len, to, .. } = self;
        match len {
            1 => to.extend(elements),
            // the compiler vectorises across short lanes of constant length, by shuffles
            ..=8 if const { !O::IS_INLINED } => to.extend_by_groups(elements, len, op, pairs),
            2 => to.extend_by_groups(elements, 2, op, pairs_of::<A, O, 2>),
            3 => to.extend_by_groups(elements, 3, op, pairs_of::<A, O, 3>),
            4 => to.extend_by_groups(elements, 4, op, pairs_of::<A, O, 4>),
            5 => to.extend_by_groups(elements, 5, op, pairs_of::<A, O, 5>),
            6 => to.extend_by_groups(elements, 6, op, pairs_of::<A, O, 6>),
            7 => to.extend_by_groups(elements, 7, op, pairs_of::<A, O, 7>),
            8 => to.extend_by_groups(elements, 8, op, pairs_of::<A, O, 8>),
            16.. if const { O::IS_FINAL.is_some() } => to.extend_by_groups(elements, len, op, until_final),
            // two vectors; a short lane fills one
            64.. if const { size_of::<A>() == 1 } => to.extend_by_groups(elements, len, op, lane::<A, O, 64>),
            // eight vectors; maxima of f32 take 0.9 of the time by four
            _ if const { O::IS_PLUS && size_of::<A>() <= 4 } => {
                to.extend_by_groups(elements, len, op, lane::<A, O, 64>);
            }
            _ => to.extend_by_groups(elements, len, op, lane::<A, O, 32>),
        }
    }

    /// Adds rows of at least `N` elements, `N` elements of each in registers. The last of them overlap with those before.
    #[inline(always)]
    fn by_columns<const N: usize>(self) {
        let Self { op, elements, len, width, to } = self;
        for group in elements.chunks_exact(len) {
            let (rows, mut done) = (&group[..len / width * width], 0);
            while done < width {
                let again = (done + N).saturating_sub(width);
                let rows = rows[done - again..].chunks(width).filter_map(|row| row.first_chunk::<N>());
                let sums = sum_rounds(op, rows);
                // a call to copy memory, unless the number of elements is constant
                if again == 0 {
                    to.extend(&sums);
                } else {
                    to.extend(&sums[again..]);
                }
                done += N;
            }
        }
    }

    /// Adds rows of `W` elements, as many at once as `N` accumulators hold.
    #[inline(always)]
    fn by_accumulators<const N: usize, const W: usize>(self) {
        let Self { op, elements, len, to, .. } = self;
        for group in elements.chunks_exact(len) {
            let (rows, rest) = rows_of::<A, N>(group);
            let mut sums = sum_rounds(op, rows);
            halve(op, &mut sums, W);
            rest.chunks_exact(W).for_each(|row| add_chunk(op, &mut sums[..W], row));
            to.extend(&sums[..W]);
        }
    }
}

/// The sum of rows. [`ROUNDS`] of them are added to one set of sums, and then these sets, until all of them are final.
#[inline(always)]
fn sum_rounds<'r, A: Clone + 'r, O: Operation<A>, const N: usize>(
    op: O,
    mut rows: impl Iterator<Item = &'r [A; N]>,
) -> [A; N] {
    let mut sums = rows.next().expect("a row").clone();
    add_rows(op, &mut sums, rows.by_ref().take(ROUNDS - 1));
    while let Some(first) = rows.next() {
        if O::IS_FINAL.is_some_and(|is_final| sums.iter().all(is_final)) {
            break;
        }
        let mut more = first.clone();
        add_rows(op, &mut more, rows.by_ref().take(ROUNDS - 1));
        if const { O::IS_PLUS || size_of::<A>() <= 2 } {
            add_rows(op, &mut sums, [&more]);
        } else {
            // a call: both sets of a maximum and what it compares do not fit into registers. It has copies: LLVM would store each
            // sum of an array whose address a call has
            let (mut both, more) = (sums.clone(), more.clone());
            add_chunk(op, &mut both, &more);
            sums = both;
        }
    }
    sums
}

/// Rows of `N` elements, and the elements after them.
#[inline(always)]
fn rows_of<A, const N: usize>(elements: &[A]) -> (impl Iterator<Item = &[A; N]>, &[A]) {
    let rows = elements.chunks_exact(N);
    let rest = rows.remainder();
    (rows.filter_map(|row| row.first_chunk()), rest)
}

#[inline(always)]
fn add_rows<'r, A: Clone + 'r, O: Operation<A>, const N: usize>(
    op: O,
    sums: &mut [A; N],
    rows: impl IntoIterator<Item = &'r [A; N]>,
) {
    if const { !O::IS_INLINED } {
        return add_each(op, sums, &mut rows.into_iter());
    }
    for row in rows {
        for i in 0..N {
            sums[i] = op.apply(sums[i].clone(), row[i].clone());
        }
    }
}

/// Not inlined, for any iterator: LLVM would unroll a constant number of calls.
#[inline(never)]
fn add_each<'r, A: Clone + 'r, O: Operation<A>, const N: usize>(
    op: O,
    sums: &mut [A; N],
    rows: &mut dyn Iterator<Item = &'r [A; N]>,
) {
    match &mut sums[..] {
        [sum] => rows.for_each(|row| *sum = op.apply(sum.clone(), row[0].clone())),
        sums => rows.for_each(|row| add_chunk(op, sums, row)),
    }
}

/// The result of a group of `N` elements: pairs are combined, then pairs of their results, and so on.
#[inline(always)]
fn pairs_of<A: Clone, O: Operation<A>, const N: usize>(op: O, elements: &[A]) -> A {
    let mut results: [A; N] = elements.first_chunk().expect("a group of `N` elements").clone();
    let mut len = N;
    while len > 1 {
        for i in 0..len / 2 {
            results[i] = op.apply(results[2 * i].clone(), results[2 * i + 1].clone());
        }
        // where `len` is even, this result is not used again: without a branch, LLVM vectorises
        results[len / 2] = results[len - 1].clone();
        len = len.div_ceil(2);
    }
    results[0].clone()
}

/// [`pairs_of`] of any number of elements from two on, in the same order.
fn pairs<A: Clone, O: Operation<A>>(op: O, elements: &[A]) -> A {
    let (first, second) = elements.split_at(elements.len().next_power_of_two() / 2);
    // not a call for each element, which would double the time of short lanes
    let of = |part: &[A]| if let [element] = part { element.clone() } else { pairs(op, part) };
    op.apply(of(first), of(second))
}

/// Reduces a lane, part by part, until the result is final. LLVM vectorises this loop of such operations.
#[inline(always)]
fn until_final<A: Clone, O: Operation<A>>(op: O, elements: &[A]) -> A {
    let mut result = elements[0].clone();
    for part in elements.chunks(ROUNDS * CACHE_LINE) {
        result = add_one_by_one(op, result, part);
        if O::IS_FINAL.is_some_and(|is_final| is_final(&result)) {
            break;
        }
    }
    result
}

/// Reduces a lane, with several accumulators if it is long enough.
#[inline(always)]
fn lane<A: Clone, O: Operation<A>, const N: usize>(op: O, elements: &[A]) -> A {
    let (mut eight, rest) = if elements.len() >= N {
        let (rows, rest) = rows_of::<A, N>(elements);
        let mut sums = sum_rounds(op, rows);
        halve(op, &mut sums, NARROW);
        (core::array::from_fn(|i| sums[i].clone()), rest)
    } else if let Some((first, rest)) = elements.split_first_chunk() {
        (first.clone(), rest)
    } else {
        return add_one_by_one(op, elements[0].clone(), &elements[1..]);
    };
    let (rows, rest) = rows_of::<A, NARROW>(rest);
    add_rows(op, &mut eight, rows);
    let [a, b, c, d, e, f, g, h] = eight;
    let (a, b, c, d) = (op.apply(a, e), op.apply(b, f), op.apply(c, g), op.apply(d, h));
    add_one_by_one(op, op.apply(op.apply(a, c), op.apply(b, d)), rest)
}

/// Adds the second half of accumulators to the first one, until there are `width`.
#[inline(always)]
fn halve<A: Clone, O: Operation<A>, const N: usize>(op: O, sums: &mut [A; N], width: usize) {
    let mut len = N;
    while len > width {
        len /= 2;
        let (first, second) = sums.split_at_mut(len);
        if const { !O::IS_INLINED } {
            add_chunk(op, first, second);
            continue;
        }
        for i in 0..len {
            first[i] = op.apply(first[i].clone(), second[i].clone());
        }
    }
}

/// Adds an element to each accumulator, as a loop, which keeps the code short.
#[inline(never)]
fn add_chunk<A: Clone, O: Operation<A>>(op: O, sums: &mut [A], chunk: &[A]) {
    for (sum, element) in sums.iter_mut().zip(chunk) {
        *sum = op.apply(sum.clone(), element.clone());
    }
}

#[inline(always)]
fn add_one_by_one<A: Clone, O: Operation<A>>(op: O, mut sum: A, rest: &[A]) -> A {
    for element in rest {
        sum = op.apply(sum, element.clone());
    }
    sum
}

#[cfg(test)]
mod tests;
