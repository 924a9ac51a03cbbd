//! Several accumulators in chunks of constant width, rows in the order of memory.
#![allow(clippy::inline_always, reason = "compiled for AVX2 only where they are inlined")]

use crate::plain::Number;

/// The accumulators of a long lane, some vectors of them.
const WIDE: usize = 32;
/// Those of what is left of it.
const NARROW: usize = 8;
/// Up to this many columns, their sums stay in registers for all rows, panel by panel.
const FEW: usize = 64;
/// From this many bytes on, memory serves one row after the other better than several at once, or panels.
const MANY: usize = 1 << 20;

/// The accumulators of one lane.
struct Parts<T> {
    wide: [T; WIDE],
    narrow: [T; NARROW],
    single: T,
}

impl<T: Copy> Parts<T> {
    #[inline(always)]
    fn new(first: T) -> Self {
        Self { wide: [first; WIDE], narrow: [first; NARROW], single: first }
    }

    /// Adds `f` of each pair to its accumulator.
    #[inline(always)]
    fn add<A: Copy>(&mut self, a: &[A], b: &[A], op: impl Fn(T, T) -> T, f: impl Fn(A, A) -> T) {
        // Copies of their own stay in registers.
        let (mut wide, mut narrow, mut single) = (self.wide, self.narrow, self.single);
        let (x, y) = (a.chunks_exact(WIDE), b.chunks_exact(WIDE));
        let (a, b) = (x.remainder(), y.remainder());
        for (x, y) in x.zip(y) {
            for i in 0..WIDE {
                wide[i] = op(wide[i], f(x[i], y[i]));
            }
        }
        let (x, y) = (a.chunks_exact(NARROW), b.chunks_exact(NARROW));
        let (a, b) = (x.remainder(), y.remainder());
        for (x, y) in x.zip(y) {
            for i in 0..NARROW {
                narrow[i] = op(narrow[i], f(x[i], y[i]));
            }
        }
        for (&a, &b) in a.iter().zip(b) {
            single = op(single, f(a, b));
        }
        *self = Self { wide, narrow, single };
    }

    /// All accumulators as one number.
    #[inline(always)]
    fn folded(mut self, len: usize, op: impl Fn(T, T) -> T) -> T {
        if len < NARROW {
            return self.single;
        }
        if len >= WIDE {
            for half in [WIDE / 2, WIDE / 4] {
                for i in 0..half {
                    self.wide[i] = op(self.wide[i], self.wide[i + half]);
                }
            }
            for i in 0..NARROW {
                self.narrow[i] = op(self.narrow[i], self.wide[i]);
            }
        }
        for half in [NARROW / 2, NARROW / 4, NARROW / 8] {
            for i in 0..half {
                self.narrow[i] = op(self.narrow[i], self.narrow[i + half]);
            }
        }
        op(self.narrow[0], self.single)
    }
}

/// One lane.
#[inline(always)]
fn lane<A: Copy, T: Copy>(a: &[A], b: &[A], first: T, op: impl Fn(T, T) -> T, f: impl Fn(A, A) -> T) -> T {
    let mut parts = Parts::new(first);
    parts.add(a, b, &op, f);
    parts.folded(a.len(), op)
}

/// `N` columns from `at` on, whose accumulators stay in registers for all rows.
#[inline(always)]
fn panel<A: Copy, T: Copy, const N: usize>(
    out: &mut [T],
    (a, b, step): (&[A], &[A], usize),
    at: usize,
    first: T,
    op: impl Fn(T, T) -> T,
    f: impl Fn(A, A) -> T,
) {
    let (mut parts, width) = ([first; N], out.len());
    for (i, a) in a.chunks_exact(width).enumerate() {
        let (Some(a), Some(b)) = (a[at..].first_chunk::<N>(), b[i * step + at..].first_chunk::<N>()) else {
            return;
        };
        for j in 0..N {
            parts[j] = op(parts[j], f(a[j], b[j]));
        }
    }
    out[at..at + N].copy_from_slice(&parts);
}

