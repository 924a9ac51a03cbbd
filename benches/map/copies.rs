//! Copies of broadcast arrays, into an existing output and as new arrays.

use crate::loops::obvious::copy_row;
use crate::plain::Number;
use crate::{flat, group, limit, numbers};
use criterion::Criterion;
use ndarray::{Array, Dimension, IntoDimension};
use ndarray_broadcast::prelude::*;
use std::hint::black_box;

plain!(fill<T>(out: &mut [T], values: &[T], width: usize) {
    for (out, &x) in out.chunks_exact_mut(width).zip(values.iter().cycle()) {
        out.fill(x);
    }
});
plain!(repeat<T>(out: &mut [T], rows: &[T], width: usize, times: usize) {
    for (out, row) in out.chunks_exact_mut(width * times).zip(rows.chunks_exact(width)) {
        out.chunks_exact_mut(width).for_each(|out| out.copy_from_slice(row));
    }
});

type Plain<'a, T> = &'a dyn Fn(&mut [T], &[T]);

/// Copies `from` one shape `to` another: every implementation.
fn copy<T, D, E>(
    c: &mut Criterion,
    name: &str,
    from: impl IntoDimension<Dim = D>,
    to: impl IntoDimension<Dim = E>,
    [plain, avx2]: [Plain<T>; 2],
) where
    T: Number + From<u8> + 'static,
    D: Dimension,
    E: Dimension,
{
    let (x, to) = (numbers::<T, D>(from.into_dimension()), to.into_dimension());
    let mut out = Array::<T, E>::zeros(to.clone());
    let all = x.broadcast(to).unwrap();
    let expected = all.to_owned();
    let mut group = group(c, name);
    way!(group, "fixed", out == expected => x.materialize_into(out));
    way!(group, "ndarray", out == expected => out.assign(&x));
    new_way!(group, "ndarray_to_owned", expected, black_box(&all).to_owned());
    new_way!(group, "materialize", expected, black_box(&all).materialize());
    let s = flat(&x);
    way!(group, "plain", out == expected => plain(out.as_slice_mut().unwrap(), s));
    way!(group, "plain_avx2", out == expected => avx2(out.as_slice_mut().unwrap(), s));
    way!(group, "limit", out => limit::write(out.as_slice_mut().unwrap(), s));
    let (mut out, expected, x) = (out.into_dyn(), expected.into_dyn(), x.view().into_dyn());
    way!(group, "dynamic", out == expected => x.materialize_into(out));
    group.finish();
}

/// A plain loop as [`copy`] takes it.
macro_rules! both {
    ($plain:ident($($more:expr),*)) => {
        [&|out: &mut [_], x: &[_]| $plain::plain(out, x, $($more),*), &|out: &mut [_], x: &[_]| $plain::avx2(out, x, $($more),*)]
    };
}

/// Rows and columns; `kind` tells element types apart.
fn rows_and_columns<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str, sizes: &[usize]) {
    for &n in sizes {
        copy::<T, _, _>(c, &format!("copy_row{kind}/{n}"), (1, n), (n, n), both!(copy_row()));
    }
    for n in [256, 2048] {
        copy::<T, _, _>(c, &format!("copy_column{kind}/{n}"), (n, 1), (n, n), both!(fill(n)));
    }
}

pub(crate) fn all(c: &mut Criterion) {
    rows_and_columns::<f32>(c, "", &[1, 3, 8, 64, 256, 2048]);
    rows_and_columns::<f64>(c, "_f64", &[8, 256, 2048]);
    rows_and_columns::<i32>(c, "_i32", &[8, 256, 2048]);
    copy::<f32, _, _>(c, "copy_256_1_64_to_256_64_64", (256, 1, 64), (256, 64, 64), both!(repeat(64, 64)));
}
