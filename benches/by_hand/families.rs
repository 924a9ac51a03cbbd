//! The cases.

use crate::loops::{good, obvious};
use crate::plain::Real;
use crate::runner::{Case, Runner, filled};
use ndarray::{Array, Array0, Array1, Array2, Array3, Array4, ArrayView2, Dimension, ShapeBuilder};
use ndarray_broadcast::{broadcast_apply, broadcast_map, fused, keepdims, prelude::*};
use num_traits::{FromPrimitive, ToPrimitive};
use std::hint::black_box;

/// Name, and what measures all cases.
type Family = (&'static str, fn(&mut Runner));

/// A family for both types.
macro_rules! both {
    ($name:literal, $family:ident) => {
        ($name, |run| {
            $family::<f32>(run);
            $family::<f64>(run);
        })
    };
}

pub(crate) const FAMILIES: [Family; 20] = [
    both!("sums", sums),
    both!("maxima", maxima),
    both!("products", products),
    both!("products into", products_into),
    both!("squares about a mean", squares_about_means),
    both!("with a row, over 0", row_over_0),
    both!("with a row, over 1", row_over_1),
    both!("total with a row", row_over_all),
    both!("largest magnitude", magnitudes),
    both!("distances", distances),
    both!("distances, turned", turned_distances),
    both!("squares by channel", channels),
    both!("layer norm", layer_norms),
    both!("softmax", softmaxes),
    both!("moving windows", windows),
    both!("Gram matrices", grams),
    ("counts", |run| {
        counts(run);
        above::<f32>(run);
        above::<f64>(run);
    }),
    both!("maps", maps),
    both!("applies and copies", applies),
    ("few elements", few),
];

/// An element of the arrays.
trait Element: Real + FromPrimitive + ToPrimitive + 'static {
    const NAME: &'static str;
}

impl Element for f32 {
    const NAME: &'static str = "f32";
}

impl Element for f64 {
    const NAME: &'static str = "f64";
}

/// Small numbers of both signs, neither equal nor periodic in the length of a row, whose mean is 3.
fn numbers<T: Element, D: Dimension>(shape: impl ShapeBuilder<Dim = D>) -> Array<T, D> {
    let mut i = 0_u16;
    Array::from_shape_simple_fn(shape, || {
        i = (i + 7919) % 10_007;
        T::from_u16(i % 13).unwrap() - T::from_u16(3).unwrap()
    })
}

fn flat<T, D: Dimension>(array: &Array<T, D>) -> &[T] {
    array.as_slice().expect("in standard layout")
}

/// A case of one call.
fn case<T: Element>(what: impl Into<String>) -> Case {
    calls::<T>(1, what)
}

fn calls<T: Element>(calls: u32, what: impl Into<String>) -> Case {
    Case { what: what.into(), kind: T::NAME, calls }
}

fn square<T: Element>(x: T) -> T {
    x * x
}

/// Those that are not too large.
fn fitting<S: Copy>(run: &Runner, sizes: &[S], elements: fn(&S) -> usize) -> Vec<S> {
    sizes.iter().copied().filter(|size| run.takes(elements(size))).collect()
}

/// Number of rows and of columns.
fn sizes(run: &Runner, sizes: &[(usize, usize)]) -> Vec<(usize, usize)> {
    fitting(run, sizes, |(m, n)| m * n)
}

const SQUARES: [(usize, usize); 7] =
    [(2, 3), (10, 10), (33, 33), (100, 100), (300, 300), (1000, 1000), (2000, 2000)];
const LOPSIDED: [(usize, usize); 3] = [(8, 1000), (1000, 8), (100_000, 64)];

fn sums<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(33, 33), (300, 300), (2000, 2000), (8, 1000), (1000, 8)]) {
        let x = &numbers::<T, _>((m, n));
        let [over_0, over_1] = [Array1::zeros(n), Array1::zeros(m)];
        beside!(run, case::<T>(format!("{m}x{n} over 0")), new over_0, black_box(x).sum_axes(0), sum_over_0(flat(x)));
        beside!(run, case::<T>(format!("{m}x{n} over 1")), new over_1, black_box(x).sum_axes(1), sum_over_1(flat(x)));
    }
    for (m, n) in sizes(run, &[(10, 10), (1000, 1000)]) {
        let x = &numbers::<T, _>((m, n));
        let all = case::<T>(format!("{m}x{n} over all"));
        beside!(run, all, new Array0::zeros(()), black_box(x).sum_axes([0, 1]), sum_over_1(flat(x)));
    }
}

