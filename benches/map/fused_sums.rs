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
fn weighted(c: &mut Criterion) {
    let (a, row, column) =
        (numbers::<f32, _>((4096, 256)), numbers::<f32, _>(256), numbers::<f32, _>((4096, 1)));

    let expected = (&a * &row).sum_axis(Axis(0));
    let mut of_columns = group(c, "sum_of_products/4096_256");
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
    let mut of_rows = group(c, "sum_of_products/4096_256_to_4096_1");
    new_way!(of_rows, "fixed", expected, {
        fused((&a, black_box(&column)), |&a, &w| a * w).sum_to((4096, 1)).unwrap()
    });
    new_way!(of_rows, "ndarray", expected, (&a * black_box(&column)).sum_axis(Axis(1)));
    let w = flat(&column);
    loops!(of_rows, expected, 4096, column_over_1(x, black_box(w)));
    of_rows.bench_function("limit", |b| b.iter(|| limit::read(black_box(x))));
    of_rows.finish();
}

/// Squared distances of points from centres.
fn squared_distances(c: &mut Criterion) {
    for (points, centres, len) in [(178, 3, 13), (5000, 16, 13), (1000, 8, 30), (5000, 16, 64)] {
        let (x, y) = (numbers::<f32, _>((points, 1, len)), numbers::<f32, _>((centres, len)));
        let shape = (points, centres, 1);
        let square = |&x: &f32, &y: &f32| (x - y) * (x - y);
        let expected = Array3::from_shape_fn(shape, |(i, j, _)| {
            (0..len).fold(0.0, |sum, k| sum + square(&x[[i, 0, k]], &y[[j, k]]))
        });
        let mut group = group(c, &format!("distances/{points}_{centres}_{len}"));
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

pub(crate) fn all(c: &mut Criterion) {
    weighted(c);
    squared_distances(c);
}
