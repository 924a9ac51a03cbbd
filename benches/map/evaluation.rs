//! Maps: closures of broadcast operands, into an existing output, in place and by value.

use crate::loops::obvious::{add_row, multiply_add};
use crate::{flat, group, limit, numbers};
use criterion::Criterion;
use ndarray::{Array, Array1, Array2, Axis, Dimension, Ix1, Ix2, Ix3, Ix4, Ix6, ShapeBuilder, Zip};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map};
use std::hint::black_box;

plain!(add_column(out: &mut [f32], a: &[f32], column: &[f32]) {
    let width = out.len() / column.len();
    for ((out, a), c) in out.chunks_exact_mut(width).zip(a.chunks_exact(width)).zip(column) {
        for (out, a) in out.iter_mut().zip(a) {
            *out = a + c;
        }
    }
});
plain!(outer_sum(out: &mut [f32], column: &[f32], row: &[f32]) {
    for (out, c) in out.chunks_exact_mut(row.len()).zip(column) {
        for (out, r) in out.iter_mut().zip(row) {
            *out = c + r;
        }
    }
});
plain!(add_channels(out: &mut [f32], a: &[f32], channels: &[f32]) {
    let image = out.len() / 32;
    let plane = image / channels.len();
    for (out, a) in out.chunks_exact_mut(image).zip(a.chunks_exact(image)) {
        for ((out, a), c) in out.chunks_exact_mut(plane).zip(a.chunks_exact(plane)).zip(channels) {
            for (out, a) in out.iter_mut().zip(a) {
                *out = a + c;
            }
        }
    }
});
plain!(add_eight(out: &mut [f32], a: &[f32], row: &[f32]) {
    let Ok(row) = <&[f32; 8]>::try_from(row) else { return };
    for (out, a) in out.chunks_exact_mut(8).zip(a.chunks_exact(8)) {
        for i in 0..8 {
            out[i] = a[i] + row[i];
        }
    }
});

/// `a` has every second axis of the output, `b` the others.
macro_rules! alternating {
    ($name:ident, $i:literal, $j:literal, $k:literal, $l:literal, $m:literal, $n:literal) => {
        plain!($name(out: &mut [f32], a: &[f32], b: &[f32]) {
            let mut rows = out.chunks_exact_mut($n);
            for i in 0..$i {
                for j in 0..$j {
                    for k in 0..$k {
                        for l in 0..$l {
                            for m in 0..$m {
                                let (Some(out), a) = (rows.next(), a[(i * $k + k) * $m + m]) else { return };
                                let b = &b[(j * $l + l) * $n..][..$n];
                                for n in 0..$n {
                                    out[n] = a + b[n];
                                }
                            }
                        }
                    }
                }
            }
        });
    };
}
alternating!(alternating_equal, 8, 8, 8, 8, 8, 8);
alternating!(alternating_unequal, 14, 15, 16, 13, 12, 11);

plain!(accumulate_column(out: &mut [f32], column: &[f32]) {
    let width = out.len() / column.len();
    for (out, c) in out.chunks_exact_mut(width).zip(column) {
        for out in out {
            *out += c;
        }
    }
});
plain!(accumulate_row(out: &mut [f32], row: &[f32]) {
    for out in out.chunks_exact_mut(row.len()) {
        for (out, r) in out.iter_mut().zip(row) {
            *out += r;
        }
    }
});

fn floats<D: Dimension>(shape: impl ShapeBuilder<Dim = D>) -> Array<f32, D> {
    numbers(shape)
}

type Plain = fn(&mut [f32], &[f32], &[f32]);

/// Sums of two operands: every implementation, as a function for each combination of numbers of axes.
macro_rules! pair {
    ($name:ident, $A:ty, $B:ty) => {
        fn $name(
            c: &mut Criterion,
            name: &str,
            a: impl ShapeBuilder<Dim = $A>,
            b: impl ShapeBuilder<Dim = $B>,
            [plain, avx2]: [Plain; 2],
        ) {
            let (a, b) = (floats(a), floats(b));
            let expected = broadcast_map((&a, &b), |a, b| a + b).unwrap();
            let mut out = Array::<f32, _>::zeros(expected.raw_dim());
            let mut group = group(c, name);
            way!(group, "fixed", out == expected => broadcast_apply(out, (&a, &b), |o, &a, &b| *o = a + b));
            way!(group, "ndarray", out == expected => {
                Zip::from(out).and_broadcast(&a).and_broadcast(&b).for_each(|o, &a, &b| *o = a + b);
            });
            let (x, y) = (flat(&a), flat(&b));
            way!(group, "plain", out == expected => plain(out.as_slice_mut().unwrap(), x, y));
            way!(group, "plain_avx2", out == expected => avx2(out.as_slice_mut().unwrap(), x, y));
            way!(group, "limit", out => limit::write(out.as_slice_mut().unwrap(), x));
            let (mut out, expected) = (out.into_dyn(), expected.into_dyn());
            let (a, b) = (a.view().into_dyn(), b.view().into_dyn());
            way!(group, "dynamic", out == expected => {
                broadcast_apply(out, (&a, &b), |o, &a, &b| *o = a + b)
            });
            group.finish();
        }
    };
}
pair!(with_row, Ix2, Ix1);
pair!(matrices, Ix2, Ix2);
pair!(images, Ix4, Ix3);
pair!(six_axes, Ix6, Ix6);