fn maxima<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(100, 100), (1000, 1000)]) {
        let x = &numbers::<T, _>((m, n));
        let [over_0, over_1] = [Array1::zeros(n), Array1::zeros(m)];
        let name = |axes: &str| case::<T>(format!("{m}x{n} over {axes}"));
        beside!(run, name("0"), new over_0, black_box(x).max_axes(0), max_over_0(flat(x)));
        beside!(run, name("1"), new over_1, black_box(x).max_axes(1), max_over_1(flat(x)));
        beside!(run, name("all"), new Array0::zeros(()), black_box(x).max_axes([0, 1]), max_over_1(flat(x)));
    }
}

fn products<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[&SQUARES[..], &LOPSIDED].concat()) {
        let (a, b) = (&numbers::<T, _>((m, n)), &numbers::<T, _>((m, n)));
        let (x, y) = (flat(a), flat(b));
        let [over_0, over_1] = [Array1::zeros(n), Array1::zeros(m)];
        let source = || fused((black_box(a), black_box(b)), |&a, &b| a * b);
        beside!(run, case::<T>(format!("{m}x{n} over 0")), new over_0, source().sum_axes(0), products_over_0(x, y));
        beside!(run, case::<T>(format!("{m}x{n} over 1")), new over_1, source().sum_axes(1), products_over_1(x, y));
    }
}

fn products_into<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(100, 100)]) {
        let (a, b) = (&numbers::<T, _>((m, n)), &numbers::<T, _>((m, n)));
        let (x, y) = (flat(a), flat(b));
        let [over_0, over_1] = [Array2::zeros((1, n)), Array2::zeros((m, 1))];
        let source = || fused((black_box(a), black_box(b)), |&a, &b| a * b);
        let name = |axis: u8| case::<T>(format!("{m}x{n} over {axis}"));
        beside!(run, name(0), into over_0, |out| source().assign_sum_to(out), products_over_0(x, y));
        beside!(run, name(1), into over_1, |out| source().assign_sum_to(out), products_over_1(x, y));
    }
}

fn squares_about_means<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(10, 10), (33, 33), (300, 300), (1000, 1000), (8, 1000), (1000, 8)]) {
        let x = &numbers::<T, _>((m, n));
        let means = &x.mean_axes(keepdims(1)).unwrap();
        let sum = || fused((black_box(x), black_box(means)), |&x, &m| (x - m) * (x - m)).sum_axes(1);
        let name = case::<T>(format!("{m}x{n}"));
        beside!(run, name, new Array1::zeros(m), sum(), squares_about(flat(x), flat(means)));
    }
}

fn row_over_0<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[&SQUARES[2..6], &[(8, 1000), (1000, 8), (64, 100_000)]].concat()) {
        let (x, row) = (&numbers::<T, _>((m, n)), &numbers::<T, _>(n));
        let sum = || fused((black_box(x), black_box(row)), |&x, &r| x * r).sum_axes(0);
        beside!(run, case::<T>(format!("{m}x{n}")), new Array1::zeros(n), sum(), row_over_0(flat(x), flat(row)));
    }
}

fn row_over_1<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(10, 10), (100, 100), (300, 300), (2000, 2000), (1000, 8)]) {
        let (x, row) = (&numbers::<T, _>((m, n)), &numbers::<T, _>(n));
        let sum = || fused((black_box(x), black_box(row)), |&x, &r| x * r).sum_axes(1);
        beside!(run, case::<T>(format!("{m}x{n}")), new Array1::zeros(m), sum(), row_over_1(flat(x), flat(row)));
    }
}

fn row_over_all<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(33, 33), (300, 300), (1000, 1000), (1000, 8)]) {
        let (x, row) = (&numbers::<T, _>((m, n)), &numbers::<T, _>(n));
        let sum = || fused((black_box(x), black_box(row)), |&x, &r| x * r).sum_axes([0, 1]);
        beside!(run, case::<T>(format!("{m}x{n}")), new Array0::zeros(()), sum(), row_over_all(flat(x), flat(row)));
    }
}

fn magnitudes<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(10, 10), (33, 33), (100, 100), (1000, 1000), (1000, 8)]) {
        let x = &numbers::<T, _>((m, n));
        let top = || fused(black_box(x), |x| x.abs()).max_axes(1);
        beside!(run, case::<T>(format!("{m}x{n}")), new Array1::zeros(m), top(), magnitude_over_1(flat(x)));
    }
}

/// Squared distances of points to points, each beside a loop of its own for one of them and all of `$sizes`.
macro_rules! distances {
    ($name:ident, $loop:ident, $sizes:expr) => {
        fn $name<T: Element>(run: &mut Runner) {
            for (n, m, len) in fitting(run, &$sizes, |(n, m, len)| n * m * len) {
                let (x, y) = (&numbers::<T, _>((n, 1, len)), &numbers::<T, _>((m, len)));
                let sum = || fused((black_box(x), black_box(y)), |&x, &y| (x - y) * (x - y)).sum_axes(2);
                let name = case::<T>(format!("{n} to {m} in {len}"));
                beside!(run, name, new Array2::zeros((n, m)), sum(), $loop(flat(x), flat(y), len));
            }
        }
    };
}
distances!(
    distances,
    distances,
    [(100, 100, 2), (100, 100, 3), (200, 200, 8), (5000, 16, 13), (100, 100, 16), (60, 60, 64)]
);
distances!(turned_distances, turned_distances, [(100, 100, 3), (5000, 16, 13)]);