/// All rows into one. Row `i` of `b` begins at `i * step`.
#[inline(always)]
fn columns<A: Copy, T: Copy>(
    out: &mut [T],
    (a, b, step): (&[A], &[A], usize),
    first: T,
    op: impl Fn(T, T) -> T,
    f: impl Fn(A, A) -> T,
) {
    let (width, is_large) = (out.len(), size_of_val(a) > MANY);
    if width <= WIDE || width <= FEW && !is_large {
        let mut at = 0;
        while at + WIDE <= width {
            panel::<A, T, WIDE>(out, (a, b, step), at, first, &op, &f);
            at += WIDE;
        }
        while at + NARROW <= width {
            panel::<A, T, NARROW>(out, (a, b, step), at, first, &op, &f);
            at += NARROW;
        }
        while at < width {
            panel::<A, T, 1>(out, (a, b, step), at, first, &op, &f);
            at += 1;
        }
        return;
    }
    out.fill(first);
    let (all, mut i) = (a.len() / width, 0);
    if !is_large {
        while i + 4 <= all {
            let row = |i: usize| a[i * width..][..width].iter().zip(&b[i * step..][..width]);
            let rows = row(i).zip(row(i + 1)).zip(row(i + 2)).zip(row(i + 3));
            for (out, ((((p, q), (r, s)), (t, u)), (v, w))) in out.iter_mut().zip(rows) {
                let [x, y] = [op(f(*p, *q), f(*r, *s)), op(f(*t, *u), f(*v, *w))];
                *out = op(*out, op(x, y));
            }
            i += 4;
        }
    }
    for i in i..all {
        let rows = a[i * width..][..width].iter().zip(&b[i * step..][..width]);
        for (out, (&a, &b)) in out.iter_mut().zip(rows) {
            *out = op(*out, f(a, b));
        }
    }
}

#[inline(always)]
fn plus<T: Number>(a: T, b: T) -> T {
    a + b
}

#[inline(always)]
fn times<T: Number>(a: T, b: T) -> T {
    a * b
}

#[inline(always)]
fn square<T: Number>(x: T) -> T {
    x * x
}

/// One instruction.
#[inline(always)]
fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

plain!(sum_over_0<T>(out: &mut [T], x: &[T]) {
    let width = out.len();
    super::columns(out, (x, x, width), T::zero(), super::plus, |x, _| x);
});
plain!(sum_over_1<T>(out: &mut [T], x: &[T]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = super::lane(x, x, T::zero(), super::plus, |x, _| x);
    }
});
plain!(max_over_0<T: Real>(out: &mut [T], x: &[T]) {
    let width = out.len();
    super::columns(out, (x, x, width), T::neg_infinity(), super::larger, |x, _| x);
});
plain!(max_over_1<T: Real>(out: &mut [T], x: &[T]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = super::lane(x, x, T::neg_infinity(), super::larger, |x, _| x);
    }
});
plain!(magnitude_over_1<T: Real>(out: &mut [T], x: &[T]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = super::lane(x, x, T::zero(), super::larger, |x, _| x.abs());
    }
});
plain!(products_over_0<T>(out: &mut [T], a: &[T], b: &[T]) {
    let width = out.len();
    super::columns(out, (a, b, width), T::zero(), super::plus, super::times);
});
plain!(products_over_1<T>(out: &mut [T], a: &[T], b: &[T]) {
    let width = a.len() / out.len();
    for ((out, a), b) in out.iter_mut().zip(a.chunks_exact(width)).zip(b.chunks_exact(width)) {
        *out = super::lane(a, b, T::zero(), super::plus, super::times);
    }
});
plain!(squares_about<T>(out: &mut [T], x: &[T], means: &[T]) {
    let width = x.len() / out.len();
    for ((out, x), &m) in out.iter_mut().zip(x.chunks_exact(width)).zip(means) {
        *out = super::lane(x, x, T::zero(), super::plus, |x, _| super::square(x - m));
    }
});
plain!(row_over_0<T>(out: &mut [T], x: &[T], row: &[T]) {
    super::columns(out, (x, row, 0), T::zero(), super::plus, super::times);
});
plain!(row_over_1<T>(out: &mut [T], x: &[T], row: &[T]) {
    for (out, x) in out.iter_mut().zip(x.chunks_exact(row.len())) {
        *out = super::lane(x, row, T::zero(), super::plus, super::times);
    }
});
plain!(row_over_all<T>(out: &mut [T], x: &[T], row: &[T]) {
    let mut parts = super::Parts::new(T::zero());
    for x in x.chunks_exact(row.len()) {
        parts.add(x, row, super::plus, super::times);
    }
    out[0] = parts.folded(row.len(), super::plus);
});