/// A plain loop as these functions take it.
macro_rules! both {
    ($plain:ident) => {
        [$plain::plain, $plain::avx2]
    };
}

fn sums(c: &mut Criterion) {
    for n in [8, 64, 256, 2048] {
        with_row(c, &format!("a_row/{n}"), (n, n), n, both!(add_row));
        if n == 8 {
            continue;
        }
        matrices(c, &format!("a_column/{n}"), (n, n), (n, 1), both!(add_column));
        matrices(c, &format!("column_row/{n}"), (n, 1), (1, n), both!(outer_sum));
        multiply_add_cell(c, n, n);
    }
    images(c, "nchw", (32, 64, 56, 56), (64, 1, 1), both!(add_channels));
    with_row(c, "narrow", (131_072, 8), 8, both!(add_eight));
    multiply_add_cell(c, 1000, 13);
    six_axes(c, "alternating", [8, 1, 8, 1, 8, 1], [1, 8, 1, 8, 1, 8], both!(alternating_equal));
    let name = "alternating/14_15_16_13_12_11";
    six_axes(c, name, [14, 1, 16, 1, 12, 1], [1, 15, 1, 13, 1, 11], both!(alternating_unequal));
}

fn multiply_add_cell(c: &mut Criterion, m: usize, n: usize) {
    let (a, row, column) = (floats((m, n)), floats(n), floats((m, 1)));
    let expected = &a * &row + &column;
    let mut out = Array2::<f32>::zeros((m, n));
    let name = if m == n { n.to_string() } else { format!("{m}x{n}") };
    let mut group = group(c, &format!("a_times_row_plus_column/{name}"));
    way!(group, "fixed", out == expected => {
        broadcast_apply(out, (&a, &row, &column), |o, a, r, c| *o = a * r + c)
    });
    way!(group, "ndarray", out == expected => {
        Zip::from(out).and(&a).and_broadcast(&row).and_broadcast(&column).for_each(|o, a, r, c| *o = a * r + c);
    });
    let (x, r, k) = (flat(&a), flat(&row), flat(&column));
    way!(group, "plain", out == expected => multiply_add::plain(out.as_slice_mut().unwrap(), x, r, k));
    way!(group, "plain_avx2", out == expected => multiply_add::avx2(out.as_slice_mut().unwrap(), x, r, k));
    way!(group, "limit", out => limit::write(out.as_slice_mut().unwrap(), x));
    let (mut out, expected) = (out.into_dyn(), expected.into_dyn());
    let (a, row, column) = (a.view().into_dyn(), row.view().into_dyn(), column.view().into_dyn());
    way!(group, "dynamic", out == expected => {
        broadcast_apply(out, (&a, &row, &column), |o, a, r, c| *o = a * r + c)
    });
    group.finish();
}

/// `out += row` in F order, where the row's elements are one for each contiguous column, and in C order.
fn accumulate(c: &mut Criterion) {
    for n in [256, 2048] {
        for (name, f_order) in [("f", true), ("c", false)] {
            let row = floats(n);
            let mut out = Array::<f32, Ix2>::zeros((n, n).set_f(f_order));
            let mut group = group(c, &format!("accumulate_row_{name}/{n}"));
            way!(group, "fixed", out => broadcast_apply(out, &row, |o, &r| *o += r));
            way!(group, "ndarray", out => *out += &row);
            let r = flat(&row);
            if f_order {
                way!(group, "plain", out => accumulate_column::plain(out.as_slice_memory_order_mut().unwrap(), r));
                way!(group, "plain_avx2", out => accumulate_column::avx2(out.as_slice_memory_order_mut().unwrap(), r));
            } else {
                way!(group, "plain", out => accumulate_row::plain(out.as_slice_mut().unwrap(), r));
                way!(group, "plain_avx2", out => accumulate_row::avx2(out.as_slice_mut().unwrap(), r));
            }
            let (mut out, row) = (out.into_dyn(), row.view().into_dyn());
            way!(group, "dynamic", out => broadcast_apply(out, &row, |o, &r| *o += r));
            group.finish();
        }
    }
}

