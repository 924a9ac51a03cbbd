//! Maps: closures of broadcast operands, into an existing output, in place and by value.

use crate::loops::obvious::multiply_add;
use crate::{flat, group, limit, numbers};
use criterion::Criterion;
use ndarray::{Array, Array2, Dimension, Ix2, Ix6, ShapeBuilder, Zip};
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{broadcast_apply, broadcast_map};
use std::hint::black_box;

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

/// Sums of two operands, each of which has every second axis.
fn alternating_axes(c: &mut Criterion, name: &str, sizes: [usize; 6], [plain, avx2]: [Plain; 2]) {
    let of = |first: usize| {
        floats::<Ix6>(std::array::from_fn::<_, 6, _>(|axis| if axis % 2 == first { sizes[axis] } else { 1 }))
    };
    let (a, b) = (of(0), of(1));
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
    group.finish();
}

/// A plain loop as these functions take it.
macro_rules! both {
    ($plain:ident) => {
        [$plain::plain, $plain::avx2]
    };
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

pub(crate) fn all(c: &mut Criterion) {
    for (m, n) in [(64, 64), (256, 256), (2048, 2048), (1000, 13)] {
        multiply_add_cell(c, m, n);
    }
    alternating_axes(c, "alternating", [8; 6], both!(alternating_equal));
    alternating_axes(
        c,
        "alternating/14_15_16_13_12_11",
        [14, 15, 16, 13, 12, 11],
        both!(alternating_unequal),
    );
    accumulate(c);
    by_value(c);
}
