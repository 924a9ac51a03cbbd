//! Sums of a closure's results, without an array of them: weighted means, squared distances.

use crate::loops::{good, obvious};
use crate::plain::Number;
use crate::{flat, group, limit, numbers};
use criterion::Criterion;
use ndarray::{Array1, Array3, Axis};
use ndarray_broadcast::{fused, prelude::*};
use std::hint::black_box;

/// The obvious loop and the good one of a name.
macro_rules! loops {
    ($group:ident, $expected:expr, $len:expr, $name:ident($($arg:expr),*)) => {
        new_way!($group, "plain", $expected, filled($len, |out| obvious::$name::plain(out, $($arg),*)));
        new_way!($group, "plain_avx2", $expected, filled($len, |out| obvious::$name::avx2(out, $($arg),*)));
        new_way!($group, "good", $expected, filled($len, |out| good::$name::avx2(out, $($arg),*)));
    };
}

/// A new array that a plain loop fills, because the crate's fused sums make one too.
fn filled<T: Number>(len: usize, fill: impl FnOnce(&mut [T])) -> Array1<T> {
    let mut out = Array1::zeros(len);
    fill(out.as_slice_mut().unwrap());
    out
}

/// Each row with a weight for each column, and with a weight of its own.
fn weighted<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str) {
    let (a, row, column) = (numbers::<T, _>((4096, 256)), numbers::<T, _>(256), numbers::<T, _>((4096, 1)));

    let expected = (&a * &row).sum_axis(Axis(0));
    let mut of_columns = group(c, &format!("sum_of_products{kind}/4096_256"));
    new_way!(of_columns, "fixed", expected, {
        fused((&a, black_box(&row)), |&a, &r| a * r).sum_to(256).unwrap()
    });
    let (a_dyn, row_dyn) = (a.view().into_dyn(), row.view().into_dyn());
    new_way!(of_columns, "dynamic", expected, {
        fused((&a_dyn, black_box(&row_dyn)), |&a, &r| a * r).sum_to(&[256][..]).unwrap()
    });
    new_way!(of_columns, "ndarray", expected, (&a * black_box(&row)).sum_axis(Axis(0)));
    let (x, r) = (flat(&a), flat(&row));
    loops!(of_columns, expected, 256, row_over_0(x, black_box(r)));
    of_columns.bench_function("limit", |b| b.iter(|| limit::read(black_box(x))));
    of_columns.finish();

    let expected = (&a * &column).sum_axis(Axis(1));
    let mut of_rows = group(c, &format!("sum_of_products{kind}/4096_256_to_4096_1"));
    new_way!(of_rows, "fixed", expected, {
        fused((&a, black_box(&column)), |&a, &w| a * w).sum_to((4096, 1)).unwrap()
    });
    new_way!(of_rows, "ndarray", expected, (&a * black_box(&column)).sum_axis(Axis(1)));
    let w = flat(&column);
    loops!(of_rows, expected, 4096, column_over_1(x, black_box(w)));
    of_rows.bench_function("limit", |b| b.iter(|| limit::read(black_box(x))));
    of_rows.finish();
}

/// Sums over short rows, each with a weight of its own.
fn short_rows<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str) {
    for (m, n) in [(64, 64), (300, 56), (500, 32), (1000, 20)] {
        let (a, column) = (numbers::<T, _>((m, n)), numbers::<T, _>((m, 1)));
        let expected = (&a * &column).sum_axis(Axis(1));
        let mut group = group(c, &format!("sum_of_products{kind}/{m}_{n}_to_{m}_1"));
        new_way!(group, "fixed", expected, {
            fused((&a, black_box(&column)), |&a, &w| a * w).sum_to((m, 1)).unwrap()
        });
        new_way!(group, "ndarray", expected, (&a * black_box(&column)).sum_axis(Axis(1)));
        let (x, w) = (flat(&a), flat(&column));
        loops!(group, expected, m, column_over_1(x, black_box(w)));
    }
}

/// The sum over observations, each with a weight of its own.
fn observations<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str) {
    for (m, n) in [(1000, 16), (300, 48), (20_000, 100)] {
        let (a, column) = (numbers::<T, _>((m, n)), numbers::<T, _>((m, 1)));
        let expected = (&a * &column).sum_axis(Axis(0));
        let mut group = group(c, &format!("sum_of_products{kind}/{m}_{n}_to_{n}"));
        new_way!(group, "fixed", expected, {
            fused((&a, black_box(&column)), |&a, &w| a * w).sum_to(n).unwrap()
        });
        new_way!(group, "ndarray", expected, (&a * black_box(&column)).sum_axis(Axis(0)));
        let (x, w) = (flat(&a), flat(&column));
        loops!(group, expected, n, column_over_0(x, black_box(w)));
        group.finish();
    }
}