plain!(lower_to_row(out: &mut [f32], row: &[f32]) {
    for out in out.chunks_exact_mut(row.len()) {
        for (out, r) in out.iter_mut().zip(row) {
            if *out > *r {
                *out = *r;
            }
        }
    }
});

/// `out = min(out, row)` by a comparison: the loops for AVX2 store it through a mask, which some processors are slow at.
fn lower(c: &mut Criterion) {
    for n in [8, 30, 256] {
        let (row, mut group) = (floats::<Ix1>(n), group(c, &format!("lower_to_row/{n}")));
        let expected = row.broadcast_to((n, n)).unwrap().materialize();
        let mut out = expected.clone();
        way!(group, "fixed", out == expected => {
            broadcast_apply(out, &row, |o, &r| {
                if *o > r {
                    *o = r;
                }
            })
        });
        way!(group, "ndarray", out == expected => {
            Zip::from(out).and_broadcast(&row).for_each(|o, &r| {
                if *o > r {
                    *o = r;
                }
            });
        });
        let r = flat(&row);
        way!(group, "plain", out == expected => lower_to_row::plain(out.as_slice_mut().unwrap(), r));
        way!(group, "plain_avx2", out == expected => lower_to_row::avx2(out.as_slice_mut().unwrap(), r));
        group.finish();
    }
}

plain!(add_to_row(x: &mut [f32], row: &[f32]) {
    for x in x.chunks_exact_mut(row.len()) {
        for (x, r) in x.iter_mut().zip(row) {
            *x = *x * 0.5 + r;
        }
    }
});
plain!(add_to_column(x: &mut [f32], column: &[f32]) {
    let width = x.len() / column.len();
    for (x, c) in x.chunks_exact_mut(width).zip(column) {
        for x in x {
            *x = *x * 0.5 + c;
        }
    }
});

/// A loop over an array and an operand.
type PlainLoop = fn(&mut [f32], &[f32]);

/// Arrays that are given away and come back, in the same memory.
fn by_value(c: &mut Criterion) {
    for n in [8, 256, 2048] {
        for (name, shape) in [("row", (1, n)), ("column", (n, 1))] {
            let (mut x, other) = (Some(floats((n, n))), floats(shape));
            let mut group = group(c, &format!("by_value_{name}/{n}"));
            group.bench_function("into_broadcast_map", |b| {
                b.iter(|| {
                    let taken = black_box(&mut x).take().unwrap();
                    x = Some(taken.into_broadcast_map(&other, |x, o| x * 0.5 + o).unwrap());
                });
            });
            group.bench_function("broadcast_map", |b| {
                b.iter(|| broadcast_map((black_box(&x).as_ref().unwrap(), &other), |x, o| x * 0.5 + o));
            });
            group.bench_function("ndarray", |b| {
                b.iter(|| {
                    let mut taken = black_box(&mut x).take().unwrap();
                    taken.zip_mut_with(&other, |x, o| *x = *x * 0.5 + o);
                    x = Some(taken);
                });
            });
            // by value as well
            let (plain, avx2): (PlainLoop, PlainLoop) = if name == "row" {
                (add_to_row::plain, add_to_row::avx2)
            } else {
                (add_to_column::plain, add_to_column::avx2)
            };
            for (way, visit) in [("plain", plain), ("plain_avx2", avx2)] {
                group.bench_function(way, |b| {
                    b.iter(|| {
                        let mut taken = black_box(&mut x).take().unwrap();
                        visit(taken.as_slice_mut().unwrap(), flat(&other));
                        x = Some(taken);
                    });
                });
            }
            group.finish();
        }
    }
}

/// Arrays so small that the work before the first element counts.
fn small(c: &mut Criterion) {
    for n in [1, 3, 8] {
        let (a, row, mut out) = (floats((n, n)), floats(n), Array2::<f32>::zeros((n, n)));
        let expected = &a + &row;
        let mut group = group(c, &format!("small/{n}"));
        way!(group, "apply", out == expected => broadcast_apply(out, (&a, &row), |out, x, y| *out = x + y));
        way!(group, "apply_ndarray", out == expected => {
            Zip::from(out).and(&a).and_broadcast(&row).for_each(|out, x, y| *out = x + y);
        });
        way!(group, "apply_plain", out == expected => {
            add_row::plain(out.as_slice_mut().unwrap(), flat(&a), flat(&row));
        });
        let mut sum = Array1::<f32>::zeros(n);
        way!(group, "sum", sum => a.assign_sum_to(sum));
        group.bench_function("sum_ndarray", |b| b.iter(|| black_box(&a).sum_axis(Axis(0))));
        group.finish();
    }
}

pub(crate) fn all(c: &mut Criterion) {
    sums(c);
    accumulate(c);
    lower(c);
    by_value(c);
    small(c);
}