plain!(column_over_1<T>(out: &mut [T], x: &[T], column: &[T]) {
    let width = x.len() / out.len();
    for ((out, x), &c) in out.iter_mut().zip(x.chunks_exact(width)).zip(column) {
        *out = super::lane(x, x, T::zero(), super::plus, |x, _| x * c);
    }
});
plain!(distances<T>(out: &mut [T], x: &[T], y: &[T], len: usize) {
    let count = y.len() / len;
    for (out, x) in out.chunks_exact_mut(count).zip(x.chunks_exact(len)) {
        for (out, y) in out.iter_mut().zip(y.chunks_exact(len)) {
            *out = super::lane(x, y, T::zero(), super::plus, |x, y| super::square(x - y));
        }
    }
});

/// Squared distances of a point to all of `y`, whose coordinates stand in rows of `count`, in panels of `N` points.
#[inline(always)]
fn distances_by<T: Number, const N: usize>(out: &mut [T], x: &[T], y: &[T], at: &mut usize) {
    let count = out.len();
    while *at + N <= count {
        let mut sums = [T::zero(); N];
        for (&x, y) in x.iter().zip(y.chunks_exact(count)) {
            let Some(y) = y[*at..].first_chunk::<N>() else { return };
            for j in 0..N {
                sums[j] += square(x - y[j]);
            }
        }
        out[*at..*at + N].copy_from_slice(&sums);
        *at += N;
    }
}
// The same with `y` transposed first, so that accumulators belong to different points.
plain!(turned_distances<T>(out: &mut [T], x: &[T], y: &[T], len: usize) {
    let count = y.len() / len;
    let mut turned = vec![T::zero(); y.len()];
    for (j, y) in y.chunks_exact(len).enumerate() {
        for (turned, &y) in turned[j..].iter_mut().step_by(count).zip(y) {
            *turned = y;
        }
    }
    for (out, x) in out.chunks_exact_mut(count).zip(x.chunks_exact(len)) {
        let mut at = 0;
        super::distances_by::<T, { super::WIDE }>(out, x, &turned, &mut at);
        super::distances_by::<T, { super::NARROW }>(out, x, &turned, &mut at);
        super::distances_by::<T, 1>(out, x, &turned, &mut at);
    }
});
plain!(channel_sums<T>(out: &mut [T], x: &[T], plane: usize) {
    out.fill(T::zero());
    for image in x.chunks_exact(out.len() * plane) {
        for (out, x) in out.iter_mut().zip(image.chunks_exact(plane)) {
            *out += super::lane(x, x, T::zero(), super::plus, |x, _| x);
        }
    }
});
plain!(channels<T>(out: &mut [T], x: &[T], plane: usize) {
    out.fill(T::zero());
    for image in x.chunks_exact(out.len() * plane) {
        for (out, x) in out.iter_mut().zip(image.chunks_exact(plane)) {
            *out += super::lane(x, x, T::zero(), super::plus, |x, _| super::square(x));
        }
    }
});
plain!(layer_norm<T: Real>(out: &mut [T], x: &[T], gain: &[T], bias: &[T], epsilon: T, count: T) {
    let width = gain.len();
    for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
        let mean = super::lane(x, x, T::zero(), super::plus, |x, _| x) / count;
        let variance = super::lane(x, x, T::zero(), super::plus, |x, _| super::square(x - mean)) / count;
        let scale = (variance + epsilon).sqrt().recip();
        for (((out, &x), &g), &b) in out.iter_mut().zip(x).zip(gain).zip(bias) {
            *out = (x - mean) * scale * g + b;
        }
    }
});
plain!(softmax<T: Real>(out: &mut [T], x: &[T], width: usize) {
    for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
        let top = super::lane(x, x, T::neg_infinity(), super::larger, |x, _| x);
        for (out, &x) in out.iter_mut().zip(x) {
            *out = (x - top).exp();
        }
        let scale = super::lane(out, out, T::zero(), super::plus, |x, _| x).recip();
        for out in out {
            *out *= scale;
        }
    }
});