/// The rows of images that do not stay in the cache, with a weight for each column.
fn images<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str) {
    let (a, row) = (numbers::<T, _>((64, 256, 256)), numbers::<T, _>(256));
    let expected = (&a * &row).sum_axis(Axis(1)).insert_axis(Axis(1));
    let mut group = group(c, &format!("sum_of_products{kind}/64_256_256_to_64_1_256"));
    new_way!(group, "fixed", expected, {
        fused((&a, black_box(&row)), |&a, &r| a * r).sum_to((64, 1, 256)).unwrap()
    });
    new_way!(group, "ndarray", expected, (&a * black_box(&row)).sum_axis(Axis(1)));
    let (x, r) = (flat(&a), flat(&row));
    let each = |out: &mut [T], plain: fn(&mut [T], &[T], &[T])| {
        for (out, a) in out.chunks_exact_mut(256).zip(x.chunks_exact(256 * 256)) {
            plain(out, a, black_box(r));
        }
    };
    new_way!(group, "plain", expected, filled(64 * 256, |out| each(out, obvious::row_over_0::plain)));
    new_way!(group, "plain_avx2", expected, filled(64 * 256, |out| each(out, obvious::row_over_0::avx2)));
    new_way!(group, "good", expected, filled(64 * 256, |out| each(out, good::row_over_0::avx2)));
    group.bench_function("limit", |b| b.iter(|| limit::read(black_box(x))));
    group.finish();
}

/// Squared distances of points from centres.
fn squared_distances<T: Number + From<u8> + 'static>(c: &mut Criterion, kind: &str) {
    for (points, centres, len) in [(178, 3, 13), (5000, 16, 13), (1000, 8, 30), (5000, 16, 64)] {
        let (x, y) = (numbers::<T, _>((points, 1, len)), numbers::<T, _>((centres, len)));
        let shape = (points, centres, 1);
        let square = |&x: &T, &y: &T| (x - y) * (x - y);
        let expected = Array3::from_shape_fn(shape, |(i, j, _)| {
            (0..len).fold(T::zero(), |sum, k| sum + square(&x[[i, 0, k]], &y[[j, k]]))
        });
        let mut group = group(c, &format!("distances{kind}/{points}_{centres}_{len}"));
        new_way!(group, "fixed", expected, fused((&x, black_box(&y)), square).sum_to(shape).unwrap());
        new_way!(group, "ndarray", expected, (&x - black_box(&y)).mapv_into(|d| d * d).sum_axis(Axis(2)));
        let (x, y, len_of_all) = (flat(&x), flat(&y), points * centres);
        loops!(group, expected, len_of_all, distances(x, black_box(y), len));
        new_way!(group, "good_turned", expected, {
            filled(len_of_all, |out| good::turned_distances::avx2(out, x, black_box(y), len))
        });
        group.finish();
    }
}

/// Arrays so small that the work before the first element counts.
fn small(c: &mut Criterion) {
    for (m, n) in [(3, 3), (8, 8), (16, 16), (30, 30), (2, 100), (100, 2)] {
        let (a, row) = (numbers::<f32, _>((m, n)), numbers::<f32, _>(n));
        let (x, r) = (flat(&a), flat(&row));

        let expected = (&a * &row).sum_axis(Axis(0));
        let mut over_rows = group(c, &format!("sum_of_products/{m}_{n}"));
        new_way!(over_rows, "fixed", expected, {
            fused((&a, black_box(&row)), |&a, &r| a * r).sum_to(n).unwrap()
        });
        new_way!(over_rows, "ndarray", expected, (&a * black_box(&row)).sum_axis(Axis(0)));
        loops!(over_rows, expected, n, row_over_0(x, black_box(r)));
        over_rows.finish();

        let expected = (&a * &row).sum_axis(Axis(1));
        let mut over_lanes = group(c, &format!("sum_of_products/{m}_{n}_to_{m}_1"));
        new_way!(over_lanes, "fixed", expected, {
            fused((&a, black_box(&row)), |&a, &r| a * r).sum_to((m, 1)).unwrap()
        });
        new_way!(over_lanes, "ndarray", expected, (&a * black_box(&row)).sum_axis(Axis(1)));
        loops!(over_lanes, expected, m, row_over_1(x, black_box(r)));
        over_lanes.finish();
    }
}

pub(crate) fn all(c: &mut Criterion) {
    small(c);
    weighted::<f32>(c, "");
    weighted::<f64>(c, "_f64");
    weighted::<i32>(c, "_i32");
    short_rows::<f32>(c, "");
    short_rows::<f64>(c, "_f64");
    observations::<f32>(c, "");
    observations::<f64>(c, "_f64");
    images::<f32>(c, "");
    images::<f64>(c, "_f64");
    squared_distances::<f32>(c, "");
    squared_distances::<f64>(c, "_f64");
    squared_distances::<i32>(c, "_i32");
}