fn channels<T: Element>(run: &mut Runner) {
    let cases = [[8, 16, 14, 14], [16, 32, 56, 56]];
    for shape in fitting(run, &cases, |shape| shape.iter().product()) {
        let [_, channels, h, w] = shape;
        let x: &Array4<T> = &numbers(shape);
        let sum = || fused(black_box(x), |&x| square(x)).sum_axes([0, 2, 3]);
        let name = case::<T>(format!("{shape:?}"));
        beside!(run, name, new Array1::zeros(channels), sum(), channels(flat(x), h * w));
    }
}

/// In three passes, into an array that there is.
fn layer_norms<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(4, 8), (4, 64), (32, 32), (100, 100), (256, 1024), (4096, 256)]) {
        let x = &numbers::<T, _>((m, n));
        let (gain, bias) = (&numbers::<T, _>(n), &numbers::<T, _>(n));
        let (epsilon, count) = (T::from_f64(1e-5).unwrap(), T::from_usize(n).unwrap());
        let norm = |out: &mut Array2<T>| {
            let x = black_box(x);
            let mean = x.sum_axes(keepdims(1))?.mapv_into(|sum| sum / count);
            let squares = fused((x, &mean), |&x, &m| (x - m) * (x - m)).sum_axes(keepdims(1))?;
            let scale = squares.mapv_into(|sum| (sum / count + epsilon).sqrt().recip());
            broadcast_apply(
                out,
                (x, &mean, &scale, black_box(gain), black_box(bias)),
                |out, &x, &m, &s, &g, &b| {
                    *out = (x - m) * s * g + b;
                },
            )
        };
        let name = calls::<T>(3, format!("{m}x{n}"));
        let (x, gain, bias) = (flat(x), flat(gain), flat(bias));
        beside!(run, name, into Array2::zeros((m, n)), |out| norm(out), layer_norm(x, gain, bias, epsilon, count));
    }
}

/// In four passes, into an array that there is.
fn softmaxes<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(4, 8), (100, 100)]) {
        let x = &numbers::<T, _>((m, n));
        let softmax = |out: &mut Array2<T>| {
            let top = black_box(x).max_axes(keepdims(1))?;
            broadcast_apply(out, (x, &top), |out, &x, &top| *out = (x - top).exp())?;
            let scale = out.sum_axes(keepdims(1))?.mapv_into(T::recip);
            broadcast_apply(out, &scale, |out, &s| *out *= s)
        };
        let name = calls::<T>(4, format!("{m}x{n}"));
        beside!(run, name, into Array2::zeros((m, n)), |out| softmax(out), softmax(flat(x), n));
    }
}

/// Sums of views whose rows overlap.
fn windows<T: Element>(run: &mut Runner) {
    for (count, len) in sizes(run, &[(1000, 5), (10_000, 31)]) {
        let (x, weights) = (&numbers::<T, _>(count + len - 1), &numbers::<T, _>(len));
        let view = &ArrayView2::from_shape((count, len).strides((1, 1)), flat(x)).unwrap();
        let sum = || fused((black_box(view), black_box(weights)), |&x, &w| x * w).sum_axes(1);
        let name = case::<T>(format!("{count} of {len}, weighted"));
        beside!(run, name, new Array1::zeros(count), sum(), windows(flat(x), flat(weights)));
    }
}

/// Weighted products of all pairs of columns.
fn grams<T: Element>(run: &mut Runner) {
    let cases = [(1000, 4), (500, 30)];
    for (n, d) in fitting(run, &cases, |(n, d)| n * d * d) {
        let (x, weights): (&Array3<T>, _) = (&numbers((n, d, 1)), &numbers::<T, _>((n, 1, 1)));
        let right = &x.view().into_shape_with_order((n, 1, d)).unwrap();
        let gram = || fused((black_box(x), right, black_box(weights)), |&a, &b, &w| a * b * w).sum_axes(0);
        let name = case::<T>(format!("{d} columns of {n}"));
        beside!(run, name, new Array2::zeros((d, d)), gram(), gram(flat(x), flat(weights)));
    }
}

