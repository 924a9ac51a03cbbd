//! Maps: closures of broadcast operands, into an existing output and in place.

use crate::loops::obvious::multiply_add;
use crate::{flat, group, limit, numbers};
use criterion::Criterion;
use ndarray::{Array, Array2, Dimension, Ix2, ShapeBuilder, Zip};
use ndarray_broadcast::broadcast_apply;
use std::hint::black_box;

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

pub(crate) fn all(c: &mut Criterion) {
    for (m, n) in [(64, 64), (256, 256), (2048, 2048), (1000, 13)] {
        multiply_add_cell(c, m, n);
    }
    accumulate(c);
}