/// Weighted sums of `N` windows at once.
#[inline(always)]
fn windows_by<T: Number, const N: usize>(out: &mut [T], x: &[T], weights: &[T], at: &mut usize) {
    while *at + N <= out.len() {
        let mut sums = [T::zero(); N];
        for (k, &w) in weights.iter().enumerate() {
            let Some(x) = x[*at + k..].first_chunk::<N>() else { return };
            for j in 0..N {
                sums[j] += x[j] * w;
            }
        }
        out[*at..*at + N].copy_from_slice(&sums);
        *at += N;
    }
}
plain!(windows<T>(out: &mut [T], x: &[T], weights: &[T]) {
    let mut at = 0;
    super::windows_by::<T, { super::WIDE }>(out, x, weights, &mut at);
    super::windows_by::<T, 1>(out, x, weights, &mut at);
});

plain!(gram<T>(out: &mut [T], x: &[T], weights: &[T]) {
    let width = x.len() / weights.len();
    out.fill(T::zero());
    let (fours, fours_of_weights) = (x.chunks_exact(4 * width), weights.chunks_exact(4));
    let (rest, rest_of_weights) = (fours.remainder(), fours_of_weights.remainder());
    for (x, w) in fours.zip(fours_of_weights) {
        let [p, q, r, s] = [0, 1, 2, 3].map(|k| &x[k * width..][..width]);
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            let [a, b, c, d] = [p[i] * w[0], q[i] * w[1], r[i] * w[2], s[i] * w[3]];
            for ((((out, &p), &q), &r), &s) in out.iter_mut().zip(p).zip(q).zip(r).zip(s) {
                *out += (a * p + b * q) + (c * r + d * s);
            }
        }
    }
    for (x, &w) in rest.chunks_exact(width).zip(rest_of_weights) {
        for (out, &a) in out.chunks_exact_mut(width).zip(x) {
            for (out, &b) in out.iter_mut().zip(x) {
                *out += a * w * b;
            }
        }
    }
});
plain!(count_over_0(out: &mut [usize], x: &[bool]) {
    let width = out.len();
    super::columns(out, (x, x, width), 0, super::plus, |x, _| usize::from(x));
});
plain!(count_over_1(out: &mut [usize], x: &[bool]) {
    let width = x.len() / out.len();
    for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
        *out = super::lane(x, x, 0, super::plus, |x, _| usize::from(x));
    }
});
plain!(above<T: Real>(out: &mut [usize], x: &[T], edges: &[T]) {
    for (out, &edge) in out.iter_mut().zip(edges) {
        *out = super::lane(x, x, 0, super::plus, |x, _| usize::from(x > edge));
    }
});
/// The side of a tile, whose rows and columns are in cache together.
const TILE: usize = 64;
/// The side of a block that is turned in registers.
const BLOCK: usize = 4;

/// The block of `out` from row `i` and column `j` on, or what is left there.
#[inline(always)]
fn turn_block<T: Number>(out: &mut [T], x: &[T], (rows, columns): (usize, usize), i: usize, j: usize) {
    if i + BLOCK <= columns && j + BLOCK <= rows {
        let row = |k: usize| x[(j + k) * columns + i..].first_chunk::<BLOCK>();
        let (Some(a), Some(b), Some(c), Some(d)) = (row(0), row(1), row(2), row(3)) else { return };
        for k in 0..BLOCK {
            out[(i + k) * rows + j..][..BLOCK].copy_from_slice(&[a[k], b[k], c[k], d[k]]);
        }
        return;
    }
    for i in i..columns.min(i + BLOCK) {
        for j in j..rows.min(j + BLOCK) {
            out[i * rows + j] = x[j * columns + i];
        }
    }
}
plain!(transpose<T>(out: &mut [T], x: &[T], rows: usize, columns: usize) {
    for (out, x) in out.chunks_exact_mut(rows * columns).zip(x.chunks_exact(rows * columns)) {
        for j_tile in (0..rows).step_by(super::TILE) {
            for i in (0..columns).step_by(super::BLOCK) {
                for j in (j_tile..rows.min(j_tile + super::TILE)).step_by(super::BLOCK) {
                    super::turn_block(out, x, (rows, columns), i, j);
                }
            }
        }
    }
});

// Nothing is gained over the obvious loop, compiled for AVX2.
pub(crate) use super::obvious::{
    add_row, copy_column, copy_row, decay_to_column, decay_to_row, multiply_add,
};