fn counts(run: &mut Runner) {
    for (m, n) in sizes(run, &[(10, 10), (300, 300)]) {
        let x = &numbers::<f32, _>((m, n)).mapv(|x| x > 2.0);
        let count = || fused(black_box(x), |&x| usize::from(x));
        let name = |axis: u8| Case { what: format!("{m}x{n} over {axis}"), kind: "bool", calls: 1 };
        beside!(run, name(0), new Array1::zeros(n), count().sum_axes(0), count_over_0(flat(x)));
        beside!(run, name(1), new Array1::zeros(m), count().sum_axes(1), count_over_1(flat(x)));
    }
}

/// How many numbers are above each edge of a histogram.
fn above<T: Element>(run: &mut Runner) {
    for (n, edges) in sizes(run, &[(10_000, 10)]) {
        let (x, edges): (&Array2<T>, &Array1<T>) = (&numbers((n, 1)), &numbers(edges));
        let count = || fused((black_box(x), black_box(edges)), |x, e| usize::from(x > e)).sum_axes(0);
        let name = case::<T>(format!("{n} above {} edges", edges.len()));
        beside!(run, name, new Array1::zeros(edges.len()), count(), above(flat(x), flat(edges)));
    }
}

fn maps<T: Element>(run: &mut Runner) {
    for (m, n) in sizes(run, &[(10, 10), (100, 100), (1000, 1000), (1000, 8)]) {
        let (a, row, column) = (&numbers::<T, _>((m, n)), &numbers::<T, _>(n), &numbers::<T, _>((m, 1)));
        let (x, r, c) = (flat(a), flat(row), flat(column));
        let map = |out: &mut Array2<T>| {
            let operands = (black_box(a), black_box(row), black_box(column));
            broadcast_apply(out, operands, |out, &a, &r, &c| *out = a * r + c)
        };
        let name = |what: &str| case::<T>(format!("{m}x{n} {what}"));
        beside!(run, name("into"), into Array2::zeros((m, n)), |out| map(out), multiply_add(x, r, c));
        if n != 100 {
            continue;
        }
        let map = || broadcast_map((black_box(a), black_box(row), black_box(column)), |&a, &r, &c| a * r + c);
        beside!(run, name("new"), new Array2::zeros((m, n)), map(), multiply_add(x, r, c));
    }
}

fn applies<T: Element>(run: &mut Runner) {
    let half = T::from_f64(0.5).unwrap();
    for (m, n) in sizes(run, &[(33, 33), (1000, 1000)]) {
        let (row, column) = (&numbers::<T, _>(n), &numbers::<T, _>((m, 1)));
        let (a, zeros) = (&numbers::<T, _>((n, m)), || Array2::<T>::zeros((m, n)));
        let (r, c) = (flat(row), flat(column));
        let name = |what: &str| case::<T>(format!("{m}x{n} {what}"));
        let apply = |out: &mut Array2<T>| broadcast_apply(out, black_box(row), |x, &r| *x = *x * half + r);
        beside!(run, name("apply a row"), into zeros(), |out| apply(out), decay_to_row(r, half));
        let apply = |out: &mut Array2<T>| broadcast_apply(out, black_box(column), |x, &c| *x = *x * half + c);
        beside!(run, name("apply a column"), into zeros(), |out| apply(out), decay_to_column(c, half));
        beside!(run, name("copy a row"), into zeros(), |out| black_box(row).materialize_into(out), copy_row(r));
        beside!(run, name("copy a column"), into zeros(), |out| black_box(column).materialize_into(out), copy_column(c));
        let copy = |out: &mut Array2<T>| black_box(a).t().materialize_into(out);
        beside!(run, name("transpose"), into zeros(), |out| copy(out), transpose(flat(a), n, m));
    }
}

/// Calls whose fixed cost is most of the time.
fn few(run: &mut Runner) {
    for (m, n) in [(2, 3), (6, 8), (10, 10), (11, 24)] {
        let (x, row) = (&numbers::<f32, _>((m, n)), &numbers::<f32, _>(n));
        let name = |what: &str| case::<f32>(format!("{what} of {m}x{n}"));
        let (s, r) = (flat(x), flat(row));
        beside!(run, name("sum"), new Array1::zeros(n), black_box(x).sum_axes(0), sum_over_0(s));
        let sum = || fused((black_box(x), black_box(row)), |&x, &r| x * r).sum_axes(0);
        beside!(run, name("fused sum"), new Array1::zeros(n), sum(), row_over_0(s, r));
        let map = || broadcast_map((black_box(x), black_box(row)), |&x, &r| x + r);
        beside!(run, name("map"), new Array2::zeros((m, n)), map(), add_row(s, r));
        let apply = |out: &mut Array2<f32>| broadcast_apply(out, black_box(row), |x, &r| *x = *x * 0.5 + r);
        beside!(run, name("apply"), into Array2::zeros((m, n)), |out| apply(out), decay_to_row(r, 0.5));
    }
}
